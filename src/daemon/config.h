/* daemon/config.h: the configuration, read once and never changed.
 *
 * A snapshot is immutable and counted: a reload makes a new one, and whoever
 * works with the old one keeps it alive until they are done. Only the loop
 * thread touches the count.
 *
 * Reading finds every problem there is, not the first one: unknown keys, bad
 * values, keys given twice, and keys that contradict each other each become a
 * finding with file, line and cure. With an error among them there is no
 * snapshot. An absent rule means deny: without a group nobody passes, without
 * an `allow` no name does, and the only port is 443.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/finding.h"
#include "daemon/option.h"

#define CONFIG_DEFAULT_PATH "/etc/postern/postern.conf"

/* The index in the words of `proxy_line`, and so on. */
enum config_proxy_line { PROXY_LINE_OFF, PROXY_LINE_REQUIRED };
enum config_sync { SYNC_ALWAYS, SYNC_INTERVAL };
enum config_unreachable { UNREACHABLE_REFUSE, UNREACHABLE_LOCAL };

/* How many groups one gateway has at most. */
#define CONFIG_GROUPS_MAX 64

/* Where the keys of one section were set. */
struct config_origin {
	bool set;
	int line; /* 0: by the command line */
};

struct config_group {
	char *name;
	int line; /* of its [group NAME] */
	char *members, *root; /* one of the two; see config_group_file */
	uint64_t max_age_ms; /* of the root in the file `root` */
	uint64_t requests, tunnels, bytes_up, bytes_down;
	struct rate rate;
	/* Where these are not set, those of [egress] stand. */
	struct port_ranges ports;
	struct text_list allow, deny, allow_networks, deny_networks;
	struct config_origin *origin; /* by index in the option table */
};

struct config {
	unsigned refs;
	char *path;

	struct {
		struct text_list listen;
		unsigned proxy_line;
		char *onion, *audience, *realm;
		uint64_t epoch_ms, slots, grace_ms, early_ms, root_lifetime_ms;
		bool well_known, publish_members;
		struct text_list keys;
		uint64_t anonymity_floor;
	} gateway;
	struct {
		struct port_ranges ports;
		struct text_list allow, deny, allow_networks, deny_networks;
		struct text_list except;
		bool literals;
		char *source4, *source6;
		struct text_list dns;
		uint64_t dns_timeout_ms, connect_timeout_ms, race_delay_ms;
		uint64_t idle_timeout_ms, lifetime_ms, tunnel_bytes;
		uint64_t per_destination;
	} egress;
	struct {
		char *journal;
		unsigned sync;
		uint64_t interval_ms, memory;
		/* One that several gateways share. */
		struct text_list shared;
		char *shared_key_file, *shared_user, *shared_password_file;
		char *shared_ca_file, *shared_prefix;
		uint64_t shared_timeout_ms, shared_replicas;
		unsigned unreachable;
	} ledger;
	struct {
		uint64_t sessions, head_bytes, head_timeout_ms, attempts;
		uint64_t buffer, queue, workers, cache;
		uint64_t reserve, batch;
		uint64_t circuit_connections, circuit_failures;
		struct rate circuit_rate;
	} limits;
	struct {
		unsigned level, format, target;
	} log;
	struct {
		struct text_list listen;
	} metrics;
	struct {
		char *socket;
	} control;
	struct {
		char *control, *password_file, *cookie_file, *onion_key;
		char *onion_key_passphrase_file, *onion_clients;
		uint64_t onion_port, onion_streams;
		bool onion_pow;
		uint64_t onion_pow_rate, onion_pow_burst;
	} tor;
	struct {
		char *listen, *key, *registry, *ca_file;
		unsigned suite;
		uint64_t exchanges, timeout_ms;
	} mix;
	struct {
		char *user;
		uint64_t drain_ms;
		bool sandbox;
	} run;

	struct config_group *groups;
	size_t groups_n;
	struct config_origin *origin; /* by index in the option table */
};

/* Read the file at PATH, then OVERRIDES ("section.key=value", "group.NAME.key=
 * value"), N of them.
 * Out:     *config, with one reference, or NULL when there is an error among
 *          the findings that were added to F.
 * Returns: ST_OK; ST_BAD_VALUE with the findings.
 * Threads: loop, or a command. */
enum status config_load(struct config **config, struct findings *f,
    const char *path, const char *const *overrides, size_t n) WARN_UNUSED;

/* Read TEXT (LEN bytes) as the content of a file called NAME: what
 * config_load does with a file's content, for tests and fuzzing. */
enum status config_parse(struct config **config, struct findings *f,
    const char *name, const char *text, size_t len,
    const char *const *overrides, size_t n) WARN_UNUSED;

/* The same as config_load for somebody who looks on when there are errors: what
 * could be read of the file is in *config all the same, with the defaults where
 * it could not. Not for a gateway.
 * Out:     *config, NULL only when the file can not be read. */
void config_examine(struct config **config, struct findings *f,
    const char *path, const char *const *overrides, size_t n);

/* The file that says who is in G: its members, or its root. NULL where the
 * configuration names none, which is an error among its findings. */
static inline const char *
config_group_file(const struct config_group *g)
{
	return g->members != NULL ? g->members : g->root;
}

struct config *config_ref(struct config *c);

/* Give the reference up; *c is NULL afterwards. */
void config_unref(struct config **c);

/* Where KEY of SECTION was set; the whole file if it was not. For a group's
 * key GROUP is the group, else NULL. The place borrows from C. */
struct place config_place(const struct config *c,
    const struct config_group *group, const char *section, const char *key);

/* KEY of SECTION (of GROUP, if not NULL) was given. */
bool config_is_set(const struct config *c, const struct config_group *group,
    const char *section, const char *key);

/* Before NEW, which nobody else has yet, takes the place of OLD: keep OLD's
 * values of the keys that a reload does not take over, and add a warning to F
 * for each that would have been another. So a configuration in force says what
 * is in force. */
void config_inherit(
    struct config *new, const struct config *old, struct findings *f);

#endif
