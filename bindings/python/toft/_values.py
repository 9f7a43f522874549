"""Python values to the library's, and back.

A `toft_value` is 24 bytes: its type, then one member of a union. Packing those bytes with `struct`
costs a fraction of setting the members of a ctypes structure one by one, and reading is the same
the other way.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections.abc import Mapping, Set
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any
from uuid import UUID as Uuid

from . import decimals
from ._ffi import (
    TOFT_MAX_NESTED_COLLECTIONS,
    TOFT_MAX_VALUE_SIZE,
    toft_entry,
    toft_type,
    toft_value,
)
from .errors import CorruptError, InvalidArgumentError, TypeMismatchError, ValueTooLongError
from .identifiers import ObjectId
from .timestamps import Timestamp

if TYPE_CHECKING:
    from .savepoints import Savepoint
    from .session import Session

VALUE_SIZE = ctypes.sizeof(toft_value)
ENTRY_SIZE = ctypes.sizeof(toft_entry)
WORDS = struct.Struct(
    "=i4xqq"
)  # the type, then a union of two words: integer; address, size; seconds, nanoseconds; key, class
_KEY = struct.Struct("=QQ")  # address and size; the value follows
_DOUBLE = struct.Struct("=i4xd8x")
_FLOAT = struct.Struct("=i4xf12x")
_FIXED = struct.Struct("=i4x16s")  # 12 bytes have four zeros behind them
FLOAT_MEMBER = struct.Struct("=8xf12x")
DOUBLE_MEMBER = struct.Struct("=8xd8x")

NULL, BOOL, INT, FLOAT, DOUBLE, STRING, DATA, DATE, LINK, LINKING_OBJECTS, LIST = (
    int(kind) for kind in toft_type if kind <= toft_type.LIST
)
OBJECT_ID, UUID = int(toft_type.OBJECT_ID), int(toft_type.UUID)
DICTIONARY = int(toft_type.DICTIONARY)
DECIMAL = int(toft_type.DECIMAL)
MIXED = int(toft_type.MIXED)

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FIRST_MOMENT = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
LAST_MOMENT = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
"""The last moment that Python's datetime can represent in UTC, in microseconds since 1970."""
_HEAP_SIZE = 16384


def date_of(seconds: int, nanoseconds: int) -> datetime:
    """A point in time in Python's form: in UTC, and a `Timestamp` if it has nanoseconds."""
    try:
        found = EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    except OverflowError:
        raise InvalidArgumentError(
            f"The file holds a date that Python's datetime cannot: {seconds} seconds since 1970. "
            f"Read it with columns(), as NumPy does."
        ) from None
    return Timestamp.of(found, rest) if (rest := nanoseconds % 1000) else found


def date_words(value: datetime) -> tuple[int, int]:
    """Seconds and nanoseconds of the same sign."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise TypeMismatchError(
            f"{value!r} has no time zone: say datetime.now(timezone.utc), or give it its tzinfo."
        )
    microseconds = (value - EPOCH) // _MICROSECOND
    if not FIRST_MOMENT <= microseconds <= LAST_MOMENT:
        raise InvalidArgumentError(
            f"{value!r} is in UTC outside of the years 1 to 9999, which is all that datetime has."
        )
    # The form of a Timestamp, also of pandas'.
    whole = microseconds * 1000 + int(getattr(value, "nanosecond", 0))
    seconds, rest = divmod(abs(whole), 1_000_000_000)
    return (seconds, rest) if whole >= 0 else (-seconds, -rest)


class Instant:
    """A point in time of a file that may be of a year that `datetime` has not."""

    __slots__ = ("nanoseconds", "seconds")

    def __init__(self, seconds: int, nanoseconds: int) -> None:
        """Seconds since 1970, and nanoseconds of the same sign."""
        self.seconds = seconds
        self.nanoseconds = nanoseconds


class ShortFloat(float):
    """A number of 32 bits in a mixed value, which otherwise has 64."""


class Arguments:
    """Memory that holds values while they are lent to a call, inside a `with`.

    At its end it goes to the spares, to be used again.
    """

    def __init__(self, capacity: int = 32, spares: list[Arguments] | None = None) -> None:
        self._spares = spares
        self._capacity = capacity
        self._values = (toft_value * capacity)()
        self.address = ctypes.addressof(self._values)
        self._heap = ctypes.create_string_buffer(_HEAP_SIZE)
        self._heap_view = memoryview(self._heap).cast("B")
        self._heap_address = ctypes.addressof(self._heap)
        self._used = 0
        self._kept: list[Any] = []
        self._depth = 0
        self.count = 0
        self.asks = False
        """Whether the call only asks: an object in no database is an error then, and not added."""
        self._savepoint: Savepoint | None = None
        """Since values have led to an object in no database, which was added."""

    def __enter__(self) -> Arguments:
        return self

    def clear(self) -> None:
        """Makes room for the values of the next call."""
        self.count = self._used = 0
        if self._kept:
            self._kept = []

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        savepoint, self._savepoint = self._savepoint, None
        self.clear()
        self.asks = False
        if self._spares is not None:
            self._spares.append(self)
        if savepoint is not None:
            savepoint.__exit__(kind)

    def _add_led(self, instance: Any, session: Session) -> None:
        """Adds an object that a value leads to. It is gone again when the call fails; memory that
        is no block of its own belongs to a caller that sees to that.
        """
        if self.asks:
            raise InvalidArgumentError(
                f"This {type(instance).__name__} is in no database: say realm.add(object) first."
            )
        if self._savepoint is None and self._spares is not None:
            savepoint = session.writing.savepoint()
            savepoint.__enter__()
            self._savepoint = savepoint
        session.writing.add_led(session, instance)

    def add(self, value: Any, session: Session, wanted: int = NULL) -> None:
        """Appends a value; `wanted`:

        the type of the property it is for, when there is one, so that 3 is a float if the property
        is.
        """
        if self.count == self._capacity:
            self._grow()
        kind = type(value)
        if kind is str:
            self._text(value)
        elif kind is int:
            self._integer(value, wanted)
        elif value is None:
            self._words(NULL, 0, 0)
        elif kind is bool:
            self._words(BOOL, value, 0)
        elif kind is float:
            self._number(value, wanted)
        else:
            self._other(value, session, wanted)

    def add_list(self, values: Any, session: Session, wanted: int = NULL) -> None:
        """Appends a whole list as one value; `wanted`: the type of its elements."""
        items = list(values)
        inner = self._apart(items, session, wanted)
        self._kept.append(inner)
        self._words(LIST, ctypes.addressof(inner), len(items))

    def add_dictionary(
        self, values: Mapping[str, Any], session: Session, wanted: int = NULL
    ) -> None:
        """Appends a whole dictionary as one value; `wanted`: the type of what its keys have."""
        keys = list(values)
        inner = self._apart(list(values.values()), session, wanted)
        entries = ctypes.create_string_buffer(max(1, len(keys)) * ENTRY_SIZE)
        first, first_value = ctypes.addressof(entries), ctypes.addressof(inner)
        for row, key in enumerate(keys):
            data = key_bytes(key)
            start = row * ENTRY_SIZE
            _KEY.pack_into(entries, start, self._hold(data), len(data))
            ctypes.memmove(first + start + _KEY.size, first_value + row * VALUE_SIZE, VALUE_SIZE)
        self._kept.append(entries)
        self._words(DICTIONARY, ctypes.addressof(entries), len(keys))

    def _apart(self, items: list[Any], session: Session, wanted: int) -> Any:
        """The memory of values that are one value together. There is room for that one then."""
        if self._depth > 0 and wanted != MIXED:
            raise TypeMismatchError(f"Collections do not hold collections: {items!r:.80}")
        if self._depth > TOFT_MAX_NESTED_COLLECTIONS:
            raise ValueTooLongError(
                f"More than {TOFT_MAX_NESTED_COLLECTIONS} lists and dictionaries are within one "
                f"another. Keep the inner ones in objects, and link to these."
            )
        outer = self._values, self._capacity, self.address, self.count
        self._values, self._capacity, self.count = (
            (toft_value * max(1, len(items)))(),
            len(items),
            0,
        )
        self._depth += 1
        try:
            for item in items:
                self.add(item, session, wanted)
            inner = self._values
        finally:
            self._values, self._capacity, self.address, self.count = outer
            self._depth -= 1
        self._kept.append(inner)
        if self.count == self._capacity:
            self._grow()
        return inner

    def _other(self, value: Any, session: Session, wanted: int) -> None:
        kind = type(value).__name__
        if (link := getattr(type(value), "_toft_link", None)) is not None:
            if getattr(value, "_toft_session", session) is None:
                self._add_led(value, session)
            self._words(LINK, *link(value, session))
        elif kind in ("NAType", "NaTType"):  # pandas' ways to say None
            self._words(NULL, 0, 0)
        elif isinstance(value, datetime):
            self._words(DATE, *date_words(value))
        elif isinstance(value, Instant):
            self._words(DATE, value.seconds, value.nanoseconds)
        elif isinstance(value, ShortFloat):
            self._number(value, FLOAT)
        elif isinstance(value, date):
            self._words(DATE, *date_words(datetime(value.year, value.month, value.day, tzinfo=UTC)))
        elif isinstance(value, Uuid):
            self._fixed(UUID, value.bytes)
        elif isinstance(value, ObjectId):
            self._fixed(OBJECT_ID, value.binary)
        elif isinstance(value, Decimal):
            self._fixed(DECIMAL, decimals.encode(value))
        elif kind == "datetime64":  # NumPy's, which are UTC
            moment = value.astype("M8[us]").item()
            if isinstance(moment, int):
                raise InvalidArgumentError(f"{value} is outside of the years 1 to 9999.")
            self.add(None if moment is None else moment.replace(tzinfo=UTC), session, wanted)
        elif isinstance(value, Enum):
            self.add(value.value, session, wanted)
        elif isinstance(value, str):
            self._text(str.__str__(value))
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._bytes(DATA, bytes(value))
        elif isinstance(value, Integral):
            self._integer(int(value), wanted)
        elif isinstance(value, Real):
            self._number(float(value), wanted)
        elif kind in ("bool_", "bool"):  # NumPy's
            self._words(BOOL, bool(value), 0)
        elif wanted == MIXED and isinstance(value, Set):
            raise TypeMismatchError(f"A mixed value is not a set: say list({value!r:.80})")
        elif isinstance(value, (list, tuple, Set)) or _is_listlike(value):
            self.add_list(value, session, wanted if wanted == MIXED else NULL)
        elif isinstance(value, Mapping):
            self.add_dictionary(value, session, wanted if wanted == MIXED else NULL)
        else:
            raise TypeMismatchError(f"A {type(value).__name__} cannot be stored: {value!r:.80}")

    def _words(self, kind: int, first: int, second: int) -> None:
        WORDS.pack_into(self._values, self.count * VALUE_SIZE, kind, first, second)
        self.count += 1

    def _fixed(self, kind: int, value: bytes) -> None:
        _FIXED.pack_into(self._values, self.count * VALUE_SIZE, kind, value)
        self.count += 1

    def _integer(self, value: int, wanted: int) -> None:
        if wanted == DECIMAL:
            self._fixed(DECIMAL, decimals.encode(Decimal(value)))
            return
        if wanted in (DOUBLE, FLOAT):
            self._number(_float_of(value), wanted)
            return
        try:
            self._words(INT, value, 0)
        except struct.error:
            raise InvalidArgumentError(
                f"{shown(value)} does not fit into the 64 bits of an integer."
            ) from None

    def _number(self, value: float, wanted: int) -> None:
        offset = self.count * VALUE_SIZE
        if wanted == FLOAT:
            if not fits_32_bits(value):
                raise InvalidArgumentError(f"{value!r} is too large for the 32 bits of a Float32.")
            _FLOAT.pack_into(self._values, offset, FLOAT, value)
        else:
            _DOUBLE.pack_into(self._values, offset, DOUBLE, value)
        self.count += 1

    def _text(self, value: str) -> None:
        self._bytes(STRING, _encoded(value))

    def _bytes(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size > TOFT_MAX_VALUE_SIZE:
            raise ValueTooLongError(
                f"{size} bytes are too many for one value: at most {TOFT_MAX_VALUE_SIZE}."
            )
        self._words(kind, self._hold(data), size)

    def _hold(self, data: bytes) -> int:
        """Keeps bytes until the call returns; gives their address."""
        size, used = len(data), self._used
        if used + size <= _HEAP_SIZE:
            self._heap_view[used : used + size] = data
            self._used = used + size
            return self._heap_address + used
        memory = ctypes.create_string_buffer(data, max(1, size))
        self._kept.append(memory)
        return ctypes.addressof(memory)

    def _grow(self) -> None:
        values = (toft_value * (self._capacity * 2))()
        ctypes.memmove(values, self._values, self._capacity * VALUE_SIZE)
        self._values, self._capacity, self.address = (
            values,
            self._capacity * 2,
            ctypes.addressof(values),
        )


_BEYOND_32_BITS = (2.0 - 2.0**-24) * 2.0**127
"""From here on a number is infinite in 32 bits."""


def fits_32_bits(value: float) -> bool:
    """Whether a number stays finite in 32 bits, or is not finite anyway."""
    return abs(value) < _BEYOND_32_BITS or not math.isfinite(value)


def _float_of(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InvalidArgumentError(f"{shown(value)} is too large for a float.") from None


def shown(value: int) -> str:
    """An int in a message: Python refuses to write one of some thousand digits."""
    return str(value) if value.bit_length() <= 128 else f"an int of {value.bit_length()} bits"


def whole(count: Any) -> int:
    """A number of things as the library takes it: what is beyond 64 bits is as good as the greatest
    with them.
    """
    return min(operator.index(count), 2**64 - 1)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"This text cannot be UTF-8: {error}") from None


def key_bytes(key: object) -> bytes:
    """A key of a dictionary as it is written."""
    if not isinstance(key, str):
        raise TypeMismatchError(f"The keys of a dictionary are texts, not {key!r:.80}")
    return _encoded(str.__str__(key))


def _is_listlike(value: Any) -> bool:
    """Our own lists and results, dictionary views, NumPy arrays:

    anything finite to go through that is no mapping.
    """
    return (
        hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, Mapping)
    )


class Nested:
    """Stands for a list or a dictionary of a mixed property, which is read through a handle."""

    def __init__(self, kind: int) -> None:
        self.kind = kind


def decode(memory: Any, offset: int, session: Session) -> Any:
    """The value in these 24 bytes, copied."""
    kind, first, second = WORDS.unpack_from(memory, offset)
    if kind == INT:
        return first
    if kind == STRING:
        return text_of_bytes(ctypes.string_at(first, second)) if second else ""
    if kind == NULL:
        return None
    if kind == DOUBLE:
        return DOUBLE_MEMBER.unpack_from(memory, offset)[0]
    if kind == BOOL:
        return bool(first & 0xFF)
    if kind == LINK:
        return session.classes.linked(first, second & 0xFFFFFFFF)
    if kind == DATE:
        return date_of(first, nanoseconds_of(second))
    if kind == DATA:
        return ctypes.string_at(first, second) if second else b""
    if kind == UUID:
        return Uuid(bytes=_FIXED.unpack_from(memory, offset)[1])
    if kind == OBJECT_ID:
        return ObjectId(_FIXED.unpack_from(memory, offset)[1][:12])
    if kind == DECIMAL:
        return decimals.decode(_FIXED.unpack_from(memory, offset)[1])
    if kind == FLOAT:
        return FLOAT_MEMBER.unpack_from(memory, offset)[0]
    if kind in (LIST, DICTIONARY):
        if not first:
            return Nested(kind)
        size = VALUE_SIZE if kind == LIST else ENTRY_SIZE
        inner = (ctypes.c_char * (second * size)).from_address(first)
        if kind == LIST:
            return [decode(inner, row * size, session) for row in range(second)]
        return dict(decode_entry(inner, row * size, session) for row in range(second))
    raise InvalidArgumentError(f"The library gave a value of the unknown type {kind}.")


def decode_entry(memory: Any, offset: int, session: Session) -> tuple[str, Any]:
    """The key and the value in these 40 bytes, copied."""
    address, size = _KEY.unpack_from(memory, offset)
    key = text_of_bytes(ctypes.string_at(address, size)) if size else ""
    return key, decode(memory, offset + _KEY.size, session)


def text_of_bytes(data: bytes) -> str:
    """A text of the file, which is UTF-8 unless the file is damaged."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CorruptError(f"The file holds a text that is not UTF-8: {error}") from None


def nanoseconds_of(word: int) -> int:
    """The signed 32 bits at the low end of a word, whatever the bits above them."""
    low = word & 0xFFFFFFFF
    return low - 0x100000000 if low & 0x80000000 else low
