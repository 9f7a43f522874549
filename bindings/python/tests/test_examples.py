"""The programs that are printed do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE

ROOT = PACKAGE.parent.parent


@pytest.mark.parametrize("readme, printed", [(ROOT / "README.md", "1 young dogs\n"), (PACKAGE / "README.md", "Rex good 1\n")])
def test_the_program_in_the_readme_does_what_it_says(readme: Path, printed: str, tmp_path: Path) -> None:
    program = re.search(r"```python\n(.*?)```", readme.read_text(), re.S)
    assert program is not None, f"{readme} has no program in Python"
    file = tmp_path / "program.py"
    file.write_text(program[1])
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    result = subprocess.run([sys.executable, file], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", printed)
