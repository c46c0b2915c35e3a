/* Proofs that are kept: in memory, in the file, for whom, how long. */
#include "harness.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/purse.h"

static const uint8_t us[32] = {1}, somebody[32] = {2};
static const uint8_t gateway[2][32] = {{0xa}, {0xb}};

static char path[256], folder[200];

static const char *
new_path(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/postern-purse-XXXXXX",
	    tmp != NULL ? tmp : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/proofs", folder);
	return path;
}

static void
remove_path(void)
{
	unlink(path);
	CHECK(rmdir(folder) == 0);
}

static void
put(struct purse *p, unsigned g, uint8_t scope, uint64_t ends,
    const char *token, uint64_t now)
{
	char copy[PURSE_TOKEN_MAX + 2];
	struct purse_proof proof = {
	    .scope = {scope}, .root = {7}, .ends = ends, .token = copy};

	snprintf(copy, sizeof(copy), "%s", token);
	memcpy(proof.gateway, gateway[g], 32);
	CHECK_STATUS(purse_put(p, &proof, now), ST_OK);
}

static const char *
get(const struct purse *p, unsigned g, uint8_t scope)
{
	const uint8_t s[32] = {scope};
	const struct purse_proof *proof = purse_find(p, gateway[g], s);

	return proof != NULL ? proof->token : "none";
}

static void
test_memory(void)
{
	const uint8_t scope[32] = {1};
	struct purse p;

	CHECK_STATUS(purse_open(&p, NULL, us), ST_OK);
	CHECK_STR(get(&p, 0, 1), "none");
	put(&p, 0, 1, 100, "a", 50);
	put(&p, 0, 2, 200, "b", 50);
	put(&p, 1, 1, 100, "c", 50);
	CHECK_STR(get(&p, 0, 1), "a");
	CHECK_STR(get(&p, 0, 2), "b");
	CHECK_STR(get(&p, 1, 1), "c");
	/* In the place of the old one. */
	put(&p, 0, 1, 100, "a2", 60);
	CHECK_STR(get(&p, 0, 1), "a2");
	CHECK_INT(p.n, 3);
	/* What is over goes when something comes. */
	put(&p, 1, 3, 300, "d", 100);
	CHECK_STR(get(&p, 0, 1), "none");
	CHECK_STR(get(&p, 1, 1), "none");
	CHECK_STR(get(&p, 0, 2), "b");
	purse_drop(&p, gateway[0], scope); /* not there: nothing */
	CHECK_INT(p.n, 2);
	const uint8_t second[32] = {2};
	purse_drop(&p, gateway[0], second);
	CHECK_STR(get(&p, 0, 2), "none");
	purse_close(&p);
}

static void
test_file(void)
{
	uint8_t secret[SITE_SECRET_LENGTH];
	struct purse p;
	struct stat st;

	CHECK_STATUS(purse_open(&p, new_path(), us), ST_OK);
	put(&p, 0, 1, 100, "a", 50);
	put(&p, 1, 1, 200, "b", 50);
	memcpy(secret, p.secret, sizeof(secret));
	purse_close(&p);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);

	CHECK_STATUS(purse_open(&p, path, us), ST_OK);
	CHECK_STR(get(&p, 0, 1), "a");
	CHECK_STR(get(&p, 1, 1), "b");
	CHECK_MEM(p.secret, secret, sizeof(secret));
	purse_close(&p);

	/* Another identity has its own, and does not see ours. */
	CHECK_STATUS(purse_open(&p, path, somebody), ST_OK);
	CHECK_STR(get(&p, 0, 1), "none");
	CHECK(memcmp(p.secret, secret, sizeof(secret)) != 0);
	purse_close(&p);

	CHECK_INT(chmod(path, 0640), 0);
	CHECK_STATUS(purse_open(&p, path, us), ST_PERMISSION);
	purse_close(&p);
	remove_path();
}

static void
test_damage(void)
{
	static const char *const texts[] = {"", "{", "[]", "{\"version\":1}",
	    "{\"version\":2,\"proofs\":[]}",
	    "{\"version\":1,\"commitment\":\"01\",\"secret\":\"00\"}"};
	struct purse p;
	FILE *f;

	new_path();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK((f = fopen(path, "w")) != NULL);
		fputs(texts[i], f);
		CHECK_INT(fclose(f), 0);
		CHECK_INT(chmod(path, 0600), 0);
		CHECK_STATUS(purse_open(&p, path, us), ST_OK);
		CHECK_INT(p.n, 0);
		put(&p, 0, 1, 100, "a", 50);
		purse_close(&p);
		CHECK_STATUS(purse_open(&p, path, us), ST_OK);
		CHECK_STR(get(&p, 0, 1), "a");
		purse_close(&p);
	}
	remove_path();
}

static void
test_bounds(void)
{
	char token[PURSE_TOKEN_MAX + 2];
	struct purse_proof proof = {.ends = 10, .token = token};
	struct purse p;

	CHECK_STATUS(purse_open(&p, NULL, us), ST_OK);
	memset(token, 'x', sizeof(token));
	token[PURSE_TOKEN_MAX + 1] = '\0';
	CHECK_STATUS(purse_put(&p, &proof, 0), ST_BAD_LENGTH);
	token[PURSE_TOKEN_MAX] = '\0';
	CHECK_STATUS(purse_put(&p, &proof, 0), ST_OK);
	for (unsigned i = 0; i < PURSE_MAX + 5; i++) {
		proof.scope[0] = (uint8_t)i;
		proof.scope[1] = (uint8_t)(1 + i / 256);
		token[1] = '\0';
		CHECK_STATUS(purse_put(&p, &proof, 0), ST_OK);
	}
	CHECK_INT(p.n, PURSE_MAX);
	purse_close(&p);
}

TESTS({"in memory", test_memory}, {"in a file", test_file},
    {"a damaged file", test_damage}, {"bounds", test_bounds}, )
