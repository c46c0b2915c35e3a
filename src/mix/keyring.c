#include "mix/keyring.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"
#include "mix/key_file.h"

#define PATH_MAX_BYTES 256

/* The path of the file KIND ("key", "seen") of the key of FROM. */
static void
path_of(char out[static PATH_MAX_BYTES], const struct keyring *k,
    const char *kind, int64_t from)
{
	snprintf(
	    out, PATH_MAX_BYTES, "%s/%s-%" PRId64, k->config.dir, kind, from);
}

static void
entry_close(struct keyring_entry *e)
{
	seen_close(&e->seen);
	wipe(e, sizeof(*e));
}

/* Open the journal of E, whose key is set. */
static enum status
open_seen(struct keyring *k, struct keyring_entry *e)
{
	char path[PATH_MAX_BYTES];
	bool file = k->config.dir != NULL;
	enum status st;

	if (file)
		path_of(path, k, "seen", e->from);
	st = seen_open(
	    &e->seen, file ? path : NULL, e->key.id, k->config.capacity);
	if (st != ST_OK && file)
		memcpy(k->problem, path, sizeof(path));
	return st;
}

/* The key of FROM, from its file; FROM 0 is the identity. */
static enum status
load(struct keyring *k, struct keyring_entry *e, int64_t from)
{
	char path[PATH_MAX_BYTES];
	enum status st;

	e->from = from;
	e->key = k->config.identity;
	if (from != 0) {
		path_of(path, k, "key", from);
		st = key_file_load(&e->key, path, FILE_OWNER);
		if (st != ST_OK) {
			memcpy(k->problem, path, sizeof(path));
			return st;
		}
	}
	return open_seen(k, e);
}

/* A new key for the epoch that begins after NOW. */
static enum status
make_next(struct keyring *k, struct keyring_entry *e, int64_t now)
{
	char path[PATH_MAX_BYTES];
	uint8_t secret[SPHINX_KEY_SIZE];
	enum status st;

	e->from = (now / k->config.epoch + 1) * k->config.epoch;
	randombytes_buf(secret, sizeof(secret));
	sphinx_key_make(&e->key, secret);
	wipe(secret, sizeof(secret));
	path_of(path, k, "key", e->from);
	st = key_file_create(path, &e->key);
	if (st == ST_DUPLICATE) /* made before the clock was set back */
		return load(k, e, e->from);
	if (st != ST_OK) {
		memcpy(k->problem, path, sizeof(path));
		return st;
	}
	return open_seen(k, e);
}

static void
remove_files(const struct keyring *k, int64_t from)
{
	char path[PATH_MAX_BYTES];

	/* One that can not be removed is tried again at the next start. */
	path_of(path, k, "key", from);
	(void)!unlink(path);
	path_of(path, k, "seen", from);
	(void)!unlink(path);
}

/* What the state folder has, in the roles of NOW; -1: none. */
struct inventory {
	int64_t from[KEY_ROLES];
};

/* The FROM of a key file's name; -1 for any other name. */
static int64_t
from_of(const char *name)
{
	uint64_t from;

	if (strncmp(name, "key-", 4) != 0 ||
	    decimal_u64(&from, span_str(name + 4), INT64_MAX) != ST_OK)
		return -1;
	return (int64_t)from;
}

/* Whether CANDIDATE is nearer to now than BEST on its side. */
static void
take_inventory(struct inventory *inv, int64_t from, int64_t now)
{
	int64_t *current = &inv->from[KEY_CURRENT];
	int64_t *old = &inv->from[KEY_OLD], *next = &inv->from[KEY_NEXT];

	if (from > now) {
		if (*next < 0 || from < *next)
			*next = from;
	} else if (from > *current) {
		*old = *current;
		*current = from;
	} else if (from > *old && from < *current) {
		*old = from;
	}
}

/* Remove the files of keys that have no role any more. */
static enum status
walk(struct keyring *k, struct inventory *inv, int64_t now, bool clean)
{
	DIR *d = opendir(k->config.dir);
	struct dirent *item;

	if (d == NULL) {
		snprintf(k->problem, sizeof(k->problem), "%s", k->config.dir);
		return ST_SYS;
	}
	while ((item = readdir(d)) != NULL) {
		int64_t from = from_of(item->d_name);
		if (from <= 0)
			continue;
		if (!clean)
			take_inventory(inv, from, now);
		else if (from < inv->from[KEY_CURRENT] &&
		    from != inv->from[KEY_OLD])
			remove_files(k, from);
	}
	closedir(d);
	return ST_OK;
}

/* The old key's grace is over. */
static bool
grace_is_over(const struct keyring *k, int64_t current_from, int64_t now)
{
	return now - current_from >= k->config.grace;
}

static enum status
open_rotating(struct keyring *k, int64_t now)
{
	struct inventory inv = {{0, -1, -1}};
	enum status st = walk(k, &inv, now, false);

	if (st != ST_OK)
		return st;
	if (inv.from[KEY_OLD] >= 0 &&
	    grace_is_over(k, inv.from[KEY_CURRENT], now)) {
		remove_files(k, inv.from[KEY_OLD]);
		inv.from[KEY_OLD] = -1;
	}
	st = load(k, &k->entry[KEY_CURRENT], inv.from[KEY_CURRENT]);
	if (st == ST_OK && inv.from[KEY_OLD] >= 0)
		st = load(k, &k->entry[KEY_OLD], inv.from[KEY_OLD]);
	if (st == ST_OK)
		st = inv.from[KEY_NEXT] >= 0
		    ? load(k, &k->entry[KEY_NEXT], inv.from[KEY_NEXT])
		    : make_next(k, &k->entry[KEY_NEXT], now);
	if (st == ST_OK)
		st = walk(k, &inv, now, true);
	return st;
}

enum status
keyring_open(
    struct keyring *k, const struct keyring_config *config, int64_t now)
{
	char problem[sizeof(k->problem)];
	enum status st;

	memset(k, 0, sizeof(*k));
	k->config = *config;
	st = config->epoch > 0 && config->dir != NULL
	    ? open_rotating(k, now)
	    : load(k, &k->entry[KEY_CURRENT], 0);
	if (st != ST_OK) {
		memcpy(problem, k->problem, sizeof(problem));
		keyring_close(k);
		memcpy(k->problem, problem, sizeof(problem));
	}
	return st;
}

void
keyring_close(struct keyring *k)
{
	int error = errno;

	for (int i = 0; i < KEY_ROLES; i++)
		entry_close(&k->entry[i]);
	wipe(k, sizeof(*k));
	errno = error;
}

enum status
keyring_tick(struct keyring *k, bool *changed, int64_t now)
{
	struct keyring_entry *e = k->entry, after = {.seen = NULL};
	enum status st;

	*changed = false;
	if (e[KEY_OLD].seen != NULL &&
	    grace_is_over(k, e[KEY_CURRENT].from, now)) {
		remove_files(k, e[KEY_OLD].from);
		entry_close(&e[KEY_OLD]);
	}
	if (e[KEY_NEXT].seen == NULL || now < e[KEY_NEXT].from)
		return ST_OK;
	/* The one after it first: without it nothing changes. */
	st = make_next(k, &after, now);
	if (st != ST_OK) {
		entry_close(&after);
		return st;
	}
	if (e[KEY_OLD].seen != NULL)
		remove_files(k, e[KEY_OLD].from);
	entry_close(&e[KEY_OLD]);
	e[KEY_OLD] = e[KEY_CURRENT];
	e[KEY_CURRENT] = e[KEY_NEXT];
	e[KEY_NEXT] = after;
	wipe(&after, sizeof(after));
	*changed = true;
	return ST_OK;
}
