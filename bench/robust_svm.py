#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`robust-svm`: its Newton solver beside one LAPACK decomposition of the same size, the printed
algorithms beside the Newton solver, and the number of Newton iterations over the grid of C and rho.

    bench/robust_svm.py KITH [--quick]

Seconds are processor time on one thread, the least of a few runs taken in turns: of kith the whole
command, reading, certificate and writing included, without probabilities; of LAPACK the call of dsyevd
alone (SciPy).
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

RUNS = 3
POWERS = [10.0**k for k in range(-3, 4)]
CORNERS = [(c, rho) for c in (1e-3, 1e3) for rho in (1e-3, 1e3)]


def blobs(n, seed):
    """Two overlapping classes of three Gaussian blobs each, 10 features."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2 == 0, 1, -1)
    centres = rng.normal(size=(6, 10))
    return centres[rng.integers(0, 3, n) + 3 * (y > 0)] + rng.normal(size=(n, 10)), y, rng


def noisy_gaussian(n):
    """[CY] 6.1: a Gaussian kernel and 0.1 (E + E')/2."""
    X, y, rng = blobs(n, 1)
    squares = (X * X).sum(1)
    K = np.exp(-np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0) / 20)
    E = rng.standard_normal((n, n))
    return K + 0.1 * (E + E.T) / 2, y


def tanh_matrix(n):
    X, y, _ = blobs(n, 2)
    return np.tanh(X @ X.T / 10 - 0.5), y


KINDS = {"Gaussian + noise": noisy_gaussian, "tanh": tanh_matrix}


class Bench:
    def __init__(self, program, folder):
        self.program = program
        self.folder = Path(folder)

    def save(self, S, y):
        np.save(self.folder / "S.npy", S)
        (self.folder / "labels.txt").write_text("".join(f"{v}\n" for v in y), encoding="utf-8")

    def train(self, cost, rho, solver="newton"):
        """(processor seconds, JSON) of one command."""
        process = subprocess.Popen(
            [self.program, "train", "--similarity", self.folder / "S.npy", "--labels",
             self.folder / "labels.txt", "--method", "robust-svm", "--set", f"cost={cost!r}", "--set",
             f"rho={rho!r}", "--set", f"solver={solver}", "--set", "probability=no", "--model",
             self.folder / "model.kith", "--threads", "1", "--blas-threads", "1", "--quiet", "--json"],
            stdout=subprocess.PIPE, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 2), output
        return usage.ru_utime + usage.ru_stime, json.loads(output)

    def dsyevd(self):
        code = ("import numpy, scipy.linalg, sys, time\n"
                "a = numpy.load(sys.argv[1]).T.copy(order='F')\n"
                "began = time.process_time()\n"
                "scipy.linalg.eigh(a, driver='evd', overwrite_a=True, check_finite=False)\n"
                "print(time.process_time() - began)\n")
        return float(subprocess.run([sys.executable, "-c", code, self.folder / "S.npy"], check=True,
                                    capture_output=True, text=True).stdout)


def beside_lapack(bench, n):
    print(f"newton beside one dsyevd, n = {n}")
    print(f"{'matrix':18}{'C':>7}{'rho':>7}{'newton s':>10}{'dsyevd s':>10}{'ratio':>8}{'iterations':>12}{'gap':>9}")
    for name, make in KINDS.items():
        bench.save(*make(n))
        for cost, rho in ((1.0, 1.0), (1.0, 0.01), (1.0, 100.0), (1000.0, 0.001)):
            ours, bare = np.inf, np.inf
            for _ in range(RUNS):
                seconds, found = bench.train(cost, rho)
                ours, bare = min(ours, seconds), min(bare, bench.dsyevd())
            print(f"{name:18}{cost:7g}{rho:7g}{ours:10.3f}{bare:10.3f}{ours / bare:8.1f}"
                  f"{found['iterations']:12}{found['gap']:9.0e}", flush=True)


def beside_newton(bench, sizes):
    print("\nthe printed algorithms beside newton, C = 1")
    print(f"{'matrix':18}{'n':>5}{'rho':>6}  {'solver':19}{'s':>9}{'/ newton':>10}{'iterations':>12}"
          f"{'gap':>9}{'off by':>9}  status")
    for name, make in KINDS.items():
        for n in sizes:
            bench.save(*make(n))
            for rho in (1.0, 10.0) if n <= 100 else (10.0,):  # thousands of iterations for rho = 1
                base, best = bench.train(1.0, rho)
                for _ in range(RUNS - 1):
                    base = min(base, bench.train(1.0, rho)[0])
                print(f"{name:18}{n:5}{rho:6g}  {'newton':19}{base:9.3f}{1:10.1f}{best['iterations']:12}"
                      f"{best['gap']:9.0e}{'':>9}  {best['status']}", flush=True)
                for solver in ("exchange", "exchange-pruned", "projected-gradient"):
                    seconds, found = bench.train(1.0, rho, solver)
                    off = best["objective"] - found["objective"]
                    print(f"{name:18}{n:5}{rho:6g}  {solver:19}{seconds:9.3f}{seconds / base:10.1f}"
                          f"{found['iterations']:12}{found['gap']:9.0e}{off:9.0e}  {found['status']}",
                          flush=True)


def iterations(bench, sizes):
    print("\niterations of newton")
    print(f"{'matrix':18}{'n':>6}{'points':>8}{'C = 1':>8}{'grid':>6}{'at C':>8}{'rho':>8}{'worst gap':>11}  not solved")
    for name, make in KINDS.items():
        for n in sizes:
            bench.save(*make(n))
            points = [(c, rho) for c in POWERS for rho in POWERS]
            if n >= 1000:
                points = CORNERS + [(1.0, rho) for rho in POWERS]
            found = {point: bench.train(*point)[1] for point in points}
            counts = {point: result["iterations"] for point, result in found.items()}
            most = max(counts, key=counts.get)
            missed = sum(result["status"] != "solved" for result in found.values())
            print(f"{name:18}{n:6}{len(points):8}{max(v for (c, _), v in counts.items() if c == 1):8}"
                  f"{counts[most]:6}{most[0]:8g}{most[1]:8g}"
                  f"{max(result['gap'] for result in found.values()):11.0e}  {missed}", flush=True)


def main():
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(sys.argv[1], folder)
        beside_lapack(bench, 500)
        beside_newton(bench, (100,) if quick else (100, 200))
        iterations(bench, (60,) if quick else (60, 200, 500, 1000))


if __name__ == "__main__":
    main()
