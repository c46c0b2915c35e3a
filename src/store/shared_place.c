#include "store/shared_place.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/ip.h"
#include "base/text.h"

/* A database's number, as far as any server has them. */
#define DATABASE_MAX 65535

static bool
starts(const char **text, const char *with)
{
	size_t n = strlen(with);

	if (strncmp(*text, with, n) != 0)
		return false;
	*text += n;
	return true;
}

static enum status
read_database(struct shared_place *p, const char **why, const char *text)
{
	uint64_t n;

	if (decimal_u64(&n, span_str(text), DATABASE_MAX) != ST_OK) {
		*why = "the database is no number";
		return ST_BAD_VALUE;
	}
	p->database = (uint32_t)n;
	return ST_OK;
}

static enum status
read_path(struct shared_place *p, const char **why, const char *text)
{
	const char *end = strstr(text, "?db=");
	size_t n = end != NULL ? (size_t)(end - text) : strlen(text);

	if (text[0] != '/') {
		*why = "the path of the socket does not begin with /";
		return ST_BAD_ENCODING;
	}
	if (n >= sizeof(p->path)) {
		*why = "the path of the socket is too long";
		return ST_BAD_VALUE;
	}
	memcpy(p->path, text, n);
	return end != NULL ? read_database(p, why, end + 4) : ST_OK;
}

/* The end of the host at TEXT, which is at ':', at '/' or at the end. */
static const char *
host_end(const char *text)
{
	const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;

	return bracket != NULL ? bracket + 1 : text + strcspn(text, ":/");
}

static bool
is_host(const char *host, bool bracketed)
{
	ip_t ip;

	if (bracketed)
		return ip6_parse(&ip, span_str(host)) == ST_OK;
	if (host[0] == '\0' || host[0] == '-' || host[0] == '.')
		return false;
	return host[strspn(host,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		   "0123456789-._")] == '\0';
}

static enum status
read_host(struct shared_place *p, const char **why, const char *text)
{
	const char *end = host_end(text);
	bool bracketed = text[0] == '[';
	size_t n = (size_t)(end - text) - (bracketed ? 2 : 0);

	if (end < text + (bracketed ? 2 : 1) || n >= sizeof(p->host)) {
		*why = "there is no host in it";
		return ST_BAD_ENCODING;
	}
	memcpy(p->host, text + (bracketed ? 1 : 0), n);
	if (!is_host(p->host, bracketed)) {
		*why = "the host is neither a name nor an address (an IPv6 "
		       "address stands in brackets)";
		return ST_BAD_ENCODING;
	}
	return ST_OK;
}

static enum status
read_server(struct shared_place *p, const char **why, const char *text)
{
	enum status st;
	uint64_t port;
	size_t n;

	if (strchr(text, '@') != NULL) {
		*why = "user and password do not belong here";
		return ST_BAD_VALUE;
	}
	if ((st = read_host(p, why, text)) != ST_OK)
		return st;
	text = host_end(text);
	p->port = SHARED_PORT;
	if (text[0] == ':') {
		n = strcspn(++text, "/");
		if (decimal_u64(&port, span_of(text, n), UINT16_MAX) != ST_OK ||
		    port == 0) {
			*why = "the port is not 1 to 65535";
			return ST_BAD_VALUE;
		}
		p->port = (uint16_t)port;
		text += n;
	}
	if (text[0] == '\0' || strcmp(text, "/") == 0)
		return ST_OK;
	if (text[0] != '/') {
		*why = "something follows the host";
		return ST_BAD_ENCODING;
	}
	return read_database(p, why, text + 1);
}

enum status
shared_place_parse(struct shared_place *p, const char **why, const char *text)
{
	enum status st = ST_BAD_ENCODING;

	*p = (struct shared_place){.tls = strncmp(text, "rediss:", 7) == 0};
	*why = "it is neither redis://, rediss:// nor unix:/";
	if (starts(&text, "unix:"))
		st = read_path(p, why, text);
	else if (starts(&text, "redis://"))
		st = read_server(p, why, text);
	else if (starts(&text, "rediss://"))
		st = read_server(p, why, text);
	if (st != ST_OK)
		*p = (struct shared_place){.tls = false};
	return st;
}

enum status
shared_place_address(union sockaddr_any *out, socklen_t *len, const char **why,
    const struct shared_place *p)
{
	const struct addrinfo hints = {
	    .ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM,
	    .ai_flags = AI_NUMERICSERV,
	};
	struct addrinfo *found;
	char port[8];
	int rc;

	*why = "";
	if (p->path[0] != '\0')
		return sockaddr_of_path(out, len, p->path);
	snprintf(port, sizeof(port), "%u", (unsigned)p->port);
	if ((rc = getaddrinfo(p->host, port, &hints, &found)) != 0) {
		*why = gai_strerror(rc);
		return ST_DNS_FAILED;
	}
	memcpy(out, found->ai_addr, found->ai_addrlen);
	*len = found->ai_addrlen;
	freeaddrinfo(found);
	return ST_OK;
}
