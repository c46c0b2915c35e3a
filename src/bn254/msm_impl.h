/* bn254/msm_impl.h: the sum of msm.h, written once for both groups and for any
 * number of lanes.
 *
 * The including file has chosen the lanes (lanes_impl.h) and defines
 *   E(NAME)      lane_NAME or lane2_NAME: the field of the coordinates
 *   G(NAME)      the name of a function or type for this group
 *   ELEM, AFFINE that field's type, and that of a point outside
 *   POINT, ADDITION, WORK, SHAPE, JACOBIAN   names for our own types
 *   POINT_SIZE   bytes of a point
 *   BLOCK, MANY  vectors of points at a time; vectors in one inversion
 *   CHOICES      windows that are looked up at a time
 *
 * Term number i is in lane i mod LANES of vector i / LANES. For each window
 * there are some accumulators, so that enough additions are independent to
 * share an inversion; they and the lanes are added up at the end.
 */

typedef struct {
	ELEM x, y;
} POINT;

/* One addition, r = a + b; r may be a or b. */
typedef struct {
	POINT *r;
	const POINT *a, *b;
} ADDITION;

typedef struct {
	POINT table[BLOCK][MSM_ENTRIES];
	POINT sums[MANY], chosen[MANY];
	ELEM products[MANY];
	uint8_t digits[MSM_WINDOWS * BLOCK * LANES];
	ADDITION todo[MANY];
	bool met; /* equal or opposite points have met */
} WORK;

_Static_assert(sizeof(WORK) <= MSM_MEMORY, "msm.h says enough");

/* r = 1 / a in every lane, by one inversion of the lanes' product; false if
 * that is 0. */
static bool
G(invert_lanes)(ELEM *r, const ELEM *a)
{
	ELEM part[4], other, t;
	unsigned n = 0;

	/* part[k] is the product of 2^k lanes around each. */
	part[0] = *a;
	for (int d = LANES / 2; d > 0; d /= 2, n++) {
		E(exchange)(&other, &part[n], d);
		E(mul)(&part[n + 1], &part[n], &other);
	}
	if (!E(invert_first)(&t, &part[n]))
		return false;
	for (int d = 1; n-- > 0; d *= 2) {
		E(exchange)(&other, &part[n], d);
		E(mul)(&t, &t, &other);
	}
	*r = t;
	return true;
}

/* Do the first N additions of the list. With slope s = (yb - ya) / (xb - xa):
 * x = s^2 - xa - xb, y = s (xa - x) - ya. */
static void
G(add_all)(WORK *w, size_t n)
{
	ELEM all, inverse, dx, dy, s;

	E(one)(&all);
	for (size_t i = 0; i < n; i++) {
		w->products[i] = all;
		E(sub)(&dx, &w->todo[i].b->x, &w->todo[i].a->x);
		E(mul)(&all, &dx, &all);
	}
	if (!G(invert_lanes)(&inverse, &all)) {
		w->met = true;
		return;
	}
	for (size_t i = n; i-- > 0;) {
		const POINT *a = w->todo[i].a, *b = w->todo[i].b;
		POINT *r = w->todo[i].r;

		E(mul)(&s, &inverse, &w->products[i]);
		E(sub)(&dx, &b->x, &a->x);
		E(mul)(&inverse, &dx, &inverse);
		E(sub)(&dy, &b->y, &a->y);
		E(mul)(&s, &dy, &s);
		E(sqr_sub2)(&dy, &s, &a->x, &b->x);
		E(sub)(&dx, &a->x, &dy);
		E(mul_sub)(&r->y, &dx, &s, &a->y);
		r->x = dy;
	}
}

/* p[i] = 2 p[i] for N vectors: the slope is 3 x^2 / 2 y. */
static void
G(double_all)(WORK *w, POINT *p, size_t n)
{
	ELEM all, inverse, t, u, s;

	E(one)(&all);
	for (size_t i = 0; i < n; i++) {
		w->products[i] = all;
		E(add)(&t, &p[i].y, &p[i].y);
		E(mul)(&all, &t, &all);
	}
	if (!G(invert_lanes)(&inverse, &all)) {
		w->met = true;
		return;
	}
	for (size_t i = n; i-- > 0;) {
		E(mul)(&s, &inverse, &w->products[i]);
		E(add)(&t, &p[i].y, &p[i].y);
		E(mul)(&inverse, &t, &inverse);
		E(sqr)(&t, &p[i].x);
		E(triple)(&u, &t);
		E(mul)(&s, &u, &s);
		E(sqr_sub2)(&t, &s, &p[i].x, &p[i].x);
		E(sub)(&u, &p[i].x, &t);
		E(mul_sub)(&p[i].y, &u, &s, &p[i].y);
		p[i].x = t;
	}
}

/* --- one block of vectors --------------------------------------------------- */

/* Load vectors AT to AT + N - 1 of T, and the scalars' digits. Lanes beyond
 * the last term get the first term's point and the scalar 0. */
static void
G(load)(WORK *w, const struct msm_terms *t, size_t at, size_t n)
{
	static const uint64_t zero[4] = {0};
	const size_t stride = BLOCK * LANES;

	for (size_t v = 0; v < n; v++) {
		const uint8_t *x[LANES], *y[LANES];
		for (size_t i = 0; i < LANES; i++) {
			size_t term = (at + v) * LANES + i;
			bool real = term < t->n;
			size_t index = t->index[real ? term : 0];
			uint8_t *digits = &w->digits[v * LANES + i];
			x[i] = t->points + index * POINT_SIZE;
			y[i] = x[i] + POINT_SIZE / 2;
			(t->bits ? msm_digits_bit : msm_digits)(
			    digits, stride, real ? t->scalars[index] : zero);
		}
		E(load)(&w->table[v][0].x, x);
		E(load)(&w->table[v][0].y, y);
	}
}

/* Append table[v][to] = table[v][from] + more[v] for N vectors. */
static size_t
G(list_multiples)(WORK *w, size_t todo, unsigned to, unsigned from,
    const POINT *more, size_t n)
{
	for (size_t v = 0; v < n; v++)
		w->todo[todo + v] =
		    (ADDITION){&w->table[v][to], &w->table[v][from], &more[v]};
	return todo + n;
}

/* Make the multiples 3, 5 ... 15 of N vectors; for bits, only 2. */
static void
G(make_tables)(WORK *w, size_t n, bool bits)
{
	POINT *two = w->chosen, *four = two + BLOCK, *eight = four + BLOCK;
	size_t todo;

	for (size_t v = 0; v < n; v++)
		two[v] = w->table[v][0];
	G(double_all)(w, two, n);
	if (bits) {
		for (size_t v = 0; v < n; v++)
			w->table[v][1] = two[v];
		return;
	}
	for (size_t v = 0; v < n; v++)
		four[v] = two[v];
	G(double_all)(w, four, n);
	for (size_t v = 0; v < n; v++)
		eight[v] = four[v];
	G(double_all)(w, eight, n);
	G(add_all)(w, G(list_multiples)(w, 0, 1, 0, two, n));
	todo = G(list_multiples)(w, 0, 2, 0, four, n);
	G(add_all)(w, G(list_multiples)(w, todo, 3, 1, four, n));
	todo = 0;
	for (unsigned e = 0; e < 4; e++)
		todo = G(list_multiples)(w, todo, 4 + e, e, eight, n);
	G(add_all)(w, todo);
}

/* One coordinate of the table entries that the lanes' digits name, for CHOICES
 * windows at once: an entry is loaded once for all of them, and every entry is
 * read. hit[e][i] are the lanes whose digit is e in window i. */
LANE_INLINE void
G(choose_one)(ELEM out[static CHOICES], const ELEM *table, unsigned entries,
    lane_mask_t hit[static MSM_ENTRIES][CHOICES])
{
	const size_t step = sizeof(POINT) / sizeof(ELEM);

	LANE_UNROLL
	for (int i = 0; i < CHOICES; i++)
		out[i] = table[0];
	for (unsigned e = 1; e < entries; e++) {
		LANE_UNROLL
		for (int i = 0; i < CHOICES; i++)
			E(select)(&out[i], &table[e * step], hit[e][i]);
	}
}

/* The points that the digits of CHOICES windows, STRIDE apart, pick from TABLE:
 * out[i] for window i. */
static inline void
G(choose)(POINT *const out[static CHOICES], const POINT *table,
    unsigned entries, const uint8_t *const digits[static CHOICES])
{
	lane_mask_t hit[MSM_ENTRIES][CHOICES];
	ELEM v[CHOICES];

	for (unsigned e = 1; e < entries; e++) {
		for (int i = 0; i < CHOICES; i++)
			hit[e][i] = lane_bytes_eq(
			    digits[i], MSM_DIGIT_ENTRY, (uint8_t)e);
	}
	G(choose_one)(v, &table->x, entries, hit);
	for (int i = 0; i < CHOICES; i++)
		out[i]->x = v[i];
	G(choose_one)(v, &table->y, entries, hit);
	for (int i = 0; i < CHOICES; i++) {
		E(negate)
		(&v[i],
		    lane_bytes_eq(digits[i], MSM_DIGIT_MINUS, MSM_DIGIT_MINUS));
		out[i]->y = v[i];
	}
}

/* How the accumulators are laid out: K for each of WINDOWS. */
typedef struct {
	size_t windows, k;
	unsigned entries;
	size_t filled; /* of each K: 0 before the first block */
} SHAPE;

/* Add N vectors of the block, at most K, to the accumulators. */
static void
G(accumulate)(WORK *w, SHAPE *s, size_t at, size_t n)
{
	const bool first = s->filled == 0;
	size_t todo = 0;

	for (size_t j = 0; j < n; j++) {
		for (size_t i = 0; i < s->windows; i += CHOICES) {
			POINT *out[CHOICES];
			const uint8_t *digits[CHOICES];
			for (size_t c = 0; c < CHOICES; c++) {
				/* Where there are fewer windows, the last one
				 * again. */
				bool real = i + c < s->windows;
				size_t window = real ? i + c : s->windows - 1;
				POINT *sum = &w->sums[window * s->k + j];
				out[c] = first ? sum : &w->chosen[todo];
				digits[c] =
				    &w->digits[(window * BLOCK + at + j) *
					LANES];
				if (!first && real)
					w->todo[todo++] =
					    (ADDITION){sum, sum, out[c]};
			}
			G(choose)(out, w->table[at + j], s->entries, digits);
		}
	}
	if (first)
		s->filled = n;
	else
		G(add_all)(w, todo);
}

/* --- the end ---------------------------------------------------------------- */

/* Add the accumulators of each window up: sums[i k] for window i. */
static void
G(fold)(WORK *w, const SHAPE *s)
{
	for (size_t n = s->filled; n > 1; n -= n / 2) {
		size_t todo = 0;
		for (size_t i = 0; i < s->windows; i++) {
			POINT *sum = &w->sums[i * s->k];
			for (size_t j = 0; j < n / 2; j++)
				w->todo[todo++] = (ADDITION){
				    &sum[j], &sum[j], &sum[n - 1 - j]};
		}
		G(add_all)(w, todo);
	}
}

typedef struct {
	ELEM x, y, z;
} JACOBIAN;

/* dbl-2009-l of the explicit-formulas database, with S = 4 X Y^2. */
static void
G(double)(JACOBIAN *p)
{
	ELEM a, b, s, m, t;

	E(sqr)(&a, &p->x);
	E(sqr)(&b, &p->y);
	E(add)(&t, &p->x, &p->x);
	E(add)(&t, &t, &t);
	E(mul)(&s, &t, &b);
	E(triple)(&m, &a);
	E(add)(&t, &p->y, &p->y);
	E(mul)(&p->z, &t, &p->z);
	E(sqr_sub2)(&p->x, &m, &s, &s);
	E(add)(&t, &b, &b);
	E(add)(&t, &t, &t);
	E(add)(&t, &t, &t);
	E(mul)(&b, &t, &b); /* 8 Y^4 */
	E(sub)(&t, &s, &p->x);
	E(mul_sub)(&p->y, &t, &m, &b);
}

/* p = p + q (madd-2004-hmv). If they are equal or opposite, Z is 0 then, and
 * stays 0. */
static void
G(add)(JACOBIAN *p, const POINT *q)
{
	ELEM zz, h, r, hh, hhh, v, t;

	E(sqr)(&zz, &p->z);
	E(mul)(&h, &q->x, &zz);
	E(sub_tight)(&h, &h, &p->x);
	E(mul)(&r, &q->y, &zz);
	E(mul)(&r, &r, &p->z);
	E(sub_tight)(&r, &r, &p->y);
	E(sqr)(&hh, &h);
	E(mul)(&hhh, &h, &hh);
	E(mul)(&v, &p->x, &hh);
	E(sqr_sub2)(&t, &r, &hhh, &v);
	E(sub_tight)(&p->x, &t, &v);
	E(mul)(&hhh, &p->y, &hhh);
	E(sub)(&t, &v, &p->x);
	E(mul_sub)(&p->y, &t, &r, &hhh);
	E(mul)(&p->z, &p->z, &h);
}

/* sums[0] = sum of 16^i sums[i k] in each lane, by Horner's rule. */
static void
G(join_windows)(WORK *w, const SHAPE *s)
{
	const POINT *top = &w->sums[(s->windows - 1) * s->k];
	JACOBIAN p = {.x = top->x, .y = top->y};
	ELEM inverse, t;

	E(one)(&p.z);
	for (size_t i = s->windows - 1; i-- > 0;) {
		for (unsigned j = 0; j < MSM_WINDOW; j++)
			G(double)(&p);
		G(add)(&p, &w->sums[i * s->k]);
	}
	if (!G(invert_lanes)(&inverse, &p.z)) {
		w->met = true;
		return;
	}
	E(sqr)(&t, &inverse);
	E(mul)(&w->sums[0].x, &p.x, &t);
	E(mul)(&t, &t, &inverse);
	E(mul)(&w->sums[0].y, &p.y, &t);
}

/* sums[0] = sums[0] - sums[k]: points once or twice, less points once. */
static void
G(join_bits)(WORK *w, const SHAPE *s)
{
	static const uint8_t all[LANES] = {0};

	E(negate)(&w->sums[s->k].y, lane_bytes_eq(all, 1, 0));
	w->todo[0] = (ADDITION){&w->sums[0], &w->sums[0], &w->sums[s->k]};
	G(add_all)(w, 1);
}

/* Add the lanes of sums[0] up: every lane then holds the whole. */
static void
G(join_lanes)(WORK *w)
{
	POINT *sum = &w->sums[0], *other = &w->chosen[0];

	for (int d = LANES / 2; d > 0; d /= 2) {
		E(exchange)(&other->x, &sum->x, d);
		E(exchange)(&other->y, &sum->y, d);
		w->todo[0] = (ADDITION){sum, sum, other};
		G(add_all)(w, 1);
	}
}

static bool
G(sum)(AFFINE *r, const struct msm_terms *t, void *memory)
{
	WORK *w = memory;
	SHAPE s = {.windows = t->bits ? 2 : MSM_WINDOWS,
	    .entries = t->bits ? 2 : MSM_ENTRIES};
	const size_t vectors = (t->n + LANES - 1) / LANES;

	s.k = MANY / s.windows < BLOCK ? MANY / s.windows : BLOCK;
	w->met = false;
	for (size_t at = 0; at < vectors && !w->met; at += BLOCK) {
		size_t n = vectors - at < BLOCK ? vectors - at : BLOCK;
		G(load)(w, t, at, n);
		G(make_tables)(w, n, t->bits);
		for (size_t v = 0; v < n && !w->met; v += s.k)
			G(accumulate)(w, &s, v, n - v < s.k ? n - v : s.k);
	}
	if (!w->met)
		G(fold)(w, &s);
	if (!w->met)
		(t->bits ? G(join_bits) : G(join_windows))(w, &s);
	if (!w->met)
		G(join_lanes)(w);
	if (!w->met) {
		E(store_first)(&r->x, &w->sums[0].x);
		E(store_first)(&r->y, &w->sums[0].y);
	}
	return !w->met;
}
