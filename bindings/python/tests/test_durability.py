"""When a transaction is on disk:

at once, with others, or later; and what the kill of a process leaves.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
import toft
from models import ALL, Dog

Runner = Callable[..., Any]

WRITER = """
import sys, toft
from models import *
realm = toft.open(sys.argv[1], ALL)
for line in sys.stdin:
    with realm.write(durability="deferred"):
        realm.create(Dog, name=line.strip())
    print("done", flush=True)
"""


def order(writer: Any, name: str) -> None:
    print(name, file=writer.stdin, flush=True)
    assert writer.stdout.readline() == "done\n", writer.stderr.read()


def names(realm: toft.Realm) -> list[str]:
    realm.refresh()
    return [dog.name for dog in realm.objects(Dog)]


def test_another_process_sees_a_deferred_write_at_once_and_a_kill_takes_nothing_back(
    realm: toft.Realm, python: Runner
) -> None:
    writer = python(WRITER)
    expected = []
    for name in ("Rex", "Max", "Ace"):
        order(writer, name)
        expected.append(name)
        assert names(realm) == expected
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    assert names(realm) == expected
    with realm.write(durability="deferred"):
        realm.create(Dog, name="Ben")
    realm.flush()
    assert realm.info.deferred_size == 0
    assert names(realm) == [*expected, "Ben"]
    assert realm.check()


def test_a_process_that_is_killed_alone_leaves_its_deferred_writes(
    path: Path, python: Runner
) -> None:
    writer = python(WRITER)
    for name in ("Rex", "Max", "Ace"):
        order(writer, name)
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    with toft.open(path, ALL) as realm:
        assert names(realm) == ["Rex", "Max", "Ace"]


def test_a_deferred_write_waits_for_the_disk_and_a_flush_or_another_write_ends_that(
    realm: toft.Realm,
) -> None:
    def deferred() -> None:
        for number in range(
            5
        ):  # what waits becomes durable within a second: more often than not this is quicker
            with realm.write(durability="deferred"):
                realm.create(Dog, name=str(number))
            if realm.info.deferred_size:
                return
        raise AssertionError("the writes were not deferred")

    deferred()
    realm.flush()
    assert realm.info.deferred_size == 0
    realm.flush()
    durable: tuple[Literal["immediate", "group"], ...] = ("immediate", "group")
    for durability in durable:
        deferred()
        with realm.write(durability=durability):
            realm.create(Dog, name=durability)
        assert realm.info.deferred_size == 0
    realm.begin_write()
    realm.create(Dog, name="Rex")
    version = realm.commit(durability="deferred")
    assert version == realm.version >= realm.info.checkpoint_version
    assert realm.info.log_size > 0


def test_threads_whose_writes_share_the_way_to_the_disk_lose_none(
    path: Path, realm: toft.Realm
) -> None:
    def work(worker: int) -> None:
        with toft.open(path, ALL) as mine:
            for number in range(10):
                with mine.write(durability="group"):
                    mine.create(Dog, name=f"{worker}/{number}")

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(realm)) == sorted(
        f"{worker}/{number}" for worker in range(4) for number in range(10)
    )
    assert realm.info.deferred_size == 0


@pytest.mark.parametrize("wrong", ["later", "", None, 2, ["deferred"]])
def test_a_durability_that_does_not_exist_is_an_error(realm: toft.Realm, wrong: Any) -> None:
    with pytest.raises(toft.InvalidArgumentError, match="immediate, group, deferred"):
        with realm.write(durability=wrong):
            raise AssertionError("the block must not begin")
    assert not realm.is_writing
    with realm.write():
        realm.create(Dog, name="Rex")
        with pytest.raises(toft.InvalidArgumentError):
            realm.commit(durability=wrong)
        assert realm.is_writing
    assert names(realm) == ["Rex"]


def test_who_writes_or_may_only_read_does_not_flush(path: Path, realm: toft.Realm) -> None:
    with realm.write():
        with pytest.raises(toft.AlreadyInTransactionError):
            realm.flush()
    realm.close()
    with toft.open(path, mode="read_only") as reader:
        with pytest.raises(toft.ReadOnlyError):
            reader.flush()
