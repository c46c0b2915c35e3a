/* bn254/mont_adx_impl.h: Montgomery arithmetic with MULX, ADCX and ADOX.
 *
 * MULX multiplies by RDX without touching the flags; ADCX adds with the carry
 * flag alone and ADOX with the overflow flag alone. So the low and the high
 * halves of a row of products are added up in two chains of carries side by
 * side (Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large
 * integer arithmetic on Intel architecture processors", 2012).
 *
 * The functions are those of mont_impl.h of the same names without _adx, for
 * the same bounds; each takes the modulus by pointer. Nothing here is executed
 * unless the processor has ADX and BMI2. Private to the folder.
 */
#ifndef BN254_MONT_ADX_IMPL_H
#define BN254_MONT_ADX_IMPL_H

#include "bn254/mont_impl.h"

_Static_assert(offsetof(struct modulus, inv) == 32, "the assembly knows it");

/* t = (t + q m) / 2^64, q = t0 * inv: T0 to T3 are registers; the word above
 * is 0 and stays so, see mont_reduce_row. RAX is left 0 and both flags are
 * added, so that an ADOX may follow. */
#define ADX_REDUCE_ROW(T0, T1, T2, T3)       \
	"movq " T0 ", %%rdx\n\t"             \
	"imulq 32(%[m]), %%rdx\n\t"          \
	"xorl %%eax, %%eax\n\t"              \
	"mulxq (%[m]), %%rax, %[h]\n\t"      \
	"adcxq " T0 ", %%rax\n\t" /* is 0 */ \
	"movq %[h], " T0 "\n\t"              \
	"adcxq " T1 ", " T0 "\n\t"           \
	"mulxq 8(%[m]), %%rax, " T1 "\n\t"   \
	"adoxq %%rax, " T0 "\n\t"            \
	"adcxq " T2 ", " T1 "\n\t"           \
	"mulxq 16(%[m]), %%rax, " T2 "\n\t"  \
	"adoxq %%rax, " T1 "\n\t"            \
	"adcxq " T3 ", " T2 "\n\t"           \
	"mulxq 24(%[m]), %%rax, " T3 "\n\t"  \
	"adoxq %%rax, " T2 "\n\t"            \
	"movl $0, %%eax\n\t"                 \
	"adcxq %%rax, " T3 "\n\t"

#define ADX_REDUCE ADX_REDUCE_ROW("%[t0]", "%[t1]", "%[t2]", "%[t3]")

/* Row I of a product: t += a * b[I], with H the word above. */
#define ADX_MUL_ROW(I)                     \
	"movq 8*" #I "(%[b]), %%rdx\n\t"   \
	"xorl %%eax, %%eax\n\t"            \
	"mulxq (%[a]), %%rax, %[h]\n\t"    \
	"adoxq %%rax, %[t0]\n\t"           \
	"adcxq %[h], %[t1]\n\t"            \
	"mulxq 8(%[a]), %%rax, %[h]\n\t"   \
	"adoxq %%rax, %[t1]\n\t"           \
	"adcxq %[h], %[t2]\n\t"            \
	"mulxq 16(%[a]), %%rax, %[h]\n\t"  \
	"adoxq %%rax, %[t2]\n\t"           \
	"adcxq %[h], %[t3]\n\t"            \
	"mulxq 24(%[a]), %%rax, %[t4]\n\t" \
	"adoxq %%rax, %[t3]\n\t"           \
	"movl $0, %%eax\n\t"               \
	"adcxq %%rax, %[t4]\n\t"           \
	"adoxq %%rax, %[t4]\n\t"

/* t - m if that is not negative; T4, H, RAX and RDX hold t meanwhile. */
#define ADX_REDUCE_ONCE            \
	"movq %[t0], %%rax\n\t"    \
	"movq %[t1], %%rdx\n\t"    \
	"movq %[t2], %[h]\n\t"     \
	"movq %[t3], %[t4]\n\t"    \
	"subq (%[m]), %[t0]\n\t"   \
	"sbbq 8(%[m]), %[t1]\n\t"  \
	"sbbq 16(%[m]), %[t2]\n\t" \
	"sbbq 24(%[m]), %[t3]\n\t" \
	"cmovcq %%rax, %[t0]\n\t"  \
	"cmovcq %%rdx, %[t1]\n\t"  \
	"cmovcq %[h], %[t2]\n\t"   \
	"cmovcq %[t4], %[t3]\n\t"

/* What the assembly reads and writes, whatever struct it belongs to. */
typedef struct {
	uint64_t l[4];
} __attribute__((may_alias)) limbs4_t;

typedef struct {
	uint64_t l[8];
} __attribute__((may_alias)) limbs8_t;

static inline void
mont_mul_adx(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t0, t1, t2, t3, t4, h;

	__asm__("movq (%[b]), %%rdx\n\t"
		"xorl %%eax, %%eax\n\t"
		"mulxq (%[a]), %[t0], %[t1]\n\t"
		"mulxq 8(%[a]), %%rax, %[t2]\n\t"
		"adoxq %%rax, %[t1]\n\t"
		"mulxq 16(%[a]), %%rax, %[t3]\n\t"
		"adoxq %%rax, %[t2]\n\t"
		"mulxq 24(%[a]), %%rax, %[t4]\n\t"
		"adoxq %%rax, %[t3]\n\t"
		"movl $0, %%eax\n\t"
		"adoxq %%rax, %[t4]\n\t"
		/* clang-format off */
		ADX_REDUCE "adoxq %[t4], %[t3]\n\t"
		ADX_MUL_ROW(1) ADX_REDUCE "adoxq %[t4], %[t3]\n\t"
		ADX_MUL_ROW(2) ADX_REDUCE "adoxq %[t4], %[t3]\n\t"
		ADX_MUL_ROW(3) ADX_REDUCE "adoxq %[t4], %[t3]\n\t"
		ADX_REDUCE_ONCE
		/* clang-format on */
		: [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2),
		[t3] "=&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h)
		: [a] "r"(a), [b] "r"(b), [m] "r"(m), "m"(*(const limbs4_t *)a),
		"m"(*(const limbs4_t *)b), "m"(*m)
		: "rax", "rdx", "cc");
	r[0] = t0;
	r[1] = t1;
	r[2] = t2;
	r[3] = t3;
}

/* Row I, whose lowest word is done: into w[I]. */
#define ADX_WIDE_ROW(I)                    \
	"movq 8*" #I "(%[b]), %%rdx\n\t"   \
	"xorl %%eax, %%eax\n\t"            \
	"mulxq (%[a]), %%rax, %[h]\n\t"    \
	"adoxq %%rax, %[t0]\n\t"           \
	"movq %[t0], 8*" #I "(%[w])\n\t"   \
	"movq %[h], %[t0]\n\t"             \
	"adcxq %[t1], %[t0]\n\t"           \
	"mulxq 8(%[a]), %%rax, %[t1]\n\t"  \
	"adoxq %%rax, %[t0]\n\t"           \
	"adcxq %[t2], %[t1]\n\t"           \
	"mulxq 16(%[a]), %%rax, %[t2]\n\t" \
	"adoxq %%rax, %[t1]\n\t"           \
	"adcxq %[t3], %[t2]\n\t"           \
	"mulxq 24(%[a]), %%rax, %[t3]\n\t" \
	"adoxq %%rax, %[t2]\n\t"           \
	"movl $0, %%eax\n\t"               \
	"adcxq %%rax, %[t3]\n\t"           \
	"adoxq %%rax, %[t3]\n\t"

/* w = a * b; w overlaps neither. */
static inline void
limbs_mul_adx(uint64_t w[static 8], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	uint64_t t0, t1, t2, t3, h;

	__asm__("movq (%[b]), %%rdx\n\t"
		"mulxq (%[a]), %[h], %[t0]\n\t"
		"movq %[h], (%[w])\n\t"
		"mulxq 8(%[a]), %%rax, %[t1]\n\t"
		"addq %%rax, %[t0]\n\t"
		"mulxq 16(%[a]), %%rax, %[t2]\n\t"
		"adcq %%rax, %[t1]\n\t"
		"mulxq 24(%[a]), %%rax, %[t3]\n\t"
		"adcq %%rax, %[t2]\n\t"
		"adcq $0, %[t3]\n\t"
		/* clang-format off */
		ADX_WIDE_ROW(1) ADX_WIDE_ROW(2) ADX_WIDE_ROW(3)
		"movq %[t0], 32(%[w])\n\t"
		"movq %[t1], 40(%[w])\n\t"
		"movq %[t2], 48(%[w])\n\t"
		"movq %[t3], 56(%[w])\n\t"
		/* clang-format on */
		: [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2),
		[t3] "=&r"(t3), [h] "=&r"(h), "=m"(*(limbs8_t *)w)
		: [a] "r"(a), [b] "r"(b), [w] "r"(w), "m"(*(const limbs4_t *)a),
		"m"(*(const limbs4_t *)b)
		: "rax", "rdx", "cc");
}

static inline void
mont_redc_wide_adx(
    uint64_t r[static 4], const uint64_t w[static 8], const struct modulus *m)
{
	uint64_t t0 = w[0], t1 = w[1], t2 = w[2], t3 = w[3], t4, h;

	/* clang-format off */
	__asm__(ADX_REDUCE "adoxq %%rax, %[t3]\n\t"
		ADX_REDUCE "adoxq %%rax, %[t3]\n\t"
		ADX_REDUCE "adoxq %%rax, %[t3]\n\t"
		ADX_REDUCE "adoxq %%rax, %[t3]\n\t"
		"addq 32(%[w]), %[t0]\n\t"
		"adcq 40(%[w]), %[t1]\n\t"
		"adcq 48(%[w]), %[t2]\n\t"
		"adcq 56(%[w]), %[t3]\n\t"
		ADX_REDUCE_ONCE
		/* clang-format on */
		: [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2),
		[t3] "+&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h)
		: [w] "r"(w), [m] "r"(m), "m"(*(const limbs8_t *)w), "m"(*m)
		: "rax", "rdx", "cc");
	r[0] = t0;
	r[1] = t1;
	r[2] = t2;
	r[3] = t3;
}

/* The sums below keep their carries in the flag from the first limb to the
 * choice at the end, by CMOV, which a compiler does not do. */

/* r = a mod m for a below 2m. */
static inline void
mont_reduce_once_adx(
    uint64_t r[static 4], const uint64_t a[static 4], const struct modulus *m)
{
	uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4, h;

	__asm__(ADX_REDUCE_ONCE
		: [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2),
		[t3] "+&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h)
		: [m] "r"(m), "m"(*m)
		: "rax", "rdx", "cc");
	r[0] = t0;
	r[1] = t1;
	r[2] = t2;
	r[3] = t3;
}

/* r = a + b mod m */
static inline void
mont_add_adx(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4, h;

	/* clang-format off */
	__asm__("addq (%[b]), %[t0]\n\t"
		"adcq 8(%[b]), %[t1]\n\t"
		"adcq 16(%[b]), %[t2]\n\t"
		"adcq 24(%[b]), %[t3]\n\t"
		ADX_REDUCE_ONCE
		/* clang-format on */
		: [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2),
		[t3] "+&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h)
		: [b] "r"(b), [m] "r"(m), "m"(*(const limbs4_t *)b), "m"(*m)
		: "rax", "rdx", "cc");
	r[0] = t0;
	r[1] = t1;
	r[2] = t2;
	r[3] = t3;
}

/* t + m if CF is set, else t. */
#define ADX_ADD_BACK                 \
	"movl $0, %%eax\n\t"         \
	"movl $0, %%edx\n\t"         \
	"movl $0, %k[t4]\n\t"        \
	"movl $0, %k[h]\n\t"         \
	"cmovcq (%[m]), %%rax\n\t"   \
	"cmovcq 8(%[m]), %%rdx\n\t"  \
	"cmovcq 16(%[m]), %[h]\n\t"  \
	"cmovcq 24(%[m]), %[t4]\n\t" \
	"addq %%rax, %[t0]\n\t"      \
	"adcq %%rdx, %[t1]\n\t"      \
	"adcq %[h], %[t2]\n\t"       \
	"adcq %[t4], %[t3]\n\t"

/* r = a - b mod m */
static inline void
mont_sub_adx(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4, h;

	/* clang-format off */
	__asm__("subq (%[b]), %[t0]\n\t"
		"sbbq 8(%[b]), %[t1]\n\t"
		"sbbq 16(%[b]), %[t2]\n\t"
		"sbbq 24(%[b]), %[t3]\n\t"
		ADX_ADD_BACK
		/* clang-format on */
		: [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2),
		[t3] "+&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h)
		: [b] "r"(b), [m] "r"(m), "m"(*(const limbs4_t *)b), "m"(*m)
		: "rax", "rdx", "cc");
	r[0] = t0;
	r[1] = t1;
	r[2] = t2;
	r[3] = t3;
}

/* w = a + b and w = a - b modulo m 2^256: the upper half modulo m. The lower
 * half is stored as it comes; w may be a or b. */
#define ADX_WIDE_SUM(OP, OP_CARRY)                                          \
	"movq (%[a]), %[t0]\n\t"                                            \
	"movq 8(%[a]), %[t1]\n\t"                                           \
	"movq 16(%[a]), %[t2]\n\t"                                          \
	"movq 24(%[a]), %[t3]\n\t" OP " (%[b]), %[t0]\n\t" OP_CARRY         \
	" 8(%[b]), %[t1]\n\t" OP_CARRY " 16(%[b]), %[t2]\n\t" OP_CARRY      \
	" 24(%[b]), %[t3]\n\t"                                              \
	"movq %[t0], (%[w])\n\t"                                            \
	"movq %[t1], 8(%[w])\n\t"                                           \
	"movq %[t2], 16(%[w])\n\t"                                          \
	"movq %[t3], 24(%[w])\n\t"                                          \
	"movq 32(%[a]), %[t0]\n\t"                                          \
	"movq 40(%[a]), %[t1]\n\t"                                          \
	"movq 48(%[a]), %[t2]\n\t"                                          \
	"movq 56(%[a]), %[t3]\n\t" OP_CARRY " 32(%[b]), %[t0]\n\t" OP_CARRY \
	" 40(%[b]), %[t1]\n\t" OP_CARRY " 48(%[b]), %[t2]\n\t" OP_CARRY     \
	" 56(%[b]), %[t3]\n\t"

#define ADX_WIDE_STORE             \
	"movq %[t0], 32(%[w])\n\t" \
	"movq %[t1], 40(%[w])\n\t" \
	"movq %[t2], 48(%[w])\n\t" \
	"movq %[t3], 56(%[w])\n\t"

static inline void
mont_wide_add_adx(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8], const struct modulus *m)
{
	uint64_t t0, t1, t2, t3, t4, h;

	__asm__(ADX_WIDE_SUM("addq", "adcq") ADX_REDUCE_ONCE ADX_WIDE_STORE
		: [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2),
		[t3] "=&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h),
		"+m"(*(limbs8_t *)w)
		: [a] "r"(a), [b] "r"(b), [w] "r"(w), [m] "r"(m),
		"m"(*(const limbs8_t *)a), "m"(*(const limbs8_t *)b), "m"(*m)
		: "rax", "rdx", "cc");
}

static inline void
mont_wide_sub_adx(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8], const struct modulus *m)
{
	uint64_t t0, t1, t2, t3, t4, h;

	__asm__(ADX_WIDE_SUM("subq", "sbbq") ADX_ADD_BACK ADX_WIDE_STORE
		: [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2),
		[t3] "=&r"(t3), [t4] "=&r"(t4), [h] "=&r"(h),
		"+m"(*(limbs8_t *)w)
		: [a] "r"(a), [b] "r"(b), [w] "r"(w), [m] "r"(m),
		"m"(*(const limbs8_t *)a), "m"(*(const limbs8_t *)b), "m"(*m)
		: "rax", "rdx", "cc");
}

/* w -= a + b where that is not negative; w is neither. Eight limbs in registers,
 * so that w is read and written once. */
static inline void
limbs_sub_two_adx(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	uint64_t t0, t1, t2, t3, t4, t5, t6, t7;

	__asm__(
	    "movq (%[w]), %[t0]\n\t"
	    "movq 8(%[w]), %[t1]\n\t"
	    "movq 16(%[w]), %[t2]\n\t"
	    "movq 24(%[w]), %[t3]\n\t"
	    "movq 32(%[w]), %[t4]\n\t"
	    "movq 40(%[w]), %[t5]\n\t"
	    "movq 48(%[w]), %[t6]\n\t"
	    "movq 56(%[w]), %[t7]\n\t"
	    "subq (%[a]), %[t0]\n\t"
	    "sbbq 8(%[a]), %[t1]\n\t"
	    "sbbq 16(%[a]), %[t2]\n\t"
	    "sbbq 24(%[a]), %[t3]\n\t"
	    "sbbq 32(%[a]), %[t4]\n\t"
	    "sbbq 40(%[a]), %[t5]\n\t"
	    "sbbq 48(%[a]), %[t6]\n\t"
	    "sbbq 56(%[a]), %[t7]\n\t"
	    "subq (%[b]), %[t0]\n\t"
	    "sbbq 8(%[b]), %[t1]\n\t"
	    "sbbq 16(%[b]), %[t2]\n\t"
	    "sbbq 24(%[b]), %[t3]\n\t"
	    "sbbq 32(%[b]), %[t4]\n\t"
	    "sbbq 40(%[b]), %[t5]\n\t"
	    "sbbq 48(%[b]), %[t6]\n\t"
	    "sbbq 56(%[b]), %[t7]\n\t"
	    "movq %[t0], (%[w])\n\t"
	    "movq %[t1], 8(%[w])\n\t"
	    "movq %[t2], 16(%[w])\n\t"
	    "movq %[t3], 24(%[w])\n\t"
	    "movq %[t4], 32(%[w])\n\t"
	    "movq %[t5], 40(%[w])\n\t"
	    "movq %[t6], 48(%[w])\n\t"
	    "movq %[t7], 56(%[w])\n\t"
	    : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3),
	    [t4] "=&r"(t4), [t5] "=&r"(t5), [t6] "=&r"(t6), [t7] "=&r"(t7),
	    "+m"(*(limbs8_t *)w)
	    : [a] "r"(a), [b] "r"(b), [w] "r"(w), "m"(*(const limbs8_t *)a),
	    "m"(*(const limbs8_t *)b)
	    : "cc");
}

#endif
