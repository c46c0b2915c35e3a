/* The JSON of a proof: what is read is canonical and is written back to
 * something that reads the same; what is refused leaves nothing and is said in
 * one plain line. */
#include "fuzz.h"

#include "bn254/fr.h"
#include "postern/semaphore.h"

static void
check_refused(const struct semaphore_proof *p, const struct semaphore_fault *f)
{
	static const struct semaphore_proof none;
	char say[SEMAPHORE_FAULT_MAX];

	FUZZ_CHECK(memcmp(p, &none, sizeof(none)) == 0);
	semaphore_fault_text(say, f);
	FUZZ_CHECK(say[0] != '\0' && strlen(say) < sizeof(say) - 1);
	for (const char *c = say; *c != '\0'; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~' && *c != '"');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct semaphore_proof p, back;
	struct semaphore_fault f;
	char text[SEMAPHORE_JSON_MAX];
	size_t len;
	fr_t below;
	enum status st = semaphore_proof_from_json(&p, data, size, &f);

	FUZZ_CHECK(f.status == st);
	if (st != ST_OK) {
		check_refused(&p, &f);
		return 0;
	}
	FUZZ_CHECK(p.form == SEMAPHORE_AFFINE);
	FUZZ_CHECK(p.depth >= 1 && p.depth <= 32);
	FUZZ_CHECK(fr_from_bytes_strict(&below, p.root) == ST_OK);
	FUZZ_CHECK(fr_from_bytes_strict(&below, p.nullifier) == ST_OK);
	FUZZ_CHECK(semaphore_proof_to_json(text, &len, &p) == ST_OK);
	FUZZ_CHECK(len == strlen(text));
	FUZZ_CHECK(semaphore_proof_from_json(&back, text, len, &f) == ST_OK);
	FUZZ_CHECK(memcmp(&back, &p, sizeof(p)) == 0);
	return 0;
}
