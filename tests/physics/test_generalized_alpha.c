// SPDX-License-Identifier: MIT
// Generalized-alpha: the spectral radius at infinite frequency on a stiff pendulum; its order is in
// test_reference_order.c.
#include "physics/damped_mass.h"
#include "physics/driven_run.h"
#include "physics/run.h"

#include <math.h>

// A pendulum whose rod is a stiff spring: the stretch oscillates with h omega of some hundreds and is damped by the
// spectral radius in every step. A triple eigenvalue at infinite frequency makes it n^2 r^n.
static double damping_per_step(double radius)
{
    hn_context *context = hn_context_create(NULL);
    hn_model_def world = hn_model_def_default();
    hn_model *model;
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def bob = hn_body_def_default();
    bob.kind = HN_BODY_POINT_MASS;
    bob.mass = 1.0;
    bob.position = (hn_vec3){1.0 + 1e-3, 0.0, 0.0};
    hn_body_id body;
    CHECK_OK(context, hn_model_add_body(model, &bob, &body));
    hn_spring_def rod = hn_spring_def_default();
    rod.body_a = hn_ground();
    rod.body_b = body;
    rod.body_coordinates = true;
    rod.stiffness = 1e12; // h omega = 2000; the weight stretches it by 1e-11 m only
    rod.rest_length = 1.0;
    hn_load_id id;
    CHECK_OK(context, hn_model_add_spring(model, &rod, &id));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_GENERALIZED_ALPHA;
    def.step_size = 0.002;
    def.generalized_alpha.spectral_radius = radius;
    hn_simulation *sim;
    CHECK_OK(context, hn_simulation_create(model, &def, &sim));
    // long enough for the double and single parts of the eigenvalue to have gone
    int from = (int)ceil(6.0 / (1.0 - radius)), to = 2 * from;
    double stretch[80];
    for (int i = 1; i <= to; ++i) {
        CHECK_OK(context, hn_simulation_step(sim, 1));
        hn_body_state state;
        CHECK_OK(context, hn_simulation_body_state(sim, body, &state));
        stretch[i] = fabs(vec3_norm(state.position) - 1.0);
    }
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(context);
    // divide the growth of n^2 out
    return pow(stretch[to] / stretch[from] / 4.0, 1.0 / (to - from));
}

TEST(generalized_alpha, damps_high_frequencies_by_its_spectral_radius)
{
    const double radii[] = {0.4, 0.6, 0.8};
    for (int i = 0; i < 3; ++i) {
        double found = damping_per_step(radii[i]);
        print_message("spectral radius %.2f: %.4f per step\n", radii[i], found);
        CHECK_NEAR(found, radii[i], 0.03);
    }
}

TEST(generalized_alpha, keeps_constraints_and_loses_energy)
{
    run r =
        run_model("chain-revolute", HN_SCHEME_GENERALIZED_ALPHA, HN_REDUCTION_REDUCED, 0.0, true);
    CHECK_OK(r.context, hn_simulation_step(r.sim, 1000));
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-12);
    CHECK(ledger.entry[HN_PROMISE_ENERGY].drift < 0.0);
    CHECK(!ledger.entry[HN_PROMISE_ENERGY].conserved);
    run_end(&r);
}

// A mass that runs away from a damper, against the recursion for m v' = -c v with x = h c/m: damped for any x, and the
// closed form in the limit.
TEST(generalized_alpha, a_mass_on_a_damper_is_damped_at_any_step)
{
    static const double X[] = {0.01, 0.1, 1.0, 2.5, 40.0, 1000.0}, RADIUS[] = {0.2, 0.6, 0.9};
    double worst = 0.0;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 3; ++j) {
            const double h = 0.01, c = X[i] / h, r = RADIUS[j];
            hn_context *context = hn_context_create(NULL);
            hn_body_id body;
            hn_model *model = damped_mass(context, 0.3, DAMPED_MASS * c, &body);
            hn_simulation_def settings = hn_simulation_def_default();
            settings.scheme = HN_SCHEME_GENERALIZED_ALPHA;
            settings.generalized_alpha.spectral_radius = r;
            settings.step_size = h;
            hn_simulation *s = NULL;
            CHECK_OK(context, hn_simulation_create(model, &settings, &s));
            // (A6) with (DF1): whatever the spectral radius
            filtered_mass exact = {0.3, 0.0};
            for (int n = 0; n < 200; ++n) {
                filtered_step(&exact, X[i]);
                CHECK_OK(context, hn_simulation_step(s, 1));
                hn_body_state state;
                CHECK_OK(context, hn_simulation_body_state(s, body, &state));
                worst = fmax(worst, fabs(state.velocity.x - exact.v));
            }
            hn_simulation_destroy(s);
            hn_model_destroy(model);
            hn_context_destroy(context);
        }
    CHECK_BELOW(worst, 1e-12); // m/s; measured 5e-14
}

// A body with no extent along an axis has a director without inertia; what a damper does to it turns the body all the
// same. Off by 6e-3 at any step before.
TEST(generalized_alpha, dampers_act_on_flat_bodies_as_on_others)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  plate: {mass: 2, inertia: [0.3, 0.2, 0.1], position: [0, 0, 0]}\n"
        "  arm: {mass: 1, inertia: [0.05, 0.06, 0.08], position: [0.4, 0.1, 0.05]}\n"
        "loads:\n"
        "  tie: {spring: {bodies: [plate, arm], from: [0.3, 0, 0], to: [0.5, 0.2, 0], stiffness: "
        "300, damping: 10}}\n"
        "start:\n"
        "  plate: {angular_velocity: [1, 2, -1.5]}\n"
        "  arm: {velocity: [0.5, 1, 0.2], angular_velocity: [3, -1, 2]}\n";
    static const hn_scheme BOTH[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GENERALIZED_ALPHA};
    hn_vec3 place[2];
    for (int i = 0; i < 2; ++i) {
        driven_run r = begin_run(TEXT, BOTH[i], HN_REDUCTION_REDUCED, 5e-4);
        hn_body_state s;
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 400));
        CHECK_OK(r.context,
                 hn_simulation_body_state(r.simulation, hn_model_find_body(r.model, "arm"), &s));
        place[i] = s.position;
        end_run(&r);
    }
    CHECK_NEAR(place[1].x, place[0].x, 5e-5);
    CHECK_NEAR(place[1].y, place[0].y, 5e-5); // measured 5.2e-6
    CHECK_NEAR(place[1].z, place[0].z, 5e-5);
}
