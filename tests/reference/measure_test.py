# SPDX-License-Identifier: Apache-2.0
"""`kith measure` against independent programs: scikit-learn, SciPy, zstd itself, plain Python, and the shared
matrices that other programs computed."""

import ctypes
import ctypes.util
import gzip
import itertools
import struct

import numpy as np
import pytest


class Measured:
    """Runs `kith measure` and returns the matrix; npy keeps every bit."""

    def __init__(self, kith):
        self.kith = kith

    def __call__(self, data, name, *flags, against=None):
        more = ["--against", against] if against else []
        result = self.kith("measure", "--data", data, "--measure", name, "--out", "m.npy", *more, *flags)
        assert result.returncode == 0, result.stderr
        return np.load(self.kith.folder / "m.npy")


@pytest.fixture
def measured(kith):
    return Measured(kith)


# --- vectors -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, flags, pairwise, settings", [
    ("linear", [], "linear_kernel", {}),
    ("polynomial", [], "polynomial_kernel", {"degree": 3, "coef0": 1}),
    ("polynomial", ["--degree", 2, "--coef0", -0.5, "--gamma", 0.25], "polynomial_kernel",
     {"degree": 2, "coef0": -0.5, "gamma": 0.25}),
    ("sigmoid", [], "sigmoid_kernel", {"coef0": 1}),
    ("sigmoid", ["--gamma", 0.1, "--coef0", -1], "sigmoid_kernel", {"gamma": 0.1, "coef0": -1}),
    ("laplacian", [], "laplacian_kernel", {}),
    ("laplacian", ["--gamma", 0.7], "laplacian_kernel", {"gamma": 0.7}),
    ("gaussian", [], "rbf_kernel", {}),
    ("cosine", [], "cosine_similarity", {}),
    ("euclidean", [], "euclidean", {}),
    ("manhattan", [], "cityblock", {}),
])
def test_vectors(kith, measured, name, flags, pairwise, settings):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(90, 13)), rng.normal(size=(70, 13))
    np.save(kith.folder / "x.npy", X)
    np.save(kith.folder / "z.npy", Z)
    if pairwise in ("euclidean", "cityblock"):
        distance = pytest.importorskip("scipy.spatial.distance")
        def expected(A, B): return distance.cdist(A, B, pairwise)
    else:
        kernels = pytest.importorskip("sklearn.metrics.pairwise")
        def expected(A, B): return getattr(kernels, pairwise)(A, B, **settings)
    np.testing.assert_allclose(measured("x.npy", name, *flags), expected(X, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(measured("z.npy", name, *flags, against="x.npy"), expected(Z, X),
                               rtol=1e-12, atol=1e-12)


def test_idx_images(shared, kith, measured):
    path = shared / "mnist-t10k/t10k-images-idx3-ubyte.gz"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    raw = gzip.open(path).read()
    count, rows, columns = struct.unpack(">III", raw[4:16])
    images = np.frombuffer(raw, np.uint8, offset=16).reshape(count, rows * columns)[:60].astype(float)
    few = raw[:4] + struct.pack(">III", 60, rows, columns) + raw[16:16 + 60 * rows * columns]
    kith.write("few.gz", gzip.compress(few))
    np.testing.assert_array_equal(measured("few.gz", "linear"), images @ images.T)


# --- strings -------------------------------------------------------------------------------------------

def random_strings(count, letters="abcd", longest=60, seed=2):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), 1 + rng.integers(longest))) for _ in range(count)]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


def test_edit_distance_and_similarity(kith, measured):
    texts = random_strings(25, "ab\u00e5\u4e00")
    kith.write("x.txt", "\n".join(texts))
    expected = np.array([[edit_distance(a, b) for b in texts] for a in texts])
    np.testing.assert_array_equal(measured("x.txt", "edit-distance"), expected)
    longer = np.array([[max(len(a), len(b)) for b in texts] for a in texts])
    np.testing.assert_allclose(measured("x.txt", "edit"), 1 - expected / longer, rtol=0, atol=1e-15)


@pytest.mark.parametrize("k", (1, 3))
def test_spectrum_with_scikit_learn(kith, measured, k):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    texts = random_strings(30)
    kith.write("x.txt", "\n".join(texts))
    counts = text.CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False).fit_transform(texts)
    expected = (counts @ counts.T).toarray()
    np.testing.assert_array_equal(measured("x.txt", "spectrum", "--kmer", k), expected)


@pytest.mark.parametrize("level", (3, 19))
def test_compression_with_zstd_itself(kith, measured, level):
    library = ctypes.util.find_library("zstd")
    if library is None:
        pytest.skip("libzstd is absent")
    zstd = ctypes.CDLL(library)
    for name in ("ZSTD_compress", "ZSTD_compressBound"):
        getattr(zstd, name).restype = ctypes.c_size_t

    def length(data):
        bound = zstd.ZSTD_compressBound(ctypes.c_size_t(len(data)))
        out = ctypes.create_string_buffer(bound)
        return zstd.ZSTD_compress(out, ctypes.c_size_t(bound), data, ctypes.c_size_t(len(data)), level)

    texts = random_strings(12, longest=600)
    kith.write("x.txt", "\n".join(texts))
    found = measured("x.txt", "compression-distance", "--level", level)
    for (i, a), (j, b) in itertools.product(enumerate(t.encode() for t in texts), repeat=2):
        x, y = length(a), length(b)
        assert found[i, j] == pytest.approx((min(length(a + b), length(b + a)) - min(x, y)) / max(x, y), abs=1e-15)


# --- sequences -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, flags, file", [
    ("smith-waterman", [], "sw_blosum62_11_1.csv"),
    ("sw", ["--matrix", "blosum45"], "sw_blosum45_14_2.csv"),
    ("needleman-wunsch", ["--gap-open", 11, "--gap-extend", 1], "nw_blosum62_11_1.csv"),
    ("smith-waterman", ["--score", "p-value"], "similarity.csv"),
])
def test_alignments_equal_the_shared_scores(shared, measured, name, flags, file):
    folder = shared / "scop40-10sf"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    found = measured(folder / "sequences.fasta", name, *flags)
    expected = np.loadtxt(folder / file, delimiter=",")
    # The last is stored with six decimals.
    np.testing.assert_allclose(found, expected, rtol=0, atol=5.01e-7 if file == "similarity.csv" else 0)


def test_normalised_alignments(shared, measured):
    folder = shared / "scop40-10sf"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    S = np.loadtxt(folder / "sw_blosum62_11_1.csv", delimiter=",")
    found = measured(folder / "sequences.fasta", "sw", "--score", "normalised")
    np.testing.assert_allclose(found, S / np.sqrt(np.outer(S.diagonal(), S.diagonal())), rtol=1e-14)


def local_score(a, b, match, mismatch, gap_open, gap_extend):
    never = -10**9
    H = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    E = [[never] * (len(b) + 1) for _ in range(len(a) + 1)]
    F = [[never] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            E[i][j] = max(E[i][j - 1], H[i][j - 1] - gap_open) - gap_extend
            F[i][j] = max(F[i - 1][j], H[i - 1][j] - gap_open) - gap_extend
            H[i][j] = max(0, H[i - 1][j - 1] + (match if x == y else mismatch), E[i][j], F[i][j])
    return max(map(max, H))


def test_dna(kith, measured):
    texts = random_strings(15, "ACGT")
    kith.write("x.fasta", "".join(f">s{i}\n{t.lower()}\n" for i, t in enumerate(texts)))
    found = measured("x.fasta", "sw", "--matrix", "dnafull", "--gap-open", 6, "--gap-extend", 2)
    expected = [[local_score(a, b, 5, -4, 6, 2) for b in texts] for a in texts]
    np.testing.assert_array_equal(found, expected)


# --- series --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ("beef", "coffee", "ecg200", "gunpoint", "plane"))
def test_dtw_equals_the_shared_distances(shared, measured, name):
    folder = shared / f"ucr-{name}"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    expected = np.loadtxt(folder / "dtw_distance.csv", delimiter=",")  # seven digits
    np.testing.assert_allclose(measured(folder / "series.csv", "dtw"), expected, rtol=5.01e-7, atol=0)


def test_dtw_of_synthetic_control(shared, measured):
    """No matrix is stored for it, but what its double-centred similarities look like."""
    folder = shared / "ucr-syntheticcontrol"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    D = measured(folder / "series.csv", "dtw")
    J = np.eye(len(D)) - 1 / len(D)
    values = np.linalg.eigvalsh(-0.5 * J @ (D * D) @ J)
    assert values[0] == pytest.approx(-1107.3393, rel=1e-6)
    assert values[-1] == pytest.approx(11443.947, rel=1e-6)


def test_dtw_with_a_band_and_unequal_lengths(kith, measured):
    rng = np.random.default_rng(3)
    series = [rng.normal(size=1 + rng.integers(25)) for _ in range(20)]
    kith.write("x.csv", "".join(",".join(map(repr, map(float, s))) + "\n" for s in series))
    found = measured("x.csv", "dtw", "--band", 3)
    for (i, a), (j, b) in itertools.product(enumerate(series), repeat=2):
        w = max(3, abs(len(a) - len(b)))
        D = np.full((len(a) + 1, len(b) + 1), np.inf)
        D[0, 0] = 0
        for p, q in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
            if abs(p - q) <= w:
                D[p, q] = (a[p - 1] - b[q - 1]) ** 2 + min(D[p - 1, q], D[p, q - 1], D[p - 1, q - 1])
        assert found[i, j] == pytest.approx(np.sqrt(D[-1, -1]), rel=1e-14)


# --- sets and categories -------------------------------------------------------------------------------

def test_sets(kith, measured):
    rng = np.random.default_rng(4)
    sets = [set(rng.choice(30, rng.integers(12), replace=False)) for _ in range(40)]
    kith.write("x.tsv", "".join(f"s{i}\t{' '.join(f'w{e}' for e in s)}\n" for i, s in enumerate(sets)))
    jaccard = [[len(a & b) / len(a | b) if a | b else 1 for b in sets] for a in sets]
    np.testing.assert_allclose(measured("x.tsv", "jaccard"), jaccard, rtol=1e-15)

    def ratio(a, b):
        whole = len(a & b) + 0.8 * len(a - b) + 0.1 * len(b - a)
        return len(a & b) / whole if whole else 1
    np.testing.assert_allclose(measured("x.tsv", "tversky-ratio", "--alpha", 0.8, "--beta", 0.1),
                               [[ratio(a, b) for b in sets] for a in sets], rtol=1e-14)
    contrast = [[2 * len(a & b) - 0.8 * len(a - b) - 0.1 * len(b - a) for b in sets] for a in sets]
    np.testing.assert_allclose(
        measured("x.tsv", "tversky-contrast", "--alpha", 0.8, "--beta", 0.1, "--theta", 2), contrast, atol=1e-13)


def value_difference(rows, training, labels, q):
    classes = sorted(set(labels))

    def given(column, value):
        of = [label for row, label in zip(training, labels) if row[column] == value]
        return np.array([of.count(c) / len(of) if of else 0 for c in classes])
    P = [{v: given(a, v) for v in {r[a] for r in [*rows, *training]}} for a in range(len(training[0]))]
    return [[sum((np.abs(P[a][x[a]] - P[a][z[a]]) ** q).sum() for a in range(len(x))) for z in training]
            for x in rows]


@pytest.mark.parametrize("q", (1, 2, 1.5))
def test_value_difference(kith, measured, q):
    rng = np.random.default_rng(5)
    table = rng.choice(["a", "b", "?", "long word"], size=(40, 4)).tolist()
    new = rng.choice(["a", "b", "unseen"], size=(9, 4)).tolist()
    labels = rng.choice(["x", "y", "z"], size=40).tolist()
    for name, rows in (("x.csv", table), ("new.csv", new)):
        kith.write(name, "".join(",".join(row) + "\n" for row in rows))
    kith.write("l.txt", "".join(f"{label}\n" for label in labels))
    flags = ["--labels", "l.txt", "--exponent", q]
    np.testing.assert_allclose(measured("x.csv", "value-difference", *flags),
                               value_difference(table, table, labels, q), atol=1e-13)
    np.testing.assert_allclose(measured("new.csv", "value-difference", *flags, against="x.csv"),
                               value_difference(new, table, labels, q), atol=1e-13)


def test_value_difference_of_votes(shared, measured):
    """[TR]'s voting matrix was made of such distances in a way that is not printed."""
    if not (shared / "house-votes-84").is_dir() or not (shared / "voting").is_dir():
        pytest.skip(f"{shared / 'voting'} is absent")
    votes = shared / "house-votes-84"
    D = measured(votes / "features.csv", "value-difference", "--labels", votes / "labels.txt")
    S = np.loadtxt(shared / "voting/similarity.csv", delimiter=",")
    off = ~np.eye(len(S), dtype=bool)
    assert np.corrcoef(D[off], S[off])[0, 1] < -0.995
