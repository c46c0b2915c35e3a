/* The configuration: its table, its parser, its contradictions, and that
 * conf/postern.conf says what the program does. */
#include <stdlib.h>

#include "daemon/config.h"
#include "harness.h"

#define LEAST                                      \
	"[gateway]\naudience = 1\n"                \
	"[group g]\nmembers = /m\nrequests = 10\n" \
	"[egress]\nallow = *\n"                    \
	"[ledger]\njournal = /j\n"

static struct config *
load(struct findings *f, const char *text, const char *const *set, size_t n)
{
	struct config *c;
	enum status st =
	    config_parse(&c, f, "test.conf", text, strlen(text), set, n);

	CHECK((st == ST_OK) == (c != NULL));
	CHECK((st == ST_OK) == (f->errors == 0));
	return c;
}

static void
show(const struct findings *f)
{
	findings_print(f, stdout);
}

/* TEXT loads without a word. */
static struct config *
load_good(const char *text)
{
	struct findings f = {0};
	struct config *c = load(&f, text, NULL, 0);

	show(&f);
	CHECK(c != NULL);
	CHECK_INT(f.n, 0);
	findings_clear(&f);
	return c;
}

static void
defaults_are_the_tables(void)
{
	struct config *c = load_good(LEAST);

	CHECK_INT(c->gateway.listen.n, 1);
	CHECK_STR(c->gateway.listen.items[0].text, "127.0.0.1:8080");
	CHECK_INT(c->gateway.epoch_ms, 86400000);
	CHECK_INT(c->gateway.well_known, true);
	CHECK_INT(c->gateway.publish_members, false);
	CHECK_INT(c->egress.ports.n, 1);
	CHECK_INT(c->egress.ports.range[0].first, 443);
	CHECK_INT(c->egress.ports.range[0].last, 443);
	CHECK_INT(c->egress.literals, false);
	CHECK_INT(c->groups_n, 1);
	CHECK_STR(c->groups[0].name, "g");
	CHECK_INT(c->groups[0].requests, 10);
	CHECK_INT(c->groups[0].tunnels, 32);
	CHECK(c->groups[0].bytes_up == OPTION_UNLIMITED);
	CHECK(c->groups[0].rate.count == OPTION_UNLIMITED);
	CHECK_INT(c->limits.head_bytes, 8192);
	CHECK_INT(c->ledger.memory, 64 << 20);
	CHECK(!config_is_set(c, NULL, "gateway", "listen"));
	CHECK(config_is_set(c, &c->groups[0], "group", "requests"));
	config_unref(&c);
	CHECK(c == NULL);
}

static void
an_absent_rule_denies(void)
{
	struct findings f = {0};
	struct config *c = load(&f,
	    "[gateway]\naudience = 1\n[group g]\nmembers = /m\nrequests = 1\n"
	    "[ledger]\njournal = /j\n",
	    NULL, 0);

	CHECK(c != NULL);
	CHECK_INT(c->egress.allow.n, 0);
	CHECK_INT(f.warnings, 1);
	CHECK(strstr(f.items[0].what, "may reach no name") != NULL);
	config_unref(&c);
	findings_clear(&f);
}

/* Each kind of value as it can be written. */
static void
values_of_every_kind(void)
{
	struct config *c = load_good(
	    LEAST "[gateway]\nslots = 3\nepoch=36h\r\n"
		  "listen = [::1]:80,unix:/a/b\nlisten\t=  127.0.0.1:9\n"
		  "\trealm = a b ; and a comment\n"
		  "proxy_line = required\n"
		  "[limits]\nbuffer = 32k\ncircuit_rate = 5/10s\n"
		  "[egress]\nports = 443 8000-8010,22\nlifetime = 90m\n"
		  "literals = on\n"
		  "[group h]\nmembers=/n\nrequests=unlimited\nports=80\n"
		  "bytes_up = 3G\nallow = x.org\n"
		  "[log]\nlevel = debug\n");

	CHECK_INT(c->gateway.slots, 3);
	CHECK_INT(c->gateway.epoch_ms, 36 * 3600 * 1000);
	CHECK_INT(c->gateway.listen.n, 3);
	CHECK_STR(c->gateway.listen.items[1].text, "unix:/a/b");
	CHECK_STR(c->gateway.realm, "a b");
	CHECK_INT(c->gateway.proxy_line, PROXY_LINE_REQUIRED);
	CHECK_INT(c->limits.buffer, 32768);
	CHECK_INT(c->limits.circuit_rate.count, 5);
	CHECK_INT(c->limits.circuit_rate.period_ms, 10000);
	CHECK_INT(c->egress.ports.n, 3);
	CHECK_INT(c->egress.ports.range[1].last, 8010);
	CHECK_INT(c->egress.lifetime_ms, 5400000);
	CHECK_INT(c->groups_n, 2);
	CHECK(c->groups[1].requests == OPTION_UNLIMITED);
	CHECK_INT(c->groups[1].ports.range[0].first, 80);
	CHECK_INT(c->groups[1].bytes_up, 3LL << 30);
	CHECK_INT(c->log.level, 4);
	config_unref(&c);
}

/* What is wrong, by line of the text behind LEAST, and what is said of it. */
static void
every_fault_has_line_and_cure(void)
{
	static const struct {
		const char *text, *what;
	} bad[] = {
	    {"[gateway]\nslots = 0\n", "out of range"},
	    {"[gateway]\nslots = 1025\n", "out of range"},
	    {"[gateway]\nslots = x\n", "not a number"},
	    {"[gateway]\nslots = 01\n", "not a number"},
	    {"[gateway]\nslots = -1\n", "not a number"},
	    {"[gateway]\nslots = unlimited\n", "not a number"},
	    {"[gateway]\nslots =\n", "not a number"},
	    {"[gateway]\nepoch = 10\n", "not a time"},
	    {"[gateway]\nepoch = 10 s\n", "not a time"},
	    {"[gateway]\nepoch = 10w\n", "not a time"},
	    {"[gateway]\nepoch = 59s\n", "out of range"},
	    {"[gateway]\nepoch = 90500ms\n", "counted in seconds"},
	    {"[gateway]\nepoch = 99999999999999999999d\n", "out of range"},
	    {"[gateway]\ngrace = 2d\n", "grace is as long"},
	    {"[gateway]\nearly = 1d\n", "early is as long"},
	    {"[gateway]\nwell_known = yes\n", "neither on nor off"},
	    {"[gateway]\nwell_known = On\n", "neither on nor off"},
	    {"[gateway]\nproxy_line = on\n", "not a word"},
	    {"[gateway]\nonion =\n", "no value"},
	    {"[gateway]\nonion = example.onion\n", "not a v3 onion"},
	    {"[gateway]\nlisten = 8080\n", "to listen at"},
	    {"[gateway]\nlisten = localhost:80\n", "to listen at"},
	    {"[gateway]\nlisten = 127.0.0.1:80 127.0.0.1:80\n", "twice"},
	    {"[gateway]\nlisten =\n", "0 addresses"},
	    {"[gateway]\nkeys = /a\n", "not a depth and a file"},
	    {"[gateway]\nkeys = 33:/a\n", "not a depth and a file"},
	    {"[gateway]\nkeys = 0:/a\n", "not a depth and a file"},
	    {"[gateway]\nrealm = \xc3\xa9\n", "could not spell"},
	    {"[gateway]\nlisten_at = 1\n", "no key \"listen_at\""},
	    {"[gate]\nlisten = 1\n", "no section is called [gate]"},
	    {"[group]\nmembers = 1\n", "without a name"},
	    {"[group a/b]\nmembers = 1\n", "bad group name"},
	    {"[group b]\nrequests = 1\n", "has no members"},
	    {"[group b]\nmembers = /b\n", "how many requests"},
	    {"[group b]\nmembers = /m\nrequests = 1\n", "the same members"},
	    {"[group b]\nmembers = /b\nrequests = 0\n", "out of range"},
	    {"[group g]\nrate = 5\n", "not a rate"},
	    {"[group g]\nrate = 5/0s\n", "out of range"},
	    {"[group g]\nrate = 0/1s\n", "out of range"},
	    {"[group g]\nbytes_up = 1x\n", "not a size"},
	    {"[group g]\nallow = a..b\n", "not a pattern"},
	    {"[group g]\nallow = https://x\n", "not a pattern"},
	    {"[group g]\ndeny_networks = 10.0.0.1/8\n", "not a network"},
	    {"[egress]\nports = 0\n", "not a port"},
	    {"[egress]\nports = 65536\n", "not a port"},
	    {"[egress]\nports = 90-80\n", "not a port"},
	    {"[egress]\nports = 080\n", "not a port"},
	    {"[egress]\nallow_networks = 10/8\n", "not a network"},
	    {"[egress]\nexcept = 127.0.0.1\n", "not an address and a port"},
	    {"[egress]\ndns = ns.example\n", "not a name server"},
	    {"[egress]\nsource4 = ::1\n", "not an address of that kind"},
	    {"[egress]\nsource6 = 1.2.3.4\n", "not an address of that kind"},
	    {"[egress]\nlifetime = 1m\n", "shorter than its idle time"},
	    {"[egress]\nrace_delay = 2s\nconnect_timeout = 1s\n",
		"never be tried"},
	    {"[ledger]\nmemory = 1M\n", "out of range"},
	    {"[limits]\nhead_bytes = 32k\n", "longer than the buffer"},
	    {"[metrics]\nlisten = 0.0.0.0:1\n", "on this machine alone"},
	    {"[metrics]\nlisten = [2001:db8::1]:1\n", "on this machine alone"},
	    {"[metrics]\nlisten = 127.0.0.1:8080\n", "the same address"},
	    {"[control]\nsocket = run/x\n", "can not be a socket"},
	    {"[tor]\ncontrol = tor\n", "not a control port"},
	    {"[tor]\npassword_file = /x\n", "without a control port"},
	    {"[tor]\ncontrol = 127.0.0.1:1\nonion_key = /k\n",
		"would be given the key"},
	    {"[tor]\ncontrol = unix:/x\nonion_clients = /c\n",
		"asks tor for no service"},
	    {"[run]\ndrain = 2h\n", "out of range"},
	    {"[run\nuser = x\n", "without its ]"},
	    {"[run]\nuser\n", "no = in the line"},
	    {"[run]\nuser = x\nuser = y\n", "set in line"},
	    {"[log]\nlevel = warn\n", "not a word"},
	};
	char text[2048];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct findings f = {0};
		bool found = false;
		snprintf(text, sizeof(text), LEAST "%s", bad[i].text);
		struct config *c = load(&f, text, NULL, 0);
		for (size_t k = 0; k < f.n; k++) {
			if (f.items[k].severity != FINDING_ERROR ||
			    strstr(f.items[k].what, bad[i].what) == NULL)
				continue;
			found = true;
			CHECK(strncmp(f.items[k].where, "test.conf:", 10) == 0);
			CHECK(f.items[k].cure[0] != '\0');
		}
		if (!found || c != NULL) {
			show(&f);
			printf(
			    "    not refused as it should be: %s", bad[i].text);
		}
		CHECK(found && c == NULL);
		findings_clear(&f);
	}
}

static void
lines_are_counted(void)
{
	struct findings f = {0};
	struct config *c = load(&f,
	    "# one\n\n[gateway]\n\n  audience = 1\nslots = 0\n; seven\n"
	    "epoch = 1\n[group g]\nmembers = /m\nrequests = 1\n",
	    NULL, 0);

	CHECK(c == NULL);
	CHECK_STR(f.items[0].where, "test.conf:6");
	CHECK_STR(f.items[1].where, "test.conf:8");
	findings_clear(&f);
}

/* All of them at once, not the first one. */
static void
all_faults_are_told_at_once(void)
{
	struct findings f = {0};
	struct config *c = load(&f,
	    "[gateway]\nslots = 0\nepoch = 1\n[nonsense]\na = 1\nb = 2\n"
	    "[group g]\nrequest = 7\n[egress]\nports = x\n",
	    NULL, 0);

	CHECK(c == NULL);
	/* slots, epoch, section (once), request, ports; then: no audience, no
	 * members, no requests. */
	CHECK_INT(f.errors, 8);
	findings_clear(&f);
}

static void
an_unknown_key_is_guessed(void)
{
	struct findings f = {0};
	struct config *c = load(&f, LEAST "[egress]\nlifetme = 1h\n", NULL, 0);

	CHECK(c == NULL);
	CHECK_STR(f.items[0].cure, "did you mean lifetime?");
	findings_clear(&f);
}

/* Before any section, and in one that is misspelt: said once each. */
static void
keys_have_a_section(void)
{
	struct findings f = {0};

	CHECK(load(&f, "x = 1\ny = 2\n[gatway]\na = 1\nb = 2\n" LEAST, NULL,
		  0) == NULL);
	CHECK_INT(f.n, 2);
	CHECK_STR(f.items[0].what, "a key outside of any section");
	CHECK_STR(f.items[0].where, "test.conf:1");
	CHECK_STR(f.items[1].what, "no section is called [gatway]");
	CHECK_STR(f.items[1].cure, "did you mean [gateway]?");
	CHECK_STR(f.items[1].where, "test.conf:4");
	findings_clear(&f);
}

/* libinih reads an indented line as more of the value above. */
static void
indentation_means_nothing(void)
{
	struct config *c = load_good(
	    "[gateway]\n  audience = 1\n  listen = 127.0.0.1:1\n"
	    "  epoch = 2d\n  [group g]\n    members = /m\n\trequests = 1\n"
	    "[egress]\n allow = *\n[ledger]\n journal = /j\n");

	CHECK_INT(c->gateway.listen.n, 1);
	CHECK_INT(c->gateway.epoch_ms, 2 * 86400000);
	config_unref(&c);
}

static void
overrides_win(void)
{
	static const char *const set[] = {"gateway.listen=127.0.0.1:7",
	    "gateway.listen=[::1]:7", "group.g.requests=99", "log.level=error",
	    "run.user=a=b"};
	struct findings f = {0};
	struct config *c =
	    load(&f, LEAST "[gateway]\nlisten = 127.0.0.1:1\n", set, 5);

	show(&f);
	CHECK(c != NULL);
	CHECK_INT(c->gateway.listen.n, 2);
	CHECK_STR(c->gateway.listen.items[0].text, "127.0.0.1:7");
	CHECK_INT(c->groups[0].requests, 99);
	CHECK_STR(c->run.user, "a=b");
	CHECK_STR(
	    config_place(c, NULL, "gateway", "listen").file, "command line");
	config_unref(&c);
	findings_clear(&f);
}

static void
bad_overrides_are_refused(void)
{
	static const char *const bad[] = {"", "listen", "gateway.listen",
	    "listen=1", "gateway.lisen=1", "gateway.slots=0",
	    "group.g.nothing=1", "group.a.b.requests=1", "=1", ".=1"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct findings f = {0};
		struct config *c = load(&f, LEAST, &bad[i], 1);
		if (c != NULL)
			printf("    taken: %s\n", bad[i]);
		CHECK(c == NULL);
		CHECK_STR(f.items[0].where, "command line");
		findings_clear(&f);
	}
}

static void
odd_bytes_are_refused_or_read(void)
{
	struct findings f = {0};
	struct config *c;
	char text[4096];

	/* A NUL in the middle. */
	static const char nul[] = LEAST "[run]\nuser = a\0b\n";
	CHECK_STATUS(config_parse(&c, &f, "x", nul, sizeof(nul) - 1, NULL, 0),
	    ST_BAD_VALUE);
	CHECK_STR(f.items[0].what, "a NUL byte");
	findings_clear(&f);
	/* A line longer than libinih takes: not cut in silence. */
	snprintf(text, sizeof(text), LEAST "[run]\nuser = %0500d\n", 1);
	CHECK(load(&f, text, NULL, 0) == NULL);
	CHECK(strstr(f.items[0].what, "longer than") != NULL);
	findings_clear(&f);
	/* No newline at the end; a byte order mark. */
	c = load_good("\xef\xbb\xbf" LEAST "[run]\nuser = last");
	CHECK_STR(c->run.user, "last");
	config_unref(&c);
	CHECK(load(&f, "", NULL, 0) == NULL);
	findings_clear(&f);
}

static void
what_needs_a_restart_stays(void)
{
	struct config *old = load_good(
	    LEAST "[gateway]\nslots = 2\ngrace = 1m\nlisten = 127.0.0.1:1\n");
	struct config *new = load_good(
	    LEAST "[gateway]\nslots = 3\ngrace = 2m\nlisten = 127.0.0.1:2\n");
	struct findings f = {0};

	config_inherit(new, old, &f);
	CHECK_INT(f.warnings, 2);
	CHECK_INT(new->gateway.slots, 2);
	CHECK_STR(new->gateway.listen.items[0].text, "127.0.0.1:1");
	CHECK_INT(new->gateway.grace_ms, 120000);
	findings_clear(&f);
	config_inherit(new, old, &f);
	CHECK_INT(f.n, 0);
	config_unref(&old);
	config_unref(&new);
	findings_clear(&f);
}

/* --- conf/postern.conf --- */

static char *
read_sample(void)
{
	return test_read_file("../conf/postern.conf", NULL);
}

static void
the_sample_runs_as_it_is(void)
{
	char *text = read_sample();
	struct findings f = {0};
	/* What only the operator can say. */
	static const char *const set[] = {"gateway.audience=1"};
	struct config *c = load(&f, text, set, 1);

	show(&f);
	CHECK(c != NULL);
	config_unref(&c);
	findings_clear(&f);
	free(text);
}

/* LINE is "key = value" behind a '#' and no space. */
static bool
is_commented_key(const char *line)
{
	return line[0] == '#' && line[1] >= 'a' && line[1] <= 'z' &&
	    strstr(line, " = ") != NULL;
}

/* The value that the sample gives to KEY of SECTION, commented out or not, in
 * OUT; false if there is no such line. *commented as it says. */
static bool
find_in_sample(const char *text, const char *section, const char *key,
    char out[static 128], bool *commented)
{
	char copy[128], here[64] = "", name[64];

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
		text += len + (text[len] != '\0');
		if (copy[0] == '[')
			sscanf(copy, "[%63[a-z]", here);
		const char *line = is_commented_key(copy) ? copy + 1 : copy;
		if (strcmp(here, section) != 0 ||
		    sscanf(line, "%63[a-z_0-9] = ", name) != 1 ||
		    strcmp(name, key) != 0)
			continue;
		*commented = line != copy;
		snprintf(out, 128, "%s", strstr(line, " = ") + 3);
		return true;
	}
	return false;
}

static void
the_sample_has_every_key(void)
{
	char *text = read_sample();
	char value[128];
	bool commented;

	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		if (!find_in_sample(
			text, o->section, o->key, value, &commented))
			test_fail(__FILE__, __LINE__,
			    "conf/postern.conf lacks %s.%s", o->section,
			    o->key);
		/* A commented line shows the default, where there is one. */
		if (commented && o->fallback != NULL &&
		    strcmp(value, o->fallback) != 0)
			test_fail(__FILE__, __LINE__,
			    "conf/postern.conf says %s.%s = %s, the table %s",
			    o->section, o->key, value, o->fallback);
		if (!commented && o->fallback != NULL)
			test_fail(__FILE__, __LINE__,
			    "%s.%s has a default and is set all the same",
			    o->section, o->key);
	}
	free(text);
}

/* Every commented key is one, and its value reads; those that a reload takes
 * are marked. */
static void
the_sample_has_only_keys(void)
{
	char *text = read_sample(), *p = text;
	char section[64] = "", key[64], paragraph[8192] = "";

	while (*p != '\0') {
		size_t len = strcspn(p, "\n");
		char line[256];
		snprintf(line, sizeof(line), "%.*s", (int)len, p);
		p += len + (p[len] != '\0');
		if (line[0] == '[')
			sscanf(line, "[%63[a-z]", section);
		bool is_key = is_commented_key(line) ||
		    (line[0] >= 'a' && line[0] <= 'z');
		if (!is_key) {
			/* The comment that the next keys belong to. */
			if (line[0] != '#')
				paragraph[0] = '\0';
			strncat(paragraph, line,
			    sizeof(paragraph) - strlen(paragraph) - 1);
			continue;
		}
		const char *at = line[0] == '#' ? line + 1 : line;
		CHECK_INT(sscanf(at, "%63[a-z_0-9]", key), 1);
		const struct option_info *o = option_find(section, key);
		if (o == NULL)
			test_fail(
			    __FILE__, __LINE__, "[%s] has no %s", section, key);
		bool marked = strstr(paragraph, "[r]") != NULL;
		if (marked != ((o->flags & OPTION_RELOADS) != 0))
			test_fail(__FILE__, __LINE__, "%s.%s: [r] is wrong",
			    section, key);
	}
	free(text);
}

/* What takes the place of something else and can not stand beside it. */
static bool
is_instead(const char *line)
{
	static const char *const keys[] = {"root =", "max_age =", "onion_key =",
	    "onion_port =", "onion_streams =", "onion_key_passphrase_file =",
	    "onion_clients =", "onion_pow",
	    "shared =", "shared_key_file =", "shared_user =",
	    "shared_password_file =", "shared_ca_file =", "shared_prefix =",
	    "shared_timeout =", "shared_replicas =", "unreachable ="};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strncmp(line, keys[i], strlen(keys[i])) == 0)
			return true;
	}
	return false;
}

/* With all its comments taken away it is still a configuration. */
static void
the_sample_runs_in_full(void)
{
	char *text = read_sample(), *p = text;
	struct findings f = {0};
	static const char *const set[] = {
	    "gateway.proxy_line=required", "ledger.sync=interval"};
	struct config *c;

	while (*p != '\0') {
		if (is_commented_key(p) && !is_instead(p + 1))
			*p = ' ';
		p += strcspn(p, "\n");
		p += *p != '\0';
	}
	c = load(&f, text, set, 2);
	show(&f);
	CHECK(c != NULL);
	CHECK_INT(f.n, 0);
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		bool group = strcmp(o->section, "group") == 0;
		char line[64];
		snprintf(line, sizeof(line), "%s =", o->key);
		if (is_instead(line))
			continue;
		if (!config_is_set(
			c, group ? &c->groups[0] : NULL, o->section, o->key))
			test_fail(__FILE__, __LINE__, "%s.%s is not set",
			    o->section, o->key);
	}
	config_unref(&c);
	findings_clear(&f);
	free(text);
}

static void
the_table_is_sound(void)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		CHECK(option_find(o->section, o->key) == o);
		CHECK(o->help != NULL && o->help[0] != '\0');
		CHECK(o->help[strlen(o->help) - 1] != '.');
		CHECK(o->arg != NULL);
		CHECK((o->words != NULL) == (o->type == OPTION_WORD));
		/* What must be given has no default. */
		if (o->flags & OPTION_REQUIRED)
			CHECK(o->fallback == NULL);
	}
}

TESTS({"keys have a section", keys_have_a_section},
    {"defaults are the table's", defaults_are_the_tables},
    {"an absent rule denies", an_absent_rule_denies},
    {"values of every kind", values_of_every_kind},
    {"every fault has line and cure", every_fault_has_line_and_cure},
    {"lines are counted", lines_are_counted},
    {"all faults are told at once", all_faults_are_told_at_once},
    {"an unknown key is guessed", an_unknown_key_is_guessed},
    {"indentation means nothing", indentation_means_nothing},
    {"overrides win", overrides_win},
    {"bad overrides are refused", bad_overrides_are_refused},
    {"odd bytes are refused or read", odd_bytes_are_refused_or_read},
    {"what needs a restart stays", what_needs_a_restart_stays},
    {"the sample runs as it is", the_sample_runs_as_it_is},
    {"the sample has every key", the_sample_has_every_key},
    {"the sample has only keys", the_sample_has_only_keys},
    {"the sample runs in full", the_sample_runs_in_full},
    {"the table is sound", the_table_is_sound}, )
