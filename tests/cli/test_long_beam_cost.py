# SPDX-License-Identifier: MIT
"""A step of a beam costs the same for each of its elements, few or many, counted in instructions.

Cantilevers of several sizes are let go; the same few steps are counted of each, with the ledger.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = str(pathlib.Path(sys.argv[1]).resolve())
FEW, MANY = 2, 6  # steps: what a run costs once drops out of the difference

MODEL = """\
holonom: 1
gravity: [0, 0, -9.81]
beams:
  rod:
    from: [0, 0, 0]
    to: [{length}, 0, 0]
    elements: {elements}
    order: {order}
    section: {{circle: {{radius: 0.04}}}}
    material: {{young: 1e6, poisson: 0.3, density: 1200}}
    clamped: start
run: {{scheme: energy-momentum, step: 0.001, end: 1}}
"""


def instructions(model, steps):
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", TOOL, "run",
                           str(model), "--steps", str(steps), "--no-output", "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def of_an_element(order, elements):
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "beam.yaml"
        model.write_text(MODEL.format(length=0.1 * elements, elements=elements, order=order))
        return (instructions(model, MANY) - instructions(model, FEW)) / (elements * (MANY - FEW))


def main():
    for order, few, many in ((1, 20, 500), (2, 20, 100)):
        small, large = of_an_element(order, few), of_an_element(order, many)
        print(f"order {order}: {small:.0f} instructions for an element and step of {few}, {large:.0f} of {many}")
        # measured 0.2 % and 0.4 %
        assert abs(large / small - 1.0) < 0.05, "the cost of an element depends on how many there are"


main()
