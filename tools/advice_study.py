#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the properties that `kith inspect` prints say about which methods do well: the tables of docs/advice.md.

    tools/advice_study.py --work FOLDER [--program build/release/kith] [--shared ../shared] [--only NAME,...] [--finished]

Every matrix has a store in FOLDER, and a file with its results once it is done. A run that was interrupted goes on where it
ended; --finished prints the tables of what is done. Another program needs another FOLDER.
"""

import argparse
import csv
import dataclasses
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPEATS, FOLDS = 5, 5
MOST_SAMPLES = 400  # of raw data; a matrix that exists is taken as it is
SMALL = 220  # up to as many samples spectrum-svm is measured
LARGE = 450  # from as many on the SLOW are not
SLOW = ("kri-clip", "krr-pinv", "svm-knn", "lp-machine", "local-sda")
# Not 128: of balanced classes all samples vote 64 to 64 inside the folds, and the nearest decides. So the largest number
# looks like the best there, and is the worst outside.
NEIGHBOURS = {"knn": "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,32", "local-sda": "4,6,8,12,16,32"}
METHODS = ("knn", "kri-clip", "krr-pinv", "svm-knn", "svm-none", "svm-clip", "svm-flip", "svm-shift", "svm-square", "features-svm",
           "features-fisher", "lp-machine", "ridge", "local-sda", "spectrum-svm")


@dataclasses.dataclass(frozen=True)
class Source:
    """A matrix that is there (`matrix`), or raw data and the measure that makes it one."""
    data: str
    matrix: str = ""
    raw: str = ""
    measure: tuple = ()
    distance: bool = False
    name: str = ""

    @property
    def shown(self):
        return self.name or self.data


def vectors(data, short):
    return [Source(data, raw="features.csv", measure=("gaussian",), name=f"{short}, gaussian"),
            Source(data, raw="features.csv", measure=("sigmoid",), name=f"{short}, sigmoid"),
            Source(data, raw="features.csv", measure=("manhattan",), distance=True, name=f"{short}, manhattan")]


def warped(data, short):
    return Source(data, matrix="dtw_distance.csv", distance=True, name=f"{short}, dtw")


SOURCES = [
    Source("aural-sonar", matrix="similarity.csv"),
    warped("ucr-coffee", "coffee"), warped("ucr-beef", "beef"),
    Source("yeast-sw-5-12", matrix="similarity.csv"),
    Source("balls3d", matrix="dissimilarity.csv", distance=True),
    warped("ucr-ecg200", "ecg200"), warped("ucr-gunpoint", "gunpoint"), warped("ucr-plane", "plane"),
    Source("protein", matrix="similarity.csv"),
    *vectors("sonar", "sonar"), *vectors("heart-statlog", "heart"),
    Source("voting", matrix="similarity.csv"),
    Source("house-votes-84", raw="features.csv", measure=("manhattan",), distance=True, name="votes, manhattan"),
    Source("words", raw="words.tsv", measure=("edit",), name="words, edit"),
    *(Source("scop40-10sf", matrix=f"{name}.csv", name=f"scop40, {name}")
      for name in ("nw_blosum62_11_1", "sw_blosum45_14_2", "sw_blosum62_11_1")),
    *vectors("liver-bupa", "liver"), *vectors("ionosphere", "ionosphere"), *vectors("wdbc", "wdbc"),
    *vectors("pima-diabetes", "pima"),
    Source("newsgroups", matrix="dissimilarity.csv", distance=True),
    Source("ucr-syntheticcontrol", raw="series.csv", measure=("dtw",), distance=True, name="syntheticcontrol, dtw"),
]


@dataclasses.dataclass
class Case:
    """One matrix as methods get it, its properties and the errors in %."""
    name: str
    data: str
    properties: dict
    errors: dict
    ranks: dict = dataclasses.field(default_factory=dict)


def run(program, *arguments):
    command = ["nice", "-n", "10", str(program), *map(str, arguments), "--json", "--quiet", "--threads", "1"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 2):  # 2: a solver missed its tolerance; the result is there
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}")
    return json.loads(result.stdout)


# ---------------------------------------------------------------- the matrices


def read_lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def spread(count):
    """Positions of at most MOST_SAMPLES rows, evenly spaced."""
    kept = min(count, MOST_SAMPLES)
    return [i * count // kept for i in range(kept)]


def standardised(rows):
    """Every column with mean 0 and standard deviation 1; a constant one is 0."""
    columns = []
    for column in zip(*rows):
        mean, deviation = statistics.fmean(column), statistics.pstdev(column)
        columns.append([(value - mean) / deviation if deviation > 0 else 0.0 for value in column])
    return zip(*columns)


def write_rows(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_samples(source, folder, path, labels):
    """The raw samples to be measured and their labels."""
    if source.data == "words":  # id<TAB>value in both files, in the same order
        lines, classes = ([line.split("\t")[1] for line in read_lines(ROOT / "examples/words" / name)]
                          for name in ("words.tsv", "languages.tsv"))
    else:
        lines, classes = read_lines(folder / source.raw), read_lines(folder / "labels.txt")
    kept = spread(len(lines))
    labels.write_text("".join(classes[i] + "\n" for i in kept), encoding="utf-8")
    if source.raw != "features.csv":
        path.write_text("".join(lines[i] + "\n" for i in kept), encoding="utf-8")
        return
    votes = {"y": 1.0, "n": -1.0, "?": 0.0}
    rows = [[votes[cell] if cell in votes else float(cell) for cell in lines[i].split(",")] for i in kept]
    write_rows(path, rows if source.data == "house-votes-84" else standardised(rows))


def write_scaled(path, out):
    """The matrix divided by its largest absolute value, so that one grid of costs suits all."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[float(cell) for cell in row] for row in csv.reader(file)]
    largest = max(abs(value) for row in rows for value in row)
    write_rows(out, [[repr(value / largest) for value in row] for row in rows])
    return statistics.median(value / largest for i, row in enumerate(rows) for value in row[:i])


def stem_of(source):
    return source.shown.replace(", ", "-")


def prepared(source, options):
    """The matrix, its labels, and the median off its diagonal."""
    folder = options.shared / "data" / source.data
    stem = stem_of(source)
    scaled, median = options.work / f"{stem}.csv", options.work / f"{stem}.median"
    labels = options.work / f"{stem}.labels"
    if not median.exists():
        matrix = folder / source.matrix
        if source.raw:
            samples = options.work / f"{stem}.samples{pathlib.Path(source.raw).suffix}"
            write_samples(source, folder, samples, labels)
            matrix = options.work / f"{stem}.raw.csv"
            run(options.program, "measure", "--data", samples, "--measure", *source.measure, "--out", matrix)
        else:
            labels.write_text((folder / "labels.txt").read_text(encoding="utf-8"), encoding="utf-8")
        median.write_text(repr(write_scaled(matrix, scaled)), encoding="utf-8")
    return scaled, labels, float(median.read_text(encoding="utf-8"))


def variants(source, options):
    """(name, flags) of each matrix that methods get from this source."""
    matrix, labels, median = prepared(source, options)
    if not source.distance:
        yield source.shown, ["--similarity", matrix, "--labels", labels]
        return
    flags = ["--distance", matrix, "--labels", labels, "--from-distance"]
    yield f"{source.shown}, centred", [*flags, "double-centre"]
    if not source.shown.endswith("manhattan"):  # exp of these is a kernel, as gaussian is
        yield f"{source.shown}, exp", [*flags, "exp", "--gamma", repr(1 / median)]


# ---------------------------------------------------------------- what is measured


def properties(report):
    counts = list(report["classes"].values())
    low, high = report["diagonal_min"], report["diagonal_max"]
    return {"n": report["n"], "classes": len(counts), "guess": 100 * (1 - max(counts) / sum(counts)),
            "1-NN": 100 * report["loo_1nn_error"], "negative": 100 * report["negative_eigenfraction"],
            "asymmetry": 100 * report["asymmetry"], "diagonal": high / low if low > 0 else math.inf,
            "unbalance": max(counts) / min(counts)}


def measured(name, data, flags, options):
    """The case, from its file where it is done."""
    done = options.work / f"{name.replace(', ', '-')}.json"
    if done.exists():
        found, errors = json.loads(done.read_text(encoding="utf-8"))
    elif options.finished:
        return None
    else:
        found, errors = properties_and_errors(name, flags, options)
        done.write_text(json.dumps([found, errors]), encoding="utf-8")
    case = Case(name, data, found, errors)
    case.ranks = ranks({method: errors[method] for method in METHODS if method in errors})
    return case


def properties_and_errors(name, flags, options):
    found = properties(run(options.program, "inspect", *flags))
    methods = [method for method in METHODS
               if (method != "spectrum-svm" or found["n"] <= SMALL) and (method not in SLOW or found["n"] < LARGE)]
    named = {f"few-{method}" if method in NEIGHBOURS else method: method for method in methods}
    grids = [part for method, values in NEIGHBOURS.items() if method in methods
             for part in ("--grid", f"few-{method}:neighbours={values}")]
    report = run(options.program, "evaluate", *flags, "--methods",
                 ",".join(f"{name}={method}" for name, method in named.items()), *grids, "--set", "*:probability=no",
                 "--repeats", REPEATS, "--folds", FOLDS, "--stratify", "yes",
                 "--store", options.work / f"{name.replace(', ', '-')}.db")
    return found, {named[entry["method"]]: 100 * entry["mean_error"] for entry in report["methods"]
                   if entry["method"] in named}


def ranks(values):
    """1 is the best; equal values share their mean rank."""
    return {key: 1 + sum(other < value for other in values.values()) +
                 (sum(other == value for other in values.values()) - 1) / 2 for key, value in values.items()}


# ---------------------------------------------------------------- rules

def share(low, high=math.inf):
    return lambda p: low <= p["negative"] < high


ANY = ("any matrix", lambda p: True)
INDEFINITE = ("any negative eigenvalue", lambda p: p["negative"] > 0)
DEFINITE = ("negative part below 0.1 %", share(-1, 0.1))
SLIGHT = ("negative part from 0.1 to 10 %", share(0.1, 10))
STRONG = ("negative part from 10 %", share(10))
FAR = ("1-NN worse than guessing", lambda p: p["1-NN"] > p["guess"])
NEAR = ("1-NN errs less than half of guessing", lambda p: p["1-NN"] < 0.5 * p["guess"])
ASYMMETRIC = ("asymmetric by more than 1 %", lambda p: p["asymmetry"] > 1)

# When, what is named, what it is compared with (none: every method that is not named).
RULES = [
    (STRONG, ("svm-flip", "svm-square", "spectrum-svm", "features-svm", "features-fisher"), ()),
    (STRONG, ("svm-flip",), ("svm-clip",)),
    (SLIGHT, ("svm-flip",), ("svm-clip",)),
    (STRONG, ("svm-square",), ("svm-clip",)),
    (STRONG, ("features-svm",), ("svm-clip",)),
    (STRONG, ("features-fisher",), ("svm-clip",)),
    (SLIGHT, ("svm-clip", "svm-flip"), ()),
    (DEFINITE, ("svm-clip",), ()),
    (DEFINITE, ("svm-clip",), ("svm-none",)),
    (INDEFINITE, ("svm-clip",), ("svm-none",)),
    (INDEFINITE, ("svm-flip",), ("svm-none",)),
    (INDEFINITE, ("svm-clip",), ("svm-shift",)),
    (STRONG, ("svm-clip",), ("svm-none",)),
    (SLIGHT, ("svm-clip",), ("svm-none",)),
    (FAR, ("krr-pinv", "features-svm", "features-fisher"), ()),
    (NEAR, ("knn", "kri-clip"), ()),
    (NEAR, ("knn",), ("svm-clip",)),
    (ASYMMETRIC, ("svm-square", "features-svm", "lp-machine", "features-fisher"), ()),
    (ANY, ("svm-clip",), ()),
    (ANY, ("ridge",), ()),
    (ANY, ("features-fisher",), ()),
    (ANY, ("svm-knn",), ()),
    (ANY, ("features-svm",), ()),
    (ANY, ("svm-flip",), ("svm-clip",)),
]


def compared(case, named, others):
    """(share of pairs won, mean rank of the others less that of the named), ties as halves; None where a side is empty."""
    first = [method for method in named if method in case.ranks]
    second = [method for method in (others or METHODS) if method in case.ranks and method not in named]
    if not first or not second:
        return None
    pairs = [(case.errors[a], case.errors[b]) for a in first for b in second]
    wins = sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)
    return wins, statistics.fmean(case.ranks[m] for m in second) - statistics.fmean(case.ranks[m] for m in first)


def by_data(cases, named, others):
    """The mean over data of (pairs won, ranks better), matrices of the same data counting once together."""
    groups = {}
    for case in cases:
        result = compared(case, named, others)
        if result:
            groups.setdefault(case.data, []).append(result)
    return [tuple(statistics.fmean(part) for part in zip(*results)) for results in groups.values()]


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.fmean(values):+.1f}" + ("" if math.isnan(error) else f" ± {error:.1f}")


def rule_rows(cases):
    """Rules about neighbours are judged where the matrix keeps the order of the distances: centring does not."""
    for (words, holds), named, others in RULES:
        fair = [case for case in cases if "knn" not in named or not case.name.endswith("centred")]
        inside = by_data([case for case in fair if holds(case.properties)], named, others)
        outside = by_data([case for case in fair if not holds(case.properties)], named, others)
        against = ", ".join(others) or "the rest"
        cells = [words, ", ".join(named), against]
        for part in (inside, outside):
            if not part:
                cells += ["0", "-", "-"]
                continue
            cells += [str(len(part)), f"{100 * statistics.fmean(won for won, _ in part):.0f} %",
                      mean_and_error([rank for _, rank in part])]
        yield cells


# ---------------------------------------------------------------- the page


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def number(value):
    return "-" if value is None or not math.isfinite(value) else f"{value:.1f}"


def property_table(cases):
    header = ["matrix", "n", "classes", "guessing %", "1-NN %", "negative %", "asymmetry %", "diagonal max / min", "largest / smallest class"]
    rows = [[case.name, str(case.properties["n"]), str(case.properties["classes"]),
             *(number(case.properties[key]) for key in ("guess", "1-NN", "negative", "asymmetry", "diagonal", "unbalance"))]
            for case in cases]
    return table(header, rows)


def error_table(cases):
    rows = []
    for case in cases:
        least = min(case.errors.values())
        rows.append([case.name, *(f"**{case.errors[m]:.1f}**" if case.errors.get(m) == least else number(case.errors.get(m))
                                  for m in METHODS)])
    data = {case.data for case in cases}
    means = ["mean rank"]
    for method in METHODS:
        per_data = [statistics.fmean(case.ranks[method] for case in cases if case.data == one and method in case.ranks)
                    for one in data if any(case.data == one and method in case.ranks for case in cases)]
        means.append(f"{statistics.fmean(per_data):.1f}" if per_data else "-")
    return table(["error in %", *METHODS], [*rows, means])


def cosine_table(cases, options, flags_of):
    """The same methods with and without --scale cosine, where self-similarities differ."""
    rows = []
    for case in cases:
        of_distances = case.name.endswith(("centred", "exp"))
        if of_distances or not 2 < case.properties["diagonal"] < math.inf:
            continue
        scaled = measured(f"{case.name}, cosine", case.data, [*flags_of[case.name], "--scale", "cosine"], options)
        if scaled is None:
            continue
        better = [scaled.errors[m] - case.errors[m] for m in METHODS if m in case.errors]
        rows.append([case.name, number(case.properties["diagonal"]), number(min(case.errors.values())),
                     number(min(scaled.errors.values())), f"{sum(d < 0 for d in better)} of {len(better)}",
                     f"{statistics.fmean(better):+.1f}"])
    return table(["matrix", "diagonal max / min", "best error %", "with cosine %", "methods that gain", "mean change"], rows)


def tables(cases, options, flags_of):
    data = len({case.data for case in cases})
    return "\n\n".join([
        f"{len(cases)} matrices of {data} data sets.", property_table(cases), error_table(cases),
        table(["when", "methods", "against", "data", "pairs won", "ranks better", "data otherwise", "pairs won", "ranks better"],
              rule_rows(cases)),
        cosine_table(cases, options, flags_of)])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder of the stores, outside the tree")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/kith")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="folder with data/")
    parser.add_argument("--finished", action="store_true", help="measure nothing more")
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, options.only.split(",")))
    cases, flags_of = [], {}
    for source in SOURCES:
        if only and source.data not in only:
            continue
        if options.finished and not (options.work / f"{stem_of(source)}.median").exists():
            continue
        if source.data != "words" and not (options.shared / "data" / source.data).is_dir():
            print(f"{source.data} is not among the shared data: left out", file=sys.stderr)
            continue
        for name, flags in variants(source, options):
            flags_of[name] = flags
            case = measured(name, source.data, flags, options)
            if case is None:
                continue
            cases.append(case)
            print(name, file=sys.stderr, flush=True)
    print(tables(cases, options, flags_of))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
