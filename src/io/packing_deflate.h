// SPDX-License-Identifier: MIT
// Blocks of a deflate stream (RFC 1951) for bytes that repeat after a known distance, or not at all.
//
// General coders look for repetitions everywhere, which costs some fifty instructions a byte. Planes of a motion's
// numbers repeat what stood there in the record before, or they are noise: looking there alone costs a few.
#ifndef IO_PACKING_DEFLATE_H
#define IO_PACKING_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DEFLATE_DISTANCE_MAX = 32768,
    DEFLATE_SYMBOLS = 288,       ///< literals, the end of a block, lengths
    DEFLATE_STORED_MAX = 65535,  ///< bytes of a stored block
    DEFLATE_STORED_HEAD = 5,     ///< its own bytes beside them, at most
    DEFLATE_MARGIN = 8,          ///< bytes that are written beyond the end of a stream and do not count
};

/// A stream that grows; the first bit of a byte is its lowest.
typedef struct deflate_stream {
    unsigned char *next; ///< where whole bytes go
    uint64_t bits;       ///< not yet whole
    unsigned bit_count;  ///< below 8 between calls
} deflate_stream;

/// `literal_count` bytes as they are, then `length` bytes (0: none) that equal those `distance` before.
typedef struct deflate_token {
    uint32_t literal_count, length;
} deflate_token;

/// A code of symbols.
typedef struct deflate_code {
    uint8_t length[DEFLATE_SYMBOLS]; ///< bits; 0: it does not occur
    uint16_t bits[DEFLATE_SYMBOLS];  ///< lowest bit first
} deflate_code;

/// How bytes are to be coded: found by deflate_plan, written by deflate_coded.
typedef struct deflate_plan_result {
    deflate_token *tokens; ///< room for one per four bytes and one more
    size_t token_count;
    size_t distance;
    uint32_t frequency[DEFLATE_SYMBOLS];
    deflate_code own, fixed;
    bool is_fixed; ///< the code that needs no head
} deflate_plan_result;

/// Before the first plan.
void deflate_prepare(deflate_plan_result *plan);

/// Plan to code `size` bytes with repetitions at `distance`, which is at most DEFLATE_DISTANCE_MAX, by a code of their
/// own. @return size of the block in bytes, rounded up
size_t deflate_plan(const unsigned char *bytes, size_t size, size_t distance, deflate_plan_result *plan);
/// The same with the fixed code, for bytes nearly all of which repeat.
void deflate_plan_fixed(const unsigned char *bytes, size_t size, size_t distance, deflate_plan_result *plan);

/// Write the block that was planned of the same bytes.
void deflate_coded(deflate_stream *stream, const unsigned char *bytes, const deflate_plan_result *plan, bool last);

/// Write bytes as they are, in as many blocks as it takes.
void deflate_stored(deflate_stream *stream, const unsigned char *bytes, size_t size, bool last);

/// Fill the last byte. @return the end of the stream
unsigned char *deflate_finish(deflate_stream *stream);

#endif
