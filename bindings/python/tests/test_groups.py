"""Groups lose nothing, whatever their keys are in Python: they are held against a plain loop."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import pytest
import toft
from toft.aggregates import average, count
from toft.aggregates import max as max_of
from toft.aggregates import min as min_of
from toft.aggregates import sum as sum_of

UTC = timezone.utc
START = datetime(2020, 1, 1, tzinfo=UTC)


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Code:
    """A text whose letters' case does not matter."""

    text: str


Caseless = Annotated[
    Code, toft.StoredAs(str, lambda code: code.text, lambda text: Code(text.lower()))
]


@dataclass
class Point:
    x: int


def rows_as_the_file_has_them() -> type[toft.Object]:
    class Row(toft.Object):
        id: int = toft.field(primary_key=True)
        mixed: toft.Mixed
        moment: datetime | None
        day: datetime | None
        size: int
        code: str
        price: Decimal | None
        ratio: float | None
        n: int | None
        x: float | None
        d: Decimal | None
        m: toft.Mixed
        t: datetime | None

    return Row


class Row(toft.Object):
    id: int = toft.field(primary_key=True)
    mixed: toft.Mixed
    moment: datetime | None
    day: date | None
    size: Size
    code: Caseless
    price: Decimal | None
    ratio: float | None
    n: int | None
    x: float | None
    d: Decimal | None
    m: toft.Mixed
    t: datetime | None


def test_groups_of_mixed_values_that_python_holds_for_equal_are_one_group(tmp_path: Path) -> None:
    class Note(toft.Object):
        value: toft.Mixed
        amount: int

    with toft.open_in_memory([Note]) as realm:
        with realm.write():
            for value in [True, True, True, 1, False, 0, 0, "1", None, Decimal("1.00"), 1.0]:
                realm.create(Note, value=value, amount=10)
        notes = realm.objects(Note)
        assert notes.group_by("value").count() == {None: 1, False: 3, True: 6, "1": 1}
        assert notes.group_by("value").sum("amount") == {None: 10, False: 30, True: 60, "1": 10}
        assert notes.group_by("value", "amount").count()[True, 10] == 6
        # The database has them apart, and finds each.
        assert notes.where("value == true").count() == 3


def test_groups_of_dates_that_differ_by_nanoseconds_are_groups_of_their_own() -> None:
    class Event(toft.Object):
        at: datetime

    with toft.open_in_memory([Event]) as realm:
        lines = [f'{{"at": "2020-01-01T00:00:00.00000{n:04}Z"}}' for n in (0, 1, 999, 1000, 1001)]
        with realm.write():
            realm.read_json_lines(Event, StringIO("\n".join(lines)))
        events = realm.objects(Event)
        found = events.group_by("at").count()
        assert found == {
            START + timedelta(microseconds=n // 1000)
            if n % 1000 == 0
            else toft.Timestamp.of(START + timedelta(microseconds=n // 1000), n % 1000): 1
            for n in (0, 1, 999, 1000, 1001)
        }
        assert len(events.distinct("at")) == 5
        assert events.group_by("at").max("at") == {each: each for each in found}


def test_what_cannot_be_the_key_of_a_dictionary_is_named() -> None:
    class Place(toft.Object):
        point: Annotated[Point, toft.StoredAs(int, lambda point: point.x, Point)]

    with toft.open_in_memory([Place]) as realm:
        with realm.write():
            realm.create(Place, point=Point(1))
        with pytest.raises(toft.TypeMismatchError, match="point: a Point cannot be the key"):
            realm.objects(Place).group_by("point").count()


KEYS: dict[str, Callable[[random.Random], Any]] = {
    "mixed": lambda r: r.choice(
        [None, True, False, 1, 0, 1.0, Decimal("1.00"), -0.0, 2, "a", "1", b"1", START]
    ),
    "moment": lambda r: r.choice([None, 0, 1, 999, 1000, 2_000_000_001]),
    "day": lambda r: r.choice([None, 0, 1, 86_399_999_999_999, 86_400_000_000_000]),
    "size": lambda r: r.choice([0, 1, 2]),
    "code": lambda r: r.choice(["a", "A", "b", "ß", ""]),
    "price": lambda r: r.choice([None, Decimal("1.0"), Decimal("1.00"), Decimal("-0"), Decimal(0)]),
    "ratio": lambda r: r.choice([None, 0.0, -0.0, 1.5]),
}
VALUES: dict[str, Callable[[random.Random], Any]] = {
    "n": lambda r: r.choice([None, 0, 5, -3, 10**12]),
    "x": lambda r: r.choice([None, 0.5, -1.25, math.nan, 2.0**40]),
    "d": lambda r: r.choice([None, Decimal("0.10"), Decimal("-7"), Decimal("NaN")]),
    "m": lambda r: r.choice([None, 3, 0.5, Decimal("0.25"), "text", True, [1], math.nan]),
    "t": lambda r: r.choice([None, 0, 1, 1_000_000]),
}
AFTER_START = ("moment", "day", "t")


def in_python(name: str, value: Any) -> Any:
    """A value of a line as the class with types of Python's own reads it."""
    if value is not None and name in AFTER_START:
        found = START + timedelta(microseconds=value // 1000)
        if name == "day":
            return found.date()
        return toft.Timestamp.of(found, rest) if (rest := value % 1000) else found
    if name == "size":
        return Size(value or 1)
    return Code(value.lower()) if name == "code" else value


def as_json(name: str, value: Any) -> str:
    if value is None:
        return "null"
    if name in AFTER_START:
        seconds, nanoseconds = divmod(value, 10**9)
        moment = START + timedelta(seconds=seconds)
        return f'"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds:09}Z"'
    if isinstance(value, datetime):
        return f'{{"$date": "{value:%Y-%m-%dT%H:%M:%SZ}"}}'
    if isinstance(value, Decimal):
        return f'{{"$decimal": "{value}"}}' if name in ("mixed", "m") else f'"{value}"'
    if isinstance(value, float):
        text = f'"{value}"' if math.isnan(value) else f"{value}"
        return f'{{"$double": {text}}}' if name in ("mixed", "m") else text
    if isinstance(value, bytes):
        return '{"$data": "MQ=="}'
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def is_number(value: Any) -> bool:
    return type(value) in (int, float, Decimal) and value == value


@pytest.mark.parametrize("seed", range(6))
def test_random_groups_add_up_to_the_whole(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    columns = {**KEYS, **VALUES}
    rows = [{name: make(chance) for name, make in columns.items()} for _ in range(150)]
    lines = [
        ", ".join(f'"{name}": {as_json(name, value)}' for name, value in row.items())
        for row in rows
    ]
    stored = rows_as_the_file_has_them()
    with toft.open(path, [stored]) as realm, realm.write():
        text = "\n".join(f'{{"id": {id}, {line}}}' for id, line in enumerate(lines))
        assert realm.read_json_lines(stored, StringIO(text)) == len(rows)

    with toft.open(path, [Row]) as realm:
        objects = realm.objects(Row)
        for _ in range(12):
            names = chance.sample(list(KEYS), chance.choice([1, 1, 2, 3]))
            groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
            for row in rows:
                key = tuple(in_python(name, row[name]) for name in names)
                groups[key if len(names) > 1 else key[0]].append(row)
            said = f"seed {seed}: {names}"
            asked = objects.group_by(*names)
            assert asked.count() == {key: len(found) for key, found in groups.items()}, said
            check_values(asked, groups, said)


def check_values(asked: toft.Groups, groups: dict[Any, list[dict[str, Any]]], said: str) -> None:
    for name in VALUES:
        given = {
            key: [in_python(name, row[name]) for row in found] for key, found in groups.items()
        }
        if name != "t":
            numbers = {key: [*filter(is_number, found)] for key, found in given.items()}
            if name == "m":
                numbers = {key: [Decimal(each) for each in found] for key, found in numbers.items()}
            sums, means = asked.sum(name), asked.average(name)
            assert sums == {key: sum(found) for key, found in numbers.items()}, (said, name)
            assert list(sums) == list(means) == list(asked.count())
            for key, found in numbers.items():
                if not found:
                    assert means[key] is None, (said, name, key)
                else:
                    mean = sum(found) / len(found)
                    assert math.isclose(means[key], mean, rel_tol=1e-12), (said, name, key)
        if name != "m":
            valued = {
                key: [each for each in found if each is not None and each == each]
                for key, found in given.items()
            }
            least = {key: min(found, default=None) for key, found in valued.items()}
            greatest = {key: max(found, default=None) for key, found in valued.items()}
            assert asked.min(name) == least, (said, name)
            assert asked.max(name) == greatest, (said, name)


def test_the_ends_of_mixed_values_over_several_groups_are_those_that_sort_first_and_last() -> None:
    class Note(toft.Object):
        key: toft.Mixed
        value: toft.Mixed

    with toft.open_in_memory([Note]) as realm:
        with realm.write():
            for key, value in [(True, "b"), (1, 7), (1, [1]), (1.0, None), (True, START), (2, [2])]:
                realm.create(Note, key=key, value=value)
        groups = realm.objects(Note).group_by("key")
        assert groups.min("value") == {True: 7, 2: None}
        assert groups.max("value") == {True: START, 2: None}
        assert groups.sum("value") == {True: Decimal(7), 2: Decimal(0)}
        assert groups.average("value") == {True: Decimal(7), 2: None}


# --------------------------------------------------------------------------------------- Aggregates


class Shop(toft.Object):
    name: str = toft.field(primary_key=True)


class Sale(toft.Object):
    shop: Shop | None
    kind: str = toft.field(name="type")
    amount: int | None
    price: Decimal | None
    on: date


@pytest.fixture
def sales(path: Path) -> Iterator[toft.Results[Sale]]:
    """Two hundred sales of three shops."""
    chance = random.Random(11)
    with toft.open(path, [Shop, Sale]) as realm:
        with realm.write():
            shops = [None, *(realm.create(Shop, name=name) for name in ("a", "b", "c"))]
            for _ in range(200):
                realm.create(
                    Sale,
                    shop=chance.choice(shops),
                    kind=chance.choice("xyz"),
                    amount=chance.choice([None, 1, 5, 30, -4]),
                    price=chance.choice([None, Decimal("1.50"), Decimal(3)]),
                    on=date(2024, 1, chance.randrange(1, 29)),
                )
        yield realm.objects(Sale)


def test_several_aggregates_are_those_of_a_plain_loop(sales: toft.Results[Sale]) -> None:
    found = sales.group_by("shop.name", Sale.kind).aggregate(
        n=count(),
        total=sum_of("amount"),
        mean=average(Sale.amount),
        dear=max_of("price"),
        first=min_of(Sale.on),
    )
    groups: dict[Any, list[Sale]] = defaultdict(list)
    for sale in sales:
        groups[sale.shop.name if sale.shop else None, sale.kind].append(sale)
    expected = []
    for (shop, kind), members in sorted(
        groups.items(), key=lambda each: (each[0][0] is not None, each[0])
    ):
        amounts = [sale.amount for sale in members if sale.amount is not None]
        prices = [sale.price for sale in members if sale.price is not None]
        mean = sum(amounts) / len(amounts) if amounts else None
        dear = max(prices, default=None)
        first = min(sale.on for sale in members)
        expected.append((shop, kind, len(members), sum(amounts), mean, dear, first))
    assert found == expected
    assert found.names == ("shop_name", "kind", "n", "total", "mean", "dear", "first")
    assert found[0].kind == expected[0][1] and isinstance(found[0].first, date)


def test_groups_are_chosen_sorted_and_counted_off(sales: toft.Results[Sale]) -> None:
    found = sales.group_by("kind").aggregate(n=count(), total=sum_of("amount"))
    most = found.having(lambda group: group.n > 10).top(2, by="total")
    totals = sorted((row.total for row in found if row.n > 10), reverse=True)
    assert [row.total for row in most] == totals[:2]
    assert found.top(1)[0].n == max(row.n for row in found)
    assert [row.kind for row in found.sort("-kind")] == ["z", "y", "x"]
    assert [*found.columns()] == ["kind", "n", "total"]
    assert found.to_dicts()[0] == found[0]._asdict()
    assert found.top(0) == [] and len(found[1:]) == 2
    assert "3 groups of kind, n, total" in repr(found)
    by_shop = sales.group_by("shop").aggregate(n=count())
    assert by_shop[0].shop is None and by_shop[1].shop.name == "a"
    assert [row.price for row in sales.group_by("price").aggregate().sort("-price")][-1] is None


def test_groups_become_frames(sales: toft.Results[Sale]) -> None:
    found = sales.group_by("kind").aggregate(n=count(), total=sum_of("amount"))
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for frame in (found.to_pandas(), found.to_polars()):
        assert isinstance(frame, (pandas.DataFrame, polars.DataFrame))
        assert [*frame.columns] == ["kind", "n", "total"] and len(frame) == 3
    assert found[:0].to_polars().columns == ["kind", "n", "total"]


def test_wrong_questions_to_groups_are_told(sales: toft.Results[Sale]) -> None:
    groups = sales.group_by("kind")
    with pytest.raises(toft.InvalidArgumentError, match="Two columns have the name 'kind'"):
        groups.aggregate(kind=count())
    with pytest.raises(toft.InvalidArgumentError, match="'_n' cannot be the name"):
        groups.aggregate(_n=count())
    with pytest.raises(TypeError, match="n is an aggregate"):
        groups.aggregate(n=len)  # type: ignore[arg-type]
    with pytest.raises(toft.NoSuchPropertyError, match="amont"):
        groups.aggregate(total=sum_of("amont"))
    with pytest.raises(toft.UnsupportedAggregateError):
        groups.aggregate(total=sum_of("kind"))
    found = groups.aggregate(n=count())
    with pytest.raises(toft.InvalidArgumentError, match="no column 'm': there are kind, n"):
        found.sort("m")
    with pytest.raises(toft.InvalidArgumentError, match="needs an aggregate"):
        groups.aggregate().top(3)
    with pytest.raises(toft.InvalidArgumentError, match="not negative: -1"):
        found.top(-1)
    with pytest.raises(toft.TypeMismatchError, match="'shop' have no order"):
        sales.group_by("shop").aggregate().sort("shop")
