# SPDX-License-Identifier: Apache-2.0
"""`kith inspect` on small matrices whose answers are known, and on the shared data sets."""

import math
import random
import re
import shlex

import pytest

IDENTITY = "1,0,0\n0,1,0\n0,0,1\n"


def matrix_csv(rows):
    return "".join(",".join(map(repr, row)) + "\n" for row in rows)


def test_a_known_two_by_two(kith):
    kith.write("s.csv", "1,3\n3,1\n")  # eigenvalues -2 and 4
    found = kith.json("inspect", "--similarity", "s.csv")
    assert found["n"] == 2
    assert found["symmetric"] is True
    assert found["negative_eigenvalues"] == 1
    assert found["negative_eigenfraction"] == pytest.approx(1 / 3, rel=1e-12)
    assert found["lambda_min"] == pytest.approx(-2, rel=1e-12)
    assert found["lambda_max"] == pytest.approx(4, rel=1e-12)
    assert found["loo_1nn_error"] is None
    assert found["classes"] == {}


def test_contract_fields_are_all_there(kith):
    kith.write("s.csv", IDENTITY)
    kith.write("l.txt", "a\nb\na\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    for field in ("n", "classes", "symmetric", "asymmetry", "min", "max", "negative_eigenvalues",
                  "negative_eigenfraction", "lambda_min", "lambda_max", "loo_1nn_error",
                  "triangle_violations", "advice", "timing"):
        assert field in found, field
    assert found["classes"] == {"a": 2, "b": 1}


def test_asymmetry_and_diagonal(kith):
    kith.write("s.csv", "2,1\n0,2\n")
    found = kith.json("inspect", "--similarity", "s.csv")
    assert found["symmetric"] is False
    assert found["asymmetry"] == pytest.approx(math.sqrt(2) / 3)
    assert (found["diagonal_min"], found["diagonal_max"]) == (2, 2)


def test_equally_near_neighbours_count_by_their_share(kith):
    # Sample 1 has two equally near neighbours, one of each class; the others tie as well.
    kith.write("s.csv", "1,0.5,0.5\n0.5,1,0.5\n0.5,0.5,1\n")
    kith.write("l.txt", "a\na\nb\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    assert found["loo_1nn_error"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert found["loo_1nn_tied"] == 3


def test_order_of_the_file_does_not_matter(kith):
    values = [[1, .8, .3, .1], [.8, 1, .8, .2], [.3, .8, 1, .8], [.1, .2, .8, 1]]
    labels = ["x", "x", "y", "y"]
    order = [2, 0, 3, 1]
    kith.write("a.csv", matrix_csv(values))
    kith.write("a.txt", "\n".join(labels) + "\n")
    kith.write("b.csv", matrix_csv([[values[i][j] for j in order] for i in order]))
    kith.write("b.txt", "\n".join(labels[i] for i in order) + "\n")
    one = kith.json("inspect", "--similarity", "a.csv", "--labels", "a.txt")
    two = kith.json("inspect", "--similarity", "b.csv", "--labels", "b.txt")
    for field in ("loo_1nn_error", "triangle_violations", "negative_eigenvalues", "classes"):
        assert one[field] == two[field], field


def test_triangle_violations_of_given_distances(kith):
    kith.write("d.csv", "0,1,5\n1,0,1\n5,1,0\n")
    assert kith.json("inspect", "--distance", "d.csv")["triangle_violations"] == 1
    kith.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n")
    found = kith.json("inspect", "--distance", "d.csv")
    assert found["triangle_violations"] == 0
    assert found["kind"] == "distance"
    # Points 0, 1, 2 on a line: double centring gives their inner products about the mean.
    assert found["lambda_max"] == pytest.approx(2)
    assert found["negative_eigenvalues"] == 0


def test_missing_pairs_are_described_not_guessed(kith):
    kith.write("e.tsv", "a\tb\t2\na\ta\t3\nb\tb\t3\nc\tc\t3\n")
    found = kith.json("inspect", "--similarity", "e.tsv", "--format", "edges")
    assert found["missing"] == 4
    assert found["negative_eigenvalues"] is None
    assert "--missing" in found["no_spectrum_because"]
    found = kith.json("inspect", "--similarity", "e.tsv", "--format", "edges", "--missing", "zero")
    assert found["lambda_min"] == pytest.approx(1)
    assert found["lambda_max"] == pytest.approx(5)


def test_tiny_inputs(kith):
    kith.write("one.csv", "3\n")
    found = kith.json("inspect", "--similarity", "one.csv")
    assert (found["n"], found["lambda_min"], found["lambda_max"]) == (1, 3, 3)
    kith.write("two.csv", "1,0\n0,1\n")
    kith.write("two.txt", "a\nb\n")
    found = kith.json("inspect", "--similarity", "two.csv", "--labels", "two.txt")
    assert found["loo_1nn_error"] == 1
    assert kith("inspect", "--similarity", "two.csv", "--labels", "two.txt").returncode == 0


def test_one_class_only_is_described(kith):
    kith.write("s.csv", IDENTITY)
    kith.write("l.txt", "same\nsame\nsame\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    assert any("one class only" in advice["why"] for advice in found["advice"])


def test_a_class_with_one_member_is_pointed_out(kith):
    kith.write("s.csv", IDENTITY)
    kith.write("l.txt", "a\na\nlonely\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    assert any("lonely" in advice["why"] for advice in found["advice"])


def test_a_negative_distance_that_a_square_would_hide_is_refused(kith):
    kith.write("d.csv", "0,-1\n-1,0\n")
    for rule in ("double-centre", "negative-square"):
        message = kith.refusal("inspect", "--distance", "d.csv", "--from-distance", rule)
        assert "is -1" in message and "must not be negative" in message
    assert kith.json("inspect", "--distance", "d.csv", "--from-distance", "negative")["max"] == 1


def test_matrices_of_one_name_are_refused(kith):
    kith.write("a.csv", "1,0\n0,1\n")
    kith.write("b.csv", "1,0\n0,1\n")
    for first, second in (("x=a.csv", "x=b.csv"), ("a.csv", "a.csv"), ("a.csv", "a=b.csv")):
        message = kith.refusal("inspect", "--similarity", first, "--similarity", second)
        assert "names must differ" in message and "name=FILE" in message


def test_a_name_without_a_file_is_refused(kith):
    assert '"x=" names no file' in kith.refusal("inspect", "--similarity", "x=")


def test_several_matrices(kith):
    kith.write("a.csv", "1,2,0\n2,1,0\n0,0,1\n")
    kith.write("b.csv", "1,4,0\n4,1,0\n0,0,1\n")
    found = kith.json("inspect", "--similarity", "first=a.csv", "--similarity", "b.csv")
    assert [matrix["name"] for matrix in found["matrices"]] == ["first", "b"]
    assert found["agreement"][0][1] == pytest.approx(1)
    text = kith("inspect", "--similarity", "first=a.csv", "--similarity", "b.csv").stdout
    assert "agree" in text


def test_the_page_fits_the_terminal_and_says_what_matters(kith):
    kith.write("s.csv", "1,3\n3,1\n")
    kith.write("l.txt", "cat\ndog\n")
    for language in ("C", "C.UTF-8"):
        result = kith("inspect", "--similarity", "s.csv", "--labels", "l.txt", env={"LC_ALL": language})
        assert result.returncode == 0
        assert "33.33 %" in result.stdout
        assert "1 negative of 2" in result.stdout
        assert "cat" in result.stdout and "dog" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\033[" not in result.stdout


def test_the_same_bytes_for_any_number_of_threads(kith, shared):
    arguments = ("inspect", "--similarity", shared / "scop40-10sf/similarity.csv",
                 "--labels", shared / "scop40-10sf/labels.txt")
    pages = {kith(*arguments, "--threads", threads).stdout for threads in (1, 2, 7)}
    assert len(pages) == 1
    documents = []
    for threads in (1, 2):
        document = kith.json(*arguments, "--threads", threads)
        del document["timing"]
        documents.append(document)
    assert documents[0] == documents[1]


@pytest.mark.parametrize("name, negative, fraction", [
    ("aural-sonar", 38, 0.2066),
    ("protein", 40, 0.2002),
    ("voting", 162, 0.0006),
    ("yeast-sw-5-12", 96, 0.3640),
    ("scop40-10sf", 244, 0.4138),
])
def test_shared_data_sets_are_as_their_provenance_says(kith, shared, name, negative, fraction):
    folder = shared / name
    found = kith.json("inspect", "--similarity", folder / "similarity.csv", "--labels", folder / "labels.txt")
    provenance = (folder / "PROVENANCE.md").read_text()
    stated = re.search(r"Eigenvalues: min (-?[\d.]+), max ([\d.]+); (\d+) of (\d+) negative", provenance)
    assert found["lambda_min"] == pytest.approx(float(stated[1]), rel=1e-7)
    assert found["lambda_max"] == pytest.approx(float(stated[2]), rel=1e-7)
    assert found["negative_eigenvalues"] == int(stated[3]) == negative
    assert found["n"] == int(stated[4])
    assert found["negative_eigenfraction"] == pytest.approx(fraction, abs=5e-5)


def test_distances_of_time_series_are_as_their_provenance_says(kith, shared):
    folder = shared / "ucr-beef"
    found = kith.json("inspect", "--distance", folder / "dtw_distance.csv", "--labels", folder / "labels.txt")
    provenance = (folder / "PROVENANCE.md").read_text()
    stated = re.search(r"Eigenvalues of \(S \+ S\^T\)/2: min (-?[\d.]+), max ([\d.]+); (\d+) of", provenance)
    # The file has 7 significant digits of each distance; the eigenvalues were stated before rounding.
    assert found["lambda_min"] == pytest.approx(float(stated[1]), rel=1e-5)
    assert found["lambda_max"] == pytest.approx(float(stated[2]), rel=1e-5)
    assert found["negative_eigenvalues"] == int(stated[3])


def test_eigenvalues_that_overflow_are_no_silent_nulls(kith):
    kith.write("s.csv", "1.7e308,1.7e308\n1.7e308,1.7e308\n")
    message = kith.refusal("inspect", "--similarity", "s.csv")
    assert "1.7e+308" in message and "divide all by a constant" in message


WORDS = "kitten\nmitten\nbitten\nsitting\nfitting\nhitting\n"
CLASSES = "a\na\na\nb\nb\nb\n"


def test_raw_samples_are_measured_and_inspected_as_the_matrix_would_be(kith):
    kith.write("w.txt", WORDS)
    kith.write("l.txt", CLASSES)
    assert kith("measure", "--data", "w.txt", "--measure", "edit", "--out", "s.csv").returncode == 0
    of_matrix = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    of_data = kith.json("inspect", "--data", "w.txt", "--measure", "edit", "--labels", "l.txt")
    for field in ("n", "classes", "min", "max", "eigenvalues", "loo_1nn_error", "triangle_violations", "advice"):
        assert of_data[field] == of_matrix[field], field
    several = kith.json("inspect", "--data", "w.txt", "--measure", "edit", "--measure", "spectrum:kmer=2")
    assert [one["name"] for one in several["matrices"]] == ["edit", "spectrum"]


def test_a_measure_that_learns_from_labels_needs_them(kith):
    kith.write("c.csv", "x,y\nx,z\nw,y\nw,z\n")
    kith.write("l.txt", "a\na\nb\nb\n")
    arguments = ("inspect", "--data", "c.csv", "--measure", "value-difference")
    assert "--labels" in kith.refusal(*arguments)
    assert kith.json(*arguments, "--labels", "l.txt")["kind"] == "distance"


def test_data_without_a_measure_and_flags_without_data_are_refused(kith):
    kith.write("w.txt", WORDS)
    kith.write("s.csv", IDENTITY)
    assert "--measure" in kith.refusal("inspect", "--data", "w.txt")
    assert "--data" in kith.refusal("inspect", "--similarity", "s.csv", "--measure", "edit")
    assert "exclude" in kith.refusal("inspect", "--similarity", "s.csv", "--data", "w.txt", "--measure", "edit")


def test_the_last_line_is_a_command_that_works(kith):
    kith.write("my words.txt", WORDS)
    kith.write("l.txt", CLASSES)
    arguments = ("inspect", "--data", "my words.txt", "--measure", "spectrum", "--kmer", "2", "--labels", "l.txt")
    command = kith(*arguments).stdout.splitlines()[-1]
    assert command == kith.json(*arguments)["next"]
    assert command == ("kith train --method auto --data 'my words.txt' --measure spectrum --kmer 2 --labels l.txt "
                       "--model model.kith")
    result = kith(*shlex.split(command)[1:], "--among", "knn,svm-clip")
    assert result.returncode == 0, result.stderr
    assert (kith.folder / "model.kith").exists()


def test_the_next_command_has_what_says_how_the_data_are_read_and_nothing_else(kith):
    kith.write("e.tsv", "a\tb\t2\na\ta\t3\nb\tb\t3\nc\tc\t3\nd\td\t3\n")
    found = kith.json("inspect", "--similarity", "e.tsv", "--format", "edges", "--missing", "zero", "--threads", "1", "--quiet")
    assert found["next"] == ("kith train --method auto --similarity e.tsv --format edges --missing zero --labels FILE "
                             "--model model.kith")
    kith.write("d.csv", "0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
    found = kith.json("inspect", "--distance", "x=d.csv", "--distance", "y=d.csv", "--from-distance", "exp")
    assert "--distance x=d.csv --distance y=d.csv --from-distance exp" in found["next"]


def test_the_next_command_has_switches_without_a_value(kith):
    kith.write("s.csv", "2,1,0,0\n1,2,0,0\n0,0,2,1\n0,0,1,2\n")
    kith.write("l.txt", "a\na\nb\nb\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt", "--transpose")["next"]
    assert "--transpose" in found.split() and "true" not in found.split()


def test_one_class_has_no_next_command(kith):
    kith.write("s.csv", IDENTITY)
    kith.write("l.txt", "same\nsame\nsame\n")
    assert "next" not in kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")


def test_neighbours_say_what_orders_them(kith):
    kith.write("d.csv", "0,1,5\n1,0,5\n5,5,0\n")
    kith.write("l.txt", "a\na\nb\n")
    assert kith.json("inspect", "--distance", "d.csv", "--labels", "l.txt")["loo_1nn_by"] == "distances"
    assert "by the distances as given" in kith("inspect", "--distance", "d.csv", "--labels", "l.txt").stdout
    assert kith.json("inspect", "--similarity", "d.csv", "--labels", "l.txt")["loo_1nn_by"] == "similarities"


def test_duplicates_are_named_by_id_and_contradicting_ones_first(kith):
    kith.write("d.csv", ",p,q,r,s\np,0,0,3,3\nq,0,0,3,3\nr,3,3,0,0\ns,3,3,0,0\n")
    kith.write("l.tsv", "p\tx\nq\tx\nr\tx\ns\ty\n")
    arguments = ("inspect", "--distance", "d.csv", "--labels", "l.tsv")
    found = kith.json(*arguments)["duplicates"]
    assert (found["same"], found["near"], found["contradicting"], found["samples"]) == (2, 0, 1, 4)
    assert found["pairs"] == [{"samples": ["r", "s"], "same": True, "classes": ["x", "y"]},
                              {"samples": ["p", "q"], "same": True, "classes": ["x", "x"]}]
    text = " ".join(kith(*arguments).stdout.split())
    assert "r and s (x, y)" in text and "different labels" in text


def test_duplicates_are_named_by_their_place_in_the_file_though_samples_were_dropped(kith):
    # Sample 1 is dropped with its missing pair; 3 and 4 are the same.
    kith.write("s.csv", "1,nan,.1,.1\nnan,1,.5,.5\n.1,.5,1,1\n.1,.5,1,1\n")
    found = kith.json("inspect", "--similarity", "s.csv", "--missing", "drop-sample")["duplicates"]
    assert [pair["samples"] for pair in found["pairs"]] == [["3", "4"]]


@pytest.mark.parametrize("diagonal", [True, False])
def test_a_list_of_distances_has_the_facts_of_the_table(kith, diagonal):
    chance = random.Random(6)
    x = [(chance.gauss(i % 2, 1), chance.gauss(i % 2, 1)) for i in range(20)]
    far = [[math.dist(a, b) for b in x] for a in x]
    ids = [f"p{i}" for i in range(20)]
    kith.write("d.csv", "," + ",".join(ids) + "\n" + "".join(
        one + "," + ",".join(map(repr, row)) + "\n" for one, row in zip(ids, far)))
    kith.write("d.edges", "".join(f"{ids[i]}\t{ids[j]}\t{far[i][j]!r}\n" for i in range(20) for j in range(i + diagonal)))
    kith.write("l.tsv", "".join(f"{one}\t{'ab'[i % 2]}\n" for i, one in enumerate(ids)))
    rules = () if diagonal else ("--missing", "min")
    table, pairs = (kith.json("inspect", "--distance", name, "--labels", "l.tsv", *rules) for name in ("d.csv", "d.edges"))
    assert pairs["loo_1nn_by"] == "distances" and pairs["sparse"] is True
    for fact in ("loo_1nn_by", "loo_1nn_error", "loo_1nn_tied", "triangle_violations", "triangles_checked", "duplicates"):
        assert pairs[fact] == table[fact], fact


def test_shares_have_a_sign_of_percent(kith):
    chance = random.Random(6)
    rows = [[chance.gauss(0, 1) for _ in range(12)] for _ in range(12)]
    kith.write("s.csv", matrix_csv([[rows[i][j] + rows[j][i] for j in range(12)] for i in range(12)]))
    kith.write("l.txt", "a\nb\n" * 6)
    text = kith("inspect", "--similarity", "s.csv", "--labels", "l.txt").stdout
    for words in ("1-NN error", "break the triangle", "absolute spectrum"):
        assert re.search(r"\d %", next(line for line in text.splitlines() if words in line)), text
