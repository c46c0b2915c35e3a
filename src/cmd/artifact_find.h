/* cmd/artifact_find.h: where the proving keys are on this machine.
 *
 * The key for depth N is a file semaphore-N.zkey. Where no place is named, it
 * is looked for in the user's data folder ($XDG_DATA_HOME/postern, else
 * ~/.local/share/postern), in the system's, and where npm has put the package
 * @zk-kit/semaphore-artifacts: in node_modules of this folder and those above
 * it, in the folders of NODE_PATH, and in npm's global ones.
 */
#ifndef CMD_ARTIFACT_FIND_H
#define CMD_ARTIFACT_FIND_H

#include <limits.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

/* The user's data folder, which need not exist.
 * Returns: ST_OK; ST_MISSING (neither XDG_DATA_HOME nor HOME is set);
 *          ST_NO_SPACE. */
enum status artifact_home(char path[static PATH_MAX]) WARN_UNUSED;

/* DIR's file for DEPTH. Returns: ST_OK; ST_NO_SPACE. */
enum status artifact_path(
    char path[static PATH_MAX], const char *dir, uint32_t depth) WARN_UNUSED;

/* Find the key for DEPTH: WHERE itself if it is a file, in WHERE if it is a
 * folder, in the places above if it is NULL.
 * Out:     path; with ST_NOT_FOUND, the first that was looked at.
 * Returns: ST_OK; ST_NOT_FOUND. */
enum status artifact_find(char path[static PATH_MAX], const char *where,
    uint32_t depth) NONNULL_ARGS(1) WARN_UNUSED;

/* Find the key for DEPTH in the places above, but not the one at EXCEPT.
 * Returns: ST_OK; ST_NOT_FOUND. */
enum status artifact_find_other(char path[static PATH_MAX], const char *except,
    uint32_t depth) NONNULL WARN_UNUSED;

#endif
