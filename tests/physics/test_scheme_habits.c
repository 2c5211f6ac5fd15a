// SPDX-License-Identifier: MIT
// How the schemes behave, as the second table of docs/manual/schemes.md says: how far a body may turn in a step, what a
// step that fails leaves behind, what becomes of stiff springs, and the time that reactions belong to.
#include "physics/run.h"
#include "schemes/projected_rk_solver.h"
#include "support/reference.h"

static run start(hn_context *context, hn_model *model, const hn_simulation_def *def)
{
    run r = {.context = context, .model = model};
    CHECK_OK(context, hn_simulation_create(model, def, &r.sim));
    r.coordinate_count = hn_simulation_structure(r.sim).coordinate_count;
    return r;
}

static hn_model *weightless(hn_context *context)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = vec3(0.0, 0.0, 0.0);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    return model;
}

// ---- rotation in a step -----------------------------------------------------------------------------

// A free symmetric body that spins about its axis, so that h |omega| = `turn` with a step of 0.1 s.
static run wheel(hn_scheme scheme, double turn, int halvings, int iterations)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = weightless(context);
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    def.name = "wheel";
    def.mass = 1.0;
    def.inertia = vec3(1.0, 1.0, 1.5);
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    CHECK_OK(context, hn_model_set_angular_velocity(model, body, vec3(0.0, 0.0, 10.0 * turn)));
    hn_simulation_def options = hn_simulation_def_default();
    options.scheme = scheme;
    options.step_size = 0.1;
    options.halvings_max = halvings;
    if (iterations > 0) options.iterations_max = iterations;
    return start(context, model, &options);
}

// Angle of the first director, -pi to pi.
static double angle_of(const run *r)
{
    double q[12];
    run_coordinates(r, q);
    return atan2(q[4], q[3]);
}

static double spin_of(const run *r)
{
    return run_body(r, hn_model_body(r->model, 0)).angular_velocity.z;
}

// Coefficients (A5) for a spectral radius; the first step starts with a = w = -omega^2 q and goes along
// q (1 - c x^2) + x t, x = h omega, t the tangent, with the c returned.
static double alpha_first_step(double radius)
{
    double m = (2.0 * radius - 1.0) / (radius + 1.0), f = radius / (radius + 1.0);
    double beta = 0.25 * (1.0 + f - m) * (1.0 + f - m);
    return 0.5 - beta + beta * (f - m) / (1.0 - m);
}

// The angle of the first step, in closed form.
static double expected_angle(hn_scheme scheme, double turn)
{
    switch (scheme) {
    case HN_SCHEME_ENERGY_MOMENTUM:
    case HN_SCHEME_ENERGY_DECAYING:
    case HN_SCHEME_GGL_ENERGY_MOMENTUM:
    case HN_SCHEME_CONVECTED: return 2.0 * atan(0.5 * turn);
    case HN_SCHEME_VARIATIONAL:
    case HN_SCHEME_RATTLE: return asin(turn);
    case HN_SCHEME_GENERALIZED_ALPHA:
        return atan2(
            turn,
            1.0 - alpha_first_step(hn_simulation_def_default().generalized_alpha.spectral_radius) *
                      turn * turn);
    case HN_SCHEME_GGL_VARIATIONAL: return 0.5 * asin(2.0 * turn);
    case HN_SCHEME_GGL_CLASSICAL: return atan(turn);
    case HN_SCHEME_PROJECTED_RK: return remainder(turn, 2.0 * acos(-1.0));
    }
    return 0.0;
}

// Largest h |omega| that a step takes; 0: any. Midpoint directors count as flat when the squared cosine of half the
// turn is below 0.02: tan^2(phi/2) = 49.
static double largest_turn(hn_scheme scheme)
{
    switch (scheme) {
    case HN_SCHEME_ENERGY_MOMENTUM:
    case HN_SCHEME_ENERGY_DECAYING:
    case HN_SCHEME_GGL_ENERGY_MOMENTUM:
    case HN_SCHEME_CONVECTED: return 14.0;
    case HN_SCHEME_VARIATIONAL:
    case HN_SCHEME_RATTLE: return 1.0;
    case HN_SCHEME_GENERALIZED_ALPHA: {
        // x/(1 - c x^2) = tan(phi) with tan(phi/2) = 7, phi beyond a quarter of a turn
        double c = alpha_first_step(hn_simulation_def_default().generalized_alpha.spectral_radius),
               t = 48.0 / 14.0;
        return (t + sqrt(t * t + 4.0 * c)) / (2.0 * c);
    }
    case HN_SCHEME_GGL_VARIATIONAL: return 0.5;
    case HN_SCHEME_GGL_CLASSICAL:
    case HN_SCHEME_PROJECTED_RK: return 0.0;
    }
    return 0.0;
}

TEST(scheme_habits, a_wheel_turns_by_the_closed_form_up_to_the_limit_and_not_beyond)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        double limit = largest_turn(scheme), worst = 0.0;
        const double part[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
        for (int i = 0; i < 6; ++i) {
            double turn = part[i] * (limit > 0.0 ? limit : 1000.0);
            run r = wheel(scheme, turn, 0, 0);
            run_step(&r, 1);
            // near the limit the angle is a square root, of round-off too
            double off = remainder(angle_of(&r) - expected_angle(scheme, turn), 2.0 * acos(-1.0));
            worst = fmax(worst, scheme == HN_SCHEME_PROJECTED_RK ? fabs(off) / turn : fabs(off));
            run_end(&r);
        }
        print_message("%s: %.2g rad, limit %g\n", hn_scheme_name(scheme), worst, limit);
        // rad; measured below 1e-13; of `projected-rk`, relative, with tolerances of 1e-8
        CHECK_BELOW(worst, scheme == HN_SCHEME_PROJECTED_RK ? 1e-7 : 1e-11);
        if (limit <= 0.0) continue;
        run above = wheel(scheme, 1.001 * limit, 0, 0);
        double q[12], after[12];
        run_coordinates(&above, q);
        CHECK_STATUS(above.context, hn_simulation_step(above.sim, 1), HN_NOT_CONVERGED);
        CHECK_CONTAINS(hn_context_message(above.context), "'wheel'");
        run_coordinates(&above, after);
        CHECK(memcmp(q, after, sizeof q) == 0);
        run_end(&above);
    }
}

// What the library says of the limit is what the wheel finds.
TEST(scheme_habits, the_rotation_limit_is_reported)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        run r = wheel(scheme, 0.75 * fmax(largest_turn(scheme), 1.0), 0, 0);
        hn_structure structure = hn_simulation_structure(r.sim);
        bool half_turn = scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_CONVECTED ||
                         scheme == HN_SCHEME_GENERALIZED_ALPHA ||
                         scheme == HN_SCHEME_ENERGY_DECAYING ||
                         scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM;
        CHECK_NEAR(structure.spin_step_limit, half_turn ? 0.0 : largest_turn(scheme), 0.0);
        run_end(&r);
        if (structure.spin_step_limit <= 0.0) continue;
        run above = wheel(scheme, 1.25 * structure.spin_step_limit, 10, 0);
        CHECK_STATUS(above.context, hn_simulation_step(above.sim, 1), HN_NOT_CONVERGED);
        char expected[128];
        snprintf(expected, sizeof expected, "`%s` has no solution for h|omega| > %g",
                 hn_scheme_name(scheme), structure.spin_step_limit);
        CHECK_CONTAINS(hn_context_message(above.context), expected);
        run_end(&above);
    }
}

// One step of `generalized-alpha` goes nearly half a turn; many steps do not. On the unit circle a rotation loses a
// little speed for ever below a limit that depends on the radius, about 1.4 (1 - r)/(1 + r), and gains speed and breaks
// up above it.
TEST(scheme_habits, generalized_alpha_rotates_stably_below_a_limit_set_by_the_radius)
{
    static const struct {
        double radius, stable, unstable;
    } CASES[] = {{0.4, 0.75, 0.78}, {0.6, 0.35, 0.37}, {0.8, 0.15, 0.16}};
    for (int i = 0; i < 3; ++i)
        for (int above = 0; above < 2; ++above) {
            char path[1024];
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            snprintf(path, sizeof path, "%s/models/unit-circle.yaml", HN_SOURCE_DIR);
            CHECK_OK(context, hn_model_load(context, path, &model));
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = HN_SCHEME_GENERALIZED_ALPHA;
            def.generalized_alpha.spectral_radius = CASES[i].radius;
            def.step_size = above ? CASES[i].unstable : CASES[i].stable;
            run r = start(context, model, &def);
            double fastest = 0.0, speed = 1.0;
            int n = 0;
            for (; n < 20000 && fastest < 1.5; ++n) {
                if (hn_simulation_step(r.sim, 1) != HN_OK) break;
                hn_energy energy;
                CHECK_OK(context, hn_simulation_energy(r.sim, &energy));
                speed = sqrt(2.0 * energy.kinetic); // m/s, 1 at the start
                fastest = fmax(fastest, speed);
            }
            print_message("radius %.1f, h omega %.2f: %d steps, fastest %.3f, last %.3f m/s\n",
                          def.generalized_alpha.spectral_radius, def.step_size, n, fastest, speed);
            if (above) {
                CHECK(n < 2000); // measured 44, 178 and 700
                CHECK(fastest >= 1.5);
            } else {
                CHECK_EQUAL(n, 20000);
                CHECK_BELOW(fastest, 1.01); // m/s; measured 1.000
                CHECK(speed < 0.99);
            }
            run_end(&r);
        }
}

// ---- a step that fails ------------------------------------------------------------------------------

static bool halves(hn_scheme scheme)
{
    return scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_CONVECTED ||
           scheme == HN_SCHEME_GGL_CLASSICAL || scheme == HN_SCHEME_ENERGY_DECAYING ||
           scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM;
}

static run chain(hn_scheme scheme, bool impossible)
{
    char path[1024];
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    snprintf(path, sizeof path, "%s/models/chain-spherical.yaml", HN_SOURCE_DIR);
    CHECK_OK(context, hn_model_load(context, path, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = 0.01;
    def.projected_rk.dense_output =
        false; // no states from within an internal step that was possible
    if (impossible) {
        def.iterations_max = 1; // enough for nothing
        def.halvings_max = 3;
        def.projected_rk.absolute_tolerance = 1e-30; // m, m/s: no step is small enough
        def.projected_rk.relative_tolerance = 0.0;
    }
    return start(context, model, &def);
}

// Every scheme: the state is the last good one to the last bit, the message says where and what may help, the call may
// be repeated, and what is left can be carried on with.
TEST(scheme_habits, a_step_that_fails_leaves_the_last_good_state_bit_for_bit)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        run good = chain(scheme, false), bad = chain(scheme, true);
        run_step(&good, 5);
        size_t size = hn_simulation_snapshot_size(good.sim);
        char *before = calloc(1, size), *after = calloc(1, size);
        CHECK(before != NULL && after != NULL);
        CHECK_OK(good.context, hn_simulation_save(good.sim, before, size));
        CHECK_OK(bad.context, hn_simulation_restore(bad.sim, before, size));
        for (int attempt = 0; attempt < 2; ++attempt) {
            CHECK_STATUS(bad.context, hn_simulation_step(bad.sim, 3), HN_NOT_CONVERGED);
            const char *message = hn_context_message(bad.context);
            print_message("%s\n", message);
            CHECK_CONTAINS(message, "step 6 at t = 0.05 s");
            CHECK_CONTAINS(message, "body 'link");
            CHECK_CONTAINS(message, "joint 'ball");
            CHECK_CONTAINS(message, "may help");
            CHECK((strstr(message, "halved") != NULL) == halves(scheme));
            CHECK_EQUAL(hn_simulation_step_count(bad.sim), 5);
            CHECK_BELOW(run_difference(&good, &bad), 1e-300);
            CHECK_OK(bad.context, hn_simulation_save(bad.sim, after, size));
            CHECK(memcmp(before, after, size) == 0);
        }
        // carried on from what the failure left: bit for bit what the run without a failure does
        run other = chain(scheme, false);
        CHECK_OK(other.context, hn_simulation_restore(other.sim, after, size));
        run_step(&other, 5);
        CHECK_OK(good.context, hn_simulation_restore(good.sim, before, size));
        run_step(&good, 5);
        CHECK_BELOW(run_difference(&good, &other), 1e-300);
        free(before);
        free(after);
        run_end(&good);
        run_end(&bad);
        run_end(&other);
    }
}

// `energy-momentum`, `energy-decaying` and `convected` beyond the largest turn; `ggl-classical` with too few
// iterations for the whole step. The others have no halves however many are allowed.
TEST(scheme_habits, a_step_that_fails_is_made_in_halves_or_ends_the_run)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        if (scheme == HN_SCHEME_PROJECTED_RK) continue; // own step control, below
        bool few = scheme == HN_SCHEME_GGL_CLASSICAL;
        double turn = few ? 10.0 : 1.01 * largest_turn(scheme);
        run r = wheel(scheme, turn, 10, few ? 4 : 0);
        double before = spin_of(&r);
        hn_status status = hn_simulation_step(r.sim, 1);
        hn_statistics statistics = hn_simulation_statistics(r.sim);
        CHECK_EQUAL(status, halves(scheme) ? HN_OK : HN_NOT_CONVERGED);
        CHECK_EQUAL(statistics.halved_step_count, halves(scheme) ? 1 : 0);
        CHECK_EQUAL(hn_simulation_step_count(r.sim), halves(scheme) ? 1 : 0);
        if (scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_CONVECTED ||
            scheme == HN_SCHEME_ENERGY_DECAYING || scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM) {
            // two steps of half the size
            double off = remainder(angle_of(&r) - 4.0 * atan(0.25 * turn), 2.0 * acos(-1.0));
            CHECK_BELOW(off, 5e-14);                        // rad; measured 9e-16
            CHECK_BELOW(spin_of(&r) / before - 1.0, 1e-12); // measured 0
        }
        if (few) {
            // 1/nu^2 grows by the sum of h^2 over the parts, which is half of what one step gives, or less
            double growth = (before * before / (spin_of(&r) * spin_of(&r)) - 1.0) / (turn * turn);
            CHECK_BELOW(growth, 0.5 + 1e-10); // measured 0.344: halves, quarters, eighths
        }
        run_end(&r);
    }
}

// Ten turns in one step of `projected-rk` are many internal steps; how many follows the tolerance with order five.
TEST(scheme_habits, projected_rk_takes_the_steps_it_needs)
{
    int64_t accepted[2];
    for (int k = 0; k < 2; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = weightless(context);
        hn_body_def def = hn_body_def_default();
        hn_body_id body;
        def.mass = 1.0;
        def.inertia = vec3(1.0, 1.0, 1.5);
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context, hn_model_set_angular_velocity(model, body, vec3(0.0, 0.0, 62.8)));
        hn_simulation_def options = hn_simulation_def_default();
        options.scheme = HN_SCHEME_PROJECTED_RK;
        options.step_size = 1.0;
        options.projected_rk.absolute_tolerance = options.projected_rk.relative_tolerance =
            k == 0 ? 1e-6 : 1e-11;
        run r = start(context, model, &options);
        run_step(&r, 1);
        accepted[k] = r.sim->solver->statistics.steps;
        hn_adaptive_statistics counts = hn_simulation_adaptive_statistics(r.sim);
        CHECK_EQUAL(counts.accepted_step_count, accepted[k]);
        CHECK(counts.projection_count >= accepted[k] && counts.acceleration_count > accepted[k]);
        CHECK(counts.last_step > 0.0 && counts.last_step < 1.0);
        // rad, of 62.8; measured 2e-5 and 2e-10
        CHECK_BELOW(remainder(angle_of(&r) - 62.8, 2.0 * acos(-1.0)), k == 0 ? 1e-3 : 1e-8);
        run_end(&r);
    }
    print_message("%lld and %lld internal steps\n", (long long)accepted[0], (long long)accepted[1]);
    CHECK(accepted[0] > 20);
    CHECK_NEAR((double)accepted[1] / (double)accepted[0], 10.0, 1.0); // 1e5^(1/5)
}

// A top spinning at 141 rad/s with steps of 0.05 s (Betsch and Leyendecker 2006, Fig. 8): its equations have one
// solution, a turn of 2 atan(3.5), which Newton finds from rest though not from the velocities.
TEST(scheme_habits, a_top_that_turns_by_seven_in_a_step_needs_no_halves)
{
    static const hn_reduction WAYS[] = {HN_REDUCTION_REDUCED, HN_REDUCTION_NULLSPACE};
    hn_body_state end[2];
    for (int w = 0; w < 2; ++w) {
        run r = run_model("gyro-top", HN_SCHEME_ENERGY_MOMENTUM, WAYS[w], 0.05, true);
        hn_ledger ledger;
        run_step(&r, 20);
        CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0); // 5 before
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 5e-14); // measured 1e-15
        CHECK_OK(r.context,
                 hn_simulation_body_state(r.sim, hn_model_find_body(r.model, "top"), &end[w]));
        run_end(&r);
    }
    hn_vec3 apart = vec3_subtract(end[0].position, end[1].position);
    CHECK_BELOW(vec3_norm(apart), 1e-14); // m; measured 2e-16
}

// ---- stiff springs ----------------------------------------------------------------------------------

enum { OSCILLATIONS = 1000 };
static const double AMPLITUDE = 1e-3;                         // m, rad
static const double ANY[] = {0.1, 1.0, 5.0, 20.0, 100.0};     // h Omega
static const double BELOW_TWO[] = {0.1, 0.5, 1.0, 1.5, 1.99}; // where springs are explicit

// A mass on a spring, stretched by the amplitude and let go, h Omega = `x` with a step of 0.01 s.
static run oscillator(hn_scheme scheme, double x, double radius)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = weightless(context);
    hn_body_def bob = hn_body_def_default();
    hn_body_id body;
    hn_load_id id;
    bob.kind = HN_BODY_POINT_MASS;
    bob.mass = 0.1;
    bob.position = vec3(1.0 + AMPLITUDE, 0.0, 0.0);
    CHECK_OK(context, hn_model_add_body(model, &bob, &body));
    hn_spring_def rod = hn_spring_def_default();
    rod.body_a = hn_ground();
    rod.body_b = body;
    rod.body_coordinates = true;
    rod.stiffness = bob.mass * x * x * 1e4;
    rod.rest_length = 1.0;
    CHECK_OK(context, hn_model_add_spring(model, &rod, &id));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = 0.01;
    def.generalized_alpha.spectral_radius = radius;
    return start(context, model, &def);
}

// Stretch of the spring over its first value.
static double stretch_of(const run *r)
{
    return (run_body(r, hn_model_body(r->model, 0)).position.x - 1.0) / AMPLITUDE;
}

// Place after n steps in closed form. Midpoint: cos(n phi) with tan(phi/2) = x/2, at any x. Explicit springs:
// cos(phi) = 1 - x^2/2; RATTLE is cos(n phi) again, the GGL schemes are half a step ahead.
static double expected_stretch(hn_scheme scheme, double x, int n)
{
    switch (scheme) {
    case HN_SCHEME_ENERGY_MOMENTUM:
    case HN_SCHEME_GGL_ENERGY_MOMENTUM:
    case HN_SCHEME_VARIATIONAL:
    case HN_SCHEME_CONVECTED: return cos(n * 2.0 * atan(0.5 * x));
    case HN_SCHEME_RATTLE: return cos(n * acos(1.0 - 0.5 * x * x));
    case HN_SCHEME_GGL_VARIATIONAL:
    case HN_SCHEME_GGL_CLASSICAL: {
        double phi = acos(1.0 - 0.5 * x * x);
        return cos((n + 0.5) * phi) / cos(0.5 * phi);
    }
    case HN_SCHEME_PROJECTED_RK: return cos(n * x);
    case HN_SCHEME_GENERALIZED_ALPHA:
    case HN_SCHEME_ENERGY_DECAYING: break;
    }
    return 0.0;
}

static bool explicit_springs(hn_scheme scheme)
{
    return scheme == HN_SCHEME_RATTLE || scheme == HN_SCHEME_GGL_VARIATIONAL ||
           scheme == HN_SCHEME_GGL_CLASSICAL;
}

// Nothing is damped but by `generalized-alpha` and `energy-decaying`: a thousand steps follow the closed form of full
// amplitude.
TEST(scheme_habits, stiff_springs_are_not_damped_and_follow_the_closed_form)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        if (scheme == HN_SCHEME_GENERALIZED_ALPHA || scheme == HN_SCHEME_ENERGY_DECAYING) continue;
        bool limited = explicit_springs(scheme);
        double worst = 0.0;
        for (int i = 0; i < 5; ++i) {
            double x = limited ? BELOW_TWO[i] : ANY[i], largest = 0.0;
            run r = oscillator(scheme, x, 0.6);
            for (int n = 1; n <= OSCILLATIONS; ++n) {
                run_step(&r, 1);
                double off = fabs(stretch_of(&r) - expected_stretch(scheme, x, n));
                // step control adds its tolerance in every internal step
                if (scheme == HN_SCHEME_PROJECTED_RK) off /= n * fmax(1.0, x);
                largest = fmax(largest, off);
            }
            print_message("%s, h Omega = %g: %.2g\n", hn_scheme_name(scheme), x, largest);
            worst = fmax(worst, largest);
            run_end(&r);
        }
        // of the amplitude; measured 1.1e-9
        CHECK_BELOW(worst, scheme == HN_SCHEME_PROJECTED_RK ? 1e-5 : 1e-7);
    }
}

// Explicit springs: cosh in place of the cosine above h Omega = 2.
TEST(scheme_habits, explicit_springs_are_unstable_above_two)
{
    const hn_scheme schemes[] = {HN_SCHEME_RATTLE, HN_SCHEME_GGL_VARIATIONAL,
                                 HN_SCHEME_GGL_CLASSICAL};
    const double x = 2.01, rate = acosh(0.5 * x * x - 1.0); // growth e^rate in a step
    for (int k = 0; k < 3; ++k) {
        run r = oscillator(schemes[k], x, 0.6);
        double last = 1.0, found = 0.0;
        for (int n = 1; n <= 20; ++n) {
            run_step(&r, 1);
            double now = fabs(stretch_of(&r));
            found = log(now / last);
            last = now;
        }
        print_message("%s: grows by %.4f in a step, %.4f expected\n", hn_scheme_name(schemes[k]),
                      exp(found), exp(rate));
        CHECK(last > 20.0);            // of the amplitude; measured 27 and 300
        CHECK_NEAR(found, rate, 1e-3); // the other solution, e^-rate, has gone; measured 2e-5
        run_end(&r);
    }
}

// x_n+3 + c2 x_n+2 + c1 x_n+1 + c0 x_n = 0 with the characteristic polynomial of (A1) to (A4) for one oscillator:
// p (w, a eliminated) = (z - 1)^2 m(z) + x^2 f(z) b(z), m = (1 - alpha_m) z + alpha_m, f = (1 - alpha_f) z + alpha_f,
// b = beta z^2 + (1/2 + gamma - 2 beta) z + 1/2 - gamma + beta.
static void alpha_polynomial(double radius, double x, double *c)
{
    double m = (2.0 * radius - 1.0) / (radius + 1.0), f = radius / (radius + 1.0);
    double gamma = 0.5 + f - m, beta = 0.25 * (1.0 + f - m) * (1.0 + f - m);
    const double mass[2] = {m, 1.0 - m}, force[2] = {f, 1.0 - f};
    const double square[3] = {1.0, -2.0, 1.0},
                 b[3] = {0.5 - gamma + beta, 0.5 + gamma - 2.0 * beta, beta};
    double p[4] = {0.0};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) p[i + j] += mass[i] * square[j] + x * x * force[i] * b[j];
    for (int k = 0; k < 3; ++k) c[k] = p[k] / p[3];
}

TEST(scheme_habits, generalized_alpha_damps_an_oscillator_by_its_characteristic_polynomial)
{
    static const double RADII[] = {0.0, 0.4, 0.6, 1.0}, X[] = {0.5, 5.0, 20.0, 100.0};
    double worst = 0.0;
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k) {
            double c[3], x[64], largest = 0.0;
            alpha_polynomial(RADII[i], X[k], c);
            run r = oscillator(HN_SCHEME_GENERALIZED_ALPHA, X[k], RADII[i]);
            for (int n = 0; n < 64; ++n) {
                x[n] = stretch_of(&r);
                largest = fmax(largest, fabs(x[n]));
                run_step(&r, 1);
            }
            for (int n = 0; n < 61; ++n)
                worst =
                    fmax(worst, fabs(x[n + 3] + c[2] * x[n + 2] + c[1] * x[n + 1] + c[0] * x[n]) /
                                    largest);
            // damped away, or kept with radius 1
            double late = 0.0;
            for (int n = 56; n < 64; ++n) late = fmax(late, fabs(x[n]));
            print_message("radius %.1f, h Omega = %g: %.3g after 60 steps\n", RADII[i], X[k], late);
            if (RADII[i] == 1.0)
                CHECK(late > 0.8); // measured 0.81 to 1.00, the crest being elsewhere
            else if (X[k] >= 5.0) CHECK_BELOW(late, 1e-3); // measured 2.1e-4
            run_end(&r);
        }
    CHECK_BELOW(worst, 5e-10); // of the largest; measured 1e-11
}

// A light rotor on a stiff torsion spring: the same of rotations, in directors.
static run rotor(hn_scheme scheme, double x)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = weightless(context);
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    hn_load_id id;
    hn_joint_id pivot;
    def.mass = 0.01;
    def.inertia = vec3(1e-5, 1e-5, 1.5e-5);
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.body_a = hn_ground();
    hinge.body_b = body;
    hinge.axis_a = vec3(0.0, 0.0, 1.0);
    CHECK_OK(context, hn_model_add_joint(model, &hinge, &pivot));
    hn_torsion_spring_def spring = hn_torsion_spring_def_default();
    spring.joint = pivot;
    spring.stiffness = def.inertia.z * x * x * 1e4;
    spring.rest_angle = -AMPLITUDE; // rad
    CHECK_OK(context, hn_model_add_torsion_spring(model, &spring, &id));
    hn_simulation_def options = hn_simulation_def_default();
    options.scheme = scheme;
    options.step_size = 0.01;
    return start(context, model, &options);
}

// Angle from rest over its first value, and the energy over that at the start.
static double turn_of(const run *r, double *energy)
{
    hn_joint_state state;
    hn_energy now;
    CHECK_OK(r->context, hn_simulation_joint_state(r->sim, hn_model_joint(r->model, 0), &state));
    CHECK_OK(r->context, hn_simulation_energy(r->sim, &now));
    *energy = now.kinetic + now.potential;
    return state.coordinates[0] / AMPLITUDE + 1.0;
}

TEST(scheme_habits, a_stiff_rotor_swings_as_the_mass_on_a_spring_does)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        bool limited = explicit_springs(scheme);
        for (int i = 0; i < 4; ++i) {
            double x = limited ? BELOW_TWO[i] : ANY[i + 1];
            double first, energy, off = 0.0, least = 1.0, largest = 1.0, last = 0.0;
            run r = rotor(scheme, x);
            CHECK_NEAR(turn_of(&r, &first), 1.0, 1e-12);
            for (int n = 1; n <= 200; ++n) {
                run_step(&r, 1);
                last = turn_of(&r, &energy);
                off = fmax(off, fabs(last - expected_stretch(scheme, x, n)));
                least = fmin(least, energy / first), largest = fmax(largest, energy / first);
            }
            print_message("rotor, %s, h Omega = %g: %.1e off, energy %.12g to %.12g\n",
                          hn_scheme_name(scheme), x, off, least, largest);
            if (scheme == HN_SCHEME_GENERALIZED_ALPHA || scheme == HN_SCHEME_ENERGY_DECAYING) {
                if (x >= 5.0) CHECK_BELOW(last, 1e-12); // of the first; measured 1.9e-14
                CHECK(energy < first);
                if (x >= 100.0 && scheme == HN_SCHEME_GENERALIZED_ALPHA)
                    CHECK(largest > 20.0); // it overshoots before it damps; measured 23.7
            } else {
                // of the first; the frequency depends on the amplitude, and the more the nearer to 2; measured 8.5e-4.
                // An explicit method with control is late by its tolerance in each of up to 20000 rad: 5.2e-3
                CHECK_BELOW(off, scheme == HN_SCHEME_PROJECTED_RK ? 1e-2 : 5e-3);
            }
            if (scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM ||
                scheme == HN_SCHEME_CONVECTED || scheme == HN_SCHEME_PROJECTED_RK) {
                CHECK_NEAR(least, 1.0, 1e-10); // measured 1e-12
                CHECK_NEAR(largest, 1.0, 1e-10);
            }
            // momenta p_n have a part of size h f normal to the constraints, and H_d its energy
            if (scheme == HN_SCHEME_VARIATIONAL) {
                CHECK(least > 0.999);
                CHECK_BELOW(largest, 2.001);
            }
            run_end(&r);
        }
    }
}

// ---- the time of reactions --------------------------------------------------------------------------

// Where in the last step a reaction belongs: 0 start, 1/2 middle, 1 end, which is the current time.
static double reaction_place(hn_scheme scheme)
{
    switch (scheme) {
    case HN_SCHEME_GGL_VARIATIONAL: return 0.0;
    case HN_SCHEME_ENERGY_MOMENTUM:
    case HN_SCHEME_ENERGY_DECAYING:
    case HN_SCHEME_GGL_ENERGY_MOMENTUM:
    case HN_SCHEME_CONVECTED: return 0.5;
    case HN_SCHEME_VARIATIONAL:
    case HN_SCHEME_RATTLE:
    case HN_SCHEME_GENERALIZED_ALPHA:
    case HN_SCHEME_GGL_CLASSICAL:
    case HN_SCHEME_PROJECTED_RK: return 1.0;
    }
    return 0.0;
}

typedef struct reaction {
    hn_vec3 last, before; // N, of the last two steps
    double time;          // s, of the last
} reaction;

// After `steps` steps that put the given place of the last one at `time`.
static reaction reaction_at(const char *model, hn_scheme scheme, double time, double place,
                            int steps)
{
    reaction x;
    hn_joint_state state;
    char path[1024];
    hn_context *context = hn_context_create(NULL);
    hn_model *loaded = NULL;
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model);
    CHECK_OK(context, hn_model_load(context, path, &loaded));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = time / (steps - 1 + place);
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance =
        1e-12; // internal steps do not see the step
    run r = start(context, loaded, &def);
    hn_joint_id first = hn_model_joint(r.model, 0);
    run_step(&r, steps - 1);
    CHECK_OK(r.context, hn_simulation_joint_state(r.sim, first, &state));
    x.before = state.reaction_force;
    run_step(&r, 1);
    CHECK_OK(r.context, hn_simulation_joint_state(r.sim, first, &state));
    CHECK(state.reaction_valid);
    x.last = state.reaction_force;
    x.time = state.reaction_time;
    run_end(&r);
    return x;
}

static hn_vec3 pendulum_reaction(double time)
{
    reference *ref = reference_load("pendulum.json");
    double times[8], tension[8], q[16];
    int count = reference_numbers(ref, "/times", times, 8);
    CHECK_EQUAL(
        reference_numbers(ref, "/reference/lambda_constraint_force_magnitude/values", tension, 8),
        count);
    CHECK_EQUAL(reference_numbers(ref, "/reference/q/values", q, 16), 2 * count);
    reference_destroy(ref);
    for (int i = 0; i < count; ++i)
        if (times[i] == time) return vec3(-tension[i] * q[2 * i], -tension[i] * q[2 * i + 1], 0.0);
    CHECK(false);
    return vec3(0.0, 0.0, 0.0);
}

static double order_of(const double *error, const double *h)
{
    return log(error[0] / error[1]) / log(h[0] / h[1]);
}

// At the pendulum force and direction change with time; only at the time that is reported the error is of the order of
// the scheme, half a step away the second order schemes have the first.
TEST(scheme_habits, reactions_belong_to_the_time_that_is_reported)
{
    static const int ORDER[HN_SCHEME_COUNT] = {[HN_SCHEME_ENERGY_MOMENTUM] = 2,
                                               [HN_SCHEME_VARIATIONAL] = 2,
                                               [HN_SCHEME_RATTLE] = 2,
                                               [HN_SCHEME_GENERALIZED_ALPHA] = 2,
                                               [HN_SCHEME_CONVECTED] = 2,
                                               [HN_SCHEME_GGL_VARIATIONAL] = 1,
                                               [HN_SCHEME_GGL_CLASSICAL] = 1,
                                               [HN_SCHEME_ENERGY_DECAYING] = 2,
                                               [HN_SCHEME_GGL_ENERGY_MOMENTUM] = 2};
    const double time = 0.5;
    hn_vec3 exact = pendulum_reaction(time);
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_scheme scheme = (hn_scheme)k;
        double place = reaction_place(scheme);
        for (int shift = 0; shift < 2; ++shift) {
            double at = shift == 0 ? place : place < 0.75 ? place + 0.5 : place - 0.5;
            double error[2], h[2];
            for (int i = 0; i < 2; ++i) {
                int steps = 400 << i;
                h[i] = time / (steps - 1 + at);
                reaction x = reaction_at("pendulum", scheme, time, at, steps);
                error[i] = vec3_norm(vec3_subtract(x.last, exact));
                CHECK_NEAR(x.time, (steps - 1 + place) * h[i], 1e-12);
            }
            double order = order_of(error, h);
            print_message("pendulum, %s, place %.1f: order %.3f, error %.2e N\n",
                          hn_scheme_name(scheme), at, order, error[1]);
            if (scheme == HN_SCHEME_PROJECTED_RK && shift == 0)
                CHECK_BELOW(error[1], 3e-10); // N, of 27; measured 5.8e-12
            else CHECK_NEAR(order, shift == 0 && ORDER[k] == 2 ? 2.0 : 1.0, 0.05);
        }
    }
}

// The tip of the steadily precessing top, in directors. There single reactions of `convected` alternate by O(h), as
// those of `energy-momentum` do (test_reactions.c), and the mean of two is second order; those of the others are as
// on the pendulum.
TEST(scheme_habits, reactions_at_the_tip_of_the_top)
{
    const double mass = 0.7068583470577036, rate = 10.0, time = 0.1;
    const double inward = mass * 0.075 * sin(acos(-1.0) / 3.0) * rate * rate;
    static const struct {
        hn_scheme scheme;
        int single, mean; // orders
    } CASES[] = {{HN_SCHEME_ENERGY_MOMENTUM, 1, 2},
                 {HN_SCHEME_VARIATIONAL, 2, 2},
                 {HN_SCHEME_RATTLE, 2, 2},
                 {HN_SCHEME_GENERALIZED_ALPHA, 2, 2},
                 {HN_SCHEME_CONVECTED, 1, 2},
                 {HN_SCHEME_GGL_VARIATIONAL, 1, 1},
                 {HN_SCHEME_GGL_ENERGY_MOMENTUM, 2, 2}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; ++k) {
        double place = reaction_place(CASES[k].scheme), single[2], mean[2], h[2];
        for (int i = 0; i < 2; ++i) {
            int steps = 800 << i;
            h[i] = time / (steps - 1 + place);
            reaction x = reaction_at("gyro-top", CASES[k].scheme, time, place, steps);
            for (int two = 0; two < 2; ++two) {
                double t = time - 0.5 * two * h[i];
                hn_vec3 exact = vec3(-inward * sin(rate * t), inward * cos(rate * t), mass * 9.81);
                hn_vec3 found = two == 0 ? x.last : vec3_mean(x.last, x.before);
                (two == 0 ? single : mean)[i] = vec3_norm(vec3_subtract(found, exact));
            }
        }
        print_message("top, %s: order %.3f, mean of two %.3f\n", hn_scheme_name(CASES[k].scheme),
                      order_of(single, h), order_of(mean, h));
        CHECK_NEAR(order_of(single, h), CASES[k].single, 0.05);
        CHECK_NEAR(order_of(mean, h), CASES[k].mean, 0.05);
    }
    reaction x = reaction_at("gyro-top", HN_SCHEME_PROJECTED_RK, time, 1.0, 400);
    hn_vec3 exact = vec3(-inward * sin(rate * time), inward * cos(rate * time), mass * 9.81);
    CHECK_BELOW(vec3_norm(vec3_subtract(x.last, exact)), 5e-10); // N, of 9.3; measured 1e-11
}

// Reactions of all joints of a loop at the end of the last step, after `steps` of `h`.
enum { LOOP_JOINTS = 4 };

static void loop_reactions(const char *model, hn_scheme scheme, double h, int steps, hn_vec3 *force)
{
    char path[1024];
    hn_context *context = hn_context_create(NULL);
    hn_model *loop = NULL;
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model);
    CHECK_OK(context, hn_model_load(context, path, &loop));
    CHECK_EQUAL(hn_model_joint_count(loop), LOOP_JOINTS);
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = h;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-12;
    run r = start(context, loop, &def);
    run_step(&r, steps);
    for (int k = 0; k < LOOP_JOINTS; ++k) {
        hn_joint_state state;
        CHECK_OK(context, hn_simulation_joint_state(r.sim, hn_model_joint(loop, k), &state));
        CHECK_NEAR(state.reaction_time, h * steps, 1e-12);
        force[k] = state.reaction_force;
    }
    run_end(&r);
}

// Loops: the spatial four-bar against `projected-rk`; the plane one, whose redundant joints share a self-stress,
// against `variational`, whose reactions are of minimum norm too. With weights alone `rattle` makes the motion of
// `variational`, and has its reactions.
TEST(scheme_habits, reactions_of_loops_are_second_order)
{
    const hn_scheme schemes[] = {HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE,
                                 HN_SCHEME_GENERALIZED_ALPHA};
    static const char *const MODELS[] = {"rssr", "four-bar"};
    for (int m = 0; m < 2; ++m)
        for (int k = m; k < 3; ++k) {
            double error[2] = {0.0};
            for (int i = 0; i < 2; ++i) {
                double h = i == 0 ? 0.0005 : 0.00025;
                int steps = i == 0 ? 200 : 400;
                hn_vec3 exact[LOOP_JOINTS], found[LOOP_JOINTS];
                if (m == 0) loop_reactions(MODELS[m], HN_SCHEME_PROJECTED_RK, 0.01, 10, exact);
                else loop_reactions(MODELS[m], HN_SCHEME_VARIATIONAL, h, steps, exact);
                loop_reactions(MODELS[m], schemes[k], h, steps, found);
                for (int j = 0; j < LOOP_JOINTS; ++j)
                    error[i] = fmax(error[i], vec3_norm(vec3_subtract(found[j], exact[j])));
            }
            print_message("%s, %s: order %.3f, %.2e N\n", MODELS[m], hn_scheme_name(schemes[k]),
                          log2(error[0] / error[1]), error[1]);
            if (m == 1 && schemes[k] == HN_SCHEME_RATTLE)
                CHECK_BELOW(error[1], 5e-8);                      // N; measured 1.0e-9
            else CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.1); // measured 2.00
        }
}
