# SPDX-License-Identifier: Apache-2.0
"""`kri` against cvxopt on random indefinite blocks, [TR] (11). All samples but two have a class of
their own, so that the probabilities of a query are its weights."""

import numpy as np
import pytest

SAMPLES = 14
QUERIES = 4


def treated(S, rows, spectrum, treatment):
    """The mended block and the rows as docs/methods/kri.md has them."""
    values, U = np.linalg.eigh(S)
    if spectrum == "shift":
        return S + max(0, -values[0]) * np.eye(len(S)), rows
    multipliers = (values > 0).astype(float) if spectrum == "clip" else np.sign(values)
    if treatment == "linear":
        rows = rows @ (U * multipliers) @ U.T
    return (U * (multipliers * values)) @ U.T, rows


def with_cvxopt(K, k, ridge):
    cvxopt = pytest.importorskip("cvxopt")
    n = len(k)
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-12, "feastol": 1e-12,
               "maxiters": 200}
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(K + ridge * np.eye(n)), cvxopt.matrix(-k), cvxopt.matrix(-np.eye(n)),
        cvxopt.matrix(np.zeros(n)), cvxopt.matrix(np.ones((1, n))), cvxopt.matrix(1.0),
        options=options)
    return np.array(solution["x"]).ravel()


def class_weights(kith, S, rows, together, **settings):
    """The weights of the classes when the samples `together` share one and every other has its own."""
    np.save(kith.folder / "s.npy", S)
    np.save(kith.folder / "q.npy", rows)
    names = [f"c{together[0] if i in together else i:02}" for i in range(len(S))]
    kith.write("l.txt", "".join(f"{name}\n" for name in names))
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    kith.json("train", "--similarity", "s.npy", "--labels", "l.txt", "--method", "kri", "--model",
              "m.kith", "--set", f"neighbours={len(S)}", *flags)
    result = kith("predict", "--model", "m.kith", "--similarity", "q.npy")
    assert result.returncode == 0, result.stderr
    header, *lines = [line.split("\t") for line in result.stdout.splitlines()]
    columns = [header.index(f"probability:{name}") for name in names]
    return np.array([[float(line[c]) for c in columns] for line in lines])


def weights(kith, S, rows, **settings):
    """Weights depend on no label: two models, in which other pairs share a class, show all of them."""
    first = class_weights(kith, S, rows, (0, 1), **settings)
    last = class_weights(kith, S, rows, (len(S) - 2, len(S) - 1), **settings)
    np.testing.assert_allclose(first[:, 2:-2], last[:, 2:-2], rtol=0, atol=1e-14)
    np.testing.assert_allclose(first[:, 0], last[:, 0] + last[:, 1], rtol=0, atol=1e-12)
    return np.hstack([last[:, :2], first[:, 2:]])


@pytest.mark.parametrize("ridge", (1e-2, 1.0, 100.0))
@pytest.mark.parametrize("treatment", ("linear", "none"))
@pytest.mark.parametrize("spectrum", ("clip", "flip", "shift"))
def test_weights_are_the_minimum(kith, spectrum, treatment, ridge):
    rng = np.random.default_rng(5)
    S = rng.normal(size=(SAMPLES, SAMPLES))
    S = 0.5 * (S + S.T)
    rows = rng.normal(size=(QUERIES, SAMPLES))
    found = weights(kith, S, rows, spectrum=spectrum, ridge=ridge, **{"test-treatment": treatment})
    K, treated_rows = treated(S, rows, spectrum, treatment)

    def objective(w, k):
        return 0.5 * w @ K @ w - k @ w + 0.5 * ridge * w @ w

    for w, k in zip(found, treated_rows):
        expected = with_cvxopt(K, k, ridge)
        assert objective(w, k) <= objective(expected, k) + 1e-9
        assert np.abs(w - expected).max() <= 1e-5
