// SPDX-License-Identifier: MIT
// Where one mechanism of a model needs halves of a step, the others that nothing connects with it take it as they
// would alone; each has the motion, the reactions and the energy that it has in a model of its own.
#include "physics/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `ggl-classical` solves almost any step, given time
enum { ITERATIONS_FEW = 7, PARTS_MAX = 6, SECTIONS = 6 };

// Parts of a model file: what belongs to a mechanism in each of its sections.
typedef struct part {
    const char *bodies, *joints, *loads, *start, *drives; // "": nothing
    const char *couplings;
} part;

static const part FOUR_BAR = {
    "  crank: {shape: {cylinder: {radius: 0.03}}, mass: 1, between: [[0, 0, 0], [0, 0.1, 0.5]]}\n"
    "  coupler: {shape: {cylinder: {radius: 0.03}}, mass: 2, between: [[0, 0.1, 0.5], [0, 1.1, "
    "0.8]]}\n"
    "  rocker: {shape: {cylinder: {radius: 0.03}}, mass: 1.5, between: [[0, 1.1, 0.8], [0, 1.2, "
    "0]]}\n",
    "  p0: {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: x}}\n"
    "  p1: {revolute: {bodies: [crank, coupler], at: [0, 0.1, 0.5], axis: x}}\n"
    "  p2: {revolute: {bodies: [coupler, rocker], at: [0, 1.1, 0.8], axis: x}}\n"
    "  p3: {revolute: {bodies: [rocker, ground], at: [0, 1.2, 0], axis: x}}\n",
    "  coil: {torsion_spring: {joint: p0, stiffness: 3, damping: 0.4}}\n"
    "  push: {torque: {body: rocker, vector: [0.5, 0, 0]}}\n",
    "  p0: {rate: 1.5}\n",
    "",
    ""};
static const part HANGING = {
    "  upper: {shape: {cylinder: {radius: 0.02}}, mass: 1, between: [[3, 0, 0], [3.5, 0.1, "
    "-0.3]]}\n"
    "  lower: {shape: {cylinder: {radius: 0.02}}, mass: 1, between: [[3.5, 0.1, -0.3], [3.6, 0.3, "
    "-0.9]]}\n",
    "  hook: {universal: {bodies: [ground, upper], at: [3, 0, 0], axes: [x, y]}}\n"
    "  knee: {spherical: {bodies: [upper, lower], at: [3.5, 0.1, -0.3]}}\n",
    "  cord: {spring: {bodies: [ground, lower], from: [3, 1, 0], to: [3.6, 0.3, -0.9], stiffness: "
    "40, damping: 2}}\n",
    "  lower: {angular_velocity: [0.3, -1, 0.5]}\n",
    "",
    ""};
// h|omega| = 5.2 at 20 ms, too long a step for `ggl-energy-momentum`
#define TOP_WITH(spin)                                                                             \
    {                                                                                              \
        "  top: {shape: {cone: {height: 0.1, radius: 0.05}}, density: 2700, apex: [-2, 0, 0],\n"   \
        "        orientation: {rotate: {axis: x, angle: pi/3}}}\n",                                \
            "  tip: {spherical: {bodies: [ground, top], at: [-2, 0, 0]}}\n", "",                   \
            "  top: {angular_velocity: {sum: [{axis: z, rate: 5}, {axis: d3, rate: " spin          \
            "}]}}\n",                                                                              \
            "", ""                                                                                 \
    }
static const part TOP = TOP_WITH("40"), FAST_TOP = TOP_WITH("260");
// two bars that are thrown round
static const part WHIP = {
    "  inner: {shape: {box: {size: [0.05, 0.04]}}, mass: 2, between: [[-4, 0, 0], [-4, 0, 0.5]]}\n"
    "  outer: {shape: {box: {size: [0.05, 0.04]}}, mass: 1, between: [[-4, 0, 0.5], [-4, 0.3, "
    "0.9]]}\n",
    "  root: {spherical: {bodies: [ground, inner], at: [-4, 0, 0]}}\n"
    "  link: {revolute: {bodies: [inner, outer], at: [-4, 0, 0.5], axis: [1, 0.2, 0.1]}}\n",
    "  tether: {spring: {bodies: [ground, outer], from: [-4, 2, 0], to: [-4, 0.3, 0.9], stiffness: "
    "200, damping: 1}}\n",
    "  root: {rates: [30, 10, 5]}\n  link: {rate: -60}\n",
    "",
    ""};

// a ball that jumps, a door that latches, a slide that rubs and stops, a crank that is led
static const part BALL = {
    "  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, position: [6, 0, 0.2]}\n",
    "  rail: {prismatic: {bodies: [ground, ball], at: [6, 0, 0.2], axis: z}}\n",
    "",
    "",
    "  floor: {stop: {joint: rail, lower: -0.2, restitution: 0.8}}\n",
    ""};
static const part DOOR = {
    "  door: {shape: {box: {size: [0.9, 0.04, 2]}}, mass: 30, position: [8.45, 0, 0]}\n",
    "  hinges: {revolute: {bodies: [ground, door], at: [8, 0, 0], axis: z}}\n",
    "",
    "  hinges: {rate: 4}\n",
    "  lock: {latch: {joint: hinges, value: 60 deg}}\n",
    ""};
static const part SLIDE = {
    "  slide: {shape: {box: {size: [0.2, 0.1, 0.1]}}, mass: 2, position: [10, 0, 0]}\n",
    "  guide: {prismatic: {bodies: [ground, slide], at: [10, 0, 0], axis: [0.6, 0, -0.8]}}\n",
    "",
    "  guide: {rate: -2}\n",
    "  rub: {friction: {joint: guide, coefficient: 0.5}}\n",
    ""};
static const part LED = {
    "  led: {shape: {cylinder: {radius: 0.03}}, mass: 1, between: [[12, 0, 0], [12, 0, 0.5]]}\n"
    "  free: {shape: {cylinder: {radius: 0.03}}, mass: 1, between: [[12, 0, 0.5], [12, 0.4, "
    "0.8]]}\n",
    "  bearing: {revolute: {bodies: [ground, led], at: [12, 0, 0], axis: x}}\n"
    "  elbow: {revolute: {bodies: [led, free], at: [12, 0, 0.5], axis: x}}\n",
    "",
    "  bearing: {rate: 1.2}\n",
    "  lead: {motion: {joint: bearing, value: '0.4*sin(3*t)'}}\n",
    ""};

// a shaft with an arm, geared to a drum, and a nut on a screw
static const part GEARED = {
    "  shaft: {shape: {cylinder: {radius: 0.1}}, mass: 2, between: [[14, 0, 0], [14, 0, 0.2]]}\n"
    "  arm: {shape: {cylinder: {radius: 0.02}}, mass: 0.5, between: [[14, 0, 0.2], [14.3, 0.1, "
    "0.2]]}\n"
    "  wheel: {shape: {cylinder: {radius: 0.2}}, mass: 3, between: [[14, 1, 0], [14, 1, 0.2]]}\n",
    "  axle: {revolute: {bodies: [ground, shaft], at: [14, 0, 0], axis: z}}\n"
    "  shoulder: {revolute: {bodies: [shaft, arm], at: [14, 0, 0.2], axis: y}}\n"
    "  drum: {revolute: {bodies: [ground, wheel], at: [14, 1, 0], axis: z}}\n",
    "  wind: {torsion_spring: {joint: drum, stiffness: 3, damping: 0.1}}\n",
    "  axle: {rate: 2}\n",
    "",
    "  mesh: {gear: {joints: [axle, drum], teeth: [20, 40]}}\n"};
static const part NUT = {
    "  nut: {shape: {box: {size: [0.2, 0.1, 0.1]}}, mass: 2, position: [16, 0, 0]}\n"
    "  flag: {shape: {cylinder: {radius: 0.02}}, mass: 0.5, between: [[16, 0.1, 0], [16.1, 0.1, "
    "0.4]]}\n",
    "  thread: {screw: {bodies: [ground, nut], at: [16, 0, 0], axis: z, pitch: 0.02}}\n"
    "  pole: {revolute: {bodies: [nut, flag], at: [16, 0.1, 0], axis: y}}\n",
    "",
    "  pole: {rate: 3}\n",
    "",
    ""};

// a wheel with a rotor on its axle, and two that are geared
static const part ROTORS = {
    "  wheel: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [18, 0, 0]}\n"
    "  disc: {mass: 1, inertia: [0.03, 0.03, 0.04], position: [20, 0, 0]}\n"
    "  plate: {mass: 1, inertia: [0.05, 0.05, 0.08], position: [20, 1, 0]}\n",
    "  spindle: {revolute: {bodies: [ground, wheel], at: [18, 0, 0], axis: z}}\n"
    "  pin: {revolute: {bodies: [ground, disc], at: [20, 0, 0], axis: z}}\n"
    "  pivot: {revolute: {bodies: [ground, plate], at: [20, 1, 0], axis: z}}\n",
    "",
    "  spindle: {rate: 10}\n  pin: {rate: 4}\n",
    "  flywheel: {effort: {joint: spindle, value: 0, armature: 0.1}}\n"
    "  motor: {motor: {joint: pin, stall: 2, no_load: 30, command: 0.5, armature: 0.02}}\n",
    "  teeth: {gear: {joints: [pin, pivot], teeth: [20, 40]}}\n"};

// How they are run.
typedef struct trial {
    hn_scheme scheme;
    hn_reduction way;
    double step; // s
    bool loads;
    int steps;
} trial;

static run start_parts(const part *const *parts, int count, trial how)
{
    char text[8000];
    size_t n = (size_t)snprintf(text, sizeof text, "holonom: 1\n");
    const char *const heads[SECTIONS] = {"bodies", "joints", "loads",
                                         "start",  "drives", "couplings"};
    for (int section = 0; section < SECTIONS; ++section) {
        const char *own[PARTS_MAX];
        bool any = false;
        for (int k = 0; k < count; ++k) {
            const char *const all[SECTIONS] = {parts[k]->bodies, parts[k]->joints,
                                               parts[k]->loads,  parts[k]->start,
                                               parts[k]->drives, parts[k]->couplings};
            own[k] = section == 2 && !how.loads ? "" : all[section];
            any = any || own[k][0] != '\0';
        }
        if (any) n += (size_t)snprintf(text + n, sizeof text - n, "%s:\n", heads[section]);
        for (int k = 0; k < count; ++k)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", own[k]);
    }
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK(context != NULL);
    CHECK_OK(context, hn_model_parse(context, text, n, "parts", &model));
    run r = {.context = context, .model = model};
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = how.scheme;
    def.reduction = how.way;
    def.step_size = how.step;
    def.ledger = false;
    if (how.scheme == HN_SCHEME_GGL_CLASSICAL) def.iterations_max = ITERATIONS_FEW;
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    r.coordinate_count = hn_simulation_structure(r.sim).coordinate_count;
    return r;
}

typedef struct differences {
    double motion, reaction,
        energy; // m and directors, N and N m over the largest, J over the largest
} differences;

// Bodies and joints of one model against those of the same name in another.
static void compare(const run *alone, const run *beside, differences *worst)
{
    double largest = 1.0;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < hn_model_joint_count(alone->model); ++k) {
            const char *name = hn_model_joint_name(alone->model, hn_model_joint(alone->model, k));
            hn_joint_state x, y;
            CHECK_OK(alone->context,
                     hn_simulation_joint_state(alone->sim, hn_model_joint(alone->model, k), &x));
            CHECK_OK(beside->context,
                     hn_simulation_joint_state(beside->sim,
                                               hn_model_find_joint(beside->model, name), &y));
            double off = vec3_norm(vec3_subtract(x.reaction_force, y.reaction_force)) +
                         vec3_norm(vec3_subtract(x.reaction_torque, y.reaction_torque));
            if (pass == 0) largest = fmax(largest, vec3_norm(x.reaction_force));
            else worst->reaction = fmax(worst->reaction, off / largest);
        }
    for (int k = 0; k < hn_model_body_count(alone->model); ++k) {
        hn_body_id id = hn_model_body(alone->model, k);
        hn_body_state x = run_body(alone, id),
                      y = run_body(
                          beside,
                          hn_model_find_body(beside->model, hn_model_body_name(alone->model, id)));
        double off = vec3_norm(vec3_subtract(x.position, y.position));
        for (int c = 0; c < 3; ++c)
            off = fmax(off, vec3_norm(vec3_subtract(mat3_column(&x.orientation, c),
                                                    mat3_column(&y.orientation, c))));
        worst->motion = fmax(worst->motion, off);
    }
}

static void add_energy(const run *r, double sign, double sums[3], double *largest)
{
    hn_energy e;
    CHECK_OK(r->context, hn_simulation_energy(r->sim, &e));
    const double own[3] = {e.kinetic, e.potential, e.external_work};
    for (int k = 0; k < 3; ++k) sums[k] += sign * own[k], *largest = fmax(*largest, fabs(own[k]));
}

// A model of `parts` beside models of each of them; how many of its steps were made in halves is added up.
static differences run_beside(const part *const *parts, int count, trial how, int64_t *halved)
{
    run together = start_parts(parts, count, how), alone[PARTS_MAX];
    differences worst = {0.0, 0.0, 0.0};
    double sums[3] = {0.0, 0.0, 0.0}, largest = 0.0;
    for (int k = 0; k < count; ++k) alone[k] = start_parts(parts + k, 1, how);
    for (int i = 0; i < how.steps; ++i) {
        run_step(&together, 1);
        for (int k = 0; k < count; ++k) {
            run_step(&alone[k], 1);
            compare(&alone[k], &together, &worst);
        }
    }
    add_energy(&together, 1.0, sums, &largest);
    for (int k = 0; k < count; ++k) add_energy(&alone[k], -1.0, sums, &largest);
    for (int k = 0; k < 3; ++k) worst.energy = fmax(worst.energy, fabs(sums[k]) / largest);
    *halved += hn_simulation_statistics(together.sim).halved_step_count;
    for (int k = 0; k < count; ++k) run_end(&alone[k]);
    run_end(&together);
    return worst;
}

static void note(differences x, differences *worst)
{
    worst->motion = fmax(worst->motion, x.motion);
    worst->reaction = fmax(worst->reaction, x.reaction);
    worst->energy = fmax(worst->energy, x.energy);
}

TEST(apart, halves_of_one_mechanism_change_no_other_under_any_reduction)
{
    const part *const parts[4] = {&HANGING, &TOP, &FOUR_BAR, &WHIP}, *const others[3] = {&HANGING,
                                                                                         &FAST_TOP,
                                                                                         &FOUR_BAR};
    const hn_scheme schemes[3] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                  HN_SCHEME_ENERGY_DECAYING};
    differences worst = {0.0, 0.0, 0.0};
    for (int s = 0; s < 3; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w)
            for (int loads = 0; loads < 2; ++loads) {
                int64_t halved = 0;
                trial how = {schemes[s], REDUCTIONS[w], 0.02, loads > 0, 8};
                note(s == 1 ? run_beside(others, 3, how, &halved)
                            : run_beside(parts, 4, how, &halved),
                     &worst);
                CHECK(halved > 0);
            }
    CHECK_BELOW(worst.motion, 5e-13);   // measured 7.0e-14
    CHECK_BELOW(worst.reaction, 1e-11); // measured 1.5e-12
    CHECK_BELOW(worst.energy, 1e-13);   // measured 1.1e-14
}

TEST(apart, halves_of_one_mechanism_change_no_other_under_schemes_with_solvers_of_their_own)
{
    const part *const parts[4] = {&HANGING, &TOP, &FOUR_BAR, &WHIP};
    const hn_scheme schemes[2] = {HN_SCHEME_CONVECTED, HN_SCHEME_GGL_CLASSICAL};
    differences worst = {0.0, 0.0, 0.0};
    for (int s = 0; s < 2; ++s) {
        int64_t halved = 0;
        trial how = {schemes[s], HN_REDUCTION_REDUCED, 0.06, true, 8};
        note(run_beside(parts, 4, how, &halved), &worst);
        CHECK(halved > 0);
    }
    CHECK_BELOW(worst.motion, 5e-13);   // measured 4.9e-14
    CHECK_BELOW(worst.reaction, 5e-14); // measured 5.0e-15
    CHECK_BELOW(worst.energy, 2e-14);   // measured 6.8e-15
}

TEST(apart, stops_latches_friction_and_motions_change_no_other_mechanism)
{
    const part *const parts[6] = {&HANGING, &BALL, &DOOR, &FOUR_BAR, &SLIDE, &LED};
    const hn_scheme schemes[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM};
    differences worst = {0.0, 0.0, 0.0};
    int64_t halved = 0;
    for (int s = 0; s < 2; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            trial how = {schemes[s], REDUCTIONS[w], 0.02, true, 60};
            note(run_beside(parts, 6, how, &halved), &worst);
        }
    CHECK_BELOW(worst.motion, 1e-11);  // measured 2.4e-12
    CHECK_BELOW(worst.reaction, 1e-9); // measured 2.1e-10
    CHECK_BELOW(worst.energy, 1e-12);  // measured 1.9e-13
}

// Mechanisms that a coupling connects step together, and apart from all others.
TEST(apart, steps_of_mechanisms_with_couplings_change_no_other)
{
    const part *const events[6] = {&HANGING, &BALL, &GEARED, &NUT, &FAST_TOP, &DOOR},
                      *const halves[5] = {&TOP, &GEARED, &FOUR_BAR, &NUT, &WHIP};
    const hn_scheme schemes[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_ENERGY_DECAYING};
    differences worst = {0.0, 0.0, 0.0};
    for (int s = 0; s < 2; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            int64_t halved = 0;
            trial how = {schemes[s], REDUCTIONS[w], 0.02, true, 30};
            note(run_beside(events, 6, how, &halved), &worst);
            how.steps = 8;
            note(run_beside(halves, 5, how, &halved), &worst);
            CHECK(halved > 0);
        }
    CHECK_BELOW(worst.motion, 5e-13);   // measured 8.8e-14
    CHECK_BELOW(worst.reaction, 5e-11); // measured 4.8e-12
    CHECK_BELOW(worst.energy, 1e-13);   // measured 8.4e-15
}

static double work_of(const run *r, const char *name)
{
    hn_drive_state state;
    for (int i = 0; i < hn_model_drive_count(r->model); ++i) {
        CHECK_OK(r->context, hn_simulation_drive(r->sim, i, &state));
        if (strcmp(hn_model_drive_name(r->model, i), name) == 0) return state.work;
    }
    fail_msg("no drive %s", name);
    return 0.0;
}

// A stop that is hit takes what its own mechanism loses, and nothing of rotors that wait meanwhile.
TEST(apart, impacts_do_no_work_on_rotors_of_others)
{
    const part *const all[3] = {&BALL, &ROTORS, &DOOR};
    const char *const names[3] = {"floor", "motor", "lock"};
    const hn_scheme schemes[3] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                  HN_SCHEME_ENERGY_DECAYING};
    double worst = 0.0;
    for (int s = 0; s < 3; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            trial how = {schemes[s], REDUCTIONS[w], 0.02, true, 60};
            run together = start_parts(all, 3, how);
            run_step(&together, how.steps);
            for (int k = 0; k < 3; ++k) {
                run alone = start_parts(&all[k], 1, how);
                run_step(&alone, how.steps);
                double work = work_of(&alone, names[k]);
                CHECK(fabs(work) > 0.1);
                worst = fmax(worst, fabs(work_of(&together, names[k]) - work) / fabs(work));
                run_end(&alone);
            }
            run_end(&together);
        }
    CHECK_BELOW(worst, 2e-13); // measured 1.6e-14
}

// Which mechanisms step together is a matter of the state alone.
TEST(apart, steps_go_on_from_a_snapshot_bit_for_bit)
{
    const part *const sets[2][4] = {{&HANGING, &TOP, &FOUR_BAR, &WHIP},
                                    {&HANGING, &BALL, &SLIDE, &LED}};
    for (int k = 0; k < 2; ++k) {
        trial how = {HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, k == 0 ? 0.03 : 0.02, true,
                     0};
        run one = start_parts(sets[k], 4, how), other = start_parts(sets[k], 4, how);
        char *state = malloc(hn_simulation_snapshot_size(one.sim));
        bool apart = false;
        for (int i = 0; i < 20; ++i) {
            run_step(&one, 1);
            apart = apart || one.sim->step_had_event || one.sim->step_was_halved;
            size_t size = hn_simulation_snapshot_size(one.sim);
            double q[2][RUN_COORDINATES_MAX];
            CHECK_OK(one.context, hn_simulation_save(one.sim, state, size));
            run_step(&one, 1);
            CHECK_OK(other.context, hn_simulation_restore(other.sim, state, size));
            run_step(&other, 1);
            run_coordinates(&one, q[0]);
            run_coordinates(&other, q[1]);
            CHECK(memcmp(q[0], q[1], (size_t)one.coordinate_count * sizeof(double)) == 0);
        }
        CHECK(apart);
        free(state);
        run_end(&one);
        run_end(&other);
    }
}
