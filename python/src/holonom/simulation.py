# SPDX-License-Identifier: MIT
"""Simulations: steps, views of the state as NumPy arrays, inputs between steps, snapshots."""

from __future__ import annotations

import functools
import html
import operator
import threading
import time as clock
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ._library import Array, Busy, Closed, Context, InvalidArgument, Vector, ffi, lib, plain, raw, reals, row, text, warn
from .ledger import Ledger
from .model import Beam, Coupling, Drive, Joint, Model

_BATCH = 0.05  # s between looks at Ctrl-C
_COUNT_MAX = 2**63 - 1  # steps
_CAUTION = 640  # bytes of a sentence
_FEW = 16  # steps that are taken without such a look
_BUSY = "another thread is at work with this simulation; threads need simulations of their own"


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _alone(method: _Method) -> _Method:
    """Of one thread at a time: the library is outside the interpreter's lock, and a simulation has one state."""
    @functools.wraps(method)
    def turn(self: Simulation, *values: Any, **named: Any) -> Any:
        if not self._turn.acquire(False):
            raise Busy(_BUSY)
        try:
            return method(self, *values, **named)
        finally:
            self._turn.release()
    return cast(_Method, turn)


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


@dataclass(frozen=True)
class Mode:
    """A small free motion about a configuration at rest."""

    frequency: float  # Hz; 0: it does not swing
    growth_rate: float  # 1/s, above 0: unstable
    rigid: bool  # a motion without stiffness, as far as round-off tells
    held: bool  # such a one of which something holds: what adds up to its stiffness cancels
    round_off: float  # Hz: a frequency below this would not be told from zero in a soft one; 0 of others
    body: str  # that moves most
    shape: Array  # by body: displacement of the centre of mass (m) and rotation vector (rad), world axes

    def __repr__(self) -> str:
        return f"<mode, {self.frequency:.6g} Hz, mostly of {self.body!r}>"


@dataclass(frozen=True)
class LinearSystem:
    """d(dx)/dt = A dx + B du, dy = C dx about a state: states are independent coordinates of joints and their rates, inputs
    efforts on joints and functions of drives, outputs all joint coordinates and rates. Names come with their units."""

    time: float  # s
    A: Array
    B: Array
    C: Array
    state: Array  # where it was linearised
    derivative: Array  # dx/dt there
    eigenvalues: npt.NDArray[np.complex128]  # 1/s, the fastest growth first
    states: dict[str, str]
    inputs: dict[str, str]
    outputs: dict[str, str]
    change: float = 0.0  # of A along the motion, while an eigenmotion or the state turns by one radian: 0 in steady motion
    caution: str = ""  # where that is above 1 %: eigenvalues are those of an instant

    def __repr__(self) -> str:
        return f"<linear system, {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def _shapes(bodies: int, width: int) -> list[tuple[int, ...]]:
    """Of `width` numbers per body: a row each, or all in one; matrices."""
    return [(bodies, width), (bodies * width,), *([(bodies, 3, 3)] if width == 9 else [])]


def _fill(def_: Any, settings: dict[str, Any], what: str) -> None:
    """Fields of a definition by name."""
    known = [name for name, _ in ffi.typeof(def_[0]).fields if name not in ("on_step", "user")]
    for name, value in settings.items():
        if name not in known:
            raise InvalidArgument(f"{what}: unknown setting {name!r}; there are {', '.join(known)}")
        setattr(def_, name, value)


def _whole(count: int) -> int:
    """A number of steps that the library can count."""
    found = operator.index(count)
    if found > _COUNT_MAX:
        raise InvalidArgument(f"count: {found} steps; expected at most {_COUNT_MAX}")
    return found


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
        # the second one keeps names and places of what is in the simulation
        self._model, self._known, self._context = model, model._as_it_is(), Context()
        def_ = ffi.new("hn_simulation_def *", lib.hn_simulation_def_default())
        model._context.check(lib.hn_simulation_def_from_model(self._known._pointer, def_))
        scheme = scheme or asked["scheme"]
        size = step if step is not None else asked["step"]
        if size is None:
            raise InvalidArgument("step: the model does not say; give a step size in seconds")
        every = {"scheme": scheme, "reduction": reduction or asked["reduction"], "step_size": float(size),
                 "inputs": scheme != "projected-rk" if inputs is None else inputs, **options}
        for name, value in every.items():
            self._context.check(lib.hn_simulation_def_set(self._context.pointer, def_, raw(name), raw(_value(value))))
        out = ffi.new("hn_simulation **")
        self._context.check(lib.hn_simulation_create_in(self._context.pointer, self._known._pointer, def_, out))
        self._handle: Any = ffi.gc(out[0], lib.hn_simulation_destroy)
        self._arrays: dict[str, Array] = {}
        self._turn = threading.RLock()
        self._said: list[str] = []
        self._warn()

    def _warn(self) -> None:
        """Warnings of what makes numbers doubtful, each once."""
        for line in self.cautions:
            if line not in self._said:
                self._said.append(line)
                warn(line)

    # ---- life ----

    @property
    def _pointer(self) -> Any:
        if self._handle is None:
            raise Closed("the simulation has been closed")
        return self._handle

    def close(self) -> None:
        """Give it back. No views are given out any more; arrays that were taken before keep their last content and cannot be
        written."""
        for array in self._arrays.values():
            array.flags.writeable = False
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

    def _repr_html_(self) -> str:
        if self._handle is None:
            return "simulation, closed"
        s = self.structure
        rows = {"scheme": self.scheme, "time": f"{self.time:g} s", "step": f"{self.step_size:g} s",
                "degrees of freedom": s["degrees_of_freedom"], "loops": s["loop_count"]}
        cells = "".join(f"<tr><td>{key}</td><td>{value}</td></tr>" for key, value in rows.items())
        return f"<b>{html.escape(self._model.name)}</b><table>{cells}</table>"

    # ---- stepping ----

    def step(self, count: int = 1) -> None:
        """Advance by `count` steps; other threads run meanwhile, with simulations of their own. On failure, and after Ctrl-C,
        the state is that of the last good step."""
        handle = self._handle
        if handle is None:
            raise Closed("the simulation has been closed")
        if not self._turn.acquire(False):
            raise Busy(_BUSY)
        try:
            if count > _FEW:
                self._step_many(handle, _whole(count))
                return
            status = lib.hn_simulation_step(handle, count)
            if status:
                self._context.check(status)
        finally:
            self._turn.release()

    def _step_many(self, handle: Any, count: int) -> None:
        """In batches, between which Python looks at Ctrl-C."""
        batch, done = _FEW, 0
        while done < count:
            batch = min(batch, count - done)
            began = clock.perf_counter()
            self._context.check(lib.hn_simulation_step(handle, batch))
            done += batch
            took = clock.perf_counter() - began
            batch = 2 * batch if 2.0 * took < _BATCH else batch if took < 2.0 * _BATCH else max(1, batch // 2)

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
        """A writable array: "joints/effort", "drives/command", "bodies/force" or "bodies/torque"; held over a step, kept until
        changed."""
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
        efforts, told = self.input("joints/effort"), reals(value, "joint_efforts")
        if told.shape not in ((), efforts.shape):
            raise InvalidArgument(f"joint_efforts: an array of shape {told.shape}; expected {efforts.shape}")
        efforts[:] = told

    @property
    def drive_commands(self) -> Array:
        """What each drive is told in place of its function of time, to be written: the value of an effort (N, N m), the
        target of a servo (m, rad), the command of a motor; NaN: it follows its function."""
        return self.input("drives/command")

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

    @_alone
    def set_joints(self, coordinates: Vector | None = None, rates: Vector | None = None) -> None:
        """Set all joint coordinates and rates (None: they stay); for trees of joints with angles and displacements."""
        def numbers(values: Vector | None, what: str) -> tuple[Any, int]:
            if values is None:
                return ffi.NULL, -1
            array = row(values, what)
            return ffi.new("double[]", array.tolist()), array.size

        q, m = numbers(coordinates, "coordinates")
        v, n = numbers(rates, "rates")
        counts = {c for c in (m, n) if c >= 0} or {self.joint_coordinates.size}
        if len(counts) != 1:
            raise InvalidArgument("coordinates and rates have different lengths")
        self._context.check(lib.hn_simulation_set_joints(self._pointer, q, v, counts.pop()))

    @_alone
    def set_bodies(self, position: Any = None, orientation: Any = None, velocity: Any = None,
                   angular_velocity: Any = None) -> None:
        """Set poses and velocities of all bodies (None: they stay); they must fit the joints."""
        bodies = len(self._known.bodies)
        values, keep = ffi.new("hn_body_values *"), []
        for name, value, width in (("position", position, 3), ("orientation", orientation, 9), ("velocity", velocity, 3),
                                   ("angular_velocity", angular_velocity, 3)):
            if value is None:
                continue
            array = reals(value, name)
            if array.shape not in _shapes(bodies, width):
                raise InvalidArgument(
                    f"{name}: {array.size} numbers, shape {array.shape}; expected {width} for each of {bodies} bodies")
            keep.append(ffi.new("double[]", array.ravel().tolist()))
            setattr(values, name, keep[-1])
        self._context.check(lib.hn_simulation_set_bodies(self._pointer, values, bodies))

    @_alone
    def accelerations(self) -> tuple[Array, Array]:
        """Accelerations of the bodies at the current state with the current inputs: m/s^2 and rad/s^2, world axes."""
        bodies = len(self._known.bodies)
        linear, angular = np.zeros((bodies, 3)), np.zeros((bodies, 3))
        self._context.check(lib.hn_simulation_accelerations(
            self._pointer, ffi.from_buffer("double[]", linear, require_writable=True),
            ffi.from_buffer("double[]", angular, require_writable=True), bodies))
        return linear, angular

    @_alone
    def reverse(self) -> None:
        """Turn all velocities round: a time-symmetric scheme then goes back the way it came."""
        self._context.check(lib.hn_simulation_reverse(self._pointer))

    # ---- structure, reactions, equilibria ----

    @property
    def structure(self) -> dict[str, Any]:
        """What the compiled model looks like: the fields of hn_structure, degrees_of_freedom, loop_count, ..."""
        found: dict[str, Any] = plain(lib.hn_simulation_structure(self._pointer))
        found["start_kind"] = text(lib.hn_start_kind_name(found["start_kind"]))
        return found

    @property
    def statistics(self) -> dict[str, Any]:
        """Newton iterations and the like: the fields of hn_statistics."""
        return dict(plain(lib.hn_simulation_statistics(self._pointer)))

    @_alone
    def redundancy(self) -> dict[str, Any]:
        """Constraints that follow from others at the current configuration: redundant_count, misfit, misfit_joint, and by
        joint whether its reaction is unique."""
        names = [joint.name for joint in self._known.joints]
        out, unique = ffi.new("hn_redundancy *"), ffi.new("bool[]", len(names) or 1)
        self._context.check(lib.hn_simulation_redundancy(self._pointer, out, unique, len(names)))
        found: dict[str, Any] = plain(out[0])
        found["misfit_joint"] = names[out.misfit_joint] if out.misfit_joint >= 0 else None
        found["unique"] = {name: bool(unique[i]) for i, name in enumerate(names)}
        return found

    def _name(self, thing: Joint | Drive | Coupling | Beam | str) -> str:
        """Its name, if it is of the model that is simulated, or of one that says the same."""
        if isinstance(thing, str):
            return thing
        of = thing.model
        if of is not self._model and of is not self._known and of.to_yaml() != self._known.to_yaml():
            raise InvalidArgument(f"{thing!r} is of another model, {of.name!r}, and not of {self._known.name!r}")
        return thing.name

    def _joint(self, joint: Joint | str) -> Any:
        names = [j.name for j in self._known.joints]
        name = self._name(joint)
        if name not in names:
            raise InvalidArgument(f"no joint {name!r} in the model {self._known.name!r}")
        return lib.hn_simulation_joint(self._pointer, names.index(name))

    @_alone
    def joint_state(self, joint: Joint | str) -> dict[str, Any]:
        """Coordinates, rates and reaction of a joint: the fields of hn_joint_state. Reactions act on the second body."""
        out = ffi.new("hn_joint_state *")
        self._context.check(lib.hn_simulation_joint_state(self._pointer, self._joint(joint), out))
        found: dict[str, Any] = plain(out[0])
        for key in ("coordinates", "rates"):
            found[key] = np.array(found[key][: out.coordinate_count])
        return found

    @_alone
    def reaction_verdict(self, joint: Joint | str) -> dict[str, Any]:
        """What of a joint's reaction is unique though constraints are redundant: the fields of hn_reaction_verdict."""
        out = ffi.new("hn_reaction_verdict *")
        self._context.check(lib.hn_simulation_reaction_verdict(self._pointer, self._joint(joint), out))
        return dict(plain(out[0]))

    @_alone
    def drive_state(self, drive: Drive | str) -> dict[str, float]:
        """Coordinate, effort, power (W) and work (J) of a drive: the fields of hn_drive_state."""
        name = self._name(drive)
        if name not in self._known.drives:
            raise InvalidArgument(f"no drive {name!r} in the model {self._known.name!r}")
        out = ffi.new("hn_drive_state *")
        self._context.check(lib.hn_simulation_drive(self._pointer, self._known.drives.index(name), out))
        return dict(plain(out[0]))

    @_alone
    def coupling_state(self, coupling: Coupling | str) -> dict[str, float]:
        """Effort (N, N m) along the first coordinate and gap (m, rad) of a coupling: the fields of hn_coupling_state."""
        name = self._name(coupling)
        if name not in self._known.couplings:
            raise InvalidArgument(f"no coupling {name!r} in the model {self._known.name!r}")
        out = ffi.new("hn_coupling_state *")
        self._context.check(lib.hn_simulation_coupling(self._pointer, self._known.couplings.index(name), out))
        return dict(plain(out[0]))

    @_alone
    def beam_element(self, beam: Beam | str, element: int) -> dict[str, Any]:
        """Strains, resultants (N, N m) and angle (rad) of an element: the fields of hn_beam_element_state."""
        name = self._name(beam)
        names = [b.name for b in self._known.beams]
        if name not in names:
            raise InvalidArgument(f"no beam {name!r} in the model {self._known.name!r}")
        out = ffi.new("hn_beam_element_state *")
        id = lib.hn_simulation_beam(self._pointer, names.index(name))
        self._context.check(lib.hn_simulation_beam_element(self._pointer, id, element, out))
        return {"strain": np.array(list(out.strain)), "resultant": np.array(list(out.resultant)), "angle": out.angle}

    @_alone
    def find_equilibrium(self, **settings: Any) -> dict[str, Any]:
        """Go to an equilibrium under the loads, at rest. Settings by the names of hn_static_def: load_steps, relax, ...
        Returns the fields of hn_equilibrium."""
        def_ = ffi.new("hn_static_def *", lib.hn_static_def_default())
        _fill(def_, settings, "find_equilibrium")
        out = ffi.new("hn_equilibrium *")
        self._context.check(lib.hn_simulation_find_equilibrium(self._pointer, def_, out))
        return dict(plain(out[0]))

    @_alone
    def modes(self, count: int = 10, *, at_start: bool = False, **settings: Any) -> list[Mode]:
        """Small free motions about the equilibrium found from here (at_start: about the configuration as it is), from the
        lowest frequency on. Settings by the names of hn_static_def."""
        def_ = ffi.new("hn_modes_def *", lib.hn_modes_def_default())
        def_.count, def_.at_start = count, at_start
        statics = ffi.new("hn_static_def *", def_.statics)
        _fill(statics, settings, "modes")
        def_.statics = statics[0]
        bodies = [b.name for b in self._known.bodies]
        found, report = ffi.new("hn_mode[]", max(1, count)), ffi.new("hn_modes_report *")
        shapes = np.zeros((max(1, count), len(bodies), 6))
        self._context.check(lib.hn_simulation_modes(self._pointer, def_, found, ffi.from_buffer("double[]", shapes), report))
        return [Mode(m.frequency, m.growth_rate, bool(m.rigid), bool(m.held), m.round_off, bodies[m.body.index1 - 1], shapes[i].copy())
                for i, m in enumerate(found[0:report.count])]

    @_alone
    def linearise(self) -> LinearSystem:
        """Linearise at the current state, time and inputs, for the motion itself; loops and motions hold. Warns where A does
        not rest along the motion."""
        out = ffi.new("hn_linear_system **")
        self._context.check(lib.hn_simulation_linearise(self._pointer, out))
        found = ffi.gc(out[0], lib.hn_linear_system_destroy)
        n, m, k = found.state_count, found.input_count, found.output_count

        def numbers(pointer: Any, *shape: int) -> Array:
            return np.array([pointer[i] for i in range(int(np.prod(shape)))], dtype=float).reshape(shape)

        def names(words: Any, units: Any, count: int) -> dict[str, str]:
            return {text(words[i]): text(units[i]) for i in range(count)}

        caution = text(found.caution)
        if caution:
            warn(caution)
        return LinearSystem(
            found.time, numbers(found.a, n, n), numbers(found.b, n, m), numbers(found.c, k, n), numbers(found.state, n),
            numbers(found.derivative, n), numbers(found.eigenvalue_real, n) + 1j * numbers(found.eigenvalue_imaginary, n),
            names(found.state_names, found.state_units, n), names(found.input_names, found.input_units, m),
            names(found.output_names, found.output_units, k), found.change, caution)

    @_alone
    def follow(self, count: int = 1, efforts: bool = True) -> None:
        """Advance as the drives of the kind motion say, and nothing else; efforts: with what that takes of them (inverse
        dynamics). 0 steps: the state as it is."""
        self._context.check(lib.hn_simulation_follow(self._pointer, count, efforts))

    # ---- ledger and snapshots ----

    @property
    @_alone
    def cautions(self) -> list[str]:
        """What makes numbers doubtful so far though no promise is broken: start values that were moved, steps too long for the
        motion, ... `run` makes warnings of them."""
        line, ask = ffi.new("char[]", _CAUTION), lib.hn_simulation_caution
        count = ask(self._pointer, self._known._pointer, 0, ffi.NULL, 0)
        found = []
        for i in range(count):
            ask(self._pointer, self._known._pointer, i, line, _CAUTION)
            found.append(text(line))
        return found

    @property
    @_alone
    def ledger(self) -> Ledger:
        """What is promised and what was measured so far."""
        out = ffi.new("hn_ledger *")
        self._context.check(lib.hn_simulation_ledger(self._pointer, out))
        return Ledger(out[0], [b.name for b in self._known.bodies])

    @_alone
    def save(self) -> Snapshot:
        """The current state, to go back to."""
        size = lib.hn_simulation_snapshot_size(self._pointer)
        data = ffi.new("char[]", size)
        self._context.check(lib.hn_simulation_save(self._pointer, data, size))
        return Snapshot(bytes(ffi.buffer(data, size)), self.time)

    @_alone
    def restore(self, snapshot: Snapshot) -> None:
        """Go back; stepping on is bit for bit the same."""
        self._context.check(lib.hn_simulation_restore(self._pointer, snapshot.data, len(snapshot.data)))
