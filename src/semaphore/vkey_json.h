/* semaphore/vkey_json.h: a verification key out of its JSON.
 *
 * The format is snarkjs's (`zkey export verificationkey`): protocol "groth16",
 * curve "bn128", nPublic, and points as arrays of decimals in projective
 * coordinates with z = 1; in Fp2 the real part comes first. Members that we do
 * not need (vk_alphabeta_12) are not looked at.
 *
 * A key decides what is a proof, so reading is as strict as for proofs: every
 * coordinate below p, every point on its curve and in its group, none of them
 * infinity, no member twice. Variable time.
 */
#ifndef SEMAPHORE_VKEY_JSON_H
#define SEMAPHORE_VKEY_JSON_H

#include "groth16/verify.h"

/* Read the key with INPUTS public inputs that TEXT is.
 * Out:     vk, which is zero on failure; *where, the member that is wrong or
 *          "" for the whole, a constant.
 * Returns: ST_OK; ST_NOT_JSON; ST_TRAILING; ST_DUPLICATE; ST_MISSING;
 *          ST_WRONG_TYPE; ST_BAD_LENGTH (of an array); ST_FOREIGN (protocol,
 *          curve or number of inputs); ST_BAD_ENCODING (a decimal);
 *          ST_BAD_VALUE (z is not 1); ST_NOT_CANONICAL; ST_NOT_ON_CURVE;
 *          ST_NOT_IN_GROUP; ST_INFINITY; ST_NO_MEMORY. */
enum status vkey_from_json(struct groth16_vk *vk, size_t inputs,
    const void *text, size_t len, const char **where) NONNULL WARN_UNUSED;

#endif
