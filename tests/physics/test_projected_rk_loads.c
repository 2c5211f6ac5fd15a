// SPDX-License-Identifier: MIT
// Loads given by expressions under `projected-rk`: internal steps end at their corners and pass over no peak.
#include "run.h"

static void count_messages(const char *line, void *user)
{
    if (strstr(line, "load 'push'") != NULL) ++*(int *)user;
}

// A free body of 2 kg with a force along x
static run pushed_body(const char *expression, int order, double step, int *named)
{
    run r = {.context = hn_context_create(NULL)};
    hn_context_set_log(r.context, count_messages, named);
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(r.context, hn_model_create(r.context, &world, &r.model));
    hn_body_def def = hn_body_def_default();
    def.mass = 2.0;
    def.inertia = (hn_vec3){0.3, 0.4, 0.5};
    hn_body_id body;
    CHECK_OK(r.context, hn_model_add_body(r.model, &def, &body));
    hn_load_def load = hn_load_def_default();
    load.name = "push";
    load.body = body;
    load.vector = (hn_vec3){2.0, 0.0, 0.0};
    load.profile = (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = expression};
    hn_load_id id;
    CHECK_OK(r.context, hn_model_add_load(r.model, &load, &id));
    hn_simulation_def run_def = hn_simulation_def_default();
    run_def.scheme = HN_SCHEME_PROJECTED_RK;
    run_def.order = order;
    run_def.step_size = step;
    CHECK_OK(r.context, hn_simulation_create(r.model, &run_def, &r.sim));
    return r;
}

static double momentum(const run *r)
{
    hn_vec3 linear, angular;
    CHECK_OK(r->context, hn_simulation_momentum(r->sim, &linear, &angular));
    return linear.x;
}

static const int ORDERS[] = {5, 8};

// What a table of the same load gives: all of it, to round-off.
TEST(projected_rk_loads, between_jumps_and_corners_act_in_full)
{
    static const struct {
        const char *expression;
        double impulse; // over two
    } LOADS[] = {
        {"t > 0.3003 ? (t < 0.3013 ? 1 : 0) : 0", 1e-3},
        {"t > 0.5003 ? (t < 0.5007 ? 1000 : 0) : 0", 0.4},
        {"t > 0.5 && t < 0.500001", 1e-6},
        {"(t - 0.5)^2 < 1e-8 ? 1 : 0", 2e-4},
        {"max(0, 1 - abs(t - 0.5)/1e-5)*1000", 1e-2},
        {"sin(300*t) > 0 ? 1 : 0", 0.50265482457436691835}, // 48 halves of 2 pi/300
        {"min(sin(40*pi*t), 0) < 0 ? 0 : 1", 0.5},
        {"t > 0.999 ? 1 : 0", 1e-3},
    };
    double worst = 0.0;
    for (size_t k = 0; k < sizeof LOADS / sizeof LOADS[0]; ++k)
        for (int i = 0; i < 2; ++i)
            for (double step = 1.0; step > 1e-3; step *= 0.1) {
                int named = 0;
                run r = pushed_body(LOADS[k].expression, ORDERS[i], step, &named);
                run_step(&r, (int64_t)(1.0 / step + 0.5));
                double error =
                    fabs(momentum(&r) - 2.0 * LOADS[k].impulse) / (2.0 * LOADS[k].impulse);
                worst = fmax(worst, error);
                CHECK(named == 0);
                run_end(&r);
            }
    CHECK_BELOW(worst, 1e-9); // measured 4.3e-11
}

// Smooth but narrow: seen by the stages, then resolved to the tolerance.
TEST(projected_rk_loads, narrow_and_smooth_act_to_the_tolerance)
{
    static const struct {
        const char *expression;
        double impulse;
    } LOADS[] = {
        {"max(0, 1 - (t - 0.5)*(t - 0.5)/1e-10)*1000", 4.0 / 3.0 * 1e-2},
        {"1000*exp(-((t - 0.5)/1e-4)^2)", 0.17724538509055160},
        {"1000*exp(-((t - 0.5123)/1e-6)^2)", 1.7724538509055160e-3},
        {"1 + 1000/(1 + ((t - 0.5)/1e-4)^2)", 1.3141192653856446},
    };
    double worst = 0.0;
    for (size_t k = 0; k < sizeof LOADS / sizeof LOADS[0]; ++k)
        for (int i = 0; i < 2; ++i)
            for (double step = 1.0; step > 1e-3; step *= 0.1) {
                int named = 0;
                run r = pushed_body(LOADS[k].expression, ORDERS[i], step, &named);
                run_step(&r, (int64_t)(1.0 / step + 0.5));
                double error = fabs(momentum(&r) - 2.0 * LOADS[k].impulse);
                worst = fmax(worst, error);
                CHECK(named == 0);
                run_end(&r);
            }
    CHECK_BELOW(worst, 2e-5); // kg m/s; measured 4.8e-6
}

// Where no bounds of an expression tell, the load is named, and once.
TEST(projected_rk_loads, that_cannot_be_told_are_named)
{
    int named = 0;
    run r = pushed_body("max(cos(t)*cos(t) + sin(t)*sin(t) - 0.999999999, 0)", 5, 0.1, &named);
    run_step(&r, 10);
    CHECK(named == 1);
    run_end(&r);
}
