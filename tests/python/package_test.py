# SPDX-License-Identifier: Apache-2.0
"""Installed by pip into a fresh environment, and by CMake."""
import os
import pathlib
import subprocess
import sys

import kith
from conftest import SOURCE

BUILD = pathlib.Path(os.environ["KITH_BUILD_DIR"])


def clean_environment():
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def test_pip_installs_it_without_a_network(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv"], check=True)
    pip = [tmp_path / "venv/bin/python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir",
                    tmp_path, SOURCE], check=True, env=clean_environment(), cwd=tmp_path)
    wheel, = tmp_path.glob("kith-*.whl")
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True,
                   env=clean_environment())
    said = subprocess.run([tmp_path / "venv/bin/python", "-c", "import kith; print(kith.__file__, kith.__version__)"],
                          check=True, capture_output=True, text=True, env=clean_environment(), cwd=tmp_path).stdout
    assert str(tmp_path) in said and kith.__version__ in said


def test_the_installed_folder_has_types(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path], check=True, stdout=subprocess.DEVNULL)
    folder = tmp_path / "lib/python3/dist-packages/kith"
    assert (folder / "py.typed").is_file()
    stubs = (folder / "__init__.pyi").read_text()
    for name in kith.__all__:
        assert name in stubs
    compile(stubs, "__init__.pyi", "exec")
    compile((folder / "measure.pyi").read_text(), "measure.pyi", "exec")
