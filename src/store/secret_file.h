/* store/secret_file.h: 32 secret bytes on disk.
 *
 *	# what it is, for people
 *	<64 hex digits>
 *
 * Lines that begin with # are for people. A file of exactly 32 bytes is taken
 * as the bare secret. Modes as in store/file.h.
 */
#ifndef STORE_SECRET_FILE_H
#define STORE_SECRET_FILE_H

#include <stdint.h>

#include "store/file.h"

#define SECRET_SIZE 32

/* Read the secret in the file at PATH.
 * Out:     zeros on failure.
 * Returns: ST_OK; ST_PERMISSION; ST_SYS (errno); ST_NO_SPACE (too long to be
 *          one); ST_BAD_ENCODING. */
enum status secret_file_load(uint8_t secret[static SECRET_SIZE],
    const char *path, enum file_access access) NONNULL WARN_UNUSED;

/* Write SECRET to a new file with mode 0600.
 * In:      head, lines that begin with # and end, or "".
 * Returns: ST_OK; ST_DUPLICATE (there is a file, it stays); ST_SYS;
 *          ST_NO_SPACE (head is too long). */
enum status secret_file_create(const char *path, const char *head,
    const uint8_t secret[static SECRET_SIZE]) NONNULL WARN_UNUSED;

#endif
