# SPDX-License-Identifier: Apache-2.0
"""The arrays of a model file (docs/formats.md) as lists, without any package."""

import json
import math
import struct


def read_arrays(path):
    """name -> a number, a list, or a list of rows; of doubles and 64-bit integers alone."""
    with path.open("rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = file.read()
    arrays = {}
    for name, array in header.items():
        kind = {"F64": "d", "I64": "q"}.get(array.get("dtype"))
        if kind is None:
            continue
        begin, end = array["data_offsets"]
        values = struct.unpack(f"<{math.prod(array['shape'])}{kind}", body[begin:end])
        if len(array["shape"]) == 2:
            width = array["shape"][1]
            arrays[name] = [list(values[i:i + width]) for i in range(0, len(values), width or 1)]
        else:
            arrays[name] = list(values) if array["shape"] else values[0]
    return arrays


class LearnedMap:
    """L of a `linear-msvm` model of two classes, its rows turned so that the longest is first: images differ by a
    rotation alone, and S_L not at all."""

    def __init__(self, path):
        from jacobi import dot, orthogonal_rows

        arrays = read_arrays(path)
        self.offset, self.factor = arrays["model.feature_offset"], arrays["model.feature_factor"]
        self.centre = arrays["model.centres"][0]
        self.rows = [row for row in orthogonal_rows(arrays["model.maps"]) if dot(row, row) > 0]
        self.dot = dot

    def image(self, x):
        scaled = [(value - offset) * factor - centre
                  for value, offset, factor, centre in zip(x, self.offset, self.factor, self.centre)]
        return [self.dot(row, scaled) for row in self.rows]
