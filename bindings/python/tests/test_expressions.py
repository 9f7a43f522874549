"""Queries as expressions of Python find what the same queries as text find."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from models import Dog, Everything, Person


@pytest.fixture
def dogs(realm: toft.Realm) -> toft.Results[Dog]:
    with realm.write():
        ada = realm.create(Person, name="Ada", age=36)
        ben = realm.create(Person, name="Ben", age=12)
        rex = realm.create(Dog, name="Rex", age=3, owner=ada, tags=["good", "old"])
        realm.create(Dog, name="Max", age=5, owner=ben, tags=["good"], friends=[rex])
        realm.create(Dog, name="annie", age=8, tags=[], friends=[rex])
    return realm.objects(Dog)


def names(results: toft.Results[Any]) -> list[str]:
    return [each.name for each in results]


SAME: list[tuple[toft.Condition, str]] = [
    (Dog.age == 3, "age == 3"),
    (Dog.age != 3, "age != 3"),
    (Dog.age < 5, "age < 5"),
    (Dog.age <= 5, "age <= 5"),
    (5 > Dog.age, "age < 5"),
    (Dog.age >= 5, "age >= 5"),
    (Dog.age.between(3, 5), "age BETWEEN {3, 5}"),
    (Dog.age.in_([3, 8]), "age IN {3, 8}"),
    (Dog.age.in_(range(4)), "age IN {0, 1, 2, 3}"),
    (Dog.age.in_([]), "age IN {}"),
    (Dog.age + 1 == 4, "age + 1 == 4"),
    (1 + Dog.age - 2 == 4, "age - 1 == 4"),
    (Dog.age * 2 > 6, "age * 2 > 6"),
    (10 - Dog.age >= Dog.age, "10 - age >= age"),
    (-Dog.age < -3, "0 - age < -3"),
    ((Dog.age + Dog.owner.age) * 2 == 34, "(age + owner.age) * 2 == 34"),
    (Dog.age / 2 == 1.5, "age / 2.0 == 1.5"),
    (12 / Dog.age == 4, "12.0 / age == 4"),
    (Dog.age / (Dog.age - 3) == None, "age / (age - 3) == null"),  # noqa: E711
    ((Dog.age * 3).in_([9, 15]), "age * 3 IN {9, 15}"),
    ((Dog.age - 1).between(2, 4), "age - 1 >= 2 AND age - 1 <= 4"),
    (Dog.tags.length() * 2 == 4, "tags.@count * 2 == 4"),
    (Dog.friends.any(Dog.age * 2 == 6), "SUBQUERY(friends, $d, $d.age * 2 == 6).@count > 0"),
    (Dog.owner == None, "owner == null"),  # noqa: E711
    (Dog.owner.is_none(), "owner == null"),
    (~Dog.owner.is_none(), "owner != null"),
    (Dog.owner.age > Dog.age, "owner.age > age"),
    (Dog.owner.name.startswith("A"), "owner.name BEGINSWITH 'A'"),
    (Dog.name.startswith("A"), "name BEGINSWITH 'A'"),
    (Dog.name.istartswith("A"), "name BEGINSWITH[c] 'A'"),
    (Dog.name.endswith("X"), "name ENDSWITH 'X'"),
    (Dog.name.iendswith("X"), "name ENDSWITH[c] 'X'"),
    (Dog.name.contains("a"), "name CONTAINS 'a'"),
    (Dog.name.icontains("A"), "name CONTAINS[c] 'A'"),
    (Dog.name.like("?e*"), "name LIKE '?e*'"),
    (Dog.name.ilike("A*"), "name LIKE[c] 'A*'"),
    (Dog.name.iequals("REX"), "name ==[c] 'REX'"),
    (Dog.name.length() == 5, "name.@size == 5"),
    (Dog.tags.contains("good"), "ANY tags == 'good'"),
    (Dog.tags.any() == "old", "ANY tags == 'old'"),
    (Dog.tags.all() == "good", "ALL tags == 'good'"),
    (Dog.tags.none() == "good", "NONE tags == 'good'"),
    (Dog.tags.any().startswith("o"), "ANY tags BEGINSWITH 'o'"),
    (Dog.tags.length() > 0, "tags.@count > 0"),
    (Dog.friends.any().age == 3, "ANY friends.age == 3"),
    (Dog.friends.any((Dog.age == 3) & (Dog.name == "Rex")), "ANY friends.name == 'Rex'"),
    (Dog.friends.any((Dog.age == 3) & (Dog.name == "Max")), "FALSEPREDICATE"),
    (Dog.friends.all(Dog.owner.name == "Ada"), "TRUEPREDICATE"),
    (Dog.friends.none(Dog.age == 3), "friends.@count == 0"),
    (Dog.friends.any(Dog.tags.any() == "old"), "friends.@count > 0"),
    (Dog.friends.any(Dog.owner.dogs.any(Dog.age > 2)), "friends.@count > 0"),
    ((Dog.age > 3) & (Dog.age < 8), "age > 3 AND age < 8"),
    ((Dog.age == 3) | (Dog.age == 8), "age == 3 OR age == 8"),
    (((Dog.age == 3) | (Dog.age == 8)) & (Dog.name == "Rex"), "name == 'Rex'"),
    ((Dog.age == 3) | (Dog.age == 8) & (Dog.name == "Rex"), "age == 3"),
    (~((Dog.age == 3) | (Dog.age == 8)), "age == 5"),
    (~~(Dog.age == 3), "age == 3"),
    (toft.text("age == 3"), "age == 3"),
]


@pytest.mark.parametrize(("condition", "query"), SAME, ids=[query for _, query in SAME])
def test_an_expression_finds_what_the_text_finds(
    dogs: toft.Results[Dog], condition: toft.Condition, query: str
) -> None:
    assert names(dogs.where(condition)) == names(dogs.where(query))
    assert names(dogs.where(~condition)) == names(dogs.where(f"NOT ({query})"))


def test_expressions_of_linking_objects(realm: toft.Realm, dogs: toft.Results[Dog]) -> None:
    people = realm.objects(Person)
    assert names(people.where(Person.dogs.any().age == 3)) == ["Ada"]
    assert names(people.where(Person.dogs.any((Dog.age > 3) & Dog.tags.contains("good")))) == [
        "Ben"
    ]
    assert names(people.where(Person.dogs.length() == 1)) == ["Ada", "Ben"]
    assert names(people.where(Person.dogs.contains(dogs[0]))) == ["Ada"]


def test_an_expression_compares_with_objects_and_texts_that_look_like_queries(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    rex = dogs[0]
    assert names(dogs.where(Dog.owner == rex.owner)) == ["Rex"]
    assert names(dogs.where(Dog.friends.contains(rex))) == ["Max", "annie"]
    with realm.write():
        realm.create(Dog, name="' OR 1 == 1")
    assert names(dogs.where(Dog.name == "' OR 1 == 1")) == ["' OR 1 == 1"]


def test_several_conditions_are_joined_and_texts_keep_their_arguments(
    dogs: toft.Results[Dog],
) -> None:
    assert names(dogs.where(Dog.age > 3, Dog.age < 8)) == ["Max"]
    asked = toft.text("age == $1 AND name == $0 AND name != '$0'", "Rex", 3)
    assert names(dogs.where((Dog.age < 9) & asked & (Dog.owner.age == 36))) == ["Rex"]
    assert names(dogs.where("age > $0", 3).where(Dog.name == "Max")) == ["Max"]
    with pytest.raises(toft.InvalidQueryError, match=r"\$1"):
        dogs.where(toft.text("age == $1", 3))


def test_long_chains_are_not_deep(dogs: toft.Results[Dog]) -> None:
    found = Dog.age == 0
    for age in range(1, 1000):
        found |= Dog.age == age
    assert len(dogs.where(found)) == 3


def test_a_list_of_a_live_object_takes_conditions(dogs: toft.Results[Dog]) -> None:
    assert names(dogs[1].friends.where(Dog.age == 3)) == ["Rex"]


def test_sorting_aggregates_and_columns_take_expressions(dogs: toft.Results[Dog]) -> None:
    assert names(dogs.sort(Dog.age.desc())) == ["annie", "Max", "Rex"]
    assert names(dogs.sort(Dog.owner.name, Dog.age.desc())) == ["annie", "Rex", "Max"]
    assert names(dogs.sort(Dog.name.asc())) == ["Max", "Rex", "annie"]
    assert len(dogs.distinct(Dog.owner)) == 3
    assert (dogs.sum(Dog.age), dogs.min(Dog.age), dogs.max(Dog.age)) == (16, 3, 8)
    assert dogs.lists(Dog.age, "name") == {"age": [3, 5, 8], "name": ["Rex", "Max", "annie"]}
    ages = [dog.owner.age for dog in dogs if dog.owner]
    assert dogs.sum(Dog.owner.age) == sum(ages) and dogs.max(Dog.owner.age) == max(ages)
    found = [dog.owner and dog.owner.age for dog in dogs]
    assert dogs.lists(Dog.owner.age) == {"owner.age": found}


class Odd(toft.Object):
    """Its names are words of the query language, or not those of the file."""

    any_: int = toft.field(name="any", default=0)
    null: int = 0
    two_words: str = toft.field(name="two-words", default="")
    next: Odd | None


def test_names_may_be_words_of_the_query_language(path: Path) -> None:
    with toft.open(path, [Odd]) as realm:
        with realm.write():
            last = realm.create(Odd, any_=1, null=2, two_words="x")
            realm.create(Odd, next=last)
        odds = realm.objects(Odd)
        assert len(odds.where(Odd.any_ == 1, Odd.null == 2, Odd.two_words == "x")) == 1
        assert [each.any_ for each in odds.where(Odd.next.two_words == "x")] == [0]
        assert [each.any_ for each in odds.sort(Odd.any_.desc())] == [1, 0]


def test_a_class_may_inherit_what_is_asked(path: Path) -> None:
    class Animal(toft.Object):
        name: str = ""

    class Cat(Animal):
        lives: int = 9

    with toft.open(path, [Cat]) as realm:
        with realm.write():
            realm.create(Cat, name="Tom")
        assert len(realm.objects(Cat).where((Animal.name == "Tom") & (Cat.lives == 9))) == 1


MISTAKES: list[tuple[str, Callable[[toft.Results[Dog]], object], type[Exception], str]] = [
    ("chained", lambda _: 1 < Dog.age < 3, TypeError, "between"),
    ("and", lambda _: Dog.age > 3 and Dog.age < 5, TypeError, "&"),
    ("or", lambda _: Dog.age > 3 or Dog.age < 5, TypeError, r"\|"),
    ("not", lambda _: not Dog.age, TypeError, "~"),
    ("bool", lambda _: bool(Dog.age == 3), TypeError, "&"),
    ("in a list", lambda _: Dog.age in [1, 2], TypeError, "in_"),
    ("in", lambda _: "good" in Dog.tags, TypeError, "contains"),
    ("loop", lambda _: list(Dog.tags), TypeError, "object"),
    ("no parentheses", lambda _: Dog.age > 3 & Dog.age < 5, TypeError, "parentheses"),
    ("no condition", lambda _: (Dog.age > 3) & True, TypeError, "True is not a condition"),
    ("property alone", lambda _: (Dog.age > 3) & Dog.name, TypeError, "not a condition"),
    ("inverted property", lambda _: ~Dog.age, TypeError, "not a condition"),
    ("method", lambda _: Dog.name.startwith("A"), TypeError, "startwith"),
    ("name", lambda _: Dog.nmae == "Rex", AttributeError, "nmae"),
    ("name behind", lambda dogs: dogs.where(Dog.owner.nmae == "A"), AttributeError, "nmae"),
    ("no link", lambda dogs: dogs.where(Dog.age.name == "A"), AttributeError, "no link"),
    ("object", lambda dogs: dogs.where(dogs[0].age == 3), TypeError, "Dog.age"),
    ("class", lambda dogs: dogs.where(Person.age == 3), toft.InvalidQueryError, "Person.age"),
    ("type", lambda dogs: dogs.where(Dog.age == "x"), toft.QueryTypeMismatchError, "age"),
    ("nested", lambda dogs: dogs.where(Dog.age == (Dog.age == 3)), TypeError, "compared"),
    ("values", lambda dogs: dogs.where(Dog.tags.any(Dog.age == 3)), toft.QueryError, "any()"),
    (
        "text in any",
        lambda dogs: dogs.where(Dog.friends.any(toft.text("age == 3"))),
        toft.InvalidQueryError,
        "text",
    ),
    ("sort", lambda dogs: dogs.sort(3), TypeError, "3"),  # type: ignore[arg-type]
    ("behind a length", lambda _: Dog.tags.length().name, AttributeError, "name"),
]


@pytest.mark.parametrize(
    ("ask", "kind", "hint"),
    [mistake[1:] for mistake in MISTAKES],
    ids=[mistake[0] for mistake in MISTAKES],
)
def test_a_mistake_is_an_error_that_says_what_to_write(
    dogs: toft.Results[Dog], ask: Callable[..., object], kind: type[Exception], hint: str
) -> None:
    with pytest.raises(kind, match=hint):
        ask(dogs)


def test_expressions_and_conditions_show_what_they_ask() -> None:
    assert repr(Dog.owner.name) == "Dog.owner.name"
    asked = (Dog.age > 3) & ~Dog.tags.contains("x") & toft.text("name == $0", "Rex")
    assert repr(asked) == ("<condition (age > 3 AND NOT (tags CONTAINS 'x') AND (name == 'Rex'))>")
    assert repr(Dog.age.desc()) == "<order age DESC>"
    assert repr(Dog.friends.any(Dog.age > 3)) == (
        "<condition SUBQUERY(friends, age > 3).@count > 0>"
    )


def test_expressions_conditions_and_queries_can_be_copied_and_pickled(
    dogs: toft.Results[Dog],
) -> None:
    condition = (Dog.age > 2) & Dog.owner.name.startswith("A")
    query = toft.Query("age > $0")
    for same in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert list(dogs.where(same(condition))) == list(dogs.where(condition)) != []
        assert list(dogs.sort(same(Dog.name))) == list(dogs.sort("name"))
        assert dogs.where(same(query), 2)[:] == dogs.where(query, 2)[:]


def test_each_type_can_be_compared(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Everything, id=1, flag=True, title="a", picture=b"b", ratio=0.5)
    items = realm.objects(Everything)
    found = items.where(
        Everything.flag == True,  # noqa: E712
        Everything.title == "a",
        Everything.picture == b"b",
        Everything.ratio == 0.5,
        Everything.born == item.born,
        Everything.maybe_count == None,  # noqa: E711
    )
    assert list(found) == [item]


def test_arithmetic_is_that_of_python(realm: toft.Realm) -> None:
    chance = random.Random(7)
    print("seed 7")
    with realm.write():
        for number in range(40):
            realm.create(
                Everything,
                id=number,
                count=chance.randrange(-9, 10),
                maybe_count=chance.choice([None, *range(-3, 4)]),
                score=chance.randrange(-8, 9) / 4,
            )
    everything = list(realm.objects(Everything))
    operations: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: -a + b,
    ]

    def value(each: Any, made: Any) -> Any:
        try:
            return made(each)
        except (TypeError, ZeroDivisionError):  # None, as in SQL
            return None

    for _ in range(200):
        made = leaf(chance)
        for _ in range(chance.randrange(1, 4)):
            made = combined(chance.choice(operations), made, leaf(chance))
        limit = chance.randrange(-10, 11)
        expected = [
            each.id for each in everything if (found := value(each, made)) is not None
            and found > limit
        ]  # fmt: skip
        condition = made(Everything) > limit
        if isinstance(condition, bool):  # only numbers were combined
            continue
        assert [each.id for each in realm.objects(Everything).where(condition)] == expected, (
            condition
        )


def leaf(chance: random.Random) -> Callable[[Any], Any]:
    """A property of an object, or of the class, or a number."""
    name = chance.choice(["count", "maybe_count", "score", "", ""])
    number = chance.choice([-2, -1, 1, 2, 3, 0.5])
    return (lambda of: getattr(of, name)) if name else (lambda of: number)


def combined(
    operation: Callable[[Any, Any], Any], left: Callable[[Any], Any], right: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The operation of what the two give."""
    return lambda of: operation(left(of), right(of))
