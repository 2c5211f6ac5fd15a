// SPDX-License-Identifier: MIT
// Coefficients of symmetric compositions, with their sources and what they cost in docs/theory/composition.md (KO3).
#include "schemes/composition.h"

#include <math.h>
#include <stddef.h>

// Suzuki 1990: 1/(4 - 4^(1/3)) four times
static const double SUZUKI_5[] = {0.41449077179437573714, 0.41449077179437573714,
                                  -0.65796308717750294857};
// Sofroniou and Spaletta 2005
static const double SOFRONIOU_SPALETTA_11[] = {0.21375583945878254555, 0.18329381407425713911,
                                               0.17692819473098943795, -0.44329082681170215849,
                                               0.11728560432865935385, 0.50405474843802736404};
static const double SOFRONIOU_SPALETTA_21[] = {
    0.10647728984550031824,  0.10837408645835726397,  0.35337821052654342420,
    -0.23341414023165082199, -0.24445266791528841269, 0.11317848435755633315,
    0.11892905625000350063,  0.12603912321825988140,  0.12581718736176041804,
    0.11699135019217642181,  -0.38263596012643665351};

static const composition TABLE[] = {
    {4, 5, SUZUKI_5}, {6, 11, SOFRONIOU_SPALETTA_11}, {8, 21, SOFRONIOU_SPALETTA_21}};

const composition *composition_of_order(int order)
{
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; ++i)
        if (TABLE[i].order == order) return &TABLE[i];
    return NULL;
}

double composition_part(const composition *c, int stage)
{
    int mirrored = c->stage_count - 1 - stage;
    return c->first[stage < mirrored ? stage : mirrored];
}

double composition_smallest(const composition *c)
{
    double smallest = 1.0;
    for (int k = 0; k < c->stage_count; ++k)
        smallest = fmin(smallest, fabs(composition_part(c, k)));
    return smallest;
}

double composition_largest(const composition *c)
{
    double largest = 0.0;
    for (int k = 0; k < c->stage_count; ++k) largest = fmax(largest, fabs(composition_part(c, k)));
    return largest;
}
