# SPDX-License-Identifier: Apache-2.0
"""`kith convert`: a round trip through every writable format returns the same bits."""

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
