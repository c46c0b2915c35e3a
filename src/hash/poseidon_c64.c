/* Poseidon of one pair in portable C. */
#define CORE_MODULUS modulus_r
#include "bn254/core_c64_impl.h"

#define POSEIDON_ONE poseidon_c64_one
#include "hash/poseidon_scalar_impl.h"
