"""Primary keys that the database counts."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
import toft


class Ticket(toft.Object):
    id: int = toft.field(primary_key=True, auto_increment=True, default=None)
    text: str = ""
    after: Ticket | None


class Kind(IntEnum):
    ONE = 1


@pytest.fixture
def writing(path: Path):
    with toft.open(path, [Ticket]) as realm:
        realm.begin_write()
        yield realm
        if realm.is_writing:
            realm.commit()


def ids(realm: toft.Realm) -> list[int]:
    return [each.id for each in realm.objects(Ticket)]


def test_a_new_object_gets_the_next_key(writing: toft.Realm) -> None:
    first = Ticket(text="first")
    assert first.id is None
    writing.add(first)
    assert first.id == 1
    assert writing.create(Ticket, text="second").id == 2
    assert writing.create(Ticket, id=None).id == 3
    assert writing.upsert(Ticket, text="also new").id == 4
    writing.create(Ticket, id=10)
    linked = Ticket(text="last", after=Ticket(text="before"))
    writing.add(linked)
    assert sorted([linked.id, linked.after.id]) == [11, 12]
    writing.insert_many(Ticket, [{"text": "a"}, {"text": "b"}])
    writing.insert_many(Ticket, {"text": ["c", "d"]})
    assert sorted(ids(writing)) == [1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16]
    assert [each.id for each in writing.from_json(Ticket, '{"text": "of JSON"}')] == [17]


def test_deleted_keys_stay_used_and_cancelled_ones_do_not(path: Path) -> None:
    with toft.open(path, [Ticket]) as realm:
        with realm.write():
            realm.delete(realm.create(Ticket))
        realm.begin_write()
        assert realm.create(Ticket).id == 2
        realm.cancel()
    with toft.open(path, [Ticket]) as realm, realm.write():
        assert realm.create(Ticket).id == 2


def test_the_last_key_of_all_has_no_next(writing: toft.Realm) -> None:
    writing.create(Ticket, id=2**63 - 1)
    with pytest.raises(OverflowError, match="Give the object a key"):
        writing.create(Ticket)
    assert writing.create(Ticket, id=-5).id == -5


def test_what_cannot_be_counted_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="either a default or auto_increment"):
        toft.field(primary_key=True, auto_increment=True, default=1)

    class Text(toft.Object):
        id: str = toft.field(primary_key=True, auto_increment=True)

    class Plain(toft.Object):
        id: int = toft.field(auto_increment=True)

    class Listed(toft.Object):
        id: Kind = toft.field(primary_key=True, auto_increment=True)

    for cls, words in (
        (Text, "of type string and can't be auto-incremented"),
        (Plain, "not the primary key"),
        (Listed, "only an int"),
    ):
        with pytest.raises(toft.InvalidSchemaError) as caught:
            toft.open(path, [cls])
        assert words in f"{caught.value} {caught.value.detail}"


def test_a_file_without_declared_classes_counts_on(path: Path) -> None:
    with toft.open(path, [Ticket]) as realm, realm.write():
        realm.create(Ticket)
    with toft.open(path) as realm, realm.write():
        info = toft.fields(realm.classes["Ticket"])[0]
        assert info.name == "id" and info.is_auto_incremented
        assert realm.create("Ticket").id == 2


CREATOR = """
import sys, toft
class Ticket(toft.Object):
    id: int = toft.field(primary_key=True, auto_increment=True)
    text: str = ""
    after: "Ticket | None"
with toft.open(sys.argv[1], [Ticket]) as realm:
    for number in range(100):
        with realm.write():
            realm.create(Ticket, text=sys.argv[0])
            if number % 3 == 0:
                realm.delete(realm.objects(Ticket).sort("-id")[0])
print("done")
"""


def test_processes_never_get_the_same_key(path: Path, python: Callable[..., Any]) -> None:
    with toft.open(path, [Ticket]) as realm:
        processes = [python(CREATOR) for _ in range(3)]
        for process in processes:
            assert process.stdout.readline() == "done\n"
        realm.refresh()
        found = ids(realm)
        assert len(found) == len(set(found)) == 3 * 66
        with realm.write():
            assert realm.create(Ticket).id == 301
