# SPDX-License-Identifier: Apache-2.0
"""The program and the shared data, as the command-line tests have them, and a svm to compare."""

import importlib.util
import json
import os
import pathlib

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ["KITH_SOURCE"])

_spec = importlib.util.spec_from_file_location("cli_conftest", SOURCE / "tests/cli/conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
kith = _cli.kith
shared = _cli.shared


class Svm:
    """Trains and predicts with the program; matrices travel as npy, which keeps every bit."""

    def __init__(self, kith):
        self.kith = kith

    def train(self, S, labels, method="svm", **settings):
        np.save(self.kith.folder / "s.npy", np.ascontiguousarray(S, dtype=float))
        self.kith.write("l.txt", "".join(f"{label}\n" for label in labels))
        flags = [flag for key, value in settings.items()
                 for flag in ("--set", f"{key.replace('_', '-')}={value}")]
        result = self.kith("train", "--similarity", "s.npy", "--labels", "l.txt", "--model",
                           "m.kith", "--method", method, "--json", "--threads", "1", *flags)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def predict(self, rows):
        """Labels, and for two classes the decision values (positive for the first class)."""
        np.save(self.kith.folder / "q.npy", np.ascontiguousarray(rows, dtype=float))
        result = self.kith("predict", "--model", "m.kith", "--similarity", "q.npy", "--threads", "1")
        assert result.returncode == 0, result.stderr
        lines = [line.split("\t") for line in result.stdout.splitlines()[1:]]
        return [line[1] for line in lines], np.array([float(line[2]) for line in lines])


@pytest.fixture
def svm(kith):
    return Svm(kith)


@pytest.fixture
def data_set(shared):
    """data_set(name): similarities and labels of a shared set."""
    def read(name):
        S = np.loadtxt(shared / name / "similarity.csv", delimiter=",")
        return S, (shared / name / "labels.txt").read_text().split()
    return read
