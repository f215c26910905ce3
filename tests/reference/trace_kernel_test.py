# SPDX-License-Identifier: Apache-2.0
"""`eskl`, `emkl` and `rekl` against cvxopt: the duals of [KTBB] (4), (6), (7) as cone programs.

With u = Y a, multipliers Z_i of K_i = S_i + X_i, t_i of the traces and g_i of the machine (10),

    max  1'a - sum_i (<Z_i, S_i> + (rho L)*(Z_i)) + tau sum_k t_k
    over 0 <= a <= C, y'a = 0, g >= 0, sum g = 1 and [W_k - t_k I, u; u', 2 g_k] psd,

W_k = Z_k, or for the one kernel of (4) W = sum_i Z_i and g = 1; (rho L)* is |Z|_F^2 / (4 rho) for
l3, and 0 with |Z|_F <= rho for l2 and max|z| <= rho for l1. In (7) Z_i is diagonal in the basis of
S_i. There is no duality gap: multiples of the identity are inside the cone."""

import json

import numpy as np
import pytest

OPTIONS = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8,
           "maxiters": 200}


class Program:
    """max c'x - x'Dx/2 over cones, each an affine function of x given as a Python function."""

    def __init__(self, size):
        self.size = size
        self.blocks = {"l": [], "q": [], "s": []}

    def add(self, cone, function):
        """function(x) in the cone: "l" >= 0, "q" |tail| <= head, "s" a positive semidefinite
        matrix."""
        start = np.asarray(function(np.zeros(self.size)), dtype=float)
        columns = [np.asarray(function(e), dtype=float) - start for e in np.eye(self.size)]
        self.blocks[cone].append((-np.array([c.ravel() for c in columns]).T, start))

    def maximum(self, c, D, equal, values):
        cvxopt = pytest.importorskip("cvxopt")
        ordered = [block for cone in "lqs" for block in self.blocks[cone]]
        dims = {"l": sum(len(h.ravel()) for _, h in self.blocks["l"]),
                "q": [len(h) for _, h in self.blocks["q"]],
                "s": [len(h) for _, h in self.blocks["s"]]}
        found = cvxopt.solvers.coneqp(
            cvxopt.matrix(np.diag(D)), cvxopt.matrix(-c),
            cvxopt.matrix(np.vstack([G for G, _ in ordered])),
            cvxopt.matrix(np.concatenate([h.ravel() for _, h in ordered])), dims,
            cvxopt.matrix(equal), cvxopt.matrix(values), options=OPTIONS)
        return -found["primal objective"]


def optimum(matrices, y, cost, rho, trace, shape, loss):
    """The program above; shape is the name of the method."""
    n, m = len(y), len(matrices)
    spectral = shape == "rekl"
    kernels = 1 if shape == "eskl" else m
    rows, columns = np.tril_indices(n)
    each = n if spectral else len(rows)
    at_z = [slice(n + i * each, n + (i + 1) * each) for i in range(m)]
    at_t = n + m * each
    at_g = at_t + kernels
    size = at_g + kernels

    def symmetric(x, i):
        Z = np.zeros((n, n))
        Z[rows, columns] = Z[columns, rows] = x[at_z[i]]
        return Z

    decompositions = [np.linalg.eigh(S) for S in matrices]
    # squared length of Z in the variables: those off the diagonal stand for two entries
    twice = np.ones(each) if spectral else np.where(rows == columns, 1.0, 2.0)
    c = np.zeros(size)
    c[:n] = 1
    c[at_t:at_g] = trace
    D = np.zeros(size)
    program = Program(size)
    program.add("l", lambda x: np.concatenate([x[:n], cost - x[:n], x[at_g:]]))
    for i, S in enumerate(matrices):
        c[at_z[i]] = -decompositions[i][0] if spectral else -twice * S[rows, columns]
        if loss == "l3":
            D[at_z[i]] = twice / (2 * rho)
        elif loss == "l2":
            program.add("q", lambda x, i=i: np.concatenate([
                [rho], np.sqrt(twice) * x[at_z[i]]]))
        else:
            program.add("l", lambda x, i=i: np.concatenate([rho - x[at_z[i]], rho + x[at_z[i]]]))
    for k in range(kernels):
        if spectral:
            U = decompositions[k][1]
            for j in range(n):
                # p^2 <= 2 g w  as  |(sqrt(2) p, g - w)| <= g + w
                def cone(x, k=k, j=j, U=U):
                    p, g, w = U[:, j] @ (y * x[:n]), x[at_g + k], x[at_z[k]][j] - x[at_t + k]
                    return np.array([g + w, np.sqrt(2) * p, g - w])
                program.add("q", cone)
            continue

        def border(x, k=k):
            W = sum(symmetric(x, i) for i in range(m)) if shape == "eskl" else symmetric(x, k)
            u = y * x[:n]
            return np.block([[W - x[at_t + k] * np.eye(n), u[:, None]],
                             [u[None], 2 * x[at_g + k] * np.ones((1, 1))]])
        program.add("s", border)
    equal = np.zeros((2, size))
    equal[0, :n] = y
    equal[1, at_g:] = 1
    return program.maximum(c, D, equal, np.array([0.0, 1.0]))


def problem(n, m, seed):
    """Noisy Gaussian kernels of points that one class lies off in."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    matrices = []
    for _ in range(m):
        X = rng.normal(size=(n, 3))
        X[:, 0] += y
        noise = rng.normal(size=(n, n))
        S = np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 4) + 0.2 * (noise + noise.T)
        matrices.append(S)
    return matrices, y


def train(kith, matrices, y, method, **settings):
    files = []
    for i, S in enumerate(matrices):
        np.save(kith.folder / f"m{i}.npy", np.ascontiguousarray(S))
        files += ["--similarity", f"m{i}=m{i}.npy"]
    kith.write("l.txt", "".join("a\n" if sign > 0 else "b\n" for sign in y))
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    result = kith("train", *files, "--labels", "l.txt", "--method", method, "--set",
                  "probability=no", "--json", "--threads", "1", *flags)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("cost, rho", ((1, 0.1), (10, 1), (0.1, 0.01)))
@pytest.mark.parametrize("method, loss", (("eskl", "l1"), ("eskl", "l2"), ("eskl", "l3"),
                                          ("emkl", "l1"), ("emkl", "l2"), ("emkl", "l3"),
                                          ("rekl", "l2"), ("rekl", "l3")))
def test_objective(kith, method, loss, cost, rho):
    matrices, y = problem(10, 2, 3)
    trace = np.mean([np.trace(S) for S in matrices])
    found = train(kith, matrices, y, method, cost=cost, rho=rho, loss=loss)
    tolerance = 1e-3 if loss == "l1" else 1e-4 if (method, loss) == ("rekl", "l2") else 1e-6
    assert found["gap"] <= tolerance
    expected = optimum(matrices, y, cost, rho, trace, method, loss)
    assert found["objective"] == pytest.approx(expected, rel=2 * tolerance)


@pytest.mark.parametrize("method", ("eskl", "emkl", "rekl"))
def test_another_trace_and_one_matrix(kith, method):
    matrices, y = problem(12, 1, 5)
    found = train(kith, matrices, y, method, rho=0.2, trace=5, loss="l3")
    assert found["objective"] == pytest.approx(
        optimum(matrices, y, 1, 0.2, 5, method, "l3"), rel=2e-6)
