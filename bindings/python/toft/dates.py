"""Dates in conditions by year, month, day...: `toft.date_trunc("month", Sale.at, "Europe/Berlin")`.

A comparison becomes one of the property itself with the ends of the unit, so an index is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal

from .errors import InvalidArgumentError, TypeMismatchError
from .expressions import Condition, Expression

Unit = Literal["year", "quarter", "month", "week", "day", "hour", "minute"]


def date_trunc(
    unit: Unit,
    expression: datetime | Expression[datetime] | Expression[datetime | None] | None,
    zone: tzinfo | str = timezone.utc,
) -> DateTrunc:
    """The beginning of the year, quarter, month, week (its Monday), day, hour or minute of a
    datetime, to be compared in a condition, as date_trunc of SQL:

        sales.where(toft.date_trunc("month", Sale.at, "Europe/Berlin") == date(2024, 5, 1))

    It is compared with days, or with datetimes that have a time zone. `zone`: the time zone whose
    days and hours are meant, or its name; UTC for a property that holds days. Any thread.
    """
    if unit not in _STARTS:
        raise InvalidArgumentError(f"A unit is one of {', '.join(_STARTS)}, not {unit!r}.")
    if not isinstance(expression, Expression):
        raise TypeError(f"a property of a class is due, such as Sale.at, not {expression!r:.80}")
    return DateTrunc(unit, expression, _zone(zone))


class DateTrunc:
    """The result of `date_trunc`."""

    __slots__ = ("_expression", "_unit", "_zone")

    def __init__(self, unit: str, expression: Expression[Any], zone: tzinfo) -> None:
        self._unit = unit
        self._expression = expression
        self._zone = zone

    def __eq__(self, other: date) -> Condition:  # type: ignore[override]
        start, following, is_start = self._ends(other)
        if is_start:
            return self._from(start) & self._before(following)
        return self._expression.is_none() & ~self._expression.is_none()  # nothing begins there

    def __ne__(self, other: date) -> Condition:  # type: ignore[override]
        return ~(self == other)

    __hash__ = object.__hash__

    def __lt__(self, other: date) -> Condition:
        start, following, is_start = self._ends(other)
        return self._before(start if is_start else following)

    def __ge__(self, other: date) -> Condition:
        start, following, is_start = self._ends(other)
        return self._from(start if is_start else following)

    def __gt__(self, other: date) -> Condition:
        return self._from(self._ends(other)[1])

    def __le__(self, other: date) -> Condition:
        return self._before(self._ends(other)[1])

    def between(self, least: date, greatest: date) -> Condition:
        """Whether it is between these two or is one of them."""
        return (self >= least) & (self <= greatest)

    def in_(self, members: Iterable[date]) -> Condition:
        """Whether it is one of these."""
        found = self._expression.in_([])
        for each in members:
            found |= self == each
        return found

    def __repr__(self) -> str:
        return f"<date_trunc({self._unit!r}, {self._expression!r}, {self._zone})>"

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is neither true nor false: compare it")

    def _ends(self, value: date) -> tuple[datetime, datetime, bool]:
        """The beginning of the unit of a moment, that of the next unit, both as the clocks of the
        zone show them, and whether the moment is the beginning.
        """
        if isinstance(value, datetime):
            if value.utcoffset() is None:
                raise TypeMismatchError(
                    f"{value!r} has no time zone: say datetime.now(timezone.utc), or give it its "
                    f"tzinfo."
                )
            wall = value.astimezone(self._zone).replace(tzinfo=None)
        elif isinstance(value, date):
            wall = datetime(value.year, value.month, value.day)
        else:
            raise TypeMismatchError(f"A date is due, or a datetime, not {value!r:.80}")
        start = _STARTS[self._unit](wall)
        try:
            following = _STARTS[self._unit](start + _LONGEST[self._unit])
        except OverflowError:  # behind the year 9999
            following = datetime.max
        return start, following, start == wall

    def _from(self, wall: datetime) -> Condition:
        return self._expression >= wall.replace(tzinfo=self._zone)

    def _before(self, wall: datetime) -> Condition:
        return self._expression < wall.replace(tzinfo=self._zone)


def _midnight(wall: datetime) -> datetime:
    return wall.replace(hour=0, minute=0, second=0, microsecond=0)


_STARTS: dict[str, Callable[[datetime], datetime]] = {
    "year": lambda wall: _midnight(wall.replace(month=1, day=1)),
    "quarter": lambda wall: _midnight(wall.replace(month=(wall.month - 1) // 3 * 3 + 1, day=1)),
    "month": lambda wall: _midnight(wall.replace(day=1)),
    "week": lambda wall: _midnight(wall) - timedelta(wall.weekday()),
    "day": _midnight,
    "hour": lambda wall: wall.replace(minute=0, second=0, microsecond=0),
    "minute": lambda wall: wall.replace(second=0, microsecond=0),
}
_LONGEST = {
    "year": timedelta(366),
    "quarter": timedelta(92),
    "month": timedelta(31),
    "week": timedelta(7),
    "day": timedelta(1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
}
"""From a beginning over the longest unit lies within the next one, or at its beginning."""


def _zone(zone: tzinfo | str) -> tzinfo:
    if isinstance(zone, tzinfo):
        return zone
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, TypeError):
        raise InvalidArgumentError(
            f"{zone!r:.80} is no time zone that this machine knows: such as 'Europe/Berlin'."
        ) from None
