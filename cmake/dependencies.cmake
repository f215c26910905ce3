# SPDX-License-Identifier: Apache-2.0
# Everything kith builds on, found in the system. Nothing is downloaded; docs/decisions says why each is
# here.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(matio REQUIRED IMPORTED_TARGET matio)
# edlib's own CMake configuration refers to files Debian does not install.
find_library(KITH_EDLIB_LIBRARY edlib REQUIRED)
find_path(KITH_EDLIB_INCLUDE_DIR edlib.h REQUIRED)

if(KITH_BUILD_APP)
  find_package(CLI11 REQUIRED)
endif()
if(KITH_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 COMPONENTS Interpreter)
endif()
if(KITH_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
