# SPDX-License-Identifier: Apache-2.0
"""The best methods by cross-validation, as one classifier."""
from . import _arrays, _core, _samples
from ._data import own_data
from ._estimators import SimilarityClassifier
from ._hints import unknown_settings
from ._plan import methods_of, plan_of
from ._run import warn_of_doubts, warn_of_notes
from ._texts import check_dict, text_of, texts_of, truth_of


class Auto(SimilarityClassifier):
    """The best methods by cross-validation, which predict together: what `kith train --method auto` trains.

    `fit` cross-validates every method over its grid and over the ways to treat the input, in five folds. The methods
    whose error is near the least predict together, by their votes and probabilities. Settings:

    among : default None
        the methods to choose among, such as ["knn", "svm-flip"] or estimators, whose settings are kept; None: those of
        `kith train --method auto`. Methods that learn from vectors are chosen alone, never with others
    budget : default None
        seconds of all of `fit`, or a text such as "90s", "5m" or "1h30m": methods that will not fit in are skipped, the
        costliest first, and a warning says what was left out; None: no limit
    settings : default None
        settings that are not searched, {"svm-flip": {"cost": 10}}; "*" is every method that has them
    grids : default None
        values to search, {"knn": {"neighbours": [1, 3, 5]}}, with "*" as well; also those of rules of the input and
        of measures, {"*": {"scale": ["none", "unit"]}}
    self_similarity : default False
        `predict` will be given the similarity of each new sample to itself: a scaling by it (cosine) is then searched as
        well; with a `measure` it always is
    priors : dict, default None
        class probabilities to assume, {'a': 0.2, 'b': 0.8}
    costs : dict, default None
        what mistakes cost, {('a', 'b'): 5}: a sample of a called b costs 5
    distance : default False
        the numbers are distances, not similarities; of several matrices a list or a dict by name where only some are
    input : default None
        what is done to the similarities first, as for every class; what it says is searched no longer
    measure : default None
        what is computed for each pair of raw samples, which `fit` and `predict` then take in place of similarities
    seed : default 1
        seed of every random choice
    threads : default None
        threads for independent pieces of work; None: all cores. Results do not depend on it, unless there is a budget
    blas_threads : default None
        threads inside one decomposition; None: 1 below 2,000 samples, else all cores
    verbose : default False
        progress and messages on standard error

    Attributes after `fit`, beside those of every class: `selection_`, a dict for each method (method, settings, input,
    inner_error, standard_error, seconds, chosen, and why it was skipped), and `chosen_`, the names of those that predict.

    Example
    -------
    >>> import kith, numpy as np
    >>> S = np.kron([[2., 1.], [1., 2.]], np.ones((4, 4))) + np.eye(8)
    >>> y = np.repeat(['cat', 'dog'], 4)
    >>> model = kith.Auto(among=["knn", "ridge-flip"]).fit(S, y)
    >>> print(*model.predict(S[[0, 7]]))
    cat dog
    """

    _method = "auto"

    def __init__(self, *, among=None, budget=None, settings=None, grids=None, self_similarity=False, priors=None,
                 costs=None, distance=False, input=None, measure=None, seed=1, threads=None, blas_threads=None, verbose=False,
                 **unknown):
        if unknown:
            raise unknown_settings("Auto", unknown, self._get_param_names())
        self.among = among
        self.budget = budget
        self.settings = settings
        self.grids = grids
        self.self_similarity = self_similarity
        self.priors = priors
        self.costs = costs
        self.distance = distance
        self.input = input
        self.measure = measure
        self.seed = seed
        self.threads = threads
        self.blas_threads = blas_threads
        self.verbose = verbose

    def _learn(self, X, labels, groups, options):
        names, fixed = self._methods()
        measure = None if self._takes_vectors() else self.measure
        given, raw = (X, None) if measure is None else (None, X)
        own = own_data(given, raw, measure, names, self.distance, self.input, self._takes_sparse())
        _arrays.check_counts(_count(own), len(labels))
        plan = plan_of(names, fixed, "kith", self._settings(), self.grids, {}, None, len(labels))
        if own.matrices:
            warn_of_doubts(own.matrices, labels, stacklevel=4)
        model, notes = _core.select(own, (labels, groups), texts_of(self.input), plan, _seconds(self.budget),
                                    truth_of(self.self_similarity, "self_similarity"), options)
        self._given = [one[0] for one in own.matrices or own.measures]
        warn_of_notes(notes, stacklevel=4)
        return model

    def _methods(self):
        common = {"distance": _arrays.plain_distance(self.distance), "input": self.input, "measure": self.measure,
                  "seed": self.seed}
        return methods_of(self.among, common)

    def _settings(self):
        """The fixed settings, with priors and costs for all."""
        settings = dict(check_dict(self.settings, "methods and their settings"))
        return {**settings, "*": {**check_dict(settings.get("*")), **self._decision()}}

    def _decision(self):
        return {name: text_of(value, name) for name, value in (("priors", self.priors), ("costs", self.costs))
                if value is not None}

    def _compared(self):
        for name in ("among", "budget", "settings", "grids"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} of Auto is for `fit` alone; " + (
                    "results of an evaluation must not depend on the speed of the machine" if name == "budget" else
                    f"give {name} to evaluate(), which compares 'auto'"))
        if truth_of(self.self_similarity, "self_similarity"):
            raise ValueError("self_similarity of Auto is for `fit` alone; grids={'*': {'scale': ['none', 'unit', 'cosine']}} "
                             "has the scale cosine compared")
        return self._decision()

    def _take(self, model, value_of_text):
        super()._take(model, value_of_text)
        rows = (self.fit_ or self.certificate_)["selection"]["candidates"]  # a file does not say how long they took
        self.selection_ = [{**dict.fromkeys(_COLUMNS), **row} for row in rows]
        self.chosen_ = [row["method"] for row in rows if row["chosen"]]

    def _takes_vectors(self):
        vectors, similarities, _ = _core.needs(self._methods()[0])
        return vectors and not similarities

    def _takes_sparse(self):
        return _core.needs(self._methods()[0])[2] or _arrays.allows_missing(self.input)

    def _check_probabilities(self):
        if hasattr(self, "model_") and not self._gives_probabilities:
            raise AttributeError(f"the only method chosen, {self.chosen_[0]}, has no probabilities")

    def _ask_rows(self, X, self_similarity, from_training, explained, options):
        selves = self_similarity
        if len(getattr(self, "_given", [])) > 1 and isinstance(selves, (list, tuple)) and len(selves) == len(self._given):
            selves = dict(zip(self._given, selves))
        selves = self._used(selves)
        if isinstance(selves, dict) and len(self._matrices) == 1:
            selves = selves[self._matrices[0]["name"]]
        return super()._ask_rows(self._used(X), selves, self._used(from_training), explained, options)

    def _ask_samples(self, X, self_similarity, from_training, explained, options):
        if not _samples.are_named(X):
            return super()._ask_samples(X, self_similarity, from_training, explained, options)
        each = [{**one, "file": i} for i, one in enumerate(self._matrices)]
        return self.model_.predict_samples(_samples.queries(self._used(X), each), explained, options)

    def score(self, X, y, sample_weight=None):
        """The share of X whose class is predicted; y is matched by id as in `fit`."""
        named = hasattr(self, "model_") and _samples.are_named(X)
        return super().score(self._used(X) if named else X, y, sample_weight)

    def _used(self, given):
        """What the chosen methods look at, by its name in the model: of several matrices they may need some only."""
        names = getattr(self, "_given", [])
        if given is None or len(names) < 2:
            return given
        if not _samples.are_named(given):
            parts = _arrays.as_list(given)
            if len(parts) != len(names):
                return given
            given = dict(zip(names, parts))
        of = {one["name"]: _base(one["name"], names) for one in self._matrices}
        lacking = [base for name, base in of.items() if name not in given and base not in given]
        if lacking or not set(given) <= {*names, *of}:
            return given
        return {name: given[name if name in given else base] for name, base in of.items()}


_COLUMNS = ("method", "settings", "input", "inner_error", "standard_error", "seconds", "chosen", "skipped")


def _base(name, names):
    """The matrix that "edit:window=5" is a variant of."""
    return next((one for one in names if name == one or name.startswith(one + ":")), name)


def _count(own):
    if own.matrices:
        return own.matrices[0][1].shape[0]
    return _samples.count(own.measures[0][3] if own.measures else own.vectors)


def _seconds(budget):
    """"90", "90s", "5m", "1h30m" or a number of seconds; None: no limit."""
    if budget is None:
        return None
    seconds = _core.seconds(text_of(budget, "budget"))
    if seconds is None:
        raise ValueError(f"budget is {budget!r}, and must be seconds above 0, or a time such as '90s', '5m' or '1h30m'")
    return seconds
