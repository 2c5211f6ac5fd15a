#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header stands alone, as C17 and as C++17 without a warning, and the one for all includes it."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[2])
include = root / "include"
headers = sorted((include / "holonom").glob("*.h"))
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
LANGUAGES = {"c17": ("c", ("gcc", "clang")), "c++17": ("c++", ("g++", "clang++"))}


def complaint(compiler, standard, language, text):
    """What a compiler says against a text; empty: nothing."""
    with tempfile.TemporaryDirectory(prefix="holonom-header-") as folder:
        unit = pathlib.Path(folder) / "unit"
        unit.write_text(text)
        command = [compiler, f"-std={standard}", "-x", language, *STRICT, "-I", str(include), str(unit)]
        made = subprocess.run(command, capture_output=True, text=True)
        return "" if made.returncode == 0 else made.stderr or made.stdout or f"exit code {made.returncode}"


failures, tried = [], []
for standard, (language, compilers) in LANGUAGES.items():
    found = [name for name in compilers if shutil.which(name)]
    if not found:
        print(f"no compiler for {standard}: none of {', '.join(compilers)} is installed")
        sys.exit(77)
    for compiler in found:
        tried.append(f"{compiler} {standard}")
        # a compiler that takes everything would prove nothing
        if not complaint(compiler, standard, language, "typedef int none[0];\n"):
            failures.append(f"{compiler} -std={standard} warns of nothing")
        for header in headers:
            # twice: the second time is empty
            line = f"#include <holonom/{header.name}>\n"
            said = complaint(compiler, standard, language, line + line)
            if said:
                failures.append(f"{header.name} alone, {compiler} -std={standard}:\n{said}")

for header in headers:
    text = header.read_text(encoding="utf-8")
    if "HN_API" in text and not re.search(r'#ifdef __cplusplus\nextern "C" \{\n#endif', text) and header.name != "holonom.h":
        failures.append(f'{header.name}: no extern "C"')
whole = (include / "holonom/holonom.h").read_text(encoding="utf-8")
failures += [f"holonom.h does not include {h.name}" for h in headers if h.name != "holonom.h" and f"<holonom/{h.name}>" not in whole]

print("\n".join(failures))
print(f"{len(headers)} headers, {', '.join(tried)}: {len(failures)} failures")
sys.exit(1 if failures or len(headers) < 10 else 0)
