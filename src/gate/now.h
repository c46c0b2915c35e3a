/* gate/now.h: what time it is, as an argument.
 *
 * The gate reads no clock. Two are needed: the calendar's, because epochs are
 * days that clients and gateway must agree on, and a steady one for all that
 * is a duration (rates, lifetimes of roots), so that a calendar that is set
 * forward or back can not fill a bucket or expire a root.
 */
#ifndef GATE_NOW_H
#define GATE_NOW_H

#include <stdint.h>

typedef struct {
	uint64_t wall; /* seconds since 1970, UTC; may jump */
	uint64_t mono; /* milliseconds of a clock that never goes back */
} now_t;

#endif
