# SPDX-License-Identifier: MIT
"""Models: loaded from files or built in code, with the names, units and defaults of the C API."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._library import (Context, Direction, InvalidArgument, Vector, direction, ffi, from_vector, lib, matrix, raw, text,
                       vector)

_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Body:
    """A body of a model; `ground` is the immovable one."""

    def __init__(self, model: Model | None, id: Any, name: str) -> None:
        self.model, self.id, self.name = model, id, name

    def __repr__(self) -> str:
        return f"<body {self.name!r}>"


class Joint:
    """A joint of a model."""

    def __init__(self, model: Model, id: Any, name: str, kind: str) -> None:
        self.model, self.id, self.name, self.kind = model, id, name, kind

    def __repr__(self) -> str:
        return f"<{self.kind} joint {self.name!r}>"


class Load:
    """A force, torque or spring of a model."""

    def __init__(self, model: Model, id: Any, name: str, kind: str) -> None:
        self.model, self.id, self.name, self.kind = model, id, name, kind

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}>"


ground = Body(None, lib.hn_ground(), "ground")


def _plain(value: Any) -> Any:
    """Numbers of any array type as lists, for YAML."""
    return value if isinstance(value, str) else np.asarray(value, dtype=float).tolist()


def _parameters(given: Mapping[str, float | str] | None) -> tuple[Any, list[Any]]:
    """An array of hn_parameter, and what keeps its texts."""
    keep = [(ffi.new("char[]", raw(name)), ffi.new("char[]", raw(value if isinstance(value, str) else repr(float(value)))))
            for name, value in (given or {}).items()]
    values = ffi.new("hn_parameter[]", len(keep) or 1)
    for i, (name, value) in enumerate(keep):
        values[i].name, values[i].value = name, value
    return values, keep


class Model:
    """Bodies, joints, loads and start values; immutable for the simulations made from it, which threads may share."""

    def __init__(self, name: str = "model", gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        """An empty model. gravity: m/s^2, world frame."""
        self._context = Context()
        def_ = ffi.new("hn_model_def *", lib.hn_model_def_default())
        words = ffi.new("char[]", raw(name))
        def_.name = words
        def_.gravity = vector(gravity, "gravity")
        out = ffi.new("hn_model **")
        self._context.check(lib.hn_model_create(self._context.pointer, def_, out))
        self._take(out[0])
        # what was built by calls, as a model file says it
        self._written: dict[str, Any] = {"holonom": 1, "name": name, "gravity": _plain(gravity), "bodies": {}, "joints": {},
                                         "loads": {}, "start": {}}

    def _take(self, pointer: Any) -> None:
        self._pointer = ffi.gc(pointer, lib.hn_model_destroy)

    @classmethod
    def load(cls, path: str | os.PathLike[str], parameters: Mapping[str, float | str] | None = None) -> Model:
        """Read a model file (YAML or URDF). Errors name file, line and column. parameters: other values for some of the
        file's, numbers or expressions."""
        values, _keep = _parameters(parameters)
        where = raw(os.fspath(path))
        if not _keep:
            return cls._read(lambda context, out: lib.hn_model_load(context, where, out))
        return cls._read(lambda context, out: lib.hn_model_load_with(context, where, values, len(_keep), out))

    @classmethod
    def parse(cls, source: str, name: str = "model.yaml", parameters: Mapping[str, float | str] | None = None) -> Model:
        """Read a model from YAML text; `name` stands for the file in messages."""
        data = raw(source)
        values, _keep = _parameters(parameters)
        return cls._read(lambda context, out: lib.hn_model_parse_with(context, data, len(data), raw(name), values, len(_keep),
                                                                      out))

    @classmethod
    def _read(cls, call: Any) -> Model:
        model = cls.__new__(cls)
        model._context = Context()
        model._written = {}
        out = ffi.new("hn_model **")
        model._context.check(call(model._context.pointer, out))
        model._take(out[0])
        return model

    # ---- looking at it ----

    @property
    def name(self) -> str:
        return text(lib.hn_model_name(self._pointer))

    @property
    def gravity(self) -> Any:
        """m/s^2, world frame."""
        return from_vector(lib.hn_model_gravity(self._pointer))

    @property
    def bodies(self) -> list[Body]:
        return [self._body_at(i) for i in range(lib.hn_model_body_count(self._pointer))]

    @property
    def joints(self) -> list[Joint]:
        return [self._joint_at(i) for i in range(lib.hn_model_joint_count(self._pointer))]

    @property
    def loads(self) -> list[str]:
        """Names of forces, torques and springs."""
        return [text(lib.hn_model_load_name(self._pointer, i)) for i in range(lib.hn_model_load_count(self._pointer))]

    def _body_at(self, index: int) -> Body:
        id = lib.hn_model_body(self._pointer, index)
        return Body(self, id, text(lib.hn_model_body_name(self._pointer, id)))

    def _joint_at(self, index: int) -> Joint:
        id = lib.hn_model_joint(self._pointer, index)
        kind = text(lib.hn_joint_kind_name(lib.hn_model_joint_kind(self._pointer, id)))
        return Joint(self, id, text(lib.hn_model_joint_name(self._pointer, id)), kind)

    @property
    def run_options(self) -> dict[str, Any]:
        """How the model asks to be run: scheme, reduction, step and end in s (None: it does not say)."""
        o = lib.hn_model_run_options(self._pointer)
        return {"scheme": text(lib.hn_scheme_name(o.scheme)), "reduction": text(lib.hn_reduction_name(o.reduction)),
                "step": o.step if o.step > 0.0 else None, "end": o.end if o.end > 0.0 else None}

    def __repr__(self) -> str:
        return f"<model {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.loads)} loads>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{j.name}</td><td>{j.kind}</td></tr>" for j in self.joints)
        names = ", ".join(b.name for b in self.bodies)
        return f"<b>{self.name}</b><br>bodies: {names}<table><tr><th>joint</th><th>kind</th></tr>{rows}</table>"

    def to_yaml(self) -> str:
        """The model as a file: the text it was read from, or what was built by calls."""
        size = ffi.new("size_t *")
        source = lib.hn_model_text(self._pointer, size)
        if source != ffi.NULL:
            return bytes(ffi.buffer(source, size[0])).decode("utf-8")
        lines = []
        for key, value in self._written.items():
            if isinstance(value, dict):
                if value:
                    lines.append(f"{key}:")
                    lines += [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()]
            else:
                lines.append(f"{key}: {json.dumps(value)}")
        return "\n".join(lines) + "\n"

    def __getstate__(self) -> dict[str, str]:
        return {"yaml": self.to_yaml()}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(Model.parse(state["yaml"], "pickled model").__dict__)

    # ---- building ----

    def _note(self, group: str, name: str, entry: dict[str, Any]) -> None:
        if self._written:
            self._written[group][name] = entry
        else:
            raise InvalidArgument("a model that was read from a file is as its file says: change the file")

    def _id(self, body: Body | str) -> Any:
        if isinstance(body, Body):
            return body.id
        id = lib.hn_model_find_body(self._pointer, raw(body))
        if id.index1 == 0:
            raise InvalidArgument(f"no body {body!r} in the model {self.name!r}")
        return id

    @staticmethod
    def _name_of(body: Body | str) -> str:
        return body.name if isinstance(body, Body) else body

    def _writable(self) -> None:
        if not self._written:
            raise InvalidArgument("a model that was read from a file is as its file says: change the file")

    def body(self, name: str | None = None, *, mass: float | None = None, inertia: Vector | None = None,
             center_of_mass: Vector = (0.0, 0.0, 0.0), position: Vector = (0.0, 0.0, 0.0), orientation: Any = _IDENTITY,
             shape: Mapping[str, Mapping[str, Any]] | None = None, density: float | None = None) -> Body:
        """Add a rigid body: mass (kg) and inertia (kg m^2, three principal moments or a tensor, about the centre of mass in
        body axes), or a shape as in model files, {"box": {"size": [1, 0.1, 0.1]}}, with mass or density (kg/m^3).
        position: m, of the body frame at the start; orientation: rotation matrix, its columns are the body axes."""
        self._writable()
        def_ = ffi.new("hn_body_def *", lib.hn_body_def_default())
        entry: dict[str, Any] = {"position": _plain(position), "orientation": {"matrix": _plain(orientation)}}
        keep = ffi.new("hn_shape *")
        if shape is not None:
            keep[0] = self._shape(shape)
            if mass is not None:
                keep.mass = mass
            if density is not None:
                keep.density = density
            self._context.check(lib.hn_body_def_set_shapes(self._context.pointer, def_, keep, 1))
            entry["shape"] = {kind: {k: _plain(v) for k, v in sizes.items()} for kind, sizes in shape.items()}
            entry.update({"density": keep.density} if mass is None else {"mass": mass})
        if inertia is not None:
            moments = np.asarray(inertia, dtype=float)
            tensor = np.diag(moments) if moments.size == 3 else moments.reshape(3, 3)
            def_.inertia = vector(np.diag(tensor), "inertia")
            def_.products_of_inertia = vector([tensor[0, 1], tensor[0, 2], tensor[1, 2]], "inertia")
            def_.center_of_mass = vector(center_of_mass, "center_of_mass")
            entry.update(inertia=tensor.tolist(), center_of_mass=_plain(center_of_mass))
        if mass is not None:
            def_.mass = mass
            entry["mass"] = mass
        def_.position = vector(position, "position")
        def_.orientation = matrix(orientation, "orientation")
        return self._add_body(def_, name, entry)

    def point_mass(self, name: str | None = None, *, mass: float, position: Vector = (0.0, 0.0, 0.0),
                   plane_normal: Direction | None = None) -> Body:
        """Add a point mass (kg), free in space or in the plane through its start position with the given normal."""
        self._writable()
        def_ = ffi.new("hn_body_def *", lib.hn_body_def_default())
        def_.kind = lib.HN_BODY_POINT_MASS if plane_normal is None else lib.HN_BODY_PLANAR_POINT_MASS
        def_.mass = mass
        def_.position = vector(position, "position")
        point: dict[str, Any] = {"mass": mass}
        if plane_normal is not None:
            def_.plane_normal = direction(plane_normal, "plane_normal")
            point["plane_normal"] = _plain(plane_normal)
        return self._add_body(def_, name, {"point_mass": point, "position": _plain(position)})

    def _add_body(self, def_: Any, name: str | None, entry: dict[str, Any]) -> Body:
        words = ffi.NULL if name is None else ffi.new("char[]", raw(name))
        def_.name = words
        out = ffi.new("hn_body_id *")
        self._context.check(lib.hn_model_add_body(self._pointer, def_, out))
        body = self._body_at(lib.hn_model_body_count(self._pointer) - 1)
        self._note("bodies", body.name, entry)
        return body

    @staticmethod
    def _shape(shape: Mapping[str, Mapping[str, Any]]) -> Any:
        if len(shape) != 1:
            raise InvalidArgument("a shape is one of box, sphere, cylinder, ... with its sizes")
        (word, sizes), = shape.items()
        kind = ffi.new("hn_shape_kind *")
        if not lib.hn_shape_kind_from_name(raw(word), kind):
            raise InvalidArgument(f"unknown shape {word!r}")
        out = ffi.new("hn_shape *", lib.hn_shape_default(kind[0]))
        for key, value in sizes.items():
            if key == "size":
                out.size = vector(value, "size")
            elif key == "base":
                out.size.x, out.size.y = (float(x) for x in value)
            elif key == "corners":
                for i, corner in enumerate(value):
                    out.corners[i] = vector(corner, "corner")
            elif key in ("radius", "inner_radius", "height"):
                setattr(out, key, float(value))
                if key == "height" and word == "pyramid":
                    out.size.z = float(value)
            else:
                raise InvalidArgument(f"shape {word}: unknown size {key!r}")
        return out[0]

    def joint(self, kind: str, a: Body | str, b: Body | str, *, name: str | None = None,
              at: Vector = (0.0, 0.0, 0.0), to: Vector | None = None, axis: Direction | None = None,
              second_axis: Direction | None = None, direction_: Direction | None = None,
              length: float | None = None) -> Joint:
        """Add a joint of a kind ("revolute", ...). Coordinates describe the motion of b relative to a; at (m) and axes are
        world ones at the start; to: another place on b; second_axis: of a universal joint; length: of a distance joint."""
        self._writable()
        value = ffi.new("hn_joint_kind *")
        if not lib.hn_joint_kind_from_name(raw(kind), value):
            raise InvalidArgument(f"unknown kind of joint {kind!r}")
        def_ = ffi.new("hn_joint_def *", lib.hn_joint_def_default(value[0]))
        words = ffi.NULL if name is None else ffi.new("char[]", raw(name))
        def_.name = words
        def_.body_a, def_.body_b = self._id(a), self._id(b)
        def_.point_a = vector(at, "at")
        entry: dict[str, Any] = {"bodies": [self._name_of(a), self._name_of(b)]}
        if kind == "distance":
            entry.update({"from": _plain(at), "to": _plain(at if to is None else to)})
        elif to is None:
            entry["at"] = _plain(at)
        else:
            entry["at"] = {"a": _plain(at), "b": _plain(to)}
        if to is not None:
            def_.separate_points = True
            def_.point_b = vector(to, "to")
        if axis is not None:
            def_.axis_a = direction(axis, "axis")
            entry["axis"] = _plain(axis)
        if second_axis is not None:
            def_.axis_b = direction(second_axis, "second_axis")
            entry["axes"] = [entry.pop("axis", None), _plain(second_axis)]
        if direction_ is not None:
            def_.direction = direction(direction_, "direction")
            entry["direction"] = _plain(direction_)
        if length is not None:
            def_.length = length
            entry["length"] = length
        out = ffi.new("hn_joint_id *")
        self._context.check(lib.hn_model_add_joint(self._pointer, def_, out))
        joint = self._joint_at(lib.hn_model_joint_count(self._pointer) - 1)
        self._note("joints", joint.name, {kind: entry})
        return joint

    def revolute(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), axis: Direction = "z",
                 name: str | None = None) -> Joint:
        """Hinge: one angle about the axis."""
        return self.joint("revolute", a, b, at=at, axis=axis, name=name)

    def prismatic(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), axis: Direction = "z",
                  name: str | None = None, to: Vector | None = None) -> Joint:
        """Slider: one displacement along the axis."""
        return self.joint("prismatic", a, b, at=at, axis=axis, name=name, to=to)

    def cylindrical(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), axis: Direction = "z",
                    name: str | None = None, to: Vector | None = None) -> Joint:
        """Displacement along and angle about the axis."""
        return self.joint("cylindrical", a, b, at=at, axis=axis, name=name, to=to)

    def planar(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), normal: Direction = "z",
               direction: Direction | None = None, name: str | None = None, to: Vector | None = None) -> Joint:
        """Two displacements at right angles to the normal and an angle about it."""
        return self.joint("planar", a, b, at=at, axis=normal, direction_=direction, name=name, to=to)

    def spherical(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), name: str | None = None) -> Joint:
        """Ball joint."""
        return self.joint("spherical", a, b, at=at, name=name)

    def universal(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), axes: tuple[Direction, Direction],
                  name: str | None = None) -> Joint:
        """Angles about the first axis, fixed in a, and the second, fixed in b."""
        return self.joint("universal", a, b, at=at, axis=axes[0], second_axis=axes[1], name=name)

    def fixed(self, a: Body | str, b: Body | str, *, at: Vector = (0.0, 0.0, 0.0), name: str | None = None) -> Joint:
        """No relative motion."""
        return self.joint("fixed", a, b, at=at, name=name)

    def distance(self, a: Body | str, b: Body | str, *, start: Vector, to: Vector, length: float | None = None,
                 name: str | None = None) -> Joint:
        """Two points at constant distance: start on a, to on b."""
        return self.joint("distance", a, b, at=start, to=to, length=length, name=name)

    def _load(self, kind: str, name: str | None, entry: dict[str, Any], call: Any, def_: Any) -> Load:
        self._writable()
        words = ffi.NULL if name is None else ffi.new("char[]", raw(name))
        def_.name = words
        out = ffi.new("hn_load_id *")
        self._context.check(call(self._pointer, def_, out))
        given = text(lib.hn_model_load_name(self._pointer, lib.hn_model_load_count(self._pointer) - 1))
        self._note("loads", given, {kind: entry})
        return Load(self, out[0], given, kind)

    def force(self, body: Body | str, vector_: Vector, *, point: Vector = (0.0, 0.0, 0.0), body_fixed: bool = False,
              name: str | None = None) -> Load:
        """Constant force (N) on a body at a point of its frame (m)."""
        def_ = ffi.new("hn_load_def *", lib.hn_load_def_default())
        def_.body, def_.body_fixed = self._id(body), body_fixed
        def_.vector, def_.point = vector(vector_), vector(point, "point")
        entry = {"body": self._name_of(body), "vector": _plain(vector_), "point": _plain(point), "body_fixed": body_fixed}
        return self._load("force", name, entry, lib.hn_model_add_load, def_)

    def torque(self, body: Body | str, vector_: Vector, *, body_fixed: bool = False, name: str | None = None) -> Load:
        """Constant torque (N m) on a body."""
        def_ = ffi.new("hn_load_def *", lib.hn_load_def_default())
        def_.body, def_.torque, def_.body_fixed, def_.vector = self._id(body), True, body_fixed, vector(vector_)
        entry = {"body": self._name_of(body), "vector": _plain(vector_), "body_fixed": body_fixed}
        return self._load("torque", name, entry, lib.hn_model_add_load, def_)

    def spring(self, a: Body | str, b: Body | str, *, start: Vector, to: Vector, stiffness: float, damping: float = 0.0,
               rest_length: float | None = None, name: str | None = None) -> Load:
        """Spring (N/m) and damper (N s/m) between world points at the start, start on a and to on b."""
        def_ = ffi.new("hn_spring_def *", lib.hn_spring_def_default())
        def_.body_a, def_.body_b = self._id(a), self._id(b)
        def_.point_a, def_.point_b = vector(start, "start"), vector(to, "to")
        def_.stiffness, def_.damping = stiffness, damping
        entry = {"bodies": [self._name_of(a), self._name_of(b)], "from": _plain(start), "to": _plain(to),
                 "stiffness": stiffness, "damping": damping}
        if rest_length is not None:
            def_.rest_length = entry["rest_length"] = rest_length
        return self._load("spring", name, entry, lib.hn_model_add_spring, def_)

    def torsion_spring(self, joint: Joint | str, *, stiffness: float, damping: float = 0.0, rest_angle: float = 0.0,
                       name: str | None = None) -> Load:
        """Spring (N m/rad) and damper (N m s/rad) on the angle of a joint; rest_angle (rad) from the start."""
        def_ = ffi.new("hn_torsion_spring_def *", lib.hn_torsion_spring_def_default())
        def_.joint = self._joint_id(joint)
        def_.stiffness, def_.damping, def_.rest_angle = stiffness, damping, rest_angle
        entry = {"joint": joint if isinstance(joint, str) else joint.name, "stiffness": stiffness, "damping": damping,
                 "rest_angle": rest_angle}
        return self._load("torsion_spring", name, entry, lib.hn_model_add_torsion_spring, def_)

    def _joint_id(self, joint: Joint | str) -> Any:
        if isinstance(joint, Joint):
            return joint.id
        id = lib.hn_model_find_joint(self._pointer, raw(joint))
        if id.index1 == 0:
            raise InvalidArgument(f"no joint {joint!r} in the model {self.name!r}")
        return id

    def start(self, thing: Body | Joint, *, velocity: Vector | None = None, angular_velocity: Vector | None = None,
              rates: float | Vector | None = None) -> None:
        """Start velocities: of a body's frame (m/s, rad/s, world), or the rates of a joint."""
        self._writable()
        entry: dict[str, Any] = {}
        if isinstance(thing, Body):
            if velocity is not None:
                self._context.check(lib.hn_model_set_velocity(self._pointer, thing.id, vector(velocity)))
                entry["velocity"] = _plain(velocity)
            if angular_velocity is not None:
                self._context.check(lib.hn_model_set_angular_velocity(self._pointer, thing.id, vector(angular_velocity)))
                entry["angular_velocity"] = _plain(angular_velocity)
        else:
            values = [float(x) for x in np.atleast_1d(np.asarray(rates, dtype=float))]
            self._context.check(lib.hn_model_set_joint_rates(self._pointer, thing.id, values, len(values)))
            entry["rate" if len(values) == 1 else "rates"] = values[0] if len(values) == 1 else values
        self._note("start", thing.name, entry)
