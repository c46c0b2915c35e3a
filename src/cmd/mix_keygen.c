/* postern mix keygen: a node's key, and its line in the registry. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/mix.h"
#include "mix/key_file.h"

enum option { OUTPUT, ADDRESS, STAKE, SUITE, TLS, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [OUTPUT] = {"output", 'o', "FILE",
	"where the key goes; FILE must not exist"},
    [ADDRESS] = {"address", 'a', "ADDR",
	"print the node's registry entry, with this address"},
    [STAKE] = {"stake", 0, "N", "... and this stake (default: 0)"},
    [SUITE] = MIX_SUITE_OPTION,
    [TLS] = {"tls", 0, NULL, "... and the key of its TLS links"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "-o FILE [--address ADDR]",
    .summary = "Make a node's key and print its id, or its whole registry "
	       "entry: what the\ncurator of the registry needs.",
    .options = options,
};

/* What is asked for besides the key. */
struct request {
	const char *name;
	endpoint_t address;
	double stake;
	enum sphinx_suite suite;
	bool entry, tls;
};

static int
print(const struct request *q, const sphinx_key_t *key)
{
	char address[ENDPOINT_TEXT_MAX], id[2 * SPHINX_KEY_SIZE + 1];
	uint8_t pin[TLS_PIN_SIZE];
	json_t *o;

	if (!q->entry) {
		hex_encode(id, span_of(key->id, sizeof(key->id)));
		return puts(id) >= 0 ? CLI_OK : CLI_ERROR;
	}
	o = json_object();
	endpoint_format(address, &q->address);
	mix_json_hex(o, "id", key->id, sizeof(key->id));
	json_object_set_new(o, "address", json_string(address));
	json_object_set_new(o, "stake", json_integer((json_int_t)q->stake));
	json_object_set_new(
	    o, "suite", json_string(sphinx_suite_name(q->suite)));
	if (q->tls && tls_pin_of(pin, key->secret) == ST_OK)
		mix_json_hex(o, "link", pin, sizeof(pin));
	return mix_json_print(o) ? CLI_OK : CLI_ERROR;
}

static int
make(const struct request *q, const char *path)
{
	uint8_t secret[SPHINX_KEY_SIZE];
	sphinx_key_t key;
	enum status st;
	int code = CLI_ERROR;

	if (sodium_init() < 0) {
		cli_error(q->name, "%s", status_text(ST_RANDOM));
		return CLI_ERROR;
	}
	randombytes_buf(secret, sizeof(secret));
	sphinx_key_make(&key, secret);
	wipe(secret, sizeof(secret));
	st = key_file_create(path, &key);
	if (st == ST_OK)
		code = print(q, &key);
	else
		cli_error(q->name, "%s: %s", path,
		    st == ST_DUPLICATE
			? "there is a file already, and it may be a key "
			  "(choose another name)"
			: strerror(errno));
	wipe(&key, sizeof(key));
	return code;
}

int
cmd_mix_keygen(int argc, char **argv)
{
	const char *values[OPTIONS];
	struct request q = {.name = argv[0]};
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (values[OUTPUT] == NULL) {
		cli_error(
		    q.name, "-o FILE is missing (where shall the key go?)");
		return CLI_ERROR;
	}
	q.entry = values[ADDRESS] != NULL;
	q.tls = values[TLS] != NULL;
	if (!mix_suite(&q.suite, q.name, values[SUITE]) ||
	    !mix_endpoint(
		&q.address, q.name, "--address", values[ADDRESS], false) ||
	    !mix_number(&q.stake, q.name, "--stake", values[STAKE], 0, 1e15))
		return CLI_ERROR;
	return make(&q, values[OUTPUT]);
}
