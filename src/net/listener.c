#include "net/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "net/sockaddr.h"
#include "net/stream.h"

#define RESERVE 32

struct listener {
	struct listener_config config;
	char path[LISTENER_PATH_MAX]; /* to remove; empty: not ours */
	dev_t device; /* and only if it is still this file */
	ino_t inode;
	struct loop *loop;
	struct watch watch;
	struct deadline retry;
	int fd;
	bool local; /* AF_UNIX: what it accepts inherits nothing */
	bool paused; /* by the owner */
	struct listener_counts counts;
};

/* --- text --- */

static bool
strip(span_t *text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (text->len < n || memcmp(text->ptr, prefix, n) != 0)
		return false;
	*text = span_of(text->ptr + n, text->len - n);
	return true;
}

/* As endpoint_parse, but port 0 is a port: the kernel's choice. */
static enum status
parse_endpoint(endpoint_t *at, span_t text)
{
	char copy[ENDPOINT_TEXT_MAX];

	if (!span_ends_nocase(text, span_str(":0")) || text.len > sizeof(copy))
		return endpoint_parse(at, text);
	memcpy(copy, text.ptr, text.len);
	copy[text.len - 1] = '1';
	enum status s = endpoint_parse(at, span_of(copy, text.len));
	at->port = 0;
	return s;
}

enum status
listener_parse(struct listener_config *config,
    char path[static LISTENER_PATH_MAX], span_t text)
{
	uint64_t fd;
	enum status s;

	path[0] = '\0';
	if (strip(&text, "unix:")) {
		config->kind = LISTEN_UNIX;
		config->path = path;
		if (text.len == 0 || text.ptr[0] != '/' ||
		    memchr(text.ptr, '\0', text.len) != NULL)
			return ST_BAD_ENCODING;
		if (text.len >= LISTENER_PATH_MAX)
			return ST_BAD_LENGTH;
		memcpy(path, text.ptr, text.len);
		path[text.len] = '\0';
		return ST_OK;
	}
	if (strip(&text, "fd:")) {
		config->kind = LISTEN_FD;
		s = decimal_u64(&fd, text, INT32_MAX);
		config->fd = s == ST_OK ? (int)fd : -1;
		return s;
	}
	config->kind = LISTEN_IP;
	return parse_endpoint(&config->at, text);
}

/* --- accepting --- */

/* The number that says the reserve has been reached. */
static int
threshold(const struct listener *ls)
{
	struct rlimit limit;
	rlim_t reserve = ls->config.reserve != 0 ? ls->config.reserve : RESERVE;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT32_MAX)
		return INT32_MAX;
	return limit.rlim_cur > reserve ? (int)(limit.rlim_cur - reserve) : 0;
}

static void
pause_for_want(struct listener *ls)
{
	watch_stop(&ls->watch);
	ls->counts.paused = true;
	ls->counts.pauses++;
	deadline_start(ls->loop, &ls->retry, LISTENER_RETRY_MS);
}

/* What an error of accept asks for. Errors of the connection itself (it was
 * reset while it waited) are the next one's business. */
static bool
is_want(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS ||
	    error == ENOMEM;
}

static void
on_ready(struct watch *w, unsigned what)
{
	struct listener *ls = loop_owner(w, struct listener, watch);
	int limit = threshold(ls);

	(void)what;
	for (int i = 0; i < LISTENER_BATCH; i++) {
		int fd =
		    accept4(ls->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0 && is_want(errno)) {
			pause_for_want(ls);
			return;
		}
		if (fd < 0)
			continue;
		ls->counts.accepted++;
		if (ls->local)
			stream_prepare(fd);
		/* This one may stay: it is what tells us. */
		if (fd >= limit)
			pause_for_want(ls);
		ls->config.accepted(ls, fd, ls->config.arg);
		if (ls->paused || ls->counts.paused)
			return;
	}
}

/* A descriptor is to be had that leaves the reserve alone. */
static bool
has_room(const struct listener *ls)
{
	int fd = fcntl(ls->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return false;
	close(fd);
	return fd < threshold(ls);
}

static void
try_again(struct listener *ls)
{
	if (!has_room(ls) || watch_start(&ls->watch, WATCH_READ) != ST_OK) {
		deadline_start(ls->loop, &ls->retry, LISTENER_RETRY_MS);
		return;
	}
	ls->counts.paused = false;
	deadline_stop(ls->loop, &ls->retry);
}

static void
on_retry(struct deadline *d)
{
	struct listener *ls = loop_owner(d, struct listener, retry);

	if (!ls->paused)
		try_again(ls);
}

void
listener_pause(struct listener *ls)
{
	ls->paused = true;
	watch_stop(&ls->watch);
}

void
listener_resume(struct listener *ls)
{
	if (!ls->paused && !ls->counts.paused)
		return;
	ls->paused = false;
	try_again(ls);
}

/* --- opening --- */

/* Make room at PATH: nothing is there, or the socket of a server that is
 * gone. Whatever else is there stays, and is EADDRINUSE. */
static enum status
clear_path(const char *path, const union sockaddr_any *a, socklen_t len)
{
	struct stat st;
	int fd, rc;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? ST_OK : ST_SYS;
	if (!S_ISSOCK(st.st_mode)) {
		errno = EADDRINUSE;
		return ST_SYS;
	}
	if ((fd = socket(
		 AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0)
		return ST_SYS;
	rc = connect(fd, &a->sa, len);
	int error = rc == 0 ? 0 : errno;
	close(fd);
	if (error != ECONNREFUSED) {
		errno = EADDRINUSE;
		return ST_SYS;
	}
	return unlink(path) == 0 ? ST_OK : ST_SYS;
}

static enum status
open_unix(struct listener *ls)
{
	const char *path = ls->config.path;
	union sockaddr_any a;
	socklen_t len;
	struct stat st;
	enum status s;

	if ((s = sockaddr_of_path(&a, &len, path)) != ST_OK ||
	    (s = clear_path(path, &a, len)) != ST_OK)
		return s;
	ls->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* The mode of the unbound socket bounds that of the file from its
	 * first moment; the umask may have taken more, hence the second. */
	if (ls->fd < 0 || fchmod(ls->fd, ls->config.mode) != 0 ||
	    bind(ls->fd, &a.sa, len) != 0)
		return ST_SYS;
	memcpy(ls->path, path, strlen(path) + 1);
	if (chmod(path, ls->config.mode) != 0 || stat(path, &st) != 0)
		return ST_SYS;
	ls->device = st.st_dev;
	ls->inode = st.st_ino;
	return ST_OK;
}

static enum status
open_ip(struct listener *ls)
{
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &ls->config.at);
	int on = 1;

	if (len == 0)
		return ST_BAD_VALUE;
	ls->fd = socket(
	    a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ls->fd < 0 ||
	    setsockopt(ls->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) !=
		0 ||
	    (a.sa.sa_family == AF_INET6 &&
		setsockopt(
		    ls->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) ||
	    bind(ls->fd, &a.sa, len) != 0)
		return ST_SYS;
	return ST_OK;
}

static enum status
adopt(struct listener *ls)
{
	int fd = ls->config.fd, listening = 0, type = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) != 0 ||
	    type != SOCK_STREAM || !listening)
		return ST_BAD_VALUE;
	ls->fd = fd;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return ST_SYS;
	return ST_OK;
}

static enum status
open_socket(struct listener *ls)
{
	switch (ls->config.kind) {
	case LISTEN_IP:
		return open_ip(ls);
	case LISTEN_UNIX:
		return open_unix(ls);
	case LISTEN_FD:
		return adopt(ls);
	}
	return ST_BAD_VALUE;
}

static bool
is_local(int fd)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	    domain == AF_UNIX;
}

enum status
listener_new(
    struct listener **out, struct loop *l, const struct listener_config *config)
{
	struct listener *ls = calloc(1, sizeof(*ls));
	int backlog = config->backlog != 0 ? config->backlog : SOMAXCONN;
	enum status s;

	*out = NULL;
	if (ls == NULL)
		return ST_NO_MEMORY;
	ls->config = *config;
	ls->loop = l;
	ls->fd = -1;
	deadline_init(&ls->retry, on_retry);
	watch_init(&ls->watch, l, -1, on_ready);
	if ((s = open_socket(ls)) == ST_OK) {
		stream_prepare(ls->fd);
		ls->local = is_local(ls->fd);
		watch_init(&ls->watch, l, ls->fd, on_ready);
		if (listen(ls->fd, backlog) != 0)
			s = ST_SYS;
		else
			s = watch_start(&ls->watch, WATCH_READ);
	}
	if (s != ST_OK) {
		int error = errno;
		listener_free(&ls);
		errno = error;
		return s;
	}
	*out = ls;
	return ST_OK;
}

void
listener_free(struct listener **out)
{
	struct listener *ls = *out;
	struct stat st;

	if (ls == NULL)
		return;
	*out = NULL;
	watch_stop(&ls->watch);
	deadline_stop(ls->loop, &ls->retry);
	if (ls->path[0] != '\0' && stat(ls->path, &st) == 0 &&
	    st.st_dev == ls->device && st.st_ino == ls->inode)
		unlink(ls->path);
	if (ls->fd >= 0)
		close(ls->fd);
	free(ls);
}

/* --- looking --- */

uint16_t
listener_port(const struct listener *ls)
{
	union sockaddr_any a;
	socklen_t len = sizeof(a);

	if (getsockname(ls->fd, &a.sa, &len) != 0)
		return 0;
	return sockaddr_port(&a);
}

struct listener_counts
listener_counts(const struct listener *ls)
{
	return ls->counts;
}
