"""Groups of results: `results.group_by("shop").sum("amount")`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import _values as values
from . import decimals
from .errors import UnsupportedAggregateError
from .expressions import Expression

if TYPE_CHECKING:
    from .query import Results
    from .rows import BoundProperty

_NUMBERS = (values.INT, values.FLOAT, values.DOUBLE, values.DECIMAL)


class Groups:
    """Results by the values of one or more properties, as they are when a question is asked.

    Each question gives a dictionary in the order in which the groups first come. Its keys are the
    values of the property, objects for a link, tuples where there are several properties. It reads
    whole columns. Nulls do not count.
    """

    def __init__(self, results: Results[Any], keys: tuple[str | Expression[Any], ...]) -> None:
        self._results = results
        self._keys = [results._property(key) for key in keys]

    def count(self) -> dict[Any, int]:
        """How many objects are in each group."""
        return dict(Counter(self._read()[0]))

    def sum(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The sum of a property in each group, 0 when there is no value."""
        keys, column = self._read(self._number(name, *_NUMBERS))
        sums: dict[Any, Any] = dict.fromkeys(keys, 0)
        for key, value in zip(keys, column):
            if value is not None:
                sums[key] = _added(sums[key], value)
        return sums

    def average(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The mean in each group, None when there is no value."""
        keys, column = self._read(self._number(name, *_NUMBERS))
        counts = Counter(key for key, value in zip(keys, column) if value is not None)
        sums = self._folded(keys, column, _added)
        return {key: _divided(sums[key], counts[key]) if counts[key] else None for key in sums}

    def min(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The least value in each group, None when there is no value."""
        return self._folded(*self._read(self._number(name, *_NUMBERS, values.DATE)), min)

    def max(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The greatest value in each group, None when there is no value."""
        return self._folded(*self._read(self._number(name, *_NUMBERS, values.DATE)), max)

    @staticmethod
    def _folded(
        keys: list[Any], column: list[Any], fold: Callable[[Any, Any], Any]
    ) -> dict[Any, Any]:
        folded: dict[Any, Any] = dict.fromkeys(keys)
        for key, value in zip(keys, column):
            if value is not None:
                kept = folded[key]
                folded[key] = value if kept is None else fold(kept, value)
        return folded

    def _number(self, name: str | Expression[Any], *types: int) -> BoundProperty:
        each = self._results._property(name)
        if not each.is_plain or each.type not in types:
            raise UnsupportedAggregateError(f"{each.name} has no such aggregate.")
        return each

    def _read(self, *more: BoundProperty) -> tuple[list[Any], list[Any]]:
        """The key of each object, and the values of a property."""
        names = [each.name for each in (*self._keys, *more)]
        columns = self._results.lists(*names)
        keys = [self._objects(each, columns[each.name]) for each in self._keys]
        together = keys[0] if len(keys) == 1 else list(zip(*keys))
        return together, columns[names[-1]]

    def _objects(self, each: BoundProperty, column: list[Any]) -> list[Any]:
        if each.type != values.LINK:
            return column
        linked = self._results._realm._linked
        found = {key: None if key is None else linked(key, each.target) for key in set(column)}
        return [found[key] for key in column]


def _added(one: Any, other: Any) -> Any:
    if isinstance(other, Decimal):
        return decimals.CONTEXT.add(Decimal(one), other)
    return one + other


def _divided(total: Any, count: int) -> Any:
    if isinstance(total, Decimal):
        return decimals.CONTEXT.divide(total, Decimal(count))
    return total / count
