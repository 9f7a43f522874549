"""Enumerations and dates: types that the file has not."""

from __future__ import annotations

import enum
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import toft


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Shape(str, enum.Enum):
    NONE = ""
    ROUND = "round"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Toy(toft.Object):
    name: str = toft.field(primary_key=True)
    color: Color
    size: Size = Size.LARGE
    shape: Shape
    rights: Right
    other: Color | None
    colors: list[Color]
    made: date
    sold: date | None
    days: list[date]


@pytest.fixture
def toys(path: Path) -> Any:
    with toft.open(path, [Toy]) as realm:
        yield realm


def test_enumerations_and_dates_come_back_as_they_were_put(toys: toft.Realm) -> None:
    given: dict[str, Any] = {
        "color": Color.BLUE,
        "size": Size.SMALL,
        "shape": Shape.ROUND,
        "rights": Right.READ | Right.WRITE,
        "other": Color.RED,
        "colors": [Color.RED, Color.BLUE],
        "made": date(2024, 2, 29),
        "sold": date(1, 1, 1),
        "days": [date(1969, 12, 31), date(9999, 12, 31)],
    }
    with toys.write():
        toys.create(Toy, name="created", **given)
        toys.add(Toy(name="added", **given))
        toys.insert_many(Toy, [{"name": "inserted", **given}])
    for toy in [*toys.objects(Toy), toys.object(Toy, "created"), toys.objects(Toy)[1]]:
        assert {name: getattr(toy, name) for name in given} == given
        assert type(toy.size) is Size and type(toy.made) is date
    assert toys.objects(Toy).lists("color")["color"] == [Color.BLUE] * 3


def test_what_is_not_given_is_the_zero_or_the_first_member(toys: toft.Realm) -> None:
    with toys.write():
        toy = toys.create(Toy, name="ball")
    assert (toy.color, toy.size, toy.shape, toy.rights) == (
        Color.RED,
        Size.LARGE,
        Shape.NONE,
        Right(0),
    )
    assert (toy.other, toy.colors, toy.made, toy.sold) == (None, [], date(1970, 1, 1), None)


def test_queries_lists_and_groups_know_them(toys: toft.Realm) -> None:
    with toys.write():
        ball = toys.create(
            Toy, name="ball", color=Color.BLUE, colors=[Color.RED], made=date(2024, 1, 2)
        )
        toys.create(Toy, name="bag", made=date(2023, 1, 2))
        ball.colors.append(Color.BLUE)
        ball.color = "red"  # type: ignore[assignment]  # the value of a member is one too
    found = toys.objects(Toy)
    assert ball.color is Color.RED
    assert Color.BLUE in ball.colors and "green" not in ball.colors
    assert ball.colors.index(Color.BLUE) == 1 and ball.colors[0] is Color.RED
    assert len(found.where(Toy.color == Color.RED)) == 2
    assert len(found.where("color == $0 AND ANY colors == $0", Color.RED)) == 1
    assert len(found.where(Toy.color.in_(list(Color)))) == 2
    assert len(found.where(Toy.made > date(2023, 6, 1))) == 1
    assert (found.min("made"), found.max(Toy.made)) == (date(2023, 1, 2), date(2024, 1, 2))
    assert found.group_by("color").count() == {Color.RED: 2}
    with toys.write():
        found.update(color=Color.BLUE, sold=date(2024, 1, 1))
    assert {(toy.color, toy.sold) for toy in found} == {(Color.BLUE, date(2024, 1, 1))}


def test_what_is_no_member_or_no_date_is_refused(toys: toft.Realm) -> None:
    with toys.write():
        ball = toys.create(Toy, name="ball")
        with pytest.raises(toft.TypeMismatchError, match=r"'green' is no Color: Color.RED"):
            ball.color = "green"  # type: ignore[assignment]
        with pytest.raises(toft.TypeMismatchError):
            ball.colors.append("green")  # type: ignore[arg-type]
        with pytest.raises(toft.TypeMismatchError, match=r"value.date\(\)"):
            ball.made = datetime(2024, 1, 1, tzinfo=timezone.utc)
        with pytest.raises(toft.TypeMismatchError):
            toys.create(Toy, name="x", made="2024-01-01")
        with pytest.raises(toft.NullNotAllowedError):
            ball.color = None  # type: ignore[assignment]
        for equal in (True, 1.0):  # to a size, but no int
            with pytest.raises(toft.TypeMismatchError, match="is no Size"):
                ball.size = equal  # type: ignore[assignment]


def test_results_of_values_are_of_their_type(toys: toft.Realm) -> None:
    days = [date(2024, 1, 2), date(2024, 1, 1)]
    with toys.write():
        ball = toys.create(Toy, name="ball", colors=[Color.RED, Color.BLUE], days=days)
    found = ball.colors.results
    assert list(found) == [found[0], found[1]] == found[:] == [Color.RED, Color.BLUE]
    assert found.first() is Color.RED and list(reversed(found))[0] is Color.BLUE
    assert found.index(Color.BLUE) == 1 and Color.RED in found
    dates = ball.days.results
    assert dates.sort("self")[:] == days[::-1] and dates.min() == days[1]
    assert days[0] in dates and dates.index(days[1]) == 1 and dates.freeze()[:] == days


def test_columns_of_numpy_become_days(toys: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    for unit in ("D", "s", "us", "ns"):
        days = numpy.array(["2024-02-29", "NaT"], f"M8[{unit}]")
        with toys.write():
            toys.insert_many(Toy, {"name": ["a", "b"], "sold": days}, update="all")
        assert [toy.sold for toy in toys.objects(Toy)] == [date(2024, 2, 29), None]
        assert toys.objects(Toy).lists("sold")["sold"] == [date(2024, 2, 29), None]


def test_a_value_of_the_file_that_is_no_member_is_an_error_when_read(path: Path) -> None:
    with toft.open(path, [Toy]) as realm, realm.write():
        realm.create(Toy, name="ball")
        realm.create(Toy, name="bag")
    with toft.open(path) as realm, realm.write():
        realm.object("Toy", "ball").color = "green"
        realm.object("Toy", "bag").color = ""  # what a property has that was added later
    with toft.open(path, [Toy]) as realm:
        ball, bag = realm.object(Toy, "ball"), realm.object(Toy, "bag")
        assert ball is not None and bag is not None and bag.color is Color.RED
        with pytest.raises(toft.TypeMismatchError, match="'green', which is no Color"):
            ball.color
        with pytest.raises(toft.TypeMismatchError):
            [toy.color for toy in realm.objects(Toy)]


def test_an_enumeration_of_other_values_cannot_be_stored() -> None:
    class Wrong(toft.Object):
        mixed: Mixed

    with pytest.raises(toft.InvalidSchemaError, match="Mixed are not all texts or all ints"):
        toft.open_in_memory([Wrong])
