# SPDX-License-Identifier: Apache-2.0
"""`spectrum-svm` against cvxopt's cone solver on [CGR] (12) as printed, with each centre."""

import numpy as np
import pytest

GRID = [(1e-3, 1e-2), (1e-2, 1e-3), (1e-2, 0.1), (0.1, 1e-2), (1.0, 1e-3), (1e-2, 10.0)]
CENTRES = ("clip", "flip", "both", "similarity")


def with_cvxopt(S, y, eta, gamma, centre):
    """Optimum and decision values of (12), variables z, b, xi, a, u, v (two v for `both`).
    Eigenvalues that are zero to rounding are left out, as kith does."""
    cvxopt = pytest.importorskip("cvxopt")
    lam, U = np.linalg.eigh((S + S.T) / 2)
    keep = np.abs(lam) > len(lam) * np.finfo(float).eps * np.abs(lam).max()
    lam, U = lam[keep], U[:, keep]
    n, r = U.shape
    clip, flip = (lam > 0).astype(float), np.sign(lam)
    norms = {"clip": [(np.ones(r), clip)], "flip": [(np.ones(r), flip)],
             "both": [(np.ones(r), clip), (np.ones(r), flip)],
             "similarity": [(lam, np.ones(r))]}[centre]
    z, b, xi, a, u, v = np.cumsum([0, r, 1, n, r, r])
    size = v + len(norms)
    cost = np.zeros(size)
    cost[xi:a], cost[u:v], cost[v:] = 1 / n, eta, gamma
    rows, right = [], []  # G x + s = h

    def cone(G, h):
        rows.append(G)
        right.append(h)

    margin = np.zeros((n, size))
    margin[:, z:b], margin[:, b], margin[:, xi:a] = y[:, None] * U, y, np.eye(n)
    cone(-margin, -np.ones(n))
    for start, scale in ((xi, np.ones(n)), (a, lam), (u, np.ones(r))):
        block = np.zeros((len(scale), size))
        block[np.arange(len(scale)), start + np.arange(len(scale))] = -scale
        cone(block, np.zeros(len(scale)))
    linear = sum(len(h) for h in right)
    cones = []
    for k, (scale, middle) in enumerate(norms):
        block = np.zeros((r + 1, size))
        block[0, v + k] = -1
        block[1 + np.arange(r), a + np.arange(r)] = -scale
        cone(block, np.concatenate([[0], -scale * middle]))
        cones.append(r + 1)
    for i in range(r):
        block = np.zeros((3, size))
        block[0, a + i], block[0, u + i] = -lam[i], -1
        block[1, z + i] = -2
        block[2, a + i], block[2, u + i] = -lam[i], 1
        cone(block, np.zeros(3))
        cones.append(3)
    G = cvxopt.sparse(cvxopt.matrix(np.vstack(rows)))
    shape = {"l": linear, "q": cones, "s": []}
    result = None
    for accuracy in (1e-10, 1e-9, 1e-8, 1e-7):  # near its limits cvxopt stops with a domain error
        options = {"show_progress": False, "abstol": accuracy, "reltol": accuracy,
                   "feastol": accuracy, "maxiters": 200}
        try:
            result = cvxopt.solvers.conelp(cvxopt.matrix(cost), G,
                                           cvxopt.matrix(np.concatenate(right)), shape,
                                           options=options)
        except (ValueError, ArithmeticError):
            continue
        if result["status"] == "optimal":
            break
    if result is None or result["status"] != "optimal":
        pytest.skip("cvxopt gave up")
    x = np.array(result["x"]).ravel()
    return result["primal objective"], U @ x[z:b] + x[b]


def indefinite(n, seed):
    """Two classes that overlap, and a similarity with a good part of its spectrum negative."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 6)) + 0.6 * y[:, None]
    noise = rng.normal(size=(n, n))
    return np.tanh(X @ X.T / 6) + 0.15 * (noise + noise.T), y


def check(svm, S, y, eta, gamma, centre, value_tolerance=1e-4):
    optimum, decisions = with_cvxopt(S, y, eta, gamma, centre)
    found = svm.train(S, ["a" if sign > 0 else "b" for sign in y], "spectrum-svm", eta=eta,
                      gamma=gamma, centre=centre, probability="no")
    assert found["status"] == "solved"
    assert found["gap"] <= 1e-8
    assert found["consistency"] <= 1e-9
    assert found["objective"] == pytest.approx(optimum, rel=1e-6)
    values = svm.predict(S)[1]
    assert values == pytest.approx(decisions, abs=value_tolerance)
    learned = found["learned"][0]
    assert learned["centre"] == centre
    assert all(x * l >= 0 for x, l in zip(learned["multipliers"], learned["eigenvalues"]))


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("eta,gamma", GRID)
@pytest.mark.parametrize("n", (10, 25, 60))
def test_random_problems(svm, n, eta, gamma, centre):
    check(svm, *indefinite(n, n), eta, gamma, centre)


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("eta,gamma", [(1e-3, 1e-2), (1e-2, 1e-2), (0.1, 0.1)])
@pytest.mark.parametrize("name", ("protein", "voting"))
def test_blocks_of_real_sets(svm, data_set, name, eta, gamma, centre):
    S, labels = data_set(name)
    labels = np.array(labels)
    first, second = sorted(set(labels))[:2]
    block = np.concatenate([np.flatnonzero(labels == first)[:20], np.flatnonzero(labels == second)[:20]])
    S = S[np.ix_(block, block)]
    S = (S - S.min()) / (S.max() - S.min())
    check(svm, S, np.where(labels[block] == first, 1.0, -1.0), eta, gamma, centre)


@pytest.mark.parametrize("centre", ("clip", "flip"))
def test_above_its_threshold_it_is_the_plain_machine(svm, centre):
    S, y = indefinite(40, 4)
    labels = ["a" if sign > 0 else "b" for sign in y]
    eta = 0.01
    low = svm.train(S, labels, "spectrum-svm", eta=eta, gamma=1e-3, centre=centre)
    threshold = low["learned"][0]["plain_from_gamma"]
    assert threshold > 1e-3
    above = svm.train(S, labels, "spectrum-svm", eta=eta, gamma=1.001 * threshold, centre=centre,
                      probability="no")
    values = svm.predict(S)[1]
    plain = svm.train(S, labels, "svm", cost=1 / (2 * eta * len(y)), spectrum=centre,
                      tolerance=1e-10, probability="no")
    assert values == pytest.approx(svm.predict(S)[1], abs=1e-12)
    assert above["objective"] == pytest.approx(2 * eta * plain["objective"], rel=1e-9)


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("name,etas,gammas", (
    ("aural-sonar", (1e-4, 1e-3, 1e-2, 0.1, 1), (1e-3, 1e-2, 0.1, 1, 10, 100, 1000)),
    ("voting", (1e-4, 1e-2), (1e-3, 100, 1000))))
def test_the_grid_is_solved_to_the_tolerance(svm, data_set, name, etas, gammas, centre):
    """gamma h can be 1e7 times the rest, and voting has many eigenvalues near zero."""
    S, labels = data_set(name)
    S = (S - S.min()) / (S.max() - S.min())
    for eta in etas:
        for gamma in gammas:
            found = svm.train(S, labels, "spectrum-svm", eta=eta, gamma=gamma, centre=centre,
                              probability="no")
            assert (found["status"], found["gap"] <= 1e-8) == ("solved", True), (eta, gamma)
