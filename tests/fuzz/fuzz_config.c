/* The configuration: whatever is in a file, reading it ends with a snapshot or
 * with errors that say where; and a snapshot can be made use of. */
#include "fuzz.h"

#include "daemon/config.h"
#include "daemon/gateway_impl.h"
#include "daemon/policy.h"

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings f = {0};
	struct config *c;
	char *text = (char *)fuzz_copy(data, size);
	enum status st = config_parse(&c, &f, "fuzz", text, size, NULL, 0);

	free(text);
	FUZZ_CHECK((st == ST_OK) == (c != NULL));
	FUZZ_CHECK((st == ST_OK) == (f.errors == 0));
	for (size_t i = 0; i < f.n; i++)
		FUZZ_CHECK(strncmp(f.items[i].where, "fuzz", 4) == 0 &&
		    f.items[i].what[0] != '\0');
	if (c != NULL)
		use(c);
	config_unref(&c);
	findings_clear(&f);
	return 0;
}
