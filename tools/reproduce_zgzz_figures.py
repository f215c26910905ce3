# SPDX-License-Identifier: Apache-2.0
"""[ZGZZ] Figures 1 to 3: the descent from six starts, the accuracies they end at, and fewer and fewer dimensions.

The documents of the paper are not at hand: made-up ones (text_set.py) stand for them.
"""

import json
import math
import resource
import statistics

from jacobi import dot, principal_coordinates
from reproduce_cy import read_partitions, shown, write_lines, write_partitions
from svg_picture import Panel, Picture
from text_set import WORDS, inner_products, made_up_documents, write_documents

COSTS = (0.1, 1, 10)
LEAST_ABOVE = 1e-6  # of the optimum, in a picture
STARTS = tuple((start, machine) for machine in ("svm", "random") for start in ("identity", "pca", "random"))
DOCUMENTS, SEED = 160, 1
TEXT_PARTITIONS = 5
ENERGY = 0.9                      # of the maps of documents in Figures 1 and 2
ENERGIES = (0.5, 0.7, 0.9, 0.99)  # of Figure 3
LINEAR = {"linear-msvm": "linear-msvm", "nca-knn": "nca-knn"}
PROJECTED = {"pca, lmnn-knn": "lmnn-knn", "pca, vector-svm-linear": "vector-svm-linear"}
NONLINEAR = ("simple-mkl", "rkl", "vector-svm-rbf", "nonlinear-msvm")
WHOLE = ("linear-msvm", "vector-svm-linear")  # beside them, on all features
KINDS = {"linear-msvm": "b", "nca-knn": "a", "pca, lmnn-knn": "c", "pca, vector-svm-linear": "d"}

FIGURES = """## [ZGZZ] Figures 1 to 3

The paper draws liver and TechTC-100, documents that are not at hand. {documents} made-up documents of two classes over {words:,} words stand for them, written as LIBSVM text by `tools/text_set.py` with a fixed seed:
a document has 60 to 240 words, 8 % of them from one of six topics of its class, 35 % from one of eight sites that have nothing to do with the class, the others from a language whose word frequencies follow Zipf's law; its vector has
length 1, and features are not scaled (`scaling=none`). Their figures say how the methods behave on such data; nothing printed belongs beside them.
"""

FIGURE_1 = """### zgzz: Figure 1, the objective by iteration

`linear-msvm` on all samples (`trace` in `kith train --json`) from the six starts of IV.B; documents with `dimensions=energy:{energy:g}`. Objectives by iteration: [figures/zgzz_figure_1.csv](figures/zgzz_figure_1.csv) (of long descents, ever fewer iterations).
The picture shows how far the objective is above the optimum's lower bound, relative to it, both axes in powers of ten. The three costs are ours; the paper has three too, but they are in the picture alone. The identity and the PCA projection are the same map in the coordinates used here, so that their rows agree.

![The objective of linear-msvm by iteration, from six starts](figures/zgzz_figure_1.svg)
"""

CLAIMS_1 = """[ZGZZ] finds no influence of the start on the speed. Ours: on liver descents end after 4 to 42 iterations, at most 3.5 % above the optimum; on the documents, whose features outnumber the samples, after 400 to 21,000, between 42 % and 393 % above it. The start does matter
to where and when a descent ends; none is best for all costs.
"""

FIGURE_2 = """### zgzz: Figure 2, the accuracy reached from each start

Accuracies in %, mean (standard deviation) over {liver} partitions 70:30 of liver and {text} of the documents, the cost fixed. Of each partition: [figures/zgzz_figure_2.csv](figures/zgzz_figure_2.csv).
"""

CLAIMS_2 = """[ZGZZ] finds no influence on the accuracy either. Ours agrees: for each cost the six starts are within 4 points of each other, about the deviation over partitions, and in no fixed order.
"""

FIGURE_3 = """### zgzz: Figure 3, documents in few dimensions

Accuracies in %, mean (standard deviation) over {text} partitions 70:30 of the documents, settings by {folds}-fold cross-validation inside. d is the least number of dimensions with that share of energy, measured on each training part: the rows of the map
of `linear-msvm` and `nca-knn`; for `lmnn-knn` and `vector-svm-linear`, the principal coordinates they are given, as in the paper.

![Accuracies of four methods on made-up documents by the share of energy kept](figures/zgzz_figure_3.svg)
"""

CLAIMS_3 = """[ZGZZ]: with fewer dimensions the others lose accuracy rapidly, Linear-MSVM does not. So it is here of the methods that are given principal coordinates. With four dimensions `linear-msvm` is as accurate as with all: its map leaves the principal directions it began with, and one row would do
([its optimum has one](methods/linear-msvm.md)). The first seven principal directions of these documents are those of the eight sites (98 % of their variance is between sites), and a method that is given no others does no better than a coin. The map of `nca-knn` may leave them, too, and does.
[ZGZZ] also finds the linear methods ahead of those in the space of a kernel; here both machines are level on all features, and `nonlinear-msvm` is behind `linear-msvm` by less than the deviation. `simple-mkl` fails for a reason of its own: of twelve kernels of equal trace it takes the Gaussian with γ = 10
alone, under which the margin is wide because no two documents are similar; `rkl` takes such kernels along with a linear one.
"""


def kept_iterations(count):
    """The first thirty, then each a thirtieth further than the last, and the end."""
    kept, i = [], 0
    while i < count - 1:
        kept.append(i)
        i += max(1, i // 30)
    return [*kept, count - 1]


def energy_dimensions(sizes, share):
    """The least d with that share of the squares."""
    whole = sum(size**2 for size in sizes)
    reached = 0.0
    for d, size in enumerate(sizes, 1):
        reached += size**2
        if reached >= share * whole:
            return d
    return len(sizes)


def projected_samples(gram, train):
    """Principal coordinates of all samples, measured on the training part; and the sizes of the axes."""
    means = [statistics.fmean(row[j] for j in train) for row in gram]
    whole = statistics.fmean(means[i] for i in train)

    def inner(i, j):
        return gram[i][j] - means[i] - means[j] + whole

    axes = principal_coordinates([[inner(i, j) for j in train] for i in train])
    rows = []
    for i in range(len(gram)):
        own = [inner(i, j) for j in train]
        rows.append([dot(own, axis) / size**0.5 for size, axis in axes])
    return rows, [size for size, _ in axes]


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in used)


class Figures:
    """`workshop` is that of Table II; results are kept in its folder, with the processor seconds they took."""

    def __init__(self, workshop):
        self.workshop = workshop
        self.folder = workshop.folder / "figures"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.text_repeats = min(TEXT_PARTITIONS, workshop.repeats)
        self.rows, labels = made_up_documents(DOCUMENTS, SEED)
        write_documents(self.folder, self.rows, labels)
        self.inputs = {"documents": ("--data", self.folder / "documents.libsvm", "--labels", self.folder / "labels.txt")}
        self.settings = {"documents": ("scaling=none",), "liver": ()}
        if workshop.present("liver"):
            folder = workshop.vectors("liver")
            self.inputs["liver"] = ("--data", folder / "features.csv", "--labels", folder / "labels.txt")
        self.data = [data for data in ("liver", "documents") if data in self.inputs]
        self.seconds = {}

    def run(self):
        self.traces = self.kept("figure-1", self.descents)
        self.reached = self.kept(f"figure-2-{self.workshop.repeats}", self.accuracies)
        self.by_energy, self.dimensions, self.whole = self.kept(
            f"figure-3-{self.text_repeats}-{self.workshop.folds}", self.energies)

    def kept(self, name, compute):
        path = self.folder / f"{name}.json"
        if not path.is_file():
            before = processor_seconds()
            found = compute()
            write_lines(path, [json.dumps([found, processor_seconds() - before])])
        found, self.seconds[name.split("-")[1]] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def partitions_of(self, data):
        return self.text_repeats if data == "documents" else self.workshop.repeats

    def energy_of(self, data):
        return (f"dimensions=energy:{ENERGY}",) if data == "documents" else ()

    # --- runs

    def descents(self):
        """data -> [[cost, start, machine, [objectives], lower bound]]."""
        found = {data: [] for data in self.data}
        for data in self.data:
            for cost in COSTS:
                for start, machine in STARTS:
                    flags = []
                    for setting in (f"cost={cost}", f"start={start}", f"start-machine={machine}", "probability=no",
                                    *self.settings[data], *self.energy_of(data)):
                        flags += ["--set", setting]
                    trace = self.workshop.kith("train", *self.inputs[data], "--method", "linear-msvm", *flags)["trace"]
                    found[data].append([cost, start, machine, [step["upper"] for step in trace], trace[0]["lower"]])
        return found

    def evaluated(self, inputs, methods, *flags):
        """name -> accuracies in %; `methods` are name -> (method, settings)."""
        settings = [part for name, (_, own) in methods.items() for one in own for part in ("--set", f"{name}:{one}")]
        report = self.workshop.kith(
            "evaluate", *inputs, "--protocol", "zgzz", "--folds", self.workshop.folds, "--methods",
            ",".join(f"{name}={method}" for name, (method, _) in methods.items()), *settings, *flags)
        return {entry["method"]: [100 * (1 - error) for error in entry["errors"]] for entry in report["methods"]}

    def accuracies(self):
        """data -> [[cost, start, machine, accuracies]]."""
        found = {}
        for data in self.data:
            names = {f"{start}-{machine}-{cost}": (cost, start, machine) for cost in COSTS for start, machine in STARTS}
            methods = {name: ("linear-msvm", (f"cost={cost}", f"start={start}", f"start-machine={machine}",
                                              *self.settings[data], *self.energy_of(data)))
                       for name, (cost, start, machine) in names.items()}
            report = self.evaluated(self.inputs[data], methods, "--repeats", self.partitions_of(data))
            found[data] = [[*names[name], values] for name, values in report.items()]
        return found

    def energies(self):
        """energy -> method -> accuracies, energy -> dimensions per partition, method -> accuracies on all features."""
        path = self.folder / f"partitions-{self.text_repeats}-{self.workshop.folds}.tsv"
        drawn = ("--repeats", self.text_repeats, "--partitions", path)
        path.unlink(missing_ok=True)
        none = self.settings["documents"]
        whole = self.evaluated(self.inputs["documents"], {name: (name, none) for name in (*WHOLE, *NONLINEAR)}, *drawn)
        by_energy = {str(share): self.evaluated(
            self.inputs["documents"], {name: (method, (*none, f"dimensions=energy:{share}"))
                                       for name, method in LINEAR.items()}, "--partitions", path)
            for share in ENERGIES}
        dimensions = {str(share): [] for share in ENERGIES}
        gram = inner_products(self.rows)
        for partition in read_partitions(path):
            train = [i for i, cell in enumerate(partition) if cell != "test"]
            coordinates, sizes = projected_samples(gram, train)
            one = self.folder / "one.tsv"
            write_partitions(one, [partition])
            for share in ENERGIES:
                d = energy_dimensions(sizes, share)
                dimensions[str(share)].append(d)
                for name, accuracies in self.projected(coordinates, d, one).items():
                    by_energy[str(share)].setdefault(name, []).extend(accuracies)
        return by_energy, dimensions, whole

    def projected(self, coordinates, d, partition):
        table = self.folder / "projected.csv"
        write_lines(table, (",".join(map(repr, row[:d])) for row in coordinates))
        methods = {method: (method, ("scaling=none",)) for method in PROJECTED.values()}
        report = self.evaluated(("--data", table, "--labels", self.folder / "labels.txt"), methods,
                                "--partitions", partition)
        return {name: report[method] for name, method in PROJECTED.items()}

    # --- the page

    def write_files(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        rows = ["data,cost,start,start machine,iteration,objective"]
        for data in self.data:
            for cost, start, machine, objectives, _ in self.traces[data]:
                rows += [f"{data},{cost:g},{start},{machine},{i},{objectives[i]:.10g}"
                         for i in kept_iterations(len(objectives))]
        write_lines(folder / "zgzz_figure_1.csv", rows)
        (folder / "zgzz_figure_1.svg").write_text(self.descent_picture().text(), encoding="utf-8")
        rows = ["data,cost,start,start machine,partition,accuracy"]
        for data in self.data:
            for cost, start, machine, accuracies in self.reached[data]:
                rows += [f"{data},{cost:g},{start},{machine},{i},{accuracy:.4f}" for i, accuracy in enumerate(accuracies, 1)]
        write_lines(folder / "zgzz_figure_2.csv", rows)
        (folder / "zgzz_figure_3.svg").write_text(self.energy_picture().text(), encoding="utf-8")

    def descent_picture(self):
        picture = Picture("The objective of linear-msvm above the optimum by iteration, from six starts")
        for data in self.data:
            above = {(cost, start, machine): [(math.log10(1 + i), math.log10(max(f[i] / bound - 1, LEAST_ABOVE)))
                                              for i in kept_iterations(len(f))]
                     for cost, start, machine, f, bound in self.traces[data]}
            heights = [y for curve in above.values() for _, y in curve]
            low, high = math.floor(min(heights)), math.ceil(max(heights))
            end = max(curve[-1][0] for curve in above.values()) or 1.0
            sides = {k: f"{10.0**k:g}" for k in range(low, high + 1)}
            below = {math.log10(1 + 10**k): str(10**k) for k in range(6) if math.log10(1 + 10**k) <= end} | {0: "0"}
            panels = []
            for cost in COSTS:
                panel = Panel(f"{data}, C = {cost:g}", (200, 150), (0, low), (end, high), "iteration", True, below, sides)
                for start, machine in STARTS:
                    if start != "pca":
                        kind = {"identity": "a", "random": "b"}[start] + (" dashed" if machine == "random" else "")
                        panel.line(above[cost, start, machine], kind)
                panels.append(panel)
            picture.row(*panels)
        picture.legend = [("a", "", "identity or PCA, SVM"), ("b", "", "random map, SVM"),
                          ("a", "dashed", "identity or PCA, random machine"), ("b", "dashed", "both random")]
        return picture

    def energy_picture(self):
        picture = Picture("Accuracies of four methods on made-up documents by the share of energy kept")
        means = {name: [statistics.fmean(self.by_energy[str(share)][name]) for share in ENERGIES] for name in KINDS}
        low = min(min(values) for values in means.values()) - 2
        high = max(max(values) for values in means.values()) + 2
        labels = {k: f"{share:g} (d = {statistics.median(self.dimensions[str(share)]):g})"
                  for k, share in enumerate(ENERGIES)}
        panel = Panel("accuracy in %", (560, 240), (-0.3, low), (len(ENERGIES) - 0.7, high), "share of energy", True, labels)
        for name, values in means.items():
            panel.line(list(enumerate(values)), KINDS[name])
            panel.points(list(enumerate(values)), KINDS[name], radius=4)
        picture.row(panel)
        picture.legend = [(kind, "", name) for name, kind in KINDS.items()]
        return picture

    def descent_lines(self):
        lines = ["| data | C | start | objective at the start | after 10 | at the end | iterations | above the optimum |",
                 "|" + "---|" * 8]
        for data in self.data:
            for cost, start, machine, f, bound in self.traces[data]:
                lines.append(f"| {data} | {cost:g} | {start}, {machine} | {f[0]:.2f} | {f[min(10, len(f) - 1)]:.2f} | {f[-1]:.2f} | "
                             f"{len(f) - 1} | {100 * (f[-1] - bound) / bound:.1f} % |")
        return lines + [""]

    def reached_lines(self):
        lines = ["| start | " + " | ".join(f"{data}, C = {cost:g}" for data in self.data for cost in COSTS) + " |",
                 "|" + "---|" * (1 + len(self.data) * len(COSTS))]
        for start, machine in STARTS:
            cells = [shown(values) for data in self.data for cost in COSTS
                     for c, s, m, values in self.reached[data] if (c, s, m) == (cost, start, machine)]
            lines.append(f"| {start}, {machine} | {' | '.join(cells)} |")
        return lines + [""]

    def energy_lines(self):
        lines = ["| energy | d | " + " | ".join(f"`{name}`" for name in KINDS) + " |", "|" + "---|" * (2 + len(KINDS))]
        for share in map(str, ENERGIES):
            low, high = min(self.dimensions[share]), max(self.dimensions[share])
            cells = [shown(self.by_energy[share][name]) for name in KINDS]
            lines.append(f"| {share} | {low if low == high else f'{low} to {high}'} | {' | '.join(cells)} |")
        lines += ["", "On all features:", "", "| method | accuracy |", "|---|---|"]
        return [*lines, *(f"| `{name}` | {shown(values)} |" for name, values in self.whole.items()), ""]

    def lines(self):
        repeats = {"liver": self.workshop.repeats, "text": self.text_repeats, "folds": self.workshop.folds}
        took = ", ".join(f"Figure {k} {seconds:.0f}" for k, seconds in self.seconds.items())
        return [*FIGURES.format(documents=DOCUMENTS, words=WORDS).splitlines(), "",
                *FIGURE_1.format(energy=ENERGY).splitlines(), "", *self.descent_lines(),
                *CLAIMS_1.splitlines(), "",
                *FIGURE_2.format(**repeats).splitlines(), "", *self.reached_lines(),
                *CLAIMS_2.splitlines(), "",
                *FIGURE_3.format(**repeats).splitlines(), "", *self.energy_lines(),
                *CLAIMS_3.splitlines(), "",
                f"Processor seconds: {took}.", ""]
