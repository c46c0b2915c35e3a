/* bn254/msm_kernel_impl.h: both groups' sums for the lanes that the including
 * file has chosen; it defines KERNEL and KERNEL_NAME, the kernel's names,
 * kernel_supported(), and BLOCK and CHOICES of msm_impl.h for each group. Private to the folder.
 */
#include "bn254/lanes_impl.h"

#include "bn254/lanes2_impl.h"
#include "bn254/msm_kernel.h"

#define POINT G(point_t)
#define ADDITION G(addition_t)
#define WORK G(work_t)
#define SHAPE G(shape_t)
#define JACOBIAN G(jacobian_t)
#define MANY (8 * BLOCK)

#define E(NAME) lane_##NAME
#define G(NAME) msm1_##NAME
#define ELEM lane_t
#define AFFINE g1_t
#define POINT_SIZE 64
#define BLOCK BLOCK_G1
#define CHOICES CHOICES_G1
#include "bn254/msm_impl.h"

#undef E
#undef G
#undef ELEM
#undef AFFINE
#undef POINT_SIZE
#undef BLOCK
#undef CHOICES

#define E(NAME) lane2_##NAME
#define G(NAME) msm2_##NAME
#define ELEM lane2_t
#define AFFINE twist_t
#define POINT_SIZE 128
#define BLOCK BLOCK_G2
#define CHOICES CHOICES_G2
#include "bn254/msm_impl.h"

const struct msm_kernel KERNEL = {
    KERNEL_NAME, LANES, kernel_supported, msm1_sum, msm2_sum};
