/* daemon/gateway.h: the whole, and what its parts share.
 *
 * A gateway owns the loop and everything on it. Its parts are in files of
 * their own: sessions (session*.c), members (membership.h), metrics and health
 * (admin.h), the operator's socket (ctl.h). They reach each other through this
 * struct; nothing here is a global.
 *
 * Life:  gateway_new      everything is made and checked; nothing is open
 *        gateway_start    member files are read, listeners open
 *        gateway_run      until it is drained or stopped
 *        gateway_free     everything is closed, joined, freed
 *
 * Threads: the loop.
 */
#ifndef DAEMON_GATEWAY_H
#define DAEMON_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "daemon/onion_file.h"
#include "daemon/config.h"
#include "daemon/document.h"
#include "daemon/finding.h"
#include "daemon/history.h"
#include "daemon/key_maker.h"
#include "daemon/membership.h"
#include "daemon/metrics.h"
#include "daemon/policy.h"
#include "daemon/sandbox.h"
#include "daemon/supervisor.h"
#include "gate/circuits.h"
#include "gate/gate.h"
#include "net/chunk.h"
#include "net/dialer.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/pool.h"
#include "net/resolver.h"
#include "net/tunnel.h"
#include "store/ledger_store.h"
#include "store/redis_link.h"

#define GATEWAY_LISTENERS_MAX 16

struct session;
struct admin;
struct ctl;
struct mix_gate;
struct tor_link;

enum gateway_phase {
	GATEWAY_STARTING, /* not open yet */
	GATEWAY_OPEN,
	GATEWAY_DRAINING, /* nothing new; tunnels go on until the deadline */
	GATEWAY_OVER,
};

struct gateway {
	enum gateway_phase phase;

	/* The configuration in force, and what was made of it. */
	struct config *config;
	struct policy_set policies;
	uint16_t policy_of[ROOT_GROUPS_MAX]; /* by seat; index + 1, 0: none */
	struct own_addresses own;
	char *const *overrides; /* of the command line: a reload has them too */
	size_t overrides_n;
	struct config *next; /* being staged; NULL: no reload is under way */
	struct policy_set next_policies;
	struct audience audience;
	char onion[ONION_LENGTH + 1]; /* ""; not known */
	struct onion_file onion_file;
	struct sandbox sandbox;
	struct supervisor supervisor;

	/* The machinery. */
	struct loop *loop;
	struct chunk_pool chunks;
	struct relay *relay;
	struct key_maker key_maker, *key_maker_at; /* the latter: for workers */
	struct pool *verifiers;
	struct resolver *resolver;
	struct dialer *dialer;
	struct tor_link *tor;
	struct mix_gate *mix;
	struct listener *listeners[GATEWAY_LISTENERS_MAX];
	size_t listeners_n;

	/* Who may pass. */
	struct gate gate;
	void *gate_memory;
	struct ledger_store *store;
	struct watch store_watch;
	struct task store_flush; /* ends a round that has asked it */
	bool gate_made;
	struct circuits circuits;
	void *circuits_memory;
	struct membership *membership;

	/* Who is here. */
	struct slab sessions;
	struct session *session_memory;
	struct slab_slot *session_slots;
	uint32_t tunnels;
	uint64_t overloaded_at; /* mono, ms: when that was last logged */

	/* What is told. */
	struct metrics metrics;
	struct history history;
	int64_t started; /* Unix seconds */
	struct document *well_known; /* NULL: to be made anew */
	uint64_t well_known_until; /* mono, ms */
	/* As last logged. */
	uint64_t epoch, compactions_said;
	enum status journal_said;
	bool shared_up_said; /* and of a shared ledger */
	char shared_why_said[REDIS_LINK_WHY_MAX];
	bool accept_paused_said;
	struct admin *admin;
	struct ctl *ctl;

	/* Time. */
	struct deadline tick, drain_end;
	uint64_t polled_at; /* mono, ms: when files were last looked at */
	struct trap on_term, on_int, on_hup;
	bool traps;
	bool watching_store;
};

/* Make a gateway for CONFIG (whose reference it takes over). OVERRIDES stay
 * the caller's and outlive it.
 * Out:     *g, NULL on failure; findings that say why, or that it should know.
 * Returns: ST_OK; ST_BAD_VALUE, with the findings. */
enum status gateway_new(struct gateway **g, struct config *config,
    char *const *overrides, size_t n, struct findings *f) WARN_UNUSED;

/* Read the member files, then open the listeners.
 * Returns: ST_OK; ST_BAD_VALUE, with findings. */
enum status gateway_start(struct gateway *g, struct findings *f) WARN_UNUSED;

/* Turn the loop until the end.
 * Returns: ST_OK; ST_SYS when waiting failed. */
enum status gateway_run(struct gateway *g) WARN_UNUSED;

/* Close, join and free everything; *g is NULL afterwards. */
void gateway_free(struct gateway **g);

/* Read the configuration again and begin to take it and its members over; the
 * rest of what comes of it is logged.
 * Out:     findings on the configuration.
 * Returns: ST_OK: it goes on; else everything stays as it was. */
enum status gateway_reload(struct gateway *g, struct findings *f) WARN_UNUSED;

/* What SIGHUP does: reload, and log the findings. */
void gateway_hang_up(struct gateway *g);

/* Take nothing new and end when the last tunnel has, or after the time that
 * run.drain gives. Again: end now. */
void gateway_drain(struct gateway *g);

/* The two clocks, as the gate wants them. */
now_t gateway_now(const struct gateway *g);

/* The policy of the group in seat NUMBER; NULL: it is gone. */
const struct policy *gateway_policy(const struct gateway *g, uint16_t number);

/* The configuration of the group in seat NUMBER; NULL: it is gone. */
const struct config_group *
gateway_group(const struct gateway *g, uint16_t number);

/* What a scrape asks for. GROUPS has room for ROOT_GROUPS_MAX and is what
 * out->groups points at. */
void gateway_gauges(const struct gateway *g, struct gauges *out,
    struct gauge_group groups[static ROOT_GROUPS_MAX]);

/* Whether requests can be served; *why is a phrase when they can not. */
bool gateway_is_ready(const struct gateway *g, const char **why);

#endif
