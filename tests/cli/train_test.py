# SPDX-License-Identifier: Apache-2.0
"""`kith train`: what it prints, what it writes, what it refuses."""

import json

import numpy as np
import pytest

from problems import Problem, csv, table


def test_json_has_the_fields_of_the_contract(kith):
    found = Problem().write(kith).train(kith, "--set", "cost=10")
    for field in ("method", "settings", "n", "classes", "objective", "gap", "kkt_residual",
                  "iterations", "status", "consistency", "timing"):
        assert field in found, field
    assert found["method"] == "svm"
    assert found["settings"]["cost"] == 10
    assert found["settings"]["spectrum"] == "clip"
    assert found["n"] == 30
    assert found["classes"] == ["a", "b"]
    assert found["status"] == "solved"
    assert found["gap"] <= 1e-6 and found["kkt_residual"] <= 1e-6
    assert found["consistency"] <= 1e-9
    assert found["timing"]["seconds"] >= 0
    assert "subproblems" not in found


def test_several_classes_have_subproblems_and_no_single_objective(kith):
    found = Problem(classes=3).write(kith).train(kith)
    assert found["objective"] is None
    assert [part["name"] for part in found["subproblems"]] == ["a | b", "a | c", "b | c"]
    for part in found["subproblems"]:
        assert part["objective"] > 0 and part["status"] == "solved"
    for field in ("gap", "kkt_residual"):
        assert found[field] == max(part[field] for part in found["subproblems"])
    assert found["iterations"] == sum(part["iterations"] for part in found["subproblems"])


def test_very_many_classes_are_better_not_told_apart_in_pairs(kith):
    kith.write("s.csv", csv(np.eye(402)))
    kith.write("l.txt", "".join(f"c{i // 2}\n" for i in range(402)))
    given = ("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", "svm", "--set", "probability=no")
    (note,) = kith.json(*given)["notes"]
    assert "20100 pairs" in note and "--set multiclass=one-vs-rest" in note
    assert note in kith(*given).stdout
    found = kith.json(*given, "--set", "multiclass=one-vs-rest")
    assert "notes" not in found and len(found["subproblems"]) == 201


def test_ridge_says_what_it_has_chosen(kith):
    found = Problem(classes=3).write(kith).train(kith, "--method", "ridge")
    (note,) = found["notes"]
    learned = found["learned"]
    at = learned["squared_errors"].index(min(learned["squared_errors"]))
    assert learned["ridge"] == learned["tried"][at] and "squared error" in note
    assert found["status"] == "solved" and found["kkt_residual"] <= 1e-8
    assert [part["name"] for part in found["subproblems"]] == ["a | rest", "b | rest", "c | rest"]


@pytest.mark.parametrize("method, settings", (
    ("robust-svm", ()), ("full-kernel-svm", ()), ("spectrum-svm", ("--set", "centre=both"))))
def test_learned_kernels_have_the_offset_of_each_objective(kith, method, settings):
    """The gap is relative to the objective less `objective_offset`."""
    wanted = ("--method", method, *settings, "--set", "probability=no")
    found = Problem(classes=3).write(kith).train(kith, *wanted)
    assert "objective_offset" not in found
    for part in found["subproblems"]:
        assert 0 < part["objective_offset"] < part["objective"]
    found = Problem().write(kith).train(kith, *wanted)
    assert 0 < found["objective_offset"] < found["objective"]


def test_objective_is_that_of_the_printed_problem(kith):
    # Two samples at squared distance d2 in feature space: a = min(C, 2 / d2), value 2a - a^2 d2/2.
    kith.write("s.csv", "2,0\n0,2\n")
    kith.write("l.txt", "a\nb\n")
    for cost, value in ((10, 2 * 0.5 - 0.5), (0.1, 0.2 - 0.01 * 2)):
        found = kith.json("train", "--similarity", "s.csv", "--labels", "l.txt", "--set",
                          f"cost={cost}")
        assert found["objective"] == pytest.approx(value, rel=1e-9)


def test_a_missed_tolerance_is_exit_code_2_with_the_model_written(kith):
    Problem().write(kith)
    result = kith("train", "--similarity", "s.csv", "--labels", "l.txt", "--model", "m.kith",
                  "--set", "tolerance=1e-30", "--json")
    assert result.returncode == 2
    found = json.loads(result.stdout)
    assert found["status"] not in ("solved", "not convex: stationary")
    assert "tolerance" in result.stderr
    predicted = kith("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert predicted.returncode == 0
    assert found["gap"] <= 1e-6  # missed a senseless tolerance, yet a good answer


def test_the_page_names_status_and_file(kith):
    Problem().write(kith)
    result = kith("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", "svm-flip",
                  "--model", "m.kith")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "svm-flip: 30 samples, 2 classes" in result.stdout
    assert "solved" in result.stdout and "m.kith" in result.stdout


def test_notes_on_the_fit_are_printed(kith):
    """Four features of thirty samples: the eigenvalue 0 repeats."""
    problem = Problem()
    features = np.random.default_rng(3).normal(size=(30, 4))
    problem.S = features @ features.T
    problem.write(kith)
    flags = ("--method", "rekl", "--set", "rho=0.01", "--set", "probability=no")
    notes = problem.train(kith, *flags)["notes"]
    assert any("eigenvalues repeat" in note for note in notes)
    page = kith("train", "--similarity", "s.csv", "--labels", "l.txt", *flags).stdout
    for note in notes:
        assert f"  note          {note}\n" in page


def test_a_short_name_fixes_its_setting(kith):
    problem = Problem().write(kith)
    assert problem.train(kith, "--method", "svm-flip")["settings"]["spectrum"] == "flip"
    assert problem.train(kith, "--method", "svm-denoise")["settings"]["spectrum"] == "clip"
    assert problem.train(kith, "--method", "svm-pair")["settings"]["scope"] == "pair"


def test_treatment_none_shows_in_consistency(kith):
    problem = Problem().write(kith)
    assert problem.train(kith, "--set", "test-treatment=none")["consistency"] > 1e-3
    assert problem.train(kith, "--set", "test-treatment=augmented")["consistency"] is None


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(kith):
    problem = Problem(classes=3).write(kith)
    files = []
    for threads in (1, 2, 7):
        problem.train(kith, "--threads", str(threads))
        files.append((kith.folder / "m.kith").read_bytes())
    assert files[0] == files[1] == files[2]


def test_labels_are_joined_by_id(kith):
    problem = Problem().write(kith)
    problem.train(kith)
    first = (kith.folder / "m.kith").read_bytes()
    lines = [f"{i}\t{label}\n" for i, label in zip(problem.ids, problem.labels)]
    kith.write("l.txt", "".join(reversed(lines)))
    problem.train(kith)
    assert (kith.folder / "m.kith").read_bytes() == first


@pytest.mark.parametrize("flags, words", [
    (["--method", "svmm"], ["svmm", "did you mean", "svm"]),
    (["--method", "svm-clup"], ["clup", "spectrum: ", "clip, flip"]),
    (["--set", "cots=1"], ["cots", "cost"]),
    (["--set", "cost=-1"], ["cost", "-1", "above 0"]),
    (["--set", "cost=x"], ["cost", "x"]),
    (["--set", "cost=inf"], ["cost", "inf", "a finite number above 0"]),
    (["--set", "prioors=a=1"], ["prioors", "did you mean priors", "priors and costs"]),
    (["--method", "krr", "--set", "cost=1"], ["krr has no setting", "ridge"]),
    (["--set", "cost=1", "--set", "cost=2"], ["cost", "twice", "cost=2"]),
    (["--set", "cost=1", "--set", "cost=1"], ["cost", "twice"]),
    (["--method", "svm-flip", "--set", "spectrum=clip"],
     ["svm-flip already fixes setting spectrum", "--method svm", "spectrum=clip"]),
    (["--from-distance", "negative"], ["--from-distance", "--distance"]),
    (["--gamma", "2"], ["--gamma", "--from-distance exp"]),
    (["--set", "cost"], ["cost", "key=value"]),
    (["--set", "spectrum=flop"], ["spectrum", "flop", "flip"]),
    (["--set", "priors=a=0.5,z=0.5"], ["z"]),
    (["--set", "costs=a:z=2"], ["z"]),
    (["--set", "test-treatment=augmented", "--set", "scope=pair"], ["augmented", "scope all"]),
])
def test_refusals_name_the_thing_and_the_rule(kith, flags, words):
    Problem().write(kith)
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--model",
                           "m.kith", *flags)
    for word in words:
        assert word in message, message
    assert not (kith.folder / "m.kith").exists()


def test_priors_are_no_setting_of_a_method_without_probabilities(kith):
    Problem().write(kith)
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", "krr",
                           "--set", "nonsense=1")
    assert "priors" not in message


def test_gamma_is_for_exp_alone(kith):
    kith.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n")
    kith.write("l.txt", "a\nb\na\n")
    train = ["train", "--distance", "d.csv", "--labels", "l.txt", "--method", "knn", "--gamma", "2"]
    assert "--from-distance exp" in kith.refusal(*train)
    assert kith(*train, "--from-distance", "exp").returncode == 0


FAR_FROM_ONE = [(size, method) for size in (1e-300, 1e100, 1.7e308)
                for method in ("knn", "svm-clip", "svm-square", "features-fisher", "sda", "robust-svm")]


@pytest.mark.parametrize("size, method", FAR_FROM_ONE)
def test_numbers_too_large_or_small_to_work_with_are_refused_in_words(kith, size, method):
    problem = Problem(n=8)
    S = size * (problem.S / np.abs(problem.S).max())
    kith.write("s.csv", csv(S))
    kith.write("l.txt", "".join(label + "\n" for label in problem.labels))
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", method)
    assert ("divide" if size > 1 else "multiply") + " all by a constant" in message


def test_missing_labels_and_a_single_class_are_refused(kith):
    problem = Problem().write(kith)
    assert "--labels" in kith.refusal("train", "--similarity", "s.csv")
    kith.write("l.txt", "".join(f"{i}\tonly\n" for i in problem.ids))
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt")
    assert "one class" in message and "only" in message


def test_constant_and_zero_matrices_train(kith):
    kith.write("l.txt", "a\na\nb\na\nb\n")
    for value in (0.0, 1.0):
        kith.write("s.csv", csv(np.full((5, 5), value)))
        found = kith.json("train", "--similarity", "s.csv", "--labels", "l.txt", "--model", "m.kith")
        assert found["status"] == "solved"


def test_neighbours_are_those_of_the_distances_as_they_were_given(kith):
    problem = Problem().write(kith)
    points = np.random.default_rng(2).normal(size=(42, 2)) ** 3
    D = np.linalg.norm(points[:, None] - points, axis=2)
    kith.write("d.csv", csv(D[:30, :30], problem.ids, problem.ids))
    kith.write("q.csv", csv(D[30:, :30], problem.query_ids, problem.ids))
    flags = ["--distance", "d.csv", "--labels", "l.txt", "--model", "m.kith"]
    result = kith("train", *flags, "--method", "knn", "--set", "neighbours=1")
    assert result.returncode == 0 and result.stderr == ""
    said = table(kith("predict", "--model", "m.kith", "--distance", "q.csv").stdout)
    assert [row["label"] for row in said] == [problem.labels[i] for i in D[30:, :30].argmin(axis=1)]
    assert "by -d" in " ".join(kith.json("train", *flags, "--method", "knn")["applied"])
    assert "J D^2 J" in " ".join(kith.json("train", *flags, "--method", "svm")["applied"])
    fixed = kith.json("train", *flags, "--method", "knn", "--from-distance", "double-centre")
    assert "J D^2 J" in " ".join(fixed["applied"])



PAPER_OPTIONS = (("rekl", "loss=l3"), ("krr", "normalised=yes"), ("mixture-sda", "class-components=a:3/b:1"),
                 ("features-svm", "prototypes=6 train-on=others"), ("lp-machine", "prototypes=6 train-on=others"),
                 ("p-svm", "prototypes=6 train-on=others"))


@pytest.mark.parametrize("method, settings", PAPER_OPTIONS, ids=[" ".join(one) for one in PAPER_OPTIONS])
def test_options_of_the_papers_are_fitted_saved_and_cross_validated(kith, method, settings):
    problem = Problem(n=60, classes=3).write(kith)
    given = settings.split()
    flags = [flag for one in given for flag in ("--set", one)]
    fitted = problem.train(kith, "--method", method, *flags)
    for one in given:
        name, value = one.split("=")
        assert str(fitted["settings"][name]) == {"yes": "True"}.get(value, value)
    assert kith("predict", "--model", "m.kith", "--similarity", "q.csv").returncode == 0
    fixed = [flag for one in given for flag in ("--set", f"{method}:{one}")]
    result = kith.json("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", method, *fixed,
                       "--repeats", "1", "--folds", "2")
    assert result["methods"][0]["finished"] == [1]


@pytest.mark.parametrize("method, setting, message", (
    ("rekl", "loss=l1", "must be one of l2, l3, own"),
    ("eskl", "loss=own", "which C++ and Python can give and texts cannot"),
    ("mixture-sda", "class-components=a:0", "a number of at least 1"),
    ("mixture-sda", "class-components=nobody:2", "is no class; there are a and b"),
))
def test_options_that_cannot_be_are_refused(kith, method, setting, message):
    Problem().write(kith)
    assert message in kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", method,
                                   "--set", setting)


def test_the_map_of_a_shift_notes_that_it_depends_on_what_counts_as_zero(kith):
    """Eigenvalues that fall evenly, from 1 to 1e-9 and below, without a gap."""
    problem = Problem(n=60)
    rng = np.random.default_rng(3)
    U = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    lam = 10.0 ** (-0.15 * np.arange(60))
    lam[1] = -0.5
    problem.S = (U * lam) @ U.T
    problem.write(kith)
    flags = ("--method", "svm-shift", "--set", "probability=no")
    assert not problem.train(kith, *flags).get("notes")
    (note,) = problem.train(kith, *flags, "--set", "test-treatment=map")["notes"]
    assert "count as zero" in note and "--set test-treatment=linear" in note
