#include "daemon/tor_link.h"

struct tor_link {
	struct control_info info;
};

enum status
tor_link_new(struct tor_link **t, struct gateway *g, struct findings *f)
{
	*t = NULL;
	if (g->config->tor.control != NULL)
		findings_add(f, FINDING_WARNING,
		    config_place(g->config, NULL, "tor", "control"),
		    "take it out", "the control port is not used yet");
	return ST_OK;
}

void
tor_link_free(struct tor_link **t)
{
	*t = NULL;
}

void
tor_link_close_circuit(struct tor_link *t, uint32_t id)
{
	(void)t;
	(void)id;
}

const struct control_info *
tor_link_info(const struct tor_link *t)
{
	return t != NULL ? &t->info : NULL;
}
