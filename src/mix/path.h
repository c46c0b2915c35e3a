/* mix/path.h: the way of a packet through the layers, chosen by its sender.
 *
 * One node a layer, each as likely as the others of its layer, and a delay for
 * each hop from an exponential distribution: it forgets, so that how long a
 * packet has been held says nothing of how long it will be (Danezis, "The
 * traffic analysis of continuous-time mixes", PET 2004).
 *
 * A path is made of nodes of one suite; which nodes of a layer count is up to
 * that.
 */
#ifndef MIX_PATH_H
#define MIX_PATH_H

#include "mix/random.h"
#include "mix/registry.h"

/* The longest delay a path asks of a hop. */
#define PATH_DELAY_MAX_MS 3600000

/* What a path is chosen from. */
struct path_choice {
	const struct registry *registry;
	const struct mix_random *random;
	enum sphinx_suite suite;
	double mean_ms; /* of each hop */
	int64_t now; /* Unix seconds: which keys count */
};

/* The nodes of a path: indices into the registry. */
typedef struct {
	uint16_t node[MIX_LAYERS];
} path_nodes_t;

/* Choose nodes and delays; TAG names whom the last hop hands the message to.
 * In:      AVOID, nodes not to take where their layer has others (those of the
 *          way out, for the way back); NULL: none.
 * Out:     path; nodes, which may be AVOID.
 * Returns: ST_OK; ST_MISSING: a layer has no node of this suite. */
enum status path_choose(sphinx_path_t *path, path_nodes_t *nodes,
    const struct path_choice *from, const path_nodes_t *avoid,
    const uint8_t tag[static SPHINX_KEY_SIZE])
    NONNULL_ARGS(1, 2, 3, 5) WARN_UNUSED;

/* A delivery tag for an address, and back: "host:port", zero padded.
 * Returns: ST_OK; tag_make: ST_BAD_LENGTH (the text has more than 32 bytes;
 *          only some IPv6 addresses do); tag_read: ST_BAD_ENCODING. */
enum status tag_make(uint8_t tag[static SPHINX_KEY_SIZE],
    const endpoint_t *at) NONNULL WARN_UNUSED;
enum status tag_read(endpoint_t *at,
    const uint8_t tag[static SPHINX_KEY_SIZE]) NONNULL WARN_UNUSED;

#endif
