/* The questions of `postern setup`: setup_parts.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/setup_parts.h"
#include "net/listener.h"

/* Read the answer to what has been printed: "" for none.
 * Returns: ST_OK; ST_CLOSED; ST_NO_SPACE. */
static enum status
read_answer(char answer[static SETUP_TEXT_MAX])
{
	fflush(stdout);
	if (fgets(answer, SETUP_TEXT_MAX, stdin) == NULL) {
		putchar('\n');
		return ST_CLOSED;
	}
	if (strchr(answer, '\n') == NULL)
		return ST_NO_SPACE;
	answer[strcspn(answer, "\r\n")] = '\0';
	return ST_OK;
}

/* --- what is wrong with an answer; NULL: nothing --- */

static const char *
file_fault(char text[static SETUP_TEXT_MAX])
{
	char folder[SETUP_TEXT_MAX];
	char *slash;
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", text);
	slash = strrchr(folder, '/');
	if (text[0] != '/')
		return "give the whole path, from / on";
	if (stat(text, &st) == 0)
		return S_ISDIR(st.st_mode) ? "that is a folder" : NULL;
	slash[slash == folder] = '\0';
	return stat(folder, &st) == 0 && S_ISDIR(st.st_mode)
	    ? NULL
	    : "there is no such folder";
}

/* A bare port is one of 127.0.0.1, as in torrc. */
static const char *
address_fault(char text[static SETUP_TEXT_MAX])
{
	struct listener_config lc = {.mode = 0600};
	struct listener *ls = NULL;
	struct loop *l = NULL;
	char path[108], port[8];
	enum status st;

	if (text[0] != '\0' && strlen(text) < sizeof(port) &&
	    strspn(text, "0123456789") == strlen(text)) {
		memcpy(port, text, strlen(text) + 1);
		snprintf(text, SETUP_TEXT_MAX, "127.0.0.1:%s", port);
	}
	if (listener_parse(&lc, path, span_str(text)) != ST_OK)
		return "give an address and a port, like 127.0.0.1:8080";
	if (lc.kind == LISTEN_UNIX)
		return NULL;
	st = loop_new(&l);
	if (st == ST_OK)
		st = listener_new(&ls, l, &lc);
	listener_free(&ls);
	if (l != NULL)
		loop_free(&l);
	return st == ST_OK
	    ? NULL
	    : "it is taken, or not of this machine: give another";
}

/* --- the questions --- */

struct question {
	enum setup_value value;
	const char *text;
	const char *(*fault)(char text[static SETUP_TEXT_MAX]);
};

static const struct question questions[] = {
    {SETUP_TORRC, "Tor's configuration", file_fault},
    {SETUP_LISTEN, "Where tor finds the gateway", address_fault},
    {SETUP_MEMBERS, "The member file", file_fault},
};

static enum status
ask(struct setup *s, const struct question *q)
{
	char answer[SETUP_TEXT_MAX] = "", *value = s->value[q->value];
	const char *fault = NULL;

	if (s->fixed[q->value]) {
		printf("%s: %s, as it is set\n", q->text, value);
		return ST_OK;
	}
	do {
		printf("%s [%s]: ", q->text, value);
		enum status st = read_answer(answer);
		if (st != ST_OK)
			return st;
		if (answer[0] == '\0')
			memcpy(answer, value, SETUP_TEXT_MAX);
		fault = q->fault(answer);
		if (fault != NULL)
			printf("  %s: %s\n", answer, fault);
	} while (fault != NULL);
	memcpy(value, answer, SETUP_TEXT_MAX);
	return ST_OK;
}

enum status
setup_ask(struct setup *s)
{
	enum status st = ST_OK;
	size_t n = sizeof(questions) / sizeof(questions[0]);

	puts("Enter takes what is in brackets; nothing is written before you "
	     "have seen it.");
	for (size_t i = 0; i < n && st == ST_OK; i++) {
		if (questions[i].value != SETUP_TORRC || !s->asks_tor)
			st = ask(s, &questions[i]);
	}
	return st;
}

bool
setup_agree(void)
{
	char answer[SETUP_TEXT_MAX];

	printf("Write this, and start the gateway? [Y/n]: ");
	return read_answer(answer) == ST_OK &&
	    strchr("yY", answer[0]) != NULL; /* "" too */
}
