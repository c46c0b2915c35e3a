/* postern mix peel: what a hop would do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wipe.h"
#include "cmd/mix.h"
#include "mix/key_file.h"

#define HEX_SIZE (2 * SPHINX_PACKET_SIZE)
#define EDGE 64 /* bytes shown of either end of a payload */

enum option { KEY, SUITE, NEXT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [KEY] = {"key", 'k', "FILE", "the node's key"},
    [SUITE] = MIX_SUITE_OPTION,
    [NEXT] = {"output", 'o', "NEXT", "write the packet to send on to NEXT"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--key FILE [--suite NAME] [-o NEXT] PACKET",
    .summary = "Do what a hop does with a packet (32,768 bytes, or their hex "
	       "digits; '-': standard\ninput) and show it as JSON.",
    .options = options,
    .notes = "Exit status: 0 when the node would forward or deliver, 1 when "
	     "it would drop the\npacket, 2 when there is nothing to peel.",
    .min_args = 1,
    .max_args = 1,
};

/* Raw bytes, or hex with a line's end. */
static enum status
parse_packet(sphinx_packet_t *packet, const char *text, size_t len)
{
	if (len == sizeof(*packet)) {
		memcpy(packet, text, len);
		return ST_OK;
	}
	while (
	    len > HEX_SIZE && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	if (len != HEX_SIZE)
		return ST_BAD_LENGTH;
	return hex_decode(
	    (uint8_t *)packet, sizeof(*packet), span_of(text, len));
}

static enum status
read_packet(sphinx_packet_t *packet, const char *name, const char *path)
{
	char *text;
	size_t len;
	enum status st = strcmp(path, "-") == 0
	    ? file_load_fd(&text, &len, STDIN_FILENO, HEX_SIZE + 16)
	    : file_load(&text, &len, path, HEX_SIZE + 16, FILE_ANYBODY);

	if (st == ST_SYS) {
		cli_error(name, "%s: %s", path, strerror(errno));
		return st;
	}
	if (st == ST_OK)
		st = parse_packet(packet, text, len);
	free(text);
	if (st != ST_OK)
		cli_error(name,
		    "%s: not a packet: it must have %d bytes, or be %d hex "
		    "digits",
		    path, SPHINX_PACKET_SIZE, HEX_SIZE);
	return st;
}

static const char *
action_name(enum sphinx_action action)
{
	switch (action) {
	case SPHINX_FORWARD:
		return "forward";
	case SPHINX_DELIVER:
		return "deliver";
	case SPHINX_REPLY:
		return "reply";
	default:
		return "drop";
	}
}

/* The tag as text, if it is one: an address. */
static void
set_address(json_t *object, const uint8_t tag[static SPHINX_KEY_SIZE])
{
	size_t len = SPHINX_KEY_SIZE;

	while (len > 0 && tag[len - 1] == 0)
		len--;
	/* NULL, and so not set, when it is not UTF-8. */
	json_object_set_new(
	    object, "address", json_stringn((const char *)tag, len));
}

static json_t *
describe(const struct sphinx *s, const sphinx_step_t *step, enum status st,
    const sphinx_packet_t *packet)
{
	json_t *o = json_object();

	json_object_set_new(
	    o, "suite", json_string(sphinx_suite_name(sphinx_suite_of(s))));
	json_object_set_new(
	    o, "action", json_string(action_name(step->action)));
	if (st != ST_OK)
		json_object_set_new(
		    o, "reason", json_string(status_info(st)->label));
	if (st != ST_WEAK_KEY)
		mix_json_hex(o, "replay_tag", step->replay_tag,
		    sizeof(step->replay_tag));
	if (st != ST_OK)
		return o;
	json_object_set_new(o, "delay_ms", json_integer(step->delay_ms));
	if (step->action == SPHINX_FORWARD) {
		mix_json_hex(o, "next", step->next, sizeof(step->next));
		mix_json_hex(
		    o, "header", &packet->header, sizeof(packet->header));
		mix_json_hex(o, "payload_head", packet->payload, EDGE);
		mix_json_hex(o, "payload_tail",
		    packet->payload + SPHINX_PAYLOAD_SIZE - EDGE, EDGE);
		return o;
	}
	mix_json_hex(o, "tag", step->next, sizeof(step->next));
	set_address(o, step->next);
	if (step->action == SPHINX_REPLY)
		mix_json_hex(o, "surb", step->surb, sizeof(step->surb));
	json_object_set_new(
	    o, "message_len", json_integer((json_int_t)step->message_len));
	mix_json_hex(o, "message", step->message, step->message_len);
	return o;
}

static int
peel(struct sphinx *s, const char *name, const sphinx_key_t *key,
    const char *path, const char *next)
{
	static sphinx_packet_t packet;
	sphinx_step_t step;
	enum status st;

	if (read_packet(&packet, name, path) != ST_OK)
		return CLI_ERROR;
	st = sphinx_peel(s, &step, &packet, key);
	if (!mix_json_print(describe(s, &step, st, &packet))) {
		cli_error(name, "standard output: it can not be written");
		return CLI_ERROR;
	}
	if (next != NULL && step.action == SPHINX_FORWARD &&
	    file_replace(next, &packet, sizeof(packet), 0600) != ST_OK) {
		cli_error(name, "%s: %s", next, strerror(errno));
		return CLI_ERROR;
	}
	return st == ST_OK ? CLI_OK : CLI_NO;
}

int
cmd_mix_peel(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	enum sphinx_suite suite;
	struct sphinx *s;
	sphinx_key_t key;
	enum status st;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (values[KEY] == NULL) {
		cli_error(name, "--key FILE is missing (whose hop is it?)");
		return CLI_ERROR;
	}
	if (!mix_suite(&suite, name, values[SUITE]))
		return CLI_ERROR;
	/* Anybody's: keys of vectors and of tests are no secrets. */
	st = key_file_load(&key, values[KEY], FILE_ANYBODY);
	if (st != ST_OK) {
		mix_key_error(name, values[KEY], st);
		return CLI_ERROR;
	}
	st = sphinx_new(&s, suite, SPHINX_KERNEL_AUTO);
	if (st != ST_OK) {
		cli_error(name, "%s", status_text(st));
		wipe(&key, sizeof(key));
		return CLI_ERROR;
	}
	code = peel(s, name, &key, argv[args], values[NEXT]);
	sphinx_free(s);
	wipe(&key, sizeof(key));
	return code;
}
