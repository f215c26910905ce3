# SPDX-License-Identifier: Apache-2.0
"""[KTBB] Tables 1 to 3 for `tools/reproduce.py`: one matrix, then three similarities of proteins.

Tables 1 and 2: `kith measure` makes the noisy kernels, `kith evaluate --protocol ktbb` compares. Table 3: 80
domains of each of eight superfamilies, compared by PSI-BLAST, Smith-Waterman and Needleman-Wunsch; one
superfamily against the rest; methods for one matrix get the mean of the three.
"""

import collections
import csv
import dataclasses
import gzip
import json
import math
import random
import resource
import shutil
import statistics
import subprocess
import sys

import reproduce_cy
from reproduce_cy import Failure, write_lines

SPLITS = 5
MORE_SPLITS = 100  # where a machine takes milliseconds
FOLDS = 5
TEST_FRACTION = 0.2
PER_SUPERFAMILY = 80  # 16 of each class test: the printed decimals are multiples of 1 / 160
POSITIVE, REST = "superfamily", "rest"  # the last in order is the class F1 is about
SUPERFAMILIES = ("a.4.1", "b.1.18", "b.29.1", "b.40.4", "c.1.8", "c.3.1", "c.47.1", "c.67.1")
SIMILARITIES = ("psi-blast", "smith-waterman", "needleman-wunsch")
NOISE, MORE_NOISE = 0.1, 0.5

# Table 1: vectors; Table 2: matrices as given.
VECTORS = {"sonar": "sonar", "heart": "heart-statlog", "ionosphere": "ionosphere", "liver": "liver-bupa",
           "diabetes": "pima-diabetes"}
MATRICES = {"aural-sonar": "aural-sonar", "yeast-5-12": "yeast-sw-5-12"}

# Where a solution takes long: a part of the grid, and the gap that mirror descent, the printed form, is stopped at.
COSTS = ("cost", "0.1,1,10,100")
GRIDS = {"eskl-l1": (COSTS, ("rho", "0.01,0.1,1,10")), "emkl-l1": (COSTS, ("rho", "0.01,0.1,1,10")),
         "eskl-l2": (COSTS, ("rho", "1,10,100,1000"))}
ROUGH = (("tolerance", "0.05"),)
SETTINGS = {"eskl-l1": ROUGH, "emkl-l1": ROUGH}

ONE_MATRIX = {"denoise": "svm-clip", "flip": "svm-flip", "shift": "svm-shift", "indsvm": "robust-svm",
              "eskl-l1": "eskl-l1", "eskl-l2": "eskl-l2", "eskl-l3": "eskl-l3"}
SPECTRA = ("denoise", "flip", "shift")
PROTEINS_MEAN = {"linear-svm": "features-svm-linear", "denoise": "svm-clip", "indsvm": "robust-svm"}
PROTEINS_THREE = {"simplemkl": "mkl", "eskl-l1": "eskl-l1", "emkl-l1": "emkl-l1", "rekl": "rekl"}
PROTEINS = PROTEINS_MEAN | PROTEINS_THREE


@dataclasses.dataclass(frozen=True)
class Variant:
    """Of the proteins: similarities divided by their mean self-similarity, or each by those of its two
    sequences; test samples drawn from all families, or from families and other superfamilies that training does
    not see; another treatment of new samples."""
    name: str = "given"
    cosine: bool = False
    new_families: bool = False
    treatment: str = ""


@dataclasses.dataclass(frozen=True)
class Score:
    """In % over splits, ours or printed."""
    accuracy: list
    fscore: list


@dataclasses.dataclass(frozen=True)
class Domain:
    id: str
    superfamily: str
    family: str
    letters: str


# --- proteins ------------------------------------------------------------------------------------


def read_domains(path):
    """Header lines are `>id class.fold.superfamily.family description`."""
    domains = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(">"):
                name, code = line[1:].split()[:2]
                domains.append((name, code, []))
            else:
                domains[-1][2].append(line.strip().upper())
    return [Domain(name, code.rsplit(".", 1)[0], code, "".join(letters))
            for name, code, letters in domains]


def draw_domains(domains):
    """At most so many of each superfamily, drawn by its name."""
    drawn = []
    for superfamily in SUPERFAMILIES:
        members = [d for d in domains if d.superfamily == superfamily]
        if len(members) > PER_SUPERFAMILY:
            members = random.Random(superfamily).sample(members, PER_SUPERFAMILY)
        drawn += sorted(members, key=lambda d: d.id)
    return drawn


def last_iterations(text):
    """query -> subject -> bit score of its best hit, from `psiblast -outfmt 7`: each iteration of a query begins
    with a comment that names it, and the last one counts."""
    hits = {}
    query = None
    for line in text.splitlines():
        if line.startswith("# Query:"):
            query = line.split()[2]
            hits[query] = {}
        elif line and not line.startswith("#") and "\t" in line:
            _, subject, score = line.split("\t")
            hits[query][subject] = max(float(score), hits[query].get(subject, 0))
    return hits


def read_measured(path, ids):
    """The rows of a csv with ids, in this order."""
    with path.open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    columns = [head.index(name) for name in ids]
    by_id = {row[0]: row for row in rows}
    return [[float(by_id[name][k]) for k in columns] for name in ids]


def write_table(path, ids, table):
    write_lines(path, [",".join(["", *ids]),
                       *(",".join([name, *map(repr, row)]) for name, row in zip(ids, table))])


def of_one_scale(table, cosine):
    """Divided by the mean of the diagonal, or each entry by the diagonals of its two samples."""
    diagonal = [row[i] for i, row in enumerate(table)]
    mean = statistics.mean(diagonal)
    root = [math.sqrt(value if cosine else mean) for value in diagonal]
    return [[value / (a * b) for value, b in zip(row, root)] for row, a in zip(table, root)]


def take_groups(groups, size, chance):
    """Whole groups in random order until they have so many samples; at least one group is left."""
    names = sorted(groups)
    chance.shuffle(names)
    taken = []
    while len(taken) < size and len(names) > 1:
        taken += groups[names.pop()]
    return taken


def new_family_partition(domains, superfamily, chance):
    """A cell per sample: families of the superfamily test until they suffice, and of the rest whole superfamilies
    do, half of them. Both classes have as many samples as the smaller one in either part."""
    own, rest = collections.defaultdict(list), collections.defaultdict(list)
    for i, domain in enumerate(domains):
        if domain.superfamily == superfamily:
            own[domain.family].append(i)
        else:
            rest[domain.superfamily].append(i)
    positives, negatives = (sum(map(len, groups.values())) for groups in (own, rest))
    size = math.ceil(TEST_FRACTION * positives - 1e-9)
    held = [take_groups(own, size, chance), take_groups(rest, negatives // 2, chance)]
    left = [[i for members in groups.values() for i in members if i not in tests]
            for groups, tests in zip((own, rest), held)]
    tests, trains = min(size, *map(len, held)), min(map(len, left))
    cells = ["-"] * len(domains)
    for part in held:
        for i in chance.sample(part, tests):
            cells[i] = "test"
    for part in left:
        for k, i in enumerate(chance.sample(part, trains)):
            cells[i] = str(k % FOLDS + 1)
    return cells


class Workshop(reproduce_cy.Workshop):
    """Runs the programs; results are kept below the folder, and so are the processor seconds they took."""

    def __init__(self, options):
        super().__init__(options)
        self.folder = options.folder / "ktbb"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.repeats = min(SPLITS, options.repeats or SPLITS)
        self.folds = options.folds or FOLDS
        self.clock = self.folder / "seconds.json"
        self.seconds = collections.Counter(
            json.loads(self.clock.read_text(encoding="utf-8")) if self.clock.is_file() else {})

    def timed(self, part, work):
        """What the programs that `work` starts take is added to the seconds of the part."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds[part] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        write_lines(self.clock, [json.dumps(self.seconds)])
        return result

    def compare(self, part, store, files, labels, methods, *flags):
        """method -> Score, over the splits that the flags name."""
        print(f"ktbb, {store}: {', '.join(methods)}", file=sys.stderr, flush=True)
        command = ["evaluate", "--labels", labels, "--protocol", "ktbb", "--name", store, "--store",
                   self.folder / f"{store}-{self.repeats}-{self.folds}.db", *flags]
        for name, path in files.items():
            command += ["--similarity", f"{name}={path}"]
        command += ["--methods", ",".join(methods)]
        for method in methods:
            for key, value in SETTINGS.get(method, ()):
                command += ["--set", f"{method}:{key}={value}"]
            for key, values in GRIDS.get(method, ()):
                command += ["--grid", f"{method}:{key}={values}"]
        report = self.timed(part, lambda: self.kith(*command))
        return {entry["method"]: Score([100 * (1 - e) for e in entry["errors"]],
                                       [100 * f for f in entry["metrics"]["f1"]["values"]])
                for entry in report["methods"]}

    def drawn(self):
        """Flags of splits that the protocol draws."""
        return ["--repeats", self.repeats, "--folds", self.folds]

    # --- Tables 1 and 2

    def one_matrix(self, data, noise=NOISE):
        """The matrix and labels of a data set: as given, or a Gaussian kernel of features scaled to [0, 1] whose
        exponent is 1 at the mean squared distance, with noise drawn once."""
        if data in MATRICES:
            folder = self.data / MATRICES[data]
            return folder / "similarity.csv", folder / "labels.txt"
        folder = self.folder / data
        kernel = folder / f"noise-{noise:g}.npy"
        if not kernel.is_file():
            folder.mkdir(exist_ok=True)
            table = reproduce_cy.unit_scaled(
                reproduce_cy.read_table(self.data / VECTORS[data] / "features.csv"))
            write_lines(folder / "features.csv", (",".join(map(repr, row)) for row in table))
            self.kernel(folder, 1 / reproduce_cy.mean_squared_distance(table), kernel,
                        "--perturb", "cy", "--xi", noise)
        return kernel, self.data / VECTORS[data] / "labels.txt"

    def has_one(self, data):
        if data in MATRICES:
            return (self.data / MATRICES[data] / "similarity.csv").is_file()
        return data in VECTORS and (self.data / VECTORS[data] / "features.csv").is_file()

    def single(self, data):
        """printed column -> Score."""
        similarity, labels = self.one_matrix(data)
        found = self.compare(f"Tables 1 and 2: {data}", data, {data: similarity}, labels, list(ONE_MATRIX.values()),
                             *self.drawn())
        return {column: found[method] for column, method in ONE_MATRIX.items()}

    def single_again(self, data, treatment="", noise=NOISE):
        """The columns of a changed spectrum over many splits, also with another treatment of new samples or more
        noise."""
        similarity, labels = self.one_matrix(data, noise)
        name = f"{data}-again{treatment and '-' + treatment}{f'-noise-{noise:g}' if noise != NOISE else ''}"
        flags = ["--repeats", self.options.repeats or MORE_SPLITS, "--folds", self.folds]
        if treatment:
            flags += ["--set", f"*:test-treatment={treatment}"]
        methods = {column: ONE_MATRIX[column] for column in SPECTRA}
        found = self.compare("Tables 1 and 2: readings", name, {data: similarity}, labels, list(methods.values()), *flags)
        return {column: found[method] for column, method in methods.items()}

    # --- Table 3

    def missing_for_proteins(self):
        """What stands in the way of Table 3, or nothing."""
        if not (self.data / "astral40-full/astral40.fa.gz").is_file():
            return "astral40-full is not among the shared data"
        if shutil.which("psiblast") is None or shutil.which("makeblastdb") is None:
            return "psiblast is not installed (tools/install_dependencies.sh reproduce)"
        return ""

    def domains(self):
        return draw_domains(read_domains(self.data / "astral40-full/astral40.fa.gz"))

    def run_psi_blast(self, fasta):
        database = fasta.with_name("domains")
        commands = [["makeblastdb", "-in", fasta, "-dbtype", "prot", "-out", database],
                    ["psiblast", "-query", fasta, "-db", database, "-num_iterations", "3", "-max_target_seqs", "100000",
                     "-outfmt", "7 qseqid sseqid bitscore"]]
        for command in commands:
            result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
            if result.returncode != 0:
                raise Failure(f"{command[0]} ended with exit code {result.returncode}: {result.stderr[-300:]}")
        return last_iterations(result.stdout)

    def scores(self, domains):
        """similarity -> table of scores as their programs give them; pairs that PSI-BLAST does not list have 0, and of
        its two directions the mean is taken."""
        folder = self.folder / "proteins"
        folder.mkdir(exist_ok=True)
        ids = [d.id for d in domains]
        fasta = folder / "domains.fasta"
        write_lines(fasta, (line for d in domains for line in (f">{d.id}", d.letters)))
        tables = {}
        for name in SIMILARITIES:
            path = folder / f"{name}.csv"
            if not path.is_file() and name == "psi-blast":
                hits = self.timed(f"Table 3: {name}", lambda: self.run_psi_blast(fasta))
                write_table(path, ids, [[(hits[a].get(b, 0) + hits[b].get(a, 0)) / 2 for b in ids] for a in ids])
            elif not path.is_file():
                self.timed(f"Table 3: {name}", lambda name=name, path=path: self.kith(
                    "measure", "--data", fasta, "--measure", name, "--out", path))
            tables[name] = read_measured(path, ids)
        return tables

    def protein_files(self, domains, variant):
        """similarity -> file, and the file of their mean."""
        folder = self.folder / "proteins" / ("cosine" if variant.cosine else "given")
        files = {name: folder / f"{name}.csv" for name in SIMILARITIES}
        mean = folder / "mean.csv"
        if not mean.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            ids = [d.id for d in domains]
            tables = [of_one_scale(table, variant.cosine) for table in self.scores(domains).values()]
            for path, table in zip(files.values(), tables):
                write_table(path, ids, table)
            write_table(mean, ids, [[statistics.fmean(entries) for entries in zip(*rows)] for rows in zip(*tables)])
        return files, mean

    def proteins(self, domains, superfamily, variant, columns):
        """printed column -> Score of one superfamily against the rest."""
        files, mean = self.protein_files(domains, variant)
        folder = self.folder / "proteins"
        labels = folder / f"{superfamily}.tsv"
        write_lines(labels, (f"{d.id}\t{POSITIVE if d.superfamily == superfamily else REST}" for d in domains))
        flags = self.drawn()
        if variant.new_families:
            path = folder / f"{superfamily}-partitions.tsv"
            chance = random.Random(superfamily)
            cells = [new_family_partition(domains, superfamily, chance) for _ in range(self.repeats)]
            write_lines(path, ("\t".join(row) for row in [
                ["sample", *(str(r + 1) for r in range(self.repeats))],
                *([d.id, *parts] for d, parts in zip(domains, zip(*cells)))]))
            flags = ["--partitions", path]
        if variant.treatment:
            flags += ["--set", f"*:test-treatment={variant.treatment}"]
        scores = {}
        for name, inputs, methods in (("mean", {"mean": mean}, PROTEINS_MEAN), ("three", files, PROTEINS_THREE)):
            wanted = {column: method for column, method in methods.items() if column in columns}
            if wanted:
                found = self.compare(f"Table 3: {variant.name}", f"{superfamily}-{variant.name}-{name}", inputs, labels,
                                     list(wanted.values()), *flags)
                scores |= {column: found[method] for column, method in wanted.items()}
        return scores


# --- printed figures and ranks -------------------------------------------------------------------


def printed_tables(path):
    """table -> data set -> column -> (accuracy, F-score)."""
    tables = {}
    if path.is_file():
        lines = [line for line in path.read_text(encoding="utf-8").splitlines()
                 if line and not line.startswith("#")]
        for line in csv.DictReader(lines):
            row = tables.setdefault(line["table"], {}).setdefault(line["dataset"], {})
            row[line["method"]] = (float(line["accuracy"]), float(line["fscore"]))
    return tables


def ranks(values):
    """1 for the largest; equals share."""
    return [1 + sum(other > value for other in values) + (values.count(value) - 1) / 2 for value in values]


def correlation(a, b):
    """Pearson's; of ranks it is Spearman's. 0 where one of them does not vary."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 0.0
    return statistics.correlation(a, b)
