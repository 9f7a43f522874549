"""Many objects at once: rows and columns into the database, properties of all results."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_link
from ._lib import Handle, library
from .adding import Adding
from .errors import Error, InvalidArgumentError
from .expressions import Increment, property_name
from .objects import Object
from .rows import Binding, BoundProperty, Single, counter_amount

if TYPE_CHECKING:
    from .database import Realm

Rows = Iterable[Mapping[str, Any] | Object]


def insert(realm: Realm, binding: Binding, policy: int, rows: Any) -> int:
    """Creates an object from each row, all or none. Returns how many rows there were."""
    adding = Adding(realm, policy)
    insertion = _Insertion(realm, binding, policy)
    number = 0
    try:
        if (columns := _columns(binding, rows)) is not None:
            names = tuple(columns)
            for row in zip(*columns.values()):
                insertion.row(names, row)
                number += 1
        else:
            for each in rows:
                if isinstance(each, Object):
                    adding.add(each)
                else:
                    insertion.row(tuple(each), each.values())
                number += 1
    except BaseException as error:
        insertion.take_back()
        adding.take_back()
        if isinstance(error, Error):
            error.message = f"Row {number}: {error.message}"
        raise
    return number


class _Insertion:
    """Creates objects from rows of values, without an object of Python for each."""

    def __init__(self, realm: Realm, binding: Binding, policy: int) -> None:
        self._realm = realm
        self._binding = binding
        self._policy = policy
        self._exists = Adding(realm, policy).exists
        self._created: list[int] = []
        self._arguments = values.Arguments()
        self._names: tuple[str, ...] = ()
        self._keys: Any = None
        self._properties: list[BoundProperty] = []
        self._missing: list[BoundProperty] = []
        self._create = library().toft_realm_create_object
        self._link, self._is_new = toft_link(), ctypes.c_bool()
        self._results = ctypes.byref(self._link), ctypes.byref(self._is_new)

    def row(self, names: tuple[str, ...], cells: Iterable[Any]) -> None:
        """One object."""
        if names != self._names:
            self._begin(names)
        arguments, realm = self._arguments, self._realm
        arguments.clear()
        for each, cell in zip(self._properties, cells):
            if each.is_list or each.conversion is not None:
                each.lend(cell, arguments, realm)
            else:
                arguments.add(cell, realm, each.type)
        count = len(names)
        if self._missing and not self._exists(self._binding, dict(zip(names, cells))):
            for each in self._missing:
                each.lend(each.default(), arguments, realm)
            count += len(self._missing)
        realm._changing()
        self._create(
            realm._address,
            self._binding.key,
            self._policy,
            self._keys,
            arguments.address,
            count,
            None,
            *self._results,
        )
        if self._is_new.value:
            self._created.append(self._link.object_key)

    def _begin(self, names: tuple[str, ...]) -> None:
        """Rows with these properties follow."""
        self._names = names
        self._missing = [each for each in self._binding.defaults if each.name not in names]
        all_names = (*names, *(each.name for each in self._missing))
        self._keys, self._properties = self._binding.properties_named(all_names)

    def take_back(self) -> None:
        """Deletes what was created."""
        self._realm._changing()
        for key in reversed(self._created):
            try:
                if single := Single.following(self._binding, key):
                    library().toft_object_delete(single.handle().address)
            except Error:  # the failure that led here is the one to report
                pass


def update(realm: Realm, binding: Binding, snapshot: Handle, given: Mapping[str, Any]) -> int:
    """Sets properties of all objects of a snapshot to the same values, and adds to those that are
    given an `Increment`, all or none. Returns how many objects there were.
    """
    amounts = {
        binding.property(name).key: _amount(binding, name, value)
        for name, value in given.items()
        if isinstance(value, Increment)
    }
    fixed = {name: value for name, value in given.items() if not isinstance(value, Increment)}
    keys, properties = binding.properties_named(tuple(fixed))
    count, added = ctypes.c_uint64(), []
    with realm._arguments() as arguments:
        for each, value in zip(properties, fixed.values()):
            each.lend(value, arguments, realm)
        realm._changing()
        try:
            for key, amount in amounts.items():
                library().toft_results_add(snapshot.address, key, amount, None)
                added.append((key, amount))
            library().toft_results_set_values(
                snapshot.address, keys, arguments.address, len(properties), ctypes.byref(count)
            )
        except Error:
            for key, amount in added:
                for part in (amount // 2, amount - amount // 2):  # -2**63 has no opposite
                    library().toft_results_add(snapshot.address, key, -part, None)
            raise
    return count.value


def _amount(binding: Binding, name: str, increment: Increment) -> int:
    """What is to be added to a property."""
    if property_name(binding.cls, increment.expression) != name:
        raise InvalidArgumentError(
            f"{increment.expression!r} is not {name}: what is added to is set, as in "
            f"update({name}={binding.cls.__name__}.{name} + 1)."
        )
    return counter_amount(binding.property(name), increment.amount)


# ------------------------------------------------------------------------------------ Kinds of rows


def _columns(binding: Binding, rows: Any) -> dict[str, Sequence[Any]] | None:
    """The columns that `rows` are, if they are not rows."""
    if hasattr(rows, "columns") and hasattr(rows, "shape"):  # pandas, polars
        columns = {str(name): _cells(binding, str(name), rows[name]) for name in rows.columns}
    elif isinstance(rows, Mapping):
        columns = {name: _cells(binding, name, column) for name, column in rows.items()}
    else:
        return None
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name}: {len(column)}" for name, column in columns.items())
        raise InvalidArgumentError(f"The columns are not equally long: {sizes}")
    return columns


def _cells(binding: Binding, name: str, column: Any) -> Sequence[Any]:
    """The values of a column of whichever library, None where there is none."""
    each = binding.property(name)
    if isinstance(column, (list, tuple)):
        return column
    missing = column.isna().tolist() if hasattr(column, "isna") else None
    cells = column.to_list() if hasattr(column, "to_list") else _listed(column)
    if missing is not None and (each.is_nullable or each.type == values.LINK):
        cells = [None if is_missing else cell for cell, is_missing in zip(cells, missing)]
    if each.type == values.INT and any(type(cell) is float for cell in cells):
        return [int(c) if type(c) is float and c.is_integer() else c for c in cells]
    if each.type == values.DATE and str(getattr(column, "dtype", "")).startswith("datetime64["):
        moments = [_in_utc(cell) for cell in cells]
        return moments if each.conversion is None else each.converted(moments)
    return cells


def _listed(column: Any) -> Sequence[Any]:
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _in_utc(cell: Any) -> Any:
    """A date of a column of NumPy's type, which has no zones."""
    is_naive = isinstance(cell, datetime) and cell.tzinfo is None and cell == cell
    return cell.replace(tzinfo=values.UTC) if is_naive else cell
