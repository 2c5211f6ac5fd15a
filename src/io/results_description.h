// SPDX-License-Identifier: MIT
// The part of a result file that is known before the first record: model, options, names, shapes.
#ifndef IO_RESULTS_DESCRIPTION_H
#define IO_RESULTS_DESCRIPTION_H

#include "base/pool.h"
#include "io/results_hdf5.h"
#include "simulation/series.h"

#include <holonom/results.h>

/// Names of bodies or joints side by side, `width` bytes each, the rest zero.
typedef struct name_block {
    char *text;
    size_t width;
} name_block;

typedef struct results_description {
    hn_context *context;
    const hn_model *model;
    const hn_simulation *simulation;
    hn_simulation_def settings; ///< of the simulation
    hn_results_def run;
    series_extent extent;
    name_block body_names, joint_names;
    pool memory; ///< of the names, owned by whoever called description_gather
} results_description;

/// Count bodies, joints and coordinates and gather names; context, model and simulation are set before.
/// The names stay with the caller, also after a failure.
hn_status description_gather(results_description *description);

/// Write everything that is known before the first record. HN_OK with `*written` false: HDF5 failed.
hn_status description_write(const results_description *description, hid_t file, bool *written);

#endif
