// SPDX-License-Identifier: MIT
// Angles that count turns: every scheme, with and without ledger, fast wheels, wheels on wheels, halved steps.
#include "run.h"

#include "system/angles.h"

static const double PI = 3.141592653589793;

typedef struct wheels {
    hn_context *context;
    hn_model *model;
    hn_body_id body[2];
    hn_joint_id hinge[2];
} wheels;

// A wheel on the ground and, on the same axis, a wheel on the wheel; rates (rad/s) of the hinges, stiffness of a
// torsional spring on the second
static wheels make_wheels(hn_joint_kind kind, double first, double second, double stiffness)
{
    wheels w = {.context = hn_context_create(NULL)};
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(w.context, hn_model_create(w.context, &world, &w.model));
    for (int i = 0; i < 2; ++i) {
        hn_body_def def = hn_body_def_default();
        def.mass = 1.0;
        def.inertia = (hn_vec3){0.02, 0.03, 0.04};
        CHECK_OK(w.context, hn_model_add_body(w.model, &def, &w.body[i]));
        hn_joint_def hinge = hn_joint_def_default(kind);
        hinge.body_a = i == 0 ? hn_ground() : w.body[0];
        hinge.body_b = w.body[i];
        hinge.axis_a = (hn_vec3){0.0, 0.0, 1.0};
        CHECK_OK(w.context, hn_model_add_joint(w.model, &hinge, &w.hinge[i]));
        double rates[3] = {0.0, 0.0, 0.0};
        int place = joint_angle_place(kind);
        rates[place] = i == 0 ? first : second;
        CHECK_OK(w.context, hn_model_set_joint_rates(w.model, w.hinge[i], rates, place + 1));
    }
    if (stiffness > 0.0) {
        hn_torsion_spring_def spring = hn_torsion_spring_def_default();
        hn_load_id id;
        spring.joint = w.hinge[1];
        spring.stiffness = stiffness;
        CHECK_OK(w.context, hn_model_add_torsion_spring(w.model, &spring, &id));
    }
    return w;
}

static run start_wheels(const wheels *w, hn_scheme scheme, double step, bool ledger)
{
    return run_start(w->context, w->model, scheme, HN_REDUCTION_REDUCED, step, ledger);
}

static double angle_of(const run *r, hn_joint_id hinge, hn_joint_kind kind)
{
    hn_joint_state state;
    CHECK_OK(r->context, hn_simulation_joint_state(r->sim, hinge, &state));
    return state.coordinates[joint_angle_place(kind)];
}

// Angle of a body about z, within half a turn of `near`
static double body_angle(const run *r, hn_body_id body, double near)
{
    hn_mat3 o = run_body(r, body).orientation;
    return angle_near(atan2(o.m[1][0], o.m[0][0]), near);
}

// h |omega| that a scheme can do, and what it makes of it in a step where that is known
typedef struct fast {
    hn_scheme scheme;
    double turn;
} fast;
static const fast FAST[] = {
    {HN_SCHEME_ENERGY_MOMENTUM, 2.0},   {HN_SCHEME_ENERGY_MOMENTUM, 10.0},
    {HN_SCHEME_VARIATIONAL, 0.95},      {HN_SCHEME_RATTLE, 0.95},
    {HN_SCHEME_GENERALIZED_ALPHA, 0.3}, {HN_SCHEME_CONVECTED, 2.0},
    {HN_SCHEME_CONVECTED, 10.0},        {HN_SCHEME_GGL_VARIATIONAL, 0.45},
    {HN_SCHEME_GGL_CLASSICAL, 1.0},     {HN_SCHEME_PROJECTED_RK, 0.7},
    {HN_SCHEME_PROJECTED_RK, 50.0},
};
enum { FAST_COUNT = sizeof FAST / sizeof FAST[0], STEPS = 60 };

static const hn_joint_kind KINDS[] = {HN_JOINT_REVOLUTE, HN_JOINT_CYLINDRICAL, HN_JOINT_PLANAR};

// What the bodies did is known from their poses in every step (each turns by less than half a turn), or from the rates
TEST(turns, are_counted_by_every_scheme_without_being_asked_in_between)
{
    const double h = 0.01;
    for (int i = 0; i < FAST_COUNT; ++i)
        for (int kind = 0; kind < 3; ++kind)
            for (int ledger = 0; ledger < 2; ++ledger) {
                // bodies turn at w and -w, the second hinge at -2 w
                double omega = FAST[i].turn / h, sum[2] = {0.0, 0.0};
                wheels w[2] = {make_wheels(KINDS[kind], omega, -2.0 * omega, 0.0),
                               make_wheels(KINDS[kind], omega, -2.0 * omega, 0.0)};
                run silent = start_wheels(&w[0], FAST[i].scheme, h, ledger == 1),
                    watched = start_wheels(&w[1], FAST[i].scheme, h, true);
                run_step(&silent, STEPS);
                for (int n = 0; n < STEPS; ++n) {
                    double last[2] = {sum[0], sum[1]};
                    run_step(&watched, 1);
                    for (int b = 0; b < 2; ++b)
                        sum[b] = body_angle(&watched, w[1].body[b], last[b]);
                }
                if (FAST[i].scheme == HN_SCHEME_PROJECTED_RK)
                    sum[0] = STEPS * FAST[i].turn, sum[1] = -sum[0];
                if (FAST[i].scheme == HN_SCHEME_ENERGY_MOMENTUM)
                    CHECK_NEAR(sum[0], STEPS * 2.0 * atan(0.5 * FAST[i].turn), 1e-9);
                CHECK(fabs(sum[0]) > PI); // rad: it goes round
                double tolerance = FAST[i].scheme == HN_SCHEME_PROJECTED_RK ? 1e-3 : 1e-9; // rad
                CHECK_NEAR(angle_of(&silent, w[0].hinge[0], KINDS[kind]), sum[0], tolerance);
                CHECK_NEAR(angle_of(&silent, w[0].hinge[1], KINDS[kind]), sum[1] - sum[0],
                           tolerance);
                CHECK_EQUAL(hn_simulation_statistics(silent.sim).doubtful_turn_count, 0);
                run_end(&silent);
                run_end(&watched);
            }
}

TEST(turns, of_halved_steps_are_all_counted)
{
    // 2 atan(10) is beyond 164 degrees: two halves of 2 atan(5) each, 5.49 rad in a step
    static const hn_scheme SCHEMES_HALVED[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_CONVECTED};
    for (int i = 0; i < 2; ++i)
        for (int ledger = 0; ledger < 2; ++ledger) {
            wheels w = make_wheels(HN_JOINT_REVOLUTE, 2000.0, -4000.0, 0.0);
            run r = start_wheels(&w, SCHEMES_HALVED[i], 0.01, ledger == 1);
            run_step(&r, 20);
            CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 20);
            double turned = 20 * 4.0 * atan(5.0);
            CHECK_NEAR(angle_of(&r, w.hinge[0], HN_JOINT_REVOLUTE), turned, 1e-9);
            CHECK_NEAR(angle_of(&r, w.hinge[1], HN_JOINT_REVOLUTE), -2.0 * turned, 1e-9);
            run_end(&r);
        }
}

// A spring on the hinge between two wheels that turn by 3.1 rad and more against each other in a step: its energy
// belongs to the angle with all its turns
TEST(turns, of_torsional_springs_are_those_of_their_joint)
{
    static const fast SPRUNG[] = {
        {HN_SCHEME_ENERGY_MOMENTUM, 2.5},   {HN_SCHEME_CONVECTED, 2.5},
        {HN_SCHEME_VARIATIONAL, 0.9},       {HN_SCHEME_RATTLE, 0.9},
        {HN_SCHEME_GENERALIZED_ALPHA, 0.3}, {HN_SCHEME_GGL_VARIATIONAL, 0.4},
        {HN_SCHEME_GGL_CLASSICAL, 0.1},     {HN_SCHEME_PROJECTED_RK, 20.0}};
    for (int i = 0; i < 8; ++i)
        for (int ledger = 0; ledger < 2; ++ledger) {
            const double h = 0.01, stiffness = 1e-3;
            double omega = SPRUNG[i].turn / h;
            wheels w = make_wheels(HN_JOINT_REVOLUTE, omega, -2.0 * omega, stiffness);
            run r = start_wheels(&w, SPRUNG[i].scheme, h, ledger == 1);
            hn_energy start, end;
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &start));
            run_step(&r, 40);
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &end));
            double angle = angle_of(&r, w.hinge[1], HN_JOINT_REVOLUTE);
            CHECK(fabs(angle) > 2.0 * PI);
            CHECK_NEAR(end.potential, 0.5 * stiffness * angle * angle, 1e-12 * end.potential);
            if (scheme_type_of(SPRUNG[i].scheme)->energy_kept)
                CHECK_NEAR(end.kinetic + end.potential, start.kinetic, 1e-12 * start.kinetic);
            if (SPRUNG[i].scheme == HN_SCHEME_PROJECTED_RK) {
                // both wheels have J = 0.04 and turn against each other: a pendulum of the angle, 2 k/J
                double frequency = sqrt(2.0 * stiffness / 0.04), time = 40 * h;
                CHECK_NEAR(angle, -2.0 * omega / frequency * sin(frequency * time), 1e-3);
            }
            run_end(&r);
        }
}

TEST(turns, go_on_from_snapshots)
{
    for (int i = 0; i < FAST_COUNT; ++i) {
        const double h = 0.01;
        double omega = FAST[i].turn / h;
        wheels w[2] = {make_wheels(HN_JOINT_REVOLUTE, omega, -2.0 * omega, 1e-4),
                       make_wheels(HN_JOINT_REVOLUTE, omega, -2.0 * omega, 1e-4)};
        run r[2] = {start_wheels(&w[0], FAST[i].scheme, h, false),
                    start_wheels(&w[1], FAST[i].scheme, h, false)};
        size_t size = hn_simulation_snapshot_size(r[0].sim);
        void *snapshot = malloc(size);
        run_step(&r[0], 37);
        CHECK_OK(r[0].context, hn_simulation_save(r[0].sim, snapshot, size));
        CHECK_OK(r[1].context, hn_simulation_restore(r[1].sim, snapshot, size));
        for (int k = 0; k < 2; ++k) run_step(&r[k], 30);
        for (int k = 0; k < 2; ++k)
            CHECK(angle_of(&r[0], w[0].hinge[k], HN_JOINT_REVOLUTE) ==
                  angle_of(&r[1], w[1].hinge[k], HN_JOINT_REVOLUTE));
        free(snapshot);
        for (int k = 0; k < 2; ++k) run_end(&r[k]);
    }
}

// A top on a turning arm: the axis of the second hinge is carried round at right angles to itself
TEST(turns, about_an_axis_that_is_carried_round_are_counted)
{
    for (int i = 0; i < FAST_COUNT; ++i) {
        const double h = 0.01;
        double omega = (FAST[i].turn > 2.0 ? 2.0 : FAST[i].turn) / h, sum = 0.0;
        double counts[2];
        for (int watched = 0; watched < 2; ++watched) {
            wheels w = {.context = hn_context_create(NULL)};
            hn_model_def world = hn_model_def_default();
            CHECK_OK(w.context, hn_model_create(w.context, &world, &w.model));
            for (int b = 0; b < 2; ++b) {
                hn_body_def def = hn_body_def_default();
                def.mass = 1.0;
                def.inertia = (hn_vec3){0.02, 0.02, 0.02};
                CHECK_OK(w.context, hn_model_add_body(w.model, &def, &w.body[b]));
                hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
                hinge.body_a = b == 0 ? hn_ground() : w.body[0];
                hinge.body_b = w.body[b];
                hinge.axis_a = (hn_vec3){b == 0 ? 0.0 : 1.0, 0.0, b == 0 ? 1.0 : 0.0};
                CHECK_OK(w.context, hn_model_add_joint(w.model, &hinge, &w.hinge[b]));
                double rate = b == 0 ? 0.4 * omega : 0.5 * omega;
                CHECK_OK(w.context, hn_model_set_joint_rates(w.model, w.hinge[b], &rate, 1));
            }
            // equal spheres: both rates stay as they are
            run r = start_wheels(&w, FAST[i].scheme, h, watched == 1);
            for (int n = 0; n < STEPS; ++n) {
                run_step(&r, 1);
                if (watched) sum = angle_of(&r, w.hinge[1], HN_JOINT_REVOLUTE);
            }
            counts[watched] = angle_of(&r, w.hinge[1], HN_JOINT_REVOLUTE);
            CHECK_EQUAL(hn_simulation_statistics(r.sim).doubtful_turn_count, 0);
            run_end(&r);
        }
        CHECK(counts[0] == counts[1] && counts[1] == sum);
        // the turn of a step is that of the scheme, at most a fourth off at these rates
        if (FAST[i].scheme != HN_SCHEME_GGL_CLASSICAL) // which loses its speed
            CHECK_NEAR(counts[0] / (0.5 * omega * h * STEPS), 1.0, 0.3);
    }
}

static void count_doubts(const char *line, void *user)
{
    if (strstr(line, "whole turns") != NULL) ++*(int *)user;
}

TEST(turns, that_cannot_be_known_are_named)
{
    int lines = 0;
    wheels w = make_wheels(HN_JOINT_REVOLUTE, 320.0, 0.0, 0.0);
    hn_context_set_log(w.context, count_doubts, &lines);
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.step_size = 0.01;
    def.projected_rk.fixed_steps = true;
    hn_simulation *sim = NULL;
    CHECK_OK(w.context, hn_simulation_create(w.model, &def, &sim));
    CHECK_OK(w.context, hn_simulation_step(sim, 10));
    CHECK_EQUAL(lines, 1);
    CHECK_EQUAL(hn_simulation_statistics(sim).doubtful_turn_count, 10);
    hn_simulation_destroy(sim);
    hn_model_destroy(w.model);
    hn_context_destroy(w.context);
}

// A wheel on a universal joint, about its first axis alone, with a drive on it. A quarter of a turn in a step goes by
// 2 atan(h omega/2) under `energy-momentum` and `convected`, by asin(h omega) under `variational` and `rattle`.
TEST(turns, of_universal_joints_are_those_of_their_drives)
{
    static const char WHEEL[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies: {wheel: {mass: 1, inertia: [0.1, 0.1, 0.15]}}\n"
        "joints: {cross: {universal: {bodies: [ground, wheel], at: [0, 0, 0], axes: [z, x]}}}\n"
        "drives: {e: {effort: {joint: cross, coordinate: angle_a, value: 0}}}\n"
        "start: {cross: {angle_a: 3 rev, rates: [-40, 0]}}\n"
        "outputs: {a: {coordinate: {joint: cross, coordinate: angle_a}}}\n";
    static const struct {
        hn_scheme scheme;
        double step_angle;                                         // of h omega = 0.4
    } CASES[] = {{HN_SCHEME_ENERGY_MOMENTUM, 0.39479111969976155}, // 2 atan(0.2)
                 {HN_SCHEME_CONVECTED, 0.39479111969976155},
                 {HN_SCHEME_VARIATIONAL, 0.41151684606748801}, // asin(0.4)
                 {HN_SCHEME_RATTLE, 0.41151684606748801}};
    enum { CROSSED = 100 };
    hn_context *context = hn_context_create(NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        hn_model *model = NULL;
        CHECK_OK(context, hn_model_parse(context, WHEEL, sizeof WHEEL - 1, "model", &model));
        run r = run_start(context, model, CASES[i].scheme, HN_REDUCTION_REDUCED, 1e-2, i % 2 == 0);
        const hn_joint_id cross = hn_simulation_joint(r.sim, 0);
        hn_joint_state state;
        hn_drive_state drive;
        size_t size = hn_simulation_snapshot_size(r.sim);
        void *kept = malloc(size);
        double expected = 6.0 * PI - CROSSED * CASES[i].step_angle;
        CHECK_OK(context, hn_simulation_joint_state(r.sim, cross, &state));
        CHECK_NEAR(state.coordinates[0], 6.0 * PI, 1e-12);
        CHECK_OK(context, hn_simulation_step(r.sim, CROSSED)); // nobody looks in between
        CHECK_OK(context, hn_simulation_save(r.sim, kept, size));
        for (int again = 0; again < 2; ++again) {
            CHECK_OK(context, hn_simulation_joint_state(r.sim, cross, &state));
            CHECK_OK(context, hn_simulation_drive(r.sim, 0, &drive));
            CHECK_NEAR(state.coordinates[0], expected, 1e-10); // about -20.6 rad; measured 2e-12
            CHECK_NEAR(drive.coordinate, state.coordinates[0], 1e-12);
            CHECK_NEAR(state.coordinates[1], 0.0, 1e-12);
            CHECK_OK(context, hn_simulation_step(r.sim, CROSSED));
            CHECK_OK(context, hn_simulation_restore(r.sim, kept, size));
        }
        // a state that is set has the turns that are asked for
        const double coordinates[2] = {100.0, 0.25}, rates[2] = {-40.0, 0.0};
        hn_status set = hn_simulation_set_joints(r.sim, coordinates, rates, 2);
        CHECK_OK(context, set);
        CHECK_OK(context, hn_simulation_joint_state(r.sim, cross, &state));
        CHECK_OK(context, hn_simulation_drive(r.sim, 0, &drive));
        CHECK_NEAR(state.coordinates[0], 100.0, 1e-12);
        CHECK_NEAR(drive.coordinate, 100.0, 1e-12);
        CHECK_NEAR(state.coordinates[1], 0.25, 1e-12);
        free(kept);
        hn_simulation_destroy(r.sim);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}
