"""Each test gets its own database, which is checked when the test is over; no test may leave a
handle behind.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import toft
from models import ALL
from toft import _lib

_ALL_PASSED = pytest.StashKey[bool]()
TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """The path of a test's database file."""
    file = tmp_path / "test.toft"
    yield file
    gc.collect()
    if file.is_file() and file.stat().st_size and not (tmp_path / "damaged").exists():
        with toft.open(file, mode="existing") as realm:
            report = realm.check()
            assert report, report.problems


@pytest.fixture
def realm(path: Path) -> Iterator[toft.Realm]:
    """A realm of a file, with the classes of models.py."""
    with toft.open(path, ALL) as realm:
        yield realm
        if realm.is_open and realm.is_writing:
            realm.cancel()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A failed test keeps what it had: its traceback refers to it."""
    session.config.stash[_ALL_PASSED] = exitstatus == 0


def pytest_unconfigure(config: pytest.Config) -> None:
    """When all tests are gone, so are all handles."""
    if not config.stash.get(_ALL_PASSED, False):
        return
    gc.collect()
    if _lib.library.cache_info().currsize and (count := toft.handle_count()):
        raise AssertionError(f"{count} handles were never released")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "no_library: needs no shared library")


Runner = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def python(path: Path) -> Iterator[Runner]:
    """Starts another Python process with some source, the path of the database as its argument, and
    models.py to import.
    """
    started: list[subprocess.Popen[str]] = []

    def start(source: str, *arguments: object) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(TESTS)])}
        command = [sys.executable, "-c", source, str(path), *map(str, arguments)]
        process = subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
