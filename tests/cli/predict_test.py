# SPDX-License-Identifier: Apache-2.0
"""`kith predict`: rows in any order and format, what is missing, what is refused, how much memory."""

import json
import os
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM
from problems import Problem, csv, table


def predict(kith, *flags, file="q.csv"):
    result = kith("predict", "--model", "m.kith", "--similarity", file, *flags)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def problem(kith):
    made = Problem(classes=3).write(kith)
    made.train(kith)
    return made


def test_writes_a_header_and_one_line_per_query(kith, problem):
    rows = table(predict(kith))
    assert [row["id"] for row in rows] == problem.query_ids
    assert list(rows[0]) == ["id", "label", "score:a", "score:b", "score:c",
                             "probability:a", "probability:b", "probability:c"]
    for row in rows:
        for kind in ("score", "probability"):
            values = {name: float(row[f"{kind}:{name}"]) for name in "abc"}
            assert max(values, key=values.get) == row["label"]
        assert sum(float(row[f"probability:{name}"]) for name in "abc") == pytest.approx(1)


def test_says_that_the_solver_of_the_model_missed_its_tolerance(kith, problem):
    def notes(*flags):
        result = kith("predict", "--model", "m.kith", "--similarity", "q.csv", *flags)
        assert result.returncode == 0
        assert len(table(result.stdout)) == len(problem.query_ids)
        return result.stderr
    assert "tolerance" not in notes()
    trained = kith("train", "--method", "robust-svm", "--set", "iterations=1", "--set", "test-treatment=none",
                   "--similarity", "s.csv", "--labels", "l.txt", "--model", "m.kith")
    assert trained.returncode == 2, trained.stderr
    assert "missed its tolerance when this model was trained: iteration limit, gap " in notes()
    assert notes("--quiet") == ""


def test_probability_no_leaves_labels_as_they_are(kith, problem):
    with_them = table(predict(kith))
    problem.train(kith, "--set", "probability=no")
    without = table(predict(kith))
    assert [row["label"] for row in without] == [row["label"] for row in with_them]
    assert "probability:a" not in without[0]


def test_a_training_row_gets_its_training_label(kith, problem):
    kith.write("t.csv", csv(problem.S, problem.ids, problem.ids))
    problem.train(kith, "--set", "cost=1e5")
    assert [row["label"] for row in table(predict(kith, file="t.csv"))] == problem.labels


def test_columns_are_matched_by_id(kith, problem):
    expected = predict(kith)
    order = np.random.default_rng(3).permutation(len(problem.ids))
    ids = [problem.ids[i] for i in order] + ["extra1", "extra2"]
    extra = np.full((len(problem.rows), 2), 99.0)
    kith.write("q.csv", csv(np.hstack([problem.rows[:, order], extra]), problem.query_ids, ids))
    assert predict(kith) == expected


def test_a_missing_pair_is_named_by_file_and_ids(kith, problem):
    problem.train(kith)
    rows = problem.rows.copy()
    rows[3, 7] = np.nan
    kith.write("new.csv", csv(rows, problem.query_ids, problem.ids).replace("nan", ""))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "new.csv")
    assert 'new.csv: 1 of' in message
    assert 'from query "q3" to training sample "t7"' in message


def test_a_missing_pair_far_down_is_counted_from_the_top_of_the_file(kith):
    problem = Problem().write(kith, ids=False)
    problem.train(kith)
    rows = np.tile(problem.rows, (120, 1))  # more than are read at a time
    rows[1400, 2] = np.nan
    kith.write("new.csv", csv(rows).replace("nan", ""))
    result = kith("predict", "--model", "m.kith", "--similarity", "new.csv", "--out", "p.tsv")
    assert result.returncode == 1
    assert 'new.csv: 1 of' in result.stderr
    assert 'from query "1401" to training sample 3' in result.stderr


def test_missing_columns_are_named(kith, problem):
    kith.write("q.csv", csv(problem.rows[:, 20:], problem.query_ids, problem.ids[20:]))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert "'t0'" in message or '"t0"' in message, message
    assert "20 of the 30" in message
    assert "t19" not in message  # the first few only


def test_only_needed_columns_are_required(kith):
    # Nothing is mapped under none: the columns are the support vectors.
    problem = Problem(n=40).write(kith)
    found = problem.train(kith, "--set", "spectrum=shift", "--set", "cost=100")
    assert found["columns_needed"] < 40
    expected = predict(kith)
    kept = []
    for i in range(40):  # a column is needed when it is refused without it
        others = [j for j in range(40) if j != i]
        kith.write("q.csv", csv(problem.rows[:, others], problem.query_ids,
                                [problem.ids[j] for j in others]))
        result = kith("predict", "--model", "m.kith", "--similarity", "q.csv")
        if result.returncode == 1:
            kept.append(i)
        else:
            assert result.stdout == expected
    assert len(kept) == found["columns_needed"]
    # Without ids in the file, just these columns will do.
    kith.write("q.csv", csv(problem.rows[:, kept]))
    numbered = [row.split("\t", 1)[1] for row in predict(kith).splitlines()]
    assert numbered == [row.split("\t", 1)[1] for row in expected.splitlines()]


def test_without_ids_columns_are_matched_by_position(kith, problem):
    expected = [row.split("\t", 1)[1] for row in predict(kith).splitlines()]
    kith.write("q.csv", csv(problem.rows))
    rows = predict(kith).splitlines()
    assert [row.split("\t", 1)[1] for row in rows] == expected
    assert [row.split("\t", 1)[0] for row in rows[1:]] == [str(i + 1) for i in range(12)]
    kith.write("q.csv", csv(problem.rows[:, :29]))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert "29" in message and "30" in message


def test_every_format_predicts_the_same(kith, problem):
    expected = predict(kith)
    np.save(kith.folder / "q.npy", problem.rows)
    without_ids = [row.split("\t", 1)[1] for row in expected.splitlines()]
    assert [r.split("\t", 1)[1] for r in predict(kith, file="q.npy").splitlines()] == without_ids
    lines = [f"{q}\t{t}\t{problem.rows[i, j]!r}\n".replace("np.float64(", "").replace(")", "")
             for i, q in enumerate(problem.query_ids) for j, t in enumerate(problem.ids)]
    kith.write("q.edges", "".join(lines))
    assert predict(kith, file="q.edges") == expected
    compressed = subprocess.run(["gzip", "-c", "q.csv"], cwd=kith.folder, capture_output=True,
                                check=True).stdout
    kith.write("q.csv.gz", compressed)
    assert predict(kith, file="q.csv.gz") == expected


def test_json_says_the_same_as_the_table(kith, problem):
    rows = table(predict(kith))
    found = json.loads(predict(kith, "--json"))["predictions"]
    assert [one["id"] for one in found] == problem.query_ids
    for one, row in zip(found, rows):
        assert one["label"] == row["label"]
        assert one["scores"] == {name: float(row[f"score:{name}"]) for name in "abc"}
        assert one["probabilities"] == {name: float(row[f"probability:{name}"]) for name in "abc"}


def test_no_queries_give_a_header_alone(kith, problem):
    np.save(kith.folder / "none.npy", problem.rows[:0])
    result = kith("predict", "--model", "m.kith", "--similarity", "none.npy")
    if result.returncode == 0:  # an empty file may also be refused by its format
        assert result.stdout.splitlines() == ["\t".join(
            ["id", "label"] + [f"score:{c}" for c in "abc"] + [f"probability:{c}" for c in "abc"])]
    else:
        assert result.returncode == 1 and "none.npy" in result.stderr


def test_out_is_complete_or_not_there(kith, problem):
    expected = predict(kith)
    assert predict(kith, "--out", "p.tsv") == ""
    assert (kith.folder / "p.tsv").read_text() == expected
    good = csv(problem.rows, problem.query_ids, problem.ids)
    kith.write("q.csv", good + "broken,1,2\n")
    before = sorted(os.listdir(kith.folder))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv", "--out", "p.tsv")
    assert "q.csv" in message
    assert (kith.folder / "p.tsv").read_text() == expected
    assert sorted(os.listdir(kith.folder)) == before


def test_augmented_needs_self_similarities(kith, problem):
    problem.train(kith, "--set", "test-treatment=augmented")
    assert "--self" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    kith.write("self.txt", "".join(f"{float(value)!r}\n" for value in problem.self))
    by_position = predict(kith, "--self", "self.txt")
    pairs = list(zip(problem.query_ids, problem.self))
    kith.write("self.txt", "".join(f"{q}\t{float(value)!r}\n" for q, value in reversed(pairs)))
    assert predict(kith, "--self", "self.txt") == by_position
    kith.write("self.txt", "".join(f"{q}\t{float(value)!r}\n" for q, value in pairs[:-1]))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv", "--self",
                           "self.txt")
    assert "self.txt" in message and "q11" in message
    kith.write("self.txt", "1\nx\n")
    assert "self.txt:2" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv",
                                        "--self", "self.txt")


def test_both_directions_are_averaged(kith):
    problem = Problem(symmetric=False).write(kith)
    problem.train(kith, "--set", "probability=no")
    kith.write("back.csv", csv(problem.back, problem.ids, problem.query_ids))
    both = predict(kith, "--similarity-from", "back.csv")
    mean = 0.5 * (problem.rows + problem.back.T)
    kith.write("mean.csv", csv(mean, problem.query_ids, problem.ids))
    kith.write("mean_back.csv", csv(mean.T, problem.ids, problem.query_ids))
    for got, expected in zip(
            table(both), table(predict(kith, "--similarity-from", "mean_back.csv", file="mean.csv"))):
        assert float(got["score:a"]) == pytest.approx(float(expected["score:a"]), rel=1e-9)
    # in any order of either
    order = list(reversed(range(30)))
    kith.write("back.csv", csv(problem.back[order][:, ::-1], [problem.ids[i] for i in order],
                               list(reversed(problem.query_ids))))
    assert predict(kith, "--similarity-from", "back.csv") == both
    kith.write("back.csv", csv(problem.back[:, :-1], problem.ids, problem.query_ids[:-1]))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv",
                           "--similarity-from", "back.csv")
    assert "q11" in message


def test_a_model_of_distances_takes_distances(kith):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(34, 3)) + 5 * (np.arange(34) % 2)[:, None]
    distances = np.abs(points[:, None] - points[None]).sum(-1)
    kith.write("d.csv", csv(distances[:30, :30]))
    kith.write("l.txt", "a\nb\n" * 15)
    kith.write("q.csv", csv(distances[30:, :30]))
    kith.json("train", "--distance", "d.csv", "--labels", "l.txt", "--model", "m.kith", "--set",
              "cost=100")
    assert "--distance" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    result = kith("predict", "--model", "m.kith", "--distance", "q.csv")
    assert [row["label"] for row in table(result.stdout)] == ["a", "b", "a", "b"]
    # a training row of distances comes back with its own label
    result = kith("predict", "--model", "m.kith", "--distance", "d.csv")
    assert [row["label"] for row in table(result.stdout)] == ["a", "b"] * 15


def test_what_was_applied_is_applied_to_new_rows(kith):
    problem = Problem().write(kith)
    problem.train(kith, "--scale", "unit", "--set", "probability=no")
    expected = table(predict(kith))
    low, high = problem.S.min(), problem.S.max()
    scaled = Problem()
    scaled.S = (problem.S - low) / (high - low)
    scaled.rows = (problem.rows - low) / (high - low)
    scaled.write(kith).train(kith, "--set", "probability=no")
    for got, wanted in zip(table(predict(kith)), expected):
        assert float(got["score:a"]) == pytest.approx(float(wanted["score:a"]), rel=1e-6, abs=1e-9)


def test_priors_and_costs_move_the_label(kith):
    problem = Problem(queries=60).write(kith)
    problem.train(kith)
    plain = table(predict(kith))
    problem.train(kith, "--set", "costs=a:b=1e6")  # calling an a a b is ruinous
    careful = table(predict(kith))
    assert {row["label"] for row in careful} == {"a"}
    assert {row["label"] for row in plain} == {"a", "b"}
    problem.train(kith, "--set", "priors=a=1e-9,b=0.999999999")
    rare = table(predict(kith))
    assert sum(row["label"] == "a" for row in rare) < sum(row["label"] == "a" for row in plain)
    for row in rare:
        assert float(row["probability:a"]) + float(row["probability:b"]) == pytest.approx(1)
    kith.write("priors.tsv", "a\t1e-9\nb\t0.999999999\n")
    problem.train(kith, "--set", "priors=priors.tsv")
    assert table(predict(kith)) == rare


def test_a_damaged_model_is_refused(kith, problem):
    whole = (kith.folder / "m.kith").read_bytes()
    rng = np.random.default_rng(4)
    for at in [0, 9, len(whole) - 1, *rng.integers(len(whole), size=20)]:
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        kith.write("m.kith", bytes(damaged))
        assert "m.kith" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    for size in (0, 7, len(whole) // 2, len(whole) - 1):
        kith.write("m.kith", whole[:size])
        assert "m.kith" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    kith.write("m.kith", whole + b"\0")
    assert "m.kith" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert "none.kith" in kith.refusal("predict", "--model", "none.kith", "--similarity", "q.csv")


def test_bad_numbers_are_placed(kith, problem):
    rows = csv(problem.rows, problem.query_ids, problem.ids).splitlines()
    cells = rows[5].split(",")
    cells[7] = "inf"
    rows[5] = ",".join(cells)
    kith.write("q.csv", "\n".join(rows) + "\n")
    assert "q.csv:6" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv")


def test_many_rows_need_little_memory(kith):
    problem = Problem(n=12).write(kith)
    problem.train(kith, "--set", "probability=no")
    line = ",".join(repr(float(value)) for value in problem.rows[0])
    with open(kith.folder / "many.csv", "w", encoding="ascii") as out:
        out.write("," + ",".join(problem.ids) + "\n")
        for i in range(200_000):
            out.write(f"row{i},{line}\n")
    # One process of its own, so that the largest child is this one.
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    result = subprocess.run(
        ["/usr/bin/env", "python3", "-c", code, PROGRAM, "predict", "--model", "m.kith",
         "--similarity", "many.csv", "--out", "many.tsv", "--threads", "1"],
        cwd=kith.folder, capture_output=True, text=True, check=True, timeout=300)
    assert int(result.stdout) < 300_000, f"{result.stdout} kB"
    with open(kith.folder / "many.tsv", encoding="ascii") as predictions:
        lines = predictions.readlines()
    assert len(lines) == 200_001
    assert lines[1].split("\t", 1)[1] == lines[-1].split("\t", 1)[1]
    assert lines[-1].startswith("row199999\t")


def test_refuses_what_would_go_wrong_later_or_silently(kith):
    kith.write("s.csv", ",a,b,c,d\na,4,3,0,0\nb,3,4,0,0\nc,0,0,4,3\nd,0,0,3,4\n")
    kith.write("l.tsv", "a\tx\nb\tx\nc\ty\nd\ty\n")
    train = ("train", "--similarity", "s.csv", "--labels", "l.tsv")
    message = kith.refusal(*train, "--set", "probability=no", "--set", "priors=x=1,y=2")
    assert "probability=yes" in message
    assert kith.json(*train, "--set", "priors=x=1,y=2")["settings"]["priors"] == "x=1,y=2"
    assert kith(*train, "--set", "test-treatment=augmented", "--model", "m.kith").returncode == 0
    predict = ("predict", "--model", "m.kith", "--similarity", "s.csv")
    kith.write("five.txt", "4\n" * 5)
    result = kith(*predict, "--self", "five.txt")
    assert result.returncode == 1 and "5 self-similarities for 4 queries" in result.stderr
    kith.write("twice.txt", "a\t4\na\t4\n")
    assert "more than once" in kith.refusal(*predict, "--self", "twice.txt")
    before = (kith.folder / "m.kith").read_bytes()
    assert "also an input" in kith.refusal(*predict, "--out", "m.kith")
    assert (kith.folder / "m.kith").read_bytes() == before
    kith.write("back.csv", ",a,b\na,4,3\nb,3,4\nc,0,0\nd,0,0\n")
    kith.write("self.txt", "4\n" * 4)
    result = kith(*predict, "--self", "self.txt", "--similarity-from", "back.csv")
    assert result.returncode == 1 and "back.csv" in result.stderr


@pytest.mark.parametrize("method", ["knn", "kri", "krr", "svm-knn"])
def test_a_query_without_a_known_neighbour_leaves_the_output_clean(kith, method):
    kith.write("s.edges", "".join(f"t{i} t{j} {1 + (i + j) % 3}\n" for i in range(6) for j in range(i + 1) if i - j < 5))
    kith.write("l.tsv", "".join(f"t{i}\t{'ab'[i % 2]}\n" for i in range(6)))
    kith.write("q.edges", "q1 t0 3\nq1 t1 2\nq2 nobody 1\n")
    assert kith("train", "--similarity", "s.edges", "--labels", "l.tsv", "--method", method, "--set", "neighbours=2",
                "--model", "m.kith").returncode == 0
    result = kith("predict", "--model", "m.kith", "--similarity", "q.edges")
    assert result.returncode == 0, result.stderr
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["id", "q1", "q2"]


@pytest.mark.parametrize("method, noted", (("svm", True), ("knn", True), ("svm-square", False),
                                           ("features-svm", False)))
def test_methods_that_average_note_one_direction_of_what_was_left_as_it_is(kith, method, noted):
    problem = Problem(symmetric=False).write(kith)
    problem.train(kith, "--method", method)
    message = kith("predict", "--model", "m.kith", "--similarity", "q.csv").stderr
    assert ("not symmetric" in message and "--similarity-from" in message) == noted
    kith.write("back.csv", csv(problem.back, problem.ids, problem.query_ids))
    assert kith("predict", "--model", "m.kith", "--similarity", "q.csv", "--similarity-from",
                "back.csv").stderr == ""
    Problem().write(kith).train(kith, "--method", method)
    assert kith("predict", "--model", "m.kith", "--similarity", "q.csv").stderr == ""


def test_one_direction_of_an_asymmetric_model_is_worth_a_note(kith):
    Problem(symmetric=False).write(kith).train(kith, "--symmetrise", "mean")
    result = kith("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert "--similarity-from" in result.stderr


def explained(kith, *flags):
    document = json.loads(predict(kith, "--explain", "3", "--json", *flags))
    return document["predictions"]


def test_the_samples_that_decided_add_up_to_the_score(kith):
    problem = Problem(classes=2).write(kith)
    problem.train(kith, "--method", "svm-clip")
    for row in explained(kith):
        explanation = row["explanation"]
        assert explanation["by"] == "terms"
        amounts = [one["contribution"] for one in explanation["samples"]]
        assert sorted(amounts, key=abs, reverse=True) == amounts and len(amounts) == 3
        whole = sum(amounts) + explanation["others"] + explanation["offset"]
        assert whole == pytest.approx(row["scores"][row["label"]], abs=1e-9)


def test_neighbours_are_named_with_their_class_and_weight(kith):
    problem = Problem(classes=3).write(kith)
    problem.train(kith, "--method", "knn", "--set", "neighbours=3")
    known = dict(line.split("\t") for line in (kith.folder / "l.txt").read_text().splitlines())
    for row in explained(kith):
        assert row["explanation"]["by"] == "votes" and "offset" not in row["explanation"]
        named = row["explanation"]["samples"]
        assert all(known[one["sample"]] == one["class"] for one in named)
        own = sum(one["contribution"] for one in named if one["class"] == row["label"])
        assert own == pytest.approx(row["scores"][row["label"]])


def test_explanations_are_columns_of_the_table(kith, problem):
    plain, rows = table(predict(kith)), table(predict(kith, "--explain", "2"))
    assert [name for name in rows[0] if name not in plain[0]] == [
        "offset", "others", "sample:1", "class:1", "contribution:1", "sample:2", "class:2", "contribution:2"]
    for one, other in zip(plain, rows):
        assert {name: other[name] for name in one} == one
    assert all(row["class:1"] in "abc" and float(row["contribution:1"]) for row in rows)


def test_methods_that_cannot_tell_refuse_and_name_those_that_can(kith, problem):
    problem.train(kith, "--method", "sda")
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv", "--explain", "2")
    assert "sda cannot name" in message and "knn" in message and "ridge" in message
    for count in ("0", "-1", "x"):
        assert "--explain" in kith.refusal("predict", "--model", "m.kith", "--similarity", "q.csv", "--explain", count)


def test_svm_knn_is_explained_by_its_local_machine(kith):
    problem = Problem(classes=2).write(kith)
    problem.train(kith, "--method", "svm-knn", "--set", "neighbours=6")
    kinds = set()
    for row in explained(kith):
        explanation = row["explanation"]
        kinds.add(explanation["by"])
        whole = sum(one["contribution"] for one in explanation["samples"]) + explanation["others"]
        score = row["scores"][row["label"]]
        assert whole + explanation.get("offset", 0) == pytest.approx(score, abs=1e-9)
    assert "terms" in kinds


def test_a_turned_file_is_told_how_to_be_turned_back(kith):
    made = Problem(n=30, queries=12, symmetric=False).write(kith)
    made.train(kith)
    kith.write("turned.csv", csv(made.rows.T, made.ids, made.query_ids))
    kith.write("back.csv", csv(made.back, made.ids, made.query_ids))
    rows = ("predict", "--model", "m.kith", "--similarity")
    assert "--transpose lets rows and columns change places" in kith.refusal(*rows, "turned.csv")
    assert kith(*rows, "turned.csv", "--transpose").returncode == 0
    message = kith.refusal(*rows, "q.csv", "--transpose")
    assert "without --transpose" in message and "--transpose lets" not in message
    message = kith.refusal(*rows, "q.csv", "--similarity-from", "q.csv")
    assert "rows and columns exchanged" in message and "--transpose lets" not in message


def test_the_other_direction_is_given_by_the_flag_of_its_kind(kith):
    made = Problem(n=30, queries=12, symmetric=False)
    kith.write("d.csv", csv(abs(made.S) + 0.1 - 0.1 * np.eye(30)))
    kith.write("e.csv", csv(abs(made.rows)))
    kith.write("l.txt", "".join(label + "\n" for label in made.labels))
    kith.json("train", "--distance", "d.csv", "--labels", "l.txt", "--symmetrise", "mean", "--from-distance", "negative",
              "--method", "svm-clip", "--model", "m.kith")
    said = kith("predict", "--model", "m.kith", "--distance", "e.csv")
    assert "--distance-from gives the other" in said.stderr and "--similarity-from" not in said.stderr
    kith.write("f.csv", csv(abs(made.back)))
    message = kith.refusal("predict", "--model", "m.kith", "--distance", "e.csv", "--similarity-from", "f.csv")
    assert "--distance-from" in message
    assert kith("predict", "--model", "m.kith", "--distance", "e.csv", "--distance-from", "f.csv").returncode == 0
