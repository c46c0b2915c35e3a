/* semaphore/contract.h: what the official Semaphore contract says of a group,
 * asked of an Ethereum node by JSON-RPC.
 *
 * A chain has a group's root and not its members, so this is all that a
 * gateway can learn of it, and all that it needs. Five questions make up a
 * state: the number of the newest block; then, of one block some way behind
 * it, its hash and time, and the group's root, depth and size as they were
 * there. Two nodes whose states are equal agree on the whole chain up to that
 * block, as its hash stands for it.
 *
 * Strict: an answer has the asked id, one result and no error, numbers are hex
 * without leading zeros, words exactly 32 bytes. "0x", which is what a node
 * says of an address without a contract, is refused.
 *
 * Sources: the Ethereum execution API (ethereum/execution-apis); the contract
 * ABI specification (Solidity documentation) for the calls; ISemaphoreGroups
 * of @semaphore-protocol/contracts 4 for their names; LeanIMT (the paper of
 * zk-kit) for how depth follows from size. Pure.
 */
#ifndef SEMAPHORE_CONTRACT_H
#define SEMAPHORE_CONTRACT_H

#include <stdint.h>

#include "base/out.h"
#include "base/span.h"
#include "postern/attr.h"
#include "postern/status.h"

#define CONTRACT_ADDRESS_SIZE 20
/* Longest request, and longest answer that is read: a block with the hashes
 * of its transactions is some hundred kilobytes. */
#define CONTRACT_REQUEST_MAX 512
#define CONTRACT_ANSWER_MAX ((size_t)4 << 20)
#define CONTRACT_WHY_MAX 160

struct contract_group {
	uint8_t address[CONTRACT_ADDRESS_SIZE];
	uint8_t group[32]; /* its number, big-endian */
};

enum contract_question {
	CONTRACT_NEWEST, /* number of the newest block */
	CONTRACT_BLOCK, /* hash and time of a block */
	CONTRACT_ROOT, /* of the group, at that block */
	CONTRACT_DEPTH,
	CONTRACT_SIZE,
	CONTRACT_QUESTIONS,
};

/* A group as it was at a block: a plain value. */
struct contract_state {
	uint64_t newest; /* when it was asked; not part of what must agree */
	uint64_t block, time; /* seconds since 1970 */
	uint8_t hash[32];
	uint8_t root[32]; /* big-endian; zero for a group without members */
	uint32_t depth;
	uint64_t size;
};

/* Read an address, "0x" and 40 hex digits. (Its checksum, EIP-55, is not
 * looked at.)
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING. */
enum status contract_address(
    uint8_t out[static CONTRACT_ADDRESS_SIZE], span_t text) WARN_UNUSED;

/* Write the request for Q of group G at BLOCK (where Q is of a block). The id
 * is Q. Fits CONTRACT_REQUEST_MAX. */
void contract_ask(struct out *o, enum contract_question q,
    const struct contract_group *g, uint64_t block);

/* Read the answer TEXT to Q into its place in S.
 * Out:     why, for people, on failure.
 * Returns: ST_OK; ST_NOT_JSON; ST_BAD_VALUE (an answer, but not to this: an
 *          error of the node's, another id, a number out of range);
 *          ST_NO_MEMORY. */
enum status
contract_hear(struct contract_state *s, char why[static CONTRACT_WHY_MAX],
    enum contract_question q, span_t text) WARN_UNUSED;

/* Whether S, all of whose parts have been heard, can be a LeanIMT's: the root
 * below r and zero when there is nobody, the depth that of the size.
 * Returns: ST_OK; ST_NOT_CANONICAL; ST_BAD_VALUE. */
enum status contract_state_check(const struct contract_state *s) WARN_UNUSED;

/* Whether A and B are of the same block and group. */
bool contract_state_equal(
    const struct contract_state *a, const struct contract_state *b);

#endif
