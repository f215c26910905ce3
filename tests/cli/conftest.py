# SPDX-License-Identifier: Apache-2.0
"""What every command-line test uses: the program, a scratch folder, and the shared data sets."""

import json
import os
import pathlib
import subprocess

import pytest

PROGRAM = os.environ["KITH_PROGRAM"]
SOURCE = pathlib.Path(os.environ["KITH_SOURCE"])
SHARED = SOURCE.parent / "shared" / "data"


class Kith:
    """Runs the program in a scratch folder."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments, env=None, **options):
        environment = {**os.environ, "LC_ALL": "C", **(env or {})}
        return subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.folder, capture_output=True, text=True, env=environment, timeout=300, **options)

    def json(self, *arguments):
        """Runs with --json, expects success, and returns the document."""
        result = self(*arguments, "--json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def refusal(self, *arguments):
        """Expects exit code 1 and nothing on standard output; returns the message."""
        result = self(*arguments)
        assert result.returncode == 1, (result.returncode, result.stdout, result.stderr)
        assert result.stdout == ""
        return result.stderr

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        return path


@pytest.fixture
def kith(tmp_path):
    return Kith(tmp_path)


@pytest.fixture
def shared():
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is absent: the shared data sets are not on this machine")
    return SHARED
