#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of MuJoCo: robots of dm-control and robosuite against MuJoCo itself at ten random configurations, small models with
everything that is converted, faults. HOLONOM_INTEROP_ALL=1 takes every model that the packages have."""

import collections
import importlib.util
import os
import pathlib
import subprocess
import sys

import environment

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
environment.enter(TOOL, "numpy", "mujoco", "cffi", "h5py")

import h5py  # noqa: E402
import mujoco  # noqa: E402
import numpy  # noqa: E402

from library import Library, Robot  # noqa: E402

spec = importlib.util.spec_from_file_location("mjcf", ROOT / "python/src/holonom/mjcf.py")
mjcf = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mjcf)

CONFIGURATIONS = 10
PLACES = 1e-13  # relative, m, 1; measured 3e-15
ACCELERATIONS = 1e-8  # of the largest joint acceleration; measured 5e-11: rates of dampers are differences

SUITE = "dm_control/suite"
ARMS = "robosuite/models/assets/robots"
GRIPPERS = "robosuite/models/assets/grippers"
MODELS = [f"{SUITE}/{name}.xml" for name in "acrobot cartpole cheetah finger hopper pendulum reacher swimmer walker".split()]
MODELS += [f"{ARMS}/{name}/robot.xml" for name in "baxter iiwa jaco kinova3 panda sawyer tiago ur5e xarm7".split()]
MODELS += [f"{GRIPPERS}/{name}.xml" for name in "panda_gripper rethink_gripper".split()]

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"FAILED: {text}")


def about(mass, offset):
    return mass * (offset @ offset * numpy.eye(3) - numpy.outer(offset, offset))


class Pair:
    """One model on both sides, without what they treat differently: contact, limits, friction, soft equalities, rotors,
    tendons, actuators."""

    def __init__(self, library, path):
        done = mjcf.convert(path, armature=False)
        lines = [line for line in done.text.splitlines()
                 if not line.startswith(('  "actuator ', '  "friction ')) and "# equality" not in line]
        empty = {"drives:", "couplings:"}
        copy = pathlib.Path("converted.yaml")
        copy.write_text("\n".join(line for line, after in zip(lines, [*lines[1:], ""])
                                  if line not in empty or after.startswith("  ")) + "\n")
        self.ours = Robot(library, copy)
        self.theirs = mujoco.MjModel.from_xml_path(str(path))
        m = self.theirs
        flags = mujoco.mjtDisableBit
        m.opt.disableflags |= (flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_EQUALITY |
                               flags.mjDSBL_ACTUATION)
        m.dof_armature[:] = 0.0
        m.body_gravcomp[:] = 0.0
        m.tendon_stiffness[:] = 0.0
        m.tendon_damping[:] = 0.0
        m.opt.density = m.opt.viscosity = 0.0
        mujoco.mj_setConst(m, mujoco.MjData(m))
        self.data = mujoco.MjData(m)
        converter = mjcf._Converter(mujoco, m, str(path), None, False)
        converter.write()
        places = {(name.strip('"'), label): joint for joint, (name, label) in converter.place.items()}
        self.joints = [places.get((joint, None), places.get((joint, label))) for joint, label in self.ours.coordinates]
        self.bodies = [converter.names.index(name) for name in self.ours.bodies]
        self.owner = converter.owner
        self.worst = collections.defaultdict(float)

    def note(self, what, error):
        self.worst[what] = max(self.worst[what], float(numpy.max(numpy.abs(error))))

    def compare(self, random):
        m, d = self.theirs, self.data
        count = len(self.joints)
        q, v, efforts = (random.uniform(-1.0, 1.0, count) for _ in range(3))
        self.ours.set(q, v)
        self.ours.efforts[:] = efforts
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = m.qpos0, 0.0, 0.0
        for k, joint in enumerate(self.joints):
            d.qpos[m.jnt_qposadr[joint]] += q[k]
            d.qvel[m.jnt_dofadr[joint]] = v[k]
            d.qfrc_applied[m.jnt_dofadr[joint]] = efforts[k]
        mujoco.mj_forward(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        self.compare_bodies(1.0 + numpy.max(numpy.abs(d.qacc)))

    def compare_bodies(self, scale):
        m, d, ours = self.theirs, self.data, self.ours
        position, orientation = ours.view("bodies/position"), ours.view("bodies/orientation")
        linear, angular = ours.accelerations()
        mass = sum(m.body_mass[b] for b in range(m.nbody) if self.owner[b])
        center = sum(m.body_mass[b] * d.xipos[b] for b in range(m.nbody) if self.owner[b]) / mass
        inertia, tensor = numpy.zeros((3, 3)), numpy.zeros((3, 3))
        for b in range(m.nbody):
            if self.owner[b]:
                turn = d.ximat[b].reshape(3, 3)
                inertia += turn @ numpy.diag(m.body_inertia[b]) @ turn.T + about(m.body_mass[b], d.xipos[b] - center)
        for k, body in enumerate(self.bodies):
            turn = d.xmat[body].reshape(3, 3)
            self.note("places", turn - orientation[k])
            self.note("places", d.xpos[body] + turn @ ours.centers[k] - position[k])
            tensor += orientation[k] @ ours.inertias[k] @ orientation[k].T + about(ours.masses[k], position[k] - center)
            rates, speeds = numpy.zeros(6), numpy.zeros(6)
            kind = mujoco.mjtObj.mjOBJ_XBODY
            mujoco.mj_objectAcceleration(m, d, kind, body, rates, 0)
            mujoco.mj_objectVelocity(m, d, kind, body, speeds, 0)
            arm, spin = turn @ ours.centers[k], speeds[:3]
            falls = m.opt.gravity * (not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY)
            moved = rates[3:] + falls + numpy.cross(rates[:3], arm) + numpy.cross(spin, numpy.cross(spin, arm))
            self.note("accelerations", (moved - linear[k]) / scale)
            self.note("accelerations", (rates[:3] - angular[k]) / scale)
        self.note("totals", (ours.masses.sum() - mass) / mass)
        self.note("totals", (ours.masses[:, None] * position).sum(0) / mass - center)
        self.note("totals", (tensor - inertia) / numpy.max(numpy.abs(inertia)))


def test_robots():
    library, random = Library(ROOT, TOOL), numpy.random.default_rng(1)
    packages = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages"))
    if not (packages / SUITE).is_dir() or not (packages / ARMS).is_dir():
        environment.skip("dm-control and robosuite are not installed")
    everyone = bool(os.environ.get("HOLONOM_INTEROP_ALL"))
    names = MODELS if not everyone else sorted(
        str(path.relative_to(packages)) for folder in (SUITE, ARMS, GRIPPERS) for path in (packages / folder).rglob("*.xml"))
    agreed, refused = 0, 0
    for name in names:
        short = name.replace("/robot.xml", "").rsplit("/", 1)[1]
        try:
            pair = Pair(library, packages / name)
            for _ in range(CONFIGURATIONS):
                pair.compare(random)
            pair.ours.close()
        except (mjcf.MjcfError, RuntimeError) as problem:
            refused += 1
            print(f"{short:28s} {str(problem).splitlines()[0][-120:]}")
            check(everyone, f"{short} is not compared")
            continue
        worst = pair.worst
        places = max(worst["places"], worst["totals"])
        print(f"{short:28s} places {places:.1e}  accelerations {worst['accelerations']:.1e}")
        good = places < PLACES and worst["accelerations"] < ACCELERATIONS
        agreed += good
        check(good, f"{short} differs")
    print(f"{agreed} agree, {refused} are not compared")


EVERYTHING = """<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.001" gravity="0 0 -9.81"/>
  <default>
    <geom density="800" contype="0" conaffinity="0"/>
    <default class="link"><geom type="capsule" size="0.03"/><joint damping="0.05"/></default>
  </default>
  <worldbody>
    <body name="crank" pos="0 0 0" childclass="link">
      <joint name="crank" axis="0 1 0" type="hinge" armature="0.01"/>
      <geom fromto="0 0 0 0.2 0 0"/>
      <body name="rod" pos="0.2 0 0">
        <joint name="pin" axis="0 1 0" type="hinge"/>
        <geom fromto="0 0 0 0.5 0 0"/>
      </body>
    </body>
    <body name="piston" pos="0.7 0 0">
      <joint name="rail" axis="1 0 0" type="slide" stiffness="40" springref="0.02" damping="0.3"/>
      <geom type="box" size="0.05 0.05 0.05"/>
    </body>
    <body name="second" pos="0 1 0">
      <joint name="second" axis="0 1 0" type="hinge" frictionloss="0.1"/>
      <geom type="box" size="0.1 0.02 0.02" pos="0.1 0 0"/>
      <body name="lamp" pos="0.3 0 0"><geom type="sphere" size="0.03"/></body>
    </body>
    <body name="third" pos="0 2 0">
      <joint name="third" axis="0 1 0" type="hinge" range="-1 1"/>
      <geom type="box" size="0.1 0.02 0.02" pos="0.1 0 0"/>
    </body>
  </worldbody>
  <equality>
    <connect name="pinned" body1="rod" body2="piston" anchor="0.5 0 0"/>
    <joint name="geared" joint1="second" joint2="third" polycoef="0 -2 0 0 0"/>
  </equality>
  <actuator>
    <motor name="push" joint="crank" gear="3"/>
    <position name="hold" joint="third" kp="30" kv="2"/>
    <velocity name="brake" joint="second" kv="0.5"/>
    <muscle name="odd" joint="rail"/>
  </actuator>
  <keyframe><key name="up" qpos="0.1 0 0 0 0"/></keyframe>
</mujoco>
"""


def test_everything():
    """A slider-crank closed by `connect`, joints tied by `joint`, springs, servos and classes of defaults: the motion is
    MuJoCo's as its soft equalities become stiff and its step small."""
    pathlib.Path("everything.xml").write_text(EVERYTHING)
    done = mjcf.convert("everything.xml")
    for text in ["actuator 'odd'", "joint 'third': limits -1 to 1"]:
        check(any(text in note for note in done.notes), f"'{text}' is not listed: {done.notes}")
        check(text in done.text, f"'{text}' is not in the file")
    check('"friction second": {friction: {joint: "second", effort: 0.1}}' in done.text, "friction is a drive")
    check("with lamp" in done.text and "Keyframes: up" in done.text, "comments of origin")
    pathlib.Path("everything.yaml").write_text(done.text)
    run = subprocess.run([str(TOOL), "run", "everything.yaml", "--end", "0.3", "--step", "0.0005", "--output", "everything.h5"],
                         capture_output=True, text=True)
    check(run.returncode == 0, run.stdout + run.stderr)
    with h5py.File("everything.h5") as file:
        ours = file["joints/coordinates"][-1]
        labels = [file["joints/names"].asstr()[j] for j in file["joints/coordinate_joint"][:]]
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_solref[:] = [-1e8, -2e4]  # friction nearly as dry as ours
    model.dof_solimp[:, :2] = 0.99999
    model.actuator_gainprm[3] = 0.0
    model.actuator_biasprm[3] = 0.0
    model.eq_solref[:] = [-1e8, -2e4]
    model.eq_solimp[:, :2] = 0.99999
    model.opt.timestep = 2e-5
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    for _ in range(15000):
        mujoco.mj_step(model, data)
    theirs = {"crank": data.qpos[0], "pin": data.qpos[1], "rail": data.qpos[2], "second": data.qpos[3], "third": data.qpos[4]}
    for name in theirs:
        value = ours[labels.index(name)]
        check(abs(value - theirs[name]) < 2e-4 * (1 + abs(value)), f"{name} is at {value}, in MuJoCo at {theirs[name]}")
    check(abs(ours[labels.index("crank")]) > 0.3, "the crank does not move")
    up = mjcf.convert("everything.xml", keyframe="up")
    check("position: [0.19900" in up.text, "the keyframe is not taken")


def test_faults():
    for text, expected in [("<mujoco><worldbody/></mujoco>", "nothing in the model moves"),
                           ("<mujoco><worldbod/></mujoco>", "worldbod"),
                           ('<mujoco><worldbody><body name="b"><joint type="hinge" axis="1 0 0"/><joint type="hinge" '
                            'axis="1 1 0"/><geom size="1"/></body></worldbody></mujoco>', "body 'b' has the joints")]:
        pathlib.Path("wrong.xml").write_text(text)
        try:
            mjcf.convert("wrong.xml")
            check(False, f"'{text}' is taken")
        except mjcf.MjcfError as problem:
            check(expected in str(problem) and "wrong.xml" in str(problem), str(problem))
    check(mjcf.main(["none.xml"]) == 3, "a file that is not there")
    check(mjcf.main(["everything.xml", "--output", "written.yaml"]) == 0 and pathlib.Path("written.yaml").exists(),
          "the command writes")
    check(mjcf.is_mjcf("everything.xml") and not mjcf.is_mjcf("everything.yaml"), "files of MuJoCo are known")


for name, function in list(globals().items()):
    if name.startswith("test_"):
        print(name)
        function()
sys.exit(1 if failures else 0)
