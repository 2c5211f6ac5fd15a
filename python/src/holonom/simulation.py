# SPDX-License-Identifier: MIT
"""Simulations: steps, views of the state as NumPy arrays, inputs between steps, snapshots."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from ._library import Array, Closed, Context, InvalidArgument, Vector, ffi, lib, raw, text
from .ledger import Ledger
from .model import Model


def schemes() -> list[str]:
    """Names of the integration schemes."""
    return [text(lib.hn_scheme_name(i)) for i in range(lib.HN_SCHEME_COUNT)]


def settings() -> list[str]:
    """Names of all settings of a simulation, as result files and `holonom run --set` have them."""
    return [text(lib.hn_simulation_option_name(i)) for i in range(lib.hn_simulation_option_count())]


def fields() -> dict[str, str]:
    """What can be viewed, with units: the names of result series."""
    found = (lib.hn_field_at(i) for i in range(lib.hn_field_count()))
    return {text(f.name): text(f.unit) for f in found}


class Snapshot:
    """A state to go back to; can be pickled. It fits simulations of the same model, scheme, settings and step."""

    def __init__(self, data: bytes, time: float) -> None:
        self.data, self.time = data, time

    def __repr__(self) -> str:
        return f"<snapshot at t = {self.time:g} s, {len(self.data)} bytes>"


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(float(value)) if isinstance(value, float) else str(value)


class Simulation:
    """One model under one scheme, advanced in steps. A context manager; views are refused after it is closed.

    >>> with hn.Simulation(model, step=1e-3) as sim:
    ...     q = sim.joint_coordinates              # a live view: it changes with every step
    ...     sim.step(100)
    """

    def __init__(self, model: Model, step: float | None = None, scheme: str | None = None, reduction: str | None = None, *,
                 inputs: bool | None = None, **options: Any) -> None:
        """step: s (default: the model's). inputs: efforts and wrenches can be set (default: where the scheme allows).
        Further settings by name, see settings()."""
        asked = model.run_options
        self._model, self._context = model, Context()
        def_ = ffi.new("hn_simulation_def *", lib.hn_simulation_def_default())
        scheme = scheme or asked["scheme"]
        size = step if step is not None else asked["step"]
        if size is None:
            raise InvalidArgument("step: the model does not say; give a step size in seconds")
        every = {"scheme": scheme, "reduction": reduction or asked["reduction"], "step_size": float(size),
                 "inputs": scheme != "projected-rk" if inputs is None else inputs, **options}
        for name, value in every.items():
            self._context.check(lib.hn_simulation_def_set(self._context.pointer, def_, raw(name), raw(_value(value))))
        out = ffi.new("hn_simulation **")
        self._context.check(lib.hn_simulation_create_in(self._context.pointer, model._pointer, def_, out))
        self._handle: Any = ffi.gc(out[0], lib.hn_simulation_destroy)
        self._arrays: dict[str, Array] = {}

    # ---- life ----

    @property
    def _pointer(self) -> Any:
        if self._handle is None:
            raise Closed("the simulation has been closed")
        return self._handle

    def close(self) -> None:
        """Give it back. Arrays that were taken from it keep their last content; no new ones are given out."""
        self._handle = None
        self._arrays = {}

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return "<simulation, closed>"
        return f"<simulation of {self._model.name!r}, {self.scheme}, t = {self.time:g} s>"

    # ---- stepping ----

    def step(self, count: int = 1) -> None:
        """Advance by `count` steps; other threads run meanwhile. On failure the state is that of the last good step."""
        self._context.check(lib.hn_simulation_step(self._pointer, count))

    def cancel(self) -> None:
        """Ask a step() of another thread to stop: it raises Cancelled."""
        lib.hn_context_cancel(self._context.pointer)

    @property
    def time(self) -> float:
        """s"""
        return float(lib.hn_simulation_time(self._pointer))

    @property
    def step_count(self) -> int:
        return int(lib.hn_simulation_step_count(self._pointer))

    @property
    def step_size(self) -> float:
        """s"""
        return float(lib.hn_simulation_step_size(self._pointer))

    @property
    def scheme(self) -> str:
        return text(lib.hn_scheme_name(lib.hn_simulation_scheme(self._pointer)))

    @property
    def model(self) -> Model:
        return self._model

    # ---- arrays ----

    def _array(self, found: Any, writable: bool) -> Array:
        shape = tuple(found.shape[k] for k in range(found.rank))
        handle = self._pointer
        # whoever has the array keeps the simulation's memory
        data = ffi.gc(found.data, lambda _pointer, _keep=handle: None)
        count = int(np.prod(shape, dtype=int))
        if count == 0:
            return np.zeros(shape)
        array = np.frombuffer(ffi.buffer(data, 8 * count), dtype=np.float64).reshape(shape)
        array.flags.writeable = writable
        return array

    def view(self, name: str) -> Array:
        """A live, read-only view of a field by the name of its result series, "bodies/position": it changes with every
        step; take a copy() to keep it. Units: fields()."""
        handle = self._pointer
        if name not in self._arrays:
            found = ffi.new("hn_view *")
            self._context.check(lib.hn_simulation_view(handle, raw(name), found))
            self._arrays[name] = self._array(found, False)
        return self._arrays[name]

    def input(self, name: str) -> Array:
        """A writable array: "joints/effort", "bodies/force" or "bodies/torque"; held over a step, kept until changed."""
        handle = self._pointer
        if name not in self._arrays:
            found = ffi.new("hn_input *")
            self._context.check(lib.hn_simulation_input(handle, raw(name), found))
            self._arrays[name] = self._array(found, True)
        return self._arrays[name]

    @property
    def joint_coordinates(self) -> Array:
        """m, rad: all joints one after the other; a live view."""
        return self.view("joints/coordinates")

    @property
    def joint_rates(self) -> Array:
        """m/s, rad/s; a live view."""
        return self.view("joints/rates")

    @property
    def joint_efforts(self) -> Array:
        """N, N m on the joint coordinates, to be written."""
        return self.input("joints/effort")

    @joint_efforts.setter
    def joint_efforts(self, value: Any) -> None:
        self.input("joints/effort")[:] = value

    @property
    def body_forces(self) -> Array:
        """N at the centres of mass, world axes, to be written."""
        return self.input("bodies/force")

    @property
    def body_torques(self) -> Array:
        """N m, world axes, to be written."""
        return self.input("bodies/torque")

    @property
    def positions(self) -> Array:
        """m, centres of mass; a live view."""
        return self.view("bodies/position")

    @property
    def orientations(self) -> Array:
        """Rotation matrices; their columns are the body axes; a live view."""
        return self.view("bodies/orientation")

    @property
    def velocities(self) -> Array:
        """m/s, of the centres of mass; a live view."""
        return self.view("bodies/velocity")

    @property
    def angular_velocities(self) -> Array:
        """rad/s, world axes; a live view."""
        return self.view("bodies/angular_velocity")

    @property
    def energy(self) -> float:
        """J, kinetic and potential."""
        return float(self.view("ledger/energy"))

    def state(self) -> dict[str, Array]:
        """Copies of positions, orientations and velocities of the bodies, as set_bodies() takes them."""
        return {"position": self.positions.copy(), "orientation": self.orientations.copy(),
                "velocity": self.velocities.copy(), "angular_velocity": self.angular_velocities.copy()}

    # ---- setting states ----

    def set_joints(self, coordinates: Vector | None = None, rates: Vector | None = None) -> None:
        """Set all joint coordinates and rates (None: they stay); for trees of joints with angles and displacements."""
        def numbers(values: Vector | None) -> tuple[Any, int]:
            if values is None:
                return ffi.NULL, -1
            array = np.ascontiguousarray(values, dtype=np.float64).ravel()
            return ffi.new("double[]", array.tolist()), array.size

        q, m = numbers(coordinates)
        v, n = numbers(rates)
        counts = {c for c in (m, n) if c >= 0} or {self.joint_coordinates.size}
        if len(counts) != 1:
            raise InvalidArgument("coordinates and rates have different lengths")
        self._context.check(lib.hn_simulation_set_joints(self._pointer, q, v, counts.pop()))

    def set_bodies(self, position: Any = None, orientation: Any = None, velocity: Any = None,
                   angular_velocity: Any = None) -> None:
        """Set poses and velocities of all bodies (None: they stay); they must fit the joints."""
        bodies = len(self._model.bodies)
        values, keep = ffi.new("hn_body_values *"), []
        for name, value, width in (("position", position, 3), ("orientation", orientation, 9), ("velocity", velocity, 3),
                                   ("angular_velocity", angular_velocity, 3)):
            if value is None:
                continue
            array = np.ascontiguousarray(value, dtype=np.float64).ravel()
            if array.size != width * bodies:
                raise InvalidArgument(f"{name}: {array.size} numbers; expected {width} for each of {bodies} bodies")
            keep.append(ffi.new("double[]", array.tolist()))
            setattr(values, name, keep[-1])
        self._context.check(lib.hn_simulation_set_bodies(self._pointer, values, bodies))

    def accelerations(self) -> tuple[Array, Array]:
        """Accelerations of the bodies at the current state with the current inputs: m/s^2 and rad/s^2, world axes."""
        bodies = len(self._model.bodies)
        linear, angular = np.zeros((bodies, 3)), np.zeros((bodies, 3))
        self._context.check(lib.hn_simulation_accelerations(
            self._pointer, ffi.from_buffer("double[]", linear, require_writable=True),
            ffi.from_buffer("double[]", angular, require_writable=True), bodies))
        return linear, angular

    # ---- ledger and snapshots ----

    @property
    def ledger(self) -> Ledger:
        """What is promised and what was measured so far."""
        out = ffi.new("hn_ledger *")
        self._context.check(lib.hn_simulation_ledger(self._pointer, out))
        return Ledger(out[0], [b.name for b in self._model.bodies])

    def save(self) -> Snapshot:
        """The current state, to go back to."""
        size = lib.hn_simulation_snapshot_size(self._pointer)
        data = ffi.new("char[]", size)
        self._context.check(lib.hn_simulation_save(self._pointer, data, size))
        return Snapshot(bytes(ffi.buffer(data, size)), self.time)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back; stepping on is bit for bit the same."""
        self._context.check(lib.hn_simulation_restore(self._pointer, snapshot.data, len(snapshot.data)))
