/* sphinx/header.h: the 384 bytes that tell each hop, and only that hop, what
 * to do. The same for both suites.
 *
 *	element 32 | beta 336 | mac 16
 *
 * beta is three blocks of 112 bytes, each a hop's routing (96) and the MAC of
 * the header after it (16). A hop decrypts beta with 112 zeros appended, takes
 * the first block and hands on the rest; the filler, which the sender computes
 * beforehand, makes what the zeros turned into part of the next MAC.
 */
#ifndef SPHINX_HEADER_H
#define SPHINX_HEADER_H

#include "sphinx/suite.h"

#define ROUTING_SIZE 96
#define BLOCK_SIZE (ROUTING_SIZE + SPHINX_MAC_SIZE)
#define STREAM_SIZE (SPHINX_BETA_SIZE + BLOCK_SIZE)

/* Random bytes behind the exit's routing block. */
#define PAD_MAX (SPHINX_BETA_SIZE - ROUTING_SIZE)

/* What one hop is told. */
struct routing {
	enum sphinx_action action;
	uint32_t delay_ms;
	uint8_t element[32]; /* FORWARD: the next; REPLY: the block's id */
	uint8_t next[32]; /* FORWARD: the next hop's id; else the tag */
};

/* Build the beta and MAC of a header.
 * In:      keys and routing of each of HOPS hops, the first first; PAD, random
 *          (fewer hops need more of it: PAD_MAX - 112 * (hops - 1)).
 * Out:     header->beta, header->mac.
 * Returns: ST_OK; ST_INTERNAL. */
enum status header_build(const struct ciphers *c, sphinx_header_t *header,
    const struct hop_keys *keys, const struct routing *routing, unsigned hops,
    const uint8_t pad[static PAD_MAX]) NONNULL WARN_UNUSED;

/* Check a header's MAC, read this hop's routing and, when the action is
 * FORWARD, replace the header by the next.
 * Returns: ST_OK; ST_BAD_MAC, the header is unchanged; ST_BAD_ENCODING;
 *          ST_INTERNAL. Time: constant in keys and in where a MAC differs. */
enum status header_peel(const struct ciphers *c, struct routing *out,
    sphinx_header_t *header, const struct hop_keys *keys) NONNULL WARN_UNUSED;

#endif
