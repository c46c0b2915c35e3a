/* Tor's configuration, which is not ours and may be anything. */
#include "fuzz.h"

#include "daemon/checkup.h"

static struct config *config;

static void
make_config(void)
{
	static const char text[] =
	    "[gateway]\nonion = /var/lib/tor/postern/hostname\n"
	    "listen = 127.0.0.1:8080\n"
	    "[group g]\nmembers = /m\nrequests = 1\n";
	struct findings f = {0};

	FUZZ_CHECK(config_parse(&config, &f, "fuzz", text, sizeof(text) - 1,
		       NULL, 0) == ST_OK);
	findings_clear(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings f = {0};
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (config == NULL)
		make_config();
	checkup_torrc(config, &f, "torrc", text);
	FUZZ_CHECK(f.n > 0 || strstr(text, "postern") != NULL);
	findings_clear(&f);
	free(text);
	return 0;
}
