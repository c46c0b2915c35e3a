/* mix/random.h: where randomness comes from, as an argument.
 *
 * Paths, delays and seeds are as unpredictable as their source; tests give one
 * that repeats.
 */
#ifndef MIX_RANDOM_H
#define MIX_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct mix_random {
	void (*fill)(void *ctx, void *out, size_t len);
	void *ctx;
};

/* The system's, through libsodium. */
extern const struct mix_random mix_random_system;

/* A number below N (not 0), each as likely. */
uint64_t mix_random_below(const struct mix_random *r, uint64_t n);

/* An exponential delay with this mean: round(-ln(U) * mean) for U uniform in
 * (0, 1], at most MAX. */
uint32_t
mix_random_delay(const struct mix_random *r, double mean_ms, uint32_t max_ms);

#endif
