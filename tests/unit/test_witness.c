/* The witness generator: the official WebAssembly's signals at every depth
 * (digests in tests/vectors/witness.txt), and what is refused. */
#include "harness.h"

#include <stdlib.h>
#include <sodium.h>

#include "base/text.h"
#include "semaphore/babyjub.h"
#include "semaphore/witness.h"

struct fixture {
	fr_t w[WITNESS_LENGTH(SEMAPHORE_DEPTH_MAX)];
	struct witness_work work;
	struct group_proof path;
	uint8_t secret[32];
	struct witness_input in;
};

static struct fixture *
fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	CHECK(f != NULL);
	f->in.secret = f->secret;
	f->in.path = &f->path;
	return f;
}

/* As number() of tests/vectors/make-witness, whose seed this is. */
static char seed[32];

static void
number(uint8_t out[static 32], unsigned line, const char *name)
{
	char label[96];

	snprintf(
	    label, sizeof(label), "postern/witness %s %u %s", seed, line, name);
	crypto_hash_sha256(out, (const uint8_t *)label, strlen(label));
	for (unsigned i = 32; i-- > 0;)
		out[i] = (uint8_t)(out[i] >> 3 | (i > 0 ? out[i - 1] << 5 : 0));
}

static void
number_fr(fr_t *out, unsigned line, const char *name)
{
	uint8_t bytes[32];

	number(bytes, line, name);
	CHECK_STATUS(fr_from_bytes_strict(out, bytes), ST_OK);
}

/* Fill F's message, scope and siblings for vector number LINE. */
static void
derive(struct fixture *f, unsigned line)
{
	char name[32];

	number_fr(&f->in.message, line, "message");
	number_fr(&f->in.scope, line, "scope");
	for (unsigned i = 0; i < f->path.length; i++) {
		snprintf(name, sizeof(name), "sibling %u", i);
		number(f->path.siblings[i], line, name);
	}
}

static enum status
make(struct fixture *f, enum witness_refusal *why, unsigned *index)
{
	memset(f->w, 0xa5, sizeof(f->w));
	memset(&f->work, 0xa5, sizeof(f->work));
	return witness_make(f->w, &f->in, &f->work, why, index);
}

static void
digest(char out[static 65], const fr_t *w, unsigned n)
{
	uint8_t bytes[32];
	crypto_hash_sha256_state sha;

	crypto_hash_sha256_init(&sha);
	for (unsigned i = 0; i < n; i++) {
		fr_to_bytes(bytes, &w[i]);
		crypto_hash_sha256_update(&sha, bytes, sizeof(bytes));
	}
	crypto_hash_sha256_final(&sha, bytes);
	hex_encode(out, span_of(bytes, sizeof(bytes)));
}

static void
test_official(void)
{
	struct fixture *f = fixture_new();
	/* tests/js/test_witness names a file of its own. */
	const char *other = getenv("WITNESS_VECTORS");
	char *text =
	    test_read_file(other != NULL ? other : "vectors/witness.txt", NULL);
	char *at = strchr(text, '\n') + 1;
	unsigned line = 0, depths = 0, depth, index;
	enum witness_refusal why;

	CHECK_INT(sscanf(text, "%31s", seed), 1);
	for (char *next; (next = strchr(at, '\n')) != NULL; at = next + 1) {
		char secret[65], want[65], got[65];
		unsigned long long bits;
		CHECK_INT(sscanf(at, "%u %u %llx %64s %64s", &depth,
			      &f->path.length, &bits, secret, want),
		    5);
		f->path.index = bits;
		f->in.depth = depth;
		CHECK_STATUS(
		    hex_decode(f->secret, 32, span_str(secret)), ST_OK);
		derive(f, line++);
		CHECK_STATUS(make(f, &why, &index), ST_OK);
		digest(got, f->w, WITNESS_LENGTH(depth));
		CHECK_STR(got, want);
		if (depth > depths)
			depths = depth;
	}
	CHECK(line > 0);
	if (other == NULL) {
		CHECK_INT(depths, SEMAPHORE_DEPTH_MAX);
		CHECK_INT(line, 6 * SEMAPHORE_DEPTH_MAX);
	}
	free(text);
	free(f);
}

/* A failed call says why, and leaves nothing behind. */
static void
refused(struct fixture *f, enum status want, enum witness_refusal reason,
    unsigned which)
{
	enum witness_refusal why;
	unsigned index;

	CHECK_STATUS(make(f, &why, &index), want);
	CHECK_INT(why, reason);
	CHECK_INT(index, which);
	if (reason == WITNESS_BAD_DEPTH)
		return;
	for (unsigned i = 0; i < WITNESS_LENGTH(f->in.depth); i++)
		CHECK(fr_is_zero(&f->w[i]));
}

static void
test_refusals(void)
{
	struct fixture *f = fixture_new();
	enum witness_refusal why;
	unsigned index;

	f->in.depth = 5;
	f->path.length = 5;
	f->path.index = 31;
	derive(f, 1);
	memcpy(f->secret, babyjub_order, 32);
	refused(f, ST_BAD_VALUE, WITNESS_BAD_SECRET, 0);
	memset(f->secret, 0xff, 32);
	refused(f, ST_BAD_VALUE, WITNESS_BAD_SECRET, 0);
	memcpy(f->secret, babyjub_order, 32);
	f->secret[31]--;
	CHECK_STATUS(make(f, &why, &index), ST_OK);

	f->path.index = 32;
	refused(f, ST_BAD_VALUE, WITNESS_BAD_INDEX, 0);
	f->path.length = 4;
	f->path.index = 16;
	refused(f, ST_BAD_VALUE, WITNESS_BAD_INDEX, 0);
	f->path.index = UINT64_MAX;
	refused(f, ST_BAD_VALUE, WITNESS_BAD_INDEX, 0);
	f->path.length = 6;
	f->path.index = 1;
	refused(f, ST_BAD_LENGTH, WITNESS_BAD_LENGTH, 0);
	f->path.length = UINT32_MAX;
	refused(f, ST_BAD_LENGTH, WITNESS_BAD_LENGTH, 0);

	f->path.length = 5;
	memset(f->path.siblings[3], 0xff, 32);
	refused(f, ST_NOT_CANONICAL, WITNESS_BAD_SIBLING, 3);
	f->path.length = 3; /* beyond the path's end nobody looks */
	CHECK_STATUS(make(f, &why, &index), ST_OK);

	f->in.depth = 0;
	refused(f, ST_BAD_DEPTH, WITNESS_BAD_DEPTH, 0);
	f->in.depth = 33;
	refused(f, ST_BAD_DEPTH, WITNESS_BAD_DEPTH, 0);
	free(f);
}

TESTS({"signals equal the official circuit's at every depth", test_official},
    {"what the circuit has no room for is refused by name", test_refusals}, )
