#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole fit on a matrix that is in memory, as a user waits for it: kith, scikit-learn and LIBSVM in one run.

    bench/fit.py [build/bench/kith] [--runs 5] [--only TEXT] [--large]

Every fit is a process of its own, on one thread: the least of several runs, turn by turn. `cpu` and `wall` are the
milliseconds of fit(), `memory` the peak beyond the input in units of n x n doubles.
  kith     kith.SVM(...).fit(S, y), the package beside the program that is named
  sklearn  SVC(kernel="precomputed").fit(K, y); for clip and flip after NumPy's eigh
  LIBSVM   svm_train of the library itself, its nodes made before
--large adds rows that take minutes.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

TOLERANCE = 1e-3  # of KKT conditions, for all


def points(n, classes, features=5, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    if classes == 2:
        return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    centres = rng.normal(size=(classes, features))
    return X, np.argmin(((X + 0.3 * rng.normal(size=X.shape))[:, None] - centres).__pow__(2).sum(2), axis=1)


def gaussian(X):
    squares = (X * X).sum(1)
    distances = np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0)
    K = np.exp(-distances / X.shape[1])
    return (K + K.T) / 2


def tanh(X):
    return np.tanh(0.5 * X @ X.T - 0.5)


def exp_distance(X):
    """exp(-d) of city-block distances with a little noise: few eigenvalues are negative."""
    d = sum(np.abs(X[:, None, k] - X[None, :, k]) for k in range(X.shape[1]))
    rng = np.random.default_rng(7)
    E = rng.normal(size=d.shape) * 1e-3
    return np.exp(-d / d.mean()) + (E + E.T) / 2


# name: (matrix, n, classes, cost, what is done to the spectrum)
TASKS = {f"{label}": task for label, task in [
    ("Gaussian, n = 500", (gaussian, 500, 2, 1, "none")),
    ("Gaussian, n = 1,000", (gaussian, 1000, 2, 1, "none")),
    ("Gaussian, n = 2,000", (gaussian, 2000, 2, 1, "none")),
    ("Gaussian, n = 3,000", (gaussian, 3000, 2, 1, "none")),
    ("Gaussian, n = 3,000, C = 100", (gaussian, 3000, 2, 100, "none")),
    ("Gaussian, n = 3,000, 8 classes", (gaussian, 3000, 8, 1, "none")),
    ("Gaussian, n = 3,000, 8 classes, C = 100", (gaussian, 3000, 8, 100, "none")),
    ("tanh, n = 2,000", (tanh, 2000, 2, 1, "none")),
    ("tanh, n = 3,000", (tanh, 3000, 2, 1, "none")),
    ("Gaussian, n = 2,000, shift", (gaussian, 2000, 2, 1, "shift")),
    ("Gaussian, n = 2,000, clip", (gaussian, 2000, 2, 1, "clip")),
    ("exp(-d), n = 2,000, clip", (exp_distance, 2000, 2, 1, "clip")),
    ("tanh, n = 2,000, shift", (tanh, 2000, 2, 1, "shift")),
    ("tanh, n = 2,000, clip", (tanh, 2000, 2, 1, "clip")),
    ("tanh, n = 2,000, flip", (tanh, 2000, 2, 1, "flip")),
]}
LARGE = {
    "Gaussian, n = 10,000": (gaussian, 10000, 2, 1, "none"),
    "Gaussian, n = 10,000, clip": (gaussian, 10000, 2, 1, "clip"),
    "tanh, n = 4,000, clip": (tanh, 4000, 2, 1, "clip"),
}


def modified(S, spectrum):
    if spectrum == "none":
        return S
    if spectrum == "shift":
        K = S.copy()
        K[np.diag_indices(len(K))] += max(0, -np.linalg.eigvalsh(S)[0])
        return K
    lam, U = np.linalg.eigh(S)
    return (U * (np.maximum(lam, 0) if spectrum == "clip" else np.abs(lam))) @ U.T


def kith_fit(S, y, cost, spectrum):
    import kith
    # threads=1: as the others
    model = kith.SVM(cost=cost, spectrum=spectrum, probability=False, tolerance=TOLERANCE, threads=1, blas_threads=1)
    return lambda: model.fit(S, y).certificate_["status"]


def sklearn_fit(S, y, cost, spectrum):
    from sklearn.svm import SVC
    model = SVC(C=cost, kernel="precomputed", tol=TOLERANCE)
    return lambda: str(model.fit(modified(S, spectrum), y).fit_status_)


class Parameter(ctypes.Structure):
    _fields_ = [("svm_type", ctypes.c_int), ("kernel_type", ctypes.c_int), ("degree", ctypes.c_int),
                ("gamma", ctypes.c_double), ("coef0", ctypes.c_double), ("cache_size", ctypes.c_double),
                ("eps", ctypes.c_double), ("C", ctypes.c_double), ("nr_weight", ctypes.c_int),
                ("weight_label", ctypes.c_void_p), ("weight", ctypes.c_void_p), ("nu", ctypes.c_double),
                ("p", ctypes.c_double), ("shrinking", ctypes.c_int), ("probability", ctypes.c_int)]


class Problem(ctypes.Structure):
    _fields_ = [("l", ctypes.c_int), ("y", ctypes.c_void_p), ("x", ctypes.c_void_p)]


def libsvm_fit(S, y, cost, spectrum):
    library = ctypes.CDLL("libsvm.so")
    library.svm_train.restype = ctypes.c_void_p
    n = len(S)
    nodes = np.zeros((n, n + 2), dtype=np.dtype([("index", "i4"), ("value", "f8")], align=True))
    nodes["index"][:, :n + 1] = np.arange(n + 1)
    nodes["index"][:, n + 1] = -1
    nodes["value"][:, 0] = np.arange(1, n + 1)
    nodes["value"][:, 1:n + 1] = modified(S, spectrum)
    labels = y.astype(float)
    rows = np.array([nodes[i].ctypes.data for i in range(n)], dtype=np.uintp)
    problem = Problem(n, labels.ctypes.data, rows.ctypes.data)
    parameter = Parameter(0, 4, 3, 0, 0, 200, TOLERANCE, cost, 0, None, None, 0.5, 0.1, 1, 0)
    quiet = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)
    library.svm_set_print_string_function(quiet)
    kept = nodes, labels, rows, quiet  # the library has addresses alone

    def fit():
        library.svm_train(ctypes.byref(problem), ctypes.byref(parameter))
        return f"{len(kept)} arrays kept until here"
    return fit


TOOLS = {"kith": kith_fit, "sklearn": sklearn_fit, "LIBSVM": libsvm_fit}


def work(name, tool):
    """One fit in this process."""
    matrix, n, classes, cost, spectrum = {**TASKS, **LARGE}[name]
    X, y = points(n, classes)
    S = np.ascontiguousarray(matrix(X))
    small = np.ascontiguousarray(S[:60, :60])
    if len(set(y[:60])) > 1:
        TOOLS[tool](small, y[:60], cost, "none" if tool == "LIBSVM" else spectrum)()  # imports, first threads
    fit = TOOLS[tool](S, y, cost, spectrum)
    before = rss()
    wall, cpu = time.perf_counter(), time.process_time()
    status = fit()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "status": status, "memory": (peak() - before) / (8 * n * n)}))


def rss():
    """Resident bytes; the peak starts anew from here."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return field("VmRSS")


def peak():
    return field("VmHWM")


def field(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def measured(name, tool, build, runs):
    found = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, __file__, "--worker", name, tool], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(build / "python")})
        found.append(json.loads(done.stdout))
    return {key: min(one[key] for one in found) for key in ("wall", "cpu", "memory")} | {"status": found[0]["status"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/bench/kith")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--worker", nargs=2, metavar=("ROW", "TOOL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(*options.worker)
    build = pathlib.Path(options.program).resolve().parent
    print("| matrix, C = 1 unless named | " + " | ".join(f"{tool} cpu / wall ms | memory" for tool in TOOLS) +
          " | kith / sklearn | status of kith |")
    print("|---|" + "---:|" * (2 * len(TOOLS) + 1) + "---|")
    for name in {**TASKS, **(LARGE if options.large else {})}:
        if options.only not in name:
            continue
        found = {tool: measured(name, tool, build, options.runs) for tool in TOOLS}
        cells = [f"{1e3 * one['cpu']:.1f} / {1e3 * one['wall']:.1f} | {one['memory']:.2f}" for one in found.values()]
        ratio = found["kith"]["cpu"] / found["sklearn"]["cpu"]
        print(f"| {name} | " + " | ".join(cells) + f" | {ratio:.2f} | {found['kith']['status']} |", flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
