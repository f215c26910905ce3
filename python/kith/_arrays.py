# SPDX-License-Identifier: Apache-2.0
"""What people hand over as similarities: arrays, sparse matrices, frames with ids, several of them."""
import functools
import inspect
import warnings

import numpy as np

from ._finite import KERNEL, NEW_ROWS, PAIRS, VECTORS, check_finite
from ._texts import as_text, as_texts, class_texts, texts_of, truth_of


def is_frame(X):
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_sparse(X):
    return hasattr(X, "tocsr")


def as_list(X):
    """The matrices of X: a list or tuple of them, a (m, n, n) array, or one alone."""
    if is_frame(X) or is_sparse(X):
        return [X]
    if hasattr(X, "ndim"):
        return _some(X) if X.ndim == 3 else [X]
    if isinstance(X, dict):
        return _some(X.values())
    if isinstance(X, (list, tuple)):
        if not X or is_frame(X[0]) or is_sparse(X[0]) or np.ndim(X[0]) == 2:
            return _some(X)
    return [X]


def _some(X):
    if len(X) == 0:
        raise ValueError("X is empty: no matrix and no sample is given")
    return list(X)


def names_of(X):
    """Of the matrices: the keys of a dict, or the names of the files where these tell them apart."""
    if isinstance(X, dict) and not is_sparse(X):  # a SciPy matrix of keys is a dict too
        names = as_texts(X, "the name of a matrix")
        if len(set(names)) != len(names):
            raise ValueError(f"matrices have the same name: {', '.join(names)}")
        return names
    given = as_list(X)
    names = [one.name.encode(errors="backslashreplace").decode() if hasattr(one, "row_ids") else "" for one in given]
    if all(names) and len(set(names)) == len(names):
        return names
    return [f"matrix-{i + 1}" for i in range(len(given))] if len(given) > 1 else ["similarity"]


def score_columns(X):
    """Of each matrix of X the score column that a BLAST table was read by; "" where it is none."""
    return [score_column(one) for one in as_list(X)]


def score_column(X):
    column = getattr(X, "score_column", "")
    return column if isinstance(column, str) else ""  # a frame may have a sample of that name


@functools.cache
def finite_keyword(check_array):
    """scikit-learn 1.6 gave the keyword another name, and 1.8 takes that alone."""
    names = inspect.signature(check_array).parameters
    return "ensure_all_finite" if "ensure_all_finite" in names else "force_all_finite"


def check_matrix(X, allow_sparse, allow_missing, what="similarities", of=PAIRS, finite=True):
    """A 2-d array of float64 or float32, not copied where it is one; or the sparse matrix as it is. finite=False: whether
    its numbers are finite is left to others."""
    from sklearn.utils import check_array
    if X is None:
        raise ValueError(f"{what}: a matrix is wanted, and None is given")
    if hasattr(X, "values") and hasattr(X, "row_ids"):  # kith.Table
        X = X.values
    check_unmasked(X, what)
    if is_sparse(X) and not allow_sparse:
        remedy = "" if of is KERNEL or of is NEW_ROWS else " or input={'missing': 'zero'}"
        raise TypeError("A sparse matrix was passed, but dense data is required by this method: "
                        f"in a sparse matrix absent pairs are unknown. Use X.toarray(){remedy} where they are zero.")
    try:
        made = check_array(X, accept_sparse="csr" if allow_sparse else False, dtype=[np.float64, np.float32],
                           ensure_min_samples=1, input_name=what, **{finite_keyword(check_array): False})
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        hint = "" if of is VECTORS else "; raw samples, such as texts, need a measure="
        raise ValueError(f"{what}: numbers are wanted, and {error}{hint}") from None
    if finite:
        check_finite(made, allow_missing, of)
    return made


def check_unmasked(X, what):
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(f"{what}: numbers of a masked array are hidden; give .filled(numpy.nan) where they are missing")


def allows_missing(input):
    return texts_of(input).get("missing", "error") != "error"


def ids_of(X):
    """The ids of the samples of a frame, a series or a table, or an empty list."""
    if hasattr(X, "iloc"):
        return _id_texts(X.index)
    if hasattr(X, "row_ids"):
        return list(X.row_ids)
    return []


def column_ids_of(X):
    if is_frame(X):
        return _id_texts(X.columns)
    if hasattr(X, "column_ids"):
        return list(X.column_ids)
    return []


def _id_texts(index):
    """Whole numbers are the same ids whether they came as 1 or as 1.0."""
    return class_texts(index, "an id")


def is_default_index(X):
    """The samples are only counted, from 0 on."""
    return hasattr(X, "iloc") and _only_counts(X.index)


def has_default_columns(X):
    return is_frame(X) and _only_counts(X.columns)


def _only_counts(index):
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def check_counted(names, what):
    """Refuses names beside others that are only counted, 0, 1, 2, ..., where they are the same numbers in another
    order: nobody can say whether numbers or places are meant."""
    counted = [str(i) for i in range(len(names))]
    if names != counted and sorted(names) == sorted(counted):
        raise ValueError(f"{what} are only counted, and others are the same numbers in another order, {names[0]}, "
                         f"{', '.join(names[1:3])}, ...: .to_numpy() goes by the order, .loc[...] by the numbers")


def check_order(given, what):
    """Refuses frames and series of which some are only counted, beside the same numbers in another order."""
    if any(is_default_index(one) for one in given):
        for one in given:
            check_counted(sample_ids(one), what)


def in_order(X):
    """A square frame or table with its columns in the order of its rows, where both have names."""
    rows, columns = ids_of(X), column_ids_of(X)
    if not rows or not columns or rows == columns:
        return X
    if is_default_index(X) or has_default_columns(X):  # names of columns alone say nothing of rows
        check_counted(columns if is_default_index(X) else rows, "the rows or the columns")
        return X
    lacking = sorted(set(rows) - set(columns)) or sorted(set(columns) - set(rows))
    if lacking or len(set(rows)) != len(rows):
        raise ValueError(f"the rows and the columns are of different samples: "
                         f"{', '.join(lacking[:5]) or 'an id stands twice'}")
    return _columns(X, _order(rows, columns))


def over_samples(X, ids):
    """New rows over the training samples in their order, by id; None where columns are by position."""
    names = column_ids_of(X)
    if not names or names == ids:
        return None
    counted = has_default_columns(X)
    if not ids or (counted and len(names) == len(ids)):
        check_counted(ids or names, "the columns or the training samples")
        return None
    where = {name: i for i, name in enumerate(names)}
    lacking = [one for one in ids if one not in where]
    if lacking and counted:
        return None
    if lacking:
        turned = set(ids) <= set(sample_ids(X))
        raise ValueError(f"{len(lacking)} of the {len(ids)} training samples the model "
                         f"needs are not among the columns: {', '.join(lacking[:5])}"
                         f"{'. They are the rows: give the transpose' if turned else ''}")
    if len(where) != len(names):
        raise ValueError("an id stands twice among the columns")
    return _columns(X, [where[name] for name in ids])


def _columns(X, order):
    if is_frame(X):
        return X.iloc[:, order]
    values = getattr(X, "values", X)
    return (values.tocsr() if is_sparse(values) else np.asarray(values))[:, order]


def in_rows(X, ids):
    """Rows of a frame or table in the order of `ids`, where both have ids."""
    own = sample_ids(X)
    if not ids or not own or own == ids:
        return X
    order = _same_samples(ids, own, "the rows of several matrices")
    return X.iloc[order] if is_frame(X) else type(X)(X.values[order], tuple(ids), X.column_ids)


def plain_distance(distance):
    """What says whether matrices hold distances: one truth for all, a list in their order or a dict by name."""
    if isinstance(distance, dict):
        return {as_text(name, "the name of a matrix"): truth_of(one, f"distance of {name!r}")
                for name, one in distance.items()}
    if isinstance(distance, (list, tuple, np.ndarray)) and np.ndim(distance) == 1:
        return [truth_of(one, f"distance of matrix {i + 1}") for i, one in enumerate(distance)]
    return truth_of(distance, "distance")


def distances(input, distance, names):
    """One truth for each of the matrices `names`, which `input` must not contradict."""
    given = plain_distance(distance)
    if isinstance(given, dict):
        if set(given) != set(names):
            raise ValueError(f"distance is of {', '.join(given)}, and the matrices are {', '.join(names)}")
        made = [given[name] for name in names]
    else:
        made = given if isinstance(given, list) else [given] * len(names)
    if len(made) != len(names):
        raise ValueError(f"distance has {len(made)} truth values for {len(names)} matrices")
    texts = texts_of(input)
    if "from-distance" in texts and not any(made):
        raise ValueError("input={'from_distance': ...} says how distances become similarities, and distance=True is "
                         "not given")
    if "gamma" in texts and not (any(made) and texts.get("from-distance") == "exp"):
        raise ValueError("input={'gamma': ...} is used by distance=True with input={'from_distance': 'exp'} alone")
    return made


def square(X, allow_sparse, allow_missing, name, finite=True):
    """The similarities of all pairs, as `matched` gives them, checked."""
    matrix = check_matrix(X, allow_sparse, allow_missing, name, finite=finite)
    if matrix.shape[0] != matrix.shape[1]:
        check_finite(matrix, allow_missing, PAIRS)
        raise ValueError(f"X must be a square matrix of similarities between the training samples, "
                         f"and is {matrix.shape[0]} x {matrix.shape[1]}; raw samples need a measure=")
    return matrix


def check_counts(samples, labels):
    if samples != labels:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {samples} "
                         f"samples and {labels} labels")


def matched(given):
    """Several matrices over the samples of the first in its order, where they have ids, and these ids."""
    check_order(given, "the samples of a matrix")
    ids = sample_ids(given[0])
    made = [in_order(given[0])]
    for other in given[1:]:
        own = sample_ids(other)
        other = in_order(other)
        if ids and own and own != ids:
            order = _same_samples(ids, own, "the matrices")
            values = other.values if hasattr(other, "values") else other
            other = values[order][:, order]
        made.append(other)
    return made, ids


def sample_ids(X):
    """Of the rows of a frame or table; none where they are only counted."""
    return [] if is_default_index(X) else ids_of(X)


def _order(ids, other):
    """Where each of `ids` stands in `other`; None unless both are the same samples, each once."""
    where = {name: i for i, name in enumerate(other)}
    if len(where) != len(other) or len(other) != len(ids) or set(where) != set(ids):
        return None
    return [where[name] for name in ids]


def _same_samples(ids, other, what):
    order = _order(ids, other)
    if order is None:
        raise ValueError(f"{what} are of different samples: "
                         f"{', '.join(sorted(set(ids) ^ set(other))[:5]) or 'an id stands twice'}")
    return order


def by_id(y, ids, X=None, what="y"):
    """Classes or numbers in the order of the samples X, by id where both have ids. What is only counted, 0, 1, 2, ...,
    and numbers beside names name nobody, and are taken as they come; but a table of pairs has no order to take them
    in."""
    if isinstance(y, dict):
        return _of_dict(y, ids)
    if y is not None and lists_pairs(X):
        return _of_pairs(y, ids, X, what)
    if not hasattr(y, "iloc"):
        return y
    own = sample_ids(y)
    if not ids or not own:
        if is_default_index(X) or is_default_index(y):
            check_counted(own or ids, "the samples of X or of a series")
        return y
    if not set(own).isdisjoint(ids):
        return y.iloc[_same_samples(ids, own, "X and a series")]
    if all(map(_is_number, own)) and not any(map(_is_number, ids)):
        return y
    raise ValueError(f"the series is of other samples than X: {own[0]!r} is none of its ids, nor is any other of the "
                     f"{len(own)}; X has {ids[0]!r}. Give .to_numpy() where the order is the same")


def lists_pairs(X):
    """Whether X is a table of pairs: its samples are known by id, and their order means nothing."""
    return getattr(X, "format", "") in ("edges", "blast") and hasattr(X, "row_ids")


def _of_pairs(y, ids, X, what):
    """Of a table of pairs: by id or not at all."""
    own, values = ids_of(y), np.asarray(y, dtype=object).ravel().tolist()
    if len(set(own)) == len(values) and set(ids) <= set(own):
        return _of_dict(dict(zip(own, values)), ids)
    whose = "has other ids" if own and not is_default_index(y) else "has no ids"
    as_dict = f"a dict {{{ids[0]!r}: {values[0]!r}, ...}} or " if what == "y" and ids and values else ""
    raise ValueError(f"{what} {whose}, and {X.name or 'X'} lists pairs of ids, which have no order: give {as_dict}a "
                     "pandas Series whose index has the ids")


def _of_dict(given, ids):
    """What a dict has for each of the samples `ids`, in their order."""
    if not ids:
        raise ValueError("y is a dict, and the samples of X have no ids: give a list in the order of its rows")
    of_id = dict(zip(class_texts(given, "an id"), given.values()))
    lacking = [one for one in ids if one not in of_id]
    if lacking:
        raise ValueError(f"{len(lacking)} of {len(ids)} samples have no class: {', '.join(lacking[:5])}; every sample "
                         "needs one")
    others = sorted(set(of_id) - set(ids))
    if others:
        warnings.warn(f"{len(others)} of the {len(of_id)} ids of y are not among the samples and are left out: "
                      f"{', '.join(others[:5])}", UserWarning, stacklevel=4)
    return [of_id[one] for one in ids]


def _is_number(name):
    return name.isascii() and name.isdigit()
