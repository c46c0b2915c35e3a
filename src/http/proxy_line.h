/* http/proxy_line.h: the PROXY line that tor writes before a client's bytes.
 *
 * With `HiddenServiceExportCircuitID haproxy` tor opens each connection to
 * the gateway with a line of the PROXY protocol, version 1, whose source
 * address is no address but the number of the circuit:
 *
 *	PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\r\n
 *
 * The number is the last 32 bits of the source (here 23); the text is not
 * canonical, so it is read as an address and never compared as a string. A
 * silent client gives this line alone; an eager one gives it and its bytes in
 * one read: the length of the line is returned so that both work.
 *
 * Only this form is accepted. `PROXY UNKNOWN` and TCP4, which the protocol
 * also has, carry no circuit: without one no limit per circuit could hold, so
 * they are refused, as is a source outside fc00:dead:beef:4dad::/96.
 *
 * A circuit's number links requests of one client. It lives in a struct, so
 * that no format string takes it by accident, and must not reach a log.
 * Numbers are given out from the start again when tor restarts: they are a
 * name for one run of one tor and never an identity.
 */
#ifndef HTTP_PROXY_LINE_H
#define HTTP_PROXY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* The longest line of version 1, CRLF included. */
#define PROXY_LINE_MAX 107

/* A circuit of tor's. */
typedef struct {
	uint32_t opaque_;
} circuit_t;

/* The number, for tables and for tor's control port. */
static inline uint32_t
circuit_number(circuit_t c)
{
	return c.opaque_;
}

static inline bool
circuit_equal(circuit_t a, circuit_t b)
{
	return a.opaque_ == b.opaque_;
}

struct proxy_line {
	circuit_t circuit;
	uint16_t onion_port; /* the port of the onion service; 0: not told */
};

/* Read the line at the beginning of IN, which holds all bytes so far.
 * Out:     on ST_OK: out, and *used, the line's length; else both are zero.
 * Returns: ST_OK; ST_MORE (fewer than PROXY_LINE_MAX bytes, a good beginning);
 *          ST_PROXY_LINE, as soon as a byte can not belong to such a line.
 * Time:    variable; at most PROXY_LINE_MAX bytes are looked at. */
enum status proxy_line_parse(struct proxy_line *out, size_t *used, span_t in)
    NONNULL_ARGS(1, 2) WARN_UNUSED;

#endif
