"""Which version a realm shows, outside of write transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Dog, Person

Reading = Callable[[toft.Realm, toft.Results[Dog]], object]


@pytest.fixture
def other(path: Path, realm: toft.Realm) -> Iterator[toft.Realm]:
    with realm.write():
        realm.create(Dog, name="Rex", age=3)
        realm.create(Person, name="Ada")
    with toft.open(path, ALL) as other:
        yield other


READINGS: dict[str, tuple[Reading, object]] = {
    "objects": (lambda realm, _: [each.name for each in realm.objects(Dog)], ["Rex", "Max"]),
    "object": (lambda realm, _: getattr(realm.object(Person, "Ada"), "age"), 1),
    "index": (lambda realm, _: realm.objects(Dog)[-1].name, "Max"),
    "count": (lambda _, dogs: len(dogs), 2),
    "truth": (lambda _, dogs: bool(dogs.where(Dog.name == "Max")), True),
    "loop": (lambda _, dogs: [each.name for each in dogs], ["Rex", "Max"]),
    "last": (lambda _, dogs: getattr(dogs.last(), "name"), "Max"),
    "sum": (lambda _, dogs: dogs.sum("age"), 8),
    "columns": (lambda _, dogs: dogs.lists("name")["name"], ["Rex", "Max"]),
    "groups": (lambda _, dogs: dogs.group_by("age").count(), {3: 1, 5: 1}),
}


def change(other: toft.Realm) -> None:
    with other.write():
        other.create(Dog, name="Max", age=5)
        ada = other.object(Person, "Ada")
        assert ada is not None
        ada.age += 1


@pytest.mark.parametrize(("reading", "expected"), READINGS.values(), ids=READINGS)
def test_a_question_is_answered_as_of_the_latest_version(
    realm: toft.Realm, other: toft.Realm, reading: Reading, expected: object
) -> None:
    dogs = realm.objects(Dog)
    reading(realm, dogs)
    change(other)
    assert reading(realm, dogs) == expected


def test_properties_and_indices_are_read_where_the_realm_stands(
    realm: toft.Realm, other: toft.Realm
) -> None:
    dogs, ada = realm.objects(Dog), realm.object(Person, "Ada")
    assert ada is not None
    before = realm.version
    change(other)
    assert (ada.age, dogs[-1].name, dogs[:][-1].name, realm.version) == (0, "Rex", "Rex", before)
    assert len(dogs) == 2
    assert (ada.age, dogs[-1].name) == (1, "Max") and realm.version > before


def test_a_realm_keeps_its_version_on_request(path: Path, other: toft.Realm) -> None:
    with toft.open(path, ALL, autorefresh=False) as still:
        change(other)
        assert len(still.objects(Dog)) == 1
        still.refresh()
        assert len(still.objects(Dog)) == 2


def test_a_block_of_reads_sees_one_version(realm: toft.Realm, other: toft.Realm) -> None:
    with realm.read() as same:
        assert same is realm and len(realm.objects(Dog)) == 1
        change(other)
        with realm.read():
            assert len(realm.objects(Dog)) == 1
        assert len(realm.objects(Dog)) == 1
    assert len(realm.objects(Dog)) == 2


def test_a_loop_sees_one_version(realm: toft.Realm, other: toft.Realm) -> None:
    with other.write():
        other.insert_many(Dog, [{"name": str(number)} for number in range(100)])
    names = []
    for dog in realm.objects(Dog):
        with other.write():
            other.objects(Dog).delete()
        names.append((dog.name, len(realm.objects(Dog))))
    assert names == [("Rex", 101), *((str(number), 101) for number in range(100))]
    assert len(realm.objects(Dog)) == 0


def test_a_write_sees_the_version_it_began_with(realm: toft.Realm, other: toft.Realm) -> None:
    with realm.write():
        assert len(realm.objects(Dog)) == 1
        realm.create(Dog, name="Tim")
        assert len(realm.objects(Dog)) == 2


def test_what_is_observed_moves_by_dispatching_alone(realm: toft.Realm, other: toft.Realm) -> None:
    dogs, seen = realm.objects(Dog), list[Any]()
    with dogs.observe(seen.append):
        realm.wait(5)
        change(other)
        assert len(dogs) == 1
        while len(dogs) == 1:
            assert realm.wait(5)
        count = len(seen)
        assert count >= 1
    with other.write():
        other.create(Dog, name="Tim")
    assert len(dogs) == 3 and len(seen) == count


def test_an_old_version_is_not_kept(realm: toft.Realm, other: toft.Realm) -> None:
    for _ in range(20):
        change(other)
        realm.object(Person, "Ada")
    assert realm.info.version == realm.info.latest_version
    assert other.info.oldest_pinned_version >= realm.version
