# SPDX-License-Identifier: Apache-2.0
"""The tools behind the pictures and tables of learned metrics."""

import argparse
import importlib
import math
import pathlib
import random
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from conftest import PROGRAM, SOURCE

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tool(monkeypatch):
    """Imports a file of tools/."""
    monkeypatch.syspath_prepend(SOURCE / "tools")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.import_module


def test_rotations_find_singular_values_however_small(tool):
    jacobi = tool("jacobi")
    cosine, sine = math.cos(0.3), math.sin(0.3)
    rows = [[3 * cosine, -1e-9 * sine], [3 * sine, 1e-9 * cosine]]
    assert jacobi.singular_values(rows) == pytest.approx([3, 1e-9], rel=1e-6)
    (first, axis), = jacobi.principal_coordinates([[4, 8], [8, 16]])
    assert first == pytest.approx(20)
    assert abs(jacobi.dot(axis, [1 / math.sqrt(5), 2 / math.sqrt(5)])) == pytest.approx(1)
    assert jacobi.leading_coordinates([[4, 8], [8, 16]], 1)[0][0] == pytest.approx(20)


def test_a_contour_is_where_the_function_has_the_level(tool):
    picture = tool("svg_picture")
    lines = picture.contour((-2, -2), (2, 2), 80, math.hypot, 1.0)
    assert len(lines) == 1 and lines[0][0] == lines[0][-1]
    assert all(math.hypot(x, y) == pytest.approx(1, abs=1e-3) for x, y in lines[0])


def test_principal_coordinates_of_a_training_part_keep_its_products(tool):
    figures = tool("reproduce_zgzz_figures")
    chance = random.Random(1)
    points = [[chance.gauss(0, 1) for _ in range(3)] for _ in range(12)]
    gram = [[sum(a * b for a, b in zip(x, z)) for z in points] for x in points]
    rows, sizes = figures.projected_samples(gram, list(range(8)))
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True)
    # Distances are those of the points, of samples outside the training part too.
    assert math.dist(rows[2], rows[11]) == pytest.approx(math.dist(points[2], points[11]))
    assert [sum(row[k] for row in rows[:8]) for k in range(3)] == pytest.approx([0, 0, 0], abs=1e-9)
    assert figures.energy_dimensions([3, 4**0.5, 1], 0.9) == 2
    assert figures.energy_dimensions([3, 2, 1], 1.0) == 3


def test_documents_have_length_one_and_are_the_same_for_a_seed(tool, tmp_path):
    text = tool("text_set")
    rows, labels = text.made_up_documents(6, 3)
    assert (rows, labels) == text.made_up_documents(6, 3) and rows != text.made_up_documents(6, 4)[0]
    assert labels == list("ababab")
    assert all(sum(value**2 for value in row.values()) == pytest.approx(1) for row in rows)
    assert text.inner_products(rows)[0][1] == pytest.approx(text.inner_products(rows)[1][0])
    text.write_documents(tmp_path, rows, labels)
    subprocess.run([PROGRAM, "measure", "--data", tmp_path / "documents.libsvm", "--measure", "linear",
                    "--out", tmp_path / "k.csv"], check=True, capture_output=True)
    first = [float(cell) for cell in (tmp_path / "k.csv").read_text(encoding="utf-8").splitlines()[0].split(",")]
    assert first == pytest.approx(text.inner_products(rows)[0], abs=1e-7)


def test_pictures_are_drawn_from_models(tmp_path):
    subprocess.run([sys.executable, SOURCE / "tools/draw_metric.py", "--program", PROGRAM, "--out", tmp_path],
                   check=True, timeout=300)
    for name, panels in (("linear_msvm", 6), ("nonlinear_msvm", 4)):
        path = tmp_path / f"{name}.svg"
        root = xml.etree.ElementTree.parse(path).getroot()
        squares = [shape for shape in root.iter(f"{SVG}rect") if shape.get("class") == "point b"]
        assert len(squares) == 60 * panels + 1
        assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8")
        assert "nan" not in path.read_text(encoding="utf-8")


def test_the_optimum_is_never_above_the_descent(tmp_path):
    chance = random.Random(5)
    folder = tmp_path / "data/sonar"
    folder.mkdir(parents=True)
    labels = [i % 2 for i in range(60)]
    (folder / "features.csv").write_text(
        "".join(",".join(repr(chance.gauss(label if j == 0 else 0, 1)) for j in range(4)) + "\n" for label in labels),
        encoding="utf-8")
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    result = subprocess.run([sys.executable, SOURCE / "tools/compare_metric_solvers.py", "--program", PROGRAM,
                             "--shared", tmp_path, "--repeats", "2"], capture_output=True, text=True, encoding="utf-8",
                            check=True, timeout=300)
    assert "wdbc is not among the shared data" in result.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in result.stdout.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["sonar, 60 × 4", cost] for cost in ("0.1", "1", "10")]
    assert all(float(row[3]) <= float(row[2]) + 0.01 and float(row[4]) >= 1 for row in rows)
    assert all(0 < float(cell) <= 1 for row in rows for cell in row[5:7])
    assert all(re.fullmatch(r"\d+\.\d", cell) for row in rows for cell in row[7:])


def test_the_pages_show_pictures_that_are_there():
    for page in ("linear-msvm", "nonlinear-msvm"):
        path = SOURCE / f"docs/methods/{page}.md"
        (picture,) = re.findall(r"!\[[^]]*\]\(([^)]*\.svg)\)", path.read_text(encoding="utf-8"))
        assert pathlib.Path(path.parent / picture).is_file()


ZGZZ2 = """dataset,nca,lmnn,svm-linear,linear-msvm,simplemkl,rkl,svm-rbf,nonlinear-msvm
liver,10.00(1.00),10.00(1.00),10.00(1.00),10.00(1.00),10.00(1.00),10.00(1.00),10.00(1.00),10.00(1.00)
"""


def test_the_table_and_the_figures_are_written_from_runs_that_are_kept(tool, tmp_path, monkeypatch):
    """As `make reproduce` does it, on samples and documents that are few."""
    zgzz, figures = tool("reproduce_zgzz"), tool("reproduce_zgzz_figures")
    monkeypatch.setattr(figures, "DOCUMENTS", 24)
    monkeypatch.setattr(figures, "COSTS", (1,))
    monkeypatch.setattr(figures, "ENERGIES", (0.5, 0.9))
    chance = random.Random(6)
    folder = tmp_path / "data/liver-bupa"
    folder.mkdir(parents=True)
    labels = [i % 2 for i in range(24)]
    (folder / "features.csv").write_text(
        "".join(f"{chance.gauss(5 * label, 1)!r},{chance.gauss(0, 1)!r}\n" for label in labels), encoding="utf-8")
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    (tmp_path / "paper_tables").mkdir()
    (tmp_path / "paper_tables/zgzz_table2.csv").write_text(ZGZZ2, encoding="utf-8")
    options = argparse.Namespace(program=PROGRAM, shared=tmp_path, folder=tmp_path / "runs", repeats=2, folds=2,
                                 threads=1, out=tmp_path / "docs/page.md")
    page = zgzz.section(options)
    # Classes this far apart: nobody is right on one of ten only.
    (cells,) = [line.split("|") for line in page if line.startswith("| `linear-msvm` | 10.00")]
    assert "**no**" in cells[5] and float(cells[3].split()[0]) > 60
    assert [line for line in page if line.startswith("### zgzz2")] == ["### zgzz2: liver", "### zgzz2: who is ahead",
                                                                     "### zgzz2: the paper's own methods"]
    read = {line.split("|")[3].strip(): float(line.split("|")[4].split()[0]) for line in page
            if line.startswith("| liver, `linear-msvm` |")}
    assert read["settings best on each test part"] >= read["ours"] and len(read) == 4
    (ahead,) = [line.split("|") for line in page if line.startswith("| `linear-msvm` | `vector-svm-linear` |")]
    assert ahead[3].strip() == "0 of 1"  # equal printed figures
    assert "0 of 8 cells are within 2." in page
    rows = [line.split("|") for line in page if line.startswith("| liver | 1 |")]
    assert len(rows) == 6
    for row in rows:  # from six starts the objective falls, and stays above the optimum
        assert float(row[4]) >= float(row[6]) and float(row[8].strip(" %")) >= -0.1
    assert sum(line.startswith(("| 0.5 |", "| 0.9 |")) for line in page) == 2
    curve = (tmp_path / "docs/figures/zgzz_figure_1.csv").read_text(encoding="utf-8").splitlines()
    assert curve[0].startswith("data,cost,start") and len(curve) > 12
    reached = [line.split(",") for line in (tmp_path / "docs/figures/zgzz_figure_2.csv").read_text(encoding="utf-8").splitlines()]
    assert reached[0] == ["data", "cost", "start", "start machine", "partition", "accuracy"]
    assert len(reached) == 1 + 2 * 6 * 2  # data, starts, partitions
    (cells,) = [line.split("|") for line in page if line.startswith("| random, random |")]
    own = [float(row[5]) for row in reached if row[0] == "liver" and row[2:4] == ["random", "random"]]
    assert float(cells[2].split()[0]) == pytest.approx(sum(own) / 2, abs=0.01)
    for k in (1, 3):
        xml.etree.ElementTree.parse(tmp_path / f"docs/figures/zgzz_figure_{k}.svg")
    monkeypatch.setattr(zgzz.Workshop, "kith", lambda *_: pytest.fail("the figures ran again"))
    assert zgzz.figure_lines(zgzz.Workshop(options), options.out) == page[page.index("## [ZGZZ] Figures 1 to 3"):]


def test_a_difference_counts_in_its_own_standard_errors(tool):
    zgzz = tool("reproduce_zgzz")
    assert zgzz.paired([3, 5], [1, 1]) == pytest.approx(3)
    assert zgzz.paired([1, 2], [1, 2]) == 0 and zgzz.paired([2, 3], [1, 2]) == math.inf
