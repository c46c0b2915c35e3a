#include "mix/path.h"

#include <string.h>

/* A node of LAYER with the suite, not AVOID unless there is no other.
 * Returns: false when there is none. */
static bool
choose_node(uint16_t *out, const struct path_choice *from, unsigned layer,
    const path_nodes_t *avoid)
{
	const struct registry *r = from->registry;
	size_t begin = r->start[layer], end = r->start[layer + 1];
	size_t usable = 0, others = 0;

	for (size_t i = begin; i < end; i++) {
		if (r->nodes[i].suite != from->suite)
			continue;
		usable++;
		others += avoid == NULL || avoid->node[layer] != i;
	}
	if (usable == 0)
		return false;
	uint64_t pick =
	    mix_random_below(from->random, others != 0 ? others : usable);
	for (size_t i = begin; i < end; i++) {
		if (r->nodes[i].suite != from->suite ||
		    (others != 0 && avoid != NULL && avoid->node[layer] == i))
			continue;
		if (pick-- == 0) {
			*out = (uint16_t)i;
			return true;
		}
	}
	return false;
}

enum status
path_choose(sphinx_path_t *path, path_nodes_t *nodes,
    const struct path_choice *from, const path_nodes_t *avoid,
    const uint8_t tag[static SPHINX_KEY_SIZE])
{
	path_nodes_t chosen = {{0}};

	memset(path, 0, sizeof(*path));
	for (unsigned i = 0; i < MIX_LAYERS; i++) {
		if (!choose_node(&chosen.node[i], from, i, avoid))
			return ST_MISSING;
		memcpy(path->hop[i].id,
		    registry_key(
			&from->registry->nodes[chosen.node[i]], from->now),
		    SPHINX_KEY_SIZE);
		path->hop[i].delay_ms = mix_random_delay(
		    from->random, from->mean_ms, PATH_DELAY_MAX_MS);
	}
	path->hops = MIX_LAYERS;
	memcpy(path->tag, tag, sizeof(path->tag));
	*nodes = chosen;
	return ST_OK;
}

enum status
tag_make(uint8_t tag[static SPHINX_KEY_SIZE], const endpoint_t *at)
{
	char text[ENDPOINT_TEXT_MAX];
	size_t len = endpoint_format(text, at);

	memset(tag, 0, SPHINX_KEY_SIZE);
	if (len > SPHINX_KEY_SIZE)
		return ST_BAD_LENGTH;
	memcpy(tag, text, len);
	return ST_OK;
}

enum status
tag_read(endpoint_t *at, const uint8_t tag[static SPHINX_KEY_SIZE])
{
	size_t len = SPHINX_KEY_SIZE;

	while (len > 0 && tag[len - 1] == 0)
		len--;
	return endpoint_parse(at, span_of(tag, len));
}
