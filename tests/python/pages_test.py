# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md run, and say what they claim about their length."""
import re

import numpy as np
import pytest

from conftest import SOURCE

PAGE = (SOURCE / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)


def write_hits(folder):
    """Three families of proteins, most of whose members find each other."""
    rng = np.random.default_rng(2)
    names = [f"p{i:02d}" for i in range(36)]
    family = ["abc"[i % 3] for i in range(36)]
    with open(folder / "hits.tsv", "w") as file:
        for i, one in enumerate(names):
            for j, other in enumerate(names):
                near = family[i] == family[j]
                if i == j or rng.random() < (0.8 if near else 0.1):
                    score = 200 if i == j else rng.uniform(40, 120) if near else rng.uniform(20, 60)
                    file.write(f"{one}\t{other}\t40\t100\t0\t0\t1\t100\t1\t100\t1e-9\t{score:.1f}\n")
    (folder / "families.tsv").write_text("".join(f"{n}\t{f}\n" for n, f in zip(names, family)))


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_runs(block, tmp_path, monkeypatch, capsys, request):
    if ".html" in block:
        request.getfixturevalue("html_page")
    write_hits(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/python.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_first_example_writes_what_it_says(tmp_path, monkeypatch, program, html_page):
    import kith
    from kith import _core
    write_hits(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[0], "docs/python.md", "exec"), {})
    assert (tmp_path / "proteins.html").read_text().startswith("<!")
    assert sorted(kith.load("proteins.kith").classes_) == ["a", "b", "c"]
    assert _core.version == kith.__version__


def test_the_examples_are_as_short_as_their_headings_say():
    lines = [sum(1 for line in block.split("\n") if line.strip()) for block in BLOCKS]
    assert lines[0] <= 15 and lines[1] <= 5
