#include "mix/inlets.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/slab.h"
#include "mix/tls.h"
#include "net/guests.h"
#include "net/wire.h"

/* Frames of one connection before the others have their turn. */
#define FRAMES_A_TURN 8

struct inlet {
	struct inlets *inlets;
	handle_t self;
	struct guest guest;
	struct wire wire;
	struct parcel *frame; /* being read, or NULL */
	size_t have; /* of it */
	struct deadline late;
	struct task again; /* there is more to read */
};

struct inlets {
	struct inlets_config config;
	struct loop *loop;
	struct listener *listener;
	struct slab slab;
	struct inlet *memory;
	struct slab_slot *slots;
	struct guests guests; /* they stir when a frame begins or ends */
};

static void
inlet_close(struct inlet *in)
{
	struct inlets *i = in->inlets;

	if (in->frame != NULL)
		parcel_free(in->frame);
	in->frame = NULL;
	deadline_stop(i->loop, &in->late);
	guests_leave(&i->guests, &in->guest);
	task_drop(&in->again);
	wire_close(&in->wire);
	slab_release(&i->slab, in->self);
}

static void
on_late(struct deadline *d)
{
	struct inlet *in = loop_owner(d, struct inlet, late);

	in->inlets->config.counts->stalled++;
	inlet_close(in);
}

/* Hand over a frame that is complete. */
static void
hand_over(struct inlet *in)
{
	struct inlets *i = in->inlets;
	struct parcel *p = in->frame;

	in->frame = NULL;
	in->have = 0;
	deadline_stop(i->loop, &in->late);
	guests_stir(&i->guests, &in->guest);
	i->config.counts->received++;
	i->config.received(i->config.arg, p);
}

/* Read on.
 * Returns: ST_OK; ST_MORE; ST_BUSY (no parcel); ST_CLOSED; ST_RESET. */
static enum status
read_some(struct inlet *in)
{
	struct inlets *i = in->inlets;
	uint8_t first;
	size_t n;
	enum status st;

	if (in->frame == NULL) {
		/* Take no parcel for a connection that has nothing to say. */
		st = wire_read(&in->wire, &first, 1, &n);
		if (st != ST_OK)
			return st;
		in->frame = parcel_take(i->config.pool);
		if (in->frame == NULL)
			return ST_BUSY;
		*(uint8_t *)&in->frame->packet = first;
		in->have = 1;
		guests_stir(&i->guests, &in->guest);
		deadline_start(i->loop, &in->late, i->config.frame_ms);
	}
	st = wire_read(&in->wire, (uint8_t *)&in->frame->packet + in->have,
	    SPHINX_PACKET_SIZE - in->have, &n);
	in->have += n;
	if (in->have == SPHINX_PACKET_SIZE)
		hand_over(in);
	return st;
}

static void
read_frames(struct inlet *in)
{
	uint64_t before = in->inlets->config.counts->received;
	enum status st;

	do
		st = read_some(in);
	while (st == ST_OK &&
	    in->inlets->config.counts->received - before < FRAMES_A_TURN);
	if (st == ST_OK) {
		task_defer(in->inlets->loop, &in->again);
	} else if (st != ST_MORE) {
		if (in->frame != NULL)
			in->inlets->config.counts->truncated++;
		inlet_close(in);
	}
}

static void
on_ready(struct wire *w)
{
	read_frames(loop_owner(w, struct inlet, wire));
}

static void
on_again(struct task *t)
{
	read_frames(loop_owner(t, struct inlet, again));
}

static void
make_room(struct inlets *i)
{
	struct inlet *in =
	    loop_owner(guests_whom(&i->guests), struct inlet, guest);

	i->config.counts->refused++;
	i->config.counts->truncated += in->frame != NULL;
	inlet_close(in);
}

static void
on_accepted(struct listener *ls, int fd, void *arg)
{
	struct inlets *i = arg;
	struct inlet *in;
	handle_t self;
	void *object;
	enum status st;

	(void)ls;
	if (i->slab.used == i->slab.capacity)
		make_room(i);
	if (slab_take(&i->slab, &self, &object) != ST_OK) {
		i->config.counts->refused++;
		close(fd);
		return;
	}
	in = object;
	*in = (struct inlet){.inlets = i, .self = self};
	guests_enter(&i->guests, &in->guest, fd);
	wire_init(&in->wire);
	deadline_init(&in->late, on_late);
	task_init(&in->again, on_again);
	st = wire_open(&in->wire, i->loop, fd, on_ready);
	if (st == ST_OK && i->config.tls != NULL)
		st = wire_secure(&in->wire, tls_accept(i->config.tls, fd));
	if (st != ST_OK) {
		i->config.counts->refused++;
		guests_leave(&i->guests, &in->guest);
		slab_release(&i->slab, self);
	}
}

enum status
inlets_new(struct inlets **out, struct loop *l, const endpoint_t *at,
    const struct inlets_config *config)
{
	struct inlets *i = calloc(1, sizeof(*i));
	struct listener_config listen = {
	    .kind = LISTEN_IP, .at = *at, .accepted = on_accepted, .arg = i};
	enum status st = ST_NO_MEMORY;

	*out = i;
	if (i == NULL)
		return ST_NO_MEMORY;
	i->config = *config;
	i->loop = l;
	i->memory = calloc(config->capacity, sizeof(*i->memory));
	i->slots = calloc(config->capacity, sizeof(*i->slots));
	if (i->memory != NULL && i->slots != NULL)
		st = guests_init(&i->guests, config->capacity);
	if (st == ST_OK) {
		slab_init(&i->slab, i->memory, i->slots, sizeof(*i->memory),
		    config->capacity);
		st = listener_new(&i->listener, l, &listen);
	}
	if (st != ST_OK)
		inlets_free(out);
	return st;
}

void
inlets_free(struct inlets **out)
{
	struct inlets *i = *out;

	if (i == NULL)
		return;
	listener_free(&i->listener);
	for (uint32_t n = 0; n < i->slab.capacity; n++) {
		handle_t h;
		struct inlet *in = slab_nth(&i->slab, n, &h);
		if (in != NULL)
			inlet_close(in);
	}
	guests_clear(&i->guests);
	free(i->memory);
	free(i->slots);
	free(i);
	*out = NULL;
}

uint16_t
inlets_port(const struct inlets *i)
{
	return listener_port(i->listener);
}

uint32_t
inlets_open(const struct inlets *i)
{
	return i->slab.used;
}
