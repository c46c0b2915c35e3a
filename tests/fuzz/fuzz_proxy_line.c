/* The PROXY line: the same result however it is cut; what is accepted is a
 * line that says the circuit it was taken for. */
#include "fuzz.h"

#include <arpa/inet.h>

#include "http/proxy_line.h"

/* Read the line with the C library, the slow and lenient way. */
static void
check_line(const struct proxy_line *line, span_t text)
{
	char copy[PROXY_LINE_MAX + 1], from[64], to[64];
	unsigned sport, dport;
	uint8_t address[16];

	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	FUZZ_CHECK(sscanf(copy, "PROXY TCP6 %63s %63s %u %u\r\n", from, to,
		       &sport, &dport) == 4);
	FUZZ_CHECK(inet_pton(AF_INET6, to, address) == 1);
	FUZZ_CHECK(inet_pton(AF_INET6, from, address) == 1);
	FUZZ_CHECK(
	    memcmp(address, "\xfc\0\xde\xad\xbe\xef\x4d\xad\0\0\0\0", 12) == 0);
	uint32_t number;
	memcpy(&number, address + 12, 4);
	FUZZ_CHECK(ntohl(number) == circuit_number(line->circuit));
	FUZZ_CHECK(sport <= 65535 && dport == line->onion_port);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proxy_line whole, part;
	size_t used, part_used;
	enum status st = proxy_line_parse(&whole, &used, span_of(data, size));
	bool decided = false;

	FUZZ_CHECK(st == ST_OK || st == ST_MORE || st == ST_PROXY_LINE);
	FUZZ_CHECK((st == ST_OK) == (used > 0));
	FUZZ_CHECK(st != ST_MORE || size < PROXY_LINE_MAX);
	if (st == ST_OK) {
		FUZZ_CHECK(used <= size && used <= PROXY_LINE_MAX);
		check_line(&whole, span_of(data, used));
	}
	for (size_t n = 0; n <= size && !decided; n++) {
		uint8_t *copy = fuzz_copy(data, n);
		enum status now =
		    proxy_line_parse(&part, &part_used, span_of(copy, n));
		free(copy);
		decided = now != ST_MORE;
		FUZZ_CHECK(!decided || now == st);
		FUZZ_CHECK(now != ST_OK ||
		    (part_used == used &&
			circuit_equal(part.circuit, whole.circuit)));
	}
	FUZZ_CHECK(decided == (st != ST_MORE));
	return 0;
}
