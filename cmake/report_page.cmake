# SPDX-License-Identifier: Apache-2.0
# The page of `kith report`: report/ and its packages, bundled into one source file of the library. npm is
# the only step of the build that may need a network; KITH_REPORT_BUNDLE=OFF leaves the page out.
if(NOT KITH_REPORT_BUNDLE)
  target_sources(kith PRIVATE ${PROJECT_SOURCE_DIR}/src/report/no_page_source.cpp)
  return()
endif()
find_program(KITH_NODE node DOC "Node.js, which bundles the page of kith report")
find_program(KITH_NPM npm DOC "npm, which fetches what the page of kith report is made of")
if(NOT KITH_NODE OR NOT KITH_NPM)
  message(FATAL_ERROR "The page of `kith report` is bundled with Node.js and npm, and they are not here. Install "
                      "them (tools/install_dependencies.sh does), or leave the page out: -DKITH_REPORT_BUNDLE=OFF")
endif()
set(page_sources ${PROJECT_SOURCE_DIR}/report)
set(page_folder ${PROJECT_BINARY_DIR}/report)
set(packages ${page_folder}/node_modules/.package-lock.json)
add_custom_command(
  OUTPUT ${packages}
  COMMAND ${KITH_NODE} ${page_sources}/fetch.mjs ${KITH_NPM} ${page_folder}
  DEPENDS ${page_sources}/package.json ${page_sources}/package-lock.json ${page_sources}/fetch.mjs
  COMMENT "Fetching the packages of the report page" VERBATIM)
set(page_parts
  page.html style.css data.js dom.js figure.js heatmap.js main.js methods.js model.js numbers.js ranks.js repeat.js
  results.js samples.js table.js)
list(TRANSFORM page_parts PREPEND ${page_sources}/src/)
add_custom_command(
  OUTPUT ${page_folder}/page_source.cpp
  COMMAND ${KITH_NODE} ${page_sources}/bundle.mjs ${page_folder}
  DEPENDS ${page_sources}/bundle.mjs ${packages} ${page_parts}
  COMMENT "Bundling the report page" VERBATIM)
target_sources(kith PRIVATE ${page_folder}/page_source.cpp)
set_source_files_properties(${page_folder}/page_source.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
