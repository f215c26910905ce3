# SPDX-License-Identifier: Apache-2.0
"""groups= and sizes= of the package: as the program has them, and with the searches of scikit-learn."""
import json
import warnings

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import kith

FEW = {"repeats": 4, "folds": 3}


class People:
    """24 people, measured two or three times each; the class is the person's, and says nothing of others."""

    def __init__(self, seed=3):
        rng = np.random.default_rng(seed)
        self.groups = np.repeat(np.arange(24), 2 + np.arange(24) % 2)
        points = rng.normal(size=(24, 4))[self.groups] + 0.05 * rng.normal(size=(len(self.groups), 4))
        self.S = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
        self.y = np.array(["ab"[one % 2] for one in self.groups])
        self.points = points


@pytest.fixture
def people():
    return People()


def error(found):
    return found.results["methods"][0]["mean_error"]


def test_comparisons_keep_groups_together(people):
    knn = [kith.KNN(neighbours=1)]
    alone = kith.evaluate(people.S, people.y, knn, **FEW)
    together = kith.evaluate(people.S, people.y, knn, groups=people.groups, **FEW)
    assert 2 * error(alone) < error(together) > 0.25  # the others of a person are often among few samples, not always
    assert together.results["groups"] == 24 and alone.results["groups"] is None


def test_they_are_those_of_the_program(people, program, tmp_path):
    np.savetxt(tmp_path / "s.csv", people.S, delimiter=",", fmt="%.17g")
    (tmp_path / "y.txt").write_text("".join(f"{one}\n" for one in people.y))
    (tmp_path / "g.txt").write_text("".join(f"{one}\n" for one in people.groups))
    theirs = json.loads(program("evaluate", "--similarity", "s.csv", "--labels", "y.txt", "--groups", "g.txt",
                                "--methods", "knn,svm-clip", "--repeats", 4, "--folds", 3, "--sizes", "50%", "--json"))
    ours = kith.evaluate(people.S, people.y, ["knn", "svm-clip"], groups=people.groups, sizes=[0.5], **FEW).results
    for key in ("fingerprint", "groups", "sizes", "sizes_note", "methods"):
        assert ours[key] == theirs[key], key


def test_groups_may_be_matched_by_id(people):
    ids = [f"s{i}" for i in range(len(people.y))]
    frame = pandas.DataFrame(people.S, index=ids, columns=ids)
    by_id = dict(zip(ids[::-1], people.groups[::-1].tolist()))
    first = kith.evaluate(frame, people.y, "knn", groups=people.groups, **FEW)
    for groups in (by_id, pandas.Series(by_id)):
        assert kith.evaluate(frame, people.y, "knn", groups=groups, **FEW).results["fingerprint"] == \
            first.results["fingerprint"]


def test_a_fit_holds_out_whole_groups(people):
    machine = kith.SVM(cost=1000)
    sure = [machine.fit(people.S, people.y, groups=groups).predict_proba(people.S).max(axis=1).mean()
            for groups in (None, people.groups)]
    assert sure[0] > 0.9 > 0.75 > sure[1]
    assert machine.fit_["groups"] == 24
    assert "groups" not in kith.SVM().fit(people.S, people.y).fit_
    ridge = [kith.Ridge().fit(people.S, people.y, groups=groups).fit_["learned"]["ridge"]
             for groups in (None, people.groups)]
    assert ridge[0] < ridge[1]


def test_auto_searches_with_whole_groups(people):
    errors = [kith.Auto(among=["knn"]).fit(people.S, people.y, groups=groups).selection_[0]["inner_error"]
              for groups in (None, people.groups)]
    assert errors[0] < 0.1 < 0.25 < errors[1]


def test_vectors_and_raw_samples_take_groups(people):
    for model, X in ((kith.VectorSVM(), people.points), (kith.SVM(measure="gaussian"), people.points)):
        assert model.fit(X, people.y, groups=people.groups).fit_["groups"] == 24
    found = kith.evaluate(y=people.y, data=people.points, methods=["vector-svm"], groups=people.groups, **FEW)
    assert found.results["groups"] == 24


def test_searches_of_scikit_learn_split_by_groups(people):
    """GroupKFold splits; a pipeline hands the groups on to the fit."""
    score = cross_val_score(kith.KNN(neighbours=1), people.S, people.y, groups=people.groups, cv=GroupKFold(4))
    plain = cross_val_score(kith.KNN(neighbours=1), people.S, people.y, cv=4)
    assert score.mean() < 0.75 and plain.mean() > score.mean()
    search = GridSearchCV(kith.KNN(), {"neighbours": [1, 3]}, cv=GroupKFold(4))
    assert search.fit(people.S, people.y, groups=people.groups).best_score_ < 0.75
    search = GridSearchCV(make_pipeline(kith.SVM()), {"svm__cost": [1, 1000]}, cv=GroupKFold(4))
    search.fit(people.S, people.y, groups=people.groups, svm__groups=people.groups)
    assert search.best_estimator_[-1].fit_["groups"] == 24
    assert search.predict_proba(people.S).max(axis=1).mean() < 0.75


def test_what_cannot_be_is_refused(people):
    with pytest.raises(ValueError, match="3 groups for 60 samples"):
        kith.SVM().fit(people.S, people.y, groups=[1, 2, 3])
    missing = people.groups.astype(float)
    missing[4] = np.nan
    with pytest.raises(ValueError, match="sample 5 has no group"):
        kith.SVM().fit(people.S, people.y, groups=missing)
    with pytest.raises(ValueError, match="nothing can be held out"):
        kith.SVM().fit(people.S, people.y, groups=np.zeros(60))
    with pytest.raises(ValueError, match="stratify='equal'"):
        kith.evaluate(people.S, people.y, "knn", groups=people.groups, stratify="equal", **FEW)
    test = np.arange(0, 60, 2)
    with pytest.raises(ValueError, match="partition 1: group .* in the test part"):
        kith.evaluate(people.S, people.y, "knn", groups=people.groups, folds=3,
                      partitions=[(np.arange(1, 60, 2), test)])


def test_what_changes_nothing_is_said(people):
    with pytest.warns(UserWarning, match="change nothing"):
        kith.KNN().fit(people.S, people.y, groups=np.arange(60))
    one = np.where(people.y == "a", "all", people.groups.astype(str))
    with pytest.warns(UserWarning, match='class "a" are in one group'):
        kith.KNN().fit(people.S, people.y, groups=one)


def test_a_learning_curve_is_a_table(people):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kith.evaluate(people.S, people.y, ["knn", "ridge"], sizes=[0.3, "50%", 40], **FEW)
    table = found.sizes
    assert table["size"].tolist() == ["30%", "30%", "50%", "50%", "40", "40", "100%", "100%"]
    assert table["samples"].tolist() == [14, 14, 24, 24, 40, 40, 48, 48]
    last = table[table["size"] == "100%"]["error"].tolist()
    assert last == [row["error"] for row in found.rows]
    assert found.results["sizes_note"].startswith("From 40 to 48 training samples")
    assert "training samples" in str(found)
    assert len(kith.evaluate(people.S, people.y, "knn", **FEW).sizes) == 0


@pytest.mark.parametrize("sizes", [[0], [1.5], [True], ["x"], [], "50%", [None], [-3]])
def test_sizes_that_are_none_are_refused(people, sizes):
    with pytest.raises(ValueError):
        kith.evaluate(people.S, people.y, "knn", sizes=sizes, **FEW)
