"""Conditions on years, months, weeks and hours of a time zone, held against Python's own."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import toft

UTC = timezone.utc
UNITS: list[Any] = ["year", "quarter", "month", "week", "day", "hour", "minute"]
ZONES = [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/Sao_Paulo"), ZoneInfo("Asia/Kolkata")]


class Sale(toft.Object):
    id: int = toft.field(primary_key=True)
    at: toft.Property[datetime | None] = toft.field(default=None)
    on: toft.Property[date] = toft.field(default=date(2024, 1, 1))


def begun(unit: str, moment: datetime, zone: Any) -> datetime:
    """The beginning of the unit of a moment, as the clocks of the zone show it."""
    wall = moment.astimezone(zone).replace(tzinfo=None)
    parts = ["year", "month", "day", "hour", "minute"]
    if unit == "week":
        return datetime(wall.year, wall.month, wall.day) - timedelta(wall.weekday())
    if unit == "quarter":
        return datetime(wall.year, (wall.month + 2) // 3 * 3 - 2, 1)
    kept = [getattr(wall, part) for part in parts[: parts.index(unit) + 1]]
    return datetime(*[*kept, 1, 1][: max(3, len(kept))])


@pytest.mark.parametrize("unit", UNITS)
def test_it_finds_what_python_would(path: Path, unit: Any) -> None:
    print("seed", unit)
    chance = random.Random(unit)
    first = datetime(2018, 10, 20, tzinfo=UTC)  # before the clocks change in Berlin and Sao Paulo
    moments = [first + timedelta(minutes=15 * chance.randrange(6000)) for _ in range(60)]
    moments += [first + timedelta(days=chance.randrange(1500)) for _ in range(40)]
    with toft.open(path, [Sale]) as realm:
        with realm.write():
            for number, moment in enumerate(moments):
                realm.create(Sale, id=number, at=moment)
            realm.create(Sale, id=-1)
        for zone in ZONES:
            for _ in range(12):
                value: Any = chance.choice(moments)
                if chance.random() < 0.5:  # a beginning
                    value = begun(unit, value, zone)
                    value = value.date() if unit in UNITS[:5] else value.replace(tzinfo=zone)
                is_day = not isinstance(value, datetime)
                wall = (
                    datetime(value.year, value.month, value.day)
                    if is_day
                    else value.astimezone(zone).replace(tzinfo=None)
                )
                comparisons: list[Callable[[Any, Any], Any]] = [
                    lambda a, b: a == b,
                    lambda a, b: a < b,
                    lambda a, b: a <= b,
                    lambda a, b: a > b,
                    lambda a, b: a >= b,
                ]
                for compare in comparisons:
                    condition = compare(toft.date_trunc(unit, Sale.at, zone), value)
                    expected = [
                        number
                        for number, moment in enumerate(moments)
                        if compare(begun(unit, moment, zone), wall)
                    ]
                    found = [sale.id for sale in realm.objects(Sale).where(condition)]
                    assert found == expected, (unit, zone, value, condition)


def test_what_has_no_date_is_of_no_month_and_members_and_ranges_are_found(path: Path) -> None:
    with toft.open(path, [Sale]) as realm:
        with realm.write():
            for number, month in enumerate((1, 2, 2, 5), 1):
                realm.create(Sale, id=number, at=datetime(2024, month, 29, tzinfo=UTC))
            realm.create(Sale, id=5)
        month = toft.date_trunc("month", Sale.at)
        sales = realm.objects(Sale)

        def ids(condition: toft.Condition) -> list[int]:
            return [sale.id for sale in sales.where(condition)]

        assert ids(month == date(2024, 2, 1)) == [2, 3]
        assert ids(month == date(2024, 2, 2)) == []
        assert ids(month != date(2024, 2, 1)) == [1, 4, 5]
        assert ids(month.in_([date(2024, 1, 1), date(2024, 5, 1)])) == [1, 4]
        assert ids(month.in_([])) == []
        assert ids(month.between(date(2024, 2, 1), date(2024, 5, 1))) == [2, 3, 4]
        assert ids(toft.date_trunc("year", Sale.at) == date(9999, 1, 1)) == []
        assert ids(toft.date_trunc("year", Sale.at) <= date(9999, 1, 1)) == [1, 2, 3, 4]
        assert ids(toft.date_trunc("month", Sale.on) == date(2024, 1, 1)) == [1, 2, 3, 4, 5]


def test_mistakes_are_told() -> None:
    with pytest.raises(toft.InvalidArgumentError, match="one of year, quarter, month"):
        toft.date_trunc("decade", Sale.at)  # type: ignore[arg-type]
    with pytest.raises(toft.InvalidArgumentError, match="'Mars/Base' is no time zone"):
        toft.date_trunc("day", Sale.at, "Mars/Base")
    with pytest.raises(TypeError, match="such as Sale.at"):
        toft.date_trunc("day", datetime.now(UTC))
    with pytest.raises(toft.TypeMismatchError, match="has no time zone"):
        toft.date_trunc("day", Sale.at) == datetime(2024, 1, 1)
    with pytest.raises(toft.TypeMismatchError, match="A date is due"):
        toft.date_trunc("day", Sale.at) > 2024  # type: ignore[operator]
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(toft.date_trunc("day", Sale.at))
