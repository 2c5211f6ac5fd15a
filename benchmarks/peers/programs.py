# SPDX-License-Identifier: MIT
"""The peers' programs: building them, running one on a mechanism within bounds of time and memory."""

import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
CANNOT = 3  # code of a program whose engine does not do the task
MEMORY = 6 << 30  # bytes that a program may take
PYTHON = {"exudyn": "exudyn", "drake": "pydrake"}  # engines whose program is in Python, and their module
WHEELS = {"mujoco": "mujoco", "pinocchio": "pin", "exudyn": "exudyn", "drake": "drake"}
NOT_BUILT = "not installed or not built: make bench installs what there is"
REASONS = {"rbdl": "in neither Debian nor PyPI, and no source here",
           **dict.fromkeys(("bullet", "simbody", "ode", "dart", "sundials", "mujoco_debian"),
                           "Debian's package is not installed: scripts/setup --bench")}


def command(*words, log=None, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout)
    return done


def build_peers(folder, library, packages):
    """Configure and build what the machine has; a program that does not build is left out."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    done = command("cmake", "-S", HERE, "-B", folder, *generator, f"-DHOLONOM_BUILD={library}", f"-DPEER_PACKAGES={packages}",
                   "-DCMAKE_BUILD_TYPE=Release")
    if done.returncode != 0:
        sys.exit(done.stdout)
    done = command("cmake", "--build", folder, "--parallel", os.cpu_count() or 1, "--", *(["-k", "0"] if generator else ["-k"]),
                   log=folder / "build.log")
    if done.returncode != 0:
        print(f"not every program could be built, see {folder / 'build.log'}", file=sys.stderr)


def build_earlier(folder):
    """Version 0.1.0 from the history, if it is there: its last commit is the one before the header named the next version."""
    program = folder / "bin" / "peer_holonom-0.1.0"
    newest = max((HERE / name).stat().st_mtime for name in ("holonom_peer.c", "mechanism.h"))
    source = folder / "holonom-0.1.0"
    if program.exists() and program.stat().st_mtime >= newest:
        return None
    if not (source / "build" / "lib" / "libholonom.so").exists():
        found = command("git", "-C", TOP, "log", "--format=%H", "-S#define HN_VERSION_MINOR 2", "--", "include/holonom/base.h")
        commits = found.stdout.split() if found.returncode == 0 else []
        if not commits:
            return "the history of the repository is not there"
        source.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", str(TOP), "archive", commits[-1] + "~1"], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=False)
        for words in (["-S", source, "-B", source / "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DHOLONOM_BUILD_TESTS=OFF",
                       "-DHOLONOM_BUILD_BENCHMARKS=OFF", *(["-G", "Ninja"] if shutil.which("ninja") else [])],
                      ["--build", source / "build", "--target", "holonom"]):
            if command("cmake", *words, log=source / "build.log").returncode != 0:
                return f"it did not build, see {source / 'build.log'}"
    done = command("cc", "-O2", "-std=c17", f"-I{source / 'include'}", HERE / "holonom_peer.c", "-o", program,
                   f"-L{source / 'build' / 'lib'}", f"-Wl,-rpath,{source / 'build' / 'lib'}", "-lholonom", "-lm",
                   log=source / "peer.log")
    return None if done.returncode == 0 else f"its interface has not all that is asked for, see {source / 'peer.log'}"


def said_by(done):
    """The last line that says something, or the way it ended."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}" + (f": {lines[-1]}" if lines else "")
    return lines[-1] if lines else f"ended with code {done.returncode}"


class Runner:
    """Runs programs on mechanisms that are kept as files; nothing new is begun after its deadline."""

    def __init__(self, folder, reasons):
        self.folder, self.known = folder, {}
        self.reasons = {**REASONS, **reasons}
        self.python = folder / "venv" / "bin" / "python"
        self.packages = next((folder / "venv" / "lib").glob("python3*/site-packages"), None)
        self.deadline = math.inf
        (folder / "mechanisms").mkdir(parents=True, exist_ok=True)

    def path(self, name, make):
        path = self.folder / "mechanisms" / f"{name}.txt"
        if name not in self.known:
            path.write_text(make())
            self.known[name] = path.read_text().count("\nbody")
        return path

    def words(self, engine):
        """What to call, or None if it is not there."""
        if engine in PYTHON:
            there = self.packages and (self.packages / PYTHON[engine]).exists()
            return [self.python, HERE / f"{engine}_peer.py"] if there else None
        program = self.folder / "bin" / f"peer_{engine}"
        return [program] if program.exists() else None

    def reason(self, engine):
        pip = self.folder / "venv" / "reasons" / WHEELS.get(engine, "-")
        if pip.exists() and pip.read_text().strip():
            return "PyPI: " + pip.read_text().strip().splitlines()[-1][:140]
        return self.reasons.get(engine, NOT_BUILT)

    def late(self):
        return time.monotonic() > self.deadline

    def call(self, words, limit):
        environment = {**os.environ, "PEER_MEASURES": str(self.folder / "bin" / "libpeer_measures.so"), "OMP_NUM_THREADS": "1",
                       "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=limit, cwd=self.folder, env=environment,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))

    def run(self, engine, integrator, path, step, end, budget, repeats=1, places="-", looks=1, limit=30):
        """What the program reports, or {"why": the reason why there is nothing}."""
        program = self.words(engine)
        if program is None:
            return {"why": self.reason(engine)}
        if self.late():
            return {"why": "left out: the time of the run was used up"}
        try:
            done = self.call([*program, path, integrator, step, end, budget, repeats, places, looks], limit)
        except subprocess.TimeoutExpired:
            return {"why": f"not ready after {limit} s"}
        if done.returncode != 0 or "{" not in done.stdout:
            return {"why": said_by(done)[:160], "cannot": done.returncode == CANNOT}
        # MuJoCo says on the same stream that it gave up, and starts again by itself
        gave_up = re.search(r"unstable. Time = (\d+\.\d+)", done.stdout)
        if gave_up:
            return {"why": f"became unstable at t = {float(gave_up.group(1)):g} s"}
        report = json.loads(re.sub(r"-?\b(nan|inf)\b", "NaN", done.stdout[done.stdout.index("{"):].splitlines()[0]))
        if not all(math.isfinite(number) for number in report["end"]):
            return {"why": "ended in numbers that are not finite"}
        return report

    def instructions(self, engine, integrator, path, step, few, many, bodies):
        """Per body and step, counted by valgrind: `many` steps less `few`, so that making the model does not count."""
        program, totals = self.words(engine), []
        if program is None or engine in PYTHON or self.late():
            return None
        for steps in (few, many):
            words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *program, path, integrator, step, steps * step,
                     1e9, 1, "-", 1]
            try:
                done = self.call(words, 60)
            except subprocess.TimeoutExpired:
                return None
            found = re.search(r"Collected : (\d+)", done.stderr)
            if done.returncode != 0 or not found:
                return None
            totals.append(int(found[1]))
        return (totals[1] - totals[0]) / ((many - few) * bodies)
