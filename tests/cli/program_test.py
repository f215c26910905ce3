# SPDX-License-Identifier: Apache-2.0
"""The program itself: help, version, usage errors, exit codes."""

import os
import pty
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import PROGRAM


def commands(kith):
    text = kith("--help").stdout
    return re.findall(r"^  ([a-z]+)\s", text[text.index("ubcommands"):], re.MULTILINE)


def test_help_lists_every_command(kith):
    assert {"inspect", "convert", "measure"} <= set(commands(kith))


def test_every_command_has_help_with_an_example_and_the_common_flags(kith):
    for command in commands(kith):
        result = kith(command, "--help")
        assert result.returncode == 0
        assert f"kith {command}" in result.stdout, command
        for flag in ("--json", "--threads", "--blas-threads", "--seed", "--quiet"):
            assert flag in result.stdout, (command, flag)


def test_the_help_says_how_many_blas_threads_a_command_takes(kith):
    usual = {"train": "1 below 2,000 samples, else all cores", "inspect": "1 below 2,000 samples, else all cores",
             "evaluate": "1, since folds run side by side"}
    for command in commands(kith):
        text = " ".join(kith(command, "--help").stdout.split())
        said = re.search(r"--blas-threads N\S* in \[[^]]*\]=(.*?) (threads inside one matrix .*?) --seed", text)
        assert said, (command, text)
        assert said[1] == usual.get(command, "1"), command
        assert ("recorded with the result" in said[2]) == (command in usual), command


def test_version_names_the_blas(kith):
    result = kith("--version")
    assert result.returncode == 0
    assert re.match(r"kith \d+\.\d+\.\d+\nBLAS: .*", result.stdout)


def test_bad_usage_exits_with_1_and_points_to_help(kith):
    for arguments in ([], ["frobnicate"], ["inspect", "--nonsense"], ["inspect", "--threads", "0"]):
        result = kith(*arguments)
        assert result.returncode == 1, arguments
        assert "--help" in result.stderr
        assert result.stdout == ""


def test_a_setting_outside_its_range_names_the_rule(kith):
    message = kith.refusal("inspect", "--similarity", "x.csv", "--missing", "perhaps")
    assert "--missing" in message and '"perhaps"' in message and "error, zero, min, drop-sample" in message


def test_no_input_says_what_to_give(kith):
    assert "--similarity FILE or --distance FILE" in kith.refusal("inspect")


def test_an_unknown_command_is_named(kith):
    assert 'no command "frobnicate"' in kith.refusal("frobnicate")


def test_a_seed_that_no_seed_can_be_is_refused(kith):
    kith.write("s.csv", "1,0\n0,1\n")
    for seed in ("-1", "1.5", "18446744073709551616", "one"):
        message = kith.refusal("inspect", "--similarity", "s.csv", "--seed", seed)
        assert "--seed" in message and f'"{seed}"' in message
    assert kith("inspect", "--similarity", "s.csv", "--seed", "18446744073709551615").returncode == 0


def test_more_threads_than_cores_are_taken_without_a_word(kith):
    kith.write("w.txt", "\n".join(f"word{i}" for i in range(300)))
    result = kith("measure", "--data", "w.txt", "--measure", "edit", "--out", "w.npy",
                  "--threads", "4096", "--quiet")
    assert result.returncode == 0
    assert result.stderr == ""


def test_help_and_version_that_cannot_be_written_are_errors(kith):
    for arguments in (["--help"], ["--version"], ["inspect", "--help"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE,
                                    text=True)
        assert result.returncode == 1, arguments
        assert "standard output" in result.stderr


def test_full_standard_output_is_an_error(kith):
    kith.write("s.csv", "1,0\n0,1\n")
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, "inspect", "--similarity", "s.csv"], cwd=kith.folder,
                                stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "standard output" in result.stderr


def test_interrupt_ends_with_130(kith):
    # Reading from a pipe that never ends keeps the program busy until it is interrupted.
    os.mkfifo(kith.folder / "pipe.csv")
    process = subprocess.Popen([PROGRAM, "inspect", "--similarity", "pipe.csv"], cwd=kith.folder,
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = ("0.5," * 50_000 + "0.5\n").encode()
    with open(kith.folder / "pipe.csv", "wb") as pipe:
        pipe.write(line)
        pipe.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            for _ in range(2000):
                pipe.write(line)
        except BrokenPipeError:
            pass
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted" in errors


def test_interrupt_ends_a_decomposition_that_cannot_hear_it(kith):
    rows = [",".join(str((i * j * 7919 + i + 3 * j) % 1009) for j in range(1, 9)) for i in range(4000)]
    (kith.folder / "x.csv").write_text("\n".join(rows) + "\n")
    (kith.folder / "y.txt").write_text("\n".join("ab"[i % 2] for i in range(4000)) + "\n")
    process = subprocess.Popen([PROGRAM, "train", "--data", "x.csv", "--labels", "y.txt", "--method", "nonlinear-msvm"],
                               cwd=kith.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(2)  # reading takes less, the decomposition far more
    sent = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert time.monotonic() - sent < 10


def test_training_that_takes_long_says_so_on_a_terminal_and_can_be_interrupted(kith):
    noise = np.random.default_rng(1).normal(size=(1500, 1500))
    np.save(kith.folder / "s.npy", noise + noise.T)
    kith.write("y.txt", "a\nb\n" * 750)
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, "train", "--similarity", "s.npy", "--labels", "y.txt", "--method",
                                "full-kernel-svm"], cwd=kith.folder, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while not re.search(rb"training full-kernel-svm, \d+ s so far", shown):  # OSError where the program ends first
        shown += os.read(ours, 1024)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    os.close(ours)


def test_help_is_a_command(kith):
    assert kith("help").stdout == kith("--help").stdout != ""
    assert kith("help", "train").stdout == kith("train", "--help").stdout != ""
    assert "there is no command" not in kith("help", "train").stderr


@pytest.mark.parametrize("arguments, hint", [
    (("evaluate", "--method", "knn"), 'there is no option "--method" (did you mean --methods knn?)'),
    (("evaluate", "--cost", "10"), "given as --set '*:cost=10' for all methods that have it, or --set METHOD:cost=10"),
    (("evaluate", "--cost", "1,10"), "given as --grid '*:cost=1,10' for all methods"),
    (("train", "--methods", "svm-clip"), 'there is no option "--methods" (did you mean --method svm-clip?)'),
    (("train", "--methods", "knn,svm"), "(did you mean --method auto --among knn,svm?)"),
    (("train", "--cost", "3"), 'there is no option "--cost"; cost is a setting of a method, given as --set cost=3\n'),
    (("train", "--cost"), 'there is no option "--cost"; cost is a setting of a method, given as --set cost=VALUE\n'),
    (("train", "--C=3"), 'there is no option "--C"; cost is a setting of a method, given as --set cost=3\n'),
    (("train", "--C", "1,10"), "given as --tune --grid cost=1,10\n"),
    (("train", "--method", "knn", "--k", "5"), "neighbours is a setting of a method, given as --set neighbours=5\n"),
    (("train", "--k", "5"), "given as --method knn --set neighbours=5, since svm has none\n"),
    (("train", "--n_neighbors", "5"), "given as --method knn --set neighbours=5, since svm has none\n"),
    (("predict", "--model", "m.kith", "--methods", "knn"), 'there is no option "--methods"'),
    (("predict", "--model", "m.kith", "--missing", "zero"), "the model does to new rows what was done"),
    (("inspect", "scores.csv", "labels.txt"), 'unexpected argument "scores.csv"'),
])
def test_an_unknown_option_names_the_one_that_was_meant(kith, arguments, hint):
    assert hint in kith.refusal(*arguments)


@pytest.mark.parametrize("arguments, hint", [
    (("train", "-C", "3"), 'there is no option "-C"; cost is a setting of a method, given as --set cost=3'),
    (("train", "C=3"), 'unexpected argument "C"; cost is a setting'),
    (("evaluate", "--cv", "5"), "(did you mean --folds?)"),
    (("train", "--n_jobs", "2"), "(did you mean --threads?)"),
    (("train", "--random_state", "2"), "(did you mean --seed?)"),
    (("help", "nothing"), 'there is no command "nothing"'),
    (("train", "--out", "m.kith"), "(did you mean --model?)"),
    (("train", "--output", "m.kith"), "(did you mean --model?)"),
    (("train", "-o", "m.kith"), "(did you mean --model?)"),
    (("convert", "--output", "x.npy"), "(did you mean --out?)"),
    (("convert", "-o", "x.npy"), "(did you mean --out?)"),
    (("train", "--sim", "s.csv"), "(did you mean --similarity?)"),
    (("train", "--dist", "s.csv"), "(did you mean --distance?)"),
    (("train", "--lab", "l.txt"), "(did you mean --labels?)"),
    (("train", "--method", "auto", "--methods", "knn"), "(did you mean --among knn?)"),
    (("evaluate", "--methods", "knn", "svm-clip"), "separated by commas"),
    (("evaluate", "--similarity", "s.csv", "--labels", "l.txt", "--methods", "knn,all"), "all stands alone"),
])
def test_words_of_other_programs_name_ours(kith, arguments, hint):
    assert hint in kith.refusal(*arguments)


@pytest.mark.parametrize("typed, meant", [("SVM", "svm"), ("svmclip", "svm-clip"), ("SVM-Clip", "svm-clip"),
                                          ("ridge_flip", "ridge-flip"), ("autp", "auto")])
def test_a_method_is_known_by_its_letters(kith, typed, meant):
    kith.write("s.csv", "1,0\n0,1\n")
    kith.write("l.txt", "a\nb\n")
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", typed)
    assert f"(did you mean {meant}?)" in message and "and auto" in message


def test_a_measure_is_known_by_its_letters(kith):
    kith.write("s.txt", "abc\nabd\n")
    message = kith.refusal("measure", "--data", "s.txt", "--measure", "smithwaterman", "--out", "o.csv")
    assert "(did you mean smith-waterman?)" in message


def test_a_file_given_as_a_kernel_is_a_matrix(kith):
    kith.write("s.csv", "1,0\n0,1\n")
    assert "(did you mean --similarity s.csv?)" in kith.refusal("train", "--kernel", "s.csv")


def test_all_methods_are_those_that_are_listed(kith):
    assert kith("methods", "all").stdout == kith("methods").stdout != ""


@pytest.mark.parametrize("arguments, meant", [
    (("Auto",), "train --method auto"), (("training",), "train"), (("--train",), "train"), (("Train",), "train"),
    (("fit",), "train"), (("classify",), "predict"), (("svm-clip",), "train --method svm-clip"),
    (("--evaluate",), "evaluate"), (("inspct",), "inspect"), (("help", "training"), "train"),
])
def test_a_word_that_is_no_command_names_the_one_that_was_meant(kith, arguments, meant):
    assert f"(did you mean `kith {meant}`?)" in kith.refusal(*arguments)


def test_a_file_in_place_of_a_command_or_a_flag_says_how_it_is_given(kith):
    kith.write("my scores.csv", "1,0\n0,1\n")
    assert "(did you mean `kith inspect --similarity 'my scores.csv'`?)" in kith.refusal("my scores.csv")
    assert "such as --similarity 'my scores.csv'" in kith.refusal("inspect", "my scores.csv")


def test_an_option_before_the_command_says_so(kith):
    assert "give the command first" in kith.refusal("--similarity", "s.csv")


@pytest.mark.parametrize("method", ("all", "knn,svm"))
def test_training_by_several_methods_names_auto_and_evaluate(kith, method):
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", method)
    assert "--method auto" in message and f"kith evaluate --methods {method}" in message
    assert ("--among knn,svm" in message) == (method != "all")


def test_a_command_and_help_is_help(kith):
    assert kith("train", "help").stdout == kith("train", "--help").stdout != ""


@pytest.mark.parametrize("method, typed, ours", [("svm", "C", "cost"), ("knn", "k", "neighbours"),
                                                 ("knn", "n_neighbors", "neighbours"), ("svm", "tol", "tolerance")])
def test_a_setting_by_its_usual_name_elsewhere_names_ours(kith, method, typed, ours):
    message = kith.refusal("train", "--similarity", "s.csv", "--labels", "l.txt", "--method", method, "--set",
                           f"{typed}=3")
    assert f'no setting "{typed}" (did you mean {ours}?)' in message
