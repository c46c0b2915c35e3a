/* The making of a gateway: each part, in the order in which they need each
 * other, and what went wrong in the operator's words. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wipe.h"
#include "daemon/admin.h"
#include "daemon/buffer.h"
#include "daemon/ctl.h"
#include "daemon/files.h"
#include "daemon/gateway_impl.h"
#include "daemon/log.h"
#include "daemon/onion_key_file.h"
#include "daemon/privilege.h"
#include "daemon/session.h"
#include "daemon/tor_link.h"

/* LoadCredential of conf/postern.service. */
#define ONION_CREDENTIAL "onion"
#define KEY_FILE_MAX (1 << 20)
#define CHUNKS_KEPT 256
#define PIPES_MAX 256

/* --- what the gate needs to know --- */

void
gateway_epoch_rules(struct epoch_rules *out, const struct config *c)
{
	*out = (struct epoch_rules){
	    .length = (uint32_t)(c->gateway.epoch_ms / 1000),
	    .grace = (uint32_t)(c->gateway.grace_ms / 1000),
	    .early = (uint32_t)(c->gateway.early_ms / 1000),
	    .slots = (uint32_t)c->gateway.slots,
	};
	if (c->gateway.realm != NULL)
		memcpy(out->realm, c->gateway.realm,
		    strnlen(c->gateway.realm, EPOCH_REALM_MAX));
}

enum status
gateway_read_audience(struct audience *a, char onion[static ONION_LENGTH + 1],
    const struct config *c, bool make, struct findings *f)
{
	struct place where = config_place(c, NULL, "gateway", "onion");
	const char *text = c->gateway.audience, *name = c->gateway.onion;
	char given[PATH_MAX] = "";
	uint8_t key[32];
	enum status st = ST_OK;

	onion[0] = '\0';
	if (make && name != NULL)
		supervisor_credential(given, ONION_CREDENTIAL);
	if (name != NULL && name[0] == '/') {
		/* The unit's copy; it has another text where there is none. */
		st = given[0] != '\0' ? file_read_onion(onion, key, given)
				      : ST_NOT_FOUND;
		if (st != ST_OK)
			st = file_read_onion(onion, key, name);
		if (st != ST_OK) {
			findings_add(f, FINDING_ERROR, where,
			    st == ST_SYS
				? "is tor running, and may this user read its "
				  "folder? Or write the address itself"
				: "name the hostname file of the onion service",
			    "%s: %s", name, file_problem(st, FILE_GUARDED));
			return st;
		}
	} else if (name != NULL) {
		memcpy(onion, name, strnlen(name, ONION_LENGTH));
		onion[strnlen(name, ONION_LENGTH)] = '\0';
	} else if (c->tor.onion_key != NULL) {
		struct onion_key k;
		st = onion_key_load(&k, c, make, f);
		if (st != ST_OK)
			return st;
		onion_encode(onion, k.public_key);
		wipe(&k, sizeof(k));
	}
	if (strcmp(text, "onion") == 0)
		text = "";
	st = audience_parse(a, span_str(text), span_str(onion));
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR, where,
		    "see gateway.onion and gateway.audience",
		    "there is no audience: %s", status_text(st));
	return st;
}

void
gateway_circuit_limits(struct circuit_limits *out, const struct config *c)
{
	*out = (struct circuit_limits){
	    .connections = c->limits.circuit_connections,
	    .failures = c->limits.circuit_failures,
	    .rate = {c->limits.circuit_rate.count,
		c->limits.circuit_rate.period_ms},
	};
}

static enum status
make_circuits(struct gateway *g)
{
	uint32_t capacity = (uint32_t)g->config->limits.sessions;
	struct circuit_limits limits;
	uint8_t key[LRU_HASH_KEY];

	gateway_circuit_limits(&limits, g->config);
	randombytes_buf(key, sizeof(key));
	g->circuits_memory =
	    aligned_alloc(64, (circuits_memory(capacity) + 63) / 64 * 64);
	if (g->circuits_memory == NULL)
		return ST_NO_MEMORY;
	circuits_init(&g->circuits, g->circuits_memory, capacity, &limits, key);
	return ST_OK;
}

/* --- verification --- */

enum status
gateway_add_key(struct semaphore_keys *keys, const struct config *c,
    const struct text_item *item, struct findings *f)
{
	struct place where = {c->path, item->line};
	const char *colon = strchr(item->text, ':'), *member = "";
	uint64_t depth = 0;
	char *text;
	size_t len;
	enum status st = ST_BAD_ENCODING;

	if (colon != NULL)
		st = decimal_u64(&depth,
		    span_of(item->text, (size_t)(colon - item->text)), 32);
	if (st != ST_OK)
		return st; /* config_check has said so */
	st = file_load(&text, &len, colon + 1, KEY_FILE_MAX, FILE_GUARDED);
	if (st == ST_OK)
		st = semaphore_keys_set(
		    keys, (uint32_t)depth, text, len, &member);
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR, where,
		    "give the verification key of a Semaphore circuit of that "
		    "depth, as snarkjs writes it",
		    "%s: %s%s%s", colon + 1, member,
		    member[0] != '\0' ? ": " : "",
		    file_problem(st, FILE_GUARDED));
	free(text);
	return st;
}

/* Add the operator's own keys, for which the others must be there. */
static enum status
add_keys(struct gateway *g, struct findings *f)
{
	const struct text_list *list = &g->config->gateway.keys;
	struct semaphore_keys *keys;
	enum status st = ST_OK;

	if (list->n == 0)
		return ST_OK;
	if ((keys = key_maker_wait(&g->key_maker)) == NULL)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < list->n && st == ST_OK; i++)
		st = gateway_add_key(keys, g->config, &list->items[i], f);
	return st;
}

enum status
gateway_make_verifiers(struct gateway *g, struct findings *f)
{
	const struct config *c = g->config;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned workers = (unsigned)c->limits.workers;
	enum status st = add_keys(g, f);

	if (workers == 0)
		workers = processors > 0 ? (unsigned)processors : 1;
	if (st == ST_OK)
		st = session_pool_new(g, workers);
	if (st != ST_OK && f->errors == 0)
		findings_add(f, FINDING_ERROR, (struct place){"process", 0}, "",
		    "no proof can be checked: %s", status_text(st));
	return st;
}

/* --- the way out --- */

enum status
gateway_make_resolver(struct resolver **r, struct loop *l,
    const struct config *c, resolver_fn *fn, void *arg)
{
	const struct text_list *dns = &c->egress.dns;
	struct buffer servers = {0};
	struct resolver_config rc = {
	    .timeout_ms = (unsigned)c->egress.dns_timeout_ms / 2,
	    .tries = 2,
	    .deadline_ms = (unsigned)c->egress.dns_timeout_ms,
	    .capacity = (uint32_t)c->limits.sessions,
	};
	enum status st;

	for (size_t i = 0; i < dns->n; i++)
		buffer_format(
		    &servers, "%s%s", i > 0 ? "," : "", dns->items[i].text);
	rc.servers = dns->n > 0 ? servers.text : NULL;
	st = resolver_new(r, l, &rc, fn, arg);
	buffer_clear(&servers);
	return st;
}

static enum status
make_resolver(struct gateway *g, struct findings *f)
{
	enum status st = gateway_make_resolver(
	    &g->resolver, g->loop, g->config, session_resolved, g);

	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(g->config, NULL, "egress", "dns"),
		    "set egress.dns, or mend /etc/resolv.conf",
		    "no name server can be used: %s",
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

static enum status
make_dialer(struct gateway *g)
{
	const struct config *c = g->config;
	struct dialer_config dc = {
	    .capacity = (uint32_t)c->limits.sessions,
	    .attempt_ms = (unsigned)c->egress.connect_timeout_ms,
	    .timeout_ms = (unsigned)c->egress.connect_timeout_ms,
	    .stagger_ms = (unsigned)c->egress.race_delay_ms,
	};

	if (c->egress.per_destination != OPTION_UNLIMITED)
		dc.per_destination = (uint32_t)c->egress.per_destination;
	if (c->egress.source4 != NULL &&
	    ip4_parse(&dc.source4, span_str(c->egress.source4)) != ST_OK)
		return ST_BAD_VALUE;
	if (c->egress.source6 != NULL &&
	    ip6_parse(&dc.source6, span_str(c->egress.source6)) != ST_OK)
		return ST_BAD_VALUE;
	return dialer_new(&g->dialer, g->loop, &dc, session_dialed, g);
}

/* --- the rest --- */

static enum status
make_sessions(struct gateway *g)
{
	uint32_t n = (uint32_t)g->config->limits.sessions;

	g->session_memory = calloc(n, session_size());
	g->session_slots = calloc(n, sizeof(*g->session_slots));
	if (g->session_memory == NULL || g->session_slots == NULL)
		return ST_NO_MEMORY;
	slab_init(&g->sessions, g->session_memory, g->session_slots,
	    session_size(), n);
	return ST_OK;
}

static enum status
make_loop(struct gateway *g)
{
	uint32_t sessions = (uint32_t)g->config->limits.sessions;
	struct relay_config rc = {.pipes = PIPES_MAX};
	enum status st = loop_new(&g->loop);

	/* One to read into and one to write from for each session. */
	chunk_pool_init(&g->chunks, (uint32_t)g->config->limits.buffer,
	    2 * sessions, CHUNKS_KEPT);
	if (st == ST_OK)
		st = relay_new(&g->relay, g->loop, &g->chunks, &rc);
	return st;
}

/* The file matters where the audience is the key in it. */
static void
watch_onion(struct gateway *g)
{
	const struct config *c = g->config;
	bool matters = strcmp(c->gateway.audience, "onion") == 0 &&
	    c->gateway.onion != NULL && c->gateway.onion[0] == '/';

	onion_file_init(
	    &g->onion_file, matters ? c->gateway.onion : NULL, g->onion);
}

enum status
gateway_make(struct gateway *g, struct findings *f)
{
	size_t before = f->errors;
	enum status st = supervisor_open(&g->supervisor, f);

	if (st == ST_OK)
		st = gateway_read_audience(
		    &g->audience, g->onion, g->config, true, f);
	if (st == ST_OK)
		watch_onion(g);
	if (st == ST_OK)
		st = privilege_drop(g->config, f);
	if (st == ST_OK)
		st = sandbox_enter(&g->sandbox, g->config, f);
	if (st == ST_OK)
		st = key_maker_start(&g->key_maker);
	g->key_maker_at = &g->key_maker;
	if (st == ST_OK)
		st = make_loop(g);
	if (st == ST_OK)
		st = make_sessions(g);
	if (st == ST_OK)
		st = gateway_make_gate(g, f);
	if (st == ST_OK)
		st = make_circuits(g);
	if (st == ST_OK)
		st = make_resolver(g, f);
	if (st == ST_OK)
		st = make_dialer(g);
	if (st == ST_OK)
		st = policy_set_make(&g->policies, g->config);
	if (st == ST_OK)
		st = own_addresses_refresh(&g->own);
	if (st == ST_OK)
		st = tor_link_new(&g->tor, g, f);
	if (st != ST_OK && f->errors == before)
		findings_add(f, FINDING_ERROR,
		    (struct place){g->config->path, 0}, "",
		    "the gateway can not be made: %s",
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}
