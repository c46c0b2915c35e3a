/* tests/unit/tunnel_util.h: tunnels between two applications, and bytes to
 * send through them.
 */
#ifndef TESTS_TUNNEL_UTIL_H
#define TESTS_TUNNEL_UTIL_H

#include "net/tunnel.h"
#include "net_util.h"

#define TUNNEL_CHUNK 16384

struct fixture {
	struct loop *loop;
	struct chunk_pool chunks;
	struct relay *relay;
	unsigned fds; /* open before the first tunnel */
};

/* A tunnel with the two applications that talk through it. */
struct route {
	struct fixture *f;
	struct tunnel tunnel;
	struct stream stream[2];
	int app[2]; /* the far ends; -1: closed */
	unsigned overs; /* times it was over */
	enum status reason;
	uint64_t moved[2]; /* as told by the tunnel */
	uint64_t grant[2]; /* what allow() still allows */
	bool granting;
	enum status close_with; /* in moved(): close it */
};

/* One direction: from one application to the other. */
struct flow {
	int from, to; /* descriptors */
	uint64_t total, sent, received;
	size_t chunk; /* of one send or recv */
	bool ended; /* shutdown sent */
};

/* To receive into, and the most that bytes_at gives. */
extern uint8_t buffer[1 << 18];

extern const struct tunnel_limits no_limits;

/* A relay with so many pipes. */
void setup(struct fixture *f, uint32_t pipes);

/* Everything is given back. */
void check_empty(struct fixture *f);
void teardown(struct fixture *f);

enum kind { TCP, UNIX };

void open_route(struct route *r, struct fixture *f, enum kind kind,
    const struct tunnel_limits *limits, struct chunk *early);

/* Begin the tunnel of R over streams that are open. */
void start_route(
    struct route *r, const struct tunnel_limits *limits, struct chunk *early);

/* Open one stream of R over a new pair; returns our end of it. */
int open_side(struct route *r, int side, enum kind kind);

void close_app(struct route *r, int side);
void reset_app(struct route *r, int side);

/* Wait for the end, for this reason, and close the applications. */
void expect_over(struct route *r, enum status reason);

/* End a tunnel in order. */
void finish(struct route *r);

/* What is sent at N: noise, with a period that no buffer's size divides. */
const uint8_t *bytes_at(uint64_t n);

/* Send as much as goes, and the end behind the last byte. */
void push(struct flow *f);

/* Receive and compare what is there; true at the end of the stream. */
bool pull(struct flow *f);

#endif
