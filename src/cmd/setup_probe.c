#include "cmd/setup_probe.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Tor gives up on an onion service after two minutes; sooner, we ask anew. */
#define STEP_SECONDS 45
#define ONION_PORT 80

static bool
receive(int fd, void *out, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = recv(fd, (char *)out + have, len - have, 0);
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static bool
give(int fd, const void *bytes, size_t len)
{
	return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* SOCKS5 (RFC 1928): no authentication, CONNECT to a name. Tor's answer has an
 * IPv4 address behind its head. */
static bool
socks_connect(int fd, const char *onion)
{
	uint8_t request[5 + 255 + 2] = {5, 1, 0, 3}, answer[10];
	size_t len = strlen(onion);

	if (len > 255 || !give(fd, "\5\1\0", 3) || !receive(fd, answer, 2) ||
	    answer[0] != 5 || answer[1] != 0)
		return false;
	request[4] = (uint8_t)len;
	memcpy(request + 5, onion, len);
	request[5 + len] = 0;
	request[6 + len] = ONION_PORT;
	return give(fd, request, 7 + len) && receive(fd, answer, 10) &&
	    answer[1] == 0;
}

bool
setup_probe(const char *host, uint16_t port, const char *onion)
{
	struct sockaddr_in to = {
	    .sin_family = AF_INET, .sin_port = htons(port)};
	struct timeval limit = {.tv_sec = STEP_SECONDS};
	char text[256], answer[12];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good = false;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	int len = snprintf(text, sizeof(text),
	    "GET /.well-known/postern HTTP/1.1\r\nHost: %s\r\n"
	    "Connection: close\r\n\r\n",
	    onion);
	if (inet_pton(AF_INET, host, &to.sin_addr) == 1 &&
	    len < (int)sizeof(text) &&
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    socks_connect(fd, onion) && give(fd, text, (size_t)len) &&
	    receive(fd, answer, sizeof(answer)))
		good = memcmp(answer, "HTTP/1.1 200", sizeof(answer)) == 0;
	close(fd);
	return good;
}
