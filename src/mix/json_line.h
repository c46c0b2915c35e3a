/* mix/json_line.h: on which line of a JSON text something stands.
 *
 * jansson tells the line of a syntax error and forgets lines afterwards; an
 * operator wants the line of a wrong value as well. The text is known to be
 * valid JSON when these are asked.
 */
#ifndef MIX_JSON_LINE_H
#define MIX_JSON_LINE_H

#include <stddef.h>

#include "base/span.h"

/* The line (from 1) of the value of MEMBER in element INDEX of the array LIST
 * of the outermost object; of the element when MEMBER is NULL or is not there;
 * of the whole (1) when the element is not there. */
unsigned
json_line_of(span_t text, const char *list, size_t index, const char *member);

#endif
