# SPDX-License-Identifier: MIT
"""Write the source of holonom._native: the public headers, as the compiler sees them, given to cffi.

usage: generate.py COMPILER INCLUDE_FOLDER OUTPUT.c
"""

import pathlib
import re
import subprocess
import sys

from cffi import FFI


def expand(name: str, include: pathlib.Path, seen: set[str]) -> str:
    """A public header with the public ones it includes in their place, each once."""
    if name in seen:
        return ""
    seen.add(name)
    text = (include / name).read_text()
    text = re.sub(r"^\s*#include <(holonom/\w+\.h)>.*$", lambda m: expand(m.group(1), include, seen), text, flags=re.M)
    return re.sub(r"^\s*#include.*$", "", text, flags=re.M)


def declarations(compiler: str, include: pathlib.Path) -> str:
    """The headers without what is not theirs: includes, attributes, the brackets for C++."""
    text = expand("holonom/holonom.h", include, set())
    text = re.sub(r"#if defined\(__GNUC__\).*?#endif", "#define HN_API\n#define HN_NODISCARD\n#define HN_PRINTF(a, b)\n",
                  text, count=1, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^static inline ([^{;]*?)\s*\{.*?^\}", r"\1;", text, flags=re.M | re.S)
    done = subprocess.run([compiler, "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    numbers = "".join(f"#define {name} ...\n" for name in re.findall(r"^#define (HN_\w+) \d+\s*$", text, flags=re.M))
    return numbers + re.sub(r"\b_Bool\b", "bool", done.stdout)


def main() -> None:
    compiler, include, output = sys.argv[1:]
    ffi = FFI()
    ffi.cdef(declarations(compiler, pathlib.Path(include)))
    ffi.cdef('extern "Python" void holonom_log(const char *line, void *user);')
    ffi.set_source("holonom._native", "#include <holonom/holonom.h>")
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main()
