# SPDX-License-Identifier: Apache-2.0
"""`lp-machine` against SciPy's HiGHS on [TR] (4) as printed, along the cost grid."""

import json

import numpy as np
import pytest

GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3, 1e5)


def with_highs(F, y, cost):
    """min 1'(u + v) + C 1'xi with w = u - v, as printed."""
    linprog = pytest.importorskip("scipy.optimize").linprog
    n, m = F.shape
    signed = y[:, None] * F
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(np.concatenate([np.ones(2 * m), [0], np.full(n, cost)]),
                     A_ub=-np.hstack([signed, -signed, y[:, None], np.eye(n)]), b_ub=-np.ones(n),
                     bounds=bounds, method="highs", options=options)
    assert result.status == 0, result.message
    return result.fun


def train(kith, S, labels, cost):
    np.save(kith.folder / "s.npy", np.ascontiguousarray(S, dtype=float))
    kith.write("l.txt", "".join(f"{label}\n" for label in labels))
    return kith.json("train", "--method", "lp-machine", "--similarity", "s.npy", "--labels", "l.txt",
                     "--model", "m.kith", "--threads", "1", "--set", f"cost={cost}", "--set",
                     "probability=no")


def check(kith, S, y, cost):
    found = train(kith, S, ["a" if sign > 0 else "b" for sign in y], cost)
    assert found["status"] == "solved"
    assert found["gap"] <= 1e-8
    assert found["objective"] == pytest.approx(with_highs(S, y, cost), rel=1e-6)


@pytest.mark.parametrize("cost", GRID)
def test_asymmetric_noise(kith, cost):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2 == 0, 1, -1)
    check(kith, rng.normal(size=(60, 60)) + 0.3 * np.outer(y, y), y, cost)


@pytest.mark.parametrize("cost", GRID)
def test_low_rank(kith, cost):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1, -1)
    check(kith, X @ X.T, y, cost)


@pytest.mark.parametrize("cost", GRID)
@pytest.mark.parametrize("name", ("aural-sonar", "protein", "voting"))
def test_real_sets(kith, data_set, name, cost):
    S, labels = data_set(name)
    labels = np.array(labels)
    first, second = sorted(set(labels))[:2]
    block = np.flatnonzero((labels == first) | (labels == second))
    check(kith, S[np.ix_(block, block)], np.where(labels[block] == first, 1, -1), cost)


def test_every_pair_of_classes_on_all_columns(kith, data_set):
    S, labels = data_set("protein")
    found = train(kith, S, labels, 1.0)
    labels = np.array(labels)
    assert found["objective"] is None
    assert len(found["subproblems"]) == 6
    for part in found["subproblems"]:
        first, second = part["name"].split(" | ")
        rows = np.flatnonzero((labels == first) | (labels == second))
        y = np.where(labels[rows] == first, 1, -1)
        assert part["objective"] == pytest.approx(with_highs(S[rows], y, 1.0), rel=1e-6)
