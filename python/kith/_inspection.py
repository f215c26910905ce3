# SPDX-License-Identifier: Apache-2.0
"""What a matrix is, before anything is learned from it."""
import json

import numpy as np

from . import _arrays, _core
from ._run import as_texts, run_options, texts_of


class Inspection:
    """What `kith inspect` finds: `facts` (as its `--json` has them); prints as it prints."""

    def __init__(self, facts, text, page):
        self.facts = facts
        self._text = text
        self._page = page

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<kith.Inspection of {', '.join(one['name'] for one in self._matrices())}>"

    def _matrices(self):
        return self.facts.get("matrices", [self.facts])  # of one matrix the facts are its own

    def __getitem__(self, key):
        """A fact of the only matrix, or of the first: inspect(S)["symmetric"]."""
        return self._matrices()[0][key]

    def _repr_html_(self):
        text = self._text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{text}</pre>"

    def report(self, path):
        """Writes the page of `kith inspect --html`: one HTML file to look at."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page())


def inspect(X, y=None, *, distance=False, input=None, threads=None, blas_threads=None, verbose=False):
    """Describes similarities: classes, symmetry, range, missing pairs, how indefinite, what to try."""
    _arrays.check_distance(input, distance)
    given = _arrays.as_list(X)
    names = _arrays.names_of(X, len(given))
    given, ids = _arrays.matched(given)
    matrices = [(name, _arrays.square(one, True, True, name), bool(distance)) for name, one in zip(names, given)]
    labels = [] if y is None else as_texts(np.asarray(_arrays.by_id(y, ids)).tolist(), "a class")

    def run(page):
        with run_options(threads, blas_threads, 1, verbose) as options:
            return _core.inspect(matrices, labels, ids, texts_of(input), page, options)

    facts, text, _ = run(False)
    return Inspection(json.loads(facts), text, lambda: run(True)[2])
