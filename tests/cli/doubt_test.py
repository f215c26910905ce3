# SPDX-License-Identifier: Apache-2.0
"""Numbers that look like something else than they are given as: a note that names what mends it."""

import json
import math
import random

import numpy as np
import pytest

from problems import Problem, csv

COMMANDS = {"inspect": [], "train": ["--method", "knn"],
            "evaluate": ["--methods", "knn", "--repeats", "1", "--folds", "2"]}
SIMILARITIES = ("aural-sonar/similarity.csv", "protein/similarity.csv", "voting/similarity.csv",
                "yeast-sw-5-12/similarity.csv", "scop40-10sf/similarity.csv", "scop40-10sf/nw_blosum62_11_1.csv",
                "scop40-10sf/sw_blosum45_14_2.csv", "scop40-10sf/sw_blosum62_11_1.csv")
DISTANCES = ("balls3d/dissimilarity.csv", "newsgroups/dissimilarity.csv", "ucr-beef/dtw_distance.csv",
             "ucr-coffee/dtw_distance.csv", "ucr-ecg200/dtw_distance.csv", "ucr-gunpoint/dtw_distance.csv",
             "ucr-plane/dtw_distance.csv")


def write_points(kith):
    """d.csv: distances of points in two heaps; s.csv: a kernel of them; l.txt."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(24, 2)) + 3 * (np.arange(24) % 2)[:, None]
    far = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    kith.write("d.csv", csv(far))
    kith.write("s.csv", csv(np.exp(-far)))
    kith.write("l.txt", "".join("ab"[i % 2] + "\n" for i in range(24)))


@pytest.mark.parametrize("command", COMMANDS)
def test_distances_and_similarities_that_change_places_are_told_once(kith, command):
    write_points(kith)
    for flag, name, said, mends in (("--similarity", "d.csv", "look like distances", "--distance takes distances"),
                                    ("--distance", "s.csv", "look like similarities", "--similarity takes")):
        result = kith(command, flag, name, "--labels", "l.txt", *COMMANDS[command])
        assert result.returncode == 0, result.stderr
        assert result.stderr.count(said) == 1 and mends in result.stderr
        quiet = kith(command, flag, name, "--labels", "l.txt", "--quiet", *COMMANDS[command])
        assert quiet.stderr == "" and quiet.stdout.splitlines()[1:] is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_given_as_it_is_has_no_note(kith, command):
    write_points(kith)
    for flag, name in (("--similarity", "s.csv"), ("--distance", "d.csv")):
        result = kith(command, flag, name, "--labels", "l.txt", *COMMANDS[command])
        assert result.returncode == 0 and "look like" not in result.stderr


def hits(kith, name, self_hits=True, columns=12):
    """A BLAST table of twelve proteins in two families, or an edge list of its E-values."""
    rng = random.Random(2)
    lines = []
    for i in range(12):
        for j in range(12):
            if i == j and not self_hits:
                continue
            e = 1e-120 if i == j else 10 ** -rng.uniform(20, 80) if i // 6 == j // 6 else rng.uniform(0.1, 9)
            pair = f"p{i:02}\tp{j:02}\t"
            lines.append(f"{pair}{e:.3g}\n" if columns == 3 else
                         f"{pair}50.0\t100\t50\t0\t1\t100\t1\t100\t{e:.3g}\t{10 - 3 * math.log(e):.1f}\n")
    kith.write(name, "".join(lines))
    kith.write("l.tsv", "".join(f"p{i:02}\t{'ab'[i // 6]}\n" for i in range(12)))


@pytest.mark.parametrize("self_hits", (True, False))
def test_the_e_values_of_a_blast_table_are_no_similarities(kith, self_hits):
    hits(kith, "h.m8", self_hits)
    for flags, doubted in ((["--score-column", "evalue"], True), ([], False), (["--score-column", "bitscore"], False)):
        said = kith("inspect", "--similarity", "h.m8", "--labels", "l.tsv", *flags).stderr
        assert ("--score-column bitscore takes the scores" in said) == doubted
        assert said.count("kith:") == doubted
    said = kith("inspect", "--distance", "h.m8", "--labels", "l.tsv").stderr
    assert "the column bitscore is largest where samples are most alike" in said
    assert kith("inspect", "--distance", "h.m8", "--score-column", "evalue", "--labels", "l.tsv").stderr == ""


def test_e_values_are_known_by_their_size_too(kith):
    hits(kith, "e.edges", columns=3)
    assert "look like E-values" in kith("inspect", "--similarity", "e.edges", "--labels", "l.tsv").stderr
    hits(kith, "h.m8")
    assert "look like E-values" in kith("inspect", "--similarity", "h.m8", "--score-column", "11").stderr


@pytest.mark.parametrize("name", SIMILARITIES + DISTANCES)
def test_real_tables_are_known_for_what_they_are(kith, shared, name):
    own, other = ("--similarity", "--distance") if name in SIMILARITIES else ("--distance", "--similarity")
    path = shared / name
    for labels in ([], ["--labels", path.parent / "labels.txt"]):
        assert "look like" not in kith("inspect", own, path, *labels).stderr
        said = kith("inspect", other, path, *labels).stderr
        assert said.count("look like") == 1 and own + " takes" in said


@pytest.mark.parametrize("ids", (True, False))
def test_a_rectangle_that_lies_on_its_side_is_known_and_turned(kith, ids):
    problem = Problem(n=20, queries=7).write(kith, ids)
    problem.train(kith, "--method", "knn")
    names = (problem.ids, problem.query_ids) if ids else (None, None)
    kith.write("turned.csv", csv(problem.rows.T, *names))
    assert "--transpose lets rows and columns change places" in kith.refusal(
        "predict", "--model", "m.kith", "--similarity", "turned.csv", "--out", "out.tsv")
    assert not (kith.folder / "out.tsv").exists()
    expected = kith("predict", "--model", "m.kith", "--similarity", "q.csv")
    turned = kith("predict", "--model", "m.kith", "--similarity", "turned.csv", "--transpose")
    assert turned.stdout == expected.stdout and turned.returncode == 0


def test_pairs_in_the_other_order_are_known_and_turned(kith):
    problem = Problem(n=12, queries=5).write(kith)
    problem.train(kith, "--method", "knn")
    pairs = [(q, t, problem.rows[i, j]) for i, q in enumerate(problem.query_ids) for j, t in enumerate(problem.ids)]
    kith.write("q.edges", "".join(f"{q} {t} {s!r}\n" for q, t, s in pairs))
    kith.write("t.edges", "".join(f"{t} {q} {s!r}\n" for q, t, s in pairs))
    kith.write("other.edges", "x y 1\ny z 2\n")
    expected = kith("predict", "--model", "m.kith", "--similarity", "q.edges")
    assert "Some of its rows are: --transpose" in kith.refusal(
        "predict", "--model", "m.kith", "--similarity", "t.edges")
    turned = kith("predict", "--model", "m.kith", "--similarity", "t.edges", "--transpose")
    assert sorted(turned.stdout.splitlines()) == sorted(expected.stdout.splitlines())
    message = kith.refusal("predict", "--model", "m.kith", "--similarity", "other.edges")
    assert "none of its 2 columns is a training sample" in message and "--transpose" not in message


def test_transpose_works_where_a_matrix_is_read(kith):
    kith.write("r.csv", "id,x,y,z\na,1,2,3\nb,4,5,6\n")
    assert kith("convert", "--similarity", "r.csv", "--transpose", "--out", "t.csv").returncode == 0
    assert (kith.folder / "t.csv").read_text().splitlines()[1].split(",")[1:] == ["1", "4"]
    assert "--transpose is about files of matrices" in kith.refusal(
        "train", "--data", "r.csv", "--measure", "linear", "--labels", "r.csv", "--transpose")


def test_the_other_direction_of_distances_has_a_flag_of_its_own(kith):
    problem = Problem(n=16, queries=5, symmetric=False)
    for name, values in (("d.csv", problem.S), ("q.csv", problem.rows), ("back.csv", problem.back)):
        kith.write(name, csv(np.abs(values)))
    kith.write("l.txt", "\n".join(problem.labels) + "\n")
    for flag in ("distance", "similarity"):
        assert kith("train", f"--{flag}", "d.csv", "--labels", "l.txt", "--method", "knn", "--symmetrise", "mean",
                    "--model", flag + ".kith").returncode == 0
    alone, both = (kith("predict", "--model", "distance.kith", "--distance", "q.csv", *flags)
                   for flags in ((), ("--distance-from", "back.csv")))
    assert both.returncode == 0 and both.stdout != ""
    assert "--distance-from gives the other" in alone.stderr and "one direction" not in both.stderr
    assert "given with --distance-from" in kith.refusal(
        "predict", "--model", "distance.kith", "--distance", "q.csv", "--similarity-from", "back.csv")
    assert "given with --similarity-from" in kith.refusal(
        "predict", "--model", "similarity.kith", "--similarity", "q.csv", "--distance-from", "back.csv")


def test_a_missing_pair_of_the_other_direction_is_named_in_that_direction(kith):
    problem = Problem(n=16, queries=5, symmetric=False)
    back = problem.back.copy()
    back[3, 2] = np.nan
    for name, values in (("s.csv", problem.S), ("q.csv", problem.rows), ("back.csv", back)):
        kith.write(name, csv(values))
    kith.write("l.txt", "\n".join(problem.labels) + "\n")
    problem.train(kith, "--method", "svm-clip")
    assert "the first from training sample 4 to query \"3\"" in kith.refusal(
        "predict", "--model", "m.kith", "--similarity", "q.csv", "--similarity-from", "back.csv")


@pytest.mark.parametrize("command", ("inspect", "train", "evaluate", "convert"))
def test_samples_themselves_are_no_matrix(kith, command):
    kith.write("p.fasta", ">one\nMKVLA\n>two\nMKWLA\n")
    kith.write("w.txt", "kitten\nsitting\nmitten\n")
    kith.write("l.txt", "a\nb\n")
    extra = ["--out", "o.csv"] if command == "convert" else ["--labels", "l.txt"]
    for name in ("p.fasta", "w.txt"):
        message = kith.refusal(command, "--similarity", name, *extra)
        assert "Give samples with --data and --measure" in message and name in message
    kith.write("x.csv", "1,2,3\n4,5,6\n")
    if command != "convert":  # which takes rectangles
        message = kith.refusal(command, "--similarity", "x.csv", *extra)
        assert "2 x 3" in message and "given with --data and --measure" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_doubts_are_notes_in_json(kith, command):
    write_points(kith)
    document = kith.json(command, "--similarity", "d.csv", "--labels", "l.txt", *COMMANDS[command])
    (note,) = [one for one in document["notes"] if "look like distances" in one]
    assert "--distance" in note and "[[" not in note
    document = kith.json(command, "--similarity", "s.csv", "--labels", "l.txt", *COMMANDS[command])
    assert not [one for one in document.get("notes", []) if "look like" in one]


def test_the_store_keeps_doubts_for_reports(kith):
    write_points(kith)
    flags = ("--similarity", "d.csv", "--labels", "l.txt", *COMMANDS["evaluate"], "--store", "run.db")
    notes = kith.json("evaluate", *flags)["notes"]
    assert kith.json("evaluate", *flags)["notes"] == notes
    report = json.loads(kith("report", "--store", "run.db", "--format", "json").stdout)
    assert report["notes"] == notes and any("look like distances" in one for one in notes)


def write_hits(kith):
    """h.tsv: a BLAST table of 20 samples in two classes, n.tsv: hits of 6 new ones; labels with ids l.tsv and n.txt."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(26, 2)) + 3 * (np.arange(26) % 2)[:, None]
    far = ((x[:, None] - x[None]) ** 2).sum(2)
    names = [f"s{i}" for i in range(26)]

    def lines(rows):
        return "".join(f"{names[i]}\t{names[j]}\t90.0\t50\t5\t0\t1\t50\t1\t50\t{math.exp(min(far[i, j] - 30, 2)):.3g}\t"
                       f"{200 - 5 * far[i, j]:.1f}\n" for i in rows for j in range(20))
    kith.write("h.tsv", lines(range(20)))
    kith.write("n.tsv", lines(range(20, 26)))
    kith.write("l.tsv", "".join(f"{names[i]}\t{'ab'[i % 2]}\n" for i in range(20)))
    kith.write("n.txt", "".join(f"{names[i]}\t{'ab'[i % 2]}\n" for i in range(20, 26)))


def test_new_rows_are_read_by_the_score_column_of_training(kith):
    write_hits(kith)
    for flag, column in (("--distance", "evalue"), ("--similarity", "bitscore")):
        kith.json("train", flag, "h.tsv", "--score-column", column, "--labels", "l.tsv", "--method", "knn", "--model",
                  "m.kith")
        said = kith.json("predict", "--model", "m.kith", flag, "n.tsv", "--labels", "n.txt")
        named = kith.json("predict", "--model", "m.kith", flag, "n.tsv", "--score-column", column, "--labels", "n.txt")
        assert said["predictions"] == named["predictions"] and said["score"]["error"] < 0.3
        other = {"evalue": "bitscore", "bitscore": "evalue"}[column]
        message = kith.refusal("predict", "--model", "m.kith", flag, "n.tsv", "--score-column", other)
        assert column in message and other in message
        assert f"the column {column}" in kith("info", "m.kith").stdout
        assert kith.json("info", "m.kith")["needs"][0]["score_column"] == column


def test_the_members_of_auto_share_the_score_column(kith):
    write_hits(kith)
    kith.json("train", "--distance", "h.tsv", "--score-column", "evalue", "--labels", "l.tsv", "--method", "auto",
              "--among", "knn,ridge-clip", "--model", "m.kith")
    said = kith("predict", "--model", "m.kith", "--distance", "n.tsv", "--labels", "n.txt")
    assert said.returncode == 0 and "unlike" not in said.stderr
    assert kith.json("info", "m.kith")["needs"][0]["score_column"] == "evalue"


def write_new_points(kith, seed=4):
    """d.csv, s.csv, l.txt of training samples, and rows of new ones: e.csv (distances), t.csv (similarities)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 2)) + 3 * (np.arange(40) % 2)[:, None]
    far = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    for name, values in (("d.csv", far[:30, :30]), ("s.csv", np.exp(-far[:30, :30])), ("e.csv", far[30:, :30]),
                         ("t.csv", np.exp(-far[30:, :30]))):
        kith.write(name, csv(values))
    kith.write("l.txt", "".join("ab"[i % 2] + "\n" for i in range(30)))


@pytest.mark.parametrize("method", ["knn", "svm-clip", "auto", "p-svm"])
def test_new_rows_unlike_those_of_training_are_told(kith, method):
    write_new_points(kith)
    for flag, learned, same, other in (("--similarity", "s.csv", "t.csv", "e.csv"), ("--distance", "d.csv", "e.csv", "t.csv")):
        kith.json("train", flag, learned, "--labels", "l.txt", "--method", method, "--model", "m.kith")
        right = kith("predict", "--model", "m.kith", flag, same)
        assert right.returncode == 0 and "unlike" not in right.stderr, right.stderr
        wrong = kith("predict", "--model", "m.kith", flag, other)
        assert wrong.returncode == 0 and wrong.stderr.count("unlike those that the model was trained on") == 1
        assert other in wrong.stderr


@pytest.mark.parametrize("seed", range(6))
def test_new_rows_like_those_of_training_raise_no_doubt(kith, seed):
    problem = Problem(n=30, queries=12, seed=seed).write(kith)
    problem.train(kith, "--method", "svm-clip")
    said = kith("predict", "--model", "m.kith", "--similarity", "q.csv")
    assert said.returncode == 0 and "unlike" not in said.stderr


def test_pairs_without_a_diagonal_are_told_by_their_classes(kith):
    write_points(kith)
    far = np.loadtxt(kith.folder / "d.csv", delimiter=",")
    for name, values in (("d.edges", far), ("s.edges", np.exp(-far))):
        kith.write(name, "".join(f"p{i}\tp{j}\t{values[i, j]!r}\n" for i in range(24) for j in range(i)))
    kith.write("l.tsv", "".join(f"p{i}\t{'ab'[i % 2]}\n" for i in range(24)))
    for flag, name, words in (("--similarity", "d.edges", "look like distances"),
                              ("--distance", "s.edges", "look like similarities")):
        result = kith("inspect", flag, name, "--labels", "l.tsv", "--missing", "min")
        assert result.returncode == 0 and result.stderr.count(words) == 1, result.stderr
    for flag, name in (("--distance", "d.edges"), ("--similarity", "s.edges")):
        assert "look like" not in kith("inspect", flag, name, "--labels", "l.tsv", "--missing", "min").stderr
