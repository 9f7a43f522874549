"""Columns of values as the library takes them: arrays as they are, lists packed at once.

Values that a column's own type can't represent (collections, links, a value of another type) are
passed one by one, so that each is checked, and reported, as in an assignment.
"""

from __future__ import annotations

import ctypes
import math
from array import array
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_input_column, toft_input_flags
from .errors import Error

if TYPE_CHECKING:
    from .rows import BoundProperty
    from .session import Session

_COLUMN_SIZE = ctypes.sizeof(toft_input_column)
_MICROSECOND = timedelta(microseconds=1)
_NONE = type(None)


class Inputs:
    """Some columns of rows, and their memory."""

    def __init__(self, session: Session, column_count: int, row_count: int, first: int) -> None:
        """`first`: the number of the first row, for errors."""
        self._session = session
        self._row_count = row_count
        self._first = first
        self._structures = (toft_input_column * max(1, column_count))()
        self._kept: list[Any] = []
        self.count = 0
        self.address = ctypes.addressof(self._structures)

    def add(
        self, each: BoundProperty, column: Any, mask: Any = None, *, is_for_new: bool = False
    ) -> None:
        """Adds a list, or an array of NumPy with a mask of what is null, if something is.
        `is_for_new`: objects that exist keep what they have.
        """
        structure = self._structures[self.count]
        self.count += 1
        structure.size = _COLUMN_SIZE
        structure.property_key = each.key
        structure.flags = toft_input_flags.NEW_ONLY if is_for_new else 0
        if isinstance(column, (list, tuple)):
            self._add_cells(structure, each, column)
        else:
            self._point(structure, column.itemsize, column)
            if mask is not None:
                structure.nulls = self._address(mask)

    def _add_cells(self, structure: Any, each: BoundProperty, cells: Sequence[Any]) -> None:
        pack = _PACKERS.get(each.type)
        if pack is not None and each.container is None:
            try:
                stored = cells if each.conversion is None else [*map(each.conversion.stored, cells)]
                if self._add_packed(structure, stored, *pack):
                    return
            except (Error, OverflowError, TypeError, UnicodeEncodeError):
                pass  # it is told which it is below
        arguments = values.Arguments(max(1, self._row_count))
        self._kept.append(arguments)
        for row, cell in enumerate(cells):
            try:
                each.lend(cell, arguments, self._session)
            except Error as error:
                tell_row(error, self._first + row)
                raise
        structure.element_size = values.VALUE_SIZE
        structure.values = arguments.address

    def _add_packed(
        self, structure: Any, cells: Sequence[Any], types: set[type], zero: Any, pack: Any
    ) -> bool:
        """False if there is a value of another type."""
        found = set(map(type, cells))
        if not found <= types:
            return False
        nulls = None
        if _NONE in found:
            nulls = bytearray([cell is None for cell in cells])
            cells = [zero if cell is None else cell for cell in cells]
        if pack is _encoded or pack is _joined:
            data, sizes = pack(cells)
            offsets = array("q", accumulate(sizes, initial=0))
            self._point(structure, 1, data)
            structure.offsets = self._address(offsets)
            structure.offset_size = 8
            structure.values_size = len(data) - 1
        else:
            packed = pack(cells)
            self._point(structure, getattr(packed, "itemsize", 1), packed)
        if nulls is not None:
            structure.nulls = self._address(nulls)
        return True

    def _point(self, structure: Any, element_size: int, memory: Any) -> None:
        structure.element_size = element_size
        structure.values = self._address(memory)

    def _address(self, memory: Any) -> int:
        self._kept.append(memory)
        if hasattr(memory, "ctypes"):
            return int(memory.ctypes.data)
        if isinstance(memory, array):
            return memory.buffer_info()[0]
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def tell_row(error: Error, row: int) -> None:
    """Says in an error which row it is about."""
    error.message = f"Row {row}: {error.message.removeprefix(f'Row {error.number}: ')}"


# --------------------------------------------------------------------------------- Packing of lists


def _encoded(cells: Sequence[str]) -> tuple[bytearray, Any]:
    text = "".join(cells)
    data = bytearray(text.encode())
    if len(data) == len(text):  # ASCII
        sizes: Any = map(len, cells)
    else:
        sizes = [len(cell.encode()) for cell in cells]
    data.append(0)  # no bytes at all have no address
    return data, sizes


def _joined(cells: Sequence[bytes]) -> tuple[bytearray, Any]:
    data = bytearray(b"".join(cells))
    data.append(0)
    return data, map(len, cells)


def _microseconds(cells: Sequence[datetime]) -> array[int]:
    found = array("q", [(cell - values.EPOCH) // _MICROSECOND for cell in cells])
    if found and not values.FIRST_MOMENT <= min(found) <= max(found) <= values.LAST_MOMENT:
        raise OverflowError("outside of the years that datetime has")
    return found


def _short_floats(cells: Sequence[float]) -> array[float]:
    packed = array("f", cells)
    if (math.inf in packed or -math.inf in packed) and not all(map(values.fits_32_bits, cells)):
        raise OverflowError("beyond 32 bits")
    return packed


def _numbers(code: str) -> Callable[[Sequence[Any]], array[Any]]:
    return lambda cells: array(code, cells)


_PACKERS: dict[int, tuple[set[type], Any, Callable[[Any], Any]]] = {
    values.BOOL: ({bool, _NONE}, False, bytearray),
    values.INT: ({int, _NONE}, 0, _numbers("q")),
    values.FLOAT: ({float, int, _NONE}, 0.0, _short_floats),
    values.DOUBLE: ({float, int, _NONE}, 0.0, _numbers("d")),
    values.STRING: ({str, _NONE}, "", _encoded),
    values.DATA: ({bytes, _NONE}, b"", _joined),
    values.DATE: ({datetime, _NONE}, values.EPOCH, _microseconds),
}

# --------------------------------------------------------------------------------- Arrays of NumPy

_KINDS = {
    values.BOOL: ("b", "u1"),
    values.INT: ("iu", "i8"),
    values.FLOAT: ("fiu", "f4"),
    values.DOUBLE: ("fiu", "f8"),
    values.DATE: ("M", "i8"),
}


def as_array(each: BoundProperty, column: Any) -> tuple[Any, Any] | None:
    """A column of NumPy, or of pandas on top of it, in the library's form, and a mask of its nulls;
    None if it has to become a list.
    """
    kinds, wanted = _KINDS.get(each.type, ("", ""))
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if not kind or kind not in kinds or each.container or each.conversion:
        return None
    import numpy

    if not isinstance(column.dtype, numpy.dtype):
        return None
    mask = numpy.ma.getmaskarray(column) if isinstance(column, numpy.ma.MaskedArray) else None
    if hasattr(column, "isna") and each.is_nullable:
        mask = column.isna().to_numpy()
    data = numpy.ma.getdata(column) if mask is None or hasattr(column, "mask") else column
    data = numpy.asarray(data)
    if data.ndim != 1 or (kind == "u" and wanted == "i8" and (data > 2**63 - 1).any()):
        return None
    if kind == "M":
        missing = numpy.isnat(data)
        mask = missing if mask is None else mask | missing
        moments = data.astype("M8[us]")
        if (moments.astype("M8[s]") != data.astype("M8[s]"))[~missing].any():
            return None  # beyond what 64 bits hold
        data = moments.view("i8")
    elif kind == "b":
        data = data.view("u1")
    given = data
    with numpy.errstate(over="ignore"):
        data = numpy.ascontiguousarray(given, wanted)
    if wanted == "f4" and (numpy.isinf(data) & ~numpy.isinf(given)).any():
        return None  # it is told below which is beyond 32 bits
    if mask is not None and not mask.any():
        mask = None
    return data, None if mask is None else numpy.ascontiguousarray(mask).view("u1")
