# SPDX-License-Identifier: MIT
"""One HTML page from the rows of a run: log-log pictures as SVG, tables with the rows that we lose first."""

import html
import math
import re

COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#e08e0b", "#6a4c93", "#444444", "#00a0a0", "#b5651d", "#c2185b", "#7a9e00",
           "#8a8a8a", "#3f51b5"]
WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT = 640, 360, 70, 45, 210


def ticks(low, high):
    return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def picture(title, curves, across, up):
    """Log-log: curves is {name: [(x, y), ...]}."""
    points = [p for curve in curves.values() for p in curve]
    if not points:
        return ""
    xs, ys = ticks(min(p[0] for p in points), max(p[0] for p in points)), ticks(min(p[1] for p in points), max(p[1] for p in points))
    spans = [math.log10(t[-1] / t[0]) or 1.0 for t in (xs, ys)]

    def at(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * math.log10(x / xs[0]) / spans[0],
                HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 30) * math.log10(y / ys[0]) / spans[1])

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{html.escape(title)}</title>',
             f'<text x="{LEFT}" y="18" class="head">{html.escape(title)}</text>']
    for x in xs:
        px, top = at(x, ys[-1])
        parts.append(f'<line x1="{px:.1f}" y1="{top:.1f}" x2="{px:.1f}" y2="{at(x, ys[0])[1]:.1f}" class="grid"/>'
                     f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>')
    for y in ys:
        px, py = at(xs[0], y)
        parts.append(f'<line x1="{px:.1f}" y1="{py:.1f}" x2="{at(xs[-1], y)[0]:.1f}" y2="{py:.1f}" class="grid"/>'
                     f'<text x="{LEFT - 6}" y="{py + 4:.1f}" text-anchor="end">{y:g}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{html.escape(across)}; up: {html.escape(up)}</text>')
    for k, (name, curve) in enumerate(sorted(curves.items(), key=lambda c: (not c[0].startswith("Holonom"), c[0]))):
        colour = COLOURS[k % len(COLOURS)]
        places = [at(*p) for p in sorted(curve)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{2.5 if k == 0 else 1.3}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{36 + 16 * k}" fill="{colour}">{html.escape(name)}</text>')
    return "".join(parts) + "</svg>"


def cell(key, value):
    if value is None or value == "":
        return "<td></td>"
    if isinstance(value, bool):
        return f'<td class="{"" if value else "bad"}">{"yes" if value else "NO"}</td>'
    if isinstance(value, float):
        shown = f"{value:.2f}" if key == "ratio" else f"{value:.1e}" if key in ("drift", "apart", "goal") else f"{value:.4g}"
        return f'<td class="number{" lost" if key == "ratio" and value > 1.0 else ""}">{shown}</td>'
    return f"<td>{html.escape(str(value))}</td>"


def table(rows, keys, names):
    """Rows that we lose first, by how much; then the others, then those without a number."""
    rows = sorted(rows, key=lambda r: -r["ratio"] if r.get("ratio") is not None else 1e9)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(cell(key, row.get(key)) for key in keys) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def label(row):
    return f"{row['engine']} {row['integrator']}"


def grown_pictures(rows):
    series = {}
    for row in rows:
        found = re.fullmatch(r"(.+)-(\d+)", row["case"])
        if found and row.get("ns"):
            series.setdefault(found[1], {}).setdefault(label(row), []).append((row["bodies"], row["ns"]))
    return "".join(picture(name, curves, "bodies", "ns per body and step") for name, curves in series.items()
                   if any(len(curve) > 1 for curve in curves.values()))


def precision_pictures(rows):
    parts = []
    for case in dict.fromkeys(row["case"] for row in rows):
        curves = {}
        for row in rows:
            if row["case"] == case and row.get("ms") and row.get("apart"):
                curves.setdefault(label(row), []).append((row["ms"], row["apart"]))
        parts.append(picture(case, curves, "ms of processor time", "m from the converged solution"))
    return "".join(parts)


SECTIONS = [
    ("steps", "What a step costs", grown_pictures, ["case", "bodies", "engine", "integrator", "ns", "ratio", "drift", "apart", "same", "note"],
     ["case", "bodies", "engine", "integrator", "ns per body and step", "ours / this", "energy drift", "apart, m", "same system", "note"]),
    ("precision", "Work for accuracy", precision_pictures, ["case", "goal", "engine", "integrator", "ms", "ratio", "step", "apart", "drift", "same", "note"],
     ["case", "asked, m", "engine", "integrator", "ms", "our best / this", "step or tolerance", "apart, m", "energy drift", "same system", "note"]),
    ("schemes", "Our own schemes", lambda rows: "", ["case", "integrator", "ns", "ratio", "drift", "apart", "note"],
     ["case", "scheme", "ns per body and step", "energy-momentum / this", "energy drift", "apart, m", "note"]),
    ("drift", "Long runs", lambda rows: "", ["case", "engine", "integrator", "steps", "drift", "note"],
     ["case", "engine", "integrator", "steps", "energy drift", "note"]),
    ("counts", "Instructions, counted by valgrind", lambda rows: "", ["case", "engine", "integrator", "instructions", "note"],
     ["case", "engine", "integrator", "per body and step", "note"]),
]

STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .7em;border-bottom:1px solid #ddd;text-align:left;font-size:13px}
.number{text-align:right;font-variant-numeric:tabular-nums}.lost{color:#b00020;font-weight:600}.bad{background:#fdd}
svg{width:48%;min-width:480px;font:11px system-ui,sans-serif}.grid{stroke:#e4e4e4}.head{font-size:14px;font-weight:600}"""


def write(rows, head):
    parts = [f"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Holonom beside other engines</title><style>{STYLE}"
             "</style><h1>Holonom beside other engines</h1>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in head]
    for task, title, pictures, keys, names in SECTIONS:
        chosen = [row for row in rows if row["task"] == task]
        if chosen:
            parts.append(f"<h2>{title}</h2>{pictures(chosen)}{table(chosen, keys, names)}")
    return "\n".join(parts) + "</html>\n"
