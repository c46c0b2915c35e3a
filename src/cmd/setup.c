/* postern setup: tor's lines, the configuration and the member file. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmd/ask.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/setup_parts.h"
#include "cmd/setup_probe.h"
#include "cmd/setup_text.h"
#include "daemon/checkup.h"
#include "daemon/config.h"
#include "store/file.h"

/* Where these keys are in those of write_conf. */
#define ONION_KEYS 1
#define GROUP_KEYS 6
#define FILE_MAX ((size_t)1 << 20)
#define SYSTEMD "/run/systemd/system"
/* Of several ports from the usual one on, the first that is free is offered. */
#define LISTEN_PORT 8080
#define LISTEN_TRIES 20

/* The first are enum setup_value. */
enum {
	OPT_CONFIG = SETUP_VALUES,
	OPT_WAIT,
	OPT_YES,
	OPT_NO_START,
	OPT_DRY_RUN,
	OPTIONS
};

static const struct cli_option options[] = {
    [SETUP_TORRC] = {"torrc", 0, "FILE",
	"tor's configuration (" CHECKUP_TORRC ")"},
    [SETUP_ONION_DIR] = {"onion-dir", 0, "DIR",
	"tor's folder of the onion service (/var/lib/tor/postern)"},
    [SETUP_LISTEN] = {"listen", 'l', "ADDRESS",
	"where tor finds the gateway (127.0.0.1:8080, or the next free port)"},
    [SETUP_MEMBERS] = {"members", 'm', "FILE",
	"the member file (/etc/postern/members)"},
    [SETUP_JOURNAL] = {"journal", 0, "FILE",
	"where counts survive a restart (/var/lib/postern/journal)"},
    [SETUP_CONTROL] = {"control", 0, "PATH",
	"the socket of postern ctl (/run/postern/control)"},
    [SETUP_SOCKS] = {"socks", 0, "HOST:PORT",
	"tor's SOCKS port, to see the onion answer (127.0.0.1:9050)"},
    [SETUP_TOR] = {"tor", 0, "PROGRAM",
	"tor, asked which options it has (tor)"},
    [OPT_CONFIG] = {"config", 'c', "FILE",
	"the configuration (" CONFIG_DEFAULT_PATH ")"},
    [OPT_WAIT] = {"wait", 'w', "SECONDS",
	"wait so long for the onion to answer; 0: do not (180)"},
    [OPT_YES] = {"yes", 'y', NULL, "ask nothing"},
    [OPT_NO_START] = {"no-start", 0, NULL,
	"write, and start nothing: say what is to be done"},
    [OPT_DRY_RUN] = {"dry-run", 'n', NULL,
	"show what would be written, and write nothing"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const char *const fallbacks[SETUP_VALUES] = {
    [SETUP_TORRC] = CHECKUP_TORRC,
    [SETUP_ONION_DIR] = "/var/lib/tor/postern",
    [SETUP_LISTEN] = "127.0.0.1:8080",
    [SETUP_MEMBERS] = "/etc/postern/members",
    [SETUP_JOURNAL] = CHECKUP_UNIT_STATE "/journal",
    [SETUP_CONTROL] = CHECKUP_UNIT_RUN "/control",
    [SETUP_SOCKS] = "127.0.0.1:9050",
    [SETUP_TOR] = "tor",
};

/* --- what is wanted ------------------------------------------------------- */

/* The configuration sets VALUE to TEXT (NULL: it does not): a flag that says
 * otherwise would be half of a change. */
static bool
take_set(struct setup *s, enum setup_value value, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return true;
	if (s->fixed[value] && strcmp(s->value[value], text) != 0) {
		cli_error(s->name,
		    "--%s: %s says %s, and what is set there stays (change it "
		    "there, or leave the option out)",
		    options[value].name, s->config, text);
		return false;
	}
	snprintf(s->value[value], SETUP_TEXT_MAX, "%s", text);
	s->fixed[value] = true;
	return true;
}

/* The folder of the hostname file that C names; "" if it names none. */
static void
find_onion_dir(char out[static SETUP_TEXT_MAX], const struct config *c)
{
	static const char name[] = "/hostname";
	const char *file = c->gateway.onion;
	size_t n = file != NULL ? strlen(file) : 0, m = sizeof(name) - 1;

	out[0] = '\0';
	if (n > m && file[0] == '/' && strcmp(file + n - m, name) == 0)
		snprintf(out, SETUP_TEXT_MAX, "%.*s", (int)(n - m), file);
}

/* Take over what the configuration says already. */
static bool
take_configuration(struct setup *s)
{
	struct findings f = {0};
	struct config *c = NULL;
	char dir[SETUP_TEXT_MAX];
	bool good = true;

	if (access(s->config, F_OK) != 0)
		return true;
	/* What is wrong with it, the check will say. */
	config_examine(&c, &f, s->config, NULL, 0);
	findings_clear(&f);
	if (c == NULL)
		return true;
	find_onion_dir(dir, c);
	s->asks_tor = c->tor.onion_key != NULL;
	s->follows = c->groups_n > 0 && c->groups[0].members == NULL;
	if (config_is_set(c, NULL, "gateway", "listen"))
		good =
		    take_set(s, SETUP_LISTEN, c->gateway.listen.items[0].text);
	good = good && take_set(s, SETUP_ONION_DIR, dir) &&
	    take_set(s, SETUP_MEMBERS,
		c->groups_n > 0 ? config_group_file(&c->groups[0]) : NULL) &&
	    take_set(s, SETUP_JOURNAL, c->ledger.journal) &&
	    take_set(s, SETUP_CONTROL, c->control.socket);
	config_unref(&c);
	return good;
}

/* Whether PORT of 127.0.0.1 can be listened at. */
static bool
is_free(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0;

	if (fd >= 0)
		close(fd);
	return yes;
}

/* Give what is not known yet what most will want. */
static void
take_fallbacks(struct setup *s)
{
	for (int i = 0; i < SETUP_VALUES; i++) {
		if (s->value[i][0] == '\0')
			snprintf(
			    s->value[i], SETUP_TEXT_MAX, "%s", fallbacks[i]);
	}
	for (uint16_t i = 0; i < LISTEN_TRIES && !s->fixed[SETUP_LISTEN]; i++) {
		if (!is_free((uint16_t)(LISTEN_PORT + i)))
			continue;
		snprintf(s->value[SETUP_LISTEN], SETUP_TEXT_MAX, "127.0.0.1:%u",
		    (unsigned)LISTEN_PORT + i);
		break;
	}
}

/* Everything before the first file is written. */
static bool
decide(struct setup *s, const char *const *values)
{
	bool answered = values[SETUP_TORRC] != NULL ||
	    values[SETUP_LISTEN] != NULL || values[SETUP_MEMBERS] != NULL;

	s->questions = !answered && values[OPT_YES] == NULL &&
	    isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	s->config = values[OPT_CONFIG] != NULL ? values[OPT_CONFIG]
					       : CONFIG_DEFAULT_PATH;
	s->dry = values[OPT_DRY_RUN] != NULL;
	s->start = values[OPT_NO_START] == NULL;
	s->wait_seconds = 180;
	for (int i = 0; i < SETUP_VALUES; i++) {
		if (values[i] == NULL)
			continue;
		if (strlen(values[i]) >= SETUP_TEXT_MAX) {
			cli_error(s->name, "--%s: too long", options[i].name);
			return false;
		}
		memcpy(s->value[i], values[i], strlen(values[i]) + 1);
		s->fixed[i] = true;
	}
	if (!cli_number(&s->wait_seconds, s->name, "wait", values[OPT_WAIT], 0,
		86400) ||
	    !take_configuration(s))
		return false;
	take_fallbacks(s);
	if (s->questions && setup_ask(s) != ST_OK) {
		cli_error(s->name, "no answer: nothing has been changed");
		return false;
	}
	s->systemd = access(SYSTEMD, F_OK) == 0 &&
	    strcmp(s->config, CONFIG_DEFAULT_PATH) == 0 &&
	    strcmp(s->value[SETUP_TORRC], CHECKUP_TORRC) == 0;
	return true;
}

/* --- files ---------------------------------------------------------------- */

/* A file as it is and as it is to be. */
struct edit {
	const char *path;
	char *old; /* NULL: there is none */
	struct buffer new;
	bool changes;
};

/* What setup writes, in this order: what leads to the gateway comes last. */
enum { EDIT_MEMBERS, EDIT_CONFIG, EDIT_TORRC, EDITS };

static enum status
edit_load(struct edit *e, const char *name, const char *path)
{
	size_t len;
	enum status st = file_load(&e->old, &len, path, FILE_MAX, FILE_ANYBODY);

	e->path = path;
	if (st == ST_OK || (st == ST_SYS && errno == ENOENT))
		return ST_OK;
	cli_error(name, "%s: %s", path,
	    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

static const char *
edit_old(const struct edit *e)
{
	return e->old != NULL ? e->old : "";
}

static void
edit_show(const struct edit *e)
{
	if (e->changes)
		setup_diff(stdout, e->path, e->old, e->new.text);
	else
		printf("%s: nothing to change\n", e->path);
}

static enum status
edit_write(const struct edit *e, const char *name)
{
	enum status st = e->changes
	    ? file_replace(e->path, e->new.text, e->new.len, 0644)
	    : ST_OK;

	if (st != ST_OK)
		cli_error(name,
		    "%s: %s (are you root, and is its folder there?)", e->path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

static enum status
plan_torrc(struct edit *e, const struct setup *s)
{
	const char *tor = s->value[SETUP_TOR];
	const char *const argv[] = {tor, "--list-torrc-options", NULL};
	struct buffer known = {0};
	enum status st;

	if (!setup_run(&known, argv) || known.len == 0) {
		buffer_clear(&known);
		cli_error(s->name,
		    "%s --list-torrc-options does not work (apt-get install "
		    "tor, or say where it is with --tor)",
		    tor);
		return ST_NOT_FOUND;
	}
	st = edit_load(e, s->name, s->value[SETUP_TORRC]);
	if (st == ST_OK) {
		struct setup_service service = {s->value[SETUP_ONION_DIR],
		    s->value[SETUP_LISTEN], known.text};
		e->changes = setup_torrc(&e->new, edit_old(e), &service) > 0;
	}
	buffer_clear(&known);
	return st;
}

static enum status
plan_conf(struct edit *e, const struct setup *s, const char *hostname)
{
	struct setup_key keys[] = {
	    {"gateway", "listen", s->value[SETUP_LISTEN]},
	    [ONION_KEYS] = {"gateway", "onion", hostname},
	    {"gateway", "proxy_line", "required"},
	    {"egress", "allow", "*"},
	    {"ledger", "journal", s->value[SETUP_JOURNAL]},
	    {"control", "socket", s->value[SETUP_CONTROL]},
	    [GROUP_KEYS] = {"group members", "members",
		s->value[SETUP_MEMBERS]},
	    {"group members", "requests", "1000"},
	    {NULL, NULL, NULL},
	};
	enum status st = edit_load(e, s->name, s->config);
	const char *old = edit_old(e);

	if (st != ST_OK)
		return st;
	/* Tor is asked for the service: it is the key's, and sends no line. */
	if (s->asks_tor)
		memmove(keys + ONION_KEYS, keys + ONION_KEYS + 2,
		    sizeof(keys) - (ONION_KEYS + 2) * sizeof(keys[0]));
	/* Groups of the operator's own are enough. */
	if (strncmp(old, "[group ", 7) == 0 ||
	    (strstr(old, "\n[group ") != NULL &&
		strstr(old, "\n[group members]") == NULL))
		keys[GROUP_KEYS - (s->asks_tor ? 2 : 0)].section = NULL;
	e->changes = setup_conf(&e->new, old, keys) > 0;
	return ST_OK;
}

static enum status
plan_members(struct edit *e, const struct setup *s)
{
	e->path = s->value[SETUP_MEMBERS];
	e->changes = !s->follows && access(e->path, F_OK) != 0;
	buffer_text(&e->new,
	    "# One commitment a line: postern group add FILE COMMITMENT\n");
	return ST_OK;
}

/* Show and, unless it is a dry run, write all files.
 * Returns: ST_OK; ST_CLOSED: somebody said no; else it has been said. */
static enum status
write_files(struct setup *s, const char *hostname)
{
	struct edit edits[EDITS] = {{0}};
	enum status st = plan_members(&edits[EDIT_MEMBERS], s);
	size_t n = s->asks_tor ? EDIT_TORRC : EDITS;

	if (st == ST_OK)
		st = plan_conf(&edits[EDIT_CONFIG], s, hostname);
	if (st == ST_OK && !s->asks_tor)
		st = plan_torrc(&edits[EDIT_TORRC], s);
	for (size_t i = 0; i < n && st == ST_OK; i++) {
		if (buffer_failed(&edits[i].new))
			st = ST_NO_MEMORY;
		else
			edit_show(&edits[i]);
	}
	if (st == ST_OK && s->questions && !s->dry && !setup_agree())
		st = ST_CLOSED;
	for (size_t i = 0; i < n && st == ST_OK && !s->dry; i++)
		st = edit_write(&edits[i], s->name);
	s->config_changed = edits[EDIT_CONFIG].changes;
	s->torrc_changed = edits[EDIT_TORRC].changes;
	for (size_t i = 0; i < EDITS; i++) {
		buffer_clear(&edits[i].new);
		free(edits[i].old);
	}
	return st;
}

/* --- and then ------------------------------------------------------------- */

/* The onion address: in tor's HOSTNAME file, or what the gateway says. */
static bool
find_onion(char onion[static 80], const struct setup *s, const char *hostname)
{
	size_t len;

	onion[0] = '\0';
	if (!s->asks_tor &&
	    file_read(onion, 80, &len, hostname, FILE_ANYBODY) == ST_OK)
		onion[strcspn(onion, " \t\r\n")] = '\0';
	if (s->asks_tor) {
		json_t *answer = ask_gateway(
		    s->name, s->value[SETUP_CONTROL], "status", NULL);
		snprintf(onion, 80, "%s",
		    ask_text(json_object_get(answer, "result"), "onion"));
		json_decref(answer);
	}
	return onion[0] != '\0';
}

/* Wait until ONION answers through tor. */
static bool
wait_for_onion(const struct setup *s, const char *onion)
{
	time_t end = time(NULL) + (time_t)s->wait_seconds;
	char host[16] = "", more;
	unsigned port = 0;

	/* Five digits fit. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(s->value[SETUP_SOCKS], "%15[0-9.]:%5u%c", host, &port,
		&more) != 2 ||
	    port == 0 || port > 65535) {
		cli_error(s->name, "--socks: not HOST:PORT: %s",
		    s->value[SETUP_SOCKS]);
		return false;
	}
	printf("waiting until the onion answers, for a minute or so (Ctrl-C "
	       "ends the waiting alone)\n");
	fflush(stdout);
	do {
		if (setup_probe(host, (uint16_t)port, onion))
			return true;
		sleep(1);
	} while (time(NULL) < end);
	cli_error(s->name,
	    "the onion does not answer (yet: postern setup waits again; is "
	    "there tor's SOCKS port at %s?)",
	    s->value[SETUP_SOCKS]);
	return false;
}

static void
print_next(const struct setup *s, const char *onion)
{
	const char *file = s->value[SETUP_MEMBERS];

	printf("\nonion address:   %s\nmember file:     %s\n", onion, file);
	if (!s->follows)
		printf(
		    "a new member:    postern group add %s COMMITMENT\n", file);
	printf("a member's line: postern client -i me.id -g %s -m members\n",
	    onion);
}

static int
start(const struct setup *s, const char *hostname)
{
	char onion[80];

	if ((!s->asks_tor && setup_tell_tor(s, hostname) != ST_OK) ||
	    setup_check(s) != ST_OK || setup_start(s) != ST_OK)
		return CLI_ERROR;
	if (!find_onion(onion, s, hostname)) {
		cli_error(s->name, "%s: no onion address", hostname);
		return CLI_ERROR;
	}
	if (s->wait_seconds > 0 && !wait_for_onion(s, onion))
		return CLI_NO;
	print_next(s, onion);
	return CLI_OK;
}

int
cmd_setup(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--dry-run | --no-start] [OPTION...]",
	    .summary =
		"Set up the gateway behind this machine's tor: an empty member "
		"file, the keys that\npostern.conf lacks, its onion service's "
		"lines in torrc. What is there stays. Then\ntell tor, check, "
		"start the gateway, wait until the onion answers through tor, "
		"and\nprint its address and a member's line. On a terminal it "
		"asks first, unless --torrc,\n--listen or --members answer "
		"that.",
	    .options = options,
	    .notes = "Where systemd runs and the files are the usual ones, tor "
		     "and the gateway are its\nunits; else tor gets a signal, "
		     "and the gateway runs in the background.\n"
		     "Exit status: 0: done; 1: done, and the onion does not "
		     "answer yet; 2: not done.",
	    .min_args = 0,
	    .max_args = 0,
	};
	static struct setup s; /* large */
	const char *values[OPTIONS + 1];
	char hostname[SETUP_TEXT_MAX + 16];
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	/* In order with what others say, whoever reads. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	s = (struct setup){.name = argv[0]};
	if (!decide(&s, values))
		return CLI_ERROR;
	snprintf(hostname, sizeof(hostname), "%s/hostname",
	    s.value[SETUP_ONION_DIR]);
	st = write_files(&s, hostname);
	if (st == ST_CLOSED)
		cli_error(argv[0], "nothing has been changed");
	if (st != ST_OK)
		return CLI_ERROR;
	if (s.dry)
		return CLI_OK;
	if (s.start)
		return start(&s, hostname);
	printf("\nNow: systemctl reload tor && postern check -c %s && "
	       "systemctl enable --now postern\n",
	    s.config);
	return CLI_OK;
}
