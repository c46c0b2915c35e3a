#include "cmd/client_ask.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmd/ask.h"
#include "cmd/cli.h"
#include "cmd/unix_dial.h"
#include "store/file.h"

#define PATIENCE_SECONDS 10
#define ANSWER_MAX_BYTES ((size_t)1 << 20)
#define ENV_MAX 4096

static void
print_epoch(const json_t *g)
{
	time_t end = (time_t)ask_number(g, "epoch_end");
	time_t left = end - time(NULL);
	char when[32];

	ask_time(when, end);
	printf("%-12s epoch %lld until %s (%lld h %lld min)\n", "",
	    (long long)ask_number(g, "epoch"), when, (long long)left / 3600,
	    (long long)left / 60 % 60);
}

static void
print_quotas(const json_t *g)
{
	const json_t *quotas = json_object_get(g, "quotas"), *q;
	bool slots = ask_number(g, "slots") > 1;
	size_t i;

	json_array_foreach(quotas, i, q)
	{
		printf("%-12s %lld requests left", "",
		    (long long)ask_number(q, "requests_left"));
		if (slots)
			printf(
			    " in slot %lld", (long long)ask_number(q, "slot"));
		putchar('\n');
	}
}

static void
print_gateway(const json_t *g)
{
	printf("%-12s %s: %s\n", "gateway", ask_text(g, "onion"),
	    ask_text(g, "state"));
	if (*ask_text(g, "problem") != '\0')
		printf("%-12s %s (%s)\n", "", ask_text(g, "problem"),
		    ask_text(g, "cure"));
	if (json_object_get(g, "epoch") == NULL)
		return;
	print_epoch(g);
	printf("%-12s %lld of %lld proofs made\n", "",
	    (long long)ask_number(g, "proofs"),
	    (long long)ask_number(g, "slots"));
	print_quotas(g);
}

static void
print_status(const json_t *o)
{
	const json_t *circuits = json_object_get(o, "circuits");
	const json_t *gateways = json_object_get(o, "gateways"), *g;
	size_t i;

	printf("%-12s %s\n", "state",
	    json_is_true(json_object_get(o, "ready")) ? "ready" : "not ready");
	printf("%-12s %lld asked, %lld opened, %lld refused, %lld open now\n",
	    "connections", (long long)ask_number(o, "requests"),
	    (long long)ask_number(o, "opened"),
	    (long long)ask_number(o, "refused"),
	    (long long)ask_number(o, "tunnels"));
	printf(
	    "%-12s %lld", "circuits", (long long)ask_number(circuits, "count"));
	if (ask_number(circuits, "count") > 0)
		printf(", %lld to %lld seconds old",
		    (long long)ask_number(circuits, "newest_seconds"),
		    (long long)ask_number(circuits, "oldest_seconds"));
	putchar('\n');
	json_array_foreach(gateways, i, g) print_gateway(g);
}

int
client_ask_status(const struct client_state *s, const char *name, bool as_json)
{
	int fd = unix_dial(s->status, PATIENCE_SECONDS);
	char *answer = NULL;
	json_t *o = NULL;
	size_t len;

	if (fd >= 0 &&
	    file_load_fd(&answer, &len, fd, ANSWER_MAX_BYTES) == ST_OK)
		o = json_loadb(answer, len, 0, NULL);
	if (fd < 0)
		cli_error(name, "%s: %s (does a client run?)", s->status,
		    strerror(errno));
	else if (o == NULL)
		cli_error(name, "%s: not an answer of a client", s->status);
	else if (as_json)
		printf("%s\n", answer);
	else
		print_status(o);
	if (fd >= 0)
		close(fd);
	free(answer);
	json_decref(o);
	return o != NULL ? CLI_OK : CLI_ERROR;
}

int
client_ask_env(const struct client_state *s, const char *name)
{
	char lines[ENV_MAX];
	size_t len;
	enum status st =
	    file_read(lines, sizeof(lines), &len, s->env, FILE_OWNER);

	if (st != ST_OK) {
		cli_error(name, "%s: %s (does a client run?)", s->env,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return CLI_ERROR;
	}
	fputs(lines, stdout);
	return CLI_OK;
}
