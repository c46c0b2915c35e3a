/* postern group follow: the command; what it does is in cmd/follow.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "base/text.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/follow.h"
#include "store/file.h"

#define EVERY_SECONDS 60
#define EVERY_MAX 86400
#define CONFIRMATIONS 12
#define CONFIRMATIONS_MAX 1000000
#define KEY_FILE_MAX 1024

enum option {
	OUTPUT,
	KEY,
	SIGNATURE,
	CONTRACT,
	GROUP,
	CONFIRM,
	AGREE,
	EVERY,
	ONCE,
	CACERT,
	PROXY,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [OUTPUT] = {"output", 'o', "FILE", "the file to keep up to date"},
    [KEY] = {"key", 'k', "KEY|FILE",
	"take a list only with a signature of this minisign key"},
    [SIGNATURE] = {"signature", 0, "URL",
	"where the signature is (default: URL.minisig)"},
    [CONTRACT] = {"contract", 0, "0x...",
	"follow a group of this Semaphore contract"},
    [GROUP] = {"group", 0, "N", "... with this number"},
    [CONFIRM] = {"confirmations", 0, "N",
	"blocks that must stand on a block before it counts (default: 12)"},
    [AGREE] = {"agree", 0, "N",
	"endpoints that must say the same, more than half (default: all)"},
    [EVERY] = {"every", 0, "SECONDS",
	"how often to look, give or take a tenth (default: 60)"},
    [ONCE] = {"once", 0, NULL, "look once and end"},
    [CACERT] = {"cacert", 0, "FILE",
	"certificates to trust instead of the system's"},
    [PROXY] = {"proxy", 0, "URL",
	"go through this proxy, like socks5h://127.0.0.1:9050"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "-o FILE [--key KEY] URL\n       postern group follow -o FILE "
		"--contract 0x... --group N URL...",
    .summary =
	"Keep a group's file up to date from where the group lives: the member "
	"list at a URL,\nor a group of the official Semaphore contract on an "
	"Ethereum chain, as the nodes\n(JSON-RPC endpoints) at the URLs have "
	"it. Only https.",
    .options = options,
    .notes =
	"A gateway reads what a list becomes as `members = FILE` and what a "
	"contract's group\nbecomes as `root = FILE`. Whatever goes wrong, FILE "
	"stays as it is, and the reason\ngoes to stderr. A list without "
	"members, and one signed before the last, is refused.\n\nExit status "
	"with --once: 0 when FILE is up to date, 2 when it could not be "
	"looked at.",
    .min_args = 1,
    .max_args = FOLLOW_ENDPOINTS_MAX,
};

/* What the command line says: one of the two. */
struct plan {
	const char *name;
	bool chain, once;
	uint64_t every;
	struct follow_list list;
	struct follow_chain contract;
	char signature_url[2048];
};

/* --- the command line --- */

static bool
read_key(struct plan *p, const char *text)
{
	char file[KEY_FILE_MAX];
	size_t len;
	enum status st = minisign_key_parse(&p->list.key, span_str(text));

	if (st == ST_OK)
		return true;
	if (file_read(file, sizeof(file), &len, text, FILE_GUARDED) == ST_OK)
		st = minisign_key_parse(&p->list.key, span_of(file, len));
	if (st != ST_OK)
		cli_error(p->name,
		    "--key: %s is neither a public key of minisign's nor a "
		    "file with one (minisign -G makes a pair)",
		    text);
	return st == ST_OK;
}

static bool
read_list(struct plan *p, const char *const *values, const char *url)
{
	p->list.url = url;
	if (values[KEY] == NULL) {
		if (values[SIGNATURE] == NULL)
			return true;
		cli_error(p->name, "--signature: needs --key");
		return false;
	}
	if (!read_key(p, values[KEY]))
		return false;
	p->list.signature_url = values[SIGNATURE];
	if (p->list.signature_url == NULL) {
		snprintf(p->signature_url, sizeof(p->signature_url),
		    "%s.minisig", url);
		p->list.signature_url = p->signature_url;
	}
	return true;
}

static bool
read_contract(
    struct plan *p, const char *const *values, char **urls, size_t urls_n)
{
	struct follow_chain *c = &p->contract;
	uint64_t agree = urls_n;

	if (values[KEY] != NULL || values[SIGNATURE] != NULL) {
		cli_error(p->name, "--key: is for lists, not for contracts");
		return false;
	}
	if (contract_address(c->group.address, span_str(values[CONTRACT])) !=
	    ST_OK) {
		cli_error(p->name,
		    "--contract: %s is no address (0x and 40 hex digits)",
		    values[CONTRACT]);
		return false;
	}
	if (values[GROUP] == NULL ||
	    decimal_decode(c->group.group, span_str(values[GROUP])) != ST_OK) {
		cli_error(p->name, "--group: needs the group's number");
		return false;
	}
	c->confirmations = CONFIRMATIONS;
	if (!cli_number(&c->confirmations, p->name, "confirmations",
		values[CONFIRM], 0, CONFIRMATIONS_MAX) ||
	    !cli_number(&agree, p->name, "agree", values[AGREE], urls_n / 2 + 1,
		urls_n))
		return false;
	c->agree = (size_t)agree;
	c->endpoints_n = urls_n;
	for (size_t i = 0; i < urls_n; i++)
		c->endpoints[i] = urls[i];
	return true;
}

/* Returns: whether all is well; what is not has been said. */
static bool
read_plan(struct plan *p, const char *const *values, char **urls, size_t urls_n)
{
	struct follow to = {values[OUTPUT], values[CACERT], values[PROXY]};

	if (to.file == NULL) {
		cli_error(p->name, "needs --output FILE");
		return false;
	}
	for (size_t i = 0; i < urls_n; i++) {
		if (!https_is_url(urls[i])) {
			cli_error(
			    p->name, "%s: not an https:// address", urls[i]);
			return false;
		}
	}
	p->list.to = p->contract.to = to;
	p->once = values[ONCE] != NULL;
	p->every = EVERY_SECONDS;
	if (!cli_number(
		&p->every, p->name, "every", values[EVERY], 1, EVERY_MAX))
		return false;
	p->chain = values[CONTRACT] != NULL;
	if (p->chain)
		return read_contract(p, values, urls, urls_n);
	if (values[GROUP] != NULL || values[AGREE] != NULL ||
	    values[CONFIRM] != NULL || urls_n != 1) {
		cli_error(p->name,
		    "a list has one URL; --group, --agree and --confirmations "
		    "need --contract");
		return false;
	}
	return read_list(p, values, urls[0]);
}

/* --- following --- */

/* Sleep for SECONDS, give or take a tenth: followers of one server should not
 * come all at once. */
static void
pause_for(uint64_t seconds)
{
	uint64_t ms =
	    seconds * 900 + randombytes_uniform((uint32_t)(seconds * 200 + 1));
	struct timespec left = {
	    .tv_sec = (time_t)(ms / 1000),
	    .tv_nsec = (long)(ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		continue;
}

static enum status
look(struct plan *p, char why[static FOLLOW_WHY_MAX])
{
	return p->chain ? follow_chain(&p->contract, why)
			: follow_list(&p->list, why);
}

/* Say what is new: a change, and a trouble when it begins and when it ends. */
static void
report(const struct plan *p, enum status st, const char *why,
    char trouble[static FOLLOW_WHY_MAX])
{
	if (st == ST_OK || st == ST_DUPLICATE) {
		if (st == ST_OK)
			fprintf(stderr, "%s: %s\n", p->name, why);
		else if (trouble[0] != '\0')
			fprintf(stderr, "%s: all is well again\n", p->name);
		trouble[0] = '\0';
	} else if (strcmp(trouble, why) != 0) {
		cli_error(
		    p->name, "%s (%s stays as it is)", why, p->list.to.file);
		snprintf(trouble, FOLLOW_WHY_MAX, "%s", why);
	}
}

int
group_cmd_follow(int argc, char **argv)
{
	const char *values[OPTIONS];
	char why[FOLLOW_WHY_MAX], trouble[FOLLOW_WHY_MAX] = "";
	struct plan p = {.name = argv[0]};
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	enum status st;

	if (code >= 0)
		return code;
	if (!read_plan(&p, values, argv + args, (size_t)(argc - args)))
		return CLI_ERROR;
	if (sodium_init() < 0) {
		cli_error(argv[0], "the system gives no randomness");
		return CLI_ERROR;
	}
	for (;;) {
		st = look(&p, why);
		report(&p, st, why, trouble);
		if (p.once)
			break;
		pause_for(p.every);
	}
	return st == ST_OK || st == ST_DUPLICATE ? CLI_OK : CLI_ERROR;
}
