/* client/socks5.h: SOCKS version 5 (RFC 1928) with user and password (RFC
 * 1929), both sides of it: what programs say to us, and what we say to tor.
 *
 * Pure: bytes in, values out. A reader takes all bytes that have come and
 * tells how many of them are the message; on ST_MORE it wants to see them
 * again with more behind. Each message has its own reader, because whoever
 * sends the next one before the last is answered is out of step: the caller
 * decides what to make of bytes that are left over.
 *
 * Only CONNECT is known. A name may be an address in letters, as some programs
 * send it; it is read as the address then.
 */
#ifndef CLIENT_SOCKS5_H
#define CLIENT_SOCKS5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "http/authority.h"
#include "postern/status.h"

#define SOCKS5_VERSION 5
/* Longest message of either side: user and password of 255 bytes each. */
#define SOCKS5_MESSAGE_MAX 513

/* Methods of section 3. */
enum socks5_method {
	SOCKS5_OPEN = 0x00,
	SOCKS5_PASSWORD = 0x02,
	SOCKS5_NO_METHOD = 0xff,
};

/* Replies of section 6. */
enum socks5_reply {
	SOCKS5_DONE = 0x00,
	SOCKS5_FAILED = 0x01,
	SOCKS5_NOT_ALLOWED = 0x02,
	SOCKS5_NET_UNREACHABLE = 0x03,
	SOCKS5_HOST_UNREACHABLE = 0x04,
	SOCKS5_REFUSED = 0x05,
	SOCKS5_EXPIRED = 0x06,
	SOCKS5_COMMAND = 0x07,
	SOCKS5_ADDRESS = 0x08,
};

/* --- what a program says to us --- */

/* Which methods it offers. */
struct socks5_offer {
	bool open, password;
};

/* Read the greeting.
 * Returns: ST_OK; ST_MORE; ST_BAD_VERSION (not SOCKS 5). On failure *used is
 *          0 and *o empty: so in all readers. */
enum status socks5_read_offer(
    struct socks5_offer *o, size_t *used, span_t in) NONNULL WARN_UNUSED;

/* Read user and password, slices of IN.
 * Returns: as socks5_read_offer. */
enum status socks5_read_login(span_t *user, span_t *password, size_t *used,
    span_t in) NONNULL WARN_UNUSED;

/* Read the request. The host of *to points into IN, or is empty where the
 * address was binary: to->ip holds it then.
 * Returns: ST_OK; ST_MORE; ST_BAD_VERSION; ST_HTTP_METHOD (not CONNECT);
 *          ST_WRONG_TYPE (an address type that is not known);
 *          ST_HTTP_AUTHORITY (no host name, or port 0). */
enum status socks5_read_request(
    struct authority *to, size_t *used, span_t in) NONNULL WARN_UNUSED;

#define SOCKS5_CHOICE_LENGTH 2
#define SOCKS5_LOGIN_REPLY_LENGTH 2
#define SOCKS5_REPLY_LENGTH 10

void socks5_write_choice(
    uint8_t out[static SOCKS5_CHOICE_LENGTH], enum socks5_method m);
void socks5_write_login_reply(
    uint8_t out[static SOCKS5_LOGIN_REPLY_LENGTH], bool welcome);
/* The bound address is told as 0.0.0.0:0: it is the gateway's secret. */
void socks5_write_reply(
    uint8_t out[static SOCKS5_REPLY_LENGTH], enum socks5_reply r);

/* --- what we say to tor --- */

/* Each writes one message and returns its length. */
size_t socks5_write_offer(uint8_t out[static SOCKS5_MESSAGE_MAX]);
/* USER and PASSWORD: 1 to 255 bytes. */
size_t socks5_write_login(
    uint8_t out[static SOCKS5_MESSAGE_MAX], span_t user, span_t password);
/* NAME: 1 to 255 bytes. */
size_t socks5_write_connect(
    uint8_t out[static SOCKS5_MESSAGE_MAX], span_t name, uint16_t port);

/* Read the method that was chosen.
 * Returns: ST_OK; ST_MORE; ST_BAD_VERSION. */
enum status socks5_read_choice(
    enum socks5_method *m, size_t *used, span_t in) NONNULL WARN_UNUSED;

/* Read the answer to user and password.
 * Returns: ST_OK (welcome); ST_MORE; ST_BAD_VERSION; ST_PERMISSION. */
enum status
socks5_read_login_reply(size_t *used, span_t in) NONNULL WARN_UNUSED;

/* Read the answer to CONNECT; *code is its reply, which may be one that no RFC
 * knows (tor has some).
 * Returns: ST_OK (whatever the code); ST_MORE; ST_BAD_VERSION;
 *          ST_WRONG_TYPE. */
enum status
socks5_read_reply(uint8_t *code, size_t *used, span_t in) NONNULL WARN_UNUSED;

#endif
