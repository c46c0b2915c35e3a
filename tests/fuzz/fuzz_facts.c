/* What a gateway says of itself: GET /.well-known/postern. */
#include "fuzz.h"

#include "client/facts.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct facts none;
	struct facts f;
	const char *where = NULL;
	enum status st = facts_read(&f, &where, data, size);

	FUZZ_CHECK(where != NULL);
	if (st != ST_OK) {
		FUZZ_CHECK(memcmp(&f, &none, sizeof(f)) == 0);
		return 0;
	}
	FUZZ_CHECK(f.n_roots <= FACTS_ROOTS_MAX);
	FUZZ_CHECK(f.n_groups <= FACTS_GROUPS_MAX);
	FUZZ_CHECK(epoch_rules_check(&f.rules, NULL) == ST_OK);
	for (size_t i = 0; i < f.n_roots; i++) {
		FUZZ_CHECK(facts_find_root(&f, f.roots[i].root) != NULL);
		FUZZ_CHECK(memchr(f.roots[i].group, '\0', FACTS_NAME_MAX));
	}
	for (size_t i = 0; i < f.n_groups; i++) {
		FUZZ_CHECK(memchr(f.groups[i].name, '\0', FACTS_NAME_MAX));
		FUZZ_CHECK(
		    memchr(f.groups[i].members_path, '\0', FACTS_PATH_MAX));
	}
	return 0;
}
