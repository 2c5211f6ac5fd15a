// SPDX-License-Identifier: MIT
// ODE: bodies of six coordinates each and joints as constraints of their velocities; double precision.
//
// Integrators, both semi-implicit Euler: "step" (dWorldStep, one dense system for all joints) and "quickstep" (50 sweeps of
// successive over-relaxation). ERP 0.2 and CFM 1e-10, the defaults of double precision.
#include "mechanism.h"

#include <ode/ode.h>

#include <vector>

static_assert(sizeof(dReal) == sizeof(double), "ODE must be the double precision build");

struct engine {
    const peer_mechanism *mechanism;
    bool quick;
    double step;
    dWorldID world;
    std::vector<dBodyID> bodies;
};

static dBodyID body_of(engine &e, int body)
{
    return body < 0 ? nullptr : e.bodies[(size_t)body];
}

static void add_joint(engine &e, int a, int b, int kind, const double *place, const double *axis)
{
    dJointID joint = kind == PEER_HINGE ? dJointCreateHinge(e.world, nullptr) : dJointCreateBall(e.world, nullptr);
    dJointAttach(joint, body_of(e, b), body_of(e, a));
    if (kind == PEER_HINGE) {
        dJointSetHingeAnchor(joint, place[0], place[1], place[2]);
        dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
    } else dJointSetBallAnchor(joint, place[0], place[1], place[2]);
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    const peer_mechanism &m = *e.mechanism;
    std::vector<peer_motion> motions((size_t)m.body_count);
    if (e.world != nullptr) dWorldDestroy(e.world);
    e.world = dWorldCreate(), e.bodies.clear();
    dWorldSetGravity(e.world, m.gravity[0], m.gravity[1], m.gravity[2]);
    dWorldSetERP(e.world, 0.2);
    dWorldSetCFM(e.world, 1e-10);
    dWorldSetQuickStepNumIterations(e.world, 50);
    dWorldSetAutoDisableFlag(e.world, 0);
    peer_start(&m, motions.data());
    for (int k = 0; k < m.body_count; ++k) {
        const peer_body &b = m.bodies[k];
        const double *i = b.inertia;
        const peer_motion &x = motions[(size_t)k];
        dBodyID body = dBodyCreate(e.world);
        dMass mass;
        dMassSetParameters(&mass, b.mass, 0, 0, 0, i[0], i[1], i[2], i[3], i[4], i[5]);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, b.centre[0], b.centre[1], b.centre[2]);
        dBodySetLinearVel(body, x.velocity[0], x.velocity[1], x.velocity[2]);
        dBodySetAngularVel(body, x.spin[0], x.spin[1], x.spin[2]);
        dBodySetFiniteRotationMode(body, 1);
        dBodySetGyroscopicMode(body, 1);
        e.bodies.push_back(body);
        if (b.kind != PEER_FREE) add_joint(e, b.parent, k, b.kind, b.place, b.axis);
    }
    for (int k = 0; k < m.closure_count; ++k) {
        const peer_closure &c = m.closures[k];
        if (c.a < 0) add_joint(e, c.a, c.b, c.kind, c.place, c.axis);
        else add_joint(e, c.b, c.a, c.kind, c.place, c.axis);
    }
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    (void)time;
    for (long k = 0; k < steps; ++k) e.quick ? dWorldQuickStep(e.world, e.step) : dWorldStep(e.world, e.step);
    return steps;
}

static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    dBodyID body = e.bodies[(size_t)index];
    const dReal *at = dBodyGetPosition(body), *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    const dReal *r = dBodyGetRotation(body); // rows of four
    for (int k = 0; k < 3; ++k) {
        x->centre[k] = at[k], x->velocity[k] = v[k], x->spin[k] = w[k];
        for (int l = 0; l < 3; ++l) x->rotation[3 * k + l] = r[4 * k + l];
    }
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    bool quick = strcmp(task.integrator, "quickstep") == 0;
    if (!quick && m.body_count > 256) {
        fprintf(stderr, "one dense system for all joints: a step of so many bodies takes minutes\n");
        return PEER_CANNOT;
    }
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    engine e = {&m, quick, task.step, nullptr, {}};
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, false};
    peer_drive(&m, &task, &program, &report);
    peer_print(&report, "ODE", PEER_VERSION, quick ? "50 sweeps" : "dense");
    dWorldDestroy(e.world);
    dCloseODE();
    return 0;
}
