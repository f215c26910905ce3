#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the solvers of linear-msvm: the table of docs/methods/linear-msvm.md.

    tools/compare_metric_solvers.py [--program build/release/kith] [--shared ../shared] [--repeats 20]

Objectives, singular values and correlations of decision values are those of a fit to all samples; accuracies are means over
partitions 70:30, with the cost as given.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
from statistics import correlation

sys.dont_write_bytecode = True  # the tree stays as it is
from jacobi import dot, singular_values  # noqa: E402
from model_arrays import read_arrays  # noqa: E402
from reproduce_cy import read_table  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ("sonar", "wdbc", "ionosphere", "wpbc", "heart-statlog", "pima-diabetes", "liver-bupa")
COSTS = ("0.1", "1", "10")
# Column -> the settings it is; a relative decrease below 1 is any, so that the first step is the last.
SOLVERS = {"one step": ("tolerance=1",), "ε = 1e-6": (), "ε = 1e-9": ("tolerance=1e-9",), "optimum": ("solver=convex",)}


def kith(options, *arguments):
    command = [str(part) for part in (options.program, *arguments, "--json", "--quiet", "--threads", "1")]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 2):  # 2: a solver missed its tolerance; the result is there
        sys.exit(f"`kith {arguments[0]}` ended with exit code {result.returncode}")
    return json.loads(result.stdout)


def inputs(options, data):
    folder = options.shared / "data" / data
    return ("--data", folder / "features.csv", "--labels", folder / "labels.txt")


def fit(options, data, folder, *settings):
    """The objective of a fit to all samples, the singular values of its map and the decision values less the intercept."""
    flags = [part for setting in ("probability=no", "certificate=no", *settings) for part in ("--set", setting)]
    found = kith(options, "train", *inputs(options, data), "--method", "linear-msvm", *flags, "--model", folder / "m")
    arrays = read_arrays(folder / "m")
    scaled = [factor * row[0] for factor, row in zip(arrays["model.feature_factor"], arrays["model.directions"])]
    return found["objective"], singular_values(arrays["model.maps"]), [
        dot(scaled, row) for row in read_table(inputs(options, data)[1])]


def accuracies(options, data):
    """(cost, column) -> mean in %."""
    names, flags = {}, []
    for cost in COSTS:
        for k, (column, settings) in enumerate(SOLVERS.items()):
            name = f"s{k}-{cost}"
            names[name] = cost, column
            for setting in ("probability=no", f"cost={cost}", *settings):
                flags += ["--set", f"{name}:{setting}"]
    report = kith(options, "evaluate", *inputs(options, data), "--protocol", "zgzz", "--repeats", options.repeats,
                  "--methods", ",".join(f"{name}=linear-msvm" for name in names), *flags)
    return {names[entry["method"]]: 100 * (1 - entry["mean_error"]) for entry in report["methods"]}


def ratio(values):
    """Of the two largest; more than double precision can tell is none."""
    return values[0] / values[1] if len(values) > 1 and values[1] > 1e-15 * values[0] else math.inf


def rows(options, data, folder):
    table = read_table(inputs(options, data)[1])
    accuracy = accuracies(options, data)
    for cost in COSTS:
        _, _, first = fit(options, data, folder, f"cost={cost}", *SOLVERS["one step"])
        descent, sizes, end = fit(options, data, folder, f"cost={cost}")
        optimum, _, best = fit(options, data, folder, f"cost={cost}", *SOLVERS["optimum"])
        shown = " | ".join(f"{accuracy[cost, column]:.1f}" for column in SOLVERS)
        yield (f"| {data}, {len(table)} × {len(table[0])} | {cost} | {descent:.2f} | {optimum:.2f} | {ratio(sizes):.3g} | "
               f"{correlation(end, first):.3f} | {correlation(end, best):.3f} | {shown} |")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/kith")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="folder with data/")
    parser.add_argument("--repeats", type=int, default=20, help="partitions")
    options = parser.parse_args(arguments)
    print(f"| data | C | descent | optimum | σ₁/σ₂ | r, one step | r, optimum | {' | '.join(SOLVERS)} |\n|" +
          "---|" * (7 + len(SOLVERS)))
    with tempfile.TemporaryDirectory() as name:
        for data in DATA:
            if not inputs(options, data)[1].is_file():
                print(f"{data} is not among the shared data: left out", file=sys.stderr)
                continue
            for row in rows(options, data, pathlib.Path(name)):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
