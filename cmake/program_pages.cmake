# SPDX-License-Identifier: Apache-2.0
# The manual page and the shell completions, made by asking the program what it offers.
set(pages ${PROJECT_BINARY_DIR}/pages)
set(tools ${PROJECT_SOURCE_DIR}/tools)
add_custom_command(
  OUTPUT ${pages}/program.json ${pages}/kith.1 ${pages}/completions/kith ${pages}/completions/_kith
         ${pages}/completions/kith.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND kith_app __describe > ${pages}/program.json
  COMMAND ${KITH_PYTHON} ${tools}/make_man.py ${pages}/program.json ${pages}/kith.1
  COMMAND ${KITH_PYTHON} ${tools}/make_completions.py ${pages}/program.json ${pages}/completions
  DEPENDS kith_app ${tools}/make_man.py ${tools}/make_completions.py
  COMMENT "Manual page and completions" VERBATIM)
add_custom_target(kith_pages ALL DEPENDS ${pages}/kith.1)

install(FILES ${pages}/kith.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/completions/kith
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/completions/_kith DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/completions/kith.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
