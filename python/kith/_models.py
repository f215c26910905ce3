# SPDX-License-Identifier: Apache-2.0
"""Model files."""
import json
import re

from sklearn.utils.validation import check_is_fitted

from . import _core
from ._auto import Auto
from ._estimators import CLASSES, SimilarityClassifier, default_of
from ._texts import keyword, library_path

_KINDS = {kind._method: kind for kind in (*CLASSES.values(), Auto)}


def save(estimator, path):
    """Writes a fitted estimator as a model file, which the command line and C++ read too."""
    if not isinstance(estimator, SimilarityClassifier):
        raise TypeError(f"{estimator!r} is no classifier of kith, and has no model file")
    check_is_fitted(estimator, "model_")
    estimator.model_.save(library_path(path))


def load(path, *, numbers=True):
    """A fitted estimator from a model file, whoever wrote it. Files have classes as texts: where all are whole
    numbers they become numbers, unless `numbers` is False. One that was trained on raw samples predicts from raw
    samples; with its `measure` set to None, from rows of similarities. Its `fit_` is None, and where its solver had
    missed its tolerance, predicting is a ConvergenceWarning. A committee of `kith train --method auto` is a
    `kith.Auto`; where one method alone was chosen, the file has that method."""
    model = _core.load(library_path(path))
    record = json.loads(model.record())
    kind = _KINDS[record["method"]]
    settings = {keyword(name): value for name, value in record["settings"].items()
                if keyword(name) in kind._get_param_names()}
    settings.update(_matrix_settings(record["matrices"]) if record["matrices"] else {})
    if record["members"]:
        settings.update(input=_common_input(record["members"]), among=_among(record))
    estimator = kind(**settings, seed=record["seed"])
    whole = numbers and all(re.fullmatch("-?[0-9]+", one) and str(int(one)) == one for one in record["classes"])
    estimator._take(model, {text: int(text) if whole else text for text in record["classes"]})
    estimator._loaded = True
    return estimator


def info(path):
    """What the model file at `path` is, needs and was trained on, as a dictionary: what `kith info --json` prints."""
    return json.loads(_core.load(library_path(path)).info())


def _matrix_settings(matrices):
    """How the similarities of a model are made and treated, as its class takes it."""
    changed = _changed(matrices[0]["input"])
    measures = {one["name"]: {keyword(key): value for key, value in one["measure"].items()}
                for one in matrices if "measure" in one}
    distances = [one["distance"] and not measures for one in matrices]
    return {"distance": distances[0] if len(set(distances)) == 1 else distances, "input": changed or None,
            "measure": None if not measures else
            measures if len(measures) > 1 else next(iter(measures.values()))}


def _changed(rules):
    """The rules of the input that differ from their defaults."""
    defaults = {field["name"]: default_of(field) for field in json.loads(_core.input_fields())}
    return {keyword(key): value for key, value in rules.items() if value != defaults[key]}


#: What of the input is never searched unless a user lists it.
_GIVEN = ("symmetrise", "missing", "diagonal", "transform")


def _common_input(members):
    """The rules that a committee was given; how its members treat the input besides is what the search found."""
    changed = _changed(members[0]["input"])
    return {key: value for key, value in changed.items() if key in _GIVEN} or None


def _among(record):
    """The methods that a committee was chosen among; None: the usual ones."""
    chosen = [one["method"] for one in record["certificate"].get("selection", {}).get("candidates", [])]
    usual = _core.auto_members.split(",")
    return None if chosen in ([], usual, usual + _core.auto_several_members.split(",")) else chosen
