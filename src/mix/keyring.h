/* mix/keyring.h: a node's packet keys, one after the other.
 *
 * Without rotation there is one: the node's long-lived key, its id. With it, a
 * key serves for an epoch: the next one is made and announced (the registry's
 * `key` and `next`) a whole epoch before its turn, and the one before is still
 * taken for a grace time after its end, for packets that are under way. Then
 * it is forgotten and its files removed, so that who takes the machine later
 * can not open what was recorded earlier.
 *
 * In the state folder: key-FROM and seen-FROM for each key, FROM being the
 * moment (Unix seconds) of its turn; FROM 0 is the long-lived key, which has
 * its file elsewhere. A node that was off for longer than an epoch goes on
 * with the last key that it announced.
 *
 * Blocking, but only where keys change. Threads: the loop.
 */
#ifndef MIX_KEYRING_H
#define MIX_KEYRING_H

#include "mix/seen.h"

struct keyring_config {
	sphinx_key_t identity;
	const char *dir; /* NULL: no journals, and no rotation */
	int64_t epoch; /* seconds; 0: no rotation */
	int64_t grace; /* seconds */
	uint64_t capacity; /* of each key's filter */
};

/* A key and what has been opened with it. */
struct keyring_entry {
	sphinx_key_t key;
	int64_t from;
	struct seen *seen; /* NULL: there is no such key at present */
};

enum keyring_role { KEY_CURRENT, KEY_OLD, KEY_NEXT, KEY_ROLES };

struct keyring {
	struct keyring_config config;
	struct keyring_entry entry[KEY_ROLES];
	char problem[256]; /* the file that an error is about */
};

/* Load the keys, or make those that are missing.
 * Returns: ST_OK; as seen_open and key_file_load. K->problem names the file;
 *          K is clear then but for that. */
enum status keyring_open(struct keyring *k, const struct keyring_config *config,
    int64_t now) NONNULL WARN_UNUSED;

/* Wipe and close; the files stay. */
void keyring_close(struct keyring *k) NONNULL;

/* Let time pass: turn when the next key's moment has come, forget the old one
 * when its grace is over. To be called now and then.
 * Out:     *changed: there is something new to announce.
 * Returns: ST_OK; as keyring_open: then the keys are as before. */
enum status
keyring_tick(struct keyring *k, bool *changed, int64_t now) NONNULL WARN_UNUSED;

#endif
