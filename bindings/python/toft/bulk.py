"""Many objects at once: rows and columns into the database, properties of all results."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_update_policy
from ._lib import Handle, library
from .adding import Adding
from .arguments import Model, fields_of
from .arrow import Incoming, is_stream
from .errors import Error, InvalidArgumentError, TypeMismatchError
from .expressions import Calculable, Increment, property_name
from .inputs import Inputs, as_array, tell_row
from .objects import Object
from .rows import Binding, BoundProperty, counter_amount

if TYPE_CHECKING:
    from .session import Session

Rows = Iterable[Mapping[str, Any] | Object | Model]

_AT_ONCE = 4096
ERROR = toft_update_policy.ERROR


def insert(session: Session, binding: Binding, policy: int, rows: Any) -> int:
    """Creates an object from each row, all or nothing. Returns the number of rows."""
    if is_stream(rows):
        incoming = Incoming(binding, rows)
        if incoming.is_plain:
            return incoming.insert(session, policy)
        if hasattr(rows, "to_pydict"):  # pyarrow
            rows = rows.to_pydict()
    insertion = _Insertion(session, binding, policy)
    try:
        with session.writing.savepoint():
            if (columns := _columns(binding, rows)) is not None:
                insertion.columns(columns)
            else:
                for each in rows:
                    insertion.add(each)
                insertion.flush()
    except Error as error:
        if not error.message.startswith("Row "):
            tell_row(error, insertion.number + insertion.waiting)
        raise
    return insertion.number


class _Insertion:
    """Creates objects from rows of values, many in a call."""

    def __init__(self, session: Session, binding: Binding, policy: int) -> None:
        self._session = session
        self._binding = binding
        self._policy = policy
        self._names: tuple[str, ...] = ()
        self._rows: list[tuple[Any, ...]] = []
        self.number = 0  # rows that are objects

    @property
    def waiting(self) -> int:
        """Rows that are not created yet."""
        return len(self._rows)

    def add(self, row: Any) -> None:
        """One object, created with those that follow."""
        if isinstance(row, Object):
            self.flush()
            Adding(self._session, self._policy).add(row)
            self.number += 1
        elif (fields := fields_of(row, updates=self._policy != ERROR)) is not None:
            names = tuple(fields)
            if names != self._names or len(self._rows) >= _AT_ONCE:
                self.flush()
                self._names = names
            self._rows.append(tuple(fields.values()))
        else:
            raise TypeMismatchError(f"A row is a mapping or an object, not {row!r:.80}")

    def flush(self) -> None:
        """Creates those that are waiting."""
        if self._rows:
            rows, self._rows = self._rows, []
            self._create(self._names, [(cells, None) for cells in zip(*rows)], len(rows))

    def columns(self, columns: Mapping[str, tuple[Any, Any]]) -> None:
        """An object from each row of columns, which are lists, or arrays with masks."""
        names = tuple(columns)
        count = len(next(iter(columns.values()))[0]) if columns else 0
        for first in range(0, count, _AT_ONCE):
            end = min(first + _AT_ONCE, count)
            part = [
                (column[first:end], None if mask is None else mask[first:end])
                for column, mask in columns.values()
            ]
            self._create(names, part, end - first)

    def _create(self, names: tuple[str, ...], columns: list[tuple[Any, Any]], count: int) -> None:
        binding, session = self._binding, self._session
        missing = [each for each in binding.defaults if each.name not in names]
        _, properties = binding.properties_named(names)
        inputs = Inputs(session, len(names) + len(missing), count, self.number)
        for each, (column, mask) in zip(properties, columns):
            inputs.add(each, column, mask)
        asks = any(each.makes_default for each in missing)
        found = self._found(properties, columns, count) if asks else None
        for each in missing:
            is_for_new = each.name != binding.primary_key
            inputs.add(each, _defaults(each, count, found), is_for_new=is_for_new)
        session.position.changing()
        try:
            library().toft_realm_create_objects(
                session.position.address,
                binding.key,
                self._policy,
                inputs.address,
                inputs.count,
                count,
                None,
                None,
            )
        except Error as error:
            tell_row(error, self.number + error.number)
            raise
        self.number += count

    def _found(
        self, properties: list[BoundProperty], columns: list[tuple[Any, Any]], count: int
    ) -> bytearray | None:
        """For each row whether an object exists to be updated; None if no row has one."""
        key = self._binding.primary_key
        if self._policy == ERROR or key is None:
            return None
        inputs = Inputs(self._session, 1, count, self.number)
        for each, (column, mask) in zip(properties, columns):
            if each.name == key:
                inputs.add(each, column, mask)
        if not inputs.count:
            return None
        found = (ctypes.c_uint8 * count)()
        library().toft_realm_find_objects(
            self._session.position.address, self._binding.key, inputs.address, count, found
        )
        return bytearray(found)


def _defaults(each: BoundProperty, count: int, found: bytearray | None) -> list[Any]:
    """The values that the class declares, for rows that have no object yet."""
    if not each.makes_default:
        return [each.default()] * count
    if found is None:
        return [each.default() for _ in range(count)]
    nothing = None if each.container is None else each.container()
    return [nothing if is_there else each.default() for is_there in found]


def update(session: Session, binding: Binding, snapshot: Handle, given: Mapping[str, Any]) -> int:
    """Sets properties of all objects of a snapshot to the same values, and adds to those that are
    given an `Increment`, all or nothing. Returns the number of objects.
    """
    amounts = {
        binding.property(name).key: _amount(binding, name, value)
        for name, value in given.items()
        if isinstance(value, Increment)
    }
    fixed = {name: value for name, value in given.items() if not isinstance(value, Increment)}
    for name, value in fixed.items():
        if isinstance(value, Calculable):
            raise TypeMismatchError(
                f"{binding.cls.__name__}.{name} = {value!r}: update adds whole numbers to a "
                f"property, as in update(age=Dog.age + 1), and has no other arithmetic: read the "
                f"values, calculate, and set them."
            )
    keys, properties = binding.properties_named(tuple(fixed))
    count = ctypes.c_uint64()
    with session.writing.savepoint(), session.writing.arguments() as arguments:
        for each, value in zip(properties, fixed.values()):
            each.lend(value, arguments, session)
        session.position.changing()
        for key, amount in amounts.items():
            library().toft_results_add(snapshot.address, key, amount, None)
        library().toft_results_set_values(
            snapshot.address, keys, arguments.address, len(properties), ctypes.byref(count)
        )
    return count.value


def _amount(binding: Binding, name: str, increment: Increment) -> int:
    """The amount to be added to a property."""
    if property_name(binding.cls, increment.expression) != name:
        raise InvalidArgumentError(
            f"{increment.expression!r} is not {name}: the property that is added to is set, as in "
            f"update({name}={binding.cls.__name__}.{name} + 1)."
        )
    return counter_amount(binding.property(name), increment.amount)


# ------------------------------------------------------------------------------------ Kinds of rows


def _columns(binding: Binding, rows: Any) -> dict[str, tuple[Any, Any]] | None:
    """The columns that `rows` are, if they are not rows: lists, or arrays with masks."""
    if hasattr(rows, "columns") and hasattr(rows, "shape"):  # pandas, polars
        names = [*map(str, rows.columns)]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InvalidArgumentError(f"Two columns have one name: {', '.join(sorted(twice))}")
        found = {str(name): rows[name] for name in rows.columns}
    elif isinstance(rows, Mapping):
        found = dict(rows)
    else:
        return None
    columns = {name: _column(binding, name, column) for name, column in found.items()}
    sizes = {name: len(column) for name, (column, _) in columns.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise InvalidArgumentError(f"The columns are not equally long: {shown}")
    return columns


def _column(binding: Binding, name: str, column: Any) -> tuple[Any, Any]:
    _require_zone(binding, name, column)
    found = as_array(binding.property(name), column)
    return (_cells(binding, name, column), None) if found is None else found


def _cells(binding: Binding, name: str, column: Any) -> Sequence[Any]:
    """The values of a column of any library, None for missing ones."""
    each = binding.property(name)
    if isinstance(column, (list, tuple)):
        return column
    missing = column.isna().tolist() if hasattr(column, "isna") else None
    if missing is None and getattr(getattr(column, "dtype", None), "kind", "") == "M":
        column = column.astype("M8[us]")  # of these alone NumPy's lists hold datetimes
    cells = column.to_list() if hasattr(column, "to_list") else _listed(column)
    if missing is not None and (each.is_nullable or each.type == values.LINK):
        cells = [None if is_missing else cell for cell, is_missing in zip(cells, missing)]
    if each.type == values.INT and any(type(cell) is float for cell in cells):
        return [int(c) if type(c) is float and c.is_integer() else c for c in cells]
    if each.type == values.DATE and str(getattr(column, "dtype", "")).startswith("datetime64["):
        moments = [_in_utc(cell) for cell in cells]
        return moments if each.conversion is None else each.converted(moments)
    return cells


def _require_zone(binding: Binding, name: str, column: Any) -> None:
    """Points in time need a time zone, in a column too: that of pandas can have one. NumPy's type
    has none, as it is always in UTC; days need none.
    """
    each = binding.property(name)
    is_pandas, kind = hasattr(column, "isna"), str(getattr(column, "dtype", ""))
    is_naive = is_pandas and kind.startswith("datetime64[") and "," not in kind
    if is_naive and is_moment(each):
        raise TypeMismatchError(
            f"{binding.cls.__name__}.{name}: the dates of this column have no time zone: say "
            f"frame[{name!r}].dt.tz_localize('UTC'), or the zone that they are of."
        )


def is_moment(each: BoundProperty) -> bool:
    """Whether a property holds points in time, and not days."""
    is_day = each.conversion is not None and each.conversion.python_type is date
    return each.type == values.DATE and not is_day


def _listed(column: Any) -> Sequence[Any]:
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _in_utc(cell: Any) -> Any:
    """A date of a column of NumPy's type, which has no zones."""
    if isinstance(cell, int):  # what datetime cannot hold, as NumPy lists it
        raise InvalidArgumentError("A date is outside of the years 1 to 9999.")
    is_naive = isinstance(cell, datetime) and cell.tzinfo is None and cell == cell
    return cell.replace(tzinfo=values.UTC) if is_naive else cell
