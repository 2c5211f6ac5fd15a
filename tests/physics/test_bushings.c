// SPDX-License-Identifier: MIT
// Bushings: small and large motions against equations of their own, energy and momenta, all schemes, any placement.
#include "physics/driven_run.h"

#include <stdio.h>

// J phi'' = -k sin phi - c phi' by Runge-Kutta in small steps: the turn about one axis of a bushing.
static double turned(double inertia, double k, double c, double phi, double end)
{
    const int steps = 20000;
    double h = end / steps, w = 0.0;
    for (int i = 0; i < steps; ++i) {
        double dp[4], dw[4];
        for (int s = 0; s < 4; ++s) {
            double part = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h;
            double p = phi + (s == 0 ? 0.0 : part * dp[s - 1]),
                   v = w + (s == 0 ? 0.0 : part * dw[s - 1]);
            dp[s] = v;
            dw[s] = (-k * sin(p) - c * v) / inertia;
        }
        phi += h / 6.0 * (dp[0] + 2.0 * dp[1] + 2.0 * dp[2] + dp[3]);
        w += h / 6.0 * (dw[0] + 2.0 * dw[1] + 2.0 * dw[2] + dw[3]);
    }
    return phi;
}

static hn_body_state body_of(const driven_run *r, const char *name)
{
    hn_body_state state;
    CHECK_OK(r->context,
             hn_simulation_body_state(r->simulation, hn_model_find_body(r->model, name), &state));
    return state;
}

// A block on the ground, displaced along or turned about one of the six axes and let go.
TEST(bushings, swing_as_they_should_along_and_about_each_axis)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  block: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0, 0, 0]}\n"
        "joints: {loose: {free: {bodies: [ground, block]}}}\n"
        "loads:\n"
        "  mount: {bushing: {bodies: [ground, block], at: [0, 0, 0], stiffness: [300, 200, 100, 7, "
        "11, 13], damping: [4, 3, 2, 0.1, 0.2, 0.3]}}\n"
        "start: {loose: {%s}}\n";
    static const double K[6] = {300, 200, 100, 7, 11, 13}, C[6] = {4, 3, 2, 0.1, 0.2, 0.3},
                        M[6] = {2, 2, 2, 0.1, 0.2, 0.3};
    for (int i = 0; i < 6; ++i) {
        char text[800], start[100];
        double x0 = i < 3 ? 0.1 : 1.2, error[2];
        snprintf(start, sizeof start, "%s: [%g, %g, %g]", i < 3 ? "place" : "rotation",
                 i % 3 == 0 ? x0 : 0.0, i % 3 == 1 ? x0 : 0.0, i % 3 == 2 ? x0 : 0.0);
        snprintf(text, sizeof text, TEXT, start);
        double z = C[i] / (2.0 * M[i]), w = sqrt(K[i] / M[i] - z * z), t = 0.4;
        double exact = i < 3 ? x0 * exp(-z * t) * (cos(w * t) + z / w * sin(w * t))
                             : turned(M[i], K[i], C[i], x0, t);
        for (int n = 0; n < 2; ++n) {
            double h = 4e-3 / (1 << n);
            driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, h);
            CHECK_BELOW(balance_error(&r, (int)(t / h + 0.5), 1), 1e-12);
            hn_joint_state s;
            CHECK_OK(r.context, hn_simulation_joint_state(
                                    r.simulation, hn_model_find_joint(r.model, "loose"), &s));
            error[n] = fabs(s.coordinates[i] - exact);
            end_run(&r);
        }
        CHECK_BELOW(error[1], 1e-4); // measured 2.3e-5
        CHECK_NEAR(error[0] / error[1], 4.0, 0.15);
    }
}

#define PAIR                                                                                       \
    "holonom: 1\n"                                                                                 \
    "gravity: [0, 0, %g]\n"                                                                        \
    "bodies:\n"                                                                                    \
    "  hub: {mass: 2, inertia: [0.3, 0.25, 0.1], position: [0, 0, 0]}\n"                           \
    "  arm: {mass: 1, inertia: [0.05, 0.06, 0.08], position: [0.4, 0.1, 0.05]}\n"                  \
    "loads:\n"                                                                                     \
    "  mount: {bushing: {bodies: [hub, arm], at: [0.3, 0, 0], orientation: {rotate: {axis: [1, "   \
    "2, 3], "                                                                                      \
    "angle: 1}}, stiffness: [300, 200, 100, 7, 1, 3], damping: [%s]}}\n"                           \
    "start:\n"                                                                                     \
    "  hub: {angular_velocity: [1, 2, -1.5]}\n"                                                    \
    "  arm: {velocity: [0.5, 1, 0.2], angular_velocity: [3, -1, 2]}\n"

TEST(bushings, between_free_bodies_keep_energy_and_momenta)
{
    double place[HN_REDUCTION_COUNT];
    for (int k = 0; k < 2 * HN_REDUCTION_COUNT; ++k) {
        char text[900];
        bool damped = k % 2 == 1;
        snprintf(text, sizeof text, PAIR, 0.0,
                 damped ? "1, 2, 3, 0.1, 0, 0.3" : "0, 0, 0, 0, 0, 0");
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)(k / 2), 4e-3);
        hn_vec3 linear[2], angular[2];
        hn_energy before, after;
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &before));
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[0], &angular[0]));
        CHECK_BELOW(balance_error(&r, 500, 1), 1e-12);
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[1], &angular[1]));
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &after));
        CHECK_NEAR(linear[1].x, linear[0].x, 1e-12);
        CHECK_NEAR(angular[1].x, angular[0].x, 1e-12);
        CHECK_NEAR(angular[1].y, angular[0].y, 1e-12);
        CHECK_NEAR(angular[1].z, angular[0].z, 1e-12);
        double lost = before.kinetic - after.kinetic - after.potential;
        if (damped) CHECK(lost > 0.5);
        else CHECK_NEAR(lost, 0.0, 1e-11);
        if (!damped) {
            place[k / 2] = body_of(&r, "arm").position.y;
            CHECK_NEAR(place[k / 2], place[0], 1e-9);
        }
        end_run(&r);
    }
}

// All schemes tend to one motion, with dampers that act along and about the axes.
TEST(bushings, move_the_same_way_under_every_scheme)
{
    char text[900];
    double reference = 0.0;
    snprintf(text, sizeof text, PAIR, -9.81, "1, 2, 3, 0.1, 0, 0.3");
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        driven_run r = begin_run(text, (hn_scheme)scheme, HN_REDUCTION_REDUCED, 5e-4);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 400));
        hn_body_state s = body_of(&r, "arm");
        double value = s.position.x + 2.0 * s.position.y + s.orientation.m[0][1];
        if (scheme == 0) reference = value;
        // second order in all, first in the classical one
        CHECK_NEAR(value, reference, scheme == HN_SCHEME_GGL_CLASSICAL ? 5e-3 : 1e-4);
        end_run(&r);
    }
}

// The same model turned and moved as a whole gives the same motion, turned and moved.
TEST(bushings, do_not_see_where_the_model_stands)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  hub: {mass: 2, inertia: [0.3, 0.2, 0.1], position: [%g, 0, 0], orientation: {rotate: "
        "{axis: z, "
        "angle: %.17g}}}\n"
        "  arm: {mass: 1, inertia: [0.05, 0.06, 0.08], position: [%.17g, %.17g, 0.05], "
        "orientation: {rotate: {axis: z, angle: %.17g}}}\n"
        "loads:\n"
        "  mount: {bushing: {bodies: [hub, arm], coordinates: body, at: {a: [0.3, 0, 0], b: [-0.1, "
        "0, 0]}, frame: {a: {rotate: {axis: [1, 2, 3], angle: 1}}, b: {rotate: {axis: x, angle: "
        "0.3}}}, stiffness: "
        "[300, 200, 100, 7, 1, 3], damping: [1, 0, 2, 0.1, 0.4, 0]}}\n"
        "start:\n"
        "  arm: {angular_velocity: [0, 0, 2]}\n";
    double distance[2], turn[2];
    for (int i = 0; i < 2; ++i) {
        char text[1200];
        double angle = i == 0 ? 0.0 : 2.1, c = cos(angle), s = sin(angle), x = i == 0 ? 0.0 : 5.0;
        snprintf(text, sizeof text, TEXT, x, angle, x + 0.4 * c - 0.1 * s, 0.4 * s + 0.1 * c,
                 angle);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_NULLSPACE, 5e-3);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 200));
        hn_body_state hub = body_of(&r, "hub"), arm = body_of(&r, "arm");
        distance[i] = hypot(hypot(arm.position.x - hub.position.x, arm.position.y - hub.position.y),
                            arm.position.z - hub.position.z);
        turn[i] = 0.0;
        for (int k = 0; k < 3; ++k)
            for (int m = 0; m < 3; ++m)
                turn[i] += (k == 1 && m == 1 ? 2.0 : 1.0) *
                           (hub.orientation.m[0][k] * arm.orientation.m[0][m] +
                            hub.orientation.m[1][k] * arm.orientation.m[1][m] +
                            hub.orientation.m[2][k] * arm.orientation.m[2][m]);
        end_run(&r);
    }
    CHECK_NEAR(distance[1], distance[0], 1e-11);
    CHECK_NEAR(turn[1], turn[0], 1e-10);
}

// A string of blocks with more bushings than anybody counted on: each holds its block as the first does.
TEST(bushings, of_any_number)
{
    enum { COUNT = 60 };
    char text[COUNT * 220] = "holonom: 1\ngravity: [0, 0, 0]\nbodies:\n";
    size_t used = strlen(text);
    for (int i = 0; i < COUNT; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "  b%d: {mass: 2, inertia: [1, 1, 1], position: [%d, 0, 0]}\n", i, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "loads:\n");
    for (int i = 0; i < COUNT; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  m%d: {bushing: {bodies: [ground, b%d], at: [%d, 0, 0], "
                                 "stiffness: [50, 50, 200, 1, 1, 1]}}\n",
                                 i, i, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "start:\n");
    for (int i = 0; i < COUNT; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  b%d: {velocity: [0, 0, 0.1]}\n", i);
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(balance_error(&r, 100, 1), 1e-12);
    double z = 0.1 / 10.0 * sin(10.0 * 0.1); // v/w sin w t with w = sqrt(200 N/m / 2 kg)
    for (int i = 0; i < COUNT; ++i) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        CHECK_NEAR(body_of(&r, name).position.z, z, 1e-7); // measured 4.5e-8
    }
    end_run(&r);
}

// Between bodies of a chain that are not neighbours it stands beside the elimination of the tree, with all of its
// tangent: Newton's method converges as it should, and what it leaves is round-off.
TEST(bushings, beside_the_tree_have_an_exact_tangent)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  a: {shape: {box: {size: [1, 0.1, 0.2]}}, mass: 2, position: [0.5, 0, 0]}\n"
        "  b: {shape: {box: {size: [1, 0.3, 0.2]}}, mass: 1, position: [1.5, 0, 0.1]}\n"
        "  c: {shape: {box: {size: [0.3, 0.3, 0.2]}}, mass: 1, position: [2.5, 0, 0.1]}\n"
        "joints:\n"
        "  j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0.3]}}\n"
        "  k: {universal: {bodies: [a, b], at: [1, 0, 0], axes: [z, y]}}\n"
        "  l: {cylindrical: {bodies: [b, c], at: [2, 0, 0], axis: [1, 0, 0.2]}}\n"
        "loads:\n"
        "  mount: {bushing: {bodies: [a, c], at: [2.2, 0, 0.3], stiffness: [50, 60, 70, 1, 2, 3], "
        "damping: [1, 2, 3, 0.1, 0.2, 0.3]}}\n"
        "start:\n"
        "  j: {rate: 1}\n"
        "  k: {rates: [2, -1]}\n";
    const hn_scheme schemes[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                 HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                 HN_SCHEME_ENERGY_DECAYING};
    double worst = 0.0;
    int most = 0;
    for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            driven_run r = begin_run(TEXT, schemes[s], (hn_reduction)w, 2e-3);
            hn_simulation_destroy(r.simulation);
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = schemes[s];
            def.reduction = (hn_reduction)w;
            def.step_size = 2e-3;
            CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 16));
            hn_ledger ledger;
            CHECK_OK(r.context, hn_simulation_ledger(r.simulation, &ledger));
            worst = fmax(worst, ledger.entry[HN_PROMISE_EQUATIONS].error);
            int iterations = hn_simulation_statistics(r.simulation).newton_iteration_max;
            most = w > 0 || iterations < most ? most : iterations;
            end_run(&r);
        }
    CHECK_BELOW(worst, 1e-15); // measured 1.5e-16
    CHECK(most <= 5);
}
