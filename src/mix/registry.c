#include "mix/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "base/bytes.h"
#include "base/text.h"
#include "mix/json_line.h"
#include "store/file.h"

/* What is being read, to say where it is wrong. */
struct reader {
	span_t text;
	struct registry_fault *fault;
	size_t index; /* of the node */
};

/* Note that MEMBER of the node (NULL: the node) is wrong. */
static enum status
node_fault(const struct reader *in, const char *member, const char *what,
    enum status st)
{
	struct registry_fault *f = in->fault;

	f->line = json_line_of(in->text, "nodes", in->index, member);
	snprintf(f->member, sizeof(f->member), "nodes[%zu]%s%s", in->index,
	    member != NULL ? "." : "", member != NULL ? member : "");
	f->what = what;
	return st;
}

/* Note that MEMBER of the whole is wrong. */
static enum status
fault(struct registry_fault *f, unsigned line, const char *member,
    const char *what, enum status st)
{
	f->line = line;
	snprintf(f->member, sizeof(f->member), "%s", member);
	f->what = what;
	return st;
}

static enum status
read_key(const struct reader *in, uint8_t out[static 32], const json_t *node,
    const char *member, bool curve)
{
	const json_t *v = json_object_get(node, member);

	if (v == NULL)
		return node_fault(in, member, "it must be there", ST_MISSING);
	if (!json_is_string(v))
		return node_fault(in, member,
		    "it must be a string of 64 hex digits", ST_WRONG_TYPE);
	if (hex_decode(out, 32,
		span_of(json_string_value(v), json_string_length(v))) != ST_OK)
		return node_fault(
		    in, member, "it must be 64 hex digits", ST_BAD_ENCODING);
	if (curve && !sphinx_id_is_valid(out))
		return node_fault(in, member,
		    "it is no X25519 public key (or one of small order)",
		    ST_WEAK_KEY);
	return ST_OK;
}

static enum status
read_address(
    const struct reader *in, struct registry_node *out, const json_t *node)
{
	const json_t *v = json_object_get(node, "address");

	if (v == NULL)
		return node_fault(
		    in, "address", "it must be there", ST_MISSING);
	if (!json_is_string(v))
		return node_fault(in, "address",
		    "it must be a string, like \"192.0.2.1:9000\"",
		    ST_WRONG_TYPE);
	if (endpoint_parse(&out->at,
		span_of(json_string_value(v), json_string_length(v))) != ST_OK)
		return node_fault(in, "address",
		    "it must be an IP address and a port, like "
		    "\"192.0.2.1:9000\" or \"[2001:db8::1]:9000\"",
		    ST_BAD_ENCODING);
	return ST_OK;
}

static enum status
read_stake(
    const struct reader *in, struct registry_node *out, const json_t *node)
{
	const json_t *v = json_object_get(node, "stake");

	if (v == NULL)
		return node_fault(in, "stake", "it must be there", ST_MISSING);
	if (!json_is_integer(v))
		return node_fault(
		    in, "stake", "it must be a whole number", ST_WRONG_TYPE);
	if (json_integer_value(v) < 0)
		return node_fault(
		    in, "stake", "it must not be negative", ST_BAD_VALUE);
	out->stake = (uint64_t)json_integer_value(v);
	return ST_OK;
}

/* What Erebus's registries do not have. */
static enum status
read_options(const struct reader *in, struct registry_node *out,
    const json_t *node, enum sphinx_suite suite)
{
	const json_t *v = json_object_get(node, "suite");
	enum status st;

	out->suite = suite;
	if (v != NULL &&
	    (!json_is_string(v) ||
		sphinx_suite_parse(&out->suite, json_string_value(v)) != ST_OK))
		return node_fault(in, "suite",
		    "it must be \"wide\" or \"stream\"", ST_UNKNOWN);
	if (json_object_get(node, "link") != NULL) {
		if ((st = read_key(in, out->link, node, "link", false)) !=
		    ST_OK)
			return st;
		out->has_link = true;
	}
	memcpy(out->key, out->id, sizeof(out->key));
	if (json_object_get(node, "key") != NULL &&
	    (st = read_key(in, out->key, node, "key", true)) != ST_OK)
		return st;
	memcpy(out->next_key, out->key, sizeof(out->next_key));
	out->next_from = INT64_MAX;
	v = json_object_get(node, "next");
	if (v == NULL)
		return ST_OK;
	const json_t *from = json_object_get(v, "from");
	if (!json_is_integer(from) || json_integer_value(from) < 0)
		return node_fault(in, "next",
		    "it must be an object of `key` and `from` (Unix seconds)",
		    ST_WRONG_TYPE);
	out->next_from = json_integer_value(from);
	/* The line is that of `next`. */
	st = read_key(in, out->next_key, v, "key", true);
	return st == ST_OK ? ST_OK
			   : node_fault(in, "next",
				 "its `key` must be an X25519 public key", st);
}

static enum status
read_node(const struct reader *in, struct registry_node *out,
    const json_t *node, enum sphinx_suite suite)
{
	enum status st;

	if (!json_is_object(node))
		return node_fault(
		    in, NULL, "it must be an object", ST_WRONG_TYPE);
	if ((st = read_key(in, out->id, node, "id", true)) != ST_OK ||
	    (st = read_address(in, out, node)) != ST_OK ||
	    (st = read_stake(in, out, node)) != ST_OK)
		return st;
	return read_options(in, out, node, suite);
}

static uint32_t
slot_of(const uint8_t key[static 32])
{
	return load_le32(key) * UINT32_C(0x9e3779b1);
}

/* The slot of KEY's node, or the free one where it belongs. */
static uint16_t *
find_slot(const struct registry *r, const uint8_t key[static 32])
{
	for (uint32_t i = slot_of(key);; i++) {
		uint16_t *slot = &r->table[i & r->mask];
		if (*slot == 0)
			return slot;
		const struct registry_node *node = &r->nodes[*slot - 1];
		if (memcmp(key, node->id, 32) == 0 ||
		    memcmp(key, node->key, 32) == 0 ||
		    (node->next_from != INT64_MAX &&
			memcmp(key, node->next_key, 32) == 0))
			return slot;
	}
}

/* Make node I known by KEY; false when another node is. */
static bool
enter_key(struct registry *r, size_t i, const uint8_t key[static 32])
{
	uint16_t *slot = find_slot(r, key);

	if (*slot != 0 && *slot != i + 1)
		return false;
	*slot = (uint16_t)(i + 1);
	return true;
}

/* Fill the table. Two nodes may share no key. */
static enum status
make_table(struct reader *in, struct registry *r)
{
	uint32_t size = 8;

	/* Three keys a node, a load of three eighths at most. */
	while (size < 8 * r->n)
		size *= 2;
	free(r->table);
	r->table = calloc(size, sizeof(*r->table));
	if (r->table == NULL)
		return ST_NO_MEMORY;
	r->mask = size - 1;
	for (in->index = 0; in->index < r->n; in->index++) {
		const struct registry_node *node = &r->nodes[in->index];
		static const char what[] = "another node has it too";
		if (!enter_key(r, in->index, node->id))
			return node_fault(in, "id", what, ST_DUPLICATE);
		if (!enter_key(r, in->index, node->key))
			return node_fault(in, "key", what, ST_DUPLICATE);
		if (node->next_from != INT64_MAX &&
		    !enter_key(r, in->index, node->next_key))
			return node_fault(in, "next", what, ST_DUPLICATE);
	}
	return ST_OK;
}

static int
by_rank(const void *a, const void *b)
{
	const struct registry_node *x = a, *y = b;

	return memcmp(x->rank, y->rank, sizeof(x->rank));
}

static int
by_layer(const void *a, const void *b)
{
	const struct registry_node *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return by_rank(a, b);
}

/* Give each node its rank and layer, and put them in order. */
static enum status
rank_nodes(struct registry *r, const char *epoch_seed, size_t seed_len)
{
	static const char label[] = "erebus/layer";
	size_t layer = 0;

	for (size_t i = 0; i < r->n; i++) {
		crypto_hash_sha256_state h;
		crypto_hash_sha256_init(&h);
		crypto_hash_sha256_update(
		    &h, (const uint8_t *)label, sizeof(label) - 1);
		crypto_hash_sha256_update(
		    &h, (const uint8_t *)epoch_seed, seed_len);
		crypto_hash_sha256_update(&h, r->nodes[i].id, 32);
		crypto_hash_sha256_final(&h, r->nodes[i].rank);
	}
	qsort(r->nodes, r->n, sizeof(*r->nodes), by_rank);
	for (size_t i = 0; i < r->n; i++)
		r->nodes[i].layer = (unsigned)(i % MIX_LAYERS);
	qsort(r->nodes, r->n, sizeof(*r->nodes), by_layer);
	for (size_t i = 0; i < r->n; i++) {
		while (layer <= r->nodes[i].layer)
			r->start[layer++] = i;
	}
	while (layer <= MIX_LAYERS)
		r->start[layer++] = r->n;
	return r->n >= MIX_LAYERS ? ST_OK : ST_MISSING;
}

static enum status
read_nodes(struct registry *r, struct reader *in, const json_t *root,
    enum sphinx_suite suite)
{
	const json_t *seed = json_object_get(root, "epoch_seed");
	const json_t *nodes = json_object_get(root, "nodes");
	enum status st;

	if (!json_is_string(seed))
		return fault(in->fault, 1, "epoch_seed",
		    "it must be there and be a string",
		    seed == NULL ? ST_MISSING : ST_WRONG_TYPE);
	if (!json_is_array(nodes))
		return fault(in->fault, 1, "nodes",
		    "it must be there and be an array",
		    nodes == NULL ? ST_MISSING : ST_WRONG_TYPE);
	if (json_array_size(nodes) > REGISTRY_MAX_NODES)
		return fault(in->fault, 1, "nodes", "there are more than 4,096",
		    ST_NO_SPACE);
	r->n = json_array_size(nodes);
	r->nodes = calloc(r->n + 1, sizeof(*r->nodes));
	if (r->nodes == NULL)
		return ST_NO_MEMORY;
	for (in->index = 0; in->index < r->n; in->index++) {
		st = read_node(in, &r->nodes[in->index],
		    json_array_get(nodes, in->index), suite);
		if (st != ST_OK)
			return st;
	}
	/* In the order of the file first, for the sake of the line. */
	if ((st = make_table(in, r)) != ST_OK)
		return st;
	if (rank_nodes(r, json_string_value(seed), json_string_length(seed)) !=
	    ST_OK)
		return fault(in->fault,
		    json_line_of(in->text, "nodes", 0, NULL), "nodes",
		    "a layer is empty: three nodes are the least", ST_MISSING);
	return make_table(in, r);
}

enum status
registry_parse(struct registry **r, struct registry_fault *f, const char *text,
    size_t len, enum sphinx_suite suite)
{
	struct reader in = {span_of(text, len), f, 0};
	json_error_t error;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	enum status st;

	memset(f, 0, sizeof(*f));
	*r = NULL;
	if (root == NULL)
		return fault(f, error.line > 0 ? (unsigned)error.line : 1, "",
		    "it is not JSON, or a member is there twice", ST_NOT_JSON);
	*r = calloc(1, sizeof(**r));
	if (*r == NULL)
		st = ST_NO_MEMORY;
	else if (!json_is_object(root))
		st = fault(f, 1, "", "it must be an object", ST_WRONG_TYPE);
	else
		st = read_nodes(*r, &in, root, suite);
	json_decref(root);
	if (st == ST_NO_MEMORY)
		f->what = "there is not enough memory";
	if (st != ST_OK)
		registry_free(r);
	return st;
}

enum status
registry_load(struct registry **r, struct registry_fault *f, const char *path,
    enum sphinx_suite suite)
{
	char *text;
	size_t len;
	enum status st =
	    file_load(&text, &len, path, REGISTRY_MAX_BYTES, FILE_ANYBODY);

	*r = NULL;
	memset(f, 0, sizeof(*f));
	if (st != ST_OK) {
		f->what = st == ST_NO_SPACE ? "it is longer than 4 MiB"
					    : "it can not be read";
		return st;
	}
	st = registry_parse(r, f, text, len, suite);
	free(text);
	return st;
}

void
registry_free(struct registry **r)
{
	if (*r != NULL) {
		free((*r)->nodes);
		free((*r)->table);
	}
	free(*r);
	*r = NULL;
}

const uint8_t *
registry_key(const struct registry_node *node, int64_t now)
{
	return now >= node->next_from ? node->next_key : node->key;
}

const struct registry_node *
registry_find(
    const struct registry *r, const uint8_t key[static SPHINX_KEY_SIZE])
{
	uint16_t at = *find_slot(r, key);

	return at == 0 ? NULL : &r->nodes[at - 1];
}
