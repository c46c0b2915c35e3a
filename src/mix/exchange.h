/* mix/exchange.h: a request to a gateway and its answer, in packets.
 *
 * What a member wants is longer than a packet, and so is what comes back. A
 * request is cut into parts, each the body of a message of its own that travels
 * by a path of its own; they bring the reply blocks that the answer will need.
 * The answer is cut into as many parts as there are blocks for, each padded to
 * a whole packet by the packet format.
 *
 *	part of a request (the body of a message: a sealed box for the
 *	gateway's key, so that the last node reads nothing of it)
 *	  version u8 = 1 | id 16 | part u16 | parts u16 | blocks u8 |
 *	  blocks x (length u16 | reply block) | bytes
 *	the request, put together
 *	  length u16 | token | length u16 | authority | bytes for the target
 *	part of an answer (a reply)
 *	  part u16 | length of the answer u32 | flags u8 | bytes
 *	the answer, put together
 *	  result u8 | bytes
 *
 * Integers are little-endian; the sealed box is libsodium's (an ephemeral X25519
 * key, XSalsa20-Poly1305). The answer is sealed by the reply blocks. The token is the one of Proxy-Authorization, the
 * authority the one of CONNECT.
 *
 * Pure: views of the caller's bytes. Threads: any.
 */
#ifndef MIX_EXCHANGE_H
#define MIX_EXCHANGE_H

#include "base/span.h"
#include "postern/sphinx.h"

#define EXCHANGE_ID_SIZE 16
#define EXCHANGE_PARTS_MAX 8 /* of a request */
#define EXCHANGE_BLOCKS_MAX 255 /* of a request, in all its parts */
#define ANSWER_HEAD_SIZE 7

struct request_part {
	const uint8_t *id;
	uint16_t part, parts;
	uint8_t blocks;
	span_t block_bytes; /* of all of them, with their lengths */
	span_t bytes;
};

/* Read a part of a request.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_VERSION; ST_BAD_VALUE (part, parts). */
enum status
request_part_decode(struct request_part *p, span_t in) NONNULL WARN_UNUSED;

/* Take the next reply block off *BLOCKS; one of no bytes at the end. */
span_t request_next_block(span_t *blocks) NONNULL;

/* Write the head of a part, up to its blocks; they (length u16 and block each)
 * and the bytes follow. Returns its length. */
#define REQUEST_HEAD_SIZE (1 + EXCHANGE_ID_SIZE + 2 + 2 + 1)
size_t request_part_head(
    uint8_t out[static REQUEST_HEAD_SIZE], const struct request_part *p);

/* A request, put together. */
struct mix_request {
	span_t token, authority, bytes;
};

/* Read a request. Token and authority are printable ASCII without blanks, so
 * that they fit into a head.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING. */
enum status
mix_request_decode(struct mix_request *r, span_t in) NONNULL WARN_UNUSED;

/* Write R. Out: *len; 0 on failure. Returns: ST_OK; ST_NO_SPACE. */
enum status mix_request_encode(uint8_t *out, size_t cap, size_t *len,
    const struct mix_request *r) NONNULL WARN_UNUSED;

/* What came of a request: the first byte of its answer. */
enum answer_result {
	ANSWER_RELAYED = 0, /* what the target sent, inside TLS */
	ANSWER_REFUSED = 1, /* the gateway's answer to CONNECT: head, content */
	ANSWER_FAILED = 2, /* granted, and then: why, for people */
};

#define ANSWER_CUT 1 /* there was more than reply blocks for it */
#define ANSWER_UNCLEAN 2 /* the target did not end its TLS session */

struct answer_part {
	uint16_t part;
	uint32_t total; /* bytes of the answer, as far as it is sent */
	uint8_t flags;
	span_t bytes;
};

/* Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_VALUE. */
enum status
answer_part_decode(struct answer_part *p, span_t in) NONNULL WARN_UNUSED;
void answer_part_head(
    uint8_t out[static ANSWER_HEAD_SIZE], const struct answer_part *p);

#endif
