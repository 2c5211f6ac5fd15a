# SPDX-License-Identifier: MIT
"""What the README of the package promises: its code as written, views, threads, memory, Ctrl-C, words, types, cost."""

import gc
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import xml.sax.saxutils

import numpy as np
import pytest

import holonom as hn
from holonom._native import ffi, lib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((SOURCE / "schema/holonom-model-1.schema.json").read_text())


def pendulum(name: str = "pendulum") -> hn.Model:
    model = hn.Model(name)
    bob = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1, 0, 0))
    model.revolute(hn.ground, bob, at=(0, 0, 0), axis="y", name="hinge")
    return model


def has_page() -> bool:
    return hn.run_tool("view", "--help").returncode == 0 and any(
        (pathlib.Path(hn.__file__).parent / "tool/share/holonom").glob("viewer.html"))


# ---- the code of the README --------------------------------------------------------------------------


def test_the_code_of_the_readme_runs_as_written(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    if not has_page():
        pytest.skip("the viewer has not been built")
    code = re.search(r"```python\n(.*?)```", (SOURCE / "python/README.md").read_text(), re.S)
    assert code is not None
    (tmp_path / "browser.py").write_text("import sys, pathlib\npathlib.Path(__file__).with_name('seen').write_text(sys.argv[1])")
    before = "import numpy as np\nK, D, target = 2.0 * np.eye(6), 0.5 * np.eye(6), np.zeros(6)\n"
    after = "\nprint(repr(result.ledger))\nassert result.ledger.kept and sim_time_is_over\n"
    after = after.replace("sim_time_is_over", "len(result) == 10001")
    done = subprocess.run([sys.executable, "-c", before + code.group(1) + after], cwd=SOURCE, capture_output=True, text=True,
                          env={**os.environ, "MPLBACKEND": "Agg", "BROWSER": f"{sys.executable} {tmp_path / 'browser.py'} %s"})
    assert done.returncode == 0, done.stderr
    assert "worst relative error" in done.stdout and "kept" in done.stdout
    # the browser got a page that is still there after the script has ended
    page = pathlib.Path((tmp_path / "seen").read_text().removeprefix("file://"))
    assert "<html" in page.read_text()[:1000].lower()
    page.unlink()
    page.parent.rmdir()


def test_view_shows_the_page_in_a_notebook(tmp_path: pathlib.Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    if not has_page():
        pytest.skip("the viewer has not been built")
    pendulum().save(tmp_path / "pendulum.yaml")
    book = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("import holonom as hn\nresult = hn.run(hn.Model.load('pendulum.yaml'), 0.1, 1e-2)\nresult"),
        nbformat.v4.new_code_cell("result.page('page.html')\nresult.view()"),
        nbformat.v4.new_code_cell("import matplotlib.pyplot as plt\nresult.plot('energy');")])
    nbclient.NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "<table>" in book.cells[0].outputs[-1]["data"]["text/html"]
    shown = book.cells[1].outputs[-1]["data"]["text/html"]
    source = re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', shown, re.S)
    assert source is not None
    page = xml.sax.saxutils.unescape(source.group(1), {"&quot;": '"'})
    assert page == (tmp_path / "page.html").read_text()
    assert "image/png" in book.cells[2].outputs[-1]["data"]


# ---- views, threads, memory ---------------------------------------------------------------------------


def test_closed_simulations_refuse_views_and_writing() -> None:
    with hn.Simulation(pendulum(), step=1e-3) as sim:
        q, efforts = sim.joint_coordinates, sim.joint_efforts
        sim.step(5)
        moved = q[0]
        efforts[:] = 1.0
        rows = efforts[:]
    assert moved != 0.0 and q[0] == moved
    with pytest.raises(ValueError, match="read-only"):
        efforts[:] = 2.0
    for name in ("joint_coordinates", "joint_rates", "joint_efforts", "positions", "orientations", "energy", "time", "ledger"):
        with pytest.raises(hn.Closed):
            getattr(sim, name)
    del sim, q, efforts
    gc.collect()
    assert rows[0] == 1.0  # its memory is kept by whoever looks at it


def test_eight_threads_gain_from_two_cores(capsys: pytest.CaptureFixture[str]) -> None:
    def chain() -> hn.Simulation:
        return hn.Simulation(hn.Model.load(SOURCE / "models/six-body-linkage.yaml"), step=1e-3)

    def timed(work: list[threading.Thread], together: bool) -> float:
        began = time.perf_counter()
        for thread in work:
            thread.start()
            if not together:
                thread.join()
        for thread in work:
            thread.join()
        return time.perf_counter() - began

    steps = 300
    best = []
    for _ in range(3):
        alone, together = [chain() for _ in range(8)], [chain() for _ in range(8)]
        one = timed([threading.Thread(target=s.step, args=(steps,)) for s in alone], False)
        many = timed([threading.Thread(target=s.step, args=(steps,)) for s in together], True)
        best.append(one / many)
        for a, b in zip(alone, together):
            assert np.array_equal(a.positions, b.positions)
    with capsys.disabled():  # not asserted: the machine may be busy. Measured on two free cores: 1.9
        print(f"\n  eight threads on {os.cpu_count()} cores: {max(best):.2f} times as fast as one after the other")


def resident() -> int:
    """Bytes of this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_models_leave_nothing_behind() -> None:
    source = pendulum().to_yaml()

    def once(i: int) -> None:
        model = pendulum() if i % 4 == 0 else hn.Model.parse(source)
        with hn.Simulation(model, step=1e-3) as sim:
            sim.joint_efforts[:] = 0.1
            sim.step()
            sim.positions.copy()
            if i % 4 == 0:
                sim.restore(sim.save())
        if i % 100 == 0:
            hn.run(model, 0.002, 1e-3, progress=False).ledger
            with pytest.raises(hn.HolonomError):
                hn.Model.parse("holonom: 2")

    for i in range(500):
        once(i)
    gc.collect()
    before = resident()
    for i in range(9000):
        once(i)
    gc.collect()
    assert resident() - before < 3e6  # bytes; measured 0 to 1e5; one model and its simulation have about 6e4
    tracemalloc.start()
    for i in range(100):
        once(i)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    for i in range(1000):
        once(i)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - kept
    tracemalloc.stop()
    assert grown < 20000  # bytes of Python; measured 2e3 (caches)


# ---- Ctrl-C -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 10**7])
def test_a_signal_stops_a_run_and_keeps_it(tmp_path: pathlib.Path, every: int) -> None:
    pendulum().save(tmp_path / "pendulum.yaml")
    code = (f"import holonom as hn, warnings; warnings.simplefilter('ignore'); print('begin', flush=True)\n"
            f"result = hn.run(hn.Model.load('pendulum.yaml'), 1e7, 1e-3, every={every}, output='out.h5')\n"
            f"print(len(result), result.complete, result.ledger.kept)")
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begin\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=20)
    count, complete, kept = said.split()
    assert child.returncode == 0 and complete == kept == "True" and int(count) >= 1
    assert len(hn.Result.open(tmp_path / "out.h5")) == int(count)


def test_a_signal_stops_steps(tmp_path: pathlib.Path) -> None:
    pendulum().save(tmp_path / "pendulum.yaml")
    code = ("import holonom as hn\nsim = hn.Simulation(hn.Model.load('pendulum.yaml'), step=1e-3)\nprint('begin', flush=True)\n"
            "try:\n    sim.step(10**12)\nexcept KeyboardInterrupt:\n    n = sim.step_count\n    sim.step(3)\n"
            "    print(n > 100, sim.step_count - n)")
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begin\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=20)[0].split() == ["True", "3"]


# ---- one vocabulary -----------------------------------------------------------------------------------

# words of model files that are none of Python's, or say what the method says
RENAMED = {"from": "start", "vector": "vector_", "bodies": "a"}
NOT_OFFERED = {"frame", "table", "pulse", "spline", "damper"}  # model.joint(), factor and model.drive() take them


def kinds(group: str) -> dict[str, set[str]]:
    """Kinds of a group of the model format with their words."""
    return {kind: set(about.get("properties", {})) for kind, about in SCHEMA["$defs"][group]["properties"].items()}


@pytest.mark.parametrize("group", ["joint", "load", "drive", "coupling"])
def test_builders_have_the_words_of_model_files(group: str) -> None:
    for kind, words in kinds(group).items():
        if group == "drive" and kind == "spring":
            continue  # model.drive("spring", ...): model.spring is the load
        method = getattr(hn.Model, kind, None)
        if method is None:  # a new one: model.joint(kind, ...), model.drive(kind, ...), model.coupling(kind, ...) take it
            assert group in ("joint", "drive", "coupling"), kind
            continue
        offered = set(inspect.signature(method).parameters) - {"self", "name", "b"}
        expected = {RENAMED.get(word, word) for word in words - NOT_OFFERED}
        expected -= {"axis"} if kind == "planar" else set()
        expected -= {"coordinates"} if group in ("joint", "load") else set()  # model.joint(coordinates="body", ...)
        # a place on the second body of its own is `at: {a: ..., b: ...}` in files
        assert offered - {"to"} == expected - {"to"}, kind


def test_bodies_and_beams_have_the_words_of_model_files() -> None:
    words = set(inspect.signature(hn.Model.body).parameters) - {"self", "name"}
    assert words <= set(SCHEMA["$defs"]["body"]["properties"])
    offered = set(inspect.signature(hn.Model.beam).parameters) - {"self", "name"}
    assert offered == {RENAMED.get(word, word) for word in SCHEMA["$defs"]["beam"]["properties"]}
    offered = set(inspect.signature(hn.Model.set_run).parameters) - {"self"}
    assert offered == set(SCHEMA["properties"]["run"]["properties"])


def names_of_settings() -> set[str]:
    """Members of the definition in C, with those of the options of its schemes."""
    names = set()
    for name, member in ffi.typeof("hn_simulation_def").fields:
        names |= {inner for inner, _ in member.type.fields} if member.type.kind == "struct" else {name}
    return names - {"size", "reserved"}


def test_names_are_those_of_the_c_api_and_of_model_files() -> None:
    run = SCHEMA["properties"]["run"]["properties"]
    assert hn.schemes() == run["scheme"]["enum"]
    assert [ffi.string(lib.hn_reduction_name(i)).decode() for i in range(lib.HN_REDUCTION_COUNT)] == run["reduction"]["enum"]
    joints = {ffi.string(lib.hn_joint_kind_name(i)).decode() for i in range(lib.HN_JOINT_KIND_COUNT)}
    assert joints <= set(kinds("joint"))
    drives = {ffi.string(lib.hn_drive_kind_name(i)).decode() for i in range(lib.HN_DRIVE_KIND_COUNT)}
    assert drives <= set(kinds("drive"))
    couplings = {ffi.string(lib.hn_coupling_kind_name(i)).decode() for i in range(lib.HN_COUPLING_KIND_COUNT)}
    assert couplings - {"screw"} <= set(kinds("coupling"))  # files have it as a joint
    assert "screw" in kinds("joint")
    # every status has its exception, and says so
    header = (SOURCE / "include/holonom/base.h").read_text()
    told = " ".join(c.__doc__ or "" for c in vars(hn).values() if isinstance(c, type) and issubclass(c, Exception))
    for status in re.findall(r"X\((HN_\w+),", header):
        assert status in ("HN_OK", "HN_OUT_OF_MEMORY") or status in told, status
    # settings of a simulation: those of the definition in C, all settable from Python
    assert set(hn.settings()) == names_of_settings()


def test_defaults_are_those_of_the_c_api() -> None:
    def default(method: object, word: str) -> object:
        return inspect.signature(method).parameters[word].default  # type: ignore[arg-type]

    gravity = lib.hn_model_def_default().gravity
    assert default(hn.Model.__init__, "gravity") == (gravity.x, gravity.y, gravity.z)
    spring, torsion = lib.hn_spring_def_default(), lib.hn_torsion_spring_def_default()
    for word in ("stiffness", "damping"):
        assert default(hn.Model.spring, word) == getattr(spring, word)
        assert default(hn.Model.torsion_spring, word) == getattr(torsion, word)
    assert default(hn.Model.torsion_spring, "rest_angle") == torsion.rest_angle
    assert spring.rest_length < 0.0 and default(hn.Model.spring, "rest_length") is None  # the length at the start
    assert default(hn.Model.beam, "elements") == lib.hn_beam_def_default().element_count
    assert default(hn.Simulation.modes, "count") == lib.hn_modes_def_default().count
    # what Python leaves out is what C takes
    with hn.Simulation(pendulum(), step=1e-3) as sim, hn.Simulation(pendulum(), step=1e-3, scheme="energy-momentum",
                                                                    reduction="reduced", ledger=True) as same:
        sim.step(10)
        same.step(10)
        assert np.array_equal(sim.positions, same.positions)
        assert sim.scheme == ffi.string(lib.hn_scheme_name(lib.hn_simulation_def_default().scheme)).decode()


def test_docstrings_give_units() -> None:
    for owner in (hn.Model, hn.Simulation, hn.Result):
        for name, member in vars(owner).items():
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                documented = inspect.getdoc(member) or name in ("name", "joints", "beams", "scheme", "model", "step_count",
                                                                "bodies", "complete")
                assert documented, f"{owner.__name__}.{name}"


# ---- builders -----------------------------------------------------------------------------------------


def test_every_builder_gives_what_the_same_file_gives(tmp_path: pathlib.Path) -> None:
    model = hn.Model("all of it", gravity=(0, 0, -1.6))
    length = model.parameter("length", 0.4)
    names = [model.body(f"b{i}", shape={"box": {"size": [0.2, 0.1, 0.1]}}, density=500, position=(length, f"{i} * 0.5", 0))
             for i in range(8)]
    left = model.body("left", shape={"cylinder": {"radius": 0.1}}, mass=2, position={"between": [(0, 9, 0), (0, 9, 1)]},
                      orientation=None)
    model.revolute("ground", names[0], at=(0, 0, 0), axis="y")
    model.prismatic("ground", names[1], at=(0, 0.5, 0), axis=(1, 0, 1), name="rail")
    model.cylindrical("ground", names[2], at=(0, 1, 0), axis="x", name="sleeve")
    model.planar("ground", names[3], at=(0, 1.5, 0), normal="z", direction="x", name="table")
    model.spherical("ground", names[4], at=(0, 2, 0))
    model.universal("ground", names[5], at=(0, 2.5, 0), axes=("y", "z"), name="cross")
    model.fixed(names[5], names[6])
    model.free("ground", names[7], name="loose")
    model.distance("ground", left, start=(0, 8, 0), to=(0, 9, 0))
    mass = model.point_mass("point", mass=0.1, position=(0, -3, 0), plane_normal="x")
    model.distance("ground", mass, start=(0, -4, 0), to=(0, -3, 0), name="string")
    rod = model.beam("rod", start=(0, -2, 0), to=(1, -2, 0), elements=4, section={"circle": {"radius": 0.01}},
                     material={"young": 2e9, "density": 1000}, clamped="start")
    model.force(names[1], (1, 0, 0), factor={"step": {"start": 0, "end": 0.05}, "scale": 2})
    model.force(rod.tip, (0, 0, 0.1), body_fixed=True)
    model.torque(names[4], (0, 0, 0.1), factor="sin(20*t)")
    model.spring(names[7], "ground", start=(0.4, 3.5, 0.05), to=(0.4, 3.5, 1), stiffness=20, damping=0.1, rest_length="0.5")
    model.torsion_spring("joint1", stiffness=3, damping=0.01)
    model.bushing(names[7], "ground", at=(0.4, 3.5, 0), stiffness=(9, 8, 7, 0.6, 0.5, 0.4), damping=(0, 0, 0, 0.1, 0, 0))
    model.line_load(rod, (0, 0, -1))
    model.effort("rail", "2*t")
    model.servo("joint1", 0.2, proportional=20, derivative=1)
    model.motor("sleeve", coordinate="angle", stall=0.1, no_load=50, armature=1e-3)
    model.stop("cross", coordinate="angle_a", stiffness=100, upper=0.01)
    model.drive("spring", "table", coordinate="displacement_1", stiffness=50, rest=0.01)
    moved = model.motion("cross", "0.1*t", coordinate="angle_b")
    model.start(names[7], velocity=(0, 1, 0), angular_velocity=(0, 0, 3))
    model.start("sleeve", rates=[0.1, 2])
    model.set_run(step=1e-3, end=0.1)
    model.save(tmp_path / "all.yaml")
    one, two = hn.run(model, progress=False), hn.run(hn.Model.load(tmp_path / "all.yaml"), progress=False)
    for name in one.series:
        assert np.array_equal(one[name], two[name]), name
    assert one.ledger.kept, one.ledger
    assert one.model.to_yaml() == model.to_yaml()  # results of built models hold them
    assert one["drives/" + moved.name + "/coordinate"][-1] == pytest.approx(0.01, abs=1e-12)
    assert one["bodies/left/position/z"][0] == 0.5
    heavier = model.with_parameters(length=0.6)
    assert heavier.bodies[0].position[0] == 0.6 and model.bodies[0].position[0] == 0.4
    assert names[0].mass == pytest.approx(500 * 0.2 * 0.1 * 0.1) and rod.length == pytest.approx(1.0)
    for thing in (model, names[0], hn.ground, rod, moved, model.joints[0], one, hn.Simulation(model)):
        assert "<" in thing._repr_html_() and len(repr(thing)) < 120


def test_couplings_and_starts_by_coordinates() -> None:
    model = hn.Model("gears", gravity=(0, 0, 0))
    for i in range(3):
        model.body(f"w{i}", mass=1, inertia=(1, 1, 0.1 * (i + 1)), position=(i, 0, 0))
        model.revolute("ground", f"w{i}", at=(i, 0, 0), axis="z", name=f"a{i}")
    slide = model.body("slide", mass=2, inertia=(1, 1, 1), position=(0, 5, 0))
    model.prismatic("ground", slide, at=(0, 5, 0), axis="x", name="rail")
    mesh = model.gear(["a0", "a1"], teeth=(20, 40))
    model.belt(["a1", "a2"], radii=(0.1, 0.3))
    model.rack(["a2", "rail"], radius=0.05)
    model.start("a0", rates=6.0)
    with hn.Simulation(model, step=1e-3) as sim:
        sim.step(100)
        assert np.allclose(sim.joint_rates, [6, -3, -1, -0.05], atol=1e-9)
        assert abs(sim.coupling_state(mesh)["gap"]) < 1e-12 and sim.structure["degrees_of_freedom"] == 1
    swung = pendulum()
    swung.start("hinge", coordinates="30 deg", rates=1.0)
    with hn.Simulation(swung, step=1e-3) as sim:
        assert sim.joint_coordinates[0] == pytest.approx(np.pi / 6, abs=1e-12)
        assert np.allclose(sim.positions[0], [np.cos(np.pi / 6), 0, -0.5], atol=1e-12)


def test_bodies_without_a_place_are_placed_by_their_joints() -> None:
    model = hn.Model("chain")
    for name in "abc":
        model.body(name, shape={"box": {"size": [1, 0.1, 0.1]}}, mass=1)
    for first, second in (("b", "c"), ("a", "b"), ("ground", "a")):  # from the far end
        at = {"a": [0, 0, 0] if first == "ground" else [0.5, 0, 0], "b": [-0.5, 0, 0]}
        model.joint("revolute", first, second, at=at, axis="y", coordinates="body", name=f"{first}-{second}")
    model.start("b-c", coordinates=0.2, rates=1)
    with hn.Simulation(model, step=1e-3) as sim:
        assert np.allclose(sim.positions[:, 0], [0.5, 1.5, 2 + 0.5 * np.cos(0.2)], atol=1e-12)
        assert np.allclose(sim.joint_coordinates, [0.2, 0, 0], atol=1e-12)
    lost = hn.Model("lost")
    lost.body("a", shape={"box": {"size": [1, 1, 1]}}, mass=1)
    lost.body("b", shape={"box": {"size": [1, 1, 1]}}, mass=1)
    lost.joint("revolute", "a", "b", at={"a": [0.5, 0, 0], "b": [-0.5, 0, 0]}, axis="y", coordinates="body")
    with pytest.raises(hn.InvalidModel, match="no joint places it"):
        hn.Simulation(lost, step=1e-3)


def test_groups_without_a_method_are_added_as_files_have_them() -> None:
    model = pendulum()
    model.add("outputs", "tip", {"position": {"body": "bob", "point": [0.5, 0, 0]}})
    model.add("joints", "loose", {"free": {"bodies": ["ground", "bob"]}})
    assert hn.run(model, 0.01, 1e-3)["outputs/tip"][0] == pytest.approx([1.5, 0, 0])
    for wrong in ({"position": {"body": "bub"}}, {"place": {"body": "bob"}}):
        with pytest.raises(ValueError, match="bub|place"):
            model.add("outputs", "other", wrong)
    assert "other" not in model.to_yaml()


def test_mistakes_are_answered_at_the_call() -> None:
    model = pendulum()
    for call, words in ((lambda: model.body("x", mass=-1, inertia=(1, 1, 1)), "body 'x': mass is -1"),
                        (lambda: model.revolute("ground", "bub"), "no body 'bub'.*did you mean 'bob'"),
                        (lambda: model.servo("hinges", 1, proportional=1), "no joint 'hinges'.*did you mean 'hinge'"),
                        (lambda: model.body("bob", mass=1, inertia=(1, 1, 1)), "taken"),
                        (lambda: model.body("y", shape={"bax": {}}, mass=1), "did you mean 'box'"),
                        (lambda: model.start("hinge", rates=[1, 2]), "hinge"),
                        (lambda: model.set_run(scheme="energy"), "energy"),
                        (lambda: model.motion("hinge", "sin("), "drive1")):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert isinstance(caught.value, hn.HolonomError)
    assert repr(model) == "<model 'pendulum': 1 bodies, 1 joints, 0 loads>"  # nothing of it has stayed
    with pytest.raises(hn.FileFormat) as place:
        hn.Model.parse("holonom: 1\nbodies: {a: {mas: 1}}", "door.yaml")
    assert (place.value.file, place.value.line, place.value.column) == ("door.yaml", 2, 14)


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(RuntimeWarning, match="shoulder") as seen:
        hn.Model.load(SOURCE / "models/two-link-arm.urdf")
    assert seen[0].filename == __file__


def test_questions_to_the_library() -> None:
    with hn.Simulation(hn.Model.load(SOURCE / "models/six-body-linkage.yaml"), step=1e-3) as sim:
        assert sim.structure["degrees_of_freedom"] == 1 and sim.structure["loop_count"] == 1
        found = sim.redundancy()
        assert found["redundant_count"] == 1 and not found["unique"]["r1"]
        verdict = sim.reaction_verdict("r1")
        assert verdict["shared_count"] == 1 and verdict["force_unique"].shape == (3, 3) and verdict["axes"][2].shape == (3,)
        sim.step()
        assert np.array_equal(sim.joint_state("r1")["reaction_force"], sim.view("joints/reaction_force")[[j.name for j in sim.model.joints].index("r1")])
        assert sim.joint_state("r1")["reaction_valid"] and sim.statistics["step_count"] == 1
    model = pendulum()
    with hn.Simulation(model, step=1e-3) as sim:
        assert sim.find_equilibrium(relax=True)["unstable_count"] == 0
        assert np.allclose(sim.positions[0], [0, 0, -1], atol=1e-6)
        (mode,) = sim.modes()
        # a compound pendulum: m g l / (J + m l^2)
        assert mode.frequency == pytest.approx(np.sqrt(9.81 / 1.01) / (2 * np.pi), rel=1e-9) and mode.body == "bob"
    with pytest.raises(hn.InvalidArgument, match="load_step"):
        hn.Simulation(model, step=1e-3).find_equilibrium(load_stops=3)


def test_linear_systems_and_prescribed_motions() -> None:
    with hn.Simulation(pendulum(), step=1e-3) as sim:  # level, about y: the angle grows as the bob falls
        about = sim.linearise()
        inertia = 0.01 + 1.0
        assert about.A[0] == pytest.approx([0, 1]) and about.A[1] == pytest.approx([0, 0], abs=1e-9)
        assert about.B[1, 0] == pytest.approx(1 / inertia) and about.derivative[1] == pytest.approx(9.81 / inertia)
        assert about.states == {"hinge/angle": "rad", "hinge/angle/rate": "rad/s"}
        sim.find_equilibrium(relax=True)
        assert sorted(sim.linearise().eigenvalues.imag) == pytest.approx([-np.sqrt(9.81 / inertia), np.sqrt(9.81 / inertia)])
    model = pendulum()
    model.motion("hinge", "0.5*t^2", name="motor")
    with hn.Simulation(model, step=1e-2) as sim:
        sim.follow(100)
        # what it takes: inertia times acceleration against gravity
        expected = 1.01 * 1.0 - 9.81 * np.cos(0.5)
        assert sim.drive_state("motor")["effort"] == pytest.approx(expected, rel=1e-9)
        assert sim.joint_coordinates[0] == pytest.approx(0.5, abs=1e-12)


# ---- cost ---------------------------------------------------------------------------------------------


def test_a_step_from_python_costs_little_more_than_in_c(capsys: pytest.CaptureFixture[str]) -> None:
    def least(call: object, count: int) -> float:
        times = []
        for _ in range(40):
            began = time.perf_counter()
            call()  # type: ignore[operator]
            times.append((time.perf_counter() - began) / count)
        return min(times)

    with hn.Simulation(pendulum(), step=1e-4) as sim:
        sim.joint_coordinates, sim.joint_rates, sim.joint_efforts
        count = 500
        in_c = least(lambda: lib.hn_simulation_step(sim._handle, count), count)
        step = sim.step
        from_python = least(lambda: [step() for _ in range(count)], count)
    more = 1e6 * (from_python - in_c)
    with capsys.disabled():
        print(f"\n  a step: {1e6 * in_c:.2f} us in C, {more:.2f} us more from Python")
    assert more < 2.0  # us; measured 0.5, the least of forty, so that a busy machine counts little
