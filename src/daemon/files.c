#include "daemon/files.h"

#include <errno.h>
#include <string.h>

const char *
file_problem(enum status st, enum file_access access)
{
	if (st == ST_SYS)
		return strerror(errno);
	if (st == ST_NO_SPACE)
		return "too large";
	if (st == ST_PERMISSION)
		return access == FILE_OWNER
		    ? "others may read it or write to it"
		    : "anyone may write to it";
	return status_text(st);
}

const char *
file_cure(enum status st, enum file_access access)
{
	if (st == ST_PERMISSION)
		return access == FILE_OWNER ? "chmod 600" : "chmod o-w";
	if (st == ST_SYS && errno == ENOENT)
		return "make it, or name another";
	if (st == ST_SYS && errno == EACCES)
		return "let the gateway's user read it";
	return "name another";
}

enum status
file_read_onion(char name[static ONION_LENGTH + 1], uint8_t key[static 32],
    const char *path)
{
	char text[256];
	size_t len;
	enum status st =
	    file_read(text, sizeof(text), &len, path, FILE_GUARDED);

	memset(name, 0, ONION_LENGTH + 1);
	memset(key, 0, 32);
	if (st != ST_OK)
		return st;
	len = strcspn(text, "\r\n");
	st = onion_decode(key, span_of(text, len));
	if (st == ST_OK)
		memcpy(name, text, len);
	return st;
}

#define PASSWORD_FILE_MAX 1024

enum status
file_password(char **password, size_t *len, const char *path,
    struct place where, struct findings *f)
{
	enum status st;

	*password = NULL;
	*len = 0;
	if (path == NULL)
		return ST_OK;
	st = file_load(password, len, path, PASSWORD_FILE_MAX, FILE_OWNER);
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR, where, file_cure(st, FILE_OWNER),
		    "%s: %s", path, file_problem(st, FILE_OWNER));
	else
		(*password)[strcspn(*password, "\r\n")] = '\0';
	return st;
}
