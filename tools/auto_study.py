#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How well does `auto` do? Nested evaluation of `auto` beside fixed methods on real data sets.

    tools/auto_study.py --program build/release/kith [--data ../shared/data] [--work FOLDER] [--page docs/auto.md]
                        [--jobs N] [--repeats 20] [SET...]

Each set is one `kith evaluate` with the protocol kith into a store of its own below --work (default: build/auto_study);
a run that was interrupted resumes. Sets of more than 300 samples are represented by 300 of them, drawn at random. The
table is written into the page, between the lines that mark its place, or printed.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

METHODS = "auto,knn,affinity-knn,kri-clip,krr-pinv,local-sda,svm-knn,svm-clip,svm-flip,svm-shift,features-svm,ridge"
MOST = 300
BEGIN, END = "<!-- table of tools/auto_study.py -->", "<!-- end of the table -->"


def lines(path):
    return np.array([line.strip() for line in open(path) if line.strip()])


def table(path):
    return np.loadtxt(path, delimiter=",")


def standardised(folder):
    X = table(folder / "features.csv")
    spread = X.std(0)
    return (X - X.mean(0)) / np.where(spread > 0, spread, 1)


def euclidean(folder):
    X = standardised(folder)
    return np.sqrt(np.maximum(((X[:, None] - X[None]) ** 2).sum(2), 0))


def manhattan(folder):
    X = standardised(folder)
    return np.abs(X[:, None] - X[None]).sum(2)


def agreement(folder):
    """How many answers two voters share; a missing one is shared with nobody."""
    rows = [line.strip().split(",") for line in open(folder / "features.csv")]
    V = np.array(rows[len(rows) - len(lines(folder / "labels.txt")):])
    return ((V[:, None] == V[None]) & (V[:, None] != "?")).sum(2).astype(float)


def measured(measure, file):
    def make(folder, program, work):
        out = work / f"{folder.name}-{measure}.npy"
        if not out.exists():
            subprocess.run([program, "measure", "--data", folder / file, "--measure", measure, "--out", out, "--quiet"],
                           check=True)
        return np.load(out)
    return make


# name: (folder, kind, how the matrix is made)
SETS = {
    "aural-sonar": ("aural-sonar", "similarity", "similarity.csv"),
    "protein": ("protein", "similarity", "similarity.csv"),
    "voting": ("voting", "similarity", "similarity.csv"),
    "yeast-sw-5-12": ("yeast-sw-5-12", "similarity", "similarity.csv"),
    "scop40 (sw)": ("scop40-10sf", "similarity", "similarity.csv"),
    "scop40 (sw, blosum45)": ("scop40-10sf", "similarity", "sw_blosum45_14_2.csv"),
    "house votes (agreement)": ("house-votes-84", "similarity", agreement),
    "words (edit)": ("words", "similarity", measured("edit", "words.tsv")),
    "words (edit distance)": ("words", "distance", measured("edit-distance", "words.tsv")),
    "balls3d": ("balls3d", "distance", "dissimilarity.csv"),
    "newsgroups": ("newsgroups", "distance", "dissimilarity.csv"),
    "beef (dtw)": ("ucr-beef", "distance", "dtw_distance.csv"),
    "coffee (dtw)": ("ucr-coffee", "distance", "dtw_distance.csv"),
    "ecg200 (dtw)": ("ucr-ecg200", "distance", "dtw_distance.csv"),
    "gunpoint (dtw)": ("ucr-gunpoint", "distance", "dtw_distance.csv"),
    "plane (dtw)": ("ucr-plane", "distance", "dtw_distance.csv"),
    "synthetic control (dtw)": ("ucr-syntheticcontrol", "distance", measured("dtw", "series.csv")),
    "heart (manhattan)": ("heart-statlog", "distance", manhattan),
    "ionosphere (euclidean)": ("ionosphere", "distance", euclidean),
    "sonar (manhattan)": ("sonar", "distance", manhattan),
    "wdbc (manhattan)": ("wdbc", "distance", manhattan),
    "wpbc (euclidean)": ("wpbc", "distance", euclidean),
    "liver (manhattan)": ("liver-bupa", "distance", manhattan),
    "pima (euclidean)": ("pima-diabetes", "distance", euclidean),
    "breast cancer (euclidean)": ("breast-cancer-wisconsin", "distance", euclidean),
}


def labels_of(folder):
    if folder.name != "words":
        return lines(folder / "labels.txt")
    language = dict(line.rstrip("\n").split("\t") for line in open(folder / "languages.tsv"))
    return np.array([language[line.split("\t")[0]] for line in open(folder / "words.tsv")])


def prepare(name, options):
    """Writes matrix and labels; returns their files and the kind, or None where the data is absent."""
    place, kind, how = SETS[name]
    folder = Path(__file__).parent.parent / "examples" / "words" if place == "words" else options.data / place
    if not folder.exists():
        return None
    stem = "".join(c if c.isalnum() else "-" for c in name)
    matrix, labels = options.work / f"{stem}.npy", options.work / f"{stem}.labels"
    if not matrix.exists():
        if isinstance(how, str):
            M = table(folder / how)
        else:
            M = how(folder, options.program, options.work) if how.__name__ == "make" else how(folder)
        y = labels_of(folder)
        if len(y) > MOST:
            chosen = np.sort(np.random.default_rng(1).permutation(len(y))[:MOST])
            M, y = M[np.ix_(chosen, chosen)], y[chosen]
        names, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, names[counts >= 5])
        labels.write_text("\n".join(y[kept]) + "\n")
        np.save(matrix, M[np.ix_(kept, kept)])
    return matrix, labels, kind


def evaluate(name, options):
    files = prepare(name, options)
    if files is None:
        print(f"{name}: skipped, its data is not there", file=sys.stderr)
        return None
    matrix, labels, kind = files
    found = subprocess.run(
        [options.program, "evaluate", f"--{kind}", matrix, "--labels", labels, "--methods", METHODS, "--protocol", "kith",
         "--repeats", str(options.repeats), "--store", matrix.with_suffix(".db"), "--threads", str(options.threads),
         "--quiet", "--json"], capture_output=True, text=True)
    if found.returncode not in (0, 2):
        print(f"{name}: {found.stderr}", file=sys.stderr)
        return None
    results = json.loads(found.stdout)
    y = lines(labels)
    print(f"{name}: done", file=sys.stderr, flush=True)
    return {"name": name, "kind": kind, "n": len(y), "classes": len(set(y)),
            "errors": {one["method"]: one["errors"] for one in results["methods"]}}


def p_above(ours, theirs, share):
    """One-sided p-value that the first errs more: the corrected resampled t-test (Nadeau and Bengio 2003)."""
    d = np.array(ours) - np.array(theirs)
    if np.allclose(d, 0):
        return 1.0
    scale = math.sqrt((1 / len(d) + share / (1 - share)) * d.var(ddof=1))
    from scipy.stats import t
    return 1 - t.cdf(d.mean() / scale, len(d) - 1)


def report(found):
    fixed = [one for one in METHODS.split(",") if one != "auto"]
    mean = {one: statistics.fmean(statistics.fmean(s["errors"][one]) for s in found) for one in METHODS.split(",")}
    best_fixed = min(fixed, key=mean.get)
    rows = [f"| set | samples | classes | auto | {best_fixed} | best of the set | auto - best | p |",
            "|---|---:|---:|---:|---:|---|---:|---:|"]
    gaps, worse = [], 0
    for s in found:
        errors = {one: 100 * statistics.fmean(values) for one, values in s["errors"].items()}
        best = min(fixed, key=errors.get)
        p = p_above(s["errors"]["auto"], s["errors"][best], 0.2)
        worse += p < 0.05
        gaps.append(errors["auto"] - errors[best])
        rows.append(f"| {s['name']} | {s['n']} | {s['classes']} | {errors['auto']:.2f} | {errors[best_fixed]:.2f} | "
                    f"{best} {errors[best]:.2f} | {gaps[-1]:+.2f} | {p:.2f} |")
    rows.append(f"| mean | | | {100 * mean['auto']:.2f} | {100 * mean[best_fixed]:.2f} | | {statistics.fmean(gaps):+.2f} | |")
    order = ", ".join(f"`{one}` {100 * mean[one]:.2f}" for one in sorted(mean, key=mean.get))
    def paragraph(text):
        return "\n".join(textwrap.wrap(text, 118, break_on_hyphens=False))

    return "\n\n".join([
        paragraph(
            f"Error in % over {len(found)} sets: the mean over the test parts of random partitions, with 80 % of the samples "
            f"for training. The methods are those that `kith evaluate` compares by default. `{best_fixed}` is the fixed "
            "method that is best on average. The best method of each set is chosen with hindsight, by the same test parts. "
            "No rule that sees the training part alone can be expected to reach it. p is of the one-sided corrected "
            "resampled t-test that `auto` errs more than that best method."),
        "\n".join(rows),
        paragraph(f"Sets on which `auto` is significantly worse (5 %) than the best method of the set: {worse} of {len(found)}."),
        paragraph(f"Mean error of each method over the sets: {order}.")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("build/auto_study"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--results", type=Path, help="read what an earlier run wrote here, or write it")
    parser.add_argument("sets", nargs="*", metavar="SET")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.program = options.program.resolve()
    if options.results and options.results.exists():
        found = json.loads(options.results.read_text())
    else:
        with ThreadPoolExecutor(options.jobs) as pool:
            found = [one for one in pool.map(lambda name: evaluate(name, options), options.sets or SETS) if one]
        if options.results:
            options.results.write_text(json.dumps(found))
    text = report(found)
    if not options.page:
        print(text)
        return
    page = options.page.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    options.page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
