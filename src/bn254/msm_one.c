/* Sums of points on any machine: one lane. */
#include "bn254/core_c64_impl.h"

#include "bn254/lanes_one_impl.h"

#define KERNEL msm_kernel_one
#define KERNEL_NAME "one"
#include "bn254/msm_one_impl.h"
