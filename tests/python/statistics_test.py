# SPDX-License-Identifier: Apache-2.0
"""Which test compares methods, and what tables of a comparison say of differences."""
import json

import numpy as np
import pytest

import kith

METHODS = ["knn", "svm-clip", "nearest-mean"]


@pytest.fixture(scope="module")
def compared():
    """90 points of two classes, and a comparison on 6 partitions."""
    rng = np.random.default_rng(8)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 4)) + 0.7 * y[:, None]
    S = X @ X.T
    return S, y, kith.evaluate(S, y, METHODS, repeats=6, folds=2)


def test_the_table_has_differences_with_their_intervals(compared):
    found = compared[2]
    assert found.results["test"]["name"] == "corrected-t"
    rows, methods = found.rows, found.results["methods"]
    for row, method in zip(rows, methods):
        assert (row["p_value"], row["p_adjusted"], row["best"]) == (
            method["p_value"], method["p_adjusted"], method["best"])
        if method["leads"]:
            assert row["difference"] is None and row["low"] is None and row["p_value"] is None
            continue
        assert row["low"] < row["difference"] < row["high"]
        assert row["p_adjusted"] >= row["p_value"]
        shown = f"{100 * row['difference']:+.2f} [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
        assert shown in str(found) and shown in found._repr_html_()
    assert list(found.table.columns) == list(rows[0])
    assert sum(method["leads"] for method in methods) == 1


def test_folds_of_scikit_learn_are_compared_by_the_corrected_t(compared):
    stats = pytest.importorskip("scipy.stats")
    from sklearn.model_selection import RepeatedStratifiedKFold
    S, y, _ = compared
    splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1).split(S, y))
    found = kith.evaluate(S, y, METHODS, partitions=splits, folds=2)
    assert found.results["test"]["name"] == "corrected-t"
    errors = {row["method"]: np.array(row["errors"]) for row in found.rows}
    leader = next(method["method"] for method in found.results["methods"] if method["leads"])
    for row in found.rows:
        if row["method"] == leader:
            continue
        d = errors[row["method"]] - errors[leader]
        t = stats.t(5, d.mean(), d.std(ddof=1) * np.sqrt(1 / 6 + 1 / 2))  # a third is tested, two thirds train
        assert (row["low"], row["high"]) == pytest.approx(t.interval(0.95))
        assert row["p_value"] == pytest.approx(2 * min(t.cdf(0), t.sf(0)))


def test_other_tests_are_taken_where_they_are_asked_for(compared, tmp_path):
    S, y, found = compared
    names = {test: json.loads(found.format("json", test=test))["test"]["name"] for test in ("auto", "wilcoxon", "none")}
    assert names == {"auto": "corrected-t", "wilcoxon": "wilcoxon", "none": "none"}
    store = tmp_path / "run.db"
    single = kith.evaluate(S, y, METHODS, repeats=6, folds=2, store=store, test="wilcoxon")
    assert single.results["test"]["name"] == "wilcoxon" and "<th>p</th>" in single._repr_html_()
    assert kith.open_store(store).results["test"]["name"] == "corrected-t"
    assert kith.open_store(store, test="wilcoxon").rows == single.rows
    assert [row["errors"] for row in single.rows] == [row["errors"] for row in found.rows]


def test_one_partition_is_compared_sample_by_sample(compared):
    S, y, _ = compared
    found = kith.evaluate(S, y, METHODS, repeats=1, folds=2)
    assert found.results["test"]["name"] == "mcnemar"
    assert all(row["low"] is not None for row, method in zip(found.rows, found.results["methods"])
               if not method["leads"])
    by_auc = json.loads(found.format("json", metric="auc"))
    assert by_auc["test"]["name"] == "none" and not any(method["best"] for method in by_auc["methods"])


@pytest.mark.parametrize("test, partitions, words", [
    ("t-test", 3, "must be one of auto, corrected-t"), ("mcnemar", 3, "one partition"), ("corrected-t", 1, "has one")])
def test_tests_that_cannot_be_had_are_refused_before_any_work(compared, test, partitions, words):
    S, y, _ = compared
    with pytest.raises(ValueError, match=words):
        kith.evaluate(S, y, METHODS, repeats=partitions, folds=2, test=test)
