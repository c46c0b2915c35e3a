#include "sphinx_util.h"

#include "harness.h"
#include "sphinx/packet.h"

const enum sphinx_suite suites[2] = {SPHINX_WIDE, SPHINX_STREAM};
const enum sphinx_kernel kernels[2] = {
    SPHINX_KERNEL_PORTABLE, SPHINX_KERNEL_IFMA};

struct sphinx *
context(enum sphinx_suite suite, enum sphinx_kernel kernel)
{
	struct sphinx *s;

	if (x25519_kernel(kernel) == NULL) {
		CHECK_STATUS(sphinx_new(&s, suite, kernel), ST_NOT_FOUND);
		CHECK(s == NULL);
		return NULL;
	}
	CHECK_STATUS(sphinx_new(&s, suite, kernel), ST_OK);
	CHECK(sphinx_suite_of(s) == suite);
	CHECK(sphinx_kernel_of(s) != SPHINX_KERNEL_AUTO);
	return s;
}

void
random_path(sphinx_path_t *path, sphinx_key_t *keys, unsigned hops)
{
	path->hops = hops;
	for (unsigned i = 0; i < hops; i++) {
		uint8_t secret[32];
		test_random_bytes(secret, sizeof(secret));
		sphinx_key_make(&keys[i], secret);
		memcpy(path->hop[i].id, keys[i].id, 32);
		path->hop[i].delay_ms =
		    i == 0 ? UINT32_MAX : (uint32_t)test_random();
	}
	test_random_bytes(path->tag, sizeof(path->tag));
}

void
sample(struct sphinx *s, sphinx_packet_t *packet, sphinx_key_t *keys,
    unsigned hops)
{
	sphinx_path_t path;
	uint8_t seed[32];

	random_path(&path, keys, hops);
	test_random_bytes(seed, sizeof(seed));
	CHECK_STATUS(sphinx_build(s, packet, &path, "x", 1, seed), ST_OK);
}

sphinx_step_t
peel_all(struct sphinx *s, sphinx_packet_t *packet, const sphinx_key_t *keys,
    unsigned hops)
{
	sphinx_step_t step = {0};

	for (unsigned i = 0; i < hops; i++) {
		CHECK_STATUS(sphinx_peel(s, &step, packet, &keys[i]), ST_OK);
		CHECK(i + 1 == hops || step.action == SPHINX_FORWARD);
	}
	return step;
}
