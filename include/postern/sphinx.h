/* postern/sphinx.h: the mixnet's packet (Danezis and Goldberg, "Sphinx: a
 * compact and provably secure mix format", IEEE S&P 2009).
 *
 * A packet is 32,768 bytes on every link: a header that each hop can open by
 * one layer, and a payload that each hop transforms by one layer, so that no
 * two links carry the same bytes. At most three hops. Unlike the paper's, the
 * sender makes a fresh X25519 key pair for each hop and puts the next one's
 * public half ("element") into the routing block, so nothing is blinded.
 *
 * Two suites share the header code:
 *   wide    the payload is one block of a tweakless wide-block cipher (HBSH:
 *           Crowley and Biggers, ePrint 2018/720) keyed per hop and packet: a
 *           bit flipped anywhere turns all of it to noise at the next honest
 *           hop, so nobody can tag a packet here and know it again there. A
 *           replier learns no layer key, so it can not follow its reply.
 *   stream  byte-compatible with the Erebus network: a stream cipher a hop and
 *           an AEAD at the exit. A flipped bit travels to the exit (where the
 *           AEAD refuses it), so a first and a last hop in league can tag.
 * src/sphinx/PACKET.md has both byte for byte.
 *
 * Everything here is pure: randomness and memory are arguments. A struct
 * sphinx holds cipher contexts, made once; no call after sphinx_new allocates.
 * Timing is independent of secrets: keys, shared secrets, payloads and the
 * place where a MAC differs. It depends on the number of hops, on lengths, on
 * the action of a hop, and on whether a packet is refused and at which stage.
 *
 * Threads: any, one struct sphinx a thread.
 */
#ifndef POSTERN_SPHINX_H
#define POSTERN_SPHINX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

#define SPHINX_PACKET_SIZE 32768
#define SPHINX_HEADER_SIZE 384
#define SPHINX_PAYLOAD_SIZE 32384
#define SPHINX_BETA_SIZE 336
#define SPHINX_MAC_SIZE 16
#define SPHINX_KEY_SIZE 32
#define SPHINX_HOPS_MAX 3

/* The longest message of a packet, in both suites. */
#define SPHINX_MESSAGE_MAX 32364

/* The randomness of one packet or reply block; expanded with ChaCha20. */
#define SPHINX_SEED_SIZE 32

enum sphinx_suite {
	SPHINX_WIDE, /* the default */
	SPHINX_STREAM,
};

/* Which code computes X25519. All give the same bytes. */
enum sphinx_kernel {
	SPHINX_KERNEL_AUTO, /* the fastest that this CPU can run */
	SPHINX_KERNEL_PORTABLE, /* libsodium */
	SPHINX_KERNEL_IFMA, /* AVX-512 IFMA, eight scalars at once */
};

/* A header and a packet as they are on the wire; no padding, alignment 1. */
typedef struct {
	uint8_t element[SPHINX_KEY_SIZE];
	uint8_t beta[SPHINX_BETA_SIZE];
	uint8_t mac[SPHINX_MAC_SIZE];
} sphinx_header_t;

typedef struct {
	sphinx_header_t header;
	uint8_t payload[SPHINX_PAYLOAD_SIZE];
} sphinx_packet_t;

/* A node's key pair. The public half is the node's id. */
typedef struct {
	uint8_t id[SPHINX_KEY_SIZE];
	uint8_t secret[SPHINX_KEY_SIZE];
} sphinx_key_t;

/* The way a packet takes. */
typedef struct {
	unsigned hops; /* 1 to SPHINX_HOPS_MAX */
	struct {
		uint8_t id[SPHINX_KEY_SIZE];
		uint32_t delay_ms; /* how long this hop shall hold the packet */
	} hop[SPHINX_HOPS_MAX];
	uint8_t tag[SPHINX_KEY_SIZE]; /* for the last hop: whom to hand it to */
} sphinx_path_t;

/* Contexts of ciphers for one thread and one suite. */
struct sphinx;

/* Make a context.
 * Out:     *out; NULL on failure. The caller frees it.
 * Returns: ST_OK; ST_NO_MEMORY; ST_NOT_FOUND when this CPU can not run KERNEL
 *          or the OpenSSL library has none of the ciphers. */
enum status sphinx_new(struct sphinx **out, enum sphinx_suite suite,
    enum sphinx_kernel kernel) NONNULL WARN_UNUSED;

/* Wipe and free S; NULL is nothing to free. */
void sphinx_free(struct sphinx *s);

/* What S was made with. The kernel is never SPHINX_KERNEL_AUTO. */
enum sphinx_suite sphinx_suite_of(const struct sphinx *s) NONNULL;
enum sphinx_kernel sphinx_kernel_of(const struct sphinx *s) NONNULL;

/* A suite's name ("wide", "stream") and back.
 * Returns: ST_OK; ST_UNKNOWN, then *out is SPHINX_WIDE. */
const char *sphinx_suite_name(enum sphinx_suite suite);
enum status sphinx_suite_parse(
    enum sphinx_suite *out, const char *name) NONNULL WARN_UNUSED;

/* Make the key pair of SECRET, any 32 random bytes. */
void sphinx_key_make(
    sphinx_key_t *out, const uint8_t secret[static SPHINX_KEY_SIZE]) NONNULL;

/* ID is a canonical X25519 public key that yields no shared secret of zeros:
 * below 2^255 - 19 and not one of the points of small order. */
bool sphinx_id_is_valid(const uint8_t id[static SPHINX_KEY_SIZE]) NONNULL;

/* --- building ------------------------------------------------------------- */

/* Build the packet that takes MESSAGE along PATH.
 * In:      SEED, never used twice: whoever knows it can open every layer.
 * Out:     packet; zeros on failure.
 * Returns: ST_OK; ST_BAD_LENGTH (hops, or the message is too long);
 *          ST_WEAK_KEY (an id on the path is not sphinx_id_is_valid). */
enum status sphinx_build(struct sphinx *s, sphinx_packet_t *packet,
    const sphinx_path_t *path, const void *message, size_t len,
    const uint8_t seed[static SPHINX_SEED_SIZE])
    NONNULL_ARGS(1, 2, 3, 6) WARN_UNUSED;

/* One of several packets to build; members as the arguments above. */
typedef struct {
	sphinx_packet_t *packet;
	const sphinx_path_t *path;
	const void *message;
	size_t len;
	uint8_t seed[SPHINX_SEED_SIZE];
	enum status status; /* out: the result of this one */
} sphinx_build_t;

/* Build N packets: same bytes as N calls of sphinx_build, in less time where
 * the kernel works on eight scalars at once.
 * Returns: ST_OK when all are built; else the first failure's status. */
enum status sphinx_build_batch(
    struct sphinx *s, sphinx_build_t *jobs, size_t n) NONNULL WARN_UNUSED;

/* --- at a hop ------------------------------------------------------------- */

enum sphinx_action {
	SPHINX_FORWARD = 1, /* send the packet to the node .next */
	SPHINX_DELIVER = 2, /* hand .message to the service named by .next */
	SPHINX_REPLY =
	    3, /* the same with a reply's sealed bytes; `wide` only */
};

/* What a hop is told to do with a packet. */
typedef struct {
	enum sphinx_action action;
	uint32_t delay_ms;
	uint8_t next[SPHINX_KEY_SIZE]; /* a node's id, or a delivery tag */
	uint8_t surb[SPHINX_KEY_SIZE]; /* REPLY: the reply block's id */
	const uint8_t *message; /* DELIVER, REPLY: within the packet */
	size_t message_len;
	uint8_t replay_tag[32]; /* as the suite's format defines it */
	uint8_t once[16]; /* what the replay filter has to be asked for */
} sphinx_step_t;

/* View LEN bytes as a packet, without copying.
 * Out:     *out points at BYTES; NULL on failure.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_WEAK_KEY (the element is not a canonical
 *          X25519 public key, or is one of small order). */
enum status sphinx_decode(
    sphinx_packet_t **out, void *bytes, size_t len) NONNULL WARN_UNUSED;

/* Remove one layer from PACKET, in place, with the node's KEY.
 *
 * The caller must then ask its replay filter for step.once, and drop the
 * packet on ST_REPLAY. (`once` is a hash of the shared secret. The stream
 * format's own replay_tag is a hash of the element alone, and up to eight
 * elements, which differ by a point of small order, have one shared secret:
 * a filter of those tags lets a packet pass again in another spelling.)
 *
 * Out:     step; on FORWARD, packet is what to send on.
 * Returns: ST_OK; ST_WEAK_KEY and ST_BAD_MAC (the header is not for this key
 *          or was changed): the packet is as before and may be tried with
 *          another key; ST_BAD_ENCODING (a routing block that no sender
 *          makes); ST_CORRUPT (an exit whose payload was changed). On failure
 *          step.action is zero; on ST_CORRUPT the rest of step is valid and
 *          the payload is wiped. */
enum status sphinx_peel(struct sphinx *s, sphinx_step_t *step,
    sphinx_packet_t *packet, const sphinx_key_t *key) NONNULL WARN_UNUSED;

/* Peel N packets with one key; RESULTS[i] and STEPS[i] are as sphinx_peel of
 * PACKETS[i] would have them. Quicker from about four on, where the kernel
 * works on eight scalars at once. */
void
sphinx_peel_batch(struct sphinx *s, enum status *results, sphinx_step_t *steps,
    sphinx_packet_t *const *packets, size_t n, const sphinx_key_t *key) NONNULL;

/* --- single-use reply blocks ---------------------------------------------- */

#define SPHINX_SURB_MAX 609

/* A reply block as it travels: give it to who shall reply. */
typedef struct {
	size_t len;
	uint8_t bytes[SPHINX_SURB_MAX];
} sphinx_surb_t;

/* What its maker keeps to open the one reply. Secret. */
typedef struct {
	uint8_t id[SPHINX_KEY_SIZE];
	uint8_t reply_key[SPHINX_KEY_SIZE];
	uint8_t layer[SPHINX_HOPS_MAX][SPHINX_KEY_SIZE]; /* `wide` */
	unsigned hops;
} sphinx_surb_owner_t;

/* The longest reply, and its sealed form at the end of the path. */
#define SPHINX_REPLY_MAX_WIDE SPHINX_MESSAGE_MAX
#define SPHINX_REPLY_MAX_STREAM (SPHINX_MESSAGE_MAX - 1 - 32 - 16)

/* Make a reply block for PATH, whose tag names where the replies arrive.
 * Out:     surb, owner; zeros on failure.
 * Returns: as sphinx_build. */
enum status sphinx_surb_build(struct sphinx *s, sphinx_surb_t *surb,
    sphinx_surb_owner_t *owner, const sphinx_path_t *path,
    const uint8_t seed[static SPHINX_SEED_SIZE]) NONNULL WARN_UNUSED;

/* Length of the reply block at the start of BYTES.
 * Out:     *used; 0 on failure.
 * Returns: ST_OK; ST_BAD_LENGTH (shorter than a reply block); ST_BAD_VALUE
 *          (number of hops); ST_WEAK_KEY (first hop or element). */
enum status sphinx_surb_decode(const struct sphinx *s, size_t *used,
    const uint8_t *bytes, size_t len) NONNULL WARN_UNUSED;

/* Build the packet that takes REPLY back along SURB, to be sent to FIRST.
 * A block works once: a second packet made from it has the first one's
 * header, and every honest hop refuses it as a replay.
 * Out:     packet, first; zeros on failure.
 * Returns: ST_OK; ST_BAD_LENGTH (reply too long); as sphinx_surb_decode;
 *          ST_TRAILING (LEN is more than the block's). */
enum status sphinx_surb_use(struct sphinx *s, sphinx_packet_t *packet,
    uint8_t first[static SPHINX_KEY_SIZE], const uint8_t *surb, size_t len,
    const void *reply, size_t reply_len) NONNULL_ARGS(1, 2, 3, 4) WARN_UNUSED;

/* Open, in place, the sealed bytes that arrived for OWNER's id.
 * Out:     *reply points into SEALED; NULL on failure, and SEALED is wiped.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_CORRUPT (changed, or another block's). */
enum status sphinx_surb_open(struct sphinx *s, const uint8_t **reply,
    size_t *reply_len, const sphinx_surb_owner_t *owner, uint8_t *sealed,
    size_t len) NONNULL WARN_UNUSED;

/* --- replay filter -------------------------------------------------------- */

/* A set of `once` values for one node key: a hash table of 64-bit
 * fingerprints in buckets of one cache line, placed by a keyed hash, so that a
 * sender can not make its packets crowd one bucket. It forgets nothing and
 * never evicts: when it is full it refuses. A packet that is no replay is
 * taken for one with probability below 2^-58.
 *
 * Memory is the caller's; about 12.8 bytes a tag. */
struct sphinx_replay {
	uint64_t *slots; /* 8 a bucket; zero is free */
	uint64_t buckets, count, capacity;
	uint64_t multiplier[2]; /* secret, 128 bits, odd */
};

/* Bytes and alignment of a filter for CAPACITY tags; 0 if too many. */
#define SPHINX_REPLAY_ALIGN 64
size_t sphinx_replay_size(uint64_t capacity);

/* Set R up, empty, over MEMORY (sphinx_replay_size bytes, zeroed, aligned). */
void sphinx_replay_init(struct sphinx_replay *r, void *memory,
    uint64_t capacity, const uint8_t key[static 16]) NONNULL;

/* ONCE is in the set. */
bool sphinx_replay_seen(
    const struct sphinx_replay *r, const uint8_t once[static 16]) NONNULL;

/* Look ONCE up and put it in.
 * Returns: ST_OK (it was not there); ST_REPLAY; ST_BUSY (R is full). */
enum status sphinx_replay_insert(
    struct sphinx_replay *r, const uint8_t once[static 16]) NONNULL WARN_UNUSED;

/* Start loading what a look-up of ONCE will need. */
void sphinx_replay_prefetch(
    const struct sphinx_replay *r, const uint8_t once[static 16]) NONNULL;

/* --- message layer -------------------------------------------------------- */

/* What a delivered message is; the same in both suites. */
enum sphinx_kind {
	SPHINX_REQUEST = 1,
	SPHINX_REPLIED = 2,
	SPHINX_PROBE = 3,
};

#define SPHINX_FLAG_SURB 1 /* a reply block follows */
#define SPHINX_FLAG_COVER 2 /* cover traffic: the receiver drops it */

/* A message, as views of the bytes it was decoded from. */
typedef struct {
	enum sphinx_kind kind;
	uint8_t flags; /* REQUEST: SPHINX_FLAG_* */
	const uint8_t *id; /* REPLIED: of the block; PROBE: its own; 32 bytes */
	const uint8_t *surb; /* REQUEST: the reply block; NULL: none */
	size_t surb_len;
	const uint8_t *body; /* REQUEST: the body; REPLIED: the sealed bytes */
	size_t body_len;
} sphinx_message_t;

/* Write M to OUT.
 * Out:     *len; 0 on failure.
 * Returns: ST_OK; ST_NO_SPACE; ST_BAD_VALUE (kind, or flags and surb do not
 *          agree). */
enum status sphinx_message_encode(uint8_t *out, size_t cap, size_t *len,
    const sphinx_message_t *m) NONNULL WARN_UNUSED;

/* Read a message; the reply block inside is not looked at.
 * Out:     m, views of BYTES; m->kind is zero on failure.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_UNKNOWN (kind); ST_BAD_VERSION;
 *          ST_BAD_VALUE (flags); ST_TRAILING. */
enum status sphinx_message_decode(
    sphinx_message_t *m, const uint8_t *bytes, size_t len) NONNULL WARN_UNUSED;

#endif
