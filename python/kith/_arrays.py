# SPDX-License-Identifier: Apache-2.0
"""What people hand over as similarities: arrays, sparse matrices, frames with ids, several of them."""
import inspect

import numpy as np

from ._run import as_texts, texts_of


def is_frame(X):
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_sparse(X):
    return hasattr(X, "tocsr")


def as_list(X):
    """The matrices of X: a list or tuple of them, a (m, n, n) array, or one alone."""
    if is_frame(X) or is_sparse(X):
        return [X]
    if hasattr(X, "ndim"):
        return list(X) if X.ndim == 3 else [X]
    if isinstance(X, dict):
        return list(X.values())
    if isinstance(X, (list, tuple)) and len(X) > 0:
        if is_frame(X[0]) or is_sparse(X[0]) or np.ndim(X[0]) == 2:
            return list(X)
    return [X]


def names_of(X, count):
    if isinstance(X, dict) and not is_sparse(X):  # a SciPy matrix of keys is a dict too
        return [str(name) for name in X]
    return [f"matrix-{i + 1}" for i in range(count)] if count > 1 else ["similarity"]


def finite_keyword(check_array):
    """scikit-learn 1.6 gave the keyword another name, and 1.8 takes that alone."""
    names = inspect.signature(check_array).parameters
    return "ensure_all_finite" if "ensure_all_finite" in names else "force_all_finite"


def check_matrix(X, allow_sparse, allow_missing, what="similarities"):
    """A 2-d array of float64 or float32, not copied where it is one; or the sparse matrix as it is."""
    from sklearn.utils import check_array
    if hasattr(X, "values") and hasattr(X, "row_ids"):  # kith.Table
        X = X.values
    if is_sparse(X) and not allow_sparse:
        raise TypeError("A sparse matrix was passed, but dense data is required by this method: "
                        "in a sparse matrix absent pairs are unknown. Use X.toarray() where they "
                        "are zero.")
    return check_array(X, accept_sparse="csr" if allow_sparse else False, dtype=[np.float64, np.float32],
                       ensure_min_samples=1, input_name=what,
                       **{finite_keyword(check_array): "allow-nan" if allow_missing else True})


def allows_missing(input):
    return texts_of(input).get("missing", "error") != "error"


def ids_of(X):
    """The ids of the samples of a square frame or table, or an empty list."""
    if is_frame(X):
        return as_texts(X.index, "an id")
    if hasattr(X, "row_ids"):
        return list(X.row_ids)
    return []


def column_ids_of(X):
    if is_frame(X):
        return as_texts(X.columns, "an id")
    if hasattr(X, "column_ids"):
        return list(X.column_ids)
    return []


def is_default_index(X):
    return hasattr(X, "iloc") and type(X.index).__name__ == "RangeIndex"


def in_order(X):
    """A square frame or table with its columns in the order of its rows."""
    rows, columns = ids_of(X), column_ids_of(X)
    if not rows or not columns or is_default_index(X) or rows == columns:
        return X
    lacking = sorted(set(rows) - set(columns)) or sorted(set(columns) - set(rows))
    if lacking or len(set(rows)) != len(rows):
        raise ValueError(f"the rows and the columns are of different samples: "
                         f"{', '.join(lacking[:5]) or 'an id stands twice'}")
    where = {name: i for i, name in enumerate(columns)}
    order = [where[name] for name in rows]
    return X.iloc[:, order] if is_frame(X) else X.values[:, order]


def square(X, allow_sparse, allow_missing, name):
    """The similarities of all pairs, checked; rows and columns in the same order."""
    matrix = check_matrix(in_order(X), allow_sparse, allow_missing, name)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"X must be a square matrix of similarities between the training samples, "
                         f"and is {matrix.shape[0]} x {matrix.shape[1]}")
    return matrix


def common_ids(given):
    """Ids of the samples, where the first matrix has some; the others must have the same."""
    ids = [] if is_default_index(given[0]) else ids_of(given[0])
    for other in given[1:]:
        if ids and not is_default_index(other) and ids_of(other) not in ([], ids):
            raise ValueError("the matrices are of different samples, or in another order")
    return ids
