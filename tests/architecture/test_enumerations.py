#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every enumeration of the public headers has its words both ways: hn_X_name and hn_X_from_name."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[2])
text = "\n".join(p.read_text(encoding="utf-8") for p in sorted((root / "include/holonom").glob("*.h")))
names = re.findall(r"^typedef enum (hn_\w+)", text, re.M)
missing = [f"{name}{ending}" for name in names for ending in ("_name", "_from_name") if f"{name}{ending}(" not in text]
for name in missing:
    print(f"{name} is not declared")
print(f"{len(names)} enumerations, {len(missing)} words missing")
sys.exit(1 if missing or len(names) < 15 else 0)
