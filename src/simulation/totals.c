// SPDX-License-Identifier: MIT
// One pass over the bodies, and one over the elements for their potentials.
#include "simulation/totals.h"

#include "base/processor.h"
#include "base/six.h"
#include "base/sum.h"
#include "simulation/simulation.h"
#include "system/mass.h"

// |omega| of a body with the angular momentum `spin`; of a point mass on a link of length L, |v|/L.
static double spin_of(const hn_system *system, const double *q, int body, hn_vec3 spin,
                      hn_vec3 momentum)
{
    if (!system->bodies[body].has_directors) {
        const joint *j = &system->joints[body];
        if (!(j->length > 0.0)) return 0.0;
        return vec3_norm(momentum) / (mass_node(system, body)[0] * j->length);
    }
    hn_vec3 l = pose_components(q, spin), moments = mass_moments(system, body);
    return vec3_norm(vec3(moments.x > 0.0 ? l.x / moments.x : 0.0,
                          moments.y > 0.0 ? l.y / moments.y : 0.0,
                          moments.z > 0.0 ? l.z / moments.z : 0.0));
}

static double spin_at(const hn_simulation *s, int body)
{
    const double *q = system_pose(s->state.q, body), *p = s->momenta + POSE_SIZE * (size_t)body;
    return spin_of(s->system, q, body, force_moment(q, p), vec3_load(p));
}

// Does a rigid body with the angular momentum `spin` turn no faster than `rate`? No quotients: false where it is not
// known that way.
static ALWAYS_INLINE bool is_slower(const hn_system *system, const double *q, int body,
                                    hn_vec3 spin, double rate)
{
    hn_vec3 l = pose_components(q, spin), j = mass_moments(system, body);
    double yz = j.y * j.z, xz = j.x * j.z, xy = j.x * j.y, bound = rate * j.x * yz;
    hn_vec3 scaled = vec3(l.x * yz, l.y * xz, l.z * xy);
    return system->bodies[body].has_directors && bound > 0.0 &&
           vec3_dot(scaled, scaled) <= bound * bound;
}

// p^T M^-1 p of one body; a vector without inertia has no momentum.
static ALWAYS_INLINE double twice_kinetic(const double *m, const double *p, const double *own)
{
    double square[4], twice = 0.0;
    for (int k = 0; k < 4; ++k) square[k] = vec3_dot(vec3_load(p + 3 * k), vec3_load(own + 3 * k));
    if (m[0] > 0.0 && m[1] > 0.0 && m[2] > 0.0 && m[3] > 0.0) {
        pair sum = (pair){square[0], square[1]} / pair_load(m) +
                   (pair){square[2], square[3]} / pair_load(m + 2);
        return sum[0] + sum[1];
    }
    for (int k = 0; k < 4; ++k)
        if (m[k] > 0.0) twice += square[k] / m[k];
    return twice;
}

static ALWAYS_INLINE state_totals sum_bodies(const hn_simulation *s, exact_sum *weights)
{
    const hn_system *system = s->system;
    const double *poses = s->state.q, *momenta = s->momenta, *own = s->own_momenta;
    const hn_vec3 gravity = system->gravity;
    exact_sum kinetic = {0}, potential = {0};
    // the fastest body is mostly the one of the last time: of the others it is then known that they are slower
    state_totals t = {.fastest_body = s->observed.totals.fastest_body};
    t.fastest = spin_at(s, t.fastest_body);
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = system_pose(poses, i), *p = momenta + POSE_SIZE * (size_t)i;
        const hn_vec3 place = pose_center(q), momentum = vec3_load(p);
        sum_add(&kinetic,
                0.5 * twice_kinetic(mass_node(system, i), p, own + POSE_SIZE * (size_t)i));
        sum_add(&potential, -mass_weight(system, i) * vec3_dot(gravity, place));
        hn_vec3 spin = vec3(0.0, 0.0, 0.0);
        if (system->bodies[i].has_directors) spin = force_moment(q, p);
        double turns = vec3_norm(spin), size = vec3_norm(momentum);
        if (!is_slower(system, q, i, spin, t.fastest)) {
            double rate = spin_of(system, q, i, spin, momentum);
            if (rate > t.fastest) t.fastest = rate, t.fastest_body = i;
        }
        t.linear = vec3_add(t.linear, momentum);
        t.angular = vec3_add(t.angular, vec3_add(spin, vec3_cross(place, momentum)));
        for (int k = 0; k < 3; ++k) t.distance = worse_of(t.distance, fabs(q[k]));
        t.linear_size += size;
        const double arm = vec3_norm(vec3_subtract(place, s->symmetries.point));
        t.angular_size += arm * size + turns;
        t.arm = worse_of(t.arm, arm);
    }
    t.kinetic = sum_total(&kinetic);
    *weights = potential;
    return t;
}

static state_totals sum_plain(const hn_simulation *s, exact_sum *weights)
{
    return sum_bodies(s, weights);
}

FUSED_FORM static state_totals sum_fused(const hn_simulation *s, exact_sum *weights)
{
    return sum_bodies(s, weights);
}

void totals_find(const hn_simulation *s, state_totals *t)
{
    const hn_system *system = s->system;
    exact_sum potential;
    *t = processor_fuses() ? sum_fused(s, &potential) : sum_plain(s, &potential);
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        sum_add(&potential,
                element_energy(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b),
                               system_third(e, s->state.q), s->angles));
    }
    t->potential = sum_total(&potential);
}
