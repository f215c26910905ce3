#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the shared data allow of the printed tables, compares each cell with the printed one, and
writes the comparison as a page.

    tools/reproduce.py [--program build/release/kith] [--shared ../shared] [--out docs/reproduction.md]
    tools/reproduce.py --time

Results are kept in one store per data set and protocol below --folder: the same command goes on where
it ended. tools/reproduction_tables.py says what is compared and why cells differ.
"""

import argparse
import csv
import dataclasses
import json
import math
import pathlib
import resource
import shutil
import subprocess
import sys
import textwrap
import time

sys.dont_write_bytecode = True  # the tree stays as it is
import reproduce_zgzz  # noqa: E402
import reproduction_cy  # noqa: E402
import reproduction_ktbb  # noqa: E402
import reproduction_tables as tables  # noqa: E402
from reproduce_cy import Failure  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Run:
    """What one store holds: a data set under a protocol, with a number of partitions."""
    protocol: str
    data: str
    repeats: int


@dataclasses.dataclass(frozen=True)
class Figure:
    """Errors in percent over partitions, ours or printed. Table 4 of [TR] prints no deviation."""
    mean: float
    sd: float | None
    partitions: int


@dataclasses.dataclass
class Cell:
    table: tables.Table
    data: str
    row: tables.Row
    printed: Figure
    ours: Figure
    second: Figure | None
    by_part: Figure | None

    def within(self):
        return within(self.ours, self.printed)

    def within_either(self):
        return self.within() or (self.second is not None and within(self.second, self.printed))

    def counted(self):
        return tables.DATA[self.data].counted


def off_by(ours, printed):
    """The difference in standard errors of the difference of the two means."""
    sd = ours.sd if printed.sd is None else printed.sd
    error = math.sqrt(sd**2 / printed.partitions + ours.sd**2 / ours.partitions)
    difference = ours.mean - printed.mean
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error


def within(ours, printed):
    return abs(off_by(ours, printed)) <= 2


def read_matrix(path):
    with path.open(encoding="utf-8") as lines:
        return [[float(value) for value in line.split(",")] for line in lines]


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


class Laboratory:
    """Runs the program and reads its stores."""

    def __init__(self, options):
        self.options = options
        self.data = options.shared / "data"
        self.wanted = {}
        self.finished = {}
        self.reports = {}
        self.seconds = []

    def repeats(self, number):
        return min(number, self.options.repeats) if self.options.repeats else number

    def present(self, data):
        what = tables.DATA[data]
        return (self.data / what.folder / what.file).is_file()

    def want(self, run, candidate):
        """Asks for a method; `finish` runs all that were asked for of a store together."""
        wanted = self.wanted.setdefault(run, [])
        if candidate not in wanted:
            wanted.append(candidate)

    def finish(self):
        for run, candidates in self.wanted.items():
            if run not in self.finished or self.finished[run] != len(candidates):
                self.reports[run] = self.evaluate(run, candidates)
                self.finished[run] = len(candidates)

    def figure(self, run, candidate):
        for method in self.reports[run]["methods"]:
            if method["method"] == candidate.name:
                return Figure(100 * method["mean_error"], 100 * method["sd_error"],
                              len(method["errors"]))
        raise Failure(f"{candidate.name} is missing from the report of {run}")

    def input_of(self, data):
        """The matrix or raw samples of a data set and the labels, made in the folder where they are not
        as given."""
        what = tables.DATA[data]
        given = self.data / what.folder
        similarity, labels = given / what.file, given / "labels.txt"
        if what.prepare is None:
            return similarity, labels
        made = self.options.folder / "data" / data
        if not (made / "labels.txt").is_file():
            made.mkdir(parents=True, exist_ok=True)
            matrix, names = what.prepare(read_matrix(similarity),
                                         labels.read_text(encoding="utf-8").split())
            write_lines(made / "similarity.csv", (",".join(map(repr, row)) for row in matrix))
            write_lines(made / "labels.txt", names)
        return made / "similarity.csv", made / "labels.txt"

    def command(self, run, candidates):
        samples, labels = self.input_of(run.data)
        what = tables.DATA[run.data]
        flag = "--data" if "--measure" in what.flags else "--similarity"
        command = [self.options.program, "evaluate", flag, samples, "--labels", labels, *what.flags,
                   "--protocol", run.protocol, "--repeats", run.repeats, "--name", run.data,
                   "--store", self.store(run),
                   "--methods", ",".join(f"{c.name}={c.method}" for c in candidates)]
        for candidate in candidates:
            for key, value in candidate.settings:
                command += ["--set", f"{candidate.name}:{key}={value}"]
            for key, values in candidate.grids:
                command += ["--grid", f"{candidate.name}:{key}={values}"]
        if self.options.folds:
            command += ["--folds", self.options.folds]
        if self.options.threads:
            command += ["--threads", self.options.threads]
        return [str(part) for part in command]

    def store(self, run):
        return self.options.folder / f"{run.protocol}-{run.data}-{run.repeats}.db"

    def evaluate(self, run, candidates):
        print(f"{run.protocol}, {run.data}, {run.repeats} partitions: {len(candidates)} methods",
              file=sys.stderr, flush=True)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        result = subprocess.run([*self.command(run, candidates), "--json", "--quiet"],
                                stdout=subprocess.PIPE, text=True, check=False)
        after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        # 2: a solver missed its tolerance somewhere; the results are there and marked.
        if result.returncode not in (0, 2):
            raise Failure(f"`kith evaluate` ended with exit code {result.returncode}")
        processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        self.seconds.append((run, end - start, processor))
        document = json.loads(result.stdout)
        return document[0] if isinstance(document, list) else document


# --- printed figures -----------------------------------------------------------------------------


def printed_figures(table, folder):
    """(row, data set) -> Figure of a table."""
    if table.figures:
        return {(row, data): Figure(mean, None, tables.PRINTED_PARTITIONS)
                for row, data, mean in table.figures}
    path = folder / table.file
    lines = [line for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    figures = {}
    for line in csv.DictReader(lines):
        row = line["method"] if "method" in line else f"{line['family']}-{line['modification']}"
        sd = float(line["sd"]) if line.get("sd") else None
        figures[row, line["dataset"]] = Figure(float(line["mean"]), sd, tables.PRINTED_PARTITIONS)
    return figures


# --- runs ----------------------------------------------------------------------------------------


def run_tables(laboratory):
    """Every cell that is printed and whose data set is there."""
    places = []
    for table in tables.TABLES:
        printed = printed_figures(table, laboratory.options.shared / "paper_tables")
        for data in table.data:
            if not laboratory.present(data):
                print(f"{data} is not among the shared data: left out", file=sys.stderr)
                continue
            run = Run(table.protocol, data, laboratory.repeats(tables.PRINTED_PARTITIONS))
            by_part = honest_run(laboratory, run)
            for row in table.rows:
                if (row.key, data) not in printed:
                    continue
                second = row.candidate.with_changes(row.open) if row.open else None
                for candidate in filter(None, (row.candidate, second)):
                    laboratory.want(run, candidate)
                if by_part:
                    laboratory.want(by_part, row.candidate)
                places.append((table, data, row, printed[row.key, data], run, second, by_part))
    laboratory.finish()
    return [Cell(table, data, row, figure, laboratory.figure(run, row.candidate),
                 laboratory.figure(run, second) if second else None,
                 laboratory.figure(by_part, row.candidate) if by_part else None)
            for table, data, row, figure, run, second, by_part in places]


def honest_run(laboratory, run):
    """The run beside it whose similarities are learned in each training part; None: there is none."""
    honest = tables.DATA[run.data].honest
    if not honest:
        return None
    if not laboratory.present(honest):
        print(f"{honest} is not among the shared data: left out", file=sys.stderr)
        return None
    return dataclasses.replace(run, data=honest)


def is_among(cell, named):
    place = (cell.table.key, cell.data, cell.row.key)
    return any(all(a in ("*", b) for a, b in zip(one, place)) for one in named)


def noted(cells):
    """(note or None, cell): each cell outside with its note, and those a note asks for as well."""
    for cell in cells:
        if not cell.within():
            yield next((note for note in tables.NOTES if is_among(cell, note.cells)), None), cell
    for note in tables.NOTES:
        for cell in cells:
            if cell.within() and is_among(cell, note.also):
                yield note, cell


def run_readings(laboratory, cells):
    """The runs of the notes on their cells; returns (note or None, cell, [(reading, Figure)])."""
    chosen = list(noted(cells))
    planned = []
    for note, cell in chosen:
        for reading in note.readings if note else ():
            repeats = reading.repeats or tables.PRINTED_PARTITIONS
            run = Run(cell.table.protocol, reading.data or cell.data, laboratory.repeats(repeats))
            candidate = cell.row.candidate.with_changes(reading.settings, reading.grids)
            laboratory.want(run, candidate)
            planned.append((cell, reading, run, candidate))
    laboratory.finish()
    found = []
    for note, cell in chosen:
        tested = [(reading, laboratory.figure(run, candidate))
                  for of, reading, run, candidate in planned
                  if of is cell and reading in (note.readings if note else ())]
        found.append((note, cell, tested))
    return found


# --- the page ------------------------------------------------------------------------------------


def shown(figure):
    return f"{figure.mean:.2f}" + (f" ({figure.sd:.2f})" if figure.sd is not None else "")


def signed(number):
    return f"{number:+.1f}" if math.isfinite(number) else ("+inf" if number > 0 else "-inf")


def verdict(ours, printed):
    return "yes" if within(ours, printed) else "**no**"


def table_lines(table, cells):
    lines = [f"## {table.title}", ""]
    for data in table.data:
        here = [cell for cell in cells if cell.table is table and cell.data == data]
        if not here:
            continue
        remark = tables.DATA[data].remark
        lines += [f"### {table.key}: {data}", ""]
        if remark:
            lines += [remark[0].upper() + remark[1:] + ".", ""]
        lines += cell_rows(here) + [""]
    return lines


def cell_rows(cells):
    """One table; with further columns where a reading is open, and where similarities are learned in
    each training part as well."""
    runs = [("ours", [cell.ours for cell in cells]), ("with raw s", [cell.second for cell in cells]),
            ("by part", [cell.by_part for cell in cells])]
    runs = [(name, figures) for name, figures in runs if any(figures)]
    head = ["method", "printed"]
    for name, _ in runs:
        head += [name, "off by", "within 2"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for i, cell in enumerate(cells):
        line = [f"`{cell.row.candidate.method}`", shown(cell.printed)]
        for _, figures in runs:
            figure = figures[i]
            line += ([shown(figure), signed(off_by(figure, cell.printed)),
                      verdict(figure, cell.printed)] if figure else ["", "", ""])
        lines.append(f"| {' | '.join(line)} |")
    return lines


def summary_lines(cells):
    lines = ["| table | cells compared | within 2 | within 2 with raw s where open | not counted |",
             "|---|---|---|---|---|"]
    everything = [cell for cell in cells if cell.counted()]
    for table in tables.TABLES:
        here = [cell for cell in cells if cell.table is table]
        counted = [cell for cell in here if cell.counted()]
        lines.append(f"| {table.title} | {len(counted)} | {sum(c.within() for c in counted)} | "
                     f"{sum(c.within_either() for c in counted)} | {len(here) - len(counted)} |")
    lines.append(f"| all | {len(everything)} | {sum(c.within() for c in everything)} | "
                 f"{sum(c.within_either() for c in everything)} | {len(cells) - len(everything)} |")
    return lines


def place(cell):
    return f"{cell.table.key}, {cell.data}, `{cell.row.candidate.method}`"


def note_lines(found):
    lines = ["## Cells outside 2 standard errors", ""]
    for note in tables.NOTES:
        here = [(cell, tested) for of, cell, tested in found if of is note]
        if all(cell.within() for cell, _ in here):
            continue
        lines += [f"### {note.title}", "", textwrap.fill(note.cause, 140), "",
                  "| cell | printed | reading | error | off by | within 2 |", "|---|---|---|---|---|---|"]
        for cell, tested in here:
            shown_runs = [("ours", cell.ours)]
            if cell.second:
                shown_runs.append(("raw s", cell.second))
            shown_runs += [(reading.label, figure) for reading, figure in tested]
            for label, figure in shown_runs:
                lines.append(f"| {place(cell)} | {shown(cell.printed)} | {label} | {shown(figure)} | "
                             f"{signed(off_by(figure, cell.printed))} | "
                             f"{verdict(figure, cell.printed)} |")
        lines.append("")
    return lines + unexplained_lines(found)


def unexplained_lines(found):
    without = [cell for note, cell, _ in found if note is None]
    if not without:
        return []
    lines = ["### Without a note", ""]
    lines += [f"- {place(cell)}: printed {shown(cell.printed)}, ours {shown(cell.ours)}, off by "
              f"{signed(off_by(cell.ours, cell.printed))}" for cell in without]
    return lines + [""]


INTRODUCTION = """<!-- Written by `make reproduce` (tools/reproduce.py); notes are in tools/reproduction_tables.py. -->
# Reproduction of printed tables

[TR] is Chen, Garcia, Gupta, Rahimi and Cazzanti, *Similarity-based classification: concepts and algorithms* (2009); [CGR] is Chen,
Gupta and Recht, *Learning kernels from indefinite similarities* (ICML 2009). `make reproduce` runs their protocols on the data sets
at hand and writes this page.

Errors are % of the test part, mean (standard deviation) over {repeats} random 80/20 partitions of our own; settings are chosen by
10-fold cross-validation inside each training part. "Off by" is our mean less the printed one, in standard errors of that
difference, √(sd²/20 + sd²/20) with the deviation of each side ([TR] Table 4 and [CGR] 4.3 print none: there ours stands for both). Of two sound
implementations about one cell in twenty is outside 2, though not independently: the cells of a data set share their partitions. Ours is kith with its defaults. [TR] does not say whether the
similarities s of a new sample to its neighbours are treated like the block of the neighbours in KRI and KRR: kith treats them
(`test-treatment=linear`), and "with raw s" is the other reading (`test-treatment=none`).

[TR] prints KRI-clip on voting twice, as 5.29 (Table 3) and as 5.34 (Table 4): the same run, so two printed figures may differ
by that much for no reason. Voting is the matrix as given, made with the labels of all samples, those of the test part among them. "By
part" are value differences learned from the votes and labels of each training part alone, outer and inner, on the same partitions
(`kith evaluate --data features.csv --measure value-difference --from-distance max-minus --scale unit`); they are shown beside, not counted.
"""


def page(laboratory, cells, found):
    lines = INTRODUCTION.format(repeats=laboratory.repeats(tables.PRINTED_PARTITIONS)).splitlines()
    lines += ["", *summary_lines(cells), ""]
    for table in tables.TABLES:
        lines += table_lines(table, cells)
    lines += note_lines(found)
    lines += reproduction_cy.section(laboratory.options)
    lines += reproduction_ktbb.section(laboratory.options)
    lines += reproduce_zgzz.section(laboratory.options)
    return "\n".join(lines).rstrip() + "\n"


# --- the command ---------------------------------------------------------------------------------


def time_protocol(laboratory):
    """All methods of a protocol's tables on all their data sets, from nothing, with seconds."""
    shutil.rmtree(laboratory.options.folder, ignore_errors=True)
    laboratory.options.folder.mkdir(parents=True)
    protocol = laboratory.options.time
    ours = [table for table in tables.TABLES if table.protocol == protocol and not table.figures]
    candidates = list(dict.fromkeys(row.candidate for table in ours for row in table.rows))
    for data in dict.fromkeys(data for table in ours for data in table.data):
        if laboratory.present(data):
            run = Run(protocol, data, laboratory.repeats(tables.PRINTED_PARTITIONS))
            for candidate in candidates:
                laboratory.want(run, candidate)
    laboratory.finish()
    print("| data set | methods | wall s | processor s |\n|---|---|---|---|")
    for run, wall, processor in laboratory.seconds:
        print(f"| {run.data} | {len(candidates)} | {wall:.0f} | {processor:.0f} |")
    print(f"| all | | {sum(s[1] for s in laboratory.seconds):.0f} "
          f"| {sum(s[2] for s in laboratory.seconds):.0f} |")


def compare(laboratory):
    cells = run_tables(laboratory)
    if not cells:
        raise Failure(f"none of the data sets is in {laboratory.data}")
    found = run_readings(laboratory, cells)
    laboratory.options.out.write_text(page(laboratory, cells, found), encoding="utf-8")
    print("\n".join(summary_lines(cells)))
    without = sum(note is None for note, _, _ in found)
    if without:
        print(f"{without} cells outside 2 standard errors have no note", file=sys.stderr)
    print(f"The comparison is in {laboratory.options.out}.")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/kith")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared",
                        help="folder with data/ and paper_tables/")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/reproduction",
                        help="where the stores are")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/reproduction.md")
    parser.add_argument("--repeats", type=int, help="at most this many partitions (for a quick look)")
    parser.add_argument("--folds", type=int, help="inner folds, in place of the protocol's")
    parser.add_argument("--threads", type=int, help="passed to kith")
    parser.add_argument("--time", nargs="?", const="tr", choices=("tr", "cgr"),
                        help="time the whole of [TR]'s (tr, the default) or [CGR]'s protocol from "
                        "nothing, and write no page")
    options = parser.parse_args(arguments)
    if options.time:
        options.folder = options.folder / "timing"
    return options


def main(arguments):
    options = parse(arguments)
    try:
        if not options.program.is_file():
            raise Failure(f"{options.program} is not built; run `make build` first")
        if not (options.shared / "paper_tables").is_dir() or not (options.shared / "data").is_dir():
            raise Failure(f"{options.shared} has no data/ and paper_tables/: the printed tables are "
                          "compared only where the shared data are; name their folder with --shared")
        options.folder.mkdir(parents=True, exist_ok=True)
        laboratory = Laboratory(options)
        if options.time:
            time_protocol(laboratory)
        else:
            compare(laboratory)
    except Failure as failure:
        print(f"reproduce: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
