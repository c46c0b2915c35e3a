#include "cmd/daemon_args.h"

#include <stdio.h>
#include <string.h>

#include "daemon/buffer.h"

int
daemon_args_parse(struct daemon_args *out, const struct cli_spec *spec,
    int argc, char **argv, const char **values)
{
	int args, code = cli_parse(spec, argc, argv, values, &args);

	*out = (struct daemon_args){.path = CONFIG_DEFAULT_PATH};
	if (code >= 0)
		return code;
	for (int i = 0; spec->options[i].name != NULL; i++) {
		if (strcmp(spec->options[i].name, "config") == 0 &&
		    values[i] != NULL)
			out->path = values[i];
	}
	out->overrides_n = cli_repeated(
	    out->overrides, OVERRIDES_MAX, spec, argc, argv, "set");
	if (out->overrides_n > OVERRIDES_MAX) {
		cli_error(argv[0], "more than %d --set", OVERRIDES_MAX);
		return CLI_ERROR;
	}
	return -1;
}

char *
daemon_args_keys(void)
{
	struct buffer b = {0};

	buffer_text(&b, "keys (a group's begin with group.NAME):\n");
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		buffer_format(&b, "  %s.%s = %s\n      %s (%s)\n", o->section,
		    o->key, o->arg, o->help,
		    o->fallback != NULL		     ? o->fallback
			: o->flags & OPTION_REQUIRED ? "required"
						     : "not set");
	}
	return b.text;
}
