#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`holonom kinematics` and `holonom inverse`: what they write, that other commands take it, what they refuse.

usage: test_kinematics.py TOOL SOURCE_FOLDER
"""

import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

TOOL = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
ENGINE = os.path.join(SOURCE, "models", "engine.yaml")
FOUR_BAR = os.path.join(SOURCE, "models", "four-bar.yaml")


def tool(*words, text=None):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, input=text)


class Prescribed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def test_the_engine_moves_by_its_formula(self):
        self.assertEqual(tool("kinematics", ENGINE, "--every", "10", "--quiet").returncode, 0)
        with h5py.File("engine-kinematics.h5") as file:
            t = file["time"][:]
            r, length, w = 0.043, 0.144, 300.0
            s, c = numpy.sin(w * t), numpy.cos(w * t)
            root = numpy.sqrt(length**2 - (r * s) ** 2)
            piston = list(file["bodies/names"].asstr()).index("piston")
            numpy.testing.assert_allclose(file["bodies/position"][:, piston, 0], r * c + root, rtol=0, atol=1e-14)
            numpy.testing.assert_allclose(file["bodies/velocity"][:, piston, 0], -w * r * s * (1 + r * c / root), rtol=0, atol=1e-12)
            second = -r * c - r**2 * (c**2 - s**2) / root - r**4 * s**2 * c**2 / root**3
            numpy.testing.assert_allclose(file["bodies/acceleration"][:, piston, 0], w**2 * second, rtol=0, atol=1e-9)
            self.assertEqual(len(t), 101)
            self.assertEqual(file["drives/effort"][:].max(), 0)
        for words in (["export", "engine-kinematics.h5", "--series", "joints/main/accelerations"],
                      ["plot", "engine-kinematics.h5", "bodies/piston/acceleration/x"]):
            self.assertEqual(tool(*words).returncode, 0)
        self.assertIn("holonom kinematics", tool("rerun", "engine-kinematics.h5").stderr)

    def test_efforts_of_an_instant_and_of_steps(self):
        self.assertEqual(tool("inverse", ENGINE, "--quiet").returncode, 0)
        self.assertEqual(tool("inverse", ENGINE, "--quiet", "--discrete", "-o", "steps.h5").returncode, 0)
        self.assertEqual(tool("run", ENGINE, "--quiet", "-o", "run.h5").returncode, 0)
        with h5py.File("engine-inverse.h5") as instant, h5py.File("steps.h5") as steps, h5py.File("run.h5") as run:
            numpy.testing.assert_allclose(steps["drives/effort"][1:], run["drives/effort"][1:], rtol=0, atol=1e-3)  # N m; measured 5e-5, round-off over h^2
            here, around = instant["drives/effort"][:, 0], steps["drives/effort"][:, 0]
            # two steps have their mean between them; the gas force has corners
            off = numpy.abs(here[1:-1] - 0.5 * (around[1:-1] + around[2:]))
            self.assertLess(numpy.median(off), 0.01)  # N m of 257; measured 2e-3
            self.assertGreater(numpy.abs(here).max(), 250)
            self.assertEqual(instant["joints/reaction_valid"][:].min(), 1)

    def test_a_start_that_was_moved_is_a_warning(self):
        model = ("holonom: 1\nbodies: {a: {shape: {box: {size: [0.01, 0.001, 0.001]}}, mass: 1, position: [0.005, 0, 0]}}\n"
                 "joints: {j: {revolute: {bodies: [ground, a], at: {a: [0, 0, 0], b: [-0.005000004, 0, 0]}, axis: y, "
                 "coordinates: body}}}\ndrives: {m: {motion: {joint: j, value: 2*t}}}\nrun: {step: 0.001, end: 0.01}\n")
        for command in ("kinematics", "inverse"):  # without a word
            done = tool(command, "-", "--quiet", "--no-output", text=model)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("warning: start positions were moved by 4.0e-09", done.stderr)
            self.assertEqual(tool(command, ENGINE, "--quiet", "--no-output").stderr, "")

    def test_kinematics_names_outputs_that_it_does_not_find(self):
        text = (
            "holonom: 1\n"
            "bodies: {arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}}\n"
            "joints: {pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}}\n"
            "drives: {lead: {motion: {joint: pin, value: t}}}\n"
            "outputs:\n"
            "  place: {position: {body: arm}}\n"
            "  torque: {effort: {drive: lead}}\n"
            "  bearing: {reaction_force: {joint: pin}}\n"
            "run: {step: 0.1, end: 1}\n"
        )
        for command, count in (("kinematics", 2), ("inverse", 0)):
            run = tool(command, "-", "--quiet", "-o", command + ".h5", text=text)
            self.assertEqual(run.returncode, 0)
            self.assertEqual(run.stderr.count("is zero"), count)
            for name in ("torque", "bearing"):
                self.assertEqual(f"output '{name}'" in run.stderr, count > 0)
            self.assertNotIn("place", run.stderr)

    def test_refusals(self):
        done = tool("kinematics", FOUR_BAR)
        self.assertEqual(done.returncode, 3)
        self.assertIn("'crank_bearing/angle'", done.stderr)
        with open(FOUR_BAR) as file:
            text = file.read().split("start:")[0]
        fight = text + "drives:\n  a: {motion: {joint: crank_bearing, value: 0}}\n  b: {motion: {joint: rocker_pin, value: 0}}\nrun: {step: 0.01, end: 1}\n"
        for command in ("kinematics", "inverse"):
            done = tool(command, "-", text=fight)
            self.assertEqual(done.returncode, 3)
            self.assertIn("drive 'b' cannot move joint 'rocker_pin'", done.stderr)
        done = tool("run", "-", "--no-output", text=fight)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'b'", done.stderr)
        self.assertEqual(tool("kinematics", ENGINE, "--discrete").returncode, 2)
        self.assertEqual(tool("inverse", ENGINE, "--step", "0").returncode, 2)
        # a crank that cannot go round: it stops where the joints would open, and keeps what it has
        stuck = text + "drives:\n  a: {motion: {joint: rocker_bearing, value: -3*t}}\nrun: {step: 0.01, end: 2}\n"
        done = tool("kinematics", "-", "-o", "stuck.h5", text=stuck)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot follow its motions beyond t =", done.stderr)
        self.assertTrue(os.path.exists("stuck.h5.part"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
