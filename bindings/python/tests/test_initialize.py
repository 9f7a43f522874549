"""A callback fills a new database, once in its life."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import toft
from conftest import Runner

KEY = bytes(range(64))


class Country(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str = toft.field(unique=True)


def fill(realm: toft.Realm) -> None:
    for number, name in enumerate(["Norway", "Chad", "Peru"]):
        realm.create(Country, id=number, name=name)
    assert len(realm.objects(Country)) == 3


def refuse(realm: toft.Realm) -> None:
    raise AssertionError("it is not new")


def names(realm: toft.Realm) -> list[str]:
    assert realm.check()
    return [country.name for country in realm.objects(Country)]


@pytest.mark.parametrize("key", [None, KEY])
def test_the_first_opening_fills_a_file(tmp_path: Path, key: bytes | None) -> None:
    path, copy = tmp_path / "a.toft", tmp_path / "copy.toft"
    filled: list[toft.Realm] = []

    def note(realm: toft.Realm) -> None:
        filled.append(realm)
        fill(realm)

    for _ in range(3):
        with toft.open(
            path, [Country], schema_version=4, encryption_key=key, initialize=note
        ) as realm:
            assert names(realm) == ["Norway", "Chad", "Peru"]
            assert not realm.is_writing and realm.info.schema_version == 4
    assert len(filled) == 1
    with pytest.raises(toft.ClosedError):
        filled[0].objects(Country)
    with toft.open(copy, [Country], seed=path, encryption_key=key, initialize=refuse) as realm:
        assert len(names(realm)) == 3
    with toft.open(path, [Country], mode="read_only", encryption_key=key, initialize=refuse):
        pass


def test_a_database_in_memory_is_filled_too() -> None:
    with toft.open_in_memory([Country], name="countries", initialize=fill) as realm:
        with toft.open_in_memory([Country], name="countries", initialize=refuse) as other:
            assert names(realm) == names(other) == ["Norway", "Chad", "Peru"]
    with toft.open_in_memory([Country], name="countries", initialize=fill) as realm:
        assert len(names(realm)) == 3


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_it_raises_leaves_nothing_and_the_next_opening_begins_again(
    tmp_path: Path, kind: type[BaseException]
) -> None:
    path = tmp_path / "a.toft"

    def fail(realm: toft.Realm) -> None:
        fill(realm)
        raise kind("no")

    with pytest.raises(kind, match="no"):
        toft.open(path, [Country], initialize=fail)
    with toft.open(path) as realm:
        assert not realm.classes and realm.check()
    with toft.open(path, [Country], initialize=fill) as realm:
        assert len(names(realm)) == 3


def test_what_may_not_be_done_in_it_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"

    def commit(realm: toft.Realm) -> None:
        fill(realm)
        realm.commit()

    def begin(realm: toft.Realm) -> None:
        fill(realm)
        realm.begin_write()

    def close(realm: toft.Realm) -> None:
        fill(realm)
        realm.close()

    def open_again(realm: toft.Realm) -> None:
        toft.open(path, [Country]).close()

    def repeat(realm: toft.Realm) -> None:
        fill(realm)
        realm.create(Country, id=7, name="Peru")

    for wrong, error in (
        (commit, toft.InsideCallbackError),
        (begin, toft.AlreadyInTransactionError),
        (close, toft.InsideCallbackError),
        (open_again, toft.TransactionError),
        (repeat, toft.Error),
    ):
        with pytest.raises(error):
            toft.open(path, [Country], initialize=wrong)
    with pytest.raises(toft.InvalidArgumentError):
        toft.open(path, initialize=fill)
    with toft.open(path, [Country], initialize=fill) as realm:
        assert len(names(realm)) == 3


def test_an_asynchronous_opening_fills_a_file_once(tmp_path: Path) -> None:
    async def main() -> list[str]:
        path = tmp_path / "a.toft"
        with await toft.open_async(path, [Country], initialize=fill) as realm:
            return names(realm)

    assert asyncio.run(main()) == ["Norway", "Chad", "Peru"]


OPENER = """
import sys, time, toft
from test_initialize import Country
def fill(realm):
    print("filling", flush=True)
    time.sleep(0.3)
    realm.create(Country, id=0, name="Norway")
sys.stdin.readline()
with toft.open(sys.argv[1], [Country], initialize=fill) as realm:
    assert [country.name for country in realm.objects(Country)] == ["Norway"]
    print("done", flush=True)
"""


def test_of_processes_that_make_a_file_at_the_same_moment_one_fills_it(
    path: Path, python: Runner
) -> None:
    openers = [python(OPENER) for _ in range(4)]
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    told = [opener.communicate(timeout=60)[0] for opener in openers]
    assert sorted(told) == ["done\n"] * 3 + ["filling\ndone\n"]


def test_a_process_that_is_killed_in_it_leaves_a_file_that_is_filled_later(
    path: Path, python: Runner
) -> None:
    opener = python(OPENER.replace("0.3", "60"))
    assert opener.stdin is not None and opener.stdout is not None
    opener.stdin.write("go\n")
    opener.stdin.flush()
    assert opener.stdout.readline() == "filling\n"
    opener.kill()
    opener.wait()
    with toft.open(path, [Country], initialize=fill) as realm:
        assert len(names(realm)) == 3
