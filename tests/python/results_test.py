# SPDX-License-Identifier: Apache-2.0
"""What comparisons and inspections give back: kept, copied, pickled, shown."""
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas
import pytest

import kith

FEW = {"repeats": 2, "folds": 2}


def test_a_comparison_without_a_store_keeps_its_results_itself(three, tmp_path, monkeypatch, html_page):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kith.evaluate(three.S, three.y, ["knn", "svm-clip"], **FEW)
        assert found.store is None and not list(tmp_path.iterdir())
        text, page = str(found), tmp_path / "page.html"
        copied = pickle.loads(pickle.dumps(found))
        del found
        gc.collect()
        assert str(copied) == text and "svm-clip" in text
        assert len(copied.table) == len(copied.rows) == 2
        copied.report(page)
        assert page.read_text().startswith("<!")
        page.unlink()
    assert not list(tmp_path.iterdir())  # nothing is left behind


def test_a_pickled_comparison_knows_its_store(three, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = kith.evaluate(three.S, three.y, "knn", store="run.db", **FEW)
    assert found.store == "run.db" and "run.db" in repr(found)
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    os.remove(tmp_path / "run.db")
    assert pickle.loads(pickle.dumps(found)).rows == found.rows  # which need no file


def test_what_is_shown_of_a_store_is_all_of_it(three, tmp_path):
    store = tmp_path / "run.db"
    first = kith.evaluate(three.S, three.y, "knn", store=store, name="<one>", **FEW)
    with pytest.raises(ValueError, match="append=True adds another data set"):
        kith.evaluate(three.S ** 2, three.y, "knn", store=store, name="two", **FEW)
    both = kith.evaluate(three.S ** 2, three.y, "knn", store=store, name="two", append=True, **FEW)
    assert [one["data_set"] for one in first.rows] == ["<one>"]
    assert both.table["data_set"].tolist() == ["<one>", "two"]
    assert both.rows == kith.open_store(store).rows
    assert "two" in str(both) and "<one>" in str(both)
    shown = both._repr_html_()
    assert "<td>two</td>" in shown and "<td>&lt;one&gt;</td>" in shown and "<one>" not in shown
    assert both.results["name"] == "two" and len(both.results["methods"]) == 1  # what was asked for


def test_results_name_the_matrices(three, tmp_path):
    matrices = {"first": three.S, "second": three.S ** 2 / 12}
    found = kith.evaluate(matrices, three.y, "average-svm", **FEW)
    assert [one["name"] for one in found.results["matrices"]] == ["first", "second"]
    assert found.results["name"] == found.rows[0]["data_set"] == "first+second"
    for name, S in matrices.items():
        kith.write(tmp_path / f"{name}.csv", S)
    tables = [kith.read(tmp_path / f"{name}.csv") for name in matrices]
    assert kith.evaluate(tables, three.y, "average-svm", **FEW).results["name"] == "first+second"
    assert kith.inspect(tables[1], three.y)["name"] == "second"
    assert set(kith.MKL().fit(tables, three.y == "ant").certificate_["kernel_weights"]) == {"first", "second"}
    assert set(kith.MKL().fit([tables[0], tables[0]], three.y == "ant").certificate_["kernel_weights"]) == {"matrix-1", "matrix-2"}
    measured = kith.evaluate(data=three.points[:36], y=three.y, methods="knn", measure="gaussian", **FEW)
    assert measured.results["matrices"][0]["measure"]["measure"] == "gaussian"
    assert kith.evaluate(-three.S, three.y, "knn", distance=False, **FEW).results["matrices"][0]["kind"] == "similarities"


def test_estimators_are_compared_with_their_settings(three):
    given = kith.evaluate(three.S, three.y, [kith.SVM(cost=10, spectrum="flip"), kith.SVM(), "svm-shift"], **FEW)
    assert [one["method"] for one in given.rows] == ["svm", "svm-2", "svm-shift"]
    chosen = [one["chosen"] for one in given.results["methods"]]
    assert [one["cost"] for one in chosen[0]] == [10, 10] and chosen[0][0]["spectrum"] == "flip"
    assert [one["cost"] for one in chosen[1]] == [1, 1] and chosen[1][0]["spectrum"] == "clip"
    mixed = kith.evaluate(three.S, three.y, [kith.SVM(), "svm", "mine=svm-flip", kith.SVM(cost=2)], **FEW)
    assert [one["method"] for one in mixed.rows] == ["svm-2", "svm", "mine", "svm-3"]
    named = kith.evaluate(three.S, three.y, "svm-flip", settings={"svm-flip": {"cost": 10}}, **FEW)
    assert named.rows[0]["errors"] == given.rows[0]["errors"]
    searched = kith.evaluate(three.S, three.y, kith.SVM(cost=10), grids={"svm": {"cost": [0.1, 0.2]}}, **FEW)
    assert {one["cost"] for one in searched.results["methods"][0]["chosen"]} <= {0.1, 0.2}
    with pytest.raises(ValueError, match="give input to evaluate"):
        kith.evaluate(three.S, three.y, [kith.SVM(input={"scale": "unit"})], **FEW)
    kith.evaluate(three.S, three.y, [kith.SVM(input={"scale": "unit"})], input={"scale": "unit"}, **FEW)


def test_a_star_sets_what_has_the_setting(three):
    found = kith.evaluate(three.S, three.y, ["svm-clip", kith.SVM(cost=10), "knn"], settings={"*": {"cost": 3}},
                          grids={"*": {"neighbours": [1, 2]}}, **FEW)
    chosen = [one["chosen"] for one in found.results["methods"]]
    assert [one["cost"] for one in chosen[0] + chosen[1]] == [3] * 4
    assert {one["neighbours"] for one in chosen[2]} <= {1, 2}
    for settings, grids, message in (({"*": {"cost": 1}, "svm": {"cost": 2}}, None, "cost of svm .* once"),
                                     ({"*": {"cost": 1}}, {"svm": {"cost": [2]}}, "cost of svm .* once"),
                                     ({"*": {"neighbours": 1}}, None, "no method compared has a setting"),
                                     ({"knn": {"neighbours": 1}}, None, "not among the methods compared: svm")):
        with pytest.raises(ValueError, match=message):
            kith.evaluate(three.S, three.y, "svm", settings=settings, grids=grids, **FEW)


@pytest.mark.parametrize("info", [one for one in kith.methods() if one["name"] != "auto" and not one["learns_from_vectors"]], ids=lambda one: one["name"])
def test_every_estimator_can_be_compared(info, three):
    from kith._estimators import CLASSES, class_name
    keep = np.arange(18)
    found = kith.evaluate(three.S[np.ix_(keep, keep)], three.y[keep], CLASSES[class_name(info["name"])](), repeats=1, folds=2)
    assert found.rows[0]["method"] == info["name"] and found.results["failures"] == []


def test_what_failed_or_missed_its_tolerance_is_a_warning(three):
    from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
    wide = kith.SVM(spectrum="diffusion", beta=1e9)
    with pytest.warns(FitFailedWarning, match=r"svm\S* failed on partition 1 and was left out: .*overflow") as caught:
        found = kith.evaluate(three.S, three.y, [wide, "knn"], **FEW)
    assert found.rows[0]["errors"] == [] and len(found.rows[1]["errors"]) == 2
    assert {one.filename for one in caught} == {__file__}
    hasty = kith.RobustSVM(solver="projected-gradient", iterations=1, test_treatment="map")
    with pytest.warns(ConvergenceWarning, match="robust-svm: the solver missed its tolerance: iteration limit") as caught:
        kith.evaluate(three.S, three.y, [hasty], **FEW)
    assert {one.filename for one in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.evaluate(three.S, three.y, ["knn", "svm-clip"], **FEW)


def test_an_inspection_can_be_pickled(three, tmp_path, html_page):
    found = kith.inspect(three.S, three.y)
    copied = pickle.loads(pickle.dumps(found))
    assert copied.facts == found.facts and str(copied) == str(found)
    with pytest.raises(ValueError, match="pickled without its page"):
        copied.report(tmp_path / "s.html")
    found.report(tmp_path / "s.html")
    pickle.loads(pickle.dumps(found)).report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "s.html").read_bytes()


def test_what_is_shown_in_notebooks_is_escaped(three):
    y = np.where(three.y == "ant", "<b>&", three.y)
    assert "&lt;b&gt;&amp;" in kith.inspect(three.S, y)._repr_html_()


def test_a_table_counts_and_cuts_as_its_values_do(three, tmp_path):
    from sklearn.model_selection import cross_val_score
    kith.write(tmp_path / "s.csv", three.S)
    table = kith.read(tmp_path / "s.csv")
    assert len(table) == 36 and table == table and table != kith.read(tmp_path / "s.csv")
    np.testing.assert_array_equal(table[:5], three.S[:5])
    np.testing.assert_array_equal(cross_val_score(kith.SVM(), table, three.y, cv=3),
                                  cross_val_score(kith.SVM(), three.S, three.y, cv=3))


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.edges"])
def test_ids_of_columns_alone_are_written(three, tmp_path, name):
    ids = [f"x{i}" for i in range(4)]
    kith.write(tmp_path / name, pandas.DataFrame(three.S[:4, :4], columns=ids))
    table = kith.read(tmp_path / name)
    assert list(table.column_ids) == ids
    kith.write(tmp_path / name, pandas.DataFrame(three.S[:4, :4], index=ids))
    assert list(kith.read(tmp_path / name).row_ids) == ids
    kith.write(tmp_path / name, pandas.DataFrame(three.S[:4, :4]))
    if name != "s.edges":  # which names every sample
        assert kith.read(tmp_path / name).column_ids == ()


def test_single_precision_is_kept_in_gzip(three, tmp_path):
    single = three.S.astype(np.float32)
    for name in ("s.npy", "s.npy.gz"):
        kith.write(tmp_path / name, single)
        table = kith.read(tmp_path / name)
        assert table.values.dtype == np.float32 and table.format == "npy"
        np.testing.assert_array_equal(table.values, single)
    first = (tmp_path / "s.npy.gz").read_bytes()
    kith.write(tmp_path / "s.npy.gz", single)
    assert (tmp_path / "s.npy.gz").read_bytes() == first
    kith.write(tmp_path / "d.npy.gz", three.S)
    assert kith.read(tmp_path / "d.npy.gz").values.dtype == np.float64


def test_progress_is_lines_where_tqdm_is_not_installed(three):
    code = """
import sys
sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None
import numpy as np, kith
from kith import _progress
_progress.Lines.EVERY = 0.0 if sys.argv[1] == "all" else 1e9
S = np.random.default_rng(0).normal(size=(60, 60))
kith.evaluate(S + S.T, np.arange(60) % 2, ["knn", "svm-clip"], repeats=8, folds=4, verbose=True)
"""
    for how, least in (("all", 1), ("last", 1)):
        ran = subprocess.run([sys.executable, "-c", code, how], capture_output=True, text=True, check=True)
        lines = [line for line in ran.stderr.splitlines() if " of " in line]
        assert len(lines) >= least and all(line.startswith("kith: ") for line in lines), ran.stderr
        words = lines[-1].replace(",", "").split()
        assert words[words.index("of") - 1] == words[words.index("of") + 1]  # the last says all are done
        if how == "last":
            assert len(lines) == 1
    assert subprocess.run([sys.executable, "-c", code.replace("verbose=True", "verbose=False"), "all"],
                          capture_output=True, text=True, check=True).stderr == ""


def test_methods_may_have_names_of_their_own(binary):
    def rows(methods):
        return kith.evaluate(binary.S, binary.y, methods, repeats=2, folds=2).rows

    expected = rows(["mine=svm", "other=svm-clip", "knn"])
    assert [one["method"] for one in expected] == ["mine", "other", "knn"]
    given = {"mine": "svm", "other": "svm-clip", "knn": "knn"}
    assert rows(given) == rows(list(given.items())) == rows([("mine", "svm"), "other=svm-clip", "knn"]) == expected
    own = rows({"first": kith.SVM(cost=10), "second": kith.SVM(cost=0.1)})
    plain = rows([kith.SVM(cost=10), kith.SVM(cost=0.1)])
    assert [one["method"] for one in own] == ["first", "second"]
    assert [one["errors"] for one in own] == [one["errors"] for one in plain]
    for wrong, message in (([], "methods is empty"), ({}, "methods is empty"), ({"a,b": "knn"}, "no name of a method"),
                           ({"": kith.SVM()}, "no name of a method"), ({"a": "knn,svm"}, "no single method"),
                           ([("a", kith.SVM()), ("a", kith.KNN())], "two methods have the name 'a'"),
                           ([("a", "knn"), ("a", "svm-clip")], '"a" stands twice among the methods')):
        with pytest.raises(ValueError, match=message):
            rows(wrong)
    for wrong in ([("a", "b", "c")], {3: kith.SVM()}, {"a": 3}):
        with pytest.raises(TypeError, match="is no method"):
            rows(wrong)


def test_a_seed_of_one_method_alone_is_refused(binary):
    with pytest.raises(ValueError, match="seed=7 of SVM would be for this method alone; .* give seed to evaluate"):
        kith.evaluate(binary.S, binary.y, [kith.SVM(seed=7)], repeats=2, folds=2)
    same = [kith.evaluate(binary.S, binary.y, [kith.SVM(seed=one)], seed=7, repeats=2, folds=2).rows for one in (1, 7)]
    assert same[0] == same[1]


def test_an_inspection_of_raw_samples_is_that_of_the_matrix_they_make():
    words = ["kitten", "mitten", "bitten", "sitting", "fitting", "hitting", "hitting"]
    y = ["a", "a", "a", "b", "b", "b", "a"]
    found = kith.inspect(data=words, y=y, measure="edit")
    expected = kith.inspect(kith.measure.edit(words), y)
    for key in ("n", "classes", "eigenvalues", "loo_1nn_error", "duplicates"):
        assert found[key] == expected[key], key
    assert found["duplicates"]["pairs"][0]["samples"] == ["6", "7"]
    both = kith.inspect(data=words, measure={"one": "edit", "two": "spectrum"})
    assert [one["name"] for one in both.facts["matrices"]] == ["one", "two"]
    with pytest.raises(ValueError, match="compares samples by their classes"):
        kith.inspect(data=[["x", "y"], ["x", "z"]], measure="value-difference")
    for wrong in ({"data": words}, {"X": [[1.0]], "measure": "edit"}, {"X": [[1.0]], "data": words, "measure": "edit"}, {}):
        with pytest.raises(ValueError):
            kith.inspect(**wrong)


def test_explanations_name_samples_that_add_up(binary, three):
    machine = kith.SVM(spectrum="clip").fit(binary.S, binary.y)
    scores = machine.decision_function(binary.rows)
    for one, label, score in zip(machine.explain(binary.rows, k=3), machine.predict(binary.rows), scores):
        assert one["label"] == label and one["by"] == "terms" and len(one["samples"]) == 3
        whole = sum(part["contribution"] for part in one["samples"]) + one["others"] + one["offset"]
        assert whole == pytest.approx(score if label == machine.classes_[1] else -score, abs=1e-9)
    neighbours = kith.KNN(neighbours=3).fit(three.S, three.y)
    for one, row in zip(neighbours.explain(three.rows, 3), three.rows):
        assert sorted(part["sample"] for part in one["samples"]) == sorted(np.argsort(-row)[:3].tolist())
        assert all(part["class"] == three.y[part["sample"]] for part in one["samples"])
        assert one["by"] == "votes" and "offset" not in one


def test_explanations_know_ids_and_refuse_what_cannot_be_told(binary):
    names = [f"s{i}" for i in range(len(binary.y))]
    frame = pandas.DataFrame(binary.S, index=names, columns=names)
    found = kith.Ridge().fit(frame, binary.y).explain(pandas.DataFrame(binary.rows, columns=names), k=2)
    assert all(part["sample"] in names for one in found for part in one["samples"])
    with pytest.raises(ValueError, match="these methods can: knn"):
        kith.SDA().fit(binary.S, binary.y).explain(binary.rows)
    for k in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match="whole number"):
            kith.SVM().fit(binary.S, binary.y).explain(binary.rows, k=k)
