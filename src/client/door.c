#include "client/door.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/client_impl.h"

#define WELL_KNOWN_PATH "/.well-known/postern"

/* A trouble is kept for so long, doubled each time. */
#define RETRY_MS 2000
#define RETRY_MAX_MS 60000
/* Likewise a gateway that can not be reached. */
#define DOWN_MS 5000
#define DOWN_MAX_MS 300000

/* While it is in use, the gateway is asked again after this long. */
#define FRESH_MS 600000
/* How often the clock is looked at. */
#define TICK_MS 15000
/* The next epoch's proofs are made so long before the turn, at most. */
#define LEAD_SECONDS 600
/* Clocks of two machines may differ by this much at the turn. */
#define SKEW_SECONDS 120
/* Fewer members than this hide nobody well; a longer epoch than this (s) joins
 * what a member does on several days. Both are the gateway's to choose, and the
 * member's to know. */
#define MEMBERS_FEW 8
#define EPOCH_LONG 86400
/* Up to so many slots have their proofs made at the start. */
#define EAGER_SLOTS 8

static uint64_t
unix_now(const struct door *d)
{
	int64_t ms = loop_wall(d->client->loop);

	return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

uint64_t
door_epoch(const struct door *d)
{
	return epoch_at(&d->facts.rules, unix_now(d));
}

/* --- troubles --------------------------------------------------------------- */

static uint64_t
backed_off(uint64_t first, uint64_t most, unsigned times)
{
	uint64_t ms = first << (times < 10 ? times : 10);

	return ms < most ? ms : most;
}

static void
in_trouble(struct door *d, enum trouble t, const char *detail)
{
	const struct trouble_info *info = trouble_info(t);
	bool news = d->trouble != t;

	d->trouble = t;
	snprintf(d->why, sizeof(d->why), "%s%s%s", info->text,
	    *detail != '\0' ? ": " : "", detail);
	d->retry_at = loop_now(d->client->loop) +
	    backed_off(RETRY_MS, RETRY_MAX_MS, d->failures++);
	if (news)
		client_note(d->client, NOTE_PROBLEM, "%.16s...: %s (%s)",
		    d->conf->onion, d->why, info->cure);
	client_changed(d->client);
}

static void
out_of_trouble(struct door *d)
{
	d->trouble = TROUBLE_NONE;
	d->why[0] = '\0';
	d->failures = 0;
}

/* In a trouble that is not to be tried again yet. */
static bool
is_resting(const struct door *d)
{
	return d->trouble != TROUBLE_NONE &&
	    loop_now(d->client->loop) < d->retry_at;
}

bool
door_is_down(const struct door *d)
{
	return loop_now(d->client->loop) < d->down_until;
}

void
door_up(struct door *d)
{
	d->down_until = 0;
	d->downs = 0;
}

void
door_down(struct door *d, uint64_t seconds)
{
	uint64_t ms = seconds != 0 && seconds < DOWN_MAX_MS / 1000
	    ? seconds * 1000
	    : backed_off(DOWN_MS, DOWN_MAX_MS, d->downs++);

	d->down_until = loop_now(d->client->loop) + ms;
}

/* --- proofs ----------------------------------------------------------------- */

/* The roster leads to a root that the gateway takes. */
static bool
roster_serves(const struct door *d)
{
	return d->has_roster && d->roster.member &&
	    facts_find_root(&d->facts, d->roster.root) != NULL;
}

static bool
is_minting(const struct door *d, uint64_t epoch, uint16_t slot)
{
	for (unsigned i = 0; i < d->n_mints; i++) {
		if (d->mints[i].epoch == epoch && d->mints[i].slot == slot)
			return true;
	}
	return false;
}

/* A proof for EPOCH and SLOT that serves. */
static const struct purse_proof *
find_proof(const struct door *d, uint64_t epoch, uint16_t slot)
{
	const struct purse_proof *p;
	uint8_t scope[32];

	epoch_scope(scope, &d->facts.rules, epoch, slot);
	p = purse_find(&d->client->purse, d->key, scope);
	return p != NULL && facts_find_root(&d->facts, p->root) != NULL ? p
									: NULL;
}

/* Have a proof made, unless it is there, or on its way, or all hands are full
 * (then whoever wants it asks again). */
static void
want_proof(struct door *d, uint64_t epoch, uint16_t slot)
{
	struct client *c = d->client;
	const struct facts *f = &d->facts;
	const struct purse_proof *had = find_proof(d, epoch, slot);
	struct mint_job job = {0};

	/* One for a root that is on its way out serves, and is replaced. */
	if (is_minting(d, epoch, slot) || d->n_mints == DOOR_MINTS_MAX ||
	    (had != NULL && memcmp(had->root, d->roster.root, 32) == 0))
		return;
	job.path = d->roster.path;
	job.depth = d->roster.depth;
	job.epoch = epoch;
	job.slot = slot;
	job.ends = epoch_end(&f->rules, epoch) + f->rules.grace;
	job.compact = memcmp(f->message, d->message, 32) == 0;
	epoch_scope(job.scope, &f->rules, epoch, slot);
	memcpy(job.message, d->message, 32);
	if (pool_submit(c->minters, NULL, 0, (handle_t){d->index + 1, 0}, &job,
		sizeof(job)) != ST_OK)
		return;
	d->mints[d->n_mints].epoch = epoch;
	d->mints[d->n_mints++].slot = slot;
	if (epoch == door_epoch(d))
		client_note(c, NOTE_PROGRESS, "making the proof for %.16s...",
		    d->conf->onion);
}

static void
not_minting(struct door *d, uint64_t epoch, uint16_t slot)
{
	for (unsigned i = 0; i < d->n_mints; i++) {
		if (d->mints[i].epoch != epoch || d->mints[i].slot != slot)
			continue;
		d->mints[i] = d->mints[--d->n_mints];
		return;
	}
}

void
door_mint_done(struct door *d, struct mint_job *job)
{
	struct client *c = d->client;
	struct purse_proof proof = {.ends = job->ends, .token = job->token};
	enum status st = job->status;

	not_minting(d, job->epoch, job->slot);
	memcpy(proof.gateway, d->key, 32);
	memcpy(proof.scope, job->scope, 32);
	memcpy(proof.root, job->path.root, 32);
	if (st == ST_OK)
		st = purse_put(&c->purse, &proof, unix_now(d));
	if (st == ST_SYS && c->purse.path != NULL) {
		client_note(c, NOTE_PROBLEM,
		    "%s: can not be written; proofs are kept in memory only",
		    c->purse.path);
		st = ST_OK;
	}
	if (st != ST_OK) {
		in_trouble(d, TROUBLE_MINT, status_text(st));
		return;
	}
	out_of_trouble(d);
	d->opened = true;
	client_note(c, NOTE_PROGRESS,
	    "made the proof for %.16s... in %" PRIu64 " ms", d->conf->onion,
	    job->ns / 1000000);
	client_changed(c);
}

static bool
was_used(const struct door *d, unsigned slot)
{
	return (d->used[slot / 8] >> (slot % 8) & 1) != 0;
}

static void
note_use(struct door *d, uint64_t epoch, uint16_t slot)
{
	if (d->used_epoch != epoch) {
		memset(d->used, 0, sizeof(d->used));
		d->used_epoch = epoch;
	}
	d->used[slot / 8] |= (uint8_t)(1u << (slot % 8));
	d->used_at = loop_now(d->client->loop);
}

/* Make proofs ahead of their use: for this epoch, and for the next one when
 * that is near. */
static void
mint_ahead(struct door *d)
{
	const struct epoch_rules *r = &d->facts.rules;
	uint64_t epoch = door_epoch(d), now = unix_now(d);
	uint64_t lead =
	    r->length / 10 < LEAD_SECONDS ? r->length / 10 : LEAD_SECONDS;
	bool turn = epoch_end(r, epoch) - now <= lead;

	for (unsigned slot = 0; slot < r->slots; slot++) {
		bool used = d->used_epoch == epoch && was_used(d, slot);
		if (!used && r->slots > EAGER_SLOTS)
			continue;
		want_proof(d, epoch, (uint16_t)slot);
		if (turn)
			want_proof(d, epoch + 1, (uint16_t)slot);
	}
}

/* --- the member list -------------------------------------------------------- */

static void
submit_list(struct door *d)
{
	struct client *c = d->client;
	struct roster_job job = {0};
	char tor[ENDPOINT_TEXT_MAX], circuit[SITE_CIRCUIT_MAX];
	uint64_t random;

	memcpy(job.commitment, c->config.commitment, 32);
	job.text = d->list;
	job.len = d->list != NULL ? strlen(d->list) : 0;
	endpoint_format(tor, &c->config.tor);
	randombytes_buf(&random, sizeof(random));
	site_circuit(circuit, random, 0);
	snprintf(
	    job.proxy, sizeof(job.proxy), "socks5h://%s:x@%s", circuit, tor);
	if (pool_submit(c->readers, NULL, 0, (handle_t){d->index + 1, 0}, &job,
		sizeof(job)) != ST_OK) {
		free(d->list);
		d->list = NULL;
		d->loading = false;
		in_trouble(d, TROUBLE_BUSY, "");
	}
}

static void
list_fetched(void *owner, enum trouble why, const char *detail, unsigned code,
    char *body, size_t len)
{
	struct door *d = owner;

	(void)len; /* no list has a NUL in it: it would not be read either */
	d->fetch = NULL;
	if (why == TROUBLE_NONE && code != 200)
		why = TROUBLE_NO_LIST;
	if (why != TROUBLE_NONE) {
		free(body);
		d->loading = false;
		in_trouble(d, why, detail);
		return;
	}
	d->list = body;
	submit_list(d);
}

/* Get the list: the operator's of the gateway, or the one we were told of. */
static void
load_list(struct door *d)
{
	struct client *c = d->client;
	const struct facts *f = &d->facts;

	if (d->loading)
		return;
	client_note(c, NOTE_PROGRESS, "reading the member list for %.16s...",
	    d->conf->onion);
	if (c->config.own_list) {
		d->loading = true;
		submit_list(d);
		return;
	}
	while (d->group < f->n_groups &&
	    f->groups[d->group].members_path[0] == '\0')
		d->group++;
	if (d->group >= f->n_groups) {
		d->group = 0;
		in_trouble(d, TROUBLE_NO_LIST, "");
		return;
	}
	if (fetch_start(&d->fetch, c, d->conf->onion, d->conf->port,
		f->groups[d->group].members_path, ROSTER_TEXT_MAX, list_fetched,
		d) != ST_OK)
		in_trouble(d, TROUBLE_BUSY, "");
	else
		d->loading = true;
}

/* The list's root is not one of the gateway's. */
static void
list_is_old(struct door *d)
{
	/* It may have changed between the two documents: ask for both again,
	 * once the pause for the trouble is over. */
	d->stale = true;
	in_trouble(d, TROUBLE_OLD_LIST, "");
}

/* Once, and again when there have been enough meanwhile. */
static void
warn_of_few(struct door *d)
{
	bool few = d->roster.members < MEMBERS_FEW;

	if (few && !d->told_few)
		client_note(d->client, NOTE_PROBLEM,
		    "%.16s... has %" PRIu64
		    " members: so few hide each other badly",
		    d->conf->onion, d->roster.members);
	d->told_few = few;
}

void
door_list_done(struct door *d, struct roster_job *job)
{
	free(d->list);
	d->list = NULL;
	d->loading = false;
	if (job->status != ST_OK) {
		in_trouble(d, TROUBLE_LIST, job->why);
		return;
	}
	d->roster = job->roster;
	d->has_roster = true;
	if (!d->has_facts)
		return;
	if (!d->roster.member) {
		/* There may be another group, with us in it. */
		d->has_roster = false;
		d->group++;
		if (!d->client->config.own_list &&
		    d->group < d->facts.n_groups) {
			load_list(d);
			return;
		}
		d->group = 0;
		d->stale = true;
		in_trouble(d, TROUBLE_NOT_MEMBER, "");
		return;
	}
	if (!roster_serves(d)) {
		list_is_old(d);
		return;
	}
	warn_of_few(d);
	out_of_trouble(d);
	mint_ahead(d);
	client_changed(d->client);
}

/* --- what the gateway says of itself ---------------------------------------- */

/* Our clock and the gateway's are in the same epoch, or near a turn. */
static bool
clock_agrees(struct door *d)
{
	const struct epoch_rules *r = &d->facts.rules;
	uint64_t now = unix_now(d), ours = epoch_at(r, now);
	uint64_t theirs = d->facts.epoch;
	char why[128];

	if (theirs == ours ||
	    (theirs + 1 == ours && now - epoch_begin(r, ours) < SKEW_SECONDS) ||
	    (theirs == ours + 1 && epoch_end(r, ours) - now < SKEW_SECONDS))
		return true;
	snprintf(why, sizeof(why),
	    "its epoch is %" PRIu64 ", ours %" PRIu64 ", of %u seconds", theirs,
	    ours, (unsigned)r->length);
	in_trouble(d, TROUBLE_CLOCK, why);
	return false;
}

/* Scopes that are the same make the same nullifiers: two gateways could put
 * together what a member does at each. The remedy is theirs, not ours. */
static void
warn_of_twins(const struct door *d)
{
	struct client *c = d->client;
	const struct epoch_rules *r = &d->facts.rules;

	for (unsigned i = 0; i < c->config.n_gateways; i++) {
		const struct door *o = &c->doors[i];
		if (o == d || !o->has_facts ||
		    o->facts.rules.length != r->length ||
		    (o->facts.rules.slots > 1) != (r->slots > 1) ||
		    strcmp(o->facts.rules.realm, r->realm) != 0)
			continue;
		client_note(c, NOTE_PROBLEM,
		    "%.16s... and %.16s... see the same nullifiers, and could "
		    "tell that you use both (ask their operators to set "
		    "different realms)",
		    o->conf->onion, d->conf->onion);
	}
}

static void
warn_of_epoch(const struct door *d)
{
	uint32_t length = d->facts.rules.length;

	if (length > EPOCH_LONG)
		client_note(d->client, NOTE_PROBLEM,
		    "%.16s... sees the same nullifier for %u hours, and can "
		    "join what you do in that time",
		    d->conf->onion, (unsigned)(length / 3600));
}

/* What the gateway says can be used: its clock and its audience are what they
 * have to be. Else that is the trouble. */
static bool
facts_agree(struct door *d)
{
	const struct facts *f = &d->facts;
	char text[DECIMAL_MAX];

	if (!clock_agrees(d))
		return false;
	if (f->any_message || memcmp(f->message, d->message, 32) == 0)
		return true;
	decimal_encode(text, f->message);
	in_trouble(d, TROUBLE_AUDIENCE, text);
	return false;
}

/* There are new facts: see to what they ask for. */
static void
use_facts(struct door *d)
{
	struct client *c = d->client;
	const struct facts_root *root =
	    d->has_roster ? facts_find_root(&d->facts, d->roster.root) : NULL;
	const struct purse_proof *kept =
	    d->facts.rules.slots == 1 ? find_proof(d, door_epoch(d), 0) : NULL;

	if (!d->has_facts) {
		warn_of_twins(d);
		warn_of_epoch(d);
	}
	d->has_facts = true;
	d->stale = false;
	d->facts_at = loop_now(c->loop);
	door_up(d);
	if (!d->has_roster && kept != NULL &&
	    facts_find_root(&d->facts, kept->root)->current) {
		/* From an earlier run: the list can wait. */
		d->opened = true;
	} else if (root == NULL || !root->current || !roster_serves(d)) {
		load_list(d);
		return;
	} else {
		mint_ahead(d);
	}
	out_of_trouble(d);
	client_changed(c);
}

static void
facts_fetched(void *owner, enum trouble why, const char *detail, unsigned code,
    char *body, size_t len)
{
	struct door *d = owner;
	const char *where = "";
	struct facts f;
	char words[96];
	enum status st;

	d->fetch = NULL;
	if (why == TROUBLE_NONE && code != 200)
		why = code == 404 ? TROUBLE_NO_FACTS : TROUBLE_NOT_GATEWAY;
	if (why != TROUBLE_NONE) {
		door_down(d, 0);
		in_trouble(d, why, detail);
		return;
	}
	st = facts_read(&f, &where, body, len);
	free(body);
	if (st != ST_OK) {
		snprintf(words, sizeof(words), "%s%s%s", where,
		    *where != '\0' ? ": " : "", status_text(st));
		in_trouble(d, TROUBLE_NOT_GATEWAY, words);
		return;
	}
	d->facts = f;
	if (facts_agree(d))
		use_facts(d);
}

static void
ask_facts(struct door *d)
{
	if (d->fetch != NULL || d->loading)
		return;
	client_note(d->client, NOTE_PROGRESS, "asking %.16s... through tor",
	    d->conf->onion);
	if (fetch_start(&d->fetch, d->client, d->conf->onion, d->conf->port,
		WELL_KNOWN_PATH, FACTS_TEXT_MAX, facts_fetched, d) != ST_OK)
		in_trouble(d, TROUBLE_BUSY, "");
}

/* --- what others want of it -------------------------------------------------- */

enum status
door_proof(struct door *d, const struct purse_proof **proof, uint16_t *slot,
    span_t host)
{
	uint64_t epoch;

	*proof = NULL;
	*slot = 0;
	if (d->has_facts && !d->stale) {
		epoch = door_epoch(d);
		*slot = site_slot(
		    d->client->purse.secret, epoch, host, d->facts.rules.slots);
		*proof = find_proof(d, epoch, *slot);
		if (*proof != NULL) {
			note_use(d, epoch, *slot);
			return ST_OK;
		}
	}
	if (is_resting(d))
		return ST_BUSY;
	if (d->fetch != NULL || d->loading)
		return ST_MORE;
	if (!d->has_facts || d->stale)
		ask_facts(d);
	else if (!roster_serves(d))
		load_list(d);
	else
		want_proof(d, door_epoch(d), *slot);
	return is_resting(d) ? ST_BUSY : ST_MORE;
}

void
door_refused(struct door *d, uint16_t slot, const uint8_t root[static 32])
{
	const struct purse_proof *p;
	uint8_t scope[32];

	epoch_scope(scope, &d->facts.rules, door_epoch(d), slot);
	/* Many are refused at once when a root moves: the first has seen to
	 * it. */
	p = purse_find(&d->client->purse, d->key, scope);
	if (p != NULL && memcmp(p->root, root, 32) != 0)
		return;
	purse_drop(&d->client->purse, d->key, scope);
	d->stale = true;
	if (!is_resting(d))
		ask_facts(d);
}

void
door_told(struct door *d, uint16_t slot, uint64_t left)
{
	const unsigned n = sizeof(d->left) / sizeof(d->left[0]);
	unsigned i = 0;

	while (i < n && !(d->left[i].known && d->left[i].slot == slot))
		i++;
	if (i == n)
		i = d->next_left++ % n;
	d->left[i] = (struct door_left){true, slot, door_epoch(d), left};
}

/* --- time --------------------------------------------------------------------- */

static void
on_tick(struct deadline *t)
{
	struct door *d = loop_owner(t, struct door, tick);
	struct client *c = d->client;
	uint64_t now = loop_now(c->loop), next = TICK_MS;
	bool in_use = d->used_at != 0 && now - d->used_at < FRESH_MS;

	if (!is_resting(d) && d->fetch == NULL && !d->loading) {
		/* A trouble is tried again by itself until the way has been
		 * open once; then when somebody asks. */
		if (!d->has_facts || d->stale) {
			if (!d->opened || in_use)
				ask_facts(d);
		} else if (in_use && now - d->facts_at > FRESH_MS) {
			ask_facts(d);
		} else if (!roster_serves(d)) {
			if (!d->opened || in_use)
				load_list(d);
		} else {
			mint_ahead(d);
		}
	}
	if (d->has_facts && d->facts.rules.length < 40 * TICK_MS / 1000)
		next = d->facts.rules.length * 25; /* a 40th of the epoch */
	if (d->trouble != TROUBLE_NONE && d->retry_at > now &&
	    d->retry_at - now < next)
		next = d->retry_at - now;
	deadline_start(c->loop, &d->tick, next);
}

void
door_open(struct door *d, struct client *c, unsigned index)
{
	d->client = c;
	d->index = index;
	d->conf = &c->config.gateways[index];
	/* The address has been checked when it was read. */
	if (onion_decode(d->key, span_str(d->conf->onion)) != ST_OK)
		memset(d->key, 0, sizeof(d->key));
	memcpy(d->message, c->config.has_audience ? c->config.audience : d->key,
	    32);
	deadline_init(&d->tick, on_tick);
	deadline_start(c->loop, &d->tick, TICK_MS);
	ask_facts(d);
}

void
door_close(struct door *d)
{
	deadline_stop(d->client->loop, &d->tick);
	fetch_cancel(&d->fetch);
}

void
door_clear(struct door *d)
{
	free(d->list);
	d->list = NULL;
}
