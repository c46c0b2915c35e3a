/* postern identity: make and show a member's identity. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/identity_load.h"
#include "cmd/passphrase.h"
#include "cmd/secrets.h"
#include "store/file.h"

/* --- new --- */

enum new_option {
	NEW_OUTPUT,
	NEW_FROM,
	NEW_PLAIN,
	NEW_PASSPHRASE,
	NEW_OPTIONS
};

static const struct cli_option new_options[NEW_OPTIONS + 1] = {
    [NEW_OUTPUT] = {"output", 'o', "FILE",
	"where the identity goes; FILE must not exist"},
    [NEW_FROM] = {"from", 0, "BASE64",
	"import this private key, as the official Identity.export() gives it; "
	"'-': from standard input"},
    [NEW_PLAIN] = {"plain", 0, NULL, "do not encrypt the file"},
    [NEW_PASSPHRASE] = PASSPHRASE_OPTION,
    [NEW_OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec new_spec = {
    .synopsis = "[--from BASE64] [--plain] -o FILE",
    .summary = "Make a Semaphore v4 identity and print its commitment: the "
	       "line to send to\nthe curator of the group. The file is the "
	       "membership itself; keep it.",
    .options = new_options,
    .notes = "The file is encrypted with a passphrase (Argon2id, "
	     "XChaCha20-Poly1305) unless\n--plain is given.",
};

/* The private key of TEXT: base64, with a line's end if it was a line. */
static enum status
import(struct identity *id, const char *name, const char *text, size_t len)
{
	enum status st;

	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	st = identity_import(id, text, len);
	if (st != ST_OK)
		cli_error(name, "--from: %s",
		    st == ST_NO_SPACE ? "the key is too long"
				      : "not base64 as Identity.export() "
					"writes it");
	else if (id->key_len == 0)
		cli_error(name,
		    "warning: an empty key is no secret: anybody "
		    "can make this identity");
	return st;
}

static enum status
import_stdin(struct identity *id, const char *name)
{
	char text[IDENTITY_EXPORT_MAX + 2];
	size_t len = 0;
	enum status st;

	for (ssize_t n = 1; n > 0 && len < sizeof(text);) {
		n = read(STDIN_FILENO, text + len, sizeof(text) - len);
		if (n < 0 && errno != EINTR) {
			cli_error(name, "standard input: %s", strerror(errno));
			return ST_SYS;
		}
		len += n > 0 ? (size_t)n : 0;
	}
	st = import(id, name, text, len);
	wipe(text, sizeof(text));
	return st;
}

static enum status
make(struct identity *id, const char *name, const char *from)
{
	uint8_t key[IDENTITY_KEY_LENGTH];
	enum status st;

	if (from != NULL && strcmp(from, "-") == 0)
		return import_stdin(id, name);
	if (from != NULL)
		return import(id, name, from, strlen(from));
	randombytes_buf(key, sizeof(key));
	st = identity_derive(id, key, sizeof(key));
	wipe(key, sizeof(key));
	return st;
}

/* The file's content, encrypted. */
static enum status
encrypt(char text[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id, const char *name, const char *const *values)
{
	uint8_t salt[IDENTITY_SALT_LENGTH], nonce[IDENTITY_NONCE_LENGTH];
	struct passphrase p;
	enum status st = passphrase_get(
	    &p, name, values[NEW_PASSPHRASE], values[NEW_OUTPUT], true);

	if (st != ST_OK)
		return st;
	randombytes_buf(salt, sizeof(salt));
	randombytes_buf(nonce, sizeof(nonce));
	st = identity_file_encrypt(
	    text, len, id, p.text, p.len, IDENTITY_COST_DEFAULT, salt, nonce);
	passphrase_clear(&p);
	if (st == ST_NO_MEMORY)
		cli_error(name, "Argon2id needs %u MiB of memory",
		    (unsigned)(IDENTITY_COST_DEFAULT.kibibytes / 1024));
	else if (st != ST_OK)
		cli_error(name, "%s", status_text(st));
	return st;
}

static enum status
write_file(const char *name, const char *path, const char *text, size_t len)
{
	enum status st = file_create(path, text, len, 0600);

	if (st == ST_DUPLICATE)
		cli_error(name,
		    "%s: there is a file already, and it may be an identity "
		    "(choose another name)",
		    path);
	else if (st != ST_OK)
		cli_error(name, "%s: %s", path, strerror(errno));
	return st;
}

static void
print_commitment(const struct identity *id)
{
	char text[DECIMAL_MAX];

	decimal_encode(text, id->commitment);
	puts(text);
}

/* What is asked of a thread with a stack for secrets, and what came of it. */
struct making {
	struct identity *id;
	const char *name, *const *values;
	enum status st;
};

static void
make_file(void *arg, size_t i)
{
	struct making *m = arg;
	char text[IDENTITY_FILE_MAX];
	size_t len = 0;
	enum status st = make(m->id, m->name, m->values[NEW_FROM]);

	(void)i;
	if (st == ST_OK && m->values[NEW_PLAIN] != NULL)
		identity_file_plain(text, &len, m->id);
	else if (st == ST_OK)
		st = encrypt(text, &len, m->id, m->name, m->values);
	if (st == ST_OK)
		st = write_file(m->name, m->values[NEW_OUTPUT], text, len);
	wipe(text, sizeof(text));
	m->st = st;
}

static int
identity_new(int argc, char **argv)
{
	const char *values[NEW_OPTIONS], *name = argv[0];
	struct making m = {.name = name, .values = values};
	void *memory;
	int args, code = cli_parse(&new_spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	if (values[NEW_OUTPUT] == NULL) {
		cli_error(name, "where to? (give -o FILE)");
		return CLI_ERROR;
	}
	/* Before a passphrase is asked for; file_create looks again. */
	if (access(values[NEW_OUTPUT], F_OK) == 0)
		return write_file(name, values[NEW_OUTPUT], "", 0) == ST_OK
		    ? CLI_OK
		    : CLI_ERROR;
	secrets_guard();
	st = secrets_alloc(&memory, sizeof(*m.id));
	m.id = memory;
	if (st == ST_OK)
		st = secrets_run(make_file, &m, 1);
	if (st != ST_OK)
		secrets_say(name, st);
	else
		st = m.st;
	if (st == ST_OK) {
		fprintf(stderr,
		    "%s: wrote %s; send this line to the curator:\n", name,
		    values[NEW_OUTPUT]);
		print_commitment(m.id);
	}
	identity_release(m.id);
	return st == ST_OK ? CLI_OK : CLI_ERROR;
}

/* --- show --- */

enum show_option { SHOW_JSON, SHOW_SECRET, SHOW_PASSPHRASE, SHOW_OPTIONS };

static const struct cli_option show_options[SHOW_OPTIONS + 1] = {
    [SHOW_JSON] = {"json", 0, NULL, "print a JSON object"},
    [SHOW_SECRET] = {"secret", 0, NULL,
	"the secret scalar and the private key too"},
    [SHOW_PASSPHRASE] = PASSPHRASE_OPTION,
    [SHOW_OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec show_spec = {
    .synopsis = "[--json] [--secret] FILE",
    .summary = "Show the commitment of an identity, which is what the curator "
	       "of a group needs.",
    .options = show_options,
    .min_args = 1,
    .max_args = 1,
};

static void
show_json(const struct identity *id, bool secret)
{
	char a[DECIMAL_MAX], b[DECIMAL_MAX], export[IDENTITY_EXPORT_MAX];

	decimal_encode(a, id->commitment);
	printf("{\"commitment\":\"%s\",", a);
	decimal_encode(a, id->public_x);
	decimal_encode(b, id->public_y);
	printf("\"publicKey\":[\"%s\",\"%s\"]", a, b);
	if (secret) {
		decimal_encode(a, id->secret);
		identity_export(export, id);
		printf(",\"secretScalar\":\"%s\",\"export\":\"%s\"", a, export);
		wipe(export, sizeof(export));
	}
	puts("}");
	wipe(a, sizeof(a));
}

static void
show_text(const struct identity *id, bool secret)
{
	char a[DECIMAL_MAX], b[DECIMAL_MAX], export[IDENTITY_EXPORT_MAX];

	if (!secret) {
		print_commitment(id);
		return;
	}
	decimal_encode(a, id->commitment);
	printf("commitment    %s\n", a);
	decimal_encode(a, id->public_x);
	decimal_encode(b, id->public_y);
	printf("public key    %s\n              %s\n", a, b);
	decimal_encode(a, id->secret);
	identity_export(export, id);
	printf("secret scalar %s\nexport        %s\n", a, export);
	wipe(a, sizeof(a));
	wipe(export, sizeof(export));
}

static int
identity_show(int argc, char **argv)
{
	const char *values[SHOW_OPTIONS];
	struct identity *id;
	int args, code = cli_parse(&show_spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	secrets_guard();
	if (identity_load(&id, argv[0], argv[args], values[SHOW_PASSPHRASE]) !=
	    ST_OK)
		return CLI_ERROR;
	if (values[SHOW_JSON] != NULL)
		show_json(id, values[SHOW_SECRET] != NULL);
	else
		show_text(id, values[SHOW_SECRET] != NULL);
	identity_release(id);
	return CLI_OK;
}

int
cmd_identity(int argc, char **argv)
{
	static const struct cli_command commands[] = {
	    {"new", identity_new, "make an identity, or import one"},
	    {"show", identity_show, "show the commitment of an identity"},
	    {"tor-key", identity_cmd_tor_key,
		"make the key that finds an onion service which few may find"},
	    {NULL, NULL, NULL},
	};

	return cli_main(argv[0], commands, argc, argv);
}
