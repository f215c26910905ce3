# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers, the same for every target of this tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# ccache, where it is installed, for g++. Precompiled headers need these settings of it and the flag.
find_program(KITH_CCACHE ccache DOC "Compiler cache; empty: none")
if(KITH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${KITH_CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

add_library(kith_options INTERFACE)
target_compile_options(kith_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wno-missing-field-initializers)  # settings are named at the call: f({.tolerance = 1e-8})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms inside std::string of g++ 12 (GCC bugs 105329, 105651).
  target_compile_options(kith_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(KITH_BATCHES)
  # g++ takes a source inside a batch for a header, in which local types would be a danger; and a local name
  # may be like one of another source, which hides nothing where each is compiled alone (preset dev).
  target_compile_options(kith_options INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(KITH_WARNINGS_AS_ERRORS)
  target_compile_options(kith_options INTERFACE -Werror)
endif()
if(KITH_SANITIZE)
  add_compile_options(-fsanitize=${KITH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KITH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND KITH_SANITIZE MATCHES "undefined")
    add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/tools/ubsan_ignore.txt)
  endif()
endif()
