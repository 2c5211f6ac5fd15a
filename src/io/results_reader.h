// SPDX-License-Identifier: MIT
// A result file opened for reading, as seen by the files that read it and name its columns.
#ifndef IO_RESULTS_READER_H
#define IO_RESULTS_READER_H

#include "base/context.h"
#include "io/results_hdf5.h"
#include "simulation/series.h"

#include <holonom/results.h>

/// Strings of one length, each ended by a zero byte.
typedef struct string_list {
    char *text;
    size_t count;
    size_t stride; ///< bytes from one string to the next
} string_list;

/// A series that is in the file.
typedef struct reader_series {
    series_id id;
    hid_t dataset;
    hn_result_series about;
    char name[48]; ///< place in the file
} reader_series;

struct hn_result_file {
    hn_context *context;
    char *path;
    hid_t file;
    series_extent extent;
    hn_result_info info;
    char *version, *model_name, *scheme, *reduction; ///< texts of `info`
    char *model_text;
    char *series_words; ///< that chose the series; NULL: all
    string_list body_names, body_kinds, joint_names, joint_kinds;
    string_list coordinate_names, coordinate_units, coordinate_rate_units;
    int *coordinate_joint;   ///< coordinate_count
    hn_result_body *bodies;  ///< body_count
    hn_result_joint *joints; ///< joint_count
    hn_shape *shapes;        ///< of all bodies
    string_list load_names, load_kinds;
    hn_result_load *loads; ///< load_count
    double *load_profiles; ///< times of all loads, then their factors
    string_list beam_names, beam_element_names, drive_names, coupling_names;
    string_list output_names, output_components, output_units; ///< per number
    hn_result_beam *beams; ///< beam_count
    reader_series series[SERIES_COUNT];
    int series_count;
    char *name; ///< scratch for one column's name
    size_t name_size;
};

static inline const char *string_at(const string_list *list, size_t index)
{
    return list->text + index * list->stride;
}

#endif
