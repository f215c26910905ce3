# SPDX-License-Identifier: Apache-2.0
"""Nested cross-validation: kith evaluate beside the scikit-learn script one would write.

    evaluate.py PROGRAM [DATA [REPEATS]]     DATA: a folder with voting/ and protein/, default ../shared/data
    evaluate.py PROGRAM --n 2000 [METHOD...]

The first is [TR]'s protocol for svm-clip.

Both get the same partitions, folds and costs and two cores. The script is GridSearchCV over a pipeline of a clip
transformer, which treats test rows by the same linear map, and SVC(kernel="precomputed"); it is run as it stands, and
once more with the transformer's result kept between costs by hand (one clip per fold), the best one could do with it.

The second compares methods on matrices made here: one partition, 5 folds, 6 costs, one thread. The script is the one
that keeps its clip (flip, decomposition) between costs.
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
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

COSTS = [10.0**e for e in range(-3, 6)]
CORES = 2


class Clip(TransformerMixin, BaseEstimator):
    """K = U max(L, 0) U'; a test row s becomes s U 1[L > 0] U'."""

    def _more_tags(self):
        return {"pairwise": True}

    def fit(self, S, y=None):
        values, self.vectors_ = np.linalg.eigh((S + S.T) / 2)
        self.keep_ = values > 0
        return self

    def transform(self, S):
        U = self.vectors_[:, self.keep_]
        return (S @ U) @ U.T


def read_partitions(path):
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    cells = np.array([line[1:] for line in lines])
    for column in cells.T:
        test = np.flatnonzero(column == "test")
        train = np.flatnonzero(column != "test")
        fold = column[train].astype(int)
        yield train, test, [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]


def script(S, y, partitions):
    errors = []
    for train, test, folds in partitions:
        search = GridSearchCV(make_pipeline(Clip(), SVC(kernel="precomputed")), {"svc__C": COSTS}, cv=folds, n_jobs=CORES)
        search.fit(S[np.ix_(train, train)], y[train])
        errors.append(np.mean(search.predict(S[np.ix_(test, train)]) != y[test]))
    return errors


def script_with_one_clip_per_fold(S, y, partitions):
    errors = []
    for train, test, folds in partitions:
        K, labels = S[np.ix_(train, train)], y[train]
        wrong = np.zeros(len(COSTS))
        for inner, held in folds:
            clip = Clip().fit(K[np.ix_(inner, inner)])
            fitted, queries = clip.transform(K[np.ix_(inner, inner)]), clip.transform(K[np.ix_(held, inner)])
            for i, cost in enumerate(COSTS):
                machine = SVC(C=cost, kernel="precomputed").fit(fitted, labels[inner])
                wrong[i] += np.sum(machine.predict(queries) != labels[held])
        clip = Clip().fit(K)
        machine = SVC(C=COSTS[int(np.argmin(wrong))], kernel="precomputed").fit(clip.transform(K), labels)
        errors.append(np.mean(machine.predict(clip.transform(S[np.ix_(test, train)])) != y[test]))
    return errors


class Spectrum(Clip):
    """The same for flip, and for the matrix as it is."""

    def __init__(self, how):
        self.how = how

    def fit(self, S, y=None):
        if self.how == "none":
            return self
        values, self.vectors_ = np.linalg.eigh((S + S.T) / 2)
        self.signs_ = (values > 0).astype(float) if self.how == "clip" else np.sign(values)
        return self

    def transform(self, S):
        return S if self.how == "none" else (S @ (self.vectors_ * self.signs_)) @ self.vectors_.T


def machine_script(how, grid):
    def script(S, y, train, test, folds):
        K, labels = S[np.ix_(train, train)], y[train]
        wrong = np.zeros(len(grid))
        for inner, held in folds:
            made = Spectrum(how).fit(K[np.ix_(inner, inner)])
            fitted, queries = made.transform(K[np.ix_(inner, inner)]), made.transform(K[np.ix_(held, inner)])
            for i, cost in enumerate(grid):
                machine = SVC(C=cost, kernel="precomputed").fit(fitted, labels[inner])
                wrong[i] += np.sum(machine.predict(queries) != labels[held])
        made = Spectrum(how).fit(K)
        machine = SVC(C=grid[int(np.argmin(wrong))], kernel="precomputed").fit(made.transform(K), labels)
        return np.mean(machine.predict(made.transform(S[np.ix_(test, train)])) != y[test])
    return script


def ridge_script(S, y, train, test, folds):
    from sklearn.kernel_ridge import KernelRidge
    grid = [10.0**e for e in range(-6, 3)]
    signs = np.where(y == y[0], 1.0, -1.0)
    K, labels = S[np.ix_(train, train)], signs[train]
    wrong = np.zeros(len(grid))

    def unit(kernel):
        return np.trace(kernel) / len(kernel)

    for inner, held in folds:
        made = Spectrum("clip").fit(K[np.ix_(inner, inner)])
        fitted, queries = made.transform(K[np.ix_(inner, inner)]), made.transform(K[np.ix_(held, inner)])
        for i, ridge in enumerate(grid):
            model = KernelRidge(alpha=ridge * unit(fitted), kernel="precomputed").fit(fitted, labels[inner])
            wrong[i] += np.sum(np.sign(model.predict(queries)) != labels[held])
    made = Spectrum("clip").fit(K)
    fitted = made.transform(K)
    model = KernelRidge(alpha=grid[int(np.argmin(wrong))] * unit(fitted), kernel="precomputed").fit(fitted, labels)
    return np.mean(np.sign(model.predict(made.transform(S[np.ix_(test, train)]))) != signs[test])


GRID = [10.0**e for e in range(-2, 4)]
SCRIPTS = {"svm-none": machine_script("none", GRID), "svm-clip": machine_script("clip", GRID),
           "svm-flip": machine_script("flip", GRID), "ridge": ridge_script}


def nested(program, n, methods):
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import fit
    print(f"n = {n}, 1 partition, 5 folds, one thread; processor seconds of kith, of the script, times; errors in %")
    for kind, matrix in {"Gaussian": fit.gaussian, "exp(-d)": fit.exp_distance, "tanh": fit.tanh}.items():
        X, y = fit.points(n, 2)
        S = np.ascontiguousarray(matrix(X))
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            np.save(folder / "s.npy", S)
            (folder / "y.txt").write_text("\n".join(map(str, y)) + "\n")
            for method in methods or SCRIPTS:
                grid = [] if method == "ridge" else ["--grid", f"{method}:cost={','.join(map(str, GRID))}"]
                command = [program, "evaluate", "--similarity", folder / "s.npy", "--labels", folder / "y.txt", "--methods", method,
                           *grid, "--protocol", "tr", "--repeats", "1", "--folds", "5", "--partitions", folder / "p.tsv",
                           "--threads", "1", "--quiet", "--json"]
                before = os.times()
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["methods"][0]
                after = os.times()
                ours = after.children_user + after.children_system - before.children_user - before.children_system
                train, test, folds = next(iter(read_partitions(folder / "p.tsv")))
                began = time.process_time()
                error = SCRIPTS[method](S, y, train, test, folds)
                theirs = time.process_time() - began
                print(f"{kind:<10} {method:<9} {ours:8.2f} {theirs:9.2f} {theirs / ours:7.1f}   "
                      f"{100 * np.mean(found['errors']):.2f} {100 * error:.2f}", flush=True)


def timed(function, *arguments):
    began = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - began


def kith(program, folder, partitions, repeats):
    command = [program, "evaluate", "--similarity", folder / "similarity.csv", "--labels", folder / "labels.txt", "--methods",
               "svm-clip", "--repeats", str(repeats), "--partitions", partitions, "--threads", str(CORES), "--quiet", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["methods"][0]["errors"]


def main(program, data, repeats=20):
    print(f"svm-clip, {repeats} partitions, 10 folds, 9 costs, {CORES} cores; seconds, and as a multiple of kith's")
    print(f"{'data':<10} {'kith':>8} {'script':>10} {'ratio':>7} {'1 clip/fold':>12} {'ratio':>7}   error % (kith, script)")
    for name in ("voting", "protein"):
        folder = pathlib.Path(data) / name
        S = np.loadtxt(folder / "similarity.csv", delimiter=",")
        y = np.array((folder / "labels.txt").read_text().split())
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "partitions.tsv"
            kith(program, folder, path, repeats)  # writes the partitions, warms the caches
            ours, seconds = timed(kith, program, folder, path, repeats)
            partitions = list(read_partitions(path))
            theirs, script_seconds = timed(script, S, y, partitions)
            best, best_seconds = timed(script_with_one_clip_per_fold, S, y, partitions)
        print(f"{name:<10} {seconds:8.2f} {script_seconds:10.2f} {script_seconds / seconds:7.1f} {best_seconds:12.2f}"
              f" {best_seconds / seconds:7.1f}   {100 * np.mean(ours):.2f} {100 * np.mean(theirs):.2f} {100 * np.mean(best):.2f}",
              flush=True)


if __name__ == "__main__":
    if "--n" in sys.argv:
        at = sys.argv.index("--n")
        sys.exit(nested(sys.argv[1], int(sys.argv[at + 1]), sys.argv[at + 2:]))
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2] / "shared/data"
    if not (folder / "voting").is_dir():
        sys.exit(f"evaluate.py: {folder} is absent; it must have voting/ and protein/")
    main(sys.argv[1], folder, *map(int, sys.argv[3:]))
