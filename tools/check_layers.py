#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every include line against the order of the layers (docs/architecture.md).

A file includes its own layer and lower ones, and within optim its own folder and lower ones; a public
header includes no private one; oneTBB is used in one file alone. Prints each line that breaks a rule and exits with 1 if there is any.

    tools/check_layers.py [ROOT]
"""

import re
import sys
from os.path import normpath
from pathlib import Path

LAYERS = ["core", "numerics", "optim", "data", "measure", "vectors", "condition", "learn", "inspect",
          "model", "pipeline", "evaluate", "report", "app", "python"]
RANK = {layer: rank for rank, layer in enumerate(LAYERS)}
RANK["python"] = RANK["app"]  # side by side on top
FOLDERS = ["engine", "dual", "linear", "mkl", "robust", "trace", "spectrum", "metric", "papers"]  # of optim

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCE_ENDINGS = {".hpp", ".cpp", ".h", ".in"}
ONLY_USER_OF_TBB = "src/core/parallel.cpp"


def layer_of_file(path):
    """The layer of a file given by its path from the root; None: the file belongs to none."""
    parts = path.parts
    if parts[0] in ("app", "python"):
        return parts[0]
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    if parts[:2] == ("include", "kith"):
        return parts[2] if len(parts) > 3 else "core"  # version.hpp
    return None


def layer_of_include(target, root, path):
    """The layer an include line reaches and whether it is a private header; None: not ours."""
    parts = Path(target).parts
    if parts[0] == "kith":
        return (parts[1] if len(parts) > 2 else "core"), False
    if (root / "src" / target).exists() and len(parts) > 1:
        return parts[0], True
    beside = Path(normpath(path.parent / target))
    if (root / beside).exists():
        return layer_of_file(beside), beside.parts[0] == "src"
    return None


def folder_of_optim(path):
    """The folder of a file or an include line of optim; None: it is not there."""
    parts = path.parts[:-1]
    at = parts.index("optim") + 1 if "optim" in parts else len(parts)
    return parts[at] if at < len(parts) else None


def problems_of_file(root, path):
    layer = layer_of_file(path)
    if layer is None:
        return
    if layer not in RANK:
        yield f"{path}: '{layer}' is not a layer ({', '.join(LAYERS)})"
        return
    folder = folder_of_optim(path) if layer == "optim" else None
    if folder and folder not in FOLDERS:
        yield f"{path}: '{folder}' is not a folder of optim ({', '.join(FOLDERS)})"
        return
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1) or match.group(2)
        where = f"{path}:{number}: "
        if target.startswith(("tbb/", "oneapi/")) and path.as_posix() != ONLY_USER_OF_TBB:
            yield f"{where}includes {target}; oneTBB is used in {ONLY_USER_OF_TBB} alone"
        reached = layer_of_include(target, root, path)
        if reached is None:
            continue
        other, private = reached
        if other not in RANK:
            yield f"{where}includes {target}, but '{other}' is not a layer"
        elif RANK[other] > RANK[layer] or (RANK[other] == RANK[layer] and other != layer):
            yield f"{where}layer {layer} includes {target} of the higher layer {other}"
        elif private and path.parts[0] == "include":
            yield f"{where}a public header includes the private header {target}"
        elif folder and other == "optim":
            lower = folder_of_optim(Path(target))
            if lower in FOLDERS and FOLDERS.index(lower) > FOLDERS.index(folder):
                yield f"{where}folder {folder} includes {target} of the higher folder {lower}"


def check(root):
    """The number of files looked at, and every line that breaks a rule."""
    files = sorted(p.relative_to(root) for folder in ("include", "src", "app", "python")
                   for p in (root / folder).rglob("*") if p.suffix in SOURCE_ENDINGS)
    return len(files), [problem for path in files for problem in problems_of_file(root, path)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    count, problems = check(root)
    for problem in problems:
        print(problem)
    print(f"{count} files, {len(problems)} include lines against the order of the layers")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
