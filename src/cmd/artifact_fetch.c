#include "cmd/artifact_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/artifact_check.h"
#include "cmd/artifact_find.h"
#include "cmd/cli.h"
#include "cmd/https.h"
#include "semaphore/artifacts.h"

#define BAR_WIDTH 30

struct fetch {
	const char *name;
	const struct artifact_source *source;
	uint32_t depth;
	uint64_t size; /* that it will have */
	uint64_t have;
	int fd; /* of the part file */
	bool full; /* more came than there can be */
	int shown; /* thousandths on the bar; -1: none yet */
};

/* --- progress --- */

static void
show(struct fetch *f)
{
	int permille = (int)(f->have * 1000 / f->size);
	int filled = permille * BAR_WIDTH / 1000;
	char bar[BAR_WIDTH + 1];

	if (!f->source->progress || permille == f->shown)
		return;
	f->shown = permille;
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)filled);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\rdepth %2u [%s] %3d %% of %.1f MB",
	    (unsigned)f->depth, bar, permille / 10, (double)f->size / 1e6);
	fflush(stderr);
}

static void
show_end(const struct fetch *f)
{
	if (f->source->progress && f->shown >= 0)
		fputc('\n', stderr);
}

/* --- the part file --- */

static enum status
write_all(struct fetch *f, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(f->fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ST_SYS;
		bytes += n;
		len -= (size_t)n;
		f->have += (uint64_t)n;
	}
	return ST_OK;
}

/* Begin again. */
static enum status
restart(struct fetch *f)
{
	f->have = 0;
	f->full = false;
	return ftruncate(f->fd, 0) == 0 && lseek(f->fd, 0, SEEK_SET) == 0
	    ? ST_OK
	    : ST_SYS;
}

/* Open PART behind what is there already. */
static enum status
open_part(struct fetch *f, const char *part)
{
	off_t end;

	f->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (f->fd < 0)
		return ST_SYS;
	end = lseek(f->fd, 0, SEEK_END);
	if (end < 0)
		return ST_SYS;
	f->have = (uint64_t)end;
	return f->have > f->size ? restart(f) : ST_OK;
}

/* --- from a folder --- */

static enum status
copy(struct fetch *f)
{
	char path[PATH_MAX];
	uint8_t buf[4096];
	enum status st;
	ssize_t n = 1;
	int fd;

	if (artifact_find(path, f->source->from, f->depth) != ST_OK ||
	    (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
		if (access(f->source->from, F_OK) != 0)
			cli_error(f->name,
			    "--from %s: %s (name the folder that has the keys "
			    "already)",
			    f->source->from, strerror(errno));
		else
			cli_error(f->name,
			    "--from %s: no semaphore-%u.zkey there",
			    f->source->from, (unsigned)f->depth);
		return ST_NOT_FOUND;
	}
	st = restart(f); /* nothing is won by going on */
	while (st == ST_OK && n != 0) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno != EINTR)
			st = ST_SYS;
		else if (n > 0 && f->have + (uint64_t)n <= f->size)
			st = write_all(f, buf, (size_t)n);
		else if (n > 0)
			n = 0; /* too long: the hash will say so */
		show(f);
	}
	if (st != ST_OK)
		cli_error(f->name, "%s: %s", path, strerror(errno));
	close(fd);
	return st;
}

/* --- over HTTPS --- */

static bool
on_bytes(void *arg, const uint8_t *bytes, size_t len)
{
	struct fetch *f = arg;

	f->full = f->have + len > f->size;
	if (f->full || write_all(f, bytes, len) != ST_OK)
		return false;
	show(f);
	return true;
}

static enum status
say(const struct fetch *f, enum status st, const char *error)
{
	show_end(f);
	if (st == ST_CLOSED && f->full)
		error = "larger than the official key: not this file";
	else if (st == ST_CLOSED)
		error = strerror(errno);
	cli_error(f->name, "depth %u: %s%s", (unsigned)f->depth, error,
	    st == ST_SYS && f->have > 0 ? " (run it again to go on from there)"
					: "");
	return st;
}

static enum status
download(struct fetch *f)
{
	char url[2048], error[HTTPS_ERROR_MAX] = "";
	struct https_request r = {.url = url,
	    .proxy = f->source->proxy,
	    .ca_file = f->source->ca_file,
	    .on_bytes = on_bytes,
	    .arg = f};
	const char *from = f->source->from;
	size_t len = strlen(from);
	enum status st = ST_OK;

	while (len > 0 && from[len - 1] == '/')
		len--;
	if (len > sizeof(url) - 32)
		return say(f, ST_BAD_LENGTH, "the URL is too long");
	snprintf(url, sizeof(url), "%.*s/semaphore-%u.zkey", (int)len, from,
	    (unsigned)f->depth);
	r.from = f->have;
	if (f->have < f->size)
		st = https_get(&r, error);
	/* A server that gives no parts, or not this one: from the start. */
	if (st == ST_NOT_FOUND && r.from > 0 && restart(f) == ST_OK) {
		r.from = 0;
		st = https_get(&r, error);
	}
	return st == ST_OK ? ST_OK : say(f, st, error);
}

/* --- all of it --- */

/* Give the part its name, if it is what it should be. */
static enum status
finish(struct fetch *f, const char *part, const char *path)
{
	enum status st = artifact_check(part, f->depth);

	if (st == ST_BAD_LENGTH || st == ST_CORRUPT) {
		cli_error(f->name,
		    "depth %u: not the official key: its %s is another (what "
		    "came has been removed)",
		    (unsigned)f->depth,
		    st == ST_CORRUPT ? "SHA-256" : "length");
		unlink(part);
		return st;
	}
	if (st != ST_OK || fsync(f->fd) != 0 || rename(part, path) != 0) {
		cli_error(f->name, "%s: %s", path, strerror(errno));
		return ST_SYS;
	}
	return ST_OK;
}

enum status
artifact_fetch(const char *path, uint32_t depth,
    const struct artifact_source *source, const char *name)
{
	const struct artifact *pin = artifact_of_depth(depth);
	struct fetch f = {.name = name,
	    .source = source,
	    .depth = depth,
	    .fd = -1,
	    .shown = -1};
	char part[PATH_MAX];
	enum status st = ST_OK;

	if (pin == NULL)
		return ST_BAD_DEPTH;
	f.size = pin->size;
	if ((size_t)snprintf(part, sizeof(part), "%s.part", path) >=
	    sizeof(part)) {
		cli_error(name, "%s: the name is too long", path);
		return ST_NO_SPACE;
	}
	st = open_part(&f, part);
	if (st != ST_OK) {
		cli_error(name, "%s: %s", part, strerror(errno));
	} else {
		st = https_is_url(source->from) ? download(&f) : copy(&f);
		if (st == ST_OK) {
			show_end(&f);
			st = finish(&f, part, path);
		}
	}
	if (f.fd >= 0)
		close(f.fd);
	return st;
}
