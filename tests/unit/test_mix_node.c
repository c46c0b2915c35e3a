/* Nodes in this process: slow peers, full memory, journals, keys, and what
 * loops show of a node that drops or does not hold. */
#include "mix_network.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "mix/keyring.h"
#include "mix/seen.h"

/* --- helpers -------------------------------------------------------------- */

static char dir[64];

static void
enter(void)
{
	strcpy(dir, "/tmp/postern-test-XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
}

static void
leave(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[512];

	CHECK(d != NULL);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		(void)!unlink(path);
	}
	closedir(d);
	CHECK(rmdir(dir) == 0);
}

static const char *
in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool
exists(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

static void
tag_of(uint8_t out[SEEN_TAG_SIZE], uint64_t i)
{
	store_le64(out, i * UINT64_C(0x9e3779b97f4a7c15));
	store_le64(out + 8, i + 1);
}

/* What seen_add says of tag number I. */
static enum status
add(struct seen *s, uint64_t i)
{
	uint8_t tag[SEEN_TAG_SIZE];
	enum status st = ST_OK;

	tag_of(tag, i);
	seen_add(s, &st, tag, 1);
	return st;
}

/* --- journals ------------------------------------------------------------- */

static void
test_seen(void)
{
	uint8_t id[32] = {1}, other[32] = {2}, tags[100 * SEEN_TAG_SIZE];
	enum status st[100];
	struct seen *s, *t;

	enter();
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 1000), ST_OK);
	CHECK_INT(seen_take_dirty(s) >= 0, 1);
	CHECK_INT(seen_take_dirty(s), -1);
	/* A batch: every third is not to be looked at, two are the same. */
	for (size_t i = 0; i < 100; i++) {
		tag_of(tags + i * SEEN_TAG_SIZE, i == 51 ? 40 : i);
		st[i] = i % 3 == 2 ? ST_BAD_MAC : ST_OK;
	}
	seen_add(s, st, tags, 100);
	for (size_t i = 0; i < 100; i++) {
		CHECK_STATUS(st[i],
		    i % 3 == 2	  ? ST_BAD_MAC
			: i == 51 ? ST_REPLAY
				  : ST_OK);
	}
	CHECK(seen_take_dirty(s) >= 0);
	uint64_t count = seen_count(s);
	/* One at a time, and of one key. */
	CHECK_STATUS(seen_open(&t, in_dir("seen"), id, 1000), ST_LOCKED);
	CHECK(t == NULL);
	seen_close(&s);
	CHECK_STATUS(seen_open(&t, in_dir("seen"), other, 1000), ST_FOREIGN);
	CHECK_STATUS(seen_open(&t, in_dir("seen"), id, 10), ST_NO_SPACE);
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 1000), ST_OK);
	CHECK_INT(seen_count(s), count);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_STATUS(
		    add(s, i), i % 3 == 2 || i == 51 ? ST_OK : ST_REPLAY);
	seen_close(&s);
	leave();
}

/* Cut off anywhere, as a crash leaves it, it loads what is whole. */
static void
test_seen_torn(void)
{
	uint8_t id[32] = {1};
	struct stat st;
	struct seen *s;
	off_t size;

	enter();
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_OK);
	for (uint64_t i = 0; i < 5; i++)
		CHECK_STATUS(add(s, i), ST_OK);
	seen_close(&s);
	CHECK(stat(in_dir("seen"), &st) == 0);
	size = st.st_size;
	CHECK_INT(size, 48 + 5 * 16);
	for (off_t cut = size; cut >= 0; cut--) {
		uint64_t whole = cut >= 48 ? (uint64_t)(cut - 48) / 16 : 0;
		CHECK(truncate(in_dir("seen"), cut) == 0);
		CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_OK);
		CHECK_INT(seen_count(s), whole);
		/* What is added then stands in its place. */
		CHECK_STATUS(add(s, 1000), ST_OK);
		seen_close(&s);
		CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_OK);
		CHECK_INT(seen_count(s), whole + 1);
		CHECK_STATUS(add(s, 1000), ST_REPLAY);
		seen_close(&s);
		CHECK(truncate(in_dir("seen"), 48 + 16 * (off_t)whole) == 0);
		if (cut < 48)
			CHECK(truncate(in_dir("seen"), cut) == 0);
	}
	int fd = open(in_dir("seen"), O_WRONLY | O_TRUNC);
	CHECK(fd >= 0 &&
	    write(fd,
		"something else, and long enough for it....."
		"....................",
		63) == 63);
	close(fd);
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_CORRUPT);
	leave();
}

/* A disk that is full: packets are refused, and the file stays whole. */
static void
test_seen_full_disk(void)
{
	struct rlimit limit = {48 + 2 * 16 + 7, RLIM_INFINITY};
	uint8_t id[32] = {1};
	struct seen *s;

	enter();
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_OK);
	CHECK_STATUS(add(s, 0), ST_OK);
	CHECK_STATUS(add(s, 1), ST_OK);
	/* Room for half a tag: it is begun, and cut off again. */
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK_STATUS(add(s, 2), ST_SYS);
	/* Its packet is lost, and stays so. */
	CHECK_STATUS(add(s, 2), ST_REPLAY);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK_STATUS(add(s, 3), ST_OK);
	seen_close(&s);
	CHECK_STATUS(seen_open(&s, in_dir("seen"), id, 100), ST_OK);
	CHECK_INT(seen_count(s), 3);
	CHECK_STATUS(add(s, 3), ST_REPLAY);
	seen_close(&s);
	leave();
}

static void
test_seen_full(void)
{
	uint8_t id[32] = {1};
	struct seen *s;

	CHECK_STATUS(seen_open(&s, NULL, id, 3), ST_OK);
	for (uint64_t i = 0; i < 3; i++)
		CHECK_STATUS(add(s, i), ST_OK);
	CHECK_STATUS(add(s, 0), ST_REPLAY);
	CHECK_STATUS(add(s, 3), ST_BUSY);
	CHECK_INT(seen_take_dirty(s), -1);
	seen_close(&s);
}

/* --- keys ----------------------------------------------------------------- */

/* Keys over three epochs of 100 s with 30 s of grace, and restarts between. */
static void
test_keyring(void)
{
	uint8_t secret[32] = {7};
	struct keyring_config c = {
	    .dir = dir, .epoch = 100, .grace = 30, .capacity = 100};
	struct keyring k;
	sphinx_key_t second, third;
	bool changed;

	enter();
	sphinx_key_make(&c.identity, secret);
	CHECK_STATUS(keyring_open(&k, &c, 1010), ST_OK);
	CHECK_MEM(k.entry[KEY_CURRENT].key.id, c.identity.id, 32);
	CHECK(k.entry[KEY_OLD].seen == NULL);
	CHECK_INT(k.entry[KEY_NEXT].from, 1100);
	second = k.entry[KEY_NEXT].key;
	CHECK_STATUS(add(k.entry[KEY_CURRENT].seen, 1), ST_OK);
	CHECK_STATUS(keyring_tick(&k, &changed, 1099), ST_OK);
	CHECK(!changed);
	CHECK_STATUS(keyring_tick(&k, &changed, 1100), ST_OK);
	CHECK(changed);
	CHECK_MEM(&k.entry[KEY_CURRENT].key, &second, sizeof(second));
	CHECK_MEM(k.entry[KEY_OLD].key.id, c.identity.id, 32);
	CHECK_INT(k.entry[KEY_NEXT].from, 1200);
	third = k.entry[KEY_NEXT].key;
	keyring_close(&k);

	/* In the grace time, after a restart. */
	CHECK_STATUS(keyring_open(&k, &c, 1120), ST_OK);
	CHECK_MEM(&k.entry[KEY_CURRENT].key, &second, sizeof(second));
	CHECK_MEM(&k.entry[KEY_NEXT].key, &third, sizeof(third));
	CHECK_STATUS(add(k.entry[KEY_OLD].seen, 1), ST_REPLAY);
	CHECK(exists("seen-0"));
	CHECK_STATUS(keyring_tick(&k, &changed, 1130), ST_OK);
	CHECK(!changed && k.entry[KEY_OLD].seen == NULL);
	CHECK(!exists("seen-0"));
	keyring_close(&k);

	/* Off from the second epoch into the fifth: it goes on with the last
	 * key that it announced. */
	CHECK_STATUS(keyring_open(&k, &c, 1450), ST_OK);
	CHECK_MEM(&k.entry[KEY_CURRENT].key, &third, sizeof(third));
	CHECK(k.entry[KEY_OLD].seen == NULL);
	CHECK_INT(k.entry[KEY_NEXT].from, 1500);
	CHECK(!exists("key-1100") && !exists("seen-1100"));
	CHECK(exists("key-1200") && exists("key-1500"));
	keyring_close(&k);
	struct stat st;
	CHECK(stat(in_dir("key-1500"), &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);

	/* Without rotation it is the identity. */
	c.epoch = 0;
	CHECK_STATUS(keyring_open(&k, &c, 1450), ST_OK);
	CHECK_MEM(k.entry[KEY_CURRENT].key.id, c.identity.id, 32);
	CHECK(k.entry[KEY_NEXT].seen == NULL);
	CHECK_STATUS(keyring_tick(&k, &changed, INT32_MAX), ST_OK);
	CHECK(!changed);
	keyring_close(&k);

	/* A key that others can read is not used, and is named. */
	c.epoch = 100;
	CHECK(chmod(in_dir("key-1500"), 0644) == 0);
	CHECK_STATUS(keyring_open(&k, &c, 1450), ST_PERMISSION);
	CHECK(strstr(k.problem, "key-1500") != NULL);
	leave();
	CHECK_STATUS(keyring_open(&k, &c, 1450), ST_SYS);
	CHECK_STR(k.problem, dir);
}

/* --- a network with a bad part -------------------------------------------- */

static struct mix_node_config
small_node(void)
{
	return (struct mix_node_config){.outbox = {.parcels = 256, .links = 32},
	    .inlets = 32,
	    .keys = {.capacity = 10000}};
}

/* Turn the loop until COND or for SECONDS. */
#define TURN_UNTIL(LOOP, COND, SECONDS)                             \
	do {                                                        \
		double end_ = clock_ms() + (SECONDS)*1000.0;        \
		while (!(COND) && clock_ms() < end_)                \
			CHECK_STATUS(loop_turn((LOOP), 20), ST_OK); \
		CHECK(COND);                                        \
	} while (0)

/* Send to node 0, by a path of it and the node with KEY, N packets. */
static void
send_through(
    struct network *net, struct outbox *o, const uint8_t *second, size_t n)
{
	sphinx_path_t path = {.hops = 2};

	memcpy(path.hop[0].id, net->key[0].id, 32);
	memcpy(path.hop[1].id, second, 32);
	memcpy(path.tag, "127.0.0.1:9", 11);
	for (size_t i = 0; i < n; i++)
		CHECK_STATUS(outbox_send(o, &path, &i, sizeof(i)), ST_OK);
}

/* A peer that accepts and never reads: its queue fills up to its limit, the
 * oldest of it goes, memory stays within its bounds, and others are served. */
static void
test_slow_reader(void)
{
	struct mix_node_config config = small_node();
	static struct network net;
	static struct outbox o;
	struct outbox_config oc = {.suite = SPHINX_WIDE, .parcels = 1024};
	char text[2048], id[65];
	struct registry_fault f;
	struct registry *r;
	sphinx_key_t slow_key;
	uint8_t secret[32];
	uint16_t port;
	int slow = listen_any(&port), size = 4096;

	/* A small buffer, so that a test of few packets fills it. */
	CHECK(
	    setsockopt(slow, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) == 0);
	test_random_bytes(secret, sizeof(secret));
	sphinx_key_make(&slow_key, secret);
	config.outbox.queue_max = 50;
	network_start(&net, 3, &config, NULL, NULL);
	CHECK_STATUS(outbox_init(&o, net.loop, &oc, NULL), ST_OK);
	/* All nodes, and the slow one. */
	for (size_t i = 0; i < 4; i++) {
		size_t len = 0;
		len += (size_t)sprintf(
		    text, "{\"epoch_seed\": \"\", \"nodes\": [");
		for (size_t j = 0; j < 4; j++) {
			hex_encode(id,
			    span_of(j < 3 ? net.key[j].id : slow_key.id, 32));
			len += (size_t)sprintf(text + len,
			    "%s{\"id\": \"%s\", \"address\": \"127.0.0.1:%u\","
			    "\"stake\": 0}",
			    j > 0 ? "," : "", id,
			    j < 3 ? mix_node_port(net.node[j]) : port);
		}
		strcpy(text + len, "]}");
		CHECK_STATUS(
		    registry_parse(&r, &f, text, strlen(text), SPHINX_WIDE),
		    ST_OK);
		if (i < 3)
			mix_node_set_registry(net.node[i], r);
		else
			outbox_set_registry(&o, r);
	}
	const struct mix_counts *c = mix_node_state(net.node[0]).counts;
	/* Until the buffers on the way are full and the queue is over. */
	for (int i = 0; i < 40 && c->dropped[DROP_LINK_FULL] == 0; i++) {
		send_through(&net, &o, slow_key.id, 50);
		TURN_UNTIL(
		    net.loop, c->received >= 50u * (unsigned)(i + 1), 20);
		CHECK_STATUS(loop_turn(net.loop, 5), ST_OK);
	}
	CHECK(c->dropped[DROP_LINK_FULL] > 0);
	CHECK(mix_node_state(net.node[0]).links.queued <= 50);
	CHECK(mix_node_state(net.node[0]).parcels <= 60);
	uint64_t before = c->forwarded;
	send_through(&net, &o, net.key[1].id, 20);
	TURN_UNTIL(net.loop, c->forwarded >= before + 20, 20);
	TURN_UNTIL(
	    net.loop, mix_node_state(net.node[1]).counts->received == 20, 10);
	outbox_clear(&o);
	network_stop(&net);
	close(slow);
}

/* More packets held than fit: the oldest go, and only they. */
static void
test_overflow(void)
{
	struct mix_node_config config = small_node();
	static struct network net;
	static struct outbox o;
	struct outbox_config oc = {.suite = SPHINX_WIDE, .parcels = 1024};
	sphinx_path_t path = {.hops = 1};
	uint16_t port;
	int service = listen_any(&port);
	endpoint_t at = loopback_port(port);

	config.outbox.parcels = config.outbox.queue_max = 128;
	config.max_delay_ms = 1500;
	network_start(&net, 3, &config, NULL, NULL);
	CHECK_STATUS(outbox_init(&o, net.loop, &oc, NULL), ST_OK);
	outbox_set_registry(&o, network_registry(&net, SPHINX_WIDE));
	memcpy(path.hop[0].id, net.key[0].id, 32);
	path.hop[0].delay_ms = 1000000; /* cut to the longest allowed */
	CHECK_STATUS(tag_make(path.tag, &at), ST_OK);
	for (uint32_t i = 0; i < 300; i++)
		CHECK_STATUS(outbox_send(&o, &path, &i, sizeof(i)), ST_OK);
	const struct mix_counts *c = mix_node_state(net.node[0]).counts;
	TURN_UNTIL(net.loop, c->received == 300, 20);
	CHECK(mix_node_state(net.node[0]).parcels <= 128);
	TURN_UNTIL(net.loop, c->clamped == 300, 10);
	TURN_UNTIL(
	    net.loop, c->delivered + c->dropped[DROP_OVERFLOW] == 300, 20);
	CHECK(c->delivered >= 100 && c->delivered <= 128);
	/* What is delivered are the last that came. */
	int fd = accept(service, NULL, NULL);
	for (uint64_t i = 0; i < c->delivered; i++) {
		uint8_t frame[8];
		/* Connections end when there is nothing to deliver. */
		while (read_full(fd, frame, 8) != 8) {
			close(fd);
			fd = accept(service, NULL, NULL);
		}
		CHECK_INT(load_le32(frame), 4);
		CHECK_INT(load_le32(frame + 4), 300 - c->delivered + i);
	}
	close(fd);
	CHECK_INT(mix_node_state(net.node[0]).parcels, 0);
	outbox_clear(&o);
	network_stop(&net);
	close(service);
}

/* Connections are bounded, and those that only wait make room for one that has
 * something to say; those that stall are cut. */
static void
test_inlets(void)
{
	struct mix_node_config config = small_node();
	static struct network net;
	int fd[40];
	uint8_t byte = 1;

	config.inlets = 8;
	config.outbox.links = 8;
	network_start(&net, 3, &config, NULL, NULL);
	const struct mix_counts *c = mix_node_state(net.node[0]).counts;
	for (int i = 0; i < 40; i++) {
		fd[i] = connect_port(mix_node_port(net.node[0]));
		CHECK(fd[i] >= 0);
	}
	TURN_UNTIL(net.loop, c->refused == 32, 10);
	CHECK_INT(mix_node_state(net.node[0]).inlets, 8);
	/* Idle ones hold no parcel; those that have begun a frame do. */
	CHECK_INT(mix_node_state(net.node[0]).parcels, 0);
	CHECK(write(fd[32], &byte, 1) == 1 && write(fd[33], &byte, 1) == 1);
	TURN_UNTIL(net.loop, mix_node_state(net.node[0]).parcels == 2, 10);
	/* Six more: those that have begun a frame are the youngest. */
	for (int i = 0; i < 6; i++) {
		close(fd[i]);
		fd[i] = connect_port(mix_node_port(net.node[0]));
	}
	TURN_UNTIL(net.loop, c->refused == 38, 10);
	CHECK_INT(mix_node_state(net.node[0]).parcels, 2);
	CHECK_INT(c->truncated, 0);
	for (int i = 0; i < 40; i++)
		close(fd[i]);
	TURN_UNTIL(net.loop, mix_node_state(net.node[0]).inlets == 0, 10);
	CHECK_INT(c->truncated, 2);
	CHECK_INT(mix_node_state(net.node[0]).parcels, 0);
	network_stop(&net);
}

/* --- loops ---------------------------------------------------------------- */

enum { LOOP_NODES = 6, BAD = 5 };

/* Node 0 alone sends loops. */
static void
only_first_loops(struct mix_node_config *c, size_t i)
{
	if (i > 0)
		c->loop_rate = 0;
}

/* ... and the last holds nothing. */
static void
last_is_hasty(struct mix_node_config *c, size_t i)
{
	only_first_loops(c, i);
	if (i == BAD)
		c->max_delay_ms = 1;
}

/* Turn until WAYS ways are over, then sum up: the figures of the last node,
 * and those of the others of its layer. */
static void
watch_last(struct network *net, uint64_t ways, struct loop_figures *bad,
    struct loop_figures *others)
{
	struct mix_node_state s = mix_node_state(net->node[0]);
	const struct registry_node *last =
	    registry_find(s.registry, net->key[BAD].id);

	TURN_UNTIL(net->loop,
	    loops_layer(s.loops, 0).returned + loops_layer(s.loops, 0).lost >=
		ways,
	    60);
	*bad = loops_node(s.loops, (size_t)(last - s.registry->nodes));
	memset(others, 0, sizeof(*others));
	for (size_t i = s.registry->start[last->layer];
	     i < s.registry->start[last->layer + 1]; i++) {
		struct loop_figures f = loops_node(s.loops, i);
		if (&s.registry->nodes[i] == last)
			continue;
		others->returned += f.returned;
		others->lost += f.lost;
		others->early += f.early;
	}
}

static void
test_loops_see_a_loss(void)
{
	struct mix_node_config config = small_node();
	static struct network net;
	struct loop_figures bad, others;

	config.outbox.parcels = 1024;
	config.loop_rate = 100;
	config.loop_mean_ms = 1;
	config.loop_grace_ms = 1500;
	network_start(&net, LOOP_NODES, &config, NULL, only_first_loops);
	/* It takes nothing any more. */
	mix_node_drain(net.node[BAD]);
	watch_last(&net, 200, &bad, &others);
	CHECK(bad.lost > 20 && bad.returned == 0);
	CHECK(others.returned > 20 && others.lost == 0);
	network_stop(&net);
}

static void
test_loops_see_a_hasty_node(void)
{
	struct mix_node_config config = small_node();
	static struct network net;
	struct loop_figures bad, others;

	config.loop_rate = 100;
	config.loop_mean_ms = 400;
	network_start(&net, LOOP_NODES, &config, NULL, last_is_hasty);
	watch_last(&net, 300, &bad, &others);
	/* Only ways with a delay of less than 20 ms there, one in twenty, can
	 * hide it, and on a busy machine some more. */
	CHECK(bad.early * 10 > bad.returned * 6);
	CHECK(others.early * 20 < others.returned);
	CHECK(bad.lost == 0 && others.lost == 0);
	network_stop(&net);
}

TESTS({"journal of tags", test_seen},
    {"journal cut off anywhere", test_seen_torn},
    {"journal that can not be written", test_seen_full_disk},
    {"filter that is full", test_seen_full},
    {"keys turn, and survive restarts", test_keyring},
    {"a slow reader costs its own packets", test_slow_reader},
    {"memory that is full drops the oldest", test_overflow},
    {"connections are bounded", test_inlets},
    {"loops see a node that loses packets", test_loops_see_a_loss},
    {"loops see a node that does not hold", test_loops_see_a_hasty_node})
