// SPDX-License-Identifier: MIT
// Every setting of a run as attributes of a result file: written, read back, compared.
#ifndef IO_RESULTS_OPTIONS_H
#define IO_RESULTS_OPTIONS_H

#include "io/results_hdf5.h"

#include <holonom/results.h>

/// Write all settings as attributes of `group`.
bool options_write(hid_t group, const hn_simulation_def *simulation, const hn_results_def *results);

/// Read what the group has; a setting it does not have (older files) keeps the value it has in `simulation`, so start
/// from the defaults. False: an attribute is there, but is no such setting.
bool options_read(hid_t group, hn_simulation_def *simulation, hn_results_def *results);

/// The words that chose the series of the file, owned by the caller; NULL: it has all.
/// @return HN_OK, HN_OUT_OF_MEMORY, HN_FILE_FORMAT (without a message)
hn_status options_read_series(hid_t group, hn_context *context, char **words);

/// Name of the first setting in which two runs differ, or NULL.
const char *options_difference(const hn_simulation_def *one, const hn_simulation_def *other);

#endif
