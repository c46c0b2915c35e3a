/* tests/unit/mix_network.h: a network of mix nodes in this process, on loopback
 * sockets, with a tap in front of each node.
 *
 * The taps are threads that read and write plain blocking sockets, so what
 * they see is what a wire-tap would see: who sent whom how many bytes, when.
 */
#ifndef TESTS_MIX_NETWORK_H
#define TESTS_MIX_NETWORK_H

#include "harness.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "mix/node.h"

#define NETWORK_MAX 16

/* What a tap saw. */
struct sighting {
	uint8_t element[32];
	double ms;
};

struct sightings {
	struct sighting *list;
	size_t cap;
	atomic_size_t n;
	atomic_ulong partial; /* streams that ended within a frame */
};

struct tap {
	int listener;
	uint16_t port, to;
	struct sightings *seen;
	pthread_t thread;
};

struct network {
	struct loop *loop;
	size_t n;
	struct mix_node *node[NETWORK_MAX];
	sphinx_key_t key[NETWORK_MAX];
	struct tap tap[NETWORK_MAX];
	bool tapped;
};

static inline double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A listening socket on loopback. */
static inline int
listen_any(uint16_t *port)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	CHECK(listen(fd, 1024) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&a, &len) == 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static inline int
connect_port(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Read LEN bytes unless the stream ends; how many. */
static inline size_t
read_full(int fd, uint8_t *out, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(fd, out + have, len - have);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

static inline bool
write_full(int fd, const uint8_t *in, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, in, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		in += n;
		len -= (size_t)n;
	}
	return true;
}

struct tap_link {
	struct tap *tap;
	int fd;
};

/* One link: frame by frame, noting when its last byte came. */
static inline void *
tap_link_run(void *arg)
{
	struct tap_link *k = arg;
	struct sightings *s = k->tap->seen;
	uint8_t *frame = malloc(SPHINX_PACKET_SIZE);
	int to = connect_port(k->tap->to);
	size_t have = 0;

	while (frame != NULL && to >= 0) {
		have = read_full(k->fd, frame, SPHINX_PACKET_SIZE);
		if (have < SPHINX_PACKET_SIZE)
			break;
		size_t i = atomic_fetch_add(&s->n, 1);
		if (i < s->cap) {
			memcpy(s->list[i].element, frame, 32);
			s->list[i].ms = clock_ms();
		}
		if (!write_full(to, frame, SPHINX_PACKET_SIZE))
			break;
	}
	if (have > 0 && have < SPHINX_PACKET_SIZE)
		atomic_fetch_add(&s->partial, 1);
	free(frame);
	close(k->fd);
	if (to >= 0)
		close(to);
	free(k);
	return NULL;
}

static inline void *
tap_run(void *arg)
{
	struct tap *t = arg;

	for (;;) {
		struct tap_link *k = malloc(sizeof(*k));
		pthread_t thread;
		if (k == NULL)
			return NULL;
		*k = (struct tap_link){t, accept(t->listener, NULL, NULL)};
		if (k->fd < 0 ||
		    pthread_create(&thread, NULL, tap_link_run, k) != 0) {
			free(k);
			return NULL;
		}
		pthread_detach(thread);
	}
}

/* The policy of deliveries: loopback is allowed here. */
static inline const struct address_policy *
deliver_to_loopback(void)
{
	static const ip_net_t loopback = {{4, {127}}, 8};
	static const struct address_policy policy = {
	    .allow = &loopback, .n_allow = 1};

	return &policy;
}

static inline endpoint_t
loopback_port(uint16_t port)
{
	return (endpoint_t){{4, {127, 0, 0, 1}}, port};
}

/* The registry of NET, at the taps' ports if there are any. */
static inline struct registry *
network_registry(const struct network *net, enum sphinx_suite suite)
{
	static char text[NETWORK_MAX * 256 + 256];
	struct registry_fault f;
	struct registry *r;
	size_t len;

	len = (size_t)sprintf(text, "{\"epoch_seed\": \"test\", \"nodes\": [");
	for (size_t i = 0; i < net->n; i++) {
		char id[65];
		uint16_t port = net->tapped ? net->tap[i].port
					    : mix_node_port(net->node[i]);
		hex_encode(id, span_of(net->key[i].id, 32));
		len += (size_t)sprintf(text + len,
		    "%s{\"id\": \"%s\", \"address\": \"127.0.0.1:%u\", "
		    "\"stake\": 1}",
		    i > 0 ? ", " : "", id, port);
	}
	len += (size_t)sprintf(text + len, "]}");
	CHECK_STATUS(registry_parse(&r, &f, text, len, suite), ST_OK);
	return r;
}

/* Make N nodes like CONFIG with keys of their own, each behind a tap when SEEN
 * is not NULL. ADJUST, if not NULL, changes the configuration of node I. */
static inline void
network_start(struct network *net, size_t n,
    const struct mix_node_config *config, struct sightings *seen,
    void (*adjust)(struct mix_node_config *c, size_t i))
{
	*net = (struct network){.n = n, .tapped = seen != NULL};
	CHECK_STATUS(loop_new(&net->loop), ST_OK);
	for (size_t i = 0; i < n; i++) {
		struct mix_node_config c = *config;
		char problem[256];
		uint8_t secret[32];
		test_random_bytes(secret, sizeof(secret));
		sphinx_key_make(&net->key[i], secret);
		c.listen = loopback_port(0);
		c.inbox.listen = c.inbox.address = loopback_port(0);
		c.keys.identity = net->key[i];
		c.deliver = deliver_to_loopback();
		if (adjust != NULL)
			adjust(&c, i);
		CHECK_STATUS(
		    mix_node_new(&net->node[i], problem, net->loop, &c), ST_OK);
		if (!net->tapped)
			continue;
		struct tap *t = &net->tap[i];
		t->listener = listen_any(&t->port);
		t->to = mix_node_port(net->node[i]);
		t->seen = seen;
		CHECK(pthread_create(&t->thread, NULL, tap_run, t) == 0);
		pthread_detach(t->thread);
	}
	for (size_t i = 0; i < n; i++)
		mix_node_set_registry(
		    net->node[i], network_registry(net, config->outbox.suite));
}

static inline void
network_stop(struct network *net)
{
	for (size_t i = 0; i < net->n; i++)
		mix_node_free(&net->node[i]);
	loop_free(&net->loop);
}

/* A count of all nodes together. */
static inline struct mix_counts
network_counts(const struct network *net)
{
	struct mix_counts sum = {0};

	for (size_t i = 0; i < net->n; i++) {
		const uint64_t *from =
		    (const uint64_t *)(const void *)mix_node_state(net->node[i])
			.counts;
		uint64_t *to = (uint64_t *)(void *)&sum;
		for (size_t j = 0; j < sizeof(sum) / sizeof(*to); j++)
			to[j] += from[j];
	}
	return sum;
}

#endif
