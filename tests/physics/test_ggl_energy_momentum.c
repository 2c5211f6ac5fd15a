// SPDX-License-Identifier: MIT
// Energy-momentum on the tangent bundle: both constraint levels, energy and momenta at every node, order two and the
// way back on loops with redundant constraints, reactions that do not alternate.
#include "physics/run.h"

static const hn_scheme SCHEME = HN_SCHEME_GGL_ENERGY_MOMENTUM;

// Worst of all steps; the velocity level relative to the fastest body and its own rows, as the report has it.
typedef struct worst_of_run {
    double energy, momentum, joints, level, plain_level;
} worst_of_run;

static double level_of(const run *r)
{
    hn_constraint_state state;
    CHECK_OK(r->context, hn_simulation_constraints(r->sim, &state));
    return state.hidden_momentum;
}

static worst_of_run run_through(const char *model, hn_reduction way, double h, int steps)
{
    worst_of_run w = {0};
    run r = run_model(model, SCHEME, way, h, true);
    run plain = run_model(model, HN_SCHEME_ENERGY_MOMENTUM, way, h, false);
    for (int n = 0; n < steps; ++n) {
        run_step(&r, 1);
        run_step(&plain, 1);
        w.level = fmax(w.level, level_of(&r));
        w.plain_level = fmax(w.plain_level, level_of(&plain));
    }
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    w.energy = ledger.entry[HN_PROMISE_ENERGY].error;
    for (int p = HN_PROMISE_LINEAR_MOMENTUM; p <= HN_PROMISE_ANGULAR_MOMENTUM; ++p)
        if (ledger.entry[p].conserved) w.momentum = fmax(w.momentum, ledger.entry[p].error);
    w.joints = ledger.entry[HN_PROMISE_JOINTS].error;
    CHECK(ledger.entry[HN_PROMISE_ENERGY].conserved);
    run_end(&r);
    run_end(&plain);
    print_message("%s, %s: energy %.1e, momenta %.1e, joints %.1e, level %.1e (plain %.1e)\n",
                  model, hn_reduction_name(way), w.energy, w.momentum, w.joints, w.level,
                  w.plain_level);
    return w;
}

// Trees of all joints, springs, a driven loop, loops with redundant rows, a beam. `energy-momentum` shows that the
// level is one that a scheme can miss.
TEST(ggl_energy_momentum, keeps_energy_momenta_and_both_constraint_levels)
{
    static const struct {
        const char *model;
        double h;
        int steps;
    } CASES[] = {{"pendulum", 0.0, 200},         {"nutating-top", 0.0, 200},
                 {"cylindrical-pair", 0.0, 200}, {"planar-pair", 0.0, 200},
                 {"prismatic-pair", 0.0, 200},   {"chain-revolute", 0.0, 200},
                 {"free-tree", 0.0, 100},        {"planar-spring", 0.0, 200},
                 {"quadrangle", 0.002, 100},     {"six-body-linkage", 0.0, 100},
                 {"bricard", 0.0, 100},          {"four-bar", 0.0, 100},
                 {"flying-beam", 0.0, 40}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        worst_of_run w =
            run_through(CASES[i].model, HN_REDUCTION_REDUCED, CASES[i].h, CASES[i].steps);
        CHECK_BELOW(w.energy, 1e-12);   // relative; measured 5e-14
        CHECK_BELOW(w.momentum, 1e-12); // relative; measured 4e-14
        CHECK_BELOW(w.joints, 1e-13);   // m; measured 2e-15
        CHECK_BELOW(w.level, 1e-12);    // m/s; measured 2e-13
        CHECK(w.plain_level > 1e-7);    // measured 2e-6 and more
    }
}

TEST(ggl_energy_momentum, other_reductions_give_the_same_motion)
{
    static const char *const MODELS[] = {"chain-spherical", "four-bar", "planar-spring"};
    for (int i = 0; i < 3; ++i) {
        run a = run_model(MODELS[i], SCHEME, HN_REDUCTION_REDUCED, 0.0, false);
        run_step(&a, 60);
        for (int k = 1; k < HN_REDUCTION_COUNT; ++k) {
            run b = run_model(MODELS[i], SCHEME, REDUCTIONS[k], 0.0, false);
            run_step(&b, 60);
            print_message("%s, %s: %.2g\n", MODELS[i], hn_reduction_name(REDUCTIONS[k]),
                          run_difference(&a, &b));
            CHECK_BELOW(run_difference(&a, &b), 1e-12); // measured 4e-14
            run_end(&b);
        }
        run_end(&a);
    }
}

// Redundant rows: order against `projected-rk` with narrow tolerances, which knows nothing of the choice of rows.
TEST(ggl_energy_momentum, is_of_second_order_on_loops_with_redundant_rows)
{
    static const struct {
        const char *model;
        double time;
        int steps;
    } CASES[] = {{"six-body-linkage", 0.2, 200}, {"bricard", 2.0, 100}, {"four-bar", 0.2, 100}};
    for (int i = 0; i < 3; ++i) {
        char path[1024];
        run exact = {.context = hn_context_create(NULL)};
        snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, CASES[i].model);
        CHECK_OK(exact.context, hn_model_load(exact.context, path, &exact.model));
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_PROJECTED_RK;
        def.step_size = CASES[i].time;
        def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-12;
        def.ledger = false;
        CHECK_OK(exact.context, hn_simulation_create(exact.model, &def, &exact.sim));
        exact.coordinate_count = hn_simulation_structure(exact.sim).coordinate_count;
        run_step(&exact, 1);
        double last = 0.0;
        for (int k = 0; k < 3; ++k) {
            int steps = CASES[i].steps << k;
            run r = run_model(CASES[i].model, SCHEME, HN_REDUCTION_REDUCED, CASES[i].time / steps,
                              false);
            run_step(&r, steps);
            double error = run_difference(&r, &exact);
            print_message("%s, %d steps: %.3g, order %.3f\n", CASES[i].model, steps, error,
                          k > 0 ? log2(last / error) : 0.0);
            if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.99 to 2.01
            last = error;
            run_end(&r);
        }
        run_end(&exact);
    }
}

// How far from the start, in coordinates, after a way there and back.
static double way_back(const char *model, int steps)
{
    run r = run_model(model, SCHEME, HN_REDUCTION_REDUCED, 0.0, false);
    double start[RUN_COORDINATES_MAX], end[RUN_COORDINATES_MAX];
    run_coordinates(&r, start);
    run_step(&r, steps);
    run_coordinates(&r, end);
    CHECK(largest_difference(start, end, r.coordinate_count) > 1e-4); // it went somewhere
    CHECK_OK(r.context, hn_simulation_reverse(r.sim));
    run_step(&r, steps);
    run_coordinates(&r, end);
    double off = largest_difference(start, end, r.coordinate_count);
    print_message("%s: %.2g\n", model, off);
    run_end(&r);
    return off;
}

TEST(ggl_energy_momentum, finds_the_way_back_on_loops_with_redundant_rows)
{
    static const char *const MODELS[] = {"six-body-linkage", "bricard", "four-bar", "bennett",
                                         "rssr"};
    for (int i = 0; i < 5; ++i)
        CHECK_BELOW(way_back(MODELS[i], 200), 1e-11); // measured 1e-13 (linkage)
}

// Second difference of the reaction at the first joint over the last three steps, relative: small where a reaction is a
// smooth function of time, four times the amplitude where it alternates.
static double roughness(const char *model, hn_scheme scheme, double h)
{
    run r = run_model(model, scheme, HN_REDUCTION_REDUCED, h, false);
    hn_vec3 force[3];
    run_step(&r, llround(0.05 / h));
    for (int k = 0; k < 3; ++k) {
        hn_joint_state state;
        run_step(&r, 1);
        CHECK_OK(r.context, hn_simulation_joint_state(r.sim, hn_model_joint(r.model, 0), &state));
        force[k] = state.reaction_force;
    }
    run_end(&r);
    hn_vec3 second = vec3_add(vec3_add_scaled(force[0], -2.0, force[1]), force[2]);
    return vec3_norm(second) / vec3_norm(force[1]);
}

// Halved steps divide it by four where it is smooth, by two where it alternates by O(h).
TEST(ggl_energy_momentum, reactions_do_not_alternate)
{
    static const char *const MODELS[] = {"nutating-top", "gyro-top"};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) {
            hn_scheme scheme = k == 0 ? SCHEME : HN_SCHEME_ENERGY_MOMENTUM;
            double coarse = roughness(MODELS[i], scheme, 0.001),
                   fine = roughness(MODELS[i], scheme, 0.0005);
            print_message("%s, %s: %.2e, %.2e\n", MODELS[i], hn_scheme_name(scheme), coarse, fine);
            if (k == 0) CHECK_NEAR(coarse / fine, 4.0, 0.1); // measured 4.00
            else CHECK_NEAR(coarse / fine, 2.0, 0.1);        // measured 1.97
        }
}

// In long steps each sweep over both levels may leave more than half of the difference before: they go on all the same.
TEST(ggl_energy_momentum, sweeps_that_gain_little_are_not_ended)
{
    run r =
        run_model("planar-pair", HN_SCHEME_GGL_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.1, true);
    hn_ledger ledger;
    run_step(&r, 60);
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    CHECK(ledger.entry[HN_PROMISE_ENERGY].conserved);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // measured 4.5e-13; 6.0e-12 before
    run_end(&r);
}
