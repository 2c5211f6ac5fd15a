# SPDX-License-Identifier: MIT
"""What the tool says of promises and accuracy, and the exit codes that follow from it.

usage: test_ledger.py TOOL SOURCE_FOLDER
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"

WHEEL = """\
holonom: 1
name: wheel
bodies:
  wheel: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}
start: {wheel: {angular_velocity: [0, 0, 30]}}
run: {scheme: energy-momentum, step: 0.1, end: 2}
"""

PENDULUM = """\
holonom: 1
name: pendulum
gravity: [0, 0, -9.81]
bodies:
  rod: {shape: {box: {size: [%(size)g, 0.001, 0.001]}}, density: 1000, position: [%(half)g, 0, 0]}
%(other)s
joints:
  pin: {spherical: {bodies: [ground, rod], at: {a: [0, 0, %(gap)g], b: [0, 0, 0]}}}
%(start)s
run: {scheme: energy-momentum, step: 0.001, end: 0.05}
"""


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-ledger-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_model(self, text, *words, command="run"):
        with open(os.path.join(self.folder, "m.yaml"), "w") as file:
            file.write(text)
        options = ["--no-output"] if command == "run" else []
        return subprocess.run([TOOL, command, "m.yaml", *options, *words], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_wheel_that_turns_too_far_is_named(self):
        done = self.run_model(WHEEL, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("h |omega| = 3", done.stderr)
        self.assertIn("body wheel", done.stderr)
        done = self.run_model(WHEEL)
        line = [l for l in done.stdout.splitlines() if l.startswith("  accuracy")][0]
        # 2 atan(3/2) - 3 = -1.03 rad a step
        self.assertAlmostEqual(float(line.split()[1]), 1.03, delta=0.06)

    def test_the_worst_step_can_be_required_and_all_are_summed(self):
        line = [l for l in self.run_model(WHEEL).stdout.splitlines() if l.startswith("  accuracy")][0]
        # every step alike: 20 of them
        worst, total = float(line.split()[1]), float(line.split(" summed")[0].split()[-1])
        self.assertAlmostEqual(total / worst, 20, delta=1)
        self.assertEqual(self.run_model(WHEEL, "--require", "accuracy=1.2").returncode, 0)
        done = self.run_model(WHEEL, "--require", "energy=1,accuracy=0.9")
        self.assertEqual(done.returncode, 4)
        self.assertIn("require: accuracy NOT MET: 1.0", done.stderr)
        self.assertIn("9.00e-01", done.stderr)
        done = self.run_model(WHEEL, "--require", "acuracy=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'accuracy'", done.stderr)

    def test_a_run_in_half_steps_tells_how_far_off_the_end_is(self):
        text = WHEEL.replace("30]", "2]")  # h |omega| = 0.2: a step is off by 2 atan(0.1) - 0.2
        done = self.run_model(text, "--half-step-check")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = [l for l in done.stdout.splitlines() if l.startswith("  half-step check")][0]
        turned = lambda h: 2 / h * 2 * math.atan(h)
        self.assertAlmostEqual(float(line.split(" rad")[0].split()[-1]), turned(0.05) - turned(0.1), delta=2e-4)
        self.assertIn("worst at body wheel", line)
        # three quarters of the sum of errors: none of them grows
        self.assertAlmostEqual(float(line.split("grew ")[1].split()[0]), 0.75, delta=0.02)

    def test_heights_are_known_to_round_off(self):
        """From rest in a short first step hardly anything moves; the round-off of heights is no loss of energy."""
        text = """\
holonom: 1
bodies:
  rod: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 3, position: [0.5, 0, %s]}
  tip: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [1.5, 0, %s]}
joints:
  pin: {revolute: {bodies: [ground, rod], at: [0, 0, %s], axis: y}}
  elbow: {revolute: {bodies: [rod, tip], at: [1, 0, %s], axis: y}}
run: {step: 1e-5, end: 1e-5}
"""
        for height in (0.3337, 1.1, 7.77, 123.45):
            done = self.run_model(text % ((height,) * 4))
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_promise_that_is_not_kept_is_an_exit_code(self):
        # a tolerance that leaves the equations unsolved
        top = open(os.path.join(sys.argv[2], "models", "double-spherical-pendulum.yaml")).read()
        words = ["--set", "residual_tolerance=1e-2,increment_tolerance=1e-1"]
        done = self.run_model(top, *words)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        self.assertIn("NOT KEPT (bound", done.stdout)
        done = self.run_model(top, "--quiet", *words)
        self.assertEqual(done.returncode, 6)
        self.assertIn("NOT KEPT", done.stderr)

    def test_a_failed_run_says_nothing_is_kept(self):
        done = self.run_model(WHEEL, "--scheme", "variational")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("kept", done.stdout)
        self.assertIn("until then", done.stdout)

    def test_the_allowance_for_round_off_is_shown(self):
        done = self.run_model(WHEEL.replace("30", "1"), "--steps", "10000")
        self.assertIn("of it 4.4e-12 for round-off", done.stdout)

    def test_start_values_that_were_moved_are_a_warning(self):
        near = PENDULUM % dict(size=0.01, half=0.005, gap=4e-6, other="", start="")
        done = self.run_model(near, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: start positions were moved by", done.stderr)

    def test_a_tower_in_the_file_hides_no_gap(self):
        tower = "  tower: {shape: {box: {size: [1, 1, 100]}}, density: 1000, position: [50, 0, 0]}"
        far = PENDULUM % dict(size=0.01, half=0.005, gap=0.011, other=tower, start="")
        done = self.run_model(far)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("joint 'pin'", done.stderr)
        self.assertIn("0.011 m", done.stderr)

    def test_a_fast_body_in_the_file_hides_no_contradiction(self):
        fast = "  shell: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 0]}"
        start = "start: {shell: {velocity: [800, 0, 0]}, rod: {velocity: [0.5, 0, 0]}}"
        text = PENDULUM % dict(size=0.01, half=0.005, gap=0, other=fast, start=start)
        done = self.run_model(text)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("body 'rod'", done.stderr)

    def test_symmetric_schemes_find_their_way_back(self):
        top = open(os.path.join(sys.argv[2], "models", "nutating-top.yaml")).read()
        for scheme in ("energy-momentum", "variational", "rattle", "ggl-energy-momentum", "convected"):
            done = self.run_model(top, "--scheme", scheme, "--steps", "200", "--reverse-check")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            line = [l for l in done.stdout.splitlines() if l.startswith("  reverse check")][0].split()
            self.assertLess(max(float(line[2]), float(line[4])), 1e-10, line)  # measured 1.3e-13
        for scheme in ("generalized-alpha", "ggl-variational", "ggl-classical", "projected-rk"):
            done = self.run_model(top, "--scheme", scheme, "--reverse-check")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"scheme '{scheme}' is not time-symmetric", done.stderr)
        kicked = WHEEL + ("loads:\n  kick: {force: {body: wheel, vector: [5, 1, 0], at: [0.3, 0, 0], table: {times: [0.05, 0.3, "
                          "0.9], factors: [0, 1, 0.2]}}}\n")
        for scheme in ("energy-momentum", "rattle", "variational", "convected"):
            done = self.run_model(kicked.replace("30", "3"), "--scheme", scheme, "--step", "0.01", "--end", "0.6",
                                  "--reverse-check")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            line = [l for l in done.stdout.splitlines() if l.startswith("  reverse check")][0].split()
            self.assertLess(max(float(line[2]), float(line[4])), 1e-11, line)
        damped = WHEEL + "loads:\n  brake: {spring: {bodies: [ground, wheel], stiffness: 1, damping: 1, from: [2, 0, 0], to: [1, 0, 0]}}\n"
        done = self.run_model(damped, "--reverse-check")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("a damper acts on body", done.stderr)

    def test_loads_finer_than_the_step_are_named(self):
        kick = WHEEL + "loads:\n  kick: {force: {body: wheel, vector: [1, 0, 0], %s}}\n"
        pulse = kick % "pulse: {start: 0.5, peak: 0.501, end: 0.502}"
        table = kick % "table: {times: [0, 0.5, 0.501, 0.502], factors: [0, 0, 1, 0]}"
        coarse = kick % "table: {times: [0, 0.5, 0.7], factors: [0, 0, 1]}"
        for text in (pulse, table):
            for words in ([], ["--quiet"], ["--scheme", "rattle"], ["--scheme", "variational", "--step", "0.02"]):
                done = self.run_model(text, *words)
                self.assertRegex(done.stderr, r"warning: load 'kick': two points of its profile are 0\.001 s apart at "
                                 r"t = 0\.50?1? s, the step is 0\.", words)
            self.assertIn("load 'kick': two points", self.run_model(text, command="check").stderr)
            for words in (["--step", "0.001"], ["--scheme", "projected-rk"]):
                self.assertNotIn("finer than the step", self.run_model(text, *words).stdout)
                self.assertNotIn("two points", self.run_model(text, *words).stderr)
        self.assertNotIn("kick", self.run_model(coarse, "--quiet").stderr)

    def test_control_characters_reach_no_terminal(self):
        text = WHEEL.replace("name: wheel", 'name: "w\\x1b[31mheel\\x07"')
        for words in ([], ["--scheme", "variational"]):
            done = self.run_model(text, *words)
            for shown in (done.stdout, done.stderr):
                self.assertFalse(any(ord(c) < 32 and c != "\n" for c in shown), shown)
            self.assertIn("w\\x1B[31mheel\\x07", done.stdout)
        done = subprocess.run([TOOL, "check", "m.yaml"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.assertFalse(any(ord(c) < 32 and c != "\n" for c in done.stdout), done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
