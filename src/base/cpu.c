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

bool
cpu_has_adx(void)
{
#if defined(__x86_64__) && !defined(__clang__)
	return __builtin_cpu_supports("adx") && __builtin_cpu_supports("bmi2");
#else
	/* clang 14 does not know the name; what has IFMA has both. */
	return cpu_has_ifma();
#endif
}
