// SPDX-License-Identifier: MIT
// How fast constraints change with given velocities: max |G(q) v|.
#include "base/processor.h"
#include "joints/pivot.h"
#include "system/mass.h"

static ALWAYS_INLINE double larger_of(double a, double b)
{
    return a > b ? a : b;
}

// gradient of a row times twelve velocities per body
static double rate_of(const constraint_row *row, const double *qa, const double *qb,
                      const double *va, const double *vb)
{
    hn_vec3 gradient[8];
    double sum = 0.0;
    row_gradient(row, qa, qb, gradient);
    for (int k = 0; k < 4; ++k) {
        sum += vec3_dot(gradient[k], vec3_load(va + 3 * k));
        sum += vec3_dot(gradient[4 + k], vec3_load(vb + 3 * k));
    }
    return sum;
}

// Does a row touch a vector without inertia? Momenta say nothing of its velocity (LMO 115).
static bool touches_massless(const hn_system *system, const constraint_row *row, int a, int b)
{
    for (int k = 0; k < 8; ++k) {
        int body = k < 4 ? a : b;
        if (body < 0 || (row->alpha[k] == 0.0 && row->beta[k] == 0.0)) continue;
        if (mass_node(system, body)[k % 4] == 0.0) return true;
    }
    return false;
}

static ALWAYS_INLINE bool has_massless(const hn_system *system, int body)
{
    if (body < 0) return false;
    const double *m = mass_node(system, body);
    return m[0] == 0.0 || m[1] == 0.0 || m[2] == 0.0 || m[3] == 0.0;
}

// Rates of the constraints of rigidity (row_internal), written out: d_I . v_J + d_J . v_I, half of it for I = J.
static ALWAYS_INLINE double internal_rates(const double *q, const double *v)
{
    double worst = 0.0;
    for (int i = 3; i < POSE_SIZE; i += 3)
        for (int k = i; k < POSE_SIZE; k += 3) {
            double rate = vec3_dot(vec3_load(q + i), vec3_load(v + k));
            if (i != k) rate += vec3_dot(vec3_load(q + k), vec3_load(v + i));
            worst = larger_of(worst, fabs(rate));
        }
    return worst;
}

// The same where a vector has no inertia.
static double massive_internal_rates(const double *inertia, const double *q, const double *v)
{
    double worst = 0.0;
    for (int i = 1; i < 4; ++i)
        for (int k = i; k < 4; ++k) {
            if (inertia[i] == 0.0 || inertia[k] == 0.0) continue;
            double rate = vec3_dot(vec3_load(q + 3 * i), vec3_load(v + 3 * k));
            if (i != k) rate += vec3_dot(vec3_load(q + 3 * k), vec3_load(v + 3 * i));
            worst = larger_of(worst, fabs(rate));
        }
    return worst;
}

// Rows one by one.
static double row_rates(const hn_system *system, const joint *j, const double *a, const double *b,
                        const double *va, const double *vb, bool of_momenta)
{
    double worst = 0.0;
    constraint_row row;
    for (int r = 0; r < j->row_count; ++r) {
        row = joint_row(j, r);
        if (of_momenta && touches_massless(system, &row, j->parent, j->child)) continue;
        worst = larger_of(worst, fabs(rate_of(&row, a, b, va, vb)));
    }
    return worst;
}

static ALWAYS_INLINE double pivot_rates(pivot_kind pivot, const joint *j, const double *a,
                                        const double *b, const double *va, const double *vb)
{
    hn_vec3 opening;
    double cosines[2];
    pivot_row_rates(pivot, j, a, b, va, vb, &opening, cosines);
    return larger_of(larger_of(fabs(opening.x), larger_of(fabs(opening.y), fabs(opening.z))),
                     larger_of(fabs(cosines[0]), fabs(cosines[1])));
}

static ALWAYS_INLINE double find_rates(const hn_system *system, const double *q, const double *v,
                                       bool of_momenta)
{
    static const double still[POSE_SIZE] = {0.0};
    double worst = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        if (system->bodies[i].internal_count == 0) continue;
        double own = of_momenta && has_massless(system, i)
                         ? massive_internal_rates(mass_node(system, i), q + at, v + at)
                         : internal_rates(q + at, v + at);
        worst = larger_of(worst, own);
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const pivot_kind pivot = joint_type_of(j->kind)->pivot;
        const double *a = system_pose(q, j->parent), *b = system_pose(q, j->child);
        const double *va = j->parent < 0 ? still : v + POSE_SIZE * (size_t)j->parent;
        const double *vb = j->child < 0 ? still : v + POSE_SIZE * (size_t)j->child;
        bool massless =
            of_momenta && (has_massless(system, j->parent) || has_massless(system, j->child));
        double own = pivot == PIVOT_NONE || massless
                         ? row_rates(system, j, a, b, va, vb, of_momenta)
                         : pivot_rates(pivot, j, a, b, va, vb);
        worst = larger_of(worst, own);
    }
    return worst;
}

static double rates_plain(const hn_system *system, const double *q, const double *v,
                          bool of_momenta)
{
    return find_rates(system, q, v, of_momenta);
}

FUSED_FORM static double rates_fused(const hn_system *system, const double *q, const double *v,
                                     bool of_momenta)
{
    return find_rates(system, q, v, of_momenta);
}

double system_constraint_rates(const hn_system *system, const double *q, const double *v,
                               bool of_momenta)
{
    return processor_fuses() ? rates_fused(system, q, v, of_momenta)
                             : rates_plain(system, q, v, of_momenta);
}
