/* Traffic for the whole-path benchmarks (bench/path): clients and a sink, in
 * one epoll loop, so that they take little of the machine from what is measured.
 *
 *	traffic sink
 *	traffic compact EPOCH FILE   the official proof in FILE as the token that
 *	                             postern's own clients send
 *	traffic vary N FILE          N valid proofs and N that do not hold, made
 *	                             of the official one in FILE; a line each
 *	traffic run PORT HOST:PORT SECONDS ROLE...
 *
 * A ROLE is KIND:CONNECTIONS:FILE[:MS], FILE with a token a line ("-": none):
 *
 *	ask     CONNECT with the next token, a byte there and back, close; again,
 *	        MS milliseconds later
 *	plain   the same without a CONNECT
 *	bad     CONNECT with the next token, which is refused; again, on the same
 *	        connection as long as that is kept
 *	pull    a tunnel through which the sink pushes
 *	stream  the same without a CONNECT
 *	idle    a tunnel that does nothing
 *
 * The sink answers a byte 'p' with zeros without end, any other with itself.
 * Figures as JSON, a line a role.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/span.h"
#include "base/text.h"
#include "bench.h"
#include "postern/semaphore.h"
#include "semaphore/points.h"

enum { HEAD_MAX = 4096, TOKENS_MAX = 4096, TIMES_MAX = 1 << 20 };

static void
must(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* --- proofs --- */

/* P with A times A_FACTOR and B times B_FACTOR: e(A, B) stays what it was when
 * their product is 1, so (A/k, kB, C) is a proof of the same statement. */
static void
print_variant(const struct semaphore_proof *p, uint64_t a_factor,
    uint64_t b_factor, bool inverse)
{
	struct groth16_proof points;
	struct semaphore_proof out = *p;
	struct semaphore_fault f;
	char json[SEMAPHORE_JSON_MAX], text[2 * SEMAPHORE_JSON_MAX];
	uint64_t limbs[4];
	size_t len;
	g1j_t a;
	twistj_t b;
	fr_t k;

	must(points_decode(&points, p, &f) == ST_OK, "the points");
	fr_from_u64(&k, a_factor);
	if (inverse)
		fr_inv_var(&k, &k);
	fr_to_limbs(limbs, &k);
	g1j_from_affine(&a, &points.a);
	g1j_mul_var(&a, &a, limbs);
	g1j_to_affine_var(&points.a, &a);
	fr_from_u64(&k, b_factor);
	fr_to_limbs(limbs, &k);
	twistj_from_affine(&b, &points.b);
	twistj_mul_var(&b, &b, limbs);
	twistj_to_affine_var(&points.b, &b);
	points_encode(&out, &points, SEMAPHORE_AFFINE);
	must(semaphore_proof_to_json(json, &len, &out) == ST_OK, "the JSON");
	base64_encode(text, span_of(json, len), BASE64_URL);
	puts(text);
}

static int
vary(unsigned n, const char *path)
{
	json_t *o = json_load_file(path, 0, NULL);
	char *text = o != NULL ? json_dumps(o, JSON_COMPACT) : NULL;
	struct semaphore_proof p;
	struct semaphore_fault f;

	must(text != NULL &&
		semaphore_proof_from_json(&p, text, strlen(text), &f) == ST_OK,
	    path);
	for (unsigned i = 0; i < n; i++)
		print_variant(&p, 2 + i, 2 + i, true);
	for (unsigned i = 0; i < n; i++)
		print_variant(&p, 3 + i, 2 + i, true);
	free(text);
	json_decref(o);
	return 0;
}

static void
compact(uint64_t epoch, const char *path)
{
	json_t *o = json_load_file(path, 0, NULL);
	char *text = o != NULL ? json_dumps(o, JSON_COMPACT) : NULL;
	char token[SEMAPHORE_COMPACT_LENGTH + 1];
	struct groth16_proof points;
	struct semaphore_proof p;
	struct semaphore_fault f;

	must(text != NULL &&
		semaphore_proof_from_json(&p, text, strlen(text), &f) ==
		    ST_OK &&
		points_decode(&points, &p, &f) == ST_OK,
	    path);
	points_encode(&p, &points, SEMAPHORE_COMPRESSED);
	must(semaphore_token_compact(token, &p, (uint32_t)epoch, 0) == ST_OK,
	    "the token");
	puts(token);
	free(text);
	json_decref(o);
}

/* --- sockets --- */

static int
tcp(void)
{
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static struct sockaddr_in
loopback(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return a;
}

static void
set_watch(int epoll, int fd, void *owner, uint32_t events, int how)
{
	struct epoll_event e = {.events = events, .data.ptr = owner};

	must(epoll_ctl(epoll, how, fd, &e) == 0, "epoll");
}

/* A close that leaves no TIME_WAIT: there would be too many. */
static void
drop(int fd)
{
	const struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* --- the sink --- */

struct guest {
	int fd;
	bool push;
};

static void
serve_guest(int epoll, struct guest *g)
{
	static char zeros[1 << 18];
	char bytes[4096];
	ssize_t n;

	if (!g->push) {
		n = recv(g->fd, bytes, sizeof(bytes), 0);
		if (n <= 0 && !(n < 0 && errno == EAGAIN)) {
			close(g->fd);
			free(g);
			return;
		}
		if (n > 0 && bytes[0] == 'p') {
			g->push = true;
			set_watch(epoll, g->fd, g, EPOLLOUT, EPOLL_CTL_MOD);
		} else if (n > 0) {
			(void)!send(g->fd, bytes, (size_t)n, MSG_NOSIGNAL);
		}
		return;
	}
	n = send(g->fd, zeros, sizeof(zeros), MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN) {
		close(g->fd);
		free(g);
	}
}

static _Noreturn void
sink(void)
{
	struct sockaddr_in a = loopback(0);
	socklen_t len = sizeof(a);
	struct epoll_event events[256];
	int door = tcp(), epoll = epoll_create1(0);

	must(bind(door, (void *)&a, len) == 0 && listen(door, 4096) == 0 &&
		getsockname(door, (void *)&a, &len) == 0,
	    "listen");
	printf("%u\n", ntohs(a.sin_port));
	fflush(stdout);
	set_watch(epoll, door, NULL, EPOLLIN, EPOLL_CTL_ADD);
	for (;;) {
		int n = epoll_wait(epoll, events, 256, -1);
		for (int i = 0; i < n; i++) {
			struct guest *g = events[i].data.ptr;
			if (g != NULL) {
				serve_guest(epoll, g);
				continue;
			}
			int fd = accept4(door, NULL, NULL, SOCK_NONBLOCK);
			if (fd < 0)
				continue;
			g = calloc(1, sizeof(*g));
			must(g != NULL, "memory");
			g->fd = fd;
			set_watch(epoll, fd, g, EPOLLIN, EPOLL_CTL_ADD);
		}
	}
}

/* --- clients --- */

enum kind { ASK, PLAIN, BAD, PULL, STREAMED, IDLE, KINDS };

static const char *const kind_names[KINDS] = {
    "ask", "plain", "bad", "pull", "stream", "idle"};

struct role {
	enum kind kind;
	unsigned connections;
	unsigned pause_ms;
	char **tokens;
	size_t tokens_n, next;
	uint64_t done, refused, failed, bytes;
	float *times; /* ms of each that is done; of a bad one its refusal */
	size_t times_n;
};

struct client {
	struct role *role;
	int fd; /* -1: pausing */
	enum { OPENING, ASKING, ANSWER, TALK, STREAM } state;
	double began, wake;
	char out[HEAD_MAX], in[HEAD_MAX];
	size_t out_len, sent, in_len;
};

static int epoll;
static uint16_t port;
static const char *target;

static void
write_request(struct client *c)
{
	struct role *r = c->role;
	const char *token =
	    r->tokens_n > 0 ? r->tokens[r->next++ % r->tokens_n] : NULL;

	c->sent = c->in_len = 0;
	c->out_len = (size_t)snprintf(c->out, sizeof(c->out),
	    "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", target, target,
	    token != NULL ? "Proxy-Authorization: Semaphore " : "",
	    token != NULL ? token : "", token != NULL ? "\r\n" : "");
}

static void
begin(struct client *c)
{
	struct sockaddr_in a = loopback(port);

	c->fd = tcp();
	c->state = OPENING;
	c->began = bench_now();
	if (connect(c->fd, (void *)&a, sizeof(a)) != 0)
		must(errno == EINPROGRESS, "connect");
	set_watch(epoll, c->fd, c, EPOLLOUT, EPOLL_CTL_ADD);
	if (c->role->kind == PLAIN || c->role->kind == STREAMED) {
		c->out[0] = c->role->kind == PLAIN ? 'x' : 'p';
		c->out_len = 1;
		c->sent = c->in_len = 0;
	} else {
		write_request(c);
	}
}

static void
again(struct client *c)
{
	drop(c->fd);
	c->fd = -1;
	c->wake = bench_now() + c->role->pause_ms / 1000.0;
	if (c->role->pause_ms == 0)
		begin(c);
}

static void
finish(struct client *c)
{
	struct role *r = c->role;

	r->done++;
	if (r->times_n < TIMES_MAX)
		r->times[r->times_n++] =
		    (float)((bench_now() - c->began) * 1000);
}

/* The head of an answer is in C->in.
 * Returns: whether the connection goes on. */
static void
take_answer(struct client *c, const char *end)
{
	struct role *r = c->role;
	const char *length = strstr(c->in, "Content-Length: ");
	size_t body = length != NULL ? strtoul(length + 16, NULL, 10) : 0;

	if (memcmp(c->in, "HTTP/1.", 7) == 0 &&
	    memcmp(c->in + 8, " 200", 4) == 0) {
		must(r->kind != BAD, "a bad proof has passed");
		c->out[0] = r->kind == PULL ? 'p' : 'x';
		c->out_len = 1;
		c->sent = c->in_len = 0;
		c->state = TALK;
		if (r->kind == IDLE) {
			finish(c);
			set_watch(epoll, c->fd, c, 0, EPOLL_CTL_MOD);
			return;
		}
		set_watch(epoll, c->fd, c, EPOLLOUT, EPOLL_CTL_MOD);
		return;
	}
	if (c->in_len < (size_t)(end - c->in) + 4 + body)
		return; /* the rest is to come */
	if (r->kind != BAD) {
		r->refused++;
		again(c);
		return;
	}
	finish(c);
	if (strstr(c->in, "Connection: close") != NULL) {
		again(c);
		return;
	}
	c->began = bench_now();
	write_request(c);
	c->state = ASKING;
	set_watch(epoll, c->fd, c, EPOLLOUT, EPOLL_CTL_MOD);
}

static void
on_write(struct client *c)
{
	ssize_t n =
	    send(c->fd, c->out + c->sent, c->out_len - c->sent, MSG_NOSIGNAL);

	if (n < 0) {
		if (errno != EAGAIN) {
			c->role->failed++;
			again(c);
		}
		return;
	}
	c->sent += (size_t)n;
	if (c->sent < c->out_len)
		return;
	if (c->role->kind == STREAMED ||
	    (c->state == TALK && c->role->kind == PULL))
		c->state = STREAM;
	else if (c->state == TALK || c->role->kind == PLAIN)
		c->state = TALK;
	else
		c->state = ANSWER;
	set_watch(epoll, c->fd, c, EPOLLIN, EPOLL_CTL_MOD);
}

/* Most bytes are thrown away unseen, so that the client costs little; those of
 * one read in 64 are looked at. */
static void
on_stream(struct client *c)
{
	static char bytes[1 << 18];
	static unsigned reads;
	bool look = reads++ % 64 == 0;
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), look ? 0 : MSG_TRUNC);

	if (n > 0)
		c->role->bytes += (uint64_t)n;
	else
		must(n < 0 && errno == EAGAIN, "a tunnel was dropped");
	for (ssize_t i = 0; look && i < n; i++)
		must(bytes[i] == 0, "other bytes than the sink's came");
}

static void
on_read(struct client *c)
{
	char *end;
	ssize_t n;

	if (c->state == STREAM) {
		on_stream(c);
		return;
	}
	n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - 1 - c->in_len, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		c->role->failed++;
		again(c);
		return;
	}
	c->in_len += (size_t)n;
	c->in[c->in_len] = '\0';
	if (c->state == TALK) {
		must(c->in[0] == 'x', "another byte came back");
		finish(c);
		again(c);
	} else if ((end = strstr(c->in, "\r\n\r\n")) != NULL) {
		take_answer(c, end);
	}
}

static char **
read_lines(const char *path, size_t *n)
{
	char **lines = calloc(TOKENS_MAX, sizeof(*lines)), line[HEAD_MAX];
	FILE *f;

	*n = 0;
	if (strcmp(path, "-") == 0)
		return lines;
	f = fopen(path, "r");
	must(f != NULL && lines != NULL, path);
	while (*n < TOKENS_MAX && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		lines[(*n)++] = strdup(line);
	}
	fclose(f);
	return lines;
}

static void
read_role(struct role *r, char *text)
{
	char *kind = strtok(text, ":"), *connections = strtok(NULL, ":");
	char *file = strtok(NULL, ":"), *ms = strtok(NULL, ":");

	must(file != NULL, "a role is KIND:CONNECTIONS:FILE[:MS]");
	while (r->kind < KINDS && strcmp(kind, kind_names[r->kind]) != 0)
		r->kind++;
	must(r->kind < KINDS, kind);
	r->connections = (unsigned)strtoul(connections, NULL, 10);
	r->tokens = read_lines(file, &r->tokens_n);
	r->pause_ms = ms != NULL ? (unsigned)strtoul(ms, NULL, 10) : 0;
	r->times = calloc(TIMES_MAX, sizeof(*r->times));
	must(r->times != NULL, "memory");
}

static int
compare(const void *a, const void *b)
{
	float x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void
print_role(struct role *r, double seconds)
{
	size_t n = r->times_n;

	qsort(r->times, n, sizeof(r->times[0]), compare);
	printf("{\"role\": \"%s\", \"done\": %llu, \"per_s\": %.1f, "
	       "\"refused\": %llu, \"failed\": %llu, \"gb_per_s\": %.3f, "
	       "\"bytes\": %llu, \"ms\": [%.3f, %.3f, %.3f]}\n",
	    kind_names[r->kind], (unsigned long long)r->done,
	    (double)r->done / seconds, (unsigned long long)r->refused,
	    (unsigned long long)r->failed, (double)r->bytes / seconds / 1e9,
	    (unsigned long long)r->bytes, n > 0 ? (double)r->times[0] : 0,
	    n > 0 ? (double)r->times[n / 2] : 0,
	    n > 0 ? (double)r->times[n * 95 / 100] : 0);
}

static void
wake_up(struct client *clients, size_t n)
{
	double now = bench_now();

	for (size_t i = 0; i < n; i++) {
		if (clients[i].fd < 0 && clients[i].wake <= now)
			begin(&clients[i]);
	}
}

static int
run(double seconds, char **texts, size_t roles_n)
{
	struct role roles[8] = {0};
	struct epoll_event events[256];
	struct client *clients;
	size_t n = 0, at = 0;
	double start;

	must(roles_n <= 8, "too many roles");
	for (size_t i = 0; i < roles_n; i++) {
		read_role(&roles[i], texts[i]);
		n += roles[i].connections;
	}
	clients = calloc(n, sizeof(*clients));
	must(clients != NULL, "memory");
	epoll = epoll_create1(0);
	for (size_t i = 0; i < roles_n; i++) {
		for (unsigned k = 0; k < roles[i].connections; k++) {
			clients[at].role = &roles[i];
			clients[at++].fd = -1;
		}
	}
	start = bench_now();
	while (bench_now() - start < seconds) {
		wake_up(clients, n);
		int ready = epoll_wait(epoll, events, 256, 1);
		for (int i = 0; i < ready; i++) {
			struct client *c = events[i].data.ptr;
			if (c->fd < 0)
				continue;
			if ((events[i].events & EPOLLOUT) != 0)
				on_write(c);
			else
				on_read(c);
		}
	}
	for (size_t i = 0; i < roles_n; i++)
		print_role(&roles[i], bench_now() - start);
	fflush(stdout);
	if (roles[0].kind == IDLE)
		(void)!getchar(); /* hold them until we are told */
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "sink") == 0)
		sink();
	if (argc == 4 && strcmp(argv[1], "compact") == 0) {
		compact(strtoull(argv[2], NULL, 10), argv[3]);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "vary") == 0)
		return vary((unsigned)strtoul(argv[2], NULL, 10), argv[3]);
	if (argc < 6 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "traffic: see bench/traffic.c\n");
		return 2;
	}
	port = (uint16_t)strtoul(argv[2], NULL, 10);
	target = argv[3];
	return run(strtod(argv[4], NULL), argv + 5, (size_t)argc - 5);
}
