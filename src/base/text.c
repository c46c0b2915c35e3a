#include "base/text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"

void
hex_encode(char *out, span_t in)
{
	for (size_t i = 0; i < in.len; i++) {
		for (unsigned half = 0; half < 2; half++) {
			unsigned v = (in.ptr[i] >> (4 * (1 - half))) & 15u;
			/* No table: its look-up would leak the value. '0' + v,
			 * and 39 more to reach 'a' when v is above 9. */
			out[2 * i + half] =
			    (char)('0' + v + (((9u - v) >> 8) & 39u));
		}
	}
	out[2 * in.len] = '\0';
}

enum status
hex_decode(uint8_t *out, size_t len, span_t in)
{
	if (in.len % 2 != 0 || in.len / 2 != len)
		return ST_BAD_LENGTH;
	for (size_t i = 0; i < len; i++) {
		int hi = ascii_hex(in.ptr[2 * i]);
		int lo = ascii_hex(in.ptr[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return ST_BAD_ENCODING;
		out[i] = (uint8_t)(hi << 4 | lo);
	}
	return ST_OK;
}

size_t
base32_length(size_t len)
{
	return (len * 8 + 4) / 5;
}

void
base32_encode(char *out, span_t in)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint32_t bits = 0;
	unsigned held = 0;

	for (size_t i = 0; i < in.len; i++) {
		bits = bits << 8 | in.ptr[i];
		for (held += 8; held >= 5;) {
			held -= 5;
			*out++ = letters[bits >> held & 31];
		}
	}
	if (held > 0)
		*out++ = letters[bits << (5 - held) & 31];
	*out = '\0';
}

/* -1: no letter of it. */
static int
base32_value(uint8_t c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= '2' && c <= '7')
		return c - '2' + 26;
	return -1;
}

enum status
base32_decode(uint8_t *out, size_t len, span_t in)
{
	uint32_t bits = 0;
	unsigned held = 0;

	if (in.len != base32_length(len))
		return ST_BAD_LENGTH;
	for (size_t i = 0; i < in.len; i++) {
		int v = base32_value(in.ptr[i]);
		if (v < 0)
			return ST_BAD_ENCODING;
		bits = bits << 5 | (uint32_t)v;
		held += 5;
		if (held >= 8) {
			held -= 8;
			*out++ = (uint8_t)(bits >> held);
		}
	}
	return (bits & ((1u << held) - 1)) == 0 ? ST_OK : ST_BAD_ENCODING;
}

static const char base64_common[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static char
base64_char(unsigned v, enum base64_alphabet alphabet)
{
	if (v < 62)
		return base64_common[v];
	if (alphabet == BASE64_URL)
		return v == 62 ? '-' : '_';
	return v == 62 ? '+' : '/';
}

/* What a character means: its six bits, and which alphabets have it. */
#define STANDARD 0x40
#define URL 0x80
#define ANY (STANDARD | URL)

#define TWO(c, v) [c] = ANY | (v), [(c) + 1] = ANY | ((v) + 1)
#define TEN(c, v)                                                \
	TWO(c, v), TWO((c) + 2, (v) + 2), TWO((c) + 4, (v) + 4), \
	    TWO((c) + 6, (v) + 6), TWO((c) + 8, (v) + 8)

static const uint8_t base64_values[256] = {TEN('A', 0), TEN('K', 10),
    TWO('U', 20), TWO('W', 22), TWO('Y', 24), TEN('a', 26), TEN('k', 36),
    TWO('u', 46), TWO('w', 48), TWO('y', 50),
    TEN('0', 52), ['+'] = STANDARD | 62, ['/'] = STANDARD | 63,
    ['-'] = URL | 62, ['_'] = URL | 63};

size_t
base64_length(size_t len, enum base64_alphabet alphabet)
{
	size_t tail = len % 3;

	if (alphabet == BASE64_STANDARD)
		return (len / 3 + (tail != 0)) * 4;
	return len / 3 * 4 + (tail != 0 ? tail + 1 : 0);
}

void
base64_encode(char *out, span_t in, enum base64_alphabet alphabet)
{
	size_t n = base64_length(in.len, alphabet), o = 0;

	for (size_t i = 0; i < in.len; i += 3) {
		uint32_t group = (uint32_t)in.ptr[i] << 16;
		if (i + 1 < in.len)
			group |= (uint32_t)in.ptr[i + 1] << 8;
		if (i + 2 < in.len)
			group |= in.ptr[i + 2];
		size_t chars = in.len - i >= 3 ? 4 : in.len - i + 1;
		for (size_t k = 0; k < chars; k++)
			out[o++] =
			    base64_char(group >> (18 - 6 * k) & 63, alphabet);
	}
	while (o < n)
		out[o++] = '=';
	out[n] = '\0';
}

/* Take the padding off IN; false when it is not what IN's length asks for. */
static bool
base64_unpad(span_t *in)
{
	size_t pad = 0;

	if (in->len % 4 != 0)
		return false;
	while (pad < 2 && pad < in->len && in->ptr[in->len - 1 - pad] == '=')
		pad++;
	in->len -= pad;
	return true;
}

/* The bits of N characters, 2 to 4, as if zeros followed. What all of them
 * have in common stays in *ALPHABETS. */
static inline uint32_t
base64_group(const uint8_t *in, size_t n, uint32_t *alphabets)
{
	uint32_t a = base64_values[in[0]], b = base64_values[in[1]];
	uint32_t c = n > 2 ? base64_values[in[2]] : ANY;
	uint32_t d = n > 3 ? base64_values[in[3]] : ANY;

	*alphabets &= a & b & c & d;
	return (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
}

enum status
base64_decode(uint8_t *out, size_t cap, size_t *len, span_t in,
    enum base64_alphabet alphabet)
{
	uint32_t alphabets = ANY, group;
	size_t i = 0, o = 0;

	*len = 0;
	if (alphabet == BASE64_STANDARD && !base64_unpad(&in))
		return ST_BAD_LENGTH;
	size_t tail = in.len % 4;
	if (tail == 1)
		return ST_BAD_LENGTH;
	if (in.len / 4 * 3 + tail * 3 / 4 > cap)
		return ST_NO_SPACE;
	for (; i < in.len - tail; i += 4) {
		group = base64_group(in.ptr + i, 4, &alphabets);
		out[o++] = (uint8_t)(group >> 16);
		out[o++] = (uint8_t)(group >> 8);
		out[o++] = (uint8_t)group;
	}
	if (tail != 0) {
		group = base64_group(in.ptr + i, tail, &alphabets);
		out[o++] = (uint8_t)(group >> 16);
		if (tail == 3)
			out[o++] = (uint8_t)(group >> 8);
		group &= tail == 3 ? 0xff : 0xffff; /* the spare bits */
	} else {
		group = 0;
	}
	if ((alphabets & (alphabet == BASE64_URL ? URL : STANDARD)) == 0 ||
	    group != 0)
		return ST_BAD_ENCODING;
	*len = o;
	return ST_OK;
}

#define TEN19 UINT64_C(10000000000000000000)

__extension__ typedef unsigned __int128 u128;

/* V = V * m + a over four little-endian limbs; the carry out of the top. */
static uint64_t
mul_add(uint64_t v[static 4], uint64_t m, uint64_t a)
{
	u128 carry = a;

	for (unsigned i = 0; i < 4; i++) {
		carry += (u128)v[i] * m;
		v[i] = (uint64_t)carry;
		carry >>= 64;
	}
	return (uint64_t)carry;
}

enum status
decimal_decode(uint8_t out[static 32], span_t in)
{
	uint64_t v[4] = {0};

	memset(out, 0, 32);
	if (in.len == 0)
		return ST_BAD_LENGTH;
	for (size_t i = 0; i < in.len; i++) {
		if (in.ptr[i] < '0' || in.ptr[i] > '9')
			return ST_BAD_ENCODING;
	}
	if (in.ptr[0] == '0' && in.len > 1)
		return ST_BAD_ENCODING;
	if (in.len >= DECIMAL_MAX)
		return ST_BAD_VALUE;
	for (size_t i = 0; i < in.len;) {
		uint64_t chunk = 0, scale = 1;
		for (; i < in.len && scale < TEN19; i++, scale *= 10)
			chunk = chunk * 10 + (uint64_t)(in.ptr[i] - '0');
		if (mul_add(v, scale, chunk) != 0)
			return ST_BAD_VALUE;
	}
	for (unsigned i = 0; i < 4; i++)
		store_be64(out + 8 * i, v[3 - i]);
	return ST_OK;
}

/* V = V / 10^19; the remainder. */
static uint64_t
div_ten19(uint64_t v[static 4])
{
	u128 rest = 0;

	for (unsigned i = 4; i-- > 0;) {
		rest = rest << 64 | v[i];
		v[i] = (uint64_t)(rest / TEN19);
		rest %= TEN19;
	}
	return (uint64_t)rest;
}

size_t
decimal_encode(char out[static DECIMAL_MAX], const uint8_t in[static 32])
{
	char buf[5 * 19];
	uint64_t v[4];
	size_t n = sizeof(buf), first = 0;

	for (unsigned i = 0; i < 4; i++)
		v[i] = load_be64(in + 24 - 8 * i);
	while (n > 0) {
		uint64_t chunk = div_ten19(v);
		for (unsigned k = 0; k < 19; k++, chunk /= 10)
			buf[--n] = (char)('0' + chunk % 10);
	}
	while (first < sizeof(buf) - 1 && buf[first] == '0')
		first++;
	n = sizeof(buf) - first;
	memcpy(out, buf + first, n);
	out[n] = '\0';
	return n;
}

enum status
decimal_u64(uint64_t *out, span_t in, uint64_t max)
{
	uint8_t wide[32];
	enum status st = decimal_decode(wide, in);

	*out = 0;
	if (st != ST_OK)
		return st;
	if ((load_be64(wide) | load_be64(wide + 8) | load_be64(wide + 16)) !=
		0 ||
	    load_be64(wide + 24) > max)
		return ST_BAD_VALUE;
	*out = load_be64(wide + 24);
	return ST_OK;
}

void
text_printable(char *out, size_t cap, span_t in)
{
	size_t n = in.len < cap ? in.len : cap - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = in.ptr[i] >= ' ' && in.ptr[i] <= '~' ? (char)in.ptr[i]
							      : '?';
	out[n] = '\0';
}
