/* One verification beside mcl (github.com/herumi/mcl), turn by turn on one
 * core, so that their ratio does not depend on what else the machine does.
 *
 *	make bench MCL=FOLDER     where mcl is built with MCL_FP_BIT=256
 *	                          MCL_FR_BIT=256
 *
 * mcl does the equation alone, in the quickest way that its interface has:
 * e(alpha, beta) and the lines of gamma and delta are kept, vk_x is one sum of
 * four products, three Miller loops (two of them as one), one final
 * exponentiation. Its points are read beforehand. Ours begins with the bytes
 * of a token, and tests B for its group.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <mcl/bn_c256.h>

#include "base/span.h"
#include "base/text.h"
#include "bench.h"
#include "bn254/fp.h"
#include "bn254/kernel.h"
#include "postern/semaphore.h"
#include "semaphore/keys.h"
#include "semaphore/statement.h"

enum { DEPTH = 3, ROUNDS = 201, INPUTS = SEMAPHORE_INPUTS, KERNELS_MAX = 8 };

static void
must(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "peer_mcl: %s\n", what);
		exit(1);
	}
}

/* --- our numbers as mcl's --- */

/* The N bytes strings at BYTES, of 32 each, as hex words after "1". */
static void
words(char out[static 512], uint8_t (*bytes)[32], unsigned n)
{
	char hex[65];
	size_t len = 1;

	strcpy(out, "1");
	for (unsigned i = 0; i < n; i++) {
		hex_encode(hex, span_of(bytes[i], 32));
		len += (size_t)snprintf(out + len, 512 - len, " %s", hex);
	}
}

static mclBnG1
to_g1(const g1_t *p)
{
	uint8_t bytes[2][32];
	char text[512];
	mclBnG1 out;

	fp_to_bytes(bytes[0], &p->x);
	fp_to_bytes(bytes[1], &p->y);
	words(text, bytes, 2);
	must(mclBnG1_setStr(&out, text, strlen(text), 16) == 0, "a G1 point");
	return out;
}

static mclBnG2
to_g2(const twist_t *p)
{
	const fp_t *const parts[] = {&p->x.c0, &p->x.c1, &p->y.c0, &p->y.c1};
	uint8_t bytes[4][32];
	char text[512];
	mclBnG2 out;

	for (unsigned i = 0; i < 4; i++)
		fp_to_bytes(bytes[i], parts[i]);
	words(text, bytes, 4);
	must(mclBnG2_setStr(&out, text, strlen(text), 16) == 0, "a G2 point");
	return out;
}

static mclBnFr
to_fr(const fr_t *x)
{
	uint8_t bytes[32];
	char text[65];
	mclBnFr out;

	fr_to_bytes(bytes, x);
	hex_encode(text, span_of(bytes, 32));
	must(mclBnFr_setStr(&out, text, strlen(text), 16) == 0, "a scalar");
	return out;
}

/* --- mcl --- */

struct peer {
	mclBnG1 ic[INPUTS + 1], minus_a, c;
	mclBnG2 b;
	mclBnFr inputs[INPUTS];
	mclBnGT alpha_beta;
	uint64_t *gamma, *delta;
};

static void
peer_init(struct peer *m, const struct statement *s)
{
	struct groth16_vk vk;
	mclBnG1 alpha, a;
	mclBnG2 beta, gamma, delta;
	size_t lines;

	must(mclBn_init(4 /* MCL_BN_SNARK1 */, MCLBN_COMPILED_TIME_VAR) == 0,
	    "mcl was built for other sizes: MCL_FP_BIT=256 MCL_FR_BIT=256");
	must(keys_official(&vk, DEPTH) == ST_OK, "the key");
	alpha = to_g1(&vk.alpha);
	beta = to_g2(&vk.beta.point);
	gamma = to_g2(&vk.gamma.point);
	delta = to_g2(&vk.delta.point);
	lines = (size_t)mclBn_getUint64NumToPrecompute();
	m->gamma = calloc(lines, sizeof(uint64_t));
	m->delta = calloc(lines, sizeof(uint64_t));
	must(m->gamma != NULL && m->delta != NULL, "out of memory");
	mclBn_precomputeG2(m->gamma, &gamma);
	mclBn_precomputeG2(m->delta, &delta);
	mclBn_pairing(&m->alpha_beta, &alpha, &beta);
	for (unsigned i = 0; i <= INPUTS; i++)
		m->ic[i] = to_g1(&vk.ic[i]);
	a = to_g1(&s->proof.a);
	mclBnG1_neg(&m->minus_a, &a);
	m->b = to_g2(&s->proof.b);
	m->c = to_g1(&s->proof.c);
	for (unsigned i = 0; i < INPUTS; i++)
		m->inputs[i] = to_fr(&s->inputs[i]);
}

/* e(-A, B) e(vk_x, gamma) e(C, delta) e(alpha, beta) = 1 */
static bool
peer_verify(struct peer *m)
{
	mclBnG1 points[INPUTS], vk_x;
	mclBnGT f, g;

	memcpy(points, m->ic + 1, sizeof(points)); /* it may normalise them */
	mclBnG1_mulVec(&vk_x, points, m->inputs, INPUTS);
	mclBnG1_add(&vk_x, &vk_x, &m->ic[0]);
	mclBn_precomputedMillerLoop2mixed(
	    &f, &m->minus_a, &m->b, &vk_x, m->gamma);
	mclBn_precomputedMillerLoop(&g, &m->c, m->delta);
	mclBnGT_mul(&f, &f, &g);
	mclBn_finalExp(&f, &f);
	mclBnGT_mul(&f, &f, &m->alpha_beta);
	return mclBnGT_isOne(&f) == 1;
}

/* --- ours --- */

struct ours {
	const char *name;
	struct semaphore_keys *keys;
	double us[ROUNDS];
};

static char token[4096];

static bool
our_verify(const struct ours *o)
{
	struct semaphore_proof proof;
	struct semaphore_token kind;
	struct semaphore_fault f;

	return semaphore_token_decode(
		   &proof, &kind, token, strlen(token), &f) == ST_OK &&
	    semaphore_verify(o->keys, NULL, &proof, &f) == ST_OK;
}

/* The first vector of our depth, as a token and as the equation has it. */
static void
load(struct statement *s, const struct semaphore_keys *keys)
{
	json_t *all = json_load_file(TESTS_DIR "/vectors/proofs.json", 0, NULL);
	struct semaphore_fault f;
	struct semaphore_token kind;
	struct semaphore_proof proof = {0};
	json_t *entry;
	size_t i;

	json_array_foreach(all, i, entry)
	{
		char *text =
		    json_dumps(json_object_get(entry, "proof"), JSON_COMPACT);
		must(text != NULL && strlen(text) < 3000, "a vector");
		base64_encode(token, span_str(text), BASE64_URL);
		free(text);
		must(semaphore_token_decode(
			 &proof, &kind, token, strlen(token), &f) == ST_OK,
		    "a vector is no proof");
		if (proof.depth == DEPTH)
			break;
	}
	json_decref(all);
	must(proof.depth == DEPTH, "no vector of this depth");
	must(statement_read(s, keys, &proof, &f) == ST_OK, "the statement");
}

static void
print(const char *name, double us[static ROUNDS])
{
	double sum = 0;

	bench_sort(us, ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++)
		sum += us[i];
	printf(
	    "{\"name\":\"beside-mcl/%s\",\"samples\":%d,\"repeat\":1,"
	    "\"min_us\":%.2f,\"p50_us\":%.2f,\"p95_us\":%.2f,\"p99_us\":%.2f,"
	    "\"mean_us\":%.2f}\n",
	    name, ROUNDS, us[0], us[ROUNDS / 2], us[ROUNDS * 95 / 100],
	    us[ROUNDS * 99 / 100], sum / ROUNDS);
}

int
main(void)
{
	static struct ours ours[KERNELS_MAX];
	static double theirs[ROUNDS];
	const struct bn254_kernel *kernel;
	struct statement s;
	struct peer m;
	size_t n = 0;

	for (; n < KERNELS_MAX && (kernel = bn254_kernel_nth(n)) != NULL; n++) {
		ours[n].name = bn254_kernel_name(kernel);
		must(semaphore_keys_new(&ours[n].keys,
			 SEMAPHORE_DEPTH_BIT(DEPTH), ours[n].name) == ST_OK,
		    "a kernel's keys");
	}
	must(n > 0, "no kernel");
	load(&s, ours[0].keys);
	peer_init(&m, &s);
	for (unsigned round = 0; round < ROUNDS; round++) {
		double begin = bench_now();
		must(peer_verify(&m), "mcl refuses the proof");
		theirs[round] = (bench_now() - begin) * 1e6;
		for (size_t i = 0; i < n; i++) {
			begin = bench_now();
			must(our_verify(&ours[i]), "we refuse the proof");
			ours[i].us[round] = (bench_now() - begin) * 1e6;
		}
	}
	print("mcl", theirs);
	for (size_t i = 0; i < n; i++) {
		print(ours[i].name, ours[i].us);
		semaphore_keys_free(ours[i].keys);
	}
	free(m.gamma);
	free(m.delta);
	return 0;
}
