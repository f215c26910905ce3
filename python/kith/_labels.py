# SPDX-License-Identifier: Apache-2.0
"""Classes of samples as people hand them over."""
import warnings

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _core
from ._texts import as_items, class_texts


def classes_of(y):
    """An array of one class per sample. ValueError naming the sample that has none."""
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"sample {int(np.argmax(np.ma.getmaskarray(y).ravel())) + 1} has no class: y is masked there")
    values = np.asarray(y).ravel()
    _check_present(values)
    _check_texts(y if isinstance(y, (list, tuple)) else values if values.dtype.kind == "O" else ())
    y = column_or_1d(_of_numpy(y), warn=True)
    check_classification_targets(y)
    return y


def judge_classes(labels):
    """Refuses classes of which every sample has its own, and warns where more than half have a single sample."""
    text, nothing_to_learn = _core.note_on_classes(labels)
    if nothing_to_learn:
        raise ValueError(text)
    if text:
        warnings.warn(text, UserWarning, stacklevel=3)


def groups_of(groups, samples):
    """A text per sample, or none where there are no groups. ValueError naming a sample that has none."""
    if groups is None:
        return []
    if isinstance(groups, np.ma.MaskedArray) and np.ma.is_masked(groups):
        raise ValueError(f"sample {int(np.argmax(np.ma.getmaskarray(groups).ravel())) + 1} has no group: groups is masked there")
    values = groups.tolist() if hasattr(groups, "tolist") else list(as_items(groups, "a group"))
    for i, one in enumerate(values):
        if isinstance(one, (list, tuple, dict)):
            raise ValueError(f"groups has {len(one)} values for sample {i + 1}, and must have one")
        if is_missing(one):
            raise ValueError(f"sample {i + 1} has no group: groups has {'NaN' if isinstance(one, float) else repr(one)} there")
    if len(values) != samples:
        raise ValueError(f"{len(values)} groups for {samples} samples; there must be one for each")
    return class_texts(values, "a group")


def warn_of_groups(labels, groups, stacklevel=3):
    """What a user should know about groups: that they tie no samples, that one has a whole class."""
    for note in _core.notes_on_groups((labels, groups)) if groups else ():
        warnings.warn(note, UserWarning, stacklevel=stacklevel + 1)


def _check_present(values):
    kind = values.dtype.kind
    missing = [is_missing(one) for one in values] if kind == "O" else \
        np.isnan(values) if kind in "fc" else np.isnat(values) if kind in "mM" else False
    if np.any(missing):
        at = int(np.argmax(missing))
        held = "NaN" if isinstance(values[at], float) else repr(values[at])
        raise ValueError(f"Input y contains {held}: sample {at + 1} has no class")


def _check_texts(values):
    """What NumPy would make another class of: NaN among texts is 'nan', and a NUL at the end is gone."""
    for i, one in enumerate(values):
        one = one[0] if isinstance(one, (list, tuple)) and len(one) == 1 else one
        if is_missing(one):
            raise ValueError(f"Input y contains {'NaN' if isinstance(one, float) else repr(one)}: sample {i + 1} has "
                             "no class")
        if isinstance(one, (str, bytes)) and one[-1:] in ("\0", b"\0"):
            raise ValueError(f"the class of sample {i + 1} is {one!r}, and must not end in NUL")


def _of_numpy(y):
    """Numbers and truth values of pandas' own types as NumPy has them; none is missing."""
    own = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y.to_numpy(dtype=own) if own is not None and own.kind in "biuf" else y


def is_missing(value):
    named = type(value).__name__ in ("NAType", "NaTType")  # of pandas, which need not be installed
    return value is None or named or (isinstance(value, (float, np.floating)) and value != value)
