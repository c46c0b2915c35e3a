#include "net/guests.h"

#include <stdlib.h>
#include <string.h>

#include "net/crowd.h"
#include "net/sockaddr.h"

enum status
guests_init(struct guests *g, uint32_t capacity)
{
	enum status st;

	list_init(&g->age);
	g->crowd = calloc(1, sizeof(*g->crowd));
	if (g->crowd == NULL)
		return ST_NO_MEMORY;
	st = crowd_init(g->crowd, capacity);
	if (st != ST_OK)
		guests_clear(g);
	return st;
}

void
guests_clear(struct guests *g)
{
	if (g->crowd != NULL)
		crowd_clear(g->crowd);
	free(g->crowd);
	g->crowd = NULL;
}

/* Where FD's peer is; no address for one that has none. */
static ip_t
address_of(int fd)
{
	union sockaddr_any a;
	socklen_t len = sizeof(a);
	ip_t ip = {.version = 4};

	memset(&a, 0, sizeof(a));
	if (getpeername(fd, &a.sa, &len) != 0)
		return ip;
	if (a.sa.sa_family == AF_INET) {
		memcpy(ip.bytes, &a.in.sin_addr, 4);
	} else if (a.sa.sa_family == AF_INET6) {
		ip.version = 6;
		memcpy(ip.bytes, &a.in6.sin6_addr, 16);
	}
	return ip;
}

void
guests_enter(struct guests *g, struct guest *w, int fd)
{
	w->from = address_of(fd);
	/* There is room in the table for as many as there may be. */
	(void)!crowd_join(g->crowd, &w->from, 0);
	list_init(&w->age);
	list_append(&g->age, &w->age);
}

void
guests_stir(struct guests *g, struct guest *w)
{
	list_remove(&w->age);
	list_append(&g->age, &w->age);
}

void
guests_leave(struct guests *g, struct guest *w)
{
	list_remove(&w->age);
	crowd_leave(g->crowd, &w->from);
}

struct guest *
guests_whom(const struct guests *g)
{
	struct guest *whom = NULL;
	uint32_t most = 0;

	for (struct list_node *n = g->age.next; n != &g->age; n = n->next) {
		struct guest *w = list_entry(n, struct guest, age);
		uint32_t here = crowd_at(g->crowd, &w->from);
		if (here > most) {
			whom = w;
			most = here;
		}
	}
	return whom;
}
