#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Co-simulation units in other people's hands: FMPy's checks and masters, a controller unit, a machine without us."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import environment

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
environment.enter(TOOL, "fmpy", "numpy", "h5py")

import fmpy  # noqa: E402
import h5py  # noqa: E402
import numpy  # noqa: E402
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

if not (TOOL.parents[1] / "lib/holonom/fmu/unit.so").exists():
    environment.skip("the engine of units has not been built")
if "libasan" in subprocess.run(["ldd", str(TOOL)], capture_output=True, text=True).stdout:
    environment.skip("a sanitized library needs a sanitized program")

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"FAILED: {text}")


def run(*words, expect=0):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)
    if expect is not None and done.returncode != expect:
        raise SystemExit(f"holonom {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def export(model, version, *words, name=None):
    path = pathlib.Path(f"{name or model}-{version}.fmu").resolve()
    run("fmu", ROOT / "models" / f"{model}.yaml", "--fmi", version, "--output", path, *words)
    return path


def columns_of_run(model, steps, step, *words):
    """The same by the tool: values of every step by the names of columns."""
    result = pathlib.Path(f"{model}.h5")
    run("run", ROOT / "models" / f"{model}.yaml", "--steps", steps, "--step", repr(step), "--output", result,
        "--every", 1, "--quiet", *words)
    columns = {}
    with h5py.File(result) as file:
        columns["time"] = file["time"][:]
        for name in ["kinetic", "potential", "energy", "external_work"]:
            columns[f"ledger/{name}"] = file[f"ledger/{name}"][:]
        if "joints/coordinates" in file:
            joints = file["joints/names"].asstr()[:]
            labels = file["joints/coordinate_names"].asstr()[:]
            for k, (owner, label) in enumerate(zip(file["joints/coordinate_joint"][:], labels)):
                columns[f"joints/{joints[owner]}/coordinates/{label}"] = file["joints/coordinates"][:, k]
                columns[f"joints/{joints[owner]}/rates/{label}"] = file["joints/rates"][:, k]
        if "drives" in file:
            for k, drive in enumerate(file["drives/names"].asstr()[:]):
                for quantity in ["coordinate", "effort", "power", "work"]:
                    columns[f"drives/{drive}/{quantity}"] = file[f"drives/{quantity}"][:, k]
    return columns


def test_trajectories():
    """Three models (and one more) in FMPy's master: every output of every step is the tool's, bit for bit."""
    for model, step, steps, interval in [("robot-arm", 0.002, 250, 1), ("double-wishbone", 0.001, 100, 1),
                                         ("six-body-linkage", 0.01, 100, 2), ("pendulum", 0.01, 200, 5),
                                         ("engine", 0.0001, 60, 1)]:
        expected = columns_of_run(model, steps, step)
        for version in 2, 3:
            unit = export(model, version, "--binary-only", "--step", repr(step))
            problems = validate_fmu(str(unit))
            check(problems == [], f"{model}, FMI {version}: FMPy finds {problems}")
            got = fmpy.simulate_fmu(str(unit), stop_time=steps * step, output_interval=interval * step)
            check(len(got) == steps // interval + 1, f"{model}: {len(got)} records")
            names = [name for name in got.dtype.names if name != "time"]
            check(set(names) == set(expected) - {"time"}, f"{model}: outputs {set(names) ^ set(expected)}")
            for name in names:
                same = numpy.array_equal(got[name], expected[name][::interval])
                check(same, f"{model}, FMI {version}: {name} differs by "
                            f"{numpy.max(numpy.abs(got[name] - expected[name][::interval]))}")


def instance_of(unit, folder):
    folder = folder.resolve()
    description = fmpy.read_model_description(str(unit))
    fmpy.extract(str(unit), str(folder))
    kind = FMU3Slave if description.fmiVersion.startswith("3") else FMU2Slave
    slave = kind(guid=description.guid, unzipDirectory=str(folder), instanceName="one",
                 modelIdentifier=description.coSimulation.modelIdentifier)
    references = {v.name: v.valueReference for v in description.modelVariables}
    return slave, references


def start(slave):
    slave.instantiate()
    if isinstance(slave, FMU2Slave):
        slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()


def get(slave, references, *names):
    ask = [references[name] for name in names]
    return list(slave.getReal(ask) if isinstance(slave, FMU2Slave) else slave.getFloat64(ask))


def put(slave, reference, value):
    if isinstance(slave, FMU2Slave):
        slave.setReal([reference], [value])
    else:
        slave.setFloat64([reference], [value])


def test_rollback():
    """Back by a state, and by its bytes in another instance: the same bits again."""
    for version in 2, 3:
        unit = export("robot-arm", version, "--binary-only")
        slave, references = instance_of(unit, pathlib.Path(f"rollback-{version}"))
        other, _ = instance_of(unit, pathlib.Path(f"rollback-{version}-b"))
        watched = ["joints/a2/coordinates/angle", "joints/a5/rates/angle", "drives/m2/effort", "ledger/energy", "time"]
        state_of, restore, to_bytes, from_bytes = (
            ("getFMUstate", "setFMUstate", "serializeFMUstate", "deSerializeFMUstate") if version == 2 else
            ("getFMUState", "setFMUState", "serializeFMUState", "deserializeFMUState"))
        start(slave)
        time, h = 0.0, 0.01
        for _ in range(20):
            slave.doStep(currentCommunicationPoint=time, communicationStepSize=h)
            time += h
        before = get(slave, references, *watched)
        state = getattr(slave, state_of)()
        after = []
        for _ in range(2):
            put(slave, references["drives/m2/target"], 0.4)
            for k in range(30):
                slave.doStep(currentCommunicationPoint=time + k * h, communicationStepSize=h)
            after.append(get(slave, references, *watched))
            getattr(slave, restore)(state)
            check(get(slave, references, *watched) == before, f"FMI {version}: a state that was set has its outputs")
        check(after[0] == after[1], f"FMI {version}: after going back {after[0]} became {after[1]}")
        check(after[0][0] != before[0], "the arm does not move")
        start(other)
        getattr(other, restore)(getattr(other, from_bytes)(getattr(slave, to_bytes)(state)))
        put(other, references["drives/m2/target"], 0.4)
        for k in range(30):
            other.doStep(currentCommunicationPoint=time + k * h, communicationStepSize=h)
        check(get(other, references, *watched) == after[0], f"FMI {version}: a state as bytes in another instance")


SENSORS = """holonom: 1
bodies:
  arm: {shape: {box: {size: [0.1, 0.1]}}, between: [[0, 0, 0], [0.5, 0, 0]], mass: 2}
joints:
  hinge: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}
outputs:
  tip: {position: {body: arm, at: [0.5, 0, 0]}}
  bearing: {reaction_force: {joint: hinge}}
  swing: {expression: 'tip_x^2 + tip_z^2'}
run: {step: 0.001, end: 1}
"""


def test_outputs():
    """The outputs of the model file are outputs of the unit, bit for bit those of the tool, also after going back."""
    pathlib.Path("sensors.yaml").write_text(SENSORS)
    run("fmu", "sensors.yaml", "--output", "sensors.fmu", "--binary-only")
    check(validate_fmu("sensors.fmu") == [], "FMPy's checks of sensors.fmu")
    got = fmpy.simulate_fmu("sensors.fmu", stop_time=0.2, output_interval=0.001)
    run("run", "sensors.yaml", "--steps", 200, "--output", "sensors.h5", "--quiet")
    run("export", "sensors.h5", "--series", "outputs", "--output", "sensors.csv")
    expected = numpy.genfromtxt("sensors.csv", delimiter=",", names=True, deletechars="", replace_space="")
    names = [name for name in got.dtype.names if name.startswith("outputs/")]
    check(len(names) == 7 and set(names) == set(expected.dtype.names) - {"time"}, f"outputs: {names}")
    for name in names:
        check(numpy.array_equal(got[name], expected[name]), f"{name} differs from the tool's")
    check(abs(got["outputs/swing"][-1] - 0.25) < 1e-12 and got["outputs/tip/z"][-1] < -0.1, "the arm swings")


CONTROLLER = '''
from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class Controller(Fmi2Slave):
    """A proportional controller with damping."""

    def __init__(self, **words):
        super().__init__(**words)
        self.angle = self.rate = self.effort = 0.0
        for name in "angle", "rate":
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        self.register_variable(Real("effort", causality=Fmi2Causality.output))

    def do_step(self, time, interval):
        self.effort = -60.0 * (self.angle - 0.3) - 5.0 * self.rate
        return True
'''

ARM = """holonom: 1
parameters: {mass: 2}
bodies:
  arm: {shape: {box: {size: [0.1, 0.1]}}, between: [[0, 0, 0], [0.5, 0, 0]], mass: mass}
joints:
  hinge: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: z}}
run: {step: 0.001, end: 2}
"""


def test_controller():
    """A master with a controller unit that someone else's tool has made: it settles, and its work is in the ledger."""
    try:
        __import__("pythonfmu")
    except ImportError:
        print("without a controller unit: pythonfmu is not installed")
        return
    pathlib.Path("controller.py").write_text(CONTROLLER)
    subprocess.run([sys.executable, "-m", "pythonfmu", "build", "-f", "controller.py"], check=True,
                   capture_output=True)
    pathlib.Path("arm.yaml").write_text(ARM)
    run("fmu", "arm.yaml", "--inputs", "joints/hinge", "--output", "arm.fmu", "--binary-only")
    check(validate_fmu("arm.fmu") == [], "FMPy's checks of arm.fmu")
    plant, of_plant = instance_of("arm.fmu", pathlib.Path("plant"))
    brain, of_brain = instance_of("Controller.fmu", pathlib.Path("brain"))
    start(plant)
    start(brain)
    h = 0.002
    for k in range(1500):
        angle, rate = get(plant, of_plant, "joints/hinge/coordinates/angle", "joints/hinge/rates/angle")
        put(brain, of_brain["angle"], angle)
        put(brain, of_brain["rate"], rate)
        brain.doStep(currentCommunicationPoint=k * h, communicationStepSize=h)
        put(plant, of_plant["joints/hinge/effort/angle"], get(brain, of_brain, "effort")[0])
        plant.doStep(currentCommunicationPoint=k * h, communicationStepSize=h)
    angle, energy, work = get(plant, of_plant, "joints/hinge/coordinates/angle", "ledger/energy",
                              "ledger/external_work")
    check(abs(angle - 0.3) < 1e-6, f"the controller settles at {angle}")
    check(abs(energy - work) < 1e-13, f"the energy is the work of the controller: {energy - work}")  # measured 1e-16
    plant.terminate()
    plant.freeInstance()
    brain.terminate()
    brain.freeInstance()


def test_alone():
    """Nothing of ours is needed where a unit runs: its libraries stand beside it, and what is asked of the system is what
    every system has."""
    unit = export("robot-arm", 2, "--binary-only")
    folder = pathlib.Path("alone").resolve()
    fmpy.extract(str(unit), str(folder))
    binary = folder / "binaries/linux64/robot_arm.so"
    allowed = {"linux-vdso.so.1", "libm.so.6", "libc.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libdl.so.2",
               "librt.so.1", "libpthread.so.0"}
    for line in subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        place = words[2] if len(words) > 2 and words[1] == "=>" else words[0]
        inside = place.startswith(str(folder))
        check(inside or words[0] in allowed or "ld-linux" in words[0], f"the unit takes from the system: {line.strip()}")
    exported = subprocess.run(["nm", "-D", "--defined-only", str(binary)], capture_output=True, text=True).stdout
    other = [line.split()[-1] for line in exported.splitlines() if not line.split()[-1].startswith("fmi")]
    check(other == [], f"the unit exports {other[:5]}")


def test_headers():
    """Our declarations of the interface are those of the standard, whose headers come with FMPy."""
    headers = pathlib.Path(fmpy.__file__).parent / "c-code"
    compiler = shutil.which("cc")
    if compiler is None:
        print("without a comparison of headers: no compiler")
        return
    for version in 2, 3:
        done = subprocess.run([compiler, "-std=c17", "-fsyntax-only", "-include", f"fmi{version}Functions.h",
                               "-I", str(headers), "-I", str(ROOT / "include"), str(ROOT / f"fmu/fmi{version}.c")],
                              capture_output=True, text=True)
        check(done.returncode == 0, f"fmi{version}.c and the standard's header differ: {done.stderr[:500]}")


def test_faults():
    """Wrong words on the command line, wrong use of a unit."""
    arm = ROOT / "models/robot-arm.yaml"
    for words, text in [((arm, "--fmi", "1"), "expected 2 or 3"),
                        ((arm, "--inputs", "m9"), "drives/m9"),
                        ((arm, "--inputs", "balance"), "a spring cannot be told anything"),
                        ((arm, "--inputs", "joints/a9"), "no such drive or joint"),
                        ((arm, "--outputs", "bodies/positio"), "bodies/position"),
                        ((arm, "--step", "-1"), "--step"),
                        ((arm, "--scheme", "ratle"), "rattle")]:
        done = run("fmu", *words, "--output", "wrong.fmu", expect=2)
        check(text in done.stderr, f"{words[1:]}: {done.stderr}")
        check(not pathlib.Path("wrong.fmu").exists(), "a wrong command leaves nothing")
    check("cannot be opened" in run("fmu", "none.yaml", expect=3).stderr, "a model that is not there")
    done = run("fmu", arm, "--output", "/nowhere/at/all.fmu", "--binary-only", expect=5)
    check("/nowhere/at/all.fmu" in done.stderr, done.stderr)
    unit = export("robot-arm", 2, "--binary-only")
    messages = []
    try:
        fmpy.simulate_fmu(str(unit), stop_time=0.01, step_size=0.003, output_interval=0.003,
                          logger=lambda *words: messages.append(words[-1]))
        check(False, "a master whose interval is no multiple goes on")
    except Exception:
        check(any(b"whole number of steps" in text for text in messages), f"said: {messages}")
    got = fmpy.simulate_fmu(str(unit), stop_time=0.01, output_interval=0.005, start_values={"run/step": 0.001})
    check(len(got) == 3, "another step")
    first, second = (export("robot-arm", 2, name=name).read_bytes() for name in ("a", "b"))
    check(first == second, "the same model gives the same archive")


def test_sources():
    """The engine is built from the sources in the archive, and does the same."""
    if not os.environ.get("HOLONOM_INTEROP_ALL"):
        return
    unit = export("robot-arm", 3)
    folder = pathlib.Path("from-sources").resolve()
    fmpy.extract(str(unit), str(folder))
    subprocess.run(["cmake", "-S", str(folder / "sources"), "-B", str(folder / "built")], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder / "built"), "--parallel", str(os.cpu_count())], check=True,
                   stdout=subprocess.DEVNULL)
    rebuilt = pathlib.Path("rebuilt.fmu")
    with zipfile.ZipFile(unit) as old, zipfile.ZipFile(rebuilt, "w") as new:
        for name in old.namelist():
            if not name.startswith("binaries/"):
                new.writestr(name, old.read(name))
        new.write(folder / "built/unit.so", "binaries/x86_64-linux/robot_arm.so")
    expected, got = (fmpy.simulate_fmu(str(path), stop_time=0.2, output_interval=0.002) for path in (unit, rebuilt))
    worst = max(numpy.max(numpy.abs(expected[name] - got[name])) for name in got.dtype.names)
    check(worst == 0.0, f"built from its sources it differs by {worst}")


for name, function in list(globals().items()):
    if name.startswith("test_"):
        print(name)
        function()
sys.exit(1 if failures else 0)
