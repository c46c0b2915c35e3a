#include "daemon/onion_key_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "semaphore/sealed.h"

#define FIRST "postern onion key 1 encrypted\n"

/* What a reader or writer works on. */
struct key_file {
	const struct config *config;
	struct findings *findings;
	char *passphrase; /* NULL: the file is not sealed */
	size_t passphrase_len;
};

static struct place
key_place(const struct key_file *kf)
{
	return config_place(kf->config, NULL, "tor", "onion_key");
}

static struct place
passphrase_place(const struct key_file *kf)
{
	return config_place(
	    kf->config, NULL, "tor", "onion_key_passphrase_file");
}

static span_t
passphrase(const struct key_file *kf)
{
	return span_of(kf->passphrase,
	    kf->passphrase != NULL ? strlen(kf->passphrase) : 0);
}

/* Write the file of K: in the place of the one that is there, or anew. */
static enum status
write_key(const struct key_file *kf, const struct onion_key *k, bool replace)
{
	uint8_t plain[ONION_KEY_FILE_SIZE];
	uint8_t salt[IDENTITY_SALT_LENGTH], nonce[IDENTITY_NONCE_LENGTH];
	char text[SEALED_TEXT_MAX];
	const void *out = plain;
	size_t len = sizeof(plain);
	enum status st = ST_OK;

	onion_key_write(plain, k);
	if (kf->passphrase != NULL) {
		randombytes_buf(salt, sizeof(salt));
		randombytes_buf(nonce, sizeof(nonce));
		st = sealed_write(text, &len, FIRST, span_of(plain, len),
		    passphrase(kf), IDENTITY_COST_DEFAULT, salt, nonce);
		out = text;
	}
	if (st == ST_OK)
		st = (replace ? file_replace : file_create)(
		    kf->config->tor.onion_key, out, len, 0600);
	wipe(plain, sizeof(plain));
	if (st == ST_BAD_LENGTH)
		findings_add(kf->findings, FINDING_ERROR, passphrase_place(kf),
		    "write a passphrase into its first line", "it is empty");
	else if (st != ST_OK)
		findings_add(kf->findings, FINDING_ERROR, key_place(kf),
		    "its folder must exist and belong to the user that the "
		    "gateway runs as",
		    "%s: can not be %s: %s", kf->config->tor.onion_key,
		    replace ? "encrypted" : "made",
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

static enum status
make_key(const struct key_file *kf, struct onion_key *k)
{
	uint8_t seed[ONION_KEY_SEED];

	randombytes_buf(seed, sizeof(seed));
	onion_key_make(k, seed);
	wipe(seed, sizeof(seed));
	return write_key(kf, k, false);
}

/* Open a sealed file's TEXT. */
static enum status
open_sealed(const struct key_file *kf, struct onion_key *k, span_t text)
{
	uint8_t plain[SEALED_SECRET_MAX];
	size_t len;
	unsigned line;
	enum status st;

	if (kf->passphrase == NULL) {
		findings_add(kf->findings, FINDING_ERROR, key_place(kf),
		    "set tor.onion_key_passphrase_file", "%s: is encrypted",
		    kf->config->tor.onion_key);
		return ST_BAD_PASSPHRASE;
	}
	st = sealed_read(plain, &len, FIRST, text, passphrase(kf), &line);
	if (st == ST_OK)
		st = onion_key_parse(k, plain, len);
	wipe(plain, sizeof(plain));
	if (st == ST_BAD_PASSPHRASE)
		findings_add(kf->findings, FINDING_ERROR, passphrase_place(kf),
		    "bring the passphrase that the key was encrypted with, or "
		    "the key's backup",
		    "it does not open %s", kf->config->tor.onion_key);
	else if (st != ST_OK)
		findings_add(kf->findings, FINDING_ERROR, key_place(kf),
		    "bring its backup", "%s: line %u: %s",
		    kf->config->tor.onion_key, line, status_text(st));
	return st;
}

/* Read a file in tor's format. */
static enum status
open_plain(
    const struct key_file *kf, struct onion_key *k, span_t file, bool make)
{
	enum status st = onion_key_parse(k, file.ptr, file.len);

	if (st != ST_OK)
		findings_add(kf->findings, FINDING_ERROR, key_place(kf),
		    "name a file like tor's hs_ed25519_secret_key, or one that "
		    "is not there yet",
		    "%s: not the key of an onion service",
		    kf->config->tor.onion_key);
	else if (kf->passphrase != NULL && make)
		st = write_key(kf, k, true);
	else if (kf->passphrase != NULL)
		findings_add(kf->findings, FINDING_WARNING, key_place(kf), "",
		    "%s: is not encrypted yet; the gateway does so when it "
		    "starts",
		    kf->config->tor.onion_key);
	return st;
}

static enum status
load(const struct key_file *kf, struct onion_key *k, bool make)
{
	const char *path = kf->config->tor.onion_key;
	char file[SEALED_TEXT_MAX];
	size_t len;
	enum status st = file_read(file, sizeof(file), &len, path, FILE_OWNER);

	if (st == ST_OK && span_begins(span_of(file, len), FIRST))
		st = open_sealed(kf, k, span_of(file, len));
	else if (st == ST_OK || st == ST_NO_SPACE)
		st = open_plain(kf, k, span_of(file, len), make);
	else if (st == ST_SYS && errno == ENOENT && make)
		st = make_key(kf, k);
	else
		findings_add(kf->findings, FINDING_ERROR, key_place(kf),
		    file_cure(st, FILE_OWNER), "%s: %s", path,
		    file_problem(st, FILE_OWNER));
	wipe(file, sizeof(file));
	return st;
}

enum status
onion_key_load(
    struct onion_key *k, const struct config *c, bool make, struct findings *f)
{
	struct key_file kf = {.config = c, .findings = f};
	enum status st;

	memset(k, 0, sizeof(*k));
	if (sodium_init() < 0)
		return ST_RANDOM;
	st = file_password(&kf.passphrase, &kf.passphrase_len,
	    c->tor.onion_key_passphrase_file, passphrase_place(&kf), f);
	if (st == ST_OK)
		st = load(&kf, k, make);
	if (st != ST_OK)
		wipe(k, sizeof(*k));
	if (kf.passphrase != NULL)
		wipe(kf.passphrase, kf.passphrase_len);
	free(kf.passphrase);
	return st;
}
