/* client/errand_impl.h: what the two halves of an errand share.
 *
 * errand.c        the program's side: requests, answers, the end
 * errand_out.c   the gateway's side: proof, hop, answer, tunnel
 */
#ifndef CLIENT_ERRAND_IMPL_H
#define CLIENT_ERRAND_IMPL_H

#include "client/door.h"
#include "client/hop.h"
#include "client/reply.h"
#include "http/authority.h"
#include "http/head.h"
#include "http/response.h"
#include "net/conn.h"
#include "net/tunnel.h"

enum errand_state {
	ERRAND_FIRST = 1,
	ERRAND_OFFER,
	ERRAND_LOGIN,
	ERRAND_REQUEST,
	ERRAND_HEAD,
	ERRAND_PROOF,
	ERRAND_HOP,
	ERRAND_ASKED,
	ERRAND_GRANT,
	ERRAND_TUNNEL,
	ERRAND_LAST,
	ERRAND_OVER,
};

struct errand {
	struct client *client;
	handle_t self;
	enum errand_state state;
	struct stream stream;
	struct conn conn;
	struct deadline deadline;
	struct task release;
	bool unix_socket, ours; /* how it came in */
	bool socks;
	struct head_parser parser;

	/* The destination, as the program spelt it. */
	uint8_t host[HOST_NAME_MAX_LEN + 1];
	size_t host_len;
	char target[HOST_NAME_MAX_LEN + 10];

	/* The way. */
	uint64_t circuit; /* hash of what it is isolated by */
	struct door *door;
	uint32_t tried; /* gateways, as bits */
	unsigned circuits_tried, proofs_tried; /* at this gateway */
	uint16_t slot;
	uint8_t root[32]; /* of the proof that was shown */
	struct hop *hop;
	struct response_parser answer;
	struct response head;
	bool has_head;
	size_t head_length;
	struct outcome last; /* why the last try failed */

	struct tunnel tunnel;
};

/* End S; a tunnel is cut. */
void errand_close(struct errand *s);

/* The tunnel has ended: so does S. */
void errand_tunnel_over(struct errand *s);

/* Tell the program O, and end. */
void errand_fail(struct errand *s, const struct outcome *o);

/* The destination is known: find a way. */
void errand_begin(struct errand *s);

/* Ask for a proof (again), and go on if there is one. */
void errand_want_proof(struct errand *s);

/* The program has taken what it was sent: pass on the rest, or begin the
 * tunnel. */
void errand_pass_on(struct errand *s);

#endif
