#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clip of matrices with few negative eigenvalues: kith beside one full decomposition of the same matrix.

    bench/few_eigenvalues.py [build/bench/kith] [--n 4000,10000] [--runs 2] [--threads 1]

`dsyevd` is the call of LAPACK that scipy.linalg.eigh(driver="evd") makes; kith is the fit of an SVM on the clipped matrix, so that
its time has more than the kernel in it. Seconds are processor time. `error` is the distance of both kernels, relative to the norm. Matrices: needleman-wunsch
scores of sequences made here, and exp(-d) of distances between series made here (dynamic time warping, and plain
distances with noise), chosen so that the share of negative eigenvalues differs.
"""
import argparse
import os
import pathlib
import sys
import time

if "--threads" not in sys.argv:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

kith = None
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def families(n, length, mutated, seed):
    """Sequences of 20 families, each a mutation of its first."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 20, size=(20, length))
    of = rng.integers(0, 20, size=n)
    rows = first[of].copy()
    changed = rng.random(rows.shape) < mutated * rng.random((n, 1))
    rows[changed] = rng.integers(0, 20, size=changed.sum())
    ends = rng.integers(length // 2, length + 1, size=n)
    return ["".join(LETTERS[row[:end]]) for row, end in zip(rows, ends)], of


def walks(n, length, seed):
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 6, size=n)
    t = np.linspace(0, 1, length)
    shift = 0.15 * rng.random((n, 1))
    return np.sin(2 * np.pi * (of[:, None] + 1) * (t + shift) / 3) + 0.2 * rng.normal(size=(n, length)), of


def needleman_wunsch(n, length):
    texts, of = families(n, length, 0.9, 1)
    return kith.measure.needleman_wunsch(texts, threads=None), of


def dtw(n, scale):
    series, of = walks(n, 24, 2)
    D = kith.measure.dtw(list(series), threads=None)
    return np.exp(-scale * D / np.median(D)), of


def noisy(n, noise):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    squares = (X * X).sum(1)
    D = np.sqrt(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
    E = np.triu(rng.normal(size=D.shape), 1) * noise
    return np.exp(-(D + E + E.T) / D.mean()), (X[:, 0] > 0).astype(int)


MATRICES = {
    "needleman-wunsch, 60 letters": lambda n: needleman_wunsch(n, 60),
    "needleman-wunsch, 25 letters": lambda n: needleman_wunsch(n, 25),
    "exp(-8 dtw)": lambda n: dtw(n, 8),
    "exp(-6 dtw)": lambda n: dtw(n, 6),
    "exp(-5 dtw)": lambda n: dtw(n, 5),
    "exp(-4 dtw)": lambda n: dtw(n, 4),
    "exp(-d), noise 0.002": lambda n: noisy(n, 0.002),
    "exp(-d), noise 0.005": lambda n: noisy(n, 0.005),
    "exp(-d), noise 0.5": lambda n: noisy(n, 0.5),
}


def seconds(work):
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/bench/kith")
    parser.add_argument("--n", default="4000")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    global kith
    sys.path.insert(0, str(pathlib.Path(options.program).resolve().parent / "python"))
    import kith
    from scipy.linalg import eigh
    print("| matrix | n | negative % | dsyevd s | kith s | times faster | error | way |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for n in map(int, options.n.split(",")):
        for name, make in MATRICES.items():
            if options.only not in name:
                continue
            S, y = make(n)
            S = np.ascontiguousarray((S + S.T) / 2)
            bare, ours = [], []
            for _ in range(options.runs):
                took, (values, vectors) = seconds(lambda: eigh(S, driver="evd"))
                bare.append(took)
                model = kith.SVM(spectrum="clip", probability=False, tolerance=1e-3, threads=1, blas_threads=options.threads)
                took, _ = seconds(lambda: model.fit(S, y))
                ours.append(took)
            zero = n * np.finfo(float).eps * np.abs(values).max()
            kept = values > 0
            exact = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
            kernel = kith.Spectrum("clip", blas_threads=options.threads).fit_transform(S)
            error = np.linalg.norm(kernel - exact) / np.linalg.norm(exact)
            way = model.certificate_["kernel"]
            print(f"| {name} | {n:,} | {100 * np.mean(values < -zero):.2f} | {min(bare):.2f} | {min(ours):.2f} | "
                  f"{min(bare) / min(ours):.2f} | {error:.0e} | {way['way']} {way['pairs'] or ''} |", flush=True)


if __name__ == "__main__":
    main()
