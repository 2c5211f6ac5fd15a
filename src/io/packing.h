// SPDX-License-Identifier: MIT
// Chunks of a result file packed as HDF5's filters shuffle, deflate and fletcher32 would, at a fraction of their cost.
//
// Shuffled, the numbers of a motion are eight planes of bytes. Those of high weight repeat what stood there in the
// record before and are coded by that; those of low weight are noise and stored as they are, in the same stream.
#ifndef IO_PACKING_H
#define IO_PACKING_H

#include "base/context.h"

typedef struct packer packer;

/// A packer of chunks of at most `number_count` numbers of eight bytes.
hn_status packer_create(hn_context *context, size_t number_count, packer **out);
void packer_destroy(packer *p);

/// Pack `number_count` > 0 numbers in the byte order of the file, of which `record_width` make a record.
/// Returns the bytes, valid until the next call.
const void *packer_pack(packer *p, const void *numbers, size_t number_count, size_t record_width, size_t *size);

#endif
