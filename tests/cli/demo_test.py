# SPDX-License-Identifier: Apache-2.0
"""What `make demo` runs once the program is built."""

import subprocess

from conftest import PROGRAM, SOURCE


def demo(program, folder):
    return subprocess.run([SOURCE / "tools/demo.sh", program, folder], capture_output=True,
                          text=True, encoding="utf-8", timeout=300)


def test_the_words_are_measured_inspected_and_compared(tmp_path):
    result = demo(PROGRAM, tmp_path / "demo")
    assert result.returncode == 0, result.stderr
    assert "800 words of 8 languages" in result.stdout
    for language in ("English", "Finnish", "Turkish"):
        assert language in result.stdout
    assert (tmp_path / "demo/words.csv").is_file()
    assert "5 partitions" in result.stdout and "features-fisher" in result.stdout
    assert (tmp_path / "demo/words.db").is_file()
    if "KITH_REPORT_BUNDLE" not in result.stderr:
        page = tmp_path / "demo/words.html"
        assert page.is_file() and f"The page is {page}" in result.stdout
        assert page.stat().st_size < 2_000_000


def test_a_program_that_is_not_built_is_asked_for(tmp_path):
    result = demo(tmp_path / "no_such_program", tmp_path / "demo")
    assert result.returncode == 1
    assert "make build" in result.stderr
