#include "mix/key_file.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"
#include "store/secret_file.h"

_Static_assert(SECRET_SIZE == SPHINX_KEY_SIZE, "a key is 32 bytes");

enum status
key_file_load(sphinx_key_t *key, const char *path, enum file_access access)
{
	uint8_t secret[SECRET_SIZE];
	enum status st = secret_file_load(secret, path, access);

	memset(key, 0, sizeof(*key));
	if (st == ST_OK)
		sphinx_key_make(key, secret);
	wipe(secret, sizeof(secret));
	return st;
}

enum status
key_file_create(const char *path, const sphinx_key_t *key)
{
	char head[128], id[2 * SPHINX_KEY_SIZE + 1];

	hex_encode(id, span_of(key->id, sizeof(key->id)));
	snprintf(
	    head, sizeof(head), "# postern mix key; its id is\n# %s\n", id);
	return secret_file_create(path, head, key->secret);
}
