# SPDX-License-Identifier: Apache-2.0
"""Singular values and axes of small matrices without any package: one-sided Jacobi rotations, and powers."""

import math

MOST_SWEEPS = 40
ORTHOGONAL = 1e-14


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def orthogonal_rows(rows):
    """The rows, turned among themselves until each is orthogonal to the others, longest first: their lengths
    are the singular values, their directions the right singular vectors."""
    rows = [list(row) for row in rows]
    for _ in range(MOST_SWEEPS):
        turned = False
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                a, b = rows[i], rows[j]
                aa, bb, ab = dot(a, a), dot(b, b), dot(a, b)
                if abs(ab) <= ORTHOGONAL * math.sqrt(aa * bb):
                    continue
                turned = True
                ratio = (bb - aa) / (2 * ab)
                tangent = math.copysign(1 / (abs(ratio) + math.hypot(1, ratio)), ratio)
                cosine = 1 / math.hypot(1, tangent)
                sine = cosine * tangent
                rows[i] = [cosine * x - sine * y for x, y in zip(a, b)]
                rows[j] = [sine * x + cosine * y for x, y in zip(a, b)]
        if not turned:
            break
    return sorted(rows, key=lambda row: -dot(row, row))


def singular_values(rows):
    return [math.sqrt(dot(row, row)) for row in orthogonal_rows(rows)]


def principal_coordinates(gram):
    """Of a symmetric matrix without negative eigenvalues: (eigenvalue, unit eigenvector) pairs, largest first."""
    found = []
    for row in orthogonal_rows(gram):
        size = math.sqrt(dot(row, row))
        if found and size <= 1e-12 * found[0][0]:
            break
        if size > 0:
            found.append((size, [x / size for x in row]))
    return found


def leading_coordinates(gram, count, steps=300):
    """The first `count` of them alone, by powers of the matrix: near enough for a picture."""
    found = []
    for k in range(count):
        axis = [math.cos((k + 1) * (i + 0.5)) for i in range(len(gram))]
        for _ in range(steps):
            for _, other in found:
                share = dot(axis, other)
                axis = [a - share * o for a, o in zip(axis, other)]
            axis = [dot(row, axis) for row in gram]
            size = math.sqrt(dot(axis, axis)) or 1.0
            axis = [a / size for a in axis]
        found.append((size, axis))
    return found
