#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the learned metrics of two-dimensional data that the pages of linear-msvm and nonlinear-msvm show.

    tools/draw_metric.py [--program build/release/kith] [--out docs/figures]

Writes linear_msvm.svg and nonlinear_msvm.svg. The data are drawn here, with a fixed seed; everything learned comes from
the model files of `kith train`.
"""

import argparse
import math
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays as it is
from jacobi import dot, leading_coordinates  # noqa: E402
from model_arrays import LearnedMap, read_arrays  # noqa: E402
from svg_picture import Panel, Picture, contour  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE, SMALL = (300, 300), (214, 214)
STEPS = 48
CLASSES = (("a", False), ("b", True))  # colour, square


def two_slopes(chance):
    """Two classes side by side, each far longer than wide."""
    points = []
    for i in range(120):
        along, across = chance.gauss(0, 2.0), chance.gauss(0, 0.45) + (0.7 if i % 2 else -0.7)
        points.append((0.8 * along - 0.6 * across, 0.6 * along + 0.8 * across))
    return points


def two_rings(chance):
    points = []
    for i in range(120):
        radius, angle = (1.0 if i % 2 else 2.1) + chance.gauss(0, 0.16), chance.uniform(0, 2 * math.pi)
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    return points


def train(program, folder, points, method, *settings):
    (folder / "x.csv").write_text("".join(f"{x!r},{y!r}\n" for x, y in points), encoding="utf-8")
    (folder / "y.txt").write_text("".join(f"{i % 2}\n" for i in range(len(points))), encoding="utf-8")
    command = [program, "train", "--data", folder / "x.csv", "--labels", folder / "y.txt", "--method", method,
               "--model", folder / "m.kith", "--quiet", "--threads", "1"]
    for setting in ("probability=no", "scaling=none", *settings):
        command += ["--set", setting]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return folder / "m.kith"


def scatter(panel, points):
    for c, (kind, square) in enumerate(CLASSES):
        panel.points(points[c::2], kind, square)


def box(points, margin=1.08):
    """A square around the origin that holds all points."""
    reach = margin * max(abs(value) for point in points for value in point)
    return (-reach, -reach), (reach, reach)


def circle(radius=1.0):
    return [(radius * math.cos(t * math.pi / 60), radius * math.sin(t * math.pi / 60)) for t in range(121)]


def plane(values):
    """The first two of each, 0 where there is one."""
    return [(row + [0.0])[:2] for row in values]


def legend(*more):
    return [("a", "point", "one class"), ("b", "square", "the other"), *more]


# --- pictures


def linear_column(points, path, name):
    """The samples with lines of equal learned length, and below their images, the second class to the right."""
    learned = LearnedMap(path)
    low, high = box(points)
    before = Panel(name, SMALL, low, high)

    def length(x, y):
        return math.hypot(*learned.image((x, y)))

    for level in (0.25, 0.5, 0.75, 1.0):
        for line in contour(low, high, STEPS, length, level):
            before.line(line, "n")
    scatter(before, points)
    after = Panel("Lx", SMALL, (-1.08, -1.08), (1.08, 1.08))
    after.line(circle(), "n")
    images = plane([learned.image(point) for point in points])
    side = math.copysign(1, sum(x for x, _ in images[1::2]))
    scatter(after, [(side * x, y) for x, y in images])
    return before, after


def linear_picture(program, folder):
    points = two_slopes(random.Random(2))
    columns = [linear_column(points, train(program, folder, points, method, f"cost={cost}"), name)
               for method, cost, name in (("linear-msvm", 10, "descent, cost 10"), ("linear-msvm", 1, "descent, cost 1"),
                                          ("linear-msvm-convex", 1, "optimum, cost 1"))]
    picture = Picture("Metrics learned by linear-msvm: the samples with lines of equal learned length, and their images")
    for panels in zip(*columns):
        picture.row(*panels)
    picture.legend = legend(("n", "", "learned length 1/4, 1/2, 3/4, 1"))
    return picture


def gaussian(gamma, x, z):
    return math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z)))


def centred(matrix):
    means = [sum(row) / len(row) for row in matrix]
    whole = sum(means) / len(means)
    return [[value - means[i] - means[j] + whole for j, value in enumerate(row)] for i, row in enumerate(matrix)]


def principal_plane(matrix):
    """Coordinates in the two principal directions of a matrix of inner products."""
    found = leading_coordinates(centred(matrix), 2)
    return [[math.sqrt(size) * axis[i] for size, axis in found] for i in range(len(matrix))]


def nonlinear_row(points, anchor, similarity, title, matrix, below):
    """Lines of equal similarity to one sample, and all samples in the principal plane of the similarities."""
    low, high = box(points, 1.15)
    before = Panel(title, SIZE, low, high, "lines: 3/4, 1/2, 1/4 of the sample's own; dashed: 0")
    own = similarity(*points[anchor])
    for share in (0.75, 0.5, 0.25, 0.0):
        for line in contour(low, high, STEPS, similarity, share * own):
            before.line(line, "n" if share else "n dashed")
    scatter(before, points)
    before.mark(*points[anchor])
    coordinates = principal_plane(matrix)
    after = Panel("the samples under it", SIZE, *box(coordinates), below)
    scatter(after, coordinates)
    after.mark(*coordinates[anchor])
    return before, after


def nonlinear_picture(program, folder):
    points, gamma, anchor = two_rings(random.Random(3)), 1.0, 1
    model = train(program, folder, points, "nonlinear-msvm", f"gamma={gamma}", "cost=1")
    arrays = read_arrays(model)
    samples, centre = arrays["model.samples"], arrays["model.centres"][0]

    def image(x, y):
        z = [gaussian(gamma, (x, y), sample) - c for sample, c in zip(samples, centre)]
        return [dot(row, z) for row in arrays["model.maps"]]

    images = [image(*point) for point in points]
    pull = [dot(column, images[anchor]) for column in zip(*arrays["model.maps"])]  # H'H z of the marked sample

    def learned(x, y):
        return sum((gaussian(gamma, (x, y), sample) - c) * p for sample, c, p in zip(samples, centre, pull))

    picture = Picture("A metric learned by nonlinear-msvm: similarities to one sample before and after")
    picture.row(*nonlinear_row(points, anchor, lambda x, y: gaussian(gamma, (x, y), points[anchor]),
                               "the Gaussian kernel", [[gaussian(gamma, x, z) for z in points] for x in points],
                               "principal coordinates of the kernel"))
    picture.row(*nonlinear_row(points, anchor, learned, "the learned similarity",
                               [[dot(a, b) for b in images] for a in images],
                               "principal coordinates of the learned similarities"))
    picture.legend = legend(("n", "", "equal similarity"), ("n", "mark", "to this sample"))
    return picture


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/kith")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/figures")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for stem, draw in (("linear_msvm", linear_picture), ("nonlinear_msvm", nonlinear_picture)):
            (options.out / f"{stem}.svg").write_text(draw(options.program, folder).text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
