/* bn254/core_modulus.h: the field of a core. Private to the folder. */
#ifndef BN254_CORE_MODULUS_H
#define BN254_CORE_MODULUS_H

#include "bn254/mont_impl.h"

/* The field; whoever wants the other one says so before. */
#ifndef CORE_MODULUS
#define CORE_MODULUS modulus_p
#endif

#endif
