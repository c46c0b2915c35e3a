/* Root files: what is read is written and read again as the same. */
#include "fuzz.h"

#include <string.h>

#include "semaphore/root_file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct root_file r, again;
	struct members_fault fault;
	char text[ROOT_FILE_MAX];
	size_t len;
	struct out o = out_to(text, sizeof(text));
	enum status st = root_file_parse(&r, &fault, span_of(data, size));

	FUZZ_CHECK(fault.status == st);
	if (st != ST_OK) {
		FUZZ_CHECK(r.time == 0 && r.root.size == 0);
		return 0;
	}
	FUZZ_CHECK(root_depth_fits(r.root.depth, r.root.size));
	root_file_write(&o, &r);
	FUZZ_CHECK(out_status(&o, &len) == ST_OK);
	FUZZ_CHECK(
	    root_file_parse(&again, &fault, span_of(text, len)) == ST_OK);
	FUZZ_CHECK(memcmp(r.root.root, again.root.root, 32) == 0);
	FUZZ_CHECK(r.root.depth == again.root.depth &&
	    r.root.size == again.root.size && r.time == again.time);
	return 0;
}
