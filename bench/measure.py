# SPDX-License-Identifier: Apache-2.0
"""`kith measure` beside other programs on the same data: local alignments of 500 proteins beside parasail's own
program, dynamic time warping of 600 series beside a plain loop (bench/dtw_loop.cpp).

    measure.py KITH [DTW_LOOP]           default: bench/dtw_loop of the same build

Whole programs, with reading and writing; the best processor time of three runs, and its wall time. parasail_aligner
aligns every pair in both orders, kith each pair once, so that times per alignment stand beside the times.
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
    """Processor and wall seconds of the run that took least."""
    best = None
    for _ in range(ROUNDS):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **options)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (cpu, wall), (cpu, wall))
    return best


def show(what, threads, seconds, alignments):
    cpu, wall = seconds
    print(f"| {what} | {threads} | {cpu:.2f} | {wall:.2f} | {1e6 * cpu / alignments:.2f} |")


def measured(kith, folder, data, name, threads):
    seconds = timed([kith, "measure", "--data", data, "--measure", name, "--threads", threads, "--quiet", "--out",
                     folder / "kith.npy"])
    return seconds, np.load(folder / "kith.npy")


def alignments(kith, folder):
    fasta = SHARED / "scop40-10sf/sequences.fasta"
    if not fasta.exists():
        print(f"{fasta} is absent: no alignments")
        return
    for threads in (1, 2):
        seconds, S = measured(kith, folder, fasta, "smith-waterman", threads)
        show("kith smith-waterman", threads, seconds, len(S) * (len(S) + 1) / 2)
    if shutil.which("parasail_aligner") is None:
        print("parasail_aligner is absent (Debian package parasail)")
        return
    out = folder / "parasail.csv"
    for threads in (1, 2):
        command = ["parasail_aligner", "-a", "sw_striped_profile_sat", "-x", "-m", "blosum62", "-o", 12, "-e", 1,
                   "-t", threads, "-f", fasta, "-g", out]
        # It takes standard input for the queries.
        seconds = timed(["sh", "-c", 'exec "$@" < "$0"', fasta, *command])
        show("parasail_aligner", threads, seconds, S.size)
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
    for threads in (1, 2):
        seconds, D = measured(kith, folder, csv, "dtw", threads)
        show("kith dtw", threads, seconds, pairs)
    if not loop.exists():
        print(f"{loop} is absent")
        return
    seconds = timed([loop, folder / "series.bin", *series.shape, folder / "loop.bin"])
    show("plain loop", 1, seconds, pairs)
    assert (np.fromfile(folder / "loop.bin").reshape(D.shape) == D).all(), "the distances differ"


def main():
    kith = pathlib.Path(sys.argv[1]).resolve()
    loop = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else kith.parent / "bench/dtw_loop"
    print(f"| program | threads | processor s | wall s | us per pair |  ({os.cpu_count()} cores)")
    with tempfile.TemporaryDirectory() as name:
        alignments(kith, pathlib.Path(name))
        warping(kith, loop, pathlib.Path(name))


if __name__ == "__main__":
    main()
