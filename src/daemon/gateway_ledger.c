/* The making of the gate, with the ledger that the configuration asks for: in
 * memory, in a journal, or one that several gateways share. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "daemon/gateway_impl.h"
#include "daemon/log.h"
#include "daemon/session.h"
#include "store/journal.h"
#include "store/local_store.h"
#include "store/secret_file.h"
#include "store/shared_store.h"

/* Roots that are accepted at a time: for each group the current one and up to
 * so many that it replaced. */
#define ROOTS_PER_GROUP 32

static void *
take_chunk(void *ctx)
{
	void *chunk = mmap(NULL, LEDGER_CHUNK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx;
	return chunk == MAP_FAILED ? NULL : chunk;
}

static void
give_chunk(void *ctx, void *chunk)
{
	(void)ctx;
	/* Tags of members were in it; the system wipes pages before it gives
	 * them to anybody. */
	munmap(chunk, LEDGER_CHUNK);
}

/* --- a journal, or none --- */

static enum status
open_journal(struct journal **j, struct gateway *g,
    const struct epoch_rules *rules, struct findings *f)
{
	const struct config *c = g->config;
	char why[JOURNAL_WHY_MAX];
	struct journal_options o = {
	    .path = c->ledger.journal,
	    .sync = c->ledger.sync == SYNC_ALWAYS ? JOURNAL_SYNC_ALWAYS
						  : JOURNAL_SYNC_INTERVAL,
	    .interval = (uint32_t)c->ledger.interval_ms,
	    .queue = (uint32_t)c->limits.sessions,
	};
	enum status st;

	*j = NULL;
	if (c->ledger.journal == NULL)
		return ST_OK;
	journal_identity(o.identity, g->audience.message, rules);
	st = journal_open(j, &o, why);
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "ledger", "journal"), "", "%s", why);
	return st;
}

static void
log_journal(const struct journal_replayed *r)
{
	LOG(EV_JOURNAL_OPENED, log_number(KEY_ENTRIES, r->records));
	if (r->torn != 0)
		LOG(EV_JOURNAL_TORN, log_number(KEY_BYTES, r->torn));
}

static enum status
make_local(struct gateway *g, struct journal *journal, struct findings *f)
{
	const struct config *c = g->config;
	char why[JOURNAL_WHY_MAX] = "";
	struct journal_replayed replayed = {0};
	enum status st = local_store_new(&g->store, &replayed, &g->gate,
	    journal, (uint32_t)c->limits.sessions, session_settled, g, why);

	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "ledger", "journal"), "", "%s",
		    why[0] != '\0' ? why : status_text(st));
	else if (c->ledger.journal != NULL)
		log_journal(&replayed);
	return st;
}

/* --- a shared one --- */

enum status
gateway_shared_key(
    uint8_t key[static MEMBER_KEY], const struct config *c, struct findings *f)
{
	const char *path = c->ledger.shared_key_file;
	enum status st = secret_file_load(key, path, FILE_OWNER);

	_Static_assert(MEMBER_KEY == SECRET_SIZE, "a key is 32 bytes");
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "ledger", "shared_key_file"),
		    st == ST_SYS || st == ST_PERMISSION
			? file_cure(st, FILE_OWNER)
			: "make one with postern ledger key",
		    "%s: %s", path, file_problem(st, FILE_OWNER));
	return st;
}

enum status
gateway_shared_link(struct redis_link_config *out,
    struct shared_place places[static REDIS_LINK_PLACES], char **password,
    size_t *password_len, const struct config *c, struct findings *f)
{
	const char *why;
	enum status st = file_password(password, password_len,
	    c->ledger.shared_password_file,
	    config_place(c, NULL, "ledger", "shared_password_file"), f);

	*out = (struct redis_link_config){
	    .places = places,
	    .places_n = c->ledger.shared.n,
	    .user = c->ledger.shared_user,
	    .password = *password,
	    .ca_file = c->ledger.shared_ca_file,
	    .timeout_ms = (unsigned)c->ledger.shared_timeout_ms,
	};
	/* config_check has seen that they can be read, and how many. */
	for (size_t i = 0; i < out->places_n && st == ST_OK; i++)
		st = shared_place_parse(
		    &places[i], &why, c->ledger.shared.items[i].text);
	return st;
}

static enum status
make_shared(struct gateway *g, struct findings *f)
{
	const struct config *c = g->config;
	struct shared_place places[REDIS_LINK_PLACES];
	struct shared_store_config sc = {
	    .prefix = c->ledger.shared_prefix,
	    .timeout_ms = (unsigned)c->ledger.shared_timeout_ms,
	    .replicas = (uint32_t)c->ledger.shared_replicas,
	    .fall_back = c->ledger.unreachable == UNREACHABLE_LOCAL,
	    .pending = (uint32_t)c->limits.sessions,
	};
	char why[REDIS_LINK_WHY_MAX], *password;
	size_t len;
	enum status st =
	    gateway_shared_link(&sc.link, places, &password, &len, c, f);

	if (st == ST_OK) {
		st = shared_store_new(
		    &g->store, g->loop, &g->gate, &sc, session_settled, g, why);
		if (st != ST_OK)
			findings_add(f, FINDING_ERROR,
			    config_place(c, NULL, "ledger", "shared"),
			    "see postern check", "%s", why);
	}
	if (password != NULL)
		wipe(password, len);
	free(password);
	return st;
}

/* --- the gate --- */

static void
gate_config(struct gate_config *out, const struct gateway *g)
{
	const struct config *c = g->config;

	*out = (struct gate_config){
	    .audience = g->audience,
	    .root_keep = c->gateway.root_lifetime_ms,
	    .hold = GATE_HOLD_DEFAULT,
	    .memory = {take_chunk, give_chunk, NULL},
	    .ledger_chunks = (size_t)(c->ledger.memory / LEDGER_CHUNK),
	    .roots = ROOTS_PER_GROUP * ROOT_GROUPS_MAX,
	    .cached = (uint32_t)c->limits.cache,
	    .checks = (uint32_t)c->limits.queue,
	    .sessions = (uint32_t)c->limits.sessions,
	};
	gateway_epoch_rules(&out->epoch, c);
	randombytes_buf(out->secret, sizeof(out->secret));
	randombytes_buf(out->member_key, sizeof(out->member_key));
}

enum status
gateway_make_gate(struct gateway *g, struct findings *f)
{
	const struct config *c = g->config;
	bool shared = c->ledger.shared.n > 0;
	struct journal *journal = NULL;
	struct gate_config gc;
	enum status st;

	gate_config(&gc, g);
	if (shared)
		st = gateway_shared_key(gc.member_key, c, f);
	else
		st = open_journal(&journal, g, &gc.epoch, f);
	if (st != ST_OK) {
		wipe(&gc, sizeof(gc));
		return st;
	}
	if (journal != NULL) {
		journal_member_key(gc.member_key, journal);
		gc.floor = journal_floor(journal);
	}
	g->gate_memory = aligned_alloc(64, (gate_memory(&gc) + 63) / 64 * 64);
	st = g->gate_memory == NULL ? ST_NO_MEMORY
				    : gate_init(&g->gate, &gc, g->gate_memory);
	wipe(&gc, sizeof(gc));
	if (st != ST_OK) {
		journal_close(&journal, NULL, NULL);
		findings_add(f, FINDING_ERROR, (struct place){c->path, 0}, "",
		    "the gate can not be made: %s", status_text(st));
		return st;
	}
	g->gate_made = true;
	return shared ? make_shared(g, f) : make_local(g, journal, f);
}
