# SPDX-License-Identifier: Apache-2.0
"""The program from end to end beside the bare LAPACK call inside it, in one run, as ratios.

    end_to_end.py KITH [n]

Rows: `kith inspect` against eigenvalues alone, `svm` clip and its peak memory against the full
decomposition, and shift against clip on two kinds of matrix. The bare calls are SciPy's eigh
(dsyevd) on the same matrix with the same number of BLAS threads.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.linalg

KITH = sys.argv[1]
N = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
REPEATS = 3
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def tanh_matrix(x, rng):
    return numpy.tanh(x @ x.T)


def noisy_gaussian(x, rng):
    squares = (x * x).sum(1)
    gauss = numpy.exp(-numpy.maximum(squares[:, None] + squares[None, :] - 2 * x @ x.T, 0) / 20)
    noise = rng.standard_normal((N, N))
    return gauss + 0.05 * (noise + noise.T) / 2


def bare(path, vectors):
    """Seconds of LAPACK alone, in a process of its own with one BLAS thread."""
    code = (
        "import numpy, scipy.linalg, sys, time\n"
        f"a = numpy.load({path!r}).T.copy(order='F')\n"
        "began = time.perf_counter()\n"
        f"scipy.linalg.eigh(a, eigvals_only={not vectors}, driver='evd', overwrite_a=True, check_finite=False)\n"
        "print(time.perf_counter() - began)\n")
    return float(subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True,
                                capture_output=True, text=True).stdout)


def kith(*arguments):
    """(seconds, peak bytes, JSON) of one run."""
    began = time.perf_counter()
    process = subprocess.Popen([KITH, *arguments, "--json", "--blas-threads", "1", "--threads", "1"],
                               env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 2), output
    return time.perf_counter() - began, usage.ru_maxrss * 1024, json.loads(output)


def best(measure):
    return min(measure() for _ in range(REPEATS))


def row(name, ours, theirs, bar):
    ratio = ours / theirs
    verdict = "met" if ratio <= bar else "MISSED"
    print(f"{name:46} {ours:9.3f} {theirs:9.3f} {ratio:8.3f} {bar:7.2f}  {verdict}", flush=True)


def main():
    rng = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        def save(name, values):
            path = os.path.join(folder, name)
            numpy.save(path, values)
            return path

        x = rng.standard_normal((N, 10))
        paths = {"tanh": save("tanh.npy", tanh_matrix(x, rng)), "noisy": save("noisy.npy", noisy_gaussian(x, rng))}
        labels = os.path.join(folder, "labels.txt")
        with open(labels, "w") as file:
            file.writelines(f"{int(value > 0)}\n" for value in x[:, 0] + 0.3 * rng.standard_normal(N))
        model = os.path.join(folder, "m.kith")
        train = ("train", "--labels", labels, "--model", model, "--set", "probability=no", "--similarity")

        print(f"n = {N}, best of {REPEATS}, one thread")
        print(f"{'':46} {'kith':>9} {'bare':>9} {'ratio':>8} {'bar':>7}")
        row("inspect / LAPACK eigenvalues", best(lambda: kith("inspect", "--similarity", paths["tanh"])[0]),
            best(lambda: bare(paths["tanh"], False)), 1.3)
        full = best(lambda: bare(paths["tanh"], True))
        clips = {}
        for name in ("tanh", "noisy"):
            runs = [kith(*train, paths[name], "--method", "svm-clip") for _ in range(REPEATS)]
            clips[name] = min(run[2]["timing"]["seconds"] for run in runs)
            if name == "tanh":
                row("svm clip, fit / LAPACK dsyevd", clips[name], full, 1.25)
                row("svm clip, whole run / LAPACK dsyevd", min(run[0] for run in runs), full, 1.25)
                row("svm clip, peak memory / n^2 doubles", max(run[1] for run in runs) / 1e9,
                    8e-9 * N * N, 4.5)
        for name, bar in (("tanh", 0.1), ("noisy", 1 / 3)):
            shift = best(lambda: kith(*train, paths[name], "--method", "svm-shift")[2]["timing"]["seconds"])
            row(f"svm shift / svm clip, {name}", shift, clips[name], bar)


main()
