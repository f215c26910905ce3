# SPDX-License-Identifier: Apache-2.0
"""What a matrix is, before anything is learned from it."""
import html
import json

from . import _arrays, _core, _samples
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


def _own_data(X, data, measure, distance, input):
    """What is inspected, as the library takes it."""
    if (X is None) == (data is None):
        raise ValueError("give similarities X or raw samples, data=, and not both")
    if (data is None) != (measure is None):
        raise ValueError("raw samples, data=, are inspected by a measure=, and a measure is of raw samples")
    own = _core.Data()
    if data is not None:
        _samples.check_no_distance(distance)
        own.measures = _samples.measured(measure, data)
        return own
    names = _arrays.names_of(X)
    given, own.ids = _arrays.matched(_arrays.as_list(X))
    own.matrices = [(name, _arrays.square(one, True, True, name), far, column)
                    for name, one, far, column in zip(names, given, _arrays.distances(input, distance, names),
                                                      _arrays.score_columns(X))]
    return own


def inspect(X=None, y=None, *, data=None, measure=None, distance=False, input=None, threads=None, blas_threads=None,
            verbose=False):
    """Describes similarities: classes, symmetry, range, missing pairs, duplicates, how indefinite, what to try.
    Raw samples in place of X are `data`, of which `measure` computes the pairs, as in `evaluate`."""
    own = _own_data(X, data, measure, distance, input)
    first = _samples.leading(X if data is None else data, measure)
    labels = [] if y is None else class_texts(classes_of(
        _arrays.by_id(y, own.ids or _arrays.sample_ids(first), first)).tolist())
    doubts = warn_of_doubts(own.matrices, labels) if own.matrices else []

    def run(page):
        with run_options(threads, blas_threads, 1, verbose) as options:
            return _core.inspect(own, labels, texts_of(input), doubts, page, options)

    facts, text, _ = run(False)
    return Inspection(json.loads(facts), text, lambda: run(True)[2])
