/* tests/unit/program.h: run the program under test and look at what it says.
 */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A test whose program says more defines it first. */
#ifndef PROGRAM_OUTPUT_MAX
#define PROGRAM_OUTPUT_MAX 65536
#endif

/* What a run left: its exit code and all that it wrote. */
struct program {
	int code; /* -1: a signal ended it */
	char out[PROGRAM_OUTPUT_MAX], err[PROGRAM_OUTPUT_MAX];
};

/* Read what is there on *FD behind what TEXT holds; at the end *FD is -1. */
static inline void
program_drain(int *fd, char *text)
{
	size_t len = strlen(text);
	ssize_t n = read(*fd, text + len, PROGRAM_OUTPUT_MAX - 1 - len);

	CHECK(n >= 0 && len < PROGRAM_OUTPUT_MAX - 1);
	text[len + (size_t)n] = '\0';
	if (n == 0) {
		close(*fd);
		*fd = -1;
	}
}

/* Run postern with ARGV (without its name, NULL at the end), INPUT on its
 * standard input, in a session of its own: without a terminal. */
static inline void
program_run(struct program *p, const char *input, const char *const *argv)
{
	const char *full[64] = {POSTERN_BIN};
	int in[2], out[2], err[2], status;
	size_t n = 1;

	for (; argv[n - 1] != NULL && n < 63; n++)
		full[n] = argv[n - 1];
	CHECK(pipe(in) == 0 && pipe(out) == 0 && pipe(err) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		/* Descriptors from 10 on are the test's own, to hand over. */
		for (int fd = 3; fd < 10; fd++)
			close(fd);
		execv(POSTERN_BIN, (char *const *)(uintptr_t)full);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	signal(SIGPIPE, SIG_IGN);
	for (size_t len = strlen(input); len > 0;) {
		ssize_t k = write(in[1], input, len);
		if (k < 0)
			break; /* it does not read on */
		input += k;
		len -= (size_t)k;
	}
	close(in[1]);
	memset(p, 0, sizeof(*p));
	struct pollfd fds[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		CHECK(poll(fds, 2, -1) > 0);
		if (fds[0].revents != 0)
			program_drain(&fds[0].fd, p->out);
		if (fds[1].revents != 0)
			program_drain(&fds[1].fd, p->err);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	p->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define RUN(P, ...) \
	program_run((P), "", (const char *const[]){__VA_ARGS__, NULL})

#define CHECK_CODE(P, WANT)                                                  \
	do {                                                                 \
		if ((P)->code != (WANT))                                     \
			test_fail(__FILE__, __LINE__, "exit %d, not %d: %s", \
			    (P)->code, (WANT), (P)->err);                    \
	} while (0)

#define CHECK_HAS(TEXT, PART)                                              \
	do {                                                               \
		if (strstr((TEXT), (PART)) == NULL)                        \
			test_fail(__FILE__, __LINE__, "\"%s\" not in: %s", \
			    (PART), (TEXT));                               \
	} while (0)

/* Go to an empty folder of our own; program_leave removes it, and fails the
 * case if PATHS (NULL at the end) is not all that is in it. */
static inline void
program_enter(char folder[static 32])
{
	strcpy(folder, "/tmp/postern-test-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

static inline void
program_leave(const char *folder, const char *const *paths)
{
	for (; *paths != NULL; paths++)
		CHECK(unlink(*paths) == 0);
	CHECK(chdir("/") == 0);
	CHECK(rmdir(folder) == 0);
}

#define LEAVE(FOLDER, ...) \
	program_leave((FOLDER), (const char *const[]){__VA_ARGS__, NULL})

#endif
