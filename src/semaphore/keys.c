#include "semaphore/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "semaphore/keys_data.h"
#include "semaphore/vkey_json.h"

struct semaphore_keys {
	const struct bn254_kernel *kernel;
	uint64_t revision;
	/* [depth - 1]; memory is what the prepared key lives in. */
	void *memory[SEMAPHORE_DEPTH_MAX];
	const struct groth16_pvk *key[SEMAPHORE_DEPTH_MAX];
};

/* --- the built-in data --- */

static void
put_words(uint8_t *out, const uint64_t (*words)[4], size_t n)
{
	for (size_t i = 0; i < 4 * n; i++)
		store_be64(out + 8 * i, words[i / 4][i % 4]);
}

static enum status
load_g1(g1_t *out, const uint64_t words[static 2][4])
{
	uint8_t bytes[64];

	put_words(bytes, words, 2);
	return g1_decode_var(out, bytes);
}

static enum status
load_g2(g2_t *out, const uint64_t words[static 4][4])
{
	uint8_t bytes[128];
	twist_t twist;
	enum status st;

	put_words(bytes, words, 4);
	st = twist_decode_var(&twist, bytes);
	return st == ST_OK ? g2_check_var(out, &twist) : st;
}

enum status
keys_official(struct groth16_vk *vk, uint32_t depth)
{
	memset(vk, 0, sizeof(*vk));
	vk->inputs = SEMAPHORE_INPUTS;
	if (load_g1(&vk->alpha, keys_data.alpha) != ST_OK ||
	    load_g2(&vk->beta, keys_data.beta) != ST_OK ||
	    load_g2(&vk->gamma, keys_data.gamma) != ST_OK ||
	    load_g2(&vk->delta, keys_data.depth[depth - 1].delta) != ST_OK)
		return ST_CORRUPT;
	for (unsigned i = 0; i <= SEMAPHORE_INPUTS; i++) {
		if (load_g1(&vk->ic[i], keys_data.depth[depth - 1].ic[i]) !=
		    ST_OK)
			return ST_CORRUPT;
	}
	return ST_OK;
}

/* --- the prepared keys --- */

/* Prepare VK and put it in DEPTH's place. */
static enum status
install(
    struct semaphore_keys *keys, uint32_t depth, const struct groth16_vk *vk)
{
	size_t size = groth16_pvk_size(keys->kernel, vk->inputs);
	const struct groth16_pvk *key;
	void *memory;
	enum status st;

	/* aligned_alloc wants a size in whole units of the alignment. */
	size = (size + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
	    GROTH16_PVK_ALIGN;
	if ((memory = aligned_alloc(GROTH16_PVK_ALIGN, size)) == NULL)
		return ST_NO_MEMORY;
	if ((st = groth16_prepare(&key, memory, keys->kernel, vk)) != ST_OK) {
		free(memory);
		return st;
	}
	free(keys->memory[depth - 1]);
	keys->memory[depth - 1] = memory;
	keys->key[depth - 1] = key;
	keys->revision++;
	return ST_OK;
}

enum status
semaphore_keys_new(
    struct semaphore_keys **keys, uint32_t depths, const char *kernel)
{
	const struct bn254_kernel *k;
	enum status st = bn254_kernel_pick(&k, kernel);

	*keys = NULL;
	if (st != ST_OK)
		return st;
	if ((*keys = calloc(1, sizeof(**keys))) == NULL)
		return ST_NO_MEMORY;
	(*keys)->kernel = k;
	for (uint32_t d = 1; d <= SEMAPHORE_DEPTH_MAX && st == ST_OK; d++) {
		if ((depths & SEMAPHORE_DEPTH_BIT(d)) != 0)
			st = semaphore_keys_need(*keys, d);
	}
	if (st != ST_OK) {
		semaphore_keys_free(*keys);
		*keys = NULL;
	}
	return st;
}

enum status
semaphore_keys_need(struct semaphore_keys *keys, uint32_t depth)
{
	struct groth16_vk vk;
	enum status st;

	if (depth < SEMAPHORE_DEPTH_MIN || depth > SEMAPHORE_DEPTH_MAX)
		return ST_BAD_DEPTH;
	if (keys->key[depth - 1] != NULL)
		return ST_OK;
	st = keys_official(&vk, depth);
	return st == ST_OK ? install(keys, depth, &vk) : st;
}

void
semaphore_keys_free(struct semaphore_keys *keys)
{
	if (keys == NULL)
		return;
	for (unsigned i = 0; i < SEMAPHORE_DEPTH_MAX; i++)
		free(keys->memory[i]);
	free(keys);
}

enum status
semaphore_keys_set(struct semaphore_keys *keys, uint32_t depth,
    const void *text, size_t len, const char **where)
{
	struct groth16_vk vk;
	const char *at = "";
	enum status st = ST_BAD_DEPTH;

	if (depth >= SEMAPHORE_DEPTH_MIN && depth <= SEMAPHORE_DEPTH_MAX)
		st = vkey_from_json(&vk, SEMAPHORE_INPUTS, text, len, &at);
	if (st == ST_OK)
		st = install(keys, depth, &vk);
	if (where != NULL)
		*where = at;
	return st;
}

const struct groth16_pvk *
keys_at(const struct semaphore_keys *keys, uint32_t depth)
{
	return depth >= SEMAPHORE_DEPTH_MIN && depth <= SEMAPHORE_DEPTH_MAX
	    ? keys->key[depth - 1]
	    : NULL;
}

const struct bn254_kernel *
keys_kernel(const struct semaphore_keys *keys)
{
	return keys->kernel;
}

uint64_t
keys_revision(const struct semaphore_keys *keys)
{
	return keys->revision;
}
