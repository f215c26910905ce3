# SPDX-License-Identifier: Apache-2.0
# edlib::edlib, by hand: edlib's own CMake configuration refers to files Debian does not install.
# Installed with kith, whose users need it too when the library is static.
find_library(EDLIB_LIBRARY edlib)
find_path(EDLIB_INCLUDE_DIR edlib.h)
mark_as_advanced(EDLIB_LIBRARY EDLIB_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(edlib REQUIRED_VARS EDLIB_LIBRARY EDLIB_INCLUDE_DIR)

if(edlib_FOUND AND NOT TARGET edlib::edlib)
  add_library(edlib::edlib UNKNOWN IMPORTED)
  set_target_properties(edlib::edlib PROPERTIES
    IMPORTED_LOCATION "${EDLIB_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${EDLIB_INCLUDE_DIR}")
endif()
