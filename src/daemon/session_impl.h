/* daemon/session_impl.h: what the files session*.c share.
 *
 * session.c          life: accept, states, close
 * session_request.c  heads, documents, answers
 * session_proof.c    from a credential to a count
 * session_target.c   from a count to a tunnel
 */
#ifndef DAEMON_SESSION_IMPL_H
#define DAEMON_SESSION_IMPL_H

#include "daemon/gateway.h"
#include "daemon/session.h"
#include "http/answer.h"
#include "http/authority.h"
#include "http/head.h"
#include "net/conn.h"

enum session_state {
	SESSION_LINE = 1,
	SESSION_HEAD,
	SESSION_CHECK,
	SESSION_COUNT,
	SESSION_RESOLVE,
	SESSION_CONNECT,
	SESSION_GRANT,
	SESSION_TUNNEL,
	SESSION_DOCUMENT,
	SESSION_LAST,
	SESSION_OVER,
};

/* Where a CONNECT wants to go: what http/authority.h read, with a copy of the
 * name, since the head it came in is gone. */
struct session_target {
	struct authority to; /* its host points at name */
	uint8_t name[HOST_NAME_MAX_LEN + 1];
};

struct session {
	struct gateway *gateway;
	handle_t self;
	enum session_state state;
	enum status reason; /* why it ends; ST_OK while it lives */
	struct stream client, target_stream;
	struct conn conn;
	struct deadline deadline; /* of a head, an answer, a piece */
	struct task release;

	/* Of the connection. */
	circuit_ref_t circuit;
	uint32_t circuit_id; /* for tor; never logged */
	bool has_circuit;
	bool once; /* its request has an id, and counts once (gate_once) */
	uint8_t once_id[GATE_ONCE_ID];
	bool suspect; /* has shown a proof that failed: served after others */
	unsigned attempts;

	/* Of the request. */
	struct head_parser parser;
	bool keep; /* the connection may carry another */
	bool no_content; /* it was HEAD */
	struct session_target target;
	struct gate_ticket ticket;
	bool marking; /* the id is being counted, and not yet the request */
	struct quota_left left;
	bool left_known;
	struct gate_tunnel account; /* open from COUNT to the end */
	uint64_t since_ns; /* when the present step began */
	handle_t query, dial;
	struct document *document;
	size_t sent; /* bytes of it */

	/* Of the tunnel. */
	struct tunnel tunnel;
	ip_t pinned; /* where target_stream leads */
	bool dialled; /* pinned is counted by the dialer */
};

/* How long a last answer may take to be delivered. */
#define SESSION_LINGER_MS 2000

/* End S for REASON. Idempotent: the first reason counts. */
void session_close(struct session *s, enum status reason);

/* The tunnel has ended: close the rest. */
void session_tunnel_over(struct session *s, enum status reason);

/* Await a (further) head. */
void session_await_head(struct session *s);

/* A head or more may be in the conn. */
void session_read_head(struct session *s);

/* There is room to send: go on with a document. */
void session_send_document(struct session *s);

/* Answer with status ST and go on to the next head, or close. DETAIL may be
 * NULL. RETRY is for Retry-After, in seconds. */
void session_answer(
    struct session *s, enum status st, const char *detail, uint64_t retry);

/* Fill in limits[] and *n with what S's member has left. */
void session_limits(const struct session *s,
    struct answer_limit limits[static ANSWER_LIMITS_MAX], size_t *n);

/* A CONNECT: its credential has been screened, which gave ST. FAULT: where a
 * bad token is bad. */
void session_screened(
    struct session *s, enum status st, const struct semaphore_fault *fault);

/* The request is counted: go on to the target. */
void session_counted(struct session *s);

/* The 200 has left: join the two. */
void session_start_tunnel(struct session *s);

/* The proof failed: note it for the circuit.
 * Returns: true when the connection is to be closed for it. */
bool session_note_failure(struct session *s);

#endif
