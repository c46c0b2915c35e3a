#include "hash/poseidon.h"

#include <string.h>

#include "base/cpu.h"
#include "base/wipe.h"
#include "hash/poseidon_kernels.h"

void
poseidon_pair(fr_t *out, const fr_t *a, const fr_t *b)
{
#ifdef __x86_64__
	if (cpu_has_adx()) {
		poseidon_adx_one(out, a, b);
		return;
	}
#endif
	poseidon_c64_one(out, a, b);
}

static void
pairs_alone(fr_t *out, const fr_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		poseidon_pair(&out[i], &in[2 * i], &in[2 * i + 1]);
}

#ifdef __x86_64__
static void
pairs_wide(fr_t *out, const fr_t *in, size_t n)
{
	fr_t rest[2 * POSEIDON_LANES] = {{{0}}};

	for (; n >= POSEIDON_LANES; n -= POSEIDON_LANES) {
		poseidon_ifma_eight(out, in);
		out += POSEIDON_LANES;
		in += 2 * POSEIDON_LANES;
	}
	/* Eight at a time cost about as much as two alone. */
	if (n < 2) {
		pairs_alone(out, in, n);
		return;
	}
	memcpy(rest, in, 2 * n * sizeof(*in));
	poseidon_ifma_eight(rest, rest);
	memcpy(out, rest, n * sizeof(*out));
	wipe(rest, sizeof(rest));
}
#endif

void
poseidon_pairs(fr_t *out, const fr_t *in, size_t n)
{
#ifdef __x86_64__
	if (n > 1 && cpu_has_ifma()) {
		pairs_wide(out, in, n);
		return;
	}
#endif
	pairs_alone(out, in, n);
}
