# SPDX-License-Identifier: MIT
"""The command line tool as its users meet it: every command, its exit codes, its files, its failures.

usage: test_cli.py TOOL SOURCE_FOLDER
"""

import math
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
except ImportError:  # python3-h5py belongs to the distribution's interpreter
    h5py = None

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."

DOUBLE_PENDULUM = """\
holonom: 1
name: Double pendulum
gravity: [0, 0, -9.81]
bodies:
  link1: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 100, position: [0.5, 0, 0]}
  link2: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 100, position: [1.5, 0, 0]}
joints:
  r1: {revolute: {bodies: [ground, link1], at: [0, 0, 0], axis: y}}
  r2: {revolute: {bodies: [link1, link2], at: [1, 0, 0], axis: y}}
run: {scheme: energy-momentum, step: 0.01, end: 0.5}
"""

# far more steps than any machine takes while a test looks on
ENDLESS = ["--steps", "1000000000"]


def need_h5py(function):
    return unittest.skipIf(h5py is None, "SKIPPED LOUDLY: python3-h5py is not installed")(function)


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("pendulum.yaml", DOUBLE_PENDULUM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def tool(self, *words, **keywords):
        return subprocess.run([TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300, **keywords)

    def check(self, code, *words, **keywords):
        """Run the tool, expect an exit code, return what it printed."""
        done = self.tool(*words, **keywords)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        self.assertNotIn("HDF5-DIAG", done.stderr)
        return done

    def start(self, *words):
        process = subprocess.Popen([TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def wait_for_records(self, name, least=1, seconds=60):
        """Poll a .part until others can read some records of it, as a viewer would."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                with h5py.File(self.path(name), "r") as file:
                    if file.attrs["record_count"] >= least:
                        return int(file.attrs["record_count"])
            except (OSError, KeyError):
                pass
            time.sleep(0.05)
        self.fail(f"no records in {name} after {seconds} s")


class Words(ToolTest):
    def test_help_of_every_command_has_an_example(self):
        text = self.check(0, "--help").stdout
        for command in ("run", "check", "compare", "export"):
            self.assertIn(command, text)
            page = self.check(0, command, "--help").stdout
            self.assertIn(f"Example:\n  holonom {command} ", page)
        for code in "012345":
            self.assertIn(f"\n  {code}  ", text)

    def test_angles_that_may_have_been_degrees_are_warned_of_once(self):
        self.write("turned.yaml", DOUBLE_PENDULUM + "start: {r1: {angle: 90}, r2: {angle: 20}}\n")
        for words in (("check", "turned.yaml"), ("run", "turned.yaml", "-o", "r.h5", "-q")):
            said = self.check(0, *words).stderr
            self.assertEqual(said.count("angle is 90 rad, which is 14.3 turns; 90 degrees are written '90 deg'"), 1)
            self.assertEqual(said.count("1 more angle is a bare number of more than a turn"), 1)

    def test_version_is_printed(self):
        self.assertRegex(self.check(0, "--version").stdout, r"^holonom \d+\.\d+\.\d+\n$")

    def test_no_command_is_a_usage_mistake(self):
        self.assertIn("--help", self.check(2).stderr)

    def test_unknown_words_get_the_nearest_known_one(self):
        cases = [
            (["rnu", "pendulum.yaml"], "'run'"),
            (["run", "pendulum.yaml", "--stpe", "0.1"], "'--step'"),
            (["run", "pendulum.yaml", "--scheme", "variatonal"], "'variational'"),
            (["run", "pendulum.yaml", "--reduction", "nullspce"], "'nullspace'"),
            (["run", "pendulum.yaml", "--require", "enrgy=1"], "'energy'"),
            (["compare", "pendulum.yaml", "--schemes", "energy-momentun"], "'energy-momentum'"),
            (["export", "x.h5", "--seires", "time"], "'--series'"),
        ]
        for words, nearest in cases:
            with self.subTest(words=words):
                self.assertIn(f"did you mean {nearest}", self.check(2, *words).stderr)

    def test_bad_values_are_usage_mistakes(self):
        cases = [["run"], ["run", "a.yaml", "b.yaml"], ["run", "pendulum.yaml", "--step"],
                 ["run", "pendulum.yaml", "--step", "0"], ["run", "pendulum.yaml", "--step", "-1"],
                 ["run", "pendulum.yaml", "--step", "nan"], ["run", "pendulum.yaml", "--end", "inf"],
                 ["run", "pendulum.yaml", "--step", "1e-3x"], ["run", "pendulum.yaml", "--steps", "1.5"],
                 ["run", "pendulum.yaml", "--every", "0"], ["run", "pendulum.yaml", "--end", "1", "--steps", "3"],
                 ["run", "pendulum.yaml", "--output", "a", "--no-output"], ["run", "pendulum.yaml", "--quiet=yes"],
                 ["run", "pendulum.yaml", "--require", "energy"], ["run", "pendulum.yaml", "--step", "1e-300"],
                 ["run", "pendulum.yaml", "--step", "1", "--step", "1"], ["compare", "pendulum.yaml", "--steps", "0.3"]]
        for words in cases:
            with self.subTest(words=words):
                self.check(2, *words)
        self.assertEqual(os.listdir(self.folder), ["pendulum.yaml"])


class Models(ToolTest):
    def test_model_mistakes_have_their_exit_code(self):
        self.write("broken.yaml", "this: [is not\n")
        self.write("empty.yaml", "")
        for command in ("run", "check", "compare"):
            for model in ("missing.yaml", "broken.yaml", "empty.yaml", self.folder):
                with self.subTest(command=command, model=model):
                    self.assertIn(os.path.basename(model), self.check(3, command, model).stderr)

    def test_assembly_errors_have_file_line_and_column(self):
        text = DOUBLE_PENDULUM.replace("run:", "start:\n  link2: {velocity: [3, 0, 1]}\nrun:")
        self.write("start.yaml", text)
        ring = text.replace("joints:", "joints:\n  r3: {revolute: {bodies: [ground, link2], at: {a: [2, 0, 0.7], "
                            "b: [0.5, 0, 0]}, axis: y}}").replace("start:\n  link2: {velocity: [3, 0, 1]}\n", "")
        self.write("ring.yaml", ring)
        for command in ("run", "check"):
            self.assertRegex(self.check(3, command, "start.yaml").stderr, r"^start\.yaml:6:3: body 'link2': ")
            self.assertRegex(self.check(3, command, "ring.yaml").stderr, r"^ring\.yaml:8:3: joint 'r3': ")

    def test_check_reports_structure_and_start(self):
        text = self.check(0, "check", "pendulum.yaml").stdout
        for word in ("Double pendulum", "link1", "r2", "revolute", "ground", "degrees of freedom  2", "rank",
                     "start energy", "conserved", "h |omega|"):
            self.assertIn(word, text)
        self.assertNotIn("nan", text)

    def test_check_tells_which_components_of_reactions_are_unique(self):
        planar = self.check(0, "check", os.path.join(SOURCE, "models", "four-bar.yaml")).stdout
        self.assertIn("crank_bearing, crank_pin, rocker_pin, rocker_bearing: force shared along z, unique normal to "
                      "it; torque unique about z, shared about axes normal to it", planar)
        linkage = self.check(0, "check", os.path.join(SOURCE, "models", "six-body-linkage.yaml")).stdout
        self.assertIn("r1, r4: force shared along (0.5774, -0.5774, 0.5774), unique normal to it; torque shared about "
                      "(0.7071, 0.7071, 0), unique about axes normal to it; 1 combination of shared components is "
                      "unique", linkage)
        self.assertNotIn("shared along", self.check(0, "check", os.path.join(SOURCE, "models", "rssr.yaml")).stdout)


class Drives(ToolTest):
    def test_check_names_them_and_run_says_what_they_did(self):
        model = DOUBLE_PENDULUM + """\
drives:
  lift: {motion: {joint: r1, value: {step: {start: 0, end: 0.4}, scale: -20 deg}}}
  hold: {servo: {joint: r2, target: 0, proportional: 500, derivative: 20}}
"""
        self.write("arm.yaml", model)
        self.assertIn("drives              lift (motion), hold (servo)", self.check(0, "check", "arm.yaml").stdout)
        out = self.check(0, "run", "arm.yaml").stdout
        self.assertRegex(out, r"drives +[-0-9.]+ J done by all: lift [-0-9.]+ J, hold [-0-9.]+ J")
        table = self.check(0, "export", "arm.h5", "--series", "drives/lift/coordinate", "-o", "-").stdout.splitlines()
        self.assertAlmostEqual(float(table[-1].split(",")[1]), -math.radians(20), 12)


class Runs(ToolTest):
    def test_a_run_prints_the_ledger_and_writes_results(self):
        done = self.check(0, "run", "pendulum.yaml")
        for word in ("Double pendulum", "2 bodies", "2 revolute joints", "energy-momentum, reduced, h = 0.01, 50 steps",
                     "energy ", "angular momentum", "joints ", "constraints", "kept", "wrote pendulum.h5"):
            self.assertIn(word, done.stdout)
        self.assertNotIn("NOT KEPT", done.stdout)
        self.assertNotIn("█", done.stdout + done.stderr)  # no bar in a pipe
        self.assertEqual(sorted(os.listdir(self.folder)), ["pendulum.h5", "pendulum.yaml"])

    def test_steps_that_follow_the_motion_are_counted(self):
        done = self.check(0, "run", "pendulum.yaml", "--set", "step_tolerance=1e-8", "--output", "r.h5")
        self.assertRegex(done.stdout, r"inner steps +\d+ of [\d.e-]+ to [\d.e-]+ s, \d+ made again")
        self.assertIn("identical bit for bit", self.check(0, "rerun", "r.h5").stdout)
        done = self.check(2, "run", "pendulum.yaml", "--set", "step_tolerance=1e-8", "--scheme", "rattle", "--no-output")
        self.assertIn("scheme 'rattle' takes no step_tolerance", done.stderr)

    def test_settings_have_one_table_of_names(self):
        with open(self.path("pendulum.yaml"), encoding="utf-8") as stream:
            text = stream.read()
        with open(self.path("soft.yaml"), "w", encoding="utf-8") as stream:
            stream.write(text.replace("run: {", "run: {spectral_radius: 0.2, "))
        files = [("f", "soft.yaml"), ("s", "pendulum.yaml", "--set", "spectral_radius=0.2"), ("d", "pendulum.yaml"),
                 ("o", "soft.yaml", "--set", "spectral_radius=0.6")]
        for name, *words in files:
            self.check(0, "run", *words, "--scheme", "generalized-alpha", "--output", name + ".h5")
            self.check(0, "export", name + ".h5", "--csv", "--output", name + ".csv")
        with_file, with_set, default, over = (open(self.path(name + ".csv"), encoding="utf-8").read() for name, *_ in files)
        self.assertEqual(with_file, with_set)  # the file says what --set says
        self.assertNotEqual(with_file, default)
        self.assertEqual(over, default)  # --set has the last word
        for words, said in [("iterations_max=30,start_tolerance=1e-3,halvings_max=3", ""), ("scheme=rattle", "--scheme"),
                            ("step_size=1", "--step"), ("projection=skew", "expected quasi-orthogonal, orthogonal or along-joints"),
                            ("spectral_radios=1", "did you mean 'spectral_radius'"), ("planar=1", "true or false")]:
            done = self.check(2 if said else 0, "run", "pendulum.yaml", "--no-output", "--set", words)
            self.assertIn(said, done.stderr)

    def test_settings_may_be_said_one_by_one(self):
        both = ("order=8", "relative_tolerance=1e-6")
        files = {"together": ["--set", ",".join(both)], "apart": ["--set", both[0], "--set=" + both[1]],
                 "first": ["--set", both[0]], "second": ["--set", both[1]]}
        texts = {}
        for name, words in files.items():
            self.check(0, "run", "pendulum.yaml", "--scheme", "projected-rk", *words, "--output", name + ".h5")
            self.check(0, "export", name + ".h5", "--csv", "--output", name + ".csv")
            with open(self.path(name + ".csv"), encoding="utf-8") as stream:
                texts[name] = stream.read()
        self.assertEqual(texts["apart"], texts["together"])
        self.assertEqual(len(set(texts.values())), 3)  # each of the two is heard
        for words in [["--set", "rho=0.5", "--set", "rho=0.6"], ["--set", "rho=0.5,order=4,rho=0.5"]]:
            for command in ["run", "--no-output"], ["compare"], ["fmu"]:
                done = self.check(2, command[0], "pendulum.yaml", *command[1:], *words)
                self.assertIn("--set: 'rho' is given twice", done.stderr)
        done = self.check(2, "run", "pendulum.yaml", "--set", "rho=0.5", "--set", "rhos=1")  # a longer name is another one
        self.assertIn("unknown setting 'rhos'", done.stderr)

    def test_a_requirement_is_given_once(self):
        for words in ["energy=1,energy=2"], ["joints=1,energy=1,joints=1"]:
            done = self.check(2, "run", "pendulum.yaml", "--no-output", "--require", *words)
            self.assertIn("is given twice", done.stderr)

    @need_h5py
    def test_the_result_file_holds_series_model_options_and_ledger(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        with h5py.File(self.path("r.h5"), "r") as file:
            self.assertEqual(file.attrs["format"], b"holonom results")
            self.assertEqual(file.attrs["complete"], 1)
            self.assertEqual(file["time"].shape, (51,))
            self.assertAlmostEqual(file["time"][50], 0.5, delta=1e-12)
            self.assertEqual(list(file["bodies/names"].asstr()), ["link1", "link2"])
            self.assertEqual(file["bodies/orientation"].shape, (51, 2, 3, 3))
            self.assertEqual(file["joints/coordinates"].shape, (51, 2))
            self.assertEqual(list(file["joints/coordinate_units"].asstr()), ["rad", "rad"])
            self.assertEqual(file["options"].attrs["scheme"], b"energy-momentum")
            self.assertEqual(file["options"].attrs["step_size"], 0.01)
            self.assertEqual(file["structure"].attrs["degrees_of_freedom"], 2)
            self.assertEqual(file["model/text"][()].decode(), DOUBLE_PENDULUM)
            self.assertEqual(file["ledger/promises/energy"].attrs["kept"], 1)
            self.assertEqual(file["shapes/kind"].asstr()[0], "box")
            # energy is what the scheme keeps; J
            energy = file["ledger/energy"][:]
            self.assertLess(max(abs(energy - energy[0])), 1e-9)
            self.assert_series_are_complete_and_finite(file, 51)

    def assert_series_are_complete_and_finite(self, file, records):
        def look(name, item):
            if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fi":
                return
            if item.maxshape and item.maxshape[0] is None:
                self.assertEqual(item.shape[0], records, name)
                self.assertIn("unit", item.attrs, name)
            self.assertTrue(all(math.isfinite(value) for value in item[()].ravel()), name)
        file.visititems(look)

    @need_h5py
    def test_every_scheme_and_reduction_runs(self):
        for scheme in ("energy-momentum", "variational"):
            for reduction in ("reduced", "nullspace", "multipliers"):
                with self.subTest(scheme=scheme, reduction=reduction):
                    self.check(0, "run", "pendulum.yaml", "--scheme", scheme, "--reduction", reduction, "--steps", "20",
                               "--output", "r.h5", "--require", "joints=1e-9,constraints=1e-9")
                    with h5py.File(self.path("r.h5"), "r") as file:
                        self.assert_series_are_complete_and_finite(file, 21)

    @need_h5py
    def test_every_nth_step_and_the_last_are_written(self):
        self.check(0, "run", "pendulum.yaml", "--steps", "25", "--every", "10", "--output", "r.h5")
        with h5py.File(self.path("r.h5"), "r") as file:
            self.assertEqual(list(file["step"]), [0, 10, 20, 25])

    def test_quiet_prints_nothing_and_no_output_writes_nothing(self):
        done = self.check(0, "run", "pendulum.yaml", "--quiet", "--no-output")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(os.listdir(self.folder), ["pendulum.yaml"])

    def test_requirements_become_an_exit_code(self):
        self.check(0, "run", "pendulum.yaml", "--no-output", "--require", "energy=1e-8,joints=1e-9")
        done = self.check(4, "run", "pendulum.yaml", "--no-output", "--require", "energy=1e-30,joints=1")
        self.assertIn("energy NOT MET", done.stderr)
        self.assertNotIn("joints NOT MET", done.stderr)
        # a pendulum's linear momentum is not conserved: nothing can meet that
        done = self.check(4, "run", "pendulum.yaml", "--no-output", "--require", "linear_momentum=1")
        self.assertIn("linear_momentum", done.stderr)

    def test_condition_numbers_are_shown_for_all_reductions(self):
        text = self.check(0, "run", "pendulum.yaml", "--no-output", "--condition").stdout
        for reduction in ("reduced", "nullspace", "multipliers"):
            self.assertRegex(text, rf"condition +\S+ of the \d+ x \d+ iteration matrix, {reduction}")

    def test_an_end_off_the_grid_is_said(self):
        done = self.check(0, "run", "pendulum.yaml", "--no-output", "--end", "0.123")
        self.assertIn("no multiple", done.stderr)
        self.assertIn("12 steps", done.stdout)

    def test_a_failing_step_keeps_the_part_and_says_what_may_help(self):
        # half a turn and more in one step: the variational scheme has no solution there
        spin = "start: {link1: {angular_velocity: [0, 400, 0]}}\n"
        self.write("spin.yaml", DOUBLE_PENDULUM.replace("run:", spin + "run:"))
        done = self.check(1, "run", "spin.yaml", "--scheme", "variational", "--steps", "50")
        self.assertIn("link1", done.stderr)
        self.assertIn("take a smaller", done.stderr)
        self.assertIn("spin.h5.part", done.stderr)
        self.assertIn("incomplete", done.stdout)
        self.assertIn("warning", done.stderr)  # h |omega| = 4
        self.assertFalse(os.path.exists(self.path("spin.h5")))
        self.assertTrue(os.path.exists(self.path("spin.h5.part")))


class Output(ToolTest):
    def test_places_that_cannot_be_written_are_refused_before_the_run(self):
        os.mkdir(self.path("folder"))
        for place in ("no/such/folder/r.h5", "folder", "/dev/full", "/dev/null"):
            with self.subTest(place=place):
                done = self.check(5, "run", "pendulum.yaml", "--output", place)
                self.assertIn(place, done.stderr)
        self.assertTrue(os.path.isdir(self.path("folder")))
        self.assertFalse(os.path.exists("/dev/full.part"))

    @unittest.skipIf(os.geteuid() == 0, "SKIPPED LOUDLY: root may write into a read-only folder")
    def test_a_read_only_folder_is_refused(self):
        os.mkdir(self.path("locked"), 0o555)
        self.assertIn("permission", self.check(5, "run", "pendulum.yaml", "--output", "locked/r.h5").stderr)

    def assert_stopped_by_full_disk(self, done, name):
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn(name, done.stderr)
        self.assertNotIn("HDF5", done.stderr)
        self.assertFalse(os.path.exists(self.path(name)))
        if h5py is not None:
            with h5py.File(self.path(name + ".part"), "r") as file:
                self.assertGreater(file.attrs["record_count"], 0)
                self.assertEqual(file.attrs["record_count"], file["time"].shape[0])
                self.assertEqual(file["bodies/position"].shape[0], file["time"].shape[0])

    def test_a_file_size_limit_stops_the_run_and_keeps_a_readable_part(self):
        limit = 8 << 20  # bytes
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        done = self.tool("run", "pendulum.yaml", "--output", "r.h5", *ENDLESS, preexec_fn=set_limit,
                         restore_signals=False)  # Python ignores SIGXFSZ, and so does its child
        self.assert_stopped_by_full_disk(done, "r.h5")

    def test_a_full_disk_stops_the_run_and_keeps_a_readable_part(self):
        os.mkdir(self.path("disk"))
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", self.path("disk")],
                               stderr=subprocess.DEVNULL) if shutil.which("mount") else None
        if mount is None or mount.returncode != 0:
            self.skipTest("SKIPPED LOUDLY: a small file system cannot be mounted here (needs root)")
        self.addCleanup(subprocess.run, ["umount", self.path("disk")])
        done = self.tool("run", "pendulum.yaml", "--output", "disk/r.h5", *ENDLESS)
        self.assert_stopped_by_full_disk(done, "disk/r.h5")
        self.assertIn("no space", done.stderr)

    @need_h5py
    def test_a_part_is_readable_during_the_run_and_after_a_kill(self):
        process = self.start("run", "pendulum.yaml", "--output", "r.h5", *ENDLESS)
        first = self.wait_for_records("r.h5.part")
        later = self.wait_for_records("r.h5.part", least=first + 1)
        process.kill()
        process.wait()
        self.assertFalse(os.path.exists(self.path("r.h5")))
        with h5py.File(self.path("r.h5.part"), "r") as file:
            records = int(file.attrs["record_count"])
            self.assertGreaterEqual(records, later)
            self.assertEqual(file.attrs["complete"], 0)
            self.assertEqual(list(file["step"][:records]), list(range(records)))
            self.assertTrue(all(math.isfinite(value) for value in file["bodies/position"][:records].ravel()))
        self.check(0, "export", "r.h5.part", "--series", "energy")

    @need_h5py
    def test_an_interrupted_run_ends_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("run", "pendulum.yaml", "--output", "r.h5", *ENDLESS)
            self.wait_for_records("r.h5.part")
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number, stderr)
            self.assertIn("r.h5.part", stderr)
            self.assertIn("energy", stdout)
            self.assertFalse(os.path.exists(self.path("r.h5")))
            with h5py.File(self.path("r.h5.part"), "r") as file:
                self.assertEqual(file["step"][-1], file["step"].shape[0] - 1)
            os.remove(self.path("r.h5.part"))


class Settings(ToolTest):
    def test_a_setting_that_cannot_be_is_the_fault_of_whoever_gave_it(self):
        for scheme, name, value in (("energy-decaying", "rho", "5"), ("generalized-alpha", "spectral_radius", "7"),
                                    ("energy-momentum", "order", "4"), ("energy-momentum", "iterations_max", "0")):
            text = DOUBLE_PENDULUM.replace("scheme: energy-momentum", f"scheme: {scheme}")
            self.write("plain.yaml", text)
            self.write("own.yaml", text.replace("end: 0.5", f"end: 0.5, {name}: {value}"))
            for command in (("run", "--no-output"), ("check",)):
                self.check(3, command[0], "own.yaml", *command[1:])
            self.check(2, "run", "plain.yaml", "--no-output", "--set", f"{name}={value}")


class NothingIsIgnored(ToolTest):
    def test_options_that_would_do_nothing_are_refused(self):
        for words in (("--series", "energy"), ("--all-series",), ("--every", "2"), ("--output", "x.h5")):
            said = self.check(2, "run", "pendulum.yaml", "--no-output", *words).stderr
            self.assertIn(f"--no-output excludes {words[0]}", said)
        self.check(0, "run", "pendulum.yaml", "--quiet")
        for words in ((), ("--mat",), ("--output", "x.csv")):
            said = self.check(2, "export", "pendulum.h5", "--frames", "5", *words).stderr
            self.assertIn("--frames goes with --gltf and --vtk", said)
        said = self.check(2, "plot", "pendulum.h5", "energy", "--labels", "a,b").stderr
        self.assertIn("--labels: 2 texts for 1 curve", said)
        self.assertFalse(os.path.exists(self.path("pendulum.svg")))


class SeriesNames(ToolTest):
    def test_every_series_of_a_file_is_selected_by_its_name(self):
        self.write("out.yaml", DOUBLE_PENDULUM.replace("run:", "outputs: {tip: {position: {body: link2}}}\nrun:"))
        self.check(0, "run", "out.yaml", "--quiet")
        both = [self.check(0, "export", "out.h5", "--series", word, "--output", "-").stdout
                for word in ("outputs/value", "outputs")]
        self.assertEqual(both[0], both[1])
        self.assertTrue(both[0].startswith("time,outputs/tip/x,outputs/tip/y,outputs/tip/z\n"))

    def test_names_are_as_short_when_written_as_when_read(self):
        self.check(0, "run", "pendulum.yaml", "--series", "energy,iterations", "--quiet")
        table = self.check(0, "export", "pendulum.h5", "--output", "-").stdout
        self.assertTrue(table.startswith("time,step,ledger/energy,newton/iterations\n"), table[:80])
        done = self.check(2, "run", "pendulum.yaml", "--series", "enrgy")
        self.assertIn("did you mean 'energy'?", done.stderr)

    def test_a_series_that_was_not_written_is_said_to_be_missing(self):
        self.check(0, "run", "pendulum.yaml", "--series", "ledger", "--quiet")
        for word in ("bodies", "bodies/link1/position", "outputs"):
            said = self.check(5, "export", "pendulum.h5", "--series", word, "--output", "-").stderr
            self.assertIn(f"has no series '{word}': the model has none, or the run has not written it", said)
            self.assertNotIn("did you mean", said)


class Inputs(ToolTest):
    """No command writes over a file that it reads, by whatever name or link."""

    def refuse(self, kept, *words):
        with open(self.path(kept), "rb") as file:
            before = file.read()
        for output in (kept, "link", "twin"):
            for name in ("link", "twin"):
                if os.path.lexists(self.path(name)):
                    os.remove(self.path(name))
            os.symlink(kept, self.path("link"))
            os.link(self.path(kept), self.path("twin"))
            said = self.check(5, *words, "--output", output).stderr
            self.assertIn("it is the file that is read", said)
            with open(self.path(kept), "rb") as file:
                self.assertEqual(file.read(), before, (words, output))

    def test_no_output_goes_over_what_is_read(self):
        self.write("study.yaml", "holonom_study: 1\nmodel: swing.yaml\ntable: table.csv\n"
                                 "outputs: {e: {of: energy}}\n")
        self.write("swing.yaml", DOUBLE_PENDULUM.replace("bodies:", "parameters: {m: 1}\nbodies:", 1))
        self.write("table.csv", "m\n1\n2\n")
        self.write("page.html", "")
        shutil.copy(os.path.join(SOURCE, "models", "two-link-arm.urdf"), self.path("arm.urdf"))
        self.check(0, "run", "pendulum.yaml", "--quiet")
        self.check(0, "study", "study.yaml", "--quiet")
        for shard in ("1/2", "2/2"):
            self.check(0, "study", "study.yaml", "--quiet", "--shard", shard)
        shards = ("study.1-of-2.h5", "study.2-of-2.h5")
        self.refuse("pendulum.h5", "view", "pendulum.h5")
        self.refuse("study.h5", "view", "study.h5")
        self.refuse("page.html", "view", "pendulum.h5", "--template", "page.html")
        self.refuse("pendulum.yaml", "compare", "pendulum.yaml", "--schemes", "rattle")
        self.refuse("pendulum.yaml", "fmu", "pendulum.yaml")
        self.refuse("arm.urdf", "convert", "arm.urdf")
        for kept in ("study.yaml", "swing.yaml", "table.csv"):
            self.refuse(kept, "study", "study.yaml")
        for kept in shards:
            self.refuse(kept, "study", "merge", *shards)


class Tables(ToolTest):
    def test_compare_shows_every_combination_and_the_order(self):
        text = self.check(0, "compare", "pendulum.yaml", "--steps", "0.02,0.01,0.005", "--end", "0.2").stdout
        rows = [line.split() for line in text.splitlines() if line.strip().startswith(("energy-m", "variational"))]
        self.assertEqual(len(rows), 2 * 3 * 3, text)
        for scheme in ("energy-momentum", "variational"):
            finest = [row for row in rows if row[0] == scheme and row[2] == "0.005"]
            self.assertEqual(len(finest), 3)
            for row in finest:
                self.assertAlmostEqual(float(row[-2]), 2.0, delta=0.2)  # both schemes are of second order
        self.assertNotIn("nan", text)

    def test_compare_shows_error_order_and_cost_by_default(self):
        text = self.check(0, "compare", "pendulum.yaml", "--reductions", "reduced").stdout
        lines = text.splitlines()
        header = next(line for line in lines if line.split()[:1] == ["scheme"])
        for word in ("step", "energy", "joints", "constraints", "G v", "us/step", "error", "order", "ms/s at 1e-6"):
            self.assertIn(word, header)
        self.assertNotIn("first", header)  # one reduction: nothing to compare it with
        rows = lines[lines.index(header) + 1:lines.index(header) + 11]
        orders = {"energy-momentum": 2, "variational": 2, "rattle": 2, "generalized-alpha": 2, "convected": 2,
                  "ggl-variational": 1, "ggl-classical": 1, "ggl-energy-momentum": 2,
                  "energy-decaying": 2}
        for row in rows:
            cells = row.split()
            if cells[0] in orders:
                self.assertAlmostEqual(float(cells[-2]), orders[cells[0]], delta=0.3, msg=text)
                self.assertGreater(float(cells[-1].strip("<")), 0.0)
        self.assertEqual({row.split()[0] for row in rows}, set(orders) | {"projected-rk"})
        # numbers end where their header ends
        for word in ("step", "energy", "constraints", "us/step", "error", "ms/s at 1e-6"):
            end = header.index(" " + word) + 1 + len(word)
            for row in rows:
                self.assertNotEqual(row[end - 1], " ", text)
                self.assertIn(row[end:end + 1], ("", " "), text)

    def test_compare_measures_momenta_that_are_no_promise(self):
        model = os.path.join(SOURCE, "models", "free-tree.yaml")
        text = self.check(0, "compare", model, "--schemes", "energy-momentum,generalized-alpha", "--reductions",
                          "reduced", "--steps", "0.01", "--end", "1").stdout
        rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
        self.assertLess(float(rows["energy-momentum"][5]), 1e-13)
        self.assertGreater(float(rows["generalized-alpha"][5]), 1e-9)
        self.assertIn("three or more --steps", text)

    def test_compare_takes_lists(self):
        text = self.check(0, "compare", "pendulum.yaml", "--schemes", "variational", "--reductions",
                          "multipliers,reduced", "--end", "0.1").stdout
        rows = [line.split()[:2] for line in text.splitlines() if line.strip().startswith("variational")]
        self.assertEqual(rows, [["variational", "multipliers"], ["variational", "reduced"]])

    def test_export_writes_chosen_series(self):
        self.check(0, "run", "pendulum.yaml", "--steps", "10", "--output", "r.h5")
        self.check(0, "export", "r.h5", "--series", "energy,bodies/link2/position,joints/r1/coordinates")
        with open(self.path("r.csv")) as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "time,bodies/link2/position/x,bodies/link2/position/y,bodies/link2/position/z,"
                                   "joints/r1/coordinates/angle,ledger/energy")
        self.assertEqual(len(lines), 12)
        for line in lines[1:]:
            self.assertEqual(len([float(number) for number in line.split(",")]), 6)
        self.check(0, "export", "r.h5", "--output", "all.csv")
        with open(self.path("all.csv")) as file:
            self.assertIn("bodies/link1/orientation/zz", file.readline())
        piped = self.check(0, "export", "r.h5", "--series", "time", "--output", "-").stdout
        self.assertEqual(piped.splitlines()[0], "time")

    def test_export_mistakes_have_their_exit_code(self):
        self.check(0, "run", "pendulum.yaml", "--steps", "2", "--output", "r.h5")
        self.assertIn("'energy'", self.check(5, "export", "r.h5", "--series", "enrgy").stderr)
        self.assertIn("'bodies/link1/position'",
                      self.check(5, "export", "r.h5", "--series", "bodies/lnk1/position").stderr)
        for result in ("missing.h5", "pendulum.yaml", self.folder):
            self.assertIn(os.path.basename(result), self.check(5, "export", result).stderr)
        self.check(5, "export", "r.h5", "--output", "no/such/folder/r.csv")
        with open(self.path("r.h5"), "rb") as file:
            whole = file.read()
        with open(self.path("cut.h5"), "wb") as file:
            file.write(whole[: len(whole) // 2])
        self.check(5, "export", "cut.h5")
        self.assertFalse(os.path.exists(self.path("cut.csv")))

    def test_export_writes_to_whatever_the_output_is(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        words = [TOOL, "export", "r.h5", "--series", "energy", "--output", "-"]
        table = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        self.assertTrue(table.startswith(b"time,"))
        here, there = socket.socketpair()
        with here, there:
            done = subprocess.run(words, cwd=self.folder, stdout=there, stderr=subprocess.PIPE)
            there.shutdown(socket.SHUT_WR)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"".join(iter(lambda: here.recv(65536), b"")), table)
        with open(self.path("both.txt"), "wb") as file:  # what stands there already stays
            file.write(b"first\n")
            file.flush()
            subprocess.run(words, cwd=self.folder, stdout=file, check=True)
        with open(self.path("both.txt"), "rb") as file:
            self.assertEqual(file.read(), b"first\n" + table)


class ControlCharacters(ToolTest):
    """Names of files, words of the command line and names in files may hold any; none reaches the terminal."""

    EVIL = "e\x1b[31mv\x07il"

    def setUp(self):
        super().setUp()
        self.write("page.html", "<html><!--holonom:data--></html>")  # the tool's own is built only where Node is

    def assert_clean(self, code, *words):
        done = self.tool(*words)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        for text in (done.stdout, done.stderr):
            self.assertFalse(any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in text), (words, text))
        return done

    def test_in_names_of_files_and_models(self):
        model, result = self.EVIL + ".yaml", self.EVIL + ".h5"
        self.write(model, DOUBLE_PENDULUM.replace("name: Double pendulum", 'name: "w\\x1b[31mheel\\x07"'))
        for words in (["run", model], ["check", model], ["export", result], ["plot", result, "energy"],
                      ["view", result, "--template", "page.html"], ["rerun", result],
                      ["compare", model, "--schemes", "rattle"],
                      ["generate", "chain", "--count", "2", "--output", self.EVIL + "2.yaml"]):
            self.assert_clean(0, *words)
        self.assertIn("w\\x1B[31mheel\\x07", self.assert_clean(0, "rerun", result).stdout)
        self.assertIn("e\\x1B[31mv\\x07il.csv", self.assert_clean(0, "export", result).stdout)
        nowhere = self.EVIL + "/x"
        for words in (["run", model, "--output", nowhere + ".h5"], ["export", result, "--output", nowhere],
                      ["plot", result, "energy", "--output", nowhere + ".svg"],
                      ["view", result, "--output", nowhere], ["view", result, "--template", nowhere],
                      ["export", nowhere], ["plot", nowhere, "energy"], ["view", nowhere], ["rerun", nowhere]):
            self.assert_clean(5, *words)

    def test_in_words_of_the_command_line(self):
        evil = self.EVIL
        for words in ([evil], ["run", "pendulum.yaml", "--scheme", evil], ["run", "pendulum.yaml", "--" + evil],
                      ["run", "pendulum.yaml", "--end", evil], ["run", "pendulum.yaml", "--set", evil + "=1"],
                      ["run", "pendulum.yaml", "--require", evil + "=1"], ["check", "pendulum.yaml", evil],
                      ["compare", "pendulum.yaml", "--schemes", evil], ["generate", evil], ["reproduce", evil]):
            self.assert_clean(2, *words)

    def test_that_turn_lines_round_are_shown_by_their_numbers(self):
        for sign in "\u061c\u200e\u200f\u2028\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
            self.write("turned.yaml", f"holonom: 1\nbodies: {{'a{sign}b': {{mass: 1, inertia: [1, 1, 1]}}}}\n"
                                      "run: {step: 0.01, end: 0.1}\n")
            for words in (["check", "turned.yaml"], ["run", "turned.yaml"], ["run", "pendulum.yaml", "--scheme", sign],
                          ["modes", "turned.yaml"]):
                done = self.tool(*words)
                self.assertNotIn(sign, done.stdout + done.stderr)
            self.assertIn(f"\\u{ord(sign):04X}", done.stdout + done.stderr + self.tool("check", sign).stderr)

    def test_of_the_second_row_are_not_in_names(self):
        self.write("c1.yaml", "holonom: 1\nbodies: {'a\u0085b': {mass: 1, inertia: [1, 1, 1]}}\n")
        done = self.tool("check", "c1.yaml")
        self.assertEqual(done.returncode, 3)
        self.assertIn("control character", done.stderr)

    @need_h5py
    def test_in_names_of_a_result_file(self):
        self.check(0, "run", "pendulum.yaml", "--output", "r.h5")
        with h5py.File(self.path("r.h5"), "r+") as file:
            file["bodies/names"][0] = b"\x1b[5m"
        for words in (["export", "r.h5", "--output", "-"], ["plot", "r.h5", "energy"],
                      ["view", "r.h5", "--template", "page.html"], ["rerun", "r.h5"]):
            self.assertIn("control character in a name", self.assert_clean(5, *words).stderr)


class StaticTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("held.yaml", DOUBLE_PENDULUM.replace("run:", "loads:\n"
                   "  s1: {torsion_spring: {joint: r1, stiffness: 400}}\n"
                   "  s2: {torsion_spring: {joint: r2, stiffness: 300}}\n"
                   "  push: {force: {body: link2, vector: [0, 0, -4], pulse: {start: 0, peak: 1, end: 2}}}\nrun:"))

    @need_h5py
    def test_load_steps_are_records_and_their_factor_the_time(self):
        done = self.check(0, "static", "held.yaml", "--load-steps", "5")
        self.assertIn("stable", done.stdout)
        self.assertIn("r1", done.stdout)
        with h5py.File(self.path("held-static.h5"), "r") as file:
            self.assertEqual([round(t, 12) for t in file["time"][:]], [0, 0.2, 0.4, 0.6, 0.8, 1])
            self.assertEqual(file["options"].attrs["kind"], b"static" if isinstance(
                file["options"].attrs["kind"], bytes) else "static")
        self.check(0, "plot", "held-static.h5", "joints/r1/coordinates", "-o", "r1.svg")
        self.check(0, "export", "held-static.h5", "--series", "joints/r1/coordinates")
        done = self.check(5, "rerun", "held-static.h5")
        self.assertIn("it is no run", done.stderr)

    def angle(self, *words):
        done = self.check(0, "static", "held.yaml", "--no-output", *words)
        return float([line.split()[-1] for line in done.stdout.splitlines() if line.split()[:1] == ["r1"]][0])

    def test_loads_have_their_size_at_a_time(self):
        self.assertEqual(self.angle(), self.angle("--time", "1"))
        self.assertNotEqual(self.angle(), self.angle("--time", "0.5"))
        self.assertEqual(self.angle("--time", "0"), self.angle("--time", "2"))

    def test_mistakes_are_named(self):
        for words, text in [(["--load-steps", "0"], "--load-steps"), (["--time", "soon"], "soon"),
                            (["--no-output", "-o", "x.h5"], "--no-output")]:
            self.assertIn(text, self.check(2, "static", "held.yaml", *words).stderr)
        self.write("loose.yaml", "holonom: 1\nbodies:\n  stone: {shape: {sphere: {radius: 0.1}}, mass: 1}\n")
        done = self.check(1, "static", "loose.yaml")
        self.assertIn("'stone'", done.stderr)
        self.assertTrue(os.path.exists(self.path("loose-static.h5.part")))

    def test_run_starts_at_the_equilibrium(self):
        with open(self.path("held.yaml")) as file:
            text = file.read()
        self.write("start.yaml", text + "start: equilibrium\n")
        done = self.check(0, "run", "start.yaml", "--steps", "20")
        self.check(0, "rerun", "start.h5")
        self.write("start.yaml", text + "start: equlibrium\n")
        done = self.check(3, "check", "start.yaml")
        self.assertIn("did you mean 'equilibrium'", done.stderr)

    def test_an_unstable_rest_is_said(self):
        self.write("up.yaml", "holonom: 1\nbodies:\n  arm: {shape: {box: {size: [0.1, 0.1, 1]}}, mass: 1, "
                   "position: [0, 0, 0.5]}\njoints:\n  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], "
                   "axis: y}}\n")
        done = self.check(0, "static", "up.yaml", "--no-output")
        self.assertIn("UNSTABLE in 1 direction", done.stdout)
        self.assertIn("1 negative eigenvalue", done.stderr)

    def test_modes_of_what_cannot_move(self):
        self.write("held.yaml", "holonom: 1\nname: held\nbodies: {a: {mass: 2, inertia: [1, 1, 1], position: [1, 0, 0]}}\n"
                                "joints: {j: {fixed: {bodies: [ground, a], at: [0, 0, 0]}}}\n")
        done = self.check(0, "modes", "held.yaml")
        self.assertIn("0 modes: joints and drives leave no freedom to move", done.stdout)
        self.assertNotIn("UNSTABLE", done.stdout)
        self.check(0, "export", "held-modes.h5")  # it has one record

    @need_h5py
    def test_load_steps_are_at_rest(self):
        self.write("arm.yaml", "holonom: 1\nname: arm\n"
                               "bodies: {arm: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}}\n"
                               "joints: {pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}}\n"
                               "loads: {s: {torsion_spring: {joint: pin, stiffness: 50}}}\n"
                               "drives: {e: {effort: {joint: pin, value: -5-10*t}}}\nstart: {pin: {rate: 3}}\n"
                               "outputs: {a: {acceleration: {body: arm}}, v: {velocity: {body: arm}}}\n"
                               "run: {step: 0.01, end: 1}\n")
        self.check(0, "static", "arm.yaml", "--time", "0.3", "--output", "rest.h5")
        with h5py.File(self.path("rest.h5"), "r") as file:
            self.assertEqual(abs(file["outputs/value"][:]).max(), 0.0)  # they were those of the start and of another time

    def test_loads_without_a_potential_have_no_verdict_by_signs(self):
        # a follower load (Beck): stands until 20.05 EI/L^2, although its stiffness has a negative symmetric part
        beck = ("holonom: 1\nname: beck\ngravity: [0, 0, 0]\nbeams:\n"
                "  c: {from: [0, 0, 0], to: [0, 0, 1], elements: 8, order: 2, direction: [1, 0, 0], "
                "stiffness: {shear: 1e6, axial: 1e6, bending: [1, 4], torsion: 1}, mass_per_length: 1, "
                "inertia_per_length: [1e-6, 1e-6], clamped: start}\n"
                "loads:\n  f: {force: {body: c.tip, vector: [0, 0, LOAD], body_fixed: true}}\n"
                "run: {step: 0.001, end: 1}\n")
        for load, unstable in (("-15", "0 unstable"), ("-25", "2 unstable")):
            self.write("beck.yaml", beck.replace("LOAD", load))
            done = self.check(0, "static", "beck.yaml", "--no-output")
            self.assertIn("modes tell whether it is stable", done.stdout)
            self.assertNotIn("unstable", (done.stdout + done.stderr).lower())
            self.assertIn(unstable, self.check(0, "modes", "beck.yaml", "--no-output").stdout)
        self.write("named.yaml", beck.replace("LOAD", "-1") +
                   "bodies: {p: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1.5]}}\n"
                   "joints: {k: {revolute: {bodies: [c.tip, p], at: [0, 0, 1], axis: y}}}\n"
                   "drives: {halt: {stop: {joint: k, upper: 1, restitution: 0.6}}}\n")
        self.assertIn("drive 'halt' is a stop", self.check(3, "static", "named.yaml").stderr)

    def test_bent_elements_are_named(self):
        with open(os.path.join(SOURCE, "models/roll-up.yaml")) as file:
            text = file.read()
        self.write("coarse.yaml", text.replace("elements: 20", "elements: 13\n    element: linear"))
        done = self.check(0, "static", "coarse.yaml", "--no-output", "--load-steps", "40")
        self.assertIn("more elements help", done.stderr)
        self.assertIn("element strip.", done.stderr)
        done = self.check(0, "run", "coarse.yaml", "--no-output", "--quiet")
        self.assertRegex(done.stderr, "beam strip: neighbouring nodes are turned by 3[0-9.]+ degrees .* element strip.")
        # an element bears EI/2l at most, at 45 degrees: ten bear 10/4 pi of the moment
        self.write("coarse.yaml", text.replace("elements: 20", "elements: 10\n    element: linear"))
        done = self.check(1, "static", "coarse.yaml", "--no-output")
        self.assertRegex(done.stderr, "above load factor 0.795[0-9]+: the element between 'strip.*is bent by 4[0-9]")
        # helical ones are bent by what the moment says: 72 degrees of five elements, which is coarse but right, and 180 of two
        self.write("coarse.yaml", text.replace("elements: 20", "elements: 5"))
        done = self.check(0, "static", "coarse.yaml", "--no-output")
        self.assertRegex(done.stderr, "turned by 72.0 degrees .* one curvature says little")
        self.write("coarse.yaml", text.replace("elements: 20", "elements: 2"))
        done = self.check(1, "static", "coarse.yaml", "--no-output")
        self.assertRegex(done.stderr, "is bent by 1[0-9.]+ degrees, and from 132 on it bears less")

    def test_elements_too_long_for_their_tension_are_named(self):
        self.write("hanging.yaml", "holonom: 1\nparameters: {n: 10, push: 0}\n"
                   "beams:\n  q: {from: [0, 0, 0], to: [0, 0, -2], elements: n, element: linear, section: {rectangle: [0.02, 0.01]},\n"
                   "    material: {young: 1e8, poisson: 0.3, density: 1000}, clamped: start, masses: [{at: 2, mass: 3}]}\n"
                   "loads: {p: {force: {body: q.end, vector: [push, 0, 0]}}}\n"
                   "run: {step: 0.002, end: 0.06}\n")
        named = r"beam q: element q\.0 is too long for its tension {}: N l\^2 = {} times 4 EI.* take at least {} elements"
        done = self.check(0, "static", "hanging.yaml", "--no-output")
        self.assertRegex(done.stderr, named.format("here", "1.99", 15))
        self.assertIn("the equilibrium is unstable", done.stderr)
        for command in (("modes",), ("linearise", "--at", "equilibrium")):
            done = self.check(0, *command, "hanging.yaml", "--no-output")
            self.assertRegex(done.stderr, named.format("here", "1.99", 15))
        done = self.check(0, "run", "hanging.yaml", "--no-output", "--quiet") # it bounces by twice the weight
        self.assertRegex(done.stderr, named.format(r"at t = 0\.05[0-9]* s", "[34].[0-9]+", "[12][0-9]"))
        for command, count in (("static", 15), ("modes", 15), ("run", 24)):
            done = self.check(0, command, "hanging.yaml", "--parameter", f"n={count}", "--no-output")
            self.assertNotIn("tension", done.stderr)
        done = self.check(1, "static", "hanging.yaml", "--parameter", "n=4", "--parameter", "push=0.5", "--no-output")
        self.assertRegex(done.stderr, r"no equilibrium above .* too long for its tension: N l\^2 = .* take at least 1[0-9] elements")
        # helical ones are stiffened by tension as the beam is
        with open(os.path.join(self.folder, "hanging.yaml")) as file:
            text = file.read()
        self.write("hanging.yaml", text.replace("element: linear, ", ""))
        for command in ("static", "modes", "run"):
            done = self.check(0, command, "hanging.yaml", "--parameter", "n=2", "--no-output")
            self.assertNotIn("tension", done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "UNSTABLE|[1-9] unstable|is unstable")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
