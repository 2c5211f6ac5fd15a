// SPDX-License-Identifier: MIT
// Momenta mechanism by mechanism.
//
//   (H8)  L = x_c x P + L_rel,  L_rel = sum (x - x_c) x m (v - v_c) + rotations: from relative places and velocities;
//         free, no forces: L_rel is kept, in uniform gravity too
#include "simulation/mechanism_momenta.h"

#include "base/sum.h"
#include "simulation/simulation.h"
#include "system/mass.h"

#include <float.h>

// linear momentum of a body, and angular momentum about its centre of mass
static hn_vec3 body_momenta(const hn_simulation *s, int body, hn_vec3 *spin)
{
    double wrench[TWIST_SIZE];
    force_to_wrench(system_pose(s->state.q, body), s->momenta + POSE_SIZE * (size_t)body, wrench);
    bool turns = s->system->bodies[body].has_directors;
    *spin = turns ? vec3_load(wrench + 3) : vec3(0.0, 0.0, 0.0);
    return vec3_load(wrench);
}

static momentum_account *account_of(const hn_simulation *s, int body)
{
    return &s->parts[s->system->mechanism[body]].momentum;
}

static void clear_moment(momentum_account *a)
{
    a->linear = a->angular = a->first_moment = a->inner = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < MOMENTUM_KINDS; ++k) a->size[k] = 0.0;
}

static void measure(hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int m = 0; m < s->part_count; ++m) clear_moment(&s->parts[m].momentum);
    for (int i = 0; i < system->body_count; ++i) {
        momentum_account *a = account_of(s, i);
        hn_vec3 x = pose_center(system_pose(s->state.q, i)), spin, p = body_momenta(s, i, &spin);
        hn_vec3 place = vec3_subtract(x, s->part_symmetries[system->mechanism[i]].point);
        double mass = mass_node(system, i)[0], size = vec3_norm(p), arm = vec3_norm(place);
        a->linear = vec3_add(a->linear, p);
        a->angular = vec3_add(a->angular, vec3_add(spin, vec3_cross(place, p)));
        a->first_moment = vec3_add_scaled(a->first_moment, mass, x);
        a->size[MOMENTUM_LINEAR] += size;
        a->size[MOMENTUM_ANGULAR] += arm * size + vec3_norm(spin);
        a->distance = worse_of(a->distance, vec3_norm(x));
        a->arm = worse_of(a->arm, arm);
        a->speed = worse_of(a->speed, size / mass);
    }
    for (int i = 0; i < system->body_count; ++i) {
        momentum_account *a = account_of(s, i); // (H8)
        if (!a->free) continue;
        hn_vec3 x = pose_center(system_pose(s->state.q, i)), spin, p = body_momenta(s, i, &spin);
        double mass = mass_node(system, i)[0];
        hn_vec3 place = vec3_subtract(x, vec3_scale(1.0 / a->mass, a->first_moment));
        hn_vec3 own = vec3_subtract(p, vec3_scale(mass / a->mass, a->linear));
        a->inner = vec3_add(a->inner, vec3_add(spin, vec3_cross(place, own)));
        a->size[MOMENTUM_INNER] += vec3_norm(place) * vec3_norm(own) + vec3_norm(spin);
        a->radius = worse_of(a->radius, vec3_norm(place));
        a->inner_speed = worse_of(a->inner_speed, vec3_norm(own) / mass);
    }
}

static void note_change(momentum_account *a, momentum_kind kind, double change)
{
    a->drift[kind] = worse_of(a->drift[kind], fabs(change));
}

static void note(const symmetry_group *group, momentum_account *a, bool first)
{
    for (int k = 0; k < MOMENTUM_KINDS; ++k) a->drift[k] = 0.0;
    for (int k = 0; k < group->translation_count; ++k) {
        double map = vec3_dot(vec3_load(group->translations[k]), a->linear);
        if (first) a->start[k] = map;
        note_change(a, MOMENTUM_LINEAR, map - a->start[k]);
    }
    for (int k = 0; k < group->rotation_count; ++k) {
        hn_vec3 shift = vec3_load(group->rotations[k]), axis = vec3_load(group->rotations[k] + 3);
        double map = vec3_dot(shift, a->linear) + vec3_dot(axis, a->angular);
        double inner = vec3_dot(axis, a->inner), *start = &a->start[group->translation_count + k];
        double *inner_start = &a->inner_start[k < 3 ? k : 0];
        if (first) *start = map, *inner_start = inner;
        note_change(a, MOMENTUM_ANGULAR, map - *start);
        if (a->free && k < 3) note_change(a, MOMENTUM_INNER, inner - *inner_start);
    }
    for (int k = 0; k < MOMENTUM_KINDS; ++k) {
        a->error[k] = worse_of(a->error[k], a->drift[k]);
        a->scale[k] = worse_of(a->scale[k], a->size[k]);
    }
}

void mechanism_momenta_note(hn_simulation *s, bool first)
{
    if (s->part_count == 0) return;
    measure(s);
    for (int m = 0; m < s->part_count; ++m)
        note(&s->part_symmetries[m], &s->parts[m].momentum, first);
}

// Keep the worse of two verdicts. `floor`: round-off of coordinates; `still`: what it makes where nothing else moves.
static void judge(const momentum_account *a, momentum_kind kind, double floor, double still,
                  double bound, int body, double *worst_ratio, momentum_verdict *worst)
{
    const double NOTHING_ELSE = 100.0;
    double scale = a->scale[kind], error = a->error[kind];
    if (scale == 0.0 || (error <= still && scale <= NOTHING_ELSE * still)) return;
    double ratio = error / (bound * scale + floor);
    if (worst->first >= 0 && (ratio <= *worst_ratio || isnan(*worst_ratio))) return;
    *worst_ratio = ratio;
    *worst = (momentum_verdict){.error = error / scale,
                                .drift = a->drift[kind] / scale,
                                .scale = scale,
                                .floor = floor / scale,
                                .first = body,
                                .inner = kind == MOMENTUM_INNER};
}

void mechanism_momenta_verdict(const hn_simulation *s, bool angular, double bound,
                               momentum_verdict *verdict)
{
    const double ROUND_OFF = 8.0 * DBL_EPSILON;
    double worst_ratio = 0.0, steps = sqrt((double)s->step_count + 1.0);
    *verdict = (momentum_verdict){.first = -1};
    for (int m = 0; m < s->part_count; ++m) {
        const momentum_account *a = &s->parts[m].momentum;
        const symmetry_group *group = &s->part_symmetries[m];
        if ((angular ? group->rotation_count : group->translation_count) == 0) continue;
        int body = s->system->mechanism_first[m];
        double length = a->distance + s->system->unit_length[body];
        double rate = ROUND_OFF * (length / simulation_finest_step(s) + a->speed),
               p = a->mass * rate;
        if (!angular) {
            judge(a, MOMENTUM_LINEAR, 0.0, p * steps, bound, body, &worst_ratio, verdict);
            continue;
        }
        // about a point far from the origin, places are known no better than their distance from it
        double far = ROUND_OFF * a->mass * vec3_norm(group->point),
               arm = a->arm + s->system->unit_length[body],
               known = far * (arm / simulation_finest_step(s) + a->speed);
        judge(a, MOMENTUM_ANGULAR, known, (p * arm + known) * steps, bound, body, &worst_ratio,
              verdict);
        if (!a->free) continue;
        double reach = a->radius + s->system->unit_length[body];
        double floor = p * reach + a->mass * ROUND_OFF * length * a->inner_speed;
        judge(a, MOMENTUM_INNER, floor, floor * steps, bound, body, &worst_ratio, verdict);
    }
}
