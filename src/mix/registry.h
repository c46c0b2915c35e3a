/* mix/registry.h: who the nodes of a network are, and which layer each is in.
 *
 *	{
 *	  "epoch_seed": "2026-11-30",
 *	  "nodes": [
 *	    {"id": "f791...", "address": "192.0.2.1:9000", "stake": 1000,
 *	     "suite": "wide", "link": "12ab...",
 *	     "key": "...", "next": {"key": "...", "from": 1796083200}}
 *	  ]
 *	}
 *
 * `id` is a node's long-lived X25519 key, `stake` its weight for the network's
 * own rules; these, `address` and `epoch_seed` are the Erebus network's. Ours
 * are optional: `suite`; `key`, the key that packets are made for (the id when
 * absent), and the one that follows it from a moment on (Unix seconds); `link`,
 * the Ed25519 key that the node's TLS certificate must have (mix/tls.h), and
 * without which links to it are plain. Other members are left alone.
 *
 * Layers: nodes in order of SHA-256("erebus/layer" || epoch_seed || id); the
 * i-th goes to layer i mod 3. The seed is fixed after the ids are known, so no
 * operator picks its layer. An empty layer is an error.
 *
 * A registry does not change; a new file makes a new one.
 */
#ifndef MIX_REGISTRY_H
#define MIX_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ip.h"
#include "postern/sphinx.h"

#define MIX_LAYERS 3
#define REGISTRY_MAX_BYTES (4u << 20)
#define REGISTRY_MAX_NODES 4096

struct registry_node {
	uint8_t id[SPHINX_KEY_SIZE];
	uint8_t key[SPHINX_KEY_SIZE]; /* until next_from */
	uint8_t next_key[SPHINX_KEY_SIZE]; /* key, when there is none */
	int64_t next_from; /* Unix seconds; INT64_MAX: no next key */
	endpoint_t at;
	uint64_t stake;
	enum sphinx_suite suite;
	bool has_link;
	uint8_t link[32];
	uint8_t rank[32];
	unsigned layer;
};

struct registry {
	size_t n;
	struct registry_node *nodes; /* by layer, then by rank */
	size_t start[MIX_LAYERS + 1]; /* where a layer's nodes begin */
	/* By key: a hash table of 1 + index into nodes; 0 is free. */
	uint16_t *table;
	uint32_t mask;
};

/* Where a registry is wrong. */
struct registry_fault {
	unsigned line; /* from 1; 0: of the whole */
	char member[48]; /* "nodes[3].address"; "" for the whole */
	const char *what; /* what is wrong and what would be right */
};

/* Read a registry.
 * In:      SUITE, that of nodes which do not name theirs.
 * Out:     *r, for registry_free, NULL on failure; fault on failure.
 * Returns: ST_OK; ST_NOT_JSON; ST_MISSING (a member, or a layer);
 *          ST_WRONG_TYPE; ST_BAD_ENCODING; ST_BAD_VALUE; ST_WEAK_KEY;
 *          ST_UNKNOWN (suite); ST_DUPLICATE; ST_NO_SPACE (more than
 *          REGISTRY_MAX_NODES); ST_NO_MEMORY. */
enum status registry_parse(struct registry **r, struct registry_fault *fault,
    const char *text, size_t len, enum sphinx_suite suite) NONNULL WARN_UNUSED;

/* Read the file at PATH; otherwise as registry_parse.
 * Returns: also ST_SYS (errno), ST_NO_SPACE (above REGISTRY_MAX_BYTES). */
enum status registry_load(struct registry **r, struct registry_fault *fault,
    const char *path, enum sphinx_suite suite) NONNULL WARN_UNUSED;

/* Free *R and null it. */
void registry_free(struct registry **r) NONNULL;

/* The key to make packets for at NOW (Unix seconds). */
const uint8_t *
registry_key(const struct registry_node *node, int64_t now) NONNULL;

/* The node that has this key or id, now or later; NULL: none. */
const struct registry_node *registry_find(const struct registry *r,
    const uint8_t key[static SPHINX_KEY_SIZE]) NONNULL;

#endif
