# SPDX-License-Identifier: Apache-2.0
"""Comparing methods by nested cross-validation."""
import contextlib
import html
import inspect as _signatures
import json
import os
import tempfile

from . import _arrays, _core, _samples
from ._data import own_data
from ._hints import unknown_settings
from ._labels import classes_of, groups_of, judge_classes, warn_of_groups
from ._plan import every_method, methods_of, plan_of, sizes_of
from ._run import run_options, warn_of_comparison, warn_of_doubts, warn_of_notes
from ._texts import as_text, as_texts, class_texts, library_path, path_of, text_of, texts_of


_FORMATS = ("text", "csv", "markdown", "latex", "json", "html")


class Evaluation:
    """What a comparison found: `table` (a pandas frame where pandas is installed, else a list of
    rows), `results` (everything, as `kith evaluate --json` prints it) and `store` (the file, or None where none was
    named: the object then keeps what is in it).

    A store may hold several data sets, appended one by one. `results` are those of the comparison that was asked for;
    the table, the text and the report show them all."""

    def __init__(self, results, store=None, content=None, whole=None):
        self.results = results
        self.store = store
        self._path = None if store is None else os.path.abspath(store)
        self._content = content  # of a store that nobody named
        self._whole = results if whole is None else whole

    @property
    def rows(self):
        """One dict per method and data set, in the order of the comparison."""
        sets = self._whole.get("data_sets", [self._whole])
        return [dict(data_set=one.get("name", ""), **_row(method))
                for one in sets for method in one["methods"]]

    @property
    def table(self):
        return _frame(self.rows)

    @property
    def sizes(self):
        """A row for each method, data set and number of training samples, as `sizes` of `evaluate` asked for: a pandas
        frame where pandas is installed, else a list of dicts. `results["sizes_note"]` says what it means."""
        sets = self._whole.get("data_sets", [self._whole])
        return _frame([dict(data_set=one.get("name", ""), method=method["method"], size=size["size"],
                            samples=size["samples"], error=method["mean_error"], sd=method["sd_error"],
                            low=method["low"], high=method["high"])
                       for one in sets for size in one.get("sizes", ()) for method in size["methods"]])

    def format(self, format="text", metric="error", test="auto"):
        """The table as `kith report` writes it: text, csv, markdown, latex, json or, as a page to look at, html.
        test : how methods are compared: "auto", "corrected-t", "mcnemar", "wilcoxon" or "none"."""
        if format not in _FORMATS:
            raise ValueError(f"format is {format!r}; it must be one of {', '.join(_FORMATS)}")
        with self._file() as path:
            return _core.report(library_path(path), text_of(metric, "metric"), format, text_of(test, "test"))

    def report(self, path):
        """Writes the page of `kith report`: one HTML file to look at, without network."""
        path = path_of(path)
        page = self.format("html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    @contextlib.contextmanager
    def _file(self):
        if self._content is None:
            yield self._path
            return
        with tempfile.TemporaryDirectory(prefix="kith-") as folder:
            path = os.path.join(folder, "run.db")
            with open(path, "wb") as file:
                file.write(self._content)
            yield path

    def __str__(self):
        return self.format("text")

    def __repr__(self):
        where = "" if self.store is None else f" in {self.store!r}"
        return f"<kith.Evaluation of {len(self.rows)} methods{where}>"

    def _repr_html_(self):
        sets = self._whole.get("data_sets", [self._whole])
        several = len(sets) > 1
        # The papers' tables have p-values of single tests, and Wilcoxon's stands for them.
        single = {one["name"] for one in sets if one["test"]["name"] == "wilcoxon"}
        cells = [("data set",) * several + ("method", "error", "sd", "to the best", "p" if single else "p (Holm)", "best")]
        for row in self.rows:
            p = row["p_value" if row["data_set"] in single else "p_adjusted"]
            cells.append((row["data_set"],) * several + (
                row["method"], _percent(row["error"]), _percent(row["sd"]), _difference(row), _short(p),
                "*" if row["best"] else ""))
        body = "".join("<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) + "</tr>"
                       for tag, line in zip(["th"] + ["td"] * len(cells), cells))
        return f"<table>{body}</table>"


def _frame(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _row(method):
    to_best = method["difference"] or {"mean": None, "low": None, "high": None}
    return {"method": method["method"], "error": method["mean_error"], "sd": method["sd_error"],
            "difference": to_best["mean"], "low": to_best["low"], "high": to_best["high"],
            "p_value": method["p_value"], "p_adjusted": method["p_adjusted"], "best": method["best"],
            "errors": method["errors"]}


def _percent(value):
    return "" if value is None else f"{100 * value:.2f} %"


def _difference(row):
    if row["low"] is None:
        return ""
    return f"{100 * row['difference']:+.2f} [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"


def _short(value):
    return "" if value is None else f"{value:.3g}"


def evaluate(X=None, y=None, methods=None, *, groups=None, sizes=None, data=None, measure=None, protocol="kith",
             settings=None, grids=None, repeats=None, folds=None, test_fraction=None, stratify=None, partitions=None, store=None,
             append=False, name=None, among=None, test="auto", distance=False, input=None, ids=None, seed=1, threads=None,
             blas_threads=1, verbose=False, **unknown):
    """Compares methods by nested cross-validation, as `kith evaluate` does.

    X : similarities of all pairs, or several matrices of them; vectors where all methods learn from vectors
    y : classes
    methods : "all", every method that learns from the input; names such as "svm-clip" or "mine=svm-clip", whose
        usual settings are searched; estimators such as kith.SVM(cost=10), whose settings are kept; a dict {"mine": kith.SVM(), "other": "svm-clip"} or a list of
        such pairs names them; None: the usual comparison
    groups : who stands together, a value per sample, such as the person who was measured: no partition and no fold puts
        samples of a group on both sides
    sizes : also with some of the training samples, to see whether more would help: 0.2 or "20%" is a share of each
        training part, 50 a number; `results["sizes"]` and `sizes` of what is returned have the errors
    data : raw samples in place of X, of which `measure` computes the pairs; vectors for methods that learn
        from them, beside others where a measure of vectors is given
    measure : as the classes take it: "edit", {"measure": "spectrum", "kmer": 4}, a list or dict of several
    among : the methods that "auto" is made of, names or estimators; None: those of `kith train --method auto`
    test : how methods are compared: "corrected-t", "mcnemar" (one partition), "wilcoxon", "none"; "auto" is "wilcoxon"
        for the protocols of papers, else "corrected-t" or "mcnemar"
    settings : {"svm-clip": {"cost": 10}}: settings that are not searched; "*" is every method that has them
    grids : {"svm-clip": {"cost": [1, 10, 100]}}: values to search, with "*" as well
    protocol : "kith" searches how the input is treated as well, with grids relative to its scale; "tr", "cgr", "cy",
        "ktbb" and "zgzz" do what the papers print
    partitions : [(train, test, fold_of_train)], as scikit-learn counts samples; without the third, as splitters of
        scikit-learn give them, inner folds are drawn. Or "train" or "test" for each sample (a list in the order of y, a
        dict or Series by id), or a list of such; or a file of `kith evaluate --partitions`. None: drawn by `seed`
    store : file that keeps every result; the same call goes on where it ended. None: the result keeps all
    append : the store may have other data sets, and gets this one beside them
    """
    if unknown:
        raise unknown_settings("evaluate", unknown, [one for one in _ARGUMENTS if one != "unknown"])
    if y is None:
        raise TypeError("evaluate() needs y, the classes of the samples")
    distance = _arrays.plain_distance(distance)
    if isinstance(methods, str) and methods == "all":
        methods = every_method(X, data, measure)
    common = {"distance": distance, "input": input, "measure": measure, "seed": seed}
    listed, fixed = methods_of(methods, common)
    members, members_fixed = methods_of(among, common)
    own = own_data(X, data, measure, listed + members, distance, input)
    samples = _samples.leading(X if data is None else data, measure)
    labels = class_texts(classes_of(_arrays.by_id(y, own.ids or _arrays.sample_ids(samples), samples)).tolist())
    if ids is not None:
        own.ids = as_texts(ids, "an id")
    judge_classes(labels)
    together = groups_of(_arrays.by_id(groups, own.ids or _arrays.sample_ids(samples), samples, "groups"), len(labels))
    warn_of_groups(labels, together)
    if own.matrices:
        own.ordered = not _arrays.lists_pairs(_arrays.as_list(X)[0])
    doubts = warn_of_doubts(own.matrices, labels) if own.matrices else []
    _check_store(store, append)
    plan = plan_of(listed, fixed, protocol, settings, grids,
                   {"repeats": repeats, "folds": folds, "test-fraction": test_fraction, "stratify": stratify},
                   partitions, len(labels), own.ids or _arrays.sample_ids(samples), samples)
    plan.among, plan.among_estimators, plan.doubts = members, members_fixed, doubts
    plan.sizes, plan.test = sizes_of(sizes), text_of(test, "test")
    plan.name = as_text(name, "the name of the data set") if name else _name_of(own)

    def run(path):
        with run_options(threads, blas_threads, seed, verbose) as options:
            results, notes = _core.evaluate(own, (labels, together), texts_of(input), plan, library_path(path), bool(append),
                                            options)
            return json.loads(results), notes
    if store is not None:
        results, notes = run(store)
        whole = json.loads(_core.report(library_path(store), "error", "json", plan.test))
        found = Evaluation(results, path_of(store), whole=whole if "data_sets" in whole else None)
    else:
        with tempfile.TemporaryDirectory(prefix="kith-") as folder:
            path = os.path.join(folder, "run.db")
            results, notes = run(path)
            with open(path, "rb") as file:
                found = Evaluation(results, content=file.read())
    warn_of_comparison(results)
    warn_of_notes(notes)
    return found


#: What `evaluate` takes.
_ARGUMENTS = tuple(_signatures.signature(evaluate).parameters)


def _check_store(store, append):
    if store is None and append:
        raise ValueError("append=True needs a store to append to")
    if store is not None and path_of(store) == ":memory:":
        raise ValueError("store ':memory:' names no file; None keeps the results in the object")


def _name_of(own):
    """Several matrices make one data set together, as on the command line."""
    if own.matrices:
        return "+".join(one[0] for one in own.matrices)
    return "samples" if own.measures else "vectors"


def open_store(path, metric="error", test="auto"):
    """The results of a store that `kith evaluate` or `kith.evaluate` wrote. test : as `evaluate` takes it."""
    found = _core.report(library_path(path), text_of(metric, "metric"), "json", text_of(test, "test"))
    return Evaluation(json.loads(found), path_of(path))
