#include "gate/member.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

_Static_assert(MEMBER_TAG >= crypto_generichash_BYTES_MIN, "BLAKE2b-128");

void
member_name(member_t *out, const uint8_t key[static MEMBER_KEY], uint64_t epoch,
    uint16_t slot, const uint8_t nullifier[static 32])
{
	uint8_t in[8 + 2 + 32];

	store_be64(in, epoch);
	store_be16(in + 8, slot);
	memcpy(in + 10, nullifier, 32);
	out->epoch = epoch;
	/* Fails only for lengths out of range. */
	(void)crypto_generichash(
	    out->tag, MEMBER_TAG, in, sizeof(in), key, MEMBER_KEY);
}
