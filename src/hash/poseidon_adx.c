/* Poseidon of one pair with MULX, ADCX and ADOX. */
#include "hash/poseidon_kernels.h"

#ifdef __x86_64__

#define CORE_MODULUS modulus_r
#include "bn254/core_adx_impl.h"

#define POSEIDON_ONE poseidon_adx_one
#include "hash/poseidon_scalar_impl.h"

#endif
