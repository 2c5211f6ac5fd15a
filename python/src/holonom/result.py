# SPDX-License-Identifier: MIT
"""Results: runs written to HDF5 files, read back as arrays, tables, plots and pages."""

from __future__ import annotations

import contextlib
import html
import importlib
import importlib.resources
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time as clock
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._library import Array, Cancelled, Closed, Context, FileAccess, InvalidArgument, ffi, lib, raw, text, warn
from .ledger import Ledger
from .model import Model
from .simulation import Simulation

_BATCH = 0.05  # s between looks at Ctrl-C and the progress bar
_OWNERS = {"bodies": "body", "joints": "joint", "drives": "drive", "couplings": "coupling", "beams": "element",
           "outputs": "output"}
_GRID = 1e-6  # of a step: how near the end must be to the grid, as in the tool
_HDF5 = threading.RLock()  # HDF5 is not made for threads


def _close_file(pointer: Any) -> None:
    """Called when the last user of a file is gone, in whatever thread: others may be at work on theirs."""
    with _HDF5:
        lib.hn_result_file_close(pointer)


def _destroy_results(pointer: Any) -> None:
    with _HDF5:
        lib.hn_results_destroy(pointer)


class Result:
    """A result file: series as arrays by name, result["bodies/position"]."""

    def __init__(self, path: str | os.PathLike[str], *, temporary: bool = False) -> None:
        self.path = pathlib.Path(path)
        self._context = Context()
        out = ffi.new("hn_result_file **")
        with _HDF5:
            self._context.check(lib.hn_result_file_open(self._context.pointer, raw(os.fspath(path)), out))
        self._handle: Any = ffi.gc(out[0], _close_file)
        self._info = lib.hn_result_file_info(self._handle)
        self._temporary = temporary
        if temporary:
            weakref.finalize(self, shutil.rmtree, self.path.parent, True)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Result:
        """Open a result file, finished or a `.part`."""
        return cls(path)

    @property
    def _pointer(self) -> Any:
        if self._handle is None:
            raise Closed("the result has been closed")
        return self._handle

    def close(self) -> None:
        """Close the file."""
        self._handle = None

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of records."""
        self._pointer
        return int(self._info.record_count)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<result, closed>"
        whole = "" if self._info.complete else ", incomplete"
        return f"<result of {text(self._info.model_name)!r}, {self.scheme}, {len(self)} records{whole}>"

    def _repr_html_(self) -> str:
        if self._handle is None:
            return "result, closed"
        ledger = self.ledger._repr_html_() if self._info.has_ledger else ""
        return f"<b>{html.escape(text(self._info.model_name))}</b>, {self.scheme}, {len(self)} records{ledger}"

    # ---- about the run ----

    @property
    def complete(self) -> bool:
        self._pointer
        return bool(self._info.complete)

    @property
    def scheme(self) -> str:
        self._pointer
        return text(self._info.scheme)

    @property
    def step_size(self) -> float:
        """s"""
        self._pointer
        return float(self._info.step_size)

    @property
    def bodies(self) -> list[str]:
        return [text(lib.hn_result_file_body(self._pointer, i).name) for i in range(self._info.body_count)]

    @property
    def joints(self) -> list[str]:
        return [text(lib.hn_result_file_joint(self._pointer, i).name) for i in range(self._info.joint_count)]

    @property
    def model(self) -> Model:
        """The model, from its text in the file."""
        self._pointer
        if self._info.model_text == ffi.NULL:
            raise InvalidArgument("the model was built by calls: the file has no text of it")
        source = bytes(ffi.buffer(self._info.model_text, self._info.model_text_length))
        return Model.parse(source.decode("utf-8"), str(self.path))

    @property
    def ledger(self) -> Ledger:
        """What is promised and what was measured; prints as the tool prints it."""
        bodies = self.bodies
        if not self._info.has_ledger:
            raise InvalidArgument("the run was made without a ledger")
        return Ledger(self._info.ledger, bodies)

    # ---- numbers ----

    @property
    def series(self) -> dict[str, str]:
        """Names of all series, with units."""
        found = (lib.hn_result_file_series(self._pointer, i)
                 for i in range(lib.hn_result_file_series_count(self._pointer)))
        return {text(s.name): text(s.unit) for s in found}

    def __getitem__(self, name: str) -> Array:
        """A series, [records, ...], or the one column that a word selects, "joints/hinge/angle"."""
        index = lib.hn_result_file_find_series(self._pointer, raw(name))
        if index < 0:
            columns = self._select(name)
            return self._column(columns[0]) if len(columns) == 1 else np.stack([self._column(c) for c in columns], 1)
        about = lib.hn_result_file_series(self._pointer, index)
        values = np.empty((len(self), *(about.dims[k] for k in range(about.rank))))
        if values.size > 0:
            with _HDF5:
                self._context.check(lib.hn_result_file_read(
                    self._pointer, index, 0, len(self), 1, ffi.from_buffer("double[]", values, require_writable=True)))
        return values

    @property
    def time(self) -> Array:
        """s"""
        return self["time"]

    def _select(self, word: str) -> list[Any]:
        count = ffi.new("size_t *")
        with _HDF5:
            self._context.check(lib.hn_result_file_select(self._pointer, raw(word), ffi.NULL, 0, count))
            columns = ffi.new("hn_result_column[]", count[0])
            self._context.check(lib.hn_result_file_select(self._pointer, raw(word), columns, count[0], count))
        # copies: what an array hands out is gone with the array
        return [ffi.new("hn_result_column *", columns[i]) for i in range(count[0])]

    def _column(self, column: Any) -> Array:
        values = np.empty(len(self))
        if values.size > 0:
            with _HDF5:
                self._context.check(lib.hn_result_file_read_column(
                    self._pointer, column[0], 0, len(self), 1, ffi.from_buffer("double[]", values, require_writable=True)))
        return values

    def columns(self, *words: str) -> dict[str, Array]:
        """Columns that words select, as `holonom export --series` takes them, by their full names."""
        found = {}
        for word in words:
            for column in self._select(word):
                found[text(lib.hn_result_file_column_name(self._pointer, column[0]))] = self._column(column)
        return found

    def _all_columns(self) -> dict[str, Array]:
        """All columns but time; by their places, since a word may be the name of a body and of a series."""
        found = {}
        for index in range(lib.hn_result_file_series_count(self._pointer)):
            about = lib.hn_result_file_series(self._pointer, index)
            for k in range(0 if text(about.name) == "time" else about.width):
                column = ffi.new("hn_result_column *", {"series": index, "component": k})
                found[text(lib.hn_result_file_column_name(self._pointer, column[0]))] = self._column(column)
        return found

    def unit(self, word: str) -> str:
        """Unit of the first column that a word selects."""
        return text(lib.hn_result_file_column_unit(self._pointer, self._select(word)[0][0]))

    # ---- other tools ----

    def to_pandas(self, *words: str) -> Any:
        """A pandas.DataFrame of the columns that words select (default: all), indexed by time."""
        import pandas

        chosen = self.columns(*words) if words else self._all_columns()
        return pandas.DataFrame(chosen, index=pandas.Index(self.time, name="time"))

    def _labels(self, index: int, about: Any) -> list[str]:
        """Whose the entries of a series are along its first dimension: "link", "hinge/angle"."""
        labels = []
        for k in range(about.dims[0]):
            column = ffi.new("hn_result_column *", {"series": index, "component": k * (about.width // about.dims[0])})
            words = text(lib.hn_result_file_column_name(self._pointer, column[0])).split("/")
            if words[0] == "outputs":
                labels.append("/".join(words[1:]))
                continue
            labels.append("/".join([words[1], *words[3:]]) if about.rank == 1 and len(words) > 3 else words[1])
        return labels

    def to_xarray(self) -> Any:
        """An xarray.Dataset: dimensions time, body, joint, joint_coordinate, drive, ... with names, xyz; units as
        attributes."""
        import xarray

        variables: dict[str, Any] = {}
        coords: dict[str, Any] = {"time": ("time", self.time, {"unit": "s"}), "xyz": list("xyz")}
        for name, unit in self.series.items():
            if name == "time":
                continue
            index = lib.hn_result_file_find_series(self._pointer, raw(name))
            about = lib.hn_result_file_series(self._pointer, index)
            values = self[name]
            group, short = name.split("/") if "/" in name else ("", name)
            dims = ["time"]
            for k, size in enumerate(values.shape[1:]):
                if k == 0 and group in _OWNERS and size > 0:
                    labels = self._labels(index, about)
                    owner = _OWNERS[group] + ("_coordinate" if group == "joints" and any("/" in one for one in labels) else "")
                    coords[owner] = labels
                    dims.append(owner)
                elif size == 3:
                    dims.append("xyz" if "xyz" not in dims else "column")
                else:
                    dims.append(f"{short}_{k}")
            variables[name.replace("/", "_")] = xarray.Variable(dims, values, {"unit": unit, "series": name})
        return xarray.Dataset(variables, coords)

    def plot(self, *words: str, ax: Any = None) -> Any:
        """Plot columns over time with matplotlib, one picture for each unit; returns the axes."""
        import matplotlib.pyplot as plt

        groups: dict[str, dict[str, Array]] = {}
        for word in words or ("energy",):
            for column in self._select(word):
                name = text(lib.hn_result_file_column_name(self._pointer, column[0]))
                unit = text(lib.hn_result_file_column_unit(self._pointer, column[0]))
                groups.setdefault(unit, {})[name] = self._column(column)
        axes: list[Any] = [ax] * len(groups)
        if ax is None:
            axes = list(plt.subplots(len(groups), 1, sharex=True, squeeze=False)[1][:, 0])
        for one, (unit, columns) in zip(axes, groups.items()):
            for name, values in columns.items():
                one.plot(self.time, values, label=name)
            one.set_ylabel(unit)
            one.legend()
        axes[-1].set_xlabel("time, s")
        return axes[0] if len(axes) == 1 else axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Copy the file."""
        self._pointer
        shutil.copyfile(self.path, path)

    def page(self, path: str | os.PathLike[str] | None = None) -> pathlib.Path:
        """Write the page of `holonom view`: one file that opens from disk. Returns its place, by default beside the result."""
        self._pointer
        target = pathlib.Path(path) if path is not None else self.path.with_suffix(".html")
        done = run_tool("view", str(self.path), "-o", str(target))
        if done.returncode != 0:
            raise FileAccess(done.stderr.strip())
        return target

    def view(self) -> Any:
        """Show the page of `holonom view`: in a notebook, or in a browser. The page of a temporary result goes to a
        temporary file that stays, so that the browser has time to read it."""
        if "ipykernel" in sys.modules:
            display: Any = importlib.import_module("IPython.display")
            with tempfile.TemporaryDirectory(prefix="holonom-") as folder:
                page = self.page(pathlib.Path(folder) / "page.html")
                source = page.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
            frame = f'<iframe srcdoc="{source}" width="100%" height="600" style="border:0"></iframe>'
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "consider using IFrame": that one needs a file and a server
                return display.HTML(frame)
        import webbrowser

        page = self.page(pathlib.Path(tempfile.mkdtemp(prefix="holonom-view-")) / "result.html" if self._temporary else None)
        webbrowser.open(page.resolve().as_uri())
        return page


def run_tool(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line tool that comes with the package."""
    tool = importlib.resources.files("holonom") / "tool" / "bin" / "holonom"
    return subprocess.run([str(tool), *words], capture_output=True, text=True, check=False)


@contextlib.contextmanager
def _progress_bar(progress: bool | None, total: float) -> Iterator[Callable[[float], None]]:
    """tqdm where it is installed and somebody watches."""
    shown = sys.stderr.isatty() or "ipykernel" in sys.modules if progress is None else progress
    bar: Any = None
    if shown:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        if tqdm is not None:
            bar = tqdm(total=round(total, 9), unit="s", bar_format="{l_bar}{bar}| {n:.3g}/{total:.3g} s [{elapsed}<{remaining}]")
    last = 0.0

    def update(now: float) -> None:
        nonlocal last
        if bar is not None:
            bar.update(now - last)
        last = now

    try:
        yield update
    finally:
        if bar is not None:
            bar.close()


def _warn_of_promises(sim: Simulation) -> None:
    """Those that are not kept."""
    try:
        ledger = sim.ledger
    except InvalidArgument:  # made without one
        return
    for entry in ledger.entries.values():
        if not entry.kept:
            warn(f"{entry.name.replace('_', ' ')} NOT KEPT: {entry.error:.2e} is above {entry.bound:.2e}")


def run(model: Model, end: float | None = None, step: float | None = None, scheme: str | None = None,
        reduction: str | None = None, *, output: str | os.PathLike[str] | None = None, every: int = 1,
        progress: bool | None = None, **options: Any) -> Result:
    """Simulate a model until `end` (s) and return the result, which is written to `output` or to a temporary file.

    Ctrl-C stops and keeps what is there. What `holonom run` warns of is a RuntimeWarning, and so is a promise that is not
    kept. every: steps between records. Further settings by name, see settings()."""
    if every < 1:
        raise InvalidArgument(f"every: {every}; expected a positive number of steps")
    until = end if end is not None else model.run_options["end"]
    if until is None:
        raise InvalidArgument("end: the model does not say; give a time in seconds")
    if not (0.0 < until < float("inf")):
        raise InvalidArgument(f"end: {until}; expected a positive number of seconds")
    options.setdefault("inputs", False)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holonom-")) if output is None else None
    path = folder / "result.h5" if folder is not None else pathlib.Path(os.fspath(output or ""))
    try:
        with Simulation(model, step, scheme, reduction, **options) as sim:
            count = max(1, math.floor(until / sim.step_size + 0.5))
            if abs(until / sim.step_size - count) > _GRID:
                warnings.warn(f"the end {until:.9g} s is no multiple of the step {sim.step_size:.9g} s; the run ends at "
                              f"{count * sim.step_size:.9g} s", RuntimeWarning, stacklevel=2)
            _record(sim, path, count, every, progress)
            sim._warn()
            _warn_of_promises(sim)
        return Result(path, temporary=folder is not None)
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, True)
        raise


def _record(sim: Simulation, path: pathlib.Path, count: int, every: int, progress: bool | None) -> None:
    """Take `count` steps with records into a result file."""
    check, handle = sim._context.check, sim._pointer
    def_ = ffi.new("hn_results_def *", lib.hn_results_def_default())
    def_.every, def_.step_count = every, count
    out = ffi.new("hn_results **")
    with _HDF5:
        check(lib.hn_results_create_for(sim._known._pointer, handle, raw(str(path)), def_, out))
    results = ffi.gc(out[0], _destroy_results)
    try:
        with _progress_bar(progress, count * sim.step_size) as update:
            with _HDF5:
                check(lib.hn_results_append(results))
            done, looked = 0, clock.monotonic()
            while done < count:
                batch = min(every, count - done)
                sim.step(batch)
                done += batch
                with _HDF5:
                    check(lib.hn_results_append(results))
                if clock.monotonic() - looked > _BATCH:
                    looked = clock.monotonic()
                    update(sim.time)
            update(sim.time)
    except (KeyboardInterrupt, Cancelled):
        warnings.warn(f"stopped at t = {sim.time:.6g} s: the result ends there", RuntimeWarning, stacklevel=3)
    with _HDF5:
        check(lib.hn_results_finish(results))
