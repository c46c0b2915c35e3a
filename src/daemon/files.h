/* daemon/files.h: what to tell an operator of a file that can not be used.
 */
#ifndef DAEMON_FILES_H
#define DAEMON_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/finding.h"
#include "gate/audience.h"
#include "postern/status.h"
#include "store/file.h"

/* What is wrong, and what to do, when file_load (with ACCESS) returned ST. */
const char *file_problem(enum status st, enum file_access access);
const char *file_cure(enum status st, enum file_access access);

/* Read tor's hostname file at PATH.
 * Out:     name and key; on failure "" and zero.
 * Returns: ST_OK; as file_load; as onion_decode. */
enum status file_read_onion(char name[static ONION_LENGTH + 1],
    uint8_t key[static 32], const char *path) WARN_UNUSED;

/* Read the password in the file at PATH, its first line; NULL: there is none.
 * Out:     *password, to be wiped (*len bytes) and freed; NULL on failure.
 * Returns: ST_OK; else with a finding at WHERE. */
enum status file_password(char **password, size_t *len, const char *path,
    struct place where, struct findings *f) WARN_UNUSED;

#endif
