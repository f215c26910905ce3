# SPDX-License-Identifier: Apache-2.0
"""Classes of samples as people hand them over."""
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def classes_of(y):
    """An array of one class per sample. ValueError naming the sample that has none."""
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    _check_present(np.asarray(y).ravel())
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    return y


def _check_present(values):
    kind = values.dtype.kind
    missing = [_is_missing(one) for one in values] if kind == "O" else \
        np.isnan(values) if kind in "fc" else np.isnat(values) if kind in "mM" else False
    if np.any(missing):
        at = int(np.argmax(missing))
        held = "NaN" if isinstance(values[at], float) else repr(values[at])
        raise ValueError(f"Input y contains {held}: sample {at + 1} has no class")


def _is_missing(value):
    named = type(value).__name__ in ("NAType", "NaTType")  # of pandas, which need not be installed
    return value is None or named or (isinstance(value, (float, np.floating)) and value != value)
