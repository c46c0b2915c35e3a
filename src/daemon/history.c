#include "daemon/history.h"

#include <string.h>

static enum history_answer
meaning(int http)
{
	if (http == 200)
		return ANSWER_OPENED;
	if (http == 407)
		return ANSWER_UNPROVEN;
	if (http == 429)
		return ANSWER_QUOTA;
	if (http == 403)
		return ANSWER_FORBIDDEN;
	return http >= 500 ? ANSWER_FAILED : ANSWER_MALFORMED;
}

void
history_answers(uint64_t out[HISTORY_ANSWERS], const struct metrics *m)
{
	memset(out, 0, HISTORY_ANSWERS * sizeof(*out));
	for (unsigned s = 0; s < ST_COUNT; s++) {
		int http = status_info((enum status)s)->http;
		if (s == ST_OK)
			http = 200;
		if (http != 0)
			out[meaning(http)] += m->answers[s];
	}
}

const char *
history_answer_name(enum history_answer a)
{
	static const char *const names[HISTORY_ANSWERS] = {"opened",
	    "not proven", "over quota", "not allowed", "failed", "malformed"};

	return names[a];
}

/* The counters, as they are now. */
static void
read_counters(struct history_step *out, const struct metrics *m,
    const struct history_now *s)
{
	*out = (struct history_step){
	    .bytes_up = m->bytes_up,
	    .bytes_down = m->bytes_down,
	    .mix_relayed = s->mix_relayed,
	    .mix_lost = s->mix_lost,
	};
	history_answers(out->answers, m);
}

/* The times that came into H after WHEN. */
static struct histogram
since(const struct histogram *h, const struct histogram *when)
{
	struct histogram d = *h;

	for (unsigned i = 0; i <= HISTOGRAM_BUCKETS; i++)
		d.bucket[i] -= when->bucket[i];
	d.sum_ns -= when->sum_ns;
	d.count -= when->count;
	return d;
}

static void
begin_step(struct history *h, uint64_t now, const struct histogram *verify,
    const struct history_step *counters)
{
	const struct history_step base = *counters; /* may be in H */
	const struct histogram times = *verify;

	/* The machine slept for longer than an hour: begin anew. */
	if (now >= h->ends + HISTORY_STEPS * HISTORY_STEP_MS)
		*h = (struct history){0};
	if (h->n == 0)
		h->ends = now;
	else
		h->newest = (h->newest + 1) % HISTORY_STEPS;
	if (h->n < HISTORY_STEPS)
		h->n++;
	h->ends += HISTORY_STEP_MS;
	h->base = base;
	h->base_verify = times;
	h->steps[h->newest] = (struct history_step){0};
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void
history_look(struct history *h, uint64_t now, const struct metrics *m,
    const struct history_now *s)
{
	struct history_step counters, *step;
	struct histogram verify;

	read_counters(&counters, m, s);
	if (h->n == 0) /* whatever has been counted is of this step */
		begin_step(h, now, &h->base_verify, &h->base);
	step = &h->steps[h->newest];
	for (unsigned i = 0; i < HISTORY_ANSWERS; i++)
		step->answers[i] = counters.answers[i] - h->base.answers[i];
	step->bytes_up = counters.bytes_up - h->base.bytes_up;
	step->bytes_down = counters.bytes_down - h->base.bytes_down;
	step->mix_relayed = counters.mix_relayed - h->base.mix_relayed;
	step->mix_lost = counters.mix_lost - h->base.mix_lost;
	step->tunnels = larger(step->tunnels, s->tunnels);
	step->queue = larger(step->queue, s->queue);
	verify = since(&m->verify, &h->base_verify);
	step->verified = verify.count;
	step->verify_p50_ns = histogram_quantile(&verify, 0.5);
	step->verify_p95_ns = histogram_quantile(&verify, 0.95);
	for (size_t i = 0; now >= h->ends && i <= HISTORY_STEPS; i++)
		begin_step(h, now, &m->verify, &counters);
}

const struct history_step *
history_step(const struct history *h, size_t ago)
{
	static const struct history_step none;

	if (ago >= h->n)
		return &none;
	return &h->steps[(h->newest + HISTORY_STEPS - ago) % HISTORY_STEPS];
}
