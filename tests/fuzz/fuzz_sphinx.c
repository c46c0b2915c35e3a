/* The packet at a hop. The first byte chooses suite and mode:
 *
 *	mode 0	the rest is the packet, zeros where it ends early
 *	mode 1	the rest is beta in the clear and the payload: encrypted and
 *		authenticated here, so that what a sender can do is reached
 */
#include "fuzz.h"

#include "postern/sphinx.h"
#include "sphinx/packet.h"

static struct sphinx *contexts[2];
static sphinx_key_t key;
static x25519_t element;

static void
set_up(void)
{
	static const uint8_t secret[32] = {1, 2, 3}, other[32] = {4, 5, 6};

	FUZZ_CHECK(
	    sphinx_new(&contexts[0], SPHINX_WIDE, SPHINX_KERNEL_AUTO) == ST_OK);
	FUZZ_CHECK(sphinx_new(&contexts[1], SPHINX_STREAM,
		       SPHINX_KERNEL_PORTABLE) == ST_OK);
	sphinx_key_make(&key, secret);
	contexts[0]->kernel->one(element.byte, other, x25519_base.byte);
}

/* Encrypt and authenticate the header, as a sender that knows the hop would. */
static void
seal_header(const struct sphinx *s, sphinx_packet_t *packet)
{
	sphinx_header_t *h = &packet->header;
	uint8_t shared[X25519_SIZE];
	struct hop_keys keys;

	memcpy(h->element, element.byte, sizeof(h->element));
	s->kernel->one(shared, key.secret, element.byte);
	hop_keys_derive(&keys, s->suite, shared, h->element, key.id);
	FUZZ_CHECK(chacha20_xor(&s->ciphers, keys.rho, NULL, h->beta,
		       sizeof(h->beta)) == ST_OK);
	hmac_sha256_16(h->mac, keys.mu, h->beta, sizeof(h->beta));
	FUZZ_CHECK(
	    s->suite->add(&s->ciphers, packet->payload, keys.pi) == ST_OK);
}

static void
check_step(const struct sphinx *s, const sphinx_step_t *step,
    const sphinx_packet_t *packet)
{
	span_t whole = span_of(packet->payload, sizeof(packet->payload));

	switch (step->action) {
	case SPHINX_FORWARD:
		FUZZ_CHECK(x25519_is_valid(packet->header.element));
		FUZZ_CHECK(step->message == NULL && step->message_len == 0);
		break;
	case SPHINX_DELIVER:
		FUZZ_CHECK(step->message_len <= SPHINX_MESSAGE_MAX);
		break;
	case SPHINX_REPLY:
		FUZZ_CHECK(sphinx_suite_of(s) == SPHINX_WIDE);
		FUZZ_CHECK(step->message_len == SPHINX_PAYLOAD_SIZE);
		break;
	default:
		FUZZ_CHECK(false);
	}
	FUZZ_CHECK(step->action == SPHINX_FORWARD ||
	    fuzz_within(span_of(step->message, step->message_len), whole));
}

/* Peeled with others, a packet becomes what it becomes alone. */
static void
check_batch(struct sphinx *s, sphinx_packet_t twins[static 2],
    const sphinx_packet_t *alone, enum status st, enum sphinx_action action)
{
	sphinx_packet_t *both[2] = {&twins[0], &twins[1]};
	enum status results[2];
	sphinx_step_t steps[2];

	sphinx_peel_batch(s, results, steps, both, 2, &key);
	for (int i = 0; i < 2; i++) {
		FUZZ_CHECK(results[i] == st && steps[i].action == action);
		FUZZ_CHECK(memcmp(&twins[i], alone, sizeof(*alone)) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static sphinx_packet_t packet, before, twins[2];
	sphinx_packet_t *view;
	struct sphinx *s;
	sphinx_step_t step;
	enum status st, decoded;
	unsigned choice;

	if (size < 1)
		return 0;
	if (contexts[0] == NULL)
		set_up();
	choice = data[0];
	s = contexts[choice & 1];
	data++;
	size--;
	memset(&packet, 0, sizeof(packet));
	if ((choice & 2) != 0) {
		/* Beta, then payload. */
		size_t beta = size < SPHINX_BETA_SIZE ? size : SPHINX_BETA_SIZE;
		size_t rest = size - beta;
		if (rest > SPHINX_PAYLOAD_SIZE)
			rest = SPHINX_PAYLOAD_SIZE;
		memcpy(packet.header.beta, data, beta);
		memcpy(packet.payload, data + beta, rest);
		seal_header(s, &packet);
	} else {
		memcpy(&packet, data,
		    size < sizeof(packet) ? size : sizeof(packet));
	}
	before = twins[0] = twins[1] = packet;
	decoded = sphinx_decode(&view, &packet, sizeof(packet));
	FUZZ_CHECK(decoded == ST_OK || decoded == ST_WEAK_KEY);
	st = sphinx_peel(s, &step, &packet, &key);
	FUZZ_CHECK((st == ST_WEAK_KEY) == (decoded == ST_WEAK_KEY));
	if (st == ST_WEAK_KEY || st == ST_BAD_MAC || st == ST_BAD_ENCODING)
		FUZZ_CHECK(memcmp(&packet, &before, sizeof(packet)) == 0);
	FUZZ_CHECK((st == ST_OK) == (step.action != 0));
	FUZZ_CHECK((choice & 2) == 0 || st == ST_OK || st == ST_BAD_ENCODING ||
	    st == ST_CORRUPT);
	if (st == ST_OK)
		check_step(s, &step, &packet);
	check_batch(s, twins, &packet, st, step.action);
	return 0;
}
