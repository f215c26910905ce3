# SPDX-License-Identifier: Apache-2.0
"""What a name that kith does not have was probably meant to be."""
import difflib
import json

from . import _core

#: Names of other libraries, and what they are here.
_SETTINGS = {
    "C": "cost", "c": "cost", "k": "neighbours", "K": "neighbours", "n_neighbors": "neighbours",
    "n_neighbours": "neighbours", "neighbors": "neighbours", "tol": "tolerance", "eps": "tolerance", "n_jobs": "threads",
    "random_state": "seed", "cv": "folds", "n_splits": "folds", "n_folds": "folds", "n_repeats": "repeats",
    "test_size": "test_fraction", "class_weight": "costs", "prior": "priors", "methods": "among", "method": "methods",
    "metric": "measure", "labels": "y", "similarity": "X", "param_grid": "grids", "grid": "grids", "set": "settings",
    "set_": "settings", "splits": "partitions",
}
#: Settings that a dict has: those of the input.
_INPUT = ("symmetrise", "missing", "from_distance", "gamma", "diagonal", "scale", "rescale", "transform")
_NAMES = {
    "SVC": "SVM", "LinearSVC": "SVM", "KernelSVM": "SVM", "KNeighborsClassifier": "KNN", "NearestNeighbors": "KNN",
    "RidgeClassifier": "Ridge", "train": "Auto", "fit": "Auto", "AutoML": "Auto", "compare": "evaluate",
    "cross_validate": "evaluate", "cross_val_score": "evaluate", "load_model": "load", "save_model": "save",
    "read_similarity": "read", "read_csv": "read", "similarity": "measure", "distance": "measure",
}


def _settings_of_methods():
    return {field["name"].replace("-", "_") for one in json.loads(_core.methods()) for field in one["settings"]}


def unknown_settings(who, given, there_are):
    """A TypeError that names the first of `given` that `who` does not have, with what was probably meant."""
    name = sorted(given)[0]
    hint = ""
    ours = _SETTINGS.get(name)
    if who == "evaluate" and name == "budget":
        hint = ": results of an evaluation must not depend on the speed of the machine"
    elif ours in there_are:
        hint = f" (did you mean {ours}=?)"
    elif "settings" in there_are and (ours or name) in _settings_of_methods():
        hint = f" (did you mean settings={{'*': {{{(ours or name)!r}: ...}}}}?)"
    elif name in _INPUT and "input" in there_are:
        hint = f" (did you mean input={{{name!r}: ...}}?)"
    elif close := difflib.get_close_matches(name, there_are, 1, 0.75):
        hint = f" (did you mean {close[0]}=?)"
    return TypeError(f"{who} has no setting {name!r}{hint}; it has {', '.join(there_are)}")


def unknown_name(name, there_are):
    """An AttributeError of the module, with what was probably meant."""
    by_lower = {one.lower(): one for one in there_are}
    plain = name.lower().replace("_", "").removesuffix("classifier")
    guess = _NAMES.get(name) or by_lower.get(name.lower()) or by_lower.get(plain) or \
        next(iter(difflib.get_close_matches(name, there_are, 1, 0.75)), None)
    hint = f" (did you mean kith.{guess}?)" if guess in there_are else ""
    if name == "predict":
        hint = ": a fitted model predicts, such as kith.Auto().fit(S, y).predict(rows)"
    return AttributeError(f"kith has no {name!r}{hint}")
