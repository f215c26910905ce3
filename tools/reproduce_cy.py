# SPDX-License-Identifier: Apache-2.0
"""[CY] Table 1 for `tools/reproduce.py`: Gaussian kernels made indefinite by noise, with the program alone.

For each data set and partition: the width of the kernel by cross-validation of a plain support vector
machine on the training part, the kernel of all samples (`kith measure`), noise drawn for this
partition (`--perturb cy --seed P`), and the five methods (`kith evaluate --protocol cy`) on that matrix.
"""

import csv
import dataclasses
import json
import math
import random
import statistics
import subprocess
import sys

PARTITIONS = 10
FOLDS = 5
WIDTHS = range(-4, 7)  # gamma = 2^k / (mean squared distance of two samples)


class Failure(Exception):
    """What the user is told before the script ends."""


@dataclasses.dataclass(frozen=True)
class Data:
    """`xi` is printed for sonar alone; the others fit the printed least eigenvalues."""
    folder: str
    xi: float
    per_class: int = 0


DATA = {
    "sonar": Data("sonar", 0.1),
    "ionosphere": Data("ionosphere", 1.0),
    "breast-cancer": Data("breast-cancer-wisconsin", 0.1),
    "heart": Data("heart-statlog", 0.5),
    "usps-3-5": Data("usps35", 0.1, per_class=600),
    "diabetes": Data("pima-diabetes", 0.1),
}

# Printed column -> method. SVM "applies the indefinite kernel directly".
COLUMNS = {"denoise": "svm-clip", "flip": "svm-flip", "shift": "svm-shift", "svm": "svm-none",
           "indefinite-svm": "robust-svm"}

SPECTRUM = ("negative_eigenvalues", "positive_eigenvalues", "lambda_min", "lambda_max")


@dataclasses.dataclass(frozen=True)
class Candidate:
    method: str
    settings: tuple = ()

    @property
    def name(self):
        return "-with-".join([self.method, *(f"{key}-{value}" for key, value in self.settings)])


@dataclasses.dataclass(frozen=True)
class Variant:
    """How the kernel is made: features scaled to [0, 1] or as given, the width by cross-validation
    or the one whose kernel has the printed largest eigenvalue."""
    scaled: bool = True
    printed_width: bool = False
    xi: float = 0  # in place of the data set's

    @property
    def name(self):
        return (("unit" if self.scaled else "given") + ("-printed-width" if self.printed_width else "") +
                (f"-xi-{self.xi:g}" if self.xi else ""))


@dataclasses.dataclass
class Outcome:
    """Of one data set and variant: accuracies in % and the settings chosen by candidate, and the spectrum,
    one entry per partition."""
    accuracy: dict
    chosen: dict
    spectrum: list
    gammas: list


def read_table(path):
    with path.open(encoding="utf-8") as lines:
        return [[float(value) for value in line.split(",")] for line in lines]


def write_lines(path, lines):
    temporary = path.with_name(path.name + ".part")
    temporary.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def unit_scaled(table):
    lows = [min(column) for column in zip(*table)]
    spans = [max(column) - low or 1.0 for column, low in zip(zip(*table), lows)]
    return [[(value - low) / span for value, low, span in zip(row, lows, spans)] for row in table]


def mean_squared_distance(table):
    return 2 * sum(statistics.variance(column) for column in zip(*table))


def read_partitions(path):
    """A list per partition of the cells of its samples: "test" or the fold."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    return [list(cells) for cells in list(zip(*lines[1:]))[1:]]


def write_partitions(path, partitions):
    head = ["sample", *(str(p + 1) for p in range(len(partitions)))]
    rows = [[str(i + 1), *cells] for i, cells in enumerate(zip(*partitions))]
    write_lines(path, ("\t".join(row) for row in [head, *rows]))


def inner_partitions(partition):
    """The cross-validation inside one training part as partitions: each fold tests once, and what
    tests outside takes no part."""
    folds = sorted({int(cell) for cell in partition if cell.isdigit()})
    return [["-" if cell == "test" else "test" if int(cell) == fold
             else str(int(cell) - (int(cell) > fold)) for cell in partition] for fold in folds]


class Workshop:
    """Runs the program; results are kept below the folder."""

    def __init__(self, options):
        self.options = options
        self.folder = options.folder / "cy"
        self.data = options.shared / "data"
        self.repeats = min(PARTITIONS, options.repeats or PARTITIONS)
        self.folds = options.folds or FOLDS

    def present(self, data):
        return (self.data / DATA[data].folder / "features.csv").is_file()

    def kith(self, *arguments):
        """The JSON that a command prints; exit code 2 (a tolerance missed) is a result, too."""
        command = [str(part) for part in (self.options.program, *arguments, "--json", "--quiet")]
        if self.options.threads:
            command += ["--threads", str(self.options.threads)]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode not in (0, 2):
            raise Failure(f"`kith {arguments[0]}` ended with exit code {result.returncode}")
        return json.loads(result.stdout)

    def evaluate(self, similarity, labels, partitions, candidates, *flags):
        """method name -> its entry of the report."""
        command = ["evaluate", "--similarity", similarity, "--labels", labels, "--protocol", "cy",
                   "--partitions", partitions, "--methods",
                   ",".join(f"{c.name}={c.method}" for c in candidates), *flags]
        for candidate in candidates:
            for key, value in candidate.settings:
                command += ["--set", f"{candidate.name}:{key}={value}"]
        report = self.kith(*command)
        return {entry["method"]: entry for entry in report["methods"]}

    def prepared(self, data, scaled):
        """The folder with features.csv and labels.txt, and the mean squared distance."""
        what = DATA[data]
        folder = self.folder / f"{data}-{'unit' if scaled else 'given'}"
        folder.mkdir(parents=True, exist_ok=True)
        table = read_table(self.data / what.folder / "features.csv")
        labels = (self.data / what.folder / "labels.txt").read_text(encoding="utf-8").split()
        if what.per_class:
            chance = random.Random(1)
            at = sorted(i for label in sorted(set(labels))
                        for i in chance.sample([i for i, own in enumerate(labels) if own == label],
                                               what.per_class))
            table, labels = [table[i] for i in at], [labels[i] for i in at]
        if scaled:
            table = unit_scaled(table)
        write_lines(folder / "features.csv", (",".join(map(repr, row)) for row in table))
        write_lines(folder / "labels.txt", labels)
        return folder, mean_squared_distance(table)

    def kernel(self, folder, gamma, path, *flags):
        self.kith("measure", "--data", folder / "features.csv", "--measure", "gaussian", "--gamma",
                  repr(gamma), *flags, "--out", path)

    def partitions(self, folder):
        """Drawn by the program once for all variants of a data set."""
        path = folder / f"partitions-{self.repeats}-{self.folds}.tsv"
        if not path.is_file():
            kernel = folder / "clean.npy"
            self.kernel(folder, 1.0, kernel)
            self.evaluate(kernel, folder / "labels.txt", path, [Candidate("knn", (("neighbours", 1),))],
                          "--repeats", self.repeats, "--folds", self.folds)
        return read_partitions(path)

    def widths(self, folder, unit):
        """gamma by cross-validation inside each training part: a support vector machine with C = 1 on the
        kernel without noise. Among equals the wider kernel."""
        partitions = self.partitions(folder)
        kept = folder / f"widths-{self.repeats}-{self.folds}.json"
        if kept.is_file():
            return json.loads(kept.read_text(encoding="utf-8"))
        inner = [cells for partition in partitions for cells in inner_partitions(partition)]
        path = folder / "inner.tsv"
        write_partitions(path, inner)
        losses = []
        for k in WIDTHS:
            kernel = folder / "clean.npy"
            self.kernel(folder, 2.0**k / unit, kernel)
            entry = self.evaluate(kernel, folder / "labels.txt", path, [Candidate("svm-none")])["svm-none"]
            errors = [e * cells.count("test") for e, cells in zip(entry["errors"], inner)]
            losses.append([round(sum(errors[p * self.folds:(p + 1) * self.folds]))
                           for p in range(self.repeats)])
        gammas = []
        for p in range(self.repeats):
            best = min(range(len(losses)), key=lambda k: (losses[k][p], k))
            gammas.append(2.0 ** WIDTHS[best] / unit)
        write_lines(kept, [json.dumps(gammas)])
        return gammas

    def width_of_printed(self, folder, unit, largest):
        """gamma for which the kernel without noise has this largest eigenvalue, by bisection."""
        low, high = 2.0**-8 / unit, 2.0**14 / unit
        for _ in range(16):
            middle = math.sqrt(low * high)
            self.kernel(folder, middle, folder / "clean.npy")
            found = self.kith("inspect", "--similarity", folder / "clean.npy")
            low, high = (middle, high) if found["lambda_max"] > largest else (low, middle)
        return math.sqrt(low * high)

    def run(self, data, variant, candidates, printed):
        """All partitions of a data set."""
        print(f"cy, {data}, {variant.name}: {len(candidates)} methods", file=sys.stderr, flush=True)
        folder, unit = self.prepared(data, variant.scaled)
        partitions = self.partitions(folder)
        if variant.printed_width:
            gammas = [self.width_of_printed(folder, unit, printed["lambda_max"])] * self.repeats
        else:
            gammas = self.widths(folder, unit)
        outcome = Outcome({c.name: [] for c in candidates}, {c.name: [] for c in candidates}, [], gammas)
        for p, (partition, gamma) in enumerate(zip(partitions, gammas)):
            noisy, one = folder / f"{variant.name}.npy", folder / f"{variant.name}.tsv"
            self.kernel(folder, gamma, noisy, "--perturb", "cy", "--xi", variant.xi or DATA[data].xi,
                        "--seed", p + 1)
            found = self.kith("inspect", "--similarity", noisy)
            found["positive_eigenvalues"] = found["n"] - found["negative_eigenvalues"]
            outcome.spectrum.append([found[key] for key in SPECTRUM])
            write_partitions(one, [partition])
            store = folder / f"{variant.name}-{p + 1}-{self.folds}.db"
            report = self.evaluate(noisy, folder / "labels.txt", one, candidates,
                                   "--store", store, "--name", data, "--seed", p + 1)
            for candidate in candidates:
                entry = report[candidate.name]
                outcome.accuracy[candidate.name].append(100 * (1 - entry["errors"][0]))
                outcome.chosen[candidate.name].append(entry["chosen"][0])
        return outcome


def printed_table(path):
    """data set -> column -> number."""
    if not path.is_file():
        return {}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    return {line["dataset"]: {key: float(value) for key, value in line.items() if key != "dataset"}
            for line in csv.DictReader(lines)}


# --- cells and notes -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Reading:
    """A run that tests a cause: settings of the method, or another way to make the kernel."""
    label: str
    settings: tuple = ()
    variant: Variant = Variant()


@dataclasses.dataclass(frozen=True)
class Note:
    """Why cells differ: (data set, column) with "*" for any; a cell takes the first note that names it."""
    title: str
    cells: tuple
    cause: str
    readings: tuple = ()

    def names(self, cell):
        return any(all(a in ("*", b) for a, b in zip(one, (cell.data, cell.column)))
                   for one in self.cells)


@dataclasses.dataclass
class Cell:
    data: str
    column: str
    printed: float
    ours: list

    @property
    def off_by(self):
        return off_by(self.ours, self.printed)

    @property
    def within(self):
        return abs(self.off_by) <= 2


def off_by(ours, printed):
    """In standard errors of the difference; [CY] prints no deviation: ours stands for both."""
    difference = statistics.mean(ours) - printed
    error = math.sqrt(2 / len(ours)) * statistics.stdev(ours) if len(ours) > 1 else 0
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error


def shown(values):
    sd = statistics.stdev(values) if len(values) > 1 else 0
    return f"{statistics.mean(values):.2f} ({sd:.2f})"


def verdict(off):
    return "yes" if abs(off) <= 2 else "**no**"


class Table:
    """[CY] Table 1: the cells, and the runs of the notes on those outside."""

    def __init__(self, workshop, printed, notes):
        self.workshop = workshop
        self.printed = {data: row for data, row in printed.items()
                        if data in DATA and workshop.present(data)}
        self.notes = notes
        self.outcomes = {}
        self.cells = []

    def outcome(self, data, variant, candidates):
        """What is there already is not run again; more methods on the same matrix are."""
        known, asked = self.outcomes.get((data, variant), (None, []))
        wanted = asked + [c for c in candidates if c not in asked]
        if known is None or wanted != asked:
            known = self.workshop.run(data, variant, wanted, self.printed[data])
            self.outcomes[data, variant] = (known, wanted)
        return known

    def run(self):
        plain = [Candidate(method) for method in COLUMNS.values()]
        for data, row in self.printed.items():
            found = self.outcome(data, Variant(), plain)
            for column, method in COLUMNS.items():
                self.cells.append(Cell(data, column, row[column], found.accuracy[method]))
        for note, cells in self.noted():
            by_run = {}
            for cell in cells:
                for reading in note.readings:
                    candidate = Candidate(COLUMNS[cell.column], reading.settings)
                    by_run.setdefault((cell.data, reading.variant), []).append(candidate)
            for (data, variant), candidates in by_run.items():
                self.outcome(data, variant, list(dict.fromkeys(candidates)))

    def noted(self):
        """(note, its cells outside), each cell under the first note that names it."""
        found = {}
        for cell in self.cells:
            if cell.within:
                continue
            note = next((note for note in self.notes if note.names(cell)), None)
            found.setdefault(note and note.title, (note, []))[1].append(cell)
        return [pair for pair in found.values() if pair[0] is not None]

    def unnoted(self):
        return [cell for cell in self.cells
                if not cell.within and not any(note.names(cell) for note in self.notes)]

    def reading(self, cell, reading):
        outcome, _ = self.outcomes[cell.data, reading.variant]
        return outcome.accuracy[Candidate(COLUMNS[cell.column], reading.settings).name]

    # --- the page

    def spectrum_lines(self):
        lines = ["| data set | n | ξ | 1/γ, in mean squared distances | λ⁻ num. | λ⁺ num. | λ_min | λ_max | printed: λ⁻ num. | λ⁺ num. | λ_min | λ_max |",
                 "|" + "---|" * 12]
        for data, row in self.printed.items():
            outcome = self.outcomes[data, Variant()][0]
            means = [statistics.mean(column) for column in zip(*outcome.spectrum)]
            _, unit = self.workshop.prepared(data, Variant().scaled)
            widths = sorted(1 / (gamma * unit) for gamma in outcome.gammas)
            spread = f"{widths[0]:g}" + (f" to {widths[-1]:g}" if widths[-1] > widths[0] else "")
            lines.append(f"| {data} | {row['n']:.0f} | {DATA[data].xi:g} | {spread} | {means[0]:.2f} | {means[1]:.2f} | "
                         f"{means[2]:.2f} | {means[3]:.2f} | {row['negative_eigenvalues']} | "
                         f"{row['positive_eigenvalues']} | {row['lambda_min']} | {row['lambda_max']} |")
        return lines + [""]

    def accuracy_lines(self):
        lines = []
        for data in self.printed:
            lines += [f"### cy1: {data}", "", "| method | printed | ours | off by | within 2 | rho chosen |",
                      "|---|---|---|---|---|---|"]
            outcome = self.outcomes[data, Variant()][0]
            for cell in self.cells:
                if cell.data != data:
                    continue
                method = COLUMNS[cell.column]
                chosen = [settings.get("rho") for settings in outcome.chosen[method]]
                rhos = ", ".join(f"{rho:g}" for rho in chosen) if None not in chosen else ""
                lines.append(f"| `{method}` | {cell.printed:.2f} | {shown(cell.ours)} | {cell.off_by:+.1f} | "
                             f"{verdict(cell.off_by)} | {rhos} |")
            lines.append("")
        return lines

    def note_lines(self):
        lines = []
        for note, cells in self.noted():
            lines += [f"### cy1: {note.title}", "", note.cause, "",
                      "| cell | printed | reading | accuracy | off by | within 2 |", "|---|---|---|---|---|---|"]
            for cell in cells:
                runs = [("ours", cell.ours)]
                runs += [(reading.label, self.reading(cell, reading)) for reading in note.readings]
                for label, values in runs:
                    off = off_by(values, cell.printed)
                    lines.append(f"| {cell.data}, `{COLUMNS[cell.column]}` | {cell.printed:.2f} | {label} | "
                                 f"{shown(values)} | {off:+.1f} | {verdict(off)} |")
            lines.append("")
        rest = self.unnoted()
        if rest:
            lines += ["### cy1: without a note", ""]
            lines += [f"- {cell.data}, `{COLUMNS[cell.column]}`: printed {cell.printed:.2f}, ours {shown(cell.ours)}"
                      for cell in rest] + [""]
        return lines
