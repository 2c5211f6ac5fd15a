# SPDX-License-Identifier: MIT
# Puts beside FOLDER/unit.so the shared libraries it needs, and its sources. Run after
# it was linked. Those of the C and C++ compilers stay outside, as in Python's wheels: every machine has them, and an
# older one from here would stand in the way of programs that need a newer. FIRST: libraries that are taken from just
# there.
cmake_policy(VERSION 3.25)

file(GLOB old "${FOLDER}/lib*.so*")
file(REMOVE "${FOLDER}/none" ${old}) # there may be none
foreach(library IN LISTS FIRST)
    file(REAL_PATH "${library}" real)
    # the name that programs ask for: libblas.so.3 of libblas.so.3.11.0
    get_filename_component(name "${real}" NAME)
    string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name "${name}")
    file(COPY_FILE "${real}" "${FOLDER}/${name}")
endforeach()
file(GET_RUNTIME_DEPENDENCIES LIBRARIES "${FOLDER}/unit.so"
    RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
    PRE_EXCLUDE_REGEXES "^(libc|libm|libdl|librt|libpthread|libstdc\\+\\+|libgcc_s|ld-linux.*|libasan|libubsan|libtsan|libclang_rt.*)\\.so")
foreach(library IN LISTS found)
    get_filename_component(name "${library}" NAME)
    file(REAL_PATH "${library}" real)
    if(NOT EXISTS "${FOLDER}/${name}")
        file(COPY_FILE "${real}" "${FOLDER}/${name}")
    endif()
endforeach()
if(missing)
    message(WARNING "units need libraries that were not found: ${missing}")
endif()

file(REMOVE_RECURSE "${FOLDER}/sources")
file(COPY "${SOURCE}/src" "${SOURCE}/include" "${SOURCE}/fmu" DESTINATION "${FOLDER}/sources"
    FILES_MATCHING PATTERN "*.[ch]")
file(GLOB_RECURSE copied "${FOLDER}/sources/src/*.c")
list(FILTER copied INCLUDE REGEX "${LEFT_OUT}")
file(REMOVE "${FOLDER}/none" ${copied})
file(COPY_FILE "${SOURCE}/fmu/sources.cmake" "${FOLDER}/sources/CMakeLists.txt")
file(COPY_FILE "${SOURCE}/LICENSE" "${FOLDER}/sources/LICENSE")
