# SPDX-License-Identifier: Apache-2.0
"""How a call is run: threads, seed, progress, errors."""
import contextlib
import sys
import warnings

from . import _arrays, _core, _progress


@contextlib.contextmanager
def run_options(threads=None, blas_threads=None, seed=1, verbose=False):
    """Options of a run. With `verbose` progress goes to tqdm where it is installed, else to standard error as
    messages do."""
    progress = _progress.shown() if verbose else None
    try:
        yield _core.RunOptions(
            threads=_count("threads", threads), blas_threads=_count("blas_threads", blas_threads),
            seed=seed_of(seed), progress=progress,
            message=(lambda text: print("kith:", text, file=sys.stderr)) if verbose else None)
    finally:
        if progress is not None:
            progress.close()


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


def warn_unless_solved(status, who, stacklevel=3):
    if status not in _core.ended_as_asked:
        from sklearn.exceptions import ConvergenceWarning
        warnings.warn(f"{who}: the solver missed its tolerance: {status}", ConvergenceWarning, stacklevel=stacklevel)


def warn_of_notes(notes, stacklevel=3):
    """What a search says of itself: values chosen at the end of a grid, settings that change nothing."""
    for one in notes:
        warnings.warn(one, UserWarning, stacklevel=stacklevel)


def warn_of_doubts(matrices, labels, stacklevel=3):
    """Warns, as the command line does, of numbers that look like something else than they are given as; returns what
    it says, with mentions that `_core.spelled` spells."""
    doubts = _core.doubts(matrices, labels)
    for text in doubts:
        warnings.warn(_core.spelled(text), UserWarning, stacklevel=stacklevel)
    return doubts


def warn_of_comparison(results):
    """Of methods that could not be fitted, and of solvers that missed their tolerance."""
    from sklearn.exceptions import FitFailedWarning
    for one in results["failures"]:
        warnings.warn(f"{one['method']} failed on partition {one['partition']} and was left out: {one['message']}",
                      FitFailedWarning, stacklevel=3)
    for one in results["methods"]:
        if one["certificate"]:
            warn_unless_solved(one["certificate"]["status"], one["method"], stacklevel=4)
