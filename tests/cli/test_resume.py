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
import stat
import subprocess
import sys
import time
import unittest

import test_cli
from test_cli import ENDLESS, SOURCE, TOOL, h5py, need_h5py

# long enough to be caught in the middle, short enough to be run to its end
LONG = ["--steps", "400000", "--every", "60"]


def script(name):
    """A script without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(SOURCE, "scripts", name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class FileTest(test_cli.ToolTest):
    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def all_files(self):
        """Name and contents of each file of the folder."""
        return {name: self.bytes_of(name) for name in os.listdir(self.folder) if os.path.isfile(self.path(name))}


class Resume(FileTest):
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
        # solvers of their own have a memory of their own, which a step that is discarded leaves as it was
        cases = [(number, words) for words in ([], ["--scheme", "projected-rk", "--step", "2e-4"])
                 for number in (signal.SIGINT, signal.SIGTERM)]
        for number, words in cases:
            self.check(0, "run", "pendulum.yaml", "--output", "whole.h5", *LONG, *words)
            # without --checkpoint: the signal alone writes one
            process = self.start("run", "pendulum.yaml", "--output", "r.h5", *LONG, *words)
            self.wait_for_records("r.h5.part", least=0)
            process.send_signal(number)
            stderr = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 128 + number, stderr)
            self.assertIn("--resume", stderr)
            self.assertTrue(os.path.exists(self.path("r.h5.checkpoint")))
            # what a kill in the middle of writing a checkpoint leaves
            with open(self.path("r.h5.checkpoint.new"), "wb") as file:
                file.write(b"half of one")
            # settings come from the stopped run
            done = self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume")
            self.assertRegex(done.stderr, r"goes on at t = .* of 400000\)")
            self.assert_equal_results("r.h5", "whole.h5")
            self.assertFalse(os.path.exists(self.path("r.h5.checkpoint")))
            self.assertFalse(os.path.exists(self.path("r.h5.checkpoint.new")))
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

    @need_h5py
    def test_a_run_goes_on_with_its_own_series(self):
        for words, others in (((), ("--series", "ledger")), (("--series", "ledger,joints"), ("--series", "bodies")),
                              (("--series", "ledger"), ("--all-series",))):
            self.kill_run("--steps", "200000", "--every", "30", *words)  # few series are written fast
            before = self.all_files()
            for other in (others, ("--series", "ledger/energy")):
                done = self.check(2, "run", "pendulum.yaml", "--output", "r.h5", "--resume", *other)
                self.assertRegex(done.stderr, "it was started with(out --all-series| other series)")
            self.assertEqual(self.all_files().keys(), before.keys())
            self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--resume", *words)
            with h5py.File(self.path("r.h5")) as file:
                self.assertEqual(file["options"].attrs.get("series", b"").decode(), "".join(words[1:]))
                lengths = {len(file[name]) for name in ("time", "ledger/energy", "ledger/kinetic")}
                self.assertEqual(lengths, {200000 // 30 + 2})
                self.assertEqual("position" in file["bodies"], words == ())
            self.check(0, "rerun", "r.h5")
            os.remove(self.path("r.h5"))

    def test_a_complete_result_counts_if_it_is_the_one_asked_for(self):
        def run(code, *words):
            return self.check(code, "run", "pendulum.yaml", "--resume", *words).stderr

        run(0)
        kept = self.bytes_of("pendulum.h5")
        for words in ((), ("--scheme", "energy-momentum"), ("--steps", "50"), ("--every", "1"), ("--step", "1e-2")):
            self.assertIn("is complete: nothing is left to do", run(0, *words))
        self.assertEqual(self.bytes_of("pendulum.h5"), kept)
        for words, name in ((("--scheme", "rattle"), "scheme"), (("--reduction", "multipliers"), "reduction"),
                            (("--set", "residual_tolerance=1e-9"), "residual_tolerance"), (("--every", "7"), "--every"),
                            (("--step", "0.005"), "step_size"), (("--series", "ledger"), "choice of series"),
                            (("--all-series",), "choice of series")):
            self.assertIn(f"is complete with another {name}: the run starts from the beginning", run(0, *words))
            self.assertIn("is complete: nothing is left to do", run(0, *words))

    def test_a_complete_result_is_judged_as_when_it_was_made(self):
        required = ("run", "pendulum.yaml", "--resume", "--quiet", "--require", "energy=1e-30")
        first, second = self.check(4, *required), self.check(4, *required)
        self.assertIn(second.stderr.strip().splitlines()[-1], first.stderr)
        loose = ("run", "pendulum.yaml", "--resume", "--quiet", "--set", "residual_tolerance=1", "--output", "loose.h5")
        first, second = self.check(6, *loose), self.check(6, *loose)
        self.assertIn("energy NOT KEPT", second.stderr)

    def test_a_new_run_says_that_it_replaces_a_stopped_one(self):
        self.kill_run(*ENDLESS)
        done = self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--quiet")
        self.assertIn("r.h5.part of a stopped run was replaced", done.stderr)
        self.assertFalse(os.path.exists(self.path("r.h5.checkpoint")))

    @need_h5py
    def test_places_that_chunks_leave_are_given_back(self):
        # so many checkpoints that nearly every chunk was written plain before it was full
        self.write("many.yaml", subprocess.run([TOOL, "generate", "chain", "--count", "40"], stdout=subprocess.PIPE,
                                               text=True).stdout)
        words = ["run", "many.yaml", "--step", "1e-3", "--steps", "600", "--quiet"]
        self.check(0, *words, "--output", "whole.h5")
        self.check(0, *words, "--output", "r.h5", "--checkpoint", "1e-6")
        self.assert_equal_results("r.h5", "whole.h5")
        whole, size = os.path.getsize(self.path("whole.h5")), os.path.getsize(self.path("r.h5"))
        self.assertLess(size, 1.34 * whole)  # a quarter of it may be waste; measured 1.0
        self.assertEqual(sorted(os.listdir(self.folder)), ["many.yaml", "pendulum.yaml", "r.h5", "whole.h5"])

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


class Names(FileTest):
    """No file is lost to an output of the same name."""

    def test_a_result_does_not_overwrite_its_model(self):
        os.link(self.path("pendulum.yaml"), self.path("hard.h5"))
        os.symlink("pendulum.yaml", self.path("soft.h5"))
        os.mkdir(self.path("folder"))
        os.symlink("..", self.path("folder/up"))
        shutil.copy(self.path("pendulum.yaml"), self.path("model.h5.part"))
        shutil.copy(self.path("pendulum.yaml"), self.path("model.h5.checkpoint"))
        before = self.all_files()
        for model, output in (("pendulum.yaml", "pendulum.yaml"), ("pendulum.yaml", "./folder/../pendulum.yaml"),
                              ("pendulum.yaml", "folder/up/pendulum.yaml"), ("pendulum.yaml", "hard.h5"),
                              ("pendulum.yaml", "soft.h5"), ("soft.h5", "pendulum.yaml"),
                              ("model.h5.part", "model.h5"), ("model.h5.checkpoint", "model.h5"),
                              ("pendulum.yaml", "folder")):
            for more in ([], ["--resume"]):
                with self.subTest(model=model, output=output, more=more):
                    done = self.check(5, "run", model, "--output", output, *more)
                    self.assertIn("" if more else "cannot be written there", done.stderr)
        after = self.all_files()
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

    def test_tables_plots_and_reruns_do_not_overwrite_the_result(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        for name in ("r.h5.part", "plot.svg", "r.csv.part"):
            shutil.copy(self.path("r.h5"), self.path(name))
        os.symlink("r.h5", self.path("soft.csv"))
        os.link(self.path("r.h5"), self.path("hard.csv"))
        before = self.all_files()
        for words in (["export", "r.h5", "--output", "r.h5"], ["export", "r.h5", "--output", "soft.csv"],
                      ["export", "r.h5", "--output", "hard.csv"], ["export", "soft.csv", "--output", "r.h5"],
                      ["rerun", "r.h5", "--output", "r.h5"], ["rerun", "r.h5.part", "--output", "r.h5"],
                      ["plot", "plot.svg", "energy", "--output", "plot.svg"]):
            with self.subTest(words=words):
                self.check(5, *words)
        after = self.all_files()
        self.assertEqual(before, after)
        # a table is written beside, under a name of its own: not over this one
        self.check(0, "export", "r.csv.part", "--output", "r.csv")
        self.assertEqual(self.bytes_of("r.csv.part"), before["r.csv.part"])

    def test_what_cannot_be_written_leaves_what_was_there(self):
        limit = 20000  # bytes

        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--end", "5")
        for name, words in (("g.yaml", ["generate", "chain", "--count", "10000"]), ("t.csv", ["export", "r.h5"])):
            self.write(name, "precious")
            done = self.tool(*words, "--output", name, preexec_fn=set_limit, restore_signals=False)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("cannot be written", done.stderr)
            self.assertEqual(self.bytes_of(name), b"precious")
            # in a place that cannot be written at all, too
            self.assertEqual(self.tool(*words, "--output", "none/x").returncode, 5)
            self.check(0, *words, "--output", name)
            self.assertNotEqual(self.bytes_of(name), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.yaml", "pendulum.yaml", "r.h5", "t.csv"])

    def test_files_that_no_run_has_left_are_not_replaced(self):
        for name in ("r.h5.part", "r.h5.checkpoint"):
            for command in ("run", "static"):
                for text in ("my", "notes of mine\n" * 40):
                    self.write(name, text)
                    done = self.check(5, command, "pendulum.yaml", "--output", "r.h5")
                    self.assertIn(name + ": results cannot be written there", done.stderr)
                    self.assertNotIn("replaced", done.stderr)
                    self.assertEqual(self.all_files(), {name: text.encode(), "pendulum.yaml": self.bytes_of("pendulum.yaml")})
            os.remove(self.path(name))
        # nothing is said to be replaced where nothing is
        for name in ("r.h5.part", "r.h5.checkpoint"):
            self.write(name, "notes of mine")
        self.assertNotIn("replaced", self.check(5, "run", "pendulum.yaml", "--output", "r.h5").stderr)
        # an empty file is nobody's
        for name in ("r.h5.part", "r.h5.checkpoint"):
            self.write(name, "")
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")

    def writers(self):
        """Commands that write a file, without its name."""
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5", "--end", "5")
        self.write("template.html", "<html><!--holonom:data--></html>" + 4000 * " ")
        return {"g.yaml": ["generate", "chain", "--count", "1000"], "t.csv": ["export", "r.h5"],
                "t.mat": ["export", "r.h5"], "t.glb": ["export", "r.h5"], "t.vtkhdf": ["export", "r.h5"],
                "p.svg": ["plot", "r.h5", "energy"], "u.fmu": ["fmu", "pendulum.yaml"],
                "l.h5": ["linearise", "pendulum.yaml"], "l.mat": ["linearise", "pendulum.yaml"],
                "v.html": ["view", "r.h5", "--template", "template.html"],
                "c.html": ["compare", "pendulum.yaml", "--schemes", "rattle", "--end", "0.02", "--template", "template.html"]}

    def test_a_link_stays_one_and_what_it_leads_to_is_whole(self):
        os.mkdir(self.path("far"))
        for name, words in self.writers().items():
            with self.subTest(name=name):
                self.write("far/" + name, "precious")
                self.write(name + ".part", "of another program")
                os.symlink("far/" + name, self.path("near-" + name))
                os.symlink("near-" + name, self.path(name))
                done = self.tool(*words, "--output", name, restore_signals=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)))
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertRegex(done.stderr, "cannot be written|larger than allowed")
                self.assertNotIn("HDF5", done.stderr)
                self.assertEqual(self.bytes_of("far/" + name), b"precious")
                self.check(0, *words, "--output", name)
                self.assertGreater(len(self.bytes_of("far/" + name)), 900)
                # where nothing is yet, too
                os.remove(self.path("far/" + name))
                self.check(0, *words, "--output", name)
                self.assertGreater(len(self.bytes_of("far/" + name)), 900)
                self.assertTrue(os.path.islink(self.path(name)) and os.path.islink(self.path("near-" + name)))
                self.assertEqual(self.bytes_of(name + ".part"), b"of another program")
        self.assertFalse([name for name in os.listdir(self.folder) + os.listdir(self.path("far"))
                          if name.endswith(".new")])

    def test_devices_are_written_through(self):
        try:  # nodes of our own: those of the system are never written to by a test that may fail
            os.mknod(self.path("full"), stat.S_IFCHR | 0o600, os.makedev(1, 7))
            os.mknod(self.path("null"), stat.S_IFCHR | 0o600, os.makedev(1, 3))
            open(self.path("null"), "wb").close()
        except OSError:
            self.skipTest("SKIPPED LOUDLY: a device node cannot be made here (needs root)")
        for name, words in self.writers().items():
            for device, code in (("null", 0), ("full", 5)):
                for link in (False, True):
                    with self.subTest(name=name, device=device, link=link):
                        # a plot is told by its ending
                        output = "link" + os.path.splitext(name)[1] if link or name == "p.svg" else device
                        if output != device:
                            os.symlink(device, self.path(output))
                        done = self.tool(*words, "--output", output)
                        self.assertEqual(done.returncode, code, done.stderr)
                        self.assertNotIn("HDF5", done.stderr)
                        if code == 5:
                            self.assertRegex(done.stderr.lower(), "no space|could not be written")
                        self.assertTrue(stat.S_ISCHR(os.lstat(self.path(device)).st_mode))
                        if output != device:
                            self.assertEqual(os.readlink(self.path(output)), device)
                            os.remove(self.path(output))

    def test_hdf5_says_nothing_where_no_byte_can_be_written(self):
        for words in (["run", "pendulum.yaml"], ["run", "pendulum.yaml", "--checkpoint", "0.01"],
                      ["modes", "pendulum.yaml", "--at", "start"], ["static", "pendulum.yaml"]):
            with self.subTest(words=words):
                done = self.tool(*words, "--output", "r.h5", restore_signals=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("larger than allowed", done.stderr)
                self.assertNotIn("HDF5", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["pendulum.yaml"])

    @need_h5py
    def test_a_result_of_an_unknown_format_is_refused(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        with h5py.File(self.path("r.h5"), "r+") as file:
            file.attrs["format_version"] = 99
        for command in ("export", "rerun"):
            self.assertIn("99", self.check(5, command, "r.h5").stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["pendulum.yaml", "r.h5"])


class Rerun(test_cli.ToolTest):
    def test_every_scheme_repeats_bit_for_bit(self):
        for scheme in ("energy-momentum", "variational", "rattle", "generalized-alpha", "convected", "ggl-variational",
                       "ggl-classical", "projected-rk", "ggl-energy-momentum"):
            with self.subTest(scheme=scheme):
                self.check(0, "run", "pendulum.yaml", "--scheme", scheme, "--output", "r.h5", "--every", "3",
                           "--set", "spectral_radius=0.3,relative_tolerance=1e-6,impose_momentum=false")
                done = self.check(0, "rerun", "r.h5")
                self.assertIn("identical bit for bit", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), ["pendulum.yaml", "r.h5"])

    @need_h5py
    def test_the_part_of_a_stopped_run_repeats(self):
        process = self.start("run", "pendulum.yaml", "--output", "r.h5", *ENDLESS)
        self.wait_for_records("r.h5.part", least=10)
        process.send_signal(signal.SIGINT)
        process.wait()
        self.check(0, "rerun", "r.h5.part", "--output", "again.h5", "--quiet")
        self.check(0, "export", "again.h5", "--series", "energy", "--output", "energy.csv")

    @need_h5py
    def test_differences_are_found_and_measured(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        with h5py.File(self.path("r.h5"), "r+") as file:
            file["bodies/position"][17, 1, 2] += 1e-7  # m, of positions up to 2
        done = self.check(4, "rerun", "r.h5")
        self.assertIn("1 differ", done.stderr)
        self.assertIn("bodies/link2/position/z at t = 0.17 s", done.stderr)
        self.assertRegex(done.stderr, r"largest difference 6\.\de-08|largest difference [5-9](\.\d)?e-08")
        self.check(0, "rerun", "r.h5", "--require", "1e-6", "--quiet")
        self.check(4, "rerun", "r.h5", "--require", "1e-9", "--quiet")
        # a setting that was another one
        with h5py.File(self.path("r.h5"), "r+") as file:
            file["options"].attrs["step_size"] = 0.011
        self.assertRegex(self.check(4, "rerun", "r.h5").stderr, r"\d+ differ")

    def test_mistakes_have_their_exit_code(self):
        self.check(5, "rerun", "none.h5")
        self.check(5, "rerun", "pendulum.yaml")
        self.check(2, "rerun")
        self.check(2, "rerun", "none.h5", "--require", "no")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
