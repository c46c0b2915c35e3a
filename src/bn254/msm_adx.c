/* Sums of points on x86-64 with MULX, ADCX and ADOX: one lane. */
#include "bn254/msm_kernel.h"

#ifdef __x86_64__
#include "bn254/core_adx_impl.h"

#include "bn254/lanes_one_impl.h"

#define KERNEL msm_kernel_adx
#define KERNEL_NAME "adx"
#include "bn254/msm_one_impl.h"
#endif
