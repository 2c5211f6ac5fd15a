// SPDX-License-Identifier: MIT
// Steps that cannot be solved: what is said, what is tried, and that the state stays the last good one.
#include <holonom/holonom.h>

#include "support/check.h"
#include "support/generic_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A double pendulum of slender rods that starts horizontally; the lower rod may spin about the hinge's axis.
typedef struct pendulum {
    hn_context *context;
    hn_model *model;
} pendulum;

static pendulum make_pendulum(double spin)
{
    pendulum p = {.context = hn_context_create(NULL)};
    hn_model_def world = hn_model_def_default();
    CHECK_OK(p.context, hn_model_create(p.context, &world, &p.model));
    for (int i = 0; i < 2; ++i) {
        hn_body_def def = hn_body_def_default();
        def.name = i == 0 ? "upper" : "lower";
        def.mass = 1.0;
        def.inertia = vec3(0.01, 0.09, 0.085);
        def.position = vec3(0.5 + i, 0.0, 0.0);
        hn_body_id body;
        CHECK_OK(p.context, hn_model_add_body(p.model, &def, &body));
        hn_joint_def joint = hn_joint_def_default(HN_JOINT_REVOLUTE);
        joint.name = i == 0 ? "shoulder" : "elbow";
        joint.body_a = i == 0 ? hn_ground() : hn_model_body(p.model, i - 1);
        joint.body_b = body;
        joint.point_a = vec3(i, 0.0, 0.0);
        joint.axis_a = vec3(0.0, 1.0, 0.0);
        hn_joint_id id;
        CHECK_OK(p.context, hn_model_add_joint(p.model, &joint, &id));
        double rate = i == 0 ? 0.0 : spin;
        CHECK_OK(p.context, hn_model_set_joint_rates(p.model, id, &rate, 1));
    }
    return p;
}

static void destroy(pendulum *p)
{
    hn_model_destroy(p->model);
    hn_context_destroy(p->context);
}

static hn_simulation_def options(hn_scheme scheme, hn_reduction way, double h)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = h;
    return def;
}

enum { COORDINATES = 24 };

static void coordinates(pendulum *p, hn_simulation *simulation, double *q)
{
    CHECK_OK(p->context, hn_simulation_coordinates(simulation, q, COORDINATES));
    for (int k = 0; k < COORDINATES; ++k) CHECK(isfinite(q[k]));
}

TEST(variational, says_that_a_body_turns_too_far_in_a_step)
{
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
        pendulum p = make_pendulum(30.0);
        // h |omega| = 1.5
        hn_simulation_def def = options(HN_SCHEME_VARIATIONAL, (hn_reduction)way, 0.05);
        hn_simulation *simulation = NULL;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
        CHECK_NEAR(hn_simulation_structure(simulation).spin_step, 1.5, 1e-12);
        double before[COORDINATES], after[COORDINATES];
        coordinates(&p, simulation, before);
        CHECK_STATUS(p.context, hn_simulation_step(simulation, 10), HN_NOT_CONVERGED);
        CHECK_CONTAINS(hn_context_message(p.context), "'lower'");
        CHECK_CONTAINS(hn_context_message(p.context), "h|omega| = 1.5");
        CHECK_CONTAINS(hn_context_message(p.context), "smaller step");
        // the state is the start, bit for bit, and can still be looked at
        coordinates(&p, simulation, after);
        CHECK(memcmp(before, after, sizeof before) == 0);
        CHECK_EQUAL(hn_simulation_step_count(simulation), 0);
        CHECK(hn_simulation_time(simulation) == 0.0);
        hn_body_state state;
        CHECK_OK(p.context,
                 hn_simulation_body_state(simulation, hn_model_body(p.model, 1), &state));
        CHECK(isfinite(state.angular_velocity.y));
        hn_simulation_destroy(simulation);

        // a smaller step does it
        def.step_size = 0.005;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
        CHECK_OK(p.context, hn_simulation_step(simulation, 50));
        hn_simulation_destroy(simulation);
        destroy(&p);
    }
}

// The limit itself: a body that spins about one principal axis has sin(u) = h omega (LMO 3.1), so h |omega| < 1.
TEST(variational, solves_just_below_the_limit_and_not_above)
{
    for (int above = 0; above < 2; ++above) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        def.name = "wheel";
        def.mass = 1.0;
        def.inertia = vec3(1.0, 1.0, 1.5);
        hn_body_id body;
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context,
                 hn_model_set_angular_velocity(model, body, vec3(0.0, 0.0, above ? 10.1 : 9.9)));
        hn_simulation_def run = options(HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 0.1);
        run.iterations_max = 50;
        hn_simulation *simulation = NULL;
        CHECK_OK(context, hn_simulation_create(model, &run, &simulation));
        if (above) {
            CHECK_STATUS(context, hn_simulation_step(simulation, 1), HN_NOT_CONVERGED);
            CHECK_CONTAINS(hn_context_message(context), "'wheel'");
        } else {
            CHECK_OK(context, hn_simulation_step(simulation, 1));
            double q[12];
            CHECK_OK(context, hn_simulation_coordinates(simulation, q, 12));
            CHECK_NEAR(atan2(q[4], q[3]), asin(0.99), 1e-9); // d1 has turned by u
        }
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

// A step too long for Newton is filled with halves; energy-momentum keeps its promises over any sequence of steps.
TEST(energy_momentum, goes_in_halves_where_a_step_is_too_long)
{
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
        pendulum p = make_pendulum(9.0);
        hn_simulation_def def = options(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)way, 0.25);
        hn_simulation *simulation = NULL;
        // without halving it fails
        def.halvings_max = 0;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
        hn_status status = hn_simulation_step(simulation, 40);
        CHECK(status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM);
        hn_simulation_destroy(simulation);

        def.halvings_max = 10;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
        hn_energy start, end;
        CHECK_OK(p.context, hn_simulation_energy(simulation, &start));
        CHECK_OK(p.context, hn_simulation_step(simulation, 40));
        CHECK_OK(p.context, hn_simulation_energy(simulation, &end));
        hn_statistics statistics = hn_simulation_statistics(simulation);
        CHECK(statistics.halved_step_count > 0); // measured 12, 10, 10
        CHECK_EQUAL(statistics.step_count, 40);
        CHECK_NEAR(hn_simulation_time(simulation), 10.0, 1e-12);
        hn_ledger ledger;
        CHECK_OK(p.context, hn_simulation_ledger(simulation, &ledger));
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-13); // measured 1.8e-15
        double change =
            (end.kinetic + end.potential - start.kinetic - start.potential) / ledger.energy_scale;
        CHECK_BELOW(change, 1e-13);                                // measured 1.4e-15
        CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 2e-14); // m; measured 3.9e-16
        double q[COORDINATES];
        coordinates(&p, simulation, q);
        hn_simulation_destroy(simulation);
        destroy(&p);
    }
}

// A body that turns by half a turn in a step flattens its midpoint, where the discrete null space loses rank: equations
// that hold there mean nothing. Newton, started badly, finds such points; they must not pass for solutions.
TEST(energy_momentum, does_not_take_half_a_turn_for_a_solution)
{
    double worst = 0.0;
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way)
        for (int speed = 7; speed <= 12; ++speed) {
            pendulum p = make_pendulum(speed);
            hn_simulation_def def = options(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)way, 0.25);
            def.halvings_max = 0;
            hn_simulation *simulation = NULL;
            CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
            // as far as it goes: whatever was accepted has the energy it started with, and is right-handed
            while (hn_simulation_step_count(simulation) < 40 &&
                   hn_simulation_step(simulation, 1) == HN_OK) {
                double q[COORDINATES];
                coordinates(&p, simulation, q);
                for (int i = 0; i < 2; ++i) {
                    const double *d = q + 12 * i + 3;
                    CHECK(vec3_dot(vec3_load(d), vec3_cross(vec3_load(d + 3), vec3_load(d + 6))) >
                          0.999);
                }
            }
            hn_ledger ledger;
            CHECK_OK(p.context, hn_simulation_ledger(simulation, &ledger));
            worst = fmax(worst, ledger.entry[HN_PROMISE_ENERGY].error);
            hn_simulation_destroy(simulation);
            destroy(&p);
        }
    CHECK_BELOW(worst, 5e-14); // measured 7.2e-16
}

// One iteration is not enough for anything: the step fails in every halving and says where.
TEST(unreachable, steps_leave_the_last_good_state_bit_for_bit)
{
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
        pendulum p = make_pendulum(5.0);
        hn_simulation_def def = options(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)way, 0.02);
        hn_simulation *good = NULL, *bad = NULL;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &good));
        def.iterations_max = 1;
        def.halvings_max = 4;
        CHECK_OK(p.context, hn_simulation_create(p.model, &def, &bad));
        CHECK_OK(p.context, hn_simulation_step(good, 5));
        size_t size = hn_simulation_snapshot_size(good);
        CHECK_EQUAL(hn_simulation_snapshot_size(bad), size);
        char *before = calloc(1, size), *after = calloc(1, size);
        CHECK(before != NULL && after != NULL);
        CHECK_OK(p.context, hn_simulation_save(good, before, size));
        CHECK_OK(p.context, hn_simulation_restore(bad, before, size));
        for (int attempt = 0; attempt < 2; ++attempt) { // the call may be repeated
            CHECK_STATUS(p.context, hn_simulation_step(bad, 3), HN_NOT_CONVERGED);
            const char *message = hn_context_message(p.context);
            CHECK_CONTAINS(message, "step 6");
            CHECK_CONTAINS(message, "body '");
            CHECK_CONTAINS(message, "joint '");
            CHECK_CONTAINS(message, "halved");
            CHECK_CONTAINS(message, "after 1 iterations the increment "); // what failed
            CHECK_CONTAINS(message, "is above its tolerance 1e-10");
            CHECK(strstr(message, "'upper'") != NULL || strstr(message, "'lower'") != NULL);
            CHECK(strstr(message, "'shoulder'") != NULL || strstr(message, "'elbow'") != NULL);
            CHECK_EQUAL(hn_simulation_step_count(bad), 5);
            double q0[COORDINATES], q1[COORDINATES];
            coordinates(&p, good, q0);
            coordinates(&p, bad, q1);
            CHECK(memcmp(q0, q1, sizeof q0) == 0);
            CHECK_OK(p.context, hn_simulation_save(bad, after, size));
            CHECK(memcmp(before, after, size) == 0);
        }
        // and what is left can be carried on with elsewhere
        CHECK_OK(p.context, hn_simulation_restore(good, after, size));
        CHECK_OK(p.context, hn_simulation_step(good, 5));
        free(before);
        free(after);
        hn_simulation_destroy(good);
        hn_simulation_destroy(bad);
        destroy(&p);
    }
}

// Numbers that overflow inside a step never reach the state.
TEST(unreachable, infinities_stay_outside_the_state)
{
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
            pendulum p = make_pendulum(1e200);
            hn_simulation_def def = options((hn_scheme)scheme, (hn_reduction)way, 1.0);
            hn_simulation *simulation = NULL;
            // with a ledger the start has no finite energy
            CHECK_STATUS(p.context, hn_simulation_create(p.model, &def, &simulation),
                         HN_NOT_FINITE);
            def.ledger = false;
            CHECK_OK(p.context, hn_simulation_create(p.model, &def, &simulation));
            double before[COORDINATES], after[COORDINATES];
            coordinates(&p, simulation, before);
            hn_status status = hn_simulation_step(simulation, 1);
            CHECK(status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM);
            coordinates(&p, simulation, after);
            CHECK(memcmp(before, after, sizeof before) == 0);
            hn_simulation_destroy(simulation);
            destroy(&p);
        }
}

TEST(definitions, that_make_no_sense_are_refused)
{
    pendulum p = make_pendulum(0.0);
    hn_simulation *simulation = NULL;
    const double bad_steps[4] = {0.0, -0.1, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; ++i) {
        hn_simulation_def def =
            options(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, bad_steps[i]);
        CHECK_STATUS(p.context, hn_simulation_create(p.model, &def, &simulation),
                     HN_INVALID_ARGUMENT);
        CHECK_CONTAINS(hn_context_message(p.context), "step size");
        CHECK(simulation == NULL);
    }
    hn_simulation_def good = options(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01),
                      def = good;
    def.scheme = (hn_scheme)HN_SCHEME_COUNT;
    CHECK_STATUS(p.context, hn_simulation_create(p.model, &def, &simulation), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(p.context), "scheme");
    def = good;
    def.reduction = (hn_reduction)-1;
    CHECK_STATUS(p.context, hn_simulation_create(p.model, &def, &simulation), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(p.context), "reduction");
    for (int i = 0; i < 6; ++i) {
        def = good;
        if (i == 0) def.increment_tolerance = 0.0;
        if (i == 1) def.residual_tolerance = -1.0;
        if (i == 2) def.iterations_max = 0;
        if (i == 3) def.halvings_max = -1;
        if (i == 4) def.start_tolerance = -1.0;
        if (i == 5) def.increment_tolerance = (double)NAN;
        CHECK_STATUS(p.context, hn_simulation_create(p.model, &def, &simulation),
                     HN_INVALID_ARGUMENT);
        CHECK(simulation == NULL);
    }
    // questions with the wrong size or about nothing
    CHECK_OK(p.context, hn_simulation_create(p.model, &good, &simulation));
    double q[COORDINATES];
    CHECK_STATUS(p.context, hn_simulation_coordinates(simulation, q, COORDINATES - 1),
                 HN_INVALID_ARGUMENT);
    hn_body_state body;
    hn_joint_state joint;
    CHECK_STATUS(p.context, hn_simulation_body_state(simulation, (hn_body_id){.index1 = 9}, &body),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(p.context, hn_simulation_body_state(simulation, hn_ground(), &body),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(p.context, hn_simulation_joint_state(simulation, (hn_joint_id){0}, &joint),
                 HN_INVALID_ARGUMENT);
    hn_simulation_destroy(simulation);
    hn_simulation_destroy(NULL);

    hn_model *empty = NULL;
    hn_model_def world = hn_model_def_default();
    CHECK_OK(p.context, hn_model_create(p.context, &world, &empty));
    CHECK_STATUS(p.context, hn_simulation_create(empty, &good, &simulation), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(p.context), "no bodies");
    hn_model_destroy(empty);
    destroy(&p);
}

// ---- what gave up, and what halving may cost ----------------------------------------------------------------

// An effort that is another one by 1e-3 N m whenever it is asked for: below what Newton's method sees in a short step,
// far above what a motion is held to.
static double restless(const hn_law_step *step, double *slope, void *user)
{
    (void)step;
    int *count = user;
    *slope = 0.0;
    return 1e-3 * sin(12.9898 * ++*count);
}

TEST(step_failures, names_the_drive_whose_effort_is_not_found)
{
    pendulum p = make_pendulum(0.0);
    int count = 0;
    hn_drive_id id;
    hn_drive_def motion = hn_drive_def_default(HN_DRIVE_MOTION);
    motion.name = "lead";
    motion.joint = hn_model_joint(p.model, 0);
    motion.function = (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = "sin(t)^2"};
    CHECK_OK(p.context, hn_model_add_drive(p.model, &motion, &id));
    hn_drive_def effort = hn_drive_def_default(HN_DRIVE_EFFORT);
    effort.joint = hn_model_joint(p.model, 1);
    effort.law = restless;
    effort.law_user = &count;
    CHECK_OK(p.context, hn_model_add_drive(p.model, &effort, &id));
    hn_simulation_def def = options(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
    hn_simulation *s = NULL;
    CHECK_OK(p.context, hn_simulation_create(p.model, &def, &s));
    CHECK(hn_simulation_step(s, 10) == HN_NOT_CONVERGED);
    const char *message = hn_context_message(p.context);
    CHECK_CONTAINS(message,
                   "the effort with which drive 'lead' holds its coordinate was not found");
    CHECK(strstr(message, "finite numbers") ==
          NULL); // as it said of all that is not Newton's method
    CHECK(strstr(message, "start values and loads") == NULL);
    hn_simulation_destroy(s);
    destroy(&p);
}

// A hanging chain of ten rods, let go from level.
static hn_model *make_chain(hn_context *context)
{
    char text[4096] = "holonom: 1\ngravity: [0, 0, -9.81]\nbodies:\n";
    size_t used = strlen(text);
    hn_model *model = NULL;
    for (int i = 0; i < 10; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "  b%d: {shape: {box: {size: [0.1, 0.1]}}, mass: 1, between: [[%d, 0, "
                             "0], [%d, 0, 0]]}\n",
                             i, i, i + 1);
    used += (size_t)snprintf(text + used, sizeof text - used, "joints:\n");
    for (int i = 0; i < 10; ++i)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "  j%d: {revolute: {bodies: [%s%.*s, b%d], at: [%d, 0, 0], axis: y}}\n", i,
            i == 0 ? "ground" : "b", i == 0 ? 0 : 1, &"0123456789"[i == 0 ? 0 : i - 1], i, i);
    CHECK_OK(context, hn_model_parse(context, text, used, "chain", &model));
    return model;
}

// Half a period of the fastest rods and more in a step: halves of halves took 160 iterations a step, for ever.
TEST(step_failures, halving_has_a_price)
{
    enum { STEPS = 500, RIGHT = 30 };
    hn_context *context = hn_context_create(NULL);
    hn_model *model = make_chain(context);
    hn_simulation_def def = options(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.3);
    hn_simulation *s = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &s));
    CHECK(hn_simulation_step(s, STEPS) == HN_NOT_CONVERGED);
    CHECK_CONTAINS(hn_context_message(context), "is far too long for the motion");
    CHECK_CONTAINS(hn_context_message(context), "take a smaller one");
    int64_t done = hn_simulation_step_count(s);
    CHECK(done > 10 && done < STEPS);
    // what is owed stays owed, and the state is the last good one
    CHECK(hn_simulation_step(s, 1) == HN_NOT_CONVERGED);
    CHECK(hn_simulation_step_count(s) == done);
    hn_simulation_destroy(s);
    // a step of the right size goes all the way
    def.step_size /= RIGHT;
    CHECK_OK(context, hn_simulation_create(model, &def, &s));
    CHECK_OK(context, hn_simulation_step(s, RIGHT * done));
    // chains whip: how often depends on round-off
    CHECK(hn_simulation_statistics(s).halved_step_count < RIGHT * done / 100);
    hn_simulation_destroy(s);
    hn_model_destroy(model);
    hn_context_destroy(context);
}
