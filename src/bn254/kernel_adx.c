/* The kernel of x86-64 with MULX, ADCX and ADOX. */
#include "bn254/kernels.h"

#ifdef __x86_64__

#include "bn254/core_adx_impl.h"
#include "bn254/kernel_whole_impl.h"

const struct bn254_kernel bn254_kernel_adx = KERNEL_SCALAR("adx");

#endif
