// SPDX-License-Identifier: MIT
// A linear system about a state. Note: docs/theory/linearisation.md
//
// Along a small change (dy, dy') of coordinates and rates:
//
//   (I6)  dq = T dy,  dv = T dy' + Gamma(dq, v)
//   (I7)  T_f^T [ M da + lambda H dq - dF - sum_i (de_i S_i + e_i dS_i) ] = 0,   G da + H(dq, a) + 2 H(v, dv) = 0
//   (I8)  d(dy)/dt = dy' + d_q r(v; dq) - d_q r(dq; v): of coordinates that are none (turns about world axes) too
//   (I9)  dx = r(dq),  dx' = r(dv) + d_q r(dq; v) for every coordinate x
//   (I12) what is counted along axes n that turn has n' = omega x n more in both rows
#include <holonom/linearisation.h>

#include "simulation/linear_change.h"
#include "simulation/linear_context.h"
#include "simulation/not_finite.h"
#include "simulation/state_dynamics.h"

#include "base/array.h"
#include "linalg/dense.h"
#include "system/mass.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 240, NAME_PART = 100, CAUTION_SIZE = 320 };

static const double RESTS = 1e-2; // change of A in a radian: what eigenvalues may be off
static const double BETTER = 0.1; // of the change in other axes

typedef struct linear_work {
    state_dynamics x;
    int free, integrals,
        coordinates; // free coordinates, servos with an integral, all outputs of places
    int *shown;      // candidates that are outputs
    int *servos;     // drives with an integral
    double *dq, *dv, *da, *force;
    double *spins; // per free coordinate: n' along the three axes of its body
    void *memory;
} linear_work;

// What the caller gets, and whose memory it is.
typedef struct linear_result {
    hn_linear_system shown;
    hn_context *context;
    double *a, *b, *c, *state, *derivative, *real, *imaginary;
    const char **names[3], **units[3];
    char *text; // NAME_SIZE each: states, inputs, outputs
    char *caution;
} linear_result;

// ---- columns --------------------------------------------------------------------------------------------------

// Change of the effort of a drive by its law, dx and dx' of its coordinate
static double law_change(const linear_work *w, int drive)
{
    const motion_frame *f = &w->x.frame;
    int c = w->x.candidates[drive];
    const law_slopes *law = &w->x.laws[drive];
    double dx = frame_rate(f, c, f->q, w->dq),
           rate = frame_rate(f, c, f->q, w->dv) + frame_rate_change(f, c, w->dq, w->x.v);
    return law->by_coordinate * dx + law->by_rate * rate;
}

// T_k^T dS_i[dq] for all efforts that act: those of drives, of relations that hold and of inputs
static double turned_efforts(const linear_work *w, const double *column)
{
    const motion_frame *f = &w->x.frame;
    const simulation_inputs *in = &w->x.simulation->inputs;
    double sum = 0.0;
    for (int d = 0; d < f->system->drive_count; ++d)
        if (w->x.efforts[d] != 0.0)
            sum += w->x.efforts[d] * frame_rate_change(f, w->x.candidates[d], w->dq, column);
    for (int d = 0; d < f->driven_count; ++d)
        sum += w->x.hold_efforts[d] * frame_rate_change(f, f->chosen[d], w->dq, column);
    for (size_t k = 0; in->values != NULL && k < in->coordinate_count; ++k)
        if (in->values[k] != 0.0)
            sum += in->values[k] * frame_rate_change(f, (int)k, w->dq, column);
    return sum;
}

// Accelerations of the free coordinates by a change (dq, dv) (I7); with constant prescribed ones
static void find_column(linear_work *w, double *column)
{
    const state_dynamics *x = &w->x;
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count, n = (size_t)f->count,
           free = (size_t)w->free, first = n - free;
    const saddle_pair pairs[2] = {{1.0, w->dq, x->a}, {2.0, x->v, w->dv}};
    saddle_solve_motion(f->rows, NULL, pairs, 2, w->da, NULL);
    frame_jet jet = {x->v, w->dq, w->dv, x->a, w->da};
    for (size_t d = 0; d < first; ++d) { // da + T_d beta_d keeps prescribed accelerations
        double off = frame_acceleration_change(f, f->chosen[d], &jet);
        for (size_t i = 0; i < size; ++i) w->da[i] -= off * frame_motion(f, (int)d)[i];
    }
    // -(M da + lambda H dq) + dF
    double *balance = w->force;
    mass_apply(f->system, -1.0, w->da, balance);
    memset(x->scratch, 0, size * sizeof(double));
    saddle_add_curved_forces(f->rows, x->multipliers, w->dq, x->scratch);
    for (size_t i = 0; i < size; ++i) balance[i] -= x->scratch[i];
    state_force_change(x->simulation, x->v, w->dq, w->dv, balance);
    for (int d = 0; d < f->system->drive_count; ++d) {
        double rotor = f->system->laws[d].armature, effort = law_change(w, d);
        if (rotor != 0.0) effort -= rotor * frame_acceleration_change(f, x->candidates[d], &jet);
        frame_add_effort(f, x->candidates[d], effort, balance);
    }
    double *right = x->scratch;
    for (size_t k = 0; k < free; ++k)
        right[k] = array_dot(dynamics_free_motion(x, (int)k), balance, size) +
                   turned_efforts(w, dynamics_free_motion(x, (int)k));
    for (size_t i = 0; i < free; ++i)
        column[i] = frame_acceleration_change(f, f->chosen[first + i], &jet) +
                    array_dot(x->inverse + i * free, right, free);
}

// Along axes that turn: the first of the three axes of a coordinate, -1: it has none
static int first_axis(const linear_work *w, int k)
{
    int c = w->x.frame.chosen[w->x.frame.driven_count + k];
    const frame_coordinate *of = &w->x.frame.candidates[c];
    return of->body < 0 || of->carrier < 0 ? -1 : c - of->index % 3;
}

static void find_spins(linear_work *w)
{
    const motion_frame *f = &w->x.frame;
    for (int k = 0; k < w->free; ++k) {
        int first = first_axis(w, k);
        if (first < 0) continue;
        int c = f->chosen[f->driven_count + k], carrier = f->candidates[c].carrier;
        double twist[TWIST_SIZE];
        velocity_to_twist(system_pose(f->q, carrier), w->x.v + POSE_SIZE * (size_t)carrier, twist);
        hn_vec3 rate = vec3_cross(vec3_load(twist + 3), frame_body_axis(f, c));
        for (int i = 0; i < 3; ++i)
            w->spins[3 * k + i] = vec3_dot(rate, frame_body_axis(f, first + i));
    }
}

// (I12)
static void add_spins(const linear_work *w, int k, double *of_coordinate, double *of_rate)
{
    const motion_frame *f = &w->x.frame;
    int first = first_axis(w, k);
    for (int i = 0; first >= 0 && i < 3; ++i) {
        double part = w->spins[3 * k + i];
        if (part == 0.0) continue;
        *of_coordinate += part * frame_rate(f, first + i, f->q, w->dq);
        *of_rate += part * (frame_rate(f, first + i, f->q, w->dv) +
                            frame_rate_change(f, first + i, w->dq, w->x.v));
    }
}

// Column `at` of A and C by the change (dq, dv) that is set
static void store_column(linear_work *w, linear_result *r, int at, double *column)
{
    const motion_frame *f = &w->x.frame;
    size_t n = (size_t)r->shown.state_count, free = (size_t)w->free;
    int first = f->driven_count;
    find_column(w, column);
    for (size_t i = 0; i < free; ++i) {
        int c = f->chosen[first + (int)i];
        double rate = frame_rate(f, c, f->q, w->dv) + frame_rate_change(f, c, w->dq, w->x.v);
        r->a[i * n + (size_t)at] = rate + frame_rate_change(f, c, w->x.v, w->dq) -
                                   frame_rate_change(f, c, w->dq, w->x.v); // (I8)
        r->a[(free + i) * n + (size_t)at] = column[i];
        add_spins(w, (int)i, &r->a[i * n + (size_t)at], &r->a[(free + i) * n + (size_t)at]);
    }
    for (int k = 0; k < w->integrals; ++k)
        r->a[(2 * free + (size_t)k) * n + (size_t)at] =
            -frame_rate(f, w->x.candidates[w->servos[k]], f->q, w->dq);
    for (int k = 0; k < w->coordinates; ++k) { // (I9)
        int c = w->shown[k];
        r->c[(size_t)k * n + (size_t)at] = frame_rate(f, c, f->q, w->dq);
        r->c[(size_t)(w->coordinates + k) * n + (size_t)at] =
            frame_rate(f, c, f->q, w->dv) + frame_rate_change(f, c, w->dq, w->x.v);
    }
}

// Accelerations by an effort on a candidate
static void effort_column(const linear_work *w, int candidate, double gain, double *matrix,
                          size_t stride, size_t at)
{
    const motion_frame *f = &w->x.frame;
    size_t free = (size_t)w->free;
    for (size_t i = 0; i < free; ++i)
        for (size_t k = 0; k < free; ++k)
            matrix[(free + i) * stride + at] +=
                w->x.inverse[i * free + k] * gain *
                frame_rate(f, candidate, f->q, dynamics_free_motion(&w->x, (int)k));
}

static bool takes_command(const linear_work *w, int drive)
{
    return drive_command_gain(&w->x.frame.system->laws[drive]) != 0.0;
}

static hn_status fill_matrices(linear_work *w, linear_result *r, double *column)
{
    const motion_frame *f = &w->x.frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count, n = (size_t)r->shown.state_count,
           inputs = (size_t)r->shown.input_count;
    for (int k = 0; k < w->free; ++k) {
        if (context_is_cancelled(r->context)) return HN_CANCELLED;
        memcpy(w->dq, dynamics_free_motion(&w->x, k), size * sizeof(double));
        frame_turn(f, w->dq, w->x.v, w->dv); // (I6)
        store_column(w, r, k, column);
        memcpy(w->dv, w->dq, size * sizeof(double));
        memset(w->dq, 0, size * sizeof(double));
        store_column(w, r, w->free + k, column);
    }
    for (int k = 0; k < w->integrals; ++k)
        effort_column(w, w->x.candidates[w->servos[k]], w->x.laws[w->servos[k]].by_integral, r->a,
                      n, (size_t)(2 * w->free + k));
    for (int k = 0; k < f->joint_count; ++k) {
        if (context_is_cancelled(r->context)) return HN_CANCELLED;
        effort_column(w, k, 1.0, r->b, inputs, (size_t)k);
    }
    size_t at = (size_t)f->joint_count;
    for (int d = 0; d < f->system->drive_count; ++d) {
        if (!takes_command(w, d)) continue;
        effort_column(w, w->x.candidates[d], w->x.laws[d].by_command, r->b, inputs, at);
        for (int k = 0; k < w->integrals; ++k)
            if (w->servos[k] == d) r->b[(size_t)(2 * w->free + k) * inputs + at] = 1.0;
        ++at;
    }
    return HN_OK;
}

// ---- the state and names ----------------------------------------------------------------------------------------

static double coordinate_value(const linear_work *w, int candidate)
{
    const hn_simulation *s = w->x.simulation;
    const frame_coordinate *c = &w->x.frame.candidates[candidate];
    if (c->joint >= 0)
        return s->observed
            .data[SERIES_JOINT_COORDINATE][s->observed.coordinate_start[c->joint] + c->index];
    hn_vec3 center = pose_center(system_pose(s->state.q, c->body));
    return c->index < 3 ? vec3_dot(frame_body_axis(&w->x.frame, candidate), center) : 0.0;
}

static void fill_state(const linear_work *w, linear_result *r)
{
    const hn_simulation *s = w->x.simulation;
    const motion_frame *f = &w->x.frame;
    for (int k = 0; k < w->free; ++k) {
        int at = f->driven_count + k;
        r->state[k] = coordinate_value(w, f->chosen[at]);
        r->state[w->free + k] = r->derivative[k] = w->x.rates[at];
        r->derivative[w->free + k] = w->x.accelerations[at];
    }
    for (int k = 0; k < w->integrals; ++k) {
        const element *e = &f->system->elements[f->system->drive_first + w->servos[k]];
        r->state[2 * w->free + k] = s->angles[e->angle + DRIVE_INTEGRAL];
        double target =
            isnan(e->law->held)
                ? e->law->scale * profile_at(e->law->function, hn_simulation_time(s)).value
                : e->law->held;
        r->derivative[2 * w->free + k] =
            target - e->law->sign * element_angle(e, system_pose(f->q, e->a),
                                                  system_pose(f->q, e->b), s->angles[e->angle]);
    }
}

static const char *add_name(linear_result *r, int list, int place, int text, const char *name,
                            const char *ending, const char *unit)
{
    char *to = r->text + (size_t)text * NAME_SIZE;
    snprintf(to, NAME_SIZE, "%.*s%s", NAME_SIZE - NAME_PART, name, ending);
    r->names[list][place] = to;
    r->units[list][place] = unit;
    return to;
}

// " (hub axes)"; nothing where they are the world's
static void name_axes(const motion_frame *f, int candidate, char axes[NAME_PART])
{
    int carrier = f->candidates[candidate].carrier;
    axes[0] = '\0';
    if (carrier >= 0)
        snprintf(axes, NAME_PART, " (%.*s axes)", NAME_PART - 20, f->system->bodies[carrier].name);
}

// Coordinates, then their rates; returns the next text.
static int add_coordinates(const motion_frame *f, const int *list, int count, linear_result *r,
                           int to, int text)
{
    char name[NAME_SIZE], ending[NAME_PART], axes[NAME_PART];
    for (int part = 0; part < 2; ++part)
        for (int k = 0; k < count; ++k) {
            const char *unit = frame_unit(f, list[k]), *rate = unit[0] == 'r' ? "rad/s" : "m/s";
            frame_name(f, list[k], name, sizeof name);
            name_axes(f, list[k], axes);
            snprintf(ending, sizeof ending, "%s%s", part == 0 ? "" : "/rate", axes);
            add_name(r, to, part * count + k, text++, name, ending, part == 0 ? unit : rate);
        }
    return text;
}

static void fill_names(const linear_work *w, linear_result *r)
{
    const motion_frame *f = &w->x.frame;
    const hn_system *system = f->system;
    char name[NAME_SIZE];
    int text = 0;
    text = add_coordinates(f, f->chosen + f->driven_count, w->free, r, 0, text);
    for (int k = 0; k < w->integrals; ++k)
        add_name(r, 0, 2 * w->free + k, text++,
                 system->elements[system->drive_first + w->servos[k]].name, "/integral",
                 frame_unit(f, w->x.candidates[w->servos[k]])[0] == 'r' ? "rad s" : "m s");
    for (int k = 0; k < f->joint_count; ++k) {
        frame_name(f, k, name, sizeof name);
        add_name(r, 1, k, text++, name, "/effort", frame_unit(f, k)[0] == 'r' ? "N m" : "N");
    }
    int at = f->joint_count;
    for (int d = 0; d < system->drive_count; ++d)
        if (takes_command(w, d))
            add_name(r, 1, at++, text++, system->elements[system->drive_first + d].name, "",
                     drive_command_unit(&system->laws[d], frame_unit(f, w->x.candidates[d])));
    add_coordinates(f, w->shown, w->coordinates, r, 2, text);
}

// ---- eigenvalues --------------------------------------------------------------------------------------------------

// The fastest growth first; pairs stay neighbours with the positive imaginary part in front.
static void sort_eigenvalues(linear_result *r)
{
    int n = r->shown.state_count;
    for (int i = 1; i < n; ++i)
        for (int k = i; k > 0; --k) {
            double real = r->real[k], imaginary = r->imaginary[k];
            bool before =
                real > r->real[k - 1] || (real == r->real[k - 1] &&
                                          (fabs(imaginary) < fabs(r->imaginary[k - 1]) ||
                                           (imaginary == -r->imaginary[k - 1] && imaginary > 0.0)));
            if (!before) break;
            r->real[k] = r->real[k - 1], r->imaginary[k] = r->imaginary[k - 1];
            r->real[k - 1] = real, r->imaginary[k - 1] = imaginary;
        }
}

static void say_change(linear_result *r, double change, double time)
{
    r->shown.change = change;
    if (!(change > RESTS)) return;
    if (!isfinite(change))
        snprintf(
            r->caution, CAUTION_SIZE,
            "whether A rests along the motion cannot be told: what holds or acts changes in the "
            "next instant; eigenvalues are those of this one");
    else
        snprintf(r->caution, CAUTION_SIZE,
                 "the state is no steady motion: A changes along with it, by %.2g of itself in the "
                 "next %.2g s; eigenvalues are those of an instant and tell no stability",
                 change, time);
}

// ---- the whole ----------------------------------------------------------------------------------------------------

static void count_parts(linear_work *w, hn_linear_system *shown, bool list)
{
    const motion_frame *f = &w->x.frame;
    const hn_system *system = f->system;
    w->free = dynamics_free_count(&w->x);
    w->integrals = w->coordinates = 0;
    int commands = 0;
    for (int d = 0; d < system->drive_count; ++d) {
        if (system->laws[d].integral != 0.0) {
            if (list) w->servos[w->integrals] = d;
            w->integrals++;
        }
        commands += takes_command(w, d);
    }
    for (int k = 0; k < f->joint_count; ++k) {
        if (list) w->shown[w->coordinates] = k;
        w->coordinates++;
    }
    for (int k = f->driven_count; k < f->count; ++k)
        if (f->chosen[k] >= f->joint_count) {
            if (list) w->shown[w->coordinates] = f->chosen[k];
            w->coordinates++;
        }
    shown->freedom_count = w->free;
    shown->state_count = 2 * w->free + w->integrals;
    shown->input_count = f->joint_count + commands;
    shown->output_count = 2 * w->coordinates;
}

static void layout_result(linear_result *r, arena *a)
{
    size_t n = (size_t)r->shown.state_count, m = (size_t)r->shown.input_count,
           p = (size_t)r->shown.output_count;
    const size_t counts[3] = {n, m, p};
    (void)arena_bytes(a, sizeof *r); // itself
    r->a = arena_doubles(a, n * n);
    r->b = arena_doubles(a, n * m);
    r->c = arena_doubles(a, p * n);
    r->state = arena_doubles(a, n);
    r->derivative = arena_doubles(a, n);
    r->real = arena_doubles(a, n + 1);
    r->imaginary = arena_doubles(a, n + 1);
    for (int k = 0; k < 3; ++k) {
        r->names[k] = arena_bytes(a, (counts[k] + 1) * sizeof(char *));
        r->units[k] = arena_bytes(a, (counts[k] + 1) * sizeof(char *));
    }
    r->text = arena_bytes(a, (n + m + p) * NAME_SIZE);
    r->caution = arena_bytes(a, CAUTION_SIZE);
}

static void show(linear_result *r, double time)
{
    hn_linear_system *s = &r->shown;
    s->time = time;
    s->a = r->a, s->b = r->b, s->c = r->c;
    s->state = r->state, s->derivative = r->derivative;
    s->eigenvalue_real = r->real, s->eigenvalue_imaginary = r->imaginary;
    s->state_names = r->names[0], s->state_units = r->units[0];
    s->input_names = r->names[1], s->input_units = r->units[1];
    s->output_names = r->names[2], s->output_units = r->units[2];
    s->caution = r->caution;
}

static hn_status begin_work(linear_work *w, hn_linear_system *shown, double **column)
{
    size_t size = POSE_SIZE * (size_t)w->x.frame.system->body_count;
    count_parts(w, shown, false);
    for (int pass = 0; pass < 2; ++pass) {
        arena a = {.block = w->memory};
        w->shown = arena_ints(&a, (size_t)w->coordinates + 1);
        w->servos = arena_ints(&a, (size_t)w->integrals + 1);
        w->dq = arena_doubles(&a, size);
        w->dv = arena_doubles(&a, size);
        w->da = arena_doubles(&a, size);
        w->force = arena_doubles(&a, size);
        w->spins = arena_doubles(&a, 3 * (size_t)w->free + 1);
        *column = arena_doubles(&a, (size_t)w->free + 1);
        if (pass == 0 && (w->memory = context_allocate(w->x.simulation->context, a.used)) == NULL)
            return HN_OUT_OF_MEMORY;
    }
    count_parts(w, shown, true);
    find_spins(w);
    return HN_OK;
}

static hn_status linearise(linear_work *w, bool described, linear_result **out)
{
    hn_simulation *s = w->x.simulation;
    linear_result counts = {.context = s->context}, *r = NULL;
    double *column = NULL;
    TRY(begin_work(w, &counts.shown, &column));
    arena a = {0};
    layout_result(&counts, &a);
    r = context_allocate(s->context, a.used);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    *r = (linear_result){.shown = counts.shown, .context = context_retain(s->context)};
    *out = r;
    a = (arena){.block = (char *)r};
    layout_result(r, &a);
    show(r, hn_simulation_time(s));
    if (described) {
        fill_state(w, r);
        fill_names(w, r);
    }
    TRY(fill_matrices(w, r, column));
    return context_is_cancelled(s->context) ? HN_CANCELLED : HN_OK;
}

static void end_work(linear_work *w)
{
    hn_context *context = w->x.simulation->context;
    state_dynamics_end(&w->x);
    context_release(context, w->memory);
    w->memory = NULL;
}

static void drop(linear_result *r)
{
    if (r != NULL) hn_linear_system_destroy(&r->shown);
}

// ---- is it a steady motion? ---------------------------------------------------------------------------------------

// What a look at another state leaves behind
typedef struct kept_state {
    double *q, *angles;
    hold *holds;
} kept_state;

static kept_state keep_state(const hn_simulation *s, double *room)
{
    size_t angles = (size_t)s->system->angle_count;
    kept_state k = {s->state.q, room, (hold *)(room + angles)};
    memcpy(k.angles, s->angles, angles * sizeof(double));
    if (s->hold_count > 0) memcpy(k.holds, s->holds, (size_t)s->hold_count * sizeof(hold));
    return k;
}

static void bring_back(hn_simulation *s, const kept_state *k)
{
    s->state.q = k->q;
    s->time_shift = 0.0;
    memcpy(s->angles, k->angles, (size_t)s->system->angle_count * sizeof(double));
    if (s->hold_count > 0) memcpy(s->holds, k->holds, (size_t)s->hold_count * sizeof(hold));
}

// In the same coordinates, at the positions that the simulation has for now
static hn_status linearise_there(hn_simulation *s, const double *v, const frame_wish *wish,
                                 linear_result **later)
{
    linear_work then = {.x.simulation = s};
    TRY(not_finite_motions(s, hn_simulation_time(s)));
    TRY(not_finite_now(s, hn_simulation_time(s)));
    hn_status status = state_dynamics_begin(s, v, wish, &then.x);
    if (status == HN_OK) status = linearise(&then, false, later);
    end_work(&then);
    return status;
}

// The same with the state a little later
static hn_status linearise_later(const linear_work *w, const linear_watch *watch,
                                 linear_result **later)
{
    hn_simulation *s = w->x.simulation;
    const motion_frame *f = &w->x.frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count,
           kept = (size_t)f->system->angle_count * sizeof(double) +
                  (size_t)s->hold_count * sizeof(hold);
    const frame_wish wish = {f->axes, f->chosen + f->driven_count, w->free};
    double *q = context_allocate(s->context, 2 * size * sizeof(double) + kept + 1), *v = q + size;
    if (q == NULL) return HN_OUT_OF_MEMORY;
    linear_watch_advance(watch, q, v);
    const kept_state before = keep_state(s, v + size);
    s->state.q = q;
    s->time_shift = watch->time;
    hn_status status = linearise_there(s, v, &wish, later);
    bring_back(s, &before);
    context_release(s->context, q);
    return status;
}

static double slowest_of(const linear_result *r)
{
    const double NONE = 1e-6; // of the largest: what round-off leaves of pairs of zeros
    double largest = 0.0, least = HUGE_VAL;
    for (int k = 0; k < r->shown.state_count; ++k)
        largest = fmax(largest, hypot(r->real[k], r->imaginary[k]));
    for (int k = 0; k < r->shown.state_count; ++k) {
        double size = hypot(r->real[k], r->imaginary[k]);
        if (size > NONE * largest) least = fmin(least, size);
    }
    return isfinite(least) ? least : 0.0;
}

// A change that is not known is without end.
static hn_status find_change_until(const linear_work *w, const linear_result *r,
                                   linear_watch *watch, double *change, double *time)
{
    linear_result *later = NULL;
    hn_status status = linearise_later(w, watch, &later);
    *change = HUGE_VAL, *time = 0.0;
    if (status == HN_OK && later->shown.state_count == r->shown.state_count)
        *change = linear_watch_change(watch, later->a, r->a, time);
    drop(later);
    return status == HN_CANCELLED || status == HN_OUT_OF_MEMORY ? status : HN_OK;
}

static hn_status compare(const linear_work *w, linear_result *r, linear_watch *watch)
{
    double change, time, slow = 0.0, slow_time = 0.0;
    TRY(find_change_until(w, r, watch, &change, &time));
    if (linear_watch_wheels_stand(watch)) TRY(find_change_until(w, r, watch, &slow, &slow_time));
    bool slowly = slow > change;
    say_change(r, slowly ? slow : change, slowly ? slow_time : time);
    return HN_OK;
}

// How rates and accelerations change along the motion, with what leads it; loads and targets as they are
static void find_drift(linear_work *w, const linear_result *r, double *drift)
{
    const state_dynamics *x = &w->x;
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    memcpy(w->dq, x->v, size * sizeof(double));
    memcpy(w->dv, x->a, size * sizeof(double));
    find_column(w, drift + w->free);
    for (int k = 0; k < w->free; ++k) {
        int c = f->chosen[f->driven_count + k];
        drift[k] = frame_rate(f, c, f->q, w->dv) + frame_rate_change(f, c, w->dq, x->v);
        add_spins(w, k, &drift[k], &drift[w->free + k]);
    }
    for (int k = 2 * w->free; k < r->shown.state_count; ++k) drift[k] = 0.0;
}

static hn_status find_change(linear_work *w, linear_result *r, double *drift)
{
    const linear_view view = {r->shown.state_count, w->free, r->a, drift};
    find_drift(w, r, drift);
    linear_watch watch;
    hn_status status = linear_watch_begin(&w->x, &view, slowest_of(r), &watch);
    if (status == HN_OK && watch.time > 0.0) status = compare(w, r, &watch);
    linear_watch_end(&watch);
    return status;
}

static hn_status find_eigenvalues(linear_work *w, linear_result *r)
{
    size_t n = (size_t)r->shown.state_count;
    if (n == 0) return HN_OK;
    double *vectors = context_allocate(r->context, n * n * sizeof(double));
    if (vectors == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = dense_eigen(r->context, (int)n, r->a, r->real, r->imaginary, vectors);
    if (status == HN_OK) status = find_change(w, r, vectors);
    context_release(r->context, vectors);
    if (status == HN_OK) sort_eigenvalues(r);
    return status;
}

// Do its states depend on the axes they are counted along?
static bool knows_axes(const linear_work *w)
{
    const motion_frame *f = &w->x.frame;
    for (int k = f->driven_count; k < f->count; ++k)
        if (frame_is_of_axes(f, f->chosen[k])) return true;
    return false;
}

static hn_status linearise_along(hn_simulation *s, frame_axes axes, linear_result **out,
                                 bool *other)
{
    linear_work w = {.x.simulation = s};
    const frame_wish wish = {.axes = axes};
    *out = NULL;
    hn_status status = state_dynamics_begin(s, NULL, &wish, &w.x);
    if (status == HN_OK) status = linearise(&w, true, out);
    if (status == HN_OK) status = find_eigenvalues(&w, *out);
    *other = status == HN_OK && knows_axes(&w);
    end_work(&w);
    return status;
}

// In axes in which A rests along the motion, if there are some
static hn_status linearise_steadily(hn_simulation *s, linear_result **best)
{
    bool other = false;
    TRY(linearise_along(s, FRAME_AXES_WORLD, best, &other));
    for (int axes = FRAME_AXES_OWN; axes <= FRAME_AXES_CARRIER; ++axes) {
        linear_result *next = NULL;
        if (!other || !((*best)->shown.change > RESTS)) return HN_OK;
        hn_status status = linearise_along(s, (frame_axes)axes, &next, &other);
        if (status == HN_OK && next->shown.change < BETTER * (*best)->shown.change) {
            drop(*best);
            *best = next;
        } else drop(next);
        if (status == HN_CANCELLED || status == HN_OUT_OF_MEMORY) return status;
        other = true;
    }
    return HN_OK;
}

hn_status hn_simulation_linearise(hn_simulation *s, hn_linear_system **system)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, system != NULL);
    *system = NULL;
    TRY(not_finite_motions(s, hn_simulation_time(s)));
    TRY(not_finite_now(s, hn_simulation_time(s)));
    linear_result *result = NULL;
    context_begin_cancellable(s->context);
    hn_status status = linearise_steadily(s, &result);
    context_end_cancellable(s->context);
    if (status == HN_CANCELLED) {
        (void)context_take_cancel(s->context);
        status = context_fail(s->context, status, "cancelled before the linear system was found");
    }
    if (status == HN_OK) *system = &result->shown;
    else drop(result);
    return status;
}

hn_context *linear_system_context(const hn_linear_system *system)
{
    return ((const linear_result *)system)->context;
}

void hn_linear_system_destroy(hn_linear_system *system)
{
    if (system == NULL) return;
    linear_result *r = (linear_result *)system;
    hn_context *context = r->context;
    context_release(context, r);
    context_drop(context);
}
