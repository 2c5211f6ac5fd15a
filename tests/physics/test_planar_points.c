// SPDX-License-Identifier: MIT
// Planar point masses in a plane that lies obliquely: they stay there, under every scheme and reduction.
#include "physics/run.h"

static const hn_vec3 NORMAL = {0.6, 0.0, 0.8};
static const double GRAVITY = 9.81; // m/s^2, down

static const double BESIDE = 0.4; // m, how far the plane is from the end of the rod on the ground

static run hanging(hn_scheme scheme, hn_reduction way, bool rod, double beside)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = vec3(0.0, 0.0, -GRAVITY);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    def.kind = HN_BODY_PLANAR_POINT_MASS;
    def.mass = 1.3;
    def.plane_normal = NORMAL;
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    hn_joint_def link = hn_joint_def_default(HN_JOINT_DISTANCE);
    hn_joint_id id;
    link.body_a = hn_ground();
    link.body_b = body;
    link.point_a = vec3_add_scaled(vec3(0.0, 1.0, 0.0), beside, NORMAL);
    link.length = sqrt(1.0 + beside * beside);
    if (rod) CHECK_OK(context, hn_model_add_joint(model, &link, &id));
    return run_start(context, model, scheme, way, 0.001, true);
}

static run falling(hn_scheme scheme, hn_reduction way, bool rod)
{
    return hanging(scheme, way, rod, 0.0);
}

static hn_vec3 place_of(const run *r)
{
    hn_body_state state;
    CHECK_OK(r->context, hn_simulation_body_state(r->sim, hn_model_body(r->model, 0), &state));
    return state.position;
}

// Free fall along the plane, x = 1/2 g_in t^2. Before, under `nullspace` and `multipliers`: what the prediction of a
// step left beside the plane was never taken back, and grew: 3.5 mm after 0.5 s.
TEST(planar_points, fall_in_their_plane)
{
    double worst = 0.0, beside = 0.0;
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = falling(SCHEMES[s], REDUCTIONS[w], false);
            CHECK_OK(r.context, hn_simulation_step(r.sim, 2000));
            hn_vec3 x = place_of(&r),
                    g = vec3_add_scaled(vec3(0.0, 0.0, -GRAVITY), GRAVITY * NORMAL.z, NORMAL);
            worst = fmax(worst, vec3_norm(vec3_add_scaled(x, -0.5 * 2.0 * 2.0, g)));
            beside = fmax(beside, fabs(vec3_dot(NORMAL, x)));
            hn_ledger ledger;
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
            run_end(&r);
        }
    CHECK_BELOW(worst, 1e-10);  // m of 11.8; measured 4.1e-12
    CHECK_BELOW(beside, 5e-13); // m; measured 1.2e-14
}

// On a rod, with the motion of `reduced`, which has coordinates of the plane. Before: no step after 1.15 s.
TEST(planar_points, swing_in_their_plane)
{
    double worst = 0.0, beside = 0.0;
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s) {
        hn_vec3 first = {0.0, 0.0, 0.0};
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = falling(SCHEMES[s], REDUCTIONS[w], true);
            CHECK_OK(r.context, hn_simulation_step(r.sim, 2000));
            hn_vec3 x = place_of(&r);
            if (w == 0) first = x;
            worst = fmax(worst, vec3_norm(vec3_subtract(x, first)));
            beside = fmax(beside, fabs(vec3_dot(NORMAL, x)));
            run_end(&r);
        }
    }
    CHECK_BELOW(worst, 5e-13);  // m; measured 2.2e-14
    CHECK_BELOW(beside, 1e-13); // m; measured 2.2e-15
}

// On a rod from beside the plane it swings as on one in it: before, the rod turned about an axis at right angles to
// itself, which led out of the plane (1e-3 m, 2e-4 of the energy), and the velocities of `ggl-energy-momentum` took
// the force that holds the point in its plane for one of the rod.
TEST(planar_points, swing_on_rods_from_beside_their_plane)
{
    double worst = 0.0, off = 0.0, energy = 0.0;
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = hanging(SCHEMES[s], REDUCTIONS[w], true, BESIDE),
                level = falling(SCHEMES[s], REDUCTIONS[w], true);
            CHECK_OK(r.context, hn_simulation_step(r.sim, 1000));
            CHECK_OK(level.context, hn_simulation_step(level.sim, 1000));
            hn_vec3 x = place_of(&r);
            worst = fmax(worst, vec3_norm(vec3_subtract(x, place_of(&level))));
            off = fmax(off, fabs(vec3_dot(NORMAL, x)));
            hn_ledger ledger;
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            CHECK(ledger.entry[HN_PROMISE_CONSTRAINTS].kept);
            if (s == 0) energy = fmax(energy, ledger.entry[HN_PROMISE_ENERGY].error);
            run_end(&r);
            run_end(&level);
        }
    CHECK_BELOW(worst, 2e-13);  // m; measured 1.3e-14
    CHECK_BELOW(off, 1e-13);    // m; measured 1.3e-15
    CHECK_BELOW(energy, 1e-13); // measured 5.5e-15
}

// A rod pulls along itself, and by what its part in the plane takes; what holds the point in its plane is no force of
// the rod's. Before, gravity across the plane was in its reaction: 10 N.
TEST(planar_points, have_reactions_of_their_rods_alone)
{
    double across = 0.0, along = 0.0;
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = hanging(SCHEMES[s], REDUCTIONS[w], true, BESIDE);
            CHECK_OK(r.context, hn_simulation_step(r.sim, 600));
            hn_joint_state rod;
            hn_body_state state;
            CHECK_OK(r.context, hn_simulation_joint_state(r.sim, hn_model_joint(r.model, 0), &rod));
            CHECK_OK(r.context, hn_simulation_body_state(r.sim, hn_model_body(r.model, 0), &state));
            hn_vec3 out = vec3_subtract(state.position, vec3(0.0, 1.0, 0.0)),
                    link = vec3_add_scaled(out, -BESIDE, NORMAL),
                    gravity = vec3(0.0, 0.0, -GRAVITY);
            double pull = 1.3 * (vec3_dot(state.velocity, state.velocity) + vec3_dot(gravity, out));
            across = fmax(across, vec3_norm(vec3_cross(rod.reaction_force, link)));
            along = fmax(along, fabs(pull + vec3_dot(rod.reaction_force, out)));
            run_end(&r);
        }
    CHECK_BELOW(across, 0.1); // N m, some reactions are half a step old; measured 0.033
    CHECK_BELOW(along, 0.1);  // N of 13; measured 0.019
}

// One that is off its plane is no silent matter.
TEST(planar_points, off_their_plane_break_the_promise_of_constraints)
{
    run r = falling(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, false);
    CHECK_OK(r.context, hn_simulation_step(r.sim, 1));
    vec3_store(vec3_add_scaled(vec3_load(r.sim->state.q), 1e-6, NORMAL), r.sim->state.q);
    CHECK_OK(r.context, hn_simulation_step(r.sim, 1));
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    CHECK(!ledger.entry[HN_PROMISE_CONSTRAINTS].kept);
    CHECK_NEAR(ledger.entry[HN_PROMISE_CONSTRAINTS].error * r.sim->system->sizes[0], 1e-6, 1e-12);
    run_end(&r);
}
