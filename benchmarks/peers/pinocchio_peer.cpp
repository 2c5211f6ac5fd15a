// SPDX-License-Identifier: MIT
// Pinocchio: articulated-body algorithm (LOCAL convention: WORLD loses all digits on long chains of balls) within an
// integrator of this file; compiled with optimisation for the machine.
//
// Integrators: "euler" (semi-implicit), "rk4"; with the step as tolerance "rkf78" (boost::odeint) and "dop853". Loops:
// constraintDynamics, 3D points (one of a hinge of a planar mechanism, else two), drift of the joints damped at 10/s.
#include "field.hpp"
#include "mechanism.h"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
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
    std::vector<pinocchio::RigidConstraintModel> loops;
    std::vector<pinocchio::RigidConstraintData> loop_data;
    pinocchio::ProximalSettings settings{1e-12, 1e-6, 20};
    enum { EULER, RK4, RKF78, DOP853 } integrator;
    double step, time; // or the tolerance
    field::pair8 pair;
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

// Its Cholesky factors need the joints of a subtree one after the other.
static std::vector<int> depth_first(const peer_mechanism &m)
{
    std::vector<std::vector<int>> children((size_t)m.body_count + 1);
    for (int k = m.body_count - 1; k >= 0; --k) children[(size_t)(m.bodies[k].parent + 1)].push_back(k);
    std::vector<int> order, open = children[0];
    while (!open.empty()) {
        int body = open.back();
        open.pop_back();
        order.push_back(body);
        open.insert(open.end(), children[(size_t)body + 1].begin(), children[(size_t)body + 1].end());
    }
    return order;
}

static void create(engine &e)
{
    const peer_mechanism &m = *e.mechanism;
    e.model.gravity.linear(vector(m.gravity));
    e.joints.resize((size_t)m.body_count);
    for (int k : depth_first(m)) {
        const peer_body &b = m.bodies[k];
        Vector3d origin = vector(b.kind == PEER_FREE ? b.centre : b.place),
                 above = b.parent < 0 ? Vector3d::Zero().eval() : vector(m.bodies[b.parent].place);
        Eigen::Matrix3d inertia;
        const double *i = b.inertia;
        inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
        pinocchio::SE3 place(Eigen::Matrix3d::Identity(), origin - above);
        pinocchio::JointIndex &joint = e.joints[(size_t)k];
        joint = add_joint(e.model, b, b.parent < 0 ? 0 : e.joints[(size_t)b.parent], place, "j" + std::to_string(k));
        e.model.appendBodyToJoint(joint, pinocchio::Inertia(b.mass, vector(b.centre) - origin, inertia),
                                  pinocchio::SE3::Identity());
    }
    e.data = pinocchio::Data(e.model);
    e.tau = VectorXd::Zero(e.model.nv);
}

static pinocchio::JointIndex joint_of(const engine &e, int body)
{
    return body < 0 ? 0 : e.joints[(size_t)body];
}

// Place in the frame of a body's joint, whose axes are the world's at the start.
static pinocchio::SE3 place_in(const engine &e, int body, const double *point)
{
    if (body < 0) return pinocchio::SE3(Eigen::Matrix3d::Identity(), vector(point));
    const peer_body &b = e.mechanism->bodies[body];
    Vector3d origin = vector(b.kind == PEER_FREE ? b.centre : b.place);
    return pinocchio::SE3(Eigen::Matrix3d::Identity(), vector(point) - origin);
}

static void close_loops(engine &e)
{
    const peer_mechanism &m = *e.mechanism;
    const double damping = 10.0; // 1/s
    for (int k = 0; k < m.closure_count; ++k) {
        const peer_closure &c = m.closures[k];
        double points[2][3];
        for (int side = 0, count = peer_points(&m, &c, points); side < count; ++side) {
            e.loops.emplace_back(pinocchio::CONTACT_3D, e.model, joint_of(e, c.a), place_in(e, c.a, points[side]),
                                 joint_of(e, c.b), place_in(e, c.b, points[side]));
            e.loops.back().baumgarte_corrector_parameters() = {damping * damping, 2.0 * damping};
        }
    }
    for (const auto &loop : e.loops) e.loop_data.emplace_back(loop.createData());
    if (!e.loops.empty()) pinocchio::initConstraintDynamics(e.model, e.data, e.loops, e.loop_data);
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    e.time = 0.0, e.pair = field::pair8();
    e.q = pinocchio::neutral(e.model);
    e.v = VectorXd::Zero(e.model.nv);
    for (int k = 0; k < e.mechanism->body_count; ++k) {
        const auto &joint = e.model.joints[e.joints[(size_t)k]];
        for (int d = 0; d < joint.nv(); ++d) e.v[joint.idx_v() + d] = e.mechanism->bodies[k].rates[d];
    }
}

static const VectorXd &acceleration(engine &e, const VectorXd &q, const VectorXd &v)
{
    if (!e.loops.empty())
        return pinocchio::constraintDynamics(e.model, e.data, q, v, e.tau, e.loops, e.loop_data, e.settings);
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

// Rates of q and v in one list.
struct rates {
    engine &e;
    VectorXd q, v;

    explicit rates(engine &of) : e(of), q(of.model.nq), v(of.model.nv) {}

    // Pinocchio has the scalar of a quaternion last
    void turn(const double *from, int at, const double *spin, double *rate)
    {
        double p[4] = {from[at + 3], from[at], from[at + 1], from[at + 2]}, d[4];
        field::quaternion_rate(p, spin, d);
        for (int k = 0; k < 3; ++k) rate[at + k] = d[k + 1];
        rate[at + 3] = d[0];
        field::normalise(q.data() + at);
    }

    void operator()(const field::state &x, field::state &rate)
    {
        const int nq = e.model.nq, nv = e.model.nv;
        q = VectorXd::Map(x.data(), nq), v = VectorXd::Map(x.data() + nq, nv);
        if (nq == nv) VectorXd::Map(rate.data(), nq) = v;
        for (size_t j = 1; nq != nv && j < e.model.joints.size(); ++j) {
            const auto &joint = e.model.joints[j];
            int at = joint.idx_q(), from = joint.idx_v();
            if (joint.nv() == 1) rate[(size_t)at] = v[from];
            if (joint.nv() == 3) turn(x.data(), at, v.data() + from, rate.data());
            if (joint.nv() == 6) {
                turn(x.data(), at + 3, v.data() + from + 3, rate.data());
                Eigen::Quaterniond now(q[at + 6], q[at + 3], q[at + 4], q[at + 5]);
                Vector3d::Map(rate.data() + at) = now * Vector3d(v.segment<3>(from));
            }
        }
        VectorXd::Map(rate.data() + nq, nv) = acceleration(e, q, v);
    }
    void operator()(const field::state &x, field::state &rate, double) { (*this)(x, rate); } // as odeint calls it
};

static long by_lists(engine &e, long steps, double end)
{
    namespace ode = boost::numeric::odeint;
    static rates f(e);
    static field::state x;
    x.resize((size_t)(e.model.nq + e.model.nv));
    VectorXd::Map(x.data(), e.model.nq) = e.q, VectorXd::Map(x.data() + e.model.nq, e.model.nv) = e.v;
    for (long k = 0; k < steps; ++k) field::rk4(f, x, e.step);
    if (e.integrator == engine::DOP853) steps = e.pair.advance(f, x, e.time, end, e.step);
    if (e.integrator == engine::RKF78) {
        auto stepper = ode::make_controlled<ode::runge_kutta_fehlberg78<field::state>>(e.step, e.step);
        steps = (long)ode::integrate_adaptive(stepper, std::ref(f), x, e.time, end, 0.01 * (end - e.time));
    }
    e.time = end;
    e.q = VectorXd::Map(x.data(), e.model.nq), e.v = VectorXd::Map(x.data() + e.model.nq, e.model.nv);
    pinocchio::normalize(e.model, e.q);
    return steps;
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    if (e.integrator != engine::EULER) return by_lists(e, steps, time);
    for (long k = 0; k < steps; ++k) euler(e, e.step);
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
    static engine e;
    e.mechanism = &m, e.step = task.step;
    create(e);
    close_loops(e);
    e.integrator = strcmp(task.integrator, "rk4") == 0      ? engine::RK4
                   : strcmp(task.integrator, "rkf78") == 0  ? engine::RKF78
                   : strcmp(task.integrator, "dop853") == 0 ? engine::DOP853
                                                            : engine::EULER;
    bool adaptive = e.integrator == engine::RKF78 || e.integrator == engine::DOP853;
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, adaptive};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "Pinocchio", PINOCCHIO_VERSION,
               m.closure_count > 0 ? "constraintDynamics" : "articulated bodies, LOCAL");
    return 0;
}
