#include "cmd/client_args.h"

#include <string.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/crew.h"
#include "cmd/passphrase.h"

#define DEFAULT_LISTEN "127.0.0.1:9055"
#define DEFAULT_TOR "127.0.0.1:9050"
#define DEFAULT_PORT 80
#define WEIGHT_MAX 1000
#define CONNECTIONS_MAX 10000

enum option {
	OPT_IDENTITY,
	OPT_GATEWAY,
	OPT_LISTEN,
	OPT_TOR,
	OPT_MEMBERS,
	OPT_CACERT,
	OPT_ZKEY,
	OPT_VKEY,
	OPT_THREADS,
	OPT_SAME_USER,
	OPT_ISOLATE,
	OPT_AUDIENCE,
	OPT_CONNECTIONS,
	OPT_STATE,
	OPT_PASSPHRASE,
	OPT_RUN,
	OPT_STATUS,
	OPT_ENV,
	OPT_JSON,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [OPT_IDENTITY] = {"identity", 'i', "FILE", "the member's identity"},
    [OPT_GATEWAY] = {"gateway", 'g', "ONION[:PORT][*WEIGHT]",
	"a gateway; several are shared by weight"},
    [OPT_LISTEN] = {"listen", 'l', "ADDRESS",
	"where programs ask, HOST:PORT or unix:PATH; may be given several "
	"times (" DEFAULT_LISTEN ")"},
    [OPT_TOR] = {"tor", 't', "HOST:PORT", "tor's SOCKS port (" DEFAULT_TOR ")"},
    [OPT_MEMBERS] = {"members", 'm', "FILE|URL",
	"the member list; URLs are https://, through tor (the one that the "
	"gateway publishes)"},
    [OPT_CACERT] = {"cacert", 0, "FILE",
	"certificates to trust for that URL (the system's)"},
    [OPT_ZKEY] = {"zkey", 'z', "FILE",
	"the proving key, or a folder of them (else where 'postern artifacts' "
	"finds it)"},
    [OPT_VKEY] = {"vkey", 0, "FILE",
	"the verification key of a proving key from another ceremony"},
    [OPT_THREADS] = {"threads", 0, "N",
	"make a proof with N threads (one for each CPU)"},
    [OPT_SAME_USER] = {"same-user", 0, NULL,
	"let every program of your own user in, without the token"},
    [OPT_ISOLATE] = {"isolate", 0, "WHAT",
	"a circuit of its own for each 'host', each 'connection', or 'none' "
	"(host)"},
    [OPT_AUDIENCE] = {"audience", 0, "N",
	"the message of the proofs (the key in the onion address)"},
    [OPT_CONNECTIONS] = {"connections", 0, "N",
	"at most so many at once (256)"},
    [OPT_STATE] = {"state", 0, "DIR",
	"where proofs and the token are kept (~/.local/state/postern)"},
    [OPT_PASSPHRASE] = PASSPHRASE_OPTION,
    [OPT_RUN] = {"run", 'r', NULL,
	"run COMMAND with its proxy variables set, and end with it"},
    [OPT_STATUS] = {"status", 's', NULL, "ask the client that runs"},
    [OPT_ENV] = {"env", 'e', NULL,
	"print the proxy variables of the client that runs, for a shell"},
    [OPT_JSON] = {"json", 0, NULL, "with --status: as JSON"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--identity FILE --gateway ONION [OPTION...] [--run -- COMMAND "
		"[ARGUMENT...]]\n       postern client --status [--json] | "
		"--env",
    .summary =
	"A proxy on this machine, for HTTP CONNECT and SOCKS5: it makes "
	"a proof once per\nepoch, finds its way through tor to a gateway, "
	"and shows the proof there.",
    .options = options,
    .notes = "Programs show the token as the password of the proxy "
	     "(http://postern:TOKEN@HOST:PORT);\nat a unix socket, and with "
	     "--same-user, they need none. To use it in a shell:\n"
	     "    eval \"$(postern client --env)\"",
    .min_args = 0,
    .max_args = -1,
};

/* A reading of the command line. */
struct reading {
	const char *name;
	const char *values[OPTIONS];
	int argc;
	char **argv;
};

static bool
bad(const struct reading *r, enum option o, const char *text, const char *why)
{
	cli_error(r->name, "--%s %s: %s", options[o].name, text, why);
	return false;
}

/* Read option O as a number from MIN to MAX; 0 when it is not given. */
static bool
number(const struct reading *r, enum option o, uint64_t min, uint64_t max,
    unsigned *out)
{
	uint64_t n = 0;

	*out = 0;
	if (!cli_number(&n, r->name, options[o].name, r->values[o], min, max))
		return false;
	*out = (unsigned)n;
	return true;
}

enum status
client_args_gateway(struct client_gateway *out, const char *text)
{
	const char *star = strchr(text, '*');
	size_t len = star != NULL ? (size_t)(star - text) : strlen(text);
	const char *colon = memchr(text, ':', len);
	uint64_t port = DEFAULT_PORT, weight = 1;
	uint8_t key[32];
	enum status st;

	*out = (struct client_gateway){{0}, 0, 0};
	if (star != NULL &&
	    (decimal_u64(&weight, span_str(star + 1), WEIGHT_MAX) != ST_OK ||
		weight == 0))
		return ST_BAD_VALUE;
	if (colon != NULL) {
		size_t at = (size_t)(colon - text);
		if (decimal_u64(&port, span_of(colon + 1, len - at - 1),
			UINT16_MAX) != ST_OK ||
		    port == 0)
			return ST_BAD_VALUE;
		len = at;
	}
	st = onion_decode(key, span_of(text, len));
	if (st != ST_OK)
		return st;
	onion_encode(out->onion, key);
	out->port = (uint16_t)port;
	out->weight = (unsigned)weight;
	return ST_OK;
}

static bool
read_gateways(struct client_config *c, const struct reading *r)
{
	char *texts[SITE_GATEWAYS_MAX];
	size_t n = cli_repeated(texts, SITE_GATEWAYS_MAX, &spec, r->argc,
	    r->argv, options[OPT_GATEWAY].name);

	if (n == 0) {
		cli_error(r->name,
		    "which gateway? (give its address: --gateway "
		    "ADDRESS.onion)");
		return false;
	}
	if (n > SITE_GATEWAYS_MAX)
		return bad(r, OPT_GATEWAY, "", "too many of them");
	for (size_t i = 0; i < n; i++) {
		struct client_gateway *g = &c->gateways[c->n_gateways];
		enum status st = client_args_gateway(g, texts[i]);
		if (st == ST_BAD_VALUE)
			return bad(r, OPT_GATEWAY, texts[i],
			    "a port is 1 to 65535, a weight 1 to 1000");
		if (st == ST_CORRUPT)
			return bad(r, OPT_GATEWAY, texts[i],
			    "its checksum is wrong: a typing mistake");
		if (st != ST_OK)
			return bad(r, OPT_GATEWAY, texts[i],
			    "not a v3 onion address (56 characters and "
			    ".onion)");
		for (unsigned j = 0; j < c->n_gateways; j++) {
			if (strcmp(g->onion, c->gateways[j].onion) == 0)
				return bad(
				    r, OPT_GATEWAY, texts[i], "there twice");
		}
		c->n_gateways++;
	}
	return true;
}

static bool
read_listeners(struct client_args *out, const struct reading *r)
{
	struct client_config *c = &out->config;
	char *texts[CLIENT_LISTENERS_MAX];
	size_t n = cli_repeated(texts, CLIENT_LISTENERS_MAX, &spec, r->argc,
	    r->argv, options[OPT_LISTEN].name);

	if (n > CLIENT_LISTENERS_MAX)
		return bad(r, OPT_LISTEN, "", "too many of them");
	for (size_t i = 0; i < n; i++) {
		char path[LISTENER_PATH_MAX];
		struct listener_config lc = {0};
		if (listener_parse(&lc, path, span_str(texts[i])) != ST_OK ||
		    lc.kind == LISTEN_FD)
			return bad(r, OPT_LISTEN, texts[i],
			    "not HOST:PORT or unix:PATH");
		c->listen[i] = texts[i];
	}
	c->n_listen = n;
	if (n == 0) {
		/* One program needs no port that others know of. */
		c->listen[0] = out->run ? "127.0.0.1:0" : DEFAULT_LISTEN;
		c->n_listen = 1;
	}
	return true;
}

static bool
read_isolation(struct client_config *c, const struct reading *r)
{
	static const struct {
		const char *word;
		enum client_isolation value;
	} words[] = {
	    {"host", CLIENT_PER_HOST},
	    {"connection", CLIENT_PER_CONNECTION},
	    {"none", CLIENT_SHARED},
	};
	const char *text = r->values[OPT_ISOLATE];

	if (text == NULL)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, text) == 0) {
			c->isolation = words[i].value;
			return true;
		}
	}
	return bad(r, OPT_ISOLATE, text, "one of host, connection, none");
}

static bool
read_addresses(struct client_config *c, const struct reading *r)
{
	const char *tor =
	    r->values[OPT_TOR] != NULL ? r->values[OPT_TOR] : DEFAULT_TOR;
	const char *audience = r->values[OPT_AUDIENCE];

	if (endpoint_parse(&c->tor, span_str(tor)) != ST_OK)
		return bad(
		    r, OPT_TOR, tor, "not ADDRESS:PORT, such as " DEFAULT_TOR);
	c->has_audience = audience != NULL;
	if (audience != NULL &&
	    decimal_decode(c->audience, span_str(audience)) != ST_OK)
		return bad(
		    r, OPT_AUDIENCE, audience, "not a number below 2^256");
	return true;
}

static bool
read_options(struct client_args *out, const struct reading *r)
{
	struct client_config *c = &out->config;

	if (out->run && out->first >= r->argc) {
		cli_error(
		    r->name, "run what? (postern client ... --run -- COMMAND)");
		return false;
	}
	if (!out->run && out->first < r->argc) {
		cli_error(
		    r->name, "one argument too many: %s", r->argv[out->first]);
		return false;
	}
	if (out->ask || out->env)
		return true;
	if (out->identity == NULL) {
		cli_error(r->name,
		    "whose? (--identity FILE; postern identity new makes "
		    "one)");
		return false;
	}
	out->members = r->values[OPT_MEMBERS];
	out->cacert = r->values[OPT_CACERT];
	c->own_list = out->members != NULL;
	c->same_user = r->values[OPT_SAME_USER] != NULL;
	out->mint.zkey = r->values[OPT_ZKEY];
	out->mint.vkey = r->values[OPT_VKEY];
	return number(r, OPT_THREADS, 1, CREW_MAX, &out->mint.threads) &&
	    number(r, OPT_CONNECTIONS, 1, CONNECTIONS_MAX, &c->capacity) &&
	    read_isolation(c, r) && read_addresses(c, r) &&
	    read_gateways(c, r) && read_listeners(out, r);
}

int
client_args_parse(struct client_args *out, int argc, char **argv)
{
	struct reading r = {.name = argv[0], .argc = argc, .argv = argv};
	int code;

	*out = (struct client_args){0};
	code = cli_parse(&spec, argc, argv, r.values, &out->first);
	if (code >= 0)
		return code;
	out->identity = r.values[OPT_IDENTITY];
	out->passphrase_fd = r.values[OPT_PASSPHRASE];
	out->state = r.values[OPT_STATE];
	out->run = r.values[OPT_RUN] != NULL;
	out->ask = r.values[OPT_STATUS] != NULL;
	out->env = r.values[OPT_ENV] != NULL;
	out->json = r.values[OPT_JSON] != NULL;
	return read_options(out, &r) ? -1 : CLI_ERROR;
}
