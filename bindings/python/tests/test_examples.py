"""The examples do what they say, and the same as those in C."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE

ROOT = PACKAGE.parent.parent
PACKAGES = PACKAGE / "examples" / "packages.py"
SAMPLE = ROOT / "bindings" / "c" / "examples" / "packages" / "sample.jsonl"
IN_C = Path(os.environ.get("TOFT_PACKAGES") or ROOT / "build" / "bindings-c" / "packages")


def run(*command: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    result = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def without_circumstances(output: str) -> str:
    """What is left of an output when the time, the memory, the processes and the size of the file are taken out."""
    output = re.sub(r"It took .* KiB\.", "It took its time.", output)
    output = re.sub(r"The answers took \d+ ms", "The answers took their time", output)
    return re.sub(r"rocess \d+", "rocess N", output)


def test_the_main_job_observes_another_process() -> None:
    output = run(sys.executable, PACKAGES, SAMPLE)
    assert re.findall(r"version \d+(.*)", output) == [
        "; inserted 0, 1, 2 -> now example-apple example-banana example-date",
        "; inserted 2; modified 1 -> now example-apple example-banana example-cherry example-date",
        "; deleted 0; modified 3 -> now example-banana example-cherry example-date",
    ]
    assert "The copy that followed the indices equals the results." in output


@pytest.mark.skipif(not IN_C.exists(), reason="the examples in C are not built")
def test_the_main_job_prints_what_it_prints_in_c(tmp_path: Path) -> None:
    assert without_circumstances(run(sys.executable, PACKAGES, SAMPLE)) == without_circumstances(run(IN_C, SAMPLE))
    status = Path("/var/lib/dpkg/status")
    if os.access(status, os.R_OK):
        assert without_circumstances(run(sys.executable, PACKAGES)) == without_circumstances(run(IN_C))


@pytest.mark.skipif(not IN_C.exists(), reason="the examples in C are not built")
def test_a_database_made_in_c_is_read_in_python(tmp_path: Path) -> None:
    database = tmp_path / "packages.toft"
    run(IN_C, "--database", database, SAMPLE)
    sys.path.insert(0, str(PACKAGES.parent))
    import packages

    with packages.toft.open(database, [packages.Package]) as realm:
        assert realm.check()
        assert len(realm.objects(packages.Package)) == len(SAMPLE.read_text().splitlines()) + 3
        assert "libc6" in {each.name for each in realm.objects(packages.Package).where("dependents.@count > 50")}


@pytest.mark.parametrize("readme, printed", [(ROOT / "README.md", "1 young dogs\n"), (PACKAGE / "README.md", "Rex good 1\n")])
def test_the_program_in_the_readme_does_what_it_says(readme: Path, printed: str, tmp_path: Path) -> None:
    program = re.search(r"```python\n(.*?)```", readme.read_text(), re.S)
    assert program is not None, f"{readme} has no program in Python"
    file = tmp_path / "program.py"
    file.write_text(program[1])
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    result = subprocess.run([sys.executable, file], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", printed)
