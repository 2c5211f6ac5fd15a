// SPDX-License-Identifier: MIT
// Steps so long that the first iterate says little about the solution, by one rule for all reductions.
// Note: docs/theory/energy-momentum.md
//
// From there the way of an iteration, and which of several solutions it finds, depends on the unknowns it moves in. A
// step whose first increment is large, or that fails, is therefore solved by `reduced` whatever the reduction, from
// what the state alone determines: once at rest, once with its velocities. Where both find the same, that is the step,
// and the reduction solves its own equations from there; where they differ the step has several solutions and is made
// in halves.
#include "simulation/long_steps.h"

#include <string.h>

// Newton's method from nearer than this knows one solution only.
static const double NEAR = 0.1; // rad, m over the body's length
// An iteration that takes longer has wandered: round-off decides where it ends.
enum { ITERATIONS_STRAIGHT = 10 };
static const double SAME = 1e-6; // likewise: by which two ways to one solution may differ

// Schemes with momenta have limits near which their steps have two solutions. `generalized-alpha` has none, and what it
// finds from rest would depend on the frame: it follows the rule where its own iteration wandered.
static bool follows_rule(const hn_simulation *s)
{
    return s->scheme->may_halve || s->scheme->impetus_is_momentum;
}

bool long_steps_seem(const hn_simulation *s)
{
    bool wandered = s->newton.iterations > ITERATIONS_STRAIGHT;
    return (wandered || follows_rule(s)) && s->newton.largest > NEAR;
}

static hn_status solve(hn_simulation *s, solved_step *step, const newton_options *options,
                       step_guess guess)
{
    predict_step(s, &reduction_reduced, step, guess);
    step_element_forces(s->system, &step->equations, &step->data);
    s->newton = (newton_report){0};
    TRY(reduction_reduced.solve(s->long_steps, &step->equations, &step->data, options, &s->newton));
    bool straight = s->newton.iterations <= ITERATIONS_STRAIGHT;
    return straight && simulation_step_is_sound(s, step, true) ? HN_OK : HN_NOT_CONVERGED;
}

static bool is_same(const hn_system *system, const step_data *step, const double *q)
{
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double change[POSE_SIZE];
        for (size_t k = 0; k < POSE_SIZE; ++k) change[k] = step->q[at + k] - q[at + k];
        if (!(measure_pose(measure_length(system, i, step->q, step->delta), change) <= SAME))
            return false;
    }
    return true;
}

// The reduction's own equations, from the solution that was found.
static hn_status solve_own(hn_simulation *s, solved_step *step, const newton_options *options,
                           step_guess guess)
{
    if (s->reduction == s->long_steps) return HN_OK;
    newton_report found = s->newton;
    memcpy(s->other_q, step->data.q, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    s->newton = (newton_report){0};
    hn_status status =
        s->reduction_kind->solve(s->reduction, &step->equations, &step->data, options, &s->newton);
    s->newton.iterations += found.iterations;
    if (status == HN_OK && is_same(s->system, &step->data, s->other_q)) return HN_OK;
    // all the same it is a solution: the equations line of the ledger tells how good a one
    return solve(s, step, options, guess);
}

hn_status long_steps_solve(hn_simulation *s, solved_step *step, const newton_options *options)
{
    const hn_system *system = s->system;
    step_guess guess = GUESS_VELOCITIES;
    hn_status at_rest = solve(s, step, options, GUESS_REST);
    if (at_rest == HN_OK)
        memcpy(s->other_q, step->data.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    hn_status status = solve(s, step, options, guess);
    if (at_rest == HN_OK && status == HN_OK && !is_same(system, &step->data, s->other_q)) {
        s->ambiguous = true;
        if (s->scheme->may_halve && s->def.halvings_max > 0) return HN_NOT_CONVERGED;
    }
    // velocities lead a body that turns far in a step astray: h|omega| = 7 of a spinning top converges from rest
    if (status != HN_OK && at_rest == HN_OK && follows_rule(s))
        status = solve(s, step, options, guess = GUESS_REST);
    return status == HN_OK ? solve_own(s, step, options, guess) : status;
}
