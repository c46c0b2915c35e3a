/* base/ctime.h: telling the constant-time tests what is no secret any more.
 *
 * tests/ctime marks secrets as undefined memory and runs the code under
 * valgrind, which then complains of every branch and every address that
 * depends on one (Langley's ctgrind, 2010). Where a secret-dependent fact is
 * meant to be public, that a scalar is in range, that a path fits, the code
 * says so with declassify. In every other build it is nothing.
 *
 * valgrind does not know AVX-512; clang's memory sanitizer does the same by
 * instrumentation (a build with SAN=memory CTIME=1), and sees those kernels.
 */
#ifndef BASE_CTIME_H
#define BASE_CTIME_H

#include <stddef.h>

#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#define CTIME_MSAN
#endif
#endif

#if defined(CTIME_BUILD) && defined(CTIME_MSAN)
#include <sanitizer/msan_interface.h>

static inline void
declassify(const void *p, size_t len)
{
	__msan_unpoison(p, len);
}

static inline void
classify(const void *p, size_t len)
{
	__msan_poison(p, len);
}
#elif defined(CTIME_BUILD)
#include <valgrind/memcheck.h>

static inline void
declassify(const void *p, size_t len)
{
	VALGRIND_MAKE_MEM_DEFINED(p, len);
}

static inline void
classify(const void *p, size_t len)
{
	VALGRIND_MAKE_MEM_UNDEFINED(p, len);
}
#else
static inline void
declassify(const void *p, size_t len)
{
	(void)p;
	(void)len;
}
#endif

#endif
