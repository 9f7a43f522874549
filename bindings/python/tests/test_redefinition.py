"""A class that is declared again, as when a notebook's cell is run twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import toft
from toft.objects import ObjectType


def declare(default: int = 0, extra: bool = False) -> type[toft.Object]:
    namespace: dict[str, object] = {
        "__annotations__": {"name": "str", "age": "int", "friend": "Dog | None"},
        "age": default,
        "shout": lambda self: self.name.upper(),
    }
    if extra:
        namespace["__annotations__"] = {"name": "str", "age": "int", "weight": "float"}
    return ObjectType("Dog", (toft.Object,), namespace)


def test_a_class_with_the_same_properties_takes_over(path: Path) -> None:
    first, second = declare(), declare(default=7)
    with toft.open(path, [first]) as realm:
        with realm.write():
            rex = realm.create(first, name="Rex")
            tim = realm.create(second, name="Tim", friend=rex)
            max_ = realm.add(second(name="Max"))
        assert (tim.age, max_.age, rex.age) == (7, 7, 0)
        assert [type(dog) for dog in realm.objects(second)] == [second] * 3
        assert type(tim.friend) is second and tim.friend == rex
        assert len(realm.objects(second).where(second.age == 7)) == 2
        assert realm.classes == {"Dog": second}
        # Objects read before continue to work, and the old class now means the new one.
        assert rex.shout() == "REX" and len(realm.objects(first)) == 3
        with realm.write():
            rex.age = 1
            realm.add(first(name="Old"))
        assert len(realm.objects("Dog")) == 4


def test_a_class_with_other_properties_needs_the_file_to_be_opened_again(path: Path) -> None:
    first, second = declare(), declare(extra=True)
    with toft.open(path, [first]) as realm:
        with pytest.raises(toft.NoSuchClassError, match="declared again with other properties"):
            realm.objects(second)
        with toft.open(path, [second]) as again, again.write():
            again.create(second, name="Rex", weight=1.5)
        assert [dog.name for dog in realm.objects(first)] == ["Rex"]


def test_a_file_that_was_opened_without_classes_takes_those_that_fit(path: Path) -> None:
    dog = declare()
    with toft.open(path, [dog]) as realm, realm.write():
        realm.create(dog, name="Rex")
    with toft.open(path) as realm:
        [rex] = realm.objects(dog)
        assert rex.shout() == "REX"


def test_a_class_that_the_realm_does_not_know_is_named(path: Path) -> None:
    class Cat(toft.Object):
        name: str

    with toft.open(path, declare()) as realm:  # one class needs no list
        with pytest.raises(toft.NoSuchClassError, match="Cat"):
            realm.objects(Cat)
        with pytest.raises(toft.NoSuchClassError, match="'Cow'"):
            realm.objects("Cow")
        with pytest.raises(toft.NoSuchClassError):
            realm.objects(3)  # type: ignore[call-overload]
