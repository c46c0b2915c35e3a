#include "gate/bucket.h"

#define US_PER_MS 1000
#define US_PER_S 1000000
/* Periods above are cut: what refills in 30 years does not refill. */
#define PERIOD_MAX ((uint64_t)30 * 366 * 86400 * 1000)

/* A token's time is rounded up, the whole is a multiple of it. */
bucket_times_t
bucket_times(const bucket_rate_t *rate)
{
	uint64_t period =
	    (rate->period < PERIOD_MAX ? rate->period : PERIOD_MAX) * US_PER_MS;
	uint64_t count = rate->count < period ? rate->count : period;

	if (rate->count == 0)
		return (bucket_times_t){.token = 1, .whole = 0};
	uint64_t token =
	    count != 0 ? period / count + (period % count != 0) : 0;
	return (bucket_times_t){token, token * count};
}

/* How much of the whole is missing. */
static uint64_t
missing(uint64_t full_at, bucket_times_t t, uint64_t now)
{
	if (full_at <= now)
		return 0;
	return full_at - now < t.whole ? full_at - now : t.whole;
}

uint64_t
bucket_wait(uint64_t full_at, const bucket_rate_t *rate, uint64_t mono)
{
	if (rate->count == BUCKET_UNLIMITED)
		return 0;
	if (rate->count == 0)
		return BUCKET_NEVER;

	bucket_times_t t = bucket_times(rate);
	uint64_t after = missing(full_at, t, mono * US_PER_MS) + t.token;
	return after > t.whole ? after - t.whole : 0;
}

uint64_t
bucket_take(uint64_t full_at, const bucket_rate_t *rate, uint64_t mono)
{
	if (rate->count == BUCKET_UNLIMITED || rate->count == 0)
		return full_at;

	bucket_times_t t = bucket_times(rate);
	uint64_t now = mono * US_PER_MS;
	return now + missing(full_at, t, now) + t.token;
}

uint64_t
bucket_give(uint64_t full_at, const bucket_rate_t *rate)
{
	uint64_t token;

	if (rate->count == BUCKET_UNLIMITED || rate->count == 0)
		return full_at;
	token = bucket_times(rate).token;
	return full_at > token ? full_at - token : 0;
}

uint64_t
bucket_seconds(uint64_t us)
{
	return us / US_PER_S + (us % US_PER_S != 0);
}
