"""Groups of results: `results.group_by("shop").sum("amount")`."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_aggregate, toft_group_callback, toft_group_value, toft_string
from ._lib import borrowed, library
from .errors import TypeMismatchError, UnsupportedAggregateError
from .expressions import Expression

if TYPE_CHECKING:
    from .query import Results
    from .rows import BoundProperty


class Groups:
    """Results by the values of one or more key paths, as they are when a question is asked.

    Each question gives a dictionary in the order of its keys, None first. Its keys are the values
    of the path, objects for a link, tuples where there are several paths. Nulls and NaN do not
    count in sums, means and ends. One pass over the columns in the library, no object is made.
    """

    def __init__(self, results: Results[Any], keys: tuple[str | Expression[Any], ...]) -> None:
        self._results = results
        self._keys = [results._path(key) for key in keys]
        for path, last in self._keys:
            if last and not last.is_plain:
                raise TypeMismatchError(f"{path} has more than one value for each object.")

    def count(self) -> dict[Any, int]:
        """How many objects are in each group."""
        return self._asked(None)

    def sum(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The sum of a property, or of a path over links, in each group, 0 of no value."""
        return self._asked(toft_aggregate.SUM, name)

    def average(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The mean in each group, None when there is no value."""
        return self._asked(toft_aggregate.AVERAGE, name)

    def min(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The least value in each group, None when there is no value."""
        return self._asked(toft_aggregate.MINIMUM, name)

    def max(self, name: str | Expression[Any]) -> dict[Any, Any]:
        """The greatest value in each group, None when there is no value."""
        return self._asked(toft_aggregate.MAXIMUM, name)

    def _asked(
        self, aggregate: int | None, name: str | Expression[Any] | None = None
    ) -> dict[Any, Any]:
        realm, width = self._results._realm, len(self._keys)
        texts = [borrowed(path) for path, _ in self._keys]
        paths = (toft_string * width)(*(text for text, _ in texts))
        of: BoundProperty | None = None
        asked = None
        if name is not None:
            path, of = self._results._path(name)
            if of and not of.is_plain:
                raise UnsupportedAggregateError(f"{path} has no such aggregate.")
            text, kept = borrowed(path)
            asked = ctypes.byref(toft_group_value(text, aggregate, 0))
        rows: list[list[Any]] = []
        failures: list[BaseException] = []

        def take(_: Any, group: int) -> None:
            try:
                count = width + (1 if asked is None else 2)
                memory = (ctypes.c_char * (count * values.VALUE_SIZE)).from_address(group)
                rows.append(
                    [values.decode(memory, at * values.VALUE_SIZE, realm) for at in range(count)]
                )
            except BaseException as failure:  # a callback of C cannot raise
                failures.append(failure)

        realm._freshen()
        library().toft_results_groups(
            self._results._handle.address,
            *(ctypes.byref(paths), width, asked, 0 if asked is None else 1),
            *(toft_group_callback(take), None),
        )
        if failures:
            raise failures[0]
        columns = [
            each.converted([row[at] for row in rows]) if each else [row[at] for row in rows]
            for at, (_, each) in enumerate(self._keys)
        ]
        found = [row[-1] for row in rows]
        if of is not None and aggregate in (toft_aggregate.MINIMUM, toft_aggregate.MAXIMUM):
            found = of.converted(found)
        try:
            return dict(zip(columns[0] if width == 1 else zip(*columns), found))
        except TypeError:
            named = ", ".join(path for path, _ in self._keys)
            raise TypeMismatchError(
                f"{named}: lists and dictionaries among the values cannot be keys of groups."
            ) from None
