/* gate/quota.h: what a member may use in one epoch, and what is left.
 *
 * Pure arithmetic on plain values: a member's usage, the limits of the group
 * whose root the proof is for, and the time. Who belongs to two groups has one
 * nullifier, and so one usage that is measured by the limits of whichever
 * group a proof is for.
 *
 * quota_look says whether a request would pass and changes nothing: it comes
 * before the proof is checked. quota_count checks again and counts in the same
 * call: on the loop thread that is atomic, so that of fifty requests that all
 * passed the look not one more passes than the quota has. The tunnel is opened
 * in the same breath, for the same reason.
 */
#ifndef GATE_QUOTA_H
#define GATE_QUOTA_H

#include <stdint.h>

#include "gate/bucket.h"
#include "gate/now.h"
#include "postern/attr.h"
#include "postern/status.h"

/* For a limit that is none. Zero is a limit: nothing passes. */
#define QUOTA_UNLIMITED UINT64_MAX /* a rate: BUCKET_UNLIMITED */

struct quota_limits {
	uint64_t requests; /* in an epoch */
	uint64_t tunnels; /* open at one time */
	uint64_t bytes_up, bytes_down; /* in an epoch */
	bucket_rate_t rate; /* requests in a time */
};

/* Largest values that a usage holds; what is at its largest stays there, and
 * only an unlimited quota lets it pass. */
#define USAGE_REQUESTS_MAX UINT32_MAX
#define USAGE_TUNNELS_MAX UINT16_MAX
#define USAGE_BYTES_MAX ((UINT64_C(1) << 48) - 1)

/* What a member has used: a plain value, zero at first. */
typedef struct {
	uint32_t requests;
	uint16_t tunnels;
	uint64_t bytes_up, bytes_down;
	uint64_t full_at; /* the bucket of the rate */
} usage_t;

/* What is left: for the RateLimit fields and Retry-After. */
struct quota_left {
	uint64_t requests, tunnels, bytes_up, bytes_down; /* or unlimited */
	uint64_t reset; /* seconds until the epoch ends; 0 if it has */
	uint64_t retry; /* seconds until a try makes sense; 0: now */
};

/* Retry-After for a member with too many open tunnels: when one of them closes
 * is the member's own affair. */
#define QUOTA_TUNNELS_RETRY 5

/* Whether one more request would pass.
 * Returns: ST_OK; else the cause that lasts longest: ST_QUOTA_REQUESTS,
 *          ST_QUOTA_BYTES, ST_QUOTA_RATE, ST_QUOTA_TUNNELS. */
enum status quota_look(
    const usage_t *u, const struct quota_limits *l, now_t now) WARN_UNUSED;

/* Count one request and open one tunnel, if both pass.
 * In/Out:  u, unchanged unless ST_OK.
 * Returns: as quota_look. */
enum status
quota_count(usage_t *u, const struct quota_limits *l, now_t now) WARN_UNUSED;

/* Take a count back that could not be made durable: the request did not pass. */
void quota_uncount(usage_t *u, const struct quota_limits *l);

/* A tunnel has closed. */
void quota_close(usage_t *u);

/* Add bytes that a tunnel has carried; they are added whatever the limits say.
 * Returns: ST_OK; ST_QUOTA_BYTES: more than allowed, close the tunnel. */
enum status quota_add_bytes(usage_t *u, const struct quota_limits *l,
    uint64_t up, uint64_t down) WARN_UNUSED;

/* What U leaves of L, in an epoch that ends at EPOCH_END (wall). CAUSE is what
 * quota_look or quota_count said: retry follows from it. */
void quota_left(struct quota_left *out, const usage_t *u,
    const struct quota_limits *l, uint64_t epoch_end, now_t now,
    enum status cause);

#endif
