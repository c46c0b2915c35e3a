#include "client/errand_impl.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "base/wipe.h"
#include "client/client_impl.h"
#include "client/site.h"

/* All of the way, from the request to the answer. */
#define WAY_MS 300000
/* The gateway's answer: its look-up and its dial, with room for tor. */
#define ASKED_MS 90000
/* Circuits and proofs at one gateway. */
#define CIRCUITS_MAX 3
#define PROOFS_MAX 2
/* A refusal's content is a few hundred bytes. */
#define PROBLEM_MAX 6144

static span_t
host_of(const struct errand *s)
{
	return span_of(s->host, s->host_len);
}

/* --- which gateway ------------------------------------------------------------- */

/* The next gateway for S that has not been tried: one that works, else any. */
static struct door *
next_door(const struct errand *s)
{
	const struct client *c = s->client;
	struct site_gateway gateways[SITE_GATEWAYS_MAX] = {0};
	unsigned order[SITE_GATEWAYS_MAX], n = c->config.n_gateways;
	struct door *second = NULL;

	for (unsigned i = 0; i < n; i++) {
		memcpy(gateways[i].key, c->doors[i].key, 32);
		gateways[i].weight = c->config.gateways[i].weight;
	}
	site_rank(order, c->purse.secret, gateways, n, host_of(s));
	for (unsigned i = 0; i < n; i++) {
		struct door *d = &c->doors[order[i]];
		if ((s->tried >> order[i] & 1) != 0)
			continue;
		if (!door_is_down(d))
			return d;
		if (second == NULL)
			second = d;
	}
	return second;
}

/* Go to the next gateway; when there is none, tell why the last failed. */
static void
go_on(struct errand *s)
{
	hop_close(&s->hop);
	s->door = next_door(s);
	if (s->door == NULL) {
		errand_fail(s, &s->last);
		return;
	}
	s->tried |= UINT32_C(1) << s->door->index;
	s->circuits_tried = s->proofs_tried = 0;
	errand_want_proof(s);
}

static uint64_t
circuit_hash(const struct errand *s)
{
	uint64_t random;

	switch (s->client->config.isolation) {
	case CLIENT_PER_HOST:
		return site_hash(
		    s->client->purse.secret, "circuit", 0, host_of(s));
	case CLIENT_PER_CONNECTION:
		randombytes_buf(&random, sizeof(random));
		return random;
	case CLIENT_SHARED:
	default:
		return 0;
	}
}

void
errand_begin(struct errand *s)
{
	s->circuit = circuit_hash(s);
	outcome_set(&s->last, TROUBLE_BUSY, ST_OK, "");
	deadline_start(s->client->loop, &s->deadline, WAY_MS);
	go_on(s);
}

/* --- the dial --------------------------------------------------------------------- */

static const struct hop_ops hop_ops;

static void
dial(struct errand *s, bool fresh)
{
	struct client *c = s->client;
	/* The same destination at two gateways: two circuits anyway, by the
	 * onion address. */
	struct circuit *circuit = fresh ? client_fresh_circuit(c, s->circuit)
					: client_circuit(c, s->circuit);
	char name[SITE_CIRCUIT_MAX];

	s->circuits_tried++;
	s->state = ERRAND_HOP;
	site_circuit(name, circuit->hash, circuit->generation);
	if (hop_start(&s->hop, c, s->door->conf->onion, s->door->conf->port,
		name, &hop_ops, s) == ST_OK)
		return;
	outcome_set(&s->last, TROUBLE_BUSY, ST_OK, "");
	errand_fail(s, &s->last);
}

void
errand_want_proof(struct errand *s)
{
	struct door *d = s->door;
	const struct purse_proof *proof;
	enum status st;

	s->state = ERRAND_PROOF;
	st = door_proof(d, &proof, &s->slot, host_of(s));
	if (st == ST_OK) {
		dial(s, s->circuits_tried > 0);
	} else if (st == ST_BUSY) {
		outcome_set(&s->last, d->trouble, ST_OK, d->why);
		go_on(s);
	}
}

/* The way to the gateway failed: try a fresh circuit, then another gateway. */
static void
on_gone(struct hop *h, enum trouble why, const char *detail)
{
	struct errand *s = h->owner;
	char text[REPLY_DETAIL_MAX];

	s->hop = NULL;
	if (s->state == ERRAND_GRANT) {
		errand_close(s);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s", trouble_info(why)->text,
	    *detail != '\0' ? ": " : "", detail);
	outcome_set(&s->last, why, ST_OK, text);
	if (why == TROUBLE_NO_TOR || why == TROUBLE_NOT_TOR) {
		errand_fail(s, &s->last); /* the same for all */
		return;
	}
	if (s->circuits_tried < CIRCUITS_MAX) {
		dial(s, true);
		return;
	}
	door_down(s->door, 0);
	go_on(s);
}

/* --- the question ------------------------------------------------------------------- */

static void
on_open(struct hop *h)
{
	struct errand *s = h->owner;
	struct client *c = s->client;
	struct circuit *circuit = client_circuit(c, s->circuit);
	const struct purse_proof *proof;
	char request[PURSE_TOKEN_MAX + 1024];
	struct out out = out_to(request, sizeof(request));
	enum status st;

	circuit->used = loop_now(c->loop);
	if (circuit->opened == 0)
		circuit->opened = circuit->used;
	/* The epoch may have turned while tor was at work. */
	st = door_proof(s->door, &proof, &s->slot, host_of(s));
	if (st != ST_OK) {
		hop_close(&s->hop);
		errand_want_proof(s);
		return;
	}
	memcpy(s->root, proof->root, 32);
	out_str(&out, "CONNECT ");
	out_str(&out, s->target);
	out_str(&out, " HTTP/1.1\r\nHost: ");
	out_str(&out, s->target);
	out_str(&out, "\r\nProxy-Authorization: Semaphore ");
	out_str(&out, proof->token);
	out_str(&out, "\r\n\r\n");
	s->state = ERRAND_ASKED;
	s->has_head = false;
	response_parser_init(&s->answer);
	deadline_start(c->loop, &s->deadline, ASKED_MS);
	if (conn_write(&h->conn, span_of(request, out.len)) != ST_OK) {
		hop_close(&s->hop);
		outcome_set(&s->last, TROUBLE_NOT_GATEWAY, ST_OK, "");
		go_on(s);
	}
	wipe(request, sizeof(request));
}

/* --- the answer ---------------------------------------------------------------------- */

static void
note_limits(struct errand *s)
{
	uint64_t left, reset;

	if (response_limit(&left, &reset, s->head.rate_limit, "requests") ==
	    ST_OK)
		door_told(s->door, s->slot, left);
}

/* What the gateway's problem BODY says, into s->last. */
static void
read_problem(struct errand *s, span_t body)
{
	json_t *o = json_loadb(
	    (const char *)body.ptr, body.len, JSON_REJECT_DUPLICATES, NULL);
	const char *error = json_string_value(json_object_get(o, "error"));
	const char *detail = json_string_value(json_object_get(o, "detail"));

	outcome_set(&s->last, TROUBLE_ANSWER,
	    trouble_status_of(error != NULL ? error : "", s->head.code),
	    detail != NULL ? detail : "");
	s->last.retry_after = s->head.retry_after;
	json_decref(o);
}

/* Decide what to make of the refusal in s->last. */
static void
refused(struct errand *s)
{
	struct door *d = s->door;
	enum status st = s->last.status;
	int code = status_info(st)->http;

	hop_close(&s->hop);
	if (code == 407 && s->proofs_tried++ < PROOFS_MAX) {
		door_refused(d, s->slot, s->root);
		errand_want_proof(s);
	} else if (st == ST_CIRCUIT_LIMIT && s->circuits_tried < CIRCUITS_MAX) {
		dial(s, true);
	} else if (code == 429 || code == 407) {
		go_on(s);
	} else if (code == 503 && st != ST_TARGET_LIMIT) {
		door_down(d, s->last.retry_after);
		go_on(s);
	} else {
		errand_fail(s, &s->last);
	}
}

/* Tell the program that it is through, then pass on what came behind the
 * answer. */
static void
grant(struct errand *s)
{
	uint8_t socks[SOCKS5_REPLY_LENGTH];
	span_t reply = reply_http_ok();

	if (s->socks) {
		socks5_write_reply(socks, SOCKS5_DONE);
		reply = span_of(socks, sizeof(socks));
	}
	s->state = ERRAND_GRANT;
	s->client->opened++;
	door_up(s->door);
	deadline_stop(s->client->loop, &s->deadline);
	conn_pause(&s->hop->conn);
	if (conn_write(&s->conn, reply) != ST_OK) {
		errand_close(s);
		return;
	}
	if (conn_waiting(&s->conn) == 0)
		errand_pass_on(s);
}

static void
on_data(struct hop *h)
{
	struct errand *s = h->owner;
	span_t in = conn_unread(&h->conn);
	enum status st;

	if (s->state != ERRAND_ASKED)
		return;
	if (!s->has_head) {
		st = response_parse(&s->answer, &s->head, &s->head_length, in);
		if (st == ST_MORE)
			return;
		if (st != ST_OK ||
		    (s->head.code != 200 &&
			(!s->head.has_length ||
			    s->head.length > PROBLEM_MAX))) {
			hop_close(&s->hop);
			outcome_set(&s->last, TROUBLE_NOT_GATEWAY, ST_OK, "");
			go_on(s);
			return;
		}
		s->has_head = true;
		note_limits(s);
	}
	if (s->head.code == 200) {
		conn_consume(&h->conn, s->head_length);
		grant(s);
		return;
	}
	if (in.len < s->head_length + s->head.length)
		return;
	read_problem(
	    s, span_of(in.ptr + s->head_length, (size_t)s->head.length));
	refused(s);
}

static const struct hop_ops hop_ops = {
    .open = on_open,
    .data = on_data,
    .gone = on_gone,
};

/* --- the tunnel ------------------------------------------------------------------------ */

static void
tunnel_over(struct tunnel *t, enum status reason)
{
	(void)reason;
	errand_tunnel_over(loop_owner(t, struct errand, tunnel));
}

static const struct tunnel_ops tunnel_ops = {
    .over = tunnel_over,
};

void
errand_pass_on(struct errand *s)
{
	const struct tunnel_limits limits = {0};
	struct chunk *early, *behind;
	struct hop *h = s->hop;
	span_t in = conn_unread(&h->conn);

	if (in.len > 0) {
		/* What the destination has said already: it comes back here
		 * when the program has taken it. */
		if (conn_write(&s->conn, in) != ST_OK) {
			errand_close(s);
			return;
		}
		conn_consume(&h->conn, in.len);
		if (conn_waiting(&s->conn) > 0)
			return;
	}
	if (conn_detach(&h->conn, &behind) != ST_OK ||
	    conn_detach(&s->conn, &early) != ST_OK) {
		errand_close(s);
		return;
	}
	chunk_give(&s->client->chunks, &behind); /* there is nothing in it */
	s->state = ERRAND_TUNNEL;
	s->client->tunnels++;
	tunnel_start(&s->tunnel, s->client->relay, &s->stream, &h->stream,
	    early, &limits, &tunnel_ops);
}
