/* Tor's configuration held against ours: part of daemon/checkup.h. */
#include <string.h>
#include <strings.h>

#include "base/span.h"
#include "daemon/checkup.h"
#include "daemon/memory.h"

#define LINE_BYTES 512

/* What torrc says of one onion service: ours. */
struct service {
	int line; /* of its HiddenServiceDir; 0: not found */
	int port_line; /* of a HiddenServicePort that leads to us; 0: none */
	int any_port_line;
	bool circuit_id, max_streams, pow, intro;
	int circuit_line;
	int open_line; /* of all services: vanguards are off; 0: they are not */
};

/* Split LINE into its first word and the rest, comments off. */
static void
split(char *line, char **key, char **value)
{
	char *comment = strchr(line, '#');
	size_t n;

	if (comment != NULL)
		*comment = '\0';
	*key = line + strspn(line, " \t");
	n = strcspn(*key, " \t\r");
	*value = *key + n;
	if (**value != '\0') {
		*(*value)++ = '\0';
		*value += strspn(*value, " \t");
	}
	n = strlen(*value);
	while (n > 0 && strchr(" \t\r", (*value)[n - 1]) != NULL)
		(*value)[--n] = '\0';
}

/* The target of a HiddenServicePort ("80 127.0.0.1:8080") is one of ours. */
static bool
leads_to_us(const struct config *c, const char *value)
{
	const char *space = strchr(value, ' ');
	const char *target = space != NULL ? space + strspn(space, " ") : value;
	char full[LINE_BYTES + 16];

	/* A bare port is one of 127.0.0.1. */
	if (strspn(target, "0123456789") == strlen(target))
		snprintf(full, sizeof(full), "127.0.0.1:%s", target);
	else
		snprintf(full, sizeof(full), "%s", target);
	for (size_t i = 0; i < c->gateway.listen.n; i++) {
		if (strcmp(c->gateway.listen.items[i].text, full) == 0)
			return true;
	}
	return false;
}

/* DIR of a HiddenServiceDir line is the folder that PATH is in. */
static bool
same_folder(const char *dir, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash != NULL ? (size_t)(slash - path) : 0;
	size_t m = strlen(dir);

	while (m > 1 && dir[m - 1] == '/')
		m--;
	return n == m && strncmp(dir, path, n) == 0;
}

static void
take_line(const struct config *c, struct service *s, const char *key,
    const char *value, int line)
{
	if (strcasecmp(key, "HiddenServicePort") == 0) {
		s->any_port_line = line;
		if (leads_to_us(c, value))
			s->port_line = line;
	} else if (strcasecmp(key, "HiddenServiceExportCircuitID") == 0) {
		s->circuit_line = line;
		s->circuit_id = strcasecmp(value, "haproxy") == 0;
	} else if (strcasecmp(key, "HiddenServiceMaxStreams") == 0) {
		s->max_streams = strcmp(value, "0") != 0;
	} else if (strcasecmp(key, "HiddenServicePoWDefensesEnabled") == 0) {
		s->pow = strcmp(value, "1") == 0;
	} else if (strcasecmp(key, "HiddenServiceEnableIntroDoSDefense") == 0) {
		s->intro = strcmp(value, "1") == 0;
	}
}

/* Only a hostname file tells which service is ours. */
static bool
named_by_file(const struct config *c)
{
	return c->gateway.onion != NULL && c->gateway.onion[0] == '/';
}

/* Find the service whose hostname file ONION is. */
static void
read_torrc(struct service *s, const struct config *c, const char *text)
{
	bool ours = false, any = named_by_file(c);

	*s = (struct service){0};
	for (int line = 1; *text != '\0'; line++) {
		char copy[LINE_BYTES], *key, *value;
		size_t len = strcspn(text, "\n");
		snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
		text += len + (text[len] != '\0');
		split(copy, &key, &value);
		if (strcasecmp(key, "HiddenServiceDir") == 0) {
			ours = any && same_folder(value, c->gateway.onion);
			if (ours)
				s->line = line;
		} else if (strcasecmp(key, "VanguardsLiteEnabled") == 0) {
			s->open_line = strcmp(value, "0") == 0 ? line : 0;
		} else if (ours) {
			take_line(c, s, key, value, line);
		}
	}
}

static void
check_circuit_ids(const struct config *c, struct findings *f, const char *name,
    const struct service *s)
{
	bool wanted = c->gateway.proxy_line == PROXY_LINE_REQUIRED;

	if (wanted && !s->circuit_id)
		findings_add(f, FINDING_ERROR,
		    (struct place){
			name, s->circuit_line ? s->circuit_line : s->line},
		    "add HiddenServiceExportCircuitID haproxy below it",
		    "gateway.proxy_line is required, and tor sends no such "
		    "line");
	if (!wanted && s->circuit_id)
		findings_add(f, FINDING_ERROR,
		    (struct place){name, s->circuit_line},
		    "set gateway.proxy_line = required",
		    "tor sends a PROXY line, and gateway.proxy_line is off");
}

static void
check_defences(struct findings *f, const char *name, const struct service *s)
{
	struct place where = {name, s->line};

	if (!s->max_streams)
		findings_add(f, FINDING_NOTE, where,
		    "add HiddenServiceMaxStreams 64 and "
		    "HiddenServiceMaxStreamsCloseCircuit 1",
		    "one circuit may open any number of connections");
	if (!s->pow)
		findings_add(f, FINDING_NOTE, where,
		    "add HiddenServicePoWDefensesEnabled 1",
		    "tor's proof-of-work defence is off");
	if (!s->intro)
		findings_add(f, FINDING_NOTE, where,
		    "add HiddenServiceEnableIntroDoSDefense 1",
		    "introduction points do not hold back floods");
}

void
checkup_torrc(const struct config *c, struct findings *f, const char *name,
    const char *text)
{
	struct service s;

	read_torrc(&s, c, text);
	if (s.open_line != 0)
		findings_add(f, FINDING_WARNING,
		    (struct place){name, s.open_line},
		    "take VanguardsLiteEnabled 0 out",
		    "who can make the service open circuits finds its guard");
	if (!named_by_file(c))
		return;
	if (s.line == 0) {
		findings_add(f, FINDING_WARNING, (struct place){name, 0},
		    "see conf/torrc.snippet",
		    "no HiddenServiceDir is the folder of %s",
		    c->gateway.onion);
		return;
	}
	if (s.port_line == 0)
		findings_add(f, FINDING_ERROR,
		    (struct place){
			name, s.any_port_line ? s.any_port_line : s.line},
		    "let HiddenServicePort and gateway.listen name the same",
		    "no HiddenServicePort leads to gateway.listen");
	check_circuit_ids(c, f, name, &s);
	check_defences(f, name, &s);
}
