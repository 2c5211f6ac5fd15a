// SPDX-License-Identifier: MIT
// Chunks of a result file packed as HDF5's filters shuffle, deflate and fletcher32 would, at a quarter of their cost.
//
// Shuffled, the numbers of a motion are eight planes of bytes, of which those of high weight repeat and those of low
// weight are noise. zlib looks for repetitions in all of them; here noise is stored as it is, in the same stream.
#ifndef IO_PACKING_H
#define IO_PACKING_H

#include "base/context.h"

typedef struct packer packer;

/// A packer of chunks of at most `number_count` numbers of eight bytes.
hn_status packer_create(hn_context *context, size_t number_count, packer **out);
void packer_destroy(packer *p);

/// Pack numbers in the byte order of the file. Returns the bytes, valid until the next call; NULL: zlib failed.
const void *packer_pack(packer *p, const void *numbers, size_t number_count, size_t *size);

#endif
