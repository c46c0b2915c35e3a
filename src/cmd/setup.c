/* postern setup: tor's lines, the configuration and the member file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/setup_probe.h"
#include "cmd/setup_text.h"
#include "daemon/config.h"
#include "store/file.h"

/* Where the keys of a group begin in those of write_conf. */
#define GROUP_KEYS 5
#define FILE_MAX ((size_t)1 << 20)
#define CREDENTIAL "/run/credentials/postern.service/onion"

enum {
	OPT_CONFIG,
	OPT_TORRC,
	OPT_ONION_DIR,
	OPT_LISTEN,
	OPT_MEMBERS,
	OPT_JOURNAL,
	OPT_SOCKS,
	OPT_TOR,
	OPT_WAIT,
	OPT_DRY_RUN,
	OPTIONS
};

static const struct cli_option options[] = {
    [OPT_CONFIG] = {"config", 'c', "FILE",
	"the configuration (" CONFIG_DEFAULT_PATH ")"},
    [OPT_TORRC] = {"torrc", 0, "FILE", "tor's configuration (/etc/tor/torrc)"},
    [OPT_ONION_DIR] = {"onion-dir", 0, "DIR",
	"tor's folder of the onion service (/var/lib/tor/postern)"},
    [OPT_LISTEN] = {"listen", 'l', "ADDRESS",
	"where tor finds the gateway (127.0.0.1:8080)"},
    [OPT_MEMBERS] = {"members", 'm', "FILE",
	"the member file (/etc/postern/members)"},
    [OPT_JOURNAL] = {"journal", 0, "FILE",
	"where counts survive a restart (/var/lib/postern/journal)"},
    [OPT_SOCKS] = {"socks", 0, "HOST:PORT",
	"tor's SOCKS port, to see the onion answer (127.0.0.1:9050)"},
    [OPT_TOR] = {"tor", 0, "PROGRAM", "tor, asked which options it has (tor)"},
    [OPT_WAIT] = {"wait", 'w', "SECONDS",
	"wait so long for the onion to answer; 0: do not (180)"},
    [OPT_DRY_RUN] = {"dry-run", 'n', NULL,
	"show what would be written, and write nothing"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const char *const fallbacks[OPTIONS] = {
    [OPT_CONFIG] = CONFIG_DEFAULT_PATH,
    [OPT_TORRC] = "/etc/tor/torrc",
    [OPT_ONION_DIR] = "/var/lib/tor/postern",
    [OPT_LISTEN] = "127.0.0.1:8080",
    [OPT_MEMBERS] = "/etc/postern/members",
    [OPT_JOURNAL] = "/var/lib/postern/journal",
    [OPT_SOCKS] = "127.0.0.1:9050",
    [OPT_TOR] = "tor",
};

/* The text of PATH, "" where there is none. */
static enum status
load(char **text, const char *name, const char *path)
{
	size_t len;
	enum status st = file_load(text, &len, path, FILE_MAX, FILE_ANYBODY);

	if (st == ST_SYS && errno == ENOENT) {
		*text = strdup("");
		return *text != NULL ? ST_OK : ST_NO_MEMORY;
	}
	if (st != ST_OK)
		cli_error(name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

/* The lines of NEW that OLD has not, as a patch would show them; NEW is OLD
 * with lines put in. */
static void
show(const char *path, const char *old, const char *new)
{
	printf("%s:\n", path);
	while (*new != '\0') {
		size_t n = strcspn(new, "\n"), m = strcspn(old, "\n");
		if (n == m && strncmp(new, old, n) == 0 && *old != '\0')
			old += m + (old[m] == '\n');
		else
			printf("  + %.*s\n", (int)n, new);
		new += n + (new[n] == '\n');
	}
}

/* Make PATH hold NEW where ADDED lines make it differ from OLD. */
static enum status
apply(const char *name, const char *path, const char *old,
    const struct buffer *new, size_t added, bool dry)
{
	struct stat info;
	mode_t mode = stat(path, &info) == 0 ? info.st_mode & 0777 : 0644;
	enum status st;

	if (buffer_failed(new))
		return ST_NO_MEMORY;
	if (added == 0) {
		printf("%s: nothing to change\n", path);
		return ST_OK;
	}
	show(path, old, new->text);
	if (dry)
		return ST_OK;
	st = file_replace(path, new->text, new->len, mode);
	if (st != ST_OK)
		cli_error(name,
		    "%s: %s (are you root, and is its folder "
		    "there?)",
		    path, st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

/* What this tor's options are called, a line each. */
static enum status
ask_tor(struct buffer *out, const char *name, const char *tor)
{
	int ends[2], status = -1;
	char part[4096];
	ssize_t n;

	if (pipe(ends) != 0)
		return ST_SYS;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp(tor, tor, "--list-torrc-options", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (child > 0 && (n = read(ends[0], part, sizeof(part))) > 0)
		buffer_put(out, part, (size_t)n);
	close(ends[0]);
	if (child > 0)
		waitpid(child, &status, 0);
	if (status == 0 && out->len > 0 && !buffer_failed(out))
		return ST_OK;
	cli_error(name,
	    "%s --list-torrc-options does not work (apt-get install "
	    "tor, or say where it is with --tor)",
	    tor);
	return ST_NOT_FOUND;
}

static enum status
write_torrc(const char *name, const char *const *v, bool dry)
{
	struct buffer known = {0}, new = {0};
	char *old = NULL;
	enum status st = ask_tor(&known, name, v[OPT_TOR]);

	if (st == ST_OK)
		st = load(&old, name, v[OPT_TORRC]);
	if (st == ST_OK) {
		struct setup_service service = {
		    v[OPT_ONION_DIR], v[OPT_LISTEN], known.text};
		size_t added = setup_torrc(&new, old, &service);
		st = apply(name, v[OPT_TORRC], old, &new, added, dry);
	}
	buffer_clear(&known);
	buffer_clear(&new);
	free(old);
	return st;
}

static enum status
write_conf(
    const char *name, const char *const *v, const char *hostname, bool dry)
{
	/* The unit hands tor's file over, which is tor's alone. */
	const char *onion =
	    access("/run/systemd/system", F_OK) == 0 ? CREDENTIAL : hostname;
	struct setup_key keys[] = {
	    {"gateway", "listen", v[OPT_LISTEN]},
	    {"gateway", "proxy_line", "required"},
	    {"gateway", "onion", onion},
	    {"egress", "allow", "*"},
	    {"ledger", "journal", v[OPT_JOURNAL]},
	    [GROUP_KEYS] = {"group members", "members", v[OPT_MEMBERS]},
	    {"group members", "requests", "1000"},
	    {NULL, NULL, NULL},
	};
	struct buffer new = {0};
	char *old;
	enum status st = load(&old, name, v[OPT_CONFIG]);

	if (st == ST_OK) {
		/* Groups of the operator's own are enough. */
		if (strncmp(old, "[group ", 7) == 0 ||
		    (strstr(old, "\n[group ") != NULL &&
			strstr(old, "\n[group members]") == NULL))
			keys[GROUP_KEYS].section = NULL;
		size_t added = setup_conf(&new, old, keys);
		st = apply(name, v[OPT_CONFIG], old, &new, added, dry);
	}
	buffer_clear(&new);
	free(old);
	return st;
}

static enum status
write_members(const char *name, const char *path, bool dry)
{
	static const char text[] =
	    "# One commitment a line: postern group add FILE COMMITMENT\n";

	if (access(path, F_OK) == 0) {
		printf("%s: nothing to change\n", path);
		return ST_OK;
	}
	printf("%s:\n  + %s", path, text);
	if (dry)
		return ST_OK;
	enum status st = file_create(path, text, sizeof(text) - 1, 0644);
	if (st != ST_OK)
		cli_error(name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

/* Wait until the onion in the file HOSTNAME answers, at most SECONDS. */
static bool
wait_for_onion(char onion[static 80], const char *hostname, const char *host,
    uint16_t port, uint64_t seconds)
{
	time_t end = time(NULL) + (time_t)seconds;

	do {
		size_t len;
		if (file_read(onion, 80, &len, hostname, FILE_ANYBODY) ==
		    ST_OK) {
			onion[strcspn(onion, " \t\r\n")] = '\0';
			if (setup_probe(host, port, onion))
				return true;
		}
		sleep(1);
	} while (time(NULL) < end);
	return false;
}

static int
finish(const char *name, const char *const *v, const char *hostname,
    uint64_t seconds)
{
	char onion[80] = "", host[16] = "";
	unsigned port = 0;
	char more;

	printf("\nNow: systemctl reload tor && systemctl enable --now "
	       "postern\n");
	if (seconds == 0)
		return CLI_OK;
	if (sscanf(v[OPT_SOCKS], "%15[0-9.]:%5u%c", host, &port, &more) != 2 ||
	    port == 0 || port > 65535) {
		cli_error(name, "--socks: not HOST:PORT: %s", v[OPT_SOCKS]);
		return CLI_ERROR;
	}
	printf("waiting until the onion answers (Ctrl-C ends the waiting "
	       "alone)\n");
	fflush(stdout);
	if (!wait_for_onion(onion, hostname, host, (uint16_t)port, seconds)) {
		cli_error(name, "%s (postern check tells more)",
		    onion[0] == '\0'
			? "tor has made no onion service: was it reloaded?"
			: "the onion does not answer: do tor and postern run?");
		return CLI_NO;
	}
	printf("\nonion address: %s\nmember file:   %s\na member's line: "
	       "postern client -i me.id -g %s -m members\n",
	    onion, v[OPT_MEMBERS], onion);
	return CLI_OK;
}

int
cmd_setup(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--dry-run] [OPTION...]",
	    .summary =
		"Set up the gateway behind this machine's tor: its onion "
		"service's lines in torrc,\nthe keys that postern.conf lacks, "
		"an empty member file. What is there stays.\nThen wait until "
		"the onion answers, and print its address and a member's "
		"line.",
	    .options = options,
	    .notes = "Exit status: 0: done; 1: written, and the onion does not "
		     "answer yet; 2: not done.",
	    .min_args = 0,
	    .max_args = 0,
	};
	const char *v[OPTIONS + 1];
	char hostname[4096];
	uint64_t seconds = 180;
	int args, code = cli_parse(&spec, argc, argv, v, &args);

	if (code >= 0)
		return code;
	for (int i = 0; i < OPTIONS; i++)
		v[i] = v[i] != NULL ? v[i] : fallbacks[i];
	if (!cli_number(&seconds, argv[0], "wait", v[OPT_WAIT], 0, 86400))
		return CLI_ERROR;
	bool dry = v[OPT_DRY_RUN] != NULL;
	snprintf(hostname, sizeof(hostname), "%s/hostname", v[OPT_ONION_DIR]);
	if (write_torrc(argv[0], v, dry) != ST_OK ||
	    write_conf(argv[0], v, hostname, dry) != ST_OK ||
	    write_members(argv[0], v[OPT_MEMBERS], dry) != ST_OK)
		return CLI_ERROR;
	return dry ? CLI_OK : finish(argv[0], v, hostname, seconds);
}
