/* cmd/client_child.h: the program of `postern client --run`.
 */
#ifndef CMD_CLIENT_CHILD_H
#define CMD_CLIENT_CHILD_H

#include <sys/types.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Start ARGV (found in PATH) with the proxy variables set to HTTP and SOCKS, no
 * variable of ours (POSTERN_...), and no descriptor but 0, 1 and 2.
 * Out:     *pid.
 * Returns: ST_OK; ST_SYS with errno; ST_NO_MEMORY. */
enum status client_child_start(pid_t *pid, char *const argv[], const char *http,
    const char *socks) NONNULL WARN_UNUSED;

#endif
