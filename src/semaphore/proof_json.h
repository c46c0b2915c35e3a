/* semaphore/proof_json.h: a proof out of JSON that has been parsed already.
 *
 * For `postern verify`, whose lines may wrap a proof in an object of their
 * own. Everyone else reads bytes: postern/semaphore.h.
 *
 * jansson takes the seed of its hash tables from the system at the first
 * object it makes; a program that goes into a sandbox calls json_object_seed
 * before.
 */
#ifndef SEMAPHORE_PROOF_JSON_H
#define SEMAPHORE_PROOF_JSON_H

#include <jansson.h>

#include "postern/semaphore.h"

/* Parse TEXT as strictly as a proof is: one value, no member twice.
 * Out:     *out, to be released with json_decref; NULL on failure. f.
 * Returns: ST_OK; ST_NOT_JSON; ST_TRAILING; ST_DUPLICATE; ST_BAD_VALUE (a
 *          number beyond 64 bits); ST_NO_MEMORY. */
enum status semaphore_json_load(json_t **out, const void *text, size_t len,
    struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* Read the proof that OBJECT is (NULL, as for a member that is not there, is
 * no object).
 * Out, Returns: as semaphore_proof_from_json, but for parsing. */
enum status
semaphore_proof_from_value(struct semaphore_proof *p, const json_t *object,
    struct semaphore_fault *f) NONNULL_ARGS(1, 3) WARN_UNUSED;

#endif
