/* The tower of the kernel "adx". */
#include "bn254/core_adx_impl.h"

#include "tower_cases_impl.h"
