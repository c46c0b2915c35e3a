#include "daemon/onion_file.h"

#include <string.h>

#include "daemon/files.h"

void
onion_file_init(struct onion_file *o, const char *path, const char *name)
{
	*o = (struct onion_file){.path = path, .name = name};
	if (path != NULL && stat(path, &o->seen) != 0)
		o->path = NULL;
}

bool
onion_file_look(struct onion_file *o)
{
	char name[ONION_LENGTH + 1];
	uint8_t key[32];
	struct stat now;
	bool before = o->changed;

	/* While tor writes it, or has taken it away, nothing is known. */
	if (o->path == NULL || stat(o->path, &now) != 0 ||
	    file_unchanged(&o->seen, &now))
		return false;
	o->seen = now;
	o->changed = file_read_onion(name, key, o->path) != ST_OK ||
	    strcmp(name, o->name) != 0;
	return o->changed != before;
}
