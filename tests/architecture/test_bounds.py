# SPDX-License-Identifier: MIT
"""Bounds of the tests stand near what is measured: at most 100 times the figure in the comment beside them."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[-1])
FARTHEST = 100.0
NUMBER = r"[\d.]+(?:e[-+]?\d+)?"
CHECK = re.compile(r"CHECK_BELOW\((?:[^();]|\((?:[^()]|\([^()]*\))*\))*,\s*(" + NUMBER + r")\);([^\n]*(?:\n\s*//[^\n]*)*)")
MEASURED = re.compile(r"measured[^\d\n]*(" + NUMBER + ")(?: (?:to|and|\\.\\.\\.|…) (" + NUMBER + "))?")

failures, count = [], 0
for source in sorted((root / "tests").rglob("*.c")):
    text = source.read_text()
    for check in CHECK.finditer(text):
        measured = MEASURED.search(check[2])
        if not measured:
            continue
        largest = max(float(figure) for figure in measured.groups() if figure)
        bound = float(check[1])
        if largest == 0.0 or bound > 1e-3:  # nothing to be near to; a share, not a distance
            continue
        count += 1
        if not largest <= bound <= FARTHEST * largest * (1 + 1e-9):
            line = text.count("\n", 0, check.start()) + 1
            failures.append(f"{source.relative_to(root)}:{line}: the bound {bound:g} is {bound / largest:.3g} times what is measured")

print(f"{count} bounds with the measured figure beside them")
for failure in failures:
    print(failure)
if count < 300:
    failures.append("too few bounds found: the patterns of this test no longer fit")
sys.exit(1 if failures else 0)
