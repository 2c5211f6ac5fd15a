#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that kinds of joints, bodies and elements say everything about themselves in their own folders.

A `switch` over kinds elsewhere in the library is one more place that a new kind has to be known to, and so is the name of
a kind of joint. Left are the place where a model's loads become elements of the system, and the free joint, which is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[2])
OWN_FOLDERS = {"joints", "elements", "model", "io"}
TRANSLATION = {"src/system/compile.c": {"LOAD"}}
CASE = re.compile(r"\bcase\s+(?:HN_)?(JOINT|BODY|LOAD|ELEMENT)_[A-Z_]+\s*:")
JOINT = re.compile(r"\bHN_JOINT_(?!FREE\b|KIND_|COORDINATES_MAX\b)[A-Z_]+")

problems = []
files = sorted((ROOT / "src").rglob("*.[ch]"))
for path in files:
    name = path.relative_to(ROOT).as_posix()
    if path.parent.name in OWN_FOLDERS:
        continue
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for kind in CASE.findall(line):
            if kind not in TRANSLATION.get(name, set()):
                problems.append(f"{name}:{number}: a switch over kinds: {line.strip()}")
        for word in JOINT.findall(line):
            problems.append(f"{name}:{number}: knows {word}; joints/joint.h or model/joint_kinds.h should say it: {line.strip()}")

print("\n".join(problems) if problems else f"{len(files)} files, no kind is known outside {sorted(OWN_FOLDERS)}")
sys.exit(1 if problems else 0)
