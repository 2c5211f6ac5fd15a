// SPDX-License-Identifier: MIT
// The change of a linear system along its motion. Note: docs/theory/linearisation.md
//
//   (I10)  body by body: g = g_parent exp(h xi + h^2/2 xi'), xi: its screw in the axes of its parent
//   (I13)  of (v, a) what lasts: rates - h^2/12 A y, accelerations + y - d with (1 - hA/2 + h^2 A^2/12) y = d, the mean
//          of d exp(tA) until h: d is the change of rates and accelerations along the motion, of what leads included
//   (I11)  c = max_k |(A_t - z_k)^-1 (A_t+h - A_t) q_k| / (nu_k h),  nu_k = max(|lambda_k|, rate of the state),
//          q_k: Schur vectors of A, slow ones first; z_k = lambda_k + nu_k (0.6 + 0.8 i)
#include "simulation/linear_change.h"

#include "base/array.h"
#include "base/rotation.h"
#include "linalg/dense.h"

#include <complex.h>
#include <float.h>
#include <string.h>

enum { ADVANCE_SIZE = 18 }; // of a body: turn, way, angular velocity, velocity

static const double ADVANCE = 0.05;  // rad, or m over the size of a body: how far the state goes
static const double SLOWLY = 0.1;    // rad of the slowest eigenmotion, at most
static const double TREMBLES = 1e-4; // of the slowest eigenmotion: a state that hardly moves
static const double WHEEL = 10.0;    // times the slowest turn: what turns faster may hide that
static const double SLOW = 1e-4;     // of the fastest turn: a body that trembles
static const double STANDS = 1e-9;   // rad: no motion to speak of
static const double ROUND_OFF = 1e3 * DBL_EPSILON; // of a sum of products of A with an eigenvector

// ---- how it moves ------------------------------------------------------------------------------------------------

typedef struct body_motion {
    hn_vec3 center, v, omega, a, alpha;
} body_motion;

static body_motion motion_of(const linear_watch *s, int body)
{
    body_motion m = {.center = vec3(0.0, 0.0, 0.0)};
    if (body < 0) return m;
    const double *q = system_pose(s->q, body);
    size_t at = POSE_SIZE * (size_t)body;
    double twist[TWIST_SIZE];
    // alpha from d'' = alpha x d + omega x (omega x d): the second part cancels in sum d x d''/2
    velocity_to_twist(q, s->v + at, twist);
    m.center = pose_center(q), m.v = vec3_load(twist), m.omega = vec3_load(twist + 3);
    velocity_to_twist(q, s->a + at, twist);
    m.a = vec3_load(twist), m.alpha = vec3_load(twist + 3);
    return m;
}

// A body in the axes of its parent in the tree: way of its centre, turn, and their rates. Points turn with the parent.
typedef struct relative_motion {
    hn_vec3 arm, way, turn, way_rate, turn_rate;
} relative_motion;

static relative_motion relative_of(const linear_watch *s, int body)
{
    body_motion b = motion_of(s, body), p = motion_of(s, s->system->parent[body]);
    if (!s->system->bodies[body].has_directors) b.omega = p.omega, b.alpha = p.alpha;
    relative_motion r = {.arm = vec3_subtract(b.center, p.center)};
    r.turn = vec3_subtract(b.omega, p.omega);
    r.turn_rate = vec3_subtract(vec3_subtract(b.alpha, p.alpha), vec3_cross(p.omega, r.turn));
    r.way = vec3_subtract(vec3_subtract(b.v, p.v), vec3_cross(p.omega, r.arm));
    hn_vec3 carried =
        vec3_add(vec3_cross(p.alpha, r.arm), vec3_cross(p.omega, vec3_cross(p.omega, r.arm)));
    carried = vec3_add_scaled(vec3_add(p.a, carried), 2.0, vec3_cross(p.omega, r.way));
    r.way_rate = vec3_subtract(b.a, carried);
    return r;
}

// Rates and accelerations of a body, rad or parts of its size
static void add_rates(const linear_watch *s, int body, double *speed, double *growth)
{
    const hn_system *system = s->system;
    relative_motion r = relative_of(s, body);
    *speed = fmax(*speed, vec3_norm(motion_of(s, body).omega));
    *growth = fmax(*growth, vec3_norm(r.turn_rate));
    if (system->parent[body] < 0 && system->joints[body].kind == HN_JOINT_FREE)
        return; // where it flies is nothing
    *speed = fmax(*speed, vec3_norm(r.way) / system->sizes[body]);
    *growth = fmax(*growth, vec3_norm(r.way_rate) / system->sizes[body]);
}

// What flies without turning
static double flight_of(const linear_watch *s)
{
    double fastest = 0.0;
    for (int i = 0; i < s->system->body_count; ++i)
        fastest = fmax(fastest, vec3_norm(motion_of(s, i).v) / s->system->sizes[i]);
    return fastest;
}

// The time of an advance by velocities and, where they are known to last, accelerations
static void find_time(linear_watch *s, double slowest, bool accelerated)
{
    double speed = 0.0, growth = 0.0, time = HUGE_VAL;
    for (int i = 0; i < s->system->body_count; ++i) add_rates(s, i, &speed, &growth);
    if (speed > 0.0) time = ADVANCE / speed;
    if (accelerated && growth > 0.0) time = fmin(time, sqrt(ADVANCE / growth));
    if (slowest > 0.0 && speed < TREMBLES * slowest) time = fmin(time, SLOWLY / slowest);
    if (!isfinite(time) && growth > 0.0) time = sqrt(ADVANCE / growth);
    double way = speed * time, more = 0.5 * growth * time * time;
    bool moves = isfinite(time) && fmax(fmax(way, more), flight_of(s) * time) > STANDS;
    s->time = moves ? time : 0.0;
    s->rate = fmax(speed, sqrt(growth));
    s->growth = growth;
    s->from_rest = way < more;
}

// ---- A in triangles ---------------------------------------------------------------------------------------------

// Coordinates by the root of their mass times a frequency, rates by the root alone
static void find_scales(const state_dynamics *x, linear_watch *s, double frequency)
{
    size_t count = (size_t)x->frame.count, first = (size_t)x->frame.driven_count;
    int free = s->free;
    double mean = 0.0;
    for (int k = 0; k < free; ++k) {
        double root = sqrt(x->mass[(first + (size_t)k) * (count + 1)]);
        s->scales[k] = frequency * root, s->scales[free + k] = root;
        mean += root / free;
    }
    for (int k = 2 * free; k < s->n; ++k) s->scales[k] = frequency * frequency * mean;
}

static double complex complex_of(double real, double imaginary)
{
    return real + imaginary * (double complex)I;
}

// (T - z)^-1 right by rows from below: its norm. Blocks of two are conjugate pairs.
static double respond(linear_watch *w, double z_real, double z_imaginary)
{
    int n = w->n;
    double sum = 0.0, *x = w->real, *y = w->imaginary;
    for (int k = n - 1; k >= 0;) {
        bool pair = k > 0 && w->schur[(size_t)k * (size_t)n + (size_t)k - 1] != 0.0;
        int first = pair ? k - 1 : k;
        for (int row = first; row <= k; ++row) {
            const double *t = w->schur + (size_t)row * (size_t)n;
            x[row] = w->right[row] - array_dot(t + k + 1, x + k + 1, (size_t)(n - 1 - k));
            y[row] = -array_dot(t + k + 1, y + k + 1, (size_t)(n - 1 - k));
        }
        const double *t = w->schur + (size_t)first * (size_t)n + first;
        double complex a = complex_of(t[0] - z_real, -z_imaginary),
                       u = complex_of(x[first], y[first]);
        if (pair) {
            double complex d = complex_of(t[n + 1] - z_real, -z_imaginary),
                           v = complex_of(x[k], y[k]), det = a * d - t[1] * t[n];
            double complex second = (a * v - t[n] * u) / det;
            u = (d * u - t[1] * v) / det;
            x[k] = creal(second), y[k] = cimag(second);
            sum += x[k] * x[k] + y[k] * y[k];
        } else u = u / a;
        x[first] = creal(u), y[first] = cimag(u);
        sum += x[first] * x[first] + y[first] * y[first];
        k = first - 1;
    }
    return sqrt(sum);
}

// (I13)
static void find_lasting(const state_dynamics *x, const linear_view *view, linear_watch *s)
{
    const motion_frame *f = &x->frame;
    size_t n = (size_t)s->n, free = (size_t)s->free, first = (size_t)f->driven_count,
           size = POSE_SIZE * (size_t)f->system->body_count;
    const double ROOT = 1.7320508075688772;
    double *mean = s->scratch;
    for (size_t i = 0; i < n; ++i) {
        s->right[i] = 0.0;
        for (size_t k = 0; k < n; ++k)
            s->right[i] += s->basis[k * n + i] * s->scales[k] * view->drift[k];
    }
    // y = 12/h^2 (A - z)^-1 (A - z*)^-1 d, z = (3 + i sqrt 3)/h
    respond(s, 3.0 / s->time, ROOT / s->time);
    for (size_t i = 0; i < n; ++i)
        mean[i] =
            12.0 / (ROOT * s->time) * array_dot(s->basis + i * n, s->imaginary, n) / s->scales[i];
    for (size_t k = 0; k < free; ++k) {
        const double *way = frame_motion(f, (int)(first + k));
        double rate = -s->time * s->time / 12.0 * array_dot(view->a + k * n, mean, n),
               growth = mean[k] - view->drift[k];
        for (size_t i = 0; i < size; ++i) s->v[i] += rate * way[i], s->a[i] += growth * way[i];
    }
}

static hn_status place_memory(const state_dynamics *x, linear_watch *s)
{
    size_t n = (size_t)s->n, bodies = (size_t)x->frame.system->body_count;
    pool *m = &s->memory;
    s->v = pool_doubles(m, POSE_SIZE * bodies);
    s->a = pool_doubles(m, POSE_SIZE * bodies);
    s->moved = pool_doubles(m, ADVANCE_SIZE * bodies);
    s->scaled = pool_doubles(m, n * n);
    s->change = pool_doubles(m, n * n);
    s->schur = pool_doubles(m, n * n);
    s->basis = pool_doubles(m, n * n);
    s->scales = pool_doubles(m, n);
    s->right = pool_doubles(m, n);
    s->real = pool_doubles(m, n);
    s->imaginary = pool_doubles(m, n);
    s->scratch = pool_doubles(m, n);
    return pool_status(m);
}

hn_status linear_watch_begin(const state_dynamics *x, const linear_view *view, double slowest,
                             linear_watch *s)
{
    size_t n = (size_t)view->n, size = POSE_SIZE * (size_t)x->frame.system->body_count;
    *s = (linear_watch){.system = x->frame.system,
                        .q = x->frame.q,
                        .n = view->n,
                        .free = view->free,
                        .memory = {.context = x->simulation->context}};
    TRY(place_memory(x, s));
    memcpy(s->v, x->v, size * sizeof(double));
    memcpy(s->a, x->a, size * sizeof(double));
    find_time(s, slowest, false);
    if (s->time == 0.0) return HN_OK;
    find_scales(x, s, fmax(1.0 / s->time, slowest));
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k)
            s->scaled[i * n + k] = s->scales[i] / s->scales[k] * view->a[i * n + k];
    TRY(dense_schur(x->simulation->context, view->n, s->scaled, s->schur, s->basis));
    find_lasting(x, view, s);
    find_time(s, slowest, true);
    return HN_OK;
}

void linear_watch_end(linear_watch *s)
{
    pool_release(&s->memory);
}

// ---- the advance ------------------------------------------------------------------------------------------------

// x -> R x + t
typedef struct placement {
    hn_mat3 turn;
    hn_vec3 way;
} placement;

static hn_vec3 place(const placement *p, hn_vec3 x)
{
    return vec3_add(mat3_apply(&p->turn, x), p->way);
}

// The screw of a relative motion about the parent's centre; its velocities at the end
static placement screw_of(relative_motion r, hn_vec3 origin, double h, hn_vec3 line_then[2])
{
    hn_vec3 line = vec3_subtract(r.way, vec3_cross(r.turn, r.arm)),
            rate = vec3_subtract(vec3_subtract(r.way_rate, vec3_cross(r.turn_rate, r.arm)),
                                 vec3_cross(r.turn, r.way));
    hn_vec3 turn = vec3_add_scaled(vec3_scale(h, r.turn), 0.5 * h * h, r.turn_rate),
            way = vec3_add_scaled(vec3_scale(h, line), 0.5 * h * h, rate);
    placement p = {.turn = rotation_exponential(turn)};
    // (1 - cos x)/x^2 and (x - sin x)/x^3 of its turn x
    double x = vec3_norm(turn), half = sin(0.5 * x),
           first = x > 1e-4 ? 2.0 * half * half / (x * x) : 0.5,
           second = x > 1e-2 ? (x - sin(x)) / (x * x * x) : (1.0 - 0.05 * x * x) / 6.0;
    hn_vec3 once = vec3_cross(turn, way);
    way = vec3_add(way, vec3_add_scaled(vec3_scale(first, once), second, vec3_cross(turn, once)));
    p.way = vec3_add(vec3_subtract(origin, mat3_apply(&p.turn, origin)), way);
    line_then[0] = vec3_add_scaled(line, h, rate);
    line_then[1] = vec3_add_scaled(r.turn, h, r.turn_rate);
    return p;
}

// Where a body is then, and its velocities
static void advance_body(const linear_watch *s, int body, const placement *moved, hn_vec3 v,
                         hn_vec3 omega, double *q, double *rates)
{
    const double *from = system_pose(s->q, body);
    memset(rates, 0, POSE_SIZE * sizeof(double));
    memcpy(q, from, POSE_SIZE * sizeof(double));
    vec3_store(place(moved, pose_center(from)), q);
    vec3_store(v, rates);
    for (int k = 3; s->system->bodies[body].has_directors && k < POSE_SIZE; k += 3) {
        hn_vec3 d = mat3_apply(&moved->turn, vec3_load(from + k));
        vec3_store(d, q + k);
        vec3_store(vec3_cross(omega, d), rates + k);
    }
}

bool linear_watch_wheels_stand(linear_watch *s)
{
    double fastest = 0.0, slowest = HUGE_VAL;
    for (int i = 0; i < s->system->body_count; ++i)
        fastest = fmax(fastest, vec3_norm(motion_of(s, i).omega));
    for (int i = 0; i < s->system->body_count; ++i) {
        double turn = vec3_norm(motion_of(s, i).omega);
        if (s->system->bodies[i].has_directors && turn > SLOW * fastest)
            slowest = fmin(slowest, turn);
    }
    if (!(fastest > WHEEL * slowest)) return false;
    s->wheel = WHEEL * slowest;
    s->time = fmin(ADVANCE / slowest, s->growth > 0.0 ? sqrt(ADVANCE / s->growth) : HUGE_VAL);
    s->rate = fmax(slowest, sqrt(s->growth));
    s->from_rest = slowest < 0.5 * s->growth * s->time;
    return true;
}

// (I10)
void linear_watch_advance(const linear_watch *s, double *q, double *v)
{
    const placement stays = {.turn = mat3_identity(), .way = vec3(0.0, 0.0, 0.0)};
    const hn_vec3 none = {0.0, 0.0, 0.0};
    double *all = s->moved;
    for (int i = 0; i < s->system->body_count; ++i) {
        int parent = s->system->parent[i];
        const double *above = all + ADVANCE_SIZE * (size_t)(parent < 0 ? 0 : parent);
        placement p = stays;
        hn_vec3 omega = none, velocity = none, center = none, line[2];
        if (parent >= 0) {
            memcpy(p.turn.m, above, 9 * sizeof(double));
            p.way = vec3_load(above + 9), omega = vec3_load(above + 12);
            velocity = vec3_load(above + 15), center = pose_center(system_pose(s->q, parent));
        }
        relative_motion r = relative_of(s, i);
        bool stands = s->wheel > 0.0 && vec3_norm(r.turn) > s->wheel;
        placement own = screw_of(r, center, stands ? 0.0 : s->time, line), moved;
        hn_vec3 arm = vec3_subtract(place(&own, pose_center(system_pose(s->q, i))), center),
                way = vec3_add(line[0], vec3_cross(line[1], arm));
        moved.turn = mat3_multiply(&p.turn, &own.turn);
        moved.way = place(&p, own.way);
        hn_vec3 turned = vec3_add(omega, mat3_apply(&p.turn, line[1]));
        velocity = vec3_add(vec3_add(velocity, mat3_apply(&p.turn, way)),
                            vec3_cross(omega, mat3_apply(&p.turn, arm)));
        size_t at = POSE_SIZE * (size_t)i;
        double *to = all + ADVANCE_SIZE * (size_t)i;
        memcpy(to, moved.turn.m, 9 * sizeof(double));
        vec3_store(moved.way, to + 9);
        vec3_store(turned, to + 12);
        vec3_store(velocity, to + 15);
        advance_body(s, i, &moved, velocity, turned, q + at, v + at);
    }
}

// ---- the change -------------------------------------------------------------------------------------------------

// right = Q^T (`matrix` q_k), or with the moduli of both and signs as round-off has them
static void apply(linear_watch *w, const double *matrix, int k, bool moduli)
{
    size_t n = (size_t)w->n;
    unsigned dice = 1u;
    memset(w->right, 0, n * sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        double sum = 0.0;
        for (size_t c = 0; c < n; ++c) {
            double x = w->basis[c * n + (size_t)k];
            sum += moduli ? fabs(matrix[i * n + c] * x) : matrix[i * n + c] * x;
        }
        dice = 1664525u * dice + 1013904223u;
        if (moduli) sum *= dice & 0x80000000u ? -ROUND_OFF : ROUND_OFF;
        for (size_t c = 0; sum != 0.0 && c < n; ++c) w->right[c] += sum * w->basis[i * n + c];
    }
}

// Eigenvalue of the block that k is in
static void value_at(const linear_watch *w, int k, double *real, double *imaginary)
{
    size_t n = (size_t)w->n, at = (size_t)k;
    const double *t = w->schur;
    double across = at + 1 < n ? t[(at + 1) * n + at] * t[at * n + at + 1] : 0.0;
    if (across == 0.0 && at > 0) across = t[at * n + at - 1] * t[(at - 1) * n + at];
    bool pair =
        (at + 1 < n && t[(at + 1) * n + at] != 0.0) || (at > 0 && t[at * n + at - 1] != 0.0);
    *real = t[at * n + at];
    *imaginary = pair && across < 0.0 ? sqrt(-across) : 0.0;
}

// (I11)
static double largest_change(linear_watch *w, double *time)
{
    const double COSINE = 0.6, SINE = 0.8; // beside the real axis, where no eigenvalue is likely
    double most = 0.0;
    for (int k = 0; k < w->n; ++k) {
        double real, imaginary;
        value_at(w, k, &real, &imaginary);
        double nu = fmax(hypot(real, imaginary), w->rate);
        if (nu == 0.0) continue;
        double turned = nu * w->time, part = w->from_rest ? 0.5 * turned * turned : turned;
        real += COSINE * nu, imaginary += SINE * nu;
        apply(w, w->change, k, false);
        double change = respond(w, real, imaginary) / part;
        if (!(change > most)) continue;
        apply(w, w->scaled, k, true);
        if (change > respond(w, real, imaginary) / part) most = change, *time = 1.0 / nu;
    }
    return most;
}

double linear_watch_change(linear_watch *w, const double *then, const double *now, double *time)
{
    size_t n = (size_t)w->n;
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k)
            w->change[i * n + k] = w->scales[i] / w->scales[k] * (then[i * n + k] - now[i * n + k]);
    *time = 0.0;
    return largest_change(w, time);
}
