/* cmd/ctl_parts.h: the parts of `postern ctl` (ctl.c), in files of their own:
 * what is printed (ctl_show.c), the live view (ctl_top.c), the member file
 * (ctl_members.c), the journal (ctl_journal.c).
 *
 * NAME is in whose name to complain, PATH is the control socket. Those that
 * return int return an exit code.
 */
#ifndef CMD_CTL_PARTS_H
#define CMD_CTL_PARTS_H

#include <jansson.h>
#include <stdbool.h>

/* The answers to status, epoch and journal, for people. */
void ctl_print_status(const json_t *result);
void ctl_print_epoch(const json_t *result);
void ctl_print_journal(const json_t *result);

/* Read the whole journal FILE, which a gateway may be writing, and say whether
 * its records hold; QUIET: only if they do not. */
int ctl_read_journal(const char *name, const char *file, bool quiet);

/* A view of the gateway, drawn anew every second until q or the end of the
 * program; ONCE: a single one, without control sequences. */
int ctl_top(const char *name, const char *path, bool once);

/* The group called GROUP as the gateway at PATH has it, as a new reference; NULL
 * when there is none, and it has been said which there are. */
json_t *ctl_find_group(const char *name, const char *path, const char *group);

/* members add|remove|list GROUP [COMMITMENT...]: the file is edited by this
 * process, not by the gateway, whose sandbox does not let it write there; then
 * wait until the gateway has taken it over. */
int ctl_members(const char *name, const char *path, int argc, char **argv);

#endif
