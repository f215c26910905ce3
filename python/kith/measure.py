# SPDX-License-Identifier: Apache-2.0
"""Similarities from raw samples: one function per measure of `kith measure`.

>>> import kith
>>> kith.measure.edit(["kitten", "sitting"]).round(3)
array([[1.   , 0.571],
       [0.571, 1.   ]])
>>> kith.measure.edit(["bitten"], against=["kitten", "sitting"]).round(3)
array([[0.833, 0.571]])
"""
import inspect as _signatures
import json as _json

import numpy as _np

from . import _core
from ._estimators import default_of as _default_of
from ._run import keyword as _keyword
from ._run import run_options as _run_options
from ._run import texts_of as _texts_of

_MEASURES = {one["name"]: one for one in _json.loads(_core.measures())}
_SAMPLES = {
    "strings": "texts", "vectors": "an array with a sample per row",
    "series": "one sequence of numbers per sample, of any length", "sequences": "protein or DNA sequences",
    "sets": "one collection of words per sample", "categories": "one row of categories per sample",
}


def _prepared(samples, kind):
    if samples is None:
        return None
    if kind == "vectors":
        return _np.asarray(samples, dtype=float)
    if kind == "series":
        return [_np.asarray(one, dtype=float).ravel().tolist() for one in samples]
    if kind in ("sets", "categories"):
        return [[str(word) for word in (sorted(one) if isinstance(one, (set, frozenset)) else one)]
                for one in samples]
    return [str(one) for one in samples]


def _make(name, info):
    defaults = {_keyword(field["name"]): _default_of(field) for field in info["settings"]}

    def function(samples, against=None, labels=None, *, seed=1, threads=None, verbose=False,
                 **settings):
        unknown = set(settings) - set(defaults)
        if unknown:
            raise TypeError(f"{name} has no setting {sorted(unknown)[0]!r}; it has {', '.join(defaults)}")
        given = {key: value for key, value in settings.items() if value is not None}
        texts = [] if labels is None else [str(one) for one in labels]
        with _run_options(threads, None, seed, verbose) as options:
            return _core.measure(name, _prepared(samples, info["data"]),
                                 _prepared(against, info["data"]), texts, _texts_of(given), options)

    parameter = _signatures.Parameter
    function.__name__ = function.__qualname__ = name.replace("-", "_")
    own = [parameter(key, parameter.KEYWORD_ONLY, default=value) for key, value in defaults.items()]
    function.__signature__ = _signatures.Signature(
        [parameter("samples", parameter.POSITIONAL_OR_KEYWORD),
         parameter("against", parameter.POSITIONAL_OR_KEYWORD, default=None),
         parameter("labels", parameter.POSITIONAL_OR_KEYWORD, default=None), *own,
         parameter("seed", parameter.KEYWORD_ONLY, default=1),
         parameter("threads", parameter.KEYWORD_ONLY, default=None),
         parameter("verbose", parameter.KEYWORD_ONLY, default=False)])
    what = "distances" if info["distance"] else "similarities"
    lines = [f"{info['summary'][0].upper()}{info['summary'][1:]}: {what}.", "",
             f"samples : {_SAMPLES[info['data']]}",
             "against : samples that become the columns; None: all pairs of `samples`"]
    if info["labels"]:
        lines.append("labels : classes of the samples of `against`, or else of `samples`")
    for field in info["settings"]:
        lines += [f"{_keyword(field['name'])} : default {_default_of(field)!r}", f"    {field['help']}; {field['rule']}"]
    function.__doc__ = "\n".join(lines)
    return function


__all__ = []
for _name, _info in _MEASURES.items():
    globals()[_name.replace("-", "_")] = _make(_name, _info)
    __all__.append(_name.replace("-", "_"))
del _name, _info
