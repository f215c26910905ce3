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
    np.testing.assert_array_equal(
        kith.SVM().fit(np.asfortranarray(binary.S), binary.y).decision_function(binary.rows), expected)
    np.testing.assert_allclose(
        kith.SVM().fit(binary.S.astype(np.float32), binary.y).decision_function(binary.rows), expected,
        atol=1e-3)


def test_a_matrix_of_doubles_is_not_copied():
    code = """
import resource, sys, numpy as np, kith
n = 3000
S = np.zeros((n, n), order=sys.argv[1]); S[np.arange(n), np.arange(n)] = 1.0
kith.KNN().fit(np.eye(50), np.arange(50) % 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
kith.KNN(neighbours=1).fit(S, np.arange(n) % 2)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / S.nbytes)
"""

    def copies(order):
        result = subprocess.run([sys.executable, "-c", code, order], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return float(result.stdout)

    assert copies("C") < 0.3
    assert copies("F") > 0.5  # the other order has to be copied: the measure sees it


def test_ctrl_c_ends_a_fit_within_a_second(tmp_path):
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
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(3)
    asked = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - asked < 5  # a second on a free machine
    assert process.wait(timeout=30) == 0


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
            seen.append(desc)

        def update(self, step):
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
    with pytest.raises(RuntimeError, match="no more"):
        _core.evaluate([("s", binary.S, False)], binary.y.tolist(), [], {}, plan, ":memory:", False, options)
