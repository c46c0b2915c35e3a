/* postern prove: mint the proof for one epoch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/crew.h"
#include "cmd/identity_load.h"
#include "cmd/member_file.h"
#include "cmd/mint.h"
#include "cmd/passphrase.h"
#include "cmd/secrets.h"
#include "gate/audience.h"
#include "gate/epoch.h"

enum option {
	OPT_IDENTITY,
	OPT_MEMBERS,
	OPT_ZKEY,
	OPT_ONION,
	OPT_MESSAGE,
	OPT_SCOPE,
	OPT_EPOCH,
	OPT_EPOCH_LENGTH,
	OPT_REALM,
	OPT_SLOT,
	OPT_SLOTS,
	OPT_DEPTH,
	OPT_JSON,
	OPT_TOKEN,
	OPT_HEADER,
	OPT_VKEY,
	OPT_THREADS,
	OPT_PASSPHRASE,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [OPT_IDENTITY] = {"identity", 'i', "FILE", "the member's identity"},
    [OPT_MEMBERS] = {"members", 'm', "MEMBERS",
	"the group's member file ('-': standard input)"},
    [OPT_ZKEY] = {"zkey", 'z', "FILE",
	"the proving key, or a folder of them (else where 'postern artifacts' "
	"finds it)"},
    [OPT_ONION] = {"onion", 0, "ADDRESS",
	"the gateway's onion address: the message is its key"},
    [OPT_MESSAGE] = {"message", 0, "N",
	"the message itself, for gateways whose audience is a number"},
    [OPT_SCOPE] = {"scope", 0, "N",
	"the scope itself (else it follows from the options below)"},
    [OPT_EPOCH] = {"epoch", 0, "N", "the epoch (else the one that is now)"},
    [OPT_EPOCH_LENGTH] = {"epoch-length", 0, "SECONDS",
	"as the gateway has it (86400: a day)"},
    [OPT_REALM] = {"realm", 0, "NAME", "as the gateway has it (none)"},
    [OPT_SLOT] = {"slot", 0, "N", "which of the member's slots (0)"},
    [OPT_SLOTS] = {"slots", 0, "N", "how many the gateway has (1)"},
    [OPT_DEPTH] = {"depth", 0, "N",
	"the circuit's depth, 1 to 32 (the tree's depth, or the key's)"},
    [OPT_JSON] = {"json", 0, NULL,
	"print the official JSON object (this is the default)"},
    [OPT_TOKEN] = {"token", 0, NULL, "print it as a token"},
    [OPT_HEADER] = {"header", 0, NULL,
	"print it as a whole header line, for curl --proxy-header"},
    [OPT_VKEY] = {"vkey", 0, "FILE",
	"the verification key (snarkjs's JSON) of a proving key from another "
	"ceremony than the official one"},
    [OPT_THREADS] = {"threads", 0, "N", "use N threads (one for each CPU)"},
    [OPT_PASSPHRASE] = PASSPHRASE_OPTION,
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--identity FILE --members MEMBERS [--zkey FILE] --onion "
		"ADDRESS|--message N [--scope N]\n       [--depth N] "
		"--json|--token|--header",
    .summary = "Prove membership of the group without saying which member: "
	       "the proof that opens\nthe gateway for one epoch.",
    .options = options,
    .notes = "The token is the compact one when the scope is that of an "
	     "epoch and a slot, else\nthe JSON in base64url. The proof has "
	     "been verified when it is printed.",
};

struct request {
	const char *name;
	const char *const *values;
	uint8_t message[32], scope[32];
	bool compact; /* scope is that of: */
	uint32_t epoch;
	uint16_t slot;
	uint32_t depth; /* 0: as it comes */
	unsigned threads;
	enum option form; /* OPT_JSON, OPT_TOKEN or OPT_HEADER */
};

/* --- the options ------------------------------------------------------------ */

/* Say what is wrong with option O's value. */
static bool
bad(const struct request *r, enum option o, const char *why)
{
	cli_error(r->name, "--%s: %s", options[o].name, why);
	return false;
}

/* Read option O as a number from MIN to MAX; OTHERWISE if it is not given. */
static bool
number(const struct request *r, enum option o, uint64_t min, uint64_t max,
    uint64_t otherwise, uint64_t *out)
{
	*out = otherwise;
	return cli_number(
	    out, r->name, options[o].name, r->values[o], min, max);
}

static bool
read_message(struct request *r)
{
	const char *onion = r->values[OPT_ONION], *n = r->values[OPT_MESSAGE];
	enum status st;

	if ((onion == NULL) == (n == NULL)) {
		cli_error(r->name,
		    "for which gateway? (give one of --onion ADDRESS and "
		    "--message N)");
		return false;
	}
	if (n != NULL)
		return decimal_decode(r->message, span_str(n)) == ST_OK ||
		    bad(r, OPT_MESSAGE, "not a number below 2^256");
	st = onion_decode(r->message, span_str(onion));
	if (st == ST_CORRUPT)
		return bad(
		    r, OPT_ONION, "its checksum is wrong: a typing mistake");
	return st == ST_OK ||
	    bad(r, OPT_ONION,
		"not a v3 onion address (56 characters and "
		".onion)");
}

/* An explicit scope. It may be that of an epoch. */
static bool
read_scope(struct request *r)
{
	static const enum option others[] = {
	    OPT_EPOCH, OPT_EPOCH_LENGTH, OPT_REALM, OPT_SLOT, OPT_SLOTS};
	const char *text = r->values[OPT_SCOPE];
	uint64_t epoch;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (r->values[others[i]] != NULL)
			return bad(r, others[i], "does not go with --scope");
	}
	if (decimal_decode(r->scope, span_str(text)) != ST_OK)
		return bad(r, OPT_SCOPE, "not a number below 2^256");
	r->compact = decimal_u64(&epoch, span_str(text), UINT32_MAX) == ST_OK;
	r->epoch = (uint32_t)epoch;
	return true;
}

/* The scope of an epoch and a slot. */
static bool
read_epoch(struct request *r)
{
	struct epoch_rules rules = {0};
	const char *realm = r->values[OPT_REALM];
	uint64_t length, slots, slot, epoch;

	if (!number(r, OPT_EPOCH_LENGTH, EPOCH_LENGTH_MIN, EPOCH_LENGTH_MAX,
		86400, &length) ||
	    !number(r, OPT_SLOTS, 1, EPOCH_SLOTS_MAX, 1, &slots) ||
	    !number(r, OPT_SLOT, 0, slots - 1, 0, &slot))
		return false;
	if (realm != NULL && strlen(realm) > EPOCH_REALM_MAX)
		return bad(r, OPT_REALM, "too long");
	rules.length = (uint32_t)length;
	rules.slots = (uint32_t)slots;
	if (realm != NULL)
		memcpy(rules.realm, realm, strlen(realm));
	epoch = epoch_at(&rules, (uint64_t)time(NULL));
	if (!number(r, OPT_EPOCH, 0, UINT32_MAX, epoch, &epoch))
		return false;
	epoch_scope(r->scope, &rules, epoch, (uint16_t)slot);
	r->compact = true;
	r->epoch = (uint32_t)epoch;
	r->slot = (uint16_t)slot;
	return true;
}

static bool
read_form(struct request *r)
{
	static const enum option forms[] = {OPT_JSON, OPT_TOKEN, OPT_HEADER};
	unsigned n = 0;

	r->form = OPT_JSON;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (r->values[forms[i]] == NULL)
			continue;
		r->form = forms[i];
		n++;
	}
	if (n > 1)
		cli_error(r->name, "--json, --token or --header: one of them");
	return n <= 1;
}

static bool
read_options(struct request *r)
{
	uint64_t depth, threads;

	if (r->values[OPT_IDENTITY] == NULL || r->values[OPT_MEMBERS] == NULL) {
		cli_error(r->name,
		    "--identity FILE and --members MEMBERS are needed");
		return false;
	}
	if (!number(r, OPT_DEPTH, SEMAPHORE_DEPTH_MIN, SEMAPHORE_DEPTH_MAX, 0,
		&depth) ||
	    !number(r, OPT_THREADS, 1, CREW_MAX, 0, &threads))
		return false;
	r->depth = (uint32_t)depth;
	r->threads = (unsigned)threads;
	return read_form(r) && read_message(r) &&
	    (r->values[OPT_SCOPE] != NULL ? read_scope(r) : read_epoch(r));
}

/* --- the proof -------------------------------------------------------------- */

/* The path of ID's commitment in the group's tree, and the depth of that,
 * which the path may be shorter than. */
static enum status
find_path(struct group_proof *path, uint32_t *depth, const struct request *r,
    const struct identity *id)
{
	const char *file = r->values[OPT_MEMBERS];
	char text[DECIMAL_MAX];
	struct member_file f;
	struct group_root root;
	struct group *g = NULL;
	size_t place;
	enum status st = member_file_read(&f, r->name, file);

	if (st != ST_OK)
		return st;
	st = ST_NO_MEMORY;
	if ((g = member_file_tree(&f, r->name)) != NULL) {
		group_root(&root, g);
		*depth = root.depth;
		st = group_find(g, &place, id->commitment);
		if (st == ST_OK)
			st = group_proof(path, g, place);
		if (st != ST_OK) {
			decimal_encode(text, id->commitment);
			cli_error(r->name,
			    "%s: this identity is not a member (send the "
			    "curator its commitment: %s)",
			    file, text);
		}
	}
	group_free(g);
	member_file_clear(&f);
	return st;
}

/* P as a token: compact where its scope allows, else its JSON. */
static enum status
make_token(char out[static SEMAPHORE_TOKEN_MAX], struct semaphore_proof *p,
    const struct request *r)
{
	char json[SEMAPHORE_JSON_MAX];
	struct semaphore_fault f;
	size_t len;
	enum status st;

	if (r->compact) {
		st = semaphore_proof_compress(p, &f);
		return st == ST_OK
		    ? semaphore_token_compact(out, p, r->epoch, r->slot)
		    : st;
	}
	st = semaphore_proof_to_json(json, &len, p);
	if (st == ST_OK)
		base64_encode(out, span_of(json, len), BASE64_URL);
	return st;
}

static enum status
print(struct semaphore_proof *p, const struct request *r)
{
	char text[SEMAPHORE_TOKEN_MAX];
	size_t len;
	enum status st = r->form == OPT_JSON
	    ? semaphore_proof_to_json(text, &len, p)
	    : make_token(text, p, r);

	if (st != ST_OK) {
		cli_error(r->name, "%s", status_text(st));
		return st;
	}
	if (printf("%s%s\n",
		r->form == OPT_HEADER ? "Proxy-Authorization: Semaphore " : "",
		text) < 0 ||
	    fflush(stdout) != 0) {
		cli_error(r->name, "standard output can not be written");
		return ST_SYS;
	}
	return ST_OK;
}

static enum status
prove(const struct request *r, const struct identity *id)
{
	struct mint_options how = {.zkey = r->values[OPT_ZKEY],
	    .vkey = r->values[OPT_VKEY],
	    .depth = r->depth,
	    .threads = r->threads};
	struct prove_statement statement = {.secret = id->secret};
	struct group_proof path;
	struct semaphore_proof p;
	struct mint *m;
	uint32_t depth;
	enum status st = find_path(&path, &depth, r, id);

	if (st != ST_OK)
		return st;
	/* The tree's depth, not the path's: the last leaves have shorter
	 * paths, and a proof's depth is there for all to see. */
	how.least = depth > 0 ? depth : 1;
	st = mint_open(&m, r->name, &how);
	if (st != ST_OK)
		return st;
	statement.path = &path;
	memcpy(statement.message, r->message, 32);
	memcpy(statement.scope, r->scope, 32);
	st = mint_proof(m, &p, &statement);
	mint_close(m);
	wipe(&path, sizeof(path));
	return st == ST_OK ? print(&p, r) : st;
}

int
cmd_prove(int argc, char **argv)
{
	const char *values[OPTIONS];
	struct request r = {.name = argv[0], .values = values};
	struct identity *id;
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	if (!read_options(&r))
		return CLI_ERROR;
	secrets_guard();
	st = identity_load(
	    &id, argv[0], values[OPT_IDENTITY], values[OPT_PASSPHRASE]);
	if (st == ST_OK)
		st = prove(&r, id);
	identity_release(id);
	return st == ST_OK ? CLI_OK : CLI_ERROR;
}
