# SPDX-License-Identifier: MIT
"""Models: loaded from files, or built in code with the words, units and defaults of model files."""

from __future__ import annotations

import difflib
import html
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import mjcf
from ._library import (Array, Context, Direction, FileFormat, HolonomError, InvalidArgument, InvalidModel, Number, Vector, ffi,
                       from_matrix, from_vector, lib, numbers, raw, text)
from ._yaml import emit, line

Function = Union[Number, Mapping[str, Any]]
"""A function of time: a number, an expression in t, or one of model files, {"spline": {"times": [...], "values": [...]}}."""

_GROUPS = ("bodies", "beams", "joints", "couplings", "loads", "drives")
_ONE = {"bodies": "body", "beams": "beam", "joints": "joint", "couplings": "coupling", "loads": "load", "drives": "drive",
        "start": "start of"}
_PLACED = {"position", "between", "left", "right", "front", "back", "bottom", "top", "apex", "base", "tetrahedron"}
_PLACE = re.compile(r"^.*?:\d+:\d+: ")


class Body:
    """A body of a model, or a node of a beam; `ground` is the immovable one."""

    def __init__(self, model: Model | None, name: str, reference: Any = None) -> None:
        self.model, self.name = model, name
        self._reference = name if reference is None else reference

    @property
    def id(self) -> Any:
        """hn_body_id"""
        if self.model is None:
            return lib.hn_ground()
        return self.model._find(lib.hn_model_find_body, "body", self.name)

    def _ask(self, question: Any) -> Any:
        if self.model is None:
            raise InvalidArgument("the ground has no mass and does not move")
        return question(self.model._pointer, self.id)

    @property
    def kind(self) -> str:
        """ "rigid", "point_mass", "planar_point_mass" or "beam_node"."""
        return text(lib.hn_body_kind_name(self._ask(lib.hn_model_body_kind)))

    @property
    def mass(self) -> float:
        """kg"""
        return float(self._ask(lib.hn_model_body_mass))

    @property
    def inertia(self) -> Array:
        """kg m^2, about the centre of mass, body axes"""
        return from_matrix(self._ask(lib.hn_model_body_inertia))

    @property
    def center_of_mass(self) -> Array:
        """m, body frame"""
        return from_vector(self._ask(lib.hn_model_body_center_of_mass))

    @property
    def position(self) -> Array:
        """m, of the body frame at the start"""
        return from_vector(self._ask(lib.hn_model_body_position))

    @property
    def orientation(self) -> Array:
        """Rotation matrix at the start; its columns are the body axes"""
        return from_matrix(self._ask(lib.hn_model_body_orientation))

    def __repr__(self) -> str:
        return f"<body {self.name!r}>"

    def _repr_html_(self) -> str:
        if self.model is None:
            return "<b>ground</b>"
        mass = f"{self.mass:g} kg at ({', '.join(f'{x:g}' for x in self.position)}) m"
        return f"<b>{html.escape(self.name)}</b>, {self.kind.replace('_', ' ')}, {mass}"


class Joint:
    """A joint of a model."""

    def __init__(self, model: Model, name: str, kind: str) -> None:
        self.model, self.name, self.kind = model, name, kind

    @property
    def id(self) -> Any:
        """hn_joint_id"""
        return self.model._find(lib.hn_model_find_joint, "joint", self.name)

    @property
    def bodies(self) -> tuple[str, str]:
        """Names of the first and the second body."""
        model, id = self.model._pointer, self.id
        ends = (lib.hn_model_joint_body_a(model, id), lib.hn_model_joint_body_b(model, id))
        a, b = (text(lib.hn_model_body_name(model, end)) for end in ends)
        return a, b

    @property
    def coordinate_count(self) -> int:
        return int(lib.hn_model_joint_coordinate_count(self.model._pointer, self.id))

    def __repr__(self) -> str:
        return f"<{self.kind} joint {self.name!r}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.name)}</b>, {self.kind}: {html.escape(' – '.join(self.bodies))}"


class Load:
    """A force, torque or spring of a model."""

    def __init__(self, model: Model, name: str, kind: str) -> None:
        self.model, self.name, self.kind = model, name, kind

    @property
    def id(self) -> Any:
        """hn_load_id"""
        return self.model._find(lib.hn_model_find_load, "load", self.name)

    def __repr__(self) -> str:
        return f"<{self.kind.replace('_', ' ')} {self.name!r}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.name)}</b>, {self.kind.replace('_', ' ')}"


class Drive(Load):
    """A drive on the coordinate of a joint."""

    @property
    def names(self) -> list[str]:
        """Its name; of a motion by a rotation or of a body those of its drives, NAME.x and so on."""
        return [name for name in self.model.drives if name == self.name] or [
            name for name in self.model.drives if name.rpartition(".")[0] == self.name]

    @property
    def id(self) -> Any:
        """Place among the drives of the model, of the first where it has several."""
        return self.model.drives.index(self.names[0])


class Coupling(Load):
    """A coupling of joint coordinates."""

    @property
    def id(self) -> Any:
        """Place among the couplings of the model."""
        return self.model.couplings.index(self.name)


class Beam:
    """A beam of a model. Its nodes are bodies: beam.start, beam.end, beam.tip, beam.middle, beam[5], beam.at(0.35)."""

    def __init__(self, model: Model, name: str) -> None:
        self.model, self.name = model, name

    @property
    def id(self) -> Any:
        """hn_beam_id"""
        return self.model._find(lib.hn_model_find_beam, "beam", self.name)

    @property
    def length(self) -> float:
        """m, of the reference axis"""
        return float(lib.hn_model_beam_length(self.model._pointer, self.id))

    @property
    def element_count(self) -> int:
        """Pieces between neighbouring nodes."""
        return int(lib.hn_model_beam_element_count(self.model._pointer, self.id))

    @property
    def start(self) -> Body:
        return Body(self.model, f"{self.name}.start")

    @property
    def end(self) -> Body:
        return Body(self.model, f"{self.name}.end")

    tip = end

    @property
    def middle(self) -> Body:
        return Body(self.model, f"{self.name}.middle")

    def __getitem__(self, index: int) -> Body:
        return Body(self.model, f"{self.name}.{index}")

    def at(self, arc_length: float) -> Body:
        """The node at an arc length (m); there must be one."""
        node = lib.hn_model_beam_node_at(self.model._pointer, self.id, arc_length)
        return Body(self.model, f"{self.name}.{node}", {"beam": self.name, "at": float(arc_length)})

    def __repr__(self) -> str:
        return f"<beam {self.name!r}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.name)}</b>, beam, {self.length:g} m, {self.element_count} elements"


ground = Body(None, "ground")


def _plain(value: Any) -> Any:
    """A value as a model file has it: names for things, lists for arrays, Python's own numbers."""
    if isinstance(value, (str, bool, int, float)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, Body):
        return value._reference
    if isinstance(value, (Joint, Load, Beam)):
        return value.name
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != "c":
        return value.tolist()
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    raise InvalidArgument(f"{value!r} cannot stand in a model")


def _parameters(given: Mapping[str, Number] | None) -> tuple[Any, list[Any]]:
    """An array of hn_parameter, and what keeps its texts."""
    keep = [(ffi.new("char[]", raw(name)), ffi.new("char[]", raw(value if isinstance(value, str) else repr(float(value)))))
            for name, value in (given or {}).items()]
    values = ffi.new("hn_parameter[]", len(keep) or 1)
    for i, (name, value) in enumerate(keep):
        values[i].name, values[i].value = name, value
    return values, keep


def _parse(context: Context, source: str, name: str, parameters: Mapping[str, Number] | None = None) -> Any:
    data = source.encode("utf-8")
    values, keep = _parameters(parameters)
    out = ffi.new("hn_model **")
    context.check(lib.hn_model_parse_with(context.pointer, data, len(data), raw(name), values, len(keep), out))
    return ffi.gc(out[0], lib.hn_model_destroy)


def _mentioned(entry: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(kind, name) of the bodies, joints and beams that an entry of a model speaks of."""
    if isinstance(entry, dict):
        for word, value in entry.items():
            yield from _mentioned(value, word)
    elif isinstance(entry, list):
        for value in entry:
            yield from _mentioned(value, key)
    elif isinstance(entry, str):
        kind = {"body": "body", "bodies": "body", "joint": "joint", "joints": "joint", "carrier": "joint", "beam": "beam"}.get(key)
        if kind is not None:
            yield kind, entry


class Model:
    """Bodies, joints, loads, drives and start values. Simulations copy what they need; threads may share a model."""

    def __init__(self, name: str = "model", gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        """An empty model, to be built by calls. gravity: m/s^2, world frame."""
        self._prepare()
        # what is built, as a model file says it; a model that was read has none
        self._document: dict[str, Any] | None = {
            "holonom": 1, "name": name, "gravity": _plain(gravity), "parameters": {}, **{g: {} for g in _GROUPS},
            "start": {}, "run": {}}
        if not any(isinstance(x, str) for x in self._document["gravity"]):
            numbers(gravity, 3, "gravity")

    def _prepare(self) -> None:
        self._context = Context()
        self._handle: Any = None
        self._lock = threading.Lock()

    @property
    def _pointer(self) -> Any:
        """The model of the library, made anew after something was added."""
        if self._handle is None:
            with self._lock:
                if self._handle is None:
                    self._handle = _parse(self._context, self.to_yaml(), self.name)
        return self._handle

    # ---- reading ----

    @classmethod
    def load(cls, path: str | os.PathLike[str], parameters: Mapping[str, Number] | None = None) -> Model:
        """Read a model file (YAML or URDF, or a model of MuJoCo, which needs its package). Errors name file, line and column.
        parameters: other values for some of the file's, numbers or expressions."""
        if mjcf.is_mjcf(path):
            converted = mjcf.convert(path)
            for note in converted.notes:
                warnings.warn(f"{os.fspath(path)}: not converted: {note}", stacklevel=2)
            return cls.parse(converted.text, os.fspath(path), parameters)
        values, keep = _parameters(parameters)
        where = raw(os.fspath(path))
        if not keep:
            return cls._read(lambda context, out: lib.hn_model_load(context, where, out))
        return cls._read(lambda context, out: lib.hn_model_load_with(context, where, values, len(keep), out))

    @classmethod
    def load_urdf(cls, path: str | os.PathLike[str], free_base: bool = False) -> Model:
        """Read a robot description. free_base: its root is a free body; otherwise the ground."""
        where = raw(os.fspath(path))
        return cls._read(lambda context, out: lib.hn_model_load_urdf(context, where, free_base, out))

    @classmethod
    def parse(cls, source: str, name: str = "model.yaml", parameters: Mapping[str, Number] | None = None) -> Model:
        """Read a model from YAML text; `name` stands for the file in messages."""
        data = source.encode("utf-8")
        values, keep = _parameters(parameters)
        return cls._read(lambda context, out: lib.hn_model_parse_with(context, data, len(data), raw(name), values, len(keep),
                                                                      out))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], name: str = "model") -> Model:
        """A model from what its file would hold, as a mapping of names; whatever the format has can stand in it."""
        return cls.parse(emit({"holonom": 1, **_plain(document)}), name)

    @classmethod
    def _read(cls, call: Callable[[Any, Any], int]) -> Model:
        model = cls.__new__(cls)
        model._prepare()
        model._document = None
        out = ffi.new("hn_model **")
        model._context.check(call(model._context.pointer, out))
        model._handle = ffi.gc(out[0], lib.hn_model_destroy)
        return model

    def with_parameters(self, parameters: Mapping[str, Number] | None = None, **more: Number) -> Model:
        """The same model with other values for some of its parameters, numbers or expressions."""
        return Model.parse(self.to_yaml(), self.name, {**(parameters or {}), **more})

    def _as_it_is(self) -> Model:
        """The model of the library as it is now: what is built later is not in it."""
        model = Model.__new__(Model)
        model._prepare()
        model._context, model._document, model._handle = self._context, None, self._pointer
        return model

    # ---- looking at it ----

    @property
    def name(self) -> str:
        return str(self._document["name"]) if self._document is not None else text(lib.hn_model_name(self._handle))

    @property
    def gravity(self) -> Array:
        """m/s^2, world frame."""
        return from_vector(lib.hn_model_gravity(self._pointer))

    def _names(self, group: str) -> list[str] | None:
        """Names of what was built, where that needs no library."""
        if self._document is None or (group in ("bodies", "joints", "loads") and self._document["beams"]):
            return None
        return list(self._document[group])

    @property
    def bodies(self) -> list[Body]:
        """All bodies in order, nodes of beams among them."""
        names = self._names("bodies")
        if names is None:
            p = self._pointer
            names = [text(lib.hn_model_body_name(p, lib.hn_model_body(p, i))) for i in range(lib.hn_model_body_count(p))]
        return [Body(self, name) for name in names]

    @property
    def beams(self) -> list[Beam]:
        names = self._names("beams")
        if names is None:
            p = self._pointer
            names = [text(lib.hn_model_beam_name(p, lib.hn_model_beam(p, i))) for i in range(lib.hn_model_beam_count(p))]
        return [Beam(self, name) for name in names]

    @property
    def joints(self) -> list[Joint]:
        if self._names("joints") == []:
            return []
        p = self._pointer
        ids = [lib.hn_model_joint(p, i) for i in range(lib.hn_model_joint_count(p))]
        return [Joint(self, text(lib.hn_model_joint_name(p, id)), text(lib.hn_joint_kind_name(lib.hn_model_joint_kind(p, id))))
                for id in ids]

    @property
    def loads(self) -> list[str]:
        """Names of forces, torques and springs."""
        names = self._names("loads")
        if names is None:
            names = [text(lib.hn_model_load_name(self._pointer, i)) for i in range(lib.hn_model_load_count(self._pointer))]
        return names

    @property
    def drives(self) -> list[str]:
        """Names of the drives."""
        if self._names("drives") == []:
            return []
        return [text(lib.hn_model_drive_name(self._pointer, i)) for i in range(lib.hn_model_drive_count(self._pointer))]

    @property
    def couplings(self) -> list[str]:
        """Names of the couplings."""
        if self._names("couplings") == []:
            return []
        p = self._pointer
        return [text(lib.hn_model_coupling_name(p, i)) for i in range(lib.hn_model_coupling_count(p))]

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name, with the values that follow from their expressions."""
        p = self._pointer
        return {text(lib.hn_model_parameter_name(p, i)): float(lib.hn_model_parameter_value(p, i))
                for i in range(lib.hn_model_parameter_count(p))}

    @property
    def run_options(self) -> dict[str, Any]:
        """How the model asks to be run: scheme, reduction, step and end in s (None: it does not say)."""
        o = lib.hn_model_run_options(self._pointer)
        return {"scheme": text(lib.hn_scheme_name(o.scheme)), "reduction": text(lib.hn_reduction_name(o.reduction)),
                "step": o.step if o.step > 0.0 else None, "end": o.end if o.end > 0.0 else None}

    def __repr__(self) -> str:
        counts = [f"{len(self.bodies)} bodies", f"{len(self.joints)} joints", f"{len(self.loads)} loads"]
        counts += [f"{len(self.drives)} drives"] if self.drives else []
        return f"<model {self.name!r}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(j.name)}</td><td>{j.kind}</td><td>{html.escape(' – '.join(j.bodies))}</td></tr>"
                       for j in self.joints)
        names = html.escape(", ".join(b.name for b in self.bodies))
        table = f"<table><tr><th>joint</th><th>kind</th><th>bodies</th></tr>{rows}</table>" if rows else ""
        return f"<b>{html.escape(self.name)}</b><br>bodies: {names}{table}"

    def to_yaml(self) -> str:
        """The model as a file: the text it was read from, or what was built by calls."""
        if self._document is not None:
            return emit(self._document)
        size = ffi.new("size_t *")
        source = lib.hn_model_text(self._handle, size)
        return bytes(ffi.buffer(source, size[0])).decode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a model file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_yaml())

    def __getstate__(self) -> dict[str, Any]:
        return {"yaml": self.to_yaml(), "document": self._document}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._prepare()
        self._document = state["document"]
        if self._document is None:
            self._handle = _parse(self._context, state["yaml"], "pickled model")

    def _find(self, find: Any, what: str, name: str) -> Any:
        id = find(self._pointer, raw(name))
        if id.index1 == 0:
            raise InvalidArgument(f"no {what} {name!r} in the model {self.name!r}")
        return id

    # ---- building ----

    def _writable(self) -> dict[str, Any]:
        if self._document is None:
            raise InvalidArgument("a model that was read from a file is as its file says: change the file, or build one")
        return self._document

    def _body_name(self, name: str) -> str:
        """Who holds this name: "ground", "bodies", or the name of a beam of which it is a node."""
        document = self._writable()
        if name == "ground" or name in document["bodies"]:
            return "bodies"
        found = re.fullmatch(r"(.+?)(?:\.\w+|\[\d+\])", name)
        if found and found.group(1) in document["beams"]:
            return found.group(1)
        near = difflib.get_close_matches(name, [*document["bodies"], "ground"], 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidArgument(f"no body {name!r} in the model {self.name!r}{hint}")

    def _part(self, entry: Any, part: dict[str, Any]) -> None:
        """Add to `part` of a document what an entry speaks of."""
        document = self._writable()
        for kind, name in _mentioned(entry):
            group = {"body": "bodies", "joint": "joints", "beam": "beams"}[kind]
            if kind == "body":
                holder = self._body_name(name)
                group, name = ("bodies", name) if holder == "bodies" else ("beams", holder)
                if name == "ground":
                    continue
            if kind == "joint" and name not in document["joints"] and "." in name and name.rsplit(".")[0] in document["beams"]:
                group, name = "beams", name.rsplit(".")[0]  # the clamp of a beam
            if name not in document[group]:
                near = difflib.get_close_matches(name, list(document[group]), 1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise InvalidArgument(f"no {kind} {name!r} in the model {self.name!r}{hint}")
            if name not in part[group]:
                part[group][name] = document[group][name]
                self._part(document[group][name], part)

    def _own(self, value: Any) -> None:
        """Refuse bodies, joints, loads and beams of another model, whose names may mean others here."""
        if isinstance(value, (Body, Joint, Load, Beam)):
            if value.model is not None and value.model is not self:
                raise InvalidArgument(f"{value!r} is of another model, {value.model.name!r}, and not of {self.name!r}")
        elif isinstance(value, Mapping):
            for inner in value.values():
                self._own(inner)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for inner in value:
                self._own(inner)

    def _add(self, group: str, name: str | None, default: str, entry: dict[str, Any]) -> str:
        """Put an entry into the model, if the library can read it beside what it speaks of."""
        document = self._writable()
        held = document[group]
        if name is None:
            number = len(held) + 1
            while f"{default}{number}" in held:
                number += 1
            name = f"{default}{number}"
        elif name in held:
            raise InvalidModel(f"{default} '{name}': the name is taken")
        self._own(entry)
        self._check(group, name, _plain(entry))
        held[name] = _plain(entry)
        self._handle = None
        return name

    def _check(self, group: str, name: str, entry: Any) -> None:
        document = self._writable()
        part: dict[str, Any] = {"holonom": 1, "parameters": document["parameters"], **{g: {} for g in _GROUPS}, "start": {}}
        if group not in part:  # one that may speak of anything: beside the whole model
            part = dict(document)
            part[group] = dict(document[group])
        elif group == "start":
            kind = "joint" if {"rate", "rates", "coordinates"} & set(entry) else "beam" if name in document["beams"] else "body"
            self._part({kind: name}, part)
        self._part(entry, part)
        part[group][name] = entry
        if not part["bodies"] and not part["beams"]:
            part["bodies"]["-"] = {"point_mass": {"mass": 1}}
        try:
            _parse(self._context, emit(part), "model")
        except (FileFormat, InvalidModel) as error:
            if "no joint places it" in str(error) or (group == "start" and isinstance(error, InvalidModel)):
                # joints that are not here, or still to come, may place the bodies: the whole model will tell
                if any(not _PLACED & set(body) for body in part["bodies"].values()):
                    return
            # the place is the call, not a line of a text that nobody has seen
            message = _PLACE.sub("", str(error))
            wrong = InvalidModel(message if f"'{name}'" in message else f"{_ONE.get(group, group)} '{name}': {message}")
            wrong.status = "HN_INVALID_MODEL"
            raise wrong from None

    def add(self, group: str, name: str, entry: Mapping[str, Any]) -> None:
        """Put an entry into a group of the model as its file would have it, for what has no method of its own:
        model.add("joints", "hinge", {"revolute": {"bodies": ["ground", "door"], "at": [0, 0, 0], "axis": "z"}})."""
        document = self._writable()
        if group not in document:
            document[group] = {}
        try:
            self._add(group, name, group, dict(entry))
        finally:
            if group not in _GROUPS and not document[group]:
                del document[group]

    def parameter(self, name: str, value: Number) -> str:
        """Name a number; the name can then stand in expressions, model.body(mass="2*m"). Returns the name."""
        document = self._writable()
        old = dict(document["parameters"])
        document["parameters"][name] = _plain(value)
        try:
            self._check("bodies", "-", {"point_mass": {"mass": 1}})
        except HolonomError:
            document["parameters"] = old
            raise
        self._handle = None
        return name

    def body(self, name: str | None = None, *, mass: Number | None = None, inertia: Vector | None = None,
             center_of_mass: Vector | None = None, position: Vector | Mapping[str, Any] | None = None,
             orientation: Any = None, shape: Mapping[str, Any] | None = None, density: Number | None = None) -> Body:
        """Add a rigid body: mass (kg) and inertia (kg m^2, three principal moments or a tensor, about the centre of mass in
        body axes), or a shape as in model files, {"box": {"size": [1, 0.1, 0.1]}}, with mass or density (kg/m^3).

        position: m, of the body frame at the start (default: the origin); or where a point of the shape is,
        {"left": [0, 0, 1]}, or between which points it lies, {"between": [p, q]}. orientation: rotation matrix, its columns
        are the body axes, or as in model files, {"rotate": {"axis": "x", "angle": "pi/3"}}."""
        entry: dict[str, Any] = {}
        for key, value in (("shape", shape), ("density", density), ("mass", mass), ("inertia", inertia),
                           ("center_of_mass", center_of_mass)):
            if value is not None:
                entry[key] = value
        if isinstance(position, Mapping):
            entry.update(position)
        elif position is not None:
            entry["position"] = position
        if orientation is not None:
            entry["orientation"] = orientation if isinstance(orientation, Mapping) else {"matrix": orientation}
        return Body(self, self._add("bodies", name, "body", entry))

    def point_mass(self, name: str | None = None, *, mass: Number, position: Vector = (0.0, 0.0, 0.0),
                   plane_normal: Direction | None = None) -> Body:
        """Add a point mass (kg), free in space or in the plane through its start position with the given normal."""
        point: dict[str, Any] = {"mass": mass}
        if plane_normal is not None:
            point["plane_normal"] = plane_normal
        return Body(self, self._add("bodies", name, "body", {"point_mass": point, "position": position}))

    def beam(self, name: str | None = None, *, start: Vector | None = None, to: Vector | None = None,
             points: Any = None, arc: Any = None, spline: Any = None, frames: Any = None, elements: int = 10,
             element: str | None = None, order: int | None = None, direction: Direction | None = None, twist: Number | None = None,
             section: Mapping[str, Any] | None = None, material: Mapping[str, Number] | None = None, stiffness: Any = None,
             mass_per_length: Number | None = None, inertia_per_length: Vector | None = None, mass_matrix: Any = None,
             damping: Number | None = None, masses: Sequence[Mapping[str, Any]] | None = None,
             clamped: str | Sequence[str] | None = None) -> Beam:
        """Add a beam: from start to `to`, through points, along an arc or a spline (m, world), with a section
        {"rectangle": [a, b]} and material {"young": Pa, "poisson": 0.3, "density": kg/m^3}, or with stiffnesses, mass and
        inertia by length. clamped: "start", "end" or both. element: "helical" (the default), "linear" or "quadratic". The words are those of
        model files; `start` is their `from`."""
        entry = {"from": start, "to": to, "points": points, "arc": arc, "spline": spline, "frames": frames,
                 "elements": elements, "element": element, "order": order, "direction": direction, "twist": twist, "section": section,
                 "material": material, "stiffness": stiffness, "mass_per_length": mass_per_length,
                 "inertia_per_length": inertia_per_length, "mass_matrix": mass_matrix, "damping": damping, "masses": masses,
                 "clamped": clamped}
        if frames is not None:
            del entry["elements"]
        return Beam(self, self._add("beams", name, "beam", {k: v for k, v in entry.items() if v is not None}))

    def joint(self, kind: str, a: Body | str, b: Body | str, *, name: str | None = None, at: Any = None,
              to: Vector | None = None, axis: Direction | Mapping[str, Any] | None = None,
              second_axis: Direction | Mapping[str, Any] | None = None, direction_: Direction | None = None,
              length: Number | None = None, coordinates: str | None = None, **more: Any) -> Joint:
        """Add a joint of a kind ("revolute", ...). Coordinates describe the motion of b relative to a; at (m, default: the
        origin) and axes are world ones at the start, or in the bodies' frames with coordinates="body"; to: another place on
        b; second_axis: of a universal joint; length: of a distance joint; further words as in model files."""
        self._own([a, b])
        entry: dict[str, Any] = {"bodies": [_plain(a), _plain(b)]}
        if coordinates is not None:
            entry["coordinates"] = coordinates
        node = any(not isinstance(end, str) or self._body_name(end) != "bodies" for end in entry["bodies"])
        if at is None and not node:
            at = (0.0, 0.0, 0.0)
        if kind == "distance":
            entry.update({"from": at, "to": at if to is None else to})
        elif to is not None:
            entry["at"] = {"a": at, "b": to}
        elif at is not None:
            entry["at"] = at
        if second_axis is not None:
            entry["axes"] = [axis, second_axis]
        elif axis is not None:
            entry["normal" if kind == "planar" else "axis"] = axis
        for key, value in {"direction": direction_, "length": length, **more}.items():
            if value is not None:
                entry[key] = value
        return Joint(self, self._add("joints", name, "joint", {kind: entry}), kind)

    def revolute(self, a: Body | str, b: Body | str, *, at: Vector | None = None, axis: Direction = "z",
                 name: str | None = None) -> Joint:
        """Hinge: one angle about the axis."""
        return self.joint("revolute", a, b, at=at, axis=axis, name=name)

    def prismatic(self, a: Body | str, b: Body | str, *, at: Vector | None = None, axis: Direction = "z",
                  name: str | None = None, to: Vector | None = None) -> Joint:
        """Slider: one displacement along the axis."""
        return self.joint("prismatic", a, b, at=at, axis=axis, name=name, to=to)

    def cylindrical(self, a: Body | str, b: Body | str, *, at: Vector | None = None, axis: Direction = "z",
                    name: str | None = None, to: Vector | None = None) -> Joint:
        """Displacement along and angle about the axis."""
        return self.joint("cylindrical", a, b, at=at, axis=axis, name=name, to=to)

    def screw(self, a: Body | str, b: Body | str, *, pitch: Number, at: Vector | None = None, axis: Direction = "z",
              name: str | None = None, to: Vector | None = None) -> Joint:
        """Displacement along the axis by the pitch (m) in every turn about it."""
        return self.joint("screw", a, b, at=at, axis=axis, pitch=pitch, name=name, to=to)

    def slot(self, a: Body | str, b: Body | str, *, at: Vector | None = None, axis: Direction = "z",
             name: str | None = None, to: Vector | None = None) -> Joint:
        """A point of b on a line of a: displacement along the axis; b turns freely."""
        return self.joint("slot", a, b, at=at, axis=axis, name=name, to=to)

    def planar(self, a: Body | str, b: Body | str, *, at: Vector | None = None, normal: Direction = "z",
               direction: Direction | None = None, name: str | None = None, to: Vector | None = None) -> Joint:
        """Two displacements at right angles to the normal and an angle about it."""
        return self.joint("planar", a, b, at=at, axis=normal, direction_=direction, name=name, to=to)

    def spherical(self, a: Body | str, b: Body | str, *, at: Vector | None = None, name: str | None = None) -> Joint:
        """Ball joint."""
        return self.joint("spherical", a, b, at=at, name=name)

    def universal(self, a: Body | str, b: Body | str, *, at: Vector | None = None, axes: tuple[Direction, Direction],
                  name: str | None = None) -> Joint:
        """Angles about the first axis, fixed in a, and the second, fixed in b."""
        return self.joint("universal", a, b, at=at, axis=axes[0], second_axis=axes[1], name=name)

    def fixed(self, a: Body | str, b: Body | str, *, at: Vector | None = None, name: str | None = None) -> Joint:
        """No relative motion."""
        return self.joint("fixed", a, b, at=at, name=name)

    def free(self, a: Body | str, b: Body | str, *, at: Vector | None = None, name: str | None = None) -> Joint:
        """No constraint: reports the position of b's point in a's frame and a rotation vector."""
        return self.joint("free", a, b, at=at, name=name)

    def distance(self, a: Body | str, b: Body | str, *, start: Vector, to: Vector, length: Number | None = None,
                 name: str | None = None) -> Joint:
        """Two points at constant distance: start on a, to on b."""
        return self.joint("distance", a, b, at=start, to=to, length=length, name=name)

    def _load(self, kind: str, name: str | None, entry: dict[str, Any]) -> Load:
        given = {key: value for key, value in entry.items() if value is not None}
        return Load(self, self._add("loads", name, kind if "spring" in kind or kind in ("line_load", "bushing") else "load", {kind: given}),
                    kind)

    def force(self, body: Body | str, vector_: Vector, *, point: Vector | None = None, at: Vector | None = None,
              body_fixed: bool = False, factor: Function | None = None, name: str | None = None) -> Load:
        """Force (N) on a body at a point of its frame (m) or at a world place at the start; default: its centre of mass.
        body_fixed: the vector turns with the body. factor: a function of time."""
        return self._load("force", name, {"body": body, "vector": vector_, "point": point, "at": at,
                                          "body_fixed": body_fixed or None, "factor": factor})

    def torque(self, body: Body | str, vector_: Vector, *, body_fixed: bool = False, factor: Function | None = None,
               name: str | None = None) -> Load:
        """Torque (N m) on a body. factor: a function of time."""
        return self._load("torque", name, {"body": body, "vector": vector_, "body_fixed": body_fixed or None,
                                           "factor": factor})

    def spring(self, a: Body | str, b: Body | str, *, start: Vector, to: Vector, stiffness: Number = 0.0,
               damping: Number = 0.0, rest_length: Number | None = None, name: str | None = None) -> Load:
        """Spring (N/m) and damper (N s/m) between world points at the start, start on a and to on b. rest_length: m
        (default: the length at the start)."""
        return self._load("spring", name, {"bodies": [a, b], "from": start, "to": to, "stiffness": stiffness,
                                           "damping": damping, "rest_length": rest_length})

    def torsion_spring(self, joint: Joint | str, *, stiffness: Number = 0.0, damping: Number = 0.0,
                       rest_angle: Number = 0.0, name: str | None = None) -> Load:
        """Spring (N m/rad) and damper (N m s/rad) on the angle of a joint; rest_angle (rad) from the start."""
        return self._load("torsion_spring", name, {"joint": joint, "stiffness": stiffness, "damping": damping,
                                                   "rest_angle": rest_angle})

    def bushing(self, a: Body | str, b: Body | str, *, at: Vector, stiffness: Sequence[Number] | None = None,
                damping: Sequence[Number] | None = None, orientation: Mapping[str, Any] | None = None,
                name: str | None = None) -> Load:
        """Springs (N/m; N m/rad) and dampers (N s/m; N m s/rad) along and about three axes, six numbers each; at: world
        place (m) and orientation of the axes at the start, where it is at rest."""
        return self._load("bushing", name, {"bodies": [a, b], "at": at, "orientation": orientation,
                                            "stiffness": stiffness, "damping": damping})

    def line_load(self, beam: Beam | str, vector_: Vector, *, body_fixed: bool = False, factor: Function | None = None,
                  name: str | None = None) -> Load:
        """Load by length (N/m) on a whole beam."""
        return self._load("line_load", name, {"beam": beam, "vector": vector_, "body_fixed": body_fixed or None,
                                              "factor": factor})

    def drive(self, kind: str, joint: Joint | str | None, *, coordinate: str | None = None, armature: Number | None = None,
              name: str | None = None, **words: Any) -> Drive:
        """Add a drive of a kind ("motion", "effort", "servo", "motor", "stop", "spring", "friction", "latch") on a coordinate
        of a joint, with the words of model files. armature: kg m^2 or kg, of a rotor that moves with the coordinate."""
        entry = {"joint": joint, "coordinate": coordinate, **words, "armature": armature}
        given = {key: value for key, value in entry.items() if value is not None}
        return Drive(self, self._add("drives", name, "drive", {kind: given}), kind)

    def motion(self, joint: Joint | str | None = None, value: Function | None = None, *, coordinate: str | None = None,
               armature: Number | None = None, rotation: Mapping[str, Any] | None = None, body: Body | str | None = None,
               point: Vector | None = None, x: Function | None = None, y: Function | None = None,
               z: Function | None = None, name: str | None = None) -> Drive:
        """Prescribe a coordinate (m, rad) over time, with whatever effort that takes. Or the rotation of a spherical joint:
        rotation={"sequence": "zxz", "angles": [...]} or {"axis": ..., "angle": ...}. Or the place of a body: x, y, z (m) of a
        point in its frame, and its rotation; each is a drive of its own then, "NAME.x" and so on."""
        return self.drive("motion", joint, value=value, coordinate=coordinate, armature=armature, rotation=rotation,
                          body=body, point=point, x=x, y=y, z=z, name=name)

    def effort(self, joint: Joint | str, value: Function, *, coordinate: str | None = None, armature: Number | None = None,
               name: str | None = None) -> Drive:
        """A force or torque (N, N m) over time."""
        return self.drive("effort", joint, value=value, coordinate=coordinate, armature=armature, name=name)

    def servo(self, joint: Joint | str, target: Function, *, proportional: Number | None = None,
              derivative: Number | None = None, integral: Number | None = None, limit: Number | None = None,
              coordinate: str | None = None, armature: Number | None = None, name: str | None = None) -> Drive:
        """Follow a target (m, rad) with gains on the error (N/m, N m/rad), its rate and its integral, up to a limit."""
        return self.drive("servo", joint, target=target, proportional=proportional, derivative=derivative,
                          integral=integral, limit=limit, coordinate=coordinate, armature=armature, name=name)

    def motor(self, joint: Joint | str, *, stall: Number, no_load: Number, command: Function | None = None,
              coordinate: str | None = None, armature: Number | None = None, name: str | None = None) -> Drive:
        """Effort falls with speed in a straight line, from stall (N, N m) at rest to none at no_load (m/s, rad/s)."""
        return self.drive("motor", joint, stall=stall, no_load=no_load, command=command, coordinate=coordinate,
                          armature=armature, name=name)

    def stop(self, joint: Joint | str, *, lower: Number | None = None, upper: Number | None = None,
             stiffness: Number | None = None, damping: Number | None = None, restitution: Number | None = None,
             coordinate: str | None = None, armature: Number | None = None, name: str | None = None) -> Drive:
        """Elastic buffers that begin at a lower and an upper value of the coordinate; with restitution (0 to 1) in place of
        stiffness and damping a rigid stop."""
        return self.drive("stop", joint, lower=lower, upper=upper, stiffness=stiffness, damping=damping,
                          restitution=restitution, coordinate=coordinate, armature=armature, name=name)

    def friction(self, joint: Joint | str, *, effort: Number | None = None, coefficient: Number | None = None,
                 radius: Number | None = None, static: Number | None = None, stribeck: Number | None = None,
                 coordinate: str | None = None, name: str | None = None) -> Drive:
        """Dry friction that slides and sticks: an effort (N, N m), or a coefficient times the joint's reaction, for angles at
        a radius (m). static: times as much at rest, falling off with the rate stribeck (m/s, rad/s)."""
        return self.drive("friction", joint, effort=effort, coefficient=coefficient, radius=radius, static=static,
                          stribeck=stribeck, coordinate=coordinate, name=name)

    def latch(self, joint: Joint | str, value: Number, *, coordinate: str | None = None, name: str | None = None) -> Drive:
        """Hold the coordinate from when it reaches the value (m, rad); the energy lost is work of the latch."""
        return self.drive("latch", joint, value=value, coordinate=coordinate, name=name)

    def coupling(self, kind: str, joints: Sequence[Joint | str], *, coordinates: Sequence[str] | None = None,
                 name: str | None = None, **words: Any) -> Coupling:
        """Add a coupling of a kind ("gear", "belt", "rack", "relation") with the words of model files: a sum of factors times
        joint coordinates stays as it is at the start. coordinates: which one of each joint, where there are several."""
        entry = {"joints": list(joints), "coordinates": coordinates, **words}
        given = {key: value for key, value in entry.items() if value is not None}
        return Coupling(self, self._add("couplings", name, "coupling", {kind: given}), kind)

    def gear(self, joints: Sequence[Joint | str], *, teeth: Vector | None = None, radii: Vector | None = None,
             ratio: Number | None = None, internal: bool | None = None, carrier: Joint | str | None = None,
             coordinates: Sequence[str] | None = None, name: str | None = None) -> Coupling:
        """Two angles of wheels that mesh, by teeth, radii (m) or ratio; internal: one inside of the other; carrier: the joint
        whose angle is taken off the first."""
        return self.coupling("gear", joints, teeth=teeth, radii=radii, ratio=ratio, internal=internal, carrier=carrier,
                             coordinates=coordinates, name=name)

    def belt(self, joints: Sequence[Joint | str], *, radii: Vector | None = None, ratio: Number | None = None,
             crossed: bool | None = None, coordinates: Sequence[str] | None = None, name: str | None = None) -> Coupling:
        """Two angles of pulleys, by radii (m) or ratio; crossed: they turn against each other."""
        return self.coupling("belt", joints, radii=radii, ratio=ratio, crossed=crossed, coordinates=coordinates, name=name)

    def rack(self, joints: Sequence[Joint | str], *, radius: Number, coordinates: Sequence[str] | None = None,
             name: str | None = None) -> Coupling:
        """The angle of a pinion and the displacement of a rack. radius: m, displacement per angle."""
        return self.coupling("rack", joints, radius=radius, coordinates=coordinates, name=name)

    def relation(self, joints: Sequence[Joint | str], *, factors: Vector, coordinates: Sequence[str] | None = None,
                 name: str | None = None) -> Coupling:
        """Two to four coordinates: the sum of factors times coordinates stays as it is."""
        return self.coupling("relation", joints, factors=factors, coordinates=coordinates, name=name)

    def start(self, thing: Body | Joint | Beam | str, *, velocity: Any = None, angular_velocity: Any = None,
              rates: Number | Vector | None = None, coordinates: Number | Vector | None = None) -> None:
        """Start values: velocities of a body's frame (m/s, rad/s, world), or rates and coordinates of a joint, which then
        places its bodies. start("equilibrium"): at rest where the loads of time zero balance; start("assembled"): at rest
        where the joints meet, from places that need not fit."""
        document = self._writable()
        if thing in ("equilibrium", "assembled"):
            document["start"], self._handle = thing, None
            return
        if isinstance(document["start"], str):
            raise InvalidModel(f"start: the model starts at rest, {document['start']}")
        entry: dict[str, Any] = {}
        for key, value in (("velocity", velocity), ("angular_velocity", angular_velocity)):
            if value is not None:
                entry[key] = _plain(value)
        if rates is not None:
            values = _plain(rates)
            values = values[0] if isinstance(values, list) and len(values) == 1 else values
            entry["rates" if isinstance(values, list) else "rate"] = values
        if coordinates is not None:
            values = _plain(coordinates)
            entry["coordinates"] = values if isinstance(values, list) else [values]
        self._own(thing)
        name = thing if isinstance(thing, str) else thing.name
        whole = {**document["start"].get(name, {}), **entry}
        if not whole:
            raise InvalidArgument("start: give velocity, angular_velocity, rates or coordinates")
        self._check("start", name, whole)
        document["start"][name] = whole
        self._handle = None

    def set_run(self, *, scheme: str | None = None, reduction: str | None = None, step: Number | None = None,
                end: Number | None = None, rho: float | None = None, order: int | None = None,
                residual_tolerance: float | None = None, increment_tolerance: float | None = None,
                iterations_max: int | None = None, halvings_max: int | None = None,
                start_tolerance: float | None = None, step_tolerance: float | None = None,
                spectral_radius: float | None = None, absolute_tolerance: float | None = None,
                relative_tolerance: float | None = None, first_step: float | None = None,
                step_growth_max: float | None = None, projection_tolerance: float | None = None,
                fixed_steps: bool | None = None, dense_output: bool | None = None, projection: str | None = None,
                impose_energy: bool | None = None, impose_momentum: bool | None = None,
                planar: bool | None = None) -> None:
        """How the model asks to be run; step, end and first_step in s. The others are settings of its scheme."""
        given = {name: value for name, value in locals().items() if name != "self"}
        document = self._writable()
        words = {k: _plain(v) for k, v in given.items() if v is not None}
        _parse(self._context, "holonom: 1\nbodies: {-: {point_mass: {mass: 1}}}\nrun: " + line(words), "run")
        document["run"].update(words)
        self._handle = None
