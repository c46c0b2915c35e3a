#include "net/sockaddr.h"

#include <stddef.h>
#include <string.h>

socklen_t
sockaddr_of_ip(union sockaddr_any *out, const endpoint_t *at)
{
	memset(out, 0, sizeof(*out));
	switch (at->ip.version) {
	case 4:
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(at->port);
		memcpy(&out->in.sin_addr, at->ip.bytes, 4);
		return sizeof(out->in);
	case 6:
		out->in6.sin6_family = AF_INET6;
		out->in6.sin6_port = htons(at->port);
		memcpy(&out->in6.sin6_addr, at->ip.bytes, 16);
		return sizeof(out->in6);
	default:
		return 0;
	}
}

enum status
sockaddr_of_path(union sockaddr_any *out, socklen_t *len, const char *path)
{
	size_t n = strlen(path);

	memset(out, 0, sizeof(*out));
	*len = 0;
	if (n == 0 || n >= sizeof(out->un.sun_path))
		return ST_BAD_LENGTH;
	out->un.sun_family = AF_UNIX;
	memcpy(out->un.sun_path, path, n);
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return ST_OK;
}

uint16_t
sockaddr_port(const union sockaddr_any *a)
{
	if (a->sa.sa_family == AF_INET)
		return ntohs(a->in.sin_port);
	if (a->sa.sa_family == AF_INET6)
		return ntohs(a->in6.sin6_port);
	return 0;
}
