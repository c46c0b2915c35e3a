#include "daemon/tor_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/onion_service.h"

struct tor_link {
	struct gateway *gateway;
	struct control *control;
	/* As last logged. */
	enum control_state state;
	enum status why_down;
	bool added, refused;
};

static void
changed(void *arg)
{
	struct tor_link *t = arg;
	const struct control_info *info = control_info(t->control);
	bool was_up = t->state == CONTROL_UP;

	if (info->state == CONTROL_UP && !was_up)
		LOG(EV_TOR_CONNECTED, log_words(KEY_VERSION, info->version));
	else if (info->state == CONTROL_DOWN &&
	    (was_up || info->why_down != t->why_down))
		LOG(EV_TOR_LOST, log_status(KEY_CAUSE, info->why_down));
	if (info->onion_added && !t->added)
		log_plain(EV_ONION_ADDED);
	if (info->onion_refused && !t->refused)
		log_plain(EV_ONION_REFUSED);
	t->added = info->onion_added;
	t->refused = info->onion_refused;
	t->state = info->state;
	t->why_down = info->why_down;
}

static void
restarted(void *arg)
{
	struct tor_link *t = arg;

	circuits_forget(&t->gateway->circuits);
	log_plain(EV_TOR_RESTARTED);
}

static const struct control_ops ops = {
    .changed = changed,
    .restarted = restarted,
};

enum status
tor_link_open(struct control **out, struct loop *l, const struct config *c,
    const char *onion, bool serve, const struct control_ops *control_ops,
    void *arg, struct findings *f)
{
	struct listener_config address = {0};
	struct control_config cc = {.ops = control_ops, .arg = arg};
	char path[108], service[ONION_LENGTH + 1], *password;
	char add[ONION_KEY_COMMAND_MAX] = "";
	size_t len;
	enum status st = file_password(&password, &len, c->tor.password_file,
	    config_place(c, NULL, "tor", "password_file"), f);

	*out = NULL;
	if (st == ST_OK)
		st = listener_parse(&address, path, span_str(c->tor.control));
	if (address.kind == LISTEN_UNIX)
		cc.path = path;
	else
		cc.at = address.at;
	cc.password = password;
	cc.cookie_path = c->tor.cookie_file;
	/* Tor knows a service by its address without the ".onion". */
	snprintf(
	    service, sizeof(service), "%.*s", (int)strcspn(onion, "."), onion);
	cc.onion = service[0] != '\0' ? service : NULL;
	if (st == ST_OK && serve && c->tor.onion_key != NULL) {
		st = onion_service_command(add, c, f);
		cc.add = add;
	}
	if (st == ST_OK)
		st = control_new(out, l, &cc);
	wipe(add, sizeof(add));
	if (password != NULL)
		wipe(password, len);
	free(password);
	return st;
}

enum status
tor_link_new(struct tor_link **out, struct gateway *g, struct findings *f)
{
	struct tor_link *t;
	enum status st;

	*out = NULL;
	if (g->config->tor.control == NULL)
		return ST_OK;
	if ((t = calloc(1, sizeof(*t))) == NULL)
		return ST_NO_MEMORY;
	t->gateway = g;
	st = tor_link_open(
	    &t->control, g->loop, g->config, g->onion, true, &ops, t, f);
	*out = t;
	if (st != ST_OK)
		tor_link_free(out);
	return st;
}

void
tor_link_free(struct tor_link **t)
{
	if (*t != NULL)
		control_free(&(*t)->control);
	free(*t);
	*t = NULL;
}

void
tor_link_close_circuit(struct tor_link *t, uint32_t id)
{
	if (t != NULL && control_close_circuit(t->control, id) == ST_OK)
		log_plain(EV_CIRCUIT_CLOSED);
}

const struct control_info *
tor_link_info(const struct tor_link *t)
{
	return t != NULL ? control_info(t->control) : NULL;
}
