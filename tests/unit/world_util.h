/* tests/unit/world_util.h: a whole gateway in this process, and the world
 * around it: clients, places to go to, a name server, and a clock that can be
 * moved.
 *
 * Everything of the gateway is real: configuration and members come from
 * files, proofs are the official ones of tests/vectors/gate.json and are
 * checked by its workers, counts go to a journal with sync = always, names to
 * the server of dns_server.h over UDP, bytes through sockets of the kernel.
 * The gateway's loop and the world's turn only when told to, one round at a
 * time, so that a test can act in each state of a session.
 *
 * The steady clock of the process (CLOCK_MONOTONIC, also for the libraries) is
 * the system's plus what world_wait has added: a deadline of hours costs
 * nothing. The calendar stays as it is.
 *
 * One world a process. Failures go to test_fail of harness.h, which a program
 * without the harness has to define.
 */
#ifndef TESTS_WORLD_UTIL_H
#define TESTS_WORLD_UTIL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/session_impl.h"
#include "dns_server.h"

/* Connections of the gateway that the echo's side keeps at a time. */
#define WORLD_GUESTS 8
#define WORLD_STUFFED_PAIRS 64

enum world_target {
	WORLD_ECHO, /* 127.0.0.1, literally */
	WORLD_HOME, /* a name that leads there */
	WORLD_DEAF, /* neither accepts nor refuses */
	WORLD_SHUT, /* refuses */
	WORLD_SILENT, /* a name that is never answered */
	WORLD_NOWHERE, /* a name that there is not */
	WORLD_LIES, /* a name that leads to 127.0.0.1, which is not allowed */
	WORLD_FORBIDDEN, /* a port that is not allowed */
	WORLD_TARGETS,
};

struct world {
	char folder[32];
	struct loop *loop; /* the world's */
	struct dns_server dns;
	struct gateway *gateway;
	json_t *proofs;

	int echo, deaf, door; /* listening */
	int shut; /* bound, and not listening any more */
	int filler[3]; /* fill the queue of DEAF */
	uint16_t port[WORLD_TARGETS];
	int stuffed_pair[WORLD_STUFFED_PAIRS][2]; /* TCP, made ahead */
	unsigned stuffed;
	int guest[WORLD_GUESTS]; /* accepted at ECHO; -1: none */
	uint64_t guests; /* so far */
	unsigned questions; /* that world_empty has seen the end of */
	uint64_t inside; /* connections from inside so far: their ids */
};

/* Make it; nobody is connected. */
void world_open(struct world *w);
void world_close(struct world *w);

/* Turn each loop once, without waiting, and accept at ECHO. */
void world_turn(struct world *w);

/* Workers or the journal are about to answer. */
bool world_is_busy(const struct world *w);

/* Turn until that is over and nothing has been ready for a while. */
void world_settle(struct world *w);

/* Put the clock MS ahead and turn. */
void world_wait(struct world *w, uint64_t ms);

enum {
	WORLD_UNIX = 1, /* by a unix socket instead of TCP; INSIDE always is */
	WORLD_STUFFED = 2, /* the gateway can not send until this one reads */
	WORLD_INSIDE = 4, /* from inside, as a mix's: no PROXY line */
};

/* A client's socket, connected to the gateway, non-blocking. */
int world_connect(struct world *w, unsigned flags);

/* Close FD with a reset (TCP). */
void world_reset(int fd);

/* Send all of LEN bytes; false if the socket does not take them. */
bool world_send(int fd, const void *bytes, size_t len);

/* Read and drop what there is; how many bytes. *ended: and then the end, or a
 * reset, has come. */
size_t world_drain(int fd, bool *ended);

/* What the official proof NAME of tests/vectors/gate.json is as a token; the
 * caller frees. */
char *world_token(const struct world *w, const char *name);

/* Write a CONNECT to TARGET with TOKEN (NULL: none) into OUT; its length. */
size_t world_head(char *out, size_t room, const struct world *w,
    enum world_target target, const char *token);

/* The line that tor writes before a client's bytes, for circuit ID. */
size_t world_line(char out[static 128], unsigned id);

/* The only session that is taken; NULL if there is none. */
struct session *world_session(const struct world *w);

/* Every session is over and has given back all it had. Puts the clock as far
 * ahead as the slowest deadline needs. False: one does not end. */
bool world_empty(struct world *w);

/* Open descriptors, but for those that the world keeps for later, pipes that the
 * gateway keeps, and ECHO's guests. */
unsigned world_fds(const struct world *w);

#endif
