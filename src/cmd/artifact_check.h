/* cmd/artifact_check.h: is a file the official proving key it says it is?
 */
#ifndef CMD_ARTIFACT_CHECK_H
#define CMD_ARTIFACT_CHECK_H

#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Hash the file at PATH and compare with the pins of DEPTH.
 * Returns: ST_OK; ST_BAD_LENGTH (another size); ST_CORRUPT (another hash);
 *          ST_SYS, and errno says why. */
enum status
artifact_check(const char *path, uint32_t depth) NONNULL WARN_UNUSED;

#endif
