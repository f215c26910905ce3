# SPDX-License-Identifier: Apache-2.0
"""Models and comparisons straight from raw samples and from vectors, as the command line has them."""
import doctest
import json
import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import kith
from conftest import Sample
from estimators_test import read_predictions

WORDS = ["kitten", "mitten", "bitten", "kitchen", "mittens", "sitting", "fitting", "sitter", "hitting",
         "splitting", "bitter", "bittern", "knitting", "spitting", "kittens", "pitting"]
ENDING = ["ing" if word.endswith("ing") else "other" for word in WORDS]
NEW = ["smitten", "quitting", "litter"]
SERIES = [np.sin(np.arange(8 + i) * (0.3 + 0.4 * (word[-3:] == "ing"))).tolist() for i, word in enumerate(WORDS)]


def write_words(folder):
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "new.txt").write_text("\n".join(NEW) + "\n")
    (folder / "y.txt").write_text("\n".join(ENDING) + "\n")


@pytest.mark.parametrize("measure, text", [
    ("edit", "edit"), (kith.measure.edit_distance, "edit-distance"), ("spectrum:kmer=2", "spectrum:kmer=2"),
    ({"measure": "spectrum", "kmer": 2, "score": "normalised"}, "spectrum:kmer=2,score=normalised")])
@pytest.mark.parametrize("method, kind", [("svm", kith.SVM), ("knn", kith.KNN), ("krr", kith.KRR)])
def test_a_model_of_raw_samples_is_that_of_the_command_line(measure, text, method, kind, tmp_path, program):
    write_words(tmp_path)
    program("train", "--data", "words.txt", "--measure", text, "--labels", "y.txt", "--method", method,
            "--model", "cli.kith", "--quiet")
    labels, columns = read_predictions(program("predict", "--model", "cli.kith", "--data", "new.txt", "--quiet"))
    mine = kind(measure=measure).fit(WORDS, ENDING)
    kith.save(mine, tmp_path / "python.kith")
    for model in (mine, kith.load(tmp_path / "cli.kith"), kith.load(tmp_path / "python.kith"),
                  pickle.loads(pickle.dumps(mine))):
        np.testing.assert_array_equal(model.predict(NEW), labels)
        for i, name in enumerate(model.classes_):
            np.testing.assert_allclose(model._predict(NEW)[1][:, i], columns[f"score:{name}"], rtol=3e-16)
    again, _ = read_predictions(program("predict", "--model", "python.kith", "--data", "new.txt", "--quiet"))
    np.testing.assert_array_equal(again, labels)
    fitted_again = clone(kith.load(tmp_path / "cli.kith")).fit(WORDS, ENDING)
    np.testing.assert_array_equal(fitted_again.predict(NEW), labels)


def test_with_its_measure_taken_away_a_model_takes_rows(tmp_path):
    model = kith.SVM(measure="edit", test_treatment="linear").fit(WORDS, ENDING)
    expected = model.decision_function(NEW)
    rows = kith.measure.edit(NEW, WORDS)
    np.testing.assert_array_equal(model.set_params(measure=None).decision_function(rows), expected)


def test_cross_validation_cuts_raw_samples_as_samples():
    words, y = np.array(WORDS), np.array(ENDING)
    train, test = np.arange(0, 16, 2), np.arange(1, 16, 2)
    found = cross_val_score(kith.SVM(measure="edit"), WORDS, y, cv=[(train, test)])
    S = kith.measure.edit(WORDS)
    own = kith.SVM().fit(S[np.ix_(train, train)], y[train]).score(S[np.ix_(test, train)], y[test])
    assert found[0] == own
    search = GridSearchCV(kith.SVM(), {"measure": ["edit", "spectrum"], "cost": [1, 10]}, cv=2).fit(words, y)
    assert search.best_params_["measure"] in ("edit", "spectrum")
    series = pandas.Series(WORDS, index=[f"w{i}" for i in range(16)])
    np.testing.assert_array_equal(kith.SVM(measure="edit").fit(series, y).predict(series),
                                  kith.SVM(measure="edit").fit(WORDS, y).predict(WORDS))


def test_several_measures_are_of_the_same_samples_or_of_some_each(tmp_path, program):
    write_words(tmp_path)
    both = kith.MKL(measure=["edit", "spectrum"]).fit(WORDS, ENDING)
    program("train", "--data", "words.txt", "--measure", "edit", "--measure", "spectrum", "--labels", "y.txt",
            "--method", "mkl", "--model", "cli.kith", "--quiet")
    theirs = kith.load(tmp_path / "cli.kith")
    assert set(theirs.measure) == {"edit", "spectrum"}
    np.testing.assert_array_equal(both.decision_function(NEW), theirs.decision_function(NEW))
    two = kith.MKL(measure={"text": "edit", "course": "dtw"}).fit({"course": SERIES, "text": WORDS}, ENDING)
    assert set(two.predict({"text": WORDS[:3], "course": SERIES[:3]})) <= set(ENDING)
    assert set(two.certificate_["kernel_weights"]) == {"text", "course"}
    with pytest.raises(ValueError, match="no samples for 'course'"):
        two.predict({"text": WORDS})
    with pytest.raises(ValueError, match="same samples"):
        both.predict({"edit": NEW, "spectrum": NEW})
    with pytest.raises(ValueError, match="there are samples for 'sound', and the measures are text, course"):
        two.predict({"text": WORDS[:3], "course": SERIES[:3], "sound": SERIES[:3]})
    with pytest.raises(ValueError, match="there are samples for 'sound', and the measures are text, course"):
        kith.MKL(measure={"text": "edit", "course": "dtw"}).fit({"course": SERIES, "text": WORDS, "sound": WORDS}, ENDING)


def test_samples_that_are_none_are_refused():
    with pytest.raises(ValueError, match="one text"):
        kith.measure.edit("kitten")
    with pytest.raises(ValueError, match="sample 2 is None"):
        kith.measure.edit(["a", None])
    with pytest.raises(ValueError, match="sample 1 .*numbers"):
        kith.measure.dtw(["abc"])
    with pytest.raises(ValueError, match="'edith' is no measure; there are edit"):
        kith.SVM(measure="edith").fit(WORDS, ENDING)
    with pytest.raises(ValueError, match="measure says itself"):
        kith.SVM(measure="edit", distance=True).fit(WORDS, ENDING)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kith.SVM(measure="edit").fit(WORDS[:-1], ENDING)
    with pytest.raises(ValueError, match="raw samples, and similarities were given"):
        kith.SVM(measure="edit").fit(WORDS, ENDING).predict(NEW, self_similarity=[1, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        kith.measure.gaussian([[0.0, np.nan]])


def errors(text):
    return {one["method"]: one["errors"] for one in json.loads(text)["methods"]}


def test_evaluate_measures_raw_samples(tmp_path, program):
    write_words(tmp_path)
    found = kith.evaluate(data=WORDS, y=ENDING, methods=["knn", "svm-clip"], measure="edit", repeats=2, folds=2)
    theirs = program("evaluate", "--data", "words.txt", "--measure", "edit", "--labels", "y.txt", "--methods",
                     "knn,svm-clip", "--repeats", 2, "--folds", 2, "--json", "--quiet")
    assert {one["method"]: one["errors"] for one in found.rows} == errors(theirs)
    with pytest.raises(ValueError, match="measure"):
        kith.evaluate(data=WORDS, y=ENDING, methods=["knn"])
    with pytest.raises(ValueError, match="not both"):
        kith.evaluate(np.eye(16), ENDING, data=WORDS, measure="edit")
    with pytest.raises(ValueError, match="data="):
        kith.evaluate(WORDS, ENDING, ["knn"], measure="edit")


def test_evaluate_learns_values_from_the_labels_of_training_parts_alone(tmp_path, program):
    rng = np.random.default_rng(4)
    rows = [[f"a{int(v)}" for v in one] for one in rng.integers(0, 4, size=(24, 3))]
    y = ["yes" if row[0] in ("a0", "a1") else "no" for row in rows]
    (tmp_path / "t.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "y.txt").write_text("\n".join(y) + "\n")
    found = kith.evaluate(data=rows, y=y, methods="knn", measure="value-difference", repeats=2, folds=2,
                          input={"from_distance": "negative"})
    theirs = program("evaluate", "--data", "t.csv", "--measure", "value-difference", "--labels", "y.txt", "--methods",
                     "knn", "--repeats", 2, "--folds", 2, "--from-distance", "negative", "--json", "--quiet")
    assert {one["method"]: one["errors"] for one in found.rows} == errors(theirs)


def test_evaluate_takes_vectors(tmp_path, program):
    sample = Sample(n=40)
    X, y = sample.points[:40], sample.y
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.txt").write_text("\n".join(y) + "\n")
    grids = {"vector-svm": {"cost": [0.1, 1]}, "svm-clip": {"cost": [1]}}
    alone = kith.evaluate(X, y, "vector-svm", grids={"vector-svm": grids["vector-svm"]}, repeats=2, folds=2)
    beside = kith.evaluate(data=pandas.DataFrame(X, columns=["a", "b", "c"]), y=y, methods=["vector-svm", "svm-clip"],
                           grids=grids, measure="gaussian", repeats=2, folds=2)
    theirs = program("evaluate", "--data", "x.npy", "--measure", "gaussian", "--labels", "y.txt", "--methods",
                     "vector-svm,svm-clip", "--grid", "vector-svm:cost=0.1,1", "--grid", "svm-clip:cost=1", "--repeats",
                     2, "--folds", 2, "--json", "--quiet")
    assert {one["method"]: one["errors"] for one in beside.rows} == errors(theirs)
    assert alone.rows[0]["errors"] == beside.rows[0]["errors"]
    with pytest.raises(ValueError, match="others from similarities"):
        kith.evaluate(sample.S, sample.y, ["vector-svm", "svm-clip"])
    with pytest.raises(ValueError, match="no measure of them"):
        kith.evaluate(data=WORDS, y=ENDING, methods=["vector-svm", "knn"], measure="edit")


@pytest.mark.parametrize("name", ["LinearMSVM", "NonlinearMSVM", "VectorSVM", "NCAKNN", "LMNNKNN", "SimpleMKL", "RKL"])
def test_sparse_vectors_are_those_with_zeros(name):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((40, 12)) < 0.3, rng.standard_normal((40, 12)), 0)
    y = np.where(X @ rng.standard_normal(12) > 0, "up", "down")
    sparse = scipy.sparse.coo_matrix(X)
    ours, theirs = (getattr(kith, name)().fit(form, y) for form in (sparse, X))
    assert (ours.predict(sparse) == theirs.predict(X)).mean() > 0.9
    assert (ours.predict(sparse) == ours.predict(X)).all()
    assert ours.n_features_in_ == 12


def test_measures_and_evaluate_take_sparse_vectors():
    rng = np.random.default_rng(6)
    X = np.where(rng.random((30, 50)) < 0.1, rng.standard_normal((30, 50)), 0)
    y = np.where(X[:, :25].sum(axis=1) > 0, "up", "down")
    sparse = scipy.sparse.csr_matrix(X)
    np.testing.assert_allclose(kith.measure.gaussian(sparse, gamma=0.2), kith.measure.gaussian(X, gamma=0.2), rtol=1e-12)
    model = kith.SVM(measure="linear").fit(sparse, y)
    np.testing.assert_allclose(model.decision_function(sparse[:5]),
                               kith.SVM(measure="linear").fit(X, y).decision_function(X[:5]), rtol=1e-6)
    both = [kith.evaluate(data=form, y=y, methods=["vector-svm-linear"], repeats=1, folds=3) for form in (sparse, X)]
    assert both[0].rows[0]["errors"] == both[1].rows[0]["errors"]


def test_vectors_of_a_frame_are_matched_by_the_names_of_columns(binary):
    frame = pandas.DataFrame(binary.points[:30], columns=["a", "b", "c"])
    new = pandas.DataFrame(binary.points[30:], columns=["a", "b", "c"])
    model = kith.VectorSVM().fit(frame, binary.y)
    expected = model.decision_function(new)
    np.testing.assert_array_equal(model.decision_function(new[["c", "a", "b"]].assign(d=1.0)), expected)
    np.testing.assert_array_equal(model.decision_function(new.to_numpy()), expected)
    with pytest.raises(ValueError, match="missing.*: b"):
        model.predict(new[["a", "c"]])
    for names in (range(3), [10, 20, 30], [("x", 1), ("x", 2), ("y", 1)]):  # which need not be texts
        frame.columns = new.columns = pandas.Index(names)
        model = kith.VectorSVM().fit(frame, binary.y)
        np.testing.assert_array_equal(model.decision_function(new.iloc[:, [2, 0, 1]]), expected)
    with pytest.raises(ValueError, match="two columns have the name 'a'"):
        kith.VectorSVM().fit(frame.set_axis(["a", "b", "a"], axis=1), binary.y)


def test_samples_dropped_in_training_may_stand_among_the_columns(binary):
    S = binary.S.copy()
    S[2, 5] = S[5, 2] = np.nan
    model = kith.SVM(input={"missing": "drop-sample"}).fit(S, binary.y)
    kept = [i for i in range(30) if i in model._kept]
    assert 28 <= len(kept) < 30
    np.testing.assert_array_equal(model.decision_function(binary.rows),
                                  model.decision_function(binary.rows[:, kept]))


@pytest.mark.parametrize("name", kith.measure.__all__)
def test_the_example_of_each_measure_runs(name):
    function = getattr(kith.measure, name)
    examples, = doctest.DocTestFinder().find(function, name, globs={})
    assert len(examples.examples) == 3 and doctest.DocTestRunner().run(examples).failed == 0
    assert " --" not in function.__doc__  # flags of the command line


def test_classes_for_a_measure_are_checked_as_those_of_a_fit():
    for wrong, message in ((["a", float("nan")], "sample 2 has no class"), (["a", None], "sample 2 has no class")):
        with pytest.raises(ValueError, match=message):
            kith.measure.value_difference([["a", "x"], ["b", "y"]], labels=wrong)
    values = [["a", "x"], ["b", "y"], ["a", "y"]]
    np.testing.assert_array_equal(kith.measure.value_difference(values, labels=[0.0, 1.0, 0.0]),
                                  kith.measure.value_difference(values, labels=["0", "1", "0"]))


def test_categories_of_different_length_are_refused():
    with pytest.raises(ValueError, match="sample 2 has 1 categories, and sample 1 has 2"):
        kith.measure.value_difference([["a", "x"], ["b"]], labels=[0, 1])


def test_sparse_matrices_of_keys_are_samples_and_not_a_dict_of_them():
    X = scipy.sparse.dok_matrix(np.eye(6))
    y = np.repeat(["a", "b"], 3)
    assert set(kith.KNN(neighbours=1, measure="gaussian").fit(X, y).predict(X)) == {"a", "b"}
    with pytest.raises(ValueError, match="sparse matrix"):
        kith.measure.jaccard(X)


@pytest.mark.parametrize("index", [-1, 10**8])
def test_indices_of_a_sparse_matrix_are_checked(index):
    X = scipy.sparse.csr_matrix(np.eye(6) + 1)
    X.indices[3] = index
    with pytest.raises(ValueError):
        kith.VectorSVM().fit(X, np.repeat(["a", "b"], 3))
    with pytest.raises(ValueError):
        kith.KNN(neighbours=1).fit(X, np.repeat(["a", "b"], 3))
