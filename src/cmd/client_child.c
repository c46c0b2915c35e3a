#include "cmd/client_child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/client_state.h"

#define OURS "POSTERN_"
/* Variables that are set: more than there are in the three lists. */
#define ADDED_MAX 16

/* An environment being made: strings that are ours first, then the rest. */
struct environment {
	char **list;
	size_t n, own;
};

static bool
is_named(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

static bool
is_in(const char *entry, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (is_named(entry, *names))
			return true;
	}
	return false;
}

static bool
add_all(struct environment *e, const char *const *names, const char *value)
{
	for (; *names != NULL; names++) {
		char *text;
		if (asprintf(&text, "%s=%s", *names, value) < 0)
			return false;
		e->list[e->n++] = text;
		e->own = e->n;
	}
	return true;
}

static void
clear(struct environment *e)
{
	for (size_t i = 0; i < e->own; i++)
		free(e->list[i]);
	free(e->list);
}

static bool
make(struct environment *e, const char *http, const char *socks)
{
	size_t n = 0;

	while (environ[n] != NULL)
		n++;
	*e = (struct environment){
	    .list = calloc(n + ADDED_MAX + 1, sizeof(char *))};
	if (e->list == NULL || !add_all(e, client_http_variables, http) ||
	    !add_all(e, client_socks_variables, socks) ||
	    !add_all(e, client_no_variables, ""))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], OURS, strlen(OURS)) != 0 &&
		    !is_in(environ[i], client_http_variables) &&
		    !is_in(environ[i], client_socks_variables) &&
		    !is_in(environ[i], client_no_variables))
			e->list[e->n++] = environ[i];
	}
	return true;
}

enum status
client_child_start(
    pid_t *pid, char *const argv[], const char *http, const char *socks)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	struct environment e = {NULL, 0, 0};
	sigset_t none;
	int error = ENOMEM;

	*pid = -1;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return ST_NO_MEMORY;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return ST_NO_MEMORY;
	}
	sigemptyset(&none);
	/* We ignore SIGPIPE; a child must not inherit that. */
	sigset_t pipe = none;
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &pipe);
	posix_spawnattr_setflags(
	    &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (make(&e, http, socks) &&
	    posix_spawn_file_actions_addclosefrom_np(
		&actions, STDERR_FILENO + 1) == 0)
		error = posix_spawnp(
		    pid, argv[0], &actions, &attributes, argv, e.list);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	clear(&e);
	errno = error;
	return error == 0 ? ST_OK : error == ENOMEM ? ST_NO_MEMORY : ST_SYS;
}
