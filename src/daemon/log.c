#include "daemon/log.h"

#include <errno.h>
#include <inttypes.h>
#include <paths.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static struct {
	enum log_level level;
	enum log_format format;
	enum log_target target;
	int logger; /* the system's, connected; -1: not */
	uint64_t dropped;
} state = {LEVEL_NOTICE, FORMAT_PLAIN, TARGET_STDERR, -1, 0};

#define EVENT(E, LEVEL, NAME, TEXT) [E] = {NAME, TEXT, LEVEL}

static const struct log_event_info events[EV_COUNT] = {
    EVENT(EV_STARTING, LEVEL_NOTICE, "starting", "the gateway starts"),
    EVENT(EV_READY, LEVEL_NOTICE, "ready", "the gateway is open"),
    EVENT(EV_WALLS, LEVEL_INFO, "walls", "these walls of the sandbox stand"),
    EVENT(EV_START_FAILED, LEVEL_ERROR, "start_failed",
	"the gateway can not start"),
    EVENT(EV_FINDING, LEVEL_WARNING, "finding",
	"something is not as it should "
	"be"),
    EVENT(EV_RELOADED, LEVEL_NOTICE, "reloaded",
	"configuration and members are taken over"),
    EVENT(EV_RELOAD_FAILED, LEVEL_ERROR, "reload_failed",
	"the new configuration is not taken; the old one stays"),
    EVENT(EV_DRAINING, LEVEL_NOTICE, "draining",
	"nothing new is taken; open tunnels go on for a while"),
    EVENT(EV_DRAINED, LEVEL_NOTICE, "drained", "no tunnel is open any more"),
    EVENT(EV_STOPPED, LEVEL_NOTICE, "stopped", "the gateway has ended"),

    EVENT(EV_MEMBERS_LOADED, LEVEL_NOTICE, "members_loaded",
	"a group's members are taken over"),
    EVENT(EV_MEMBERS_BROKEN, LEVEL_ERROR, "members_broken",
	"a member file is not right; the old members stay"),
    EVENT(EV_MEMBERS_FEW, LEVEL_WARNING, "members_few",
	"so small a group hides its members badly"),
    EVENT(EV_EPOCH_TURNED, LEVEL_NOTICE, "epoch_turned", "a new epoch began"),
    EVENT(EV_CLOCK_JUMPED, LEVEL_WARNING, "clock_jumped",
	"the machine's clock went back to an earlier epoch"),

    EVENT(EV_LISTENING, LEVEL_INFO, "listening", "a listener is open"),
    EVENT(EV_DESCRIPTORS_OUT, LEVEL_WARNING, "descriptors_out",
	"no descriptor is free; accepting pauses"),
    EVENT(EV_DESCRIPTORS_BACK, LEVEL_NOTICE, "descriptors_back",
	"accepting goes on"),
    EVENT(EV_ACCEPT_FAILED, LEVEL_WARNING, "accept_failed",
	"a connection could not be taken"),
    EVENT(EV_OVERLOADED, LEVEL_WARNING, "overloaded",
	"connections are refused: all sessions are taken"),
    EVENT(EV_JOURNAL_OPENED, LEVEL_NOTICE, "journal_opened",
	"the journal is read"),
    EVENT(EV_JOURNAL_TORN, LEVEL_WARNING, "journal_torn",
	"the journal's unfinished last record is dropped"),
    EVENT(EV_JOURNAL_FAILED, LEVEL_ERROR, "journal_failed",
	"the journal can not be written; requests are refused"),
    EVENT(EV_JOURNAL_BACK, LEVEL_NOTICE, "journal_back",
	"the journal can be written again"),
    EVENT(EV_JOURNAL_COMPACTED, LEVEL_INFO, "journal_compacted",
	"the journal is rewritten without what is over"),
    EVENT(EV_LEDGER_LOST, LEVEL_ERROR, "ledger_lost",
	"the shared ledger can not be used"),
    EVENT(EV_LEDGER_BACK, LEVEL_NOTICE, "ledger_back",
	"the shared ledger counts"),
    EVENT(EV_LEDGER_FULL, LEVEL_ERROR, "ledger_full",
	"no room for another nullifier in this epoch"),
    EVENT(EV_DNS_READY, LEVEL_INFO, "dns_ready", "name servers are known"),

    EVENT(EV_TOR_CONNECTED, LEVEL_NOTICE, "tor_connected",
	"tor's control port answers"),
    EVENT(EV_TOR_LOST, LEVEL_WARNING, "tor_lost", "tor's control port is gone"),
    EVENT(EV_TOR_RESTARTED, LEVEL_NOTICE, "tor_restarted",
	"tor is another process: its circuits are forgotten"),
    EVENT(EV_ONION_ADDED, LEVEL_NOTICE, "onion_added",
	"tor has taken the gateway's onion service"),
    EVENT(EV_ONION_REFUSED, LEVEL_ERROR, "onion_refused",
	"tor does not take the gateway's onion service: has it one with this "
	"key already, or is it too old (for tor.onion_pow: before 0.4.9.2)?"),
    EVENT(EV_ONION_CHANGED, LEVEL_ERROR, "onion_changed",
	"the onion service has another address, and members' proofs are for "
	"the old one: start the gateway anew"),
    EVENT(EV_ONION_BACK, LEVEL_NOTICE, "onion_back",
	"the onion service has its address again"),
    EVENT(EV_CIRCUIT_CLOSED, LEVEL_INFO, "circuit_closed",
	"a circuit that sent bad proofs is closed"),

    EVENT(EV_CONTROL_COMMAND, LEVEL_NOTICE, "control_command",
	"a command of the operator"),
    EVENT(EV_CONTROL_REFUSED, LEVEL_WARNING, "control_refused",
	"somebody else asked at the control socket"),

    EVENT(EV_REQUEST_ANSWERED, LEVEL_DEBUG, "request_answered",
	"a request got its answer"),
    EVENT(EV_TUNNEL_OPENED, LEVEL_DEBUG, "tunnel_opened", "a tunnel is open"),
    EVENT(EV_SESSION_ENDED, LEVEL_DEBUG, "session_ended",
	"a connection is closed"),

    EVENT(EV_MIX_READY, LEVEL_NOTICE, "mix_ready", "the mix node is open"),
    EVENT(EV_MIX_REGISTRY, LEVEL_NOTICE, "mix_registry",
	"the registry of nodes is taken over"),
    EVENT(EV_MIX_REGISTRY_BROKEN, LEVEL_ERROR, "mix_registry_broken",
	"the registry is not right; the old one stays"),
    EVENT(EV_MIX_KEY_TURNED, LEVEL_NOTICE, "mix_key_turned",
	"a new key is in force, and the next one is announced"),
    EVENT(EV_MIX_KEY_FAILED, LEVEL_ERROR, "mix_key_failed",
	"the next key can not be made; the present one stays"),
    EVENT(EV_MIX_JOURNAL_FAILED, LEVEL_ERROR, "mix_journal_failed",
	"the replay journal can not be written; packets are dropped"),
    EVENT(EV_MIX_JOURNAL_BACK, LEVEL_NOTICE, "mix_journal_back",
	"the replay journal can be written again"),
    EVENT(EV_MIX_FILTER_FULL, LEVEL_ERROR, "mix_filter_full",
	"the replay filter is full; packets are dropped until the next key"),
    EVENT(EV_MIX_DRAINING, LEVEL_NOTICE, "mix_draining",
	"nothing new is taken; what is held goes on"),
    EVENT(
	EV_MIX_STOPPED, LEVEL_NOTICE, "mix_stopped", "the mix node has ended"),

    EVENT(EV_INTERNAL, LEVEL_ERROR, "internal", "a fault of the program"),
};

static const char *const keys[KEY_COUNT] = {
    [KEY_BYTES] = "bytes",
    [KEY_CAUSE] = "cause",
    [KEY_COMMAND] = "command",
    [KEY_CURE] = "cure",
    [KEY_DEPTH] = "depth",
    [KEY_ENTRIES] = "entries",
    [KEY_FILE] = "file",
    [KEY_GROUP] = "group",
    [KEY_GROUPS] = "groups",
    [KEY_HTTP] = "http",
    [KEY_LINE] = "line",
    [KEY_MEMBERS] = "members",
    [KEY_MS] = "ms",
    [KEY_NODES] = "nodes",
    [KEY_PLACE] = "place",
    [KEY_SECONDS] = "seconds",
    [KEY_SESSIONS] = "sessions",
    [KEY_STATUS] = "status",
    [KEY_TUNNELS] = "tunnels",
    [KEY_VERSION] = "version",
    [KEY_WHAT] = "what",
    [KEY_WORKERS] = "workers",
};

static const char *const levels[] = {
    "error", "warning", "notice", "info", "debug"};
static const int priorities[] = {
    LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG};

/* A line being written. What does not fit is left out: whole fields, and the
 * end of a long text, so that JSON stays JSON. */
#define FIELD_ROOM 64 /* for a key, a number, quotes and the closing brace */
#define TAIL_ROOM 16 /* for an escape, a quote and the closing brace */

struct line {
	char *text;
	size_t len, cap; /* cap keeps room for the NUL */
};

static void
put_char(struct line *l, char c)
{
	if (l->len + 1 < l->cap)
		l->text[l->len++] = c;
}

static void
put(struct line *l, const char *s)
{
	for (; *s != '\0'; s++)
		put_char(l, *s);
}

static void
put_number(struct line *l, uint64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	put(l, digits);
}

static bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* S in quotes, every byte that is not plain as an escape. */
static void
put_quoted(struct line *l, const char *s, enum log_format format)
{
	char escape[8];

	put_char(l, '"');
	for (; *s != '\0' && l->len + TAIL_ROOM < l->cap; s++) {
		unsigned char c = (unsigned char)*s;
		if (is_plain(c)) {
			put_char(l, (char)c);
			continue;
		}
		snprintf(escape, sizeof(escape),
		    format == FORMAT_JSON ? "\\u%04x" : "\\x%02x", c);
		put(l, escape);
	}
	put_char(l, '"');
}

/* A plain line quotes only what would not read as one word. */
static void
put_text(struct line *l, const char *s, enum log_format format)
{
	bool word = *s != '\0' && format == FORMAT_PLAIN &&
	    strlen(s) + TAIL_ROOM < l->cap - l->len;

	for (const char *p = s; *p != '\0'; p++)
		word = word && is_plain((unsigned char)*p) && *p != ' ' &&
		    *p != '=';
	if (word)
		put(l, s);
	else
		put_quoted(l, s, format);
}

static void
put_field(struct line *l, enum log_format format, const struct log_field *f)
{
	if (l->len + FIELD_ROOM > l->cap)
		return;
	put(l, format == FORMAT_JSON ? ",\"" : " ");
	put(l, (unsigned)f->key < KEY_COUNT ? keys[f->key] : "what");
	put(l, format == FORMAT_JSON ? "\":" : "=");
	if (f->kind == LOG_FIELD_NUMBER)
		put_number(l, f->number);
	else
		put_text(l, f->text, format);
}

static void
put_time(struct line *l, int64_t unix_seconds)
{
	time_t t = (time_t)unix_seconds;
	struct tm tm;
	char text[32] = "";

	if (gmtime_r(&t, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	put(l, text);
}

/* The line without its time. */
static void
put_event(struct line *l, enum log_format format, enum log_event event,
    const struct log_field *fields)
{
	const struct log_event_info *e = log_event_info(event);

	if (format == FORMAT_JSON) {
		put(l, "\"level\":\"");
		put(l, levels[e->level]);
		put(l, "\",\"event\":\"");
		put(l, e->name);
		put(l, "\",\"text\":\"");
		put(l, e->text);
		put(l, "\"");
	} else {
		put(l, levels[e->level]);
		put(l, " ");
		put(l, e->name);
		put(l, ": ");
		put(l, e->text);
	}
	for (; fields != NULL && fields->kind != LOG_FIELD_END; fields++)
		put_field(l, format, fields);
	if (format == FORMAT_JSON)
		put(l, "}");
}

size_t
log_format_line(char *out, size_t cap, enum log_format format,
    int64_t unix_seconds, enum log_event event, const struct log_field *fields)
{
	struct line l = {out, 0, cap};

	if (format == FORMAT_JSON)
		put(&l, "{\"time\":\"");
	put_time(&l, unix_seconds);
	put(&l, format == FORMAT_JSON ? "\"," : " ");
	put_event(&l, format, event, fields);
	if (cap > 0)
		out[l.len] = '\0';
	return l.len;
}

const struct log_event_info *
log_event_info(enum log_event event)
{
	return &events[(unsigned)event < EV_COUNT ? event : EV_INTERNAL];
}

struct log_field
log_errno(int error)
{
	return log_words(KEY_CAUSE, strerror(error));
}

/* --- sinks: whoever reads the log slowly, or not at all, must not stop the
 * gateway; what can not be written at once is dropped and counted --- */

static bool
write_stderr(const char *text, size_t len)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	/* A pipe is ready when it has room for PIPE_BUF bytes, which is more
	 * than a line; and one write a line keeps lines whole. */
	if (poll(&p, 1, 0) != 1 || (p.revents & POLLOUT) == 0)
		return false;
	return write(STDERR_FILENO, text, len) == (ssize_t)len;
}

/* Connect to the system's logger. Not syslog(3): it waits for a logger that
 * does not read. */
static void
open_logger(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	memcpy(sun.sun_path, _PATH_LOG, sizeof(_PATH_LOG));
	state.logger =
	    socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (state.logger >= 0 &&
	    connect(state.logger, (const struct sockaddr *)&sun, sizeof(sun)) !=
		0) {
		close(state.logger);
		state.logger = -1;
	}
}

static void
close_logger(void)
{
	if (state.logger >= 0)
		close(state.logger);
	state.logger = -1;
}

/* Send TEXT as the logger expects it (RFC 3164, as glibc does). */
static bool
write_logger(enum log_level level, const char *text)
{
	char datagram[LOG_LINE_MAX + 64], date[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (localtime_r(&now, &tm) != NULL)
		strftime(date, sizeof(date), "%b %e %H:%M:%S", &tm);
	n = snprintf(datagram, sizeof(datagram), "<%d>%s postern[%ld]: %s",
	    LOG_DAEMON | priorities[level], date, (long)getpid(), text);
	for (unsigned tries = 0; tries < 2; tries++) {
		if (state.logger < 0)
			open_logger();
		if (state.logger < 0)
			return false;
		if (send(state.logger, datagram, (size_t)n, MSG_NOSIGNAL) == n)
			return true;
		if (errno == EAGAIN)
			return false;
		close_logger(); /* it was restarted: once more */
	}
	return false;
}

void
log_event(enum log_event event, const struct log_field *fields)
{
	char text[LOG_LINE_MAX + 1];
	const struct log_event_info *e = log_event_info(event);
	bool written;

	if (!log_wants(e->level))
		return;
	if (state.target == TARGET_SYSLOG) {
		struct line l = {text, 0, LOG_LINE_MAX};
		if (state.format == FORMAT_JSON)
			put(&l, "{");
		put_event(&l, state.format, event, fields);
		text[l.len] = '\0';
		written = write_logger(e->level, text);
	} else {
		size_t len = log_format_line(text, LOG_LINE_MAX, state.format,
		    time(NULL), event, fields);
		text[len++] = '\n';
		written = write_stderr(text, len);
	}
	state.dropped += !written;
}

uint64_t
log_dropped(void)
{
	return state.dropped;
}

void
log_plain(enum log_event event)
{
	log_event(event, NULL);
}

void
log_configure(
    enum log_level level, enum log_format format, enum log_target target)
{
	if (target != TARGET_SYSLOG)
		close_logger();
	state.level = level;
	state.format = format;
	state.target = target;
}

bool
log_wants(enum log_level level)
{
	return level <= state.level;
}

void
log_set_level(enum log_level level)
{
	state.level = level;
}

enum log_level
log_current_level(void)
{
	return state.level;
}

const char *
log_level_name(enum log_level level)
{
	return levels[(unsigned)level <= LEVEL_DEBUG ? level : LEVEL_DEBUG];
}
