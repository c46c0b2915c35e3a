/* Registries: what is accepted is complete and in order; what is refused says
 * where. */
#include "fuzz.h"

#include "mix/registry.h"

static void
check_registry(const struct registry *r)
{
	FUZZ_CHECK(r->n >= MIX_LAYERS && r->n <= REGISTRY_MAX_NODES);
	FUZZ_CHECK(r->start[0] == 0 && r->start[MIX_LAYERS] == r->n);
	for (size_t i = 0; i < r->n; i++) {
		const struct registry_node *node = &r->nodes[i];
		FUZZ_CHECK(i >= r->start[node->layer] &&
		    i < r->start[node->layer + 1]);
		FUZZ_CHECK(registry_find(r, node->id) == node);
		FUZZ_CHECK(registry_find(r, registry_key(node, 0)) == node);
		FUZZ_CHECK(sphinx_id_is_valid(registry_key(node, INT64_MAX)));
		FUZZ_CHECK(node->at.port != 0 && node->at.ip.version != 0);
	}
	for (unsigned l = 0; l < MIX_LAYERS; l++)
		FUZZ_CHECK(r->start[l] < r->start[l + 1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size);
	struct registry_fault f;
	struct registry *r;
	enum status st =
	    registry_parse(&r, &f, (const char *)copy, size, SPHINX_WIDE);

	FUZZ_CHECK((st == ST_OK) == (r != NULL));
	if (st == ST_OK)
		check_registry(r);
	else
		FUZZ_CHECK(f.what != NULL && f.line >= 1 && f.line <= size + 1);
	free(copy);
	registry_free(&r);
	return 0;
}
