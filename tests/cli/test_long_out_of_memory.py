# SPDX-License-Identifier: MIT
"""The tool with each of its allocations failing in turn: it ends with a message and an exit code, never by a signal.

usage: test_long_out_of_memory.py TOOL SOURCE_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1])
# beside the tool's folder: lib/libfailing_malloc.so
SHIM = os.path.join(os.path.dirname(os.path.dirname(TOOL)), "lib", "libfailing_malloc.so")

MODEL = """\
holonom: 1
bodies:
  a: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 100, position: [0.5, 0, 0]}
  b: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 100, position: [1.5, 0, 0]}
joints:
  r1: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}
  r2: {revolute: {bodies: [a, b], at: [1, 0, 0], axis: y}}
loads:
  s: {spring: {bodies: [ground, b], from: [0, 0, 1], to: [2, 0, 0], stiffness: 10}}
run: {step: 0.01, end: 0.05}
"""


def without_times(text):
    """What must not change: neither times nor the advice on planar motion, which may be left out."""
    return re.sub(r"[0-9.]+ s\b|  plane .*\n", "", text)


@unittest.skipUnless(os.path.exists(SHIM), "SKIPPED LOUDLY: libfailing_malloc.so was not built (sanitizers have their own malloc)")
class OutOfMemory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-memory-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        with open(os.path.join(self.folder, "m.yaml"), "w") as file:
            file.write(MODEL)

    def run_with(self, words, fail_at):
        report = os.path.join(self.folder, "count")
        environment = dict(os.environ, LD_PRELOAD=SHIM, HN_FAIL_AT=str(fail_at), HN_FAIL_REPORT=report)
        done = subprocess.run([TOOL, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        with open(report) as file:
            return done, int(file.read())

    def torture(self, *words, output=None):
        done, count = self.run_with(words, 0)
        whole = without_times(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count, 0)
        refused = 0
        for number in range(1, count + 1):
            if output is not None and os.path.exists(os.path.join(self.folder, output)):
                os.unlink(os.path.join(self.folder, output))
            done, _ = self.run_with(words, number)
            what = f"{' '.join(words)}: allocation {number} of {count}"
            self.assertGreaterEqual(done.returncode, 0, f"{what}: ended by signal {-done.returncode}\n{done.stderr}")
            if done.returncode == 0 and without_times(done.stdout) == whole:
                continue  # the failure could be made good
            refused += 1
            self.assertRegex(done.stderr + done.stdout, "memory|not analysed", what)
            if output is not None and done.returncode != 0:
                self.assertFalse(os.path.exists(os.path.join(self.folder, output)), f"{what}: left {output}")
        print(f"{' '.join(words)}: {count} allocations failed in turn, {refused} refused")

    def test_check(self):
        self.torture("check", "m.yaml")

    def test_run(self):
        self.torture("run", "m.yaml", "--output", "r.h5", output="r.h5")

    def test_export(self):
        subprocess.run([TOOL, "run", "m.yaml", "--output", "r.h5"], cwd=self.folder, check=True, capture_output=True)
        self.torture("export", "r.h5", "--output", "r.csv", output="r.csv")

    def test_generate(self):
        self.torture("generate", "ladder", "--count", "2", "--output", "l.yaml", output="l.yaml")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
