# SPDX-License-Identifier: Apache-2.0
"""`linear-msvm` under its convex solver and `rkl` against cvxopt, `vector-svm` against scikit-learn."""

import numpy as np
import pytest

OPTIONS = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10,
           "maxiters": 200}


def margin_radius(X, y, cost):
    """min 1/2 t^2 + cost sum xi^2 with |v'x| <= t and y (v'x + b) >= 1 - xi, x centred."""
    cvxopt = pytest.importorskip("cvxopt")
    X = X - X.mean(0)
    n, features = X.shape
    size = features + 2 + n
    P = np.zeros((size, size))
    P[features + 1, features + 1] = 1
    P[features + 2:, features + 2:] = 2 * cost * np.eye(n)
    G, h = np.zeros((3 * n, size)), np.zeros(3 * n)
    G[:n, :features], G[n:2 * n, :features] = X, -X
    G[:2 * n, features + 1] = -1
    G[2 * n:, :features], G[2 * n:, features] = -y[:, None] * X, -y
    G[2 * n:, features + 2:] = -np.eye(n)
    h[2 * n:] = -1
    found = cvxopt.solvers.qp(*map(cvxopt.matrix, (P, np.zeros(size), G, h)), options=OPTIONS)
    return found["primal objective"]


def problem(n, features, seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, features)) * np.linspace(0.5, 4, features)
    X[:, 0] += y
    return X, y


def train(kith, X, y, method, **settings):
    np.save(kith.folder / "x.npy", np.ascontiguousarray(X))
    kith.write("l.txt", "".join("a\n" if sign > 0 else "b\n" for sign in y))
    flags = [flag for key, value in settings.items()
             for flag in ("--set", f"{key.replace('_', '-')}={value}")]
    return kith.json("train", "--data", "x.npy", "--labels", "l.txt", "--method", method, "--set",
                     "probability=no", "--model", "m.kith", "--threads", "1", *flags)


def scores(kith, X):
    np.save(kith.folder / "q.npy", np.ascontiguousarray(X))
    result = kith("predict", "--model", "m.kith", "--data", "q.npy")
    assert result.returncode == 0, result.stderr
    return np.array([float(line.split("\t")[2]) for line in result.stdout.splitlines()[1:]])


@pytest.mark.parametrize("cost", [0.01, 1, 100])
@pytest.mark.parametrize("features", [3, 20])
def test_convex_value_is_that_of_cvxopt(kith, cost, features):
    X, y = problem(60, features, 1)
    expected = margin_radius(X, y, cost)
    for scaling in ("none", "standard"):  # no invertible map of the features changes the value
        found = train(kith, X, y, "linear-msvm", solver="convex", cost=cost, scaling=scaling)
        assert found["status"] == "solved" and found["gap"] <= 1e-8
        assert abs(found["objective"] - expected) <= 1e-6 * expected


@pytest.mark.parametrize("name", ["wdbc", "liver-bupa"])
def test_descent_is_above_the_convex_value(kith, shared, name):
    X = np.loadtxt(shared / name / "features.csv", delimiter=",", ndmin=2)
    labels = (shared / name / "labels.txt").read_text().split()
    y = np.where(np.array(labels) == sorted(set(labels))[0], 1.0, -1.0)
    expected = margin_radius((X - X.mean(0)) / X.std(0), y, 1)
    convex = train(kith, X, y, "linear-msvm", solver="convex")
    assert abs(convex["objective"] - expected) <= 1e-6 * expected
    descent = train(kith, X, y, "linear-msvm")
    assert descent["objective"] >= expected * (1 - 1e-8)
    assert abs(descent["objective"] * (1 - descent["gap"]) - expected) <= 1e-6 * expected
    values = [step["upper"] for step in descent["trace"]]
    assert all(later <= earlier for earlier, later in zip(values, values[1:]))


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_vector_svm_is_that_of_scikit_learn(kith, loss):
    svm = pytest.importorskip("sklearn.svm")
    X, y = problem(80, 5, 2)
    X = (X - X.mean(0)) / X.std(0)
    if loss == "hinge":
        machine = svm.SVC(C=2, kernel="rbf", gamma=0.3, tol=1e-9).fit(X, y)
        train(kith, X, y, "vector-svm", kernel="rbf", gamma=0.3, cost=2, tolerance=1e-9,
              scaling="none")
    else:  # K + I / (2 C) without a bound on the coefficients
        K = X @ X.T + np.eye(80) / 4
        machine = svm.SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(K, y)
        train(kith, X, y, "vector-svm", loss="squared", cost=2, tolerance=1e-10, scaling="none")
        expected = (X @ X.T)[:, machine.support_] @ machine.dual_coef_[0] + machine.intercept_[0]
        assert np.allclose(scores(kith, X), expected, atol=1e-4)
        return
    assert np.allclose(scores(kith, X), machine.decision_function(X), atol=1e-4)


def root(K):
    values, U = np.linalg.eigh(K)
    keep = values > 1e-12 * values.max()
    return U[:, keep] * np.sqrt(values[keep])


def base_kernels(X):
    """The twelve of [ZGZZ] IV.A, in units of equal trace."""
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    kernels = [np.exp(-10.0 ** k * D) for k in range(-3, 4)] + [(1 + X @ X.T) ** r
                                                                for r in range(1, 6)]
    return [K * len(K) / np.trace(K) for K in kernels]


def radius_kernels(kernels, y, cost):
    """The ratio of margin and radius does not change with the scale of theta, so that it may be
    bound by R^2 <= 1, which is convex: with rows x of roots X_m of the kernels

      min 1/2 sum t + cost sum xi   over theta, s, t, v, w, b, xi,
      y (sum x'w_m + b) >= 1 - xi,  sum theta_m x'x - 2 x'v_m + s_m <= 1 for every sample,
      |v_m|^2 <= s_m theta_m,       |w_m|^2 <= t_m theta_m."""
    cvxopt = pytest.importorskip("cvxopt")
    n, count = len(y), len(kernels)
    roots = [root(K) for K in kernels]
    ends = np.concatenate([[0], np.cumsum([X.shape[1] for X in roots])])
    s, t, v = count, 2 * count, 3 * count
    w = v + ends[-1]
    b = w + ends[-1]
    size = b + 1 + n
    c = np.zeros(size)
    c[t:v], c[b + 1:] = 0.5, cost
    G, h = np.zeros((3 * n, size)), np.zeros(3 * n)
    G[:n, s:t], h[:n] = 1, 1
    G[n:2 * n, b], h[n:2 * n] = -y, -1
    G[n:2 * n, b + 1:] = G[2 * n:, b + 1:] = -np.eye(n)
    for m, X in enumerate(roots):
        G[:n, m] = (X ** 2).sum(1)
        G[:n, v + ends[m]:v + ends[m + 1]] = -2 * X
        G[n:2 * n, w + ends[m]:w + ends[m + 1]] = -y[:, None] * X
    blocks, sizes = [G], []
    for m, X in enumerate(roots):
        for bound, first in ((s, v), (t, w)):  # |z|^2 <= a theta  as  |(2 z, a - theta)| <= a + theta
            cone = np.zeros((X.shape[1] + 2, size))
            cone[0, bound + m], cone[0, m] = -1, -1
            cone[1, bound + m], cone[1, m] = -1, 1
            cone[2:, first + ends[m]:first + ends[m + 1]] = -2 * np.eye(X.shape[1])
            blocks.append(cone)
            sizes.append(len(cone))
    h = np.concatenate([h, np.zeros(sum(sizes))])
    found = cvxopt.solvers.conelp(*map(cvxopt.matrix, (c, np.vstack(blocks), h)),
                                  {"l": 3 * n, "q": sizes, "s": []},
                                  options={**OPTIONS, "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9})
    return found["primal objective"]


@pytest.mark.parametrize("cost", [0.1, 1])
def test_rkl_reaches_the_optimum_of_the_convex_form(kith, cost):
    X, y = problem(24, 3, 1)
    expected = radius_kernels(base_kernels((X - X.mean(0)) / X.std(0)), y, cost)
    found = train(kith, X, y, "rkl", cost=cost, tolerance=1e-9)
    assert found["objective"] >= expected * (1 - 1e-7)
    assert found["objective"] <= expected * (1 + 1e-4)
