# SPDX-License-Identifier: Apache-2.0
"""[CY] Algorithm 1 carried out again with cvxopt, which solves each restricted master problem (7) as a cone program:
the bounds that `robust-svm` with solver=exchange records must be the same, iteration by iteration."""

import numpy as np
import pytest

ITERATIONS = 5


def positive_part(M):
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def master(kernels, prices, y, cost):
    """max t s.t. t <= 1'a - 1/2 a'YK_iYa + price_i, in (a, t): each constraint is the second-order cone
    |(sqrt(2) L_i a, r - 1)| <= r + 1 with r = 1'a + price_i - t and K_i = L_i'L_i."""
    cvxopt = pytest.importorskip("cvxopt")
    n = len(y)
    G = [np.hstack([np.vstack([-np.eye(n), np.eye(n)]), np.zeros((2 * n, 1))])]
    h = [np.zeros(n), np.full(n, cost)]
    for K, price in zip(kernels, prices):
        values, vectors = np.linalg.eigh(K)
        L = (np.sqrt(np.maximum(values, 0))[:, None] * vectors.T) * y
        row = np.concatenate([np.ones(n), [-1.0]])
        G.append(np.vstack([-row, np.hstack([-np.sqrt(2) * L, np.zeros((n, 1))]), -row]))
        h.append(np.concatenate([[price + 1], np.zeros(n), [price - 1]]))
    options = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8}
    solution = cvxopt.solvers.conelp(
        cvxopt.matrix(np.concatenate([np.zeros(n), [-1.0]])), cvxopt.matrix(np.vstack(G)),
        cvxopt.matrix(np.concatenate(h)), {"l": 2 * n, "q": [n + 2] * len(kernels), "s": []},
        A=cvxopt.matrix(np.concatenate([y, [0.0]])[None, :]), b=cvxopt.matrix(0.0), options=options)
    x = np.array(solution["x"]).ravel()
    return x[n], x[:n]


def algorithm_1(S, y, cost, rho):
    """Lower and upper bounds (11), (13) of the first iterations."""
    def value(a, K):
        u = y * a
        return a.sum() - 0.5 * u @ K @ u + rho * np.sum((K - S) ** 2)

    clipped = positive_part(S)
    _, a = master([clipped], [rho * np.sum((clipped - S) ** 2)], y, cost)
    kernels, lower, bounds = [], -np.inf, []
    for _ in range(ITERATIONS):
        u = y * a
        K = positive_part(S + np.outer(u, u) / (4 * rho))
        lower = max(lower, value(a, K))
        kernels.append(K)
        t, a = master(kernels, [rho * np.sum((K - S) ** 2) for K in kernels], y, cost)
        bounds.append((lower, t))
    return bounds


@pytest.mark.parametrize("solver", ("exchange", "exchange-pruned"))
@pytest.mark.parametrize("n, cost, rho", ((10, 1.0, 1.0), (16, 1.0, 1.0), (16, 10.0, 3.0)))
def test_bounds_by_iteration(svm, n, cost, rho, solver):
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.7 * y[:, None]
    E = rng.normal(size=(n, n))
    S = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1)) + 0.1 * (E + E.T)
    found = svm.train(S, ["a" if sign > 0 else "b" for sign in y], method="robust-svm", cost=cost, rho=rho,
                      solver=solver, test_treatment="project", probability="no")
    assert found["status"] == "solved"
    trace = found["trace"]
    assert [step["iteration"] for step in trace] == list(range(1, len(trace) + 1))
    scale = found["objective"]
    for step, (lower, upper) in zip(trace, algorithm_1(S, y, cost, rho)):
        # cvxopt's own error in a enters every later kernel.
        allowed = 2e-5 * scale + 1e-4 * (upper - lower)
        assert step["upper"] == pytest.approx(upper, abs=allowed)
        assert step["lower"] == pytest.approx(lower, abs=allowed)
    assert trace[-1]["gap"] <= 1e-5
    assert trace[-1]["lower"] == pytest.approx(found["objective"], rel=1e-12)
    if solver == "exchange":
        assert [step["set_size"] for step in trace] == list(range(1, len(trace) + 1))
    else:
        assert all(step["set_size"] <= step["iteration"] for step in trace)
