# SPDX-License-Identifier: Apache-2.0
"""Classification from who is like whom: pairwise similarities, usually indefinite.

>>> import kith, numpy as np
>>> S = np.array([[4., 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 3], [0, 1, 3, 4]])
>>> model = kith.SVM(spectrum="clip").fit(S, ["cat", "cat", "dog", "dog"])
>>> model.predict([[3, 3, 1, 0]])
array(['cat'], dtype='<U3')

`kith.Auto` chooses among the methods; one class per method (`kith.methods()` lists them), `kith.Spectrum` for kernels, `kith.inspect`,
`kith.evaluate`, `kith.measure`, `kith.read` and `kith.write`, `kith.load`, `kith.save` and `kith.info`.
"""
from . import measure
from ._auto import Auto
from ._core import version as __version__
from ._estimators import CLASSES as _CLASSES
from ._estimators import SimilarityClassifier, methods
from ._evaluation import Evaluation, evaluate, open_store
from ._hints import unknown_name as _unknown_name
from ._inspection import Inspection, inspect
from ._models import info, load, save
from ._score import ScoreReport
from ._spectrum import Spectrum
from ._tables import Table, read, write

globals().update(_CLASSES)

__all__ = sorted([
    "Auto", "Evaluation", "Inspection", "ScoreReport", "SimilarityClassifier", "Spectrum", "Table", "evaluate", "info", "inspect",
    "load", "measure", "methods", "open_store", "read", "save", "write", *_CLASSES,
])


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'kith' has no attribute {name!r}")
    raise _unknown_name(name, __all__)
