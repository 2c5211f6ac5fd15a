// SPDX-License-Identifier: MIT
// A ladder of N four-bars by calls: N + 1 upright cranks on the ground, N bars between their tips, 1 m and 1 kg each.
//
//      o───o───o───o      All cranks stay parallel, so it is a pendulum in disguise: with x the angle
//      from upright
//      │   │   │   │      and N + 1 cranks of inertia J = (1 + width^2)/12 + 1/4 about their feet, N bars of 1
//      kg,
//    ──o───o───o───o──        ((N + 1) J + N) x'' = ((N + 1)/2 + N) g sin x .
//
// When the cranks lie flat the constraints lose rank: each four-bar might go on as an antiparallelogram.
#ifndef PHYSICS_LADDER_H
#define PHYSICS_LADDER_H

#include "physics/mechanism.h"

static const double LADDER_WIDTH = 1e-3;   // m, section of the bars
static const double LADDER_GRAVITY = 9.81; // m/s^2

/// Bodies 0 ... N: cranks, then bars; joints 0 ... N: feet, then (left, right) of each bar. `hanging`: tips below.
static inline mechanism ladder_mechanism(int n, double speed, bool hanging)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    const double tip = hanging ? -1.0 : 1.0;
    mechanism m = mechanism_create(3 * n + 2, vec3(0.0, -LADDER_GRAVITY, 0.0));
    for (int k = 0; k <= n; ++k) {
        hn_vec3 foot = {(double)k, 0.0, 0.0};
        mechanism_bar(&m, foot, vec3((double)k, tip, 0.0), 1.0, LADDER_WIDTH);
        m.bodies[k].omega = vec3(0.0, 0.0, -speed * tip);
        m.bodies[k].velocity = vec3(0.5 * speed, 0.0, 0.0);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, k, foot, z);
    }
    for (int k = 0; k < n; ++k) {
        hn_vec3 left = {(double)k, tip, 0.0}, right = {(double)(k + 1), tip, 0.0};
        int bar = mechanism_bar(&m, left, right, 1.0, LADDER_WIDTH);
        m.bodies[bar].velocity = vec3(speed, 0.0, 0.0);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k, bar, left, z);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k + 1, bar, right, z);
    }
    m.moving = true;
    return m;
}

/// Angle from upright of a pendulum with x'' = factor sin x after `time`, by a fine Runge-Kutta integration.
static inline double pendulum_angle(double factor, double x, double v, double time)
{
    const int steps = (int)ceil(time / 1e-4);
    const double h = time / (steps > 0 ? steps : 1);
    for (int i = 0; i < steps; ++i) {
        double k1 = factor * sin(x), k2 = factor * sin(x + 0.5 * h * v);
        double k3 = factor * sin(x + 0.5 * h * v + 0.25 * h * h * k1);
        double k4 = factor * sin(x + h * v + 0.5 * h * h * k2);
        x += h * v + h * h * (k1 + k2 + k3) / 6.0;
        v += h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0;
    }
    return x;
}

/// Angle of the cranks from upright after `time`, turning towards +x; at the bottom a tip moves towards +x when it
/// falls.
static inline double ladder_angle(int n, double speed, bool hanging, double time)
{
    double inertia = (n + 1) * ((1.0 + LADDER_WIDTH * LADDER_WIDTH) / 12.0 + 0.25) + n;
    double factor = (0.5 * (n + 1) + n) * LADDER_GRAVITY / inertia;
    return pendulum_angle(factor, hanging ? acos(-1.0) : 0.0, hanging ? -speed : speed, time);
}

/// The same angle as simulated. The simulation needs a ledger, which counts turns.
static inline double ladder_angle_of(const mechanism_run *x, bool hanging)
{
    hn_joint_state state;
    CHECK_OK(x->r.context, hn_simulation_joint_state(x->r.sim, x->joint[0], &state));
    return (hanging ? acos(-1.0) : 0.0) - state.coordinates[0];
}

/// Largest angle between cranks' directions and that of the first one: how far from parallel.
static inline double ladder_spread(const mechanism_run *x, int n)
{
    double worst = 0.0;
    hn_body_state first = run_body(&x->r, x->body[0]);
    for (int k = 1; k <= n; ++k) {
        hn_body_state s = run_body(&x->r, x->body[k]);
        worst = fmax(worst, vec3_norm(vec3_subtract(mat3_column(&first.orientation, 0),
                                                    mat3_column(&s.orientation, 0))));
    }
    return worst;
}

/// Angle between the cranks and the flat, singular position.
static inline double ladder_from_flat(const mechanism_run *x)
{
    hn_body_state first = run_body(&x->r, x->body[0]);
    return asin(fmin(1.0, fabs(mat3_column(&first.orientation, 0).y)));
}

/// Without gravity the cranks turn by the same angle in every step: here a whole number of steps to the flat position,
/// and a relative `past` more. The solution of the step that lands there is a double root. Returns false when the run
/// stopped; that is allowed to ladders of several four-bars in the flat position itself, with its name.
static inline bool ladder_lands_flat(int n, int quarter, double past, hn_scheme scheme,
                              hn_reduction solved_by, double *spread)
{
    const double h = 1e-2, angle = 0.5 * acos(-1.0) / quarter;
    bool midpoint = scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_CONVECTED;
    double turn = midpoint ? 2.0 * tan(0.5 * angle) : sin(angle);
    mechanism m = ladder_mechanism(n, turn / h * (1.0 + past), false);
    m.gravity = vec3(0.0, 0.0, 0.0);
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, scheme, solved_by, h, true);
    hn_status status = hn_simulation_step(x.r.sim, 6 * quarter);
    if (status == HN_OK) {
        *spread = fmax(*spread, ladder_spread(&x, n));
    } else {
        CHECK(n > 1);
        CHECK(status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM);
        CHECK_CONTAINS(hn_context_message(x.r.context), "singular position"); // it is there, or would land there
        CHECK_CONTAINS(hn_context_message(x.r.context), "joint 'j");
        CHECK_BELOW(ladder_from_flat(&x), 1e-3);
    }
    // the state is that of the last good step
    hn_ledger ledger;
    CHECK_OK(x.r.context, hn_simulation_ledger(x.r.sim, &ledger));
    CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-11);               // m; measured 2.6e-12
    if (midpoint) CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-11); // measured 8.8e-13
    mechanism_end(&x);
    mechanism_destroy(&m);
    return status == HN_OK;
}

#endif
