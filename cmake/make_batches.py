#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides C++ sources into batches that can each be compiled as one translation unit.

    make_batches.py FILE LINES SOURCE...

Writes one line per batch to FILE: its sources, separated by semicolons. A batch has at most LINES lines, if no single
source has more. Sources that declare the same name in an unnamed namespace of the same namespace never share a batch.
Batches that FILE has already are kept while they serve, so that a small change does not compile everything again.
"""

import re
import sys
from pathlib import Path

# clang-format keeps declarations of a namespace at the start of a line, and their contents indented.
NOT_A_DECLARATION = re.compile(r"$|[ })#/]|static_assert|using namespace|using [\w:]+::\w+;")
NAMESPACE = re.compile(r"namespace ([\w:]+) \{$")
TEMPLATE_HEAD = re.compile(r"template\s*<[^>]*>\s*")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union|concept|using)\s+(\w+)")
FUNCTION_OR_VARIABLE = re.compile(r"(?<![\w:])(\w+)\s*(\(|\[|=|\{|;)(.*)")


def parameter_types(text):
    """The types in the first line of a list of parameters: functions that differ in them are overloads."""
    parameters = text.split(")")[0].split(",")
    return tuple(re.sub(r"\W*\b\w+\s*(=.*)?$", "", parameter).strip() for parameter in parameters)


def local_names(text):
    """What a source declares in unnamed namespaces or as `static`: {name: {parameter types of each overload}}, with
    None in place of the parameters for a type or a variable. Names come with the namespace around the unnamed one: the
    same name in another is another name, which an inner one hides."""
    names = {}
    around = []
    unnamed = False
    for line in text.split("\n"):
        if line.startswith("namespace {"):
            unnamed = True
        elif line == "}  // namespace":
            unnamed = False
        elif found := NAMESPACE.match(line):
            around.append(found.group(1))
        elif line.startswith("}  // namespace ") and around:
            around.pop()
        elif (unnamed or line.startswith("static ")) and not NOT_A_DECLARATION.match(line):
            declaration = TEMPLATE_HEAD.sub("", line)
            if found := TYPE.match(declaration):
                names.setdefault(("::".join(around), found.group(1)), set()).add(None)
            elif found := FUNCTION_OR_VARIABLE.search(declaration):
                overload = parameter_types(found.group(3)) if found.group(2) == "(" else None
                names.setdefault(("::".join(around), found.group(1)), set()).add(overload)
    return names


def clash(a, b):
    """Whether two sources with these local names cannot be compiled as one."""
    return any(None in a[name] or None in b[name] or a[name] & b[name] for name in a.keys() & b.keys())


def may_share(names, others):
    return not any(clash(names, other) for other in others)


def made_batches(sources, names, lines, most_lines):
    """Lists of sources: each goes to the first batch that has room and that it does not clash with."""
    batches = []
    for source in sources:
        for batch in batches:
            if (sum(lines[other] for other in batch) + lines[source] <= most_lines
                    and may_share(names[source], [names[other] for other in batch])):
                batch.append(source)
                break
        else:
            batches.append([source])
    return batches


def still_serve(batches, sources, names):
    """Whether batches made before are of these sources, and none clashes with another of its batch by now."""
    if sorted(source for batch in batches for source in batch) != sorted(sources):
        return False
    return all(may_share(names[source], [names[other] for other in batch[:i]])
               for batch in batches for i, source in enumerate(batch))


def main():
    path, most_lines, sources = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    texts = {source: Path(source).read_text(encoding="utf-8") for source in sources}
    names = {source: local_names(text) for source, text in texts.items()}
    lines = {source: text.count("\n") for source, text in texts.items()}
    batches = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    if not still_serve(batches, sources, names):
        batches = made_batches(sources, names, lines, most_lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(";".join(batch) + "\n" for batch in batches), encoding="utf-8")


if __name__ == "__main__":
    main()
