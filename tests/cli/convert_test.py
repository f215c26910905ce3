# SPDX-License-Identifier: Apache-2.0
"""`kith convert`: a round trip through every writable format returns the same bits."""

import math
import random
import struct

import pytest

VALUES = [[1.0, 0.1, -0.0], [1 / 3, 5e-324, -1e300], [123456789.123456789, 2.0**-1074, 7.0]]


def npy(values):
    header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
              % (len(values), len(values[0]))).ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode()
            + b"".join(struct.pack("<d", v) for row in values for v in row))


def numbers(path):
    data = path.read_bytes()
    return data[len(data) - 8 * 9:]


@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "mtx", "libsvm", "edges"])
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
def test_round_trip_returns_the_same_bits(kith, ending, compression):
    kith.write("in.npy", npy(VALUES))
    name = f"there.{ending}{compression}"
    assert kith("convert", "--similarity", "in.npy", "--out", name).returncode == 0
    result = kith("convert", "--similarity", name, "--out", "back.npy")
    assert result.returncode == 0, result.stderr
    assert numbers(kith.folder / "back.npy") == numbers(kith.folder / "in.npy")


@pytest.mark.parametrize("ending", ["csv", "tsv", "edges"])
def test_ids_survive_where_the_format_has_them(kith, ending):
    kith.write("in.csv", ",a b,\"c,d\"\na b,1,2\n\"c,d\",3,4\n")
    if ending == "edges":
        kith.write("in.csv", ",ab,cd\nab,1,2\ncd,3,4\n")
    assert kith("convert", "--similarity", "in.csv", "--out", f"x.{ending}").returncode == 0
    assert kith("convert", "--similarity", f"x.{ending}", "--out", "back.csv").returncode == 0
    assert (kith.folder / "back.csv").read_text() == (kith.folder / "in.csv").read_text()


def test_json_says_what_was_read(kith):
    kith.write("in.csv", "1,2\n3,4\n")
    found = kith.json("convert", "--similarity", "in.csv", "--out", "o.npy")
    assert (found["rows"], found["cols"], found["format"]) == (2, 2, "csv")


def test_an_unknown_ending_needs_a_format(kith):
    kith.write("in.csv", "1,2\n3,4\n")
    message = kith.refusal("convert", "--similarity", "in.csv", "--out", "o.xyz")
    assert "o.xyz" in message and "npy" in message


def test_several_inputs_are_refused(kith):
    kith.write("in.csv", "1,2\n3,4\n")
    message = kith.refusal("convert", "--similarity", "in.csv", "--similarity", "in.csv", "--out", "o.npy")
    assert "exactly one" in message


EDGES = "c\ta\t0.5\nb\tc\t0.2\na\tb\t0.1\na\ta\t1\nb\tb\t1\nc\tc\t1\n"


@pytest.mark.parametrize("ending", ["npy", "mtx", "libsvm", "npy.gz"])
def test_the_ids_of_a_list_of_pairs_are_kept_beside_a_format_without_ids(kith, ending):
    kith.write("e.edges", EDGES)
    result = kith("convert", "--similarity", "e.edges", "--out", f"o.{ending}")
    assert result.returncode == 0, result.stderr
    assert (kith.folder / f"o.{ending}.ids.txt").read_text() == "c\na\nb\n"
    assert result.stderr.count("in the order in which the ids first appear") == 1
    assert f"o.{ending}.ids.txt" in result.stderr


def test_the_ids_tell_the_rows(kith):
    kith.write("e.edges", EDGES)
    assert kith("convert", "--similarity", "e.edges", "--out", "o.csv").returncode == 0
    header = (kith.folder / "o.csv").read_text().splitlines()[0]
    assert kith("convert", "--similarity", "e.edges", "--out", "o.npy").returncode == 0
    assert header.split(",")[1:] == (kith.folder / "o.npy.ids.txt").read_text().split()


def test_the_order_of_a_list_of_pairs_is_told_where_ids_are_kept(kith):
    kith.write("e.edges", EDGES)
    found = kith.json("convert", "--similarity", "e.edges", "--out", "o.csv")
    assert "first appear" in found["notes"][0] and "Labels need ids" in found["notes"][0]
    assert not (kith.folder / "o.csv.ids.txt").exists()


def test_tables_with_an_order_of_their_own_write_no_ids(kith):
    kith.write("in.csv", ",ab,cd\nab,1,2\ncd,3,4\n")
    result = kith("convert", "--similarity", "in.csv", "--out", "o.npy")
    assert "first appear" not in result.stderr and not (kith.folder / "o.npy.ids.txt").exists()


def test_the_ids_do_not_overwrite_an_input(kith):
    kith.write("o.npy.ids.txt", EDGES)
    message = kith.refusal("convert", "--similarity", "o.npy.ids.txt", "--format", "edges", "--out", "o.npy")
    assert "o.npy.ids.txt" in message
    assert (kith.folder / "o.npy.ids.txt").read_text() == EDGES and not (kith.folder / "o.npy").exists()


def test_the_whole_matrix_is_treated_as_train_treats_it(kith):
    rng = random.Random(1)
    rows = [[rng.gauss(0, 0.3) for _ in range(6)] for _ in range(6)]
    kith.write("s.csv", "".join(",".join(map(repr, row)) + "\n" for row in rows))
    found = kith.json("convert", "--similarity", "s.csv", "--symmetrise", "mean", "--transform", "rows-rbf",
                      "--out", "o.csv")
    assert any("seen its test samples" in note for note in found["notes"])
    mean = [[(rows[i][j] + rows[j][i]) / 2 for j in range(6)] for i in range(6)]
    made = [[float(x) for x in line.split(",")] for line in (kith.folder / "o.csv").read_text().splitlines()]
    for i in range(6):
        for j in range(6):
            squared = sum((a - b) ** 2 for a, b in zip(mean[i], mean[j], strict=True))
            assert made[i][j] == pytest.approx(math.exp(-squared), rel=1e-12)


def test_a_change_of_single_pairs_needs_no_warning(kith):
    kith.write("s.csv", "4,1\n1,9\n")
    found = kith.json("convert", "--similarity", "s.csv", "--scale", "cosine", "--out", "o.csv")
    assert "notes" not in found
    assert (kith.folder / "o.csv").read_text().splitlines()[0].startswith("1,0.1666")


def test_dropped_samples_take_their_ids_and_labels_along(kith):
    kith.write("s.csv", ",a,b,c\na,1,2,nan\nb,2,1,3\nc,nan,3,1\n")
    kith.write("l.tsv", "a\tx\nb\ty\nc\tz\n")
    kith.json("convert", "--similarity", "s.csv", "--missing", "drop-sample", "--labels", "l.tsv", "--out", "o.libsvm")
    kith.json("convert", "--similarity", "s.csv", "--missing", "drop-sample", "--out", "o.csv")
    header, *lines = (kith.folder / "o.csv").read_text().splitlines()
    left = header.split(",")[1:]
    assert len(left) == 2 and [line.split(",")[0] for line in lines] == left
    classes = [line.split()[0] for line in (kith.folder / "o.libsvm").read_text().splitlines()]
    assert classes == [str("abc".index(one) + 1) for one in left]


def test_distances_become_similarities_only_where_it_is_said_how(kith):
    kith.write("d.csv", "0,2\n2,0\n")
    assert kith.json("convert", "--distance", "d.csv", "--out", "same.csv")["applied"] == []
    assert (kith.folder / "same.csv").read_text() == "0,2\n2,0\n"
    message = kith.refusal("convert", "--distance", "d.csv", "--missing", "min", "--out", "o.csv")
    assert "--from-distance" in message
    kith.json("convert", "--distance", "d.csv", "--from-distance", "negative", "--out", "o.csv")
    assert (kith.folder / "o.csv").read_text() in ("0,-2\n-2,0\n", "-0,-2\n-2,-0\n")
    message = kith.refusal("convert", "--similarity", "d.csv", "--from-distance", "exp", "--out", "o.csv")
    assert "no --distance FILE is given" in message
