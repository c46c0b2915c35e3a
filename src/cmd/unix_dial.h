/* cmd/unix_dial.h: a blocking connection to a program of ours on this machine,
 * for the commands that ask one (ctl, client --status).
 */
#ifndef CMD_UNIX_DIAL_H
#define CMD_UNIX_DIAL_H

/* Connect to the unix socket at PATH; reading from it gives up after SECONDS.
 * Returns: the descriptor; -1 with errno. */
int unix_dial(const char *path, unsigned seconds);

#endif
