/* SOCKS5 messages: each reader decides once, at the same byte however the
 * input is cut, and what it found is within the message. The first byte of the
 * input chooses the reader. */
#include "fuzz.h"

#include "client/socks5.h"

enum reader { OFFER, LOGIN, REQUEST, CHOICE, LOGIN_REPLY, REPLY, READERS };

/* Read IN; what was found is folded into *sum. */
static enum status
read_one(enum reader reader, size_t *used, unsigned *sum, span_t in)
{
	struct socks5_offer offer;
	struct authority to;
	enum socks5_method method;
	span_t user, password;
	enum status st;
	uint8_t code;

	*sum = 0;
	switch (reader) {
	case OFFER:
		st = socks5_read_offer(&offer, used, in);
		*sum = offer.open + 2u * offer.password;
		return st;
	case LOGIN:
		st = socks5_read_login(&user, &password, used, in);
		FUZZ_CHECK(fuzz_within(user, in) && fuzz_within(password, in));
		*sum = (unsigned)(user.len + 256 * password.len);
		return st;
	case REQUEST:
		st = socks5_read_request(&to, used, in);
		FUZZ_CHECK(fuzz_within(to.host, in));
		FUZZ_CHECK((st == ST_OK) == (to.kind != HOST_NONE));
		FUZZ_CHECK((st == ST_OK) == (to.port != 0));
		FUZZ_CHECK(to.kind != HOST_NAME || host_is_name(to.host));
		FUZZ_CHECK((to.kind == HOST_LITERAL) == (to.ip.version != 0));
		*sum = (unsigned)(to.port + to.host.len);
		return st;
	case CHOICE:
		st = socks5_read_choice(&method, used, in);
		*sum = method;
		return st;
	case LOGIN_REPLY:
		return socks5_read_login_reply(used, in);
	case REPLY:
	case READERS:
	default:
		st = socks5_read_reply(&code, used, in);
		*sum = code;
		return st;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum reader reader;
	enum status st, now = ST_MORE;
	unsigned sum, part_sum;
	size_t used, part_used;

	if (size == 0)
		return 0;
	reader = data[0] % READERS;
	data++;
	size--;
	st = read_one(reader, &used, &sum, span_of(data, size));
	FUZZ_CHECK((st == ST_OK) == (used > 0));
	FUZZ_CHECK(used <= size && used <= SOCKS5_MESSAGE_MAX);
	FUZZ_CHECK(st != ST_MORE || size < SOCKS5_MESSAGE_MAX);
	for (size_t n = 0; n <= size && now == ST_MORE; n++) {
		uint8_t *copy = fuzz_copy(data, n);
		now = read_one(reader, &part_used, &part_sum, span_of(copy, n));
		free(copy);
	}
	/* An early no may name another fault than the whole would. */
	FUZZ_CHECK((now == ST_OK) == (st == ST_OK));
	FUZZ_CHECK((now == ST_MORE) == (st == ST_MORE));
	FUZZ_CHECK(now != ST_OK || (part_used == used && part_sum == sum));
	return 0;
}
