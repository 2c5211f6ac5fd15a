// SPDX-License-Identifier: MIT
// The chain in Simbody with its RungeKuttaMerson integrator.
//
// Integrators: "rkm" chooses its own steps at the default accuracy, up to the end; "rkm-fixed" takes the driver's step.
#include "peers/chain.h"

#include <Simbody.h>

#include <vector>

using namespace SimTK;

int main(int argc, char **argv)
{
    chain_task task;
    if (!chain_read_task(argc, argv, &task)) return 2;
    bool fixed = strcmp(task.integrator, "rkm-fixed") == 0;
    if (!fixed && strcmp(task.integrator, "rkm") != 0) return 2;

    chain_report report = {};
    char note[96] = "";
    std::vector<double> angles(task.count), rates(task.count);
    for (int repeat = 0; repeat < task.repeats; ++repeat) {
        MultibodySystem system;
        SimbodyMatterSubsystem matter(system);
        GeneralForceSubsystem forces(system);
        Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -CHAIN_GRAVITY));
        const Vec3 centre(0.5 * CHAIN_LENGTH, 0, 0);
        const Inertia about_centre(CHAIN_INERTIA_AXIAL, CHAIN_INERTIA_ACROSS, CHAIN_INERTIA_ACROSS);
        Body::Rigid box(MassProperties(CHAIN_MASS, centre,
                                       about_centre.shiftFromMassCenter(centre, CHAIN_MASS)));
        // a pin turns about z of its frames: turn that to y
        const Rotation z_to_y(-Pi / 2, XAxis);
        std::vector<MobilizedBody> bodies;
        for (int k = 0; k < task.count; ++k) {
            MobilizedBody parent = k == 0 ? MobilizedBody(matter.Ground()) : bodies.back();
            bodies.push_back(MobilizedBody::Pin(
                parent, Transform(z_to_y, Vec3(k == 0 ? 0.0 : CHAIN_LENGTH, 0, 0)), box,
                Transform(z_to_y, Vec3(0))));
        }
        system.realizeTopology();
        RungeKuttaMersonIntegrator integrator(system);
        if (fixed) integrator.setFixedStepSize(task.step);
        integrator.setReturnEveryInternalStep(true);
        integrator.setFinalTime(task.end);
        integrator.initialize(system.getDefaultState());

        double start = chain_clock(), seconds = 0.0;
        while (integrator.getTime() < task.end - 1e-9 && seconds < task.budget) {
            integrator.stepTo(task.end);
            seconds = chain_clock() - start;
        }
        long steps = integrator.getNumStepsTaken();
        const State &state = integrator.getState();
        for (int k = 0; k < task.count; ++k) {
            angles[k] = bodies[k].getOneQ(state, 0);
            rates[k] = bodies[k].getOneU(state, 0);
        }
        snprintf(note, sizeof note, "%d steps tried; mean step %.3g s",
                 integrator.getNumStepsAttempted(), integrator.getTime() / (double)steps);
        chain_report_add(&report, &task, repeat, seconds, steps, integrator.getTime(),
                         angles.data(),
                         chain_measure(task.count, angles.data(), rates.data(), nullptr));
    }
    chain_report_print(&report, &task, "Simbody", PEER_VERSION, note);
    return 0;
}
