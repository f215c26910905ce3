# SPDX-License-Identifier: Apache-2.0
"""Comparing methods by nested cross-validation."""
import json
import os
import tempfile

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _arrays, _core, _samples
from ._run import as_texts, run_options, setting, text_of, texts_of


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


def evaluate(X=None, y=None, methods=None, *, data=None, measure=None, protocol="tr", settings=None, grids=None,
             repeats=None, folds=None, test_fraction=None, stratify=None, partitions=None, store=None,
             append=False, name=None, distance=False, input=None, ids=None, seed=1, threads=None,
             blas_threads=1, verbose=False):
    """Compares methods by nested cross-validation, as `kith evaluate` does.

    X : similarities of all pairs, or several matrices of them; vectors where all methods learn from vectors
    y : classes
    methods : names such as "svm-clip" or "mine=svm-clip"; None: the usual comparison
    data : raw samples in place of X, of which `measure` computes the pairs; vectors for methods that learn
        from them, beside others where a measure of vectors is given
    measure : as the classes take it: "edit", {"measure": "spectrum", "kmer": 4}, a list or dict of several
    settings : {"svm-clip": {"cost": 10}}: settings that are not searched
    grids : {"svm-clip": {"cost": [1, 10, 100]}}: values to search
    partitions : [(train, test, fold_of_train)], as scikit-learn counts samples; None: drawn by `seed`
    store : file that keeps every result; the same call goes on where it ended. None: a temporary one
    """
    if y is None:
        raise TypeError("evaluate() needs y, the classes of the samples")
    listed = [methods] if isinstance(methods, str) else list(methods or [])
    own = _own_data(X, data, measure, listed, distance, input)
    labels = _labels(_arrays.by_id(y, own.ids or _arrays.sample_ids(X if data is None else data)))
    if ids is not None:
        own.ids = as_texts(ids, "an id")
    keep = None
    if store is None:
        keep = tempfile.TemporaryDirectory(prefix="kith-")
        store = os.path.join(keep.name, "run.db")
    plan = _core.Plan()
    plan.name = name or _name_of(own)
    plan.protocol = protocol
    plan.methods = listed
    plan.settings = {method: texts_of(own) for method, own in (settings or {}).items()}
    plan.grids = {method: {setting(key): [text_of(value) for value in values]
                           for key, values in own.items()} for method, own in (grids or {}).items()}
    chosen = {"repeats": repeats, "folds": folds, "test-fraction": test_fraction, "stratify": stratify}
    plan.partition_settings = {key: text_of(value) for key, value in chosen.items() if value is not None}
    plan.partitions = [_partition(*one) for one in partitions or []]
    with run_options(threads, blas_threads, seed, verbose) as options:
        text = _core.evaluate(own, labels, texts_of(input), plan, os.fspath(store), append, options)
    return Evaluation(json.loads(text), os.fspath(store), keep)


def _labels(y):
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    return as_texts(y.tolist(), "a class")


def _own_data(X, data, measure, methods, distance, input):
    """What is compared on, as the library takes it."""
    if (X is None) == (data is None):
        raise ValueError("give similarities X or raw samples, data=, and not both")
    from_vectors, from_similarities = _core.needs(methods)
    own = _core.Data()
    if data is None and measure is not None:
        raise ValueError("a measure is of raw samples: give them as data=")
    if data is None and (from_similarities or not from_vectors):
        if from_vectors:
            raise ValueError("some of the methods learn from vectors, others from similarities: give the vectors "
                             "as data= and a measure= of them")
        _arrays.check_distance(input, distance)
        given = _arrays.as_list(X)
        missing = _arrays.allows_missing(input)
        names = _arrays.names_of(X, len(given))
        given, own.ids = _arrays.matched(given)
        own.matrices = [(label, _arrays.square(one, True, missing, label), bool(distance))
                        for label, one in zip(names, given)]
        return own
    samples = X if data is None else data
    if measure is not None:
        own.measures = _samples.measured(measure, samples)
    elif from_similarities:
        raise ValueError("methods that learn from similarities need a measure= of the samples")
    if from_vectors:
        if own.measures and _samples.MEASURES[own.measures[0][1]]["data"] != "vectors":
            raise ValueError(f"some of the methods learn from vectors, and {own.measures[0][1]} is no measure of them")
        own.vectors = own.measures[0][3] if own.measures else _samples.prepared(samples, "vectors")
    return own


def _name_of(own):
    return own.matrices[0][0] if own.matrices else "samples" if own.measures else "vectors"


def _partition(train, test, fold_of):
    order = np.argsort(train)
    return (np.asarray(train)[order].tolist(), np.sort(test).tolist(), np.asarray(fold_of)[order].tolist())


def open_store(path, metric="error"):
    """The results of a store that `kith evaluate` or `kith.evaluate` wrote."""
    return Evaluation(json.loads(_core.report(os.fspath(path), metric, "json")), os.fspath(path))
