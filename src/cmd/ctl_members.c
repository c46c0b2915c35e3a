/* postern ctl members: see ctl_parts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/ask.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/ctl_parts.h"
#include "cmd/member_file.h"
#include "daemon/buffer.h"

/* How long the gateway may take to read a list of millions. */
#define TAKEN_OVER_SECONDS 60

json_t *
ctl_find_group(const char *name, const char *path, const char *group)
{
	json_t *answer = ask_gateway(name, path, "status", NULL);
	json_t *groups =
	    json_object_get(json_object_get(answer, "result"), "groups");
	json_t *g, *found = NULL;
	size_t i;

	json_array_foreach(groups, i, g)
	{
		if (strcmp(ask_text(g, "name"), group) == 0)
			found = json_incref(g);
	}
	if (answer != NULL && found == NULL) {
		struct buffer known = {0};
		json_array_foreach(groups, i, g) buffer_format(
		    &known, "%s%s", i > 0 ? ", " : "", ask_text(g, "name"));
		cli_error(name, "the gateway has no group %s (it has %s)",
		    group, known.len > 0 ? known.text : "none");
		buffer_clear(&known);
	}
	json_decref(answer);
	return found;
}

/* The root of the member file FILE as decimals. */
static bool
file_root(char out[static DECIMAL_MAX], const char *name, const char *file)
{
	struct member_file f;
	struct group_root root;
	bool ok;

	if (member_file_read(&f, name, file) != ST_OK)
		return false;
	ok = group_root_of(&root, f.members.list, f.members.n, NULL) == ST_OK;
	if (ok)
		decimal_encode(out, root.root);
	member_file_clear(&f);
	return ok;
}

/* Wait until GROUP's root is that of FILE. */
static int
wait_for(
    const char *name, const char *path, const char *group, const char *file)
{
	const struct timespec nap = {.tv_nsec = 100000000};
	char root[DECIMAL_MAX];

	if (!file_root(root, name, file))
		return CLI_ERROR;
	for (int i = 0; i < TAKEN_OVER_SECONDS * 10; i++) {
		json_t *g = ctl_find_group(name, path, group);
		bool there = strcmp(ask_text(g, "root"), root) == 0;
		if (there)
			printf("%s: %lld members\n", group,
			    (long long)ask_number(g, "members"));
		if (g == NULL)
			return CLI_ERROR;
		json_decref(g);
		if (there)
			return CLI_OK;
		nanosleep(&nap, NULL);
	}
	cli_error(name,
	    "%s is written, and the gateway has not taken it over "
	    "(see its log)",
	    file);
	return CLI_NO;
}

/* Run `postern group VERB FILE` with the N commitments. */
static int
edit(const char *name, char *verb, const char *file, char **commitments, int n)
{
	char **argv = calloc((size_t)n + 4, sizeof(*argv));
	char *own_name = strdup(name), *own_file = strdup(file);
	int code = CLI_ERROR;

	if (argv != NULL && own_name != NULL && own_file != NULL) {
		argv[0] = own_name;
		argv[1] = verb;
		argv[2] = own_file;
		for (int i = 0; i < n; i++)
			argv[3 + i] = commitments[i];
		code = cmd_group(3 + n, argv);
	} else {
		cli_error(name, "out of memory");
	}
	free(own_name);
	free(own_file);
	free(argv);
	return code;
}

/* FILE is what the gateway says, which may be an impostor's by now, and we may be
 * root: only a list that is there already is edited, and none is made. */
static bool
may_edit(const char *name, const char *file)
{
	if (file[0] == '/' && access(file, F_OK) == 0)
		return true;
	cli_error(name,
	    "the gateway says that its members are in \"%.200s\", where there "
	    "is no file (postern group add FILE makes one)",
	    file);
	return false;
}

int
ctl_members(const char *name, const char *path, int argc, char **argv)
{
	bool list = argc == 2 && strcmp(argv[0], "list") == 0;
	json_t *group;
	int code;

	if (!list &&
	    (argc < 3 ||
		(strcmp(argv[0], "add") != 0 &&
		    strcmp(argv[0], "remove") != 0))) {
		cli_error(name,
		    "members add GROUP COMMITMENT..., members remove GROUP "
		    "COMMITMENT..., or members list GROUP");
		return CLI_ERROR;
	}
	if ((group = ctl_find_group(name, path, argv[1])) == NULL)
		return CLI_ERROR;
	code = may_edit(name, ask_text(group, "file"))
	    ? edit(name, argv[0], ask_text(group, "file"), argv + 2, argc - 2)
	    : CLI_ERROR;
	if (code == CLI_OK && !list)
		code = wait_for(name, path, argv[1], ask_text(group, "file"));
	json_decref(group);
	return code;
}
