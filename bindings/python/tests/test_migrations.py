"""Migrations: from the classes of one version of a program to those of the next."""

from __future__ import annotations

import asyncio
import enum
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import uuid
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import toft


def classes(version: int) -> list[type[toft.Object]]:
    """A program in six versions. 1: ages are texts. 2: they are numbers. 3: the name is called
    full_name. 4: people have a number. 5: a note is required. 6: dogs are hounds, and there are no
    notes.
    """
    person: dict[str, Any] = {}
    if version >= 4:
        person["id"] = int
    person["age"] = str if version == 1 else int
    person["name" if version < 3 else "full_name"] = str
    if version < 6:
        person["note"] = str | None if version < 5 else str
    namespace: dict[str, Any] = {"__annotations__": person, "__module__": __name__}
    if version >= 4:
        namespace["id"] = toft.field(primary_key=True)
    Person = type("Person", (toft.Object,), namespace)
    dog = {"name": str, "owner": Person | None}
    name = "Dog" if version < 6 else "Hound"
    return [Person, type(name, (toft.Object,), {"__annotations__": dog, "__module__": __name__})]


def migrate(migration: toft.Migration) -> None:
    old, new = migration.old_version, migration.new_version
    if old < 6 <= new:
        migration.rename_class("Dog", "Hound")
    if old < 3 <= new:
        migration.rename_property("Person", "name", "full_name")
    for number, (before, after) in enumerate(migration.enumerate("Person")):
        if old < 2:
            after.age = int(before.age) if before.age.isdigit() else -1
        if old < 4 <= new:
            after.id = 100 + number
        if old < 5 == new:
            after.note = before.note or "none"


def fill(path: Path) -> None:
    """Ada (36, with a note, the owner of Rex) and Bob (seven, which is no number)."""
    Person, Dog = classes(1)
    with toft.open(path, [Person, Dog], schema_version=1) as realm, realm.write():
        ada = realm.create(Person, name="Ada", age="36", note="first")
        realm.create(Person, name="Bob", age="seven")
        realm.create(Dog, name="Rex", owner=ada)


def dump(realm: toft.Realm) -> list[str]:
    lines = []
    for name, cls in sorted(realm.classes.items()):
        for each in realm.objects(cls):
            values = {key: value for key, value in each.to_dict().items() if key != "owner"}
            lines.append(f"{name} {dict(sorted(values.items()))}")
    return lines


EXPECTED = {
    1: [
        "Dog {'name': 'Rex'}",
        "Person {'age': '36', 'name': 'Ada', 'note': 'first'}",
        "Person {'age': 'seven', 'name': 'Bob', 'note': None}",
    ],
    2: [
        "Dog {'name': 'Rex'}",
        "Person {'age': 36, 'name': 'Ada', 'note': 'first'}",
        "Person {'age': -1, 'name': 'Bob', 'note': None}",
    ],
    3: [
        "Dog {'name': 'Rex'}",
        "Person {'age': 36, 'full_name': 'Ada', 'note': 'first'}",
        "Person {'age': -1, 'full_name': 'Bob', 'note': None}",
    ],
    4: [
        "Dog {'name': 'Rex'}",
        "Person {'age': 36, 'full_name': 'Ada', 'id': 100, 'note': 'first'}",
        "Person {'age': -1, 'full_name': 'Bob', 'id': 101, 'note': None}",
    ],
    5: [
        "Dog {'name': 'Rex'}",
        "Person {'age': 36, 'full_name': 'Ada', 'id': 100, 'note': 'first'}",
        "Person {'age': -1, 'full_name': 'Bob', 'id': 101, 'note': 'none'}",
    ],
    6: [
        "Hound {'name': 'Rex'}",
        "Person {'age': 36, 'full_name': 'Ada', 'id': 100}",
        "Person {'age': -1, 'full_name': 'Bob', 'id': 101}",
    ],
}


def opened(path: Path, version: int, migration: Any = migrate) -> toft.Realm:
    return toft.open(path, classes(version), schema_version=version, migration=migration)


def test_a_file_goes_through_every_version_one_after_the_other(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    for version in range(1, 7):
        with opened(tmp_path / "db", version) as realm:
            assert dump(realm) == EXPECTED[version]
            assert realm.info.schema_version == version
            assert realm.check()


@pytest.mark.parametrize("version", range(2, 7))
def test_a_file_of_the_first_version_goes_to_a_later_one_at_once(
    tmp_path: Path, version: int
) -> None:
    fill(tmp_path / "db")
    with opened(tmp_path / "db", version) as realm:
        assert dump(realm) == EXPECTED[version]
        [dog] = realm.objects("Dog" if version < 6 else "Hound")
        assert dog.owner == realm.objects("Person")[0]
        if version >= 4:
            assert realm.object("Person", 101) == realm.objects("Person")[1]
        assert realm.check()


def test_a_migration_is_called_for_older_files_only(tmp_path: Path) -> None:
    called = []
    for version, expected in ((1, []), (1, []), (2, [(1, 2)]), (2, [(1, 2)])):
        opened(
            tmp_path / "db",
            version,
            lambda migration: called.append((migration.old_version, migration.new_version)),
        ).close()
        assert called == expected
    with pytest.raises(toft.SchemaVersionTooLowError):
        opened(tmp_path / "db", 1)


def test_what_a_migration_raises_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "db")

    def fail(migration: toft.Migration) -> None:
        migrate(migration)
        migration.new.create("Person", age=1, **({"id": 7} if migration.new_version > 3 else {}))
        raise ZeroDivisionError("enough")

    for version in range(2, 7):
        with pytest.raises(ZeroDivisionError, match="enough"):
            opened(tmp_path / "db", version, fail)
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]
        assert realm.check()


@pytest.mark.parametrize("confinement", ["thread", "caller"])
def test_to_open_the_file_again_in_a_migration_is_an_error_at_once(
    tmp_path: Path, confinement: Any
) -> None:
    fill(tmp_path / "db")

    def open_again(migration: toft.Migration) -> None:
        migrate(migration)
        with pytest.raises(toft.AlreadyInTransactionError, match="a migration"):
            opened(tmp_path / "db", 2, migrate)
        with toft.open(tmp_path / "db", confinement=confinement) as reader:
            assert dump(reader) == EXPECTED[1]
            with pytest.raises(toft.AlreadyInTransactionError, match="a migration"):
                reader.begin_write()

    with opened(tmp_path / "db", 2, open_again) as realm:
        assert dump(realm) == EXPECTED[2]
        assert realm.check()


def test_without_a_migration_no_type_changes(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with pytest.raises(toft.SchemaMismatchError, match=r"Person\.age"):
        opened(tmp_path / "db", 2, None)
    opened(tmp_path / "db", 1, None).close()


def test_a_primary_key_needs_values_that_differ(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with pytest.raises(toft.DuplicatePrimaryKeyError, match=r"several objects have 0\."):
        opened(tmp_path / "db", 4, lambda migration: None)
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]


def test_what_cannot_be_renamed_says_why(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    for arguments, reason in (
        (("Cat", "name", "x"), "because it does not exist"),
        (("Person", "nom", "full_name"), "because it does not exist"),
        (("Person", "age", "full_name"), "because the source property still exists"),
        (("Person", "name", "age"), "because it would change from type 'string' to 'int'"),
    ):
        with pytest.raises(toft.InvalidArgumentError, match=reason):
            opened(tmp_path / "db", 3, lambda m, a=arguments: m.rename_property(*a))
    with pytest.raises(toft.InvalidArgumentError, match="still has the class 'Dog'"):
        opened(tmp_path / "db", 3, lambda m: m.rename_class("Dog", "Hound"))
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]


def test_a_class_is_created_deleted_and_enumerated(tmp_path: Path) -> None:
    fill(tmp_path / "db")

    class Cat(toft.Object):
        name: str

    def change(migration: toft.Migration) -> None:
        assert [(old.name, new) for old, new in migration.enumerate("Dog")] == [("Rex", None)]
        assert migration.delete_data("Dog")
        assert not migration.delete_data("Dog")
        migration.new.create(Cat, name="Tom")
        assert [(old, new.name) for old, new in migration.enumerate(Cat)] == [(None, "Tom")]
        with pytest.raises(toft.NoSuchClassError):
            list(migration.enumerate("Cow"))

    with toft.open(tmp_path / "db", Cat, schema_version=2, migration=change) as realm:
        assert [cat.name for cat in realm.objects(Cat)] == ["Tom"]
        assert realm.check()
    with toft.open(tmp_path / "db") as realm:
        assert list(realm.classes) == ["Cat"]


def test_what_a_migration_gave_is_closed_afterwards(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    kept: list[Any] = []

    def keep(migration: toft.Migration) -> None:
        migrate(migration)
        kept.extend([migration, *next(migration.enumerate("Person"))])
        with pytest.raises(toft.InsideCallbackError):
            migration.new.commit()

    with opened(tmp_path / "db", 2, keep) as realm:
        assert dump(realm) == EXPECTED[2]
        migration, old, new = kept
        for use in (lambda: old.age, lambda: new.age, lambda: migration.delete_data("Dog")):
            with pytest.raises(toft.ClosedError):
                use()


def test_a_migration_needs_the_classes_and_the_version(tmp_path: Path) -> None:
    with pytest.raises(toft.InvalidArgumentError, match="schema_version"):
        toft.open(tmp_path / "db", classes(1), migration=migrate)
    with pytest.raises(toft.InvalidArgumentError, match="classes"):
        toft.open(tmp_path / "db", schema_version=1, migration=migrate)


PROGRAM = """
import os, signal, sys
from pathlib import Path
from test_migrations import dump, migrate, opened

def kill(migration):
    migrate(migration)
    for each in range(2000):
        migration.new.create("Person", age=each)
    os.kill(os.getpid(), signal.SIGKILL)

path, version, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
opened(path, version, kill if how == "kill" else migrate).close()
"""


def in_another_process(path: Path, version: int, how: str = "") -> int:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    arguments = [sys.executable, "-c", PROGRAM, str(path), str(version), how]
    return subprocess.run(arguments, env=environment, timeout=120).returncode


def test_a_process_that_is_killed_in_a_migration_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    assert in_another_process(tmp_path / "db", 3, "kill") == -signal.SIGKILL
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]
        assert realm.check()
    with opened(tmp_path / "db", 3) as realm:
        assert dump(realm) == EXPECTED[3]
        assert realm.check()


def test_a_process_with_the_old_classes_hears_of_a_migration(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with opened(tmp_path / "db", 1) as realm:
        people = realm.objects("Person")
        assert len(people) == 2
        with realm.read():
            assert in_another_process(tmp_path / "db", 2) == 0
            with pytest.raises(toft.SchemaMismatchError, match="migrated to schema version 2"):
                realm.refresh()
            with pytest.raises(toft.SchemaMismatchError, match="Open it again"):
                realm.begin_write()
            assert [person.age for person in people] == ["36", "seven"]
    with opened(tmp_path / "db", 2) as realm:
        assert dump(realm) == EXPECTED[2]


def make(path: Path, version: int) -> None:
    """The people and dog of `fill`, by a program of this version."""
    Person, Dog = classes(version)
    name = "name" if version < 3 else "full_name"
    with toft.open(path, [Person, Dog], schema_version=version) as realm, realm.write():
        people = []
        for number, (called, age, note) in enumerate(
            [("Ada", "36", "first"), ("Bob", "seven", None)]
        ):
            given: dict[str, Any] = {name: called, "age": age}
            if version > 1:
                given["age"] = 36 if called == "Ada" else -1
            if version >= 4:
                given["id"] = 100 + number
            if version < 6:
                given["note"] = note or ("none" if version == 5 else None)
            people.append(realm.create(Person, **given))
        realm.create(Dog, name="Rex", owner=people[0])


@pytest.mark.parametrize("version", range(1, 7))
def test_a_file_of_each_version_opens_with_the_newest_classes(tmp_path: Path, version: int) -> None:
    make(tmp_path / "db", version)
    assert toft.schema_version(tmp_path / "db") == version
    with opened(tmp_path / "db", version) as realm:
        assert dump(realm) == EXPECTED[version]
        # It may be called while the file is open.
        assert toft.schema_version(tmp_path / "db") == version
    with opened(tmp_path / "db", 6) as realm:
        assert dump(realm) == EXPECTED[6]
        [dog] = realm.objects("Hound")
        assert dog.owner.full_name == "Ada"
        assert realm.check()


def test_a_property_may_be_renamed_twice_and_become_indexed(tmp_path: Path) -> None:
    fill(tmp_path / "db")

    class Person(toft.Object):
        title: str | None = toft.field(indexed=True)

    def change(migration: toft.Migration) -> None:
        migration.rename_property("Person", "name", "meanwhile")
        migration.rename_property("Person", "meanwhile", "title")

    with toft.open(tmp_path / "db", Person, schema_version=2, migration=change) as realm:
        assert [each.title for each in realm.objects(Person)] == ["Ada", "Bob"]
        assert len(realm.objects(Person).where("title == 'Bob'")) == 1
        assert realm.check()


def test_a_property_that_was_removed_comes_back_empty(tmp_path: Path) -> None:
    fill(tmp_path / "db")

    class Short(toft.Object):
        name: str

    Short.__name__ = "Person"
    toft.open(tmp_path / "db", Short, schema_version=2, migration=lambda _: None).close()
    Person, Dog = classes(1)
    with toft.open(tmp_path / "db", [Person, Dog], schema_version=3) as realm:
        people: Any = realm.objects(Person)
        assert [(each.name, each.age) for each in people] == [
            ("Ada", ""),
            ("Bob", ""),
        ]
        assert realm.check()


def test_a_class_that_is_not_declared_stays_until_its_data_is_deleted(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    Person, Dog = classes(1)

    def delete(migration: toft.Migration) -> None:
        assert migration.delete_data("Dog")

    for version, migration, dogs in ((2, lambda _: None, 1), (4, delete, 0)):
        toft.open(tmp_path / "db", Person, schema_version=version, migration=migration).close()
        with toft.open(tmp_path / "db", [Person, Dog], schema_version=version + 1) as realm:
            assert len(realm.objects(Dog)) == dogs
            assert dump(realm)[dogs:] == EXPECTED[1][1:]
            assert not dogs or realm.objects(Dog)[0].owner.name == "Ada"
            assert realm.check()


def test_an_optional_property_that_becomes_required_is_a_new_one(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    Person, Dog = classes(1)
    Strict: Any = type(
        "Person",
        (toft.Object,),
        {"__annotations__": {"name": str, "age": str, "note": str}, "__module__": __name__},
    )
    with pytest.raises(toft.SchemaMismatchError, match="note"):
        toft.open(tmp_path / "db", Strict, schema_version=2)
    with toft.open(tmp_path / "db", [Person, Dog], schema_version=1) as realm:
        assert dump(realm) == EXPECTED[1]
    with toft.open(tmp_path / "db", Strict, schema_version=2, migration=lambda _: None) as realm:
        people = [(each.name, each.age, each.note) for each in realm.objects(Strict)]
        assert people == [("Ada", "36", ""), ("Bob", "seven", "")]
        assert realm.check()


def person(**properties: Any) -> type[toft.Object]:
    namespace = {"__annotations__": {"id": int, **properties}, "__module__": __name__}
    return type("Person", (toft.Object,), namespace)


def test_what_migrations_remove_and_replace_leaves_the_file(tmp_path: Path) -> None:
    path, first = tmp_path / "db", person(secret=str)
    with toft.open(path, first, schema_version=1) as realm:
        with realm.write():
            rows = [{"id": i, "secret": f"TOPSECRET{i}" + "x" * 1_000} for i in range(5_000)]
            realm.insert_many(first, rows)
        full = realm.info.live_size
    versions = itertools.count(2)

    def migrated(cls: type[toft.Object], change: Any = lambda _: None) -> toft.Realm:
        return toft.open(path, cls, schema_version=next(versions), migration=change)

    def convert(migration: toft.Migration) -> None:
        for old, new in migration.enumerate("Person"):
            as_bytes = isinstance(old.secret, str)
            new.secret = old.secret.encode() if as_bytes else old.secret.decode()

    for kind in (bytes, str, bytes):
        with migrated(person(secret=kind), convert) as realm:
            assert realm.info.live_size < full * 1.3
    with migrated(person()) as realm:
        assert len(realm.objects("Person")) == 5_000
        assert realm.info.live_size < full / 20
        realm.write_copy(tmp_path / "copy")
        assert realm.check()
    assert b"TOPSECRET" not in (tmp_path / "copy").read_bytes()
    toft.compact(path)
    assert b"TOPSECRET" not in path.read_bytes()
    with migrated(person(secret=str)) as realm:
        assert {each.secret for each in realm.objects("Person")} == {""}
        assert realm.check()


def test_a_property_may_change_its_type_a_thousand_times(tmp_path: Path) -> None:
    with toft.open(tmp_path / "db", person(x=int), schema_version=1) as realm, realm.write():
        realm.create("Person", id=1, x=7)

    def convert(migration: toft.Migration) -> None:
        for old, new in migration.enumerate("Person"):
            new.x = str(old.x) if isinstance(old.x, int) else int(old.x)

    kinds = person(x=int), person(x=str)
    for version in range(2, 1_100):
        cls = kinds[version % 2 == 0]
        with toft.open(tmp_path / "db", cls, schema_version=version, migration=convert) as realm:
            pass
    with toft.open(tmp_path / "db", kinds[0]) as realm:
        assert realm.objects(kinds[0])[0].x == 7
        assert realm.info.live_size < 100_000


def test_a_read_only_opening_does_not_skip_a_migration(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    Person, Dog = classes(1)
    given: dict[str, Any] = {"schema_version": 2, "mode": "read_only"}
    with pytest.raises(toft.SchemaMismatchError, match="migrated to schema version 2"):
        toft.open(tmp_path / "db", [Person, Dog], migration=migrate, **given)
    with toft.open(tmp_path / "db", [Person, Dog], **given) as realm:
        assert realm.info.schema_version == 1
        assert dump(realm) == EXPECTED[1]


def owners(version: int) -> list[type[toft.Object]]:
    """1 and 3: people share addresses. 2: each address is embedded in its owner, with its rooms,
    which were embedded before.
    """
    base = toft.EmbeddedObject if version == 2 else toft.Object

    class Room(toft.EmbeddedObject):
        number: int

    class Address(base):  # type: ignore[valid-type, misc]
        street: str = "Elm"
        rooms: list[Room]

    class Person(toft.Object):
        name: str
        home: Address | None
        earlier: list[Address]
        named: dict[str, Address | None]
        note: Any

    return [Person, Address, Room]


def settle(path: Path) -> None:
    """Ada and Bob share a home with two rooms; nobody lives in Oak."""
    Person, Address, Room = owners(1)
    with toft.open(path, [Person, Address, Room], schema_version=1) as realm, realm.write():
        elm = realm.create(Address, rooms=[Room(number=1), Room(number=2)])
        realm.create(Person, name="Ada", home=elm, earlier=[elm], named={"a": elm, "b": None})
        realm.create(Person, name="Bob", home=elm)
        realm.create(Address, street="Oak")


def test_a_class_becomes_embedded_in_a_migration_only(tmp_path: Path) -> None:
    path = tmp_path / "db"
    settle(path)
    with pytest.raises(toft.SchemaMismatchError) as error:
        toft.open(path, owners(2), schema_version=1, migration=lambda _: None)
    assert "is not embedded in the file" in error.value.detail
    assert "open the file with a higher schema version" in error.value.detail
    for migration in (None, lambda _: None):
        with pytest.raises(toft.SchemaMismatchError) as error:
            toft.open(path, owners(2), schema_version=2, migration=migration)
        assert (
            "class 'Address' has objects that can't be embedded: 1 without an owner (object 1), "
            "1 with several owners (object 0 in 'Person.home' of object 0 and 'Person.home' of "
            "object 1). Give each one owner in the migration, or open the file with automatic "
            "backlink handling"
        ) in error.value.detail

    def share_less(migration: toft.Migration) -> None:
        Address = migration.new.classes["Address"]
        ada, bob = migration.new.objects("Person")
        ada.earlier.clear()
        ada.named.clear()
        [oak] = [each for each in migration.new.objects("Address") if each.street == "Oak"]
        bob.home = oak  # an object that is there, as a link to others
        ash = migration.new.create("Address", street="Ash")
        assert migration.new.add(Address(street="Gone")) and migration.new.create(Address)
        ada.named["new"] = Address(street="Yew")
        ada.earlier.append(ash)
        assert ada.earlier.pop() == ash and ash.is_valid
        bob.earlier = [ash]
        for each in list(migration.new.objects("Address")):
            if each.street == "Gone" or each.street == "Elm" and each != ada.home:
                migration.new.delete(each)

    with toft.open(path, owners(2), schema_version=2, migration=share_less) as realm:
        ada, bob = realm.objects("Person")
        assert ada.home.street == "Elm" and [room.number for room in ada.home.rooms] == [1, 2]
        assert bob.home.street == "Oak" and ada.named["new"].street == "Yew"
        assert [each.street for each in bob.earlier] == ["Ash"]
        assert len(realm.objects("Address")) == 4
        with realm.write(), pytest.raises(toft.EmbeddedObjectError):
            realm.create("Address")
        with realm.write():
            ada.home = None
            realm.delete(bob)
        assert [each.street for each in realm.objects("Address")] == ["Yew"]
        assert len(realm.objects("Room")) == 0
        assert realm.check()


def test_objects_with_several_owners_are_copied_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "db"
    settle(path)
    wanted: dict[str, Any] = {"schema_version": 2, "automatic_backlink_handling": True}
    told = [str(each) for each in toft.dry_run(path, owners(2), **wanted)]
    assert told == ["class 'Address' is embedded"]
    with pytest.raises(toft.SchemaMismatchError):
        toft.dry_run(path, owners(2), schema_version=2)
    with toft.open(path, owners(2), **wanted) as realm:
        ada, bob = realm.objects("Person")
        places = [ada.home, ada.earlier[0], ada.named["a"], bob.home]
        assert ada.named["b"] is None
        assert len(set(places)) == len(realm.objects("Address")) == 4
        assert len(realm.objects("Room")) == 8
        for place in places:
            assert place.street == "Elm" and [room.number for room in place.rooms] == [1, 2]
        with realm.write():
            realm.delete(ada)
        assert len(realm.objects("Address")) == 1 and len(realm.objects("Room")) == 2
        assert realm.check()
        # A program with these classes gets an error for the next ones.
        with realm.read():
            toft.open(path, owners(3), schema_version=3).close()
            with pytest.raises(toft.SchemaMismatchError, match="schema version 3") as error:
                realm.refresh()
            assert "is not embedded any more" in error.value.detail
    with toft.open(path, owners(3), schema_version=3) as realm:
        [bob] = realm.objects("Person")
        with realm.write():
            bob.earlier = [bob.home, realm.create("Address", street="Oak")]
            bob.home = None
        assert sorted(each.street for each in realm.objects("Address")) == ["Elm", "Oak"]
        assert realm.check()


@pytest.mark.parametrize("wanted", [False, True])
def test_mixed_values_do_not_hold_embedded_objects(tmp_path: Path, wanted: bool) -> None:
    path = tmp_path / "db"
    settle(path)
    with toft.open(path, owners(1)) as realm, realm.write():
        ada, _ = realm.objects("Person")
        ada.note = [1, {"place": ada.home}]
    options: dict[str, Any] = {"schema_version": 2, "automatic_backlink_handling": wanted}
    with pytest.raises(toft.SchemaMismatchError) as error:
        toft.open(path, owners(2), **options)
    assert (
        "1 linked to by mixed values or sets (object 0 in 'Person.note' of object 0)"
    ) in error.value.detail
    with toft.open(path, owners(1)) as realm:
        assert realm.info.schema_version == 1 and len(realm.objects("Address")) == 2
        assert realm.check()


def test_a_class_with_a_primary_key_becomes_embedded_and_gets_it_again(tmp_path: Path) -> None:
    def tags(is_embedded: bool) -> list[type[toft.Object]]:
        base = toft.EmbeddedObject if is_embedded else toft.Object

        class Tag(base):  # type: ignore[valid-type, misc]
            id: int = toft.field(primary_key=not is_embedded)

        class Thing(toft.Object):
            tags: list[Tag]

        return [Thing, Tag]

    path = tmp_path / "db"
    with toft.open(path, tags(False), schema_version=1) as realm, realm.write():
        realm.create("Thing", tags=[realm.create("Tag", id=each) for each in range(3)])
    with pytest.raises(toft.SchemaMismatchError, match="primary key"):
        toft.open(path, tags(True), schema_version=2)
    options: dict[str, Any] = {"migration": lambda _: None}
    with toft.open(path, tags(True), schema_version=2, **options) as realm, realm.write():
        [thing] = realm.objects("Thing")
        thing.tags.append({"id": 2})
    with pytest.raises(toft.DuplicatePrimaryKeyError):
        toft.open(path, tags(False), schema_version=3, **options)

    def number(migration: toft.Migration) -> None:
        [thing] = migration.new.objects("Thing")
        thing.tags[3].id = 3
        thing.tags.append(migration.new.create("Tag", id=4))

    with toft.open(path, tags(False), schema_version=3, migration=number) as realm:
        [thing] = realm.objects("Thing")
        assert [tag.id for tag in thing.tags] == [0, 1, 2, 3, 4]
        assert realm.object("Tag", 3) == thing.tags[3]
        assert realm.check()


def test_many_objects_become_embedded_without_memory_for_each(tmp_path: Path) -> None:
    """120 MB of texts, half of them copied, and 40 MB of lost ones, in a process that samples its
    memory meanwhile.
    """

    def homes(is_embedded: bool) -> list[type[toft.Object]]:
        base = toft.EmbeddedObject if is_embedded else toft.Object

        class Address(base):  # type: ignore[valid-type, misc]
            street: str

        class Person(toft.Object):
            home: Address | None
            work: Address | None

        return [Person, Address]

    count, sampled, ended = 120_000, [0], threading.Event()
    Person, Address = homes(False)
    with toft.open(tmp_path / "db", [Person, Address], schema_version=1) as realm:
        for begin in range(0, count, 10_000):
            with realm.write():
                for number in range(begin, begin + 10_000):
                    home = realm.create(Address, street=f"{number}{'x' * 1000}")
                    if number % 3:
                        work = home if number % 3 == 1 else None
                        realm.create(Person, home=home, work=work)

    def sample() -> None:
        while not ended.wait(0.01):
            sampled.append(own_memory())

    sampler, before = threading.Thread(target=sample), own_memory()
    sampler.start()
    options: dict[str, Any] = {"schema_version": 2, "automatic_backlink_handling": True}
    try:
        realm = toft.open(tmp_path / "db", homes(True), **options)
    finally:
        ended.set()
        sampler.join()
    with realm:
        assert len(realm.objects("Address")) == count
        assert len(sampled) > 20
        assert max(sampled) - before < 100 << 20
        assert realm.check()


class Colour(enum.Enum):
    RED = 3
    BLUE = 4


def people_with_defaults() -> Any:
    numbers = itertools.count()

    class Person(toft.Object):
        name: str
        points: int = 7
        number: int = toft.field(default_factory=lambda: next(numbers), unique=True)
        token: uuid.UUID = toft.field(default_factory=uuid.uuid4, indexed=True)
        colour: Colour
        since: date = date(2020, 1, 2)
        anything: toft.Mixed = toft.field(default_factory=lambda: ["a", 1])
        nothing: int | None = None
        weight: float | None = toft.field(default=1.5, name="mass")
        plain: int
        tags: list[str] = toft.field(default_factory=lambda: ["kept for new objects"])

    return Person


@pytest.mark.parametrize("migrates", [False, True])
def test_objects_get_the_defaults_of_new_properties(tmp_path: Path, migrates: bool) -> None:
    fill(tmp_path / "db")
    Person = people_with_defaults()

    def change(migration: toft.Migration) -> None:
        for old, new in migration.enumerate(Person):
            assert new.points == 7
            if old.name == "Bob":
                new.points = 8

    with toft.open(
        tmp_path / "db",
        Person,
        schema_version=2 if migrates else None,
        migration=change if migrates else None,
    ) as realm:
        ada, bob = realm.objects(Person)
        assert (ada.points, bob.points) == (7, 8 if migrates else 7)
        assert (ada.number, bob.number) == (0, 1)
        assert (
            ada.token != bob.token
            and len(realm.objects(Person).where("token == $0", bob.token)) == 1
        )
        assert ada.colour == Colour.RED and ada.since == date(2020, 1, 2)
        assert list(ada.anything) == ["a", 1]
        assert (ada.nothing, ada.weight, ada.plain, list(ada.tags)) == (None, 1.5, 0, [])
        assert realm.check()


def test_a_default_that_is_none_for_one_object_is_asked_for_the_others(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    given: list[Any] = [None, 5]

    class Person(toft.Object):
        name: str
        points: int | None = toft.field(default_factory=lambda: given.pop(0))
        anything: toft.Mixed = toft.field(default_factory=lambda: None if given else "last")

    with toft.open(tmp_path / "db", Person) as realm:
        ada, bob = realm.objects(Person)
        assert (ada.points, bob.points, given) == (None, 5, [])
        assert (ada.anything, bob.anything) == ("last", "last")
        assert realm.check()

    class Wrong(toft.Object):
        name: str
        amount: int = toft.field(default_factory=lambda: None)

    Wrong.__name__ = "Person"
    with pytest.raises(toft.Error, match="amount"):
        toft.open(tmp_path / "db", Wrong)


def test_a_default_that_raises_ends_the_opening(tmp_path: Path) -> None:
    fill(tmp_path / "db")

    class Broken(toft.Object):
        name: str
        number: int = toft.field(default_factory=lambda: 1 // 0)

    class Wrong(toft.Object):
        name: str
        number: int = toft.field(default_factory=lambda: "one")

    for cls, expected in ((Broken, ZeroDivisionError), (Wrong, toft.TypeMismatchError)):
        cls.__name__ = "Person"
        with pytest.raises(expected):
            toft.open(tmp_path / "db", cls)
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]
        assert realm.check()


def test_a_dry_run_tells_what_would_change_and_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    assert toft.dry_run(tmp_path / "db", classes(1), schema_version=1) == []
    changes = toft.dry_run(tmp_path / "db", classes(6), schema_version=6, migration=migrate)
    assert [str(each) for each in changes] == [
        "class 'Person' has the primary key 'id'",
        "property 'Person.full_name' has a new name, it was 'name'",
        "property 'Person.id' is added: int",
        "property 'Person.age' is int, was string",
        "property 'Person.note' is removed with its values",
        "class 'Hound' has a new name, it was 'Dog'",
    ]
    assert changes[0].kind is toft.SchemaChangeKind.CLASS_CHANGED
    assert (changes[1].class_name, changes[1].property_name) == ("Person", "full_name")
    with pytest.raises(toft.SchemaMismatchError):
        toft.dry_run(tmp_path / "db", classes(6), schema_version=6)
    with pytest.raises(toft.DuplicatePrimaryKeyError):
        toft.dry_run(tmp_path / "db", classes(4), schema_version=4, migration=lambda _: None)
    with pytest.raises(ZeroDivisionError):
        toft.dry_run(tmp_path / "db", classes(2), schema_version=2, migration=lambda _: 1 // 0)
    with pytest.raises(toft.FileNotFoundError):
        toft.dry_run(tmp_path / "none", classes(1))
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]
        assert realm.check()


def test_a_name_that_was_changed_without_a_migration_is_asked_for(tmp_path: Path) -> None:
    """The values went out of sight, and a dry run said that a property is added."""
    fill(tmp_path / "db")
    Item = type("Person", (toft.Object,), {"__annotations__": {"age": str, "full_name": str}})
    question = "Did you rename it to 'full_name'? Rename it in a migration then"
    hidden = [
        f"property 'Person.name' is hidden, its values stay. {question}",
        f"property 'Person.note' is hidden, its values stay. {question}",
        "property 'Person.full_name' is added: string",
        "class 'Dog' is hidden, its objects stay",
    ]
    for version in (None, 1, 2):
        told = toft.dry_run(tmp_path / "db", [Item], schema_version=version)
        assert [str(each) for each in told] == hidden
    kept = toft.dry_run(tmp_path / "db", [Item], schema_version=2, migration=lambda _: None)
    removed = next(each for each in kept if each.property_name == "name")
    assert str(removed) == f"property 'Person.name' is removed with its values. {question}"
    assert removed.kind is toft.SchemaChangeKind.PROPERTY_REMOVED
    renamed = toft.dry_run(
        tmp_path / "db",
        [Item],
        schema_version=2,
        migration=lambda migration: migration.rename_property("Person", "name", "full_name"),
    )
    assert str(renamed[0]) == "property 'Person.full_name' has a new name, it was 'name'"
    assert not any("'Person.name'" in str(each) for each in renamed)


def test_a_rename_has_to_end_with_a_declared_name_and_comes_once(tmp_path: Path) -> None:
    """It opened, and the values were gone; within a loop it failed at the second object."""
    fill(tmp_path / "db")

    def mistyped(migration: toft.Migration) -> None:
        migration.rename_property("Person", "name", "fullname")

    def within(migration: toft.Migration) -> None:
        for _ in migration.enumerate("Person"):
            migration.rename_property("Person", "name", "full_name")

    def lost(migration: toft.Migration) -> None:
        migration.rename_class("Dog", "Hond")

    for version, change, text in (
        (3, mistyped, "no such property, and a name for the meantime .* mean 'full_name'"),
        (3, within, "inside a loop over enumerate"),
        (6, lost, "class 'Dog' to 'Hond' because the schema has no such class"),
    ):
        with pytest.raises(toft.InvalidArgumentError, match=text):
            opened(tmp_path / "db", version, change)
    with opened(tmp_path / "db", 1) as realm:
        assert dump(realm) == EXPECTED[1]
        assert realm.check()

    def after(migration: toft.Migration) -> None:
        for _ in migration.enumerate("Person"):
            break
        migrate(migration)

    with opened(tmp_path / "db", 3, after) as realm:
        assert dump(realm) == EXPECTED[3]
        assert realm.check()


def test_a_migration_tells_how_far_it_is_and_ends_when_told(tmp_path: Path) -> None:
    Person, _ = classes(1)
    with toft.open(tmp_path / "db", classes(1), schema_version=1) as realm, realm.write():
        realm.insert_many(Person, [{"name": f"{each}", "age": "1"} for each in range(3000)])
    New = people_with_defaults()
    told: list[tuple[int, int]] = []

    def enough(done: int, total: int) -> None:
        told.append((done, total))
        if done > 4000:
            raise KeyboardInterrupt

    arguments: dict[str, Any] = {"schema_version": 2, "migration": lambda _: None}
    with pytest.raises(KeyboardInterrupt):
        toft.open(tmp_path / "db", New, progress=enough, **arguments)
    assert 4000 < told[-1][0] < 6000 and all(done <= total for done, total in told)
    assert toft.schema_version(tmp_path / "db") == 1
    told.clear()
    progress = lambda *given: told.append(given)  # noqa: E731
    toft.open(tmp_path / "db", New, progress=progress, **arguments).close()
    assert told[-1][0] == told[-1][1]


def own_memory() -> int:
    """Bytes in memory that are no pages of files."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


def test_a_migration_takes_no_memory_for_each_object(tmp_path: Path) -> None:
    """120 MB of defaults, and as much again that a block copies, by a transaction that keeps 48 MiB
    of changed pages.
    """

    class Old(toft.Object):
        number: int

    class New(toft.Object):
        number: float
        text: str = "x" * 1000

    Old.__name__ = New.__name__ = "Thing"
    count, sampled = 120_000, [0]
    with toft.open(tmp_path / "db", Old, schema_version=1) as realm, realm.write():
        realm.insert_many(Old, {"number": range(count)})
    before = own_memory()

    def copy(migration: toft.Migration) -> None:
        for number, (old, new) in enumerate(migration.enumerate(New)):
            new.number = old.number
            if number % 4 == 0:
                new.text = "y" * 1000
            if number % 1000 == 0:
                sampled.append(own_memory())

    with toft.open(
        tmp_path / "db",
        New,
        schema_version=2,
        migration=copy,
        progress=lambda *_: sampled.append(own_memory()),
    ) as realm:
        assert len(sampled) > 200
        assert max(sampled) - before < 100 << 20
        things: Any = realm.objects(New)
        assert things[count - 1].number == count - 1 and things[count - 2].text == "x" * 1000
        assert things[count - 4].text == "y" * 1000


def test_a_file_that_does_not_fit_is_made_anew(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    path = tmp_path / "db"
    with opened(path, 1), pytest.raises(toft.AlreadyOpenError):
        toft.open(path, classes(2), delete_if_migration_needed=True)
    with toft.open(path, classes(1), delete_if_migration_needed=True) as realm:
        assert dump(realm) == EXPECTED[1]
    with pytest.raises(toft.InvalidArgumentError):
        toft.open(path, mode="read_only", delete_if_migration_needed=True)
    with toft.open(path, classes(2), schema_version=2, delete_if_migration_needed=True) as realm:
        assert dump(realm) == []
        assert realm.info.schema_version == 2 and realm.check()


def test_files_that_nobody_has_open_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "db"
    assert not toft.delete_files(path)
    with opened(path, 1), pytest.raises(toft.AlreadyOpenError):
        toft.delete_files(path)
    with toft.open(path, mode="read_only"), pytest.raises(toft.AlreadyOpenError):
        toft.delete_files(path)
    assert toft.delete_files(path) and not path.exists()
    with pytest.raises(toft.FileNotFoundError):
        toft.schema_version(path)
    for _ in range(2):
        opened(path, 1).close()


def test_only_databases_are_deleted_damaged_ones_too(tmp_path: Path) -> None:
    path, other = tmp_path / "db", tmp_path / "notes.txt"
    for content in (b"hello", bytes(50_000), b"SQLite format 3\0" + bytes(9_000)):
        other.write_bytes(content)
        with pytest.raises(toft.NotADatabaseError, match=r"notes\.txt.*not deleted") as caught:
            toft.delete_files(other)
        assert caught.value.filename == str(other) and other.read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["notes.txt"]
    fill(path)
    whole = path.read_bytes()
    for content in (b"", whole[:5_000], bytes(4_096) + whole[4_096:], bytes(8_192) + whole[8_192:]):
        path.write_bytes(content)
        assert toft.delete_files(path) and not path.exists()


def test_a_file_that_another_process_has_open_is_not_deleted(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    program = """
import sys, toft
with toft.open(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "db")],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(toft.AlreadyOpenError):
            toft.delete_files(tmp_path / "db")
        with pytest.raises(toft.AlreadyOpenError):
            toft.open(tmp_path / "db", classes(2), delete_if_migration_needed=True)
        other.stdin.close()
        assert other.wait(60) == 0
    assert toft.delete_files(tmp_path / "db")


def test_asyncio_goes_on_while_a_file_is_migrated(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    turns = 0
    may_end = threading.Event()

    def change(migration: toft.Migration) -> None:
        assert may_end.wait(60)
        migrate(migration)

    async def count() -> None:
        nonlocal turns
        for _ in range(10):
            await asyncio.sleep(0)
            turns += 1
        may_end.set()

    async def main() -> None:
        counting = asyncio.create_task(count())
        realm = await toft.open_async(
            tmp_path / "db", classes(2), schema_version=2, migration=change
        )
        with realm:
            assert turns == 10
            assert dump(realm) == EXPECTED[2]
            assert realm.check()
        await counting
        with pytest.raises(toft.SchemaVersionTooLowError):
            await toft.open_async(tmp_path / "db", classes(1), schema_version=1)

    asyncio.run(main())


def test_an_opening_for_asyncio_takes_any_iterable_of_classes(path: Path) -> None:
    async def main() -> None:
        with await toft.open_async(path, iter([people_with_defaults()])) as realm:
            assert list(realm.classes) == ["Person"]
            assert realm.check()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["migration", "progress", "compact_on_open", "initialize"])
def test_what_is_to_be_called_is_a_function(path: Path, name: str) -> None:
    options: dict[str, Any] = {name: 5, "schema_version": 2}
    with pytest.raises(toft.InvalidArgumentError, match=f"^{name} is a function to call, not 5"):
        toft.open(path, people_with_defaults(), **options)
    with pytest.raises(toft.InvalidArgumentError, match=f"^{name} is a function to call, not 5"):
        asyncio.run(toft.open_async(path, people_with_defaults(), **options))


def open_and_cancel(path: Path, callback: str, **options: Any) -> None:
    """Opens in a task that is cancelled while its `progress` or its `migration` is called."""
    has_begun, is_cancelled = threading.Event(), threading.Event()

    def called(*_: object) -> None:
        has_begun.set()
        assert is_cancelled.wait(60)

    async def main() -> None:
        options[callback] = called
        opening = asyncio.create_task(toft.open_async(path, people_with_defaults(), **options))
        await asyncio.to_thread(has_begun.wait, 60)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        is_cancelled.set()

    asyncio.run(main())


def test_a_cancelled_task_ends_an_opening(tmp_path: Path) -> None:
    Person, _ = classes(1)
    with toft.open(tmp_path / "db", classes(1), schema_version=1) as realm, realm.write():
        realm.insert_many(Person, [{"name": f"{each}", "age": "1"} for each in range(3000)])
    open_and_cancel(tmp_path / "db", "progress")
    with opened(tmp_path / "db", 1) as realm:
        assert {each.name for each in toft.fields(realm.classes["Person"])} == {
            "name",
            "age",
            "note",
        }
        assert realm.check()


def test_a_cancelled_task_does_not_wait_for_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with toft.open(path, classes(1), schema_version=1):
        pass
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, toft\nrealm = toft.open(sys.argv[1])\nrealm.begin_write()\n"
            "print('held', flush=True)\nsys.stdin.read()\nrealm.cancel()",
            path,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"

    async def main() -> None:
        opening = asyncio.create_task(toft.open_async(path, people_with_defaults()))
        await asyncio.sleep(0.3)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(main())  # which waits for the thread that opened
    holder.communicate("")
    with opened(path, 1) as realm:
        assert "note" in {each.name for each in toft.fields(realm.classes["Person"])}
        assert len(toft.fields(realm.classes["Person"])) == 3


def test_a_migration_that_was_cancelled_is_not_committed(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with toft.open(path, classes(1), schema_version=1):
        pass
    open_and_cancel(path, "migration", schema_version=2)
    assert toft.schema_version(path) == 1


def test_a_realm_whose_classes_no_longer_fit_says_so_when_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with toft.open(path, classes(1), schema_version=1) as realm:
        realm.wait(0.01)
        with toft.open(path, people_with_defaults(), schema_version=2, migration=lambda _: None):
            realm.wait(1)  # the version that ended what this observes
            for _ in range(3):
                with pytest.raises(toft.SchemaMismatchError):
                    realm.wait(1)


KINDS: dict[str, tuple[Any, Any]] = {
    "int": (int, 0),
    "int?": (int | None, None),
    "str": (str, ""),
    "str?": (str | None, None),
    "float": (float, 0.0),
    "ints": (list[int], []),
    "set": (set[int], set()),
    "dict": (dict[str, int], {}),
    "mixed": (toft.Mixed, None),
    "link": ("Other | None", None),
    "links": ("list[Other]", []),
    "part": ("Part | None", None),
    "parts": ("list[Part]", []),
}


class Other(toft.Object):
    name: str


class Part(toft.EmbeddedObject):
    name: str


def value_of(kind: str, chance: random.Random) -> Any:
    """A value in plain Python: objects are their names."""
    number = chance.randrange(100)
    return {
        "int": number,
        "int?": chance.choice([None, number]),
        "str": f"s{number}",
        "str?": chance.choice([None, "x" * number]),
        "float": number / 4,
        "ints": [number] * chance.randrange(3),
        "set": set(range(chance.randrange(3))),
        "dict": {f"k{each}": number for each in range(chance.randrange(3))},
        "mixed": chance.choice([None, number, "text", ["a", number]]),
        "link": chance.choice([None, "a", "b"]),
        "links": chance.choices("ab", k=chance.randrange(3)),
        "part": chance.choice([None, f"p{number}"]),
        "parts": [f"p{number}"] * chance.randrange(3),
    }[kind]


def write(thing: Any, name: str, kind: str, value: Any, others: dict[str, Other]) -> None:
    if kind == "link":
        value = others.get(value)
    elif kind == "links":
        value = [others[each] for each in value]
    elif kind == "part":
        value = None if value is None else Part(name=value)
    elif kind == "parts":
        value = [Part(name=each) for each in value]
    setattr(thing, name, value)


def plain(value: Any, kind: str) -> Any:
    if kind in ("link", "part"):
        return value and value.name
    if kind in ("links", "parts"):
        return [each.name for each in value]
    if kind in ("ints", "set", "dict"):
        return {"ints": list, "set": set, "dict": dict}[kind](value)
    return list(value) if isinstance(value, toft.List) else value


def things(kinds: dict[str, str], indexed: set[str]) -> type[toft.Object]:
    names = {"Other": Other, "Part": Part}
    namespace: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    for name, kind in kinds.items():
        hint = KINDS[kind][0]
        namespace["__annotations__"][name] = eval(hint, names) if isinstance(hint, str) else hint
        if name in indexed and kind in ("int", "int?", "str", "str?"):
            namespace[name] = toft.field(indexed=True)
    return type("Thing", (toft.Object,), namespace)


def test_random_changes_of_a_class_keep_what_they_should(tmp_path: Path) -> None:
    seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
    print("seed", seed)
    chance = random.Random(seed)
    kinds: dict[str, str] = {f"p{each}": chance.choice(list(KINDS)) for each in range(4)}
    rows: list[dict[str, Any]] = []
    renamed: dict[str, str] = {}
    gone: set[str] = set()

    def change(migration: toft.Migration) -> None:
        for old, new in renamed.items():
            migration.rename_property("Thing", old, new)
        assert len(list(migration.enumerate("Thing"))) == len(rows)

    names = iter(f"p{each}" for each in range(4, 10**6))
    for version in range(1, 40):
        renamed, before = {}, kinds
        gone |= set(before)
        kinds = {}
        for name, kind in before.items():
            step = chance.choice(["keep", "keep", "drop", "change", "rename", "optional"])
            if step == "rename":
                renamed[name] = next(names)
                kinds[renamed[name]] = kind
                for row in rows:
                    row[renamed[name]] = row.pop(name)
            elif step == "optional" and kind in ("int", "str"):
                kinds[name] = f"{kind}?"
            elif step == "change":
                kinds[name] = chance.choice(list(KINDS))
                widened = kinds[name] == f"{kind}?"
                for row in rows:
                    if kinds[name] != kind and not widened:
                        row[name] = KINDS[kinds[name]][1]
            elif step == "drop":
                for row in rows:
                    del row[name]
            else:
                kinds[name] = kind
        while len(kinds) < 3:
            name = chance.choice([*sorted(gone - set(before)), next(names)])
            if name not in kinds:
                kinds[name] = chance.choice(list(KINDS))
                for row in rows:
                    row[name] = KINDS[kinds[name]][1]
        Thing = things(kinds, set(chance.sample(list(kinds), 2)))
        with toft.open(
            tmp_path / "db", [Thing, Other, Part], schema_version=version, migration=change
        ) as realm:
            found = [
                {name: plain(getattr(each, name), kind) for name, kind in kinds.items()}
                for each in realm.objects(Thing)
            ]
            assert found == rows, (seed, version)
            assert realm.check(), (seed, version)
            with realm.write():
                others = {each.name: each for each in realm.objects(Other)}
                for name in {"a", "b"} - set(others):
                    others[name] = realm.create(Other, name=name)
                for each in list(realm.objects(Thing))[: chance.randrange(3)]:
                    if chance.random() < 0.3:
                        index = list(realm.objects(Thing)).index(each)
                        realm.delete(each)
                        del rows[index]
                for _ in range(chance.randrange(4)):
                    thing = realm.create(Thing)
                    row = {name: value_of(kind, chance) for name, kind in kinds.items()}
                    for name, kind in kinds.items():
                        write(thing, name, kind, row[name], others)
                    rows.append(row)
            assert realm.check(), (seed, version)


@pytest.mark.parametrize("version", ["7", 1.0, -1, 2**64])
def test_a_schema_version_is_an_int_of_64_bits_without_a_sign(tmp_path: Path, version: Any) -> None:
    with pytest.raises(toft.InvalidArgumentError, match="schema version"):
        toft.open(tmp_path / "db", classes(1), schema_version=version)
    with pytest.raises(toft.InvalidArgumentError, match="schema version"):
        toft.dry_run(tmp_path / "db", classes(1), schema_version=version)
    assert list(tmp_path.iterdir()) == []


def test_a_loop_over_long_texts_holds_few_of_them(tmp_path: Path) -> None:
    Page: Any = type(
        "Page", (toft.Object,), {"__annotations__": {"text": str}, "__module__": __name__}
    )
    texts = [f"{number} " + "long " * 200_000 for number in range(64)]
    with toft.open(tmp_path / "db", Page, schema_version=1) as realm, realm.write():
        for text in texts:
            realm.create(Page, text=text)
    with toft.open(tmp_path / "db", Page) as realm:
        rows, found = set(), []
        for page in realm.objects(Page):
            found.append(page.text)
            rows.add(page._rows.first)
        assert found == texts
        # The first run of 32 texts is 32 MB; those after it are short.
        assert len(rows) > 4
        assert realm.check()
