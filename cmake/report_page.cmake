# SPDX-License-Identifier: Apache-2.0
# The page of `kith report`: report/ and its packages, bundled into one source file of the library. npm is the only
# step of the build that may need a network. KITH_REPORT_BUNDLE=AUTO leaves the page out where there is none, OFF
# always. KITH_PREBUILT_PAGE, where that file exists, is used instead of bundling.
if(NOT KITH_REPORT_BUNDLE)
  target_sources(kith PRIVATE ${PROJECT_SOURCE_DIR}/src/report/no_page_source.cpp)
  return()
endif()
find_program(KITH_NODE node DOC "Node.js, which bundles the page of kith report")
find_program(KITH_NPM npm DOC "npm, which fetches what the page of kith report is made of")
set(page_sources ${PROJECT_SOURCE_DIR}/report)
set(page_folder ${PROJECT_BINARY_DIR}/report)
set(KITH_PREBUILT_PAGE ${page_sources}/prebuilt/page.html CACHE FILEPATH
    "The bundled page, made before: build/release/report/page.html of another build of this version")
set(page_parts
  page.html style.css classes.js compare.js data.js dom.js figure.js heatmap.js learning.js main.js methods.js model.js
  numbers.js ranks.js repeat.js results.js samples.js score.js table.js values.js)
list(TRANSFORM page_parts PREPEND ${page_sources}/src/)
set(prebuilt)
if(EXISTS ${KITH_PREBUILT_PAGE})
  set(prebuilt ${KITH_PREBUILT_PAGE})
endif()
add_custom_command(
  OUTPUT ${page_folder}/page_source.cpp
  COMMAND ${KITH_PYTHON} ${page_sources}/make_page.py ${page_folder} ${KITH_PREBUILT_PAGE}
          "$<$<BOOL:${KITH_NODE}>:${KITH_NODE}>" "$<$<BOOL:${KITH_NPM}>:${KITH_NPM}>" ${KITH_REPORT_BUNDLE}
  DEPENDS ${page_sources}/make_page.py ${page_sources}/bundle.mjs ${page_sources}/fetch.mjs
          ${page_sources}/package.json ${page_sources}/package-lock.json ${page_parts} ${prebuilt}
  COMMENT "Bundling the report page" VERBATIM)
target_sources(kith PRIVATE ${page_folder}/page_source.cpp)
set_source_files_properties(${page_folder}/page_source.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
