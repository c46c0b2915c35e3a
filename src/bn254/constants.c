/* Made by tests/vectors/make-bn254. */
#include "bn254/constants.h"

const fp2_t frobenius_1[6] = {{{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
				   0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
				  {{0x0000000000000000, 0x0000000000000000,
				      0x0000000000000000, 0x0000000000000000}}},
    {{{0xaf9ba69633144907, 0xca6b1d7387afb78a, 0x11bded5ef08a2087,
	 0x02f34d751a1f3a7c}},
	{{0xa222ae234c492d72, 0xd00f02a4565de15b, 0xdc2ff3a253dfc926,
	    0x10a75716b3899551}}},
    {{{0xb5773b104563ab30, 0x347f91c8a9aa6454, 0x7a007127242e0991,
	 0x1956bcd8118214ec}},
	{{0x6e849f1ea0aa4757, 0xaa1c7b6d89f89141, 0xb6e713cdfae0ca3a,
	    0x26694fbb4e82ebc3}}},
    {{{0xe4bbdd0c2936b629, 0xbb30f162e133bacb, 0x31a9d1b6f9645366,
	 0x253570bea500f8dd}},
	{{0xa1d77ce45ffe77c7, 0x07affd117826d1db, 0x6d16bd27bb7edc6b,
	    0x2c87200285defecc}}},
    {{{0x7361d77f843abe92, 0xa5bb2bd3273411fb, 0x9c941f314b3e2399,
	 0x15df9cddbb9fd3ec}},
	{{0x5dddfd154bd8c949, 0x62cb29a5a4445b60, 0x37bc870a0c7dd2b9,
	    0x24830a9d3171f0fd}}},
    {{{0xc970692f41690fe7, 0xe240342127694b0b, 0x32bee66b83c459e8,
	 0x12aabced0ab08841}},
	{{0x0d485d2340aebfa9, 0x05193418ab2fcc57, 0xd3b0a40b8a4910f5,
	    0x2f21ebb535d2925a}}}};

const fp_t frobenius_2[6] = {{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
				 0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
    {{0xca8d800500fa1bf2, 0xf0c5d61468b39769, 0x0e201271ad0d4418,
	0x04290f65bad856e6}},
    {{0x3350c88e13e80b9c, 0x7dce557cdb5e56b9, 0x6001b4b8b615564a,
	0x2682e617020217e0}},
    {{0x68c3488912edefaa, 0x8d087f6872aabf4f, 0x51e1a24709081231,
	0x2259d6b14729c0fa}},
    {{0x71930c11d782e155, 0xa6bb947cffbe3323, 0xaa303344d4741444,
	0x2c3b3f0d26594943}},
    {{0x08cfc388c494f1ab, 0x19b315148d1373d4, 0x584e90fdcb6c0213,
	0x09e1685bdf2f8849}}};

const fp2_t frobenius_3[6] = {{{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
				   0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
				  {{0x0000000000000000, 0x0000000000000000,
				      0x0000000000000000, 0x0000000000000000}}},
    {{{0x365316184e46d97d, 0x0af7129ed4c96d9f, 0x659da72fca1009b5,
	 0x08116d8983a20d23}},
	{{0xb1df4af7c39c1939, 0x3d9f02878a73bf7f, 0x9b2220928caf0ae0,
	    0x26684515eff054a6}}},
    {{{0xc9af22f716ad6bad, 0xb311782a4aa662b2, 0x19eeaf64e248c7f4,
	 0x20273e77e3439f82}},
	{{0xacc02860f7ce93ac, 0x3933d5817ba76b4c, 0x69e6188b446c8467,
	    0x0a46036d4417cc55}}},
    {{{0x5764af0aaf46471e, 0xdc50792e873e0fc1, 0x86a673ff881d04f6,
	 0x0b2eddb43c30a74c}},
	{{0x9a490f32787e8580, 0x8fd16d7ff04af8b1, 0x4b39888ec6027bf2,
	    0x03dd2e705b52a15d}}},
    {{{0x448a93a57b6762df, 0xbfd62df528fdeadf, 0xd858f5d00e9bd47a,
	 0x06b03d4d3476ec58}},
	{{0x2b19daf4bcc936d1, 0xa1a54e7a56f4299f, 0xb533eee05adeaef1,
	    0x170c812b84dda0b2}}},
    {{{0xe0bc4b2275cf559f, 0xc238b945c154e60f, 0x803982a5929a7d5e,
	 0x15ce052df7e4a37e}},
	{{0x2d28efbdbf3799a7, 0x9b097e3c1ad60773, 0x982d4113af4a535b,
	    0x24e18991e3056063}}}};

const fp2_t twist_b = {{{0x3bf938e377b802a8, 0x020b1b273633535d,
			   0x26b7edf049755260, 0x2514c6324384a86d}},
    {{0x38e7ecccd1dcff67, 0x65f0b37d93ce0d3e, 0xd749d0dd22ac00aa,
	0x0141b9ce4a688d4d}}};

const fp2_t twist_b3 = {{{0x3baa927cb62e0d6a, 0xd71e7c52d1b664fd,
			    0x03873e63d95d4664, 0x0e75b5b1082ab8f4}},
    {{0xaab7c6667596fe35, 0x31d21a78bb6a27ba, 0x85dd7297680401ff,
	0x03c52d6adf39a7e9}}};

const fr_t glv_lambda = {{0x0363f29955fcd653, 0x73e7950b5fc1e200,
    0xc5fce83e576d9d24, 0x059c805da1c3a4d4}};

const signed char bn_u_digits[BN_U_DIGITS] = {-5, -5, 0, 0, 0, 0, 0, 0, 0, 5, 0,
    0, 0, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, -5, -3, 0, 0, 0, 5, 0, 0, 0, 0, 0, -3,
    0, 0, 0, -5, 0, 0, 0, 5, 0, 0, 0, 0, -5, 0, 0, -5, 0, 0, 0, 0, 0, 5, 0, 0,
    0, 0, 0, 1};

const signed char ate_digits[ATE_DIGITS] = {0, 0, 0, 1, 0, 1, 0, -1, 0, 0, -1,
    0, 0, 0, 1, 0, 0, -1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 1, 0,
    -1, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, -1, 0, 1, 0, -1, 0, 0, 0, -1, 0, -1,
    0, 0, 0, 1, 0, 1, 1};
