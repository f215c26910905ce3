# SPDX-License-Identifier: Apache-2.0
"""Bad input: exit code 1, a message that names file, place, value and rule, and nothing written."""

import bz2
import gzip
import lzma
import os
import struct
import zipfile

import pytest

GOOD = "1,0.5\n0.5,1\n"

# name of the file, its content, and what the message must say
CASES = {
    "ragged rows": ("s.csv", "1,2,3\n4,5\n6,7,8\n", ["s.csv:2", "2", "3"]),
    "text for a number": ("s.csv", "1,2\n3,oops\n", ["s.csv:2", "oops", "number"]),
    "infinity": ("s.csv", "1,inf\n1,1\n", ["s.csv:1", "inf"]),
    "not square": ("s.csv", "1,2,3\n4,5,6\n", ["s.csv", "2", "3", "square"]),
    "empty file": ("s.csv", "", ["s.csv", "empty"]),
    "only a header": ("s.csv", "id,a,b\n", ["s.csv"]),
    "duplicate ids": ("s.csv", ",a,a\na,1,2\na,3,4\n", ["s.csv", '"a"']),
    "decimal commas": ("s.csv", "1;0,5\n0,5;1\n", ["s.csv:1", "decimal comma"]),
    "truncated npy": ("s.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
                      + b" " * 55 + b"\n" + struct.pack("<2d", 1, 2), ["s.npy"]),
    "huge npy": ("s.npy", b"\x93NUMPY\x01\x00\x76\x00" +
                 b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 8), }".ljust(117) + b"\n",
                 ["s.npy", "1000000000000"]),
    "corrupt mat": ("s.mat", b"MATLAB 5.0 MAT-file" + b"\x00" * 50, ["s.mat"]),
    "corrupt hdf5": ("s.mat", b"\x89HDF\r\n\x1a\n" + b"\xff" * 600, ["s.mat"]),
    "truncated gzip": ("s.csv.gz", gzip.compress(GOOD.encode() * 100)[:-12], ["s.csv.gz"]),
    "corrupt zstd": ("s.csv.zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 40, ["s.csv.zst"]),
    "huge matrix market": ("s.mtx", "%%MatrixMarket matrix array real general\n1000000000000 1000000000000\n1\n",
                           ["s.mtx", "1000000000000"]),
    "binary rubbish": ("s.csv", bytes(range(256)) * 8, ["s.csv"]),
}


@pytest.mark.parametrize("name", CASES)
def test_is_refused_by_name(kith, name):
    file, content, words = CASES[name]
    kith.write(file, content)
    message = kith.refusal("inspect", "--similarity", file)
    for word in words:
        assert word in message, message
    assert message.count("\n") == 1, message
    assert "internal" not in message


def test_missing_values_ask_for_a_decision(kith):
    kith.write("s.csv", "1,nan\n0.5,1\n")
    kith.write("out.keep", "x")
    found = kith.json("inspect", "--similarity", "s.csv")
    assert found["missing"] == 1
    assert found["negative_eigenvalues"] is None


def test_a_directory_and_a_missing_file(kith):
    os.mkdir(kith.folder / "d.csv")
    assert "d.csv" in kith.refusal("inspect", "--similarity", "d.csv")
    message = kith.refusal("inspect", "--similarity", "nowhere.csv")
    assert "nowhere.csv" in message and "No such file" in message


def test_nothing_is_written_when_the_input_is_bad(kith):
    kith.write("s.csv", "1,2\n3,x\n")
    kith.refusal("convert", "--similarity", "s.csv", "--out", "out.npy")
    assert sorted(os.listdir(kith.folder)) == ["s.csv"]


def test_a_full_disk_is_an_error(kith):
    kith.write("s.csv", GOOD)
    message = kith.refusal("convert", "--similarity", "s.csv", "--out", "/dev/full", "--out-format", "csv")
    assert "/dev/full" in message and "space" in message


def test_an_unwritable_folder_is_an_error(kith):
    kith.write("s.csv", GOOD)
    message = kith.refusal("convert", "--similarity", "s.csv", "--out", "no/such/folder/o.csv")
    assert "no/such/folder" in message


LABEL_CASES = {
    "too few": ("a\n", ["l.txt", "1", "2"]),
    "too many": ("a\nb\nc\n", ["l.txt", "3", "2"]),
    "empty": ("", ["l.txt", "empty"]),
    "an empty line": ("a\n\nb\n", ["l.txt:2"]),
}


@pytest.mark.parametrize("name", LABEL_CASES)
def test_labels_that_do_not_fit(kith, name):
    content, words = LABEL_CASES[name]
    kith.write("s.csv", GOOD)
    kith.write("l.txt", content)
    message = kith.refusal("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    for word in words:
        assert word in message, message


def test_labels_are_joined_by_id(kith):
    kith.write("s.csv", ",x,y\nx,1,0.5\ny,0.5,1\n")
    kith.write("l.tsv", "y\tdog\nx\tcat\nz\tcow\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.tsv")
    assert found["classes"] == {"cat": 1, "dog": 1}
    assert found["unmatched_labels"] == ["z"]
    kith.write("l.tsv", "y\tdog\nq\tcat\n")
    message = kith.refusal("inspect", "--similarity", "s.csv", "--labels", "l.tsv")
    assert "x" in message and "l.tsv" in message


def test_windows_files_and_unicode_are_fine(kith):
    kith.write("s.csv", "\ufeff,\"K\u00e4se, alt\",\"say \"\"hi\"\"\"\r\n\"K\u00e4se, alt\",1,0.5\r\n\"say \"\"hi\"\"\",0.5,1\r\n")
    kith.write("l.tsv", "\ufeffK\u00e4se, alt\tein Wort\r\nsay \"hi\"\t\u65e5\u672c\r\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.tsv")
    assert found["classes"] == {"ein Wort": 1, "\u65e5\u672c": 1}


def test_a_packing_that_is_not_read_is_named(kith):
    text = b"1,0\n0,1\n"
    kith.write("s.csv.bz2", bz2.compress(text))
    kith.write("s.csv.xz", lzma.compress(text))
    with zipfile.ZipFile(kith.folder / "s.zip", "w") as archive:
        archive.writestr("s.csv", text)
    for name, packing in (("s.csv.bz2", "bzip2"), ("s.csv.xz", "xz"), ("s.zip", "zip")):
        message = kith.refusal("inspect", "--similarity", name)
        assert f"{name}: packed with {packing}" in message and "gzip or zstd" in message


LABELLED = ["--labels", "l.txt"]
MATRIX = ["--similarity", "name=s.csv", *LABELLED]
RAW = ["--data", "x.csv", *LABELLED]
TRAIN = ["--method", "linear-msvm", "--model", "new.kith"]

# a command that reads, the flag that writes, and the files that it must not write
INPUTS = {
    "measure": (["measure", "--data", "x.csv", "--measure", "linear"], "--out", ["x.csv"]),
    "measure against": (["measure", "--data", "x.csv", "--against", "s.csv", "--measure", "linear"], "--out",
                        ["x.csv", "s.csv"]),
    "measure labels": (["measure", *RAW, "--measure", "value-difference"], "--out", ["l.txt"]),
    "convert": (["convert", *MATRIX, "--out-format", "csv"], "--out", ["s.csv", "l.txt"]),
    "convert distances": (["convert", "--distance", "s.csv"], "--out", ["s.csv"]),
    "inspect": (["inspect", *MATRIX], "--html", ["s.csv", "l.txt"]),
    "train": (["train", *MATRIX], "--model", ["s.csv", "l.txt"]),
    "train from raw data": (["train", *RAW, "--measure", "linear"], "--model", ["x.csv", "l.txt"]),
    "train a metric": (["train", *RAW, *TRAIN], "--write-similarity", ["x.csv"]),
    "evaluate": (["evaluate", *MATRIX], "--store", ["s.csv", "l.txt"]),
    "evaluate raw data": (["evaluate", *RAW, "--measure", "linear"], "--store", ["x.csv"]),
    "evaluate partitions": (["evaluate", *MATRIX, "--partitions", "p.txt"], "--store", ["p.txt"]),
    "predict": (["predict", "--model", "m.kith", "--similarity", "s.csv"], "--out", ["m.kith", "s.csv"]),
    "report": (["report", "--store", "run.db"], "--out", ["run.db"]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_no_output_destroys_an_input(kith, name):
    command, flag, inputs = INPUTS[name]
    for file in ("s.csv", "x.csv"):
        kith.write(file, GOOD)
    for file in ("l.txt", "p.txt", "m.kith", "run.db"):
        kith.write(file, "a\nb\n")
    before = {path.name: path.read_bytes() for path in kith.folder.iterdir()}
    for file in inputs:
        soft, hard = "soft-" + file, "hard-" + file
        os.symlink(file, kith.folder / soft)
        os.link(kith.folder / file, kith.folder / hard)
        for output in (file, "./" + file, soft, hard):
            message = kith.refusal(*command, flag, output)
            assert f'{flag} "{output}" is also an input' in message, message
        os.remove(kith.folder / soft)
        os.remove(kith.folder / hard)
    assert before == {path.name: path.read_bytes() for path in kith.folder.iterdir()}


def test_two_outputs_are_two_files(kith):
    kith.write("s.csv", GOOD)
    kith.write("x.csv", GOOD)
    kith.write("l.txt", "a\nb\n")
    message = kith.refusal("train", *RAW, *TRAIN, "--write-similarity", "./new.kith")
    assert "--model and --write-similarity would both write" in message
    message = kith.refusal("evaluate", *MATRIX, "--store", "new", "--partitions", "./new")
    assert "--store and --partitions would both write" in message
    assert sorted(os.listdir(kith.folder)) == ["l.txt", "s.csv", "x.csv"]


def test_an_output_may_be_a_device_that_is_read_as_well(kith):
    kith.write("s.csv", GOOD)
    for _ in range(2):  # the second time over what the first has written
        assert kith("convert", "--similarity", "s.csv", "--out", "t.csv").returncode == 0
    result = kith("convert", "--similarity", "/dev/stdin", "--out", "/dev/null", "--out-format", "csv", input=GOOD)
    assert result.returncode == 0, result.stderr
