/* cmd/member_file.h: a member file, read for the commands that need its list
 * or its tree (group, prove, client).
 */
#ifndef CMD_MEMBER_FILE_H
#define CMD_MEMBER_FILE_H

#include <stddef.h>

#include "postern/attr.h"
#include "postern/group.h"

/* A member file as read: one owner, member_file_clear when done. */
struct member_file {
	char *text;
	size_t len;
	struct members members;
};

/* Read the member file at PATH ('-': standard input). On failure it has been
 * said on stderr why, in the name of NAME, and F is empty. */
enum status member_file_read(struct member_file *f, const char *name,
    const char *path) NONNULL WARN_UNUSED;

/* The same from FD, which is open; PATH is only its name. */
enum status member_file_read_fd(struct member_file *f, const char *name,
    const char *path, int fd) NONNULL WARN_UNUSED;

void member_file_clear(struct member_file *f) NONNULL;

/* The tree of F's members, for group_free; NULL if there is no memory for it,
 * and that has been said. */
struct group *member_file_tree(
    const struct member_file *f, const char *name) NONNULL WARN_UNUSED;

#endif
