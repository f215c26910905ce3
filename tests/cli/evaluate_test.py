# SPDX-License-Identifier: Apache-2.0
"""kith evaluate as a user meets it: results, resumption, refusals."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import time

import pytest

from conftest import PROGRAM


@pytest.fixture
def problem(kith):
    """Two clouds in the plane, compared by a similarity that is no inner product."""
    chance = random.Random(5)
    points = [(chance.gauss(1.2 * (i % 2), 1), chance.gauss(0, 1)) for i in range(60)]
    rows = [[round(a[0] * b[0] - 0.4 * a[1] * b[1] - abs(a[0] - b[0]), 6) for b in points] for a in points]
    kith.write("s.csv", "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    kith.write("labels.txt", "".join(f"{'ab'[i % 2]}\n" for i in range(60)))
    return kith


INPUT = ("--similarity", "s.csv", "--labels", "labels.txt")
SMALL = (*INPUT, "--methods", "knn,svm-clip,krr-pinv", "--repeats", "4", "--folds", "3")


def start(kith, *arguments):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=kith.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"})


def units(path):
    """Everything a store says of its units, seconds included."""
    with sqlite3.connect(path) as store:
        tables = [name for (name,) in store.execute("select name from sqlite_master where type = 'table'")
                  if "result" in name]
        return {(table, row[0], row[1], row[2] if table.startswith("fold") else -1): row
                for table in tables for row in store.execute(f"select * from {table}")}


def test_json_has_what_the_interface_promises(problem):
    document = problem.json("evaluate", *SMALL)
    assert [method["method"] for method in document["methods"]] == ["knn", "svm-clip", "krr-pinv"]
    for method in document["methods"]:
        assert len(method["errors"]) == 4 and len(method["chosen"]) == 4
        assert method["mean_error"] == pytest.approx(sum(method["errors"]) / 4)
        assert {"sd_error", "p_value", "best"} <= set(method)
    assert any(method["best"] for method in document["methods"])


def test_methods_are_compared_by_the_test_that_is_asked_for(problem):
    small = ("evaluate", *INPUT, "--methods", "knn,nearest-mean", "--folds", 3)
    for flags, name in ((("--repeats", 4), "corrected-t"), (("--repeats", 1), "mcnemar"),
                        (("--repeats", 5, "--protocol", "tr"), "wilcoxon"),
                        (("--repeats", 5, "--test", "wilcoxon"), "wilcoxon"),
                        (("--repeats", 5, "--protocol", "tr", "--test", "corrected-t"), "corrected-t"),
                        (("--repeats", 4, "--test", "none"), "none")):
        document = problem.json(*small, *flags)
        assert document["test"]["name"] == name, flags
        other = next(method for method in document["methods"] if not method["leads"])
        assert (other["p_value"] is None) == (name == "none")
        assert other["difference"]["low"] <= other["difference"]["mean"] <= other["difference"]["high"]
    for flags, words in ((("--repeats", 4, "--test", "mcnemar"), "has 4; corrected-t takes several"),
                         (("--repeats", 1, "--test", "corrected-t"), "3 partitions or more"),
                         (("--test", "student"), "--test is \"student\"")):
        result = problem(*small, *flags, "--store", "none.db")
        assert result.returncode == 1 and words in result.stderr
        assert not (problem.folder / "none.db").exists()


def test_threads_leave_no_trace(problem):
    runs = [problem("evaluate", *SMALL, "--threads", n, "--store", f"{n}.db").stdout for n in (1, 2, 7)]
    assert runs[0] == runs[1] == runs[2] != ""
    results = [{key: row for key, row in units(problem.folder / f"{n}.db").items()} for n in (1, 2, 7)]
    assert set(results[0]) == set(results[1]) == set(results[2])
    reports = [problem("report", "--store", f"{n}.db", "--format", "csv").stdout for n in (1, 2, 7)]
    assert reports[0] == reports[1] == reports[2]


def test_a_store_makes_the_same_table_again_and_computes_nothing_twice(problem):
    first = problem("evaluate", *SMALL, "--store", "run.db")
    before = units(problem.folder / "run.db")
    second = problem("evaluate", *SMALL, "--store", "run.db")
    assert first.stdout == second.stdout == problem("evaluate", *SMALL).stdout
    assert units(problem.folder / "run.db") == before
    more = problem("evaluate", *INPUT, "--methods", "knn,svm-flip", "--repeats", "4", "--folds", "3", "--store", "run.db")
    assert more.returncode == 0
    assert before.items() <= units(problem.folder / "run.db").items()


def test_killed_fifty_times_it_ends_with_the_same_table(problem):
    arguments = ("evaluate", *INPUT, "--methods", "knn,svm-clip,svm-flip,krr-pinv,kri-clip",
                 "--repeats", "6", "--folds", "5", "--store", "run.db")
    undisturbed = problem(*arguments[:-1], "whole.db")
    assert undisturbed.returncode == 0, undisturbed.stderr
    whole = problem("report", "--store", "whole.db", "--format", "csv").stdout
    chance = random.Random(1)
    store = problem.folder / "run.db"
    kills = 0
    known = {}
    while kills < 50:
        run = start(problem, *arguments)
        try:
            run.wait(timeout=chance.uniform(0.005, 0.25))
            assert run.returncode == 0, run.stderr.read()
            assert run.stdout.read() == undisturbed.stdout
            known = {}
            store.unlink()  # finished between two kills: begin another
        except subprocess.TimeoutExpired:
            run.kill()
            kills += 1
        run.communicate()
        if store.exists() and kills % 10 == 0:
            now = units(store)
            assert known.items() <= now.items()  # nothing finished is lost or computed anew
            known = now
    final = problem(*arguments)
    assert final.returncode == 0, final.stderr
    assert final.stdout == undisturbed.stdout
    assert known.items() <= units(store).items()
    assert problem("report", "--store", "run.db", "--format", "csv").stdout == whole


def test_an_interrupt_ends_cleanly_and_says_how_to_go_on(problem):
    arguments = ("evaluate", *INPUT, "--methods", "knn,kri-clip,svm-knn", "--repeats", "50", "--store", "run.db")
    run = start(problem, *arguments)
    deadline = time.time() + 60
    while time.time() < deadline:  # until something is finished
        time.sleep(0.1)
        try:
            if units(problem.folder / "run.db"):
                break
        except sqlite3.OperationalError:
            pass
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert out == ""
    assert "run.db" in err and "same command" in err
    assert units(problem.folder / "run.db")


def test_two_processes_share_a_store(problem):
    runs = [start(problem, "evaluate", *SMALL, "--store", "run.db") for _ in range(2)]
    results = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], results
    assert results[0][0] == results[1][0] == problem("evaluate", *SMALL).stdout


def test_another_data_set_or_protocol_is_refused_by_name(problem):
    assert problem("evaluate", *SMALL, "--store", "run.db").returncode == 0
    before = units(problem.folder / "run.db")
    message = problem.refusal("evaluate", *SMALL, "--store", "run.db", "--seed", "2")
    assert "run.db" in message and "seed" in message
    message = problem.refusal("evaluate", *SMALL[:-1], "4", "--store", "run.db")
    assert "folds" in message
    problem.write("labels.txt", "".join(f"{'ba'[i % 2]}\n" for i in range(60)))
    message = problem.refusal("evaluate", *SMALL, "--store", "run.db")
    assert "run.db" in message
    assert units(problem.folder / "run.db") == before


def test_several_data_sets_stand_in_one_store_when_asked_for(problem):
    assert problem("evaluate", *SMALL, "--store", "run.db", "--name", "one").returncode == 0
    message = problem.refusal("evaluate", *SMALL, "--store", "run.db", "--name", "two")
    assert "--append" in message and "one" in message
    assert problem("evaluate", *SMALL, "--store", "run.db", "--name", "two", "--append").returncode == 0
    table = problem("report", "--store", "run.db").stdout
    assert "one" in table and "two" in table and "rank" in table


def test_partitions_are_written_and_read(problem):
    drawn = problem("evaluate", *SMALL, "--partitions", "parts.tsv")
    lines = (problem.folder / "parts.tsv").read_text().splitlines()
    assert len(lines) == 61 and lines[0] == "sample\t1\t2\t3\t4"
    assert {cell for line in lines[1:] for cell in line.split("\t")[1:]} == {"test", "1", "2", "3"}
    assert problem("evaluate", *SMALL, "--partitions", "parts.tsv").stdout == drawn.stdout
    # Without random ties nothing else depends on the seed.
    fixed = ("evaluate", *SMALL, "--partitions", "parts.tsv", "--set", "knn:ties=file", "--set", "krr-pinv:ties=file")
    assert problem(*fixed, "--seed", "9").stdout == problem(*fixed, "--seed", "1").stdout != ""
    problem.write("parts.tsv", "sample\t1\n61\ttest\n")
    assert "parts.tsv:2" in problem.refusal("evaluate", *SMALL, "--partitions", "parts.tsv")


def test_partitions_may_leave_the_folds_open(problem):
    numbered = "".join(f"{i}\t{'test' if i % 4 == 0 else 'train'}\n" for i in range(1, 61))
    problem.write("parts.tsv", "sample\t1\n" + numbered)
    given = ("evaluate", *INPUT, "--methods", "knn", "--folds", "3", "--partitions", "parts.tsv")
    first = problem(*given)
    assert first.returncode == 0, first.stderr
    assert problem(*given).stdout == first.stdout
    problem.write("parts.tsv", "sample\t1\n" + numbered.replace("1\ttrain", "1\t2", 1))
    assert "`train` beside numbers of folds" in problem.refusal(*given)


def test_a_plain_list_of_parts_goes_by_the_order_of_the_rows(problem):
    words = ["test" if i % 4 == 0 else "train" for i in range(60)]
    problem.write("list.txt", "".join(f"{one}\n" for one in words))
    problem.write("table.tsv", "sample\t1\n" + "".join(f"{i + 1}\t{one}\n" for i, one in enumerate(words)))
    problem.write("places.tsv", "".join(f"{i + 1}\t{one}\n" for i, one in reversed(list(enumerate(words)))))
    given = ("evaluate", *INPUT, "--methods", "knn", "--folds", "3", "--partitions")
    expected = problem(*given, "table.tsv")
    assert expected.returncode == 0, expected.stderr
    for name in ("list.txt", "places.tsv"):
        assert problem(*given, name).stdout == expected.stdout
    problem.write("short.txt", "train\ntest\n")
    assert "short.txt: 2 lines for 60 samples" in problem.refusal(*given, "short.txt")


def test_a_list_of_parts_for_a_table_of_pairs_needs_ids(kith):
    ids = [f"p{i:02}" for i in range(16)]
    pairs = [(a, b) for a in ids for b in ids]
    random.Random(3).shuffle(pairs)
    kith.write("s.edges", "".join(f"{a} {b} {9 if a == b else 5 if (a < 'p08') == (b < 'p08') else 1}\n"
                                  for a, b in pairs))
    kith.write("l.tsv", "".join(f"{one}\t{'ant' if one < 'p08' else 'bee'}\n" for one in ids))
    words = ["test" if i % 4 == 0 else "train" for i in range(16)]
    given = ("evaluate", "--similarity", "s.edges", "--labels", "l.tsv", "--methods", "knn", "--folds", "2",
             "--partitions")
    kith.write("list.txt", "".join(f"{one}\n" for one in words))
    message = kith.refusal(*given, "list.txt")
    assert "list.txt" in message and "s.edges lists pairs of ids" in message and "<TAB>" in message
    kith.write("ids.tsv", "".join(f"{a}\t{one}\n" for a, one in zip(ids, words)))
    assert kith(*given, "ids.tsv", "--store", "s.db").returncode == 0
    kith.write("table.tsv", "sample\t1\n" + "".join(f"{a}\t{one}\n" for a, one in zip(ids, words)))
    assert kith(*given, "table.tsv").stdout == kith(*given, "ids.tsv").stdout != ""


def test_all_compares_every_method_that_learns_from_the_input(problem):
    every = problem.json("methods")["methods"]
    told = problem.refusal("evaluate", "--similarity", "a=s.csv", "--similarity", "b=s.csv", "--labels", "none.txt",
                           "--methods", "all")  # told before labels are read
    several = [one["name"] for one in every if one["several_matrices"]]
    assert "--methods all: " + ",".join(several) in told
    told = problem.refusal("evaluate", "--data", "none.csv", "--measure", "gaussian", "--labels", "none.txt",
                           "--methods", "all")
    assert "--methods all: " + ",".join(one["name"] for one in every) in told


def test_a_partition_file_is_not_contradicted_in_silence(problem):
    problem("evaluate", *SMALL, "--partitions", "parts.tsv")
    assert "--repeats 5" in problem.refusal("evaluate", *INPUT, "--repeats", "5", "--partitions", "parts.tsv")
    assert "--folds 4" in problem.refusal("evaluate", *INPUT, "--folds", "4", "--partitions", "parts.tsv")


def with_unknown_pairs(problem, pairs):
    rows = [line.split(",") for line in (problem.folder / "s.csv").read_text().splitlines()]
    for i, j in pairs:
        rows[i][j] = "nan"
    problem.write("s.csv", "\n".join(map(",".join, rows)) + "\n")


def test_partitions_count_the_samples_of_the_files_dropped_or_not(problem):
    dropping = ("evaluate", *SMALL, "--missing", "drop-sample", "--partitions")
    problem("evaluate", *SMALL, "--partitions", "all.tsv")
    with_unknown_pairs(problem, ((3, 12), (20, 21), (20, 22)))
    drawn = problem(*dropping, "parts.tsv")
    lines = [line.split("\t") for line in (problem.folder / "parts.tsv").read_text().splitlines()[1:]]
    assert [line[0] for line in lines] == [str(i + 1) for i in range(60)]
    dropped = {int(line[0]) - 1 for line in lines if set(line[1:]) == {"-"}}
    assert len(dropped) == 2 and 20 in dropped and dropped & {3, 12}
    assert problem(*dropping, "parts.tsv").stdout == drawn.stdout
    # A file of all the samples is that file without the dropped ones.
    full = (problem.folder / "all.tsv").read_text().splitlines(keepends=True)
    problem.write("left.tsv", "".join(line for i, line in enumerate(full) if i - 1 not in dropped))
    assert problem(*dropping, "all.tsv").stdout == problem(*dropping, "left.tsv").stdout != ""
    # Nothing is left of a test part that was dropped.
    cells = [f"{i + 1}\t{'test' if i in dropped else i % 3 + 1}\n" for i in range(60)]
    problem.write("none.tsv", "sample\t1\n" + "".join(cells))
    message = problem.refusal("evaluate", *INPUT, "--methods", "knn", "--missing", "drop-sample",
                              "--partitions", "none.tsv")
    assert "none.tsv" in message and "without the samples that were dropped" in message


def test_a_star_sets_what_has_the_setting(problem):
    document = problem.json("evaluate", *INPUT, "--methods", "knn,svm-clip", "--repeats", "2", "--folds", "2",
                            "--set", "*:probability=yes", "--grid", "svm-clip:cost=1")
    for method in document["methods"]:
        assert "log_loss" in json.dumps(method) or "log-loss" in json.dumps(method)


def test_a_missing_pair_is_named_as_the_user_knows_it(problem):
    with_unknown_pairs(problem, [(3, 7)])
    message = problem.refusal("evaluate", *SMALL, "--store", "run.db")
    assert message.endswith(problem.refusal("train", *INPUT))
    assert "no finished" not in message


def test_settings_are_fixed_and_grids_are_chosen(problem):
    document = problem.json("evaluate", *INPUT, "--methods", "mine=svm-clip,svm-clip", "--repeats", "2", "--folds", "2",
                            "--set", "mine:cost=7", "--grid", "svm-clip:cost=3,5")
    mine, other = document["methods"]
    assert {chosen["cost"] for chosen in mine["chosen"]} == {7}
    assert {chosen["cost"] for chosen in other["chosen"]} <= {3, 5}


@pytest.mark.parametrize("arguments, words", [
    (("--methods", "knn,svm-klip"), ("svm-klip",)),
    (("--methods", "knn,knn"), ("knn", "twice")),
    (("--methods", "svm", "--set", "svm:cost=1", "--set", "svm:cost=2"), ("cost", "svm:cost=2", "once")),
    (("--methods", "svm", "--set", "*:cost=1", "--set", "svm:cost=1"), ("cost", "svm", "once")),
    (("--methods", "svm-clip", "--set", "svm-clip:spectrum=flip"), ("spectrum", "svm-clip", "name")),
    (("--methods", "svm", "--grid", "svm:cost=1,2", "--grid", "svm:cost=3"), ("cost", "svm:cost=3", "once")),
    (("--methods", "knn", "--set", "cost=1"), ("METHOD:key=value",)),
    (("--methods", "knn", "--set", "svm:cost=1"), ("svm", "not among")),
    (("--methods", "knn", "--grid", "knn:neighbours=3,0"), ("neighbours", "0")),
    (("--protocol", "xy"), ("xy", "tr, cgr, cy")),
    (("--repeats", "0"), ("repeats", "0")),
    (("--folds", "100"), ("100 folds",)),
    (("--test-fraction", "1"), ("test-fraction",)),
    (("--store", "no/such/folder/run.db"), ("no/such/folder/run.db",)),
    (("--store", "s.csv"), ("s.csv",)),
    (("--store", ""), ("--store", "no file")),
    (("--append",), ("--append", "--store")),
    (("--methods", "knn,,sda"), ("empty name",)),
    (("--methods", "knn", "--set", "knn:neighbours=3", "--grid", "knn:neighbours=1,2"), ("neighbours", "fixed")),
    (("--methods", "knn", "--set", "*:cost=1"), ("no method compared", "cost")),
    (("--similarity", "other=s.csv", "--methods", "knn", "--protocol", "tr"), ("one matrix", "2 were given")),
    (("--methods", "svm-clip", "--set", "svm-clip:costs=zz:a=5"), ("zz", "classes are a and b")),
])
def test_what_cannot_be_is_refused_by_name(problem, arguments, words):
    message = problem.refusal("evaluate", *INPUT, *arguments)
    for word in words:
        assert word in message


def test_a_read_only_store_is_an_error_and_stays_as_it_was(problem):
    if os.geteuid() == 0:
        pytest.skip("root may write to read-only files")
    assert problem("evaluate", *SMALL, "--store", "run.db").returncode == 0
    path = problem.folder / "run.db"
    path.chmod(stat.S_IRUSR)
    before = path.read_bytes()
    assert "run.db" in problem.refusal("evaluate", *INPUT, "--methods", "sda", "--repeats", "4", "--folds", "3", "--store", "run.db")
    assert path.read_bytes() == before


def test_a_damaged_store_is_an_error(problem):
    assert problem("evaluate", *SMALL, "--store", "run.db").returncode == 0
    path = problem.folder / "run.db"
    path.write_bytes(path.read_bytes()[:5000])
    assert "run.db" in problem.refusal("evaluate", *SMALL, "--store", "run.db")


def test_auto_trains_the_best_methods_and_says_why(problem):
    document = problem.json("train", *INPUT, "--method", "auto", "--among", "knn,svm-clip,svm-flip", "--model", "m.kith")
    selection = document["selection"]
    errors = {one["method"]: one["inner_error"] for one in selection["candidates"]}
    assert list(errors) == ["knn", "svm-clip", "svm-flip"]
    best = min(errors, key=errors.get)
    reach = errors[best] + 3 * next(one["standard_error"] for one in selection["candidates"] if one["method"] == best)
    assert selection["chosen"] == [name for name, error in errors.items() if error <= reach]
    model = (problem.folder / "m.kith").read_bytes()
    header = json.loads(model[8:8 + int.from_bytes(model[:8], "little")])
    assert "selection" in json.dumps(header)
    assert problem("predict", "--model", "m.kith", "--similarity", "s.csv").returncode == 0


def test_notes_on_grids_are_in_json_and_in_the_store(problem):
    flags = ("evaluate", *INPUT, "--methods", "knn,svm-clip", "--repeats", "2", "--folds", "2", "--store", "run.db",
             "--grid", "svm-clip:cost=1e7,1e8")
    result = problem(*flags, "--json")
    assert result.returncode == 0, result.stderr
    notes = json.loads(result.stdout)["notes"]
    assert any(one.startswith("svm-clip: all values of cost") and "--grid" in one for one in notes), notes
    assert all(one in result.stderr for one in notes)
    more = problem.json("evaluate", *INPUT, "--methods", "nearest-mean", "--repeats", "2", "--folds", "2", "--store", "run.db")
    assert [one for one in more["notes"] if one.startswith("svm-clip")] == [one for one in notes if one.startswith("svm-clip")]
    document = problem.json("train", *INPUT, "--method", "svm-clip", "--tune", "--grid", "cost=1e7,1e8", "--model", "m.kith")
    assert any("all values of cost" in one for one in document["notes"])
    assert "all values of cost" in problem("info", "m.kith").stdout
    assert any("--grid" in one for one in problem.json("info", "m.kith")["notes"])


def test_methods_of_a_fold_are_stored_one_by_one(problem):
    """Slow methods come last: what is finished before them is kept when the run is killed."""
    flags = ("evaluate", *INPUT, "--methods", "knn,svm-clip,svm-knn", "--grid", "svm-knn:cost=" + ",".join(
        str(1 + k) for k in range(60)), "--grid", "svm-knn:neighbours=40,44,46", "--repeats", "1", "--folds", "2",
        "--protocol", "tr", "--threads", "1", "--store", "run.db")
    run = start(problem, *flags)
    deadline = time.time() + 120
    found = {}
    while time.time() < deadline and run.poll() is None:
        try:
            found = units(problem.folder / "run.db")
        except sqlite3.OperationalError:
            pass
        if len(found) in (1, 2):
            break
        time.sleep(0.002)
    if run.poll() is not None:
        run.communicate()
        pytest.skip("this machine is too fast to interrupt it")
    run.kill()
    run.communicate()
    kept = units(problem.folder / "run.db")
    assert found.items() <= kept.items()
    result = problem(*flags)
    assert result.returncode == 0, result.stderr
    assert kept.items() <= units(problem.folder / "run.db").items()
