# SPDX-License-Identifier: Apache-2.0
"""Comparing methods by nested cross-validation."""
import json
import os
import tempfile

import numpy as np

from . import _arrays, _core
from ._run import run_options, setting, text_of, texts_of


class Evaluation:
    """What a comparison found: `table` (a pandas frame where pandas is installed, else a list of
    rows), `results` (everything, as `kith evaluate --json` prints it) and `store` (the file)."""

    def __init__(self, results, store, keep=None):
        self.results = results
        self.store = store
        self._keep = keep  # the temporary folder of a store nobody named

    @property
    def rows(self):
        """One dict per method, in the order of the comparison."""
        sets = self.results.get("data_sets", [self.results])
        return [dict(data_set=one.get("name", ""), **_row(method))
                for one in sets for method in one["methods"]]

    @property
    def table(self):
        try:
            import pandas
        except ImportError:
            return self.rows
        return pandas.DataFrame(self.rows)

    def format(self, format="text", metric="error"):
        """The table as `kith report` writes it: text, csv, markdown, latex or json."""
        return _core.report(self.store, metric, format)

    def report(self, path):
        """Writes the page of `kith report`: one HTML file to look at, without network."""
        page = _core.report(self.store, "error", "html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __str__(self):
        return self.format("text")

    def __repr__(self):
        return f"<kith.Evaluation of {len(self.rows)} methods in {self.store!r}>"

    def _repr_html_(self):
        cells = [("method", "error", "sd", "p", "best")]
        for row in self.rows:
            cells.append((row["method"], _percent(row["error"]), _percent(row["sd"]),
                          _short(row["p_value"]), "*" if row["best"] else ""))
        body = "".join("<tr>" + "".join(f"<{tag}>{_escape(cell)}</{tag}>" for cell in line) + "</tr>"
                       for tag, line in zip(["th"] + ["td"] * len(cells), cells))
        return f"<table>{body}</table>"


def _row(method):
    return {"method": method["method"], "error": method["mean_error"], "sd": method["sd_error"],
            "p_value": method["p_value"], "best": method["best"], "errors": method["errors"]}


def _percent(value):
    return "" if value is None else f"{100 * value:.2f} %"


def _short(value):
    return "" if value is None else f"{value:.3g}"


def _escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def evaluate(X, y, methods=None, *, protocol="tr", settings=None, grids=None, repeats=None, folds=None,
             test_fraction=None, stratify=None, partitions=None, store=None, append=False, name=None,
             distance=False, input=None, ids=None, seed=1, threads=None, blas_threads=1, verbose=False):
    """Compares methods by nested cross-validation, as `kith evaluate` does.

    methods : names such as "svm-clip" or "mine=svm-clip"; None: the usual comparison
    settings : {"svm-clip": {"cost": 10}}: settings that are not searched
    grids : {"svm-clip": {"cost": [1, 10, 100]}}: values to search
    partitions : [(train, test, fold_of_train)], as scikit-learn counts samples; None: drawn by `seed`
    store : file that keeps every result; the same call goes on where it ended. None: a temporary one
    """
    given = _arrays.as_list(X)
    names = _arrays.names_of(X, len(given))
    missing = dict(input or {}).get("missing", "error") != "error"
    matrices = [(label, _arrays.check_matrix(one, True, missing, label), bool(distance))
                for label, one in zip(names, given)]
    if ids is None:
        ids = [] if _arrays.is_default_index(given[0]) else _arrays.ids_of(given[0])
    keep = None
    if store is None:
        keep = tempfile.TemporaryDirectory(prefix="kith-")
        store = os.path.join(keep.name, "run.db")
    plan = _core.Plan()
    plan.name = name or names[0]
    plan.protocol = protocol
    plan.methods = [methods] if isinstance(methods, str) else list(methods or [])
    plan.settings = {method: texts_of(own) for method, own in (settings or {}).items()}
    plan.grids = {method: {setting(key): [text_of(value) for value in values]
                           for key, values in own.items()} for method, own in (grids or {}).items()}
    chosen = {"repeats": repeats, "folds": folds, "test-fraction": test_fraction, "stratify": stratify}
    plan.partition_settings = {key: text_of(value) for key, value in chosen.items() if value is not None}
    plan.partitions = [_partition(*one) for one in partitions or []]
    with run_options(threads, blas_threads, seed, verbose) as options:
        text = _core.evaluate(matrices, [str(one) for one in np.asarray(y).tolist()], [str(i) for i in ids],
                              texts_of(input), plan, os.fspath(store), append, options)
    return Evaluation(json.loads(text), os.fspath(store), keep)


def _partition(train, test, fold_of):
    order = np.argsort(train)
    return (np.asarray(train)[order].tolist(), np.sort(test).tolist(), np.asarray(fold_of)[order].tolist())


def open_store(path, metric="error"):
    """The results of a store that `kith evaluate` or `kith.evaluate` wrote."""
    return Evaluation(json.loads(_core.report(os.fspath(path), metric, "json")), os.fspath(path))
