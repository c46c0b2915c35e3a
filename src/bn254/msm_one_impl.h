/* bn254/msm_one_impl.h: sizes for one lane. Private to the folder. */
static bool
kernel_supported(void)
{
	return core_supported();
}

#define BLOCK_G1 256
#define BLOCK_G2 256
#define CHOICES_G1 1
#define CHOICES_G2 1
#include "bn254/msm_kernel_impl.h"
