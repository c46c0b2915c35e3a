/* The JSON of a verification key: what is read is on its curves and in its
 * groups; what is refused leaves nothing. */
#include "fuzz.h"

#include "semaphore/vkey_json.h"

static void
check_g2(const g2_t *p)
{
	g2_t again;

	FUZZ_CHECK(g2_check_var(&again, &p->point) == ST_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct groth16_vk none;
	struct groth16_vk vk;
	const char *where;

	if (vkey_from_json(&vk, 4, data, size, &where) != ST_OK) {
		FUZZ_CHECK(where != NULL);
		FUZZ_CHECK(memcmp(&vk, &none, sizeof(none)) == 0);
		return 0;
	}
	FUZZ_CHECK(vk.inputs == 4 && where[0] == '\0');
	FUZZ_CHECK(g1_on_curve(&vk.alpha) && !g1_is_infinity(&vk.alpha));
	check_g2(&vk.beta);
	check_g2(&vk.gamma);
	check_g2(&vk.delta);
	for (unsigned i = 0; i <= 4; i++)
		FUZZ_CHECK(
		    g1_on_curve(&vk.ic[i]) && !g1_is_infinity(&vk.ic[i]));
	return 0;
}
