#include "cmd/identity_load.h"

#include <errno.h>
#include <string.h>

#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/passphrase.h"
#include "cmd/secrets.h"
#include "store/file.h"

/* Say why PATH could not be read. */
static void
explain_file(const char *name, const char *path, enum status st)
{
	if (st == ST_SYS)
		cli_error(name, "%s: %s", path, strerror(errno));
	else if (st == ST_PERMISSION)
		cli_error(name,
		    "%s: open to others than its owner (chmod 600 %s)", path,
		    path);
	else if (st == ST_NO_SPACE)
		cli_error(name, "%s: too large for an identity file", path);
	else
		cli_error(name, "%s: %s", path, status_text(st));
}

/* Say what is wrong with its content, on LINE. */
static void
explain_content(
    const char *name, const char *path, enum status st, unsigned line)
{
	if (st == ST_BAD_PASSPHRASE)
		cli_error(name, "%s: wrong passphrase (or the file is damaged)",
		    path);
	else if (st == ST_BAD_ENCODING && line <= 1)
		cli_error(name, "%s: not an identity file", path);
	else if (line != 0)
		cli_error(name, "%s: line %u: %s", path, line, status_text(st));
	else
		cli_error(name, "%s: %s", path, status_text(st));
}

static enum status
read_content(struct identity *id, const char *name, const char *path,
    const char *text, size_t len, const char *passphrase_fd)
{
	struct passphrase p = {NULL, 0};
	enum identity_file_kind kind;
	unsigned line = 1;
	enum status st = identity_file_kind(&kind, text, len);

	if (st == ST_OK && kind == IDENTITY_FILE_ENCRYPTED) {
		st = passphrase_get(&p, name, passphrase_fd, path, false);
		if (st != ST_OK)
			return st; /* it has said why */
	}
	if (st == ST_OK)
		st = identity_file_read(id, text, len, p.text, p.len, &line);
	passphrase_clear(&p);
	if (st != ST_OK)
		explain_content(name, path, st, line);
	return st;
}

/* What is asked of a thread with a stack for secrets, and what came of it. */
struct loading {
	struct identity *id;
	const char *name, *path, *passphrase_fd;
	enum status st;
};

static void
load(void *arg, size_t i)
{
	struct loading *l = arg;
	char text[IDENTITY_FILE_MAX];
	size_t len;

	(void)i;
	l->st = file_read(text, sizeof(text), &len, l->path, FILE_OWNER);
	if (l->st != ST_OK)
		explain_file(l->name, l->path, l->st);
	else
		l->st = read_content(
		    l->id, l->name, l->path, text, len, l->passphrase_fd);
	wipe(text, sizeof(text));
}

enum status
identity_load(struct identity **id, const char *name, const char *path,
    const char *passphrase_fd)
{
	struct loading l = {
	    .name = name, .path = path, .passphrase_fd = passphrase_fd};
	void *memory;
	enum status st = secrets_alloc(&memory, sizeof(**id));

	*id = l.id = memory;
	if (st == ST_OK)
		st = secrets_run(load, &l, 1);
	if (st != ST_OK)
		secrets_say(name, st);
	else
		st = l.st;
	if (st != ST_OK) {
		identity_release(*id);
		*id = NULL;
	}
	return st;
}

void
identity_release(struct identity *id)
{
	secrets_free(id);
}
