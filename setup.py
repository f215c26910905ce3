# SPDX-License-Identifier: Apache-2.0
"""Builds the package with CMake, which makes all of it, stubs included.

KITH_BUILD_DIR names a configured build tree to take it from (`make wheel` does); without it a new one is made.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def version():
    return re.search(r"project\(kith VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def check_python():
    """Says what is missing before anything is built: the first `python3` in the path may have nothing."""
    own = importlib.util.find_spec("setuptools.command.bdist_wheel")  # of newer setuptools
    for module in ["numpy"] if own else ["numpy", "wheel"]:
        if importlib.util.find_spec(module) is None:
            sys.exit(f"{sys.executable} has no {module}. kith is built with --no-build-isolation by a Python that has NumPy, "
                     "setuptools and wheel, such as Debian's: /usr/bin/python3 -m venv --system-site-packages venv")


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        tree = os.environ.get("KITH_BUILD_DIR")
        if not tree:
            tree = str(pathlib.Path(self.build_temp).resolve() / "kith")
            # AUTO: the page of reports is bundled where npm can do it; everything else works without.
            bundle = os.environ.get("KITH_REPORT_BUNDLE", "AUTO")
            subprocess.run(
                ["cmake", "-S", str(ROOT), "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 "-DKITH_BATCHES=ON", "-DKITH_BUILD_APP=OFF", "-DKITH_BUILD_PYTHON=ON",
                 f"-DKITH_REPORT_BUNDLE={bundle}", f"-DKITH_PYTHON={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "kith_python_package"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        shutil.copytree(pathlib.Path(tree) / "python" / "kith", target, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))


check_python()
setup(version=version(), packages=[], ext_modules=[Extension("kith._core", sources=[])],
      cmdclass={"build_ext": BuildWithCMake})
