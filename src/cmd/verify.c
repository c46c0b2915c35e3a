/* postern verify: check proofs offline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/span.h"
#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "postern/semaphore.h"
#include "semaphore/proof_json.h"
#include "store/file.h"

/* More than any proof with room for members of the user's own: a file, or a
 * line, that is longer is no proof. */
#define PROOF_MAX ((size_t)1 << 20)

enum option { OPT_NDJSON, OPT_JSON, OPT_KEY, OPT_KERNEL, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [OPT_NDJSON] = {"ndjson", 0, NULL,
	"each line is a proof, or an object with a member \"proof\""},
    [OPT_JSON] = {"json", 0, NULL,
	"answer in JSON: {\"valid\":true}, or false and a \"reason\""},
    [OPT_KEY] = {"key", 0, "DEPTH:FILE",
	"take the verification key of DEPTH from FILE (snarkjs's JSON)"},
    [OPT_KERNEL] = {"kernel", 0, "NAME", "arithmetic to use (for tests)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "[--ndjson] [FILE|-]",
    .summary = "Verify Semaphore v4 proofs. Prints a line for each: \"valid\", "
	       "or \"invalid: \" and the\nreason. Exits with 0 if all are "
	       "valid, 1 if some are not, 2 if FILE can not be read.",
    .options = options,
    .notes = "A proof is the JSON object that the official library makes.",
    .max_args = 1,
};

struct verifier {
	const char *name; /* of the command, for errors */
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;
	bool json;
	bool all_valid;
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

static enum status
verifier_init(struct verifier *v, const char *name, const char *const *values)
{
	enum status st;

	*v = (struct verifier){.name = name, .all_valid = true};
	v->json = values[OPT_JSON] != NULL;
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
	return values[OPT_KEY] != NULL ? take_key(v, values[OPT_KEY]) : ST_OK;
}

static void
verifier_clear(struct verifier *v)
{
	semaphore_memo_free(v->memo);
	semaphore_keys_free(v->keys);
}

/* --- one proof --- */

/* Read the proof in TEXT: it, or its member "proof". */
static enum status
read_proof(struct semaphore_proof *p, span_t text, struct semaphore_fault *f)
{
	json_t *root;
	const json_t *inner;
	enum status st;

	st = semaphore_json_load(&root, text.ptr, text.len, f);
	if (st != ST_OK)
		return st;
	inner = json_object_get(root, "proof");
	st = semaphore_proof_from_value(p, inner != NULL ? inner : root, f);
	json_decref(root);
	return st;
}

static enum status
verify(struct verifier *v, span_t text, struct semaphore_fault *f)
{
	struct semaphore_proof p;
	enum status st;

	if (read_proof(&p, text, f) != ST_OK)
		return f->status;
	st = semaphore_keys_need(v->keys, p.depth);
	if (st != ST_OK) {
		*f = (struct semaphore_fault){.status = st, .index = -1};
		return st;
	}
	return semaphore_verify(v->keys, v->memo, &p, f);
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

static void
answer_to(struct verifier *v, span_t text)
{
	char say[SEMAPHORE_FAULT_MAX];
	struct semaphore_fault f;

	if (text.len > PROOF_MAX)
		answer(v, "longer than any proof");
	else if (verify(v, text, &f) == ST_OK)
		answer(v, NULL);
	else
		answer(v, semaphore_fault_text(say, &f));
}

/* --- files --- */

/* Verify the lines of IN, each as it comes: somebody may wait for the answer
 * before sending the next.
 * Returns: ST_OK; ST_SYS. */
static enum status
verify_lines(struct verifier *v, FILE *in)
{
	char *line = malloc(PROOF_MAX + 1);
	size_t len = 0;
	int c = 0;

	if (line == NULL)
		return ST_NO_MEMORY;
	/* A line's bytes beyond the limit are counted, not kept. */
	while (c != EOF) {
		c = getc_unlocked(in);
		if (c != '\n' && c != EOF) {
			if (len < PROOF_MAX)
				line[len] = (char)c;
			len += len <= PROOF_MAX;
			continue;
		}
		if (c == EOF && len == 0)
			break;
		answer_to(v, span_of(line, len));
		fflush(stdout);
		len = 0;
	}
	free(line);
	return ferror(in) ? ST_SYS : ST_OK;
}

static enum status
verify_whole(struct verifier *v, int fd)
{
	char *text;
	size_t len;
	enum status st = file_load_fd(&text, &len, fd, PROOF_MAX);

	if (st != ST_OK)
		return st;
	answer_to(v, span_of(text, len));
	free(text);
	return ST_OK;
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
		st = verify_whole(v, fileno(in));
	if (st != ST_OK)
		cli_error(v->name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	if (in != NULL && !is_stdin)
		fclose(in);
	if (st != ST_OK)
		return CLI_ERROR;
	return v->all_valid ? CLI_OK : CLI_NO;
}

int
cmd_verify(int argc, char **argv)
{
	const char *values[OPTIONS];
	struct verifier v;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	code = CLI_ERROR;
	if (verifier_init(&v, argv[0], values) == ST_OK)
		code = verify_file(&v, args < argc ? argv[args] : "-",
		    values[OPT_NDJSON] != NULL);
	verifier_clear(&v);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error(argv[0], "standard output: %s", strerror(errno));
		code = CLI_ERROR;
	}
	return code;
}
