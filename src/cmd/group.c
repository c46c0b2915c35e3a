/* postern group: the member file of a group. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/member_file.h"
#include "postern/group.h"
#include "store/file.h"

/* Seconds to wait for another editor. */
#define LOCK_SECONDS 30

/* --- commitments on the command line --- */

static int
out_of_memory(const char *name)
{
	cli_error(name, "out of memory");
	return CLI_ERROR;
}

static int
refuse_commitment(const char *name, const char *text, enum status st)
{
	const char *why = "not a commitment (a decimal number; take the last "
			  "line of postern identity new)";

	if (st == ST_BAD_VALUE)
		why = "zero is no commitment";
	else if (st == ST_NOT_CANONICAL)
		why = "too large for a commitment (not below r)";
	cli_error(name, "%.100s: %s", text, why);
	return CLI_ERROR;
}

/* Read the N commitments TEXTS as the lines of a member file. */
static int
read_arguments(struct members *m, const char *name, char **texts, int n)
{
	struct members_fault fault;
	uint8_t commitment[32];
	size_t at = 0;
	char *lines = malloc((size_t)n * DECIMAL_MAX);
	enum status st;

	if (lines == NULL)
		return out_of_memory(name);
	for (int i = 0; i < n; i++) {
		st = commitment_parse(commitment, texts[i], strlen(texts[i]));
		if (st != ST_OK) {
			free(lines);
			return refuse_commitment(name, texts[i], st);
		}
		at += decimal_encode(lines + at, commitment);
		lines[at++] = '\n';
	}
	st = members_parse(m, lines, at, &fault);
	free(lines);
	if (st == ST_DUPLICATE)
		cli_error(name, "%s: given twice", texts[fault.line - 1]);
	else if (st != ST_OK)
		return out_of_memory(name);
	return st == ST_OK ? CLI_OK : CLI_ERROR;
}

/* Read the commitments TEXTS, or those on standard input if there is just
 * "-". */
static int
read_wanted(struct members *m, const char *name, char **texts, int n)
{
	struct member_file f;

	memset(m, 0, sizeof(*m));
	if (n != 1 || strcmp(texts[0], "-") != 0)
		return read_arguments(m, name, texts, n);
	if (member_file_read(&f, name, "-") != ST_OK)
		return CLI_ERROR;
	*m = f.members;
	free(f.text);
	return CLI_OK;
}

/* --- add, remove --- */

static const struct cli_option no_options[] = {{NULL, 0, NULL, NULL}};

/* The new text of F for the members WANTED, or why not. */
typedef int edit_fn(char **out, size_t *len, const struct member_file *f,
    const struct members *wanted, const char *name, const char *path);

static int
edit_add(char **out, size_t *len, const struct member_file *f,
    const struct members *wanted, const char *name, const char *path)
{
	char text[DECIMAL_MAX] = "";
	struct members all;
	struct members_fault fault;

	if (members_text_add(
		out, len, f->text, f->len, wanted->list, wanted->n) != ST_OK)
		return out_of_memory(name);
	/* Both are right, so only a member of both can be wrong now. */
	if (members_parse(&all, *out, *len, &fault) == ST_OK) {
		members_clear(&all);
		return CLI_OK;
	}
	if (fault.status != ST_DUPLICATE)
		return out_of_memory(name);
	for (size_t i = 0; i < f->members.n; i++) {
		if (f->members.lines[i] == fault.first_line)
			decimal_encode(text, f->members.list[i].commitment);
	}
	cli_error(name, "%s: line %zu: a member already: %s", path,
	    fault.first_line, text);
	return CLI_NO;
}

/* A member and where it stands, in an order to search in. */
struct entry {
	struct group_member member;
	size_t line;
};

static int
by_member(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return memcmp(&x->member, &y->member, sizeof(x->member));
}

static int
by_number(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The lines of F on which the members WANTED stand, ascending; LINES has room
 * for them. False if one does not, which has been said. */
static bool
find_lines(size_t *lines, struct entry *entries, const struct member_file *f,
    const struct members *wanted, const char *name, const char *path)
{
	char text[DECIMAL_MAX];

	for (size_t i = 0; i < f->members.n; i++)
		entries[i] =
		    (struct entry){f->members.list[i], f->members.lines[i]};
	qsort(entries, f->members.n, sizeof(*entries), by_member);
	for (size_t i = 0; i < wanted->n; i++) {
		const struct entry key = {wanted->list[i], 0};
		const struct entry *found = bsearch(
		    &key, entries, f->members.n, sizeof(*entries), by_member);
		if (found == NULL) {
			decimal_encode(text, wanted->list[i].commitment);
			cli_error(name, "%s: no such member: %s", path, text);
			return false;
		}
		lines[i] = found->line;
	}
	qsort(lines, wanted->n, sizeof(*lines), by_number);
	return true;
}

static int
edit_remove(char **out, size_t *len, const struct member_file *f,
    const struct members *wanted, const char *name, const char *path)
{
	size_t *lines = calloc(wanted->n + 1, sizeof(*lines));
	struct entry *entries = calloc(f->members.n + 1, sizeof(*entries));
	int code = CLI_OK;

	if (lines == NULL || entries == NULL)
		code = out_of_memory(name);
	else if (!find_lines(lines, entries, f, wanted, name, path))
		code = CLI_NO;
	else if (members_text_remove(
		     out, len, f->text, f->len, lines, wanted->n) != ST_OK)
		code = out_of_memory(name);
	free(lines);
	free(entries);
	return code;
}

/* Read, edit and replace the file REAL, which FD is and PATH was resolved to;
 * its lock is held. */
static int
edit_locked(const char *name, const char *path, const char *real, int fd,
    const struct members *wanted, edit_fn *edit)
{
	struct member_file f;
	char *text = NULL;
	size_t len = 0;
	int code;

	if (member_file_read_fd(&f, name, path, fd) != ST_OK)
		return CLI_ERROR;
	code = edit(&text, &len, &f, wanted, name, path);
	if (code == CLI_OK && file_put(real, text, len, 0644) != ST_OK) {
		cli_error(name, "%s: %s", path, strerror(errno));
		code = CLI_ERROR;
	}
	free(text);
	member_file_clear(&f);
	return code;
}

/* All that add and remove have in common. CREATE: a file that is not there is
 * an empty group. */
static int
edit_file(const struct cli_spec *spec, int argc, char **argv, edit_fn *edit,
    bool create)
{
	const char *name = argv[0], *path;
	const char *none[1];
	char real[PATH_MAX];
	struct members wanted;
	int fd = -1, args, code = cli_parse(spec, argc, argv, none, &args);
	enum status st;

	if (code >= 0)
		return code;
	path = argv[args];
	code = read_wanted(&wanted, name, argv + args + 1, argc - args - 1);
	if (code == CLI_OK) {
		st = file_resolve(real, path);
		if (st == ST_OK)
			st = file_lock(&fd, real, LOCK_SECONDS, create, 0644);
		if (st == ST_OK)
			code = edit_locked(name, path, real, fd, &wanted, edit);
		else
			code = CLI_ERROR;
		if (st == ST_LOCKED)
			cli_error(
			    name, "%s: somebody else is editing it", path);
		else if (st != ST_OK)
			cli_error(name, "%s: %s", path, strerror(errno));
		file_unlock(fd);
	}
	members_clear(&wanted);
	return code;
}

static int
group_cmd_add(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "MEMBERS COMMITMENT...|-",
	    .summary =
		"Add members to the member file MEMBERS, each by the line "
		"that postern identity\nnew printed for them: all of "
		"them, or none if one is not right.",
	    .options = no_options,
	    .notes = "MEMBERS is made if it is not there. Comments in it stay; "
		     "it is replaced at once, so\nthat a gateway that reads it "
		     "meanwhile sees the old file or the new.",
	    .min_args = 2,
	    .max_args = -1,
	};

	return edit_file(&spec, argc, argv, edit_add, true);
}

static int
group_cmd_remove(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "MEMBERS COMMITMENT...|-",
	    .summary =
		"Remove members from the member file MEMBERS, with their "
		"lines: all of them, or\nnone if one is not there.",
	    .options = no_options,
	    .min_args = 2,
	    .max_args = -1,
	};

	return edit_file(&spec, argc, argv, edit_remove, false);
}

/* --- root, proof, list --- */

static const struct cli_option json_option[] = {
    {"json", 0, NULL, "print JSON"}, {NULL, 0, NULL, NULL}};

static int
group_cmd_root(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--json] MEMBERS",
	    .summary = "Print the root of the group's tree, its depth and its "
		       "size.",
	    .options = json_option,
	    .notes =
		"The depth is that of the tree; a proof may be made for any "
		"circuit from that\ndepth (at least 1) to 32.",
	    .min_args = 1,
	    .max_args = 1,
	};
	const char *json;
	char text[DECIMAL_MAX];
	struct group_root root;
	struct member_file f;
	int args, code = cli_parse(&spec, argc, argv, &json, &args);

	if (code >= 0)
		return code;
	if (member_file_read(&f, argv[0], argv[args]) != ST_OK)
		return CLI_ERROR;
	if (group_root_of(&root, f.members.list, f.members.n, NULL) != ST_OK) {
		code = out_of_memory(argv[0]);
	} else {
		code = CLI_OK;
		decimal_encode(text, root.root);
		printf(json != NULL
			? "{\"root\":\"%s\",\"depth\":%u,\"size\":%llu}\n"
			: "root  %s\ndepth %u\nsize  %llu\n",
		    text, (unsigned)root.depth, (unsigned long long)root.size);
	}
	member_file_clear(&f);
	return code;
}

static void
print_proof(const struct group_proof *p, bool json)
{
	char text[DECIMAL_MAX];

	decimal_encode(text, p->leaf);
	printf(json ? "{\"leaf\":\"%s\",\"index\":%llu,\"siblings\":["
		    : "leaf    %s\nindex   %llu\n",
	    text, (unsigned long long)p->index);
	for (uint32_t i = 0; i < p->length; i++) {
		decimal_encode(text, p->siblings[i]);
		if (json)
			printf("%s\"%s\"", i != 0 ? "," : "", text);
		else
			printf("sibling %s\n", text);
	}
	decimal_encode(text, p->root);
	printf(json ? "],\"root\":\"%s\"}\n" : "root    %s\n", text);
}

static int
group_cmd_proof(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--json] MEMBERS COMMITMENT",
	    .summary =
		"Print the path from a member to the root, as the official "
		"Group.generateMerkleProof\nhas it.",
	    .options = json_option,
	    .min_args = 2,
	    .max_args = 2,
	};
	const char *json;
	struct members wanted;
	struct member_file f;
	struct group *g;
	struct group_proof p;
	size_t place;
	int args, code = cli_parse(&spec, argc, argv, &json, &args);

	if (code >= 0)
		return code;
	code = read_arguments(&wanted, argv[0], argv + args + 1, 1);
	if (code != CLI_OK)
		return code;
	if (member_file_read(&f, argv[0], argv[args]) != ST_OK) {
		members_clear(&wanted);
		return CLI_ERROR;
	}
	if ((g = member_file_tree(&f, argv[0])) == NULL) {
		code = CLI_ERROR;
	} else if (group_find(g, &place, wanted.list[0].commitment) != ST_OK ||
	    group_proof(&p, g, place) != ST_OK) {
		cli_error(argv[0], "%s: no such member", argv[args]);
		code = CLI_NO;
	} else {
		print_proof(&p, json != NULL);
	}
	group_free(g);
	members_clear(&wanted);
	member_file_clear(&f);
	return code;
}

static int
group_cmd_list(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--json] MEMBERS",
	    .summary =
		"Print the commitments in the member file MEMBERS, a line "
		"each.",
	    .options = json_option,
	    .min_args = 1,
	    .max_args = 1,
	};
	const char *json;
	char text[DECIMAL_MAX];
	struct member_file f;
	int args, code = cli_parse(&spec, argc, argv, &json, &args);

	if (code >= 0)
		return code;
	if (member_file_read(&f, argv[0], argv[args]) != ST_OK)
		return CLI_ERROR;
	if (json != NULL)
		putchar('[');
	for (size_t i = 0; i < f.members.n; i++) {
		decimal_encode(text, f.members.list[i].commitment);
		if (json != NULL)
			printf("%s\"%s\"", i != 0 ? "," : "", text);
		else
			puts(text);
	}
	if (json != NULL)
		puts("]");
	member_file_clear(&f);
	return CLI_OK;
}

int
cmd_group(int argc, char **argv)
{
	static const struct cli_command commands[] = {
	    {"add", group_cmd_add, "add members"},
	    {"remove", group_cmd_remove, "remove members"},
	    {"root", group_cmd_root, "print root, depth and size"},
	    {"proof", group_cmd_proof, "print a member's Merkle proof"},
	    {"list", group_cmd_list, "print the members"},
	    {"follow", group_cmd_follow,
		"keep a list or root up to date from a URL or a chain"},
	    {NULL, NULL, NULL},
	};

	return cli_main(argv[0], commands, argc, argv);
}
