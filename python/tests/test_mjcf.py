# SPDX-License-Identifier: MIT
"""Models of MuJoCo, where its package is installed. Against MuJoCo itself: tests/interop/test_mjcf.py."""

import pathlib

import pytest

import holonom as hn
from holonom import mjcf

ARM = """<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" damping="0.1" range="-90 90"/>
      <geom type="box" size="0.2 0.02 0.02" pos="0.2 0 0" mass="2"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def arm(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


def test_loads(arm: pathlib.Path) -> None:
    pytest.importorskip("mujoco")
    with pytest.warns(UserWarning, match="limits -1.5708 to 1.5708"):
        model = hn.Model.load(arm)
    assert list(model.drives) == ["joint hinge"]
    with hn.Simulation(model, step=1e-3) as simulation:
        simulation.step(100)
        assert simulation.joint_coordinates[0] > 0.0


def test_command(arm: pathlib.Path) -> None:
    pytest.importorskip("mujoco")
    output = arm.with_suffix(".yaml")
    assert mjcf.main([str(arm), "--output", str(output)]) == 0
    assert hn.Model.load(output).drives == ["joint hinge"]


def test_without_mujoco(arm: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(ImportError, match="holonom\\[mjcf\\]"):
        hn.Model.load(arm)
