// SPDX-License-Identifier: MIT
// `energy-decaying`: frequencies against the closed form, the energy identity, momenta, order, memory.
#include "physics/run.h"

#include <complex.h>

static const double STEP = 0.01;  // s
static const double SMALL = 1e-6; // m, rad: amplitude of what is to be linear

static hn_model *weightless(hn_context *context)
{
    hn_model_def world = hn_model_def_default();
    hn_model *model = NULL;
    world.gravity = vec3(0.0, 0.0, 0.0);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    return model;
}

static run start(hn_context *context, hn_model *model, double h, double rho)
{
    run r = {.context = context, .model = model};
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_ENERGY_DECAYING;
    def.step_size = h;
    def.energy_decaying.rho = rho;
    def.increment_tolerance = 1e-12; // small amplitudes count too
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    r.coordinate_count = hn_simulation_structure(r.sim).coordinate_count;
    return r;
}

// ---- frequencies ------------------------------------------------------------------------------------

static double strength_of(double rho)
{
    return rho * (1.0 - rho) / ((1.0 + rho) * (1.0 + rho));
}

// (Z7) times z^2: z^2 (z - 1)^2 + x^2 a_alpha a_gamma, lowest power first
static void polynomial(double x, double alpha, double gamma, double *p)
{
    const double square[3] = {1.0, -2.0, 1.0}, sum[3] = {0.0, 1.0, 1.0};
    double a[3], g[3];
    for (int k = 0; k < 3; ++k) {
        a[k] = 0.5 * sum[k] + 0.5 * alpha * square[k];
        g[k] = 0.5 * sum[k] + 0.5 * gamma * square[k];
    }
    for (int k = 0; k < 5; ++k) p[k] = k >= 2 ? square[k - 2] : 0.0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) p[i + k] += x * x * a[i] * g[k];
}

// The largest root by Durand and Kerner
static double spectral_radius(const double *p)
{
    const double parts[2] = {0.0, 1.0};
    double complex z[4], start;
    memcpy(&start, parts, sizeof start); // CMPLX is not everywhere
    double largest = 0.0;
    for (int k = 0; k < 4; ++k) z[k] = cpow(0.4 + 0.9 * start, k);
    for (int sweep = 0; sweep < 500; ++sweep)
        for (int k = 0; k < 4; ++k) {
            double complex value = p[4], others = p[4];
            for (int i = 3; i >= 0; --i) value = value * z[k] + p[i];
            for (int i = 0; i < 4; ++i)
                if (i != k) others *= z[k] - z[i];
            z[k] -= value / others;
        }
    for (int k = 0; k < 4; ++k) largest = fmax(largest, cabs(z[k]));
    return largest;
}

// How well a series obeys the polynomial, relative to its terms, as long as a tenth of it is left; the first step is
// one of energy-momentum.
static double misfit(const double *p, const double *x, int count)
{
    double worst = 0.0, largest = 0.0;
    for (int n = 2; n + 4 < count; ++n) {
        double sum = 0.0, size = 0.0;
        for (int k = 0; k < 5; ++k) {
            sum += p[k] * x[n + k];
            size = fmax(size, fabs(p[k]) * fabs(x[n + k]));
        }
        largest = fmax(largest, size);
        if (size > 0.1 * largest) worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

enum { SERIES = 40 };

// A point mass on a spring
static double spring_misfit(double x, double rho)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = weightless(context);
    hn_body_def bob = hn_body_def_default();
    hn_body_id body;
    hn_load_id id;
    bob.kind = HN_BODY_POINT_MASS;
    bob.mass = 0.1;
    bob.position = vec3(1.0 + SMALL, 0.0, 0.0);
    CHECK_OK(context, hn_model_add_body(model, &bob, &body));
    hn_spring_def rod = hn_spring_def_default();
    rod.body_a = hn_ground();
    rod.body_b = body;
    rod.body_coordinates = true;
    rod.stiffness = bob.mass * x * x / (STEP * STEP);
    rod.rest_length = 1.0;
    CHECK_OK(context, hn_model_add_spring(model, &rod, &id));
    run r = start(context, model, STEP, rho);
    double series[SERIES], p[5];
    for (int n = 0; n < SERIES; ++n) {
        series[n] = run_body(&r, body).position.x - 1.0;
        run_step(&r, 1);
    }
    run_end(&r);
    polynomial(x, strength_of(rho), strength_of(rho), p);
    return misfit(p, series, SERIES);
}

// A rotor on a torsional spring
static double rotor_misfit(double x, double rho)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = weightless(context);
    hn_body_def rotor = hn_body_def_default();
    hn_body_id body;
    hn_joint_id hinge_id;
    hn_load_id id;
    rotor.mass = 2.0;
    rotor.inertia = vec3(0.3, 0.4, 0.5);
    CHECK_OK(context, hn_model_add_body(model, &rotor, &body));
    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.body_a = hn_ground();
    hinge.body_b = body;
    hinge.axis_a = vec3(0.0, 0.0, 1.0);
    CHECK_OK(context, hn_model_add_joint(model, &hinge, &hinge_id));
    hn_torsion_spring_def spring = hn_torsion_spring_def_default();
    spring.joint = hinge_id;
    spring.stiffness = 0.5 * x * x / (STEP * STEP);
    spring.rest_angle = -SMALL;
    CHECK_OK(context, hn_model_add_torsion_spring(model, &spring, &id));
    run r = start(context, model, STEP, rho);
    double series[SERIES], p[5];
    for (int n = 0; n < SERIES; ++n) {
        hn_body_state state = run_body(&r, body);
        series[n] = SMALL + atan2(state.orientation.m[1][0], state.orientation.m[0][0]);
        run_step(&r, 1);
    }
    run_end(&r);
    polynomial(x, strength_of(rho), strength_of(rho), p);
    return misfit(p, series, SERIES);
}

TEST(energy_decaying, oscillators_follow_the_closed_form)
{
    static const double RHO[] = {1.0 / 3.0, 0.5, 0.8, 1.0}, X[] = {0.1, 1.0, 5.0, 20.0, 100.0};
    double spring = 0.0, rotor = 0.0;
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 5; ++k) {
            spring = fmax(spring, spring_misfit(X[k], RHO[i]));
            rotor = fmax(rotor, rotor_misfit(X[k], RHO[i]));
        }
    print_message("spring %.2g, rotor %.2g\n", spring, rotor);
    CHECK_BELOW(spring, 1e-5); // measured 3.8e-6: the amplitude is 1e-6
    CHECK_BELOW(rotor, 1e-6);  // measured 2.2e-8
}

// The table of the note, and rho itself at infinite frequency.
TEST(energy_decaying, the_spectral_radius_is_that_of_the_note)
{
    static const double X[] = {0.01, 0.1, 1.0, 10.0}, LOST[] = {3.1e-10, 3.1e-6, 1.6e-2, 0.41};
    double p[5];
    for (int k = 0; k < 4; ++k) {
        polynomial(X[k], 0.125, 0.125, p);
        CHECK_NEAR((1.0 - spectral_radius(p)) / LOST[k], 1.0, 0.04);
    }
    for (double rho = 0.4; rho < 0.95; rho += 0.1) {
        polynomial(1e6, strength_of(rho), strength_of(rho), p);
        CHECK_NEAR(spectral_radius(p), rho, 1e-5);
    }
}

// Axial vibration of a free bar of linear elements in its k-th shape cos(theta j), theta = k pi/N.
TEST(energy_decaying, modes_of_a_bar_follow_the_closed_form)
{
    enum { ELEMENTS = 8 };
    const double length = 0.8, l = length / ELEMENTS, mass = 2.0, axial = 5e6, alpha = 0.125;
    for (int mode = 1; mode <= ELEMENTS; ++mode) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = weightless(context);
        hn_beam_def bar = hn_beam_def_default();
        hn_beam_id id;
        const hn_vec3 ends[2] = {vec3(0.0, 0.0, 0.0), vec3(length, 0.0, 0.0)};
        bar.name = "bar";
        bar.points = ends;
        bar.point_count = 2;
        bar.element_count = ELEMENTS;
        bar.section.mass = mass;
        bar.section.inertia[0] = bar.section.inertia[1] = 1e-4;
        for (int k = 0; k < 6; ++k)
            bar.section.stiffness[k][k] = k < 2 ? 2e6 : k == 2 ? axial : 300.0;
        CHECK_OK(context, hn_model_add_beam(model, &bar, &id));
        double theta = mode * acos(-1.0) / ELEMENTS, c = cos(theta);
        double omega = sqrt(6.0 * axial * (1.0 - c) / (mass * l * l * (2.0 + c)));
        double edge = sqrt(12.0 * axial / (mass * l * l));
        for (int k = 0; k <= ELEMENTS; ++k)
            CHECK_OK(context,
                     hn_model_set_velocity(model, hn_model_beam_node(model, id, k),
                                           vec3(SMALL * omega * cos(theta * k), 0.0, 0.0)));
        run r = start(context, model, 30.0 / edge, 1.0 / 3.0);
        double x = 30.0 / edge * omega, series[SERIES], p[5];
        for (int n = 0; n < SERIES; ++n) {
            series[n] = run_body(&r, hn_model_beam_node(model, id, ELEMENTS)).position.x - length;
            run_step(&r, 1);
        }
        run_end(&r);
        polynomial(x, alpha, alpha * omega * omega / (edge * edge), p);
        double off = misfit(p, series, SERIES);
        print_message("mode %d: h omega %.3g, radius %.4f, misfit %.2g\n", mode, x,
                      spectral_radius(p), off);
        CHECK_BELOW(off, 1e-7); // measured 8e-9
    }
}

// ---- energy, momenta, order -------------------------------------------------------------------------

static double total_energy(const run *r)
{
    hn_energy energy;
    CHECK_OK(r->context, hn_simulation_energy(r->sim, &energy));
    return energy.kinetic + energy.potential;
}

TEST(energy_decaying, a_flying_beam_keeps_momenta_and_loses_by_the_identity)
{
    double end[HN_REDUCTION_COUNT][RUN_COORDINATES_MAX];
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        run r = run_model("flying-beam", HN_SCHEME_ENERGY_DECAYING, REDUCTIONS[k], 0.01, true);
        hn_ledger ledger;
        double before = total_energy(&r);
        run_step(&r, 200);
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        print_message("%s: energy %.2g, momenta %.2g, %.2g, constraints %.2g, lost %.3g J\n",
                      hn_reduction_name(REDUCTIONS[k]), ledger.entry[HN_PROMISE_ENERGY].error,
                      ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error,
                      ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error,
                      ledger.entry[HN_PROMISE_CONSTRAINTS].error, ledger.energy_lost);
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-11);
        CHECK_BELOW(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error, 1e-12);
        CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 1e-12);
        CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-13);
        CHECK(ledger.energy_decays && ledger.energy_dissipated > 0.0);
        // nothing acts from outside: what was lost is what is missing
        double off = fabs(before - total_energy(&r) - ledger.energy_lost) / ledger.energy_scale;
        CHECK_BELOW(off, 1e-12); // measured 3.0e-14
        CHECK(fabs(ledger.energy_lost - ledger.energy_dissipated) > 1e-9 * ledger.energy_scale);
        run_coordinates(&r, end[k]);
        for (int i = 0; i < r.coordinate_count; ++i) CHECK_NEAR(end[k][i], end[0][i], 1e-9);
        run_end(&r);
    }
}

// Largest difference of coordinates at `end` between steps h and h/2
static double difference(const char *model, double end, double h)
{
    double q[2][RUN_COORDINATES_MAX], worst = 0.0;
    int count = 0;
    for (int k = 0; k < 2; ++k) {
        double step = h / (1 + k);
        run r = run_model(model, HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED, step, false);
        run_step(&r, llround(end / step));
        run_coordinates(&r, q[k]);
        count = r.coordinate_count;
        run_end(&r);
    }
    for (int i = 0; i < count; ++i) worst = fmax(worst, fabs(q[0][i] - q[1][i]));
    return worst;
}

// The spring is smooth; the arc of rubber has shear waves of 1600 rad/s from its start on, so that steps must be small.
TEST(energy_decaying, is_of_second_order)
{
    double spring =
        difference("planar-spring", 0.4, 0.01) / difference("planar-spring", 0.4, 0.005);
    double beam = difference("flying-beam", 0.004, 1e-4) / difference("flying-beam", 0.004, 5e-5);
    print_message("spring %.3f, beam %.3f\n", spring, beam);
    CHECK_NEAR(log2(spring), 2.0, 0.05);
    CHECK_NEAR(log2(beam), 2.0, 0.1);
}

// Without springs and beams nothing is there that could lag.
TEST(energy_decaying, is_energy_momentum_without_springs)
{
    static const char *const MODELS[] = {"six-body-linkage", "chain-revolute", "gyro-top"};
    for (int i = 0; i < 3; ++i) {
        double q[2][RUN_COORDINATES_MAX];
        for (int k = 0; k < 2; ++k) {
            run r =
                run_model(MODELS[i], k == 0 ? HN_SCHEME_ENERGY_DECAYING : HN_SCHEME_ENERGY_MOMENTUM,
                          HN_REDUCTION_REDUCED, 0.0, true);
            run_step(&r, 50);
            run_coordinates(&r, q[k]);
            for (int c = 0; k == 1 && c < r.coordinate_count; ++c) CHECK(q[0][c] == q[1][c]);
            run_end(&r);
        }
    }
}

// The first step has none before it that it could lag behind; the second has.
// A thread with a body on it: nothing lags, and the motion is that of `energy-momentum`. Before, increments under
// `nullspace` were to be smaller than round-off: 78 steps in halves, and none at t = 0.39 s.
TEST(energy_decaying, holds_coordinates_under_every_reduction)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [7, 4, 3.5]\nbodies:\n"
        "  a: {mass: 1.8, inertia: [0.13, 0.08, 0.065], position: [0.8, 0.1, -0.3]}\n"
        "  b: {mass: 1.5, inertia: [0.17, 0.08, 0.11], position: [0.2, -0.1, -0.7]}\n"
        "joints:\n"
        "  s: {screw: {bodies: [ground, a], at: [0.4, 0.3, -0.4], axis: [-0.17, -1.04, 0.82], "
        "pitch: 0.26}}\n"
        "  r: {revolute: {bodies: [a, b], at: [0.2, 0, -0.8], axis: [-2.9, 1.2, -2.9]}}\n";
    double worst = 0.0;
    run runs[HN_REDUCTION_COUNT + 1];
    for (int k = 0; k <= HN_REDUCTION_COUNT; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        CHECK_OK(context, hn_model_parse(context, TEXT, strlen(TEXT), "text", &model));
        runs[k] = run_start(context, model,
                            k == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_ENERGY_DECAYING,
                            REDUCTIONS[k == 0 ? 0 : k - 1], 1e-3, false);
        run_step(&runs[k], 500);
        CHECK_EQUAL(hn_simulation_statistics(runs[k].sim).halved_step_count, 0);
        if (k > 0) worst = fmax(worst, run_difference(&runs[0], &runs[k]));
    }
    for (int k = 0; k <= HN_REDUCTION_COUNT; ++k) run_end(&runs[k]);
    CHECK_BELOW(worst, 1e-10);
}

TEST(energy_decaying, begins_with_a_step_of_energy_momentum)
{
    double q[2][2][RUN_COORDINATES_MAX], off[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k) {
        run r =
            run_model("flying-beam", k == 0 ? HN_SCHEME_ENERGY_DECAYING : HN_SCHEME_ENERGY_MOMENTUM,
                      HN_REDUCTION_REDUCED, 0.01, false);
        for (int n = 0; n < 2; ++n) {
            run_step(&r, 1);
            run_coordinates(&r, q[k][n]);
            if (k == 1) off[n] = largest_difference(q[0][n], q[1][n], r.coordinate_count);
        }
        run_end(&r);
    }
    print_message("after one step %.2g m, after two %.2g\n", off[0], off[1]);
    CHECK_BELOW(off[0], 1e-14); // m; measured 5e-16
    CHECK(off[1] > 1e-6);
}

// A spring that is drawn out to many times the length it starts with: the tangent follows its rate's own mass, which
// grows with the square of that.
TEST(energy_decaying, springs_that_are_drawn_far_out_take_few_iterations)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  buoy: {shape: {box: {size: [0.2, 0.3, 0.1]}}, mass: 0.5}\n"
        "  boat: {shape: {box: {size: [0.5, 0.2, 0.4]}}, mass: 2, position: [0.6, 0, 0]}\n"
        "loads:\n"
        "  rope: {spring: {bodies: [buoy, boat], from: [0.1, 0.1, 0], to: [0.4, 0, 0.1], "
        "stiffness: 0.3}}\n"
        "start:\n"
        "  boat: {velocity: [3, 1, 0.5], angular_velocity: [0.3, 0.2, 0.5]}\n"
        "run: {scheme: energy-decaying, step: 0.02, end: 4}\n";
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
        run r = {.context = hn_context_create(NULL)};
        CHECK_EQUAL(hn_model_parse(r.context, TEXT, sizeof TEXT - 1, "rope.yaml", &r.model), HN_OK);
        r = run_start(r.context, r.model, HN_SCHEME_ENERGY_DECAYING, (hn_reduction)way, 0.02, true);
        run_step(&r, 200);
        hn_statistics n = hn_simulation_statistics(r.sim);
        print_message("%s: at most %d iterations, %lld of 200 steps in halves\n",
                      hn_reduction_name((hn_reduction)way), n.newton_iteration_max,
                      (long long)n.halved_step_count);
        CHECK_EQUAL(n.halved_step_count, 0);
        CHECK(n.newton_iteration_max <= 8); // measured 7; step 15 did not converge before
        run_end(&r);
    }
}

// ---- memory -----------------------------------------------------------------------------------------

TEST(energy_decaying, goes_on_from_a_snapshot_bit_for_bit)
{
    double q[2][RUN_COORDINATES_MAX];
    run r = run_model("three-bar-swing-stiff", HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED,
                      0.01, true);
    size_t size = hn_simulation_snapshot_size(r.sim);
    void *snapshot = malloc(size);
    run_step(&r, 10);
    CHECK_OK(r.context, hn_simulation_save(r.sim, snapshot, size));
    for (int k = 0; k < 2; ++k) {
        hn_ledger ledger;
        run_step(&r, 10);
        run_coordinates(&r, q[k]);
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK(ledger.energy_lost != 0.0);
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-11);
        CHECK_OK(r.context, hn_simulation_restore(r.sim, snapshot, size));
    }
    CHECK(memcmp(q[0], q[1], (size_t)r.coordinate_count * sizeof(double)) == 0);
    free(snapshot);
    run_end(&r);
}

// Steps that are far too long are made in halves; the identity holds, and what never returns does not fall.
TEST(energy_decaying, keeps_its_identity_in_halved_steps)
{
    run r = run_model("flying-beam", HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED, 0.1, true);
    double dissipated = 0.0;
    hn_ledger ledger;
    for (int n = 0; n < 60; ++n) {
        run_step(&r, 1);
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK(ledger.energy_dissipated >= dissipated);
        dissipated = ledger.energy_dissipated;
    }
    print_message("%lld steps halved, energy %.2g\n",
                  (long long)hn_simulation_statistics(r.sim).halved_step_count,
                  ledger.entry[HN_PROMISE_ENERGY].error);
    CHECK(hn_simulation_statistics(r.sim).halved_step_count > 0);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-10);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 1e-11);
    run_end(&r);
}

TEST(energy_decaying, refuses_the_way_back_and_radii_out_of_range)
{
    run r = run_model("flying-beam", HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED, 0.01, true);
    run_step(&r, 2);
    CHECK_STATUS(r.context, hn_simulation_reverse(r.sim), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(r.context), "'energy-decaying' is not time-symmetric");
    static const double WRONG[] = {0.2, 1.01, -1.0, (double)NAN};
    for (int k = 0; k < 4; ++k) {
        hn_simulation *other = NULL;
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_ENERGY_DECAYING;
        def.step_size = 0.01;
        def.energy_decaying.rho = WRONG[k];
        CHECK_STATUS(r.context, hn_simulation_create(r.model, &def, &other), HN_INVALID_ARGUMENT);
        CHECK_CONTAINS(hn_context_message(r.context), "expected 1/3 to 1");
    }
    run_end(&r);
}

// Stiff material through event X in long steps; the long test has short ones.
TEST(energy_decaying, takes_the_stiff_swing_through_event_x)
{
    run r = run_model("three-bar-swing-stiff", HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED,
                      0.01, true);
    hn_ledger ledger;
    run_step(&r, 200);
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    print_message("energy %.2g, constraints %.2g, lost %.3g of it\n",
                  ledger.entry[HN_PROMISE_ENERGY].error, ledger.entry[HN_PROMISE_CONSTRAINTS].error,
                  ledger.energy_lost / ledger.energy_scale);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12);      // measured 2e-14
    CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-13); // measured 1.5e-15
    CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
    CHECK(ledger.energy_lost > 0.0);
    run_end(&r);
}
