/* hash/keccak256.h: Keccak-256 as Ethereum uses it.
 *
 * The sponge of the Keccak submission (Bertoni, Daemen, Peeters, Van Assche,
 * "The Keccak reference", version 3.0) with capacity 512 and the padding of
 * that submission, 0x01; FIPS 202's SHA3-256 differs in the padding byte alone
 * (0x06). Semaphore hashes message and scope with it.
 *
 * Time: depends on the length alone. Threads: any.
 */
#ifndef HASH_KECCAK256_H
#define HASH_KECCAK256_H

#include <stdint.h>

#include "base/span.h"

/* Hash IN. OUT may overlap it. */
void keccak256(uint8_t out[static 32], span_t in);

/* The same with the padding of FIPS 202: the checksum of an onion address. */
void sha3_256(uint8_t out[static 32], span_t in);

#endif
