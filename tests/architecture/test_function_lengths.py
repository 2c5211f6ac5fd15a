#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that functions can be read: none above 100 lines, few above 60.

A function is what stands between a brace on its own line and the next one in the first column; its lines are those
between the two. The count of those above 60 may fall: lower MANY with it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[2])
LONGEST = 100
LONG, MANY = 60, 18
# functions that are longer today; a name goes from here when it need not be any more
KNOWN = set()


def functions(path):
    """Name, line and length of every function."""
    lines = path.read_text(encoding="utf-8").split("\n")
    start = 0
    while "{" in lines[start:]:
        start = lines.index("{", start)
        end = lines.index("}", start)
        head = start - 1
        while head > 0 and not re.match(r"[A-Za-z]", lines[head]):
            head -= 1
        name = re.search(r"(\w+)\(", " ".join(lines[head:start]))
        yield (name[1] if name else lines[head]), start + 1, end - start - 1
        start = end


files = sorted(p for folder in ("src", "cli", "fmu", "include") for p in (ROOT / folder).rglob("*.[ch]"))
found = [(length, name, f"{path.relative_to(ROOT).as_posix()}:{line}") for path in files for name, line, length in functions(path)]
problems = [f"{place}: {name} has {length} lines; at most {LONGEST} can be read" for length, name, place in found
            if length > LONGEST and name not in KNOWN]
problems += [f"{name} is no longer above {LONGEST} lines: take it out of KNOWN" for name in sorted(KNOWN)
             if not any(name == other and length > LONGEST for length, other, _ in found)]
long = sorted((f for f in found if f[0] > LONG), reverse=True)
if len(long) > MANY:
    problems += [f"{len(long)} functions have more than {LONG} lines; at most {MANY}:"] + [f"  {n} {name} {place}" for n, name, place in long]
if len(found) < 1000:
    problems.append(f"only {len(found)} functions were found: this test does not see them any more")
if len(sys.argv) > 3 and sys.argv[3] == "--list":
    print("\n".join(f"{n:4} {name} {place}" for n, name, place in long))
print("\n".join(problems) if problems else f"{len(found)} functions, {len(long)} above {LONG} lines, longest {long[0][0]}")
sys.exit(1 if problems else 0)
