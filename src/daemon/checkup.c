#include "daemon/checkup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "daemon/gateway_impl.h"
#include "daemon/memory.h"
#include "daemon/onion_service.h"
#include "daemon/privilege.h"
#include "daemon/roll.h"
#include "daemon/sandbox.h"
#include "daemon/tor_link.h"
#include "semaphore/root_file.h"
#include "store/journal_format.h"

#define MEMBERS_MAX ((size_t)512 << 20)
/* Descriptors that are neither a client's nor a target's: files, pipes. */
#define OTHER_DESCRIPTORS 640
/* Days after which a list wants to be looked at. */
#define MEMBERS_OLD_DAYS 180
#define DNS_PATIENCE_MS 3000
#define TOR_PATIENCE_MS 3000
/* No clock that is right is before this: 2026-01-01. */
#define OLDEST_CLOCK 1767225600

/* Where a check stands. */
struct checkup {
	const struct config *c;
	struct findings *f;
	const char *user; /* whose eyes these are; NULL: our own */
	bool running; /* a gateway holds the control socket */
};

static struct place
whole(const char *file)
{
	return (struct place){file, 0};
}

/* --- files and folders --- */

/* The folder of PATH, to be freed. */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return memory_copy(".");
	return memory_format(
	    "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A file that decides who may do what is only as safe as its folder. */
static void
check_guarded_folder(struct findings *f, const char *path)
{
	char *folder = folder_of(path);
	struct stat st;

	if (stat(folder, &st) == 0 && (st.st_mode & S_IWOTH) != 0 &&
	    (st.st_mode & S_ISVTX) == 0)
		findings_add(f, FINDING_ERROR, whole(folder), "chmod o-w",
		    "anyone may replace the files in this folder");
	free(folder);
}

/* The unit (and the init script) makes FOLDER before it starts the gateway. */
static bool
made_by_unit(const struct checkup *k, const char *folder)
{
	return k->user != NULL &&
	    (strcmp(folder, CHECKUP_UNIT_RUN) == 0 ||
		strcmp(folder, CHECKUP_UNIT_STATE) == 0);
}

/* A file will be made at PATH: by the gateway's user, in its folder. */
static void
check_writable_folder(
    const struct checkup *k, const char *path, struct place where)
{
	char *folder = folder_of(path);

	if (euidaccess(folder, W_OK | X_OK) != 0 &&
	    !(errno == ENOENT && made_by_unit(k, folder)))
		findings_add(k->f, FINDING_ERROR, where,
		    errno == ENOENT ? "make it"
				    : "give it to the gateway's user",
		    "the folder %s can not be written to: %s", folder,
		    strerror(errno));
	free(folder);
}

/* The root of the members in TEXT. */
static enum status
read_members(struct group_root *root, const char *text, size_t len,
    struct members_fault *fault)
{
	struct members m;
	enum status st = members_parse(&m, text, len, fault);

	if (st == ST_OK)
		st = group_root_of(root, m.list, m.n, NULL);
	members_clear(&m);
	return st;
}

/* The root in TEXT, if it is one that G's gateway would take now. */
static enum status
read_root(struct group_root *root, const char *text, size_t len,
    const struct config_group *g, struct members_fault *fault)
{
	struct root_file r;
	enum status st = root_file_parse(&r, fault, span_of(text, len));

	*root = r.root;
	if (st == ST_OK &&
	    !roll_time_is_good(
		r.time, g->max_age_ms, (uint64_t)time(NULL) * 1000))
		st = ST_LIFETIME;
	return st;
}

/* Who left is in a list until somebody takes them out. */
static void
check_age(struct findings *f, const char *file)
{
	struct stat st;

	if (stat(file, &st) == 0 &&
	    time(NULL) - st.st_mtime > (time_t)MEMBERS_OLD_DAYS * 86400)
		findings_add(f, FINDING_NOTE, whole(file),
		    "go through it; touch it when it is right",
		    "the list is the same for %lld days",
		    (long long)(time(NULL) - st.st_mtime) / 86400);
}

static void
check_members_of(const struct checkup *k, const struct config_group *g,
    struct group_root *root)
{
	const char *file = config_group_file(g);
	struct place where = whole(file);
	struct roll_fault fault = {0};
	char *text, why[ROLL_FAULT_MAX];
	size_t len;

	*root = (struct group_root){0};
	if (file == NULL)
		return; /* config_check has said so */
	fault.status = file_load(&text, &len, file, MEMBERS_MAX, FILE_GUARDED);
	fault.error = errno;
	if (fault.status == ST_OK && g->members != NULL)
		fault.status = read_members(root, text, len, &fault.where);
	else if (fault.status == ST_OK)
		fault.status = read_root(root, text, len, g, &fault.where);
	if (fault.status != ST_OK)
		findings_add(k->f, FINDING_ERROR, where,
		    file_cure(fault.status, FILE_GUARDED), "[group %s] %s",
		    g->name, roll_fault_text(why, &fault));
	else if (root->size == 0)
		findings_add(k->f, FINDING_WARNING, where,
		    "add members with postern group add, or with ctl members",
		    "[group %s] has no members: nobody of it may pass",
		    g->name);
	else if (root->size < k->c->gateway.anonymity_floor)
		findings_add(k->f, FINDING_WARNING, where,
		    "add members: they hide each other",
		    "[group %s] has %" PRIu64 " members", g->name, root->size);
	free(text);
	if (fault.status == ST_OK && g->members != NULL)
		check_age(k->f, file);
	check_guarded_folder(k->f, file);
}

static void
check_members(const struct checkup *k)
{
	struct group_root *roots =
	    memory_new((k->c->groups_n + 1) * sizeof(*roots));

	for (size_t i = 0; i < k->c->groups_n; i++) {
		check_members_of(k, &k->c->groups[i], &roots[i]);
		for (size_t j = 0; j < i && roots[i].size != 0; j++) {
			if (memcmp(roots[i].root, roots[j].root, 32) == 0)
				findings_add(k->f, FINDING_ERROR,
				    whole(config_group_file(&k->c->groups[i])),
				    "join the two groups",
				    "[group %s] and [group %s] have exactly "
				    "the same members",
				    k->c->groups[j].name, k->c->groups[i].name);
		}
	}
	free(roots);
}

static void
check_keys(const struct checkup *k)
{
	const struct text_list *list = &k->c->gateway.keys;
	struct semaphore_keys *keys;

	/* No official key is needed to look at others. */
	if (list->n == 0 ||
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(1), NULL) != ST_OK)
		return;
	for (size_t i = 0; i < list->n; i++) {
		/* What is wrong is in the findings. */
		if (gateway_add_key(keys, k->c, &list->items[i], k->f) != ST_OK)
			continue;
	}
	semaphore_keys_free(keys);
}

/* Read the header of the journal at PATH, without its lock. */
static enum status
read_journal_header(uint8_t out[static JOURNAL_HEADER], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return ST_SYS;
	if (fstat(fd, &st) == 0)
		n = read(fd, out, JOURNAL_HEADER);
	error = errno;
	close(fd);
	errno = error;
	if (n < 0)
		return ST_SYS;
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return ST_PERMISSION;
	return n == JOURNAL_HEADER ? ST_OK : ST_CORRUPT;
}

static const char *
journal_cure(enum status st)
{
	if (st == ST_FOREIGN)
		return "it was written under another onion, audience, realm or "
		       "epoch: name another file, or change these back";
	if (st == ST_SYS || st == ST_PERMISSION)
		return file_cure(st, FILE_OWNER);
	return "move it away: counts of this epoch begin anew";
}

static void
check_journal(const struct checkup *k, const struct audience *audience)
{
	const char *path = k->c->ledger.journal;
	struct place where;
	uint8_t identity[JOURNAL_IDENTITY], bytes[JOURNAL_HEADER];
	struct journal_header header = {0};
	struct epoch_rules rules;
	enum status st;

	if (path == NULL)
		return;
	where = config_place(k->c, NULL, "ledger", "journal");
	check_writable_folder(k, path, where);
	st = read_journal_header(bytes, path);
	if (st == ST_SYS && errno == ENOENT)
		return; /* it will be made */
	if (st == ST_OK) {
		gateway_epoch_rules(&rules, k->c);
		journal_identity(identity, audience->message, &rules);
		st = journal_header_decode(&header, bytes, identity);
	}
	wipe(&header, sizeof(header));
	wipe(bytes, sizeof(bytes));
	if (st != ST_OK)
		findings_add(k->f, FINDING_ERROR, where, journal_cure(st),
		    "%s: %s", path, file_problem(st, FILE_OWNER));
}

/* --- addresses --- */

static bool
someone_listens(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	bool yes;
	int fd;

	if (path == NULL || strlen(path) >= sizeof(sun.sun_path))
		return false;
	memcpy(sun.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	yes = fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0;
	if (fd >= 0)
		close(fd);
	return yes;
}

/* Whether the address TEXT could be listened at. */
static void
check_address(const struct checkup *k, struct loop *l, const char *section,
    const struct text_item *item)
{
	struct place where = {k->c->path, item->line};
	struct listener_config lc = {.mode = 0600};
	struct listener *ls;
	char path[108];
	enum status st = listener_parse(&lc, path, span_str(item->text));

	if (item->line == 0)
		where = config_place(k->c, NULL, section, "listen");
	if (st != ST_OK)
		return; /* config_check has said so */
	if (lc.kind == LISTEN_UNIX) {
		check_writable_folder(k, path, where);
		return;
	}
	st = listener_new(&ls, l, &lc);
	listener_free(&ls);
	if (st == ST_SYS && errno == EADDRINUSE && k->running)
		return;
	if (st != ST_OK)
		findings_add(k->f, FINDING_ERROR, where,
		    errno == EADDRINUSE
			? "is another gateway running? Else give another port"
			: errno == EACCES ? "use a port above 1023"
					  : "use an address of this machine",
		    "can not listen at %s: %s", item->text,
		    st == ST_SYS ? strerror(errno) : status_text(st));
}

static void
check_addresses(const struct checkup *k)
{
	const struct config *c = k->c;
	struct loop *l;

	if (loop_new(&l) != ST_OK)
		return;
	for (size_t i = 0; i < c->gateway.listen.n; i++)
		check_address(k, l, "gateway", &c->gateway.listen.items[i]);
	for (size_t i = 0; i < c->metrics.listen.n; i++)
		check_address(k, l, "metrics", &c->metrics.listen.items[i]);
	loop_free(&l);
	if (c->control.socket != NULL)
		check_writable_folder(k, c->control.socket,
		    config_place(c, NULL, "control", "socket"));
}

/* --- the machine --- */

static void
check_descriptors(const struct checkup *k)
{
	uint64_t want = 2 * k->c->limits.sessions + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < want)
		findings_add(k->f, FINDING_WARNING,
		    config_place(k->c, NULL, "limits", "sessions"),
		    "raise LimitNOFILE (ulimit -n), or lower limits.sessions",
		    "%llu sessions want %llu descriptors, and %llu may be open",
		    (unsigned long long)k->c->limits.sessions,
		    (unsigned long long)want,
		    (unsigned long long)limit.rlim_max);
}

static void
check_clock(const struct checkup *k)
{
	struct timex t = {0};

	if (time(NULL) < OLDEST_CLOCK)
		findings_add(k->f, FINDING_ERROR, whole("clock"), "set it",
		    "the machine's date is in the past: no proof for today "
		    "would be accepted");
	else if (adjtimex(&t) == TIME_ERROR || (t.status & STA_UNSYNC) != 0)
		findings_add(k->f, FINDING_WARNING, whole("clock"),
		    "run chrony or systemd-timesyncd",
		    "nothing keeps the clock right: epochs follow it");
}

struct dns_try {
	bool done;
	enum status status;
};

static void
dns_answered(
    void *arg, handle_t owner, enum status status, const ip_t *ips, size_t n)
{
	struct dns_try *t = arg;

	(void)owner;
	(void)ips;
	(void)n;
	t->done = true;
	t->status = status;
}

/* Ask the name servers for a name that has always been there. */
static void
check_dns(const struct checkup *k)
{
	struct place where = config_place(k->c, NULL, "egress", "dns");
	struct dns_try try = {.status = ST_DNS_TIMEOUT};
	struct resolver *r = NULL;
	struct loop *l = NULL;
	handle_t query;
	enum status st = loop_new(&l);

	if (st == ST_OK)
		st = gateway_make_resolver(&r, l, k->c, dns_answered, &try);
	if (st != ST_OK) {
		findings_add(k->f, FINDING_ERROR, where,
		    "set egress.dns, or mend /etc/resolv.conf",
		    "no name server can be used: %s", status_text(st));
	} else {
		st = resolver_query(
		    r, &query, (handle_t){0}, span_str("www.iana.org"));
		uint64_t end = loop_now(l) + DNS_PATIENCE_MS;
		while (st == ST_OK && !try.done && loop_now(l) < end)
			st = loop_turn(l, 100);
		if (try.status != ST_OK)
			findings_add(k->f, FINDING_WARNING, where,
			    "see egress.dns and /etc/resolv.conf",
			    "a look-up of www.iana.org fails: %s",
			    status_text(try.status));
	}
	resolver_free(&r);
	if (l != NULL)
		loop_free(&l);
}

/* --- tor --- */

static void
tor_changed(void *arg)
{
	(void)arg;
}

static const struct control_ops tor_ops = {
    .changed = tor_changed,
    .restarted = tor_changed,
};

/* Whether tor answers at its control port, and takes what we have for proof of
 * who we are. */
static void
check_tor_control(const struct checkup *k, const char *onion)
{
	struct place where = config_place(k->c, NULL, "tor", "control");
	const struct control_info *info = NULL;
	struct control *control = NULL;
	struct loop *l = NULL;
	enum status st;

	if (k->c->tor.control == NULL)
		return;
	if (loop_new(&l) != ST_OK)
		return;
	st = tor_link_open(
	    &control, l, k->c, onion, false, &tor_ops, NULL, k->f);
	if (st == ST_OK)
		info = control_info(control);
	uint64_t end = loop_now(l) + TOR_PATIENCE_MS;
	while (st == ST_OK && loop_now(l) < end && info->state != CONTROL_UP &&
	    info->why_down == ST_OK)
		st = loop_turn(l, 100);
	if (info != NULL && info->state != CONTROL_UP)
		findings_add(k->f, FINDING_WARNING, where,
		    "is tor running, and may this user use its control port "
		    "and read its cookie? (adduser postern debian-tor)",
		    "tor does not answer: %s",
		    status_text(info->why_down != ST_OK ? info->why_down
							: ST_CONNECT_TIMEOUT));
	else if (info != NULL)
		checkup_tor_version(k->c, k->f, info->version);
	control_free(&control);
	loop_free(&l);
}

static void
check_torrc_file(const struct checkup *k, const char *torrc)
{
	char *text;
	size_t len;

	/* Without one there is another way to run tor, which we do not know. */
	if (file_load(&text, &len, torrc, 1 << 20, FILE_ANYBODY) == ST_OK)
		checkup_torrc(k->c, k->f, torrc, text);
	free(text);
}

/* --- all of it --- */

/* A reload reads it again, as the gateway's user. */
static void
check_configuration(const struct checkup *k)
{
	if (euidaccess(k->c->path, R_OK) != 0)
		findings_add(k->f, FINDING_ERROR, whole(k->c->path),
		    "let the gateway's user read it", "%s", strerror(errno));
	check_guarded_folder(k->f, k->c->path);
}

static void
check_all(const struct checkup *k, const struct audience *audience,
    const char *onion, const char *torrc)
{
	check_configuration(k);
	sandbox_check(k->c, k->f);
	if (audience != NULL)
		check_journal(k, audience);
	check_members(k);
	check_keys(k);
	check_addresses(k);
	check_descriptors(k);
	check_clock(k);
	check_dns(k);
	checkup_ledger(k->c, k->f);
	checkup_families(k->c, k->f);
	(void)!onion_service_check(k->c, k->f);
	check_tor_control(k, onion);
	check_torrc_file(k, torrc);
}

const char *
checkup_user(const struct config *c)
{
	const struct passwd *user;

	if (c->run.user != NULL && geteuid() == 0)
		return c->run.user;
	if (strcmp(c->path, CONFIG_DEFAULT_PATH) != 0)
		return NULL;
	user = getpwnam(CHECKUP_UNIT_USER);
	return user != NULL && user->pw_uid != geteuid() ? CHECKUP_UNIT_USER
							 : NULL;
}

/* Look as k->user from here on, or say that it is not done. */
static bool
become_user(struct checkup *k)
{
	enum status st =
	    k->user != NULL ? privilege_borrow(k->user) : ST_NOT_FOUND;

	if (k->user == NULL)
		return false;
	if (st == ST_OK)
		findings_add(k->f, FINDING_NOTE, whole(k->c->path), "",
		    "looked at as the user %s, who runs the gateway", k->user);
	else if (st == ST_PERMISSION)
		findings_add(k->f, FINDING_WARNING, whole(k->c->path),
		    "run it as root, or as that user",
		    "looked at as another user than %s, who runs the gateway: "
		    "permissions may differ",
		    k->user);
	else
		findings_add(k->f, FINDING_ERROR, whole(k->c->path),
		    "adduser --system it, or name another",
		    "can not look as the user %s: %s", k->user,
		    st == ST_SYS ? strerror(errno) : "there is none");
	return st == ST_OK;
}

void
checkup(const struct config *c, struct findings *f, const char *torrc,
    const char *user)
{
	struct findings found = {0};
	struct checkup k = {
	    c, &found, user, someone_listens(c->control.socket)};
	struct audience audience = {0};
	char onion[ONION_LENGTH + 1];
	bool known, borrowed;

	if (k.running)
		findings_add(&found, FINDING_NOTE, whole(c->control.socket), "",
		    "a gateway is running with this configuration");
	/* These are done by root, or the unit, before there is another user. */
	if (user == NULL || c->run.user != NULL)
		privilege_check(c, &found);
	known =
	    gateway_read_audience(&audience, onion, c, false, &found) == ST_OK;
	borrowed = become_user(&k);
	check_all(&k, known ? &audience : NULL, onion, torrc);
	if (borrowed)
		privilege_return();
	findings_move(f, &found);
}
