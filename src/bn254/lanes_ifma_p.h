/* bn254/lanes_ifma_p.h: the constants of lanes_ifma_impl.h for Fp. Private to the
 * folder.
 */
#include <stdint.h>

static const uint64_t lane_modulus[5] = {0x08c16d87cfd47, 0x916871ca8d3c2,
    0x181585d97816a, 0xa029b85045b68, 0x030644e72e131};
#define LANE_MODULUS_INV UINT64_C(0x20782e4866389) /* -1/m mod 2^52 */

/* The modulus as 64-bit limbs. */
static const uint64_t lane_modulus64[4] = {0x3c208c16d87cfd47,
    0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029};

/* 2^260, and the factors that lead from Montgomery form to the base 2^256
 * into ours and back: 2^264 and 2^256. */
static const uint64_t lane_unit[5] = {0x20880f6fce4b4, 0x49baa989a8455,
    0x18f014a498908, 0x724f85a9201d8, 0x01f16424e1bb7};
static const uint64_t lane_in[5] = {0xb0f2afaec667a, 0xed9626b0fffbd,
    0x9e2a0fcad825a, 0xe357276f48b70, 0x00d791464ef86};
static const uint64_t lane_out[5] = {0xd438dc58f0d9d, 0x28f5c70b3dd35,
    0x879462c0a78eb, 0xdf2f666ea36f7, 0x00e0a77c19a07};

/* Multiples of the modulus, limb by limb: in place j the largest that is not
 * above j 2^253, which is 0.661 j times the modulus. */
static const uint64_t lane_multiples[5][8] __attribute__((aligned(64))) = {
    {0, 0, 0x08c16d87cfd47, 0x08c16d87cfd47, 0x1182db0f9fa8e, 0x1a4448976f7d5,
	0x1a4448976f7d5, 0x2305b61f3f51c},
    {0, 0, 0x916871ca8d3c2, 0x916871ca8d3c2, 0x22d0e3951a784, 0xb439555fa7b46,
	0xb439555fa7b46, 0x45a1c72a34f08},
    {0, 0, 0x181585d97816a, 0x181585d97816a, 0x302b0bb2f02d5, 0x4840918c6843f,
	0x4840918c6843f, 0x60561765e05aa},
    {0, 0, 0xa029b85045b68, 0xa029b85045b68, 0x405370a08b6d0, 0xe07d28f0d1238,
	0xe07d28f0d1238, 0x80a6e14116da0},
    {0, 0, 0x030644e72e131, 0x030644e72e131, 0x060c89ce5c263, 0x0912ceb58a394,
	0x0912ceb58a394, 0x0c19139cb84c6},
};
