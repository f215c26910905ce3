# SPDX-License-Identifier: Apache-2.0
"""Indefinite similarities to learn from, and the program to compare with."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

PROGRAM = os.environ["KITH_PROGRAM"]
SOURCE = pathlib.Path(os.environ["KITH_SOURCE"])


def pytest_report_header():
    import sys

    import numpy
    import sklearn
    return f"kith under {sys.executable}, NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}"


class Sample:
    """n samples of `classes` classes: S (indefinite, diagonal constant), y, and rows of new ones."""

    def __init__(self, n=30, classes=2, queries=7, seed=5):
        rng = np.random.default_rng(seed)
        total = n + queries
        self.points = rng.normal(size=(total, 3))
        labels = np.arange(total) % classes
        self.points[:, 0] += 2.5 * labels
        noise = rng.normal(size=(total, total))
        everything = self.points @ self.points.T + 0.4 * (noise + noise.T)
        np.fill_diagonal(everything, 12.0)
        self.S = np.ascontiguousarray(everything[:n, :n])
        self.rows = np.ascontiguousarray(everything[n:, :n])
        names = np.array(["ant", "bee", "cat", "dog"])
        self.y = names[labels[:n]]
        self.truth = names[labels[n:]]
        assert np.linalg.eigvalsh(self.S)[0] < -0.1


@pytest.fixture
def binary():
    return Sample()


@pytest.fixture
def three():
    return Sample(n=36, classes=3)


@pytest.fixture(scope="session")
def html_page():
    """Skips a test that writes an HTML page where this build has none."""
    result = subprocess.run([PROGRAM, "inspect", "--similarity", "none.csv", "--html", "none.html"],
                            capture_output=True, text=True, timeout=60)
    if "built without its HTML page" in result.stderr:
        pytest.skip("this build has no HTML page: npm could not make it")


@pytest.fixture
def program(tmp_path):
    def run(*arguments, code=0):
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=tmp_path, capture_output=True,
                                text=True, timeout=300)
        assert result.returncode == code, result.stderr
        return result.stdout
    return run
