/* postern mix layers: who is where. */
#include <stdio.h>

#include "base/text.h"
#include "cmd/mix.h"

enum option { JSON, SUITE, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [JSON] = {"json", 0, NULL, "print JSON, a line a node"},
    [SUITE] = {"suite", 0, "NAME",
	"of nodes that do not name theirs: wide (default) or stream"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "[--json] REGISTRY",
    .summary = "Check a registry and show the layer of each node: the first "
	       "hop is layer 0.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
};

static bool
print_json(const struct registry_node *node)
{
	char address[ENDPOINT_TEXT_MAX];
	json_t *object = json_object();

	endpoint_format(address, &node->at);
	json_object_set_new(object, "layer", json_integer(node->layer));
	mix_json_hex(object, "id", node->id, sizeof(node->id));
	json_object_set_new(object, "address", json_string(address));
	json_object_set_new(
	    object, "stake", json_integer((json_int_t)node->stake));
	json_object_set_new(
	    object, "suite", json_string(sphinx_suite_name(node->suite)));
	mix_json_hex(object, "rank", node->rank, sizeof(node->rank));
	return mix_json_print(object);
}

static bool
print_text(const struct registry_node *node)
{
	char address[ENDPOINT_TEXT_MAX], id[2 * SPHINX_KEY_SIZE + 1];

	endpoint_format(address, &node->at);
	hex_encode(id, span_of(node->id, sizeof(node->id)));
	return printf("%u  %s  %-21s  %s\n", node->layer, id, address,
		   sphinx_suite_name(node->suite)) > 0;
}

int
cmd_mix_layers(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	enum sphinx_suite suite;
	struct registry *r;
	bool good = true;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (!mix_suite(&suite, name, values[SUITE]))
		return CLI_ERROR;
	if (mix_registry(&r, name, argv[args], suite) != ST_OK)
		return CLI_ERROR;
	for (size_t i = 0; i < r->n && good; i++)
		good = (values[JSON] != NULL ? print_json : print_text)(
		    &r->nodes[i]);
	registry_free(&r);
	if (fflush(stdout) != 0 || !good) {
		cli_error(name, "standard output: it can not be written");
		return CLI_ERROR;
	}
	return CLI_OK;
}
