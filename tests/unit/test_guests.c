/* Who makes room at a door that is open to anybody. */
#include "net_util.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/guests.h"

enum { GUESTS = 12 };

/* A connection to AT from 127.0.0.HOST; the accepted end. */
static int
come(int listener, const endpoint_t *at, uint8_t host)
{
	struct sockaddr_in from = {.sin_family = AF_INET}, to = from;
	int ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), theirs;

	from.sin_addr.s_addr = htonl(UINT32_C(0x7f000000) | host);
	to.sin_port = htons(at->port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(ours, (const struct sockaddr *)&from, sizeof(from)) == 0);
	CHECK(connect(ours, (const struct sockaddr *)&to, sizeof(to)) == 0);
	theirs = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(theirs >= 0);
	close(ours);
	return theirs;
}

/* Guests by the host that they come from. */
static void
enter_all(struct guests *g, struct guest *w, const char *hosts)
{
	endpoint_t at;
	int listener;

	CHECK_STATUS(guests_init(g, GUESTS), ST_OK);
	CHECK(guests_whom(g) == NULL);
	CHECK(listen_at(&listener, &at, 4, GUESTS));
	for (size_t i = 0; hosts[i] != '\0'; i++) {
		int fd = come(listener, &at, (uint8_t)(hosts[i] - '0'));
		guests_enter(g, &w[i], fd);
		close(fd);
	}
	close(listener);
}

/* Let all go, one after the other, in the order of their hosts. */
static void
expect_order(struct guests *g, const char *hosts)
{
	for (; *hosts != '\0'; hosts++) {
		struct guest *w = guests_whom(g);
		CHECK(w != NULL);
		CHECK_INT(w->from.bytes[3], *hosts - '0');
		guests_leave(g, w);
	}
	CHECK(guests_whom(g) == NULL);
	guests_clear(g);
}

static void
test_the_many_make_room(void)
{
	struct guest w[GUESTS];
	struct guests g;

	/* The oldest has come alone, and stays until nobody has two. */
	enter_all(&g, w, "12232233");
	CHECK(guests_whom(&g) == &w[1]);
	expect_order(&g, "22323123");
}

static void
test_the_idle_make_room(void)
{
	struct guest w[GUESTS];
	struct guests g;

	enter_all(&g, w, "1111");
	guests_stir(&g, &w[0]);
	CHECK(guests_whom(&g) == &w[1]);
	guests_leave(&g, &w[1]);
	guests_stir(&g, &w[2]);
	CHECK(guests_whom(&g) == &w[3]);
	guests_leave(&g, &w[3]);
	CHECK(guests_whom(&g) == &w[0]);
	guests_leave(&g, &w[0]);
	expect_order(&g, "1");
}

/* Those of unix sockets have no address: they are all of one. */
static void
test_without_address(void)
{
	struct guest w[2];
	struct guests g;
	int fd[2];

	unix_pair(fd);
	CHECK_STATUS(guests_init(&g, 2), ST_OK);
	guests_enter(&g, &w[0], fd[0]);
	guests_enter(&g, &w[1], fd[1]);
	CHECK(ip_equal(&w[0].from, &w[1].from));
	CHECK(guests_whom(&g) == &w[0]);
	expect_order(&g, (const char[]){'0', '0', '\0'});
	close(fd[0]);
	close(fd[1]);
}

TESTS({"guests: the many make room", test_the_many_make_room},
    {"guests: the idle make room", test_the_idle_make_room},
    {"guests: without an address", test_without_address})
