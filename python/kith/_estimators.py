# SPDX-License-Identifier: Apache-2.0
"""One scikit-learn classifier per method, made from what the library says of it."""
import inspect as _signatures
import json
import numbers
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core, _samples
from ._finite import FROM_TRAINING, NEW_PAIRS, PAIRS, check_finite
from ._hints import unknown_settings
from ._labels import classes_of, groups_of, judge_classes, warn_of_groups
from ._run import run_options, warn_of_doubts, warn_unless_solved
from ._score import ScoreReport
from ._texts import as_items, as_text, class_text, class_texts, keyword, text_of, texts_of

METHODS = {one["name"]: one for one in json.loads(_core.methods())}

#: Settings that are dicts here, and texts or files on the command line.
_DICTS = {"priors": "{'a': 0.2, 'b': 0.8}", "costs": "{('a', 'b'): 5}: a sample of a called b costs 5"}

#: What every class takes beside the settings of its method, with what it means.
_COMMON = {
    "distance": (False, "the numbers are distances, not similarities; of several matrices a list or a dict by name where "
                        "only some are"),
    "input": (None, "what is done to the similarities first, as the flags of the command line say: "
                    "{'scale': 'unit', 'symmetrise': 'mean', ...}"),
    "measure": (None, "what is computed for each pair of raw samples, which `fit` and `predict` then take in place "
                      "of similarities: 'edit', kith.measure.edit, {'measure': 'spectrum', 'kmer': 4}, a list or "
                      "dict of several"),
    "seed": (1, "seed of every random choice"),
    "threads": (None, "threads for independent pieces of work; None: all cores. Results do not depend on it"),
    "blas_threads": (None, "threads inside one decomposition; None: 1 below 2,000 samples, else all cores"),
    "verbose": (False, "progress (through tqdm where it is installed, else lines) and messages on standard error"),
}


def class_name(method):
    """"spectrum-svm", which the library titles "spectrum-SVM": "SpectrumSVM"."""
    return "".join(part if part.isupper() else part.capitalize() for part in METHODS[method]["title"].split("-"))


def default_of(field):
    """A default as Python has it. A number that may be absent has the word for that, or None."""
    text = field["default"]
    if field["type"] == "yes/no":
        return text == "yes"
    if field["type"] in ("count", "number"):
        try:
            return int(text) if field["type"] == "count" else float(text)
        except ValueError:
            return text  # "none", "all", "auto"
    if field["name"] in ("priors", "costs"):
        return None
    return text


def _has_probabilities(self):
    self._check_probabilities()
    return True


class SimilarityClassifier(ClassifierMixin, BaseEstimator):
    """What all classes of methods share; use one of them, such as `kith.SVM`.

    Attributes after `fit`: `classes_`, `n_features_in_` (training samples), `certificate_` (objective,
    gap, KKT residual, status, ...), `fit_` (everything `kith train --json` prints; None where the
    model was loaded from a file), `model_`.
    """

    _method = None

    def fit(self, X, y, groups=None):
        """Learns from the similarities X of the training samples, n x n, and their classes y; or, where
        the method learns a metric, from their vectors, n x features.

        Methods that learn from several matrices take a list of them, a dict of names and matrices
        or an array (m, n, n). A frame's index are the ids of the samples. Where the method looks at
        neighbours alone X may be a sparse matrix, in which an absent pair is unknown. With a `measure` X
        are raw samples; for several measures of different ones a dict of them by the measures' names.

        `groups`: who stands together, a value per sample, such as the person who was measured. Wherever the fit holds
        samples out (for probabilities, for ridge=auto, in the searches of kith.Auto), a group stays whole.
        """
        if self._method is None:
            raise TypeError("SimilarityClassifier is no method; use a class of one, such as kith.SVM")
        first = _samples.leading(X, None if self._takes_vectors() else self.measure)
        y = classes_of(_arrays.by_id(y, _arrays.sample_ids(first), first))
        classes, labels = np.unique(y, return_inverse=True)
        texts = _class_texts(classes)
        own = [texts[label] for label in labels]
        _core.check_two_classes(own)  # before the shape of X: scikit-learn looks for this message first
        judge_classes(own)
        together = groups_of(_arrays.by_id(groups, _arrays.sample_ids(first), first, "groups"), len(own))
        warn_of_groups(own, together)
        with run_options(self.threads, self.blas_threads, self.seed, self.verbose) as options:
            model = self._learn(X, own, together, options)
        self._take(model, dict(zip(texts, classes)))
        warn_unless_solved(self.certificate_["status"], self._method)
        return self

    def _learn(self, X, labels, groups, options):
        """A model of X and the classes as texts; `groups` are texts, or none."""
        learn = self._fit_vectors if self._takes_vectors() else \
            self._fit_matrices if self.measure is None else self._fit_samples
        return learn(X, labels, groups, options)

    def _takes_vectors(self):
        """`fit` wants vectors, and no similarities."""
        return METHODS[self._method]["learns_from_vectors"]

    def _check_probabilities(self):
        """AttributeError where there will be none."""
        if not METHODS[self._method]["probabilities"]:
            raise AttributeError(f"{self._method} has no probabilities")
        for field in METHODS[self._method]["settings"]:
            name = keyword(field["name"])
            if field.get("role") == "probability" and text_of(getattr(self, name)) in ("no", "false", "0"):
                raise AttributeError(f"probabilities were switched off: {name}=False")

    def _fit_vectors(self, X, labels, groups, options):
        vectors = _samples.prepared(X, "vectors")
        _arrays.check_counts(vectors[0].shape[0], len(labels))
        return _core.fit_vectors(self._method, self._assignments(), vectors, (labels, groups), options)

    def _fit_samples(self, X, labels, groups, options):
        _samples.check_no_distance(self.distance)
        measured = _samples.measured(self.measure, X)
        _arrays.check_counts(_samples.count(measured[0][3]), len(labels))
        return _core.fit_samples(self._method, self._assignments(), measured, (labels, groups),
                                 texts_of(self.input), options, own_loss(self))

    def _fit_matrices(self, X, labels, groups, options):
        given, ids = _arrays.matched(_arrays.as_list(X))
        names = _arrays.names_of(X)
        distances = _arrays.distances(self.input, self.distance, names)
        # The library looks at every number itself; where it refuses one, what is here says it of arrays.
        matrices = [_arrays.square(one, self._takes_sparse(), _allows_missing(self), name, finite=False)
                    for one, name in zip(given, names)]
        for one in matrices:
            _arrays.check_counts(one.shape[0], len(labels))
        named = list(zip(names, matrices, distances, _arrays.score_columns(X)))
        warn_of_doubts(named, labels, stacklevel=5)
        try:
            return _core.fit(self._method, self._assignments(), named, (labels, groups), ids, texts_of(self.input),
                             options, own_loss(self))
        except ValueError:
            for one in matrices:
                check_finite(one, _allows_missing(self), PAIRS)
            raise

    def _takes_sparse(self):
        """Similarities of which some are unknown."""
        return METHODS[self._method]["missing_pairs"] or _allows_missing(self)

    def _assignments(self):
        """The settings that differ from their defaults, as `--set` takes them."""
        return [f"{name}={text}" for name, text in settings_of(self, with_defaults=False).items()]

    def _compared(self):
        """The settings with which `kith.evaluate` compares it."""
        return settings_of(self)

    def _take(self, model, value_of_text):
        """A fitted model; its classes are in the library's order, `classes_` in NumPy's."""
        record = json.loads(model.record())
        self._loaded = False
        self.model_ = model
        self.fit_ = json.loads(model.fit_json() or "null")
        self.certificate_ = record["certificate"]
        self._matrices = record["matrices"]
        self._of_vectors = record["features"] > 0
        self._gives_probabilities = record["probabilities"]
        self._width = record["features"] or record["given_samples"] or record["samples"]
        if not self._measures():
            self.n_features_in_ = self._width
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_  # raw samples have no number of features
        own = [value_of_text[text] for text in record["classes"]]
        self.classes_ = np.unique(np.asarray(own))
        where = {value: i for i, value in enumerate(self.classes_.tolist())}
        self._position = np.array([where[np.asarray(value).item()] for value in own])
        self._feature_names = record["feature_names"]
        self._ids = record["ids"]
        self._positions = record["positions"]
        self._kept = record["kept"]
        self._samples = record["samples"]

    def _measures(self):
        """The fitted model measures raw samples; with measure=None it takes rows all the same."""
        return not self._of_vectors and self.measure is not None and "measure" in self._matrices[0]

    def _answers(self, X, self_similarity=None, from_training=None, explained=0):
        """Labels, scores, probabilities and explanations as the library has them, and what is to be said of queries
        of which nothing is known."""
        check_is_fitted(self, "model_")
        ask = self._ask_vectors if self._of_vectors else \
            self._ask_samples if self._measures() else self._ask_rows
        if ask != self._ask_rows and (self_similarity is not None or from_training is not None):
            raise ValueError(f"{self._method} takes {'vectors' if self._of_vectors else 'raw samples'}, "
                             "and similarities were given")
        with run_options(self.threads, self.blas_threads, self.seed, self.verbose) as options:
            *answers, unknown, notes = ask(X, self_similarity, from_training, explained, options)
        if getattr(self, "_loaded", False) and "status" in self.certificate_:
            warn_unless_solved(self.certificate_["status"], self._method, stacklevel=5)
        if unknown:
            ids = _arrays.sample_ids(self._leading(X))
            notes.append(_core.note_without_pairs([ids[i] if ids else str(i + 1) for i in unknown], len(answers[0])))
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=4)
        return (*answers, notes)

    def _predict(self, X, self_similarity=None, from_training=None, explained=0):
        labels, scores, probabilities, explanations, _ = self._answers(X, self_similarity, from_training, explained)
        order = np.argsort(self._position)
        dtype = np.float32 if _samples.are_single(*_arrays.as_list(X)) else np.float64

        def ordered(values):
            if values is None:
                return None
            return _first_among_equals(values.astype(dtype, copy=False), labels)[:, order]
        return self.classes_[self._position[labels]], ordered(scores), ordered(probabilities), explanations

    def _ask_vectors(self, X, self_similarity, from_training, explained, options):
        vectors, ids, names = _samples.prepared(X, "vectors")
        wanted = self._feature_names or [str(i) for i in range(self._width)]
        if names and names != wanted and (self._feature_names or set(names) == set(wanted)):
            where = {name: i for i, name in enumerate(names)}
            lacking = [one for one in wanted if one not in where]
            if lacking:
                raise ValueError(f"columns are missing that the model was trained on: {', '.join(lacking[:5])}")
            vectors = vectors[:, [where[one] for one in wanted]]
        self._check_width(vectors, "a vector")
        return self.model_.predict_vectors((vectors, ids, []), explained, options)

    def _ask_samples(self, X, self_similarity, from_training, explained, options):
        return self.model_.predict_samples(_samples.queries(X, self._matrices), explained, options)

    def _ask_rows(self, X, self_similarity, from_training, explained, options):
        names = [one["name"] for one in self._matrices]
        count = len(names)
        rows = _by_name(X, names, "rows") or _arrays.as_list(X)
        back = [None] * len(rows)
        if from_training is not None:
            back = _by_name(from_training, names, "rows of from_training") or _arrays.as_list(from_training)
        selves = [self_similarity] * len(rows)
        if self_similarity is not None and count > 1:
            selves = _by_name(self_similarity, names, "numbers of self_similarity") or \
                list(as_items(self_similarity, "the similarities of the queries to themselves under one matrix"))
        elif isinstance(self_similarity, dict):
            raise TypeError("self_similarity is a dict, and the model was trained on one matrix: give one number per "
                            "query")
        if not len(rows) == len(back) == len(selves) == count:
            raise ValueError(f"{len(rows)} matrices of new rows; the model was trained on {count}")
        for matrix, *given in zip(self._matrices, rows, back):
            _check_score(matrix, given)
        _arrays.check_order([*rows, *(one for one in back if one is not None)], "the rows of a matrix")
        ids = _arrays.sample_ids(rows[0])
        rows, back = [_arrays.in_rows(one, ids) for one in rows], [_arrays.in_rows(one, ids) for one in back]
        selves = [_arrays.by_id(one, ids, rows[0], "self_similarity") for one in selves]
        for one in selves:
            _arrays.check_unmasked(one, "self_similarity")
        queries = [(self._rows(one), None if other is None else self._rows(other, FROM_TRAINING),
                    None if own is None else np.asarray(own, dtype=float).ravel())
                   for one, other, own in zip(rows, back, selves)]
        return self.model_.predict(queries, explained, options)

    def _check_width(self, X, what):
        if X.shape[1] not in (self._width, len(self._positions) or self._width):
            turned = "; X has as many rows: give the transpose" if X.shape[0] == self._width else ""
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self._width} features as input: {what}{turned}")

    def _rows(self, X, of=NEW_PAIRS):
        """New rows over the training samples: by id where both have ids, else by position."""
        chosen = _arrays.over_samples(X, self._ids)
        if chosen is not None:
            return _arrays.check_matrix(chosen, self._takes_sparse(), _allows_missing(self), of=of)
        rows = _arrays.check_matrix(X, self._takes_sparse(), _allows_missing(self), of=of)
        self._check_width(rows, "one column per training sample")
        if self._kept and rows.shape[1] == self._width:
            rows = rows[:, self._kept]  # the others were dropped in training
        return rows

    def predict(self, X, self_similarity=None, from_training=None):
        """Classes of new samples from their similarities to the training samples, (queries, n); from
        the samples themselves where the model measures them, from vectors where the method takes those. Rows of several
        matrices are matched by id; predictions are in the order of those of the model's first matrix.

        `self_similarity`: of each query to itself, which some methods need unless the diagonal of the
        training matrix is constant. `from_training`: of the training samples to the queries,
        (queries, n), where the two directions differ.
        """
        return self._predict(X, self_similarity, from_training)[0]

    def score(self, X, y, sample_weight=None):
        """The share of X whose class is predicted; y is matched by id as in `fit`."""
        check_is_fitted(self, "model_")
        first = self._leading(X)
        y = _arrays.by_id(y, _arrays.sample_ids(first), first)
        return super().score(X, self._as_loaded(y) if self._loaded else y, sample_weight)

    def _leading(self, X):
        """Of new samples those whose order is that of the predictions."""
        named = isinstance(X, dict) and not _arrays.is_sparse(X)
        return X.get(self._matrices[0]["name"]) if named and self._matrices else _arrays.as_list(X)[0]

    def score_report(self, X, y, self_similarity=None, from_training=None):
        """How good the predictions for X are, as a `kith.ScoreReport`: what `kith predict --labels` prints. X and the
        further arguments are those of `predict`; y is matched by id as in `fit`, and may have classes that the model
        never saw."""
        check_is_fitted(self, "model_")
        first = self._leading(X)
        ids = _arrays.sample_ids(first)
        y = classes_of(_arrays.by_id(y, ids, first))
        labels, scores, probabilities, _, notes = self._answers(X, self_similarity, from_training)
        _arrays.check_counts(len(labels), len(y))
        texts = class_texts(y.tolist())
        document, text = self.model_.score(labels, scores, probabilities, texts, ids, notes)
        own = json.loads(self.model_.record())["classes"]
        return ScoreReport(document, text, {**dict(zip(texts, y.tolist())),
                                            **dict(zip(own, self.classes_[self._position].tolist()))})

    def _as_loaded(self, y):
        """Classes as the model has them: of a file that has texts alone it may have made numbers."""
        own = {class_text(one): one for one in self.classes_.tolist()}
        texts = class_texts(np.asarray(y).ravel().tolist())
        return np.array([own[one] for one in texts]) if all(one in own for one in texts) else y

    def decision_function(self, X, self_similarity=None, from_training=None):
        """Scores that order the classes, (queries, classes); of two classes half the second's lead,
        which for a support vector machine is its decision value."""
        scores = self._predict(X, self_similarity, from_training)[1]
        return _lead(scores) if scores.shape[1] == 2 else scores

    @available_if(_has_probabilities)
    def predict_proba(self, X, self_similarity=None, from_training=None):
        """Probabilities, (queries, classes), in the order of `classes_`."""
        probabilities = self._predict(X, self_similarity, from_training)[2]
        if probabilities is None:
            raise AttributeError(f"{self._method} was fitted without probabilities")
        return probabilities

    def explain(self, X, k=5, self_similarity=None, from_training=None):
        """The k training samples that decided each prediction most, one dict per query: its `label` and `samples`, a
        list of {"sample", "class", "contribution"}; `others`, what all further ones contribute together; and `by`.

        `by` "terms": a contribution is a coefficient times a similarity, in favour of the label where positive; with
        `offset` they add up to the decision value. `by` "votes": it is the weight of a neighbour, for its own class. In a
        committee each member divides its share of the vote among the samples.
        A sample is known by its id, else by its position in `fit`, counted from 0. Methods that cannot tell refuse.
        """
        if not isinstance(k, numbers.Integral) or k < 1:
            raise ValueError(f"k is {k!r}, and must be a whole number from 1 on")
        labels, _, _, explanations = self._predict(X, self_similarity, from_training, int(k))
        own = dict(zip(json.loads(self.model_.record())["classes"], self.classes_[self._position].tolist()))
        explanations = json.loads(explanations)
        for member in explanations["left_out"]:
            warnings.warn(f"explanations are without a member of the committee: {member}", UserWarning, stacklevel=2)
        found = explanations["rows"]
        for label, one in zip(labels.tolist(), found):
            one["label"] = label
            for sample in one["samples"]:
                sample["class"] = own[sample["class"]]
        return found

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def _is_pairwise(self):
        return not self._takes_vectors() and self.measure is None

    def _more_tags(self):  # scikit-learn before 1.6
        tags = {"pairwise": self._is_pairwise(), "allow_nan": _allows_missing(self)}
        if tags["pairwise"]:
            tags["_xfail_checks"] = {"check_decision_proba_consistency": "it gives vectors to what learns from pairs"}
        return tags

    def __sklearn_tags__(self):  # scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.allow_nan = _allows_missing(self)
        tags.input_tags.sparse = self._takes_vectors() or self._takes_sparse()
        return tags


def settings_of(estimator, with_defaults=True):
    """The settings of a method as texts: those that differ from their defaults and, unless `with_defaults` is False,
    those that a comparison would search."""
    info = METHODS[estimator._method]
    searched = {axis["setting"] for axis in info["grid"]}
    texts = {}
    for field in info["settings"]:
        name, value, default = field["name"], getattr(estimator, keyword(field["name"])), default_of(field)
        if name == "loss" and own_loss(estimator):
            value = "own"
        usual = type(value) is type(default) and value == default
        kept = with_defaults and (name in searched or field["type"] in ("count", "number"))
        if value is None and default not in (None, "none"):
            raise ValueError(f"{keyword(name)} is None, and must be {field['rule']}")
        if value is None or (usual and not kept):
            continue
        decides = name in ("priors", "costs")
        if isinstance(value, dict) != decides and not (decides and isinstance(value, str)):
            raise ValueError(f"{keyword(name)} is {value!r}, and must be "
                             f"{'a dict of classes and numbers' if decides else field['rule']}")
        texts[name] = text_of(value, keyword(name))
    return texts


def own_loss(estimator):
    """The functions (value, gradient) that an estimator has in place of the name of a loss, or None."""
    loss = getattr(estimator, "loss", None)
    if isinstance(loss, (tuple, list)):
        if len(loss) == 2 and all(callable(one) for one in loss):
            return tuple(loss)
        raise ValueError(f"loss is {loss!r}, and must be the name of one or two functions of an array, "
                         "its value and its gradient")
    return None


def _first_among_equals(values, labels):
    """Of classes with the same largest value, the one that was predicted gets the next number above:
    scikit-learn expects the largest to be the prediction. Where priors or costs chose another class,
    values stay as they are."""
    rows = np.arange(len(labels))
    own = values[rows, labels]
    tied = (own == values.max(axis=1)) & (np.argmax(values, axis=1) != labels)
    if not tied.any():
        return values
    values = values.copy()
    values[rows[tied], labels[tied]] = np.nextafter(own[tied], np.inf)
    return values


def _lead(scores):
    """Half the lead of the second class, above 0 where it leads at all."""
    lead = (scores[:, 1] - scores[:, 0]) / 2
    lead[(lead == 0) & (scores[:, 1] > scores[:, 0])] = np.nextafter(lead.dtype.type(0), lead.dtype.type(1))
    return lead


def _allows_missing(estimator):
    return _arrays.allows_missing(getattr(estimator, "input", None))


def _check_score(matrix, given):
    """ValueError where new rows of a BLAST table are of another score than the matrix that was trained on."""
    trained = matrix.get("score_column", "")
    for one in given:
        own = _arrays.score_column(one)
        if trained and own and not _core.may_be_same_score(trained, own):
            raise ValueError(f"the model was trained on the column {trained} of a BLAST table, and the new rows are of "
                             f"the column {own}: read them with score_column={trained!r}")


def _by_name(given, names, what):
    """The parts of a dict in the order of the model's matrices; None where nothing is named."""
    if not isinstance(given, dict) or _arrays.is_sparse(given):  # a SciPy matrix of keys is a dict too
        return None
    named = {as_text(key, "the name of a matrix"): value for key, value in given.items()}
    for name in names:
        if name not in named:
            raise ValueError(f"there are no {what} for the matrix {name!r} among {', '.join(named)}")
    foreign = [name for name in named if name not in names]
    if foreign:
        raise ValueError(f"there are {what} for {foreign[0]!r}, and the model was trained on {', '.join(names)}")
    return [named[name] for name in names]


def _class_texts(classes):
    texts = class_texts(classes.tolist())
    if len(set(texts)) != len(texts):
        raise ValueError(f"two classes look the same as text: {texts}")
    return texts


def _make_class(method, info):
    fields = info["settings"]
    defaults = {keyword(field["name"]): default_of(field) for field in fields}
    common = {name: what for name, what in _COMMON.items()
              if not (info["learns_from_vectors"] and name in ("distance", "input", "measure"))}
    defaults.update({name: value for name, (value, _) in common.items()})

    def __init__(self, **settings):
        unknown = set(settings) - set(defaults)
        if unknown:
            raise unknown_settings(type(self).__name__, unknown, list(defaults))
        for name, default in defaults.items():
            setattr(self, name, settings.get(name, default))

    __init__.__qualname__ = f"{class_name(method)}.__init__"
    parameter = _signatures.Parameter
    __init__.__signature__ = _signatures.Signature(
        [parameter("self", parameter.POSITIONAL_OR_KEYWORD)] +
        [parameter(name, parameter.KEYWORD_ONLY, default=value) for name, value in defaults.items()])
    lines = [f"{info['summary'][0].upper()}{info['summary'][1:]} ({info['paper']}).", "",
             f"`kith methods {method}` on the command line. Settings:", ""]
    for field in fields:
        decides = field["name"] in ("priors", "costs")
        lines.append(f"{keyword(field['name'])} : {'dict' if decides else field['type']}, default {default_of(field)!r}")
        lines.append(f"    {field['help']}; {_DICTS[field['name']] if decides else field['rule']}")
    for name, (value, help_text) in common.items():
        lines += [f"{name} : default {value!r}", f"    {help_text}"]
    name = class_name(method)
    lines += ["", "References", "----------", *(f"[{key}] {text}" for key, text in info["references"].items())]
    lines += ["", "Example", "-------", ">>> import kith, numpy as np",
              ">>> S = np.kron([[2., 1.], [1., 2.]], np.ones((4, 4))) + np.eye(8)"
              if not info["learns_from_vectors"] else
              ">>> S = np.kron([[-1., 0.5], [1., 0.5]], np.ones((4, 1))) + 0.1 * np.eye(8)[:, :2]",
              ">>> y = np.repeat(['cat', 'dog'], 4)",
              f">>> model = kith.{name}().fit(S, y)",
              ">>> print(*model.predict(S[[0, 7]]))", "cat dog"]
    return type(name, (SimilarityClassifier,), {
        "__init__": __init__, "__doc__": "\n".join(lines), "_method": method, "__module__": "kith"})


CLASSES = {class_name(method): _make_class(method, info) for method, info in METHODS.items()}


def methods():
    """Every method: its name, paper, summary, settings and grid, as `kith methods --json` has them; and `auto`, a
    committee of them (`kith.Auto`), which has `members` in the place of settings."""
    auto = {"title": "Auto", "paper": "", "references": {}, "probabilities": True, "several_matrices": True,
            "learns_from_vectors": False, "missing_pairs": False, "settings": [], "grid": [], **json.loads(_core.auto_info())}
    return [*json.loads(_core.methods()), auto]
