# SPDX-License-Identifier: MIT
"""The papers' rows: a report with figures and verdicts, an exit code, and mistakes answered with line and column.

usage: test_reproduce.py TOOL SOURCE_FOLDER
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."

ROWS = """\
holonom_rows: 1
paper: DEMO
title: "A <demonstration>"
authors: N. N.
source: nowhere
runs:
  swing:
    model: pendulum
    scheme: variational
    step: 0.01
    end: 2
    series: {E: ledger/energy, y: bodies/bob/position/y}
  finer:
    model: pendulum
    step: [0.04, 0.02, 0.01, 0.005]
    end: 2
    series: {x: bodies/bob/position/x}
    measures: {place: last(x)}
definitions: {lowest: "-1"}
entries:
  - name: Fig. 1
    title: Height of the bob
    panels:
      - along: swing.t
        x: {label: "t [s]", range: [0, 2]}
        y: {label: "height [m]"}
        lines: [{y: swing.y, label: bob}]
    rows:
      - says: the bob passes its lowest point
        paper: -1
        ours: min(swing.y)
        unit: m
        within: 0.001
"""


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-reproduce-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.makedirs(self.path("papers/demo"))
        os.symlink(os.path.join(SOURCE, "models"), self.path("models"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *words):
        return subprocess.run([TOOL, "reproduce", *words], capture_output=True, text=True, cwd=self.folder)

    def rows(self, text=ROWS, more=""):
        with open(self.path("papers/demo/rows.yaml"), "w") as file:
            file.write(text + more)

    def verdicts(self):
        with open(self.path("reproduction/rows.csv")) as file:
            return {row["says"]: (row["verdict"], row["here"]) for row in csv.DictReader(file)}

    def row(self, says, ours, criterion, paper="1"):
        return f"      - says: {says}\n        paper: {paper}\n        ours: {ours}\n        {criterion}\n"

    def test_pages_figures_table_and_exit_code(self):
        self.rows()
        result = self.tool()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertIn("5 simulations", result.stdout)
        page = pathlib.Path(self.path("reproduction/demo.html")).read_text()
        self.assertIn("A &lt;demonstration&gt;", page)
        self.assertNotIn("<demonstration>", page)
        self.assertNotRegex(page, r"(src|href)=\"(?!index\.html)")
        figures = re.findall(r"<figure>\n(<svg.*?</svg>)\n</figure>", page, re.S)
        self.assertEqual(len(figures), 1)
        drawn = xml.etree.ElementTree.fromstring(figures[0])
        texts = [t.text for t in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("height [m]", texts)
        index = pathlib.Path(self.path("reproduction/index.html")).read_text()
        self.assertIn('href="demo.html"', index)
        self.assertEqual(self.verdicts()["the bob passes its lowest point"][0], "confirmed")
        self.assertFalse(os.path.exists(self.path("reproduction/data")))

    def test_every_criterion_has_both_verdicts(self):
        cases = [("within: 0.1", "0.95", "1.2"), ("within: 10 %", "1.05", "0.8"), ("factor: 2", "1.9", "2.1"),
                 ("below: 1", "0.5", "1.5"), ("above: 1", "1.5", "0.5"), ("between: [1, 2]", "1.5", "2.5")]
        more = ""
        for i, (criterion, good, bad) in enumerate(cases):
            more += self.row(f"good{i}", good, criterion) + self.row(f"bad{i}", bad, criterion)
        more += self.row("text", "2", "compared: other machines", "words") + "      - {says: later, open: needs beams}\n"
        more += self.row("nothing", "log10(0 - 1)", "below: 1")
        self.rows(more=more)
        result = self.tool("--processes", "1", "-o", "reproduction")
        self.assertEqual(result.returncode, 4, result.stderr)
        found = self.verdicts()
        for i in range(len(cases)):
            self.assertEqual(found[f"good{i}"][0], "confirmed", cases[i])
            self.assertEqual(found[f"bad{i}"][0], "not confirmed", cases[i])
        self.assertEqual(found["text"][0], "compared")
        self.assertEqual(found["later"][0], "open")
        self.assertEqual(found["nothing"][0], "not confirmed")
        self.assertIn("open: DEMO, Fig. 1: later (needs beams)", result.stdout)
        self.assertIn("not confirmed: bad0", result.stderr)

    def test_formulas(self):
        cases = {
            "2 + 3 * 4 ^ 2 / 8 - 1": 7, "-(2 - 5) * 2": 6, "lowest + 1": 0, "finer.step[1]": 0.02,
            "order(finer.step, 3 * finer.step ^ 2)": 2, "slope(swing.t, 2 * swing.t + 1)": 2,
            "count(swing.t)": 201, "last(swing.t)": 2, "at(swing.t, swing.t ^ 2, 0.5)": 0.25,
            "crossing(swing.t, swing.t - 1, 0)": 1, "count(difference(swing.t))": 200,
            "largest(deviation(swing.t))": 2, "max(norm(3 * swing.t, 4 * swing.t))": 10,
            "count(during(swing.t, swing.t, 0.5, 1))": 51, "count(every(swing.t, 10))": 21,
            "turning(swing.t, (swing.t - 0.7) ^ 2)": 0.7, "turns(sin(2 * pi * swing.t))": 4,
            "trend(swing.t)": 1.81, "range(cos(pi * swing.t))": 2, "(1 < 2) + (1 > 2)": 1,
            "(2 <= 2) + 2*(2 >= 3) + 4*(1 + 1 == 2) + 8*(2 != 2)": 5,
            "swing.steps": 200, "finer.unknowns[0]": 1, "count(finer.place)": 4, "mean(abs(lowest + swing.t * 0))": 1,
            "sqrt(log10(10000))": 2, "min(asin(sin(swing.t * 0)))": 0, "first(swing.y)": 0,
        }
        self.rows(more="".join(self.row(f"case{i}", f'"{text}"', "compared: test")
                               for i, text in enumerate(cases)))
        result = self.tool()
        self.assertEqual(result.returncode, 0, result.stderr)
        found = self.verdicts()
        for i, (text, value) in enumerate(cases.items()):
            self.assertAlmostEqual(float(found[f"case{i}"][1]), value, delta=2e-4 * max(1, abs(value)), msg=text)

    def test_a_failing_run_fails_its_rows_and_may_be_a_result(self):
        text = ROWS.replace("definitions:", """\
  wild: {model: gyro-top, scheme: variational, step: 0.05, end: 1, series: {E: ledger/energy}}
  known: {model: gyro-top, scheme: variational, step: 0.05, end: 1, may_fail: true}
definitions:""")
        self.rows(text, self.row("fails", "last(wild.E)", "below: 1e9") + self.row("found", "known.failed", "within: 0"))
        result = self.tool()
        self.assertEqual(result.returncode, 4)
        self.assertIn("run 'wild'", result.stderr)
        self.assertEqual(self.verdicts()["found"][0], "confirmed")
        self.assertEqual(self.verdicts()["fails"][0], "not confirmed")

    def refused(self, text, *expected, code=5):
        self.rows(text)
        result = self.tool()
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for part in expected:
            self.assertIn(part, result.stderr)
        self.assertFalse(os.path.exists(self.path("reproduction")))

    def test_mistakes_have_line_and_column(self):
        def line_of(part):
            return ROWS[:ROWS.index(part)].count("\n") + 1

        for old, new, message in [
                ("scheme: variational", "scheme: variatonal", "did you mean 'variational'"),
                ("    step: 0.01", "    stp: 0.01", "did you mean 'step'"),
                ("within: 0.001", "wthin: 0.001", "did you mean 'within'"),
                ("within: 0.001", "within: near", "'within' should be a number"),
                ("min(swing.y)", "min(swing.z)", "the run 'swing' has no series or measure 'z'"),
                ("min(swing.y)", "min(swin.y)", "there is no run 'swin'"),
                ("min(swing.y)", "mn(swing.y)", "did you mean 'min'"),
                ("min(swing.y)", "min(swing.y", "expected )"),
                ("last(x)", "last(q)", "unknown name 'q' in this run"),
                ("y: swing.y,", "y: swing.w,", "no series or measure 'w'"),
                ("    end: 2\n    series: {E", "    end: -2\n    series: {E", "the end is positive"),
                ("range: [0, 2]", "range: [2, 0]", "the range is empty"),
                ("[0.04, 0.02, 0.01, 0.005]", "[]", "steps"),
                ("paper: -1", "paper: many", "needs a number"),
                ("holonom_rows: 1", "holonom_rows: 2", "format 2 is not known"),
                ("  finer:", "  3finer:", "begins with no digit"),
                ("model: pendulum\n    scheme", "model: ../pendulum\n    scheme", "without folder and ending")]:
            self.assertIn(old, ROWS)
            self.refused(ROWS.replace(old, new, 1), message, f"rows.yaml:{line_of(old) + old[:4].count(chr(10))}"
                         if "end: 2" not in old and "[0.04" not in old and "model:" not in old else "rows.yaml:")
        self.refused(ROWS[:ROWS.index("    rows:")], "needs rows")
        self.refused(ROWS.replace("        within: 0.001\n", ""), "needs a criterion")
        self.refused(ROWS + "        below: 3\n", "one criterion")
        self.refused("", "rows.yaml:1:1")
        self.refused("a: [\n", "not YAML")
        self.refused(ROWS.replace("runs:", "\truns:"), "rows.yaml:")

    def test_unknown_papers_and_series(self):
        self.rows()
        self.assertEqual(self.tool("NOBODY").returncode, 2)
        self.assertEqual(self.tool("missing.yaml").returncode, 5)
        self.rows(ROWS.replace("ledger/energy", "ledger/enrgy"), self.row("E", "last(swing.E)", "below: 1"))
        result = self.tool("demo")
        self.assertEqual(result.returncode, 4)
        self.assertIn("did you mean 'ledger/energy'", result.stderr)

    def test_a_short_paper(self):
        """The whole of one paper; the others take longer: `holonom reproduce` makes them all."""
        result = self.tool("--papers", f"{SOURCE}/papers", "kbs")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertGreaterEqual(len(self.verdicts()), 20)

    def test_all_files_of_rows_can_be_read(self):
        names = sorted(path.parent.name for path in pathlib.Path(SOURCE, "papers").glob("*/rows.yaml"))
        self.assertGreater(len(names), 0)
        for name in names:  # a bad word after them is found when they have all been read
            result = self.tool("--papers", f"{SOURCE}/papers", name, "no-such-paper")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertNotIn("rows.yaml:", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
