#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where should the upper hinge of a double wishbone be, so that the wheel leans and steers least over a bump?

usage: wishbone_optimum.py [PICTURE.png]      needs the Python package of Holonom, xarray, scipy; matplotlib for the picture

A grid shows the ground, scipy's Nelder-Mead walks to the lowest place. A place that cannot be built, or a run that fails, counts
as bad, not as an error.
"""

import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.optimize import minimize

import holonom as hn

FOLDER = pathlib.Path(__file__).resolve().parent
OUTPUTS = {"lean": {"of": "bodies/upright/orientation/yz", "keep": ["minimum", "maximum"]},
           "steer": {"of": "bodies/upright/orientation/yx", "keep": ["minimum", "maximum"]}}
STEER_COUNTS = 2.0  # a wheel that steers by itself is worse than one that leans
RUN = {"ledger": False}


def cost(table):
    """Degrees by which the wheel leans and steers, put together; what failed is far off."""
    degrees = [np.degrees(table[f"{name}.maximum"].values - table[f"{name}.minimum"].values) for name in ("lean", "steer")]
    return np.where(table["failed"].values, 90.0, np.hypot(degrees[0], STEER_COUNTS * degrees[1]))


def main():
    model = hn.Model.load(FOLDER / "wishbone.yaml")
    y, z = np.meshgrid(np.linspace(0.30, 0.44, 8), np.linspace(0.44, 0.56, 9))
    with ThreadPoolExecutor() as pool:
        ground = cost(hn.study(model, {"hinge_y": y, "hinge_z": z}, pool, outputs=OUTPUTS, run=RUN))
    best = int(np.argmin(ground))
    walked = []

    def lean(place):
        found = hn.study(model, {"hinge_y": place[0], "hinge_z": place[1]}, outputs=OUTPUTS, run=RUN)
        walked.append((*place, cost(found)[0]))
        return walked[-1][2]
    start = (0.36, 0.50)  # as the car has it
    before = lean(start)
    found = minimize(lean, [y.flat[best], z.flat[best]], method="Nelder-Mead", bounds=[(0.30, 0.44), (0.44, 0.56)],
                     options={"initial_simplex": np.array([[0, 0], [0.01, 0], [0, 0.01]]) + [y.flat[best], z.flat[best]],
                              "xatol": 1e-4, "fatol": 1e-3, "maxfev": 60})
    print(f"hinge at ({start[0]:.3f}, {start[1]:.3f}) m: {before:.3f} degrees")
    print(f"best of the grid ({y.flat[best]:.3f}, {z.flat[best]:.3f}) m: {ground[best]:.3f} degrees")
    print(f"optimum ({found.x[0]:.4f}, {found.x[1]:.4f}) m: {found.fun:.3f} degrees, after {found.nfev} runs")
    if len(sys.argv) > 1:
        draw(sys.argv[1], y, z, ground, walked, start, found.x)
    return found.fun, before


def draw(path, y, z, ground, walked, start, optimum):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    figure, axes = plot.subplots(figsize=(6.4, 4.4), constrained_layout=True)
    shown = axes.contourf(y, z, np.minimum(ground, np.percentile(ground, 95)).reshape(y.shape), 16, cmap="viridis_r")
    figure.colorbar(shown, label="lean and steer over a bump, degrees")
    way = np.array(walked[1:])
    axes.plot(way[:, 0], way[:, 1], "w.-", linewidth=0.8, markersize=4)
    axes.plot(*start, "o", color="tab:red", label="as it is")
    axes.plot(*optimum, "*", color="tab:orange", markersize=13, label="optimum")
    axes.set(xlabel="upper hinge, y in m", ylabel="upper hinge, z in m")
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
