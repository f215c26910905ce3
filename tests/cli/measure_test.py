# SPDX-License-Identifier: Apache-2.0
"""`kith measure`: similarities and distances from raw data."""

import csv
import gzip
import math
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
    assert found["settings"]["measure"] == "edit-distance"


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
    (["--measure", "hamming", "--out", "s.csv"], "one of edit, edit-distance, compression-distance"),
    (["--out", "s.csv"], "--measure"),
    (["--measure", "edit"], "--out"),
    (["--measure", "edit", "--out", "s.what"], "s.what"),
    (["--measure", "edit", "--out", "s.mat"], "can be read but not written"),
    (["--measure", "edit", "--out", "s.csv", "--out-format", "mat"], "can be read but not written"),
    (["--measure", "edit", "--out", "s.csv", "--out-format", "foo"],
     "one of csv, tsv, npy, matrix-market, libsvm, edges\n"),
    (["--measure", "spectrum:kmer", "--out", "s.csv"], "MEASURE:key=value"),
    (["--measure", "edit:kmer=2", "--out", "s.csv"], '"kmer" is no setting of edit'),
    (["--measure", "hamming:kmer=2", "--out", "s.csv"], "one of edit, edit-distance, compression-distance"),
    (["--measure", "near=edit", "--out", "s.csv"], "the only one"),
])
def test_bad_usage_is_refused(kith, flags, word):
    kith.write("x.txt", "one\ntwo\n")
    assert word in kith.refusal("measure", "--data", "x.txt", *flags)
    assert os.listdir(kith.folder) == ["x.txt"]


def test_a_measure_takes_its_settings_as_in_train(kith):
    kith.write("x.fasta", ">p\nWAAC\n>q\nWCCA\n")
    for out, flags in (("short.csv", ["sw:matrix=blosum45,score=normalised"]),
                       ("long.csv", ["sw", "--matrix", "blosum45", "--score", "normalised"]),
                       ("both.csv", ["sw:matrix=blosum45", "--matrix", "blosum80", "--score", "normalised"])):
        measure(kith, "--data", "x.fasta", "--out", out, "--measure", *flags)
    short = (kith.folder / "short.csv").read_bytes()
    assert short == (kith.folder / "long.csv").read_bytes()
    assert short == (kith.folder / "both.csv").read_bytes()
    measure(kith, "--data", "x.fasta", "--out", "other.csv", "--measure", "sw:score=normalised")
    assert short != (kith.folder / "other.csv").read_bytes()


def test_a_note_tells_dna_scored_as_protein(kith):
    kith.write("dna.fasta", ">p\nACGTACGTACGTNA\n>q\nGGTTACGTAACCA\n")
    arguments = ["measure", "--data", "dna.fasta", "--out", "s.csv", "--measure", "sw"]
    note = kith(*arguments).stderr
    assert "dna.fasta" in note and "DNA" in note and "dnafull" in note
    assert "DNA" not in kith(*arguments, "--matrix", "dnafull", "--gap-open", "5", "--gap-extend", "2").stderr
    kith.write("dna.fasta", ">p\nACGTACGTACGTNA\n>q\nGGTTACWTAACCA\n")
    assert "DNA" not in kith(*arguments).stderr


def test_help_explains_every_measure(kith):
    text = kith("measure", "--help").stdout
    for word in ("--data", "--against", "edit  ", "edit-distance  ", "gaussian  ", "--perturb", "Examples:",
                 "Measures of categories:", "dtw  ", "smith-waterman  ", "[alpha, beta, theta]"):
        assert word in text


@pytest.mark.parametrize("content, flags, words", [
    (">p\nACB\n>q\nAU\n", ["smith-waterman"], ["x.fasta", 'residue 2 of "q" is "U"', "blosum62"]),
    (">p\nACB\n", ["smith-waterman", "--matrix", "blosum61"], ['"blosum61"', "blosum62"]),
    (">p\nACB\n", ["smith-waterman", "--matrix", "pam120"], ["pam120", "gap-open"]),
    (">p\nACB\n", ["smith-waterman", "--lambda", "0.3"], ["p-value"]),
    (">p\nACB\n", ["needleman-wunsch", "--score", "p-value"], ["local"]),
    (">p\nACB\n", ["needleman-wunsch", "--karlin-k", "0.3", "--score", "p-value"], ["karlin-k", "smith-waterman"]),
    ("a,1\n", ["dtw", "--gamma", "2"], ["gamma", "gaussian, laplacian, polynomial, sigmoid", "not of dtw"]),
    ("a,1\n", ["dtw", "--band", "-1"], ["--band", "at least 0"]),
    ("a,1,x\n", ["dtw"], ["x.fasta:1:5: ", '"x"']),
    ("1,2\n0,0\n", ["cosine"], ["x.fasta", "sample 2", "zeros"]),
    ("0 1:1 999999999999:0.5\n", ["linear"], ["x.fasta:1:7: ", '"999999999999:0.5"', "too large", "2147483647"]),
    ("1e300,1e300\n", ["linear"], ["x.fasta", "1e+300", "divide all by a constant"]),
    ("a,b\n", ["value-difference"], ["--labels"]),
    ("a b\n", ["jaccard", "--labels", "l.txt"], ["--labels", "jaccard"]),
    ("a b\n", ["compression-distance", "--level", "23"], ["--level", "between 1 and 22"]),
    ("abc\n", ["edit", "--kmer", "2"], ["kmer", "spectrum"]),
])
def test_what_does_not_fit_a_measure_is_refused_by_name(kith, content, flags, words):
    name = "x.fasta"
    if flags[0] in ("jaccard", "edit", "compression-distance"):
        name = "x.txt"
    kith.write(name, content)
    kith.write("l.txt", "1\n")
    message = kith.refusal("measure", "--data", name, "--out", "s.csv", "--measure", *flags)
    for word in words:
        assert word in message, message
    assert "s.csv" not in os.listdir(kith.folder)


def test_value_differences_follow_the_labels_of_the_columns(kith):
    kith.write("old.csv", "id,v\np,y\nq,n\n")
    kith.write("new.csv", "id,v\nr,y\n")
    kith.write("l.tsv", "q\tB\np\tA\n")
    measure(kith, "--data", "new.csv", "--against", "old.csv", "--labels", "l.tsv", "--measure",
            "value-difference", "--out", "d.csv")
    assert table(kith.folder / "d.csv") == {("r", "p"): 0, ("r", "q"): 2}


def test_json_has_the_numbers_that_were_left_open(kith):
    kith.write("p.fasta", ">p\nACDW\n>q\nACD\n")
    flags = ["measure", "--data", "p.fasta", "--measure", "sw", "--out", "s.csv"]
    assert kith.json(*flags)["settings"] == {"measure": "smith-waterman", "matrix": "blosum62", "gap-open": 11,
                                             "gap-extend": 1, "score": "raw"}
    found = kith.json(*flags, "--score", "p-value")["settings"]
    assert (found["lambda"], found["karlin-k"]) == (0.267, 0.041)
    kith.write("v.csv", "1,2,3,4\n5,6,7,8\n")
    assert kith.json("measure", "--data", "v.csv", "--measure", "gaussian", "--out", "s.csv")["settings"]["gamma"] == 0.25


def test_json_lists_the_settings_of_the_measure_alone(kith):
    kith.write("x.csv", "1,2\n2,3,4\n")
    found = kith.json("measure", "--data", "x.csv", "--measure", "dtw", "--band", 4, "--out", "d.csv")
    assert found["settings"] == {"measure": "dtw", "band": 4}


VECTORS = [[0, 1, 2.5], [1, 1, 0], [0, 0, -3], [4, 0, 0]]


def gaussian(kith, content, name="x.csv", *flags):
    kith.write(name, content)
    measure(kith, "--data", name, "--measure", "gaussian", "--out", "k.csv", *flags)
    return [[float(v) for v in line.split(",")] for line in (kith.folder / "k.csv").read_text().splitlines()]


def csv_of(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def kernel(x, z, gamma):
    return math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z)))


@pytest.mark.parametrize("flags, gamma", [([], 1 / 3), (["--gamma", "0.1"], 0.1)])
def test_gaussian_of_a_table(kith, flags, gamma):
    found = gaussian(kith, csv_of(VECTORS), "x.csv", *flags)
    for i, x in enumerate(VECTORS):
        for j, z in enumerate(VECTORS):
            assert found[i][j] == pytest.approx(kernel(x, z, gamma), rel=1e-14)
            assert found[i][j] == found[j][i]


def test_words_given_for_vectors_are_told_of_measures_for_them(kith):
    message = kith.refusal("measure", "--data", WORDS, "--measure", "euclidean", "--out", "d.csv")
    assert "is not a number" in message and "strings have measures of their own (edit, " in message
    kith.write("x.csv", "id,x,colour\na,1,red\nb,2,blue\n")
    message = kith.refusal("measure", "--data", "x.csv", "--measure", "linear", "--out", "d.csv")
    assert 'column "colour"' in message and '"red"' in message and "value-difference" in message
    kith.write("x.fasta", ">a\nACDE\n")
    message = kith.refusal("measure", "--data", "x.fasta", "--measure", "linear", "--out", "d.csv")
    assert "x.fasta:1: " in message and "smith-waterman" in message


def test_gaussian_is_the_same_from_every_format(kith):
    expected = gaussian(kith, csv_of(VECTORS))
    text = "".join("+1 " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row) if v) + "\n" for row in VECTORS)
    assert gaussian(kith, text, "x.txt") == expected
    numpy = pytest.importorskip("numpy")
    numpy.save(kith.folder / "x.npy", numpy.array(VECTORS, dtype=float))
    measure(kith, "--data", "x.npy", "--measure", "gaussian", "--out", "k.npy")
    assert numpy.load(kith.folder / "k.npy").tolist() == expected


def test_gaussian_keeps_ids_and_measures_new_samples(kith):
    kith.write("old.csv", "id,f,g\na,0,0\nb,1,0\n")
    kith.write("new.csv", "id,f,g\nq,0,1\n")
    measure(kith, "--data", "new.csv", "--against", "old.csv", "--measure", "gaussian", "--gamma", "1",
            "--out", "k.csv")
    found = table(kith.folder / "k.csv")
    assert found["q", "a"] == pytest.approx(math.exp(-1))
    assert found["q", "b"] == pytest.approx(math.exp(-2))


def test_noise_is_symmetric_and_follows_the_seed(kith):
    rows = csv_of([[i % 7, i % 5] for i in range(40)])
    plain = gaussian(kith, rows)
    noisy = gaussian(kith, rows, "x.csv", "--perturb", "cy", "--xi", "0.5")
    assert noisy == gaussian(kith, rows, "x.csv", "--perturb", "cy", "--xi", "0.5", "--threads", "2")
    assert noisy != gaussian(kith, rows, "x.csv", "--perturb", "cy", "--xi", "0.5", "--seed", "2")
    noise = [[(noisy[i][j] - plain[i][j]) / 0.5 for j in range(40)] for i in range(40)]
    assert all(noisy[i][j] == noisy[j][i] for i in range(40) for j in range(40))
    off = [noise[i][j] for i in range(40) for j in range(i)]
    diagonal = [noise[i][i] for i in range(40)]
    assert abs(sum(off) / len(off)) < 0.1
    assert sum(v * v for v in off) / len(off) == pytest.approx(0.5, rel=0.2)  # of (E + E') / 2
    assert sum(v * v for v in diagonal) / 40 == pytest.approx(1, rel=0.6)


@pytest.mark.parametrize("content, words", [
    ("1,2\n3,\n", ["x.csv:2: ", "sample 2", "column 2"]),
    ("1 1:2 1:3\n", ["x.csv:1:7: ", '"1:3"', "ascend"]),
    ("1 1:2\n2 3\n", ["x.csv:2:3: ", '"3"', "index:value"]),
    ("a,b\nc,d\n", ["x.csv"]),
], ids=["missing", "repeated index", "no colon", "text"])
def test_bad_vectors_are_refused_by_name(kith, content, words):
    kith.write("x.csv", content)
    message = kith.refusal("measure", "--data", "x.csv", "--measure", "gaussian", "--out", "k.csv")
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("flags, word", [
    (["--measure", "edit", "--gamma", "1"], "gaussian"),
    (["--measure", "edit", "--perturb", "cy"], "xi"),
    (["--measure", "edit", "--xi", "1"], "perturb"),
    (["--measure", "edit-distance", "--perturb", "cy", "--xi", "1"], "distance"),
    (["--measure", "edit", "--perturb", "cy", "--xi", "1", "--against", "x.txt"], "all pairs"),
    (["--measure", "gaussian", "--gamma", "0"], "above 0"),
])
def test_settings_that_do_not_fit_are_refused(kith, flags, word):
    kith.write("x.txt", "one\ntwo\n")
    assert word in kith.refusal("measure", "--data", "x.txt", "--out", "s.csv", *flags)


def test_widths_must_agree_unless_zeros_are_left_out(kith):
    kith.write("two.csv", "1,2\n3,4\n")
    kith.write("three.csv", "1,2,3\n")
    message = kith.refusal("measure", "--data", "three.csv", "--against", "two.csv", "--measure", "gaussian",
                           "--out", "k.csv")
    assert "3 features" in message and "two.csv has 2" in message
    kith.write("two.txt", "1 1:1 2:2\n1 1:3 2:4\n")
    kith.write("one.txt", "1 1:1\n")
    for training in ("two.txt", "two.csv"):
        measure(kith, "--data", "one.txt", "--against", training, "--measure", "gaussian", "--gamma", "1",
                "--out", "k.csv")
        assert (kith.folder / "k.csv").read_text().startswith(repr(math.exp(-4))[:12])
    kith.write("five.txt", "1 1:1 5:1\n")
    message = kith.refusal("measure", "--data", "five.txt", "--against", "two.csv", "--measure", "gaussian",
                           "--out", "k.csv")
    assert "5 features" in message and "LIBSVM" in message


@pytest.mark.parametrize("rows, kernel", [
    (["1 1:1 2:2", "1 1:3 2:4"], [5, 11]),
    (["1 1:1 2:2", "1 1:3 2000000000:4"], [5, 3]),
])
def test_a_feature_may_be_far_out(kith, rows, kernel):
    kith.write("train.libsvm", "\n".join(rows) + "\n")
    kith.write("new.libsvm", "0 1:1 2:2 2147483647:7\n")
    measure(kith, "--data", "new.libsvm", "--against", "train.libsvm", "--measure", "linear", "--out", "k.csv")
    assert (kith.folder / "k.csv").read_text() == ",".join(map(str, kernel)) + "\n"


def test_a_libsvm_file_of_labels_alone_holds_zeros(kith):
    kith.write("two.csv", "3,4\n0,1\n")
    kith.write("zeros.libsvm", "1\n2\n")
    measure(kith, "--data", "zeros.libsvm", "--against", "two.csv", "--measure", "euclidean", "--out", "k.csv")
    assert (kith.folder / "k.csv").read_text() == "5,1\n5,1\n"
    measure(kith, "--data", "zeros.libsvm", "--measure", "linear", "--out", "k.csv")
    assert (kith.folder / "k.csv").read_text() == "0,0\n0,0\n"


@pytest.mark.parametrize("measure, name, content, word", [
    ("jaccard", "x.libsvm", "1 1:0.5 2:1\n-1 2:1\n", "LIBSVM"),
    ("edit", "x.txt", "1 1:0.5 2:1\n-1 2:1\n", "LIBSVM"),
    ("tversky-ratio", "x.fasta", ">a\nACD\n>b\nAD\n", "FASTA"),
    ("value-difference", "x.fasta", ">a\nACD\n>b\nAD\n", "FASTA"),
])
def test_vectors_and_sequences_are_no_words(kith, measure, name, content, word):
    kith.write(name, content)
    kith.write("l.txt", "1\n2\n")
    message = kith.refusal("train", "--data", name, "--measure", measure, "--labels", "l.txt", "--model", "m.kith")
    assert f"{name}:1: " in message and word in message and "id" in message
