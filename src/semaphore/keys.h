/* semaphore/keys.h: the verification keys, as the verifier takes them.
 *
 * Private to the folder.
 */
#ifndef SEMAPHORE_KEYS_H
#define SEMAPHORE_KEYS_H

#include "groth16/verify.h"
#include "postern/semaphore.h"

/* The prepared key of DEPTH; NULL when there is none. */
const struct groth16_pvk *
keys_at(const struct semaphore_keys *keys, uint32_t depth) NONNULL;

const struct bn254_kernel *
keys_kernel(const struct semaphore_keys *keys) NONNULL;

/* Grows each time a key is put in the place of another: what was derived from
 * the keys at another revision is not theirs any more. */
uint64_t keys_revision(const struct semaphore_keys *keys) NONNULL;

/* The built-in key of DEPTH, 1 to 32, as a file would have it.
 * Returns: ST_OK; ST_CORRUPT. */
enum status
keys_official(struct groth16_vk *vk, uint32_t depth) NONNULL WARN_UNUSED;

#endif
