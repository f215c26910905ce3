# SPDX-License-Identifier: Apache-2.0
# kith_batch(TARGET source...): with KITH_BATCHES, compiles these sources of TARGET, without `.cpp`, as one
# translation unit. The same code and checks in half the time; the sources must not share local names.
function(kith_batch target first)
  if(NOT KITH_BATCHES)
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  set(sources ${first} ${ARGN})
  list(TRANSFORM sources PREPEND "${folder}/")
  list(TRANSFORM sources APPEND ".cpp")
  string(MAKE_C_IDENTIFIER ${first} name)
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${name})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
