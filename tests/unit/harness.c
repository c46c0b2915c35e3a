#include "harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TESTS_DIR
#error "TESTS_DIR must be the path of tests/"
#endif

/* No case may take longer; a loop that does not end is a failure. */
#define CASE_SECONDS 300

/* A skipped case's exit status, as automake's test protocol has it. */
#define EXIT_SKIPPED 77

static uint64_t seed, state;

static PRINTF_LIKE(1, 0) void say(const char *fmt, va_list ap)
{
	vfprintf(stdout, fmt, ap);
	fputc('\n', stdout);
	fflush(stdout);
}

static char note[512];

void
test_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
}

void
test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (note[0] != '\0')
		fprintf(stdout, "    %s\n", note);
	fprintf(stdout, "    %s:%d: ", file, line);
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	/* Not exit(): whatever the case holds is not a leak to report now. */
	_exit(1);
}

void
test_skip(const char *fmt, ...)
{
	va_list ap;

	fputs("    skipped: ", stdout);
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	_exit(getenv("TEST_NOSKIP") != NULL ? 1 : EXIT_SKIPPED);
}

uint64_t
test_seed(void)
{
	return seed;
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t
test_random(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
test_random_bytes(void *out, size_t len)
{
	uint8_t *p = out;

	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)test_random();
}

char *
test_read_file(const char *path, size_t *len)
{
	char full[4096];
	char *text = NULL;
	size_t n = 0, cap = 0;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", TESTS_DIR, path);
	if ((f = fopen(full, "rb")) == NULL)
		test_fail(__FILE__, __LINE__, "can not open tests/%s", path);
	do {
		cap = cap != 0 ? 2 * cap : 65536;
		if ((text = realloc(text, cap)) == NULL)
			test_fail(__FILE__, __LINE__, "out of memory");
		n += fread(text + n, 1, cap - 1 - n, f);
	} while (n == cap - 1);
	fclose(f);
	text[n] = '\0';
	if (len != NULL)
		*len = n;
	return text;
}

enum outcome { PASSED, FAILED, SKIPPED, OUTCOMES };

static void
seed_case(const char *name)
{
	state = seed;
	for (; *name != '\0'; name++)
		state = test_random() ^ (uint64_t)(unsigned char)*name;
}

/* Whether it ended well, or failed, or was skipped. */
static enum outcome
run_case(const struct test_case *c)
{
	int status;
	pid_t pid;

	seed_case(c->name);
	if (getenv("TEST_NOFORK") != NULL) {
		c->run();
		return PASSED;
	}
	fflush(stdout);
	if ((pid = fork()) < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		alarm(CASE_SECONDS);
		c->run();
		fflush(stdout);
		exit(0); /* not _exit: the leak checker runs at exit */
	}
	if (waitpid(pid, &status, 0) != pid)
		return FAILED;
	if (WIFSIGNALED(status))
		printf("    killed by signal %d (%s)\n", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
		return SKIPPED;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PASSED : FAILED;
}

static bool
wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strstr(name, argv[i]) != NULL)
			return true;
	}
	return argc < 2;
}

int
test_main(int argc, char **argv, const struct test_case *cases, size_t n)
{
	static const char *const words[] = {"ok  ", "FAIL", "skip"};
	unsigned count[OUTCOMES] = {0};
	const char *given = getenv("TEST_SEED");

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < n; i++)
			puts(cases[i].name);
		return 0;
	}
	if (given != NULL)
		seed = strtoull(given, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return 2;
	printf("seed %#llx\n", (unsigned long long)seed);
	for (size_t i = 0; i < n; i++) {
		if (!wanted(cases[i].name, argc, argv))
			continue;
		enum outcome outcome = run_case(&cases[i]);
		printf("%s %s\n", words[outcome], cases[i].name);
		count[outcome]++;
	}
	printf("%u passed, %u failed", count[PASSED], count[FAILED]);
	if (count[SKIPPED] != 0)
		printf(", %u skipped", count[SKIPPED]);
	putchar('\n');
	return count[FAILED] != 0 || count[PASSED] + count[SKIPPED] == 0;
}
