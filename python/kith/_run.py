# SPDX-License-Identifier: Apache-2.0
"""How a call is run: threads, seed, progress, and settings as the library takes them."""
import contextlib
import keyword as _words
import operator
import sys
import warnings

from . import _core


def text_of(value, key=""):
    """A setting as a user of the command line would type it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool,)) or type(value).__name__ == "bool_":
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ",".join(f"{_name(name)}={text_of(number)}" for name, number in value.items())
    with contextlib.suppress(TypeError):
        return str(operator.index(value))
    with contextlib.suppress(TypeError, ValueError):
        return repr(float(value))
    raise ValueError(f"{key or 'a setting'} is {value!r}, and must be a number, a text or a truth value")


def _name(name):
    # {("a", "b"): 5}: a sample of a called b costs 5.
    return ":".join(map(str, name)) if isinstance(name, tuple) else str(name)


def keyword(name):
    """A setting as Python spells it: "test-treatment" is test_treatment, "lambda" is lambda_."""
    word = name.replace("-", "_")
    return word + "_" if _words.iskeyword(word) else word


def setting(word):
    """The other way round."""
    return word.rstrip("_").replace("_", "-")


def as_texts(values, what):
    """Names of classes or samples as the library has them, which is UTF-8."""
    texts = [str(one) for one in values]
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{what} is {text!r}, which is no text in Unicode") from None
    return texts


def texts_of(settings):
    """{"test_treatment": "none"} as {"test-treatment": "none"}."""
    if settings is not None and not hasattr(settings, "items"):
        raise ValueError(f"{settings!r} must be a dict of settings and their values")
    return {setting(key): text_of(value, key) for key, value in (settings or {}).items()}


class _Bar:
    """Progress through tqdm."""

    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._stage = None
        self._bar = None

    def __call__(self, stage, done, total, at_hand):
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total if total > 0 else None, desc=stage, file=sys.stderr)
        if at_hand:
            self._bar.set_postfix_str(at_hand, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def run_options(threads=None, blas_threads=None, seed=1, verbose=False):
    """Options of a run; with `verbose` progress goes to tqdm where it is installed, messages to
    standard error."""
    bar = None
    if verbose:
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm
            bar = _Bar(tqdm)
    try:
        yield _core.RunOptions(
            threads=_count("threads", threads), blas_threads=_count("blas_threads", blas_threads),
            seed=seed_of(seed), progress=bar,
            message=(lambda text: print("kith:", text, file=sys.stderr)) if verbose else None)
    finally:
        if bar is not None:
            bar.close()


def _count(name, value):
    if value is None:
        return 0
    if not hasattr(value, "__index__") or value.__index__() < 1:
        raise ValueError(f"{name} is {value!r}, and must be a whole number from 1, or None")
    return min(value.__index__(), 4096)


def seed_of(value):
    if not hasattr(value, "__index__") or not 0 <= value.__index__() < 2 ** 64:
        raise ValueError(f"seed is {value!r}, and must be a whole number from 0 to {2 ** 64 - 1}")
    return value.__index__()


def warn_unless_solved(status, who):
    if status not in _core.met_statuses:
        from sklearn.exceptions import ConvergenceWarning
        warnings.warn(f"{who}: the solver missed its tolerance: {status}", ConvergenceWarning,
                      stacklevel=3)
