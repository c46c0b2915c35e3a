/* What `postern ctl` prints for people. */
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/ctl_parts.h"

static void
print_time(const char *label, json_int_t seconds)
{
	char out[32];

	ask_time(out, seconds);
	printf("%-11s %s\n", label, out);
}

static void
print_groups(const json_t *groups)
{
	const json_t *g;
	size_t i;

	json_array_foreach(groups, i, g)
	{
		const char *problem = ask_text(g, "problem");
		printf("group       %s: %lld members, depth %lld%s%s\n",
		    ask_text(g, "name"), (long long)ask_number(g, "members"),
		    (long long)ask_number(g, "depth"),
		    *problem != '\0' ? "; its file: " : "", problem);
	}
}

static void
print_answers(json_t *answers)
{
	const char *key;
	json_t *value;

	printf("answers    ");
	json_object_foreach(answers, key, value)
	    printf(" %s %lld", key, (long long)json_integer_value(value));
	printf("\n");
}

static void
print_walls(json_t *walls)
{
	const char *wall;
	json_t *stands;

	printf("%-11s", "walls");
	json_object_foreach(walls, wall, stands)
	    printf(" %s%s", json_is_true(stands) ? "" : "no ", wall);
	putchar('\n');
}

void
ctl_print_status(const json_t *r)
{
	const json_t *journal = json_object_get(r, "journal");
	const json_t *shared = json_object_get(r, "shared_ledger");
	const json_t *tor = json_object_get(r, "tor");
	const char *why = ask_text(r, "not_ready");

	printf("%-11s %s%s%s\n", "state", ask_text(r, "phase"),
	    *why != '\0' ? ", not ready: " : "", why);
	printf("%-11s %s\n", "version", ask_text(r, "version"));
	if (*ask_text(r, "onion") != '\0')
		printf("%-11s %s\n", "onion", ask_text(r, "onion"));
	print_time("started", ask_number(r, "started"));
	print_time("epoch ends", ask_number(r, "epoch_end"));
	printf("%-11s %lld of %lld connections, %lld tunnels, %lld proofs "
	       "waiting\n",
	    "load", (long long)ask_number(r, "sessions"),
	    (long long)ask_number(r, "sessions_max"),
	    (long long)ask_number(r, "tunnels"),
	    (long long)ask_number(r, "queue"));
	print_groups(json_object_get(r, "groups"));
	print_answers(json_object_get(r, "answers"));
	printf("%-11s %lld up, %lld down\n", "bytes",
	    (long long)ask_number(r, "bytes_up"),
	    (long long)ask_number(r, "bytes_down"));
	printf("%-11s %lld nullifiers\n", "ledger",
	    (long long)ask_number(r, "ledger_entries"));
	if (json_is_object(journal))
		printf("%-11s %s, %lld records, %lld not synced yet\n",
		    "journal",
		    json_is_true(json_object_get(journal, "healthy"))
			? "well"
			: "can not be written",
		    (long long)ask_number(journal, "records"),
		    (long long)ask_number(journal, "unsynced"));
	if (json_is_object(shared))
		printf("%-11s %s%s, %lld requests owed to it\n", "shared",
		    json_is_true(json_object_get(shared, "up"))
			? "up"
			: "not reached: ",
		    ask_text(shared, "why_down"),
		    (long long)ask_number(shared, "owed"));
	if (json_is_object(tor))
		printf("%-11s %s %s\n", "tor",
		    json_is_true(json_object_get(tor, "up")) ? "up"
							     : "not reached",
		    ask_text(tor, "version"));
	print_walls(json_object_get(r, "walls"));
}

/* --- smaller answers --- */

void
ctl_print_epoch(const json_t *r)
{
	printf("%-11s %lld\n", "epoch", (long long)ask_number(r, "epoch"));
	print_time("begins", ask_number(r, "begins"));
	print_time("ends", ask_number(r, "ends"));
	printf("%-11s %lld\n", "nullifiers",
	    (long long)ask_number(r, "nullifiers"));
}

void
ctl_print_journal(const json_t *r)
{
	printf("%-11s %s\n", "file", ask_text(r, "file"));
	printf("%-11s %s\n", "health",
	    json_is_true(json_object_get(r, "healthy")) ? "well"
							: "can not be written");
	printf("%-11s %lld, %lld bytes, %lld not synced yet\n", "records",
	    (long long)ask_number(r, "records"),
	    (long long)ask_number(r, "bytes"),
	    (long long)ask_number(r, "unsynced"));
	printf("%-11s %lld failures, %lld compactions\n", "since start",
	    (long long)ask_number(r, "failures"),
	    (long long)ask_number(r, "compactions"));
}
