# SPDX-License-Identifier: Apache-2.0
"""`model.score_report` against scikit-learn and SciPy, and against the command line."""
import json
import pickle

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import (balanced_accuracy_score, classification_report, confusion_matrix, log_loss,
                             roc_auc_score)

import kith


def problem(classes=3, n=40, queries=70, seed=2):
    """(S, y, rows, truth): an indefinite similarity of random points around one mean per class."""
    rng = np.random.default_rng(seed)
    of = np.arange(n + queries) % classes
    points = 1.5 * rng.normal(size=(classes, 4))[of] + rng.normal(size=(n + queries, 4))
    full = points @ np.diag([1, 1, 1, -0.5]) @ points.T
    names = np.array(["ape", "bee", "cat", "dog"])[of]
    return full[:n, :n], names[:n], full[n:, :n], names[n:]


@pytest.mark.parametrize("classes", (2, 3))
def test_agrees_with_scikit_learn(classes):
    S, y, rows, truth = problem(classes)
    model = kith.SVM(cost=10).fit(S, y)
    found = model.score_report(rows, truth)
    predicted = model.predict(rows)
    assert 0 < found.wrong < len(truth)
    assert found.error == pytest.approx(1 - model.score(rows, truth))
    report = classification_report(truth, predicted, output_dict=True, zero_division=0)
    for one in found.classes:
        own = report[one["class"]]
        assert one["recall"] == pytest.approx(own["recall"])
        assert one["precision"] == pytest.approx(own["precision"])
        assert one["samples"] == own["support"]
    assert np.array_equal(found.confusion, confusion_matrix(truth, predicted, labels=model.classes_))
    assert found.balanced_error == pytest.approx(1 - balanced_accuracy_score(truth, predicted))
    assert found.log_loss == pytest.approx(log_loss(truth, model.predict_proba(rows), labels=model.classes_))
    if classes == 2:
        assert found.auc == pytest.approx(roc_auc_score(truth == model.classes_[1], model.decision_function(rows)))
    else:
        assert found.auc is None


def test_intervals_are_those_of_wilson():
    S, y, rows, truth = problem(4)
    found = kith.KNN(neighbours=3).fit(S, y).score_report(rows, truth)

    def wilson(count, n):
        interval = scipy.stats.binomtest(int(count), int(n)).proportion_ci(confidence_level=0.95, method="wilson")
        return pytest.approx((interval.low, interval.high))
    assert found.interval == wilson(found.wrong, found.n)
    for one in found.classes:
        assert tuple(one["recall_interval"]) == wilson(one["right"], one["samples"])
        assert tuple(one["precision_interval"]) == wilson(one["right"], one["predicted"])


def test_is_the_score_of_the_command_line(tmp_path, program, monkeypatch):
    S, y, rows, truth = problem(2)
    model = kith.SVM(spectrum="clip", costs={("ape", "bee"): 4}).fit(S, y)
    kith.save(model, tmp_path / "m.kith")
    np.save(tmp_path / "q.npy", rows)
    (tmp_path / "truth.txt").write_text("".join(f"{one}\n" for one in truth))
    command = ["predict", "--model", "m.kith", "--similarity", "q.npy", "--labels", "truth.txt"]
    found = model.score_report(rows, truth)
    assert found.to_dict() == json.loads(program(*command, "--json"))["score"]
    assert found.mean_cost == pytest.approx(np.sum(np.array([[0, 4], [1, 0]]) * found.confusion) / found.n)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert str(found) == program(*command)
    assert kith.load(tmp_path / "m.kith").score_report(rows, truth).to_dict() == found.to_dict()


def test_classes_are_those_that_were_given(tmp_path):
    S, y, rows, truth = problem(3)
    numbers = {"ape": 1, "bee": 2, "cat": 30}
    model = kith.SVM().fit(S, [numbers[one] for one in y])
    known = [numbers[one] for one in truth]
    known[0] = 7
    kith.save(model, tmp_path / "m.kith")
    for own in (model, kith.load(tmp_path / "m.kith")):
        found = own.score_report(rows, known)
        assert [one["class"] for one in found.classes] == [1, 2, 30, 7]
        assert [one["known"] for one in found.classes] == [True, True, True, False]
        assert found.baseline_class == 1
        assert found.classes[3]["recall"] == 0 and found.classes[3]["precision"] is None
        assert any("7" in note and "wrong" in note for note in found.notes)
    assert kith.load(tmp_path / "m.kith", numbers=False).score_report(rows, known).classes[0]["class"] == "1"


def test_what_does_not_exist_is_none():
    S, y, rows, truth = problem(3)
    found = kith.SVM(probability=False).fit(S, y).score_report(rows, truth)
    assert found.log_loss is None and found.calibration is None and found.mean_cost is None and found.auc is None


def test_calibration_adds_up():
    S, y, rows, truth = problem(2)
    model = kith.SVM().fit(S, y)
    found = model.score_report(rows, truth)
    bins = found.calibration["bins"]
    assert len(bins) == 10 and sum(one["samples"] for one in bins) == len(truth)
    right = sum(one["samples"] * one["right"] for one in bins if one["samples"])
    likely = model.classes_[model.predict_proba(rows).argmax(axis=1)]
    assert right == pytest.approx(np.sum(likely == truth))
    off = sum(one["samples"] * abs(one["probability"] - one["right"]) for one in bins if one["samples"])
    assert found.calibration["error"] == pytest.approx(off / len(truth))


def test_classes_are_matched_by_id():
    pandas = pytest.importorskip("pandas")
    S, y, rows, truth = problem(2)
    names, queries = [f"t{i}" for i in range(len(y))], [f"q{i}" for i in range(len(truth))]
    model = kith.SVM().fit(pandas.DataFrame(S, names, names), y)
    X = pandas.DataFrame(rows, queries, names)
    expected = model.score_report(X, truth).to_dict()
    series = pandas.Series(truth, queries).sample(frac=1, random_state=1)
    assert model.score_report(X, series).to_dict() == expected
    assert model.score_report(X, series.to_dict()).to_dict() == expected
    with pytest.warns(UserWarning, match="z"):
        assert model.score_report(X, {**series.to_dict(), "z": "ape"}).to_dict() == expected
    with pytest.raises(ValueError, match="q3"):
        model.score_report(X, {key: value for key, value in series.items() if key != "q3"})
    own = model.score_report(pandas.DataFrame(S, names, names), y)
    assert f"{len(y)} of {len(y)} samples have the id of a training sample" in own.notes[0]


def test_refuses_what_does_not_fit():
    S, y, rows, truth = problem(2)
    model = kith.SVM().fit(S, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score_report(rows, truth[:-1])
    with pytest.raises(ValueError, match="sample 1 has no class"):
        model.score_report(rows, [None, *truth[1:]])
    with pytest.raises(ValueError):
        kith.SVM().score_report(rows, truth)


def test_prints_pickles_and_has_a_frame():
    S, y, rows, truth = problem(3)
    found = kith.SVM().fit(S, y).score_report(rows, truth)
    again = pickle.loads(pickle.dumps(found))
    assert (str(again), again.to_dict()) == (str(found), found.to_dict())
    assert repr(found).startswith(f"<kith.ScoreReport: error {100 * found.error:.2f} %, 95 % interval ")
    assert "&lt;" not in found._repr_html_() and found._repr_html_().startswith("<pre>Error ")
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == ["ape", "bee", "cat"]
    assert frame.loc["bee", "recall"] == found.classes[1]["recall"]


def test_writes_the_page(tmp_path, html_page):
    S, y, rows, truth = problem(2)
    found = kith.SVM().fit(S, y).score_report(rows, truth)
    found.report(tmp_path / "score.html")
    page = (tmp_path / "score.html").read_text()
    document = json.loads(page.split('id="document">')[1].split("</script>")[0])
    assert document["kind"] == "score" and document["score"] == found.to_dict()


def test_raw_samples_several_matrices_and_committees_are_scored():
    words = ["kitten", "mitten", "bitten", "sitting", "fitting", "hitting"]
    raw = kith.SVM(measure="edit").fit(words, [0, 0, 0, 1, 1, 1])
    assert raw.score_report(["smitten", "knitting"], [0, 1]).n == 2
    S, y, rows, truth = problem(2)
    several = kith.MKL().fit({"a": S, "b": np.tanh(S)}, y)
    assert several.score_report({"a": rows, "b": np.tanh(rows)}, truth).n == len(truth)
    committee = kith.Auto(among=["knn", "nearest-mean"]).fit(S, y)
    found = committee.score_report(rows, truth)
    assert found.log_loss is not None and found.baseline == 0.5


def test_queries_of_which_nothing_is_known_are_named():
    S, y, rows, truth = problem(2)
    model = kith.SVM(input={"missing": "zero"}).fit(S, y)
    rows = rows.copy()
    rows[4] = rows[6] = np.nan
    with pytest.warns(UserWarning, match='2 of 70 queries have no pair.*"5" and "7"'):
        predicted = model.predict(rows)
    assert predicted[4] == predicted[6]
    with pytest.warns(UserWarning, match="2 of 70 queries"):
        found = model.score_report(rows, truth)
    assert "2 of 70 queries" in found.notes[-1]
    strict = kith.SVM().fit(S, y)
    with pytest.raises(ValueError):
        strict.predict(rows)
