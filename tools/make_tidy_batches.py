#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes large batches of sources for clang-tidy, which spends most of its time in headers: each batch reads them once.

    make_tidy_batches.py BUILD

Reads BUILD/compile_commands.json and writes BUILD/batches: sources that include the batches, and a compilation
database of their own. Every source is in one batch, even if several targets compile it. Sources that search other
folders for headers, or that use the same local names, never share one. The checks of single headers are left out:
sources include every header.
"""

import json
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cmake"))
import make_batches  # noqa: E402

MOST_LINES = 10000  # clang-tidy takes about 2 GB of memory for as many


def commands(build):
    """{source: the words of the first command that compiles it, without the names of files}"""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = entry["file"]
        if "/tests/headers/" in source or source in found:
            continue
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        found[source] = [word for word in words if word not in ("-c", source)]
    return found


def own_definitions(found):
    """Names of macros that differ from source to source."""
    values = {}
    for words in found.values():
        for word in words:
            if word.startswith("-D"):
                name, _, value = word[2:].partition("=")
                values.setdefault(name, set()).add(value)
    return {name for name, several in values.items() if len(several) > 1}


def included(source, words, own):
    """The lines of a batch that include `source`."""
    defined = [word[2:].split("=", 1) for word in words if word.startswith("-D") and word[2:].split("=")[0] in own]
    return ([f"#define {name} {value}" for name, value in defined] + [f'#include "{source}"']
            + [f"#undef {name}" for name, _ in defined])


def pairs(words):
    """The words, those of -isystem together with the folder after them."""
    rest = iter(words)
    return [(word, next(rest)) if word == "-isystem" else (word,) for word in rest]


def main():
    build = Path(sys.argv[1]).resolve()
    folder = build / "batches"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.cpp"):
        old.unlink()
    found = commands(build)
    own = own_definitions(found)
    groups = {}
    for source, words in found.items():
        groups.setdefault(tuple(word for word in words if word.startswith("-I")), []).append(source)
    database = []
    for sources in groups.values():
        texts = {source: Path(source).read_text(encoding="utf-8") for source in sources}
        names = {source: make_batches.local_names(text) for source, text in texts.items()}
        lines = {source: text.count("\n") for source, text in texts.items()}
        options = dict.fromkeys(option for source in sources for option in pairs(found[source])
                                if option[0][2:].split("=")[0] not in own)
        for batch in make_batches.made_batches(sources, names, lines, MOST_LINES):
            path = folder / f"{len(database) + 1}.cpp"
            parts = [line for source in batch for line in included(source, found[source], own)]
            path.write_text("\n".join(parts) + "\n", encoding="utf-8")
            arguments = [word for option in options for word in option]
            database.append({"directory": str(build), "file": str(path), "arguments": [*arguments, "-c", str(path)]})
    (folder / "compile_commands.json").write_text(json.dumps(database, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
