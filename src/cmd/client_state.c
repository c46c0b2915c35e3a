#include "cmd/client_state.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "store/file.h"

#define TOKEN_BYTES 18
#define TOKEN_LENGTH 24 /* in base64 */
#define SECRET_MODE 0600

const char *const client_http_variables[] = {
    "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", NULL};
const char *const client_socks_variables[] = {"all_proxy", "ALL_PROXY", NULL};
const char *const client_no_variables[] = {"no_proxy", "NO_PROXY", NULL};

static enum status
say_errno(const char *name, const char *path)
{
	cli_error(name, "%s: %s", path, strerror(errno));
	return ST_SYS;
}

enum status
client_state_find(struct client_state *s, const char *name, const char *dir)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (dir != NULL)
		n = snprintf(s->dir, sizeof(s->dir), "%s", dir);
	else if (state != NULL && state[0] == '/')
		n = snprintf(s->dir, sizeof(s->dir), "%s/postern", state);
	else if (home != NULL && home[0] != '\0')
		n = snprintf(
		    s->dir, sizeof(s->dir), "%s/.local/state/postern", home);
	else {
		cli_error(name,
		    "neither HOME nor XDG_STATE_HOME is set (give "
		    "--state DIR)");
		return ST_MISSING;
	}
	if (n < 0 || n >= (int)sizeof(s->dir)) {
		cli_error(name, "--state: too long a path");
		return ST_BAD_LENGTH;
	}
	snprintf(s->token_path, sizeof(s->token_path), "%s/token", s->dir);
	snprintf(s->purse, sizeof(s->purse), "%s/proofs", s->dir);
	snprintf(s->env, sizeof(s->env), "%s/env", s->dir);
	snprintf(s->status, sizeof(s->status), "%s/status", s->dir);
	s->token[0] = '\0';
	return ST_OK;
}

/* Make DIR and what is above it. */
static bool
make_folders(const char *dir)
{
	char path[CLIENT_STATE_PATH];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *at = path + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			return false;
		*at = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

void
client_state_make_token(char out[static CLIENT_TOKEN_MAX + 1])
{
	uint8_t bytes[TOKEN_BYTES];

	randombytes_buf(bytes, sizeof(bytes));
	base64_encode(out, span_of(bytes, sizeof(bytes)), BASE64_URL);
	sodium_memzero(bytes, sizeof(bytes));
}

static enum status
read_token(struct client_state *s, const char *name)
{
	char text[CLIENT_TOKEN_MAX + 2];
	size_t len;
	enum status st =
	    file_read(text, sizeof(text), &len, s->token_path, FILE_OWNER);

	if (st == ST_SYS && errno == ENOENT) {
		client_state_make_token(s->token);
		st = file_create(
		    s->token_path, s->token, strlen(s->token), SECRET_MODE);
		return st == ST_OK ? ST_OK : say_errno(name, s->token_path);
	}
	if (st == ST_SYS)
		return say_errno(name, s->token_path);
	if (st == ST_PERMISSION) {
		cli_error(name,
		    "%s: open to others than its owner (chmod 600 "
		    "%s)",
		    s->token_path, s->token_path);
		return st;
	}
	len = st == ST_OK ? strcspn(text, "\n") : 0;
	/* It stands in URLs and on command lines. */
	if (len < 8 || len > CLIENT_TOKEN_MAX ||
	    strspn(text,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_") != len) {
		cli_error(name,
		    "%s: a token is 8 to 128 letters, digits, - and "
		    "_ (or remove it)",
		    s->token_path);
		return ST_BAD_VALUE;
	}
	memcpy(s->token, text, len);
	s->token[len] = '\0';
	return ST_OK;
}

enum status
client_state_open(struct client_state *s, const char *name)
{
	struct stat st;

	if (!make_folders(s->dir) || stat(s->dir, &st) != 0)
		return say_errno(name, s->dir);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		cli_error(name,
		    "%s: open to others than its owner (chmod 700 %s)", s->dir,
		    s->dir);
		return ST_PERMISSION;
	}
	return read_token(s, name);
}

void
client_state_urls(char http[static CLIENT_URL_MAX],
    char socks[static CLIENT_URL_MAX], const char *place, uint16_t port,
    const char *token)
{
	const char *colon = strrchr(place, ':');
	int len = colon != NULL ? (int)(colon - place) : (int)strlen(place);
	char login[CLIENT_TOKEN_MAX + 16] = "";

	if (token != NULL)
		snprintf(login, sizeof(login), "postern:%s@", token);
	snprintf(http, CLIENT_URL_MAX, "http://%s%.*s:%u", login, len, place,
	    (unsigned)port);
	snprintf(socks, CLIENT_URL_MAX, "socks5h://%s%.*s:%u", login, len,
	    place, (unsigned)port);
}
