# SPDX-License-Identifier: Apache-2.0
"""Raw samples of every kind, and measures as people name them."""
import json
import reprlib

import numpy as np

from . import _arrays, _core
from ._finite import VECTORS
from ._labels import is_missing
from ._texts import as_text, class_texts, texts_of

MEASURES = {one["name"]: one for one in json.loads(_core.measures())}
_NAMES = {alias: one["name"] for one in MEASURES.values() for alias in [one["name"], *one["aliases"]]}

#: What a sample is, by the kind of samples that a measure takes.
WORDS = {
    "strings": "texts", "vectors": "an array with a sample per row",
    "series": "one sequence of numbers per sample, of any length", "sequences": "protein or DNA sequences",
    "sets": "one collection of words per sample, or a text of them", "categories": "one row of categories per sample",
}


def prepared(samples, kind):
    """Samples as the library takes them: (values, ids, names of columns)."""
    ids = _arrays.sample_ids(samples)
    if isinstance(samples, (str, bytes)):
        raise ValueError(f"the samples are one text; give {WORDS[kind]} in a list")
    columns = _column_names(samples)
    if kind == "vectors":
        return _arrays.check_matrix(samples, True, False, "vectors", of=VECTORS), ids, columns
    if _arrays.is_frame(samples):
        samples = samples.to_numpy()
        if kind in ("strings", "sequences"):
            if samples.shape[1] != 1:
                raise ValueError(f"{WORDS[kind]} are wanted, and the frame has {samples.shape[1]} columns")
            samples = samples[:, 0]
    if _arrays.is_sparse(samples):
        raise ValueError(f"the samples are a sparse matrix; give {WORDS[kind]}")
    if not hasattr(samples, "__iter__"):
        raise ValueError(f"the samples are {samples!r}; give {WORDS[kind]} in a list")
    if kind == "series":
        return [_series(one, i) for i, one in enumerate(samples)], ids, columns
    if kind in ("sets", "categories"):
        words = [_words(one, kind, i) for i, one in enumerate(samples)]
        if kind == "categories":
            _check_equal_length(words)
        return words, ids, columns
    texts = [_text(one, i) for i, one in enumerate(samples)]
    return [one.upper() for one in texts] if kind == "sequences" else texts, ids, columns


def leading(X, measure):
    """Those of several samples or matrices whose order is that of the model."""
    if measure is None or not are_named(X):
        return _arrays.as_list(X)[0]
    name, word, _ = parse(measure)[0]
    return _of_name(X, name or word)


def check_no_distance(distance):
    if _arrays.plain_distance(distance) is not False:
        raise ValueError("distance=True is about numbers that are given; a measure says itself what it computes")


def count(made):
    """How many samples `prepared` gave."""
    return made[0].shape[0] if hasattr(made[0], "shape") else len(made[0])


def _column_names(samples):
    """Of the features of a frame; none where they are only counted."""
    if not _arrays.is_frame(samples) or _arrays.has_default_columns(samples):
        return []
    names = _arrays.column_ids_of(samples)
    if len(set(names)) != len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise ValueError(f"two columns have the name {twice!r}")
    return names


def _text(sample, position):
    if not isinstance(sample, str):
        raise ValueError(f"sample {position + 1} is {reprlib.repr(sample)}, and must be a text")
    return as_text(sample, f"sample {position + 1}")


def _series(sample, position):
    try:
        values = np.asarray(sample, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"sample {position + 1} must be a sequence of numbers") from None
    if values.ndim != 1:
        raise ValueError(f"sample {position + 1} has {values.ndim} dimensions, and must be a sequence of numbers")
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"sample {position + 1} {'has no' if values.size == 0 else 'contains NaN or infinite'} numbers")
    return values.tolist()


def _words(sample, kind, position):
    if isinstance(sample, str):
        if kind == "categories":
            raise ValueError(f"sample {position + 1} is one text, and must be {WORDS[kind][:-11]}")
        sample = sample.split()
    if not hasattr(sample, "__iter__"):
        raise ValueError(f"sample {position + 1} is {reprlib.repr(sample)}, and must be a collection of words")
    words = sorted(sample, key=str) if isinstance(sample, (set, frozenset)) else sample
    if kind == "categories" and any(is_missing(one) for one in words):
        raise ValueError(f"sample {position + 1} has no value in one of its columns (NaN or None); give missing ones a name")
    return class_texts(words, f"a word of sample {position + 1}")


def _check_equal_length(rows):
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"sample {i + 1} has {len(row)} categories, and sample 1 has {len(rows[0])}; every sample "
                             "must have equally many")


def are_single(*collections):
    """All numbers are of float32."""
    def single(samples):
        if hasattr(samples, "dtypes"):
            return all(one == np.float32 for one in np.ravel(samples.dtypes))
        if hasattr(samples, "dtype"):
            return samples.dtype == np.float32
        return isinstance(samples, (list, tuple)) and len(samples) > 0 and all(
            getattr(one, "dtype", None) == np.float32 for one in samples)
    return all(single(one) for one in collections if one is not None)


def parse(measure):
    """Every measure that is asked for: [(name or "", measure, settings)].

    A measure is its name ("edit"), its function (kith.measure.edit), a text as the command line takes
    it ("mine=spectrum:kmer=4") or {"measure": "spectrum", "kmer": 4}. Several are a list or a dict of names.
    """
    if isinstance(measure, (list, tuple, dict)) and not measure:
        raise ValueError(f"measure is {measure!r}, and names none")
    if isinstance(measure, dict) and "measure" not in measure:
        return [_named(name, one) for name, one in measure.items()]
    if isinstance(measure, (list, tuple)):
        return [one for each in measure for one in parse(each)]
    if isinstance(measure, dict):
        settings = {key: value for key, value in measure.items() if key != "measure" and value is not None}
        return [("", _known(getattr(measure["measure"], "measure", measure["measure"])), texts_of(settings))]
    if callable(measure):
        return [("", _known(getattr(measure, "measure", measure)), {})]
    head, _, tail = str(measure).partition(":")
    name, _, word = head.rpartition("=")
    pairs = [one.partition("=") for one in tail.split(",") if one]
    if any(not value for _, _, value in pairs):
        raise ValueError(f"measure {measure!r} must be NAME:key=value,key=value")
    return [(as_text(name, "the name of a measure"), _known(word), texts_of({key: value for key, _, value in pairs}))]


def _named(name, measure):
    if isinstance(measure, (list, tuple)):
        raise ValueError(f"{name!r} stands for {len(measure)} measures; each has a name of its own")
    return (as_text(name, "the name of a measure"), *parse(measure)[0][1:])


def _known(word):
    name = _NAMES.get(str(word).replace("_", "-"))
    if name is None:
        raise ValueError(f"{str(word)!r} is no measure; there are {', '.join(MEASURES)}")
    return name


def measured(measure, data):
    """Matrices that are to be measured, as the library takes them. `data` are samples of all measures, or
    a dict of samples by the name of the measure."""
    asked = parse(measure)
    names = [name or word for name, word, _ in asked]
    if len(set(names)) != len(names):
        raise ValueError(f"measures have the same name: {', '.join(names)}; a dict of names tells them apart")
    several = _check_names(data, names)
    if several:
        _arrays.check_order(list(data.values()), "the samples of a measure")
    return [(name, word, texts, prepared(_of_name(data, name), MEASURES[word]["data"]), i if several else 0)
            for i, (name, (_, word, texts)) in enumerate(zip(names, asked))]


def _check_names(data, names):
    """Whether the samples are named, by measures alone."""
    foreign = [name for name in data if name not in names] if are_named(data) else []
    if foreign:
        raise ValueError(f"there are samples for {foreign[0]!r}, and the measures are {', '.join(names)}")
    return are_named(data)


def are_named(data):
    return isinstance(data, dict) and not _arrays.is_sparse(data)  # a SciPy matrix of keys is a dict too


def _of_name(data, name):
    if not are_named(data):
        return data
    if name not in data:
        raise ValueError(f"there are no samples for {name!r} among {', '.join(map(str, data))}")
    return data[name]


def queries(data, matrices):
    """New samples of each matrix of a model that measures them itself."""
    names = [one["name"] for one in matrices]
    named, files = _check_names(data, names), len({one["file"] for one in matrices})
    if named and files < len(matrices):
        raise ValueError("the model measures all of its matrices from the same samples; give them alone")
    if not named and files > 1:
        raise ValueError(f"the model measures each of its matrices from samples of its own; give a dict of {', '.join(names)}")
    if named:
        _arrays.check_order(list(data.values()), "the samples of a measure")
    return [prepared(_by_number(_of_name(data, one["name"]), one["columns"]),
                     MEASURES[one["measure"]["measure"]]["data"]) for one in matrices]


def _by_number(samples, columns):
    """A frame with its columns in order, where they are the numbers from 0 on and those of the model have no names."""
    if columns or not _arrays.is_frame(samples) or _arrays.has_default_columns(samples):
        return samples
    names = _arrays.column_ids_of(samples)
    counted = [str(i) for i in range(len(names))]
    if sorted(names) != sorted(counted):
        return samples
    return samples.iloc[:, [names.index(one) for one in counted]]
