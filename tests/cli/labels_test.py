# SPDX-License-Identifier: Apache-2.0
"""Labels go to the right samples, or to none."""

import random

import pytest

FORMATS = ("s.edges", "s.m8")


def write_pairs(kith, name):
    """Twelve samples in two classes, their pairs in random order; ids whose order is not that of the labels."""
    ids = [f"p{i:02}" for i in range(12)]
    pairs = [(a, b) for a in ids for b in ids]
    random.Random(3).shuffle(pairs)
    alike = {(a, b): 100 if a == b else 90 if (a < "p06") == (b < "p06") else 10 for a, b in pairs}
    if name.endswith(".m8"):
        lines = [f"{a}\t{b}\t50.0\t100\t50\t0\t1\t100\t1\t100\t1e-20\t{alike[a, b]}\n" for a, b in pairs]
    else:
        lines = [f"{a} {b} {alike[a, b]}\n" for a, b in pairs]
    kith.write(name, "".join(lines))
    return ids


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("command", ("inspect", "train", "evaluate"))
def test_a_table_of_pairs_refuses_labels_without_ids(kith, name, command):
    write_pairs(kith, name)
    kith.write("plain.txt", "a\n" * 6 + "b\n" * 6)
    extra = {"inspect": [], "train": ["--method", "knn", "--model", "m.kith"],
             "evaluate": ["--methods", "knn", "--store", "s.db"]}[command]
    message = kith.refusal(command, "--similarity", name, "--labels", "plain.txt", *extra)
    assert "plain.txt: it has one label per line" in message and name in message and "<TAB>a" in message
    assert not (kith.folder / "m.kith").exists() and not (kith.folder / "s.db").exists()


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
