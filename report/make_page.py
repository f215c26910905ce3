#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the HTML page of `kith report` as a C++ source.

    make_page.py FOLDER PREBUILT NODE NPM WANTED

The page is PREBUILT where that file exists; else Node.js and npm bundle it in FOLDER. Where neither can be had, WANTED
decides: with ON that is an error, with AUTO the program is built without the page, one line says so, and the file
FOLDER/left_out holds the reason. The source is FOLDER/page_source.cpp.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class NoPage(Exception):
    """Why there is no page."""


def bundled(folder, node, npm, show_errors):
    """The page, bundled from report/src and the packages of package-lock.json."""
    if not node or not npm:
        raise NoPage("Node.js and npm are not installed")
    for script, arguments, problem in [("fetch.mjs", [npm, folder], "npm could not fetch its packages"),
                                       ("bundle.mjs", [folder], "Node.js could not bundle it")]:
        done = subprocess.run([node, HERE / script, *arguments], stderr=None if show_errors else subprocess.DEVNULL)
        if done.returncode != 0:
            raise NoPage(problem)
    return (folder / "page.html").read_text(encoding="utf-8")


def cpp_source(page):
    """A function that returns the page. Every compiler takes literals of 8,000 characters; adjacent ones are one."""
    pieces = [page[at:at + 8000] for at in range(0, len(page), 8000)] or [""]
    literals = "\n".join(f'R"kith({piece})kith"' for piece in pieces)
    return ('// Made by report/make_page.py.\n#include "report/page_source.hpp"\n\nnamespace kith {\nnamespace {\n\n'
            f"constexpr char kPage[] =\n{literals};\n\n}}  // namespace\n\n"
            "std::string_view page_source() { return {kPage, sizeof(kPage) - 1}; }\n\n}  // namespace kith\n")


def main():
    folder, prebuilt, node, npm, wanted = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]
    folder.mkdir(parents=True, exist_ok=True)
    left_out = folder / "left_out"
    left_out.unlink(missing_ok=True)
    try:
        if prebuilt.is_file():
            page = prebuilt.read_text(encoding="utf-8")
        else:
            page = bundled(folder, node, npm, show_errors=wanted == "ON")
    except NoPage as reason:
        if wanted == "ON":
            print(f"The HTML page of `kith report` cannot be built: {reason}. Configure with -DKITH_REPORT_BUNDLE=OFF to "
                  "build kith without it.", file=sys.stderr)
            return 1
        print(f"The HTML page of `kith report` is left out of this build: {reason}. Everything else works; make tries again "
              "once Node.js is installed or ten minutes have passed.", flush=True)
        page = ""
        left_out.write_text(f"{reason}\n", encoding="utf-8")
    (folder / "page_source.cpp").write_text(cpp_source(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
