#include "semaphore/root_file.h"

#include <string.h>

#include "base/text.h"
#include "bn254/fr.h"

enum key { ROOT, DEPTH, SIZE, TIME, KEYS };

static const char *const names[KEYS] = {"root", "depth", "size", "time"};

bool
root_depth_fits(uint32_t depth, uint64_t size)
{
	/* The least that holds them (zk-kit, LeanIMT). */
	return depth <= GROUP_DEPTH_MAX && size <= UINT64_C(1) << depth &&
	    (depth == 0 || size > UINT64_C(1) << (depth - 1));
}

static enum status
read_value(struct root_file *r, enum key key, span_t value)
{
	uint64_t n = 0;
	enum status st = ST_OK;

	switch (key) {
	case ROOT:
		st = decimal_decode(r->root.root, value);
		if (st == ST_BAD_VALUE ||
		    (st == ST_OK && fr_check_bytes(r->root.root) != ST_OK))
			st = ST_NOT_CANONICAL;
		break;
	case DEPTH:
		st = decimal_u64(&n, value, GROUP_DEPTH_MAX);
		r->root.depth = (uint32_t)n;
		break;
	case SIZE:
		st = decimal_u64(
		    &r->root.size, value, UINT64_C(1) << GROUP_DEPTH_MAX);
		break;
	case TIME:
		st = decimal_u64(&r->time, value, UINT64_MAX);
		break;
	case KEYS:
		break;
	}
	return st == ST_BAD_LENGTH ? ST_BAD_ENCODING : st;
}

/* Read LINE; SEEN has the line number of each key, 0 before it came. */
static enum status
read_line(struct root_file *r, struct members_fault *fault,
    size_t seen[static KEYS], span_t line)
{
	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0 || line.ptr[0] == '#')
		return ST_OK;
	for (unsigned k = 0; k < KEYS; k++) {
		size_t n = strlen(names[k]);
		if (line.len <= n || memcmp(line.ptr, names[k], n) != 0 ||
		    line.ptr[n] != ' ')
			continue;
		if (seen[k] != 0) {
			fault->first_line = seen[k];
			return ST_DUPLICATE;
		}
		seen[k] = fault->line;
		return read_value(
		    r, k, span_of(line.ptr + n + 1, line.len - n - 1));
	}
	return ST_BAD_ENCODING;
}

static enum status
parse(struct root_file *r, struct members_fault *fault, span_t text)
{
	size_t seen[KEYS] = {0};
	enum status st = ST_OK;

	while (text.len > 0 && st == ST_OK) {
		fault->line++;
		st = read_line(r, fault, seen, span_take_line(&text));
	}
	if (st != ST_OK)
		return st;
	fault->line = 0;
	for (unsigned k = 0; k < KEYS; k++) {
		if (seen[k] == 0)
			return ST_MISSING;
	}
	fault->line = seen[DEPTH];
	return root_depth_fits(r->root.depth, r->root.size) ? ST_OK
							    : ST_BAD_VALUE;
}

enum status
root_file_parse(struct root_file *r, struct members_fault *fault, span_t text)
{
	enum status st;

	memset(r, 0, sizeof(*r));
	memset(fault, 0, sizeof(*fault));
	st = parse(r, fault, text);
	fault->status = st;
	if (st != ST_OK)
		memset(r, 0, sizeof(*r));
	else
		memset(fault, 0, sizeof(*fault));
	return st;
}

void
root_file_write(struct out *o, const struct root_file *r)
{
	char root[DECIMAL_MAX];

	decimal_encode(root, r->root.root);
	out_str(o, "root ");
	out_str(o, root);
	out_str(o, "\ndepth ");
	out_decimal(o, r->root.depth);
	out_str(o, "\nsize ");
	out_decimal(o, r->root.size);
	out_str(o, "\ntime ");
	out_decimal(o, r->time);
	out_str(o, "\n");
}
