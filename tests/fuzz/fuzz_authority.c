/* Hosts, ports, addresses and networks as text: read as the C library reads
 * them or not at all, and the same after having been written. */
#include "fuzz.h"

#include <arpa/inet.h>

#include "base/ip.h"
#include "http/authority.h"

static void
check_ip(span_t text)
{
	char copy[64], out[IP_TEXT_MAX];
	uint8_t bytes[16];
	ip_t ip, again;
	bool ok = ip_parse(&ip, text) == ST_OK;

	FUZZ_CHECK(ok == (ip.version != 0));
	if (text.len < sizeof(copy) &&
	    (text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL)) {
		if (text.len != 0)
			memcpy(copy, text.ptr, text.len);
		copy[text.len] = '\0';
		bool colon = strchr(copy, ':') != NULL;
		int got = inet_pton(colon ? AF_INET6 : AF_INET, copy, bytes);
		FUZZ_CHECK(ok == (got == 1));
		FUZZ_CHECK(!ok || memcmp(bytes, ip.bytes, colon ? 16 : 4) == 0);
	}
	if (ok) {
		size_t n = ip_format(out, &ip);
		FUZZ_CHECK(n == strlen(out) && n < IP_TEXT_MAX);
		FUZZ_CHECK(ip_parse(&again, span_str(out)) == ST_OK);
		FUZZ_CHECK(ip_equal(&ip, &again));
	}
}

static void
check_authority(span_t text)
{
	struct authority a, b;
	endpoint_t e;
	char out[HOST_NAME_MAX_LEN + 8], literal[ENDPOINT_TEXT_MAX];

	if (authority_parse(&a, text) != ST_OK) {
		FUZZ_CHECK(a.kind == HOST_NONE && a.port == 0);
		FUZZ_CHECK(endpoint_parse(&e, text) != ST_OK);
		return;
	}
	FUZZ_CHECK(fuzz_within(a.host, text) && a.port != 0);
	FUZZ_CHECK(authority_parse_host(&b, text) == ST_OK);
	FUZZ_CHECK(authority_same_host(&a, &b) && a.port == b.port);
	/* An endpoint is an authority with a literal. */
	FUZZ_CHECK(
	    (endpoint_parse(&e, text) == ST_OK) == (a.kind == HOST_LITERAL));
	if (a.kind == HOST_LITERAL) {
		endpoint_format(literal, &e);
		FUZZ_CHECK(authority_parse(&b, span_str(literal)) == ST_OK);
		FUZZ_CHECK(authority_same_host(&a, &b) && b.port == a.port);
		return;
	}
	FUZZ_CHECK(host_is_name(a.host));
	snprintf(out, sizeof(out), "%.*s:%u", (int)a.host.len,
	    (const char *)a.host.ptr, (unsigned)a.port);
	FUZZ_CHECK(authority_parse(&b, span_str(out)) == ST_OK);
	FUZZ_CHECK(span_equal(a.host, b.host) && a.port == b.port);
	/* No resolver can take a name for an address. */
	struct in_addr v4;
	out[a.host.len] = '\0';
	FUZZ_CHECK(inet_aton(out, &v4) == 0);
}

static void
check_net(span_t text)
{
	ip_net_t net;

	if (ip_net_parse(&net, text) != ST_OK) {
		FUZZ_CHECK(net.ip.version == 0);
		return;
	}
	FUZZ_CHECK(net.bits <= (net.ip.version == 4 ? 32 : 128));
	FUZZ_CHECK(ip_net_has(&net, &net.ip));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	span_t text = span_of(data, size);

	check_ip(text);
	check_authority(text);
	check_net(text);
	return 0;
}
