// SPDX-License-Identifier: MIT
// Models drawn at random: joints, loops, springs, dampers, loads, masses over twelve decades; the same for a seed on
// any machine.
#ifndef TESTS_RANDOM_MODEL_H
#define TESTS_RANDOM_MODEL_H

#include <holonom/model.h>

/// A stream of numbers that a seed and an index determine (splitmix64).
typedef struct draw {
    uint64_t state;
} draw;

draw draw_create(uint64_t seed, uint64_t index);
double draw_uniform(draw *d, double low, double high);
double draw_decades(draw *d, double low, double high); ///< 10 to a uniform power
int draw_below(draw *d, int count);
bool draw_chance(draw *d, double probability);
hn_vec3 draw_direction(draw *d);
hn_mat3 draw_rotation(draw *d);

typedef struct random_model {
    hn_model *model;
    double rate;       ///< 1/s, of the fastest motion that was asked for, roughly
    bool looped;
    char family[80];   ///< what it is, in words
} random_model;

/// Draw a model. @return HN_OK, or the status of the first element that was refused
hn_status random_model_create(hn_context *context, draw *d, random_model *out);

#endif
