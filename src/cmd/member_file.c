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

/* The text of PATH has been read into F, or not: ST says it. */
static enum status
parse(struct member_file *f, const char *name, const char *path, enum status st)
{
	char say[MEMBERS_FAULT_MAX];
	struct members_fault fault;

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

enum status
member_file_read(struct member_file *f, const char *name, const char *path)
{
	if (strcmp(path, "-") == 0)
		return member_file_read_fd(f, name, path, STDIN_FILENO);
	memset(f, 0, sizeof(*f));
	return parse(f, name, path,
	    file_load(&f->text, &f->len, path, FILE_MAX, FILE_ANYBODY));
}

enum status
member_file_read_fd(
    struct member_file *f, const char *name, const char *path, int fd)
{
	memset(f, 0, sizeof(*f));
	return parse(
	    f, name, path, file_load_fd(&f->text, &f->len, fd, FILE_MAX));
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
