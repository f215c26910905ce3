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


def gaussian(n, noise=0.0, width=10):
    X, y, rng = blobs(n, 1)
    squares = (X * X).sum(1)
    K = np.exp(-np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0) / width)
    E = rng.standard_normal((n, n))
    return [K + noise * (E + E.T) / 2], y


def widths(n, noise=0.0):
    """Three kernels of the same samples."""
    return [gaussian(n, noise, width)[0][0] for width in (3, 10, 30)], gaussian(n)[1]


def tanh(n):
    X, y, _ = blobs(n, 2)
    return [np.tanh(X @ X.T / 10 - 0.5)], y


def noisy_tanh(n):
    """The problem of bench/spectrum_svm.py: a third of the spectrum is negative."""
    rng = np.random.default_rng(1)
    y = np.where(rng.permutation(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, 6)) + 0.6 * y[:, None]
    noise = rng.normal(size=(n, n))
    return [np.tanh(X @ X.T / 6) + 0.15 * (noise + noise.T)], y


def many_classes(classes, each, noise):
    """Small machines: one for each pair of classes."""
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(classes), each)
    X = rng.normal(size=(classes, 10))[y] + 0.8 * rng.normal(size=(len(y), 10))
    squares = (X * X).sum(1)
    K = np.exp(-np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0) / 10)
    E = rng.normal(size=K.shape)
    return [K + noise * (E + E.T) / 2], y


def vectors(n):
    X, y, _ = blobs(n, 1)
    return X, y


CASES = {
    "svm": (lambda: gaussian(3000), "svm-none", ["cost=1"]),
    "svm-hard": (lambda: gaussian(3000), "svm-none", ["cost=100"]),
    "svm-tanh": (lambda: tanh(1400), "svm-clip", ["cost=1"]),
    "svm-tanh-hard": (lambda: tanh(1400), "svm-clip", ["cost=10000"]),
    "spectrum": (lambda: gaussian(600, 0.3), "spectrum-svm", []),
    "spectrum-clip": (lambda: noisy_tanh(900), "spectrum-svm-clip", ["eta=0.01", "gamma=0.001"]),
    "spectrum-flip": (lambda: noisy_tanh(1100), "spectrum-svm-flip", ["eta=0.001", "gamma=0.01"]),
    "spectrum-both": (lambda: noisy_tanh(800), "spectrum-svm-both", ["eta=0.01", "gamma=0.01"]),
    "robust": (lambda: gaussian(600, 0.1, 20), "robust-svm", ["cost=1", "rho=1"]),
    "robust-hard": (lambda: tanh(600), "robust-svm", ["cost=1000", "rho=0.001"]),
    "robust-small": (lambda: gaussian(600, 0.1, 20), "robust-svm", ["cost=1", "rho=0.01"]),
    "robust-pruned": (lambda: tanh(100), "robust-svm-exchange-pruned", ["cost=1", "rho=10"]),
    "robust-gradient": (lambda: tanh(150), "robust-svm-projected-gradient", ["cost=1", "rho=10"]),
    "lp": (lambda: gaussian(1400), "lp-machine", ["cost=1"]),
    "lp-hard": (lambda: gaussian(1000), "lp-machine", ["cost=100"]),
    "lp-tanh": (lambda: tanh(1600), "lp-machine", ["cost=1"]),
    "p-svm": (lambda: tanh(1000), "p-svm", []),
    "mkl": (lambda: gaussian(1000), "mkl", []),
    "mkl-three": (lambda: widths(500), "mkl", []),
    "mkl-large-cost": (lambda: widths(500), "mkl", ["cost=100"]),
    "mkl-mixed": (lambda: widths(700), "mkl-mixed", []),
    "eskl": (lambda: gaussian(600, 0.1), "eskl", []),
    "eskl-three": (lambda: widths(600, 0.1), "eskl", []),
    "emkl-l2": (lambda: widths(200, 0.1), "emkl-l2", []),
    "rekl": (lambda: widths(400, 0.1), "rekl", []),
    "full-kernel": (lambda: gaussian(600, 0.1), "full-kernel-svm", []),
    "simple-mkl": (lambda: vectors(500), "simple-mkl", []),
    "svm-pairs": (lambda: many_classes(60, 20, 0.1), "svm-clip", []),
    "spectrum-pairs": (lambda: many_classes(35, 30, 0.1), "spectrum-svm-clip", ["gamma=0.001"]),
    "robust-pairs": (lambda: many_classes(20, 30, 0.1), "robust-svm", []),
    "lp-pairs": (lambda: many_classes(16, 30, 0.1), "lp-machine", []),
    "p-svm-pairs": (lambda: many_classes(20, 30, 0.1), "p-svm", []),
    "mkl-pairs": (lambda: many_classes(40, 30, 0.1), "mkl", []),
    "mixed-pairs": (lambda: many_classes(36, 30, 0.1), "mkl-mixed", []),
    "eskl-pairs": (lambda: many_classes(30, 20, 0.1), "eskl", []),
    "nca-knn": (lambda: vectors(600), "nca-knn", []),
    "lmnn-knn": (lambda: vectors(600), "lmnn-knn", []),
}
VECTORS = {"simple-mkl", "nca-knn", "lmnn-knn"}


def write_samples(folder, method, samples, y):
    """The flags of the input files."""
    (folder / "labels.txt").write_text("".join(f"{v}\n" for v in y), encoding="utf-8")
    if method in VECTORS:
        np.savetxt(folder / "X.csv", samples, delimiter=",")
        return ["--data", folder / "X.csv"]
    flags = []
    for i, S in enumerate(samples):
        np.save(folder / f"S{i}.npy", S)
        flags += ["--similarity", f"s{i}={folder}/S{i}.npy"]
    return flags


def run(program, folder, samples, method, settings):
    """(processor seconds, objective) of one command."""
    if "knn" not in method:  # neighbours have no probabilities to leave out
        settings = (*settings, "probability=no")
    words = [word for setting in settings for word in ("--set", setting)]
    process = subprocess.Popen(
        [program, "train", *samples, "--labels", folder / "labels.txt", "--method", method, *words,
         "--model", folder / "model.kith", "--threads", "1", "--blas-threads", "1", "--quiet", "--json"],
        stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise SystemExit(f"{program}: {method} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, json.loads(output)


def shown(result):
    """The objective; several machines have none."""
    return "none" if result["objective"] is None else f"{result['objective']:.10g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("names", nargs="*", help="only these cases: " + ", ".join(CASES))
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_intermixed_args()
    print(f"{'case':14}{'before s':>10}{'after s':>10}{'after/before':>14}  objective before, after; status")
    for name, (make, method, settings) in CASES.items():
        if options.names and name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            samples = write_samples(folder, method, *make())
            before, after = [], []
            for _ in range(options.pairs):
                seconds, first = run(options.before, folder, samples, method, settings)
                before.append(seconds)
                seconds, second = run(options.after, folder, samples, method, settings)
                after.append(seconds)
        ratio = statistics.median(b / a for a, b in zip(before, after))
        print(f"{name:14}{statistics.median(before):10.3f}{statistics.median(after):10.3f}{ratio:14.3f}"
              f"  {shown(first)}, {shown(second)}; {second['status']}", flush=True)


if __name__ == "__main__":
    main()
