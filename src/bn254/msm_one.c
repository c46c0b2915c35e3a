/* Sums of points on any machine: one lane. */
#include "bn254/lanes_one_impl.h"

#define KERNEL msm_kernel_one
#define KERNEL_NAME "one"
#define BLOCK_G1 256
#define BLOCK_G2 256
#define CHOICES_G1 1
#define CHOICES_G2 1
#include "bn254/msm_kernel_impl.h"
