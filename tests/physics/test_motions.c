// SPDX-License-Identifier: MIT
// Motions by a rotation and of the place of a body: where bodies are, what it takes, what energy and momenta do.
#include "physics/driven_run.h"
#include "support/failing_allocator.h"

#include <stdio.h>
#include <stdlib.h>

// ---- rotations by hand --------------------------------------------------------------------------------------

static hn_mat3 product(hn_mat3 a, hn_mat3 b)
{
    hn_mat3 c = {{{0.0}}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < 3; ++j) c.m[i][k] += a.m[i][j] * b.m[j][k];
    return c;
}

static hn_mat3 about(char axis, double angle)
{
    double c = cos(angle), s = sin(angle);
    if (axis == 'x') return (hn_mat3){{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
    if (axis == 'y') return (hn_mat3){{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}};
    return (hn_mat3){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

// The path of most tests: zxz, with many turns about two of its axes
#define PATH "{sequence: zxz, angles: [12*t, '0.5*sin(3*t)', '-9*t + 2*t^2']}"
static hn_mat3 path(double t)
{
    return product(product(about('z', 12.0 * t), about('x', 0.5 * sin(3.0 * t))),
                   about('z', -9.0 * t + 2.0 * t * t));
}

static const double SHORT =
    1e-3; // s, of differences of sixth order: 1e-13 of what turns at 20 rad/s

// dR/dt by differences, and the axial vector of dR/dt R^T
static void velocity_of(double t, double *omega)
{
    static const double C[3] = {0.75, -0.15, 1.0 / 60.0};
    hn_mat3 rate = {{{0.0}}}, r = path(t);
    for (int k = 0; k < 3; ++k) {
        hn_mat3 ahead = path(t + (k + 1) * SHORT), behind = path(t - (k + 1) * SHORT);
        for (int i = 0; i < 9; ++i)
            rate.m[i / 3][i % 3] += C[k] * (ahead.m[i / 3][i % 3] - behind.m[i / 3][i % 3]) / SHORT;
    }
    double w[3][3] = {{0.0}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < 3; ++j) w[i][k] += rate.m[i][j] * r.m[k][j];
    omega[0] = 0.5 * (w[2][1] - w[1][2]);
    omega[1] = 0.5 * (w[0][2] - w[2][0]);
    omega[2] = 0.5 * (w[1][0] - w[0][1]);
}

// Angular momentum R J R^T omega about the ball, where a body has the moments `inertia` about its centre of mass and
// the offset `arm` of it when the path is at zero
typedef struct top {
    double mass, inertia[3], arm[3];
} top;
static const top TOP = {2.0, {0.05, 0.08, 0.03}, {0.1, 0.2, 0.3}};
#define TOP_BODY "{mass: 2, inertia: [0.05, 0.08, 0.03], position: [0.1, 0.2, 0.3]}"

static void momentum_of(double t, double *momentum)
{
    double omega[3], local[3], own[3];
    hn_mat3 r = path(t);
    const double *c = TOP.arm;
    velocity_of(t, omega);
    for (int i = 0; i < 3; ++i) {
        local[i] = 0.0;
        for (int k = 0; k < 3; ++k) local[i] += r.m[k][i] * omega[k];
    }
    double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2],
           along = c[0] * local[0] + c[1] * local[1] + c[2] * local[2];
    for (int i = 0; i < 3; ++i)
        own[i] = TOP.inertia[i] * local[i] + TOP.mass * (square * local[i] - c[i] * along);
    for (int i = 0; i < 3; ++i) {
        momentum[i] = 0.0;
        for (int k = 0; k < 3; ++k) momentum[i] += r.m[i][k] * own[k];
    }
}

// Euler: the torque that the path takes, d/dt of the momentum less that of the weight along -z
static void torque_of(double t, double *torque)
{
    static const double C[3] = {0.75, -0.15, 1.0 / 60.0};
    hn_mat3 r = path(t);
    double arm[3] = {0.0};
    for (int i = 0; i < 3; ++i) {
        torque[i] = 0.0;
        for (int k = 0; k < 3; ++k) arm[i] += r.m[i][k] * TOP.arm[k];
    }
    for (int k = 0; k < 3; ++k) {
        double ahead[3], behind[3];
        momentum_of(t + (k + 1) * SHORT, ahead);
        momentum_of(t - (k + 1) * SHORT, behind);
        for (int i = 0; i < 3; ++i) torque[i] += C[k] * (ahead[i] - behind[i]) / SHORT;
    }
    double weight = TOP.mass * 9.81; // arm x (0, 0, -weight) is taken off
    torque[0] += arm[1] * weight;
    torque[1] -= arm[0] * weight;
}

static double off_path(const driven_run *r, double t)
{
    hn_body_state b;
    double worst = 0.0;
    hn_mat3 should = path(t);
    CHECK_OK(r->context, hn_simulation_body_state(r->simulation, hn_model_body(r->model, 0), &b));
    for (int i = 0; i < 9; ++i)
        worst = fmax(worst, fabs(b.orientation.m[i / 3][i % 3] - should.m[i / 3][i % 3]));
    return worst;
}

// ---- a spherical joint ----------------------------------------------------------------------------------------

static const char BALL[] = "holonom: 1\n"
                           "gravity: [0, 0, -9.81]\n"
                           "bodies: {top: " TOP_BODY "}\n"
                           "joints: {ball: {spherical: {bodies: [ground, top], at: [0, 0, 0]}}}\n"
                           "drives: {turn: {motion: {joint: ball, rotation: " PATH "}}}\n";

// Largest difference of the torque, as the mean of two steps, from Euler's equations; of the orientation from the path
static double ball_errors(hn_scheme scheme, hn_reduction reduction, double step, double *off)
{
    driven_run r = begin_run(BALL, scheme, reduction, step);
    double before[3] = {0.0}, worst = 0.0;
    *off = 0.0;
    for (int i = 1; i <= (int)(0.5 / step + 0.5); ++i) {
        double torque[3];
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        torque_of((i - 1) * step, torque);
        for (int k = 0; k < 3; ++k) {
            double now = drive_of(&r, k).effort;
            if (i > 1) worst = fmax(worst, fabs(0.5 * (now + before[k]) - torque[k]));
            before[k] = now;
        }
        *off = fmax(*off, off_path(&r, i * step));
    }
    end_run(&r);
    return worst;
}

TEST(rotations, of_a_ball_take_the_torque_of_eulers_equations)
{
    double off, coarse = ball_errors(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 4e-3, &off);
    for (int k = 0; k < HN_REDUCTION_COUNT + 1; ++k) {
        bool other = k == HN_REDUCTION_COUNT;
        double fine = ball_errors(other ? HN_SCHEME_VARIATIONAL : HN_SCHEME_ENERGY_MOMENTUM,
                                  other ? HN_REDUCTION_REDUCED : (hn_reduction)k, 2e-3, &off);
        CHECK_BELOW(off, 1e-13); // of unit vectors, after 6 rad and more; measured 1.1e-14
        if (!other) CHECK_NEAR(coarse / fine, 4.0, 0.2);
        CHECK_BELOW(fine, 3e-3); // N m, of 17; measured 1.4e-3
    }
}

TEST(rotations, inverse_dynamics_has_the_torque_of_eulers_equations)
{
    driven_run r = begin_run(BALL, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 5e-3);
    double worst = 0.0, off = 0.0;
    for (int i = 0; i <= 100; ++i) {
        double torque[3], t = 5e-3 * i;
        CHECK_OK(r.context, hn_simulation_follow(r.simulation, i == 0 ? 0 : 1, true));
        torque_of(t, torque);
        for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(drive_of(&r, k).effort - torque[k]));
        off = fmax(off, off_path(&r, t));
    }
    CHECK_BELOW(worst, 3e-9); // N m, of 17; measured 3.6e-10: the differences of the test
    CHECK_BELOW(off, 1e-14);  // measured 9.7e-16
    end_run(&r);
}

TEST(rotations, close_the_balance_of_energy)
{
    driven_run r = begin_run(BALL, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(balance_error(&r, 10000, 100), 1e-12); // measured 2.7e-14
    hn_energy e;
    double work = 0.0;
    CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
    for (int k = 0; k < 3; ++k) work += drive_of(&r, k).work;
    CHECK_NEAR(work / e.external_work, 1.0, 1e-12); // drive by drive as in all
    end_run(&r);
}

// ---- between free bodies ----------------------------------------------------------------------------------------

static const char PAIR[] =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  base: {mass: 5, inertia: [0.3, 0.4, 0.5], position: [0, 0, 0]}\n"
    "  head: " TOP_BODY "\n"
    "joints: {ball: {spherical: {bodies: [%s], at: [0, 0.1, 0.1]}}}\n"
    "drives: {turn: {motion: {joint: ball, rotation: {angles: [2*t, '0.4*sin(3*t)', 20*t]}}}}\n"
    "start: {%s: {angular_velocity: [0.3, 0.2, 1]}}\n";

TEST(rotations, between_free_bodies_keep_momenta)
{
    static const char *const ORDERS[2][2] = {{"base, head", "base"}, {"head, base", "head"}};
    for (int k = 0; k < 2 * HN_REDUCTION_COUNT; ++k) {
        char text[1000];
        snprintf(text, sizeof text, PAIR, ORDERS[k % 2][0], ORDERS[k % 2][1]);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)(k / 2), 2e-3);
        hn_vec3 linear[2], angular[2];
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[0], &angular[0]));
        CHECK_BELOW(balance_error(&r, 400, 1), 1e-13); // measured 8e-15
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[1], &angular[1]));
        double size = fabs(angular[0].x) + fabs(angular[0].y) + fabs(angular[0].z);
        CHECK_BELOW(fabs(angular[1].x - angular[0].x) / size, 1e-13); // measured 4.4e-15
        CHECK_BELOW(fabs(angular[1].y - angular[0].y) / size, 1e-13);
        CHECK_BELOW(fabs(angular[1].z - angular[0].z) / size, 1e-13);
        CHECK_BELOW(fabs(linear[1].x - linear[0].x), 4e-13); // kg m/s; measured 3.9e-14
        end_run(&r);
    }
}

// ---- the place of a body ----------------------------------------------------------------------------------------

static const char TABLE[] =
    "holonom: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {table: " TOP_BODY "}\n"
    "drives: {shaker: {motion: {body: table, x: '0.1 + 0.05*sin(20*t)', y: 0.2 + t^2, z: 0.3,\n"
    "                           rotation: " PATH "}}}\n";

// Newton: F = m (a - g) along the world's axes
static void force_of(double t, double *force)
{
    force[0] = -TOP.mass * 0.05 * 400.0 * sin(20.0 * t);
    force[1] = TOP.mass * 2.0;
    force[2] = TOP.mass * 9.81;
}

static double place_errors(hn_reduction reduction, double step, double *off)
{
    driven_run r = begin_run(TABLE, HN_SCHEME_ENERGY_MOMENTUM, reduction, step);
    double before[3] = {0.0}, worst = 0.0;
    *off = 0.0;
    for (int i = 1; i <= (int)(0.5 / step + 0.5); ++i) {
        double force[3], t = i * step;
        hn_body_state b;
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        CHECK_OK(r.context, hn_simulation_body_state(r.simulation, hn_model_body(r.model, 0), &b));
        force_of(t - step, force);
        for (int k = 0; k < 3; ++k) {
            double now = drive_of(&r, k).effort;
            if (i > 1) worst = fmax(worst, fabs(0.5 * (now + before[k]) - force[k]));
            before[k] = now;
        }
        *off = fmax(*off, fabs(b.position.x - 0.1 - 0.05 * sin(20.0 * t)));
        *off = fmax(*off, fmax(fabs(b.position.y - 0.2 - t * t), fabs(b.position.z - 0.3)));
        *off = fmax(*off, off_path(&r, t));
    }
    end_run(&r);
    return worst;
}

TEST(places, of_a_body_take_the_force_of_newtons_law)
{
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        double off, coarse = place_errors((hn_reduction)k, 4e-3, &off),
                    fine = place_errors((hn_reduction)k, 2e-3, &off);
        CHECK_NEAR(coarse / fine, 4.0, 0.1);
        CHECK_BELOW(fine, 0.01); // N, of 40; measured 5.3e-3
        CHECK_BELOW(off, 1e-13); // m, or of unit vectors; measured 8.6e-15
    }
    driven_run r = begin_run(TABLE, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 5e-3);
    double worst = 0.0;
    for (int i = 0; i <= 100; ++i) {
        double force[3];
        CHECK_OK(r.context, hn_simulation_follow(r.simulation, i == 0 ? 0 : 1, true));
        force_of(5e-3 * i, force);
        for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(drive_of(&r, k).effort - force[k]));
    }
    CHECK_BELOW(worst, 1e-13); // N, of 40; measured 7.1e-15
    end_run(&r);
}

TEST(places, close_the_balance_of_energy)
{
    driven_run r = begin_run(TABLE, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(balance_error(&r, 10000, 100), 2e-12); // measured 1.1e-13
    end_run(&r);
}

// Forces and torques that steps took, held over the same steps on a body that is free: the same motion.
TEST(places, fed_back_as_forces_give_the_same_motion)
{
    static const char FREE[] = "holonom: 1\n"
                               "gravity: [0, 0, -9.81]\n"
                               "bodies: {table: " TOP_BODY "}\n"
                               "start: {table: {velocity: [1, 0, 0], angular_velocity: %s}}\n";
    char text[500];
    double omega[3], worst = 0.0;
    driven_run told = begin_run(TABLE, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3);
    hn_body_state b, f;
    CHECK_OK(told.context,
             hn_simulation_body_state(told.simulation, hn_model_body(told.model, 0), &b));
    omega[0] = b.angular_velocity.x, omega[1] = b.angular_velocity.y,
    omega[2] = b.angular_velocity.z;
    char vector[100];
    snprintf(vector, sizeof vector, "[%.17g, %.17g, %.17g]", omega[0], omega[1], omega[2]);
    snprintf(text, sizeof text, FREE, vector);
    driven_run fed = {.context = hn_context_create(NULL)};
    hn_simulation_def def = hn_simulation_def_default();
    CHECK_OK(fed.context, hn_model_parse(fed.context, text, strlen(text), "model", &fed.model));
    def.step_size = 2e-3;
    def.inputs = true;
    CHECK_OK(fed.context, hn_simulation_create(fed.model, &def, &fed.simulation));
    hn_input force, torque;
    CHECK_OK(fed.context, hn_simulation_input(fed.simulation, "bodies/force", &force));
    CHECK_OK(fed.context, hn_simulation_input(fed.simulation, "bodies/torque", &torque));
    for (int i = 0; i < 250; ++i) {
        CHECK_OK(told.context, hn_simulation_step(told.simulation, 1));
        for (int k = 0; k < 3; ++k) {
            force.data[k] = drive_of(&told, k).effort;
            torque.data[k] = drive_of(&told, 3 + k).effort;
        }
        CHECK_OK(fed.context, hn_simulation_step(fed.simulation, 1));
        CHECK_OK(told.context,
                 hn_simulation_body_state(told.simulation, hn_model_body(told.model, 0), &b));
        CHECK_OK(fed.context,
                 hn_simulation_body_state(fed.simulation, hn_model_body(fed.model, 0), &f));
        worst = fmax(worst, fabs(b.position.x - f.position.x));
        for (int k = 0; k < 9; ++k)
            worst =
                fmax(worst, fabs(b.orientation.m[k / 3][k % 3] - f.orientation.m[k / 3][k % 3]));
    }
    CHECK_BELOW(worst, 1e-13); // m, or of unit vectors, after 250 steps; measured 9.3e-15
    end_run(&told);
    end_run(&fed);
}

// ---- a place that a mechanism must reach -----------------------------------------------------------------------

static const char ARM[] =
    "holonom: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  l1: {shape: {cylinder: {radius: 0.03}}, between: [[0, 0, 0], [0.5, 0, 0.3]], density: "
    "2700}\n"
    "  l2: {shape: {cylinder: {radius: 0.03}}, between: [[0.5, 0, 0.3], [0.9, 0, 0]], density: "
    "2700}\n"
    "joints:\n"
    "  base: {universal: {bodies: [ground, l1], at: [0, 0, 0], axes: [z, y]}}\n"
    "  elbow: {revolute: {bodies: [l1, l2], at: [0.5, 0, 0.3], axis: y}}\n"
    "drives:\n"
    "  tip: {motion: {body: l2, x: '0.7 - 0.1*sin(3*t)', y: '0.1*(1 - cos(3*t)) + 0.2*t',\n"
    "                 z: 0.15 + 0.05*t^2}}\n";

enum { COUNT_MAX = 32 };
typedef struct differences {
    double place, rate, acceleration;
} differences;

static const double *view_of(const driven_run *r, const char *name, size_t *count)
{
    hn_view view;
    CHECK_OK(r->context, hn_simulation_view(r->simulation, name, &view));
    *count = 1;
    for (int k = 0; k < view.rank; ++k) *count *= view.shape[k];
    CHECK(*count <= COUNT_MAX);
    return view.data;
}

// Stepped against followed: coordinates, rates, and accelerations at the nodes
static differences compare(const char *text, hn_reduction reduction, double step)
{
    driven_run x = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, reduction, step),
               y = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, step);
    differences worst = {0.0, 0.0, 0.0};
    static const char *const NAMES[3] = {"joints/coordinates", "joints/rates",
                                         "joints/accelerations"};
    double *to[3] = {&worst.place, &worst.rate, &worst.acceleration};
    const double *a[3], *b[3];
    size_t n = 0;
    for (int k = 0; k < 3; ++k) a[k] = view_of(&x, NAMES[k], &n), b[k] = view_of(&y, NAMES[k], &n);
    CHECK_OK(y.context, hn_simulation_follow(y.simulation, 0, false));
    for (int i = 0; i < (int)(0.4 / step + 0.5); ++i) {
        CHECK_OK(x.context, hn_simulation_step(x.simulation, 1));
        CHECK_OK(y.context, hn_simulation_follow(y.simulation, 1, false));
        for (int k = 0; k < 3; ++k)
            for (size_t c = 0; c < n; ++c) *to[k] = fmax(*to[k], fabs(a[k][c] - b[k][c]));
    }
    end_run(&x);
    end_run(&y);
    return worst;
}

TEST(places, of_the_hand_of_an_arm_lead_its_joints)
{
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        differences coarse = compare(ARM, (hn_reduction)k, 4e-3),
                    fine = compare(ARM, (hn_reduction)k, 2e-3);
        if (getenv("HN_TEST_VERBOSE") != NULL)
            printf("%.2e %.2e %.2e, %.2e %.2e %.2e\n", coarse.place, coarse.rate,
                   coarse.acceleration, fine.place, fine.rate, fine.acceleration);
        CHECK_BELOW(coarse.place, 1e-12); // rad, m; measured 3.6e-13
        CHECK_BELOW(fine.place, 1e-12);
        CHECK_NEAR(coarse.rate / fine.rate, 4.0, 0.1);
        CHECK_NEAR(coarse.acceleration / fine.acceleration, 4.0, 0.1);
        driven_run r = begin_run(ARM, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 4e-3);
        CHECK_BELOW(balance_error(&r, 200, 1), 3e-14); // measured 2.1e-15
        end_run(&r);
    }
}

// ---- what cannot be ---------------------------------------------------------------------------------------------

static void refuse(const char *bodies, const char *drives, int steps, const char *said)
{
    char text[2000];
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    snprintf(text, sizeof text, "holonom: 1\n%sdrives: {%s}\n", bodies, drives);
    def.step_size = 1e-3;
    hn_status status = hn_model_parse(context, text, strlen(text), "model", &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &simulation);
    if (status == HN_OK) status = hn_simulation_step(simulation, steps);
    CHECK(status != HN_OK);
    CHECK_CONTAINS(hn_context_message(context), said);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(places, that_nothing_can_reach_are_named)
{
    static const char SLED[] =
        "bodies: {sled: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "joints: {rail: {prismatic: {bodies: [ground, sled], at: [0, 0, 0], axis: x}}}\n";
    static const char BALLED[] =
        "bodies: {top: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}}\n"
        "joints: {ball: {spherical: {bodies: [ground, top], at: [0, 0, 0]}}}\n";
    refuse(SLED, "go: {motion: {body: sled, y: t^2}}", 1, "drive 'go.y' cannot move");
    refuse(SLED, "go: {motion: {body: sled, x: t, y: t}}", 1,
           "drive 'go.y': its motion begins with");
    refuse(SLED, "go: {motion: {body: sled, x: 1}}", 1,
           "drive 'go.x': its motion begins at 1, joint 'go' at 0 m");
    refuse(SLED, "a: {motion: {body: sled, x: t^2}}, b: {motion: {joint: rail, value: t^2}}", 1,
           "drive 'b' cannot move its joint 'rail'");
    refuse(BALLED, "turn: {motion: {joint: ball, rotation: {axis: z, angle: 1 + t}}}", 1,
           "drive 'turn.z': its rotation begins 1 rad away from that of joint 'ball'");
    refuse(
        BALLED,
        "turn: {motion: {joint: ball, rotation: {axis: z, angle: t^2}}}, go: {motion: {body: top, "
        "rotation: {axis: z, angle: t^2}}}",
        1, "cannot move its joint 'go'");
}

// ---- every other joint -------------------------------------------------------------------------------------------

typedef struct told_joint {
    const char *joint;
    const char *words[3]; // of its coordinates
} told_joint;
static const told_joint TOLD[] = {
    {"cylindrical: {bodies: [ground, b], at: [0, 0, 0], axis: [1, 2, 2]}",
     {"displacement", "angle"}},
    {"planar: {bodies: [ground, b], at: [0, 0, 0], normal: [2, 1, 2]}",
     {"displacement_1", "displacement_2", "angle"}},
    {"universal: {bodies: [ground, b], at: [0, 0, 0], axes: [z, x]}", {"angle_a", "angle_b"}},
    {"free: {bodies: [ground, b], at: {a: [0, 0, 0], b: [0, 0, 0]}}", {"x", "y", "z"}},
};
enum { TOLD_COUNT = sizeof TOLD / sizeof TOLD[0] };

// Each coordinate by itself, the rest free; then all of them.
TEST(motions, of_every_coordinate_of_a_joint_hold_and_close_the_balance)
{
    for (int k = 0; k < TOLD_COUNT; ++k) {
        int count = 0;
        while (count < 3 && TOLD[k].words[count] != NULL) ++count;
        for (int which = 0; which <= count; ++which)
            for (int reduction = 0; reduction < HN_REDUCTION_COUNT; ++reduction) {
                char text[2000];
                int length =
                    snprintf(text, sizeof text,
                             "holonom: 1\nbodies:\n"
                             "  b: {mass: 2, inertia: [0.2, 0.3, 0.4], position: [0.1, 0.2, 0.3]}\n"
                             "joints: {j: {%s}}\ndrives:\n",
                             TOLD[k].joint);
                for (int c = 0; c < count; ++c)
                    if (which == count || which == c)
                        length += snprintf(text + length, sizeof text - (size_t)length,
                                           "  d%d: {motion: {joint: j, coordinate: %s, "
                                           "value: '%d*t + 0.2*sin(%d*t)'}}\n",
                                           c, TOLD[k].words[c], c + 1, 3 + c);
                driven_run r =
                    begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)reduction, 2e-3);
                CHECK_BELOW(balance_error(&r, 200, 1), 1e-13); // measured 9.7e-15
                hn_joint_state s;
                CHECK_OK(r.context,
                         hn_simulation_joint_state(r.simulation, hn_model_joint(r.model, 0), &s));
                double t = 0.4;
                for (int c = 0; c < count; ++c)
                    if (which == count || which == c)
                        CHECK_NEAR(s.coordinates[c], (c + 1) * t + 0.2 * sin((3 + c) * t), 1e-13);
                end_run(&r);
            }
    }
}

// ---- starts -----------------------------------------------------------------------------------------------------

// A rate at the sun of a planetary gear is that of all its wheels: w_carrier = w_sun s/(s + r).
TEST(motions, with_a_start_rate_lead_gears)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  sun: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
        "  arm: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.1]}\n"
        "  planet: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n"
        "joints:\n"
        "  input: {revolute: {bodies: [ground, sun], at: [0, 0, 0], axis: z}}\n"
        "  output: {revolute: {bodies: [ground, arm], at: [0, 0, 0.1], axis: z}}\n"
        "  pin: {revolute: {bodies: [arm, planet], at: [0.5, 0, 0], axis: z}}\n"
        "couplings:\n"
        "  inner: {gear: {joints: [input, pin], teeth: [24, 18], carrier: output}}\n"
        "  outer: {gear: {joints: [output, pin], teeth: [60, 18]}}\n"
        "drives: {%s}\n%s";
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        // told by a motion, or at the start
        snprintf(text, sizeof text, TEXT, k == 0 ? "m: {motion: {joint: input, value: 7*t}}" : "",
                 k == 0 ? "" : "start: {input: {rate: 7}}\n");
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        hn_joint_state s;
        CHECK_OK(r.context,
                 hn_simulation_joint_state(r.simulation, hn_model_joint(r.model, 1), &s));
        CHECK_NEAR(s.rates[0], 7.0 * 24.0 / 84.0, 1e-13);
        CHECK_BELOW(balance_error(&r, 100, 1), 1e-12); // measured 1.9e-14
        CHECK_OK(r.context,
                 hn_simulation_joint_state(r.simulation, hn_model_joint(r.model, 1), &s));
        CHECK_NEAR(s.coordinates[0], 0.2,
                   k == 0 ? 1e-13 : 1e-6); // left alone it is late by h^2 w^2/12
        end_run(&r);
    }
}

// ---- a freedom beside a motion -----------------------------------------------------------------------------------

// A pendulum on a carriage that is told to move: accelerations of what is free at a time, in steps h, h/2 and h/4.
static double free_acceleration(hn_scheme scheme, double step)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  cart: {mass: 3, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
        "  bob: {mass: 1, inertia: [0.02, 0.03, 0.01], position: [0.3, 0, -0.4]}\n"
        "joints:\n"
        "  pin: {revolute: {bodies: [cart, bob], at: [0, 0, 0], axis: y}}\n"
        "drives: {go: {motion: {body: cart, x: '0.2*sin(5*t)', y: 0, z: 0,\n"
        "                       rotation: {axis: z, angle: '0.7*sin(2*t)'}}}}\n";
    driven_run r = begin_run(TEXT, scheme, HN_REDUCTION_REDUCED, step);
    size_t n;
    CHECK_OK(r.context, hn_simulation_step(r.simulation, (int)(0.5 / step + 0.5)));
    double value = view_of(&r, "joints/accelerations", &n)[0];
    end_run(&r);
    return value;
}

TEST(motions, leave_accelerations_of_second_order)
{
    static const hn_scheme SCHEMES[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL};
    for (int k = 0; k < 2; ++k) {
        double a[3];
        for (int i = 0; i < 3; ++i) a[i] = free_acceleration(SCHEMES[k], 1e-2 / (1 << i));
        CHECK_NEAR((a[1] - a[0]) / (a[2] - a[1]), 4.0, 0.3);
    }
}

// ---- robustness --------------------------------------------------------------------------------------------------

static hn_status table_attempt(hn_context *context, void *user)
{
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    const char *text = user;
    def.step_size = 1e-3;
    def.ledger = false;
    hn_status status = hn_model_parse(context, text, strlen(text), "model", &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &simulation);
    if (status == HN_OK) status = hn_simulation_step(simulation, 2);
    if (status == HN_OK) status = hn_simulation_follow(simulation, 1, true);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(places, report_every_allocation_that_fails)
{
    static char text[sizeof TABLE];
    memcpy(text, TABLE, sizeof TABLE);
    CHECK(check_every_allocation_failing(table_attempt, text) > 60);
}

// ---- in a loop ------------------------------------------------------------------------------------------------

// A ball whose turns move a slider by a rod between ball joints: ground, top, rod, slider.
static const char ROD[] =
    "holonom: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  top: " TOP_BODY "\n"
    "  slider: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [1.6, 0, 0]}\n"
    "  rod: {mass: 0.5, inertia: [0.002, 0.05, 0.05], position: [0.85, 0.1, 0.15]}\n"
    "joints:\n"
    "  ball: {spherical: {bodies: [ground, top], at: [0, 0, 0]}}\n"
    "  rail: {prismatic: {bodies: [ground, slider], at: [1.6, 0, 0], axis: x}}\n"
    "  near: {spherical: {bodies: [top, rod], at: [0.1, 0.2, 0.3]}}\n"
    "  far: {universal: {bodies: [slider, rod], at: [1.6, 0, 0], axes: [y, z]}}\n"
    "drives: {turn: {motion: {joint: ball, rotation: " PATH "}}}\n";

TEST(rotations, lead_a_loop)
{
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_VARIATIONAL};
    double off = 0.0, length = sqrt(1.5 * 1.5 + 0.2 * 0.2 + 0.3 * 0.3), balance = 0.0;
    for (int k = 0; k < 3; ++k)
        for (int reduction = 0; reduction < HN_REDUCTION_COUNT; ++reduction) {
            driven_run r = begin_run(ROD, SCHEMES[k], (hn_reduction)reduction, 2e-3);
            for (int i = 1; i <= 250; ++i) {
                hn_body_state b;
                hn_mat3 turn = path(2e-3 * i);
                double p[3] = {0.0};
                CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
                CHECK_OK(r.context,
                         hn_simulation_body_state(r.simulation, hn_model_body(r.model, 1), &b));
                for (int a = 0; a < 3; ++a)
                    for (int c = 0; c < 3; ++c) p[a] += turn.m[a][c] * TOP.arm[c];
                double x = p[0] + sqrt(length * length - p[1] * p[1] - p[2] * p[2]);
                off = fmax(off, fabs(b.position.x - x));
            }
            if (k < 2) balance = fmax(balance, balance_error(&r, 1000, 10));
            end_run(&r);
        }
    CHECK_BELOW(off, 1e-13);     // m, against the closed form; measured 6.4e-15
    CHECK_BELOW(balance, 2e-13); // relative; measured 6e-15
}

TEST(rotations, go_on_from_a_snapshot_bit_for_bit)
{
    driven_run r = begin_run(BALL, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3);
    hn_drive_state first[3], again;
    snapshot s = save_after(&r, 20);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 20));
    for (int i = 0; i < 3; ++i) first[i] = drive_of(&r, i);
    restore_and_step(&r, s, 20);
    for (int i = 0; i < 3; ++i) {
        again = drive_of(&r, i);
        CHECK(memcmp(&again, &first[i], sizeof again) == 0);
    }
    end_run(&r);
}
