/* The reader of proving keys; a small key that it takes must also be usable. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "groth16/prove.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SMALL 64

static void
use(const struct zkey *key)
{
	uint64_t w[SMALL][4];
	bool is_bit[SMALL] = {true};
	struct groth16_pk pk;
	struct groth16_proof proof;
	void *pk_memory =
		 aligned_alloc(64, (groth16_pk_size(key) + 63) / 64 * 64),
	     *memory;

	if (pk_memory == NULL)
		return;
	memset(w, 1, sizeof(w));
	memset(w[0], 0, sizeof(w[0]));
	w[0][0] = 1;
	groth16_pk_init(&pk, key, is_bit, NULL, pk_memory);
	memory =
	    aligned_alloc(64, (groth16_prove_memory(&pk, 1) + 63) / 64 * 64);
	if (memory != NULL)
		groth16_prove(&proof, &pk, (const uint64_t(*)[4])w, &fr_one,
		    &fr_one, memory, NULL);
	free(memory);
	free(pk_memory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zkey key;
	enum zkey_section section;

	if (zkey_read(&key, span_of(data, size), &section) == ST_OK &&
	    key.n_vars <= SMALL && key.domain <= SMALL)
		use(&key);
	return 0;
}
