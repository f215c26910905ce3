# SPDX-License-Identifier: Apache-2.0
"""tools/advice_study.py: what it counts, and a run on a small data set of its own."""

import importlib
import random
import sys

import pytest

from conftest import PROGRAM, SOURCE


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(SOURCE / "tools")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.import_module("advice_study")


def case(study, name, data, errors, **properties):
    return study.Case(name, data, {"negative": 0.0, "1-NN": 10.0, "guess": 50.0, "asymmetry": 0.0, **properties}, errors,
                      study.ranks(errors))


def test_ranks_are_shared_by_equals(study):
    assert study.ranks({"a": 3.0, "b": 1.0, "c": 3.0, "d": 9.0}) == {"a": 2.5, "b": 1.0, "c": 2.5, "d": 4.0}


def test_matrices_of_the_same_data_count_once_together(study):
    cases = [case(study, "one", "x", {"svm-clip": 1.0, "svm-none": 2.0}), case(study, "two", "x", {"svm-clip": 2.0, "svm-none": 1.0}),
             case(study, "three", "y", {"svm-clip": 1.0, "svm-none": 1.0})]
    found = study.by_data(cases, ("svm-clip",), ("svm-none",))
    assert found == [(0.5, 0.0), (0.5, 0.0)]  # a win and a loss; a tie


def test_a_rule_compares_where_it_holds_with_where_it_does_not(study, monkeypatch):
    monkeypatch.setattr(study, "RULES", [(study.STRONG, ("svm-flip",), ("svm-clip",))])
    cases = [case(study, "one", "x", {"svm-clip": 2.0, "svm-flip": 1.0}, negative=20.0),
             case(study, "two", "y", {"svm-clip": 1.0, "svm-flip": 2.0}, negative=1.0)]
    assert list(study.rule_rows(cases)) == [["negative part from 10 %", "svm-flip", "svm-clip", "1", "100 %", "+1.0", "1", "0 %", "-1.0"]]


def test_a_run_can_be_continued_and_printed_again(study, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "shared/data/points"
    folder.mkdir(parents=True)
    draw = random.Random(3)
    rows = [[draw.gauss(3 * (i % 2), 1), draw.gauss(0, 1)] for i in range(40)]
    (folder / "features.csv").write_text("".join(f"{a!r},{b!r}\n" for a, b in rows))
    (folder / "labels.txt").write_text("".join("ab"[i % 2] + "\n" for i in range(40)))
    monkeypatch.setattr(study, "SOURCES", study.vectors("points", "points"))
    monkeypatch.setattr(study, "METHODS", ("knn", "svm-none", "svm-clip"))
    flags = ["--program", PROGRAM, "--shared", str(tmp_path / "shared"), "--work", str(tmp_path / "work")]
    assert study.main(flags) == 0
    page = capsys.readouterr().out
    assert "3 matrices of 1 data sets" in page and "points, manhattan, centred" in page
    assert study.main([*flags, "--finished"]) == 0
    assert capsys.readouterr().out == page
