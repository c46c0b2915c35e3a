#include "bn254/fr.h"

#include "bn254/mont_impl.h"

static const struct modulus R = {
    .m = {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d,
	0x30644e72e131a029},
    .inv = 0xc2e1f593efffffff,
    .one = {0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e,
	0x0e0a77c19a07df2f},
    .r2 = {0x1bb8e645ae216da7, 0x53fe3ab1e35c59e3, 0x8c49833d53bb8085,
	0x0216d0b17f4e44a5},
    .minus2 = {0x43e1f593efffffff, 0x2833e84879b97091, 0xb85045b68181585d,
	0x30644e72e131a029},
};

const fr_t fr_one = {{0xac96341c4ffffffb, 0x36fc76959f60cd29,
    0x666ea36f7879462e, 0x0e0a77c19a07df2f}};

#define F(NAME) fr_##NAME
#define F_T fr_t
#define MODULUS R
#include "bn254/field_impl.h"

void
fr_from_bytes_mod(fr_t *r, const uint8_t in[static 32])
{
	uint64_t t[4];

	limbs_from_bytes(t, in);
	/* Any 256-bit integer may be the second operand: see mont_redc. */
	mont_mul(r->l, R.r2, t, &R);
}
