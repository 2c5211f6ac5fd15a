// SPDX-License-Identifier: MIT
// A study seen from inside: what its file says, and where its outputs are found.
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include <holonom/study.h>

#include "base/context.h"
#include "io/units.h"

typedef enum value_source {
    VALUES_GRID,    ///< all combinations with other grids
    VALUES_LIST,    ///< entry by entry, together with other lists
    VALUES_UNIFORM, ///< first to second
    VALUES_NORMAL,  ///< mean, deviation
    VALUES_CHOICE,  ///< one of some values, each with its probability
} value_source;

typedef struct study_parameter {
    char *name;
    value_source source;
    int count;
    double *values;     ///< count; of distributions: two numbers, or those to choose from
    double *cumulative; ///< choice: probabilities summed up
    int dimension;      ///< place among those that are drawn
    unit_guess unit;    ///< that of the model's
} study_parameter;

typedef enum sampling_method { SAMPLING_RANDOM, SAMPLING_LATIN, SAMPLING_SOBOL } sampling_method;

/// What is kept of a quantity.
typedef enum output_kind {
    OUTPUT_AT,          ///< its value at a time
    OUTPUT_MINIMUM,
    OUTPUT_MAXIMUM,
    OUTPUT_MEAN,        ///< over time
    OUTPUT_INTEGRAL,    ///< over time, by the trapezoidal rule
    OUTPUT_FIRST_ABOVE, ///< when it first rises above a level (s), straight between steps; NAN: never
    OUTPUT_FIRST_BELOW,
} output_kind;

enum { QUANTITY_NAME_SIZE = 256 };

/// One number of a row.
typedef struct study_output {
    char *name;
    char unit[24];
    char field[48];  ///< of hn_simulation_view
    char column[QUANTITY_NAME_SIZE]; ///< its name among the field's
    size_t number;   ///< which of the field's in the model as it is; members may have it elsewhere
    output_kind kind;
    double argument; ///< s for `at` (negative: the end), otherwise the level
} study_output;

/// Numbers that count as failure.
typedef struct study_limit {
    int output;
    double above, below; ///< infinite: no limit
} study_limit;

/// A setting of members, as text.
typedef struct study_setting {
    char *name, *value;
} study_setting;

struct hn_study {
    hn_context *context;
    char *name, *text, *model_text, *model_name;
    char *sources[2]; ///< paths of the model and the table, as far as they are files
    int source_count;
    size_t text_length, model_length;
    uint64_t identity;
    int64_t member_count;
    study_parameter *parameters;
    int parameter_count;
    int64_t grid_count, list_count, draw_count; ///< whose product the number of members is
    int dimension_count;
    sampling_method method;
    uint64_t seed;
    uint32_t *orders; ///< Latin hypercube: a random order per dimension
    study_output *outputs;
    int output_count;
    study_limit *limits;
    int limit_count;
    bool ledger_counts; ///< a promise that is not kept is a failure
    study_setting *settings; ///< of the study's own `run`, over those of the model
    int setting_count;
    double own_step, own_end; ///< s; 0: as the model says
    hn_simulation_def def; ///< of the model as it is
    double end; ///< s, likewise
};

/// Read the file's text; `model` NULL: the file that the study names.
hn_status study_read(hn_study *study, const char *file, const char *model, size_t model_length);

/// How a model of the study runs: what its `run` says, and over that what the study's does.
hn_status study_settings(hn_context *context, const hn_study *study, const hn_model *model, hn_simulation_def *def,
                         double *end);

/// Where a number stands in a simulation.
typedef struct study_quantity {
    const double *number;
    const double *valid; ///< zero while it does not exist; NULL: no such condition
    bool of_step;        ///< it exists after the first step
} study_quantity;

/// Find an output in a simulation of a member. @return HN_OK, HN_INVALID_ARGUMENT (it has no such number)
hn_status study_quantity_find(hn_context *context, const hn_model *model, hn_simulation *simulation,
                              const study_output *output, study_quantity *quantity);
bool study_quantity_exists(const study_quantity *quantity, const hn_simulation *simulation);

/// Order what is drawn, count members.
hn_status study_prepare_samples(hn_study *study);

#endif
