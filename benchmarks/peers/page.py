# SPDX-License-Identifier: MIT
"""One HTML page from the rows of a run: log-log pictures as SVG, tables with the rows that we lose first."""

import html
import math
import re

import aims

COLOURS = {"Holonom": "#1b6ca8", "MuJoCo": "#d1495b", "Pinocchio": "#2e8b57", "Bullet": "#e08e0b", "DART": "#6a4c93", "Simbody": "#444444",
           "ODE": "#00a0a0", "SUNDIALS": "#b5651d", "Exudyn": "#c2185b", "Drake": "#7a9e00"}
DASHES = ["", "7 3", "2 3", "8 3 2 3", "4 4", "12 4"]
WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT = 860, 500, 60, 45, 350


def ours(name):
    """Of this version, which cannot lose against itself."""
    return name.startswith("Holonom ") and not name.startswith("Holonom 0.1.0")


def ticks(low, high):
    return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9) + 1)]


def number_text(x):
    return f"{x:g}" if 1e-3 <= x < 1e5 else f"1e{round(math.log10(x))}"


def frame(xs, ys, at, across, up):
    parts = []
    for x in xs:
        px, top = at(x, ys[-1])
        parts.append(f'<line x1="{px:.1f}" y1="{top:.1f}" x2="{px:.1f}" y2="{at(x, ys[0])[1]:.1f}" class="grid"/>'
                     f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{number_text(x)}</text>')
    for y in ys:
        px, py = at(xs[0], y)
        parts.append(f'<line x1="{px:.1f}" y1="{py:.1f}" x2="{at(xs[-1], y)[0]:.1f}" y2="{py:.1f}" class="grid"/>'
                     f'<text x="{LEFT - 6}" y="{py + 4:.1f}" text-anchor="end">{number_text(y)}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">across: {html.escape(across)}; up: {html.escape(up)}</text>')
    return parts


def picture(title, curves, across, up):
    """Log-log: curves is {name: [(x, y), ...]}; names beside, ours first and thick."""
    points = [p for curve in curves.values() for p in curve if min(p) > 0]
    if not points:
        return ""
    xs, ys = ticks(min(p[0] for p in points), max(p[0] for p in points)), ticks(min(p[1] for p in points), max(p[1] for p in points))
    spans = [math.log10(t[-1] / t[0]) or 1.0 for t in (xs, ys)]

    def at(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * math.log10(x / xs[0]) / spans[0],
                HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 30) * math.log10(y / ys[0]) / spans[1])

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{html.escape(title)}</title>',
             f'<text x="{LEFT}" y="18" class="head">{html.escape(title)}</text>', *frame(xs, ys, at, across, up)]
    names = sorted(curves, key=lambda name: (not ours(name), not name.startswith("Holonom"), name))
    space, of_engine = min(16.0, (HEIGHT - 40) / len(names)), {}
    for k, name in enumerate(names):
        engine = name.split()[0]
        nth = of_engine[engine] = of_engine.get(engine, -1) + 1
        colour = COLOURS.get(engine, "#888888")
        style = f'stroke="{colour}" stroke-dasharray="{DASHES[nth % len(DASHES)]}" stroke-width="{2.4 if engine == "Holonom" else 1.2}"'
        places = [at(*p) for p in sorted(curves[name]) if min(p) > 0]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" {style}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in places]
        level = 34 + space * k
        parts.append(f'<line x1="{WIDTH - RIGHT + 10}" y1="{level - 4:.1f}" x2="{WIDTH - RIGHT + 40}" y2="{level - 4:.1f}" {style}/>'
                     f'<text x="{WIDTH - RIGHT + 46}" y="{level:.1f}" style="font-size:{min(11.0, space):.1f}px">'
                     f'{html.escape(re.sub(r"^Holonom [0-9.]+", "Holonom", name) if ours(name) else name)}</text>')
    return "".join(parts) + "</svg>"


def shown(key, value):
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        if key == "ratio":
            return f"{value:.2f}" if value < 100 else f"{value:.0f}"
        return f"{value:.1e}" if key in ("drift", "gap", "apart", "goal", "step") else plain(value)
    return f"{value:,}" if isinstance(value, int) and key == "steps" else str(value)


def cell(key, value, own=False):
    if value is None or value == "":
        return "<td></td>"
    kind = "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else ""
    kind += " lost" if key == "ratio" and value > 1.0 and not own else ""
    kind += " bad" if value is False else ""
    return f'<td class="{kind.strip()}">{html.escape(shown(key, value))}</td>'


def table(rows, columns):
    """Rows that we lose first, by how much; then the others."""
    rows = sorted(rows, key=lambda r: -min(r["ratio"], 1.0 if ours(r["engine"]) else 1e9) if r.get("ratio") is not None else 1e9)
    head = "".join(f'<th class="{"" if key in ("case", "engine", "integrator", "note", "same") else "number"}">{html.escape(name)}</th>'
                   for key, name in columns)
    body = "".join("<tr>" + "".join(cell(key, row.get(key), ours(row["engine"])) for key, _ in columns) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def label(row):
    """Engine and integrator in words."""
    name = f"{row['engine']} {row['integrator']}".strip()
    for word, short in (("/adaptive", ""), ("/controlled", ", steps controlled"), ("/impose_energy=false", ", energy free"), ("/planar", ", planar"),
                        ("/order=", ", order "), ("/fixed", ", fixed steps"), ("/", ", ")):
        name = name.replace(word, short)
    return name


def plain(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def matrix(title, rows, across, key, columns):
    """One row an integrator, one column a case (or a goal): the number and, smaller, the ratio. Lost rows first."""
    names = {}
    for row in rows:
        if row.get(key):
            names.setdefault(label(row), {})[row[across]] = row
    if not names:
        return ""

    def worst(name, found):
        ratio = max((row["ratio"] for row in found.values() if row.get("ratio")), default=0.0)
        return min(ratio, 1.0) if ours(name) else ratio

    def one(row):
        if row is None:
            return "<td></td><td></td>"
        doubt = ' title="not the same system" class="number bad"' if row.get("same") is False else ' class="number"'
        ratio = row.get("ratio")
        second = f'<td class="ratio{" lost" if ratio > 1.0 and not ours(row["engine"]) else ""}">{shown("ratio", float(ratio))}</td>' if ratio else "<td></td>"
        return f"<td{doubt}>{plain(row[key])}</td>{second}"
    head = "".join(f'<th class="number" colspan="2">{html.escape(str(name))}</th>' for _, name in columns)
    body = "".join(f"<tr><td>{html.escape(name)}</td>" + "".join(one(found.get(value)) for value, _ in columns) + "</tr>"
                   for name, found in sorted(names.items(), key=lambda n: -worst(*n)))
    return f"<h3>{html.escape(title)}</h3><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def reasons(rows):
    """What was not done, and why: one line for a reason."""
    found = {}
    for row in rows:
        if "ns" not in row and "ms" not in row and row.get("drift") is None:
            found.setdefault((label(row), row.get("note", "")), []).append(row["case"] if not row.get("goal") else f"{row['case']} to {row['goal']:g} m")
    if not found:
        return ""
    lines = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(why)}</td><td>{html.escape(', '.join(dict.fromkeys(cases)))}</td></tr>"
                    for (name, why), cases in sorted(found.items()))
    return ('<details><summary>what has no number, and why</summary><table><thead><tr><th>engine</th><th>why</th><th>where</th></tr></thead>'
            f"<tbody>{lines}</tbody></table></details>")


def families(rows):
    found = {}
    for row in rows:
        match = re.fullmatch(r"((?:chain|tree)-\w+)-(\d+)", row["case"])
        if match:
            found.setdefault(match[1], []).append(row)
    return found


def details(rows, columns, summary="everything, with drift, joints and the check of the system"):
    done = [row for row in rows if "ns" in row or "ms" in row or row.get("drift") is not None]
    return f"<details><summary>{summary}</summary>{table(done, columns)}</details>"


def steps_section(rows):
    parts, grown = [], families(rows)
    for name, chosen in grown.items():
        curves = {}
        for row in chosen:
            if row.get("ns"):
                curves.setdefault(label(row), []).append((row["bodies"], row["ns"]))
        if any(len(curve) > 1 for curve in curves.values()):
            parts.append(picture(name, curves, "bodies", "ns per body and step"))
    for name, chosen in grown.items():
        sizes = sorted({row["bodies"] for row in chosen})
        parts.append(matrix(f"{name}: ns per body and step; ours / this", chosen, "bodies", "ns", [(n, f"N = {n}") for n in sizes]))
    single = [row for row in rows if not re.fullmatch(r"(chain|tree)-\w+-\d+", row["case"])]
    cases = list(dict.fromkeys(row["case"] for row in single))
    parts.append(matrix("single mechanisms: ns per body and step; ours / this", single, "case", "ns", [(c, c) for c in cases]))
    counted = [{**row, "ratio": None} for row in rows if row.get("instructions")]
    for row in counted:
        own = next((r["instructions"] for r in rows if r["case"] == row["case"] and r.get("instructions")
                    and r["integrator"] == "energy-momentum" and r["engine"] != "Holonom 0.1.0"), None)
        row["ratio"] = own / row["instructions"] if own else None
    cases = list(dict.fromkeys(row["case"] for row in counted))
    parts.append(matrix("instructions per body and step, counted by valgrind; ours / this", counted, "case", "instructions", [(c, c) for c in cases]))
    return "".join(parts) + details(rows, [
        ("case", "case"), ("engine", "engine"), ("integrator", "integrator"), ("ns", "ns"), ("instructions", "instructions"),
        ("ratio", "ours / this"), ("drift", "energy drift"), ("gap", "joints, m"), ("apart", "apart, m"), ("same", "same system"),
        ("note", "note")]) + reasons(rows)


def precision_section(rows):
    parts, cases = [], list(dict.fromkeys(row["case"] for row in rows))
    for case in cases:
        chosen, curves = [row for row in rows if row["case"] == case], {}
        for row in chosen:
            if row.get("ms") and row.get("apart"):
                curves.setdefault(label(row), []).append((row["ms"], row["apart"]))
        parts.append(picture(case, curves, "ms of processor time", "m from the converged solution"))
    for case in cases:
        chosen = [row for row in rows if row["case"] == case]
        goals = sorted({row["goal"] for row in chosen if row.get("goal")}, reverse=True)
        parts.append(matrix(f"{case}: ms to be within; our best / this", chosen, "goal", "ms", [(g, f"{g:g} m") for g in goals]))
    return "".join(parts) + details(rows, [
        ("case", "case"), ("goal", "asked, m"), ("engine", "engine"), ("integrator", "integrator"), ("ms", "ms"),
        ("ratio", "our best / this"), ("step", "step or tolerance"), ("steps", "steps"), ("apart", "apart, m"),
        ("drift", "energy drift"), ("gap", "joints, m"), ("same", "same system")]) + reasons(rows)


def plain_section(columns):
    return lambda rows: table([r for r in rows if "ns" in r or r.get("drift") is not None], columns) + reasons(rows)


LONG_COLUMNS = [("case", "case"), ("engine", "engine"), ("integrator", "integrator"), ("steps", "steps"), ("drift", "worst energy drift"),
                ("gap", "worst joint, m"), ("note", "note")]


def long_section(rows):
    """The least exact first: nothing is timed here."""
    ordered = sorted((row for row in rows if row.get("drift") is not None), key=lambda r: (r["case"], -r["drift"]))
    return table(ordered, LONG_COLUMNS) + reasons(rows)


def top_section(rows):
    ordered = sorted((row for row in rows if row.get("drift") is not None), key=lambda r: -(r.get("apart") or 0.0))
    return table(ordered, [*LONG_COLUMNS[1:4], ("apart", "apart at the end, m"), *LONG_COLUMNS[4:]]) + reasons(rows)


def aims_section(rows):
    found = aims.find(rows)
    if not found:
        return ""
    body = "".join(f"<tr><td>{html.escape(a['aim'])}</td><td class='number'>{a['bound']:.3g}</td><td class='number"
                   f"{'' if a['reached'] else ' lost'}'>{a['found']:.3g}</td><td>{html.escape(a['where'])}</td>"
                   f"<td class='{'' if a['reached'] else 'bad'}'>{'yes' if a['reached'] else 'NO'}</td></tr>" for a in found)
    return ("<h2>Aims</h2><p>What we ask of ourselves, the worst case of each; what is not reached comes first.</p><table><thead><tr>"
            "<th>ours over theirs</th><th class='number'>at most</th><th class='number'>found</th><th>worst at</th><th>reached</th></tr>"
            f"</thead><tbody>{body}</tbody></table>")


SECTIONS = [
    ("steps", "What a step costs", steps_section),
    ("precision", "Work for accuracy", precision_section),
    ("drift", "Long runs", long_section),
    ("top", "The heavy top for a hundred seconds", top_section),
    ("beams", "A beam let go", plain_section([
        ("case", "case"), ("engine", "engine"), ("integrator", "integrator"), ("ns", "ns per element and step"), ("ratio", "ours / this"),
        ("apart", "tip from the finest, m"), ("drift", "energy drift"), ("note", "note")])),
    ("schemes", "Our own schemes, and what surrounds a step", plain_section([
        ("engine", "engine"), ("integrator", "scheme"), ("ns", "ns per body and step"), ("ratio", "energy-momentum / this"),
        ("drift", "energy drift"), ("gap", "joints, m"), ("apart", "apart, m"), ("note", "note")])),
]

STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:1320px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.12em .6em;border-bottom:1px solid #ddd;text-align:left;font-size:13px;
vertical-align:baseline}.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.ratio{text-align:right;font-size:11px;color:#667;padding-left:0;font-variant-numeric:tabular-nums}.lost{color:#b00020;font-weight:600}
.bad{background:#fdd}svg{width:49%;min-width:520px;font:11px system-ui,sans-serif}.grid{stroke:#e4e4e4}.head{font-size:14px;font-weight:600}
tr:hover{background:#f4f7fb}summary{cursor:pointer;margin:.6em 0;color:#1b6ca8}"""


def write(rows, head):
    parts = [f"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Holonom beside other engines</title><style>{STYLE}"
             "</style><h1>Holonom beside other engines</h1><p>Red: we lose. Pink: not the same system, or not reached. A step of one "
             "method is not worth a step of another: <i>work for accuracy</i> compares methods.</p>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in head]
    parts.append(aims_section(rows))
    for task, title, section in SECTIONS:
        chosen = [row for row in rows if row["task"] == task]
        if chosen:
            parts.append(f"<h2>{title}</h2>{section(chosen)}")
    return "\n".join(parts) + "</html>\n"
