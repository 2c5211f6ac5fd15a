// SPDX-License-Identifier: MIT
// Orders above two in use: what is refused and why, snapshots, batches, steps that fail, angles that count turns,
// energy bands, the estimate of accuracy, no memory taken in a step.
#include "physics/composed_run.h"
#include "support/malloc_counter.h"

// ---- refused ------------------------------------------------------------------------------------------------

static void check_refused(const char *model, hn_scheme scheme, int order, double h,
                          hn_status status, const char *words)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *loaded = NULL;
    hn_simulation *sim = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model);
    if (strchr(model, '\n') != NULL)
        CHECK_OK(context, hn_model_parse(context, model, strlen(model), "model", &loaded));
    else CHECK_OK(context, hn_model_load(context, path, &loaded));
    hn_simulation_def def = composed_def(scheme, order, h, false);
    CHECK_STATUS(context, hn_simulation_create(loaded, &def, &sim), status);
    print_message("%s\n", hn_context_message(context));
    CHECK_CONTAINS(hn_context_message(context), words);
    CHECK(sim == NULL);
    // order two takes it, where the scheme is one that can be composed
    if (status == HN_INVALID_MODEL && scheme != HN_SCHEME_GGL_ENERGY_MOMENTUM) {
        def.order = 2;
        CHECK_OK(context, hn_simulation_create(loaded, &def, &sim));
    }
    hn_simulation_destroy(sim);
    hn_model_destroy(loaded);
    hn_context_destroy(context);
}

#define SWING(loads)                                                                               \
    "holonom: 1\n"                                                                                 \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "bodies:\n"                                                                                    \
    "  bar: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 3, position: [0.5, 0, 0]}\n"               \
    "joints:\n"                                                                                    \
    "  pin: {revolute: {bodies: [ground, bar], at: [0, 0, 0], axis: y}}\n" loads

TEST(composition_use, refuses_by_name_what_has_no_way_back_in_time)
{
    const hn_status MODEL = HN_INVALID_MODEL, ARGUMENT = HN_INVALID_ARGUMENT;
    const hn_scheme V = HN_SCHEME_VARIATIONAL, G = HN_SCHEME_GGL_ENERGY_MOMENTUM;
    check_refused(
        SWING("drives:\n  grip: {friction: {joint: pin, effort: 1}}\n"), V, 4, 0.01, MODEL,
        "drive 'grip': scheme 'variational' of order 4 makes substeps back in time, which "
        "dry friction would drive");
    check_refused(SWING("drives:\n  wall: {stop: {joint: pin, upper: 1, stiffness: 1e4}}\n"),
                  HN_SCHEME_RATTLE, 6, 0.01, MODEL, "drive 'wall': scheme 'rattle' of order 6");
    check_refused(SWING("drives:\n  hook: {latch: {joint: pin, value: 1}}\n"), V, 8, 0.01, MODEL,
                  "drive 'hook'");
    check_refused(SWING("loads:\n  brake: {torsion_spring: {joint: pin, damping: 20}}\n"), V, 4,
                  0.01, MODEL, "damper 'brake': h c/m = 0.2;");
    check_refused(SWING("loads:\n  brake: {torsion_spring: {joint: pin, damping: 20}}\n"), G, 4,
                  0.01, MODEL, "a step below 0.00");
    check_refused(SWING("drives:\n  arm: {servo: {joint: pin, target: sin(t), proportional: 9, "
                        "integral: 2}}\n"),
                  V, 8, 0.01, MODEL, "drive 'arm': the integral gain of a servo whose target");
    check_refused("pendulum", HN_SCHEME_ENERGY_DECAYING, 4, 0.01, ARGUMENT,
                  "scheme 'energy-decaying' has order 2 alone: it loses energy");
    check_refused("pendulum", HN_SCHEME_ENERGY_MOMENTUM, 6, 0.01, ARGUMENT,
                  "ggl-energy-momentum keeps the same on both constraint levels");
    check_refused("pendulum", HN_SCHEME_CONVECTED, 4, 0.01, ARGUMENT, "order 2 alone");
    check_refused("pendulum", HN_SCHEME_GENERALIZED_ALPHA, 4, 0.01, ARGUMENT, "order 2 alone");
    check_refused("pendulum", HN_SCHEME_GGL_VARIATIONAL, 2, 0.01, ARGUMENT, "order 1 alone");
    check_refused("pendulum", HN_SCHEME_GGL_CLASSICAL, 2, 0.01, ARGUMENT, "order 1 alone");
    check_refused("pendulum", HN_SCHEME_PROJECTED_RK, 4, 0.01, ARGUMENT, "order 8 besides");
    check_refused("pendulum", G, 5, 0.01, ARGUMENT, "order is 5; expected 2, 4, 6 or 8");
}

// Where both halves of a step have one target: observed at order 8 with steps of 0.1 and 0.05 s.
TEST(composition_use, integrals_of_servos_have_the_order)
{
    static const struct {
        hn_scheme scheme;
        const char *target;
    } cases[] = {{HN_SCHEME_GGL_ENERGY_MOMENTUM, "0.5*sin(2*t)"},
                 {HN_SCHEME_VARIATIONAL, "0.5"},
                 {HN_SCHEME_RATTLE, "0.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[2000];
        double end[3] = {0.0};
        snprintf(text, sizeof text,
                 "%s  arm: {servo: {joint: pin, target: %s, proportional: 30, integral: 20}}\n",
                 SWING("drives:\n"), cases[i].target);
        for (int k = 0; k < 3; ++k) {
            hn_simulation_def def = composed_def(cases[i].scheme, 8, 0.1 / (1 << k), false);
            run r = composed_run(text, &def);
            run_step(&r, 10 << k);
            hn_drive_state state;
            CHECK_OK(r.context, hn_simulation_drive(r.sim, 0, &state));
            end[k] = state.coordinate;
            run_end(&r);
        }
        double order = log2(fabs(end[0] - end[1]) / fabs(end[1] - end[2]));
        CHECK_NEAR(order, 8.0, 1.5); // measured 7.93, 8.57, 8.57
    }
}

// The model's order belongs to the model's scheme.
TEST(composition_use, takes_the_order_of_the_model_file)
{
    const char *text = SWING("run: {scheme: rattle, step: 0.01, order: 6}\n");
    hn_simulation_def def = composed_def(HN_SCHEME_RATTLE, 0, 0.01, false);
    run r = composed_run(text, &def);
    CHECK_EQUAL(r.sim->def.order, 6);
    run_end(&r);
    def.scheme = HN_SCHEME_ENERGY_MOMENTUM;
    r = composed_run(text, &def);
    CHECK_EQUAL(r.sim->def.order, 0); // its own
    run_end(&r);
}

// ---- states ---------------------------------------------------------------------------------------------------

TEST(composition_use, goes_on_from_a_snapshot_bit_for_bit)
{
    static const char *const MODELS[] = {"chain-revolute", "six-body-linkage"};
    for (int i = 0; i < 2; ++i)
        for (int s = 0; s < COMPOSED_SCHEMES; ++s)
            for (int k = 0; k < ORDERS; ++k) {
                hn_simulation_def def = composed_def(COMPOSED[s], ORDER[k], 0.005, true);
                run one = composed_run(MODELS[i], &def), other = composed_run(MODELS[i], &def);
                size_t size = hn_simulation_snapshot_size(one.sim);
                char *snapshot = calloc(1, size), *end = calloc(1, size);
                run_step(&one, 6);
                CHECK_OK(one.context, hn_simulation_save(one.sim, snapshot, size));
                run_step(&one, 5);
                CHECK_OK(other.context, hn_simulation_restore(other.sim, snapshot, size));
                run_step(&other, 5);
                CHECK_OK(one.context, hn_simulation_save(one.sim, snapshot, size));
                CHECK_OK(other.context, hn_simulation_save(other.sim, end, size));
                CHECK(memcmp(snapshot, end, size) == 0);
                // a snapshot of another order is none of these
                def.order = ORDER[(k + 1) % ORDERS];
                run_end(&other);
                other = composed_run(MODELS[i], &def);
                CHECK_STATUS(other.context, hn_simulation_restore(other.sim, snapshot, size),
                             HN_INVALID_ARGUMENT);
                free(snapshot);
                free(end);
                run_end(&one);
                run_end(&other);
            }
}

TEST(composition_use, batches_are_bit_for_bit_simulations)
{
    for (int s = 0; s < COMPOSED_SCHEMES; ++s) {
        hn_simulation_def def = composed_def(COMPOSED[s], 6, 0.005, false);
        run r = composed_run("four-bar", &def);
        hn_batch_def many = hn_batch_def_default();
        hn_batch *batch = NULL;
        many.simulation = def;
        many.member_count = 3;
        many.thread_count = 2;
        CHECK_OK(r.context, hn_batch_create(r.context, r.model, &many, &batch));
        run_step(&r, 4);
        CHECK_OK(r.context, hn_batch_step(batch, 2));
        CHECK_OK(r.context, hn_batch_step(batch, 2));
        size_t size = hn_simulation_snapshot_size(r.sim);
        char *one = calloc(1, size), *other = calloc(1, size);
        CHECK_OK(r.context, hn_simulation_save(r.sim, one, size));
        for (int m = 0; m < 3; ++m) {
            CHECK_OK(r.context, hn_batch_save(batch, m, other, size));
            CHECK(memcmp(one, other, size) == 0);
        }
        free(one);
        free(other);
        hn_batch_destroy(batch);
        run_end(&r);
    }
}

TEST(composition_use, takes_no_memory_in_a_step)
{
    for (int s = 0; s < COMPOSED_SCHEMES; ++s) {
        hn_simulation_def def = composed_def(COMPOSED[s], 4, 0.005, true);
        run r = composed_run("six-body-linkage", &def);
        run_step(&r, 3);
        int64_t before = malloc_counter_allocations();
        hn_status status = hn_simulation_step(r.sim, 3);
        int64_t taken = malloc_counter_allocations() - before;
        CHECK_OK(r.context, status);
        if (malloc_counter_works()) CHECK_EQUAL(taken, 0);
        run_end(&r);
    }
}

// ---- steps that fail ------------------------------------------------------------------------------------------

// A wheel that turns by h w = 48 rad in a step, more than a substep can: `ggl-energy-momentum` makes it in parts, with
// exact energy; `variational` and `rattle` end there, in the state before.
TEST(composition_use, makes_a_step_that_fails_in_parts_or_leaves_the_state)
{
    const char *text =
        "holonom: 1\n"
        "bodies: {wheel: {shape: {cylinder: {radius: 0.5, height: 0.1}}, mass: 2, "
        "position: [0, 0, 0]}}\n"
        "joints: {axle: {revolute: {bodies: [ground, wheel], at: [0, 0, 0], axis: z}}}\n"
        "start: {axle: {rates: [1200]}}\n";
    for (int s = 0; s < COMPOSED_SCHEMES; ++s) {
        hn_simulation_def def = composed_def(COMPOSED[s], 4, 0.04, true);
        run r = composed_run(text, &def);
        double start[RUN_COORDINATES_MAX], end[RUN_COORDINATES_MAX];
        run_coordinates(&r, start);
        hn_status status = hn_simulation_step(r.sim, 3);
        run_coordinates(&r, end);
        if (s == 0) {
            hn_ledger ledger;
            CHECK_OK(r.context, status);
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 3);
            CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // measured 1.7e-13
        } else {
            CHECK(status == HN_NOT_CONVERGED);
            print_message("%s\n", hn_context_message(r.context));
            CHECK_CONTAINS(hn_context_message(r.context), "h|omega|");
            CHECK_EQUAL(hn_simulation_step_count(r.sim), 0);
            CHECK_BELOW(largest_difference(start, end, r.coordinate_count), 1e-300);
        }
        run_end(&r);
    }
}

// ---- angles, energy, accuracy -----------------------------------------------------------------------------------

// A pendulum that goes round: substeps back in time count turns like the others.
TEST(composition_use, counts_turns_through_substeps_back_in_time)
{
    const char *text = SWING("loads:\n  coil: {torsion_spring: {joint: pin, stiffness: 0.3}}\n"
                             "start: {pin: {rates: [20]}}\n");
    for (int s = 0; s < COMPOSED_SCHEMES; ++s)
        for (int k = 0; k < ORDERS; ++k) {
            hn_simulation_def def = composed_def(COMPOSED[s], ORDER[k], 0.02, false);
            hn_simulation_def fine = composed_def(HN_SCHEME_ENERGY_MOMENTUM, 0, 0.0005, false);
            run r = composed_run(text, &def), exact = composed_run(text, &fine);
            run_step(&r, 200);
            run_step(&exact, 8000);
            hn_joint_state a, b;
            CHECK_OK(r.context, hn_simulation_joint_state(r.sim, hn_model_joint(r.model, 0), &a));
            CHECK_OK(exact.context,
                     hn_simulation_joint_state(exact.sim, hn_model_joint(exact.model, 0), &b));
            print_message("%s %d: %.9g rad, %.9g\n", hn_scheme_name(COMPOSED[s]), ORDER[k],
                          a.coordinates[0], b.coordinates[0]);
            CHECK(fabs(b.coordinates[0]) > 20.0);                 // turns
            CHECK_NEAR(a.coordinates[0], b.coordinates[0], 0.01); // measured 0.0023, the fine one
            run_end(&r);
            run_end(&exact);
        }
}

// Energy of the symplectic schemes swings in a band that shrinks with the order of the step.
TEST(composition_use, energy_of_the_symplectic_ones_swings_in_a_band_of_its_order)
{
    for (int s = 1; s < COMPOSED_SCHEMES; ++s)
        for (int k = 0; k < ORDERS; ++k) {
            double band[2];
            for (int half = 0; half < 2; ++half) {
                double h = half == 0 ? 0.1 : 0.05;
                hn_simulation_def def = composed_def(COMPOSED[s], ORDER[k], h, true);
                run r = composed_run("pendulum", &def);
                run_step(&r, llround(20.0 / h));
                hn_ledger ledger;
                CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
                band[half] = ledger.entry[HN_PROMISE_ENERGY].error;
                run_end(&r);
            }
            double order = log2(band[0] / band[1]);
            print_message("%s %d: %.3g, %.3g: order %.2f\n", hn_scheme_name(COMPOSED[s]), ORDER[k],
                          band[0], band[1], order);
            CHECK_NEAR(order, ORDER[k], 0.25); // measured 4.07, 6.10, 8.12
        }
}

// The same with the work of a load and a damper: the balance is off by an error of the order.
TEST(composition_use, energy_balance_of_loads_and_dampers_is_of_the_order)
{
    const char *text =
        SWING("loads:\n"
              "  push: {torque: {body: bar, vector: [0, 4, 0], factor: 'sin(3*t)'}}\n"
              "  brake: {torsion_spring: {joint: pin, stiffness: 2, damping: 0.3}}\n");
    for (int s = 0; s < COMPOSED_SCHEMES; ++s)
        for (int k = 0; k < ORDERS; ++k) {
            double off[2];
            for (int half = 0; half < 2; ++half) {
                double h = half == 0 ? 0.1 : 0.05;
                hn_simulation_def def = composed_def(COMPOSED[s], ORDER[k], h, false);
                run r = composed_run(text, &def);
                hn_energy start, end;
                CHECK_OK(r.context, hn_simulation_energy(r.sim, &start));
                run_step(&r, llround(2.0 / h));
                CHECK_OK(r.context, hn_simulation_energy(r.sim, &end));
                off[half] = fabs(end.kinetic + end.potential - end.external_work - start.kinetic -
                                 start.potential);
                run_end(&r);
            }
            double order = log2(off[0] / off[1]);
            print_message("%s %d: %.3g, %.3g J: order %.2f\n", hn_scheme_name(COMPOSED[s]),
                          ORDER[k], off[0], off[1], order);
            if (s == 0) CHECK_BELOW(off[1], 1e-12); // J; measured 8e-14
            else CHECK_NEAR(order, ORDER[k], 0.2);  // measured 4.12, 6.11, 8.06
        }
}

// The ledger's line against the error of a step, from fine steps of the same start.
TEST(composition_use, estimates_the_error_of_a_step)
{
    for (int s = 0; s < COMPOSED_SCHEMES; ++s)
        for (int k = 0; k < ORDERS; ++k) {
            double h = k == 0 ? 0.05 : k == 1 ? 0.1 : 0.15;
            hn_simulation_def def = composed_def(COMPOSED[s], ORDER[k], h, true),
                              fine = composed_def(COMPOSED[s], 8, h / 16.0, false);
            run r = composed_run("chain-revolute", &def),
                exact = composed_run("chain-revolute", &fine);
            run_step(&r, 1);
            run_step(&exact, 16);
            double found = r.sim->accuracy.worst.value[ERROR_POSITION], places = 0.0;
            for (int i = 0; i < hn_model_body_count(r.model); ++i) {
                hn_body_id body = hn_model_body(r.model, i);
                hn_vec3 off =
                    vec3_subtract(run_body(&r, body).position,
                                  run_body(&exact, hn_model_body(exact.model, i)).position);
                places = fmax(places, vec3_norm(off));
            }
            print_message("%s %d: estimated %.3g m, measured %.3g m\n", hn_scheme_name(COMPOSED[s]),
                          ORDER[k], found, places);
            CHECK_BELOW(fabs(found - places), 0.01 * places + 1e-14); // measured 0.1 %
            run_end(&r);
            run_end(&exact);
        }
}

// ---- corners of loads ---------------------------------------------------------------------------------------

// A free body with f from 0 to 100 N and back, with a corner in a step: where it is at the end follows from two
// integrals.
TEST(composition_use, estimates_the_error_that_a_corner_of_a_load_makes)
{
    static const char *const LOADS[] = {"table: {times: [0, 0.503, 1], factors: [0, 100, 0]}",
                                        "factor: '100*min(t/0.503, (1 - t)/0.497)'"};
    const double a = 0.503, top = 100.0;
    // x(1) = int (1 - t) f dt
    const double exact = top * (a / 2.0 - a * a / 3.0) + top * (1.0 - a) * (1.0 - a) / 3.0;
    for (int order = 4; order <= 8; order += 4)
        for (int k = 0; k < 2; ++k) {
            char text[400];
            snprintf(text, sizeof text,
                     "holonom: 1\ngravity: [0, 0, 0]\n"
                     "bodies: {a: {shape: {box: {size: [1, 1, 1]}}, mass: 1}}\n"
                     "loads: {f: {force: {body: a, vector: [1, 0, 0], %s}}}\n",
                     LOADS[k]);
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
            hn_simulation_def def = composed_def(HN_SCHEME_VARIATIONAL, order, 0.05, true);
            run r = {.context = context, .model = model};
            CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
            run_step(&r, 20);
            double x = run_body(&r, hn_model_find_body(model, "a")).position.x;
            hn_ledger ledger;
            CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
            double error = fabs(x - exact), told = ledger.accuracy.position_sum;
            print_message("order %d, %s: error %.3g m, estimated %.3g m, sum %.3g m\n", order,
                          LOADS[k], error, ledger.accuracy.position.value, told);
            CHECK(error > 1e-8 && ledger.accuracy.position.value > 0.1 * error &&
                  ledger.accuracy.position.value < 10.0 * error);
            run_end(&r);
        }
}
