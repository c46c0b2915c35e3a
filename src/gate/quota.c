#include "gate/quota.h"

#include <stdbool.h>

/* What is left of LIMIT after USED, where USED stops counting at MAX. */
static uint64_t
left_of(uint64_t limit, uint64_t used, uint64_t max)
{
	if (limit == QUOTA_UNLIMITED)
		return QUOTA_UNLIMITED;
	if (limit > max)
		limit = max;
	return used < limit ? limit - used : 0;
}

enum status
quota_look(const usage_t *u, const struct quota_limits *l, now_t now)
{
	if (left_of(l->requests, u->requests, USAGE_REQUESTS_MAX) == 0)
		return ST_QUOTA_REQUESTS;
	if (left_of(l->bytes_up, u->bytes_up, USAGE_BYTES_MAX) == 0 ||
	    left_of(l->bytes_down, u->bytes_down, USAGE_BYTES_MAX) == 0)
		return ST_QUOTA_BYTES;
	if (bucket_wait(u->full_at, &l->rate, now.mono) > 0)
		return ST_QUOTA_RATE;
	/* An open tunnel too many to be counted could not be closed again. */
	if (u->tunnels == USAGE_TUNNELS_MAX ||
	    left_of(l->tunnels, u->tunnels, USAGE_TUNNELS_MAX) == 0)
		return ST_QUOTA_TUNNELS;
	return ST_OK;
}

enum status
quota_count(usage_t *u, const struct quota_limits *l, now_t now)
{
	enum status s = quota_look(u, l, now);

	if (s != ST_OK)
		return s;
	if (u->requests < USAGE_REQUESTS_MAX)
		u->requests++;
	u->tunnels++;
	u->full_at = bucket_take(u->full_at, &l->rate, now.mono);
	return ST_OK;
}

void
quota_uncount(usage_t *u, const struct quota_limits *l)
{
	u->full_at = bucket_give(u->full_at, &l->rate);
	/* At the largest value it is not known how many there were. */
	if (u->requests > 0 && u->requests < USAGE_REQUESTS_MAX)
		u->requests--;
	quota_close(u);
}

void
quota_close(usage_t *u)
{
	if (u->tunnels > 0)
		u->tunnels--;
}

static uint64_t
add_bytes(uint64_t sum, uint64_t n)
{
	return n < USAGE_BYTES_MAX - sum ? sum + n : USAGE_BYTES_MAX;
}

static bool
bytes_above(uint64_t limit, uint64_t used)
{
	return limit != QUOTA_UNLIMITED &&
	    (used > limit || used == USAGE_BYTES_MAX);
}

enum status
quota_add_bytes(
    usage_t *u, const struct quota_limits *l, uint64_t up, uint64_t down)
{
	u->bytes_up = add_bytes(u->bytes_up, up);
	u->bytes_down = add_bytes(u->bytes_down, down);
	return bytes_above(l->bytes_up, u->bytes_up) ||
		bytes_above(l->bytes_down, u->bytes_down)
	    ? ST_QUOTA_BYTES
	    : ST_OK;
}

void
quota_left(struct quota_left *out, const usage_t *u,
    const struct quota_limits *l, uint64_t epoch_end, now_t now,
    enum status cause)
{
	*out = (struct quota_left){
	    .requests = left_of(l->requests, u->requests, USAGE_REQUESTS_MAX),
	    .tunnels = left_of(l->tunnels, u->tunnels, USAGE_TUNNELS_MAX),
	    .bytes_up = left_of(l->bytes_up, u->bytes_up, USAGE_BYTES_MAX),
	    .bytes_down =
		left_of(l->bytes_down, u->bytes_down, USAGE_BYTES_MAX),
	    .reset = epoch_end > now.wall ? epoch_end - now.wall : 0,
	};
	if (cause == ST_QUOTA_REQUESTS || cause == ST_QUOTA_BYTES) {
		out->retry = out->reset;
	} else if (cause == ST_QUOTA_TUNNELS) {
		out->retry = QUOTA_TUNNELS_RETRY;
	} else if (cause == ST_QUOTA_RATE) {
		uint64_t s =
		    bucket_seconds(bucket_wait(u->full_at, &l->rate, now.mono));
		/* By the end of the epoch the bucket is a new one. */
		out->retry = s < out->reset ? s : out->reset;
	}
}
