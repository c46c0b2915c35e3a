/* postern ledger: what a ledger needs that several gateways share. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "store/secret_file.h"

enum option { OUTPUT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [OUTPUT] = {"output", 'o', "FILE",
	"where the key goes; FILE must not exist"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "-o FILE",
    .summary = "Make the key that gateways with one ledger share: copy the "
	       "file to each of\nthem, mode 0600, and name it in "
	       "ledger.shared_key_file. Members stand in the\nledger under "
	       "names that only this key can make; the server never sees it.",
    .options = options,
};

static int
cmd_key(int argc, char **argv)
{
	const char *values[OPTIONS];
	uint8_t secret[SECRET_SIZE];
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	if (values[OUTPUT] == NULL) {
		cli_error(
		    argv[0], "-o FILE is missing (where shall the key go?)");
		return CLI_ERROR;
	}
	if (sodium_init() < 0) {
		cli_error(argv[0], "%s", status_text(ST_RANDOM));
		return CLI_ERROR;
	}
	randombytes_buf(secret, sizeof(secret));
	st = secret_file_create(values[OUTPUT],
	    "# postern ledger key: the same file at every gateway that shares "
	    "the ledger\n",
	    secret);
	wipe(secret, sizeof(secret));
	if (st == ST_OK)
		return CLI_OK;
	cli_error(argv[0], "%s: %s", values[OUTPUT],
	    st == ST_DUPLICATE ? "there is a file already, and it may be a key "
				 "(choose another name)"
			       : strerror(errno));
	return CLI_ERROR;
}

static const struct cli_command commands[] = {
    {"key", cmd_key, "make the key that gateways share"},
    {NULL, NULL, NULL},
};

int
cmd_ledger(int argc, char **argv)
{
	return cli_main(argv[0], commands, argc, argv);
}
