#include "cmd/artifact_check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/text.h"
#include "semaphore/artifacts.h"

/* OpenSSL's, because it uses the CPU's instructions for it. */
static enum status
hash_fd(char out[static 65], int fd)
{
	uint8_t buf[8192], digest[32];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	enum status st = ST_OK;
	ssize_t n = 1;

	if (ctx == NULL || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		st = ST_NO_MEMORY;
	while (st == ST_OK && n != 0) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno != EINTR)
			st = ST_SYS;
		else if (n > 0 && EVP_DigestUpdate(ctx, buf, (size_t)n) != 1)
			st = ST_INTERNAL;
	}
	if (st == ST_OK && EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
		st = ST_INTERNAL;
	EVP_MD_CTX_free(ctx);
	if (st == ST_OK)
		hex_encode(out, span_of(digest, sizeof(digest)));
	return st;
}

enum status
artifact_check(const char *path, uint32_t depth)
{
	const struct artifact *pin = artifact_of_depth(depth);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char digest[65] = "";
	struct stat file;
	enum status st = ST_OK;

	if (fd < 0)
		return ST_SYS;
	if (fstat(fd, &file) != 0)
		st = ST_SYS;
	else if (pin == NULL || file.st_size != (off_t)pin->size)
		st = ST_BAD_LENGTH;
	if (st == ST_OK)
		st = hash_fd(digest, fd);
	if (st == ST_OK && strcmp(digest, pin->sha256) != 0)
		st = ST_CORRUPT;
	close(fd);
	return st;
}
