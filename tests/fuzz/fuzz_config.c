/* The configuration: whatever is in a file, and in what the command line puts
 * over it (behind each byte 0x1e), reading it ends with a snapshot or with
 * errors that say where; and a snapshot can be made use of. */
#include "fuzz.h"

#include "daemon/config.h"
#include "daemon/gateway_impl.h"
#include "daemon/policy.h"

#define MARK 0x1e

/* What the gateway makes of a configuration that was taken. */
static void
use(const struct config *c)
{
	struct policy_set policies;
	struct epoch_rules rules;
	struct audience audience;
	const char *why;

	FUZZ_CHECK(c->groups_n > 0 && c->groups_n <= CONFIG_GROUPS_MAX);
	FUZZ_CHECK(policy_set_make(&policies, c) == ST_OK);
	FUZZ_CHECK(policies.n == c->groups_n);
	policy_set_clear(&policies);
	gateway_epoch_rules(&rules, c);
	FUZZ_CHECK(epoch_rules_check(&rules, &why) == ST_OK);
	if (c->gateway.onion == NULL)
		FUZZ_CHECK(
		    audience_parse(&audience, span_str(c->gateway.audience),
			span_of("", 0)) == ST_OK ||
		    strcmp(c->gateway.audience, "any") == 0);
}

/* Split TEXT at each mark; the part before the first is the file's. */
static size_t
split(char *text, const char **overrides, size_t max)
{
	size_t n = 0;

	for (char *at = strchr(text, MARK); at != NULL && n < max;
	     at = strchr(at, MARK)) {
		*at++ = '\0';
		overrides[n++] = at;
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings f = {0};
	struct config *c;
	const char *overrides[4];
	const uint8_t *mark = memchr(data, MARK, size);
	size_t len = mark != NULL ? (size_t)(mark - data) : size, n = 0;
	char *text = (char *)fuzz_copy(data, len), *rest = NULL;
	enum status st;

	if (mark != NULL) {
		rest = calloc(1, size - len + 1);
		FUZZ_CHECK(rest != NULL);
		memcpy(rest, mark, size - len);
		n = split(rest, overrides, 4);
	}
	st = config_parse(&c, &f, "fuzz", text, len, overrides, n);
	free(text);
	free(rest);
	FUZZ_CHECK((st == ST_OK) == (c != NULL));
	FUZZ_CHECK((st == ST_OK) == (f.errors == 0));
	for (size_t i = 0; i < f.n; i++)
		FUZZ_CHECK(
		    (n != 0 ? f.items[i].where[0] != '\0'
			    : strncmp(f.items[i].where, "fuzz", 4) == 0) &&
		    f.items[i].what[0] != '\0');
	if (c != NULL)
		use(c);
	config_unref(&c);
	findings_clear(&f);
	return 0;
}
