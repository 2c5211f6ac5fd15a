#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scenes as others read them: VTK's own reader gives the motion of the result file, Khronos' validator finds no fault."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import environment

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
environment.enter(TOOL, "vtk", "numpy", "h5py")

import h5py  # noqa: E402
import numpy  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkIOHDF import vtkHDFReader  # noqa: E402

VALIDATE = """
const fs = require('fs'), validator = require('gltf-validator');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1]))).then(
    report => console.log(JSON.stringify(report)), fault => { console.error(String(fault)); process.exit(1); });
"""
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"FAILED: {text}")


def run(*words):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")


def read_vtk(path):
    """Points, velocities and cells' bodies at every time, by VTK."""
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for step in range(reader.GetNumberOfSteps()):
        reader.SetStep(step)
        reader.Update()
        data = reader.GetOutput()
        cells = [[data.GetCell(i).GetPointId(k) for k in range(data.GetCell(i).GetNumberOfPoints())]
                 for i in range(data.GetNumberOfCells())] if step == 0 else None
        yield (vtk_to_numpy(data.GetPoints().GetData()).astype(float), vtk_to_numpy(data.GetPointData().GetArray("velocity")),
               vtk_to_numpy(data.GetCellData().GetArray("body")), cells)


def compare_vtk(model):
    """Points of a body move as the body does: x = position + orientation X with X as at the first time."""
    worst, seen = 0.0, 0
    with h5py.File(f"{model}.h5") as file:
        place = file["bodies/position"][:]
        frame = file["bodies/orientation"][:].reshape(*place.shape[:2], 3, 3)
        steps = list(read_vtk(f"{model}.vtkhdf"))
        check(len(steps) == len(file["time"]), f"{model}: {len(steps)} of {len(file['time'])} times")
        bodies, cells = steps[0][2], steps[0][3]
        for body in range(place.shape[1]):
            points = sorted({p for cell, owner in zip(cells, bodies) if owner == body and len(cell) == 3 for p in cell})
            if not points:
                continue
            own = (steps[0][0][points] - place[0, body]) @ frame[0, body]  # rows of X
            for k, (all_points, _, _, _) in enumerate(steps):
                expected = place[k, body] + own @ frame[k, body].T
                worst = max(worst, abs(all_points[points] - expected).max())
                seen += len(points)
    size = abs(place).max() + 1.0
    check(seen > 0 and worst < 1e-14 * size, f"{model}: points are {worst:.3g} m from the bodies' motion")  # measured 2.2e-16
    print(f"{model}: VTK read {len(steps)} times, {seen} points, worst {worst:.2g} m")


def validate(model, npm):
    done = subprocess.run(["node", "-e", VALIDATE, f"{model}.glb"], capture_output=True, text=True, check=False,
                          env={**os.environ, "NODE_PATH": str(npm)})
    check(done.returncode == 0, f"{model}: {done.stderr}")
    report = json.loads(done.stdout or "{}")
    issues = report.get("issues", {})
    check(issues.get("numErrors") == 0 and issues.get("numWarnings") == 0, f"{model}: {json.dumps(issues)[:2000]}")
    check(report.get("info", {}).get("animationCount") == 1, f"{model}: no animation")
    print(f"{model}: {report.get('info', {}).get('drawCallCount')} meshes drawn, {issues.get('numInfos')} remarks")


npm = pathlib.Path(sys.prefix) / "npm" / "node_modules"
for model, steps in (("six-body-linkage", 100), ("robot-arm", 100), ("double-wishbone", 100), ("three-bar-swing", 20)):
    run("run", ROOT / "models" / f"{model}.yaml", "--steps", steps, "--output", f"{model}.h5", "--quiet")
    run("export", f"{model}.h5", "--vtk", "--output", f"{model}.vtkhdf")
    compare_vtk(model)
    run("export", f"{model}.h5", "--gltf", "--output", f"{model}.glb")
    if (npm / "gltf-validator").exists() and shutil.which("node"):
        validate(model, npm)
    else:
        print(f"{model}: not validated: there is no {npm / 'gltf-validator'}")
sys.exit(1 if failures else 0)
