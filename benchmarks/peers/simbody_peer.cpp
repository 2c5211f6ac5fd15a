// SPDX-License-Identifier: MIT
// Simbody: mobilized bodies (internal coordinates), loops as constraints that its integrators project on.
//
// Integrators: "euler" (SemiExplicitEuler) and "rkm" (Runge-Kutta-Merson, order 4) with the driver's step; "rkm-adaptive",
// "rkf" (Runge-Kutta-Fehlberg) and "cpodes" (BDF) with the step as accuracy. A hinge that closes a loop: a point on a line
// in a planar mechanism, else a ball and two right angles.
#include "mechanism.h"

#include <Simbody.h>

#include <memory>
#include <vector>

using namespace SimTK;

struct engine {
    const peer_mechanism *mechanism;
    const peer_task *task;
    bool adaptive;
    std::unique_ptr<MultibodySystem> system;
    std::unique_ptr<SimbodyMatterSubsystem> matter;
    std::unique_ptr<GeneralForceSubsystem> forces;
    std::vector<MobilizedBody> bodies;
    std::unique_ptr<Integrator> integrator;
};

static Vec3 vector(const double *x)
{
    return Vec3(x[0], x[1], x[2]);
}

static Vec3 origin_of(const peer_mechanism &m, int body)
{
    if (body < 0) return Vec3(0);
    return vector(m.bodies[body].kind == PEER_FREE ? m.bodies[body].centre : m.bodies[body].place);
}

static MobilizedBody body_of(engine &e, int body)
{
    return body < 0 ? MobilizedBody(e.matter->Ground()) : e.bodies[(size_t)body];
}

static void add_body(engine &e, const peer_body &b, int index)
{
    const peer_mechanism &m = *e.mechanism;
    const double *i = b.inertia;
    Vec3 origin = origin_of(m, index), centre = vector(b.centre) - origin, above = origin - origin_of(m, b.parent);
    Inertia about_centre(Vec3(i[0], i[1], i[2]), Vec3(i[3], i[4], i[5]));
    Body::Rigid body(MassProperties(b.mass, centre, about_centre.shiftFromMassCenter(centre, b.mass)));
    MobilizedBody parent = body_of(e, b.parent);
    if (b.kind == PEER_BALL) e.bodies.push_back(MobilizedBody::Ball(parent, above, body, Vec3(0)));
    if (b.kind == PEER_FREE) e.bodies.push_back(MobilizedBody::Free(parent, above, body, Vec3(0)));
    if (b.kind == PEER_HINGE) { // a pin turns about z of its frames
        Rotation turn(UnitVec3(vector(b.axis)), ZAxis);
        e.bodies.push_back(MobilizedBody::Pin(parent, Transform(turn, above), body, Transform(turn, Vec3(0))));
    }
}

static void add_loop(engine &e, const peer_closure &c)
{
    const peer_mechanism &m = *e.mechanism;
    Vec3 place = vector(c.place), on_a = place - origin_of(m, c.a), on_b = place - origin_of(m, c.b);
    MobilizedBody a = body_of(e, c.a), b = body_of(e, c.b);
    if (c.kind == PEER_HINGE && peer_planar(&m)) {
        Constraint::PointOnLine(a, UnitVec3(vector(c.axis)), on_a, b, on_b);
        return;
    }
    Constraint::Ball(a, on_a, b, on_b);
    if (c.kind != PEER_HINGE) return;
    Rotation frame(UnitVec3(vector(c.axis)), ZAxis);
    Constraint::ConstantAngle(a, UnitVec3(frame.x()), b, UnitVec3(vector(c.axis)), Pi / 2);
    Constraint::ConstantAngle(a, UnitVec3(frame.y()), b, UnitVec3(vector(c.axis)), Pi / 2);
}

static Integrator *integrator_of(engine &e)
{
    const char *name = e.task->integrator;
    if (strcmp(name, "euler") == 0) return new SemiExplicitEulerIntegrator(*e.system, e.task->step);
    if (strcmp(name, "rkf") == 0) return new RungeKuttaFeldbergIntegrator(*e.system);
    if (strcmp(name, "cpodes") == 0) return new CPodesIntegrator(*e.system, CPodes::BDF);
    return new RungeKuttaMersonIntegrator(*e.system);
}

static void start(void *from)
{
    engine &e = *(engine *)from;
    const peer_mechanism &m = *e.mechanism;
    e.integrator.reset(), e.bodies.clear(), e.forces.reset(), e.matter.reset();
    e.system.reset(new MultibodySystem);
    e.matter.reset(new SimbodyMatterSubsystem(*e.system));
    e.forces.reset(new GeneralForceSubsystem(*e.system));
    Force::UniformGravity(*e.forces, *e.matter, vector(m.gravity));
    for (int k = 0; k < m.body_count; ++k) add_body(e, m.bodies[k], k);
    for (int k = 0; k < m.closure_count; ++k) add_loop(e, m.closures[k]);
    State state = e.system->realizeTopology();
    e.system->realize(state, Stage::Position);
    for (int k = 0; k < m.body_count; ++k) {
        const peer_body &b = m.bodies[k];
        // of a free body: angular velocity first
        for (int d = 0; d < peer_freedoms(b.kind); ++d)
            e.bodies[(size_t)k].setOneU(state, d, b.rates[b.kind == PEER_FREE ? (d + 3) % 6 : d]);
    }
    e.integrator.reset(integrator_of(e));
    if (e.adaptive) e.integrator->setAccuracy(e.task->step);
    else if (strcmp(e.task->integrator, "euler") != 0) e.integrator->setFixedStepSize(e.task->step);
    if (!e.adaptive) e.integrator->setConstraintTolerance(1e-10);
    e.integrator->setReturnEveryInternalStep(true);
    e.integrator->setFinalTime(e.task->end);
    e.integrator->initialize(state);
}

static long advance(void *from, long steps, double time)
{
    engine &e = *(engine *)from;
    long before = e.integrator->getNumStepsTaken();
    auto taken = [&] { return e.integrator->getNumStepsTaken() - before; };
    // a call may return without a step, to report
    while (!e.adaptive && taken() < steps && !e.integrator->isSimulationOver()) e.integrator->stepTo(e.task->end);
    while (e.adaptive && e.integrator->getTime() < time - 1e-12) e.integrator->stepTo(time);
    return e.adaptive ? taken() : steps;
}

static void tell(void *from, int index, peer_motion *x)
{
    engine &e = *(engine *)from;
    const State &state = e.integrator->getState();
    if (index == 0) e.system->realize(state, Stage::Velocity);
    const MobilizedBody &body = e.bodies[(size_t)index];
    Vec3 centre = body.getBodyMassCenterStation(state), at = body.findStationLocationInGround(state, centre);
    Vec3 velocity = body.findStationVelocityInGround(state, centre), spin = body.getBodyAngularVelocity(state);
    const Rotation &turn = body.getBodyRotation(state);
    for (int k = 0; k < 3; ++k) {
        x->centre[k] = at[k], x->velocity[k] = velocity[k], x->spin[k] = spin[k];
        for (int l = 0; l < 3; ++l) x->rotation[3 * k + l] = turn[k][l];
    }
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    if (!peer_read(argc, argv, &m, &task)) return 2;
    bool fixed = strcmp(task.integrator, "euler") == 0 || strcmp(task.integrator, "rkm") == 0;
    engine e = {&m, &task, !fixed, {}, {}, {}, {}, {}};
    peer_report report = {};
    peer_program program = {&e, start, advance, tell, nullptr, !fixed};
    try {
        peer_drive(&m, &task, &program, &report);
    } catch (const std::exception &what) {
        std::string said = what.what();
        for (char &c : said) c = c == '\n' ? ' ' : c;
        fprintf(stderr, "%s\n", said.c_str());
        return 1;
    }
    peer_print(&report, "Simbody", PEER_VERSION, "");
    return 0;
}
