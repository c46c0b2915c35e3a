#include "base/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* The memory sanitizer does not see what assembly writes. */
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#define NO_ASSEMBLY
#endif
#endif

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
#if defined(COUNT_BUILD)
	/* valgrind runs these instructions, and does not say so. */
	return true;
#elif defined(NO_ASSEMBLY)
	return false;
#elif defined(__x86_64__) && !defined(__clang__)
	return __builtin_cpu_supports("adx") && __builtin_cpu_supports("bmi2");
#elif defined(__x86_64__)
	/* clang 14 does not know the name. ADX is bit 19 of EBX of leaf 7. */
	unsigned a, b = 0, c, d;

	return __builtin_cpu_supports("bmi2") &&
	    __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & 1u << 19) != 0;
#else
	return false;
#endif
}
