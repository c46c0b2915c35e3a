/* tor's replies: the same lines however the bytes are cut, nothing outside the
 * input, and every byte accounted for. */
#include "fuzz.h"

#include "tor/reply.h"

#define LINES 256

struct seen {
	enum reply_kind kind;
	unsigned code;
	size_t offset, len; /* of the text */
};

/* Read lines from the first N bytes, given STEP more at a time. */
static enum status
read_all(struct seen *lines, unsigned *n_lines, const uint8_t *data, size_t n,
    size_t step)
{
	struct reply_reader r = {0};
	struct reply_line line;
	size_t at = 0, end = 0, used;
	enum status s = ST_MORE;

	*n_lines = 0;
	while (s != ST_BAD_ENCODING && *n_lines < LINES &&
	    (end < n || s == ST_OK)) {
		if (s == ST_MORE)
			end = step < n - end ? end + step : n;
		uint8_t *copy = fuzz_copy(data + at, end - at);
		s = reply_read(&r, &line, &used, span_of(copy, end - at));
		FUZZ_CHECK(s == ST_OK || s == ST_MORE || s == ST_BAD_ENCODING);
		FUZZ_CHECK((s == ST_OK) == (used != 0));
		FUZZ_CHECK(used <= end - at);
		if (s == ST_OK) {
			FUZZ_CHECK(fuzz_within(line.text, span_of(copy, used)));
			FUZZ_CHECK(line.code >= 100 && line.code <= 999);
			FUZZ_CHECK(line.text.len + 2 <= used);
			FUZZ_CHECK(memchr(copy, '\n', used) == copy + used - 1);
			lines[(*n_lines)++] = (struct seen){line.kind,
			    line.code, at + (size_t)(line.text.ptr - copy),
			    line.text.len};
		}
		free(copy);
		at += used;
	}
	return s;
}

/* What a value may be, whatever the line. */
static void
check_values(span_t text)
{
	static const char *const keys[] = {"METHODS", "COOKIEFILE", "A", ""};
	char out[64];
	span_t v;

	for (unsigned i = 0; i < 4; i++) {
		memset(out, 'x', sizeof(out));
		enum status s = reply_value(out, sizeof(out), text, keys[i]);
		size_t len = strnlen(out, sizeof(out));
		FUZZ_CHECK(s == ST_OK || s == ST_NOT_FOUND ||
		    s == ST_BAD_ENCODING || s == ST_NO_SPACE);
		FUZZ_CHECK(len < sizeof(out) && (s == ST_OK || len == 0));
		s = reply_info(&v, text, keys[i]);
		FUZZ_CHECK(s == ST_OK || s == ST_NOT_FOUND);
		FUZZ_CHECK(fuzz_within(v, text));
	}
	for (unsigned i = 0; i < 6; i++) {
		v = reply_word(text, i);
		FUZZ_CHECK(fuzz_within(v, text));
		FUZZ_CHECK(v.len == 0 || memchr(v.ptr, ' ', v.len) == NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen whole[LINES], parts[LINES];
	unsigned n, m;

	enum status s = read_all(whole, &n, data, size, size != 0 ? size : 1);
	for (size_t step = 1; step <= 3; step++) {
		FUZZ_CHECK(
		    read_all(parts, &m, data, size, step) == s || n == LINES);
		FUZZ_CHECK(m == n);
		FUZZ_CHECK(memcmp(whole, parts, n * sizeof(*whole)) == 0);
	}
	for (unsigned i = 0; i < n; i++)
		check_values(span_of(data + whole[i].offset, whole[i].len));
	check_values(span_of(data, size));
	return 0;
}
