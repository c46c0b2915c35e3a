/* The token: a compact one has one spelling, a JSON one is the JSON that it
 * encodes; a proof changes its form and back, or is refused for its points. */
#include "fuzz.h"

#include "base/text.h"
#include "postern/semaphore.h"

static void
check_compact(const struct semaphore_proof *p, const struct semaphore_token *t,
    span_t text)
{
	char again[SEMAPHORE_COMPACT_LENGTH + 1];

	FUZZ_CHECK(p->form == SEMAPHORE_COMPRESSED);
	FUZZ_CHECK(
	    semaphore_token_compact(again, p, t->epoch, t->slot) == ST_OK);
	FUZZ_CHECK(span_equal(text, span_str(again)));
}

static void
check_json(const struct semaphore_proof *p, span_t text)
{
	uint8_t bytes[SEMAPHORE_TOKEN_MAX];
	struct semaphore_proof same;
	struct semaphore_fault f;
	size_t len;

	FUZZ_CHECK(base64_decode(
		       bytes, sizeof(bytes), &len, text, BASE64_URL) == ST_OK);
	FUZZ_CHECK(semaphore_proof_from_json(&same, bytes, len, &f) == ST_OK);
	FUZZ_CHECK(memcmp(p, &same, sizeof(same)) == 0);
}

static void
check_forms(const struct semaphore_proof *p)
{
	struct semaphore_proof other = *p;
	struct semaphore_fault f;
	enum status st = p->form == SEMAPHORE_AFFINE
	    ? semaphore_proof_compress(&other, &f)
	    : semaphore_proof_expand(&other, &f);

	FUZZ_CHECK(f.status == st);
	if (st == ST_OK) {
		FUZZ_CHECK(other.form != p->form);
		st = p->form == SEMAPHORE_AFFINE
		    ? semaphore_proof_expand(&other, &f)
		    : semaphore_proof_compress(&other, &f);
		FUZZ_CHECK(st == ST_OK);
	}
	FUZZ_CHECK(memcmp(&other, p, sizeof(other)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct semaphore_proof none;
	struct semaphore_proof p;
	struct semaphore_token t;
	struct semaphore_fault f;
	enum status st = semaphore_token_decode(&p, &t, data, size, &f);

	FUZZ_CHECK(f.status == st);
	if (st != ST_OK) {
		FUZZ_CHECK(memcmp(&p, &none, sizeof(none)) == 0);
		FUZZ_CHECK(t.kind == SEMAPHORE_TOKEN_NONE);
		return 0;
	}
	if (t.kind == SEMAPHORE_TOKEN_COMPACT)
		check_compact(&p, &t, span_of(data, size));
	else
		check_json(&p, span_of(data, size));
	check_forms(&p);
	return 0;
}
