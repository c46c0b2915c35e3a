#include "daemon/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon/sandbox_impl.h"

/* Linux 6.3; Debian 12's headers are older. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define GIGA (UINT64_C(1) << 30)
/* Room in the address space beside what the configuration accounts for:
 * programs, libraries, threads' stacks and malloc's arenas (64 MiB each),
 * member lists while they are read. */
#define SPACE_BESIDES (8 * GIGA)
/* What a session takes besides its two buffers, with a margin. */
#define SPACE_SESSION 16384
/* ... and all requests from a mixnet together. */
#define SPACE_MIX (GIGA / 4)

static const char *const names[WALL_COUNT] = {
    [WALL_PRIVILEGES] = "privileges",
    [WALL_DUMPS] = "dumps",
    [WALL_TRACING] = "tracing",
    [WALL_MEMORY] = "memory",
    [WALL_FILES] = "files",
    [WALL_CALLS] = "calls",
};

const char *
wall_name(enum wall wall)
{
	return wall < WALL_COUNT ? names[wall] : "";
}

static bool
wanted(const struct config *c)
{
	return SANDBOX_BUILD && c->run.sandbox;
}

static struct place
here(const struct config *c)
{
	return config_place(c, NULL, "run", "sandbox");
}

/* Say that WALL, which there could be, can not be raised. */
static enum status
failed(enum wall wall, const struct config *c, struct findings *f)
{
	findings_add(f, FINDING_ERROR, here(c),
	    "run.sandbox = off goes on without walls",
	    "the wall \"%s\" can not be raised: %s", names[wall],
	    strerror(errno));
	return ST_PERMISSION;
}

static void
lacking(enum wall wall, const char *what, const struct config *c,
    struct findings *f)
{
	findings_add(f, FINDING_WARNING, here(c), "use a newer kernel",
	    "the wall \"%s\" is left out: this kernel has no %s", names[wall],
	    what);
}

/* --- limits --- */

/* Room for all that the configuration lets it take, twice. */
static uint64_t
address_space(const struct config *c)
{
	uint64_t session = 2 * c->limits.buffer + SPACE_SESSION;

	return SPACE_BESIDES + (c->mix.listen != NULL ? SPACE_MIX : 0) +
	    2 * (c->ledger.memory + c->limits.sessions * session);
}

/* Lower both limits of WHAT to VALUE, where they are higher.
 * Returns: the limit that holds; 0: none could be set. */
static uint64_t
limit_to(int what, uint64_t value)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r) != 0)
		return 0;
	if (r.rlim_max > value)
		r.rlim_max = value;
	if (r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &r) != 0)
		return 0;
	return r.rlim_cur;
}

static void
set_limits(struct sandbox *s, const struct config *c)
{
	struct rlimit r;

	s->address_space = limit_to(RLIMIT_AS, address_space(c));
	/* What is open at most was raised as far as it goes; now it stays. */
	if (getrlimit(RLIMIT_NOFILE, &r) == 0)
		s->descriptors = limit_to(RLIMIT_NOFILE, r.rlim_cur);
}

/* --- raising --- */

static bool
memory_possible(void)
{
	return prctl(PR_SET_MDWE, 0UL, 0UL, 0UL, 0UL) == 0 || errno != EINVAL;
}

/* These two cost nobody anything: they stand in every build, whatever is
 * configured.
 * Out: *wall, the one that failed; so below. */
static enum status
give_up(struct sandbox *s, enum wall *wall)
{
	const struct rlimit none = {0, 0};

	*wall = WALL_PRIVILEGES;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0)
		return ST_PERMISSION;
	s->stands[WALL_PRIVILEGES] = true;
	*wall = WALL_DUMPS;
	if (setrlimit(RLIMIT_CORE, &none) != 0)
		return ST_PERMISSION;
	s->stands[WALL_DUMPS] = true;
	return ST_OK;
}

static enum status
enclose(struct sandbox *s, enum wall *wall)
{
	*wall = WALL_TRACING;
	if (prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 0)
		return ST_PERMISSION;
	s->stands[WALL_TRACING] = true;
	/* Where the kernel has none, the calls are filtered (sandbox_seal). */
	if (prctl(PR_SET_MDWE, (unsigned long)PR_MDWE_REFUSE_EXEC_GAIN, 0UL,
		0UL, 0UL) == 0)
		s->stands[WALL_MEMORY] = true;
	return ST_OK;
}

static enum status
seal(struct sandbox *s, enum wall *wall, enum sandbox_role role)
{
	*wall = WALL_CALLS;
	if (sandbox_calls_restrict(role) != ST_OK)
		return ST_PERMISSION;
	s->stands[WALL_CALLS] = true;
	s->stands[WALL_MEMORY] = true;
	return ST_OK;
}

enum status
sandbox_enter(struct sandbox *s, const struct config *c, struct findings *f)
{
	enum wall wall;

	*s = (struct sandbox){0};
	if (give_up(s, &wall) != ST_OK)
		return failed(wall, c, f);
	if (!wanted(c))
		return ST_OK;
	if (enclose(s, &wall) != ST_OK)
		return failed(wall, c, f);
	set_limits(s, c);
	if (!sandbox_files_possible()) {
		lacking(WALL_FILES, "Landlock", c, f);
		return ST_OK;
	}
	if (sandbox_files_restrict(c) != ST_OK)
		return failed(WALL_FILES, c, f);
	s->stands[WALL_FILES] = true;
	return ST_OK;
}

enum status
sandbox_seal(struct sandbox *s, const struct config *c, struct findings *f)
{
	enum wall wall;

	if (!wanted(c))
		return ST_OK;
	/* This one is no luxury: without it there is no start. */
	if (seal(s, &wall, SANDBOX_GATEWAY) != ST_OK)
		return failed(wall, c, f);
	return ST_OK;
}

enum status
sandbox_enter_service(
    struct sandbox *s, enum wall *wall, const struct sandbox_service *what)
{
	enum status st;

	*s = (struct sandbox){0};
	st = give_up(s, wall);
	if (st != ST_OK || !SANDBOX_BUILD)
		return st;
	st = enclose(s, wall);
	if (st != ST_OK || !sandbox_files_possible())
		return st;
	*wall = WALL_FILES;
	if (sandbox_files_restrict_service(what) != ST_OK)
		return ST_PERMISSION;
	s->stands[WALL_FILES] = true;
	return ST_OK;
}

enum status
sandbox_seal_service(struct sandbox *s, enum wall *wall)
{
	*wall = WALL_CALLS;
	return SANDBOX_BUILD && sandbox_calls_possible()
	    ? seal(s, wall, SANDBOX_SERVICE)
	    : ST_OK;
}

void
sandbox_list(char out[static SANDBOX_LIST_MAX], const struct sandbox *s)
{
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < WALL_COUNT; i++) {
		if (!s->stands[i])
			continue;
		snprintf(out + len, SANDBOX_LIST_MAX - len, "%s%s",
		    len > 0 ? " " : "", names[i]);
		len = strlen(out);
	}
}

/* --- asking --- */

void
sandbox_check(const struct config *c, struct findings *f)
{
	if (!SANDBOX_BUILD)
		findings_add(f, FINDING_WARNING, here(c),
		    "use a build without sanitizers",
		    "there are no walls in this build");
	else if (!c->run.sandbox)
		findings_add(f, FINDING_WARNING, here(c),
		    "take run.sandbox = off out",
		    "the gateway would run without walls");
	if (!wanted(c))
		return;
	if (!sandbox_files_possible())
		lacking(WALL_FILES, "Landlock", c, f);
	if (!memory_possible())
		findings_add(f, FINDING_NOTE, here(c), "",
		    "this kernel has no PR_SET_MDWE: the wall \"memory\" is "
		    "made of system-call filters alone");
	if (!sandbox_calls_possible())
		findings_add(f, FINDING_ERROR, here(c),
		    "use a kernel with CONFIG_SECCOMP_FILTER, or run.sandbox "
		    "= off",
		    "the wall \"calls\" can not be raised");
}
