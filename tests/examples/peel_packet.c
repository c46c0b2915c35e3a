/* Build a mix packet for three hops, and peel it as they do: each learns where
 * it goes next, the last one the message.
 *
 *	cc peel_packet.c $(pkg-config --cflags --libs libpostern) */
#include <postern/sphinx.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char message[] = "hello through three mixes";

static int
failed(const char *what, enum status st)
{
	fprintf(stderr, "%s: %s\n", what, status_text(st));
	return 1;
}

int
main(void)
{
	static sphinx_packet_t packet;
	sphinx_key_t node[SPHINX_HOPS_MAX];
	sphinx_path_t path = {
	    .hops = SPHINX_HOPS_MAX, .tag = {'e', 'c', 'h', 'o'}};
	uint8_t random[SPHINX_HOPS_MAX + 1][SPHINX_SEED_SIZE];
	struct sphinx *s;
	enum status st = sphinx_new(&s, SPHINX_WIDE, SPHINX_KERNEL_AUTO);

	if (st != ST_OK)
		return failed("sphinx_new", st);
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return failed("getrandom", ST_RANDOM);
	for (unsigned i = 0; i < path.hops; i++) {
		sphinx_key_make(&node[i], random[i]);
		memcpy(path.hop[i].id, node[i].id, SPHINX_KEY_SIZE);
		path.hop[i].delay_ms = 10 * (i + 1);
	}
	st = sphinx_build(s, &packet, &path, message, sizeof(message),
	    random[SPHINX_HOPS_MAX]);
	if (st != ST_OK)
		return failed("sphinx_build", st);
	for (unsigned i = 0; i < path.hops; i++) {
		sphinx_step_t step;
		if ((st = sphinx_peel(s, &step, &packet, &node[i])) != ST_OK)
			return failed("sphinx_peel", st);
		if (step.action == SPHINX_FORWARD)
			printf("hop %u: wait %u ms, forward to %s\n", i,
			    step.delay_ms,
			    memcmp(step.next, node[i + 1].id,
				sizeof(step.next)) == 0
				? "the next"
				: "a stranger");
		else
			printf("hop %u: deliver to %.4s: %.*s\n", i,
			    (const char *)step.next, (int)step.message_len,
			    (const char *)step.message);
	}
	sphinx_free(s);
	return 0;
}
