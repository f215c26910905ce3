# SPDX-License-Identifier: Apache-2.0
"""The commands that kith prints to be typed next run as they are printed, and do what is right."""

import random
import shlex

import numpy as np
import pytest

from problems import csv

N = 24
IDS = [f"p{i:02}" for i in range(N)]
CLASSES = ["ant" if i % 3 else "bee" for i in range(N)]


def similarities():
    """From 0 to 10, larger within a class; 12 of a sample with itself."""
    noise = np.random.default_rng(4).uniform(0, 3, size=(N, N))
    same = np.equal.outer(CLASSES, CLASSES)
    made = np.where(same, 6, 2) + (noise + noise.T) / 2
    np.fill_diagonal(made, 12)
    return made


S = similarities()
D = 12 - S


def pairs(line):
    """A line for each ordered pair but those least alike, in random order."""
    known = [(i, j) for i in range(N) for j in range(N) if S[i, j] > 3]
    assert len(known) < N * N
    random.Random(2).shuffle(known)
    return "".join(line(i, j) for i, j in known)


def blast():
    return pairs(lambda i, j: f"{IDS[i]}\t{IDS[j]}\t50.0\t100\t50\t0\t1\t100\t1\t100\t{10.0 ** (-5 * S[i, j]):.3g}\t"
                 f"{S[i, j]:.4f}\n")


def phylip():
    return f"{N}\n" + "".join(f"{one}  " + " ".join(f"{x:.5f}" for x in row) + "\n" for one, row in zip(IDS, D))


@pytest.fixture
def data(kith):
    kith.write("plain.txt", "".join(f"{one}\n" for one in CLASSES))
    kith.write("l.tsv", "".join(f"{one}\t{of}\n" for one, of in zip(IDS, CLASSES)))
    kith.write("s.csv", csv(S, IDS, IDS))
    kith.write("d.csv", csv(D))
    kith.write("t.csv", csv(S.T, IDS, IDS))
    kith.write("my scores (1).csv", csv(S, IDS, IDS))
    kith.write("hits.m8", blast())
    kith.write("s.edges", pairs(lambda i, j: f"{IDS[i]} {IDS[j]} {S[i, j]:.4f}\n"))
    kith.write("d.edges", pairs(lambda i, j: f"{IDS[i]} {IDS[j]} {D[i, j]:.4f}\n"))
    kith.write("signed.edges", pairs(lambda i, j: f"{IDS[i]} {IDS[j]} {S[i, j] - 4:.4f}\n"))
    kith.write("d.phy", phylip())
    np.save(kith.folder / "s.npy", S)
    kith.write("words.txt", "".join(("kitten" if one == "ant" else "walrus") + "xyz"[i % 3] * (i % 4 + 1) + "\n"
                                    for i, one in enumerate(CLASSES)))
    return kith


def typed(kith, *arguments):
    """The last line of `kith inspect`, with its words."""
    result = kith("inspect", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout, shlex.split(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("arguments, differs", [
    (("--similarity", "s.csv", "--labels", "l.tsv"), {}),
    (("--distance", "d.csv", "--labels", "plain.txt"), {}),
    (("--similarity", "d.csv", "--labels", "plain.txt"), {"--distance": "d.csv"}),
    (("--distance", "s.csv", "--labels", "l.tsv", "--from-distance", "exp", "--gamma", "1"), {"--similarity": "s.csv"}),
    (("--similarity", "hits.m8", "--labels", "l.tsv"), {"--missing": "zero"}),
    (("--similarity", "hits.m8", "--labels", "l.tsv", "--missing", "min"), {}),
    (("--similarity", "hits.m8", "--labels", "l.tsv", "--missing", "error"), {"--missing": "zero"}),
    (("--distance", "hits.m8", "--labels", "l.tsv"), {"--similarity": "hits.m8", "--missing": "zero"}),
    (("--distance", "hits.m8", "--score-column", "evalue", "--labels", "l.tsv"), {"--missing": "min"}),
    (("--similarity", "s.edges", "--labels", "l.tsv"), {"--missing": "zero"}),
    (("--similarity", "signed.edges", "--labels", "l.tsv"), {"--missing": "min"}),
    (("--distance", "d.edges", "--labels", "l.tsv"), {"--missing": "min"}),
    (("--distance", "d.phy", "--labels", "l.tsv"), {}),
    (("--similarity", "s.npy", "--labels", "plain.txt"), {}),
    (("--data", "words.txt", "--measure", "edit", "--labels", "plain.txt"), {}),
    (("--similarity", "t.csv", "--transpose", "--labels", "l.tsv"), {}),
    (("--similarity", "my scores (1).csv", "--labels", "l.tsv"), {}),
    (("--similarity", "a=s.csv", "--similarity", "b=t.csv", "--labels", "l.tsv"), {}),
    (("--similarity", "s.npy", "--similarity", "d.csv", "--labels", "plain.txt"), {"--distance": "d.csv"}),
])
def test_the_last_line_of_inspect_runs_as_it_is_printed(data, arguments, differs):
    text, words = typed(data, *arguments)
    assert words[:4] == ["kith", "train", "--method", "auto"] and words[-2:] == ["--model", "model.kith"]
    for flag, value in differs.items():
        assert words[words.index(flag) + 1] == value
        assert words.count(flag) == 1
    assert ("--missing" in words) == ("--missing" in (*arguments, *differs))
    assert not {"--from-distance", "--gamma"} & set(words) or "--distance" in words
    result = data(*words[1:], "--among", "knn,ridge")
    assert result.returncode == 0, result.stderr
    assert "look like" not in result.stderr and "E-values" not in result.stderr
    assert (data.folder / "model.kith").exists()
    section = " ".join(text[text.index("What to type next"):].split())
    for flag in differs:  # it says why
        assert section.count(flag) > 1


def test_e_values_are_read_as_scores(data):
    _, words = typed(data, "--similarity", "hits.m8", "--score-column", "evalue", "--labels", "l.tsv")
    assert "--score-column" not in words and words[words.index("--missing") + 1] == "zero"
    assert data(*words[1:], "--among", "knn,ridge").returncode == 0


def test_without_labels_a_word_stands_for_the_file(data):
    _, words = typed(data, "--similarity", "hits.m8")
    words[words.index("FILE")] = "l.tsv"
    assert data(*words[1:], "--among", "knn,ridge").returncode == 0


def test_json_has_the_command_and_the_reasons(data):
    found = data.json("inspect", "--similarity", "hits.m8", "--labels", "l.tsv")
    assert "--missing zero" in found["next"] and len(found["next_because"]) == 1
    assert "no value" in found["next_because"][0]
    assert "next_because" not in data.json("inspect", "--similarity", "s.csv", "--labels", "l.tsv")


def use_it(kith, path="m.kith"):
    return shlex.split(kith("info", path).stdout.split("use it")[1])


def test_the_command_of_info_runs_where_self_similarities_are_needed(data):
    grown = S + np.diag(np.arange(N))  # self-similarities differ
    data.write("g.csv", csv(grown, IDS, IDS))
    data.write("q.csv", csv(S[:5], [f"q{i}" for i in range(5)], IDS))
    data.write("self.txt", "12\n" * 5)
    train = ("train", "--similarity", "g.csv", "--labels", "l.tsv", "--method", "knn", "--model", "m.kith")
    for flags, needed in ((("--scale", "cosine"), True), ((), False)):
        assert data(*train, *flags).returncode == 0
        words = use_it(data)
        assert ("--self" in words) == needed
        words[words.index("FILE")] = "q.csv"
        if needed:
            assert data(*words[1:-2]).returncode == 1  # not without them
            words[words.index("FILE")] = "self.txt"
        result = data(*words[1:])
        assert result.returncode == 0, result.stderr
        assert len(result.stdout.splitlines()) == 6


def test_the_command_of_info_names_each_matrix_that_needs_them(data):
    data.write("g.csv", csv(S + np.diag(np.arange(N)), IDS, IDS))
    data.write("q.csv", csv(S[:5], [f"q{i}" for i in range(5)], IDS))
    data.write("self.txt", "12\n" * 5)
    assert data("train", "--similarity", "one=g.csv", "--similarity", "two=g.csv", "--labels", "l.tsv", "--method",
                "average-svm", "--scale", "cosine", "--model", "m.kith").returncode == 0
    words = use_it(data)
    assert words.count("--self") == 2
    after = words.index("--self")
    filled = [one.replace("FILE", "q.csv" if i < after else "self.txt") for i, one in enumerate(words)]
    result = data(*filled[1:])
    assert result.returncode == 0, result.stderr


def test_the_command_of_info_needs_none_where_samples_are_measured(data):
    assert data("train", "--data", "words.txt", "--measure", "spectrum:kmer=2", "--scale", "cosine", "--labels",
                "plain.txt", "--method", "knn", "--model", "m.kith").returncode == 0
    words = use_it(data)
    assert "--self" not in words and "(--self)" not in data("info", "m.kith").stdout
    words[words.index("FILE")] = "words.txt"
    assert data(*words[1:]).returncode == 0


@pytest.mark.parametrize("labels", ["x\n" * 5 + "y\n", "x\ny\n"])
def test_no_command_is_printed_where_auto_cannot_compare_and_it_is_said_why(kith, labels):
    n = labels.count("\n")
    kith.write("s.csv", csv(np.eye(n) + 1))
    kith.write("l.txt", labels)
    found = kith.json("inspect", "--similarity", "s.csv", "--labels", "l.txt")
    assert not found.get("next")
    assert any("cross-validation" in one["why"] and "has 1 sample" in one["why"] for one in found["advice"])
    assert all(one["what"] != "--method auto" for one in found["advice"])


def test_three_samples_are_too_few_for_any_labels(kith):
    for n, there in ((1, False), (3, False), (4, True)):
        kith.write("s.csv", csv(np.eye(n) + 1))
        assert bool(kith.json("inspect", "--similarity", "s.csv").get("next")) == there
