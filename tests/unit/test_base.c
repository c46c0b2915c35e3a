/* The base layer: encodings, slab, list, status table. */
#include "harness.h"

#include "base/bytes.h"
#include "base/list.h"
#include "base/slab.h"
#include "base/span.h"
#include "base/text.h"
#include "base/wipe.h"
#include "postern/status.h"

static void
test_status_table(void)
{
	for (int s = 0; s < ST_COUNT; s++) {
		const struct status_info *info = status_info((enum status)s);
		CHECK(info->name != NULL && info->label != NULL);
		CHECK(info->text != NULL && info->text[0] != '\0');
		CHECK(s == ST_INTERNAL || strcmp(info->name, "ST_INTERNAL"));
		for (int t = 0; t < s; t++)
			CHECK(strcmp(info->label,
				  status_info((enum status)t)->label) != 0);
		for (const char *p = info->label; *p != '\0'; p++)
			CHECK((*p >= 'a' && *p <= 'z') || *p == '_');
	}
	CHECK_STR(status_info((enum status) - 1)->name, "ST_INTERNAL");
	CHECK_STR(status_info(ST_COUNT)->name, "ST_INTERNAL");
}

static void
test_hex(void)
{
	uint8_t all[256], back[256];
	char text[513];

	for (unsigned i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	hex_encode(text, span_of(all, sizeof(all)));
	for (unsigned i = 0; i < 256; i++) {
		char want[3];
		snprintf(want, sizeof(want), "%02x", i);
		CHECK_MEM(text + 2 * i, want, 2);
	}
	CHECK_STATUS(hex_decode(back, 256, span_str(text)), ST_OK);
	CHECK_MEM(back, all, 256);
	CHECK_STATUS(hex_decode(back, 2, span_str("FfA0")), ST_OK);
	CHECK(back[0] == 0xff && back[1] == 0xa0);
	CHECK_STATUS(hex_decode(back, 2, span_str("ffa")), ST_BAD_LENGTH);
	CHECK_STATUS(hex_decode(back, 2, span_str("ffa0ff")), ST_BAD_LENGTH);
	CHECK_STATUS(hex_decode(back, 2, span_str("ffg0")), ST_BAD_ENCODING);
	CHECK_STATUS(hex_decode(back, 2, span_str("0xff")), ST_BAD_ENCODING);
}

/* Every byte in every place of a group, against RFC 4648's tables. */
static void
test_base64_alphabets(void)
{
	static const char *const alphabets[] = {
	    [BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
				"uvwxyz0123456789+/",
	    [BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
			   "uvwxyz0123456789-_"};

	for (unsigned a = 0; a < 2; a++) {
		for (unsigned i = 0; i < 4 * 256; i++) {
			char text[4] = {'A', 'A', 'A', 'A'};
			char c = (char)(i / 4);
			unsigned at = i % 4;
			const char *known = memchr(alphabets[a], c, 64);
			uint32_t want = known == NULL
			    ? 0
			    : (uint32_t)(known - alphabets[a]) << (18 - 6 * at);
			uint8_t out[3];
			size_t len;
			if (c == '=' && at == 3 && a == BASE64_STANDARD)
				continue; /* padding: two bytes of zeros */
			text[at] = c;
			CHECK_STATUS(
			    base64_decode(out, 3, &len, span_of(text, 4),
				(enum base64_alphabet)a),
			    known == NULL ? ST_BAD_ENCODING : ST_OK);
			CHECK_INT(len, known == NULL ? 0 : 3);
			if (known != NULL)
				CHECK_INT((uint32_t)out[0] << 16 |
					(uint32_t)out[1] << 8 | out[2],
				    want);
		}
	}
}

static void
test_base64(void)
{
	/* RFC 4648, section 10. */
	static const char *const vectors[][2] = {{"", ""}, {"f", "Zg=="},
	    {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
	    {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
	static const char *const bad[] = {"Zg=", "Zg",
	    "Z===", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm 9", "Zm9v\n",
	    "Zm-_"};
	uint8_t out[64];
	char text[64];
	size_t len;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		span_t plain = span_str(vectors[i][0]);
		base64_encode(text, plain, BASE64_STANDARD);
		CHECK_STR(text, vectors[i][1]);
		CHECK_STATUS(base64_decode(out, sizeof(out), &len,
				 span_str(text), BASE64_STANDARD),
		    ST_OK);
		CHECK(span_equal(span_of(out, len), plain));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(base64_decode(out, sizeof(out), &len, span_str(bad[i]),
			  BASE64_STANDARD) != ST_OK);
	base64_encode(text, span_of("\xfb\xff\xfe", 3), BASE64_URL);
	CHECK_STR(text, "-__-");
	CHECK_STATUS(base64_decode(out, 2, &len, span_str(text), BASE64_URL),
	    ST_NO_SPACE);
	CHECK_STATUS(
	    base64_decode(out, 3, &len, span_str(text), BASE64_URL), ST_OK);
	CHECK_STATUS(base64_decode(out, 3, &len, span_str("-__+"), BASE64_URL),
	    ST_BAD_ENCODING);
	CHECK_STATUS(base64_decode(out, 3, &len, span_str("Zg=="), BASE64_URL),
	    ST_BAD_ENCODING);
	for (unsigned n = 0; n < 40; n++) {
		uint8_t data[40];
		test_random_bytes(data, n);
		base64_encode(text, span_of(data, n), BASE64_URL);
		CHECK_INT(strlen(text), base64_length(n, BASE64_URL));
		CHECK_STATUS(
		    base64_decode(out, n, &len, span_str(text), BASE64_URL),
		    ST_OK);
		CHECK(span_equal(span_of(out, len), span_of(data, n)));
	}
}

static void
test_decimal(void)
{
	static const char max[] =
	    "1157920892373161954235709850086879078532699"
	    "84665640564039457584007913129639935"; /* 2^256 - 1 */
	static const char over[] = "115792089237316195423570985008687907853269"
				   "984665640564039457584007913129639936";
	static const char *const bad[] = {"", "00", "01", "-1", "+1", " 1",
	    "1 ", "0x1", "1e3", "1.0", "\xef\xbc\x91"};
	uint8_t v[32], ones[32];
	char text[DECIMAL_MAX];
	uint64_t small;

	memset(ones, 0xff, sizeof(ones));
	CHECK_STATUS(decimal_decode(v, span_str(max)), ST_OK);
	CHECK_MEM(v, ones, 32);
	CHECK_INT(decimal_encode(text, v), 78);
	CHECK_STR(text, max);
	CHECK_STATUS(decimal_decode(v, span_str(over)), ST_BAD_VALUE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(decimal_decode(v, span_str(bad[i])) != ST_OK);
	CHECK_STATUS(decimal_decode(v, span_of("1\0", 2)), ST_BAD_ENCODING);
	CHECK_STATUS(decimal_decode(v, span_str("0")), ST_OK);
	CHECK_INT(decimal_encode(text, v), 1);
	CHECK_STR(text, "0");
	for (unsigned i = 0; i < 1000; i++) {
		uint8_t back[32];
		test_random_bytes(v, sizeof(v));
		memset(v, 0, test_random() % 33);
		decimal_encode(text, v);
		CHECK_STATUS(decimal_decode(back, span_str(text)), ST_OK);
		CHECK_MEM(back, v, 32);
	}
	CHECK_STATUS(decimal_u64(&small, span_str("65535"), 65535), ST_OK);
	CHECK_INT(small, 65535);
	CHECK_STATUS(
	    decimal_u64(&small, span_str("65536"), 65535), ST_BAD_VALUE);
	CHECK_STATUS(
	    decimal_u64(&small, span_str("18446744073709551616"), UINT64_MAX),
	    ST_BAD_VALUE);
}

static void
test_slab(void)
{
	uint64_t objects[3];
	struct slab_slot slots[3];
	struct slab s;
	handle_t h[3], extra;
	void *p, *q;

	slab_init(&s, objects, slots, sizeof(objects[0]), 3);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_STATUS(slab_take(&s, &h[i], &p), ST_OK);
		CHECK_INT(*(uint64_t *)p, 0);
		*(uint64_t *)p = i + 1;
	}
	CHECK_STATUS(slab_take(&s, &extra, &p), ST_BUSY);
	CHECK(p == NULL && slab_at(&s, extra) == NULL);
	CHECK_INT(*(uint64_t *)slab_at(&s, h[1]), 2);
	slab_release(&s, h[1]);
	CHECK(slab_at(&s, h[1]) == NULL);
	slab_release(&s, h[1]);
	CHECK_INT(s.used, 2);
	CHECK_STATUS(slab_take(&s, &extra, &q), ST_OK);
	CHECK_INT(extra.slot, h[1].slot);
	CHECK(slab_at(&s, h[1]) == NULL && slab_at(&s, extra) == q);
	slab_release(&s, h[1]); /* stale: must not free the new owner's */
	CHECK(slab_at(&s, extra) == q);
	CHECK(slab_nth(&s, 3, &extra) == NULL);
}

struct item {
	int value;
	struct list_node node;
};

static void
test_list(void)
{
	struct list_node head;
	struct item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
	int sum = 0;

	list_init(&head);
	CHECK(list_empty(&head));
	for (unsigned i = 0; i < 3; i++)
		list_append(&head, &items[i].node);
	list_remove(&items[1].node);
	list_remove(&items[1].node);
	for (struct list_node *n = head.next; n != &head; n = n->next)
		sum = sum * 10 + list_entry(n, struct item, node)->value;
	CHECK_INT(sum, 13);
}

static void
test_bytes_and_wipe(void)
{
	uint8_t b[8];

	store_be64(b, UINT64_C(0x0102030405060708));
	CHECK(b[0] == 1 && b[7] == 8);
	CHECK(load_be64(b) == UINT64_C(0x0102030405060708));
	CHECK(load_le64(b) == UINT64_C(0x0807060504030201));
	CHECK(load_be16(b) == 0x0102 && load_le32(b) == 0x04030201);
	store_le64(b, UINT64_C(0x0102030405060708));
	CHECK(b[0] == 8 && b[7] == 1);
	CHECK(equal_ct("abc", "abc", 3) && !equal_ct("abc", "abd", 3));
	wipe(b, sizeof(b));
	CHECK(load_le64(b) == 0);
	CHECK(span_equal_nocase(span_str("HoST"), span_str("hOst")));
	CHECK(!span_equal_nocase(span_str("@"), span_str("`")));
	CHECK(span_ends_nocase(span_str("a.ONION"), span_str(".onion")));
	CHECK(!span_ends_nocase(span_str("onion"), span_str(".onion")));
}

static void
test_printable(void)
{
	static const uint8_t in[] = {'a', 0, '\n', 27, '~', 127, 155, 255, ' '};
	char out[16];

	text_printable(out, sizeof(out), span_of(in, sizeof(in)));
	CHECK_STR(out, "a???~??? ");
	text_printable(out, 5, span_of(in, sizeof(in)));
	CHECK_STR(out, "a???");
	text_printable(out, 1, span_of(in, sizeof(in)));
	CHECK_STR(out, "");
	text_printable(out, sizeof(out), span_of(NULL, 0));
	CHECK_STR(out, "");
}

/* What is left points into the text, to its end: editors cut by it. */
static void
test_span_take(void)
{
	static const char text[] = "a\n\nbc";
	span_t rest = span_str(text), line;

	line = span_take_line(&rest);
	CHECK(line.len == 1 && rest.ptr == (const uint8_t *)text + 2);
	line = span_take_line(&rest);
	CHECK(line.len == 0 && rest.ptr == (const uint8_t *)text + 3);
	line = span_take_line(&rest);
	CHECK(line.len == 2 && line.ptr == (const uint8_t *)text + 3);
	CHECK(rest.len == 0 && rest.ptr == (const uint8_t *)text + 5);
	rest = span_str(text);
	CHECK(!span_take_until(&rest, &line, 'x'));
	CHECK(rest.ptr == (const uint8_t *)text && rest.len == 5);
	CHECK(span_take_until(&rest, &line, 'b') && line.len == 3);
	CHECK(rest.len == 1 && rest.ptr == (const uint8_t *)text + 4);
	CHECK(span_begins(span_str(text), "a\n"));
	CHECK(!span_begins(span_str("a"), "a\n"));
}

/* RFC 4648, section 10, without padding and in lower case. */
static void
test_base32(void)
{
	static const char *const words[] = {
	    "", "my", "mzxq", "mzxw6", "mzxw6yq", "mzxw6ytb", "mzxw6ytboi"};
	char text[17];
	uint8_t out[6];

	for (size_t n = 0; n <= 6; n++) {
		CHECK_INT(base32_length(n), strlen(words[n]));
		base32_encode(text, span_of("foobar", n));
		CHECK_STR(text, words[n]);
		CHECK_STATUS(base32_decode(out, n, span_str(words[n])), ST_OK);
		CHECK_MEM(out, "foobar", n);
	}
	CHECK_STATUS(base32_decode(out, 6, span_str("MZXW6YTBOI")), ST_OK);
	CHECK_STATUS(base32_decode(out, 1, span_str("mz")), ST_BAD_ENCODING);
	CHECK_STATUS(base32_decode(out, 1, span_str("m1")), ST_BAD_ENCODING);
	CHECK_STATUS(base32_decode(out, 1, span_str("myy")), ST_BAD_LENGTH);
}

TESTS({"spans", test_span_take}, {"base32", test_base32},
    {"status table is complete", test_status_table}, {"hex", test_hex},
    {"base64", test_base64}, {"base64_alphabets", test_base64_alphabets},
    {"decimal", test_decimal}, {"text to show", test_printable},
    {"slab", test_slab}, {"list", test_list},
    {"bytes and wipe", test_bytes_and_wipe}, )
