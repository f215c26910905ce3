# SPDX-License-Identifier: Apache-2.0
"""Numbers that must be there and finite, refused in the words of the command line."""
import typing

import numpy as np


class Names(typing.NamedTuple):
    """What the rows and columns are, and what is done about missing numbers."""

    row: str
    column: str
    remedy: str = ""
    from_column: bool = False  # the similarity is that of the column's sample to the row's

    def direction(self, at):
        row, column = f"{self.row} {at[0] + 1}", f"{self.column} {at[1] + 1}"
        return f"{column} to {row}" if self.from_column else f"{row} to {column}"


PAIRS = Names("sample", "sample",
              "; input={'missing': 'zero'} or 'min' fills them, 'drop-sample' leaves their samples out")
NEW_PAIRS = Names("query", "training sample", "; a model trained with input={'missing': 'zero'} or 'min' fills them")
FROM_TRAINING = NEW_PAIRS._replace(from_column=True)
KERNEL = Names("sample", "sample")
NEW_ROWS = Names("query", "training sample")
VECTORS = Names("sample", "column")


def check_finite(X, allow_missing, of):
    """ValueError unless every number of the array or sparse matrix is finite, or missing where that is allowed."""
    values = X.data if hasattr(X, "tocsr") else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # quick, and takes no memory
            return
    infinite, at = _found(X, np.isinf)
    if infinite:
        raise ValueError(f"{_named(at, of)} is infinite (inf); numbers must be finite, and a missing one is NaN")
    missing, at = _found(X, np.isnan)
    if missing and not allow_missing:
        raise ValueError(_about_missing(missing, X.shape[0] * X.shape[1], at, of))


def _named(at, of):
    if of is VECTORS:
        return f"the value of {of.row} {at[0] + 1} in {of.column} {at[1] + 1}"
    return f"the similarity of {of.direction(at)}"


def _about_missing(missing, count, at, of):
    if of is VECTORS:
        return (f"{of.row} {at[0] + 1} has no value in {of.column} {at[1] + 1} (NaN); a vector needs all of its "
                "numbers")
    return (f"{missing} of {count} pairs {'is' if missing == 1 else 'are'} missing (NaN), the first from "
            f"{of.direction(at)}{of.remedy}")


def _found(X, test):
    """How many numbers pass the test, and the row and column of the first; some rows at a time."""
    sparse = hasattr(X, "tocsr")
    values = X.data if sparse else X
    count, first = 0, None
    for start in range(0, len(values), 1024):
        passed = test(values[start:start + 1024])
        if first is None and passed.any():
            first = np.argwhere(passed)[0]
            first[0] += start
        count += int(passed.sum())
    if first is not None and sparse:
        first = (int(np.searchsorted(X.indptr, first[0], side="right")) - 1, int(X.indices[first[0]]))
    return count, first
