/* The cases of test_field.c, written once for both fields: F(NAME) is the
 * function's name, F_T its element, MODULUS the modulus in decimal. */

/* The element's value as GMP sees it. */
static void
F(value)(mpz_t out, const F_T *a)
{
	uint8_t bytes[32];

	F(to_bytes)(bytes, a);
	mpz_import(out, 32, 1, 1, 1, 0, bytes);
}

/* V mod m as an element, which must be read as canonical. */
static void
F(of)(F_T *out, const mpz_t v)
{
	uint8_t bytes[32];
	mpz_t m, t;

	mpz_init_set_str(m, MODULUS, 10);
	mpz_init(t);
	mpz_mod(t, v, m);
	big_to_bytes(bytes, t);
	CHECK_STATUS(F(from_bytes_strict)(out, bytes), ST_OK);
	mpz_clears(m, t, NULL);
}

/* A value that is random, or close to 0, to m, or to a power of two. */
static void
F(sample)(mpz_t out)
{
	uint8_t bytes[32];
	mpz_t m;

	mpz_init_set_str(m, MODULUS, 10);
	test_random_bytes(bytes, sizeof(bytes));
	mpz_import(out, 32, 1, 1, 1, 0, bytes);
	switch (test_random() % 8) {
	case 0:
		mpz_set_ui(out, test_random() % 4);
		break;
	case 1:
		mpz_sub_ui(out, m, test_random() % 4);
		break;
	case 2:
		mpz_set_ui(out, 1);
		mpz_mul_2exp(out, out, test_random() % 256);
		mpz_sub_ui(out, out, test_random() % 2);
		break;
	default:
		break;
	}
	mpz_mod(out, out, m);
	mpz_clear(m);
}

static void
F(check)(const char *what, const F_T *got, const mpz_t want)
{
	F_T e;

	F(of)(&e, want);
	if (memcmp(&e, got, sizeof(e)) != 0)
		test_fail(__FILE__, __LINE__, "%s is wrong", what);
	CHECK(F(eq)(&e, got));
}

static void
F(test_ring)(void)
{
	mpz_t m, x, y, t;
	F_T a, b, r;

	mpz_inits(x, y, t, NULL);
	mpz_init_set_str(m, MODULUS, 10);
	for (int i = 0; i < ROUNDS; i++) {
		F(sample)(x);
		F(sample)(y);
		F(of)(&a, x);
		F(of)(&b, y);
		F(value)(t, &a);
		CHECK(mpz_cmp(t, x) == 0);
		CHECK(F(eq)(&a, &b) == (mpz_cmp(x, y) == 0));
		CHECK(F(is_zero)(&a) == (mpz_sgn(x) == 0));

		mpz_add(t, x, y);
		F(add)(&r, &a, &b);
		F(check)("a + b", &r, t);
		r = a;
		F(add)(&r, &r, &b);
		F(check)("a += b", &r, t);
		mpz_sub(t, x, y);
		F(sub)(&r, &a, &b);
		F(check)("a - b", &r, t);
		mpz_mul(t, x, y);
		F(mul)(&r, &a, &b);
		F(check)("a * b", &r, t);
		r = b;
		F(mul)(&r, &a, &r);
		F(check)("b = a * b", &r, t);
		mpz_mul(t, x, x);
		F(sqr)(&r, &a);
		F(check)("a^2", &r, t);
		r = a;
		F(mul)(&r, &r, &r);
		F(check)("a *= a", &r, t);
		mpz_neg(t, x);
		F(neg)(&r, &a);
		F(check)("-a", &r, t);
		mpz_mul_2exp(t, x, 1);
		F(dbl)(&r, &a);
		F(check)("2a", &r, t);

		r = b;
		F(cmov)(&r, &a, false);
		CHECK(F(eq)(&r, &b));
		F(cmov)(&r, &a, true);
		CHECK(F(eq)(&r, &a));
	}
	mpz_clears(m, x, y, t, NULL);
}

static void
F(test_power)(void)
{
	mpz_t m, x, e, t;
	uint64_t limbs[4];
	F_T a, r;

	mpz_inits(x, e, t, NULL);
	mpz_init_set_str(m, MODULUS, 10);
	for (int i = 0; i < ROUNDS / 50; i++) {
		size_t n = test_random() % 5;

		F(sample)(x);
		F(of)(&a, x);
		for (size_t j = 0; j < n; j++)
			limbs[j] = test_random() >> test_random() % 64;
		mpz_import(e, n, -1, 8, 0, 0, limbs);
		mpz_powm(t, x, e, m);
		F(pow)(&r, &a, limbs, n);
		F(check)("a^e", &r, t);

		if (mpz_invert(t, x, m) == 0)
			mpz_set_ui(t, 0);
		F(inv)(&r, &a);
		F(check)("1/a", &r, t);
		F(inv_var)(&r, &a);
		F(check)("1/a, variable time", &r, t);
		r = a;
		F(inv_var)(&r, &r);
		F(check)("a = 1/a", &r, t);
	}
	mpz_clears(m, x, e, t, NULL);
}

static void
F(test_inv_many)(void)
{
	F_T a[33], r[33], one;
	mpz_t x;

	mpz_init(x);
	F(inv_many)(r, a, 0);
	for (size_t i = 0; i < 33; i++) {
		F(sample)(x);
		F(of)(&a[i], x);
	}
	a[0] = a[7] = a[32] = F(zero);
	for (size_t n = 1; n <= 33; n++) {
		F(inv_many)(r, a, n);
		for (size_t i = 0; i < n; i++) {
			F(inv)(&one, &a[i]);
			CHECK(F(eq)(&r[i], &one));
		}
	}
	mpz_clear(x);
}

static void
F(test_encoding)(void)
{
	uint8_t bytes[32], back[32];
	uint64_t limbs[4];
	mpz_t m, x, t;
	F_T a;

	mpz_inits(x, t, NULL);
	mpz_init_set_str(m, MODULUS, 10);
	/* m - 1 is the last that is canonical. */
	mpz_sub_ui(x, m, 1);
	big_to_bytes(bytes, x);
	CHECK_STATUS(F(from_bytes_strict)(&a, bytes), ST_OK);
	CHECK_STATUS(F(check_bytes)(bytes), ST_OK);
	F(to_bytes)(back, &a);
	CHECK_MEM(back, bytes, 32);
	for (unsigned i = 0; i < 3 * ROUNDS; i++) {
		bool below;

		mpz_add_ui(x, m, i < 4 ? i : 0);
		if (i >= 4) {
			test_random_bytes(bytes, sizeof(bytes));
			mpz_import(x, 32, 1, 1, 1, 0, bytes);
		}
		below = mpz_cmp(x, m) < 0;
		big_to_bytes(bytes, x);
		CHECK_STATUS(F(from_bytes_strict)(&a, bytes),
		    below ? ST_OK : ST_NOT_CANONICAL);
		CHECK(below || F(is_zero)(&a));
		CHECK_STATUS(
		    F(check_bytes)(bytes), below ? ST_OK : ST_NOT_CANONICAL);
		for (int j = 0; j < 4; j++)
			limbs[j] = load_be64(bytes + 8 * (3 - j));
		CHECK_STATUS(F(from_mont_limbs_strict)(&a, limbs),
		    below ? ST_OK : ST_NOT_CANONICAL);
		if (!below) {
			CHECK(F(is_zero)(&a));
			continue;
		}
		/* The limbs were taken for x = value * 2^256. */
		CHECK_MEM(a.l, limbs, 32);
		F(value)(t, &a);
		mpz_mul_2exp(t, t, 256);
		mpz_mod(t, t, m);
		CHECK(mpz_cmp(t, x) == 0);
		F(to_limbs)(limbs, &a);
		F(value)(t, &a);
		mpz_import(x, 4, -1, 8, 0, 0, limbs);
		CHECK(mpz_cmp(t, x) == 0);
	}
	for (int i = 0; i < 100; i++) {
		uint64_t v = test_random() >> test_random() % 64;

		mpz_set_ui(x, v);
		F(from_u64)(&a, v);
		F(check)("u64", &a, x);
	}
	mpz_set_ui(x, 1);
	F(check)("one", &F(one), x);
	mpz_clears(m, x, t, NULL);
}
