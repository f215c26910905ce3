# SPDX-License-Identifier: Apache-2.0
"""Similarities from raw samples: one function per measure of `kith measure`.

>>> import kith
>>> kith.measure.edit(["kitten", "sitting"]).round(3)
array([[1.   , 0.571],
       [0.571, 1.   ]])
>>> kith.measure.edit(["bitten"], against=["kitten", "sitting"]).round(3)
array([[0.833, 0.571]])

The names work wherever a measure is asked for: `kith.SVM(measure="edit")`, `kith.evaluate(data=words, ...)`.
"""
import inspect as _signatures

from . import _core
from . import _samples as _raw
from ._estimators import default_of as _default_of
from ._hints import unknown_settings as _unknown_settings
from ._labels import classes_of as _classes_of
from ._run import run_options as _run_options
from ._texts import as_items as _as_items
from ._texts import class_texts as _class_texts
from ._texts import keyword as _keyword
from ._texts import texts_of as _texts_of

#: Two samples of each kind.
_EXAMPLES = {
    "strings": "['kitten', 'sitting']", "vectors": "[[1.0, 2.0], [3.0, 4.0]]", "series": "[[1.0, 2.0, 3.0], [2.0, 3.0]]",
    "sequences": "['HEAGAWGHEE', 'PAWHEAE']", "sets": "[{'red', 'green'}, {'red', 'blue'}]",
    "categories": "[['red', 'round'], ['red', 'flat']]",
}


def _make(name, info):
    defaults = {_keyword(field["name"]): _default_of(field) for field in info["settings"]}

    def function(samples, against=None, labels=None, *, seed=1, threads=None, verbose=False,
                 **settings):
        unknown = set(settings) - set(defaults)
        if unknown:
            raise _unknown_settings(name, unknown, list(defaults))
        given = {key: value for key, value in settings.items() if value is not None}
        texts = [] if labels is None else _class_texts(_classes_of(_as_items(labels, "a class")).tolist())
        rows = _raw.prepared(samples, info["data"])
        columns = None if against is None else _raw.prepared(against, info["data"])
        single = info["data"] in ("vectors", "series") and _raw.are_single(samples, against)
        with _run_options(threads, None, seed, verbose) as options:
            return _core.measure(name, rows, columns, texts, _texts_of(given), single, options)

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
    summary = info["summary"]
    lines = [f"{summary[0].upper()}{summary[1:]}: {what}.", "",
             f"samples : {_raw.WORDS[info['data']]}",
             "against : samples that become the columns; None: all pairs of `samples`"]
    if info["labels"]:
        lines.append("labels : classes of the samples of `against`, or else of `samples`")
    for field in info["settings"]:
        lines += [f"{_keyword(field['name'])} : default {_default_of(field)!r}",
                  f"    {field['help']}; {field['rule']}"]
    if info["data"] in ("vectors", "series"):
        lines += ["", "Numbers of float32 give values of float32; they are computed in double precision."]
    classes = ", labels=['one', 'other']" if info["labels"] else ""
    lines += ["", "Example", "-------", ">>> import kith",
              f">>> S = kith.measure.{function.__name__}({_EXAMPLES[info['data']]}{classes})",
              ">>> S.shape", "(2, 2)"]
    function.__doc__ = "\n".join(lines)
    function.measure = name
    return function


__all__ = []
for _name, _info in _raw.MEASURES.items():
    globals()[_name.replace("-", "_")] = _make(_name, _info)
    __all__.append(_name.replace("-", "_"))
del _name, _info
