/* A group on a chain, as several nodes have it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/follow.h"
#include "semaphore/root_file.h"
#include "store/file.h"

/* What one endpoint says. */
struct voice {
	struct contract_state state;
	bool good;
	char why[CONTRACT_WHY_MAX];
};

/* Ask ENDPOINT the question Q, of BLOCK. */
static enum status
ask(const struct follow_chain *c, struct voice *v, const char *endpoint,
    enum contract_question q, uint64_t block)
{
	char request[CONTRACT_REQUEST_MAX + 1], error[HTTPS_ERROR_MAX], *text;
	struct out o = out_to(request, CONTRACT_REQUEST_MAX);
	struct https_request r = {
	    .url = endpoint,
	    .body = request,
	    .proxy = c->to.proxy,
	    .ca_file = c->to.ca_file,
	};
	size_t len;
	enum status st;

	contract_ask(&o, q, &c->group, block);
	st = out_status(&o, &len);
	request[len] = '\0';
	if (st == ST_OK)
		st = https_load(&text, &len, CONTRACT_ANSWER_MAX, &r, error);
	if (st != ST_OK) {
		snprintf(v->why, sizeof(v->why), "%.150s", error);
		return st;
	}
	st = contract_hear(&v->state, v->why, q, span_of(text, len));
	free(text);
	return st;
}

/* Ask ENDPOINT all there is to know of BLOCK. */
static void
ask_state(const struct follow_chain *c, struct voice *v, const char *endpoint,
    uint64_t block)
{
	enum status st = ST_OK;

	for (unsigned q = CONTRACT_BLOCK; q < CONTRACT_QUESTIONS; q++) {
		if (st == ST_OK)
			st = ask(
			    c, v, endpoint, (enum contract_question)q, block);
	}
	v->good = st == ST_OK && v->state.block == block &&
	    contract_state_check(&v->state) == ST_OK;
	if (st == ST_OK && !v->good)
		snprintf(v->why, sizeof(v->why),
		    "what it says can not be a group's");
}

static int
by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The newest block that enough endpoints have, less the confirmations.
 * Returns: ST_OK; ST_NOT_FOUND (not enough answer); ST_BAD_LENGTH (the chain
 *          is shorter than the confirmations). */
static enum status
choose_block(
    const struct follow_chain *c, struct voice *voices, uint64_t *block)
{
	uint64_t newest[FOLLOW_ENDPOINTS_MAX];
	size_t n = 0;

	*block = 0;
	for (size_t i = 0; i < c->endpoints_n; i++) {
		voices[i].good = ask(c, &voices[i], c->endpoints[i],
				     CONTRACT_NEWEST, 0) == ST_OK;
		if (voices[i].good)
			newest[n++] = voices[i].state.newest;
	}
	if (n < c->agree)
		return ST_NOT_FOUND;
	qsort(newest, n, sizeof(newest[0]), by_size);
	if (newest[c->agree - 1] < c->confirmations)
		return ST_BAD_LENGTH;
	*block = newest[c->agree - 1] - c->confirmations;
	return ST_OK;
}

/* The state that enough endpoints agree on; NULL: there is none. Two groups
 * that are both large enough can not be: agree is above the half. */
static const struct contract_state *
agreed(const struct follow_chain *c, const struct voice *voices)
{
	for (size_t i = 0; i < c->endpoints_n; i++) {
		size_t n = 0;
		for (size_t j = 0; j < c->endpoints_n; j++)
			n += voices[i].good && voices[j].good &&
			    contract_state_equal(
				&voices[i].state, &voices[j].state);
		if (n >= c->agree)
			return &voices[i].state;
	}
	return NULL;
}

/* Say which endpoint is to blame, the first that failed or differs. */
static void
explain(const struct follow_chain *c, const struct voice *voices,
    char why[static FOLLOW_WHY_MAX])
{
	size_t good = 0, bad = c->endpoints_n;

	for (size_t i = c->endpoints_n; i-- > 0;) {
		good += voices[i].good;
		bad = voices[i].good ? bad : i;
	}
	if (bad < c->endpoints_n)
		snprintf(why, FOLLOW_WHY_MAX,
		    "%zu of %zu endpoints answer, %zu must agree; %.200s: %s",
		    good, c->endpoints_n, c->agree, c->endpoints[bad],
		    voices[bad].why);
	else
		snprintf(why, FOLLOW_WHY_MAX,
		    "the endpoints do not agree (%zu must): one of them lies, "
		    "or is on a fork; more --confirmations help against forks",
		    c->agree);
}

static enum status
refuse(char why[static FOLLOW_WHY_MAX], enum status st, const char *file,
    const char *what)
{
	snprintf(why, FOLLOW_WHY_MAX, "%s: %s", file, what);
	return st;
}

/* Write S, unless what is in the file is of a later block. */
static enum status
write_state(const struct follow_chain *c, const struct contract_state *s,
    char why[static FOLLOW_WHY_MAX])
{
	static const uint8_t nobody[32];
	char text[ROOT_FILE_MAX + 256], *old = NULL;
	struct out o = out_to(text, sizeof(text));
	struct root_file is = {.time = s->time}, was;
	struct members_fault fault;
	size_t len = 0;
	enum status st;

	memcpy(is.root.root, s->root, sizeof(is.root.root));
	/* One member who was removed is a tree of one zero: nobody. */
	if (memcmp(s->root, nobody, sizeof(nobody)) != 0) {
		is.root.depth = s->depth;
		is.root.size = s->size;
	}
	st = file_load(&old, &len, c->to.file, ROOT_FILE_MAX * 8, FILE_GUARDED);
	if (st == ST_OK)
		st = root_file_parse(&was, &fault, span_of(old, len));
	free(old);
	if (st == ST_OK && was.time > is.time)
		return refuse(why, ST_BAD_VALUE, c->to.file,
		    "is of a later block than the endpoints have");
	if (st == ST_OK && was.time == is.time)
		return ST_DUPLICATE;
	bool same = st == ST_OK && was.root.depth == is.root.depth &&
	    was.root.size == is.root.size &&
	    memcmp(was.root.root, is.root.root, sizeof(nobody)) == 0;
	out_str(&o, "# postern group follow --contract: block ");
	out_decimal(&o, s->block);
	out_str(&o, "\n");
	root_file_write(&o, &is);
	st = out_status(&o, &len);
	if (st == ST_OK)
		st = file_replace(c->to.file, text, len, 0644);
	if (st != ST_OK)
		return refuse(why, st, c->to.file,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	snprintf(why, FOLLOW_WHY_MAX,
	    "%s: %" PRIu64 " members at block %" PRIu64, c->to.file,
	    is.root.size, s->block);
	return same ? ST_DUPLICATE : ST_OK;
}

enum status
follow_chain(struct follow_chain *c, char why[static FOLLOW_WHY_MAX])
{
	struct voice voices[FOLLOW_ENDPOINTS_MAX] = {0};
	const struct contract_state *s = NULL;
	uint64_t block;
	enum status st = choose_block(c, voices, &block);

	why[0] = '\0';
	if (st == ST_OK) {
		for (size_t i = 0; i < c->endpoints_n; i++) {
			if (voices[i].good)
				ask_state(
				    c, &voices[i], c->endpoints[i], block);
		}
		s = agreed(c, voices);
	}
	/* A tree never becomes smaller: this one has never had a member. */
	if (s != NULL && s->size == 0)
		return refuse(why, ST_NOT_FOUND, "contract",
		    "there is no group with this number, or nobody in it yet");
	if (s != NULL)
		return write_state(c, s, why);
	if (st == ST_BAD_LENGTH)
		return refuse(why, st, "contract",
		    "the chain is too short for so many --confirmations");
	explain(c, voices, why);
	return ST_NOT_FOUND;
}
