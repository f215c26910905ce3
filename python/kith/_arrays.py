# SPDX-License-Identifier: Apache-2.0
"""What people hand over as similarities: arrays, sparse matrices, frames with ids, several of them."""
import numpy as np


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


def check_matrix(X, allow_sparse, allow_missing, what="similarities"):
    """A 2-d array of doubles, not copied where it is one; or the sparse matrix as it is."""
    from sklearn.utils import check_array
    if hasattr(X, "values") and hasattr(X, "row_ids"):  # kith.Table
        X = X.values
    if is_sparse(X) and not allow_sparse:
        raise TypeError("A sparse matrix was passed, but dense data is required by this method: "
                        "in a sparse matrix absent pairs are unknown. Use X.toarray() where they "
                        "are zero.")
    return check_array(X, accept_sparse="csr" if allow_sparse else False, dtype=np.float64,
                       order="C", force_all_finite="allow-nan" if allow_missing else True,
                       ensure_min_samples=1, input_name=what)


def ids_of(X):
    """The ids of the samples of a square frame or table, or an empty list."""
    if is_frame(X):
        return [str(one) for one in X.index]
    if hasattr(X, "row_ids"):
        return list(X.row_ids)
    return []


def column_ids_of(X):
    if is_frame(X):
        return [str(one) for one in X.columns]
    if hasattr(X, "column_ids"):
        return list(X.column_ids)
    return []


def is_default_index(X):
    return is_frame(X) and type(X.index).__name__ == "RangeIndex"
