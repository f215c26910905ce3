# SPDX-License-Identifier: Apache-2.0
"""What `kith report` says of the predictions in a store, against SciPy and scikit-learn."""

import json
import sqlite3
import warnings

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
metrics = pytest.importorskip("sklearn.metrics")

METHODS = "knn,affinity-knn,nearest-mean,svm-clip"
REPEATS = 10


def evaluate(kith, classes, seed):
    rng = np.random.default_rng(seed)
    of = np.arange(60) % classes
    points = 1.2 * rng.normal(size=(classes, 4))[of] + rng.normal(size=(60, 4))
    S = points @ np.diag([1, 1, 1, -0.4]) @ points.T + np.tanh(points @ points.T)
    np.save(kith.folder / "s.npy", S)
    kith.write("l.txt", "".join(f"{c}\n" for c in of))
    result = kith("evaluate", "--similarity", "s.npy", "--labels", "l.txt", "--methods", METHODS,
                  "--set", "svm-clip:probability=yes", "--grid", "svm-clip:cost=0.1,10",
                  "--repeats", REPEATS, "--folds", 2, "--name", f"{classes} classes", "--append",
                  "--store", "run.db", "--threads", 1)
    assert result.returncode == 0, result.stderr


def matrix(blob):
    rows, columns = np.frombuffer(blob[:16], dtype="<i8")
    return np.frombuffer(blob[16:], dtype="<f8").reshape(rows, columns)


def predictions(kith, data):
    """method -> [(truth, labels, scores, probabilities) of each partition]."""
    found = {}
    with sqlite3.connect(kith.folder / "run.db") as store:
        number, labels = store.execute("SELECT id, labels FROM experiments WHERE name = ?",
                                       (data,)).fetchone()
        labels = np.frombuffer(labels, dtype="<i4")
        for name, test, said, scores, probabilities in store.execute(
                "SELECT c.name, p.test, r.labels, r.scores, r.probabilities FROM test_results r "
                "JOIN candidates c ON c.id = r.candidate "
                "JOIN partitions p ON p.experiment = c.experiment AND p.number = r.partition "
                "WHERE c.experiment = ? ORDER BY c.id, r.partition", (number,)):
            truth = labels[np.frombuffer(test, dtype="<i4")]
            found.setdefault(name, []).append(
                (truth, np.frombuffer(said, dtype="<i4"), matrix(scores), matrix(probabilities)))
    return found


def auc(truth, scores, probabilities, classes):
    if classes == 2:
        return metrics.roc_auc_score(truth, scores[:, 1] - scores[:, 0])
    return metrics.roc_auc_score(truth, probabilities, multi_class="ovo", labels=range(classes))


def expected(part, classes):
    """Every metric that exists, as scikit-learn has it."""
    truth, said, scores, probabilities = part
    values = {"error": 1 - metrics.accuracy_score(truth, said),
              "f-score": metrics.f1_score(truth, said, average="macro")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that were predicted but are not in truth
        values["balanced-error"] = 1 - metrics.balanced_accuracy_score(truth, said)
    if classes == 2:
        values["f1"] = metrics.f1_score(truth, said, pos_label=1)
    if probabilities.size:
        values["log-loss"] = metrics.log_loss(truth, np.clip(probabilities, 1e-15, 1),
                                              labels=range(classes))
    if (probabilities.size or classes == 2) and len(set(truth)) == classes:
        values["auc"] = auc(truth, scores, probabilities, classes)
    return values


@pytest.fixture(scope="module")
def store(tmp_path_factory, request):
    from conftest import _cli
    kith = _cli.Kith(tmp_path_factory.mktemp("results"))
    evaluate(kith, 2, 1)
    evaluate(kith, 4, 2)
    return kith


def report(kith, *flags):
    result = kith("report", "--store", "run.db", "--json", *flags)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("classes", [2, 4])
def test_metrics_are_those_of_scikit_learn(store, classes):
    data = f"{classes} classes"
    parts = predictions(store, data)
    compared = set()
    for method in report(store, "--data", data)["methods"]:
        for place, part in enumerate(parts[method["method"]]):
            for name, value in expected(part, classes).items():
                assert method["metrics"][name]["values"][place] == pytest.approx(value, rel=1e-9), name
                compared.add(name)
        counts = sum(metrics.confusion_matrix(truth, said, labels=range(classes))
                     for truth, said, *_ in parts[method["method"]])
        assert method["confusion"] == counts.tolist()
        assert method["sd_error"] == pytest.approx(np.std(method["errors"], ddof=1))
    assert compared >= {"error", "balanced-error", "f-score", "log-loss", "auc"}


def by_all_signs(worse, better):
    """The permutation distribution of the rank sum, ties and all, over the differences in samples."""
    difference = np.round((np.array(worse) - np.array(better)) * 12).astype(int)  # of 12 tested
    difference = difference[difference != 0]
    if difference.size == 0:
        return 1.0
    ranks = stats.rankdata(np.abs(difference))
    signs = np.array(np.meshgrid(*[[0, 1]] * difference.size)).reshape(difference.size, -1)
    return np.mean(ranks @ signs >= ranks @ (difference > 0) - 1e-9)


def test_p_values_of_errors_are_those_of_all_sign_patterns(store):
    for data in report(store)["data_sets"]:
        best = min(data["methods"], key=lambda method: method["mean_error"])
        for method in data["methods"]:
            if method is best:
                assert method["p_value"] is None
                continue
            p = by_all_signs(method["errors"], best["errors"])
            assert method["p_value"] == pytest.approx(p, rel=1e-12)
            assert method["best"] == (p > 0.05)


def test_p_values_without_ties_are_those_of_scipy(store):
    compared = 0
    for data in report(store, "--metric", "auc")["data_sets"]:
        values = {method["method"]: method["metrics"]["auc"]["values"] for method in data["methods"]}
        best = next(m["method"] for m in data["methods"] if m["best"] and m["p_value"] is None)
        for method in data["methods"]:
            difference = np.array(values[best]) - np.array(values[method["method"]])
            sizes = np.round(np.abs(difference[difference != 0]), 12)
            if len(set(sizes)) < len(sizes) or not sizes.size:
                continue
            p = stats.wilcoxon(difference[difference != 0], alternative="greater", method="exact").pvalue
            assert method["p_value"] == pytest.approx(p, rel=1e-9)
            compared += 1
    assert compared >= 2


def test_critical_difference_is_that_of_the_studentized_range(store):
    ranks = report(store)["ranks"]
    k = len(ranks["methods"])
    q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    assert ranks["critical_difference"] == pytest.approx(q * np.sqrt(k * (k + 1) / 12), rel=1e-6)
