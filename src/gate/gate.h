/* gate/gate.h: the decision who may pass, without the network around it.
 *
 * A request goes through in three calls, each on the loop thread and none of
 * them blocking, in the order of checks of the design: cheap before dear, and
 * nothing leaves the box before the proof holds.
 *
 *	gate_screen   credential present -> token canonical -> epoch accepted
 *	              -> message right -> root known -> verified before? If so,
 *	              within quota (a look, nothing is counted; not for a ledger
 *	              elsewhere).
 *	              Gives a ticket: a plain value with the decoded proof.
 *	(a worker)    semaphore_verify(ticket.proof), unless ticket.verdict is
 *	              VERDICT_ACCEPT already.
 *	gate_settle   verdict -> epoch and root still accepted -> remember the
 *	              proof -> check the quota and count, in one step.
 *	              Gives a grant: what is left, the tunnel, and the record
 *	              that must be durable before the client is served.
 *
 * A ticket reserves nothing: nothing that a bad proof can do uses up a
 * member's quota or finds out how much of it is left, and of any number of good ones that race not one more
 * passes than the quota has. When the record can not be made durable,
 * gate_refund takes the count back and the client is refused.
 *
 * Time, randomness and memory are arguments. Status values that end a request
 * here have their answers in base/status.c. Threads: the loop; the ticket's
 * proof may be copied to a worker.
 */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "gate/audience.h"
#include "gate/epoch.h"
#include "gate/ledger.h"
#include "gate/member.h"
#include "gate/now.h"
#include "gate/pending.h"
#include "gate/proof_cache.h"
#include "gate/quota.h"
#include "gate/roots.h"
#include "gate/verdict.h"
#include "postern/attr.h"
#include "postern/semaphore.h"
#include "postern/status.h"

/* A group of no members: what passes by it passes once (gate_once). */
#define GATE_ONCE ROOT_GROUPS_MAX
#define GATE_ONCE_ID 16

/* How long counts of an epoch that is out of reach are kept, in ms: longer
 * than a wrong clock is likely to go unnoticed. */
#define GATE_HOLD_DEFAULT (60 * 60 * 1000)

struct gate_config {
	struct epoch_rules epoch;
	struct audience audience;
	uint64_t root_keep; /* ms; see gate/roots.h */
	uint64_t hold, floor; /* see gate/ledger.h */
	struct ledger_memory memory;
	size_t ledger_chunks; /* ceiling, all epochs together */
	uint32_t roots; /* capacity; at least 2 * ROOT_GROUPS_MAX */
	uint32_t cached; /* members whose proofs are cached */
	uint32_t checks; /* pending at one time */
	uint32_t sessions; /* largest slot of a session's handle */
	uint8_t member_key[MEMBER_KEY]; /* from the journal, or random */
	uint8_t secret[32]; /* random, for this process: the keys of digests
			     * and tables are derived from it */
};

struct gate {
	struct audience audience;
	struct epoch_book book;
	struct roots roots;
	struct ledger ledger;
	bool counts_elsewhere; /* the ledger is a copy of one elsewhere */
	struct proof_cache cache;
	struct pending pending;
	/* Zero: nothing passes. The last is GATE_ONCE's. */
	struct quota_limits limits[ROOT_GROUPS_MAX + 1];
	uint8_t member_key[MEMBER_KEY];
	uint8_t digest_key[PROOF_DIGEST_KEY];
};

/* What a request has shown: a plain value, without pointers. Zeroed, it is a
 * ticket with which gate_settle lets nobody pass. */
struct gate_ticket {
	enum verdict verdict; /* ACCEPT: verified before. NONE: check it */
	struct semaphore_proof proof; /* with message and scope */
	proof_digest_t digest;
	member_t member;
	uint32_t root; /* serial */
	uint16_t group;
	uint16_t slot;
};

/* An open tunnel's account: a plain value that the session keeps. Zeroed: no
 * tunnel, and closing it does nothing. */
struct gate_tunnel {
	member_t member;
	uint16_t group;
	bool open;
	uint64_t unnoted_up, unnoted_down; /* bytes since the ledger's record
					    * last heard of this one */
};

struct gate_grant {
	struct gate_tunnel tunnel;
	struct quota_left left;
	struct ledger_record record;
};

/* Bytes of memory that gate_init wants for CONFIG. */
size_t gate_memory(const struct gate_config *config);

/* Set up G over MEMORY (aligned for any object, alive as long as G). No root
 * is known yet and every group's limits are zero: nobody passes.
 * Returns: ST_OK; ST_BAD_VALUE (the epoch's rules, a capacity of zero). */
enum status gate_init(
    struct gate *g, const struct gate_config *config, void *memory) WARN_UNUSED;

/* Give the ledger's chunks back and wipe the keys. */
void gate_clear(struct gate *g);

/* Set the limits of GROUP, below ROOT_GROUPS_MAX; they hold from now on, for
 * members who have been here too. */
void gate_set_limits(
    struct gate *g, uint16_t group, const struct quota_limits *limits);

/* Screen one request.
 * In:      credential and token, as http/head.h has them: ST_OK with a token,
 *          or why there is none.
 * Out:     *t; zero unless ST_OK, but for the group with the ST_QUOTA_
 *          statuses. *fault: for ST_CREDENTIAL_BAD, where the token is wrong
 *          and why (semaphore_fault_text); else zero.
 *          *left: for the ST_QUOTA_ statuses; else zero.
 * Returns: ST_OK; CREDENTIAL, when it is not ST_OK; ST_CREDENTIAL_BAD;
 *          ST_SCOPE_UNKNOWN;
 *          ST_EPOCH_PAST; ST_EPOCH_FUTURE; ST_MESSAGE_WRONG; ST_ROOT_UNKNOWN;
 *          ST_QUOTA_REQUESTS, _TUNNELS, _BYTES, _RATE (of a proof that was
 *          verified before); ST_NO_MEMORY (the JSON reader). */
enum status gate_screen(struct gate *g, struct gate_ticket *t,
    struct semaphore_fault *fault, struct quota_left *left,
    enum status credential, span_t token, now_t now) WARN_UNUSED;

/* Settle a ticket with the verdict on its proof: count the request and open
 * the tunnel. Once for each request, also when several shared one check.
 * Out:     *grant; unless ST_OK, without tunnel and record; left is set for
 *          ST_OK and the ST_QUOTA_ statuses.
 * Returns: ST_OK: counted, and to be served once grant->record is durable.
 *          ST_PROOF_INVALID for every verdict but VERDICT_ACCEPT;
 *          ST_EPOCH_PAST, ST_EPOCH_FUTURE, ST_ROOT_UNKNOWN (no more accepted
 *          by now); ST_QUOTA_*; ST_LEDGER_FULL. */
enum status gate_settle(struct gate *g, struct gate_grant *grant,
    const struct gate_ticket *t, enum verdict verdict, now_t now) WARN_UNUSED;

/* A request that somebody on its way could keep and deliver again (through the
 * mixnet) brings an ID of its own, which nobody else has. Before T is settled,
 * settle what this makes of it: it is counted under the ID's name, in the same
 * epoch of the same ledger, and a second time is ST_QUOTA_REQUESTS. Close its
 * tunnel at once. */
struct gate_ticket gate_once(const struct gate *g, const struct gate_ticket *t,
    const uint8_t id[static GATE_ONCE_ID]);

/* The two parts of gate_settle, for a ledger that counts elsewhere. The first
 * is what comes before the count.
 * Returns: ST_OK; ST_PROOF_INVALID; ST_EPOCH_PAST, ST_EPOCH_FUTURE;
 *          ST_ROOT_UNKNOWN. */
enum status gate_approve(struct gate *g, const struct gate_ticket *t,
    enum verdict verdict, now_t now) WARN_UNUSED;

/* The second is the count itself, in G's own ledger.
 * Out:     *grant, as gate_settle.
 * Returns: ST_OK; ST_QUOTA_*; ST_EPOCH_PAST; ST_LEDGER_FULL. */
enum status gate_count(struct gate *g, struct gate_grant *grant,
    const member_t *member, uint16_t group, now_t now) WARN_UNUSED;

/* Take over what a ledger elsewhere, which several gateways share, says of a
 * request that gate_approve let through. Here G's own ledger is a copy: of
 * requests, bytes and rate what was heard last, of tunnels its own.
 * In:      u, what the member has used at all gateways together, this request
 *          included if it was counted; full_at is on NOW's clock.
 *          cause, ST_OK if it was counted, else why it may not pass.
 * Out:     *grant, as gate_settle.
 * Returns: CAUSE; or, after ST_OK, why it can not be kept here and the count
 *          is to be taken back: ST_EPOCH_PAST, ST_LEDGER_FULL,
 *          ST_QUOTA_TUNNELS. */
enum status
gate_adopt(struct gate *g, struct gate_grant *grant, const member_t *member,
    uint16_t group, const usage_t *u, enum status cause, now_t now) WARN_UNUSED;

/* The same ledger says what MEMBER has used by now. */
void gate_hear(struct gate *g, const member_t *member, const usage_t *u);

/* Take a grant back whose record could not be made durable. Its tunnel is
 * closed. */
void gate_refund(struct gate *g, struct gate_tunnel *tunnel);

/* How many bytes a tunnel carries before the journal hears of it again. */
#define GATE_NOTE_BYTES (UINT64_C(4) << 20)

/* A tunnel has carried bytes.
 * Out:     *record and *note: true when the journal should hear of it now
 *          (nobody waits for that).
 * Returns: ST_OK; else close it: ST_QUOTA_BYTES (more than the quota);
 *          ST_EPOCH_PAST (there is a quota of bytes, and the epoch's accounts
 *          are closed: nothing is left to count on). */
enum status gate_tunnel_add(struct gate *g, struct gate_tunnel *tunnel,
    struct ledger_record *record, bool *note, uint64_t up,
    uint64_t down) WARN_UNUSED;

/* A tunnel has closed; it is no tunnel afterwards. Also for one whose target
 * was refused or not reached: the request stays counted.
 * Out:     *record, to be noted if the result is true. */
bool gate_tunnel_close(
    struct gate *g, struct gate_tunnel *tunnel, struct ledger_record *record);

/* To be called every second or so: ends an epoch, forgets expired roots, gives
 * memory back in small steps.
 * Out:     *closed: the epoch whose counts are gone.
 * Returns: true if there is one: the journal must hear of it. */
bool gate_tick(struct gate *g, uint64_t *closed, now_t now);

#endif
