// SPDX-License-Identifier: MIT
// Pinocchio: articulated-body algorithm (LOCAL convention: WORLD loses all digits on long chains of balls) within an
// integrator of this file; compiled with optimisation for the machine.
//
// Integrators: "euler" (semi-implicit), "rk4", and "rkf78" with the step as tolerance (boost::odeint), on hinges.
#include "mechanism.h"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/config.hpp>
#include <pinocchio/multibody.hpp>

#include <boost/numeric/odeint.hpp>

#include <vector>

using Eigen::Vector3d;
using Eigen::VectorXd;

struct engine {
    const peer_mechanism *mechanism;
    pinocchio::Model model;
    pinocchio::Data data;
    std::vector<pinocchio::JointIndex> joints;
    VectorXd q, v, tau;
};

static Vector3d vector(const double *x)
{
    return Vector3d(x[0], x[1], x[2]);
}

static pinocchio::JointIndex add_joint(pinocchio::Model &model, const peer_body &b, pinocchio::JointIndex parent,
                                       const pinocchio::SE3 &place, const std::string &name)
{
    if (b.kind == PEER_BALL) return model.addJoint(parent, pinocchio::JointModelSpherical(), place, name);
    if (b.kind == PEER_FREE) return model.addJoint(parent, pinocchio::JointModelFreeFlyer(), place, name);
    Vector3d axis = vector(b.axis).normalized();
    if (axis == Vector3d::UnitX()) return model.addJoint(parent, pinocchio::JointModelRX(), place, name);
    if (axis == Vector3d::UnitY()) return model.addJoint(parent, pinocchio::JointModelRY(), place, name);
    if (axis == Vector3d::UnitZ()) return model.addJoint(parent, pinocchio::JointModelRZ(), place, name);
    return model.addJoint(parent, pinocchio::JointModelRevoluteUnaligned(axis), place, name);
}

static void create(engine &e)
{
    const peer_mechanism &m = *e.mechanism;
    e.model.gravity.linear(vector(m.gravity));
    for (int k = 0; k < m.body_count; ++k) {
        const peer_body &b = m.bodies[k];
        Vector3d origin = vector(b.kind == PEER_FREE ? b.centre : b.place),
                 above = b.parent < 0 ? Vector3d::Zero().eval() : vector(m.bodies[b.parent].place);
        Eigen::Matrix3d inertia;
        const double *i = b.inertia;
        inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
        pinocchio::SE3 place(Eigen::Matrix3d::Identity(), origin - above);
        e.joints.push_back(add_joint(e.model, b, b.parent < 0 ? 0 : e.joints[(size_t)b.parent], place,
                                     "j" + std::to_string(k)));
        e.model.appendBodyToJoint(e.joints.back(), pinocchio::Inertia(b.mass, vector(b.centre) - origin, inertia),
                                  pinocchio::SE3::Identity());
    }
    e.data = pinocchio::Data(e.model);
    e.tau = VectorXd::Zero(e.model.nv);
}

static void start(engine &e)
{
    e.q = pinocchio::neutral(e.model);
    e.v = VectorXd::Zero(e.model.nv);
    for (int k = 0; k < e.mechanism->body_count; ++k) {
        const auto &joint = e.model.joints[e.joints[(size_t)k]];
        for (int d = 0; d < joint.nv(); ++d) e.v[joint.idx_v() + d] = e.mechanism->bodies[k].rates[d];
    }
}

static const VectorXd &acceleration(engine &e, const VectorXd &q, const VectorXd &v)
{
    return pinocchio::aba(e.model, e.data, q, v, e.tau, pinocchio::Convention::LOCAL);
}

static void euler(engine &e, double h)
{
    static VectorXd next;
    e.v += h * acceleration(e, e.q, e.v);
    next.resize(e.model.nq);
    pinocchio::integrate(e.model, e.q, (h * e.v).eval(), next);
    e.q.swap(next);
}

// Increments of q are mean velocities of the stages; of rotations that is of lower order than four.
static void rk4(engine &e, double h)
{
    static const double PART[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    static VectorXd q, v, a, rate, change;
    q = e.q, v = e.v, rate = VectorXd::Zero(e.model.nv), change = rate, a = rate;
    for (int s = 0; s < 4; ++s) {
        if (s > 0) {
            pinocchio::integrate(e.model, e.q, (PART[s] * h * v).eval(), q);
            v = e.v + PART[s] * h * a;
        }
        a = acceleration(e, q, v);
        rate += WEIGHT[s] * v;
        change += WEIGHT[s] * a;
    }
    pinocchio::integrate(e.model, e.q, (h * rate).eval(), q);
    e.q = q;
    e.v += h * change;
}

static long rkf78(engine &e, double end, double tolerance)
{
    namespace ode = boost::numeric::odeint;
    using state = std::vector<double>;
    const long n = e.model.nv;
    state x(2 * (size_t)n);
    VectorXd::Map(x.data(), n) = e.q, VectorXd::Map(x.data() + n, n) = e.v;
    VectorXd q(n), v(n);
    auto system = [&](const state &y, state &rate, double) {
        q = VectorXd::Map(y.data(), n), v = VectorXd::Map(y.data() + n, n);
        VectorXd::Map(rate.data(), n) = v;
        VectorXd::Map(rate.data() + n, n) = acceleration(e, q, v);
    };
    auto stepper = ode::make_controlled<ode::runge_kutta_fehlberg78<state>>(tolerance, tolerance);
    long steps = (long)ode::integrate_adaptive(stepper, system, x, 0.0, end, 0.01 * end);
    e.q = VectorXd::Map(x.data(), n), e.v = VectorXd::Map(x.data() + n, n);
    return steps;
}

static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    if (index == 0) pinocchio::forwardKinematics(e.model, e.data, e.q, e.v);
    pinocchio::JointIndex j = e.joints[(size_t)index];
    const auto &place = e.data.oMi[j];
    const Vector3d lever = e.model.inertias[j].lever();
    Vector3d::Map(x->centre) = place.act(lever);
    Vector3d::Map(x->velocity) = place.rotation() * (e.data.v[j].linear() + e.data.v[j].angular().cross(lever));
    Vector3d::Map(x->spin) = place.rotation() * e.data.v[j].angular();
    Eigen::Matrix<double, 3, 3, Eigen::RowMajor>::Map(x->rotation) = place.rotation();
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    if (m.closure_count > 0) {
        fprintf(stderr, "closed loops are not programmed here\n");
        return 3;
    }
    static engine e;
    e.mechanism = &m;
    create(e);
    bool adaptive = strcmp(task.integrator, "rkf78") == 0, fourth = strcmp(task.integrator, "rk4") == 0;
    if (adaptive && e.model.nq != e.model.nv) {
        fprintf(stderr, "rkf78 works on coordinates that are numbers: hinges alone\n");
        return 3;
    }
    peer_report report = {};
    for (int repeat = 0; repeat < task.repeats; ++repeat) {
        start(e);
        if (repeat == 0) report.start = peer_measure(&m, tell, &e, nullptr);
        long total = adaptive ? 0 : lround(task.end / task.step), steps = 0;
        double begin = peer_clock(), seconds = 0.0;
        if (adaptive) steps = rkf78(e, task.end, task.step), seconds = peer_clock() - begin;
        while (steps < total && seconds < task.budget) {
            for (int i = 0, n = peer_batch(&m); i < n && steps < total; ++i, ++steps)
                fourth ? rk4(e, task.step) : euler(e, task.step);
            seconds = peer_clock() - begin;
        }
        peer_note(&report, repeat, seconds, steps, adaptive ? task.end : (double)steps * task.step);
        if (repeat == 0) report.end = peer_measure(&m, tell, &e, task.places);
    }
    peer_print(&report, "Pinocchio", PINOCCHIO_VERSION, "articulated bodies, LOCAL");
    return 0;
}
