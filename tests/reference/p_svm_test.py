# SPDX-License-Identifier: Apache-2.0
"""`p-svm` against cvxopt on [TR] (5), at the ends of its grid."""

import numpy as np
import pytest

CORNERS = ((1e-4, 1.0), (1e-4, 1e4), (0.1, 1.0), (1.0, 1e4), (10.0, 1.0))


def objective(S, y, epsilon, a):
    """[TR] (5)."""
    return 0.5 * np.sum((y - S @ a) ** 2) + epsilon * np.abs(a).sum()


def with_cvxopt(S, y, epsilon, cost, intercept):
    """As a program in (r, p, q[, b]) with r = y - S (p - q)[ - b]: nothing is squared but r. Its bounds are cut to
    1e3 where the answer is far below: an interior point loses its digits in a box that large."""
    cvxopt = pytest.importorskip("cvxopt")
    m, n = S.shape
    cost = min(cost, 1e3)
    extra = 1 if intercept else 0
    size = m + 2 * n + extra
    P = cvxopt.spmatrix(1.0, range(m), range(m), (size, size))
    c = np.concatenate([np.zeros(m), np.full(2 * n, epsilon), np.zeros(extra)])
    G = np.zeros((4 * n, size))
    G[:2 * n, m:m + 2 * n] = -np.eye(2 * n)
    G[2 * n:, m:m + 2 * n] = np.eye(2 * n)
    h = np.concatenate([np.zeros(2 * n), np.full(2 * n, cost)])
    A = np.hstack([np.eye(m), S, -S, np.ones((m, extra))])
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-9, "feastol": 1e-10, "maxiters": 200}
    solution = cvxopt.solvers.qp(P, cvxopt.matrix(c), cvxopt.sparse(cvxopt.matrix(G)), cvxopt.matrix(h),
                                 cvxopt.matrix(A), cvxopt.matrix(y.astype(float)), options=options)
    x = np.array(solution["x"]).ravel()
    a = x[m:m + n] - x[m + n:m + 2 * n]
    assert np.abs(a).max() < 0.99e3  # else the cut was felt
    return objective(S, y - (x[-1] if intercept else 0), epsilon, a)


def check(svm, S, y, epsilon, cost, intercept=False):
    labels = ["a" if sign > 0 else "b" for sign in y]
    found = svm.train(S, labels, method="p-svm", epsilon=epsilon, cost=cost, probability="no",
                      intercept="yes" if intercept else "no")
    assert found["status"] == "solved"
    assert found["kkt_residual"] <= 1e-8 and found["gap"] <= 1e-7
    assert found["objective"] == pytest.approx(with_cvxopt(S, y, epsilon, cost, intercept), rel=1e-6)


@pytest.mark.parametrize("epsilon, cost", CORNERS)
@pytest.mark.parametrize("intercept", (False, True))
@pytest.mark.parametrize("rank", (40, 6))
def test_random_asymmetric(svm, rank, intercept, epsilon, cost):
    rng = np.random.default_rng(rank)
    y = np.where(np.arange(40) % 3 == 0, 1, -1)
    S = rng.normal(size=(40, rank)) @ rng.normal(size=(rank, 40)) / np.sqrt(rank) + 0.5 * np.outer(y, y)
    check(svm, S, y, epsilon, cost, intercept)


@pytest.mark.parametrize("epsilon, cost", CORNERS)
@pytest.mark.parametrize("name", ("aural-sonar", "protein", "voting"))
def test_blocks_of_real_sets(svm, data_set, name, epsilon, cost):
    S, labels = data_set(name)
    labels = np.array(labels)
    first, second = sorted(set(labels))[:2]
    block = np.flatnonzero((labels == first) | (labels == second))[::2][:70]
    check(svm, S[np.ix_(block, block)], np.where(labels[block] == first, 1, -1), epsilon, cost)
