// SPDX-License-Identifier: MIT
// Force at a point of a body: F_phi = f, F_I = X_I f; its vector is fixed in space or turns with the body.
#include "elements/element.h"

static void force_load(const element *e, const element_step *step, element_output *out)
{
    double size = element_load_mean(e, step->load_begin, step->load_end);
    if (!e->body_fixed) {
        element_add(e->link, vec3_scale(-step->factor * size, e->vector), out);
        return;
    }
    // f = f_I d_I at the pose where loads act
    const double direction[8] = {0.0, 0.0, 0.0, 0.0, 0.0, e->vector.x, e->vector.y, e->vector.z};
    hn_vec3 start = vec3_combination(direction, step->a_start, step->b_start);
    hn_vec3 end = vec3_combination(direction, step->a, step->b);
    hn_vec3 f = vec3_add_scaled(vec3_scale(1.0 - step->weight, start), step->weight, end);
    element_add(e->link, vec3_scale(-step->factor * size, f), out);
    if (!step->want_terms || step->weight == 0.0) return;
    stiffness_term *term = element_next_term(out, e->link, direction);
    for (int i = 0; i < 3; ++i) term->c[i][i] = -step->factor * size * step->weight;
}

const element_type element_force = {
    .name = "force",
    .from_outside = true,
    .potential = element_no_potential,
    .gradient = element_no_gradient,
    .load = force_load,
};
