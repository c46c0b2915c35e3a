/* postern mix fetch: a page, through mixes and gate. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "cmd/mix.h"
#include "mix/inquiry.h"
#include "store/file.h"

#define TOKEN_MAX 16384

enum option {
	REGISTRY,
	GATE,
	GATE_KEY,
	TOKEN,
	SUITE,
	MEAN,
	BLOCKS,
	DATA,
	HEAD,
	OUTPUT,
	LISTEN,
	ADDRESS,
	TIMEOUT,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [REGISTRY] = MIX_REGISTRY_OPTION,
    [GATE] = {"gate", 'g', "ADDR", "where nodes deliver to the gateway"},
    [GATE_KEY] = {"gate-key", 'k', "HEX",
	"the gateway's key: nobody else reads the request"},
    [TOKEN] = {"token", 0, "TOKEN",
	"the proof, as `postern prove --token` prints it; @FILE: from a file"},
    [SUITE] = MIX_SUITE_OPTION,
    [MEAN] = MIX_MEAN_OPTION,
    [BLOCKS] = {"blocks", 'b', "N",
	"reply blocks: room for so many packets of answer, 32 KB each "
	"(default: 16; at most 255)"},
    [DATA] = {"data", 'd', "TEXT", "POST TEXT instead of GET"},
    [HEAD] = {"include", 'i', NULL, "show the answer's head too"},
    [OUTPUT] = {"output", 'o', "FILE", "write the answer to FILE"},
    [LISTEN] = MIX_LISTEN_OPTION("the answer arrives"),
    [ADDRESS] = MIX_ADDRESS_OPTION,
    [TIMEOUT] = {"timeout", 't', "SECONDS",
	"how long to wait for the answer (default: 60)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--registry FILE --gate ADDR --gate-key HEX --token TOKEN URL",
    .summary = "Fetch URL (https) through three mixes and a gateway, which "
	       "checks the token as for a\nCONNECT, makes the request itself "
	       "and sees it; the answer comes back along reply\nblocks.",
    .options = options,
    .notes = "Exit status: 0 when the target has answered, 1 when the gateway "
	     "refused or the target\nfailed (and why, on standard error), 2 "
	     "when nothing could be sent.",
    .min_args = 1,
    .max_args = 1,
};

/* https://AUTHORITY/PATH. */
struct url {
	char authority[300];
	span_t host, path;
};

static bool
parse_url(struct url *u, const char *text)
{
	static const char scheme[] = "https://";
	const char *host = text + sizeof(scheme) - 1;
	size_t len, port;

	if (strncmp(text, scheme, sizeof(scheme) - 1) != 0)
		return false;
	len = strcspn(host, "/?#");
	port = host[0] == '[' ? strcspn(host, "]") : 0;
	if (len == 0 || len > 256 || memchr(host, '@', len) != NULL)
		return false;
	for (const char *p = text; *p != '\0'; p++) {
		if (*p <= ' ' || *p > '~')
			return false;
	}
	u->host = span_of(host, len);
	u->path = span_of(host + len, strcspn(host + len, "#"));
	bool has_port =
	    port < len && memchr(host + port, ':', len - port) != NULL;
	snprintf(u->authority, sizeof(u->authority), "%.*s%s", (int)len, host,
	    has_port ? "" : ":443");
	return true;
}

/* The HTTP request for the target, to be freed. */
static char *
make_request(size_t *len, const struct url *u, const char *data)
{
	size_t cap = 1024 + u->path.len + u->host.len +
	    (data != NULL ? strlen(data) : 0);
	char *text = malloc(cap);
	struct out o = out_to(text, cap);

	if (text == NULL)
		return NULL;
	out_str(&o, data != NULL ? "POST " : "GET ");
	if (u->path.len == 0 || u->path.ptr[0] != '/')
		out_char(&o, '/');
	out_span(&o, u->path);
	out_str(&o, " HTTP/1.1\r\nHost: ");
	out_span(&o, u->host);
	/* No more than is needed: a head tells who wrote it. */
	out_str(&o, "\r\nAccept: */*\r\nConnection: close\r\n");
	if (data != NULL) {
		out_str(&o,
		    "Content-Type: application/x-www-form-urlencoded\r\n"
		    "Content-Length: ");
		out_decimal(&o, strlen(data));
		out_str(&o, "\r\n");
	}
	out_str(&o, "\r\n");
	if (data != NULL)
		out_str(&o, data);
	(void)out_status(&o, len);
	return text;
}

/* The token of ARG, to be freed; NULL when it can not be read, which has been
 * said. */
static char *
read_token(const char *name, const char *arg)
{
	char *text;
	size_t len;
	enum status st;

	if (arg[0] != '@')
		return strdup(arg);
	st = file_load(&text, &len, arg + 1, TOKEN_MAX, FILE_ANYBODY);
	if (st != ST_OK) {
		cli_error(name, "%s: %s", arg + 1,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return NULL;
	}
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	return text;
}

/* --- the answer ----------------------------------------------------------- */

struct run {
	const char *name, *output;
	struct loop *loop;
	bool over, head;
	int code;
};

/* Write chunk by chunk what TEXT holds (RFC 9112, section 7.1). */
static bool
write_chunks(FILE *out, span_t text)
{
	for (;;) {
		const uint8_t *end = memmem(text.ptr, text.len, "\r\n", 2);
		size_t size = 0, line;
		if (end == NULL)
			return false;
		line = (size_t)(end - text.ptr);
		for (size_t i = 0; i < line && text.ptr[i] != ';'; i++) {
			int digit = text.ptr[i] <= '9'
			    ? text.ptr[i] - '0'
			    : (text.ptr[i] | 32) - 'a' + 10;
			if (digit < 0 || digit > 15 || size > text.len)
				return false;
			size = 16 * size + (size_t)digit;
		}
		text.ptr += line + 2;
		text.len -= line + 2;
		if (size == 0)
			return true;
		if (text.len < size + 2 ||
		    fwrite(text.ptr, 1, size, out) != size)
			return false;
		text.ptr += size + 2;
		text.len -= size + 2;
	}
}

/* The head has Transfer-Encoding: chunked. */
static bool
is_chunked(span_t head)
{
	static const char name[] = "\r\ntransfer-encoding:";

	for (size_t i = 0; i + sizeof(name) < head.len; i++) {
		span_t here = span_of(head.ptr + i, sizeof(name) - 1);
		if (span_equal_nocase(here, span_str(name)))
			return memmem(head.ptr + i, head.len - i, "chunked",
				   7) != NULL;
	}
	return false;
}

/* Write what the target has sent. */
static bool
write_answer(const struct run *r, FILE *out, span_t text)
{
	const uint8_t *end = memmem(text.ptr, text.len, "\r\n\r\n", 4);
	size_t head = end != NULL ? (size_t)(end - text.ptr) + 4 : 0;
	span_t body = span_of(text.ptr + head, text.len - head);

	if (r->head && fwrite(text.ptr, 1, head, out) != head)
		return false;
	if (is_chunked(span_of(text.ptr, head)))
		return write_chunks(out, body);
	return fwrite(body.ptr, 1, body.len, out) == body.len;
}

static int
save(const struct run *r, span_t text)
{
	FILE *out = r->output != NULL ? fopen(r->output, "wb") : stdout;
	bool good;

	if (out == NULL) {
		cli_error(r->name, "%s: %s", r->output, strerror(errno));
		return CLI_ERROR;
	}
	good = write_answer(r, out, text);
	if ((out == stdout ? fflush(out) : fclose(out)) != 0 || !good) {
		cli_error(r->name, "the answer is cut off or malformed");
		return CLI_NO;
	}
	return CLI_OK;
}

static void
on_done(void *arg, enum status st, enum answer_result result, uint8_t flags,
    span_t bytes)
{
	struct run *r = arg;

	r->over = true;
	loop_stop(r->loop);
	r->code = CLI_NO;
	if (st != ST_OK) {
		cli_error(r->name, "%s",
		    st == ST_IDLE
			? "no answer in time (is the gateway there? Can nodes "
			  "reach the address of --listen?)"
			: status_text(st));
		return;
	}
	switch (result) {
	case ANSWER_RELAYED:
		if ((flags & ANSWER_CUT) != 0)
			cli_error(r->name,
			    "the answer is longer than the reply blocks "
			    "(--blocks) have room for, or took too long");
		r->code = save(r, bytes);
		if ((flags & ANSWER_CUT) != 0)
			r->code = CLI_NO;
		break;
	case ANSWER_REFUSED:
		cli_error(r->name, "the gateway refused:");
		cli_cite(bytes);
		break;
	case ANSWER_FAILED:
		cli_error(r->name, "the gateway could not fetch it:");
		cli_cite(bytes);
		break;
	}
}

/* --- the command ---------------------------------------------------------- */

/* What is asked of whom. */
struct order {
	struct url url;
	struct inquiry_gate gate;
	double blocks, timeout;
	enum sphinx_suite suite;
	struct mix_client_config client;
};

static int
fetch(struct run *r, const struct order *o, const char *registry,
    const struct mix_request *request)
{
	struct mix_client *c = NULL;
	struct inquiry *f = NULL;
	struct outbox outbox;
	enum status st;

	if (!mix_open(&r->loop, &outbox, r->name, registry, o->suite))
		return CLI_ERROR;
	st = mix_client_new(&c, &outbox, &o->client);
	if (st == ST_OK)
		st = inquiry_start(&f, c, &outbox, &o->gate, request,
		    (unsigned)o->blocks, (uint64_t)(o->timeout * 1000), on_done,
		    r);
	if (st == ST_OK)
		st = loop_run(r->loop);
	if (st != ST_OK) {
		cli_error(r->name, "%s",
		    st == ST_SYS ? strerror(errno) : status_text(st));
		r->code = CLI_ERROR;
	}
	mix_client_free(&c);
	mix_close(&r->loop, &outbox);
	return r->code;
}

static bool
read_order(
    struct order *o, const char *name, const char *const *v, const char *url)
{
	static const enum option needed[] = {GATE, GATE_KEY, TOKEN};

	for (size_t i = 0; i < 3; i++) {
		if (v[needed[i]] != NULL)
			continue;
		cli_error(name, "--%s %s is missing", options[needed[i]].name,
		    options[needed[i]].arg);
		return false;
	}
	if (!parse_url(&o->url, url)) {
		cli_error(name, "%s: a URL like https://example.com/page", url);
		return false;
	}
	o->blocks = 16;
	o->timeout = 60;
	if (!mix_suite(&o->suite, name, v[SUITE]) ||
	    !mix_client_options(
		&o->client, name, v[LISTEN], v[ADDRESS], v[MEAN]) ||
	    !mix_endpoint(&o->gate.at, name, "--gate", v[GATE], false) ||
	    !mix_number(&o->blocks, name, "--blocks", v[BLOCKS], 1,
		EXCHANGE_BLOCKS_MAX) ||
	    !mix_number(&o->timeout, name, "--timeout", v[TIMEOUT], 0.1, 86400))
		return false;
	if (hex_decode(o->gate.key, sizeof(o->gate.key),
		span_str(v[GATE_KEY])) == ST_OK &&
	    sphinx_id_is_valid(o->gate.key))
		return true;
	cli_error(name,
	    "--gate-key %s: 64 hex digits, as `postern mix keygen` printed "
	    "them",
	    v[GATE_KEY]);
	return false;
}

int
cmd_mix_fetch(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	struct order o;
	struct run r = {.name = name};
	struct mix_request request;
	char *token, *text;
	size_t len;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (!read_order(&o, name, values, argv[args]) ||
	    (token = read_token(name, values[TOKEN])) == NULL)
		return CLI_ERROR;
	r.output = values[OUTPUT];
	r.head = values[HEAD] != NULL;
	text = make_request(&len, &o.url, values[DATA]);
	code = CLI_ERROR;
	if (text != NULL) {
		request.token = span_str(token);
		request.authority = span_str(o.url.authority);
		request.bytes = span_of(text, len);
		code = fetch(&r, &o, values[REGISTRY], &request);
	}
	free(text);
	free(token);
	return code;
}
