# SPDX-License-Identifier: MIT
"""`holonom generate`: its files are what they say, load, and move as mechanics says; wrong words are answered.

usage: test_generate.py TOOL SOURCE_FOLDER
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"

GRAVITY = 9.81  # m/s^2


def subtract(a, b):
    return [x - y for x, y in zip(a, b)]


def norm(v):
    return math.sqrt(sum(x * x for x in v))


def point(joint):
    return next(iter(joint.values()))["at"]


def kind(joint):
    return next(iter(joint))


class GenerateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-generate-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check(self, code, *words):
        done = subprocess.run([TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def generate(self, *words):
        """The model as Python data; the file stays as model.yaml."""
        self.check(0, "generate", *words, "--output", "model.yaml")
        with open(os.path.join(self.folder, "model.yaml")) as file:
            return yaml.safe_load(file)

    def structure(self):
        """What `holonom check` finds in model.yaml: start energies, degrees of freedom, loops."""
        out = self.check(0, "check", "model.yaml").stdout
        energy = re.search(r"start energy\s+(\S+) J kinetic, (\S+) J potential", out)
        return {"kinetic": float(energy.group(1)), "potential": float(energy.group(2)),
                "freedom": int(re.search(r"degrees of freedom\s+(\d+)", out).group(1)),
                "loops": int(re.search(r"loops\s+(\d+)", out).group(1)),
                "redundant": int(re.search(r"rank \d+, (\d+) redundant", out).group(1)),
                "text": out}

    def ends_meet(self, model):
        """Every joint is at an end of both its bodies; returns the bars' lengths."""
        ends = {name: body["between"] for name, body in model["bodies"].items()}
        for name, joint in model["joints"].items():
            for body in next(iter(joint.values()))["bodies"]:
                if body != "ground":
                    self.assertIn(point(joint), ends[body], name)
        return [norm(subtract(q, p)) for p, q in ends.values()]

    # ---- chains and trees ----

    def test_a_chain_has_the_bodies_and_joints_asked_for(self):
        for joint, freedom in (("revolute", 5), ("spherical", 15), ("mixed", 3 * 1 + 2 * 3)):
            model = self.generate("chain", "--count", "5", "--joint", joint, "--angle", "30", "--zigzag", "10")
            self.assertEqual(len(model["bodies"]), 5)
            self.assertEqual(len(model["joints"]), 5)
            for length in self.ends_meet(model):
                self.assertAlmostEqual(length, 1.0, delta=1e-14)  # measured 2.2e-16
            found = self.structure()
            self.assertEqual(found["freedom"], freedom)
            self.assertEqual(found["loops"], 0)
            # centres are at depths (k - 1/2) sin 30
            self.assertAlmostEqual(found["potential"], -GRAVITY * 0.5 * sum(k + 0.5 for k in range(5)), delta=1e-6)

    def test_mixed_joints_alternate(self):
        model = self.generate("chain", "--count", "4", "--joint", "mixed")
        self.assertEqual([kind(joint) for joint in model["joints"].values()],
                         ["revolute", "spherical", "revolute", "spherical"])

    def test_right_angles_are_exact(self):
        model = self.generate("chain", "--count", "3", "--angle", "90")
        self.assertEqual(model["bodies"]["link3"]["between"], [[0, 0, -2], [0, 0, -3]])

    def test_a_tree_is_binary_at_any_count(self):
        for count in (1, 2, 6, 31):
            model = self.generate("tree", "--count", str(count), "--angle", "25")
            self.assertEqual(len(model["bodies"]), count)
            for length in self.ends_meet(model):
                self.assertAlmostEqual(length, 1.0, delta=1e-13)  # measured 6.7e-16
            parents = [joint["revolute"]["bodies"][0] for joint in model["joints"].values()]
            self.assertEqual(parents, ["ground" if k == 1 else f"link{k // 2}" for k in range(1, count + 1)])
            self.assertEqual(self.structure()["freedom"], count)

    def test_one_box_swings_as_a_pendulum(self):
        # a compound pendulum let go from level: omega^2 = 2 m g (1/2) sin(angle) / J at the lowest place reached
        self.generate("chain", "--count", "1")
        self.check(0, "run", "model.yaml", "--step", "0.001", "--end", "0.3", "--output", "run.h5", "--quiet")
        self.check(0, "export", "run.h5", "--series", "joints/joint1/coordinates,joints/joint1/rates",
                   "--output", "run.csv")
        with open(os.path.join(self.folder, "run.csv")) as file:
            _, angle, rate = (float(word) for word in file.read().splitlines()[-1].split(","))
        inertia = (1 + 0.01) / 12 + 0.25
        self.assertGreater(angle, 0.4)
        self.assertAlmostEqual(rate, math.sqrt(GRAVITY * math.sin(angle) / inertia), delta=1e-9)  # measured 1.8e-11

    # ---- loops ----

    def test_a_ladder_starts_as_its_formula_says(self):
        n, speed, section = 4, 1.5, 0.02
        model = self.generate("ladder", "--count", str(n), "--speed", str(speed), "--section", str(section))
        self.assertEqual(len(model["bodies"]), 2 * n + 1)
        self.assertEqual(len(model["joints"]), 3 * n + 1)
        self.assertEqual(set(self.ends_meet(model)), {1.0})
        found = self.structure()
        crank = (1 + section ** 2) / 12 + 0.25  # kg m^2 about the foot
        self.assertAlmostEqual(found["kinetic"], 0.5 * speed ** 2 * ((n + 1) * crank + n), delta=1e-7)
        self.assertAlmostEqual(found["potential"], GRAVITY * ((n + 1) * 0.5 + n), delta=1e-6)
        self.assertEqual(found["loops"], n)
        self.assertEqual(found["freedom"], 1)
        self.assertEqual(found["redundant"], 3 * n)  # 6 (2 n + 1) - 5 (3 n + 1) = 1 - 3 n
        self.assertIn("fulfil the constraints", found["text"])

    def test_a_net_has_three_freedoms_for_each_free_knot(self):
        # each knot has three, each bar takes one by its length and adds one by its spin
        for columns, rows in ((1, 1), (2, 3)):
            model = self.generate("net", "--count", str(columns), "--rows", str(rows), "--angle", "20")
            self.assertEqual(len(model["bodies"]), rows * (2 * columns + 1))
            for length in self.ends_meet(model):
                self.assertAlmostEqual(length, math.sqrt(1.04), delta=1e-14)  # measured 2.2e-16
            found = self.structure()
            self.assertEqual(found["loops"], rows * columns)
            self.assertEqual(found["freedom"], 3 * rows * (columns + 1))
            self.assertEqual(found["redundant"], 0)

    def test_a_ladder_moves_as_one_pendulum_through_its_singular_place(self):
        n, section, end = 3, 0.001, 1.0
        self.generate("ladder", "--count", str(n))
        # the same by Runge-Kutta for the one angle from the upright, in steps of 0.1 ms
        inertia = (n + 1) * (1 / 3 + section ** 2 / 12) + n
        load = GRAVITY * ((n + 1) / 2 + n)

        def slope(y):
            return [y[1], load * math.sin(y[0]) / inertia]

        y, h = [0.0, 1.0], 1e-4
        for _ in range(round(end / h)):
            k1 = slope(y)
            k2 = slope([a + 0.5 * h * k for a, k in zip(y, k1)])
            k3 = slope([a + 0.5 * h * k for a, k in zip(y, k2)])
            k4 = slope([a + h * k for a, k in zip(y, k3)])
            y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]
        self.assertGreater(y[0], math.pi / 2 + 0.5)  # beyond the level place
        for step, bound in ((0.002, 5e-5), (0.001, 1.2e-5)):  # rad; measured 2.5e-5, 6.2e-6: order two
            self.check(0, "run", "model.yaml", "--step", str(step), "--end", str(end), "--output", "run.h5", "--quiet")
            feet = ",".join(f"joints/foot{k}/coordinates" for k in range(n + 1))
            self.check(0, "export", "run.h5", "--series", feet, "--output", "run.csv")
            with open(os.path.join(self.folder, "run.csv")) as file:
                angles = [-float(word) for word in file.read().splitlines()[-1].split(",")[1:]]
            self.assertEqual(len(angles), n + 1)
            for angle in angles:
                self.assertAlmostEqual(angle, y[0], delta=bound)

    # ---- the command ----

    def test_a_hub_of_a_thousand_starts_at_once(self):
        self.generate("hub", "--count", "40")
        found = self.structure()
        self.assertEqual([found["freedom"], found["loops"], found["redundant"]], [1, 39, 4 * 40 - 5])
        self.assertAlmostEqual(found["kinetic"], 0.5 * (40 * (1 / 3 + 1e-6 / 12) + 1), delta=1e-4)
        # all tips meet at one body: a dense front over them took minutes (measured 0.4 s)
        self.generate("hub", "--count", "1000")
        before = os.times()
        found = self.structure()
        after = os.times()
        self.assertEqual([found["freedom"], found["redundant"]], [1, 3995])
        self.assertLess(after.children_user - before.children_user, 8.0)

    def test_without_output_the_model_goes_to_the_screen(self):
        self.generate("net", "--count", "2")
        with open(os.path.join(self.folder, "model.yaml")) as file:
            self.assertEqual(self.check(0, "generate", "net", "--count", "2").stdout, file.read())

    def test_every_kind_keeps_its_ledger(self):
        for words in (["chain", "--count", "20"], ["tree", "--count", "20", "--joint", "mixed"],
                      ["ladder", "--count", "3"], ["net", "--count", "2"]):
            self.generate(*words)
            self.check(0, "run", "model.yaml", "--end", "0.05", "--no-output", "--quiet", "--require",
                       "energy=1e-9,joints=1e-10")

    def test_a_large_file_loads(self):
        self.check(0, "generate", "chain", "--count", "20000", "--joint", "mixed", "--output", "model.yaml")
        self.assertEqual(self.structure()["freedom"], 10000 * (1 + 3))

    def test_mistakes_are_answered(self):
        for words, answer in ((["chian", "--count", "3"], "did you mean 'chain'"),
                              (["chain"], "needs --count"),
                              (["chain", "--count", "0"], "--count"),
                              (["chain", "--count", "3", "--joint", "spherica"], "did you mean 'spherical'"),
                              (["chain", "--count", "3", "--speed", "1"], "--speed is for a ladder or hub only"),
                              (["chain", "--count", "3", "--rows", "1"], "--rows is for a net only"),
                              (["ladder", "--count", "3", "--joint", "spherical"], "joints of a ladder are revolute"),
                              (["net", "--count", "3", "--joint", "revolute"], "joints of a net are spherical"),
                              (["ladder", "--count", "3", "--angle", "3"], "--angle is for"),
                              (["tree", "--count", "3", "--angle", "nan"], "--angle"),
                              (["tree", "--count", "3", "--section", "0"], "--section"),
                              (["net", "--count", "3000000000", "--rows", "3000000000"], "at most")):
            done = self.check(2, "generate", *words)
            self.assertIn(answer, done.stderr)
            self.assertEqual(done.stdout, "")
        done = self.check(5, "generate", "chain", "--count", "3", "--output", "no-such-folder/chain.yaml")
        self.assertIn("no-such-folder/chain.yaml", done.stderr)

    def test_help_has_the_kinds(self):
        out = self.check(0, "generate", "--help").stdout
        for word in ("chain", "tree", "ladder", "net", "--count", "Example"):
            self.assertIn(word, out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
