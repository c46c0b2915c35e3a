#include "cmd/member_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "store/file.h"

/* Larger than any file of 2^24 members. */
#define FILE_MAX ((size_t)2 << 30)

void
member_file_clear(struct member_file *f)
{
	members_clear(&f->members);
	free(f->text);
	f->text = NULL;
}

enum status
member_file_read(struct member_file *f, const char *name, const char *path)
{
	char say[MEMBERS_FAULT_MAX];
	struct members_fault fault;
	enum status st;

	memset(f, 0, sizeof(*f));
	st = strcmp(path, "-") == 0
	    ? file_load_fd(&f->text, &f->len, STDIN_FILENO, FILE_MAX)
	    : file_load(&f->text, &f->len, path, FILE_MAX, FILE_ANYBODY);
	if (st != ST_OK) {
		cli_error(name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return st;
	}
	st = members_parse(&f->members, f->text, f->len, &fault);
	if (st != ST_OK) {
		cli_error(
		    name, "%s: %s", path, members_fault_text(say, &fault));
		member_file_clear(f);
	}
	return st;
}

struct group *
member_file_tree(const struct member_file *f, const char *name)
{
	struct group *g = NULL;

	if (group_new(&g) == ST_OK &&
	    group_add(g, f->members.list, f->members.n, NULL) == ST_OK)
		return g;
	group_free(g);
	cli_error(name, "out of memory");
	return NULL;
}
