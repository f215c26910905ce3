# SPDX-License-Identifier: Apache-2.0
"""--groups as a user meets it: nothing of a group on both sides of any split, and refusals that help."""

import math
import random

import pytest

PEOPLE = 24


@pytest.fixture
def people(kith):
    """Repeated measurements of people, of whom each has a class that has nothing to do with the measurements."""
    chance = random.Random(3)
    points, groups, labels = [], [], []
    for person in range(PEOPLE):
        centre = [chance.gauss(0, 1) for _ in range(4)]
        for _ in range(2 + person % 3):
            points.append([c + chance.gauss(0, 0.05) for c in centre])
            groups.append(f"p{person}")
            labels.append("ab"[person % 2])
    rows = [[round(math.exp(-sum((x - z) ** 2 for x, z in zip(a, b))), 6) for b in points] for a in points]
    ids = [f"s{i}" for i in range(len(points))]
    kith.write("s.csv", "," + ",".join(ids) + "\n" +
               "".join(f"{name}," + ",".join(map(str, row)) + "\n" for name, row in zip(ids, rows)))
    kith.write("labels.tsv", "".join(f"{name}\t{label}\n" for name, label in zip(ids, labels)))
    order = list(range(len(ids)))
    chance.shuffle(order)
    kith.write("people.tsv", "id\tgroup\n" + "".join(f"{ids[i]}\t{groups[i]}\n" for i in order))
    kith.write("rows.csv", "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    kith.write("plain.txt", "".join(f"{label}\n" for label in labels))
    kith.group_of = dict(zip(ids, groups))
    kith.ids = ids
    return kith


INPUT = ("--similarity", "s.csv", "--labels", "labels.tsv")
GROUPED = (*INPUT, "--groups", "people.tsv")
SMALL = ("--methods", "knn", "--set", "knn:neighbours=1", "--repeats", "6", "--folds", "3")


def columns(text):
    """Of each partition the cell of each sample."""
    lines = [line.split("\t") for line in text.splitlines()]
    return [{line[0]: line[p] for line in lines[1:]} for p in range(1, len(lines[0]))]


def test_no_partition_parts_a_person(people):
    people.json("evaluate", *GROUPED, *SMALL, "--partitions", "p.tsv")
    partitions = columns((people.folder / "p.tsv").read_text())
    assert len(partitions) == 6
    for cells in partitions:
        places = {}
        for sample, cell in cells.items():
            places.setdefault(people.group_of[sample], set()).add(cell)
        assert all(len(own) == 1 for own in places.values())
        assert {"test", "1", "2", "3"} == {cell for own in places.values() for cell in own}
        tested = sum(cell == "test" for cell in cells.values())
        assert tested == pytest.approx(0.2 * len(cells), abs=3)


def test_groups_show_what_twins_hide(people):
    """The class is told by the person alone: whoever knows the person knows it, nobody else does."""
    alone = people.json("evaluate", *INPUT, *SMALL)
    together = people.json("evaluate", *GROUPED, *SMALL)
    assert alone["methods"][0]["mean_error"] < 0.1
    assert together["methods"][0]["mean_error"] > 0.25
    assert together["groups"] == PEOPLE and alone["groups"] is None
    assert together["fingerprint"] != alone["fingerprint"]


def test_training_keeps_people_together_and_says_so(people):
    alone = people.json("train", *INPUT, "--method", "knn", "--tune", "--grid", "neighbours=1")
    together = people.json("train", *GROUPED, "--method", "knn", "--tune", "--grid", "neighbours=1", "--model", "m.kith")
    [first], [second] = alone["selection"]["candidates"], together["selection"]["candidates"]
    assert first["inner_error"] < 0.1 and second["inner_error"] > 0.25
    assert together["groups"] == PEOPLE and "groups" not in alone
    assert people.json("info", "m.kith")["groups"] == PEOPLE
    assert f"groups       {PEOPLE}" in people("info", "m.kith").stdout or str(PEOPLE) in people("info", "m.kith").stdout


def test_probabilities_know_what_a_new_person_is_worth(people):
    flags = ("--method", "svm", "--set", "cost=1000", "--set", "probability=yes", "--model", "m.kith")
    sure = {}
    for name, given in (("alone", INPUT), ("together", GROUPED)):
        people.json("train", *given, *flags)
        people.write("q.csv", (people.folder / "s.csv").read_text())
        result = people("predict", "--model", "m.kith", "--similarity", "q.csv")
        assert result.returncode == 0, result.stderr
        head, *lines = [line.split("\t") for line in result.stdout.splitlines()]
        at = [i for i, cell in enumerate(head) if "prob" in cell.lower() or cell.startswith("p(")]
        sure[name] = sum(max(float(line[i]) for i in at) for line in lines) / len(lines)
    assert sure["alone"] > 0.9 > 0.75 > sure["together"]


def test_a_store_knows_its_groups(people):
    assert people("evaluate", *GROUPED, *SMALL, "--store", "r.db").returncode == 0
    again = people("evaluate", *GROUPED, *SMALL, "--store", "r.db")
    assert again.returncode == 0
    refusal = people.refusal("evaluate", *INPUT, *SMALL, "--store", "r.db")
    assert "there are groups in the store and none now" in refusal
    assert people.json("report", "--store", "r.db")["groups"] == PEOPLE


def test_threads_leave_no_trace(people):
    runs = [people("evaluate", *GROUPED, "--methods", "knn,svm-clip,ridge", "--repeats", "3", "--folds", "3",
                   "--threads", n).stdout for n in (1, 3)]
    assert runs[0] == runs[1] != ""


def test_given_partitions_must_keep_people_together(people):
    word = {name: "test" if i < len(people.ids) // 2 else "train" for i, name in enumerate(people.ids)}
    parted = next(group for group in people.group_of.values()
                  if len({word[one] for one, own in people.group_of.items() if own == group}) == 2) \
        if any(len({word[one] for one, own in people.group_of.items() if own == group}) == 2
               for group in set(people.group_of.values())) else None
    if parted is None:  # the cut fell between two people
        word[people.ids[0]] = "train"
        parted = people.group_of[people.ids[0]]
    people.write("given.tsv", "".join(f"{name}\t{cell}\n" for name, cell in word.items()))
    refusal = people.refusal("evaluate", *GROUPED, "--methods", "knn", "--folds", "3", "--partitions", "given.tsv")
    assert "given.tsv" in refusal and "partition 1" in refusal and f'"{parted}"' in refusal
    assert "in the test part" in refusal and "in the training part" in refusal


def test_groups_are_read_and_matched_as_labels_are(people):
    people.write("short.tsv", "s0\tp\ns1\tq\n")
    assert "samples have no group" in people.refusal("evaluate", *INPUT, "--groups", "short.tsv", *SMALL)
    people.write("few.txt", "p\nq\n")
    message = people.refusal("evaluate", "--similarity", "rows.csv", "--labels", "plain.txt", "--groups", "few.txt",
                             *SMALL)
    assert "2 groups for" in message and "one per sample" in message
    people.write("lines.txt", "".join(f"{people.group_of[name]}\n" for name in people.ids))
    by_row = people.json("evaluate", "--similarity", "rows.csv", "--labels", "plain.txt", "--groups", "lines.txt", *SMALL)
    assert by_row["groups"] == PEOPLE


def test_what_cannot_be_is_refused_with_its_reason(people):
    people.write("one.tsv", "".join(f"{name}\tall\n" for name in people.ids))
    assert "nothing can be held out" in people.refusal("evaluate", *INPUT, "--groups", "one.tsv", *SMALL)
    people.write("three.tsv", "".join(f"{name}\t{i % 3}\n" for i, name in enumerate(people.ids)))
    message = people.refusal("evaluate", *INPUT, "--groups", "three.tsv", *SMALL)
    assert "3 groups" in message and "3 folds" in message
    message = people.refusal("evaluate", *GROUPED, *SMALL, "--stratify", "equal")
    assert "--stratify equal" in message and "groups stay whole" in message
    assert "--stratify equal" in people.refusal("evaluate", *GROUPED, "--methods", "knn", "--protocol", "ktbb")


def test_what_changes_nothing_is_said(people):
    people.write("each.tsv", "".join(f"{name}\t{name}\n" for name in people.ids))
    result = people("evaluate", *INPUT, "--groups", "each.tsv", *SMALL)
    assert result.returncode == 0 and "change nothing" in result.stderr
    plain = people("evaluate", *INPUT, *SMALL)
    assert result.stdout.splitlines()[2:] == plain.stdout.splitlines()[2:]


def test_a_class_in_one_group_is_named(people):
    people.write("labels3.tsv", "".join(
        f"{name}\t{'c' if people.group_of[name] == 'p0' else 'ab'[int(people.group_of[name][1:]) % 2]}\n"
        for name in people.ids))
    result = people("evaluate", "--similarity", "s.csv", "--labels", "labels3.tsv", "--groups", "people.tsv", *SMALL)
    assert result.returncode == 0 and 'all samples of class "c" are in one group' in result.stderr
    people.write("labels2.tsv", "".join(
        f"{name}\t{'c' if people.group_of[name] == 'p0' else 'a'}\n" for name in people.ids))
    message = people.refusal("evaluate", "--similarity", "s.csv", "--labels", "labels2.tsv", "--groups", "people.tsv",
                             *SMALL)
    assert 'class "c"' in message and "so few groups" in message
