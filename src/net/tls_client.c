#include "net/tls_client.h"

#include <stdbool.h>
#include <stdint.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/ip.h"
#include "base/span.h"

enum status
tls_client_new(SSL_CTX **out, const char *ca_file)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	*out = ctx;
	if (ctx == NULL)
		return ST_NO_MEMORY;
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	/* What was said must not outlive its session in the library's memory. */
	SSL_CTX_set_options(ctx, SSL_OP_CLEANSE_PLAINTEXT);
	SSL_CTX_set_mode(ctx,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
	    SSL_CTX_load_verify_file(ctx, ca_file) == 1)
		return ST_OK;
	ERR_clear_error();
	SSL_CTX_free(ctx);
	*out = NULL;
	return ST_NOT_FOUND;
}

static bool
expect_host(SSL *ssl, const char *host)
{
	ip_t ip;

	if (ip_parse(&ip, span_str(host)) == ST_OK)
		return X509_VERIFY_PARAM_set1_ip_asc(
			   SSL_get0_param(ssl), host) == 1;
	/* SSL_set_tlsext_host_name, whose cast drops the const; it copies. */
	return SSL_set1_host(ssl, host) == 1 &&
	    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
		TLSEXT_NAMETYPE_host_name,
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		(void *)(uintptr_t)host) == 1;
}

SSL *
tls_client_session(SSL_CTX *ctx, int fd, const char *host)
{
	SSL *ssl = SSL_new(ctx);

	if (ssl == NULL)
		return NULL;
	if (!expect_host(ssl, host) || SSL_set_fd(ssl, fd) != 1) {
		ERR_clear_error();
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
	return ssl;
}

const char *
tls_client_problem(const SSL *ssl)
{
	long result = SSL_get_verify_result(ssl);

	return result == X509_V_OK ? NULL
				   : X509_verify_cert_error_string(result);
}
