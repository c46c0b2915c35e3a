#include "daemon/onion_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "daemon/onion_key_file.h"
#include "net/listener.h"

/* A file with comments. */
#define CLIENTS_FILE_MAX 65536

/* Where tor is to connect: the first listener of the configuration. */
static enum status
find_target(char out[static LISTENER_PATH_MAX + 8], const struct config *c)
{
	struct listener_config lc = {0};
	char path[LISTENER_PATH_MAX];
	enum status st = ST_MISSING;

	if (c->gateway.listen.n > 0)
		st = listener_parse(
		    &lc, path, span_str(c->gateway.listen.items[0].text));
	if (st == ST_OK && lc.kind == LISTEN_UNIX)
		snprintf(out, LISTENER_PATH_MAX + 8, "unix:%s", path);
	else if (st == ST_OK)
		snprintf(out, LISTENER_PATH_MAX + 8, "%s",
		    c->gateway.listen.items[0].text);
	return st;
}

/* Read who may find the service. */
static enum status
read_clients(
    struct onion_clients *clients, const struct config *c, struct findings *f)
{
	struct place where = config_place(c, NULL, "tor", "onion_clients");
	const char *path = c->tor.onion_clients;
	char *text;
	size_t len;
	unsigned line;
	enum status st =
	    file_load(&text, &len, path, CLIENTS_FILE_MAX, FILE_GUARDED);

	if (st != ST_OK) {
		findings_add(f, FINDING_ERROR, where,
		    file_cure(st, FILE_GUARDED), "%s: %s", path,
		    file_problem(st, FILE_GUARDED));
		return st;
	}
	st = onion_clients_parse(clients, &line, span_of(text, len));
	free(text);
	if (st == ST_MISSING)
		findings_add(f, FINDING_ERROR, where,
		    "write a line for each client, or take the key out if "
		    "anybody may find the service",
		    "%s: has no client", path);
	else if (st != ST_OK)
		findings_add(f, FINDING_ERROR, where,
		    "write descriptor:x25519: and 52 letters and digits, once "
		    "for each client, at most 128 of them",
		    "%s: line %u: %s", path, line, status_text(st));
	return st;
}

/* Write the command for the service with the key K. */
static enum status
write_command(char out[static ONION_KEY_COMMAND_MAX], const struct config *c,
    const struct onion_key *k, const struct onion_clients *clients,
    struct findings *f)
{
	char target[LISTENER_PATH_MAX + 8];
	struct out o = out_to(out, ONION_KEY_COMMAND_MAX - 1);
	size_t len = 0;
	enum status st = find_target(target, c);

	if (st == ST_OK) {
		const struct onion_service service = {
		    .target = target,
		    .clients = clients,
		    .port = (uint16_t)c->tor.onion_port,
		    .streams = (unsigned)c->tor.onion_streams,
		    .pow = c->tor.onion_pow,
		    .pow_rate = (uint32_t)c->tor.onion_pow_rate,
		    .pow_burst = (uint32_t)c->tor.onion_pow_burst,
		};
		onion_key_add(&o, k, &service);
		st = out_status(&o, &len);
	}
	out[len] = '\0';
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "tor", "onion_key"),
		    "write gateway.listen = 127.0.0.1:8080",
		    "tor could not be told where to connect");
	return st;
}

enum status
onion_service_command(char out[static ONION_KEY_COMMAND_MAX],
    const struct config *c, struct findings *f)
{
	struct onion_clients clients, *some = NULL;
	struct onion_key k;
	enum status st = onion_key_load(&k, c, false, f);

	out[0] = '\0';
	if (st == ST_OK && c->tor.onion_clients != NULL) {
		some = &clients;
		st = read_clients(some, c, f);
	}
	if (st == ST_OK)
		st = write_command(out, c, &k, some, f);
	wipe(&k, sizeof(k));
	return st;
}

enum status
onion_service_check(const struct config *c, struct findings *f)
{
	struct onion_clients clients;

	return c->tor.onion_clients != NULL ? read_clients(&clients, c, f)
					    : ST_OK;
}
