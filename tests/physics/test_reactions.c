// SPDX-License-Identifier: MIT
// Joint reactions against closed forms, against the momentum balance of what hangs on the joint, and between
// reductions.
#include "physics/generic_pair.h"
#include "physics/mechanism.h"
#include "support/generic_models.h"
#include "support/reference.h"

enum { HALVINGS = 4 };

static hn_joint_state joint_state(const run *r, hn_joint_id id)
{
    hn_joint_state state;
    CHECK_OK(r->context, hn_simulation_joint_state(r->sim, id, &state));
    return state;
}

// Steps and step size for which a reaction belongs to `time`: the node n, or the middle of step n.
static double step_for(hn_scheme scheme, double time, int steps)
{
    return time / (scheme == HN_SCHEME_VARIATIONAL ? steps : steps - 0.5);
}

// ---- closed forms -----------------------------------------------------------------------------------

TEST(reactions, pendulum_tension_is_second_order)
{
    reference *ref = reference_load("pendulum.json");
    double times[8], tension[8];
    int count = reference_numbers(ref, "/times", times, 8);
    CHECK_EQUAL(
        reference_numbers(ref, "/reference/lambda_constraint_force_magnitude/values", tension, 8),
        count);
    reference_destroy(ref);
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s)
        for (int i = 1; i < 4; ++i) { // t = 0.5, 1, 2
            double last = 0.0, last_h = 0.0;
            for (int k = 0; k <= HALVINGS; ++k) {
                int steps = 200 << k;
                double h = step_for(SCHEMES[s], times[i], steps);
                run r = run_model("pendulum", SCHEMES[s], HN_REDUCTION_REDUCED, h, false);
                run_step(&r, steps);
                hn_joint_state state = joint_state(&r, hn_model_joint(r.model, 0));
                CHECK_NEAR(state.reaction_time, times[i], 1e-12);
                double lambda;
                CHECK_OK(r.context, hn_simulation_multipliers(r.sim, &lambda, 1));
                double error = fabs(vec3_norm(state.reaction_force) - tension[i]);
                // along the rod, of length one: force and multiplier agree
                if (SCHEMES[s] == HN_SCHEME_VARIATIONAL)
                    CHECK_NEAR(fabs(lambda), vec3_norm(state.reaction_force), 1e-9);
                if (k > 0)
                    CHECK_NEAR(log(last / error) / log(last_h / h), 2.0, 0.05); // measured 2.00
                last = error, last_h = h;
                run_end(&r);
            }
            CHECK_BELOW(last / tension[i], 1e-4); // measured 4.9e-6
        }
}

// Steady precession: the centre of mass goes round a circle at 10 rad/s, so the tip carries the weight and m r w^2;
// there is no torque in a ball joint.
//
// In `energy-momentum` the part of v normal to the constraints changes its sign from step to step, since G(q_mid) v_mid
// = 0 holds and G v = 0 at the nodes does not: of order h^2 in v, it is of order h in the reaction of a single step.
// The mean of two neighbouring steps, which belongs to the node between them, is second order again.
TEST(reactions, the_tip_of_the_top_is_second_order)
{
    const double mass = 0.7068583470577036, gravity = 9.81, rate = 10.0;
    const double radius = 0.075 * sin(acos(-1.0) / 3.0), time = 0.1;
    // phi = r (sin wt, -cos wt), the force points back
    const double inward = mass * radius * rate * rate;
    const hn_vec3 expected =
        vec3(-inward * sin(rate * time), inward * cos(rate * time), mass * gravity);
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s) {
        double last = 0.0, last_single = 0.0;
        for (int k = 0; k <= HALVINGS; ++k) {
            int steps = 200 << k;
            run r = run_model("gyro-top", SCHEMES[s], HN_REDUCTION_REDUCED, time / steps, false);
            run_step(&r, steps);
            hn_joint_state state = joint_state(&r, hn_model_joint(r.model, 0));
            hn_vec3 force = state.reaction_force;
            if (SCHEMES[s] == HN_SCHEME_ENERGY_MOMENTUM) {
                double single = vec3_norm(vec3_subtract(force, expected));
                run_step(&r, 1);
                hn_joint_state next = joint_state(&r, hn_model_joint(r.model, 0));
                CHECK_NEAR(0.5 * (state.reaction_time + next.reaction_time), time, 1e-12);
                force = vec3_mean(force, next.reaction_force);
                if (k > 0) CHECK_NEAR(log2(last_single / single), 1.0, 0.1); // measured 1.00
                last_single = single;
            } else {
                CHECK_NEAR(state.reaction_time, time, 1e-12);
            }
            double error = vec3_norm(vec3_subtract(force, expected));
            if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 2.00
            // N m, round-off of momenta over h; measured 5.0e-12
            CHECK_BELOW(vec3_norm(state.reaction_torque), 1e-11);
            last = error;
            run_end(&r);
        }
        CHECK_BELOW(last / (mass * gravity), 1e-4); // measured 2.3e-6
    }
}

// ---- momentum balance -------------------------------------------------------------------------------

typedef struct balance {
    hn_vec3 linear, angular; // momenta of the subtree, about the world's origin
    hn_vec3 first_moment;    // sum of m phi
    hn_vec3 point;           // the joint's place on its outer body
    hn_vec3 force, moment;   // reaction, moment about the world's origin
    hn_vec3 torque;          // reaction about the joint point
} balance;

// joint k carries the bodies k, k + 1, ...
static balance balance_of(const run *r, const generic_pair *g, int k, hn_vec3 arm, double *mass)
{
    balance b = {0};
    *mass = 0.0;
    for (int i = k; i < GENERIC_BODIES; ++i) {
        hn_body_state s = run_body(r, g->body[i]);
        double m = hn_model_body_mass(r->model, g->body[i]);
        b.linear = vec3_add(b.linear, s.linear_momentum);
        b.angular = vec3_add(b.angular, s.angular_momentum);
        b.first_moment = vec3_add_scaled(b.first_moment, m, s.position);
        *mass += m;
        if (i == k) b.point = vec3_add(s.position, mat3_apply(&s.orientation, arm));
    }
    hn_joint_state state = joint_state(r, g->joint[k]);
    b.force = state.reaction_force;
    b.torque = state.reaction_torque;
    b.moment = vec3_add(b.torque, vec3_cross(b.point, b.force));
    return b;
}

// Largest violation of d/dt (momenta of the subtree) = gravity + reaction over all joints and steps, relative to the
// largest term.
static double largest_imbalance(hn_joint_kind kind, hn_scheme scheme, hn_reduction way)
{
    enum { STEPS = 50 };
    const double h = 0.01;
    generic_options o = generic_defaults(kind);
    o.grounded = true;
    generic_pair g = generic_build(&o);
    run r = generic_run(&g, scheme, way, h);
    hn_vec3 gravity = hn_model_gravity(g.model), arm[GENERIC_JOINTS];
    balance before[GENERIC_JOINTS], after;
    double mass, worst = 0.0, largest = 0.0;
    for (int k = 0; k < GENERIC_JOINTS; ++k) {
        hn_body_state s = run_body(&r, g.body[k]);
        arm[k] = mat3_apply_transposed(&s.orientation, vec3_subtract(g.point_b[k], s.position));
        before[k] = balance_of(&r, &g, k, arm[k], &mass);
    }
    for (int n = 0; n < STEPS; ++n) {
        run_step(&r, 1);
        for (int k = 0; k < GENERIC_JOINTS; ++k) {
            after = balance_of(&r, &g, k, arm[k], &mass);
            hn_vec3 force, moment;
            if (scheme == HN_SCHEME_VARIATIONAL) {
                // reactions belong to the nodes: half of either
                force = vec3_mean(before[k].force, after.force);
                moment = vec3_mean(before[k].moment, after.moment);
            } else {
                force = after.force;
                moment = vec3_add(after.torque,
                                  vec3_cross(vec3_mean(before[k].point, after.point), force));
            }
            hn_vec3 weight_moment =
                vec3_cross(vec3_mean(before[k].first_moment, after.first_moment), gravity);
            hn_vec3 linear = vec3_scale(1.0 / h, vec3_subtract(after.linear, before[k].linear));
            hn_vec3 angular = vec3_scale(1.0 / h, vec3_subtract(after.angular, before[k].angular));
            worst = fmax(worst,
                         vec3_norm(vec3_subtract(linear, vec3_add_scaled(force, mass, gravity))));
            worst = fmax(worst, vec3_norm(vec3_subtract(angular, vec3_add(moment, weight_moment))));
            largest = fmax(largest, vec3_norm(moment));
            before[k] = after;
        }
    }
    run_end(&r);
    return worst / largest;
}

TEST(reactions, balance_the_momenta_of_what_hangs_on_the_joint)
{
    double worst = 0.0;
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w)
            for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
                double imbalance =
                    largest_imbalance((hn_joint_kind)kind, SCHEMES[s], REDUCTIONS[w]);
                if (!(imbalance < 1e-8))
                    print_error("%s joint, %s, %s\n", hn_joint_kind_name((hn_joint_kind)kind),
                                hn_scheme_name(SCHEMES[s]), hn_reduction_name(REDUCTIONS[w]));
                CHECK_BELOW(imbalance, 2e-11); // measured 2.3e-13
                worst = fmax(worst, imbalance);
            }
    MEASURED(worst);
}

// Largest reaction along the directions in which the joint is free, all steps of a run.
static double free_part(hn_joint_kind kind, hn_scheme scheme)
{
    generic_options o = generic_defaults(kind);
    o.grounded = true;
    generic_pair g = generic_build(&o);
    run r = generic_run(&g, scheme, HN_REDUCTION_REDUCED, 0.01);
    hn_body_state now = run_body(&r, g.body[PARENT]);
    hn_vec3 local = mat3_apply_transposed(&now.orientation, unit_vector(0.4, -0.3, 0.85));
    double worst = 0.0, largest = 0.0;
    for (int k = 0; k < 50; ++k) {
        hn_vec3 before = mat3_apply(&now.orientation, local);
        run_step(&r, 1);
        now = run_body(&r, g.body[PARENT]);
        hn_vec3 axis = mat3_apply(&now.orientation, local);
        if (scheme == HN_SCHEME_ENERGY_MOMENTUM) axis = vec3_mean(axis, before);
        hn_joint_state state = joint_state(&r, g.joint[PAIR_JOINT]);
        if (kind != HN_JOINT_PRISMATIC)
            worst = fmax(worst, fabs(vec3_dot(axis, state.reaction_torque)));
        if (kind != HN_JOINT_REVOLUTE)
            worst = fmax(worst, fabs(vec3_dot(axis, state.reaction_force)));
        largest = fmax(largest, vec3_norm(state.reaction_force));
    }
    run_end(&r);
    CHECK(largest > 1.0); // N
    return worst;
}

// At a midpoint the frame of a sliding joint is not orthonormal and its free directions are the axis up to O(h^2) only.
TEST(reactions, have_no_part_along_the_free_directions)
{
    // N and N m; measured 3.2e-13
    CHECK_BELOW(free_part(HN_JOINT_REVOLUTE, HN_SCHEME_ENERGY_MOMENTUM), 1e-11);
    CHECK_BELOW(free_part(HN_JOINT_REVOLUTE, HN_SCHEME_VARIATIONAL), 1e-11);
    CHECK_BELOW(free_part(HN_JOINT_PRISMATIC, HN_SCHEME_VARIATIONAL), 1e-11);
    CHECK_BELOW(free_part(HN_JOINT_CYLINDRICAL, HN_SCHEME_VARIATIONAL), 1e-11);
}

// ---- reductions -------------------------------------------------------------------------------------

TEST(reactions, are_the_same_for_all_reductions)
{
    enum { STEPS = 100 };
    double worst = 0.0;
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s)
        for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
            double lambda[HN_REDUCTION_COUNT][RUN_CONSTRAINTS_MAX],
                wrench[HN_REDUCTION_COUNT][6 * GENERIC_JOINTS];
            int count = 0;
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                generic_options o = generic_defaults((hn_joint_kind)kind);
                o.grounded = o.spring = true;
                generic_pair g = generic_build(&o);
                run r = generic_run(&g, SCHEMES[s], REDUCTIONS[w], 0.01);
                run_step(&r, STEPS);
                count = hn_simulation_structure(r.sim).constraint_count;
                CHECK(count <= RUN_CONSTRAINTS_MAX);
                CHECK_OK(r.context, hn_simulation_multipliers(r.sim, lambda[w], count));
                for (int k = 0; k < GENERIC_JOINTS; ++k) {
                    hn_joint_state state = joint_state(&r, g.joint[k]);
                    vec3_store(state.reaction_force, wrench[w] + 6 * k);
                    vec3_store(state.reaction_torque, wrench[w] + 6 * k + 3);
                }
                run_end(&r);
            }
            double size = 0.0;
            for (int k = 0; k < count; ++k) size = fmax(size, fabs(lambda[0][k]));
            CHECK(size > 1.0);
            for (int w = 1; w < HN_REDUCTION_COUNT; ++w) {
                worst = fmax(worst, largest_difference(lambda[0], lambda[w], count) / size);
                worst = fmax(worst,
                             largest_difference(wrench[0], wrench[w], 6 * GENERIC_JOINTS) / size);
            }
            CHECK_BELOW(worst, 3e-10); // measured 4.1e-12
        }
    MEASURED(worst);
}

// ---- inside bodies ----------------------------------------------------------------------------------

// Two bricks that hang on each other and on the ground by balls; `point`: the balls and the free end.
static mechanism hanging_bricks(hn_vec3 point[3])
{
    const hn_vec3 omega[2] = {{1.5, -2.0, 0.7}, {-0.8, 2.5, 1.9}}; // rad/s
    mechanism m = mechanism_create(2, vec3(0.0, 0.0, -9.81));
    hn_vec3 speed = {0.0, 0.0, 0.0};
    point[0] = vec3(0.0, 0.0, 0.0), point[1] = vec3(0.6, 0.3, -0.2),
    point[2] = vec3(0.9, -0.1, -0.8);
    for (int i = 0; i < 2; ++i) {
        mechanism_bar(&m, point[i], point[i + 1], 1.0 + i, 0.3);
        mechanism_body *b = &m.bodies[i];
        b->inertia = vec3_add(b->inertia, vec3(0.02, 0.01, 0.0)); // three different moments
        b->omega = omega[i];
        b->velocity = vec3_add(speed, vec3_cross(omega[i], vec3_subtract(b->position, point[i])));
        speed = vec3_add(speed, vec3_cross(omega[i], vec3_subtract(point[i + 1], point[i])));
        mechanism_joint_between(&m, HN_JOINT_SPHERICAL, i - 1, i, point[i], vec3(0.0, 0.0, 1.0));
    }
    m.moving = true;
    return m;
}

// What the six internal multipliers of a body should be, from E_I d_I'' = s_I F - sum_K lambda_IK d_K: forces F at
// points with the coordinates s_I in the body, directors d_I at three times. `centripetal`: do they hold the left side?
static void expect_internal(const mechanism_body *b, double h, const double *const d[3],
                            bool centripetal, int count, const hn_vec3 *force, const hn_vec3 *arm,
                            double *lambda)
{
    static const int PAIRS[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double j[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
    double part[3][3] = {{0.0}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            hn_vec3 to = vec3_load(d[1] + 3 * k), sum = {0.0, 0.0, 0.0};
            double euler = 0.5 * (j[0] + j[1] + j[2]) - j[i];
            for (int n = 0; n < 3 && centripetal; ++n)
                sum = vec3_add_scaled(sum, (n == 1 ? 2.0 : -1.0) * euler / (h * h),
                                      vec3_load(d[n] + 3 * i));
            part[i][k] = vec3_dot(sum, to);
            for (int n = 0; n < count; ++n) part[i][k] += (&arm[n].x)[i] * vec3_dot(force[n], to);
        }
    for (int r = 0; r < 6; ++r)
        lambda[r] = 0.5 * (part[PAIRS[r][0]][PAIRS[r][1]] + part[PAIRS[r][1]][PAIRS[r][0]]);
}

static double internal_error(hn_scheme scheme, double h)
{
    enum { STEPS = 5, SIZE = 2 * POSE_SIZE };
    hn_vec3 point[3], force[2], arm[2];
    double q[3][SIZE], lambda[2][18], error = 0.0, size = 0.0;
    mechanism m = hanging_bricks(point);
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, scheme, HN_REDUCTION_REDUCED, h, false);
    CHECK_EQUAL(x.r.coordinate_count, SIZE);
    CHECK_EQUAL(hn_simulation_structure(x.r.sim).constraint_count, 18);
    run_step(&x.r, STEPS);
    for (int n = 0; n < 3; ++n) {
        if (n > 0) run_step(&x.r, 1);
        run_coordinates(&x.r, q[n]);
        if (n == 0) continue; // the middle of the last two steps is the second of the three times
        CHECK_OK(x.r.context, hn_simulation_multipliers(x.r.sim, lambda[n - 1], 18));
        for (int i = 0; i < 2; ++i) {
            hn_vec3 own = joint_state(&x.r, x.joint[i]).reaction_force;
            force[i] = n == 1 ? own : vec3_mean(force[i], own);
        }
    }
    for (int i = 0; i < 2; ++i) {
        const double *d[3] = {q[0] + 12 * i + 3, q[1] + 12 * i + 3, q[2] + 12 * i + 3};
        hn_vec3 pull[2] = {force[i], vec3_scale(-1.0, force[1])};
        for (int n = 0; n < 2; ++n) {
            hn_vec3 to = vec3_subtract(point[i + n], m.bodies[i].position);
            const hn_mat3 *axes = &m.bodies[i].orientation;
            arm[n] = vec3(axes->m[0][0] * to.x + axes->m[1][0] * to.y + axes->m[2][0] * to.z,
                          axes->m[0][1] * to.x + axes->m[1][1] * to.y + axes->m[2][1] * to.z,
                          axes->m[0][2] * to.x + axes->m[1][2] * to.y + axes->m[2][2] * to.z);
        }
        double expected[6];
        expect_internal(&m.bodies[i], h, d, scheme != HN_SCHEME_CONVECTED, 2 - i, pull, arm,
                        expected);
        for (int k = 0; k < 6; ++k) {
            double found = 0.5 * (lambda[0][6 * i + k] + lambda[1][6 * i + k]);
            error = fmax(error, fabs(found - expected[k]));
            size = fmax(size, fabs(expected[k]));
        }
    }
    mechanism_end(&x);
    mechanism_destroy(&m);
    return error / size;
}

// The public ones of all schemes, of the second body as well, whatever time within a step they belong to.
TEST(reactions, internal_multipliers_carry_what_pulls_at_a_body)
{
    for (int s = 0; s < HN_SCHEME_COUNT; ++s) {
        double error = internal_error((hn_scheme)s, 1e-4);
        print_message("%s: %.2g\n", hn_scheme_name((hn_scheme)s), error);
        CHECK_BELOW(error, 3e-4); // half a step between times; measured 6.9e-5
    }
}
