// SPDX-License-Identifier: MIT
// Models with drives drawn at random: friction, stops, latches, motions, tables, servos, motors, couplings, impacts.
#ifndef TESTS_DRIVEN_MODEL_H
#define TESTS_DRIVEN_MODEL_H

#include "hunter/random_model.h"

typedef struct driven_model {
    hn_model *model;
    char family[120]; ///< what it is, in words
} driven_model;

/// Draw a model. @return HN_OK, or the status of the first element that was refused
hn_status driven_model_create(hn_context *context, draw *d, driven_model *out);

#endif
