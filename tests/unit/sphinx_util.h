/* tests/unit/sphinx_util.h: what the tests of the packet share. */
#ifndef TESTS_SPHINX_UTIL_H
#define TESTS_SPHINX_UTIL_H

#include "postern/sphinx.h"

extern const enum sphinx_suite suites[2];
extern const enum sphinx_kernel kernels[2];

/* NULL when the CPU can not run KERNEL. */
struct sphinx *context(enum sphinx_suite suite, enum sphinx_kernel kernel);

/* A random path, its keys, and delays as long as they can be. */
void random_path(sphinx_path_t *path, sphinx_key_t *keys, unsigned hops);

/* A packet of some path. */
void sample(struct sphinx *s, sphinx_packet_t *packet, sphinx_key_t *keys,
    unsigned hops);

/* Peel PACKET with the keys of all hops; the last step. */
sphinx_step_t peel_all(struct sphinx *s, sphinx_packet_t *packet,
    const sphinx_key_t *keys, unsigned hops);

#endif
