// SPDX-License-Identifier: MIT
// Bullet: a btMultiBody (articulated bodies), double precision; without colliders, damping, sleep or speed limits.
//
// Integrators: "euler" (its default, semi-implicit) and "rk4" (useRK4Integration); "dop853" around its accelerations, on
// hinges, with the step as tolerance. Loops: btMultiBodyPoint2Point (of a hinge one point in a planar mechanism, else
// two), solved with the step by 50 sweeps of Gauss-Seidel.
#include "field.hpp"
#include "mechanism.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

static_assert(sizeof(btScalar) == sizeof(double), "Bullet must be the double precision build");

struct world {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld dynamics{&dispatcher, &broadphase, &solver, &configuration};
    std::unique_ptr<btMultiBody> body;
    std::vector<std::unique_ptr<btMultiBodyPoint2Point>> loops;
    std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;
    btSphereShape shape{1e-3};

    ~world()
    {
        for (auto &loop : loops) dynamics.removeMultiBodyConstraint(loop.get());
        for (auto &collider : colliders) dynamics.removeCollisionObject(collider.get());
        dynamics.removeMultiBody(body.get());
    }
};

struct engine {
    const peer_mechanism *mechanism;
    bool rk4, free;
    double step, time;
    std::unique_ptr<world> now;
    std::vector<peer_motion> motions;
    field::pair8 pair;
};

static btVector3 vector(const double *x)
{
    return btVector3(x[0], x[1], x[2]);
}

static void add_link(engine &e, int index)
{
    const peer_body &b = e.mechanism->bodies[index];
    const btQuaternion none(0, 0, 0, 1);
    // a free first body is the base, from whose centre of mass its links are counted
    btVector3 above = b.parent < 0 ? btVector3(0, 0, 0) : vector(e.mechanism->bodies[b.parent].centre);
    btVector3 inertia(b.inertia[0], b.inertia[1], b.inertia[2]), place = vector(b.place), centre = vector(b.centre);
    int link = index - e.free, parent = b.parent < 0 ? -1 : b.parent - e.free;
    btMultiBody &body = *e.now->body;
    if (b.kind == PEER_HINGE)
        body.setupRevolute(link, b.mass, inertia, parent, none, vector(b.axis), place - above, centre - place, true);
    else body.setupSpherical(link, b.mass, inertia, parent, none, place - above, centre - place, true);
}

// A point that touches nothing: the engine solves for loops between links that have a shape, and passes over others.
static void add_collider(engine &e, int link)
{
    world &w = *e.now;
    if (link < 0 || w.body->getLink(link).m_collider != nullptr) return;
    w.colliders.emplace_back(new btMultiBodyLinkCollider(w.body.get(), link));
    w.colliders.back()->setCollisionShape(&w.shape);
    w.dynamics.addCollisionObject(w.colliders.back().get(), 0, 0);
    w.body->getLink(link).m_collider = w.colliders.back().get();
}

static void add_loop(engine &e, const peer_closure &c)
{
    const peer_mechanism &m = *e.mechanism;
    double points[2][3];
    for (int side = 0, count = peer_points(&m, &c, points); side < count; ++side) {
        int on = c.a < 0 ? c.b : c.a, to = c.a < 0 ? c.a : c.b;
        btVector3 at = vector(points[side]), in = at - vector(m.bodies[on].centre);
        world &w = *e.now;
        add_collider(e, on - e.free);
        add_collider(e, to - e.free);
        btMultiBodyPoint2Point *loop =
            to < 0 ? new btMultiBodyPoint2Point(w.body.get(), on - e.free, (btRigidBody *)nullptr, in, at)
                   : new btMultiBodyPoint2Point(w.body.get(), on - e.free, w.body.get(), to - e.free, in,
                                                at - vector(m.bodies[to].centre));
        loop->setMaxAppliedImpulse(1e10);
        w.loops.emplace_back(loop);
        w.dynamics.addMultiBodyConstraint(loop);
        loop->finalizeMultiDof();
    }
}

static void set_rates(engine &e)
{
    const peer_mechanism &m = *e.mechanism;
    btMultiBody &body = *e.now->body;
    if (e.free) {
        body.setBaseVel(vector(m.bodies[0].rates));
        body.setBaseOmega(vector(m.bodies[0].rates + 3));
        body.setBasePos(vector(m.bodies[0].centre));
    }
    for (int k = e.free; k < m.body_count; ++k) body.setJointVelMultiDof(k - e.free, m.bodies[k].rates);
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    const peer_mechanism &m = *e.mechanism;
    const peer_body &first = m.bodies[0];
    e.now.reset(new world), e.time = 0.0, e.pair = field::pair8();
    btVector3 inertia = e.free ? btVector3(first.inertia[0], first.inertia[1], first.inertia[2]) : btVector3(0, 0, 0);
    e.now->body.reset(new btMultiBody(m.body_count - e.free, e.free ? first.mass : 0.0, inertia, !e.free, false));
    btMultiBody &body = *e.now->body;
    for (int k = e.free; k < m.body_count; ++k) add_link(e, k);
    body.finalizeMultiDof();
    body.setCanSleep(false);
    body.setHasSelfCollision(false);
    body.setLinearDamping(0.0);
    body.setAngularDamping(0.0);
    body.setMaxCoordinateVelocity(1e30);
    body.setUseGyroTerm(true);
    body.useRK4Integration(e.rk4);
    e.now->dynamics.setGravity(vector(m.gravity));
    e.now->dynamics.getSolverInfo().m_numIterations = 50;
    e.now->dynamics.addMultiBody(&body);
    set_rates(e);
    for (int k = 0; k < m.closure_count; ++k) add_loop(e, m.closures[k]);
}

static void rates(engine &e, const field::state &x, field::state &rate)
{
    static btAlignedObjectArray<btScalar> numbers;
    static btAlignedObjectArray<btVector3> vectors;
    static btAlignedObjectArray<btMatrix3x3> matrices;
    btMultiBody &body = *e.now->body;
    const size_t n = x.size() / 2;
    numbers.resize((int)n + 6), vectors.resize((int)n + 1), matrices.resize((int)n + 1);
    body.clearForcesAndTorques();
    for (size_t k = 0; k < n; ++k) {
        body.setJointPos((int)k, x[k]);
        body.setJointVel((int)k, x[n + k]);
        body.addLinkForce((int)k, body.getLinkMass((int)k) * e.now->dynamics.getGravity());
    }
    body.computeAccelerationsArticulatedBodyAlgorithmMultiDof(0.0, numbers, vectors, matrices, false, false, false);
    // behind as many numbers of its own as there are freedoms, and the base's six
    for (size_t k = 0; k < n; ++k) rate[k] = x[n + k], rate[n + k] = numbers[(int)(n + k) + 6];
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    for (long k = 0; k < steps; ++k) e.now->dynamics.stepSimulation(e.step, 0);
    if (steps > 0) return steps;
    btMultiBody &body = *e.now->body;
    const int n = body.getNumLinks();
    field::state x(2 * (size_t)n);
    for (int k = 0; k < n; ++k) x[(size_t)k] = body.getJointPos(k), x[(size_t)(n + k)] = body.getJointVel(k);
    auto f = [&](const field::state &y, field::state &rate) { rates(e, y, rate); };
    long count = e.pair.advance(f, x, e.time, time, e.step);
    for (int k = 0; k < n; ++k) body.setJointPos(k, x[(size_t)k]), body.setJointVel(k, x[(size_t)(n + k)]);
    e.time = time;
    return count;
}

// Poses of links from the engine, velocities outward from those of the joints.
static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    const peer_body &b = e.mechanism->bodies[index];
    btMultiBody &body = *e.now->body;
    const int link = index - e.free;
    if (index == 0) e.motions.resize((size_t)e.mechanism->body_count);
    btMatrix3x3 turn = body.localFrameToWorld(link, btMatrix3x3::getIdentity());
    btVector3 centre = body.localPosToWorld(link, btVector3(0, 0, 0)), spin = body.getBaseOmega(), v = body.getBaseVel();
    if (link >= 0) {
        const btScalar *rate = body.getJointVelMultiDof(link);
        btVector3 own = b.kind == PEER_HINGE ? rate[0] * vector(b.axis) : btVector3(rate[0], rate[1], rate[2]);
        btVector3 joint = centre + turn * (vector(b.place) - vector(b.centre));
        const peer_motion *above = b.parent < 0 ? nullptr : &e.motions[(size_t)b.parent];
        btVector3 above_spin = above ? vector(above->spin) : btVector3(0, 0, 0);
        v = above ? vector(above->velocity) + above_spin.cross(joint - vector(above->centre)) : btVector3(0, 0, 0);
        spin = above_spin + turn * own;
        v += spin.cross(centre - joint);
    }
    for (int k = 0; k < 3; ++k) {
        x->centre[k] = centre[k], x->velocity[k] = v[k], x->spin[k] = spin[k];
        for (int l = 0; l < 3; ++l) x->rotation[3 * k + l] = turn[k][l];
    }
    e.motions[(size_t)index] = *x;
}

static const char *cannot(const peer_mechanism &m, const peer_task &task)
{
    bool hinges = true;
    for (int k = 0; k < m.body_count; ++k) {
        const peer_body &b = m.bodies[k];
        hinges = hinges && b.kind == PEER_HINGE;
        if (b.inertia[3] != 0.0 || b.inertia[4] != 0.0 || b.inertia[5] != 0.0)
            return "its links have no products of inertia";
        if (b.kind == PEER_FREE && (k > 0 || b.parent >= 0)) return "only the base of a multibody is free";
    }
    bool pair = strcmp(task.integrator, "dop853") == 0;
    if (pair && !hinges) return "dop853 is programmed for hinges alone";
    if (m.closure_count > 0 && strcmp(task.integrator, "euler") != 0)
        return "loops are solved with its Euler step alone";
    return nullptr;
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    if (const char *why = cannot(m, task)) {
        fprintf(stderr, "%s\n", why);
        return PEER_CANNOT;
    }
    engine e = {&m, strcmp(task.integrator, "rk4") == 0, m.bodies[0].kind == PEER_FREE, task.step, 0.0, {}, {}, {}};
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, strcmp(task.integrator, "dop853") == 0};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "Bullet", PEER_VERSION, m.closure_count > 0 ? "double precision, 50 sweeps" : "double precision");
    return 0;
}
