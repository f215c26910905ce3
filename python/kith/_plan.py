# SPDX-License-Identifier: Apache-2.0
"""What `kith.evaluate` is asked to compare: methods, settings, grids and partitions as people hand them over."""
import itertools
import numbers
import os

import numpy as np

from . import _core
from ._arrays import as_list, ids_of, is_default_index, lists_pairs, plain_distance
from ._estimators import METHODS, SimilarityClassifier
from ._samples import MEASURES, parse
from ._texts import as_items, as_text, check_dict, class_texts, library_path, setting, text_of, texts_of


def methods_of(methods, common):
    """Names of what is compared, and the settings of those that came as estimators.

    An estimator is compared with the settings it has; `common` is what `evaluate` was given for all of them. A method
    may have a name of its own: {"mine": kith.SVM()} or [("mine", kith.SVM())]."""
    if methods is None:
        return [], {}
    listed = [methods] if isinstance(methods, (str, SimilarityClassifier)) else \
        list(methods.items()) if isinstance(methods, dict) else \
        list(as_items(methods, "a name such as 'svm-clip', or an estimator such as kith.SVM()"))
    if not listed:
        raise ValueError("methods is empty; None compares the usual ones")
    listed = [_with_name(one) if isinstance(one, tuple) else (None, one) for one in listed]
    listed = [(None, f"{name}={one}") if name and isinstance(one, str) else (name, one) for name, one in listed]
    taken = {name.partition("=")[0].strip() for _, one in listed if isinstance(one, str) for name in one.split(",")}
    names, fixed = [], {}
    for own, one in listed:
        if isinstance(one, str):
            names.append(as_text(one, "a method"))
            continue
        if not isinstance(one, SimilarityClassifier) or one._method is None:
            raise TypeError(f"{one!r} is no method; give a name such as 'svm-clip', or an estimator such as kith.SVM()")
        _check_common(one, common)
        if own in taken:
            raise ValueError(f"two methods have the name {own!r}")
        name = own or next(name for name in _numbered(one._method) if name not in taken)
        taken.add(name)
        names.append(name if name == one._method else f"{name}={one._method}")
        fixed[name] = one._compared()
    return names, fixed


def every_method(X, data, measure):
    """Names of all methods that learn from what `evaluate` was given."""
    measures = [] if measure is None else [MEASURES[word]["data"] for _, word, _ in parse(measure)]
    matrices = len(measures) if data is not None else len(as_list(X))
    vectors = data is not None and all(one == "vectors" for one in measures)

    def applies(method):
        if method["learns_from_vectors"]:
            return vectors
        return matrices == 1 or (matrices > 1 and method["several_matrices"])
    return [name for name, method in METHODS.items() if applies(method)]


def _with_name(pair):
    """(name, method) as it is, checked."""
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise TypeError(f"{pair!r} is no method; give a name, an estimator, or both as ('mine', kith.SVM())")
    name = as_text(pair[0], "the name of a method")
    if not name or any(one in name for one in ",="):
        raise ValueError(f"{name!r} is no name of a method: it must be a text without ',' and '='")
    if isinstance(pair[1], str) and any(one in pair[1] for one in ",="):
        raise ValueError(f"{pair[1]!r} is no single method to be named {name!r}")
    return name, pair[1]


def _numbered(method):
    """"svm", "svm-2", "svm-3", ..."""
    yield method
    yield from (f"{method}-{i}" for i in itertools.count(2))


def _one_distance(distance):
    """In one form, however it was said: the truth for all where they agree, else one for each in their order."""
    given = plain_distance(distance)
    each = list(given.values()) if isinstance(given, dict) else given if isinstance(given, list) else [given]
    return each[0] if len(set(each)) == 1 else each


_FORMS = {"distance": _one_distance, "measure": parse, "input": texts_of}


def _check_common(estimator, common):
    for key, given in common.items():
        own = getattr(estimator, key, None)
        if own is not None and key in _FORMS:
            own, given = (None if one is None else _FORMS[key](one) for one in (own, given))
        usual = own == 1 if key == "seed" else not own
        if not usual and own != given:
            same = "seed" if key == "seed" else "data"
            raise ValueError(f"{key}={own!r} of {type(estimator).__name__} would be for this method alone; what is "
                             f"compared has the same {same}: give {key} to evaluate()")


def plan_of(names, fixed, protocol, settings, grids, chosen, partitions, samples, ids=(), X=None):
    """As the library takes it."""
    plan = _core.Plan()
    plan.protocol = text_of(protocol, "protocol")
    plan.methods = names
    plan.estimators = fixed
    plan.settings = {as_text(name, "a method"): texts_of(own)
                     for name, own in check_dict(settings, "methods and their settings").items()}
    plan.grids = {as_text(name, "a method"): {setting(key): [text_of(one, key) for one in _values(values)]
                                              for key, values in check_dict(own, "settings and values to search").items()}
                  for name, own in check_dict(grids, "methods and what to search").items()}
    plan.partition_settings = {key: text_of(value, key) for key, value in chosen.items() if value is not None}
    from_file = isinstance(partitions, (str, os.PathLike))
    if from_file:
        plan.partition_file = library_path(partitions)
    else:
        plan.partitions = _partitions(partitions, samples, list(ids), X)
    open_folds = from_file or not all(folds for _, _, folds in plan.partitions)
    about = [key for key in plan.partition_settings if not (open_folds and key in ("folds", "stratify"))]
    if about and (from_file or plan.partitions):
        raise ValueError(f"partitions are given, and {', '.join(about)} would be about drawing them")
    return plan


def sizes_of(sizes):
    """Sizes of training parts as texts: 0.2 and "20%" are a share of the training samples, 50 and "50" a number."""
    if sizes is None:
        return []
    texts = [_size(one) for one in as_items(sizes, "a share such as 0.2 or '20%', or a number of training samples")]
    if not texts:
        raise ValueError("sizes is empty; None makes no learning curve")
    return texts


def _size(size):
    if isinstance(size, str):
        return as_text(size, "a size")
    if isinstance(size, numbers.Integral) and not isinstance(size, (bool, np.bool_)):
        return str(int(size))
    if isinstance(size, numbers.Real) and not isinstance(size, (bool, np.bool_)) and 0 < size <= 1:
        return f"{100 * float(size):.12g}%"
    raise ValueError(f"{size!r} is no size: give a share of the training samples, such as 0.2 or '20%', or a number of "
                     "them, such as 50")


def _values(values):
    """The values of a grid: several, or one alone."""
    alone = isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__") or \
        getattr(values, "ndim", 1) == 0
    return [values] if alone else values


def _partitions(given, samples, ids, X):
    if given is None:
        return []
    if _is_of_words(given):
        given = [given]
    listed = list(as_items(given, "(training samples, test samples, inner folds), or 'train' or 'test' for each sample"))
    made = [_partition(one, f"partition {i + 1}", samples, ids, X) for i, one in enumerate(listed)]
    if not made:
        raise ValueError("partitions is empty; None draws them")
    return made


def _is_of_words(given):
    """Whether it has "train" or "test" for each sample."""
    if isinstance(given, dict):
        return True
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) < 2:
        return False
    return all(isinstance(one, str) for one in given)


def _partition(given, where, samples, ids, X):
    if _is_of_words(given):
        return _of_words(given, where, samples, ids, X)
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) not in (2, 3):
        raise ValueError(f"{where} must be (training samples, test samples, inner fold of each training sample), where "
                         "the folds may be left out, or have 'train' or 'test' for each sample")
    train, test = (_positions(part, where, samples) for part in given[:2])
    order = np.argsort(train, kind="stable")
    if len(given) == 2:
        return train[order].tolist(), np.sort(test).tolist(), []
    folds = _whole_numbers(given[2], f"{where}: inner folds")
    if len(folds) != len(train):
        raise ValueError(f"{where}: {len(folds)} folds are given for {len(train)} training samples")
    if len(folds) and not 0 <= folds.min() <= folds.max() < len(folds):
        raise ValueError(f"{where}: its folds are {folds.min()} to {folds.max()}; they are counted from 0, and none "
                         "is empty")
    return train[order].tolist(), np.sort(test).tolist(), folds[order].tolist()


def _of_words(given, where, samples, ids, X):
    """Training and test samples, by id where there are ids, else in the order of the samples."""
    named = given if isinstance(given, dict) else \
        dict(zip(ids_of(given), given)) if hasattr(given, "iloc") and not is_default_index(given) and ids else None
    if named is None:
        if lists_pairs(X):
            raise ValueError(f"{where} has no ids, and {X.name or 'X'} lists pairs of ids, which have no order: give a "
                             f"dict such as {{{ids[0]!r}: 'train', ...}}")
        words = list(given)
        if len(words) != samples:
            raise ValueError(f"{where}: {len(words)} words for {samples} samples; there must be one for each")
    else:
        if not ids:
            raise ValueError(f"{where} goes by ids, and the samples have none: give a list in their order")
        named = dict(zip(class_texts(named, "an id"), named.values()))
        foreign = [one for one in named if one not in set(ids)]
        if foreign:
            raise ValueError(f"{where}: {foreign[0]!r} is not among the samples")
        words = [named.get(one, "-") for one in ids]
    for i, word in enumerate(words):
        if word not in ("train", "test", "-"):
            raise ValueError(f"{where}: sample {i + 1} has {word!r}, and must have 'train', 'test' or '-'")
    return *([i for i, word in enumerate(words) if word == one] for one in ("train", "test")), []


def _positions(part, where, samples):
    """Samples counted from 0, or those where a mask is true."""
    numbers = np.asarray(part)
    if numbers.dtype == bool and numbers.shape == (samples,):
        return np.flatnonzero(numbers)
    numbers = _whole_numbers(part, f"{where}: samples")
    for one in numbers[(numbers < 0) | (numbers >= samples)][:1]:
        raise ValueError(f"{where}: sample {one} is not among the {samples} samples, which are counted from 0")
    return numbers


def _whole_numbers(values, what):
    numbers = np.asarray(values)
    if numbers.ndim == 1 and numbers.size == 0:
        return numbers.astype(int)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a list of whole numbers, counted from 0")
    return numbers.astype(int)
