/* bn254/kernels.h: the kernels there are. Private to the folder: others pick
 * one by bn254/kernel.h.
 */
#ifndef BN254_KERNELS_H
#define BN254_KERNELS_H

#include "bn254/pairing.h"

extern const struct bn254_kernel bn254_kernel_c64, bn254_kernel_mpn;
#ifdef __x86_64__
extern const struct bn254_kernel bn254_kernel_adx, bn254_kernel_ifma;
#endif

#endif
