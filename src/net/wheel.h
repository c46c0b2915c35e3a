/* net/wheel.h: deadlines, by the thousand, for a constant price each.
 *
 * A hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7): six
 * levels of 64 slots, a slot of level n spanning 64^n milliseconds. An entry
 * lies in the level of the highest digit (base 64) in which its time differs
 * from now, and moves down as that digit comes. A bitmap of occupied slots
 * per level gives the next moment at which anything has to be done without
 * walking, so that an idle loop sleeps.
 *
 * Pure: time is an argument. Times more than 64^6 ms (2 years) ahead are cut
 * to that. Entries are owned by the caller and linked in place.
 */
#ifndef NET_WHEEL_H
#define NET_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#define WHEEL_LEVELS 6
#define WHEEL_SLOTS 64

struct wheel_entry {
	struct list_node node; /* in a slot, or alone when not running */
	uint64_t time;
	uint8_t level, slot;
};

struct wheel {
	uint64_t now; /* everything before it has been handed out */
	uint64_t occupied[WHEEL_LEVELS]; /* a bit per slot that holds entries */
	struct list_node slots[WHEEL_LEVELS][WHEEL_SLOTS];
	struct list_node due; /* taken from the slots, not yet handed out */
};

void wheel_init(struct wheel *w, uint64_t now);

void wheel_entry_init(struct wheel_entry *e);

/* Put E, running or not, at TIME; a time that is past is due at once. */
void wheel_add(struct wheel *w, struct wheel_entry *e, uint64_t time);

/* Take E out if it is in. */
void wheel_remove(struct wheel *w, struct wheel_entry *e);

bool wheel_entry_is_running(const struct wheel_entry *e);

/* Move time on to NOW (never back): entries with time <= NOW become due. */
void wheel_advance(struct wheel *w, uint64_t now);

/* Take the next due entry out, in order of time within a level-0 turn; NULL
 * when there is none. Adding and removing between calls is allowed. */
struct wheel_entry *wheel_next(struct wheel *w);

/* Milliseconds until wheel_advance has something to do (which may be moving
 * entries between levels only); UINT64_MAX when the wheel is empty. */
uint64_t wheel_wait(const struct wheel *w);

#endif
