/* postern verify: check proofs offline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/span.h"
#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "gate/audience.h"
#include "postern/semaphore.h"
#include "semaphore/proof_json.h"
#include "store/file.h"

/* More than any proof with room for members of the user's own: a file, or a
 * line, that is longer is no proof. */
#define PROOF_MAX ((size_t)1 << 20)

/* So many are verified together where they are all there already. */
#define TOGETHER 64

enum option {
	OPT_NDJSON,
	OPT_TOKEN,
	OPT_ONION,
	OPT_MESSAGE,
	OPT_EPOCH,
	OPT_SCOPE,
	OPT_JSON,
	OPT_KEY,
	OPT_KERNEL,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [OPT_NDJSON] = {"ndjson", 0, NULL,
	"each line is a proof, or an object with a member \"proof\""},
    [OPT_TOKEN] = {"token", 0, NULL,
	"tokens, a line each, as Proxy-Authorization carries them"},
    [OPT_ONION] = {"onion", 0, "ADDRESS",
	"the gateway's onion address: its key is the message of compact "
	"tokens"},
    [OPT_MESSAGE] = {"message", 0, "N", "the message itself"},
    [OPT_EPOCH] = {"epoch", 0, "N",
	"the scope of compact tokens (else what each one says)"},
    [OPT_SCOPE] = {"scope", 0, "N",
	"the scope itself, for gateways with a realm or slots"},
    [OPT_JSON] = {"json", 0, NULL,
	"answer in JSON: {\"valid\":true}, or false and a \"reason\""},
    [OPT_KEY] = {"key", 0, "DEPTH:FILE",
	"take the verification key of DEPTH from FILE (snarkjs's JSON)"},
    [OPT_KERNEL] = {"kernel", 0, "NAME", "arithmetic to use (for tests)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "[--ndjson|--token [--onion ADDRESS]] [FILE|-]",
    .summary = "Verify Semaphore v4 proofs. Prints a line for each: \"valid\", "
	       "or \"invalid: \" and the\nreason. Exits with 0 if all are "
	       "valid, 1 if some are not, 2 if FILE can not be read.",
    .options = options,
    .notes = "A proof is the JSON object that the official library makes. A "
	     "compact token does\nnot hold its message: say it with --onion or "
	     "--message.",
    .max_args = 1,
};

/* A proof that has been read, or why it was not. */
struct pending {
	struct semaphore_proof proof;
	struct semaphore_fault fault;
	const char *reason; /* one of ours; NULL: the fault says it */
};

struct verifier {
	const char *name; /* of the command, for errors */
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;
	bool tokens, has_message, has_scope;
	bool lacks_message; /* a token came that needs one */
	uint8_t message[32], scope[32]; /* of compact tokens */
	bool json;
	bool all_valid;
	size_t n; /* pending */
	struct pending pending[TOGETHER];
};

/* --- keys --- */

/* Take the key that VALUE, "DEPTH:FILE", names. */
static enum status
take_key(struct verifier *v, const char *value)
{
	const char *colon = strchr(value, ':'), *where = "";
	uint64_t depth = 0;
	char *text;
	size_t len;
	enum status st;

	if (colon == NULL ||
	    decimal_u64(&depth, span_of(value, (size_t)(colon - value)),
		SEMAPHORE_DEPTH_MAX) != ST_OK ||
	    depth < SEMAPHORE_DEPTH_MIN) {
		cli_error(v->name,
		    "--key %s: not DEPTH:FILE, DEPTH from %d "
		    "to %d",
		    value, SEMAPHORE_DEPTH_MIN, SEMAPHORE_DEPTH_MAX);
		return ST_BAD_VALUE;
	}
	st = file_load(&text, &len, colon + 1, PROOF_MAX, FILE_ANYBODY);
	if (st != ST_OK) {
		cli_error(v->name, "%s: %s", colon + 1,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return st;
	}
	st = semaphore_keys_set(v->keys, (uint32_t)depth, text, len, &where);
	free(text);
	if (st != ST_OK)
		cli_error(v->name, "%s: %s%s%s", colon + 1, where,
		    where[0] != '\0' ? ": " : "", status_text(st));
	return st;
}

/* The scope of EPOCH where there are no realm and no slots: its number. */
static void
scope_of_epoch(uint8_t scope[static 32], uint32_t epoch)
{
	memset(scope, 0, 28);
	store_be32(scope + 28, epoch);
}

/* Take what compact tokens do not say. */
static enum status
take_statement(struct verifier *v, const char *const *values)
{
	const char *onion = values[OPT_ONION], *message = values[OPT_MESSAGE];
	const char *epoch = values[OPT_EPOCH], *scope = values[OPT_SCOPE];
	uint64_t n;

	v->has_message = onion != NULL || message != NULL;
	v->has_scope = epoch != NULL || scope != NULL;
	if ((onion != NULL && message != NULL) ||
	    (epoch != NULL && scope != NULL)) {
		cli_error(v->name,
		    "give one of --onion and --message, and one of --epoch and "
		    "--scope");
		return ST_BAD_VALUE;
	}
	if (onion != NULL &&
	    onion_decode(v->message, span_str(onion)) != ST_OK) {
		cli_error(v->name,
		    "--onion: not the address of an onion "
		    "service (56 letters and digits, .onion)");
		return ST_BAD_VALUE;
	}
	if ((message != NULL &&
		decimal_decode(v->message, span_str(message)) != ST_OK) ||
	    (scope != NULL &&
		decimal_decode(v->scope, span_str(scope)) != ST_OK)) {
		cli_error(
		    v->name, "--message and --scope are numbers below 2^256");
		return ST_BAD_VALUE;
	}
	if (!cli_number(&n, v->name, "epoch", epoch, 0, UINT32_MAX))
		return ST_BAD_VALUE;
	if (epoch != NULL)
		scope_of_epoch(v->scope, (uint32_t)n);
	return ST_OK;
}

static enum status
verifier_init(struct verifier *v, const char *name, const char *const *values)
{
	enum status st;

	*v = (struct verifier){.name = name, .all_valid = true};
	v->json = values[OPT_JSON] != NULL;
	v->tokens = values[OPT_TOKEN] != NULL;
	if (sodium_init() < 0) {
		cli_error(name, "libsodium does not start");
		return ST_RANDOM;
	}
	/* Keys are made ready as their depths come up. */
	st = semaphore_keys_new(&v->keys, 0, values[OPT_KERNEL]);
	if (st == ST_OK)
		st = semaphore_memo_new(&v->memo, v->keys);
	if (st != ST_OK) {
		cli_error(name, "%s%s",
		    values[OPT_KERNEL] != NULL ? "--kernel: " : "",
		    status_text(st));
		return st;
	}
	st = take_statement(v, values);
	if (st == ST_OK && values[OPT_KEY] != NULL)
		st = take_key(v, values[OPT_KEY]);
	return st;
}

static void
verifier_clear(struct verifier *v)
{
	semaphore_memo_free(v->memo);
	semaphore_keys_free(v->keys);
}

/* --- proofs --- */

/* Read the proof in TEXT: it, or its member "proof". */
static enum status
read_json(struct pending *p, span_t text)
{
	json_t *root;
	const json_t *inner;
	enum status st;

	st = semaphore_json_load(&root, text.ptr, text.len, &p->fault);
	if (st != ST_OK)
		return st;
	inner = json_object_get(root, "proof");
	if (inner != NULL && !json_is_object(inner))
		p->reason = "proof: not a JSON object";
	st = semaphore_proof_from_value(
	    &p->proof, inner != NULL ? inner : root, &p->fault);
	json_decref(root);
	return st;
}

static void
read_token(struct verifier *v, struct pending *p, span_t text)
{
	struct semaphore_token t;

	if (text.len > 0 && text.ptr[text.len - 1] == '\r')
		text.len--;
	if (semaphore_token_decode(
		&p->proof, &t, text.ptr, text.len, &p->fault) != ST_OK ||
	    t.kind != SEMAPHORE_TOKEN_COMPACT)
		return;
	if (!v->has_message) {
		p->fault.status = ST_MISSING;
		p->reason = "for which gateway? (give --onion or --message)";
		v->lacks_message = true;
		return;
	}
	memcpy(p->proof.message, v->message, 32);
	if (v->has_scope)
		memcpy(p->proof.scope, v->scope, 32);
	else
		scope_of_epoch(p->proof.scope, t.epoch);
}

/* Read TEXT as the next pending proof. */
static void
take_proof(struct verifier *v, span_t text)
{
	struct pending *p = &v->pending[v->n++];
	enum status st;

	*p = (struct pending){.reason = NULL};
	if (text.len > PROOF_MAX) {
		p->fault.status = ST_NO_SPACE;
		p->reason = "longer than any proof";
		return;
	}
	if (v->tokens)
		read_token(v, p, text);
	else if (read_json(p, text) != ST_OK)
		return;
	if (p->fault.status != ST_OK)
		return;
	st = semaphore_keys_need(v->keys, p->proof.depth);
	if (st != ST_OK)
		p->fault = (struct semaphore_fault){.status = st, .index = -1};
}

/* Print what came out; REASON is NULL for a proof that holds. The reasons are
 * ours and need no escaping in JSON. */
static void
answer(struct verifier *v, const char *reason)
{
	if (reason != NULL)
		v->all_valid = false;
	if (v->json && reason == NULL)
		puts("{\"valid\":true}");
	else if (v->json)
		printf("{\"valid\":false,\"reason\":\"%s\"}\n", reason);
	else if (reason == NULL)
		puts("valid");
	else
		printf("invalid: %s\n", reason);
}

/* Verify what has been read so far.
 * Returns: ST_OK; ST_NO_MEMORY. */
static enum status
verify_pending(struct verifier *v)
{
	const struct semaphore_proof *proofs[TOGETHER];
	struct semaphore_fault faults[TOGETHER];
	struct pending *which[TOGETHER];
	uint8_t random[16 * TOGETHER];
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (v->pending[i].fault.status != ST_OK)
			continue;
		which[n] = &v->pending[i];
		proofs[n++] = &v->pending[i].proof;
	}
	randombytes_buf(random, 16 * n);
	if (semaphore_verify_batch(
		v->keys, v->memo, faults, proofs, n, random) != ST_OK)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < n; i++)
		which[i]->fault = faults[i];
	return ST_OK;
}

/* Verify and answer all that is pending, in order. */
static enum status
answer_pending(struct verifier *v)
{
	char say[SEMAPHORE_FAULT_MAX];
	enum status st = verify_pending(v);

	for (size_t i = 0; i < v->n && st == ST_OK; i++) {
		const struct pending *p = &v->pending[i];
		if (p->reason != NULL)
			answer(v, p->reason);
		else if (p->fault.status != ST_OK)
			answer(v, semaphore_fault_text(say, &p->fault));
		else
			answer(v, NULL);
	}
	v->n = 0;
	fflush(stdout);
	return st;
}

/* --- files --- */

/* Whether all of IN is there already; else somebody may wait for an answer
 * before sending the next line. */
static bool
is_regular(FILE *in)
{
	struct stat st;

	return fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode);
}

/* Verify the lines of IN.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS. */
static enum status
verify_lines(struct verifier *v, FILE *in)
{
	char *line = malloc(PROOF_MAX + 1);
	size_t len = 0, together = is_regular(in) ? TOGETHER : 1;
	enum status st = line != NULL ? ST_OK : ST_NO_MEMORY;
	int c = 0;

	/* A line's bytes beyond the limit are counted, not kept. */
	while (st == ST_OK && c != EOF) {
		c = getc_unlocked(in);
		if (c != '\n' && c != EOF) {
			if (len < PROOF_MAX)
				line[len] = (char)c;
			len += len <= PROOF_MAX;
			continue;
		}
		if (c == '\n' || len != 0)
			take_proof(v, span_of(line, len));
		len = 0;
		if (v->n == together || (c == EOF && v->n != 0))
			st = answer_pending(v);
	}
	free(line);
	return st == ST_OK && ferror(in) ? ST_SYS : st;
}

static enum status
verify_whole(struct verifier *v, FILE *in)
{
	char *text;
	size_t len;
	enum status st = file_load_fd(&text, &len, fileno(in), PROOF_MAX);

	if (st != ST_OK)
		return st;
	take_proof(v, span_of(text, len));
	free(text);
	return answer_pending(v);
}

static int
verify_file(struct verifier *v, const char *path, bool lines)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	enum status st = ST_SYS;

	if (in != NULL && lines)
		st = verify_lines(v, in);
	else if (in != NULL)
		st = verify_whole(v, in);
	if (st == ST_NO_SPACE)
		cli_error(v->name,
		    "%s: longer than any proof (--ndjson for many)", path);
	else if (st != ST_OK)
		cli_error(v->name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	if (in != NULL && !is_stdin)
		fclose(in);
	if (v->lacks_message)
		cli_error(v->name,
		    "a compact token does not say which gateway it is for: "
		    "give "
		    "--onion ADDRESS or --message N");
	if (st != ST_OK || v->lacks_message)
		return CLI_ERROR;
	return v->all_valid ? CLI_OK : CLI_NO;
}

int
cmd_verify(int argc, char **argv)
{
	static struct verifier v; /* too large for the stack */
	const char *values[OPTIONS];
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	code = CLI_ERROR;
	if (verifier_init(&v, argv[0], values) == ST_OK)
		code = verify_file(&v, args < argc ? argv[args] : "-",
		    values[OPT_NDJSON] != NULL || v.tokens);
	verifier_clear(&v);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error(argv[0], "standard output: %s", strerror(errno));
		code = CLI_ERROR;
	}
	return code;
}
