# SPDX-License-Identifier: Apache-2.0
"""`kith report` makes the table of a store in every format, and refuses what it cannot show by name."""

import csv
import io
import json
import re
import sqlite3

import pytest

from conftest import Kith
from problems import Problem
from problems import csv as matrix_csv

def evaluate(kith, data, classes=2, seed=1, methods="knn,nearest-mean,svm-clip", extra=()):
    problem = Problem(n=36, classes=classes, seed=seed)
    kith.write("s.csv", matrix_csv(problem.S))
    kith.write("l.txt", "".join(f"{label}\n" for label in problem.labels))
    result = kith("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", methods,
                  "--grid", "svm-clip:cost=1,10", "--grid", "knn:neighbours=1,3", "--folds", 2,
                  "--name", data, "--store", "run.db", *(extra if "--repeats" in extra else ["--repeats", 5, *extra]))
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    kith = Kith(tmp_path_factory.mktemp("one"))
    evaluate(kith, "points")
    return kith


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two classes and three; the second data set has a name that no format leaves alone."""
    kith = Kith(tmp_path_factory.mktemp("two"))
    evaluate(kith, "points")
    evaluate(kith, "a,b|c_$", classes=3, seed=2, extra=["--append"])
    return kith


def report(kith, *arguments):
    result = kith("report", "--store", "run.db", *arguments)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_json_has_the_fields_of_the_contract(one):
    document = one.json("report", "--store", "run.db")
    assert json.loads(report(one, "--format", "json")) == document
    assert [method["method"] for method in document["methods"]] == ["knn", "nearest-mean", "svm-clip"]
    for method in document["methods"]:
        assert len(method["errors"]) == len(method["chosen"]) == 5
        assert method["mean_error"] == pytest.approx(sum(method["errors"]) / 5)
        assert 0 <= method["mean_error"] <= 1
        assert set(method) >= {"sd_error", "p_value", "best"}
    assert min(document["methods"], key=lambda m: m["mean_error"])["best"]
    assert {point["cost"] for point in document["methods"][2]["chosen"]} <= {1, 10}


def test_every_format_shows_the_same_numbers(one):
    methods = one.json("report", "--store", "run.db")["methods"]
    long = {record["method"]: record for record in records(report(one, "--format", "csv"))}
    tables = [report(one, "--format", name) for name in ("text", "markdown", "latex")]
    for method in methods:
        cell = f"{100 * method['mean_error']:.2f} ({100 * method['sd_error']:.2f})"
        assert float(long[method["method"]]["mean"]) == pytest.approx(100 * method["mean_error"])
        assert (long[method["method"]]["best"] == "yes") == method["best"]
        for table, mark in zip(tables, ("{}*", "**{}**", "\\textbf{{{}}}")):
            line = next(line for line in table.splitlines() if method["method"] in line)
            assert cell in line
            assert (mark.format(cell) in line) == method["best"]


def test_times_are_told_on_request_only(one):
    for name in ("text", "csv", "markdown", "latex"):
        assert "seconds" not in report(one, "--format", name)
        assert "seconds" in report(one, "--format", name, "--timings")
    document = one.json("report", "--store", "run.db")
    assert document.pop("timing")["seconds"] > 0
    assert "seconds" not in json.dumps(document)


def test_metrics(one):
    document = one.json("report", "--store", "run.db")
    for name, words in (("balanced-error", "balanced error (%)"), ("f-score", "macro F-score (%)"),
                        ("f1", "F1 of b (%)"), ("auc", "AUC (%)")):
        assert words in report(one, "--metric", name)
        shown = {record["method"]: record for record in
                 records(report(one, "--metric", name, "--format", "csv"))}
        for method in document["methods"]:
            mean = method["metrics"][name]["mean"]
            assert float(shown[method["method"]]["mean"]) == pytest.approx(100 * mean)
    assert "F1 of a (%)" in report(one, "--metric", "f1", "--positive", "a")


def test_several_data_sets_stand_side_by_side(two):
    text = report(two)
    header = next(line for line in text.splitlines() if line.strip().startswith("method"))
    assert re.search(r"points\s+a,b\|c_\$\s+average rank", header)
    assert "from 5 data sets on" in text and "critical difference" not in text
    document = two.json("report", "--store", "run.db")
    assert [data["name"] for data in document["data_sets"]] == ["points", "a,b|c_$"]
    ranks = [method["rank"] for method in document["ranks"]["methods"]]
    assert sum(ranks) == pytest.approx(1 + 2 + 3)
    assert {record["data_set"] for record in records(report(two, "--format", "csv"))} == {
        "points", "a,b|c_$"}
    assert "a,b\\textbar{}c\\_\\$" in report(two, "--format", "latex")
    assert "a,b\\|c\\_\\$" in report(two, "--format", "markdown")


def test_one_data_set_of_several(two):
    document = two.json("report", "--store", "run.db", "--data", "a,b|c_$")
    assert document["name"] == "a,b|c_$"
    assert document["classes"] == {"a": 12, "b": 12, "c": 12}
    both = two.json("report", "--store", "run.db", "--data", "a,b|c_$", "--data", "points")
    assert [data["name"] for data in both["data_sets"]] == ["a,b|c_$", "points"]


def test_a_metric_that_does_not_exist_is_a_dash_with_a_reason(two):
    result = two("report", "--store", "run.db", "--data", "a,b|c_$", "--metric", "f1")
    assert result.returncode == 0
    assert "two classes" in result.stderr
    assert re.search(r"knn +- ", result.stdout)


def test_out_names_the_format_by_its_ending(one):
    for name, form in (("t.csv", "csv"), ("t.md", "markdown"), ("t.tex", "latex"), ("t.json", "json"),
                       ("t.txt", "text")):
        assert report(one, "--out", name) == ""
        assert (one.folder / name).read_text(encoding="utf-8") == report(one, "--format", form)


def test_what_cannot_be_done_is_refused_by_name(one):
    def refused(*arguments):
        return one.refusal("report", *arguments)

    assert "--store is required" in refused()
    assert "none.db" in refused("--store", "none.db")
    one.write("text.db", "hello")
    assert "text.db" in refused("--store", "text.db")
    assert "points" in refused("--store", "run.db", "--data", "point")
    assert '"b"' in refused("--store", "run.db", "--metric", "f1", "--positive", "c")
    assert "balanced-error" in refused("--store", "run.db", "--metric", "accuracy")
    assert "markdown" in refused("--store", "run.db", "--format", "pdf")
    assert "contradict" in refused("--store", "run.db", "--format", "csv", "--json")
    assert "no/such" in refused("--store", "run.db", "--out", "no/such/folder.csv")


def test_the_store_is_never_written_over(one):
    before = (one.folder / "run.db").read_bytes()
    assert "also an input" in one.refusal("report", "--store", "run.db", "--out", "./run.db")
    assert (one.folder / "run.db").read_bytes() == before


def test_names_of_methods_are_escaped(tmp_path):
    kith = Kith(tmp_path)
    evaluate(kith, "points", methods="knn,svm-clip,x|y=nearest-mean")
    assert "x\\|y" in report(kith, "--format", "markdown")
    assert "x\\textbar{}y" in report(kith, "--format", "latex")
    assert "x|y" in {record["method"] for record in records(report(kith, "--format", "csv"))}


def test_an_unfinished_store_is_shown_as_such(tmp_path):
    kith = Kith(tmp_path)
    evaluate(kith, "points")
    with sqlite3.connect(tmp_path / "run.db") as store:
        store.execute("DELETE FROM test_results WHERE candidate = 1 AND partition >= 2")
        store.execute("DELETE FROM test_results WHERE candidate = 2")
    store.close()
    text = report(kith)
    assert re.search(r"knn .*\[2 of 5\]", text)
    assert re.search(r"nearest-mean +\[0 of 5\]", text)
    assert "Rerun the same evaluation" in text
    knn, mean, svm = kith.json("report", "--store", "run.db")["methods"]
    assert (knn["finished"], knn["best"]) == ([1, 2], False)
    assert (mean["mean_error"], mean["best"]) == (None, False)
    assert (svm["leads"], svm["best"]) == (True, False)  # nobody to compare with
    assert "have finished too few partitions" in " ".join(text.split())
    evaluate(kith, "points")
    assert not re.search(r"\[\d+ of", report(kith))


def test_the_test_of_significance_can_be_chosen(one):
    document = one.json("report", "--store", "run.db")
    assert document["test"]["name"] == "corrected-t" and document["test"]["sides"] == 2
    assert "corrected resampled t-test" in report(one)
    by_ranks = one.json("report", "--store", "run.db", "--test", "wilcoxon")
    assert by_ranks["test"]["name"] == "wilcoxon" and by_ranks["test"]["sides"] == 1
    assert "far more often" in " ".join(report(one, "--test", "wilcoxon").split())
    for a, b in zip(document["methods"], by_ranks["methods"]):
        assert (a["errors"], a["difference"]) == (b["errors"], b["difference"])
    plain = report(one, "--test", "none")
    assert "*" not in plain and "to the best" in plain and "No test was asked for" in plain
    result = one("report", "--store", "run.db", "--test", "mcnemar")
    assert result.returncode == 1 and "has 5; corrected-t takes several" in result.stderr
    result = one("report", "--store", "run.db", "--test", "t")
    assert result.returncode == 1 and "auto, corrected-t, mcnemar, wilcoxon, none" in result.stderr


def test_tables_have_differences_and_their_intervals(one):
    text, latex, markdown = (report(one, "--format", name) for name in ("text", "latex", "markdown"))
    long = {record["method"]: record for record in records(report(one, "--format", "csv"))}
    for method in one.json("report", "--store", "run.db")["methods"]:
        record = long[method["method"]]
        if method["leads"]:
            assert record["difference"] == record["low"] == record["p_value"] == ""
            continue
        values = [100 * method["difference"][key] for key in ("mean", "low", "high")]
        assert [float(record[key]) for key in ("difference", "low", "high")] == pytest.approx(values)
        assert float(record["p_adjusted"]) == pytest.approx(method["p_adjusted"])
        mean, low, high = (f"{value:.2f}" for value in values)
        sign = "" if mean.startswith("-") else "+"
        assert f"{sign}{mean} [{low}, {high}]" in text
        assert f"{sign}{mean} {{[}}{low}, {high}]" in latex
        assert f"{sign}{mean} \\[{low}, {high}\\]" in markdown


@pytest.mark.parametrize("repeats, words", [
    (1, "one partition allows a test of the error alone"), (2, "needs at least 3 partitions, and there are 2")])
def test_nothing_is_marked_where_nothing_could_be_significant(tmp_path, repeats, words):
    kith = Kith(tmp_path)
    evaluate(kith, "points", extra=["--repeats", repeats])
    text = report(kith, "--metric", "auc")
    assert "*" not in text and words in " ".join(text.split())
    document = kith.json("report", "--store", "run.db", "--metric", "auc")
    assert not document["test"]["possible"] and words in document["test"]["note"]
    assert not any(method["best"] for method in document["methods"])


def test_average_ranks_are_tested_from_five_data_sets_on(tmp_path):
    kith = Kith(tmp_path)
    for number in range(5):
        evaluate(kith, f"points {number}", seed=number, extra=["--append"] if number else [])
        if not 1 <= number:
            continue
        text, ranks = " ".join(report(kith).split()), kith.json("report", "--store", "run.db")["ranks"]
        assert ("Nemenyi's critical difference, 3 methods, 5 data sets" in text) == (number == 4)
        assert ("too few for a test" in text) == (number < 4)
        assert (ranks["friedman"] is not None) == (ranks["critical_difference"] is not None) == (number == 4)
