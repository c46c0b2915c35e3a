#include "client/socks5.h"

#include <string.h>

#include "base/bytes.h"

#define LOGIN_VERSION 1

enum { COMMAND_CONNECT = 1 };
enum { ADDRESS_IP4 = 1, ADDRESS_NAME = 3, ADDRESS_IP6 = 4 };

/* --- addresses, in requests and replies alike ------------------------------ */

/* Where the address of a message that begins as IN does lies.
 * Out:     *at and *len; *end is where the port is. */
static enum status
find_address(size_t *at, size_t *len, span_t in)
{
	*at = 4;
	*len = 0;
	if (in.len < 5)
		return ST_MORE;
	switch (in.ptr[3]) {
	case ADDRESS_IP4:
		*len = 4;
		break;
	case ADDRESS_IP6:
		*len = 16;
		break;
	case ADDRESS_NAME:
		*at = 5;
		*len = in.ptr[4];
		break;
	default:
		return ST_WRONG_TYPE;
	}
	return in.len < *at + *len + 2 ? ST_MORE : ST_OK;
}

/* Read the host NAME: a name or an address in letters. */
static enum status
read_name(struct authority *to, span_t name)
{
	if (name.len > 0 && name.ptr[name.len - 1] == '.')
		name.len--;
	if (host_is_name(name)) {
		to->kind = HOST_NAME;
		to->host = name;
		return ST_OK;
	}
	if (ip_parse(&to->ip, name) != ST_OK)
		return ST_HTTP_AUTHORITY;
	to->kind = HOST_LITERAL;
	return ST_OK;
}

/* --- what a program says to us --------------------------------------------- */

enum status
socks5_read_offer(struct socks5_offer *o, size_t *used, span_t in)
{
	*o = (struct socks5_offer){false, false};
	*used = 0;
	if (in.len > 0 && in.ptr[0] != SOCKS5_VERSION)
		return ST_BAD_VERSION;
	if (in.len < 2 || in.len < 2u + in.ptr[1])
		return ST_MORE;
	for (size_t i = 0; i < in.ptr[1]; i++) {
		o->open = o->open || in.ptr[2 + i] == SOCKS5_OPEN;
		o->password = o->password || in.ptr[2 + i] == SOCKS5_PASSWORD;
	}
	*used = 2u + in.ptr[1];
	return ST_OK;
}

enum status
socks5_read_login(span_t *user, span_t *password, size_t *used, span_t in)
{
	size_t second;

	*user = *password = (span_t){NULL, 0};
	*used = 0;
	if (in.len > 0 && in.ptr[0] != LOGIN_VERSION)
		return ST_BAD_VERSION;
	if (in.len < 2 || in.len < (second = 2u + in.ptr[1]) + 1 ||
	    in.len < second + 1 + in.ptr[second])
		return ST_MORE;
	*user = span_of(in.ptr + 2, in.ptr[1]);
	*password = span_of(in.ptr + second + 1, in.ptr[second]);
	*used = second + 1 + password->len;
	return ST_OK;
}

enum status
socks5_read_request(struct authority *to, size_t *used, span_t in)
{
	struct authority got = {0};
	size_t at, len;
	enum status st;

	*to = got;
	*used = 0;
	if (in.len > 0 && in.ptr[0] != SOCKS5_VERSION)
		return ST_BAD_VERSION;
	if (in.len > 1 && in.ptr[1] != COMMAND_CONNECT)
		return ST_HTTP_METHOD;
	if ((st = find_address(&at, &len, in)) != ST_OK)
		return st;
	got.port = load_be16(in.ptr + at + len);
	if (in.ptr[3] == ADDRESS_NAME) {
		st = read_name(&got, span_of(in.ptr + at, len));
	} else {
		got.kind = HOST_LITERAL;
		got.ip.version = len == 4 ? 4 : 6;
		memcpy(got.ip.bytes, in.ptr + at, len);
	}
	if (st != ST_OK || got.port == 0)
		return ST_HTTP_AUTHORITY;
	*to = got;
	*used = at + len + 2;
	return ST_OK;
}

void
socks5_write_choice(
    uint8_t out[static SOCKS5_CHOICE_LENGTH], enum socks5_method m)
{
	out[0] = SOCKS5_VERSION;
	out[1] = (uint8_t)m;
}

void
socks5_write_login_reply(
    uint8_t out[static SOCKS5_LOGIN_REPLY_LENGTH], bool welcome)
{
	out[0] = LOGIN_VERSION;
	out[1] = welcome ? 0 : 1;
}

void
socks5_write_reply(uint8_t out[static SOCKS5_REPLY_LENGTH], enum socks5_reply r)
{
	memset(out, 0, SOCKS5_REPLY_LENGTH);
	out[0] = SOCKS5_VERSION;
	out[1] = (uint8_t)r;
	out[3] = ADDRESS_IP4;
}

/* --- what we say to tor ----------------------------------------------------- */

size_t
socks5_write_offer(uint8_t out[static SOCKS5_MESSAGE_MAX])
{
	static const uint8_t offer[] = {SOCKS5_VERSION, 1, SOCKS5_PASSWORD};

	memcpy(out, offer, sizeof(offer));
	return sizeof(offer);
}

/* Append a length byte and BYTES; the new end. */
static size_t
put_counted(uint8_t *out, size_t at, span_t bytes)
{
	out[at] = (uint8_t)bytes.len;
	memcpy(out + at + 1, bytes.ptr, bytes.len);
	return at + 1 + bytes.len;
}

size_t
socks5_write_login(
    uint8_t out[static SOCKS5_MESSAGE_MAX], span_t user, span_t password)
{
	out[0] = LOGIN_VERSION;
	return put_counted(out, put_counted(out, 1, user), password);
}

size_t
socks5_write_connect(
    uint8_t out[static SOCKS5_MESSAGE_MAX], span_t name, uint16_t port)
{
	size_t end;

	out[0] = SOCKS5_VERSION;
	out[1] = COMMAND_CONNECT;
	out[2] = 0;
	out[3] = ADDRESS_NAME;
	end = put_counted(out, 4, name);
	store_be16(out + end, port);
	return end + 2;
}

enum status
socks5_read_choice(enum socks5_method *m, size_t *used, span_t in)
{
	*m = SOCKS5_NO_METHOD;
	*used = 0;
	if (in.len > 0 && in.ptr[0] != SOCKS5_VERSION)
		return ST_BAD_VERSION;
	if (in.len < SOCKS5_CHOICE_LENGTH)
		return ST_MORE;
	if (in.ptr[1] == SOCKS5_OPEN || in.ptr[1] == SOCKS5_PASSWORD)
		*m = (enum socks5_method)in.ptr[1];
	*used = SOCKS5_CHOICE_LENGTH;
	return ST_OK;
}

enum status
socks5_read_login_reply(size_t *used, span_t in)
{
	*used = 0;
	/* Some servers say 5 here; RFC 1929 wants 1, and tor says that. */
	if (in.len > 0 && in.ptr[0] != LOGIN_VERSION)
		return ST_BAD_VERSION;
	if (in.len < SOCKS5_LOGIN_REPLY_LENGTH)
		return ST_MORE;
	if (in.ptr[1] != 0)
		return ST_PERMISSION;
	*used = SOCKS5_LOGIN_REPLY_LENGTH;
	return ST_OK;
}

enum status
socks5_read_reply(uint8_t *code, size_t *used, span_t in)
{
	size_t at, len;
	enum status st;

	*code = SOCKS5_FAILED;
	*used = 0;
	if (in.len > 0 && in.ptr[0] != SOCKS5_VERSION)
		return ST_BAD_VERSION;
	if ((st = find_address(&at, &len, in)) != ST_OK)
		return st;
	*code = in.ptr[1];
	*used = at + len + 2;
	return ST_OK;
}
