#include "gate_util.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "harness.h"

static void *
take(void *ctx)
{
	(void)ctx;
	void *chunk = aligned_alloc(64, LEDGER_CHUNK);

	if (chunk != NULL)
		memset(chunk, 0, LEDGER_CHUNK);
	return chunk;
}

static void
give(void *ctx, void *chunk)
{
	(void)ctx;
	free(chunk);
}

const struct ledger_memory heap_chunks = {take, give, NULL};

struct gate_config
small_gate(void)
{
	return (struct gate_config){
	    .epoch = {.length = 86400, .grace = 600, .early = 60, .slots = 1},
	    .hold = 60000,
	    .root_keep = 1000,
	    .memory = heap_chunks,
	    .ledger_chunks = 20,
	    .roots = 2 * ROOT_GROUPS_MAX,
	    .cached = 100,
	    .checks = 10,
	    .sessions = 100,
	};
}

now_t
at(uint64_t wall)
{
	return (now_t){.wall = wall, .mono = wall * 1000};
}

void
make_token(char out[static SEMAPHORE_COMPACT_LENGTH + 1], uint32_t n,
    uint32_t epoch, uint16_t slot)
{
	struct semaphore_proof p = {
	    .depth = 10,
	    .form = SEMAPHORE_COMPRESSED,
	    .root = {[31] = 1},
	};

	store_be32(p.nullifier + 4, n);
	p.points[0] = p.points[32] = p.points[96] = 0x80;
	p.points[31] = p.points[95] = p.points[127] = 1;
	CHECK_STATUS(semaphore_token_compact(out, &p, epoch, slot), ST_OK);
}
