#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that tests which documents name exist, and that every cell of the tables of schemes has one.

Documents name a test as `test_file.c`: `name`, the file in tests/physics unless it has a path. docs/manual/schemes.md
lists the tests of each row of its tables as

    - **row**
      - `scheme`, `scheme`: `test_file.c`: `name`, `name`; `test_other.c`: all
      - every scheme: ...
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[2])
SCHEMES = ROOT / "docs" / "manual" / "schemes.md"
HEADING = "### The tests behind the tables"

problems = []
named = set()


def complain(path, text):
    problems.append(f"{path.relative_to(ROOT)}: {text}")


def file_of(token):
    """The file that `test_x.c` or `tests/unit/test_x.c` stands for."""
    return ROOT / token if "/" in token else ROOT / "tests" / "physics" / token


def tests_of(path):
    return set(re.findall(r"^TEST\(\s*\w+,\s*(\w+)\s*\)", path.read_text(encoding="utf-8"), re.M))


def check_tests(document, text):
    """How many tests stand in `file`: `name`, `name`; `file`: all; each of them must exist."""
    found, current, tests = 0, None, set()
    for token, every in re.findall(r"`([^`]+)`|\b(all)\b", text):
        if re.fullmatch(r"(?:tests/\w+/)?test_\w+\.c", token):
            current = file_of(token)
            tests = tests_of(current) if current.is_file() else set()
            if not tests:
                complain(document, f"{token} is no file with tests")
        elif current is None:
            complain(document, f"`{token or every}` stands before any file of tests")
        elif every:
            found += 1
        elif token not in tests:
            complain(document, f"{current.name} has no test {token}")
        else:
            found += 1
            named.add((current.name, token))
    return found


def split_row(line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip() for cell in cells]


def table_cells(text):
    """{row: schemes with something in their cell} of the tables whose head names schemes."""
    rows, schemes = {}, None
    for line in text.splitlines():
        if not line.startswith("|"):
            schemes = None
            continue
        cells = split_row(line)
        if schemes is None:
            schemes = [cell.strip("`") for cell in cells[1:]] if cells[0] == "" else []
        elif schemes and not set(line) <= set("|- "):
            rows[cells[0]] = {scheme for scheme, cell in zip(schemes, cells[1:]) if cell}
            if len(cells) != len(schemes) + 1:
                complain(SCHEMES, f"row '{cells[0]}' has {len(cells) - 1} cells for {len(schemes)} schemes")
    return rows


def entries(section):
    """(row, schemes, tests) of the list."""
    lines = []
    for line in section.splitlines():
        if line.lstrip().startswith("- "):
            lines.append(line)
        elif line.startswith("    ") and lines:
            lines[-1] += " " + line.strip()
    row = None
    for line in lines:
        if line.startswith("- "):
            row = line[2:].strip().strip("*")
            yield row, "", ""
        else:
            head, _, tests = line.strip()[2:].partition(": ")
            yield row, head, tests


text = SCHEMES.read_text(encoding="utf-8")
before, heading, after = text.partition(HEADING + "\n")
section = after.split("\n### ")[0]
if not heading:
    complain(SCHEMES, f"there is no heading '{HEADING}'")
rows = table_cells(before)
everyone = set().union(*rows.values()) if rows else set()
if len(everyone) < 2:
    complain(SCHEMES, "no table of schemes was found")
tested = {}
for row, head, tests in entries(section):
    covered = tested.setdefault(row, set())
    if not head:
        continue
    schemes = everyone if head.startswith("every scheme") else set(re.findall(r"`([^`]+)`", head))
    for scheme in schemes - everyone:
        complain(SCHEMES, f"row '{row}': the tables have no scheme {scheme}")
    if check_tests(SCHEMES, tests) == 0:
        complain(SCHEMES, f"row '{row}': no test for {head}")
    else:
        covered |= schemes
for row, schemes in rows.items():
    if row not in tested:
        complain(SCHEMES, f"row '{row}' has no tests")
    for scheme in sorted(schemes - tested.get(row, set())):
        complain(SCHEMES, f"row '{row}': no test for {scheme}")
for row in tested:
    if row not in rows:
        complain(SCHEMES, f"the tables have no row '{row}'")

# elsewhere: files that are named exist, and tests named behind a file
for document in sorted(ROOT.rglob("*.md")):
    if {"build", ".git"} & set(document.relative_to(ROOT).parts):
        continue
    text = document.read_text(encoding="utf-8")
    if document == SCHEMES:
        text = before + after[len(section):]
    for token in re.findall(r"`(tests/[\w/]+\.(?:c|h|py))`", text):
        if not (ROOT / token).is_file():
            complain(document, f"{token} does not exist")
    for token in re.findall(r"`(test_\w+\.(?:c|py))`", text):
        if not list((ROOT / "tests").rglob(token)):
            complain(document, f"{token} does not exist")
    for token, names in re.findall(r"`((?:tests/\w+/)?test_\w+\.c)`:\s((?:`\w+`,?\s*)+)", text):
        check_tests(document, f"`{token}`: {names}")

for problem in problems:
    print(problem)
print(f"{len(problems)} problems" if problems else f"{len(named)} tests named by documents exist, {len(rows)} rows")
sys.exit(1 if problems else 0)
