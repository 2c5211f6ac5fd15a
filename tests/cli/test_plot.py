# SPDX-License-Identifier: MIT
"""Figures of the tool: files of the right kind, curves through the right points, mistakes with a message.

usage: test_plot.py TOOL SOURCE_FOLDER
"""

import csv
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."
SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = """\
holonom: 1
name: "<script>alert(1)</script>"
bodies:
  "<b>&\\"'": {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}
run: {scheme: energy-momentum, step: 0.01, end: 0.1}
"""


def points(path):
    """Coordinates of an SVG path."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d"))]


class PlotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="holonom-plot-")
        for scheme in "energy-momentum", "variational":
            subprocess.run([TOOL, "run", f"{SOURCE}/models/six-body-linkage.yaml", "--quiet", "--scheme", scheme,
                            "--step", "0.01", "--end", "0.5", "--output", f"{scheme}.h5"], cwd=cls.folder, check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *words):
        return subprocess.run([TOOL, *words], capture_output=True, text=True, cwd=self.folder)

    def plot(self, *words):
        result = self.tool("plot", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def table(self, result, series):
        self.assertEqual(self.tool("export", result, "--series", series, "--output", "table.csv").returncode, 0)
        with open(self.path("table.csv")) as file:
            rows = list(csv.reader(file))
        return [[float(word) for word in row] for row in rows[1:]]

    def curves(self, name):
        """The frame of an SVG figure and the points of its curves; all texts."""
        root = xml.etree.ElementTree.parse(self.path(name)).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        frame = root.find(SVG + "svg")
        box = [float(frame.get(key)) for key in ("x", "y", "width", "height")]
        return box, [points(path) for path in frame.iter(SVG + "path")], [t.text for t in root.iter(SVG + "text")]

    def expect_points(self, box, curve, data, x_range, y_range):
        self.assertEqual(len(curve), len(data))
        for (x, y), (u, v) in zip(curve, data):
            self.assertAlmostEqual(x, box[0] + (u - x_range[0]) / (x_range[1] - x_range[0]) * box[2], delta=0.011)
            self.assertAlmostEqual(
                y, box[1] + box[3] - (v - y_range[0]) / (y_range[1] - y_range[0]) * box[3], delta=0.011)  # pt

    def test_curves_go_through_the_records(self):
        out = self.plot("energy-momentum.h5", "kinetic", "potential", "-o", "a.svg", "--x-range", "0,0.5", "--y-range",
                        "-0.5,1.5", "--title", "Energies")
        self.assertEqual(out, "  wrote a.svg\n")
        box, curves, texts = self.curves("a.svg")
        data = self.table("energy-momentum.h5", "kinetic,potential")
        self.assertEqual(len(curves), 2)
        self.expect_points(box, curves[0], [(row[0], row[1]) for row in data], (0, 0.5), (-0.5, 1.5))
        self.expect_points(box, curves[1], [(row[0], row[2]) for row in data], (0, 0.5), (-0.5, 1.5))
        for text in "Energies", "time [s]", "energy [J]", "kinetic", "potential", "−0.5", "1.5":
            self.assertIn(text, texts)

    def test_results_over_each_other_with_change_since_the_start(self):
        self.plot("energy-momentum.h5", "variational.h5", "energy", "--from-start", "--absolute", "--log", "y",
                  "--y-range", "1e-20,1", "--x-range", "0,0.5", "--output", "b.svg")
        box, curves, texts = self.curves("b.svg")
        self.assertEqual(len(curves), 2)
        import math
        rows = self.table("variational.h5", "energy")
        data = [(row[0], math.log10(abs(row[1] - rows[0][1]))) for row in rows if row[1] != rows[0][1]]
        self.expect_points(box, curves[1], data, (0, 0.5), (-20, 0))
        for text in "energy-momentum", "variational", "|change of energy| [J]", "10⁰", "10⁻²⁰":
            self.assertIn(text, texts)

    def test_one_series_over_another_with_markers(self):
        self.plot("energy-momentum.h5", "joints/r2/coordinates", "--x", "joints/r1/coordinates", "-o", "c.svg",
                  "--x-range", "-4,1", "--y-range", "-1,4", "--points")
        box, curves, texts = self.curves("c.svg")
        data = self.table("energy-momentum.h5", "joints/r1/coordinates,joints/r2/coordinates")
        self.expect_points(box, curves[0], [(row[1], row[2]) for row in data], (-4, 1), (-1, 4))
        root = xml.etree.ElementTree.parse(self.path("c.svg")).getroot()
        self.assertEqual(len(list(root.iter(SVG + "circle"))), len(data))
        self.assertIn("r1, angle [rad]", texts)
        self.assertIn("r2, angle [rad]", texts)

    def test_labels_from_the_command_line(self):
        self.plot("energy-momentum.h5", "angular_momentum", "-o", "d.svg", "--labels", "L1,L2,L3", "--x-label", "t",
                  "--y-label", "L < M & N")
        _, curves, texts = self.curves("d.svg")
        self.assertEqual(len(curves), 3)
        for text in "L1", "L2", "L3", "t", "L < M & N":
            self.assertIn(text, texts)

    def test_curves_differ_without_colour(self):
        self.plot("energy-momentum.h5", "bodies/body3/position", "bodies/body4/position", "-o", "e.svg")
        root = xml.etree.ElementTree.parse(self.path("e.svg")).getroot()
        dashes = [path.get("stroke-dasharray") for path in root.find(SVG + "svg").iter(SVG + "path")]
        self.assertEqual(len(dashes), 6)
        self.assertEqual(len(set(dashes)), 6)

    def test_png_has_the_size_asked_for_and_is_not_empty(self):
        self.plot("energy-momentum.h5", "energy", "-o", "f.png", "--size", "127x50.8", "--resolution", "100")
        with open(self.path("f.png"), "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
        self.assertEqual((width, height), (500, 200))
        packed, place = b"", 8
        while place < len(data):
            length, name = struct.unpack(">I4s", data[place:place + 8])
            if name == b"IDAT":
                packed += data[place + 8:place + 8 + length]
            place += 12 + length
        self.assertEqual(name, b"IEND")
        dark = sum(1 for byte in zlib.decompress(packed) if byte < 64)
        self.assertGreater(dark, 1000)

    def test_pdf_is_one_page_of_the_size_asked_for(self):
        self.plot("energy-momentum.h5", "energy", "-o", "g.pdf", "--size", "127x50.8")
        with open(self.path("g.pdf"), "rb") as file:
            data = file.read()
        self.assertTrue(data.startswith(b"%PDF-1."))
        self.assertTrue(data.rstrip().endswith(b"%%EOF"))
        text = data + b"".join(
            zlib.decompressobj().decompress(part) for part in re.findall(rb"stream\r?\n(x.*?)endstream", data, re.S))
        self.assertEqual(len(re.findall(rb"/Type /Page\b(?!s)", text)), 1)
        self.assertRegex(text, rb"/MediaBox \[ 0 0 360 144 \]")

    def test_a_long_run_makes_a_small_figure_with_its_extremes(self):
        subprocess.run([TOOL, "run", f"{SOURCE}/models/pendulum.yaml", "--quiet", "--step", "0.001", "--end", "60",
                        "--output", "long.h5"], cwd=self.folder, check=True)
        self.plot("long.h5", "kinetic", "-o", "h.svg", "--y-range", "0,10")
        self.assertLess(os.path.getsize(self.path("h.svg")), 60000)  # bytes; measured 37000
        box, curves, _ = self.curves("h.svg")
        top = max(row[1] for row in self.table("long.h5", "kinetic"))
        self.assertAlmostEqual(min(y for _, y in curves[0]), box[1] + box[3] * (1 - top / 10), delta=0.011)

    def test_hostile_names_are_text(self):
        with open(self.path("hostile.yaml"), "w") as file:
            file.write(HOSTILE)
        self.assertEqual(self.tool("run", "hostile.yaml", "--quiet").returncode, 0)
        self.plot("hostile.h5", "bodies/<b>&\"'/position/x", "bodies/<b>&\"'/velocity/x", "-o", "i.svg")
        _, _, texts = self.curves("i.svg")
        self.assertTrue(any("<b>&\"'" in text for text in texts))

    def refused(self, code, words, *expected):
        result = self.tool("plot", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        for text in expected:
            self.assertIn(text, result.stderr)

    def test_mistakes_have_a_message(self):
        h5 = "energy-momentum.h5"
        self.refused(5, [h5, "enrgy", "-o", "x.svg"], "did you mean 'energy'")
        self.refused(5, [h5, "bodies/bdy3/position", "-o", "x.svg"], "'bodies/body3/position'")
        self.refused(5, ["missing.h5", "energy", "-o", "x.svg"], "missing.h5", "no such file")
        self.refused(5, [h5, "energy", "-o", "no/such/folder/x.svg"], "no/such/folder/x.svg")
        self.refused(5, [h5, "energy", "-o", "no/such/folder/x.png"], "no/such/folder/x.png")
        self.refused(5, [h5, "energy", "-o", "no/such/folder/x.pdf"], "no/such/folder/x.pdf")
        self.refused(2, [h5, "energy", "-o", "x.gif"], ".svg, .png or .pdf")
        self.refused(2, [h5], "SERIES")
        self.refused(2, [], "RESULT")
        self.refused(2, [h5, "bodies"], "more than 24 curves")
        self.refused(2, [h5, "energy", "--x", "bodies/position"], "one is needed")
        self.refused(2, [h5, "energy", "--log", "z"], "--log")
        self.refused(2, [h5, "energy", "--size", "120"], "--size")
        self.refused(2, [h5, "energy", "--size", "1x1"], "mm")
        self.refused(2, [h5, "energy", "--y-range", "2,1"], "--y-range")
        self.refused(2, [h5, "energy", "--log", "y", "--y-range", "0,1"], "positive")
        self.refused(2, [h5, "energy", "--titel", "x"], "--title")
        self.assertFalse(os.path.exists(self.path("x.svg")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
