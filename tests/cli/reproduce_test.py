# SPDX-License-Identifier: Apache-2.0
"""What `make reproduce` runs, on a made-up data set and made-up printed tables."""

import importlib
import random
import subprocess
import sys

import pytest
from conftest import PROGRAM, SOURCE

TR3 = """# made up
method,dataset,mean,sd
knn,aural-sonar,{knn},5.00
kri-clip,aural-sonar,50.00,1.00
svm-clip,protein,10.00,5.00
svm-clip,mirex07,10.00,5.00
"""
TR4 = "family,modification,dataset,mean\nsvm,flip,protein,99.00\n"
CGR1 = "method,dataset,mean,sd\nknn,protein-binary,5.00,5.00\n"


def write_data(folder, sizes):
    """Classes at different places of a line, similarities that are not quite inner products."""
    chance = random.Random(7)
    labels = [str(c + 1) for c, size in enumerate(sizes) for _ in range(size)]
    x = [3 * int(label) + chance.gauss(0, 1) for label in labels]
    folder.mkdir(parents=True)
    rows = [",".join(repr(1 / (1 + abs(a - b) ** 3)) for b in x) for a in x]
    (folder / "similarity.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")


@pytest.fixture
def shared_folder(tmp_path):
    folder = tmp_path / "shared"
    write_data(folder / "data/aural-sonar", [12, 12])
    write_data(folder / "data/protein", [9, 9, 6])
    printed = folder / "paper_tables"
    printed.mkdir()
    (printed / "tr_table3.csv").write_text(TR3.format(knn="10.00"), encoding="utf-8")
    (printed / "tr_table4.csv").write_text(TR4, encoding="utf-8")
    (printed / "cgr_table1.csv").write_text(CGR1, encoding="utf-8")
    return folder


def reproduce(tmp_path, *arguments):
    return subprocess.run(
        [sys.executable, SOURCE / "tools/reproduce.py", "--program", PROGRAM,
         "--shared", tmp_path / "shared", "--folder", tmp_path / "runs",
         "--out", tmp_path / "page.md", "--repeats", "3", "--folds", "3", *arguments],
        capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)


def figures(page, start):
    """The cells of the only line that starts so."""
    lines = [line for line in page.splitlines() if line.startswith(start)]
    assert len(lines) == 1, (start, page)
    return [cell.strip() for cell in lines[0].strip("|").split("|")]


def test_each_printed_cell_of_a_data_set_that_is_there_is_compared(tmp_path, shared_folder):
    result = reproduce(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "voting is not among the shared data" in result.stderr
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    # Cells: two of aural-sonar and one of protein in Table 3, one in Table 4, one of the sub-matrix;
    # and the three of it that stand in the text of [CGR].
    assert figures(page, "| all |")[1] == "8"
    assert figures(page, "| [CGR] 4.3")[1] == "3"
    assert figures(page, "| [TR] Table 3")[1] == "3"
    knn = figures(page, "| `knn` | 10.00")
    assert knn[1] == "10.00 (5.00)"
    # Nobody errs on each second sample of classes this far apart: outside, in both readings.
    kri = figures(page, "| `kri-clip` | 50.00")
    assert kri[4] == "**no**" and kri[7] == "**no**"
    assert figures(page, "| `svm-flip` | 99.00")[4] == "**no**"
    assert "tr4, protein, `svm-flip`" in page
    labels = (tmp_path / "runs/data/protein-binary/labels.txt").read_text(encoding="utf-8").split()
    assert labels == ["1"] * 9 + ["2"] * 9


def test_value_differences_of_each_training_part_stand_beside_the_matrix(tmp_path, shared_folder):
    write_data(shared_folder / "data/voting", [15, 15])
    (shared_folder / "paper_tables/tr_table3.csv").write_text(
        "method,dataset,mean,sd\nknn,voting,50.00,1.00\n", encoding="utf-8")
    result = reproduce(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "voting-by-part is not among the shared data" in result.stderr
    assert "by part" not in (tmp_path / "page.md").read_text(encoding="utf-8")

    folder = shared_folder / "data/house-votes-84"
    folder.mkdir()
    labels = (shared_folder / "data/voting/labels.txt").read_text(encoding="utf-8")
    (folder / "labels.txt").write_text(labels, encoding="utf-8")
    # Every sample is alone with its vote: over all labels it would tell the class.
    (folder / "features.csv").write_text("".join(f"v{i}\n" for i in range(30)), encoding="utf-8")
    assert reproduce(tmp_path).returncode == 0
    cells = figures((tmp_path / "page.md").read_text(encoding="utf-8"), "| `knn` | 50.00")
    assert float(cells[2].split()[0]) < 20 < float(cells[5].split()[0])


def test_a_second_run_computes_nothing_again_and_writes_the_same_page(tmp_path, shared_folder):
    assert reproduce(tmp_path).returncode == 0
    page = (tmp_path / "page.md").read_bytes()
    # Another printed figure changes the page, but asks for no other run.
    assert reproduce(tmp_path).returncode == 0
    assert (tmp_path / "page.md").read_bytes() == page
    (shared_folder / "paper_tables/tr_table3.csv").write_text(TR3.format(knn="90.00"),
                                                              encoding="utf-8")
    assert reproduce(tmp_path).returncode == 0
    changed = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert figures(changed, "| `knn` | 90.00")[4] == "**no**"


CY1 = """dataset,n,negative_eigenvalues,positive_eigenvalues,lambda_min,lambda_max,denoise,flip,shift,svm,indefinite-svm
sonar,24,6.5,17.5,-0.20,9.00,95.00,95.00,10.00,95.00,95.00
heart,24,6.5,17.5,-0.20,9.00,95.00,95.00,95.00,95.00,95.00
"""


def test_noisy_kernels_are_made_anew_for_each_partition(tmp_path, shared_folder):
    (shared_folder / "paper_tables/cy_table1.csv").write_text(CY1, encoding="utf-8")
    chance = random.Random(3)
    labels = ["a", "b"] * 12
    features = [f"{(4 if label == 'a' else 0) + chance.gauss(0, 1)!r},{chance.gauss(0, 1)!r}" for label in labels]
    folder = shared_folder / "data/sonar"
    folder.mkdir()
    (folder / "features.csv").write_text("\n".join(features) + "\n", encoding="utf-8")
    (folder / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")
    result = reproduce(tmp_path)
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "### cy1: sonar" in page and "### cy1: heart" not in page
    # Classes this far apart: nobody is right on one of ten only.
    assert figures(page, "| `svm-shift` | 10.00")[4] == "**no**"
    assert "| sonar, `svm-shift` | 10.00 | width of the printed λ_max |" in page
    spectrum = figures(page, "| sonar | 24 |")
    assert float(spectrum[4]) + float(spectrum[5]) == pytest.approx(24)
    assert float(spectrum[6]) < 0 < float(spectrum[7])
    bounds = (tmp_path / "figures/cy_figures_1_2.csv").read_text(encoding="utf-8").splitlines()
    lower = [float(line.split(",")[1]) for line in bounds[1:] if line.split(",")[1]]
    assert lower == sorted(lower) and len(lower) > 0


KTBB_COLUMNS = ("denoise", "flip", "shift", "indsvm", "eskl-l1", "eskl-l2", "eskl-l3")
KTBB = "table,dataset,method,accuracy,fscore\n" + "".join(
    f"2,aural-sonar,{column},{10 + k}.0,50.0\n" for k, column in enumerate(KTBB_COLUMNS)) + "3,a.4.1,denoise,53.1,68.1\n"


def test_learned_kernels_are_ranked_and_what_is_absent_is_said(tmp_path, shared_folder):
    (shared_folder / "paper_tables/ktbb_tables.csv").write_text(KTBB, encoding="utf-8")
    result = reproduce(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Table 3 is left out: astral40-full is not among the shared data" in result.stderr
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "#### ktbb2: aural-sonar" in page and "ktbb3" not in page
    # Classes this far apart: nobody is right on one of ten only.
    denoise = figures(page, "| `svm-clip` | 10.0 |")
    assert denoise[4] == "**no**" and float(denoise[2].split()[0]) > 60
    printed = figures(page, "| printed |")
    assert [float(rank) for rank in printed[1:]] == [7, 6, 5, 4, 3, 2, 1]
    assert figures(page, "| Tables 1 and 2: aural-sonar |")
    assert reproduce(tmp_path, "--threads", "1").returncode == 0
    again = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert figures(again, "| `svm-clip` | 10.0 |") == denoise


@pytest.fixture
def ktbb(monkeypatch):
    monkeypatch.syspath_prepend(SOURCE / "tools")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.import_module("reproduce_ktbb")


def test_the_last_iteration_of_psi_blast_counts(ktbb):
    text = ("# PSIBLAST 2.12.0+\n# Iteration: 1\n# Query: a\na\ta\t50\na\tc\t9\n# Iteration: 2\n# Query: a\n"
            "a\ta\t60\na\tb\t20\na\tb\t30\n\nSearch has CONVERGED!\n# Iteration: 1\n# Query: b\nb\tb\t70\n")
    assert ktbb.last_iterations(text) == {"a": {"a": 60, "b": 30}, "b": {"b": 70}}


def test_ranks_share_places(ktbb):
    assert ktbb.ranks([3, 1, 3, 2]) == [1.5, 4, 1.5, 3]


def test_held_out_families_are_not_trained_on(ktbb):
    domains = [ktbb.Domain(f"{s}{f}{k}", s, f"{s}.{f}", "") for s in ("a", "b", "c") for f in range(5) for k in range(6)]
    for seed in range(20):
        cells = ktbb.new_family_partition(domains, "b", random.Random(seed))
        tested = {d.family for d, cell in zip(domains, cells) if d.superfamily == "b" and cell == "test"}
        trained = {d.family for d, cell in zip(domains, cells) if d.superfamily == "b" and cell.isdigit()}
        assert tested and trained and not tested & trained
        others = [{d.superfamily for d, cell in zip(domains, cells) if d.superfamily != "b" and part(cell)}
                  for part in (lambda cell: cell == "test", str.isdigit)]
        assert all(others) and not others[0] & others[1]
        for part in (lambda cell: cell == "test", str.isdigit):
            own = [d.superfamily == "b" for d, cell in zip(domains, cells) if part(cell)]
            assert own.count(True) == own.count(False)


def test_the_protocol_is_timed(tmp_path, shared_folder):
    result = reproduce(tmp_path, "--time")
    assert result.returncode == 0, result.stderr
    for data in ("aural-sonar", "protein", "protein-rbf"):
        assert figures(result.stdout, f"| {data} |")[1] == "19"
    assert not (tmp_path / "page.md").exists()


def test_absent_data_are_named(tmp_path):
    result = reproduce(tmp_path)
    assert result.returncode == 1
    assert "--shared" in result.stderr and str(tmp_path / "shared") in result.stderr
    assert not (tmp_path / "page.md").exists()


def test_a_program_that_is_not_built_is_asked_for(tmp_path, shared_folder):
    result = reproduce(tmp_path, "--program", tmp_path / "no_such_program")
    assert result.returncode == 1
    assert "make build" in result.stderr
