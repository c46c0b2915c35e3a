#include "cmd/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sodium.h>

#include "cmd/cli.h"

/* Pages for a thread that proves: its frames are below 64 KiB. */
#define STACK_SIZE ((size_t)256 << 10)

void
secrets_guard(void)
{
	const struct rlimit none = {0, 0};
	struct rlimit locked;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0) {
		locked.rlim_cur = locked.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &locked);
	}
}

/* There is a swap: /proc/swaps has a second line. Where it can not be read,
 * there may be. */
static bool
has_swap(void)
{
	char text[512];
	int fd = open("/proc/swaps", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *end;

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return true;
	text[n] = '\0';
	end = strchr(text, '\n');
	return end != NULL && end[1] != '\0';
}

enum status
secrets_alloc(void **p, size_t size)
{
	size = (size + 63) & ~(size_t)63;
	*p = NULL;
	if (sodium_init() < 0 || (*p = sodium_malloc(size)) == NULL)
		return ST_NO_MEMORY;
	/* sodium_malloc has tried to lock it, and does not say whether it
	 * could. */
	if (mlock(*p, size) != 0 && has_swap()) {
		sodium_free(*p);
		*p = NULL;
		return ST_PERMISSION;
	}
	return ST_OK;
}

enum status
secrets_say(const char *name, enum status st)
{
	if (st == ST_PERMISSION)
		cli_error(name,
		    "secrets could reach the swap: too little memory may be "
		    "locked (raise the limit: ulimit -l 16384; or swapoff)");
	else if (st == ST_SYS)
		cli_error(name, "%s", strerror(errno));
	else
		cli_error(name, "out of memory");
	return st;
}

void
secrets_free(void *p)
{
	sodium_free(p); /* wipes it */
}

/* --- threads --- */

struct call {
	void (*fn)(void *arg, size_t i);
	void *arg;
	size_t i;
	void *stack; /* NULL: not started */
	pthread_t thread;
};

static void *
call_main(void *arg)
{
	struct call *c = arg;

	c->fn(c->arg, c->i);
	return NULL;
}

static enum status
start(struct call *c)
{
	pthread_attr_t attr;
	enum status st = secrets_alloc(&c->stack, STACK_SIZE);

	if (st != ST_OK)
		return st;
	errno = pthread_attr_init(&attr);
	if (errno == 0) {
		errno = pthread_attr_setstack(&attr, c->stack, STACK_SIZE);
		if (errno == 0)
			errno = pthread_create(&c->thread, &attr, call_main, c);
		st = errno == 0 ? ST_OK : ST_SYS;
		pthread_attr_destroy(&attr);
	} else {
		st = ST_SYS;
	}
	if (st != ST_OK) {
		secrets_free(c->stack);
		c->stack = NULL;
	}
	return st;
}

enum status
secrets_run(void (*fn)(void *arg, size_t i), void *arg, size_t n)
{
	struct call *calls = calloc(n > 0 ? n : 1, sizeof(*calls));
	enum status st = ST_OK;

	if (calls == NULL)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < n && st == ST_OK; i++) {
		calls[i] = (struct call){.fn = fn, .arg = arg, .i = i};
		enum status started = start(&calls[i]);
		if (i == 0)
			st = started;
	}
	for (size_t i = 0; i < n && st == ST_OK; i++) {
		if (calls[i].stack == NULL)
			fn(arg, i);
	}
	for (size_t i = 0; i < n; i++) {
		if (calls[i].stack == NULL)
			continue;
		pthread_join(calls[i].thread, NULL);
		secrets_free(calls[i].stack);
	}
	free(calls);
	return st;
}
