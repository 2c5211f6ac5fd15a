// SPDX-License-Identifier: MIT
// The chain as a btMultiBody (Featherstone's articulated bodies), without colliders, damping, sleep or speed limits.
//
// Integrators: "euler" (Bullet's default, semi-implicit) and "rk4" (btMultiBody::useRK4Integration).
#include "peers/chain.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

static_assert(sizeof(btScalar) == sizeof(double), "Bullet must be the double precision build");

static std::unique_ptr<btMultiBody> create_chain(int count)
{
    auto body = std::make_unique<btMultiBody>(count, 0.0, btVector3(0, 0, 0), true, false);
    const btVector3 inertia(CHAIN_INERTIA_AXIAL, CHAIN_INERTIA_ACROSS, CHAIN_INERTIA_ACROSS);
    const btVector3 half(0.5 * CHAIN_LENGTH, 0, 0), axis(0, 1, 0);
    for (int k = 0; k < count; ++k)
        body->setupRevolute(k, CHAIN_MASS, inertia, k - 1, btQuaternion(0, 0, 0, 1), axis,
                            k == 0 ? btVector3(0, 0, 0) : half, half, true);
    body->finalizeMultiDof();
    body->setCanSleep(false);
    body->setHasSelfCollision(false);
    body->setLinearDamping(0.0);
    body->setAngularDamping(0.0);
    body->setMaxCoordinateVelocity(1e30);
    body->setUseGyroTerm(true);
    return body;
}

int main(int argc, char **argv)
{
    chain_task task;
    if (!chain_read_task(argc, argv, &task)) return 2;
    bool rk4 = strcmp(task.integrator, "rk4") == 0;
    if (!rk4 && strcmp(task.integrator, "euler") != 0) return 2;

    chain_report report = {};
    std::vector<double> angles(task.count), rates(task.count);
    for (int repeat = 0; repeat < task.repeats; ++repeat) {
        btDefaultCollisionConfiguration configuration;
        btCollisionDispatcher dispatcher(&configuration);
        btDbvtBroadphase broadphase;
        btMultiBodyConstraintSolver solver;
        btMultiBodyDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
        world.setGravity(btVector3(0, 0, -CHAIN_GRAVITY));
        auto body = create_chain(task.count);
        body->useRK4Integration(rk4);
        world.addMultiBody(body.get());

        long total = std::lround(task.end / task.step), steps = 0;
        const int batch = chain_batch(task.count);
        double start = chain_clock(), seconds = 0.0;
        while (steps < total && seconds < task.budget) {
            for (int i = 0; i < batch && steps < total; ++i, ++steps)
                world.stepSimulation(task.step, 0);
            seconds = chain_clock() - start;
        }
        for (int k = 0; k < task.count; ++k) {
            angles[k] = body->getJointPos(k);
            rates[k] = body->getJointVel(k);
        }
        chain_report_add(&report, &task, repeat, seconds, steps, (double)steps * task.step,
                         angles.data(),
                         chain_measure(task.count, angles.data(), rates.data(), nullptr));
        world.removeMultiBody(body.get());
    }
    chain_report_print(&report, &task, "Bullet", PEER_VERSION, "double precision build");
    return 0;
}
