# SPDX-License-Identifier: Apache-2.0
"""Small problems for the tests of train and predict: an indefinite similarity of random points."""

import numpy as np


def csv(values, row_ids=None, column_ids=None):
    """As text, with ids where they are given; numbers keep every bit."""
    lines = []
    if column_ids is not None:
        lines.append(",".join(([""] if row_ids is not None else []) + list(column_ids)))
    for i, row in enumerate(values):
        cells = [repr(float(value)) for value in row]
        lines.append(",".join(([row_ids[i]] if row_ids is not None else []) + cells))
    return "\n".join(lines) + "\n"


class Problem:
    """`n` training samples t0, t1, ... in classes a, b, ... and `queries` new ones q0, q1, ..."""

    def __init__(self, n=30, queries=12, classes=2, seed=1, symmetric=True):
        rng = np.random.default_rng(seed)
        means = 2 * rng.normal(size=(classes, 5))
        of = np.arange(n + queries) % classes
        points = means[of] + rng.normal(size=(n + queries, 5))
        full = points @ np.diag([1, 1, 1, -0.5, -0.5]) @ points.T + np.tanh(points @ points.T)
        if not symmetric:
            full = full + 0.5 * rng.normal(size=full.shape)
        self.S = full[:n, :n]
        self.rows = full[n:, :n]  # query -> training
        self.back = full[:n, n:]  # training -> query
        self.self = np.diag(full)[n:]
        self.labels = ["abcdefgh"[c] for c in of[:n]]
        self.ids = [f"t{i}" for i in range(n)]
        self.query_ids = [f"q{i}" for i in range(queries)]

    def write(self, kith, ids=True):
        """s.csv, labels (l.txt) and query rows (q.csv) into the scratch folder."""
        kith.write("s.csv", csv(self.S, self.ids, self.ids) if ids else csv(self.S))
        kith.write("l.txt", "".join(
            (f"{i}\t" if ids else "") + label + "\n" for i, label in zip(self.ids, self.labels)))
        kith.write("q.csv", csv(self.rows, self.query_ids, self.ids) if ids else csv(self.rows))
        return self

    def train(self, kith, *flags):
        """Trains m.kith and returns what --json says."""
        return kith.json("train", "--similarity", "s.csv", "--labels", "l.txt", "--model", "m.kith",
                         *flags)


def table(text):
    """A prediction as a list of dictionaries, one per query."""
    lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]
