#include "gate/pending.h"

#include <string.h>

struct check {
	proof_digest_t digest;
	uint32_t first, last; /* slots of waiters; 0: none */
};

_Static_assert(sizeof(struct check) % 8 == 0, "as lru.h wants it");

/* Rounded up, so that the waiters behind it are aligned. */
static size_t
checks_memory(uint32_t checks)
{
	return (lru_memory(checks, sizeof(struct check)) + 7) & ~(size_t)7;
}

size_t
pending_memory(uint32_t checks, uint32_t slots)
{
	return checks_memory(checks) +
	    ((size_t)slots + 1) * sizeof(struct pending_waiter);
}

void
pending_init(struct pending *p, void *memory, uint32_t checks, uint32_t slots,
    const uint8_t hash_key[static LRU_HASH_KEY])
{
	lru_init(&p->checks, memory, checks, sizeof(struct check), PROOF_DIGEST,
	    hash_key);
	p->waiters = (void *)((uint8_t *)memory + checks_memory(checks));
	p->slots = slots;
	memset(p->waiters, 0, ((size_t)slots + 1) * sizeof(*p->waiters));
}

enum status
pending_join(
    struct pending *p, bool *first, const proof_digest_t *digest, handle_t who)
{
	struct check *c = lru_find(&p->checks, digest);

	*first = c == NULL;
	if (who.slot == 0 || who.slot > p->slots ||
	    p->waiters[who.slot].who.slot != 0)
		return ST_INTERNAL;
	if (c == NULL && (c = lru_add(&p->checks, digest)) == NULL)
		return ST_BUSY;

	struct pending_waiter *w = &p->waiters[who.slot];
	*w = (struct pending_waiter){.who = who, .prev = c->last};
	memcpy(&w->digest, digest, sizeof(*digest));
	if (c->last != 0)
		p->waiters[c->last].next = who.slot;
	else
		c->first = who.slot;
	c->last = who.slot;
	return ST_OK;
}

static void
take_out(struct pending *p, struct check *c, struct pending_waiter *w)
{
	if (w->prev != 0)
		p->waiters[w->prev].next = w->next;
	else
		c->first = w->next;
	if (w->next != 0)
		p->waiters[w->next].prev = w->prev;
	else
		c->last = w->prev;
	*w = (struct pending_waiter){0};
}

void
pending_leave(struct pending *p, handle_t who)
{
	struct pending_waiter *w;

	if (who.slot == 0 || who.slot > p->slots)
		return;
	w = &p->waiters[who.slot];
	if (w->who.slot == 0 || w->who.generation != who.generation)
		return;
	take_out(p, lru_find(&p->checks, &w->digest), w);
}

bool
pending_take(struct pending *p, handle_t *who, const proof_digest_t *digest)
{
	struct check *c = lru_find(&p->checks, digest);

	*who = (handle_t){0};
	if (c == NULL)
		return false;
	if (c->first == 0) {
		lru_remove(&p->checks, c);
		return false;
	}
	*who = p->waiters[c->first].who;
	take_out(p, c, &p->waiters[c->first]);
	return true;
}

uint32_t
pending_count(const struct pending *p)
{
	return p->checks.used;
}
