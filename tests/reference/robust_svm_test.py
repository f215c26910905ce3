# SPDX-License-Identifier: Apache-2.0
"""`robust-svm` and `full-kernel-svm` against cvxopt: their problems as semidefinite programs in the
kernel matrix itself, and [CGR] (8) for a new sample as one more."""

import numpy as np
import pytest

OPTIONS = {"show_progress": False, "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9,
           "maxiters": 200}


def problem(n, seed, noise=0.6):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 3))
    X[:, 0] += y
    S = np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 3)
    E = rng.normal(size=(n, n))
    return S + noise * 0.5 * (E + E.T), y


def triangle(n):
    return [(i, j) for j in range(n) for i in range(j, n)]


def sdp(S, y, cost, weight, squared):
    """min over K psd of max_a 1'a - a'YKYa/2 + weight |K - S|_F (squared or not). The inner maximum
    is its dual: min t/2 + cost 1'xi with q = 1 + nu - xi + b y (nu, xi >= 0) and [YKY q; q' t] psd.
    Variables: K by columns, t, b, nu, xi, and r >= |K - S|_F where it is not squared."""
    cvxopt = pytest.importorskip("cvxopt")
    n = len(y)
    cells = triangle(n)
    m = len(cells)
    at_t, at_b, at_nu, at_xi, at_r = m, m + 1, m + 2, m + 2 + n, m + 2 + 2 * n
    size = m + 2 + 2 * n + (0 if squared else 1)
    c = np.zeros(size)
    c[at_t], c[at_xi:at_xi + n] = 0.5, cost
    double = np.array([1.0 if i == j else 2.0 for i, j in cells])
    target = np.array([S[i, j] for i, j in cells])
    P = np.zeros((size, size))
    linear = np.zeros((2 * n, size))
    linear[:n, at_nu:at_nu + n] = -np.eye(n)
    linear[n:, at_xi:at_xi + n] = -np.eye(n)
    cone = np.zeros((0 if squared else m + 1, size))
    offset = np.zeros(len(cone))
    if squared:
        P[np.arange(m), np.arange(m)] = 2 * weight * double
        c[:m] = -2 * weight * double * target
    else:
        c[at_r] = weight
        cone[0, at_r] = -1
        cone[np.arange(1, m + 1), np.arange(m)] = -np.sqrt(double)
        offset[1:] = -np.sqrt(double) * target
    psd = np.zeros(((n + 1) ** 2, size))

    def put(row, column, variable, value):
        psd[row + column * (n + 1), variable] -= value
        if row != column:
            psd[column + row * (n + 1), variable] -= value

    for k, (i, j) in enumerate(cells):
        put(i, j, k, y[i] * y[j])
    for i in range(n):
        put(n, i, at_nu + i, 1)
        put(n, i, at_xi + i, -1)
        put(n, i, at_b, y[i])
    put(n, n, at_t, 1)
    constant = np.zeros((n + 1, n + 1))
    constant[n, :n] = constant[:n, n] = 1
    G = np.vstack([linear, cone, psd])
    h = np.concatenate([np.zeros(2 * n), offset, constant.ravel()])
    solution = cvxopt.solvers.coneqp(
        cvxopt.matrix(P), cvxopt.matrix(c), cvxopt.matrix(G), cvxopt.matrix(h),
        {"l": 2 * n, "q": [] if squared else [m + 1], "s": [n + 1]}, options=OPTIONS)
    return solution["primal objective"] + (weight * (S ** 2).sum() if squared else 0)


def nearest_border(K, s, psi):
    """[CGR] (8) as printed: the border k of K and its corner."""
    cvxopt = pytest.importorskip("cvxopt")
    n = len(s)
    c = np.zeros(n + 2)
    c[-1] = 1
    cone = np.zeros((n + 2, n + 2))
    cone[0, -1] = -1
    cone[1:n + 1, :n] = -np.sqrt(2) * np.eye(n)
    cone[n + 1, n] = -1
    offset = np.concatenate([[0], -np.sqrt(2) * s, [-psi]])
    psd = np.zeros(((n + 1) ** 2, n + 2))
    for i in range(n):
        psd[n + i * (n + 1), i] = psd[i + n * (n + 1), i] = -1
    psd[-1, n] = -1
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n] = K
    solution = cvxopt.solvers.conelp(
        cvxopt.matrix(c), cvxopt.matrix(np.vstack([cone, psd])),
        cvxopt.matrix(np.concatenate([offset, whole.ravel()])), {"l": 0, "q": [n + 2], "s": [n + 1]},
        options=OPTIONS)
    return np.array(solution["x"]).ravel()[:n]


def names(y):
    return ["a" if sign > 0 else "b" for sign in y]


@pytest.mark.parametrize("cost, rho", ((1, 1), (0.1, 0.1), (10, 0.05), (10, 10)))
def test_robust_objective(svm, cost, rho):
    S, y = problem(10, 3)
    found = svm.train(S, names(y), method="robust-svm", cost=cost, rho=rho, probability="no")
    values = np.linalg.eigvalsh(S)
    offset = rho * (np.minimum(values, 0) ** 2).sum()
    assert found["objective_offset"] == pytest.approx(offset, rel=1e-9)
    expected = sdp(S, y, cost, rho, squared=True) - offset
    assert found["objective"] - offset == pytest.approx(expected, rel=1e-6)
    assert found["gap"] <= 1e-8


@pytest.mark.parametrize("eta, gamma", ((0.1, 0.1), (0.01, 1), (0.3, 0.02), (0.01, 0.02)))
@pytest.mark.parametrize("n", (8, 12))
def test_full_kernel_objective(svm, n, eta, gamma):
    """[CGR] (7), its kernel divided by 2 eta."""
    S, y = problem(n, 4)
    found = svm.train(S, names(y), method="full-kernel-svm", eta=eta, gamma=gamma,
                      probability="no")
    expected = sdp(S / (2 * eta), y, 1 / n, 2 * eta * gamma, squared=False)
    assert found["objective"] == pytest.approx(expected, rel=1e-6)
    offset = gamma * np.linalg.norm(np.minimum(np.linalg.eigvalsh(S), 0))
    assert found["objective_offset"] == pytest.approx(offset, rel=1e-9)


def test_radius(svm):
    """The radius whose multiplier is rho gives the machine of rho."""
    S, y = problem(12, 5)
    robust = svm.train(S, names(y), method="robust-svm", rho=0.5, probability="no",
                       test_treatment="project", tolerance=1e-10)
    _, with_rho = svm.predict(S)
    values, U = np.linalg.eigh(S)
    nearest = np.sqrt((np.minimum(values, 0) ** 2).sum())
    # The distance is the derivative of the optimal value in rho.
    step = 1e-4
    up = svm.train(S, names(y), method="robust-svm", rho=0.5 + step, probability="no",
                   tolerance=1e-10)["objective"]
    radius = np.sqrt((up - robust["objective"]) / step)
    assert radius > nearest
    svm.train(S, names(y), method="robust-svm", radius=radius, probability="no",
              test_treatment="project")
    _, with_radius = svm.predict(S)
    assert np.abs(with_radius - with_rho).max() <= 1e-2 * np.abs(with_rho).max()


@pytest.mark.parametrize("method, settings", (("robust-svm", {"cost": 2, "rho": 0.3}),
                                              ("full-kernel-svm", {"eta": 0.05, "gamma": 0.5})))
def test_new_sample(svm, method, settings):
    """Decision values of new samples from the printed program (8): the machine is read off the
    treatment that leaves rows alone, whose decision values are c's + b."""
    n = 10
    S, y = problem(n, 6)
    np.fill_diagonal(S, 1.5)
    rng = np.random.default_rng(1)
    new = rng.normal(size=(6, n)) * 0.7
    train = {"probability": "no", "tolerance": 1e-10, **settings}
    svm.train(S, names(y), method=method, test_treatment="none", **train)
    _, affine = svm.predict(np.vstack([np.eye(n), np.zeros(n)]))
    b = affine[-1]
    c = affine[:-1] - b
    if method == "robust-svm":
        K = S + np.outer(c, c) / (4 * settings["rho"])
    else:
        # K = (S + nu c c')_+ for the nu that makes c the machine's: 2 eta gamma (K - S)/|K - S| has
        # eta^2 * 2 c c' as its part outside K's null space.
        from scipy.optimize import brentq

        def kernel(nu):
            values, U = np.linalg.eigh(S + nu * np.outer(c, c))
            return (U * np.maximum(values, 0)) @ U.T

        eta, gamma = settings["eta"], settings["gamma"]
        nu = brentq(lambda nu: nu * gamma - eta * np.linalg.norm(kernel(nu) - S), 1e-9, 1e9)
        K = kernel(nu)
    values, U = np.linalg.eigh(K)
    K = (U * np.maximum(values, 0)) @ U.T
    svm.train(S, names(y), method=method, test_treatment="sample", **train)
    _, got = svm.predict(new)
    expected = np.array([nearest_border(K, s, 1.5) @ c + b for s in new])
    assert np.abs(got - expected).max() <= 1e-4 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("name", ("protein", "voting"))
def test_blocks_of_real_sets(svm, data_set, name):
    S, labels = data_set(name)
    labels = np.array(labels)
    first, second = sorted(set(labels))[:2]
    block = np.concatenate([np.flatnonzero(labels == c)[:6] for c in (first, second)])
    S = S[np.ix_(block, block)]
    S = 0.5 * (S + S.T)
    y = np.where(labels[block] == first, 1.0, -1.0)
    found = svm.train(S, names(y), method="robust-svm", probability="no")
    offset = found["objective_offset"]
    expected = sdp(S, y, 1, 1, squared=True)
    assert found["objective"] - offset == pytest.approx(expected - offset, rel=1e-6)
    found = svm.train(S, names(y), method="full-kernel-svm", eta=0.1, gamma=0.1, probability="no")
    expected = sdp(S / 0.2, y, 1 / len(y), 0.02, squared=False)
    assert found["objective"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ("gaussian", "tanh"))
@pytest.mark.parametrize("cost,rho,most", ((1, 1e-3, 25), (1, 1e3, 25), (1e3, 1e-3, 45)))
def test_newton_takes_few_iterations_on_a_thousand_samples(svm, kind, cost, rho, most):
    n = 1000
    S, y = problem(n, 3, noise=0.1)
    if kind == "tanh":
        rng = np.random.default_rng(4)
        X = rng.normal(size=(n, 6)) + 0.6 * y[:, None]
        E = rng.normal(size=(n, n))
        S = np.tanh(X @ X.T / 6) + 0.15 * (E + E.T)
    found = svm.train(S, ["a" if sign > 0 else "b" for sign in y], "robust-svm", cost=cost, rho=rho,
                      probability="no")
    assert found["status"] == "solved"
    assert found["gap"] <= 1e-8
    assert found["iterations"] <= most
