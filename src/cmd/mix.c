/* postern mix: the mixnet's commands, and what they share. */
#include "cmd/mix.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/text.h"
#include "cmd/commands.h"

static const struct cli_command commands[] = {
    {"fetch", cmd_mix_fetch, "fetch a page through mixes and gate"},
    {"keygen", cmd_mix_keygen, "make a node's key"},
    {"layers", cmd_mix_layers,
	"show which layer each node of a registry is in"},
    {"node", cmd_mix_node, "run a mix node"},
    {"peel", cmd_mix_peel, "show what a hop would do with a packet"},
    {"probe", cmd_mix_probe, "send loops and time them"},
    {"registry", cmd_mix_registry, "make a registry of nodes' entries"},
    {"send", cmd_mix_send, "send a message to a service, show its reply"},
    {"sink", cmd_mix_sink, "run a destination service"},
    {NULL, NULL, NULL},
};

int
cmd_mix(int argc, char **argv)
{
	return cli_main("postern mix", commands, argc, argv);
}

bool
mix_suite(enum sphinx_suite *out, const char *name, const char *text)
{
	if (text == NULL) {
		*out = SPHINX_WIDE;
		return true;
	}
	if (sphinx_suite_parse(out, text) == ST_OK)
		return true;
	cli_error(name, "--suite %s: there are wide and stream", text);
	return false;
}

bool
mix_endpoint(endpoint_t *out, const char *name, const char *option,
    const char *text, bool any)
{
	char with_port[ENDPOINT_TEXT_MAX];
	size_t len = text != NULL ? strlen(text) : 0;

	if (text == NULL)
		return true;
	if (endpoint_parse(out, span_str(text)) == ST_OK)
		return true;
	/* endpoint_parse takes no port 0. */
	if (any && len > 2 && len < sizeof(with_port) &&
	    strcmp(text + len - 2, ":0") == 0) {
		memcpy(with_port, text, len);
		with_port[len - 1] = '1';
		if (endpoint_parse(out, span_of(with_port, len)) == ST_OK) {
			out->port = 0;
			return true;
		}
	}
	cli_error(name, "%s %s: an IP address and a port, like 192.0.2.1:9000",
	    option, text);
	return false;
}

bool
mix_number(double *out, const char *name, const char *option, const char *text,
    double min, double max)
{
	char *end;
	double x;

	if (text == NULL)
		return true;
	x = strtod(text, &end);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && x >= min &&
	    x <= max) {
		*out = x;
		return true;
	}
	cli_error(
	    name, "%s %s: a number from %g to %g", option, text, min, max);
	return false;
}

bool
mix_client_options(struct mix_client_config *out, const char *name,
    const char *listen, const char *address, const char *mean)
{
	*out = (struct mix_client_config){
	    .listen = {{4, {127, 0, 0, 1}}, 0}, .mean_ms = 50};
	if (!mix_endpoint(&out->listen, name, "--listen", listen, true) ||
	    !mix_number(&out->mean_ms, name, "--mean", mean, 0, 3.6e6))
		return false;
	out->address = out->listen;
	return mix_endpoint(&out->address, name, "--address", address, false);
}

enum status
mix_registry(struct registry **r, const char *name, const char *path,
    enum sphinx_suite suite)
{
	struct registry_fault f;
	enum status st = registry_load(r, &f, path, suite);

	if (st == ST_SYS)
		cli_error(name, "%s: %s", path, strerror(errno));
	else if (st != ST_OK && f.line != 0)
		cli_error(name, "%s:%u: %s%s%s", path, f.line, f.member,
		    f.member[0] != '\0' ? ": " : "", f.what);
	else if (st != ST_OK)
		cli_error(name, "%s: %s", path, f.what);
	return st;
}

void
mix_key_error(const char *name, const char *path, enum status st)
{
	if (st == ST_SYS)
		cli_error(name, "%s: %s", path, strerror(errno));
	else if (st == ST_PERMISSION)
		cli_error(name,
		    "%s: others can read this key (chmod 600 it, and make sure "
		    "that it is yours)",
		    path);
	else
		cli_error(name,
		    "%s: not a mix key: 64 hex digits, as `postern mix keygen` "
		    "writes them",
		    path);
}

bool
mix_open(struct loop **l, struct outbox *o, const char *name, const char *path,
    enum sphinx_suite suite)
{
	struct outbox_config config = {.suite = suite};
	struct registry *r;
	enum status st;

	*l = NULL;
	if (path == NULL) {
		cli_error(name, "--registry FILE is missing (which network?)");
		return false;
	}
	if (sodium_init() < 0) {
		cli_error(name, "%s", status_text(ST_RANDOM));
		return false;
	}
	if (mix_registry(&r, name, path, suite) != ST_OK)
		return false;
	/* A peer that closes is an error of its connection, no more. */
	signal(SIGPIPE, SIG_IGN);
	st = loop_new(l);
	if (st == ST_OK)
		st = outbox_init(o, *l, &config, NULL);
	if (st != ST_OK) {
		cli_error(name, "%s", status_text(st));
		loop_free(l);
		registry_free(&r);
		return false;
	}
	outbox_set_registry(o, r);
	return true;
}

void
mix_close(struct loop **l, struct outbox *o)
{
	outbox_clear(o);
	loop_settle(*l);
	loop_free(l);
}

void
mix_json_hex(json_t *object, const char *member, const void *bytes, size_t len)
{
	char *text = malloc(2 * len + 1);

	if (text == NULL)
		return;
	hex_encode(text, span_of(bytes, len));
	json_object_set_new(object, member, json_string(text));
	free(text);
}

bool
mix_json_print(json_t *object)
{
	bool good = object != NULL && json_dumpf(object, stdout, 0) == 0 &&
	    fputc('\n', stdout) != EOF && fflush(stdout) == 0;

	json_decref(object);
	return good;
}
