/* postern verify, as scripts run it. */
#include "program.h"
#include "proof_util.h"

#include "base/text.h"

static struct program p;
static char folder[32];

static void
write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL && fwrite(text, 1, len, f) == len && fclose(f) == 0);
}

static char *
proof_text(const json_t *all, size_t i)
{
	struct draft d = draft_of(all, i);

	return draft_text(&d);
}

/* Run verify --ndjson over LINES. */
static void
run_lines(const char *lines)
{
	program_run(
	    &p, lines, (const char *const[]){"verify", "--ndjson", "-", NULL});
}

static void
test_one(void)
{
	json_t *all = proofs_load();
	char *text = proof_text(all, 9), *spaced;

	program_enter(folder);
	write_file("good", text, strlen(text));
	RUN(&p, "verify", "good");
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, "valid\n");
	CHECK_STR(p.err, "");
	program_run(&p, text, (const char *const[]){"verify", NULL});
	CHECK_STR(p.out, "valid\n");
	/* Over several lines, as JSON.stringify(proof, null, 2) has it. */
	spaced = json_text(
	    json_object_get(json_array_get(all, 9), "proof"), JSON_INDENT(2));
	write_file("spaced", spaced, strlen(spaced));
	RUN(&p, "verify", "spaced");
	CHECK_STR(p.out, "valid\n");
	/* The whole entry of the vectors, which has a member "proof". */
	spaced = json_text(json_array_get(all, 9), JSON_INDENT(2));
	program_run(&p, spaced, (const char *const[]){"verify", "-", NULL});
	CHECK_STR(p.out, "valid\n");
	*strstr(text, "message") = 'M';
	write_file("bad", text, strlen(text));
	RUN(&p, "verify", "bad");
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out, "invalid: message: missing\n");
	RUN(&p, "verify", "none");
	CHECK_CODE(&p, 2);
	CHECK_STR(p.out, "");
	CHECK_HAS(p.err, "none: No such file");
	RUN(&p, "verify", ".");
	CHECK_CODE(&p, 2);
	RUN(&p, "verify", "a", "b");
	CHECK_CODE(&p, 2);
	LEAVE(folder, "good", "spaced", "bad");
}

static void
test_all(void)
{
	json_t *all = proofs_load();
	char *lines = text_of("%s", "");

	for (size_t i = 0; i < PROOFS; i++) {
		char *line = json_text(i % 2 == 0
			? json_array_get(all, i)
			: json_object_get(json_array_get(all, i), "proof"),
		    JSON_COMPACT);
		lines = text_of("%s%s%s", lines, i != 0 ? "\n" : "", line);
	}
	program_enter(folder);
	write_file("all", lines, strlen(lines));
	RUN(&p, "verify", "--ndjson", "all");
	CHECK_CODE(&p, 0);
	CHECK_INT(strlen(p.out), PROOFS * 6);
	for (size_t i = 0; i < PROOFS; i++)
		CHECK_MEM(p.out + 6 * i, "valid\n", 6);
	LEAVE(folder, "all");
}

/* One answer a line, in order, whatever is on it. */
static void
test_lines(void)
{
	json_t *all = proofs_load();
	char *a = proof_text(all, 0), *b = proof_text(all, 1), *lines;
	struct draft d = draft_of(all, 0);
	char *big;

	d.nullifier = draft_of(all, 1).nullifier;
	lines =
	    text_of("%s\n\n%s\r\n{}\n%s\n{\"proof\":%s}\n{\"proof\":3}\n[%s]"
		    "\n%s",
		a, b, draft_text(&d), b, a, b);
	run_lines(lines);
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out,
	    "valid\n"
	    "invalid: not JSON, at byte 0\n"
	    "valid\n"
	    "invalid: merkleTreeDepth: missing\n"
	    "invalid: the proof does not hold\n"
	    "valid\n"
	    "invalid: proof: not a JSON object\n"
	    "invalid: not a JSON object\n"
	    "valid\n");
	run_lines("");
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, "");
	run_lines("\n");
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out, "invalid: not JSON, at byte 0\n");
	/* Two mebibytes of white space, then a good one. */
	big = kept((2 << 20) + strlen(a) + 2);
	memset(big, ' ', 2 << 20);
	sprintf(big + (2 << 20), "\n%s", a);
	run_lines(big);
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out, "invalid: longer than any proof\nvalid\n");
	*strchr(big, '\n') = ' ';
	program_run(&p, big, (const char *const[]){"verify", NULL});
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "longer than any proof (--ndjson for many)");
}

static void
test_json_answers(void)
{
	json_t *all = proofs_load();
	char *a = proof_text(all, 0);

	program_run(&p, text_of("%s\nx\n", a),
	    (const char *const[]){"verify", "--ndjson", "--json", NULL});
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out,
	    "{\"valid\":true}\n"
	    "{\"valid\":false,\"reason\":\"not JSON, at byte 1\"}\n");
}

static void
test_keys(void)
{
	json_t *all = proofs_load();
	char *a = proof_text(all, 0);
	char *other = text_of("1:%s/vectors/vkey-20.json", TESTS_DIR);
	char *same = text_of("1:%s/vectors/vkey-1.json", TESTS_DIR);

	program_run(
	    &p, a, (const char *const[]){"verify", "--key", same, NULL});
	CHECK_STR(p.out, "valid\n");
	program_run(
	    &p, a, (const char *const[]){"verify", "--key", other, NULL});
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out, "invalid: the proof does not hold\n");
	RUN(&p, "verify", "--key", "33:x");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "--key 33:x: not DEPTH:FILE");
	RUN(&p, "verify", "--key", "x");
	CHECK_HAS(p.err, "not DEPTH:FILE");
	RUN(&p, "verify", "--key", "3:none");
	CHECK_HAS(p.err, "none: No such file");
	program_enter(folder);
	write_file("k", "{\"protocol\":1}", 14);
	RUN(&p, "verify", "--key", "3:k");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "k: protocol: of the wrong type");
	LEAVE(folder, "k");
	RUN(&p, "verify", "--kernel", "abacus");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "--kernel");
}

static void
test_tokens(void)
{
	json_t *all = proofs_load();
	char *json = proof_text(all, 0);
	char json_token[3000], compact[SEMAPHORE_COMPACT_LENGTH + 1], *lines;
	struct semaphore_proof proof;
	struct semaphore_fault f;

	base64_encode(json_token, span_str(json), BASE64_URL);
	CHECK_STATUS(
	    semaphore_proof_from_json(&proof, json, strlen(json), &f), ST_OK);
	CHECK_STATUS(semaphore_proof_compress(&proof, &f), ST_OK);
	CHECK_STATUS(semaphore_token_compact(compact, &proof, 1, 0), ST_OK);
	lines = text_of("%s\n%s\r\n%sA\n\n", json_token, compact, compact);
	program_run(&p, lines,
	    (const char *const[]){"verify", "--token", "--message", "1",
		"--scope", "20612", NULL});
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out,
	    "valid\nvalid\ninvalid: bytes after the end\n"
	    "invalid: neither JSON nor a compact token of this version\n");
	program_run(&p, lines,
	    (const char *const[]){"verify", "--token", "--message", "1",
		"--scope", "20613", NULL});
	CHECK_HAS(p.out, "valid\ninvalid: the proof does not hold\n");
	program_run(
	    &p, lines, (const char *const[]){"verify", "--token", NULL});
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.out, "valid\ninvalid: for which gateway?");
	CHECK_HAS(p.err, "give --onion ADDRESS or --message N");
	/* The token says which epoch it is of; another may be asked for. */
	CHECK_STATUS(semaphore_token_compact(compact, &proof, 20612, 0), ST_OK);
	program_run(&p, compact,
	    (const char *const[]){"verify", "--token", "--message", "1", NULL});
	CHECK_CODE(&p, 0);
	CHECK_STR(p.out, "valid\n");
	program_run(&p, compact,
	    (const char *const[]){"verify", "--token", "--message", "1",
		"--epoch", "20612", NULL});
	CHECK_CODE(&p, 0);
	program_run(&p, compact,
	    (const char *const[]){"verify", "--token", "--message", "1",
		"--epoch", "20613", NULL});
	CHECK_CODE(&p, 1);
	RUN(&p, "verify", "--token", "--epoch", "1", "--scope", "1");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "one of --epoch and --scope");
	RUN(&p, "verify", "--token", "--onion", "abc.onion");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "--onion: not the address");
	RUN(&p, "verify", "--token", "--message", "1", "--scope", "x");
	CHECK_CODE(&p, 2);
}

/* More lines in a file than are verified together, bad ones among them. */
static void
test_many_lines(void)
{
	enum { N = 150 };
	json_t *all = proofs_load();
	char *lines = text_of("%s", ""), *want = text_of("%s", "");

	for (unsigned i = 0; i < N; i++) {
		struct draft d = draft_of(all, i % 4);
		const char *say = "valid";
		if (i % 7 == 3) {
			d.scope = text_of("\"%u\"", i);
			say = "invalid: the proof does not hold";
		} else if (i % 11 == 5) {
			d.root = NULL;
			say = "invalid: merkleTreeRoot: missing";
		}
		lines = text_of("%s%s\n", lines, draft_text(&d));
		want = text_of("%s%s\n", want, say);
	}
	program_enter(folder);
	write_file("many", lines, strlen(lines));
	RUN(&p, "verify", "--ndjson", "many");
	CHECK_CODE(&p, 1);
	CHECK_STR(p.out, want);
	LEAVE(folder, "many");
}

/* An answer comes before the next line is sent: one can talk to it. */
static void
test_dialogue(void)
{
	json_t *all = proofs_load();
	char *line = text_of("%s\n", proof_text(all, 0)), answer[16];
	int in[2], out[2], status;

	CHECK(pipe(in) == 0 && pipe(out) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl(
		    POSTERN_BIN, "postern", "verify", "--ndjson", (char *)NULL);
		_exit(127);
	}
	for (unsigned i = 0; i < 3; i++) {
		ssize_t len = (ssize_t)strlen(line);
		CHECK(write(in[1], line, (size_t)len) == len);
		CHECK(read(out[0], answer, sizeof(answer)) == 6);
		CHECK_MEM(answer, "valid\n", 6);
	}
	close(in[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

TESTS({"verify: one proof", test_one}, {"verify: the official ones", test_all},
    {"verify: lines", test_lines},
    {"verify: answers in JSON", test_json_answers}, {"verify: keys", test_keys},
    {"verify: tokens", test_tokens}, {"verify: many lines", test_many_lines},
    {"verify: a dialogue", test_dialogue})
