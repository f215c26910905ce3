# SPDX-License-Identifier: Apache-2.0
# Installs the library, its headers and a CMake package: find_package(kith) gives kith::kith.
include(CMakePackageConfigHelpers)
set(kith_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kith)

# Before 1.0 a minor version may break callers, so it is part of the shared library's name.
set_target_properties(kith PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS kith EXPORT kith_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kith ${PROJECT_BINARY_DIR}/include/kith
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT kith_targets NAMESPACE kith:: FILE kithTargets.cmake
  DESTINATION ${kith_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kithConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kithConfig.cmake INSTALL_DESTINATION ${kith_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kithConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kithConfig.cmake ${PROJECT_BINARY_DIR}/kithConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/Findedlib.cmake DESTINATION ${kith_package_dir})
