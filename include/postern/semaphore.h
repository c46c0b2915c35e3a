/* postern/semaphore.h: Semaphore v4 membership proofs: reading, writing and
 * verifying them.
 *
 * A proof says: somebody whose identity commitment is a leaf of the Merkle
 * tree with this root signed this message within this scope, and their name in
 * this scope is this nullifier. It is a Groth16 proof over BN254; its public
 * signals are, in circuit order, root, nullifier, H(message) and H(scope),
 * with H(x) = keccak256(x as 32 bytes big-endian) >> 8. One verification key
 * belongs to each tree depth from 1 to 32.
 *
 * It travels in two forms: the JSON of an official SemaphoreProof object, and
 * the compact token of Postern (src/http/PROTOCOL.md). Reading is strict: one
 * spelling for a value, every scalar below r, every coordinate below p. The
 * reference JavaScript is laxer; a laxer reader lets one nullifier have two
 * names. Proofs can be re-randomised by anyone, so that nothing may depend on
 * a proof's points being unique: the nullifier is a member's only name.
 *
 * Reading is cheap and does no curve arithmetic: it suits a loop that must not
 * block. That the points are on the curve and in the subgroup is found out by
 * semaphore_verify, before the pairing.
 *
 * Numbers are 32 bytes, big-endian. Nothing here is secret: variable time.
 * Threads: any, as long as no object is written by two at once.
 */
#ifndef POSTERN_SEMAPHORE_H
#define POSTERN_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

#define SEMAPHORE_DEPTH_MIN 1
#define SEMAPHORE_DEPTH_MAX 32

/* How the points of a proof are spelt. */
enum semaphore_form {
	SEMAPHORE_NO_POINTS = 0, /* no proof: fails verification */
	SEMAPHORE_AFFINE, /* 8 coordinates: A.x A.y B.x1 B.x0 B.y1 B.y0 C.x C.y,
			   * the order of the official object */
	SEMAPHORE_COMPRESSED, /* A 32, B 64 (x1 then x0), C 32, the rest zero;
			       * the top bits of each say which y (10 smaller,
			       * 11 larger), as in gnark */
};

/* A proof as read: canonical, not yet verified. A plain value. Zeroed, it is a
 * proof that fails verification; a reader that fails leaves it zeroed. */
struct semaphore_proof {
	uint32_t depth; /* of the circuit, 1 to 32 */
	enum semaphore_form form;
	uint8_t root[32]; /* below r */
	uint8_t nullifier[32]; /* below r */
	uint8_t message[32]; /* any 256-bit number */
	uint8_t scope[32]; /* any 256-bit number */
	uint8_t points[256];
};

/* Where and why a proof is refused. */
enum semaphore_field {
	SEMAPHORE_WHOLE = 0, /* the text, or the statement as a whole */
	SEMAPHORE_DEPTH,
	SEMAPHORE_ROOT,
	SEMAPHORE_NULLIFIER,
	SEMAPHORE_MESSAGE,
	SEMAPHORE_SCOPE,
	SEMAPHORE_POINTS, /* index: 0 to 7, or -1 for the member itself */
	SEMAPHORE_A,
	SEMAPHORE_B,
	SEMAPHORE_C,
	SEMAPHORE_FIELDS
};

struct semaphore_fault {
	enum status status;
	enum semaphore_field field;
	int index; /* of a coordinate; -1: none */
	int64_t value; /* the depth that was given, how many points, or the
			* byte where the text stops being JSON; else 0 */
};

/* Most characters that semaphore_fault_text writes, with the NUL. */
#define SEMAPHORE_FAULT_MAX 96

/* Say F for people: "points[3]: not below the field modulus". Names fields,
 * never their values (but for depth and counts), so that it may be shown.
 * Out: a string, OUT itself. */
const char *semaphore_fault_text(char out[static SEMAPHORE_FAULT_MAX],
    const struct semaphore_fault *f) NONNULL;

/* Read the JSON of an official SemaphoreProof: one object, nothing after it.
 * A member of any object in it twice is refused, one that is unknown ignored.
 * Out:     p, affine. f, whose status is the result.
 * Returns: ST_OK; ST_NOT_JSON; ST_TRAILING; ST_DUPLICATE; ST_MISSING;
 *          ST_WRONG_TYPE; ST_BAD_DEPTH; ST_BAD_LENGTH (not 8 points);
 *          ST_BAD_ENCODING (not a canonical decimal); ST_BAD_VALUE (a message
 *          or scope of 2^256 or more); ST_NOT_CANONICAL (a signal not below r,
 *          a coordinate not below p); ST_NO_MEMORY. */
enum status
semaphore_proof_from_json(struct semaphore_proof *p, const void *text,
    size_t len, struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* Most characters of a proof's JSON, with the NUL. */
#define SEMAPHORE_JSON_MAX 1280

/* Write P, which must be affine, as the official JSON: the members in the
 * official order, no space.
 * Out:     a string and its length.
 * Returns: ST_OK; ST_BAD_VALUE when P is compressed: expand it first. */
enum status semaphore_proof_to_json(char out[static SEMAPHORE_JSON_MAX],
    size_t *len, const struct semaphore_proof *p) NONNULL WARN_UNUSED;

enum semaphore_token_kind {
	SEMAPHORE_TOKEN_NONE = 0,
	SEMAPHORE_TOKEN_JSON, /* message and scope are in the proof */
	SEMAPHORE_TOKEN_COMPACT, /* they follow from epoch and slot: the caller
				  * fills them in; until then they are zero */
};

/* What a compact token has in the place of message and scope. */
struct semaphore_token {
	enum semaphore_token_kind kind;
	uint32_t epoch;
	uint16_t slot;
};

/* Characters of a compact token, without the NUL. */
#define SEMAPHORE_COMPACT_LENGTH 267

/* Longest token text that is read: the JSON form with room for members that we
 * do not know. */
#define SEMAPHORE_TOKEN_MAX 8192

/* Read a token: base64url without padding, of JSON (it begins with '{') or of
 * the compact form.
 * Out:     p, t and f.
 * Returns: as semaphore_proof_from_json, and ST_BAD_LENGTH or ST_BAD_ENCODING
 *          for text that is no base64url; ST_NO_SPACE for one longer than
 *          SEMAPHORE_TOKEN_MAX; ST_BAD_VERSION for a first byte that is
 *          neither; ST_INFINITY and ST_BAD_ENCODING (flags) for a point. */
enum status semaphore_token_decode(struct semaphore_proof *p,
    struct semaphore_token *t, const void *text, size_t len,
    struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* Write P, which must be compressed, as the compact token for EPOCH and SLOT.
 * Returns: ST_OK; ST_BAD_VALUE when P is affine: compress it first. */
enum status
semaphore_token_compact(char out[static SEMAPHORE_COMPACT_LENGTH + 1],
    const struct semaphore_proof *p, uint32_t epoch,
    uint16_t slot) NONNULL WARN_UNUSED;

/* Spell P's points in the other form; a P that has it already stays.
 * Returns: ST_OK; ST_NOT_ON_CURVE, ST_INFINITY and so on, said in f, with P
 *          unchanged. That a point is in the subgroup is not looked at. */
enum status semaphore_proof_compress(
    struct semaphore_proof *p, struct semaphore_fault *f) NONNULL WARN_UNUSED;
enum status semaphore_proof_expand(
    struct semaphore_proof *p, struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* H(x) = keccak256(x) >> 8: how message and scope enter the circuit. */
void semaphore_signal_hash(
    uint8_t out[static 32], const uint8_t x[static 32]) NONNULL;

/* The verification keys, prepared: read-only once made, and then shared by any
 * number of threads. */
struct semaphore_keys;

/* Depth D as a bit of a set of depths. */
#define SEMAPHORE_DEPTH_BIT(D) (UINT32_C(1) << ((D)-1))
#define SEMAPHORE_ALL_DEPTHS UINT32_MAX

/* Make the official keys ready for the depths in the set DEPTHS (each costs
 * about two pairings): one for a single proof, all for a gateway. KERNEL names
 * the arithmetic (bn254/kernel.h), NULL the best that this processor has.
 * Out:     *keys, which the caller frees; NULL on failure.
 * Returns: ST_OK; ST_NO_MEMORY; ST_UNKNOWN or ST_BAD_VALUE (no such kernel, or
 *          not on this processor); ST_CORRUPT (the built-in data is damaged). */
enum status semaphore_keys_new(struct semaphore_keys **keys, uint32_t depths,
    const char *kernel) NONNULL_ARGS(1) WARN_UNUSED;

/* Make the official key of DEPTH ready too, if none is there.
 * Returns: ST_OK; ST_BAD_DEPTH; ST_NO_MEMORY; ST_CORRUPT. */
enum status semaphore_keys_need(
    struct semaphore_keys *keys, uint32_t depth) NONNULL WARN_UNUSED;

void semaphore_keys_free(struct semaphore_keys *keys);

/* Take the key of depth DEPTH from TEXT, the official JSON of a verification
 * key (snarkjs's), in the place of the official one: for a circuit of the same
 * statement from another set-up ceremony.
 * Returns: ST_OK; ST_BAD_DEPTH; ST_NO_MEMORY; or why TEXT is no such key, with
 *          the old key kept. On failure *where (if not NULL) names the member
 *          that is wrong, or is "" for the whole; it is a constant. */
enum status semaphore_keys_set(struct semaphore_keys *keys, uint32_t depth,
    const void *text, size_t len, const char **where)
    NONNULL_ARGS(1, 3) WARN_UNUSED;

/* The sums over root, message and scope of the statements that came last: they
 * repeat from proof to proof all day. Changes at each use, so one a thread. */
struct semaphore_memo;

/* Make an empty memo for KEYS, which must live as long as it does.
 * Returns: ST_OK; ST_NO_MEMORY (then *memo is NULL). */
enum status semaphore_memo_new(struct semaphore_memo **memo,
    const struct semaphore_keys *keys) NONNULL WARN_UNUSED;

void semaphore_memo_free(struct semaphore_memo *memo);

/* Verify P: points on the curve and in the subgroup, pairing equation.
 * In/Out:  memo, one for KEYS, or NULL.
 * Out:     f, whose status is the result.
 * Returns: ST_OK: the proof holds. ST_BAD_DEPTH; ST_NO_KEY; ST_NOT_CANONICAL;
 *          ST_NOT_ON_CURVE; ST_NOT_IN_GROUP; ST_INFINITY; ST_BAD_VALUE (no
 *          proof at all); ST_PROOF_INVALID. */
enum status semaphore_verify(const struct semaphore_keys *keys,
    struct semaphore_memo *memo, const struct semaphore_proof *p,
    struct semaphore_fault *f) NONNULL_ARGS(1, 3, 4) WARN_UNUSED;

/* Verify N proofs at once: cheaper than one by one when most are good.
 * Each gets its own verdict, the same that semaphore_verify would give, but
 * for a chance of 2^-128.
 * In:      random, 16 * N bytes that nobody who makes proofs can foresee.
 * Out:     faults[i].status is the result for proofs[i].
 * Returns: ST_OK when every result has been written (whatever it is);
 *          ST_NO_MEMORY: then that is every result. */
enum status semaphore_verify_batch(const struct semaphore_keys *keys,
    struct semaphore_memo *memo, struct semaphore_fault *faults,
    const struct semaphore_proof *const *proofs, size_t n,
    const uint8_t *random) NONNULL_ARGS(1, 3, 4, 6) WARN_UNUSED;

#endif
