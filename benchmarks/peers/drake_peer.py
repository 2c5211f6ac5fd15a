#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drake: a MultibodyPlant built from Python, advanced in C++.

Integrators: "euler" (semi_explicit_euler) and "rk3" of fixed step, "discrete" (its stepping in discrete time, SAP), which
alone knows loops, as ball constraints; "rk5" with the step as accuracy. Balls are three angles (BallRpyJoint).
"""

import importlib.metadata
import sys

import numpy
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import BallRpyJoint, FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

import peer

SCHEMES = {"euler": "semi_explicit_euler", "rk3": "runge_kutta3", "rk5": "runge_kutta5"}


class Program:
    overhead = 0.0

    def __init__(self, task):
        self.task, self.mechanism = task, task.mechanism
        self.adaptive = task.integrator == "rk5"
        self.discrete = task.integrator == "discrete"
        if self.mechanism.closures and not self.discrete:
            peer.cannot("loops are solved in discrete time alone")
        self.build()

    def frame(self, index, at):
        """Frame of a body, or of the world, moved to a place."""
        base = self.plant.world_frame() if index < 0 else self.bodies[index].body_frame()
        return self.plant.AddFrame(FixedOffsetFrame(f"f{len(self.names)}", base, RigidTransform(at - self.mechanism.origin(index))))

    def build(self):
        m, plant = self.mechanism, MultibodyPlant(self.task.step if self.discrete else 0.0)
        self.plant, self.bodies, self.joints, self.names = plant, [], [], []
        plant.mutable_gravity_field().set_gravity_vector(m.gravity)
        for k, b in enumerate(m.bodies):
            lever = b.centre - m.origin(k)
            i = b.inertia
            central = RotationalInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
            self.bodies.append(plant.AddRigidBody(f"b{k}", SpatialInertia.MakeFromCentralInertia(b.mass, lever, central)))
            if b.kind == "free":
                self.joints.append(None)
                continue
            parent, child = self.frame(b.parent, b.place), self.bodies[k].body_frame()
            self.names.append(k)
            self.joints.append(plant.AddJoint(RevoluteJoint(f"j{k}", parent, child, b.axis) if b.kind == "hinge"
                                              else BallRpyJoint(f"j{k}", parent, child)))
        if self.discrete:
            plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        if m.closures:  # a ball constraint to the world itself ends this version
            fixed = plant.AddRigidBody("fixed", SpatialInertia.MakeFromCentralInertia(1.0, numpy.zeros(3), RotationalInertia(1, 1, 1)))
            plant.WeldFrames(plant.world_frame(), fixed.body_frame())
        for c in m.closures:
            a, b = (c.a, c.b) if c.a >= 0 else (c.b, c.a)
            for point in m.points(c):
                body_b = fixed if b < 0 else self.bodies[b]
                plant.AddBallConstraint(body_b, point - m.origin(b), self.bodies[a], point - m.origin(a))
        plant.Finalize()

    def start(self):
        m, plant = self.mechanism, self.plant
        self.simulator = Simulator(plant)
        self.context = self.simulator.get_mutable_context()
        for k, b in enumerate(m.bodies):
            if b.kind == "hinge":
                self.joints[k].set_angular_rate(self.context, b.rates[0])
            elif b.kind == "ball":
                self.joints[k].set_angular_velocity(self.context, numpy.array(b.rates[:3]))
            else:
                plant.SetFreeBodyPose(self.context, self.bodies[k], RigidTransform(b.centre))
                plant.SetFreeBodySpatialVelocity(self.bodies[k], SpatialVelocity(numpy.array(b.rates[3:]), numpy.array(b.rates[:3])),
                                                 self.context)
        if not self.discrete:
            step = self.task.step if not self.adaptive else self.task.end
            ResetIntegratorFromFlags(self.simulator, SCHEMES[self.task.integrator], step)
            integrator = self.simulator.get_mutable_integrator()
            integrator.set_fixed_step_mode(not self.adaptive)
            if self.adaptive:
                integrator.set_target_accuracy(self.task.step)
        self.simulator.Initialize()
        self.count = 0

    def advance(self, steps, until):
        self.count += steps
        self.simulator.AdvanceTo(until if self.adaptive else self.count * self.task.step)
        return self.simulator.get_integrator().get_num_steps_taken() if self.adaptive else steps

    def tell(self, k):
        body, lever = self.bodies[k], self.mechanism.bodies[k].centre - self.mechanism.origin(k)
        pose = self.plant.EvalBodyPoseInWorld(self.context, body)
        velocity = self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
        turned = pose.rotation().matrix() @ lever
        return (pose.translation() + turned, velocity.translational() + numpy.cross(velocity.rotational(), turned),
                pose.rotation().matrix(), velocity.rotational())


if __name__ == "__main__":
    task = peer.Task(sys.argv[1:])
    if task.mechanism.beam:
        peer.cannot("no beams, only solids of tetrahedra")
    if len(task.mechanism.bodies) > 512:
        peer.cannot("not run: its model of so many bodies takes longer to build from Python than all the rest")
    peer.drive(task, Program(task), "Drake", importlib.metadata.version("drake"), "")
