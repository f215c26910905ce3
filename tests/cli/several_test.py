# SPDX-License-Identifier: Apache-2.0
"""Several matrices from training to prediction and evaluation: names, ids, orders, formats."""

import json

import numpy as np
import pytest

from problems import Problem, csv, table


class Several:
    """One problem seen by three measures: one.csv, two.csv, three.csv over the same samples, and
    q_one.csv, ... for new ones."""

    NAMES = ("one", "two", "three")

    def __init__(self, kith, classes=2, ids=True, n=30):
        self.kith = kith
        self.base = Problem(n=n, classes=classes)
        self.base.write(kith, ids=ids)
        rng = np.random.default_rng(5)
        bend = rng.normal(size=3)
        self.views = {
            name: (lambda s, k=k: (s, np.tanh(0.3 * s), 0.2 * s + bend[k])[k])
            for k, name in enumerate(self.NAMES)}
        for name in self.NAMES:
            self.write(name, ids)

    def write(self, name, ids=True, order=None, query_order=None):
        base, see = self.base, self.views[name]
        order = range(len(base.ids)) if order is None else order
        query_order = range(len(base.query_ids)) if query_order is None else query_order
        at = list(order)
        named = [base.ids[i] for i in at]
        queries = list(query_order)
        S = see(base.S)[np.ix_(at, at)]
        rows = see(base.rows)[np.ix_(queries, at)]
        self.kith.write(f"{name}.csv", csv(S, named, named) if ids else csv(S))
        self.kith.write(f"q_{name}.csv",
                        csv(rows, [base.query_ids[i] for i in queries], named) if ids else csv(rows))

    def train(self, *flags, names=NAMES, method="mkl"):
        files = [flag for name in names for flag in ("--similarity", f"{name}={name}.csv")]
        return self.kith.json("train", *files, "--labels", "l.txt", "--method", method, "--model",
                              "m.kith", *flags)

    def predict(self, *flags, names=NAMES):
        files = [flag for name in names for flag in ("--similarity", f"{name}=q_{name}.csv")]
        result = self.kith("predict", "--model", "m.kith", *files, *flags)
        assert result.returncode == 0, result.stderr
        return result.stdout


@pytest.mark.parametrize("method", ("mkl", "mkl-mixed", "average-svm", "eskl-project",
                                    "emkl-project", "rekl", "rekl-l3"))
def test_learns_from_several_and_predicts_by_name(kith, method):
    several = Several(kith, classes=3)
    found = several.train(method=method)
    assert found["matrices"] == ["one", "two", "three"]
    assert found["status"] == "solved"
    expected = several.predict()
    assert [row["id"] for row in table(expected)] == several.base.query_ids
    # in any order of the names
    assert several.predict(names=("three", "one", "two")) == expected
    # without names in the order of training
    result = kith("predict", "--model", "m.kith", "--similarity", "q_one.csv", "--similarity",
                  "q_two.csv", "--similarity", "q_three.csv")
    assert result.stdout == expected


def test_kernel_weights_are_in_the_json_and_on_the_page(kith):
    several = Several(kith)
    weights = several.train()["kernel_weights"]
    assert list(weights) == ["one", "two", "three"]
    assert all(weight >= 0 for weight in weights.values()) and max(weights.values()) > 0
    result = kith("train", "--similarity", "one=one.csv", "--similarity", "two=two.csv", "--labels",
                  "l.txt", "--method", "mkl")
    assert "weights" in result.stdout and "one " in result.stdout
    found = Several(kith, classes=3).train()
    assert "kernel_weights" not in found
    for part in found["subproblems"]:
        assert list(part["kernel_weights"]) == ["one", "two", "three"]


def test_learned_spectra_are_in_the_json(kith):
    several = Several(kith)
    flags = ("--set", "trace=20", "--set", "probability=no")
    (shared,) = several.train(*flags, method="eskl")["learned"]
    assert shared["trace"] == 20
    (kernel,) = shared["kernels"]
    assert sum(kernel["eigenvalues"]) == pytest.approx(20, rel=1e-8)
    for method in ("emkl", "rekl"):
        found = several.train(*flags, method=method)
        assert list(found["kernel_weights"]) == ["one", "two", "three"]
        assert sum(1 / weight for weight in found["kernel_weights"].values()) == \
            pytest.approx(1, rel=1e-5)
        kernels = found["learned"][0]["kernels"]
        assert [kernel["matrix"] for kernel in kernels] == ["one", "two", "three"]
        for kernel in kernels:
            assert min(kernel["eigenvalues"]) >= 0
            assert sum(kernel["eigenvalues"]) == pytest.approx(20, rel=1e-8)
            if method == "rekl":
                S = several.views[kernel["matrix"]](several.base.S)
                expected = np.linalg.eigvalsh(0.5 * (S + S.T))
                assert kernel["similarity_eigenvalues"] == pytest.approx(expected, abs=1e-8)


def test_one_matrix_is_enough(kith):
    several = Several(kith)
    found = several.train(names=("two",))
    assert "matrices" not in found
    svm = several.train("--set", "tolerance=1e-9", names=("two",), method="svm")
    assert found["objective"] == pytest.approx(svm["objective"], rel=1e-7)


def test_matrices_and_queries_are_matched_by_id(kith):
    several = Several(kith)
    several.train("--set", "probability=no")
    expected = table(several.predict())
    rng = np.random.default_rng(1)
    several.write("two", order=rng.permutation(30), query_order=rng.permutation(12))
    several.write("three", order=rng.permutation(30), query_order=list(reversed(range(12))))
    several.train("--set", "probability=no")
    for got, wanted in zip(table(several.predict()), expected):
        assert got["id"] == wanted["id"] and got["label"] == wanted["label"]
        assert float(got["score:a"]) == pytest.approx(float(wanted["score:a"]), rel=1e-5, abs=1e-7)


def test_without_ids_everything_goes_by_position(kith):
    several = Several(kith, ids=False)
    several.train()
    assert len(table(several.predict())) == 12
    kith.write("q_two.csv", csv(several.views["two"](several.base.rows)[:-1]))
    message = kith("predict", "--model", "m.kith", "--similarity", "q_one.csv", "--similarity",
                   "q_two.csv", "--similarity", "q_three.csv").stderr
    assert "q_two.csv" in message and "query 12" in message


def test_the_same_bytes_on_any_number_of_threads(kith):
    several = Several(kith, classes=3)
    files = []
    for threads in (1, 2, 5):
        several.train("--threads", str(threads))
        files.append((kith.folder / "m.kith").read_bytes())
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize("flags, words", [
    (["--similarity", "one=q_one.csv"], ["no new rows", "two", "--similarity two=FILE"]),
    (["--similarity", "one=q_one.csv", "--similarity", "four=q_two.csv"],
     ["no matrix", "four", "one", "three"]),
    (["--similarity", "one=q_one.csv", "--similarity", "one=q_two.csv"], ["two files", "one"]),
    (["--similarity", "q_one.csv"], ["1 file", "3 matrices", "two"]),
    (["--similarity", "one=q_one.csv", "--similarity", "q_two.csv", "--similarity", "q_three.csv"],
     ["all or none"]),
    (["--similarity", "one=q_one.csv", "--distance", "two=q_two.csv", "--similarity",
      "three=q_three.csv"], ["similarities", "--similarity"]),
    (["--similarity", "one="], ["one=", "names no file"]),
])
def test_what_predict_refuses(kith, flags, words):
    Several(kith).train()
    message = kith.refusal("predict", "--model", "m.kith", *flags)
    for word in words:
        assert word in message, message


def test_files_without_names_are_said_to_be_which(kith):
    several = Several(kith)
    several.train()
    files = ["--similarity", "q_one.csv", "--similarity", "q_two.csv", "--similarity", "q_three.csv"]
    result = kith("predict", "--model", "m.kith", *files)
    assert result.returncode == 0 and result.stdout == several.predict()
    assert 'q_one.csv for "one", q_two.csv for "two", q_three.csv for "three"; name=FILE' in result.stderr
    assert kith("predict", "--model", "m.kith", *files, "--quiet").stderr == ""
    named = ["--similarity", "one=q_one.csv", "--similarity", "two=q_two.csv", "--similarity", "three=q_three.csv"]
    assert "without names" not in kith("predict", "--model", "m.kith", *named).stderr
    several.train(names=("one",), method="svm")
    assert "without names" not in kith("predict", "--model", "m.kith", "--similarity", "q_one.csv").stderr


def test_a_query_that_one_matrix_lacks_is_named(kith):
    several = Several(kith)
    several.train()
    several.write("two", query_order=range(11))
    result = kith("predict", "--model", "m.kith", "--similarity", "one=q_one.csv", "--similarity",
                  "two=q_two.csv", "--similarity", "three=q_three.csv")
    assert result.returncode == 1
    assert "q_two.csv" in result.stderr and '"q11"' in result.stderr
    several.write("two")
    several.write("one", query_order=range(11))
    result = kith("predict", "--model", "m.kith", "--similarity", "one=q_one.csv", "--similarity",
                  "two=q_two.csv", "--similarity", "three=q_three.csv")
    assert result.returncode == 1
    assert "q_two.csv" in result.stderr and '"q11"' in result.stderr and "q_one.csv" in result.stderr


def test_methods_for_one_matrix_say_who_takes_several(kith):
    Several(kith)
    message = kith.refusal("train", "--similarity", "one=one.csv", "--similarity", "two=two.csv",
                           "--labels", "l.txt", "--method", "svm")
    assert "svm learns from one matrix, and 2 were given" in message
    assert "average-svm" in message and "mkl" in message
    message = kith.refusal("train", "--similarity", "one=one.csv", "--similarity", "one=two.csv",
                           "--labels", "l.txt", "--method", "mkl")
    assert "both named" in message


def test_edge_lists_and_both_directions(kith):
    several = Several(kith)
    several.train("--set", "probability=no", names=("one", "two"))
    expected = several.predict(names=("one", "two"))
    base, see = several.base, several.views["two"]
    lines = [f"{q}\t{t}\t{float(see(base.rows)[i, j])!r}\n"
             for i, q in enumerate(base.query_ids) for j, t in enumerate(base.ids)]
    kith.write("q.edges", "".join(lines))
    result = kith("predict", "--model", "m.kith", "--similarity", "one=q_one.csv", "--similarity",
                  "two=q.edges")
    assert result.stdout == expected
    # a direction back for one of them alone, equal to the way there
    kith.write("back.csv", csv(see(base.rows).T, base.ids, base.query_ids))
    assert several.predict("--similarity-from", "two=back.csv", names=("one", "two")) == expected


def test_distances_and_similarities_together(kith):
    several = Several(kith)
    base = several.base
    kith.write("d.csv", csv(np.abs(base.S - base.S.max()), base.ids, base.ids))
    kith.write("q_d.csv", csv(np.abs(base.rows - base.S.max()), base.query_ids, base.ids))
    kith.json("train", "--similarity", "one=one.csv", "--distance", "d=d.csv", "--from-distance",
              "negative", "--labels", "l.txt", "--method", "mkl", "--model", "m.kith")
    result = kith("predict", "--model", "m.kith", "--distance", "d=q_d.csv", "--similarity",
                  "one=q_one.csv")
    assert result.returncode == 0, result.stderr
    assert len(table(result.stdout)) == 12
    assert "--distance d=FILE" in kith.refusal("predict", "--model", "m.kith", "--similarity", "one=q_one.csv")


def test_samples_dropped_from_one_are_dropped_from_all(kith):
    several = Several(kith, ids=False)
    for name, at in (("one", 3), ("two", 7)):
        S = several.views[name](several.base.S).copy()
        S[at, at] = np.nan
        kith.write(f"{name}.csv", csv(S).replace("nan", ""))
    found = several.train("--missing", "drop-sample")
    assert found["n"] == 28
    assert any("2 of 30 samples dropped" in sentence for sentence in found["applied"])
    # new rows over all samples that were given
    assert len(table(several.predict())) == 12


def test_evaluate_compares_them_into_a_store(kith):
    Several(kith, n=40)
    flags = ["--similarity", "one=one.csv", "--similarity", "two=two.csv", "--labels", "l.txt",
             "--methods", "average-svm,mkl,mkl-mixed", "--grid", "*:cost=0.1,1,10", "--repeats", "3",
             "--folds", "3"]
    found = kith.json("evaluate", *flags, "--store", "run.db", "--threads", "1")["methods"]
    assert [method["method"] for method in found] == ["average-svm", "mkl", "mkl-mixed"]
    assert all(len(method["errors"]) == 3 for method in found)
    for store, threads in (("run.db", "2"), ("other.db", "2")):  # from the store, and anew
        again = kith.json("evaluate", *flags, "--store", store, "--threads", threads)["methods"]
        assert [method["errors"] for method in again] == [method["errors"] for method in found]
    message = kith.refusal("evaluate", *flags[:6], "--methods", "svm-clip,mkl", "--protocol", "tr")
    assert "svm-clip learns from one matrix" in message


def test_auto_chooses_among_methods_for_several(kith):
    several = Several(kith)
    found = several.train("--among", "average-svm,mkl", method="auto")
    assert set(found["selection"]["chosen"]) <= {"average-svm", "mkl"}
    several.predict()


def test_without_a_list_the_methods_for_several_are_compared(kith):
    Several(kith, n=24)
    flags = ["--similarity", "one=one.csv", "--similarity", "two=two.csv", "--labels", "l.txt"]
    auto = kith.json("methods", "auto")
    found = kith.json("train", *flags, "--method", "auto")["selection"]
    assert [one["method"] for one in found["candidates"]] == auto["members"] + auto["members_of_several"]
    for one in found["candidates"]:  # a method for one matrix chooses one of them
        assert one["input"].get("matrix") in ({"one", "two"} if one["method"] in auto["members"] else {None})
    names = ["average-svm", "mkl", "mkl-mixed", "eskl", "rekl"]
    result = kith("evaluate", *flags, "--grid", "*:cost=1", "--grid", "*:rho=1", "--repeats", "2",
                  "--folds", "2", "--json")
    assert result.returncode == 0, result.stderr
    assert [one["method"] for one in json.loads(result.stdout)["methods"]] == names
    assert ",".join(names) in result.stderr and "--methods" in result.stderr


def test_the_data_set_is_named_after_all_its_matrices(kith):
    Several(kith)
    flags = ["--labels", "l.txt", "--methods", "average-svm", "--grid", "*:cost=1", "--repeats", "2", "--folds", "2"]
    found = kith("evaluate", "--similarity", "n=one.csv", "--similarity", "two.csv", *flags).stdout
    assert found.startswith("n+two: "), found


def of_self_similarity_two(see):
    def seen(s):
        found = np.array(see(s))
        if found.shape[0] == found.shape[1]:
            np.fill_diagonal(found, 2.0)
        return found
    return seen


def test_training_says_that_predictions_need_self_similarities(kith):
    several = Several(kith)
    train = ["train", "--similarity", "one=one.csv", "--similarity", "two=two.csv", "--labels", "l.txt",
             "--model", "m.kith", "--method"]
    predict = ["predict", "--model", "m.kith", "--similarity", "one=q_one.csv", "--similarity", "two=q_two.csv"]
    note = "kith predict --self"
    assert note in kith(*train, "eskl").stderr
    assert "--self" in kith.refusal(*predict)
    assert note not in kith(*train, "eskl-project").stderr
    assert kith(*predict).returncode == 0
    assert note not in kith(*train, "mkl").stderr
    for name in ("one", "two"):  # a common self-similarity is stored
        several.views[name] = of_self_similarity_two(several.views[name])
        several.write(name)
    assert note not in kith(*train, "eskl").stderr
    assert kith(*predict).returncode == 0


def test_methods_says_who_takes_several(kith):
    found = {method["name"]: method["several_matrices"] for method in kith.json("methods")["methods"]}
    assert found["mkl"] and found["average-svm"] and not found["svm"]
    assert "several" in kith("methods", "mkl").stdout


def test_results_say_which_matrices_they_are_of(kith):
    Several(kith)
    flags = ["--labels", "l.txt", "--methods", "average-svm", "--grid", "*:cost=1", "--repeats", "2", "--folds", "2"]
    found = kith.json("evaluate", "--similarity", "one=one.csv", "--similarity", "two.csv", *flags,
                      "--store", "run.db")["matrices"]
    assert found == [{"name": "one", "source": "one.csv", "kind": "similarities"},
                     {"name": "two", "source": "two.csv", "kind": "similarities"}]
    assert kith.json("report", "--store", "run.db", "--format", "json")["matrices"] == found
    kith.write("v.csv", "".join(f"{i % 2 * 5 + i / 30},{i % 7}\n" for i in range(30)))
    kith.write("v.txt", "".join("ab"[i % 2] + "\n" for i in range(30)))
    flags[1] = "v.txt"
    found = kith.json("evaluate", "--data", "v.csv", "--measure", "near=gaussian:gamma=0.5", "--measure",
                      "sigmoid", *flags)["matrices"]
    assert [one["name"] for one in found] == ["near", "sigmoid"]
    assert found[0]["measure"] == {"measure": "gaussian", "gamma": 0.5}
    assert found[1]["source"] == "v.csv" and found[1]["measure"]["coef0"] == 1


def test_a_note_says_that_ids_of_one_matrix_are_not_used(kith):
    several = Several(kith)
    flags = ["train", "--similarity", "one.csv", "--similarity", "two.csv", "--labels", "l.txt",
             "--method", "average-svm"]
    assert "by position" not in kith(*flags).stderr
    several.write("two", ids=False)
    message = kith(*flags).stderr
    assert "matched by position: one.csv has ids, and two.csv has none" in message
    kith.write("a.csv", "p,1,2\nq,3,4\nr,9,8\ns,8,8\n")
    kith.write("b.csv", "1\n2\n9\n8\n")
    kith.write("ab.txt", "x\nx\ny\ny\n")
    message = kith("train", "--data", "a.csv", "--measure", "gaussian", "--data", "b.csv", "--measure",
                   "laplacian", "--labels", "ab.txt", "--method", "average-svm").stderr
    assert "matched by position: a.csv has ids, and b.csv has none" in message


def test_messages_about_one_of_several_name_it(kith):
    several = Several(kith)
    train = ["train", "--similarity", "one=one.csv", "--similarity", "two=two.csv", "--labels", "l.txt",
             "--method", "average-svm", "--model", "m.kith"]
    several.views["two"] = lambda s: 2.0 + np.tanh(0.3 * s)
    several.views["one"] = lambda s: 2.0 + np.tanh(0.1 * s)
    several.write("one")
    several.write("two")
    assert kith(*train, "--scale", "cosine").returncode == 0
    kith.write("self.txt", "2\n" * 12)
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "one=q_one.csv", "--similarity",
                           "two=q_two.csv", "--self", "one=self.txt")
    assert 'matrix "two"' in message and "--self" in message
    several.views["two"] = lambda s: -2.0 + np.tanh(0.3 * s)
    several.write("two")
    message = kith.refusal(*train, "--scale", "cosine")
    assert 'matrix "two"' in message and "self-similarity" in message
    several.views["two"] = lambda s: np.where(s == s.max(), np.nan, s)
    several.write("two")
    message = kith.refusal(*train)
    assert 'matrix "two"' in message and "missing" in message


def test_info_says_which_matrix_a_member_uses(kith):
    several = Several(kith)
    found = several.train("--among", "knn,svm-flip,mkl", "--set", "neighbours=3", method="auto")
    seated = {one["method"]: one["input"].get("matrix") for one in found["selection"]["candidates"] if one["chosen"]}
    if len(seated) < 2:
        pytest.skip("one method alone is chosen for this problem")
    members = kith.json("info", "m.kith")["members"]
    page = kith("info", "m.kith").stdout
    for matrix, member in zip(seated.values(), members):
        assert member["matrices"] == ([matrix] if matrix else list(Several.NAMES))
        if matrix:
            assert f"{member['name']} from {matrix}: " in page
