# SPDX-License-Identifier: MIT
"""The same study through threads, processes, MPI, Dask, loky and shards: equal tables."""

from __future__ import annotations

import concurrent.futures
import concurrent.futures.process
import importlib
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
from typing import Any

import holonom as hn
import numpy as np
import pytest

xarray = pytest.importorskip("xarray")

MODEL = """holonom: 1
parameters: {length: 1, mass: 1}
bodies:
  upper: {shape: {box: {size: [0.1, 0.1, length]}}, mass: mass, position: [0, 0, -length/2]}
  lower: {shape: {box: {size: [0.1, 0.1, 1]}}, mass: 1, position: [0, 0, -length - 0.5]}
joints:
  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}
  elbow: {revolute: {bodies: [upper, lower], at: [0, 0, -length], axis: x}}
start: {shoulder: {rate: 2}}
run: {step: 0.01, end: 0.3}
"""
STUDY = """holonom_study: 1
model: arm.yaml
parameters:
  length: {normal: {mean: 1, deviation: 0.1}}
  mass: {uniform: [0.5, 2]}
samples: {count: 24, method: sobol, seed: 5}
outputs:
  tip: {of: bodies/lower/position/x, keep: [minimum, maximum]}
  angle: {of: joints/shoulder/angle}
"""
TABLE = """
import pickle, sys
import holonom as hn
{imports}
if __name__ == "__main__":
    {body}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "arm.yaml").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def assert_equal(one: Any, other: Any) -> None:
    """Bit for bit."""
    assert list(one.data_vars) == list(other.data_vars)
    for name in one.data_vars:
        a, b = one[name].values, other[name].values
        assert (a.tobytes() == b.tobytes()) if a.dtype == float else (list(a) == list(b)), name


def shards(folder: pathlib.Path) -> Any:
    """The study by the tool, in three shards that are merged."""
    names = [str(folder / f"{k}.h5") for k in (1, 2, 3)]
    merged = str(folder / "merged.h5")
    for k, name in enumerate(names, 1):
        done = hn.run_tool("study", str(folder / "study.yaml"), "--shard", f"{k}/3", "-o", name, "--quiet")
        assert done.returncode == 0, done.stderr
    done = hn.run_tool("study", "merge", *names, "-o", merged, "--quiet")
    assert done.returncode == 0, done.stderr
    return hn.read_study(merged)


def by_script(folder: pathlib.Path, imports: str, body: str, *command: str) -> Any:
    """The study in a process of its own, whose table is brought back."""
    (folder / "script.py").write_text(TABLE.format(imports=imports, body=body.replace("\n", "\n    ")))
    done = subprocess.run([*command, sys.executable, *(("-m", "mpi4py.futures") if command else ()), "script.py"], cwd=folder,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(folder / "table.pickle", "rb") as file:
        return pickle.load(file)


def test_threads_processes_and_shards_give_one_table(folder: pathlib.Path) -> None:
    here = hn.study(folder / "study.yaml")
    assert here.sizes["member"] == 24 and not here["failed"].any()
    assert here["angle"].attrs["unit"] == "rad"
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert_equal(hn.study(folder / "study.yaml", executor=pool), here)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert_equal(hn.study(folder / "study.yaml", executor=pool), here)
    assert_equal(shards(folder), here)


def need(module: str) -> Any:
    """An engine; where it is not installed the test is left out, unless CI asks for all (scripts/test-study-engines)."""
    if os.environ.get("HOLONOM_ALL_ENGINES") == "1":
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"SKIPPED LOUDLY: {module} is not installed")


def test_mpi_gives_the_same_table(folder: pathlib.Path) -> None:
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None and os.environ.get("HOLONOM_ALL_ENGINES") != "1":
        pytest.skip("SKIPPED LOUDLY: mpiexec is not installed")
    assert mpiexec is not None, "mpiexec is not installed"
    need("mpi4py")
    body = """with MPIPoolExecutor() as pool:
    table = hn.study("study.yaml", executor=pool)
pickle.dump(table, open("table.pickle", "wb"))"""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    table = by_script(folder, "from mpi4py.futures import MPIPoolExecutor", body, mpiexec, "-n", "3", "--oversubscribe", *root)
    assert_equal(table, shards(folder))


def test_dask_gives_the_same_table(folder: pathlib.Path) -> None:
    need("distributed")
    body = """with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
    table = hn.study("study.yaml", executor=client.get_executor())
pickle.dump(table, open("table.pickle", "wb"))"""
    assert_equal(by_script(folder, "from distributed import Client, LocalCluster", body), shards(folder))


def test_loky_gives_the_same_table(folder: pathlib.Path) -> None:
    loky = need("joblib.externals.loky")
    table = hn.study(folder / "study.yaml", executor=loky.get_reusable_executor(max_workers=2))
    assert_equal(table, hn.study(folder / "study.yaml"))
    loky.get_reusable_executor().shutdown()


def test_samples_may_be_columns_rows_or_tables() -> None:
    model = hn.Model.parse(MODEL)
    outputs = {"tip": {"of": "bodies/lower/position/x", "keep": "maximum"}, "energy": "energy"}
    columns = hn.study(model, {"length": [0.9, 1.0, 1.1], "mass": 2.0}, outputs=outputs)
    rows = hn.study(model, [{"length": x, "mass": 2.0} for x in (0.9, 1.0, 1.1)], outputs=outputs)
    assert_equal(columns, rows)
    pandas = pytest.importorskip("pandas")
    assert_equal(hn.study(model, pandas.DataFrame({"length": [0.9, 1.0, 1.1], "mass": 2.0}), outputs=outputs), columns)
    assert columns["length"].values.tolist() == [0.9, 1.0, 1.1]
    single = hn.study(model, {"length": [1.1], "mass": [2.0]}, outputs=outputs)
    assert single["tip"].values[0] == columns["tip"].values[2]


def test_a_number_is_of_all_members_and_a_list_is_a_list() -> None:
    model = hn.Model.parse(MODEL)
    outputs = {"x": "bodies/lower/position/x"}
    data = hn.study(model, {"length": [0.9, 1.1], "mass": 2.0}, outputs=outputs)
    assert list(data["mass"].to_numpy()) == [2.0, 2.0]
    with pytest.raises(hn.FileFormat, match="entries"):  # as in study files
        hn.study(model, {"length": [0.9, 1.1], "mass": [2.0]}, outputs=outputs)


def test_a_member_that_fails_is_told_and_the_others_are_there() -> None:
    model = hn.Model.parse(MODEL)
    table = hn.study(model, {"length": [1.0, -1.0, 1.1]}, outputs={"energy": "energy"})
    assert table["failed"].values.tolist() == [False, True, False]
    assert "size" in str(table["message"].values[1])
    assert np.isnan(table["energy"].values).tolist() == [False, True, False]
    low = hn.study(model, {"length": [1.0, 1.1]}, outputs={"lowest": {"of": "bodies/upper/position/z", "keep": "minimum"}},
                   failure={"lowest": {"below": -0.52}})
    assert low["failed"].values.tolist() == [False, True]


class Flaky(concurrent.futures.Executor):
    """Loses the first piece it is given, as a pool does whose worker is killed."""

    def __init__(self, losses: int) -> None:
        self.losses = losses

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.losses -= 1
        if self.losses >= 0:
            future.set_exception(concurrent.futures.process.BrokenProcessPool("a worker is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_lost_worker_is_survived(folder: pathlib.Path) -> None:
    here = hn.study(folder / "study.yaml")
    assert_equal(hn.study(folder / "study.yaml", executor=Flaky(1)), here)
    gone = hn.study(folder / "study.yaml", executor=Flaky(10**6))
    assert gone["failed"].all() and "worker was lost" in str(gone["message"].values[0])


def test_an_optimiser_finds_the_place_of_a_hinge() -> None:
    need("scipy.optimize")
    script = pathlib.Path(__file__).resolve().parents[2] / "examples" / "studies" / "wishbone_optimum.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    degrees = [float(line.split(" degrees")[0].rsplit(" ", 1)[1]) for line in done.stdout.splitlines()]
    assert degrees[0] > 1.9 and degrees[1] < 1.2 and degrees[2] <= degrees[1]  # measured 1.963, 1.168, 1.167


def test_mistakes_are_exceptions(folder: pathlib.Path) -> None:
    model = hn.Model.parse(MODEL)
    with pytest.raises(hn.FileFormat, match="did you mean 'length'"):
        hn.study(model, {"lenght": [1.0]}, outputs={"e": "energy"})
    with pytest.raises(hn.InvalidArgument, match="no values"):
        hn.study(model, {"length": []}, outputs={"e": "energy"})
    with pytest.raises(hn.InvalidArgument, match="samples and outputs"):
        hn.study(model, {"length": [1.0]})
    with pytest.raises(hn.FileAccess):
        hn.read_study(folder / "none.h5")
    plan = pickle.loads(pickle.dumps(hn.Plan.load(folder / "study.yaml")))
    assert len(plan) == 24 and plan.parameters == ["length", "mass"]


SWING = """holonom: 1
parameters: {length: 1, mass: 1}
bodies: {bob: {point_mass: {mass: mass, plane_normal: y}, position: [length, 0, 0]}}
joints: {rod: {distance: {bodies: [ground, bob], from: [0, 0, 0], to: [length, 0, 0]}}}
run: {step: 0.01, end: 0.1}
"""


def test_nothing_that_is_asked_for_is_ignored() -> None:
    model, outputs = hn.Model.parse(SWING), {"x": "bodies/bob/position/x"}
    with pytest.raises(hn.InvalidArgument, match="sample 1 has length, mass; the first has length"):
        hn.study(model, [{"length": 1}, {"length": 2, "mass": 7}], outputs=outputs)  # the mass was left out
    plan = hn.plan(model, {"length": [1, 2]}, outputs)
    asked: list[dict[str, Any]] = [{"run": {"step": 0.05}}, {"outputs": outputs}, {"samples": {"length": [3]}}, {"failure": {}}]
    for more in asked:
        with pytest.raises(hn.InvalidArgument, match=f"{next(iter(more))}: a study file or a plan says that itself"):
            hn.study(plan, **more)


def test_columns_have_names_of_their_own() -> None:
    outputs = {"failed": "bodies/bob/position/x", "message": "bodies/bob/position/z", "member": "time", "length": "energy"}
    found = hn.study(hn.Model.parse(SWING), {"length": [1.0, 2.0]}, outputs=outputs)
    assert not found["failed"].values.any()  # it had taken the place of the output
    assert found["failed (output)"].values[1] == pytest.approx(2.0, rel=1e-2)
    assert np.allclose(found["member (output)"], 0.1) and list(found["length"]) == [1, 2] and "length (output)" in found
