# SPDX-License-Identifier: MIT
"""SIGINT and SIGTERM at moments spread over whole runs of hard models: reading, assembling, stepping, halving, writing,
closing. The tool ends within a second of its processor time, with the exit status and the files the manual promises.

usage: test_long_signals.py TOOL SOURCE_FOLDER [MOMENTS]

Processor time rather than the clock's: a loaded machine may keep the tool waiting, but not make it work. MOMENTS is how
many signals each model gets (default 3; with 12 it takes some minutes). The longest time any of them took is printed at the end.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
MOMENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
LONGEST = 1.0  # s of processor time from the signal to the end
WATCHED = 3.0  # s of processor time of a run over which signals are spread
EARLY = 0.2  # s: a signal before the tool has begun to listen ends it as any program

STIFF = """
holonom: 1
gravity: [0, 0, -9.81]
bodies:
  a: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, position: [0.5, 0, 0]}
  b: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, position: [1.5, 0, 0]}
joints:
  first: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}
  second: {revolute: {bodies: [a, b], at: [1, 0, 0], axis: y}}
loads:
  stiff: {spring: {bodies: [a, b], from: [0.5, 0, 0.3], to: [1.5, 0, 0.3], stiffness: 1e9}}
run: {scheme: projected-rk, step: 1000, end: 100000}
"""


def processor_seconds(pid):
    """Of a process that runs."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Signals(unittest.TestCase):
    worst = (0.0, "none")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-signals-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def generate(self, *words):
        subprocess.run([TOOL, "generate", *words, "--output", "model.yaml"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)

    def stop_at(self, moment, number, words):
        """Send the signal when the run has worked for `moment` s; returns whether it was still running."""
        name = f"{words} at {moment:.3f} s of work"
        for left in os.listdir(self.folder):
            if left.startswith("r.h5"):
                os.remove(os.path.join(self.folder, left))
        with open(os.path.join(self.folder, "said"), "w+") as said:
            process = subprocess.Popen([TOOL, *words, "--output", "r.h5"], cwd=self.folder, stdout=said, stderr=said)
            while True:
                worked = processor_seconds(process.pid)
                if worked >= moment:
                    break
                done, state, usage = os.wait4(process.pid, os.WNOHANG)
                if done != 0:
                    process.returncode = os.waitstatus_to_exitcode(state)
                    return False
                time.sleep(max(0.0005, min(0.02, 0.3 * (moment - worked))))
            process.send_signal(number)
            _, state, usage = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(state)
            said.seek(0)
            text = said.read()
        spent = usage.ru_utime + usage.ru_stime - worked
        if spent > Signals.worst[0]:
            Signals.worst = (spent, f"signal {number}, {name}")
        self.assertLess(spent, LONGEST, f"{name}\n{text}")
        there = {left for left in os.listdir(self.folder) if left.startswith("r.h5")}
        if code == 0:
            self.assertIn("r.h5", there, name)  # it was closing already
        elif code == -number:
            self.assertLess(worked, EARLY, name)
        else:
            self.assertEqual(code, 128 + number, f"{name}\n{text}")
            # a run that is repeated is complete when it is compared
            self.assertEqual("r.h5" in there, "while results were compared" in text, f"{name}\n{text}")
            if "r.h5.part" in there and "r.h5.checkpoint" in there:
                shown = subprocess.run([TOOL, "export", "r.h5.part", "--series", "energy"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.assertEqual(shown.returncode, 0, f"{name}\n{shown.stderr}")
        return True

    def spread(self, *words):
        """Moments from the first to the last of a run, or of what is watched of it."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        lasting = self.stop_at(WATCHED, signal.SIGTERM, words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = WATCHED if lasting else after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        for k in range(MOMENTS):
            self.stop_at(whole * (k + 0.5) / MOMENTS, (signal.SIGINT, signal.SIGTERM)[k % 2], words)

    def test_a_hub_of_three_thousand_cranks(self):
        self.generate("hub", "--count", "3000")
        self.spread("run", "model.yaml", "--end", "0.005")

    def test_a_ladder_of_a_thousand(self):
        self.generate("ladder", "--count", "1000")
        self.spread("run", "model.yaml", "--end", "0.2")

    def test_a_net_of_eighteen_hundred_bars(self):
        self.generate("net", "--count", "30")
        self.spread("run", "model.yaml", "--end", "0.01")

    def test_a_stiff_step_without_an_end(self):
        with open(os.path.join(self.folder, "model.yaml"), "w") as file:
            file.write(STIFF)
        self.spread("run", "model.yaml")

    def test_a_long_file_and_many_records(self):
        self.generate("chain", "--count", "40000", "--joint", "mixed", "--zigzag", "10")
        self.spread("run", "model.yaml", "--end", "0.03")
        subprocess.run([TOOL, "run", "model.yaml", "--steps", "1", "--output", "once.h5"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        for moment in (0.3, 0.6, 0.9):  # of reading and assembling
            self.stop_at(moment, signal.SIGINT, ("rerun", "once.h5"))

    def test_the_motions_that_a_net_allows(self):
        self.generate("net", "--count", "25")
        for command in ("linearise", "kinematics", "inverse"):
            self.spread(command, "model.yaml")


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1)
    print(f"longest: {Signals.worst[0]:.2f} s of processor time after {Signals.worst[1]}")
    sys.exit(0 if done.result.wasSuccessful() else 1)
