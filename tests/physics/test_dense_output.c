// SPDX-License-Identifier: MIT
// Dense output of `projected-rk`: internal steps that know nothing of the nominal grid, and what is reported on it.
#include "physics/jet_run.h"
#include "support/malloc_counter.h"
#include "support/reference.h"

enum { ENDS_MAX = 40000 };

/// Ends of internal steps, as the observer sees them.
typedef struct step_ends {
    int count;
    double time[ENDS_MAX], first[ENDS_MAX]; // s; first coordinate of the first body there
} step_ends;

static void note_end(void *user, double time, double step_size, const double *q, const double *v)
{
    step_ends *ends = user;
    (void)step_size, (void)v;
    CHECK(ends->count < ENDS_MAX);
    ends->time[ends->count] = time;
    ends->first[ends->count++] = q[0];
}

static double worst_difference(const double *a, const double *b, int count)
{
    double worst = 0.0;
    for (int k = 0; k < count; ++k)
        worst = isfinite(a[k] - b[k]) ? fmax(worst, fabs(a[k] - b[k])) : HUGE_VAL;
    return worst;
}

static double largest(const double *a, int count)
{
    double size = 0.0;
    for (int k = 0; k < count; ++k) size = fmax(size, fabs(a[k]));
    return size;
}

// ---- accuracy -------------------------------------------------------------------------------------------

/// Errors of one run at times[index] of a reference.
typedef struct output_error {
    double position; // m, centres of mass
    double rate;     // rad/s, crank of the quadrangle
    double work;     // J
} output_error;

static output_error quadrangle_error(const jet_run *r, const reference *ref, int index)
{
    output_error error = {0};
    char place[64];
    for (int body = 0; body < 3; ++body) {
        double expected[3];
        snprintf(place, sizeof place, "/reference/r%d/values/%d", body + 1, index);
        CHECK_EQUAL(reference_numbers(ref, place, expected, 3), 3);
        error.position = fmax(error.position, worst_difference(jet_pose(r, body), expected, 3));
    }
    double twist[TWIST_SIZE];
    velocity_to_twist(jet_pose(r, 0),
                      r->state.impetus + POSE_SIZE * (size_t)r->system->tree_place[0], twist);
    snprintf(place, sizeof place, "/reference/crank_rate/values/%d", index);
    error.rate = fabs(twist[5] - reference_number(ref, place));
    snprintf(place, sizeof place, "/reference/W_ext/values/%d", index);
    error.work = fabs(r->work - reference_number(ref, place));
    return error;
}

// Internal steps of one size that pass the output at four tenths of a step; the output is a single one.
static output_error error_between_steps(bool planar, hn_projection projection, int steps)
{
    reference *ref = reference_load("jet_quadrangle.json");
    hn_simulation_def def = jet_def(1e-8);
    def.projected_rk.impose_energy = false;
    def.projected_rk.planar = planar;
    def.projected_rk.projection = projection;
    jet_run r = jet_model("quadrangle", &def);
    step_ends *ends = calloc(1, sizeof *ends);
    r.solver->fixed_step = 0.5 / (steps + 0.4);
    r.solver->observer = note_end, r.solver->observer_user = ends;
    jet_step(&r, 0.5);
    output_error error = quadrangle_error(&r, ref, 1);
    CHECK_EQUAL(ends->count, steps + 1);
    CHECK_NEAR(ends->time[steps] - 0.5, 0.6 * 0.5 / (steps + 0.4), 1e-12);
    print_message(
        "planar %d, projection %d: %d steps, position %.3g m, rate %.3g rad/s, work %.3g J\n",
        planar, (int)projection, steps, error.position, error.rate, error.work);
    free(ends);
    jet_end(&r);
    reference_destroy(ref);
    return error;
}

TEST(dense_output, is_of_order_five_between_internal_steps)
{
    for (int variant = 0; variant < 3; ++variant) {
        bool planar = variant == 2;
        hn_projection projection =
            variant == 1 ? HN_PROJECTION_ORTHOGONAL : HN_PROJECTION_QUASI_ORTHOGONAL;
        output_error coarse = error_between_steps(planar, projection, 20);
        error_between_steps(planar, projection, 40);
        output_error fine = error_between_steps(planar, projection, 80);
        double position = 0.5 * log2(coarse.position / fine.position),
               rate = 0.5 * log2(coarse.rate / fine.rate),
               work = 0.5 * log2(coarse.work / fine.work);
        MEASURED(position);
        MEASURED(rate);
        MEASURED(work);
        // a dead centre is passed on the way: orders scatter, upward
        CHECK(position > 4.75); // measured 5.37 to 6.07
        CHECK(rate > 4.75);     // measured 5.42 to 7.48
        CHECK(work > 4.75);     // measured 5.20 to 6.46
    }
}

// Inside one internal step from the start, at four tenths of it, beside a run of tight tolerance.
static void error_inside_a_step(const char *model, int order, double h, double *position,
                                double *velocity)
{
    hn_simulation_def def = jet_def(1e-8), tight = jet_def(1e-13);
    def.order = order, tight.order = 8;
    tight.projected_rk.projection_tolerance = def.projected_rk.projection_tolerance = 1e-14;
    def.projected_rk.impose_energy = tight.projected_rk.impose_energy =
        tight.projected_rk.dense_output = false;
    jet_run r = jet_model(model, &def), truth = jet_model(model, &tight);
    r.solver->fixed_step = h;
    jet_step(&r, 0.4 * h), jet_step(&truth, 0.4 * h);
    CHECK_EQUAL(r.solver->statistics.steps, 1);
    int count = POSE_SIZE * r.system->body_count;
    *position = worst_difference(r.state.q, truth.state.q, count);
    *velocity = worst_difference(r.state.impetus, truth.state.impetus, count);
    print_message("%s, a step of %g s: %.3g m, %.3g m/s\n", model, h, *position, *velocity);
    jet_end(&r);
    jet_end(&truth);
}

TEST(dense_output, is_of_local_order_six_inside_an_internal_step)
{
    static const char *const models[] = {"free-tree", "double-spherical-pendulum", "rssr"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        double position[3], velocity[3];
        for (int k = 0; k < 3; ++k)
            error_inside_a_step(models[m], 5, 0.04 / (1 << k), &position[k], &velocity[k]);
        double order = 0.5 * log2(position[0] / position[2]),
               order1 = 0.5 * log2(velocity[0] / velocity[2]);
        MEASURED(order);
        MEASURED(order1);
        CHECK(order > 5.75);  // measured 6.18 to 7.12
        CHECK(order1 > 5.75); // measured 6.66 to 7.13
    }
}

// (P14): a polynomial of order seven, whose error is of the eighth power of the step
TEST(dense_output, of_order_eight_is_of_local_order_eight)
{
    static const struct {
        const char *model;
        double step;
    } CASES[] = {{"free-tree", 0.03},
                 {"double-spherical-pendulum", 0.12},
                 {"rssr", 0.04},
                 {"gyro-top", 0.008}};
    for (size_t m = 0; m < sizeof CASES / sizeof CASES[0]; ++m) {
        double position[2], velocity[2];
        for (int k = 0; k < 2; ++k)
            error_inside_a_step(CASES[m].model, 8, CASES[m].step / (1 << k), &position[k],
                                &velocity[k]);
        double order = log2(position[0] / position[1]), order1 = log2(velocity[0] / velocity[1]);
        MEASURED(order);
        MEASURED(order1);
        CHECK(order > 7.5);  // measured 7.85 to 8.09
        CHECK(order1 > 7.5); // measured 8.07 to 8.78
    }
}

// A run of tight tolerance whose steps are cut at given times.
static jet_run tight_run(const char *model)
{
    hn_simulation_def def = jet_def(1e-12);
    def.projected_rk.dense_output = false;
    return jet_model(model, &def);
}

/// States of all bodies at many times.
typedef struct state_list {
    int count, width;
    double *time, *q, *v;
} state_list;

static void list_state(void *user, double time, double step_size, const double *q, const double *v)
{
    state_list *list = user;
    (void)step_size;
    CHECK(list->count < ENDS_MAX);
    list->time[list->count] = time;
    memcpy(list->q + list->count * list->width, q, (size_t)list->width * sizeof(double));
    memcpy(list->v + list->count * list->width, v, (size_t)list->width * sizeof(double));
    list->count++;
}

static state_list list_create(int width)
{
    size_t size = ENDS_MAX * (size_t)width;
    return (state_list){.width = width,
                        .time = jet_doubles(ENDS_MAX),
                        .q = jet_doubles(size),
                        .v = jet_doubles(size)};
}

static void list_destroy(state_list *list)
{
    free(list->time), free(list->q), free(list->v);
}

// largest errors of positions and velocities in a list, beside a run of tight tolerance
static void list_errors(const state_list *list, const char *model, double end, double *position,
                        double *velocity)
{
    jet_run r = tight_run(model);
    *position = *velocity = 0.0;
    for (int k = 0; k < list->count && list->time[k] <= end; ++k) {
        jet_step(&r, list->time[k] - r.time);
        *position =
            fmax(*position, worst_difference(list->q + k * list->width, r.state.q, list->width));
        *velocity = fmax(*velocity,
                         worst_difference(list->v + k * list->width, r.state.impetus, list->width));
    }
    jet_end(&r);
}

// The error of states between the ends of internal steps is that of the ends, in positions and velocities.
TEST(dense_output, has_the_accuracy_of_the_steps)
{
    static const char *const models[] = {"quadrangle", "crank", "jet-pendulum"};
    const double end = 1.0;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m)
        for (int digits = 7; digits <= 15; digits += 2) {
            bool eight = digits > 11; // the last two: 1e-9 and 1e-11 at order eight
            hn_simulation_def def = jet_def(pow(10.0, eight ? 4 - digits : -digits));
            def.order = eight ? 8 : 5;
            jet_run r = jet_model(models[m], &def);
            state_list ends = list_create(POSE_SIZE * r.system->body_count),
                       states = list_create(ends.width);
            r.solver->observer = list_state, r.solver->observer_user = &ends;
            for (int k = 0; k < 500; ++k) {
                jet_step(&r, end / 500);
                list_state(&states, r.time, end / 500, r.state.q, r.state.impetus);
            }
            jet_end(&r);
            double position[2], velocity[2];
            list_errors(&ends, models[m], end, &position[0], &velocity[0]);
            list_errors(&states, models[m], end, &position[1], &velocity[1]);
            print_message("%s, order %d, tolerance %.0e: %d internal steps, errors at their ends "
                          "%.2e m and %.2e m/s, at states %.2e and %.2e\n",
                          models[m], def.order, def.projected_rk.absolute_tolerance, ends.count,
                          position[0], velocity[0], position[1], velocity[1]);
            if (!eight) {
                CHECK_BELOW(position[1] / position[0], 2.0); // measured 0.98 to 1.65
                CHECK_BELOW(velocity[1] / velocity[0], 2.0); // measured 1.00 to 1.60
            } else { // the ends may be better than asked, states between are of order seven
                CHECK_BELOW(position[1] / def.projected_rk.absolute_tolerance,
                            10.0); // measured 6.6
            }
            list_destroy(&ends);
            list_destroy(&states);
        }
}

// The quadrangle at t = 5, reported every hundredth of a second
TEST(dense_output, converges_to_the_reference_of_the_quadrangle)
{
    reference *ref = reference_load("jet_quadrangle.json");
    for (int planar = 0; planar < 2; ++planar) {
        hn_simulation_def def = jet_def(1e-10);
        def.projected_rk.planar = planar == 1;
        jet_run r = jet_model("quadrangle", &def);
        for (int k = 0; k < 500; ++k) jet_step(&r, 0.01);
        output_error error = quadrangle_error(&r, ref, 5);
        MEASURED(error.position);
        MEASURED(error.rate);
        MEASURED(error.work);
        CHECK_BELOW(error.position, 5e-9); // m; measured 8.2e-11
        CHECK_BELOW(error.rate, 1e-7);     // rad/s; measured 1.6e-9
        CHECK_BELOW(error.work, 5e-5);     // J of 23264; measured 9.1e-7
        jet_end(&r);
    }
    reference_destroy(ref);
}

// ---- what a reported state keeps ------------------------------------------------------------------------

// largest |G v| of all rows by the joints' own code, translational rows over the length, over the speed
static double velocity_level(const jet_run *r)
{
    double worst = 0.0, size = 1.0;
    int count = POSE_SIZE * r->system->body_count;
    for (int k = 0; k < count; ++k) size = fmax(size, fabs(r->state.impetus[k]));
    for (int k = 0; k < r->system->joint_count; ++k) {
        const joint *j = &r->system->reports[k].rows;
        for (int n = 0; n < j->row_count; ++n) {
            constraint_row row;
            hn_vec3 gradient[8];
            double rate = 0.0;
            joint_type_of(j->kind)->row(j, n, &row);
            row_gradient(&row, system_pose(r->state.q, j->parent),
                         system_pose(r->state.q, j->child), gradient);
            for (int x = 0; x < 24; ++x) {
                int body = x < 12 ? j->parent : j->child;
                const double g[3] = {gradient[x / 3].x, gradient[x / 3].y, gradient[x / 3].z};
                if (body >= 0) rate += g[x % 3] * r->state.impetus[POSE_SIZE * body + x % 12];
            }
            worst = fmax(worst, fabs(rate));
        }
    }
    return worst / (size * fmax(1.0, r->system->length));
}

static double total_energy(const jet_run *r)
{
    double energy = 0.0;
    for (int i = 0; i < r->system->body_count; ++i) {
        const double *q = r->state.q + POSE_SIZE * (size_t)i,
                     *v = r->state.impetus + POSE_SIZE * (size_t)i;
        for (int k = 0; k < POSE_SIZE; ++k)
            energy += 0.5 * r->system->inertia[4 * i + k / 3] * v[k] * v[k];
        energy -= r->system->inertia[4 * i] * vec3_dot(r->system->gravity, vec3_load(q));
    }
    return energy;
}

TEST(dense_output, every_state_keeps_both_levels_and_the_energy)
{
    static const char *const models[] = {"quadrangle",       "crank",    "jet-pendulum", "rssr",
                                         "six-body-linkage", "free-tree"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m)
        for (int projection = 0; projection < 2; ++projection) {
            hn_simulation_def def = jet_def(1e-7);
            def.projected_rk.projection = (hn_projection)projection;
            jet_run r = jet_model(models[m], &def);
            double start = total_energy(&r), position = 0.0, velocity = 0.0, energy = 0.0,
                   scale = fabs(start);
            for (int k = 0; k < 300; ++k) {
                jet_step(&r, 0.0013);
                position = fmax(position, system_check_constraints(r.system, r.state.q).residual);
                velocity = fmax(velocity, velocity_level(&r));
                energy = fmax(energy, fabs(total_energy(&r) - r.work - start));
                scale = fmax(scale, fabs(r.work));
                for (int i = 0; i < r.system->body_count; ++i)
                    scale = fmax(scale,
                                 0.5 * r.system->inertia[4 * i] *
                                     vec3_dot(vec3_load(r.state.impetus + POSE_SIZE * (size_t)i),
                                              vec3_load(r.state.impetus + POSE_SIZE * (size_t)i)));
            }
            projected_rk_statistics s = r.solver->statistics;
            print_message("%s, projection %d: %lld internal steps for 300 states, g %.1e, G v "
                          "%.1e, energy %.1e of %.1e J\n",
                          models[m], projection, (long long)s.steps, position, velocity, energy,
                          scale);
            CHECK(s.steps < 200);         // most states are between the ends of internal steps
            CHECK_BELOW(position, 1e-11); // measured 1.4e-12 (dropped rows of the linkage)
            CHECK_BELOW(velocity, 1e-11); // measured 3.5e-12, likewise
            CHECK_BELOW(energy / scale, 1e-12); // measured 1.3e-14
            jet_end(&r);
        }
}

TEST(dense_output, reactions_and_work_belong_to_the_reported_time)
{
    static const char *const models[] = {"quadrangle", "crank", "rssr"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m)
        for (int planar = 0; planar < (m == 0 ? 2 : 1); ++planar) {
            hn_simulation_def def = jet_def(1e-11);
            def.projected_rk.planar = planar == 1;
            jet_run free_steps = jet_model(models[m], &def);
            def.projected_rk.dense_output = false;
            jet_run cut_steps = jet_model(models[m], &def);
            int count = free_steps.system->constraint_count;
            double worst = 0.0, work = 0.0, scale = 0.0, done = 0.0;
            for (int k = 0; k < 200; ++k) {
                jet_step(&free_steps, 0.003), jet_step(&cut_steps, 0.003);
                worst = fmax(
                    worst, worst_difference(free_steps.multipliers, cut_steps.multipliers, count));
                scale = fmax(scale, largest(cut_steps.multipliers, count));
                work = fmax(work, fabs(free_steps.work - cut_steps.work));
                done = fmax(done, fabs(cut_steps.work));
            }
            print_message("%s: multipliers %.1e of %.1e, work %.1e of %.1e J\n", models[m], worst,
                          scale, work, done);
            CHECK_BELOW(worst / scale, 1e-8);        // measured 1.7e-10
            CHECK_BELOW(work, 1e-9 * done + 1e-300); // measured 5.2e-12 of it
            jet_end(&free_steps);
            jet_end(&cut_steps);
        }
}

// ---- independence of the grid ---------------------------------------------------------------------------

static step_ends *ends_of(const char *model, const hn_simulation_def *def, double h, double end,
                          int64_t *rejected)
{
    step_ends *ends = calloc(1, sizeof *ends);
    CHECK(ends != NULL);
    jet_run r = jet_model(model, def);
    r.solver->observer = note_end, r.solver->observer_user = ends;
    int count = (int)lround(end / h);
    for (int k = 0; k < count; ++k) {
        r.time = k * h; // the grid as a simulation has it
        jet_step(&r, h);
    }
    *rejected = r.solver->statistics.rejected;
    jet_end(&r);
    return ends;
}

TEST(dense_output, internal_steps_do_not_know_the_grid)
{
    static const char *const models[] = {"quadrangle", "crank", "rssr", "six-body-linkage",
                                         "free-tree"};
    static const double grid[] = {0.5, 0.1, 0.01, 0.0001};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m)
        for (int projection = 0; projection < (m < 3 ? 3 : 1); ++projection) {
            hn_simulation_def def = jet_def(1e-8);
            def.projected_rk.projection = (hn_projection)projection;
            def.order = projection == 2 ? 8 : 5;
            int64_t rejected[4];
            step_ends *ends[4];
            for (int g = 0; g < 4; ++g)
                ends[g] = ends_of(models[m], &def, grid[g], 0.5, &rejected[g]);
            for (int g = 1; g < 4; ++g) {
                CHECK_EQUAL(ends[g]->count, ends[0]->count);
                CHECK_EQUAL(rejected[g], rejected[0]);
                size_t bytes = (size_t)ends[0]->count * sizeof(double);
                CHECK(memcmp(ends[g]->time, ends[0]->time, bytes) == 0); // digit by digit
                CHECK(memcmp(ends[g]->first, ends[0]->first, bytes) == 0);
            }
            print_message("%s, projection %d: %d internal steps on every grid\n", models[m],
                          projection, ends[0]->count);
            CHECK(ends[0]->time[ends[0]->count - 1] > 0.5);
            for (int g = 0; g < 4; ++g) free(ends[g]);
        }
}

TEST(dense_output, switched_off_ends_internal_steps_on_the_grid)
{
    hn_simulation_def def = jet_def(1e-8);
    def.projected_rk.dense_output = false;
    int64_t rejected;
    step_ends *ends = ends_of("quadrangle", &def, 0.01, 0.5, &rejected);
    int met = 0;
    for (int k = 0; k < ends->count; ++k)
        if (fabs(ends->time[k] - 0.01 * (met + 1)) < 1e-12) met++;
    CHECK_EQUAL(met, 50);
    free(ends);
}

// ---- loads with kinks -----------------------------------------------------------------------------------

// A mass at rest that a force takes up after a long while.
static hn_model *pushed_mass(hn_context *context, const hn_profile *profile)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def mass = hn_body_def_default();
    mass.kind = HN_BODY_POINT_MASS;
    mass.mass = 2.0;
    hn_body_id body;
    CHECK_OK(context, hn_model_add_body(model, &mass, &body));
    hn_load_def force = hn_load_def_default();
    force.body = body;
    force.vector = (hn_vec3){3.0, 0.0, 0.0};
    force.profile = *profile;
    hn_load_id load;
    CHECK_OK(context, hn_model_add_load(model, &force, &load));
    return model;
}

TEST(dense_output, does_not_jump_over_a_pulse_and_stops_at_kinks)
{
    static const double times[3] = {40.0, 40.01, 70.0}, factors[3] = {0.0, 1.0, 1.0};
    const hn_profile profiles[2] = {
        {.kind = HN_PROFILE_PULSE, .start = 50.0, .peak = 50.002, .end = 50.005},
        {.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 3}};
    // at t = 60: F/m times the area of the factor, and the integral of the velocity
    // (of the times as they are: 50.005 - 50 is not quite 0.005)
    const double area = 0.5 * (50.005 - 50.0), rise = 40.01 - 40.0, rest = 60.0 - 40.01;
    const double speed[2] = {1.5 * area, 1.5 * (0.5 * rise + rest)};
    const double way[2] = {
        1.5 * area * (60.0 - (50.0 + 50.002 + 50.005) / 3.0),
        1.5 * (0.5 * rise * (60.0 - (40.0 + 2.0 / 3.0 * rise)) + 0.5 * rest * rest)};
    for (int p = 0; p < 2; ++p)
        for (int dense = 0; dense < 2; ++dense) {
            hn_simulation_def def = jet_def(1e-8);
            def.projected_rk.dense_output = dense == 1;
            hn_context *context = hn_context_create(NULL);
            jet_run r;
            step_ends *ends = calloc(1, sizeof *ends);
            CHECK_OK(context, jet_start(context, pushed_mass(context, &profiles[p]), &def, &r));
            r.solver->observer = note_end, r.solver->observer_user = ends;
            for (int k = 0; k < 3; ++k) jet_step(&r, 20.0);
            int met = 0;
            for (int k = 0; k < ends->count; ++k)
                for (int i = 0; i < 3; ++i) {
                    const double pulse[3] = {50.0, 50.002, 50.005};
                    if (ends->time[k] == (p == 0 ? pulse[i] : times[i])) met++;
                }
            print_message("profile %d, dense %d: %d steps, speed %.17g, way %.17g\n", p, dense,
                          ends->count, r.state.impetus[0], r.state.q[0]);
            CHECK_EQUAL(met, p == 0 ? 3 : dense == 1 ? 3 : 2); // 70 s is ahead of the last state
            CHECK_NEAR(r.state.impetus[0], speed[p], 1e-12 * speed[p]);
            CHECK_NEAR(r.state.q[0], way[p], 1e-12 * way[p]);
            CHECK_NEAR(r.work, speed[p] * speed[p],
                       1e-12 * speed[p] * speed[p]); // m/2 v^2 with m = 2
            free(ends);
            jet_end(&r);
        }
}

// A wheel that winds up a torsional spring by more than a turn in a nominal step: turns are counted inside.
TEST(dense_output, turns_of_a_torsional_spring_are_not_lost_in_a_long_step)
{
    static const char text[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies:\n  wheel: {shape: {box: {size: [1, 1, 0.1]}}, mass: 6}\n"
        "joints:\n  axle: {revolute: {bodies: [ground, wheel], at: [0, 0, 0], axis: z}}\n"
        "loads:\n  coil: {torsion_spring: {joint: axle, stiffness: 0.25}}\n"
        "start:\n  axle: {rate: 12}\n";
    for (int dense = 0; dense < 2; ++dense) {
        hn_model *model = NULL;
        hn_simulation *sim = NULL;
        hn_energy energy;
        hn_context *context = hn_context_create(NULL);
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "wheel", &model));
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_PROJECTED_RK;
        def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-11;
        def.projected_rk.dense_output = dense == 1;
        def.step_size = 1.0;
        CHECK_OK(context, hn_simulation_create(model, &def, &sim));
        for (int k = 1; k <= 4; ++k) {
            // inertia 1 kg m^2, frequency 1/2: angle 24 sin(t/2), rate 12 cos(t/2)
            CHECK_OK(context, hn_simulation_step(sim, 1));
            CHECK_OK(context, hn_simulation_energy(sim, &energy));
            CHECK_BELOW(energy.potential - 72.0 * sin(0.5 * k) * sin(0.5 * k),
                        3e-9); // J; measured 4.6e-11
            CHECK_BELOW(energy.kinetic - 72.0 * cos(0.5 * k) * cos(0.5 * k), 1e-8); // likewise
        }
        hn_simulation_destroy(sim);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

// ---- memory ---------------------------------------------------------------------------------------------

TEST(dense_output, a_failed_step_leaves_state_and_memory_and_may_be_repeated)
{
    for (int dense = 0; dense < 2; ++dense) {
        hn_simulation_def def = jet_def(1e-8);
        def.projected_rk.dense_output = dense == 1;
        jet_run r = jet_model("quadrangle", &def), other = jet_model("quadrangle", &def);
        size_t count = 36, size = count * (size_t)scheme_projected_rk.memory_count * sizeof(double);
        double *memory = malloc(size), q[36], v[36];
        for (int k = 0; k < 7; ++k) jet_step(&r, 0.0031), jet_step(&other, 0.0031);
        memcpy(memory, r.state.memory, size), memcpy(q, r.state.q, sizeof q),
            memcpy(v, r.state.impetus, sizeof v);
        r.solver->tolerance = -1.0; // no projection reaches it
        for (int k = 0; k < 2; ++k) CHECK_EQUAL(jet_try_step(&r, 0.31), HN_NOT_CONVERGED);
        CHECK(memcmp(memory, r.state.memory, size) == 0);
        CHECK(memcmp(q, r.state.q, sizeof q) == 0 && memcmp(v, r.state.impetus, sizeof v) == 0);
        r.solver->tolerance = 1e-12;
        for (int k = 0; k < 7; ++k) jet_step(&r, 0.0031), jet_step(&other, 0.0031);
        CHECK(memcmp(r.state.q, other.state.q, sizeof q) == 0);
        CHECK(memcmp(r.state.impetus, other.state.impetus, sizeof v) == 0);
        free(memory);
        jet_end(&r);
        jet_end(&other);
    }
}

// Whoever changes the state between steps gets a new start, not the internal step that is ahead of it.
TEST(dense_output, a_changed_state_is_not_carried_on_with_the_old_internal_step)
{
    hn_simulation_def def = jet_def(1e-10);
    jet_run r = jet_model("quadrangle", &def);
    double start[36];
    memcpy(start, r.state.q, sizeof start);
    for (int k = 0; k < 10; ++k) jet_step(&r, 0.013);
    for (int k = 0; k < 36; ++k) r.state.impetus[k] = -r.state.impetus[k];
    for (int k = 0; k < 10; ++k) jet_step(&r, 0.013);
    double off = worst_difference(r.state.q, start, 36);
    MEASURED(off);
    CHECK_BELOW(
        off,
        1e-10); // m; measured 1.9e-12; the torque is constant: the way back is the way there
    jet_end(&r);
}

// as hn_simulation_step does it, with time n h, a step that is no binary fraction, and a snapshot in between
TEST(dense_output, snapshots_hold_the_internal_step_that_is_ahead)
{
    for (int projection = 0; projection < 3; ++projection) {
        char path[1024];
        hn_model *model = NULL;
        hn_simulation *sim = NULL, *again = NULL;
        hn_context *context = hn_context_create(NULL);
        snprintf(path, sizeof path, "%s/models/rssr.yaml", HN_SOURCE_DIR);
        CHECK_OK(context, hn_model_load(context, path, &model));
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_PROJECTED_RK;
        def.projected_rk.projection = (hn_projection)projection;
        def.order = projection == 2 ? 8 : 5;
        def.step_size = 0.0007;
        CHECK_OK(context, hn_simulation_create(model, &def, &sim));
        CHECK_OK(context, hn_simulation_create(model, &def, &again));
        CHECK_OK(context, hn_simulation_step(sim, 333));
        size_t size = hn_simulation_snapshot_size(sim);
        void *snapshot = malloc(size);
        CHECK_OK(context, hn_simulation_save(sim, snapshot, size));
        CHECK_OK(context, hn_simulation_step(sim, 200));
        CHECK_OK(context, hn_simulation_restore(again, snapshot, size));
        CHECK_OK(context, hn_simulation_step(again, 200));
        double a[64], b[64], la[64], lb[64];
        int count = hn_simulation_structure(sim).coordinate_count,
            rows = hn_simulation_structure(sim).constraint_count;
        CHECK_OK(context, hn_simulation_coordinates(sim, a, count));
        CHECK_OK(context, hn_simulation_coordinates(again, b, count));
        CHECK_OK(context, hn_simulation_multipliers(sim, la, rows));
        CHECK_OK(context, hn_simulation_multipliers(again, lb, rows));
        CHECK(memcmp(a, b, (size_t)count * sizeof(double)) == 0);
        CHECK(memcmp(la, lb, (size_t)rows * sizeof(double)) == 0);
        free(snapshot);
        hn_simulation_destroy(sim);
        hn_simulation_destroy(again);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

TEST(dense_output, a_state_between_internal_steps_allocates_nothing)
{
    hn_simulation_def def = jet_def(1e-7);
    def.projected_rk.impose_momentum = true;
    jet_run r = jet_model("six-body-linkage", &def);
    jet_step(&r, 1e-5);
    int64_t before = malloc_counter_allocations();
    for (int k = 0; k < 500; ++k) jet_step(&r, 1e-5);
    int64_t taken = malloc_counter_allocations() - before;
    if (malloc_counter_works()) CHECK_EQUAL(taken, 0);
    jet_end(&r);
}
