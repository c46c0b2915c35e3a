/* postern/prove.h: making a Semaphore v4 membership proof.
 *
 * The member's side of postern/semaphore.h: from the secret scalar, the path
 * of its commitment in the group's tree, a message and a scope to a Groth16
 * proof, with the official proving key of a tree depth (a snarkjs .zkey file).
 *
 * What is secret: the scalar, and all that follows from it, the witness, and
 * the blinding. All of it is computed in constant time: no branch and no
 * address depends on a secret, not in the witness, not in the transforms, not
 * in the sums over the key's points (src/bn254/msm.h; where others use
 * Pippenger's buckets, which are addressed by the witness). tests/ctime shows
 * it with valgrind and the memory sanitizer. Public are the depth, the length
 * of the path, and whether a statement is refused. Secrets live in the memory
 * that the caller gives (lock it) and on the stack; the memory is wiped before
 * the call returns.
 *
 * Numbers are 32 bytes, big-endian. Nothing here reads a file, a clock or a
 * source of randomness. Threads: any; a key may serve several at once.
 */
#ifndef POSTERN_PROVE_H
#define POSTERN_PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/group.h"
#include "postern/runner.h"
#include "postern/semaphore.h"
#include "postern/status.h"

/* What was refused. */
enum prove_part {
	PROVE_KEY_FILE = 0, /* the proving key as a whole */
	PROVE_KEY_SECTION, /* its section number `index` */
	PROVE_SECRET,
	PROVE_PATH_INDEX,
	PROVE_PATH_LENGTH,
	PROVE_PATH_SIBLING, /* sibling number `index` */
	PROVE_PATH_LEAF, /* the path is not that of this secret's commitment */
	PROVE_PATH_ROOT, /* the path does not lead to the root it states */
	PROVE_DEPTH,
	PROVE_PARTS
};

struct prove_fault {
	enum status status;
	enum prove_part part;
	int index;
};

/* Most characters of a fault's text, with the NUL. */
#define PROVE_FAULT_MAX 96

/* Say F for people: "section 5 (points A): shorter than it says". Tells no
 * secret. Out: a string, OUT itself. */
const char *prove_fault_text(
    char out[static PROVE_FAULT_MAX], const struct prove_fault *f) NONNULL;

/* A proving key, checked. It keeps a view of the bytes it was made from. */
struct prove_key;

/* Take the .zkey file in BYTES, which must stay as they are as long as the key
 * is used. Sizes and bounds of all sections are checked, every point is on
 * its curve, the circuit is Semaphore's of one of the 32 depths (by its
 * sizes), and the verification key inside is the official one of that depth
 * unless ANY_KEY. That each point is the right one is not looked at (the file's
 * SHA-256 tells: semaphore/artifacts.h): verify the proof you made.
 * Out:     *key, which the caller frees; NULL on failure. f.
 * Returns: ST_OK; ST_CORRUPT (not a .zkey file, or a value that can not be);
 *          ST_BAD_LENGTH (truncated, or a section's length does not fit);
 *          ST_TRAILING; ST_BAD_VERSION; ST_FOREIGN (another protocol, curve,
 *          circuit or ceremony); ST_NOT_CANONICAL; ST_NOT_ON_CURVE;
 *          ST_NO_MEMORY. */
enum status prove_key_new(struct prove_key **key, const void *bytes, size_t len,
    bool any_key, struct prove_fault *f) NONNULL WARN_UNUSED;

void prove_key_free(struct prove_key *key);

/* The depth of KEY's circuit. */
uint32_t prove_key_depth(const struct prove_key *key) NONNULL;

/* What is to be proved. */
struct prove_statement {
	const uint8_t *secret; /* the identity's secret scalar; SECRET */
	const struct group_proof *path; /* of its commitment; length at most
					 * the key's depth */
	uint8_t message[32]; /* any number */
	uint8_t scope[32]; /* any number */
};

/* Bytes of working memory that prove_make needs with KEY and a runner of
 * WIDTH threads. */
size_t prove_memory_size(const struct prove_key *key, unsigned width) NONNULL;

/* Alignment of that memory. */
#define PROVE_MEMORY_ALIGN 64

/* Bytes of randomness of one proof. */
#define PROVE_RANDOM_LENGTH 128

/* Make the proof of STATEMENT.
 * In:      random, from a CSPRNG and never used twice: two proofs of
 *          different statements with the same give the witness away. memory,
 *          prove_memory_size bytes. runner, NULL to stay on this thread.
 * Out:     p, affine; zeroed on failure. f, whose status is the result.
 * Returns: ST_OK; ST_BAD_VALUE (secret, index), ST_BAD_LENGTH (the path),
 *          ST_NOT_CANONICAL (a sibling), ST_FOREIGN (leaf, root): f tells.
 * Time:    constant in the secrets. memory is wiped. */
enum status prove_make(struct semaphore_proof *p, const struct prove_key *key,
    const struct prove_statement *statement,
    const uint8_t random[static PROVE_RANDOM_LENGTH], void *memory,
    const struct runner *runner, struct prove_fault *f)
    NONNULL_ARGS(1, 2, 3, 4, 5, 7) WARN_UNUSED;

#endif
