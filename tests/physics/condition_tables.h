// SPDX-License-Identifier: MIT
// Tables II, III and IV of Betsch and Leyendecker 2006: condition numbers of the iteration matrix as printed.
#ifndef TESTS_CONDITION_TABLES_H
#define TESTS_CONDITION_TABLES_H

enum { CONDITION_ROWS = 3 };

typedef struct condition_table {
    const char *title;
    const char *model;                  // models/<model>.yaml
    double time;                        // s, where the numbers are taken; the paper does not say
    double step_size[CONDITION_ROWS];   // s
    double constrained[CONDITION_ROWS]; // Lagrange multipliers
    double reduced[CONDITION_ROWS];     // discrete null space method with reparametrisation
} condition_table;

static const condition_table CONDITION_TABLES[] = {
    {"Table II, steady precession of a gyro top",
     "gyro-top",
     0.05,
     {5e-2, 5e-3, 5e-4},
     {1.6e4, 1.6e7, 1.6e10},
     {8.0, 8.0, 8.0}},
    {"Table III, cylindrical pair",
     "cylindrical-pair",
     0.1,
     {1e-2, 1e-3, 1e-4},
     {3.6e11, 3.6e14, 3.6e17},
     {360.0, 358.0, 358.0}},
    {"Table IV, planar pair",
     "planar-pair",
     0.03,
     {1e-2, 1e-3, 1e-4},
     {4.8e10, 4.6e13, 4.6e16},
     {730.0, 800.0, 800.0}},
};
enum { CONDITION_TABLE_COUNT = sizeof CONDITION_TABLES / sizeof CONDITION_TABLES[0] };

#endif
