# SPDX-License-Identifier: Apache-2.0
"""What `docs/reproduction.md` says about [KTBB]: the words around the runs of tools/reproduce_ktbb.py. They hold
no figures of ours: those come from the runs."""

import math
import statistics
import sys

import reproduce_ktbb as ktbb
from reproduce_cy import off_by, shown, verdict
from reproduce_ktbb import Variant

GIVEN = Variant()
# Readings of Table 3, on the columns that take seconds.
QUICK = ("linear-svm", "denoise", "simplemkl", "rekl")
READINGS = (
    (Variant("cosine", cosine=True), "each score divided by the roots of the two self-similarities", QUICK),
    (Variant("new-families", new_families=True),
     "test samples of families, and of other superfamilies, that training has not seen", QUICK),
    (Variant("map", treatment="map"), "`test-treatment=map`", ("eskl-l1",)))

INTRODUCTION = """## [KTBB] Tables 1 to 3: learned kernels

[KTBB] is Kundu, Tankasali, Bhattacharyya and Ben-Tal, *Efficient algorithms for learning kernels from multiple similarity matrices with general convex loss functions* (2010). Figures are
**accuracies** and **F-scores** in %, mean (standard deviation) over {repeats} splits of `kith evaluate --protocol ktbb`: equal classes, a fifth of each for testing (the printed decimals fit that, rounded up),
settings by {folds}-fold cross-validation inside. "Off by" is in standard errors of the difference; [KTBB] prints no deviation, so ours stands for both sides. With five splits that is a weak test.

What [KTBB] leaves open, and what was chosen:

- Grids: cost and rho 1e-3 … 1e3. `eskl-l1`, `eskl-l2` and `emkl-l1`, whose solutions take longest, search cost 0.1 … 100 with rho 0.01 … 10 (l1) or 1 … 1000 (l2);
  a first try with 1e-3 … 1 chose 1, its edge, most of the time, and an end of these grids is chosen often, too (among equals the larger rho wins).
- How far problems are solved: the l1 losses to a gap of 5 %, where our mirror descent (the printed algorithm with a right update) stops; the others to kith's defaults.
- IndSVM is `robust-svm`; denoise, flip and shift are `svm-clip`, `svm-flip` and `svm-shift`. New samples are treated by kith's defaults; the paper says nothing.
- F-scores are of the class named last; in Table 3 of the superfamily.
"""

ONE = """### ktbb1, ktbb2: one matrix

Table 1 names its perturbed kernels by a reference alone. Ours: features scaled to [0, 1], exp(−|x − z|²/d) with d the mean squared distance of two samples, plus {noise:g}·(E + E')/2 drawn once
(`kith measure --measure gaussian --perturb cy`). So Table 1 is a comparison of ranks. Table 2 has the matrices of the paper (yeast-5-12: identity inferred); Amazon and Yeast-SW-5-7 are not at hand.
"""

ONE_CAUSES = """Five splits move a mean by several points, and the cells of a data set share them. Cells outside whose machines take milliseconds were run over more splits, and with the similarities of new samples
left as they are (`test-treatment=none`) or more noise in the kernel, which the paper leaves open:
"""

ONE_REST = """In Table 1 the likely cause of what is left is the kernel: its width, its noise and the scale of the features are ours; more noise brings heart nearer to the print, though not to it. For yeast-5-12 [CGR] prints errors of 10.50 (clip) and 10.75 (flip), that is accuracies of 89.5 and
89.25, on the same matrix: nearer to ours than to [KTBB]'s. Cells outside of `robust-svm` and `eskl` were not run again.
"""

PROTEINS = """### ktbb3: proteins, three similarities

Domains of ASTRAL SCOPe 2.07 with less than 40 % identity: {per} of each of eight superfamilies, drawn once ({sizes}); the paper's release is an older one, so ranks are compared, not digits. Similarities:
bit scores of PSI-BLAST (ncbi-blast+, 3 iterations among these domains, last iteration, mean of the two directions, 0 where a pair is not listed), raw Smith-Waterman and Needleman-Wunsch scores
(`kith measure`, BLOSUM62, gaps 11 and 1), each matrix divided by its mean self-similarity, since EMKL and REKL give all kernels one trace. One superfamily against the rest, as many of the rest as of the superfamily, drawn anew for each
split. Linear SVM, denoise and IndSVM get the mean of the three matrices.
"""

PROTEIN_CAUSES = """Ours are above the printed accuracies in most rows and close together, so that ranks among them mean little. The readings below, on columns that take seconds, point to two causes:

- The level: [KTBB] took its proteins from the Protein Classification Benchmark, whose tasks test on families that training has not seen; domains drawn at random leave relatives in training. With
  whole families of the superfamily, and whole superfamilies of the rest, held out, the four means come near the printed ones and have their order, though single rows stay apart: most of all a.4.1. Holding out families of the
  superfamily alone was tried first, on a.4.1 and b.1.18, and lowered the second only. So this is a likely cause, found after the fact.
- ESKL with l1: its kernel is near the median of the three matrices, entry by entry, while a new sample has the mean of its three rows; `sample`, the default treatment, lets that difference into every new row.
  `test-treatment=map`, which takes rows of the mean to rows of the kernel, does not. It was found by trying the treatments on a.4.1.

The scale of the scores is not a cause.
"""


def off_by_more(ours, printed):
    """As off_by, where the printed mean is of fewer splits than ours."""
    difference = statistics.mean(ours) - printed
    sd = statistics.stdev(ours) if len(ours) > 1 else 0
    error = sd * math.sqrt(1 / ktbb.SPLITS + 1 / len(ours))
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error


class Report:
    def __init__(self, workshop, printed):
        self.workshop = workshop
        self.printed = printed

    # --- Tables 1 and 2

    def one_matrix_lines(self):
        known = {data: row for table in ("2", "1") for data, row in self.printed.get(table, {}).items()}
        there = [data for data in (*ktbb.MATRICES, *ktbb.VECTORS) if data in known and self.workshop.has_one(data)]
        if not there:
            return []
        found = {data: self.workshop.single(data) for data in there}
        lines = [*ONE.format(noise=ktbb.NOISE).splitlines(), ""]
        for data in there:
            lines += self.cell_lines(data, known[data], found[data])
        lines += self.rank_lines(list(ktbb.ONE_MATRIX), [(known[d], found[d]) for d in there])
        return lines + self.again_lines(known, found)

    def again_lines(self, known, found):
        """The cells outside among the columns of a changed spectrum, over more splits."""
        outside = [(data, column) for data, scores in found.items() for column in ktbb.SPECTRA
                   if verdict(off_by(scores[column].accuracy, known[data][column][0])) != "yes"]
        if not outside:
            return []
        readings = (("more splits", {}), ("more splits, `test-treatment=none`", {"treatment": "none"}),
                    (f"more splits, noise {ktbb.MORE_NOISE:g}", {"noise": ktbb.MORE_NOISE}))
        runs = {(data, reading): self.workshop.single_again(data, **change)
                for data in dict.fromkeys(data for data, _ in outside) for reading, change in readings
                if data in ktbb.VECTORS or "noise" not in change}
        lines = [*ONE_CAUSES.splitlines(), "", "| cell | printed accuracy | reading | accuracy | off by | within 2 |", "|" + "---|" * 6]
        for data, column in outside:
            for reading in [reading for reading, _ in readings if (data, reading) in runs]:
                values = runs[data, reading][column].accuracy
                off = off_by_more(values, known[data][column][0])
                lines.append(f"| {data}, `{ktbb.ONE_MATRIX[column]}` | {known[data][column][0]:.1f} | {reading} ({len(values)}) | "
                             f"{shown(values)} | {off:+.1f} | {verdict(off)} |")
        return [*lines, "", *ONE_REST.splitlines(), ""]

    def cell_lines(self, data, printed, found):
        lines = [f"#### {'ktbb2' if data in ktbb.MATRICES else 'ktbb1'}: {data}", "",
                 "| method | printed accuracy | ours | off by | within 2 | printed F | ours |", "|" + "---|" * 7]
        for column, method in ktbb.ONE_MATRIX.items():
            accuracy, fscore = printed[column]
            ours = found[column]
            off = off_by(ours.accuracy, accuracy)
            lines.append(f"| `{method}` | {accuracy:.1f} | {shown(ours.accuracy)} | {off:+.1f} | {verdict(off)} | "
                         f"{fscore:.1f} | {shown(ours.fscore)} |")
        return lines + [""]

    # --- Table 3

    def protein_lines(self):
        lacking = self.workshop.missing_for_proteins()
        printed = self.printed.get("3", {})
        if lacking or not printed:
            print(f"[KTBB] Table 3 is left out: {lacking or 'no printed figures'}", file=sys.stderr)
            return []
        domains = self.workshop.domains()
        found = {name: self.workshop.proteins(domains, name, GIVEN, ktbb.PROTEINS) for name in ktbb.SUPERFAMILIES}
        counts = [sum(d.superfamily == name for d in domains) for name in ktbb.SUPERFAMILIES]
        sizes = ", ".join(f"{name} {count}" for name, count in zip(ktbb.SUPERFAMILIES, counts)
                          if count < ktbb.PER_SUPERFAMILY)
        lines = [*PROTEINS.format(per=ktbb.PER_SUPERFAMILY, sizes=f"{sizes}: all it has" if sizes else "").splitlines(), "",
                 *self.protein_table(printed, found, 0, "accuracy"),
                 *self.protein_table(printed, found, 1, "F-score"),
                 *self.rank_lines(list(ktbb.PROTEINS), [(printed[n], found[n]) for n in ktbb.SUPERFAMILIES])]
        return [*lines, *PROTEIN_CAUSES.splitlines(), "", *self.reading_lines(domains, printed, found)]

    def protein_table(self, printed, found, which, title):
        lines = [f"{title[0].upper()}{title[1:]}, printed / ours:", "",
                 "| superfamily | " + " | ".join(f"`{method}`" for method in ktbb.PROTEINS.values()) + " |",
                 "|---|" + "---|" * len(ktbb.PROTEINS)]
        for name in ktbb.SUPERFAMILIES:
            cells = []
            for column in ktbb.PROTEINS:
                score = found[name][column]
                ours = shown(score.fscore if which else score.accuracy)
                cells.append(f"{printed[name][column][which]:.1f} / {ours}")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return lines + [""]

    def reading_lines(self, domains, printed, found):
        columns = [column for column in ktbb.PROTEINS if any(column in of for _, _, of in READINGS)]
        theirs = {c: statistics.mean(printed[n][c][0] for n in ktbb.SUPERFAMILIES) for c in columns}
        runs = [("printed", theirs), ("ours", self.means(found, columns))]
        for variant, label, of in READINGS:
            scores = {name: self.workshop.proteins(domains, name, variant, of) for name in ktbb.SUPERFAMILIES}
            runs.append((label, self.means(scores, of)))
        lines = ["Accuracy, mean of the eight superfamilies:", "",
                 "| reading | " + " | ".join(f"`{ktbb.PROTEINS[column]}`" for column in columns) + " |",
                 "|---|" + "---|" * len(columns)]
        for label, means in runs:
            cells = [f"{means[column]:.1f}" if column in means else "" for column in columns]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        return lines + [""]

    @staticmethod
    def means(found, columns):
        return {c: statistics.mean(statistics.mean(found[n][c].accuracy) for n in ktbb.SUPERFAMILIES) for c in columns}

    # --- both

    def rank_lines(self, columns, pairs):
        """Average ranks by accuracy, printed and ours, over (printed row, our row)."""
        theirs = [ktbb.ranks([row[column][0] for column in columns]) for row, _ in pairs]
        ours = [ktbb.ranks([round(statistics.mean(found[column].accuracy), 6) for column in columns]) for _, found in pairs]
        means = [[statistics.mean(column) for column in zip(*rows)] for rows in (theirs, ours)]
        methods = ktbb.PROTEINS if columns == list(ktbb.PROTEINS) else ktbb.ONE_MATRIX
        lines = [f"Average rank by accuracy over {len(pairs)} rows (1 is best):", "",
                 "| | " + " | ".join(f"`{methods[column]}`" for column in columns) + " |", "|---|" + "---|" * len(columns)]
        for label, row in zip(("printed", "ours"), means):
            lines.append(f"| {label} | " + " | ".join(f"{rank:.1f}" for rank in row) + " |")
        agreement = ktbb.correlation(ktbb.ranks([-r for r in means[0]]), ktbb.ranks([-r for r in means[1]]))
        return lines + ["", f"Spearman's correlation of the two rows is {agreement:+.2f}.", ""]

    def second_lines(self):
        lines = ["### ktbb: seconds", "", "Of processor time, as the runs above took it (\"given\" is the seven columns of Table 3, the names after it are its readings):", "", "| part | s |", "|---|---|"]
        lines += [f"| {part} | {seconds:.0f} |" for part, seconds in sorted(self.workshop.seconds.items())]
        return lines + [f"| all | {sum(self.workshop.seconds.values()):.0f} |", ""]


def section(options):
    """The lines of the page; none where the printed tables or their data are absent."""
    printed = ktbb.printed_tables(options.shared / "paper_tables" / "ktbb_tables.csv")
    if not printed:
        return []
    workshop = ktbb.Workshop(options)
    report = Report(workshop, printed)
    proteins = report.protein_lines()
    body = [*report.one_matrix_lines(), *proteins]
    if not body:
        return []
    return [*INTRODUCTION.format(repeats=workshop.repeats, folds=workshop.folds).splitlines(), "", *body,
            *report.second_lines()]
