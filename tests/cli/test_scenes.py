# SPDX-License-Identifier: MIT
"""Scenes of `holonom export`: what is in them is what the result file says, and shapes have their volumes.

usage: test_scenes.py TOOL SOURCE_FOLDER
"""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."

SHAPES = """\
holonom: 1
gravity: [0, 0, 0]
bodies:
  box: {shape: {box: {size: [1, 2, 3]}}, density: 1000, position: [1, 0, 0]}
  ball: {shape: {sphere: {radius: 0.5}}, density: 1000, position: [2, 0, 0]}
  rod: {shape: {cylinder: {radius: 0.2, height: 3}}, density: 1000, position: [3, 0, 0]}
  tube: {shape: {hollow_cylinder: {radius: 0.5, inner_radius: 0.3, height: 2}}, density: 1000, position: [4, 0, 0]}
  cone: {shape: {cone: {radius: 0.5, height: 2}}, density: 1000, position: [5, 0, 0]}
  tip: {shape: {pyramid: {base: [1, 2], height: 3}}, density: 1000, position: [6, 0, 0]}
  four: {shape: {tetrahedron: {corners: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}, density: 1000}
  back: {shape: {tetrahedron: {corners: [[0, 0, 5], [0, 1, 5], [1, 0, 5], [0, 0, 6]]}}, density: 1000}
  pair:
    shape: {composite: [{box: {size: [1, 1, 1]}, position: [3, 0, 0], orientation: {rotate: {axis: z, angle: 1}}},
                        {sphere: {radius: 0.3}}]}
    density: 1000
    position: [7, 0, 0]
start:
  box: {angular_velocity: [1, 2, 3], velocity: [0, 1, 0]}
  pair: {angular_velocity: [0, 0, 4]}
run: {step: 0.01, end: 0.5}
"""


def read_glb(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, length = struct.unpack("<4sII", data[:12])
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack("<I4s", data[12:20])
    assert kind == b"JSON" and size % 4 == 0
    scene = json.loads(data[20 : 20 + size])
    count, kind = struct.unpack("<I4s", data[20 + size : 28 + size])
    assert kind == b"BIN\0" and count == scene["buffers"][0]["byteLength"]
    numbers = data[28 + size :]

    def accessor(index):
        a = scene["accessors"][index]
        view = scene["bufferViews"][a["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
        return numpy.frombuffer(numbers, "<f4", a["count"] * width, view["byteOffset"]).reshape(-1, width).astype(float)

    return scene, accessor


def volume(corners):
    a, b, c = corners[0::3], corners[1::3], corners[2::3]
    return numpy.einsum("ij,ij->", a, numpy.cross(b, c)) / 6


def rotation(q):
    x, y, z, w = q
    return numpy.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class Scenes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(cls.path("m.yaml"), "w", encoding="utf-8") as file:
            file.write(SHAPES)
        for words in (["m.yaml", "--output", "m.h5"],
                      [os.path.join(SOURCE, "models", "three-bar-swing.yaml"), "--end", "0.05", "--output", "b.h5"]):
            done = cls.tool("run", *words, "--quiet")
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def tool(cls, *words):
        return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120, cwd=cls.folder.name)

    def export(self, *words):
        done = self.tool("export", *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_shapes_have_their_volumes(self):
        self.export("m.h5", "--gltf")
        scene, accessor = read_glb(self.path("m.glb"))
        with h5py.File(self.path("m.h5")) as file:
            masses = dict(zip(file["bodies/names"].asstr(), file["bodies/mass"]))
        # chords of 32 sides and 16 rings take up to 1.6 % of a round shape's volume
        flat = {"box", "tip", "four", "back"}
        self.assertEqual({mesh["name"] for mesh in scene["meshes"]}, set(masses))
        for mesh in scene["meshes"]:
            corners = accessor(mesh["primitives"][0]["attributes"]["POSITION"])
            normals = accessor(mesh["primitives"][0]["attributes"]["NORMAL"])
            part = volume(corners) / (masses[mesh["name"]] / 1000)
            low = 1 - 1e-6 if mesh["name"] in flat else 0.984
            self.assertTrue(low <= part <= 1 + 1e-6, (mesh["name"], part))
            numpy.testing.assert_allclose(numpy.linalg.norm(normals, axis=1), 1, atol=1e-6)
            # normals look out of the triangles they belong to
            faces = numpy.cross(corners[1::3] - corners[0::3], corners[2::3] - corners[0::3])
            for k in range(3):
                self.assertTrue((numpy.einsum("ij,ij->i", faces, normals[k::3]) > 0).all(), mesh["name"])

    def test_bodies_move_as_in_the_result(self):
        self.export("m.h5", "--output", "n.glb", "--frames", "20")
        scene, accessor = read_glb(self.path("n.glb"))
        (animation,) = scene["animations"]
        with h5py.File(self.path("m.h5")) as file:
            names = list(file["bodies/names"].asstr())
            time, position, orientation = file["time"][:], file["bodies/position"][:], file["bodies/orientation"][:]
        checked = 0
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            keys, values = accessor(sampler["input"])[:, 0], accessor(sampler["output"])
            self.assertTrue(len(keys) == len(values) <= 20)
            self.assertAlmostEqual(keys[-1], 0.5, delta=1e-6)
            body = names.index(scene["nodes"][channel["target"]["node"]]["name"])
            for key, value in zip(keys, values):
                record = int(numpy.argmin(abs(time - key)))
                if channel["target"]["path"] == "translation":
                    numpy.testing.assert_allclose(value, position[record, body], atol=1e-6)
                else:
                    numpy.testing.assert_allclose(rotation(value), orientation[record, body], atol=1e-6)
                checked += 1
            if channel["target"]["path"] == "rotation":
                self.assertTrue((numpy.einsum("ij,ij->i", values[1:], values[:-1]) > 0).all())
        self.assertGreater(checked, 200)
        root = scene["nodes"][0]
        self.assertEqual(sorted(root["children"]), list(range(1, len(scene["nodes"]))))
        numpy.testing.assert_allclose(rotation(root["rotation"]) @ [0, 0, 1], [0, 1, 0], atol=1e-6)

    def test_elements_of_beams_reach_from_node_to_node(self):
        self.export("b.h5", "--gltf")
        scene, accessor = read_glb(self.path("b.glb"))
        with h5py.File(self.path("b.h5")) as file:
            first, count = file["beams/first_node"][:], file["beams/element_count"][:]
            position = file["bodies/position"][-1]
        keys = {}
        for channel in scene["animations"][0]["channels"]:
            values = accessor(scene["animations"][0]["samplers"][channel["sampler"]]["output"])
            keys.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = values[-1]
        ends = []
        for key in keys.values():
            if "scale" in key:
                half = 0.5 * key["scale"][2] * (rotation(key["rotation"]) @ [0, 0, 1])
                ends.append((key["translation"] - half, key["translation"] + half))
        nodes = [(position[f + e], position[f + e + 1]) for f, n in zip(first, count) for e in range(n)]
        numpy.testing.assert_allclose(ends, nodes, atol=2e-6)

    def test_vtk_has_points_velocities_and_resultants(self):
        for name in ("m", "b"):
            self.export(f"{name}.h5", "--vtk")
            with h5py.File(self.path(f"{name}.vtkhdf")) as file, h5py.File(self.path(f"{name}.h5")) as result:
                root = file["VTKHDF"]
                self.assertEqual((root.attrs["Type"], list(root.attrs["Version"])), (b"PolyData", [2, 0]))
                steps = root["Steps"]
                self.assertEqual(steps.attrs["NSteps"], len(result["time"]))
                numpy.testing.assert_array_equal(steps["Values"][:], result["time"][:])
                count = root["NumberOfPoints"][0]
                points = root["Points"][:].reshape(-1, count, 3)
                velocity = root["PointData/velocity"][:].reshape(-1, count, 3)
                numpy.testing.assert_array_equal(steps["PointOffsets"][:], count * numpy.arange(len(points)))
                triangles = root["Polygons/Connectivity"][:].reshape(-1, 3)
                lines = root["Lines/Connectivity"][:].reshape(-1, 2)
                bodies = root["CellData/body"][:]
                self.assertEqual(len(bodies), len(lines) + len(triangles))
                # velocities are the rates of the points: differences over one step
                h = result["time"][1]
                middle = (points[2] - points[0]) / (2 * h)
                numpy.testing.assert_allclose(velocity[1], middle, atol=0.02 * (1 + abs(velocity).max()))
                for body in range(len(result["bodies/mass"])):
                    corners = points[0][triangles[bodies[len(lines) :] == body].ravel()]
                    if name == "m" and body in (0, 5, 6, 7):
                        self.assertAlmostEqual(1000 * volume(corners), result["bodies/mass"][body], delta=1e-6 * 6000)
                if name == "b":
                    force = root["CellData/force"][:].reshape(len(points), -1, 3)
                    numpy.testing.assert_array_equal(force[-1][: len(lines)], result["beams/resultant"][-1][:, :3])
                    first, elements = result["beams/first_node"][:], result["beams/element_count"][:]
                    ends = [f + e for f, n in zip(first, elements) for e in range(n)]
                    numpy.testing.assert_array_equal(points[-1][lines[:, 0]], result["bodies/position"][-1][ends])

    def test_mistakes(self):
        for words in (["m.h5", "--vtk", "--gltf"], ["m.h5", "--gltf", "--series", "energy"], ["m.h5", "--gltf", "--frames", "1"]):
            self.assertEqual(self.tool("export", *words).returncode, 2)
        self.assertEqual(self.tool("export", "m.h5", "--gltf", "--output", "m.h5").returncode, 5)
        self.assertEqual(self.tool("export", "m.h5", "--vtk", "--output", "none/x.vtkhdf").returncode, 5)
        self.assertEqual(self.tool("export", "m.yaml", "--vtk").returncode, 5)
        self.assertFalse([name for name in os.listdir(self.folder.name) if name.endswith(".new")])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
