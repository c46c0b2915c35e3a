#include "sphinx/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

const char *
sphinx_suite_name(enum sphinx_suite suite)
{
	return suite == SPHINX_STREAM ? suite_stream.name : suite_wide.name;
}

enum status
sphinx_suite_parse(enum sphinx_suite *out, const char *name)
{
	*out = SPHINX_WIDE;
	if (strcmp(name, suite_wide.name) == 0)
		return ST_OK;
	if (strcmp(name, suite_stream.name) != 0)
		return ST_UNKNOWN;
	*out = SPHINX_STREAM;
	return ST_OK;
}

enum status
sphinx_new(
    struct sphinx **out, enum sphinx_suite suite, enum sphinx_kernel kernel)
{
	const struct x25519_kernel *k = x25519_kernel(kernel);
	struct sphinx *s;
	enum status st;

	*out = NULL;
	if (k == NULL)
		return ST_NOT_FOUND;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return ST_NO_MEMORY;
	st = ciphers_init(&s->ciphers);
	if (st != ST_OK) {
		free(s);
		return st;
	}
	s->name = suite;
	s->suite = suite == SPHINX_STREAM ? &suite_stream : &suite_wide;
	s->kernel = k;
	*out = s;
	return ST_OK;
}

void
sphinx_free(struct sphinx *s)
{
	if (s == NULL)
		return;
	ciphers_clear(&s->ciphers);
	free(s);
}

enum sphinx_suite
sphinx_suite_of(const struct sphinx *s)
{
	return s->name;
}

enum sphinx_kernel
sphinx_kernel_of(const struct sphinx *s)
{
	return s->kernel->name;
}

void
sphinx_key_make(sphinx_key_t *out, const uint8_t secret[static SPHINX_KEY_SIZE])
{
	memcpy(out->secret, secret, SPHINX_KEY_SIZE);
	x25519_kernel(SPHINX_KERNEL_PORTABLE)
	    ->one(out->id, out->secret, x25519_base.byte);
}

bool
sphinx_id_is_valid(const uint8_t id[static SPHINX_KEY_SIZE])
{
	return x25519_is_valid(id);
}

static void
derive(uint8_t out[static 32], const char *label, const void *data, size_t len)
{
	sha256_two(out, label, strlen(label), data, len);
}

void
hop_keys_derive(struct hop_keys *out, const struct suite *suite,
    const uint8_t shared[static X25519_SIZE],
    const uint8_t element[static X25519_SIZE],
    const uint8_t id[static SPHINX_KEY_SIZE])
{
	uint8_t root[96];

	memcpy(root, shared, 32);
	if (suite->bind) {
		memcpy(root + 32, element, 32);
		memcpy(root + 64, id, 32);
		derive(root, "postern/hop", root, 96);
		derive(out->replay_tag, suite->replay, root, 32);
		memcpy(out->once, out->replay_tag, sizeof(out->once));
	} else {
		derive(out->replay_tag, suite->replay, element, 32);
		derive(out->once, "postern/once", root, 32);
	}
	derive(out->rho, suite->rho, root, 32);
	derive(out->mu, suite->mu, root, 32);
	derive(out->pi, suite->pi, root, 32);
	derive(out->aead, suite->aead, root, 32);
	wipe(root, sizeof(root));
}
