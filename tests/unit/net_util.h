/* tests/unit/net_util.h: sockets over loopback, and turning a loop until
 * something has come true. All ports are the kernel's choice.
 */
#ifndef TESTS_NET_UTIL_H
#define TESTS_NET_UTIL_H

#include "harness.h"

#include "base/ip.h"
#include "net/loop.h"

/* No condition of ours takes longer, on any machine. */
#define SPIN_MS 20000

/* Turn loop L until COND holds; fail the case if it does not come true. */
#define SPIN(L, COND)                                                     \
	do {                                                              \
		uint64_t spin_end_ = loop_clock_ns() / 1000000 + SPIN_MS; \
		while (!(COND)) {                                         \
			CHECK_STATUS(loop_turn((L), 20), ST_OK);          \
			if (loop_clock_ns() / 1000000 > spin_end_)        \
				test_fail(__FILE__, __LINE__,             \
				    "never came true: %s", #COND);        \
		}                                                         \
	} while (0)

/* Turn loop L for MS milliseconds. */
void spin_for(struct loop *l, unsigned ms);

/* A loop, or the case fails. */
struct loop *test_loop(void);

/* Two ends of a TCP connection over 127.0.0.1, or of an AF_UNIX one; fd[0] is
 * the accepted one. Both non-blocking. */
void tcp_pair(int fd[2]);
void unix_pair(int fd[2]);

/* A TCP socket listening at 127.0.0.1 (version 4) or ::1 (6) with BACKLOG;
 * *at is where. Non-blocking. False if the machine has no such address. */
bool listen_at(int *fd, endpoint_t *at, int version, int backlog);

/* Send all of BUF, turning L (NULL: blocking) when the socket is full. */
void send_all(struct loop *l, int fd, const void *buf, size_t len);

/* Receive exactly LEN bytes, turning L meanwhile. */
void recv_all(struct loop *l, int fd, void *buf, size_t len);

/* What recv says next, turning L until it says something: bytes, 0 at the end,
 * -errno. */
int recv_end(struct loop *l, int fd);

/* Open descriptors of this process. */
unsigned count_fds(void);

#endif
