# SPDX-License-Identifier: MIT
"""Starts in singular positions are named by `check` and `run`; regular ones, redundant or not, are not.

usage: test_singular_starts.py TOOL SOURCE_FOLDER
"""

import glob
import math
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."


def parallelogram(angle, turn="[0, 0, 0]"):
    """Cranks of 1 m on pivots 2 m apart; at 0 degrees it lies flat."""
    x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    if angle == 0:
        x, y = 1, 0
    return f"""
holonom: 1
gravity: [0, -9.81, 0]
bodies:
  a: {{shape: {{box: {{size: [0.02, 0.02]}}}}, between: [[0, 0, 0], [{x!r}, {y!r}, 0]], mass: 1}}
  b: {{shape: {{box: {{size: [0.02, 0.02]}}}}, between: [[{x!r}, {y!r}, 0], [{2 + x!r}, {y!r}, 0]], mass: 1}}
  c: {{shape: {{box: {{size: [0.02, 0.02]}}}}, between: [[{2 + x!r}, {y!r}, 0], [2, 0, 0]], mass: 1}}
  beside: {{shape: {{sphere: {{radius: 0.1}}}}, position: [0, 5, 0], mass: 3}}
joints:
  foot: {{revolute: {{bodies: [ground, a], at: [0, 0, 0], axis: z}}}}
  left: {{revolute: {{bodies: [a, b], at: [{x!r}, {y!r}, 0], axis: z}}}}
  right: {{revolute: {{bodies: [b, c], at: [{2 + x!r}, {y!r}, 0], axis: z}}}}
  other: {{revolute: {{bodies: [c, ground], at: [2, 0, 0], axis: z}}}}
  hook: {{spherical: {{bodies: [ground, beside], at: [0, 6, 0]}}}}
run: {{step: 0.01, end: 0.05}}
"""


def hub(offset):
    """A point between two rods to the ground, in line or not."""
    return f"""
holonom: 1
bodies:
  hub: {{point_mass: {{mass: 1}}, position: [0, {offset}, 0]}}
joints:
  west: {{distance: {{bodies: [ground, hub], from: [-1, 0, 0], to: [0, {offset}, 0]}}}}
  east: {{distance: {{bodies: [ground, hub], from: [1, 0, 0], to: [0, {offset}, 0]}}}}
run: {{step: 0.01, end: 0.05}}
"""


DOOR = """
holonom: 1
bodies:
  door: {shape: {box: {size: [1, 0.04, 2]}}, position: [0.5, 0, 1], mass: 20}
joints:
  upper: {revolute: {bodies: [ground, door], at: [0, 0, 1.8], axis: z}}
  lower: {revolute: {bodies: [ground, door], at: [0, 0, 0.2], axis: z}}
run: {step: 0.01, end: 0.05}
"""


class SingularStartsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def tool(self, text, *words):
        path = os.path.join(self.folder.name, "model.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run([TOOL, words[0], path, *words[1:]], capture_output=True, text=True, cwd=self.folder.name)

    def test_a_flat_parallelogram_may_go_on_in_several_ways(self):
        for run in (self.tool(parallelogram(0), "check"), self.tool(parallelogram(0), "run", "--no-output", "--quiet")):
            said = run.stdout + run.stderr
            self.assertIn("singular start", said)
            self.assertIn("foot, left, right, other lose rank", said)
            self.assertIn("the motion is not unique", said)
            self.assertNotIn("hook", said.split("singular start")[1].split("lose")[0])
        refused = self.tool(parallelogram(0), "run", "--no-output", "--scheme", "projected-rk")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("cannot start in a singular position", refused.stderr)
        self.assertIn("foot, left", refused.stderr)

    def test_a_hub_on_straight_rods_cannot_move(self):
        said = self.tool(hub(0), "check").stdout
        self.assertIn("joints west, east lose rank", said)
        self.assertIn("cannot move", said)

    def test_regular_starts_are_not_called_singular(self):
        texts = [parallelogram(angle) for angle in (90, 30, 3, 0.5, -60)] + [hub(0.1), hub(0.01), DOOR]
        for text in texts:
            run = self.tool(text, "check")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("singular", run.stdout + run.stderr)

    def test_no_model_of_the_project_is_called_singular(self):
        paths = sorted(glob.glob(os.path.join(SOURCE, "models", "*.yaml")))
        self.assertGreater(len(paths), 15)
        for path in paths:
            run = subprocess.run([TOOL, "check", path], capture_output=True, text=True)
            self.assertNotIn("singular", run.stdout + run.stderr, path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
