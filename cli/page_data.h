// SPDX-License-Identifier: MIT
// What a page shows of a result file: frames of the motion and series, thinned to a number of bytes.
#ifndef CLI_PAGE_DATA_H
#define CLI_PAGE_DATA_H

#include "page_block.h"

#include <holonom/holonom.h>

enum { PAGE_BLOCKS_MAX = 12 };

typedef struct page_block {
    const char *name;
    bool on_frames; ///< otherwise on samples
    block_encoding encoding;
    size_t rows, columns;
    size_t start; ///< byte in the packed numbers, before compression
} page_block;

typedef struct page_data {
    int64_t record_count;
    int64_t frame_count;
    int64_t sample_count;
    int64_t reactions_from; ///< first frame that has reactions
    page_block blocks[PAGE_BLOCKS_MAX];
    int block_count;
    byte_buffer packed; ///< gzip of all blocks; the caller frees it
} page_data;

/// Gather and pack what a page shows of a file; at most about `size_max` packed bytes.
hn_status page_data_gather(hn_context *context, hn_result_file *file, size_t size_max,
                           page_data *data);

/// Names of the rows of the block "totals": the series below ledger/ and newton/, and derived ones.
/// `tell` is called for each of them in order.
typedef void (*total_teller)(void *user, const char *name, const char *component, const char *unit,
                             const char *meaning);
void page_totals(hn_result_file *file, total_teller tell, void *user);

#endif
