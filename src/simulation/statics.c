// SPDX-License-Identifier: MIT
// Equilibria by Newton's method in load steps, and by relaxation where there is no path of loads.
// Notes: docs/theory/statics.md, docs/theory/energy-momentum.md
//
//   (Q1)  grad V(q) - f F(q) + G(q)^T lambda = 0,   g(q) = 0                        f: load factor
//   (Q2)  K = d/dq (grad V - f F + G^T lambda),     stable: K > 0 on the motions with G dq = 0
//   (Q3)  alpha M (q_k+1 - q_k) + grad V - f F + G^T lambda = 0                     relaxation, alpha -> 0
//
// (Q1) and (Q3) are steps (S1) with w = 1, solved by the same Newton iteration as those of any scheme.
#include "simulation/statics.h"

#include "base/array.h"
#include "base/sized.h"
#include "simulation/composed.h"
#include "simulation/not_finite.h"
#include "simulation/soft_motions.h"
#include "system/angles.h"
#include "system/mass.h"

#include <float.h>
#include <limits.h>
#include <string.h>

static const double TURN_MAX =
    2.0; // rad, extents in a load step: more is another equilibrium, not the next one
static const double JUMP = 8.0,
                    JUMP_LEAST = 0.02; // of the way by the load of the last step; rad, extents
static const double SMOOTH = 1.5;      // likewise: the path goes on as it came
static const double STILL = 1e-7;      // rad, extents: an equilibrium already, stable or not
static const double RESIDUAL_ENOUGH = 1e-16;
static const double NEUTRAL = 1e-12; // of the largest stiffness: no stiffness
static const double NEAR = 1e-10; // of the largest stiffness: eigenvalues beyond it are not zero,
static const double NEAR_HELD = 1e-6; // nor beyond this where relations hold
static const double MANY_BODIES = 20.0;
static const double ASYMMETRY = 1e-6; // of the largest force: loads without a potential
static const double ROUND_OFF =
    1e-6; // of the largest stiffness times the extent: forces below are no forces
static const double DEGREES = 57.29577951308232;
static const double BENT =
    0.89; // of the angle between nodes of a beam that an element can bear: near that
static const double TENSE = 0.9; // of the tension that an element of its length bears: near that
static const double STEP_GROWTH = 1.5;
enum { FEW_ITERATIONS = 8 }; // then the next load step may be longer

void hn_static_def_init(hn_static_def *def, size_t size)
{
    const hn_static_def known = {
        .size = size, .load_steps = 10, .cuts_max = 10, .iterations_max = 30, .tolerance = 1e-8};
    sized_fill(def, size, &known, sizeof known);
}

// ---- loads ------------------------------------------------------------------------------------------

static const hn_profile FULL = {.kind = HN_PROFILE_CONSTANT};

// What depends on the way there does not say where a model rests.
static hn_status check_drives(const hn_system *system)
{
    for (int i = 0; i < system->drive_count; ++i) {
        const drive_law *law = &system->laws[i];
        bool dry = law->kind == HN_DRIVE_FRICTION || law->rigid;
        if (dry || law->integral != 0.0)
            return context_fail(system->context, HN_INVALID_MODEL,
                                "drive '%s' is a %s%s: an equilibrium takes springs, efforts, "
                                "motors, motions, latches, stops with a stiffness, and servos "
                                "without integral gain",
                                system->elements[system->drive_first + i].name,
                                hn_drive_kind_name(law->kind),
                                law->rigid ? " with restitution"
                                : dry      ? ", which may rest at many places"
                                           : " with an integral gain");
    }
    return HN_OK;
}

// A latch that is open stays so on its side of its value.
static hn_status check_latches(const hn_simulation *s)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        const element *e = &s->system->elements[s->system->drive_first + i];
        const double *slots = s->angles + e->angle;
        if (e->law->kind != HN_DRIVE_LATCH || slots[DRIVE_MODE] != 0.0) continue;
        double x = e->law->sign * slots[DRIVE_COORDINATE];
        if (slots[DRIVE_INTEGRAL] * (x - e->law->latch) < 0.0) continue;
        return context_fail(s->context, HN_NOT_CONVERGED,
                            "drive '%s': on the way to the equilibrium joint '%s' passes %.9g, "
                            "where the latch locks; a run with dampers comes to rest there",
                            e->name, s->system->reports[e->joint].name, e->law->latch);
    }
    return HN_OK;
}

static hn_status take_loads(statics *x)
{
    hn_system *system = x->simulation->system;
    static_loads *l = &x->loads;
    size_t count = (size_t)system->element_count + 1;
    l->gravity = system->gravity;
    l->vectors = context_allocate(system->context, count * sizeof *l->vectors);
    l->written = context_allocate(system->context, count * sizeof *l->written);
    l->profiles = context_allocate(system->context, count * sizeof *l->profiles);
    if (l->vectors == NULL || l->written == NULL || l->profiles == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < system->element_count; ++i) {
        element *e = &system->elements[i];
        l->written[i] = e->vector;
        l->profiles[i] = e->profile;
        double size = e->profile == NULL || !x->def.at_time
                          ? 1.0
                          : profile_mean(e->profile, x->def.time, x->def.time);
        l->vectors[i] = vec3_scale(size, e->vector);
        if (e->profile != NULL) e->profile = &FULL;
    }
    return HN_OK;
}

void statics_set_loads(statics *x, double factor)
{
    hn_system *system = x->simulation->system;
    system->gravity = vec3_scale(factor, x->loads.gravity);
    for (int i = 0; i < system->element_count; ++i)
        system->elements[i].vector = vec3_scale(factor, x->loads.vectors[i]);
}

static void give_back_loads(statics *x)
{
    hn_system *system = x->simulation->system;
    static_loads *l = &x->loads;
    if (l->profiles != NULL) {
        system->gravity = l->gravity;
        for (int i = 0; i < system->element_count; ++i) {
            system->elements[i].vector = l->written[i];
            system->elements[i].profile = l->profiles[i];
        }
    }
    context_release(system->context, l->vectors);
    context_release(system->context, l->written);
    context_release(system->context, (void *)l->profiles);
}

// ---- one configuration ------------------------------------------------------------------------------

static step_equations rest_equations(const statics *x, double alpha)
{
    double time = x->def.at_time ? x->def.time : 0.0;
    const hn_simulation *s = x->simulation;
    return (step_equations){
        .step_size = s->def.step_size,
        .mass_factor = alpha,
        .row_factor = x->row_factor,
        .force_factor = 1.0,
        .multiplier_factor = 1.0,
        .weight = 1.0,
        .gradient_weight = 1.0,
        .damper_excess = -1.0, // dampers do not act
        .damper_middle = true,
        .at_rest = true,
        .time = time,
        .load_begin = time,
        .load_end = time,
        .reaction_time = hn_simulation_time(s),
        .momentum = s->steps[s->ahead].momentum,
    };
}

// What rotations are measured by where stiffnesses are compared: bodies may say more of their size than the model has.
static double turning_length(const statics *x)
{
    double length = x->extent;
    for (int i = 0; i < x->simulation->system->body_count; ++i)
        length = fmin(length, x->simulation->system->unit_length[i]);
    return length;
}

// The part of the largest stiffness that is none: it is added at every body, and what they have together is shared.
static double neutral_part(const statics *x)
{
    return NEUTRAL / fmax(1.0, x->simulation->system->body_count / MANY_BODIES);
}

// The step that is solved next, at rest at the current state.
static solved_step *rest_step(statics *x, double alpha)
{
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count * sizeof(double);
    solved_step *step = &s->steps[s->ahead];
    step->valid = step->joined = false;
    memcpy(step->q_start, s->state.q, size);
    memcpy(step->angle_start, s->angles, (size_t)system->angle_count * sizeof(double));
    memset(step->momentum, 0, size);
    memset(step->data.force, 0, size);
    memset(step->data.closure, 0, (size_t)system->cut_row_count * sizeof(double));
    step->equations = rest_equations(x, alpha);
    predict_step(s, s->reduction_kind, step, GUESS_REST);
    return step;
}

hn_status statics_assemble(statics *x, double shift)
{
    saddle_choice choice;
    saddle *rows = closed_system(x->solver);
    solved_step *step = rest_step(x, shift);
    TRY(saddle_choose_rows(rows, x->simulation->state.q, &choice));
    const hn_system *system = x->simulation->system;
    x->freedom = system->coordinate_count - system->constraint_count + choice.dropped_count -
                 x->border.hold_count;
    saddle_take_multipliers(rows, x->multipliers);
    saddle_assemble(rows, &step->equations, &step->data);
    return HN_OK;
}

// How far the bodies have moved in a step: rad, m over the extent of the model.
static double largest_move(const statics *x, int *body)
{
    const hn_system *system = x->simulation->system;
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const body_step *b = &step->data.bodies[i];
        double turn = 2.0 * atan(0.5 * vec3_norm(b->rotation)); // Cayley
        double size = fmax(vec3_norm(b->displacement) / x->extent,
                           system->bodies[i].has_directors ? turn : 0.0);
        if (!(size <= largest)) largest = size, *body = i;
    }
    return largest;
}

// Solve (Q3), or (Q1) with alpha = 0, from the current state into the next step.
static hn_status solve(statics *x, double alpha)
{
    hn_simulation *s = x->simulation;
    solved_step *step = rest_step(x, alpha);
    newton_options options = {.residual_tolerance = RESIDUAL_ENOUGH,
                              .increment_tolerance = x->def.tolerance,
                              .iterations_max = x->def.iterations_max,
                              .go_on = true};
    if (x->border.hold_count > 0) options.residual_tolerance = 0.0; // relations have none there
    s->newton = (newton_report){0};
    saddle_take_multipliers(closed_system(x->solver), x->multipliers);
    hn_status status = closed_solve(x->solver, &step->equations, &step->data, &options, &s->newton);
    x->found.iteration_count += s->newton.iterations;
    x->found.iteration_total += s->newton.iterations;
    if (status != HN_OK) return status;
    bool finite = isfinite(s->newton.residual) && isfinite(s->newton.increment);
    return finite ? HN_OK : HN_NOT_CONVERGED;
}

// Solve (Q1) from the current state. What nothing holds is kept where it is by a resistance too small to count, which a
// second solution from there makes smaller still.
static hn_status solve_rest(statics *x)
{
    return solve(x, x->held && x->border.hold_count == 0 ? 0.0 : NEUTRAL * x->row_factor);
}

// Efforts of what holds beside joints, of the step that was solved last
static void keep_hold_efforts(const statics *x)
{
    hn_simulation *s = x->simulation;
    const solved_step *step = &s->steps[s->ahead];
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        if (e->law != NULL)
            s->angles[e->angle + DRIVE_HOLD] = step->angle_start[e->angle + DRIVE_HOLD];
    }
}

hn_status statics_find_multipliers(statics *x)
{
    x->border.still = true; // closing a gap would take that stiffness
    hn_status status = solve(x, STATICS_STIFF * x->row_factor);
    x->border.still = false;
    if (status == HN_OK) {
        saddle_keep_multipliers(closed_system(x->solver), x->multipliers);
        keep_hold_efforts(x);
    } else if (status != HN_OUT_OF_MEMORY && status != HN_CANCELLED)
        status = context_fail(x->simulation->context, status,
                              "the forces in the joints cannot be found at this configuration");
    return status;
}

// Make the solved step the state.
static void accept(statics *x)
{
    hn_simulation *s = x->simulation;
    solved_step *step = &s->steps[s->ahead];
    step_element_forces(s->system, &step->equations, &step->data);
    step->valid = true;
    saddle_keep_multipliers(closed_system(x->solver), x->multipliers);
    turns_follow(s, step);
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        if (e->law == NULL) continue;
        double *slots = s->angles + e->angle;
        if (e->law->kind != HN_DRIVE_LATCH) slots[DRIVE_INTEGRAL] = 0.0;
        slots[DRIVE_ROTOR] = slots[DRIVE_POWER] = slots[DRIVE_WORK] = 0.0;
    }
    s->state.q = step->data.q;
    s->ahead = 1 - s->ahead;
    s->steps[s->ahead].valid = false;
    simulation_forget_derived(s);
}

// ---- what is found ----------------------------------------------------------------------------------

double statics_largest_bend(const hn_simulation *s, int *beam, int *place)
{
    const hn_system *system = s->system;
    double largest = 0.0, worst = 0.0;
    *beam = *place = -1;
    for (int b = 0; b < system->beam_count; ++b)
        for (int i = system->beam_first[b]; i < system->beam_first[b + 1]; ++i) {
            const element *e = &system->elements[i];
            double bend =
                beam_bend(e->beam, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b));
            double part = bend / beam_bend_large(e->beam);
            if (part <= worst && *beam >= 0) continue;
            worst = part, largest = bend, *beam = b, *place = i - system->beam_first[b];
        }
    return largest;
}

hn_beam_tension statics_largest_tension(const hn_simulation *s)
{
    const hn_system *system = s->system;
    hn_beam_tension worst = {.beam = -1, .element = -1};
    for (int b = 0; b < system->beam_count; ++b)
        for (int i = system->beam_first[b]; i < system->beam_first[b + 1]; ++i) {
            const element *e = &system->elements[i];
            const double *start = system_pose(s->state.q, e->a),
                         *end = system_pose(s->state.q, e->b);
            const bool quadratic = e->points != NULL;
            double strain[BEAM_STRAINS], resultant[BEAM_STRAINS];
            if (quadratic)
                beam_quadratic_resultants(e, start, end, system_third(e, s->state.q), strain,
                                          resultant);
            else beam_resultants(e->beam, start, end, strain, resultant);
            double ratio = beam_tension(e->beam, quadratic, strain, resultant);
            if (!(ratio > worst.ratio)) continue;
            int pieces = system->beam_first[b + 1] - system->beam_first[b];
            int count = quadratic ? pieces / 2 : pieces;
            double least = floor(count * sqrt(ratio)) + 1.0;
            worst = (hn_beam_tension){.ratio = ratio,
                                      .limit = beam_tension_limit(quadratic),
                                      .beam = b,
                                      .element = i - system->beam_first[b],
                                      .element_count = count,
                                      .least_count = (int)fmin(least, INT_MAX)};
        }
    return worst;
}

// The largest force of an element on a body, weights included; moments over the extent of the model, N.
static double largest_force(const statics *x, const solved_step *step)
{
    const hn_system *system = x->simulation->system;
    double largest = 0.0, weight = vec3_norm(system->gravity);
    for (int i = 0; i < system->body_count; ++i)
        largest = fmax(largest, weight * mass_weight(system, i));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        const int body[2] = {e->a, e->b};
        double force[2][POSE_SIZE] = {{0.0}, {0.0}}, wrench[TWIST_SIZE];
        element_step view = step_element_view(system, &step->equations, &step->data, i);
        element_output out = {.residual_a = body[0] < 0 ? NULL : force[0],
                              .residual_b = body[1] < 0 ? NULL : force[1]};
        element_type_of(e->kind)->gradient(e, &view, &out);
        element_type_of(e->kind)->load(e, &view, &out);
        for (int side = 0; side < 2; ++side) {
            force_to_wrench(system_pose(x->simulation->state.q, body[side]), force[side], wrench);
            largest = fmax(largest, vec3_norm(vec3_load(wrench)));
            if (body[side] >= 0 && system->bodies[body[side]].has_directors)
                largest = fmax(largest, vec3_norm(vec3_load(wrench + 3)) / x->extent);
        }
    }
    return largest;
}

// Of the matrix that was assembled last: what is left unbalanced, and whether loads have a potential.
static void find_residual(statics *x)
{
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    const saddle *rows = closed_system(x->solver);
    double stiff = x->row_factor * x->simulation->system->mass * x->extent;
    double force = largest_force(x, step),
           left = saddle_unbalanced_force(rows, &step->equations, x->extent);
    x->found.residual = left / fmax(force, ROUND_OFF * stiff);
    x->found.conservative = saddle_asymmetry(rows, &step->equations, x->extent) <=
                            ASYMMETRY * force + left + 64.0 * DBL_EPSILON * stiff;
}

// Of what `assemble_again` leaves in the sparse system: eigenvalues below zero, with (Q7). It is assembled twice where
// something holds beside the joints: counting leaves no factors.
hn_status statics_count_at(statics *x, const step_equations *equations, const solved_step *step,
                           double part, int *count)
{
    saddle *rows = closed_system(x->solver);
    int worst;
    double shift = equations->mass_factor;
    bool beside = x->border.hold_count > 0 || (shift != 0.0 && x->border.rotor_count > 0);
    for (int pass = 0; pass < (beside ? 2 : 1); ++pass) {
        saddle_assemble(rows, equations, &step->data);
        saddle_symmetrise(rows);
        if (part != 0.0) saddle_shift(rows, part, x->turning_length);
        if (pass == 0) *count = saddle_count_negative(rows);
        else if (!saddle_factor(rows, &worst)) *count = -1;
    }
    if (!beside || *count < 0) return HN_OK;
    return static_border_count_at(&x->border, step->data.q, x->row_factor, shift, count);
}

hn_status statics_count_below(statics *x, double shift, double part, int *count)
{
    *count = -1;
    TRY(statics_assemble(x, shift));
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    return statics_count_at(x, &step->equations, step, part, count);
}

// (Q2): eigenvalues of K below zero, counted where elimination counts well, and those nearer to zero by (Q8). With
// relations, which the elimination does not know, motions that they alone hold are as good as free in it.
hn_status statics_find_stability(statics *x)
{
    static const double PLACES[] = {1.0, 0.71, 1.37, 0.53};
    int below[2] = {-1, -1};
    TRY(statics_assemble(x, 0.0));
    find_residual(x);
    x->found.unstable_count = x->found.neutral_count = x->found.unclear_count = 0;
    x->found.unclear_frequency = 0.0;
    for (size_t k = 0; k < sizeof PLACES / sizeof PLACES[0] && (below[0] < 0 || below[1] < 0);
         ++k) {
        x->band = PLACES[k] * (x->border.hold_count > 0 ? NEAR_HELD : NEAR);
        for (int side = 0; side < 2; ++side)
            TRY(statics_count_below(x, 0.0, side == 0 ? x->band : -x->band, &below[side]));
    }
    x->found.unstable_count = below[0] > 0 ? below[0] : 0;
    int near = below[1] - x->found.unstable_count;
    x->loose = near != 0;
    if (near <= 0) return HN_OK;
    TRY(soft_motions_decide(x, near, x->found.unstable_count));
    // so near that a path of loads would not begin there
    for (int side = 0; side < 2; ++side)
        TRY(statics_count_below(x, 0.0, side == 0 ? NEUTRAL : -NEUTRAL, &below[side]));
    x->loose = below[0] != below[1];
    return HN_OK;
}

static bool is_firm(const statics *x)
{
    return x->found.unstable_count == 0 && x->found.neutral_count == 0 && !x->loose;
}

static hn_status note_equilibrium(statics *x, int step, double factor)
{
    hn_simulation *s = x->simulation;
    x->found.load_factor = factor;
    x->found.load_step = step;
    x->found.beam_angle = statics_largest_bend(s, &x->found.beam, &x->found.beam_element);
    TRY(statics_find_stability(x));
    if (x->def.as_steps) s->step_count = step;
    if (x->def.on_step != NULL) TRY(x->def.on_step(s, &x->found, x->def.user));
    x->found.iteration_count = 0;
    x->found.relaxed = false;
    return HN_OK;
}

// The body that moves most where little force is needed: some steps of inverse iteration with K.
static int softest_body(statics *x)
{
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    size_t n = (size_t)system->body_count;
    saddle *rows = closed_system(x->solver);
    double *force = context_allocate(s->context, 2 * POSE_SIZE * n * sizeof(double)),
           *twists = force == NULL ? NULL : force + POSE_SIZE * n;
    int softest = 0, worst;
    uint64_t state = 1;
    if (force == NULL || statics_assemble(x, NEUTRAL * x->row_factor) != HN_OK ||
        !saddle_factor(rows, &worst) ||
        !static_border_factor(&x->border, s->state.q, x->row_factor, 0.0))
        goto done;
    array_probe(&state, force, POSE_SIZE * n);
    for (int k = 0; k < 4; ++k) {
        double largest = 0.0;
        saddle_project_again(rows, s->state.q, force, twists);
        static_border_project(&x->border, s->state.q, twists);
        for (size_t i = 0; i < n; ++i) {
            double size = measure_twist(system->unit_length[i], twists + TWIST_SIZE * i);
            if (size > largest) largest = size, softest = (int)i;
        }
        for (size_t i = 0; i < n; ++i) {
            twist_to_velocity(system_pose(s->state.q, (int)i), twists + TWIST_SIZE * i,
                              force + POSE_SIZE * i);
            for (int c = 0; c < POSE_SIZE; ++c) force[POSE_SIZE * i + (size_t)c] /= largest;
        }
        mass_apply(system, 1.0, force, force);
    }
done:
    context_release(s->context, force);
    return softest;
}

// ---- relaxation -------------------------------------------------------------------------------------

enum { RELAX_STEPS_MAX = 400 };
static const double RELAX_FAR = 1e3;      // extents of the model: it is gone
static const double RELAX_STIFFEST = 1e9; // of the row factor: no resistance helps
static const double RELAX_NEAR = 0.05; // rad, extents: Newton's method may find the rest of the way

// Is the step of (Q3) that was solved last a minimum of its energy, V + alpha/2 |q - q_k|^2? Otherwise it leads uphill.
static bool goes_down(statics *x, double alpha)
{
    int below;
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    step_equations equations = step->equations;
    equations.mass_factor = alpha;
    return statics_count_at(x, &equations, step, neutral_part(x), &below) == HN_OK && below == 0;
}

// (Q3) until Newton's method finds the equilibrium near; `body`: who has gone farthest.
static hn_status relax(statics *x, int *body)
{
    hn_simulation *s = x->simulation;
    double alpha = x->row_factor, rate_before = HUGE_VAL, way = 0.0;
    for (int k = 0; k < RELAX_STEPS_MAX && way < RELAX_FAR; ++k) {
        if (context_is_cancelled(s->context)) return HN_CANCELLED;
        hn_status status = solve(x, alpha);
        double moved = status == HN_OK ? largest_move(x, body) : 0.0;
        if (status != HN_OK || moved > TURN_MAX || !goes_down(x, alpha)) {
            if (status == HN_CANCELLED) return status;
            if (alpha > RELAX_STIFFEST * x->row_factor) return HN_NOT_CONVERGED;
            alpha *= 4.0;
            continue;
        }
        accept(x);
        way += moved;
        double rate = alpha * moved;
        bool near = moved < RELAX_NEAR && rate < RELAX_NEAR * x->row_factor;
        if (near && solve_rest(x) == HN_OK && largest_move(x, body) < 4.0 * RELAX_NEAR &&
            (moved <= STILL || goes_down(x, 0.0))) {
            accept(x);
            x->found.relaxed = true;
            return HN_OK;
        }
        double ratio = fmin(1.0, fmax(0.1, rate / rate_before));
        alpha *= moved < RELAX_NEAR ? fmin(0.5, ratio) : ratio;
        rate_before = rate;
    }
    return HN_NOT_CONVERGED;
}

// ---- the path of loads ------------------------------------------------------------------------------

// `body` has gone farthest, `size` is that of the last load step.
static hn_status explain(statics *x, hn_status status, double factor, double size, int body)
{
    hn_simulation *s = x->simulation;
    if (status == HN_OUT_OF_MEMORY) return status;
    if (status == HN_CANCELLED) {
        (void)context_take_cancel(s->context);
        return context_fail(s->context, status, "cancelled at load factor %.6g", factor);
    }
    if (x->border.stuck >= 0) {
        const hold *h = &s->holds[s->held_list[x->border.stuck]];
        const element *e = &s->system->elements[h->first];
        return context_fail(s->context, HN_SINGULAR_SYSTEM,
                            "%s '%s' cannot move its joint '%s': a loop or another motion or "
                            "coupling holds it; remove one of them",
                            h->coupling >= 0 ? "coupling" : "drive", e->name,
                            s->system->reports[e->joint].name);
    }
    if (!x->held)
        return context_fail(s->context, status,
                            "no equilibrium above load factor %.6g: without loads the model is a "
                            "mechanism, and with them body '%s' comes to no rest; hold it by a "
                            "spring or a joint",
                            factor, s->system->bodies[body].name);
    int beam, place;
    double bend = statics_largest_bend(s, &beam, &place);
    const element *bent =
        beam < 0 ? NULL : &s->system->elements[s->system->beam_first[beam] + place];
    if (bent != NULL && bend > BENT * beam_bend_limit(bent->beam)) {
        return context_fail(s->context, status,
                            "no equilibrium above load factor %.6g: the element between '%s' and "
                            "'%s' is bent by %.1f degrees, and from %.0f on it bears less moment "
                            "for being bent more; more elements help",
                            factor, s->system->bodies[bent->a].name,
                            s->system->bodies[bent->b].name, DEGREES * bend,
                            DEGREES * beam_bend_limit(bent->beam));
    }
    const hn_beam_tension tension = statics_largest_tension(s);
    if (tension.ratio > TENSE) {
        const element *e =
            &s->system->elements[s->system->beam_first[tension.beam] + tension.element];
        return context_fail(s->context, status,
                            "no equilibrium above load factor %.6g: the beam element between '%s' "
                            "and '%s' is too long for its tension: N l^2 = %.3g times %g EI, and "
                            "from 1 on its nodes gain energy by a zigzag that the beam would not "
                            "make; take at least %d elements",
                            factor, s->system->bodies[e->a].name, s->system->bodies[e->b].name,
                            tension.ratio, tension.limit, tension.least_count);
    }
    return context_fail(s->context, status,
                        "no equilibrium above load factor %.6g, also in steps of %.2g: the "
                        "stiffness against motions of body '%s' is lost there (a limit point or a "
                        "branching); relaxation may find an equilibrium farther away",
                        factor, size, s->system->bodies[softest_body(x)].name);
}

// Is it near enough for that? By no more than twice a radian, and on a path not by much more than the load explains:
// Newton's method may find an arch that has snapped through.
static bool is_near(const statics *x, double moved, double load)
{
    bool jumps = x->held && x->rate > 0.0 && moved > JUMP_LEAST && moved > JUMP * x->rate * load;
    return moved <= TURN_MAX && !jumps;
}

// Is the equilibrium that was solved last the next one on the path? A path that was stable stays so: otherwise the step
// has left it, as past the load of a column that is not quite straight.
static bool is_next(statics *x, double moved, double load)
{
    if (!is_near(x, moved, load)) return false;
    if (x->held) return !x->stable || !x->found.conservative || goes_down(x, 0.0);
    return moved <= STILL || goes_down(x, 0.0);
}

// There is no way on: relax where that is allowed.
static hn_status leave_path(statics *x, hn_status status, double *factor, double target,
                            double size)
{
    int body = 0;
    if (!x->held || x->def.relax) {
        statics_set_loads(x, target);
        status = relax(x, &body);
        if (status == HN_OK) {
            *factor = target;
            x->rate = 0.0;
            return HN_OK;
        }
    }
    return explain(x, status == HN_OK ? HN_NOT_CONVERGED : status, *factor, size, body);
}

// From the equilibrium at `*factor` to that at `target`.
static hn_status advance(statics *x, double *factor, double target)
{
    hn_simulation *s = x->simulation;
    double size = target - *factor, least = ldexp(size, -x->def.cuts_max);
    int body = 0;
    while (*factor < target) {
        if (context_is_cancelled(s->context)) return explain(x, HN_CANCELLED, *factor, size, body);
        double next = *factor + size < target * (1.0 - 1e-12) ? *factor + size : target;
        statics_set_loads(x, next);
        hn_status status = solve_rest(x);
        if (status == HN_CANCELLED) return explain(x, status, *factor, size, body);
        double moved = status == HN_OK ? largest_move(x, &body) : HUGE_VAL;
        bool last = !x->held || 0.5 * size < least;
        bool follows = is_next(x, moved, next - *factor);
        // a branching that the path goes on through is met in smaller steps as well
        if (!follows && !last && x->stable && moved <= SMOOTH * x->rate * (next - *factor))
            last = soft_motions_branch(x, next);
        if (!follows && !last) {
            size *= 0.5;
            x->found.cut_count++;
            continue;
        }
        if (!follows) {
            // a structure without a fault goes on unstable; others have no way on
            if (!x->held || !x->stable || !is_near(x, moved, next - *factor))
                return leave_path(x, status, factor, target, size);
            x->stable = false;
            size = target - *factor;
        }
        accept(x);
        bool resisted = !x->held || x->border.hold_count > 0;
        if (resisted && solve_rest(x) == HN_OK) accept(x);
        x->rate = moved / (next - *factor);
        *factor = next;
        if (s->newton.iterations <= FEW_ITERATIONS) size *= STEP_GROWTH;
    }
    return HN_OK;
}

// Back to where the search began.
static void go_back(statics *x)
{
    hn_simulation *s = x->simulation;
    size_t poses = POSE_SIZE * (size_t)s->system->body_count;
    memcpy(s->state.q, x->start, poses * sizeof(double));
    memcpy(s->angles, x->start + poses, (size_t)s->system->angle_count * sizeof(double));
    memcpy(s->joint_angles, x->start + poses + s->system->angle_count,
           system_joint_angle_count(s->system) * sizeof(double));
    s->steps[0].valid = s->steps[1].valid = false;
    simulation_forget_derived(s);
}

// Where drives move a mechanism that has no loads, there is no path of loads: all of them at once.
static hn_status rest_at_once(statics *x)
{
    int body = 0;
    go_back(x);
    statics_set_loads(x, 1.0);
    hn_status status = relax(x, &body);
    if (status != HN_OK) return explain(x, status, 0.0, 1.0, body);
    return note_equilibrium(x, x->def.load_steps, 1.0);
}

static hn_status follow_loads(statics *x)
{
    int body = 0;
    double factor = 0.0;
    statics_set_loads(x, 0.0);
    TRY(statics_find_stability(x));
    x->held = is_firm(x);
    // without loads: springs and beams may be out of balance
    hn_status status = solve_rest(x);
    if (status == HN_OK && largest_move(x, &body) <= TURN_MAX) accept(x);
    else if (status != HN_CANCELLED) status = relax(x, &body);
    if (status == HN_CANCELLED) return explain(x, status, factor, 0.0, body);
    bool balanced = status == HN_OK;
    if (!balanced) go_back(x);
    if (balanced) TRY(statics_find_stability(x));
    x->held = x->held && balanced && is_firm(x);
    x->stable = x->held;
    if (balanced) TRY(note_equilibrium(x, 0, 0.0));
    for (int k = 1; k <= x->def.load_steps; ++k) {
        status = advance(x, &factor, (double)k / x->def.load_steps);
        if (status == HN_NOT_CONVERGED && !balanced) return rest_at_once(x);
        TRY(status);
        TRY(note_equilibrium(x, k, factor));
    }
    return HN_OK;
}

// ---- begin and end ----------------------------------------------------------------------------------

// Metres from one end to the other, roughly; of a single body its size.
static double extent_of(const hn_system *system, const double *q)
{
    double largest = 0.0, size = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        largest = fmax(largest, vec3_norm(vec3_subtract(pose_center(system_pose(q, i)),
                                                        pose_center(system_pose(q, 0)))));
        size = fmax(size, system->sizes[i]);
    }
    return largest > 0.0 ? largest : size > 0.0 ? size : 1.0;
}

static bool correct(void *owner, double *twists)
{
    statics *x = owner;
    solved_step *step = &x->simulation->steps[x->simulation->ahead];
    return static_border_correct(&x->border, step, x->row_factor, twists);
}

// What forces are measured by: springs and beams, and all loads
static hn_status measure_stiffness(statics *x)
{
    const hn_system *system = x->simulation->system;
    saddle *rows = closed_system(x->solver);
    double *of_bodies =
        context_allocate(system->context, ((size_t)system->body_count + 1) * sizeof(double));
    if (of_bodies == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = statics_assemble(x, 0.0);
    if (status == HN_OK) {
        x->row_factor = saddle_stiffness_scale(rows, of_bodies);
        for (int i = 0; i < system->body_count; ++i) of_bodies[i] /= x->row_factor;
        saddle_lend(rows, of_bodies);
    }
    context_release(system->context, of_bodies);
    return status;
}

hn_status statics_begin(hn_simulation *s, const hn_static_def *def, statics *x)
{
    const hn_system *system = s->system;
    size_t poses = POSE_SIZE * (size_t)system->body_count;
    *x = (statics){.simulation = s, .def = *def, .row_factor = 1.0};
    TRY(check_drives(system));
    TRY(not_finite_now(s, def->at_time ? def->time : hn_simulation_time(s)));
    size_t angles = (size_t)system->angle_count, joints = system_joint_angle_count(system);
    x->start = context_allocate(s->context, (poses + angles + joints + 1) * sizeof(double));
    if (x->start == NULL) return HN_OUT_OF_MEMORY;
    x->extent = extent_of(system, s->state.q);
    x->turning_length = turning_length(x);
    memcpy(x->start, s->state.q, poses * sizeof(double));
    memcpy(x->start + poses, s->angles, angles * sizeof(double));
    memcpy(x->start + poses + angles, s->joint_angles, joints * sizeof(double));
    TRY(take_loads(x));
    TRY(closed_create_for_statics(s->system, &x->solver));
    TRY(static_border_begin(s, closed_system(x->solver), &x->border));
    if (x->border.hold_count > 0) closed_set_correction(x->solver, correct, x);
    size_t rows = (size_t)saddle_multiplier_count(closed_system(x->solver));
    x->multipliers = context_allocate(s->context, (rows + 1) * sizeof(double));
    if (x->multipliers == NULL) return HN_OUT_OF_MEMORY;
    return measure_stiffness(x);
}

void statics_end(statics *x)
{
    if (x->simulation == NULL) return;
    hn_context *context = x->simulation->context;
    give_back_loads(x);
    static_border_end(&x->border);
    closed_destroy(x->solver);
    context_release(context, x->multipliers);
    context_release(context, x->start);
}

// The state without velocities
static hn_status come_to_rest(hn_simulation *s)
{
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    double *none = context_allocate(s->context, 2 * count * sizeof(double));
    if (none == NULL) return HN_OUT_OF_MEMORY;
    s->scheme->start(s->system, none, none + count, &s->state);
    simulation_forget_derived(s);
    context_release(s->context, none);
    return HN_OK;
}

// The simulation begins at its state, at rest.
static hn_status start_over(hn_simulation *s)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    TRY(come_to_rest(s));
    memcpy(s->system->q_start, s->state.q, count * sizeof(double));
    memset(s->system->twist_start, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(s->system->angle_start, s->angles, (size_t)system->angle_count * sizeof(double));
    TRY(simulation_find_symmetries(s));
    s->steps[0].valid = s->steps[1].valid = false;
    composed_forget(s);
    s->step_count = 0;
    s->work = 0.0;
    s->statistics = (hn_statistics){0};
    s->accuracy = (accuracy_record){0};
    memset(s->works, 0, (size_t)system->mechanism_count * sizeof(double));
    memset(s->differences, 0, s->difference_count * sizeof(double));
    simulation_forget_derived(s);
    simulation_update_angles(s);
    dampers_forget(s);
    return ledger_start(s);
}

hn_status statics_start(hn_simulation *s)
{
    const hn_system *system = s->system;
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    for (int i = 0; i < s->hold_count; ++i) {
        const element *e = &system->elements[s->holds[i].first];
        if (s->holds[i].coupling >= 0 || e->law->kind != HN_DRIVE_MOTION) continue;
        double rate = holds_motion(e, 0.0).rate;
        if (rate != 0.0)
            return context_fail(s->context, HN_INVALID_MODEL,
                                "drive '%s': its motion begins with the rate %.9g %s: a start at "
                                "the equilibrium is at rest; expected a motion that begins at rest",
                                e->name, rate, e->displacement ? "m/s" : "rad/s");
    }
    for (int i = 0; i < TWIST_SIZE * system->body_count; ++i)
        if (system->twist_start[i] != 0.0)
            return context_fail(s->context, HN_INVALID_MODEL,
                                "body '%s' has a start velocity: a start at the equilibrium is at "
                                "rest; leave out one of the two",
                                system->bodies[i / TWIST_SIZE].name);
    def.at_time = true;
    def.relax = true;
    TRY(hn_simulation_find_equilibrium(s, &def, &found));
    if (found.conservative && found.unstable_count > 0)
        context_log(s->context, "the start is an unstable equilibrium, in %d directions",
                    found.unstable_count);
    return HN_OK;
}

static hn_status check_def(hn_context *context, const hn_static_def *def)
{
    if (def->load_steps < 1 || def->cuts_max < 0 || def->iterations_max < 1)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "statics: load steps are %d, iterations %d and halvings %d; expected "
                            "at least 1, 1 and 0",
                            def->load_steps, def->iterations_max, def->cuts_max);
    if (!(def->tolerance > 0.0) || (def->at_time && !isfinite(def->time)))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "statics: the tolerance is %g and the time %g s; expected a positive "
                            "and a finite number",
                            def->tolerance, def->time);
    return HN_OK;
}

hn_status hn_simulation_find_equilibrium(hn_simulation *s, const hn_static_def *def,
                                         hn_equilibrium *equilibrium)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, def != NULL);
    OWN_COPY(s->context, hn_static_def, def, hn_static_def_default());
    TRY(check_def(s->context, def));
    statics x;
    context_begin_cancellable(s->context);
    hn_status status = statics_begin(s, def, &x);
    if (status == HN_OK && def->as_steps) status = come_to_rest(s);
    s->standing = def->as_steps;
    if (status == HN_OK) status = follow_loads(&x);
    s->standing = false;
    if (status == HN_OK) status = check_latches(s);
    context_end_cancellable(s->context);
    if (equilibrium != NULL) *equilibrium = x.found;
    if (status != HN_OK && !def->as_steps && x.start != NULL) go_back(&x);
    statics_end(&x);
    if (status == HN_OK && !def->as_steps) status = start_over(s);
    return status;
}
