# SPDX-License-Identifier: Apache-2.0
"""--data and --measure: models and evaluations from raw samples, without a matrix in between."""

import random
import sqlite3
import struct

import pytest

from conftest import SOURCE
from problems import table

WORDS = SOURCE / "examples/words/words.tsv"
LANGUAGES = SOURCE / "examples/words/languages.tsv"


def run(kith, *arguments):
    result = kith(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


class Kinds:
    """For each measure, thirty training samples of two classes and six new ones."""

    def __init__(self):
        chance = random.Random(3)
        self.classes = [i % 2 for i in range(36)]
        self.vectors = [[round(chance.gauss(3 * c, 1), 3) for _ in range(3)] for c in self.classes]

    def text(self, kind, begin, end):
        return "".join(self.line(kind, i) for i in range(begin, end))

    def line(self, kind, i):
        chance = random.Random(1000 + i)
        letters = "ACDEF" if self.classes[i] else "GHIKL"
        if kind == "vectors":
            return ",".join([f"s{i}", *map(str, self.vectors[i])]) + "\n"
        if kind == "libsvm":
            return "0 " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(self.vectors[i])) + "\n"
        if kind == "series":
            return f"s{i}," + ",".join(str(self.classes[i] + round(chance.random(), 3))
                                       for _ in range(4 + i % 3)) + "\n"
        word = "".join(chance.choice(letters) for _ in range(5 + i % 4))
        if kind == "sequences":
            return f">s{i}\n{word}\n"
        if kind == "strings":
            return f"s{i}\t{word}\n"
        if kind == "sets":
            return f"s{i}\t{' '.join(word)}\n"
        return ",".join([f"s{i}", word[0], word[1], chance.choice("xyz")]) + "\n"

    def write(self, kith, kind):
        ending = {"vectors": "csv", "libsvm": "txt", "series": "csv", "sequences": "fasta",
                  "strings": "tsv", "sets": "tsv", "categories": "csv"}[kind]
        head = {"vectors": "id,a,b,c\n", "categories": "id,p,q,r\n"}.get(kind, "")
        kith.write(f"old.{ending}", head + self.text(kind, 0, 30))
        kith.write(f"new.{ending}", head + self.text(kind, 30, 36))
        ids = kind != "libsvm"
        kith.write("labels.txt", "".join((f"s{i}\t" if ids else "") + "ab"[self.classes[i]] + "\n"
                                         for i in range(30)))
        return f"old.{ending}", f"new.{ending}"


CASES = [
    ("strings", "edit", (), "--similarity"),
    ("strings", "compression-distance", (), "--distance"),
    ("strings", "spectrum", ("--kmer", "2"), "--similarity"),
    ("vectors", "gaussian", (), "--similarity"),
    ("vectors", "gaussian", ("--gamma", "0.25"), "--similarity"),
    ("libsvm", "polynomial", ("--degree", "2", "--coef0", "0.5"), "--similarity"),
    ("vectors", "manhattan", (), "--distance"),
    ("series", "dtw", ("--band", "2"), "--distance"),
    ("sequences", "smith-waterman", ("--score", "normalised"), "--similarity"),
    ("sets", "tversky-contrast", ("--alpha", "0.8", "--beta", "0.2"), "--similarity"),
    ("categories", "value-difference", (), "--distance"),
]


@pytest.mark.parametrize("kind,measure,settings,flag", CASES)
def test_a_model_of_raw_samples_predicts_as_one_of_the_matrix(kith, kind, measure, settings, flag):
    old, new = Kinds().write(kith, kind)
    learns = ("--labels", "labels.txt") if measure == "value-difference" else ()
    how = ("--measure", measure, *settings)
    run(kith, "measure", "--data", old, *how, *learns, "--out", "s.csv")
    run(kith, "measure", "--data", new, "--against", old, *how, *learns, "--out", "q.csv")
    method = ("--labels", "labels.txt", "--method", "svm-clip", "--set", "probability=no")
    run(kith, "train", flag, "s.csv", *method, "--model", "matrix.kith")
    run(kith, "train", "--data", old, *how, *method, "--model", "raw.kith")
    back = ()
    if measure.startswith("tversky"):
        run(kith, "measure", "--data", old, "--against", new, *how, "--out", "back.csv")
        back = ("--similarity-from", "back.csv")
    expected = table(run(kith, "predict", "--model", "matrix.kith", flag, "q.csv", *back))
    found = table(run(kith, "predict", "--model", "raw.kith", "--data", new))
    assert [row["label"] for row in found] == [row["label"] for row in expected]
    for one, other in zip(found, expected):
        for column in ("score:a", "score:b"):
            assert float(one[column]) == pytest.approx(float(other[column]), rel=1e-6, abs=1e-9)
    # Rows that were measured elsewhere are welcome too.
    assert run(kith, "predict", "--model", "raw.kith", flag, "q.csv", *back)


def test_new_samples_need_their_model_alone(kith):
    old, new = Kinds().write(kith, "strings")
    run(kith, "train", "--data", old, "--measure", "edit", "--labels", "labels.txt", "--model", "m.kith")
    before = run(kith, "predict", "--model", "m.kith", "--data", new)
    (kith.folder / old).unlink()
    assert run(kith, "predict", "--model", "m.kith", "--data", new) == before
    assert [row["id"] for row in table(before)] == [f"s{i}" for i in range(30, 36)]


def test_any_number_of_threads_gives_the_same_bytes(kith):
    old, new = Kinds().write(kith, "sets")
    models = []
    rows = []
    for threads in (1, 3):
        run(kith, "train", "--data", old, "--measure", "jaccard", "--labels", "labels.txt", "--model",
            "m.kith", "--threads", threads)
        models.append((kith.folder / "m.kith").read_bytes())
        rows.append(run(kith, "predict", "--model", "m.kith", "--data", new, "--threads", threads))
    assert models[0] == models[1]
    assert rows[0] == rows[1]


def test_predicts_more_samples_than_fit_into_a_chunk(kith):
    old, _ = Kinds().write(kith, "strings")
    run(kith, "train", "--data", old, "--measure", "edit", "--labels", "labels.txt", "--method", "knn",
        "--model", "m.kith")
    kith.write("many.tsv", "".join(f"q{i}\t{'ACDEF' if i % 2 else 'GHIKL'}\n" for i in range(2048)))
    rows = table(run(kith, "predict", "--model", "m.kith", "--data", "many.tsv"))
    assert [row["id"] for row in rows] == [f"q{i}" for i in range(2048)]
    assert len({(row["id"][-1] in "13579", row["label"]) for row in rows}) == 2


def test_a_distance_takes_gamma_for_from_distance(kith):
    old, new = Kinds().write(kith, "vectors")
    run(kith, "train", "--data", old, "--measure", "euclidean", "--from-distance", "exp", "--gamma", "0.5",
        "--labels", "labels.txt", "--model", "m.kith")
    assert len(table(run(kith, "predict", "--model", "m.kith", "--data", new))) == 6


TRAIN = ("train", "--labels", "labels.txt")


@pytest.mark.parametrize("flags,words", [
    (("--data", "old.csv"), "--measure"),
    (("--measure", "edit"), "--data"),
    (("--similarity", "s.csv", "--kmer", "2"), "--data"),
    (("--data", "old.csv", "--measure", "gaussian", "--similarity", "s.csv"), "exclude"),
    (("--data", "old.csv", "--measure", "gaussian", "--format", "csv"), "--format"),
    (("--data", "old.csv", "--measure", "gaussian", "--kmer", "2"), "kmer"),
    (("--data", "old.csv", "--measure", "gaussian", "--from-distance", "exp"), "--from-distance"),
    (("--data", "old.csv", "--measure", "linear", "--gamma", "2"), "--gamma"),
    (("--data", "old.csv", "--measure", "euclidean", "--gamma", "2"), "--gamma"),
    (("--data", "old.csv", "--measure", "gaussian", "--gamma", "-1"), "gamma"),
    (("--data", "absent.csv", "--measure", "gaussian"), "absent.csv"),
])
def test_train_refuses_flags_that_do_not_go_together(kith, flags, words):
    Kinds().write(kith, "vectors")
    assert words in kith.refusal(*TRAIN, *flags)


def test_predict_refuses_samples_that_the_model_cannot_measure(kith):
    old, new = Kinds().write(kith, "vectors")
    run(kith, *TRAIN, "--data", old, "--measure", "linear", "--model", "raw.kith")
    run(kith, "measure", "--data", old, "--measure", "linear", "--out", "s.csv")
    run(kith, *TRAIN, "--similarity", "s.csv", "--model", "matrix.kith")
    predict = ("predict", "--data", new)
    assert "trained on a matrix" in kith.refusal(*predict, "--model", "matrix.kith")
    assert "exclude" in kith.refusal(*predict, "--model", "raw.kith", "--similarity", "s.csv")
    assert "exclude" in kith.refusal(*predict, "--model", "raw.kith", "--self", "s.csv")
    assert "--format" in kith.refusal(*predict, "--model", "raw.kith", "--format", "csv")
    assert "also an input" in kith.refusal(*predict, "--model", "raw.kith", "--out", new)
    kith.write("narrow.csv", "id,a\nq,1\n")
    message = kith.refusal("predict", "--model", "raw.kith", "--data", "narrow.csv")
    assert "narrow.csv" in message and "raw.kith" in message


def evaluate(kith, data, *flags):
    return kith.json("evaluate", "--data", data, "--labels", "labels.txt", "--methods", "knn", "--repeats",
                     "3", "--folds", "3", *flags)


def test_evaluates_as_with_the_matrix(kith):
    old, _ = Kinds().write(kith, "strings")
    run(kith, "measure", "--data", old, "--measure", "edit", "--out", "s.csv")
    matrix = kith.json("evaluate", "--similarity", "s.csv", "--labels", "labels.txt", "--methods", "knn",
                       "--repeats", "3", "--folds", "3")
    raw = evaluate(kith, old, "--measure", "edit")
    assert raw["methods"][0]["errors"] == matrix["methods"][0]["errors"]


def test_value_differences_do_not_tell_the_labels_of_test_samples(kith):
    """Every sample has a value of its own: over all labels that value tells the class."""
    n = 60
    kith.write("names.csv", "".join(f"v{i}\n" for i in range(n)))
    kith.write("labels.txt", "".join("ab"[i % 2] + "\n" for i in range(n)))
    run(kith, "measure", "--data", "names.csv", "--measure", "value-difference", "--labels", "labels.txt",
        "--out", "d.csv")
    leaking = kith.json("evaluate", "--distance", "d.csv", "--labels", "labels.txt", "--methods", "knn",
                        "--repeats", "3", "--folds", "3")
    honest = evaluate(kith, "names.csv", "--measure", "value-difference")
    assert leaking["methods"][0]["mean_error"] == 0
    assert honest["methods"][0]["mean_error"] > 0.2


def predictions(kith, store):
    """Of every partition: inner losses, the settings chosen, and what is said of the test samples."""
    with sqlite3.connect(kith.folder / store) as database:
        return database.execute("select partition, inner_losses, chosen, labels, scores from test_results "
                                "order by partition").fetchall()


def test_labels_of_test_samples_change_nothing_but_the_error(kith):
    """Other labels of the test samples alone: what is learned and said on a partition stays bit for bit."""
    old, _ = Kinds().write(kith, "categories")
    flags = ("--measure", "value-difference", "--partitions", "parts.tsv")
    common = ("evaluate", "--data", old, "--labels", "labels.txt", "--methods", "knn,svm-clip", "--repeats", "1", "--folds",
              "3", *flags)
    clean = kith.json(*common, "--store", "clean.db")
    with sqlite3.connect(kith.folder / "clean.db") as store:
        (test,) = store.execute("select test from partitions").fetchone()
    held_out = struct.unpack(f"<{len(test) // 4}i", test)
    lines = (kith.folder / "labels.txt").read_text().splitlines()
    for i in held_out:
        lines[i] = lines[i][:-1] + "ba"["ab".index(lines[i][-1])]
    kith.write("labels.txt", "\n".join(lines) + "\n")
    poisoned = kith.json(*common, "--store", "poisoned.db")
    assert predictions(kith, "clean.db") == predictions(kith, "poisoned.db")
    for one, other in zip(clean["methods"], poisoned["methods"]):
        assert one["mean_error"] + other["mean_error"] == pytest.approx(1)


def test_a_store_goes_on_with_the_same_samples_alone(kith):
    old, _ = Kinds().write(kith, "categories")
    flags = ("--measure", "value-difference", "--store", "run.db")
    first = evaluate(kith, old, *flags)
    assert evaluate(kith, old, *flags)["methods"] == first["methods"]
    message = kith.refusal("evaluate", "--data", old, "--labels", "labels.txt", "--methods", "knn",
                           "--repeats", "3", "--folds", "3", *flags, "--exponent", "1")
    assert "run.db" in message


def test_auto_chooses_from_raw_samples(kith):
    found = kith.json("train", "--data", WORDS, "--measure", "edit", "--labels", LANGUAGES, "--method", "auto",
                      "--among", "knn,nearest-mean", "--model", "m.kith")
    assert set(found["selection"]["chosen"]) <= {"knn", "nearest-mean"}
    assert run(kith, "predict", "--model", "m.kith", "--data", WORDS)


# --- several measures ----------------------------------------------------------------------------------


SEVERAL = ("--method", "mkl", "--set", "probability=no")


def test_several_measures_of_one_file_predict_as_their_matrices(kith):
    old, new = Kinds().write(kith, "strings")
    measures = {"near": ("edit",), "pieces": ("spectrum", "--kmer", "2")}
    matrices, rows = [], []
    for name, how in measures.items():
        run(kith, "measure", "--data", old, "--measure", *how, "--out", f"{name}.csv")
        run(kith, "measure", "--data", new, "--against", old, "--measure", *how, "--out", f"q_{name}.csv")
        matrices += ["--similarity", f"{name}.csv"]
        rows += ["--similarity", f"{name}=q_{name}.csv"]
    expected = kith.json(*TRAIN, *matrices, *SEVERAL, "--model", "matrix.kith")
    found = kith.json(*TRAIN, "--data", old, "--measure", "near=edit", "--measure", "pieces=spectrum:kmer=2", *SEVERAL,
                      "--model", "raw.kith")
    assert found["matrices"] == ["near", "pieces"]
    for name, weight in expected["kernel_weights"].items():
        assert found["kernel_weights"][name] == pytest.approx(weight, abs=1e-6)
    one = table(run(kith, "predict", "--model", "matrix.kith", *rows))
    other = table(run(kith, "predict", "--model", "raw.kith", "--data", new))
    assert [row["label"] for row in one] == [row["label"] for row in other]
    assert [float(row["score:a"]) for row in one] == pytest.approx([float(row["score:a"]) for row in other], rel=1e-5)
    assert run(kith, "predict", "--model", "raw.kith", *rows)
    predict = ("predict", "--model", "raw.kith", "--data")
    assert f'from one file, and "{new}" is given for "near" alone; give --data FILE once' in kith.refusal(
        *predict, f"near={new}")
    assert "from one file, and 2 are given" in kith.refusal(*predict, f"near={new}", "--data", f"pieces={new}")


def two_views(kith):
    """The same samples as series and, in another order, as sets."""
    kinds = Kinds()
    kinds.write(kith, "series")
    for name, positions in (("old", range(30)), ("new", range(30, 36))):
        lines = [kinds.line("sets", i) for i in positions]
        kith.write(f"{name}.tsv", "".join(reversed(lines)))
    return ("--data", "old.csv", "--measure", "dtw", "--data", "old.tsv", "--measure", "jaccard")


def test_several_files_are_matched_by_id(kith):
    assert 'both named "old"' in kith.refusal(*TRAIN, *two_views(kith), *SEVERAL)
    views = ("--data", "course=old.csv", "--measure", "dtw", "--data", "traits=old.tsv", "--measure", "jaccard")
    found = kith.json(*TRAIN, *views, *SEVERAL, "--model", "m.kith")
    assert found["matrices"] == ["course", "traits"]
    by_name = run(kith, "predict", "--model", "m.kith", "--data", "traits=new.tsv", "--data", "course=new.csv")
    assert run(kith, "predict", "--model", "m.kith", "--data", "new.csv", "--data", "new.tsv") == by_name
    labels = {row["id"]: row["label"] for row in table(by_name)}
    assert len(labels) == 6 and sum(labels[f"s{i}"] == "ab"[i % 2] for i in range(30, 36)) >= 5
    predict = ("predict", "--model", "m.kith")
    assert "traits" in kith.refusal(*predict, "--data", "new.csv")
    assert "--data traits=FILE" in kith.refusal(*predict, "--data", "course=new.csv")
    assert "s31" in kith.refusal(*predict, "--data", "new.csv", "--data", kith.write("few.tsv", "s30\tA C\n"))


def test_evaluates_several_measures(kith):
    old, _ = Kinds().write(kith, "categories")
    kith.write("words.tsv", "".join(line.split(",", 1)[0] + "\t" + line.split(",", 1)[1].replace(",", " ")
                                    for line in (kith.folder / old).read_text().splitlines(True)[1:]))
    found = kith.json("evaluate", "--data", old, "--measure", "value-difference", "--data", "words.tsv", "--measure",
                      "jaccard", "--labels", "labels.txt", "--methods", "average-svm", "--repeats", "2", "--folds", "3",
                      "--grid", "average-svm:cost=1,10")
    assert len(found["methods"][0]["errors"]) == 2


@pytest.mark.parametrize("flags,words", [
    (("--measure", "edit", "--measure", "edit"), "both named \"edit\""),
    (("--measure", "edit", "--measure", "spectrum:kmers=2"), "kmer, score"),
    (("--measure", "edit:2", "--measure", "spectrum"), "key=value"),
    (("--measure", "edit:kmer=2", "--measure", "spectrum"), "no settings"),
    (("--measure", "edit", "--measure", "spectrum", "--band", "3"), "--band"),
    (("--measure", "edit", "--measure", "spectrum:kmer=0"), "kmer"),
    (("--measure", "edit", "--measure", "spectrum:kmer=2,kmer=3"), "twice"),
    (("--measure", "edit", "--measure", "soundex"), "soundex"),
    (("--measure", "edit", "--measure", "spectrum", "--data", "old.tsv", "--data", "old.tsv"), "3 times --data"),
    (("--measure", "edit", "--data", "far=old.tsv", "--measure", "near=spectrum"), "two names"),
    (("--measure", "gaussian", "--measure", "edit-distance", "--from-distance", "exp", "--gamma", "1"),
     "gaussian:gamma"),
])
def test_several_measures_are_refused_with_a_reason(kith, flags, words):
    Kinds().write(kith, "strings")
    assert words in kith.refusal(*TRAIN, "--data", "old.tsv", *flags, *SEVERAL)


def test_methods_of_one_matrix_refuse_several_measures(kith):
    Kinds().write(kith, "strings")
    message = kith.refusal(*TRAIN, "--data", "old.tsv", "--measure", "edit", "--measure", "spectrum", "--method", "svm")
    assert "mkl" in message


# --- what does not fit ---------------------------------------------------------------------------------


def test_values_never_seen_in_training_are_predicted(kith):
    old, _ = Kinds().write(kith, "categories")
    run(kith, *TRAIN, "--data", old, "--measure", "value-difference", "--method", "knn", "--model", "m.kith")
    kith.write("unseen.csv", "id,p,q,r\nu1,@,@,@\nu2,A,@,\n")
    rows = table(run(kith, "predict", "--model", "m.kith", "--data", "unseen.csv"))
    assert [row["id"] for row in rows] == ["u1", "u2"]


@pytest.mark.parametrize("kind,measure,ending,text,words", [
    ("categories", "value-difference", "csv", "id,p\nu1,A\n", ("new.csv", "columns")),
    ("sequences", "smith-waterman", "fasta", ">u1\n>u2\nACD\n", ("u1", "no residues")),
    ("sequences", "smith-waterman", "fasta", "", ("new.fasta", "FASTA")),
    ("sequences", "smith-waterman", "fasta", ">u1\nAC1\n", ("new.fasta:2:3",)),
    ("series", "dtw", "csv", "u1\n", ("new.csv:1", "numbers")),
    ("strings", "edit", "tsv", "u1\ta\nu1\tb\n", ("new.tsv:2", "u1")),
    ("vectors", "gaussian", "csv", "id,a,b,c\nu1,1,2,\n", ("new.csv", "no value")),
])
def test_samples_that_cannot_be_measured_are_named(kith, kind, measure, ending, text, words):
    old, _ = Kinds().write(kith, kind)
    run(kith, *TRAIN, "--data", old, "--measure", measure, "--method", "knn", "--model", "m.kith")
    message = kith.refusal("predict", "--model", "m.kith", "--data", kith.write(f"new.{ending}", text).name)
    for word in words:
        assert word in message
    assert "absent" in kith.refusal("predict", "--model", "m.kith", "--data", "absent")


def test_labels_are_joined_by_id(kith):
    old, _ = Kinds().write(kith, "strings")
    lines = (kith.folder / "labels.txt").read_text().splitlines(True)
    straight = kith.json(*TRAIN, "--data", old, "--measure", "edit")
    kith.write("labels.txt", "".join(reversed(lines)))
    assert kith.json(*TRAIN, "--data", old, "--measure", "edit")["objective"] == straight["objective"]
    kith.write("labels.txt", "".join(lines).replace("s7\t", "z7\t"))
    assert "s7" in kith.refusal(*TRAIN, "--data", old, "--measure", "edit")
    assert "--labels" in kith.refusal("train", "--data", old, "--measure", "edit")
    assert "--labels" in kith.refusal("evaluate", "--data", old, "--measure", "edit")


def test_columns_are_matched_by_name(kith):
    kith.write("old.csv", "id,h,w\np,1,10\nq,2,11\nr,9,1\ns,8,2\n")
    kith.write("labels.txt", "p\ttall\nq\ttall\nr\twide\ns\twide\n")
    run(kith, "train", "--data", "old.csv", "--measure", "euclidean", "--from-distance", "negative",
        "--labels", "labels.txt", "--method", "knn", "--set", "neighbours=1", "--model", "m.kith")
    kith.write("new.csv", "id,w,h\nx,10,1\n")
    assert "tall" in run(kith, "predict", "--model", "m.kith", "--data", "new.csv")
    run(kith, "measure", "--data", "new.csv", "--against", "old.csv", "--measure", "euclidean",
        "--out", "rows.csv")
    assert (kith.folder / "rows.csv").read_text().splitlines()[1].startswith("x,0,")
    for content, name in [("id,w,h,d\nx,10,1,3\n", '"d"'), ("id,w\nx,10\n", '"h"')]:
        kith.write("other.csv", content)
        result = kith("predict", "--model", "m.kith", "--data", "other.csv")
        assert result.returncode == 1
        assert "other.csv" in result.stderr and name in result.stderr
