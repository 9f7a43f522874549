"""The possible contents of a custom class, and the dependencies of its objects."""

from __future__ import annotations

import shutil
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from uuid import UUID

import pytest
import toft
from conftest import Runner
from models import ALL, Dog, Person


class Animal(toft.Object):
    name: str
    age: int = 0
    enemy: Animal | None
    friend: Animal | None

    def __init__(self, name: str, age: int = 0) -> None:
        super().__init__(name=name, age=age)

    @property
    def label(self) -> str:
        return f"{self.name} ({self.age})"

    @label.setter
    def label(self, label: str) -> None:
        self.name = label


class Cat(Animal):
    lives: int = 9


class Mood(Enum):
    CALM = "calm"


class Visit(toft.Object):
    day: date
    mood: Mood
    place: House | None
    guests: set[str | None]
    codes: dict[str, UUID]


class House(toft.Object):
    id: int = toft.field(primary_key=True)
    title: str | None = toft.field(default=None, indexed=True, name="name")
    area: toft.Float32
    visits = toft.linking_objects("Visit", "place")


def test_a_class_may_have_a_constructor_and_computed_properties() -> None:
    with toft.open_in_memory([Animal]) as realm:
        with realm.write():
            rex = realm.add(Animal("Rex", 3))
            rex.label = "Max"
        assert realm.objects(Animal)[0].label == rex.label == "Max (3)"
        with pytest.raises(toft.QueryError):
            realm.objects(Animal).where("label == 'Max'").count()


def test_the_types_keys_and_indexes_of_properties_can_be_asked(path: Path) -> None:
    def told(cls: type[toft.Object]) -> list[tuple[object, ...]]:
        return [
            (each.name, each.type, each.container, each.is_optional, each.target)
            for each in toft.fields(cls)
        ]

    visit = [
        ("day", date, None, False, ""),
        ("mood", Mood, None, False, ""),
        ("place", None, None, True, "House"),
        ("guests", str, set, True, ""),
        ("codes", UUID, dict, False, ""),
    ]
    assert told(Visit) == visit
    id, title, area, visits = toft.fields(House)
    assert (id.is_primary_key, id.is_indexed, id.type) == (True, True, int)
    assert (title.is_primary_key, title.is_indexed, title.is_optional) == (False, True, True)
    assert (title.name, title.stored_name) == ("title", "name")
    assert (area.is_indexed, area.type) == (False, toft.Float32)
    assert (visits.type, visits.target, visits.origin_property) == (None, "Visit", "place")
    toft.open(path, [Visit, House]).close()
    with toft.open(path, mode="existing") as realm:
        visit[:2] = [("day", datetime, None, False, ""), ("mood", str, None, False, "")]
        assert told(realm.classes["Visit"]) == visit
        stored = toft.fields(realm.classes["House"])
        assert [each.stored_name for each in stored if each.is_indexed] == ["id", "name"]
        assert [each.is_primary_key for each in stored] == [True, False, False, False]


def test_an_index_speeds_up_equality_membership_ranges_and_prefixes() -> None:
    class Book(toft.Object):
        id: int = toft.field(primary_key=True)
        title: str = toft.field(default="", indexed=True)
        year: int = toft.field(default=0, indexed=True)
        pages: int = 0

    with toft.open_in_memory([Book]) as realm:
        with realm.write():
            realm.insert_many(Book, [{"id": id, "title": f"t{id}"} for id in range(100)])
        books = realm.objects(Book)
        for query, step in {
            "id == 5": "look up primary key Book.id, one value",
            "title == 't5'": "look up index Book.title, one value",
            "year IN {1, 2, 3}": "look up index Book.year, 3 values",
            "year > 5 AND pages > 3": "look up index Book.year, a range",
            "title BEGINSWITH 't5'": "look up index Book.title, a prefix",
            "title == 't5' OR pages == 5": "scan 100 objects of Book",
            "title ==[c] 't5'": "scan 100 objects of Book",
            "title CONTAINS 't5'": "scan 100 objects of Book",
            "title != 't5'": "scan 100 objects of Book",
            "pages == 5": "scan 100 objects of Book",
        }.items():
            assert books.where(query).explain().startswith(step), query


def test_objects_of_a_class_are_not_among_those_of_its_base() -> None:
    with toft.open_in_memory([Animal, Cat]) as realm, realm.write():
        rex, tom = realm.add(Animal("Rex")), realm.add(Cat("Tom"))
        assert list(realm.objects(Animal)) == [rex] and list(realm.objects(Cat)) == [tom]


def test_a_link_sets_no_other_link() -> None:
    with toft.open_in_memory([Animal]) as realm, realm.write():
        rex, tom = realm.add(Animal("Rex")), realm.add(Animal("Tom"))
        rex.friend = tom
        assert (rex.enemy, tom.friend, tom.enemy) == (None, None, None)


def test_what_an_object_links_to_stays_when_it_is_deleted(realm: toft.Realm) -> None:
    with realm.write():
        ada, max_ = realm.create(Person, name="Ada"), realm.create(Dog, name="Max")
        rex = realm.create(Dog, name="Rex", owner=ada, friends=[max_])
        realm.delete(rex)
    assert ada.is_valid and list(realm.objects(Dog)) == [max_]


def test_no_none_goes_into_a_list_of_links(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")
        rex.friends.append(rex)
        for wrong in (
            lambda: rex.friends.append(None),  # type: ignore[arg-type]
            lambda: setattr(rex, "friends", [rex, None]),
            lambda: rex.friends.__setitem__(0, None),  # type: ignore[call-overload]
        ):
            with pytest.raises(TypeError):
                wrong()
            assert rex.friends == [rex]


@pytest.mark.parametrize("kind", [bool, float, bytes])
def test_not_every_type_can_be_a_primary_key(kind: type) -> None:
    class Wrong(toft.Object):
        id: kind = toft.field(primary_key=True)  # type: ignore[valid-type]

    with pytest.raises(toft.InvalidSchemaError) as raised:
        toft.open_in_memory([Wrong])
    assert "Wrong.id" in raised.value.detail


def test_an_upsert_with_none_empties_the_property() -> None:
    class Book(toft.Object):
        id: int = toft.field(primary_key=True)
        title: str | None
        pages: int | None

    with toft.open_in_memory([Book]) as realm, realm.write():
        book = realm.create(Book, id=1, title="Emma", pages=500)
        realm.upsert(Book, id=1, title=None)
        assert (book.title, book.pages) == (None, 500)


def test_a_closed_file_can_be_copied_and_deleted(path: Path) -> None:
    lock = path.with_name(path.name + ".lock")
    copy = path.with_name("copy.toft")
    with toft.open(path, ALL) as realm, realm.write():
        realm.create(Dog, name="Rex")
    shutil.copy(path, copy)
    lock.unlink(missing_ok=True)
    for file in (path, copy):
        with toft.open(file, ALL, mode="read_only") as realm:
            assert realm.objects(Dog)[0].name == "Rex"
    path.unlink()
    lock.unlink(missing_ok=True)
    with toft.open(path, ALL) as realm:
        assert len(realm.objects(Dog)) == 0


def test_a_check_that_runs_out_of_memory_says_so_and_calls_no_sound_file_damaged(
    path: Path, python: Runner
) -> None:
    with toft.open(path, ALL) as realm, realm.write():
        for number in range(12):  # more than one region of the file, which is mapped by itself
            realm.create(Dog, name="Rex", tags=[chr(97 + number) * 15_000_000])
    checker = python(
        """
import re, resource, sys, toft
realm = toft.open(sys.argv[1], mode="read_only")
[used] = re.findall(r"VmSize:\\s+(\\d+) kB", open("/proc/self/status").read())
limit = (int(used) << 10) + (80 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    print(realm.check())
except MemoryError as error:
    print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(realm.check().problems)
"""
    )
    out, err = checker.communicate(timeout=60)
    assert out.splitlines() == ["AddressSpaceExhaustedError", "()"], out + err


def test_a_write_for_which_there_is_no_room_is_an_error_and_changes_nothing(
    path: Path, python: Runner
) -> None:
    with toft.open(path, ALL) as realm, realm.write():
        realm.create(Dog, name="Rex")
    writer = python(
        """
import resource, signal, sys, toft
from models import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
realm = toft.open(sys.argv[1], ALL)
size = realm.info.file_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    with realm.write():
        realm.insert_many(Dog, ({"name": "x" * 1000} for _ in range(20_000)))
except toft.Error as error:
    print(type(error).__name__, isinstance(error, OSError), len(realm.objects(Dog)))
"""
    )
    out, err = writer.communicate(timeout=60)
    print(out, err)
    assert out.endswith(" True 1\n"), err
    with toft.open(path, ALL) as realm:
        assert [dog.name for dog in realm.objects(Dog)] == ["Rex"]


def test_classes_are_bound_as_they_are_met_and_openings_share_what_they_declare(
    tmp_path: Path,
) -> None:
    class Leaf(toft.Object):
        name: str = toft.field(primary_key=True)

    class Holder(toft.Object):
        anything: toft.Mixed
        leaf: Leaf | None

    class Broken(toft.Object):
        values: list  # type: ignore[type-arg]

    path = tmp_path / "bound.toft"
    for _ in range(2):
        with pytest.raises(toft.InvalidSchemaError, match="Broken.values"):
            toft.open(path, [Leaf, Broken])
    with toft.open(path, [Leaf, Holder]) as realm, realm.write():
        leaf = realm.create(Leaf, name="one")
        realm.create(Holder, anything=leaf, leaf=leaf)
    with toft.open(path, [Leaf, Holder]) as realm, toft.open(path, [Leaf, Holder]) as other:
        assert realm.classes == other.classes == {"Leaf": Leaf, "Holder": Holder}
        held = realm.objects(Holder)[0]
        assert type(held.anything) is Leaf and held.anything.name == "one"
        assert [each.name for each in other.objects("Leaf")] == ["one"]
        with pytest.raises(toft.NoSuchClassError, match="Did you mean 'Leaf'"):
            realm.objects("Leav")
