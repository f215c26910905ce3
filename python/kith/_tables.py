# SPDX-License-Identifier: Apache-2.0
"""Files of similarities, in every format of the command line."""
import dataclasses
import os

import numpy as np

from . import _arrays, _core
from ._run import run_options, texts_of


@dataclasses.dataclass(frozen=True)
class Table:
    """Similarities (or distances) as a file has them. `values` is an array, or a sparse matrix where the
    file lists pairs; ids are empty where the file has none. Works wherever an array does."""

    values: object
    row_ids: tuple = ()
    column_ids: tuple = ()
    name: str = ""
    format: str = ""

    @property
    def shape(self):
        return self.values.shape

    def __array__(self, dtype=None):
        values = self.values.toarray() if _arrays.is_sparse(self.values) else self.values
        return np.asarray(values, dtype=dtype)

    def to_frame(self):
        """A pandas frame with the ids; pairs that a sparse table does not list are 0 in it."""
        import pandas
        return pandas.DataFrame(np.asarray(self), index=list(self.row_ids) or None,
                                columns=list(self.column_ids) or None)


def read(path, **settings):
    """Reads a matrix: csv, tsv, npy, MatrixMarket, LIBSVM text, PHYLIP, edge lists, BLAST tables or
    MATLAB files, plain or compressed. Settings: format, duplicates, score_column, variable."""
    with run_options() as options:
        made = _core.read(os.fspath(path), texts_of(settings), options)
    values = made["values"]
    if made["format"] == "npy" and _is_single(path):
        values = values.astype(np.float32)  # as the file has them: nothing is lost
    return Table(values, tuple(made["row_ids"]), tuple(made["column_ids"]), made["name"],
                 made["format"])


def _is_single(path):
    """Whether a file that is npy has numbers of float32; a compressed one is not looked into."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            return False
    return np.lib.format.open_memmap(path, mode="r").dtype == np.float32


def write(path, X, format=None):
    """Writes a matrix in the format of the file's ending, or the one named; numbers read back to the
    same bits, and npy keeps float32. The ids of a frame or a `Table` are written where the format has a
    place for them."""
    values = X.values if hasattr(X, "row_ids") or _arrays.is_frame(X) else X
    if not _arrays.is_sparse(values):
        values = np.asarray(values)
        single = values.dtype == np.float32
        values = np.asarray(values, dtype=np.float32 if single else float)
        if single and os.fspath(path).endswith(".npy") and format in (None, "npy"):
            _write_single(path, values)
            return
    rows = [] if _arrays.is_default_index(X) else _arrays.ids_of(X)
    columns = [] if _arrays.is_default_index(X) else _arrays.column_ids_of(X)
    with run_options() as options:
        _core.write(os.fspath(path), format, values, rows, columns, options)


def _write_single(path, values):
    """npy of float32, which the library reads and does not write; under another name until it is whole."""
    if values.ndim != 2:
        raise ValueError(f"similarities must be a matrix, and have {values.ndim} dimensions")
    part = f"{os.fspath(path)}.part-{os.getpid()}"
    try:
        with open(part, "wb") as file:
            np.save(file, np.ascontiguousarray(values))
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise
