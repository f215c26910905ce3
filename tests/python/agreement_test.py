# SPDX-License-Identifier: Apache-2.0
"""What is said twice, or in two places, must agree: orders of samples, names, counts and kinds."""
import warnings

import numpy as np
import pandas
import pytest

import kith

WORDS = ["kitten", "mitten", "bitten", "sitting", "fitting", "hitting"]
ENDING = [0, 0, 0, 1, 1, 1]


def test_classes_go_to_their_samples_whatever_the_order_of_a_dict(binary):
    ids = [f"s{i}" for i in range(30)]
    y = pandas.Series(binary.y, index=ids)
    one = pandas.DataFrame(binary.S, index=ids, columns=ids)
    other = one.sample(frac=1, random_state=1)
    measures = {"p": "gaussian", "q": "linear"}
    models = [kith.AverageSVM(measure=measures).fit(given, y) for given in ({"p": one, "q": other}, {"q": other, "p": one})]
    scores = [model.score({"p": one, "q": other}, y) for model in models]
    assert scores[0] == scores[1] == models[0].score({"q": other, "p": one}, y)
    found = [kith.evaluate(data=given, y=y, measure=measures, methods="average-svm", repeats=2, folds=2).rows
             for given in ({"p": one, "q": other}, {"q": other, "p": one})]
    assert found[0] == found[1]
    model = kith.AverageSVM().fit({"p": one, "q": one}, y)
    assert model.score({"p": one, "q": other}, y) == model.score({"q": other, "p": one}, y)


def test_partitions_count_the_samples_that_were_given(binary):
    S = binary.S.copy()
    S[3, 12] = S[20, 21] = np.nan
    kept = np.array(kith.SVM(input={"missing": "drop-sample"}).fit(S, binary.y)._kept)
    assert len(kept) == 28
    order = np.random.default_rng(0).permutation(30)
    train, test = np.sort(order[:20]), np.sort(order[20:])
    folds = np.arange(20) % 2
    where = {sample: i for i, sample in enumerate(kept)}
    there = np.isin(train, kept)
    own = ([where[i] for i in train[there]], [where[i] for i in test if i in where], folds[there])
    settings = {"methods": "svm-clip", "grids": {"svm-clip": {"cost": [1]}}}
    found = kith.evaluate(S, binary.y, input={"missing": "drop-sample"}, partitions=[(train, test, folds)], **settings)
    expected = kith.evaluate(S[np.ix_(kept, kept)], binary.y[kept], partitions=[own], **settings)
    assert found.rows[0]["errors"] == expected.rows[0]["errors"]
    with pytest.raises(ValueError, match="not among the 30 samples"):
        kith.evaluate(S, binary.y, input={"missing": "drop-sample"}, partitions=[(train, [30], folds)], **settings)


def test_neighbours_are_the_nearest_by_the_distances_as_given(binary):
    rng = np.random.default_rng(6)
    D = rng.uniform(1, 9, size=(37, 37))
    D = D + D.T
    np.fill_diagonal(D, 0)
    own, rows = D[:30, :30], D[30:, :30]
    nearest = binary.y[np.argmin(rows, axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for model in (kith.KNN(neighbours=1, distance=True), kith.KNN(neighbours=1, distance=True, input={"from_distance": "negative"})):
            np.testing.assert_array_equal(model.fit(own, binary.y).predict(rows), nearest)
        expected = kith.SVM(distance=True, input={"from_distance": "double-centre"}).fit(own, binary.y)
        np.testing.assert_array_equal(kith.SVM(distance=True).fit(own, binary.y).decision_function(rows),
                                      expected.decision_function(rows))


def test_samples_of_each_measure_are_asked_for_again():
    model = kith.AverageSVM(measure={"a": "edit", "b": "edit"}).fit({"a": WORDS, "b": [one[::-1] for one in WORDS]}, ENDING)
    with pytest.raises(ValueError, match="samples of its own; give a dict of a, b"):
        model.predict(WORDS)


def test_columns_that_are_numbers_are_matched_by_measures_too():
    rng = np.random.default_rng(4)
    X = pandas.DataFrame(rng.normal(size=(30, 6)))
    y = np.where(X[0] > 0, "up", "down")
    for model in (kith.VectorSVM(), kith.SVM(measure="gaussian")):
        np.testing.assert_array_equal(model.fit(X, y).decision_function(X[[5, 3, 1, 0, 2, 4]]), model.decision_function(X))


@pytest.mark.parametrize("measure", [[], {}, (), {"a": ["edit", "spectrum"], "b": "edit"}])
def test_measures_that_are_none_or_several_under_one_name_are_refused(measure):
    with pytest.raises(ValueError, match="names none|'a' stands for 2 measures"):
        kith.SVM(measure=measure).fit(WORDS, ENDING)
    with pytest.raises(ValueError, match="names none|'a' stands for 2 measures"):
        kith.evaluate(data=WORDS, y=ENDING, measure=measure, methods=["knn"])


def test_categories_are_the_same_as_whole_numbers_and_as_floats():
    X = pandas.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    model = kith.SVM(measure="value-difference").fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(X.astype(float)), model.predict(X))
    with pytest.raises(ValueError, match="sample 2 has no value"):
        model.predict(pandas.DataFrame({"a": [1, np.nan], "b": [1, 2]}))


def test_a_setting_that_is_none_is_no_default(binary):
    with pytest.raises(ValueError, match="spectrum is None, and must be none, clip"):
        kith.SVM(spectrum=None).fit(binary.S, binary.y)
    with pytest.raises(ValueError, match="cost is None"):
        kith.SVM(cost=None).fit(binary.S, binary.y)


def test_texts_of_numbers_are_still_the_classes_after_loading(binary, tmp_path):
    y = np.where(binary.y == "ant", "1", "2")
    model = kith.SVM().fit(binary.S, y)
    kith.save(model, tmp_path / "m.kith")
    assert kith.load(tmp_path / "m.kith").score(binary.S, y) == model.score(binary.S, y) > 0.8


def test_what_is_common_may_be_said_of_the_method_in_another_form(binary):
    D, few = np.abs(12 - binary.S), {"repeats": 2, "folds": 2}
    kith.evaluate([D, D], binary.y, [kith.MKL(distance=[True, True])], distance=True, **few)
    kith.evaluate({"a": D, "b": binary.S}, binary.y, [kith.MKL(distance=[True, False])], distance={"a": True, "b": False}, **few)
    kith.evaluate(data=WORDS, y=ENDING, methods=[kith.SVM(measure="edit")], measure=kith.measure.edit, **few)
    kith.evaluate([binary.S, D], binary.y, [kith.MKL(distance=[False, False])], **few)
    with pytest.raises(ValueError, match="for this method alone"):
        kith.evaluate([binary.S, D], binary.y, [kith.MKL(distance=[False, True])], **few)


def test_what_could_not_be_read_back_is_not_written(binary, tmp_path):
    twice = pandas.DataFrame(np.eye(2), index=["a", "a"], columns=["a", "b"])
    for X in (np.full((2, 2), np.inf), np.zeros((0, 0)), twice, twice.set_axis(["", "b"]), np.full((2, 2), np.inf, np.float32)):
        for name in ("x.csv", "x.npy"):
            with pytest.raises(ValueError):
                kith.write(tmp_path / name, X)
            assert not (tmp_path / name).exists()


def test_probabilities_that_are_off_in_any_words_are_not_there(binary):
    for off in (False, np.False_, "no"):
        assert not hasattr(kith.SVM(probability=off), "predict_proba")
    assert hasattr(kith.SVM(probability="yes"), "predict_proba")
