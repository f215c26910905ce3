# SPDX-License-Identifier: Apache-2.0
"""The committee `auto`, and the search of how the input is treated: train, evaluate, predict, info, methods."""

import json
import random

import numpy as np
import pytest

from problems import Problem, csv, table

TRAIN = ("train", "--similarity", "s.csv", "--labels", "l.txt")
NOTE = "ways to treat the input are searched"


@pytest.fixture
def problem(kith):
    """Training samples in s.csv and l.txt, new ones in q.csv, and distances of both (d.csv, e.csv)."""
    made = Problem(n=40, queries=10).write(kith)
    chance = np.random.default_rng(3)
    points = chance.normal(size=(50, 2)) + 2 * (np.arange(50) % 2)[:, None]
    D = np.linalg.norm(points[:, None] - points, axis=2)
    kith.write("d.csv", csv(D[:40, :40], made.ids, made.ids))
    kith.write("e.csv", csv(D[40:, :40], made.query_ids, made.ids))
    return kith


def near(selection):
    """Those within three standard errors of the least, by the numbers that are printed."""
    tried = [one for one in selection["candidates"] if "skipped" not in one]
    best = min(tried, key=lambda one: one["inner_error"])
    reach = best["inner_error"] + 3 * best["standard_error"]
    return [one["method"] for one in tried if one["inner_error"] <= reach]


def test_auto_trains_a_committee_and_says_why(problem):
    result = problem(*TRAIN, "--method", "auto", "--model", "m.kith")
    assert result.returncode == 0, result.stderr
    assert NOTE in result.stderr
    page = result.stdout
    assert "a committee of" in page and "cross-validation over 5 folds" in page
    for words in ("method", "error (%)", "seconds", "best settings", "\u00b1", "cost=", "scale="):
        assert words in page, words
    document = problem.json(*TRAIN, "--method", "auto", "--model", "again.kith")
    assert document["method"] == "auto" and document["status"] == "solved"
    selection = document["selection"]
    assert [one["method"] for one in selection["candidates"]] == problem.json("methods", "auto")["members"]
    assert selection["chosen"] == near(selection)
    for one in selection["candidates"]:
        assert one["chosen"] == (one["method"] in selection["chosen"])
        assert {"settings", "input", "inner_error", "standard_error", "seconds"} <= set(one)
    assert selection["folds"] == 5 and selection["input_variants"] > 1


def test_auto_predicts_with_probabilities_that_sum_to_one(problem):
    for data, rows, kind in (("s.csv", "q.csv", "similarity"), ("d.csv", "e.csv", "distance")):
        problem.json("train", f"--{kind}", data, "--labels", "l.txt", "--method", "auto", "--model", "m.kith")
        result = problem("predict", "--model", "m.kith", f"--{kind}", rows)
        assert result.returncode == 0, result.stderr
        said = table(result.stdout)
        assert len(said) == 10
        for row in said:
            shares = {name: float(row[f"probability:{name}"]) for name in "ab"}
            assert sum(shares.values()) == pytest.approx(1)
            assert row["label"] == max(shares, key=shares.get)
        found = problem.json("info", "m.kith")
        assert found["probabilities"] is True and len(found["members"]) >= 1
        assert problem("info", "m.kith").returncode == 0


def test_threads_change_neither_the_choice_nor_the_model(problem):
    for n in (1, 3):
        problem.json(*TRAIN, "--method", "auto", "--model", f"{n}.kith", "--threads", n)
    said = [problem("predict", "--model", f"{n}.kith", "--similarity", "q.csv").stdout for n in (1, 3)]
    assert said[0] == said[1] != ""


def test_auto_takes_priors_and_costs(problem):
    flags = (*TRAIN, "--method", "auto", "--among", "knn,ridge-clip")
    problem.json(*flags, "--model", "plain.kith")
    found = problem.json(*flags, "--set", "costs=a:b=50", "--model", "costly.kith")
    assert found["settings"]["costs"] == "a:b=50"
    plain, costly = (table(problem("predict", "--model", name, "--similarity", "q.csv").stdout)
                     for name in ("plain.kith", "costly.kith"))
    for before, after in zip(plain, costly):  # a sample of a that is called b costs 50
        assert after["label"] == ("a" if 50 * float(after["probability:a"]) > float(after["probability:b"]) else "b")
        assert before["label"] in ("a", after["label"])


def test_members_without_probabilities_are_left_out_where_costs_decide(problem):
    names = [line.split()[-1] for line in (problem.folder / "l.txt").read_text().splitlines()]
    first, second = sorted(set(names))[:2]
    found = problem.json(*TRAIN, "--method", "auto", "--among", "svm-knn,knn,ridge", "--set", f"costs={first}:{second}=5",
                         "--model", "m.kith")
    skipped = {one["method"]: one["skipped"] for one in found["selection"]["candidates"] if "skipped" in one}
    assert list(skipped) == ["svm-knn"] and "probabilities" in skipped["svm-knn"]
    assert problem("predict", "--model", "m.kith", "--similarity", "q.csv").returncode == 0


def test_settings_of_members_are_fixed_and_searched(problem):
    found = problem.json(*TRAIN, "--method", "auto", "--among", "knn,svm-clip,svm-flip", "--set", "neighbours=3",
                         "--grid", "cost=2,4")["selection"]
    knn, clip, flip = (one["settings"] for one in found["candidates"])
    assert knn["neighbours"] == 3 and {clip["cost"], flip["cost"]} <= {2, 4}
    found = problem.json(*TRAIN, "--method", "auto", "--among", "knn,svm-clip,svm-flip", "--grid",
                         "svm-flip:cost=3,5", "--grid", "scale=none,unit")["selection"]
    assert found["candidates"][2]["settings"]["cost"] in (3, 5)
    assert {one["input"]["scale"] for one in found["candidates"]} <= {"none", "unit"}


def test_tune_searches_one_method(problem):
    result = problem(*TRAIN, "--method", "svm-flip", "--tune", "--model", "m.kith")
    assert result.returncode == 0, result.stderr
    assert "svm-flip" in result.stdout and "cross-validation over 5 folds" in result.stdout
    assert "a committee" not in result.stdout
    found = problem.json(*TRAIN, "--method", "svm", "--tune", "--set", "spectrum=flip", "--grid", "cost=1,10,100")
    assert found["method"] == "svm" and found["settings"]["spectrum"] == "flip"
    assert found["settings"]["cost"] in (1, 10, 100)
    assert found["selection"]["chosen"] == ["svm"]
    # What was chosen is what a plain training with it gives.
    (one,) = found["selection"]["candidates"]
    scale = one["input"]["scale"]
    plain = problem.json(*TRAIN, "--method", "svm-flip", "--set", f"cost={found['settings']['cost']}", "--scale",
                         scale, "--rescale", "spread")
    assert plain["objective"] == found["objective"] and plain["fingerprint"] == found["fingerprint"]


def test_distances_are_converted_by_what_is_searched_or_said(problem):
    flags = ("train", "--distance", "d.csv", "--labels", "l.txt", "--method", "auto", "--among", "knn,svm-clip")
    found = problem.json(*flags)["selection"]
    assert found["input_variants"] == 4
    assert found["candidates"][0]["input"]["from-distance"] in ("negative", "exp")
    result = problem(*flags, "--from-distance", "max-minus", "--json")
    assert NOTE not in result.stderr
    found = json.loads(result.stdout)["selection"]
    assert [one["input"]["from-distance"] for one in found["candidates"]] == ["max-minus"] * 2
    found = problem.json(*flags, "--grid", "from-distance=negative,negative-square")["selection"]
    assert found["input_variants"] == 2


def test_an_order_of_neighbours_is_that_of_the_distances(problem):
    """Any conversion that is searched for neighbours keeps the order of the distances."""
    found = problem.json("evaluate", "--distance", "d.csv", "--labels", "l.txt", "--methods", "knn", "--grid",
                         "knn:neighbours=1", "--repeats", "3", "--folds", "3")["methods"]
    fixed = problem.json("evaluate", "--distance", "d.csv", "--labels", "l.txt", "--methods", "knn", "--grid",
                         "knn:neighbours=1", "--repeats", "3", "--folds", "3", "--from-distance", "negative")["methods"]
    assert found[0]["errors"] == fixed[0]["errors"]


def test_evaluate_has_auto_as_a_row_that_leaves_the_others_alone(problem):
    flags = ("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--repeats", "2", "--folds", "3")
    both = problem.json(*flags, "--methods", "auto,svm-flip")["methods"]
    assert [method["method"] for method in both] == ["auto", "svm-flip"]
    (alone,) = problem.json(*flags, "--methods", "svm-flip")["methods"]
    (auto,) = problem.json(*flags, "--methods", "auto")["methods"]
    assert both[1]["errors"] == alone["errors"] and both[1]["chosen"] == alone["chosen"]
    assert both[0]["errors"] == auto["errors"] and both[0]["chosen"] == auto["chosen"]
    for chosen in auto["chosen"]:
        assert all({"method", "inner_error"} <= set(member) for member in chosen["members"])
    threads = problem.json(*flags, "--methods", "auto,svm-flip", "--threads", "3")["methods"]
    assert [method["errors"] for method in threads] == [method["errors"] for method in both]


def test_the_protocol_says_whether_inputs_are_searched(problem):
    flags = ("evaluate", "--distance", "d.csv", "--labels", "l.txt", "--methods", "auto,svm-flip", "--repeats", "2",
             "--folds", "2")
    result = problem(*flags, "--protocol", "kith", "--json")
    assert NOTE in result.stderr
    chosen = json.loads(result.stdout)["methods"][1]["chosen"]
    assert all("from-distance" in one for one in chosen)
    assert problem(*flags, "--protocol", "kith").stdout == problem(*flags).stdout
    result = problem(*flags, "--protocol", "tr", "--json")
    assert result.returncode == 0 and "from-distance" not in result.stderr
    document = json.loads(result.stdout)
    assert document["protocol"]["name"] == "tr"
    assert {one["from-distance"] for one in document["methods"][1]["chosen"]} == {"double-centre"}


def test_a_grid_may_list_how_the_input_is_treated(kith):
    points = np.random.default_rng(1).normal(size=(30, 3)) + 1.5 * (np.arange(30) % 2)[:, None]
    kith.write("s.csv", csv(points @ points.T + np.eye(30)))
    kith.write("l.txt", "a\nb\n" * 15)
    flags = ("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", "svm-clip,knn", "--repeats", "2",
             "--folds", "3")
    for method in kith.json(*flags, "--grid", "*:scale=none,cosine")["methods"]:
        assert {one["scale"] for one in method["chosen"]} <= {"none", "cosine"}
    for method in kith.json(*flags, "--set", "*:scale=cosine")["methods"]:
        assert {one["scale"] for one in method["chosen"]} == {"cosine"}


def test_measure_settings_are_searched_where_they_are_listed(kith):
    chance = random.Random(2)
    kith.write("t.csv", "".join(
        ",".join(f"{(k if i % 2 else 6 - k) + chance.gauss(0, 1):.3f}" for k in range(7)) + "\n" for i in range(30)))
    kith.write("l.txt", "a\nb\n" * 15)
    flags = ("train", "--data", "t.csv", "--measure", "dtw", "--labels", "l.txt", "--method", "knn", "--tune",
             "--set", "neighbours=1", "--model", "m.kith")
    plain = kith.json(*flags)["selection"]["candidates"][0]["input"]
    assert "band" not in plain
    result = kith(*flags, "--grid", "band=0,2", "--json")
    assert result.returncode == 0, result.stderr
    assert "measuring the pairs with band=" in result.stderr
    chosen = json.loads(result.stdout)["selection"]["candidates"][0]["input"]["band"]
    assert chosen in ("0", "2")
    (need,) = kith.json("info", "m.kith")["needs"]
    assert need["measure"]["band"] == int(chosen)
    said = table(kith("predict", "--model", "m.kith", "--data", "t.csv").stdout)
    assert [row["label"] for row in said] == ["a", "b"] * 15  # each is its own nearest neighbour


def test_a_budget_skips_what_does_not_fit_in_and_says_so(problem):
    found = problem.json(*TRAIN, "--method", "auto", "--budget", "1e-6")["selection"]
    skipped = [one for one in found["candidates"] if "skipped" in one]
    assert len(skipped) == len(found["candidates"]) - 1 and found["folds"] == 1
    assert all("more than is left" in one["skipped"] for one in skipped)
    page = problem(*TRAIN, "--method", "auto", "--budget", "1e-6").stdout
    assert page.count("skipped: about") == len(skipped)
    for budget in ("90", "90s", "5m", "2h"):  # enough for all
        found = problem.json(*TRAIN, "--method", "svm-clip", "--tune", "--budget", budget)["selection"]
        assert "skipped" not in found["candidates"][0]


def test_a_budget_counts_from_the_beginning_and_says_what_it_left_out(problem):
    result = problem(*TRAIN, "--method", "auto", "--budget", "1e-6", "--json")
    found = json.loads(result.stdout)["selection"]
    assert (found["folds"], found["folds_asked"]) == (1, 5)
    assert "spent before cross-validation began" in found["notes"][0] and found["notes"][0] in result.stderr
    assert "1 of 5 folds" in problem(*TRAIN, "--method", "auto", "--budget", "1e-6").stdout
    assert "notes" not in problem.json(*TRAIN, "--method", "knn", "--tune", "--budget", "2h")["selection"]


def two_clear_classes(kith, of_each):
    n = 2 * of_each
    S = np.eye(n) + (np.arange(n)[:, None] % 2 == np.arange(n) % 2)
    kith.write("s.csv", csv(S))
    kith.write("l.txt", "a\nb\n" * of_each)


def test_as_many_neighbours_as_samples_are_no_good_choice(kith):
    """With classes of one size all votes would tie; that counts as a guess, not as the nearest neighbour."""
    two_clear_classes(kith, 10)
    flags = (*TRAIN, "--method", "knn", "--tune")
    (all_vote,) = kith.json(*flags, "--grid", "neighbours=128")["selection"]["candidates"]
    (free,) = kith.json(*flags)["selection"]["candidates"]
    assert all_vote["inner_error"] >= 0.4
    assert free["inner_error"] == 0 and free["settings"]["neighbours"] < 16


def test_a_class_that_is_too_small_is_named_with_a_way_out(kith):
    two_clear_classes(kith, 10)
    kith.write("l.txt", "usual\n" * 19 + "rare\n")
    message = kith.refusal(*TRAIN, "--method", "auto", "--model", "m.kith")
    for words in ('"rare"', "1 sample,", "needs 2 of it", "--method ridge"):
        assert words in message, message
    assert kith(*TRAIN, "--method", "ridge", "--model", "m.kith").returncode == 0
    kith.write("l.txt", "usual\n" * 18 + "rare\n" * 2)
    assert kith(*TRAIN, "--method", "auto", "--among", "knn,ridge", "--model", "m.kith").returncode == 0


def test_a_scale_that_new_samples_would_have_to_serve_is_searched_where_it_is_listed(kith):
    points = np.random.default_rng(1).normal(size=(40, 3)) + 1.5 * (np.arange(40) % 2)[:, None]
    kith.write("x.csv", csv(points))
    S = points @ points.T + np.eye(40)
    kith.write("s.csv", csv(S))
    kith.write("q.csv", csv(S[:5]))
    kith.write("l.txt", "a\nb\n" * 20)
    members = ("--method", "auto", "--among", "knn,ridge-clip,svm-clip")
    said = "cosine is not searched"
    evaluated = ("evaluate", *TRAIN[1:], "--methods", "auto,knn", "--repeats", "1", "--folds", "3")
    result = kith(*TRAIN, *members, "--model", "m.kith", "--json")
    assert said in result.stderr and "--grid" in result.stderr
    assert json.loads(result.stdout)["selection"]["input_variants"] == 2
    assert kith("predict", "--model", "m.kith", "--similarity", "q.csv").returncode == 0
    assert said in kith(*evaluated).stderr
    listed = kith(*TRAIN, *members, "--grid", "scale=none,unit,cosine", "--json")
    assert said not in listed.stderr
    assert json.loads(listed.stdout)["selection"]["input_variants"] == 3
    assert said not in kith(*evaluated, "--grid", "*:scale=none,unit,cosine").stderr
    # Raw samples bring their own.
    raw = kith("train", "--data", "x.csv", "--measure", "polynomial", "--labels", "l.txt", *members, "--json")
    assert said not in raw.stderr
    assert json.loads(raw.stdout)["selection"]["input_variants"] == 3


def test_gamma_is_that_of_the_measure_or_of_the_conversion(kith):
    points = np.random.default_rng(1).normal(size=(30, 2)) + 2 * (np.arange(30) % 2)[:, None]
    kith.write("x.csv", csv(points))
    kith.write("l.txt", "a\nb\n" * 15)
    raw = ("train", "--data", "x.csv", "--labels", "l.txt", "--method", "svm-clip", "--tune")

    def inputs(*flags):
        return kith.json(*raw, *flags)["selection"]["candidates"][0]["input"]

    assert inputs("--measure", "gaussian", "--grid", "gamma=0.1,1")["gamma"] in ("0.1", "1")
    assert inputs("--measure", "gaussian", "--grid", "measure.gamma=0.1")["gamma"] == "0.1"
    assert inputs("--measure", "euclidean", "--from-distance", "exp", "--grid", "gamma=0.5")["gamma"] == 0.5
    both = ("--measure", "gaussian", "--measure", "euclidean", "--from-distance", "exp")
    message = kith.refusal(*raw, *both, "--grid", "gamma=0.1,1")
    assert "measure.gamma" in message and "input.gamma" in message
    assert kith(*raw, *both, "--grid", "measure.gamma=0.1,1").returncode == 0


def test_a_setting_of_the_measure_is_fixed_or_searched(kith):
    points = np.random.default_rng(1).normal(size=(20, 6)) + 2 * (np.arange(20) % 2)[:, None]
    kith.write("x.csv", csv(points))
    kith.write("l.txt", "a\nb\n" * 10)
    data = ("--data", "x.csv", "--labels", "l.txt")
    train = ("train", *data, "--method", "knn", "--tune")
    evaluate = ("evaluate", *data, "--methods", "knn", "--repeats", "1", "--folds", "2")
    for command, grid in ((train, "band=1,5"), (evaluate, "*:band=1,5")):
        for flags in (("--measure", "dtw", "--band", "5"), ("--measure", "dtw:band=5")):
            message = kith.refusal(*command, *flags, "--grid", grid)
            assert " ".join(flags[-2:]) in message and "--grid band=1,5" in message, message
    message = kith.refusal(*train, "--measure", "gaussian", "--gamma", "2", "--grid", "measure.gamma=0.1,1")
    assert "--gamma 2" in message and "--grid measure.gamma=0.1,1" in message, message
    assert kith(*train, "--measure", "dtw", "--grid", "band=1,5").returncode == 0
    assert kith(*train, "--measure", "dtw", "--band", "5", "--grid", "band=5").returncode == 0


def test_a_row_of_evaluate_leaves_out_what_training_leaves_out(problem):
    costs = "costs=a:b=5"
    skipped = {one["method"] for one in problem.json(*TRAIN, "--method", "auto", "--set", costs)["selection"]["candidates"]
               if "skipped" in one}
    assert "svm-knn" in skipped
    (row,) = problem.json("evaluate", *TRAIN[1:], "--methods", "auto", "--set", f"auto:{costs}", "--repeats", "2",
                          "--folds", "3")["methods"]
    for chosen in row["chosen"]:
        assert not skipped & {one["method"] for one in chosen["members"]}


@pytest.mark.parametrize("arguments, words", [
    (("--method", "auto", "--among", "auto,knn"), ("auto", "itself")),
    (("--method", "auto", "--among", "knn,no-such"), ("no-such",)),
    (("--method", "auto", "--among", "knn,knn"), ("knn", "twice")),
    (("--method", "auto", "--budget", "nonsense"), ("--budget", "nonsense", "5m")),
    (("--method", "auto", "--budget", "-5m"), ("--budget", "above 0")),
    (("--method", "auto", "--budget", "0s"), ("--budget", "above 0")),
    (("--method", "auto", "--budget", "5d"), ("--budget", "5d")),
    (("--method", "knn", "--budget", "5m"), ("--budget", "--tune")),
    (("--method", "knn", "--grid", "neighbours=1,2"), ("--grid", "--tune")),
    (("--method", "knn", "--among", "knn"), ("--among", "--method auto")),
    (("--method", "auto", "--set", "rho=2"), ("rho",)),
    (("--method", "auto", "--set", "C=2"), ("did you mean cost?",)),
    (("--method", "auto", "--set", "n_neighbors=2"), ("did you mean neighbours?",)),
    (("--method", "auto", "--grid", "nobody:cost=1,2"), ("nobody",)),
    (("--method", "auto", "--grid", "from-distance=exp"), ("from-distance", "distances")),
    (("--method", "auto", "--grid", "band=1,2"), ("band", "measures")),
    (("--method", "auto", "--grid", "measure.gamma=1,2"), ("measure.gamma", "measures")),
    (("--method", "auto", "--grid", "scale=none,half"), ("scale", "half")),
    (("--method", "knn", "--tune", "--set", "neighbours=3", "--grid", "neighbours=1,2"), ("neighbours", "once")),
])
def test_what_cannot_be_is_refused_and_nothing_is_written(problem, arguments, words):
    message = problem.refusal(*TRAIN, *arguments, "--model", "m.kith")
    for word in words:
        assert word in message, message
    assert not (problem.folder / "m.kith").exists()


def test_evaluate_has_no_budget(problem):
    message = problem.refusal("evaluate", *TRAIN[1:], "--methods", "auto", "--budget", "5m")
    assert "--budget" in message


def test_evaluate_refuses_settings_that_no_member_has(problem):
    message = problem.refusal("evaluate", *TRAIN[1:], "--methods", "auto", "--set", "auto:rho=2")
    assert "auto has no setting" in message and "rho" in message
    message = problem.refusal("evaluate", *TRAIN[1:], "--methods", "auto", "--set", "auto:C=2")
    assert "did you mean cost?" in message


def test_notes_tell_of_grids_that_end_and_of_grids_that_change_nothing(problem):
    ending = ("--methods", "svm-clip", "--repeats", "2", "--folds", "3")
    message = problem("evaluate", *TRAIN[1:], *ending, "--grid", "svm-clip:cost=1e-7,2e-7,3e-7").stderr
    assert "svm-clip: all values of cost" in message and "--grid" in message
    message = problem(*TRAIN, "--method", "svm-clip", "--tune", "--grid", "cost=1e-7,2e-7,3e-7").stderr
    assert "svm-clip: all values of cost" in message and "--grid" in message


def test_methods_tells_of_auto(kith):
    assert any(line.strip().startswith("auto ") for line in kith("methods").stdout.splitlines())
    found = kith.json("methods", "auto")
    assert kith.json("methods")["auto"] == found
    names = {method["name"] for method in kith.json("methods")["methods"]}
    assert "auto" not in names
    page = kith("methods", "auto").stdout
    for name in found["members"] + found["members_of_several"]:
        assert kith("methods", name).returncode == 0
        assert name in page
    for words in ("5 folds", "3\n  standard errors", "0.6", "--among"):
        assert words in page or words.replace("\n  ", " ") in page, words


def test_of_several_matrices_each_member_takes_its_own(kith):
    good = Problem(n=40, queries=10).write(kith)
    noise = np.random.default_rng(8).normal(size=(40, 40))
    kith.write("n.csv", csv(noise + noise.T, good.ids, good.ids))
    kith.write("m.csv", csv(np.random.default_rng(9).normal(size=(10, 40)), good.query_ids, good.ids))
    found = kith.json("train", "--similarity", "noise=n.csv", "--similarity", "good=s.csv", "--labels", "l.txt",
                      "--method", "auto", "--among", "knn,svm-clip,ridge-clip", "--model", "m.kith")["selection"]
    assert {one["input"]["matrix"] for one in found["candidates"] if one["chosen"]} == {"good"}
    # What nobody uses is not asked for: the model is that of the one matrix.
    assert [need["name"] for need in kith.json("info", "m.kith")["needs"]] == ["good"]
    said = kith("predict", "--model", "m.kith", "--similarity", "good=q.csv")
    assert said.returncode == 0, said.stderr
    assert "noise" in kith.refusal("predict", "--model", "m.kith", "--similarity", "noise=m.csv")
    found = kith.json("train", "--similarity", "noise=n.csv", "--similarity", "good=s.csv", "--labels", "l.txt",
                      "--method", "auto", "--among", "average-svm,mkl,knn", "--model", "m.kith")["selection"]
    needs = [need["name"] for need in kith.json("info", "m.kith")["needs"]]
    flags = [flag for name in needs for flag in ("--similarity", f"{name}={'q.csv' if name == 'good' else 'm.csv'}")]
    assert kith("predict", "--model", "m.kith", *flags).returncode == 0


def test_evaluate_shows_who_took_part_in_auto(problem):
    flags = ("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", "auto", "--among", "knn,svm-flip,mine=ridge",
             "--repeats", "3", "--folds", "3")
    result = problem(*flags, "--json")
    assert result.returncode == 0, result.stderr
    (auto,) = json.loads(result.stdout)["methods"]
    assert [one["method"] for one in auto["members"]] == ["knn", "svm-flip", "mine"]
    for one in auto["members"]:
        seats = [seat for chosen in auto["chosen"] for seat in chosen["members"] if seat["method"] == one["method"]]
        assert one["partitions"] == len(seats)
        most = one["chosen_most"]
        same = [seat for seat in seats if most["settings"] and most["settings"].items() <= seat.items()]
        assert most["partitions"] == len(same)
    page = problem(*flags).stdout
    seated = [one for one in auto["members"] if one["partitions"]]
    word = "method" if len(seated) == 1 else "methods"
    assert f"{len(seated)} {word} took part" in page
    for one in seated:
        assert f"- {one['method']} " in page and f"{one['partitions']} of 3" in page


def test_among_is_about_auto(problem):
    flags = ("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--repeats", "2", "--folds", "2")
    assert "--among" in problem.refusal(*flags, "--methods", "knn", "--among", "knn,ridge")
    assert "cannot be made of itself" in problem.refusal(*flags, "--methods", "auto", "--among", "auto,ridge")
    assert "nothing" in problem.refusal(*flags, "--methods", "auto", "--among", "nothing")


def test_one_of_a_thing_is_one(problem):
    page = problem(*TRAIN, "--method", "knn", "--tune", "--scale", "unit").stdout
    assert "over 5 folds (1 way to treat the input)" in page, page


def test_a_committee_is_explained_by_its_members(problem):
    problem.json(*TRAIN, "--method", "auto", "--model", "m.kith")
    members = problem.json("info", "m.kith")["members"]
    assert len(members) > 1
    result = problem("predict", "--model", "m.kith", "--similarity", "q.csv", "--explain", "4", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)["predictions"]
    known = dict(line.split("\t") for line in (problem.folder / "l.txt").read_text().splitlines())
    for row in rows:
        explanation = row["explanation"]
        assert explanation["by"] == "votes" and len(explanation["samples"]) == 4
        assert all(known[one["sample"]] == one["class"] for one in explanation["samples"])
        assert sum(abs(one["contribution"]) for one in explanation["samples"]) <= 1 + 1e-9
    plain = problem.json("predict", "--model", "m.kith", "--similarity", "q.csv")["predictions"]
    assert [one["label"] for one in plain] == [one["label"] for one in rows]


def test_members_that_name_no_samples_are_left_out_of_explanations(problem):
    problem.json(*TRAIN, "--method", "auto", "--among", "knn,sda,nearest-mean", "--model", "m.kith")
    members = [one["method"] for one in problem.json("info", "m.kith")["members"]]
    if "knn" not in members or len(members) < 2:
        pytest.skip("the committee of this problem has no such member")
    result = problem("predict", "--model", "m.kith", "--similarity", "q.csv", "--explain", "2")
    assert result.returncode == 0
    for one in members:
        assert (f"without a member of the committee: {one}: " in result.stderr) == (one != "knn")


def applied(kith, *arguments):
    return " ".join(kith.json(*arguments, "--labels", "l.txt")["applied"])


def test_what_a_flag_says_of_the_input_is_not_searched(problem):
    for choice in (("--method", "svm-clip", "--tune"), ("--method", "auto", "--among", "svm-clip,knn")):
        assert "spread" in applied(problem, "train", "--similarity", "s.csv", *choice)
        assert "spread" not in applied(problem, "train", "--similarity", "s.csv", *choice, "--rescale", "none")
        assert "spread" not in applied(problem, "train", "--similarity", "s.csv", *choice, "--grid", "rescale=none")
        scaled = problem.json(*TRAIN, *choice, "--scale", "none")["selection"]
        assert scaled["input_variants"] == 1
        fixed = problem.json("train", "--distance", "d.csv", "--labels", "l.txt", *choice, "--from-distance", "exp")
        assert fixed["selection"]["input_variants"] == 1


def test_evaluate_obeys_rescale_and_says_what_was_done(problem):
    large = Problem(n=40, queries=10)
    problem.write("large.csv", csv(1000 * large.S, large.ids, large.ids))
    base = ("evaluate", "--similarity", "large.csv", "--labels", "l.txt", "--methods", "svm-clip", "--set", "svm-clip:cost=1e-3",
            "--set", "*:scale=none", "--repeats", "4", "--folds", "2")
    found = {flag: problem.json(*base, *(("--rescale", flag) if flag else ())) for flag in ("", "none", "spread")}

    def errors(result):
        return result["methods"][0]["errors"]
    assert errors(found[""]) == errors(found["spread"])
    tr = problem.json(*base, "--protocol", "tr")
    assert errors(found["none"]) == errors(tr) != errors(found["spread"])
    assert [found[flag]["input"]["rescale"] for flag in found] == ["spread", "none", "spread"]


@pytest.mark.parametrize("flag, asked", [(("--scale", "cosine"), ("--set", "*:scale=none")),
                                         (("--rescale", "spread"), ("--grid", "*:rescale=none,spread"))])
def test_a_flag_and_a_setting_of_the_input_that_contradict_each_other_are_refused(problem, flag, asked):
    message = problem.refusal("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", "svm-clip", *flag, *asked)
    assert " ".join(flag) in message and asked[1].partition(":")[2] in message
    agreed = problem("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", "svm-clip", "--repeats", "2",
                     "--folds", "2", "--scale", "none", "--set", "*:scale=none")
    assert agreed.returncode == 0, agreed.stderr


def test_the_budget_is_part_of_the_record(problem):
    found = problem.json(*TRAIN, "--method", "auto", "--budget", "1h30m", "--model", "m.kith")
    assert found["selection"]["budget"] == 5400
    assert problem.json("info", "m.kith")["selection"]["budget"] == 5400
    assert "budget" not in problem.json(*TRAIN, "--method", "knn", "--tune")["selection"]


def test_model_files_of_a_search_are_the_same_bytes(problem):
    for choice in (("--method", "auto"), ("--method", "svm-clip", "--tune")):
        for name in ("m.kith", "n.kith"):
            assert "seconds" in problem.json(*TRAIN, *choice, "--model", name)["selection"]["candidates"][0]
        assert (problem.folder / "m.kith").read_bytes() == (problem.folder / "n.kith").read_bytes()


SEQUENCES = [("ACDEFGHIKLMNPQRSTVWY" * 4)[i % 17:40 + 7 * (i % 5)] for i in range(24)]


def write_sequences(kith):
    kith.write("p.fa", "".join(f">s{i}\n{one}\n" for i, one in enumerate(SEQUENCES)))
    kith.write("p.tsv", "".join(f"s{i}\t{'ab'[i % 2]}\n" for i in range(24)))


def test_settings_of_a_measure_are_checked_before_anything_is_measured(kith):
    write_sequences(kith)
    result = kith("train", "--data", "p.fa", "--measure", "smith-waterman", "--labels", "p.tsv", "--method", "knn", "--tune",
                  "--grid", "score=raw,p-value", "--grid", "gap-open=11,8", "--grid", "gap-extend=1")
    assert result.returncode == 1 and "lambda and K" in result.stderr
    assert "measuring the pairs" not in result.stderr


def test_a_budget_leaves_out_ways_to_measure_and_says_which(kith):
    write_sequences(kith)
    base = ("train", "--data", "p.fa", "--measure", "smith-waterman", "--labels", "p.tsv", "--method", "knn", "--tune", "--grid",
            "gap-open=9,10,12")
    found = kith.json(*base, "--budget", "1e-6")["selection"]
    assert len(found["not_measured"]) == 3 and "gap-open=9" in " ".join(found["not_measured"])
    assert any("ways to measure" in note for note in found["notes"])
    assert "not_measured" not in kith.json(*base, "--budget", "2h")["selection"]


def test_the_settings_that_were_given_are_not_measured_again(kith):
    write_sequences(kith)
    result = kith("train", "--data", "p.fa", "--measure", "smith-waterman", "--labels", "p.tsv", "--method", "knn", "--tune",
                  "--grid", "gap-open=11,12")
    assert result.stderr.count("measuring the pairs") == 1 and "gap-open=12" in result.stderr


def test_a_table_and_a_setting_of_its_name_are_both_in_the_record(kith):
    write_sequences(kith)
    found = kith.json("train", "--data", "p.fa", "--labels", "p.tsv", "--measure", "sw", "--measure", "spectrum", "--method",
                      "auto", "--among", "knn,ridge-clip", "--grid", "matrix=blosum62,blosum45")["selection"]
    for one in found["candidates"]:
        assert one["input"]["matrix"] in ("smith-waterman", "spectrum", "sw")
        assert one["input"]["measure.matrix"].startswith("blosum")
