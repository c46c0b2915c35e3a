/* postern mix keygen: a node's key. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/mix.h"
#include "mix/key_file.h"

enum option { OUTPUT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [OUTPUT] = {"output", 'o', "FILE",
	"where the key goes; FILE must not exist"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "-o FILE",
    .summary = "Make a node's key and print its id: what the registry lists.",
    .options = options,
};

int
cmd_mix_keygen(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	uint8_t secret[SPHINX_KEY_SIZE];
	char id[2 * SPHINX_KEY_SIZE + 1];
	sphinx_key_t key;
	enum status st;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (values[OUTPUT] == NULL) {
		cli_error(name, "-o FILE is missing (where shall the key go?)");
		return CLI_ERROR;
	}
	if (sodium_init() < 0) {
		cli_error(name, "%s", status_text(ST_RANDOM));
		return CLI_ERROR;
	}
	randombytes_buf(secret, sizeof(secret));
	sphinx_key_make(&key, secret);
	wipe(secret, sizeof(secret));
	st = key_file_create(values[OUTPUT], &key);
	hex_encode(id, span_of(key.id, sizeof(key.id)));
	wipe(&key, sizeof(key));
	if (st != ST_OK) {
		cli_error(name, "%s: %s", values[OUTPUT],
		    st == ST_DUPLICATE
			? "there is a file already, and it may be a key "
			  "(choose another name)"
			: strerror(errno));
		return CLI_ERROR;
	}
	puts(id);
	return CLI_OK;
}
