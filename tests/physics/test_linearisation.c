// SPDX-License-Identifier: MIT
// Linear systems against equations of motion written by hand (differentiated by the complex step), against the motion
// itself, and against modes.
#include "physics/run.h"
#include "support/generic_models.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MAX = 60 };

typedef struct linear {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_linear_system *system;
} linear;

static linear linear_of(const char *text, hn_scheme scheme, double step)
{
    linear l = {.context = hn_context_create(NULL)};
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = step;
    def.scheme = scheme;
    def.inputs = scheme != HN_SCHEME_PROJECTED_RK;
    CHECK_OK(l.context, hn_model_parse(l.context, text, strlen(text), "model", &l.model));
    CHECK_OK(l.context, hn_simulation_create(l.model, &def, &l.simulation));
    CHECK_OK(l.context, hn_simulation_linearise(l.simulation, &l.system));
    return l;
}

static void linear_close(linear *l)
{
    hn_linear_system_destroy(l->system);
    hn_simulation_destroy(l->simulation);
    hn_model_destroy(l->model);
    hn_context_destroy(l->context);
}

static double entry_a(const linear *l, int row, int column)
{
    return l->system->a[row * l->system->state_count + column];
}

static double entry_b(const linear *l, int row, int column)
{
    return l->system->b[row * l->system->input_count + column];
}

// i x, also where the library has no CMPLX
static double complex along_i(double x)
{
    double parts[2] = {0.0, x};
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

// ---- equations written by hand ----------------------------------------------------------------------------

// cart of mass M on a rail along x, rod of mass m and inertia J about its centre at the distance l above it, angle th
// about y from upright; force u on the cart, torque w on the rod
static void cart_pole(const double complex x[4], double complex u, double complex w,
                      double complex out[2])
{
    const double M = 2.0, m = 0.7, l = 0.5, J = 0.06, g = 9.81;
    double complex c = ccos(x[1]), s = csin(x[1]), om = x[3];
    double complex a = M + m, b = m * l * c, d = J + m * l * l;
    double complex p = u + m * l * om * om * s, q = w + m * g * l * s;
    double complex det = a * d - b * b;
    out[0] = (d * p - b * q) / det;
    out[1] = (a * q - b * p) / det;
}

static const char CART_POLE[] =
    "holonom: 1\nname: cart-pole\nbodies:\n"
    "  cart: {mass: 2, inertia: [1, 1, 1]}\n"
    "  rod: {mass: 0.7, inertia: [0.06, 0.06, 0.01], orientation: {rotate: {axis: y, angle: 0.4}},"
    " position: [%.17g, 0, %.17g]}\n"
    "joints:\n"
    "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
    "  hinge: {revolute: {bodies: [cart, rod], at: [0, 0, 0], axis: y}}\n"
    "start: {rail: {rate: 0.8}, hinge: {rate: -1.7}}\n"
    "run: {step: 0.001, end: 1}\n";

TEST(linearisation, a_moving_cart_pole_is_that_of_its_two_equations)
{
    char text[1024];
    const double angle = 0.4, step = 1e-20;
    snprintf(text, sizeof text, CART_POLE, 0.5 * sin(angle), 0.5 * cos(angle));
    linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK_EQUAL(l.system->state_count, 4);
    CHECK_EQUAL(l.system->freedom_count, 2);
    CHECK_EQUAL(l.system->input_count, 2);
    CHECK_EQUAL(l.system->output_count, 4);
    CHECK(strcmp(l.system->state_names[1], "hinge/angle") == 0);
    CHECK(strcmp(l.system->state_names[2], "rail/displacement/rate") == 0);
    CHECK(strcmp(l.system->state_units[2], "m/s") == 0);
    CHECK(strcmp(l.system->input_names[1], "hinge/angle/effort") == 0);
    // the angle of the joint counts from where it was built
    const double at[6] = {0.0, angle, 0.8, -1.7, 0.0, 0.0};
    double worst = 0.0;
    for (int column = 0; column < 6; ++column) {
        double complex x[6], out[2];
        for (int k = 0; k < 6; ++k) x[k] = at[k] + (k == column ? along_i(step) : 0.0);
        cart_pole(x, x[4], x[5], out);
        for (int row = 0; row < 2; ++row) {
            double expected = cimag(out[row]) / step;
            double found =
                column < 4 ? entry_a(&l, 2 + row, column) : entry_b(&l, 2 + row, column - 4);
            worst = fmax(worst, fabs(found - expected));
            if (column == 0)
                worst = fmax(worst, fabs(l.system->derivative[2 + row] - creal(out[row])));
        }
    }
    CHECK_BELOW(worst, 2e-13); // of entries up to 30; measured 3.6e-15
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 4; ++column)
            CHECK(fabs(entry_a(&l, row, column) - (column == row + 2)) < 1e-14);
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column)
            CHECK(fabs(l.system->c[4 * row + column] - (row == column)) < 1e-14);
    linear_close(&l);
}

// double pendulum of two rods (length 1, mass 1 each), angles x of the hinges, rotors r on them; torques u
static void double_pendulum(const double complex x[4], const double complex u[2], const double r[2],
                            double complex out[2])
{
    const double m = 1.0, l = 1.0, J = 1.0 / 12.0, g = 9.81;
    // absolute angles a, b from hanging: T = 1/2 A a'^2 + 1/2 B b'^2 + D a' b' cos(a - b); a = x0, b = x0 + x1
    double complex a = x[0], b = x[0] + x[1], va = x[2], vb = x[2] + x[3];
    double complex A = J + m * l * l / 4 + m * l * l, B = J + m * l * l / 4,
                   D = m * l * l / 2 * ccos(a - b), s = m * l * l / 2 * csin(a - b);
    double complex p = -s * vb * vb - 1.5 * m * g * l * csin(a),
                   q = s * va * va - 0.5 * m * g * l * csin(b);
    double complex m00 = A + B + 2.0 * D + r[0], m01 = B + D, m11 = B + r[1];
    double complex f0 = p + q + u[0], f1 = q + u[1], det = m00 * m11 - m01 * m01;
    out[0] = (m11 * f0 - m01 * f1) / det;
    out[1] = (m00 * f1 - m01 * f0) / det;
}

static const char DOUBLE_PENDULUM[] =
    "holonom: 1\nname: double pendulum\nbodies:\n"
    "  one: {mass: 1, inertia: [1/12, 1/12, 0.001], position: [0, 0, -0.5]}\n"
    "  two: {mass: 1, inertia: [1/12, 1/12, 0.001], position: [0, 0, -1.5]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, one], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [one, two], at: [0, 0, -1], axis: y}}\n"
    "run: {step: 0.001, end: 1}\n";

TEST(linearisation, a_double_pendulum_anywhere_with_efforts)
{
    const double step = 1e-20;
    linear l = linear_of(DOUBLE_PENDULUM, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    number_source numbers = {7};
    double worst = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
        double at[4], u[2];
        hn_input effort;
        for (int k = 0; k < 4; ++k) at[k] = 3.0 * next_number(&numbers);
        for (int k = 0; k < 2; ++k) u[k] = 5.0 * next_number(&numbers);
        CHECK_OK(l.context, hn_simulation_input(l.simulation, "joints/effort", &effort));
        effort.data[0] = u[0], effort.data[1] = u[1];
        CHECK_OK(l.context, hn_simulation_set_joints(l.simulation, at, at + 2, 2));
        hn_linear_system_destroy(l.system);
        CHECK_OK(l.context, hn_simulation_linearise(l.simulation, &l.system));
        for (int column = 0; column < 6; ++column) {
            double complex x[4], v[2], out[2];
            for (int k = 0; k < 4; ++k) x[k] = at[k] + (k == column ? along_i(step) : 0.0);
            for (int k = 0; k < 2; ++k) v[k] = u[k] + (4 + k == column ? along_i(step) : 0.0);
            double_pendulum(x, v, (const double[2]){0.0, 0.0}, out);
            for (int row = 0; row < 2; ++row) {
                double found =
                    column < 4 ? entry_a(&l, 2 + row, column) : entry_b(&l, 2 + row, column - 4);
                worst = fmax(worst, fabs(found - cimag(out[row]) / step));
                worst = fmax(worst, fabs(l.system->derivative[2 + row] - creal(out[row])));
            }
        }
        CHECK(fabs(effort.data[0] - u[0]) == 0.0); // they stay
    }
    CHECK_BELOW(worst, 1e-11); // of entries up to 300; measured 2e-13
    linear_close(&l);
}

// servo with all three gains and a rotor on the shoulder, motor and a spring with a rotor on the elbow
static const char DRIVES[] =
    "drives:\n"
    "  hold: {servo: {joint: shoulder, target: 0.3, proportional: 40, derivative: 3, integral: 25,"
    " armature: 0.2}}\n"
    "  spin: {motor: {joint: elbow, stall: 6, no_load: 12, command: 0.5}}\n"
    "  band: {spring: {joint: elbow, stiffness: 9, damping: 0.4, rest: 0.1, armature: 0.05}}\n";

TEST(linearisation, drives_rotors_and_the_integral_of_a_servo)
{
    char text[2048];
    const double step = 1e-20, at[5] = {0.0, 0.0, 1.3, -2.1, 0.0};
    snprintf(text, sizeof text, "%s%sstart: {shoulder: {rate: 1.3}, elbow: {rate: -2.1}}\n",
             DOUBLE_PENDULUM, DRIVES);
    linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK_EQUAL(l.system->state_count, 5);
    CHECK_EQUAL(l.system->input_count, 4);
    CHECK(strcmp(l.system->state_names[4], "hold/integral") == 0);
    CHECK(strcmp(l.system->input_names[2], "hold") == 0);
    CHECK(strcmp(l.system->input_units[2], "rad") == 0);
    CHECK(strcmp(l.system->input_units[3], "1") == 0);
    double worst = 0.0;
    for (int column = 0; column < 9; ++column) {
        double complex x[9], u[2], out[2];
        const double more[4] = {0.0, 0.0, 0.3, 0.5}; // efforts, target, command
        for (int k = 0; k < 9; ++k)
            x[k] = (k < 5 ? at[k] : more[k - 5]) + (k == column ? along_i(step) : 0.0);
        u[0] = x[5] + 40.0 * (x[7] - x[0]) - 3.0 * x[2] + 25.0 * x[4];
        u[1] = x[6] + 6.0 * (x[8] - x[3] / 12.0) - 9.0 * (x[1] - 0.1) - 0.4 * x[3];
        double_pendulum(x, u, (const double[2]){0.2, 0.05}, out);
        for (int row = 0; row < 3; ++row) {
            double complex value = row < 2 ? out[row] : x[7] - x[0];
            double found =
                column < 5 ? entry_a(&l, 2 + row, column) : entry_b(&l, 2 + row, column - 5);
            worst = fmax(worst, fabs(found - cimag(value) / step));
            worst = fmax(worst, fabs(l.system->derivative[2 + row] - creal(value)));
        }
    }
    CHECK_BELOW(worst, 1e-12); // of entries up to 120; measured 4.3e-14
    linear_close(&l);
}

// Laws by tables, buffers in contact and laws of a program, of machines of any size: slopes are those of the law at the
// instant, however short its pieces are.
static double damper_of_the_program(const hn_law_step *step, double *slope, void *user)
{
    double c = *(double *)user, span = step->end - step->begin;
    if (!(span > 0.0)) return 0.0; // nothing moves
    *slope = -c / span;
    return -c * (step->to - step->from) / span;
}

TEST(linearisation, laws_are_those_of_the_instant_at_any_size)
{
    static const double SIZES[] = {1e6, 1.0, 1e-3, 1e-6};
    double worst = 0.0;
    for (int k = 0; k < 4; ++k) {
        double size = SIZES[k], own = 3.0;
        char text[2048];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\nparameters: {L: %.17g}\n"
                 "bodies: {block: {mass: 2, inertia: [L^2, L^2, L^2]}}\n"
                 "joints: {rail: {prismatic: {bodies: [ground, block], at: {a: [0, 0, 0],"
                 " b: [0.3*L, 0, 0]}, axis: x}}}\n"
                 "drives:\n"
                 "  law: {spring: {joint: rail, table: {displacements: [-L, 0, L],"
                 " efforts: [-7*L, 0, 5*L]}, damper: {rates: [-L, 0, L], efforts: [-L, 0, 4*L]}}}\n"
                 "  soft: {stop: {joint: rail, upper: 0.2999*L, stiffness: 1e5, damping: 20}}\n"
                 "start: {rail: {rate: 0.5*L}}\n",
                 size);
        linear l = {.context = hn_context_create(NULL)};
        CHECK_OK(l.context, hn_model_parse(l.context, text, strlen(text), "model", &l.model));
        hn_drive_def drive = hn_drive_def_default(HN_DRIVE_EFFORT);
        drive.joint = hn_model_find_joint(l.model, "rail");
        drive.law = damper_of_the_program;
        drive.law_user = &own;
        hn_drive_id id;
        CHECK_OK(l.context, hn_model_add_drive(l.model, &drive, &id));
        hn_simulation_def def = hn_simulation_def_default();
        def.step_size = 1e-3;
        CHECK_OK(l.context, hn_simulation_create(l.model, &def, &l.simulation));
        CHECK_OK(l.context, hn_simulation_linearise(l.simulation, &l.system));
        double push = -(1.5 + 2.0 + 0.0001 * 1e5 + 0.5 * 20.0 + 0.5 * own) / 2.0,
               stiff = -(5.0 + 1e5) / 2.0, damped = -(4.0 + 20.0 + own) / 2.0;
        worst = fmax(worst, fabs(entry_a(&l, 1, 0) / stiff - 1.0));
        worst = fmax(worst, fabs(entry_a(&l, 1, 1) / damped - 1.0));
        worst = fmax(worst, fabs(l.system->derivative[1] / size / push - 1.0));
        linear_close(&l);
    }
    CHECK_BELOW(worst, 2e-10); // measured 2.0e-11, of the law that is differenced
}

// the cart moves as it is told: a pole on a pivot that accelerates
TEST(linearisation, a_prescribed_motion_holds)
{
    char text[2048];
    const double angle = 0.4, m = 0.7, arm = 0.5, J = 0.06, g = 9.81, pivot = 0.6;
    snprintf(text, sizeof text, CART_POLE, 0.5 * sin(angle), 0.5 * cos(angle));
    char *start = strstr(text, "start:");
    snprintf(start, sizeof text - (size_t)(start - text), "%s",
             "start: {hinge: {rate: -1.7}}\ndrives:\n"
             "  push: {motion: {joint: rail, value: '0.4*t + 0.3*t^2'}}\n");
    linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    double d = J + m * arm * arm;
    CHECK_EQUAL(l.system->freedom_count, 1);
    CHECK(fabs(l.system->derivative[1] - m * arm * (g * sin(angle) - pivot * cos(angle)) / d) <
          1e-12);
    CHECK(fabs(entry_a(&l, 1, 0) - m * arm * (g * cos(angle) + pivot * sin(angle)) / d) < 1e-12);
    CHECK(fabs(entry_a(&l, 1, 1)) < 1e-12);
    CHECK(fabs(entry_b(&l, 1, 1) - 1.0 / d) < 1e-12);
    CHECK(fabs(entry_b(&l, 1, 0)) < 1e-12); // an effort on the rail goes into the drive
    linear_close(&l);
}

// motor on the sun, damper on the carrier: one inertia, all wheels reduced to the sun
TEST(linearisation, couplings_hold)
{
    static char text[8192];
    char path[512];
    snprintf(path, sizeof path, "%s/models/planetary-gear.yaml", HN_SOURCE_DIR);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    const double ratio = 2.0 / 7.0, spin = 1.0 - 60.0 / 18.0, arm = 0.042;
    double planet = 0.16 * (arm * arm + 0.5 * 0.018 * 0.018 * spin * spin);
    double inertia =
        0.28 * 0.5 * 0.024 * 0.024 + ratio * ratio * (0.74 * 0.5 * 0.05 * 0.05 + 3.0 * planet);
    CHECK_EQUAL(l.system->freedom_count, 1);
    CHECK(strcmp(l.system->state_names[0], "input/angle") == 0);
    double rate = -(0.4 / 300.0 + ratio * ratio * 0.01) / inertia;
    CHECK_BELOW(fabs(entry_a(&l, 1, 1) / rate - 1.0), 1e-9);                 // measured 3.5e-11
    CHECK_BELOW(fabs(entry_b(&l, 1, 1) * inertia / ratio - 1.0), 2e-14);     // measured 2.2e-16
    CHECK_BELOW(fabs(l.system->derivative[1] * inertia / 0.4 - 1.0), 5e-14); // measured 1e-15
    linear_close(&l);
}

// ---- against the motion itself ------------------------------------------------------------------------------

// Along a motion d/dt (dx/dt) = A dx/dt where nothing depends on time: five states of a run by `scheme`, the worst
// difference relative to the largest term. A motion may be long in coming: `wait` steps before.
static double jerk_error(hn_context *context, hn_simulation *simulation, int wait)
{
    double f[5][STATES_MAX], ax[STATES_MAX] = {0.0}, worst = 0.0, largest = 0.0;
    double h = hn_simulation_step_size(simulation);
    int n = 0;
    char names[STATES_MAX][64];
    CHECK_OK(context, hn_simulation_step(simulation, wait));
    for (int k = 0; k < 5; ++k) {
        hn_linear_system *system;
        if (k > 0) CHECK_OK(context, hn_simulation_step(simulation, 1));
        CHECK_OK(context, hn_simulation_linearise(simulation, &system));
        n = system->state_count;
        CHECK(n <= STATES_MAX);
        memcpy(f[k], system->derivative, (size_t)n * sizeof(double));
        for (int i = 0; i < n; ++i) {
            if (k == 0) snprintf(names[i], sizeof names[i], "%s", system->state_names[i]);
            CHECK(strncmp(names[i], system->state_names[i], sizeof names[i] - 1) == 0);
        }
        for (int i = 0; k == 2 && i < n; ++i)
            for (int c = 0; c < n; ++c) {
                ax[i] += system->a[i * n + c] * f[k][c];
                largest = fmax(largest, fabs(system->a[i * n + c] * f[k][c]));
            }
        hn_linear_system_destroy(system);
    }
    for (int i = 0; i < n; ++i) {
        double rate = (f[0][i] - 8.0 * f[1][i] + 8.0 * f[3][i] - f[4][i]) / (12.0 * h);
        worst = fmax(worst, fabs(rate - ax[i]));
    }
    return worst / largest;
}

static hn_simulation_def accurate(double step)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-13;
    def.step_size = step;
    def.ledger = false;
    return def;
}

TEST(linearisation, chains_of_every_joint_with_springs_dampers_and_loads)
{
    static const hn_joint_kind KINDS[] = {
        HN_JOINT_REVOLUTE, HN_JOINT_PRISMATIC, HN_JOINT_CYLINDRICAL,
        HN_JOINT_PLANAR,   HN_JOINT_UNIVERSAL, HN_JOINT_SPHERICAL,
        HN_JOINT_FIXED,    HN_JOINT_FREE,      HN_JOINT_DISTANCE};
    double worst = 0.0;
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; ++k)
        for (int springs = 0; springs < 2; ++springs) {
            generic_chain chain = {.kind = KINDS[k],
                                   .grounded = k % 2 == 0,
                                   .springs = springs == 1,
                                   .speed = 1.0,
                                   .seed = 11 + k};
            hn_context *context = hn_context_create(NULL);
            hn_model *model = generic_chain_model(context, &chain);
            hn_simulation_def def = accurate(1e-3);
            hn_simulation *simulation = NULL;
            CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
            double error = jerk_error(context, simulation, 1);
            if (getenv("HN_TEST_VERBOSE") != NULL)
                printf("%s springs %d: %.2e\n", hn_joint_kind_name(KINDS[k]), springs, error);
            worst = fmax(worst, error);
            hn_simulation_destroy(simulation);
            hn_model_destroy(model);
            hn_context_destroy(context);
        }
    CHECK_BELOW(worst, 1e-7); // relative; measured 9e-9, what the five states leave
}

static double model_error(const char *name, double step, int wait, bool accurately)
{
    char path[512];
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context *context = hn_context_create(NULL);
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    CHECK_OK(context, hn_model_load(context, path, &model));
    hn_simulation_def def = accurate(step);
    if (!accurately) def.scheme = HN_SCHEME_ENERGY_MOMENTUM;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    double error = jerk_error(context, simulation, wait);
    if (getenv("HN_TEST_VERBOSE") != NULL) printf("%s: %.2e\n", name, error);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return error;
}

TEST(linearisation, loops_keep_closed)
{
    static const char *const NAMES[] = {"four-bar", "slider-crank",     "bricard", "bennett",
                                        "rssr",     "six-body-linkage", "gyro-top"};
    double worst = 0.0;
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; ++k)
        worst = fmax(worst, model_error(NAMES[k], 2e-4, 3, true));
    CHECK_BELOW(worst, 1e-7); // relative; measured 7e-9
}

// drives on joints whose coordinates depend on others, in a loop: what they do turns with it
TEST(linearisation, drives_in_a_loop)
{
    static char text[8192];
    char path[512];
    snprintf(path, sizeof path, "%s/models/four-bar.yaml", HN_SOURCE_DIR);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = fread(text, 1, sizeof text - 512, file);
    fclose(file);
    snprintf(
        text + size, sizeof text - size, "%s",
        "\ndrives:\n"
        "  twist: {effort: {joint: crank_pin, value: 3}}\n"
        "  hold: {servo: {joint: rocker_pin, target: 0.4, proportional: 30, derivative: 0.5}}\n"
        "  band: {spring: {joint: rocker_bearing, stiffness: 12, damping: 0.2}}\n");
    linear l = linear_of(text, HN_SCHEME_RATTLE, 1e-4);
    CHECK_EQUAL(l.system->freedom_count, 1);
    CHECK_BELOW(jerk_error(l.context, l.simulation, 3), 2e-6); // relative; measured 9e-8, order two
    linear_close(&l);
}

// A bob on a rod: what bends is the constraint of the first joint alone. Eigenvalues +-i sqrt(g/l), twice.
TEST(linearisation, a_bob_on_a_rod_swings_as_its_formula_says)
{
    static const char BOB[] =
        "holonom: 1\nname: bob\ngravity: [0, 0, -9.81]\nbodies:\n"
        "  bob: {point_mass: {mass: 1.3}, position: [0, 0, -0.7]}\n"
        "joints:\n  rod: {distance: {bodies: [ground, bob], from: [0, 0, 0], to: [0, 0, -0.7]}}\n"
        "run: {step: 0.001, end: 1}\n";
    linear l = linear_of(BOB, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK_EQUAL(l.system->state_count, 4);
    for (int k = 0; k < 4; ++k) {
        CHECK_NEAR(l.system->eigenvalue_real[k], 0.0, 1e-12);
        CHECK_NEAR(fabs(l.system->eigenvalue_imaginary[k]), sqrt(9.81 / 0.7), 1e-12);
    }
    linear_close(&l);
}

// ---- against modes ----------------------------------------------------------------------------------------------

static double frequency_error(const char *name, bool equilibrium, int wanted)
{
    char path[512];
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_linear_system *system = NULL;
    hn_mode modes[16];
    hn_modes_report report;
    hn_modes_def modes_def = hn_modes_def_default();
    hn_context *context = hn_context_create(NULL);
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    CHECK_OK(context, hn_model_load(context, path, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    modes_def.count = wanted;
    modes_def.at_start = !equilibrium;
    modes_def.statics.at_time = true;
    CHECK_OK(context, hn_simulation_modes(simulation, &modes_def, modes, NULL, &report));
    CHECK_OK(context, hn_simulation_linearise(simulation, &system));
    double worst = 0.0;
    for (int k = 0; k < report.count; ++k) {
        double nearest = HUGE_VAL, omega = 2.0 * 3.14159265358979323846 * modes[k].frequency;
        if (modes[k].rigid || omega == 0.0) continue;
        for (int i = 0; i < system->state_count; ++i)
            nearest = fmin(nearest, hypot(system->eigenvalue_real[i],
                                          system->eigenvalue_imaginary[i] - omega));
        worst = fmax(worst, nearest / omega);
    }
    hn_linear_system_destroy(system);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return worst;
}

TEST(linearisation, frequencies_are_those_of_modes)
{
    CHECK_BELOW(frequency_error("chain-spherical", true, 6), 1e-13);  // relative; measured 1.4e-15
    CHECK_BELOW(frequency_error("right-angle-frame", true, 8), 1e-7); // measured 2e-9
    CHECK_BELOW(frequency_error("bend-45", true, 8), 1e-7);           // measured 3e-9
}

// Both were `a/x`: in a list by names one of them is lost.
TEST(linearisation, coordinates_of_a_body_and_of_a_joint_have_names_of_their_own)
{
    linear l = linear_of("holonom: 1\n"
                         "bodies:\n"
                         "  a: {mass: 1, inertia: [1, 1, 1]}\n"
                         "  b: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 0]}\n"
                         "joints: {a: {free: {bodies: [ground, b], at: [5, 0, 0]}}}\n",
                         HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK_EQUAL(l.system->state_count, 24);
    int own = 0;
    for (int i = 0; i < l.system->state_count; ++i) {
        own += strncmp(l.system->state_names[i], "body a/", 7) == 0;
        for (int k = 0; k < i; ++k)
            CHECK(strcmp(l.system->state_names[i], l.system->state_names[k]) != 0);
    }
    CHECK_EQUAL(own, 12);
    linear_close(&l);
}

// ---- what turns ---------------------------------------------------------------------------------------------------

// Beams with dampers that turn, swing and are led: along the motion d/dt (dx/dt) = A dx/dt in the axes that were chosen
TEST(linearisation, beams_on_a_turning_hub_keep_their_equation)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {hub: {mass: 3, inertia: [1, 1, 1]}}\n"
        "beams:\n"
        "  blade: {from: [0.2, 0, 0], to: [1.2, 0, 0], elements: 2, order: %d, direction: [0, 1, "
        "0],"
        " stiffness: {shear: 1000, axial: 1000, bending: [20, 60], torsion: 20}, mass_per_length: "
        "2,"
        " inertia_per_length: [0.05, 0.02], damping: %g}\n"
        "joints:\n"
        "  mast: {revolute: {bodies: [ground, hub], at: [0, 0, 0], axis: z}}\n"
        "  root: {fixed: {bodies: [hub, blade.start]}}\n"
        "start: {mast: {rate: 4}}\n"
        "run: {step: 0.001, end: 1}\n";
    double worst = 0.0;
    for (int k = 0; k < 4; ++k) {
        char text[1024];
        snprintf(text, sizeof text, TEXT, 1 + k % 2, k < 2 ? 0.0 : 0.01);
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_simulation *simulation = NULL;
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_RATTLE;
        def.step_size = 5e-5;
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        double error = jerk_error(context, simulation, 200);
        if (getenv("HN_TEST_VERBOSE") != NULL) printf("%d: %.2e\n", k, error);
        worst = fmax(worst, error);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
    CHECK_BELOW(worst, 1e-4); // relative; measured 1.4e-5, what velocities of second order leave
}

// How far the nearest eigenvalue is
static double off_eigenvalue(const linear *l, double real, double imaginary)
{
    double nearest = HUGE_VAL;
    for (int k = 0; k < l->system->state_count; ++k)
        nearest = fmin(nearest, hypot(l->system->eigenvalue_real[k] - real,
                                      l->system->eigenvalue_imaginary[k] - imaginary));
    return nearest;
}

static double most_growth(const linear *l)
{
    double most = 0.0;
    for (int k = 0; k < l->system->state_count; ++k)
        most = fmax(most, l->system->eigenvalue_real[k]);
    return most;
}

static bool has_state(const linear *l, const char *name)
{
    for (int k = 0; k < l->system->state_count; ++k)
        if (strcmp(l->system->state_names[k], name) == 0) return true;
    return false;
}

// A free body, turned somehow, that flies and spins about one of its axes: Euler's equations. It was stable about all.
TEST(linearisation, a_free_body_spins_as_euler_says)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {stone: {mass: 2, inertia: [0.4, 0.5, 0.8], position: [3, -2, 1],"
        " orientation: {rotate: {axis: %c, angle: 0.7}}}}\n"
        "start: {stone: {velocity: [1, 2, 3], angular_velocity: [%d, %d, %d]}}\n"
        "run: {step: 0.001, end: 1}\n";
    const double J[3] = {0.4, 0.5, 0.8}, spin = 5.0;
    double worst = 0.0, change = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        char text[512];
        double a = J[(axis + 1) % 3], b = J[(axis + 2) % 3], c = J[axis];
        snprintf(text, sizeof text, TEXT, "xyz"[axis], axis == 0 ? 5 : 0, axis == 1 ? 5 : 0,
                 axis == 2 ? 5 : 0);
        linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        double square = spin * spin * (c - a) * (b - c) / (a * b), rate = sqrt(fabs(square));
        worst = fmax(worst,
                     square > 0.0 ? off_eigenvalue(&l, rate, 0.0) : off_eigenvalue(&l, 0.0, rate));
        CHECK(axis != 1 || (square > 0.0 && fabs(most_growth(&l) - rate) < 1e-6));
        CHECK(axis == 1 || most_growth(&l) < 1e-5); // what round-off makes of a chain of zeros
        CHECK(has_state(&l, "stone/turn_x/rate (stone axes)"));
        CHECK(l.system->caution[0] == '\0');
        change = fmax(change, l.system->change);
        linear_close(&l);
    }
    CHECK_BELOW(worst, 1e-13);  // measured 1.9e-15
    CHECK_BELOW(change, 2e-12); // measured 3.5e-14
}

// A platform of three moments that turns slowly, with a round wheel in it that spins fast: Euler's equations with the
// wheel's momentum h. The wheel leaves A as it is, and its rate hid how fast A in world axes turns with the platform.
TEST(linearisation, a_fast_wheel_does_not_hide_that_its_platform_turns)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {platform: {mass: 10, inertia: [1, 2, 2.5]},"
        " wheel: {mass: 2, inertia: [0.02, %g, 0.04]}}\n"
        "joints: {axle: {revolute: {bodies: [platform, wheel], at: [0, 0, 0], axis: z}}}\n"
        "start: {axle: {rate: 300}, platform: {angular_velocity: [0, 0, %g]}}\n"
        "run: {step: 0.001, end: 1}\n";
    const double SPINS[] = {0.3, 1.0, 3.0, 10.0}, a = 1.02, b = 2.02, c = 2.54, h = 0.04 * 300.0;
    double worst = 0.0;
    for (int k = 0; k < 4; ++k) {
        char text[512];
        double w = SPINS[k], rate = sqrt(((c - a) * w + h) * ((c - b) * w + h) / (a * b));
        snprintf(text, sizeof text, TEXT, 0.02, w);
        linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        worst = fmax(worst, off_eigenvalue(&l, 0.0, rate) / rate);
        CHECK(has_state(&l, "platform/turn_x/rate (platform axes)"));
        CHECK(l.system->caution[0] == '\0');
        linear_close(&l);
        // nearly round it makes A tremble, by next to nothing; half as much again is said
        snprintf(text, sizeof text, TEXT, 0.020002, w);
        l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        CHECK(off_eigenvalue(&l, 0.0, rate) / rate < 1e-4 && l.system->caution[0] == '\0');
        linear_close(&l);
        snprintf(text, sizeof text, TEXT, 0.03, w);
        l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        CHECK(l.system->caution[0] != '\0');
        linear_close(&l);
    }
    CHECK_BELOW(worst, 2e-13); // measured 6.8e-15
}

// In axes that turn with the body the motion itself keeps the equation: where it flies, its velocity turns in them.
TEST(linearisation, a_body_that_flies_keeps_its_equation_in_its_own_axes)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\nbodies: {stone: {mass: 2, inertia: [0.4, 0.5, 0.8]}}\n"
        "start: {stone: {velocity: [1, 2, 3], angular_velocity: [0, 0, 5]}}\n"
        "run: {step: 0.001, end: 1}\n";
    linear l = linear_of(TEXT, HN_SCHEME_PROJECTED_RK, 1e-3);
    CHECK(has_state(&l, "stone/x (stone axes)"));
    CHECK_BELOW(jerk_error(l.context, l.simulation, 3), 1e-9); // relative; measured 2.9e-11
    linear_close(&l);
}

// What tumbles has no axes in which A rests, and it is said; what stands says nothing, in world axes.
TEST(linearisation, where_a_does_not_rest_it_is_said)
{
    static const char TEXT[] = "holonom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
                               "  stone: {mass: 2, inertia: [0.4, 0.5, 0.8]}\n"
                               "start: {stone: {angular_velocity: %s}}\n"
                               "run: {step: 0.001, end: 1}\n";
    char text[512];
    snprintf(text, sizeof text, TEXT, "[2, 1, 3]");
    linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK(l.system->change > 0.1);
    CHECK(strstr(l.system->caution, "no steady motion") != NULL);
    linear_close(&l);
    snprintf(text, sizeof text, TEXT, "[0, 0, 0]");
    l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK(l.system->change == 0.0 && l.system->caution[0] == '\0');
    CHECK(has_state(&l, "stone/x"));
    linear_close(&l);
    // a pendulum let go at an angle: at rest, and not for long
    l = linear_of(
        "holonom: 1\nbodies: {bob: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, -1]}}\n"
        "joints: {pin: {revolute: {bodies: [ground, bob], at: [0, 0, 0], axis: y}}}\n"
        "run: {step: 0.001, end: 1}\n",
        HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK(l.system->change > 0.1);
    linear_close(&l);
}

// A mass on springs of two stiffnesses on a turntable that is led, above and below the speed where it flies off:
// (s^2 + wx^2 - W^2)(s^2 + wy^2 - W^2) + 4 W^2 s^2 = 0. A ball in a bushing turns itself, a point is carried.
TEST(linearisation, a_mass_on_springs_on_a_turntable)
{
    static const char *const HOLDERS[] = {
        "bodies:\n  table: {mass: 3, inertia: [1, 1, 1]}\n"
        "  ball: {mass: 2, inertia: [0.1, 0.1, 0.1]}\n"
        "loads: {soft: {bushing: {bodies: [table, ball], at: [0, 0, 0],"
        " stiffness: [200, 128, 300, 40, 40, 40]}}}\n"
        "start: {mast: {rate: %g}, ball: {angular_velocity: [0, 0, %g]}}\n",
        "bodies:\n  table: {mass: 3, inertia: [1, 1, 1]}\n"
        "  ball: {point_mass: {mass: 2}}\n"
        "loads:\n"
        "  left: {spring: {bodies: [table, ball], from: [-1, 0, 0], to: [0, 0, 0], stiffness: "
        "100}}\n"
        "  right: {spring: {bodies: [table, ball], from: [1, 0, 0], to: [0, 0, 0], stiffness: "
        "100}}\n"
        "  front: {spring: {bodies: [table, ball], from: [0, -1, 0], to: [0, 0, 0], stiffness: "
        "64}}\n"
        "  back: {spring: {bodies: [table, ball], from: [0, 1, 0], to: [0, 0, 0], stiffness: 64}}\n"
        "start: {mast: {rate: %g}}\n# %g\n"};
    static const double SPEEDS[] = {3.0, 9.0, 14.0};
    const double wx = 100.0, wy = 64.0;
    double worst = 0.0;
    for (int k = 0; k < 6; ++k) {
        char text[2048], head[1024];
        double speed = SPEEDS[k / 2], W = speed * speed;
        snprintf(head, sizeof head, HOLDERS[k % 2], speed, speed);
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\n%s"
                 "joints: {mast: {revolute: {bodies: [ground, table], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {lead: {motion: {joint: mast, value: %g*t}}}\n"
                 "run: {step: 0.001, end: 1}\n",
                 head, speed);
        linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        double b = wx + wy - 2.0 * W + 4.0 * W, c = (wx - W) * (wy - W),
               root = sqrt(b * b - 4.0 * c);
        for (int side = -1; side <= 1; side += 2) {
            double square = 0.5 * (-b + side * root), rate = sqrt(fabs(square));
            worst = fmax(worst, square > 0.0 ? off_eigenvalue(&l, rate, 0.0)
                                             : off_eigenvalue(&l, 0.0, rate));
        }
        CHECK(has_state(&l, k % 2 == 0 ? "ball/x (ball axes)" : "ball/x (table axes)"));
        CHECK(l.system->caution[0] == '\0');
        CHECK((most_growth(&l) > 0.5) == (speed == 9.0));
        linear_close(&l);
    }
    CHECK_BELOW(worst, 2e-13); // measured 3.6e-15
}

// A top with three moments of inertia that stands on a ball joint, by hand, about the pivot:
// (I1 s^2 + A)(I2 s^2 + B) + (I3 - I1 - I2)^2 W^2 s^2 = 0, A = (I3 - I2) W^2 - m g l, B = (I3 - I1) W^2 - m g l
TEST(linearisation, a_top_that_is_not_round_sleeps_where_it_can)
{
    static const double SPEEDS[] = {3.0, 12.0, 30.0};
    const double m = 2.0, arm = 0.5, J[3] = {0.3, 0.4, 0.6}, g = 9.81;
    double worst = 0.0;
    for (int k = 0; k < 3; ++k) {
        char text[512];
        snprintf(text, sizeof text,
                 "holonom: 1\nbodies: {top: {mass: 2, inertia: [0.3, 0.4, 0.6],"
                 " position: [0, 0, 0.5]}}\n"
                 "joints: {tip: {spherical: {bodies: [ground, top], at: [0, 0, 0]}}}\n"
                 "start: {top: {angular_velocity: [0, 0, %g]}}\nrun: {step: 0.001, end: 1}\n",
                 SPEEDS[k]);
        linear l = linear_of(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        double I1 = J[0] + m * arm * arm, I2 = J[1] + m * arm * arm, I3 = J[2],
               W = SPEEDS[k] * SPEEDS[k], A = (I3 - I2) * W - m * g * arm,
               B = (I3 - I1) * W - m * g * arm, d = I3 - I1 - I2;
        double b = (I1 * B + I2 * A + d * d * W) / (I1 * I2), c = A * B / (I1 * I2);
        double complex root = csqrt(b * b - 4.0 * c);
        for (int side = -1; side <= 1; side += 2) {
            double complex rate = csqrt(0.5 * (-b + side * root));
            worst = fmax(worst, off_eigenvalue(&l, creal(rate), fabs(cimag(rate))));
        }
        CHECK(has_state(&l, "top/turn_x (top axes)"));
        CHECK((most_growth(&l) > 1e-3) == (k == 0));
        linear_close(&l);
    }
    CHECK_BELOW(worst, 1e-12); // measured 1.8e-14
}

// A clamped blade (EI = m = L = 1) that was led up to the speed 3 and has come to rest on its hub, but for the last
// trembling: flapping 4.7973 (Wright and others, J. Appl. Mech. 49 (1982), table 1), lagging sqrt(4.7973^2 - 9)
TEST(linearisation, a_blade_that_turns_flaps_and_lags_as_tables_say)
{
    linear l = linear_of(
        "holonom: 1\ngravity: [0, 0, 0]\nbeams:\n"
        "  blade: {from: [0, 0, 0], to: [1, 0, 0], elements: 4, order: 2,"
        " direction: [0, 1, 0], stiffness: {shear: 1e5, axial: 1e5, bending: [1, 1],"
        " torsion: 1}, mass_per_length: 1, inertia_per_length: [1e-4, 1e-4], damping: 0.1}\n"
        "joints: {mast: {revolute: {bodies: [ground, blade.start], at: [0, 0, 0], axis: z}}}\n"
        "drives: {spin: {motion: {joint: mast, value: {expression:"
        " '3*(t<1 ? t*t*t*(1 - t/2) : t - 0.5)'}}}}\n"
        "run: {step: 0.01, end: 1}\n",
        HN_SCHEME_ENERGY_MOMENTUM, 1e-2);
    hn_linear_system_destroy(l.system);
    CHECK_OK(l.context, hn_simulation_step(l.simulation, 1400));
    CHECK_OK(l.context, hn_simulation_linearise(l.simulation, &l.system));
    CHECK(has_state(&l, "blade.4/y (blade.0 axes)"));
    double found[2], worst = 0.0;
    const double expected[2] = {4.7973, 3.74354};
    for (int k = 0; k < 2; ++k) { // other pairs creep
        found[k] = 0.0;
        for (int i = 0; i < l.system->state_count; ++i) {
            double own = l.system->eigenvalue_imaginary[i],
                   size = hypot(own, l.system->eigenvalue_real[i]);
            if (own > 1.0 && fabs(size - expected[k]) < fabs(found[k] - expected[k]))
                found[k] = size;
        }
        worst = fmax(worst, fabs(found[k] / expected[k] - 1.0));
    }
    CHECK_BELOW(worst, 5e-3); // measured 1.3e-3: shear, four elements and the step
    linear_close(&l);
}

// What is looked at a little later is forgotten: a run goes on as it would have.
TEST(linearisation, the_motion_goes_on_as_if_nothing_was_asked)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%sstart: {shoulder: {rate: 1.3}, elbow: {rate: -2.1}}\n",
             DOUBLE_PENDULUM, DRIVES);
    hn_body_state end[2];
    for (int asked = 0; asked < 2; ++asked) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_simulation *simulation = NULL;
        hn_linear_system *system = NULL;
        hn_simulation_def def = hn_simulation_def_default();
        def.step_size = 1e-3;
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        for (int k = 0; k < 20; ++k) {
            if (asked == 1) CHECK_OK(context, hn_simulation_linearise(simulation, &system));
            hn_linear_system_destroy(system);
            system = NULL;
            CHECK_OK(context, hn_simulation_step(simulation, 1));
        }
        CHECK_OK(context, hn_simulation_body_state(simulation, hn_model_find_body(model, "two"),
                                                   &end[asked]));
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
    CHECK(memcmp(&end[0], &end[1], sizeof end[0]) == 0);
}
