#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads one csv matrix with kith, pandas.read_csv and numpy.loadtxt, side by side.

  python3 bench/read_csv.py build/bench/kith [n] [repeats]

kith's side is bench/read_matrix of the same build.

Each reader runs in a process of its own on one core. Shown are the best of the repeats, and the
peak resident memory relative to the matrix (n * n * 8 bytes) on top of what the process held
before reading.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

READERS = {
    "pandas.read_csv": "import pandas as m; read = lambda f: m.read_csv(f, header=None).to_numpy()",
    "numpy.loadtxt": "import numpy as m; read = lambda f: m.loadtxt(f, delimiter=',')",
}
PYTHON = """
import sys, time
{define}
peak = lambda: next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
before = peak()
start = time.perf_counter()
a = read(sys.argv[1])
seconds = time.perf_counter() - start
print(*a.shape, seconds, peak(), before)
"""


def write_matrix(path, n):
    random = np.random.default_rng(1)
    with open(path, "w") as out:
        for _ in range(n):
            out.write(",".join(map(repr, random.random(n).tolist())) + "\n")


def best(command, repeats):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    runs = []
    for _ in range(repeats):
        out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        runs.append([float(word) for word in out.stdout.split()])
    return min(runs, key=lambda run: run[2])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    reader = os.path.join(os.path.dirname(sys.argv[1]), "bench", "read_matrix")
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "matrix.csv")
        write_matrix(path, n)
        size = os.path.getsize(path) / 1e6
        commands = {"kith": [reader, path]}
        for name, define in READERS.items():
            commands[name] = [sys.executable, "-c", PYTHON.format(define=define), path]
        print(f"{n} x {n}, {size:.0f} MB of csv, matrix {n * n * 8 / 1e6:.0f} MB, best of {repeats}")
        print(f"{'reader':<16}{'seconds':>9}{'MB/s':>8}{'kith is':>10}{'peak/matrix':>13}")
        first = None
        for name, command in commands.items():
            rows, cols, seconds, peak, before = best(command, 1 if "loadtxt" in name else repeats)
            assert (rows, cols) == (n, n), (name, rows, cols)
            first = first or seconds
            memory = (peak - before) * 1024 / (n * n * 8)
            print(f"{name:<16}{seconds:>9.2f}{size / seconds:>8.0f}{seconds / first:>9.1f}x"
                  f"{memory:>13.2f}")


if __name__ == "__main__":
    main()
