"""The programs in examples/ print what their first lines say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE

EXAMPLES = sorted(
    path
    for path in (PACKAGE / "examples").glob("*.py")
    if path.stem not in ("packages", "test_notes")  # Tests/test_packages.py runs packages.py
)


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_prints_what_it_says(example: Path, path: Path) -> None:
    if example.stem == "frames":
        pytest.importorskip("pandas")
    expected = example.read_text().split("\nPrints:\n")[1].split('"""')[0]
    result = run(example, path)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", expected)


def test_the_example_of_tests_passes(tmp_path: Path) -> None:
    example = PACKAGE / "examples/test_notes.py"
    result = run("-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", example)
    assert result.returncode == 0 and "3 passed" in result.stdout, result.stdout + result.stderr
