# SPDX-License-Identifier: Apache-2.0
"""`svm` against LIBSVM (through scikit-learn) and cvxopt, at both ends of the cost grid."""

import numpy as np
import pytest

ENDS = (1e-3, 1e5)


def objective(K, y, alpha):
    """[CGR] (1)."""
    signed = y * alpha
    return alpha.sum() - 0.5 * signed @ K @ signed


def with_libsvm(K, y, cost):
    """Objective and decision values of the training samples."""
    svc = pytest.importorskip("sklearn.svm").SVC(kernel="precomputed", C=cost, tol=1e-9,
                                                  cache_size=500, max_iter=20_000_000)
    svc.fit(K, y)
    alpha = np.zeros(len(y))
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    return objective(K, y, alpha), svc.decision_function(K)


def with_cvxopt(K, y, cost):
    """Its variables are a / t, with t the size a coefficient has: an interior point loses its digits in
    a box that is a million times larger than the answer."""
    cvxopt = pytest.importorskip("cvxopt")
    n = len(y)
    t = min(cost, 1 / np.median(np.diag(K)))
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-10, "feastol": 1e-10,
               "maxiters": 200}
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(t * np.outer(y, y) * K), cvxopt.matrix(-np.ones(n)),
        cvxopt.matrix(np.vstack([-np.eye(n), np.eye(n)])),
        cvxopt.matrix(np.concatenate([np.zeros(n), np.full(n, cost / t)])),
        cvxopt.matrix(y.astype(float)[None, :]), cvxopt.matrix(0.0), options=options)
    return objective(K, y, t * np.array(solution["x"]).ravel())


def check(svm, S, K, y, cost, **settings):
    """S is what the program gets, K the kernel it must have made of it."""
    labels = ["a" if sign > 0 else "b" for sign in y]
    found = svm.train(S, labels, cost=cost, tolerance=1e-8, probability="no", **settings)
    expected, decisions = with_libsvm(K, y, cost)
    assert found["objective"] == pytest.approx(expected, rel=1e-6)
    assert found["objective"] == pytest.approx(with_cvxopt(K, y, cost), rel=1e-6)
    _, got = svm.predict(S)
    assert np.abs(got - decisions).max() <= 1e-4 * max(1, np.abs(decisions).max())


def clipped(S):
    values, U = np.linalg.eigh(S)
    return (U * np.maximum(values, 0)) @ U.T


def flipped(S):
    values, U = np.linalg.eigh(S)
    return (U * np.abs(values)) @ U.T


@pytest.mark.parametrize("cost", (*ENDS, 1.0))
@pytest.mark.parametrize("rank", (80, 5))
def test_random_psd(svm, cost, rank):
    rng = np.random.default_rng(rank)
    y = np.where(np.arange(60) % 2 == 0, 1, -1)
    X = rng.normal(size=(60, rank))
    X[:, 0] += 4 * y if rank == 5 else 0.5 * y  # few dimensions: separable, lest C = 1e5 be ill-posed
    K = X @ X.T / rank
    check(svm, K, K, y, cost, spectrum="clip")


@pytest.mark.parametrize("cost", (*ENDS, 1.0))
@pytest.mark.parametrize("spectrum, rule", (("clip", clipped), ("flip", flipped)))
def test_random_indefinite(svm, cost, spectrum, rule):
    rng = np.random.default_rng(7)
    y = np.where(np.arange(50) % 2 == 0, 1, -1)
    S = rng.normal(size=(50, 50)) + 0.3 * np.outer(y, y)
    S = 0.5 * (S + S.T)
    check(svm, S, rule(S), y, cost, spectrum=spectrum)


@pytest.mark.parametrize("cost", ENDS)
@pytest.mark.parametrize("spectrum, rule", (("clip", clipped), ("flip", flipped)))
@pytest.mark.parametrize("name", ("protein", "voting"))
def test_blocks_of_real_sets(svm, data_set, name, spectrum, rule, cost):
    S, labels = data_set(name)
    labels = np.array(labels)
    first, second = sorted(set(labels))[:2]
    block = np.flatnonzero((labels == first) | (labels == second))[::2][:80]
    S = S[np.ix_(block, block)]
    S = 0.5 * (S + S.T)
    y = np.where(labels[block] == first, 1, -1)
    check(svm, S, rule(S), y, cost, spectrum=spectrum)
