#include "base/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>

bool
cpu_has_ifma(void)
{
	const unsigned need = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 31;
	unsigned a, b, c, d, xcr0, high;

	if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0)
		return false;
	/* XCR0: SSE, AVX, opmask and both halves of ZMM. */
	__asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
	if ((xcr0 & 0xe6) != 0xe6)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
	    (b & need) == need;
}
#else
bool
cpu_has_ifma(void)
{
	return false;
}
#endif
