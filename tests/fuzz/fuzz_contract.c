/* An Ethereum node's answers: the first byte says to which question. What is
 * taken lies within its range; what is refused says why. */
#include "fuzz.h"

#include <string.h>

#include "semaphore/contract.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct contract_state s = {0};
	char why[CONTRACT_WHY_MAX];
	enum contract_question q;
	enum status st;

	if (size == 0)
		return 0;
	q = (enum contract_question)(data[0] % CONTRACT_QUESTIONS);
	st = contract_hear(&s, why, q, span_of(data + 1, size - 1));
	FUZZ_CHECK(memchr(why, '\0', sizeof(why)) != NULL);
	FUZZ_CHECK((st == ST_OK) == (why[0] == '\0'));
	for (const char *p = why; *p != '\0'; p++)
		FUZZ_CHECK(*p >= 0x20 && *p < 0x7f);
	FUZZ_CHECK(s.depth <= 32 && s.size <= UINT64_C(1) << 32);
	FUZZ_CHECK(contract_state_equal(&s, &s));
	if (contract_state_check(&s) == ST_OK)
		FUZZ_CHECK(s.size <= UINT64_C(1) << s.depth);
	return 0;
}
