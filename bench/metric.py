# SPDX-License-Identifier: Apache-2.0
"""A metric learned with the machine: processor seconds of one fit, beside scikit-learn's NCA where it is installed.

    metric.py KITH [DATA]     DATA: a folder with wdbc/features.csv and labels.txt, default ../shared/data

The Python package beside the program, `fit` alone, one thread, the best of seven, in processor seconds, which other work on the
machine changes least. First wdbc, 70 % of the samples; NCA of both from the identity, 200 steps at most. Then made-up samples: how a fit
grows with the number of samples and of features.
"""

import os
import pathlib
import sys
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve().parent / "python"))
import kith

DATA = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "../shared/data")
REPEATS = 7
ONE = {"threads": 1, "blas_threads": 1}
PLAIN = {"probability": False, "certificate": False, **ONE}


def seconds(estimator, X, y):
    best = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        estimator.fit(X, y)
        best = min(best, time.process_time() - began)
    return best


def neighbourhood_components(X, y):
    try:
        from sklearn.neighbors import NeighborhoodComponentsAnalysis
    except ImportError:
        return None
    return seconds(NeighborhoodComponentsAnalysis(init="identity", max_iter=200), X, y)


def made_up(n, features):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, features))
    X[:, 0] += 2 * y
    return X, y


def row(label, *values):
    print(f"| {label} | " + " | ".join("" if v is None else f"{v:.4f}" for v in values) + " |", flush=True)


def beside_another():
    X = np.loadtxt(DATA / "wdbc/features.csv", delimiter=",")
    y = np.array((DATA / "wdbc/labels.txt").read_text().split())
    part = np.random.default_rng(0).permutation(len(y))[: round(0.7 * len(y))]
    X, y = X[part], y[part]
    reference = neighbourhood_components((X - X.mean(0)) / X.std(0), y)
    print("| wdbc, 70 % | s | of scikit-learn's NCA |\n|---|---|---|")
    for label, estimator in {
            "linear-msvm": kith.LinearMSVM(**PLAIN),
            "linear-msvm, convex": kith.LinearMSVM(solver="convex", **PLAIN),
            "nonlinear-msvm": kith.NonlinearMSVM(gamma=0.01, **PLAIN),
            "nca-knn": kith.NCAKNN(**ONE),
            "lmnn-knn": kith.LMNNKNN(**ONE)}.items():
        value = seconds(estimator, X, y)
        row(label, value, value / reference if reference else None)
    if reference:
        row("NCA of scikit-learn", reference, 1.0)


def growth():
    print("\n| n | D | linear-msvm | convex |\n|---|---|---|---|")
    for n, features in ((200, 20), (800, 20), (3200, 20), (12800, 20), (400, 40), (400, 80), (400, 160), (400, 320),
                        (200, 2000), (200, 20000)):
        X, y = made_up(n, features)
        row(f"{n} | {features}", seconds(kith.LinearMSVM(dimensions="200", **PLAIN), X, y),
            seconds(kith.LinearMSVM(solver="convex", **PLAIN), X, y))


def main():
    warnings.simplefilter("ignore")  # a solver that missed its tolerance says so
    if (DATA / "wdbc/features.csv").is_file():
        beside_another()
    growth()


main()
