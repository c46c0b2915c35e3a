/* What the client is made of: slots, gateways, circuits, the gateway's word,
 * answers to programs, the command line's addresses. */
#include "harness.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/facts.h"
#include "client/peer.h"
#include "client/reply.h"
#include "client/roster.h"
#include "client/site.h"
#include "client/trouble.h"
#include "cmd/client_args.h"

static const uint8_t secret[SITE_SECRET_LENGTH] = {1, 2, 3};
static const uint8_t other[SITE_SECRET_LENGTH] = {4};

/* --- slots -------------------------------------------------------------------- */

static void
test_slots(void)
{
	enum { SLOTS = 16, SITES = 4000 };
	unsigned seen[SLOTS] = {0}, moved = 0, differ = 0;
	double chi = 0, expected = (double)SITES / SLOTS;

	CHECK_INT(site_slot(secret, 1, span_str("a.example"), 1), 0);
	CHECK_INT(site_slot(secret, 5, span_str("Www.Example"), 1024),
	    site_slot(secret, 5, span_str("wWW.eXAMPLE"), 1024));
	for (unsigned i = 0; i < SITES; i++) {
		char host[32];
		span_t h =
		    span_of(host, (size_t)sprintf(host, "%u.example", i));
		unsigned slot = site_slot(secret, 7, h, SLOTS);
		CHECK(slot < SLOTS);
		CHECK_INT(slot, site_slot(secret, 7, h, SLOTS));
		seen[slot]++;
		moved += slot != site_slot(secret, 8, h, SLOTS);
		differ += slot != site_slot(other, 7, h, SLOTS);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		chi += (seen[i] - expected) * (seen[i] - expected) / expected;
	/* 15 degrees of freedom: above 44.3 once in 10,000 (the secret is
	 * fixed, so it is the same each time). */
	CHECK(chi < 44.3);
	/* 15 of 16 move with the epoch, and with the secret. */
	CHECK(moved > SITES * 9 / 10 && differ > SITES * 9 / 10);
}

/* --- gateways ------------------------------------------------------------------- */

static void
test_gateways(void)
{
	enum { SITES = 6000 };
	struct site_gateway g[3] = {{{1}, 1}, {{2}, 2}, {{3}, 3}};
	unsigned first[3] = {0}, second[3] = {0}, order[SITE_GATEWAYS_MAX];

	for (unsigned i = 0; i < SITES; i++) {
		unsigned less[SITE_GATEWAYS_MAX];
		char host[32];
		span_t h =
		    span_of(host, (size_t)sprintf(host, "%u.example", i));
		site_rank(order, secret, g, 3, h);
		CHECK(order[0] < 3 && order[1] < 3 && order[2] < 3);
		CHECK(order[0] != order[1] && order[1] != order[2] &&
		    order[0] != order[2]);
		first[order[0]]++;
		if (order[0] == 2)
			second[order[1]]++;
		/* Without the third, nobody else changes places. */
		site_rank(less, secret, g, 2, h);
		CHECK_INT(less[0], order[0] != 2 ? order[0] : order[1]);
	}
	/* By weight, within four standard deviations. */
	for (unsigned i = 0; i < 3; i++) {
		double p = g[i].weight / 6.0, sd = sqrt(SITES * p * (1 - p));
		CHECK(fabs(first[i] - SITES * p) < 4 * sd);
	}
	/* Those of the third spread over the others by weight: 1 to 2. */
	double p = 1 / 3.0, sd = sqrt(first[2] * p * (1 - p));
	CHECK(fabs(second[0] - first[2] * p) < 4 * sd);
	site_rank(order, secret, g, 1, span_str("a"));
	CHECK_INT(order[0], 0);
}

static void
test_circuits(void)
{
	char a[SITE_CIRCUIT_MAX], b[SITE_CIRCUIT_MAX];

	site_circuit(a, UINT64_MAX, UINT64_MAX);
	CHECK_STR(a, "ffffffffffffffff-ffffffffffffffff");
	site_circuit(a, 1, 0);
	site_circuit(b, 1, 1);
	CHECK(strcmp(a, b) != 0);
	CHECK(site_hash(secret, "circuit", 0, span_str("a")) !=
	    site_hash(secret, "slot", 0, span_str("a")));
}

/* --- the gateway's word ------------------------------------------------------------ */

#define EPOCH                                                            \
	"\"version\":1,\"scope\":\"20612\",\"epoch\":20612,"             \
	"\"epoch_length\":86400,\"epoch_end\":1780963200,\"grace\":300," \
	"\"early\":120,\"slots\":1,\"message\":\"5\","
#define ROOTS                                                              \
	"\"roots\":[{\"root\":\"9\",\"depth\":3,\"members\":8,\"group\":"  \
	"\"main\",\"current\":true},{\"root\":\"8\",\"depth\":2,\"group\"" \
	":\"main\",\"current\":false,\"seconds_left\":5}],"
#define GROUPS                                                    \
	"\"groups\":[{\"name\":\"main\",\"requests\":100,"        \
	"\"members_path\":\"/.well-known/postern/members/main\"," \
	"\"ports\":[443]},{\"name\":\"b\"}]"

static void
test_facts(void)
{
	static const char text[] = "{" EPOCH ROOTS GROUPS ",\"new\":1}";
	const uint8_t nine[32] = {[31] = 9}, five[32] = {[31] = 5};
	const uint8_t ten[32] = {[31] = 10};
	struct facts f;
	const char *where;

	CHECK_STATUS(facts_read(&f, &where, text, strlen(text)), ST_OK);
	CHECK(f.rules.length == 86400 && f.rules.grace == 300 &&
	    f.rules.early == 120 && f.rules.slots == 1);
	CHECK_INT(f.epoch, 20612);
	CHECK_MEM(f.message, five, 32);
	CHECK(!f.any_message);
	CHECK(f.n_roots == 2 && f.n_groups == 2);
	CHECK(facts_find_root(&f, nine)->current);
	CHECK_INT(facts_find_root(&f, nine)->depth, 3);
	CHECK(facts_find_root(&f, ten) == NULL);
	CHECK_STR(
	    f.groups[0].members_path, "/.well-known/postern/members/main");
	CHECK_STR(f.groups[1].members_path, "");
}

static void
test_bad_facts(void)
{
	static const struct {
		const char *text, *where;
		enum status status;
	} bad[] = {
	    {"", "", ST_NOT_JSON},
	    {"[]", "", ST_NOT_JSON},
	    {"{" EPOCH ROOTS GROUPS, "", ST_NOT_JSON},
	    {"{" EPOCH EPOCH ROOTS GROUPS "}", "", ST_NOT_JSON},
	    {"{\"version\":2}", "version", ST_BAD_VERSION},
	    {"{" ROOTS GROUPS "}", "version", ST_MISSING},
	    {"{" EPOCH GROUPS "}", "roots", ST_MISSING},
	    {"{" EPOCH ROOTS "\"groups\":{}}", "groups", ST_MISSING},
	    /* A scope that is another's. */
	    {"{\"version\":1,\"scope\":\"20613\",\"epoch\":20612,"
	     "\"epoch_length\":86400,\"grace\":0,\"early\":0,\"slots\":1,"
	     "\"message\":\"5\"," ROOTS GROUPS "}",
		"scope", ST_BAD_VALUE},
	    {"{\"version\":1,\"scope\":\"20612\",\"epoch\":20612,"
	     "\"epoch_length\":86400,\"grace\":0,\"early\":0,\"slots\":2,"
	     "\"message\":\"5\"," ROOTS GROUPS "}",
		"scope", ST_BAD_VALUE},
	    {"{\"version\":1,\"scope\":\"0\",\"epoch\":0,\"epoch_length\":1,"
	     "\"grace\":0,\"early\":0,\"slots\":1,\"message\":\"5\"," ROOTS
		    GROUPS "}",
		"epoch_length", ST_BAD_VALUE},
	    {"{\"version\":1,\"scope\":\"0\",\"epoch\":0,"
	     "\"epoch_length\":86400,\"grace\":0,\"early\":0,\"slots\":9999,"
	     "\"message\":\"5\"," ROOTS GROUPS "}",
		"slots", ST_BAD_VALUE},
	    {"{" EPOCH ROOTS "\"groups\":[{\"name\":\"a\",\"members_path\":"
	     "\"/x HTTP/1.1\\r\\nX: y\"}]}",
		"members_path", ST_BAD_VALUE},
	    {"{" EPOCH ROOTS "\"groups\":[{\"name\":\"a\",\"members_path\":"
	     "\"http://elsewhere/\"}]}",
		"members_path", ST_BAD_VALUE},
	};
	struct facts f, none = {0};
	const char *where;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_STATUS(
		    facts_read(&f, &where, bad[i].text, strlen(bad[i].text)),
		    bad[i].status);
		CHECK_STR(where, bad[i].where);
		CHECK(f.n_roots == none.n_roots && f.rules.length == 0);
	}
}

/* --- the member list ------------------------------------------------------------------ */

static void
test_roster(void)
{
	static const char list[] = "# ours\n5\n7\n9\n";
	const uint8_t seven[32] = {[31] = 7}, eight[32] = {[31] = 8};
	struct roster r;
	char why[ROSTER_WHY_MAX];

	CHECK_STATUS(roster_read(&r, why, list, strlen(list), seven), ST_OK);
	CHECK(r.member && r.members == 3 && r.depth == 2);
	CHECK(group_proof_holds(&r.path));
	CHECK_MEM(r.path.leaf, seven, 32);
	CHECK_MEM(r.path.root, r.root, 32);
	CHECK_STATUS(roster_read(&r, why, list, strlen(list), eight), ST_OK);
	CHECK(!r.member && r.members == 3);
	CHECK_STATUS(roster_read(&r, why, "5\nx\n", 4, seven), ST_BAD_ENCODING);
	CHECK(strstr(why, "line 2") != NULL);
}

/* --- answers to programs ---------------------------------------------------------------- */

static void
test_replies(void)
{
	char text[REPLY_MAX + 1];
	struct outcome o;

	/* Every trouble and every answer of a gateway is one whole response
	 * with a code that fits, and never a 407 but for our own token. */
	for (int t = 1; t < TROUBLE_COUNT; t++) {
		for (enum status s = ST_OK; s < ST_COUNT; s++) {
			if (t != TROUBLE_ANSWER && s != ST_OK)
				break;
			outcome_set(&o, (enum trouble)t, s, "");
			text[reply_http(text, &o)] = '\0';
			CHECK(strncmp(text, "HTTP/1.1 ", 9) == 0);
			int code = atoi(text + 9);
			CHECK(code >= 400 && code < 600);
			CHECK((code == 407) == (t == TROUBLE_TOKEN));
			CHECK((code == 407) ==
			    (strstr(text, "Proxy-Authenticate: Basic ") !=
				NULL));
			const char *length = strstr(text, "Content-Length: ");
			const char *body = strstr(text, "\r\n\r\n");
			CHECK(length != NULL && body != NULL);
			CHECK_INT(atoi(length + 16), strlen(body + 4));
			CHECK(reply_socks(&o) != SOCKS5_DONE);
		}
	}
	outcome_set(&o, TROUBLE_ANSWER, ST_QUOTA_REQUESTS, "");
	o.retry_after = 60;
	text[reply_http(text, &o)] = '\0';
	CHECK(strstr(text, "HTTP/1.1 429 ") == text);
	CHECK(strstr(text, "\r\nRetry-After: 60\r\n") != NULL);
	CHECK(strstr(text, "\"error\":\"quota_requests\"") != NULL);
	/* A gateway's words can not end the head or the string. */
	memset(o.detail, 1, sizeof(o.detail) - 1);
	text[reply_http(text, &o)] = '\0';
	CHECK(strchr(text, 1) == NULL);
	outcome_set(&o, TROUBLE_ANSWER, ST_CONNECT_REFUSED, "");
	CHECK_INT(reply_socks(&o), SOCKS5_REFUSED);
	outcome_set(&o, TROUBLE_ANSWER, ST_TARGET_PORT, "");
	CHECK_INT(reply_socks(&o), SOCKS5_NOT_ALLOWED);
	outcome_set(&o, TROUBLE_ANSWER, ST_DNS_NOT_FOUND, "");
	CHECK_INT(reply_socks(&o), SOCKS5_HOST_UNREACHABLE);
}

static void
test_labels(void)
{
	CHECK_INT(trouble_status_of("root_unknown", 407), ST_ROOT_UNKNOWN);
	CHECK_INT(trouble_status_of("quota_bytes", 429), ST_QUOTA_BYTES);
	/* New errors: by the code. A status that is no answer is none. */
	CHECK_INT(trouble_status_of("something_new", 429), ST_QUOTA_REQUESTS);
	CHECK_INT(trouble_status_of("no_memory", 503), ST_OVERLOADED);
	CHECK_INT(trouble_status_of("", 407), ST_PROOF_INVALID);
	CHECK_INT(trouble_status_of("", 418), ST_INTERNAL);
}

static void
test_tokens(void)
{
	/* postern:letmein, nobody:letmein, postern:letmeiN, a:b:c */
	CHECK(reply_authorized(
	    span_str("Basic cG9zdGVybjpsZXRtZWlu"), "letmein"));
	CHECK(reply_authorized(
	    span_str("bAsIc   bm9ib2R5OmxldG1laW4="), "letmein"));
	CHECK(!reply_authorized(
	    span_str("Basic cG9zdGVybjpsZXRtZWlO"), "letmein"));
	CHECK(reply_authorized(span_str("Basic YTpiOmM="), "b:c"));
	CHECK(!reply_authorized(span_str("Basic cG9zdGVybjpsZXRtZWlu"), NULL));
	CHECK(!reply_authorized(span_str("Basic bGV0bWVpbg=="), "letmein"));
	CHECK(!reply_authorized(span_str("Basic !!!!"), "letmein"));
	CHECK(!reply_authorized(span_str("Basic "), ""));
	CHECK(!reply_authorized(span_str("Bearer letmein"), "letmein"));
	CHECK(!reply_authorized(span_str(""), "letmein"));
	CHECK(reply_password(span_str("x"), "x"));
	CHECK(!reply_password(span_str("xx"), "x"));
	CHECK(!reply_password(span_str(""), NULL));
}

/* --- whose connection ----------------------------------------------------------------------- */

static void
test_peer(void)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int ls = socket(AF_INET, SOCK_STREAM, 0);
	int us = socket(AF_INET, SOCK_STREAM, 0), fd, pair[2];

	CHECK_INT(bind(ls, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_INT(listen(ls, 1), 0);
	CHECK_INT(getsockname(ls, (struct sockaddr *)&at, &len), 0);
	CHECK_INT(connect(us, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK((fd = accept(ls, NULL, NULL)) >= 0);
	CHECK(peer_is_us(fd));
	/* As somebody else would see it. */
	if (geteuid() == 0) {
		CHECK_INT(seteuid(65534), 0);
		CHECK(!peer_is_us(fd));
		CHECK_INT(seteuid(0), 0);
	}
	/* One that has gone belongs to nobody. */
	close(us);
	CHECK(!peer_is_us(fd));
	close(fd);
	close(ls);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	CHECK(peer_is_us(pair[0]));
	close(pair[0]);
	close(pair[1]);
	CHECK(!peer_is_us(-1));
}

/* --- the command line ------------------------------------------------------------------------ */

#define ONION "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"

static void
test_gateway_words(void)
{
	struct client_gateway g;

	CHECK_STATUS(client_args_gateway(&g, ONION), ST_OK);
	CHECK_STR(g.onion, ONION);
	CHECK(g.port == 80 && g.weight == 1);
	CHECK_STATUS(client_args_gateway(&g, ONION ":8080*25"), ST_OK);
	CHECK(g.port == 8080 && g.weight == 25);
	CHECK_STATUS(client_args_gateway(&g, ONION "*3"), ST_OK);
	CHECK(g.port == 80 && g.weight == 3);
	CHECK_STATUS(client_args_gateway(&g, ONION ":0"), ST_BAD_VALUE);
	CHECK_STATUS(client_args_gateway(&g, ONION ":65536"), ST_BAD_VALUE);
	CHECK_STATUS(client_args_gateway(&g, ONION "*0"), ST_BAD_VALUE);
	CHECK_STATUS(client_args_gateway(&g, ONION "*1001"), ST_BAD_VALUE);
	CHECK_STATUS(client_args_gateway(&g, "example.com"), ST_BAD_LENGTH);
	CHECK_STATUS(
	    client_args_gateway(&g,
		"qg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd"
		".onion"),
	    ST_CORRUPT);
	CHECK_INT(g.weight, 0);
}

TESTS({"slots", test_slots}, {"gateways", test_gateways},
    {"circuits", test_circuits}, {"facts", test_facts},
    {"bad facts", test_bad_facts}, {"roster", test_roster},
    {"replies", test_replies}, {"labels", test_labels}, {"tokens", test_tokens},
    {"whose connection", test_peer},
    {"gateways on the command line", test_gateway_words}, )
