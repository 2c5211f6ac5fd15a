# SPDX-License-Identifier: MIT
"""The tasks: what a step costs, work for accuracy, long runs, beams; each gives rows."""

import concurrent.futures
import math
import os
import pathlib
import resource
import shutil
import sys
import time

import mechanisms
from programs import PYTHON

STEP = 1e-3  # s
SAME_START = 1e-9  # of the energies and momenta of the start, relative
CHECK_END = 0.05  # s, when places are compared with a converged solution
# places must then be near it, as parts of how far the bodies went: methods of order two and more, and of order one
ACCURATE, COARSE = 0.01, 0.1
ORDER_ONE = {"euler", "implicitfast", "step", "quickstep", "discrete"}
CONVERGED = ("holonom", "projected-rk/adaptive/impose_energy=false/order=8", 1e-12)

# engine, integrator: what a step costs. The first is what the others are compared with.
STEPPERS = [("holonom", "energy-momentum"), ("holonom", "variational"), ("holonom-0.1.0", "energy-momentum"),
            ("mujoco", "euler"), ("mujoco", "implicitfast"), ("mujoco", "rk4"), ("mujoco_debian", "euler"), ("mujoco_debian", "rk4"),
            ("pinocchio", "euler"), ("pinocchio", "rk4"), ("bullet", "euler"), ("bullet", "rk4"), ("dart", "euler"), ("dart", "rk4"),
            ("simbody", "euler"), ("simbody", "rkm"), ("ode", "step"), ("ode", "quickstep"), ("sundials", "erk4-fixed"),
            ("exudyn", "tree-rk44"), ("exudyn", "tree-trapezoidal"), ("exudyn", "bodies-trapezoidal"),
            ("drake", "euler"), ("drake", "rk3"), ("drake", "discrete"), ("rbdl", "")]
OWN = [("holonom", "energy-momentum"), ("holonom-0.1.0", "energy-momentum"), ("holonom", "energy-momentum/ledger"), ("holonom", "energy-momentum/records"),
       ("holonom", "energy-momentum/nullspace"), ("holonom", "energy-momentum/multipliers"), ("holonom", "variational"),
       ("holonom", "rattle"), ("holonom", "generalized-alpha"), ("holonom", "energy-decaying"), ("holonom", "ggl-energy-momentum"),
       ("holonom", "convected"), ("holonom", "projected-rk/fixed"), ("holonom", "projected-rk/fixed/order=8"),
       ("holonom", "ggl-variational"), ("holonom", "ggl-classical")]

GOALS = [1e-3, 1e-6, 1e-9]  # m
COUNTS = [round(4 * 2 ** (k / 2)) for k in range(31)]  # steps of a run, for integrators of fixed step
TOLERANCES = [10 ** (-k / 2) for k in range(3, 27)]
PRECISE = [("holonom", "energy-momentum", COUNTS), ("holonom", "energy-momentum/controlled", TOLERANCES),
           *[("holonom", f"{scheme}/order={order}", COUNTS) for scheme in ("ggl-energy-momentum", "rattle", "variational")
             for order in (4, 6, 8)],
           *[("holonom", f"projected-rk/adaptive{energy}/order={order}{planar}", TOLERANCES) for order in (5, 8)
             for energy in ("", "/impose_energy=false") for planar in ("", "/planar")],
           ("mujoco", "rk4", COUNTS), ("mujoco", "dop853", TOLERANCES), ("pinocchio", "rk4", COUNTS),
           ("pinocchio", "rkf78", TOLERANCES), ("pinocchio", "dop853", TOLERANCES), ("bullet", "rk4", COUNTS),
           ("bullet", "dop853", TOLERANCES), ("dart", "rk4", COUNTS), ("dart", "dop853", TOLERANCES), ("simbody", "rkm", COUNTS),
           ("simbody", "rkm-adaptive", TOLERANCES), ("simbody", "rkf", TOLERANCES), ("simbody", "cpodes", TOLERANCES),
           ("sundials", "erk4", TOLERANCES), ("sundials", "erk5", TOLERANCES), ("sundials", "erk8", TOLERANCES),
           ("sundials", "adams", TOLERANCES), ("exudyn", "tree-rk44", COUNTS), ("exudyn", "tree-dopri5", TOLERANCES),
           ("exudyn", "bodies-trapezoidal", COUNTS), ("drake", "rk3", COUNTS), ("drake", "rk5", TOLERANCES), ("rbdl", "", TOLERANCES)]
SLOW = 1.0  # s of processor time: a search goes no further beyond a run that takes this
LONG = [w for w in STEPPERS if w[1] not in ("implicitfast", "quickstep") and w[0] != "rbdl"]
LOOKS = 50  # at energy and joints in a long run


def same_start(report, reference):
    a, b = report["start"], reference["start"]
    scale = max(map(abs, b[:2])) or 1.0
    momentum = max(map(abs, b[2:])) or 1.0
    return all(abs(p - q) <= SAME_START * (scale if k < 2 else momentum) for k, (p, q) in enumerate(zip(a, b)))


def read_places(path):
    return [[float(word) for word in line.split()] for line in pathlib.Path(path).read_text().splitlines()]


def start_places(path):
    """Centres of mass in the text of a mechanism."""
    return [[float(word) for word in line.split()[9:12]] for line in path.read_text().splitlines() if line.startswith("body")]


def apart(a, b):
    return max(sum((p - q) ** 2 for p, q in zip(x, y)) ** 0.5 for x, y in zip(a, b, strict=True))


def row_of(task, case, bodies, engine, integrator, report, **more):
    row = {"task": task, "case": case, "bodies": bodies, "engine": engine, "integrator": integrator}
    if "why" in report:
        return {**row, "note": report["why"], **more}
    return {**row, "engine": report["engine"] + " " + report["version"], "ns": 1e9 * report["seconds_per_step"] / max(bodies, 1),
            "drift": report["drift"], "gap": report["gap"], "steps": report["steps"], "note": report["note"], **more}


class Tasks:
    def __init__(self, runner, short):
        self.runner, self.short, self.limit = runner, short, 6 if short else 20

    def say(self, what):
        print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)

    def converged(self, path, end, limit=60):
        """Holonom's projected-rk of order 8: not the method that is timed. {"why": ...} if there is none."""
        file = self.runner.folder / f"converged-{path.stem}"
        engine, integrator, tolerance = CONVERGED
        report = self.runner.run(engine, integrator, path, tolerance, end, 1e9, places=file, limit=limit)
        if "why" not in report:
            report["places"] = read_places(file)
        return report

    # ---- what a step costs ----------------------------------------------------------------------

    def once(self, who):
        """In the short form engines in Python, which start slowly, are checked and timed in one run."""
        return self.short and who[0] in PYTHON

    def check(self, path, who, reference):
        """Worst distance from the converged solution, and whether it is the same system."""
        file = self.runner.folder / "places"
        report = self.runner.run(*who, path, STEP, CHECK_END, 1e9, repeats=3 if self.once(who) else 1, places=file, limit=self.limit)
        if "why" in report or "why" in reference:
            return report, None, None
        gap, went = apart(read_places(file), reference["places"]), apart(reference["places"], start_places(path))
        return report, gap, same_start(report, reference) and gap < went * (COARSE if who[1] in ORDER_ONE else ACCURATE)

    def timed(self, path, steppers, best, end, repeats, budget):
        """Engines in turn; those in Python, which start slowly, repeat in one process."""
        for turn in range(repeats):
            for who in steppers:
                if "why" in best[who] or (who[0] in PYTHON and turn > 0) or self.once(who):
                    continue
                within = min(repeats, 3) if who[0] in PYTHON else 1
                report = self.runner.run(*who, path, STEP, end, budget / within, repeats=within, limit=self.limit)
                if "why" in report:
                    if "report" not in best[who]:
                        best[who] = {"why": report["why"]}
                elif "report" not in best[who] or report["seconds_per_step"] < best[who]["report"]["seconds_per_step"]:
                    best[who]["report"] = report

    def steps(self, cases, steppers, task="steps"):
        rows, late = [], {}
        for name, make in cases:
            path = self.runner.path(name, make)
            bodies = self.runner.known[name]
            reference = self.converged(path, CHECK_END)
            best, family = {}, name.rstrip("0123456789")
            for who in steppers:
                # forms of a model in Python differ; else making the model is what takes long
                form = (who[0], who[1].split("-")[0] if who[0] in PYTHON else "", family)
                before = late.get(form)
                report, gap, same = ({"why": before}, None, None) if before else self.check(path, who, reference)
                if "not ready" in report.get("why", ""):  # nor with another integrator, nor with more bodies
                    late[form] = f"not ready after {self.limit} s with {bodies} bodies"
                best[who] = {"why": report["why"]} if "why" in report else {"gap": gap, "same": same}
                if self.once(who) and "why" not in report:
                    best[who]["report"] = report
            large = bodies > 512
            end, repeats = (CHECK_END if large else 0.25), (2 if self.short else 3 if large else 5)
            self.timed(path, steppers, best, end, repeats, 0.2 if self.short else 0.5)
            base = best[steppers[0]].get("report")
            for who in steppers:
                found = best[who]
                row = row_of(task, name, bodies, *who, found if "why" in found else found["report"])
                if "why" not in found:
                    row["ratio"] = base["seconds_per_step"] / found["report"]["seconds_per_step"] if base else None
                    row["apart"], row["same"], row["who"] = found["gap"], found["same"], who
                rows.append(row)
            self.say(f"{task}: {name}")
        return rows

    # ---- work for accuracy ----------------------------------------------------------------------

    def search(self, path, who, grid, end, reference):
        """From coarse to fine until every goal is met: {goal: (seconds, gap, step, report)}, the least gap, the reason."""
        goals, found, least, why = GOALS[:2] if self.short else GOALS, {}, None, ""
        file, repeats = self.runner.folder / "places", 3 if who[0] in PYTHON or self.short else 5
        grid, failed = (grid[::2] if who[0] in PYTHON or self.short else grid), 0
        for number in grid:
            step = number if grid[0] < 1 else end / number
            report = self.runner.run(*who, path, step, end, 1e9, repeats=repeats, places=file, limit=20)
            if "why" in report:
                why = report["why"]
                failed += 1  # long steps may fail
                if report.get("cannot") or "not ready" in why or "left out" in why or (failed > 3 and who[0] != "holonom"):
                    break
                continue
            gap = apart(read_places(file), reference["places"])
            least = gap if least is None else min(least, gap)
            for goal in goals:
                if gap <= goal and (goal not in found or report["seconds"] < found[goal][0]):
                    found[goal] = (report["seconds"], gap, step, report)
            if all(goal in found for goal in goals) or report["seconds"] > SLOW:
                break
        return goals, found, least, why

    def precision(self, cases):
        rows = []
        for name, make, end in cases:
            path = self.runner.path(name, make)
            bodies, reference = self.runner.known[name], self.converged(path, end)
            if "why" in reference:
                rows.append(row_of("precision", name, bodies, "all", "", reference))
                continue
            for engine, integrator, grid in PRECISE:
                goals, found, least, why = self.search(path, (engine, integrator), grid, end, reference)
                for goal in goals:
                    if goal not in found:
                        rows.append(row_of("precision", name, bodies, engine, integrator,
                                           {"why": why if least is None else f"best {least:.1e} m"}, goal=goal))
                        continue
                    seconds, gap, step, report = found[goal]
                    rows.append(row_of("precision", name, bodies, engine, integrator, report, goal=goal, ms=1e3 * seconds, apart=gap,
                                       step=step, same=same_start(report, reference)))
            self.say(f"precision: {name}")
        for row in rows:
            own = [r["ms"] for r in rows if r["case"] == row["case"] and r.get("goal") == row.get("goal") and "ms" in r
                   and r["engine"].startswith("Holonom")]
            if "ms" in row and own:
                row["ratio"] = min(own) / row["ms"]
        return rows

    # ---- long runs: nothing is timed, so both processors are used ------------------------------

    def side_by_side(self, work):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(lambda one: one(), work))

    def long_run(self, task, name, path, who, steps, budget, reference=None):
        bodies, own = self.runner.known[name], who[0] == "holonom"
        file = self.runner.folder / f"places-{task}-{name}-{who[0]}-{who[1].replace('/', '-')}"
        report = self.runner.run(*who, path, STEP, steps * STEP, 1e9 if own else budget, places=file, looks=LOOKS, limit=budget * 2.5)
        row = row_of(task, name, bodies, *who, report)
        row.pop("ns", None)
        if "why" not in report:
            asked = "" if report["steps"] >= steps else f"stopped after {budget:g} s"
            row["note"] = "; ".join(word for word in (asked, report["note"]) if word)
            if reference and "places" in reference and report["steps"] >= steps:
                row["apart"] = apart(read_places(file), reference["places"])
        file.unlink(missing_ok=True)
        return row

    def drift(self, cases):
        few, budget = (20000, 2.0) if self.short else (1000000, 60.0)
        work = []
        for name, make in cases:
            path = self.runner.path(name, make)
            for who in LONG:
                steps = 10 * few if who[0] == "holonom" else few
                work.append(lambda name=name, path=path, who=who, steps=steps: self.long_run("drift", name, path, who, steps, budget))
        rows = self.side_by_side(work)
        self.say("drift")
        return rows

    def top(self):
        """A hundred seconds of the heavy top, six thousand radians: where its centre is then."""
        name, end = "top-100s", 10.0 if self.short else 100.0
        path = self.runner.path(name, mechanisms.top)
        reference = self.converged(path, end)
        own = [("holonom", f"{scheme}/order={order}") for scheme in ("ggl-energy-momentum", "rattle") for order in (4, 6)]
        rows = self.side_by_side([lambda who=who: self.long_run("top", name, path, who, round(end / STEP), 60.0, reference)
                                  for who in LONG[:2] + own + LONG[2:]])
        self.say(f"top for {end:g} s")
        return rows

    # ---- instructions beside times --------------------------------------------------------------

    def count(self, rows, least=3, most=64):
        """Writes them into rows of small systems; two counts at a time."""
        if shutil.which("valgrind") is None:
            return
        chosen = [row for row in rows if "who" in row and least <= row["bodies"] <= most]

        def one(row):
            path = self.runner.folder / "mechanisms" / f"{row['case']}.txt"
            row["instructions"] = self.runner.instructions(*row["who"], path, STEP, 20, 60, row["bodies"])
        self.side_by_side([lambda row=row: one(row) for row in chosen])
        self.say("instructions")

    # ---- beams ----------------------------------------------------------------------------------

    def beams(self):
        rows, end = [], 0.5
        own = [("holonom", scheme, n) for n in (8, 16, 32) for scheme in ("energy-momentum", "energy-momentum/quadratic")]
        others = [("exudyn", method, n) for method in ("cable-trapezoidal", "beam-trapezoidal") for n in (8, 16, 32)]
        fine = self.runner.path("beam-128", lambda: mechanisms.beam(128))
        file = self.runner.folder / "places"
        reference = self.runner.run("holonom", "energy-momentum", fine, 2.5e-4, end, 1e9, places=file, limit=60)
        tip = read_places(file)[-1] if "why" not in reference else None
        for engine, integrator, elements in own + ([] if self.short else others):
            path = self.runner.path(f"beam-{elements}", lambda n=elements: mechanisms.beam(n))
            report = self.runner.run(engine, integrator, path, STEP, end, 1e9, repeats=3, places=file, limit=60)
            row = row_of("beams", f"beam-{elements}", elements, engine, integrator, report)
            if "why" not in report and tip:
                row["apart"] = apart([read_places(file)[-1]], [tip])
            rows.append(row)
        for engine in ("mujoco", "pinocchio", "bullet", "dart", "simbody", "ode", "sundials", "drake", "rbdl"):
            rows.append(row_of("beams", "beam-16", 16, engine, "", {"why": BEAMLESS[engine]}))
        for row in rows:
            own_row = next((r for r in rows if r["case"] == row["case"] and r["engine"].startswith("Holonom") and "ns" in r), None)
            if own_row and "ns" in row:
                row["ratio"] = own_row["ns"] / row["ns"]
        self.say("beams")
        return rows


BEAMLESS = {
    "mujoco": "no beams: its cables are chains of rigid bodies with elastic joints",
    "pinocchio": "rigid bodies alone", "bullet": "no beams: its soft bodies are springs between points",
    "dart": "no beams: its soft bodies are springs between points", "simbody": "rigid bodies alone", "ode": "rigid bodies alone",
    "sundials": "integrators alone", "drake": "no beams: solids of tetrahedra", "rbdl": "rigid bodies alone",
}


def series(short):
    sizes = [4, 64] if short else [1, 4, 16, 64, 256, 1024, 4096]
    kinds = [("chain-hinges", sizes, mechanisms.chain), ("chain-balls", sizes, lambda n: mechanisms.chain(n, "ball")),
             ("tree-hinges", [63] if short else [n - 1 if n > 1 else 1 for n in sizes], mechanisms.tree),
             ("chain-hinges", [1024] if short else [], mechanisms.chain)]
    return [(f"{word}-{n}", lambda n=n, make=make: make(n)) for word, numbers, make in kinds for n in numbers]


HUMANOID, FOUR_BAR = ("humanoid", mechanisms.humanoid), ("four-bar", lambda: mechanisms.ladder(1))
BRICARD, SIX = ("bricard", mechanisms.bricard), ("six-body", mechanisms.six_body)
CHAIN4, TOP = ("chain-hinges-4", lambda: mechanisms.chain(4)), ("top", mechanisms.top)


def processor_seconds():
    """Of all programs so far: on a machine that is busy with other things it is less than the time on the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_all(runner, short, only, seconds):
    """Every task in turn, each with a share of the time that is left; the rows."""
    t = Tasks(runner, short)
    singles = [HUMANOID, TOP, FOUR_BAR, BRICARD, ("ladder-10", lambda: mechanisms.ladder(10)), SIX]
    accurate = [(*CHAIN4, 1.0), (*HUMANOID, 0.5), (*FOUR_BAR, 1.0), (*BRICARD, 1.0), (*SIX, 0.2)]
    plan = [("steps", 0.42, lambda rows: t.steps(series(short) + singles, STEPPERS)),
            ("precision", 0.6, lambda rows: t.precision(accurate[:3] if short else accurate)),
            ("schemes", 0.2, lambda rows: t.steps([("chain-hinges-64", lambda: mechanisms.chain(64))], OWN, "schemes")),
            ("beams", 0.2, lambda rows: t.beams()),
            ("drift", 0.7, lambda rows: t.drift([CHAIN4, TOP])),
            ("top", 0.5, lambda rows: t.top()),
            ("counts", 1.0, lambda rows: t.count([] if short else rows) or [])]
    end, rows = time.monotonic() + seconds, []
    for word, share, work in plan:
        if only and only not in word:
            continue
        runner.deadline = time.monotonic() + share * (end - time.monotonic()) if not only else math.inf
        began, before = time.monotonic(), processor_seconds()
        rows += work(rows)
        print(f"{word}: {time.monotonic() - began:.0f} s, {processor_seconds() - before:.0f} s of processors", file=sys.stderr, flush=True)
    return rows
