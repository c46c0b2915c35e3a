#include "client/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct request {
	struct nlmsghdr header;
	struct inet_diag_req_v2 body;
};

/* Fill in the half of ID that SOURCE says. */
static void
put_address(const union address *a, void *address, __be16 *port)
{
	if (a->sa.sa_family == AF_INET) {
		memcpy(address, &a->in.sin_addr, sizeof(a->in.sin_addr));
		*port = a->in.sin_port;
	} else {
		memcpy(address, &a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
		*port = a->in6.sin6_port;
	}
}

/* The question for the socket that is bound to THEIRS and connected to OURS. */
static struct request
question(const union address *theirs, const union address *ours)
{
	struct request q = {
	    .header =
		{
		    .nlmsg_len = sizeof(q),
		    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		    .nlmsg_flags = NLM_F_REQUEST,
		},
	    .body =
		{
		    .sdiag_family = (uint8_t)theirs->sa.sa_family,
		    .sdiag_protocol = IPPROTO_TCP,
		    .idiag_states = UINT32_MAX,
		    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
		},
	};

	put_address(theirs, q.body.id.idiag_src, &q.body.id.idiag_sport);
	put_address(ours, q.body.id.idiag_dst, &q.body.id.idiag_dport);
	return q;
}

/* Ask the kernel; *owner is its answer. */
static bool
ask(uid_t *owner, const struct request *q)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	union {
		struct nlmsghdr header;
		uint8_t bytes[4096];
	} answer;
	int fd =
	    socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (sendto(fd, q, sizeof(*q), 0, (const struct sockaddr *)&kernel,
		sizeof(kernel)) == (ssize_t)sizeof(*q)) {
		do {
			n = recv(fd, &answer, sizeof(answer), 0);
		} while (n < 0 && errno == EINTR);
	}
	close(fd);
	if (n < 0 || !NLMSG_OK(&answer.header, (size_t)n) ||
	    answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer.header.nlmsg_len <
		NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
		return false;
	const struct inet_diag_msg *m = NLMSG_DATA(&answer.header);
	/* A socket that its program has let go of is nobody's: 0 and no inode. */
	*owner = m->idiag_uid;
	return m->idiag_inode != 0;
}

bool
peer_is_us(int fd)
{
	union address ours = {0}, theirs = {0};
	socklen_t len = sizeof(ours), their_len = sizeof(theirs);
	struct ucred cred;
	socklen_t cred_len = sizeof(cred);
	struct request q;
	uid_t owner;

	if (getsockname(fd, &ours.sa, &len) != 0)
		return false;
	if (ours.sa.sa_family == AF_UNIX)
		return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred,
			   &cred_len) == 0 &&
		    cred.uid == geteuid();
	if (getpeername(fd, &theirs.sa, &their_len) != 0)
		return false;
	q = question(&theirs, &ours);
	return ask(&owner, &q) && owner == geteuid();
}
