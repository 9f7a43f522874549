"""An argument in the wrong place is reported in the words of its call."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Dog, Person

Call = Callable[[toft.Realm, "toft.Results[Dog]", Any], object]

NAMES: list[Call] = [
    lambda realm, dogs, x: dogs.sum(x),
    lambda realm, dogs, x: dogs.max(x),
    lambda realm, dogs, x: dogs.columns(x),
    lambda realm, dogs, x: dogs.lists(x),
    lambda realm, dogs, x: dogs.group_by(x),
    lambda realm, dogs, x: dogs.group_by("age").sum(x),
    lambda realm, dogs, x: dogs.sort(x),
    lambda realm, dogs, x: dogs.distinct(x),
    lambda realm, dogs, x: dogs.write_csv(io.StringIO(), x),
    lambda realm, dogs, x: dogs.observe(print, key_paths=[x]),
    lambda realm, dogs, x: dogs[0].observe(print, key_paths=[x]),
    lambda realm, dogs, x: dogs[0].increment(x),
]
COUNTS: list[Call] = [
    lambda realm, dogs, x: dogs.limit(x),
    lambda realm, dogs, x: dogs.offset(x),
    lambda realm, dogs, x: dogs.head(x),
    lambda realm, dogs, x: dogs.to_dicts(x),
    lambda realm, dogs, x: dogs.to_json(x),
    lambda realm, dogs, x: dogs.write_json_lines(io.StringIO(), x),
    lambda realm, dogs, x: dogs[0].to_dict(x),
    lambda realm, dogs, x: dogs[0].to_json(x),
    lambda realm, dogs, x: realm.compact_step(x),
    lambda realm, dogs, x: toft.open("x.toft", ALL, maximum_versions=x),
    lambda realm, dogs, x: toft.open("x.toft", ALL, minimum_version=x),
]
TIMEOUTS: list[Call] = [
    lambda realm, dogs, x: realm.wait(x),
    lambda realm, dogs, x: realm.flush(x),
    lambda realm, dogs, x: realm.write(timeout=x).__enter__(),
    lambda realm, dogs, x: realm.begin_write(x),
]


@pytest.fixture
def dogs(realm: toft.Realm) -> toft.Results[Dog]:
    with realm.write():
        realm.create(Dog, name="Rex", tags=["x"])
    return realm.objects(Dog)


def test_what_is_no_name_no_number_and_no_time_is_told_by_what_is_due(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    for call in NAMES:
        for wrong in (3, ["age", "name"], b"age", Dog):
            with pytest.raises(TypeError, match="name of a property") as raised:
                call(realm, dogs, wrong)
            assert ("one after the other" in str(raised.value)) == isinstance(wrong, list)
    for call in COUNTS:
        for wrong in ("name", 1.5, [1], Dog):
            with pytest.raises(TypeError, match="is a whole number, not"):
                call(realm, dogs, wrong)
    for call in TIMEOUTS:
        for wrong in ("5", [1], Dog, "deferred", True):
            with pytest.raises(TypeError, match="number of seconds"):
                call(realm, dogs, wrong)
            assert not realm.is_writing


def test_an_expression_of_another_class_or_for_conditions_is_no_key(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    for wrong in (Person.name, Dog.tags.length(), Dog.name.length(), Dog.tags.any()):
        for call in NAMES:
            with pytest.raises(toft.InvalidArgumentError):
                call(realm, dogs, wrong)


def test_values_that_are_no_mapping_are_told_how_they_are_given(realm: toft.Realm) -> None:
    with realm.write():
        for wrong in ("Rex", 3, ["Rex"], Dog):
            for call in (realm.create, realm.upsert):
                with pytest.raises(toft.TypeMismatchError, match="by name, name='Rex'"):
                    call(Dog, wrong)  # type: ignore[operator]
        assert realm.create(Dog, {"name": "Rex"}, age=3).age == 3


def test_only_whole_numbers_are_added_and_conditions_calculate_with_numbers_alone(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    age: Any = Dog.age
    for made in (lambda: (age + 1) % 2, lambda: age**2, lambda: abs(age), lambda: age // 2):
        with pytest.raises(TypeError, match=r"calculate with \+, -, \* and / only"):
            made()
    for made in (lambda: age * "2", lambda: age + True, lambda: [1] * age, lambda: age / None,
                 lambda: age - (Dog.age > 3)):  # fmt: skip
        with pytest.raises(TypeError, match="calculate with numbers, not with"):
            made()
    with pytest.raises(toft.errors.QueryTypeMismatchError, match="name is string"):
        len(dogs.where(Dog.name * 2 == 3))  # type: ignore[operator]
    with pytest.raises(TypeError, match="in_ takes some values"):
        Dog.name.in_("Rex")
    with realm.write():
        with pytest.raises(toft.TypeMismatchError, match="for Results.update"):
            dogs[0].age = age + 1
        for wrong in (age * 2, -age, age + 0.5, age + Dog.age):
            with pytest.raises(toft.TypeMismatchError, match="adds whole numbers"):
                dogs.update(age=wrong)
        dogs.update(age=1 + (age + 2) - 1)
    assert dogs[0].age == 2


def test_a_file_may_be_given_by_its_path(
    realm: toft.Realm, dogs: toft.Results[Dog], tmp_path: Path
) -> None:
    with realm.write():
        dogs[0].name = 'R\u00e9x, "the\r\ndog"'
    names = [dog.name for dog in dogs]
    lines, table = tmp_path / "dogs.jsonl", tmp_path / "dogs.csv"
    for path in (lines, str(lines)):
        assert dogs.write_json_lines(path) == 1
        with realm.write():
            realm.delete_all(Dog)
            assert realm.read_json_lines(Dog, path, progress=lambda *_: None) == 1
        assert [dog.name for dog in dogs] == names
    for path in (table, str(table)):
        assert dogs.write_csv(path, "name") == 1
        with realm.write():
            realm.delete_all(Dog)
            assert realm.read_csv(Dog, path, progress=lambda *_: None) == 1
        assert [dog.name for dog in dogs] == names
    assert lines.read_bytes().endswith(b"}\n") and table.read_bytes().startswith(b"name\r\n")
    with realm.write():
        with pytest.raises(FileNotFoundError):
            realm.read_json_lines(Dog, tmp_path / "none.jsonl")
        for text in ('{"name": "Max"}', "name\nMax"):
            with pytest.raises(toft.InvalidArgumentError, match=r"io.StringIO\(text\)"):
                realm.read_csv(Dog, text)
        for wrong in (3, b"dogs.jsonl", None, {"name": "Max"}):
            with pytest.raises(toft.InvalidArgumentError, match="the path of one"):
                realm.read_json_lines(Dog, wrong)  # type: ignore[arg-type]
            with pytest.raises(toft.InvalidArgumentError, match="the path of one"):
                dogs.write_csv(wrong)  # type: ignore[arg-type]
        with pytest.raises(toft.InvalidArgumentError, match="progress is a function"):
            dogs.write_csv(table, progress=3)  # type: ignore[arg-type]
