#include "base/cpu.h"

bool
cpu_has_ifma(void)
{
#ifdef __x86_64__
	/* The compiler's run-time library asked once, as the program started:
	 * CPUID itself leaves a virtual machine, which takes some 15 us. It
	 * has looked at XCR0 too, where the system says what it saves. */
	return __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512ifma");
#else
	return false;
#endif
}
