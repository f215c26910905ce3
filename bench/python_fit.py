#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python adds to a fit, and kith beside SVC(kernel="precomputed") with a clip written by hand.

    bench/python_fit.py [build/release/kith] [--n 2000]

The package is taken from beside the program.
Overhead: the time of fit() in Python over the time that the command line states for the same fit, which
leaves out reading and conditioning; the least of several runs of each, turn by turn. All on one thread.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.svm import SVC

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
        pathlib.Path(f"{folder}/y.txt").write_text("\n".join("yes" if one else "no" for one in y) + "\n")
        for spectrum in ("none", "clip"):
            python, program_alone = [], []
            for _ in range(runs):
                model = kith.SVM(spectrum=spectrum, probability=False, threads=1, blas_threads=1)
                python.append(seconds(lambda: model.fit(S, y)))
                command = [program, "train", "--similarity", f"{folder}/s.npy", "--labels", f"{folder}/y.txt",
                           "--set", f"spectrum={spectrum}", "--set", "probability=no", "--threads", "1",
                           "--blas-threads", "1", "--json", "--quiet"]
                said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
                program_alone.append(said["timing"]["seconds"])
            rows.append((spectrum, min(python), min(program_alone)))
    print(f"n = {n}: fit() in Python over the fit of the command line")
    for spectrum, ours, alone in rows:
        print(f"  svm-{spectrum:<5} {ours:8.3f} s {alone:8.3f} s  {100 * (ours / alone - 1):+6.1f} %")


def by_hand(S, rows, y, cost):
    # clip:begin
    lam, U = np.linalg.eigh((S + S.T) / 2)
    keep = lam > 0
    P = U[:, keep] @ U[:, keep].T
    K = P @ S
    model = SVC(kernel="precomputed", C=cost).fit(K, y)
    return model.predict(rows @ P)
    # clip:end


def beside(n):
    S, y = indefinite(2 * n, seed=2)
    train, rows = S[:n, :n], S[n:, :n]
    tasks = {
        "SVC(kernel=\"precomputed\")": lambda: SVC(kernel="precomputed", C=1).fit(train, y[:n]).predict(rows),
        "SVC after a clip by hand": lambda: by_hand(train, rows, y[:n], 1),
        "kith.SVM(spectrum=\"clip\")": lambda: kith.SVM(spectrum="clip", probability=False, threads=1,
                                                       blas_threads=1).fit(train, y[:n]).predict(rows),
    }
    print(f"n = {n}: fit and predict {n} new samples")
    for name, task in tasks.items():
        found = {}
        took = min(seconds(lambda: found.update(said=task())) for _ in range(3))
        error = np.mean(found["said"] != y[n:])
        print(f"  {name:<28} {took:8.3f} s  error {100 * error:.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="build/release/kith")
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    global kith
    sys.path.insert(0, str(pathlib.Path(options.program).resolve().parent / "python"))
    import kith
    overhead(options.program, options.n, options.runs)
    beside(options.n)


if __name__ == "__main__":
    main()
