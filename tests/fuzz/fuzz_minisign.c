/* Signature files and public keys of minisign's. A signature that holds has
 * the one right text; of a key only one spelling is read. */
#include "fuzz.h"

#include <string.h>

#include "semaphore/minisign.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key_line[] =
	    "RWQDogOTpSo311DaPtXPDjz+QgYwblF18YwRcGzpDSeggno1QOPcvFDA";
	minisign_key_t key, read, again;
	span_t text = span_str("1\n2\n3\n");
	uint64_t time = 1;

	FUZZ_CHECK(minisign_key_parse(&key, span_str(key_line)) == ST_OK);
	if (minisign_verify(&time, &key, text, span_of(data, size)) == ST_OK)
		FUZZ_CHECK(minisign_verify(&time, &key, span_str("1\n2\n"),
			       span_of(data, size)) != ST_OK);
	else
		FUZZ_CHECK(time == 0);
	if (minisign_key_parse(&read, span_of(data, size)) == ST_OK) {
		FUZZ_CHECK(
		    minisign_key_parse(&again, span_of(data, size)) == ST_OK);
		FUZZ_CHECK(memcmp(&read, &again, sizeof(read)) == 0);
	}
	return 0;
}
