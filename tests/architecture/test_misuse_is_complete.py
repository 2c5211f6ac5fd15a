# SPDX-License-Identifier: MIT
"""Every function of the public headers is misused in tests/unit/test_misuse.c."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[2])
misused = (source / "tests/unit/test_misuse.c").read_text()
functions = []
for header in sorted((source / "include/holonom").glob("*.h")):
    text = re.sub(r"#define HN_API.*", "", header.read_text())
    functions += re.findall(r"HN_API[^;]*?\b(hn_\w+)\(", text)
missing = [name for name in functions if not re.search(rf"\b{name}\(", misused)]
# functions that take values alone cannot be misused, and definitions are filled by all
harmless = [name for name in missing if name.endswith("_default") or name in ("hn_ground", "hn_version")]
missing = [name for name in missing if name not in harmless]
for name in missing:
    print(f"tests/unit/test_misuse.c: no call of {name}; add one with NULL, counts and ids it must refuse")
print(f"{len(functions)} public functions, {len(missing)} not misused")
sys.exit(1 if missing or len(functions) < 60 else 0)
