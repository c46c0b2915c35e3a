/* Tokens that are changed beneath their base64: a field of the compact form, a
 * number or a member of the JSON. */
#include "mutate.h"

#include <ctype.h>

#include "base/text.h"
#include "postern/semaphore.h"

/* The fields of the compact form, in order. */
static const uint8_t fields[] = {1, 1, 4, 2, 32, 32, 32, 64, 32};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* p and r, big-endian. */
static const uint8_t edges[][32] = {
    {0x30, 0x64, 0x4e, 0x72, 0xe1, 0x31, 0xa0, 0x29, 0xb8, 0x50, 0x45, 0xb6,
	0x81, 0x81, 0x58, 0x5d, 0x97, 0x81, 0x6a, 0x91, 0x68, 0x71, 0xca, 0x8d,
	0x3c, 0x20, 0x8c, 0x16, 0xd8, 0x7c, 0xfd, 0x47},
    {0x30, 0x64, 0x4e, 0x72, 0xe1, 0x31, 0xa0, 0x29, 0xb8, 0x50, 0x45, 0xb6,
	0x81, 0x81, 0x58, 0x5d, 0x28, 0x33, 0xe8, 0x48, 0x79, 0xb9, 0x70, 0x91,
	0x43, 0xe1, 0xf5, 0x93, 0xf0, 0x00, 0x00, 0x01},
};

/* Numbers at and beyond the edges, and spellings of none. */
static const char *const numbers[] = {"0", "1", "-1", "00", "01", "1.0", "1e1",
    "0x1", " 1", "1 ", "+1", "", "32", "33", "255", "256", "4294967295",
    "4294967296",
    "2188824287183927522224640574525727508869631115729782366268903789464522620"
    "8583",
    "2188824287183927522224640574525727508854836440041603434369820418657580849"
    "5616",
    "2188824287183927522224640574525727508854836440041603434369820418657580849"
    "5617",
    "1157920892373161954235709850086879078532699846656405640394575840079131296"
    "39935",
    "1157920892373161954235709850086879078532699846656405640394575840079131296"
    "39936"};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static const char *const members[] = {"merkleTreeDepth", "merkleTreeRoot",
    "nullifier", "message", "scope", "points", "x"};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

/* --- the compact form --- */

/* Add the 32 bytes of B to those of A, modulo 2^256. */
static void
add(uint8_t *a, const uint8_t *b)
{
	unsigned carry = 0;

	for (int i = 31; i >= 0; i--) {
		carry += (unsigned)a[i] + b[i];
		a[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static void
change_field(struct draft *d, struct choice *c)
{
	size_t which = choose(c, FIELDS), at = 0, n = fields[which];
	uint8_t *field;

	for (size_t i = 0; i < which; i++)
		at += fields[i];
	if (d->len < at + n)
		return;
	field = d->bytes + at;
	switch (choose(c, 6)) {
	case 0:
		(void)LLVMFuzzerMutate(field, n, n);
		break;
	case 1:
		memset(field, choose(c, 2) != 0 ? 0xff : 0, n);
		break;
	case 2: /* the flags of a point */
		field[0] = (uint8_t)((field[0] & 0x3f) | choose(c, 4) << 6);
		break;
	case 3: /* the same, not canonical */
		if (n >= 32)
			add(field, edges[choose(c, 2)]);
		break;
	case 4:
		if (n >= 32)
			memcpy(field, edges[choose(c, 2)], 32);
		break;
	default:
		field[n - 1] = (uint8_t)(field[n - 1] + choose(c, 5) - 2);
		break;
	}
}

/* --- JSON --- */

/* The place and length of the run of digits that choice meets. */
static size_t
find_number(const struct draft *d, struct choice *c, size_t *at)
{
	size_t n = 0;

	*at = choose(c, d->len);
	while (*at < d->len && !isdigit(d->bytes[*at]))
		++*at;
	while (*at + n < d->len && isdigit(d->bytes[*at + n]))
		n++;
	return n;
}

/* The place behind the comma or the bracket that choice meets. */
static size_t
find_start(const struct draft *d, struct choice *c)
{
	size_t at = choose(c, d->len);

	while (at < d->len && d->bytes[at] != ',' && d->bytes[at] != '{' &&
	    d->bytes[at] != '[')
		at++;
	return at < d->len ? at + 1 : d->len;
}

static void
change_number(struct draft *d, struct choice *c)
{
	size_t at, n = find_number(d, c, &at);
	const char *text = numbers[choose(c, NUMBERS)];
	uint8_t other[80];
	size_t from, len;

	if (n == 0)
		return;
	switch (choose(c, 5)) {
	case 0: /* one digit */
		d->bytes[at + choose(c, n)] = (uint8_t)('0' + choose(c, 10));
		break;
	case 1:
		draft_replace(d, at, 0, "0", 1);
		break;
	case 2: /* another's */
		len = find_number(d, c, &from);
		if (len > sizeof(other))
			len = sizeof(other);
		memcpy(other, d->bytes + from, len);
		draft_replace(d, at, n, other, len);
		break;
	case 3: /* no string any more, or one */
		if (at > 0 && at + n < d->len && d->bytes[at - 1] == '"') {
			draft_replace(d, at + n, 1, NULL, 0);
			draft_replace(d, at - 1, 1, NULL, 0);
		} else {
			draft_replace(d, at + n, 0, "\"", 1);
			draft_replace(d, at, 0, "\"", 1);
		}
		break;
	default:
		draft_replace(d, at, n, text, strlen(text));
		break;
	}
}

static void
change_member(struct draft *d, struct choice *c)
{
	size_t at = find_start(d, c), end = at;
	const char *name = members[choose(c, MEMBERS)];
	uint8_t part[256];

	while (end < d->len && d->bytes[end] != ',')
		end++;
	end += end < d->len;
	switch (choose(c, 4)) {
	case 0: /* out */
		draft_replace(d, at, end - at, NULL, 0);
		break;
	case 1: /* twice */
		if (end - at > sizeof(part))
			end = at + sizeof(part);
		memcpy(part, d->bytes + at, end - at);
		draft_replace(d, at, 0, part, end - at);
		break;
	case 2: /* one more */
		draft_replace(d, at, 0, "\":1,", 4);
		draft_replace(d, at, 0, name, strlen(name));
		draft_replace(d, at, 0, "\"", 1);
		break;
	default:
		draft_mutate(d, at, end - at);
		break;
	}
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static uint8_t bytes[SEMAPHORE_TOKEN_MAX];
	static char text[2 * SEMAPHORE_TOKEN_MAX];
	struct draft d = {.bytes = bytes, .cap = sizeof(bytes)};
	struct choice c = {seed};
	unsigned rounds = 1 + choose(&c, 3);

	if (choose(&c, 4) == 0 ||
	    base64_decode(bytes, sizeof(bytes), &d.len, span_of(data, size),
		BASE64_URL) != ST_OK ||
	    d.len == 0)
		return LLVMFuzzerMutate(data, size, max);
	while (rounds-- > 0 && d.len != 0) {
		bool json = d.bytes[0] == '{';
		if (choose(&c, 8) == 0)
			d.len = LLVMFuzzerMutate(d.bytes, d.len, d.cap);
		else if (!json)
			change_field(&d, &c);
		else if (choose(&c, 3) != 0)
			change_number(&d, &c);
		else
			change_member(&d, &c);
	}
	if (base64_length(d.len, BASE64_URL) > max)
		return LLVMFuzzerMutate(data, size, max);
	base64_encode(text, span_of(d.bytes, d.len), BASE64_URL);
	memcpy(data, text, strlen(text));
	return strlen(text);
}
