# SPDX-License-Identifier: Apache-2.0
"""Names that kith does not have: the message says which one was meant."""
import pytest

import kith


@pytest.mark.parametrize("name, meant", [
    ("auto", "Auto"), ("SVC", "SVM"), ("svm", "SVM"), ("knn", "KNN"), ("KNeighborsClassifier", "KNN"), ("Inspect", "inspect"),
    ("train", "Auto"), ("evalute", "evaluate"), ("load_model", "load"), ("similarity", "measure"),
])
def test_a_name_of_the_module_names_ours(name, meant):
    with pytest.raises(AttributeError, match=rf"kith has no '{name}' \(did you mean kith.{meant}\?\)"):
        getattr(kith, name)
    assert hasattr(kith, meant)


def test_a_name_that_nobody_could_mean_has_no_hint():
    with pytest.raises(AttributeError, match="kith has no 'frobnicate'$"):
        kith.frobnicate
    with pytest.raises(AttributeError, match="Auto.*predict"):
        kith.predict
    assert not hasattr(kith, "__wrapped__")


@pytest.mark.parametrize("make, typed, meant", [
    (kith.SVM, "C", "cost"), (kith.KNN, "k", "neighbours"), (kith.KNN, "n_neighbors", "neighbours"),
    (kith.SVM, "random_state", "seed"), (kith.SVM, "n_jobs", "threads"), (kith.SVM, "kost", "cost"),
    (kith.SVM, "class_weight", "costs"), (kith.Auto, "methods", "among"), (kith.Auto, "grid", "grids"),
    (kith.Auto, "budgett", "budget"),
])
def test_a_setting_by_another_name_names_ours(make, typed, meant):
    with pytest.raises(TypeError, match=rf"{make.__name__} has no setting '{typed}' \(did you mean {meant}=\?\)"):
        make(**{typed: 1})


def test_a_setting_of_the_input_goes_into_input():
    for make in (kith.SVM, kith.Auto):
        with pytest.raises(TypeError, match=r"did you mean input=\{'missing': ...\}\?"):
            make(missing="zero")


def test_a_setting_of_methods_goes_into_settings():
    with pytest.raises(TypeError, match=r"Auto has no setting 'C' \(did you mean settings=\{'\*': \{'cost': ...\}\}\?\)"):
        kith.Auto(C=1)


def test_auto_is_among_the_methods():
    auto = kith.methods()[-1]
    assert auto["name"] == "auto" and "knn" in auto["members"]
    assert set(kith.methods()[0]) <= set(auto)


def test_a_comparison_says_why_it_takes_no_budget(binary):
    with pytest.raises(TypeError, match="must not depend on the speed"):
        kith.evaluate(binary.S, binary.y, ["knn"], budget="10s")
    with pytest.raises(ValueError, match=r"give among to evaluate\(\)"):
        kith.evaluate(binary.S, binary.y, [kith.Auto(among=["knn"])])
    with pytest.raises(ValueError, match="must not depend on the speed"):
        kith.evaluate(binary.S, binary.y, [kith.Auto(budget=10)])


def test_arguments_of_a_comparison_by_other_names(binary):
    for typed, meant in (("cv", "folds"), ("method", "methods"), ("labels", "y"), ("n_jobs", "threads")):
        with pytest.raises(TypeError, match=rf"evaluate has no setting '{typed}' \(did you mean {meant}=\?\)"):
            kith.evaluate(binary.S, **{typed: 3})
