#include "cmd/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sodium.h>

#include "base/span.h"
#include "base/text.h"
#include "base/wipe.h"
#include "cmd/cli.h"

void
passphrase_clear(struct passphrase *p)
{
	sodium_free(p->text); /* wipes; NULL is nothing */
	*p = (struct passphrase){NULL, 0};
}

static enum status
fail(const char *name, const char *what, enum status st)
{
	cli_error(name, "%s", what);
	return st;
}

/* Read a line, without its end, byte by byte: what follows stays unread. */
static enum status
read_line(struct passphrase *p, const char *name, int fd)
{
	for (p->len = 0;;) {
		char c;
		ssize_t n = read(fd, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cli_error(name, "reading the passphrase: %s",
			    strerror(errno));
			return ST_SYS;
		}
		if (n == 0 || c == '\n')
			break;
		if (p->len == PASSPHRASE_MAX)
			return fail(
			    name, "the passphrase is too long", ST_BAD_VALUE);
		p->text[p->len++] = c;
	}
	if (p->len == 0)
		return fail(name, "the passphrase is empty", ST_BAD_VALUE);
	return ST_OK;
}

static enum status
from_descriptor(struct passphrase *p, const char *name, const char *value)
{
	uint64_t fd;

	if (decimal_u64(&fd, span_str(value), INT_MAX) != ST_OK) {
		cli_error(
		    name, "--passphrase-fd %s: not a file descriptor", value);
		return ST_BAD_VALUE;
	}
	return read_line(p, name, (int)fd);
}

static enum status
from_environment(struct passphrase *p, const char *name, char *value)
{
	size_t len = strlen(value);
	enum status st = ST_OK;

	if (len == 0)
		st = fail(name, PASSPHRASE_ENV " is empty", ST_BAD_VALUE);
	else if (len > PASSPHRASE_MAX)
		st = fail(name, PASSPHRASE_ENV " is too long", ST_BAD_VALUE);
	else
		memcpy(p->text, value, p->len = len);
	/* Also out of what /proc/PID/environ shows. */
	wipe(value, len);
	unsetenv(PASSPHRASE_ENV);
	return st;
}

/* Ask with the terminal's echo off. Signals that would end or stop us wait
 * until the echo is back on. */
static enum status
ask(struct passphrase *p, const char *name, int tty, const char *question,
    const char *path)
{
	struct termios was, quiet;
	sigset_t block, before;
	enum status st;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigaddset(&block, SIGQUIT);
	sigaddset(&block, SIGTSTP);
	if (tcgetattr(tty, &was) != 0)
		return fail(name, "can not ask on this terminal", ST_SYS);
	quiet = was;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	quiet.c_lflag |= ECHONL | ICANON;
	sigprocmask(SIG_BLOCK, &block, &before);
	/* Before the question: what is typed at it must not be flushed. */
	tcsetattr(tty, TCSAFLUSH, &quiet);
	dprintf(tty, "%s %s: ", question, path);
	st = read_line(p, name, tty);
	tcsetattr(tty, TCSADRAIN, &was);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return st;
}

static enum status
from_terminal(
    struct passphrase *p, const char *name, const char *path, bool twice)
{
	struct passphrase again = {NULL, 0};
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
	enum status st;

	if (tty < 0)
		return fail(name,
		    "no terminal to ask for the passphrase (set " PASSPHRASE_ENV
		    " or give --passphrase-fd N)",
		    ST_MISSING);
	st = ask(p, name, tty, twice ? "new passphrase for" : "passphrase for",
	    path);
	if (st == ST_OK && twice) {
		again.text = sodium_malloc(PASSPHRASE_MAX);
		st = again.text != NULL
		    ? ask(&again, name, tty, "once more for", path)
		    : fail(name, "out of memory", ST_NO_MEMORY);
		if (st == ST_OK &&
		    (again.len != p->len ||
			!equal_ct(again.text, p->text, p->len)))
			st = fail(
			    name, "the two are not the same", ST_BAD_VALUE);
		passphrase_clear(&again);
	}
	close(tty);
	return st;
}

enum status
passphrase_get(struct passphrase *p, const char *name, const char *fd,
    const char *path, bool twice)
{
	char *value = getenv(PASSPHRASE_ENV);
	enum status st;

	*p = (struct passphrase){NULL, 0};
	if (sodium_init() < 0)
		return fail(name, "libsodium does not start", ST_RANDOM);
	if ((p->text = sodium_malloc(PASSPHRASE_MAX)) == NULL)
		return fail(name, "out of memory", ST_NO_MEMORY);
	if (fd != NULL)
		st = from_descriptor(p, name, fd);
	else if (value != NULL)
		st = from_environment(p, name, value);
	else
		st = from_terminal(p, name, path, twice);
	if (st != ST_OK)
		passphrase_clear(p);
	return st;
}
