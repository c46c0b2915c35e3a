/* cmd/commands.h: the commands of postern, one file each.
 *
 * Each is a main of its own: argv[0] is the command's full name ("postern
 * verify"), the result is the exit code (cmd/cli.h).
 */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

int cmd_artifacts(int argc, char **argv);
int cmd_group(int argc, char **argv);
int cmd_identity(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_mix(int argc, char **argv);
int cmd_client(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_describe(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_prove(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/* Of `postern group` and `postern identity`, in files of their own. */
int group_cmd_follow(int argc, char **argv);
int identity_cmd_tor_key(int argc, char **argv);

#endif
