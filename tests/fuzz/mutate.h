/* tests/fuzz/mutate.h: what the structure-aware mutators share.
 *
 * A mutator (tests/fuzz/mutate_NAME.c) changes an input of fuzz_NAME.c in the
 * terms of what it means, so that the change gets past the layers that would
 * refuse a random one: a digit of a number within JSON within base64. One time
 * in four it leaves the bytes to libFuzzer, as nothing is to be out of reach.
 * They are in the fuzzing programs alone; a replay needs none.
 */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* libFuzzer's: change the SIZE bytes at DATA, in place, to at most MAX. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* What libFuzzer calls; defined by the mutator. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Choices that follow from libFuzzer's seed (splitmix64). */
struct choice {
	uint64_t state;
};

static inline unsigned
choose(struct choice *c, size_t below)
{
	uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return below > 1 ? (unsigned)((z ^ z >> 31) % below) : 0;
}

/* A text that grows and shrinks within CAP bytes. */
struct draft {
	uint8_t *bytes;
	size_t len, cap;
};

/* Put the N bytes at TEXT in the place of the OLD at AT. No effect where that
 * would be too long. TEXT is not within D. */
static inline void
draft_replace(
    struct draft *d, size_t at, size_t old, const void *text, size_t n)
{
	if (at > d->len || old > d->len - at || d->len - old + n > d->cap)
		return;
	memmove(d->bytes + at + n, d->bytes + at + old, d->len - at - old);
	if (n != 0)
		memcpy(d->bytes + at, text, n);
	d->len += n - old;
}

/* Let libFuzzer change the N bytes at AT, to at most twice as many. */
static inline void
draft_mutate(struct draft *d, size_t at, size_t n)
{
	uint8_t part[512];
	size_t len = n < sizeof(part) / 2 ? n : sizeof(part) / 2;

	memcpy(part, d->bytes + at, len);
	draft_replace(
	    d, at, len, part, LLVMFuzzerMutate(part, len, 2 * len + 4));
}

#endif
