# SPDX-License-Identifier: Apache-2.0
"""`spectrum-svm` against cvxopt's cone solver on the same problem, [CGR] (12) as printed.

    spectrum_svm.py KITH [n...]            default: 160

One thread. Of kith the fit with its decomposition, each in a new process, the least of thirty by
its own clock, and the processor time of the whole command less that of `kith --version` (a small
difference of two larger times); of cvxopt `conelp` alone, the least processor time of two runs, with
the sparse matrices of the printed form and the decomposition not counted. The ratio is of the fit.
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

import cvxopt  # noqa: E402
import numpy as np  # noqa: E402


def problem(n):
    """Two classes that overlap, a third of the spectrum negative."""
    rng = np.random.default_rng(1)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 6)) + 0.6 * y[:, None]
    noise = rng.normal(size=(n, n))
    return np.tanh(X @ X.T / 6) + 0.15 * (noise + noise.T), y


def least_seconds(command):
    """Least processor time of thirty runs, and what each of them printed."""
    times, printed = [], []
    for _ in range(30):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        printed.append(run.stdout)
    return min(times), printed


def with_kith(program, folder, S, y, eta, gamma, centre):
    np.save(f"{folder}/s.npy", S)
    with open(f"{folder}/l.txt", "w", encoding="ascii") as labels:
        labels.write("".join("a\n" if sign > 0 else "b\n" for sign in y))
    start, _ = least_seconds([program, "--version"])
    seconds, outputs = least_seconds(
        [program, "train", "--method", "spectrum-svm", "--similarity", f"{folder}/s.npy",
         "--labels", f"{folder}/l.txt", "--model", f"{folder}/m.kith", "--set", f"eta={eta}",
         "--set", f"gamma={gamma}", "--set", f"centre={centre}", "--set", "probability=no",
         "--threads", "1", "--blas-threads", "1", "--json"])
    found = [json.loads(output) for output in outputs]
    return min(one["timing"]["seconds"] for one in found), seconds - start, found[-1]


def with_cvxopt(S, y, eta, gamma, centre):
    """(12) in z, b, xi, a, u, v for the centres clip and flip."""
    lam, U = np.linalg.eigh(S)
    n = len(y)
    middle = (lam > 0).astype(float) if centre == "clip" else np.sign(lam)
    z, b, xi, a, u, v = np.cumsum([0, n, 1, n, n, n])
    rows, columns, values, right = [], [], [], []

    def entries(i, j, x):
        rows.extend(np.broadcast_to(i, np.shape(j)).tolist())
        columns.extend(np.asarray(j).tolist())
        values.extend(np.broadcast_to(x, np.shape(j)).tolist())

    for i in range(n):
        entries(i, np.arange(z, b), -y[i] * U[i])
        entries(i, [b, xi + i], [-y[i], -1.0])
        right.append(-1.0)
    for start, scale in ((xi, np.ones(n)), (a, lam), (u, np.ones(n))):
        for i in range(n):
            entries(len(right), [start + i], [-scale[i]])
            right.append(0.0)
    linear = len(right)
    entries(len(right), [v], [-1.0])
    right.append(0.0)
    for i in range(n):
        entries(len(right), [a + i], [-1.0])
        right.append(-middle[i])
    for i in range(n):
        entries(len(right), [a + i, u + i], [-lam[i], -1.0])
        entries(len(right) + 1, [z + i], [-2.0])
        entries(len(right) + 2, [a + i, u + i], [-lam[i], 1.0])
        right.extend([0.0, 0.0, 0.0])
    cost = np.zeros(v + 1)
    cost[xi:a], cost[u:v], cost[v] = 1 / n, eta, gamma
    G = cvxopt.spmatrix(values, rows, columns, (len(right), v + 1))
    shape = {"l": linear, "q": [n + 1] + [3] * n, "s": []}
    times = []
    for _ in range(2):
        began = time.process_time()
        result = cvxopt.solvers.conelp(cvxopt.matrix(cost), G, cvxopt.matrix(right), shape,
                                       options={"show_progress": False})
        times.append(time.process_time() - began)
    return min(times), result["primal objective"]


def main():
    program = sys.argv[1]
    sizes = [int(text) for text in sys.argv[2:]] or [160]
    print(f"{'n':>5}{'centre':>8}{'eta':>7}{'gamma':>7}{'fit s':>9}{'command s':>11}{'cvxopt s':>10}"
          f"{'ratio':>7}{'steps':>7}{'gap':>9}{'obj dev':>9}  status")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            S, y = problem(n)
            for centre in ("clip", "flip"):
                for eta, gamma in ((1e-2, 1e-3), (1e-3, 1e-2), (1e-2, 1e-2), (0.1, 1e-2)):
                    seconds, whole, found = with_kith(program, folder, S, y, eta, gamma, centre)
                    other, optimum = with_cvxopt(S, y, eta, gamma, centre)
                    deviation = abs(found["objective"] - optimum) / optimum
                    print(f"{n:5}{centre:>8}{eta:7g}{gamma:7g}{seconds:9.4f}{whole:11.4f}"
                          f"{other:10.2f}{other / seconds:7.0f}{found['iterations']:7}{found['gap']:9.0e}"
                          f"{deviation:9.0e}  {found['status']}", flush=True)


if __name__ == "__main__":
    main()
