// SPDX-License-Identifier: MIT
// Heavy bodies on light ones: what elimination body by body knows of a light body is a difference of the heavy one's
// numbers.
#include "physics/run.h"

static hn_body_id add_sphere(hn_context *context, hn_model *model, double mass, double radius,
                             hn_vec3 place, hn_vec3 velocity, hn_vec3 omega)
{
    hn_body_def def = hn_body_def_default();
    hn_body_id id;
    double inertia = 0.4 * mass * radius * radius;
    def.mass = mass;
    def.inertia = vec3(inertia, inertia, inertia);
    def.position = place;
    CHECK_OK(context, hn_model_add_body(model, &def, &id));
    CHECK_OK(context, hn_model_set_velocity(model, id, velocity));
    CHECK_OK(context, hn_model_set_angular_velocity(model, id, omega));
    return id;
}

static hn_model *empty_model(hn_context *context, hn_vec3 gravity)
{
    hn_model_def def = hn_model_def_default();
    hn_model *model = NULL;
    def.gravity = gravity;
    CHECK_OK(context, hn_model_create(context, &def, &model));
    return model;
}

enum { SLIDER_STEPS = 108 };
static const double SLIDER_STEP = 0.02;

// A light body in a ball joint at the origin, and a heavy one that slides away on a plane of it, ten metres in the run
static run slider(hn_scheme scheme, hn_reduction way, double heavy)
{
    const double LIGHT = 0.6;
    hn_context *context = hn_context_create(NULL);
    hn_model *model = empty_model(context, vec3(0.0, 0.0, 0.0));
    hn_joint_def ball = hn_joint_def_default(HN_JOINT_SPHERICAL),
                 plane = hn_joint_def_default(HN_JOINT_PLANAR);
    hn_joint_id id;
    hn_vec3 normal = vec3_scale(1.0 / sqrt(1.1), vec3(0.7, 0.5, 0.6)), omega = vec3(0.3, -0.4, 0.2),
            place = vec3(0.1, 1.0, -0.2), along = vec3_cross(normal, vec3(0.2, -0.9, 0.4));
    ball.body_a = hn_ground();
    ball.body_b = plane.body_a =
        add_sphere(context, model, LIGHT, 0.5, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0),
                   vec3_add_scaled(omega, 3.0, normal));
    plane.body_b =
        add_sphere(context, model, heavy, 0.2, place,
                   vec3_add_scaled(vec3_cross(omega, place), 4.6 / vec3_norm(along), along), omega);
    plane.point_a = place;
    plane.axis_a = normal;
    CHECK_OK(context, hn_model_add_joint(model, &ball, &id));
    CHECK_OK(context, hn_model_add_joint(model, &plane, &id));
    return run_start(context, model, scheme, way, SLIDER_STEP, true);
}

static hn_vec3 angular_momentum(const run *r)
{
    hn_vec3 sum = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < hn_model_body_count(r->model); ++i)
        sum = vec3_add(sum, run_body(r, hn_model_body(r->model, i)).angular_momentum);
    return sum;
}

TEST(mass_ratios, momentum_is_kept_where_a_heavy_body_slides_far_on_a_light_one)
{
    static const hn_scheme schemes[] = {HN_SCHEME_RATTLE, HN_SCHEME_GGL_ENERGY_MOMENTUM};
    double worst = 0.0, equations = 0.0;
    for (int k = 0; k < 2; ++k)
        for (double heavy = 25.0; heavy < 3e5; heavy *= 100.0)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                run r = slider(schemes[k], REDUCTIONS[w], heavy);
                hn_vec3 start = angular_momentum(&r);
                hn_ledger ledger;
                double size = 0.0, off = 0.0;
                for (int n = 0; n < SLIDER_STEPS; ++n) {
                    run_step(&r, 1);
                    hn_body_state body = run_body(&r, hn_model_body(r.model, 1));
                    size = fmax(size, vec3_norm(body.position) * vec3_norm(body.linear_momentum));
                    off = fmax(off, vec3_norm(vec3_subtract(angular_momentum(&r), start)));
                }
                CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
                worst = fmax(worst, off / size);
                equations = fmax(equations, ledger.entry[HN_PROMISE_EQUATIONS].error);
                run_end(&r);
            }
    CHECK_BELOW(worst, 1e-13);     // measured 1.7e-14; 3.4e-7 before
    CHECK_BELOW(equations, 1e-13); // measured 1.7e-15; 1.6e-11 before
}

// A light pendulum, and a heavy body that flies by itself; `joined`: a spring between them, which makes them one tree
// and pulls with less than round-off
static run neighbours(hn_scheme scheme, hn_reduction way, bool joined)
{
    const double LIGHT = 7e-7, HEAVY = 8e3, NEXT_TO_NOTHING = 1e-22; // kg, kg, N/m
    hn_context *context = hn_context_create(NULL);
    hn_model *model = empty_model(context, vec3(0.0, 0.0, -6.0));
    hn_joint_def ball = hn_joint_def_default(HN_JOINT_SPHERICAL);
    hn_spring_def spring = hn_spring_def_default();
    hn_joint_id id;
    hn_load_id load;
    hn_vec3 still = vec3(0.0, 0.0, 0.0);
    ball.body_a = hn_ground();
    ball.body_b = spring.body_a =
        add_sphere(context, model, LIGHT, 0.3, vec3(0.7, 0.0, 0.2), still, still);
    spring.body_b = add_sphere(context, model, HEAVY, 0.7, vec3(0.6, -1.5, 0.8),
                               vec3(0.3, 1.0, 0.5), vec3(1.0, 2.0, -1.0));
    spring.point_b = vec3(0.6, -1.5, 0.8);
    spring.stiffness = NEXT_TO_NOTHING;
    spring.rest_length = 0.0;
    CHECK_OK(context, hn_model_add_joint(model, &ball, &id));
    if (joined) CHECK_OK(context, hn_model_add_spring(model, &spring, &load));
    return run_start(context, model, scheme, way, 0.01, true);
}

TEST(mass_ratios, a_heavy_body_on_a_spring_does_not_hide_what_a_light_one_lacks)
{
    double worst = 0.0, equations = 0.0;
    for (int k = 0; k < REDUCTION_SCHEME_COUNT; ++k)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = neighbours(SCHEMES[k], REDUCTIONS[w], true),
                alone = neighbours(SCHEMES[k], REDUCTIONS[w], false);
            hn_ledger ledger;
            run_step(&r, 100);
            run_step(&alone, 100);
            for (int i = 0; i < 2; ++i)
                worst = fmax(worst, vec3_norm(vec3_subtract(
                                        run_body(&r, hn_model_body(r.model, i)).position,
                                        run_body(&alone, hn_model_body(alone.model, i)).position)));
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            equations = fmax(equations, ledger.entry[HN_PROMISE_EQUATIONS].error);
            run_end(&r);
            run_end(&alone);
        }
    CHECK_BELOW(worst, 1e-13);     // m; measured 5e-15; 1.5e-7 before
    CHECK_BELOW(equations, 2e-15); // measured 7e-17; 4.5e-9 before
}
