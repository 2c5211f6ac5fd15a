# SPDX-License-Identifier: MIT
"""The benchmark beside other engines, without the engines: our own program, the measures, the bounds, the page.

usage: test_bench.py TOOL SOURCE_FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
PEERS = SOURCE / "benchmarks" / "peers"
LIBRARY = TOOL.parents[1] / "lib"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PEERS))

import aims  # noqa: E402
import mechanisms  # noqa: E402
import page  # noqa: E402
import programs  # noqa: E402
import tasks  # noqa: E402


def linkable():
    """A shared library that an ordinary program can use: no sanitizer's."""
    library = LIBRARY / "libholonom.so"
    return library.exists() and not re.search(rb"__[at]san_init", library.read_bytes())


@unittest.skipIf(shutil.which("cc") is None, "no C compiler here")
@unittest.skipUnless(linkable(), "no library that an ordinary program can use")
class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="holonom-bench-"))
        (cls.folder / "bin").mkdir()
        program = cls.folder / "bin" / "peer_holonom"
        subprocess.run(["cc", "-O1", "-std=c17", f"-I{SOURCE / 'include'}", f"-I{TOOL.parents[1] / 'include'}", str(PEERS / "holonom_peer.c"),
                        "-o", str(program), f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lholonom", "-lm"], check=True)
        for name, text in (("crash", "kill -SEGV $$"), ("hang", "exec sleep 60"), ("refuse", "echo not for me >&2; exit 3"),
                           ("talk", "echo no numbers"), ("nan", "echo '{\"engine\": \"n\", \"end\": [-nan, 1]}'")):
            script = cls.folder / "bin" / f"peer_{name}"
            script.write_text(f"#!/bin/sh\n{text}\n")
            script.chmod(0o755)
        cls.runner = programs.Runner(cls.folder, {})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def run_on(self, name, make, integrator="energy-momentum", step=1e-3, end=0.05, **more):
        return self.runner.run("holonom", integrator, self.runner.path(name, make), step, end, 10.0, **more)

    def test_energies_of_the_start_are_those_of_the_text(self):
        """Of a chain let go from level there is none; a top has 1/2 (I + m l^2) w^2; a parallelogram's rung moves with its rails."""
        chain = self.run_on("chain", lambda: mechanisms.chain(3))
        self.assertEqual([abs(x) for x in chain["start"]], [0.0] * 8)
        top = self.run_on("top", mechanisms.top)
        self.assertAlmostEqual(top["start"][0], 0.5 * ((2e-3 + 0.1 ** 2) * 0.5 ** 2 + 1e-3 * 60.0 ** 2), places=12)
        four = self.run_on("four-bar", lambda: mechanisms.ladder(1))
        rail = mechanisms.box(1.0, (0.1, 0.1, 1.0))[1] + 0.25
        self.assertAlmostEqual(four["start"][0], rail + 0.5, places=12)

    def test_six_body_is_the_model_of_that_name(self):
        """Against the tool's own model: energy of the start, whose inertia comes from shapes there."""
        ours = self.run_on("six-body", mechanisms.six_body)
        said = subprocess.run([str(TOOL), "check", str(SOURCE / "models" / "six-body-linkage.yaml")], capture_output=True, text=True, check=True)
        kinetic = float(re.search(r"start energy +(\S+) J kinetic", said.stdout)[1])
        self.assertAlmostEqual(ours["start"][0], kinetic, places=8)

    def test_drift_and_joints_are_measured(self):
        report = self.run_on("bricard", mechanisms.bricard, end=0.2, looks=10)
        self.assertLess(report["drift"], 1e-12)  # measured 3e-15
        self.assertLess(report["gap"], 1e-13)  # measured 2e-16
        rk = self.run_on("bricard", mechanisms.bricard, "projected-rk/adaptive/impose_energy=false", 1e-3, 1.0, looks=2)
        self.assertGreater(rk["drift"], 1e-4)  # a coarse tolerance: measured 2.5e-3

    def test_what_goes_wrong_has_a_reason(self):
        path = self.runner.path("chain", lambda: mechanisms.chain(3))
        for engine, word in (("crash", "signal 11"), ("hang", "not ready after 1 s"), ("refuse", "not for me"), ("talk", "code 0"),
                             ("nan", "not finite"), ("absent", "not installed"), ("rbdl", "neither Debian nor PyPI")):
            with self.subTest(engine):
                self.assertIn(word, self.runner.run(engine, "x", path, 1e-3, 0.01, 1.0, limit=1)["why"])
        self.runner.deadline = 0.0
        try:
            self.assertIn("left out", self.run_on("chain", lambda: mechanisms.chain(3))["why"])
        finally:
            self.runner.deadline = float("inf")

    def test_another_system_is_noticed(self):
        """A chain with one heavier box passes for the chain neither by its energies nor by its places."""
        work = tasks.Tasks(self.runner, True)
        path = self.runner.path("humanoid", mechanisms.humanoid)
        reference = work.converged(path, tasks.CHECK_END)
        _, gap, same = work.check(path, ("holonom", "energy-momentum"), reference)
        self.assertTrue(same)
        self.assertLess(gap, 1e-6)  # measured 8e-8
        other = self.runner.path("heavier", lambda: mechanisms.humanoid().replace(" 11.0 ", " 11.5 ", 1))
        _, gap, same = work.check(other, ("holonom", "energy-momentum"), reference)
        self.assertFalse(same)

    def test_page(self):
        """Lost rows come before the others, reasons are told once, aims are judged."""
        def row(engine, integrator, ns, ratio):
            return {"task": "steps", "case": "chain-hinges-16", "bodies": 16, "engine": engine, "integrator": integrator, "ns": ns,
                    "ratio": ratio, "drift": 0.0, "gap": 0.0, "apart": 0.0, "same": True, "note": ""}
        rows = [row("Holonom 0.2.0", "energy-momentum", 200.0, 1.0), row("Slow 1.0", "euler", 400.0, 0.5), row("MuJoCo 4.0.0", "euler", 100.0, 2.0),
                {"task": "steps", "case": "chain-hinges-16", "bodies": 16, "engine": "rbdl", "integrator": "", "note": "no <package>"}]
        text = page.write(rows, ["a machine"])
        table = text[text.index("ns per body and step; ours"):]
        self.assertLess(table.index("MuJoCo"), table.index("Slow"))
        self.assertIn("no &lt;package&gt;", text)
        found = aims.find(rows)
        self.assertEqual([(round(a["found"], 3), a["reached"]) for a in found], [(2.0, False)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
