// SPDX-License-Identifier: MIT
// HDF5 kept quiet and wrapped into the few operations a result file needs.
#include "io/results_hdf5.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    RANK_MAX = 4,
    DEFLATE_LEVEL = 1, // what the file says of itself: packing.c has no levels
};

// HDF5 writes the errno of a failed system call into the description of the innermost error.
static herr_t find_system_error(unsigned depth, const H5E_error2_t *entry, void *user)
{
    (void)depth;
    int *error = user;
    const char *place = entry->desc == NULL ? NULL : strstr(entry->desc, "errno = ");
    if (place != NULL && *error == 0 && sscanf(place, "errno = %d", error) != 1) *error = 0;
    return 0;
}

// Called by HDF5 when one of its functions fails, while the error stack is still there.
static herr_t note_failure(hid_t stack, void *user)
{
    hdf5_silence *silence = user;
    return H5Ewalk2(stack, H5E_WALK_UPWARD, find_system_error, &silence->system_error);
}

void hdf5_silence_begin(hdf5_silence *silence)
{
    unsigned second = 1;
    H5Eauto_is_v2(H5E_DEFAULT, &second);
    *silence = (hdf5_silence){.second = second != 0};
    if (silence->second) H5Eget_auto2(H5E_DEFAULT, &silence->function2, &silence->data);
    else H5Eget_auto1(&silence->function1, &silence->data);
    H5Eset_auto2(H5E_DEFAULT, note_failure, silence);
}

void hdf5_silence_end(const hdf5_silence *silence)
{
    if (silence->second) H5Eset_auto2(H5E_DEFAULT, silence->function2, silence->data);
    else H5Eset_auto1(silence->function1, silence->data);
}

const char *system_error_sentence(int error)
{
    switch (error) {
    case 0: return "the HDF5 library could not complete the operation";
    case ENOSPC: return "no space is left on the device";
    case EDQUOT: return "the disk quota is used up";
    case EFBIG: return "the file would become larger than allowed";
    case ENOENT: return "no such file or folder";
    case ENOTDIR: return "a part of the path is not a folder";
    case EACCES:
    case EPERM: return "permission denied";
    case EISDIR: return "it is a folder";
    case EROFS: return "the file system is read-only";
    case ENAMETOOLONG: return "the name is too long";
    case EMFILE:
    case ENFILE: return "too many files are open";
    case EIO: return "the device reports an input/output error";
    case ETXTBSY:
    case EBUSY: return "the file is busy";
    default: return "the system refused it";
    }
}

// ---- attributes -----------------------------------------------------------------------------------

static bool write_attribute(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                            hid_t space, const void *value)
{
    hid_t attribute = -1;
    if (H5Aexists(object, name) > 0) attribute = H5Aopen(object, name, H5P_DEFAULT);
    else attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return false;
    bool written = H5Awrite(attribute, memory_type, value) >= 0;
    return H5Aclose(attribute) >= 0 && written;
}

bool hdf5_attribute_doubles(hid_t object, const char *name, const double *values, int count)
{
    hsize_t dims = (hsize_t)count;
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &dims, NULL);
    if (space < 0) return false;
    bool written = write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, values);
    H5Sclose(space);
    return written;
}

bool hdf5_attribute_double(hid_t object, const char *name, double value)
{
    return hdf5_attribute_doubles(object, name, &value, 1);
}

bool hdf5_attribute_integer(hid_t object, const char *name, int64_t value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    if (space < 0) return false;
    bool written = write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, space, &value);
    H5Sclose(space);
    return written;
}

// A string type of fixed size; zero bytes fill the rest.
static hid_t string_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    if (H5Tset_size(type, size == 0 ? 1 : size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

bool hdf5_attribute_text(hid_t object, const char *name, const char *text, size_t capacity)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t file_type = string_type(capacity > 0 ? capacity : strlen(text));
    hid_t memory_type = string_type(strlen(text)); // HDF5 pads or cuts to the size in the file
    bool written = space >= 0 && file_type >= 0 && memory_type >= 0 &&
                   write_attribute(object, name, file_type, memory_type, space, text);
    if (memory_type >= 0) H5Tclose(memory_type);
    if (file_type >= 0) H5Tclose(file_type);
    if (space >= 0) H5Sclose(space);
    return written;
}

/// Read an attribute of one number.
static bool read_number(hid_t object, const char *name, hid_t memory_type, void *value)
{
    if (H5Aexists(object, name) <= 0) return false;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t space = H5Aget_space(attribute);
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, memory_type, value) >= 0;
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return read;
}

bool hdf5_read_double(hid_t object, const char *name, double *value)
{
    return read_number(object, name, H5T_NATIVE_DOUBLE, value);
}

bool hdf5_read_integer(hid_t object, const char *name, int64_t *value)
{
    return read_number(object, name, H5T_NATIVE_INT64, value);
}

bool hdf5_read_text(hid_t object, const char *name, char *text, size_t size)
{
    if (H5Aexists(object, name) <= 0) return false;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute);
    memset(text, 0, size);
    bool read = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                H5Tget_size(type) < size && H5Aread(attribute, type, text) >= 0;
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return read;
}

hid_t hdf5_create_group(hid_t place, const char *name)
{
    enum { ATTRIBUTES_MAX = 64 }; // more than any group has
    hid_t group = -1;
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    if (properties >= 0 && H5Pset_attr_phase_change(properties, ATTRIBUTES_MAX, 0) >= 0)
        group = H5Gcreate2(place, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0) H5Pclose(properties);
    return group;
}

// ---- datasets written once ------------------------------------------------------------------------

// There is no dataset of nothing.
static bool is_empty(int rank, const hsize_t *dims)
{
    for (int i = 0; i < rank; ++i)
        if (dims[i] == 0) return true;
    return false;
}

static bool write_dataset(hid_t group, const char *name, const char *unit, hid_t file_type,
                          hid_t memory_type, int rank, const hsize_t *dims, const void *values)
{
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
    if (space < 0) return false;
    hid_t dataset = -1, properties = H5Pcreate(H5P_DATASET_CREATE);
    // no time of writing: equal contents are equal files
    if (properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0)
        dataset = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0) H5Pclose(properties);
    H5Sclose(space);
    if (dataset < 0) return false;
    bool written = H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (unit != NULL) written = hdf5_attribute_text(dataset, "unit", unit, 0) && written;
    return H5Dclose(dataset) >= 0 && written;
}

bool hdf5_write_doubles(hid_t group, const char *name, const char *unit, int rank,
                        const hsize_t *dims, const double *values)
{
    return is_empty(rank, dims) || hdf5_write_any_doubles(group, name, unit, rank, dims, values);
}

bool hdf5_write_any_doubles(hid_t group, const char *name, const char *unit, int rank,
                            const hsize_t *dims, const double *values)
{
    const double none = 0.0;
    return write_dataset(group, name, unit, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, dims,
                         is_empty(rank, dims) ? &none : values);
}

bool hdf5_write_integers(hid_t group, const char *name, int rank, const hsize_t *dims,
                         const int *values)
{
    return is_empty(rank, dims) ||
           write_dataset(group, name, NULL, H5T_STD_I32LE, H5T_NATIVE_INT, rank, dims, values);
}

bool hdf5_write_strings(hid_t group, const char *name, hsize_t count, size_t width,
                        const char *block)
{
    hid_t type = string_type(width);
    if (type < 0) return false;
    bool written = write_dataset(group, name, NULL, type, type, 1, &count, block);
    H5Tclose(type);
    return written;
}

bool hdf5_write_text(hid_t group, const char *name, const char *text, size_t length)
{
    if (length == 0) return true;
    hid_t type = string_type(length);
    if (type < 0) return false;
    bool written = write_dataset(group, name, NULL, type, type, 0, NULL, text);
    H5Tclose(type);
    return written;
}

// ---- growing datasets -----------------------------------------------------------------------------

hid_t hdf5_create_series(hid_t file, const char *path, bool integer, int record_rank,
                         const size_t *record_dims, size_t chunk_records)
{
    hsize_t dims[RANK_MAX] = {0}, limits[RANK_MAX] = {H5S_UNLIMITED},
            chunk[RANK_MAX] = {chunk_records};
    for (int i = 0; i < record_rank; ++i) {
        dims[i + 1] = limits[i + 1] = record_dims[i];
        chunk[i + 1] = i == 0 ? record_dims[i] : 1;
    }

    hid_t dataset = -1;
    hid_t space = H5Screate_simple(record_rank + 1, dims, limits);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    bool ready = space >= 0 && properties >= 0 &&
                 H5Pset_chunk(properties, record_rank + 1, chunk) >= 0 &&
                 H5Pset_obj_track_times(properties, false) >= 0;
    // bytes of equal weight side by side, packed, with a checksum; a library without zlib goes without packing
    if (ready && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        ready = H5Pset_shuffle(properties) >= 0 && H5Pset_deflate(properties, DEFLATE_LEVEL) >= 0;
    if (ready && H5Pset_fletcher32(properties) >= 0)
        dataset = H5Dcreate2(file, path, integer ? H5T_STD_I64LE : H5T_IEEE_F64LE, space,
                             H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0) H5Pclose(properties);
    if (space >= 0) H5Sclose(space);
    return dataset;
}

bool hdf5_has_chunks(hid_t dataset, size_t chunk_records, size_t number_count)
{
    hsize_t chunk[RANK_MAX] = {0}, count = 1;
    hid_t properties = H5Dget_create_plist(dataset);
    if (properties < 0) return false;
    bool chunked = H5Pget_layout(properties) == H5D_CHUNKED;
    int rank = chunked ? H5Pget_chunk(properties, RANK_MAX, chunk) : 0;
    H5Pclose(properties);
    for (int i = 0; i < rank; ++i) count *= chunk[i];
    return rank > 0 && chunk[0] == chunk_records && count == number_count;
}

/// Dimensions of a series; returns its rank, or 0 on failure.
static int series_dims(hid_t dataset, hsize_t dims[RANK_MAX])
{
    hid_t space = H5Dget_space(dataset);
    if (space < 0) return 0;
    int rank = H5Sget_simple_extent_ndims(space);
    bool known = rank >= 1 && rank <= RANK_MAX && H5Sget_simple_extent_dims(space, dims, NULL) >= 0;
    H5Sclose(space);
    return known ? rank : 0;
}

bool hdf5_grow_series(hid_t dataset, hsize_t count)
{
    hsize_t dims[RANK_MAX] = {0};
    if (series_dims(dataset, dims) == 0) return false;
    if (dims[0] >= count) return true;
    dims[0] = count;
    return H5Dset_extent(dataset, dims) >= 0;
}

// Select records [start, start + count) in the file and in memory; true when both spaces are there.
static bool select_records(hid_t dataset, hsize_t start, hsize_t count, hid_t *file, hid_t *memory)
{
    hsize_t dims[RANK_MAX] = {0}, offset[RANK_MAX] = {start};
    int rank = series_dims(dataset, dims);
    dims[0] = count;
    *file = rank > 0 ? H5Dget_space(dataset) : -1;
    *memory = *file >= 0 ? H5Screate_simple(rank, dims, NULL) : -1;
    return *memory >= 0 &&
           H5Sselect_hyperslab(*file, H5S_SELECT_SET, offset, NULL, dims, NULL) >= 0;
}

static void close_spaces(hid_t file, hid_t memory)
{
    if (memory >= 0) H5Sclose(memory);
    if (file >= 0) H5Sclose(file);
}

bool hdf5_write_records(hid_t dataset, hsize_t start, hsize_t count, const double *values)
{
    hid_t file, memory;
    bool written = select_records(dataset, start, count, &file, &memory) &&
                   H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, values) >= 0;
    close_spaces(file, memory);
    return written;
}

bool hdf5_read_records(hid_t dataset, hsize_t start, hsize_t count, double *values)
{
    hid_t file, memory;
    bool read = select_records(dataset, start, count, &file, &memory) &&
                H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, values) >= 0;
    close_spaces(file, memory);
    return read;
}

// Numbers as the file stores them: both of its types have eight bytes.
static bool convert_numbers(hid_t dataset, double *numbers, size_t count)
{
    hid_t type = H5Dget_type(dataset);
    bool converted =
        type >= 0 && H5Tconvert(H5T_NATIVE_DOUBLE, type, count, numbers, NULL, H5P_DEFAULT) >= 0;
    if (type >= 0) H5Tclose(type);
    return converted;
}

bool hdf5_write_plain_chunk(hid_t dataset, const hdf5_chunk *chunk)
{
    const uint32_t all_filters = UINT32_MAX; // left out
    return convert_numbers(dataset, chunk->numbers, chunk->number_count) &&
           H5Dwrite_chunk(dataset, H5P_DEFAULT, all_filters, chunk->offset,
                          chunk->number_count * sizeof(double), chunk->numbers) >= 0;
}

bool hdf5_write_packed_chunk(hid_t dataset, const hdf5_chunk *chunk, packer *by)
{
    size_t size = 0;
    if (!convert_numbers(dataset, chunk->numbers, chunk->number_count)) return false;
    const void *packed =
        packer_pack(by, chunk->numbers, chunk->number_count, chunk->record_width, &size);
    return H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, chunk->offset, size, packed) >= 0;
}
