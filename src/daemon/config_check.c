#include "daemon/config_check.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/ip.h"
#include "base/text.h"
#include "gate/audience.h"
#include "gate/target.h"
#include "net/listener.h"
#include "store/shared_store.h"

#define REALM_MAX 64
#define LISTENERS_MAX 16

/* What is being checked, and where findings go. */
struct check {
	const struct config *c;
	struct findings *f;
};

static struct place
place_of(const struct check *k, const char *section, const char *key)
{
	return config_place(k->c, NULL, section, key);
}

static struct place
item_place(const struct check *k, const struct text_item *item)
{
	if (item->line == 0)
		return (struct place){"command line", 0};
	return (struct place){k->c->path, item->line};
}

static bool
is_set(const struct check *k, const char *section, const char *key)
{
	return config_is_set(k->c, NULL, section, key);
}

/* --- lists --- */

typedef bool item_is_good(const char *text);

/* Add an error for each word of LIST that GOOD refuses. */
static void
check_items(const struct check *k, const struct text_list *list,
    item_is_good *good, const char *what, const char *cure)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!good(list->items[i].text))
			findings_add(k->f, FINDING_ERROR,
			    item_place(k, &list->items[i]), cure,
			    "\"%s\" is not %s", list->items[i].text, what);
	}
}

static bool
is_pattern(const char *text)
{
	return target_pattern_check(span_str(text)) == ST_OK;
}

static bool
is_network(const char *text)
{
	ip_net_t net;

	return ip_net_parse(&net, span_str(text)) == ST_OK;
}

static bool
is_endpoint(const char *text)
{
	endpoint_t e;

	return endpoint_parse(&e, span_str(text)) == ST_OK;
}

static bool
is_server(const char *text)
{
	ip_t ip;

	return is_endpoint(text) || ip_parse(&ip, span_str(text)) == ST_OK;
}

static bool
is_listen_address(const char *text)
{
	struct listener_config lc = {0};
	char path[108];

	return listener_parse(&lc, path, span_str(text)) == ST_OK;
}

static bool
is_key_of_depth(const char *text)
{
	const char *colon = strchr(text, ':');
	uint64_t depth;

	return colon != NULL && colon[1] != '\0' &&
	    decimal_u64(&depth, span_of(text, (size_t)(colon - text)), 32) ==
	    ST_OK &&
	    depth >= 1;
}

/* Words that stand in LIST twice. */
static void
check_repeats(const struct check *k, const struct text_list *list)
{
	for (size_t i = 1; i < list->n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(list->items[i].text, list->items[j].text) !=
			    0)
				continue;
			findings_add(k->f, FINDING_ERROR,
			    item_place(k, &list->items[i]),
			    "take one of the two out", "\"%s\" is there twice",
			    list->items[i].text);
			break;
		}
	}
}

#define PATTERN_CURE "write example.com, .example.com, *.example.com or *"
#define NETWORK_CURE                                                       \
	"write 192.0.2.0/24 or 2001:db8::/32, with no bit set beyond the " \
	"prefix"
#define LISTEN_CURE "write 127.0.0.1:8080, [::1]:8080 or unix:/path"

static void
check_rules(const struct check *k, const struct text_list *allow,
    const struct text_list *deny, const struct text_list *allow_networks,
    const struct text_list *deny_networks)
{
	check_items(k, allow, is_pattern, "a pattern of names", PATTERN_CURE);
	check_items(k, deny, is_pattern, "a pattern of names", PATTERN_CURE);
	check_items(k, allow_networks, is_network, "a network", NETWORK_CURE);
	check_items(k, deny_networks, is_network, "a network", NETWORK_CURE);
}

/* --- sections --- */

static void
check_audience(const struct check *k)
{
	const char *audience = k->c->gateway.audience;
	const char *onion = k->c->gateway.onion;
	uint8_t wide[32];

	/* A name is checked here, a file when it is read. */
	if (onion != NULL && onion[0] != '/' &&
	    onion_decode(wide, span_str(onion)) != ST_OK)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "onion"),
		    "copy the line of tor's hostname file, or give the file's "
		    "full path",
		    "\"%s\" is not a v3 onion address", onion);
	if (strcmp(audience, "onion") == 0) {
		if (onion == NULL && k->c->tor.onion_key == NULL)
			findings_add(k->f, FINDING_ERROR,
			    place_of(k, "gateway", "onion"),
			    "set gateway.onion to tor's hostname file, or "
			    "gateway.audience to a number",
			    "the audience is the onion address, and none is "
			    "given");
		return;
	}
	if (strcmp(audience, "any") == 0) {
		findings_add(k->f, FINDING_WARNING,
		    place_of(k, "gateway", "audience"),
		    "leave it out, so that proofs are made for this gateway",
		    "a proof shown to another gateway can be replayed here");
		return;
	}
	if (decimal_decode(wide, span_str(audience)) != ST_OK)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "audience"),
		    "write onion, any or a decimal number below 2^256",
		    "\"%s\" is not an audience", audience);
}

static void
check_epoch(const struct check *k)
{
	const struct config *c = k->c;
	const char *realm = c->gateway.realm;
	char text[32];

	option_time_text(text, c->gateway.epoch_ms);
	if (c->gateway.epoch_ms % 1000 != 0)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "epoch"), "give whole seconds",
		    "an epoch is counted in seconds");
	if (c->gateway.grace_ms >= c->gateway.epoch_ms)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "grace"),
		    "make it shorter than the epoch",
		    "the time of grace is as long as the epoch (%s)", text);
	if (c->gateway.early_ms >= c->gateway.epoch_ms)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "early"),
		    "make it shorter than the epoch",
		    "early is as long as the epoch (%s)", text);
	if (realm == NULL)
		return;
	size_t len = strlen(realm);
	bool printable = true;
	for (size_t i = 0; i < len; i++)
		printable &= realm[i] >= 0x20 && realm[i] <= 0x7e;
	if (len > REALM_MAX || !printable)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "realm"),
		    "use at most 64 printable ASCII characters",
		    "a realm that clients could not spell");
}

static void
check_gateway(const struct check *k)
{
	const struct config *c = k->c;

	check_items(k, &c->gateway.listen, is_listen_address,
	    "an address to listen at", LISTEN_CURE);
	check_repeats(k, &c->gateway.listen);
	if (c->gateway.listen.n == 0 || c->gateway.listen.n > LISTENERS_MAX)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "listen"), LISTEN_CURE,
		    "%zu addresses to listen at, not 1 to %d",
		    c->gateway.listen.n, LISTENERS_MAX);
	check_items(k, &c->gateway.keys, is_key_of_depth, "a depth and a file",
	    "write DEPTH:FILE, as 20:/etc/postern/20.json");
	check_audience(k);
	check_epoch(k);
	if (c->gateway.publish_members && !c->gateway.well_known)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "publish_members"),
		    "set gateway.well_known = on",
		    "members are published beside a document that is off");
}

static void
check_group(const struct check *k, const struct config_group *g)
{
	struct place where = {k->c->path, g->line};
	bool names = config_is_set(k->c, g, "group", "allow")
	    ? g->allow.n > 0
	    : k->c->egress.allow.n > 0;
	bool ports = config_is_set(k->c, g, "group", "ports")
	    ? g->ports.n > 0
	    : k->c->egress.ports.n > 0;

	if (config_group_file(g) == NULL)
		findings_add(k->f, FINDING_ERROR, where,
		    "set members = FILE, or root = FILE for a group on a chain",
		    "[group %s] has no members", g->name);
	else if (g->members != NULL && g->root != NULL)
		findings_add(k->f, FINDING_ERROR,
		    config_place(k->c, g, "group", "root"),
		    "keep members or root",
		    "[group %s] has both members and root", g->name);
	if (g->members != NULL && strncasecmp(g->members, "https://", 8) == 0)
		findings_add(k->f, FINDING_ERROR,
		    config_place(k->c, g, "group", "members"),
		    "let postern group follow keep a file up to date from "
		    "there, and name that file",
		    "[group %s] names a URL: a gateway fetches nothing",
		    g->name);
	if (g->root == NULL && config_is_set(k->c, g, "group", "max_age"))
		findings_add(k->f, FINDING_WARNING,
		    config_place(k->c, g, "group", "max_age"),
		    "take it out: a member file is good as long as it is there",
		    "max_age is for root");
	if (!config_is_set(k->c, g, "group", "requests"))
		findings_add(k->f, FINDING_ERROR, where,
		    "set requests = N, or unlimited",
		    "[group %s] does not say how many requests a member has in "
		    "an epoch",
		    g->name);
	check_rules(
	    k, &g->allow, &g->deny, &g->allow_networks, &g->deny_networks);
	if (!names && !k->c->egress.literals)
		findings_add(k->f, FINDING_WARNING, where,
		    "set egress.allow = * to allow every public name",
		    "[group %s] may reach no name: there is no allow", g->name);
	if (!ports)
		findings_add(k->f, FINDING_WARNING, where,
		    "set egress.ports = 443", "[group %s] may reach no port",
		    g->name);
}

static void
check_groups(const struct check *k)
{
	const struct config *c = k->c;

	if (c->groups_n == 0)
		findings_add(k->f, FINDING_ERROR, (struct place){c->path, 0},
		    "add a section [group NAME] with members = FILE and "
		    "requests = N",
		    "there is no group, so nobody may pass");
	for (size_t i = 0; i < c->groups_n; i++) {
		const struct config_group *g = &c->groups[i];
		check_group(k, g);
		const char *file = config_group_file(g);
		for (size_t j = 0; j < i && file != NULL; j++) {
			const char *other = config_group_file(&c->groups[j]);
			if (other == NULL || strcmp(file, other) != 0)
				continue;
			findings_add(k->f, FINDING_ERROR,
			    config_place(c, g, "group",
				g->members != NULL ? "members" : "root"),
			    "give each group its own file",
			    "[group %s] and [group %s] have the same members: "
			    "the root could not say which group a proof means",
			    c->groups[j].name, g->name);
		}
	}
}

static void
check_source(const struct check *k, const char *key, const char *text,
    enum status (*parse)(ip_t *, span_t))
{
	ip_t ip;

	if (text != NULL && parse(&ip, span_str(text)) != ST_OK)
		findings_add(k->f, FINDING_ERROR, place_of(k, "egress", key),
		    "write one address of this machine",
		    "\"%s\" is not an address of that kind", text);
}

static void
check_egress(const struct check *k)
{
	const struct config *c = k->c;

	check_rules(k, &c->egress.allow, &c->egress.deny,
	    &c->egress.allow_networks, &c->egress.deny_networks);
	check_items(k, &c->egress.except, is_endpoint, "an address and a port",
	    "write 127.0.0.1:8443 or [::1]:8443");
	check_items(k, &c->egress.dns, is_server, "a name server",
	    "write 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53");
	check_source(k, "source4", c->egress.source4, ip4_parse);
	check_source(k, "source6", c->egress.source6, ip6_parse);
	if (c->egress.lifetime_ms < c->egress.idle_timeout_ms)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "egress", "lifetime"),
		    "make it longer, or idle_timeout shorter",
		    "a tunnel's lifetime is shorter than its idle time");
	if (c->egress.race_delay_ms >= c->egress.connect_timeout_ms)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "egress", "race_delay"),
		    "make it shorter than connect_timeout",
		    "the second address would never be tried");
}

/* A listener that is on loopback or a unix socket. */
static bool
is_private_listener(const char *text)
{
	struct listener_config lc = {0};
	char path[108];

	if (listener_parse(&lc, path, span_str(text)) != ST_OK)
		return true; /* said already */
	if (lc.kind != LISTEN_IP)
		return true;
	static const uint8_t loopback6[16] = {[15] = 1};
	return lc.at.ip.version == 4
	    ? lc.at.ip.bytes[0] == 127
	    : memcmp(lc.at.ip.bytes, loopback6, 16) == 0;
}

static void
check_side_doors(const struct check *k)
{
	const struct config *c = k->c;

	check_items(k, &c->metrics.listen, is_listen_address,
	    "an address to listen at", LISTEN_CURE);
	check_items(k, &c->metrics.listen, is_private_listener,
	    "on this machine alone",
	    "metrics are not for others: use 127.0.0.1, [::1] or unix:/path");
	check_repeats(k, &c->metrics.listen);
	for (size_t i = 0; i < c->metrics.listen.n; i++) {
		for (size_t j = 0; j < c->gateway.listen.n; j++) {
			if (strcmp(c->metrics.listen.items[i].text,
				c->gateway.listen.items[j].text) == 0)
				findings_add(k->f, FINDING_ERROR,
				    item_place(k, &c->metrics.listen.items[i]),
				    "use another port",
				    "gateway.listen has the same address");
		}
	}
	if (c->control.socket != NULL &&
	    (c->control.socket[0] != '/' || strlen(c->control.socket) >= 108))
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "control", "socket"),
		    "write a full path of at most 107 bytes",
		    "\"%s\" can not be a socket", c->control.socket);
	if (c->tor.control != NULL && !is_listen_address(c->tor.control))
		findings_add(k->f, FINDING_ERROR, place_of(k, "tor", "control"),
		    "write 127.0.0.1:9051 or unix:/run/tor/control",
		    "\"%s\" is not a control port", c->tor.control);
}

/* What is said of a service that we do not ask tor for. */
static void
check_no_onion_key(const struct check *k)
{
	static const char *const keys[] = {"onion_port", "onion_streams",
	    "onion_key_passphrase_file", "onion_clients", "onion_pow"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (is_set(k, "tor", keys[i]))
			findings_add(k->f, FINDING_ERROR,
			    place_of(k, "tor", keys[i]),
			    "set tor.onion_key, or say it in torrc",
			    "the gateway asks tor for no service");
	}
}

/* What can not stand beside a service that we ask tor for. */
static void
check_onion_key(const struct check *k)
{
	const struct config *c = k->c;
	struct place where = place_of(k, "tor", "onion_key");

	if (c->tor.control == NULL)
		findings_add(k->f, FINDING_ERROR, where, "set tor.control",
		    "tor can not be asked for a service without its control "
		    "port");
	else if (strncmp(c->tor.control, "unix:", 5) != 0 &&
	    c->tor.cookie_file == NULL)
		findings_add(k->f, FINDING_ERROR, where,
		    "set tor.cookie_file, or write control = "
		    "unix:/run/tor/control",
		    "whoever listens at %s while tor is away would be given "
		    "the key",
		    c->tor.control);
	if (c->gateway.onion != NULL)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "onion"),
		    "keep one of the two: the address follows from the key",
		    "there are both gateway.onion and tor.onion_key");
	if (c->gateway.proxy_line == PROXY_LINE_REQUIRED)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "gateway", "proxy_line"),
		    "set it off, or let torrc have the service "
		    "(HiddenServiceExportCircuitID haproxy)",
		    "tor sends no PROXY line for a service that it was asked "
		    "for");
}

static void
check_limits(const struct check *k)
{
	const struct config *c = k->c;

	if (c->limits.head_bytes > c->limits.buffer)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "limits", "head_bytes"),
		    "make it smaller, or limits.buffer larger",
		    "a request head may be longer than the buffer it is read "
		    "into");
}

static void
check_mix(const struct check *k)
{
	const struct config *c = k->c;
	endpoint_t at;

	if (c->mix.listen == NULL)
		return;
	if (endpoint_parse(&at, span_str(c->mix.listen)) != ST_OK)
		findings_add(k->f, FINDING_ERROR, place_of(k, "mix", "listen"),
		    "write an address and a port, as 192.0.2.1:9100",
		    "\"%s\" is not where nodes could deliver", c->mix.listen);
	if (c->mix.registry == NULL)
		findings_add(k->f, FINDING_ERROR, place_of(k, "mix", "listen"),
		    "set mix.registry = FILE",
		    "answers need the mixnet's nodes to go through");
	if (c->mix.key == NULL)
		findings_add(k->f, FINDING_ERROR, place_of(k, "mix", "listen"),
		    "set mix.key = FILE (postern mix keygen -o FILE)",
		    "requests need a key to be sealed for");
}

/* Without a journal. */
static void
check_volatile(const struct check *k)
{
	bool sync = is_set(k, "ledger", "sync");

	if (sync || is_set(k, "ledger", "interval"))
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", sync ? "sync" : "interval"),
		    "set ledger.journal = FILE",
		    "there is no journal that could be synced");
	else if (k->c->ledger.shared.n == 0)
		findings_add(k->f, FINDING_WARNING,
		    place_of(k, "ledger", "journal"),
		    "set ledger.journal = FILE",
		    "a restart gives every member its quota back");
}

/* Whether what P says can be read on its way. */
static bool
is_in_the_clear(const struct shared_place *p)
{
	return !p->tls && p->path[0] == '\0' &&
	    strcmp(p->host, "localhost") != 0 && strcmp(p->host, "::1") != 0 &&
	    strncmp(p->host, "127.", 4) != 0;
}

static void
check_shared_place(const struct check *k, const struct text_item *item)
{
	struct shared_place p;
	const char *why;

	if (shared_place_parse(&p, &why, item->text) != ST_OK)
		findings_add(k->f, FINDING_ERROR, item_place(k, item),
		    "write redis://HOST:PORT, rediss://HOST:PORT or "
		    "unix:/PATH; user and password have keys of their own",
		    "\"%s\" is no place of a ledger: %s", item->text, why);
	else if (is_in_the_clear(&p))
		findings_add(k->f, FINDING_WARNING, item_place(k, item),
		    "use rediss:// (TLS), unless the network is yours alone",
		    "the password and all counts go in the clear");
}

/* Keys of the shared ledger, whether it is used. */
static void
check_shared_idle(const struct check *k)
{
	static const char *const keys[] = {"shared_key_file", "shared_user",
	    "shared_password_file", "shared_prefix", "shared_timeout",
	    "shared_replicas", "unreachable"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (is_set(k, "ledger", keys[i]))
			findings_add(k->f, FINDING_ERROR,
			    place_of(k, "ledger", keys[i]),
			    "set ledger.shared = URL, or take it out",
			    "there is no shared ledger that it could be for");
	}
}

static void
check_ledger(const struct check *k)
{
	const struct config *c = k->c;
	const struct text_list *shared = &c->ledger.shared;

	if (c->ledger.journal == NULL)
		check_volatile(k);
	if (is_set(k, "ledger", "interval") && c->ledger.sync == SYNC_ALWAYS)
		findings_add(k->f, FINDING_WARNING,
		    place_of(k, "ledger", "interval"),
		    "set ledger.sync = interval",
		    "the interval has no effect with sync = always");
	if (shared->n == 0) {
		check_shared_idle(k);
		return;
	}
	for (size_t i = 0; i < shared->n; i++)
		check_shared_place(k, &shared->items[i]);
	if (shared->n > REDIS_LINK_PLACES)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", "shared"), "give fewer",
		    "%zu places, at most %d", shared->n, REDIS_LINK_PLACES);
	if (c->ledger.journal != NULL)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", "journal"), "take one of the two out",
		    "counts are either in a journal or in ledger.shared");
	if (c->ledger.shared_key_file == NULL)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", "shared"),
		    "make one with postern ledger key, give it to each "
		    "gateway, and set ledger.shared_key_file",
		    "gateways that share a ledger need a key in common");
	if (!shared_prefix_is_good(c->ledger.shared_prefix))
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", "shared_prefix"),
		    "use letters, digits, '.', '_' and '-', at most 63",
		    "\"%s\" can not be a prefix", c->ledger.shared_prefix);
	if (c->ledger.shared_user != NULL &&
	    c->ledger.shared_password_file == NULL)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "ledger", "shared_user"),
		    "set ledger.shared_password_file",
		    "a user without a password");
}

/* Keys that have no effect as things are. */
static void
check_idle_keys(const struct check *k)
{
	const struct config *c = k->c;
	static const char *const circuit_keys[] = {
	    "circuit_connections", "circuit_failures", "circuit_rate"};

	for (size_t i = 0; i < 3 && c->gateway.proxy_line == PROXY_LINE_OFF;
	     i++) {
		if (is_set(k, "limits", circuit_keys[i]))
			findings_add(k->f, FINDING_WARNING,
			    place_of(k, "limits", circuit_keys[i]),
			    "set gateway.proxy_line = required, and in torrc "
			    "HiddenServiceExportCircuitID haproxy",
			    "circuits can not be told apart without the PROXY "
			    "line");
	}
	if (c->tor.onion_key != NULL)
		check_onion_key(k);
	else
		check_no_onion_key(k);
	if (c->tor.onion_key == NULL && c->tor.control != NULL &&
	    c->gateway.proxy_line == PROXY_LINE_OFF)
		findings_add(k->f, FINDING_WARNING,
		    place_of(k, "tor", "control"),
		    "set gateway.proxy_line = required",
		    "no circuit is known that tor could be told to close");
	if (c->tor.password_file != NULL && c->tor.control == NULL)
		findings_add(k->f, FINDING_ERROR,
		    place_of(k, "tor", "password_file"), "set tor.control",
		    "a password without a control port");
}

void
config_check(const struct config *c, struct findings *f)
{
	struct check k = {c, f};

	check_gateway(&k);
	check_groups(&k);
	check_egress(&k);
	check_side_doors(&k);
	check_limits(&k);
	check_ledger(&k);
	check_mix(&k);
	check_idle_keys(&k);
}
