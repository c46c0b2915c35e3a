/* client/purse.h: the proofs that have been made, and what goes with them, in
 * memory and in a file.
 *
 * A proof is good for its epoch; making it again after a restart would only
 * cost time, but the choice of slots must survive one, or a site would meet a
 * second nullifier on the same day and count as two members' work. So the file
 * keeps the proofs and a secret that slots, gateways and circuits follow from.
 *
 * It is a secret file (0600, in a folder of the user's): whoever has it can use
 * up the quota of the epoch and see which slot a site has. It does not hold the
 * identity. What belongs to another identity than ours is dropped when it is
 * read; what is over is dropped before it is written.
 *
 * A proof is found by gateway and scope; the root it was made for tells
 * whether it still serves. Threads: one at a time. Writing the file blocks for
 * the time of a sync, some milliseconds once an epoch and slot.
 */
#ifndef CLIENT_PURSE_H
#define CLIENT_PURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/site.h"
#include "postern/attr.h"
#include "postern/semaphore.h"
#include "postern/status.h"

/* Proofs at most: the oldest makes room. */
#define PURSE_MAX 1024

/* Longest token: the JSON form of an official proof. */
#define PURSE_TOKEN_MAX 2048

struct purse_proof {
	uint8_t gateway[32]; /* the key in its onion address */
	uint8_t scope[32];
	uint8_t root[32];
	uint64_t ends; /* when its epoch does, Unix seconds */
	char *token;
};

struct purse {
	char *path; /* of the file; NULL: in memory only */
	uint8_t commitment[32]; /* whose proofs */
	uint8_t secret[SITE_SECRET_LENGTH];
	struct purse_proof *proofs;
	size_t n, cap;
};

/* Open the purse in the file at PATH (copied; NULL: none) for the member with
 * COMMITMENT. A file that is damaged or somebody else's is begun anew.
 * Returns: ST_OK; ST_NO_MEMORY; ST_PERMISSION (others may read the file). */
enum status purse_open(struct purse *p, const char *path,
    const uint8_t commitment[static 32]) NONNULL_ARGS(1, 3) WARN_UNUSED;

/* Wipe and release. */
void purse_close(struct purse *p) NONNULL;

/* The proof for SCOPE at GATEWAY; NULL when there is none. Good until the next
 * change. */
const struct purse_proof *purse_find(const struct purse *p,
    const uint8_t gateway[static 32], const uint8_t scope[static 32]) NONNULL;

/* Put in a proof, in the place of one that there may be, and write the file.
 * In:      token, a string, copied. now: what has ended before it is dropped.
 * Returns: ST_OK; ST_BAD_LENGTH (of the token); ST_NO_MEMORY; ST_SYS (it could
 *          not be written; the proof is there all the same). */
enum status purse_put(struct purse *p, const struct purse_proof *proof,
    uint64_t now) NONNULL WARN_UNUSED;

/* Take the proof for SCOPE at GATEWAY out: the gateway refuses it. */
void purse_drop(struct purse *p, const uint8_t gateway[static 32],
    const uint8_t scope[static 32]) NONNULL;

#endif
