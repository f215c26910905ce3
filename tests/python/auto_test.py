# SPDX-License-Identifier: Apache-2.0
"""kith.Auto: the best methods by cross-validation, as the command line chooses them."""
import json
import pickle
import warnings

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import kith
from conftest import Sample
from estimators_test import read_predictions

AMONG = ["knn", "svm-clip", "ridge-flip"]
WORDS = ["kitten", "mitten", "bitten", "sitting", "fitting", "hitting", "smitten", "knitting"]
ENDING = ["en", "en", "en", "ing", "ing", "ing", "en", "ing"]
# Notes on grids are expected of samples as small as these.
pytestmark = pytest.mark.filterwarnings("ignore:.*grids lists:UserWarning")


def timeless(rows):
    """Rows of a selection without how long it took."""
    return [{key: value for key, value in row.items() if key != "seconds" and value is not None} for row in rows]


def write_labels(path, y):
    path.write_text("\n".join(map(str, y)) + "\n")


@pytest.mark.parametrize("classes", [2, 3])  # a committee, and one method alone
def test_the_command_line_chooses_the_same(classes, program, tmp_path):
    sample = Sample(n=36, classes=classes)
    np.save(tmp_path / "s.npy", sample.S)
    np.save(tmp_path / "rows.npy", sample.rows)
    write_labels(tmp_path / "y.txt", sample.y)
    mine = kith.Auto(among=AMONG).fit(sample.S, sample.y)
    said = json.loads(program("train", "--similarity", "s.npy", "--labels", "y.txt", "--method", "auto", "--among",
                              ",".join(AMONG), "--model", "cli.kith", "--json", "--quiet"))
    theirs = said["selection"]
    assert timeless(mine.selection_) == timeless(theirs["candidates"])
    assert mine.chosen_ == theirs["chosen"]
    labels, columns = read_predictions(
        program("predict", "--model", "cli.kith", "--similarity", "rows.npy", "--quiet"))
    loaded = kith.load(tmp_path / "cli.kith")
    if len(mine.chosen_) > 1:
        assert isinstance(loaded, kith.Auto) and loaded.among == AMONG
        assert timeless(loaded.selection_) == timeless(mine.selection_)
    else:
        assert isinstance(loaded, kith.SVM) and mine.chosen_ == ["svm-clip"]
    for model in (mine, loaded, pickle.loads(pickle.dumps(mine))):
        np.testing.assert_array_equal(model.predict(sample.rows), labels)
        for i, name in enumerate(model.classes_):
            np.testing.assert_allclose(model.predict_proba(sample.rows)[:, i], columns[f"probability:{name}"], rtol=1e-12)
    kith.save(mine, tmp_path / "python.kith")
    again, _ = read_predictions(program("predict", "--model", "python.kith", "--similarity", "rows.npy", "--quiet"))
    np.testing.assert_array_equal(again, labels)


def test_rows_alone_are_enough_unless_more_is_promised(binary, program, tmp_path):
    size = np.linspace(0.2, 5, 37)
    S, rows = size[:30, None] * binary.S * size[:30], size[30:, None] * binary.rows * size[:30]
    model = kith.Auto(among=AMONG).fit(S, binary.y)
    assert "cosine" not in {row["input"]["scale"] for row in model.selection_}
    assert model.predict(rows).shape == (7,)
    np.save(tmp_path / "s.npy", S)
    write_labels(tmp_path / "y.txt", binary.y)
    flags = ("train", "--similarity", "s.npy", "--labels", "y.txt", "--method", "auto", "--among", ",".join(AMONG),
             "--json", "--quiet")
    said = json.loads(program(*flags))
    assert timeless(model.selection_) == timeless(said["selection"]["candidates"])
    more = kith.Auto(among=AMONG, self_similarity=True).fit(S, binary.y)
    said = json.loads(program(*flags, "--grid", "scale=none,unit,cosine"))
    assert timeless(more.selection_) == timeless(said["selection"]["candidates"])
    assert "cosine" in {row["input"]["scale"] for row in more.selection_}
    more.predict(rows, self_similarity=12 * size[30:] ** 2)


def test_the_usual_methods_are_those_of_the_command_line(binary, program, tmp_path):
    np.save(tmp_path / "s.npy", binary.S)
    write_labels(tmp_path / "y.txt", binary.y)
    said = json.loads(program("train", "--similarity", "s.npy", "--labels", "y.txt", "--method", "auto", "--model",
                              "cli.kith", "--json", "--quiet"))
    mine = kith.Auto().fit(binary.S, binary.y)
    assert timeless(mine.selection_) == timeless(said["selection"]["candidates"])
    assert kith.load(tmp_path / "cli.kith").among is None


def test_those_near_the_least_error_are_chosen(three):
    model = kith.Auto(among=["knn", "svm-clip", "ridge-flip", "nearest-mean"]).fit(three.S, three.y)
    errors = np.array([row["inner_error"] for row in model.selection_])
    spread = model.selection_[int(np.argmin(errors))]["standard_error"]
    assert [row["chosen"] for row in model.selection_] == (errors <= errors.min() + 3 * spread).tolist()
    for row in model.selection_:
        sixths = 6 * row["inner_error"] * len(three.y)  # a tie of two or three classes is a guess among them
        assert sixths == pytest.approx(round(sixths))
        assert row["seconds"] >= 0 and row["skipped"] is None and "scale" in row["input"]
    probabilities = model.predict_proba(three.rows)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(three.rows))


def test_threads_do_not_matter(three):
    models = [kith.Auto(among=AMONG, threads=threads).fit(three.S, three.y) for threads in (1, 3)]
    assert timeless(models[0].selection_) == timeless(models[1].selection_)
    np.testing.assert_array_equal(models[0].predict_proba(three.rows), models[1].predict_proba(three.rows))


def test_it_is_copied_and_pickled_as_others_are(binary, tmp_path):
    model = kith.Auto(among=["knn", "ridge-flip"], grids={"knn": {"neighbours": [1, 3]}}, seed=4)
    assert clone(model).get_params() == model.get_params()
    model.fit(binary.S, binary.y)
    assert {row["settings"].get("neighbours", 1) for row in model.selection_} <= {1, 3}
    copied = pickle.loads(pickle.dumps(model))
    assert copied.selection_ == model.selection_ and copied.get_params() == model.get_params()
    np.testing.assert_array_equal(copied.decision_function(binary.rows), model.decision_function(binary.rows))
    again = clone(kith.Auto(among=["knn", "ridge-flip"], grids={"knn": {"neighbours": [1, 3]}}, seed=4)).fit(binary.S, binary.y)
    np.testing.assert_array_equal(again.decision_function(binary.rows), model.decision_function(binary.rows))
    assert cross_val_score(kith.Auto(among=["knn", "ridge-flip"]), binary.S, binary.y, cv=3).mean() > 0.5


def test_conversions_of_distances_are_searched(binary, tmp_path):
    everything = np.vstack([binary.S, binary.rows])
    D, rows = np.abs(12 - everything[:30]), np.abs(12 - everything[30:])
    np.fill_diagonal(D, 0)
    model = kith.Auto(among=AMONG, distance=True).fit(D, binary.y)
    assert all("from-distance" in row["input"] for row in model.selection_)
    fixed = kith.Auto(among=AMONG, distance=True, input={"from_distance": "negative"}).fit(D, binary.y)
    assert {row["input"]["from-distance"] for row in fixed.selection_} == {"negative"}
    assert all(a["inner_error"] <= b["inner_error"] for a, b in zip(model.selection_, fixed.selection_))
    kith.save(model, tmp_path / "m.kith")
    loaded = kith.load(tmp_path / "m.kith")
    assert loaded.distance is True and loaded.input is None
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


def test_of_several_matrices_each_method_chooses_one(three, tmp_path):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(43, 36))
    noise[:36] += noise[:36].T
    S = {"noise": noise[:36], "good": three.S, "square": three.S ** 2 / 12}
    rows = {"noise": noise[36:], "good": three.rows, "square": three.rows ** 2 / 12}
    model = kith.Auto(among=["knn", "ridge-flip", "average-svm"]).fit(S, three.y)
    assert {row["input"]["matrix"] for row in model.selection_ if row["method"] != "average-svm"} <= {"good", "square"}
    expected = model.predict_proba(rows)
    by_order = kith.Auto(among=["knn", "ridge-flip", "average-svm"]).fit(list(S.values()), three.y)
    np.testing.assert_array_equal(by_order.predict_proba(list(rows.values())), expected)
    np.testing.assert_array_equal(by_order.predict_proba(np.array(list(rows.values()))), expected)
    lone = kith.Auto(among=["knn", "ridge-flip"]).fit(S, three.y)  # which leaves the noise alone
    used = {row["input"]["matrix"] for row in lone.selection_ if row["chosen"]}
    np.testing.assert_array_equal(lone.predict({name: rows[name] for name in used}), lone.predict(rows))
    kith.save(lone, tmp_path / "m.kith")
    loaded = kith.load(tmp_path / "m.kith")
    np.testing.assert_array_equal(loaded.predict({name: rows[name] for name in used}), lone.predict(rows))
    assert lone.score(rows, three.truth) == np.mean(lone.predict(rows) == three.truth)
    selves = {name: np.full(7, 12.0) for name in S}
    np.testing.assert_array_equal(lone.predict(rows, self_similarity=selves), lone.predict(rows))
    np.testing.assert_array_equal(lone.predict(list(rows.values()), self_similarity=list(selves.values())), lone.predict(rows))
    with pytest.raises(ValueError, match="matrices of new rows|there are no rows"):
        lone.predict({"other": rows["noise"]})


def test_a_budget_skips_what_will_not_fit_in(three):
    with pytest.warns(UserWarning, match="spent before cross-validation began"):
        model = kith.Auto(among=AMONG, budget=1e-9).fit(three.S, three.y)
    tried = [row for row in model.selection_ if row["skipped"] is None]
    assert len(tried) == 1 and tried[0]["chosen"] and model.chosen_ == [tried[0]["method"]]
    assert all("more than is left" in row["skipped"] and row["inner_error"] is None
               for row in model.selection_ if row["skipped"] is not None)
    assert model.predict(three.rows).shape == (7,)
    for enough in ("1h", "3000s", 1e6, "900"):
        free = kith.Auto(among=["knn", "ridge-flip"], budget=enough).fit(three.S, three.y)
        assert all(row["skipped"] is None for row in free.selection_)
    for wrong in ("soon", 0, -5, "5d", "m", float("inf"), "nan"):
        with pytest.raises(ValueError, match="budget is .* seconds above 0, or a time such as"):
            kith.Auto(budget=wrong).fit(three.S, three.y)


def test_as_many_neighbours_as_samples_are_no_good_choice():
    same = np.arange(20)[:, None] % 2 == np.arange(20) % 2
    S, y = same + np.eye(20), np.array(["a", "b"] * 10)
    all_vote, free = (kith.Auto(among=["knn"], grids=grids).fit(S, y).selection_[0]
                      for grids in ({"knn": {"neighbours": [128]}}, None))
    assert all_vote["inner_error"] >= 0.4
    assert free["inner_error"] == 0 and free["settings"]["neighbours"] < 16


def test_costs_are_decided_by_members_with_probabilities(binary):
    first, second = np.unique(binary.y)
    model = kith.Auto(among=["svm-knn", "knn", "ridge-flip"], costs={(first, second): 5}).fit(binary.S, binary.y)
    assert "probabilities" in model.selection_[0]["skipped"]
    assert json.loads(json.dumps(model.certificate_))["selection"]["chosen"] == model.chosen_
    given = model.predict_proba(binary.rows)
    costly = np.where(5 * given[:, 0] > given[:, 1], first, second)
    np.testing.assert_array_equal(model.predict(binary.rows), costly)


def test_a_class_of_one_sample_is_named():
    S, y = np.eye(12) + 1, ["usual"] * 11 + ["rare"]
    with pytest.raises(ValueError, match='"rare" has 1 sample, and cross-validation needs 2'):
        kith.Auto(among=["knn"]).fit(S, y)


def test_raw_samples_are_measured(tmp_path, program):
    model = kith.Auto(among=["knn", "ridge-flip"], measure="edit").fit(WORDS, ENDING)
    new = ["written", "sitting on", "hidden"]
    assert model.predict(new).tolist() == model.predict(pandas.Series(new)).tolist()
    S = kith.measure.edit(WORDS)
    plain = kith.Auto(among=["knn", "ridge-flip"]).fit(S, ENDING)
    assert timeless(model.selection_) == timeless(plain.selection_)
    np.testing.assert_allclose(model.predict_proba(new), plain.predict_proba(kith.measure.edit(new, against=WORDS)))
    kith.save(model, tmp_path / "m.kith")
    loaded = kith.load(tmp_path / "m.kith")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    (tmp_path / "new.txt").write_text("\n".join(new) + "\n")
    said = program("predict", "--model", "m.kith", "--data", "new.txt", "--quiet")
    assert [line.split("\t")[1] for line in said.strip().split("\n")[1:]] == model.predict(new).tolist()


def test_settings_of_measures_are_searched_where_they_are_listed():
    model = kith.Auto(among=["knn", "ridge-flip"], measure="spectrum", grids={"*": {"kmer": [1, 2]}}).fit(WORDS, ENDING)
    assert {row["input"]["kmer"] for row in model.selection_} <= {"1", "2"}
    backwards = [one[::-1] for one in WORDS]
    both = kith.Auto(among=["knn", "ridge-flip"], measure={"a": "spectrum", "b": "edit"}, grids={"*": {"kmer": [1, 2]}})
    both.fit({"a": WORDS, "b": backwards}, ENDING)
    assert both.predict({"a": WORDS[:3], "b": backwards[:3]}).shape == (3,)
    assert both.score({"a": WORDS, "b": backwards}, ENDING) > 0.5


def test_a_setting_of_the_measure_is_given_or_searched():
    with pytest.raises(ValueError, match="measure='spectrum:kmer=3', and grids asks"):
        kith.Auto(among=["knn"], measure="spectrum:kmer=3", grids={"*": {"kmer": [1, 2]}}).fit(WORDS, ENDING)


def test_methods_on_vectors_are_chosen_alone(tmp_path):
    sample = Sample(n=40)
    X, new = sample.points[:40], sample.points[40:]
    model = kith.Auto(among=["vector-svm", "nca-knn"], grids={"vector-svm": {"cost": [0.1, 1]}}).fit(X, sample.y)
    assert len(model.chosen_) == 1 and model.n_features_in_ == 3
    best = min(model.selection_, key=lambda row: row["inner_error"])
    assert best["method"] == model.chosen_[0]
    assert model.score(new, sample.truth) > 0.5
    kith.save(model, tmp_path / "m.kith")
    np.testing.assert_array_equal(kith.load(tmp_path / "m.kith").predict(new), model.predict(new))
    mixed = kith.Auto(among=["vector-svm", "ridge-flip"], measure="gaussian", grids={"vector-svm": {"cost": [1]}}).fit(X, sample.y)
    assert len(mixed.chosen_) == 1 and mixed.score(new, sample.truth) > 0.5
    with pytest.raises(ValueError, match="measure"):
        kith.Auto(among=["vector-svm", "ridge-flip"]).fit(X, sample.y)


def test_probabilities_are_there_unless_the_only_method_has_none(three):
    one = kith.Auto(among=["nearest-mean"]).fit(three.S, three.y)
    probable = {info["name"]: info["probabilities"] for info in kith.methods()}["nearest-mean"]
    assert hasattr(one, "predict_proba") == probable
    assert hasattr(kith.Auto(), "predict_proba")
    assert one.chosen_ == ["nearest-mean"]
    alone = kith.NearestMean(input={**{key.replace("-", "_"): value for key, value in one.selection_[0]["input"].items()},
                                    "rescale": "spread"}).fit(three.S, three.y)
    np.testing.assert_array_equal(one.predict(three.rows), alone.predict(three.rows))


def test_unknown_pairs_and_dropped_samples(binary):
    near = scipy.sparse.csr_matrix(np.where(binary.S > np.quantile(binary.S, 0.3), binary.S, 0))
    model = kith.Auto(among=["knn"]).fit(near, binary.y)
    assert model.predict(near).shape == (30,)
    with pytest.raises((TypeError, ValueError), match="[Ss]parse"):
        kith.Auto().fit(near, binary.y)
    S = binary.S.copy()
    S[3, 12] = S[12, 3] = np.nan
    rules = {"missing": "drop-sample"}
    dropped = kith.Auto(among=["knn", "ridge-flip"], input=rules).fit(S, binary.y)
    kept = np.array(dropped._kept)
    assert len(kept) == 29
    expected = kith.Auto(among=["knn", "ridge-flip"]).fit(binary.S[np.ix_(kept, kept)], binary.y[kept])
    np.testing.assert_allclose(dropped.predict_proba(binary.rows), expected.predict_proba(binary.rows[:, kept]))


def test_ids_say_which_column_is_whose(binary):
    ids = [f"s{i}" for i in range(30)]
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    rows = pandas.DataFrame(binary.rows, columns=ids)
    model = kith.Auto(among=["knn", "ridge-flip"]).fit(frame, pandas.Series(binary.y, index=ids)[::-1])
    expected = kith.Auto(among=["knn", "ridge-flip"]).fit(binary.S, binary.y).predict_proba(binary.rows)
    np.testing.assert_array_equal(model.predict_proba(rows[ids[::-1]].assign(more=1.0)), expected)


def test_priors_and_costs_decide(binary):
    often = kith.Auto(among=["knn", "ridge-flip"], costs={("ant", "bee"): 1e6}).fit(binary.S, binary.y)
    assert set(often.predict(binary.rows)) == {"ant"}
    rare = kith.Auto(among=["knn", "ridge-flip"], priors={"ant": 1e-9, "bee": 1 - 1e-9}).fit(binary.S, binary.y)
    assert (rare.predict(binary.rows) == "bee").sum() >= (often.predict(binary.rows) == "bee").sum()


def test_a_comparison_has_a_row_for_it(three):
    few = {"repeats": 2, "folds": 2}
    named = kith.evaluate(three.S, three.y, ["auto", "knn"], **few)
    given = kith.evaluate(three.S, three.y, [kith.Auto(), "knn"], **few)
    assert [row["method"] for row in given.rows] == ["auto", "knn"]
    assert named.rows == given.rows and len(named.rows[0]["errors"]) == 2
    with pytest.raises(ValueError, match="budget of Auto"):
        kith.evaluate(three.S, three.y, [kith.Auto(budget=5)], **few)
    with pytest.raises(ValueError, match="self_similarity of Auto"):
        kith.evaluate(three.S, three.y, [kith.Auto(self_similarity=True)], **few)


def test_what_it_cannot_be_made_of(three):
    for wrong, message in ((["auto"], "auto cannot be made of itself"), (["knn", "knn"], "twice"), ([], "empty"),
                           (["nothing"], "nothing")):
        with pytest.raises(ValueError, match=message):
            kith.Auto(among=wrong).fit(three.S, three.y)
    with pytest.raises(ValueError, match="svm-flip.* is not among the methods compared: knn"):
        kith.Auto(among=["knn"], settings={"svm-flip": {"cost": 1}}).fit(three.S, three.y)


def test_its_file_says_what_it_is(binary, tmp_path):
    model = kith.Auto(among=AMONG).fit(binary.S, binary.y)
    kith.save(model, tmp_path / "m.kith")
    found = kith.info(tmp_path / "m.kith")
    assert found["method"] == "auto" and found["probabilities"]
    assert len(found["members"]) == len(model.chosen_) > 1
    assert {one["method"] for one in found["members"]} <= {"knn", "svm", "ridge"}


@pytest.mark.filterwarnings("default")
def test_a_search_that_changes_nothing_is_a_warning(three):
    grids = {"svm-clip": {"cost": [1e7, 1e8]}}
    with pytest.warns(UserWarning, match="svm-clip: all values of cost on its grid give the same error.*; grids lists others") as caught:
        kith.evaluate(three.S, three.y, "svm-clip", grids=grids, repeats=2, folds=2)
    assert {one.filename for one in caught} == {__file__}
    with pytest.warns(UserWarning, match="svm-clip: all values of cost .*; grids lists others") as caught:
        kith.Auto(among=["svm-clip"], grids=grids).fit(three.S, three.y)
    assert {one.filename for one in caught} == {__file__}


def test_it_passes_every_check_of_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(kith.Auto(among=["knn", "ridge-flip"]))


def test_its_example_runs():
    import doctest
    example, = (one for one in doctest.DocTestFinder().find(kith.Auto, "Auto", globs={}) if one.name == "Auto")
    assert doctest.DocTestRunner().run(example).failed == 0 and len(example.examples) == 5


def test_evaluate_says_who_took_part_and_takes_other_members(three):
    few = {"repeats": 2, "folds": 2}
    found = kith.evaluate(three.S, three.y, "auto", among=["knn", ("mine", kith.Ridge())], **few)
    (auto,) = found.results["methods"]
    assert [one["method"] for one in auto["members"]] == ["knn", "mine"]
    for one in auto["members"]:
        seats = [seat for chosen in auto["chosen"] for seat in chosen["members"] if seat["method"] == one["method"]]
        assert one["partitions"] == len(seats)
    assert "took part" in str(found)
    with pytest.raises(ValueError, match="among lists what auto is made of, and auto is not among the methods"):
        kith.evaluate(three.S, three.y, "knn", among=["knn"], **few)
    with pytest.raises(ValueError, match="cannot be made of itself"):
        kith.evaluate(three.S, three.y, "auto", among=["auto"], **few)


def test_it_explains_by_its_members(binary):
    model = kith.Auto(among=["knn", "svm-clip", "svm-knn"]).fit(binary.S, binary.y)
    assert len(model.chosen_) > 1
    labels = model.predict(binary.rows)
    for one, label in zip(model.explain(binary.rows, k=4), labels):
        assert one["label"] == label and one["by"] == "votes"
        assert all(part["class"] == binary.y[part["sample"]] for part in one["samples"])
        assert sum(abs(part["contribution"]) for part in one["samples"]) <= 1 + 1e-9


@pytest.mark.filterwarnings("default")
def test_members_that_cannot_explain_are_left_out_with_a_warning(binary):
    model = kith.Auto(among=["knn", "sda", "nearest-mean"]).fit(binary.S, binary.y)
    others = [name for name in model.chosen_ if name != "knn"]
    if "knn" not in model.chosen_ or not others:
        pytest.skip("the committee of these samples has no such member")
    with pytest.warns(UserWarning, match=f"without a member of the committee: {others[0]}"):
        model.explain(binary.rows, k=2)


def test_what_input_says_is_not_searched(binary):
    def variants(**given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kith.Auto(among=["svm-clip", "knn"], **given).fit(binary.S, binary.y)
        return model.certificate_["selection"]["input_variants"], " ".join(model.fit_["applied"])
    assert "spread" in variants()[1]
    assert "spread" not in variants(input={"rescale": "none"})[1]
    assert variants(input={"scale": "none"})[0] == 1
    with pytest.raises(ValueError, match=r"input=\{'scale': 'cosine'\}.*scale=none"):
        variants(input={"scale": "cosine"}, grids={"*": {"scale": ["none"]}})


def test_the_budget_is_in_the_record_and_may_have_several_units(binary):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kith.Auto(among=["knn"], budget="1h30m").fit(binary.S, binary.y)
    assert model.certificate_["selection"]["budget"] == 5400
    assert model.selection_[0]["seconds"] >= 0
