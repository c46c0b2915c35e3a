/* postern identity tor-key: the key with which a member's tor finds an onion
 * service that not everybody may find (tor/onion_clients.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/secrets.h"
#include "gate/audience.h"
#include "store/file.h"
#include "tor/onion_clients.h"

enum option { ONION, OUTPUT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [ONION] = {"onion", 0, "ADDRESS", "the gateway's onion address"},
    [OUTPUT] = {"output", 'o', "FILE",
	"where the key goes; FILE must not exist and ends in .auth_private"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--onion ADDRESS -o FILE",
    .summary = "Make the key with which your tor finds a gateway that not "
	       "everybody may find,\nand print the line to send to its "
	       "operator.",
    .options = options,
    .notes = "FILE goes into a folder of its own (mode 0700, tor's user) that "
	     "torrc names:\nClientOnionAuthDir FOLDER. Then reload tor.",
};

/* Tor's own name for such files; it looks at no others. */
static bool
is_auth_private(const char *path)
{
	static const char suffix[] = ".auth_private";
	size_t n = strlen(path), m = sizeof(suffix) - 1;

	return n > m && strcmp(path + n - m, suffix) == 0;
}

/* Write the file of the key SECRET for the service ADDRESS: rend-spec-v3,
 * appendix G.2. */
static enum status
write_private(const char *path, const char *address,
    const uint8_t secret[static ONION_CLIENT_KEY])
{
	char text[ONION_LENGTH + 20 + ONION_CLIENT_TEXT + 2];
	char key[ONION_CLIENT_TEXT + 1];
	int n;
	enum status st;

	base32_encode(key, span_of(secret, ONION_CLIENT_KEY));
	n = snprintf(text, sizeof(text), "%.*s:descriptor:x25519:%s\n",
	    (int)strcspn(address, "."), address, key);
	st = file_create(path, text, (size_t)n, 0600);
	wipe(text, sizeof(text));
	wipe(key, sizeof(key));
	return st;
}

/* Returns: ST_OK; else what is wrong was said. */
static enum status
check_values(const char *name, const char *const *values)
{
	uint8_t onion[32];

	if (values[ONION] == NULL || values[OUTPUT] == NULL) {
		cli_error(name, "give --onion ADDRESS and -o FILE");
		return ST_MISSING;
	}
	if (onion_decode(onion, span_str(values[ONION])) != ST_OK) {
		cli_error(name, "%s: not an onion address of version 3",
		    values[ONION]);
		return ST_BAD_VALUE;
	}
	if (!is_auth_private(values[OUTPUT])) {
		cli_error(name,
		    "%s: tor looks only at files whose names end in "
		    ".auth_private",
		    values[OUTPUT]);
		return ST_BAD_VALUE;
	}
	return ST_OK;
}

int
identity_cmd_tor_key(int argc, char **argv)
{
	const char *values[OPTIONS], *name = argv[0];
	uint8_t secret[ONION_CLIENT_KEY], public[ONION_CLIENT_KEY];
	char text[ONION_CLIENT_TEXT + 1];
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	if (check_values(name, values) != ST_OK)
		return CLI_ERROR;
	secrets_guard();
	randombytes_buf(secret, sizeof(secret));
	crypto_scalarmult_base(public, secret);
	st = write_private(values[OUTPUT], values[ONION], secret);
	wipe(secret, sizeof(secret));
	if (st != ST_OK) {
		cli_error(name, "%s: %s", values[OUTPUT],
		    st == ST_DUPLICATE ? "exists, and stays as it is"
				       : strerror(errno));
		return CLI_ERROR;
	}
	base32_encode(text, span_of(public, sizeof(public)));
	fprintf(stderr, "%s: wrote %s; send this line to the operator:\n", name,
	    values[OUTPUT]);
	printf("descriptor:x25519:%s\n", text);
	return CLI_OK;
}
