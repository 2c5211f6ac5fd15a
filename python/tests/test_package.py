# SPDX-License-Identifier: MIT
"""The installed package against the tool, the C headers, HDF5 and itself."""

import _thread
import contextlib
import gc
import inspect
import pathlib
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import holonom as hn
from holonom._native import ffi

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LINKAGE = SOURCE / "models/six-body-linkage.yaml"


def arm() -> hn.Model:
    """Two links on hinges about y, hanging."""
    model = hn.Model("arm")
    upper = model.body("upper", shape={"box": {"size": [0.1, 0.1, 0.5]}}, mass=1.0, position=(0, 0, -0.25))
    lower = model.body("lower", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.75))
    model.revolute(hn.ground, upper, at=(0, 0, 0), axis="y", name="shoulder")
    elbow = model.revolute(upper, lower, at=(0, 0, -0.5), axis="y", name="elbow")
    model.start(elbow, rates=1.5)
    model.force(lower, (0.5, 0, 0), name="push")
    model.spring(hn.ground, lower, start=(1, 0, 0), to=(0, 0, -1), stiffness=10.0, damping=0.1, name="rubber")
    model.torsion_spring(elbow, stiffness=2.0, name="coil")
    return model


def test_the_code_of_the_manual_runs_as_written() -> None:
    model = hn.Model.load(LINKAGE)
    result = hn.run(model, end=0.2, scheme="energy-momentum")
    assert result.ledger.kept and result.ledger.energy.error < 1e-12
    pytest.importorskip("matplotlib").use("Agg")
    axes = result.plot("energy", "joints/r1/angle")
    assert len(axes) == 2 and axes[1].get_ylabel() == "rad"
    model = arm()
    K, D, target = 60.0 * np.eye(2), 8.0 * np.eye(2), np.array([0.3, -0.2])
    with hn.Simulation(model, step=1e-3, scheme="rattle") as sim:  # its velocities fit the joints: good for feedback
        q, v = sim.joint_coordinates, sim.joint_rates
        while sim.time < 6.0:
            sim.joint_efforts[:] = -K @ (q - target) - D @ v
            sim.step()
        # at rest, where the efforts hold gravity and springs: nothing accelerates
        assert np.abs(v).max() < 1e-5
        assert np.abs(sim.accelerations()[1]).max() < 1e-3  # rad/s^2
        assert np.abs(q - target).max() < 0.2


def test_the_ledger_prints_as_the_tool_prints_it(tmp_path: pathlib.Path) -> None:
    done = hn.run_tool("run", str(LINKAGE), "--end", "0.1", "--output", str(tmp_path / "a.h5"))
    assert done.returncode == 0, done.stderr
    result = hn.run(hn.Model.load(LINKAGE), end=0.1)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    printed = str(result.ledger).splitlines()
    assert lines[-len(printed) - 1:-1] == printed or lines[-len(printed):] == printed, done.stdout


def test_numbers_are_those_of_the_tool_bit_for_bit(tmp_path: pathlib.Path) -> None:
    assert hn.run_tool("run", str(LINKAGE), "--end", "0.1", "--output", str(tmp_path / "a.h5")).returncode == 0
    ours, theirs = hn.run(hn.Model.load(LINKAGE), end=0.1), hn.Result.open(tmp_path / "a.h5")
    assert ours.series == theirs.series
    for name in ours.series:
        assert np.array_equal(ours[name], theirs[name]), name
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["bodies/position"][...], theirs["bodies/position"])


def test_one_vocabulary() -> None:
    assert "energy-momentum" in hn.schemes() and len(set(hn.schemes())) == len(hn.schemes())
    result = hn.run(arm(), end=0.01, step=1e-3)
    assert set(result.series) <= set(hn.fields())
    assert all(hn.fields()[name] == unit for name, unit in result.series.items())
    # words of the definitions in C, but for what a method says by itself
    for method, struct, but in ((hn.Model.body, "hn_body_def", {"name", "shape", "density"}),
                                (hn.Model.torsion_spring, "hn_torsion_spring_def", {"name"}),
                                (hn.Model.spring, "hn_spring_def", {"name", "a", "b", "start", "to"})):
        words = set(inspect.signature(method).parameters) - {"self"} - but
        assert words <= {name for name, _ in ffi.typeof(struct).fields}, method


def test_views_are_live_read_only_and_refused_after_the_end() -> None:
    sim = hn.Simulation(arm(), step=1e-3)
    position, before = sim.positions, sim.positions.copy()
    assert sim.positions is position
    sim.step(10)
    assert not np.array_equal(position, before)
    with pytest.raises(ValueError):
        position[0, 0] = 1.0
    last = position.copy()
    sim.close()
    for use in (lambda: sim.positions, lambda: sim.joint_efforts, lambda: sim.step(), lambda: sim.time, lambda: sim.save()):
        with pytest.raises(hn.Closed):
            use()
    gc.collect()
    assert np.array_equal(position, last)  # not dangling
    with pytest.raises(hn.InvalidArgument, match="bodies/position"):
        hn.Simulation(arm(), step=1e-3).view("bodies/positions")


def test_states_are_set_saved_and_pickled() -> None:
    model = arm()
    one, two = hn.Simulation(model, step=1e-3), hn.Simulation(pickle.loads(pickle.dumps(model)), step=1e-3)
    one.set_joints([0.4, -0.7], [1.0, 2.0])
    assert np.allclose(one.joint_coordinates, [0.4, -0.7], atol=1e-14)
    assert np.allclose(one.joint_rates, [1.0, 2.0], atol=1e-13)
    two.set_bodies(**one.state())
    assert np.allclose(two.joint_rates, [1.0, 2.0], atol=1e-12)
    saved = pickle.loads(pickle.dumps(one.save()))
    one.step(50)
    reached = one.joint_coordinates.copy()
    one.restore(saved)
    one.step(50)
    assert np.array_equal(one.joint_coordinates, reached)
    with pytest.raises(hn.InvalidArgument, match="step size"):
        hn.Simulation(model, step=2e-3).restore(saved)


def test_a_built_model_is_the_one_it_writes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "arm.yaml").write_text(arm().to_yaml())
    one, two = hn.run(arm(), end=0.2, step=1e-3), hn.run(hn.Model.load(tmp_path / "arm.yaml"), end=0.2, step=1e-3)
    assert np.allclose(one["bodies/position"], two["bodies/position"], rtol=0, atol=1e-12)
    assert one["external_work"][-1] == pytest.approx(two["external_work"][-1], abs=1e-12)
    assert hn.Model.load(LINKAGE).to_yaml() == LINKAGE.read_text()


def test_parameters_of_a_file_take_other_values() -> None:
    source = "holonom: 1\nparameters: {m: 1, half: m/2}\nbodies: {a: {point_mass: {mass: half}}}\n"
    models = [hn.Model.parse(source), hn.Model.parse(source, parameters={"m": 6.0}),
              hn.Model.parse(source, parameters={"half": "m + 1"})]
    momenta = []
    for model in models:
        with hn.Simulation(model, step=0.1) as sim:
            sim.step(10)
            momenta.append(sim.view("ledger/linear_momentum")[2])
    assert np.allclose(momenta, [-0.5 * 9.81, -3.0 * 9.81, -2.0 * 9.81])
    assert models[1].parameters == {"m": 6.0, "half": 3.0}
    with pytest.raises(hn.HolonomError, match="'n'"):
        hn.Model.parse(source, parameters={"n": 1.0})


def test_drives_are_told_what_to_do() -> None:
    model = arm()
    model.servo("elbow", 0.0, proportional=400, derivative=40, name="servo")
    with hn.Simulation(model, step=1e-3) as sim:
        assert np.isnan(sim.drive_commands[0])
        sim.drive_commands[0] = 0.5
        sim.step(2000)
        assert sim.drive_state("servo")["coordinate"] == sim.joint_coordinates[1]
        assert abs(sim.joint_coordinates[1] - 0.5) < 0.1  # against gravity and a coil


def test_failures_are_exceptions_with_the_librarys_words() -> None:
    with pytest.raises(hn.FileFormat, match=r"model.yaml:2:14: unknown key 'mas'.*did you mean 'mass'"):
        hn.Model.parse("holonom: 1\nbodies: {a: {mas: 1}}")
    with pytest.raises(hn.FileAccess) as caught:
        hn.Model.load("nowhere.yaml")
    assert caught.value.status == "HN_FILE_ACCESS" and isinstance(caught.value, OSError)
    with pytest.raises(hn.InvalidArgument, match="spectral_radius"):
        hn.Simulation(arm(), step=1e-3, spectral_radios=0.5)
    with pytest.raises(hn.InvalidModel):
        hn.Model().body("nothing", mass=-1.0, inertia=(1, 1, 1))


def test_ctrl_c_stops_and_keeps_what_is_there() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background shells have it ignored
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.warns(RuntimeWarning, match="stopped at t ="):
        result = hn.run(arm(), end=1e6, step=1e-3, progress=False)
    assert 10 < len(result) < 1e8 and result.complete
    assert result.ledger.energy.kept


def test_words_select_columns() -> None:
    result = hn.run(arm(), end=0.02, step=1e-3)
    for _ in range(50):  # the memory that says which columns was gone once
        assert np.array_equal(result["bodies/lower/position"], result["bodies/position"][:, 1])
        assert list(result.columns("joints/elbow")) == [n for n in result.columns("joints") if n.startswith("joints/elbow/")]
    assert result.unit("joints/elbow/angle") == "rad"


def test_tables() -> None:
    result = hn.run(arm(), end=0.05, step=1e-3)
    frame = pytest.importorskip("pandas") and result.to_pandas("energy", "joints")
    assert np.array_equal(frame["joints/elbow/coordinates/angle"].to_numpy(), result["joints/elbow/angle"])
    data = pytest.importorskip("xarray") and result.to_xarray()
    assert data["bodies_position"].dims == ("time", "body", "xyz")
    assert data["bodies_position"].attrs["unit"] == "m"
    assert list(data["joint_coordinate"].to_numpy()) == ["shoulder/angle", "elbow/angle"]
    assert np.array_equal(data["joints_rates"].sel(joint_coordinate="elbow/angle"), result["joints/elbow/rates/angle"])
    assert np.array_equal(data["joints_reaction_force"].sel(joint="elbow", xyz="z"), result["joints/elbow/reaction_force/z"])
    assert np.array_equal(data["bodies_position"].sel(body="lower").to_numpy(), result["bodies/position"][:, 1])


def test_threads_do_not_meet_in_one_simulation() -> None:
    """Without a word four threads stepped one state at once, and it was none that the model can have."""
    model = arm()
    expected, shared = hn.Simulation(model, step=1e-3), hn.Simulation(model, step=1e-3)
    done, refused = [], []

    def work() -> None:
        for _ in range(200):
            try:
                shared.step(10)
                done.append(10)
            except hn.Busy:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert shared.step_count == sum(done)
    expected.step(sum(done))
    assert np.array_equal(shared.positions, expected.positions)
    began = threading.Event()

    def long() -> None:
        began.set()
        with contextlib.suppress(hn.Cancelled):
            shared.step(10**9)

    thread = threading.Thread(target=long)
    thread.start()
    began.wait()
    time.sleep(0.05)
    for call in (shared.save, shared.reverse, shared.accelerations, lambda: shared.ledger, lambda: shared.set_joints([0, 0])):
        with pytest.raises(hn.Busy, match="another thread is at work"):
            call()
    assert shared.time > 0.0  # may be looked at
    while thread.is_alive():
        shared.cancel()
        thread.join(0.01)
    shared.save()


def test_ends_that_cannot_be_are_said() -> None:
    for end in (-1.0, 0.0, float("nan"), float("inf")):
        with pytest.raises(hn.InvalidArgument, match="end: .*expected a positive number of seconds"):
            hn.run(arm(), end=end, step=1e-3, progress=False)
    with pytest.warns(RuntimeWarning, match=r"the end 0.0104 s is no multiple of the step 0.001 s; the run ends at 0.01 s"):
        assert len(hn.run(arm(), end=0.0104, step=1e-3, progress=False)) == 11


def test_tables_of_a_model_with_outputs() -> None:
    """Also where bodies and outputs are called as series are."""
    model = hn.Model.from_dict({
        "holonom": 1, "bodies": {"position": {"point_mass": {"mass": 1}}},
        "outputs": {"place": {"position": {"body": "position"}}, "value": {"energy": "kinetic"}},
        "run": {"step": 1e-3, "end": 0.05}})
    result = hn.run(model, progress=False)
    frame = pytest.importorskip("pandas") and result.to_pandas()
    assert {"outputs/place/z", "outputs/value", "bodies/position/position/z", "ledger/energy", "step"} <= set(frame)
    assert np.array_equal(frame["outputs/place/z"].to_numpy(), frame["bodies/position/position/z"].to_numpy())
    assert frame.shape == (51, sum(int(np.prod(result[name].shape[1:], dtype=int)) for name in result.series) - 1)
    data = pytest.importorskip("xarray") and result.to_xarray()
    assert list(data["output"].to_numpy()) == ["place/x", "place/y", "place/z", "value"]
    assert np.array_equal(data["outputs_value"].sel(output="value"), result["ledger/kinetic"])


def test_eight_threads_step_eight_simulations_of_one_model() -> None:
    model = arm()
    expected = hn.Simulation(model, step=1e-3)
    expected.step(500)
    simulations = [hn.Simulation(model, step=1e-3) for _ in range(8)]
    threads = [threading.Thread(target=s.step, args=(500,)) for s in simulations]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for s in simulations:
        assert np.array_equal(s.positions, expected.positions)


def test_threads_write_read_and_drop_results() -> None:
    model, wrong = arm(), []
    expected = hn.run(model, 0.02, 1e-3, progress=False)["bodies/position"]

    def work() -> None:
        for _ in range(20):
            result = hn.run(model, 0.02, 1e-3, progress=False)
            if not np.array_equal(result["bodies/position"], expected):
                wrong.append(result)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_page_shows_a_result(tmp_path: pathlib.Path) -> None:
    result = hn.run(arm(), end=0.05, step=1e-3)
    try:
        page = result.page(tmp_path / "arm.html")
    except hn.FileAccess as error:
        if "template" not in str(error):
            raise
        pytest.skip("the viewer has not been built")
    assert page.stat().st_size > 10000


def test_representations_are_short() -> None:
    model = arm()
    for thing in (model, model.bodies[0], model.joints[0], hn.Simulation(model, step=1e-3), hn.run(model, 0.01, 1e-3)):
        assert 5 < len(repr(thing)) < 100 and "object at" not in repr(thing)
    assert "<table>" in hn.run(model, 0.01, 1e-3)._repr_html_()


def test_arrays_that_are_no_real_numbers_of_the_right_shape_are_refused() -> None:
    with hn.Simulation(arm(), step=1e-3) as sim:
        kept = sim.save()
        bad: list[object] = [np.zeros(2, complex), np.ones(2, bool), ["a", "b"], np.zeros((2, 1)), np.zeros((1, 2)), 0.5,
                             [[1.0], [2.0, 3.0]], [None, 1.0], [True, 1.0 + 0j], np.array([True, 1.0], object)]
        for value in bad:
            with pytest.raises(hn.InvalidArgument, match="coordinates: "):
                sim.set_joints(value)  # type: ignore[arg-type]
            with pytest.raises(hn.InvalidArgument, match="rates: "):
                sim.set_joints(rates=value)  # type: ignore[arg-type]
        with pytest.raises(hn.InvalidArgument, match="complex numbers; expected real numbers"):
            sim.joint_efforts = np.zeros(2, complex)
        with pytest.raises(hn.InvalidArgument, match=r"shape \(2, 1\)"):
            sim.joint_efforts = np.zeros((2, 1))
        for name, shape in (("position", (3, 2)), ("velocity", (2, 3, 1)), ("orientation", (9, 2)), ("position", (7,))):
            with pytest.raises(hn.InvalidArgument, match=f"{name}: "):
                sim.set_bodies(**{name: np.zeros(shape)})
        with pytest.raises(hn.InvalidArgument, match="velocity: complex"):
            sim.set_bodies(velocity=np.zeros((2, 3), complex))
        with pytest.raises(hn.InvalidArgument, match="there are 2 joint coordinates, not 3"):
            sim.set_joints(np.zeros(3))
        assert sim.save().data == kept.data
        # what numbers are: of any kind, order and size of memory
        good: list[object] = [[0, 1], (0.5, 1), np.arange(4, dtype=np.float32)[::2], np.array([0.25, 0.5], ">f8"),
                              np.array([1, 0.5], object), np.arange(2)]
        for value in good:
            sim.set_joints(value)  # type: ignore[arg-type]
            assert np.allclose(sim.joint_coordinates, np.asarray(value, dtype=float))
        sim.joint_efforts = 1
        assert sim.joint_efforts.tolist() == [1.0, 1.0]
        sim.set_bodies(**sim.state())
    with pytest.raises(hn.InvalidArgument, match="cannot stand in a model"):
        hn.Model("m").body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), position=np.zeros(3, complex))
    with pytest.raises(hn.InvalidArgument, match="samples of a parameter: complex"):
        hn.study(hn.Model.load(LINKAGE), {"mass": np.ones(2, complex)}, outputs={})
    with pytest.raises(hn.InvalidArgument, match="gravity: truth values"):
        hn.Model("m", gravity=np.ones(3, bool))


def test_more_steps_than_can_be_counted_are_refused_at_once() -> None:
    with hn.Simulation(arm(), step=1e-3) as sim:
        for count in (2**63, 2**70):
            with pytest.raises(hn.InvalidArgument, match="expected at most"):
                sim.step(count)
        with pytest.raises(OverflowError):
            sim.step(-2**70)
        with pytest.raises(TypeError):
            sim.step(17.5)  # type: ignore[arg-type]
        with pytest.raises(hn.InvalidArgument):
            sim.step(-1)
        assert sim.step_count == 0


WHEEL = """holonom: 1
bodies: {wheel: {mass: 1, inertia: [0.1, 0.1, 0.15]}}
start: {wheel: {angular_velocity: [0, 0, 300]}}
run: {step: 0.01, end: 0.2}
"""
MOVED = """holonom: 1
bodies: {rod: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, left: [0, 0, 0]}}
joints: {pin: {revolute: {bodies: [ground, rod], at: [0, 0, 0], axis: y}}}
start: {rod: {velocity: [0, 0, 1.001], angular_velocity: [0, -2, 0]}}
run: {step: 0.001, end: 0.01}
"""


def test_what_the_tool_warns_of_is_a_warning() -> None:
    # all was kept, without a word
    with pytest.warns(RuntimeWarning) as seen:
        assert hn.run(hn.Model.parse(WHEEL)).ledger.kept
    said = [str(w.message) for w in seen]
    assert len(said) == 2 and "too long for body wheel" in said[0] and "too long for the motion" in said[1]
    assert all(w.filename == __file__ for w in seen)
    with pytest.warns(RuntimeWarning, match="start velocities were changed by") as seen:
        hn.run(hn.Model.parse(MOVED))
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="start velocities"), hn.Simulation(hn.Model.parse(MOVED)) as sim:
        assert len(sim.cautions) == 1
    with pytest.raises(hn.Closed):
        sim.cautions


def test_promises_that_are_not_kept_are_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match="NOT KEPT"):
        result = hn.run(arm(), end=0.5, step=0.01, residual_tolerance=1e-3, increment_tolerance=1e-3)
    assert not result.ledger.kept


def test_nothing_is_read_of_a_result_that_was_closed() -> None:
    result = hn.run(arm(), end=0.1, step=0.01)
    result.close()
    with pytest.raises(hn.Closed):
        result.complete  # it read memory that was given back


def test_texts_do_not_end_at_a_zero_character(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "wheel.yaml"
    path.write_text(WHEEL)
    for call in (lambda: hn.Model.load(f"{path}\0.other"), lambda: hn.Result.open(f"{path}\0.h5"),
                 lambda: hn.Simulation(arm(), step=1e-3, scheme="rattle\0x"),
                 lambda: hn.Model.parse("holonom: 1\nparameters: {m: 1}\nbodies: {b: {point_mass: {mass: m}}}",
                                        parameters={"m": "2\0 + 1"})):
        with pytest.raises(ValueError, match="zero character"):
            call()  # the rest was cut off: another file, another number


def test_names_are_those_of_the_model_when_the_simulation_was_made() -> None:
    model = hn.Model()
    model.beam("rod", start=[0, 0, 0], to=[1, 0, 0], elements=4, section={"rectangle": [0.02, 0.02]},
               material={"young": 2e9, "poisson": 0.3, "density": 1000}, clamped="start")
    with hn.Simulation(model, step=1e-3) as sim:
        sim.step(50)
        worst, shape = sim.ledger.worst_body, sim.accelerations()[0].shape
        model.body("later", mass=1, inertia=[1, 1, 1], position=[3, 0, 0])
        assert sim.ledger.worst_body == worst  # it stands before the nodes of beams: names moved on by one
        assert sim.accelerations()[0].shape == shape
        assert sim.redundancy()["unique"]
        with pytest.raises(hn.InvalidArgument, match="no joint 'hinge'"):
            model.revolute("ground", "later", at=[3, 0, 0], name="hinge")
            sim.joint_state("hinge")


def test_bodies_and_joints_of_another_model_are_refused() -> None:
    model, other = hn.Model("one"), hn.Model("two")
    ours, theirs = (m.body("arm", mass=mass, inertia=[1, 1, 1], position=[1, 0, 0]) for m, mass in ((model, 1), (other, 99)))
    hinge, foreign = (m.revolute("ground", body, name="hinge") for m, body in ((model, ours), (other, theirs)))
    beam = other.beam("rod", start=[0, 0, 0], to=[1, 0, 0], section={"rectangle": [0.02, 0.02]},
                      material={"young": 2e9, "density": 1000})
    model.beam("rod", start=[0, 0, 0], to=[1, 0, 0], section={"rectangle": [0.02, 0.02]},
               material={"young": 2e9, "density": 1000})
    before = model.to_yaml()
    for call in (lambda: model.revolute("ground", theirs), lambda: model.joint("fixed", theirs, ours),
                 lambda: model.force(theirs, [1, 0, 0]), lambda: model.spring(ours, theirs, start=[0, 0, 0], to=[1, 0, 1]),
                 lambda: model.torsion_spring(foreign, stiffness=1), lambda: model.motor(foreign, stall=1, no_load=1),
                 lambda: model.gear([hinge, foreign], ratio=2), lambda: model.motion(body=theirs, z="t"),
                 lambda: model.start(theirs, velocity=[1, 0, 0]), lambda: model.start(foreign, rates=1),
                 lambda: model.fixed("ground", beam.tip), lambda: model.force(beam.tip, [1, 0, 0]),
                 lambda: model.add("loads", "f", {"force": {"body": theirs, "vector": [1, 0, 0]}})):
        with pytest.raises(hn.InvalidArgument, match="is of another model, 'two', and not of 'one'"):
            call()
    assert model.to_yaml() == before  # and nothing of it was taken
    model.force(ours, [1, 0, 0])
    with hn.Simulation(model, step=1e-3) as sim, pytest.raises(hn.InvalidArgument, match="of another model, 'two'"):
        sim.joint_state(foreign)
