/* bn254/lanes_ifma_r.h: the constants of lanes_ifma_impl.h for Fr. Private to the
 * folder.
 */
#include <stdint.h>

static const uint64_t lane_modulus[5] = {0x1f593f0000001, 0x4879b9709143e,
    0x181585d2833e8, 0xa029b85045b68, 0x030644e72e131};
#define LANE_MODULUS_INV UINT64_C(0x1f593efffffff) /* -1/m mod 2^52 */

/* The modulus as 64-bit limbs. */
static const uint64_t lane_modulus64[4] = {0x43e1f593f0000001,
    0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029};

/* 2^260, and the factors that lead from Montgomery form to the base 2^256
 * into ours and back: 2^264 and 2^256. */
static const uint64_t lane_unit[5] = {0xb6b753fffffac, 0x380f271055b9d,
    0x18f016ecef7c8, 0x724f85a9201d8, 0x01f16424e1bb7};
static const uint64_t lane_in[5] = {0x31f8c9ffffab6, 0xac31329faef6e,
    0x9e2a3495d7570, 0xe357276f48b70, 0x00d791464ef86};
static const uint64_t lane_out[5] = {0x6341c4ffffffb, 0x959f60cd29ac9,
    0x879462e36fc76, 0xdf2f666ea36f7, 0x00e0a77c19a07};

/* Multiples of the modulus, limb by limb: in place j the largest that is not
 * above j 2^253, which is 0.661 j times the modulus. */
static const uint64_t lane_multiples[5][8] __attribute__((aligned(64))) = {
    {0, 0, 0x1f593f0000001, 0x1f593f0000001, 0x3eb27e0000002, 0x5e0bbd0000003,
	0x5e0bbd0000003, 0x7d64fc0000004},
    {0, 0, 0x4879b9709143e, 0x4879b9709143e, 0x90f372e12287c, 0xd96d2c51b3cba,
	0xd96d2c51b3cba, 0x21e6e5c2450f8},
    {0, 0, 0x181585d2833e8, 0x181585d2833e8, 0x302b0ba5067d0, 0x4840917789bb8,
	0x4840917789bb8, 0x6056174a0cfa1},
    {0, 0, 0xa029b85045b68, 0xa029b85045b68, 0x405370a08b6d0, 0xe07d28f0d1238,
	0xe07d28f0d1238, 0x80a6e14116da0},
    {0, 0, 0x030644e72e131, 0x030644e72e131, 0x060c89ce5c263, 0x0912ceb58a394,
	0x0912ceb58a394, 0x0c19139cb84c6},
};
