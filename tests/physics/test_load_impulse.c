// SPDX-License-Identifier: MIT
// Loads over a step: whatever a profile does within steps, the momentum it gives is its integral.
#include "run.h"

enum {
    POINTS_MAX = 40,
    AXES = 3,
    MODEL_COUNT = 3400,
    STEPS_MAX = 24
}; // 3 profiles per model: more than 1e4

static uint64_t random_state = 20261115;

static double random_unit(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

static int random_below(int count)
{
    return (int)(random_unit() * count);
}

typedef struct random_profile {
    hn_profile profile;
    double times[POINTS_MAX], factors[POINTS_MAX];
    int count; // its corners, also those of a pulse; 0: constant
} random_profile;

// Over and beside [0, end], with distances from far below a step to far above it
static void make_profile(random_profile *r, double end)
{
    double time = end * (1.6 * random_unit() - 0.4),
           fineness = end * pow(10.0, -5.0 * random_unit());
    memset(r, 0, sizeof *r);
    switch (random_below(8)) {
    case 0: r->profile.kind = HN_PROFILE_CONSTANT; return;
    case 1:
    case 2:
    case 3:
        r->profile.kind = HN_PROFILE_PULSE;
        r->count = 3;
        break;
    default: r->profile.kind = HN_PROFILE_TABLE; r->count = 1 + random_below(POINTS_MAX);
    }
    for (int i = 0; i < r->count; ++i) {
        r->times[i] = time;
        r->factors[i] = 2.0 * random_unit() - 1.0;
        double next = time + fineness * (0.01 + random_unit());
        time = next > time ? next : nextafter(time, HUGE_VAL);
    }
    if (r->profile.kind == HN_PROFILE_PULSE) {
        r->profile.start = r->times[0], r->profile.peak = r->times[1], r->profile.end = r->times[2];
        r->factors[0] = r->factors[2] = 0.0, r->factors[1] = 1.0;
    } else {
        r->profile.times = r->times, r->profile.factors = r->factors, r->profile.count = r->count;
    }
}

// Integral of the profile and of its absolute value over [begin, end], piece by piece in extended precision
static long double integral(const random_profile *r, double begin, double end,
                            long double *absolute)
{
    long double sum = 0.0L;
    *absolute = 0.0L;
    if (r->count == 0) return *absolute = (long double)end - (long double)begin;
    for (int i = -1; i < r->count; ++i) {
        long double x0 = i < 0 ? -HUGE_VALL : (long double)r->times[i],
                    x1 = i == r->count - 1 ? HUGE_VALL : (long double)r->times[i + 1];
        long double f0 = (long double)r->factors[i < 0 ? 0 : i],
                    f1 = (long double)r->factors[i == r->count - 1 ? i : i + 1];
        long double a = fmaxl(x0, (long double)begin), b = fminl(x1, (long double)end);
        if (a >= b) continue;
        bool flat = i < 0 || i == r->count - 1;
        long double fa = flat ? f0 : f0 + (f1 - f0) * (a - x0) / (x1 - x0),
                    fb = flat ? f0 : f0 + (f1 - f0) * (b - x0) / (x1 - x0);
        sum += 0.5L * (b - a) * (fa + fb);
        bool crosses = fa * fb < 0.0L;
        *absolute += crosses ? 0.5L * (b - a) * (fa * fa + fb * fb) / (fabsl(fa) + fabsl(fb))
                             : 0.5L * (b - a) * fabsl(fa + fb);
    }
    return sum;
}

static double component(hn_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// A free body with one load per axis, forces or space-fixed torques
static hn_model *loaded_body(hn_context *context, const random_profile *r, double strength,
                             bool torque, hn_body_id *body)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    def.kind = torque || random_below(2) == 0 ? HN_BODY_RIGID : HN_BODY_POINT_MASS;
    def.mass = 0.7;
    def.inertia = (hn_vec3){0.3, 0.4, 0.5};
    if (def.kind == HN_BODY_POINT_MASS) def.inertia = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_add_body(model, &def, body));
    for (int axis = 0; axis < AXES; ++axis) {
        hn_load_id id;
        hn_load_def load = hn_load_def_default();
        load.body = *body;
        load.torque = torque;
        load.vector = (hn_vec3){axis == 0 ? strength : 0.0, axis == 1 ? strength : 0.0,
                                axis == 2 ? strength : 0.0};
        load.profile = r[axis].profile;
        CHECK_OK(context, hn_model_add_load(model, &load, &id));
    }
    return model;
}

static bool has_angular_momentum(hn_scheme scheme)
{
    const scheme_type *type = scheme_type_of(scheme);
    return !type->angular_momentum_not_kept && scheme != HN_SCHEME_PROJECTED_RK;
}

// Worst error of momentum relative to the integral of |load| over `count` models, each under one scheme after another
static void worst_errors(int count, bool torque, double *worst)
{
    for (int i = 0; i < count; ++i) {
        double step = pow(10.0, 2.0 * random_unit() - 3.0),
               strength = pow(10.0, 2.0 * random_unit() - 1.0);
        int steps = 1 + random_below(STEPS_MAX);
        if (torque) strength *= 0.1 / (step * steps); // a moderate spin at the end
        random_profile r[AXES];
        for (int axis = 0; axis < AXES; ++axis) make_profile(&r[axis], step * steps);
        for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
            hn_scheme scheme = (hn_scheme)k;
            if (torque && !has_angular_momentum(scheme)) continue;
            hn_context *context = hn_context_create(NULL);
            hn_body_id body;
            hn_model *model = loaded_body(context, r, strength, torque, &body);
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = scheme;
            def.reduction = REDUCTIONS[random_below(3)];
            def.step_size = step;
            def.ledger = false;
            def.projected_rk.fixed_steps = scheme == HN_SCHEME_PROJECTED_RK && random_below(4) == 0;
            def.projected_rk.dense_output = random_below(2) == 0;
            if (torque) def.increment_tolerance = 1e-15; // rad: loads may be small
            run x = {.context = context, .model = model};
            CHECK_OK(context, hn_simulation_create(model, &def, &x.sim));
            run_step(&x, steps);
            hn_body_state state = run_body(&x, body);
            double end = hn_simulation_time(x.sim);
            for (int axis = 0; axis < AXES; ++axis) {
                long double absolute, expected = integral(&r[axis], 0.0, end, &absolute);
                double got =
                    component(torque ? state.angular_momentum : state.linear_momentum, axis);
                // three loads share one body: round-off is that of the largest
                long double scale = 0.0L, other;
                for (int a = 0; a < AXES; ++a) {
                    integral(&r[a], 0.0, end + step,
                             &other); // `generalized-alpha` knows the next step
                    scale = fmaxl(scale, other);
                }
                if (scale == 0.0L) CHECK(got == 0.0);
                else
                    worst[k] =
                        fmax(worst[k],
                             (double)(fabsl((long double)got - (long double)strength * expected) /
                                      ((long double)strength * scale)));
            }
            run_end(&x);
        }
    }
}

TEST(load_impulse, is_exact_for_every_profile_under_every_scheme)
{
    double worst[HN_SCHEME_COUNT] = {0.0};
    worst_errors(MODEL_COUNT, false, worst);
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        CHECK_BELOW(worst[k],
                    1e-13); // of the integral of |load|; measured 1.8e-14, projected-rk 3.0e-14
    }
}

TEST(load_impulse, of_torques_is_exact_where_angular_momentum_is_kept)
{
    double worst[HN_SCHEME_COUNT] = {0.0};
    worst_errors(MODEL_COUNT / 4, true, worst);
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        CHECK_BELOW(worst[k], 1e-13); // measured 3.5e-15
    }
}

// Splines, smooth steps and expressions: their integrals in closed form (of a piece of a spline with slopes m:
// h (f_0 + f_1)/2 + h^2 (m_0 - m_1)/12, here with all slopes zero but the middle one, which is 0 by symmetry).
TEST(load_impulse, of_curves_is_their_integral_under_every_scheme)
{
    static const double times[3] = {0.013, 0.041, 0.069}, values[3] = {0.0, 2.0, 0.0};
    const double h = 0.01, end = 0.1;
    random_profile r[AXES] = {0};
    r[0].profile =
        (hn_profile){.kind = HN_PROFILE_SPLINE, .times = times, .factors = values, .count = 3};
    r[1].profile = (hn_profile){.kind = HN_PROFILE_STEP, .start = 0.017, .end = 0.053};
    r[2].profile =
        (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = "abs(t - 0.0337) + 3*cos(20*t)"};
    const double expected[AXES] = {0.056, end - 0.5 * (0.017 + 0.053),
                                   0.5 * (0.0337 * 0.0337 + (end - 0.0337) * (end - 0.0337)) +
                                       0.15 * sin(20.0 * end)};
    double worst[HN_SCHEME_COUNT] = {0.0};
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        hn_context *context = hn_context_create(NULL);
        hn_body_id body;
        hn_model *model = loaded_body(context, r, 1.0, false, &body);
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = (hn_scheme)scheme;
        def.step_size = h;
        hn_simulation *simulation = NULL;
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        CHECK_OK(context, hn_simulation_step(simulation, 10));
        hn_vec3 p, angular;
        CHECK_OK(context, hn_simulation_momentum(simulation, &p, &angular));
        for (int axis = 0; axis < AXES; ++axis)
            worst[scheme] =
                fmax(worst[scheme], fabs(component(p, axis) - expected[axis]) / expected[axis]);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        // measured 2.4e-15; projected-rk, to whose tolerance the cosine is, 8.3e-6
        CHECK_BELOW(worst[scheme], scheme == HN_SCHEME_PROJECTED_RK ? 2e-5 : 1e-14);
    }
}

// The mean alone, with steps down to round-off at times far from zero
TEST(load_impulse, means_are_exact_for_long_and_short_steps_anywhere)
{
    double worst = 0.0;
    for (int i = 0; i < 20000; ++i) {
        random_profile r;
        double end = pow(10.0, 8.0 * random_unit() - 4.0);
        make_profile(&r, end);
        double begin = end * (1.6 * random_unit() - 0.3),
               span = end * pow(10.0, -9.0 * random_unit());
        double stop = begin + span;
        long double absolute, sum = integral(&r, begin, stop, &absolute);
        double got = profile_mean(&r.profile, begin, stop);
        long double length = (long double)stop - (long double)begin;
        if (absolute == 0.0L) CHECK(got == 0.0);
        else {
            // what a factor changes in the round-off of its own time is no error of the mean
            long double slope = 0.0L;
            for (int k = 1; k < r.count; ++k)
                slope = fmaxl(slope, (long double)fabs((r.factors[k] - r.factors[k - 1]) /
                                                       (r.times[k] - r.times[k - 1])));
            long double unknown = slope * 2.3e-16L * (long double)(fabs(begin) + fabs(stop));
            long double error = fabsl((long double)got - sum / length) - unknown;
            worst = fmax(worst, (double)(error / (absolute / length)));
        }
    }
    CHECK_BELOW(worst, 1e-15); // of the mean of |f|; measured 2.1e-16
    // a point that begins or ends a step is in neither piece
    const double times[3] = {0.0, 1.0, 3.0}, factors[3] = {2.0, -1.0, 5.0};
    hn_profile table = {.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 3};
    CHECK_NEAR(profile_mean(&table, 0.0, 1.0), 0.5, 0.0);
    CHECK_NEAR(profile_mean(&table, 1.0, 3.0), 2.0, 0.0);
    CHECK_NEAR(profile_mean(&table, 0.0, 3.0), (0.5 + 4.0) / 3.0, 1e-15);
    CHECK_NEAR(profile_mean(&table, -7.0, -2.0), 2.0, 0.0);
    CHECK_NEAR(profile_mean(&table, 3.0, 9.0), 5.0, 0.0);
    CHECK_NEAR(profile_mean(&table, -1.0, 4.0), (2.0 + 0.5 + 4.0 + 5.0) / 5.0, 1e-15);
}

// A pulse of a hundredth of a step: one twentieth of the peak's impulse over a step before, or nothing
TEST(load_impulse, of_a_pulse_far_shorter_than_a_step_is_its_area_and_energy_balances)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_body_id body;
        hn_load_id id;
        hn_model_def world = hn_model_def_default();
        world.gravity = (hn_vec3){0.0, 0.0, 0.0};
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        def.mass = 2.0;
        def.inertia = (hn_vec3){0.3, 0.4, 0.5};
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context, hn_model_set_velocity(model, body, (hn_vec3){0.1, 0.0, 0.0}));
        CHECK_OK(context, hn_model_set_angular_velocity(model, body, (hn_vec3){0.2, 0.3, -0.1}));
        hn_load_def load = hn_load_def_default();
        load.body = body;
        load.vector = (hn_vec3){1000.0, 0.0, 0.0};
        load.profile =
            (hn_profile){.kind = HN_PROFILE_PULSE, .start = 0.0251, .peak = 0.02515, .end = 0.0252};
        CHECK_OK(context, hn_model_add_load(model, &load, &id));
        load.torque = load.body_fixed = true;
        load.vector = (hn_vec3){30.0, 0.0, 20.0};
        CHECK_OK(context, hn_model_add_load(model, &load, &id));
        run r = run_start(context, model, (hn_scheme)k, HN_REDUCTION_REDUCED, 0.01, true);
        run_step(&r, 10);
        CHECK_NEAR(run_body(&r, body).velocity.x, 0.1 + 0.5 * 1000.0 * 1e-4 / 2.0, 1e-13);
        hn_ledger ledger;
        CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
        if (scheme_type_of((hn_scheme)k)->energy_kept || k == HN_SCHEME_PROJECTED_RK)
            CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-13); // relative; measured 2.0e-15
        run_end(&r);
    }
}

static void count_line(const char *line, void *user)
{
    if (strstr(line, "load 'short'") != NULL && strstr(line, "0.0001 s apart") != NULL)
        ++*(int *)user;
}

TEST(load_impulse, profiles_finer_than_the_step_are_named)
{
    for (int k = 0; k < HN_SCHEME_COUNT; ++k)
        for (int fine = 0; fine < 2; ++fine) {
            int lines = 0;
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            hn_body_id body;
            hn_load_id id;
            hn_context_set_log(context, count_line, &lines);
            hn_model_def world = hn_model_def_default();
            CHECK_OK(context, hn_model_create(context, &world, &model));
            hn_body_def def = hn_body_def_default();
            def.kind = HN_BODY_POINT_MASS;
            def.mass = 2.0;
            CHECK_OK(context, hn_model_add_body(model, &def, &body));
            hn_load_def load = hn_load_def_default();
            load.name = "short";
            load.body = body;
            load.vector = (hn_vec3){1.0, 0.0, 0.0};
            load.profile =
                (hn_profile){.kind = HN_PROFILE_PULSE, .start = 1.0, .peak = 1.0001, .end = 1.1};
            CHECK_OK(context, hn_model_add_load(model, &load, &id));
            run r = run_start(context, model, (hn_scheme)k, HN_REDUCTION_REDUCED,
                              fine ? 1e-3 : 1e-4, true);
            bool said = fine && k != HN_SCHEME_PROJECTED_RK; // which ends its own steps at kinks
            CHECK_EQUAL(lines, said ? 1 : 0);
            hn_ledger ledger;
            CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
            CHECK((strstr(ledger.entry[HN_PROMISE_ENERGY].note,
                          "load 'short' is finer than the step") != NULL) == said);
            run_end(&r);
        }
}

static void count_expression(const char *line, void *user)
{
    if (strstr(line, "load 'short'") != NULL && strstr(line, "finer than the step") != NULL)
        ++*(int *)user;
}

// Named once: when the simulation is made (the file says how long it runs) or in the step where it is.
TEST(load_impulse, expressions_finer_than_the_step_are_named)
{
    static const struct {
        const char *expression;
        bool fine;
    } LOADS[] = {{"1000*exp(-((t - 0.2)/0.0001)^2)", true},
                 {"1000*exp(-((t - 0.2037)/0.0001)^2)", true},
                 {"1000*exp(-((t - 0.2037)/0.000001)^2)", true},
                 {"sin(2000*t)", true},
                 {"t > 0.2003 ? (t < 0.2013 ? 1 : 0) : 0", true},
                 {"max(0, 1 - abs(t - 0.205)/0.001)", true},
                 {"sin(20*t)", false},
                 {"t^5", false},
                 {"exp(-((t - 0.2)/0.02)^2)", false},
                 {"abs(sin(20*t))", false},
                 {"t > 0.2013 ? cos(t) : 0", false}};
    for (size_t k = 0; k < sizeof LOADS / sizeof LOADS[0]; ++k)
        for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
            int lines = 0;
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            hn_body_id body;
            hn_load_id id;
            hn_context_set_log(context, count_expression, &lines);
            hn_model_def world = hn_model_def_default();
            CHECK_OK(context, hn_model_create(context, &world, &model));
            hn_body_def def = hn_body_def_default();
            def.mass = 2.0;
            def.inertia = (hn_vec3){0.3, 0.4, 0.5};
            CHECK_OK(context, hn_model_add_body(model, &def, &body));
            hn_load_def load = hn_load_def_default();
            load.name = "short";
            load.body = body;
            load.vector = (hn_vec3){1.0, 0.0, 0.0};
            load.profile =
                (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = LOADS[k].expression};
            CHECK_OK(context, hn_model_add_load(model, &load, &id));
            run r = run_start(context, model, (hn_scheme)scheme, HN_REDUCTION_REDUCED, 0.01, true);
            run_step(&r, 40);
            bool said = LOADS[k].fine && scheme != HN_SCHEME_PROJECTED_RK;
            CHECK_EQUAL(lines, said ? 1 : 0);
            hn_ledger ledger;
            CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
            CHECK((strstr(ledger.entry[HN_PROMISE_ENERGY].note,
                          "load 'short' is finer than the step") != NULL) == said);
            run_end(&r);
        }
}
