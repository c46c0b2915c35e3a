/* OpenSSL 3 deprecates these functions in favour of EVP, which takes half a
 * microsecond more each time; they are the same code. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "hash/sha256.h"

#include <openssl/sha.h>

void
sha256(uint8_t out[static 32], span_t in)
{
	SHA256_CTX h;

	/* They fail for nothing. */
	(void)SHA256_Init(&h);
	(void)SHA256_Update(&h, in.ptr, in.len);
	(void)SHA256_Final(out, &h); /* wipes h */
}
