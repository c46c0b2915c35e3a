/* store/journal_format.h: the bytes of the ledger's journal.
 *
 * A header of 4096 bytes, then records of 64 bytes, so that no record crosses
 * a disk sector. Integers are big-endian.
 *
 *	header                              record
 *	  0  8  "POSTERNJ"                    0  1  kind (enum journal_kind)
 *	  8  4  version, 1                    1  3  zero
 *	 12  4  bytes of a record, 64         4  4  requests
 *	 16 16  file id, random               8  8  epoch
 *	 32 32  whose (journal_identity)     16 16  member's tag
 *	 64 32  member key                   32  8  bytes up
 *	 96  8  floor: epochs below are      40  8  bytes down
 *	        closed                       48  8  durable: as many records were
 *	104 16  check                               synced when this was written
 *	120     zero                         56  8  check
 *
 * The header's check is BLAKE2b-128 over all that is before it. A record's is
 * SipHash-2-4 over its number in the file and all that is before the check,
 * keyed with the file id. That makes it 64 bits, cheap enough for every
 * request, and worth nothing in another file or place: what a crash leaves in
 * the blocks of a growing file may be the records of a former journal, which a
 * plain CRC would take for ours. It is no defence against somebody who can
 * write the file: such a one owns the ledger anyway.
 *
 * A record says what a member has used so far, so a later one supersedes an
 * earlier one. What a file does not hold is nullifiers: a tag can only be
 * compared with a nullifier by who has the key, and the tags of an epoch go
 * when it ends, with the file that held them (see journal.h on what a disk may
 * still remember).
 *
 * A damaged record is a torn tail if nothing after it was written in the
 * knowledge that it was safe: that is what `durable` tells. Else it is damage,
 * and the file is refused.
 *
 * Pure; variable time. Threads: any.
 */
#ifndef STORE_JOURNAL_FORMAT_H
#define STORE_JOURNAL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/epoch.h"
#include "gate/ledger.h"
#include "postern/attr.h"
#include "postern/status.h"

#define JOURNAL_VERSION 1
#define JOURNAL_HEADER 4096
#define JOURNAL_RECORD 64
#define JOURNAL_FILE_ID 16
#define JOURNAL_IDENTITY 32

struct journal_header {
	uint8_t file_id[JOURNAL_FILE_ID];
	uint8_t identity[JOURNAL_IDENTITY];
	uint8_t member_key[MEMBER_KEY]; /* SECRET */
	uint64_t floor;
};

/* Whose journal it is: counts mean the same only under the same audience,
 * realm and epoch length. MESSAGE is the audience's. */
void journal_identity(uint8_t out[static JOURNAL_IDENTITY],
    const uint8_t message[static 32], const struct epoch_rules *rules);

void journal_header_encode(
    uint8_t out[static JOURNAL_HEADER], const struct journal_header *h);

/* Returns: ST_OK; ST_CORRUPT (not a journal, or damaged); ST_BAD_VERSION;
 *          ST_FOREIGN (of another identity than IDENTITY). On failure *h is
 *          zero. */
enum status journal_header_decode(struct journal_header *h,
    const uint8_t in[static JOURNAL_HEADER],
    const uint8_t identity[static JOURNAL_IDENTITY]) WARN_UNUSED;

enum journal_kind {
	JOURNAL_NONE = 0,
	JOURNAL_COUNT = 1, /* what a member has used so far */
	JOURNAL_CLOSE = 2, /* an epoch has ended: its counts are gone */
	JOURNAL_MARK = 3, /* says nothing: to see whether one can write */
	JOURNAL_SEAL = 4, /* the journal was closed in order */
};

/* What a record says: a plain value. */
struct journal_entry {
	enum journal_kind kind;
	struct ledger_record count; /* COUNT */
	uint64_t closed, floor; /* CLOSE: an epoch, and the floor from then on;
				 * in the places of epoch and bytes up */
};

/* Write E as record NUMBER (from 0) of the file with FILE_ID. */
void journal_record_encode(uint8_t out[static JOURNAL_RECORD],
    const struct journal_entry *e, uint64_t durable, uint64_t number,
    const uint8_t file_id[static JOURNAL_FILE_ID]);

/* Reading a file from the front, record by record. */
struct journal_scan {
	uint8_t file_id[JOURNAL_FILE_ID];
	uint64_t number; /* of the next record */
	uint64_t good; /* records before the first that is damaged */
	bool torn; /* there is a damaged one */
};

void journal_scan_init(
    struct journal_scan *s, const uint8_t file_id[static JOURNAL_FILE_ID]);

/* Look at the next record.
 * Out:     *e; its kind is NONE if the record is damaged, or comes after one
 *          that is: nobody was told that those were safe.
 * Returns: ST_OK; ST_CORRUPT: the damage is in the middle, not at the tail. */
enum status journal_scan_next(struct journal_scan *s, struct journal_entry *e,
    const uint8_t in[static JOURNAL_RECORD]) WARN_UNUSED;

#endif
