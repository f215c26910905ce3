# SPDX-License-Identifier: Apache-2.0
"""What a matrix is, before anything is learned from it."""
import html
import json

from . import _arrays, _core
from ._labels import classes_of
from ._run import run_options, warn_of_doubts
from ._texts import class_texts, path_of, texts_of


class Inspection:
    """What `kith inspect` finds: `facts` (as its `--json` has them); prints as it prints. Its page is drawn from X when
    it is first asked for; pickled before that, the inspection has none."""

    def __init__(self, facts, text, draw):
        self.facts = facts
        self._text = text
        self._draw = draw
        self._page = None

    def __getstate__(self):
        return {**self.__dict__, "_draw": None}

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
        return f"<pre>{html.escape(self._text)}</pre>"

    def report(self, path):
        """Writes the page of `kith inspect --html`: one HTML file to look at."""
        path = path_of(path)
        if self._page is None:
            if self._draw is None:
                raise ValueError("this inspection was pickled without its page; inspect the matrix again, or write the "
                                 "page before pickling")
            self._page = self._draw()
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page)


def inspect(X, y=None, *, distance=False, input=None, threads=None, blas_threads=None, verbose=False):
    """Describes similarities: classes, symmetry, range, missing pairs, how indefinite, what to try."""
    given = _arrays.as_list(X)
    names = _arrays.names_of(X)
    first = given[0]
    given, ids = _arrays.matched(given)
    matrices = [(name, _arrays.square(one, True, True, name), far)
                for name, one, far in zip(names, given, _arrays.distances(input, distance, names))]
    labels = [] if y is None else class_texts(classes_of(_arrays.by_id(y, ids, first)).tolist())
    warn_of_doubts(X, matrices, labels)

    def run(page):
        with run_options(threads, blas_threads, 1, verbose) as options:
            return _core.inspect(matrices, labels, ids, texts_of(input), page, options)

    facts, text, _ = run(False)
    return Inspection(json.loads(facts), text, lambda: run(True)[2])
