# SPDX-License-Identifier: Apache-2.0
"""evaluate --sizes: a learning curve that shares its work with the plain comparison."""

import csv
import io
import random
import sqlite3

import pytest


@pytest.fixture
def problem(kith):
    """Two classes of many small clouds: a class is known where its clouds have been seen."""
    chance = random.Random(2)
    clouds = [i % 16 for i in range(160)]
    rows = [[1 + chance.random() if i == j else (0.8 if clouds[i] == clouds[j] else 0) + 0.1 * chance.random()
             for j in range(160)] for i in range(160)]
    rows = [[round((rows[i][j] + rows[j][i]) / 2, 6) for j in range(160)] for i in range(160)]
    kith.write("s.csv", "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    kith.write("labels.txt", "".join(f"{'ab'[one % 2]}\n" for one in clouds))
    return kith


INPUT = ("--similarity", "s.csv", "--labels", "labels.txt")
PLAIN = (*INPUT, "--methods", "knn,ridge", "--repeats", "5", "--folds", "3")
SIZES = (*PLAIN, "--sizes", "10%,25%,64,100%")


def units(path):
    with sqlite3.connect(path) as store:
        return {(table, *row[:3 if table == "fold_results" else 2]): row[:-2]
                for table in ("fold_results", "test_results") for row in store.execute(f"select * from {table}")}


def without_time(document):
    return {key: value for key, value in document.items() if key not in ("timing", "sizes", "sizes_note")}


def test_json_has_the_curve(problem):
    document = problem.json("evaluate", *SIZES)
    sizes = document["sizes"]
    assert [one["size"] for one in sizes] == ["10%", "25%", "64", "100%"]
    assert [one["samples"] for one in sizes] == [13, 32, 64, 128]
    for size in sizes:
        assert [one["method"] for one in size["methods"]] == ["knn", "ridge"]
        for one in size["methods"]:
            assert len(one["errors"]) == 5
            assert one["mean_error"] == pytest.approx(sum(one["errors"]) / 5)
            assert 0 <= one["low"] <= one["mean_error"] <= one["high"] <= 1
    assert sizes[0]["methods"][0]["mean_error"] > sizes[-1]["methods"][0]["mean_error"]
    assert document["sizes_note"].startswith("From 64 to 128 training samples")


def test_all_samples_are_the_plain_comparison(problem):
    plain = problem.json("evaluate", *PLAIN)
    document = problem.json("evaluate", *SIZES)
    assert "sizes" not in plain or plain["sizes"] is None
    assert without_time(document) == without_time(plain)
    for method, last in zip(plain["methods"], document["sizes"][-1]["methods"]):
        assert last["errors"] == method["errors"] and last["mean_error"] == method["mean_error"]


def test_units_are_shared_with_the_plain_comparison(problem):
    assert problem("evaluate", *PLAIN, "--store", "r.db").returncode == 0
    before = units(problem.folder / "r.db")
    assert problem("evaluate", *SIZES, "--store", "r.db").returncode == 0
    after = units(problem.folder / "r.db")
    assert len(after) == 4 * len(before) and before.items() <= after.items()
    # What is there is not computed again, and the curve is in reports.
    again = problem.json("evaluate", *SIZES, "--store", "r.db")
    assert units(problem.folder / "r.db") == after
    assert problem.json("report", "--store", "r.db")["sizes"] == again["sizes"]
    one = problem.json("evaluate", *PLAIN, "--sizes", "25%")
    assert one["sizes"][0] == again["sizes"][1]


def test_threads_leave_no_trace(problem):
    runs = [problem.json("evaluate", *SIZES, "--threads", n)["sizes"] for n in (1, 2, 7)]
    assert runs[0] == runs[1] == runs[2]


def test_text_answers_the_question(problem):
    text = problem("evaluate", *SIZES, env={"LC_ALL": "C.UTF-8"}).stdout
    assert "error (%) by the number of training samples" in text
    assert "13 (10%)" in text and "\u2588" in text
    assert "From 64 to 128 training samples the mean error of" in text
    assert "training samples" not in problem("evaluate", *PLAIN).stdout


def test_csv_has_a_line_per_method_and_size(problem):
    document = problem.json("evaluate", *SIZES, "--store", "r.db")
    result = problem("report", "--store", "r.db", "--sizes", "--format", "csv")
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["size"], row["method"]) for row in rows] == \
        [(size["size"], one["method"]) for size in document["sizes"] for one in size["methods"]]
    flat = [one for size in document["sizes"] for one in size["methods"]]
    for row, one in zip(rows, flat):
        assert float(row["mean"]) == pytest.approx(100 * one["mean_error"], rel=1e-12)
        assert float(row["low"]) == pytest.approx(100 * one["low"], abs=1e-9)
    plain = problem("report", "--store", "r.db", "--format", "csv").stdout
    assert len(plain.splitlines()) == 3  # the comparison, as without sizes
    assert "--sizes" in problem.refusal("report", "--store", "r.db", "--sizes", "--format", "latex")


def test_what_cannot_be_is_refused_with_its_reason(problem):
    assert "2 training samples" in problem.refusal("evaluate", *PLAIN, "--sizes", "1.5%")
    assert "partition 1 has 128" in problem.refusal("evaluate", *PLAIN, "--sizes", "150")
    assert "such as 20%" in problem.refusal("evaluate", *PLAIN, "--sizes", "0.5")
    assert "stands twice" in problem.refusal("evaluate", *PLAIN, "--sizes", "10%,10%")
    assert problem("evaluate", *PLAIN, "--store", "r.db").returncode == 0
    assert "--sizes" in problem.refusal("report", "--store", "r.db", "--sizes")


def test_groups_stay_whole_in_every_size(problem):
    problem.write("groups.txt", "".join(f"{i // 4}\n" for i in range(160)))
    document = problem.json("evaluate", *SIZES, "--groups", "groups.txt", "--store", "r.db")
    assert [one["samples"] % 4 for one in document["sizes"][:1]] == [0]
    with sqlite3.connect(problem.folder / "r.db") as store:
        for train, test in store.execute("select train, test from partitions"):
            def people(blob):
                return {int.from_bytes(blob[i:i + 4], "little") // 4 for i in range(0, len(blob), 4)}
            assert not people(train) & people(test)
            assert len(train) // 4 == 4 * len(people(train))  # each group whole
