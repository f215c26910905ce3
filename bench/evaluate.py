# SPDX-License-Identifier: Apache-2.0
"""[TR]'s protocol for svm-clip: kith evaluate beside the scikit-learn script one would write.

    evaluate.py PROGRAM [DATA [REPEATS]]     DATA: a folder with voting/ and protein/, default ../shared/data

Both get the same partitions, folds and costs and two cores. The script is GridSearchCV over a pipeline of a clip
transformer, which treats test rows by the same linear map, and SVC(kernel="precomputed"); it is run as it stands, and
once more with the transformer's result kept between costs by hand (one clip per fold), the best one could do with it.
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
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2] / "shared/data"
    if not (folder / "voting").is_dir():
        sys.exit(f"evaluate.py: {folder} is absent; it must have voting/ and protein/")
    main(sys.argv[1], folder, *map(int, sys.argv[3:]))
