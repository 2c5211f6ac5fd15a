// SPDX-License-Identifier: MIT
// DART: a skeleton, articulated-body algorithm; no collision detector, no limits, no damping.
//
// Integrators: "euler" (its own, semi-implicit) without loops by the skeleton alone, with loops by the world, whose solver
// holds points together (BallJointConstraint: one of a hinge of a planar mechanism, else two); "rk4" and, with the step as
// tolerance, "dop853" around its accelerations.
#include "field.hpp"
#include "mechanism.h"

#include <dart/dart.hpp>

#include <vector>

using namespace dart;

struct engine {
    const peer_mechanism *mechanism;
    enum { EULER, RK4, DOP853 } integrator;
    double step, time;
    simulation::WorldPtr world;
    dynamics::SkeletonPtr skeleton;
    std::vector<dynamics::BodyNode *> bodies;
    Eigen::VectorXd q, v;
    field::pair8 pair;
};

static Eigen::Vector3d vector(const double *x)
{
    return Eigen::Vector3d(x[0], x[1], x[2]);
}

static Eigen::Vector3d origin_of(const peer_mechanism &m, int body)
{
    if (body < 0) return Eigen::Vector3d::Zero();
    return vector(m.bodies[body].kind == PEER_FREE ? m.bodies[body].centre : m.bodies[body].place);
}

static void add_body(engine &e, int index)
{
    const peer_mechanism &m = *e.mechanism;
    const peer_body &b = m.bodies[index];
    const double *i = b.inertia;
    dynamics::BodyNode *parent = b.parent < 0 ? nullptr : e.bodies[(size_t)b.parent];
    Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
    place.translation() = origin_of(m, index) - origin_of(m, b.parent);
    dynamics::BodyNode *body = nullptr;
    dynamics::Joint *joint = nullptr;
    dynamics::BodyNode::AspectProperties named("b" + std::to_string(index));
    const std::string name = "j" + std::to_string(index);
    if (b.kind == PEER_HINGE) {
        dynamics::RevoluteJoint::Properties properties;
        properties.mName = name, properties.mAxis = vector(b.axis).normalized();
        auto pair = e.skeleton->createJointAndBodyNodePair<dynamics::RevoluteJoint>(parent, properties, named);
        joint = pair.first, body = pair.second;
    } else if (b.kind == PEER_BALL) {
        dynamics::BallJoint::Properties properties;
        properties.mName = name;
        auto pair = e.skeleton->createJointAndBodyNodePair<dynamics::BallJoint>(parent, properties, named);
        joint = pair.first, body = pair.second;
    } else {
        dynamics::FreeJoint::Properties properties;
        properties.mName = name;
        auto pair = e.skeleton->createJointAndBodyNodePair<dynamics::FreeJoint>(parent, properties, named);
        joint = pair.first, body = pair.second;
    }
    joint->setTransformFromParentBodyNode(place);
    Eigen::Matrix3d inertia;
    inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    body->setInertia(dynamics::Inertia(b.mass, vector(b.centre) - origin_of(m, index), inertia));
    // of a free body: angular velocity first
    for (int d = 0; d < peer_freedoms(b.kind); ++d)
        joint->setVelocity((size_t)d, b.rates[b.kind == PEER_FREE ? (d + 3) % 6 : d]);
    e.bodies.push_back(body);
}

static void add_loop(engine &e, const peer_closure &c)
{
    double points[2][3];
    int on = c.a < 0 ? c.b : c.a, to = c.a < 0 ? c.a : c.b;
    for (int side = 0, count = peer_points(e.mechanism, &c, points); side < count; ++side) {
        Eigen::Vector3d at = vector(points[side]);
        constraint::BallJointConstraintPtr loop =
            to < 0 ? std::make_shared<constraint::BallJointConstraint>(e.bodies[(size_t)on], at)
                   : std::make_shared<constraint::BallJointConstraint>(e.bodies[(size_t)on], e.bodies[(size_t)to], at);
        constraint::BallJointConstraint::setConstraintForceMixing(1e-9);
        e.world->getConstraintSolver()->addConstraint(loop);
    }
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    const peer_mechanism &m = *e.mechanism;
    e.bodies.clear(), e.time = 0.0, e.pair = field::pair8();
    e.skeleton = dynamics::Skeleton::create("mechanism");
    e.world = simulation::World::create();
    for (int k = 0; k < m.body_count; ++k) add_body(e, k);
    e.skeleton->disableSelfCollisionCheck();
    e.world->setGravity(vector(m.gravity));
    e.skeleton->setGravity(vector(m.gravity));
    e.world->addSkeleton(e.skeleton);
    e.world->setTimeStep(e.step);
    for (int k = 0; k < m.closure_count; ++k) add_loop(e, m.closures[k]);
}

// The list is positions, rotations as quaternions, then velocities.
static size_t list_size(const engine &e)
{
    size_t n = e.skeleton->getNumDofs();
    for (int k = 0; k < e.mechanism->body_count; ++k)
        n += e.mechanism->bodies[k].kind == PEER_HINGE ? 1 : e.mechanism->bodies[k].kind == PEER_BALL ? 4 : 7;
    return n;
}

static void rates(engine &e, const field::state &x, field::state &rate)
{
    const size_t n = e.skeleton->getNumDofs(), base = x.size() - n;
    e.q.resize((long)n), e.v = Eigen::VectorXd::Map(x.data() + base, (long)n);
    size_t at = 0, dof = 0;
    for (int k = 0; k < e.mechanism->body_count; ++k) {
        int kind = e.mechanism->bodies[k].kind;
        if (kind == PEER_HINGE) {
            rate[at] = e.v[(long)dof], e.q[(long)dof++] = x[at++];
            continue;
        }
        Eigen::Quaterniond turn(x[at], x[at + 1], x[at + 2], x[at + 3]);
        turn.normalize();
        e.q.segment<3>((long)dof) = math::logMap(Eigen::Matrix3d(turn));
        field::quaternion_rate(&x[at], e.v.data() + dof, &rate[at]);
        at += 4, dof += 3;
        if (kind == PEER_BALL) continue;
        e.q.segment<3>((long)dof) = Eigen::Vector3d::Map(&x[at]);
        Eigen::Vector3d::Map(&rate[at]) = turn * Eigen::Vector3d(e.v.segment<3>((long)dof));
        at += 3, dof += 3;
    }
    e.skeleton->setPositions(e.q);
    e.skeleton->setVelocities(e.v);
    e.skeleton->computeForwardDynamics();
    Eigen::VectorXd::Map(rate.data() + base, (long)n) = e.skeleton->getAccelerations();
}

static field::state list_of(engine &e)
{
    field::state x(list_size(e));
    size_t at = 0, dof = 0, n = e.skeleton->getNumDofs();
    e.q = e.skeleton->getPositions();
    for (int k = 0; k < e.mechanism->body_count; ++k) {
        int kind = e.mechanism->bodies[k].kind;
        if (kind == PEER_HINGE) {
            x[at++] = e.q[(long)dof++];
            continue;
        }
        Eigen::Quaterniond turn(math::expMapRot(e.q.segment<3>((long)dof)));
        x[at] = turn.w(), x[at + 1] = turn.x(), x[at + 2] = turn.y(), x[at + 3] = turn.z();
        at += 4, dof += 3;
        if (kind == PEER_BALL) continue;
        Eigen::Vector3d::Map(&x[at]) = e.q.segment<3>((long)dof);
        at += 3, dof += 3;
    }
    Eigen::VectorXd::Map(x.data() + at, (long)n) = e.skeleton->getVelocities();
    return x;
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    for (long k = 0; e.integrator == engine::EULER && k < steps; ++k) {
        if (e.mechanism->closure_count > 0) e.world->step();
        else {
            e.skeleton->computeForwardDynamics();
            e.skeleton->integrateVelocities(e.step);
            e.skeleton->integratePositions(e.step);
        }
    }
    if (e.integrator == engine::EULER) return steps;
    field::state x = list_of(e), rate(x.size());
    auto f = [&](const field::state &y, field::state &to) { rates(e, y, to); };
    for (long k = 0; k < steps; ++k) field::rk4(f, x, e.step);
    if (e.integrator == engine::DOP853) steps = e.pair.advance(f, x, e.time, time, e.step);
    rates(e, x, rate); // leaves the end in the skeleton
    e.time = time;
    return steps;
}

static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    const dynamics::BodyNode *body = e.bodies[(size_t)index];
    Eigen::Vector3d::Map(x->centre) = body->getCOM();
    Eigen::Vector3d::Map(x->velocity) = body->getCOMLinearVelocity();
    Eigen::Vector3d::Map(x->spin) = body->getAngularVelocity();
    Eigen::Matrix<double, 3, 3, Eigen::RowMajor>::Map(x->rotation) = body->getWorldTransform().linear();
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    engine e = {};
    e.mechanism = &m, e.step = task.step;
    e.integrator = strcmp(task.integrator, "rk4") == 0      ? engine::RK4
                   : strcmp(task.integrator, "dop853") == 0 ? engine::DOP853
                                                            : engine::EULER;
    if (m.closure_count > 0 && e.integrator != engine::EULER) {
        fprintf(stderr, "loops are solved with its Euler step alone\n");
        return PEER_CANNOT;
    }
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, e.integrator == engine::DOP853};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "DART", DART_VERSION, m.closure_count > 0 ? "points, boxed LCP" : "articulated bodies");
    return 0;
}
