#include "cmd/setup_text.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* The length of the line at S, with its end. */
static size_t
line_length(const char *s)
{
	size_t n = strcspn(s, "\n");

	return n + (s[n] == '\n');
}

static const char *
skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* The line at S begins with WORD, in any case, and a blank or = behind it. */
static bool
line_names(const char *s, const char *word)
{
	size_t n = strlen(word);

	s = skip_blanks(s);
	return strncasecmp(s, word, n) == 0 && strchr(" \t=", s[n]) != NULL &&
	    s[n] != '\0';
}

static bool
tor_has(const char *options, const char *name, size_t len)
{
	for (; *options != '\0'; options += line_length(options)) {
		if (strncasecmp(options, name, len) == 0 &&
		    strchr("\r\n", options[len]) != NULL)
			return true;
	}
	return false;
}

static bool
has_service(const char *torrc, const char *dir)
{
	static const char name[] = "HiddenServiceDir";
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	for (; *torrc != '\0'; torrc += line_length(torrc)) {
		if (!line_names(torrc, name))
			continue;
		const char *s =
		    skip_blanks(skip_blanks(torrc) + sizeof(name) - 1);
		s += *s == '"';
		if (strncmp(s, dir, n) == 0 &&
		    strspn(s + n, "/\" \t\r") == strcspn(s + n, "\n"))
			return true;
	}
	return false;
}

size_t
setup_torrc(
    struct buffer *out, const char *torrc, const struct setup_service *service)
{
	/* conf/torrc.snippet has the reason for each. */
	static const char *const lines[] = {
	    "HiddenServiceExportCircuitID haproxy",
	    "HiddenServiceMaxStreams 64",
	    "HiddenServiceMaxStreamsCloseCircuit 1",
	    "HiddenServicePoWDefensesEnabled 1",
	    "HiddenServicePoWQueueRate 250",
	    "HiddenServicePoWQueueBurst 2500",
	    "HiddenServiceEnableIntroDoSDefense 1",
	    "HiddenServiceEnableIntroDoSRatePerSec 25",
	    "HiddenServiceEnableIntroDoSBurstPerSec 200",
	};
	size_t len = strlen(torrc), added = 2;

	buffer_put(out, torrc, len);
	if (has_service(torrc, service->dir))
		return 0;
	if (len > 0 && torrc[len - 1] != '\n')
		buffer_text(out, "\n");
	buffer_format(out,
	    "\n# Postern's onion service (postern setup).\n"
	    "HiddenServiceDir %s\nHiddenServicePort 80 %s\n",
	    service->dir, service->listen);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!tor_has(
			service->options, lines[i], strcspn(lines[i], " ")))
			continue;
		buffer_format(out, "%s\n", lines[i]);
		added++;
	}
	return added;
}

/* --- postern.conf --------------------------------------------------------- */

/* The line at S is the header [SECTION]. */
static bool
is_header(const char *s, const char *section)
{
	size_t n = strlen(section);

	s = skip_blanks(s);
	return *s == '[' && strncmp(s + 1, section, n) == 0 && s[n + 1] == ']';
}

/* CONF sets KEY in SECTION. */
static bool
is_set(const char *conf, const struct setup_key *k)
{
	bool inside = false;

	for (; *conf != '\0'; conf += line_length(conf)) {
		if (*skip_blanks(conf) == '[')
			inside = is_header(conf, k->section);
		else if (inside && line_names(conf, k->key))
			return true;
	}
	return false;
}

static bool
has_header(const char *conf, const char *section)
{
	for (; *conf != '\0'; conf += line_length(conf)) {
		if (is_header(conf, section))
			return true;
	}
	return false;
}

/* Write those of KEYS in SECTION that CONF does not set. */
static size_t
put_keys(struct buffer *out, const char *conf, const struct setup_key *keys,
    const char *section)
{
	size_t added = 0;

	for (; keys->section != NULL; keys++) {
		if (strcmp(keys->section, section) != 0 || is_set(conf, keys))
			continue;
		buffer_format(out, "%s = %s\n", keys->key, keys->value);
		added++;
	}
	return added;
}

/* The section whose first header, in CONF, is the line at S; NULL: none. */
static const char *
first_header(const char *conf, const char *s, const struct setup_key *keys)
{
	for (; keys->section != NULL; keys++) {
		if (!is_header(s, keys->section))
			continue;
		while (conf < s && !is_header(conf, keys->section))
			conf += line_length(conf);
		return conf == s ? keys->section : NULL;
	}
	return NULL;
}

size_t
setup_conf(struct buffer *out, const char *conf, const struct setup_key *keys)
{
	const char *last = "";
	size_t added = 0;
	char end = '\n';

	for (const char *s = conf; *s != '\0'; s += line_length(s)) {
		const char *section = first_header(conf, s, keys);
		buffer_put(out, s, line_length(s));
		end = s[line_length(s) - 1];
		if (section == NULL)
			continue;
		if (end != '\n')
			buffer_text(out, "\n");
		added += put_keys(out, conf, keys, section);
		end = '\n';
	}
	if (end != '\n')
		buffer_text(out, "\n");
	for (const struct setup_key *k = keys; k->section != NULL; k++) {
		if (has_header(conf, k->section) ||
		    strcmp(k->section, last) == 0)
			continue;
		/* No blank line at the top of a new file. */
		if (out->len > 0)
			buffer_text(out, "\n");
		buffer_format(out, "[%s]\n", k->section);
		added += put_keys(out, conf, keys, k->section);
		last = k->section;
	}
	return added;
}
