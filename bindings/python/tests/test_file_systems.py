"""File systems on which processes can't share a database, and who has a file for itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Person

Runner = Callable[..., Any]


def _bound(place: Path, *options: str) -> Iterator[tuple[Path, Path]]:
    """A directory, and the same seen through FUSE."""
    real, seen = place / "real", place / "seen"
    real.mkdir()
    seen.mkdir()
    if not shutil.which("bindfs") or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("there is no bindfs, or no FUSE")
    mounted = subprocess.run(["bindfs", *options, real, seen], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"bindfs can't mount here: {mounted.stderr}")
    yield real, seen
    subprocess.run(["umount", "-l", seen], check=True)


@pytest.fixture
def fuse(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    yield from _bound(tmp_path)


@pytest.fixture
def read_only_fuse(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    yield from _bound(tmp_path, "-r")


def fill(path: Path) -> None:
    with toft.open(path, ALL) as realm, realm.write():
        for number in range(100):
            realm.create(Person, name=f"n{number}")


def count(path: Path, **options: Any) -> int:
    with toft.open(path, ALL, **options) as realm:
        assert realm.check()
        return len(realm.objects(Person))


def test_what_is_mounted_read_only_is_read(read_only_fuse: tuple[Path, Path]) -> None:
    real, seen = read_only_fuse
    fill(real / "a.toft")
    assert count(seen / "a.toft", mode="read_only") == 100
    assert count(seen / "a.toft", mode="read_only", mapped=False) == 100
    assert count(seen / "a.toft", mode="read_only", exclusive=True) == 100
    with pytest.raises(toft.ReadOnlyError):
        toft.open(seen / "a.toft", ALL)
    assert count(real / "copy.toft", seed=seen / "a.toft") == 100
    with toft.open(seen / "a.toft", ALL, mode="read_only") as realm:
        realm.write_copy(real / "other.toft")
    assert count(real / "other.toft") == 100


def test_other_files_there_are_for_one_process_that_says_so(fuse: tuple[Path, Path]) -> None:
    real, seen = fuse
    path = seen / "a.toft"
    for options in ({}, {"mode": "read_only"}):
        fill(real / "a.toft") if not path.exists() else None
        with pytest.raises(toft.UnsupportedError, match=r"\(FUSE\).*\(exclusive\)") as caught:
            toft.open(path, ALL, **options)
        assert "network" not in str(caught.value)
    with toft.open(path, ALL, exclusive=True) as realm:
        with realm.write():
            realm.create(Person, name="one more")
        with realm.write(durability="deferred"):
            realm.create(Person, name="another")
        assert len(realm.objects(Person)) == 102
    assert sorted(each.name for each in seen.iterdir()) == ["a.toft", "a.toft.lock"]
    (real / "a.toft.lock").unlink()
    assert count(path, exclusive=True) == 102
    assert count(path, exclusive=True, mode="read_only") == 102
    assert count(seen / "new.toft", exclusive=True) == 0  # made there
    assert count(real / "copy.toft", seed=path) == 102
    with toft.open(real / "copy.toft", ALL) as realm:
        realm.write_copy(seen / "backup.toft")  # which nobody shares yet
    assert count(seen / "backup.toft", exclusive=True) == 102
    assert not list(seen.glob("*.lock")) or list(seen.glob("*.lock")) == [seen / "copy.toft.lock"]
    assert count(real / "a.toft") == 102


def test_who_has_a_file_for_itself_keeps_others_out(path: Path, python: Runner) -> None:
    fill(path)
    source = "import sys, toft\ntoft.open(sys.argv[1]).close()"
    with toft.open(path, ALL, exclusive=True) as realm:
        other = python(source)
        assert "IncompatibleProcessError" in other.communicate()[1]
        with toft.open(path, ALL) as second, second.write():
            second.create(Person, name="in this process")
        realm.refresh()
        assert len(realm.objects(Person)) == 101
    other = python(source)
    assert other.wait() == 0
    with toft.open(path, ALL), pytest.raises(toft.ConfigurationMismatchError, match="exclusive"):
        toft.open(path, ALL, exclusive=True)
    holder = python(
        "import sys, toft\nrealm = toft.open(sys.argv[1])\nprint(1, flush=True)\nsys.stdin.read()"
    )
    assert holder.stdout.readline() == "1\n"
    with pytest.raises(toft.IncompatibleProcessError):
        toft.open(path, ALL, exclusive=True)


@pytest.mark.parametrize("new", [None, "encrypted"])
def test_a_changed_key_changes_nobodys_rights(path: Path, new: str | None) -> None:
    old_key, new_key = (None, b"k" * 64) if new else (b"k" * 64, None)
    with toft.open(path, ALL, encryption_key=old_key):
        pass
    mode = path.stat().st_mode & 0o777
    assert mode == 0o600  # whatever the umask
    if not shutil.which("setfacl"):
        pytest.skip("there is no setfacl")
    subprocess.run(["setfacl", "-m", "g::-,u:65534:rw", path], check=True)
    os.setxattr(path, "user.note", b"kept")
    lists = [subprocess.run(["getfacl", "-cn", path], capture_output=True, text=True).stdout]
    toft.change_key(path, old_key=old_key, new_key=new_key)
    lists.append(subprocess.run(["getfacl", "-cn", path], capture_output=True, text=True).stdout)
    assert lists[0] == lists[1]
    assert os.getxattr(path, "user.note") == b"kept"
    assert "user:65534:rw-" in lists[1] and "group::---" in lists[1]
    toft.change_key(path, old_key=new_key, new_key=None) if new_key else None
