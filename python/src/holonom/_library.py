# SPDX-License-Identifier: MIT
"""The C library: contexts, failures as exceptions, small conversions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import ffi as ffi
from ._native import lib as lib

Vector = Sequence[float] | npt.NDArray[Any]
Direction = str | Vector
Array = npt.NDArray[np.float64]


class HolonomError(Exception):
    """A call of the library failed. `status` is its name, "HN_INVALID_MODEL"; the text is the library's message."""

    status = ""


class InvalidArgument(HolonomError, ValueError):
    """HN_INVALID_ARGUMENT: an argument is outside its documented range."""


class InvalidModel(HolonomError, ValueError):
    """HN_INVALID_MODEL: the model is inconsistent."""


class FileFormat(HolonomError, ValueError):
    """HN_FILE_FORMAT: the file does not follow the format; the text begins with file:line:column."""


class FileAccess(HolonomError, OSError):
    """HN_FILE_ACCESS: the file cannot be read or written."""


class NotConverged(HolonomError, ArithmeticError):
    """HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM or HN_NOT_FINITE: a step has no solution that counts."""


class Cancelled(HolonomError):
    """HN_CANCELLED: the run was cancelled."""


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
    """A string for the library."""
    return value.encode("utf-8")


@ffi.def_extern()  # type: ignore[untyped-decorator]
def holonom_log(line: Any, user: Any) -> None:
    warnings.warn(text(line), RuntimeWarning, stacklevel=3)


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


_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def numbers(value: Vector, count: int, what: str) -> list[float]:
    """`count` numbers as a list."""
    found = [float(x) for x in np.asarray(value, dtype=float).ravel()]
    if len(found) != count:
        raise InvalidArgument(f"{what}: {len(found)} numbers; expected {count}")
    return found


def vector(value: Vector, what: str = "vector") -> Any:
    """An hn_vec3."""
    x, y, z = numbers(value, 3, what)
    return ffi.new("hn_vec3 *", {"x": x, "y": y, "z": z})[0]


def direction(value: Direction, what: str = "axis") -> Any:
    """An hn_vec3 from a vector, or from "x", "y", "z", with a minus sign if it is turned round."""
    if isinstance(value, str):
        if value.lstrip("-") not in _AXES or value.count("-") > 1:
            raise InvalidArgument(f"{what}: '{value}'; expected x, y or z, or a vector")
        sign = -1.0 if value.startswith("-") else 1.0
        return vector([sign * c for c in _AXES[value.lstrip("-")]], what)
    return vector(value, what)


def matrix(value: Any, what: str = "matrix") -> Any:
    """An hn_mat3 by rows."""
    m = numbers(value, 9, what)
    return ffi.new("hn_mat3 *", {"m": [m[0:3], m[3:6], m[6:9]]})[0]


def from_vector(value: Any) -> Array:
    return np.array([value.x, value.y, value.z])
