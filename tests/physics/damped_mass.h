// SPDX-License-Identifier: MIT
// A point mass that runs away from a damper: m v' = -c v, for which schemes have closed forms.
#ifndef PHYSICS_DAMPED_MASS_H
#define PHYSICS_DAMPED_MASS_H

#include "support/check.h"

#include <math.h>

#include <holonom/holonom.h>

static const double DAMPED_MASS = 2.0; // kg

/// At x = 1 m with `speed` along x, a damper (N s/m) to the origin, no gravity.
static inline hn_model *damped_mass(hn_context *context, double speed, double damping, hn_body_id *body)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    hn_load_id id;
    def.name = "mass";
    def.kind = HN_BODY_POINT_MASS;
    def.mass = DAMPED_MASS;
    def.position = (hn_vec3){1.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_add_body(model, &def, body));
    CHECK_OK(context, hn_model_set_velocity(model, *body, (hn_vec3){speed, 0.0, 0.0}));
    hn_spring_def damper = hn_spring_def_default();
    damper.body_a = hn_ground();
    damper.body_b = *body;
    damper.point_b = def.position;
    damper.stiffness = 0.0;
    damper.damping = damping;
    CHECK_OK(context, hn_model_add_spring(model, &damper, &id));
    return model;
}

/// The rule of dampers on that mass (DF1) to (DF4), z = h c/m: v and what is owed over m, from step to step, for
/// schemes whose velocity is v + 2 (dx/h - v) at the end of a step.
typedef struct filtered_mass {
    double v, owed;
} filtered_mass;

static inline void filtered_step(filtered_mass *x, double z)
{
    double mean = (x->v + 0.5 * x->owed) / (1.0 + 0.5 * z); // over the step
    double part = pow(z / (1.0 + z), 4), end = 2.0 * mean - x->v;
    x->owed = part * (end - mean);
    x->v = end - x->owed;
}

#endif
