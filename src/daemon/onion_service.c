#include "daemon/onion_service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "net/listener.h"

static struct place
key_place(const struct config *c)
{
	return config_place(c, NULL, "tor", "onion_key");
}

static enum status
make_key(struct onion_key *k, const char *path)
{
	uint8_t seed[ONION_KEY_SEED], file[ONION_KEY_FILE_SIZE];
	enum status st;

	if (sodium_init() < 0)
		return ST_RANDOM;
	randombytes_buf(seed, sizeof(seed));
	onion_key_make(k, seed);
	onion_key_write(file, k);
	st = file_create(path, file, sizeof(file), 0600);
	wipe(seed, sizeof(seed));
	wipe(file, sizeof(file));
	return st;
}

enum status
onion_service_key(
    struct onion_key *k, const struct config *c, bool make, struct findings *f)
{
	const char *path = c->tor.onion_key;
	char file[ONION_KEY_FILE_SIZE + 1];
	size_t len;
	enum status st = file_read(file, sizeof(file), &len, path, FILE_OWNER);

	memset(k, 0, sizeof(*k));
	if (st == ST_OK) {
		st = onion_key_parse(k, file, len);
		if (st != ST_OK)
			findings_add(f, FINDING_ERROR, key_place(c),
			    "name a file like tor's hs_ed25519_secret_key, or "
			    "one that is not there yet",
			    "%s: not the key of an onion service", path);
	} else if (st == ST_SYS && errno == ENOENT && make) {
		st = make_key(k, path);
		if (st != ST_OK)
			findings_add(f, FINDING_ERROR, key_place(c),
			    "its folder must exist and belong to the user that "
			    "the gateway runs as",
			    "%s: can not be made: %s", path, strerror(errno));
	} else {
		findings_add(f, FINDING_ERROR, key_place(c),
		    file_cure(st, FILE_OWNER), "%s: %s", path,
		    file_problem(st, FILE_OWNER));
	}
	wipe(file, sizeof(file));
	if (st != ST_OK)
		wipe(k, sizeof(*k));
	return st;
}

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

enum status
onion_service_command(char out[static ONION_KEY_COMMAND_MAX],
    const struct config *c, struct findings *f)
{
	char target[LISTENER_PATH_MAX + 8];
	struct onion_key k;
	struct out o = out_to(out, ONION_KEY_COMMAND_MAX - 1);
	size_t len = 0;
	enum status st = onion_service_key(&k, c, false, f);

	out[0] = '\0';
	if (st != ST_OK)
		return st;
	st = find_target(target, c);
	if (st == ST_OK) {
		onion_key_add(&o, &k, (uint16_t)c->tor.onion_port, target,
		    (unsigned)c->tor.onion_streams);
		st = out_status(&o, &len);
	}
	wipe(&k, sizeof(k));
	out[len] = '\0';
	if (st != ST_OK)
		findings_add(f, FINDING_ERROR, key_place(c),
		    "write gateway.listen = 127.0.0.1:8080",
		    "tor could not be told where to connect");
	return st;
}
