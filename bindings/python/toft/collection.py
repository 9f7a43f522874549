"""The base of the live collections, `List`, `Set` and `Dict`."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, overload
from uuid import UUID as Uuid

from . import _values as values
from ._ffi import TOFT_NO_INDEX
from ._lib import Handle, library
from .errors import (
    EmbeddedObjectError,
    Error,
    InvalidArgumentError,
    NullNotAllowedError,
    TypeMismatchError,
    ValueTooLongError,
    WrongRealmError,
)
from .expressions import Condition, Expression
from .identifiers import ObjectId
from .objects import Object, live_object
from .observe import Callback, Observation, Options
from .query import Results
from .rows import Block, BoundProperty, Single

if TYPE_CHECKING:
    from .session import Session

T = TypeVar("T")
Self = TypeVar("Self", bound="Collection[Any]")

FIRST_READ = 32
LARGEST_READ = 2048
MISFITS = (
    EmbeddedObjectError,
    TypeMismatchError,
    NullNotAllowedError,
    InvalidArgumentError,
    ValueTooLongError,
    WrongRealmError,
)
"""The library's errors for a value that a collection cannot contain."""


class _Serializer:
    """The attributes that pydantic looks up on a value of unknown type, as that of a field that is
    Any: it serializes the copy in Python's own collections.
    """

    @cached_property
    def _made(self) -> Any:
        from pydantic_core import SchemaSerializer, core_schema

        copied = core_schema.plain_serializer_function_ser_schema(owned)
        return SchemaSerializer(core_schema.any_schema(serialization=copied))

    def __get__(self, instance: object, owner: object) -> Any:
        if "pydantic_core" not in sys.modules:
            raise AttributeError("__pydantic_serializer__")
        return self._made


class Collection(Generic[T]):
    """A property of a live object that holds many values.

    Each change is written at once; changes need a write transaction.
    """

    __slots__ = ("_handle", "_place", "_property", "_session", "_settled", "__weakref__")

    __pydantic_serializer__ = _Serializer()
    _toft_container: ClassVar[type]
    """Python's own type of this kind: by this schema.py knows the annotation."""
    _getter: ClassVar[str]
    """The library's function that gives a handle."""
    _prefix: ClassVar[str]
    """The prefix of the names of the library's other functions."""
    _finder: ClassVar[str]
    """The library's function that looks for an element among some."""
    _nested_kinds: ClassVar[dict[int, tuple[str, Any]]] = {}
    """By the type of a value in a mixed one."""

    def __init__(
        self, session: Session, handle: Handle, property: BoundProperty, place: object
    ) -> None:
        self._session = session
        self._handle = handle
        self._property = property
        self._place = place
        self._settled: tuple[object, int] | None = None
        """Its place, and the time of its last change in place: see rows.in_place."""

    @classmethod
    def of(cls: type[Self], owner: Single, property: BoundProperty) -> Self:
        """The collection of an object."""
        address = ctypes.c_void_p()
        getattr(library(), cls._getter)(owner.handle().address, property.key, ctypes.byref(address))
        handle = Handle(address.value, getattr(library(), f"{cls._prefix}_release"))
        return cls(owner.session, handle, property, owner.place(property))

    def __len__(self) -> int:
        count = ctypes.c_uint64()
        getattr(library(), f"{self._prefix}_count")(self._handle.address, ctypes.byref(count))
        return count.value

    def __repr__(self) -> str:
        try:
            return self._shown()
        except Error as error:
            return f"<{type(self).__name__}: {error.message}>"

    def clear(self) -> None:
        """Removes all that is in it; objects linked stay, unless they are embedded."""
        self._call("clear")

    @property
    def results(self) -> Results[T]:
        """Its elements as live results, to sort and sum, and objects to filter."""
        address = ctypes.c_void_p()
        getattr(library(), f"{self._prefix}_results")(self._handle.address, ctypes.byref(address))
        handle, target = (
            Handle(address.value, library().toft_results_release),
            self._property.target,
        )
        binding = self._session.classes.binding_of_key(target) if target else None
        return Results(self._session, handle, binding, None if target else self._property)

    @overload
    def where(self, query: Condition, *more: Condition) -> Results[T]: ...
    @overload
    def where(self, query: str, *arguments: Any) -> Results[T]: ...
    def where(self, query: Any, *arguments: Any) -> Results[T]:
        """The objects that match a query. See `Results.where`."""
        return self.results.where(query, *arguments)

    def _shown(self) -> str:
        """The text of `repr`."""
        raise NotImplementedError

    def _observe(
        self,
        callback: Callback | None,
        key_paths: Iterable[str | Expression[Any]] | None,
        *,
        initial: bool,
        moves: bool = True,
        keys: bool = False,
    ) -> Observation:
        paths = self.results._key_paths(key_paths)
        options = Options(paths, initial=initial, moves=moves, keys=keys)
        return Observation(
            self._session, f"{self._prefix}_observe", self._handle, callback, options
        )

    def _opened(self, value: Any, position: Any, place: object) -> Any:
        """An element as it was read; of a list or a dictionary within a mixed value a live one.
        `position`: its position, in the library's form.
        """
        if not isinstance(value, values.Nested):
            return value
        kind, cls = self._nested_kinds[value.kind]
        address = ctypes.c_void_p()
        getattr(library(), f"{self._prefix}_get_{kind}")(
            self._handle.address, position, ctypes.byref(address)
        )
        handle = Handle(address.value, getattr(library(), f"{cls._prefix}_release"))
        return cls(self._session, handle, self._property, self._place_of(place))

    def _place_of(self, place: object) -> object:
        """A value that no other element of any collection has, until this one changes."""
        return self._handle.address, place

    def _settle(self) -> None:
        """Notes that it was changed in place: the next assignment may give it back to its own
        place.
        """
        self._settled = self._place, self._session.position.now

    def _call(self, function: str, *arguments: Any) -> None:
        self._session.position.changing()
        getattr(library(), f"{self._prefix}_{function}")(self._handle.address, *arguments)

    def _find_among(self, value: object, first: int, count: int) -> int | None:
        """The index of the first of `count` elements, or values of keys, from `first` on that are
        the same as a value to the database.
        """
        found = ctypes.c_uint64()
        try:
            with self._session.writing.asking() as arguments:
                self._property.lend_element(value, arguments, self._session)
                getattr(library(), self._finder)(
                    self._handle.address, arguments.address, first, count, ctypes.byref(found)
                )
        except MISFITS:
            self._check_readable()
            return None
        return None if found.value == TOFT_NO_INDEX else found.value

    def _holds_at(self, index: int, mine: Any, theirs: Any) -> bool:
        """Whether the element with an index, `mine`, is the same as another value."""
        known = _are_the_same(mine, theirs) if self._property.conversion is None else None
        return self._find_among(theirs, index, 1) is not None if known is None else known

    def _check_readable(self) -> None:
        """A value of another type is not in the collection; but a collection that cannot be read is
        a failure.
        """
        len(self)

    def _while_same_size(self, count: int, read: Callable[[int, int], list[Any]]) -> Iterator[Any]:
        """Goes through `count` elements that `read` gives by first index and number. As with
        Python's own sets and dictionaries, what adds or removes one meanwhile ends the loop with a
        RuntimeError.
        """
        index, capacity = 0, FIRST_READ
        while index < count and (items := read(index, capacity)):
            now = self._session.position.now
            capacity = min(capacity * 4, LARGEST_READ)
            for item in items:
                index += 1
                yield item
                if self._session.position.now != now:
                    if len(self) != count:
                        name = type(self).__name__
                        raise RuntimeError(f"{name} changed size during iteration")
                    capacity = 1
                    break


PLAIN_TYPES: dict[int, type] = {
    values.BOOL: bool,
    values.INT: int,
    values.STRING: str,
    values.DATA: bytes,
    values.UUID: Uuid,
    values.OBJECT_ID: ObjectId,
}
"""Types whose equality is the same in Python and in the database."""
_PLAIN = frozenset({type(None), *PLAIN_TYPES.values()})
_ALIKE = _PLAIN | {float, datetime}
"""Types whose values are equal in the database if they are in Python."""


def _are_the_same(mine: Any, theirs: Any) -> bool | None:
    """Whether two values are equal in the database; None: it has to be asked."""
    if isinstance(mine, Object):
        return bool(mine == theirs)
    if isinstance(mine, Collection):
        return mine == theirs or None
    if type(mine) is not type(theirs) or type(mine) not in _ALIKE:
        return None
    return mine == theirs or (False if type(mine) in _PLAIN else None)


def owned(value: Any) -> Any:
    """A mixed value with lists and dictionaries of Python's own in place of live ones."""
    if isinstance(value, Collection):
        return value.copy() if hasattr(value, "copy") else value
    return value


class Elements(Collection[T]):
    """A list or a set: values that have indices."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        return self._find(value) is not None

    def _read(self, first: int, capacity: int) -> list[T]:
        """Up to `capacity` elements from `first` on; empty beyond the end."""
        if first > len(self):
            return []
        memory = ctypes.create_string_buffer(values.VALUE_SIZE * capacity)
        count = ctypes.c_size_t()
        getattr(library(), f"{self._prefix}_get_values")(
            self._handle.address, first, memory, capacity, ctypes.byref(count)
        )
        found = [
            values.decode(memory, row * values.VALUE_SIZE, self._session)
            for row in range(count.value)
        ]
        if self._property.type == values.MIXED:
            found = [self._opened(each, row, row) for row, each in enumerate(found, first)]
        return self._property.converted(found)

    def _reader(self) -> Callable[[int, int], list[T]]:
        """`_read`; for links one whose objects are read by columns: see rows.py."""
        if self._property.type != values.LINK:
            return self._read
        binding, results = self._session.classes.binding_of_key(self._property.target), self.results

        def read(first: int, capacity: int) -> list[T]:
            if first > len(self):
                return []
            block = Block(binding, results._handle, first, capacity)
            if None in block.keys:  # the file is damaged: the library says how
                return self._read(first, capacity)
            return [cast(T, live_object(binding.cls, block, row)) for row in range(len(block.keys))]

        return read

    def _find(self, value: object) -> int | None:
        found = ctypes.c_uint64()
        try:
            with self._session.writing.asking() as arguments:
                self._property.lend_element(value, arguments, self._session)
                getattr(library(), f"{self._prefix}_find")(
                    self._handle.address, arguments.address, ctypes.byref(found)
                )
        except MISFITS:
            self._check_readable()
            return None
        return None if found.value == TOFT_NO_INDEX else found.value
