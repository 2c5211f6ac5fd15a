# SPDX-License-Identifier: MIT
"""The C library: contexts, failures as exceptions, small conversions."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._native import ffi as ffi
from ._native import lib as lib

Number = Union[float, str]
"""A number, or an expression as in model files: "pi/3", "30 deg", "2*length"."""
Vector = Union[Sequence[Number], npt.NDArray[Any]]
Direction = Union[str, Vector]
"""A vector, or "x", "y", "z", "d1", "d2", "d3", with a minus sign if it is turned round."""
Array = npt.NDArray[np.float64]


_KINDS = {"c": "complex numbers", "b": "truth values", "U": "texts", "S": "texts"}


class HolonomError(Exception):
    """A call of the library failed. The text is the library's message, `status` the name of its code, "HN_INVALID_MODEL";
    where a file is at fault, `file`, `line` and `column` (from 1) say where."""

    status = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        place = re.match(r"(.+?):(\d+):(\d+): ", message)
        if place:
            self.file, self.line, self.column = place.group(1), int(place.group(2)), int(place.group(3))


class InvalidArgument(HolonomError, ValueError):
    """HN_INVALID_ARGUMENT: an argument is outside its documented range."""


class InvalidModel(HolonomError, ValueError):
    """HN_INVALID_MODEL: the model is inconsistent."""


class FileFormat(HolonomError, ValueError):
    """HN_FILE_FORMAT: the file does not follow the format; the text begins with ``file:line:column``."""


class FileAccess(HolonomError, OSError):
    """HN_FILE_ACCESS: the file cannot be read or written."""


class NotConverged(HolonomError, ArithmeticError):
    """HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM or HN_NOT_FINITE: a step has no solution that counts."""


class Cancelled(HolonomError):
    """HN_CANCELLED: the run was cancelled."""


class Busy(HolonomError, RuntimeError):
    """Another thread is at work with the simulation."""


class Closed(HolonomError):
    """The simulation or result has been closed."""


_CLASSES: dict[str, type[Exception]] = {
    "HN_OUT_OF_MEMORY": MemoryError,
    "HN_INVALID_ARGUMENT": InvalidArgument,
    "HN_INVALID_MODEL": InvalidModel,
    "HN_FILE_FORMAT": FileFormat,
    "HN_FILE_ACCESS": FileAccess,
    "HN_NOT_CONVERGED": NotConverged,
    "HN_SINGULAR_SYSTEM": NotConverged,
    "HN_NOT_FINITE": NotConverged,
    "HN_CANCELLED": Cancelled,
}


def text(pointer: Any) -> str:
    """A string of the library."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def raw(value: str) -> bytes:
    """A string for the library, which ends at its first zero character: there must be none."""
    if "\0" in value:
        raise InvalidArgument(f"{value!r} has a zero character")
    return value.encode("utf-8")


def warn(line: str) -> None:
    """A warning; its place is the call of the package's user."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "holonom":
        frame, level = frame.f_back, level + 1
    warnings.warn(line, RuntimeWarning, stacklevel=level)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def holonom_log(line: Any, user: Any) -> None:
    warn(text(line))


class Context:
    """Messages and memory of one thread's work."""

    def __init__(self) -> None:
        pointer = lib.hn_context_create(ffi.NULL)
        if pointer == ffi.NULL:
            raise MemoryError("no memory for a context")
        self.pointer = ffi.gc(pointer, lib.hn_context_destroy)
        lib.hn_context_set_log(self.pointer, lib.holonom_log, ffi.NULL)

    def check(self, status: int) -> None:
        """Raise what a status stands for, with the library's message."""
        if status == lib.HN_OK:
            return
        name = text(lib.hn_status_name(status))
        message = text(lib.hn_context_message(self.pointer)) or text(lib.hn_status_sentence(status))
        error = _CLASSES.get(name, HolonomError)(message)
        if isinstance(error, HolonomError):
            error.status = name
        raise error


def version() -> str:
    """Version of the library at run time."""
    return text(lib.hn_version())


def reals(value: Any, what: str) -> Array:
    """Real numbers of any shape, and nothing that only converts to some: complex numbers, truth values, texts."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise InvalidArgument(f"{what}: rows of different lengths; expected numbers") from None
    if found.dtype.kind == "O":
        real = all(isinstance(x, Real) and not isinstance(x, bool) for x in found.ravel())
    else:
        real = found.dtype.kind in "iuf"
    if not real:
        raise InvalidArgument(f"{what}: {_KINDS.get(found.dtype.kind, 'no numbers')}; expected real numbers")
    return np.ascontiguousarray(found, dtype=np.float64).reshape(found.shape)


def row(value: Any, what: str) -> Array:
    """Real numbers, one after the other."""
    found = reals(value, what)
    if found.ndim != 1:
        raise InvalidArgument(f"{what}: an array of shape {found.shape}; expected numbers one after the other")
    return found


def numbers(value: Any, count: int, what: str) -> list[float]:
    """`count` numbers as a list."""
    found: list[float] = row(value, what).tolist()
    if len(found) != count:
        raise InvalidArgument(f"{what}: {len(found)} numbers; expected {count}")
    return found


def from_vector(value: Any) -> Array:
    return np.array([value.x, value.y, value.z])


def from_matrix(value: Any) -> Array:
    return np.array([[value.m[i][j] for j in range(3)] for i in range(3)])


def plain(value: Any) -> Any:
    """A struct of the library as a dictionary: vectors and matrices as arrays, texts and numbers as Python's own."""
    kind = ffi.typeof(value) if isinstance(value, ffi.CData) else None
    if kind is None:
        return value
    if kind.kind == "struct":
        name = kind.cname.removeprefix("struct ")
        if name in ("hn_vec3", "hn_mat3"):
            return from_vector(value) if name == "hn_vec3" else from_matrix(value)
        return {name: plain(getattr(value, name)) for name, _ in kind.fields or []}
    if kind.kind == "array":
        return text(value) if kind.item.cname == "char" else [plain(x) for x in value]
    return text(value) if kind.cname in ("char *", "char const *") else value
