#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results as MAT-files, read by SciPy: every number is that of the result file, bit for bit."""

import pathlib
import subprocess
import sys

import environment

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
environment.enter(TOOL, "scipy", "numpy", "h5py")

import h5py  # noqa: E402
import numpy  # noqa: E402
import scipy.io  # noqa: E402

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"FAILED: {text}")


def run(*words):
    return subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)


def compare(model, *words):
    for name in [f"{model}.h5", f"{model}.mat"]:
        pathlib.Path(name).unlink(missing_ok=True)
    done = run("run", ROOT / "models" / f"{model}.yaml", "--steps", 300, "--output", f"{model}.h5", "--quiet")
    check(done.returncode == 0, done.stderr)
    done = run("export", f"{model}.h5", "--mat", *words)
    check(done.returncode == 0, done.stdout + done.stderr)
    got = scipy.io.loadmat(f"{model}.mat", simplify_cells=True)
    seen = 0
    with h5py.File(f"{model}.h5") as file:
        records = len(file["time"])
        for group in [None, "bodies", "joints", "beams", "drives", "couplings", "ledger", "newton"]:
            source = file if group is None else file.get(group, {})
            values = got if group is None else got.get(group, {})
            for name, data in source.items():
                series = isinstance(data, h5py.Dataset) and "meaning" in data.attrs and data.shape[0] == records
                if not series or (words and name not in values):
                    continue
                check(name in values, f"{model}: {group}/{name} is not there")
                array = numpy.asarray(values.get(name, 0.0), dtype=float).reshape(data.shape)
                check(numpy.array_equal(array, data[...].astype(float)), f"{model}: {group}/{name} differs")
                seen += 1
        if not words:
            names = list(file["bodies/names"].asstr()[:])
            check(list(numpy.atleast_1d(got["bodies"]["names"])) == names, f"{model}: names of bodies")
            if "joints" in file and "coordinate_names" in got["joints"]:
                joints = file["joints/names"].asstr()[:]
                labels = [f"{joints[j]}/{label}" for j, label in zip(file["joints/coordinate_joint"][:],
                                                                    file["joints/coordinate_names"].asstr()[:])]
                check(list(numpy.atleast_1d(got["joints"]["coordinate_names"])) == labels, f"{model}: coordinates")
        name = file["model"].attrs["name"]
        check(got["model_name"] == (name.decode() if isinstance(name, bytes) else name), f"{model}: {got['model_name']}")
    print(f"{model}: {seen} series")
    return got


for model in ["robot-arm", "six-body-linkage", "flexible-slider-crank", "pendulum", "planetary-gear"]:
    compare(model)
chosen = compare("robot-arm", "--series", "energy,joints/a1")
check("bodies" not in chosen and set(chosen["ledger"]) == {"energy"}, f"chosen: {chosen.keys()}")
done = run("export", "robot-arm.h5", "--mat", "--series", "enrgy")
check(done.returncode == 5 and "energy" in done.stderr, done.stderr)
done = run("export", "robot-arm.h5", "--output", "/nowhere/x.mat")
check(done.returncode == 5 and "/nowhere/x.mat" in done.stderr, done.stderr)
done = run("export", "robot-arm.h5", "--mat", "--csv")
check(done.returncode == 2 and "--mat" in done.stderr, done.stderr)
sys.exit(1 if failures else 0)
