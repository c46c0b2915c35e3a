/* client/door.h: one gateway as its member sees it: what it says of itself, the
 * member list, and the proofs for it.
 *
 *	facts     /.well-known/postern, asked for at the start, when a proof is
 *	          refused, and now and then while the gateway is in use
 *	roster    the member list and our path in it, loaded when the facts name
 *	          no root that we have
 *	proofs    made ahead: at once for this epoch, and for the next one before
 *	          the turn, for the slots that have been used
 *
 * Each step needs the one before, runs in the background, and ends in a
 * trouble or in the next; a trouble is kept for a while, so that a crowd of
 * connections does not ask the same question again and again, and tried again
 * when somebody asks after that.
 *
 * What the gateway says is not believed where it could hurt: the epoch has to
 * be that of our clock, the message that of the onion address, and scopes are
 * computed here (client/facts.h).
 */
#ifndef CLIENT_DOOR_H
#define CLIENT_DOOR_H

#include "client/client.h"
#include "client/facts.h"
#include "client/fetch.h"
#include "client/purse.h"
#include "client/roster.h"
#include "client/trouble.h"

struct roster_job;
struct mint_job;

/* Proofs being made for a door at once. */
#define DOOR_MINTS_MAX 32
#define DOOR_WHY_MAX 320

/* What the gateway said is left of a slot's quota. */
struct door_left {
	bool known;
	uint16_t slot;
	uint64_t epoch, remaining;
};

struct door {
	struct client *client;
	const struct client_gateway *conf;
	unsigned index;
	uint8_t key[32], message[32];

	struct facts facts;
	bool has_facts, stale; /* stale: they are to be asked for again */
	uint64_t facts_at; /* loop_now */
	struct fetch *fetch;

	struct roster roster;
	bool has_roster, loading;
	char *list; /* the text that is being read; NULL: a file or URL */
	size_t group; /* of the facts: whose list is tried */

	enum trouble trouble;
	char why[DOOR_WHY_MAX]; /* the trouble in a sentence */
	uint64_t retry_at;
	unsigned failures; /* in a row */

	uint64_t down_until; /* the gateway itself can not be used */
	unsigned downs; /* in a row */

	struct {
		uint64_t epoch;
		uint16_t slot;
	} mints[DOOR_MINTS_MAX];
	unsigned n_mints;
	uint8_t used[EPOCH_SLOTS_MAX / 8]; /* slots of used_epoch, as bits */
	uint64_t used_epoch;
	uint64_t used_at; /* loop_now; 0: not yet */
	bool told_few; /* that its members are few */
	bool opened; /* there has been a proof: ready() was told */
	struct door_left left[8]; /* of the slots that came last */
	unsigned next_left;

	struct deadline tick;
};

/* Set up D for gateway number INDEX and start asking. */
void door_open(struct door *d, struct client *c, unsigned index);

/* Stop asking. The workers may still read d->list until they are joined. */
void door_close(struct door *d);

/* Release what is left, once the workers are joined. */
void door_clear(struct door *d);

/* A proof for HOST now.
 * Out:     *proof, good until the purse changes; its *slot. On ST_MORE and
 *          ST_BUSY NULL.
 * Returns: ST_OK; ST_MORE: it is on its way, ask again when the client's
 *          errands are woken; ST_BUSY: there is a trouble, d->trouble. */
enum status door_proof(struct door *d, const struct purse_proof **proof,
    uint16_t *slot, span_t host) WARN_UNUSED;

/* The gateway refused the proof for SLOT that was made for ROOT: drop it, unless
 * there is another by now, and ask what is new. */
void door_refused(struct door *d, uint16_t slot, const uint8_t root[static 32]);

/* The gateway works, or can not be used for SECONDS (0: for a time that grows
 * with each). */
void door_up(struct door *d);
void door_down(struct door *d, uint64_t seconds);
bool door_is_down(const struct door *d);

/* The gateway told what is left: LEFT requests for SLOT. */
void door_told(struct door *d, uint16_t slot, uint64_t left);

/* A worker has read a list, or made a proof. */
void door_list_done(struct door *d, struct roster_job *job);
void door_mint_done(struct door *d, struct mint_job *job);

/* Now, Unix seconds; the epoch of D's gateway. */
uint64_t door_epoch(const struct door *d);

#endif
