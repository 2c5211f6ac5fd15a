// SPDX-License-Identifier: MIT
// Steps so long that the first iterate says little about the solution, by one rule for all reductions.
// Note: docs/theory/energy-momentum.md
//
// From there the way of an iteration, and which of several solutions it finds, depends on the unknowns it moves in. A
// step whose solution is far from where the velocities lead, or that took many iterations, or fails, is therefore
// solved by one reduction whatever that of the run, from what the state alone determines: with its velocities, and at
// rest where that does not decide it. Where both find the same, that is the step, and the reduction solves its own
// equations from there; where they differ the step has several solutions and is made in halves. The one is `reduced`,
// or `multipliers` first where heavy bodies hang from light ones: a turn of the light one moves the heavy one on a
// curve, and along it `reduced` does not get far.
#include "simulation/long_steps.h"

#include "simulation/both_levels.h"
#include "system/mass.h"

#include <string.h>

// Newton's method from nearer than this knows one solution only: how far it is from where velocities lead. That
// is the same for all reductions; increments on the way are others in each, and say only where there is nothing to ask.
static const double NEAR = 0.1, CLOSE = 0.01; // rad, m over the body's length
// An iteration that takes longer has wandered: round-off decides where it ends.
enum { ITERATIONS_STRAIGHT = 10 };
// One that takes more than these was not near in the first place, however small its increments.
enum { ITERATIONS_PROMPT = 5 };
// Sweeps over both levels count the iterations of all of them: more where each gains few digits.
enum { SWEPT_PROMPT = 10 };
static const double REGULAR = 0.1; // sine of the angle between constraints of loops
static const double SAME = 1e-6;   // likewise: by which two ways to one solution may differ

// A body that is so many times as heavy as the one it hangs from, or at a joint that closes a loop.
static const double HEAVY = 30.0;

static bool is_heavy_on_light(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        int p = system->parent[i];
        if (p >= 0 && mass_weight(system, i) > HEAVY * mass_weight(system, p)) return true;
    }
    for (int k = 0; k < system->cut_count; ++k) {
        int a = system->cuts[k].parent, b = system->cuts[k].child;
        if (a < 0 || b < 0) continue;
        double one = mass_weight(system, a), other = mass_weight(system, b);
        if (fmax(one, other) > HEAVY * fmin(one, other)) return true;
    }
    return false;
}

hn_status long_steps_create(hn_simulation *s)
{
    const reduction_type *kinds[LONG_STEP_SOLVERS] = {&reduction_multipliers, &reduction_reduced};
    int first = is_heavy_on_light(s->system) ? 0 : 1;
    for (int k = first; k < LONG_STEP_SOLVERS; ++k) {
        long_step_solver *to = &s->long_steps[s->long_step_count++];
        *to = (long_step_solver){.kind = kinds[k], .reduction = s->reduction};
        if (kinds[k] == s->reduction_kind) continue;
        to->reduction = NULL;
        TRY(kinds[k]->create(s->system, &to->reduction));
    }
    return HN_OK;
}

void long_steps_destroy(hn_simulation *s)
{
    for (int k = 0; k < s->long_step_count; ++k)
        if (s->long_steps[k].kind != s->reduction_kind)
            s->long_steps[k].kind->destroy(s->long_steps[k].reduction);
}

// Schemes with momenta have limits near which their steps have two solutions. `generalized-alpha` has none, and what it
// finds from rest would depend on the frame: it is what velocities lead to.
static bool follows_rule(const hn_simulation *s)
{
    return s->scheme->may_halve || s->scheme->impetus_is_momentum;
}

// Near singular positions of loops roots are double: many iterations say nothing. Reductions eliminate rows in orders
// of their own and meet other angles: one order for all.
static bool is_regular(hn_simulation *s, const solved_step *step)
{
    saddle_choice choice;
    if (s->system->cut_count == 0 || s->projection == NULL) return true;
    return saddle_choose_rows(s->projection, step->q_start, &choice) == HN_OK &&
           choice.smallest_kept > REGULAR * REGULAR;
}

// Increments until one was small: those after it take away what is left of residuals.
static int iterations_of(const newton_report *n)
{
    return n->iterations - n->lagging - (n->small > 1 ? n->small - 1 : 0);
}

bool long_steps_seem(hn_simulation *s, const solved_step *step)
{
    const newton_report *n = &s->newton;
    bool heavy = s->long_step_count > 1, prompt = iterations_of(n) <= ITERATIONS_PROMPT;
    // whether sweeps converge hangs on the reduction where they gain little
    if (s->scheme->both_levels) return iterations_of(n) > SWEPT_PROMPT;
    if (!heavy && !follows_rule(s)) {
        // one iteration more or less is a matter of the unknowns
        bool last = iterations_of(n) == ITERATIONS_PROMPT && n->largest > CLOSE;
        return !prompt || (last && predict_distance(s, step) > NEAR);
    }
    if (!heavy) return n->largest > CLOSE && predict_distance(s, step) > NEAR;
    // where heavy bodies hang from light ones there may be two solutions near the velocities
    if (n->largest > CLOSE || predict_distance(s, step) > CLOSE) return true;
    return !prompt && is_regular(s, step);
}

bool long_steps_pass_unseen(hn_simulation *s, const solved_step *step)
{
    if (s->hold_count == 0 || s->scheme->solver_step != NULL) return false;
    if (s->scheme->both_levels && iterations_of(&s->newton) > SWEPT_PROMPT) return true;
    return predict_distance(s, step) > (s->long_step_count > 1 ? CLOSE : NEAR);
}

// Does the solution keep the balance of energy? Constraint forces with rows in the middle of the step do no work on its
// increments, Delta . G(q_mid)^T lambda = lambda . (g(q_n+1) - g(q_n)): Delta . rho vanishes. Iterations from afar
// find positions where joints are flat in the middle, the null space matrix loses rank, and the equations hold emptily:
// a light link that swung by 162 degrees had the energy of its mechanism wrong by 94 per cent so.
static bool does_no_work(hn_simulation *s, const solved_step *step)
{
    const double NONE = 1e-9,
                 ROUND_OFF = DBL_EPSILON; // of all terms; of places, all that moves a body at rest
    const hn_system *system = s->system;
    const step_equations *e = &step->equations;
    double gravity = fabs(e->force_factor) * vec3_norm(system->gravity);
    if (e->weight != 0.5) return true;
    memset(s->next_works, 0, (size_t)system->mechanism_count * sizeof(double));
    memset(s->terms, 0, (size_t)system->mechanism_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double rho[POSE_SIZE], work = 0.0, size = 0.0, lost = 0.0;
        const double *inertia = mass_node(system, i);
        step_residual(system, e, &step->data, i, rho);
        for (int k = 0; k < POSE_SIZE; ++k) {
            double way = fabs(step->data.delta[at + (size_t)k]), mass = inertia[k / 3],
                   rounded = ROUND_OFF * fabs(step->data.q[at + (size_t)k]),
                   terms = fabs(e->momentum[at + (size_t)k]) + fabs(e->mass_factor) * mass * way +
                           fabs(step->data.force[at + (size_t)k]) + (k < 3 ? mass * gravity : 0.0);
            work += rho[k] * step->data.delta[at + (size_t)k];
            size += terms * way;
            lost += terms * rounded;
        }
        s->next_works[system->mechanism[i]] += work;
        s->terms[system->mechanism[i]] += NONE * size + lost;
    }
    for (int m = 0; m < system->mechanism_count; ++m)
        if (!(fabs(s->next_works[m]) <= s->terms[m])) return false;
    return true;
}

// By another reduction than that of the run.
static hn_status solve_by_other(hn_simulation *s, const long_step_solver *by, solved_step *step,
                                const newton_options *options, step_guess guess)
{
    if (s->scheme->both_levels) return both_levels_solve_again(s, step, options, guess);
    predict_step(s, by->kind, step, guess);
    TRY(simulation_solve_plain(s, step, options));
    if (iterations_of(&s->newton) > ITERATIONS_STRAIGHT ||
        !simulation_step_is_sound(s, step, step->equations.weight != 0.5))
        return HN_NOT_CONVERGED;
    TRY(simulation_solve_lags(s, step, options));
    step_element_forces(s->system, &step->equations, &step->data);
    return does_no_work(s, step) ? HN_OK : HN_NOT_CONVERGED;
}

static hn_status solve(hn_simulation *s, const long_step_solver *by, solved_step *step,
                       const newton_options *options, step_guess guess)
{
    const reduction_type *kind = s->reduction_kind;
    reduction *own = s->reduction;
    s->reduction_kind = by->kind;
    s->reduction = by->reduction;
    hn_status status = solve_by_other(s, by, step, options, guess);
    s->reduction_kind = kind;
    s->reduction = own;
    return status;
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

static void begin_joints(const hn_system *system, solved_step *step)
{
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        step->data.joints[i] = (joint_step){0};
        joint_type_of(j->kind)->begin(j, system_pose(step->q_start, j->parent),
                                      system_pose(step->q_start, i), &step->data.joints[i]);
    }
}

// The reduction's own equations, from the solution that was found.
static hn_status solve_own(hn_simulation *s, const long_step_solver *by, solved_step *step,
                           const newton_options *options, step_guess guess)
{
    if (s->reduction_kind == by->kind) return HN_OK;
    // joint coordinates of the solution are not known: the next step is predicted without it
    step->foreign = s->reduction_kind->joint_prediction;
    if (step->foreign) return HN_OK;
    if (s->scheme->both_levels) {
        // sweeps of another reduction end at the same velocities; joints as its own would have left them
        begin_joints(s->system, step);
        return HN_OK;
    }
    int iterations = s->newton.iterations;
    memcpy(s->other_q, step->data.q, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    hn_status status = simulation_solve_plain(s, step, options);
    if (status == HN_OK) status = simulation_solve_lags(s, step, options);
    s->newton.iterations += iterations;
    if (status == HN_OK && is_same(s->system, &step->data, s->other_q)) return HN_OK;
    // all the same it is a solution: the equations line of the ledger tells how good a one
    return solve(s, by, step, options, guess);
}

// By one solver; `ambiguous` where it finds two solutions, and then HN_NOT_CONVERGED where halves are better.
static hn_status solve_by(hn_simulation *s, const long_step_solver *by, solved_step *step,
                          const newton_options *options)
{
    const hn_system *system = s->system;
    hn_status moving = solve(s, by, step, options, GUESS_VELOCITIES);
    // near the velocities, and prompt: there is no other one
    int prompt = s->scheme->both_levels ? SWEPT_PROMPT : ITERATIONS_PROMPT;
    bool promptly = iterations_of(&s->newton) <= prompt;
    if (moving == HN_OK && promptly && predict_distance(s, step) <= NEAR)
        return solve_own(s, by, step, options, GUESS_VELOCITIES);
    if (!follows_rule(s))
        return moving == HN_OK ? solve_own(s, by, step, options, GUESS_VELOCITIES) : moving;
    if (moving == HN_OK)
        memcpy(s->other_q, step->data.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    hn_status at_rest = solve(s, by, step, options, GUESS_REST);
    bool same = moving == HN_OK && at_rest == HN_OK && is_same(system, &step->data, s->other_q);
    if (moving == HN_OK && at_rest == HN_OK && !same) {
        s->ambiguous = true;
        if (s->scheme->may_halve && s->def.halvings_max > 0) {
            s->newton.gave_up = GAVE_UP_CHOICE;
            return HN_NOT_CONVERGED;
        }
    }
    // velocities lead a body that turns far in a step astray: h|omega| = 7 of a spinning top converges from rest
    if (same || (moving != HN_OK && at_rest == HN_OK))
        return solve_own(s, by, step, options, GUESS_REST);
    if (moving != HN_OK) return moving;
    TRY(solve(s, by, step, options, GUESS_VELOCITIES));
    return solve_own(s, by, step, options, GUESS_VELOCITIES);
}

hn_status long_steps_solve(hn_simulation *s, solved_step *step, const newton_options *options)
{
    hn_status status = HN_NOT_CONVERGED;
    bool known = s->ambiguous;
    s->ambiguous = false;
    for (int k = 0; k < s->long_step_count && status != HN_OK && !s->ambiguous; ++k)
        status = solve_by(s, &s->long_steps[k], step, options);
    s->ambiguous = s->ambiguous || known;
    return status;
}
