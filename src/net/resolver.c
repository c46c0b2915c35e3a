#include "net/resolver.h"

#include <ares.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/wipe.h"

#define TIMEOUT_MS 2000
#define TRIES 2
#define DEADLINE_MS 10000
#define CAPACITY 1024
/* What a resolver may say in one datagram without being fragmented on the way
 * (DNS flag day 2020). */
#define EDNS_SIZE 1232
#define DNS_PORT 53
#define SERVERS_MAX 8
#define CLASS_IN 1
#define TYPE_A 1
#define TYPE_AAAA 28

/* One c-ares channel: its sockets, its clock, a limited number of questions.
 * Freed in a task, when it is retired and nothing is pending: never inside a
 * call of c-ares. */
struct channel {
	struct list_node node; /* in the resolver's list */
	struct resolver *resolver;
	ares_channel ares;
	struct list_node sockets;
	struct deadline clock;
	struct task reap;
	unsigned asked, pending;
	bool retired;
};

struct socket {
	struct list_node node;
	struct watch watch;
	struct channel *channel;
	int fd;
};

enum { FAMILY_6, FAMILY_4, FAMILIES };

/* The answers for one family. */
struct answers {
	bool done;
	enum status status;
	unsigned n;
	ip_t ips[RESOLVER_ADDRESSES];
};

struct lookup {
	struct resolver *resolver;
	handle_t self, owner;
	struct deadline deadline;
	struct task finish;
	struct answers answers[FAMILIES];
};

/* What c-ares holds of a question, until it calls back: the look-up may be
 * gone by then. */
struct question {
	struct channel *channel;
	handle_t lookup;
	int family;
};

struct resolver {
	struct resolver_config config;
	struct loop *loop;
	resolver_fn *fn;
	void *arg;
	struct ares_addr_port_node *servers; /* of every new channel */
	struct list_node channels;
	struct channel *current;
	unsigned questions; /* all that c-ares holds */
	struct slab lookups;
	struct lookup *memory;
	struct slab_slot *slots;
};

/* --- sockets and time, for c-ares --- */

static void
set_clock(struct channel *ch)
{
	struct timeval buffer, *tv = ares_timeout(ch->ares, NULL, &buffer);

	if (tv == NULL) {
		deadline_stop(ch->resolver->loop, &ch->clock);
		return;
	}
	deadline_start(ch->resolver->loop, &ch->clock,
	    (uint64_t)tv->tv_sec * 1000 + (uint64_t)tv->tv_usec / 1000 + 1);
}

static void
on_clock(struct deadline *d)
{
	struct channel *ch = loop_owner(d, struct channel, clock);

	ares_process_fd(ch->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_clock(ch);
}

static void
on_socket(struct watch *w, unsigned what)
{
	struct socket *s = loop_owner(w, struct socket, watch);
	struct channel *ch = s->channel;

	/* S may be freed by this: c-ares closes what it has finished with. */
	ares_process_fd(ch->ares,
	    (what & WATCH_READ) != 0 ? s->fd : ARES_SOCKET_BAD,
	    (what & WATCH_WRITE) != 0 ? s->fd : ARES_SOCKET_BAD);
	set_clock(ch);
}

static struct socket *
socket_of(struct channel *ch, int fd)
{
	for (struct list_node *n = ch->sockets.next; n != &ch->sockets;
	     n = n->next) {
		struct socket *s = list_entry(n, struct socket, node);
		if (s->fd == fd)
			return s;
	}
	struct socket *s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->channel = ch;
	s->fd = fd;
	watch_init(&s->watch, ch->resolver->loop, fd, on_socket);
	list_append(&ch->sockets, &s->node);
	return s;
}

/* c-ares wants to be told when FD is readable, writable; neither: it is about
 * to close it. If that can not be arranged, the question times out. */
static void
on_socket_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct socket *s = socket_of(arg, fd);

	if (s == NULL)
		return;
	if (readable || writable) {
		unsigned what = (readable ? WATCH_READ : 0u) |
		    (writable ? WATCH_WRITE : 0u);
		if (watch_start(&s->watch, what) != ST_OK)
			watch_stop(&s->watch);
		return;
	}
	watch_stop(&s->watch);
	list_remove(&s->node);
	free(s);
}

/* --- channels --- */

static void
channel_free(struct channel *ch)
{
	/* Calls back for every question, and closes every socket. */
	ares_destroy(ch->ares);
	list_remove(&ch->node);
	task_drop(&ch->reap);
	deadline_stop(ch->resolver->loop, &ch->clock);
	free(ch);
}

static void
on_reap(struct task *t)
{
	channel_free(loop_owner(t, struct channel, reap));
}

static void
reap_if_done(struct channel *ch)
{
	if (ch->retired && ch->pending == 0)
		task_defer(ch->resolver->loop, &ch->reap);
}

/* Let the current channel answer what it was asked, and no more. */
static void
retire(struct resolver *r)
{
	struct channel *ch = r->current;

	if (ch == NULL)
		return;
	r->current = NULL;
	ch->retired = true;
	reap_if_done(ch);
}

static enum status
status_of_init(int rc)
{
	switch (rc) {
	case ARES_SUCCESS:
		return ST_OK;
	case ARES_ENOMEM:
		return ST_NO_MEMORY;
	case ARES_EFILE:
		return ST_SYS;
	default:
		return ST_BAD_VALUE;
	}
}

/* Every source but the name servers is switched off; these come from
 * /etc/resolv.conf if FROM_FILE, else the caller sets them. */
static int
init_ares(struct channel *ch, bool from_file)
{
	static char dns_only[] = "b", no_file[] = "/dev/null";
	const struct resolver_config *c = &ch->resolver->config;
	struct ares_options o = {
	    .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS,
	    .timeout = (int)(c->timeout_ms != 0 ? c->timeout_ms : TIMEOUT_MS),
	    .tries = (int)(c->tries != 0 ? c->tries : TRIES),
	    .ednspsz = EDNS_SIZE,
	    .ndots = 1,
	    .lookups = dns_only,
	    .sock_state_cb = on_socket_state,
	    .sock_state_cb_data = ch,
	    .resolvconf_path = no_file,
	};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
	    ARES_OPT_EDNSPSZ | ARES_OPT_NDOTS | ARES_OPT_LOOKUPS |
	    ARES_OPT_SOCK_STATE_CB | ARES_OPT_DOMAINS | ARES_OPT_NOROTATE;

	if (!from_file)
		mask |= ARES_OPT_RESOLVCONF;
	return ares_init_options(&ch->ares, &o, mask);
}

/* c-ares can seed its identifiers from something better than rand(). */
static bool
has_seed(void)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static enum status
channel_new(struct resolver *r, struct channel **out, bool from_file)
{
	struct channel *ch;
	enum status s;

	*out = NULL;
	if (!has_seed())
		return ST_RANDOM;
	if ((ch = calloc(1, sizeof(*ch))) == NULL)
		return ST_NO_MEMORY;
	ch->resolver = r;
	list_init(&ch->sockets);
	deadline_init(&ch->clock, on_clock);
	task_init(&ch->reap, on_reap);
	if ((s = status_of_init(init_ares(ch, from_file))) != ST_OK) {
		free(ch);
		return s;
	}
	list_init(&ch->node);
	list_append(&r->channels, &ch->node);
	*out = ch;
	return ST_OK;
}

/* The channel to ask next. */
static enum status
current_channel(struct resolver *r)
{
	if (r->current != NULL && r->current->asked >= RESOLVER_ROTATE)
		retire(r);
	if (r->current != NULL)
		return ST_OK;

	struct channel *ch;
	enum status s = channel_new(r, &ch, false);
	if (s != ST_OK)
		return s;
	s = status_of_init(ares_set_servers_ports(ch->ares, r->servers));
	if (s != ST_OK) {
		channel_free(ch);
		return s;
	}
	r->current = ch;
	return ST_OK;
}

/* --- answers --- */

static enum status
status_of_answer(int rc)
{
	switch (rc) {
	case ARES_SUCCESS:
		return ST_OK;
	case ARES_ENOTFOUND:
	case ARES_EBADNAME: /* the protocol can not carry it */
		return ST_DNS_NOT_FOUND;
	case ARES_ENODATA: /* the name is there; the other family may be */
		return ST_MISSING;
	case ARES_ETIMEOUT:
		return ST_DNS_TIMEOUT;
	default:
		return ST_DNS_FAILED;
	}
}

static int
parse4(struct answers *a, const unsigned char *message, int len)
{
	struct ares_addrttl found[RESOLVER_ADDRESSES];
	int n = RESOLVER_ADDRESSES;
	int rc = ares_parse_a_reply(message, len, NULL, found, &n);

	for (int i = 0; rc == ARES_SUCCESS && i < n; i++) {
		ip_t *ip = &a->ips[a->n++];
		ip->version = 4;
		memcpy(ip->bytes, &found[i].ipaddr, 4);
	}
	return rc;
}

static int
parse6(struct answers *a, const unsigned char *message, int len)
{
	struct ares_addr6ttl found[RESOLVER_ADDRESSES];
	int n = RESOLVER_ADDRESSES;
	int rc = ares_parse_aaaa_reply(message, len, NULL, found, &n);

	for (int i = 0; rc == ARES_SUCCESS && i < n; i++) {
		ip_t *ip = &a->ips[a->n++];
		ip->version = 6;
		memcpy(ip->bytes, &found[i].ip6addr, 16);
	}
	return rc;
}

/* What both families together say when neither gave an address. */
static enum status
verdict_of_none(const struct lookup *q)
{
	enum status a = q->answers[FAMILY_6].status;
	enum status b = q->answers[FAMILY_4].status;
	static const enum status by_weight[] = {
	    ST_DNS_NOT_FOUND, ST_DNS_TIMEOUT, ST_DNS_FAILED};

	for (size_t i = 0; i < 3; i++) {
		if (a == by_weight[i] || b == by_weight[i])
			return by_weight[i];
	}
	return ST_DNS_NOT_FOUND;
}

static void
release(struct lookup *q)
{
	struct resolver *r = q->resolver;
	handle_t self = q->self;

	deadline_stop(r->loop, &q->deadline);
	task_drop(&q->finish);
	wipe(q, sizeof(*q));
	slab_release(&r->lookups, self);
}

static void
answer(struct lookup *q, enum status s)
{
	struct resolver *r = q->resolver;
	handle_t owner = q->owner;
	ip_t ips[FAMILIES * RESOLVER_ADDRESSES];
	size_t n = 0;

	for (int f = 0; f < FAMILIES; f++) {
		for (unsigned i = 0; i < q->answers[f].n; i++)
			ips[n++] = q->answers[f].ips[i];
	}
	release(q);
	r->fn(r->arg, owner, n != 0 ? ST_OK : s, ips, n);
	wipe(ips, sizeof(ips));
}

static void
on_finish(struct task *t)
{
	struct lookup *q = loop_owner(t, struct lookup, finish);

	answer(q, verdict_of_none(q));
}

/* The whole time is up, or the grace time for the second family. */
static void
on_deadline(struct deadline *d)
{
	answer(loop_owner(d, struct lookup, deadline), ST_DNS_TIMEOUT);
}

static void
on_answer(void *arg, int rc, int timeouts, unsigned char *message, int len)
{
	struct question *question = arg;
	struct channel *ch = question->channel;
	struct resolver *r = ch->resolver;
	struct lookup *q = slab_at(&r->lookups, question->lookup);
	int family = question->family;

	(void)timeouts;
	free(question);
	r->questions--;
	ch->pending--;
	reap_if_done(ch);
	if (q == NULL)
		return;

	struct answers *a = &q->answers[family];
	if (rc == ARES_SUCCESS)
		rc = family == FAMILY_4 ? parse4(a, message, len)
					: parse6(a, message, len);
	a->done = true;
	a->status = status_of_answer(rc);
	if (q->answers[FAMILY_4].done && q->answers[FAMILY_6].done)
		task_defer(r->loop, &q->finish);
	else if (a->n != 0)
		deadline_start(r->loop, &q->deadline, RESOLVER_GRACE_MS);
}

/* --- questions --- */

static bool
is_host_name(span_t name)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.ptr[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '_')
			return false;
	}
	return name.len != 0;
}

/* Ask for one family. */
static enum status
ask(struct lookup *q, const char *name, int family)
{
	struct resolver *r = q->resolver;
	struct question *question;
	enum status s;

	if ((s = current_channel(r)) != ST_OK)
		return s;
	if ((question = malloc(sizeof(*question))) == NULL)
		return ST_NO_MEMORY;
	struct channel *ch = r->current;
	*question = (struct question){ch, q->self, family};
	r->questions++;
	ch->pending++;
	ch->asked++;
	ares_query(ch->ares, name, CLASS_IN,
	    family == FAMILY_4 ? TYPE_A : TYPE_AAAA, on_answer, question);
	set_clock(ch);
	return ST_OK;
}

enum status
resolver_query(struct resolver *r, handle_t *query, handle_t owner, span_t name)
{
	bool wanted[FAMILIES] = {
	    [FAMILY_6] = !r->config.no_ipv6, [FAMILY_4] = !r->config.no_ipv4};
	unsigned ms = r->config.deadline_ms;
	char text[RESOLVER_NAME_MAX];
	enum status s = ST_OK;
	void *slot;

	*query = (handle_t){0};
	if (name.len >= sizeof(text))
		return ST_BAD_LENGTH;
	if (!is_host_name(name))
		return ST_BAD_ENCODING;
	/* Cancelled look-ups leave their questions with c-ares for a while. */
	if (r->questions >= 2 * FAMILIES * r->lookups.capacity ||
	    slab_take(&r->lookups, query, &slot) != ST_OK)
		return ST_BUSY;

	struct lookup *q = slot;
	q->resolver = r;
	q->self = *query;
	q->owner = owner;
	task_init(&q->finish, on_finish);
	deadline_init(&q->deadline, on_deadline);
	deadline_start(r->loop, &q->deadline, ms != 0 ? ms : DEADLINE_MS);
	memcpy(text, name.ptr, name.len);
	text[name.len] = '\0';
	for (int f = 0; f < FAMILIES && s == ST_OK; f++) {
		q->answers[f].done = !wanted[f];
		q->answers[f].status = ST_MISSING;
	}
	for (int f = 0; f < FAMILIES && s == ST_OK; f++) {
		if (wanted[f])
			s = ask(q, text, f);
	}
	wipe(text, sizeof(text));
	if (s != ST_OK) {
		release(q);
		*query = (handle_t){0};
	}
	return s;
}

void
resolver_cancel(struct resolver *r, handle_t query)
{
	struct lookup *q = slab_at(&r->lookups, query);

	if (q != NULL)
		release(q);
}

uint32_t
resolver_pending(const struct resolver *r)
{
	return r->lookups.used;
}

/* --- servers --- */

/* Read "192.0.2.1", "192.0.2.1:53", "2001:db8::1" or "[2001:db8::1]:53". */
static enum status
parse_server(struct ares_addr_port_node *out, span_t text)
{
	endpoint_t at = {.port = DNS_PORT};

	if (ip_parse(&at.ip, text) != ST_OK &&
	    endpoint_parse(&at, text) != ST_OK)
		return ST_BAD_VALUE;
	*out = (struct ares_addr_port_node){
	    .family = at.ip.version == 4 ? AF_INET : AF_INET6,
	    .udp_port = at.port,
	    .tcp_port = at.port,
	};
	memcpy(&out->addr, at.ip.bytes, at.ip.version == 4 ? 4 : 16);
	return ST_OK;
}

/* Read a comma separated list into LIST, and let CH ask those. */
static enum status
set_servers(struct channel *ch, const char *text)
{
	struct ares_addr_port_node list[SERVERS_MAX];
	size_t n = 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		if (n == SERVERS_MAX)
			return ST_BAD_VALUE;
		if (parse_server(&list[n], span_of(text, len)) != ST_OK)
			return ST_BAD_VALUE;
		if (n != 0)
			list[n - 1].next = &list[n];
		n++;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	return status_of_init(ares_set_servers_ports(ch->ares, list));
}

/* --- life --- */

enum status
resolver_reload(struct resolver *r, const char *servers)
{
	struct ares_addr_port_node *list = NULL;
	struct channel *ch;
	int rc;
	enum status s = channel_new(r, &ch, servers == NULL);

	if (s != ST_OK)
		return s;
	if (servers != NULL && (s = set_servers(ch, servers)) != ST_OK) {
		channel_free(ch);
		return s;
	}
	/* As c-ares understood them: all channels to come are made from this,
	 * and a file that is being rewritten does not matter. */
	rc = ares_get_servers_ports(ch->ares, &list);
	if (rc == ARES_SUCCESS && list == NULL)
		rc = ARES_EBADSTR;
	if (rc != ARES_SUCCESS) {
		channel_free(ch);
		return status_of_init(rc);
	}
	retire(r);
	r->current = ch;
	ares_free_data(r->servers);
	r->servers = list;
	return ST_OK;
}

enum status
resolver_new(struct resolver **out, struct loop *l,
    const struct resolver_config *config, resolver_fn *fn, void *arg)
{
	struct resolver *r = calloc(1, sizeof(*r));
	uint32_t n = config->capacity != 0 ? config->capacity : CAPACITY;
	enum status s = ST_NO_MEMORY;

	*out = NULL;
	if (r == NULL)
		return ST_NO_MEMORY;
	r->config = *config;
	r->config.servers = NULL; /* read once, and not kept */
	r->loop = l;
	r->fn = fn;
	r->arg = arg;
	list_init(&r->channels);
	r->memory = calloc(n, sizeof(*r->memory));
	r->slots = calloc(n, sizeof(*r->slots));
	if (r->memory != NULL && r->slots != NULL) {
		slab_init(
		    &r->lookups, r->memory, r->slots, sizeof(*r->memory), n);
		s = resolver_reload(r, config->servers);
	}
	if (s != ST_OK) {
		resolver_free(&r);
		return s;
	}
	*out = r;
	return ST_OK;
}

void
resolver_free(struct resolver **out)
{
	struct resolver *r = *out;
	handle_t h;
	void *q;

	if (r == NULL)
		return;
	*out = NULL;
	for (uint32_t i = 0; i < r->lookups.capacity; i++) {
		if ((q = slab_nth(&r->lookups, i, &h)) != NULL)
			release(q);
	}
	/* Their questions find no look-up any more. */
	while (!list_empty(&r->channels))
		channel_free(
		    /* It unlinks.
		     * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		    list_entry(r->channels.next, struct channel, node));
	ares_free_data(r->servers);
	free(r->memory);
	free(r->slots);
	free(r);
}
