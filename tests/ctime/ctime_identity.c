/* Identities under valgrind: no branch and no address depends on the private
 * key or on the secret scalar. (Argon2id is left out: its second half reads
 * memory at places that follow from the passphrase, by design.) */
#include "harness.h"

#include "base/ctime.h"
#include "postern/identity.h"

static void
derive(struct identity *id, size_t len)
{
	uint8_t key[IDENTITY_KEY_MAX];

	test_random_bytes(key, len);
	classify(key, len);
	CHECK_STATUS(identity_derive(id, key, len), ST_OK);
}

static void
test_derive(void)
{
	static const size_t lengths[] = {1, 32, 111, 112, 200};
	struct identity id;

	for (unsigned i = 0; i < 5; i++) {
		derive(&id, lengths[i]);
		identity_clear(&id);
	}
}

static void
test_export(void)
{
	struct identity id;
	char text[IDENTITY_EXPORT_MAX], file[IDENTITY_FILE_MAX];
	size_t len;

	derive(&id, 32);
	identity_export(text, &id);
	identity_file_plain(file, &len, &id);
	CHECK_INT(len, 25 + 4 + 44 + 1);
	identity_clear(&id);
}

/* What must be caught: the test of the test. */
static void
leak_scalar(void)
{
	struct identity id;
	volatile unsigned n = 0;

	derive(&id, 32);
	if (id.secret[31] & 1)
		n++;
}

static void
leak_key(void)
{
	struct identity id;
	volatile unsigned n = 0;

	derive(&id, 32);
	if (id.key[0] & 1)
		n++;
}

TESTS({"ctime: an identity from its key", test_derive},
    {"ctime: an export and a plain file", test_export},
    {"leak of the scalar", leak_scalar}, {"leak of the key", leak_key})
