/* Verify one Semaphore proof, as the official JavaScript makes it, from the
 * standard input: "valid", or why not.
 *
 *	cc verify_proof.c $(pkg-config --cflags --libs libpostern)
 *
 * That a proof holds is not all that a gate has to ask: it also compares root,
 * message and scope with its own, and counts the nullifier. */
#include <postern/semaphore.h>
#include <stdio.h>

int
main(void)
{
	char text[SEMAPHORE_TOKEN_MAX], why[SEMAPHORE_FAULT_MAX];
	size_t len = fread(text, 1, sizeof(text), stdin);
	struct semaphore_keys *keys;
	struct semaphore_proof proof;
	struct semaphore_fault fault;

	if (semaphore_proof_from_json(&proof, text, len, &fault) != ST_OK) {
		printf("not a proof: %s\n", semaphore_fault_text(why, &fault));
		return 2;
	}
	enum status st =
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(proof.depth), NULL);
	if (st != ST_OK) {
		printf("no keys: %s\n", status_text(st));
		return 2;
	}
	st = semaphore_verify(keys, NULL, &proof, &fault);
	semaphore_keys_free(keys);
	if (st != ST_OK) {
		printf("invalid: %s\n", semaphore_fault_text(why, &fault));
		return 1;
	}
	printf("valid\n");
	return 0;
}
