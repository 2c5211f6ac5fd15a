# SPDX-License-Identifier: MIT
"""Starts a test again with the Python that has other people's packages, or skips it with a word why."""

import os
import pathlib
import sys

SKIPPED = 77  # what ctest takes for skipped


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def enter(tool, *modules):
    """The packages are in build/interop, which scripts/test-interop makes; HOLONOM_INTEROP names another folder."""
    folder = pathlib.Path(os.environ.get("HOLONOM_INTEROP") or pathlib.Path(tool).resolve().parents[1] / "interop")
    python = folder / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() != folder.resolve():
        if not python.exists():
            skip(f"there is no {python}: scripts/test-interop installs it")
        os.execv(python, [str(python), *sys.argv])
    for name in modules:
        try:
            __import__(name)
        except ImportError as problem:
            skip(f"{name} is not installed in {folder}: {problem}")
