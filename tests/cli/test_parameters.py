# SPDX-License-Identifier: MIT
"""Other values for the parameters of a model file, models from the standard input, and short options.

usage: test_parameters.py TOOL SOURCE_FOLDER
"""

import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"

MODEL = """\
# ein Würfel
holonom: 1
name: "Würfel"   # before the parameters: Ä
parameters: {length: 0.5, half: length/2,
  twice: '2*half',   # quoted
  fold: &again
    7,
  same: *again}
bodies:
  rod: {shape: {box: {size: [length, 0.1, 0.1]}}, mass: twice, position: [half, 0, 0]}
joints:
  pin: {revolute: {bodies: [ground, rod], at: [0, 0, 0], axis: y}}
run: {step: 0.001, end: 0.01}
"""


class Parameters(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("m.yaml", MODEL)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def tool(self, *words, text=None):
        return subprocess.run([TOOL, *words], input=text, capture_output=True, text=True, timeout=120, cwd=self.folder.name)

    def mass_and_place(self, name):
        with h5py.File(self.path(name)) as file:
            return file["bodies/mass"][0], file["bodies/position"][0, 0, 0]

    def series(self, name):
        with h5py.File(self.path(name)) as file:
            return file["joints/coordinates"][:]

    def test_a_value_is_that_of_an_edited_file(self):
        done = self.tool("run", "m.yaml", "--parameter", "length=0.8", "-p", "twice=3*half", "-q", "-o", "a.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.write("b.yaml", MODEL.replace("length: 0.5", "length: 0.8").replace("2*half", "3*half"))
        self.assertEqual(self.tool("run", "b.yaml", "-q").returncode, 0)
        numpy.testing.assert_array_equal(self.series("a.h5"), self.series("b.h5"))
        mass, place = self.mass_and_place("a.h5")
        self.assertAlmostEqual(mass, 1.2, delta=1e-15)
        self.assertAlmostEqual(place, 0.4, delta=1e-15)
        # the result holds the model as it was run
        done = self.tool("rerun", "a.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_folded_values_and_aliases(self):
        for name, status in (("fold=8", 0), ("same=9", 0)):
            done = self.tool("check", "m.yaml", "--parameter", name)
            self.assertEqual(done.returncode, status, done.stderr)

    def test_other_values_are_other_runs(self):
        words = ["run", "m.yaml", "--parameter", "length=0.7", "-q"]
        self.assertEqual(self.tool(*words).returncode, 0)
        done = self.tool(*words[:2], "--parameter", "length=0.9", "-q", "-o", "other.h5")
        self.assertEqual(done.returncode, 0)
        self.assertGreater(abs(self.series("m.h5") - self.series("other.h5")).max(), 1e-5)

    def test_standard_input(self):
        done = self.tool("run", "-", "-q", "-p", "length=0.8", text=MODEL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(self.mass_and_place("model.h5")[1], 0.4, delta=1e-15)
        done = self.tool("check", "-", text="holonom: 2\n")
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.startswith("standard input:1:"), done.stderr)

    def test_short_options(self):
        done = self.tool("run", "m.yaml", "-s", "variational", "--no-output")
        self.assertIn("variational", done.stdout)
        self.assertEqual(self.tool("compare", "m.yaml", "-s", "rattle").returncode, 0)
        self.assertEqual(self.tool("run", "m.yaml", "-q").returncode, 0)
        self.assertEqual(self.tool("export", "m.h5", "-s", "energy", "-o", "e.csv").returncode, 0)
        self.assertEqual(self.tool("generate", "chain", "-q").returncode, 2)

    def test_mistakes(self):
        for word, code, expected in (
            ("lenght=1", 3, "did you mean 'length'?"),
            ("zzzzzz=1", 3, "has no parameter 'zzzzzz'"),
            ("length", 2, "expected NAME=VALUE"),
            ("=1", 2, "expected NAME=VALUE"),
            ("length=", 2, "expected NAME=VALUE"),
            ("length={a: 1}", 3, "expected a number or an expression"),
            ("length='1'", 3, "expected a number or an expression"),
            ("length=later", 3, "later"),
            ("half=-1*", 3, "m.yaml:4:"),
        ):
            with self.subTest(word):
                done = self.tool("check", "m.yaml", "--parameter", word)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(expected, done.stderr)
        done = self.tool("check", "m.yaml", "-p", "length=1", "-p", "length=2")
        self.assertEqual(done.returncode, 3)
        self.assertIn("given twice", done.stderr)
        self.write("n.yaml", "holonom: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n")
        self.assertIn("it has no parameters", self.tool("check", "n.yaml", "-p", "a=1").stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
