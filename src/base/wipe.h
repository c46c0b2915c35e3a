/* base/wipe.h: forget a secret, and compare two without telling where.
 */
#ifndef BASE_WIPE_H
#define BASE_WIPE_H

#include <stdbool.h>
#include <stddef.h>

/* Zero LEN bytes in a way that the compiler may not drop. */
void wipe(void *ptr, size_t len);

/* A and B hold the same LEN bytes. Time: constant in their content. */
bool equal_ct(const void *a, const void *b, size_t len);

#endif
