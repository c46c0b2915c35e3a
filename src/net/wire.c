#include "net/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

/* A peer that takes nothing for so long is gone. */
#define SILENCE_MS 60000

void
wire_init(struct wire *w)
{
	*w = (struct wire){.ssl = NULL};
	stream_init(&w->stream);
}

static void
on_stream(struct stream *s)
{
	struct wire *w = loop_owner(s, struct wire, stream);

	w->ready(w);
}

enum status
wire_open(struct wire *w, struct loop *l, int fd, void (*ready)(struct wire *w))
{
	const unsigned silence = SILENCE_MS;
	const int on = 1;
	enum status st;

	w->ready = ready;
	w->ssl = NULL;
	st = stream_open(&w->stream, l, fd, on_stream, w);
	if (st != ST_OK)
		return st;
	stream_prepare(fd);
	/* Links live for days: notice peers that vanish. Either may fail on
	 * AF_UNIX, where peers can not vanish. */
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
	return ST_OK;
}

enum status
wire_secure(struct wire *w, SSL *ssl)
{
	w->ssl = ssl;
	if (ssl != NULL)
		return ST_OK;
	stream_close(&w->stream, STREAM_ORDERLY);
	return ST_NO_MEMORY;
}

/* What a call on the TLS session came to. */
static enum status
tls_result(struct wire *w, int result)
{
	int error = SSL_get_error(w->ssl, result);

	ERR_clear_error();
	switch (error) {
	case SSL_ERROR_NONE:
		return ST_OK;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return ST_MORE;
	case SSL_ERROR_ZERO_RETURN:
		return ST_CLOSED;
	default:
		return ST_RESET;
	}
}

enum status
wire_handshake(struct wire *w)
{
	enum status st = tls_result(w, SSL_do_handshake(w->ssl));

	return st == ST_CLOSED ? ST_RESET : st;
}

static enum status
socket_result(ssize_t n)
{
	if (n > 0)
		return ST_OK;
	if (n == 0)
		return ST_CLOSED;
	return errno == EAGAIN || errno == EINTR ? ST_MORE : ST_RESET;
}

enum status
wire_read(struct wire *w, void *buf, size_t len, size_t *n)
{
	*n = 0;
	if (w->ssl != NULL) {
		int r = SSL_read_ex(w->ssl, buf, len, n);
		return r == 1 ? ST_OK : tls_result(w, r);
	}
	ssize_t got = recv(w->stream.fd, buf, len, 0);
	if (got > 0)
		*n = (size_t)got;
	return socket_result(got);
}

enum status
wire_write(struct wire *w, const void *buf, size_t len, size_t *n)
{
	*n = 0;
	if (w->ssl != NULL) {
		int r = SSL_write_ex(w->ssl, buf, len, n);
		return r == 1 ? ST_OK : tls_result(w, r);
	}
	ssize_t sent = send(w->stream.fd, buf, len, MSG_NOSIGNAL);
	if (sent > 0)
		*n = (size_t)sent;
	return socket_result(sent);
}

void
wire_close(struct wire *w)
{
	if (w->ssl != NULL) {
		/* Tell the peer; do not wait for its answer. */
		(void)SSL_shutdown(w->ssl);
		ERR_clear_error();
		SSL_free(w->ssl);
		w->ssl = NULL;
	}
	stream_close(&w->stream, STREAM_ORDERLY);
}

bool
wire_is_open(const struct wire *w)
{
	return stream_is_open(&w->stream);
}
