#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exudyn: models from Python, solved in C++ without output.

Integrators, "FORM-METHOD". Form "tree": ObjectKinematicTree, joint coordinates, hinges alone; "bodies": rigid bodies of
Euler parameters with constraints, all joints and loops; "cable" and "beam": elements of ANCFCable2D (cubic, without
shear) and BeamGeometricallyExact2D (linear). Methods: "rk44" and "trapezoidal" (TrapezoidalIndex2, implicit)
with the driver's step; "dopri5" with the step as tolerance. Linear solver: dense for small systems and for loops, else sparse.
"""

import json
import sys
import time

sys.exudynFast = True  # its build without checks of ranges
import exudyn  # noqa: E402
import numpy  # noqa: E402
from exudyn.itemInterface import (CoordinateConstraint, LoadMassProportional, MarkerBodyMass, MarkerBodyRigid,  # noqa: E402
                                  MarkerNodeCoordinate, NodeGenericODE2, NodePoint2DSlope1, NodePointGround, NodeRigidBody2D,
                                  NodeRigidBodyEP, ObjectANCFCable2D, ObjectBeamGeometricallyExact2D, ObjectGround,
                                  ObjectJointGeneric, ObjectKinematicTree, ObjectRigidBody, SensorKinematicTree)

import peer  # noqa: E402

METHODS = {"rk44": "RK44", "trapezoidal": "TrapezoidalIndex2", "dopri5": "DOPRI5"}
OUT = exudyn.OutputVariableType


def turn_to(axis):
    """A rotation whose third column is the axis."""
    z = axis / numpy.linalg.norm(axis)
    x = numpy.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= numpy.linalg.norm(x)
    return numpy.column_stack([x, numpy.cross(z, x), z])


class BeamProgram:
    """A beam in the plane of x and y: its y is the mechanism's z. The engine does not tell what it stores."""

    def __init__(self, task):
        self.task, self.mechanism = task, task.mechanism
        self.form, self.method = task.integrator.split("-")

    def start(self):
        elements, length, mass, inertia, axial, shear, bending = self.mechanism.beam
        elements = int(elements)
        self.mbs = exudyn.SystemContainer().AddSystem()
        each, ground = length / elements, self.mbs.AddNode(NodePointGround())
        fixed = self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        if self.form == "cable":
            self.nodes = [self.mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[k * each, 0, 1, 0])) for k in range(elements + 1)]
            held = (0, 1, 3)  # place and direction; the first slope is stretch
        else:
            self.nodes = [self.mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[k * each, 0, 0])) for k in range(elements + 1)]
            held = (0, 1, 2)
        for k in range(elements):
            two = self.nodes[k:k + 2]
            item = self.mbs.AddObject(
                ObjectANCFCable2D(length=each, massPerLength=mass, bendingStiffness=bending, axialStiffness=axial, nodeNumbers=two)
                if self.form == "cable" else
                ObjectBeamGeometricallyExact2D(nodeNumbers=two, length=each, massPerLength=mass, crossSectionInertia=inertia,
                                               bendingStiffness=bending, axialStiffness=axial, shearStiffness=shear))
            marker = self.mbs.AddMarker(MarkerBodyMass(bodyNumber=item))
            self.mbs.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, self.mechanism.gravity[2], 0]))
        for coordinate in held:
            marker = self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=self.nodes[0], coordinate=coordinate))
            self.mbs.AddObject(CoordinateConstraint(markerNumbers=[fixed, marker]))
        self.mbs.Assemble()

    def run(self):
        s = exudyn.SimulationSettings()
        s.timeIntegration.verboseMode, s.solution.file.write = 0, False
        s.timeIntegration.newton.useModifiedNewton = True
        s.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
        s.timeIntegration.endTime, s.timeIntegration.numberOfSteps = self.task.end, round(self.task.end / self.task.step)
        kind = getattr(exudyn.DynamicSolverType, METHODS[self.method])
        seconds = []
        for _ in range(self.task.repeats):
            self.start()
            begin = time.process_time()
            if not exudyn.SolveDynamic(self.mbs, s, solverType=kind, showHints=False, showCausingItems=False):
                sys.exit("its solver gave up")
            seconds.append(time.process_time() - begin)
        with open(self.task.places if self.task.places != "-" else "/dev/null", "w") as file:
            for node in self.nodes:
                x, y, _ = self.mbs.GetNodeOutput(node, OUT.Position)
                file.write(f"{float(x)!r} 0 {float(y)!r}\n")
        steps = int(s.timeIntegration.numberOfSteps)
        print(json.dumps({"engine": "Exudyn", "version": exudyn.__version__, "steps": steps, "seconds": min(seconds), "drift": None,
                          "seconds_per_step": min(seconds) / steps, "gap": None, "note": "", "start": [], "end": []}))


class Program:
    def __init__(self, task):
        self.task, self.mechanism, self.overhead = task, task.mechanism, 0.0
        self.form, self.method = task.integrator.split("-")
        self.adaptive = self.method == "dopri5"
        hinges = all(b.kind == "hinge" for b in self.mechanism.bodies)
        if self.form == "tree" and (not hinges or self.mechanism.closures):
            peer.cannot("its kinematic tree has hinges alone, here without loops")
        if self.form == "bodies" and self.method != "trapezoidal":
            peer.cannot("its explicit methods take no constraints")
        if len(self.mechanism.bodies) > 300:
            peer.cannot("not run: so many bodies take minutes")

    def tree(self, mbs):
        m, bodies = self.mechanism, self.mechanism.bodies
        frames = [turn_to(b.axis) for b in bodies]
        above = [frames[b.parent] if b.parent >= 0 else numpy.eye(3) for b in bodies]
        vectors, matrices = exudyn.Vector3DList(), exudyn.Vector3DList()
        turns, inertias = exudyn.Matrix3DList(), exudyn.Matrix3DList()
        for k, b in enumerate(bodies):
            vectors.Append(above[k].T @ (b.place - m.origin(b.parent)))
            matrices.Append(frames[k].T @ (b.centre - b.place))
            turns.Append(above[k].T @ frames[k])
            inertias.Append(frames[k].T @ b.inertia @ frames[k])
        count = len(bodies)
        node = mbs.AddNode(NodeGenericODE2(referenceCoordinates=[0.0] * count, initialCoordinates=[0.0] * count,
                                           initialCoordinates_t=[b.rates[0] for b in bodies], numberOfODE2Coordinates=count))
        item = mbs.AddObject(ObjectKinematicTree(
            nodeNumber=node, jointTypes=[exudyn.JointType.RevoluteZ] * count, linkParents=[b.parent for b in bodies],
            jointTransformations=turns, jointOffsets=vectors, linkInertiasCOM=inertias, linkCOMs=matrices,
            linkMasses=[b.mass for b in bodies], gravity=list(m.gravity)))
        self.sensors = [[mbs.AddSensor(SensorKinematicTree(
            objectNumber=item, linkNumber=k, localPosition=frames[k].T @ (b.centre - b.place), writeToFile=False,
            outputVariableType=kind)) for kind in (OUT.Position, OUT.Velocity, OUT.RotationMatrix, OUT.AngularVelocity)]
            for k, b in enumerate(bodies)]
        self.frames = frames

    def joint(self, mbs, a, b, joint):
        turn = turn_to(joint.axis) if joint.kind == "hinge" else numpy.eye(3)
        markers = []
        for body in (a, b):
            at = joint.place - (self.mechanism.bodies[body].centre if body >= 0 else 0.0)
            markers.append(mbs.AddMarker(MarkerBodyRigid(bodyNumber=self.items[body] if body >= 0 else self.ground, localPosition=list(at))))
        axes = [1, 1, 1, 1, 1, 0] if joint.kind == "hinge" else [1, 1, 1, 0, 0, 0]
        mbs.AddObject(ObjectJointGeneric(markerNumbers=markers, constrainedAxes=axes, rotationMarker0=turn, rotationMarker1=turn))

    def bodies(self, mbs):
        m = self.mechanism
        self.ground = mbs.AddObject(ObjectGround())
        self.items = []
        for b, x in zip(m.bodies, peer.Measures(m).start()):
            spin = x[15:18]
            node = mbs.AddNode(NodeRigidBodyEP(referenceCoordinates=[*b.centre, 1, 0, 0, 0],
                                               initialVelocities=[*x[3:6], 0, *(0.5 * spin)]))
            i = b.inertia
            item = mbs.AddObject(ObjectRigidBody(physicsMass=b.mass, nodeNumber=node, physicsInertia=[
                i[0, 0], i[1, 1], i[2, 2], i[1, 2], i[0, 2], i[0, 1]]))
            mbs.AddLoad(LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=item)), loadVector=list(m.gravity)))
            self.items.append(item)
        for k, b in enumerate(m.bodies):
            if b.kind != "free":
                self.joint(mbs, b.parent, k, b)
        for c in m.closures:
            self.joint(mbs, c.a, c.b, c)

    def settings(self):
        s = exudyn.SimulationSettings()
        s.timeIntegration.verboseMode = 0
        s.solution.file.write = False
        small = len(self.mechanism.bodies) < (20 if self.form == "tree" else 6)
        kind = exudyn.LinearSolverType
        s.linearSolver.solverType = kind.EXUdense if small else kind.EigenSparse
        if self.mechanism.closures:  # redundant rows
            s.linearSolver.solverType = kind.EigenDense
            s.linearSolver.ignoreSingularJacobian = True
        s.timeIntegration.newton.useModifiedNewton = True
        if self.adaptive:
            s.timeIntegration.automaticStepSize = True
            s.timeIntegration.absoluteTolerance = s.timeIntegration.relativeTolerance = self.task.step
        return s

    def start(self):
        self.system = exudyn.SystemContainer()
        self.mbs = self.system.AddSystem()
        (self.tree if self.form == "tree" else self.bodies)(self.mbs)
        self.mbs.Assemble()
        self.time, self.set = 0.0, self.settings()
        if not self.overhead and not self.adaptive:
            self.overhead = self.call_cost()
            self.start()

    def call_cost(self):
        """What a call takes beside its steps: of one step, without the step."""
        costs = []
        for steps in (1, 1, 1, 11):
            begin = time.process_time()
            self.advance(steps, None)
            costs.append(time.process_time() - begin)
        one = min(costs[:3])
        return max(one - max(costs[3] - one, 0.0) / 10, 1e-9)

    def advance(self, steps, until):
        s = self.set.timeIntegration
        until = until if self.adaptive else self.time + steps * self.task.step
        s.startTime, s.endTime = self.time, until
        s.numberOfSteps = max(steps, 1) if not self.adaptive else 10
        good = exudyn.SolveDynamic(self.mbs, self.set, solverType=getattr(exudyn.DynamicSolverType, METHODS[self.method]),
                                   updateInitialValues=True, showHints=False, showCausingItems=False)
        if not good:
            sys.exit("its solver gave up")
        self.time = until
        return steps if not self.adaptive else int(self.mbs.sys["dynamicSolver"].it.currentStepIndex)

    def tell(self, k):
        if self.form == "tree":
            place, velocity, turn, spin = (numpy.array(self.mbs.GetSensorValues(s)) for s in self.sensors[k])
            return place, velocity, turn.reshape(3, 3) @ self.frames[k].T, spin
        return tuple(numpy.array(self.mbs.GetObjectOutputBody(self.items[k], kind, localPosition=[0, 0, 0]))
                     for kind in (OUT.Position, OUT.Velocity, OUT.RotationMatrix, OUT.AngularVelocity))


if __name__ == "__main__":
    exudyn.special.solver.timeout = -1
    task = peer.Task(sys.argv[1:])
    if task.mechanism.beam:
        BeamProgram(task).run()
    else:
        peer.drive(task, Program(task), "Exudyn", exudyn.__version__, "")
