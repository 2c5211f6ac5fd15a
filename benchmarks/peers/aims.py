# SPDX-License-Identifier: MIT
"""What we ask of ourselves, from the rows of a run: each aim with its bound, what was found, and whether that is reached."""

import re

EULER = ("MuJoCo", "Pinocchio", "Bullet")
EXACT = 1e-11  # energy drift below which a run counts as exact


def newest(rows, engine):
    """Of an engine in several versions the rows of the newest."""
    versions = {row["engine"] for row in rows if row["engine"].startswith(engine + " ")}
    key = max(versions, key=lambda v: [int(w) for w in re.findall(r"\d+", v)], default=None)
    return [row for row in rows if row["engine"] == key]


def one(rows, engine, integrator, case, key="ns"):
    found = [row[key] for row in newest(rows, engine) if row["integrator"] == integrator and row["case"] == case and row.get(key)]
    return found[0] if found else None


def earlier(rows, case):
    return next((row["ns"] for row in rows if row["engine"] == "Holonom 0.1.0" and row["case"] == case and row.get("ns")), None)


def aim(text, bound, pairs):
    """`pairs`: (what, number or None); the worst counts."""
    known = [(number, what) for what, number in pairs if number is not None]
    if not known:
        return []
    worst, what = max(known)
    return [{"aim": text, "bound": bound, "found": worst, "where": what, "reached": worst <= bound}]


def over(a, b):
    return a / b if a and b else None


def of_steps(rows):
    own = lambda case: one(rows, "Holonom", "energy-momentum", case)  # noqa: E731
    chains = ["chain-hinges", "chain-balls"]

    def against(cases):
        return [(f"{case}, {engine}", over(own(case), one(rows, engine, "euler", case))) for case in cases for engine in EULER]

    trees = sorted({row["case"] for row in rows if row["case"].startswith("tree") and row["bodies"] >= 15})
    loops = ["four-bar", "bricard", "ladder-10"]
    rk4 = [row for row in rows if row["integrator"] in ("rk4", "rkm", "tree-rk44") and not row["engine"].startswith("Holonom")]
    return (aim("a step on chains against the Euler steps of MuJoCo, Pinocchio and Bullet, N = 16, 64, 1024", 1.0,
                against([f"{word}-{n}" for word in chains for n in (16, 64, 1024)]))
            + aim("the same at N = 4", 1.2, against([f"{word}-4" for word in chains]))
            + aim("a step on chains against version 0.1.0, N = 16, 64, 1024", 0.65,
                  [(case, over(own(case), earlier(rows, case))) for case in [f"{word}-{n}" for word in chains for n in (16, 64, 1024)]])
            + aim("a step on trees against the newest MuJoCo's Euler step", 1.2,
                  [(case, over(own(case), one(rows, "MuJoCo", "euler", case))) for case in trees])
            + aim("a step on four-bar, Bricard and ladder against the cheapest RK4 step", 1.0,
                  [(f"{row['case']}, {row['engine']}", over(own(row["case"]), row.get("ns"))) for row in rk4 if row["case"] in loops]))


def of_schemes(rows):
    case = "chain-hinges-64"
    own = one(rows, "Holonom", "energy-momentum", case)
    before = earlier(rows, case)
    found = aim("a step with the ledger against the bare one", 1.4, [("", over(one(rows, "Holonom", "energy-momentum/ledger", case), own))])
    found += aim("a step with a record in a result file", 3.0, [("", over(one(rows, "Holonom", "energy-momentum/records", case), own))])
    for integrator, bound, stages in (("rattle", 2.5, 1), ("energy-momentum/nullspace", 9.0, 1), ("energy-momentum/multipliers", 15.0, 1),
                                      ("convected", 15.0, 1), ("ggl-variational", 45.0, 1), ("ggl-classical", 45.0, 1),
                                      ("projected-rk/fixed", 0.6, 6), ("projected-rk/fixed/order=8", 0.6, 12)):
        number = over(one(rows, "Holonom", integrator, case), before)
        text = f"{integrator}{', a stage,' if stages > 1 else ''} against energy-momentum of version 0.1.0"
        found += aim(text, bound, [("", number / stages if number else None)])
    return found


def of_precision(rows):
    found = []
    for cases, text, bounds in ((("chain-hinges-4", "humanoid"), "chain of 4 and humanoid", (1.0, 2.0)),
                                (("four-bar", "bricard", "six-body"), "loops", (1 / 3, None))):
        best, exact = [], []
        for case in cases:
            for goal in (1e-6, 1e-9):
                here = [row for row in rows if row["case"] == case and row.get("goal") == goal and row.get("ms")]
                own = [row for row in here if row["engine"].startswith("Holonom")]
                peers = [row["ms"] for row in here if not row["engine"].startswith(("Holonom", "SUNDIALS"))]
                if not peers or not own:
                    continue
                best.append((f"{case}, {goal:g} m", min(row["ms"] for row in own) / min(peers)))
                kept = [row["ms"] for row in own if row["drift"] <= EXACT]
                exact.append((f"{case}, {goal:g} m", min(kept) / min(peers) if kept else None))
        found += aim(f"{text} to 1e-6 and 1e-9 m: our best against the best general engine", bounds[0], best)
        if bounds[1]:
            found += aim(f"{text}: our best with exact energy against it", bounds[1], exact)
    return found


def of_drift(rows):
    own = [row for row in rows if row["integrator"] == "energy-momentum" and row["engine"].startswith("Holonom ")
           and row["engine"] != "Holonom 0.1.0" and row.get("drift") is not None]
    steps = min((row["steps"] for row in own), default=0)
    return (aim(f"energy after {steps:g} steps of chain and top, relative", 1e-9, [(row["case"], row["drift"]) for row in own])
            + aim(f"joints after {steps:g} steps, m", 1e-11, [(row["case"], row["gap"]) for row in own]))


def find(rows):
    by = {task: [row for row in rows if row["task"] == task] for task in ("steps", "schemes", "precision", "drift")}
    found = of_steps(by["steps"]) + of_schemes(by["schemes"]) + of_precision(by["precision"]) + of_drift(by["drift"])
    return sorted(found, key=lambda a: -a["found"] / a["bound"])
