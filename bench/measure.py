# SPDX-License-Identifier: Apache-2.0
"""`kith measure` beside other programs on the same data: local alignments of 500 proteins beside parasail's own
program, dynamic time warping of 600 series beside a plain loop (bench/dtw_loop.cpp).

    measure.py KITH [DTW_LOOP]           default: bench/dtw_loop of the same build

Whole programs, with reading and writing; the least processor time and the least wall time of three runs. parasail_aligner
aligns every pair in both orders, kith each pair once, so that times per alignment stand beside the times. "times 1 thread" is
how many times faster than with one thread by the clock: it says something on a free machine alone, and the load is printed.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

SHARED = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"
ROUNDS = 3


def timed(command, **options):
    """The least processor seconds and the least wall seconds."""
    best = (float("inf"), float("inf"))
    for _ in range(ROUNDS):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **options)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = (min(best[0], cpu), min(best[1], wall))
    return best


def show(what, threads, seconds, alignments, alone=None):
    """`alone`: seconds of the same with one thread."""
    cpu, wall = seconds
    times = f"{alone[1] / wall:.2f}" if alone else ""
    print(f"| {what} | {threads} | {cpu:.2f} | {wall:.2f} | {times} | {1e6 * cpu / alignments:.2f} |", flush=True)


def measured(kith, folder, data, name, threads):
    seconds = timed([kith, "measure", "--data", data, "--measure", name, "--threads", threads, "--quiet", "--out",
                     folder / "kith.npy"])
    return seconds, np.load(folder / "kith.npy")


def scaled(kith, folder, data, name, pairs_of):
    """With one thread and with two, which must give the same bits; returns the matrix."""
    alone, values = measured(kith, folder, data, name, 1)
    what = f"kith {name}, {len(values)} samples"
    show(what, 1, alone, pairs_of(len(values)))
    both, again = measured(kith, folder, data, name, 2)
    show(what, 2, both, pairs_of(len(values)), alone)
    assert (values == again).all(), "two threads give other values"
    return values


def alignments(kith, folder):
    fasta = SHARED / "scop40-10sf/sequences.fasta"
    if not fasta.exists():
        print(f"{fasta} is absent: no alignments")
        return
    S = scaled(kith, folder, fasta, "smith-waterman", lambda n: n * (n + 1) / 2)
    if shutil.which("parasail_aligner") is None:
        print("parasail_aligner is absent (Debian package parasail)")
        return
    out = folder / "parasail.csv"
    alone = None
    for threads in (1, 2):
        command = ["parasail_aligner", "-a", "sw_striped_profile_sat", "-x", "-m", "blosum62", "-o", 12, "-e", 1,
                   "-t", threads, "-f", fasta, "-g", out]
        # It takes standard input for the queries.
        seconds = timed(["sh", "-c", 'exec "$@" < "$0"', fasta, *command])
        show("parasail_aligner", threads, seconds, S.size, alone)
        alone = seconds
    table = np.loadtxt(out, delimiter=",", usecols=(0, 1, 4), dtype=int)
    assert (S[table[:, 0], table[:, 1]] == table[:, 2]).all(), "the scores differ"


def warping(kith, loop, folder):
    csv = SHARED / "ucr-syntheticcontrol/series.csv"
    if not csv.exists():
        print(f"{csv} is absent: no series")
        return
    series = np.loadtxt(csv, delimiter=",")
    series.tofile(folder / "series.bin")
    pairs = len(series) * (len(series) - 1) / 2
    D = scaled(kith, folder, csv, "dtw", lambda n: n * (n - 1) / 2)
    # Reading and writing are most of what these 600 take; three times over they are not.
    np.save(folder / "longer.npy", np.vstack(3 * [series]))
    scaled(kith, folder, folder / "longer.npy", "dtw", lambda n: n * (n - 1) / 2)
    if not loop.exists():
        print(f"{loop} is absent")
        return
    seconds = timed([loop, folder / "series.bin", *series.shape, folder / "loop.bin"])
    show("plain loop", 1, seconds, pairs)
    assert (np.fromfile(folder / "loop.bin").reshape(D.shape) == D).all(), "the distances differ"


def main():
    kith = pathlib.Path(sys.argv[1]).resolve()
    loop = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else kith.parent / "bench/dtw_loop"
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| program | threads | processor s | wall s | times 1 thread | us per pair |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        alignments(kith, pathlib.Path(name))
        warping(kith, loop, pathlib.Path(name))


if __name__ == "__main__":
    main()
