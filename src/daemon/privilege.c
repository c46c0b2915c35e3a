#include "daemon/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The user to become; NULL with a finding if there is none, or without one if
 * there is nothing to become. */
static const struct passwd *
find_user(const struct config *c, struct findings *f, bool *fine)
{
	struct place where = config_place(c, NULL, "run", "user");
	const struct passwd *user;

	*fine = true;
	if (geteuid() != 0) {
		if (c->run.user != NULL &&
		    ((user = getpwnam(c->run.user)) == NULL ||
			user->pw_uid != geteuid()))
			findings_add(f, FINDING_WARNING, where,
			    "start it as root, or leave run.user out",
			    "only root can become \"%s\"", c->run.user);
		return NULL;
	}
	if (c->run.user == NULL) {
		findings_add(f, FINDING_WARNING, where,
		    "set run.user to a user of its own",
		    "the gateway would run as root");
		return NULL;
	}
	*fine = false;
	if ((user = getpwnam(c->run.user)) == NULL)
		findings_add(f, FINDING_ERROR, where,
		    "adduser --system it, or name another",
		    "there is no user \"%s\"", c->run.user);
	else if (user->pw_uid == 0)
		findings_add(f, FINDING_ERROR, where,
		    "name a user with few rights", "\"%s\" is root",
		    c->run.user);
	else
		*fine = true;
	return *fine ? user : NULL;
}

void
privilege_check(const struct config *c, struct findings *f)
{
	bool fine;

	find_user(c, f, &fine);
}

static bool
become(const struct passwd *user)
{
	uid_t uid = user->pw_uid;
	gid_t gid = user->pw_gid;

	return initgroups(user->pw_name, gid) == 0 &&
	    setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0 &&
	    /* That it can not be undone is worth a look. */
	    setuid(0) != 0 && geteuid() == uid && getegid() == gid;
}

enum status
privilege_drop(const struct config *c, struct findings *f)
{
	bool fine;
	const struct passwd *user = find_user(c, f, &fine);

	if (!fine)
		return ST_PERMISSION;
	if (user != NULL && !become(user)) {
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "run", "user"), "",
		    "can not become \"%s\": %s", c->run.user, strerror(errno));
		return ST_PERMISSION;
	}
	return ST_OK;
}

enum status
privilege_borrow(const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (user == NULL)
		return ST_NOT_FOUND;
	if (geteuid() != 0)
		return ST_PERMISSION;
	if (initgroups(user->pw_name, user->pw_gid) == 0 &&
	    setegid(user->pw_gid) == 0 && seteuid(user->pw_uid) == 0)
		return ST_OK;
	privilege_return();
	return ST_SYS;
}

void
privilege_return(void)
{
	const gid_t none[1] = {0};

	/* Root needs no groups to open what it likes. */
	if (seteuid(0) != 0 || setegid(0) != 0 || setgroups(1, none) != 0)
		abort();
}
