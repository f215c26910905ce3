#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python adds to a fit, and kith beside SVC(kernel="precomputed") with a clip written by hand.

    bench/python_fit.py [build/bench/kith] [--n 2000]

The package and bench/fit_alone are taken from beside the program.
Overhead: the time of fit() in Python over that of the same call in C++, of matrices in memory; the least of several
runs of each, turn by turn. All on one thread.
The second part is the table of docs/python.md as it stands there.
"""
import argparse
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of NumPy and SVC; kith is told its own

import numpy as np
from sklearn.svm import SVC

FITS = 3  # in a row, as fit_alone does
# A small program gives memory back to the system after every fit, and pays for it anew, which Python does not.
KEPT = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}

kith = None  # imported from beside the program that is named


def indefinite(n, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    return np.tanh(0.5 * X @ X.T - 0.5), y


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def overhead(program, n, runs):
    S, y = indefinite(n)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/s.npy", S)
        pathlib.Path(f"{folder}/y.txt").write_text("\n".join(map(str, y)) + "\n")
        for spectrum in ("none", "clip"):
            python, alone = [], []
            command = [program, f"{folder}/s.npy", f"{folder}/y.txt", "svm", f"spectrum={spectrum}", "probability=no"]
            for _ in range(runs):
                model = kith.SVM(spectrum=spectrum, probability=False, threads=1, blas_threads=1)
                python.append(min(seconds(lambda: model.fit(S, y)) for _ in range(FITS)))
                alone.append(float(subprocess.run(command, env=KEPT, capture_output=True, text=True, check=True).stdout))
            rows.append((spectrum, min(python), min(alone)))
    print(f"n = {n}: fit() in Python over the same fit in C++")
    for spectrum, ours, alone in rows:
        print(f"  svm-{spectrum:<5} {ours:8.3f} s {alone:8.3f} s  {100 * (ours / alone - 1):+6.1f} %")


def as_it_is(S, rows, y):
    return SVC(kernel="precomputed").fit(S, y).predict(rows)


def by_hand(S, rows, y):
    lam, U = np.linalg.eigh((S + S.T) / 2)
    keep = lam > 0
    P = U[:, keep] @ U[:, keep].T
    K = P @ S
    model = SVC(kernel="precomputed").fit(K, y)
    return model.predict(rows @ P)


def by_kith(S, rows, y):
    return kith.SVM(spectrum="clip", probability=False, threads=1, blas_threads=1).fit(S, y).predict(rows)


TASKS = {
    "`SVC(kernel=\"precomputed\")` on the matrix as it is": as_it_is,
    "the same after a clip by hand, of training and new rows": by_hand,
    "`kith.SVM(spectrum=\"clip\")`": by_kith,
}


def beside(n, runs):
    """The table of docs/python.md: lines of code, seconds and errors."""
    S, y = indefinite(2 * n, seed=2)
    train, rows = np.ascontiguousarray(S[:n, :n]), np.ascontiguousarray(S[n:, :n])
    took = {name: [] for name in TASKS}
    said = {}
    for _ in range(runs):  # turn by turn, so that other work on the machine meets all of them
        for name, task in TASKS.items():
            took[name].append(seconds(lambda: said.update({name: task(train, rows, y[:n])})))
    print(f"\nn = {n}: fit, and predict {n} new samples; least of {runs} runs, one thread\n")
    print("| | lines | seconds | error |\n|---|---|---|---|")
    for name, task in TASKS.items():
        lines = len(inspect.getsource(task).strip().split("\n")) - 1
        error = np.mean(said[name] != y[n:])
        print(f"| {name} | {lines} | {min(took[name]):.2g} | {100 * error:.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="build/bench/kith")
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    global kith
    build = pathlib.Path(options.program).resolve().parent
    sys.path.insert(0, str(build / "python"))
    import kith
    overhead(build / "bench" / "fit_alone", options.n, options.runs)
    beside(options.n, options.runs)


if __name__ == "__main__":
    main()
