/* tests/unit/harness.h: a table of named cases, each in a process of its own.
 *
 * A test program is one file that ends with
 *
 *	TESTS(
 *	    {"what it shows", test_function},
 *	)
 *
 * Run it with names (or parts of names) to run only those cases, with
 * TEST_NOFORK=1 under a debugger, with TEST_SEED=N to repeat a run; --list
 * prints the names. The last line is "N passed, N failed", with ", N skipped"
 * after it where that is so.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "postern/attr.h"

struct test_case {
	const char *name;
	void (*run)(void);
};

int test_main(int argc, char **argv, const struct test_case *cases, size_t n);

/* End this case as failed. */
void test_fail(const char *file, int line, const char *fmt, ...)
    PRINTF_LIKE(3, 4) __attribute__((noreturn));

/* What this case is at: a failure tells it. */
void test_note(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* End this case as skipped: what it needs is not on this machine. Where
 * TEST_NOSKIP is set (tests/all does) that is a failure. */
void
test_skip(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));

/* This run's seed (printed at the start) and a generator that follows from it
 * and the case's name: the same in every run with that seed. */
uint64_t test_seed(void);
uint64_t test_random(void);
void test_random_bytes(void *out, size_t len);

/* Read the whole file at tests/PATH; the caller frees. Fails the case if it
 * can not. *len may be NULL; a NUL follows the content. */
char *test_read_file(const char *path, size_t *len);

#define CHECK(COND)                                                 \
	do {                                                        \
		if (!(COND))                                        \
			test_fail(__FILE__, __LINE__, "%s", #COND); \
	} while (0)

#define CHECK_INT(GOT, WANT)                                                  \
	do {                                                                  \
		long long got_ = (long long)(GOT), want_ = (long long)(WANT); \
		if (got_ != want_)                                            \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", \
			    #GOT, got_, want_);                               \
	} while (0)

#define CHECK_STR(GOT, WANT)                                                \
	do {                                                                \
		const char *got_ = (GOT), *want_ = (WANT);                  \
		if (strcmp(got_, want_) != 0)                               \
			test_fail(__FILE__, __LINE__,                       \
			    "%s is \"%s\", not \"%s\"", #GOT, got_, want_); \
	} while (0)

#define CHECK_MEM(GOT, WANT, LEN)                                           \
	do {                                                                \
		if (memcmp((GOT), (WANT), (LEN)) != 0)                      \
			test_fail(__FILE__, __LINE__, "%s differs from %s", \
			    #GOT, #WANT);                                   \
	} while (0)

#define CHECK_STATUS(GOT, WANT)                                           \
	do {                                                              \
		enum status got_ = (GOT), want_ = (WANT);                 \
		if (got_ != want_)                                        \
			test_fail(__FILE__, __LINE__, "%s is %s, not %s", \
			    #GOT, status_info(got_)->name,                \
			    status_info(want_)->name);                    \
	} while (0)

#define TESTS(...)                                                           \
	static const struct test_case cases_[] = {__VA_ARGS__};              \
	int main(int argc, char **argv)                                      \
	{                                                                    \
		return test_main(                                            \
		    argc, argv, cases_, sizeof(cases_) / sizeof(cases_[0])); \
	}

#endif
