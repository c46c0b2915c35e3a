/* store/local_store.h: the gate's own ledger behind ledger_store.h, written
 * down in a journal or kept in memory only.
 *
 * Start-up, in this order, because the journal brings the key that members'
 * names are made with:
 *
 *	journal_open(&journal, ...)           lock, check, read the header
 *	config.member_key = journal_member_key(journal)
 *	config.floor = journal_floor(journal)
 *	gate_init(&gate, &config, memory)
 *	local_store_new(&store, &gate, journal, ...)   replays the counts
 */
#ifndef STORE_LOCAL_STORE_H
#define STORE_LOCAL_STORE_H

#include <stddef.h>

#include "gate/gate.h"
#include "postern/attr.h"
#include "postern/status.h"
#include "store/journal.h"
#include "store/ledger_store.h"

/* Make a store over GATE, which outlives it. The store owns JOURNAL from now
 * on, also on failure; NULL: counts live in memory only and a restart forgets
 * them.
 * In:      pending, how many answers may be outstanding (sessions are enough).
 * Out:     *store, NULL on failure; *replayed, what the journal had (to be
 *          logged: a torn tail, an end out of order); why: what is wrong and
 *          the cure.
 * Returns: ST_OK; what journal_replay found; ST_LEDGER_FULL (the journal holds
 *          more than the ledger may); ST_NO_MEMORY; ST_SYS. */
enum status local_store_new(struct ledger_store **store,
    struct journal_replayed *replayed, struct gate *gate,
    struct journal *journal, uint32_t pending, ledger_settled_fn *settled,
    void *ctx, char why[static JOURNAL_WHY_MAX]) WARN_UNUSED;

#endif
