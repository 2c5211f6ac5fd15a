#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the sources and checks who includes whom, which calls the library makes, and what the files may not say."""

import pathlib
import re
import subprocess
import sys

TOOL = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])

# Dependency order of the folders under src; folders of one group may not include each other.
ORDER = [["base"], ["linalg"], ["model"], ["joints", "elements"], ["system"], ["reductions"], ["schemes"],
         ["simulation"], ["batch"], ["io"], ["study"]]
RANK = {folder: rank for rank, group in enumerate(ORDER) for folder in group}

STANDARD_C = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar
    wctype""".split())
POSIX = set("""dirent fcntl libgen poll pthread strings sys/file sys/ioctl sys/mman sys/resource sys/stat sys/time sys/types
    sys/wait unistd""".split())
# counters of the processor and of valgrind, for benchmarks
KERNEL = {"linux/perf_event.h", "sys/syscall.h", "valgrind/callgrind.h"}
LINEAR_ALGEBRA = re.compile(r"(suitesparse/)?(amd|btf|camd|ccolamd|cholmod|colamd|klu|umfpack|spqr|SuiteSparse\w*|"
                            r"lapack|lapacke|cblas|blas)\.h")
FILES = re.compile(r"(hdf5|H5public|libfyaml|muParserDLL|libxml/\w+)\.h")

# Calls and names the library never uses: it does not print, stop the program, or read the environment or the locale.
FORBIDDEN_CALLS = """printf vprintf puts putchar perror exit _exit _Exit quick_exit abort raise signal system getenv
    secure_getenv setenv putenv setlocale localeconv uselocale rand srand""".split()
FORBIDDEN_NAMES = ["stdout", "stderr", "stdin"]
# Memory comes from the context; only it calls these.
ALLOCATION_CALLS = "malloc calloc realloc aligned_alloc posix_memalign strdup strndup asprintf".split()
ALLOCATOR = "src/base/context.c"

# File names that hide their content.
VAGUE_NAMES = {"common", "util", "utils", "misc", "aux", "internal", "private", "helpers"}

# Characters of a row in the table of folders.
LINE = 120

problems = []


def complain(path, line, text):
    place = path.relative_to(ROOT)
    problems.append(f"{place}:{line}: {text}" if line else f"{place}: {text}")


def code_of(text):
    """The text with comments, strings and character constants blanked, line ends kept."""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def standard(name, posix=False):
    stem = name[:-2] if name.endswith(".h") else name
    return stem in STANDARD_C or (posix and stem in POSIX)


def check_library_includes(path, text):
    folder = path.relative_to(ROOT / "src").parts[0]
    if folder not in RANK:
        complain(path, 0, f"folder '{folder}' has no place in the dependency order")
        return
    for number, angled, name in includes_of(text):
        if not angled:
            other = name.split("/")[0]
            if not (ROOT / "src" / name).is_file():
                complain(path, number, f"\"{name}\" is no file under src; includes are written \"folder/file.h\"")
            elif other != folder and RANK[other] >= RANK[folder]:
                complain(path, number, f"{folder} includes {other}, which is not to its left in the dependency order")
        elif name.startswith("holonom/") or standard(name, posix=folder == "io" or path.stem == "thread_pool"):
            continue
        elif LINEAR_ALGEBRA.fullmatch(name):
            if folder != "linalg":
                complain(path, number, f"only linalg includes <{name}>")
        elif FILES.fullmatch(name):
            if folder != "io":
                complain(path, number, f"only io includes <{name}>")
        else:
            complain(path, number, f"<{name}> is neither standard nor a library this folder may use")


# one file of the tool draws, one reads the papers' rows
TOOL_LIBRARIES = {"cli/canvas.c": {"cairo.h", "cairo-pdf.h"}, "cli/paper_read.c": {"libfyaml.h"},
                  "cli/page_block.c": {"zlib.h"}, "cli/archive.c": {"zlib.h"}}


def check_user_includes(path, text, folder):
    """Tool, Python package, examples and benchmarks see the library as a user does."""
    for number, angled, name in includes_of(text):
        if angled and (name.startswith("holonom/") or standard(name, posix=True)):
            continue
        if angled and name in TOOL_LIBRARIES.get(str(path.relative_to(ROOT)), ()):
            continue
        if not angled and ((ROOT / folder / name).is_file() or (path.parent / name).is_file()):
            continue
        # the tool writes the setup that units read
        if folder == "cli" and not angled and (ROOT / "fmu" / name).is_file():
            continue
        # the benchmarks run on the models that the tool generates, and count instructions through kernel or valgrind
        if folder == "benchmarks" and (name in KERNEL or (not angled and (ROOT / "cli" / name).is_file())):
            continue
        complain(path, number, f"{folder} uses only <holonom/...> and standard headers, not {name}")


def check_calls(path, text):
    code = code_of(text)
    for number, line in enumerate(code.splitlines(), 1):
        for call in FORBIDDEN_CALLS:
            if re.search(rf"(?<![\w.>]){call}\s*\(", line):
                complain(path, number, f"the library does not call {call}")
        for name in FORBIDDEN_NAMES:
            if re.search(rf"\b{name}\b", line):
                complain(path, number, f"the library does not use {name}")
        if str(path.relative_to(ROOT)) != ALLOCATOR:
            for call in ALLOCATION_CALLS:
                if re.search(rf"(?<![\w.>]){call}\s*\(", line):
                    complain(path, number, f"memory comes from context_allocate, not {call}")


def check_form(path, text):
    lines = text.splitlines()
    if not lines or "SPDX-License-Identifier: MIT" not in lines[0]:
        complain(path, 1, "the first line is the SPDX licence")
    if len(lines) < 2 or not re.match(r"// \S", lines[1]):
        complain(path, 2, "the second line says the purpose of the file")
    if path.stem in VAGUE_NAMES:
        complain(path, 0, "the name does not say what is inside")
    for number, line in enumerate(lines, 1):
        if "\t" in line or line != line.rstrip():
            complain(path, number, "tab or trailing space")


def repository_files():
    """What is or would be under version control; a source archive without git is walked instead."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
        return [ROOT / name for name in listing if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        skip = {".git", "build", "__pycache__"}
        return [path for path in ROOT.rglob("*")
                if path.is_file() and not skip & set(path.relative_to(ROOT).parts)]


def check_repository_text():
    # written in pieces so that this file passes its own check
    outside = re.compile(r"/(?:wo" r"rk)/|\b(?:sha" r"red)/(?:design|style|papers|reference)\b|/(?:ro" r"ot|home)/\w")
    unfinished = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    address = re.compile(r"\b(?:https?|ftp)://(?!www\.w3\.org/2000/svg)")  # the name of SVG is none
    for path in repository_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        parts = path.relative_to(ROOT).parts
        builds = parts[0] in ("scripts", "cmake", ".ci", "Makefile", "CMakeLists.txt", "CMakePresets.json")
        for number, line in enumerate(text.splitlines(), 1):
            if outside.search(line):
                complain(path, number, "points outside the repository")
            if unfinished.search(line):
                complain(path, number, "is unfinished")
            if builds and address.search(line):
                complain(path, number, "the build names no network address")


def check_no_mutable_globals():
    """Every object of the library has empty .data and .bss sections."""
    build = TOOL.parent.parent
    archive = build / "lib" / "libholonom_internal.a"
    cache = build / "CMakeCache.txt"
    if not archive.is_file() or not cache.is_file():
        return
    # sanitizers keep tables of their own, and clang without optimisation writes constant literals to .data
    settings = cache.read_text()
    if "HOLONOM_SANITIZE:BOOL=ON" in settings or not re.search(r"CMAKE_BUILD_TYPE:\w+=Rel", settings):
        return
    listing = subprocess.run(["size", "-A", str(archive)], capture_output=True, check=True, text=True).stdout
    member = ""
    for line in listing.splitlines():
        words = line.split()
        if "(ex" in line:
            member = words[0]
        elif len(words) == 3 and re.fullmatch(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?", words[0]) and words[1] != "0":
            problems.append(f"{member}: {words[1]} bytes of mutable global data in {words[0]}")


def check_page():
    """src/README.md says each folder in one line, and the order that is checked here."""
    page = ROOT / "src" / "README.md"
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \|.*$", text, re.M)
    folders = sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())
    if sorted(rows) != folders:
        complain(page, 0, f"the table has {', '.join(sorted(rows))}; the folders are {', '.join(folders)}")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\| `\w+/` \|", line) and len(line) > LINE:
            complain(page, number, f"a folder is one line of at most {LINE} characters; what more there is to say stands below")
    order = " < ".join(", ".join(group) for group in ORDER)
    if order not in text:
        complain(page, 0, f"the order is {order}")


for path in sorted((ROOT / "src").rglob("*.[ch]")):
    text = path.read_text(encoding="utf-8")
    check_library_includes(path, text)
    check_calls(path, text)
    check_form(path, text)
for folder in ("cli", "python", "examples", "benchmarks"):
    for path in sorted((ROOT / folder).rglob("*.[ch]")):
        if "peers" in path.parts:  # programs of other engines, with their headers and language
            continue
        text = path.read_text(encoding="utf-8")
        check_user_includes(path, text, folder)
        check_form(path, text)
for folder in ("include", "tests"):
    for path in sorted((ROOT / folder).rglob("*.[ch]")):
        check_form(path, path.read_text(encoding="utf-8"))
check_page()
check_repository_text()
check_no_mutable_globals()

for problem in problems:
    print(problem)
print(f"{len(problems)} problems" if problems else "the tree follows its rules")
sys.exit(1 if problems else 0)
