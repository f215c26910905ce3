# SPDX-License-Identifier: Apache-2.0
"""A metric learned with the machine: seconds of one fit, beside scikit-learn's NCA where it is installed.

    metric.py KITH [DATA]     DATA: a folder with wdbc/features.csv and labels.txt, default ../shared/data

First wdbc, 70 % of the samples, one thread, the best of three, by the program's own clock; NCA of both from the
identity. Then made-up samples: how a fit grows with the number of samples and of features.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

KITH = sys.argv[1]
DATA = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "../shared/data")
REPEATS = 3


def seconds(folder, X, y, method, *settings):
    """Of the fit, without reading and writing."""
    np.save(folder / "x.npy", np.ascontiguousarray(X))
    (folder / "y.txt").write_text("".join(f"{label}\n" for label in y))
    command = [KITH, "train", "--data", folder / "x.npy", "--labels", folder / "y.txt", "--method", method, "--json",
               "--threads", "1", "--blas-threads", "1", *(part for s in settings for part in ("--set", s))]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(REPEATS)]
    return min(run["seconds"] for run in runs)


def neighbourhood_components(X, y):
    try:
        from sklearn.neighbors import NeighborhoodComponentsAnalysis
    except ImportError:
        return None
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        NeighborhoodComponentsAnalysis(init="identity", max_iter=200).fit(X, y)
        best = min(best, time.perf_counter() - began)
    return best


def made_up(n, features):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, features))
    X[:, 0] += 2 * y
    return X, y


def row(label, *values):
    print(f"| {label} | " + " | ".join("" if v is None else f"{v:.3f}" for v in values) + " |")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = ("probability=no", "certificate=no")
        if (DATA / "wdbc/features.csv").is_file():
            X = np.loadtxt(DATA / "wdbc/features.csv", delimiter=",")
            y = np.array((DATA / "wdbc/labels.txt").read_text().split())
            part = np.random.default_rng(0).permutation(len(y))[: round(0.7 * len(y))]
            X, y = X[part], y[part]
            reference = neighbourhood_components((X - X.mean(0)) / X.std(0), y)
            print("| wdbc, 70 % | seconds | of scikit-learn's NCA |\n|---|---|---|")
            fits = {"linear-msvm": seconds(folder, X, y, "linear-msvm", *plain),
                    "linear-msvm, convex": seconds(folder, X, y, "linear-msvm", "solver=convex", *plain),
                    "nonlinear-msvm": seconds(folder, X, y, "nonlinear-msvm", "gamma=0.01", *plain),
                    "nca-knn": seconds(folder, X, y, "nca-knn"),
                    "lmnn-knn": seconds(folder, X, y, "lmnn-knn")}
            for label, value in fits.items():
                row(label, value, value / reference if reference else None)
        print("\n| n | D | linear-msvm | convex |\n|---|---|---|---|")
        for n, features in ((200, 20), (400, 20), (800, 20), (1600, 20), (400, 40), (400, 80), (400, 160),
                            (200, 2000), (200, 20000)):
            X, y = made_up(n, features)
            row(f"{n} | {features}", seconds(folder, X, y, "linear-msvm", "dimensions=200", *plain),
                seconds(folder, X, y, "linear-msvm", "solver=convex", *plain))


main()
