# SPDX-License-Identifier: Apache-2.0
"""`kith info`: what a model file is, needs and was trained on."""

import pytest

from problems import Problem


def test_json_repeats_what_training_said(kith):
    trained = Problem().write(kith).train(kith, "--set", "cost=10")
    found = kith.json("info", "m.kith")
    for field in ("method", "settings", "n", "classes", "gap", "status", "columns_needed", "applied", "fingerprint"):
        assert found[field] == trained[field], field
    assert found["needs_ids"] and not found["needs_self_similarities"]
    assert [(one["name"], one["input"]) for one in found["needs"]] == [("s", "similarities")]


def test_text_names_the_next_command_and_it_works(kith):
    Problem().write(kith).train(kith)
    text = kith("info", "m.kith").stdout
    assert "matched by id" in text and "cost=1," in text and "probability=yes" in text
    command = text.split("use it")[1].split()
    assert command[:2] == ["kith", "predict"]
    result = kith(*[part.replace("FILE", "q.csv") for part in command[1:]])
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("asked", (True, False))
def test_probabilities_are_those_of_the_predictions(kith, asked):
    Problem().write(kith).train(kith, "--set", f"probability={'yes' if asked else 'no'}")
    assert kith.json("info", "m.kith")["probabilities"] == asked
    header = kith("predict", "--model", "m.kith", "--similarity", "q.csv").stdout.splitlines()[0]
    assert ("probability:a" in header) == asked


def test_a_file_that_is_no_model_is_refused(kith):
    Problem().write(kith)
    assert "s.csv" in kith.refusal("info", "s.csv")
    assert "nothere.kith" in kith.refusal("info", "nothere.kith")


def test_settings_and_measures_are_as_they_are_typed(kith):
    kith.write("w.tsv", "kitten\nmitten\nbitten\nsitting\nfitting\nhitting\n")
    kith.write("l.txt", "a\na\na\nb\nb\nb\n")
    train = ("train", "--data", "w.tsv", "--measure", "spectrum:kmer=2", "--labels", "l.txt", "--method", "knn")
    assert kith(*train, "--set", "neighbours=1", "--model", "my model.kith").returncode == 0
    text = kith("info", "my model.kith").stdout
    assert "neighbours=1, ties=random" in text
    assert "measured by spectrum:kmer=2,score=raw" in text
    assert "kith predict --model 'my model.kith' --data FILE" in text


def test_notes_name_flags(kith):
    problem = Problem().write(kith)
    problem.train(kith, "--method", "ridge")
    text = kith("info", "m.kith").stdout
    assert "ridge=auto" in text and "least squared error" in " ".join(text.split()) and "[[" not in text


def test_members_have_the_names_that_training_printed(kith):
    Problem().write(kith).train(kith, "--method", "auto", "--among", "svm-flip,mine=ridge-clip,svm-clip")
    found = kith.json("info", "m.kith")
    assert [one["name"] for one in found["members"]] == found["selection"]["chosen"]
    text = kith("info", "m.kith").stdout
    for name in found["selection"]["chosen"]:
        assert f"{name} from s: " in text
