/* The member's half of the first table: what a membership proof costs to make.
 *
 * prove/warm/best and prove/cold/best are the table's figures, at depth 3: a
 * proof with the key in memory, on all CPUs, and the whole command from its
 * start to the printed proof. The others take it apart: one thread and two,
 * depths, kernels, the witness alone. Every proof is verified. The official
 * proving keys are needed: OFFICIAL_KEYS names their folder, else build/npm is
 * looked at; without them there are no figures.
 */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "base/text.h"
#include "cmd/crew.h"
#include "cmd/secrets.h"
#include "groth16/prove.h"
#include "postern/identity.h"
#include "postern/prove.h"
#include "semaphore/witness.h"

#define MEMBERS 8

extern char **environ;

static void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_prove: %s\n", what);
	exit(1);
}

static const char *
keys_folder(void)
{
	const char *folder = getenv("OFFICIAL_KEYS");

	return folder != NULL ? folder
			      : TESTS_DIR "/../build/npm/node_modules/@zk-kit/"
					  "semaphore-artifacts";
}

static void *
load_key(unsigned depth, size_t *len)
{
	char path[512];
	FILE *f;
	void *bytes;
	long end;

	snprintf(
	    path, sizeof(path), "%s/semaphore-%u.zkey", keys_folder(), depth);
	f = fopen(path, "rb");
	must(f != NULL && fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) > 0,
	    "a proving key can not be read");
	*len = (size_t)end;
	bytes = malloc(*len);
	must(bytes != NULL && fseek(f, 0, SEEK_SET) == 0 &&
		fread(bytes, 1, *len, f) == *len,
	    "a proving key can not be read");
	fclose(f);
	return bytes;
}

/* --- proofs in this process --- */

struct setting {
	struct identity id;
	struct group_proof path;
	struct prove_statement statement;
	void *file;
	struct prove_key *key;
	struct semaphore_keys *keys;
	void *memory;
	struct crew crew;
	struct witness_work work;
	fr_t w[WITNESS_LENGTH(SEMAPHORE_DEPTH_MAX)];
};

static struct setting *
setting_new(unsigned depth, unsigned threads)
{
	struct setting *s = calloc(1, sizeof(*s));
	struct group_member members[MEMBERS];
	struct prove_fault f;
	struct group *g;
	uint8_t key[32];
	size_t len;

	must(s != NULL, "out of memory");
	randombytes_buf(key, sizeof(key));
	randombytes_buf(members, sizeof(members));
	for (size_t i = 0; i < MEMBERS; i++)
		members[i].commitment[0] &= 0x1f;
	must(identity_derive(&s->id, key, sizeof(key)) == ST_OK, "identity");
	memcpy(members[3].commitment, s->id.commitment, 32);
	must(group_new(&g) == ST_OK &&
		group_add(g, members, MEMBERS, NULL) == ST_OK &&
		group_proof(&s->path, g, 3) == ST_OK,
	    "group");
	group_free(g);
	s->statement =
	    (struct prove_statement){.secret = s->id.secret, .path = &s->path};
	s->file = load_key(depth, &len);
	must(prove_key_new(&s->key, s->file, len, false, &f) == ST_OK, "key");
	must(semaphore_keys_new(&s->keys, SEMAPHORE_DEPTH_BIT(depth), NULL) ==
		ST_OK,
	    "verification key");
	s->crew.width = threads;
	must(secrets_alloc(&s->memory, prove_memory_size(s->key, threads)) ==
		ST_OK,
	    "locked memory");
	return s;
}

static void
setting_free(struct setting *s)
{
	secrets_free(s->memory);
	semaphore_keys_free(s->keys);
	prove_key_free(s->key);
	free(s->file);
	free(s);
}

static bool
prove(void *ctx)
{
	struct setting *s = ctx;
	struct runner runner = crew_runner(&s->crew);
	uint8_t random[PROVE_RANDOM_LENGTH];
	struct semaphore_proof p;
	struct semaphore_fault sf;
	struct prove_fault f;

	randombytes_buf(random, sizeof(random));
	randombytes_buf(s->statement.scope, 32);
	return prove_make(&p, s->key, &s->statement, random, s->memory, &runner,
		   &f) == ST_OK &&
	    semaphore_verify(s->keys, NULL, &p, &sf) == ST_OK;
}

static bool
read_key(void *ctx)
{
	struct setting *s = ctx;
	struct prove_key *key;
	struct prove_fault f;
	size_t len;
	void *file = load_key(prove_key_depth(s->key), &len);
	bool good = prove_key_new(&key, file, len, false, &f) == ST_OK;

	prove_key_free(key);
	free(file);
	return good;
}

static bool
witness(void *ctx)
{
	struct setting *s = ctx;
	struct witness_input in = {.depth = prove_key_depth(s->key),
	    .secret = s->id.secret,
	    .path = &s->path};
	enum witness_refusal why;
	unsigned index;

	return witness_make(s->w, &in, &s->work, &why, &index) == ST_OK;
}

static void
bench_depth(const struct bench *b, unsigned depth)
{
	const unsigned threads[] = {1, 2, 4};
	char name[64];

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		snprintf(
		    name, sizeof(name), "prove/depth%u/%u", depth, threads[i]);
		if (threads[i] > crew_cpus() || !bench_wants(b, name))
			continue;
		struct setting *s = setting_new(depth, threads[i]);
		bench_run(b,
		    &(struct bench_spec){
			.name = name, .run = prove, .ctx = s, .repeat = 1},
		    NULL);
		setting_free(s);
	}
	snprintf(name, sizeof(name), "prove/depth%u/witness", depth);
	if (bench_wants(b, name)) {
		struct setting *s = setting_new(depth, 1);
		bench_run(b,
		    &(struct bench_spec){
			.name = name, .run = witness, .ctx = s},
		    NULL);
		snprintf(name, sizeof(name), "prove/depth%u/key", depth);
		bench_run(b,
		    &(struct bench_spec){
			.name = name, .run = read_key, .ctx = s},
		    NULL);
		setting_free(s);
	}
}

/* --- the whole command --- */

struct command {
	char folder[32], identity[64], members[64];
	struct semaphore_keys *keys;
};

static void
write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	size_t len = strlen(text);

	must(fd >= 0 && write(fd, text, len) == (ssize_t)len && close(fd) == 0,
	    "a file can not be written");
}

static void
command_prepare(struct command *c)
{
	char text[IDENTITY_FILE_MAX], line[DECIMAL_MAX];
	struct identity id;
	uint8_t key[32];
	FILE *f;
	size_t len;

	strcpy(c->folder, "/tmp/postern-bench-XXXXXX");
	must(mkdtemp(c->folder) != NULL, "no folder");
	snprintf(c->identity, sizeof(c->identity), "%s/identity", c->folder);
	snprintf(c->members, sizeof(c->members), "%s/members", c->folder);
	randombytes_buf(key, sizeof(key));
	must(identity_derive(&id, key, sizeof(key)) == ST_OK, "identity");
	identity_file_plain(text, &len, &id);
	write_file(c->identity, text, 0600);
	f = fopen(c->members, "w");
	must(f != NULL, "a file can not be written");
	for (int i = 1; i < MEMBERS; i++)
		fprintf(f, "%d\n", i);
	decimal_encode(line, id.commitment);
	fprintf(f, "%s\n", line);
	must(fclose(f) == 0, "a file can not be written");
	must(
	    semaphore_keys_new(&c->keys, SEMAPHORE_DEPTH_BIT(3), NULL) == ST_OK,
	    "verification key");
}

/* Run the command; its output must be a proof that holds. */
static bool
command(void *ctx)
{
	struct command *c = ctx;
	char out[4096];
	size_t len = 0;
	ssize_t n;
	const char *argv[] = {"postern", "prove", "--identity", c->identity,
	    "--members", c->members, "--zkey", keys_folder(), "--message", "1",
	    "--json", NULL};
	posix_spawn_file_actions_t actions;
	struct semaphore_proof p;
	struct semaphore_fault f;
	int fds[2], status;
	pid_t pid;

	must(pipe(fds) == 0, "no pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	must(posix_spawn(&pid, POSTERN_BIN, &actions, NULL,
		 (char *const *)(uintptr_t)argv, environ) == 0,
	    "postern does not start");
	close(fds[1]);
	while ((n = read(fds[0], out + len, sizeof(out) - len)) > 0)
		len += (size_t)n;
	close(fds[0]);
	waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	if (len > 0 && out[len - 1] == '\n')
		len--;
	return status == 0 &&
	    semaphore_proof_from_json(&p, out, len, &f) == ST_OK &&
	    semaphore_verify(c->keys, NULL, &p, &f) == ST_OK;
}

static void
bench_command(const struct bench *b)
{
	struct command c;

	if (!bench_wants(b, "prove/cold/best"))
		return;
	command_prepare(&c);
	bench_run(b,
	    &(struct bench_spec){.name = "prove/cold/best",
		.run = command,
		.ctx = &c,
		.repeat = 1},
	    NULL);
	unlink(c.identity);
	unlink(c.members);
	rmdir(c.folder);
	semaphore_keys_free(c.keys);
}

/* --- sums alone --- */

struct sums {
	const struct msm_kernel *kernel;
	struct msm_terms g1, g2;
	void *memory;
};

static bool
sum_g1(void *ctx)
{
	struct sums *s = ctx;
	g1j_t r;

	msm_g1(&r, s->kernel, &s->g1, s->memory);
	return !g1j_is_infinity(&r);
}

static bool
sum_g2(void *ctx)
{
	struct sums *s = ctx;
	twistj_t r;

	msm_g2(&r, s->kernel, &s->g2, s->memory);
	return !twistj_is_infinity(&r);
}

/* 1,024 points of a key, each kernel; the figures are for one point. */
static void
bench_sums(const struct bench *b)
{
	enum { N = 1024 };
	static uint64_t scalars[4096][4];
	static uint32_t index[N];
	struct sums s = {0};
	enum zkey_section section;
	struct zkey key;
	char name[64];
	size_t len;
	void *file;

	if (!bench_wants(b, "prove/sum"))
		return;
	file = load_key(20, &len);
	must(zkey_read(&key, span_of(file, len), &section) == ST_OK, "key");
	randombytes_buf(scalars, sizeof(scalars));
	for (size_t i = 0; i < 4096; i++)
		scalars[i][3] >>= 3;
	for (uint32_t i = 0, n = 0; n < N; i++) {
		twist_t p;
		zkey_twist(&p, key.b2 + ZKEY_G2_SIZE * (size_t)i);
		if (!twist_is_infinity(&p))
			index[n++] = i;
	}
	s.memory = aligned_alloc(64, MSM_MEMORY);
	must(s.memory != NULL, "out of memory");
	s.g1 = (struct msm_terms){
	    key.h, (const uint64_t(*)[4])scalars, index, N, false};
	s.g2 = s.g1;
	s.g2.points = key.b2;
	for (unsigned i = 0; (s.kernel = msm_kernel_nth(i)) != NULL; i++) {
		snprintf(name, sizeof(name), "prove/sum-g1/%s",
		    msm_kernel_name(s.kernel));
		bench_run(b,
		    &(struct bench_spec){
			.name = name, .run = sum_g1, .ctx = &s, .batch = N},
		    NULL);
		snprintf(name, sizeof(name), "prove/sum-g2/%s",
		    msm_kernel_name(s.kernel));
		bench_run(b,
		    &(struct bench_spec){
			.name = name, .run = sum_g2, .ctx = &s, .batch = N},
		    NULL);
	}
	free(s.memory);
	free(file);
}

int
main(int argc, char **argv)
{
	static const unsigned depths[] = {3, 10, 20, 32};
	struct bench b;

	bench_begin(&b, argc, argv);
	if (access(keys_folder(), R_OK) != 0) {
		fprintf(stderr,
		    "(no official proving keys in build/npm: tests/js/install "
		    "brings them, for the prover's figures)\n");
		return 0;
	}
	must(sodium_init() >= 0, "libsodium");
	secrets_guard();
	if (bench_wants(&b, "prove/warm/best")) {
		struct setting *s = setting_new(3, crew_cpus());
		bench_run(&b,
		    &(struct bench_spec){.name = "prove/warm/best",
			.run = prove,
			.ctx = s,
			.repeat = 1},
		    NULL);
		setting_free(s);
	}
	bench_command(&b);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		bench_depth(&b, depths[i]);
	bench_sums(&b);
	return 0;
}
