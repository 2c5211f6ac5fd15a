// SPDX-License-Identifier: MIT
// How many numbers the series of a model have.
#ifndef IO_COLUMN_NAMES_H
#define IO_COLUMN_NAMES_H

#include "simulation/series.h"

#include <holonom/model.h>

/// What the widths of a model's series follow from.
series_extent column_names_extent(const hn_model *model);

#endif
