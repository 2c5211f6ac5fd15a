// SPDX-License-Identifier: MIT
// Dormand-Prince 5(4) on the manifold of a jet space, with projection (Tuomela-Arponen-Normi 2006).
// Note: docs/theory/projected-rk.md
//
//   (T1)  M = { g(y) = 0, dg y_1 = 0, |theta|^2 = 1, theta . theta_1 = 0 },  y = (r, theta), w = (r_1, H theta_1)
//   (T2)  E d + B^T lambda = F_e - 8 K - H grad U,   B d = dg l y - d^2 g(y_1, y_1),   B = dg H^T
//   (T3)  y_2 = H^T d - l y,   the distribution is (1, y_1, y_2)
//   (T4)  k_i = (y_1, y_2) at pi(z_n + h sum_j a_ij k_j),   z_n+1 = pi(z_n + h sum_i b_i k_i)
//   (T5)  pi: theta = a/|a|;  y + dg^T mu = a, g(y) = 0;  w + B^T alpha = H a_1, B w = 0
// (quasi-orthogonal)
//   (T6)  pi: the point of M nearest to (a, a_1)                                                  (orthogonal)
//   (T7)  f_inv = 0 at the ends of steps: energy T + U - W_ext, momenta
//   (T8)  h_new = h min(fac_max, max(fac_min, fac err^(-1/5))),  err = |z^ - z| / (Atol + Rtol |z|), root mean square
//
// Keeps: both levels of constraints and the unit length of theta to projection tolerance; energy and momenta when they
// are imposed. Does not keep: energy otherwise (it drifts as the tolerance allows), the symplectic form, time
// symmetry.
//
//   (T9)  dense output: y_1 and y by integrals of y_2, a quartic through its values at the quarters of an internal
//         step; brought to M by pi, and to (T7)
//
// Internal steps run free of the nominal grid: they end where the control says, and at the kinks of loads. The state at
// a nominal time is taken from the internal step that holds it (T9). State between nominal steps: q and the velocities
// v there; beside them `memory` holds that internal step, the size of the next one, the energy and the momenta to be
// kept, unwrapped angles, and the q and v they belong to. When these are not the state's, all is found anew from q, v.
#include "schemes/projected_rk_solver.h"

#include "system/mass.h"

#include <string.h>

enum { MEMORY_VECTORS = 10 };
static const double ERROR_SHARE =
    2.0; // inside an internal step its error may grow so much faster than evenly
static const double ERROR_FIFTH =
    0.1; // of the formula that is gone on with, over the embedded one: measured 0.02 to 0.03

static const double NODES[STAGES] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};
static const double WEIGHTS[STAGES][STAGES] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
// fifth minus fourth order
static const double ERROR_WEIGHTS[STAGES] = {
    71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
    -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

// step control (T8)
static const double STEP_SAFETY = 0.9;
static const double STEP_SHRINK_MIN = 0.2;
static const double STEP_STRETCH = 1.01;   // a step this near to the end of the interval goes there
static const double STEP_SMALLEST = 1e-13; // s, times the time reached: nothing would be added
static const double SAME_TIME = 1e-14;     // of the time: n h and (n - 1) h + h are one grid point
enum { INTERNAL_STEPS_MAX = 20000000 };

static const double STAGE_TOLERANCE = 1e-2;   // of the step control's: inner stages need no more
static const double DROPPED_TOLERANCE = 1e-8; // dropped rows must hold as well

// memory: what is carried beside q and v; angles, the internal step and the reported state follow the numbers
enum {
    MEMORY_VALID,
    MEMORY_TIME,
    MEMORY_BEGIN,
    MEMORY_END,
    MEMORY_STEP,
    MEMORY_ENERGY,
    MEMORY_WORK,
    MEMORY_WORK_DONE,
    MEMORY_DENSE,
    MEMORY_ERROR,
    MEMORY_POWER = MEMORY_ERROR + 2 * ERROR_MEASURES,
    MEMORY_MOMENTUM = MEMORY_POWER + QUARTERS,
    MEMORY_ANGLES = MEMORY_MOMENTUM + INVARIANTS_MAX
};

// ---- one step (T4), (T8) --------------------------------------------------------------------------------

// a, a1 = z_n + h sum_j weights_j k_j
static void combine(scheme_solver *s, double h, const double *weights, int count)
{
    const jet_space *jet = &s->jet;
    int n = jet->y_count;
    jet_rates(jet, s->y, s->w, s->a1);
    memcpy(s->a, s->y, (size_t)n * sizeof(double));
    for (int j = 0; j < count; ++j) {
        double factor_j = h * weights[j];
        if (factor_j == 0.0) continue;
        const double *k = s->k[j];
        for (int i = 0; i < n; ++i) {
            s->a[i] += factor_j * k[i];
            s->a1[i] += factor_j * k[n + i];
        }
    }
}

// From (y, w) with k[0] known to (y_next, w_next) with k[6] known; the error in units of the tolerance.
static bool attempt(scheme_solver *s, double h, double *error, double *work)
{
    const jet_space *jet = &s->jet;
    int n = jet->y_count;
    double time = s->last.end;
    double inner = s->tolerance;
    if (!s->def.fixed_steps)
        inner = fmax(inner,
                     STAGE_TOLERANCE * fmin(s->def.absolute_tolerance, s->def.relative_tolerance));
    for (int stage = 1; stage < STAGES; ++stage) {
        bool last = stage == STAGES - 1;
        combine(s, h, WEIGHTS[stage], stage);
        if (!rk_project(s, last ? s->tolerance : inner, s->y_next, s->w_next)) return false;
        if (last) {
            *work = 0.0;
            for (int j = 0; j < stage; ++j) *work += h * WEIGHTS[stage][j] * s->power[j];
            if (!rk_impose_invariants(s, time + h, s->last.energy + s->last.work + *work, s->y_next,
                                      s->w_next))
                return false;
        }
        rk_distribution(s, s->y_next, s->w_next, time + NODES[stage] * h, stage);
    }
    double sum = 0.0, absolute = s->def.absolute_tolerance, relative = s->def.relative_tolerance;
    jet_rates(jet, s->y, s->w, s->a1);
    jet_rates(jet, s->y_next, s->w_next, s->a);
    for (int i = 0; i < n; ++i) {
        double dy = 0.0, dy1 = 0.0;
        for (int j = 0; j < STAGES; ++j) {
            dy += ERROR_WEIGHTS[j] * s->k[j][i];
            dy1 += ERROR_WEIGHTS[j] * s->k[j][n + i];
        }
        double scale = absolute + relative * fmax(fabs(s->y[i]), fabs(s->y_next[i]));
        double scale1 = absolute + relative * fmax(fabs(s->a1[i]), fabs(s->a[i]));
        sum += h * h * (dy * dy / (scale * scale) + dy1 * dy1 / (scale1 * scale1));
    }
    *error = sqrt(sum / (2.0 * fmax(1.0, (double)n)));
    return isfinite(*error);
}

static double norm_of(const scheme_solver *s, const double *x, const double *x1)
{
    int n = s->jet.y_count;
    double sum = 0.0;
    jet_rates(&s->jet, s->y, s->w, s->a1);
    for (int i = 0; i < n; ++i) {
        double scale = s->def.absolute_tolerance + s->def.relative_tolerance * fabs(s->y[i]);
        double scale1 = s->def.absolute_tolerance + s->def.relative_tolerance * fabs(s->a1[i]);
        sum += x[i] * x[i] / (scale * scale) + x1[i] * x1[i] / (scale1 * scale1);
    }
    return sqrt(sum / (2.0 * fmax(1.0, (double)n)));
}

// A first step from the size of the solution and of its first two derivatives (Hairer, Norsett, Wanner I, II.4).
static double first_step(scheme_solver *s, double interval)
{
    int n = s->jet.y_count;
    jet_rates(&s->jet, s->y, s->w, s->k[1]);
    double d0 = norm_of(s, s->y, s->k[1]), d1 = norm_of(s, s->k[0], s->k[0] + n);
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h = fmin(h, interval);
    const double one = 1.0;
    combine(s, h, &one, 1);
    if (!rk_project(s, s->tolerance, s->y_next, s->w_next)) return 1e-3 * h;
    rk_distribution(s, s->y_next, s->w_next, s->last.end + h, 1);
    for (int i = 0; i < 2 * n; ++i) s->k[1][i] -= s->k[0][i];
    double d2 = norm_of(s, s->k[1], s->k[1] + n) / h;
    double largest = fmax(d1, d2),
           h1 = largest <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / largest, 0.2);
    return fmin(100.0 * h, h1);
}

// k[0] at the current point from its accelerations
static void set_first_stage(scheme_solver *s)
{
    jet_rates(&s->jet, s->y, s->w, s->k[0]);
    jet_second_rates(&s->jet, s->y, s->w, s->last.d_end, s->k[0] + s->jet.y_count);
    s->power[0] = s->last.power[QUARTERS - 1];
}

// Rows, factors and k[0] at the current point; rows are chosen where they are redundant. Accelerations are those of the
// last stage (first same as last) but at the start and where other rows may have been chosen.
static bool begin_step(scheme_solver *s, bool start)
{
    jet_space *jet = &s->jet;
    int dropped;
    if (!s->at_end || s->redundant) {
        jet_set_position(jet, s->y);
        rk_evaluate_rows(s);
        if (s->redundant && jet_choose_rows(jet, &dropped) != HN_OK) return false;
        if (!rk_factor_both(s)) return false;
    }
    s->at_end = true;
    if (!start && !s->redundant) {
        set_first_stage(s);
        return true;
    }
    rk_distribution(s, s->y, s->w, s->last.end, 0);
    memcpy(s->last.d_end, jet->acceleration, (size_t)jet->w_count * sizeof(double));
    s->last.power[QUARTERS - 1] = s->power[0];
    return true;
}

// What the current point of the jet space keeps of constraints and of the energy it should have.
static void note_point(scheme_solver *s, const double *w, double work)
{
    jet_space *jet = &s->jet;
    projected_rk_statistics *t = &s->statistics;
    double scale, size = 1.0, energy = rk_energy(s, w, &scale);
    jet_evaluate_rows(jet);
    jet_apply_rows(jet, w, s->rate);
    for (int i = 0; i < jet->w_count; ++i) size = fmax(size, fabs(w[i]));
    for (int k = 0; k < jet->joint_count; ++k)
        for (int r = 0; r < jet->joints[k].row_count; ++r) {
            double over = jet->joints[k].rows[r].kind == BASIC_SYMMETRIC ? 1.0 : 1.0 / jet->length;
            int row = jet->joints[k].first + r;
            t->position_worst = fmax(t->position_worst, over * fabs(jet->g[row]));
            t->velocity_worst = fmax(t->velocity_worst, over * fabs(s->rate[row]) / size);
        }
    t->energy_last = energy - work - s->energy_start;
    t->energy_worst = fmax(t->energy_worst, fabs(t->energy_last));
}

static void note_accepted(scheme_solver *s, double h)
{
    projected_rk_statistics *t = &s->statistics;
    t->steps++;
    t->step_min = t->steps == 1 ? h : fmin(t->step_min, h);
    t->step_max = fmax(t->step_max, h);
    note_point(s, s->w, s->work_total);
    if (s->observer == NULL) return;
    jet_to_state(&s->jet, s->q, s->v);
    s->observer(s->observer_user, s->last.end, h, s->q, s->v);
}

static void update_angles(scheme_solver *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle >= 0)
            s->jet.angles[e->angle] =
                element_angle(e, system_pose(s->jet.pose, e->a), system_pose(s->jet.pose, e->b),
                              s->jet.angles[e->angle]);
    }
}

// The candidate becomes the current point, the current one the begin of the last internal step.
// Error of the step just made, body by body: part of the embedded formula's, and what projection and invariants moved
// it by, in velocity too. Euler parameters turn by twice their change.
static local_error embedded_error(const scheme_solver *s, double h)
{
    const jet_space *jet = &s->jet;
    const double *last = WEIGHTS[STAGES - 1];
    local_error e = {0};
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *body = &jet->bodies[i];
        int places = body->kind == JET_RIGID || body->kind == JET_POINT ? 3 : 2;
        double move[3] = {0.0}, turn[2] = {0.0}; // squares: formula, shift of y, shift of w
        for (int k = 0; k < body->y_count; ++k) {
            int at = body->y + k;
            double dy = 0.0, shift = s->y_next[at] - s->y[at];
            for (int j = 0; j < STAGES; ++j) dy += ERROR_WEIGHTS[j] * s->k[j][at];
            for (int j = 0; j < STAGES - 1; ++j) shift -= h * last[j] * s->k[j][at];
            double *to = k < places ? move : turn;
            to[0] += dy * dy;
            to[1] += shift * shift;
        }
        for (int k = 0; k < places; ++k) {
            double shift = s->w_next[body->w + k] - s->w[body->w + k];
            for (int j = 0; j < STAGES - 1; ++j)
                shift -= h * last[j] * s->k[j][jet->y_count + body->y + k];
            move[2] += shift * shift;
        }
        local_error_note_body(&e, s->system, i,
                              ERROR_FIFTH * h * sqrt(move[0]) + sqrt(move[1]) + h * sqrt(move[2]),
                              (ERROR_FIFTH * h * sqrt(turn[0]) + sqrt(turn[1])) *
                                  (body->kind == JET_RIGID ? 2.0 : 1.0));
    }
    return e;
}

static void accept(scheme_solver *s, double h, double end, double work)
{
    internal_step *last = &s->last;
    last->error = embedded_error(s, h);
    double *y = last->y, *w = last->w, *d = last->d;
    last->y = s->y, last->w = s->w, last->d = last->d_end;
    s->y = s->y_next, s->w = s->w_next, last->d_end = d;
    s->y_next = y, s->w_next = w;
    memcpy(last->d_end, s->jet.acceleration, (size_t)s->jet.w_count * sizeof(double));
    last->begin = last->end, last->end = end;
    last->energy += last->work;
    last->work = work;
    last->power[0] = s->power[0], last->power[QUARTERS - 1] = s->power[STAGES - 1];
    last->dense = false;
    s->work_total += work;
    // the orthogonal projection does not leave the factors of the nearest position
    s->at_end = s->orthogonal == NULL;
    update_angles(s);
    note_accepted(s, h);
}

// One accepted internal step from the current point, not beyond `limit`.
static hn_status advance(scheme_solver *s, const scheme_step *step, double limit, bool start)
{
    bool rejected = false, fixed = s->def.fixed_steps || s->fixed_step > 0.0;
    if (!begin_step(s, start)) return HN_SINGULAR_SYSTEM;
    for (;;) {
        if (step->stopped != NULL && step->stopped(step->stopped_user)) return HN_CANCELLED;
        double time = s->last.end, planned = s->fixed_step > 0.0 ? s->fixed_step : s->h;
        bool last = s->def.fixed_steps || time + STEP_STRETCH * planned >= limit;
        double h = last ? limit - time : planned, error = 0.0, work = 0.0;
        if (!fixed && !(planned > STEP_SMALLEST * fmax(1.0, fabs(time)) && isfinite(planned)))
            return HN_NOT_CONVERGED;
        bool good = attempt(s, h, &error, &work);
        if (fixed && !good) return HN_NOT_CONVERGED;
        double change = !good ? STEP_SHRINK_MIN : STEP_SAFETY * pow(fmax(error, 1e-10), -0.2);
        if (fixed || (good && error <= 1.0)) {
            double growth = rejected ? 1.0 : s->def.step_growth_max;
            accept(s, h, last ? limit : time + h, work);
            s->h = h * fmax(STEP_SHRINK_MIN, fmin(growth, change));
            if (last) s->h = fmax(s->h, planned);
            return HN_OK;
        }
        s->statistics.rejected++;
        s->h = h * fmax(STEP_SHRINK_MIN, fmin(1.0, change));
        rejected = true;
        s->at_end = false;
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
    for (int k = 0; k < s->memory_count; ++k) context_release(context, s->memory[k]);
    context_release(context, s);
}

static double *doubles(scheme_solver *s, size_t count, bool *good)
{
    double *block = context_allocate(s->system->context, (count + 1) * sizeof(double));
    if (block != NULL) s->memory[s->memory_count++] = block;
    else *good = false;
    return block;
}

static hn_status make_parts(hn_system *system, scheme_solver *s)
{
    const hn_simulation_def *def = &s->def;
    if (!def->fixed_steps && !(def->absolute_tolerance > 0.0 && def->relative_tolerance >= 0.0))
        return context_fail(system->context, HN_INVALID_ARGUMENT,
                            "projected-rk: absolute_tolerance must be positive and "
                            "relative_tolerance not negative");
    if (!(def->projection_tolerance > 0.0))
        return context_fail(system->context, HN_INVALID_ARGUMENT,
                            "projected-rk: projection_tolerance must be positive");
    if (!def->fixed_steps && !(def->step_growth_max > 1.0))
        return context_fail(system->context, HN_INVALID_ARGUMENT,
                            "projected-rk: step_growth_max must be above 1");
    TRY(def->planar ? jet_space_create_planar(system, &s->jet) : jet_space_create(system, &s->jet));
    if (def->planar) TRY(jet_space_create(system, &s->spatial));
    if (def->projection == HN_PROJECTION_ORTHOGONAL)
        TRY(orthogonal_projection_create(&s->jet, &s->orthogonal));
    if (def->impose_momentum) TRY(system_symmetries(system, &s->symmetries));
    const jet_space *jet = &s->jet;
    size_t ny = (size_t)jet->y_count, nw = (size_t)jet->w_count, rows = (size_t)jet->row_count;
    size_t bodies = (size_t)system->body_count, angles = (size_t)system->angle_count;
    if (MEMORY_ANGLES + angles + 5 * ny + 4 * nw + 2 * POSE_SIZE * bodies >
        MEMORY_VECTORS * POSE_SIZE * bodies)
        return context_fail(system->context, HN_INVALID_MODEL,
                            "projected-rk has no room for %d torsional springs on %d bodies",
                            system->angle_count, system->body_count);
    if (rows < (size_t)s->spatial.row_count) rows = (size_t)s->spatial.row_count;
    if (nw < (size_t)s->spatial.w_count) nw = (size_t)s->spatial.w_count;
    if (ny < (size_t)s->spatial.y_count) ny = (size_t)s->spatial.y_count;
    bool good = true;
    s->y = doubles(s, ny, &good), s->y_next = doubles(s, ny, &good);
    s->w = doubles(s, nw, &good), s->w_next = doubles(s, nw, &good);
    s->last.y = doubles(s, ny, &good), s->last.w = doubles(s, nw, &good);
    s->last.d = doubles(s, nw, &good), s->last.d_end = doubles(s, nw, &good);
    s->last.inside = doubles(s, 3 * ny, &good);
    s->a = doubles(s, ny, &good), s->a1 = doubles(s, ny, &good);
    for (int k = 0; k < STAGES; ++k) s->k[k] = doubles(s, 2 * ny, &good);
    s->mu = doubles(s, rows, &good), s->rate = doubles(s, rows, &good);
    for (int k = 0; k < INVARIANTS_MAX; ++k)
        s->c[k] = doubles(s, nw, &good), s->dw[k] = doubles(s, nw, &good);
    s->q = doubles(s, POSE_SIZE * (size_t)system->body_count, &good);
    s->v = doubles(s, POSE_SIZE * (size_t)system->body_count, &good);
    s->scratch = doubles(s, nw, &good), s->shift = doubles(s, nw, &good);
    if (!good) return HN_OUT_OF_MEMORY;
    // are there redundant rows at the start?
    int dropped = 0;
    jet_from_state(&s->jet, system->q_start, s->v, s->y, s->w);
    jet_set_position(&s->jet, s->y);
    jet_evaluate_rows(&s->jet);
    if (system->cut_count > 0) {
        if (jet_choose_rows(&s->jet, &dropped) != HN_OK)
            return context_fail(system->context, HN_SINGULAR_SYSTEM,
                                "the constraints are singular at the start");
        s->redundant = dropped > 0;
    }
    return HN_OK;
}

static hn_status solver_create(hn_system *system, const hn_simulation_def *def, scheme_solver **out)
{
    *out = NULL;
    scheme_solver *s = context_allocate(system->context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->def = *def;
    s->tolerance = def->projection_tolerance;
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
    size_t ny = (size_t)s->jet.y_count, nw = (size_t)s->jet.w_count;
    double *const arrays[] = {s->last.y, s->last.w,     s->last.d,     s->y,
                              s->w,      s->last.d_end, s->last.inside};
    const size_t sizes[] = {ny, nw, nw, ny, nw, nw, 3 * ny};
    memory += MEMORY_ANGLES + s->system->angle_count;
    for (int k = 0; k < 7; ++k) {
        if (write) memcpy(memory, arrays[k], sizes[k] * sizeof(double));
        else memcpy(arrays[k], memory, sizes[k] * sizeof(double));
        memory += sizes[k];
    }
    return memory;
}

// Does memory belong to the state: the same time, q and v?
static bool memory_belongs(const scheme_solver *s, const scheme_step *step)
{
    const double *memory = step->state->memory;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    if (memory == NULL || memory[MEMORY_VALID] == 0.0 ||
        !(fabs(memory[MEMORY_TIME] - step->time) <= SAME_TIME * fabs(step->time)))
        return false;
    const double *reported = memory + MEMORY_ANGLES + s->system->angle_count +
                             5 * (size_t)s->jet.y_count + 4 * (size_t)s->jet.w_count;
    return memcmp(reported, step->state->q, count * sizeof(double)) == 0 &&
           memcmp(reported + count, step->state->impetus, count * sizeof(double)) == 0;
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
        memcpy(last->power, memory + MEMORY_POWER, sizeof last->power);
        last->begin = memory[MEMORY_BEGIN], last->end = memory[MEMORY_END];
        last->energy = memory[MEMORY_ENERGY], last->work = memory[MEMORY_WORK];
        last->dense = memory[MEMORY_DENSE] != 0.0;
        for (int m = 0; m < ERROR_MEASURES; ++m) {
            last->error.value[m] = memory[MEMORY_ERROR + m];
            last->error.body[m] = (int)memory[MEMORY_ERROR + ERROR_MEASURES + m];
        }
        s->h = memory[MEMORY_STEP];
        s->work_done = memory[MEMORY_WORK_DONE];
        return true;
    }
    jet_from_state(jet, step->state->q, step->state->impetus, s->y, s->w);
    jet_set_position(jet, s->y);
    jet_set_velocity(jet, s->w);
    if (step->angles != NULL) memcpy(jet->angles, step->angles, angles);
    else if (step->state->first) memcpy(jet->angles, s->system->angle_start, angles);
    update_angles(s);
    last->begin = last->end = step->time;
    last->energy = rk_energy(s, s->w, &scale);
    last->work = s->work_done = 0.0;
    last->dense = false;
    for (int m = 0; m < s->symmetries.count; ++m) s->momentum[m] = rk_momentum(s, m, &scale);
    s->h = 0.0;
    return false;
}

static void remember(scheme_solver *s, const scheme_step *step)
{
    double *memory = step->state->memory;
    const internal_step *last = &s->last;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    if (memory == NULL) return;
    memory[MEMORY_VALID] = 1.0;
    memory[MEMORY_TIME] = step->time + step->step_size;
    memory[MEMORY_BEGIN] = last->begin, memory[MEMORY_END] = last->end;
    memory[MEMORY_STEP] = s->h;
    memory[MEMORY_ENERGY] = last->energy, memory[MEMORY_WORK] = last->work;
    memory[MEMORY_WORK_DONE] = s->work_done;
    memory[MEMORY_DENSE] = last->dense ? 1.0 : 0.0;
    for (int m = 0; m < ERROR_MEASURES; ++m) {
        memory[MEMORY_ERROR + m] = last->error.value[m];
        memory[MEMORY_ERROR + ERROR_MEASURES + m] = last->error.body[m];
    }
    memcpy(memory + MEMORY_POWER, last->power, sizeof last->power);
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
        if (!factored || s->redundant) {
            jet_set_position(jet, y);
            jet_set_velocity(jet, w);
            jet_evaluate_rows(jet);
            if (s->redundant && jet_choose_rows(jet, &dropped) != HN_OK) return false;
            if (!jet_factor(jet, METRIC_KINETIC, &s->worst_body)) return false;
        }
        jet_forces(jet, time);
        jet_distribution(jet, w);
        jet_multipliers(jet, time, step->multipliers);
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
    jet_forces(space, time);
    jet_distribution(space, s->scratch);
    jet_multipliers(space, time, step->multipliers);
    return true;
}

// Where the next internal step has to end: a kink of a load, and without dense output the nominal time.
static double step_limit(const scheme_solver *s, double target)
{
    const hn_system *system = s->system;
    double now = s->last.end + SAME_TIME * fabs(s->last.end), limit = HUGE_VAL;
    if (s->def.fixed_steps) return target;
    for (int i = 0; i < system->element_count; ++i)
        if (system->elements[i].profile != NULL)
            limit = fmin(limit, profile_next_kink(system->elements[i].profile, now));
    if (s->def.dense_output || limit < target - SAME_TIME * fabs(target)) return limit;
    return target;
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
    bool start = !recall(s, step);
    double scale;
    if (!s->energy_started) {
        jet_set_position(&s->jet, s->y);
        s->energy_start = rk_energy(s, s->w, &scale);
        s->energy_started = true;
    }
    if (start && !s->def.fixed_steps) {
        if (!begin_step(s, true)) return HN_SINGULAR_SYSTEM;
        s->h = s->def.first_step;
        if (!step->state->first || !(s->h > 0.0)) {
            s->h = first_step(s, step_limit(s, target) - step->time);
            s->at_end = false;
        }
    }
    *work = -s->work_done;
    step->error_known = true;
    step->error = (local_error){0};
    if (!start) share_error(s, step->time, target, &step->error);
    for (int64_t count = 0; s->last.end < target; ++count) {
        if (count >= INTERNAL_STEPS_MAX) return HN_NOT_CONVERGED;
        *work += s->last.work;
        TRY(advance(s, step, step_limit(s, target), start));
        start = false;
        share_error(s, step->time, target, &step->error);
    }
    bool between = target < s->last.end;
    s->work_done = s->last.work;
    if (between && !rk_find_output(s, target)) return HN_NOT_CONVERGED;
    *work += s->work_done;
    return HN_OK;
}

static hn_status solver_step(scheme_solver *s, scheme_step *step, const newton_options *options,
                             newton_report *report)
{
    (void)options; // projections have a tolerance of their own
    jet_space *jet = &s->jet;
    const hn_system *system = s->system;
    double begin = rk_seconds(s), target = step->time + step->step_size, work = 0.0;
    int64_t before = s->statistics.iterations, count = s->statistics.projections;
    double work_before = s->work_total;
    hn_status status = integrate(s, step, target, &work);
    if (status != HN_OK) s->work_total = work_before; // the step is made again, or never
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
    if (between) note_point(s, w, s->work_total - s->last.work + s->work_done);
    if (!find_multipliers(s, step, target, y, w, between)) return HN_SINGULAR_SYSTEM;
    double worst = system_check_constraints(system, step->q).residual;
    if (s->redundant && worst > fmax(DROPPED_TOLERANCE, 10.0 * s->tolerance))
        return HN_NOT_CONVERGED;
    for (size_t k = 0; k < POSE_SIZE * (size_t)system->body_count; ++k)
        step->delta[k] = step->q[k] - step->state->q[k];
    if (step->next_angles != NULL)
        memcpy(step->next_angles, jet->angles, (size_t)system->angle_count * sizeof(double));
    step->multiplier_time = target;
    step->work = work;
    report->residual = worst;
    report->increment = 0.0;
    remember(s, step);
    s->statistics.total_seconds += rk_seconds(s) - begin;
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

projected_rk_statistics projected_rk_get_statistics(const scheme_solver *solver)
{
    return solver->statistics;
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

void projected_rk_set_timing(scheme_solver *solver, bool on)
{
    solver->timing = on;
}

void projected_rk_set_projection_tolerance(scheme_solver *solver, double tolerance)
{
    solver->tolerance = tolerance;
}

void projected_rk_set_observer(scheme_solver *solver, projected_rk_observer observer, void *user)
{
    solver->observer = observer;
    solver->observer_user = user;
}

void projected_rk_set_internal_step(scheme_solver *solver, double step_size)
{
    solver->fixed_step = step_size;
}

const jet_space *projected_rk_space(const scheme_solver *solver)
{
    return &solver->jet;
}

const scheme_type scheme_projected_rk = {
    .name = "projected-rk",
    .may_halve = false,
    .look_ahead = false,
    .memory_count = MEMORY_VECTORS,
    .imposes_invariants = true,
    .no_equations = true,
    .any_rotation = true,
    .reaction_weight = 1.0,
    .energy_habit = "not imposed: drifts with the tolerance",
    .start = projected_rk_start,
    .momenta = projected_rk_momenta,
    .solver_create = solver_create,
    .solver_destroy = solver_destroy,
    .solver_step = solver_step,
    .solver_statistics = public_statistics,
};
