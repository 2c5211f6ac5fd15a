#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that documents cannot rot: links lead somewhere, C snippets stand in examples, model files are valid."""

import pathlib
import re
import subprocess
import sys

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])

problems = []


def stripped(text):
    return [line.strip() for line in text.splitlines()]


def contains(lines, part):
    return any(lines[i:i + len(part)] == part for i in range(len(lines) - len(part) + 1))


def blocks(text):
    """(line, language, content) of the fenced blocks."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


documents = sorted(path for path in ROOT.rglob("*.md") if not {"build", ".git", "node_modules"} & set(path.relative_to(ROOT).parts))
examples = [stripped(path.read_text()) for path in sorted((ROOT / "examples").glob("*.c"))]
install = stripped((ROOT / "tests" / "install" / "CMakeLists.txt").read_text())
models = 0

for path in documents:
    name = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")

    # relative links lead to files
    for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        target = match.group(1)
        if "://" not in target and not (path.parent / target).exists():
            problems.append(f"{name}: link to {target} leads nowhere")

    # what a reader may copy is compiled or run
    if name.parts[0] != "README.md" and name.parts[:2] != ("docs", "manual"):
        continue
    for line, language, content in blocks(text):
        if language == "c" and not any(contains(example, stripped(content)) for example in examples):
            problems.append(f"{name}:{line}: this snippet stands in no file of examples/")
        if language == "cmake" and not all(word in install for word in stripped(content) if word):
            problems.append(f"{name}:{line}: tests/install does not say this")
        if language == "yaml" and content.startswith("holonom:") and TOOL.exists():
            models += 1
            model = pathlib.Path(f"snippet{models}.yaml")
            model.write_text(content)
            result = subprocess.run([TOOL, "check", model], capture_output=True, text=True)
            if result.returncode != 0:
                problems.append(f"{name}:{line}: the tool refuses this model: {result.stderr.strip()}")

for problem in problems:
    print(problem)
print(f"{len(problems)} problems" if problems else f"{len(documents)} documents, {models} models in them checked")
sys.exit(1 if problems else 0)
