"""Groups of results: `results.group_by("shop").sum("amount")`."""

from __future__ import annotations

import ctypes
import re
from collections import namedtuple
from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from keyword import iskeyword
from math import fsum
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_aggregate, toft_group_callback, toft_group_value, toft_string
from ._lib import borrowed, library
from .aggregates import Aggregate, Aggregates
from .decimals import CONTEXT
from .errors import InvalidArgumentError, TypeMismatchError, UnsupportedAggregateError
from .expressions import Expression, path_name

if TYPE_CHECKING:
    from .query import Results
    from .rows import BoundProperty

Weighted = list[tuple[Any, int]]
"""Values in ascending order, and how many objects have each."""

_NO_LETTER = re.compile(r"\W+")
_ENDS = {toft_aggregate.MINIMUM: 0, toft_aggregate.MAXIMUM: -1}


class Groups:
    """Results by the values of one or more key paths, as they are when a question is asked.

    Each aggregate returns a dictionary in the order of its keys, None first. Its keys are the
    values of the path, objects for a link, tuples for several paths. Keys that are equal in Python
    are one group, as in any dictionary: True and 1 among mixed values, values of a custom type that
    read as equal. Nulls and NaN do not count in sums, means and ends. One pass over the columns in
    the library, no object is made.
    """

    def __init__(self, results: Results[Any], keys: tuple[str | Expression[Any], ...]) -> None:
        self._results = results
        self._keys = [results._path(key) for key in keys]
        self._names = [_NO_LETTER.sub("_", path_name(key)).strip("_") for key in keys]
        for path, last in self._keys:
            if last and not last.is_plain:
                raise TypeMismatchError(f"{path} has more than one value for each object.")

    def count(self) -> dict[Any, int]:
        """How many objects are in each group."""
        self._results._session.position.freshen()
        counts: dict[Any, int] = {}
        rows = self._rows([path for path, _ in self._keys])
        for key, (*_, count) in zip(self._converted(rows), rows):
            counts[key] = counts.get(key, 0) + count
        return counts

    def sum(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The sum of a property, or of a path over links, in each group, 0 of no value."""
        return self._asked(toft_aggregate.SUM, name)

    def average(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The mean in each group, None without a value."""
        return self._asked(toft_aggregate.AVERAGE, name)

    def min(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The least value in each group, None without a value."""
        return self._asked(toft_aggregate.MINIMUM, name)

    def max(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The greatest value in each group, None without a value."""
        return self._asked(toft_aggregate.MAXIMUM, name)

    def aggregate(self, **asked: Aggregate) -> Aggregates:
        """Several aggregates of each group at once, as rows in the order of their keys:

            from toft.aggregates import count, sum

            sales.group_by("shop").aggregate(n=count(), total=sum("amount")).top(10, by="total")

        A row is a named tuple of the keys, by their paths ("seller_name" for "seller.name"), and of
        the aggregates, by the names given here. Each group of the database is a row: 1 and True
        among mixed values are two. One pass over the columns.
        """
        names = (*self._names, *asked)
        for name in names:
            if not name.isidentifier() or name.startswith("_") or iskeyword(name):
                raise InvalidArgumentError(f"{name!r} cannot be the name of a column of rows.")
            if names.count(name) > 1:
                raise InvalidArgumentError(f"Two columns have the name {name!r}: rename one.")
        wanted = [self._wanted(name, each) for name, each in asked.items()]
        self._results._session.position.freshen()
        paths = [path for path, _ in self._keys]
        rows = self._rows(paths, *(each[:2] for each in wanted if each is not None))
        columns, place = self._key_columns(rows), len(paths)
        for each in wanted:
            if each is None:
                columns.append([row[len(paths)] for row in rows])
                continue
            place += 1
            column = [row[place] for row in rows]
            of = each[2] if each[1] in _ENDS else None
            columns.append(of.converted(column) if of is not None else column)
        row_type = namedtuple("Group", names)  # type: ignore[misc]
        return Aggregates(names, len(paths), [*map(row_type._make, zip(*columns))])

    def _wanted(self, name: str, asked: object) -> tuple[str, int, BoundProperty | None] | None:
        """The path of an aggregate, its kind, and the property; None: how many there are."""
        if not isinstance(asked, Aggregate):
            raise TypeError(f"{name} is an aggregate, such as count(), not {asked!r:.80}")
        if asked.kind is None or asked.of is None:
            return None
        path, of = self._value(asked.of)
        return path, asked.kind, of

    def _value(self, name: str | Expression[Any]) -> tuple[str, BoundProperty | None]:
        path, of = self._results._path(name)
        if of and not of.is_plain:
            raise UnsupportedAggregateError(f"{path} has no such aggregate.")
        return path, of

    def _asked(self, aggregate: int, name: str | Expression[Any]) -> dict[Any, Any]:
        path, of = self._value(name)
        self._results._session.position.freshen()
        paths = [each for each, _ in self._keys]
        rows = self._rows(paths, (path, aggregate))
        groups: dict[Any, list[Any]] = {}
        for key, row in zip(self._converted(rows), rows):
            groups.setdefault(key, []).append(row[-1])
        if len(groups) < len(rows):
            self._unite(groups, aggregate, self._rows([path, *paths]))
        found = [each for [each] in groups.values()]
        if of is not None and aggregate in _ENDS:
            found = of.converted(found)
        return dict(zip(groups, found))

    def _unite(self, groups: dict[Any, list[Any]], aggregate: int, rows: list[list[Any]]) -> None:
        """Gives one value to each key that several groups of the database have. `rows`: the groups
        by the value first, then by the keys.
        """
        several: dict[Any, Weighted] = {key: [] for key, found in groups.items() if found[1:]}
        for key, (value, *_, count) in zip(self._converted([row[1:] for row in rows]), rows):
            # NaN is not equal to itself.
            if key in several and value is not None and value == value:
                several[key].append((value, count))
        for key, weighted in several.items():
            groups[key] = [_aggregated(aggregate, groups[key], weighted)]

    def _rows(self, paths: list[str], *asked: tuple[str, int]) -> list[list[Any]]:
        """Of each group of the database the keys, how many objects it has, and what is asked."""
        session = self._results._session
        texts = [borrowed(path) for path in paths]
        lent = (toft_string * len(paths))(*(text for text, _ in texts))
        kept = [(*borrowed(path), aggregate) for path, aggregate in asked]
        of = (toft_group_value * max(1, len(kept)))(
            *(toft_group_value(text, aggregate, 0) for text, _, aggregate in kept)
        )
        width = len(paths) + 1 + len(kept)
        rows: list[list[Any]] = []
        failures: list[BaseException] = []

        def take(_: Any, group: int) -> None:
            try:
                memory = (ctypes.c_char * (width * values.VALUE_SIZE)).from_address(group)
                rows.append(
                    [values.decode(memory, at * values.VALUE_SIZE, session) for at in range(width)]
                )
            except BaseException as failure:  # a callback of C cannot raise
                failures.append(failure)

        library().toft_results_groups(
            self._results._handle.address,
            *(ctypes.byref(lent), len(paths), ctypes.byref(of), len(kept)),
            *(toft_group_callback(take), None),
        )
        if failures:
            raise failures[0]
        return rows

    def _converted(self, rows: list[list[Any]]) -> list[Any]:
        """The keys that rows begin with, as Python has them, for a dictionary."""
        columns = self._key_columns(rows)
        for (path, _), column in zip(self._keys, columns):
            _require_hashable(path, column)
        return columns[0] if len(columns) == 1 else [*zip(*columns)]

    def _key_columns(self, rows: list[list[Any]]) -> list[list[Any]]:
        return [
            each.converted([row[at] for row in rows]) if each else [row[at] for row in rows]
            for at, (_, each) in enumerate(self._keys)
        ]


def _require_hashable(path: str, column: Sequence[Any]) -> None:
    for value in column:
        if isinstance(value, (list, dict)):
            raise TypeMismatchError(
                f"{path}: lists and dictionaries among the values cannot be keys of groups."
            )
        try:
            hash(value)
        except TypeError as error:
            raise TypeMismatchError(
                f"{path}: a {type(value).__name__} cannot be the key of a dictionary, as which "
                f"groups are given: {error}"
            ) from None


def _aggregated(aggregate: int, given: list[Any], weighted: Weighted) -> Any:
    """The aggregate of several groups together. `given`: the aggregate of each."""
    if aggregate in _ENDS:
        ends = [value for value, _ in weighted if not isinstance(value, (list, dict))]
        return ends[_ENDS[toft_aggregate(aggregate)]] if ends else None
    if not any(each is not None for each in given):
        return None
    kind = next(type(each) for each in given if each is not None)
    numbers = [(value, count) for value, count in weighted if type(value) in (int, float, Decimal)]
    total = _decimal_sum(numbers) if kind is Decimal else _sum(numbers)
    if aggregate == toft_aggregate.SUM:
        return kind(total)
    size = sum(count for _, count in numbers)
    return CONTEXT.divide(total, Decimal(size)) if kind is Decimal else total / size


def _sum(numbers: Weighted) -> Any:
    products = [value * count for value, count in numbers]
    if all(type(each) is int for each in products):
        return sum(products)
    try:
        return fsum(products)
    except (OverflowError, ValueError):  # beyond the greatest, or infinities of both signs
        return sum(products)


def _decimal_sum(numbers: Weighted) -> Decimal:
    products = (
        CONTEXT.multiply(CONTEXT.create_decimal(value), Decimal(count)) for value, count in numbers
    )
    return reduce(CONTEXT.add, products, Decimal(0))
