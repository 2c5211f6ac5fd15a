// SPDX-License-Identifier: MIT
// Table 1 of Leyendecker, Marsden and Ortiz 2008 as printed: the six-body linkage, two schemes, two formulations.
#ifndef TESTS_LINKAGE_TABLE_ONE_H
#define TESTS_LINKAGE_TABLE_ONE_H

#include <holonom/holonom.h>

enum { TABLE_ONE_ROWS = 3, TABLE_ONE_COLUMNS = 4 };

typedef struct table_one_column {
    const char *title;
    hn_scheme scheme;
    hn_reduction reduction;
    int unknowns;
    double cpu_time; // ratios
    double condition[TABLE_ONE_ROWS];
} table_one_column;

static const double TABLE_ONE_STEP[TABLE_ONE_ROWS] = {1e-2, 1e-3, 1e-4};

// The instant is not given; that of Betsch and Leyendecker's Table V is taken. One digit is printed. With the papers'
// rows and six bodies 1.62e5, 1.51e8, 1.51e11 and 5.6e4, 3.8e7, 3.8e10 are found without the row of hinge 1: the
// printed digits if the others were cut off, not rounded. At the largest step it matters which row is left out: 1.54e5
// to 1.62e5, and 4.5e4 to 5.9e4, below 5e4 for hinges 3 to 5. Five bodies give at most 1.17e5, 1.00e8, 0.99e11 and
// 4.9e4, 2.5e7, 2.5e10.
//
// their symplectic-momentum scheme is `variational`; d'Alembert is the discrete null space method
static const table_one_column TABLE_ONE[TABLE_ONE_COLUMNS] = {
    {"e-m, constrained",
     HN_SCHEME_ENERGY_MOMENTUM,
     HN_REDUCTION_MULTIPLIERS,
     143,
     2.0,
     {1e5, 1e8, 1e11}},
    {"e-m, d'Alembert", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1, 2.0, {1.0, 1.0, 1.0}},
    {"sympl., constrained",
     HN_SCHEME_VARIATIONAL,
     HN_REDUCTION_MULTIPLIERS,
     143,
     1.0,
     {5e4, 3e7, 3e10}},
    {"sympl., d'Alembert", HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1, 1.0, {1.0, 1.0, 1.0}},
};

static inline bool column_is_constrained(const table_one_column *column)
{
    return column->reduction == HN_REDUCTION_MULTIPLIERS;
}

#endif
