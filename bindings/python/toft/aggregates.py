"""Aggregates of groups: `results.group_by("shop").aggregate(n=count(), total=sum("amount"))`.

The names are those of SQL, two of which Python has too, so they are imported from here:
`from toft.aggregates import average, count, max, min, sum`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ._ffi import toft_aggregate
from .errors import InvalidArgumentError, TypeMismatchError

if TYPE_CHECKING:
    from .expressions import Expression


class Aggregate(NamedTuple):
    """An aggregate of the objects of a group."""

    kind: int | None
    """None: how many there are."""
    of: str | Expression[Any] | None


def count() -> Aggregate:
    """How many objects are in the group."""
    return Aggregate(None, None)


def sum(name: str | Expression[Any]) -> Aggregate:
    """The sum of a property, or of a path over links; 0 of no value."""
    return Aggregate(toft_aggregate.SUM, name)


def average(name: str | Expression[Any]) -> Aggregate:
    """The mean, None without a value."""
    return Aggregate(toft_aggregate.AVERAGE, name)


def min(name: str | Expression[Any]) -> Aggregate:
    """The least value, None without a value."""
    return Aggregate(toft_aggregate.MINIMUM, name)


def max(name: str | Expression[Any]) -> Aggregate:
    """The greatest value, None without a value."""
    return Aggregate(toft_aggregate.MAXIMUM, name)


class Aggregates(Sequence[Any]):
    """Groups with their aggregates, each a named tuple of its keys and what was asked. Its rows
    are those of the moment of the question.
    """

    def __init__(self, names: tuple[str, ...], key_count: int, rows: list[Any]) -> None:
        self._names = names
        self._key_count = key_count
        self._rows = rows

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns: the keys, then the aggregates."""
        return self._names

    def having(self, condition: Callable[[Any], object]) -> Aggregates:
        """The groups for which a condition is true: `having(lambda group: group.n > 10)`."""
        return self._with([row for row in self._rows if condition(row)])

    def sort(self, *names: str) -> Aggregates:
        """Sorted by columns, the first being the most significant, with a minus sign for
        descending order: `sort("-total", "shop")`. None comes first, and last in descending order.
        """
        rows = self._rows
        for name in reversed(names):
            index, is_descending = self._index(name.removeprefix("-")), name.startswith("-")
            try:
                rows = sorted(rows, key=lambda row: _rank(row[index]), reverse=is_descending)
            except TypeError as error:
                raise TypeMismatchError(f"The values of {name!r} have no order: {error}") from None
        return self._with(rows)

    def top(self, count: int, by: str | None = None) -> Aggregates:
        """The `count` groups with the greatest values of a column, the greatest first; None: of
        the first aggregate.
        """
        if count < 0:
            raise InvalidArgumentError(f"A number of groups is not negative: {count}")
        if by is None and self._key_count == len(self._names):
            raise InvalidArgumentError("top() needs an aggregate, or a column to go by.")
        return self.sort(f"-{by or self._names[self._key_count]}")[:count]

    def columns(self) -> dict[str, list[Any]]:
        """The columns by name, as lists."""
        return {name: [row[at] for row in self._rows] for at, name in enumerate(self._names)}

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return [dict(zip(self._names, row)) for row in self._rows]

    def to_pandas(self) -> Any:
        """A DataFrame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self.columns(), columns=list(self._names))

    def to_polars(self) -> Any:
        """A DataFrame of polars, which must be installed."""
        import polars

        return polars.DataFrame(self.columns(), schema=list(self._names))

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Aggregates: ...
    def __getitem__(self, index: int | slice) -> Any:
        found = self._rows[index]
        return self._with(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        """Whether the rows are the same, those of a list of tuples too."""
        return self._rows == (other._rows if isinstance(other, Aggregates) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} groups of {', '.join(self._names)}>"

    def _with(self, rows: list[Any]) -> Aggregates:
        return Aggregates(self._names, self._key_count, rows)

    def _index(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise InvalidArgumentError(
                f"There is no column {name!r}: there are {', '.join(self._names)}."
            ) from None


def _rank(value: Any) -> tuple[bool, bool, Any]:
    """None first, then NaN, then the values."""
    if value is None:
        return False, False, 0
    return (True, False, 0) if value != value else (True, True, value)
