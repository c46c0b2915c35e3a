#include "net/wheel.h"

#define DIGIT_BITS 6
#define DIGIT_MASK (WHEEL_SLOTS - 1)
/* Further ahead than this, an entry of the top level could not be told from
 * one a whole revolution earlier. */
#define REACH                                           \
	((UINT64_C(1) << (DIGIT_BITS * WHEEL_LEVELS)) - \
	    (UINT64_C(1) << (DIGIT_BITS * (WHEEL_LEVELS - 1))))
/* The level of an entry in the list of those that are due. */
#define LEVEL_DUE WHEEL_LEVELS

void
wheel_init(struct wheel *w, uint64_t now)
{
	w->now = now;
	list_init(&w->due);
	for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
		w->occupied[level] = 0;
		for (unsigned slot = 0; slot < WHEEL_SLOTS; slot++)
			list_init(&w->slots[level][slot]);
	}
}

void
wheel_entry_init(struct wheel_entry *e)
{
	list_init(&e->node);
	e->time = 0;
	e->level = e->slot = 0;
}

bool
wheel_entry_is_running(const struct wheel_entry *e)
{
	return !list_empty(&e->node);
}

void
wheel_remove(struct wheel *w, struct wheel_entry *e)
{
	if (!wheel_entry_is_running(e))
		return;
	list_remove(&e->node);
	if (e->level != LEVEL_DUE && list_empty(&w->slots[e->level][e->slot]))
		w->occupied[e->level] &= ~(UINT64_C(1) << e->slot);
}

/* Put E, which is in no list, where its time says. */
static void
place(struct wheel *w, struct wheel_entry *e)
{
	if (e->time <= w->now) {
		e->level = LEVEL_DUE;
		list_append(&w->due, &e->node);
		return;
	}

	unsigned bit = 63 - (unsigned)__builtin_clzll(e->time ^ w->now);
	unsigned level = bit / DIGIT_BITS;
	if (level >= WHEEL_LEVELS)
		level = WHEEL_LEVELS - 1;
	unsigned slot =
	    (unsigned)(e->time >> (level * DIGIT_BITS)) & DIGIT_MASK;

	e->level = (uint8_t)level;
	e->slot = (uint8_t)slot;
	w->occupied[level] |= UINT64_C(1) << slot;
	list_append(&w->slots[level][slot], &e->node);
}

void
wheel_add(struct wheel *w, struct wheel_entry *e, uint64_t time)
{
	wheel_remove(w, e);
	e->time =
	    time > w->now && time - w->now > REACH ? w->now + REACH : time;
	place(w, e);
}

/* The first occupied slot of LEVEL, counting from the one of this moment, and
 * the moment at which its span begins. False when the level is empty. */
static bool
first_slot(
    const struct wheel *w, unsigned level, unsigned *slot, uint64_t *begins)
{
	unsigned shift = level * DIGIT_BITS;
	unsigned current = (unsigned)(w->now >> shift) & DIGIT_MASK;
	uint64_t bits = w->occupied[level];

	if (bits == 0)
		return false;
	bits = bits >> current | bits << ((WHEEL_SLOTS - current) & DIGIT_MASK);
	unsigned distance = (unsigned)__builtin_ctzll(bits);
	*slot = (current + distance) & DIGIT_MASK;
	*begins = ((w->now >> shift) + distance) << shift;
	return true;
}

/* The slot to open next. It need not be of the lowest occupied level: a higher
 * slot that begins now may hold entries before those of lower ones. */
static bool
next_slot(
    const struct wheel *w, unsigned *level, unsigned *slot, uint64_t *begins)
{
	bool found = false;

	for (unsigned l = 0; l < WHEEL_LEVELS; l++) {
		unsigned s;
		uint64_t b;
		if (first_slot(w, l, &s, &b) && (!found || b < *begins)) {
			found = true;
			*level = l;
			*slot = s;
			*begins = b;
		}
	}
	return found;
}

void
wheel_advance(struct wheel *w, uint64_t now)
{
	unsigned level, slot;
	uint64_t begins;

	while (next_slot(w, &level, &slot, &begins) && begins <= now) {
		struct list_node *head = &w->slots[level][slot];
		if (begins > w->now)
			w->now = begins;
		w->occupied[level] &= ~(UINT64_C(1) << slot);
		/* Each goes to a lower level or is due: never back in here. */
		while (!list_empty(head)) {
			struct wheel_entry *e =
			    list_entry(head->next, struct wheel_entry, node);
			list_remove(&e->node);
			place(w, e);
		}
	}
	if (now > w->now)
		w->now = now;
}

struct wheel_entry *
wheel_next(struct wheel *w)
{
	if (list_empty(&w->due))
		return NULL;

	struct wheel_entry *e =
	    list_entry(w->due.next, struct wheel_entry, node);
	list_remove(&e->node);
	return e;
}

uint64_t
wheel_wait(const struct wheel *w)
{
	unsigned level, slot;
	uint64_t begins;

	if (!list_empty(&w->due))
		return 0;
	if (!next_slot(w, &level, &slot, &begins))
		return UINT64_MAX;
	return begins > w->now ? begins - w->now : 0;
}
