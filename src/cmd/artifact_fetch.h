/* cmd/artifact_fetch.h: get one proving key from where it is into a folder.
 *
 * From a folder or over HTTPS. The bytes go into semaphore-N.zkey.part beside
 * their place, so that what was broken off goes on from there; only when size
 * and SHA-256 are those pinned in the binary does the file take its name, at
 * once. Whoever serves it can withhold it, and nothing else.
 */
#ifndef CMD_ARTIFACT_FETCH_H
#define CMD_ARTIFACT_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

struct artifact_source {
	const char *from; /* a folder, or a URL (https://) of one */
	const char *proxy; /* socks5h://...; NULL: none */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	bool progress; /* show a bar on stderr */
};

/* Get the key for DEPTH from SOURCE to PATH. What goes wrong has been said on
 * stderr in the name of NAME.
 * Returns: ST_OK; what went wrong: then what has come so far is kept for the
 *          next time, unless it is wrong. */
enum status artifact_fetch(const char *path, uint32_t depth,
    const struct artifact_source *source, const char *name) NONNULL WARN_UNUSED;

#endif
