# SPDX-License-Identifier: Apache-2.0
"""What tools/build.sh says of a build before it starts."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = 5


class Build(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = Path(temporary.name)
        (self.tree / "tools").mkdir()
        shutil.copy(ROOT / "tools/build.sh", self.tree / "tools/build.sh")
        preset = {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}
        (self.tree / "CMakePresets.json").write_text(json.dumps({"version": 6, "configurePresets": [preset]}))
        # Sources are found as kith finds its own: Ninja looks for new ones before anything else.
        (self.tree / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(toy LANGUAGES CXX)\n"
            "file(GLOB sources CONFIGURE_DEPENDS *.cpp)\nadd_library(toy STATIC ${sources})\n")
        for i in range(SOURCES):
            (self.tree / f"s{i}.cpp").write_text(f"int f{i}() {{ return {i}; }}\n")

    def build(self):
        done = subprocess.run([self.tree / "tools/build.sh", "release", "toy", "the toy"], check=True, capture_output=True, text=True)
        return done.stdout

    def test_the_first_build_is_announced_and_the_second_is_not(self):
        self.assertRegex(self.build(), rf"Building the toy: about \d+ minutes? on \d+ cores? \({SOURCES} files to compile\)\.")
        self.assertNotIn("Building the toy", self.build())

    def test_a_folder_that_is_only_configured_counts_too(self):
        subprocess.run(["cmake", "--preset", "release"], cwd=self.tree, check=True, capture_output=True)
        self.assertIn(f"({SOURCES} files to compile)", self.build())


if __name__ == "__main__":
    unittest.main()
