/* Poseidon: the constants from the Grain LFSR, the plain form as oracle for
 * the optimised one, known answers. */
#include "harness.h"

#include "base/cpu.h"
#include "base/text.h"
#include "hash/poseidon.h"
#include "hash/poseidon_kernels.h"

#define T POSEIDON_T
#define ROUNDS (POSEIDON_FULL_ROUNDS + POSEIDON_PARTIAL_ROUNDS)

/* The plain form: ePrint 2019/458, with the constants of its appendix E. */
struct plain {
	fr_t c[ROUNDS][T];
	fr_t m[T][T]; /* new[i] = sum over j of m[i][j] old[j] */
};

struct grain {
	uint8_t bits[80]; /* a ring: bits[at] is the oldest */
	unsigned at;
};

static unsigned
grain_step(struct grain *g)
{
	static const unsigned taps[] = {62, 51, 38, 23, 13, 0};
	unsigned bit = 0;

	for (unsigned i = 0; i < 6; i++)
		bit ^= g->bits[(g->at + taps[i]) % 80];
	g->bits[g->at] = (uint8_t)bit;
	g->at = (g->at + 1) % 80;
	return bit;
}

static void
grain_put(struct grain *g, unsigned value, unsigned width)
{
	while (width-- > 0)
		g->bits[g->at++] = value >> width & 1;
}

static void
grain_init(struct grain *g)
{
	g->at = 0;
	grain_put(g, 1, 2); /* a prime field */
	grain_put(g, 0, 4); /* x^alpha */
	grain_put(g, 254, 12);
	grain_put(g, T, 12);
	grain_put(g, POSEIDON_FULL_ROUNDS, 10);
	grain_put(g, POSEIDON_PARTIAL_ROUNDS, 10);
	grain_put(g, (1u << 30) - 1, 30);
	CHECK_INT(g->at, 80);
	g->at = 0;
	for (unsigned i = 0; i < 160; i++)
		grain_step(g);
}

/* 254 bits of the self-shrunk sequence, the first the most significant. */
static void
grain_number(struct grain *g, uint8_t out[static 32])
{
	memset(out, 0, 32);
	for (unsigned i = 2; i < 256; i++) {
		unsigned keep, bit;
		do {
			keep = grain_step(g);
			bit = grain_step(g);
		} while (!keep);
		out[i / 8] |= (uint8_t)(bit << (7 - i % 8));
	}
}

static void
plain_init(struct plain *p)
{
	struct grain g;
	uint8_t bytes[32];
	fr_t xy[2 * T], sum;

	grain_init(&g);
	for (unsigned i = 0; i < ROUNDS * T; i++) {
		do
			grain_number(&g, bytes);
		while (
		    fr_from_bytes_strict(&p->c[i / T][i % T], bytes) != ST_OK);
	}
	for (unsigned i = 0; i < 2 * T; i++) {
		grain_number(&g, bytes);
		fr_from_bytes_mod(&xy[i], bytes);
	}
	for (unsigned i = 0; i < T; i++) {
		for (unsigned j = 0; j < T; j++) {
			fr_add(&sum, &xy[i], &xy[T + j]);
			fr_inv(&p->m[i][j], &sum);
		}
	}
}

static void
plain_multiply(const struct plain *p, fr_t state[static T])
{
	fr_t next[T], product;

	for (unsigned i = 0; i < T; i++) {
		next[i] = fr_zero;
		for (unsigned j = 0; j < T; j++) {
			fr_mul(&product, &p->m[i][j], &state[j]);
			fr_add(&next[i], &next[i], &product);
		}
	}
	memcpy(state, next, sizeof(next));
}

static void
plain_pair(const struct plain *p, fr_t *out, const fr_t *a, const fr_t *b)
{
	static const uint64_t five = 5;
	fr_t state[T] = {fr_zero, *a, *b};

	for (unsigned r = 0; r < ROUNDS; r++) {
		bool full = r < POSEIDON_FULL_ROUNDS / 2 ||
		    r >= POSEIDON_FULL_ROUNDS / 2 + POSEIDON_PARTIAL_ROUNDS;
		for (unsigned i = 0; i < T; i++) {
			fr_add(&state[i], &state[i], &p->c[r][i]);
			if (full || i == 0)
				fr_pow(&state[i], &state[i], &five, 1);
		}
		plain_multiply(p, state);
	}
	*out = state[0];
}

static void
random_element(fr_t *out)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(out, bytes);
}

static void
check_decimal(const fr_t *got, const char *want)
{
	uint8_t bytes[32];
	char text[DECIMAL_MAX];

	fr_to_bytes(bytes, got);
	decimal_encode(text, bytes);
	CHECK_STR(text, want);
}

/* The round constants and the matrix of the plain form, where the optimised
 * form has them as they are. */
static void
test_grain(void)
{
	struct plain p;

	plain_init(&p);
	for (unsigned i = 0; i < T; i++)
		CHECK(fr_eq(&p.c[0][i], &poseidon_constants.c[i]));
	for (unsigned i = 0; i < T; i++) {
		for (unsigned j = 0; j < T; j++)
			CHECK(fr_eq(&p.m[i][j], &poseidon_constants.m[j][i]));
	}
	/* The first that everybody prints. */
	uint8_t bytes[32];
	char text[65];
	fr_to_bytes(bytes, &p.c[0][0]);
	hex_encode(text, span_of(bytes, 32));
	CHECK_STR(text,
	    "0ee9a592ba9a9518d05986d656f40c2114c4993c11bb29938d21d47304cd8e6e");
}

/* The circuit's form, as hash/poseidon.h writes it down. */
static void
add_constants(fr_t state[static T], const fr_t c[static T])
{
	for (unsigned i = 0; i < T; i++)
		fr_add(&state[i], &state[i], &c[i]);
}

static void
power5(fr_t *x)
{
	static const uint64_t five = 5;

	fr_pow(x, x, &five, 1);
}

static void
circuit_multiply(fr_t state[static T], const fr_t m[static T][T])
{
	fr_t next[T], product;

	for (unsigned i = 0; i < T; i++) {
		next[i] = fr_zero;
		for (unsigned j = 0; j < T; j++) {
			fr_mul(&product, &m[j][i], &state[j]);
			fr_add(&next[i], &next[i], &product);
		}
	}
	memcpy(state, next, sizeof(next));
}

static void
circuit_partial(fr_t state[static T], const fr_t *c, const fr_t *s)
{
	fr_t l0, product;

	power5(&state[0]);
	fr_add(&l0, &state[0], c);
	fr_mul(&state[0], &s[0], &l0);
	for (unsigned i = 1; i < T; i++) {
		fr_mul(&product, &s[i], &state[i]);
		fr_add(&state[0], &state[0], &product);
		fr_mul(&product, &s[2 + i], &l0);
		fr_add(&state[i], &state[i], &product);
	}
}

static void
circuit_pair(fr_t *out, const fr_t *a, const fr_t *b)
{
	const struct poseidon_constants *k = &poseidon_constants;
	fr_t state[T] = {fr_zero, *a, *b};

	add_constants(state, k->c);
	for (unsigned r = 0; r < 8; r++) {
		unsigned c = r < 4 ? 3 * (r + 1) : 72 + 3 * (r - 4);
		for (unsigned i = 0; i < T; i++)
			power5(&state[i]);
		if (r < 7)
			add_constants(state, &k->c[c]);
		circuit_multiply(state, r == 3 ? k->p : k->m);
		for (unsigned i = 0; r == 3 && i < 57; i++)
			circuit_partial(state, &k->c[15 + i], &k->s[5 * i]);
	}
	*out = state[0];
}

/* Every way of computing it against the plain form. */
static void
test_against_plain(void)
{
	struct plain p;
	fr_t a, b, want, got;

	plain_init(&p);
	for (unsigned i = 0; i < 300; i++) {
		random_element(&a);
		random_element(&b);
		if (i % 10 == 0)
			a = i % 20 ? fr_zero : fr_one;
		if (i % 15 == 0)
			fr_neg(&b, &fr_one);
		plain_pair(&p, &want, &a, &b);
		circuit_pair(&got, &a, &b);
		CHECK(fr_eq(&got, &want));
		poseidon_pair(&got, &a, &b);
		CHECK(fr_eq(&got, &want));
		poseidon_c64_one(&got, &a, &b);
		CHECK(fr_eq(&got, &want));
#ifdef __x86_64__
		if (!cpu_has_adx())
			continue;
		poseidon_adx_one(&got, &a, &b);
		CHECK(fr_eq(&got, &want));
#endif
	}
}

/* poseidon-lite 0.3.0. */
static void
test_known(void)
{
	fr_t a, b, out;

	fr_from_u64(&a, 1);
	fr_from_u64(&b, 2);
	poseidon_pair(&out, &a, &b);
	check_decimal(&out,
	    "785320012077606287868479836409507245881502937609273200924941492632"
	    "7"
	    "459813530");
	poseidon_pair(&out, &fr_zero, &fr_zero);
	check_decimal(&out,
	    "147442696199664112085792118245984586975874943549267600817713250757"
	    "4"
	    "1142829156");
	/* The result may take either input's place. */
	poseidon_pair(&out, &a, &b);
	fr_t c = a;
	poseidon_pair(&c, &c, &b);
	CHECK(fr_eq(&c, &out));
	c = b;
	poseidon_pair(&c, &a, &c);
	CHECK(fr_eq(&c, &out));
}

/* Many at once, at every count up to a few vectors' width, also in place. */
static void
test_many(void)
{
	enum { MAX = 40 };
	fr_t in[2 * MAX], want[MAX], out[MAX + 1];

	for (unsigned i = 0; i < 2 * MAX; i++)
		random_element(&in[i]);
	for (unsigned i = 0; i < MAX; i++)
		poseidon_pair(&want[i], &in[2 * i], &in[2 * i + 1]);
	for (unsigned n = 0; n <= MAX; n++) {
		fr_t copy[2 * MAX];
		memset(out, 0xee, sizeof(out));
		poseidon_pairs(out, in, n);
		CHECK_MEM(out, want, n * sizeof(fr_t));
		CHECK(n == MAX || out[n].l[0] == UINT64_C(0xeeeeeeeeeeeeeeee));
		memcpy(copy, in, sizeof(copy));
		poseidon_pairs(copy, copy, n);
		CHECK_MEM(copy, want, n * sizeof(fr_t));
	}
}

/* The wide kernel's constants are the others, times 2^260. */
static void
check_wide_constant(const uint64_t limb[static 5], const fr_t *want)
{
	fr_t wide = *want;
	uint64_t raw[4];

	/* want is x 2^256: sixteen times that is x 2^260. */
	for (unsigned i = 0; i < 4; i++)
		fr_dbl(&wide, &wide);
	raw[0] = limb[0] | limb[1] << 52;
	raw[1] = limb[1] >> 12 | limb[2] << 40;
	raw[2] = limb[2] >> 24 | limb[3] << 28;
	raw[3] = limb[3] >> 36 | limb[4] << 16;
	CHECK_MEM(raw, wide.l, sizeof(raw));
	for (unsigned i = 0; i < 5; i++)
		CHECK(limb[i] >> 52 == 0);
}

static void
test_wide_constants(void)
{
	const struct poseidon_constants *full = &poseidon_constants;
	const struct poseidon_constants64 *k = &poseidon_constants64;
	const struct poseidon_constants52 *w = &poseidon_constants52;

	for (unsigned i = 0; i < 81; i++)
		check_wide_constant(
		    w->c[i], i < 15 || i >= 72 ? &full->c[i] : &k->c[i - 15]);
	for (unsigned i = 0; i < 57 * 4; i++)
		check_wide_constant(w->k[i / 4][i % 4], &k->k[i / 4][i % 4]);
	for (unsigned i = 0; i < 9; i++) {
		check_wide_constant(w->m[i / 3][i % 3], &full->m[i / 3][i % 3]);
		check_wide_constant(w->p[i / 3][i % 3], &k->p[i / 3][i % 3]);
	}
}

/* The wide kernel against the other, with the ends of the field in every lane
 * and at random. */
static void
test_wide(void)
{
#ifdef __x86_64__
	fr_t in[2 * POSEIDON_LANES], out[POSEIDON_LANES], want, edge[5];

	edge[0] = fr_zero;
	edge[1] = fr_one;
	fr_neg(&edge[2], &fr_one);
	/* In memory: the largest limbs there are, and the smallest but one. */
	edge[4] = (fr_t){{1, 0, 0, 0}};
	fr_neg(&edge[3], &edge[4]);
	for (unsigned round = 0; cpu_has_ifma() && round < 400; round++) {
		for (unsigned i = 0; i < 2 * POSEIDON_LANES; i++) {
			random_element(&in[i]);
			if (round < 100)
				in[i] = edge[test_random() % 5];
		}
		poseidon_ifma_eight(out, in);
		for (unsigned i = 0; i < POSEIDON_LANES; i++) {
			poseidon_c64_one(&want, &in[2 * i], &in[2 * i + 1]);
			CHECK_MEM(&out[i], &want, sizeof(want));
		}
	}
#endif
	if (!cpu_has_ifma())
		printf("    this processor has no IFMA\n");
}

TESTS({"poseidon: constants from the Grain LFSR", test_grain},
    {"poseidon: every form equals the plain one", test_against_plain},
    {"poseidon: known answers", test_known},
    {"poseidon: many at once", test_many},
    {"poseidon: the wide kernel's constants", test_wide_constants},
    {"poseidon: the wide kernel", test_wide})
