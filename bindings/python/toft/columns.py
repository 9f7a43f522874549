"""Whole columns: a property of many objects in one call, as Python lists or as NumPy arrays."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import accumulate, pairwise
from operator import add
from struct import iter_unpack
from typing import TYPE_CHECKING, Any
from uuid import UUID

from . import _values as values
from . import decimals
from ._ffi import toft_column
from ._lib import library
from .conversions import OwnConversion
from .identifiers import ObjectId
from .records import Record

if TYPE_CHECKING:
    from .rows import BoundProperty

_COLUMN_SIZE = ctypes.sizeof(toft_column)
READ_AT_ONCE = 65536
_bytes_at = ctypes.string_at


def _texts(memory: bytearray) -> list[Any]:
    found: list[str] = []
    for address, sizes, size in _runs(memory):
        data = _bytes_at(address, size)
        text = values.text_of_bytes(data)
        if len(text) == size:  # ASCII
            found += [text[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]
        else:
            found += [
                values.text_of_bytes(data[start:end])
                for start, end in pairwise(accumulate(sizes, initial=0))
            ]
    return found


def _datas(memory: bytearray) -> list[Any]:
    return [
        _bytes_at(address, size) if size else b"" for address, size in iter_unpack("=QQ", memory)
    ]


def _runs(memory: bytearray) -> Iterator[tuple[int, list[int], int]]:
    """Texts that follow each other without a gap, as those of a cluster do, can be copied at once:
    address, sizes, whole size.
    """
    words = array("Q")
    words.frombytes(memory)
    addresses, sizes = words[::2].tolist(), words[1::2].tolist()
    ends = list(map(add, addresses, sizes))
    breaks = [
        row for row, (end, address) in enumerate(zip(ends, addresses[1:]), 1) if end != address
    ]
    for first, last in zip([0, *breaks], [*breaks, len(addresses)]):
        if first < last:
            yield addresses[first], sizes[first:last], ends[last - 1] - addresses[first]


def _dates(memory: bytearray) -> list[Any]:
    return [
        values.date_of(seconds, nanoseconds)
        for seconds, nanoseconds in iter_unpack("=qi4x", memory)
    ]


def _uuids(memory: bytearray) -> list[Any]:
    return [UUID(bytes=value) for (value,) in iter_unpack("16s", memory)]


def _object_ids(memory: bytearray) -> list[Any]:
    return [ObjectId(value) for (value,) in iter_unpack("12s", memory)]


def _decimals(memory: bytearray) -> list[Any]:
    return [decimals.decode(value) for (value,) in iter_unpack("16s", memory)]


def _numbers(code: str) -> Callable[[bytearray], list[Any]]:
    def convert(memory: bytearray) -> list[Any]:
        numbers = array(code)
        numbers.frombytes(memory)
        return numbers.tolist()

    return convert


def _booleans(memory: bytearray) -> list[Any]:
    return [byte != 0 for byte in memory]


class _Layout(Record):
    """The layout of a type's elements in a column."""

    size: int
    listed: Callable[[bytearray], list[Any]]
    dtype: str | None  # NumPy's, for what it can hold as it is


LAYOUTS = {
    values.BOOL: _Layout(1, _booleans, "?"),
    values.INT: _Layout(8, _numbers("q"), "i8"),
    values.FLOAT: _Layout(4, _numbers("f"), "f4"),
    values.DOUBLE: _Layout(8, _numbers("d"), "f8"),
    values.STRING: _Layout(16, _texts, None),
    values.DATA: _Layout(16, _datas, None),
    values.DATE: _Layout(16, _dates, None),
    values.LINK: _Layout(8, _numbers("q"), "i8"),
    values.UUID: _Layout(16, _uuids, None),
    values.OBJECT_ID: _Layout(12, _object_ids, None),
    values.DECIMAL: _Layout(16, _decimals, None),
}


class Buffers:
    """Memory for some columns of up to `capacity` rows, and the structures that describe it to the
    library.
    """

    def __init__(self, columns: Iterable[tuple[int, int]], capacity: int) -> None:
        """`columns`: property key and type of each; key 0 with type INT is the object's own key."""
        self.types = [kind for _, kind in columns]
        self._capacity = capacity
        self._structures = (toft_column * len(self.types))()
        self._rows = ctypes.c_size_t()
        self.values: list[bytearray] = []
        self.nulls: list[bytearray] = []
        for structure, (key, kind) in zip(self._structures, columns):
            size = LAYOUTS[kind].size
            self.values.append(bytearray(size * capacity))
            self.nulls.append(bytearray(capacity))
            structure.size = _COLUMN_SIZE
            structure.property_key = key
            structure.element_size = size
            structure.values = _address(self.values[-1])
            structure.nulls = _address(self.nulls[-1])

    def read(self, results: int | None, first: int) -> int:
        """Fills the columns with the rows from `first` on, and returns how many there are."""
        library().toft_results_columns(
            results,
            first,
            ctypes.byref(self._structures),
            len(self.types),
            self._capacity,
            ctypes.byref(self._rows),
        )
        return self._rows.value

    def read_objects(self, realm: int | None, class_key: int, keys: array[int]) -> None:
        """Fills the columns with the objects that have some keys."""
        library().toft_realm_columns(
            realm,
            class_key,
            keys.buffer_info()[0] if keys else None,
            None,
            len(keys),
            ctypes.byref(self._structures),
            len(self.types),
        )

    def listed(self, index: int, count: int) -> list[Any]:
        """The first `count` elements of a column as Python values, None for null."""
        return listed(self.types[index], self.values[index], self.nulls[index], count)


def listed(kind: int, memory: bytearray, nulls: bytearray, count: int) -> list[Any]:
    """The first `count` elements of a column as Python values, None for null."""
    layout = LAYOUTS[kind]
    size = layout.size * count
    found = layout.listed(memory if len(memory) == size else memory[:size])
    if nulls.find(1, 0, count) < 0:
        return found
    return [None if null else value for value, null in zip(found, nulls)]


class Pieces:
    """Whole columns of results, in pieces of some rows."""

    count: int
    """The rows of all pieces."""

    def read(self) -> Iterator[tuple[Any, int]]:
        """For each piece its columns, as `Buffers` has them, and the number of rows."""
        raise NotImplementedError


def _address(memory: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) if memory else 0


def read_lists(pieces: Pieces, properties: list[BoundProperty]) -> dict[str, Any]:
    """Whole columns as lists."""
    found: dict[str, list[Any]] = {each.name: [] for each in properties}
    for columns, rows in pieces.read():
        for index, each in enumerate(properties):
            found[each.name] += columns.listed(index, rows)
    return dict(found)


def read_arrays(pieces: Pieces, properties: list[BoundProperty]) -> dict[str, Any]:
    """Whole columns as NumPy arrays; those of optional properties, and those with deleted objects
    of a snapshot, are masked.
    """
    import numpy

    found = {each.name: numpy.empty(pieces.count, _dtype(each.type)) for each in properties}
    masks = {each.name: numpy.zeros(pieces.count, "?") for each in properties}
    first = 0
    for buffers, rows in pieces.read():
        for index, each in enumerate(properties):
            found[each.name][first : first + rows] = _array(buffers, index, rows, numpy)
            masks[each.name][first : first + rows] = numpy.frombuffer(
                buffers.nulls[index], "?", rows
            )
        first += rows
    masked = {each.name for each in properties if each.is_nullable or masks[each.name].any()}
    return {
        name: numpy.ma.array(data, mask=masks[name]) if name in masked else data
        for name, data in found.items()
    }


def read_frame(pieces: Pieces, properties: list[BoundProperty]) -> Any:
    """Whole columns as a DataFrame of pandas, without a loss if there are nulls."""
    import pandas

    arrays = read_arrays(pieces, properties)
    return pandas.DataFrame({e.name: _series(e, arrays[e.name], pandas) for e in properties})


def _series(each: BoundProperty, column: Any, pandas: Any) -> Any:
    import numpy

    mask = numpy.ma.getmaskarray(column)
    data = numpy.ma.getdata(column)
    if each.type == values.DATE and each.conversion is None:
        return pandas.Series(data).mask(mask).dt.tz_localize("UTC")
    if each.conversion is not None or LAYOUTS[each.type].dtype is None:
        return pandas.Series(_cells(each, data, mask), dtype=object)
    if not isinstance(column, numpy.ma.MaskedArray):
        return data
    if each.type == values.BOOL:
        return pandas.arrays.BooleanArray(data, mask)
    if each.type in (values.INT, values.LINK):
        return pandas.arrays.IntegerArray(data, mask)
    return column.filled(numpy.nan)


def _cells(each: BoundProperty, data: Any, mask: Any) -> list[Any]:
    """A column as Python's values, None for null."""
    cells = [None if null else cell for cell, null in zip(data.tolist(), mask)]
    if each.type == values.DATE:  # NumPy's are in UTC, and do not say so
        cells = [cell and cell.replace(tzinfo=values.UTC) for cell in cells]
    return each.converted(cells)


def read_polars(pieces: Pieces, properties: list[BoundProperty]) -> Any:
    """Whole columns as a DataFrame of polars, each of the type that polars has for it."""
    import polars

    arrays = read_arrays(pieces, properties)
    return polars.DataFrame([_polars_series(e, arrays[e.name], polars) for e in properties])


def _polars_series(each: BoundProperty, column: Any, polars: Any) -> Any:
    import numpy

    mask = numpy.ma.getmaskarray(column)
    data = numpy.ma.getdata(column)
    if isinstance(each.conversion, OwnConversion):
        return polars.Series(each.name, _cells(each, data, mask), polars.Object)
    if each.type == values.DATE and each.conversion is not None:
        return polars.Series(each.name, _cells(each, data, mask), polars.Date)
    if LAYOUTS[each.type].dtype is None and each.type != values.DATE:
        cells = [None if null else cell for cell, null in zip(data.tolist(), mask)]
        if each.type == values.DECIMAL:
            return polars.Series(each.name, cells, _polars_decimal(cells, polars))
        if each.type == values.DATA:
            return polars.Series(each.name, cells, polars.Binary)
        texts = [None if cell is None else str(cell) for cell in cells]
        return polars.Series(each.name, texts, polars.String)
    series = polars.Series(each.name, data)
    if each.type == values.DATE:
        series = series.dt.replace_time_zone("UTC")
    if not mask.any():
        return series
    chosen = polars.when(polars.Series(~mask)).then(series).alias(each.name)
    return polars.select(chosen).to_series()


def _polars_decimal(cells: list[Decimal | None], polars: Any) -> Any:
    """The type of polars that holds all of some decimals: 38 digits with one point."""
    numbers = [cell for cell in cells if cell is not None]
    if not all(number.is_finite() for number in numbers):
        return polars.Object
    scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    whole = max((number.adjusted() + 1 for number in numbers), default=0)
    if max(scale, 0) + max(whole, 0) > 38:
        return polars.Object
    return polars.Decimal(38, max(scale, 0))


def _dtype(kind: int) -> str:
    return "M8[us]" if kind == values.DATE else LAYOUTS[kind].dtype or "O"


def _array(buffers: Buffers, index: int, rows: int, numpy: Any) -> Any:
    kind = buffers.types[index]
    if kind == values.DATE:
        raw = numpy.frombuffer(
            buffers.values[index], [("seconds", "i8"), ("nanoseconds", "i4"), ("", "V4")], rows
        )
        return (raw["seconds"] * 1_000_000 + raw["nanoseconds"] // 1000).view("M8[us]")
    if LAYOUTS[kind].dtype is None:
        return buffers.listed(index, rows)
    return numpy.frombuffer(buffers.values[index], LAYOUTS[kind].dtype, rows)
