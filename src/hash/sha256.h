/* hash/sha256.h: SHA-256 (FIPS 180-4), by OpenSSL, which has the processor's own
 * instructions for it; libsodium's is portable code and takes five times as
 * long.
 *
 * Time: depends on the length alone. Threads: any.
 */
#ifndef HASH_SHA256_H
#define HASH_SHA256_H

#include <stdint.h>

#include "base/span.h"

/* Hash IN. OUT may overlap it. */
void sha256(uint8_t out[static 32], span_t in);

#endif
