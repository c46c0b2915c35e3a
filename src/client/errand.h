/* client/errand.h: one connection of a program, from its first byte to the
 * end of its tunnel.
 *
 *	FIRST	is it SOCKS or HTTP?
 *	OFFER, LOGIN, REQUEST	SOCKS5, step by step
 *	HEAD	an HTTP request
 *	PROOF	waits for the proof of its gateway and slot
 *	HOP	waits for tor
 *	ASKED	waits for the gateway's answer
 *	GRANT	tells the program, passes on what came behind the answer
 *	TUNNEL	bytes
 *	LAST	a last answer is on its way
 *
 * What fails between PROOF and ASKED is tried again: on a fresh circuit, with a
 * fresh proof, at the next gateway, each a bounded number of times. What the
 * gateway says of the destination is not: each try costs a request.
 */
#ifndef CLIENT_ERRAND_H
#define CLIENT_ERRAND_H

#include <stddef.h>

struct client;
struct listener;

/* Bytes of an errand, for the slab. */
size_t errand_size(void);

/* A program has connected: of listener_config.accepted. CLIENT is the argument
 * of every listener. */
void errand_accept(struct listener *ls, int fd, void *client);

/* Let every errand that waits for a proof ask again. */
void errands_wake(struct client *c);

/* Close all. */
void errands_close(struct client *c);

#endif
