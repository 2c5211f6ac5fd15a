// SPDX-License-Identifier: MIT
// The table of reductions.
#include "reductions/reduction.h"

const reduction_type *reduction_type_of(hn_reduction kind)
{
    static const reduction_type *const types[HN_REDUCTION_COUNT] = {
        [HN_REDUCTION_REDUCED] = &reduction_reduced,
        [HN_REDUCTION_NULLSPACE] = &reduction_nullspace,
        [HN_REDUCTION_MULTIPLIERS] = &reduction_multipliers,
    };
    return types[kind];
}
