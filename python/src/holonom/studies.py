# SPDX-License-Identifier: MIT
"""Studies: one model run many times with other values of its parameters, by any executor of concurrent.futures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._library import Cancelled, Context, InvalidArgument, ffi, lib, raw, reals, text
from ._yaml import emit
from .model import Model

Row = tuple[int, "np.ndarray[Any, Any]", int, bool, str]
"""Member, outputs, status, failed, message."""

_PIECES_PER_WORKER = 8  # members are sent in so many pieces for each worker, so that none waits long at the end
_kept = threading.local()  # the study a thread works on: read once, run many times


class Plan:
    """A study that can be sent to other processes: its text and the text of its model.

    `Plan.load("study.yaml")` reads a study file; `study()` makes one from a model and samples."""

    def __init__(self, study: str, model: str | None, name: str = "study") -> None:
        self.study, self.model, self.name = study, model, name
        self._context = Context()
        pointer = ffi.new("hn_study **")
        source = study.encode("utf-8")
        body = ffi.NULL if model is None else model.encode("utf-8")
        self._context.check(lib.hn_study_parse(self._context.pointer, source, len(source), raw(name), body,
                                               0 if model is None else len(body), pointer))
        self._pointer = ffi.gc(pointer[0], lib.hn_study_destroy)
        if model is None:  # from here on it needs no files
            self.model = text(lib.hn_study_model_text(self._pointer, ffi.NULL))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a study file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read(), None, os.fspath(path))

    def __reduce__(self) -> Any:
        return Plan, (self.study, self.model, self.name)

    def __len__(self) -> int:
        return int(lib.hn_study_member_count(self._pointer))

    def __repr__(self) -> str:
        return f"<plan {text(lib.hn_study_name(self._pointer))!r}, {len(self)} members>"

    @property
    def parameters(self) -> list[str]:
        """Names of what is varied"""
        count = lib.hn_study_parameter_count(self._pointer)
        return [text(lib.hn_study_parameter_name(self._pointer, i)) for i in range(count)]

    @property
    def outputs(self) -> list[str]:
        """Names of what is kept"""
        count = lib.hn_study_output_count(self._pointer)
        return [text(lib.hn_study_output_name(self._pointer, i)) for i in range(count)]

    @property
    def units(self) -> list[str]:
        """Units of the outputs"""
        count = lib.hn_study_output_count(self._pointer)
        return [text(lib.hn_study_output_unit(self._pointer, i)) for i in range(count)]

    def values(self, member: int) -> np.ndarray[Any, Any]:
        """Values of a member's parameters"""
        found = np.empty(len(self.parameters))
        self._context.check(lib.hn_study_parameters(self._pointer, member, ffi.cast("double *", found.ctypes.data)))
        return found

    def run(self, member: int) -> Row:
        """Run one member; a member that fails says so in its row."""
        outputs = np.empty(lib.hn_study_output_count(self._pointer))
        outcome = ffi.new("hn_study_outcome *")
        self._context.check(lib.hn_study_run(self._context.pointer, self._pointer, member,
                                             ffi.cast("double *", outputs.ctypes.data), outcome))
        return member, outputs, int(outcome.status), bool(outcome.failed), text(outcome.message)


def _run_piece(study: str, model: str | None, name: str, members: Sequence[int]) -> list[Row]:
    """What an executor calls: a thread or process reads the study once."""
    key = (study, model, name)
    if getattr(_kept, "key", None) != key:
        _kept.plan, _kept.key = Plan(study, model, name), key
    return [_kept.plan.run(member) for member in members]


def _numbers(values: Any) -> list[float]:
    found: list[float] = reals(values, "samples of a parameter").ravel().tolist()  # grids as meshgrid makes them too
    if not found:
        raise InvalidArgument("a parameter has no values")
    return found


def _columns(samples: Any) -> dict[str, list[float]]:
    """A mapping of names to lists or numbers, which all members have, a table (pandas), or a list of mappings, as one list per
    parameter."""
    if hasattr(samples, "to_dict") and hasattr(samples, "columns"):
        return {str(name): _numbers(samples[name]) for name in samples.columns}
    single: set[str] = set()
    if isinstance(samples, Mapping):
        columns = {str(name): _numbers(values) for name, values in samples.items()}
        single = {str(name) for name, values in samples.items() if np.ndim(values) == 0}
    else:
        rows = [dict(row) for row in samples]
        if not rows:
            raise InvalidArgument("there are no samples")
        for place, row in enumerate(rows):
            if set(row) != set(rows[0]):
                raise InvalidArgument(f"sample {place} has {', '.join(map(str, row)) or 'nothing'}; the first has "
                                      f"{', '.join(map(str, rows[0]))}")
        columns = {str(name): _numbers([row[name] for row in rows]) for name in rows[0]}
    longest = max((len(values) for values in columns.values()), default=0)
    return {name: values * longest if name in single else values for name, values in columns.items()}


def plan(model: Model | str | os.PathLike[str], samples: Any, outputs: Mapping[str, Any], *,
         run: Mapping[str, Any] | None = None, failure: Mapping[str, Any] | None = None) -> Plan:
    """A plan from a model, one list of values per parameter (or a table, or a list of mappings), and the outputs of a study
    file: {"tip": {"of": "bodies/tip/position/z", "keep": "maximum"}}, or just "bodies/tip/position/z" for its end."""
    source = model if isinstance(model, Model) else Model.load(model)
    document: dict[str, Any] = {
        "holonom_study": 1,
        "parameters": {name: {"list": values} for name, values in _columns(samples).items()},
        "outputs": {name: {"of": entry} if isinstance(entry, str) else dict(entry) for name, entry in outputs.items()},
    }
    if run is not None:
        document["run"] = dict(run)
    if failure is not None:
        document["failure"] = {name: dict(entry) if isinstance(entry, Mapping) else entry for name, entry in failure.items()}
    return Plan(emit(document), source.to_yaml())


def _pieces(count: int, workers: int) -> Iterable[range]:
    size = max(1, -(-count // max(1, workers * _PIECES_PER_WORKER)))
    return (range(first, min(first + size, count)) for first in range(0, count, size))


def _lost(members: Sequence[int], width: int, error: BaseException) -> list[Row]:
    message = f"its worker was lost: {type(error).__name__}: {error}"
    return [(member, np.full(width, np.nan), int(lib.HN_CANCELLED), True, message) for member in members]


def rows(work: Plan, executor: Any = None) -> list[Row]:
    """Rows of all members, in their order. What an executor does not bring back, as its worker is gone, is tried once more
    here, member by member where the pool still takes work; otherwise the rows say so."""
    count = len(work)
    if executor is None:
        return [work.run(member) for member in range(count)]
    workers = int(getattr(executor, "_max_workers", 0) or os.cpu_count() or 1)
    arguments = (work.study, work.model, work.name)
    sent = [(piece, executor.submit(_run_piece, *arguments, list(piece))) for piece in _pieces(count, workers)]
    found: list[Row] = []
    for piece, future in sent:
        try:
            found += future.result()
        except (Cancelled, KeyboardInterrupt):
            raise
        except Exception as error:  # a worker that died, a pool that broke
            for member in piece:
                try:
                    found += executor.submit(_run_piece, *arguments, [member]).result()
                except Exception as again:
                    found += _lost([member], lib.hn_study_output_count(work._pointer), again or error)
    return sorted(found, key=lambda row: row[0])


def _dataset(values: np.ndarray[Any, Any], parameters: Sequence[str], numbers: np.ndarray[Any, Any], outputs: Sequence[str],
             units: Sequence[str], about: Mapping[str, np.ndarray[Any, Any]], members: np.ndarray[Any, Any],
             attributes: Mapping[str, str]) -> Any:
    """Rows as an xarray.Dataset. Names that two things have are told apart by what they are."""
    import xarray

    data: dict[str, Any] = {}
    taken = {"member", *about}

    def label(name: str, role: str) -> str:
        while name in taken:
            name = f"{name} ({role})"
        taken.add(name)
        return name

    for i, name in enumerate(parameters):
        data[label(name, "parameter")] = ("member", values[:, i], {"role": "parameter"})
    for i, (name, unit) in enumerate(zip(outputs, units)):
        data[label(name, "output")] = ("member", numbers[:, i], {"role": "output", "unit": unit})
    data.update({name: ("member", column) for name, column in about.items()})
    return xarray.Dataset(data, coords={"member": members}, attrs=dict(attributes))


def study(model: Model | Plan | str | os.PathLike[str], samples: Any = None, executor: Any = None, *,
          outputs: Mapping[str, Any] | None = None, run: Mapping[str, Any] | None = None,
          failure: Mapping[str, Any] | None = None) -> Any:
    """Run a model once for each sample and return an xarray.Dataset over `member`: a variable for each parameter and
    output, with units, and `failed`, `status` and `message`.

    `model` with `samples` and `outputs`, or a study file or Plan alone. `executor`: anything with the `submit` of
    concurrent.futures: threads, processes, mpi4py.futures.MPIPoolExecutor, the get_executor() of a Dask client, joblib's loky;
    None runs here. The numbers are the same whoever runs them.

    >>> hn.study("models/swing.yaml", {"length": [0.9, 1.0, 1.1]}, outputs={"x": "bodies/bob/position/x"})
    """
    import xarray

    if isinstance(model, Plan) or (samples is None and not isinstance(model, Model)):
        given = {"samples": samples, "outputs": outputs, "run": run, "failure": failure}
        ignored = [name for name, value in given.items() if value is not None]
        if ignored:
            raise InvalidArgument(f"{', '.join(ignored)}: a study file or a plan says that itself")
        work = model if isinstance(model, Plan) else Plan.load(model)
    elif samples is None or outputs is None:
        raise InvalidArgument("a study of a model needs samples and outputs")
    else:
        work = plan(model, samples, outputs, run=run, failure=failure)
    found = rows(work, executor)
    about = {"failed": np.array([row[3] for row in found]),
             "status": np.array([text(lib.hn_status_name(row[2])) for row in found]),
             "message": np.array([row[4] for row in found])}
    return _dataset(np.array([work.values(row[0]) for row in found]), work.parameters, np.array([row[1] for row in found]),
                    work.outputs, work.units, about, np.array([row[0] for row in found]),
                    {"study": work.study, "model": work.model or ""})


def read_study(path: str | os.PathLike[str]) -> Any:
    """A table that `holonom study` or `study merge` wrote, as study() returns it."""
    context = Context()
    pointer = ffi.new("hn_study_table **")
    context.check(lib.hn_study_table_read(context.pointer, raw(os.fspath(path)), pointer))
    table = ffi.gc(pointer[0], lib.hn_study_table_destroy)
    view = lib.hn_study_table_view(table)
    count = int(view.row_count)

    def block(source: Any, width: int) -> np.ndarray[Any, Any]:
        if count * width == 0:
            return np.zeros((count, width))
        return np.frombuffer(ffi.buffer(source, count * width * 8), dtype=float).reshape(count, width).copy()
    values, numbers = block(view.parameters, view.parameter_count), block(view.outputs, view.output_count)
    parameters = [text(lib.hn_study_table_parameter_name(table, i)) for i in range(view.parameter_count)]
    outputs = [text(lib.hn_study_table_output_name(table, i)) for i in range(view.output_count)]
    units = [text(lib.hn_study_table_output_unit(table, i)) for i in range(view.output_count)]
    about = {"failed": np.array([bool(view.failed[i]) for i in range(count)]),
             "status": np.array([text(lib.hn_status_name(view.statuses[i])) for i in range(count)]),
             "message": np.array([text(lib.hn_study_table_message(table, i)) for i in range(count)])}
    return _dataset(values, parameters, numbers, outputs, units, about, np.array([int(view.members[i]) for i in range(count)]),
                    {"study": text(view.text), "model": text(view.model_text)})
