/* daemon/onion_file.h: tor's hostname file, watched.
 *
 * Proofs are made for the key in the onion address (gateway.audience), so a
 * gateway whose service gets another key turns everybody away until it is
 * started anew: for its members another address is another gateway. It stays
 * up, and says so in its status, its readiness and its log.
 *
 * The file is looked at by its time stamp, which needs no right to read it:
 * tor's folder, with the service's secret key in it, may be closed to a running
 * gateway, and a new file then counts as a new address.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_ONION_FILE_H
#define DAEMON_ONION_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "gate/audience.h"

struct onion_file {
	const char *path; /* NULL: there is none to watch */
	const char *name; /* the address that it had at the start */
	struct stat seen;
	bool changed; /* it has another one now, or may have */
};

/* Begin to watch the file at PATH, which has the address NAME. Both are
 * borrowed. */
void onion_file_init(struct onion_file *o, const char *path, const char *name);

/* Look again. Returns: whether o->changed is another than before. */
bool onion_file_look(struct onion_file *o);

#endif
