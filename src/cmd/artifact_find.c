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

/* DIR has the file. */
static bool
is_in(char path[static PATH_MAX], const char *dir, uint32_t depth)
{
	return artifact_path(path, dir, depth) == ST_OK &&
	    access(path, R_OK) == 0;
}

/* In the node_modules of this folder and of all above it, as node looks. */
static bool
is_above(char path[static PATH_MAX], uint32_t depth)
{
	char here[PATH_MAX], dir[PATH_MAX];
	char *slash;

	if (getcwd(here, sizeof(here)) == NULL)
		return false;
	do {
		if (format(dir, "%s/node_modules/" PACKAGE, here) == ST_OK &&
		    is_in(path, dir, depth))
			return true;
		slash = strrchr(here, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
	return false;
}

/* In a folder of NODE_PATH, which is a list like PATH. */
static bool
is_in_node_path(char path[static PATH_MAX], uint32_t depth)
{
	const char *list = getenv("NODE_PATH");
	char dir[PATH_MAX];

	while (list != NULL && *list != '\0') {
		size_t len = strcspn(list, ":");
		if (len > 0 && len < PATH_MAX / 2 &&
		    format(dir, "%.*s/" PACKAGE, (int)len, list) == ST_OK &&
		    is_in(path, dir, depth))
			return true;
		list += len + (list[len] == ':');
	}
	return false;
}

enum status
artifact_find(char path[static PATH_MAX], const char *where, uint32_t depth)
{
	static const char *const system[] = {"/usr/local/share/postern",
	    "/usr/share/postern", "/usr/local/lib/node_modules/" PACKAGE,
	    "/usr/lib/node_modules/" PACKAGE, "/usr/share/nodejs/" PACKAGE};
	char home[PATH_MAX];
	struct stat st;

	if (where != NULL) {
		if (stat(where, &st) == 0 && S_ISDIR(st.st_mode))
			return is_in(path, where, depth) ? ST_OK : ST_NOT_FOUND;
		if (format(path, "%s", where) != ST_OK)
			return ST_NOT_FOUND;
		return access(path, R_OK) == 0 ? ST_OK : ST_NOT_FOUND;
	}
	if (artifact_home(home) == ST_OK && is_in(path, home, depth))
		return ST_OK;
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++) {
		if (is_in(path, system[i], depth))
			return ST_OK;
	}
	if (is_above(path, depth) || is_in_node_path(path, depth))
		return ST_OK;
	if (home[0] == '\0' || artifact_path(path, home, depth) != ST_OK)
		path[0] = '\0';
	return ST_NOT_FOUND;
}
