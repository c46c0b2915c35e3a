#include "gate/epoch.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define SCOPE_HASHED 31 /* bytes of SHA-256 that a scope keeps */

/* A plain scope above this names no epoch that anybody could mean. */
#define PLAIN_MAX UINT32_MAX

static enum status
bad(const char **why, const char *what)
{
	if (why != NULL)
		*why = what;
	return ST_BAD_VALUE;
}

enum status
epoch_rules_check(const struct epoch_rules *r, const char **why)
{
	if (r->length < EPOCH_LENGTH_MIN || r->length > EPOCH_LENGTH_MAX)
		return bad(why, "the epoch lasts a minute to 366 days");
	if (r->grace > r->length)
		return bad(why, "the grace time is not longer than the epoch");
	if (r->early > r->length)
		return bad(why, "the early time is not longer than the epoch");
	if (r->slots < 1 || r->slots > EPOCH_SLOTS_MAX)
		return bad(why, "there are 1 to 1024 slots");
	if (memchr(r->realm, '\0', sizeof(r->realm)) == NULL)
		return bad(why, "the realm has 255 bytes at most");
	return ST_OK;
}

uint64_t
epoch_at(const struct epoch_rules *r, uint64_t wall)
{
	return wall / r->length;
}

uint64_t
epoch_begin(const struct epoch_rules *r, uint64_t epoch)
{
	return epoch * r->length;
}

uint64_t
epoch_end(const struct epoch_rules *r, uint64_t epoch)
{
	return epoch_begin(r, epoch + 1);
}

static bool
is_plain(const struct epoch_rules *r)
{
	return r->realm[0] == '\0' && r->slots == 1;
}

void
epoch_scope(uint8_t out[static 32], const struct epoch_rules *r, uint64_t epoch,
    uint16_t slot)
{
	static const char label[] = "postern/scope"; /* its NUL is hashed too */
	crypto_hash_sha256_state state;
	uint8_t hash[crypto_hash_sha256_BYTES], tail[8 + 2];

	memset(out, 0, 32);
	if (is_plain(r)) {
		store_be64(out + 24, epoch);
		return;
	}
	store_be64(tail, epoch);
	store_be16(tail + 8, slot);
	(void)crypto_hash_sha256_init(&state);
	(void)crypto_hash_sha256_update(
	    &state, (const uint8_t *)label, sizeof(label));
	(void)crypto_hash_sha256_update(
	    &state, (const uint8_t *)r->realm, strlen(r->realm) + 1);
	(void)crypto_hash_sha256_update(&state, tail, sizeof(tail));
	(void)crypto_hash_sha256_final(&state, hash);
	memcpy(out + 32 - SCOPE_HASHED, hash, SCOPE_HASHED);
}

enum status
epoch_accepts(const struct epoch_rules *r, uint64_t epoch, uint64_t wall)
{
	uint64_t current = epoch_at(r, wall);
	uint64_t into = wall - epoch_begin(r, current);

	if (epoch == current)
		return ST_OK;
	if (epoch < current) {
		return epoch + 1 == current && into < r->grace ? ST_OK
							       : ST_EPOCH_PAST;
	}
	return epoch == current + 1 && r->length - into <= r->early
	    ? ST_OK
	    : ST_EPOCH_FUTURE;
}

/* --- the book --- */

void
epoch_book_init(struct epoch_book *b, const struct epoch_rules *r)
{
	memset(b, 0, sizeof(*b));
	b->rules = *r;
}

static int
line_order(const void *a, const void *b)
{
	const struct epoch_line *x = a, *y = b;

	return (x->head > y->head) - (x->head < y->head);
}

/* The leading bytes of a hashed scope (its first byte is always 0). */
static uint64_t
scope_head(const uint8_t scope[static 32])
{
	return load_be64(scope + 1);
}

/* The page of EPOCH. Of three epochs in a row each has its own place, so a
 * turn makes one new page. */
static const struct epoch_page *
page_of(struct epoch_book *b, uint64_t epoch)
{
	struct epoch_page *page = &b->pages[epoch % 3];
	uint8_t scope[32];

	if (page->made && page->epoch == epoch)
		return page;
	for (uint32_t slot = 0; slot < b->rules.slots; slot++) {
		epoch_scope(scope, &b->rules, epoch, (uint16_t)slot);
		page->lines[slot] = (struct epoch_line){
		    .head = scope_head(scope),
		    .slot = (uint16_t)slot,
		};
	}
	qsort(page->lines, b->rules.slots, sizeof(page->lines[0]), line_order);
	page->made = true;
	page->epoch = epoch;
	return page;
}

static bool
find_on_page(const struct epoch_book *b, const struct epoch_page *page,
    uint16_t *slot, const uint8_t scope[static 32])
{
	uint64_t head = scope_head(scope);
	size_t low = 0, high = b->rules.slots;
	uint8_t candidate[32];

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (page->lines[middle].head < head)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < b->rules.slots && page->lines[low].head == head; low++) {
		*slot = page->lines[low].slot;
		epoch_scope(candidate, &b->rules, page->epoch, *slot);
		if (memcmp(candidate, scope, sizeof(candidate)) == 0)
			return true;
	}
	*slot = 0;
	return false;
}

static enum status
find_plain(const struct epoch_rules *r, uint64_t *epoch,
    const uint8_t scope[static 32], uint64_t wall)
{
	static const uint8_t zeros[24];
	uint64_t n = load_be64(scope + 24);

	if (memcmp(scope, zeros, sizeof(zeros)) != 0 || n > PLAIN_MAX)
		return ST_SCOPE_UNKNOWN;
	*epoch = n;
	return epoch_accepts(r, n, wall);
}

enum status
epoch_find(struct epoch_book *b, uint64_t *epoch, uint16_t *slot,
    const uint8_t scope[static 32], uint64_t wall)
{
	uint64_t current = epoch_at(&b->rules, wall);

	*epoch = 0;
	*slot = 0;
	if (is_plain(&b->rules))
		return find_plain(&b->rules, epoch, scope, wall);
	for (uint64_t e = current > 0 ? current - 1 : 0; e <= current + 1;
	     e++) {
		if (find_on_page(b, page_of(b, e), slot, scope)) {
			*epoch = e;
			return epoch_accepts(&b->rules, e, wall);
		}
	}
	return ST_SCOPE_UNKNOWN;
}
