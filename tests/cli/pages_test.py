# SPDX-License-Identifier: Apache-2.0
"""The examples of the documentation run: every ```sh block, each page in a folder of its own."""

import os
import re
import subprocess

import pytest

from conftest import PROGRAM, SOURCE

PAGES = [
    "docs/auto.md",
    "docs/commands.md",
    "docs/evaluate.md",
    "docs/groups.md",
    "docs/inspect.md",
    "docs/measure.md",
    "docs/report.md",
    "docs/score.md",
    "docs/statistics.md",
    "examples/words/README.md",
    *(f"docs/methods/{path.name}" for path in sorted((SOURCE / "docs/methods").glob("*.md"))),
]


def without_page(block):
    """The lines a program can run that was built without its HTML page."""
    result = subprocess.run([PROGRAM, "inspect", "--similarity", "none.csv", "--html", "none.html"],
                            capture_output=True, text=True, encoding="utf-8")
    if "built without its HTML page" not in result.stderr:
        return block
    return "".join(line for line in block.splitlines(keepends=True) if ".html" not in line)


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kith").symlink_to(PROGRAM)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    text = (SOURCE / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{page} has no example"
    for block in map(without_page, blocks):
        result = subprocess.run(["bash", "-euc", block], cwd=tmp_path, env=environment,
                                capture_output=True, text=True, encoding="utf-8", timeout=300)
        assert result.returncode == 0, block + result.stderr
