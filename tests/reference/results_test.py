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


def evaluate(kith, classes, seed, name=None, repeats=REPEATS, store="run.db", *flags):
    rng = np.random.default_rng(seed)
    of = np.arange(60) % classes
    points = 1.2 * rng.normal(size=(classes, 4))[of] + rng.normal(size=(60, 4))
    S = points @ np.diag([1, 1, 1, -0.4]) @ points.T + np.tanh(points @ points.T)
    np.save(kith.folder / "s.npy", S)
    kith.write("l.txt", "".join(f"{c}\n" for c in of))
    result = kith("evaluate", "--similarity", "s.npy", "--labels", "l.txt", "--methods", METHODS,
                  "--set", "svm-clip:probability=yes", "--grid", "svm-clip:cost=0.1,10",
                  "--repeats", repeats, "--folds", 2, "--name", name or f"{classes} classes", "--append",
                  "--store", store, "--threads", 1, *flags)
    assert result.returncode == 0, result.stderr


def matrix(blob):
    rows, columns = np.frombuffer(blob[:16], dtype="<i8")
    return np.frombuffer(blob[16:], dtype="<f4").astype(float).reshape(rows, columns)


def predictions(kith, data, store="run.db"):
    """method -> [(truth, labels, scores, probabilities) of each partition]."""
    found = {}
    with sqlite3.connect(kith.folder / store) as store:
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


def report(kith, *flags, store="run.db"):
    result = kith("report", "--store", store, "--json", *flags)
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
                # scikit-learn makes rows of probabilities add up to 1, which those of single precision miss.
                near = 1e-7 if name == "log-loss" else 1e-9
                assert method["metrics"][name]["values"][place] == pytest.approx(value, rel=near), name
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


def test_p_values_of_wilcoxon_are_those_of_all_sign_patterns(store):
    for data in report(store, "--test", "wilcoxon")["data_sets"]:
        best = min(data["methods"], key=lambda method: method["mean_error"])
        for method in data["methods"]:
            assert method["leads"] == (method is best)
            if method is best:
                assert method["p_value"] is None
                continue
            p = by_all_signs(method["errors"], best["errors"])
            assert method["p_value"] == pytest.approx(p, rel=1e-12)
            assert method["best"] == (p > 0.05)


def test_p_values_without_ties_are_those_of_scipy(store):
    compared = 0
    for data in report(store, "--metric", "auc", "--test", "wilcoxon")["data_sets"]:
        values = {method["method"]: method["metrics"]["auc"]["values"] for method in data["methods"]}
        best = next(m["method"] for m in data["methods"] if m["leads"])
        for method in data["methods"]:
            difference = np.array(values[best]) - np.array(values[method["method"]])
            sizes = np.round(np.abs(difference[difference != 0]), 12)
            if len(set(sizes)) < len(sizes) or not sizes.size:
                continue
            p = stats.wilcoxon(difference[difference != 0], alternative="greater", method="exact").pvalue
            assert method["p_value"] == pytest.approx(p, rel=1e-9)
            compared += 1
    assert compared >= 2


def corrected(difference, tested, trained):
    """Student's t of Nadeau and Bengio (2003); the deviation is at least as if one value differed by one sample."""
    count = len(difference)
    deviation = max(np.std(difference, ddof=1), 1 / tested / np.sqrt(count))
    return stats.t(count - 1, np.mean(difference), deviation * np.sqrt(1 / count + tested / trained))


def holm(p_values):
    """Each p times how many hypotheses it leaves standing, never below a smaller one's."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * np.arange(len(order), 0, -1)))
    return adjusted


def expect_corrected_t(data, values, tested, trained, smaller=True):
    """Of each method against the one that leads, and of each pair."""
    names = [method["method"] for method in data["methods"]]
    leader = next(method["method"] for method in data["methods"] if method["leads"])
    others = [method for method in data["methods"] if not method["leads"]]
    for method in others:
        t = corrected(np.array(values[method["method"]]) - values[leader], tested, trained)
        assert method["p_value"] == pytest.approx(2 * min(t.sf(0), t.cdf(0)), rel=1e-9)
        low, high = t.interval(0.95)
        assert [method["difference"][key] for key in ("mean", "low", "high")] == pytest.approx([t.mean(), low, high])
        below, above = t.cdf(-0.01), t.sf(0.01)
        expected = {"better": below if smaller else above, "equal": 1 - below - above,
                    "worse": above if smaller else below}
        assert method["bayes"] == pytest.approx(expected, abs=1e-12)
    assert [m["p_adjusted"] for m in others] == pytest.approx(holm([m["p_value"] for m in others]))
    for method in data["methods"]:
        assert method["best"] == (method["leads"] or method["p_adjusted"] > 0.05)
    assert len(data["pairs"]) == len(names) * (len(names) - 1) // 2
    for pair in data["pairs"]:
        first, second = (names[place] for place in pair["methods"])
        t = corrected(np.array(values[first]) - values[second], tested, trained)
        assert pair["p_value"] == pytest.approx(2 * min(t.sf(0), t.cdf(0)), rel=1e-9)
        assert (pair["difference"], pair["low"], pair["high"]) == pytest.approx((t.mean(), *t.interval(0.95)))
    adjusted = holm([pair["p_value"] for pair in data["pairs"]])
    assert [pair["p_adjusted"] for pair in data["pairs"]] == pytest.approx(adjusted)


def test_the_corrected_t_is_that_of_scipy(store):
    for data in report(store)["data_sets"]:
        assert data["test"]["name"] == "corrected-t" and data["test"]["possible"]
        expect_corrected_t(data, {m["method"]: m["errors"] for m in data["methods"]}, 12, 48)
    for data in report(store, "--metric", "f-score")["data_sets"]:
        values = {m["method"]: m["metrics"]["f-score"]["values"] for m in data["methods"]}
        expect_corrected_t(data, values, 12, 48, smaller=False)


def test_repeated_folds_have_the_ratio_of_their_parts(kith):
    """Twice three folds, given as partitions: a third is tested, two thirds train."""
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(2):
        fold = rng.permutation(np.arange(60) % 3)
        parts += [np.where(fold == at, "test", "train") for at in range(3)]
    lines = ["\t".join(["sample"] + [str(p) for p in range(6)])]
    lines += ["\t".join([str(i + 1)] + [part[i] for part in parts]) for i in range(60)]
    kith.write("folds.tsv", "\n".join(lines) + "\n")
    evaluate(kith, 2, 3, "folds", 6, "folds.db", "--partitions", "folds.tsv")
    data = report(kith, store="folds.db")
    assert data["test"]["name"] == "corrected-t" and data["partitions"] == 6
    assert data["test_counts"] == {"least": 2, "most": 2, "never": 0}
    expect_corrected_t(data, {m["method"]: m["errors"] for m in data["methods"]}, 20, 40)


def newcombe(both, first, second, neither):
    """Newcombe (1998), method 10, from its formulas."""
    n = both + first + second + neither
    z = stats.norm.ppf(0.975)

    def wilson(count):
        root = z * np.sqrt(z * z / 4 + count * (n - count) / n)
        return (count + z * z / 2 - root) / (n + z * z), (count + z * z / 2 + root) / (n + z * z)
    (l1, u1), (l2, u2) = wilson(both + first), wilson(both + second)
    p1, p2 = (both + first) / n, (both + second) / n
    product = both * neither - first * second
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = (max(product - n / 2, 0) if product > 0 else product) / np.sqrt(margins) if margins else 0
    down = np.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    up = np.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return p1 - p2 - down, p1 - p2 + up


def test_one_partition_has_mcnemar_with_mid_p(kith):
    evaluate(kith, 4, 4, "one", 1, "one.db", "--test-fraction", 0.5)
    data = report(kith, store="one.db")
    assert data["test"]["name"] == "mcnemar"
    missed = {name: part[0][0] != part[0][1] for name, part in predictions(kith, "one", "one.db").items()}
    leader = next(method["method"] for method in data["methods"] if method["leads"])
    others = [method for method in data["methods"] if not method["leads"]]
    for method in others:
        a, b = missed[method["method"]], missed[leader]
        first, second = int(np.sum(a & ~b)), int(np.sum(b & ~a))
        flips = stats.binom(first + second, 0.5)
        p = 2 * flips.cdf(min(first, second)) - flips.pmf(min(first, second))
        assert method["p_value"] == pytest.approx(min(1, p), rel=1e-9)
        low, high = newcombe(int(np.sum(a & b)), first, second, int(np.sum(~a & ~b)))
        assert (method["difference"]["low"], method["difference"]["high"]) == pytest.approx((low, high))
        assert method["bayes"] is None
    assert [m["p_adjusted"] for m in others] == pytest.approx(holm([m["p_value"] for m in others]))


def test_recalls_have_the_corrected_interval(store):
    for classes in 2, 4:
        data = report(store, "--data", f"{classes} classes")
        parts = predictions(store, data["name"])
        for method in data["methods"]:
            for c, recall in enumerate(method["recall"]):
                shares = [np.mean(said[truth == c] == c) for truth, said, *_ in parts[method["method"]] if c in truth]
                assert recall["mean"] == pytest.approx(np.mean(shares))
                counted = np.mean([np.sum(truth == c) for truth, *_ in parts[method["method"]] if c in truth])
                t = stats.t(len(shares) - 1, np.mean(shares),
                            max(np.std(shares, ddof=1), 1 / counted / np.sqrt(len(shares))) *
                            np.sqrt(1 / len(shares) + 12 / 48))
                low, high = t.interval(0.95)
                assert (recall["low"], recall["high"]) == pytest.approx((max(0, low), min(1, high)))


def test_ranks_are_tested_from_five_data_sets_on(store):
    few = report(store)["ranks"]
    assert few["friedman"] is None and few["critical_difference"] is None
    assert "from 5 data sets on" in few["note"]
    for seed in 11, 12, 13:
        evaluate(store, 2, seed, f"seed {seed}")
    document = report(store)
    found = document["ranks"]
    names = [one["method"] for one in found["methods"]]
    errors = np.array([[next(m["mean_error"] for m in data["methods"] if m["method"] == name) for name in names]
                       for data in document["data_sets"]]).round(12)
    ranks = np.array([stats.rankdata(row) for row in errors])
    assert [one["rank"] for one in found["methods"]] == pytest.approx(ranks.mean(axis=0))
    n, k = ranks.shape
    chi = stats.friedmanchisquare(*errors.T).statistic
    f = (n - 1) * chi / (n * (k - 1) - chi)  # Iman and Davenport (1980)
    assert found["friedman"]["statistic"] == pytest.approx(f)
    assert found["friedman"]["p_value"] == pytest.approx(stats.f(k - 1, (k - 1) * (n - 1)).sf(f))
    q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    assert found["critical_difference"] == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), rel=1e-6)
