/* The wall around the files: Landlock, by path.
 *
 * Debian 12's headers know of Landlock as Linux 6.1 has it; what later kernels
 * can refuse besides (truncating, TCP ports, device ioctls, signals and
 * abstract sockets across the border) is asked for by number where they can.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/memory.h"
#include "daemon/sandbox_impl.h"
#include "net/listener.h"

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#endif
#define SCOPE_ALL UINT64_C(3) /* ABI 6: abstract sockets, signals */

/* struct landlock_ruleset_attr of ABI 6. */
struct ruleset {
	uint64_t files, net, scoped;
};

#define READ_FOLDER (LANDLOCK_ACCESS_FS_READ_FILE)
#define WRITE_FOLDER                                                      \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |     \
	    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | \
	    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define SOCKET_FOLDER \
	(LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Files that the libraries read, and ours once more at a reload. */
static const char *const system_files[] = {
    "/dev/null",
    "/dev/urandom",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/sys/devices/system/cpu/online",
};
/* A build that counts its lines writes the counts at its end. */
#ifndef COVER_FOLDER
#define COVER_FOLDER ""
#endif
static const char covered[] = COVER_FOLDER;
/* systemd-resolved replaces resolv.conf in a folder of its own; tor its
 * cookie. */
static const char *const system_folders[] = {
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/tor",
};

/* --- which paths --- */

/* Called for each path; RIGHTS is what may be done there. */
typedef enum status path_fn(void *ctx, const char *path, uint64_t rights);

/* The folder of PATH: as it is named, and where it ends when PATH is a link. */
static enum status
each_folder_of(
    const char *path, uint64_t rights, path_fn *fn, void *ctx, bool follow)
{
	char *real = follow ? realpath(path, NULL) : NULL;
	const char *const paths[] = {path, real};
	enum status st = ST_OK;

	for (size_t i = 0; i < 2 && st == ST_OK; i++) {
		if (paths[i] == NULL)
			continue;
		const char *slash = strrchr(paths[i], '/');
		char *folder = slash == NULL
		    ? memory_copy(".")
		    : memory_format("%.*s",
			  slash == paths[i] ? 1 : (int)(slash - paths[i]),
			  paths[i]);
		st = fn(ctx, folder, rights);
		free(folder);
	}
	free(real);
	return st;
}

/* The folder of the unix socket that TEXT may name. */
static enum status
socket_folder(const char *text, path_fn *fn, void *ctx, uint64_t rights)
{
	struct listener_config lc = {0};
	char path[LISTENER_PATH_MAX];

	if (text == NULL ||
	    listener_parse(&lc, path, span_str(text)) != ST_OK ||
	    lc.kind != LISTEN_UNIX)
		return ST_OK;
	return each_folder_of(path, rights, fn, ctx, false);
}

/* What a shared ledger is reached with. */
static enum status
each_of_ledger(const struct config *c, path_fn *fn, void *ctx)
{
	const char *const paths[] = {c->ledger.shared_key_file,
	    c->ledger.shared_password_file, c->ledger.shared_ca_file};
	enum status st = ST_OK;

	for (size_t i = 0; i < 3 && c->ledger.shared.n > 0 && st == ST_OK;
	     i++) {
		if (paths[i] != NULL)
			st = each_folder_of(
			    paths[i], READ_FOLDER, fn, ctx, true);
	}
	for (size_t i = 0; i < c->ledger.shared.n && st == ST_OK; i++)
		st = socket_folder(
		    c->ledger.shared.items[i].text, fn, ctx, READ_FOLDER);
	return st;
}

static enum status
each_read(const struct config *c, path_fn *fn, void *ctx)
{
	enum status st = each_folder_of(c->path, READ_FOLDER, fn, ctx, true);

	for (size_t i = 0; i < c->groups_n && st == ST_OK; i++)
		st = each_folder_of(config_group_file(&c->groups[i]),
		    READ_FOLDER, fn, ctx, true);
	for (size_t i = 0; i < c->gateway.keys.n && st == ST_OK; i++)
		st = each_folder_of(
		    strchr(c->gateway.keys.items[i].text, ':') + 1, READ_FOLDER,
		    fn, ctx, true);
	if (st == ST_OK && c->tor.password_file != NULL)
		st = each_folder_of(
		    c->tor.password_file, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK && c->tor.cookie_file != NULL)
		st = each_folder_of(
		    c->tor.cookie_file, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK)
		st = each_of_ledger(c, fn, ctx);
	if (st == ST_OK && c->mix.registry != NULL)
		st =
		    each_folder_of(c->mix.registry, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK && c->mix.key != NULL)
		st = each_folder_of(c->mix.key, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK && c->mix.listen != NULL)
		st = each_folder_of(c->mix.ca_file, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK)
		st = socket_folder(c->tor.control, fn, ctx, READ_FOLDER);
	return st;
}

static enum status
each_write(const struct config *c, path_fn *fn, void *ctx)
{
	enum status st = ST_OK;

	if (c->ledger.journal != NULL)
		st = each_folder_of(
		    c->ledger.journal, WRITE_FOLDER, fn, ctx, true);
	if (st == ST_OK && c->control.socket != NULL)
		st = each_folder_of(
		    c->control.socket, SOCKET_FOLDER, fn, ctx, false);
	for (size_t i = 0; i < c->gateway.listen.n && st == ST_OK; i++)
		st = socket_folder(
		    c->gateway.listen.items[i].text, fn, ctx, SOCKET_FOLDER);
	for (size_t i = 0; i < c->metrics.listen.n && st == ST_OK; i++)
		st = socket_folder(
		    c->metrics.listen.items[i].text, fn, ctx, SOCKET_FOLDER);
	return st;
}

static enum status
each_of_system(path_fn *fn, void *ctx)
{
	enum status st = ST_OK;

	for (size_t i = 0;
	     i < sizeof(system_files) / sizeof(*system_files) && st == ST_OK;
	     i++)
		st = fn(ctx, system_files[i], LANDLOCK_ACCESS_FS_READ_FILE);
	for (size_t i = 0;
	     i < sizeof(system_folders) / sizeof(*system_folders) &&
	     st == ST_OK;
	     i++)
		st = fn(ctx, system_folders[i], READ_FOLDER);
	return st == ST_OK && covered[0] != '\0'
	    ? fn(ctx, covered, WRITE_FOLDER)
	    : st;
}

/* --- the kernel --- */

static long
landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
}

bool
sandbox_files_possible(void)
{
	return landlock_abi() > 0;
}

/* All that a kernel of ABI can refuse. Connecting is not in it: that is what
 * a gateway is for. */
static struct ruleset
everything(long abi, size_t *size)
{
	struct ruleset r = {.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};

	*size = sizeof(r.files);
	if (abi >= 2)
		r.files |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		r.files |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi >= 4)
		*size = sizeof(r.files) + sizeof(r.net);
	if (abi >= 5)
		r.files |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	if (abi >= 6) {
		r.scoped = SCOPE_ALL;
		*size = sizeof(r);
	}
	return r;
}

struct opening {
	int ruleset;
	uint64_t handled; /* rights that the ruleset knows */
};

/* Let what is at PATH be used for RIGHTS; what is not there is nothing. */
static enum status
allow(void *ctx, const char *path, uint64_t rights)
{
	const struct opening *o = ctx;
	struct landlock_path_beneath_attr rule = {
	    .allowed_access = rights & o->handled,
	    .parent_fd = open(path, O_PATH | O_CLOEXEC),
	};
	long rc;
	int error;

	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR
		    ? ST_OK
		    : ST_SYS;
	rc = syscall(SYS_landlock_add_rule, o->ruleset,
	    LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	error = errno;
	close(rule.parent_fd);
	errno = error;
	return rc == 0 ? ST_OK : ST_SYS;
}

/* What is to be reached: of a gateway, or else of a service. */
struct subject {
	const struct config *gateway;
	const struct sandbox_service *service;
};

static enum status
each_of_service(const struct sandbox_service *what, path_fn *fn, void *ctx)
{
	enum status st = ST_OK;

	if (what->read != NULL)
		st = each_folder_of(what->read, READ_FOLDER, fn, ctx, true);
	if (st == ST_OK && what->write != NULL)
		st = each_folder_of(what->write, WRITE_FOLDER, fn, ctx, true);
	if (st == ST_OK && what->folder != NULL)
		st = fn(ctx, what->folder, WRITE_FOLDER);
	return st;
}

static enum status
each_of(const struct subject *s, path_fn *fn, void *ctx)
{
	enum status st = each_of_system(fn, ctx);

	if (st == ST_OK && s->gateway == NULL)
		return each_of_service(s->service, fn, ctx);
	if (st == ST_OK)
		st = each_read(s->gateway, fn, ctx);
	return st == ST_OK ? each_write(s->gateway, fn, ctx) : st;
}

static enum status
restrict_to(const struct subject *s)
{
	size_t size;
	struct ruleset all = everything(landlock_abi(), &size);
	struct opening o = {.handled = all.files};
	enum status st;
	int error;

	o.ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
	if (o.ruleset < 0)
		return ST_SYS;
	st = each_of(s, allow, &o);
	if (st == ST_OK &&
	    syscall(SYS_landlock_restrict_self, o.ruleset, 0) != 0)
		st = ST_SYS;
	error = errno;
	close(o.ruleset);
	errno = error;
	return st;
}

enum status
sandbox_files_restrict(const struct config *c)
{
	return restrict_to(&(struct subject){.gateway = c});
}

enum status
sandbox_files_restrict_service(const struct sandbox_service *what)
{
	return restrict_to(&(struct subject){.service = what});
}
