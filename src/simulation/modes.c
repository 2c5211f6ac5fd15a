// SPDX-License-Identifier: MIT
// Modes by shift and inversion: the sparse factors of K - sigma M, Arnoldi's method, and counts of eigenvalues to be
// sure. Note: docs/theory/statics.md
//
//   (Q4)  K x + G^T nu = eta M x,  G x = 0;   s = +-sqrt(-eta)
//   (Q5)  A = (K - sigma M)^-1 M on these motions has the eigenvalues 1/(eta - sigma)
#include "linalg/krylov.h"
#include "base/sized.h"
#include "simulation/moving.h"
#include "simulation/soft_motions.h"
#include "simulation/state_dynamics.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

static const double TOLERANCE = 1e-11; // of an eigenpair
static const double SHIFT_STEP = 0.1;
static const double ROUND_OFF = 1e-8;  // of an eigenvalue: it is real
static const double NO_SHARE = 1e-20;  // of the norm of a shape: that of a body is round-off
static const double NO_MOTION = 1e-13; // of the largest eigenvalue of (Q5)
enum { SHIFTS_MAX = 24, SEARCHES_MAX = 5, SPARE = 4, SOFT_MAX = 160 };

void hn_modes_def_init(hn_modes_def *def, size_t size)
{
    const hn_modes_def known = {.size = size, .count = 10, .statics = hn_static_def_default()};
    sized_fill(def, size, &known, sizeof known);
}

typedef struct mode_search {
    statics x;
    int wanted;
    double shift;                // -sigma, 1/s^2
    double *velocity, *momentum; // 12 per body
    krylov_operator inverse;
    krylov_pairs pairs;
    int *order; // of the pairs, from the lowest on
    int low;    // of these the first are soft: their eigenvalues are summed up over the model
    double *soft;
} mode_search;

// ---- the operator -----------------------------------------------------------------------------------

static void to_momenta(const mode_search *m, const double *twists)
{
    const hn_simulation *s = m->x.simulation;
    for (int i = 0; i < s->system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(s->state.q + at, twists + TWIST_SIZE * (size_t)i, m->velocity + at);
        if (!s->system->bodies[i].has_directors)
            memset(m->velocity + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
    mass_apply(s->system, 1.0, m->velocity, m->momentum);
}

static void apply_metric(void *owner, const double *x, double *y)
{
    const mode_search *m = owner;
    const hn_simulation *s = m->x.simulation;
    to_momenta(m, x);
    for (int i = 0; i < s->system->body_count; ++i) {
        double *wrench = y + TWIST_SIZE * (size_t)i;
        force_to_wrench(system_pose(s->state.q, i), m->momentum + POSE_SIZE * (size_t)i, wrench);
        if (!s->system->bodies[i].has_directors) memset(wrench + 3, 0, 3 * sizeof(double));
    }
    static_border_add_rotors(&m->x.border, s->state.q, m->velocity, y);
}

// (Q5)
static void apply_inverse(void *owner, const double *x, double *y)
{
    mode_search *m = owner;
    const hn_simulation *s = m->x.simulation;
    size_t n = TWIST_SIZE * (size_t)s->system->body_count;
    to_momenta(m, x);
    static_border_add_momenta(&m->x.border, s->state.q, m->velocity, m->momentum);
    memset(y, 0, n * sizeof(double));
    saddle_project_again(closed_system(m->x.solver), s->state.q, m->momentum, y);
    for (size_t k = 0; k < n; ++k) y[k] /= m->x.row_factor;
    static_border_project(&m->x.border, s->state.q, y);
}

// K + shift M, made symmetric where loads have a potential.
static hn_status assemble(mode_search *m, double shift)
{
    TRY(statics_assemble(&m->x, shift));
    if (m->x.found.conservative) saddle_symmetrise(closed_system(m->x.solver));
    return HN_OK;
}

// Eigenvalues below `value`, of the symmetric part; -1: one of them is there, or one of a part of the model, which
// elimination meets.
static int count_below(mode_search *m, double value)
{
    int count;
    return statics_count_below(&m->x, -value, 0.0, &count) == HN_OK ? count : -1;
}

// The same between two values, in the middle or where it can be counted; -1: nowhere.
static int count_between(mode_search *m, double low, double high)
{
    static const double PLACES[] = {0.5, 0.5371, 0.4613, 0.5819, 0.4177};
    int count = -1;
    for (size_t k = 0; k < sizeof PLACES / sizeof PLACES[0] && count < 0; ++k)
        count = count_below(m, low + PLACES[k] * (high - low));
    return count;
}

// ---- the search -------------------------------------------------------------------------------------

static double eigenvalue_of(const mode_search *m, int k, double *imaginary)
{
    *imaginary = 0.0;
    for (int i = 0; i < m->low; ++i)
        if (m->order[i] == k) return m->soft[i];
    // eta = sigma + 1/theta
    double a = m->pairs.real[k], b = m->pairs.imaginary[k], square = a * a + b * b;
    *imaginary = -b / square;
    return a / square - m->shift;
}

static void sort_pairs(mode_search *m)
{
    for (int k = 0; k < m->pairs.count; ++k) {
        double unused, value = eigenvalue_of(m, k, &unused);
        int to = k;
        for (; to > 0 && eigenvalue_of(m, m->order[to - 1], &unused) > value; --to)
            m->order[to] = m->order[to - 1];
        m->order[to] = k;
    }
}

// All eigenvalues of (Q5) are positive, as the shift is below all of (Q4). Where masses are very far apart, round-off
// of the heavy ones outweighs the light ones and leaves vectors that no motion has, with zeros of any sign.
static void drop_what_is_no_motion(mode_search *m)
{
    krylov_pairs *p = &m->pairs;
    size_t size = TWIST_SIZE * (size_t)m->x.simulation->system->body_count;
    double largest = p->count > 0 ? fabs(p->real[0]) : 0.0;
    int kept = 0;
    for (int k = 0; k < p->count; ++k) {
        if (p->real[k] < 0.0 && p->real[k] > -NO_MOTION * largest) continue;
        p->real[kept] = p->real[k];
        p->imaginary[kept] = p->imaginary[k];
        if (kept < k)
            memcpy(p->vectors + (size_t)kept * size, p->vectors + (size_t)k * size,
                   size * sizeof(double));
        ++kept;
    }
    p->count = kept;
}

static hn_status factor(mode_search *m, double shift)
{
    hn_context *context = m->x.simulation->context;
    int worst = 0;
    TRY(assemble(m, shift));
    if (!saddle_factor(closed_system(m->x.solver), &worst))
        return context_fail(context, HN_SINGULAR_SYSTEM,
                            "modes: the stiffness is singular at body '%s'",
                            m->x.simulation->system->bodies[worst].name);
    if (!static_border_factor(&m->x.border, m->x.simulation->state.q, m->x.row_factor, shift))
        return context_fail(context, HN_SINGULAR_SYSTEM,
                            "modes: couplings or motions hold what loops hold already");
    return HN_OK;
}

static hn_status search_with(mode_search *m, double shift, int extra)
{
    hn_context *context = m->x.simulation->context;
    m->low = 0;
    m->inverse = (krylov_operator){.size = TWIST_SIZE * m->x.simulation->system->body_count,
                                   .dimension = m->x.freedom,
                                   .symmetric = m->x.found.conservative,
                                   .apply = apply_inverse,
                                   .metric = apply_metric,
                                   .owner = m};
    m->shift = shift;
    TRY(factor(m, shift));
    krylov_release(&m->pairs);
    hn_status status = krylov_largest(context, &m->inverse, m->wanted, extra, TOLERANCE, &m->pairs);
    if (status == HN_NOT_CONVERGED)
        return context_fail(context, status, "modes: the eigenvalue iteration did not converge");
    if (status == HN_CANCELLED) {
        (void)context_take_cancel(context);
        return context_fail(context, status, "modes: cancelled");
    }
    if (status == HN_OK && m->x.found.conservative) drop_what_is_no_motion(m);
    if (status == HN_OK) sort_pairs(m);
    return status;
}

// How many eigenvalues the search has missed, by a count in the largest gap of its upper half.
static int count_missed(mode_search *m)
{
    int n = m->pairs.count, gap = -1;
    double widest = 1e-6, unused;
    for (int k = n / 2 > 1 ? n / 2 : 1; k < n; ++k) {
        double low = eigenvalue_of(m, m->order[k - 1], &unused),
               high = eigenvalue_of(m, m->order[k], &unused);
        double size = (high - low) / (high + m->shift);
        if (size > widest) widest = size, gap = k;
    }
    if (gap < 0) return 0;
    int below = count_between(m, eigenvalue_of(m, m->order[gap - 1], &unused),
                              eigenvalue_of(m, m->order[gap], &unused));
    return below > gap ? below - gap : 0;
}

// A shift below all eigenvalues that is no smaller than it must be: within a decade of the lowest that is not zero.
static double choose_shift(mode_search *m)
{
    int none = m->x.found.unstable_count + m->x.found.neutral_count;
    double above = m->x.row_factor;
    for (int k = 0; k < SHIFTS_MAX && count_between(m, 0.0, 2.0 * SHIFT_STEP * above) > none; ++k)
        above *= SHIFT_STEP;
    double shift = SHIFT_STEP * above;
    for (int k = 0; k < SHIFTS_MAX && count_below(m, -shift) != 0; ++k) shift /= SHIFT_STEP;
    return shift;
}

static hn_status search(mode_search *m)
{
    TRY(search_with(m, choose_shift(m), 0));
    for (int k = 0, extra = 0; m->x.found.conservative && k < SEARCHES_MAX; ++k) {
        int missed = count_missed(m);
        if (missed == 0) break;
        extra += missed + 4;
        TRY(search_with(m, m->shift, extra));
    }
    return HN_OK;
}

// ---- soft ones --------------------------------------------------------------------------------------

// Shift and inversion know eigenvalues to a part of the shift, and of the largest stiffness: those near zero are found
// once more by (Q8), in the space of their shapes.
static hn_status refine(mode_search *m)
{
    const double SOFT = 30.0; // of the shift
    size_t size = TWIST_SIZE * (size_t)m->x.simulation->system->body_count;
    hn_context *context = m->x.simulation->context;
    double unused;
    int count = 0;
    while (count < m->pairs.count && count < SOFT_MAX &&
           fabs(eigenvalue_of(m, m->order[count], &unused)) <= SOFT * m->shift)
        ++count;
    if (count == 0 || !m->x.found.conservative) return HN_OK;
    m->soft = context_allocate(context, ((size_t)count + (size_t)count * size) * sizeof(double));
    if (m->soft == NULL) return HN_OUT_OF_MEMORY;
    double *shapes = m->soft + count;
    for (int k = 0; k < count; ++k)
        memcpy(shapes + (size_t)k * size, m->pairs.vectors + (size_t)m->order[k] * size,
               size * sizeof(double));
    TRY(factor(m, m->shift)); // counts leave no factors
    TRY(soft_motions_part(&m->x, &m->inverse, count, shapes, m->soft));
    for (int k = 0; k < count; ++k)
        memcpy(m->pairs.vectors + (size_t)m->order[k] * size, shapes + (size_t)k * size,
               size * sizeof(double));
    m->low = count;
    return HN_OK;
}

// What round-off leaves open of a soft one
static hn_status judge(const mode_search *m, int place, hn_mode *mode)
{
    const double TURN = 6.283185307179586;
    motion_stiffness s;
    if (place >= m->low) return HN_OK;
    TRY(soft_motion_stiffness(&m->x,
                              m->pairs.vectors + (size_t)m->order[place] * TWIST_SIZE *
                                                     (size_t)m->x.simulation->system->body_count,
                              &s));
    mode->round_off = sqrt(s.round_off) / TURN;
    int first = m->x.found.unstable_count;
    mode->rigid = place >= first && place < first + m->x.found.neutral_count;
    mode->held = mode->rigid && s.terms > s.round_off;
    if (mode->rigid) mode->frequency = mode->growth_rate = 0.0;
    return HN_OK;
}

// ---- what is found ----------------------------------------------------------------------------------

static hn_mode describe(const mode_search *m, int place)
{
    const double TURN = 6.283185307179586;
    const hn_simulation *s = m->x.simulation;
    const hn_system *system = s->system;
    int k = m->order[place];
    double imaginary, value = eigenvalue_of(m, k, &imaginary);
    if (fabs(imaginary) < ROUND_OFF * fabs(value)) imaginary = 0.0;
    // sqrt(-eta): its real part grows, its imaginary one swings
    double size = hypot(value, imaginary), growth = sqrt(fmax(0.0, 0.5 * (size - value))),
           swing = sqrt(fmax(0.0, 0.5 * (size + value)));
    hn_mode mode = {.frequency = swing / TURN, .growth_rate = growth, .eigenvalue = value};
    const double *shape = m->pairs.vectors + (size_t)k * TWIST_SIZE * (size_t)system->body_count;
    double largest = -1.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *t = shape + TWIST_SIZE * (size_t)i;
        double moves = vec3_norm(vec3_load(t)) + system->sizes[i] * vec3_norm(vec3_load(t + 3));
        // beside much heavier ones a light body has round-off, which the norm of the shape does not see
        if (mass_node(system, i)[0] * moves * moves < NO_SHARE) moves = 0.0;
        if (moves > largest) {
            largest = moves;
            mode.body = hn_simulation_body(s, system->bodies[i].model_index);
        }
    }
    return mode;
}

// The real part of a shape for each of a conjugate pair; model order.
static void store_shape(const mode_search *m, int place, double *shape)
{
    const hn_system *system = m->x.simulation->system;
    const double *from =
        m->pairs.vectors + (size_t)m->order[place] * TWIST_SIZE * (size_t)system->body_count;
    for (int i = 0; i < system->body_count; ++i)
        memcpy(shape + TWIST_SIZE * (size_t)system->bodies[i].model_index,
               from + TWIST_SIZE * (size_t)i, TWIST_SIZE * sizeof(double));
}

static hn_status find_modes(mode_search *m, const hn_modes_def *def, hn_mode *modes, double *shapes,
                            hn_modes_report *report)
{
    const hn_system *system = m->x.simulation->system;
    hn_context *context = m->x.simulation->context;
    size_t poses = POSE_SIZE * (size_t)system->body_count;
    m->wanted = def->count + SPARE;
    m->velocity = context_allocate(context, (2 * poses + 1) * sizeof(double));
    m->order = context_allocate(context, ((size_t)m->wanted + 2) * sizeof(int));
    if (m->velocity == NULL || m->order == NULL) return HN_OUT_OF_MEMORY;
    m->momentum = m->velocity + poses;
    statics_set_loads(&m->x, 1.0);
    TRY(statics_find_multipliers(&m->x));
    TRY(statics_find_stability(&m->x));
    // what nothing can move has round-off for modes
    if (m->x.freedom > 0) {
        TRY(search(m));
        TRY(refine(m));
    }
    int count = m->pairs.count < def->count ? m->pairs.count : def->count;
    if (count > m->x.freedom) count = m->x.freedom > 0 ? m->x.freedom : 0;
    if (count < def->count && count < m->x.freedom)
        context_log(context,
                    "modes: %d of the %d motions have none that is told from round-off: their "
                    "inertia is none, or too small beside that of the others",
                    m->x.freedom - count, m->x.freedom);
    for (int k = 0; k < count; ++k) {
        modes[k] = describe(m, k);
        TRY(judge(m, k, &modes[k]));
        if (shapes != NULL)
            store_shape(m, k, shapes + (size_t)k * TWIST_SIZE * (size_t)system->body_count);
    }
    *report =
        (hn_modes_report){.count = count, .equilibrium = m->x.found, .error = m->pairs.residual};
    if (m->x.found.conservative) return HN_OK;
    // the symmetric part does not tell: of those that were found
    report->equilibrium.unstable_count = 0;
    for (int k = 0; k < count; ++k)
        report->equilibrium.unstable_count += modes[k].growth_rate > 0.0;
    return HN_OK;
}

static hn_status tell_motion(hn_simulation *s)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double *v = context_allocate(s->context, size * sizeof(double));
    if (v == NULL) return HN_OUT_OF_MEMORY;
    simulation_velocities(s, v);
    moving_tell(s, v);
    context_release(s->context, v);
    return HN_OK;
}

hn_status hn_simulation_modes(hn_simulation *s, const hn_modes_def *def, hn_mode *modes,
                              double *shapes, hn_modes_report *report)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, def != NULL && modes != NULL && report != NULL);
    OWN_COPY(s->context, hn_modes_def, def, hn_modes_def_default());
    if (def->count < 1)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "modes: their number is %d; expected at least 1", def->count);
    *report = (hn_modes_report){0};
    TRY(tell_motion(s));
    if (!def->at_start) TRY(hn_simulation_find_equilibrium(s, &def->statics, NULL));
    mode_search m = {.wanted = 0};
    context_begin_cancellable(s->context);
    hn_status status = statics_begin(s, &def->statics, &m.x);
    if (status == HN_OK) status = find_modes(&m, def, modes, shapes, report);
    context_end_cancellable(s->context);
    report->equilibrium.load_factor = 1.0;
    if (m.x.start != NULL) // efforts that hold are those of the search
        memcpy(s->angles, m.x.start + POSE_SIZE * (size_t)s->system->body_count,
               (size_t)s->system->angle_count * sizeof(double));
    krylov_release(&m.pairs);
    context_release(s->context, m.velocity);
    context_release(s->context, m.order);
    context_release(s->context, m.soft);
    statics_end(&m.x);
    s->steps[0].valid = s->steps[1].valid = false;
    simulation_forget_derived(s);
    return status;
}

hn_status hn_simulation_show_shape(hn_simulation *s, const double *shape, double amount,
                                   int64_t step_count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, shape != NULL && isfinite(amount) && step_count >= 0);
    const hn_system *system = s->system;
    size_t n = (size_t)system->body_count;
    double *twists =
        context_allocate(s->context, (TWIST_SIZE * n + (size_t)system->dof + 1) * sizeof(double));
    if (twists == NULL) return HN_OUT_OF_MEMORY;
    double *increments = twists + TWIST_SIZE * n;
    solved_step *step = &s->steps[s->ahead];
    memcpy(step->q_start, system->q_start, POSE_SIZE * n * sizeof(double));
    step->equations = (step_equations){.step_size = s->def.step_size};
    predict_step(s, s->reduction_kind, step, GUESS_REST);
    for (int i = 0; i < system->body_count; ++i) {
        double *t = twists + TWIST_SIZE * (size_t)i;
        const double *from = shape + TWIST_SIZE * (size_t)system->bodies[i].model_index;
        motion m;
        for (int k = 0; k < TWIST_SIZE; ++k) t[k] = amount * from[k];
        tree_motion(system, step->data.joints, step->data.q, i, &m);
        motion_rates(&m,
                     system->parent[i] < 0 ? NULL : twists + TWIST_SIZE * (size_t)system->parent[i],
                     t, increments + system->dof_offset[i]);
    }
    tree_advance(system, increments, &step->data);
    context_release(s->context, twists);
    s->state.q = step->data.q;
    s->ahead = 1 - s->ahead;
    s->steps[0].valid = s->steps[1].valid = false;
    s->step_count = step_count;
    simulation_forget_derived(s);
    simulation_update_angles(s);
    return HN_OK;
}
