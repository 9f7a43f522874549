"""Points in time with nanoseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Any


class Timestamp(datetime):
    """A datetime with nanoseconds: what a date of the database is in Python when `datetime` alone
    would cut it off. Toft writes whole microseconds as `datetime`, so this comes from other
    programs, from files of JSON or CSV, and from `Timestamp.of`.

    It is a `datetime` wherever one is due. `nanosecond`, 1 to 999, comes on top of `microsecond`.
    It takes part in equality, order and hash, and is kept by `replace`, `astimezone`, and when a
    timedelta is added; the difference of two points in time has microseconds.
    """

    __slots__ = ("nanosecond",)

    nanosecond: int

    def __new__(cls, *arguments: Any, nanosecond: int = 0, **more: Any) -> Timestamp:
        if not 0 <= nanosecond < 1000:
            raise ValueError("nanosecond must be in 0..999")
        instance = super().__new__(cls, *arguments, **more)
        instance.nanosecond = nanosecond
        return instance

    @classmethod
    def of(cls, moment: datetime, nanosecond: int) -> Timestamp:
        """A point in time `nanosecond` nanoseconds, 0 to 999, after the microsecond of another."""
        return cls(
            moment.year,
            moment.month,
            moment.day,
            moment.hour,
            moment.minute,
            moment.second,
            moment.microsecond,
            moment.tzinfo,
            fold=moment.fold,
            nanosecond=nanosecond,
        )

    # ----------------------------------------------------------------------------------------------
    # Equality and order

    def __eq__(self, other: object) -> bool:
        is_equal = super().__eq__(other)
        if is_equal is True:
            return self.nanosecond == getattr(other, "nanosecond", 0)
        return is_equal

    def __ne__(self, other: object) -> bool:
        is_equal = self.__eq__(other)
        return is_equal if is_equal is NotImplemented else not is_equal

    def __hash__(self) -> int:
        return (
            hash((super().__hash__(), self.nanosecond)) if self.nanosecond else super().__hash__()
        )

    def __lt__(self, other: Any) -> bool:
        if super().__eq__(other) is True:
            return self.nanosecond < getattr(other, "nanosecond", 0)
        return super().__lt__(other)

    def __gt__(self, other: Any) -> bool:
        if super().__eq__(other) is True:
            return self.nanosecond > getattr(other, "nanosecond", 0)
        return super().__gt__(other)

    def __le__(self, other: Any) -> bool:
        if super().__eq__(other) is True:
            return self.nanosecond <= getattr(other, "nanosecond", 0)
        return super().__le__(other)

    def __ge__(self, other: Any) -> bool:
        if super().__eq__(other) is True:
            return self.nanosecond >= getattr(other, "nanosecond", 0)
        return super().__ge__(other)

    # ----------------------------------------------------------------------------------------------
    # Others like it

    def __add__(self, other: timedelta) -> Timestamp:
        return Timestamp.of(super().__add__(other), self.nanosecond)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        found: Any = super().__sub__(other)
        return Timestamp.of(found, self.nanosecond) if isinstance(found, datetime) else found

    def replace(self, *arguments: Any, nanosecond: int | None = None, **more: Any) -> Timestamp:
        """A copy with other parts. With another microsecond it has no nanoseconds."""
        if nanosecond is None:
            is_cut = len(arguments) > 6 or "microsecond" in more
            nanosecond = 0 if is_cut else self.nanosecond
        return Timestamp.of(super().replace(*arguments, **more), nanosecond)

    def astimezone(self, tz: tzinfo | None = None) -> Timestamp:
        """The point in time in another time zone."""
        return Timestamp.of(super().astimezone(tz), self.nanosecond)

    # ----------------------------------------------------------------------------------------------
    # Forms

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """As datetime's, with nine digits behind the second unless `timespec` says another."""
        if timespec != "nanoseconds" and (timespec != "auto" or not self.nanosecond):
            return super().isoformat(sep, timespec)
        text = super().isoformat(sep, "microseconds")
        end = text.index(".") + 7
        return f"{text[:end]}{self.nanosecond:03}{text[end:]}"

    def __repr__(self) -> str:
        return f"Timestamp({self.isoformat()!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = super().replace()
        plain = datetime.combine(parts.date(), parts.timetz())
        return Timestamp.of, (plain, self.nanosecond)
