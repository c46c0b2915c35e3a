/* cmd/mix_metrics.h: a mix node's figures over HTTP, in Prometheus's text
 * format (GET /metrics), and whether it is alive (GET /healthz).
 *
 * One request a connection, a few connections at a time. Sums only; the one
 * label that names anybody is a node's id, as the registry has it, for what
 * the node's own loops say of the others.
 *
 * Threads: the loop.
 */
#ifndef CMD_MIX_METRICS_H
#define CMD_MIX_METRICS_H

#include "daemon/buffer.h"
#include "mix/node.h"

struct mix_metrics;

/* Listen at AT for those who ask about N.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS. *m is NULL on failure. */
enum status mix_metrics_new(struct mix_metrics **m, struct loop *l,
    const endpoint_t *at, const struct mix_node *n) NONNULL WARN_UNUSED;

/* Close all and null *M; before the node goes. */
void mix_metrics_free(struct mix_metrics **m) NONNULL;

uint16_t mix_metrics_port(const struct mix_metrics *m) NONNULL;

/* The text of all figures. */
void mix_metrics_render(struct buffer *out, const struct mix_node *n) NONNULL;

#endif
