"""The library's log, through Python's."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import toft
from conftest import Runner
from models import ALL


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    yield
    toft.set_log_level(None)


def misuse(realm: toft.Realm) -> None:
    with pytest.raises(toft.ClosedError):
        realm.begin_write()


def test_a_recovery_is_told(path: Path, python: Runner, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    toft.set_log_level("info")
    died = python(
        "import os, sys, toft; from models import *\n"
        "realm = toft.open(sys.argv[1], ALL)\n"
        "with realm.write(): realm.create(Dog, name='Rex')\n"
        "os.kill(os.getpid(), 9)"
    )
    assert died.wait(60) == -signal.SIGKILL
    toft.open(path, ALL).close()
    [record] = caplog.records
    assert (record.name, record.levelno) == ("toft", logging.INFO)
    assert "Recovered" in record.getMessage() and str(path) in record.getMessage()


def test_levels_are_those_of_logging(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    with toft.open(path, ALL) as realm:
        pass
    for level, told in (
        (None, 0),
        (logging.CRITICAL + 1, 0),
        ("ERROR", 0),
        (logging.WARNING + 1, 0),
        (logging.WARNING, 1),
        (15, 2),
        (logging.DEBUG, 2),
        (0, 2),
    ):
        caplog.clear()
        toft.set_log_level(level)
        misuse(realm)
        toft.open(path, ALL).close()
        assert len(caplog.records) == told, level
    for wrong in ("loud", "Handler", 1.5, True):
        with pytest.raises(TypeError):
            toft.set_log_level(wrong)  # type: ignore[arg-type]


def test_a_handler_may_drop_objects_but_not_use_them(path: Path) -> None:
    realm, other = toft.open(path, ALL), toft.open(path, ALL)
    kept, seen = [realm.objects("Dog") for _ in range(3)], []
    realm.close()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.clear()
            try:
                other.refresh()
            except toft.InsideCallbackError as error:
                seen.append(error)

    handler = Handler()
    logging.getLogger("toft").addHandler(handler)
    try:
        toft.set_log_level(logging.WARNING)
        misuse(realm)
    finally:
        logging.getLogger("toft").removeHandler(handler)
    assert len(seen) == 1 and not other.refresh()
    other.close()


def test_a_forked_child_goes_on_telling(path: Path) -> None:
    realm = toft.open(path, ALL)
    realm.close()
    toft.set_log_level(logging.WARNING)
    process = os.fork()
    if process == 0:
        found: list[logging.LogRecord] = []
        handler = logging.Handler()
        handler.emit = found.append  # type: ignore[method-assign]
        logging.getLogger("toft").addHandler(handler)
        try:
            realm.begin_write()
        except toft.Error:
            os._exit(len(found))
        os._exit(100)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1


def test_a_file_of_a_newer_program_is_refused(path: Path) -> None:
    for given, stored in ((None, 0), (3, 3), (None, 3), (2**64 - 1, 2**64 - 1)):
        with toft.open(path, ALL, schema_version=given) as realm:
            assert realm.info.schema_version == stored
    with pytest.raises(toft.SchemaVersionTooLowError):
        toft.open(path, ALL, schema_version=2**64 - 2)
    for wrong in (-1, 2**64):
        with pytest.raises(toft.InvalidArgumentError):
            toft.open(path, ALL, schema_version=wrong)


def test_a_schema_version_needs_classes(path: Path) -> None:
    toft.open(path, ALL, schema_version=3).close()
    for version in (1, 3, 4):
        with pytest.raises(toft.InvalidArgumentError, match="needs the schema that it counts"):
            toft.open(path, schema_version=version)
    with toft.open(path, schema_version=0) as realm:
        assert realm.info.schema_version == 3
