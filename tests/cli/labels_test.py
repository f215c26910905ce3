# SPDX-License-Identifier: Apache-2.0
"""Labels go to the right samples, or to none."""

import gzip
import random

import pytest

FORMATS = ("s.edges", "s.m8", "s.edges.gz", "s.m8.gz")


def write_pairs(kith, name):
    """Twelve samples in two classes, their pairs in random order; ids whose order is not that of the labels."""
    ids = [f"p{i:02}" for i in range(12)]
    pairs = [(a, b) for a in ids for b in ids]
    random.Random(3).shuffle(pairs)
    alike = {(a, b): 100 if a == b else 90 if (a < "p06") == (b < "p06") else 10 for a, b in pairs}
    if ".m8" in name:
        lines = [f"{a}\t{b}\t50.0\t100\t50\t0\t1\t100\t1\t100\t1e-20\t{alike[a, b]}\n" for a, b in pairs]
    else:
        lines = [f"{a} {b} {alike[a, b]}\n" for a, b in pairs]
    text = "".join(lines)
    kith.write(name, gzip.compress(text.encode()) if name.endswith(".gz") else text)
    return ids


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("command", ("inspect", "train", "evaluate", "convert"))
def test_a_table_of_pairs_refuses_labels_without_ids(kith, name, command):
    write_pairs(kith, name)
    kith.write("plain.txt", "a\n" * 6 + "b\n" * 6)
    extra = {"inspect": [], "train": ["--method", "knn", "--model", "m.kith"],
             "evaluate": ["--methods", "knn", "--store", "s.db"], "convert": ["--out", "o.libsvm"]}[command]
    message = kith.refusal(command, "--similarity", name, "--labels", "plain.txt", *extra)
    assert "plain.txt: it has one label per line" in message and name in message and "<TAB>a" in message
    assert not any((kith.folder / one).exists() for one in ("m.kith", "s.db", "o.libsvm"))


def test_of_several_matrices_the_first_says_whether_there_is_an_order(kith):
    ids = write_pairs(kith, "s.edges")
    rows = [",".join(["id", *ids])] + [",".join([a, *("9" if a == b else "1" for b in ids)]) for a in ids]
    kith.write("m.csv", "\n".join(rows) + "\n")
    kith.write("plain.txt", "a\n" * 6 + "b\n" * 6)
    message = kith.refusal("inspect", "--similarity", "s.edges", "--similarity", "m.csv", "--labels", "plain.txt")
    assert "s.edges lists pairs of ids" in message
    result = kith("inspect", "--similarity", "m.csv", "--similarity", "s.edges", "--labels", "plain.txt")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name, text", (
    ("s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 9\n2 2 9\n3 3 9\n4 4 9\n2 1 5\n4 3 5\n"),
    ("s.libsvm", "".join(f"0 0:{i} " + " ".join(f"{j}:{9 if i == j else 1}" for j in range(1, 5)) + "\n"
                         for i in range(1, 5))),
    ("s.phy", "4\nx 0 1 2 2\ny 1 0 2 2\nz 2 2 0 1\nw 2 2 1 0\n")))
def test_files_whose_rows_have_an_order_take_plain_labels(kith, name, text):
    kith.write(name, text)
    kith.write("plain.txt", "a\na\nb\nb\n")
    flag = "--distance" if name.endswith(".phy") else "--similarity"
    result = kith("train", flag, name, "--labels", "plain.txt", "--method", "knn", "--missing", "zero", "--model",
                  "m.kith")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("order of the samples") == name.endswith(".phy")


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_of_pairs_takes_labels_by_id(kith, name):
    ids = write_pairs(kith, name)
    kith.write("l.tsv", "".join(f"{i}\t{'a' if i < 'p06' else 'b'}\n" for i in reversed(ids)))
    trained = kith("train", "--similarity", name, "--labels", "l.tsv", "--method", "knn", "--model", "m.kith")
    assert trained.returncode == 0, trained.stderr
    result = kith("predict", "--model", "m.kith", "--similarity", name)
    assert result.returncode == 0, result.stderr
    for line in result.stdout.splitlines()[1:]:
        cells = line.split("\t")
        assert cells[1] == ("a" if cells[0] < "p06" else "b")


def test_a_matrix_with_ids_takes_plain_labels_by_row_with_one_note(kith):
    kith.write("s.csv", "id,x,y,z,w\nx,1,.9,.1,.1\ny,.9,1,.1,.1\nz,.1,.1,1,.9\nw,.1,.1,.9,1\n")
    kith.write("plain.txt", "a\na\nb\nb\n")
    result = kith("train", "--similarity", "s.csv", "--labels", "plain.txt", "--method", "knn", "--set",
                  "neighbours=1", "--model", "m.kith")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("plain.txt has no ids, so its labels are taken in the order of the samples") == 1


def ring(n):
    """Similarities of n samples, larger the nearer they stand."""
    return "".join(",".join(str(n - abs(i - j)) for j in range(n)) + "\n" for i in range(n))


@pytest.mark.parametrize("arguments", (("train", "--method", "knn", "--model", "m.kith"), ("train", "--method", "auto"),
                                       ("evaluate", "--methods", "knn", "--store", "s.db")))
def test_a_class_for_each_sample_is_refused(kith, arguments):
    kith.write("s.csv", ring(12))
    kith.write("own.txt", "".join(f"id{i}\n" for i in range(12)))
    message = kith.refusal(*arguments, "--similarity", "s.csv", "--labels", "own.txt")
    assert "own.txt: each of the 12 samples has a class of its own" in message and "at least two" in message
    assert not (kith.folder / "m.kith").exists() and not (kith.folder / "s.db").exists()


def test_raw_samples_with_a_class_each_are_refused_as_well(kith):
    kith.write("w.txt", "kitten\nmitten\nsitting\nfitting\n")
    kith.write("own.txt", "a\nb\nc\nd\n")
    message = kith.refusal("train", "--data", "w.txt", "--measure", "edit", "--labels", "own.txt", "--method", "knn")
    assert "own.txt: each of the 4 samples" in message


def test_inspect_says_that_each_sample_has_a_class_of_its_own_and_offers_no_training(kith):
    kith.write("s.csv", ring(6))
    kith.write("own.txt", "".join(f"id{i}\n" for i in range(6)))
    result = kith("inspect", "--similarity", "s.csv", "--labels", "own.txt", "--json")
    assert result.returncode == 0 and "each of the 6 samples" in result.stderr
    assert '"next"' not in result.stdout


def test_one_note_says_that_more_than_half_of_the_classes_have_one_sample(kith):
    kith.write("s.csv", ring(12))
    kith.write("near.txt", "".join(f"id{i % 10}\n" for i in range(12)))
    arguments = ("train", "--similarity", "s.csv", "--method", "knn", "--set", "neighbours=1")
    result = kith(*arguments, "--labels", "near.txt")
    assert result.returncode == 0
    assert result.stderr.count("near.txt: 8 of 10 classes have a single sample") == 1
    kith.write("half.txt", "a\n" * 5 + "b\n" * 5 + "c\nd\n")
    assert "single sample" not in kith(*arguments, "--labels", "half.txt").stderr


def test_columns_in_the_wrong_order_are_named(kith):
    kith.write("s.csv", ring(6))
    kith.write("swapped.tsv", "".join(f"{'ab'[i % 2]}\tp{i}\n" for i in range(6)))
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "swapped.tsv")
    assert 'swapped.tsv:3:1: the id "a" stands on lines 1 and 3' in message
    assert "the id stands before the label" in message
    kith.write("twice.tsv", "p1\ta\np2\ta\np1\tb\n")
    assert "before the label" not in kith.refusal("train", "--similarity", "s.csv", "--labels", "twice.tsv")


def test_ids_and_labels_with_a_blank_between_them_are_no_labels(kith):
    kith.write("s.csv", ring(6))
    kith.write("blank.txt", "".join(f"p{i} {'ab'[i % 2]}\n" for i in range(6)))
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "blank.txt")
    assert "separated by a tab, not by a blank" in message


def test_an_empty_name_of_a_file_is_named(kith):
    assert "the name of a file is empty" in kith.refusal("inspect", "--similarity", "")
