// SPDX-License-Identifier: MIT
// What result files need of HDF5: silence, attributes, fixed and growing datasets, reasons for failures.
#ifndef IO_RESULTS_HDF5_H
#define IO_RESULTS_HDF5_H

#include "base/context.h"
#include "io/packing.h"

#include <hdf5.h>

/// HDF5 prints its error stack by default; between begin and end it does not, and the errno behind the first failure
/// is kept instead. The caller's setting comes back at the end.
typedef struct hdf5_silence {
    int system_error; ///< errno behind the first failure; 0: none, or HDF5 knows of none
    bool second;      ///< which of the two interfaces the caller's setting belongs to
    H5E_auto1_t function1;
    H5E_auto2_t function2;
    void *data;
} hdf5_silence;
void hdf5_silence_begin(hdf5_silence *silence);
void hdf5_silence_end(const hdf5_silence *silence);

/// What an errno value means, in words that do not depend on the locale.
const char *system_error_sentence(int error);

// Attributes: created, or overwritten when they exist. All return false on failure.
bool hdf5_attribute_double(hid_t object, const char *name, double value);
bool hdf5_attribute_doubles(hid_t object, const char *name, const double *values, int count);
bool hdf5_attribute_integer(hid_t object, const char *name, int64_t value);
/// `capacity` bytes are kept for the text, so that a later one may be longer; 0: as long as the text.
bool hdf5_attribute_text(hid_t object, const char *name, const char *text, size_t capacity);

// The same read back. All return false when there is none of that name and form.
bool hdf5_read_double(hid_t object, const char *name, double *value);
bool hdf5_read_integer(hid_t object, const char *name, int64_t *value);
/// A text that fits into `size` bytes with its zero.
bool hdf5_read_text(hid_t object, const char *name, char *text, size_t size);

/// A group whose attributes stay in its header, where they can be overwritten in one piece. Negative on failure.
hid_t hdf5_create_group(hid_t place, const char *name);

/// Datasets written once. `dims` has `rank` entries; nothing is written when one of them is 0.
bool hdf5_write_doubles(hid_t group, const char *name, const char *unit, int rank,
                        const hsize_t *dims, const double *values);
/// The same, also where there is nothing: a dataset without numbers.
bool hdf5_write_any_doubles(hid_t group, const char *name, const char *unit, int rank, const hsize_t *dims,
                            const double *values);
bool hdf5_write_integers(hid_t group, const char *name, int rank, const hsize_t *dims,
                         const int *values);
/// `count` strings of `width` bytes each, padded with zero bytes.
bool hdf5_write_strings(hid_t group, const char *name, hsize_t count, size_t width,
                        const char *block);
/// One string of `length` bytes.
bool hdf5_write_text(hid_t group, const char *name, const char *text, size_t length);

/// Dataset that grows along its first dimension, empty at first, chunked by `chunk_records` and by components: a chunk
/// has one number of every element (the second dimension), in records that follow each other. Chunks are compressed and
/// carry a checksum. Negative on failure.
hid_t hdf5_create_series(hid_t file, const char *path, bool integer, int record_rank,
                         const size_t *record_dims, size_t chunk_records);
/// Are the chunks of a dataset those of such a series?
bool hdf5_has_chunks(hid_t dataset, size_t chunk_records, size_t number_count);
/// Let the dataset have at least `count` records.
bool hdf5_grow_series(hid_t dataset, hsize_t count);
/// Write records [start, start + count). Whole chunks are written without reading.
bool hdf5_write_records(hid_t dataset, hsize_t start, hsize_t count, const double *values);

/// One chunk: where it begins, and all its numbers, those of records to come too.
typedef struct hdf5_chunk {
    hsize_t offset[4];    ///< record, 0, place of the component
    double *numbers;      ///< overwritten when they are written
    size_t number_count;
    size_t record_width;  ///< of them in a record
} hdf5_chunk;
/// Write it as it is: not compressed, at the same place as the last time.
bool hdf5_write_plain_chunk(hid_t dataset, const hdf5_chunk *chunk);
/// Write it packed.
bool hdf5_write_packed_chunk(hid_t dataset, const hdf5_chunk *chunk, packer *by);

/// Read records [start, start + count).
bool hdf5_read_records(hid_t dataset, hsize_t start, hsize_t count, double *values);

#endif
