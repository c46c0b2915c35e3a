/* Tor told, the gateway looked at and started: setup_parts.h. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/setup_parts.h"
#include "cmd/unix_dial.h"
#include "daemon/checkup.h"
#include "store/file.h"

/* Where Debian's tor has its process number (its torrc-defaults say so). */
#define TOR_PID_FILE "/run/tor/tor.pid"
#define TORRC_MAX ((size_t)1 << 20)
/* Tor makes its keys in less; a gateway reads a list of millions in less. */
#define HOSTNAME_SECONDS 60
#define START_SECONDS 60
#define POLL_MS 100
#define ARGS_MAX 8

static void
nap(void)
{
	const struct timespec t = {.tv_nsec = POLL_MS * 1000000L};

	nanosleep(&t, NULL);
}

/* Become PROGRAM with ARGV. exec wants words that may be written to. */
_Noreturn static void
become(const char *program, const char *const *argv)
{
	char *words[ARGS_MAX + 1] = {NULL};

	for (size_t i = 0; i < ARGS_MAX && argv[i] != NULL; i++)
		words[i] = strdup(argv[i]);
	execvp(program, words);
	_exit(127);
}

bool
setup_run(struct buffer *out, const char *const *argv)
{
	int ends[2], status = -1;
	char part[4096];
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		if (out != NULL)
			dup2(ends[1], STDOUT_FILENO);
		become(argv[0], argv);
	}
	close(ends[1]);
	while (child > 0 && (n = read(ends[0], part, sizeof(part))) > 0)
		if (out != NULL)
			buffer_put(out, part, (size_t)n);
	close(ends[0]);
	if (child > 0)
		waitpid(child, &status, 0);
	return status == 0;
}

/* --- tor --- */

/* The file in which the tor of TORRC keeps its process number. */
static void
find_pid_file(char out[static SETUP_TEXT_MAX], const char *torrc)
{
	static const char key[] = "PidFile";
	char *text;
	size_t len;

	snprintf(out, SETUP_TEXT_MAX, "%s", TOR_PID_FILE);
	if (file_load(&text, &len, torrc, TORRC_MAX, FILE_ANYBODY) != ST_OK)
		return;
	for (const char *s = text; *s != '\0';
	     s += strcspn(s, "\n"), s += *s == '\n') {
		s += strspn(s, " \t");
		if (strncasecmp(s, key, sizeof(key) - 1) != 0 ||
		    strspn(s + sizeof(key) - 1, " \t") == 0)
			continue;
		const char *path = s + sizeof(key) - 1;
		path += strspn(path, " \t\"");
		snprintf(out, SETUP_TEXT_MAX, "%.*s",
		    (int)strcspn(path, "\"\r\n#"), path);
	}
	free(text);
}

/* Send HUP to the tor whose number is in the file PATH. */
static bool
signal_tor(const char *path)
{
	char text[32], comm[64], proc[64];
	uint64_t pid;
	size_t len;

	if (file_read(text, sizeof(text), &len, path, FILE_ANYBODY) != ST_OK)
		return false;
	text[strcspn(text, " \r\n")] = '\0';
	if (decimal_u64(&pid, span_str(text), INT32_MAX) != ST_OK || pid < 2)
		return false;
	/* The number may be somebody else's by now. */
	snprintf(proc, sizeof(proc), "/proc/%d/comm", (int)pid);
	return file_read(comm, sizeof(comm), &len, proc, FILE_ANYBODY) ==
	    ST_OK &&
	    strcmp(comm, "tor\n") == 0 && kill((pid_t)pid, SIGHUP) == 0;
}

/* Make tor read its configuration. Returns: it could be told to. */
static bool
reload_tor(const struct setup *s)
{
	static const char *const argv[] = {
	    "systemctl", "reload-or-restart", "tor", NULL};
	char path[SETUP_TEXT_MAX];

	if (s->systemd) {
		printf("$ systemctl reload-or-restart tor\n");
		return setup_run(NULL, argv);
	}
	find_pid_file(path, s->value[SETUP_TORRC]);
	printf("$ kill -HUP $(cat %s)\n", path);
	return signal_tor(path);
}

enum status
setup_tell_tor(const struct setup *s, const char *hostname)
{
	if (!s->torrc_changed && access(hostname, F_OK) == 0)
		return ST_OK;
	if (!reload_tor(s)) {
		cli_error(s->name,
		    "tor can not be told (start it, then run postern setup "
		    "again)");
		return ST_NOT_FOUND;
	}
	for (int i = 0; i < HOSTNAME_SECONDS * 1000 / POLL_MS; i++) {
		if (access(hostname, F_OK) == 0)
			return ST_OK;
		nap();
	}
	cli_error(s->name,
	    "%s: tor has not made it (does its log say why? tor "
	    "--verify-config "
	    "-f %s)",
	    hostname, s->value[SETUP_TORRC]);
	return ST_NOT_FOUND;
}

/* --- the check --- */

enum status
setup_check(const struct setup *s)
{
	struct findings f = {0};
	struct config *c;
	bool good;

	config_examine(&c, &f, s->config, NULL, 0);
	if (c != NULL)
		checkup(c, &f, s->value[SETUP_TORRC], checkup_user(c));
	for (size_t i = 0; i < f.n; i++) {
		const struct finding *one = &f.items[i];
		if (one->severity != FINDING_NOTE)
			printf("%s: %s: %s (%s)\n", one->where,
			    severity_name(one->severity), one->what, one->cure);
	}
	good = f.errors == 0;
	printf("check: %zu error%s, %zu warning%s\n", f.errors,
	    f.errors == 1 ? "" : "s", f.warnings, f.warnings == 1 ? "" : "s");
	if (c != NULL)
		config_unref(&c);
	findings_clear(&f);
	if (!good)
		cli_error(
		    s->name, "the gateway would not run: nothing is started");
	return good ? ST_OK : ST_BAD_VALUE;
}

/* --- the gateway --- */

static bool
is_up(const struct setup *s)
{
	int fd = unix_dial(s->value[SETUP_CONTROL], 1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static enum status
start_unit(const struct setup *s)
{
	static const char *const enable[] = {
	    "systemctl", "enable", "--now", "postern", NULL};
	static const char *const restart[] = {
	    "systemctl", "restart", "postern", NULL};
	bool again = s->config_changed && is_up(s);

	printf("$ systemctl enable --now postern\n");
	if (setup_run(NULL, enable) && (!again || setup_run(NULL, restart)))
		return ST_OK;
	cli_error(s->name, "the unit does not start (journalctl -u postern)");
	return ST_SYS;
}

/* Make the folder of PATH, for USER; NULL: for us. */
static void
make_folder_of(const char *path, const struct passwd *user)
{
	char folder[SETUP_TEXT_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return;
	*slash = '\0';
	/* What can not be made, the check has named. */
	if (mkdir(folder, 0755) == 0 && user != NULL &&
	    chown(folder, user->pw_uid, user->pw_gid) != 0)
		rmdir(folder);
}

/* Become a gateway in a session of its own, its log on the standard error. */
static void
run_gateway(const struct setup *s, const struct passwd *user, int log)
{
	const char *argv[ARGS_MAX] = {"postern", "run", "-c", s->config};

	if (user != NULL) {
		argv[4] = "--set";
		argv[5] = "run.user=" CHECKUP_UNIT_USER;
	}
	setsid();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	become("/proc/self/exe", argv);
}

static enum status
wait_for_gateway(const struct setup *s, pid_t child, const char *log)
{
	for (int i = 0; i < START_SECONDS * 1000 / POLL_MS; i++) {
		if (waitpid(child, NULL, WNOHANG) != 0) {
			cli_error(
			    s->name, "the gateway has ended: see %s", log);
			return ST_CLOSED;
		}
		if (is_up(s)) {
			printf("the gateway runs in the background: process "
			       "%d, log %s\n",
			    (int)child, log);
			return ST_OK;
		}
		nap();
	}
	cli_error(s->name, "the gateway does not answer: see %s", log);
	return ST_CONNECT_TIMEOUT;
}

/* Open the gateway's log. Its folder is the gateway's user's: what stands there
 * already may be a pipe, or another name of a file of root's.
 * Returns: -1, with errno. */
static int
open_log(const char *path)
{
	struct stat st;
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	    0600);

	if (fd < 0 ||
	    (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static enum status
start_in_background(const struct setup *s)
{
	const struct passwd *user = NULL;
	char path[SETUP_TEXT_MAX + 8];
	int log;

	if (geteuid() == 0 && strcmp(s->config, CONFIG_DEFAULT_PATH) == 0)
		user = getpwnam(CHECKUP_UNIT_USER);
	make_folder_of(s->value[SETUP_CONTROL], user);
	make_folder_of(s->value[SETUP_JOURNAL], user);
	snprintf(path, sizeof(path), "%s.log", s->value[SETUP_JOURNAL]);
	log = open_log(path);
	if (log < 0) {
		cli_error(s->name, "%s: %s", path, strerror(errno));
		return ST_SYS;
	}
	printf("$ postern run -c %s &\n", s->config);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		run_gateway(s, user, log);
	close(log);
	return child > 0 ? wait_for_gateway(s, child, path) : ST_SYS;
}

enum status
setup_start(const struct setup *s)
{
	if (s->systemd)
		return start_unit(s);
	if (!is_up(s))
		return start_in_background(s);
	printf("the gateway runs already%s\n",
	    s->config_changed ? ": start it anew, for what was written to hold"
			      : "");
	return ST_OK;
}
