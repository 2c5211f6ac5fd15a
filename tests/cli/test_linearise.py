#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`holonom linearise`: files that Python and Matlab read, states that are asked for, refusals.

usage: test_linearise.py TOOL SOURCE_FOLDER
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

TOOL = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])

PENDULUM = """holonom: 1
name: pendulum
bodies: {bob: {mass: 2, inertia: [0.3, 0.3, 0.3], position: [0, 0, -0.4]}}
joints: {hinge: {revolute: {bodies: [ground, bob], at: [0, 0, 0], axis: y}}}
start: {hinge: {rate: 1.5}}
run: {step: 0.001, end: 1}
"""
ENGINE = os.path.join(SOURCE, "models", "engine.yaml")


def linearise(*words):
    return subprocess.run([TOOL, "linearise", *words], capture_output=True, text=True)


def load_mat(path):
    """A MAT file of level 5, by the description of its format: matrices of numbers and of characters."""
    forms = {1: "i1", 4: "<u2", 5: "<i4", 6: "<u4", 9: "<f8"}

    def elements(data):
        while data:
            kind, size = struct.unpack_from("<2I", data)
            yield kind, data[8:8 + size]
            data = data[8 + (size + 7) // 8 * 8:]

    found = {}
    with open(path, "rb") as file:
        head, body = file.read(128), file.read()
    assert head.startswith(b"MATLAB 5.0 MAT-file") and head[124:] == b"\x00\x01IM"
    for kind, data in elements(body):
        assert kind == 14
        flags, dims, name, *parts = (numpy.frombuffer(part, forms[k]) for k, part in elements(data))
        parts = [part.reshape(dims[::-1]).T for part in parts]
        values = parts[0] + 1j * parts[1] if flags[0] & 0x800 else parts[0]
        if flags[0] & 0xff == 4:
            values = ["".join(map(chr, row)) for row in values]
        found[name.tobytes().decode()] = values
    return found


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        with open("pendulum.yaml", "w") as file:
            file.write(PENDULUM)

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def test_a_start_that_was_moved_is_a_warning(self):
        # -2 rad/s became -2.0016 without a word, and A and B are those of the latter
        moved = PENDULUM.replace("{hinge: {rate: 1.5}}", "{bob: {velocity: [0.801, 0, 0], angular_velocity: [0, -2, 0]}}")
        with open("moved.yaml", "w") as file:
            file.write(moved)
        done = linearise("moved.yaml", "--quiet", "--no-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: start velocities were changed by", done.stderr)

    def test_hdf5_and_mat_say_the_same(self):
        self.assertEqual(linearise("pendulum.yaml", "--quiet").returncode, 0)
        spelled = subprocess.run([TOOL, "linearize", "pendulum.yaml", "-o", "pendulum.mat"], capture_output=True)
        self.assertEqual(spelled.returncode, 0)
        stiffness = 2 * 9.81 * 0.4 / (0.3 + 2 * 0.4**2)
        with h5py.File("pendulum-linear.h5") as file:
            numpy.testing.assert_allclose(file["A"][:], [[0, 1], [-stiffness, 0]], atol=1e-13)
            numpy.testing.assert_allclose(file["B"][:], [[0], [1 / (0.3 + 2 * 0.4**2)]], atol=1e-13)
            numpy.testing.assert_allclose(file["C"][:], numpy.eye(2), atol=1e-13)
            self.assertEqual(list(file["state_names"].asstr()), ["hinge/angle", "hinge/angle/rate"])
            self.assertEqual(list(file["input_names"].asstr()), ["hinge/angle/effort"])
            self.assertEqual(list(file["output_units"].asstr()), ["rad", "rad/s"])
            numpy.testing.assert_allclose(file["state"][:], [0, 1.5], atol=1e-13)
            kept = {name: file[name][:] for name in ("A", "B", "C", "state", "derivative")}
        mat = load_mat("pendulum.mat")
        for name, values in kept.items():
            numpy.testing.assert_array_equal(mat[name].ravel(), values.ravel())
        self.assertEqual([word.strip() for word in mat["state_names"]], ["hinge/angle", "hinge/angle/rate"])
        numpy.testing.assert_allclose(sorted(mat["eigenvalues"].ravel().imag), [-stiffness**0.5, stiffness**0.5])

    def test_without_inputs_or_states_matrices_are_empty(self):
        with open("free.yaml", "w") as file:
            file.write("holonom: 1\nbodies: {stone: {mass: 2, inertia: [0.3, 0.3, 0.3]}}\nrun: {step: 0.001, end: 1}\n")
        shapes = {"free.yaml": [(12, 12), (12, 0), (12, 12), (12,), (0,)], ENGINE: [(0, 0), None, None, (0,), None]}
        for model, expected in shapes.items():
            self.assertEqual(linearise(model, "--quiet", "-o", "empty.h5").returncode, 0)
            with h5py.File("empty.h5") as file:
                for name, shape in zip(("A", "B", "C", "state_names", "input_names"), expected):
                    self.assertIn(name, file)
                    if shape is not None:
                        self.assertEqual(file[name].shape, shape)
                self.assertEqual(file["B"].shape[0], expected[0][0])

    def test_a_state_later_on(self):
        # the stiffness falls with the cosine of the angle, which the run reaches
        self.assertEqual(linearise("pendulum.yaml", "--quiet", "--time", "0.4", "-o", "later.h5").returncode, 0)
        with h5py.File("later.h5") as file:
            angle = file["state"][0]
            self.assertGreater(abs(angle), 0.2)
            self.assertAlmostEqual(file["A"][1, 0], -2 * 9.81 * 0.4 / 0.62 * numpy.cos(angle), 12)
            self.assertAlmostEqual(file.attrs["time"], 0.4, 12)

    def test_what_turns_is_counted_in_its_own_axes(self):
        # about the middle axis: 5 sqrt((J2 - J1) (J3 - J2)/(J1 J3)) 1/s; in world axes it was stable
        stone = "holonom: 1\ngravity: [0, 0, 0]\nbodies: {stone: {mass: 2, inertia: [0.4, 0.5, 0.8]}}\n" \
                "start: {stone: {angular_velocity: [%s]}}\nrun: {step: 0.001, end: 1}\n"
        with open("middle.yaml", "w") as file:
            file.write(stone % "0, 5, 0")
        done = linearise("middle.yaml", "-o", "middle.h5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("stone/turn_y/rate (stone axes)", done.stdout)
        with h5py.File("middle.h5") as file:
            self.assertAlmostEqual(file["eigenvalue_real"][0], 5 * (0.1 * 0.3 / (0.4 * 0.8))**0.5, 9)
            self.assertLess(file.attrs["change"], 1e-9)
            self.assertNotIn("caution", file.attrs)

        # what tumbles has no such axes, and that comes first
        with open("tumbles.yaml", "w") as file:
            file.write(stone % "3, 2, 1")
        for output in ("tumbles.h5", "tumbles.mat"):
            done = linearise("tumbles.yaml", "--quiet", "-o", output)
            self.assertEqual(done.returncode, 0)
            self.assertIn("warning: the state is no steady motion", done.stderr)
        with h5py.File("tumbles.h5") as file:
            self.assertGreater(file.attrs["change"], 0.1)
            self.assertIn(file.attrs["caution"].decode(), done.stderr)
            self.assertEqual(load_mat("tumbles.mat")["change"][0, 0], file.attrs["change"])

    def test_modes_say_that_they_are_those_at_rest(self):
        turning = PENDULUM + "drives: {lead: {motion: {joint: hinge, value: '%s'}}}\n"
        for value, said in (("1.5*t", "motion 'lead' moves joint 'hinge' with 1.5 rad/s"),
                            ("t^3", "motion 'lead' moves joint 'hinge' later")):
            with open("led.yaml", "w") as file:
                file.write((turning % value).replace("rate: 1.5", "rate: 0" if value == "t^3" else "rate: 1.5"))
            done = subprocess.run([TOOL, "modes", "led.yaml", "--no-output", "--at", "start"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stderr)
        done = subprocess.run([TOOL, "modes", "pendulum.yaml", "--no-output"], capture_output=True, text=True)
        self.assertIn("body 'bob' turns with 1.5 rad/s", done.stderr)
        with open("rests.yaml", "w") as file:
            file.write(PENDULUM.replace("rate: 1.5", "rate: 0"))
        done = subprocess.run([TOOL, "modes", "rests.yaml", "--no-output"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_is_free_in_a_driven_engine(self):
        done = linearise(ENGINE, "--no-output")
        self.assertEqual(done.returncode, 0)
        self.assertIn("0 states", done.stdout)

    def test_refusals(self):
        for words, code, said in (
            (["pendulum.yaml", "--time", "soon"], 2, "'soon' is no time"),
            (["pendulum.yaml", "--time", "-1"], 2, "is no time"),
            (["pendulum.yaml", "--at", "rest"], 2, "should be start or equilibrium"),
            (["pendulum.yaml", "--at", "equilibrium", "--time", "1"], 2, "excludes --time"),
            (["pendulum.yaml", "--no-output", "-o", "a.h5"], 2, "excludes --output"),
            (["pendulum.yaml", "-o", "pendulum.yaml"], 5, "pendulum.yaml"),
            (["pendulum.yaml", "-o", "none/a.mat"], 5, "none/a.mat"),
            (["none.yaml"], 3, "none.yaml"),
        ):
            done = linearise(*words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
