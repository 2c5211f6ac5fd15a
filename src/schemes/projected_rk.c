// SPDX-License-Identifier: MIT
// Dormand-Prince 5(4), or 8(5,3), on the manifold of a jet space, with projection (Tuomela-Arponen-Normi 2006).
// Note: docs/theory/projected-rk.md
//
//   (P1)  M = { g(y) = 0, dg y_1 = 0, |theta|^2 = 1, theta . theta_1 = 0 },  y = (r, theta), w = (r_1, H theta_1)
//   (P2)  E d + B^T lambda = F_e - 8 K - H grad U,   B d = dg l y - d^2 g(y_1, y_1),   B = dg H^T
//   (P3)  y_2 = H^T d - l y,   the distribution is (1, y_1, y_2)
//   (P4)  k_i = (y_1, y_2) at pi(z_n + h sum_j a_ij k_j),   z_n+1 = pi(z_n + h sum_i b_i k_i)
//   (P5)  pi: theta = a/|a|;  y + dg^T mu = a, g(y) = 0;  w + B^T alpha = H a_1, B w = 0
// (quasi-orthogonal)
//   (P6)  pi: the point of M nearest to (a, a_1)                                                  (orthogonal)
//   (P7)  f_inv = 0 at the ends of steps: energy T + U - W_ext, momenta
//   (P8)  h_new = h min(fac_max, max(fac_min, fac err^(-1/5))),  err = |z^ - z| / (Atol + Rtol |z|), root mean square
//
// Keeps: both levels of constraints and the unit length of theta to projection tolerance; energy and momenta when they
// are imposed. Does not keep: energy otherwise (it drifts as the tolerance allows), the symplectic form, time
// symmetry.
//
//   (P9)  dense output: y_1 and y by integrals of y_2, a quartic through its values at the quarters of an internal
//         step; brought to M by pi, and to (P7). At order eight (P14)
//
// Internal steps run free of the nominal grid: they end where the control says, and at the kinks of loads. The state at
// a nominal time is taken from the internal step that holds it (P9). State between nominal steps: q and the velocities
// v there; beside them `memory` holds that internal step, the size of the next one, the energy and the momenta to be
// kept, unwrapped angles, and the q and v they belong to. When these are not the state's, all is found anew from q, v.
#include "schemes/projected_rk_solver.h"

#include "base/six.h"
#include "system/angles.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

enum { MEMORY_VECTORS = 15, MEMORY_PER_MECHANISM = 3 + POWERS };
static const double ERROR_SHARE =
    2.0; // inside an internal step its error may grow so much faster than evenly
// step control (P8)
static const double ROUND_OFF = DBL_EPSILON / 2;
static const double STEP_SAFETY = 0.9;
static const double STEP_SHRINK_MIN = 0.2;
static const double STEP_STRETCH = 1.01; // a step this near to the end of the interval goes there
static const double STEP_SMALLEST =
    1e-13; // of the time reached and of the nominal step: nothing would be added
static const double FLAT_CLEAR =
    0.12; // of the largest angle to a flat position: stages come no nearer
static const double FLAT_FAILED =
    0.15; // parts of a step: a stage that fails so near to it does so for that
static const double FLAT_LONGER = 1.5; // a step may grow by this to get over it
static const double FLAT_ERROR = 10.0; // tolerances, of the shortest step over it
static const double SINGULAR_ANGLE =
    0.1; // rad: failures nearer to a flat position are put down to it,
static const double SINGULAR_FALL = 0.5; // where the rows were more independent at the start
// stiffness (Hairer, Wanner II, IV.2)
enum { STIFF_STEPS = 15, STIFF_OTHERS = 6 };
static const double TURN_SHRINK =
    0.5; // where branches turn into each other the motion is followed in smaller steps
enum { FLAT_PLANS_MAX = 12 };
static const double SAME_TIME = 1e-14; // of the time: n h and (n - 1) h + h are one grid point
enum { INTERNAL_STEPS_MAX = 20000000 };
// loads by expressions
static const double AHEAD = 2.0;          // internal steps: corners are looked for so far ahead
static const double SEEN_SHORTEST = 1e-9; // of the nominal step

static const double LOOK_PART =
    0.25; // of a step: free stages this far apart are asked for their margins
static const double STAGE_TOLERANCE = 1e-2;   // of the step control's: inner stages need no more
static const double DROPPED_TOLERANCE = 1e-8; // dropped rows must hold as well

// angles that count turns
static const double TURN_MAX = 2.0; // rad: controlled internal steps turn no joint by more
static const double TURN_KNOWN =
    2.8; // rad, by the rates at the ends of a step: beyond, turns may be lost
static const double TURN_MISSED = 1.5; // rad: more than that off what the rates say, likewise

// memory: what is carried beside q and v; angles, the internal step and the reported state follow the numbers
enum {
    MEMORY_VALID,
    MEMORY_TIME,
    MEMORY_BEGIN,
    MEMORY_END,
    MEMORY_STEP,
    MEMORY_DENSE,
    MEMORY_ERROR,
    MEMORY_MOMENTUM = MEMORY_ERROR + 2 * ERROR_MEASURES,
    MEMORY_ANGLES = MEMORY_MOMENTUM + INVARIANTS_MAX
};

static const double MEMORY_FORM =
    2.0; // energies with heights from the start on; 1 had them from the origin

// ---- one step (P4), (P8) --------------------------------------------------------------------------------

// y += sum_j factors_j k_j from `first` on, eight numbers at a time
static void add_products(int n, int count, const double *factors, const double *const *k, int first,
                         double *restrict y)
{
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        pair a = pair_load(y + i), b = pair_load(y + i + 2), c = pair_load(y + i + 4),
             d = pair_load(y + i + 6);
        for (int j = 0; j < count; ++j) {
            const double *from = k[j] + first + i;
            a += factors[j] * pair_load(from), b += factors[j] * pair_load(from + 2);
            c += factors[j] * pair_load(from + 4), d += factors[j] * pair_load(from + 6);
        }
        pair_store(a, y + i), pair_store(b, y + i + 2);
        pair_store(c, y + i + 4), pair_store(d, y + i + 6);
    }
    for (; i < n; ++i)
        for (int j = 0; j < count; ++j) y[i] += factors[j] * k[j][first + i];
}

void rk_add_stages(const scheme_solver *s, double h, const double *weights, int count, double *y,
                   double *y1)
{
    const double *k[STAGES_MAX];
    double factors[STAGES_MAX];
    int used = 0, n = s->jet.y_count;
    for (int j = 0; j < count; ++j)
        if (weights[j] != 0.0) factors[used] = h * weights[j], k[used++] = s->k[j];
    add_products(n, used, factors, k, 0, y);
    add_products(n, used, factors, k, n, y1);
}

// a, a1 = z_n + h sum_j weights_j k_j
static void combine(scheme_solver *s, double h, const double *weights, int count)
{
    size_t size = (size_t)s->jet.y_count * sizeof(double);
    memcpy(s->a1, s->k[0], size); // y_1
    memcpy(s->a, s->y, size);
    rk_add_stages(s, h, weights, count, s->a, s->a1);
}

// error, error1: of an embedded formula
static void find_embedded(scheme_solver *s, double h, const double *weights)
{
    size_t size = (size_t)s->jet.y_count * sizeof(double);
    memset(s->error, 0, size);
    memset(s->error1, 0, size);
    rk_add_stages(s, h, weights, s->method->stages, s->error, s->error1);
}

// the larger one without its sign; what is not a number may get lost, and is found in the error itself
static inline double larger(double a, double b)
{
    a = fabs(a), b = fabs(b);
    return a > b ? a : b;
}

// (P8) The size of x in y and x1 in y_1 in units of the tolerances, at the current point and another one (y, y1): the
// root mean square over a mechanism, the largest of all mechanisms. Atol is in lengths of the body, and for rates in
// the fastest rate of the mechanism: at the begin of the step, or at its end where it was at rest and nothing acted.
static double norm_of(scheme_solver *s, const double *x, const double *x1, const double *y,
                      const double *y1)
{
    const double absolute = s->def.projected_rk.absolute_tolerance,
                 relative = s->def.projected_rk.relative_tolerance;
    double worst = 0.0;
    jet_rates(&s->jet, s->y, s->w, s->a1);
    memset(s->sums, 0, (size_t)s->jet.mechanism_count * sizeof(double));
    for (int i = 0; i < s->jet.y_count; ++i) {
        double rate = s->rates[s->part[i]] > 0.0 ? s->rates[s->part[i]] : s->end_rates[s->part[i]];
        double size = absolute * s->unit[i] + relative * larger(s->y[i], y[i]);
        double size1 = absolute * s->unit[i] * rate + relative * larger(s->a1[i], y1[i]);
        double in_y = x[i] / size, in_y1 = x1[i] != 0.0 ? x1[i] / size1 : 0.0;
        s->sums[s->part[i]] += in_y * in_y + in_y1 * in_y1;
    }
    for (int m = 0; m < s->jet.mechanism_count; ++m) {
        double mean = sqrt(s->sums[m] / (2.0 * s->part_size[m]));
        worst = mean <= worst ? worst : mean; // keeps what is not a number
    }
    return worst;
}

// An error of y or y_1 without what the constraints at the end of the step take away; they are factored there.
static void make_error_tangent(scheme_solver *s, jet_metric metric, double *error)
{
    const jet_space *jet = &s->jet;
    jet_velocities(jet, s->y_next, error, s->scratch);
    jet_apply_rows(jet, s->scratch, s->rate);
    jet_solve(jet, metric, s->rate);
    jet_add_rows_transposed(jet, metric, -1.0, s->rate, s->scratch);
    jet_rates(jet, s->y_next, s->scratch, error);
}

// (P8) of a difference to an embedded formula, which stays in `error` and `error1`
static double embedded_norm(scheme_solver *s, double h, const double *weights)
{
    const jet_space *jet = &s->jet;
    find_embedded(s, h, weights);
    if (s->close || s->flat.found) {
        // across the branches of M errors are large, and taken away by the projection
        make_error_tangent(s, METRIC_EUCLIDEAN, s->error);
        make_error_tangent(s, METRIC_KINETIC, s->error1);
    }
    jet_rates(jet, s->y_next, s->w_next, s->a);
    return norm_of(s, s->error, s->error1, s->y_next, s->a);
}

// The point of a stage, on M or (P15) off it
static bool take_stage(scheme_solver *s, int stage, bool free, double inner)
{
    bool last = stage == s->method->stages - 1;
    combine(s, s->attempted, s->method->weights[stage], stage);
    if (!free || last) {
        if (!rk_project(s, last ? s->tolerance : inner, s->y_next, s->w_next)) return false;
        if (free) rk_watch_margins(s, false);
        else rk_note_margins(s, stage);
        return true;
    }
    bool look = s->loops && s->method->nodes[stage] - s->looked > LOOK_PART;
    if (!rk_take_free(s, look, s->y_next, s->w_next)) return false;
    if (look) {
        rk_watch_margins(s, false);
        s->looked = s->method->nodes[stage];
    }
    return true;
}

// From (y, w) with k[0] known to (y_next, w_next) at `end` with the last k known.
static bool run_stages(scheme_solver *s, double h, double end, bool free)
{
    const jet_space *jet = &s->jet;
    int n = jet->y_count;
    double time = s->last.end;
    double inner = s->tolerance;
    if (!s->def.projected_rk.fixed_steps)
        inner = fmax(inner, STAGE_TOLERANCE * fmin(s->def.projected_rk.absolute_tolerance,
                                                   s->def.projected_rk.relative_tolerance));
    const rk_method *method = s->method;
    s->attempted = h;
    s->looked = 0.0;
    s->margin_count = 1;
    if (free) rk_watch_margins(s, true);
    for (int stage = 1; stage < method->stages; ++stage) {
        bool last = stage == method->stages - 1;
        const double *weights = method->weights[stage];
        if (!take_stage(s, stage, free, inner)) return false;
        if (last) {
            for (int m = 0; m < jet->mechanism_count; ++m) {
                s->work[m] = 0.0;
                for (int j = 0; j < stage; ++j) s->work[m] += h * weights[j] * s->power[j][m];
                s->energy[m] = s->last.energy[m] + s->last.work[m] + s->work[m];
            }
            if (!rk_impose_invariants(s, end, s->y_next, s->w_next)) return false;
        }
        if (!rk_distribution(s, s->y_next, s->w_next, (jet_moment){time, end, method->nodes[stage]},
                             stage))
            return false;
        if (stage == method->stages - 2) {
            memcpy(s->sixth, s->y_next, (size_t)n * sizeof(double));
            jet_rates(jet, s->y_next, s->w_next, s->sixth1);
        }
    }
    return true;
}

// The error of the stages just made, in units of the tolerance
static bool find_error(scheme_solver *s, double h, double *error)
{
    const rk_method *method = s->method;
    jet_mechanism_rates(&s->jet, s->w_next, s->jet.acceleration, s->end_rates);
    *error = embedded_norm(s, h, method->error);
    s->error_part = 1.0;
    if (method->error_low != NULL && *error > 0.0) {
        // the mean of both of Hairer, Norsett, Wanner I, II.10, of the order of the method
        double low = embedded_norm(s, h, method->error_low);
        s->error_part = *error / sqrt(*error * *error + 0.01 * low * low);
        *error *= s->error_part;
    }
    return isfinite(*error);
}

// One step of size h to `end`, and its error. Stages are free (P15) as long as no flat position can be near; else every
// one is brought to M, and flat positions are looked for.
static bool attempt(scheme_solver *s, double h, double end, double *error)
{
    if (s->free_stages && !s->close) {
        bool good = run_stages(s, h, end, true);
        s->flat = (flat_place){.nearest = HUGE_VAL, .row = -1};
        good = good && find_error(s, h, error);
        if (!s->loops || (good && !rk_margins_dip(s))) return good;
        // the factors of the begin are tried first
        jet_set_position(&s->jet, s->y);
        rk_evaluate_rows(s);
        if (!rk_factor_both(s)) return false;
    }
    if (!run_stages(s, h, end, false)) return false;
    rk_find_flat(s, s->method->nodes);
    return find_error(s, h, error);
}

// A first step from the size of the solution's first two derivatives (Hairer, Norsett, Wanner I, II.4), with the
// fastest rate as the unit of time.
static double first_step(scheme_solver *s, double interval)
{
    const double FIRST_PART = 0.01, LARGEST_GROWTH = 100.0;
    int n = s->jet.y_count;
    double fastest = 0.0;
    for (int m = 0; m < s->jet.mechanism_count; ++m) fastest = fmax(fastest, s->rates[m]);
    double h = fmin(interval, fastest > 0.0 ? FIRST_PART / fastest : HUGE_VAL);
    // nothing moves, and nothing acts yet
    if (!(fastest > 0.0) || !isfinite(h) || !(h > 0.0)) return s->nominal;
    const double one = 1.0;
    double d1 = norm_of(s, s->k[0], s->k[0] + n, s->y, s->k[0]);
    combine(s, h, &one, 1);
    if (!rk_project(s, s->tolerance, s->y_next, s->w_next) ||
        !rk_distribution(s, s->y_next, s->w_next, jet_at(s->last.end + h), 1))
        return 1e-3 * h;
    for (int i = 0; i < 2 * n; ++i) s->k[1][i] -= s->k[0][i];
    double d2 = norm_of(s, s->k[1], s->k[1] + n, s->y, s->k[0]) / h;
    double unit = fastest > 0.0 ? 1.0 / fastest : h, largest = fmax(d1 * unit, d2 * unit * unit);
    double h1 =
        largest > 0.0 ? unit * pow(FIRST_PART / largest, s->method->exponent) : LARGEST_GROWTH * h;
    return fmin(LARGEST_GROWTH * h, h1);
}

static size_t per_mechanism(const scheme_solver *s)
{
    return (size_t)s->jet.mechanism_count * sizeof(double);
}

// k[0] at the current point from its accelerations
static void set_first_stage(scheme_solver *s)
{
    jet_rates(&s->jet, s->y, s->w, s->k[0]);
    jet_second_rates(&s->jet, s->y, s->w, s->last.d_end, s->k[0] + s->jet.y_count);
    memcpy(s->power[0], s->last.power[POWERS - 1], per_mechanism(s));
}

// Does a load jump where the last internal step has ended? What acts at the begin of the next one is another thing.
static bool loads_jump(const scheme_solver *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->element_count; ++i)
        if (system->elements[i].profile != NULL &&
            profile_has_corner_at(system->elements[i].profile, s->last.end))
            return true;
    return false;
}

// Rows, factors and k[0] at the current point; rows are chosen where they are redundant. Accelerations are those of the
// last stage (first same as last) but at the start, where loads jump and where other rows may have been chosen.
static bool begin_step(scheme_solver *s, bool start)
{
    jet_space *jet = &s->jet;
    // a choice that dropped nothing stands while all rows are clear of each other
    bool known = s->at_end && !s->redundant && s->dropped == 0;
    if (!start && loads_jump(s)) known = false, start = true;
    if (known && s->loops) {
        rk_note_margins(s, 0);
        known = !s->close;
    }
    if (!known) {
        jet_set_position(jet, s->y);
        if (jet->tree == NULL) rk_evaluate_rows(s);
        else jet_set_velocity(jet, s->w);
        if (s->loops && jet_choose_rows(jet, &s->dropped) != HN_OK) return false;
        if (!rk_factor_both(s)) return false;
        rk_note_margins(s, 0);
    }
    s->at_end = true;
    if (!start && !s->redundant) {
        set_first_stage(s);
        jet_mechanism_rates(jet, s->w, s->last.d_end, s->rates);
        return true;
    }
    if (!rk_distribution(s, s->y, s->w, jet_at(s->last.end), 0)) return false;
    memcpy(s->last.d_end, jet->acceleration, (size_t)jet->w_count * sizeof(double));
    jet_mechanism_rates(jet, s->w, s->last.d_end, s->rates);
    memcpy(s->last.power[POWERS - 1], s->power[0], per_mechanism(s));
    return true;
}

static void note_accepted(scheme_solver *s, double h)
{
    s->statistics.steps++;
    if (s->observer == NULL) return;
    jet_to_state(&s->jet, s->q, s->v);
    s->observer(s->observer_user, s->last.end, h, s->q, s->v);
}

// Angles that count turns at the current point, a time `passed` after those that are known. How far joints turned in it
// the rates at its ends say, of which the first may be that of the second as well.
static void follow_angles(scheme_solver *s, double passed, bool first_rate)
{
    const hn_system *system = s->system;
    const jet_space *jet = &s->jet;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (!system_joint_counts_turns(system, k)) continue;
        double rate = system_joint_rate(system, k, jet->pose,
                                        j->parent < 0 ? NULL : jet->twist + TWIST_SIZE * j->parent,
                                        j->child < 0 ? NULL : jet->twist + TWIST_SIZE * j->child);
        double turn = 0.5 * passed * ((first_rate ? s->turn_rates[k] : rate) + rate);
        double expected = s->turns[k] + turn;
        s->turns[k] = system_joint_angle(system, k, jet->pose, expected);
        s->turn_rates[k] = rate;
        if (fabs(turn) > TURN_KNOWN || fabs(s->turns[k] - expected) > TURN_MISSED)
            s->doubtful_joint = k;
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle >= 0)
            s->jet.angles[e->angle] = element_angle(
                e, system_pose(jet->pose, e->a), system_pose(jet->pose, e->b), s->turns[e->joint]);
    }
}

// Largest internal step in which no joint turns by more than TURN_MAX at its present rate
static double turn_limit(const scheme_solver *s)
{
    double fastest = 0.0;
    for (int k = 0; k < s->system->joint_count; ++k)
        fastest = fmax(fastest, fabs(s->turn_rates[k]));
    return fastest > 0.0 ? TURN_MAX / fastest : HUGE_VAL;
}

// The candidate becomes the current point, the current one the begin of the last internal step.
// What a step of h gains by round-off of accelerations, as a turn, or over the body's size: the force that moves a
// light body is a difference of those on the heavy ones that hang from it (P16).
static double carried_round_off(const scheme_solver *s, int i, double h)
{
    const jet_body *body = &s->jet.bodies[i];
    double sum = 0.0;
    for (int k = 0; k < body->w_count; ++k) {
        double rate = s->jet.acceleration[body->w + k];
        sum += rate * rate / body->weight[k];
    }
    return s->carried[i] * ROUND_OFF * h * h * sqrt(sum);
}

// Error of the step just made, body by body: part of the embedded formula's, and what projection and invariants moved
// it by, in velocity too. Euler parameters turn by twice their change.
static local_error embedded_error(scheme_solver *s, double h)
{
    const jet_space *jet = &s->jet;
    const rk_method *method = s->method;
    const double share = method->share * s->error_part;
    local_error e = {0};
    find_embedded(s, h, method->error);
    combine(s, h, method->weights[method->stages - 1], method->stages - 1);
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *body = &jet->bodies[i];
        int places = body->kind == JET_RIGID || body->kind == JET_POINT ? 3 : 2;
        double move[3] = {0.0}, turn[2] = {0.0}; // squares: formula, shift of y, shift of w
        for (int k = 0; k < body->y_count; ++k) {
            int at = body->y + k;
            double shift = s->y_next[at] - s->a[at], *to = k < places ? move : turn;
            to[0] += s->error[at] * s->error[at];
            to[1] += shift * shift;
        }
        for (int k = 0; k < places; ++k) {
            double shift = s->w_next[body->w + k] - s->a1[body->y + k];
            move[2] += shift * shift;
        }
        double rounded = carried_round_off(s, i, h);
        local_error_note_body(&e, s->system, i,
                              share * sqrt(move[0]) + sqrt(move[1]) + h * sqrt(move[2]) +
                                  rounded * s->system->sizes[i],
                              (share * sqrt(turn[0]) + sqrt(turn[1]) + rounded) *
                                  (body->kind == JET_RIGID ? 2.0 : 1.0));
    }
    return e;
}

static void accept(scheme_solver *s, double h, double end)
{
    internal_step *last = &s->last;
    last->error = embedded_error(s, h);
    double *y = last->y, *w = last->w, *d = last->d;
    last->y = s->y, last->w = s->w, last->d = last->d_end;
    s->y = s->y_next, s->w = s->w_next, last->d_end = d;
    s->y_next = y, s->w_next = w;
    memcpy(last->d_end, s->jet.acceleration, (size_t)s->jet.w_count * sizeof(double));
    last->begin = last->end, last->end = end;
    for (int m = 0; m < s->jet.mechanism_count; ++m) {
        last->energy[m] += last->work[m];
        last->work[m] = s->work[m];
    }
    memcpy(last->power[0], s->power[0], per_mechanism(s));
    memcpy(last->power[POWERS - 1], s->power[s->method->stages - 1], per_mechanism(s));
    last->dense = false;
    // the orthogonal projection does not leave the factors of the nearest position
    s->at_end = s->at_end && s->orthogonal == NULL;
    follow_angles(s, h, true);
    note_accepted(s, h);
}

// (P11) Is the step as long as stability of the method allows? Two stages lie at its end; h lambda is how much their
// accelerations differ for what they differ themselves. Said once.
static void note_stiffness(scheme_solver *s, double h)
{
    const jet_space *jet = &s->jet;
    int n = jet->y_count, worst = 0;
    double *state = s->error, *state1 = s->error1, *slope = s->k[1], largest = 0.0;
    if (s->stiff_said) return;
    jet_rates(jet, s->y_next, s->w_next, s->a);
    for (int i = 0; i < n; ++i) {
        state[i] = s->y_next[i] - s->sixth[i], state1[i] = s->a[i] - s->sixth1[i];
        slope[i] = s->k[s->method->stages - 1][i] - s->k[s->method->stages - 2][i];
        slope[n + i] = s->k[s->method->stages - 1][n + i] - s->k[s->method->stages - 2][n + i];
    }
    double below = norm_of(s, state, state1, s->y_next, s->a),
           above = norm_of(s, slope, slope + n, s->y_next, s->a);
    bool stiff = below > 0.0 && h * above > s->method->stable * below;
    s->other_steps = stiff ? 0 : s->other_steps + 1;
    if (stiff) s->stiff_steps++;
    else if (s->other_steps >= STIFF_OTHERS) s->stiff_steps = 0;
    if (s->stiff_steps < STIFF_STEPS) return;
    s->stiff_said = true;
    for (int b = 0; b < jet->body_count; ++b)
        for (int k = 0; k < jet->bodies[b].y_count; ++k) {
            int i = jet->bodies[b].y + k;
            double size = fabs(slope[n + i]) / s->unit[i];
            if (size > largest) largest = size, worst = b;
        }
    context_log(
        s->system->context,
        "projected-rk: the model is stiff from t = %.6g s: internal steps of %.2g s are as "
        "long as an explicit method is stable, accuracy would allow longer ones; it is worst "
        "at body '%s' (its springs or dampers); energy-momentum or generalized-alpha take any "
        "step",
        s->last.end, h, s->system->bodies[worst].name);
}

// Said once of loads whose bounds do not tell what they do.
static void say_unsure(scheme_solver *s, const element *e)
{
    if (s->unsure_said) return;
    s->unsure_said = true;
    context_log(
        s->system->context,
        "load '%s': from t = %.6g s on no bounds of its expression tell whether it has further "
        "corners or peaks; internal steps are no longer than the step of %.3g s there, which "
        "may pass over what is shorter; a table is sure",
        e->name, s->last.end, s->nominal);
}

// The longest step up to h in which the stages see what a load does (P17)
static double seen_by_stages(scheme_solver *s, const element *e, double h)
{
    const double now = s->last.end;
    for (double part = h; part > SEEN_SHORTEST * s->nominal; part *= 0.5) {
        profile_sight sight =
            profile_is_seen(e->profile, now, now + part, s->method->nodes, s->method->stages, 0.0);
        if (sight == PROFILE_SEEN) return part;
        if (sight == PROFILE_UNSURE && part <= s->nominal) break;
    }
    if (h > SEEN_SHORTEST * s->nominal) say_unsure(s, e);
    return fmin(h, s->nominal);
}

static double seen_step(scheme_solver *s, double h)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->profile != NULL && e->profile->kind == HN_PROFILE_EXPRESSION)
            h = seen_by_stages(s, e, h);
    }
    return h;
}

// Does the attempted step come too near to a flat position, at a stage or at its end?
static bool too_near(const scheme_solver *s, bool good)
{
    if (!s->flat.found) return false;
    if (good) return s->flat.nearest < FLAT_CLEAR;
    // the stage that failed, was it that?
    return s->margin_count < s->method->stages &&
           fabs(s->flat.at - s->method->nodes[s->margin_count]) < FLAT_FAILED;
}

// One accepted internal step from the current point, not beyond `limit`; over a flat position it may go on to `kink`.
static hn_status advance(scheme_solver *s, const scheme_step *step, double limit, double kink,
                         bool start)
{
    bool rejected = false, fixed = s->def.projected_rk.fixed_steps || s->fixed_step > 0.0;
    double then = 0.0; // s, planned after a step towards a flat position
    int plans = 0;
    if (!begin_step(s, start)) return HN_SINGULAR_SYSTEM;
    for (;;) {
        if (step->stopped != NULL && step->stopped(step->stopped_user)) return HN_CANCELLED;
        double time = s->last.end, planned = s->fixed_step > 0.0 ? s->fixed_step : s->h;
        if (!fixed) planned = fmin(planned, turn_limit(s));
        bool last = s->def.projected_rk.fixed_steps || time + STEP_STRETCH * planned >= limit;
        double h = last ? limit - time : planned, error = 0.0, seen = fixed ? h : seen_step(s, h);
        if (seen < h) last = false, h = seen;
        if (!fixed &&
            !(planned > STEP_SMALLEST * fmax(s->nominal, fabs(time)) && isfinite(planned)))
            return HN_NOT_CONVERGED;
        double end = last ? limit : time + h;
        bool good = attempt(s, h, end, &error);
        if (!good) rk_find_flat(s, s->method->nodes);
        bool near = too_near(s, good), over = s->flat.found && s->flat.at < 1.0;
        if (fixed && (!good || near)) return near ? HN_SINGULAR_SYSTEM : HN_NOT_CONVERGED;
        double change =
            !good ? STEP_SHRINK_MIN : STEP_SAFETY * pow(fmax(error, 1e-10), -s->method->exponent);
        // a step over a flat position that is as short as it may be counts what round-off does to its error
        double bound = over && h <= FLAT_LONGER * rk_shortest_over_flat(s, h) ? FLAT_ERROR : 1.0;
        bool enough = fixed || (good && error <= bound);
        s->at_end = good;
        if (enough && !near && (!over || rk_flat_is_exact(s, h))) {
            double growth = rejected ? 1.0 : s->def.projected_rk.step_growth_max;
            if (!fixed) note_stiffness(s, h);
            accept(s, h, end);
            s->h = h * fmax(STEP_SHRINK_MIN, fmin(growth, change));
            if (last) s->h = fmax(s->h, planned);
            if (then > 0.0) s->h = then;
            return HN_OK;
        }
        if (fixed) return HN_SINGULAR_SYSTEM;
        s->statistics.rejected++;
        s->at_end = false;
        rejected = true;
        then = 0.0;
        if (near || (good && over && !enough)) {
            if (++plans > FLAT_PLANS_MAX) return HN_SINGULAR_SYSTEM;
            double allowed = h * (good ? fmax(STEP_SHRINK_MIN, fmin(FLAT_LONGER, change)) : 1.0);
            limit =
                s->def.projected_rk.fixed_steps ? limit : kink; // a state before is interpolated
            allowed = fmax(allowed, rk_shortest_over_flat(s, h));
            s->h = rk_plan_over_flat(h * s->flat.at, allowed, limit - time, &then);
            if (s->h >= then) then = 0.0; // this is the step over it
        } else {
            s->h = h * (enough ? TURN_SHRINK : fmax(STEP_SHRINK_MIN, fmin(1.0, change)));
        }
        if (!good && !begin_step(s, start)) return HN_SINGULAR_SYSTEM; // factors near the point
    }
}

// ---- the scheme -----------------------------------------------------------------------------------------

static void solver_destroy(scheme_solver *s)
{
    if (s == NULL) return;
    hn_context *context = s->system->context;
    orthogonal_projection_destroy(s->orthogonal);
    jet_space_destroy(&s->jet);
    jet_space_destroy(&s->spatial);
    pool_release(&s->memory);
    context_release(context, s);
}

static double *doubles(scheme_solver *s, size_t count)
{
    return pool_doubles(&s->memory, count);
}

// The heaviest body of all that hang from each, over its own mass; from the leaves on
static void find_carried(const hn_system *system, double *carried)
{
    for (int i = system->body_count - 1; i >= 0; --i) {
        const int parent = system->joints[i].parent;
        double mass = mass_weight(system, i);
        if (parent >= 0) carried[parent] = fmax(carried[parent], fmax(carried[i], mass));
        carried[i] /= mass;
    }
}

static hn_status check_settings(hn_context *context, const hn_simulation_def *def)
{
    if (!def->projected_rk.fixed_steps && !(def->projected_rk.absolute_tolerance > 0.0 &&
                                            def->projected_rk.relative_tolerance >= 0.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "projected-rk: absolute_tolerance must be positive and "
                            "relative_tolerance not negative");
    if (!(def->projected_rk.projection_tolerance > 0.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "projected-rk: projection_tolerance must be positive");
    if (!def->projected_rk.fixed_steps && !(def->projected_rk.step_growth_max > 1.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "projected-rk: step_growth_max must be above 1");
    return HN_OK;
}

static hn_status create_spaces(hn_system *system, scheme_solver *s)
{
    const hn_simulation_def *def = &s->def;
    TRY(def->projected_rk.planar ? jet_space_create_planar(system, &s->jet)
                                 : jet_space_create(system, &s->jet));
    if (def->projected_rk.planar) TRY(jet_space_create(system, &s->spatial));
    if (def->projected_rk.projection == HN_PROJECTION_ORTHOGONAL)
        TRY(orthogonal_projection_create(&s->jet, &s->orthogonal));
    if (def->projected_rk.projection == HN_PROJECTION_ALONG_JOINTS && jet_tree_fits(&s->jet))
        TRY(jet_tree_create(&s->jet));
    if (def->projected_rk.impose_momentum) TRY(system_symmetries(system, &s->symmetries, NULL));
    if (def->projected_rk.impose_momentum) jet_join_mechanisms(&s->jet);
    return HN_OK;
}

// all that is per mechanism
static void take_lists(scheme_solver *s, size_t mechanisms)
{
    const int stages = s->method->stages + s->method->dense_stages;
    double *block = doubles(s, (MEMORY_PER_MECHANISM + STAGES_MAX + 8) * mechanisms);
    double **const lists[] = {
        &s->last.energy,   &s->last.work,     &s->work_done,     &s->last.power[0],
        &s->last.power[1], &s->last.power[2], &s->last.power[3], &s->last.power[4],
        &s->last.power[5], &s->work,          &s->energy,        &s->found,
        &s->scale,         &s->rates,         &s->end_rates,     &s->sums};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0] && !s->memory.failed;
         ++k, block += mechanisms)
        *lists[k] = block;
    for (int k = 0; k < stages && !s->memory.failed; ++k, block += mechanisms) s->power[k] = block;
}

static hn_status take_memory(const hn_system *system, scheme_solver *s)
{
    const jet_space *jet = &s->jet;
    size_t ny = (size_t)jet->y_count, nw = (size_t)jet->w_count, rows = (size_t)jet->row_count;
    size_t bodies = (size_t)system->body_count, angles = (size_t)system->angle_count;
    size_t mechanisms = (size_t)jet->mechanism_count;
    s->inside_count = (s->method->dense != NULL ? 2 * SHAPES : QUARTERS - 2) * ny;
    if (MEMORY_ANGLES + angles + MEMORY_PER_MECHANISM * mechanisms + s->inside_count + 2 * ny +
            4 * nw + 2 * POSE_SIZE * bodies >
        MEMORY_VECTORS * POSE_SIZE * bodies)
        return context_fail(system->context, HN_INVALID_MODEL,
                            "projected-rk has no room for %d torsional springs on %d bodies",
                            system->angle_count, system->body_count);
    if (rows < (size_t)s->spatial.row_count) rows = (size_t)s->spatial.row_count;
    if (nw < (size_t)s->spatial.w_count) nw = (size_t)s->spatial.w_count;
    if (ny < (size_t)s->spatial.y_count) ny = (size_t)s->spatial.y_count;
    s->y = doubles(s, ny), s->y_next = doubles(s, ny);
    s->w = doubles(s, nw), s->w_next = doubles(s, nw);
    s->last.y = doubles(s, ny), s->last.w = doubles(s, nw);
    s->last.d = doubles(s, nw), s->last.d_end = doubles(s, nw);
    s->last.inside = doubles(s, s->inside_count);
    s->a = doubles(s, ny), s->a1 = doubles(s, ny);
    const int stages = s->method->stages + s->method->dense_stages;
    for (int k = 0; k < stages; ++k) s->k[k] = doubles(s, 2 * ny);
    s->mu = doubles(s, rows), s->rate = doubles(s, rows);
    for (int k = 0; k < INVARIANTS_MAX; ++k) s->c[k] = doubles(s, nw), s->dw[k] = doubles(s, nw);
    s->q = doubles(s, POSE_SIZE * (size_t)system->body_count);
    s->v = doubles(s, POSE_SIZE * (size_t)system->body_count);
    s->scratch = doubles(s, nw), s->shift = doubles(s, nw);
    take_lists(s, mechanisms);
    s->unit = doubles(s, ny);
    s->part = (int *)doubles(s, ny), s->part_size = (int *)doubles(s, mechanisms);
    s->sixth = doubles(s, ny), s->sixth1 = doubles(s, ny);
    s->error = doubles(s, ny), s->error1 = doubles(s, ny);
    s->carried = doubles(s, bodies);
    s->loops = system->cut_count > 0;
    s->free_stages =
        s->def.projected_rk.projection == HN_PROJECTION_ALONG_JOINTS && jet->tree == NULL;
    for (int k = 0; k < s->method->stages && s->loops; ++k) s->margin[k] = doubles(s, rows);
    s->margin_low = doubles(s, rows), s->margin_high = doubles(s, rows);
    s->kept = (bool *)doubles(s, rows);
    s->turns = doubles(s, (size_t)system->joint_count);
    s->turn_rates = doubles(s, (size_t)system->joint_count);
    TRY(pool_status(&s->memory));
    find_carried(system, s->carried);
    for (int i = 0; i < jet->body_count; ++i)
        for (int k = 0; k < jet->bodies[i].y_count; ++k) {
            const jet_body *b = &jet->bodies[i];
            s->unit[b->y + k] = k < b->w_count ? sqrt(b->weight[k]) : 1.0;
            s->part[b->y + k] = b->mechanism;
            s->part_size[b->mechanism]++;
        }
    return HN_OK;
}

// Are there redundant rows at the start?
static hn_status choose_start_rows(const hn_system *system, scheme_solver *s)
{
    int dropped = 0;
    jet_from_state(&s->jet, system->q_start, s->v, s->y, s->w);
    jet_set_position(&s->jet, s->y);
    jet_evaluate_rows(&s->jet);
    if (system->cut_count > 0) {
        if (jet_choose_rows(&s->jet, &dropped) != HN_OK)
            return context_fail(system->context, HN_SINGULAR_SYSTEM,
                                "the constraints are singular at the start");
        s->redundant = dropped > 0;
        if (!rk_factor(s, METRIC_EUCLIDEAN))
            return context_fail(system->context, HN_SINGULAR_SYSTEM,
                                "the constraints are singular at the start");
        rk_note_margins(s, 0);
        rk_nearest_flat(s, &s->angle_start);
    }
    return HN_OK;
}

static hn_status make_parts(hn_system *system, scheme_solver *s)
{
    TRY(check_settings(system->context, &s->def));
    TRY(create_spaces(system, s));
    TRY(take_memory(system, s));
    return choose_start_rows(system, s);
}

static hn_status solver_create(hn_system *system, const hn_simulation_def *def, scheme_solver **out)
{
    *out = NULL;
    scheme_solver *s = context_allocate(system->context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->memory.context = system->context;
    s->def = *def;
    s->method = rk_method_of_order(def->order);
    s->tolerance = def->projected_rk.projection_tolerance;
    hn_status status = make_parts(system, s);
    if (status != HN_OK) {
        solver_destroy(s);
        return status;
    }
    *out = s;
    return HN_OK;
}

// The arrays of the last internal step in memory, to be read or written; the reported state follows.
static double *exchange_arrays(scheme_solver *s, double *memory, bool write)
{
    size_t ny = (size_t)s->jet.y_count, nw = (size_t)s->jet.w_count,
           m = per_mechanism(s) / sizeof(double);
    double *const arrays[] = {s->last.y,
                              s->last.w,
                              s->last.d,
                              s->y,
                              s->w,
                              s->last.d_end,
                              s->last.inside,
                              s->last.energy,
                              s->last.work,
                              s->work_done,
                              s->last.power[0],
                              s->last.power[1],
                              s->last.power[2],
                              s->last.power[3],
                              s->last.power[4],
                              s->last.power[5]};
    const size_t sizes[] = {ny, nw, nw, ny, nw, nw, s->inside_count, m, m, m, m, m, m, m, m, m};
    const bool dense = memory[MEMORY_DENSE] != 0.0; // otherwise there is nothing inside
    memory += MEMORY_ANGLES + s->system->angle_count;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        double *from = write ? arrays[k] : memory, *to = write ? memory : arrays[k];
        if (dense || arrays[k] != s->last.inside) memcpy(to, from, sizes[k] * sizeof(double));
        else if (write) memset(memory, 0, sizes[k] * sizeof(double));
        memory += sizes[k];
    }
    return memory;
}

// Does memory belong to the state: the same time, q and v?
static bool memory_belongs(const scheme_solver *s, const scheme_step *step)
{
    const double *memory = step->state->memory;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    if (memory == NULL || memory[MEMORY_VALID] != MEMORY_FORM ||
        !(fabs(memory[MEMORY_TIME] - step->time) <= SAME_TIME * fabs(step->time)))
        return false;
    const double *reported = memory + MEMORY_ANGLES + s->system->angle_count + s->inside_count +
                             2 * (size_t)s->jet.y_count + 4 * (size_t)s->jet.w_count +
                             MEMORY_PER_MECHANISM * (size_t)s->jet.mechanism_count;
    return memcmp(reported, step->state->q, count * sizeof(double)) == 0 &&
           memcmp(reported + count, step->state->impetus, count * sizeof(double)) == 0;
}

// Angles at the current point, which lies after the reported state. Without those there, the ones of springs are known.
static void recall_turns(scheme_solver *s, const scheme_step *step)
{
    const hn_system *system = s->system;
    if (step->joint_angles != NULL) {
        memcpy(s->turns, step->joint_angles, (size_t)system->joint_count * sizeof(double));
        follow_angles(s, s->last.end - step->time, false);
    } else {
        for (int i = 0; i < system->element_count; ++i)
            if (system->elements[i].angle >= 0)
                s->turns[system->elements[i].joint] = s->jet.angles[system->elements[i].angle];
        follow_angles(s, 0.0, false);
    }
    s->doubtful_joint = -1;
}

// The last internal step and what goes with it from memory; or an empty one at the state. True: from memory.
static bool recall(scheme_solver *s, const scheme_step *step)
{
    jet_space *jet = &s->jet;
    internal_step *last = &s->last;
    double *memory = step->state->memory, scale;
    size_t angles = (size_t)s->system->angle_count * sizeof(double);
    s->at_end = false;
    if (memory_belongs(s, step)) {
        exchange_arrays(s, memory, false);
        memcpy(jet->angles, memory + MEMORY_ANGLES, angles);
        memcpy(s->momentum, memory + MEMORY_MOMENTUM, sizeof s->momentum);
        last->begin = memory[MEMORY_BEGIN], last->end = memory[MEMORY_END];
        last->dense = memory[MEMORY_DENSE] != 0.0;
        for (int m = 0; m < ERROR_MEASURES; ++m) {
            last->error.value[m] = memory[MEMORY_ERROR + m];
            last->error.body[m] = (int)memory[MEMORY_ERROR + ERROR_MEASURES + m];
        }
        s->h = memory[MEMORY_STEP];
        jet_set_position(jet, s->y);
        jet_set_velocity(jet, s->w);
        recall_turns(s, step);
        return true;
    }
    jet_from_state(jet, step->state->q, step->state->impetus, s->y, s->w);
    jet_set_position(jet, s->y);
    jet_set_velocity(jet, s->w);
    if (step->angles != NULL) memcpy(jet->angles, step->angles, angles);
    else if (step->state->first) memcpy(jet->angles, s->system->angle_start, angles);
    last->begin = last->end = step->time;
    recall_turns(s, step);
    jet_energies(jet, s->w, last->energy, s->scale);
    memset(last->work, 0, per_mechanism(s));
    memset(s->work_done, 0, per_mechanism(s));
    last->dense = false;
    for (int m = 0; m < s->symmetries.count; ++m) s->momentum[m] = rk_momentum(s, m, &scale);
    s->h = 0.0;
    return false;
}

// Beside the memory of the state, which stays what it was should the step be discarded.
static void remember(scheme_solver *s, const scheme_step *step)
{
    double *memory = step->memory;
    const internal_step *last = &s->last;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    if (memory == NULL) return;
    memory[MEMORY_VALID] = MEMORY_FORM;
    memory[MEMORY_TIME] = step->time + step->step_size;
    memory[MEMORY_BEGIN] = last->begin, memory[MEMORY_END] = last->end;
    memory[MEMORY_STEP] = s->h;
    memory[MEMORY_DENSE] = last->dense ? 1.0 : 0.0;
    for (int m = 0; m < ERROR_MEASURES; ++m) {
        memory[MEMORY_ERROR + m] = last->error.value[m];
        memory[MEMORY_ERROR + ERROR_MEASURES + m] = last->error.body[m];
    }
    memcpy(memory + MEMORY_MOMENTUM, s->momentum, sizeof s->momentum);
    memcpy(memory + MEMORY_ANGLES, s->jet.angles, (size_t)s->system->angle_count * sizeof(double));
    double *reported = exchange_arrays(s, memory, true);
    memcpy(reported, step->q, count * sizeof(double));
    memcpy(reported + count, step->impetus, count * sizeof(double));
}

// Lambda at the point (y, w); the planar formulation knows it through the spatial one. `factored`: the jet space is at
// the point, and S is factored there.
static bool find_multipliers(scheme_solver *s, const scheme_step *step, double time,
                             const double *y, const double *w, bool factored)
{
    jet_space *jet = &s->jet;
    int dropped;
    if (s->spatial.system == NULL) {
        if (!factored || s->redundant || s->flat_output) {
            jet_set_position(jet, y);
            jet_set_velocity(jet, w);
            jet_evaluate_rows(jet);
            if (s->loops && jet_choose_rows(jet, &dropped) != HN_OK) return false;
            if (!jet_factor(jet, METRIC_KINETIC, &s->worst_body)) return false;
        }
        jet_forces(jet, jet_at(time));
        jet_distribution(jet, w);
        jet_multipliers(jet, jet_at(time), step->multipliers);
        return true;
    }
    jet_space *space = &s->spatial;
    memcpy(space->angles, jet->angles, (size_t)s->system->angle_count * sizeof(double));
    jet_from_state(space, step->q, step->impetus, s->a, s->scratch);
    jet_set_position(space, s->a);
    jet_set_velocity(space, s->scratch);
    jet_evaluate_rows(space);
    if (jet_choose_rows(space, &dropped) != HN_OK ||
        !jet_factor(space, METRIC_KINETIC, &s->worst_body))
        return false;
    jet_forces(space, jet_at(time));
    jet_distribution(space, s->scratch);
    jet_multipliers(space, jet_at(time), step->multipliers);
    return true;
}

// The next kink of a load, or corner of an expression: no internal step goes beyond it.
static double next_kink(scheme_solver *s)
{
    const hn_system *system = s->system;
    double now = s->last.end + SAME_TIME * fabs(s->last.end), kink = HUGE_VAL;
    bool controlled = !s->def.projected_rk.fixed_steps && s->h > 0.0, sure;
    double span = AHEAD * (controlled ? s->h : s->nominal);
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->profile == NULL || e->profile->kind == HN_PROFILE_CONSTANT) continue;
        if (e->profile->kind != HN_PROFILE_EXPRESSION) {
            kink = fmin(kink, profile_next_kink(e->profile, now));
            continue;
        }
        double end = fmin(kink, now + span);
        kink = fmin(end, profile_next_corner(e->profile, now, end, &sure));
        if (sure) continue;
        say_unsure(s, e);
        kink = fmin(kink, now + s->nominal);
    }
    return kink;
}

// Where the next internal step has to end: a kink of a load, and without dense output the nominal time.
static double step_limit(const scheme_solver *s, double kink, double target)
{
    if (s->def.projected_rk.fixed_steps) return fmin(kink, target);
    return s->def.projected_rk.dense_output || kink < target - SAME_TIME * fabs(target) ? kink
                                                                                        : target;
}

static double sum_of(const scheme_solver *s, const double *x)
{
    double sum = 0.0;
    for (int m = 0; m < s->jet.mechanism_count; ++m) sum += x[m];
    return sum;
}

// Internal steps until one holds the nominal time, then the state there: the current point, or (y_next, w_next) before
// it. `work`: of loads in the nominal step.
// The part of the last internal step that lies in a step to `target` from `time`, with its share of the error.
static void share_error(const scheme_solver *s, double time, double target, local_error *error)
{
    const internal_step *last = &s->last;
    double length = last->end - last->begin,
           common = fmin(target, last->end) - fmax(time, last->begin);
    if (common > 0.0)
        local_error_add(error, &last->error, fmin(1.0, ERROR_SHARE * common / length));
}

static hn_status integrate(scheme_solver *s, scheme_step *step, double target, double *work)
{
    s->nominal = step->step_size;
    bool start = !recall(s, step);
    if (start && !s->def.projected_rk.fixed_steps) {
        if (!begin_step(s, true)) return HN_SINGULAR_SYSTEM;
        s->h = s->def.projected_rk.first_step;
        if (!step->state->first || !(s->h > 0.0)) {
            s->h = first_step(s, step_limit(s, next_kink(s), target) - step->time);
            s->at_end = false;
        }
    }
    *work = -sum_of(s, s->work_done);
    step->error_known = true;
    step->error = (local_error){0};
    if (!start) share_error(s, step->time, target, &step->error);
    for (int64_t count = 0; s->last.end < target; ++count) {
        if (count >= INTERNAL_STEPS_MAX) return HN_NOT_CONVERGED;
        *work += sum_of(s, s->last.work);
        double kink = next_kink(s);
        TRY(advance(s, step, step_limit(s, kink, target), kink, start));
        start = false;
        share_error(s, step->time, target, &step->error);
    }
    bool between = target < s->last.end;
    memcpy(s->work_done, s->last.work, per_mechanism(s));
    if (between && !rk_find_output(s, target)) return HN_NOT_CONVERGED;
    *work += sum_of(s, s->work_done);
    return HN_OK;
}

// After a failure: was the mechanism near a position where constraints lose rank?
static void report_singular(const scheme_solver *s, newton_report *report)
{
    double angle;
    int row = rk_nearest_flat(s, &angle);
    if (row < 0 || angle > fmin(SINGULAR_ANGLE, SINGULAR_FALL * s->angle_start)) return;
    report->singular = true;
    report->singular_joint = jet_joint_of_row(&s->jet, row)->source;
    report->singular_angle = angle;
    report->singular_time = s->last.end;
}

static hn_status solver_step(scheme_solver *s, scheme_step *step, const newton_options *options,
                             newton_report *report)
{
    (void)options; // projections have a tolerance of their own
    jet_space *jet = &s->jet;
    const hn_system *system = s->system;
    double target = step->time + step->step_size, work = 0.0;
    int64_t before = s->statistics.iterations, count = s->statistics.projections;
    hn_status status = integrate(s, step, target, &work);
    if (status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM) report_singular(s, report);
    bool between = target < s->last.end;
    report->worst_body = s->worst_body;
    int64_t projections = s->statistics.projections - count;
    report->iterations =
        projections > 0 ? (int)((s->statistics.iterations - before + projections - 1) / projections)
                        : 0;
    if (status != HN_OK) return status;

    const double *y = between ? s->y_next : s->y, *w = between ? s->w_next : s->w;
    if (!between) jet_set_position(jet, y);
    jet_set_velocity(jet, w);
    jet_to_state(jet, step->q, step->impetus);
    step->multipliers_later = jet->tree != NULL;
    if (jet->tree == NULL && !find_multipliers(s, step, target, y, w, between))
        return HN_SINGULAR_SYSTEM;
    // joints of a tree hold as the projection left them
    double worst = jet->tree != NULL ? 0.0 : system_check_constraints(system, step->q).residual;
    if (s->redundant && worst > fmax(DROPPED_TOLERANCE, 10.0 * s->tolerance))
        return HN_NOT_CONVERGED;
    for (size_t k = 0; k < POSE_SIZE * (size_t)system->body_count; ++k)
        step->delta[k] = step->q[k] - step->state->q[k];
    step->doubtful_joint = s->doubtful_joint;
    for (int k = 0; step->next_joint_angles != NULL && k < system->joint_count; ++k)
        step->next_joint_angles[k] =
            system_joint_counts_turns(system, k)
                ? system_joint_angle(system, k, step->q,
                                     s->turns[k] - (s->last.end - target) * s->turn_rates[k])
                : 0.0;
    step->multiplier_time = target;
    step->work = work;
    report->residual = worst;
    report->increment = 0.0;
    remember(s, step);
    return HN_OK;
}

// On trees alone: the others have found them with the step
static hn_status solver_multipliers(scheme_solver *s, const scheme_state *state, double time,
                                    double *multipliers)
{
    jet_space *jet = &s->jet;
    double *y = s->a, *w = s->scratch;
    s->at_end = false;
    jet_from_state(jet, state->q, state->impetus, y, w);
    jet_set_position(jet, y);
    jet_set_velocity(jet, w);
    jet_forces(jet, jet_at(time));
    if (!jet_tree_distribution(jet, w)) return HN_SINGULAR_SYSTEM;
    jet_evaluate_rows(jet);
    if (!jet_tree_find_multipliers(jet, w)) return HN_SINGULAR_SYSTEM;
    jet_multipliers(jet, jet_at(time), multipliers);
    return HN_OK;
}

static void projected_rk_start(const hn_system *system, const double *v, const double *acceleration,
                               scheme_state *state)
{
    (void)acceleration;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    memcpy(state->impetus, v, count * sizeof(double));
    if (state->memory != NULL) memset(state->memory, 0, MEMORY_VECTORS * count * sizeof(double));
    state->first = true;
}

static void projected_rk_momenta(const hn_system *system, const scheme_state *state,
                                 const step_equations *ahead_equations, const step_data *ahead,
                                 double *p)
{
    (void)ahead_equations, (void)ahead;
    mass_apply(system, 1.0, state->impetus, p);
}

static hn_adaptive_statistics public_statistics(const scheme_solver *solver)
{
    const projected_rk_statistics *t = &solver->statistics;
    return (hn_adaptive_statistics){.accepted_step_count = t->steps,
                                    .rejected_step_count = t->rejected,
                                    .projection_count = t->projections,
                                    .projection_iteration_count = t->iterations,
                                    .projection_iteration_max = t->iterations_max,
                                    .acceleration_count = t->distributions,
                                    .jacobian_count = t->rows,
                                    .second_derivative_count = t->second_derivatives,
                                    .third_derivative_count = t->third_derivatives,
                                    .invariant_count = t->invariants,
                                    .last_step = solver->last.end - solver->last.begin};
}

const scheme_type scheme_projected_rk = {
    .name = "projected-rk",
    .no_holds = "chooses steps of its own, over which efforts have no mean",
    .not_composed = "is explicit; it has order 8 besides",
    .no_beams = "turns bodies by Euler parameters, each with an inertia of its own, which the "
                "nodes of a beam share",
    .may_halve = false,
    .look_ahead = false,
    .memory_count = MEMORY_VECTORS,
    .imposes_invariants = true,
    .no_equations = true,
    .any_rotation = true,
    .ends_steps_at_kinks = true,
    .reaction_weight = 1.0,
    .energy_habit = "not imposed: drifts with the tolerance",
    .start = projected_rk_start,
    .momenta = projected_rk_momenta,
    .solver_create = solver_create,
    .solver_destroy = solver_destroy,
    .solver_step = solver_step,
    .solver_multipliers = solver_multipliers,
    .solver_statistics = public_statistics,
};
