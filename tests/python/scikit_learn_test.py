# SPDX-License-Identifier: Apache-2.0
"""Inside scikit-learn: cross-validation, grid search, pipelines, clones, tags."""
import types

import numpy as np
import pandas
import pytest
from hypothesis import given, settings, strategies
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import kith
from conftest import Sample


def test_cross_validation_cuts_rows_and_columns(three):
    errors = cross_val_score(kith.SVM(), three.S, three.y, cv=4)
    assert len(errors) == 4 and errors.mean() > 0.6
    train, test = np.arange(24), np.arange(24, 36)
    own = kith.SVM().fit(three.S[np.ix_(train, train)], three.y[train])
    again = cross_val_score(kith.SVM(), three.S, three.y, cv=[(train, test)])
    assert again[0] == own.score(three.S[np.ix_(test, train)], three.y[test])


def test_clones_have_the_settings_and_nothing_else(binary):
    model = kith.SpectrumSVM(gamma=0.5, centre="flip").fit(binary.S, binary.y)
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "model_")
    copy.set_params(gamma=2.0)
    assert copy.gamma == 2.0 and model.gamma == 0.5
    assert "gamma=0.5" in repr(model)


def test_other_estimators_can_be_built_on_ours(three):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import VotingClassifier
    # It cuts samples, not pairs, so that it takes what learns from samples.
    calibrated = CalibratedClassifierCV(kith.SVM(measure="linear", probability=False), cv=3)
    calibrated.fit(three.points[:36], three.y)
    assert calibrated.predict_proba(three.points[36:]).shape == (7, 3)
    voting = VotingClassifier([("svm", kith.SVM()), ("knn", kith.KNN())], voting="soft").fit(three.S, three.y)
    assert set(voting.predict(three.rows)) <= set(three.y)


def test_spectrum_before_svc_is_our_svm():
    sample = Sample(n=40)
    pipe = make_pipeline(kith.Spectrum("clip"), SVC(kernel="precomputed", C=2.0, tol=1e-8))
    pipe.fit(sample.S, sample.y)
    own = kith.SVM(spectrum="clip", cost=2.0).fit(sample.S, sample.y)
    np.testing.assert_allclose(pipe.decision_function(sample.rows), own.decision_function(sample.rows),
                               atol=1e-4)
    assert cross_val_score(pipe, sample.S, sample.y, cv=4).shape == (4,)


@pytest.mark.parametrize("spectrum", ["clip", "flip", "square"])
def test_spectrum_treats_training_samples_as_it_treats_new_ones(binary, spectrum):
    transformer = kith.Spectrum(spectrum)
    kernel = transformer.fit_transform(binary.S)
    np.testing.assert_allclose(transformer.transform(binary.S), kernel, atol=1e-9 * np.abs(kernel).max())
    assert transformer.consistency_ < 1e-12
    assert np.linalg.eigvalsh(kernel)[0] > -1e-9 * np.abs(kernel).max()


def test_grid_search_equals_evaluate_on_the_same_folds(three):
    n = len(three.y)
    rng = np.random.default_rng(3)
    order = rng.permutation(n)
    train, test = np.sort(order[:28]), np.sort(order[28:])
    folds = np.arange(28) % 4
    costs = [0.01, 0.1, 1.0, 10.0]
    search = GridSearchCV(kith.SVM(spectrum="flip", probability=False), {"cost": costs},
                          cv=PredefinedSplit(folds))
    search.fit(three.S[np.ix_(train, train)], three.y[train])
    # The protocol tr leaves the similarities as they are, as GridSearchCV does.
    found = kith.evaluate(three.S, three.y, "svm-flip", protocol="tr", grids={"svm-flip": {"cost": costs}},
                          partitions=[(train, test, folds)])
    chosen = found.results["methods"][0]["chosen"][0]["cost"]
    # Among equally good costs evaluate takes the smallest, as GridSearchCV takes the first.
    assert float(chosen) == search.best_params_["cost"]
    error = 1 - search.score(three.S[np.ix_(test, train)], three.y[test])
    assert found.rows[0]["error"] == pytest.approx(error)
    # The same from a pipeline, whose steps are cut with the folds.
    pipe = make_pipeline(kith.Spectrum("flip"), kith.SVM(spectrum="none", probability=False))
    piped = GridSearchCV(pipe, {"svm__cost": costs}, cv=PredefinedSplit(folds))
    piped.fit(three.S[np.ix_(train, train)], three.y[train])
    np.testing.assert_allclose(piped.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert piped.best_params_["svm__cost"] == search.best_params_["cost"]
    assert 1 - piped.score(three.S[np.ix_(test, train)], three.y[test]) == pytest.approx(error)


def test_the_tag_of_newer_releases_says_pairwise(monkeypatch):
    # Debian's scikit-learn has no __sklearn_tags__ to inherit: a stand-in with the fields of 1.6.
    tags = types.SimpleNamespace(
        input_tags=types.SimpleNamespace(pairwise=False, allow_nan=False, sparse=False),
        transformer_tags=types.SimpleNamespace(preserves_dtype=["float64"]))
    for base in (kith.SimilarityClassifier.__mro__[2], kith.Spectrum.__mro__[2]):
        monkeypatch.setattr(base, "__sklearn_tags__", lambda self: tags, raising=False)
    assert kith.KNN().__sklearn_tags__().input_tags.pairwise
    assert kith.KNN().__sklearn_tags__().input_tags.sparse
    assert not kith.SVM().__sklearn_tags__().input_tags.sparse
    assert kith.LinearMSVM().__sklearn_tags__().input_tags.sparse
    assert kith.Spectrum().__sklearn_tags__().input_tags.pairwise
    assert "float32" in kith.Spectrum().__sklearn_tags__().transformer_tags.preserves_dtype
    assert not kith.VectorSVM().__sklearn_tags__().input_tags.pairwise
    assert not kith.SVM(measure="edit").__sklearn_tags__().input_tags.pairwise
    assert kith.SVM()._get_tags()["pairwise"] and not kith.SVM(measure="edit")._get_tags()["pairwise"]


def test_the_keyword_of_newer_releases_is_used_where_there_is_one():
    from kith._arrays import finite_keyword

    def newer(array, *, ensure_all_finite=True):
        """As in 1.8."""
    assert finite_keyword(newer) == "ensure_all_finite"


@settings(max_examples=20, deadline=None)
@given(seed=strategies.integers(0, 10 ** 6), scale=strategies.floats(1e-3, 1e3))
def test_the_order_of_samples_does_not_matter(seed, scale):
    sample = Sample(seed=7)
    order = np.random.default_rng(seed).permutation(len(sample.y))
    model = kith.SVM(cost=1 / scale).fit(scale * sample.S, sample.y)
    other = kith.SVM(cost=1 / scale).fit(scale * sample.S[np.ix_(order, order)], sample.y[order])
    np.testing.assert_allclose(model.decision_function(scale * sample.rows),
                               other.decision_function(scale * sample.rows[:, order]), atol=1e-3)


def test_a_pipeline_of_frames_keeps_ids(binary):
    ids = [f"s{i}" for i in range(30)]
    frame, rows = pandas.DataFrame(binary.S, index=ids, columns=ids), pandas.DataFrame(binary.rows, columns=ids)
    plain = make_pipeline(kith.Spectrum(), kith.SVM()).fit(binary.S, binary.y)
    pipe = make_pipeline(kith.Spectrum(), kith.SVM()).set_output(transform="pandas")
    for S, new in ((binary.S, binary.rows), (frame, rows), (frame, rows[ids[::-1]])):
        np.testing.assert_array_equal(pipe.fit(S, binary.y).predict(new), plain.predict(binary.rows))
    assert list(pipe[0].transform(rows).columns) == ids


def test_diffusion_has_the_strength_of_the_support_vector_machine(binary):
    for S in (binary.S, 40 * binary.S):
        kernel = kith.Spectrum("diffusion").fit_transform(S)
        largest = np.abs(np.linalg.eigvalsh(S)).max()
        np.testing.assert_allclose(kernel, kith.Spectrum("diffusion", beta=1 / largest).fit_transform(S), rtol=1e-9)
        own = kith.SVM(spectrum="diffusion", probability=False).fit(S, binary.y)
        theirs = SVC(kernel="precomputed").fit(kernel, binary.y)
        np.testing.assert_allclose(theirs.decision_function(kernel), kith.SVM(spectrum="none", probability=False).fit(
            kernel, binary.y).decision_function(kernel), atol=1e-2)
        assert own.certificate_["objective"] == pytest.approx(
            kith.SVM(spectrum="none", probability=False).fit(kernel, binary.y).certificate_["objective"], rel=1e-3)
    np.testing.assert_allclose(kith.Spectrum("diffusion").fit_transform(np.zeros((3, 3))), np.eye(3), atol=1e-12)
    for wrong in (0, -1, np.nan, np.inf, None, "big"):
        with pytest.raises(ValueError, match="beta is .* above 0, or 'auto'"):
            kith.Spectrum("diffusion", beta=wrong).fit(binary.S)
