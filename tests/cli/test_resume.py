# SPDX-License-Identifier: MIT
"""Runs that are stopped, killed and continued; files that must not be lost.

usage: test_resume.py TOOL SOURCE_FOLDER
"""

import importlib.machinery
import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import test_cli
from test_cli import ENDLESS, SOURCE, TOOL, h5py, need_h5py

# long enough to be caught in the middle, short enough to be run to its end
LONG = ["--steps", "20000", "--every", "3"]


def script(name):
    """A script without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(SOURCE, "scripts", name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Resume(test_cli.ToolTest):
    def assert_equal_results(self, one, other):
        self.assertIsNone(script("kill-and-resume").difference(self.path(one), self.path(other)))

    def wait_for(self, name, seconds=60):
        until = time.monotonic() + seconds
        while not os.path.exists(self.path(name)):
            self.assertLess(time.monotonic(), until, f"no {name} after {seconds} s")
            time.sleep(0.01)

    def kill_run(self, *words):
        """Start a run with checkpoints, kill it when it has one that is not the first."""
        process = self.start("run", "pendulum.yaml", "--output", "r.h5", "--checkpoint", "0.05", *words)
        self.wait_for("r.h5.checkpoint")
        first = os.stat(self.path("r.h5.checkpoint")).st_ino
        until = time.monotonic() + 60
        while os.stat(self.path("r.h5.checkpoint")).st_ino == first and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.wait()
        self.assertFalse(os.path.exists(self.path("r.h5")))

    @need_h5py
    def test_killed_runs_end_in_the_same_result(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/kill-and-resume"), "--tool", TOOL,
                               "--kills", "6", "--cases", "2", "--seed", str(os.getpid())],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("6 kills", done.stdout)

    @need_h5py
    def test_signals_leave_a_checkpoint_to_go_on_from(self):
        self.check(0, "run", "pendulum.yaml", "--output", "whole.h5", *LONG)
        for number in (signal.SIGINT, signal.SIGTERM):
            # without --checkpoint: the signal alone writes one
            process = self.start("run", "pendulum.yaml", "--output", "r.h5", *LONG)
            self.wait_for_records("r.h5.part", least=0)
            process.send_signal(number)
            stderr = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 128 + number, stderr)
            self.assertIn("--resume", stderr)
            self.assertTrue(os.path.exists(self.path("r.h5.checkpoint")))
            # settings come from the stopped run
            done = self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume")
            self.assertRegex(done.stderr, r"goes on at t = .* of 20000\)")
            self.assert_equal_results("r.h5", "whole.h5")
            self.assertFalse(os.path.exists(self.path("r.h5.checkpoint")))
            self.assertFalse(os.path.exists(self.path("r.h5.part")))
            os.unlink(self.path("r.h5"))

    @need_h5py
    def test_a_run_may_go_on_for_longer_but_not_otherwise(self):
        settings = ["--scheme", "projected-rk", "--set", "relative_tolerance=1e-9"]
        self.kill_run(*settings, "--steps", "100000")
        for words, what in ((["--scheme", "rattle"], "another scheme"), (["--step", "0.02"], "another step_size"),
                            (["--set", "relative_tolerance=1e-8"], "another relative_tolerance"),
                            (["--every", "2"], "--every 1"), (["--steps", "1"], "steps already")):
            self.assertIn(what, self.check(2, "run", "pendulum.yaml", "--output", "r.h5", "--resume", *words).stderr)
        with h5py.File(self.path("r.h5.part"), "r") as file:
            steps = int(file.attrs["record_count"]) + 300
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume", *settings, "--steps", str(steps))
        self.check(0, "run", "pendulum.yaml", "--output", "whole.h5", *settings, "--steps", str(steps))
        self.assert_equal_results("r.h5", "whole.h5")

    def test_a_changed_model_is_refused(self):
        self.kill_run(*ENDLESS)
        self.write("pendulum.yaml", test_cli.DOUBLE_PENDULUM.replace("density: 100", "density: 101"))
        done = self.check(2, "run", "pendulum.yaml", "--output", "r.h5", "--resume")
        self.assertIn("the model has changed", done.stderr)

    def test_without_a_stopped_run_it_starts_from_the_beginning(self):
        done = self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume", "--checkpoint", "1")
        self.assertIn("starts from the beginning", done.stderr)
        # and a complete one has nothing left to do
        before = os.stat(self.path("r.h5"))
        done = self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume", "--checkpoint", "1")
        self.assertIn("is complete", done.stderr)
        self.assertEqual(os.stat(self.path("r.h5")).st_ino, before.st_ino)
        self.check(2, "run", "pendulum.yaml", "--no-output", "--resume")
        self.check(2, "run", "pendulum.yaml", "--no-output", "--checkpoint", "1")
        self.check(2, "run", "pendulum.yaml", "--checkpoint", "0")

    def test_damaged_restart_data_are_refused(self):
        self.kill_run(*ENDLESS)
        with open(self.path("r.h5.checkpoint"), "r+b") as file:
            file.seek(-200, os.SEEK_END)
            byte = file.read(1)
            file.seek(-200, os.SEEK_END)
            file.write(bytes([byte[0] ^ 1]))
        self.assertIn("checksum", self.check(5, "run", "pendulum.yaml", "--output", "r.h5", "--resume").stderr)
        with open(self.path("r.h5.checkpoint"), "w") as file:
            file.write("something else")
        self.assertIn("no restart file", self.check(5, "run", "pendulum.yaml", "--output", "r.h5", "--resume").stderr)
        with open(self.path("r.h5.part"), "r+b") as file:
            file.truncate(3000)
        self.check(5, "run", "pendulum.yaml", "--output", "r.h5", "--resume")

    @need_h5py
    def test_a_full_disk_loses_nothing(self):
        limit = 8 << 20  # bytes

        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        words = ["run", "pendulum.yaml", "--output", "r.h5", "--steps", "60000"]
        done = self.tool(*words, "--checkpoint", "0.05", preexec_fn=set_limit, restore_signals=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("larger than allowed", done.stderr)
        self.assertTrue(os.path.exists(self.path("r.h5.checkpoint")))
        self.check(0, "export", "r.h5.part", "--series", "energy", "--output", "e.csv")
        self.check(0, *words, "--resume")
        self.check(0, "run", "pendulum.yaml", "--output", "whole.h5", "--steps", "60000")
        self.assert_equal_results("r.h5", "whole.h5")


class Names(test_cli.ToolTest):
    """No file is lost to an output of the same name."""

    def test_a_result_does_not_overwrite_its_model(self):
        os.link(self.path("pendulum.yaml"), self.path("hard.h5"))
        os.symlink("pendulum.yaml", self.path("soft.h5"))
        os.mkdir(self.path("folder"))
        os.symlink("..", self.path("folder/up"))
        shutil.copy(self.path("pendulum.yaml"), self.path("model.h5.part"))
        shutil.copy(self.path("pendulum.yaml"), self.path("model.h5.checkpoint"))
        before = {name: open(self.path(name), "rb").read() for name in os.listdir(self.folder) if name != "folder"}
        for model, output in (("pendulum.yaml", "pendulum.yaml"), ("pendulum.yaml", "./folder/../pendulum.yaml"),
                              ("pendulum.yaml", "folder/up/pendulum.yaml"), ("pendulum.yaml", "hard.h5"),
                              ("pendulum.yaml", "soft.h5"), ("soft.h5", "pendulum.yaml"),
                              ("model.h5.part", "model.h5"), ("model.h5.checkpoint", "model.h5"),
                              ("pendulum.yaml", "folder")):
            for more in ([], ["--resume"]):
                with self.subTest(model=model, output=output, more=more):
                    done = self.check(5, "run", model, "--output", output, *more)
                    self.assertIn("" if more else "cannot be written there", done.stderr)
        after = {name: open(self.path(name), "rb").read() for name in os.listdir(self.folder) if name != "folder"}
        self.assertEqual(before, after)

    def test_a_second_run_of_the_same_name_is_refused(self):
        process = self.start("run", "pendulum.yaml", "--output", "r.h5", *ENDLESS)
        until = time.monotonic() + 60
        while not os.path.exists(self.path("r.h5.part")) and time.monotonic() < until:
            time.sleep(0.01)
        os.mkdir(self.path("folder"))
        for output in ("r.h5", "folder/../r.h5"):
            for more in ([], ["--resume"]):
                done = self.tool("run", "pendulum.yaml", "--output", output, *more)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertRegex(done.stderr, "another run is writing it")
        # the lock of a killed run is gone with it
        process.kill()
        process.wait()
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
