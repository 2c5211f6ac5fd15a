#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Robots of many makers (URDF) against Pinocchio: mass, centre of mass, inertia and forward kinematics at ten random
configurations, accelerations under gravity, damping, dry friction and random efforts. HOLONOM_INTEROP_ALL=1 takes every robot that the
packages have."""

import collections
import os
import pathlib
import sys
import xml.etree.ElementTree as xml

import environment

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
environment.enter(TOOL, "numpy", "pinocchio", "cffi")

import numpy  # noqa: E402
import pinocchio  # noqa: E402

from library import Library, Robot  # noqa: E402

CONFIGURATIONS = 10
PLACES = 1e-13  # relative, m, 1: masses, centres, inertias and places; measured 6e-15
ACCELERATIONS = 1e-8  # of the largest joint acceleration; measured 3e-10: rates of dampers are differences

# twenty-four robots of various makers, in a few seconds
ROBOTS = """a1 anymal allegro_left_hand b1-z1 baxter bolt centauro double_pendulum finger_edu g1_29dof_rev_1_0 go2 hyq_no_sensors
    kinova laikago panda pr2 simple_humanoid solo12 talos_full_v2 tiago tiago_pro ur5_robot xarm7 z1 kr16_2 sawyer_arm""".split()


def plain_copy(path):
    """The file without what the two sides treat differently: joints that follow others, which are couplings here and free
    in Pinocchio unless asked."""
    tree = xml.parse(path)
    for joint in tree.getroot().iter("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
    copy = pathlib.Path(f"copy-{path.stem}.urdf")
    tree.write(copy)
    return copy


def about(mass, offset):
    return mass * (offset @ offset * numpy.eye(3) - numpy.outer(offset, offset))


class Pair:
    """One robot on both sides."""

    def __init__(self, library, path):
        copy = plain_copy(path)
        self.theirs = pinocchio.buildModelFromUrdf(str(copy))
        self.data = self.theirs.createData()
        self.ours = Robot(library, copy)
        names = {name: index for index, name in enumerate(self.theirs.names)}
        counts = collections.Counter(joint for joint, _ in self.ours.coordinates)
        several = [joint for joint, count in counts.items() if count > 1]
        if several:
            raise LookupError(f"joints in a row became one: {', '.join(several[:3])}")
        self.joints = [names[joint] for joint, _ in self.ours.coordinates]
        # a joint that moves nothing with mass is left out
        self.moving = [i for i in range(1, self.theirs.njoints) if self.theirs.inertias[i].mass > 0.0]
        self.frames = [self.theirs.getFrameId(body, pinocchio.FrameType.BODY) for body in self.ours.bodies]
        self.worst = collections.defaultdict(float)

    def note(self, what, error):
        self.worst[what] = max(self.worst[what], float(numpy.max(numpy.abs(error))))

    def set(self, q, v, efforts):
        full_q, full_v = pinocchio.neutral(self.theirs), numpy.zeros(self.theirs.nv)
        full_efforts = numpy.zeros(self.theirs.nv)
        for k, index in enumerate(self.joints):
            joint = self.theirs.joints[index]
            full_q[joint.idx_q:joint.idx_q + joint.nq] = \
                [q[k]] if joint.nq == 1 else [numpy.cos(q[k]), numpy.sin(q[k])]
            full_v[joint.idx_v] = v[k]
            full_efforts[joint.idx_v] = efforts[k]
        self.ours.set(q, v)
        self.ours.efforts[:] = efforts
        # their forward dynamics leave both to the caller
        damped = (full_efforts - numpy.array(self.theirs.damping) * full_v
                  - numpy.array(self.theirs.upperDryFrictionLimit) * numpy.sign(full_v))
        acceleration = pinocchio.aba(self.theirs, self.data, full_q, full_v, damped)
        pinocchio.forwardKinematics(self.theirs, self.data, full_q, full_v, acceleration)
        pinocchio.updateFramePlacements(self.theirs, self.data)
        return 1.0 + numpy.max(numpy.abs(acceleration))

    def compare_totals(self):
        position, orientation = self.ours.view("bodies/position"), self.ours.view("bodies/orientation")
        mass = sum(self.theirs.inertias[i].mass for i in self.moving)
        centers = {i: self.data.oMi[i] * self.theirs.inertias[i].lever for i in self.moving}
        center = sum(self.theirs.inertias[i].mass * centers[i] for i in self.moving) / mass
        inertia, ours = numpy.zeros((3, 3)), numpy.zeros((3, 3))
        for i in self.moving:
            turn, body = self.data.oMi[i].rotation, self.theirs.inertias[i]
            inertia += turn @ body.inertia @ turn.T + about(body.mass, centers[i] - center)
        for turn, place, body, tensor in zip(orientation, position, self.ours.masses, self.ours.inertias):
            ours += turn @ tensor @ turn.T + about(body, place - center)
        self.note("mass", (self.ours.masses.sum() - mass) / mass)
        self.note("centre", (self.ours.masses[:, None] * position).sum(0) / mass - center)
        self.note("inertia", (ours - inertia) / numpy.max(numpy.abs(inertia)))

    def compare_bodies(self, scale):
        position, orientation = self.ours.view("bodies/position"), self.ours.view("bodies/orientation")
        linear, angular = self.ours.accelerations()
        frame = pinocchio.LOCAL_WORLD_ALIGNED
        for k, index in enumerate(self.frames):
            place = self.data.oMf[index]
            arm = place.rotation @ self.ours.centers[k]
            self.note("places", place.rotation - orientation[k])
            self.note("places", place.translation + arm - position[k])
            rates = pinocchio.getFrameClassicalAcceleration(self.theirs, self.data, index, frame)
            spin = pinocchio.getFrameVelocity(self.theirs, self.data, index, frame).angular
            at_center = rates.linear + numpy.cross(rates.angular, arm) + numpy.cross(spin, numpy.cross(spin, arm))
            self.note("accelerations", (at_center - linear[k]) / scale)
            self.note("accelerations", (rates.angular - angular[k]) / scale)


def compare(library, path, random):
    pair = Pair(library, path)
    count = len(pair.joints)
    for _ in range(CONFIGURATIONS):
        scale = pair.set(*(random.uniform(-1.0, 1.0, count) for _ in range(3)))
        pair.compare_totals()
        pair.compare_bodies(scale)
    pair.ours.close()
    return pair.worst


def find_robots():
    folders = [pathlib.Path(sys.prefix)]
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.urdf")):
            found.setdefault(path.stem, path)
    return found


def main():
    library, random = Library(ROOT, TOOL), numpy.random.default_rng(1)
    found = find_robots()
    everyone = bool(os.environ.get("HOLONOM_INTEROP_ALL"))
    missing = [name for name in ROBOTS if name not in found]
    if len(missing) == len(ROBOTS):
        environment.skip("example-robot-data and rtb-data are not installed")
    agreed, differing, refused = 0, [], []
    for name in sorted(found) if everyone else [name for name in ROBOTS if name in found]:
        try:
            worst = compare(library, found[name], random)
        except (RuntimeError, ValueError, LookupError, xml.ParseError) as problem:
            refused.append(name)
            print(f"{name:36s} {str(problem).splitlines()[0][-150:]}")
            continue
        places = max(worst[what] for what in ["mass", "centre", "inertia", "places"])
        print(f"{name:36s} places {places:.1e}  accelerations {worst['accelerations']:.1e}")
        good = places < PLACES and worst["accelerations"] < ACCELERATIONS
        agreed += good
        if not good:
            differing.append(name)
    print(f"{agreed} agree, {len(differing)} differ: {differing}, {len(refused)} are not compared: {refused}")
    if differing or missing or (refused and not everyone) or agreed < 20:
        sys.exit(1)


main()
