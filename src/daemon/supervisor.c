#include "daemon/supervisor.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/span.h"
#include "base/text.h"

/* SD_LISTEN_FDS_START */
#define FIRST_FD 3
/* More than a manager ever hands over. */
#define LISTENERS_MAX 256

static enum status
wrong(struct findings *f, const char *name, const char *what)
{
	findings_add(f, FINDING_ERROR, (struct place){"environment", 0},
	    "it is for a service manager to set; unset it", "%s: %s", name,
	    what);
	return ST_BAD_VALUE;
}

/* The number in the variable NAME, at most MAX.
 * Out:     *v, 0 if it is not set or wrong.
 * Returns: ST_OK; ST_BAD_VALUE, with a finding. */
static enum status
read_number(uint64_t *v, const char *name, uint64_t max, struct findings *f)
{
	const char *text = getenv(name);

	*v = 0;
	if (text == NULL || decimal_u64(v, span_str(text), max) == ST_OK)
		return ST_OK;
	*v = 0;
	return wrong(f, name, "not a number that makes sense");
}

/* Whether the variable NAME, if it is set, means this process. */
static enum status
is_for_us(bool *yes, const char *name, struct findings *f)
{
	uint64_t pid;
	enum status st = read_number(&pid, name, INT32_MAX, f);

	*yes = pid == 0 || pid == (uint64_t)getpid();
	return st;
}

static enum status
connect_to(struct supervisor *s, const char *path, struct findings *f)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || len < 2 ||
	    len >= sizeof(at.sun_path))
		return wrong(f, "NOTIFY_SOCKET", "not the path of a socket");
	memcpy(at.sun_path, path, len);
	if (path[0] == '@')
		at.sun_path[0] = '\0';
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd >= 0 &&
	    connect(s->fd, (const struct sockaddr *)&at,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) == 0)
		return ST_OK;
	wrong(f, "NOTIFY_SOCKET", strerror(errno));
	supervisor_close(s);
	return ST_BAD_VALUE;
}

static enum status
read_watchdog(struct supervisor *s, struct findings *f)
{
	uint64_t usec;
	bool us;
	enum status st = read_number(&usec, "WATCHDOG_USEC", UINT64_MAX / 2, f);

	if (st == ST_OK)
		st = is_for_us(&us, "WATCHDOG_PID", f);
	/* Twice as often as is asked for, as sd_watchdog_enabled(3) says. */
	if (st == ST_OK && us)
		s->watchdog_ms = usec > 0 && usec < 2000 ? 1 : usec / 2000;
	return st;
}

static enum status
read_listeners(struct supervisor *s, struct findings *f)
{
	uint64_t n;
	bool us;
	enum status st = read_number(&n, "LISTEN_FDS", LISTENERS_MAX, f);

	if (st == ST_OK)
		st = is_for_us(&us, "LISTEN_PID", f);
	if (st == ST_OK && us)
		s->listeners = (unsigned)n;
	return st;
}

enum status
supervisor_open(struct supervisor *s, struct findings *f)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC",
	    "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"};
	const char *path = getenv("NOTIFY_SOCKET");
	enum status st;

	*s = (struct supervisor){.fd = -1};
	st = read_listeners(s, f);
	if (st == ST_OK)
		st = read_watchdog(s, f);
	if (st == ST_OK && path != NULL && path[0] != '\0')
		st = connect_to(s, path, f);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return st;
}

void
supervisor_name(char out[static SUPERVISOR_NAME_MAX], unsigned number)
{
	snprintf(out, SUPERVISOR_NAME_MAX, "fd:%u", FIRST_FD + number);
}

void
supervisor_credential(char path[static PATH_MAX], const char *name)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	int n = dir != NULL ? snprintf(path, PATH_MAX, "%s/%s", dir, name) : 0;

	if (n <= 0 || n >= PATH_MAX || access(path, F_OK) != 0)
		path[0] = '\0';
}

void
supervisor_close(struct supervisor *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void
say(struct supervisor *s, const char *text)
{
	if (s->fd < 0)
		return;
	/* A manager that is gone or full: there is nothing to be done. */
	(void)!send(s->fd, text, strlen(text), MSG_NOSIGNAL);
}

void
supervisor_ready(struct supervisor *s)
{
	say(s, "READY=1\nSTATUS=open");
}

void
supervisor_reloading(struct supervisor *s)
{
	struct timespec now;
	char text[96];

	/* systemd 253 wants to know that it is this reload and no former. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text),
	    "RELOADING=1\nSTATUS=reloading\nMONOTONIC_USEC=%" PRIu64,
	    (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	say(s, text);
}

void
supervisor_stopping(struct supervisor *s)
{
	say(s, "STOPPING=1\nSTATUS=draining");
}

void
supervisor_tick(struct supervisor *s, uint64_t now)
{
	if (s->watchdog_ms == 0 || now - s->said_at < s->watchdog_ms)
		return;
	s->said_at = now;
	say(s, "WATCHDOG=1");
}
