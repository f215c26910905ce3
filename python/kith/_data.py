# SPDX-License-Identifier: Apache-2.0
"""What several methods learn from, as the library takes it."""
from . import _arrays, _core, _samples


def own_data(X, data, measure, methods, distance, input, allow_sparse=True):
    """Similarities X or raw samples, of which `measure` computes them; vectors where some of the methods take those."""
    if (X is None) == (data is None):
        raise ValueError("give similarities X or raw samples, data=, and not both")
    from_vectors, from_similarities, _ = _core.needs(methods)
    own = _core.Data()
    if data is None and measure is not None:
        raise ValueError("a measure is of raw samples: give them as data=")
    if data is None and (from_similarities or not from_vectors):
        if from_vectors:
            raise ValueError("some of the methods learn from vectors, others from similarities: give the vectors "
                             "as data= and a measure= of them")
        given, columns = _arrays.as_list(X), _arrays.score_columns(X)
        missing = _arrays.allows_missing(input)
        names = _arrays.names_of(X)
        given, own.ids = _arrays.matched(given)
        own.matrices = [(label, _arrays.square(one, allow_sparse, missing, label), far, column)
                        for label, one, far, column in zip(names, given, _arrays.distances(input, distance, names),
                                                           columns)]
        return own
    samples = X if data is None else data
    _samples.check_no_distance(distance)
    if measure is not None:
        own.measures = _samples.measured(measure, samples)
    elif from_similarities:
        raise ValueError("methods that learn from similarities need a measure= of the samples")
    if from_vectors:
        if own.measures and _samples.MEASURES[own.measures[0][1]]["data"] != "vectors":
            raise ValueError(f"some of the methods learn from vectors, and {own.measures[0][1]} is no measure of them")
        own.vectors = own.measures[0][3] if own.measures else _samples.prepared(samples, "vectors")
    return own
