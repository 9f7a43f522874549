"""Queries that are parsed once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import toft
from models import Dog, Person


@pytest.fixture
def dogs(realm: toft.Realm) -> toft.Results[Dog]:
    with realm.write():
        ada = realm.create(Person, name="Ada")
        for age in range(6):
            realm.create(Dog, name="ab"[age % 2] + str(age), age=age, owner=ada if age else None)
    return realm.objects(Dog)


def test_a_query_is_parsed_once_and_used_with_many_arguments(dogs: toft.Results[Dog]) -> None:
    query = toft.Query("age > $0 AND name BEGINSWITH $1")
    assert query.text == "age > $0 AND name BEGINSWITH $1" and query.text in repr(query)
    for least in range(-1, 7):
        for start in ("a", "b", ""):
            expected = [dog for dog in dogs if dog.age > least and dog.name.startswith(start)]
            assert list(dogs.where(query, least, start)) == expected
            assert [dog for dog in dogs if query.matches(dog, least, start)] == expected
    assert [dog.age for dog in dogs.where(toft.Query("age > 1 SORT(age DESC) LIMIT(2)"))] == [5, 4]


def test_a_query_takes_objects_and_lists(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    ada = realm.object(Person, "Ada")
    assert dogs.where(toft.Query("owner == $0"), ada).count() == 5
    assert dogs.where(toft.Query("age IN $0"), [1, 9]).count() == 1
    # One query for two classes.
    age = toft.Query("age >= $0")
    assert dogs.where(age, 1).count() == 5 and realm.objects(Person).where(age, 1).count() == 0


def test_a_prepared_comparison_finds_what_its_text_finds_with_arguments_of_any_type(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    ada = realm.object(Person, "Ada")

    def outcome(query: object, argument: object) -> object:
        try:
            return [dog.age for dog in dogs.where(query, argument)]  # type: ignore[call-overload]
        except toft.Error as error:
            return type(error), str(error)

    found = 0
    for path in ("age", "name", "owner", "owner.name", "owner.@links.@count", "nope"):
        for comparator in ("==", "!=", "<", ">=", "==[c]", "BEGINSWITH", "IN", "BETWEEN"):
            text = f"{path} {comparator} $0"
            query = toft.Query(text)
            for argument in (1, "a2", 2.5, None, ada, [1, 3], ["a2", "b1"], True, "3", 4, "A2"):
                expected = outcome(text, argument)
                assert outcome(query, argument) == expected, (text, argument)
                found += isinstance(expected, list) and bool(expected)
    assert found > 50


def test_what_is_wrong_is_told_when_it_is_known(dogs: toft.Results[Dog]) -> None:
    with pytest.raises(toft.QuerySyntaxError):
        toft.Query("age >")
    with pytest.raises(toft.InvalidQueryError):
        toft.Query("name == '\ud800'")
    with pytest.raises(TypeError):
        toft.Query(Dog.age > 1)  # type: ignore[arg-type]
    first, nope, age = dogs[0], toft.Query("nope == 1"), toft.Query("age > $0")
    for query, arguments, kind in (
        (nope, (), toft.InvalidQueryError),
        (age, (), toft.InvalidQueryArgumentError),
        (age, ("x",), toft.QueryTypeMismatchError),
    ):
        with pytest.raises(kind):
            dogs.where(query, *arguments)
        with pytest.raises(kind):
            query.matches(first, *arguments)
    with pytest.raises(toft.InvalidArgumentError):
        age.matches(Dog(name="x"), 1)


def test_threads_share_a_query(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    query = toft.Query("age > $0")

    def count(least: int) -> int:
        with toft.open(realm.path, [Dog, Person]) as mine:
            return mine.objects(Dog).where(query, least).count()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, range(6))) == [5, 4, 3, 2, 1, 0]
