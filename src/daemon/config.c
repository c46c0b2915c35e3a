#include "daemon/config.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/config_check.h"
#include "daemon/files.h"
#include "daemon/memory.h"

/* A configuration is small; what is larger is another file. */
#define FILE_MAX_BYTES (1 << 20)

#define COMMAND_LINE "command line"
#define GROUP_PREFIX "group "
#define GROUP_NAME_MAX 32

/* The state of one reading. */
struct reading {
	struct config *config;
	struct findings *findings;
	const char *name; /* of the file */
	const char *text; /* what is left of it */
	size_t len;
	int line; /* the last one handed out */
	bool overriding; /* values come from the command line */
	bool complained; /* ... of bad_section, which no table has */
	char bad_section[64];
};

static struct place
here(const struct reading *r)
{
	if (r->overriding)
		return (struct place){COMMAND_LINE, 0};
	return (struct place){r->name, r->line};
}

/* --- the lines --- */

/* Say what is wrong with the line that S begins, which libinih would only
 * count; true if it can go on to libinih. */
static bool
line_is_sound(struct reading *r, const char *s, size_t len)
{
	if (memchr(s, '\0', len) != NULL) {
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "a configuration is plain text", "a NUL byte");
		return false;
	}
	if (len == 0 || *s == '#' || *s == ';')
		return true;
	if (*s == '[') {
		if (memchr(s, ']', len) != NULL)
			return true;
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "write [NAME]", "a section without its ]");
		return false;
	}
	if (memchr(s, '=', len) != NULL)
		return true;
	findings_add(r->findings, FINDING_ERROR, here(r),
	    "write KEY = VALUE, or begin a comment with #", "no = in the line");
	return false;
}

/* Hand libinih one line, as fgets would. Indentation is taken off: libinih
 * would read an indented line as more of the value above, so that indenting a
 * key would silently make it part of another. */
static char *
next_line(char *out, int cap, void *stream)
{
	struct reading *r = stream;
	size_t room = (size_t)cap - 2; /* for the newline and the NUL */

	if (r->len == 0)
		return NULL;
	const char *s = r->text, *newline = memchr(s, '\n', r->len);
	size_t len = newline != NULL ? (size_t)(newline - s) : r->len;
	r->text += len + (newline != NULL);
	r->len -= len + (newline != NULL);
	r->line++;
	if (r->line == 1 && len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
		s += 3;
		len -= 3;
	}
	while (len > 0 && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	while (len > 0 &&
	    (s[len - 1] == '\r' || s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	if (!line_is_sound(r, s, len) || (len > 0 && (*s == '#' || *s == ';')))
		len = 0;
	if (len > room) {
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "a list may be given in several lines with the same key",
		    "the line is longer than %zu bytes", room);
		len = 0;
	}
	memcpy(out, s, len);
	out[len] = '\n';
	out[len + 1] = '\0';
	return out;
}

/* --- the values --- */

static bool
group_name_is_good(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= GROUP_NAME_MAX &&
	    strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-") == len;
}

static struct config_group *
find_group(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->groups_n; i++) {
		if (strcmp(c->groups[i].name, name) == 0)
			return &c->groups[i];
	}
	return NULL;
}

/* The group NAME, made if need be; NULL with a finding if it can not be. */
static struct config_group *
need_group(struct reading *r, const char *name)
{
	struct config *c = r->config;
	struct config_group *g = find_group(c, name);

	if (g != NULL)
		return g;
	if (!group_name_is_good(name)) {
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "use 1 to 32 letters, digits, - and _",
		    "bad group name \"%s\"", name);
		return NULL;
	}
	if (c->groups_n == CONFIG_GROUPS_MAX) {
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "join some of them", "more than %d groups",
		    CONFIG_GROUPS_MAX);
		return NULL;
	}
	c->groups =
	    memory_resize(c->groups, (c->groups_n + 1) * sizeof(*c->groups));
	g = &c->groups[c->groups_n++];
	*g = (struct config_group){
	    .name = memory_copy(name),
	    .line = r->overriding ? 0 : r->line,
	    .origin = memory_new(option_count * sizeof(*g->origin)),
	};
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, "group") == 0)
			option_set_default(&option_table[i], g);
	}
	return g;
}

/* Set option O of BASE, whose origins are at ORIGIN, to VALUE. */
static void
set_value(struct reading *r, const struct option_info *o, void *base,
    struct config_origin *origin, const char *value)
{
	const char *why, *cure;
	int line = r->overriding ? 0 : r->line;

	if (origin->set && o->type != OPTION_LIST && !r->overriding) {
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "keep one of the two", "%s is set in line %d already",
		    o->key, origin->line);
		return;
	}
	/* The first line of a list takes the place of the default, the first
	 * override that of the file; more of either add to it. */
	if (o->type == OPTION_LIST &&
	    (!origin->set || (r->overriding && origin->line != 0)))
		option_clear(o, base);
	if (option_read(o, base, value, line, &why, &cure) != ST_OK) {
		findings_add(r->findings, FINDING_ERROR, here(r), cure,
		    "%s: \"%s\" is %s", o->key, value, why);
		return;
	}
	*origin = (struct config_origin){.set = true, .line = line};
}

static void
unknown_key(struct reading *r, const char *section, const char *key)
{
	const char *near = option_nearest(section, key);
	char *cure = near != NULL
	    ? memory_format("did you mean %s?", near)
	    : memory_copy("`postern run --help` lists the keys");

	findings_add(r->findings, FINDING_ERROR, here(r), cure,
	    "[%s] has no key \"%s\"", section, key);
	free(cure);
}

static void
unknown_section(struct reading *r, const char *section)
{
	const char *near = option_nearest_section(section);
	char *cure = near != NULL
	    ? memory_format("did you mean [%s]?", near)
	    : memory_copy("`postern run --help` lists the sections");
	bool again = r->complained && strcmp(section, r->bad_section) == 0;

	r->complained = true;
	snprintf(r->bad_section, sizeof(r->bad_section), "%s", section);
	if (again && !r->overriding)
		; /* said once, not for each of its keys */
	else if (section[0] == '\0')
		findings_add(r->findings, FINDING_ERROR, here(r),
		    "begin with a section such as [gateway]",
		    "a key outside of any section");
	else
		findings_add(r->findings, FINDING_ERROR, here(r), cure,
		    "no section is called [%s]", section);
	free(cure);
}

/* libinih calls this for each KEY = VALUE. */
static int
handle_pair(void *user, const char *section, const char *key, const char *value)
{
	struct reading *r = user;
	const struct option_info *o;
	bool is_group =
	    strncmp(section, GROUP_PREFIX, strlen(GROUP_PREFIX)) == 0;
	const char *table_section = is_group ? "group" : section;

	if (!option_section_exists(table_section) ||
	    strcmp(section, "group") == 0) {
		if (strcmp(section, "group") == 0)
			findings_add(r->findings, FINDING_ERROR, here(r),
			    "write [group NAME]", "a group without a name");
		else
			unknown_section(r, section);
		return 1;
	}
	struct config *c = r->config;
	struct config_group *g = NULL;
	if (is_group) {
		const char *name = section + strlen(GROUP_PREFIX);
		g = need_group(r, name + strspn(name, " \t"));
		if (g == NULL)
			return 1;
	}
	o = option_find(table_section, key);
	if (o == NULL)
		unknown_key(r, table_section, key);
	else
		set_value(r, o, is_group ? (void *)g : (void *)c,
		    &(is_group ? g->origin : c->origin)[o - option_table],
		    value);
	return 1;
}

/* --- overrides --- */

/* Take one "section.key=value" or "group.NAME.key=value". */
static void
take_override(struct reading *r, const char *text)
{
	char *copy = memory_copy(text), *section = copy;
	char *equals = strchr(copy, '=');

	if (equals != NULL) {
		*equals = '\0';
		char *dot = strrchr(copy, '.');
		if (dot != NULL) {
			*dot = '\0';
			char *name = strchr(copy, '.');
			if (name != NULL)
				*name = ' '; /* group.NAME: "group NAME" */
			handle_pair(r, section, dot + 1, equals + 1);
			free(copy);
			return;
		}
	}
	findings_add(r->findings, FINDING_ERROR, here(r),
	    "write SECTION.KEY=VALUE, for a group group.NAME.KEY=VALUE",
	    "\"%s\" is not an override", text);
	free(copy);
}

/* --- the whole --- */

static struct config *
config_new(const char *name)
{
	struct config *c = memory_new(sizeof(*c));

	c->refs = 1;
	c->path = memory_copy(name);
	c->origin = memory_new(option_count * sizeof(*c->origin));
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, "group") != 0)
			option_set_default(&option_table[i], c);
	}
	return c;
}

static void
group_clear(struct config_group *g)
{
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, "group") == 0)
			option_clear(&option_table[i], g);
	}
	free(g->name);
	free(g->origin);
}

struct config *
config_ref(struct config *c)
{
	c->refs++;
	return c;
}

void
config_unref(struct config **config)
{
	struct config *c = *config;

	*config = NULL;
	if (c == NULL || --c->refs > 0)
		return;
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, "group") != 0)
			option_clear(&option_table[i], c);
	}
	for (size_t i = 0; i < c->groups_n; i++)
		group_clear(&c->groups[i]);
	free(c->groups);
	free(c->origin);
	free(c->path);
	free(c);
}

/* Read TEXT and OVERRIDES, as far as they can be read. */
static struct config *
read_all(struct findings *f, const char *name, const char *text, size_t len,
    const char *const *overrides, size_t n)
{
	struct reading r = {
	    .config = config_new(name),
	    .findings = f,
	    .name = name,
	    .text = text,
	    .len = len,
	};

	/* Each of libinih's own complaints has been made by line_is_sound. Its
	 * memory it takes before the first line. */
	int result = ini_parse_stream(next_line, &r, handle_pair, &r);
	if (result < 0 && r.line == 0 && memory_spend())
		result = ini_parse_stream(next_line, &r, handle_pair, &r);
	if (result < 0)
		memory_die();
	r.overriding = true;
	for (size_t i = 0; i < n; i++)
		take_override(&r, overrides[i]);
	config_check(r.config, f);
	return r.config;
}

enum status
config_parse(struct config **config, struct findings *f, const char *name,
    const char *text, size_t len, const char *const *overrides, size_t n)
{
	size_t before = f->errors;

	*config = read_all(f, name, text, len, overrides, n);
	if (f->errors == before)
		return ST_OK;
	config_unref(config);
	return ST_BAD_VALUE;
}

void
config_examine(struct config **config, struct findings *f, const char *path,
    const char *const *overrides, size_t n)
{
	size_t len;
	char *text;
	enum status st =
	    file_load(&text, &len, path, FILE_MAX_BYTES, FILE_GUARDED);

	struct stat is;

	*config = NULL;
	if (st == ST_PERMISSION && stat(path, &is) == 0 && !S_ISREG(is.st_mode))
		findings_add(f, FINDING_ERROR, (struct place){path, 0},
		    "name the configuration with -c FILE", "not a plain file");
	else if (st != ST_OK)
		findings_add(f, FINDING_ERROR, (struct place){path, 0},
		    st == ST_PERMISSION ? file_cure(st, FILE_GUARDED)
					: "name the configuration with -c FILE",
		    "%s", file_problem(st, FILE_GUARDED));
	else
		*config = read_all(f, path, text, len, overrides, n);
	free(text);
}

enum status
config_load(struct config **config, struct findings *f, const char *path,
    const char *const *overrides, size_t n)
{
	size_t before = f->errors;

	config_examine(config, f, path, overrides, n);
	if (f->errors == before)
		return ST_OK;
	config_unref(config);
	return ST_BAD_VALUE;
}

static const struct config_origin *
origin_of(const struct config *c, const struct config_group *group,
    const char *section, const char *key)
{
	const struct option_info *o = option_find(section, key);

	if (o == NULL)
		return NULL;
	return &(group ? group->origin : c->origin)[o - option_table];
}

struct place
config_place(const struct config *c, const struct config_group *group,
    const char *section, const char *key)
{
	const struct config_origin *at = origin_of(c, group, section, key);

	if (at == NULL || !at->set)
		return (struct place){c->path, group ? group->line : 0};
	if (at->line == 0)
		return (struct place){COMMAND_LINE, 0};
	return (struct place){c->path, at->line};
}

bool
config_is_set(const struct config *c, const struct config_group *group,
    const char *section, const char *key)
{
	const struct config_origin *at = origin_of(c, group, section, key);

	return at != NULL && at->set;
}

void
config_inherit(struct config *new, const struct config *old, struct findings *f)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		if ((o->flags & OPTION_RELOADS) != 0 ||
		    strcmp(o->section, "group") == 0 ||
		    option_equal(o, old, new))
			continue;
		findings_add(f, FINDING_WARNING,
		    config_place(new, NULL, o->section, o->key),
		    "restart the gateway", "%s.%s changes with a restart only",
		    o->section, o->key);
		option_copy(o, new, old);
	}
}
