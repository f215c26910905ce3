# SPDX-License-Identifier: Apache-2.0
"""Arguments that are none: each is refused as a ValueError or TypeError that says what is wrong."""
import numpy as np
import pandas
import pytest
import scipy.sparse

import kith

SURROGATE = "\ud800"


def with_hole(S, value):
    S = S.copy()
    S[3, 4] = value
    return S


def train_and_test(n=30):
    return np.arange(n - 5), np.arange(n - 5, n), np.arange(n - 5) % 3


@pytest.mark.parametrize("missing", [pandas.NA, None, np.nan, pandas.NaT])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_a_sample_without_a_class_is_named(binary, missing, dtype):
    y = pandas.Series([missing if i == 6 else one for i, one in enumerate(binary.y)], dtype=object).astype(dtype)
    for call in (lambda: kith.SVM().fit(binary.S, y), lambda: kith.inspect(binary.S, y),
                 lambda: kith.evaluate(binary.S, y, "knn", repeats=2, folds=2)):
        with pytest.raises(ValueError, match="y contains .*: sample 7 has no class"):
            call()


def test_classes_of_other_types_need_a_class_for_each_sample_too(binary):
    numbers = pandas.Series(np.where(binary.y == "ant", 1, 2), dtype="Int64")
    assert kith.SVM().fit(binary.S, numbers).classes_.tolist() == [1, 2]
    numbers[3] = pandas.NA
    days = np.where(binary.y == "ant", "2020-01-01", "2021-01-01").astype("datetime64[D]")
    days[3] = "NaT"
    for y in (numbers, days, pandas.Series(binary.y, dtype="string").mask(np.arange(30) == 3)):
        with pytest.raises(ValueError, match="sample 4 has no class"):
            kith.SVM().fit(binary.S, y)


@pytest.mark.parametrize("partition, message", [
    (train_and_test()[:1], r"partition 1 must be \(training samples, test samples, inner fold"),
    (["train"] * 29, "partition 1: 29 words for 30 samples"),
    (["train"] * 29 + ["both"], "partition 1: sample 30 has 'both', and must have 'train', 'test' or '-'"),
    (["train"] * 30, "no sample is for testing"),
    ({"a": "train"}, "partition 1 goes by ids, and the samples have none"),
    ("abc", "partition 1 must be"), (5, "partition 1 must be"),
    ((*train_and_test()[:2], [0, 1]), "partition 1: 2 folds are given for 25 training samples"),
    ((np.arange(25.0), *train_and_test()[1:]), "partition 1: samples must be a list of whole numbers"),
    ((np.ones((2, 2), int), [3], [0]), "samples must be a list of whole numbers"),
    ((np.arange(25), [-1], np.arange(25) % 3), "sample -1 is not among the 30 samples, which are counted from 0"),
    ((np.arange(25), [30], np.arange(25) % 3), "sample 30 is not among"),
    ((np.arange(25), [2 ** 70], np.arange(25) % 3), "whole numbers"),
    ((np.arange(25), [29], np.arange(25) % 3 - 1), "folds are -1 to 1; they are counted from 0"),
    ((np.arange(25), [], np.arange(25) % 3), "no sample is for testing"),
    ((np.arange(25), [3], np.arange(25) % 3), "sample 4 stands twice"),
])
def test_partitions_that_are_none(binary, partition, message):
    with pytest.raises(ValueError, match=message):
        kith.evaluate(binary.S, binary.y, "knn", partitions=[partition])


def test_partitions_may_be_masks_and_in_any_order(binary):
    train, test, folds = train_and_test()
    expected = kith.evaluate(binary.S, binary.y, "knn", partitions=[(train, test, folds)]).rows
    mask = np.arange(30) < 25
    for other in ((mask, ~mask, folds), (train[::-1], test[::-1], folds[::-1]), tuple(map(list, (train, test, folds)))):
        assert kith.evaluate(binary.S, binary.y, "knn", partitions=(one for one in [other])).rows == expected
    with pytest.raises(ValueError, match="folds, repeats would be about drawing them"):
        kith.evaluate(binary.S, binary.y, "knn", partitions=[(train, test, folds)], repeats=3, folds=4)
    for nothing in ([], 5):
        with pytest.raises(ValueError, match="empty|list is wanted"):
            kith.evaluate(binary.S, binary.y, "knn", partitions=nothing)


def test_partitions_may_leave_the_folds_open(binary, tmp_path):
    train, test, _ = train_and_test()
    words = ["test" if i in test else "train" for i in range(30)]
    table = tmp_path / "parts.tsv"
    table.write_text("".join(f"{one}\n" for one in words))
    ids = [f"p{i:02}" for i in range(30)]
    frame = pandas.DataFrame(binary.S, index=ids, columns=ids)
    named = pandas.Series(words, index=ids)
    expected = kith.evaluate(binary.S, binary.y, "knn", partitions=[(train, test)], folds=3).rows
    for given in (words, np.array(words), [words], table, str(table)):
        assert kith.evaluate(binary.S, binary.y, "knn", partitions=given, folds=3).rows == expected
    for given in (dict(zip(ids, words)), named.sample(frac=1, random_state=1), words, [named]):
        assert kith.evaluate(frame, binary.y, "knn", partitions=given, folds=3).rows == expected
    with pytest.raises(ValueError, match="partition 1: 'other' is not among the samples"):
        kith.evaluate(frame, binary.y, "knn", partitions={**dict(zip(ids, words)), "other": "test"})
    with pytest.raises(ValueError, match="repeats would be about drawing them"):
        kith.evaluate(binary.S, binary.y, "knn", partitions=words, repeats=3)


def test_classes_of_which_each_sample_has_its_own_are_refused(binary):
    own = [f"id{i}" for i in range(30)]
    for call in (lambda y: kith.KNN().fit(binary.S, y), lambda y: kith.Auto(among="knn").fit(binary.S, y),
                 lambda y: kith.evaluate(binary.S, y, "knn")):
        with pytest.raises(ValueError, match="y: each of the 30 samples has a class of its own"):
            call(own)
    with pytest.warns(UserWarning, match="y: 28 of 29 classes have a single sample") as heard:
        kith.KNN(neighbours=1).fit(binary.S, own[:29] + own[:1])
    assert [one.filename for one in heard] == [__file__]


def test_methods_and_settings_of_a_comparison_that_are_none(binary):
    def compare(methods="svm-clip", **settings):
        return kith.evaluate(binary.S, binary.y, methods, **{"repeats": 2, "folds": 2, **settings})

    for methods in ([3], [kith.SVM], [kith.Spectrum()], [None]):
        with pytest.raises(TypeError, match="is no method; give a name"):
            compare(methods)
    for wrong, message in [({"methods": 3}, "a list is wanted"), ({"methods": [SURROGATE]}, "no text in Unicode"),
                           ({"protocol": 3}, "one of kith, tr, cgr"), ({"name": SURROGATE}, "no text in Unicode"),
                           ({"grids": [1]}, "a dict of methods"), ({"grids": {"svm-clip": 3}}, "a dict of settings"),
                           ({"grids": {"svm-clip": {"cost": []}}}, "no values of cost"),
                           ({"grids": {"svm-clip": {"cost": [None]}}}, "cost is None"),
                           ({"grids": {"svm-clip": {3: [1]}}}, "3 is no name of a setting"),
                           ({"settings": [1]}, "a dict of methods"), ({"settings": {3: {"cost": 1}}}, '"3" is not among the methods'),
                           ({"repeats": [2]}, "repeats is"), ({"ids": 3}, "a list is wanted"),
                           ({"append": True}, "needs a store"), ({"store": ":memory:"}, "names no file")]:
        with pytest.raises(ValueError, match=message):
            compare(**wrong)
    with pytest.raises(TypeError):
        compare(store=3)


def test_one_value_of_a_grid_may_stand_alone(binary):
    for value in (10, "10", np.array(10.0), [10]):
        found = kith.evaluate(binary.S, binary.y, "svm-clip", grids={"svm-clip": {"cost": value}}, repeats=2, folds=2)
        assert [one["cost"] for one in found.results["methods"][0]["chosen"]] == [10, 10]


def test_paths_that_are_none(binary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = kith.SVM().fit(binary.S, binary.y)
    result = kith.evaluate(binary.S, binary.y, "knn", repeats=2, folds=2)
    calls = [lambda path: kith.save(model, path), kith.load, kith.read, lambda path: kith.write(path, binary.S),
             kith.open_store, result.report, kith.inspect(binary.S).report]
    for call in calls:
        for path in (None, 3, 1.5):
            with pytest.raises(TypeError):
                call(path)
        for path in ("a\0b.csv", SURROGATE + ".csv", ""):
            with pytest.raises(ValueError, match="is no name of a file"):
                call(path)
    assert not list(tmp_path.iterdir())


def test_a_path_may_be_bytes_and_need_not_be_utf_8(binary, tmp_path):
    model = kith.SVM().fit(binary.S, binary.y)
    for name in (b"plain", b"caf\xe9", "caf\u00e9".encode()):
        base = bytes(tmp_path) + b"/" + name
        kith.save(model, base + b".kith")
        np.testing.assert_array_equal(kith.load(base + b".kith").predict(binary.rows), model.predict(binary.rows))
        kith.write(base + b".csv", binary.S)
        table = kith.read(base + b".csv")
        np.testing.assert_array_equal(table.values, binary.S)
        assert table.name.encode(errors="surrogateescape") == name
        with pytest.raises(OSError, match="nothing"):
            kith.read(base + b"-nothing.csv")
    with pytest.raises(ValueError, match=r"caf\\xe9.csv:1:1: .*no"):
        (tmp_path / "caf\udce9.csv").write_bytes(b"no\n")
        kith.read(tmp_path / "caf\udce9.csv")


def test_texts_that_are_no_unicode(binary):
    S, y = binary.S, binary.y
    for call in (lambda: kith.measure.edit(["a", SURROGATE]), lambda: kith.measure.jaccard([["a"], [SURROGATE]]),
                 lambda: kith.measure.jaccard(["a", SURROGATE]), lambda: kith.SVM(spectrum=SURROGATE).fit(S, y),
                 lambda: kith.SVM(input={SURROGATE: 1}).fit(S, y), lambda: kith.SVM().fit({SURROGATE: S}, y),
                 lambda: kith.Spectrum(SURROGATE).fit(S), lambda: kith.SVM(priors={SURROGATE: 1}).fit(S, y),
                 lambda: kith.SVM(measure={SURROGATE: "edit"}).fit(["a", "b", "c"], [0, 1, 1])):
        with pytest.raises(ValueError, match="no text in Unicode"):
            call()


def test_what_is_no_matrix_and_no_sample(binary):
    y = binary.y
    for call, message in [(lambda: kith.MKL().fit({1: binary.S, "1": binary.S}, y), "the same name: 1, 1"),
                          (lambda: kith.SVM().fit(binary.S, None), "the target y is None"),
                          (lambda: kith.SVM().fit(["kitten", "sitting", "mitten"], [0, 1, 1]), "'kitten'; raw samples.* need a measure="),
                          (lambda: kith.VectorSVM().fit([["a"], ["b"], ["c"]], [0, 1, 1]), "vectors: numbers are wanted"),
                          (lambda: kith.SVM().fit({"a": binary.S}, y).predict({"z": binary.S}), "no rows for the matrix 'a' among z"),
                          (lambda: kith.SVM(priors=[0.3, 0.7]).fit(binary.S, y), "priors is .* a dict of classes"),
                          (lambda: kith.evaluate(binary.S, y, "knn", repeats=2, folds=2).format("xls"), "one of text, csv"),
                          (lambda: kith.MKL().fit([], y), "X is empty"), (lambda: kith.MKL().fit({}, y), "X is empty"),
                          (lambda: kith.MKL().fit(np.zeros((0, 4, 4)), y), "X is empty"),
                          (lambda: kith.MKL().fit([binary.S, None], y), "matrix-2: .*None is given"),
                          (lambda: kith.SVM(input={3: 1}).fit(binary.S, y), "3 is no name of a setting"),
                          (lambda: kith.Spectrum("diffusion", beta="x").fit(binary.S), "beta is 'x'"),
                          (lambda: kith.Spectrum(None).fit(binary.S), "spectrum is None"),
                          (lambda: kith.measure.edit(3), "the samples are 3"),
                          (lambda: kith.measure.edit(["a"], against=3), "the samples are 3"),
                          (lambda: kith.SVM(measure="edit").fit(None, y), "the samples are None"),
                          (lambda: kith.measure.value_difference([["a"], ["b"]], labels=3), "a list is wanted"),
                          (lambda: kith.write("x.csv", binary.S, format=3), "one of csv, tsv, npy")]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"SVM.__init__\(\) takes 1 positional"):
        kith.SVM(3)
    with pytest.raises(TypeError, match="no classifier of kith"):
        kith.save(kith.Spectrum().fit(binary.S), "x.kith")


def test_missing_and_infinite_numbers_are_refused_in_the_words_of_the_command_line(binary):
    S, holed = binary.S, with_hole(binary.S, np.nan)
    model = kith.SVM().fit(S, binary.y)
    for call in (lambda: kith.SVM().fit(holed, binary.y), lambda: kith.evaluate(holed, binary.y, "knn")):
        with pytest.raises(ValueError, match=r"1 of 900 pairs is missing \(NaN\), the first from sample 4 to sample 5; "
                                             r"input={'missing': 'zero'}"):
            call()
    with pytest.raises(ValueError, match="the first from training sample 5 to query 4; a model trained with"):
        model.predict(S, from_training=holed)
    with pytest.raises(ValueError, match="the first from query 4 to training sample 5; a model trained with"):
        model.predict(holed)
    with pytest.raises(ValueError, match=r"the first from sample 4 to sample 5$"):
        kith.Spectrum().fit(holed)  # which fills none
    endless = with_hole(S, -np.inf)
    for call in (lambda: kith.SVM().fit(endless, binary.y), lambda: kith.inspect(endless),
                 lambda: kith.SVM(input={"missing": "zero"}).fit(endless, binary.y)):
        with pytest.raises(ValueError, match="similarity of sample 4 to sample 5 is infinite"):
            call()
    for form in (np.asarray, scipy.sparse.csr_matrix):
        with pytest.raises(ValueError, match="sample 4 has no value in column 5"):
            kith.VectorSVM().fit(form(holed), binary.y)
        with pytest.raises(ValueError, match="the value of sample 4 in column 5 is infinite"):
            kith.measure.gaussian(form(endless))
    with pytest.raises(ValueError, match="sample 4 to sample 5 is infinite"):
        kith.KNN().fit(scipy.sparse.csr_matrix(endless), binary.y)


def test_messages_name_keywords_and_not_flags(binary):
    table = scipy.sparse.csr_matrix(np.where(binary.S > 5, binary.S, 0))
    for call in (lambda: kith.evaluate(table, binary.y, "svm-clip", repeats=2, folds=2),
                 lambda: kith.SVM(input={"scale": "cosine"}).fit(binary.S, binary.y).predict(binary.rows),
                 lambda: kith.ESKL().fit(binary.S + np.diag(np.arange(30)), binary.y).predict(binary.rows)):
        with pytest.raises(ValueError) as refused:
            call()
        assert "--" not in str(refused.value)
        assert "input={" in str(refused.value) or "self_similarity" in str(refused.value)


def test_names_of_classes_may_contain_separators(binary):
    plain = kith.SVM(priors={"ant": 0.9, "bee": 0.1}, costs={("bee", "ant"): 3}).fit(binary.S, binary.y)
    odd = np.where(binary.y == "ant", "a=b", "d:e,f")
    model = kith.SVM(priors={"a=b": 0.9, "d:e,f": 0.1}, costs={("d:e,f", "a=b"): 3}).fit(binary.S, odd)
    np.testing.assert_array_equal(model.predict_proba(binary.rows), plain.predict_proba(binary.rows))
    np.testing.assert_array_equal(model.predict(binary.rows) == "a=b", plain.predict(binary.rows) == "ant")
    with pytest.raises(ValueError, match="priors"):  # cannot be told from two entries
        kith.SVM(priors={"a=b,c": 0.9, "bee": 0.1}).fit(binary.S, np.where(binary.y == "ant", "a=b,c", "bee"))


def test_distance_is_a_truth_value(binary):
    D = np.abs(12 - binary.S)
    expected = kith.SVM(distance=True).fit(D, binary.y).decision_function(D[:4])
    plain = kith.SVM().fit(D, binary.y).decision_function(D[:4])
    for yes, no in ((np.True_, np.False_), ("yes", "no"), ("true", "false")):
        np.testing.assert_array_equal(kith.SVM(distance=yes).fit(D, binary.y).decision_function(D[:4]), expected)
        np.testing.assert_array_equal(kith.SVM(distance=no).fit(D, binary.y).decision_function(D[:4]), plain)
        assert str(kith.inspect(D, distance=yes)) == str(kith.inspect(D, distance=True)) != str(kith.inspect(D, distance=no))
    calls = (lambda given: kith.SVM(distance=given).fit(D, binary.y), lambda given: kith.inspect(D, distance=given),
             lambda given: kith.evaluate(D, binary.y, "knn", distance=given))
    for wrong in (None, 0, 1, "maybe", np.array(1), [1], {"similarity": "maybe"}, [[True]]):
        for call in calls:
            with pytest.raises(TypeError, match="distance .*is .* must be True or False"):
                call(wrong)
    for wrong, message in (([True, False], "2 truth values for 1 matrices"), ({"a": True}, "distance is of a, and"),
                           (np.array([True, False]), "2 truth values for 1 matrices")):
        for call in calls:
            with pytest.raises(ValueError, match=message):
                call(wrong)


def test_some_of_several_matrices_may_hold_distances(binary, program, tmp_path):
    D = np.abs(12 - binary.S)
    both = {"near": binary.S, "far": D}
    np.save(tmp_path / "near.npy", binary.S)
    np.save(tmp_path / "far.npy", D)
    (tmp_path / "y.txt").write_text("\n".join(binary.y) + "\n")
    program("train", "--similarity", "near.npy", "--distance", "far.npy", "--labels", "y.txt", "--method", "mkl",
            "--model", "m.kith")
    theirs = kith.load(tmp_path / "m.kith")
    rows = {"near": binary.rows, "far": np.abs(12 - binary.rows)}
    expected = theirs.decision_function(rows)
    for distance in ({"far": True, "near": False}, [False, True], theirs.distance):
        mine = kith.MKL(distance=distance).fit(both, binary.y)
        np.testing.assert_array_equal(mine.decision_function(rows), expected)
    kith.save(mine, tmp_path / "again.kith")
    assert kith.load(tmp_path / "again.kith").distance == theirs.distance == [False, True]
    assert not np.array_equal(kith.MKL().fit(both, binary.y).decision_function(rows), expected)
    kinds = [one["kind"] for one in kith.evaluate(both, binary.y, kith.MKL(distance=[False, True]), repeats=2, folds=2,
                                                  distance=[False, True]).results["matrices"]]
    assert kinds == ["similarities", "distances"]
    assert "distance" in str(kith.inspect(both, distance={"near": False, "far": True}))
    with pytest.raises(ValueError, match="for this method alone"):
        kith.evaluate(both, binary.y, kith.MKL(distance=[False, True]), repeats=2, folds=2)


def test_classes_that_numpy_would_change_are_refused(binary):
    calls = [lambda y: kith.SVM().fit(binary.S, y), lambda y: kith.evaluate(binary.S, y, "knn", repeats=2, folds=2),
             lambda y: kith.inspect(binary.S, y)]
    for call in calls:
        for hole in (np.nan, float("nan"), np.float32("nan"), None):
            y = binary.y.tolist()
            y[4] = hole
            for form in (list, tuple, lambda one: np.array(one, dtype=object)):
                with pytest.raises(ValueError, match="sample 5 has no class"):
                    call(form(y))
        y[4] = "ant\0"
        for form in (list, lambda one: np.array(one, dtype=object)):
            with pytest.raises(ValueError, match=r"class of sample 5 is 'ant\\x00', and must not end in NUL"):
                call(form(y))
        with pytest.raises(ValueError, match="sample 3 has no class: y is masked there"):
            call(np.ma.array(np.arange(30) % 2, mask=np.arange(30) == 2))


def test_hidden_and_complex_numbers_are_refused(binary, tmp_path):
    hidden = np.ma.masked_less(binary.S, 0)
    model = kith.SVM().fit(np.ma.array(binary.S), binary.y)  # which hides nothing
    for call in (lambda: kith.SVM().fit(hidden, binary.y), lambda: kith.MKL().fit([binary.S, hidden], binary.y),
                 lambda: kith.inspect(hidden), lambda: kith.evaluate(hidden, binary.y, "knn"),
                 lambda: model.predict(hidden), lambda: kith.Spectrum().fit(hidden),
                 lambda: model.predict(binary.S, self_similarity=np.ma.masked_less(np.arange(30.0), 5)),
                 lambda: kith.VectorSVM().fit(hidden, binary.y), lambda: kith.measure.gaussian(hidden),
                 lambda: kith.write(tmp_path / "x.csv", hidden)):
        with pytest.raises(ValueError, match="numbers of a masked array are hidden"):
            call()
    for form in (np.asarray, scipy.sparse.csr_matrix, pandas.DataFrame):
        with pytest.raises(ValueError, match="complex"):
            kith.write(tmp_path / "x.csv", form(binary.S * 1j))
    assert not list(tmp_path.iterdir())
