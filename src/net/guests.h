/* net/guests.h: connections of whoever likes to connect, and who of them makes
 * room for one more.
 *
 * At a door that is open to anybody a number of connections is all that can be
 * had, and somebody will take them all: by doing nothing, or by flooding. So
 * when there is no room, the one more comes in, and one goes of the address
 * (or, of IPv6, the /64) that has the most: the one that has done nothing for
 * longest. Who has few connections, and uses them, keeps them.
 *
 * The owner keeps each guest within its own object, and tells of what it does.
 * Threads: the loop.
 */
#ifndef NET_GUESTS_H
#define NET_GUESTS_H

#include "base/ip.h"
#include "base/list.h"
#include "postern/attr.h"
#include "postern/status.h"

struct crowd;

struct guests {
	struct crowd *crowd;
	struct list_node age; /* the oldest first */
};

struct guest {
	struct list_node age;
	ip_t from;
};

/* Set G up for CAPACITY guests. Returns: ST_OK; ST_NO_MEMORY. */
enum status
guests_init(struct guests *g, uint32_t capacity) NONNULL WARN_UNUSED;

/* Free G's memory; there are no guests any more. */
void guests_clear(struct guests *g) NONNULL;

/* Guest W has come by the connected socket FD. There are fewer than CAPACITY. */
void guests_enter(struct guests *g, struct guest *w, int fd) NONNULL;

/* It has done something: it is the youngest now. */
void guests_stir(struct guests *g, struct guest *w) NONNULL;

void guests_leave(struct guests *g, struct guest *w) NONNULL;

/* Who is to make room; NULL when nobody is there. */
struct guest *guests_whom(const struct guests *g) NONNULL;

#endif
