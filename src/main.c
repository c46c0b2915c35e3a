/* postern: one binary; this is its table of commands. */
#include <stddef.h>

#include "cmd/cli.h"
#include "cmd/commands.h"

static const struct cli_command commands[] = {
    {"verify", cmd_verify, "verify proofs offline"},
    {"identity", cmd_identity, "make and show a member's identity"},
    {"group", cmd_group, "edit a member file, print roots and proofs"},
    {"prove", cmd_prove, "mint the proof for one epoch"},
    {"artifacts", cmd_artifacts, "find, check and get the proving keys"},
    {"client", cmd_client, "a local proxy through tor and a gateway"},
    {"mix", cmd_mix, "the mixnet: nodes, services and clients"},
    {"setup", cmd_setup, "set up the gateway behind this machine's tor"},
    {"run", cmd_run, "the gateway"},
    {"ledger", cmd_ledger, "what gateways with one ledger share"},
    {"check", cmd_check, "what would stop the gateway, and the cure"},
    {"ctl", cmd_ctl, "ask and steer a running gateway"},
    {"describe", cmd_describe, NULL},
    {NULL, NULL, NULL},
};

int
main(int argc, char **argv)
{
	return cli_main("postern", commands, argc, argv);
}
