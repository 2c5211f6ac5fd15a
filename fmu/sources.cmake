# SPDX-License-Identifier: MIT
# Builds the engine of this co-simulation unit from its sources, for another machine: as CMakeLists.txt in the folder
# `sources` of the archive. `cmake -S sources -B build && cmake --build build` makes build/unit.so, which takes the place
# of the binary under binaries/.
#
# Needs libfyaml, muParser, LAPACK with LAPACKE's header, BLAS and SuiteSparse's AMD, with what is for development.
cmake_minimum_required(VERSION 3.16)
project(unit LANGUAGES C)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_STANDARD 17)
find_package(PkgConfig REQUIRED)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
find_path(AMD_FOLDER amd.h PATH_SUFFIXES suitesparse REQUIRED)
file(GLOB sources src/*/*.c fmu/*.c)
add_library(unit MODULE ${sources})
target_include_directories(unit PRIVATE include src fmu "${AMD_FOLDER}")
target_compile_options(unit PRIVATE -ffp-contract=off)
set_property(SOURCE src/reductions/reduced.c src/system/evaluate.c APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=fast) # as the library
target_link_libraries(unit PRIVATE PkgConfig::FYAML PkgConfig::MUPARSER PkgConfig::LAPACKE lapack blas amd
    suitesparseconfig m)
set_target_properties(unit PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
