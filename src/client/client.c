#include "client/client.h"

#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "client/client_impl.h"
#include "client/door.h"
#include "client/errand.h"

#define CAPACITY_DEFAULT 256
/* Hops besides those of errands: the fetches of the doors. */
#define HOPS_BESIDES SITE_GATEWAYS_MAX
/* A head, a refusal with its content, a piece of a list. */
#define CHUNK_SIZE 16384
#define CHUNKS_KEPT 16
#define PIPES_MAX 16
#define UNIX_MODE 0600

/* --- notes --------------------------------------------------------------------- */

void
client_note(struct client *c, enum client_note kind, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (c->config.note == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->config.note(c->config.arg, kind, text);
}

/* Tell that a gateway can be used, or that none can. */
static void
tell(struct client *c)
{
	const struct door *bad = NULL;
	char text[640];

	if (c->ready_told)
		return;
	for (unsigned i = 0; i < c->config.n_gateways; i++) {
		const struct door *d = &c->doors[i];
		if (d->opened) {
			c->ready_told = true;
			c->config.ready(c->config.arg);
			return;
		}
		if (d->trouble == TROUBLE_NONE)
			return; /* it is still at it */
		bad = d;
	}
	if (bad == NULL)
		return;
	snprintf(text, sizeof(text), "%s (%s)", bad->why,
	    trouble_info(bad->trouble)->cure);
	c->config.failed(c->config.arg, text);
}

static void
on_wake(struct task *t)
{
	struct client *c = loop_owner(t, struct client, wake);

	errands_wake(c);
	tell(c);
}

void
client_changed(struct client *c)
{
	task_defer(c->loop, &c->wake);
}

/* --- circuits --------------------------------------------------------------------- */

struct circuit *
client_circuit(struct client *c, uint64_t hash)
{
	struct circuit *circuit = &c->circuits[hash % CLIENT_CIRCUITS];

	/* One that another destination takes the place of gets a new name when
	 * it comes again: a circuit more, and no harm. */
	if (circuit->hash != hash || circuit->generation == 0)
		*circuit = (struct circuit){
		    .hash = hash, .generation = c->generation++};
	return circuit;
}

struct circuit *
client_fresh_circuit(struct client *c, uint64_t hash)
{
	struct circuit *circuit = client_circuit(c, hash);

	*circuit =
	    (struct circuit){.hash = hash, .generation = c->generation++};
	return circuit;
}

/* --- workers ------------------------------------------------------------------------ */

static void
read_list(const void *shared, void *state, void *const *jobs, unsigned n)
{
	const struct client_hands *hands = shared;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct roster_job *job = jobs[i];
		char *own = NULL;

		job->status = ST_OK;
		if (job->text == NULL)
			job->status = hands->load(hands->self, &own, &job->len,
			    ROSTER_TEXT_MAX, job->why, job->proxy);
		if (job->status == ST_OK)
			job->status = roster_read(&job->roster, job->why,
			    job->text != NULL ? job->text : own, job->len,
			    job->commitment);
		free(own);
	}
}

static void
list_read(void *arg, handle_t owner, void *job)
{
	struct client *c = arg;

	door_list_done(&c->doors[owner.slot - 1], job);
}

/* P as the token that JOB wants. */
static enum status
write_token(struct mint_job *job, struct semaphore_proof *p)
{
	char json[SEMAPHORE_JSON_MAX];
	struct semaphore_fault f;
	size_t len;
	enum status st;

	if (job->compact) {
		st = semaphore_proof_compress(p, &f);
		return st == ST_OK ? semaphore_token_compact(job->token, p,
					 (uint32_t)job->epoch, job->slot)
				   : st;
	}
	st = semaphore_proof_to_json(json, &len, p);
	if (st == ST_OK && base64_length(len, BASE64_URL) > PURSE_TOKEN_MAX)
		st = ST_NO_SPACE;
	if (st == ST_OK)
		base64_encode(job->token, span_of(json, len), BASE64_URL);
	return st;
}

static void
make_proof(const void *shared, void *state, void *const *jobs, unsigned n)
{
	const struct client_hands *hands = shared;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct mint_job *job = jobs[i];
		uint64_t begin = loop_clock_ns();
		struct semaphore_proof p;

		job->status = hands->mint(hands->self, &p, &job->path,
		    job->depth, job->scope, job->message);
		if (job->status == ST_OK)
			job->status = write_token(job, &p);
		job->ns = loop_clock_ns() - begin;
	}
}

static void
proof_made(void *arg, handle_t owner, void *job)
{
	struct client *c = arg;

	door_mint_done(&c->doors[owner.slot - 1], job);
}

static enum status
start_workers(struct client *c)
{
	struct pool_config readers = {
	    .workers = 1,
	    .capacity = {SITE_GATEWAYS_MAX, 1},
	    .job_size = sizeof(struct roster_job),
	    .batch_max = 1,
	    .run = read_list,
	    .done = list_read,
	    .shared = &c->config.hands,
	    .arg = c,
	};
	struct pool_config minters = {
	    .workers = 1,
	    .capacity = {c->config.n_gateways * DOOR_MINTS_MAX, 1},
	    .job_size = sizeof(struct mint_job),
	    .batch_max = 1,
	    .run = make_proof,
	    .done = proof_made,
	    .shared = &c->config.hands,
	    .arg = c,
	};
	enum status st = pool_new(&c->readers, c->loop, &readers);

	return st == ST_OK ? pool_new(&c->minters, c->loop, &minters) : st;
}

/* --- listeners ---------------------------------------------------------------------- */

static void
status_accepted(struct listener *ls, int fd, void *arg)
{
	char *text = client_status(arg);

	(void)ls;
	/* A few KiB into an empty socket: it never has to wait. */
	if (text != NULL)
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
	free(text);
	close(fd);
}

static enum status
listen_at(struct client *c, struct listener **ls, const char *place,
    void (*accepted)(struct listener *ls, int fd, void *arg))
{
	char path[LISTENER_PATH_MAX];
	struct listener_config lc = {
	    .mode = UNIX_MODE,
	    .accepted = accepted,
	    .arg = c,
	};
	enum status st = listener_parse(&lc, path, span_str(place));

	return st == ST_OK ? listener_new(ls, c->loop, &lc) : st;
}

static enum status
listen_all(struct client *c, const char **what)
{
	char status[LISTENER_PATH_MAX + 8];
	enum status st = ST_OK;

	for (size_t i = 0; i < c->config.n_listen && st == ST_OK; i++) {
		*what = c->config.listen[i];
		st = listen_at(c, &c->listeners[i], *what, errand_accept);
	}
	if (st != ST_OK || c->config.status == NULL)
		return st;
	*what = c->config.status;
	snprintf(status, sizeof(status), "unix:%s", c->config.status);
	return listen_at(c, &c->status_listener, status, status_accepted);
}

uint16_t
client_port(const struct client *c, size_t i)
{
	return i < c->config.n_listen ? listener_port(c->listeners[i]) : 0;
}

/* --- life ----------------------------------------------------------------------------- */

/* All memory and the objects in it. */
static enum status
make_parts(struct client *c)
{
	const unsigned errands =
	    c->config.capacity != 0 ? c->config.capacity : CAPACITY_DEFAULT;
	const unsigned hops = errands + HOPS_BESIDES;
	const struct relay_config relay = {.pipes = PIPES_MAX};
	const struct dialer_config dialer = {.capacity = hops};
	enum status st;

	c->doors = calloc(c->config.n_gateways, sizeof(struct door));
	c->errand_memory = calloc(errands, errand_size());
	c->errand_slots = calloc(errands, sizeof(struct slab_slot));
	c->hop_memory = calloc(hops, sizeof(struct hop));
	c->hop_slots = calloc(hops, sizeof(struct slab_slot));
	if (c->doors == NULL || c->errand_memory == NULL ||
	    c->errand_slots == NULL || c->hop_memory == NULL ||
	    c->hop_slots == NULL)
		return ST_NO_MEMORY;
	slab_init(&c->errands, c->errand_memory, c->errand_slots, errand_size(),
	    errands);
	slab_init(
	    &c->hops, c->hop_memory, c->hop_slots, sizeof(struct hop), hops);
	/* In and out, of both sides of each errand. */
	chunk_pool_init(&c->chunks, CHUNK_SIZE, 4 * hops, CHUNKS_KEPT);
	st = relay_new(&c->relay, c->loop, &c->chunks, &relay);
	if (st == ST_OK)
		st = dialer_new(&c->dialer, c->loop, &dialer, hop_dialled, c);
	return st;
}

enum status
client_new(struct client **out, struct loop *l,
    const struct client_config *config, const char **what)
{
	struct client *c = calloc(1, sizeof(*c));
	enum status st;

	*out = NULL;
	*what = "";
	if (c == NULL)
		return ST_NO_MEMORY;
	c->loop = l;
	c->config = *config;
	task_init(&c->wake, on_wake);
	randombytes_buf(&c->generation, sizeof(c->generation));
	c->generation >>= 16; /* never back to 0, which is none */
	c->generation |= 1;
	*what = config->purse != NULL ? config->purse : "";
	st = purse_open(&c->purse, config->purse, config->commitment);
	if (st == ST_OK) {
		*what = "";
		st = make_parts(c);
	}
	if (st == ST_OK)
		st = start_workers(c);
	if (st == ST_OK)
		st = listen_all(c, what);
	if (st != ST_OK) {
		int error = errno;
		client_free(&c);
		errno = error;
		return st;
	}
	for (unsigned i = 0; i < config->n_gateways; i++)
		door_open(&c->doors[i], c, i);
	*out = c;
	return ST_OK;
}

void
client_free(struct client **out)
{
	struct client *c = *out;

	*out = NULL;
	if (c == NULL)
		return;
	for (size_t i = 0; i < CLIENT_LISTENERS_MAX; i++)
		listener_free(&c->listeners[i]);
	listener_free(&c->status_listener);
	for (unsigned i = 0; c->doors != NULL && i < c->config.n_gateways;
	     i++) {
		if (c->doors[i].client != NULL)
			door_close(&c->doors[i]);
	}
	errands_close(c);
	loop_settle(c->loop);
	task_drop(&c->wake);
	pool_free(&c->readers);
	pool_free(&c->minters);
	for (unsigned i = 0; c->doors != NULL && i < c->config.n_gateways; i++)
		door_clear(&c->doors[i]);
	dialer_free(&c->dialer);
	relay_free(&c->relay);
	chunk_pool_clear(&c->chunks);
	purse_close(&c->purse);
	free(c->doors);
	free(c->errand_memory);
	free(c->errand_slots);
	free(c->hop_memory);
	free(c->hop_slots);
	free(c);
}
