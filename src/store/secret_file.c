#include "store/secret_file.h"

#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "base/wipe.h"

#define FILE_MAX 1024
#define HEX_SIZE (2 * SECRET_SIZE)

/* The one line that is no comment. */
static enum status
parse(uint8_t secret[static SECRET_SIZE], span_t text)
{
	span_t found = {NULL, 0};

	if (text.len == SECRET_SIZE) {
		memcpy(secret, text.ptr, text.len);
		return ST_OK;
	}
	while (text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;
		span_t line = span_of(text.ptr, len);
		text.ptr += len + (end != NULL);
		text.len -= len + (end != NULL);
		if (line.len > 0 && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		if (found.ptr != NULL)
			return ST_BAD_ENCODING;
		found = line;
	}
	if (found.len != HEX_SIZE)
		return ST_BAD_ENCODING;
	return hex_decode(secret, SECRET_SIZE, found);
}

enum status
secret_file_load(uint8_t secret[static SECRET_SIZE], const char *path,
    enum file_access access)
{
	char text[FILE_MAX];
	size_t len;
	enum status st = file_read(text, sizeof(text), &len, path, access);

	if (st == ST_OK)
		st = parse(secret, span_of(text, len));
	if (st != ST_OK)
		memset(secret, 0, SECRET_SIZE);
	wipe(text, sizeof(text));
	return st;
}

enum status
secret_file_create(const char *path, const char *head,
    const uint8_t secret[static SECRET_SIZE])
{
	char text[FILE_MAX], digits[HEX_SIZE + 1];
	struct out o = out_to(text, sizeof(text));
	size_t len;
	enum status st;

	hex_encode(digits, span_of(secret, SECRET_SIZE));
	out_str(&o, head);
	out_str(&o, digits);
	out_str(&o, "\n");
	st = out_status(&o, &len);
	if (st == ST_OK)
		st = file_create(path, text, len, 0600);
	wipe(text, sizeof(text));
	wipe(digits, sizeof(digits));
	return st;
}
