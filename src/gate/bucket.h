/* gate/bucket.h: a token bucket as one time stamp.
 *
 * The generic cell rate algorithm (ITU-T I.371): all there is to remember is
 * when the bucket would be full again; zero is a full bucket. It holds `count`
 * tokens and refills as many in each period, evenly; at most one a
 * microsecond. The burst is exact and the rate never exceeded.
 *
 * Times are the steady clock's: milliseconds in, microseconds kept. If the
 * rate changes, a bucket is at most empty under the new one. Pure.
 */
#ifndef GATE_BUCKET_H
#define GATE_BUCKET_H

#include <stdint.h>

#define BUCKET_UNLIMITED UINT64_MAX

/* COUNT in each PERIOD ms. A count of zero: nothing passes, ever. */
typedef struct {
	uint64_t count, period;
} bucket_rate_t;

/* For a wait that does not end. */
#define BUCKET_NEVER UINT64_MAX

/* How long until a token is there, in microseconds; 0: one is. */
uint64_t
bucket_wait(uint64_t full_at, const bucket_rate_t *rate, uint64_t mono);

/* Take a token, which must be there: the bucket afterwards. */
uint64_t
bucket_take(uint64_t full_at, const bucket_rate_t *rate, uint64_t mono);

/* Give back a token that was taken: the bucket afterwards. */
uint64_t bucket_give(uint64_t full_at, const bucket_rate_t *rate);

/* What somebody needs who keeps buckets elsewhere, in microseconds. */
typedef struct {
	uint64_t token; /* until one token has refilled */
	uint64_t whole; /* until all have */
} bucket_times_t;

/* The times of RATE, which is not unlimited. One that lets nothing pass has a
 * token that is longer than the whole. */
bucket_times_t bucket_times(const bucket_rate_t *rate);

/* Microseconds as seconds, rounded up: a Retry-After. */
uint64_t bucket_seconds(uint64_t us);

#endif
