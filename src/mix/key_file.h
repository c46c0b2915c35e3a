/* mix/key_file.h: a node's secret key on disk.
 *
 *	# postern mix key; its id is
 *	# f79162904bda0e9be9eef9bb487a600bd64387074d1d33520b2b1be22a3dea24
 *	<64 hex digits>
 *
 * Lines that begin with # are for people. A file of exactly 32 bytes is taken
 * as the bare key.
 */
#ifndef MIX_KEY_FILE_H
#define MIX_KEY_FILE_H

#include <stdbool.h>

#include "postern/sphinx.h"
#include "store/file.h"

/* Read the key file at PATH. A node's must be FILE_OWNER.
 * Out:     key; zeros on failure.
 * Returns: ST_OK; ST_PERMISSION; ST_SYS (errno); ST_NO_SPACE (too long to be
 *          one); ST_BAD_ENCODING. */
enum status key_file_load(sphinx_key_t *key, const char *path,
    enum file_access access) NONNULL WARN_UNUSED;

/* Write KEY to a new file with mode 0600.
 * Returns: ST_OK; ST_DUPLICATE (there is a file, it stays); ST_SYS. */
enum status
key_file_create(const char *path, const sphinx_key_t *key) NONNULL WARN_UNUSED;

#endif
