#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what every source file has in common: an SPDX line on top, ASCII text, `#pragma once` in
headers, and in a source of the library its own header first, which shows that the header needs no other. The library
does not speak command line: its texts name no flag, and what they mention in double brackets is in `kMentioned`.

    tools/check_sources.py [ROOT]
"""

import re
import sys
from pathlib import Path

FOLDERS = ["include", "src", "app", "tests", "bench", "examples", "python", "tools", "cmake"]
CPP = {".cpp", ".hpp"}
ENDINGS = CPP | {".py", ".sh", ".cmake"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
LIBRARY = {"include", "src"}
MENTIONS = Path("include/kith/core/mention.hpp")
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
FLAG = re.compile(r"(?<![A-Za-z0-9-])--[a-z]{2,}")
MENTION = re.compile(r"\[\[([a-z-]+)(?:=[^\]]*)?\]\]")


def mentioned(root):
    """The ids that texts of the library may name."""
    header = root / MENTIONS
    list_of = re.search(r"kMentioned = \{(.*?)\}", header.read_text(), re.S) if header.exists() else None
    return set(re.findall(r'"([a-z-]+)"', list_of[1])) if list_of else set()


def problems_of_texts(path, lines, known):
    for number, line in enumerate(lines, start=1):
        for text in TEXT.findall(line.decode(errors="replace").split("// ")[0]):
            if FLAG.search(text):
                yield f"{path}:{number}: a text of the library names a flag; mention its id in double brackets"
            for name in MENTION.findall(text):
                if name not in known:
                    yield f"{path}:{number}: [[{name}]] is not in kMentioned of {MENTIONS}"


def problems_of_file(root, path, known):
    lines = (root / path).read_bytes().split(b"\n")
    if not any(SPDX.encode() in line for line in lines[:2]):
        yield f"{path}:1: no line with '{SPDX}' on top"
    if path.suffix == ".hpp" and b"#pragma once" not in lines:
        yield f"{path}:1: no '#pragma once'"
    if path.suffix not in CPP:
        return
    if path.parts[0] == "src" and path.suffix == ".cpp":
        own = [name for name in (f"kith/{path.relative_to('src').with_suffix('.hpp')}",
                                 str(path.relative_to("src").with_suffix(".hpp")))
               if (root / "include" / name).exists() or (root / "src" / name).exists()]
        first = next((line for line in lines if line.startswith(b"#include")), b"")
        if own and first not in [f'#include "{name}"'.encode() for name in own]:
            yield f"{path}:1: its own header, {own[0]}, must be the first include"
    if path.parts[0] in LIBRARY:
        yield from problems_of_texts(path, lines, known)
    for number, line in enumerate(lines, start=1):
        if not line.isascii():
            yield f"{path}:{number}: not ASCII; write \\u escapes"


def check(root):
    files = sorted(p.relative_to(root) for folder in FOLDERS for p in (root / folder).rglob("*")
                   if p.is_file() and p.suffix in ENDINGS)
    known = mentioned(root)
    return len(files), [problem for path in files for problem in problems_of_file(root, path, known)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    count, problems = check(root)
    for problem in problems:
        print(problem)
    print(f"{count} files, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
