/* daemon/log.h: what happens, in events that name nobody.
 *
 * An event has a stable name from the table in log.c, a level, a text for
 * people, and fields. A field's key comes from a fixed list and its value from
 * a fixed kind: a count, a status, or a text of the operator's own (a path, a
 * group's name, a line of a configuration). There is no way to hand this
 * module an address, a host name, a nullifier, a token or a circuit: no field
 * takes one, and none takes a format string. That is the point of it.
 *
 * Texts are escaped: control characters, quotes, backslashes and bytes above
 * ASCII come out as \xHH, so that a line is a line whatever somebody wrote
 * into a file.
 *
 *	2026-11-30T21:50:00Z notice ready: the gateway is open sessions=4096
 *	{"time":"2026-11-30T21:50:00Z","level":"notice","event":"ready",...}
 *
 * Time stamps have whole seconds. At info and above nothing is said of a
 * single request; at debug an event a request is, with its status alone.
 *
 * There is one log in a process. Threads: the loop, or before there are any.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

/* In the order of the words of log.level, log.format and log.target. */
enum log_level {
	LEVEL_ERROR,
	LEVEL_WARNING,
	LEVEL_NOTICE,
	LEVEL_INFO,
	LEVEL_DEBUG
};
enum log_format { FORMAT_PLAIN, FORMAT_JSON };
enum log_target { TARGET_STDERR, TARGET_SYSLOG };

enum log_event {
	/* Life. */
	EV_STARTING,
	EV_READY,
	EV_WALLS,
	EV_START_FAILED,
	EV_FINDING,
	EV_RELOADED,
	EV_RELOAD_FAILED,
	EV_DRAINING,
	EV_DRAINED,
	EV_STOPPED,

	/* Members and epochs. */
	EV_MEMBERS_LOADED,
	EV_MEMBERS_BROKEN,
	EV_MEMBERS_FEW,
	EV_EPOCH_TURNED,
	EV_CLOCK_JUMPED,

	/* The machine. */
	EV_LISTENING,
	EV_DESCRIPTORS_OUT,
	EV_DESCRIPTORS_BACK,
	EV_ACCEPT_FAILED,
	EV_OVERLOADED,
	EV_JOURNAL_OPENED,
	EV_JOURNAL_TORN,
	EV_JOURNAL_FAILED,
	EV_JOURNAL_BACK,
	EV_JOURNAL_COMPACTED,
	EV_LEDGER_LOST,
	EV_LEDGER_BACK,
	EV_LEDGER_FULL,
	EV_DNS_READY,

	/* Tor. */
	EV_TOR_CONNECTED,
	EV_TOR_LOST,
	EV_TOR_RESTARTED,
	EV_ONION_ADDED,
	EV_ONION_REFUSED,
	EV_ONION_CHANGED,
	EV_ONION_BACK,
	EV_CIRCUIT_CLOSED,

	/* The operator. */
	EV_CONTROL_COMMAND,
	EV_CONTROL_REFUSED,

	/* One request; debug. */
	EV_REQUEST_ANSWERED,
	EV_TUNNEL_OPENED,
	EV_SESSION_ENDED,

	/* A mix node. */
	EV_MIX_READY,
	EV_MIX_REGISTRY,
	EV_MIX_REGISTRY_BROKEN,
	EV_MIX_KEY_TURNED,
	EV_MIX_KEY_FAILED,
	EV_MIX_JOURNAL_FAILED,
	EV_MIX_JOURNAL_BACK,
	EV_MIX_FILTER_FULL,
	EV_MIX_DRAINING,
	EV_MIX_STOPPED,

	EV_INTERNAL, /* a broken invariant of ours */
	EV_COUNT
};

enum log_key {
	KEY_BYTES,
	KEY_CAUSE, /* of a failure: the system's or a status's words */
	KEY_COMMAND,
	KEY_CURE,
	KEY_DEPTH,
	KEY_ENTRIES,
	KEY_FILE,
	KEY_GROUP,
	KEY_GROUPS,
	KEY_HTTP,
	KEY_LINE,
	KEY_MEMBERS,
	KEY_MS,
	KEY_NODES,
	KEY_PLACE, /* a file and a line, or a key of the configuration */
	KEY_SECONDS,
	KEY_SESSIONS,
	KEY_STATUS,
	KEY_TUNNELS,
	KEY_VERSION,
	KEY_WHAT,
	KEY_WORKERS,
	KEY_COUNT
};

/* Made by the functions below; good for the call it is made in. */
struct log_field {
	enum log_key key;
	enum { LOG_FIELD_NUMBER, LOG_FIELD_TEXT, LOG_FIELD_END } kind;
	uint64_t number;
	const char *text;
};

static inline struct log_field
log_number(enum log_key key, uint64_t v)
{
	return (struct log_field){key, LOG_FIELD_NUMBER, v, NULL};
}

/* A status by its metric label, under KEY_STATUS or KEY_CAUSE. */
static inline struct log_field
log_status(enum log_key key, enum status st)
{
	return (struct log_field){
	    key, LOG_FIELD_TEXT, 0, status_info(st)->label};
}

/* A text of the operator's configuration or machine; NULL counts as "". */
static inline struct log_field
log_words(enum log_key key, const char *text)
{
	return (struct log_field){key, LOG_FIELD_TEXT, 0, text ? text : ""};
}

/* The system's words for ERROR (an errno). */
struct log_field log_errno(int error);

/* Log EVENT with fields, the last of which is LOG_END. */
void log_event(enum log_event event, const struct log_field *fields);

#define LOG_END ((struct log_field){.kind = LOG_FIELD_END})
/* LOG(EV_X, log_number(...), log_words(...)): one field or more. */
#define LOG(EVENT, ...) \
	log_event((EVENT), (const struct log_field[]){__VA_ARGS__, LOG_END})

/* Log EVENT without fields. */
void log_plain(enum log_event event);

/* Set up or change the log. Until then: plain, notice, stderr. With stderr, the
 * system's logger is closed if it was open. */
void log_configure(
    enum log_level level, enum log_format format, enum log_target target);

/* Whether events of LEVEL are logged. */
bool log_wants(enum log_level level);

/* Raise or lower the level alone. */
void log_set_level(enum log_level level);
enum log_level log_current_level(void);
const char *log_level_name(enum log_level level);

/* Lines that could not be written at once, and so were not: the log never
 * makes the gateway wait. */
uint64_t log_dropped(void);

/* The name, level and text of EVENT: the table of events, for its test and for
 * the manual. */
struct log_event_info {
	const char *name, *text;
	enum log_level level;
};
const struct log_event_info *log_event_info(enum log_event event);

/* Write a line as log_event would, into OUT (CAP bytes, with a NUL): for
 * tests. Returns its length. */
size_t log_format_line(char *out, size_t cap, enum log_format format,
    int64_t unix_seconds, enum log_event event, const struct log_field *fields);

/* Longest line; what is longer is cut. */
#define LOG_LINE_MAX 1024

#endif
