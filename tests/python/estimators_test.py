# SPDX-License-Identifier: Apache-2.0
"""Every method of the registry: the same numbers from Python as from the command line."""
import pickle
import re
import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import kith
from conftest import Sample

METHODS = {one["name"]: one for one in kith.methods() if one["name"] != "auto"}
CLASSES = [getattr(kith, name) for name in kith.__all__
           if isinstance(getattr(kith, name), type)
           and issubclass(getattr(kith, name), kith.SimilarityClassifier)
           and getattr(kith, name)._method in METHODS]


def read_predictions(text):
    lines = [line.split("\t") for line in text.strip().split("\n")]
    head, rows = lines[0], lines[1:]
    labels = np.array([row[head.index("label")] for row in rows])
    columns = {name: np.array([float(row[i]) for row in rows])
               for i, name in enumerate(head) if ":" in name}
    return labels, columns


def test_there_is_a_class_for_every_method():
    assert {one._method for one in CLASSES} == set(METHODS)
    assert kith.SVM._method == "svm"
    assert kith.SpectrumSVM._method == "spectrum-svm"


#: Options that the papers have beside their methods' usual form.
OPTIONS = [
    (kith.REKL, {"loss": "l3"}),
    (kith.KRR, {"normalised": True}),
    (kith.FeaturesSVM, {"prototypes": 12, "train_on": "others"}),
    (kith.LPMachine, {"prototypes": 12, "train_on": "others"}),
    (kith.PSVM, {"prototypes": 12, "train_on": "others"}),
    (kith.LinearMSVM, {"radius": "ball"}),
    (kith.LinearMSVM, {"radius": "ball", "projection": "exact"}),
    (kith.LinearMSVM, {"radius": "ball", "solver": "convex"}),
    (kith.NonlinearMSVM, {"radius": "ball"}),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)
def test_python_and_the_command_line_give_the_same_numbers(kind, classes, program, tmp_path):
    expect_the_same_numbers(kind, {}, classes, program, tmp_path)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind, settings", OPTIONS,
                         ids=[f"{kind.__name__}-{'-'.join(map(str, own.values()))}" for kind, own in OPTIONS])
def test_options_of_the_papers_give_the_same_numbers(kind, settings, classes, program, tmp_path):
    expect_the_same_numbers(kind, settings, classes, program, tmp_path)


def test_a_class_has_components_of_its_own(program, tmp_path):
    first, second, _ = sorted(set(Sample(n=36, classes=3).y))
    settings = {"class_components": f"{first}:3/{second}:1"}
    expect_the_same_numbers(kith.MixtureSDA, settings, 3, program, tmp_path)
    with pytest.raises(ValueError, match="class-components names"):
        kith.MixtureSDA(class_components="nobody:2").fit(Sample().S, Sample().y)


def expect_the_same_numbers(kind, settings, classes, program, tmp_path):
    sample = Sample(n=30 + 6 * (classes == 3), classes=classes)
    vectors = METHODS[kind._method]["learns_from_vectors"]
    S, rows = (sample.points[:len(sample.y)], sample.points[len(sample.y):]) if vectors else (sample.S, sample.rows)
    np.save(tmp_path / "s.npy", S)
    np.save(tmp_path / "rows.npy", rows)
    (tmp_path / "y.txt").write_text("\n".join(sample.y) + "\n")
    flag = "--data" if vectors else "--similarity"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = kind(**settings).fit(S, sample.y)
    assigned = [f"{name.replace('_', '-')}={'yes' if value is True else value}" for name, value in settings.items()]
    program("train", flag, "s.npy", "--labels", "y.txt", "--method", kind._method, "--model",
            "cli.kith", "--quiet", *(flag for one in assigned for flag in ("--set", one)))
    labels, columns = read_predictions(
        program("predict", "--model", "cli.kith", flag, "rows.npy", "--quiet"))
    for model in (mine, kith.load(tmp_path / "cli.kith"), pickle.loads(pickle.dumps(mine))):
        np.testing.assert_array_equal(model.predict(rows), labels)
        scores = model._predict(rows)[1]
        for i, name in enumerate(model.classes_):
            np.testing.assert_allclose(scores[:, i], columns[f"score:{name}"], rtol=3e-16)  # ties
        if METHODS[kind._method]["probabilities"]:
            probabilities = model.predict_proba(rows)
            for i, name in enumerate(model.classes_):
                np.testing.assert_allclose(probabilities[:, i], columns[f"probability:{name}"], rtol=3e-16)
    kith.save(mine, tmp_path / "python.kith")
    again, _ = read_predictions(
        program("predict", "--model", "python.kith", flag, "rows.npy", "--quiet"))
    np.testing.assert_array_equal(again, labels)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)
def test_the_example_of_each_class_runs(kind):
    import doctest
    found = doctest.DocTestFinder().find(kind, kind.__name__, globs={})
    examples = [one for one in found if one.name == kind.__name__]
    assert len(examples) == 1 and len(examples[0].examples) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert doctest.DocTestRunner().run(examples[0]).failed == 0


def test_every_class_names_its_paper():
    for kind in CLASSES:
        for word in METHODS[kind._method]["paper"].replace("[", " [").split():
            if word.startswith("["):
                assert f"\n{word.rstrip(',')} " in kind.__doc__.split("References")[1], (kind, word)


def test_settings_are_those_of_the_command_line():
    for kind in CLASSES:
        own = kind().get_params()
        for field in METHODS[kind._method]["settings"]:
            name = field["name"].replace("-", "_")
            assert name in own or name + "_" in own, (kind, name)


def test_a_setting_that_breaks_its_rule_is_a_value_error_with_the_librarys_message(binary):
    with pytest.raises(ValueError, match="cost.*above 0"):
        kith.SVM(cost=-1).fit(binary.S, binary.y)
    with pytest.raises(TypeError, match="no setting 'cosst'"):
        kith.SVM(cosst=1)
    with pytest.raises(ValueError, match="one of none, clip"):
        kith.SVM(spectrum="klip").fit(binary.S, binary.y)
    with pytest.raises(ValueError, match="cost"):
        kith.SVM(cost=[1, 2]).fit(binary.S, binary.y)


def test_a_missed_tolerance_is_a_warning(binary):
    from sklearn.exceptions import ConvergenceWarning
    with pytest.warns(ConvergenceWarning, match="missed its tolerance"):
        model = kith.RobustSVM(solver="projected-gradient", iterations=1,
                               test_treatment="map").fit(binary.S, binary.y)
    assert model.certificate_["status"] not in ("solved", "not convex: stationary")


def test_classes_keep_their_type_and_are_sorted(binary):
    numbers = np.where(binary.y == "ant", 10, 2)
    model = kith.SVM().fit(binary.S, numbers)
    assert model.classes_.tolist() == [2, 10]
    assert model.predict(binary.rows).dtype == numbers.dtype
    texts = kith.SVM().fit(binary.S, numbers.astype(str))
    assert texts.classes_.tolist() == ["10", "2"]  # as scikit-learn sorts texts
    np.testing.assert_array_equal(texts.predict(binary.rows), model.predict(binary.rows).astype(str))
    np.testing.assert_array_equal(texts.predict_proba(binary.rows)[:, ::-1],
                                  model.predict_proba(binary.rows))


def test_decision_function_of_two_classes_is_the_lead_of_the_second(binary):
    model = kith.SVM().fit(binary.S, binary.y)
    lead = model.decision_function(binary.rows)
    assert lead.shape == (7,)
    np.testing.assert_array_equal(model.predict(binary.rows), model.classes_[(lead > 0).astype(int)])


def test_the_largest_score_is_the_prediction_where_classes_tie():
    S = np.array([[9.0, 1, 5, 2], [1, 9, 2, 5], [5, 2, 9, 1], [2, 5, 1, 9]])
    model = kith.KNN(neighbours=2, ties="file").fit(S, ["b", "a", "b", "a"])
    rows = np.array([[3.0, 4, 1, 1], [4, 3, 1, 1]])
    said = model.predict(rows)
    assert said.tolist() == ["a", "b"]  # one vote each: the nearer neighbour's
    np.testing.assert_array_equal(model.classes_[(model.decision_function(rows) > 0).astype(int)], said)
    np.testing.assert_array_equal(model.classes_[np.argmax(model.predict_proba(rows), axis=1)], said)


def test_several_matrices_come_as_a_list_an_array_or_a_dict(binary):
    other = binary.S ** 2 / 12
    rows = binary.rows ** 2 / 12
    as_list = kith.MKL().fit([binary.S, other], binary.y)
    as_array = kith.MKL().fit(np.stack([binary.S, other]), binary.y)
    as_dict = kith.MKL().fit({"a": binary.S, "b": other}, binary.y)
    expected = as_list.decision_function([binary.rows, rows])
    np.testing.assert_array_equal(as_array.decision_function(np.stack([binary.rows, rows])), expected)
    np.testing.assert_array_equal(as_dict.decision_function({"b": rows, "a": binary.rows}), expected)
    assert set(as_dict.certificate_["kernel_weights"]) == {"a", "b"}
    with pytest.raises(ValueError, match="learns from one matrix"):
        kith.SVM().fit([binary.S, other], binary.y)
    with pytest.raises(ValueError, match="1 matrices of new rows; the model was trained on 2"):
        as_list.predict(binary.rows)


def test_distances_and_input_rules_are_those_of_the_command_line(binary, program, tmp_path):
    square = np.add.outer(np.diag(binary.S), np.diag(binary.S)) - 2 * binary.S
    D = np.sqrt(np.maximum(square, 0))
    np.save(tmp_path / "d.npy", D)
    (tmp_path / "y.txt").write_text("\n".join(binary.y) + "\n")
    program("train", "--distance", "d.npy", "--from-distance", "max-minus", "--scale", "unit",
            "--labels", "y.txt", "--model", "m.kith", "--quiet")
    mine = kith.SVM(distance=True, input={"from_distance": "max-minus", "scale": "unit"}).fit(D, binary.y)
    theirs = kith.load(tmp_path / "m.kith")
    np.testing.assert_array_equal(mine.decision_function(D), theirs.decision_function(D))
    assert theirs.distance and theirs.input == {"from_distance": "max-minus", "scale": "unit"}


def test_priors_and_costs_are_dicts(binary):
    plain = kith.SVM().fit(binary.S, binary.y)
    weighed = kith.SVM(priors={"ant": 0.999, "bee": 0.001}).fit(binary.S, binary.y)
    assert (weighed.predict_proba(binary.rows)[:, 0] > plain.predict_proba(binary.rows)[:, 0]).all()
    assert "bee" not in kith.SVM(costs={("ant", "bee"): 1e6}).fit(binary.S, binary.y).predict(binary.rows)


def test_one_class_and_shapes_are_refused(binary):
    with pytest.raises(ValueError, match="all of one class"):
        kith.SVM().fit(binary.S, ["a"] * 30)
    with pytest.raises(ValueError, match="square"):
        kith.SVM().fit(binary.S[:, :5], binary.y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kith.SVM().fit(binary.S, binary.y[:-1])
    with pytest.raises(ValueError, match="expecting 30 features"):
        kith.SVM().fit(binary.S, binary.y).predict(binary.rows[:, :4])
    with pytest.raises(ValueError, match="NaN"):
        kith.SVM().fit(np.full((30, 30), np.nan), binary.y)


def test_what_else_is_known_of_queries_is_matched_by_the_name_of_the_matrix(binary):
    other, rows = binary.S ** 2 / 12, binary.rows ** 2 / 12
    model = kith.MKL().fit({"a": binary.S, "b": other}, binary.y)
    new = {"a": binary.rows, "b": rows}
    selves, back = {"a": np.full(7, 12.0), "b": np.full(7, 13.0)}, {"a": binary.rows + 1, "b": rows - 1}
    expected = model.decision_function(new, [selves["a"], selves["b"]], [back["a"], back["b"]])
    turned = [dict(reversed(one.items())) for one in (selves, back)]
    np.testing.assert_array_equal(model.decision_function(new, *turned), expected)
    swapped = model.decision_function(new, [selves["a"], selves["b"]], [back["b"], back["a"]])
    assert not np.array_equal(swapped, expected)
    for keyword, given in (("self_similarity", selves), ("from_training", back)):
        with pytest.raises(ValueError, match=f"no .*{keyword} for the matrix 'b' among a, z"):
            model.predict(new, **{keyword: {"a": given["a"], "z": given["b"]}})
        with pytest.raises(ValueError, match=f"{keyword} for 'z', and the model was trained on a, b"):
            model.predict(new, **{keyword: {**given, "z": given["b"]}})
    with pytest.raises(ValueError, match="rows for 'z', and the model was trained on a, b"):
        model.predict({**new, "z": rows})
    with pytest.raises(TypeError, match="self_similarity is a dict, and the model was trained on one matrix"):
        kith.SVM().fit(binary.S, binary.y).predict(binary.rows, self_similarity={"similarity": selves["a"]})


def test_whole_numbers_are_the_same_classes_as_floats(binary, tmp_path, program):
    numbers = np.where(binary.y == "ant", 0, 1)
    expected = kith.SVM(priors={0: 0.9, 1: 0.1}).fit(binary.S, numbers)
    for kind in (np.float64, np.float32):
        for priors in ({0: 0.9, 1: 0.1}, {0.0: 0.9, kind(1): 0.1}):
            model = kith.SVM(priors=priors).fit(binary.S, numbers.astype(kind))
            assert model.predict(binary.rows).dtype == kind
            np.testing.assert_array_equal(model.predict_proba(binary.rows), expected.predict_proba(binary.rows))
        kith.save(model, tmp_path / "m.kith")
        again = kith.load(tmp_path / "m.kith")
        assert again.classes_.dtype.kind == "i" and again.classes_.tolist() == [0, 1]
        np.testing.assert_array_equal(again.predict(binary.rows), model.predict(binary.rows))
    np.save(tmp_path / "rows.npy", binary.rows)
    said, _ = read_predictions(program("predict", "--model", "m.kith", "--similarity", "rows.npy", "--quiet"))
    assert set(said) <= {"0", "1"}
    found = kith.evaluate(binary.S, numbers.astype(float), "knn", repeats=2, folds=2)
    assert list(found.results["classes"]) == ["0", "1"]


def test_numbers_and_truths_of_pandas_are_those_of_numpy(binary):
    numbers = pandas.Series(np.where(binary.y == "ant", 0, 1))
    for name, kind, texts in (("Int64", "i", ["0", "1"]), ("Float64", "f", ["0", "1"]),
                              ("boolean", "b", ["False", "True"])):
        y = numbers.astype(name)
        model = kith.SVM().fit(binary.S, y)
        assert model.classes_.dtype.kind == kind and model.predict(binary.rows).dtype.kind == kind
        assert list(kith.evaluate(binary.S, y, "knn", repeats=2, folds=2).results["classes"]) == texts
        y[3] = pandas.NA
        with pytest.raises(ValueError, match="sample 4 has no class"):
            kith.SVM().fit(binary.S, y)


def test_a_loaded_model_that_missed_its_tolerance_says_so(binary, tmp_path):
    from sklearn.exceptions import ConvergenceWarning
    with pytest.warns(ConvergenceWarning):
        model = kith.RobustSVM(solver="projected-gradient", iterations=1, test_treatment="map").fit(binary.S, binary.y)
    kith.save(model, tmp_path / "m.kith")
    again = kith.load(tmp_path / "m.kith")
    assert again.fit_ is None
    with pytest.warns(ConvergenceWarning, match="missed its tolerance") as warned:
        again.predict(binary.rows)
    assert warned[0].filename == __file__
    kith.save(kith.SVM().fit(binary.S, binary.y), tmp_path / "m.kith")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.load(tmp_path / "m.kith").predict(binary.rows)
        model.predict(binary.rows)  # fit has said it


def test_scores_are_there_before_the_fit():
    from sklearn.exceptions import NotFittedError
    for kind in CLASSES:
        assert hasattr(kind(), "decision_function")
        with pytest.raises(NotFittedError):
            kind().decision_function(np.eye(3))


def test_notes_spell_settings_as_keywords():
    model = kith.SVM(probability=False).fit(np.eye(402), [f"c{i // 2}" for i in range(402)])
    (note,) = model.certificate_["notes"]
    assert "20100 pairs" in note and "multiclass='one-vs-rest'" in note


def huber(X):
    return (np.sqrt(1 + X**2) - 1).sum()


def huber_slope(X):
    return X / np.sqrt(1 + X**2)


@pytest.mark.parametrize("kind", [kith.ESKL, kith.EMKL, kith.REKL], ids=lambda one: one.__name__)
def test_a_loss_may_be_two_functions(kind, tmp_path):
    sample = Sample(n=36, classes=3)
    own = kind(loss=(huber, huber_slope), rho=0.1).fit(sample.S, sample.y)
    assert own.certificate_["status"] == "solved"
    assert 0 <= own.certificate_["gap"] <= 1e-4
    expected = own.predict(sample.rows)
    assert set(expected) <= set(sample.y)
    kith.save(own, tmp_path / "own.kith")
    for model in (kith.load(tmp_path / "own.kith"), pickle.loads(pickle.dumps(own)), clone(own).fit(sample.S, sample.y)):
        np.testing.assert_array_equal(model.predict(sample.rows), expected)


def test_squares_as_two_functions_are_the_loss_l3():
    sample = Sample()
    settings = {"rho": 0.3, "probability": False}
    squares = (lambda X: (X**2).sum(), lambda X: 2 * X)
    for kind in (kith.ESKL, kith.EMKL, kith.REKL):
        own = kind(loss=squares, **settings).fit(sample.S, sample.y)
        usual = kind(loss="l3", **settings).fit(sample.S, sample.y)
        assert own.certificate_["objective"] == pytest.approx(usual.certificate_["objective"], rel=2e-4)


def test_scikit_learn_cross_validates_a_loss_of_ones_own():
    sample = Sample()
    model = kith.ESKL(loss=(huber, huber_slope), rho=0.1, test_treatment="project", probability=False)
    assert len(cross_val_score(model, sample.S, sample.y, cv=3)) == 3


@pytest.mark.parametrize("loss, message", [
    ((huber, lambda X: -huber_slope(X)), "tangents"),
    ((lambda X: -huber(X), lambda X: -huber_slope(X)), "tangents"),
    ((huber, lambda X: X[:2]), "gradient of the loss is 2 x"),
    ((huber, lambda X: X / 0.0), "not finite"),
    ((huber,), "two functions"),
    ("own", "C++ and Python"),
])
def test_a_loss_that_cannot_be_is_refused(loss, message):
    sample = Sample()
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=re.escape(message)):
        kith.ESKL(loss=loss).fit(sample.S, sample.y)


def test_an_error_inside_a_loss_comes_through():
    def broken(X):
        raise ZeroDivisionError("of mine")
    sample = Sample()
    with pytest.raises(ZeroDivisionError, match="of mine"):
        kith.ESKL(loss=(broken, huber_slope)).fit(sample.S, sample.y)
