#include "daemon/gateway.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/admin.h"
#include "daemon/ctl.h"
#include "daemon/gateway_impl.h"
#include "daemon/log.h"
#include "daemon/mix_gate.h"
#include "daemon/session.h"
#include "daemon/tor_link.h"
#include "daemon/well_known.h"

#define TICK_MS 1000
/* While it drains, how often it is looked whether it is done. */
#define DRAIN_TICK_MS 50
/* The socket of a unix listener is for tor's user, who may be another; the
 * folder says who gets there. */
#define SOCKET_MODE 0666

/* --- the end --- */

static void
stop(struct gateway *g)
{
	if (g->phase == GATEWAY_OVER)
		return;
	g->phase = GATEWAY_OVER;
	loop_stop(g->loop);
}

static void
close_listeners(struct gateway *g)
{
	for (size_t i = 0; i < g->listeners_n; i++)
		listener_free(&g->listeners[i]);
	g->listeners_n = 0;
}

static void
drain_ended(struct deadline *d)
{
	stop(loop_owner(d, struct gateway, drain_end));
}

void
gateway_drain(struct gateway *g)
{
	if (g->phase == GATEWAY_DRAINING || g->phase == GATEWAY_STARTING) {
		stop(g);
		return;
	}
	if (g->phase != GATEWAY_OPEN)
		return;
	g->phase = GATEWAY_DRAINING;
	supervisor_stopping(&g->supervisor);
	LOG(EV_DRAINING, log_number(KEY_TUNNELS, g->tunnels),
	    log_number(KEY_SECONDS, g->config->run.drain_ms / 1000));
	close_listeners(g);
	sessions_drain(g);
	deadline_start(g->loop, &g->drain_end, g->config->run.drain_ms);
	deadline_start(g->loop, &g->tick, DRAIN_TICK_MS);
}

static void
tick(struct deadline *d)
{
	struct gateway *g = loop_owner(d, struct gateway, tick);
	bool draining = g->phase == GATEWAY_DRAINING;

	gateway_tick(g);
	supervisor_tick(&g->supervisor, loop_now(g->loop));
	if (draining && g->sessions.used == 0) {
		log_plain(EV_DRAINED);
		stop(g);
	}
	deadline_start(g->loop, d, draining ? DRAIN_TICK_MS : TICK_MS);
}

/* --- signals --- */

static void
on_term(struct trap *t, int signo)
{
	(void)signo;
	gateway_drain(loop_owner(t, struct gateway, on_term));
}

static void
on_int(struct trap *t, int signo)
{
	(void)signo;
	gateway_drain(loop_owner(t, struct gateway, on_int));
}

static void
on_hup(struct trap *t, int signo)
{
	(void)signo;
	gateway_hang_up(loop_owner(t, struct gateway, on_hup));
}

static enum status
set_traps(struct gateway *g)
{
	enum status st = trap_start(&g->on_term, g->loop, SIGTERM, on_term);

	if (st != ST_OK)
		return st;
	if ((st = trap_start(&g->on_int, g->loop, SIGINT, on_int)) != ST_OK) {
		trap_stop(&g->on_term);
		return st;
	}
	if ((st = trap_start(&g->on_hup, g->loop, SIGHUP, on_hup)) != ST_OK) {
		trap_stop(&g->on_term);
		trap_stop(&g->on_int);
		return st;
	}
	g->traps = true;
	return ST_OK;
}

/* --- the beginning --- */

static void
store_ready(struct watch *w, unsigned what)
{
	struct gateway *g = loop_owner(w, struct gateway, store_watch);

	(void)what;
	ledger_store_dispatch(g->store);
}

static void
flush_store(struct task *t)
{
	ledger_store_flush(loop_owner(t, struct gateway, store_flush)->store);
}

/* Some have no descriptor, and answer from the loop by themselves. */
static enum status
watch_store(struct gateway *g)
{
	int fd = ledger_store_fd(g->store);
	enum status st;

	if (fd < 0)
		return ST_OK;
	watch_init(&g->store_watch, g->loop, fd, store_ready);
	st = watch_start(&g->store_watch, WATCH_READ);
	g->watching_store = st == ST_OK;
	return st;
}

static const struct membership_ops membership_ops = {
    .staged = gateway_staged,
    .changed = gateway_members_changed,
};

enum status
gateway_new(struct gateway **gateway, struct config *config,
    char *const *overrides, size_t n, struct findings *f)
{
	struct gateway *g = calloc(1, sizeof(*g));
	enum status st;

	*gateway = g;
	if (g == NULL) {
		config_unref(&config);
		findings_add(f, FINDING_ERROR, (struct place){"process", 0}, "",
		    "out of memory");
		return ST_BAD_VALUE;
	}
	g->config = config;
	g->supervisor.fd = -1;
	g->overrides = overrides;
	g->overrides_n = n;
	deadline_init(&g->tick, tick);
	deadline_init(&g->drain_end, drain_ended);
	task_init(&g->store_flush, flush_store);
	st = gateway_make(g, f);
	if (st == ST_OK)
		st = membership_new(&g->membership, g->loop, &g->gate.roots,
		    &membership_ops, g);
	if (st == ST_OK)
		st = watch_store(g);
	if (st == ST_OK)
		st = set_traps(g);
	if (st == ST_OK)
		return ST_OK;
	if (f->errors == 0)
		findings_add(f, FINDING_ERROR, (struct place){"process", 0}, "",
		    "%s", st == ST_SYS ? strerror(errno) : status_text(st));
	gateway_free(gateway);
	return ST_BAD_VALUE;
}

/* How LS, which TEXT asked for, is to be called: with its port when the kernel
 * chose it. */
static void
name_listener(char out[static 128], const struct listener *ls, const char *text)
{
	size_t n = strlen(text);

	if (n > 2 && strcmp(text + n - 2, ":0") == 0)
		snprintf(out, 128, "%.*s:%u", (int)(n - 2), text,
		    (unsigned)listener_port(ls));
	else
		snprintf(out, 128, "%s", text);
}

/* Read the member files before anybody can come. */
static enum status
read_members(struct gateway *g, struct findings *f)
{
	enum status st = gateway_stage(g, config_ref(g->config));

	while (st == ST_OK && g->next != NULL && g->phase != GATEWAY_OVER)
		st = loop_turn(g->loop, 1000);
	if (st != ST_OK) {
		findings_add(f, FINDING_ERROR, (struct place){"process", 0}, "",
		    "members can not be read: %s",
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return st;
	}
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		const struct seat *seat = membership_seat(g->membership, i);
		char why[ROLL_FAULT_MAX];
		if (seat == NULL || seat->fault.status == ST_OK)
			continue;
		/* A root that is too old is followed up while we run. */
		bool old = seat->fault.status == ST_LIFETIME;
		findings_add(f, old ? FINDING_WARNING : FINDING_ERROR,
		    (struct place){seat->path, 0},
		    old ? "nobody of this group passes until it is newer"
			: "mend the file, see `postern group`",
		    "%s", roll_fault_text(why, &seat->fault));
		if (!old)
			st = ST_BAD_VALUE;
	}
	return st;
}

static enum status
open_listener(
    struct gateway *g, const struct text_item *item, struct findings *f)
{
	struct listener_config lc = {
	    .mode = SOCKET_MODE,
	    .reserve = (unsigned)g->config->limits.reserve,
	    .accepted = session_accept,
	    .arg = g,
	};
	char path[108], place[128];
	enum status st = listener_parse(&lc, path, span_str(item->text));

	if (st == ST_OK)
		st = listener_new(&g->listeners[g->listeners_n], g->loop, &lc);
	if (st != ST_OK) {
		findings_add(f, FINDING_ERROR,
		    (struct place){g->config->path, item->line},
		    st == ST_SYS && errno == EADDRINUSE
			? "is another gateway running? Else give another port"
			: "",
		    "can not listen at %s: %s", item->text,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return st;
	}
	name_listener(place, g->listeners[g->listeners_n++], item->text);
	LOG(EV_LISTENING, log_words(KEY_PLACE, place));
	return ST_OK;
}

/* The listeners of the configuration, or those that were handed over. */
static enum status
open_listeners(struct gateway *g, struct findings *f)
{
	const struct text_list *listen = &g->config->gateway.listen;
	unsigned handed = g->supervisor.listeners;
	char name[SUPERVISOR_NAME_MAX];
	struct text_item item = {.text = name};
	enum status st = ST_OK;

	if (handed > GATEWAY_LISTENERS_MAX) {
		findings_add(f, FINDING_ERROR, (struct place){"environment", 0},
		    "hand fewer over", "LISTEN_FDS: %u sockets, at most %u",
		    handed, GATEWAY_LISTENERS_MAX);
		return ST_BAD_VALUE;
	}
	for (unsigned i = 0; i < handed && st == ST_OK; i++) {
		supervisor_name(name, i);
		st = open_listener(g, &item, f);
	}
	for (size_t i = 0; i < listen->n && handed == 0 && st == ST_OK; i++)
		st = open_listener(g, &listen->items[i], f);
	return st;
}

static void
log_walls(const struct gateway *g)
{
	char list[SANDBOX_LIST_MAX];

	sandbox_list(list, &g->sandbox);
	LOG(EV_WALLS, log_words(KEY_WHAT, list));
}

enum status
gateway_start(struct gateway *g, struct findings *f)
{
	enum status st = read_members(g, f);

	if (st == ST_OK)
		st = gateway_make_verifiers(g, f);
	if (st == ST_OK)
		st = open_listeners(g, f);
	if (st == ST_OK)
		st = mix_gate_new(&g->mix, g, f);
	if (st == ST_OK)
		st = admin_new(&g->admin, g, f);
	if (st == ST_OK)
		st = ctl_new(&g->ctl, g, f);
	/* All threads run and all sockets listen. */
	if (st == ST_OK)
		st = sandbox_seal(&g->sandbox, g->config, f);
	if (st != ST_OK)
		return ST_BAD_VALUE;
	g->started = loop_wall(g->loop) / 1000;
	g->epoch = epoch_at(&g->gate.book.rules, gateway_now(g).wall);
	if (g->phase == GATEWAY_STARTING)
		g->phase = GATEWAY_OPEN;
	deadline_start(g->loop, &g->tick, TICK_MS);
	log_walls(g);
	LOG(EV_READY, log_number(KEY_GROUPS, g->config->groups_n),
	    log_number(KEY_SESSIONS, g->sessions.capacity));
	supervisor_ready(&g->supervisor);
	return ST_OK;
}

enum status
gateway_run(struct gateway *g)
{
	enum status st = ST_OK;

	if (g->phase != GATEWAY_OVER)
		st = loop_run(g->loop);
	log_plain(EV_STOPPED);
	return st;
}

/* --- freeing --- */

/* Close what lives on the loop. */
static void
close_all(struct gateway *g)
{
	deadline_stop(g->loop, &g->tick);
	deadline_stop(g->loop, &g->drain_end);
	if (g->traps) {
		trap_end(&g->on_term);
		trap_end(&g->on_int);
		trap_end(&g->on_hup);
	}
	close_listeners(g);
	ctl_free(&g->ctl);
	admin_free(&g->admin);
	mix_gate_free(&g->mix);
	if (g->session_memory != NULL)
		sessions_close(g, ST_DRAINING);
	loop_settle(g->loop);
	pool_free(&g->verifiers);
	membership_free(&g->membership);
	tor_link_free(&g->tor);
	resolver_free(&g->resolver);
	dialer_free(&g->dialer);
	if (g->watching_store)
		watch_stop(&g->store_watch);
	task_drop(&g->store_flush);
	ledger_store_free(&g->store);
	relay_free(&g->relay);
	loop_settle(g->loop);
	loop_free(&g->loop);
}

void
gateway_free(struct gateway **gateway)
{
	struct gateway *g = *gateway;

	*gateway = NULL;
	if (g == NULL)
		return;
	if (g->loop != NULL)
		close_all(g);
	supervisor_close(&g->supervisor);
	well_known_stale(g);
	chunk_pool_clear(&g->chunks);
	key_maker_clear(&g->key_maker);
	if (g->gate_made)
		gate_clear(&g->gate);
	free(g->gate_memory);
	free(g->circuits_memory);
	free(g->session_memory);
	free(g->session_slots);
	policy_set_clear(&g->policies);
	policy_set_clear(&g->next_policies);
	own_addresses_clear(&g->own);
	config_unref(&g->next);
	config_unref(&g->config);
	free(g);
}
