/* tests/unit/official_keys.h: the official proving keys, for tests that need
 * them. They are not in the repository: tests/js/install brings them.
 *
 * OFFICIAL_KEYS names their folder; without it, build/npm is looked at.
 */
#ifndef TESTS_OFFICIAL_KEYS_H
#define TESTS_OFFICIAL_KEYS_H

#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

static inline const char *
official_keys_folder(void)
{
	const char *folder = getenv("OFFICIAL_KEYS");

	return folder != NULL ? folder
			      : TESTS_DIR "/../build/npm/node_modules/@zk-kit/"
					  "semaphore-artifacts";
}

/* Skip this case unless the keys are there. */
static inline void
need_official_keys(void)
{
	if (access(official_keys_folder(), R_OK) != 0)
		test_skip("no official proving keys; tests/js/install brings "
			  "them");
}

/* The key for DEPTH, on the heap. */
static inline uint8_t *
official_key(unsigned depth, size_t *len)
{
	char path[512];
	FILE *f;
	uint8_t *bytes;
	long end;

	snprintf(path, sizeof(path), "%s/semaphore-%u.zkey",
	    official_keys_folder(), depth);
	f = fopen(path, "rb");
	if (f == NULL)
		test_fail(__FILE__, __LINE__, "%s can not be read", path);
	CHECK(fseek(f, 0, SEEK_END) == 0);
	end = ftell(f);
	CHECK(end > 0);
	*len = (size_t)end;
	bytes = malloc(*len);
	CHECK(bytes != NULL && fseek(f, 0, SEEK_SET) == 0);
	CHECK(fread(bytes, 1, *len, f) == *len);
	fclose(f);
	return bytes;
}

#endif
