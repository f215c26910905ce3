# SPDX-License-Identifier: Apache-2.0
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}: ${ARGN}")
  endif()
endfunction()

# configure(WANTED_VERSION): configures the outside project; `configured` says whether it worked.
function(configure wanted)
  set(flags "${CXX_FLAGS}")
  if(SANITIZE)
    string(APPEND flags " -fsanitize=${SANITIZE}")
  endif()
  file(REMOVE_RECURSE ${WORK_DIR}/build)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${OUTSIDE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
            -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
            -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_BUILD_TYPE=Debug -DWANTED_VERSION=${wanted}
            -DREADME_EXAMPLE=${WORK_DIR}/readme_example.cpp
    RESULT_VARIABLE result OUTPUT_QUIET)
  if(result EQUAL 0)
    set(configured YES PARENT_SCOPE)
  else()
    set(configured NO PARENT_SCOPE)
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

file(READ ${README} page)
if(NOT page MATCHES "```cpp\n([^`]*)```")
  message(FATAL_ERROR "README.md has no C++ example")
endif()
file(WRITE ${WORK_DIR}/readme_example.cpp "${CMAKE_MATCH_1}")

foreach(wrong 99.0 ${MAJOR_MINOR}.99)
  message(STATUS "version ${wrong} must be refused:")
  configure(${wrong})
  if(configured)
    message(FATAL_ERROR "find_package(kith ${wrong}) accepted kith ${VERSION}")
  endif()
endforeach()

configure(${MAJOR_MINOR})
if(NOT configured)
  message(FATAL_ERROR "find_package(kith ${MAJOR_MINOR}) did not find the installed kith")
endif()
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/outside)
file(WRITE ${WORK_DIR}/scores.csv "0,2\n2,0\n")
execute_process(COMMAND ${WORK_DIR}/build/readme_example WORKING_DIRECTORY ${WORK_DIR}
                OUTPUT_VARIABLE printed RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT printed STREQUAL "2 samples, smallest eigenvalue -2\n")
  message(FATAL_ERROR "the example of README.md ended with ${result} and printed: ${printed}")
endif()
if(WITH_APP)
  run(${WORK_DIR}/prefix/bin/kith --version)
endif()

# Nothing installed may know where it was built.
file(GLOB_RECURSE scripts ${WORK_DIR}/prefix/*.cmake)
foreach(script IN LISTS scripts)
  file(READ ${script} text)
  string(FIND "${text}" "${BUILD_DIR}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${script} names the build folder")
  endif()
endforeach()
