/* sphinx/packet.h: the steps that packets and reply blocks share. */
#ifndef SPHINX_PACKET_H
#define SPHINX_PACKET_H

#include "sphinx/header.h"

/* What a seed expands to. */
struct material {
	x25519_t secret[SPHINX_HOPS_MAX]; /* one key pair a hop */
	uint8_t pad[PAD_MAX];
	uint8_t surb_id[SPHINX_KEY_SIZE], reply_key[SPHINX_KEY_SIZE];
};

/* What the sender shares with each hop, and how the hop gets at it. */
struct agreement {
	x25519_t element[SPHINX_HOPS_MAX], shared[SPHINX_HOPS_MAX];
};

/* As many paths as fill whole vectors: 4 * 3 * 2 = 3 * 8 products. */
#define AGREE_MAX 4

/* Returns: ST_OK; ST_INTERNAL. */
enum status material_expand(const struct ciphers *c, struct material *m,
    const uint8_t seed[static SPHINX_SEED_SIZE]) NONNULL WARN_UNUSED;

/* Returns: ST_OK; ST_BAD_LENGTH (hops); ST_WEAK_KEY (an id). */
enum status path_check(const sphinx_path_t *path) NONNULL WARN_UNUSED;

/* Agree with the hops of N paths, at most AGREE_MAX. */
void agree(const struct x25519_kernel *k, struct agreement *out,
    const struct material *m, const sphinx_path_t *const *path,
    size_t n) NONNULL;

/* Derive the keys of PATH's hops and build the header whose exit is told
 * LAST; surb_id in M is what a REPLY carries.
 * Returns: ST_OK; ST_INTERNAL. */
enum status header_for_path(const struct sphinx *s, sphinx_header_t *header,
    struct hop_keys keys[static SPHINX_HOPS_MAX], const sphinx_path_t *path,
    const struct agreement *agreed, const struct material *m,
    enum sphinx_action last) NONNULL WARN_UNUSED;

#endif
