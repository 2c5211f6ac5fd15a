#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs to a temporary prefix, moves it, and uses it as a user would: CMake, pkg-config, C++, the tool."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
build = pathlib.Path(sys.argv[2])
cmake = sys.argv[3]
compiler = sys.argv[4]

MODEL = source / "models" / "gyro-top.yaml"
HELLO = source / "examples" / "hello.c"


def run(*command, environment=None):
    """Run a command; show it and its output when it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        print("$", shlex.join(words))
        print(result.stdout, result.stderr)
        sys.exit(f"failed with exit code {result.returncode}")
    return result.stdout


def energies(output):
    """The lines of hello.c hold a time and an energy."""
    lines = [line for line in output.splitlines() if " s " in line and line.rstrip().endswith("J")]
    if not lines:
        sys.exit(f"hello printed no energies:\n{output}")
    return lines


with tempfile.TemporaryDirectory(prefix="holonom-install-") as folder:
    work = pathlib.Path(folder)
    first = work / "first"
    run(cmake, "--install", build, "--prefix", first)
    prefix = work / "moved prefix" # an installed tree may be moved, and a path may have a space
    shutil.move(first, prefix)

    package = next(prefix.rglob("holonom-config.cmake"), None)
    pkgconfig = next(prefix.rglob("holonom.pc"), None)
    if package is None or pkgconfig is None:
        sys.exit("the CMake package or holonom.pc is not installed")
    library_folder = pkgconfig.parent.parent
    shared = (library_folder / "libholonom.so").exists()

    # through CMake
    run(cmake, "-S", source / "tests" / "install", "-B", work / "cmake", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compiler}", f"-DHELLO_SOURCE={HELLO}", "-DCMAKE_BUILD_TYPE=Release")
    run(cmake, "--build", work / "cmake")
    by_cmake = energies(run(work / "cmake" / "hello", MODEL))

    # through pkg-config
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pkgconfig.parent))
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "holonom", environment=environment))
    run(compiler, "-std=c17", "-O2", HELLO, "-o", work / "hello", *flags, f"-Wl,-rpath,{library_folder}")
    by_pkgconfig = energies(run(work / "hello", MODEL))

    # one library, one answer
    if by_cmake != by_pkgconfig:
        sys.exit("the two programs differ:\n" + "\n".join(by_cmake + by_pkgconfig))

    # where an HDF5 with MPI owns the plain name, the serial one is taken, by CMake and for holonom.pc
    serial = subprocess.run(["pkg-config", "--cflags", "hdf5-serial"], capture_output=True, text=True)
    if serial.returncode == 0:
        decoy = work / "decoy"
        decoy.mkdir()
        (decoy / "hdf5.pc").write_text("Name: HDF5\nDescription: with MPI\nVersion: 1.14.0\n"
                                       "Cflags: -I/nowhere/openmpi\nLibs: -L/nowhere/openmpi -lhdf5_openmpi\n")
        run(cmake, "-S", source, "-B", work / "serial", f"-DCMAKE_C_COMPILER={compiler}", "-DBUILD_TESTING=OFF",
            environment=dict(os.environ, PKG_CONFIG_PATH=str(decoy)))
        cache = (work / "serial" / "CMakeCache.txt").read_text()
        described = next((work / "serial").rglob("holonom.pc")).read_text()
        if "openmpi" in cache or "hdf5-serial" not in described:
            sys.exit("the HDF5 library with MPI is taken where the serial one is there")

    # all public headers are there, as they are (tests/architecture/test_headers.py compiles each alone)
    mine, installed = ({header.name: header.read_bytes() for header in (where / "include" / "holonom").glob("*.h")}
                       for where in (source, prefix))
    if mine != installed or not mine:
        sys.exit(f"installed headers are not those of the source: {sorted(mine)} and {sorted(installed)}")

    # the shared library exports the public functions and nothing else
    if shared:
        names = [line.split()[-1] for line in
                 run("nm", "-D", "--defined-only", library_folder / "libholonom.so").splitlines()]
        strangers = [name for name in names if not name.startswith("hn_")]
        if strangers or not names:
            sys.exit(f"exported besides hn_*: {strangers}")

    # the tool runs from where it was moved to
    tool = prefix / "bin" / "holonom"
    if not tool.exists():
        sys.exit("the tool is not installed")
    version = run(tool, "--version")
    print(f"installed {version.strip()}: CMake, pkg-config, {'shared' if shared else 'static'} library, tool")
    print("\n".join(by_cmake))
