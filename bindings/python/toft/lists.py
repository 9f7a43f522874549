"""List properties: live, mutable sequences."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import Any, TypeVar, cast, overload

from . import _values as values
from ._ffi import TOFT_NO_INDEX, toft_update_policy
from ._lib import library
from .adding import Adding, detached, is_new
from .collection import FIRST_READ, LARGEST_READ, Elements, owned
from .errors import IndexOutOfRangeError
from .expressions import Expression
from .observe import Callback, Observation
from .rows import in_place

T = TypeVar("T")


class List(Elements[T], MutableSequence[T]):
    """A list property of a live object.

    Each change is written at once; changes need a write transaction.
    """

    __slots__ = ()

    _toft_container = list
    _getter = "toft_object_list"
    _prefix = "toft_list"
    _finder = "toft_list_find_in"

    # ----------------------------------------------------------------------------------------------
    # Reading

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._slice(range(*index.indices(len(self))))
        memory = ctypes.create_string_buffer(values.VALUE_SIZE)
        library().toft_list_get(self._handle.address, self._position(index), memory)
        [value] = self._property.converted([values.decode(memory, 0, self._session)])
        if isinstance(value, values.Nested):
            position = self._position(index)
            return cast(T, self._opened(value, position, position))
        return cast(T, value)

    def __iter__(self) -> Iterator[T]:
        """Goes by index, like Python's own lists: it sees what is changed ahead of it."""
        read = self._reader()
        index, capacity = 0, FIRST_READ
        while items := read(index, capacity):
            now = self._session.position.now
            capacity = min(capacity * 4, LARGEST_READ)
            for item in items:
                index += 1
                yield item
                if self._session.position.now != now:
                    capacity = 1
                    break

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """The first index of a value. Raises ValueError when it is not there."""
        span = range(*slice(start, stop).indices(len(self)))
        if (found := self._find_among(value, span.start, len(span))) is None:
            raise ValueError(f"{value!r} is not in the list")
        return found

    def count(self, value: Any) -> int:
        """How many elements are the same as a value."""
        count, size, place = 0, len(self), -1
        while (found := self._find_among(value, place + 1, size - place - 1)) is not None:
            count, place = count + 1, found
        return count

    def __eq__(self, other: object) -> bool:
        """Whether another list has the same values to the database: NaN is the same as NaN, and
        true is not 1.
        """
        if not isinstance(other, (list, List)):
            return NotImplemented
        return len(self) == len(other) and all(
            self._holds_at(index, mine, theirs)
            for index, (mine, theirs) in enumerate(zip(self, other))
        )

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> list[T]:
        """The elements as a list of Python's; so are lists and dictionaries within mixed values."""
        return [*map(owned, self[:])] if self._property.type == values.MIXED else self[:]

    # ----------------------------------------------------------------------------------------------
    # Changing

    @overload
    def __setitem__(self, index: int, value: T) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[T]) -> None: ...
    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            self._set_slice(index, list(value))
        else:
            position = self._position(index)
            if not in_place(value, self._place_of(position)):
                self._write_values("set", [value], position)

    def __delitem__(self, index: int | slice) -> None:
        if not isinstance(index, slice):
            self._erase(self._position(index), 1)
            return
        span = range(*index.indices(len(self)))
        if span.step in (1, -1):
            self._erase(min(span[0], span[-1]) if span else 0, len(span))
        else:
            for position in sorted(span, reverse=True):
                self._erase(position, 1)

    def insert(self, index: int, value: T) -> None:
        """Inserts a value before an index."""
        index, count = _whole(index), len(self)
        self._insert(max(0, index + count) if index < 0 else min(index, count), [value])

    def append(self, value: T) -> None:
        """Appends a value."""
        self.extend([value])

    def extend(self, values: Iterable[T]) -> None:
        """Appends values, all or nothing."""
        items = list(values)
        if items:
            self._write_values("append", items, None, len(items))

    def pop(self, index: int = -1) -> T:
        """Removes an element and gives it. A list or a dictionary within a mixed value, and an
        embedded object, are no longer there then: a copy of it is given, in no database.
        """
        value = detached(self[index])
        del self[index]
        return cast(T, value)

    def move(self, source: int, target: int) -> None:
        """Moves an element, whose index is `target` afterwards.

        Observers see a move.
        """
        self._call("move", self._position(source), self._position(target))

    def swap(self, first: int, second: int) -> None:
        """Exchanges two elements."""
        self._call("swap", self._position(first), self._position(second))

    def reverse(self) -> None:
        """Turns the order around."""
        count = len(self)
        for index in range(count // 2):
            self.swap(index, count - 1 - index)

    def observe(
        self,
        callback: Callback | None = None,
        *,
        key_paths: Iterable[str | Expression[Any]] | None = None,
        initial: bool = True,
        moves: bool = True,
    ) -> Observation:
        """Observes the changes of the list, down to the indices. See `Results.observe`. `moves`:
        False reports a move as a deletion and an insertion alone.
        """
        return self._observe(callback, key_paths, initial=initial, moves=moves)

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _position(self, index: int) -> int:
        index = _whole(index)
        position = index + len(self) if index < 0 else index
        if position < 0 or position >= TOFT_NO_INDEX:
            raise IndexOutOfRangeError(
                f"The list has no index {values.shown(index)}.", number=index
            )
        return position

    def _shown(self) -> str:
        return repr(self[:])

    def _slice(self, span: range) -> list[T]:
        if not span:
            return []
        low, high = min(span[0], span[-1]), max(span[0], span[-1])
        found: list[T] = []
        read = self._reader()
        while len(found) <= high - low and (
            items := read(low + len(found), min(high - low + 1 - len(found), 65536))
        ):
            found += items
        return [found[position - low] for position in span if position - low < len(found)]

    def _set_slice(self, index: slice, items: list[Any]) -> None:
        span = range(*index.indices(len(self)))
        if span.step == 1:
            with self._session.writing.savepoint():
                self._insert(max(span.start, span.stop), items)
                self._erase(span.start, len(span))
        elif len(span) != len(items):
            raise ValueError(
                f"attempt to assign sequence of size {len(items)} to extended slice of size "
                f"{len(span)}"
            )
        else:
            with self._session.writing.savepoint():
                for position, item in zip(span, items):
                    self[position] = item

    def __iadd__(self, values: Iterable[T]) -> List[T]:
        self.extend(values)
        self._settle()
        return self

    def _insert(self, index: int, items: Sequence[Any]) -> None:
        if items:
            self._write_values("insert", items, index, len(items))

    def _erase(self, first: int, count: int) -> None:
        if count:
            self._call("erase", first, count)

    def _write_values(
        self, function: str, items: Sequence[Any], index: int | None, count: int | None = None
    ) -> None:
        if self._session.classes.owns(self._property) and is_new([*items]):
            where = len(self) if index is None else index
            adding = Adding(self._session, toft_update_policy.ERROR)
            if function == "set":
                adding.set_element(self, where, items[0])
            else:
                adding.insert(self, where, items)
            return
        with self._session.writing.arguments() as arguments:
            for item in items:
                self._property.lend_element(item, arguments, self._session)
            before = () if index is None else (index,)
            after = () if count is None else (count,)
            self._call(function, *before, arguments.address, *after)


def _whole(index: Any) -> int:
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError(f"a list has an int or a slice as its index, not {index!r:.80}") from None
