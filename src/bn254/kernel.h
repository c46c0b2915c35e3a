/* bn254/kernel.h: the same arithmetic, made for different processors.
 *
 * The tower, the pairing and the sums of many points are compiled once for
 * each kernel, from the same source, over that kernel's field product:
 *
 *   mpn    GMP's mpn functions: any machine with 64-bit limbs
 *   c64    the same in C, which is faster where GMP's assembly does not pay
 *   adx    MULX, ADCX and ADOX: x86-64 since 2015
 *   ifma   AVX-512 IFMA, eight products at a time
 *
 * There is no global choice: whoever verifies holds a pointer to one, picked
 * once at start. All give the same results.
 */
#ifndef BN254_KERNEL_H
#define BN254_KERNEL_H

#include <stddef.h>

#include "postern/status.h"

struct bn254_kernel; /* opaque: pairing.h has what it can do */

/* The best kernel that this processor runs, or the one called NAME if that is
 * not NULL.
 * Returns: ST_OK; ST_UNKNOWN, no kernel has this name; ST_BAD_VALUE, this
 *          processor does not run it. On failure *k is NULL. */
enum status bn254_kernel_pick(const struct bn254_kernel **k,
    const char *name) WARN_UNUSED NONNULL_ARGS(1);

/* The kernels that this processor runs, best first: the I-th, or NULL after
 * the last. For tests and benchmarks that go through all of them. */
const struct bn254_kernel *bn254_kernel_nth(size_t i);

const char *bn254_kernel_name(const struct bn254_kernel *k) NONNULL;

#endif
