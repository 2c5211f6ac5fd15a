# SPDX-License-Identifier: MIT
"""`holonom view` without a browser: the page's data are unpacked here and compared with the result file."""
import base64
import gzip
import json
import pathlib
import re
import subprocess
import sys

import h5py
import numpy

tool, source = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0
TEMPLATE = "<html>before<!--holonom:data-->after</html>"
pathlib.Path("template.html").write_text(TEMPLATE)


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(f"failed: {what}")


def holonom(*words, code=0):
    done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True, check=False)
    check(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def unpack(text, name):
    packed = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]*)</script>', text).group(1)
    return gzip.decompress(base64.b64decode(packed))


def blocks_of(result, data):
    """Blocks of a result as arrays of rows, as viewer/src/data/unpack.ts reads them."""
    found = {}
    for block in result["blocks"]:
        rows, columns, at, encoding = block["rows"], block["columns"], block["at"], block["encoding"]
        offsets = numpy.frombuffer(data, "<f8", rows, at)
        scales = numpy.frombuffer(data, "<f8", rows, at + 8 * rows)
        width = {"q16": 2, "q32": 4, "f32": 4, "f64": 8}[encoding]
        planes = numpy.frombuffer(data, numpy.uint8, width * rows * columns, at + 16 * rows)
        words = numpy.ascontiguousarray(planes.reshape(width, rows * columns).T)
        numbers = words.view({"q16": "<i2", "q32": "<i4", "f32": "<f4", "f64": "<f8"}[encoding]).reshape(rows, columns)
        if encoding[0] == "q":
            numbers = numpy.cumsum(numbers, axis=1, dtype=numbers.dtype)  # wraps as it was written
        found[block["name"]] = offsets[:, None] + scales[:, None] * numbers.astype(float)
    return found


def read_page(path):
    text = pathlib.Path(path).read_text()
    check(text.startswith("<html>before<script") and text.endswith("</script>\nafter</html>"), f"{path}: the template around")
    page = json.loads(unpack(text, "holonom-description"))
    return page, [blocks_of(r, unpack(text, f"holonom-data-{i}")) for i, r in enumerate(page["results"])]


def close(found, expected, tolerance, what):
    worst = numpy.max(numpy.abs(numpy.asarray(found) - expected)) if numpy.size(expected) else 0.0
    check(numpy.shape(found) == numpy.shape(expected) and worst <= tolerance, f"{what}: off by {worst}, allowed {tolerance}")


# ---- everything of a small result ------------------------------------------------------------------
model = source / "models/six-body-linkage.yaml"
holonom("run", model, "--quiet", "--steps", 100, "--output", "linkage.h5")
done = holonom("view", "linkage.h5", "--template", "template.html")
check("wrote linkage.html" in done.stdout, "the page is named after the result")
page, [blocks] = read_page("linkage.html")
result = page["results"][0]
with h5py.File("linkage.h5") as file:
    check(page["format"] == "holonom page" and page["version"] == 1, "format and version")
    check(result["model"]["name"] == "six-body linkage" and result["model"]["text"] == model.read_text(), "the model")
    check([b["name"] for b in result["bodies"]] == list(file["bodies/names"].asstr()), "names of bodies")
    check([j["name"] for j in result["joints"]] == list(file["joints/names"].asstr()), "names of joints")
    check(result["joints"][1]["coordinates"] == [{"name": "angle", "unit": "rad", "meaning": ""}], "coordinates of a joint")
    close([s["corners"] for s in result["shapes"]], file["shapes/corners"][:], 1e-9, "corners of shapes")
    close([j["point_b"] for j in result["joints"]], file["joints/point_b"][:], 1e-9, "places of joints")
    check(result["options"] == {"kind": "run", "scheme": "energy-momentum", "reduction": "reduced", "step_size": 0.001}, "options")
    check(all(entry["kept"] for entry in result["ledger"]) and len(result["ledger"]) >= 5, "ledger")
    check(result["thinning"] == {"records": 101, "frames": 101, "samples": 101}, "nothing is thinned")

    close(blocks["frame_times"][0], file["time"][:], 0.0, "times")
    position = file["bodies/position"][:]  # records, bodies, 3
    motion = blocks["motion"].reshape(6, 7, 101)
    close(motion[:, :3].transpose(2, 0, 1), position, 1e-8, "positions")  # m; measured 2e-9
    x, y, z, w = motion[:, 3], motion[:, 4], motion[:, 5], motion[:, 6]
    close(numpy.sqrt(x * x + y * y + z * z + w * w), numpy.ones((6, 101)), 1e-7, "unit quaternions")
    column = numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)])  # first body axis
    close(column.transpose(2, 1, 0), file["bodies/orientation"][:][..., 0], 1e-7, "orientations")
    check(numpy.min(numpy.sum(motion[:, 3:, 1:] * motion[:, 3:, :-1], axis=1)) > 0.9, "signs of quaternions do not jump")
    velocities = blocks["velocities"].reshape(6, 6, 101)
    close(velocities[:, :3].transpose(2, 0, 1), file["bodies/velocity"][:], 1e-6, "velocities")
    close(velocities[:, 3:].transpose(2, 0, 1), file["bodies/angular_velocity"][:], 1e-5, "angular velocities")
    close(blocks["coordinates"].T, file["joints/coordinates"][:], 1e-7, "coordinates")
    reactions = blocks["reactions"].reshape(-1, 6, 101)
    scale = numpy.max(numpy.abs(file["joints/reaction_force"][:]))
    close(reactions[:, :3].transpose(2, 0, 1), file["joints/reaction_force"][:], 1e-7 * scale, "reactions")
    check(result["reactions_from"] == 1, "at the start there are no reactions")

    totals = {entry["name"]: row for entry, row in zip(result["totals"], blocks["totals"])}
    energy = file["ledger/energy"][:]
    close(totals["ledger/energy"], energy, 1e-15, "energy, to its last digits")  # J; stored as differences
    close(totals["ledger/angular_momentum/z"], file["ledger/angular_momentum"][:, 2], 1e-7, "angular momentum")
    expected = (energy - energy[0] - file["ledger/external_work"][:]) / file["ledger/promises"].attrs["energy_scale"]
    close(totals["derived/energy_error"], expected, 1e-20, "error of the energy")
    close(totals["derived/step_size"], numpy.full(101, 0.001), 1e-10, "step sizes")
    close(totals["newton/iterations"], file["newton/iterations"][:], 0.0, "iterations")

# ---- several results, labels, loads ----------------------------------------------------------------
holonom("run", model, "--quiet", "--steps", 50, "--scheme", "rattle", "--output", "rattle.h5")
holonom("run", model, "--quiet", "--steps", 50, "--step", 0.002, "--output", "coarse.h5")
holonom("view", "linkage.h5", "rattle.h5", "-o", "two.html", "--template", "template.html")
check([r["label"] for r in read_page("two.html")[0]["results"]] == ["energy-momentum", "rattle"], "labels by scheme")
holonom("view", "linkage.h5", "coarse.h5", "-o", "two.html", "--template", "template.html")
labels = [r["label"] for r in read_page("two.html")[0]["results"]]
check(labels == ["energy-momentum, h = 0.001 s", "energy-momentum, h = 0.002 s"], f"labels by step: {labels}")
holonom("view", "linkage.h5", "./linkage.h5", "-o", "two.html", "--template", "template.html")
check(len({r["label"] for r in read_page("two.html")[0]["results"]}) == 2, "the same result twice still has two labels")
holonom("run", source / "models/planar-spring.yaml", "--quiet", "--steps", 5, "--output", "spring.h5")
holonom("view", "spring.h5", "-o", "spring.html", "--template", "template.html")
spring = read_page("spring.html")[0]["results"][0]
check(len(spring["springs"]) > 0 and spring["springs"][0]["stiffness"] > 0, "springs")
holonom("run", source / "models/crank.yaml", "--quiet", "--steps", 5, "--output", "crank.h5")
holonom("view", "crank.h5", "-o", "crank.html", "--template", "template.html")
check(len(read_page("crank.html")[0]["results"][0]["loads"]) > 0, "loads")

# ---- beams -----------------------------------------------------------------------------------------
holonom("run", source / "models/three-bar-swing.yaml", "--quiet", "--steps", 60, "--output", "swing.h5")
holonom("view", "swing.h5", "--template", "template.html")
page, [blocks] = read_page("swing.html")
beam = page["results"][0]["beams"][0]
with h5py.File("swing.h5") as file:
    check(beam["node_start"] == file["beams/first_node"][0] and beam["element_count"] == 20 and beam["node_count"] == 21, "nodes")
    kinds = [body["kind"] for body in page["results"][0]["bodies"]]
    check(all(kind == "beam_node" for kind in kinds[beam["node_start"] :][: beam["node_count"]]), "nodes are bodies")
    resultants = file["beams/resultant"][:]  # records, elements, 6
    for k in range(6):
        rows = blocks["beam_scalars"][20 * k : 20 * (k + 1)]
        close(rows.T, resultants[:, :, k], 1e-7 * numpy.ptp(resultants[:, :, k]) + 1e-12, f"resultant {k}")
    check([scalar["unit"] for scalar in page["results"][0]["beam_scalars"]] == 3 * ["N"] + 3 * ["N m"], "units of resultants")

# a file of a version that did not measure the equations
pathlib.Path("earlier.h5").write_bytes(pathlib.Path("linkage.h5").read_bytes())
with h5py.File("earlier.h5", "r+") as file:
    if "equations" in file["ledger/promises"]:
        del file["ledger/promises/equations"]
holonom("view", "earlier.h5", "--template", "template.html")
check(read_page("earlier.html")[0]["results"][0]["ledger"][0]["kept"], "files of earlier versions")

# ---- compare writes the same page --------------------------------------------------------------------
done = holonom("compare", model, "--schemes", "energy-momentum,rattle", "--reductions", "reduced,multipliers", "--steps",
               "0.004,0.002", "--end", 0.04, "-o", "compared.html", "--template", "template.html")
check("wrote compared.html" in done.stdout and "us/step" in done.stdout, "table and page")
page, blocks = read_page("compared.html")
labels = [r["label"] for r in page["results"]]
check(labels == ["energy-momentum, h = 0.004 s", "energy-momentum, h = 0.002 s", "rattle, h = 0.004 s", "rattle, h = 0.002 s"],
      f"labels of a comparison: {labels}")
holonom("run", model, "--quiet", "--scheme", "rattle", "--step", 0.002, "--end", 0.04, "--output", "alone.h5")
with h5py.File("alone.h5") as file:
    close(blocks[3]["motion"][0], file["bodies/position"][:, 0, 0], 1e-8, "a run of a comparison is that of run")
done = holonom("compare", model, "--schemes", "rattle", "--end", 0.01, "-o", "no/such/page.html", "--template",
               "template.html", code=5)
check("no/such/page.html" in done.stderr, "a page that cannot be written")

# ---- thinning --------------------------------------------------------------------------------------
holonom("run", source / "models/pendulum.yaml", "--quiet", "--steps", 50000, "--output", "long.h5")
done = holonom("view", "long.h5", "--template", "template.html")
check("thinned for the page: " in done.stdout and "of 50001 records" in done.stdout, "thinning is said")
page, [blocks] = read_page("long.html")
thinning = page["results"][0]["thinning"]
check(thinning["records"] == 50001 and thinning["frames"] <= 4000 and thinning["samples"] == 20000, f"thinned: {thinning}")
with h5py.File("long.h5") as file:
    time, kinetic = file["time"][:], file["ledger/kinetic"][:]
    stride = round((blocks["frame_times"][0][1] - time[0]) / (time[1] - time[0]))
    kept = numpy.append(numpy.arange(0, 50000, stride), 50000)
    close(blocks["frame_times"][0], time[kept], 0.0, "frames are records, the last one too")
    close(blocks["motion"][0], file["bodies/position"][:, 0, 0][kept], 1e-7, "positions in the frames")
    row = [entry["name"] for entry in page["results"][0]["totals"]].index("ledger/kinetic")
    samples, sample_times = blocks["totals"][row], blocks["sample_times"][0]
    check(numpy.all(numpy.diff(sample_times) > 0), "times of samples grow")
    ends = numpy.searchsorted(time, sample_times)
    worst = 0.0
    for i in range(0, 20000, 2):  # each pair: the extremes of its interval
        within = kinetic[ends[i] : ends[i + 1] + 1]
        worst = max(worst, abs(min(samples[i : i + 2]) - within.min()), abs(max(samples[i : i + 2]) - within.max()))
    check(worst <= 1e-6 * kinetic.max(), f"extremes of intervals: off by {worst}")
    check(ends[0] == 0 and ends[-1] == 50000 and numpy.all(ends[2::2] == ends[1:-1:2] + 1), "intervals without a gap")

# a large model: below 15 MB, coarser numbers
holonom("generate", "chain", "--count", 1500, "--joint", "spherical", "--output", "chain.yaml")
holonom("run", "chain.yaml", "--quiet", "--step", 0.001, "--steps", 40, "--output", "chain.h5")
holonom("view", "chain.h5", "--template", "template.html")
size = pathlib.Path("chain.html").stat().st_size
check(size < 15e6, f"{size} bytes")
page, [blocks] = read_page("chain.html")
with h5py.File("chain.h5") as file:
    z = file["bodies/position"][:, 900, 2]
    close(blocks["motion"][7 * 900 + 2], z, (z.max() - z.min()) / 65000 + 1e-15, "a body of many")

# ---- mistakes --------------------------------------------------------------------------------------
done = holonom("view", code=2)
check("needs a RESULT" in done.stderr, "a result is needed")
done = holonom("view", "nowhere.h5", "--template", "template.html", code=5)
check("nowhere.h5" in done.stderr, "a missing file is named")
done = holonom("view", "linkage.h5", "--template", "nowhere.html", code=5)
check("nowhere.html" in done.stderr, "a missing template is named")
pathlib.Path("plain.html").write_text("<html></html>")
done = holonom("view", "linkage.h5", "--template", "plain.html", code=5)
check("not a template" in done.stderr, "a file that is no template")
done = holonom("view", "linkage.h5", "--template", "template.html", "-o", "no/such/folder.html", code=5)
check("no/such/folder.html" in done.stderr, "an output that cannot be written")
check(not list(pathlib.Path(".").glob("*.part")), "no half page is left")
done = holonom("view", "linkage.h5", "--template", "template.html", "-o", "-")
check(done.stdout.startswith("<html>before") and done.stdout.endswith("after</html>"), "the page on the standard output")
pathlib.Path("bin").mkdir(exist_ok=True)  # a tool without a template beside it
copy = pathlib.Path("bin/holonom")
copy.unlink(missing_ok=True)
copy.write_bytes(pathlib.Path(tool).read_bytes())
copy.chmod(0o755)
done = subprocess.run([copy, "view", "linkage.h5"], capture_output=True, text=True, check=False)
if not pathlib.Path("/usr/local/share/holonom/viewer.html").exists():
    check(done.returncode == 5 and "has not been built" in done.stderr and "make viewer" in done.stderr,
          f"without a template: {done.returncode} {done.stderr}")

print("all right" if failures == 0 else f"{failures} failures")
sys.exit(0 if failures == 0 else 1)
