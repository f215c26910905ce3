# SPDX-License-Identifier: Apache-2.0
"""`lp-machine` against SciPy's HiGHS on the same linear program, [TR] (4).

    lp_machine.py KITH [n...]            default: 500 1000 2000

Processor times on one thread, without probabilities: of kith the whole program (with reading the
matrix and writing the model), of HiGHS `linprog` alone, on the program as printed or on its dual,
whichever it solves sooner. "columns" is how many similarities a prediction needs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
from scipy.optimize import linprog  # noqa: E402

LIMIT = 600


def problem(kind, n):
    """Two overlapping classes of three Gaussian blobs each."""
    rng = np.random.default_rng(1)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    centres = rng.normal(size=(6, 10))
    X = centres[rng.integers(0, 3, n) + 3 * (y > 0)] + rng.normal(size=(n, 10))
    if kind == "tanh":
        return np.tanh(X @ X.T / 10), y
    squares = (X * X).sum(1)
    return np.exp(-np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0) / 10), y


def with_kith(program, folder, S, y, cost):
    np.save(f"{folder}/s.npy", S)
    with open(f"{folder}/l.txt", "w", encoding="ascii") as labels:
        labels.write("".join("a\n" if sign > 0 else "b\n" for sign in y))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [program, "train", "--method", "lp-machine", "--similarity", f"{folder}/s.npy", "--labels",
         f"{folder}/l.txt", "--model", f"{folder}/m.kith", "--set", f"cost={cost}", "--set",
         "probability=no", "--threads", "1", "--blas-threads", "1", "--json"],
        capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(run.stdout)


def timed(**program):
    """Processor seconds and the optimum, or None where the time was not enough."""
    began = time.process_time()
    result = linprog(method="highs", **program)
    return time.process_time() - began, result.fun if result.status == 0 else None


def with_highs(S, y, cost):
    """The better of min 1'(u + v) + C 1'xi and max 1'a, 0 <= a <= C, y'a = 0, |S'(y.*a)| <= 1."""
    n, m = S.shape
    signed = y[:, None] * S
    seconds, optimum = timed(
        c=np.concatenate([np.ones(2 * m), [0], np.full(n, cost)]),
        A_ub=-np.hstack([signed, -signed, y[:, None], np.eye(n)]), b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n,
        options={"time_limit": LIMIT})
    other, found = timed(
        c=-np.ones(n), A_ub=np.vstack([signed.T, -signed.T]), b_ub=np.ones(2 * m), A_eq=y[None, :],
        b_eq=[0.0], bounds=[(0, cost)] * n, options={"time_limit": LIMIT})
    if found is not None and (optimum is None or other < seconds):
        return other, -found
    return seconds, optimum


def main():
    program = sys.argv[1]
    sizes = [int(text) for text in sys.argv[2:]] or [500, 1000, 2000]
    print(f"{'similarity':11}{'n':>6}{'C':>7}{'kith s':>9}{'HiGHS s':>9}{'ratio':>7}{'gap':>9}"
          f"{'obj dev':>9}{'columns':>8}  status")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for kind in ("gaussian", "tanh"):
                S, y = problem(kind, n)
                for cost in (0.1, 1.0, 100.0):
                    seconds, found = with_kith(program, folder, S, y, cost)
                    highs, optimum = with_highs(S, y, cost)
                    deviation = float("nan")
                    if optimum is not None:
                        deviation = abs(found["objective"] - optimum) / optimum
                    print(f"{kind:11}{n:6}{cost:7g}{seconds:9.2f}{highs:9.2f}{highs / seconds:7.1f}"
                          f"{found['gap']:9.0e}{deviation:9.0e}{found['columns_needed']:8}"
                          f"  {found['status']}", flush=True)


if __name__ == "__main__":
    main()
