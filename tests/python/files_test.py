# SPDX-License-Identifier: Apache-2.0
"""Files, frames and sparse matrices; measures; the store of an evaluation."""
import numpy as np
import pandas
import pytest
import scipy.sparse

import kith


@pytest.mark.parametrize("name", ["s.csv", "s.npy", "s.tsv.gz", "s.mtx"])
def test_what_is_written_reads_back_to_the_same_bits(binary, tmp_path, name):
    kith.write(tmp_path / name, binary.S)
    table = kith.read(tmp_path / name)
    np.testing.assert_array_equal(np.asarray(table), binary.S)
    assert table.name == "s"


def test_a_frame_keeps_its_ids(binary, tmp_path):
    ids = [f"x{i}" for i in range(30)]
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    kith.write(tmp_path / "s.csv", frame)
    pandas.testing.assert_frame_equal(kith.read(tmp_path / "s.csv").to_frame(), frame)


def test_columns_of_frames_are_matched_by_id(binary, tmp_path, program):
    ids = [f"x{i}" for i in range(30)]
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    rows = pandas.DataFrame(binary.rows, columns=ids)
    model = kith.SVM().fit(frame, binary.y)
    expected = model.decision_function(rows)
    np.testing.assert_array_equal(kith.SVM().fit(binary.S, binary.y).decision_function(binary.rows), expected)
    shuffled = rows[ids[::-1]].assign(extra=1.0)
    np.testing.assert_array_equal(model.decision_function(shuffled), expected)
    with pytest.raises(ValueError, match="not among the columns"):
        model.predict(rows[ids[:3]])
    kith.save(model, tmp_path / "m.kith")
    shuffled.to_csv(tmp_path / "rows.csv", index_label="id")
    said = program("predict", "--model", "m.kith", "--similarity", "rows.csv", "--quiet")
    assert [line.split("\t")[1] for line in said.strip().split("\n")[1:]] == model.predict(rows).tolist()


def test_columns_of_a_frame_must_be_those_of_its_rows(binary):
    frame = pandas.DataFrame(binary.S, index=[f"x{i}" for i in range(30)],
                             columns=[f"x{i}" for i in range(30)])
    moved = frame[frame.columns[::-1]]
    expected = kith.SVM().fit(frame, binary.y).decision_function(binary.rows)
    np.testing.assert_array_equal(kith.SVM().fit(moved, binary.y).decision_function(binary.rows), expected)
    with pytest.raises(ValueError, match="x0"):
        kith.SVM().fit(frame.rename(columns={"x0": "y0"}), binary.y)


def test_frames_classes_and_tables_are_matched_by_id(binary, tmp_path):
    ids = [f"x{i}" for i in range(30)]
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    other = frame ** 2 / 12
    moved = np.random.default_rng(2).permutation(30)
    rows = [pandas.DataFrame(binary.rows, columns=ids), pandas.DataFrame(binary.rows ** 2 / 12, columns=ids)]
    expected = kith.MKL().fit([frame, other], binary.y).decision_function(rows)
    again = kith.MKL().fit([frame, other.iloc[moved, ::-1]], pandas.Series(binary.y, index=ids).iloc[moved])
    np.testing.assert_array_equal(again.decision_function(rows), expected)
    plain = {"repeats": 2, "folds": 3, "grids": {"svm-clip": {"cost": [1]}}}
    errors = kith.evaluate(binary.S, binary.y, "svm-clip", **plain).rows[0]["errors"]
    y = pandas.Series(binary.y, index=ids)
    assert kith.evaluate(frame.iloc[:, ::-1], y[::-1], "svm-clip", **plain).rows[0]["errors"] == errors
    kith.write(tmp_path / "moved.csv", frame.iloc[:, moved])
    table = kith.read(tmp_path / "moved.csv")
    assert table.row_ids != table.column_ids
    for given in (table, frame.iloc[:, moved]):
        found, plain = kith.inspect(given, y[::-1]).facts, kith.inspect(frame, binary.y).facts
        own = {"timing": None, "name": None, "source": None}  # tables are named after their files
        assert {**found, **own} == {**plain, **own}
        np.testing.assert_array_equal(kith.SVM().fit(given, y).decision_function(rows[0]),
                                      kith.SVM().fit(frame, binary.y).decision_function(rows[0]))
    # Numbers that only count are no names: such classes are taken in the order in which they come.
    unnamed = pandas.Series(binary.y, index=range(100, 130))
    np.testing.assert_array_equal(kith.SVM().fit(frame, unnamed).predict(rows[0]),
                                  kith.SVM().fit(frame, binary.y).predict(rows[0]))
    for call in (lambda y: kith.SVM().fit(frame, y), lambda y: kith.evaluate(frame, y, "knn"),
                 lambda y: kith.inspect(frame, y), lambda y: kith.SVM().fit(frame, binary.y).score(frame, y)):
        with pytest.raises(ValueError, match="of other samples than X: 'z0' is none of its ids"):
            call(pandas.Series(binary.y, index=[f"z{i}" for i in range(30)]))
    with pytest.raises(ValueError, match="different samples: x0, z0"):
        kith.MKL().fit([frame, other.rename(index={"x0": "z0"}, columns={"x0": "z0"})], binary.y)


def test_what_was_mapped_cannot_be_written_to(binary, tmp_path):
    np.save(tmp_path / "s.npy", binary.S)
    values = kith.read(tmp_path / "s.npy").values
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1
    kith.measure.linear(binary.points)[0, 0] = 1


def test_names_that_are_no_unicode_are_refused(binary):
    with pytest.raises(ValueError, match="no text in Unicode"):
        kith.SVM().fit(binary.S, np.where(binary.y == "ant", "\udc80", "b"))
    with pytest.raises(ValueError, match="must be a dict"):
        kith.SVM(input="zero").fit(binary.S, binary.y)


def test_a_sparse_matrix_is_one_with_unknown_pairs(binary):
    near = np.where(binary.S >= np.sort(binary.S, axis=1)[:, [-8]], binary.S, 0)
    near = scipy.sparse.csr_matrix(np.maximum(near, near.T))
    rows = scipy.sparse.csr_matrix(np.where(binary.rows > 2, binary.rows, 0))
    model = kith.KNN(neighbours=3).fit(near, binary.y)
    assert set(model.predict(rows)) <= {"ant", "bee"}
    with pytest.raises(TypeError, match="sparse"):
        kith.SVM().fit(near, binary.y)


def shuffled(frame, seed):
    order = np.random.default_rng(seed).permutation(frame.shape[1])
    return frame.iloc[:, order]


def test_frames_are_matched_by_id_wherever_they_are_given(binary):
    names = [f"s{i}" for i in range(len(binary.S))]
    news = [f"q{i}" for i in range(len(binary.rows))]
    S = pandas.DataFrame(binary.S, names, names)
    rows = pandas.DataFrame(binary.rows, news, names)
    kernel = kith.Spectrum().fit(binary.S)
    ours = kith.Spectrum().fit(shuffled(S, 1))
    np.testing.assert_array_equal(ours.transform(shuffled(rows, 2)), kernel.transform(binary.rows))
    model = kith.AverageSVM().fit([S, shuffled(S, 3)], binary.y)
    backwards = rows.iloc[::-1]
    np.testing.assert_array_equal(model.decision_function([rows, backwards]), model.decision_function([rows, rows]))
    classes = pandas.Series(model.predict([rows, rows]), news)
    assert model.score([rows, rows], classes.iloc[::-1]) == 1
    with pytest.raises(ValueError, match="different samples"):
        model.predict([rows, backwards.rename(index={"q0": "other"})])
    with pytest.raises(ValueError, match="different samples"):
        kith.SVM().fit(S, pandas.Series(binary.y, names[1:] + ["other"]))


def test_numbers_that_only_count_are_not_guessed_at(binary):
    """Counted samples beside the same numbers in another order: by number or by place, nobody can say."""
    S, rows, y = pandas.DataFrame(binary.S), pandas.DataFrame(binary.rows), pandas.Series(binary.y)
    moved = np.random.default_rng(3).permutation(30)
    plain = kith.SVM().fit(binary.S, binary.y)
    named = kith.SVM().fit(S.iloc[moved, moved], y.iloc[moved])
    np.testing.assert_allclose(named.decision_function(rows.iloc[:, moved]), plain.decision_function(binary.rows), atol=1e-4)
    for call in (lambda: kith.SVM().fit(shuffled(S, 1), binary.y), lambda: kith.SVM().fit(S, binary.y).predict(shuffled(rows, 2)),
                 lambda: plain.predict(shuffled(rows, 2)), lambda: named.predict(rows), lambda: kith.inspect(shuffled(S, 1)),
                 lambda: kith.inspect(S.iloc[moved, moved].reset_index(drop=True)),
                 lambda: kith.SVM().fit(S, y.iloc[moved]), lambda: kith.SVM().fit(S.iloc[moved, moved], y),
                 lambda: kith.evaluate(S, y.iloc[moved], "knn"), lambda: kith.inspect(S, y.iloc[moved]),
                 lambda: plain.score(rows, pandas.Series(binary.truth).iloc[::-1]),
                 lambda: kith.MKL().fit([S, S.iloc[moved, moved]], binary.y),
                 lambda: kith.MKL().fit([S.iloc[moved, moved], S], binary.y),
                 lambda: kith.MKL().fit([binary.S, binary.S], binary.y).predict([rows, rows.iloc[::-1]]),
                 lambda: kith.MKL(measure={"a": "gaussian", "b": "linear"}).fit({"a": S, "b": S.iloc[moved]}, binary.y)):
        with pytest.raises(ValueError, match="the same numbers in another order"):
            call()
    in_order = kith.SVM().fit(binary.S, y.iloc[moved])  # an array has no index: taken as it comes
    np.testing.assert_array_equal(in_order.decision_function(binary.rows),
                                  kith.SVM().fit(binary.S, binary.y[moved]).decision_function(binary.rows))
    later = pandas.RangeIndex(100, 100 + len(S))
    model = kith.SVM().fit(S.set_axis(later, axis=0).set_axis(later, axis=1), binary.y)
    np.testing.assert_array_equal(model.decision_function(shuffled(rows.set_axis(later, axis=1), 2)),
                                  plain.decision_function(binary.rows))


def test_ids_that_are_numbers_may_come_as_floats_and_others_are_refused(binary):
    ids = list(range(1000, 1030))
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    moved = np.random.default_rng(3).permutation(30)
    expected = kith.SVM().fit(binary.S, binary.y).decision_function(binary.rows)
    for index in (ids, [float(one) for one in ids], [str(one) for one in ids]):
        y = pandas.Series(binary.y, index=index).iloc[moved]
        np.testing.assert_array_equal(kith.SVM().fit(frame, y).decision_function(binary.rows), expected)
    for index in (range(2000, 2030), [f"x{i}" for i in ids], [f"00{i}" for i in ids]):
        with pytest.raises(ValueError, match="of other samples than X"):
            kith.SVM().fit(frame, pandas.Series(binary.y, index=index).iloc[moved])


def test_columns_that_only_count_are_taken_in_order(binary):
    names = [f"s{i}" for i in range(30)]
    plain = kith.SVM().fit(binary.S, binary.y).decision_function(binary.rows)
    model = kith.SVM().fit(pandas.DataFrame(binary.S, index=names), binary.y)
    np.testing.assert_array_equal(model.decision_function(pandas.DataFrame(binary.rows)), plain)
    np.testing.assert_array_equal(model.decision_function(pandas.DataFrame(binary.rows, columns=names)[names[::-1]]), plain)
    # Numbers that are ids of training samples say which they are.
    some = [7, 3, 20, 11, 4, 16]
    S, rows = pandas.DataFrame(binary.S), pandas.DataFrame(binary.rows)
    part = kith.SVM().fit(S.iloc[some, some], binary.y[some])
    np.testing.assert_array_equal(part.decision_function(rows), part.decision_function(binary.rows[:, some]))
    with pytest.raises(ValueError, match="expecting 30 features"):
        model.predict(pandas.DataFrame(binary.rows[:, :9]))


def test_a_table_of_listed_pairs_is_predicted_from(binary, tmp_path):
    lines = [f"s{i}\ts{j}\t{value!r}\n" for i, row in enumerate(binary.S.tolist()) for j, value in enumerate(row)]
    (tmp_path / "edges.tsv").write_text("".join(lines))
    table = kith.read(tmp_path / "edges.tsv", format="edges")
    y = dict(zip(table.row_ids, binary.y))
    model = kith.KNN(neighbours=1, ties="file").fit(table, y)
    assert model.score(table, y) == kith.KNN(neighbours=1, ties="file").fit(binary.S, binary.y).score(binary.S, binary.y)
    zero = kith.SVM(input={"missing": "zero"}).fit(table.values, binary.y)
    np.testing.assert_allclose(zero.decision_function(table.values),
                               kith.SVM().fit(binary.S, binary.y).decision_function(binary.S), rtol=1e-9)


def test_rules_of_distances_need_distances(binary):
    for call in (lambda rule: kith.SVM(input=rule).fit(binary.S, binary.y), lambda rule: kith.inspect(binary.S, input=rule),
                 lambda rule: kith.evaluate(binary.S, binary.y, "knn", input=rule)):
        with pytest.raises(ValueError, match="distance=True"):
            call({"from_distance": "negative"})
        with pytest.raises(ValueError, match="'exp'"):
            call({"gamma": 2})
    with pytest.raises(ValueError, match="'exp'"):
        kith.SVM(distance=True, input={"gamma": 2, "from_distance": "double-centre"}).fit(binary.S, binary.y)


def test_classes_that_only_look_like_numbers_stay_texts(binary, tmp_path):
    y = np.where(binary.y == "ant", "\u00b2", "--5")
    kith.save(kith.SVM().fit(binary.S, y), tmp_path / "m.kith")
    assert set(kith.load(tmp_path / "m.kith").classes_) == {"\u00b2", "--5"}
    kith.save(kith.SVM().fit(binary.S, np.where(binary.y == "ant", "1", "2")), tmp_path / "m.kith")
    assert kith.load(tmp_path / "m.kith").classes_.tolist() == [1, 2]
    assert kith.load(tmp_path / "m.kith", numbers=False).classes_.tolist() == ["1", "2"]


def test_errors_of_files_are_os_errors_and_of_content_value_errors(tmp_path):
    with pytest.raises(OSError, match="nothing.csv"):
        kith.read(tmp_path / "nothing.csv")
    (tmp_path / "bad.csv").write_text("1,2\n3,x\n")
    with pytest.raises(ValueError, match=r"bad.csv:2:\d+.*x"):
        kith.read(tmp_path / "bad.csv")
    with pytest.raises(OSError):
        kith.load(tmp_path / "nothing.kith")


def test_measures_are_those_of_the_command_line(tmp_path, program):
    words = ["kitten", "sitting", "bitten", "mitten"]
    (tmp_path / "w.txt").write_text("\n".join(words) + "\n")
    for measure in ("edit", "edit-distance", "spectrum", "compression-distance"):
        program("measure", "--data", "w.txt", "--measure", measure, "--out", "s.npy", "--quiet")
        mine = getattr(kith.measure, measure.replace("-", "_"))(words)
        np.testing.assert_array_equal(mine, np.load(tmp_path / "s.npy"))
    X = np.random.default_rng(1).normal(size=(6, 3))
    np.testing.assert_allclose(kith.measure.gaussian(X, gamma=0.5),
                               np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)), rtol=1e-12)
    np.testing.assert_allclose(kith.measure.linear(X[:2], X), X[:2] @ X.T, rtol=1e-12)
    assert kith.measure.jaccard([{"a", "b"}, {"b", "c"}])[0, 1] == pytest.approx(1 / 3)
    assert kith.measure.dtw([[0, 1, 2], [0, 0, 1, 2]])[0, 1] == 0
    assert kith.measure.smith_waterman(["MKV", "MKI"]).shape == (2, 2)
    with pytest.raises(TypeError, match="no setting 'gama'"):
        kith.measure.gaussian(X, gama=1)
    with pytest.raises(ValueError, match="gamma.*above 0"):
        kith.measure.gaussian(X, gamma=-1)


def test_evaluate_keeps_a_store_that_the_command_line_reads(three, tmp_path, program):
    store = tmp_path / "run.db"
    found = kith.evaluate(three.S, three.y, ["knn", "svm-clip"], repeats=2, folds=3, store=store, name="demo",
                          grids={"svm-clip": {"cost": [0.1, 1]}})
    assert found.table["method"].tolist() == ["knn", "svm-clip"]
    assert "<table>" in found._repr_html_() and "svm-clip" in str(found)
    assert program("report", "--store", "run.db", "--format", "csv") == found.format("csv")
    again = kith.open_store(store)
    assert again.rows == found.rows
    np.save(tmp_path / "demo.npy", three.S)
    (tmp_path / "y.txt").write_text("\n".join(three.y) + "\n")
    theirs = program("evaluate", "--similarity", "demo.npy", "--labels", "y.txt", "--methods", "knn,svm-clip",
                     "--repeats", 2, "--folds", 3, "--grid", "svm-clip:cost=0.1,1", "--json", "--quiet")
    import json
    assert [one["errors"] for one in json.loads(theirs)["methods"]] == [one["errors"] for one in found.rows]


def test_inspect_is_that_of_the_command_line(three, tmp_path, program, html_page):
    import json
    np.save(tmp_path / "s.npy", three.S)
    (tmp_path / "y.txt").write_text("\n".join(three.y) + "\n")
    theirs = json.loads(program("inspect", "--similarity", "s.npy", "--labels", "y.txt", "--json", "--quiet"))
    found = kith.inspect(three.S, three.y)
    for key in ("n", "symmetric", "lambda_min", "lambda_max", "negative_eigenfraction", "classes"):
        assert found[key] == theirs[key] == found.facts[key], key
    assert "similarity" in repr(found) and "negative" in str(found) and "<pre>" in found._repr_html_()
    several = kith.inspect({"one": three.S, "two": three.S ** 2}, three.y)
    assert several["name"] == "one" and "two" in repr(several)
    found.report(tmp_path / "s.html")
    assert (tmp_path / "s.html").read_text().startswith("<!")


def test_evaluate_refuses_another_number_of_labels(three):
    with pytest.raises(ValueError, match="35 labels for 36 samples"):
        kith.evaluate(three.S, three.y[:-1], ["knn"], repeats=1, folds=2)


def test_info_tells_what_a_file_needs(binary, tmp_path):
    kith.save(kith.SVM(cost=10, probability=False).fit(binary.S, binary.y), tmp_path / "m.kith")
    found = kith.info(tmp_path / "m.kith")
    assert found["method"] == "svm" and found["settings"]["cost"] == 10
    assert found["n"] == len(binary.y) and not found["probabilities"]
    assert [one["input"] for one in found["needs"]] == ["similarities"]
