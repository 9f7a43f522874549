"""The type hints are right, as mypy --strict reads them, and the program they are tried on runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import toft
import typed_program
from conftest import PACKAGE


def mypy(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", *map(str, arguments)]
    environment = {**os.environ, "MYPYPATH": "tests"}
    return subprocess.run(
        command, cwd=PACKAGE, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.no_library
def test_the_package_and_its_examples_are_typed() -> None:
    pytest.importorskip("mypy")
    result = mypy()
    assert result.returncode == 0, result.stdout + result.stderr


def programs(folder: Path) -> list[Path]:
    """The programs of the pages: those of README.md as one."""
    page = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.S)
    (folder / "readme.py").write_text("\n\n".join(page))
    # The other programs for servers import what may not be installed.
    shop = re.search(r"# shop\.py\n.*?(?=```)", (PACKAGE / "Servers.md").read_text(), re.S)
    assert shop is not None
    (folder / "shop.py").write_text(shop[0])
    return sorted(folder.glob("*.py"))


@pytest.mark.no_library
def test_the_programs_of_the_pages_are_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    result = mypy("--strict", "--config-file=", "--follow-imports=silent", *programs(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.no_library
def test_pyright_accepts_the_programs_of_the_pages(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    try:
        subprocess.run([sys.executable, "-m", "pyright", "--version"], check=True, timeout=300)
    except subprocess.SubprocessError as error:
        pytest.skip(f"pyright cannot be had here, it is a program for node: {error}")
    programs(tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(PACKAGE)], "pythonVersion": "3.10"})
    )
    command = [sys.executable, "-m", "pyright", "--project", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.no_library
def test_wrong_programs_are_told_so(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import toft\n"
        "from typed_program import Owner, Pet, Shelf, Toy\n"
        "def program(realm: toft.Realm, pet: Pet) -> None:\n"
        "    pet.age = 'old'\n"
        "    pet.nmae\n"
        "    realm.objects(Pet).whree('age > 3')\n"
        "    owner: Owner = realm.objects(Pet)[0]\n"
        "    pet.owner.name\n"
        "    realm.write(durability='soon')\n"
        "    Pet(name=3, weight=1.0, owner=None, tags=[])\n"
        "    Pet(name='Rex', weight=1.0, owner=None, tags=[], aeg=3)\n"
        "    Toy(price=1.0)\n"
        "    Toy('ball')\n"
        "    Toy(name='ball', wholes=[])\n"
        "    Toy.price > 'much'\n"
        "    Toy.price.startswith('a')\n"
        "    Toy.name.startwith('a')\n"
        "    Toy.labels.contains(3)\n"
        "    realm.objects(Toy).where(Toy(name='a').price > 3)\n"
        "    Shelf.marks.contains('x')\n"
        "    Shelf.prices['x'] > 'much'\n"
        "    Shelf.prices[0]\n"
        "    Shelf(name='a', labels={1})\n"
        "    Shelf(name='a', labels=set()).marks.add('x')\n"
        "    Shelf(name='a', labels=set()).prices['x'] = 'much'\n"
    )
    result = mypy("--strict", "--config-file=", wrong)
    lines = [
        int(line.split(":")[1])
        for line in result.stdout.splitlines()
        if ": error:" in line and "wrong.py" in line
    ]
    assert sorted(set(lines)) == list(range(4, 26)), result.stdout


def test_the_typed_program_runs(path: Path) -> None:
    with toft.open_in_memory(typed_program.CLASSES) as realm:
        assert typed_program.program(realm) == ["Rex"]
    toft.open(path, typed_program.CLASSES).close()
    assert typed_program.with_a_list_of_classes(str(path)) == 0
