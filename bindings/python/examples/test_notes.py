"""How to test a program that keeps its data in Toft: pytest test_notes.py"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import toft


class Note(toft.Object):
    id: int = toft.field(primary_key=True)
    text: str


def add_note(realm: toft.Realm, text: str) -> Note:
    """The program that is tested."""
    with realm.write():
        highest = realm.objects(Note).max("id")
        return realm.create(Note, id=1 if highest is None else highest + 1, text=text)


@pytest.fixture
def realm() -> Iterator[toft.Realm]:
    """A database in memory for each test: nothing to delete, nothing that tests share."""
    with toft.open_in_memory(Note) as realm:
        yield realm


def test_notes_are_numbered(realm: toft.Realm) -> None:
    assert [add_note(realm, text).id for text in ("a", "b")] == [1, 2]


def test_what_is_stored_is_compared_as_dictionaries(realm: toft.Realm) -> None:
    add_note(realm, "a")
    assert realm.objects(Note).to_dicts() == [{"id": 1, "text": "a"}]


def test_a_failure_leaves_nothing_behind(realm: toft.Realm) -> None:
    with pytest.raises(toft.TypeMismatchError):
        add_note(realm, 3)  # type: ignore[arg-type]
    assert len(realm.objects(Note)) == 0
