# SPDX-License-Identifier: Apache-2.0
"""`mkl` of both kinds against cvxopt: [KTBB] (5) as a quadratically constrained program, (10) as a
second-order cone program, both in the dual variables."""

import json

import numpy as np
import pytest

OPTIONS = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8,
           "maxiters": 200}


def root(K):
    """X with K = X X', eigenvalues of the size of rounding left out."""
    values, U = np.linalg.eigh(K)
    keep = values > 1e-12 * values.max()
    return U[:, keep] * np.sqrt(values[keep])


def clip(S):
    values, U = np.linalg.eigh(0.5 * (S + S.T))
    return (U * np.maximum(values, 0)) @ U.T


def box(y, cost, size):
    """0 <= a <= cost and y'a = 0 among `size` variables of which a are the first."""
    n = len(y)
    G = np.zeros((2 * n, size))
    G[:n, :n], G[n:, :n] = -np.eye(n), np.eye(n)
    A = np.zeros((1, size))
    A[0, :n] = y
    return G, np.concatenate([np.zeros(n), np.full(n, float(cost))]), A


def simple(kernels, y, cost, trace):
    """min over K in the cone of the kernels, tr K = trace, of the machine's value, which is
    max 1'a - t/2 with t >= trace a'Y K_i Y a / tr K_i for every i."""
    cvxopt = pytest.importorskip("cvxopt")
    n = len(y)
    G, h, A = box(y, cost, n + 1)
    blocks, offsets, sizes = [G], [h], []
    for K in kernels:
        X = np.sqrt(trace / np.trace(K)) * y[:, None] * root(K)
        # |X'a|^2 <= t  as  |(2 X'a, t - 1)| <= t + 1
        cone = np.zeros((X.shape[1] + 2, n + 1))
        cone[0, n], cone[1, n] = -1, -1
        cone[2:, :n] = -2 * X.T
        offset = np.zeros(len(cone))
        offset[0], offset[1] = 1, -1
        blocks.append(cone)
        offsets.append(offset)
        sizes.append(len(cone))
    c = np.concatenate([-np.ones(n), [0.5]])
    found = cvxopt.solvers.conelp(
        cvxopt.matrix(c), cvxopt.matrix(np.vstack(blocks)), cvxopt.matrix(np.concatenate(offsets)),
        {"l": 2 * n, "q": sizes, "s": []}, cvxopt.matrix(A), cvxopt.matrix(np.zeros(1)),
        options=OPTIONS)
    return -found["primal objective"]


def mixed(kernels, y, cost):
    """max 1'a - (sum_i s_i)^2 / 2 with s_i >= |X_i'Y a|."""
    cvxopt = pytest.importorskip("cvxopt")
    n, m = len(y), len(kernels)
    G, h, A = box(y, cost, n + m)
    blocks, offsets, sizes = [G], [h], []
    for i, K in enumerate(kernels):
        X = y[:, None] * root(K)
        cone = np.zeros((X.shape[1] + 1, n + m))
        cone[0, n + i] = -1
        cone[1:, :n] = -X.T
        blocks.append(cone)
        offsets.append(np.zeros(len(cone)))
        sizes.append(len(cone))
    P = np.zeros((n + m, n + m))
    P[n:, n:] = 1
    c = np.concatenate([-np.ones(n), np.zeros(m)])
    found = cvxopt.solvers.coneqp(
        cvxopt.matrix(P), cvxopt.matrix(c), cvxopt.matrix(np.vstack(blocks)),
        cvxopt.matrix(np.concatenate(offsets)), {"l": 2 * n, "q": sizes, "s": []}, cvxopt.matrix(A),
        cvxopt.matrix(np.zeros(1)), options=OPTIONS)
    return -found["primal objective"]


def problem(n, seed):
    """A Gaussian kernel, an indefinite similarity and a kernel of rank 3."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 4))
    X[:, 0] += y
    gauss = np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 4)
    noise = rng.normal(size=(n, n))
    low = rng.normal(size=(n, 3))
    low[:, 0] += 0.5 * y
    return [gauss, np.tanh(X @ X.T - 1) + 0.1 * (noise + noise.T), low @ low.T], y


def train(kith, matrices, y, **settings):
    files = []
    for i, S in enumerate(matrices):
        np.save(kith.folder / f"m{i}.npy", np.ascontiguousarray(S))
        files += ["--similarity", f"m{i}=m{i}.npy"]
    kith.write("l.txt", "".join("a\n" if sign > 0 else "b\n" for sign in y))
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    result = kith("train", *files, "--labels", "l.txt", "--method", "mkl", "--set",
                  "probability=no", "--json", "--threads", "1", *flags)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("cost", (0.01, 1, 100))
@pytest.mark.parametrize("n, seed", ((20, 1), (40, 2)))
def test_simple(kith, n, seed, cost):
    matrices, y = problem(n, seed)
    kernels = [clip(S) for S in matrices]
    mean = np.mean([np.trace(K) for K in kernels])
    for trace, flags in ((mean, {}), (3.0, {"trace": 3})):
        found = train(kith, matrices, y, cost=cost, **flags)
        assert found["gap"] <= 1e-8
        assert found["objective"] == pytest.approx(simple(kernels, y, cost, trace), rel=1e-6)
        weights = found["kernel_weights"]
        assert sum(weights[f"m{i}"] * np.trace(K) for i, K in enumerate(kernels)) == \
            pytest.approx(trace, rel=1e-9)


@pytest.mark.parametrize("cost", (0.01, 1, 100))
@pytest.mark.parametrize("n, seed", ((20, 1), (40, 2)))
def test_mixed(kith, n, seed, cost):
    matrices, y = problem(n, seed)
    kernels = [clip(S) for S in matrices]
    found = train(kith, matrices, y, cost=cost, kind="mixed")
    assert found["gap"] <= 1e-8
    assert found["objective"] == pytest.approx(mixed(kernels, y, cost), rel=1e-6)
    scaled = [5 / np.trace(K) * K for K in kernels]
    found = train(kith, matrices, y, cost=cost, kind="mixed", trace=5)
    assert found["objective"] == pytest.approx(mixed(scaled, y, cost), rel=1e-6)


@pytest.mark.parametrize("kind", ("simple", "mixed"))
def test_proteins(kith, shared, kind):
    """Smith-Waterman and Needleman-Wunsch scores of two superfamilies."""
    folder = shared / "scop40-10sf"
    files = [folder / name for name in ("sw_blosum62_11_1.csv", "nw_blosum62_11_1.csv")]
    if not all(path.is_file() for path in files):
        pytest.skip("the score tables are not there")
    labels = np.array((folder / "labels.txt").read_text().split())
    first, second = sorted(set(labels))[:2]
    block = np.concatenate([np.flatnonzero(labels == c)[:20] for c in (first, second)])
    matrices = [np.loadtxt(path, delimiter=",")[np.ix_(block, block)] for path in files]
    y = np.where(labels[block] == first, 1.0, -1.0)
    kernels = [clip(S) for S in matrices]
    found = train(kith, matrices, y, kind=kind)
    assert found["gap"] <= 1e-8
    mean = np.mean([np.trace(K) for K in kernels])
    # in units in which the numbers are of size 1
    unit = mean / len(y)
    small = [K / unit for K in kernels]
    expected = (simple(small, y, unit, mean / unit) if kind == "simple" else
                mixed(small, y, unit)) / unit
    assert found["objective"] == pytest.approx(expected, rel=1e-6)
