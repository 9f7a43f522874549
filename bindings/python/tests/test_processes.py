"""Other processes: their commits are seen and notified, and their end leaves nothing behind."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
import toft
from models import Dog, Person

Runner = Callable[..., Any]

WRITER = """
import sys, toft
from models import *
with toft.open(sys.argv[1], ALL) as realm:
    for line in sys.stdin:
        with realm.write():
            realm.create(Dog, name=line.strip())
        print("done", flush=True)
"""


def order(process: Any, name: str) -> None:
    process.stdin.write(name + "\n")
    process.stdin.flush()


def test_what_another_process_commits_is_told(realm: toft.Realm, python: Runner) -> None:
    writer = python(WRITER)
    dogs = realm.objects(Dog).sort("name")
    seen: list[toft.Changes] = []
    dogs.observe(seen.append)
    for count, name in enumerate(["m", "a", "z"], start=1):
        order(writer, name)
        for _ in range(60):
            if len(dogs) == count:
                break
            realm.wait(1)
        assert len(dogs) == count
    assert [dog.name for dog in dogs] == ["a", "m", "z"]
    assert sum(len(changes.insertions) for changes in seen) in (
        2,
        3,
    )  # the initial call may come after the first commit


def test_asyncio_is_told_what_another_process_commits(realm: toft.Realm, python: Runner) -> None:
    writer = python(WRITER)

    async def program() -> list[str]:
        dogs = realm.objects(Dog)
        async for _ in dogs.observe():
            if len(dogs) == 3:
                break
            order(writer, str(len(dogs)))
        return [dog.name for dog in dogs]

    assert sorted(set(asyncio.run(asyncio.wait_for(program(), 60)))) == ["0", "1", "2"]


def test_a_writer_that_is_killed_blocks_nobody(realm: toft.Realm, python: Runner) -> None:
    source = """
import sys, time, toft
from models import *
realm = toft.open(sys.argv[1], ALL)
with realm.write():
    realm.create(Person, name="kept")
realm.begin_write()
realm.create(Person, name="lost")
print("writing", flush=True)
time.sleep(60)
"""
    for number in range(3):
        with realm.write():
            realm.delete_all(Person)
        process = python(source)
        assert process.stdout.readline() == "writing\n", process.stderr.read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        start = time.monotonic()
        with realm.write():
            assert [person.name for person in realm.objects(Person)] == ["kept"]
            realm.create(Dog, name=str(number))
        assert time.monotonic() - start < 5
    assert realm.check()


def test_processes_count_together(realm: toft.Realm, python: Runner) -> None:
    source = """
import sys, toft
from models import *
with toft.open(sys.argv[1], ALL) as realm:
    for _ in range(50):
        with realm.write():
            person = realm.object(Person, "Ada") or realm.create(Person, name="Ada")
            person.age += 1
"""
    processes = [python(source) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    realm.refresh()
    ada = realm.object(Person, "Ada")
    assert ada is not None and ada.age == 150


def test_a_reader_keeps_its_version_while_another_process_writes(
    realm: toft.Realm, python: Runner
) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
    dogs = realm.objects(Dog)
    writer = python(WRITER)
    order(writer, "Max")
    assert writer.stdout.readline() == "done\n", writer.stderr.read()
    # No call has moved the realm since, so it shows its old version.
    assert [dog.name for dog in dogs[:]] == ["Rex"]
    assert realm.refresh()
    assert [dog.name for dog in realm.objects(Dog)] == ["Rex", "Max"]


@pytest.mark.parametrize("signal_number", [signal.SIGINT])
def test_waiting_can_be_interrupted(python: Runner, realm: toft.Realm, signal_number: int) -> None:
    process = python(
        """
import sys, toft
from models import *
with toft.open(sys.argv[1], ALL) as realm:
    try:
        while True:
            realm.wait(0.5)
            print("waiting", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
"""
    )
    process.stdout.readline()
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=30)
    assert out.splitlines()[-1] == "interrupted", err


def test_what_is_printed_to_a_closed_stream_does_not_get_into_a_file(
    python: Runner, realm: toft.Realm
) -> None:
    process = python(
        """
import os, sys, toft
from models import *
for number in range(3):
    os.close(number)
with toft.open(sys.argv[1], ALL) as realm, realm.write():
    realm.create(Dog, name="Rex")
    for number in range(3):
        try:
            os.write(number, b"a line for somebody " * 1000)
        except OSError:
            continue
        os._exit(7)
"""
    )
    process.communicate(timeout=30)
    assert process.returncode == 0
    realm.refresh()
    assert [dog.name for dog in realm.objects(Dog)] == ["Rex"]
    assert realm.check()
