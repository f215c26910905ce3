# SPDX-License-Identifier: Apache-2.0
"""[CY] Figures 1 to 3 as data: the bounds of the exchange algorithm, the size of its localization set and
the accuracy it has reached, by iteration, on sonar with noise 0.1."""

import json

from reproduce_cy import write_lines

RHO = 10.0
RHOS = (10.0, 100.0)
MOST_ITERATIONS = 700
SOLVERS = ("exchange", "exchange-pruned")
ACCURACY_ITERATIONS = range(1, 71)
SHOWN = (1, 2, 3, 5, 10, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 600, 700)
GAPS = (1e-2, 1e-5)


class Figures:
    """`gamma` and `partition` are those of the first partition of Table 1."""

    def __init__(self, workshop, gamma, partition, scaled):
        self.workshop = workshop
        self.rho = RHO
        self.folder = workshop.folder / "figures"
        self.folder.mkdir(parents=True, exist_ok=True)
        source, _ = workshop.prepared("sonar", scaled)
        self.truth = self.divide(source, gamma, partition)
        self.traces = {}
        self.accuracy = []
        self.converged = None

    def divide(self, source, gamma, partition):
        """Training block, rows of the test part and self-similarities as files; returns the labels of the
        test part."""
        whole = self.folder / "noisy.csv"
        self.workshop.kernel(source, gamma, whole, "--perturb", "cy", "--xi", 0.1, "--seed", 1)
        with whole.open(encoding="utf-8") as lines:
            matrix = [line.strip().split(",") for line in lines]
        labels = (source / "labels.txt").read_text(encoding="utf-8").split()
        test = [i for i, cell in enumerate(partition) if cell == "test"]
        train = [i for i, cell in enumerate(partition) if cell != "test"]
        write_lines(self.folder / "train.csv", (",".join(matrix[i][j] for j in train) for i in train))
        write_lines(self.folder / "rows.csv", (",".join(matrix[i][j] for j in train) for i in test))
        write_lines(self.folder / "self.txt", (matrix[i][i] for i in test))
        write_lines(self.folder / "train.txt", (labels[i] for i in train))
        return [labels[i] for i in test]

    def train(self, rho, solver, iterations="auto"):
        return self.workshop.kith(
            "train", "--similarity", self.folder / "train.csv", "--labels", self.folder / "train.txt",
            "--method", "robust-svm", "--set", f"rho={rho!r}", "--set", f"solver={solver}", "--set",
            f"iterations={iterations}", "--set", "probability=no", "--model", self.folder / "model.kith")

    def tested(self):
        """Accuracy in % of the model trained last."""
        found = self.workshop.kith("predict", "--model", self.folder / "model.kith", "--similarity",
                                   self.folder / "rows.csv", "--self", self.folder / "self.txt")
        said = [row["label"] for row in found["predictions"]]
        return 100 * sum(a == b for a, b in zip(said, self.truth)) / len(self.truth)

    def run(self):
        for rho in dict.fromkeys([self.rho, *RHOS]):
            for solver in SOLVERS:
                kept = self.folder / f"{solver}-{rho:g}.json"
                if not kept.is_file():
                    found = self.train(rho, solver, MOST_ITERATIONS)
                    write_lines(kept, [json.dumps({key: found[key] for key in (
                        "trace", "status", "objective", "objective_offset", "gap")})])
                self.traces[rho, solver] = json.loads(kept.read_text(encoding="utf-8"))
        kept = self.folder / f"accuracy-{self.rho:g}.json"
        if not kept.is_file():
            by_iteration = []
            for iterations in ACCURACY_ITERATIONS:
                found = self.train(self.rho, "exchange-pruned", iterations)
                by_iteration.append(self.tested())
                if found["status"] == "solved":
                    break
            self.train(self.rho, "exchange-pruned")
            write_lines(kept, [json.dumps([by_iteration, self.tested()])])
        self.accuracy, self.converged = json.loads(kept.read_text(encoding="utf-8"))

    def write_csv(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        plain, pruned = (self.traces[self.rho, solver]["trace"] for solver in SOLVERS)
        offset = self.traces[self.rho, "exchange"]["objective_offset"]
        rows = ["iteration," + ",".join(f"{solver} {what}" for solver in SOLVERS
                                        for what in ("lower", "upper", "gap", "set size"))]
        for i in range(max(len(plain), len(pruned))):
            cells = [str(i + 1)]
            for trace in (plain, pruned):
                step = trace[i] if i < len(trace) else None
                cells += [f"{step['lower'] - offset:.10g}", f"{step['upper'] - offset:.10g}",
                          f"{step['gap']:.4g}", str(step["set_size"])] if step else [""] * 4
            rows.append(",".join(cells))
        write_lines(folder / "cy_figures_1_2.csv", rows)
        write_lines(folder / "cy_figure_3.csv",
                    ["iteration,accuracy", *(f"{i + 1},{value:.2f}" for i, value in enumerate(self.accuracy))])

    # --- the page

    def bound_lines(self):
        lines = ["| iteration | lower | upper | gap | set | lower, pruned | upper, pruned | gap, pruned | set, pruned |",
                 "|" + "---|" * 9]
        offset = self.traces[self.rho, "exchange"]["objective_offset"]
        traces = [self.traces[self.rho, solver]["trace"] for solver in SOLVERS]
        last = max(len(trace) for trace in traces)
        ends = {len(trace) for trace in traces}
        for i in sorted({*(i for i in SHOWN if i <= last), *ends}):
            cells = [str(i)]
            for trace in traces:
                step = trace[i - 1] if i <= len(trace) else None
                cells += [f"{step['lower'] - offset:.6f}", f"{step['upper'] - offset:.6f}",
                          f"{step['gap']:.1e}", str(step["set_size"])] if step else [""] * 4
            lines.append(f"| {' | '.join(cells)} |")
        return lines + [""]

    def first_below(self, rho, solver, gap):
        return next((str(step["iteration"]) for step in self.traces[rho, solver]["trace"]
                     if step["gap"] < gap), "not reached")

    def rho_lines(self):
        lines = ["| rho | solver | iterations to a gap of 1e-2 | to 1e-5 | largest set | ended |", "|" + "---|" * 6]
        for rho, solver in sorted(self.traces):
            found = self.traces[rho, solver]
            reached = [self.first_below(rho, solver, gap) for gap in GAPS]
            largest = max(step["set_size"] for step in found["trace"])
            lines.append(f"| {rho:g} | `{solver}` | {reached[0]} | {reached[1]} | {largest} | "
                         f"{found['status']} after {len(found['trace'])} |")
        return lines + [""]

    def accuracy_lines(self):
        lines = ["| iterations | accuracy |", "|---|---|"]
        runs = []  # first, last, value
        for i, value in enumerate(self.accuracy, 1):
            if runs and runs[-1][2] == value:
                runs[-1][1] = i
            else:
                runs.append([i, i, value])
        for first, last, value in runs:
            lines.append(f"| {first if first == last else f'{first} to {last}'} | {value:.2f} |")
        return [*lines, f"| to the end | {self.converged:.2f} |", ""]
