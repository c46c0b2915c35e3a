/* daemon/privilege.h: root is for starting only.
 *
 * Started as root, the gateway becomes the user that run.user names as soon as
 * it has read tor's hostname file, which only root and tor can read; before it
 * opens a socket or a journal. Whoever starts it as somebody else is that
 * already. Either way sandbox_enter (sandbox.h) comes next.
 *
 * `postern check` goes the other way: root looks with another user's eyes.
 */
#ifndef DAEMON_PRIVILEGE_H
#define DAEMON_PRIVILEGE_H

#include "daemon/config.h"
#include "daemon/finding.h"

/* Give up what is not needed, for good.
 * Returns: ST_OK; ST_PERMISSION with a finding in F. */
enum status
privilege_drop(const struct config *c, struct findings *f) WARN_UNUSED;

/* Add findings of what privilege_drop would say, without doing it. */
void privilege_check(const struct config *c, struct findings *f);

/* Let root open files as the user NAME may, until privilege_return: for a look
 * at what that user will find. Threads: a command that has one.
 * Returns: ST_OK; ST_NOT_FOUND (no such user); ST_PERMISSION (we are not root);
 *          ST_SYS. */
enum status privilege_borrow(const char *name) NONNULL WARN_UNUSED;

/* Be root again. */
void privilege_return(void);

#endif
