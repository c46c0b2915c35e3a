/* tests/unit/gate_util.h: what the tests of a whole gate share. */
#ifndef TESTS_GATE_UTIL_H
#define TESTS_GATE_UTIL_H

#include <stdint.h>

#include "gate/gate.h"

/* Chunks from the heap, so that a sanitizer sees what is done with them. */
extern const struct ledger_memory heap_chunks;

/* A gate for a few members, with days for epochs. */
struct gate_config small_gate(void);

/* Both clocks at WALL seconds. */
now_t at(uint64_t wall);

/* A compact token of member N for root 1: well formed, and no proof. */
void make_token(char out[static SEMAPHORE_COMPACT_LENGTH + 1], uint32_t n,
    uint32_t epoch, uint16_t slot);

#endif
