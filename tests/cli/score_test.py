# SPDX-License-Identifier: Apache-2.0
"""`kith predict --labels`: the score against one computed here, how labels are matched, queries without any pair."""

import json
import math
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM
from problems import Problem, csv, table

PREDICT = ("predict", "--model", "m.kith", "--similarity", "q.csv")


def classes_of(problem):
    """True classes of the queries: those of the points they were made from."""
    n = len(problem.ids)
    count = len(set(problem.labels))
    return ["abcdefgh"[(n + i) % count] for i in range(len(problem.query_ids))]


def pairs(ids, labels):
    return "".join(f"{one}\t{label}\n" for one, label in zip(ids, labels))


def wilson(count, n):
    z = 1.959963984540054
    p = count / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]


def notes_of(score):
    return "\n".join(score["notes"])


@pytest.fixture
def problem(kith):
    made = Problem(classes=3, queries=60, seed=4).write(kith)
    made.train(kith)
    made.truth = classes_of(made)
    kith.write("truth.tsv", pairs(made.query_ids, made.truth))
    return made


def test_the_score_is_that_of_the_predictions(kith, problem):
    document = kith.json(*PREDICT, "--labels", "truth.tsv")
    rows, score = document["predictions"], document["score"]
    predicted = [row["label"] for row in rows]
    wrong = sum(p != t for p, t in zip(predicted, problem.truth))
    assert 0 < wrong < 60, "nothing to see"
    assert (score["n"], score["wrong"]) == (60, wrong)
    assert score["error"] == pytest.approx(wrong / 60)
    assert score["interval"] == pytest.approx(wilson(wrong, 60))
    assert score["confusion"]["classes"] == ["a", "b", "c"]
    counts = [[sum(p == c and t == r for p, t in zip(predicted, problem.truth)) for c in "abc"] for r in "abc"]
    assert score["confusion"]["counts"] == counts
    for c, one in enumerate(score["classes"]):
        samples, answers, right = sum(counts[c]), sum(row[c] for row in counts), counts[c][c]
        assert (one["class"], one["samples"], one["predicted"], one["right"], one["known"]) == (
            "abc"[c], samples, answers, right, True)
        assert one["recall"] == pytest.approx(right / samples)
        assert one["recall_interval"] == pytest.approx(wilson(right, samples))
        assert one["precision"] == pytest.approx(right / answers)
        assert one["precision_interval"] == pytest.approx(wilson(right, answers))
    assert score["balanced_error"] == pytest.approx(np.mean([1 - counts[c][c] / sum(counts[c]) for c in range(3)]))
    losses = [-math.log(row["probabilities"][t]) for row, t in zip(rows, problem.truth)]
    assert score["log_loss"] == pytest.approx(np.mean(losses))
    assert score["auc"] is None and score["mean_cost"] is None
    assert (score["baseline"], score["baseline_class"]) == (pytest.approx(2 / 3), "a")
    assert score["notes"] == []


def test_calibration_has_ten_bins_of_the_largest_probability(kith, problem):
    document = kith.json(*PREDICT, "--labels", "truth.tsv")
    found = document["score"]["calibration"]
    bins = [[] for _ in range(10)]
    for row, truth in zip(document["predictions"], problem.truth):
        likely = max(row["probabilities"], key=row["probabilities"].get)
        p = row["probabilities"][likely]
        bins[min(9, int(10 * p))].append((p, likely == truth))
    assert [one["samples"] for one in found["bins"]] == [len(one) for one in bins]
    off = 0
    for one, own in zip(found["bins"], bins):
        if not own:
            assert one["probability"] is None and one["right"] is None
            continue
        p, right = np.mean([x for x, _ in own]), np.mean([x for _, x in own])
        assert (one["probability"], one["right"]) == (pytest.approx(p), pytest.approx(right))
        off += len(own) * abs(p - right)
    assert found["error"] == pytest.approx(off / 60)


def test_two_classes_have_an_area_under_the_curve(kith):
    problem = Problem(classes=2, queries=50, seed=3).write(kith)
    problem.train(kith, "--set", "probability=no")
    truth = classes_of(problem)
    kith.write("truth.txt", "".join(f"{one}\n" for one in truth))
    document = kith.json(*PREDICT, "--labels", "truth.txt")
    score = document["score"]
    assert score["log_loss"] is None and score["calibration"] is None
    lead = [row["scores"]["b"] - row["scores"]["a"] for row in document["predictions"]]
    of = {c: [x for x, t in zip(lead, truth) if t == c] for c in "ab"}
    above = [(x > y) + 0.5 * (x == y) for x in of["b"] for y in of["a"]]
    assert score["auc"] == pytest.approx(np.mean(above))
    kith.write("truth.txt", "a\n" * 50)
    assert kith.json(*PREDICT, "--labels", "truth.txt")["score"]["auc"] is None, "of one class"


def test_the_text_has_the_numbers_and_no_predictions(kith, problem):
    score = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    text = kith(*PREDICT, "--labels", "truth.tsv").stdout
    assert text.startswith(f"Error {100 * score['error']:.2f} %\n")
    for share in (*score["interval"], score["balanced_error"], score["baseline"]):
        assert f"{100 * share:.2f} %" in text
    for row in ("class", "true class", "probability"):
        assert any(line.split("  ")[1] == row for line in text.splitlines() if line.startswith("  ")), row
    assert "q0" not in text and "score:a" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_out_has_the_predictions_and_standard_output_the_score(kith, problem):
    plain = kith(*PREDICT).stdout
    scored = kith(*PREDICT, "--labels", "truth.tsv", "--out", "p.tsv")
    assert (kith.folder / "p.tsv").read_text() == plain
    assert scored.stdout == kith(*PREDICT, "--labels", "truth.tsv").stdout
    document = kith.json(*PREDICT, "--labels", "truth.tsv", "--out", "p.json")
    whole = kith.json(*PREDICT, "--labels", "truth.tsv")
    assert document == {"score": whole["score"]}
    assert json.loads((kith.folder / "p.json").read_text()) == {"predictions": whole["predictions"]}


def test_the_score_does_not_depend_on_threads(kith, problem):
    flags = (*PREDICT, "--labels", "truth.tsv", "--json")
    assert kith(*flags, "--threads", "1").stdout == kith(*flags, "--threads", "7").stdout


def test_labels_are_matched_by_id(kith, problem):
    expected = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    order = np.random.default_rng(1).permutation(60)
    ids = [problem.query_ids[i] for i in order] + ["z1", "z2"]
    kith.write("mixed.tsv", "id\tlabel\n" + pairs(ids, [problem.truth[i] for i in order] + ["a", "x"]))
    result = kith(*PREDICT, "--labels", "mixed.tsv", "--json")
    found = json.loads(result.stdout)["score"]
    assert 'mixed.tsv: 2 of 62 ids are not among the samples and are left out: z1 and z2' in notes_of(found)
    assert "z1 and z2" in result.stderr
    assert {**found, "notes": []} == expected
    assert kith(*PREDICT, "--labels", "mixed.tsv", "--quiet").stderr == ""


def test_ids_of_training_samples_in_the_labels_are_told_apart(kith, problem):
    kith.write("all.tsv", pairs(problem.ids + problem.query_ids + ["z"], problem.labels + problem.truth + ["a"]))
    notes = notes_of(kith.json(*PREDICT, "--labels", "all.tsv")["score"])
    assert "all.tsv: 30 of 91 ids are those of training samples and are left out" in notes
    assert "all.tsv: 1 of 91 ids are not among the samples and are left out: z" in notes


def test_training_samples_among_the_queries_are_named(kith, problem):
    kith.write("q.csv", csv(problem.S, problem.ids, problem.ids))
    notes = notes_of(kith.json(*PREDICT, "--labels", "l.txt")["score"])
    assert '30 of 30 samples have the id of a training sample: "t0", "t1"' in notes


def test_a_query_without_a_label_is_refused_by_name(kith, problem):
    kith.write("some.tsv", pairs(problem.query_ids[2:], problem.truth[2:]))
    for out in ([], ["--out", "p.tsv"], ["--json"]):
        result = kith(*PREDICT, "--labels", "some.tsv", *out)
        assert result.returncode == 1
        assert 'some.tsv: 2 of 60 samples have no label: "q0" and "q1"; every sample needs one' in result.stderr
        assert not (kith.folder / "p.tsv").exists()


def test_labels_without_ids_are_taken_by_row(kith, problem):
    expected = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    kith.write("rows.txt", "".join(f"{one}\n" for one in problem.truth))
    result = kith(*PREDICT, "--labels", "rows.txt", "--json")
    assert json.loads(result.stdout)["score"] == expected
    assert "rows.txt has no ids, so its labels are taken in the order of the samples" in result.stderr
    for count, words in ((59, "59 labels for 60 samples"), (61, "61 labels for 60 samples")):
        kith.write("rows.txt", "a\n" * count)
        message = kith(*PREDICT, "--labels", "rows.txt")
        assert message.returncode == 1 and words in message.stderr


def test_a_class_that_the_model_never_saw_counts_as_wrong(kith, problem):
    truth = ["new" if i < 6 else label for i, label in enumerate(problem.truth)]
    kith.write("truth.tsv", pairs(problem.query_ids, truth))
    document = kith.json(*PREDICT, "--labels", "truth.tsv")
    score = document["score"]
    assert score["wrong"] == sum(row["label"] != t for row, t in zip(document["predictions"], truth))
    strange = score["classes"][-1]
    assert (strange["class"], strange["known"], strange["samples"], strange["predicted"]) == ("new", False, 6, 0)
    assert strange["recall"] == 0 and strange["precision"] is None
    assert score["confusion"]["classes"] == ["a", "b", "c", "new"]
    assert sum(score["confusion"]["counts"][3]) == 6
    assert all(row[3] == 0 for row in score["confusion"]["counts"])
    assert 'the model was trained without this class: "new". The 6 samples count as wrong' in notes_of(score)
    rest = [-math.log(row["probabilities"][t]) for row, t in zip(document["predictions"], truth) if t != "new"]
    assert score["log_loss"] == pytest.approx((sum(rest) - 6 * math.log(1e-15)) / 60)
    assert "new (not in the model)" in kith(*PREDICT, "--labels", "truth.tsv").stdout


def test_a_class_without_labelled_samples_has_no_recall(kith, problem):
    truth = ["a" if label == "c" else label for label in problem.truth]
    kith.write("truth.tsv", pairs(problem.query_ids, truth))
    score = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    assert score["classes"][2]["recall"] is None and score["classes"][2]["recall_interval"] is None
    assert '1 class of the model without a labelled sample, so without recall: "c"' in notes_of(score)
    present = [one["recall"] for one in score["classes"][:2]]
    assert score["balanced_error"] == pytest.approx(1 - np.mean(present))


def test_costs_of_the_model_are_summed(kith, problem):
    assert kith.json(*PREDICT, "--labels", "truth.tsv")["score"]["mean_cost"] is None
    problem.train(kith, "--set", "costs=a:b=5,b:a=0.5,c:c=0.25")
    score = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    costs = np.array([[0, 5, 1], [0.5, 0, 1], [1, 1, 0.25]])
    assert score["mean_cost"] == pytest.approx(np.sum(costs * score["confusion"]["counts"]) / 60)


def test_the_summary_counts_what_was_predicted(kith, problem):
    labels = [row["label"] for row in table(kith(*PREDICT).stdout)]
    counts = ", ".join(f"{c} {labels.count(c)}" for c in "abc")
    result = kith(*PREDICT, "--out", "p.tsv")
    assert result.stdout == ""
    assert result.stderr == f"kith: predicted 60 samples: {counts}; written to p.tsv\n"
    assert kith(*PREDICT, "--out", "p.tsv", "--quiet").stderr == ""
    assert kith(*PREDICT).stderr == ""


def test_the_summary_of_many_classes_has_the_most_frequent(kith):
    problem = Problem(n=40, classes=8, queries=80).write(kith)
    problem.train(kith, "--method", "knn")
    labels = [row["label"] for row in table(kith(*PREDICT).stdout)]
    line = kith(*PREDICT, "--out", "p.tsv").stderr
    counted = sorted((labels.count(c) for c in "abcdefgh"), reverse=True)
    listed = line.split(": ", 2)[2].split("; ")[0].removesuffix(" and 2 more classes").split(", ")
    assert [int(one.split()[1]) for one in listed] == counted[:6]
    assert "and 2 more classes; written to p.tsv" in line


def test_flags_that_make_no_sense_are_refused(kith, problem):
    assert "give --labels" in kith.refusal(*PREDICT, "--html", "s.html")
    assert "--out" in kith.refusal(*PREDICT, "--labels", "truth.tsv", "--explain", "2")
    for flag in ("--out", "--html"):
        for victim in ("truth.tsv", "q.csv"):
            message = kith.refusal(*PREDICT, "--labels", "truth.tsv", flag, victim)
            assert "also an input" in message
    assert "would both write" in kith.refusal(*PREDICT, "--labels", "truth.tsv", "--out", "x", "--html", "x")


def test_explanations_go_beside_a_score(kith, problem):
    row = kith.json(*PREDICT, "--labels", "truth.tsv", "--explain", "2")["predictions"][0]
    assert len(row["explanation"]["samples"]) == 2


def test_the_page_has_the_score(kith, problem):
    result = kith(*PREDICT, "--labels", "truth.tsv", "--html", "score.html")
    if "built without its HTML page" in result.stderr:
        assert result.returncode == 1 and not (kith.folder / "score.html").exists()
        pytest.skip("kith was built without its page")
    score = kith.json(*PREDICT, "--labels", "truth.tsv")["score"]
    page = (kith.folder / "score.html").read_text(encoding="utf-8")
    document = json.loads(page.split('id="document">')[1].split("</script>")[0])
    assert document["kind"] == "score" and document["score"] == score
    assert document["about"] == {"method": "svm", "model": "m.kith", "labels": "truth.tsv", "queries": ["q.csv"]}


def train_on_edges(kith, *flags):
    """Six samples in two chains; the classes are the chains."""
    kith.write("s.edges", "t0 t1 3\nt1 t2 3\nt3 t4 3\nt4 t5 3\n" + "".join(f"t{i} t{i} 4\n" for i in range(6)))
    kith.write("l.tsv", pairs([f"t{i}" for i in range(6)], "aaabbb"))
    result = kith("train", "--similarity", "s.edges", "--labels", "l.tsv", "--model", "m.kith", *flags)
    assert result.returncode == 0, result.stderr


def test_labels_without_ids_are_refused_for_a_list_of_pairs(kith):
    train_on_edges(kith, "--missing", "zero")
    kith.write("q.edges", "q1 t0 3\nq2 t4 3\n")
    kith.write("truth.txt", "a\nb\n")
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.edges", "--labels", "truth.txt")
    assert "truth.txt: it has one label per line, but q.edges lists pairs of ids" in message


def test_a_labelled_query_without_a_row_is_predicted_from_zeros_and_named(kith):
    train_on_edges(kith, "--missing", "zero")
    kith.write("q.edges", "q1 t0 3\nq2 t4 3\n")
    flags = ("predict", "--model", "m.kith", "--similarity", "q.edges", "--labels", "truth.tsv")
    kith.write("truth.tsv", pairs(["q1", "q2", "q3", "t0"], "abba"))
    result = kith(*flags, "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [row["id"] for row in document["predictions"]] == ["q1", "q2", "q3"]
    assert document["score"]["n"] == 3
    notes = notes_of(document["score"])
    assert '1 of 3 queries has no pair with a training sample that the model needs' in notes and '"q3"' in notes
    assert "1 of 4 ids are those of training samples" in notes
    assert '"q3"' in result.stderr
    kith.write("zeros.csv", csv(np.zeros((1, 6)), ["q3"], [f"t{i}" for i in range(6)]))
    alone = kith.json("predict", "--model", "m.kith", "--similarity", "zeros.csv")["predictions"]
    assert document["predictions"][2] == alone[0]


def test_a_labelled_query_without_a_row_is_refused_where_nothing_fills_it(kith):
    full = "".join(f"t{i} t{j} {4 if i == j else 3 if i // 3 == j // 3 else 1}\n" for i in range(6) for j in range(6))
    kith.write("s.edges", full)
    kith.write("l.tsv", pairs([f"t{i}" for i in range(6)], "aaabbb"))
    assert kith("train", "--similarity", "s.edges", "--labels", "l.tsv", "--model", "m.kith").returncode == 0
    kith.write("q.edges", "".join(f"q1 t{j} 2\n" for j in range(6)))
    kith.write("truth.tsv", pairs(["q1", "q2"], "ab"))
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "q.edges", "--labels", "truth.tsv")
    assert 'One query has no pair at all: query "q2"' in message and "--missing zero" in message
    kith.write("truth.tsv", pairs(["q1"], "a"))
    assert kith.json("predict", "--model", "m.kith", "--similarity", "q.edges", "--labels", "truth.tsv")["score"]["n"] == 1


@pytest.mark.parametrize("labels", ([], ["--labels", "truth.tsv"]))
def test_a_query_whose_pairs_are_all_unknown_is_named(kith, labels):
    train_on_edges(kith, "--missing", "zero")
    kith.write("truth.tsv", pairs(["q1", "q2", "q3"], "aab"))
    kith.write("q.edges", "q1 t0 3\nq2 stranger 1\nq3 t5 1\n")
    result = kith("predict", "--model", "m.kith", "--similarity", "q.edges", "--out", "p.tsv", *labels)
    assert result.returncode == 0, result.stderr
    assert [row["id"] for row in table((kith.folder / "p.tsv").read_text())] == ["q1", "q2", "q3"]
    assert "1 of 3 queries has no pair with a training sample" in result.stderr and '"q2"' in result.stderr
    kith.write("q.csv", ",t0,t1,t2,t3,t4,t5\nq1,3,0,0,0,0,0\nq2,,,NA,,,\nq3,0,0,0,0,1,1\n")
    result = kith("predict", "--model", "m.kith", "--similarity", "q.csv", "--out", "p.tsv", *labels)
    assert "1 of 3 queries has no pair with a training sample" in result.stderr and '"q2"' in result.stderr


def blast(query, sample, score):
    return f"{query}\t{sample}\t40\t100\t0\t0\t1\t100\t1\t100\t1e-9\t{score}\n"


def test_a_query_that_blast_found_nothing_for_is_named(kith):
    train_on_edges(kith, "--missing", "zero")
    head = "# BLASTP 2.12.0+\n# Query: {} some protein\n# Database: db\n"
    text = (head.format("q1") + "# 1 hits found\n" + blast("q1", "t0", 3) + head.format("q2") + "# 0 hits found\n" +
            head.format("q3") + "# 1 hits found\n" + blast("q3", "t4", 3) + "# BLAST processed 3 queries\n")
    kith.write("hits.blast", text)
    result = kith("predict", "--model", "m.kith", "--similarity", "hits.blast")
    assert [row["id"] for row in table(result.stdout)] == ["q1", "q2", "q3"]
    assert "1 of 3 queries has no pair" in result.stderr and '"q2"' in result.stderr


def test_lists_of_several_matrices_need_not_mention_the_same_queries(kith):
    kith.write("l.tsv", pairs([f"t{i}" for i in range(6)], "aaabbb"))
    rows = "".join(f"t{i} t{j} {4 if i == j else 3 if i // 3 == j // 3 else 1}\n" for i in range(6) for j in range(6))
    kith.write("x.edges", rows)
    kith.write("y.edges", rows)
    assert kith("train", "--similarity", "x.edges", "--similarity", "y.edges", "--labels", "l.tsv", "--method", "mkl",
                "--missing", "zero", "--model", "m.kith").returncode == 0
    kith.write("qx.edges", "q1 t0 3\nq2 t4 3\n")
    kith.write("qy.edges", "q3 t4 3\nq1 t1 3\n")
    kith.write("truth.tsv", pairs(["q1", "q2", "q3", "q4"], "abbb"))
    both = ("predict", "--model", "m.kith", "--similarity", "x=qx.edges", "--similarity", "y=qy.edges")
    plain = kith(*both)
    assert sorted(row["id"] for row in table(plain.stdout)) == ["q1", "q2", "q3"], plain.stderr
    assert "no pair" not in plain.stderr
    document = kith.json(*both, "--labels", "truth.tsv")
    assert sorted(row["id"] for row in document["predictions"]) == ["q1", "q2", "q3", "q4"]
    assert '1 of 4 queries has no pair' in notes_of(document["score"]) and '"q4"' in notes_of(document["score"])
    # Beside a table of rows, whose rows are the queries, a list lacks those without a pair.
    kith.write("qy.csv", ",t0,t1,t2,t3,t4,t5\nq2,0,0,0,0,0,0\nq3,0,0,0,0,3,0\nq1,0,3,0,0,0,0\n")
    for first, second in (("x=qx.edges", "y=qy.csv"), ("y=qy.csv", "x=qx.edges")):
        rows = table(kith("predict", "--model", "m.kith", "--similarity", first, "--similarity", second).stdout)
        assert [row["id"] for row in rows] == ["q2", "q3", "q1"]
    expected = {row["id"]: row for row in table(plain.stdout)}
    assert {row["id"]: row for row in rows} == expected


def test_the_other_direction_may_lack_queries_too(kith):
    lines = [f"t{i} t{j} {4 if i == j else 3 if i // 3 == j // 3 else 1 + 0.1 * (i < j)}\n"
             for i in range(6) for j in range(6)]
    kith.write("s.edges", "".join(lines))
    kith.write("l.tsv", pairs([f"t{i}" for i in range(6)], "aaabbb"))
    assert kith("train", "--similarity", "s.edges", "--labels", "l.tsv", "--missing", "zero", "--model",
                "m.kith").returncode == 0
    kith.write("q.edges", "q1 t0 3\nq2 t4 3\n")
    kith.write("back.edges", "".join(f"t{i} q1 1\n" for i in range(6)))
    result = kith("predict", "--model", "m.kith", "--similarity", "q.edges", "--similarity-from", "back.edges")
    assert [row["id"] for row in table(result.stdout)] == ["q1", "q2"], result.stderr


def write_words(kith):
    words = {"a": ["kitten", "mitten", "bitten", "smitten"], "b": ["singing", "ringing", "bringing", "wringing"]}
    rows = [(f"{label}{i}", word, label) for label, some in words.items() for i, word in enumerate(some)]
    train, new = [row for row in rows if row[0][1] != "3"], [row for row in rows if row[0][1] == "3"]
    kith.write("train.tsv", pairs([r[0] for r in train], [r[1] for r in train]))
    kith.write("new.tsv", pairs([r[0] for r in new], [r[1] for r in new]))
    kith.write("l.tsv", pairs([r[0] for r in rows], [r[2] for r in rows]))


def test_raw_samples_are_scored(kith):
    write_words(kith)
    kith.json("train", "--data", "train.tsv", "--measure", "edit", "--measure", "spectrum:kmer=2", "--labels", "l.tsv",
              "--method", "mkl", "--model", "m.kith")
    score = kith.json("predict", "--model", "m.kith", "--data", "new.tsv", "--labels", "l.tsv")["score"]
    assert (score["n"], score["baseline"]) == (2, 0.5)
    assert "6 of 8 ids are those of training samples" in notes_of(score)


def test_a_committee_is_scored(kith):
    problem = Problem(n=30, classes=2, queries=40).write(kith)
    problem.train(kith, "--method", "auto", "--among", "knn,svm-clip,nearest-mean", "--set", "costs=a:b=3")
    kith.write("truth.tsv", pairs(problem.query_ids, classes_of(problem)))
    kith.json("info", "m.kith")
    document = kith.json(*PREDICT, "--labels", "truth.tsv")
    score = document["score"]
    assert score["log_loss"] is not None and score["auc"] is not None and score["baseline"] == 0.5
    costs = np.array([[0, 3], [1, 0]])
    assert score["mean_cost"] == pytest.approx(np.sum(costs * score["confusion"]["counts"]) / 40)


def test_models_on_vectors_are_scored(kith):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(50, 3)) + 2 * (np.arange(50) % 2)[:, None]
    ids = [f"s{i}" for i in range(50)]
    kith.write("train.csv", csv(points[:30], ids[:30], ["x", "y", "z"]))
    kith.write("new.csv", csv(points[30:], ids[30:], ["x", "y", "z"]))
    kith.write("l.tsv", pairs(ids, "ab" * 25))
    kith.json("train", "--data", "train.csv", "--labels", "l.tsv", "--method", "vector-svm", "--model", "m.kith")
    score = kith.json("predict", "--model", "m.kith", "--data", "new.csv", "--labels", "l.tsv")["score"]
    assert score["n"] == 20 and score["error"] < 0.5
    assert "30 of 50 ids are those of training samples" in notes_of(score)
    again = kith.json("predict", "--model", "m.kith", "--data", "train.csv", "--labels", "l.tsv")["score"]
    assert "30 of 30 samples have the id of a training sample" in notes_of(again)


def test_labels_are_matched_over_all_chunks(kith):
    problem = Problem(n=12, classes=2, queries=40).write(kith)
    problem.train(kith)
    rows = np.tile(problem.rows, (60, 1))  # more than are read at a time
    truth = classes_of(problem) * 60
    kith.write("q.csv", csv(rows))
    kith.write("truth.txt", "".join(f"{one}\n" for one in truth))
    document = kith.json(*PREDICT, "--labels", "truth.txt")
    score = document["score"]
    assert score["n"] == 2400
    assert score["wrong"] == sum(row["label"] != t for row, t in zip(document["predictions"], truth))
    losses = [-math.log(max(1e-15, row["probabilities"][t])) for row, t in zip(document["predictions"], truth)]
    assert score["log_loss"] == pytest.approx(np.mean(losses))
    kith.write("truth.txt", "a\n" * 1500)
    assert "1500 labels for 2048 samples or more" in kith(*PREDICT, "--labels", "truth.txt").stderr
    kith.write("q.csv", csv(rows, [f"q{i}" for i in range(2400)], problem.ids))
    kith.write("truth.tsv", pairs([f"q{i}" for i in range(2400) if i != 2000], "a" * 2400))
    message = kith(*PREDICT, "--labels", "truth.tsv").stderr
    assert '1 of 1024 samples from number 1025 on have no label: "q2000"' in message


def test_many_rows_are_scored_in_little_memory(kith):
    problem = Problem(n=12).write(kith)
    problem.train(kith)
    line = ",".join(repr(float(value)) for value in problem.rows[0])
    with open(kith.folder / "many.csv", "w", encoding="ascii") as out, \
            open(kith.folder / "truth.txt", "w", encoding="ascii") as truth:
        out.write("," + ",".join(problem.ids) + "\n")
        for i in range(200_000):
            out.write(f"row{i},{line}\n")
            truth.write("ab"[i % 2] + "\n")
    # One process of its own, so that the largest child is this one.
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    result = subprocess.run(
        ["/usr/bin/env", "python3", "-c", code, PROGRAM, "predict", "--model", "m.kith", "--similarity", "many.csv",
         "--labels", "truth.txt", "--threads", "1"],
        cwd=kith.folder, capture_output=True, text=True, check=True, timeout=300)
    assert int(result.stdout) < 100_000, f"{result.stdout} kB"
