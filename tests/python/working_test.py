# SPDX-License-Identifier: Apache-2.0
"""How the package behaves while it works: memory, threads, signals, progress."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kith
from conftest import Sample


def test_results_do_not_depend_on_threads():
    sample = Sample(n=60, classes=3)
    scores = [kith.SVM(threads=count).fit(sample.S, sample.y).decision_function(sample.rows)
              for count in (1, 2, 7)]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_the_matrix_of_the_caller_is_left_as_it_was(binary):
    before = binary.S.copy()
    kith.SVM(input={"scale": "unit"}).fit(binary.S, binary.y).predict(binary.rows)
    np.testing.assert_array_equal(binary.S, before)


def test_single_precision_and_other_orders_are_the_same_numbers(binary):
    expected = kith.SVM().fit(binary.S, binary.y).decision_function(binary.rows)
    wide = np.empty((60, 90))
    wide[::2, ::-3] = binary.S
    for S in (np.asfortranarray(binary.S), wide[::2, ::-3], binary.S[::-1, ::-1][::-1, ::-1]):
        S.flags.writeable = False
        model = kith.SVM().fit(S, binary.y)
        np.testing.assert_array_equal(model.decision_function(np.asfortranarray(binary.rows)), expected)
    single = kith.SVM().fit(binary.S.astype(np.float32), binary.y)
    same = kith.SVM().fit(binary.S.astype(np.float32).astype(float), binary.y)
    np.testing.assert_array_equal(single.decision_function(binary.rows), same.decision_function(binary.rows))


def test_single_precision_comes_out_where_it_went_in(three, tmp_path):
    S, rows = three.S.astype(np.float32), three.rows.astype(np.float32)
    model = kith.SVM().fit(S, three.y)
    for ask in (model.decision_function, model.predict_proba):
        assert ask(rows).dtype == np.float32 and ask(rows.astype(float)).dtype == np.float64
        np.testing.assert_array_equal(ask(rows), ask(rows.astype(float)).astype(np.float32))
    spectrum = kith.Spectrum("flip")
    kernel = spectrum.fit_transform(S)
    assert kernel.dtype == spectrum.transform(rows).dtype == np.float32
    np.testing.assert_array_equal(kernel, kith.Spectrum("flip").fit_transform(S.astype(float)).astype(np.float32))
    points = three.points.astype(np.float32)
    assert kith.measure.gaussian(points).dtype == np.float32
    np.testing.assert_array_equal(kith.measure.gaussian(points[:2], points),
                                  kith.measure.gaussian(points[:2].astype(float), points).astype(np.float32))
    assert kith.measure.gaussian(points[:2].astype(float), points).dtype == np.float64
    assert kith.measure.dtw(list(points)).dtype == np.float32
    kith.write(tmp_path / "s.npy", S)
    assert np.load(tmp_path / "s.npy").dtype == np.float32
    table = kith.read(tmp_path / "s.npy")
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, S)


#: How much of a 3,000 x 3,000 matrix of doubles a call takes beside what is there, at most at once.
MEMORY = """
import sys, numpy as np, kith
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))
n = 3000
S = np.zeros((n, n), dtype=sys.argv[1], order=sys.argv[2])
S += np.eye(n, dtype=S.dtype)
y = np.arange(n) % 2
small = kith.KNN(neighbours=1).fit(np.eye(50), y[:50])
small.predict(np.eye(50))
model = kith.KNN(neighbours=1).fit(S, y) if sys.argv[3] == "predict" else None
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
kith.KNN(neighbours=1).fit(S, y) if model is None else model.predict(S)
print((status("VmHWM") - before) / (8 * n * n))
"""


def test_a_matrix_of_doubles_is_not_copied_and_others_are_only_to_fit():
    def copies(dtype, order, call):
        result = subprocess.run([sys.executable, "-c", MEMORY, dtype, order, call], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return float(result.stdout)

    assert copies("float64", "C", "fit") < 0.3
    assert copies("float64", "F", "fit") > 0.8  # the other order has to be copied: the measure sees it
    assert 0.8 < copies("float32", "C", "fit") < 1.3
    assert copies("float64", "C", "predict") < 0.3
    assert copies("float32", "C", "predict") < 0.7  # some rows at a time
    assert copies("float64", "F", "predict") < 0.7


def test_many_rows_are_what_few_at_a_time_are(binary):
    rows = np.tile(binary.rows, (300, 1))  # more than are asked for at once
    for model in (kith.KNN(ties="random").fit(binary.S.round(), binary.y), kith.SVM().fit(binary.S, binary.y)):
        some = model.decision_function(rows[:7])
        np.testing.assert_allclose(model.decision_function(rows), np.tile(some, 300), rtol=1e-12)
    scaled = kith.SVM(input={"scale": "cosine"}).fit(binary.S, binary.y)
    own = np.full(2100, 12.0)
    own[1500] = -1.0
    with pytest.raises(ValueError, match='query "1501"'):
        scaled.predict(rows, self_similarity=own)


def test_what_was_learned_does_not_change_with_the_callers_array(binary):
    from estimators_test import CLASSES, METHODS
    for kind in CLASSES:
        vectors = METHODS[kind._method]["learns_from_vectors"]
        X = binary.points[:30].copy() if vectors else binary.S.copy()
        rows = binary.points[30:] if vectors else binary.rows
        model = kind().fit(X, binary.y)
        expected = model.predict(rows)
        scores = model._predict(rows)[1]
        X[:] = 1e6
        np.testing.assert_array_equal(model.predict(rows), expected)
        np.testing.assert_array_equal(model._predict(rows)[1], scores)
    for name in ("none", "clip", "flip", "shift", "square", "diffusion"):
        X = binary.S / 50
        spectrum = kith.Spectrum(name).fit(X)
        expected = spectrum.transform(binary.rows)
        X[:] = 0
        np.testing.assert_array_equal(spectrum.transform(binary.rows), expected)


def interrupted(code, after):
    """A process that runs `code`, which prints "ready", and is sent Ctrl-C so many seconds later."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(after)
    asked = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - asked < 5  # a second on a free machine
    return process


def test_ctrl_c_ends_a_fit_within_a_second():
    code = """
import numpy as np, kith, sys, time
rng = np.random.default_rng(0)
E = rng.normal(size=(1200, 1200)); S = E + E.T
print("ready", flush=True)
try:
    kith.RobustSVM(solver="projected-gradient", test_treatment="map").fit(S, np.arange(1200) % 2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = interrupted(code, 3)
    assert process.wait(timeout=30) == 0


def test_ctrl_c_does_not_wait_for_a_decomposition():
    # One call of LAPACK, which looks at no signal: it is left behind, and the process can go on, fit
    # something else or end.
    code = """
import numpy as np, kith, sys, time
rng = np.random.default_rng(0)
n = 4500
S = rng.normal(size=(n, n)); S += S.T.copy()
print("ready", flush=True)
try:
    kith.Spectrum("clip", blas_threads=1).fit(S)
except KeyboardInterrupt:
    print("interrupted", flush=True)
del S
print(kith.SVM(blas_threads=1).fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4)).tolist(), flush=True)
"""
    process = interrupted(code, 4)  # amid the decomposition, which takes longer than is waited for
    assert process.stdout.readline() == "[0, 1, 0, 1]\n"
    assert process.wait(timeout=10) == 0


def test_other_threads_run_meanwhile():
    sample = Sample(n=400, classes=2)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    kith.RobustSVM(test_treatment="map").fit(sample.S, sample.y)
    ended = time.monotonic()
    stop.set()
    thread.join()
    inside = [t for t in ticks if began < t < ended]
    assert len(inside) > 5 * (ended - began)  # a held lock would leave one or two


def test_fits_in_several_threads_give_what_they_give_alone(binary):
    expected = kith.SVM().fit(binary.S, binary.y).decision_function(binary.rows)
    found = [None] * 6

    def work(i):
        found[i] = kith.SVM(blas_threads=1 + i % 2).fit(binary.S, binary.y).decision_function(binary.rows)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-6)


def test_progress_goes_to_tqdm_where_it_is_installed(binary, capsys, monkeypatch):
    import types
    seen = []

    class Bar:
        n = 0

        def __init__(self, total=None, desc="", file=None):
            assert total is None or type(total) is int
            seen.append(desc)

        def update(self, step):
            assert type(step) is int
            self.n += step

        def set_postfix_str(self, text, refresh=False):
            pass

        def close(self):
            pass

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    kith.evaluate(binary.S, binary.y, ["svm-clip"], repeats=4, folds=3, verbose=True)
    assert seen


def test_what_a_callback_raises_comes_out_after_the_work_has_ended(binary):
    from kith import _core

    def refuse(*_):
        raise RuntimeError("no more")

    options = _core.RunOptions(progress=refuse)
    plan = _core.Plan()
    plan.name, plan.protocol, plan.methods = "s", "tr", ["svm-clip"]
    data = _core.Data()
    data.matrices = [("s", binary.S, False, "")]
    with pytest.raises(RuntimeError, match="no more"):
        _core.evaluate(data, (binary.y.tolist(), []), {}, plan, ":memory:", False, options)
