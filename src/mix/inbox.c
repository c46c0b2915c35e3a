#include "mix/inbox.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/slab.h"
#include "base/wipe.h"
#include "net/guests.h"
#include "net/wire.h"

#define LENGTH_SIZE 4
/* A message takes two reads, where all of it is there: then the others have
 * their turn. Whoever sends as fast as it can must keep neither the loop to
 * itself nor the door. */
#define READS_A_TURN 2
#define TURNS_A_ROUND 8

struct delivery {
	struct inbox *inbox;
	handle_t self;
	struct guest guest;
	struct wire wire;
	uint8_t head[LENGTH_SIZE];
	uint8_t *body; /* NULL while the length is read */
	size_t have, want; /* of head or body */
	struct deadline late;
	struct list_node turn; /* in `waiting`, while there may be something */
};

struct inbox {
	struct inbox_config config;
	struct loop *loop;
	struct listener *listener;
	struct slab slab;
	struct delivery *memory;
	struct slab_slot *slots;
	struct guests guests; /* they stir when a message begins or ends */
	struct list_node waiting; /* for their turns */
	struct task turns;
	bool paused;
	uint64_t bad;
};

static void
drop_body(struct delivery *d)
{
	if (d->body != NULL)
		wipe(d->body, d->want);
	free(d->body);
	d->body = NULL;
	d->have = 0;
	d->want = LENGTH_SIZE;
}

static void
delivery_close(struct delivery *d)
{
	drop_body(d);
	deadline_stop(d->inbox->loop, &d->late);
	guests_leave(&d->inbox->guests, &d->guest);
	list_remove(&d->turn);
	wire_close(&d->wire);
	slab_release(&d->inbox->slab, d->self);
}

static void
on_late(struct deadline *dl)
{
	struct delivery *d = loop_owner(dl, struct delivery, late);

	d->inbox->bad++;
	delivery_close(d);
}

/* The length is there: make room for so much.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_NO_MEMORY. */
static enum status
begin_body(struct delivery *d)
{
	size_t len = load_le32(d->head);

	if (len == 0 || len > INBOX_MESSAGE_MAX)
		return ST_BAD_LENGTH;
	d->body = malloc(len);
	if (d->body == NULL)
		return ST_NO_MEMORY;
	d->have = 0;
	d->want = len;
	return ST_OK;
}

/* Read on. Returns: ST_OK; ST_MORE; anything else: it is over. */
static enum status
read_some(struct delivery *d)
{
	struct inbox *b = d->inbox;
	uint8_t *to = d->body != NULL ? d->body : d->head;
	size_t n;
	enum status st =
	    wire_read(&d->wire, to + d->have, d->want - d->have, &n);

	if (st != ST_OK)
		return st;
	if (d->body == NULL && d->have == 0) {
		deadline_start(b->loop, &d->late, b->config.message_ms);
		guests_stir(&b->guests, &d->guest);
	}
	d->have += n;
	if (d->have < d->want)
		return ST_OK;
	if (d->body == NULL)
		return begin_body(d);
	deadline_stop(b->loop, &d->late);
	b->config.message(b->config.arg, d->body, d->want);
	drop_body(d);
	guests_stir(&b->guests, &d->guest);
	return ST_OK;
}

/* D's turn: a message, or what there is of it. */
static void
read_on(struct delivery *d)
{
	struct inbox *b = d->inbox;
	enum status st = ST_OK;

	for (unsigned i = 0; i < READS_A_TURN && st == ST_OK; i++)
		st = read_some(d);
	if (st == ST_OK) {
		list_append(&b->waiting, &d->turn);
	} else if (st != ST_MORE) {
		b->bad += st != ST_CLOSED || d->have > 0 || d->body != NULL;
		delivery_close(d);
	}
}

static void
on_turns(struct task *t)
{
	struct inbox *b = loop_owner(t, struct inbox, turns);

	for (unsigned i = 0;
	     i < TURNS_A_ROUND && !b->paused && !list_empty(&b->waiting); i++) {
		struct delivery *d =
		    list_entry(b->waiting.next, struct delivery, turn);
		list_remove(&d->turn);
		read_on(d);
	}
	if (!b->paused && !list_empty(&b->waiting))
		task_defer(b->loop, t);
}

void
inbox_pause(struct inbox *b)
{
	b->paused = true;
}

void
inbox_resume(struct inbox *b)
{
	b->paused = false;
	if (!list_empty(&b->waiting))
		task_defer(b->loop, &b->turns);
}

static void
on_ready(struct wire *w)
{
	struct delivery *d = loop_owner(w, struct delivery, wire);

	if (list_empty(&d->turn))
		list_append(&d->inbox->waiting, &d->turn);
	task_defer(d->inbox->loop, &d->inbox->turns);
}

static void
on_accepted(struct listener *ls, int fd, void *arg)
{
	struct inbox *b = arg;
	struct delivery *d;
	handle_t self;
	void *object;

	(void)ls;
	if (b->slab.used == b->slab.capacity)
		delivery_close(loop_owner(
		    guests_whom(&b->guests), struct delivery, guest));
	if (slab_take(&b->slab, &self, &object) != ST_OK) {
		close(fd);
		return;
	}
	d = object;
	*d = (struct delivery){.inbox = b, .self = self, .want = LENGTH_SIZE};
	wire_init(&d->wire);
	deadline_init(&d->late, on_late);
	list_init(&d->turn);
	guests_enter(&b->guests, &d->guest, fd);
	if (wire_open(&d->wire, b->loop, fd, on_ready) != ST_OK) {
		guests_leave(&b->guests, &d->guest);
		slab_release(&b->slab, self);
	}
}

enum status
inbox_new(struct inbox **out, struct loop *l, const endpoint_t *at,
    const struct inbox_config *config)
{
	struct inbox *b = calloc(1, sizeof(*b));
	struct listener_config listen = {
	    .kind = LISTEN_IP, .at = *at, .accepted = on_accepted, .arg = b};
	enum status st = ST_NO_MEMORY;

	*out = b;
	if (b == NULL)
		return ST_NO_MEMORY;
	b->config = *config;
	b->loop = l;
	list_init(&b->waiting);
	task_init(&b->turns, on_turns);
	b->memory = calloc(config->capacity, sizeof(*b->memory));
	b->slots = calloc(config->capacity, sizeof(*b->slots));
	if (b->memory != NULL && b->slots != NULL)
		st = guests_init(&b->guests, config->capacity);
	if (st == ST_OK) {
		slab_init(&b->slab, b->memory, b->slots, sizeof(*b->memory),
		    config->capacity);
		st = listener_new(&b->listener, l, &listen);
	}
	if (st != ST_OK)
		inbox_free(out);
	return st;
}

void
inbox_free(struct inbox **out)
{
	struct inbox *b = *out;

	if (b == NULL)
		return;
	listener_free(&b->listener);
	for (uint32_t i = 0; i < b->slab.capacity; i++) {
		handle_t h;
		struct delivery *d = slab_nth(&b->slab, i, &h);
		if (d != NULL)
			delivery_close(d);
	}
	task_drop(&b->turns);
	guests_clear(&b->guests);
	free(b->memory);
	free(b->slots);
	free(b);
	*out = NULL;
}

uint16_t
inbox_port(const struct inbox *b)
{
	return listener_port(b->listener);
}

uint64_t
inbox_bad(const struct inbox *b)
{
	return b->bad;
}
