#include "groth16/zkey.h"

#include "base/bytes.h"

#define SECTION_HEAD 12 /* type, length */

/* Offsets within section 2; a u32 32 and 32 bytes of prime, twice, before. */
enum {
	HEADER_Q = 4,
	HEADER_R = 40,
	HEADER_N_VARS = 72,
	HEADER_N_PUBLIC = 76,
	HEADER_DOMAIN = 80,
	HEADER_ALPHA1 = 84,
	HEADER_BETA1 = 148,
	HEADER_BETA2 = 212,
	HEADER_GAMMA2 = 340,
	HEADER_DELTA1 = 468,
	HEADER_DELTA2 = 532,
	HEADER_SIZE = 660,
};

/* The transform doubles the domain, and 2^28 is the largest there is. */
#define DOMAIN_MAX (UINT32_C(1) << 27)

static const uint8_t field_q[32] = {0x47, 0xfd, 0x7c, 0xd8, 0x16, 0x8c, 0x20,
    0x3c, 0x8d, 0xca, 0x71, 0x68, 0x91, 0x6a, 0x81, 0x97, 0x5d, 0x58, 0x81,
    0x81, 0xb6, 0x45, 0x50, 0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64,
    0x30};
static const uint8_t field_r[32] = {0x01, 0x00, 0x00, 0xf0, 0x93, 0xf5, 0xe1,
    0x43, 0x91, 0x70, 0xb9, 0x79, 0x48, 0xe8, 0x33, 0x28, 0x5d, 0x58, 0x81,
    0x81, 0xb6, 0x45, 0x50, 0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64,
    0x30};

static void
load_limbs(uint64_t out[static 4], const uint8_t in[static 32])
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = load_le64(in + 8 * i);
}

void
zkey_g1(g1_t *p, const uint8_t in[static ZKEY_G1_SIZE])
{
	load_limbs(p->x.l, in);
	load_limbs(p->y.l, in + 32);
}

void
zkey_twist(twist_t *p, const uint8_t in[static ZKEY_G2_SIZE])
{
	load_limbs(p->x.c0.l, in);
	load_limbs(p->x.c1.l, in + 32);
	load_limbs(p->y.c0.l, in + 64);
	load_limbs(p->y.c1.l, in + 96);
}

void
zkey_coef(struct zkey_coef *out, const struct zkey *z, uint32_t i)
{
	const uint8_t *in = z->coefs + ZKEY_COEF_SIZE * (size_t)i;

	out->matrix = load_le32(in);
	out->row = load_le32(in + 4);
	out->signal = load_le32(in + 8);
	load_limbs(out->value.l, in + 12);
}

/* --- checks ----------------------------------------------------------------- */

static enum status
load_fp(fp_t *out, const uint8_t in[static 32])
{
	uint64_t limbs[4];

	load_limbs(limbs, in);
	return fp_from_mont_limbs_strict(out, limbs);
}

/* Load two elements. */
static enum status
load_fp_pair(fp_t *a, fp_t *b, const uint8_t in[static 64])
{
	enum status st = load_fp(a, in);

	return st == ST_OK ? load_fp(b, in + 32) : st;
}

static enum status
check_g1(g1_t *p, const uint8_t in[static ZKEY_G1_SIZE])
{
	fp_t x, y;
	enum status st = load_fp_pair(&x, &y, in);

	return st == ST_OK ? g1_set_var(p, &x, &y) : st;
}

static enum status
check_twist(twist_t *p, const uint8_t in[static ZKEY_G2_SIZE])
{
	fp2_t x, y;
	enum status st = load_fp_pair(&x.c0, &x.c1, in);

	if (st == ST_OK)
		st = load_fp_pair(&y.c0, &y.c1, in + 64);
	return st == ST_OK ? twist_set_var(p, &x, &y) : st;
}

static enum status
check_g2(g2_t *p, const uint8_t in[static ZKEY_G2_SIZE])
{
	twist_t t;
	enum status st = check_twist(&t, in);

	return st == ST_OK ? g2_check_var(p, &t) : st;
}

/* Find where the sections are. Of each type there is one. */
static enum status
find_sections(span_t out[static ZKEY_SECTIONS], span_t file)
{
	size_t at = 12;

	if (file.len < at || memcmp(file.ptr, "zkey", 4) != 0)
		return ST_CORRUPT;
	if (load_le32(file.ptr + 4) != 1)
		return ST_BAD_VERSION;
	for (uint32_t n = load_le32(file.ptr + 8); n > 0; n--) {
		if (file.len - at < SECTION_HEAD)
			return ST_BAD_LENGTH;
		uint32_t type = load_le32(file.ptr + at);
		uint64_t length = load_le64(file.ptr + at + 4);
		at += SECTION_HEAD;
		if (length > file.len - at)
			return ST_BAD_LENGTH;
		if (type == ZKEY_FILE || type >= ZKEY_SECTIONS)
			return ST_CORRUPT;
		if (out[type].ptr != NULL)
			return ST_DUPLICATE;
		out[type] = span_of(file.ptr + at, (size_t)length);
		at += (size_t)length;
	}
	return at == file.len ? ST_OK : ST_TRAILING;
}

/* The points of section 2. */
static enum status
read_key_points(struct zkey *z, const uint8_t *head)
{
	g1_t unused;
	const struct {
		g1_t *p;
		size_t at;
	} g1[] = {{&z->vk.alpha, HEADER_ALPHA1}, {&unused, HEADER_BETA1},
	    {&unused, HEADER_DELTA1}};
	const struct {
		g2_t *p;
		size_t at;
	} g2[] = {{&z->vk.beta, HEADER_BETA2}, {&z->vk.gamma, HEADER_GAMMA2},
	    {&z->vk.delta, HEADER_DELTA2}};
	enum status st = ST_OK;

	for (unsigned i = 0; i < 3 && st == ST_OK; i++) {
		st = check_g1(g1[i].p, head + g1[i].at);
		if (st == ST_OK)
			st = check_g2(g2[i].p, head + g2[i].at);
	}
	return st;
}

static enum status
read_header(struct zkey *z, span_t head)
{
	if (head.len != HEADER_SIZE)
		return ST_BAD_LENGTH;
	if (load_le32(head.ptr) != 32 ||
	    memcmp(head.ptr + HEADER_Q, field_q, 32) != 0 ||
	    load_le32(head.ptr + HEADER_R - 4) != 32 ||
	    memcmp(head.ptr + HEADER_R, field_r, 32) != 0)
		return ST_FOREIGN;
	z->n_vars = load_le32(head.ptr + HEADER_N_VARS);
	z->n_public = load_le32(head.ptr + HEADER_N_PUBLIC);
	z->domain = load_le32(head.ptr + HEADER_DOMAIN);
	if (z->n_public < 1 || z->n_public > GROTH16_INPUTS_MAX)
		return ST_FOREIGN;
	if (z->n_vars <= z->n_public + 1 || z->domain < 2 ||
	    z->domain > DOMAIN_MAX || (z->domain & (z->domain - 1)) != 0)
		return ST_BAD_VALUE;
	while (UINT32_C(1) << z->domain_log < z->domain)
		z->domain_log++;
	z->vk.inputs = z->n_public;
	return read_key_points(z, head.ptr);
}

static enum status
read_ic(struct zkey *z, span_t in)
{
	enum status st = ST_OK;

	if (in.len != (z->vk.inputs + 1) * ZKEY_G1_SIZE)
		return ST_BAD_LENGTH;
	for (size_t i = 0; i <= z->vk.inputs && st == ST_OK; i++)
		st = check_g1(&z->vk.ic[i], in.ptr + i * ZKEY_G1_SIZE);
	return st;
}

static enum status
read_coefs(struct zkey *z, span_t in)
{
	struct zkey_coef c;
	uint32_t row = 0;
	fr_t t;

	if (in.len < 4)
		return ST_BAD_LENGTH;
	z->n_coefs = load_le32(in.ptr);
	z->coefs = in.ptr + 4;
	if (in.len - 4 != (uint64_t)z->n_coefs * ZKEY_COEF_SIZE)
		return ST_BAD_LENGTH;
	for (uint32_t i = 0; i < z->n_coefs; i++) {
		zkey_coef(&c, z, i);
		if (c.matrix > 1 || c.row < row || c.row >= z->domain ||
		    c.signal >= z->n_vars)
			return ST_CORRUPT;
		if (fr_from_mont_limbs_strict(&t, c.value.l) != ST_OK)
			return ST_NOT_CANONICAL;
		row = c.row;
	}
	return ST_OK;
}

/* N points of G1, or of the twist; some may be infinity. */
static enum status
read_points(const uint8_t **out, span_t in, uint64_t n, bool twist)
{
	size_t size = twist ? ZKEY_G2_SIZE : ZKEY_G1_SIZE;
	enum status st;
	g1_t p;
	twist_t q;

	if (in.len != n * size)
		return ST_BAD_LENGTH;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = in.ptr + i * size;
		st = twist ? check_twist(&q, at) : check_g1(&p, at);
		if (st != ST_OK && st != ST_INFINITY)
			return st;
	}
	*out = in.ptr;
	return ST_OK;
}

static enum status
read_section(struct zkey *z, enum zkey_section section, span_t in)
{
	uint64_t private = (uint64_t)z->n_vars - z->n_public - 1;

	switch (section) {
	case ZKEY_PROTOCOL:
		if (in.len != 4)
			return ST_BAD_LENGTH;
		return load_le32(in.ptr) == 1 ? ST_OK : ST_FOREIGN;
	case ZKEY_HEADER:
		return read_header(z, in);
	case ZKEY_IC:
		return read_ic(z, in);
	case ZKEY_COEFS:
		return read_coefs(z, in);
	case ZKEY_A:
		return read_points(&z->a, in, z->n_vars, false);
	case ZKEY_B1:
		/* Not used, and so its points are not looked at. */
		return in.len == (uint64_t)z->n_vars * ZKEY_G1_SIZE
		    ? ST_OK
		    : ST_BAD_LENGTH;
	case ZKEY_B2:
		return read_points(&z->b2, in, z->n_vars, true);
	case ZKEY_C:
		return read_points(&z->c, in, private, false);
	case ZKEY_H:
		return read_points(&z->h, in, z->domain, false);
	case ZKEY_FILE:
	case ZKEY_CONTRIBUTIONS:
	case ZKEY_SECTIONS:
		break;
	}
	return ST_OK;
}

enum status
zkey_read(struct zkey *z, span_t file, enum zkey_section *section)
{
	span_t sections[ZKEY_SECTIONS] = {{0}};
	enum status st;

	memset(z, 0, sizeof(*z));
	*section = ZKEY_FILE;
	st = find_sections(sections, file);
	for (unsigned i = ZKEY_PROTOCOL; i <= ZKEY_H && st == ST_OK; i++) {
		*section = (enum zkey_section)i;
		st = sections[i].ptr == NULL
		    ? ST_MISSING
		    : read_section(z, *section, sections[i]);
	}
	if (st != ST_OK)
		memset(z, 0, sizeof(*z));
	return st;
}
