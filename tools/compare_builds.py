#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of two builds of kith: is any solver slower after a change?

    tools/compare_builds.py BEFORE AFTER [--pairs 15] [NAME...]

BEFORE and AFTER are two kith programs. Each case below is one `kith train` on a generated matrix. The two programs
run in turns, on one thread; the time of a run is the processor time of the whole command. The table shows the median
over the pairs of after / before, and both objectives, which should agree.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402


def blobs(n, seed, spread=1.0):
    """Two overlapping classes of three Gaussian blobs each, 10 features."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2 == 0, 1, -1)
    centres = rng.normal(size=(6, 10))
    return centres[rng.integers(0, 3, n) + 3 * (y > 0)] + spread * rng.normal(size=(n, 10)), y, rng


def gaussian(n, noise=0.0):
    X, y, rng = blobs(n, 1)
    squares = (X * X).sum(1)
    K = np.exp(-np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0) / 10)
    E = rng.standard_normal((n, n))
    return K + noise * (E + E.T) / 2, y


def tanh(n):
    X, y, _ = blobs(n, 2)
    return np.tanh(X @ X.T / 10 - 0.5), y


CASES = {
    "svm": (lambda: gaussian(1500), "svm-none", ["cost=1"]),
    "svm-hard": (lambda: gaussian(1000), "svm-none", ["cost=100"]),
    "svm-tanh": (lambda: tanh(1000), "svm-clip", ["cost=1"]),
    "spectrum": (lambda: gaussian(160, 0.3), "spectrum-svm", []),
    "robust": (lambda: gaussian(150, 0.1), "robust-svm", ["cost=1", "rho=1"]),
    "robust-hard": (lambda: tanh(150), "robust-svm", ["cost=1000", "rho=0.001"]),
    "lp": (lambda: gaussian(500), "lp-machine", ["cost=1"]),
    "lp-tanh": (lambda: tanh(500), "lp-machine", ["cost=1"]),
    "p-svm": (lambda: tanh(300), "p-svm", []),
    "mkl": (lambda: gaussian(200), "mkl", []),
    "eskl": (lambda: gaussian(60, 0.1), "eskl", []),
}


def run(program, folder, method, settings):
    """(processor seconds, objective) of one command."""
    words = [word for setting in (*settings, "probability=no") for word in ("--set", setting)]
    process = subprocess.Popen(
        [program, "train", "--similarity", folder / "S.npy", "--labels", folder / "labels.txt", "--method", method,
         *words, "--model", folder / "model.kith", "--threads", "1", "--blas-threads", "1", "--quiet", "--json"],
        stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise SystemExit(f"{program}: {method} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, json.loads(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("names", nargs="*", help="only these cases: " + ", ".join(CASES))
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    print(f"{'case':14}{'before s':>10}{'after s':>10}{'after/before':>14}  objective before, after; status")
    for name, (make, method, settings) in CASES.items():
        if options.names and name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            S, y = make()
            np.save(folder / "S.npy", S)
            (folder / "labels.txt").write_text("".join(f"{v}\n" for v in y), encoding="utf-8")
            before, after = [], []
            for _ in range(options.pairs):
                seconds, first = run(options.before, folder, method, settings)
                before.append(seconds)
                seconds, second = run(options.after, folder, method, settings)
                after.append(seconds)
        ratio = statistics.median(b / a for a, b in zip(before, after))
        print(f"{name:14}{statistics.median(before):10.3f}{statistics.median(after):10.3f}{ratio:14.3f}"
              f"  {first['objective']:.10g}, {second['objective']:.10g}; {second['status']}", flush=True)


if __name__ == "__main__":
    main()
