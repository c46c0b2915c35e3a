/* tests/unit/dns_server.h: a small name server on a loop, over UDP and TCP at
 * one port of 127.0.0.1. The first label of a name says how it is answered;
 * see the table in dns_server.c.
 */
#ifndef TESTS_DNS_SERVER_H
#define TESTS_DNS_SERVER_H

#include "net_util.h"

#define DNS_TCP_MAX 8

struct dns_delayed;
struct dns_server;

struct dns_peer {
	struct watch watch;
	struct dns_server *server;
	int fd; /* -1: none */
	uint8_t in[1024];
	size_t len;
};

struct dns_server {
	struct loop *loop;
	uint16_t port;
	char at[32]; /* "127.0.0.1:PORT" */
	int udp, tcp, spoof; /* spoof: a socket at another port */
	struct watch udp_watch, tcp_watch;
	struct dns_peer peers[DNS_TCP_MAX];
	/* What came. */
	unsigned udp_questions, tcp_questions;
	uint16_t last_port; /* of the client */
	unsigned ports; /* how often it was another than before */
	bool asked_recursion, had_edns; /* of the last question */
	char last_name[256];
	struct dns_delayed *delayed;
};

void dns_start(struct dns_server *s, struct loop *l);
void dns_stop(struct dns_server *s);

#endif
