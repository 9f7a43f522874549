"""The program in README.md does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import PACKAGE


def test_the_program_in_the_readme_does_what_it_says(tmp_path: Path) -> None:
    program = re.search(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.S)
    assert program is not None
    file = tmp_path / "program.py"
    file.write_text(program[1])
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    result = subprocess.run(
        [sys.executable, file],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr, result.stdout) == (0, "", "Rex good 1\n")
