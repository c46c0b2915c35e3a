#include "dns_server.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "net/sockaddr.h"

enum { TYPE_A = 1, TYPE_CNAME = 5, TYPE_AAAA = 28 };
enum { NOERROR = 0, SERVFAIL = 2, NXDOMAIN = 3, REFUSED = 5 };
/* Names, and what they are for:
 *
 *	ok v4 v6 none many	addresses: one each, two of one family, none
 *				(the name is there), 50 and 30
 *	nx servfail refused	such answers
 *	silent half half4	no answer; none to AAAA, none to A
 *	broken6			an address; SERVFAIL to AAAA
 *	big			truncated over UDP, 100 addresses over TCP
 *	cut			truncated over UDP, silent over TCP
 *	alias loop		a chain of CNAMEs that ends, one that does not
 *	slow			an answer after 80 ms
 *	spoof			two forged answers before the true one
 *	lies			addresses that are not public
 *	home			127.0.0.1
 *	other badlength garbage mutant	nonsense of several kinds
 */
#define HEADER 12
#define MESSAGE_MAX 4096

/* A question, as far as we need it. */
struct question {
	const uint8_t *bytes; /* name, type and class, as they came */
	size_t len;
	uint16_t id, type;
	char label[64]; /* the first one */
	bool tcp;
};

struct message {
	uint8_t data[MESSAGE_MAX];
	size_t len;
};

struct dns_delayed {
	struct dns_delayed *next;
	struct deadline deadline;
	struct dns_server *server;
	struct message message;
	union sockaddr_any to;
	socklen_t to_len;
};

static bool
is(const struct question *q, const char *label)
{
	return strcmp(q->label, label) == 0;
}

/* --- messages --- */

static void
put(struct message *m, const void *bytes, size_t n)
{
	CHECK(m->len + n <= MESSAGE_MAX);
	memcpy(m->data + m->len, bytes, n);
	m->len += n;
}

static void
put16(struct message *m, unsigned v)
{
	uint8_t b[2];

	store_be16(b, (uint16_t)v);
	put(m, b, 2);
}

static void
begin(struct message *m, const struct question *q, unsigned rcode, bool cut)
{
	m->len = 0;
	put16(m, q->id);
	put16(m, 0x8180 | (cut ? 0x200 : 0) | rcode);
	put16(m, 1);
	put16(m, 0); /* answers: counted in put_record */
	put16(m, 0);
	put16(m, 0);
	put(m, q->bytes, q->len);
}

/* A record whose owner is the name at OFFSET. */
static void
put_record(struct message *m, unsigned offset, unsigned type, const void *data,
    size_t n)
{
	put16(m, 0xc000 | offset);
	put16(m, type);
	put16(m, 1);
	put16(m, 0);
	put16(m, 60);
	put16(m, (unsigned)n);
	put(m, data, n);
	store_be16(m->data + 6, (uint16_t)(load_be16(m->data + 6) + 1));
}

/* An address of the documentation networks that ends in N. */
static void
put_address(
    struct message *m, const struct question *q, unsigned offset, unsigned n)
{
	uint8_t a[4] = {192, 0, 2, (uint8_t)n};
	uint8_t b[16] = {0x20, 1, 0xd, 0xb8, [15] = (uint8_t)n};

	if (q->type == TYPE_A)
		put_record(m, offset, TYPE_A, a, 4);
	else
		put_record(m, offset, TYPE_AAAA, b, 16);
}

/* HOPS aliases, each the owner of the next, then the address; LOOP leads back
 * to the first name instead. */
static void
put_chain(struct message *m, const struct question *q, unsigned hops, bool loop)
{
	unsigned owner = HEADER;

	for (unsigned i = 0; i < hops; i++) {
		uint8_t alias[4] = {1, (uint8_t)('a' + i), 0xc0, HEADER};
		unsigned here = (unsigned)m->len + 12;
		if (loop && i == hops - 1) {
			uint8_t back[2] = {0xc0, HEADER};
			put_record(m, owner, TYPE_CNAME, back, 2);
			return;
		}
		put_record(m, owner, TYPE_CNAME, alias, 4);
		owner = here;
	}
	put_address(m, q, owner, 7);
}

/* --- how names are answered --- */

enum reply { SAY_NOTHING, SAY, SAY_LATER, SPOOF_FIRST };

static enum reply
answer_special(struct message *m, const struct question *q)
{
	uint8_t loopback4[4] = {127, 0, 0, 1};
	uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};

	if (is(q, "lies")) { /* a public name, private addresses */
		if (q->type == TYPE_A)
			put_record(m, HEADER, TYPE_A, loopback4, 4);
		else
			put_record(m, HEADER, TYPE_AAAA, mapped, 16);
	} else if (is(q, "home")) {
		put_record(m, HEADER, TYPE_A, loopback4, 4);
	} else if (is(q, "badlength")) {
		put_record(m, HEADER, q->type, loopback4, 3);
	} else if (is(q, "other")) { /* the answer to another question */
		put_address(m, q, HEADER, 66);
		m->data[HEADER + 1] ^= 1;
	} else if (is(q, "garbage")) {
		test_random_bytes(m->data + 12, 100);
		m->len = 112;
	} else if (is(q, "mutant")) {
		put_chain(m, q, 2, false);
		for (unsigned i = 0; i < 1 + test_random() % 4; i++)
			m->data[2 + test_random() % (m->len - 2)] ^=
			    (uint8_t)(1u << test_random() % 8);
		if (test_random() % 4 == 0)
			m->len = HEADER + test_random() % (m->len - HEADER);
	} else {
		return SAY_NOTHING;
	}
	return SAY;
}

static enum reply
answer(struct message *m, const struct question *q)
{
	static const struct {
		const char *label;
		unsigned rcode;
		unsigned a, aaaa; /* addresses of each family */
	} table[] = {
	    {"ok", NOERROR, 1, 1},
	    {"v4", NOERROR, 2, 0},
	    {"v6", NOERROR, 0, 2},
	    {"none", NOERROR, 0, 0},
	    {"many", NOERROR, 50, 30},
	    {"nx", NXDOMAIN, 0, 0},
	    {"servfail", SERVFAIL, 0, 0},
	    {"refused", REFUSED, 0, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!is(q, table[i].label))
			continue;
		begin(m, q, table[i].rcode, false);
		unsigned n = q->type == TYPE_A ? table[i].a : table[i].aaaa;
		for (unsigned k = 1; k <= n; k++)
			put_address(m, q, HEADER, k);
		return SAY;
	}
	bool silent = is(q, "silent") ||
	    (is(q, "half") && q->type == TYPE_AAAA) ||
	    (is(q, "half4") && q->type == TYPE_A);
	if (silent)
		return SAY_NOTHING;
	bool cut = (is(q, "big") || is(q, "cut")) && !q->tcp;
	bool half_broken = is(q, "broken6") && q->type == TYPE_AAAA;
	begin(m, q, half_broken ? SERVFAIL : NOERROR, cut);
	if (cut || half_broken || (is(q, "home") && q->type == TYPE_AAAA))
		return SAY;
	if (is(q, "cut")) /* over TCP, too: nothing */
		return SAY_NOTHING;
	if (is(q, "big")) {
		for (unsigned k = 1; k <= 100; k++)
			put_address(m, q, HEADER, k);
		return SAY;
	}
	if (is(q, "alias") || is(q, "loop")) {
		put_chain(m, q, 4, is(q, "loop"));
		return SAY;
	}
	put_address(m, q, HEADER, 9);
	if (is(q, "slow"))
		return SAY_LATER;
	if (is(q, "spoof"))
		return SPOOF_FIRST;
	if (is(q, "half") || is(q, "half4") || is(q, "broken6"))
		return SAY;
	begin(m, q, NOERROR, false);
	return answer_special(m, q);
}

/* --- sockets --- */

static bool
parse(struct dns_server *s, struct question *q, const uint8_t *in, size_t len)
{
	size_t i = HEADER, n = 0;

	if (len < HEADER + 5 || load_be16(in + 4) != 1)
		return false;
	s->asked_recursion = (in[2] & 1) != 0;
	s->had_edns = load_be16(in + 10) == 1;
	q->id = load_be16(in);
	q->bytes = in + HEADER;
	while (i < len && in[i] != 0) {
		for (unsigned k = 0; k < in[i] && n < 250; k++)
			s->last_name[n++] = (char)in[i + 1 + k];
		s->last_name[n++] = '.';
		i += 1u + in[i];
	}
	s->last_name[n] = '\0';
	if (i + 5 > len || in[HEADER] > 63)
		return false;
	for (unsigned k = 0; k < in[HEADER]; k++)
		q->label[k] = (char)tolower(in[HEADER + 1 + k]);
	q->label[in[HEADER]] = '\0';
	q->type = load_be16(in + i + 1);
	q->len = i + 5 - HEADER;
	return true;
}

static void
send_to(int fd, const struct message *m, const union sockaddr_any *to,
    socklen_t to_len)
{
	(void)!sendto(fd, m->data, m->len, 0, &to->sa, to_len);
}

static void
on_delay(struct deadline *d)
{
	struct dns_delayed *late = loop_owner(d, struct dns_delayed, deadline);

	send_to(late->server->udp, &late->message, &late->to, late->to_len);
}

static void
send_later(struct dns_server *s, const struct message *m,
    const union sockaddr_any *to, socklen_t to_len)
{
	struct dns_delayed *late = calloc(1, sizeof(*late));

	CHECK(late != NULL);
	late->next = s->delayed;
	s->delayed = late;
	late->server = s;
	late->message = *m;
	late->to = *to;
	late->to_len = to_len;
	deadline_init(&late->deadline, on_delay);
	deadline_start(s->loop, &late->deadline, 80);
}

/* What an attacker beside the path would try: the wrong identifier from the
 * right port, the right one from another. Both lead elsewhere. */
static void
send_spoofs(struct dns_server *s, const struct question *q,
    const union sockaddr_any *to, socklen_t to_len)
{
	static struct message m;
	struct question wrong = *q;

	wrong.id ^= 0x1234;
	begin(&m, &wrong, NOERROR, false);
	put_address(&m, q, HEADER, 66);
	send_to(s->udp, &m, to, to_len);
	begin(&m, q, NOERROR, false);
	put_address(&m, q, HEADER, 67);
	send_to(s->spoof, &m, to, to_len);
}

static void
on_udp(struct watch *w, unsigned what)
{
	struct dns_server *s = loop_owner(w, struct dns_server, udp_watch);
	static uint8_t in[MESSAGE_MAX];
	static struct message m;
	union sockaddr_any from;
	socklen_t len = sizeof(from);
	struct question q = {0};

	(void)what;
	ssize_t n = recvfrom(s->udp, in, sizeof(in), 0, &from.sa, &len);
	if (n < 0 || !parse(s, &q, in, (size_t)n))
		return;
	s->udp_questions++;
	if (sockaddr_port(&from) != s->last_port)
		s->ports++;
	s->last_port = sockaddr_port(&from);
	switch (answer(&m, &q)) {
	case SAY_NOTHING:
		break;
	case SAY_LATER:
		send_later(s, &m, &from, len);
		break;
	case SPOOF_FIRST:
		send_spoofs(s, &q, &from, len);
		send_to(s->udp, &m, &from, len);
		break;
	case SAY:
		send_to(s->udp, &m, &from, len);
		break;
	}
}

static void
hang_up(struct dns_peer *p)
{
	watch_stop(&p->watch);
	close(p->fd);
	p->fd = -1;
}

static void
on_peer(struct watch *w, unsigned what)
{
	struct dns_peer *p = loop_owner(w, struct dns_peer, watch);
	static struct message m;
	struct question q = {.tcp = true};
	uint8_t prefix[2];
	ssize_t n;

	(void)what;
	n = recv(p->fd, p->in + p->len, sizeof(p->in) - p->len, 0);
	if (n <= 0) {
		hang_up(p);
		return;
	}
	p->len += (size_t)n;
	while (p->len >= 2 && p->len >= 2u + load_be16(p->in)) {
		size_t used = 2u + load_be16(p->in);
		p->server->tcp_questions++;
		if (parse(p->server, &q, p->in + 2, used - 2) &&
		    answer(&m, &q) == SAY) {
			store_be16(prefix, (uint16_t)m.len);
			send_all(NULL, p->fd, prefix, 2);
			send_all(NULL, p->fd, m.data, m.len);
		}
		memmove(p->in, p->in + used, p->len - used);
		p->len -= used;
	}
}

static void
on_tcp(struct watch *w, unsigned what)
{
	struct dns_server *s = loop_owner(w, struct dns_server, tcp_watch);
	int fd = accept4(s->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	for (int i = 0; fd >= 0 && i < DNS_TCP_MAX; i++) {
		struct dns_peer *p = &s->peers[i];
		if (p->fd >= 0)
			continue;
		*p = (struct dns_peer){.server = s, .fd = fd};
		watch_init(&p->watch, s->loop, fd, on_peer);
		CHECK_STATUS(watch_start(&p->watch, WATCH_READ), ST_OK);
		return;
	}
	close(fd);
}

static int
udp_socket(uint16_t port)
{
	endpoint_t at = {{4, {127, 0, 0, 1}}, port};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_INT(bind(fd, &a.sa, len), 0);
	return fd;
}

void
dns_start(struct dns_server *s, struct loop *l)
{
	endpoint_t at;

	*s = (struct dns_server){.loop = l};
	for (int i = 0; i < DNS_TCP_MAX; i++)
		s->peers[i].fd = -1;
	CHECK(listen_at(&s->tcp, &at, 4, 8));
	s->port = at.port;
	snprintf(s->at, sizeof(s->at), "127.0.0.1:%u", s->port);
	s->udp = udp_socket(s->port);
	s->spoof = udp_socket(0);
	watch_init(&s->udp_watch, l, s->udp, on_udp);
	watch_init(&s->tcp_watch, l, s->tcp, on_tcp);
	CHECK_STATUS(watch_start(&s->udp_watch, WATCH_READ), ST_OK);
	CHECK_STATUS(watch_start(&s->tcp_watch, WATCH_READ), ST_OK);
}

void
dns_stop(struct dns_server *s)
{
	while (s->delayed != NULL) {
		struct dns_delayed *late = s->delayed;
		s->delayed = late->next;
		deadline_stop(s->loop, &late->deadline);
		free(late);
	}
	for (int i = 0; i < DNS_TCP_MAX; i++) {
		if (s->peers[i].fd >= 0)
			hang_up(&s->peers[i]);
	}
	watch_stop(&s->udp_watch);
	watch_stop(&s->tcp_watch);
	close(s->udp);
	close(s->tcp);
	close(s->spoof);
}
