# SPDX-License-Identifier: MIT
"""Robot descriptions become models that weigh, stand and move alike, or are refused with the line of what is wrong.

usage: test_convert.py TOOL SOURCE_FOLDER
"""

import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy
import yaml

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."
ARM = os.path.join(SOURCE, "models", "two-link-arm.urdf")

LINK = '<link name="{}"><inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="{}"/><axis xyz="{}"/></joint>'


def robot(*parts):
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>\n"


def turn(axis, angle):
    c, s = numpy.cos(angle), numpy.sin(angle)
    rows = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}
    return numpy.array(rows[axis])


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_tool(self, *words):
        return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120, cwd=self.folder.name)

    def convert(self, text, *options):
        with open(self.path("r.urdf"), "w", encoding="utf-8") as file:
            file.write(text)
        done = self.run_tool("convert", "r.urdf", "--output", "r.yaml", *options)
        if done.returncode != 0:
            return done, None
        with open(self.path("r.yaml"), encoding="utf-8") as file:
            return done, yaml.safe_load(file)

    def test_links_on_fixed_joints_are_one_body(self):
        with open(ARM, encoding="utf-8") as file:
            done, model = self.convert(file.read())
        self.assertEqual(done.returncode, 0, done.stderr)
        body = model["bodies"]["lower"]
        # by hand: 1 kg at 0.2 m, 0.3 kg at 0.4 m, the tool turned by 0.3 rad about x
        mass, center = 1.3, (1.0 * 0.2 + 0.3 * 0.4) / 1.3
        tool = turn("x", 0.3) @ numpy.diag([0.0002, 0.0003, 0.0004]) @ turn("x", 0.3).T
        apart = 1.0 * (0.2 - center) ** 2 + 0.3 * (0.4 - center) ** 2
        inertia = numpy.diag([0.001, 0.014, 0.014]) + tool + apart * numpy.diag([0, 1, 1])
        self.assertAlmostEqual(body["mass"], mass, delta=1e-15)
        numpy.testing.assert_allclose(body["center_of_mass"], [center, 0, 0], atol=1e-15)
        numpy.testing.assert_allclose(body["inertia"], inertia, rtol=1e-14, atol=1e-17)
        numpy.testing.assert_allclose(body["position"], [0.5, 0, 1], atol=1e-15)
        numpy.testing.assert_allclose(body["orientation"]["matrix"], turn("y", 0.5), atol=1e-15)
        self.assertEqual(len(body["shape"]["composite"]), 2)
        self.assertEqual(model["loads"]["shoulder"]["torsion_spring"]["damping"], 0.1)
        self.assertIn("limits -2 to 2 do not stop it", done.stderr)

    def test_the_arm_moves_as_lagrange_says(self):
        """First accelerations of the arm against the mass matrix of a double pendulum, by hand."""
        with open(ARM, encoding="utf-8") as file:
            text = file.read().replace('damping="0.1"', 'damping="0"')
        _, model = self.convert(text)
        h = 1e-4
        done = self.run_tool("run", "r.yaml", "--step", str(h), "--end", str(h), "--output", "r.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with h5py.File(self.path("r.h5")) as file:
            rates = file["joints/rates"][-1]
        g, length, first, m1 = 9.81, 0.5, 0.25, 2.0
        m2 = model["bodies"]["lower"]["mass"]
        c2 = model["bodies"]["lower"]["center_of_mass"][0]
        i1, i2 = 0.042, model["bodies"]["lower"]["inertia"][1][1]
        # angles about y grow downwards; the elbow stands at 0.5 rad
        cosine = numpy.cos(0.5)
        m12 = i2 + m2 * (c2**2 + length * c2 * cosine)
        matrix = numpy.array(
            [[i1 + m1 * first**2 + i2 + m2 * (length**2 + c2**2 + 2 * length * c2 * cosine), m12], [m12, i2 + m2 * c2**2]]
        )
        lower = m2 * g * c2 * cosine
        torque = numpy.array([m1 * g * first + m2 * g * length + lower, lower])
        numpy.testing.assert_allclose(rates / h, numpy.linalg.solve(matrix, torque), rtol=3e-7)  # 9e-8: h^2

    def test_other_commands_read_robots(self):
        done = self.run_tool("check", ARM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 bodies", done.stdout)

    def test_joints_through_links_without_mass(self):
        hollow = '<link name="{}"/>'
        cases = {
            "universal": ["revolute 0,0,1 0,0,1", "revolute 0,0,0 0,1,0"],
            "spherical": ["revolute 0,0,1 0,0,1", "revolute 0,0,0 0,1,0", "revolute 0,0,0 1,0,0"],
            "cylindrical": ["prismatic 0,0,1 0,0,1", "continuous 0,0,0 0,0,1"],
            "planar": ["prismatic 0,0,0 1,0,0", "prismatic 0,0,0 0,1,0", "continuous 0,0,0 0,0,1"],
            "free": ["prismatic 0,0,0 1,0,0", "prismatic 0,0,0 0,1,0", "prismatic 0,0,0 0,0,1"]
            + ["continuous 0,0,0 1,0,0", "continuous 0,0,0 0,1,0", "continuous 0,0,0 0,0,1"],
        }
        for word, steps in cases.items():
            with self.subTest(word):
                links = ["base"] + [f"l{k}" for k in range(len(steps))]
                parts = [hollow.format(name) for name in links[:-1]] + [LINK.format(links[-1], 2)]
                for k, step in enumerate(steps):
                    kind, origin, axis = step.replace(",", " ").split()[0], *step.split()[1:]
                    parts.append(
                        JOINT.format(f"j{k}", kind, links[k], links[k + 1], origin.replace(",", " "), axis.replace(",", " "))
                    )
                done, model = self.convert(robot(*parts))
                self.assertEqual(done.returncode, 0, done.stderr)
                (joint,) = model["joints"].values()
                self.assertEqual(list(joint), [word])
                self.assertEqual(done.stderr.count("is part of the"), len(steps) - 1)

    def test_what_moves_nothing_is_left_out_and_said(self):
        parts = [LINK.format("base", 1), LINK.format("arm", 1), '<link name="eye"/>']
        parts += [JOINT.format("a", "revolute", "base", "arm", "0 0 0", "0 1 0")]
        parts += [JOINT.format("b", "revolute", "arm", "eye", "1 0 0", "0 1 0")]
        done, model = self.convert(robot(*parts, "<transmission/>", "<transmission/>", "<gazebo/>"))
        self.assertEqual(list(model["joints"]), ["a"])
        self.assertIn("joint 'b' moves link 'eye', which has no mass", done.stderr)
        self.assertEqual(done.stderr.count("<transmission> is not read"), 1)
        extra = '<calibration rising="0.2"/><safety_controller k_velocity="10"/><foo/><foo/></joint>'
        parts[3] = parts[3].replace("</joint>", extra)
        parts[1] = parts[1].replace("</link>", "<contact/><collision/></link>")
        done, _ = self.convert(robot(*parts))
        for word in ("joint 'a': <calibration>", "joint 'a': <safety_controller>", "joint 'a': <foo>", "link 'arm': <contact>"):
            self.assertEqual(done.stderr.count(word + " is not read"), 1)
        self.assertNotIn("collision", done.stderr)
        _, free = self.convert(robot(*parts), "--base", "free")
        self.assertEqual(sorted(free["bodies"]), ["arm", "base"])

    def test_friction_of_joints_is_dry_friction(self):
        def joint(name, kind, child, dynamics):
            return JOINT.format(name, kind, "base", child, "0 0 0.1", "0 1 0").replace("</joint>", dynamics + "</joint>")

        parts = [LINK.format(name, 2) for name in ("base", "arm", "car")]
        parts += [joint("pin", "revolute", "arm", '<dynamics damping="0.2" friction="0.7"/>'),
                  joint("rail", "prismatic", "car", '<dynamics damping="3" friction="5"/>')]
        done, model = self.convert(robot(*parts))
        self.assertEqual(model["loads"], {"pin": {"torsion_spring": {"joint": "pin", "stiffness": 0, "damping": 0.2}}})
        self.assertEqual(model["drives"], {"rail": {"spring": {"joint": "rail", "damping": 3}},
                                           "pin friction": {"friction": {"joint": "pin", "effort": 0.7}},
                                           "rail friction": {"friction": {"joint": "rail", "effort": 5}}})
        self.assertNotIn("friction", done.stderr)
        # a level rail: the car comes to rest after m/d (v - F/d ln(1 + v d/F)) and stays there
        with open(self.path("r.yaml"), "a", encoding="utf-8") as file:
            file.write("start: {rail: {rate: 1}}\n")
        done = self.run_tool("run", "r.yaml", "--end", "1", "--output", "r.h5")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        with h5py.File(self.path("r.h5")) as file:
            place = file["joints/coordinates"][:, list(file["joints/names"].asstr()).index("rail")]
        self.assertAlmostEqual(place[-1], 2 / 3 * (1 - 5 / 3 * numpy.log(1 + 3 / 5)), delta=2e-6)
        self.assertAlmostEqual(place[-1], place[800], delta=1e-10)  # measured 3e-12
        # a joint that is put together with others has no coordinate of its own for it
        parts = [LINK.format(name, 2) for name in ("base", "hand")] + ['<link name="none"/>']
        parts += [JOINT.format("a", "revolute", "base", "none", "0 0 0", "1 0 0").replace(
                      "</joint>", '<dynamics friction="0.3"/></joint>'),
                  JOINT.format("b", "revolute", "none", "hand", "0 0 0", "0 1 0")]
        done, model = self.convert(robot(*parts))
        self.assertNotIn("drives", model)
        self.assertIn("joint 'a': friction 0.3 is left out", done.stderr)

    def test_joints_that_mimic_others_are_couplings(self):
        def joint(name, kind, parent, child, inner):
            return JOINT.format(name, kind, parent, child, "0 0 0.1", "0 0 1").replace("</joint>", inner + "</joint>")

        parts = [LINK.format(name, 1) for name in ("base", "left", "right", "rack")]
        parts += [joint("l", "revolute", "base", "left", '<dynamics damping="0.2"/>'),
                  joint("r", "revolute", "base", "right", '<mimic joint="l" multiplier="-2" offset="0.1"/>'),
                  joint("s", "prismatic", "base", "rack", '<dynamics damping="3"/><mimic joint="l"/>')]
        done, model = self.convert(robot(*parts))
        self.assertEqual(model["couplings"], {"r": {"relation": {"joints": ["r", "l"], "factors": [1, 2]}},
                                              "s": {"relation": {"joints": ["s", "l"], "factors": [1, -1]}}})
        self.assertEqual(model["drives"], {"s": {"spring": {"joint": "s", "damping": 3}}})
        self.assertIn("joint 'r' follows joint 'l' from zero; in the file from 0.1", done.stderr)
        self.assertNotIn("moves freely", done.stderr)
        # it moves so: all fall together
        done = self.run_tool("run", "r.yaml", "--steps", "200", "--output", "r.h5")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        with h5py.File(self.path("r.h5")) as file:
            left, right, slide = file["joints/coordinates"][-1]
        self.assertGreater(abs(left), 1e-3)
        self.assertAlmostEqual(right, -2 * left, delta=1e-13)
        self.assertAlmostEqual(slide, left, delta=1e-13)
        # what is not there cannot be followed
        done, model = self.convert(robot(*parts[:3], joint("l", "revolute", "base", "left", ""),
                                         joint("r", "revolute", "base", "right", '<mimic joint="x"/>')))
        self.assertNotIn("couplings", model)
        self.assertIn("joint 'r' moves freely; in the file it follows joint 'x'", done.stderr)

    def test_entities_are_what_they_stand_for(self):
        """An attribute with an entity in it was taken for absent: the centre of mass was at 0, the damping 0."""
        arm = '<link name="arm"><inertial><origin xyz="0 0 -&L;"/><mass value="2"/>&I;</inertial></link>'
        hinge = JOINT.format("a", "revolute", "base", "arm", "0 0 0", "0 1 0")
        hinge = hinge.replace("</joint>", '<dynamics damping="&D;"/></joint>')
        body = robot('<link name="base"/>', arm, hinge)
        own = """<!DOCTYPE robot [<!ENTITY L "0.5"><!ENTITY D "&L;e1">
            <!ENTITY I "<inertia ixx='1' iyy='1' izz='1'/>">]>"""
        done, model = self.convert(own + body)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(model["bodies"]["arm"]["center_of_mass"], [0, 0, -0.5])
        self.assertEqual(model["bodies"]["arm"]["inertia"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        self.assertEqual(model["loads"]["a"]["torsion_spring"]["damping"], 5)
        # nothing is taken from other files, and not more than a robot needs
        with open(self.path("other"), "w", encoding="utf-8") as file:
            file.write("0.5")
        ten = "".join(f'<!ENTITY a{k} "{"&a%d;" % (k - 1) * 10}">' for k in range(1, 10))
        for head, expected in [
            ('<!DOCTYPE robot [<!ENTITY L SYSTEM "other">]>', "r.urdf:1: the entity 'L' is not in the file"),
            ('<!DOCTYPE robot [<!ENTITY % L SYSTEM "other"> %L;]>', "r.urdf:1: the entity 'L' is not in the file"),
            ('<!DOCTYPE robot SYSTEM "other">', "r.urdf:3: the entity 'L' is not in the file"),
            ("", "r.urdf:3: the entity 'L' is not in the file"),
            (f'<!DOCTYPE robot [<!ENTITY a0 "1111111111">{ten}<!ENTITY L "&a9;"><!ENTITY I "">]>', "this is not XML"),
        ]:
            with self.subTest(head[:60]):
                done, _ = self.convert(head + body)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(expected, done.stderr)
        many = f'<!DOCTYPE robot [<!ENTITY L "{"1" * 50000}">]>'
        done, _ = self.convert(many + robot('<link name="base"/>', *['<foo x="&L;"/>'] * 300))
        self.assertIn("the entity 'L' and others stand for more than 10 MB", done.stderr)

    def test_origins_by_quaternions(self):
        arm = LINK.format("arm", 1)
        hinge = JOINT.format("a", "revolute", "base", "arm", '0 0 1" quat_xyzw="0 3 0 4', "0 1 0")
        done, model = self.convert(robot('<link name="base"/>', arm, hinge))
        self.assertEqual(done.returncode, 0, done.stderr)
        turned = turn("y", 2 * numpy.arctan2(3, 4))  # it was not turned at all
        numpy.testing.assert_allclose(model["bodies"]["arm"]["orientation"]["matrix"], turned, atol=1e-15)
        for words, expected in [("0 0 0 0", "quat_xyzw of <origin> is no rotation: its length is 0"),
                                ("0 0 1", "expected 4 numbers"),
                                ('0 3 0 4" rpy="0 0 0', ":4: <origin> has rpy and quat_xyzw")]:
            done, _ = self.convert(robot('<link name="base"/>', arm, hinge.replace("0 3 0 4", words)))
            self.assertEqual(done.returncode, 3)
            self.assertIn(expected, done.stderr)

    def test_attributes_that_are_not_read_are_said(self):
        parts = [LINK.format("base", 1), LINK.format("arm", 1).replace("<mass ", '<mass unit="kg" ')]
        parts += [JOINT.format("a", "revolute", "base", "arm", "0 0 0", "0 1 0").replace(
            "</joint>", '<dynamics damping="1" stiffness="7"/><limit lower="-1" upper="1" jerk="5"><soft/></limit></joint>')]
        done, _ = self.convert(robot(*parts).replace("<robot ", '<robot xmlns:xacro="x" version="1.0" color="red" '))
        for word in ("color of <robot>", "link 'arm': unit of <mass>", "joint 'a': stiffness of <dynamics>",
                     "joint 'a': jerk of <limit>", "joint 'a': <soft>"):
            self.assertEqual(done.stderr.count(word + " is not read"), 1, word + done.stderr)
        self.assertEqual(done.stderr.count("is not read"), 5, done.stderr)

    def test_signs_of_joints_that_are_put_together(self):
        """Displacements count along their slides; where one axis serves a slide and a turn that oppose, a note says so."""
        def chain(*steps):
            links = ["base"] + [f"l{k}" for k in range(len(steps))]
            parts = [f'<link name="{name}"/>' for name in links[:-1]] + [LINK.format(links[-1], 2)]
            for k, (kind, axis) in enumerate(steps):
                parts.append(JOINT.format(f"j{k}", kind, links[k], links[k + 1], "0 0 0", axis))
            done, model = self.convert(robot(*parts))
            self.assertEqual(done.returncode, 0, done.stderr)
            ((kind, joint),) = list(model["joints"].values())[0].items()
            return done, joint

        for steps in [("prismatic", "0 0 -1"), ("continuous", "0 0 1")], [("continuous", "0 0 -1"), ("prismatic", "0 0 1")]:
            done, joint = chain(*steps)
            self.assertEqual(joint["axis"], [0, 0, 1])
            self.assertIn("'j0' is part of the cylindrical joint 'j1', whose axis points the other way", done.stderr)
        done, _ = chain(("prismatic", "0 0 1"), ("continuous", "0 0 1"))
        self.assertNotIn("other way", done.stderr)
        # the second displacement counted against its slide when the turn did
        for normal, direction in ("0 0 1", [1, 0, 0]), ("0 0 -1", [0, 1, 0]):
            _, joint = chain(("prismatic", "1 0 0"), ("prismatic", "0 1 0"), ("continuous", normal))
            self.assertEqual(joint["direction"], direction)
            second = numpy.cross(joint["normal"], joint["direction"])
            numpy.testing.assert_allclose(second, [0, 1, 0] if direction[0] else [1, 0, 0], atol=1e-15)

    def test_mistakes_have_their_line(self):
        base, arm = LINK.format("base", 1), LINK.format("arm", 1)
        hinge = JOINT.format("a", "revolute", "base", "arm", "0 0 0", "0 1 0")
        cases = [
            ("<robot><link", "this is not XML"),
            ("<sdf/>", "expected <robot>"),
            ("<robot/>", "has no links"),
            (robot("<link/>"), ":2: <link> has no name"),
            (robot(base, base), ":3: link 'base' stands twice"),
            (robot(base, arm, hinge, hinge), "joint 'a' stands twice"),
            (robot(base, arm, hinge.replace("revolute", "ball")), ":4: joint 'a' has the type 'ball'"),
            (robot(base, arm, hinge.replace('"arm"', '"leg"')), "there is no link 'leg'"),
            (robot(base, arm, hinge.replace("0 1 0", "0 0 0")), "the axis has no length"),
            (robot(base, arm, hinge.replace("0 1 0", "0 1")), 'is "0 1"; expected 3 numbers'),
            (robot(base, arm, hinge.replace("0 1 0", "0 ${y} 0")), "expected 3 numbers"),
            (robot(base, arm, hinge.replace("0 1 0", "0 nan 0")), "expected 3 numbers"),
            (robot(base, arm, hinge.replace("0 1 0", "0 2-1 0")), "expected 3 numbers"),  # was 1
            (robot(base, LINK.format("arm", "3-2"), hinge), ':3: value of <mass> is "3-2"; expected 1 number'),
            (robot(base, LINK.format("arm", "1e1-9"), hinge), 'is "1e1-9"'),
            (robot(base, LINK.format("arm", "+-1"), hinge), 'is "+-1"'),
            (robot(LINK.format("base", -1)), "mass is -1"),
            # inertia without mass was left out, with the joint or as part of a universal one
            (robot(base, LINK.format("arm", 0), hinge), ":3: link 'arm' has inertia and no mass"),
            (robot(base, LINK.format("mid", 0), arm, hinge.replace('"arm"', '"mid"'),
                   JOINT.format("b", "revolute", "mid", "arm", "0 0 0", "1 0 0")), ":3: link 'mid' has inertia and no mass"),
            (robot(base, arm), "link 'arm' is not joined to link 'base'"),
            (robot(base, arm, hinge, hinge.replace('"a"', '"b"')), "the child of two joints, 'a' and 'b'"),
            (
                robot(base, arm, hinge, JOINT.format("b", "revolute", "arm", "base", "0 0 0", "0 1 0")),
                "every link is the child of a joint",
            ),
            (robot(base, '<link name="m"/>', arm, hinge.replace('"arm"', '"m"'),
                   JOINT.format("b", "revolute", "m", "arm", "1 0 0", "0 1 0")), "link 'm' has no mass between"),
            (robot(base), "nothing in the robot moves"),
        ]
        for text, expected in cases:
            with self.subTest(expected):
                done, _ = self.convert(text)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertTrue(done.stderr.startswith("r.urdf"), done.stderr)
                self.assertFalse(os.path.exists(self.path("r.yaml")))

    def test_options(self):
        self.assertEqual(self.run_tool("convert", ARM, "--base", "loose").returncode, 2)
        self.assertEqual(self.run_tool("convert", "none.urdf").returncode, 3)
        done = self.run_tool("convert", ARM, "--output", ARM)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertTrue(self.run_tool("convert", ARM).stdout.startswith("# Converted from"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
