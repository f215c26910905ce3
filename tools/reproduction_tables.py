# SPDX-License-Identifier: Apache-2.0
"""What `tools/reproduce.py` compares: data sets, tables with the method that stands for each printed
row, and notes on the cells that come out otherwise. A further table is one more entry of TABLES.

Notes hold no figures of ours: those come from the runs.
"""

import dataclasses
from typing import Callable, Optional

PRINTED_PARTITIONS = 20


@dataclasses.dataclass(frozen=True)
class Data:
    """A data set: `folder` below the shared data, `flags` of `kith evaluate`, and `prepare`, which
    makes another matrix and other labels of the given ones (lists). Where `file` holds raw samples,
    `flags` name their measure. `honest` is the same data set with a measure that is learned from
    the labels of each training part alone, and is shown beside it."""
    folder: str
    flags: tuple = ()
    prepare: Optional[Callable] = None
    file: str = "similarity.csv"
    honest: str = ""
    counted: bool = True
    remark: str = ""


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A method as `kith evaluate` runs it: settings that are fixed and grids that are searched."""
    method: str
    settings: tuple = ()
    grids: tuple = ()

    def with_changes(self, settings=(), grids=()):
        return Candidate(self.method, self.settings + tuple(settings), self.grids + tuple(grids))

    @property
    def name(self):
        """In the store; one name for each set of settings."""
        parts = [f"{key}-{value}" for key, value in self.settings]
        parts += [f"{key}-{len(values.split(','))}-values" for key, values in self.grids]
        return "-with-".join([self.method, *parts])


@dataclasses.dataclass(frozen=True)
class Row:
    """One printed method: `key` is its name in the file of printed figures. `open` is a second
    reading of it that the paper leaves open, as settings."""
    key: str
    candidate: Candidate
    open: tuple = ()


@dataclasses.dataclass(frozen=True)
class Table:
    """`file` of printed figures, or `figures` themselves where they stand in the text alone: (row,
    data set, mean)."""
    key: str
    title: str
    file: str
    protocol: str
    data: tuple
    rows: tuple
    figures: tuple = ()


@dataclasses.dataclass(frozen=True)
class Reading:
    """A run that tests a cause: what it changes in the run of the cell."""
    label: str
    settings: tuple = ()
    grids: tuple = ()
    data: str = ""
    repeats: int = 0


@dataclasses.dataclass(frozen=True)
class Note:
    """Why cells differ. `cells` are (table, data set, row) with "*" for any; a cell takes the first
    note that names it. `also` are cells within 2 on which the readings are tried as well: a cause
    must not spoil what fits."""
    title: str
    cells: tuple
    cause: str
    readings: tuple = ()
    also: tuple = ()


def two_largest_classes(similarity, labels):
    """The samples of the two largest classes, in their order."""
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    kept = sorted(counts, key=lambda label: -counts[label])[:2]
    at = [i for i, label in enumerate(labels) if label in kept]
    return [[similarity[i][j] for j in at] for i in at], [labels[i] for i in at]


def times(factor):
    return lambda similarity, labels: ([[factor * value for value in row] for row in similarity], labels)


DATA = {
    "aural-sonar": Data("aural-sonar"),
    "protein": Data("protein"),
    "protein-rbf": Data("protein", ("--transform", "rows-rbf"),
                        remark="protein with `--transform rows-rbf`, [TR]'s RBF-sim"),
    "voting": Data("voting", honest="voting-by-part"),
    "voting-by-part": Data("house-votes-84", ("--measure", "value-difference", "--from-distance", "max-minus",
                                              "--scale", "unit"), file="features.csv"),
    "protein-binary": Data("protein", prepare=two_largest_classes,
                           remark="the two classes of 72 of protein"),
    "yeast-5-12": Data("yeast-sw-5-12", counted=False,
                       remark="the identity of the data set is inferred: shown, not counted"),
    "protein-times-0.02": Data("protein", prepare=times(0.02)),
    "protein-times-0.05": Data("protein", prepare=times(0.05)),
    "protein-times-0.02-rbf": Data("protein", ("--transform", "rows-rbf"), prepare=times(0.02)),
    "protein-times-0.1-rbf": Data("protein", ("--transform", "rows-rbf"), prepare=times(0.1)),
    "protein-times-0.05-rbf": Data("protein", ("--transform", "rows-rbf"), prepare=times(0.05)),
}

RAW = (("test-treatment", "none"),)


def rows(*pairs):
    """Rows whose kri and krr have a second reading: [TR] does not say whether the similarities of a
    new sample to its neighbours are treated like the block of the neighbours."""
    return tuple(
        Row(key, Candidate(method), RAW if method.startswith(("kri", "krr")) else ())
        for key, method in pairs)


TABLES = (
    Table("tr3", "[TR] Table 3: ten classifiers", "tr_table3.csv", "tr",
          ("aural-sonar", "protein", "protein-rbf", "voting"),
          rows(("knn", "knn"), ("affinity-knn", "affinity-knn"), ("kri-clip", "kri-clip"),
               ("krr-pinv", "krr-pinv"), ("local-sda", "local-sda"),
               ("svm-knn-clip", "svm-knn-clip"), ("svm-clip", "svm-clip"),
               ("features-linear-svm", "features-svm-linear"),
               ("features-rbf-svm", "features-svm-rbf"), ("p-svm", "p-svm"))),
    Table("tr4", "[TR] Table 4: what is done to the spectrum", "tr_table4.csv", "tr",
          ("protein", "voting"),
          rows(*((name, name) for name in (
              "kri-flip", "kri-clip", "kri-shift", "krr-flip", "krr-clip", "krr-shift", "krr-pinv",
              "svm-knn-flip", "svm-knn-clip", "svm-knn-shift",
              "svm-flip", "svm-clip", "svm-shift")))),
    Table("cgr1", "[CGR] Table 1", "cgr_table1.csv", "cgr",
          ("aural-sonar", "protein-binary", "voting", "yeast-5-12"),
          rows(("learned-spectrum-svm", "spectrum-svm"), ("robust-svm", "robust-svm"),
               ("svm-clip", "svm-clip"), ("svm-flip", "svm-flip"), ("svm-shift", "svm-shift"),
               ("features-linear-svm", "features-svm-linear"), ("knn", "knn"))),
    Table("cgr43", "[CGR] 4.3: unmodified s", "", "cgr", ("protein-binary",),
          tuple(Row(method, Candidate(method, RAW))
                for method in ("spectrum-svm", "svm-flip", "robust-svm")),
          (("spectrum-svm", "protein-binary", 48.10), ("svm-flip", "protein-binary", 41.38),
           ("robust-svm", "protein-binary", 38.62))),
)

MORE_PARTITIONS = Reading("200 partitions", repeats=200)
WIDE_RIDGES = (("ridge", "0.001,0.01,0.1,1,10,1e6"),)
FILE_ORDER = (("ties", "file"),)

NOTES = (
    Note("Equally similar neighbours",
         (("*", "aural-sonar", "knn"),),
         "Cause: order among equals. The similarities of aural-sonar take few values, so that "
         "many neighbours are equally similar, and its file is ordered by class. kith draws the order among equals by "
         "seed; a program that sorts stably takes the order of the file. Over 200 partitions that order brings k-NN to the "
         "printed figures, and a drawn order does not bring it to both. On 20 partitions chance is as large as the difference.",
         (Reading("`ties=file`", FILE_ORDER), MORE_PARTITIONS,
          Reading("`ties=file`, 200 partitions", FILE_ORDER, repeats=200))),
    Note("KRR on protein",
         (("tr4", "protein", "krr-clip"), ("tr4", "protein", "krr-shift"), ("tr4", "protein", "krr-flip")),
         "Likely cause: s was not treated, and the grid was wider than the printed one. Raw s alone fits flip, and neither clip "
         "nor shift. The printed figures are those of KRI to the digit or nearly so. KRI's printed grid ends with a ridge of "
         "1e6, at which KRI is k-NN and KRR is affinity k-NN, whatever was done to the spectrum. With that ridge in the grid "
         "of KRR as well, cross-validation chooses it, and the three modifications come out as affinity k-NN: equal to "
         "each other, as in print, and about 2 below it, as affinity k-NN itself is (see below).",
         (Reading("raw s, ridge up to 1e6", RAW, WIDE_RIDGES),),
         also=(("tr4", "protein", "krr-pinv"),)),
    Note("KRI with raw similarities",
         (("*", "*", "kri-clip"), ("*", "*", "kri-flip"), ("*", "*", "kri-shift"), ("*", "*", "krr-clip"),
          ("*", "*", "krr-flip"), ("*", "*", "krr-shift"), ("*", "*", "krr-pinv")),
         "Cause: the printed figures fit a block of neighbours whose spectrum is modified and an s left as it was, against the "
         "advice of [TR] itself for kernels (2.2). Treating s like the block is what kith does by default, and is better by a wide margin where the "
         "matrix is far from positive semidefinite."),
    Note("SVM after a shift",
         (("*", "*", "svm-shift"),),
         "Cause: the rule for new rows. Both papers state s̃ = s, and that is what kith does; it does not give their figures on protein, "
         "protein-binary and yeast. The rule that is consistent with the training kernel, (S + |λ_min| I) S†s "
         "(`test-treatment=map`), gives them, and fits voting no worse than s̃ = s does. It fails on aural-sonar alone, where the "
         "printed figure lies between the two rules. Chance is excluded by 200 partitions, and a shift for each pair of classes "
         "(`scope=pair`) changes little.",
         (Reading("`test-treatment=map`", (("test-treatment", "map"),)),
          Reading("`scope=pair`", (("scope", "pair"),)), MORE_PARTITIONS),
         also=(("tr4", "voting", "svm-shift"), ("cgr1", "voting", "svm-shift"),
               ("cgr1", "aural-sonar", "svm-shift"))),
    Note("The robust SVM and new samples",
         (("cgr1", "protein-binary", "robust-svm"),),
         "Likely cause: the rule for new samples. A footnote of [CGR] says that the program of [LA], Luss and d'Aspremont (2007), brings a rule of its own for them, "
         "based on a clip, which is not [CGR] (8): it takes the positive part of M, the matrix whose positive part is K, bordered by "
         "all new samples. Of the rules tried here `test-treatment=augmented`, which is that rule with one new sample at a time, is the one that comes near the printed "
         "figure, just within 2; the whole test part at once would need similarities among test samples, which no model here "
         "asks for. kith's default, (8), errs half as often, and projection and map do about as well as (8).",
         (Reading("`test-treatment=augmented`", (("test-treatment", "augmented"),)),
          Reading("`test-treatment=project`", (("test-treatment", "project"),)),
          Reading("`test-treatment=map`", (("test-treatment", "map"),))),
         also=(("cgr1", "aural-sonar", "robust-svm"), ("cgr1", "yeast-5-12", "robust-svm"))),
    Note("Flip with unmodified s",
         (("cgr43", "*", "svm-flip"),),
         "Possible cause, found by trying costs: whose cost. Cross-validation with unmodified s, as in our run, chooses a cost of 0.1, at which the machine bears "
         "such rows best. Every cost from 1 on gives the printed figure; so it may be that [CGR] chose the cost with s modified, a larger one than ours, "
         "and left s unmodified in the last step alone. Our own cross-validation with s modified chooses 0.1 as well on most partitions, which speaks against it; so "
         "does the robust SVM, whose printed figure is met by cross-validation with unmodified s, while with the settings that suit modified s (`cost=1`, `rho=1000`) it errs on "
         "more than half of such rows.",
         (Reading("`cost=1`", (("cost", "1"),)), Reading("`cost=10`", (("cost", "10"),)),
          Reading("`cost=1000`", (("cost", "1000"),)))),
    Note("The learned spectrum with unmodified s",
         (("cgr43", "*", "spectrum-svm"),),
         "Possible cause: as for flip, with the same doubts. With the eta and gamma that cross-validation chooses most often when s is modified, and s left as it is in the last step "
         "alone, the printed figure is within 2.",
         (Reading("`eta=1`, `gamma=0.001`", (("eta", "1"), ("gamma", "0.001"))),)),
    Note("SVM-KNN after a clip",
         (("*", "protein", "svm-knn-clip"),),
         "Cause: not settled; the largest number of neighbours decides the figure. With 128 of them, most of the training "
         "part, SVM-KNN comes close to the SVM on all samples, as it should; without 128 in the grid the error is above the "
         "printed one, which lies between the two. Raw s is not the cause: it is far off. Flip and shift fit.",
         (Reading("at most 64 neighbours",
                  grids=(("neighbours", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,32,64"),)),
          Reading("raw s", RAW))),
    Note("The scale of protein",
         (("tr3", "protein", "features-rbf-svm"),),
         "Cause: the scale of the matrix. exp(−γ‖s_i − s_j‖²) with a fixed grid of γ depends on the unit in which "
         "similarities are given, and the matrix at hand has a diagonal of 1. With a smaller unit the printed figure is met; "
         "with the given one it is not, on 200 partitions either.",
         (Reading("protein times 0.02", data="protein-times-0.02"),
          Reading("protein times 0.05", data="protein-times-0.05"), MORE_PARTITIONS)),
    Note("The scale of protein after RBF-sim",
         (("tr3", "protein-rbf", "*"),),
         "Cause: the scale of the matrix. RBF-sim, exp(−‖s_i − s_j‖²), has no parameter, so that the unit in which "
         "similarities are given decides how far it reaches. The matrix at hand has a diagonal of 1, and the SVMs "
         "fail on what RBF-sim makes of it. The authors' unit is not known: of the three factors tried here, 0.05 fits every cell it was "
         "tried on, which is a fit of one free number to few cells and no more than that.",
         (Reading("protein times 0.02", data="protein-times-0.02-rbf"),
          Reading("protein times 0.05", data="protein-times-0.05-rbf"),
          Reading("protein times 0.1", data="protein-times-0.1-rbf")),
         also=(("tr3", "protein-rbf", "knn"), ("tr3", "protein-rbf", "affinity-knn"),
               ("tr3", "protein-rbf", "p-svm"))),
    Note("Affinity k-NN on protein",
         (("tr3", "protein", "affinity-knn"),),
         "Cause: not settled. It is not chance in our partitions, and not the order among equals. k-NN and KRI with raw s are "
         "printed about as far above ours, which for them is within 2 because their errors vary more; that "
         "points to the neighbours rather than to their weights.",
         (Reading("`ties=file`", FILE_ORDER), MORE_PARTITIONS,
          Reading("`ties=file`, 200 partitions", FILE_ORDER, repeats=200)),
         also=(("tr3", "protein", "knn"),)),
    Note("P-SVM",
         (("*", "*", "p-svm"),),
         "Cause: chance, or the offset that [TR] (5) leaves out.",
         (Reading("`intercept=yes`", (("intercept", "yes"),)), MORE_PARTITIONS)),
    Note("Chance",
         (("*", "*", "*"),),
         "Cause: 20 partitions. The same method over 200 partitions is the test.",
         (MORE_PARTITIONS,)),
)
