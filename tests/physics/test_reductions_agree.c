// SPDX-License-Identifier: MIT
// The three reductions give one trajectory, for every model and both schemes (LMO Corollary 3.5).
#include "physics/run.h"

enum { STEPS = 1000, STEPS_CHAOTIC_MIN = 200 };
static const double AGREEMENT = 1e-9;
static const double DISTURBANCE = 1e-14;

// Disturb the start: every joint rate, by a part of the size of the motion.
static void disturb(const run *r, double part)
{
    const hn_system *system = r->sim->system;
    double v[RUN_COORDINATES_MAX], change[RUN_COORDINATES_MAX] = {0.0}, *q = r->sim->state.q,
                                   scale = 1.0;
    for (int k = 0; k < TWIST_SIZE * system->body_count; ++k)
        scale = fmax(scale, fabs(system->twist_start[k]));
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const double *parent = system_pose(q, j->parent), *child = system_pose(q, i);
        joint_step step = {0};
        motion m;
        joint_type_of(j->kind)->begin(j, parent, child, &step);
        joint_type_of(j->kind)->motion(j, &step, parent, child, &m);
        // t_c = A t_p + B u
        hn_vec3 linear = {0.0, 0.0, 0.0}, angular = linear;
        if (j->parent >= 0 && m.carry != CARRY_NONE) {
            const double *t = change + TWIST_SIZE * j->parent;
            linear = vec3_add(vec3_load(t), vec3_cross(vec3_load(t + 3), m.offset));
            if (m.carry == CARRY_RIGID) angular = vec3_load(t + 3);
        }
        for (int k = 0; k < m.dof; ++k) {
            linear = vec3_add_scaled(linear, part * scale, m.linear[k]);
            angular = vec3_add_scaled(angular, part * scale, m.angular[k]);
        }
        vec3_store(linear, change + TWIST_SIZE * i);
        vec3_store(angular, change + TWIST_SIZE * i + 3);
        double twist[TWIST_SIZE];
        for (int k = 0; k < TWIST_SIZE; ++k)
            twist[k] = system->twist_start[TWIST_SIZE * i + k] + change[TWIST_SIZE * i + k];
        twist_to_velocity(child, twist, v + POSE_SIZE * i);
    }
    run_restart(r, q, v);
}

// Largest disagreement of the reductions over 1000 steps or, for chaotic models, over the time in which a disturbance
// of the start by 1e-14 stays below 1e-9; returns the number of steps compared.
static int compare(const char *model, hn_scheme scheme, bool chaotic, double *worst)
{
    run r[HN_REDUCTION_COUNT], other = {0};
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
        r[k] = run_model(model, scheme, REDUCTIONS[k], 0.0, false);
    if (chaotic) {
        other = run_model(model, scheme, HN_REDUCTION_REDUCED, 0.0, false);
        disturb(&other, DISTURBANCE);
    }
    int n = 0;
    *worst = 0.0;
    while (n < STEPS) {
        if (chaotic) {
            run_step(&other, 1);
            run_step(&r[0], 1);
            if (run_difference(&r[0], &other) > AGREEMENT) break;
        } else {
            run_step(&r[0], 1);
        }
        ++n;
        for (int k = 1; k < HN_REDUCTION_COUNT; ++k) {
            run_step(&r[k], 1);
            *worst = fmax(*worst, run_difference(&r[0], &r[k]));
        }
    }
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) run_end(&r[k]);
    if (chaotic) run_end(&other);
    return n;
}

static void check_model(const char *model, bool chaotic)
{
    for (int k = 0; k < REDUCTION_SCHEME_COUNT; ++k) {
        // the disturbed run starts anew from q and v, which is not all that the others remember
        if (chaotic && k >= PROMISE_SCHEME_COUNT) continue;
        double worst;
        int steps = compare(model, SCHEMES[k], chaotic, &worst);
        print_message("%s, %s: %d steps, %.2g\n", model, hn_scheme_name(SCHEMES[k]), steps, worst);
        CHECK_BELOW(worst, AGREEMENT); // measured 2.2e-11; the free tree 5.2e-10
        CHECK(steps >= (chaotic ? STEPS_CHAOTIC_MIN : STEPS)); // free tree above 600, others 1000
    }
}

TEST(reductions_agree, point_masses)
{
    check_model("unit-circle", false);
    check_model("pendulum", false);
}

TEST(reductions_agree, tops)
{
    check_model("gyro-top", false);
    check_model("nutating-top", false);
}

TEST(reductions_agree, free_flying_pairs)
{
    check_model("cylindrical-pair", false);
    check_model("planar-pair", false);
    check_model("prismatic-pair", false);
}

TEST(reductions_agree, brick_with_a_spring)
{
    check_model("planar-spring", false);
}

TEST(reductions_agree, chaotic_models_while_they_can_be_compared)
{
    check_model("chain-revolute", true);
    check_model("chain-spherical", true);
    check_model("double-spherical-pendulum", true);
    check_model("free-tree", true);
}
