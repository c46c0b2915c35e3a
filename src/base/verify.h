/* base/verify.h: checks of our own reasoning, in the VERIFY build alone.
 *
 * A VERIFY states what the code around it relies on and has proved: a bound,
 * a canonical form, a point on its curve. It is never a test of input. In the
 * VERIFY build (make VERIFY=1) a false one traps; in others it is not there,
 * not even its argument.
 */
#ifndef BASE_VERIFY_H
#define BASE_VERIFY_H

#if VERIFY_BUILD
#define VERIFY(COND)                      \
	do {                              \
		if (!(COND))              \
			__builtin_trap(); \
	} while (0)
#else
#define VERIFY(COND) ((void)0)
#endif

#endif
