#include "sphinx/packet.h"

#include <string.h>

#include "base/wipe.h"

enum status
sphinx_decode(sphinx_packet_t **out, void *bytes, size_t len)
{
	sphinx_packet_t *packet = bytes;

	*out = NULL;
	if (len != sizeof(*packet))
		return ST_BAD_LENGTH;
	if (!x25519_is_valid(packet->header.element))
		return ST_WEAK_KEY;
	*out = packet;
	return ST_OK;
}

/* --- building ------------------------------------------------------------- */

enum status
material_expand(const struct ciphers *c, struct material *m,
    const uint8_t seed[static SPHINX_SEED_SIZE])
{
	memset(m, 0, sizeof(*m));
	return chacha20_xor(c, seed, NULL, (uint8_t *)m, sizeof(*m));
}

enum status
path_check(const sphinx_path_t *path)
{
	if (path->hops < 1 || path->hops > SPHINX_HOPS_MAX)
		return ST_BAD_LENGTH;
	for (unsigned i = 0; i < path->hops; i++) {
		if (!x25519_is_valid(path->hop[i].id))
			return ST_WEAK_KEY;
	}
	return ST_OK;
}

/* element = secret * base and shared = secret * id: no product waits for
 * another, so all of them go to the kernel at once. */
void
agree(const struct x25519_kernel *k, struct agreement *out,
    const struct material *m, const sphinx_path_t *const *path, size_t n)
{
	x25519_t scalar[2 * SPHINX_HOPS_MAX * AGREE_MAX] = {{{0}}};
	x25519_t point[2 * SPHINX_HOPS_MAX * AGREE_MAX] = {{{0}}};
	size_t products = 0;

	for (size_t i = 0; i < n; i++) {
		for (unsigned j = 0; j < path[i]->hops; j++) {
			scalar[products] = m[i].secret[j];
			point[products++] = x25519_base;
			scalar[products] = m[i].secret[j];
			memcpy(point[products++].byte, path[i]->hop[j].id,
			    X25519_SIZE);
		}
	}
	x25519_many(k, point, scalar, point, products);
	products = 0;
	for (size_t i = 0; i < n; i++) {
		for (unsigned j = 0; j < path[i]->hops; j++) {
			out[i].element[j] = point[products++];
			out[i].shared[j] = point[products++];
		}
	}
	wipe(scalar, sizeof(scalar));
	wipe(point, sizeof(point));
}

enum status
header_for_path(const struct sphinx *s, sphinx_header_t *header,
    struct hop_keys keys[static SPHINX_HOPS_MAX], const sphinx_path_t *path,
    const struct agreement *agreed, const struct material *m,
    enum sphinx_action last)
{
	struct routing routing[SPHINX_HOPS_MAX];

	memset(routing, 0, sizeof(routing));
	for (unsigned i = 0; i < path->hops; i++) {
		struct routing *r = &routing[i];
		hop_keys_derive(&keys[i], s->suite, agreed->shared[i].byte,
		    agreed->element[i].byte, path->hop[i].id);
		r->delay_ms = path->hop[i].delay_ms;
		if (i + 1 < path->hops) {
			r->action = SPHINX_FORWARD;
			memcpy(r->element, agreed->element[i + 1].byte, 32);
			memcpy(r->next, path->hop[i + 1].id, 32);
			continue;
		}
		r->action = last;
		if (last == SPHINX_REPLY)
			memcpy(r->element, m->surb_id, 32);
		memcpy(r->next, path->tag, 32);
	}
	memcpy(header->element, agreed->element[0].byte, 32);
	return header_build(
	    &s->ciphers, header, keys, routing, path->hops, m->pad);
}

static enum status
build_finish(const struct sphinx *s, sphinx_build_t *job,
    const struct agreement *agreed, const struct material *m)
{
	struct hop_keys keys[SPHINX_HOPS_MAX];
	const struct suite *suite = s->suite;
	unsigned exit = job->path->hops - 1;
	uint8_t *payload = job->packet->payload;
	enum status st = header_for_path(s, &job->packet->header, keys,
	    job->path, agreed, m, SPHINX_DELIVER);

	if (st == ST_OK)
		st = suite->seal(&s->ciphers, payload, keys[exit].aead,
		    job->message, job->len);
	for (unsigned i = exit + 1; i-- > 0 && st == ST_OK;)
		st = suite->add(&s->ciphers, payload, keys[i].pi);
	wipe(keys, sizeof(keys));
	return st;
}

/* N is at most AGREE_MAX. */
static void
build_group(const struct sphinx *s, sphinx_build_t *jobs, size_t n)
{
	const sphinx_path_t *path[AGREE_MAX];
	struct material m[AGREE_MAX];
	struct agreement agreed[AGREE_MAX];
	sphinx_build_t *good[AGREE_MAX];
	size_t ready = 0;

	for (size_t i = 0; i < n; i++) {
		sphinx_build_t *job = &jobs[i];
		job->status = path_check(job->path);
		if (job->status == ST_OK && job->len > SPHINX_MESSAGE_MAX)
			job->status = ST_BAD_LENGTH;
		if (job->status == ST_OK)
			job->status =
			    material_expand(&s->ciphers, &m[ready], job->seed);
		if (job->status != ST_OK)
			continue;
		path[ready] = job->path;
		good[ready++] = job;
	}
	agree(s->kernel, agreed, m, path, ready);
	for (size_t i = 0; i < ready; i++)
		good[i]->status = build_finish(s, good[i], &agreed[i], &m[i]);
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].status != ST_OK)
			wipe(jobs[i].packet, sizeof(*jobs[i].packet));
	}
	wipe(m, sizeof(m));
	wipe(agreed, sizeof(agreed));
}

enum status
sphinx_build_batch(struct sphinx *s, sphinx_build_t *jobs, size_t n)
{
	enum status first = ST_OK;

	for (size_t i = 0; i < n; i += AGREE_MAX)
		build_group(s, jobs + i, n - i < AGREE_MAX ? n - i : AGREE_MAX);
	for (size_t i = 0; i < n && first == ST_OK; i++)
		first = jobs[i].status;
	return first;
}

enum status
sphinx_build(struct sphinx *s, sphinx_packet_t *packet,
    const sphinx_path_t *path, const void *message, size_t len,
    const uint8_t seed[static SPHINX_SEED_SIZE])
{
	sphinx_build_t job = {packet, path, message, len, {0}, ST_OK};
	enum status st;

	memcpy(job.seed, seed, sizeof(job.seed));
	st = sphinx_build_batch(s, &job, 1);
	wipe(&job, sizeof(job));
	return st;
}

/* --- at a hop ------------------------------------------------------------- */

/* What is left of peeling once the shared secret is there. */
static enum status
peel_finish(const struct sphinx *s, sphinx_step_t *step,
    sphinx_packet_t *packet, const sphinx_key_t *key,
    const uint8_t shared[static X25519_SIZE])
{
	const struct suite *suite = s->suite;
	struct hop_keys keys;
	struct routing r;
	enum status st;

	memset(step, 0, sizeof(*step));
	if (!x25519_is_valid(packet->header.element) || x25519_is_zero(shared))
		return ST_WEAK_KEY;
	hop_keys_derive(&keys, suite, shared, packet->header.element, key->id);
	memcpy(step->replay_tag, keys.replay_tag, sizeof(step->replay_tag));
	memcpy(step->once, keys.once, sizeof(step->once));
	st = header_peel(&s->ciphers, &r, &packet->header, &keys);
	if (st == ST_OK && r.action == SPHINX_REPLY && !suite->bind)
		st = ST_BAD_ENCODING; /* not of this suite */
	if (st == ST_OK)
		st = suite->remove(&s->ciphers, packet->payload, keys.pi);
	if (st != ST_OK) {
		wipe(&keys, sizeof(keys));
		return st;
	}
	step->delay_ms = r.delay_ms;
	memcpy(step->next, r.next, sizeof(step->next));
	if (r.action == SPHINX_REPLY) {
		memcpy(step->surb, r.element, sizeof(step->surb));
		step->message = packet->payload;
		step->message_len = sizeof(packet->payload);
	} else if (r.action == SPHINX_DELIVER) {
		st = suite->open(&s->ciphers, &step->message,
		    &step->message_len, packet->payload, keys.aead);
	}
	if (st == ST_OK)
		step->action = r.action;
	else
		wipe(packet->payload, sizeof(packet->payload));
	wipe(&keys, sizeof(keys));
	return st;
}

enum status
sphinx_peel(struct sphinx *s, sphinx_step_t *step, sphinx_packet_t *packet,
    const sphinx_key_t *key)
{
	uint8_t shared[X25519_SIZE];
	enum status st;

	s->kernel->one(shared, key->secret, packet->header.element);
	st = peel_finish(s, step, packet, key, shared);
	wipe(shared, sizeof(shared));
	return st;
}

void
sphinx_peel_batch(struct sphinx *s, enum status *results, sphinx_step_t *steps,
    sphinx_packet_t *const *packets, size_t n, const sphinx_key_t *key)
{
	x25519_t scalar[X25519_LANES], shared[X25519_LANES];

	for (size_t i = 0; i < X25519_LANES; i++)
		memcpy(scalar[i].byte, key->secret, X25519_SIZE);
	for (size_t at = 0; at < n; at += X25519_LANES) {
		size_t m = n - at < X25519_LANES ? n - at : X25519_LANES;
		for (size_t i = 0; i < m; i++)
			memcpy(shared[i].byte, packets[at + i]->header.element,
			    X25519_SIZE);
		x25519_many(s->kernel, shared, scalar, shared, m);
		for (size_t i = 0; i < m; i++)
			results[at + i] = peel_finish(s, &steps[at + i],
			    packets[at + i], key, shared[i].byte);
	}
	wipe(scalar, sizeof(scalar));
	wipe(shared, sizeof(shared));
}
