#include "cmd/artifact_find.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKAGE "@zk-kit/semaphore-artifacts"

static enum status
format(char path[static PATH_MAX], const char *fmt, ...) PRINTF_LIKE(2, 3);

static enum status
format(char path[static PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, PATH_MAX, fmt, ap);
	va_end(ap);
	return n < 0 || n >= PATH_MAX ? ST_NO_SPACE : ST_OK;
}

enum status
artifact_home(char path[static PATH_MAX])
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	path[0] = '\0';
	/* The XDG specification: a relative path is to be ignored. */
	if (data != NULL && data[0] == '/')
		return format(path, "%s/postern", data);
	if (home != NULL && home[0] != '\0')
		return format(path, "%s/.local/share/postern", home);
	return ST_MISSING;
}

enum status
artifact_path(char path[static PATH_MAX], const char *dir, uint32_t depth)
{
	return format(path, "%s/semaphore-%u.zkey", dir, (unsigned)depth);
}

/* What is looked for. */
struct search {
	char *path; /* PATH_MAX */
	uint32_t depth;
	const char *except; /* a path that does not count; may be NULL */
};

/* DIR has the file. */
static bool
is_in(const struct search *s, const char *dir)
{
	return artifact_path(s->path, dir, s->depth) == ST_OK &&
	    access(s->path, R_OK) == 0 &&
	    (s->except == NULL || strcmp(s->path, s->except) != 0);
}

/* In the node_modules of this folder and of all above it, as node looks. */
static bool
is_above(const struct search *s)
{
	char here[PATH_MAX], dir[PATH_MAX];
	char *slash;

	if (getcwd(here, sizeof(here)) == NULL)
		return false;
	do {
		if (format(dir, "%s/node_modules/" PACKAGE, here) == ST_OK &&
		    is_in(s, dir))
			return true;
		slash = strrchr(here, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
	return false;
}

/* In a folder of NODE_PATH, which is a list like PATH. */
static bool
is_in_node_path(const struct search *s)
{
	const char *list = getenv("NODE_PATH");
	char dir[PATH_MAX];

	while (list != NULL && *list != '\0') {
		size_t len = strcspn(list, ":");
		if (len > 0 && len < PATH_MAX / 2 &&
		    format(dir, "%.*s/" PACKAGE, (int)len, list) == ST_OK &&
		    is_in(s, dir))
			return true;
		list += len + (list[len] == ':');
	}
	return false;
}

/* In all places where a key may be. */
static bool
is_anywhere(const struct search *s)
{
	static const char *const system[] = {"/usr/local/share/postern",
	    "/usr/share/postern", "/usr/local/lib/node_modules/" PACKAGE,
	    "/usr/lib/node_modules/" PACKAGE, "/usr/share/nodejs/" PACKAGE};
	char home[PATH_MAX];

	if (artifact_home(home) == ST_OK && is_in(s, home))
		return true;
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++) {
		if (is_in(s, system[i]))
			return true;
	}
	return is_above(s) || is_in_node_path(s);
}

enum status
artifact_find(char path[static PATH_MAX], const char *where, uint32_t depth)
{
	const struct search s = {path, depth, NULL};
	char home[PATH_MAX];
	struct stat st;

	if (where != NULL && stat(where, &st) == 0 && S_ISDIR(st.st_mode))
		return is_in(&s, where) ? ST_OK : ST_NOT_FOUND;
	if (where != NULL)
		return format(path, "%s", where) == ST_OK &&
			access(path, R_OK) == 0
		    ? ST_OK
		    : ST_NOT_FOUND;
	if (is_anywhere(&s))
		return ST_OK;
	if (artifact_home(home) != ST_OK ||
	    artifact_path(path, home, depth) != ST_OK)
		path[0] = '\0';
	return ST_NOT_FOUND;
}

enum status
artifact_find_other(
    char path[static PATH_MAX], const char *except, uint32_t depth)
{
	const struct search s = {path, depth, except};

	return is_anywhere(&s) ? ST_OK : ST_NOT_FOUND;
}
