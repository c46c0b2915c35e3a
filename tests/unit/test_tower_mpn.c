/* The tower of the kernel "mpn". */
#include "bn254/core_mpn_impl.h"

#include "tower_cases_impl.h"
