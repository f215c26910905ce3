# SPDX-License-Identifier: Apache-2.0
"""Labels that go to the right samples or nowhere, and numbers that look like something else."""
import json
import random
import warnings

import numpy as np
import pandas
import pytest

import kith


@pytest.fixture
def pairs(tmp_path):
    """An edge list of twelve samples in two classes in random order, and the class of each."""
    ids = [f"p{i:02}" for i in range(12)]
    of = {one: "ant" if one < "p06" else "bee" for one in ids}
    lines = [f"{a} {b} {9 if a == b else 5 if of[a] == of[b] else 1}\n" for a in ids for b in ids]
    random.Random(3).shuffle(lines)
    (tmp_path / "s.edges").write_text("".join(lines))
    table = kith.read(tmp_path / "s.edges")
    assert list(table.row_ids) != ids
    return table, of


def _calls(table):
    return (lambda y: kith.KNN(neighbours=3).fit(table, y), lambda y: kith.inspect(table, y),
            lambda y: kith.evaluate(table, y, "knn", repeats=2, folds=2))


def test_a_table_of_pairs_refuses_classes_in_an_order_it_does_not_have(pairs):
    table, of = pairs
    for call in _calls(table):
        for y in (list(of.values()), np.array(list(of.values())), pandas.Series(list(of.values()))):
            with pytest.raises(ValueError, match="lists pairs of ids, which have no order: give a dict .*Series"):
                call(y)
        with pytest.raises(ValueError, match="y has other ids"):
            call(pandas.Series(of).rename(index={"p00": "q00"}))


def test_a_table_of_pairs_takes_classes_by_id(pairs):
    table, of = pairs
    reverse = dict(reversed(of.items()))
    for y in (reverse, pandas.Series(reverse)):
        model, inspection, evaluation = (call(y) for call in _calls(table))
        assert model.predict(table).tolist() == [of[one] for one in table.row_ids]
        assert model.score(table, y) == 1
        assert inspection["loo_1nn_error"] == 0 and evaluation.rows[0]["error"] == 0
    with pytest.raises(ValueError, match="lists pairs"):
        model.score(table, list(of.values()))


def test_a_dict_of_classes_goes_by_id_wherever_there_are_ids(pairs, binary):
    table, of = pairs
    with pytest.raises(ValueError, match="2 of 12 samples have no class: p0[35], p0[35]"):
        kith.KNN().fit(table, {one: value for one, value in of.items() if one not in ("p03", "p05")})
    with pytest.warns(UserWarning, match="1 of the 13 ids of y are not among the samples and are left out: other"):
        kith.KNN().fit(table, {**of, "other": "ant"})
    with pytest.raises(ValueError, match="the samples of X have no ids"):
        kith.KNN().fit(binary.S, dict(enumerate(binary.y)))
    ids = list(range(100, 130))
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    expected = kith.SVM().fit(frame, binary.y).decision_function(binary.rows)
    by_id = dict(reversed(list(zip(ids, binary.y))))
    np.testing.assert_array_equal(kith.SVM().fit(frame, by_id).decision_function(binary.rows), expected)


def _points():
    x = np.random.default_rng(4).normal(size=(24, 2)) + 3 * (np.arange(24) % 2)[:, None]
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(2)), np.where(np.arange(24) % 2, "b", "a")


def _uses(X, y, distance):
    return (lambda: kith.SVM(distance=distance).fit(X, y), lambda: kith.inspect(X, y, distance=distance),
            lambda: kith.evaluate(X, y, "svm-clip", distance=distance, repeats=2, folds=2))


def _of_doubt(heard):
    """Where the warnings about the kind of numbers point to; a comparison may warn of its grids as well."""
    return [one.filename for one in heard if "look like" in str(one.message)]


def test_distances_and_similarities_that_change_places_are_a_warning():
    far, y = _points()
    for use in _uses(far, y, False):
        with pytest.warns(UserWarning, match="look like distances.*distance=True takes distances") as heard:
            use()
        assert _of_doubt(heard) == [__file__]
    for use in _uses(np.exp(-far), y, True):
        with pytest.warns(UserWarning, match="look like similarities.*distance=False") as heard:
            use()
        assert _of_doubt(heard) == [__file__]


def test_what_is_given_as_it_is_has_no_warning():
    far, y = _points()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for use in (*_uses(far, y, True), *_uses(np.exp(-far), y, False), *_uses(np.exp(-far).astype(np.float32), y, False)):
            use()


def test_the_e_values_of_a_blast_table_are_a_warning(tmp_path):
    lines = [f"p{i}\tp{j}\t50.0\t100\t50\t0\t1\t100\t1\t100\t{1 if (i + j) % 2 else 1e-40}\t{1 if (i + j) % 2 else 200}\n"
             for i in range(8) for j in range(8) if i != j]
    (tmp_path / "h.m8").write_text("".join(lines))
    y = {f"p{i}": "ab"[i % 2] for i in range(8)}
    table = kith.read(tmp_path / "h.m8", score_column="evalue")
    assert table.score_column == "evalue"
    with pytest.warns(UserWarning, match="score_column='bitscore' takes the scores"):
        kith.KNN(neighbours=1).fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.KNN(neighbours=1).fit(kith.read(tmp_path / "h.m8"), y)


def _hits(path, rows, columns):
    lines = [f"{a}\t{b}\t50.0\t100\t50\t0\t1\t100\t1\t100\t{1 if (i + j) % 2 else 1e-4}\t{2 + j if (i + j) % 2 else 20 + i}\n"
             for i, a in enumerate(rows) for j, b in enumerate(columns)]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("make", [
    lambda: kith.KNN(neighbours=1, input={"missing": "zero"}),
    lambda: kith.Auto(among=["knn", "ridge-flip"], input={"missing": "zero"})])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_has_the_score_column_that_its_table_was_read_by(make, tmp_path, program):
    ids = [f"p{i}" for i in range(16)]
    whole = _hits(tmp_path / "h.m8", ids, ids)
    rows = _hits(tmp_path / "q.m8", ["q0", "q1"], ids)
    y = {one: "ab"[i % 2] for i, one in enumerate(ids)}
    for trained, other in (("bitscore", "pident"), ("pident", "bitscore")):
        model = make().fit(kith.read(whole, score_column=trained), y)
        kith.save(model, tmp_path / "m.kith")
        (need,) = json.loads(program("info", "m.kith", "--json"))["needs"]
        assert need["score_column"] == trained
        for one in (model, kith.load(tmp_path / "m.kith")):
            assert len(one.predict(kith.read(rows, score_column=trained))) == 18  # of every id of the table
            with pytest.raises(ValueError, match=f"score_column='{trained}'"):
                one.predict(kith.read(rows, score_column=other))
    assert len(model.predict(kith.read(rows, score_column="3"))) == 18  # the same by its number
    plain = make().fit(kith.read(whole).to_frame(), y)
    assert len(plain.predict(kith.read(rows, score_column="pident"))) == 18


def test_rows_that_lie_on_their_side_are_known(binary):
    ids = [f"x{i}" for i in range(30)]
    model = kith.SVM().fit(pandas.DataFrame(binary.S, index=ids, columns=ids), binary.y)
    with pytest.raises(ValueError, match="They are the rows: give the transpose"):
        model.predict(pandas.DataFrame(binary.rows, columns=ids, index=list("abcdefg")).T)
    with pytest.raises(ValueError, match="as many rows: give the transpose"):
        model.predict(binary.rows.T)


def test_a_file_is_transposed_while_it_is_read(binary, tmp_path):
    kith.write(tmp_path / "r.csv", binary.rows)
    np.testing.assert_array_equal(np.asarray(kith.read(tmp_path / "r.csv", transpose=True)), binary.rows.T)


def test_all_compares_every_method_that_learns_from_the_input(binary):
    from kith._plan import every_method
    methods = {one["name"]: one for one in kith.methods() if one["name"] != "auto"}
    alone = every_method(binary.S, None, None)
    assert alone == [name for name, one in methods.items() if not one["learns_from_vectors"]]
    several = every_method([binary.S, binary.S], None, None)
    assert several == [name for name in alone if methods[name]["several_matrices"]]
    assert every_method(None, ["a", "b"], "edit") == alone
    assert every_method(None, binary.points, "linear") == list(methods)
    assert every_method(None, binary.points, None) == [name for name in methods if name not in alone]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_doubts_and_notes_are_in_what_is_returned():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(24, 2)) + 3 * (np.arange(24) % 2)[:, None]
    far = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    y = np.where(np.arange(24) % 2, "a", "b")
    assert any("look like distances" in one and "distance=True" in one for one in kith.inspect(far, y).facts["notes"])
    assert kith.inspect(np.exp(-far), y).facts["notes"] == []
    found = kith.evaluate(far, y, "knn", repeats=2, folds=2)
    assert any("look like distances" in one for one in found.results["notes"])
    found = kith.evaluate(np.exp(-far), y, "svm-clip", grids={"svm-clip": {"cost": [1e7, 1e8]}}, repeats=2, folds=2)
    assert any("all values of cost" in one and "grids lists others" in one for one in found.results["notes"])


def test_a_table_of_pairs_refuses_parts_in_an_order_it_does_not_have(pairs, tmp_path):
    table, of = pairs
    words = ["test" if i % 4 == 0 else "train" for i in range(12)]
    (tmp_path / "list.txt").write_text("".join(f"{one}\n" for one in words))
    for given in (words, [words], tmp_path / "list.txt"):
        with pytest.raises(ValueError, match="lists pairs of ids, which have no order"):
            kith.evaluate(table, of, "knn", partitions=given, folds=2)
    by_id = dict(zip(table.row_ids, words))
    assert kith.evaluate(table, of, "knn", partitions=by_id, folds=2).rows[0]["error"] == 0


def test_auto_refuses_a_plain_list_of_classes_for_a_table_of_pairs(pairs):
    table, of = pairs
    with pytest.raises(ValueError, match="lists pairs of ids, which have no order"):
        kith.Auto(among="knn").fit(table, list(of.values()))
    assert kith.Auto(among="knn").fit(table, of).score(table, of) == 1


def test_the_frame_of_a_table_of_pairs_says_that_its_order_is_ours(pairs, tmp_path):
    table, _ = pairs
    with pytest.warns(UserWarning, match="the order in which the ids first appear"):
        frame = table.to_frame()
    assert list(frame.index) == list(table.row_ids)
    frame.to_csv(tmp_path / "s.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.read(tmp_path / "s.csv").to_frame()


def test_new_rows_unlike_those_of_training_are_told():
    chance = np.random.default_rng(4)
    x = chance.normal(size=(40, 2)) + 3 * (np.arange(40) % 2)[:, None]
    far = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    y = np.where(np.arange(30) % 2, "b", "a")
    for make in (kith.KNN, kith.SVM, lambda **given: kith.Auto(among=["knn", "ridge-flip"], **given)):
        for distance, right, wrong in ((False, np.exp(-far), far), (True, far, np.exp(-far))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make(distance=distance).fit(right[:30, :30], y)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model.predict(right[30:, :30])
            with pytest.warns(UserWarning, match="unlike those that the model was trained on"):
                model.predict(wrong[30:, :30])
