# SPDX-License-Identifier: MIT
"""Models of MuJoCo (MJCF, and whatever else its compiler reads) as model files. Needs the package mujoco: holonom[mjcf].

    holonom-mjcf robot.xml --output robot.yaml

MuJoCo's own compiler reads the file, so that defaults, includes, frames and inertia from geoms are as it has them. What has no
counterpart is listed at the top of the model file and handed to the caller; nothing is left out in silence.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # of numpy

_SAME_PLACE = 1e-9  # m: anchors and axes that agree so far are one


class Conversion:
    """A model file and what it leaves out."""

    def __init__(self, text: str, notes: list[str]) -> None:
        self.text, self.notes = text, notes


class MjcfError(ValueError):
    """What cannot be converted, with the name of the element."""


# ---- text ---------------------------------------------------------------------------------------------------------------


def _number(value: float) -> str:
    short = repr(float(value))
    return short[:-2] if short.endswith(".0") else short


def _vector(values: Any) -> str:
    return "[" + ", ".join(_number(x) for x in values) + "]"


def _matrix(rows: Any) -> str:
    return "[" + ", ".join(_vector(row) for row in rows) + "]"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


# ---- rigid motions ------------------------------------------------------------------------------------------------------


def _rotation(quaternion: Any) -> Array:
    w, x, y, z = (float(c) for c in quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _about(mass: float, offset: Any) -> Array:
    d = np.asarray(offset, dtype=float)
    return np.asarray(mass * (d @ d * np.eye(3) - np.outer(d, d)))


def _name(mujoco: Any, model: Any, kind: Any, index: int, word: str) -> str:
    name = mujoco.mj_id2name(model, kind, index)
    return str(name) if name else f"{word}{index}"


# ---- the conversion -----------------------------------------------------------------------------------------------------


class _Converter:
    def __init__(self, mujoco: Any, model: Any, source: str, keyframe: str | None, armature: bool) -> None:
        self.mujoco, self.model, self.source, self.armature = mujoco, model, source, armature
        self.notes: list[str] = []
        self.lines: list[str] = []
        self.data = mujoco.MjData(model)
        self.zero = np.array(model.qpos0)
        if keyframe is not None:
            self._take_keyframe(keyframe)
        self.data.qpos[:] = self.zero
        mujoco.mj_kinematics(model, self.data)
        self.names = self._unique(mujoco.mjtObj.mjOBJ_BODY, model.nbody, "body")
        self.joint_names = self._unique(mujoco.mjtObj.mjOBJ_JOINT, model.njnt, "joint")
        self.owner = self._owners()

    def _off(self, *words: str) -> bool:
        """Is one of these switched off in the file's options?"""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{word}", 0) for word in words)
        return any(int(self.model.opt.disableflags) & int(bit) for bit in bits)

    def _take_keyframe(self, keyframe: str) -> None:
        known = [_name(self.mujoco, self.model, self.mujoco.mjtObj.mjOBJ_KEY, k, "key") for k in range(self.model.nkey)]
        if keyframe not in known:
            raise MjcfError(f"{self.source}: no keyframe '{keyframe}'; there are {', '.join(known) or 'none'}")
        self.zero = np.array(self.model.key_qpos[known.index(keyframe)])
        if np.any(self.model.key_qvel[known.index(keyframe)]):
            self.notes.append(f"keyframe '{keyframe}': its velocities")

    def _unique(self, kind: Any, count: int, word: str) -> list[str]:
        names: list[str] = []
        for index in range(count):
            name = _name(self.mujoco, self.model, kind, index, word)
            names.append(name if name not in names and name != "ground" else f"{name}_{index}")
        return names

    def _owners(self) -> list[int]:
        """The body that each one is part of: itself where it has joints; 0: the ground."""
        owner = [0]
        for body in range(1, self.model.nbody):
            moves = self.model.body_jntnum[body] > 0
            owner.append(body if moves else owner[self.model.body_parentid[body]])
        return owner

    def _body_word(self, body: int) -> str:
        return "ground" if self.owner[body] == 0 else _quoted(self.names[self.owner[body]])

    def _joints_of(self, body: int) -> list[int]:
        first = int(self.model.body_jntadr[body])
        return list(range(first, first + int(self.model.body_jntnum[body])))

    # ---- bodies

    def _write_body(self, body: int) -> None:
        m, members = self.model, [b for b in range(1, self.model.nbody) if self.owner[b] == body]
        mass = float(sum(m.body_mass[b] for b in members))
        if mass <= 0.0:
            raise MjcfError(f"{self.source}: body '{self.names[body]}' moves and has no mass")
        rotation, place = self.data.xmat[body].reshape(3, 3), self.data.xpos[body]
        center = sum(m.body_mass[b] * self.data.xipos[b] for b in members) / mass
        inertia = np.zeros((3, 3))
        for b in members:
            axes = self.data.ximat[b].reshape(3, 3)
            inertia += axes @ np.diag(m.body_inertia[b]) @ axes.T
            inertia += _about(m.body_mass[b], self.data.xipos[b] - center)
        local = rotation.T @ inertia @ rotation
        others = [self.names[b] for b in members if b != body]
        self.lines.append(f"  {_quoted(self.names[body])}:" + (f" # with {', '.join(others)}" if others else ""))
        self.lines.append(f"    mass: {_number(mass)}")
        self.lines.append(f"    center_of_mass: {_vector(rotation.T @ (center - place))}")
        self.lines.append(f"    inertia: {_matrix(0.5 * (local + local.T))}")
        self.lines.append(f"    position: {_vector(place)}")
        self.lines.append(f"    orientation: {{matrix: {_matrix(rotation)}}}")
        self._write_picture(body, members)

    def _write_picture(self, body: int, members: list[int]) -> None:
        m, kinds = self.model, self.mujoco.mjtGeom
        rotation, place = self.data.xmat[body].reshape(3, 3), self.data.xpos[body]
        pictures, seen = [], set()
        for geom in range(m.ngeom):
            if m.geom_bodyid[geom] not in members:
                continue
            kind, size, b = int(m.geom_type[geom]), m.geom_size[geom], int(m.geom_bodyid[geom])
            words = {kinds.mjGEOM_SPHERE: f"sphere: {{radius: {_number(size[0])}}}",
                     kinds.mjGEOM_ELLIPSOID: f"box: {{size: {_vector(2 * size)}}}",
                     kinds.mjGEOM_CAPSULE: f"cylinder: {{radius: {_number(size[0])}, height: {_number(2 * size[1])}}}",
                     kinds.mjGEOM_CYLINDER: f"cylinder: {{radius: {_number(size[0])}, height: {_number(2 * size[1])}}}",
                     kinds.mjGEOM_BOX: f"box: {{size: {_vector(2 * size)}}}"}.get(kind)
            if words is None:
                continue
            turned = self.data.xmat[b].reshape(3, 3) @ _rotation(m.geom_quat[geom])
            at = self.data.xpos[b] + self.data.xmat[b].reshape(3, 3) @ m.geom_pos[geom]
            line = (f"        - {{{words}, position: {_vector(rotation.T @ (at - place))}, "
                    f"orientation: {{matrix: {_matrix(rotation.T @ turned)}}}}}")
            if line not in seen:
                seen.add(line)
                pictures.append(line)
        if pictures:
            self.lines += ["    shape:", "      composite:", *pictures]

    # ---- joints

    def _axis(self, joint: int) -> Array:
        body = int(self.model.jnt_bodyid[joint])
        return self._frame_before(joint) @ self.model.jnt_axis[joint] if body else np.zeros(3)

    def _frame_before(self, joint: int) -> Array:
        # at the start the joints before it may have turned: the axis as the data have it
        return self.data.xmat[int(self.model.jnt_bodyid[joint])].reshape(3, 3)

    def _anchor(self, joint: int) -> Array:
        body = int(self.model.jnt_bodyid[joint])
        return self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ self.model.jnt_pos[joint]

    def _write_joints(self, body: int) -> None:
        types, joints = self.mujoco.mjtJoint, self._joints_of(body)
        parent = self._body_word(int(self.model.body_parentid[body]))
        bodies = f"bodies: [{parent}, {_quoted(self.names[body])}]"
        kinds = [int(self.model.jnt_type[j]) for j in joints]
        hinges = [j for j, k in zip(joints, kinds) if k == types.mjJNT_HINGE]
        slides = [j for j, k in zip(joints, kinds) if k == types.mjJNT_SLIDE]
        first = joints[0]
        name, at = _quoted(self.joint_names[first]), _vector(self._anchor(first))
        axes = [np.asarray(self._axis(j)) for j in joints]
        self.place: dict[int, tuple[str, str | None]]
        if len(joints) == 1:
            word = {types.mjJNT_FREE: "free", types.mjJNT_BALL: "spherical", types.mjJNT_SLIDE: "prismatic",
                    types.mjJNT_HINGE: "revolute"}[kinds[0]]
            axis = f", axis: {_vector(axes[0])}" if word in ("prismatic", "revolute") else ""
            place = "" if word == "free" else f", at: {at}"
            self.lines.append(f"  {name}: {{{word}: {{{bodies}{place}{axis}}}}}{self._limits(first)}")
            self.place[first] = (name, None)
            return
        labels = self._labels(body, joints, hinges, slides)
        for joint, label in zip(joints, labels):
            self.place[joint] = (name, label)
        comment = f" # {', '.join(self.joint_names[j] for j in joints)}"
        if len(slides) == 2:
            along = axes[labels.index("displacement_1")]
            words = f"planar: {{{bodies}, at: {_vector(self._anchor(joints[-1]))}, axis: {_vector(axes[2])}, " \
                    f"direction: {_vector(along)}}}"
        elif len(slides) == 1:
            words = f"cylindrical: {{{bodies}, at: {at}, axis: {_vector(axes[0])}}}"
        else:
            words = f"universal: {{{bodies}, at: {at}, axes: [{_vector(axes[0])}, {_vector(axes[1])}]}}"
        self.lines.append(f"  {name}: {{{words}}}{comment}")

    def _labels(self, body: int, joints: list[int], hinges: list[int], slides: list[int]) -> list[str]:
        """Words of the coordinates where several joints of one body are one joint here; or an error."""
        axes = [np.asarray(self._axis(j)) for j in joints]

        def right(a: Array, b: Array) -> bool:
            return bool(abs(a @ b) < _SAME_PLACE)

        if len(joints) == 3 and joints[:2] == slides and joints[2:] == hinges and right(axes[0], axes[1]):
            normal = np.cross(axes[0], axes[1])
            if np.allclose(normal, axes[2], atol=_SAME_PLACE):
                return ["displacement_1", "displacement_2", "angle"]
            if np.allclose(-normal, axes[2], atol=_SAME_PLACE):
                return ["displacement_2", "displacement_1", "angle"]
        if len(joints) == 2 and joints == hinges and right(axes[0], axes[1]) and \
                np.allclose(self._anchor(joints[0]), self._anchor(joints[1]), atol=_SAME_PLACE):
            return ["angle_a", "angle_b"]
        if len(joints) == 2 and joints == [*slides, *hinges] and len(slides) == 1 and \
                np.allclose(axes[0], axes[1], atol=_SAME_PLACE):
            return ["displacement", "angle"]
        names = ", ".join(f"'{self.joint_names[j]}'" for j in joints)
        raise MjcfError(f"{self.source}: body '{self.names[body]}' has the joints {names}, which are no one joint here; put "
                        f"bodies with mass between them")

    def _limits(self, joint: int) -> str:
        if not self.model.jnt_limited[joint]:
            return ""
        low, high = self.model.jnt_range[joint] - self._reference(joint)
        self.notes.append(f"joint '{self.joint_names[joint]}': limits {low:g} to {high:g} do not stop it")
        return f" # {low:g} to {high:g}"

    def _reference(self, joint: int) -> float:
        return float(self.zero[self.model.jnt_qposadr[joint]])

    # ---- what acts along coordinates

    def _drive_place(self, joint: int) -> str | None:
        name, label = self.place[joint]
        if int(self.model.jnt_type[joint]) not in (self.mujoco.mjtJoint.mjJNT_HINGE, self.mujoco.mjtJoint.mjJNT_SLIDE):
            return None
        return f"joint: {name}" + (f", coordinate: {label}" if label else "")

    def _write_passive(self, joint: int) -> list[str]:
        m, dof = self.model, int(self.model.jnt_dofadr[joint])
        damping, armature = float(m.dof_damping[dof]), float(m.dof_armature[dof]) if self.armature else 0.0
        stiffness, friction = float(np.ravel(m.jnt_stiffness[joint])[0]), float(m.dof_frictionloss[dof])
        damping *= not self._off("DAMPER", "PASSIVE")
        stiffness *= not self._off("SPRING", "PASSIVE")
        friction *= not self._off("FRICTIONLOSS")
        if not (damping or armature or stiffness or friction):
            return []
        place = self._drive_place(joint)
        if place is None:
            self.notes.append(f"joint '{self.joint_names[joint]}': damping {damping:g}, armature {armature:g}, stiffness "
                              f"{stiffness:g}, friction {friction:g}")
            return []
        lines = []
        if friction:
            lines = [f"  {_quoted('friction ' + self.joint_names[joint])}: {{friction: {{{place}, effort: {_number(friction)}}}}}"]
        if not (damping or armature or stiffness):
            return lines
        rest = float(m.qpos_spring[m.jnt_qposadr[joint]]) - self._reference(joint)
        words = [place]
        words += [f"stiffness: {_number(stiffness)}, rest: {_number(rest)}"] if stiffness else []
        words += [f"damping: {_number(damping)}"] if damping else []
        words += [f"armature: {_number(armature)}"] if armature else []
        return [f"  {_quoted('joint ' + self.joint_names[joint])}: {{spring: {{{', '.join(words)}}}}}", *lines]

    def _write_actuator(self, index: int) -> list[str]:
        m, mj = self.model, self.mujoco
        name = _name(mj, m, mj.mjtObj.mjOBJ_ACTUATOR, index, "actuator")
        gain, bias, gear = m.actuator_gainprm[index], m.actuator_biasprm[index], float(m.actuator_gear[index][0])
        joint = int(m.actuator_trnid[index][0])
        place = self._drive_place(joint) if int(m.actuator_trntype[index]) == mj.mjtTrn.mjTRN_JOINT else None
        simple = (int(m.actuator_dyntype[index]) == mj.mjtDyn.mjDYN_NONE and
                  int(m.actuator_gaintype[index]) == mj.mjtGain.mjGAIN_FIXED and
                  int(m.actuator_biastype[index]) in (mj.mjtBias.mjBIAS_NONE, mj.mjtBias.mjBIAS_AFFINE))
        affine = int(m.actuator_biastype[index]) == mj.mjtBias.mjBIAS_AFFINE
        kp, kv = (-float(bias[1]), -float(bias[2])) if affine else (0.0, 0.0)
        if place is None or not simple or gear == 0.0 or (affine and bias[0] != 0.0):
            self.notes.append(f"actuator '{name}': its transmission or its law")
            return []
        target = -self._reference(joint)  # a control of zero
        label = _quoted("actuator " + name)
        comment = f" # gear {gear:g}" if gear != 1.0 else ""
        if not kp and not kv:
            return [f"  {label}: {{effort: {{{place}, value: 0}}}} # control times {gain[0] * gear:g}"]
        if kp and abs(kp - float(gain[0])) < 1e-12 * abs(kp):
            limit = ""
            if m.actuator_forcelimited[index]:
                low, high = m.actuator_forcerange[index] * gear
                if abs(low + high) < 1e-12 * abs(high):
                    limit = f", limit: {_number(abs(high))}"
                else:
                    self.notes.append(f"actuator '{name}': force range {low:g} to {high:g}")
            damping = f", derivative: {_number(kv * gear * gear)}" if kv else ""
            return [f"  {label}: {{servo: {{{place}, target: {_number(target)}, proportional: {_number(kp * gear * gear)}"
                    f"{damping}{limit}}}}}{comment}"]
        if not kp and kv and abs(kv - float(gain[0])) < 1e-12 * abs(kv):
            return [f"  {label}: {{motor: {{{place}, stall: {_number(kv * gear * gear)}, no_load: 1, command: 0}}}}{comment}"]
        self.notes.append(f"actuator '{name}': its law")
        return []

    # ---- loops

    def _write_coupling(self, index: int) -> list[str]:
        """x = a + b y, from where both are at the start."""
        m = self.model
        one, other, factors = int(m.eq_obj1id[index]), int(m.eq_obj2id[index]), m.eq_data[index][:5]
        name = _name(self.mujoco, m, self.mujoco.mjtObj.mjOBJ_EQUALITY, index, "equality")
        acts = bool(m.eq_active0[index]) and not self._off("EQUALITY")
        simple = acts and other >= 0 and factors[1] != 0.0 and not np.any(factors[2:]) and \
            self._drive_place(one) is not None and self._drive_place(other) is not None
        off = factors[0] + factors[1] * (self._reference(other) - m.qpos0[m.jnt_qposadr[other]]) - \
            (self._reference(one) - m.qpos0[m.jnt_qposadr[one]]) if simple else 0.0
        if not simple or abs(off) > 1e-9:
            self.notes.append(f"equality '{name}': " + ("it does not hold at the start" if simple else
                                                        "no line through the start of two coordinates"))
            return []
        places = [self.place[j] for j in (one, other)]
        words = f"joints: [{places[0][0]}, {places[1][0]}], factors: [1, {_number(-factors[1])}]"
        if places[0][1] or places[1][1]:
            labels = [label or ("angle" if int(m.jnt_type[j]) == self.mujoco.mjtJoint.mjJNT_HINGE else "displacement")
                      for (_, label), j in zip(places, (one, other))]
            words += f", coordinates: [{', '.join(labels)}]"
        return [f"  {_quoted(name)}: {{relation: {{{words}}}}} # equality of joints, which MuJoCo keeps softly"]

    def _write_equality(self, index: int) -> list[str]:
        m, mj = self.model, self.mujoco
        kind, data = int(m.eq_type[index]), m.eq_data[index]
        name = _name(mj, m, mj.mjtObj.mjOBJ_EQUALITY, index, "equality")
        if not m.eq_active0[index] or self._off("EQUALITY"):
            self.notes.append(f"equality '{name}': not active at the start")
            return []
        if kind not in (mj.mjtEq.mjEQ_CONNECT, mj.mjtEq.mjEQ_WELD) or int(m.eq_objtype[index]) != mj.mjtObj.mjOBJ_BODY:
            self.notes.append(f"equality '{name}': of tendons, sites or flexible bodies")
            return []
        a, b = int(m.eq_obj1id[index]), int(m.eq_obj2id[index])
        anchors = (data[0:3], data[3:6]) if kind == mj.mjtEq.mjEQ_CONNECT else (data[3:6], data[0:3])
        places = [self.data.xpos[x] + self.data.xmat[x].reshape(3, 3) @ anchor for x, anchor in zip((a, b), anchors)]
        gap = float(np.linalg.norm(places[0] - places[1]))
        if gap > 1e-6:
            self.notes.append(f"equality '{name}': its places are {gap:g} m apart at the start, so it is left out")
            return []
        word = "spherical" if kind == mj.mjtEq.mjEQ_CONNECT else "fixed"
        if self.owner[a] == self.owner[b]:
            return []  # holds by itself
        return [f"  {_quoted(name)}: {{{word}: {{bodies: [{self._body_word(a)}, {self._body_word(b)}], "
                f"at: {_vector(0.5 * (places[0] + places[1]))}}}}} # equality, which MuJoCo keeps softly"]

    # ---- the whole

    def _note_rest(self) -> None:
        m = self.model
        touching = int(np.count_nonzero(m.geom_contype | m.geom_conaffinity))
        if touching:
            self.notes.append(f"contact: {touching} geoms pass through each other")
        meshes = int(np.count_nonzero(m.geom_type == int(self.mujoco.mjtGeom.mjGEOM_MESH)))
        if meshes:
            self.notes.append(f"{meshes} meshes as pictures")
        for count, what in [(m.ntendon, "tendons"), (m.nflex, "flexible bodies"), (m.nsensor, "sensors"),
                            (int(np.count_nonzero(m.body_mocapid >= 0)), "bodies moved from outside (mocap)"),
                            (int(np.count_nonzero(m.body_gravcomp)), "compensations of gravity"),
                            (int(m.opt.density > 0) + int(m.opt.viscosity > 0), "forces of a medium")]:
            if count:
                self.notes.append(f"{count} {what}")

    def write(self) -> Conversion:
        moving = [b for b in range(1, self.model.nbody) if self.owner[b] == b]
        if not moving:
            raise MjcfError(f"{self.source}: nothing in the model moves")
        self.place = {}
        self.lines.append("bodies:")
        for body in moving:
            self._write_body(body)
        self.lines.append("joints:")
        for body in moving:
            self._write_joints(body)
        of_joints = [i for i in range(self.model.neq) if int(self.model.eq_type[i]) == self.mujoco.mjtEq.mjEQ_JOINT]
        for index in range(self.model.neq):
            if index not in of_joints:
                self.lines += self._write_equality(index)
        couplings = [line for index in of_joints for line in self._write_coupling(index)]
        drives = [line for j in range(self.model.njnt) for line in self._write_passive(j)]
        if not self._off("ACTUATION"):
            drives += [line for i in range(self.model.nu) for line in self._write_actuator(i)]
        self.lines += ["drives:", *drives] if drives else []
        self.lines += ["couplings:", *couplings] if couplings else []
        self._note_rest()
        keys = [_name(self.mujoco, self.model, self.mujoco.mjtObj.mjOBJ_KEY, k, "key") for k in range(self.model.nkey)]
        head = [f"# Converted from the MuJoCo model {self.source}"]
        head += [f"# Keyframes: {', '.join(keys)}"] if keys else []
        head += ["# Not in this file:", *(f"#   {note}" for note in self.notes)] if self.notes else []
        name = pathlib.Path(self.source).stem
        gravity = self.model.opt.gravity * (not self._off("GRAVITY"))
        head += ["holonom: 1", f"name: {_quoted(name)}", f"gravity: {_vector(gravity)}"]
        step = _number(self.model.opt.timestep)
        tail = [f"run: {{scheme: energy-momentum, step: {step}, end: 1}}"]
        clean = [line.replace("\n", " ") for line in [*head, *self.lines, *tail]]
        return Conversion("\n".join(clean) + "\n", self.notes)


def convert(source: str | os.PathLike[str], *, keyframe: str | None = None, armature: bool = True) -> Conversion:
    """The model file for a file of MuJoCo; coordinates of joints count from its reference configuration, or from `keyframe`.

    armature: False leaves out inertia of rotors, which some schemes do not take."""
    try:
        import mujoco  # pyright: ignore[reportMissingImports]
    except ImportError as problem:
        raise ImportError("models of MuJoCo need its package: pip install 'holonom[mjcf]'") from problem
    path = str(source)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: cannot be opened: no such file")
    try:
        model = mujoco.MjSpec.from_file(path).compile()
    except ValueError as problem:
        raise MjcfError(f"{path}: {problem}") from problem
    return _Converter(mujoco, model, path, keyframe, armature).write()


def is_mjcf(path: str | os.PathLike[str]) -> bool:
    """Is this a file of MuJoCo? (Its root element is <mujoco>.)"""
    if not str(path).endswith((".xml", ".mjcf")):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "<mujoco" in file.read(65536)
    except OSError:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="holonom-mjcf", description="Write a model of MuJoCo as a model file.")
    parser.add_argument("model", help="file of MuJoCo (.xml)")
    parser.add_argument("-o", "--output", help="name of the model file (default: the screen)")
    parser.add_argument("--keyframe", help="start there")
    words = parser.parse_args(arguments)
    try:
        done = convert(words.model, keyframe=words.keyframe)
    except (OSError, ValueError, ImportError) as problem:
        print(problem, file=sys.stderr)
        return 3
    for note in done.notes:
        print(f"warning: {words.model}: {note}", file=sys.stderr)
    if words.output is None:
        print(done.text, end="")
    else:
        pathlib.Path(words.output).write_text(done.text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
