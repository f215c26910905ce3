# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks of estimators, on every class."""
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import kith
from estimators_test import CLASSES

#: The checks predict from rows alone, on matrices whose diagonal is not constant. Where the default
#: treatment of new samples asks for their similarity to themselves, one that does not is checked.
ROWS_ALONE = {"robust-svm", "full-kernel-svm", "eskl", "emkl"}


def checked(kind):
    return kind(test_treatment="map") if kind._method in ROWS_ALONE else kind()


@pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)
def test_a_class_passes_every_check(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(checked(kind))


def test_spectrum_passes_every_check():
    check_estimator(kith.Spectrum())


def test_only_those_methods_need_more_than_rows():
    for kind in CLASSES:
        default = getattr(kind(), "test_treatment", None)
        assert (default == "sample") == (kind._method in ROWS_ALONE), kind
