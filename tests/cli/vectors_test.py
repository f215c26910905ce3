# SPDX-License-Identifier: Apache-2.0
"""Methods that learn from vectors: --data without a measure."""

import json
import random
import re

import pytest

METHODS = ["linear-msvm", "nonlinear-msvm", "vector-svm", "nca-knn", "lmnn-knn", "simple-mkl", "rkl"]
# Their descents end by a rule of their own, here above the gap that would prove them.
STOPPED = {"lmnn-knn": 1e-3, "linear-msvm": 1e-8, "nonlinear-msvm": 1e-8, "rkl": 1e-6}


def rows(n, seed, classes=2):
    chance = random.Random(seed)
    return [[chance.gauss(2 * (i % classes == j), 1) for j in range(3)] for i in range(n)]


def csv(vectors):
    return "".join(",".join(map(repr, row)) + "\n" for row in vectors)


def libsvm(vectors, columns=None):
    return "".join("0 " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row[:columns])) + "\n"
                   for row in vectors)


@pytest.fixture
def vectors(kith):
    kith.write("x.csv", csv(rows(40, 1)))
    kith.write("new.csv", csv(rows(10, 2)))
    kith.write("y.txt", "".join("ab"[i % 2] + "\n" for i in range(40)))
    return kith


def predicted(kith, *arguments):
    result = kith("predict", *arguments)
    assert result.returncode == 0, result.stderr
    return [line.split("\t") for line in result.stdout.splitlines()]


@pytest.mark.parametrize("method", METHODS)
def test_train_and_predict(vectors, method):
    found = vectors.json("train", "--data", "x.csv", "--labels", "y.txt", "--method", method,
                         "--model", "m.kith")
    assert found["method"] == method and found["n"] == 40 and found["features"] == 3
    if method in STOPPED:  # a descent that nothing proves to be near its optimum
        assert found["status"] == "stopped by its rule" and found["gap"] > STOPPED[method]
    else:
        assert found["status"] in ("solved", "not convex: stationary")
    assert found["objective"] > 0 or method == "nca-knn"
    table = predicted(vectors, "--model", "m.kith", "--data", "new.csv")
    assert table[0] == ["id", "label", "score:a", "score:b", "probability:a", "probability:b"]
    assert len(table) == 11
    right = sum(line[1] == "ab"[i % 2] for i, line in enumerate(table[1:]))
    assert right >= 7


@pytest.mark.parametrize("method", METHODS)
def test_features_of_any_size(vectors, method):
    """Scaled features may be in any unit; what is far from all units is refused."""
    tables = []
    for power in (-240, 240, 0):
        for name, n, seed in (("t.csv", 40, 1), ("u.csv", 10, 2)):
            vectors.write(name, csv([[x * 2.0**power for x in row] for row in rows(n, seed)]))
        vectors.json("train", "--data", "t.csv", "--labels", "y.txt", "--method", method, "--model", "m.kith")
        tables.append(predicted(vectors, "--model", "m.kith", "--data", "u.csv"))
    assert tables[0] == tables[1] == tables[2]
    vectors.write("small.csv", csv([[1e-165 * x for x in row] for row in rows(40, 1)]))
    message = vectors.refusal("train", "--data", "small.csv", "--labels", "y.txt", "--method", method,
                              "--set", "scaling=none")
    assert "small.csv: the features" in message and "multiply all by a constant" in message
    vectors.write("huge.csv", "1e308,-1e308,1e308\n")
    assert "features" in vectors.refusal("predict", "--model", "m.kith", "--data", "huge.csv")


def test_the_page_of_a_descent_has_its_objective_and_no_duality_gap(vectors):
    for method, gap in (("linear-msvm", "gap to bound"), ("rkl", "gap to bound"), ("vector-svm", "duality gap")):
        common = ("train", "--data", "x.csv", "--labels", "y.txt", "--method", method)
        found = vectors.json(*common)
        shown = dict(re.findall(r"^  (\S+(?: \S+)*) {2,}(\S.*)$", vectors(*common).stdout, re.MULTILINE))
        assert float(shown["objective"]) == pytest.approx(found["objective"], rel=1e-5)
        assert float(shown[gap]) == pytest.approx(found["gap"], rel=1e-4)
        assert ("duality gap" in shown) == (gap == "duality gap")
        vectors(*common, "--model", "gap.kith")
        assert f"{gap} " in re.sub(r"\s+", " ", vectors("info", "gap.kith").stdout), method


def test_a_cost_of_simple_mkl_counts(vectors):
    """Its kernels have one mean diagonal, whatever the size of the features."""
    for size in (1, 100):
        vectors.write("t.csv", csv([[size * x for x in row] for row in rows(40, 1)]))
        found = [vectors.json("train", "--data", "t.csv", "--labels", "y.txt", "--method", "simple-mkl",
                              "--set", "scaling=none", "--set", "probability=no", "--set", f"cost={cost}")
                 for cost in ("1e-3", "0.1", "1")]
        assert all(one["status"] == "solved" and one["gap"] <= 1e-8 for one in found)
        objectives = [one["objective"] for one in found]
        assert 1.5 * objectives[0] < objectives[1] and 1.2 * objectives[1] < objectives[2]


@pytest.mark.parametrize("method", METHODS)
def test_several_classes(kith, method):
    kith.write("x.csv", csv(rows(60, 3, classes=3)))
    kith.write("y.txt", "".join("abc"[i % 3] + "\n" for i in range(60)))
    found = kith.json("train", "--data", "x.csv", "--labels", "y.txt", "--method", method)
    if not method.endswith("-knn"):  # which learn one map for all
        assert len(found["subproblems"]) == 3


def test_libsvm_text_may_be_narrower_or_wider(kith):
    kith.write("x.txt", libsvm(rows(40, 1)))
    kith.write("y.txt", "".join("ab"[i % 2] + "\n" for i in range(40)))
    assert kith("train", "--data", "x.txt", "--labels", "y.txt", "--method", "linear-msvm",
                "--model", "m.kith").returncode == 0
    new = rows(10, 2)
    kith.write("full.txt", libsvm([row[:2] + [0.0] for row in new]))
    kith.write("narrow.txt", libsvm(new, 2))
    kith.write("wide.txt", libsvm([row[:2] + [0.0, 0.0, 5.0] for row in new]))
    tables = [predicted(kith, "--model", "m.kith", "--data", f"{name}.txt")
              for name in ("full", "narrow", "wide")]
    assert tables[0] == tables[1] == tables[2]


def texts(n, seed):
    """Counts of 400 words, a few in each sample; the last word is in the first sample."""
    chance = random.Random(seed)
    vectors = []
    for i in range(n):
        row = [0] * 400
        for _ in range(12):
            row[2 * chance.randrange(200) + (i % 2 if chance.random() < 0.8 else 0)] += 1
        vectors.append(row)
    vectors[0][399] = 1
    return vectors


def sparse(vectors):
    return "".join("0 " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x) + "\n"
                   for row in vectors)


@pytest.mark.parametrize("arguments", [
    ["--method", "linear-msvm", "--set", "solver=convex"], ["--method", "vector-svm"],
    ["--method", "lmnn-knn"], ["--measure", "cosine", "--method", "svm-clip"],
    ["--measure", "manhattan", "--from-distance", "negative", "--method", "knn"]])
def test_sparse_vectors_are_the_same_as_dense_ones(kith, arguments):
    for name, write in (("x.csv", csv), ("x.txt", sparse)):
        kith.write(name, write(texts(40, 1)))
    for name, write in (("new.csv", csv), ("new.txt", sparse)):
        kith.write(name, write(texts(10, 2)))
    kith.write("y.txt", "".join("ab"[i % 2] + "\n" for i in range(40)))
    tables = []
    for ending in ("csv", "txt"):
        result = kith("train", "--data", f"x.{ending}", "--labels", "y.txt", "--model",
                      f"{ending}.kith", *arguments)
        assert result.returncode == 0, result.stderr
        tables.append(predicted(kith, "--model", f"{ending}.kith", "--data", f"new.{ending}"))
    for dense, found in zip(*tables):
        assert dense[:2] == found[:2]
        for a, b in zip(dense[2:], found[2:]):
            assert a == b or abs(float(a) - float(b)) <= 1e-7 * (1 + abs(float(a)))


def test_other_widths_are_refused(vectors):
    vectors("train", "--data", "x.csv", "--labels", "y.txt", "--method", "vector-svm", "--model",
            "m.kith")
    vectors.write("narrow.csv", csv([row[:2] for row in rows(5, 2)]))
    message = vectors.refusal("predict", "--model", "m.kith", "--data", "narrow.csv")
    assert "2 features" in message and "3" in message and "narrow.csv" in message


def test_features_are_matched_by_name(vectors):
    table = rows(10, 2)
    head = "id,u,v,w\n"
    vectors.write("named.csv", head + "".join(f"s{i}," + ",".join(map(repr, row)) + "\n"
                                              for i, row in enumerate(rows(40, 1))))
    vectors.write("labels.tsv", "".join(f"s{i}\t{'ab'[i % 2]}\n" for i in range(40)))
    vectors.write("new.csv", head + "".join(f"q{i}," + ",".join(map(repr, row)) + "\n"
                                            for i, row in enumerate(table)))
    vectors.write("moved.csv", "id,w,u,v\n" + "".join(f"q{i},{w!r},{u!r},{v!r}\n"
                                                       for i, (u, v, w) in enumerate(table)))
    vectors.json("train", "--data", "named.csv", "--labels", "labels.tsv", "--method", "linear-msvm",
                 "--model", "m.kith")
    assert (predicted(vectors, "--model", "m.kith", "--data", "new.csv") ==
            predicted(vectors, "--model", "m.kith", "--data", "moved.csv"))
    vectors.write("other.csv", "id,u,v,x\nq1,1,2,3\n")
    assert '"w"' in vectors.refusal("predict", "--model", "m.kith", "--data", "other.csv")


@pytest.mark.parametrize("method", ["linear-msvm", "nonlinear-msvm", "nca-knn", "lmnn-knn"])
def test_the_learned_similarity_trains_other_methods(vectors, method):
    vectors.json("train", "--data", "x.csv", "--labels", "y.txt", "--method", method,
                 "--write-similarity", "s.csv")
    shown = vectors.json("inspect", "--similarity", "s.csv", "--labels", "y.txt")
    assert shown["n"] == 40 and shown["symmetric"]
    assert shown["lambda_min"] >= -1e-9 * shown["lambda_max"]
    assert shown["max"] <= 1 + 1e-9 or method.endswith("-knn")
    found = vectors.json("train", "--similarity", "s.csv", "--labels", "y.txt", "--method", "svm")
    assert found["status"] == "solved"


def test_what_is_no_metric_is_refused_before_the_work(vectors):
    message = vectors.refusal("train", "--data", "x.csv", "--labels", "y.txt", "--method",
                              "vector-svm", "--write-similarity", "s.csv")
    assert "--write-similarity" in message and "vector-svm" in message


def test_evaluate_compares_vectors_and_similarities(vectors):
    names = "linear-msvm,vector-svm,svm-clip"
    common = ("evaluate", "--data", "x.csv", "--labels", "y.txt", "--repeats", "2", "--folds", "3",
              "--grid", "linear-msvm:cost=0.1,1", "--grid", "vector-svm:cost=0.1,1")
    both = vectors.json(*common, "--methods", names, "--measure", "gaussian", "--grid",
                        "svm-clip:cost=1,10")
    assert [one["method"] for one in both["methods"]] == names.split(",")
    alone = vectors.json(*common, "--methods", "linear-msvm,vector-svm")
    for name in ("linear-msvm", "vector-svm"):
        errors = [next(one["errors"] for one in found["methods"] if one["method"] == name)
                  for found in (both, alone)]
        assert errors[0] == errors[1]


def test_method_auto_chooses_among_vector_methods(vectors):
    found = vectors.json("train", "--data", "x.csv", "--labels", "y.txt", "--method", "auto",
                         "--among", "vector-svm,linear-msvm")
    (chosen,) = found["selection"]["chosen"]
    assert chosen in ("vector-svm", "linear-msvm")


@pytest.mark.parametrize("arguments,words", [
    (["--similarity", "s.csv", "--method", "linear-msvm"], ["linear-msvm", "--data"]),
    (["--data", "x.csv", "--method", "svm"], ["svm", "--measure"]),
    (["--data", "x.csv", "--measure", "gaussian", "--method", "linear-msvm"],
     ["--measure", "linear-msvm"]),
    (["--data", "x.csv", "--scale", "unit", "--method", "linear-msvm"], ["--scale", "vectors"]),
    (["--data", "x.csv", "--format", "csv", "--method", "vector-svm"], ["--format"]),
])
def test_flags_that_do_not_fit_are_refused(vectors, arguments, words):
    vectors.write("s.csv", "1,0\n0,1\n")
    message = vectors.refusal("train", *arguments, "--labels", "y.txt")
    assert all(word in message for word in words), message


def test_a_model_of_vectors_wants_no_rows(vectors):
    vectors("train", "--data", "x.csv", "--labels", "y.txt", "--method", "vector-svm", "--model",
            "m.kith")
    assert "--data" in vectors.refusal("predict", "--model", "m.kith", "--similarity", "new.csv")


def test_results_do_not_depend_on_threads(vectors):
    tables = []
    for threads in ("1", "3"):
        vectors("train", "--data", "x.csv", "--labels", "y.txt", "--method", "linear-msvm",
                "--model", f"m{threads}.kith", "--threads", threads)
        tables.append((vectors.folder / f"m{threads}.kith").read_bytes())
    assert tables[0] == tables[1]


def test_methods_says_which_learn_from_vectors(kith):
    found = kith.json("methods")["methods"]
    assert [one["name"] for one in found if one["learns_from_vectors"]] == [
        "vector-svm", "linear-msvm", "nonlinear-msvm", "nca-knn", "lmnn-knn", "simple-mkl", "rkl"]
    assert json.dumps(found).count("learns_from_vectors") == len(found)
