/* The tower of the kernel "c64". */
#include "bn254/core_c64_impl.h"

#include "tower_cases_impl.h"
