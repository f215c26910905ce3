#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a long edge list and shows that memory goes with the edges, not with the square of the ids.

  python3 bench/read_edges.py build/bench/kith [edges] [ids] [repeats]

kith's side is bench/read_matrix of the same build. Shown are the best of the repeats and the peak
resident memory of the reading process.
"""
import os
import random
import subprocess
import sys
import tempfile


def write_edges(path, edges, ids):
    draw = random.Random(1)
    with open(path, "w") as out:
        left = edges
        while left:
            count = min(left, 1_000_000)
            left -= count
            out.write("".join(f"protein_{int(draw.random() * ids)}\tprotein_{int(draw.random() * ids)}"
                              f"\t{draw.random():.6f}\n" for _ in range(count)))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    reader = os.path.join(os.path.dirname(sys.argv[1]), "bench", "read_matrix")
    edges = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    ids = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "list.edges")
        write_edges(path, edges, ids)
        size = os.path.getsize(path) / 1e6
        runs = []
        for _ in range(repeats):
            out = subprocess.run([reader, path], check=True, capture_output=True, text=True)
            runs.append([float(word) for word in out.stdout.split()])
        rows, cols, seconds, peak, _ = min(runs, key=lambda run: run[2])
        assert rows == cols <= ids, (rows, cols)
        print(f"{edges} edges over {rows:.0f} ids, {size:.0f} MB, best of {repeats}: {seconds:.2f} s, "
              f"{size / seconds:.0f} MB/s, peak {peak / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
