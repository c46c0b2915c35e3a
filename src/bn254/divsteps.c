#include "bn254/divsteps.h"

#include "base/wipe.h"

/* Numbers are five limbs of 62 bits; the top one carries the sign. */
#define LIMBS 5
#define STEPS 62 /* and bits of a limb */
#define ROUNDS 10 /* 620 steps; 590 are needed */
#define MASK (INT64_MAX >> 1)

__extension__ typedef __int128 i128;

typedef struct {
	int64_t l[LIMBS];
} wide_t;

/* 2^62 times the linear map of 62 steps: f' = u f + v g, g' = q f + r g. */
struct matrix {
	int64_t u, v, q, r;
};

static void
load(wide_t *r, const uint64_t a[static 4])
{
	r->l[0] = (int64_t)(a[0] & MASK);
	r->l[1] = (int64_t)((a[0] >> 62 | a[1] << 2) & MASK);
	r->l[2] = (int64_t)((a[1] >> 60 | a[2] << 4) & MASK);
	r->l[3] = (int64_t)((a[2] >> 58 | a[3] << 6) & MASK);
	r->l[4] = (int64_t)(a[3] >> 56);
}

static void
store(uint64_t r[static 4], const wide_t *a)
{
	uint64_t l[LIMBS];

	for (int i = 0; i < LIMBS; i++)
		l[i] = (uint64_t)a->l[i];
	r[0] = l[0] | l[1] << 62;
	r[1] = l[1] >> 2 | l[2] << 60;
	r[2] = l[2] >> 4 | l[3] << 58;
	r[3] = l[3] >> 6 | l[4] << 56;
}

/* 62 steps on the low words of f and g. ZETA is -(delta + 1/2). */
static int64_t
steps(struct matrix *t, int64_t zeta, int64_t f0, int64_t g0)
{
	uint64_t u = 1, v = 0, q = 0, r = 1;
	uint64_t f = (uint64_t)f0, g = (uint64_t)g0;

	for (int i = 0; i < STEPS; i++) {
		/* All ones if delta > 0; if g is odd. */
		uint64_t swap = (uint64_t)(zeta >> 63), odd = 0 - (g & 1);

		/* g += f, or g -= f if delta > 0; if g is odd. */
		g += ((f ^ swap) - swap) & odd;
		q += ((u ^ swap) - swap) & odd;
		r += ((v ^ swap) - swap) & odd;
		/* Both: the old g, which is the new one + f, becomes f. */
		swap &= odd;
		zeta = (int64_t)((uint64_t)zeta ^ swap) - 1;
		f += g & swap;
		u += q & swap;
		v += r & swap;
		g >>= 1;
		u <<= 1;
		v <<= 1;
	}
	*t = (struct matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
	return zeta;
}

/* (f, g) = t (f, g) / 2^62, exactly. */
static void
apply(wide_t *f, wide_t *g, const struct matrix *t)
{
	i128 cf = (i128)t->u * f->l[0] + (i128)t->v * g->l[0];
	i128 cg = (i128)t->q * f->l[0] + (i128)t->r * g->l[0];

	for (int i = 1; i < LIMBS; i++) {
		cf >>= STEPS;
		cg >>= STEPS;
		cf += (i128)t->u * f->l[i] + (i128)t->v * g->l[i];
		cg += (i128)t->q * f->l[i] + (i128)t->r * g->l[i];
		f->l[i - 1] = (int64_t)cf & MASK;
		g->l[i - 1] = (int64_t)cg & MASK;
	}
	f->l[LIMBS - 1] = (int64_t)(cf >> STEPS);
	g->l[LIMBS - 1] = (int64_t)(cg >> STEPS);
}

/* (d, e) = t (d, e) / 2^62 modulo m, from and to values in (-2m, m): a multiple
 * of m makes the low limb zero, and one m more goes to what is negative. */
static void
apply_mod(wide_t *d, wide_t *e, const struct matrix *t, const wide_t *m,
    uint64_t m_inv)
{
	int64_t sd = d->l[LIMBS - 1] >> 63, se = e->l[LIMBS - 1] >> 63;
	int64_t kd = (t->u & sd) + (t->v & se);
	int64_t ke = (t->q & sd) + (t->r & se);
	i128 cd = (i128)t->u * d->l[0] + (i128)t->v * e->l[0];
	i128 ce = (i128)t->q * d->l[0] + (i128)t->r * e->l[0];

	kd -= (int64_t)((m_inv * (uint64_t)cd + (uint64_t)kd) & MASK);
	ke -= (int64_t)((m_inv * (uint64_t)ce + (uint64_t)ke) & MASK);
	cd += (i128)m->l[0] * kd;
	ce += (i128)m->l[0] * ke;
	for (int i = 1; i < LIMBS; i++) {
		cd >>= STEPS;
		ce >>= STEPS;
		cd += (i128)t->u * d->l[i] + (i128)t->v * e->l[i] +
		    (i128)m->l[i] * kd;
		ce += (i128)t->q * d->l[i] + (i128)t->r * e->l[i] +
		    (i128)m->l[i] * ke;
		d->l[i - 1] = (int64_t)cd & MASK;
		e->l[i - 1] = (int64_t)ce & MASK;
	}
	d->l[LIMBS - 1] = (int64_t)(cd >> STEPS);
	e->l[LIMBS - 1] = (int64_t)(ce >> STEPS);
}

/* d += m where MASKED is all ones, and carry. */
static void
add_masked(wide_t *d, const wide_t *m, int64_t masked)
{
	int64_t carry = 0;

	for (int i = 0; i < LIMBS - 1; i++) {
		int64_t v = d->l[i] + (m->l[i] & masked) + carry;
		d->l[i] = v & MASK;
		carry = v >> STEPS;
	}
	d->l[LIMBS - 1] += (m->l[LIMBS - 1] & masked) + carry;
}

/* d = d * sign modulo m, from (-2m, m) to [0, m). */
static void
normalise(wide_t *d, int64_t sign, const wide_t *m)
{
	add_masked(d, m, d->l[LIMBS - 1] >> 63); /* (-m, m) */
	for (int i = 0; i < LIMBS; i++)
		d->l[i] = (d->l[i] ^ sign) - sign;
	add_masked(d, m, 0);
	add_masked(d, m, d->l[LIMBS - 1] >> 63);
}

void
divsteps_inverse(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t m[static 4])
{
	wide_t f, g, d = {{0}}, e = {{1}}, modulus;
	struct matrix t;
	int64_t zeta = -1; /* delta = 1/2 */
	uint64_t m_inv = m[0];

	/* Newton: 1/m to 3 bits, 6, 12, 24, 48, 96. */
	for (int i = 0; i < 5; i++)
		m_inv *= 2 - m[0] * m_inv;
	load(&modulus, m);
	f = modulus;
	load(&g, a);
	for (int i = 0; i < ROUNDS; i++) {
		/* 62 steps look at 62 bits. */
		zeta = steps(&t, zeta, f.l[0], g.l[0]);
		apply_mod(&d, &e, &t, &modulus, m_inv);
		apply(&f, &g, &t);
	}
	normalise(&d, f.l[LIMBS - 1] >> 63, &modulus);
	store(r, &d);
	wipe(&f, sizeof(f));
	wipe(&g, sizeof(g));
	wipe(&d, sizeof(d));
	wipe(&e, sizeof(e));
	wipe(&t, sizeof(t));
}
