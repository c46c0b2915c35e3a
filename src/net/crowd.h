/* net/crowd.h: how many of us are at each destination.
 *
 * A table of counts by address: an IPv4 address, or the /64 of an IPv6 one,
 * since that is what one host has. Bounded, open addressing with linear
 * probing; members choose destinations, so the hash is keyed (SipHash-2-4)
 * and nobody can aim for one bucket.
 *
 * Private to the folder.
 */
#ifndef NET_CROWD_H
#define NET_CROWD_H

#include <sodium.h>
#include <stdint.h>

#include "base/ip.h"
#include "postern/status.h"

struct crowd_entry {
	uint64_t key;
	uint32_t count; /* 0: the slot is free */
};

struct crowd {
	struct crowd_entry *slots;
	uint32_t mask, used, most; /* entries: now, and at most */
	uint32_t total; /* sum of the counts */
	uint8_t secret[crypto_shorthash_KEYBYTES];
};

/* Make room for CAPACITY destinations.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status crowd_init(struct crowd *c, uint32_t capacity) WARN_UNUSED;

void crowd_clear(struct crowd *c);

/* Count one more at IP, unless CAP (0: no cap) are there already.
 * Returns: ST_OK; ST_TARGET_LIMIT; ST_OVERLOADED (the table is full). */
enum status
crowd_join(struct crowd *c, const ip_t *ip, uint32_t cap) WARN_UNUSED;

/* Count one less at IP; one that nobody joined: no effect. */
void crowd_leave(struct crowd *c, const ip_t *ip);

/* How many are at IP. */
uint32_t crowd_at(const struct crowd *c, const ip_t *ip);

#endif
