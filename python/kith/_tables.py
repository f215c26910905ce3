# SPDX-License-Identifier: Apache-2.0
"""Files of similarities, in every format of the command line."""
import dataclasses
import gzip
import os
import warnings

import numpy as np

from . import _arrays, _core
from ._finite import KERNEL, check_finite
from ._run import run_options
from ._texts import library_path, path_of, text_of, texts_of


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Similarities (or distances) as a file has them. `values` is an array, or a sparse matrix where the
    file lists pairs; ids are empty where the file has none; `score_column` is that of a BLAST table. Works wherever an
    array does; a part of it, such as
    table[:5], is one of `values`, without ids."""

    values: object
    row_ids: tuple = ()
    column_ids: tuple = ()
    name: str = ""
    format: str = ""
    score_column: str = ""

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, part):
        return self.values[part]

    def __array__(self, dtype=None):
        values = self.values.toarray() if _arrays.is_sparse(self.values) else self.values
        return np.asarray(values, dtype=dtype)

    def to_frame(self):
        """A pandas frame with the ids; pairs that a sparse table does not list are 0 in it. The rows of a table of pairs
        (edge list, BLAST) are in the order in which its ids first appear, which a warning says: a plain list of
        classes would follow it."""
        import pandas
        if _arrays.lists_pairs(self):
            warnings.warn(f"{self.name or 'the table'} lists pairs of ids, which have no order: the rows of the frame are "
                          "in the order in which the ids first appear. Classes need ids (a dict, or a Series with the "
                          "ids as its index), or that order", UserWarning, stacklevel=2)
        return pandas.DataFrame(np.asarray(self), index=list(self.row_ids) or None,
                                columns=list(self.column_ids) or None)


def read(path, **settings):
    """Reads a matrix: csv, tsv, npy, MatrixMarket, LIBSVM text, PHYLIP, edge lists, BLAST tables or
    MATLAB files, plain or compressed. Settings: format, duplicates, score_column, variable, transpose."""
    with run_options() as options:
        made = _core.read(library_path(path), texts_of(settings), options)
    values = made["values"]
    if made["format"] == "npy" and _is_single(path):
        values = values.astype(np.float32)  # as the file has them: nothing is lost
    column = texts_of(settings).get("score-column", "bitscore") if made["format"] == "blast" else ""
    return Table(values, tuple(made["row_ids"]), tuple(made["column_ids"]), os.fsdecode(made["name"]),
                 made["format"], column)


def _is_single(path):
    """Whether a file that is npy, plain or of gzip, has numbers of float32."""
    path = path_of(path)
    with open(path, "rb") as file:
        opened = gzip.open if file.read(2) == b"\x1f\x8b" else open
    with opened(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
        except ValueError:
            return False  # compressed otherwise
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return header(file)[2] == np.float32


def write(path, X, format=None):
    """Writes a matrix in the format of the file's ending, or the one named; numbers read back to the
    same bits, and npy (plain or .gz) keeps float32. The ids of a frame or a `Table` are written where the format
    has a place for them; rows or columns that are only counted have none."""
    name = path_of(path)
    format = None if format is None else text_of(format, "format")
    values = X.values if hasattr(X, "row_ids") or _arrays.is_frame(X) else X
    _arrays.check_unmasked(values, "X")
    if np.iscomplexobj(values):
        raise ValueError("X has complex numbers, and similarities are real")
    rows = _arrays.sample_ids(X)
    columns = [] if _arrays.has_default_columns(X) else _arrays.column_ids_of(X)
    _check_readable(values, rows, columns)
    if not _arrays.is_sparse(values):
        values = np.asarray(values)
        single = values.dtype == np.float32
        values = np.asarray(values, dtype=np.float32 if single else float)
        if single and name.endswith((".npy", ".npy.gz")) and format in (None, "npy"):
            _write_single(name, values)
            return
    with run_options() as options:
        _core.write(library_path(name), format, values, rows, columns, options)


def _check_readable(values, *ids):
    """ValueError where `read` would refuse the file."""
    numbers = values if _arrays.is_sparse(values) else np.asarray(values, dtype=float)
    if numbers.ndim == 2 and 0 in numbers.shape:
        raise ValueError(f"X is {numbers.shape[0]} x {numbers.shape[1]}, and has no similarities")
    if numbers.ndim == 2:
        check_finite(numbers.tocsr() if _arrays.is_sparse(numbers) else numbers, True, KERNEL)
    for names in ids:
        if not all(names) or len(set(names)) != len(names):
            raise ValueError("an id is empty, or stands twice")


def _write_single(path, values):
    """npy of float32, which the library reads and does not write; under another name until it is whole."""
    if values.ndim != 2:
        raise ValueError(f"similarities must be a matrix, and have {values.ndim} dimensions")
    part = f"{path}.part-{os.getpid()}"
    try:
        with open(part, "wb") as whole:
            # Without a name and a time: the same numbers give the same bytes.
            packed = gzip.GzipFile("", "wb", fileobj=whole, mtime=0) if path.endswith(".gz") else None
            np.save(packed or whole, np.ascontiguousarray(values))
            if packed is not None:
                packed.close()
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise
