# SPDX-License-Identifier: MIT
# Finds the libraries Holonom stands on; used by the build and, for a static library, by the installed package.
#
# Sets HOLONOM_DEPENDENCIES (targets), HOLONOM_PKGCONFIG_MODULES and HOLONOM_PLAIN_LIBRARIES (for holonom.pc).

find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
# The serial library comes first where one with MPI is installed too, which may then own the plain name: it needs no MPI
# to compile, to link or to start. `holonom.pc` names the module that was found.
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
pkg_check_modules(LIBXML2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)

# holonom_find_library(<name> [suffix]): imported target holonom_dependency::<name>
macro(holonom_find_library name suffix)
    find_library(HOLONOM_${name}_LIBRARY ${name} PATH_SUFFIXES ${suffix} REQUIRED)
    mark_as_advanced(HOLONOM_${name}_LIBRARY)
    if(NOT TARGET holonom_dependency::${name})
        add_library(holonom_dependency::${name} UNKNOWN IMPORTED)
        set_target_properties(holonom_dependency::${name} PROPERTIES
            IMPORTED_LOCATION "${HOLONOM_${name}_LIBRARY}")
    endif()
endmacro()

# Debian keeps the reference LAPACK and BLAS in folders of their own. They are preferred over what the system's
# alternatives point to: they start no threads and give the same bits on every run.
holonom_find_library(lapack lapack)
holonom_find_library(blas blas)

# SuiteSparse has no pkg-config files in the releases that distributions ship today.
holonom_find_library(amd "")
holonom_find_library(suitesparseconfig "")
find_path(HOLONOM_SUITESPARSE_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse REQUIRED)
mark_as_advanced(HOLONOM_SUITESPARSE_INCLUDE_DIR)
set_target_properties(holonom_dependency::amd PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${HOLONOM_SUITESPARSE_INCLUDE_DIR}")

set(HOLONOM_DEPENDENCIES
    PkgConfig::FYAML PkgConfig::MUPARSER PkgConfig::HDF5 PkgConfig::LIBXML2 PkgConfig::LAPACKE
    holonom_dependency::lapack holonom_dependency::blas
    holonom_dependency::amd holonom_dependency::suitesparseconfig Threads::Threads)
set(HOLONOM_PKGCONFIG_MODULES "libfyaml muparser ${HDF5_MODULE_NAME} libxml-2.0 lapacke lapack blas")
set(HOLONOM_PLAIN_LIBRARIES "-lamd -lsuitesparseconfig -lm -pthread")
