"""The wheel carries the library, and what is installed from it works without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import PACKAGE
from toft import _lib

PROGRAM = """
import sys, toft
from toft import _lib
assert "site" in toft.__file__ or "target" in toft.__file__, toft.__file__
assert _lib.candidates()[0].endswith("toft/libtoft.so")
class Dog(toft.Object):
    name: str
with toft.open(sys.argv[1], [Dog]) as realm:
    with realm.write():
        realm.create(Dog, name="Rex")
    print(realm.objects(Dog)[0].name, toft.library_version())
"""


def test_a_wheel_is_all_one_needs(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    pytest.importorskip("wheel")
    library = _lib._open(_lib.candidates())._name
    environment = {**os.environ, "TOFT_LIBRARY": str(library)}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--quiet",
        "-w",
        tmp_path,
        PACKAGE,
    ]
    built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("toft-*.whl")
    assert "py3-none-linux_" in wheel.name, wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "toft/libtoft.so" in names and "toft/py.typed" in names
        archive.extractall(tmp_path / "target")
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TOFT_LIBRARY", "PYTHONPATH")
    }
    clean["PYTHONPATH"] = str(tmp_path / "target")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "dogs.toft"],
        env=clean,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Rex ")
