#include "bn254/fr.h"

#include "bn254/mont_impl.h"

const fr_t fr_one = {{0xac96341c4ffffffb, 0x36fc76959f60cd29,
    0x666ea36f7879462e, 0x0e0a77c19a07df2f}};

#define F(NAME) fr_##NAME
#define F_T fr_t
#define MODULUS modulus_r
#include "bn254/field_impl.h"

void
fr_from_bytes_mod(fr_t *r, const uint8_t in[static 32])
{
	uint64_t t[4];

	limbs_from_bytes(t, in);
	/* Any 256-bit integer may be the second operand: see mont_redc. */
	mont_mul(r->l, modulus_r.r2, t, &modulus_r);
}
