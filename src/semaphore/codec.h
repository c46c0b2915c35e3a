/* semaphore/codec.h: what the readers of a proof's two forms share.
 *
 * Private to the folder.
 */
#ifndef SEMAPHORE_CODEC_H
#define SEMAPHORE_CODEC_H

#include "postern/semaphore.h"

/* Where each point is in struct semaphore_proof's points, by form. */
enum {
	AFFINE_A = 0,
	AFFINE_B = 64,
	AFFINE_C = 192,
	COMPRESSED_A = 0,
	COMPRESSED_B = 32,
	COMPRESSED_C = 96,
	COMPRESSED_END = 128
};

/* Write down a fault; the result is STATUS. */
static inline enum status
fault_set(struct semaphore_fault *f, enum status status,
    enum semaphore_field field, int index, int64_t value)
{
	f->status = status;
	f->field = field;
	f->index = index;
	f->value = value;
	return status;
}

static inline enum status
fault_at(
    struct semaphore_fault *f, enum status status, enum semaphore_field field)
{
	return fault_set(f, status, field, -1, 0);
}

#endif
