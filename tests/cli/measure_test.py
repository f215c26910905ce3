# SPDX-License-Identifier: Apache-2.0
"""`kith measure`: similarities and distances from raw data."""

import csv
import gzip
import os

import pytest

from conftest import SOURCE

WORDS = SOURCE / "examples/words/words.tsv"


def table(path):
    """A csv with ids as {(row id, column id): number}."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return {(row[0], column): float(value)
            for row in rows for column, value in zip(header[1:], row[1:])}


def measure(kith, *arguments):
    result = kith("measure", *arguments)
    assert result.returncode == 0, result.stderr
    return result


def test_writes_the_values_with_their_ids(kith):
    kith.write("trees.tsv", "oak\toak\nelm\telm\n\u00e5\tek\u00e5\n")
    measure(kith, "--data", "trees.tsv", "--measure", "edit", "--out", "s.csv")
    values = table(kith.folder / "s.csv")
    assert values["oak", "oak"] == 1
    assert values["oak", "elm"] == 0
    assert values["elm", "\u00e5"] == 1 / 3
    assert len(values) == 9


def test_measures_new_samples_against_others(kith):
    kith.write("old.tsv", "a\tkitten\nb\tmitten\n")
    kith.write("new.tsv", "q\tsitting\n")
    measure(kith, "--data", "new.tsv", "--against", "old.tsv", "--measure", "edit-distance",
            "--out", "d.csv")
    assert table(kith.folder / "d.csv") == {("q", "a"): 3, ("q", "b"): 3}


def test_json_says_what_was_computed(kith):
    kith.write("x.txt", "one\ntwo\n")
    found = kith.json("measure", "--data", "x.txt", "--measure", "edit-distance", "--out", "d.csv")
    assert found["kind"] == "distances"
    assert (found["rows"], found["cols"]) == (2, 2)
    assert found["settings"] == {"measure": "edit-distance"}


def test_any_number_of_threads_gives_the_same_bytes(kith):
    for threads in (1, 2, 7):
        measure(kith, "--data", WORDS, "--measure", "edit", "--threads", threads,
                "--out", f"{threads}.csv")
    one = (kith.folder / "1.csv").read_bytes()
    assert one == (kith.folder / "2.csv").read_bytes()
    assert one == (kith.folder / "7.csv").read_bytes()


def test_gzip_is_read(kith):
    content = b"a\tone\nb\ttwo\n"
    kith.write("x.tsv", content)
    kith.write("y.tsv.gz", gzip.compress(content))
    for name in ("x.tsv", "y.tsv.gz"):
        measure(kith, "--data", name, "--measure", "edit", "--out", name[0] + ".csv")
    assert (kith.folder / "x.csv").read_bytes() == (kith.folder / "y.csv").read_bytes()


def test_standard_output_stays_empty_without_json(kith):
    kith.write("x.txt", "one\ntwo\n")
    assert measure(kith, "--data", "x.txt", "--measure", "edit", "--out", "s.csv").stdout == ""


@pytest.mark.parametrize("content, words", [
    (b"a\tfine\nb\tcaf\xe9\n", ["x.tsv:2: ", "UTF-8"]),
    (b"a\tx\na\ty\n", ["x.tsv:2:1: ", '"a"', "line 1"]),
    (b"a\tx\ny\n", ["x.tsv:2: ", '"y"', "tab"]),
    (b"one\n\ntwo\n", ["x.tsv:2: ", "empty"]),
    (b"", ["x.tsv", "no lines"]),
    (None, ["x.tsv", "No such file"]),
], ids=["latin 1", "duplicate ids", "mixed lines", "empty line", "empty file", "missing file"])
def test_bad_input_is_refused_by_name(kith, content, words):
    if content is not None:
        kith.write("x.tsv", content)
    message = kith.refusal("measure", "--data", "x.tsv", "--measure", "edit", "--out", "s.csv")
    for word in words:
        assert word in message, message
    assert "s.csv" not in os.listdir(kith.folder)


@pytest.mark.parametrize("flags, word", [
    (["--measure", "hamming", "--out", "s.csv"], "one of edit, edit-distance"),
    (["--out", "s.csv"], "--measure"),
    (["--measure", "edit"], "--out"),
    (["--measure", "edit", "--out", "s.what"], "s.what"),
    (["--measure", "edit", "--out", "s.mat"], "can be read but not written"),
])
def test_bad_usage_is_refused(kith, flags, word):
    kith.write("x.txt", "one\ntwo\n")
    assert word in kith.refusal("measure", "--data", "x.txt", *flags)
    assert os.listdir(kith.folder) == ["x.txt"]


def test_help_explains_every_measure(kith):
    text = kith("measure", "--help").stdout
    for word in ("--data", "--against", "edit  ", "edit-distance  ", "Examples:"):
        assert word in text
