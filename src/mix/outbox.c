#include "mix/outbox.h"

#include <string.h>

#include "base/wipe.h"

#define PARCELS 2048
#define LINKS 256

enum status
outbox_init(struct outbox *o, struct loop *l,
    const struct outbox_config *config, void *arg)
{
	struct links_config links;
	enum status st;

	memset(o, 0, sizeof(*o));
	o->loop = l;
	o->config = *config;
	if (o->config.parcels == 0)
		o->config.parcels = PARCELS;
	if (o->config.links == 0)
		o->config.links = LINKS;
	if (o->config.queue_max == 0)
		o->config.queue_max = (uint32_t)(o->config.parcels / 2 + 1);
	if (o->config.random == NULL)
		o->config.random = &mix_random_system;
	st = sphinx_new(&o->sphinx, config->suite, SPHINX_KERNEL_AUTO);
	if (st == ST_OK)
		st = tls_new(&o->tls, config->tls_secret);
	if (st == ST_OK)
		st = parcel_pool_init(
		    &o->pool, l, o->config.parcels, &o->counts, arg);
	if (st == ST_OK) {
		links = (struct links_config){o->config.links,
		    o->config.queue_max, o->tls, o->config.random, &o->counts};
		st = links_new(&o->links, l, &links);
	}
	/* Copied: the caller's is gone by the time it could be used. */
	o->config.tls_secret = NULL;
	if (st != ST_OK)
		outbox_clear(o);
	return st;
}

void
outbox_clear(struct outbox *o)
{
	links_free(&o->links);
	if (o->pool.memory != NULL)
		parcel_pool_clear(&o->pool);
	tls_free(&o->tls);
	sphinx_free(o->sphinx);
	o->sphinx = NULL;
	registry_free(&o->registry);
}

void
outbox_set_registry(struct outbox *o, struct registry *r)
{
	registry_free(&o->registry);
	o->registry = r;
}

int64_t
outbox_now(const struct outbox *o)
{
	return loop_wall(o->loop) / 1000;
}

enum status
outbox_post(struct outbox *o, struct parcel *p,
    const uint8_t id[static SPHINX_KEY_SIZE])
{
	const struct registry_node *node =
	    o->registry != NULL ? registry_find(o->registry, id) : NULL;

	if (node == NULL) {
		o->counts.dropped[DROP_UNKNOWN_NODE]++;
		parcel_free(p);
		return ST_NOT_FOUND;
	}
	p->to = node->at;
	p->deliver = false;
	p->pinned = node->has_link;
	memcpy(p->pin, node->link, sizeof(p->pin));
	p->out = (const uint8_t *)&p->packet;
	p->out_len = sizeof(p->packet);
	links_send(o->links, p);
	return ST_OK;
}

enum status
outbox_path(const struct outbox *o, sphinx_path_t *path, path_nodes_t *nodes,
    double mean_ms, const path_nodes_t *avoid,
    const uint8_t tag[static SPHINX_KEY_SIZE])
{
	struct path_choice from = {o->registry, o->config.random,
	    o->config.suite, mean_ms, outbox_now(o)};

	if (o->registry == NULL)
		return ST_MISSING;
	return path_choose(path, nodes, &from, avoid, tag);
}

enum status
outbox_send(struct outbox *o, const sphinx_path_t *path, const void *message,
    size_t len)
{
	struct parcel *p = parcel_take(&o->pool);
	uint8_t seed[SPHINX_SEED_SIZE];
	enum status st;

	if (p == NULL)
		return ST_BUSY;
	o->config.random->fill(o->config.random->ctx, seed, sizeof(seed));
	st = sphinx_build(o->sphinx, &p->packet, path, message, len, seed);
	wipe(seed, sizeof(seed));
	if (st != ST_OK) {
		parcel_free(p);
		return st;
	}
	return outbox_post(o, p, path->hop[0].id);
}

enum status
outbox_reply(struct outbox *o, const uint8_t *surb, size_t surb_len,
    const void *reply, size_t len)
{
	struct parcel *p = parcel_take(&o->pool);
	uint8_t first[SPHINX_KEY_SIZE];
	enum status st;

	if (p == NULL)
		return ST_BUSY;
	st = sphinx_surb_use(
	    o->sphinx, &p->packet, first, surb, surb_len, reply, len);
	if (st != ST_OK) {
		parcel_free(p);
		return st;
	}
	return outbox_post(o, p, first);
}
