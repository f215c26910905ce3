# SPDX-License-Identifier: Apache-2.0
"""Texts between Python and the library: settings, names and paths."""
import contextlib
import keyword as _words
import operator
import os

import numpy as np


def as_text(value, what):
    """A name as the library has it, which is UTF-8."""
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} is {text!r}, which is no text in Unicode") from None
    return text


def as_texts(values, what):
    """Names of classes or samples."""
    return [as_text(one, what) for one in as_items(values, what)]


def as_items(values, what):
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ValueError(f"{values!r} is given where a list is wanted: {what} for each")
    return values


def path_of(path):
    """The name of a file, from what `open` takes as one; TypeError where it is none."""
    text = os.fsdecode(path)
    with contextlib.suppress(UnicodeEncodeError):
        os.fsencode(text)
        if text and "\0" not in text:
            return text
    raise ValueError(f"{text!r} is no name of a file")


def library_path(path):
    """The same as the library takes it: names need not be UTF-8."""
    return os.fsencode(path_of(path))


def truth_of(value, what):
    """Of a bool, or of a word as settings have it."""
    words = {"yes": True, "true": True, "no": False, "false": False}
    if isinstance(value, str) and value in words:
        return words[value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{what} is {value!r}, and must be True or False")


def class_text(value, what="a class"):
    """A class as files have it. Whole numbers are the same classes whether they came as 1 or as 1.0."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(value) < 2 ** 53:
        value = int(value)
    return as_text(value, what)


def class_texts(values, what="a class"):
    return [class_text(one, what) for one in as_items(values, what)]


def text_of(value, key=""):
    """A setting as a user of the command line would type it."""
    what = key or "a setting"
    if isinstance(value, str):
        return as_text(value, what)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ",".join(f"{_name(name, what)}={text_of(number, what)}" for name, number in value.items())
    with contextlib.suppress(TypeError):
        return str(operator.index(value))
    with contextlib.suppress(TypeError, ValueError):
        return repr(float(value))
    raise ValueError(f"{what} is {value!r}, and must be a number, a text or a truth value")


def _name(name, what):
    # {("a", "b"): 5}: a sample of a called b costs 5.
    return as_text(":".join(map(class_text, name)) if isinstance(name, tuple) else class_text(name), what)


def keyword(name):
    """A setting as Python spells it: "test-treatment" is test_treatment, "lambda" is lambda_."""
    word = name.replace("-", "_")
    return word + "_" if _words.iskeyword(word) else word


def setting(word):
    """The other way round."""
    if not isinstance(word, str):
        raise ValueError(f"{word!r} is no name of a setting")
    return as_text(word, "a setting").rstrip("_").replace("_", "-")


def check_dict(settings, what="settings and their values"):
    if settings is not None and not hasattr(settings, "items"):
        raise ValueError(f"{settings!r} must be a dict of {what}")
    return settings or {}


def texts_of(settings):
    """{"test_treatment": "none"} as {"test-treatment": "none"}."""
    return {setting(key): text_of(value, key) for key, value in check_dict(settings).items()}
