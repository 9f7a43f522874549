"""Every example of the page about the query language, with its answer there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import toft

PAGE = Path(__file__).parents[3] / "Sources/Toft/Toft.docc/QueryLanguage.md"


class City(toft.Object):
    name: str
    size: int


class Dog(toft.Object):
    name: str
    age: int


class Person(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str
    age: int
    height: float | None
    price: Decimal
    nickname: str | None
    active: bool
    born: datetime
    boss: Person | None
    city: City | None
    dogs: list[Dog]
    scores: list[int]
    tags: set[str]
    marks: dict[str, int]
    value: Any


@pytest.fixture(scope="module")
def people() -> Iterator[toft.Results[Person]]:
    with toft.open_in_memory([City, Dog, Person]) as realm:
        with realm.write():
            rex = realm.create(Dog, name="Rex", age=3)
            fido = realm.create(Dog, name="Fido", age=9)
            bonn = realm.create(City, name="Bonn", size=300)
            cologne = realm.create(City, name="Köln", size=1000)

            def born(year: int, month: int, day: int) -> datetime:
                return datetime(year, month, day, tzinfo=timezone.utc)

            ann = realm.create(
                Person,
                **dict(id=1, name="Ann", age=40, height=1.7, price=Decimal("9.99")),
                **dict(nickname="annie", active=True, born=born(1980, 1, 1), city=bonn),
                **dict(dogs=[rex, fido], scores=[3, 5, 8], tags={"a", "b"}),
                **dict(marks={"math": 1, "art": 2}, value=5),
            )
            bob = realm.create(
                Person,
                **dict(id=2, name="Bob", age=25, height=None, price=Decimal("0.1")),
                **dict(active=False, born=born(2000, 6, 15), boss=ann, city=cologne),
                **dict(dogs=[rex], value="five"),
            )
            realm.create(
                Person,
                **dict(id=3, name="Zoë", age=18, height=float("nan"), price=Decimal("0.30")),
                **dict(nickname="Z", active=True, born=born(2007, 12, 31), boss=bob),
                **dict(scores=[5], tags={"b"}, marks={"math": 3}, value=[1, 2]),
            )
            realm.create(
                Person,
                **dict(id=4, name="Émile", age=25, height=1.9, price=Decimal(-1)),
                **dict(active=False, born=born(1999, 2, 28), boss=ann, city=bonn),
                **dict(dogs=[fido], scores=[3], tags={"c"}),
            )
        yield realm.objects(Person)


def examples() -> list[tuple[str, str]]:
    blocks = re.findall(r"```query\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [(query.strip(), answer.strip()) for query, answer in (x.rsplit("=>", 1) for x in lines)]


@pytest.mark.parametrize(("query", "answer"), examples())
def test_an_example_has_the_answer_that_stands_beside_it(
    people: toft.Results[Person], query: str, answer: str
) -> None:
    text, _, given = query.partition(" with ")
    arguments = []
    if given.startswith("{"):
        arguments = [list(ast.literal_eval(given.replace("{", "[").replace("}", "]")))]
    elif given:
        arguments = list(ast.literal_eval(re.sub("'", "r'", given, count=1) + ","))
    if answer.startswith("error:"):
        with pytest.raises(toft.Error) as raised:
            people.where(text, *arguments)
        assert answer.removeprefix("error:").strip() in str(raised.value)
        return
    found = [each.id for each in people.where(text, *arguments)]
    assert found == [int(number) for number in re.findall(r"\d+", answer)]


def test_the_page_has_examples_of_everything() -> None:
    text = " ".join(query for query, _ in examples())
    words = "== = != <> < <= =< > >= => BETWEEN IN AND && OR || NOT ! ANY SOME ALL NONE BEGINSWITH"
    words += " ENDSWITH CONTAINS LIKE MATCHES [c] [d] [cd] + - * / @count @size @sum @avg @min @max"
    words += " @keys @values @type @links SUBQUERY SORT DISTINCT LIMIT OFFSET SELF [FIRST] [LAST]"
    words += " [SIZE] [*] null nil NaN true YES TRUEPREDICATE FALSEPREDICATE $K0 obj("
    words += " FILTER SOME .length uuid( oid( binary( B64 0x 25.0 24.5f 2.5e1 inf false NO T9"
    words += " @00:00 decimal( double( $0 $1 [$0] [0] ['math'] marks.math \\u boss.boss with O1"
    assert [word for word in words.split() if word not in text] == []


def test_groups_are_those_of_group_by_sorted_by_their_keys(
    people: toft.Results[Person],
) -> None:
    assert people.group_by("age").count() == {18: 1, 25: 2, 40: 1}
    assert list(people.group_by("age").count()) == [18, 25, 40]
    assert people.group_by("city.name").sum("age") == {None: 18, "Bonn": 65, "Köln": 25}
    assert people.group_by(Person.city.name).average(Person.age)["Bonn"] == 32.5
    assert people.group_by("boss.name").max("born") == {
        None: datetime(1980, 1, 1, tzinfo=timezone.utc),
        "Ann": datetime(2000, 6, 15, tzinfo=timezone.utc),
        "Bob": datetime(2007, 12, 31, tzinfo=timezone.utc),
    }
    assert people.group_by("active", "age").count() == {
        (False, 25): 2,
        (True, 18): 1,
        (True, 40): 1,
    }
    assert people.group_by("active").sum("price") == {
        False: Decimal("-0.9"),
        True: Decimal("10.29"),
    }
    assert people.group_by("active").average("height") == {False: 1.9, True: 1.7}, "NaN is left out"
    assert people.group_by("price").count() == dict.fromkeys(
        [Decimal(-1), Decimal("0.1"), Decimal("0.3"), Decimal("9.99")], 1
    )
    mixed = people.where("value.@type != 'list'").group_by("value").count()
    assert list(mixed.items()) == [(None, 1), (5, 1), ("five", 1)]
    assert people.sort("-age").limit(2).group_by("name").count() == {"Ann": 1, "Bob": 1}
    with pytest.raises(toft.UnsupportedAggregateError):
        people.group_by("name").sum("born")
    with pytest.raises(toft.Error):
        people.group_by("dogs.name").count()


def test_offset_leaves_out_the_first_and_matches_takes_an_expression(
    people: toft.Results[Person],
) -> None:
    assert [each.id for each in people.sort("age").offset(1).limit(2)] == [2, 4]
    assert [each.id for each in people.where(Person.name.matches(r"[A-Z]\w\w"))] == [1, 2, 3]
    with pytest.raises(toft.InvalidArgumentError):
        people.offset(-1)
